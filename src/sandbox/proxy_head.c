#include "sandbox/proxy_head.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define FIELDS 100

/* ---- hosts ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' ||
           c == '_' || c == '.';
}

static bool parse_port(struct cs_str text, uint16_t *port)
{
    unsigned value = 0;
    if (text.len == 0 || text.len > 5)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.at[i]))
            return false;
        value = value * 10 + (unsigned)(text.at[i] - '0');
    }
    *port = (uint16_t)value;
    return value >= 1 && value <= 65535;
}

/* A name or address v4 in lower case, or an address v6 (which came in brackets) in its usual form.
 */
static bool copy_name(struct cs_str text, bool bracketed, char name[CS_PROXY_NAME])
{
    if (text.len > 1 && text.at[text.len - 1] == '.' && !bracketed)
        text.len--;
    if (text.len == 0 || text.len >= CS_PROXY_NAME)
        return false;
    char copy[CS_PROXY_NAME];
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    if (bracketed) {
        struct in6_addr v6;
        return strlen(copy) == text.len && inet_pton(AF_INET6, copy, &v6) == 1 &&
               inet_ntop(AF_INET6, &v6, name, CS_PROXY_NAME) != NULL;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (!is_name_char(copy[i]) || (copy[i] == '.' && (i == 0 || copy[i - 1] == '.')))
            return false;
        if (copy[i] >= 'A' && copy[i] <= 'Z')
            copy[i] = (char)(copy[i] - 'A' + 'a');
    }
    memcpy(name, copy, text.len + 1);
    return true;
}

/* "host", "host:port", "[v6]", "[v6]:port"; the port stays as it is if there is none. */
static bool parse_authority(struct cs_str text, char name[CS_PROXY_NAME], uint16_t *port)
{
    bool bracketed = text.len > 0 && text.at[0] == '[';
    struct cs_str host = text, rest = {0};
    if (bracketed) {
        const char *end = memchr(text.at, ']', text.len);
        if (!end)
            return false;
        host = cs_strn(text.at + 1, (size_t)(end - text.at - 1));
        rest = cs_strn(end + 1, text.len - host.len - 2);
    } else if (text.len > 0) {
        const char *colon = memchr(text.at, ':', text.len);
        if (colon) {
            host.len = (size_t)(colon - text.at);
            rest = cs_strn(colon, text.len - host.len);
        }
    }
    if (rest.len > 0 &&
        (rest.at[0] != ':' || !parse_port(cs_strn(rest.at + 1, rest.len - 1), port)))
        return false;
    return copy_name(host, bracketed, name);
}

static bool parse_host(const char *text, struct cs_host *h)
{
    *h = (struct cs_host){0};
    h->suffix = strncmp(text, "*.", 2) == 0;
    if (!parse_authority(cs_str(h->suffix ? text + 2 : text), h->name, &h->port))
        return false;
    struct in6_addr address;
    h->address =
        inet_pton(AF_INET, h->name, &address) == 1 || inet_pton(AF_INET6, h->name, &address) == 1;
    if (!h->suffix)
        return true;
    size_t len = strlen(h->name);
    if (h->address || len + 1 >= sizeof h->name)
        return false;
    memmove(h->name + 1, h->name, len + 1);
    h->name[0] = '.';
    return true;
}

int cs_hosts_parse(const char *const *list, struct cs_hosts *hosts, struct cs_err *err)
{
    size_t count = 0;
    while (list && list[count])
        count++;
    if (count > CS_PROXY_HOSTS)
        return cs_fail(err, CS_LIMIT, "\"hosts\" of a jail has %zu entries, at most %d are allowed",
                       count, CS_PROXY_HOSTS);
    struct cs_host *all = cs_calloc(count + 1, sizeof *all);
    for (size_t i = 0; i < count; i++)
        if (!parse_host(list[i], &all[i])) {
            free(all);
            return cs_fail(err, CS_INVALID,
                           "\"hosts\" of a jail: '%.100s' is not a host; write \"example.org\", "
                           "\"*.example.org\", an address, each with \":port\" if it is not 443 or "
                           "80",
                           list[i]);
        }
    *hosts = (struct cs_hosts){.all = all, .count = count};
    return 0;
}

void cs_hosts_done(struct cs_hosts *hosts)
{
    free(hosts->all);
    *hosts = (struct cs_hosts){0};
}

static bool allows_port(const struct cs_host *h, uint16_t port)
{
    return h->port ? h->port == port : port == 443 || port == 80;
}

bool cs_hosts_allow(const struct cs_hosts *hosts, const char *name, uint16_t port)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < hosts->count; i++) {
        const struct cs_host *h = &hosts->all[i];
        size_t n = strlen(h->name);
        bool same = h->suffix ? len > n && strcmp(name + len - n, h->name) == 0
                              : strcmp(name, h->name) == 0;
        if (same && allows_port(h, port))
            return true;
    }
    return false;
}

/* ---- addresses ---- */

static bool v4_is_public(uint32_t a)
{
    static const struct {
        uint32_t net;
        unsigned bits;
    } others[] = {
        {0x00000000, 8},  /* this network */
        {0x0a000000, 8},  /* private */
        {0x64400000, 10}, /* shared, and metadata of some clouds */
        {0x7f000000, 8},  /* loopback */
        {0xa83f8110, 32}, /* metadata of one cloud, 168.63.129.16 */
        {0xa9fe0000, 16}, /* link-local and metadata */
        {0xac100000, 12}, /* private */
        {0xc0000000, 24}, /* protocol assignments */
        {0xc0000200, 24}, /* documentation */
        {0xc0586300, 24}, /* relays to version 6 */
        {0xc0a80000, 16}, /* private */
        {0xc6120000, 15}, /* benchmarks */
        {0xc6336400, 24}, /* documentation */
        {0xcb007100, 24}, /* documentation */
        {0xe0000000, 4},  /* multicast */
        {0xf0000000, 4},  /* reserved, broadcast */
    };
    for (size_t i = 0; i < CS_COUNT(others); i++)
        if (((a ^ others[i].net) >> (32 - others[i].bits)) == 0)
            return false;
    return true;
}

static uint32_t read_v4(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool v6_is_public(const uint8_t a[16])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    static const uint8_t translated[12] = {0, 0x64, 0xff, 0x9b};
    /* Version 4 in disguise is judged as what it is. */
    if (memcmp(a, mapped, 12) == 0 || memcmp(a, translated, 12) == 0)
        return v4_is_public(read_v4(a + 12));
    if ((a[0] & 0xe0) != 0x20) /* only 2000::/3 is given out */
        return false;
    if (a[0] == 0x20 && a[1] == 0x02) /* 6to4 */
        return v4_is_public(read_v4(a + 2));
    if (a[0] == 0x20 && a[1] == 0x01 && (a[2] & 0xfe) == 0) /* 2001::/23: Teredo and others */
        return false;
    bool documentation = (a[0] == 0x20 && a[1] == 0x01 && a[2] == 0x0d && a[3] == 0xb8) ||
                         (a[0] == 0x3f && a[1] == 0xff && (a[2] & 0xf0) == 0);
    return !documentation;
}

bool cs_address_is_public(const struct sockaddr *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    if (address->sa_family == AF_INET) {
        memcpy(&v4, address, sizeof v4);
        return v4_is_public(ntohl(v4.sin_addr.s_addr));
    }
    if (address->sa_family != AF_INET6)
        return false;
    memcpy(&v6, address, sizeof v6);
    return v6_is_public(v6.sin6_addr.s6_addr);
}

bool cs_hosts_allow_address(const struct cs_hosts *hosts, const struct sockaddr *address,
                            uint16_t port)
{
    if (cs_address_is_public(address))
        return true;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    char name[INET6_ADDRSTRLEN] = "";
    if (address->sa_family == AF_INET) {
        memcpy(&v4, address, sizeof v4);
        inet_ntop(AF_INET, &v4.sin_addr, name, sizeof name);
    } else if (address->sa_family == AF_INET6) {
        memcpy(&v6, address, sizeof v6);
        inet_ntop(AF_INET6, &v6.sin6_addr, name, sizeof name);
    }
    for (size_t i = 0; i < hosts->count; i++)
        if (hosts->all[i].address && strcmp(hosts->all[i].name, name) == 0 &&
            allows_port(&hosts->all[i], port))
            return true;
    return false;
}

/* ---- the head ---- */

size_t cs_proxy_head_end(struct cs_str bytes, size_t from)
{
    size_t start = from > 3 ? from - 3 : 0;
    if (bytes.len < start + 4)
        return 0;
    const char *end = memmem(bytes.at + start, bytes.len - start, "\r\n\r\n", 4);
    return end ? (size_t)(end - bytes.at) + 4 : 0;
}

static bool wrong(struct cs_proxy_request *r, int status, const char *why)
{
    r->status = status;
    r->why = why;
    return false;
}

/* The next line, without its end. A head ends in an empty one, so there always is one. */
static bool next_line(struct cs_str *rest, struct cs_str *line)
{
    const char *end = rest->len ? memmem(rest->at, rest->len, "\r\n", 2) : NULL;
    if (!end)
        return false;
    *line = cs_strn(rest->at, (size_t)(end - rest->at));
    rest->len -= line->len + 2;
    rest->at = end + 2;
    return true;
}

static bool is_token(struct cs_str s)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
        if (!letter && (c == '\0' || !strchr(others, c)))
            return false;
    }
    return s.len > 0;
}

static bool is_printable(struct cs_str s, bool spaces)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c == 0x7f || (c < 0x20 && !(spaces && c == '\t')) || (c == ' ' && !spaces))
            return false;
    }
    return true;
}

static bool split(struct cs_str *line, struct cs_str *word)
{
    const char *space = line->len ? memchr(line->at, ' ', line->len) : NULL;
    if (!space)
        return false;
    *word = cs_strn(line->at, (size_t)(space - line->at));
    line->len -= word->len + 1;
    line->at = space + 1;
    return true;
}

static bool is_usual(struct cs_str method)
{
    static const char *const usual[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
    for (size_t i = 0; i < CS_COUNT(usual); i++)
        if (cs_str_is(method, usual[i]))
            return true;
    return false;
}

static bool parse_target(struct cs_str target, struct cs_proxy_request *r)
{
    static const char scheme[] = "http://";
    if (r->tunnel) {
        if (!parse_authority(target, r->name, &r->port) || r->port == 0)
            return wrong(r, 400, "CONNECT wants host:port");
        return true;
    }
    if (!is_usual(r->method))
        return wrong(r, 405,
                     "this proxy knows CONNECT, GET, HEAD, POST, PUT, PATCH, DELETE and "
                     "OPTIONS");
    if (target.len < sizeof scheme || strncasecmp(target.at, scheme, sizeof scheme - 1) != 0)
        return wrong(r, 400, "this is a proxy: it wants http://host/path, and CONNECT for https");
    target = cs_strn(target.at + sizeof scheme - 1, target.len - (sizeof scheme - 1));
    size_t len = 0;
    while (len < target.len && !strchr("/?#", target.at[len]))
        len++;
    r->port = 80;
    if (!parse_authority(cs_strn(target.at, len), r->name, &r->port))
        return wrong(r, 400, "the address has no host, or one that cannot be");
    r->path = cs_strn(target.at + len, target.len - len);
    const char *mark = r->path.len ? memchr(r->path.at, '#', r->path.len) : NULL;
    if (mark)
        r->path.len = (size_t)(mark - r->path.at);
    return true;
}

static bool is_field(struct cs_str name, const char *what)
{
    return name.len == strlen(what) && strncasecmp(name.at, what, name.len) == 0;
}

/* About the way from the server to the proxy, and not for the host. */
static bool is_ours(struct cs_str name)
{
    static const char *const ours[] = {
        "Connection", "Proxy-Connection",   "Keep-Alive",          "TE",
        "Upgrade",    "Proxy-Authenticate", "Proxy-Authorization", "Host"};
    for (size_t i = 0; i < CS_COUNT(ours); i++)
        if (is_field(name, ours[i]))
            return true;
    return false;
}

static bool split_field(struct cs_str line, struct cs_str *name, struct cs_str *value)
{
    const char *colon = line.len ? memchr(line.at, ':', line.len) : NULL;
    if (!colon)
        return false;
    *name = cs_strn(line.at, (size_t)(colon - line.at));
    *value = cs_strn(colon + 1, line.len - name->len - 1);
    while (value->len && (value->at[0] == ' ' || value->at[0] == '\t'))
        *value = cs_strn(value->at + 1, value->len - 1);
    while (value->len && (value->at[value->len - 1] == ' ' || value->at[value->len - 1] == '\t'))
        value->len--;
    return is_token(*name) && is_printable(*value, true);
}

static bool parse_length(struct cs_str text, uint64_t *length)
{
    *length = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.at[i]))
            return false;
        *length = *length * 10 + (unsigned)(text.at[i] - '0');
    }
    return text.len > 0 && text.len <= 18;
}

static bool parse_fields(struct cs_str rest, struct cs_proxy_request *r)
{
    struct cs_str line, name, value;
    unsigned fields = 0;
    bool has_length = false;
    while (next_line(&rest, &line) && line.len > 0) {
        if (++fields > FIELDS)
            return wrong(r, 400, "there are too many header fields");
        if (!split_field(line, &name, &value))
            return wrong(r, 400, "a header field is malformed");
        if (is_field(name, "Content-Length")) {
            if (has_length || !parse_length(value, &r->body))
                return wrong(r, 400, "Content-Length is malformed, or comes twice");
            has_length = true;
        } else if (is_field(name, "Transfer-Encoding")) {
            if (r->chunked || !is_field(value, "chunked"))
                return wrong(r, 501, "only the transfer encoding \"chunked\" is known");
            r->chunked = true;
        }
    }
    if (has_length && r->chunked)
        return wrong(r, 400, "the body has two lengths");
    return true;
}

bool cs_proxy_parse(struct cs_str head, struct cs_proxy_request *r)
{
    struct cs_str rest = head, line, target;
    *r = (struct cs_proxy_request){0};
    if (!next_line(&rest, &line) || !split(&line, &r->method) || !split(&line, &target) ||
        !is_token(r->method) || !is_printable(target, false) || target.len == 0 ||
        !(cs_str_is(line, "HTTP/1.1") || cs_str_is(line, "HTTP/1.0")))
        return wrong(r, 400, "this is not HTTP/1.1");
    r->tunnel = cs_str_is(r->method, "CONNECT");
    return parse_target(target, r) && parse_fields(rest, r);
}

void cs_proxy_rewrite(struct cs_str head, const struct cs_proxy_request *r, struct cs_buf *out)
{
    struct cs_str rest = head, line, name, value;
    bool v6 = strchr(r->name, ':') != NULL;
    bool slash = r->path.len > 0 && r->path.at[0] == '/';
    cs_buf_printf(out, "%.*s %s%.*s HTTP/1.1\r\nHost: %s%s%s", CS_STR_ARG(r->method),
                  slash ? "" : "/", CS_STR_ARG(r->path), v6 ? "[" : "", r->name, v6 ? "]" : "");
    if (r->port != 80)
        cs_buf_printf(out, ":%u", (unsigned)r->port);
    cs_buf_puts(out, "\r\nConnection: close\r\n");
    next_line(&rest, &line);
    while (next_line(&rest, &line) && line.len > 0)
        if (split_field(line, &name, &value) && !is_ours(name)) {
            cs_buf_putstr(out, line);
            cs_buf_puts(out, "\r\n");
        }
    cs_buf_puts(out, "\r\n");
}

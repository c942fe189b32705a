#include "tools/url.h"

#include <ctype.h>
#include <strings.h>

static bool same_text(struct cs_str a, struct cs_str b)
{
    return a.len == b.len && strncasecmp(a.at, b.at, a.len) == 0;
}

static bool plain(struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] <= ' ' || s.at[i] >= 0x7f || s.at[i] == '\\' || s.at[i] == '"')
            return false;
    return true;
}

static bool host_ok(struct cs_str host)
{
    if (host.len == 0 || host.len > 255)
        return false;
    bool six = host.at[0] == '[';
    if (six && (host.len < 4 || host.at[host.len - 1] != ']'))
        return false;
    for (size_t i = six; i < host.len - six; i++) {
        char c = host.at[i];
        if (six ? !isxdigit((unsigned char)c) && c != ':' && c != '.'
                : !isalnum((unsigned char)c) && c != '.' && c != '-' && c != '_')
            return false;
    }
    return true;
}

static bool read_port(struct cs_str text, uint16_t *port)
{
    unsigned n = 0;
    if (text.len == 0 || text.len > 5)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!isdigit((unsigned char)text.at[i]))
            return false;
        n = n * 10 + (unsigned)(text.at[i] - '0');
    }
    if (n == 0 || n > 65535)
        return false;
    *port = (uint16_t)n;
    return true;
}

/* Takes "https://" or "http://" off the front. */
static bool take_scheme(struct cs_str *text, bool *https)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < CS_COUNT(schemes); i++) {
        size_t n = strlen(schemes[i]);
        if (text->len <= n || strncasecmp(text->at, schemes[i], n) != 0)
            continue;
        *https = i == 1;
        *text = cs_strn(text->at + n, text->len - n);
        return true;
    }
    return false;
}

static int take_authority(struct cs_str host, struct cs_url *u, struct cs_err *err)
{
    u->port = u->https ? 443 : 80;
    for (size_t i = host.len; i > 0 && host.at[i - 1] != ']'; i--)
        if (host.at[i - 1] == ':') {
            if (!read_port(cs_strn(host.at + i, host.len - i), &u->port))
                return cs_fail(err, CS_INVALID, "'%.*s' has no valid port",
                               (int)(host.len < 100 ? host.len : 100), host.at);
            host.len = i - 1;
            break;
        }
    if (!host_ok(host))
        return cs_fail(err, CS_INVALID, "'%.*s' is no valid host",
                       (int)(host.len < 100 ? host.len : 100), host.at);
    u->host = host;
    return 0;
}

int cs_url_parse(struct cs_str text, struct cs_url *url, struct cs_err *err)
{
    struct cs_url u = {0};
    struct cs_str rest = text;
    if (text.len > CS_URL_MAX)
        return cs_fail(err, CS_LIMIT, "an address of %zu bytes; at most %u are taken", text.len,
                       CS_URL_MAX);
    if (!plain(text))
        return cs_fail(err, CS_INVALID, "an address holds characters that must be encoded");
    if (!take_scheme(&rest, &u.https))
        return cs_fail(err, CS_INVALID, "'%.*s' is no http or https address",
                       (int)(text.len < 100 ? text.len : 100), text.at ? text.at : "");
    const char *hash = memchr(rest.at, '#', rest.len);
    if (hash)
        rest.len = (size_t)(hash - rest.at);
    size_t authority = 0;
    while (authority < rest.len && rest.at[authority] != '/' && rest.at[authority] != '?')
        authority++;
    if (take_authority(cs_strn(rest.at, authority), &u, err) < 0)
        return -1;
    u.path = cs_strn(rest.at + authority, rest.len - authority);
    const char *question = u.path.len ? memchr(u.path.at, '?', u.path.len) : NULL;
    if (question) {
        u.query = cs_strn(question, u.path.len - (size_t)(question - u.path.at));
        u.path.len -= u.query.len;
    }
    *url = u;
    return 0;
}

bool cs_url_same_origin(const struct cs_url *a, const struct cs_url *b)
{
    return a->https == b->https && a->port == b->port && same_text(a->host, b->host);
}

bool cs_url_loopback(const struct cs_url *url)
{
    struct cs_str h = url->host;
    if (same_text(h, CS_STR("localhost")) || cs_str_is(h, "[::1]"))
        return true;
    if (!cs_str_starts(h, "127."))
        return false;
    unsigned dots = 0;
    for (size_t i = 0; i < h.len; i++) {
        if (h.at[i] == '.')
            dots++;
        else if (!isdigit((unsigned char)h.at[i]))
            return false;
    }
    return dots == 3;
}

void cs_url_origin(const struct cs_url *url, struct cs_buf *out)
{
    cs_buf_puts(out, url->https ? "https://" : "http://");
    for (size_t i = 0; i < url->host.len; i++)
        cs_buf_putc(out, (char)tolower((unsigned char)url->host.at[i]));
    if (url->port != (url->https ? 443 : 80))
        cs_buf_printf(out, ":%u", url->port);
}

void cs_url_encode(struct cs_str text, struct cs_buf *out)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < 0x80 && (isalnum(c) || memchr("-._~", c, 4))) {
            cs_buf_putc(out, (char)c);
        } else {
            cs_buf_putc(out, '%');
            cs_buf_putc(out, hex[c >> 4]);
            cs_buf_putc(out, hex[c & 15]);
        }
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void decode(struct cs_str s, struct cs_buf *out)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] == '%' && i + 2 < s.len && hex_digit(s.at[i + 1]) >= 0 &&
            hex_digit(s.at[i + 2]) >= 0) {
            cs_buf_putc(out, (char)(hex_digit(s.at[i + 1]) << 4 | hex_digit(s.at[i + 2])));
            i += 2;
        } else {
            cs_buf_putc(out, s.at[i] == '+' ? ' ' : s.at[i]);
        }
    }
}

bool cs_url_param(struct cs_str query, const char *name, struct cs_buf *value)
{
    if (query.len && query.at[0] == '?')
        query = cs_strn(query.at + 1, query.len - 1);
    while (query.len) {
        const char *amp = memchr(query.at, '&', query.len);
        struct cs_str pair = {query.at, amp ? (size_t)(amp - query.at) : query.len};
        const char *equals = pair.len ? memchr(pair.at, '=', pair.len) : NULL;
        struct cs_str key = {pair.at, equals ? (size_t)(equals - pair.at) : pair.len};
        if (cs_str_is(key, name)) {
            if (equals)
                decode(cs_strn(equals + 1, pair.len - key.len - 1), value);
            return true;
        }
        query = amp ? cs_strn(amp + 1, query.len - pair.len - 1) : cs_strn(NULL, 0);
    }
    return false;
}

void cs_url_show(struct cs_str text, struct cs_buf *out)
{
    for (size_t i = 0; i < text.len && i < 200; i++) {
        if (text.at[i] == '?' || text.at[i] == '#')
            return;
        if (text.at[i] > ' ' && text.at[i] < 0x7f)
            cs_buf_putc(out, text.at[i]);
    }
}

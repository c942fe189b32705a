#include "http/decode.h"

#include <strings.h>

#include "base/utf8.h"

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that stands at s.at[*i], which moves on; false: a '%' that says nothing. */
static bool unescape(struct cs_str s, size_t *i, char *c)
{
    *c = s.at[*i];
    if (*c != '%') {
        (*i)++;
        return true;
    }
    int high = *i + 2 < s.len ? hex(s.at[*i + 1]) : -1;
    int low = high >= 0 ? hex(s.at[*i + 2]) : -1;
    *i += low >= 0 ? 3 : 1;
    if (low >= 0)
        *c = (char)(high << 4 | low);
    return low >= 0;
}

static bool is_utf8(struct cs_str s)
{
    for (size_t i = 0; i < s.len;) {
        int n = cs_utf8_len(s.at + i, s.len - i);
        if (n < 0)
            return false;
        i += (size_t)n;
    }
    return true;
}

static const char *decode_path(struct cs_str raw, struct cs_buf *out)
{
    if (!cs_str_starts(raw, "/") && !cs_str_is(raw, "*"))
        return "the path does not start with '/'";
    for (size_t i = 0; i < raw.len;) {
        char c;
        if (!unescape(raw, &i, &c))
            return "the path has a '%' without two hex digits";
        if ((unsigned char)c < 0x20 || c == 0x7F)
            return "the path has a control character";
        cs_buf_putc(out, c);
    }
    return is_utf8(cs_buf_str(out)) ? NULL : "the path is not UTF-8";
}

static const char *decode_word(struct cs_str raw, struct cs_buf *out)
{
    size_t from = out->len;
    for (size_t i = 0; i < raw.len;) {
        char c;
        if (raw.at[i] == '+') {
            c = ' ';
            i++;
        } else {
            unescape(raw, &i, &c);
        }
        if (c == 0)
            return "the query has a NUL";
        cs_buf_putc(out, c);
    }
    if (!is_utf8(cs_strn(out->at + from, out->len - from)))
        return "the query is not UTF-8";
    cs_buf_putc(out, 0);
    return NULL;
}

/* Up to `end`, which is dropped; the rest stays. */
static struct cs_str until(struct cs_str *rest, char end)
{
    const char *at = rest->len ? memchr(rest->at, end, rest->len) : NULL;
    struct cs_str s = cs_strn(rest->at, at ? (size_t)(at - rest->at) : rest->len);
    size_t used = s.len + (at ? 1 : 0);
    *rest = cs_strn(rest->at + used, rest->len - used);
    return s;
}

static const char *decode_query(struct cs_str raw, struct cs_buf *out)
{
    while (raw.len > 0) {
        struct cs_str value = until(&raw, '&');
        if (value.len == 0)
            continue;
        struct cs_str name = until(&value, '=');
        const char *wrong = decode_word(name, out);
        if (!wrong)
            wrong = decode_word(value, out);
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* Some clients, and all that speak to a proxy, send the whole address. */
static struct cs_str without_host(struct cs_str raw)
{
    const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < CS_COUNT(schemes); i++) {
        size_t n = strlen(schemes[i]);
        if (raw.len < n || strncasecmp(raw.at, schemes[i], n) != 0)
            continue;
        while (n < raw.len && raw.at[n] != '/' && raw.at[n] != '?')
            n++;
        return cs_strn(raw.at + n, raw.len - n);
    }
    return raw;
}

const char *cs_http_target(struct cs_str raw, struct cs_buf *path, struct cs_buf *query)
{
    if (raw.len > 0 && memchr(raw.at, '#', raw.len))
        return "the target has a '#'";
    struct cs_str rest = without_host(raw);
    bool whole = rest.at != raw.at;
    struct cs_str before = until(&rest, '?');
    if (whole && before.len == 0)
        before = CS_STR("/");
    const char *wrong = decode_path(before, path);
    return wrong ? wrong : decode_query(rest, query);
}

struct cs_str cs_http_pair(struct cs_str query, const char *name)
{
    while (query.len > 0) {
        struct cs_str key = until(&query, 0);
        struct cs_str value = until(&query, 0);
        if (cs_str_is(key, name))
            return value;
    }
    return cs_strn(NULL, 0);
}

bool cs_http_is_token(struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c <= ' ' || c >= 0x7F || strchr("\"(),/:;<=>?@[\\]{}", c))
            return false;
    }
    return s.len > 0;
}

bool cs_http_is_value(struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F)
            return false;
    }
    return true;
}

bool cs_http_number(struct cs_str s, uint64_t *number)
{
    uint64_t n = 0;
    if (s.len == 0 || s.len > 19)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(s.at[i] - '0');
    }
    *number = n;
    return n <= INT64_MAX;
}

struct cs_str cs_http_trim(struct cs_str s)
{
    while (s.len > 0 && (s.at[0] == ' ' || s.at[0] == '\t'))
        s.at++, s.len--;
    while (s.len > 0 && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t'))
        s.len--;
    return s;
}

bool cs_http_same(struct cs_str a, const char *b)
{
    return a.len == strlen(b) && (a.len == 0 || strncasecmp(a.at, b, a.len) == 0);
}

/* "q=0", "q=0.", "q=0.000" */
static bool is_zero(struct cs_str parameters)
{
    while (parameters.len > 0) {
        struct cs_str value = cs_http_trim(until(&parameters, ';'));
        struct cs_str name = cs_http_trim(until(&value, '='));
        if (!cs_http_same(name, "q"))
            continue;
        value = cs_http_trim(value);
        for (size_t i = 0; i < value.len; i++)
            if (value.at[i] != '0' && value.at[i] != '.')
                return false;
        return true;
    }
    return false;
}

bool cs_http_takes_gzip(struct cs_str accept)
{
    bool any = false;
    while (accept.len > 0) {
        struct cs_str rest = until(&accept, ',');
        struct cs_str name = cs_http_trim(until(&rest, ';'));
        if (cs_http_same(name, "gzip") || cs_http_same(name, "x-gzip"))
            return !is_zero(rest);
        if (cs_str_is(name, "*"))
            any = !is_zero(rest);
    }
    return any;
}

bool cs_http_is_texty(struct cs_str type)
{
    const char *const ends[] = {"json", "xml", "javascript", "yaml", "wasm", "x-ndjson"};
    struct cs_str plain = cs_http_trim(until(&type, ';'));
    if (cs_str_starts(plain, "text/"))
        return true;
    for (size_t i = 0; i < CS_COUNT(ends); i++)
        if (cs_str_ends(plain, ends[i]))
            return true;
    return false;
}

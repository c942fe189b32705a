#include "schema/uri.h"

#include <stdbool.h>

struct parts {
    struct cs_str scheme, authority, path, query; /* at = NULL: not there */
};

struct cs_str cs_uri_cut_fragment(struct cs_str *uri)
{
    const char *hash = uri->len ? memchr(uri->at, '#', uri->len) : NULL;
    if (!hash)
        return (struct cs_str){0};
    size_t before = (size_t)(hash - uri->at);
    struct cs_str fragment = cs_strn(hash + 1, uri->len - before - 1);
    uri->len = before;
    return fragment;
}

static bool is_scheme(struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        bool other = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
        if (!letter && (i == 0 || !other))
            return false;
    }
    return s.len > 0;
}

static struct parts split(struct cs_str s)
{
    struct parts p = {0};
    const char *colon = s.len ? memchr(s.at, ':', s.len) : NULL;
    if (colon && is_scheme(cs_strn(s.at, (size_t)(colon - s.at)))) {
        p.scheme = cs_strn(s.at, (size_t)(colon - s.at));
        s = cs_strn(colon + 1, s.len - p.scheme.len - 1);
    }
    const char *mark = s.len ? memchr(s.at, '?', s.len) : NULL;
    if (mark) {
        size_t before = (size_t)(mark - s.at);
        p.query = cs_strn(mark + 1, s.len - before - 1);
        s.len = before;
    }
    if (cs_str_starts(s, "//")) {
        s = cs_strn(s.at + 2, s.len - 2);
        const char *slash = memchr(s.at, '/', s.len);
        p.authority = cs_strn(s.at, slash ? (size_t)(slash - s.at) : s.len);
        s = cs_strn(s.at + p.authority.len, s.len - p.authority.len);
    }
    p.path = s.at ? s : CS_STR("");
    return p;
}

/* Appends the path without its "." and ".." (section 5.2.4, a segment at a time). */
static void put_path(struct cs_str path, struct cs_buf *out)
{
    size_t start = out->len;
    const char *p = path.at, *end = path.at + path.len;
    while (p < end) {
        const char *slash = memchr(p, '/', (size_t)(end - p));
        struct cs_str segment = cs_strn(p, (size_t)((slash ? slash : end) - p));
        p = slash ? slash + 1 : end;
        if (cs_str_is(segment, "..")) {
            size_t len = out->len;
            while (len > start && out->at[len - 1] == '/')
                len--;
            while (len > start && out->at[len - 1] != '/')
                len--;
            /* The root stays. */
            if (len == start && out->len > start && out->at[start] == '/')
                len = start + 1;
            out->len = len;
        } else if (!cs_str_is(segment, ".")) {
            cs_buf_putstr(out, segment);
            if (slash)
                cs_buf_putc(out, '/');
        }
    }
}

/* The path of a reference put after the last '/' of the base's. */
static void put_merged(const struct parts *base, struct cs_str path, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf merged = {0};
    size_t keep = base->path.len;
    while (keep > 0 && base->path.at[keep - 1] != '/')
        keep--;
    if (base->authority.at && base->path.len == 0)
        cs_buf_putc(&merged, '/');
    cs_buf_put(&merged, base->path.at, keep);
    cs_buf_putstr(&merged, path);
    put_path(cs_buf_str(&merged), out);
}

void cs_uri_resolve(struct cs_str base, struct cs_str ref, struct cs_buf *out)
{
    struct parts b = split(base), r = split(ref);
    bool own = r.scheme.at != NULL;
    struct cs_str scheme = own ? r.scheme : b.scheme;
    struct cs_str authority = own || r.authority.at ? r.authority : b.authority;
    if (scheme.at) {
        cs_buf_putstr(out, scheme);
        cs_buf_putc(out, ':');
    }
    if (authority.at) {
        cs_buf_puts(out, "//");
        cs_buf_putstr(out, authority);
    }
    struct cs_str query = r.query;
    if (own || r.authority.at || cs_str_starts(r.path, "/")) {
        put_path(r.path, out);
    } else if (r.path.len == 0) {
        cs_buf_putstr(out, b.path);
        query = r.query.at ? r.query : b.query;
    } else {
        put_merged(&b, r.path, out);
    }
    if (query.at) {
        cs_buf_putc(out, '?');
        cs_buf_putstr(out, query);
    }
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void cs_uri_decode(struct cs_str s, struct cs_buf *out)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] == '%' && i + 2 < s.len && hex(s.at[i + 1]) >= 0 && hex(s.at[i + 2]) >= 0) {
            cs_buf_putc(out, (char)(hex(s.at[i + 1]) * 16 + hex(s.at[i + 2])));
            i += 2;
        } else {
            cs_buf_putc(out, s.at[i]);
        }
    }
}

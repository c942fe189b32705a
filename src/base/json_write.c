#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/utf8.h"

static void before_value(struct cs_json_writer *w)
{
    if (w->comma)
        cs_buf_putc(w->out, ',');
    w->comma = true;
}

void cs_json_open(struct cs_json_writer *w, char bracket)
{
    assert(bracket == '{' || bracket == '[');
    before_value(w);
    cs_buf_putc(w->out, bracket);
    w->comma = false;
    w->depth++;
}

void cs_json_close(struct cs_json_writer *w, char bracket)
{
    assert(bracket == '}' || bracket == ']');
    assert(w->depth > 0);
    cs_buf_putc(w->out, bracket);
    w->comma = true;
    w->depth--;
}

static void put_escape(struct cs_buf *out, char c)
{
    static const char special[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *hit = c ? strchr(special, c) : NULL;
    if (hit) {
        char pair[2] = {'\\', letter[hit - special]};
        cs_buf_put(out, pair, sizeof pair);
    } else {
        cs_buf_printf(out, "\\u%04x", (unsigned)(unsigned char)c);
    }
}

static void put_quoted(struct cs_buf *out, struct cs_str s)
{
    cs_buf_room(out, s.len + 2);
    cs_buf_putc(out, '"');
    while (s.len > 0) {
        size_t n = (size_t)(cs_json_skip_plain(s.at, s.at + s.len) - s.at);
        cs_buf_put(out, s.at, n);
        s.at += n;
        s.len -= n;
        if (s.len == 0)
            break;
        int used = 1;
        if ((unsigned char)*s.at < 0x80) {
            put_escape(out, *s.at);
        } else {
            used = cs_utf8_len(s.at, s.len);
            if (used > 0) {
                cs_buf_put(out, s.at, (size_t)used);
            } else {
                cs_buf_puts(out, CS_UTF8_BAD);
                used = -used;
            }
        }
        s.at += used;
        s.len -= (size_t)used;
    }
    cs_buf_putc(out, '"');
}

void cs_json_key(struct cs_json_writer *w, const char *key)
{
    cs_json_key_str(w, cs_str(key));
}

void cs_json_key_str(struct cs_json_writer *w, struct cs_str key)
{
    assert(w->depth > 0);
    before_value(w);
    put_quoted(w->out, key);
    cs_buf_putc(w->out, ':');
    w->comma = false;
}

void cs_json_put_str(struct cs_json_writer *w, struct cs_str s)
{
    before_value(w);
    put_quoted(w->out, s);
}

void cs_json_put_z(struct cs_json_writer *w, const char *z)
{
    if (z)
        cs_json_put_str(w, cs_str(z));
    else
        cs_json_put_null(w);
}

void cs_json_put_i64(struct cs_json_writer *w, int64_t v)
{
    before_value(w);
    cs_buf_printf(w->out, "%" PRId64, v);
}

void cs_json_put_u64(struct cs_json_writer *w, uint64_t v)
{
    before_value(w);
    cs_buf_printf(w->out, "%" PRIu64, v);
}

void cs_json_put_f64(struct cs_json_writer *w, double v)
{
    if (!isfinite(v)) {
        cs_json_put_null(w);
        return;
    }
    char text[48];
    if (v == trunc(v) && fabs(v) <= 0x1p53) {
        snprintf(text, sizeof text, "%.0f", v);
    } else {
        /* Any number of up to 15 digits survives being a double, so if 15 digits read back they are
         * the shortest (%g drops zeros at the end). Below the normal range it can be fewer. */
        int digits = fabs(v) < 0x1p-1022 ? 1 : 15;
        do {
            snprintf(text, sizeof text, "%.*g", digits, v);
        } while (strtod(text, NULL) != v && ++digits <= 17);
    }
    cs_json_put_raw(w, cs_str(text));
}

void cs_json_put_bool(struct cs_json_writer *w, bool v)
{
    cs_json_put_raw(w, v ? CS_STR("true") : CS_STR("false"));
}

void cs_json_put_null(struct cs_json_writer *w)
{
    cs_json_put_raw(w, CS_STR("null"));
}

void cs_json_put_raw(struct cs_json_writer *w, struct cs_str json)
{
    before_value(w);
    cs_buf_putstr(w->out, json);
}

static void new_line(struct cs_buf *out, size_t depth)
{
    size_t n = 2 * depth;
    char *to = cs_buf_room(out, n + 1);
    to[0] = '\n';
    memset(to + 1, ' ', n);
    cs_buf_added(out, n + 1);
}

/* Bytes of the string that starts at `at`, quotes included. */
static size_t string_size(const char *at, size_t len)
{
    size_t n = 1;
    while (n < len && at[n] != '"')
        n += at[n] == '\\' ? 2 : 1;
    return n < len ? n + 1 : len;
}

void cs_json_pretty(struct cs_str json, struct cs_buf *out)
{
    size_t depth = 0;
    bool fresh = false; /* just after an opening bracket */
    for (size_t i = 0; i < json.len; i++) {
        char c = json.at[i];
        if (cs_json_is_space(c))
            continue;
        bool closes = c == '}' || c == ']';
        if (closes && depth > 0)
            depth--;
        if (closes != fresh)
            new_line(out, depth);
        fresh = false;
        if (c == '"') {
            size_t n = string_size(json.at + i, json.len - i);
            cs_buf_put(out, json.at + i, n);
            i += n - 1;
            continue;
        }
        cs_buf_putc(out, c);
        if (c == '{' || c == '[') {
            fresh = true;
            depth++;
        } else if (c == ':') {
            cs_buf_putc(out, ' ');
        } else if (c == ',') {
            new_line(out, depth);
        }
    }
}

void cs_json_line(struct cs_buf *out, struct cs_str json)
{
    if (json.len == 0)
        return;
    const char *at = json.at, *end = json.at + json.len;
    while (at < end) {
        const char *p = at;
        while (p < end && *p != '\n' && *p != '\r' && (unsigned char)*p != 0xE2 &&
               (unsigned char)*p != 0xC2)
            p++;
        cs_buf_put(out, at, (size_t)(p - at));
        if (p == end)
            return;
        size_t left = (size_t)(end - p);
        if (*p == '\n' || *p == '\r') {
            cs_buf_putc(out, ' ');
            at = p + 1;
        } else if (left >= 3 &&
                   (memcmp(p, "\xE2\x80\xA8", 3) == 0 || memcmp(p, "\xE2\x80\xA9", 3) == 0)) {
            cs_buf_puts(out, p[2] == (char)0xA8 ? "\\u2028" : "\\u2029");
            at = p + 3;
        } else if (left >= 2 && memcmp(p, "\xC2\x85", 2) == 0) {
            cs_buf_puts(out, "\\u0085");
            at = p + 2;
        } else {
            cs_buf_putc(out, *p);
            at = p + 1;
        }
    }
}

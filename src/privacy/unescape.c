/* Escapes of JSON, undone. */
#include "privacy/unescape.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "privacy/vault.h"

static int hex4(const char *p)
{
    int x = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9'                     ? c - '0'
                : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                         : -1;
        if (d < 0)
            return -1;
        x = x << 4 | d;
    }
    return x;
}

static int unit(struct cs_str s)
{
    return s.len >= 6 && s.at[0] == '\\' && s.at[1] == 'u' ? hex4(s.at + 2) : -1;
}

/* The escape at the start of `s`, which is a backslash: how long it is, 0 if it is none. */
static size_t escape(struct cs_str s, char to[4], unsigned *n)
{
    static const char plain[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    if (s.len < 2)
        return 0;
    const char *p = s.at[1] ? strchr(plain, s.at[1]) : NULL;
    if (p) {
        to[0] = means[p - plain];
        *n = 1;
        return 2;
    }
    int high = unit(s);
    if (high < 0)
        return 0;
    if (high >= 0xD800 && high < 0xDC00) {
        int low = unit(cs_strn(s.at + 6, s.len - 6));
        if (low >= 0xDC00 && low < 0xE000) {
            *n = cs_utf8_put(to, 0x10000 + ((uint32_t)(high - 0xD800) << 10) +
                                     (uint32_t)(low - 0xDC00));
            return 12;
        }
    }
    /* Half a pair stays as it is written: no text could hold it. */
    if (high >= 0xD800 && high < 0xE000)
        return 0;
    *n = cs_utf8_put(to, (uint32_t)high);
    return 6;
}

static void mark(struct cs_unescaped *u, size_t raw)
{
    if (u->count == u->cap) {
        u->cap = u->cap ? u->cap * 2 : 64;
        u->marks = cs_realloc(u->marks, u->cap, sizeof *u->marks);
    }
    u->marks[u->count++] = (struct cs_escape_mark){u->text.len, raw};
}

static void undo(struct cs_str text, struct cs_buf *out, struct cs_unescaped *u)
{
    cs_buf_room(out, text.len + 4);
    for (size_t i = 0; i < text.len;) {
        const char *p = memchr(text.at + i, '\\', text.len - i);
        size_t next = p ? (size_t)(p - text.at) : text.len;
        cs_buf_put(out, text.at + i, next - i);
        i = next;
        if (!p)
            break;
        char bytes[4];
        unsigned n = 1;
        size_t used = escape(cs_strn(p, text.len - i), bytes, &n);
        if (used == 0) {
            cs_buf_putc(out, '\\');
            i++;
            continue;
        }
        if (u)
            mark(u, i);
        cs_buf_put(out, bytes, n);
        i += used;
        if (u)
            mark(u, i);
    }
}

bool cs_unescape(struct cs_str text, struct cs_unescaped *to)
{
    if (text.len == 0 || !memchr(text.at, '\\', text.len))
        return false;
    undo(text, &to->text, to);
    return true;
}

void cs_unescape_put(struct cs_str text, struct cs_buf *out)
{
    undo(text, out, NULL);
}

void cs_unescaped_done(struct cs_unescaped *u)
{
    cs_buf_wipe(&u->text);
    free(u->marks);
    *u = (struct cs_unescaped){0};
}

size_t cs_unescaped_raw(const struct cs_unescaped *u, size_t at)
{
    size_t low = 0, high = u->count; /* the last mark at or before it is below `high` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u->marks[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return at;
    const struct cs_escape_mark *m = &u->marks[low - 1];
    /* Marks come in pairs: from an escape, and from what is behind it. */
    return (low - 1) % 2 == 0 ? m->raw : m->raw + (at - m->at);
}

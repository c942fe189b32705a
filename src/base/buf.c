#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void cs_buf_done(struct cs_buf *b)
{
    free(b->at);
    *b = (struct cs_buf){0};
}

void cs_buf_wipe(struct cs_buf *b)
{
    if (b->at)
        explicit_bzero(b->at, b->cap);
    cs_buf_done(b);
}

void cs_buf_clear(struct cs_buf *b)
{
    b->len = 0;
}

char *cs_buf_room(struct cs_buf *b, size_t extra)
{
    if (!b->at || extra > b->cap - b->len) {
        size_t want = extra > SIZE_MAX / 2 - b->len ? SIZE_MAX : b->len + extra;
        size_t cap = b->cap < 128 ? 256 : b->cap * 2;
        b->cap = want > cap ? want : cap;
        b->at = cs_realloc(b->at, b->cap, 1);
    }
    return b->at + b->len;
}

void cs_buf_added(struct cs_buf *b, size_t n)
{
    b->len += n;
}

void cs_buf_put(struct cs_buf *b, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    memcpy(cs_buf_room(b, n), bytes, n);
    b->len += n;
}

void cs_buf_putc(struct cs_buf *b, char c)
{
    *cs_buf_room(b, 1) = c;
    b->len++;
}

void cs_buf_puts(struct cs_buf *b, const char *z)
{
    cs_buf_put(b, z, strlen(z));
}

void cs_buf_putstr(struct cs_buf *b, struct cs_str s)
{
    cs_buf_put(b, s.at, s.len);
}

void cs_buf_printf(struct cs_buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    char *to = cs_buf_room(b, 64);
    int n = vsnprintf(to, b->cap - b->len, fmt, ap);
    va_end(ap);
    if (n > 0 && (size_t)n >= b->cap - b->len) {
        to = cs_buf_room(b, (size_t)n + 1);
        vsnprintf(to, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    if (n > 0)
        b->len += (size_t)n;
}

void cs_buf_drop(struct cs_buf *b, size_t n)
{
    if (n == 0)
        return;
    b->len -= n;
    memmove(b->at, b->at + n, b->len);
}

const char *cs_buf_cstr(struct cs_buf *b)
{
    *cs_buf_room(b, 1) = '\0';
    return b->at;
}

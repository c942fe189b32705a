/*
 * A growing byte buffer. Zero-initialised is empty and valid; cs_buf_done frees.
 *
 * Growth is bounded by whoever fills it: check the size of foreign data before appending it.
 */
#ifndef CS_BASE_BUF_H
#define CS_BASE_BUF_H

#include <stddef.h>

#include "base/own.h"
#include "base/str.h"

struct cs_buf {
    char *at; /* NULL while empty; never NUL-terminated unless cs_buf_cstr was called */
    size_t len;
    size_t cap;
};

#define CS_AUTO_BUF CS_AUTO(cs_buf_done)

void cs_buf_done(struct cs_buf *b);
/* The same; nothing of what was in it stays in memory. */
void cs_buf_wipe(struct cs_buf *b);

/* Empties without freeing. */
void cs_buf_clear(struct cs_buf *b);

/* Makes room for `extra` more bytes and returns where they go; cs_buf_added says how many came. */
char *cs_buf_room(struct cs_buf *b, size_t extra);
void cs_buf_added(struct cs_buf *b, size_t n);

void cs_buf_put(struct cs_buf *b, const void *bytes, size_t n);
void cs_buf_putc(struct cs_buf *b, char c);
void cs_buf_puts(struct cs_buf *b, const char *z);
void cs_buf_putstr(struct cs_buf *b, struct cs_str s);
void cs_buf_printf(struct cs_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Removes the first n bytes. */
void cs_buf_drop(struct cs_buf *b, size_t n);

/* The content as a C string; valid until the next change. */
const char *cs_buf_cstr(struct cs_buf *b);

static inline struct cs_str cs_buf_str(const struct cs_buf *b)
{
    return (struct cs_str){b->at, b->len};
}

#endif

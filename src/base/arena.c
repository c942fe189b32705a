#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define BLOCK_SIZE 8192

struct cs_arena_block {
    struct cs_arena_block *next;
    _Alignas(max_align_t) char bytes[];
};

void cs_arena_done(struct cs_arena *a)
{
    for (struct cs_arena_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = (struct cs_arena){0};
}

void *cs_arena_alloc(struct cs_arena *a, size_t size)
{
    size_t align = _Alignof(max_align_t);
    if (size > SIZE_MAX / 2)
        return cs_calloc(SIZE_MAX, SIZE_MAX); /* says so, and ends */
    size = size ? (size + align - 1) & ~(align - 1) : align;
    if (size > (size_t)(a->end - a->at)) {
        size_t room = size > BLOCK_SIZE / 4 ? size : BLOCK_SIZE;
        struct cs_arena_block *b = cs_calloc(1, sizeof *b + room);
        b->next = a->blocks;
        a->blocks = b;
        /* A big one gets a block of its own and leaves the current one in use. */
        if (room == size)
            return b->bytes;
        a->at = b->bytes;
        a->end = b->bytes + room;
    }
    void *p = a->at;
    a->at += size;
    return p;
}

struct cs_str cs_arena_dup(struct cs_arena *a, struct cs_str s)
{
    char *copy = cs_arena_alloc(a, s.len + 1);
    if (s.len)
        memcpy(copy, s.at, s.len);
    return (struct cs_str){copy, s.len};
}

char *cs_arena_printf(struct cs_arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    size_t size = n < 0 ? 1 : (size_t)n + 1;
    char *s = cs_arena_alloc(a, size);
    vsnprintf(s, size, fmt, again);
    va_end(again);
    return s;
}

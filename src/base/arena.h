/*
 * Arena: many small allocations with one owner and one end. Nothing in it is freed alone, and
 * nothing in it outlives cs_arena_done. Zero-initialised is empty and valid.
 */
#ifndef CS_BASE_ARENA_H
#define CS_BASE_ARENA_H

#include <stddef.h>

#include "base/own.h"
#include "base/str.h"

struct cs_arena_block;

struct cs_arena {
    struct cs_arena_block *blocks;
    char *at, *end;
};

#define CS_AUTO_ARENA CS_AUTO(cs_arena_done)

void cs_arena_done(struct cs_arena *a);

/* Never NULL. Zeroed, aligned for any type. */
void *cs_arena_alloc(struct cs_arena *a, size_t size);

/* A copy that ends in NUL (not counted in len). */
struct cs_str cs_arena_dup(struct cs_arena *a, struct cs_str s);
char *cs_arena_printf(struct cs_arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif

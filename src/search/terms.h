/*
 * A dictionary: short strings get dense numbers from 0, in the order they come. Nothing is taken
 * out. The hash is keyed at random, as the strings are foreign; no result depends on the key.
 */
#ifndef CS_SEARCH_TERMS_H
#define CS_SEARCH_TERMS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

#define CS_NO_TERM UINT32_MAX

struct cs_terms {
    struct cs_str *at; /* by number */
    uint32_t count;
    uint32_t *slots; /* private, as is the rest */
    uint32_t room, slot_mask;
    uint64_t seed;
    struct cs_arena arena;
};

/* Zero-initialised is empty and valid. */
void cs_terms_done(struct cs_terms *terms);

/* The number of `s`, which is copied if it is new. */
uint32_t cs_terms_add(struct cs_terms *terms, struct cs_str s);

/* CS_NO_TERM if it is not there. */
uint32_t cs_terms_get(const struct cs_terms *terms, struct cs_str s);

#endif

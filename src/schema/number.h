/*
 * Numbers as JSON writes them: decimals of any length, compared and divided exactly. 1, 1.0 and
 * 10e-1 are one number; 1e400 and 100000000000000000001 are themselves.
 *
 * Owner:   a struct cs_num borrows its digits from the text it was read from.
 * Limits:  time is linear in the text.
 */
#ifndef CS_SCHEMA_NUMBER_H
#define CS_SCHEMA_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* 0.d1d2d3... * 10^scale, where the first and the last of the `count` digits are not 0. */
struct cs_num {
    const char *digits; /* a point may stand among them */
    size_t count;       /* 0: the number is 0 */
    int64_t scale;
    int64_t small; /* the value, if is_small */
    bool negative, is_small;
};

/* `raw` must be a number that the JSON reader took. */
struct cs_num cs_num_read(struct cs_str raw);

static inline bool cs_num_is_integer(const struct cs_num *n)
{
    return n->is_small || n->count == 0 || n->scale >= (int64_t)n->count;
}

/* Less than, equal to or greater than 0, as a is to b. */
int cs_num_compare(const struct cs_num *a, const struct cs_num *b);

/* Is `n` a whole multiple of `unit`, which is not 0? Exact if `unit` has at most 18 digits. */
bool cs_num_is_multiple(const struct cs_num *n, const struct cs_num *unit);

/* Equal numbers have equal hashes. */
uint64_t cs_num_hash(const struct cs_num *n, uint64_t seed);

#endif

/*
 * Quantiles of many numbers in little memory: counts in buckets whose bounds grow by 2 %, so every
 * quantile is within 1 % of the true one. Two of them add up to the one of all numbers. Pure.
 */
#ifndef CS_BASE_SKETCH_H
#define CS_BASE_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct cs_sketch {
    uint64_t count, sum, most;
    uint64_t zeros;
    int32_t first; /* number of the bucket at counts[0] */
    uint32_t len, cap;
    uint64_t *counts;
};

void cs_sketch_done(struct cs_sketch *s);
void cs_sketch_add(struct cs_sketch *s, uint64_t value);
void cs_sketch_merge(struct cs_sketch *to, const struct cs_sketch *from);
/* `q` from 0 to 1; 0 if there are no numbers. */
double cs_sketch_quantile(const struct cs_sketch *s, double q);
/* Printable, one word; reading rejects what is malformed or too large. */
void cs_sketch_put(const struct cs_sketch *s, struct cs_buf *out);
bool cs_sketch_read(struct cs_str text, struct cs_sketch *s);

#endif

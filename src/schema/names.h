/*
 * A map from names to numbers that lives in an arena. Names are foreign, so the hash is keyed: who
 * writes a schema cannot choose names that collide.
 *
 * Owner:   the arena; names are borrowed and must outlive the map.
 * Limits:  none of its own: whoever fills it counts.
 */
#ifndef CS_SCHEMA_NAMES_H
#define CS_SCHEMA_NAMES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct cs_name {
    struct cs_str name;
    uint32_t hash, value;
};

struct cs_names {
    uint64_t seed;
    struct cs_name *all; /* in the order they came */
    uint32_t *slots;     /* index into `all` plus one; 0 is empty */
    uint32_t count, mask;
};

uint64_t cs_names_seed(void);

/* The entry, new (with `value`) or the one that was there. Valid until the next one is added. */
struct cs_name *cs_names_add(struct cs_names *n, struct cs_arena *arena, struct cs_str name,
                             uint32_t value);

static inline uint64_t cs_names_load(const char *p, size_t n)
{
    uint64_t v = 0;
    memcpy(&v, p, n);
    return v;
}

static inline uint64_t cs_names_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t cs_names_hash(uint64_t seed, struct cs_str s)
{
    const char *p = s.at;
    size_t n = s.len;
    uint64_t h = seed ^ n * 0x9E3779B97F4A7C15u, first = 0, last = 0;
    for (; n > 16; p += 16, n -= 16)
        h = cs_names_mix(cs_names_load(p, 8) ^ h, cs_names_load(p + 8, 8) ^ 0xE7037ED1A0B428DBu);
    if (n >= 8) {
        first = cs_names_load(p, 8);
        last = cs_names_load(p + n - 8, 8);
    } else if (n >= 4) {
        first = cs_names_load(p, 4);
        last = cs_names_load(p + n - 4, 4);
    } else if (n > 0) {
        first = (unsigned char)p[0] | (uint64_t)(unsigned char)p[n / 2] << 8 |
                (uint64_t)(unsigned char)p[n - 1] << 16;
    }
    return cs_names_mix(first ^ h, last ^ (seed | 1) ^ 0xA0761D6478BD642Fu);
}

static inline const struct cs_name *cs_names_find(const struct cs_names *n, struct cs_str name)
{
    if (n->count == 0)
        return NULL;
    uint32_t hash = (uint32_t)cs_names_hash(n->seed, name);
    for (uint32_t at = hash & n->mask; n->slots[at]; at = (at + 1) & n->mask) {
        const struct cs_name *e = &n->all[n->slots[at] - 1];
        if (e->hash == hash && cs_str_eq(e->name, name))
            return e;
    }
    return NULL;
}

#endif

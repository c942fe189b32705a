#include "schema/names.h"

#include <sys/random.h>

uint64_t cs_names_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = (uint64_t)(uintptr_t)&seed * 0x9E3779B97F4A7C15u;
    return seed;
}

static void place(struct cs_names *n, uint32_t index)
{
    uint32_t at = n->all[index].hash & n->mask;
    while (n->slots[at])
        at = (at + 1) & n->mask;
    n->slots[at] = index + 1;
}

static void grow(struct cs_names *n, struct cs_arena *arena)
{
    uint32_t slots = n->slots ? (n->mask + 1) * 2 : 16;
    struct cs_name *all = cs_arena_alloc(arena, slots / 2 * sizeof *all);
    if (n->count)
        memcpy(all, n->all, n->count * sizeof *all);
    n->all = all;
    n->slots = cs_arena_alloc(arena, slots * sizeof *n->slots);
    n->mask = slots - 1;
    for (uint32_t i = 0; i < n->count; i++)
        place(n, i);
}

struct cs_name *cs_names_add(struct cs_names *n, struct cs_arena *arena, struct cs_str name,
                             uint32_t value)
{
    const struct cs_name *found = cs_names_find(n, name);
    if (found)
        return &n->all[found - n->all];
    if (!n->slots || n->count == (n->mask + 1) / 2)
        grow(n, arena);
    n->all[n->count] = (struct cs_name){name, (uint32_t)cs_names_hash(n->seed, name), value};
    place(n, n->count);
    return &n->all[n->count++];
}

#include "search/terms.h"

#include <sys/random.h>

#include "base/mem.h"

static uint64_t mix(uint64_t a)
{
    a = (a ^ (a >> 32)) * 0x9FB21C651E98DF25u;
    return a ^ (a >> 29);
}

static uint64_t hash(uint64_t seed, struct cs_str s)
{
    uint64_t h = seed ^ s.len;
    for (; s.len >= 8; s.at += 8, s.len -= 8) {
        uint64_t part;
        memcpy(&part, s.at, 8);
        h = mix((h ^ part) * 0xA0761D6478BD642Fu) + seed;
    }
    uint64_t part = 0;
    if (s.len > 0)
        memcpy(&part, s.at, s.len);
    return mix((h ^ part) * 0xE7037ED1A0B428DBu);
}

void cs_terms_done(struct cs_terms *t)
{
    free(t->at);
    free(t->slots);
    cs_arena_done(&t->arena);
    *t = (struct cs_terms){0};
}

/* A slot holds a number plus one; 0 is free. */
static uint32_t *slot_of(const struct cs_terms *t, struct cs_str s)
{
    uint32_t i = (uint32_t)hash(t->seed, s) & t->slot_mask;
    while (t->slots[i] && !cs_str_eq(t->at[t->slots[i] - 1], s))
        i = (i + 1) & t->slot_mask;
    return &t->slots[i];
}

static void grow(struct cs_terms *t)
{
    if (!t->slots && getrandom(&t->seed, sizeof t->seed, GRND_NONBLOCK) < 0)
        t->seed = (uint64_t)(uintptr_t)t;
    t->room = t->room ? t->room * 2 : 512;
    t->at = cs_realloc(t->at, t->room, sizeof *t->at);
    free(t->slots);
    t->slot_mask = t->room * 2 - 1;
    t->slots = cs_calloc(t->room * 2u, sizeof *t->slots);
    for (uint32_t i = 0; i < t->count; i++)
        *slot_of(t, t->at[i]) = i + 1;
}

uint32_t cs_terms_add(struct cs_terms *t, struct cs_str s)
{
    if (t->count == t->room)
        grow(t);
    uint32_t *slot = slot_of(t, s);
    if (*slot == 0) {
        t->at[t->count] = cs_arena_dup(&t->arena, s);
        *slot = ++t->count;
    }
    return *slot - 1;
}

uint32_t cs_terms_get(const struct cs_terms *t, struct cs_str s)
{
    return t->slots ? *slot_of(t, s) - 1 : CS_NO_TERM;
}

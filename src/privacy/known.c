/*
 * Values found in a text by themselves, whatever they look like: what a tool was given comes back
 * as its token, also where no rule would find it.
 *
 * Everywhere a bit says whether some value begins with what stands there; it mostly does not. Where
 * it does, and a word begins, those values are compared. If they are many, the text is hashed on
 * instead, and at every length that one of them has, the hash is looked up.
 */
#include <string.h>

#include "base/mem.h"
#include "privacy/find.h"
#include "privacy/vault.h"

#define BEGINNING   4  /* bytes, of each value's first word on; 3 if one of them has no more */
#define LENGTHS     64 /* different ones, of values that begin alike */
#define FEW         8  /* values that begin alike: each is compared */
#define FIRST_SLOTS 64
#define FIRST_BITS  16
#define WORK_FACTOR 16 /* bytes hashed or compared, for each of the text */

struct cs_known_item {
    struct cs_str raw;
    uint32_t tag;
    uint32_t lead; /* bytes before its first letter or digit */
    uint64_t hash; /* from there on */
    uint32_t next; /* with the same hash, plus 1 */
};

struct cs_known_start {
    uint32_t start;
    unsigned few_count, count;
    uint32_t few[FEW];         /* items, while there are no more */
    uint16_t lengths[LENGTHS]; /* ascending */
};

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

/* Only to be compared with its like: what is no letter changes too. */
static inline uint32_t start_of(const char *p, unsigned least)
{
    uint32_t x = 0;
    memcpy(&x, p, least);
    return x | (least == 4 ? 0x20202020 : 0x00202020);
}

static uint32_t mix(uint32_t x)
{
    return x * 0x9E3779B1u;
}

static uint64_t hash_on(uint64_t h, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ lower(p[i])) * 0x100000001B3u;
    return h;
}

#define HASH 0xCBF29CE484222325u

void cs_known_done(struct cs_known *k)
{
    free(k->bits);
    free(k->starts);
    free(k->items);
    free(k->by_start);
    free(k->by_value);
    *k = (struct cs_known){0};
}

/* --- the index --- */

static size_t slot_of(const struct cs_known *k, uint64_t x)
{
    return (size_t)((x * 0x9E3779B97F4A7C15u) >> 32) & (k->slots - 1);
}

static struct cs_known_start *find_start(const struct cs_known *k, uint32_t start)
{
    for (size_t i = slot_of(k, start); k->by_start[i]; i = (i + 1) & (k->slots - 1))
        if (k->starts[k->by_start[i] - 1].start == start)
            return &k->starts[k->by_start[i] - 1];
    return NULL;
}

static void set_bit(struct cs_known *k, uint32_t start)
{
    uint32_t bit = mix(start) >> (32 - k->bit_log);
    k->bits[bit / 64] |= (uint64_t)1 << bit % 64;
}

static struct cs_known_start *make_start(struct cs_known *k, uint32_t start)
{
    struct cs_known_start *s = find_start(k, start);
    if (s)
        return s;
    if (k->start_count == k->start_cap) {
        k->start_cap = k->start_cap ? k->start_cap * 2 : 16;
        k->starts = cs_realloc(k->starts, k->start_cap, sizeof *k->starts);
    }
    s = &k->starts[k->start_count++];
    *s = (struct cs_known_start){.start = start};
    size_t i = slot_of(k, start);
    while (k->by_start[i])
        i = (i + 1) & (k->slots - 1);
    k->by_start[i] = (uint32_t)k->start_count;
    set_bit(k, start);
    return s;
}

/* False: there are too many. */
static bool add_length(struct cs_known_start *s, size_t length)
{
    unsigned i = 0;
    while (i < s->count && s->lengths[i] < length)
        i++;
    if (i < s->count && s->lengths[i] == length)
        return true;
    if (s->count == LENGTHS)
        return false;
    memmove(s->lengths + i + 1, s->lengths + i, (s->count - i) * sizeof *s->lengths);
    s->lengths[i] = (uint16_t)length;
    s->count++;
    return true;
}

static void place(struct cs_known *k, size_t index)
{
    struct cs_known_item *item = &k->items[index];
    struct cs_str rest = cs_strn(item->raw.at + item->lead, item->raw.len - item->lead);
    struct cs_known_start *start = make_start(k, start_of(rest.at, k->least));
    item->next = 0;
    if (start->few_count < FEW)
        start->few[start->few_count] = (uint32_t)index;
    start->few_count += start->few_count <= FEW;
    if (!add_length(start, rest.len))
        return;
    size_t i = slot_of(k, item->hash);
    for (; k->by_value[i]; i = (i + 1) & (k->slots - 1))
        if (k->items[k->by_value[i] - 1].hash == item->hash) {
            item->next = k->by_value[i];
            break;
        }
    k->by_value[i] = (uint32_t)index + 1;
}

static void rebuild(struct cs_known *k, size_t slots)
{
    free(k->bits);
    free(k->by_start);
    free(k->by_value);
    k->slots = slots;
    k->bit_log = FIRST_BITS;
    while (((size_t)1 << k->bit_log) < slots * 16 && k->bit_log < 24)
        k->bit_log++;
    k->bits = cs_calloc((size_t)1 << (k->bit_log - 6), sizeof *k->bits);
    k->by_start = cs_calloc(slots, sizeof *k->by_start);
    k->by_value = cs_calloc(slots, sizeof *k->by_value);
    k->start_count = 0;
    for (size_t i = 0; i < k->count; i++)
        place(k, i);
}

void cs_known_add(struct cs_known *k, struct cs_str raw, uint32_t tag)
{
    uint32_t lead = 0;
    while (lead < raw.len && !cs_is_alnum(raw.at[lead]))
        lead++;
    if (raw.len - lead < CS_KNOWN_SHORT || raw.len > CS_KNOWN_MOST)
        return;
    unsigned least = raw.len - lead < BEGINNING ? CS_KNOWN_SHORT : BEGINNING;
    if (k->count == k->cap) {
        k->cap = k->cap ? k->cap * 2 : 16;
        k->items = cs_realloc(k->items, k->cap, sizeof *k->items);
    }
    uint64_t hash = hash_on(HASH, raw.at + lead, raw.len - lead);
    k->items[k->count++] =
        (struct cs_known_item){.raw = raw, .tag = tag, .lead = lead, .hash = hash};
    bool shorter = k->least && least < k->least;
    if (k->least == 0 || shorter)
        k->least = least;
    size_t slots = k->slots ? k->slots : FIRST_SLOTS;
    if (k->count * 2 > slots)
        slots *= 2;
    if (shorter || slots != k->slots)
        rebuild(k, slots);
    else
        place(k, k->count - 1);
}

/* --- the search --- */

/* How many bytes are the same. */
static size_t common(struct cs_str raw, const char *p)
{
    size_t i = 0;
    while (i < raw.len && lower(raw.at[i]) == lower(p[i]))
        i++;
    return i;
}

static bool spend(struct cs_known_search *s, size_t bytes)
{
    if (bytes >= s->work) {
        s->work = 0;
        return false;
    }
    s->work -= bytes;
    return true;
}

/* By itself: no letter or digit goes on before or behind it. */
static bool alone(struct cs_str text, size_t start, size_t end)
{
    return !(start > 0 && cs_is_alnum(text.at[start - 1]) && cs_is_alnum(text.at[start])) &&
           !(end < text.len && cs_is_alnum(text.at[end]) && cs_is_alnum(text.at[end - 1]));
}

/* Is it this one? And longer than what was found before. */
static bool fits(struct cs_known_search *s, const struct cs_known_item *item, size_t at,
                 struct cs_known_hit *hit)
{
    size_t n = item->raw.len;
    if (item->lead > at || n - item->lead > s->text.len - at || n <= hit->end - hit->start)
        return false;
    size_t start = at - item->lead, equal = common(item->raw, s->text.at + start);
    if (!spend(s, equal) || equal < n)
        return false;
    if (!(s->anywhere && n >= CS_KNOWN_BYTES) && !alone(s->text, start, start + n))
        return false;
    *hit = (struct cs_known_hit){start, start + n, item->tag};
    return true;
}

static bool many(struct cs_known_search *s, const struct cs_known_start *start, size_t at,
                 struct cs_known_hit *hit)
{
    const struct cs_known *k = s->known;
    uint64_t hash = HASH;
    size_t hashed = 0;
    bool found = false;
    for (unsigned i = 0; i < start->count && start->lengths[i] <= s->text.len - at; i++) {
        size_t length = start->lengths[i];
        if (!spend(s, length - hashed))
            break;
        hash = hash_on(hash, s->text.at + at + hashed, length - hashed);
        hashed = length;
        size_t slot = slot_of(k, hash);
        while (k->by_value[slot] && k->items[k->by_value[slot] - 1].hash != hash)
            slot = (slot + 1) & (k->slots - 1);
        for (uint32_t n = k->by_value[slot]; n && s->work; n = k->items[n - 1].next)
            found |= fits(s, &k->items[n - 1], at, hit);
    }
    return found;
}

/* A value whose first word begins here: the longest. */
static bool begins(struct cs_known_search *s, size_t at, struct cs_known_hit *hit)
{
    const struct cs_known *k = s->known;
    const struct cs_known_start *start = find_start(k, start_of(s->text.at + at, k->least));
    bool found = false;
    *hit = (struct cs_known_hit){0};
    if (!start)
        return false;
    if (start->few_count > FEW)
        return many(s, start, at, hit);
    for (unsigned i = 0; i < start->few_count; i++)
        found |= fits(s, &k->items[start->few[i]], at, hit);
    return found;
}

void cs_known_begin(struct cs_known_search *search, const struct cs_known *known,
                    struct cs_str text)
{
    *search = (struct cs_known_search){
        .known = known, .text = text, .work = text.len * WORK_FACTOR + CS_KNOWN_MOST};
}

/* The next place where a word begins, or goes on, as one of them does. */
static inline __attribute__((always_inline)) size_t
candidate(const struct cs_known *k, struct cs_str text, size_t at, unsigned least, bool anywhere)
{
    const uint64_t *bits = k->bits;
    unsigned shift = 32 - k->bit_log;
    for (; at + least <= text.len; at++) {
        uint32_t bit = mix(start_of(text.at + at, least)) >> shift;
        if (bits[bit / 64] >> bit % 64 & 1 && cs_is_alnum(text.at[at]) &&
            (anywhere || at == 0 || !cs_is_alnum(text.at[at - 1])))
            return at;
    }
    return text.len;
}

static size_t next_candidate(const struct cs_known_search *s)
{
    const struct cs_known *k = s->known;
    return k->least == BEGINNING ? candidate(k, s->text, s->at, BEGINNING, s->anywhere)
                                 : candidate(k, s->text, s->at, CS_KNOWN_SHORT, s->anywhere);
}

int cs_known_next(struct cs_known_search *s, struct cs_known_hit *hit)
{
    if (s->known->count == 0)
        return 0;
    while ((s->at = next_candidate(s)) < s->text.len) {
        if (begins(s, s->at, hit)) {
            s->at = hit->end;
            return 1;
        }
        if (s->work == 0)
            return -1;
        s->at++;
    }
    return 0;
}

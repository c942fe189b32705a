/*
 * Keys that are there twice. The sender chooses the keys, so nothing here may depend on their being
 * kind: sorting by hash is linear, and keys of one hash are put in order with n log n comparisons,
 * which is the worst that can be asked for.
 */
#include "base/json_tape.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Where to look the content of a key up. */
struct where {
    const char *text;
    const uint32_t *tape;
};

uint32_t cs_json_hash_escaped(const char *inside, size_t len)
{
    struct cs_json_chars c = cs_json_chars(inside, len);
    uint64_t first = 0, last = 0;
    size_t n = 0;
    for (int byte; (byte = cs_json_chars_next(&c)) >= 0; n++) {
        if (n < 8)
            first |= (uint64_t)byte << (8 * n);
        last = last >> 8 | (uint64_t)byte << 56;
    }
    return cs_json_mix(first, n > 8 ? last : 0, n);
}

static int compare_content(struct where w, uint32_t a, uint32_t b)
{
    struct cs_json_chars x = cs_json_chars_at(w.text, w.tape + a);
    struct cs_json_chars y = cs_json_chars_at(w.text, w.tape + b);
    if (!((w.tape[a + TAPE_SIZE] | w.tape[b + TAPE_SIZE]) & TAPE_ESCAPED)) {
        size_t nx = (size_t)(x.end - x.at), ny = (size_t)(y.end - y.at);
        int order = memcmp(x.at, y.at, nx < ny ? nx : ny);
        return order ? order : (nx > ny) - (nx < ny);
    }
    for (;;) {
        int cx = cs_json_chars_next(&x), cy = cs_json_chars_next(&y);
        if (cx != cy)
            return cx < cy ? -1 : 1;
        if (cx < 0)
            return 0;
    }
}

/* Copies two sorted runs into one. Of equal keys the one of the first run comes first. */
static void merge(struct where w, const struct cs_json_key *a, const struct cs_json_key *middle,
                  const struct cs_json_key *end, struct cs_json_key *to)
{
    const struct cs_json_key *b = middle;
    while (a < middle && b < end)
        *to++ = compare_content(w, a->at, b->at) <= 0 ? *a++ : *b++;
    memcpy(to, a, (size_t)(middle - a) * sizeof *a);
    to += middle - a;
    memcpy(to, b, (size_t)(end - b) * sizeof *b);
}

/* A merge sort from the bottom up. Unlike qsort, it promises n log n. */
static void sort_by_content(struct where w, struct cs_json_key *keys, size_t n,
                            struct cs_json_key *spare)
{
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t i = 0; i < n; i += 2 * run) {
            size_t middle = i + run < n ? i + run : n, end = i + 2 * run < n ? i + 2 * run : n;
            merge(w, keys + i, keys + middle, keys + end, spare + i);
        }
        memcpy(keys, spare, n * sizeof *keys);
    }
}

/* A radix sort, byte by byte from the lowest, to and fro between the keys and a spare array. */
static void sort_by_hash(struct cs_json_key *keys, size_t n, struct cs_json_key *spare)
{
    struct cs_json_key *from = keys, *to = spare;
    for (int shift = 0; shift < 32; shift += 8) {
        size_t starts[257] = {0};
        for (size_t i = 0; i < n; i++)
            starts[(from[i].hash >> shift & 0xFF) + 1]++;
        for (int i = 0; i < 256; i++)
            starts[i + 1] += starts[i];
        for (size_t i = 0; i < n; i++)
            to[starts[from[i].hash >> shift & 0xFF]++] = from[i];
        struct cs_json_key *swap = from;
        from = to;
        to = swap;
    }
}

uint32_t cs_json_twice(const char *text, const uint32_t *tape, struct cs_json_key *keys, size_t n)
{
    struct where w = {text, tape};
    uint32_t first = CS_JSON_UNIQUE;
    CS_AUTO_FREE struct cs_json_key *spare = cs_realloc(NULL, n, sizeof *spare);
    sort_by_hash(keys, n, spare);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && keys[to].hash == keys[from].hash;)
            to++;
        if (to - from < 2)
            continue;
        sort_by_content(w, keys + from, to - from, spare);
        for (size_t i = from + 1; i < to; i++)
            if (keys[i].at < first && compare_content(w, keys[i - 1].at, keys[i].at) == 0)
                first = keys[i].at;
    }
    return first;
}

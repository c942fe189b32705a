/*
 * What the tape of a struct cs_json is made of. Private to the files base/json*.c.
 *
 * The tape holds values in the order of the text, each as a few 32-bit words. What kind of value it
 * is, its first character in the text says.
 *
 *   scalar     FROM  offset of its first character (of a string: the quote)
 *              SIZE  bytes, quotes included; TAPE_ESCAPED is set if a string has an escape
 *   container  FROM, SIZE, then
 *              COUNT elements or members
 *              NEXT  index of the word after its last child; children start at FROM + TAPE_OPEN.
 *                    A member is a string (its key) followed by a value.
 *
 * While a container is open, SIZE, COUNT and NEXT hold what the parser needs to come back to its
 * parent, so that nesting costs no stack.
 */
#ifndef CS_BASE_JSON_TAPE_H
#define CS_BASE_JSON_TAPE_H

#include "base/json.h"

enum { TAPE_FROM, TAPE_SIZE, TAPE_SCALAR, TAPE_COUNT = TAPE_SCALAR, TAPE_NEXT, TAPE_OPEN };

#define TAPE_ESCAPED 0x80000000u

/* The content of a string as a stream of bytes with the escapes undone. */
struct cs_json_chars {
    const char *at, *end;
    char ahead[4];
    unsigned char n, i; /* of `ahead`: how many there are, how many are used */
};

static inline struct cs_json_chars cs_json_chars(const char *inside, size_t len)
{
    return (struct cs_json_chars){.at = inside, .end = inside + len};
}

/* Of the string on the tape. */
static inline struct cs_json_chars cs_json_chars_at(const char *text, const uint32_t *value)
{
    return cs_json_chars(text + value[TAPE_FROM] + 1, (value[TAPE_SIZE] & ~TAPE_ESCAPED) - 2);
}

/* The next byte, or -1 at the end. The content must have been checked by the parser. */
int cs_json_chars_next(struct cs_json_chars *c);

/* A key of an object that is still open: where it is on the tape, and a hash of its content. */
struct cs_json_key {
    uint32_t hash, at;
};

/* The hash sees the length and the first and last eight bytes only: keys that differ in between
 * cost a comparison. */
static inline uint32_t cs_json_mix(uint64_t first, uint64_t last, size_t len)
{
    uint64_t h = (first ^ len) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 29) ^ last) * 0xBF58476D1CE4E5B9u;
    return (uint32_t)(h >> 32);
}

/* The hash of a key with escapes: that of the same key written without. */
uint32_t cs_json_hash_escaped(const char *inside, size_t len);

#define CS_JSON_UNIQUE UINT32_MAX

/* The first key (its place on the tape) that repeats an earlier one, or CS_JSON_UNIQUE. Reorders
 * the keys. */
uint32_t cs_json_twice(const char *text, const uint32_t *tape, struct cs_json_key *keys, size_t n);

#endif

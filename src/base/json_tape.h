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

/* The next byte, or -1 at the end. The content must have been checked by the parser. */
int cs_json_chars_next(struct cs_json_chars *c);

#endif

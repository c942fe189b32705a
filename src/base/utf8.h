/*
 * UTF-8, one character at a time. Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#ifndef CS_BASE_UTF8_H
#define CS_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define CS_UTF8_BAD "\xEF\xBF\xBD" /* U+FFFD */

/*
 * Bytes of the character at `s`, of which `n` (at least 1) bytes are there. If they are no
 * character, minus the number of bytes that one U+FFFD stands for (the maximal subpart of Unicode
 * 3.9: what browsers do).
 */
static inline int cs_utf8_len(const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return -1;
    unsigned char low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
    if (n < 2 || p[1] < low || p[1] > high)
        return -1;
    if (p[0] < 0xE0)
        return 2;
    if (n < 3 || (p[2] & 0xC0) != 0x80)
        return -2;
    if (p[0] < 0xF0)
        return 3;
    return n >= 4 && (p[3] & 0xC0) == 0x80 ? 4 : -3;
}

/* The character at `s`, whose cs_utf8_len, 1 to 4, is `len`. */
static inline uint32_t cs_utf8_get(const char *s, int len)
{
    const unsigned char *p = (const unsigned char *)s;
    switch (len) {
    case 1:
        return p[0];
    case 2:
        return (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
    case 3:
        return (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    default:
        return (p[0] & 7u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
    }
}

/* Writes the character to `to` (4 bytes of room) and returns its length. `c` must be one. */
static inline unsigned cs_utf8_put(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    unsigned n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (unsigned i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)((0xF00u >> n) | c);
    return n;
}

/* At most `max` bytes of it, and no half of a character at the end. */
static inline struct cs_str cs_utf8_cut(struct cs_str s, size_t max)
{
    if (s.len <= max)
        return s;
    while (max > 0 && ((unsigned char)s.at[max] & 0xC0) == 0x80)
        max--;
    return cs_strn(s.at, max);
}

#endif

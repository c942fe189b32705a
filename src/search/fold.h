/*
 * What search knows of Unicode: letters folded to their plain lower-case form (decomposed, marks
 * dropped), and the classes that a BERT tokenizer splits by. The tables come from
 * scripts/unicode-table.
 */
#ifndef CS_SEARCH_FOLD_H
#define CS_SEARCH_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/utf8.h"

#define CS_FOLD_MAX 3

/* Takes one character off the front of `s`, which is not empty; U+FFFD for bytes that are none. */
static inline uint32_t cs_fold_take(struct cs_str *s)
{
    const unsigned char *p = (const unsigned char *)s->at;
    int n = cs_utf8_len(s->at, s->len);
    uint32_t c = p[0];
    if (n < 0) {
        c = 0xFFFD;
        n = -n;
    } else if (n > 1) {
        c &= 0x7Fu >> n;
        for (int i = 1; i < n; i++)
            c = c << 6 | (p[i] & 0x3Fu);
    }
    s->at += n;
    s->len -= (size_t)n;
    return c;
}

/* Writes what stands for `c`, and returns how many characters that is: 0 for a nonspacing mark. */
unsigned cs_fold_char(uint32_t c, uint32_t to[CS_FOLD_MAX]);

bool cs_fold_is_space(uint32_t c);
bool cs_fold_is_punctuation(uint32_t c);
bool cs_fold_is_control(uint32_t c); /* also U+0000 and U+FFFD, but no space */
bool cs_fold_is_ideograph(uint32_t c);

#endif

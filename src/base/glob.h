/* Patterns with `*`, which stands for any text, for allow and deny lists. */
#ifndef CS_BASE_GLOB_H
#define CS_BASE_GLOB_H

#include <stdint.h>

#include "base/str.h"

/* A star that took too little takes more: at worst the product of both lengths, so bound them. */
static inline bool cs_glob(struct cs_str pattern, struct cs_str text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, resume = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.at[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.len && pattern.at[p] == text.at[t]) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.at[p] == '*')
        p++;
    return p == pattern.len;
}

#endif

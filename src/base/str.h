/*
 * Text as (pointer, length). A cs_str borrows its bytes, need not end in NUL, and may contain NUL.
 */
#ifndef CS_BASE_STR_H
#define CS_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct cs_str {
    const char *at;
    size_t len;
};

/* For printf: printf("%.*s", CS_STR_ARG(s)). */
#define CS_STR_ARG(s) (int)(s).len, (s).at ? (s).at : ""

/* A string literal, also in static initialisers. */
#define CS_STR(literal) ((struct cs_str){"" literal, sizeof(literal) - 1})

static inline struct cs_str cs_str(const char *z)
{
    return (struct cs_str){z, z ? strlen(z) : 0};
}

static inline struct cs_str cs_strn(const char *at, size_t len)
{
    return (struct cs_str){at, len};
}

static inline bool cs_str_eq(struct cs_str a, struct cs_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static inline bool cs_str_is(struct cs_str a, const char *z)
{
    return cs_str_eq(a, cs_str(z));
}

static inline bool cs_str_starts(struct cs_str s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.len >= n && memcmp(s.at, prefix, n) == 0;
}

static inline bool cs_str_ends(struct cs_str s, const char *suffix)
{
    size_t n = strlen(suffix);
    return s.len >= n && memcmp(s.at + s.len - n, suffix, n) == 0;
}

#endif

#include "schema/near.h"

#define LETTERS 48

/* Letters and digits, in lower case: user_id, userId and User-ID are one. */
static size_t letters(struct cs_str s, char *to)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len && n < LETTERS; i++) {
        char c = s.at[i];
        if (c >= 'A' && c <= 'Z')
            c |= 0x20;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80))
            to[n++] = c;
    }
    return n;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b. */
static unsigned edits(const char *a, size_t n, const char *b, size_t m)
{
    unsigned rows[3][LETTERS + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];
    for (unsigned j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned d = last[j - 1] + (a[i - 1] != b[j - 1]);
            d = least(d, least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d = least(d, before[j - 2] + 1);
            now[j] = d;
        }
        unsigned *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[m];
}

int cs_near(struct cs_str a, struct cs_str b)
{
    char x[LETTERS], y[LETTERS];
    size_t n = letters(a, x), m = letters(b, y);
    size_t longer = n > m ? n : m, shorter = n > m ? m : n;
    if (shorter == 0)
        return NEAR_NOT;
    if (n == m && memcmp(x, y, n) == 0)
        return 0;
    unsigned d = edits(x, n, y, m);
    size_t allowed = longer < 3 ? 0 : longer < 6 ? 1 : longer / 3;
    if (d <= allowed)
        return 10 + (int)(d * 60 / longer);
    /* repo and repository, id and issue_id. */
    if (shorter >= 2 && (memcmp(x, y, shorter) == 0))
        return 40;
    if (shorter >= 2 && memcmp(x + n - shorter, y + m - shorter, shorter) == 0)
        return 50;
    return memcmp(x, y, shorter) == 0 ? 60 : NEAR_NOT;
}

#include "base/near.h"

#include <string.h>

#define NEAR_MAX 3
#define WORD_MAX 65

static size_t least(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Edit distance of two short words. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(b);
    if (strlen(a) >= WORD_MAX || n >= WORD_MAX)
        return WORD_MAX;
    size_t row[WORD_MAX];
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t up = row[j];
            row[j] = least(up + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1]));
            corner = up;
        }
    }
    return row[n];
}

const char *cs_nearest(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t best_distance = NEAR_MAX + 1;
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(word, names[i]);
        if (d < best_distance && d < strlen(word) && 2 * d <= strlen(word) + 1) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}

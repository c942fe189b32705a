/* Which name was probably meant: words that are a few letters apart. Pure; runs in every process.
 */
#ifndef CS_BASE_NEAR_H
#define CS_BASE_NEAR_H

#include <stddef.h>

/* The one of `names` that `word` is probably a misspelling of; NULL if none is near. Words of 64
 * bytes and more are near to nothing. */
const char *cs_nearest(const char *word, const char *const *names, size_t count);

#endif

/*
 * Inside of privacy/: words and phrases of the user's own, as many as 100,000, looked up in one
 * hash at the beginnings of words. Letters of ASCII count the same in either case, and a blank
 * stands for any number of them.
 */
#ifndef CS_PRIVACY_PHRASES_H
#define CS_PRIVACY_PHRASES_H

#include "base/err.h"
#include "base/str.h"

#define CS_WORD_MAX 256 /* bytes of a phrase */

struct cs_phrases;

int cs_phrases_new(const struct cs_str *words, size_t count, struct cs_phrases **made,
                   struct cs_err *err);
void cs_phrases_free(struct cs_phrases *words);

/* The next one at or after `*at`, the longest if several begin there. */
bool cs_phrases_next(const struct cs_phrases *words, struct cs_str text, size_t *at, size_t *end);

#endif

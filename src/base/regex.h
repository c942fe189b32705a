/*
 * A pattern of a user's own: for text, never for code.
 *
 * It is compiled once, and refused if it may match nothing at all or if texts of its own making
 * show that its cost grows faster than they do. It is run over windows of bounded length with a
 * budget each, so that the time is linear in the text whatever the pattern is. What it does not
 * get through within its budget counts as found.
 */
#ifndef CS_BASE_REGEX_H
#define CS_BASE_REGEX_H

#include "base/err.h"
#include "base/str.h"

#define CS_REGEX_MAX 20000 /* bytes of a pattern */

struct cs_regex;

int cs_regex_new(struct cs_str text, struct cs_regex **pattern, struct cs_err *err);
/* The same for one of our own: not tried, since tests try them all, and interpreted, until it turns
 * out to be wanted often. */
int cs_regex_ours(struct cs_str text, struct cs_regex **pattern, struct cs_err *err);
void cs_regex_hasten(struct cs_regex *pattern);
void cs_regex_free(struct cs_regex *pattern);

/* What matching needs besides, one for many texts. */
struct cs_matcher;
struct cs_matcher *cs_matcher_new(void);
void cs_matcher_free(struct cs_matcher *matcher);

/* The next match at or after `*at`: 1, and [*at, *end) is it; 0: none. */
int cs_regex_next(const struct cs_regex *pattern, struct cs_matcher *matcher, struct cs_str text,
                  size_t *at, size_t *end);

/* --- pump.c: texts that are hard for a pattern --- */

/* Calls `each` with texts of about `bytes` bytes, as long as it returns true: what stands before
 * each repetition, what is repeated, many times, and something that does not fit. */
bool cs_regex_pump(struct cs_str pattern, size_t bytes, bool (*each)(void *ctx, struct cs_str text),
                   void *ctx);

#endif

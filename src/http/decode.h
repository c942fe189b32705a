/*
 * The texts of a request's head: its target, its lists of headers.
 *
 * Pure. All input is hostile.
 */
#ifndef CS_HTTP_DECODE_H
#define CS_HTTP_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Splits and decodes a request target: "/a%20b?q=1" or "http://host/a%20b?q=1", or "*". `path` gets
 * the path, decoded once; `query` the decoded pairs, each as name NUL value NUL. NULL if all is
 * well, else what is wrong with it: both must be UTF-8 without control characters in the path and
 * without NUL in the query. In the query '+' is a space, and a '%' without two hex digits is
 * itself.
 */
const char *cs_http_target(struct cs_str raw, struct cs_buf *path, struct cs_buf *query);

/* The value of the first pair of this name in what cs_http_target wrote; .at NULL if none is. */
struct cs_str cs_http_pair(struct cs_str query, const char *name);

/* Is it a token: the name of a header, or a method? */
bool cs_http_is_token(struct cs_str s);
/* May it be the value of a header: no control characters but the tab? */
bool cs_http_is_value(struct cs_str s);
/* Digits only, and no more than fit. */
bool cs_http_number(struct cs_str s, uint64_t *number);
/* Without white space at its ends. */
struct cs_str cs_http_trim(struct cs_str s);
/* Are they the same but for the case of letters? */
bool cs_http_same(struct cs_str a, const char *b);

/* Does this Accept-Encoding allow gzip? "gzip;q=0" does not, "*" does. */
bool cs_http_takes_gzip(struct cs_str accept);
/* Is it worth to compress what is of this type? Pictures and archives are small already. */
bool cs_http_is_texty(struct cs_str type);

#endif

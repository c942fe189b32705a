/*
 * JSON in its one canonical form, RFC 8785: members sorted by the UTF-16 code units of their names,
 * numbers as ECMAScript prints them, no space, the least escapes. Pure.
 */
#ifndef CS_BASE_CANON_H
#define CS_BASE_CANON_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

#define CS_CANON_DEPTH 4000

/* Duplicate names: the last one counts, as in JSON.parse. A number that no double holds stands as
 * it was written; half a pair of surrogates becomes U+FFFD. */
void cs_json_canon(struct cs_json_val v, struct cs_buf *out);
/* CS_INVALID: it is no JSON, or has a number that no double holds; CS_LIMIT: it is deeper than
 * that, or has more than 64 MiB. Then nothing was appended. */
int cs_canon(struct cs_str json, struct cs_buf *out, struct cs_err *err);
/* SHA-256 of the canonical form; of the bytes themselves if they are no JSON. */
void cs_canon_hash(struct cs_str json, unsigned char hash[32]);

#endif

/*
 * References to schemas: RFC 3986, as far as $id and $ref need it.
 *
 * Owner:   results are borrowed from the arguments or live in the buffer given.
 */
#ifndef CS_SCHEMA_URI_H
#define CS_SCHEMA_URI_H

#include "base/buf.h"
#include "base/str.h"

/* Cuts `uri` at its '#': what stands before stays in it, what stands after is returned; NULL
 * (at = NULL) if there is none. */
struct cs_str cs_uri_cut_fragment(struct cs_str *uri);

/* Appends the target of `ref` as seen from `base` (section 5.2). Neither has a fragment. */
void cs_uri_resolve(struct cs_str base, struct cs_str ref, struct cs_buf *out);

/* Appends the text with its percent escapes undone. */
void cs_uri_decode(struct cs_str s, struct cs_buf *out);

#endif

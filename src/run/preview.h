/*
 * A large JSON value, cut to what fits: valid JSON in which the shape is seen first and the details
 * as far as there is room. What is missing is said where it is missing:
 *
 *     {"rows": [{"id": 1, "text": "Once upon… (12,345 more characters)"}, "… 990 more items"],
 *      "…": "12 more keys"}
 *
 * Pure functions.
 */
#ifndef CS_RUN_PREVIEW_H
#define CS_RUN_PREVIEW_H

#include "base/json.h"

/* Appends it, in at most about `tokens` tokens, but at least as a few words. */
void cs_preview(struct cs_json_val value, uint64_t tokens, struct cs_buf *out);

/* At most `chars` characters of a text, and how many are missing. Appends; it is no JSON yet. */
void cs_preview_text(struct cs_str text, size_t chars, struct cs_buf *out);

/* "12,345" */
void cs_preview_number(uint64_t n, struct cs_buf *out);

#endif

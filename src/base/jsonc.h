/*
 * JSON as editors keep it: with comments, trailing commas and a byte order mark. And changes of one
 * member that leave every other byte alone.
 *
 * Runs in: daemon and command line; pure. The text is foreign.
 * Owner:   the text is borrowed and must outlive the document.
 * Limits:  CS_JSONC_BYTES, 128 levels. Time is linear in the text.
 */
#ifndef CS_BASE_JSONC_H
#define CS_BASE_JSONC_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

#define CS_JSONC_BYTES (32u << 20) /* ~/.claude.json has its history in it */

struct cs_jsonc {
    struct cs_str text;
    struct cs_buf plain; /* as long as the text, with spaces for what JSON does not have: a place in
                            one is a place in the other */
    struct cs_json doc;  /* of `plain`; equal keys are allowed, and the last one counts */
};

#define CS_AUTO_JSONC CS_AUTO(cs_jsonc_done)

/* CS_INVALID with line and column. On failure the document is empty. */
int cs_jsonc_parse(struct cs_str text, struct cs_jsonc *doc, struct cs_err *err);
void cs_jsonc_done(struct cs_jsonc *doc);

/* Where in the text a value is written; both count from 1, and a column is a character. */
struct cs_jsonc_place {
    size_t line, column;
};
struct cs_jsonc_place cs_jsonc_where(const struct cs_jsonc *doc, struct cs_json_val v);

/*
 * Each of these puts the whole changed text into `out`.
 *
 * add:    a member after the last one of `object`, laid out as its neighbours are: on a line of its
 *         own with their indentation, or in the same line. `value` is JSON.
 * remove: the member whose key is `key`. Comments stay, but those inside it. Taking away what `add`
 *         has put there gives the same bytes as before; only an object that is empty afterwards is
 *         always `{}`, unless it has a comment.
 * set:    another value for the member `key`, `old`, in its place.
 */
void cs_jsonc_add(const struct cs_jsonc *doc, struct cs_json_val object, struct cs_str name,
                  struct cs_json_val value, struct cs_buf *out);
void cs_jsonc_remove(const struct cs_jsonc *doc, struct cs_json_val object, struct cs_json_val key,
                     struct cs_buf *out);
void cs_jsonc_set(const struct cs_jsonc *doc, struct cs_json_val object, struct cs_json_val key,
                  struct cs_json_val old, struct cs_json_val value, struct cs_buf *out);

/* A new text: {"section": {"name": value}}, laid out over several lines. */
void cs_jsonc_new(struct cs_str section, struct cs_str name, struct cs_json_val value,
                  struct cs_buf *out);

#endif

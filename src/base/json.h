/*
 * JSON: a reader that makes a tape over the original text, and a writer.
 *
 * The reader copies nothing: strings and numbers are slices of the text, which must outlive the
 * document. It is strict RFC 8259 (UTF-8 checked, no extensions), iterative, and bounded.
 *
 * Runs in: every process; foreign bytes are its daily bread. LC_NUMERIC must be that of "C", which
 *          it is where nobody calls setlocale.
 * Owner:   the caller owns text and document; a cs_json_val borrows from both.
 * Limits:  struct cs_json_limits, then CS_LIMIT. The tape takes up to 6 times the text at worst,
 * about as much as the text for usual documents. Time is linear in the text; in the number of keys
 *          of one object, n log n, whatever the keys are.
 * Failure: malformed text is CS_INVALID, "JSON, line 3, column 14: expected ..., found ...". Lines
 *          and columns count from 1, and a column is a character.
 */
#ifndef CS_BASE_JSON_H
#define CS_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum cs_json_type {
    CS_JSON_NONE, /* no such value: what cs_json_get answers for a missing key. Every function here
                     takes it, so lookups can be chained: the answer is none, 0, empty or false */
    CS_JSON_NULL,
    CS_JSON_FALSE,
    CS_JSON_TRUE,
    CS_JSON_NUMBER,
    CS_JSON_STRING,
    CS_JSON_ARRAY,
    CS_JSON_OBJECT,
};

struct cs_json_limits {
    size_t bytes;         /* largest text; 0: 64 MiB; at most 2 GiB less one byte */
    uint32_t depth;       /* deepest nesting; 0: 128 */
    bool allow_duplicate; /* duplicate keys are CS_INVALID unless this is set */
};

struct cs_json {
    struct cs_str text;
    uint32_t *tape; /* private: base/json_tape.h */
    size_t len, cap;
    bool duplicates; /* the same key may be there twice; then the last one counts */
};

struct cs_json_val {
    const struct cs_json *doc;
    uint32_t at;
};

#define CS_AUTO_JSON CS_AUTO(cs_json_done)

/* `limits` may be NULL. On failure `doc` is empty and cs_json_done on it is harmless. */
int cs_json_parse(struct cs_str text, const struct cs_json_limits *limits, struct cs_json *doc,
                  struct cs_err *err);
void cs_json_done(struct cs_json *doc);

struct cs_json_val cs_json_root(const struct cs_json *doc);
enum cs_json_type cs_json_type(struct cs_json_val v);

/* Member of an object by key (compared unescaped); CS_JSON_NONE if missing or no object. Looks at
 * one key after the other: to read most of a wide object, walk it. */
struct cs_json_val cs_json_get(struct cs_json_val object, const char *key);

/* Number of elements or members; 0 for scalars. */
uint32_t cs_json_count(struct cs_json_val v);

/*
 * Walks an array or object: start with it zeroed; false at the end. `key` (may be NULL) is set for
 * objects.
 *
 *     struct cs_json_iter it = {0};
 *     while (cs_json_next(v, &it, &key, &item)) ...
 */
struct cs_json_iter {
    uint32_t at;
};
bool cs_json_next(struct cs_json_val v, struct cs_json_iter *it, struct cs_json_val *key,
                  struct cs_json_val *item);

/* The text of the value as it was written, quotes and all. */
struct cs_str cs_json_raw(struct cs_json_val v);

/* A string unescaped: a slice of the text if it has no escape, else a copy in the arena. Lone
 * surrogate escapes become U+FFFD. Empty if `v` is no string. */
struct cs_str cs_json_str(struct cs_json_val v, struct cs_arena *arena);
bool cs_json_is(struct cs_json_val v, const char *z); /* is it this string? */

/* False (and *out untouched) if it is not a number that fits exactly. However it is written: 1e3
 * and 1000.0 fit too. */
bool cs_json_i64(struct cs_json_val v, int64_t *out);

/* The nearest double. False (and *out untouched) if it is no number or beyond the largest double.
 */
bool cs_json_f64(struct cs_json_val v, double *out);
bool cs_json_bool(struct cs_json_val v, bool *out);

/*
 * The writer appends to a buffer and places commas itself. It does not check that calls nest
 * properly beyond assertions: the caller is ours.
 */
struct cs_json_writer {
    struct cs_buf *out;
    bool comma; /* the next value needs a comma before it */
    uint32_t depth;
};

#define CS_JSON_WRITER(buf) ((struct cs_json_writer){.out = (buf)})

void cs_json_open(struct cs_json_writer *w, char bracket); /* '{' or '[' */
void cs_json_close(struct cs_json_writer *w, char bracket);
void cs_json_key(struct cs_json_writer *w, const char *key);
void cs_json_key_str(struct cs_json_writer *w, struct cs_str key);
void cs_json_put_str(struct cs_json_writer *w, struct cs_str s); /* invalid UTF-8 becomes U+FFFD */
void cs_json_put_z(struct cs_json_writer *w, const char *z);     /* NULL becomes null */
void cs_json_put_i64(struct cs_json_writer *w, int64_t v);
void cs_json_put_u64(struct cs_json_writer *w, uint64_t v);
/* Reads back as the same double, in as few digits as that takes (for a few powers of two, one
 * more). NaN and infinities become null, as JSON has none. */
void cs_json_put_f64(struct cs_json_writer *w, double v);
void cs_json_put_bool(struct cs_json_writer *w, bool v);
void cs_json_put_null(struct cs_json_writer *w);
void cs_json_put_raw(struct cs_json_writer *w,
                     struct cs_str json); /* trusted to be one valid value */

/* The same value on one line, for channels that are cut into lines: line breaks between tokens
 * become spaces; U+2028, U+2029 and U+0085, which occur in strings alone, are escaped, since some
 * readers take them for the end of a line. `json` must be valid. */
void cs_json_line(struct cs_buf *out, struct cs_str json);

/* The same document, indented by two spaces, for people. `json` must be valid. The output grows
 * with the depth: bound it by the limit that `json` was parsed with. */
void cs_json_pretty(struct cs_str json, struct cs_buf *out);

#endif

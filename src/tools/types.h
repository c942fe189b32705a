/*
 * A JSON Schema as a TypeScript type: read (types.c), printed (types_print.c), and with an example
 * of a value that fits (types_sample.c). Private to declare.c.
 *
 * Runs in: daemon; pure. Schemas are foreign.
 * Owner:   everything lives in the arena given; a set borrows the document it was read from.
 * Limits:  CS_TYPES_NODES types and CS_TYPES_DEFS named ones of a schema; what nests deeper than
 *          CS_TYPES_DEPTH, and what cannot be said in TypeScript, is `unknown`.
 */
#ifndef CS_TOOLS_TYPES_H
#define CS_TOOLS_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "tools/declare.h"

#define CS_TYPES_NODES 100000u
#define CS_TYPES_DEFS  1000u
#define CS_TYPES_DEPTH 60u

enum cs_type_kind {
    CS_TYPE_UNKNOWN,
    CS_TYPE_NEVER,
    CS_TYPE_NULL,
    CS_TYPE_BOOLEAN,
    CS_TYPE_NUMBER,
    CS_TYPE_STRING,
    CS_TYPE_LITERAL, /* `value`: a string, number, true or false */
    CS_TYPE_ARRAY,   /* of `rest` */
    CS_TYPE_TUPLE,  /* `parts`, the first `needed` of which must be there, then `rest` or nothing */
    CS_TYPE_OBJECT, /* `props`; other keys are `rest` if that is not NULL */
    CS_TYPE_UNION,  /* of `parts`, at least two */
    CS_TYPE_BOTH,   /* the intersection of `parts`, at least two */
    CS_TYPE_NAMED,  /* `def` */
};

struct cs_type {
    enum cs_type_kind kind;
    bool integer, seen;        /* a number that is one; private to types_join.c */
    struct cs_json_val schema; /* it was read from: for notes and samples; may be none */
    struct cs_json_val value;
    struct cs_type **parts;
    struct cs_type *rest;
    struct cs_prop *props;
    size_t count; /* of parts or props */
    size_t needed;
    struct cs_type_def *def;
};

struct cs_prop {
    struct cs_str name;
    struct cs_type *type;
    struct cs_json_val schema; /* its description and notes */
    bool required;
};

/* A schema that some $ref names. */
struct cs_type_def {
    struct cs_json_val schema;
    struct cs_str hint;
    char name[2 * CS_IDENT_MAX + 16]; /* empty: written where it is used */
    struct cs_type *type;
    size_t uses, width;
    bool leaf, open, settled; /* these, and the width, are private to types.c */
    struct cs_type_def *next;
};

struct cs_types {
    struct cs_type *root;
    struct cs_type_def *defs; /* those in use, in the order of their first use */
};

/* Reads `schema`. `name` is what a `$ref` to the whole is called; the other defs that need a name
 * are called `prefix` + "$" + something. CS_INVALID if it is no schema, or too large. */
int cs_types_read(struct cs_json_val schema, const char *name, const char *prefix,
                  struct cs_arena *arena, struct cs_types *types, struct cs_err *err);

/* The type that a NAMED one stands for; itself else. Never NAMED, unless it leads nowhere. */
const struct cs_type *cs_type_real(const struct cs_type *t);

/* Would `{}` do? */
bool cs_type_takes_nothing(const struct cs_type *t);

/* Has an object of this type optional properties that every object inherits, as `constructor`? A
 * checker then takes `{}` for wrong. */
bool cs_type_is_shadowed(const struct cs_type *t);

/* Does this value of the schema (a default, an example) fit? False if in doubt. */
bool cs_type_fits(const struct cs_type *t, struct cs_json_val value, unsigned depth);

/* --- names.c --- */

/* The identifier that cs_idents chose, or one made of it (or of the name) if it is none. */
void cs_ident_given(struct cs_str ident, struct cs_str name, char out[CS_IDENT_MAX + 1]);

/* --- types_print.c --- */

struct cs_type_style {
    struct cs_arena *arena;
    bool comments; /* descriptions of properties */
    bool bare;     /* ... but not of those of the outermost object */
    bool limits;   /* defaults and bounds as well */
};

void cs_type_print(const struct cs_type *t, const struct cs_type_style *style, struct cs_buf *out);

/* "default 30, 1 to 100"; nothing if there is nothing to say. `said` is what stands before it. */
void cs_type_notes(struct cs_json_val schema, const struct cs_type *type, bool limits,
                   struct cs_str said, struct cs_arena *arena, struct cs_buf *out);

/* What its schema says of it; else what the schema says that it refers to. */
struct cs_str cs_prop_description(const struct cs_prop *prop, struct cs_arena *arena);

/* `owner`, or `"Start<"` if it is no identifier. */
void cs_type_key(struct cs_str name, struct cs_buf *out);
bool cs_type_key_is_plain(struct cs_str name);

/* A string as a literal that is safe in code and in comments. */
void cs_type_quote(struct cs_str s, struct cs_buf *out);

/* A JSON value as an expression or a type (they look alike), its strings quoted as above. */
void cs_type_literal(struct cs_json_val value, struct cs_arena *arena, struct cs_buf *out);

/* --- types_sample.c --- */

/* An expression that fits the type, and the schema where that is easy. `hint` (the name of the
 * parameter) is what a string says that may say anything. */
void cs_type_sample(const struct cs_type *t, struct cs_str hint, struct cs_arena *arena,
                    struct cs_buf *out);

/* --- comment.c: text of a server inside a comment --- */

/* Controls, marks of direction and characters without a shape: they can show a person something
 * other than what is there. */
bool cs_text_is_hidden(uint32_t c);

/* The character at `s` (at least a byte), or U+FFFD; `*len` bytes of it. */
uint32_t cs_text_char(struct cs_str s, size_t *len);

/* One line, cut to `max` bytes at a sentence or a word. Nothing in it can end the comment. */
void cs_comment_line(struct cs_str text, size_t max, struct cs_buf *out);

/* The same with its lines kept, each behind `prefix` and with a newline at its end. */
void cs_comment_text(struct cs_str text, size_t max, const char *prefix, struct cs_buf *out);

#endif

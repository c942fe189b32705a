/*
 * JSON Schema, drafts 7 and 2020-12: compile once, check often, and say what is wrong so that a
 * model can mend it.
 *
 * Runs in: daemon. Schemas come from tool servers and skills, values from programs: both are
 *          foreign. A compiled schema is immutable; checking it from several threads is fine.
 * Owner:   the schema owns a copy of all it needs; faults live in the caller's arena.
 * Limits:  CS_SCHEMA_BYTES of text, CS_SCHEMA_NODES subschemas; CS_SCHEMA_STEPS of work per check,
 *          so that no schema and no value takes longer than tens of milliseconds, patterns
 *          included. Beyond: CS_LIMIT.
 * Failure: compile fails with CS_INVALID and says where in the schema. A remote $ref that is not in
 *          `documents` is CS_MISSING: nothing is ever fetched.
 *
 * The dialect is taken from $schema; without one it is 2020-12 (which MCP asks for). `format` is an
 * annotation unless `assert_format` is set. Unknown keywords are ignored, as the drafts say; an
 * unknown $schema is too, unless it is among the documents: then its $vocabulary counts. The older
 * forms that servers write without saying so (an array under `items`, `dependencies`,
 * `definitions`) are understood in every dialect. Numbers are compared as they are written, not as
 * doubles. The metaschemas of both drafts can be referred to.
 *
 * Only what can be reached from the root is compiled: a definition that nobody uses may be broken.
 */
#ifndef CS_SCHEMA_SCHEMA_H
#define CS_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

#define CS_SCHEMA_BYTES (4u << 20)
#define CS_SCHEMA_NODES 100000u
#define CS_SCHEMA_STEPS 5000000u

struct cs_schema;

enum cs_dialect { CS_DRAFT_2020_12, CS_DRAFT_7 };

/* A document that a $ref may name by its URI. */
struct cs_schema_document {
    struct cs_str uri, text;
};

struct cs_schema_options {
    enum cs_dialect dialect; /* for a schema without $schema */
    bool assert_format;
    const struct cs_schema_document *documents;
    size_t document_count;
};

/* `options` may be NULL. */
int cs_schema_new(struct cs_str text, const struct cs_schema_options *options,
                  struct cs_schema **schema, struct cs_err *err);
void cs_schema_free(struct cs_schema *schema);

/* One thing that is wrong with a value. */
struct cs_schema_fault {
    struct cs_str path;    /* "filter.labels[2]"; empty: the value itself */
    struct cs_str keyword; /* "required", "type", "additionalProperties" ...; static */
    struct cs_str
        message; /* "is missing; a string is expected", "there is no 'repo'; did you mean
                    'repository'?", "must be one of \"open\", \"closed\"; given \"opn\"" */
};

/*
 * 0: it fits. Otherwise the number of faults found, at most `max`, most helpful first; of a failed
 * anyOf or oneOf only what the branch that came nearest complains about. -1: the check itself gave
 * up (CS_LIMIT). `faults` may be NULL if max is 0: then 1 stands for "does not fit".
 *
 * A required member that is missing while an unknown one looks like it is one fault, at the path of
 * the missing one, and says to rename it; whether or not unknown members are allowed.
 *
 * Values that were given are quoted in messages, cut to 60 characters. Of a value whose objects
 * have a key twice (allow_duplicate), each of them has to fit.
 */
int cs_schema_check(const struct cs_schema *schema, struct cs_json_val value,
                    struct cs_arena *arena, struct cs_schema_fault *faults, int max,
                    struct cs_err *err);

/*
 * Strings that stand for something else, which nobody here is to know: no keyword judges what such
 * a string says. One that only holds something hidden is still a string; one that is hidden as a
 * whole does for a string, a number, true or false. Where that leaves open whether the value fits,
 * it fits, and `unsure` says so; so what comes out depends on nothing that is hidden. The names of
 * members are taken as they are written, but for `propertyNames`.
 */
enum cs_hiding { CS_HIDES_NOTHING, CS_HIDES_PART, CS_HIDES_ALL };

struct cs_schema_hidden {
    enum cs_hiding (*look)(struct cs_str string);
    bool unsure;         /* out: it is known to fit only as far as it can be seen */
    struct cs_str where; /* out: the path of the first such string; in the arena */
};

/* The same as cs_schema_check; `hidden` may be NULL. */
int cs_schema_check_hidden(const struct cs_schema *schema, struct cs_json_val value,
                           struct cs_schema_hidden *hidden, struct cs_arena *arena,
                           struct cs_schema_fault *faults, int max, struct cs_err *err);

/* "repo: is missing ...; owner: must be a string; given 3". */
void cs_schema_explain(const struct cs_schema_fault *faults, int count, struct cs_buf *out);

#endif

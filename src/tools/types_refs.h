/* What a $ref names. Private to types.c. Bounded by CS_TYPES_DEFS and a number of steps: what is
 * beyond them is not found. Remote references never are. */
#ifndef CS_TOOLS_TYPES_REFS_H
#define CS_TOOLS_TYPES_REFS_H

#include "tools/types.h"

#define CS_REFS_SLOTS (4 * CS_TYPES_DEFS)

struct cs_anchor {
    struct cs_str name;
    struct cs_json_val schema;
    bool is_id;
    struct cs_anchor *next;
};

struct cs_refs {
    struct cs_arena *arena;
    struct cs_json_val root;
    struct cs_anchor *anchors;
    struct cs_type_def **slots; /* CS_REFS_SLOTS of them; NULL: there is no $ref */
    size_t count;
    uint64_t steps;
};

void cs_refs_init(struct cs_refs *r, struct cs_json_val root, struct cs_arena *arena);

/* The reference of a schema; `at` is NULL if it has none. */
struct cs_str cs_ref_of(struct cs_json_val schema, struct cs_arena *arena);

/* CS_JSON_NONE if it leads nowhere. */
struct cs_json_val cs_refs_resolve(struct cs_refs *r, struct cs_str ref);

/* The definition of a schema that some $ref names; NULL if none does. */
struct cs_type_def *cs_refs_find(struct cs_refs *r, struct cs_json_val schema);

#endif

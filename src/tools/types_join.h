/* Types put together: unions, intersections, objects. Private to types.c. */
#ifndef CS_TOOLS_TYPES_JOIN_H
#define CS_TOOLS_TYPES_JOIN_H

#include "tools/types.h"
#include "tools/types_refs.h"

struct cs_type_reader {
    struct cs_arena *arena;
    struct cs_refs refs;
    struct cs_type_def **end; /* of the list of definitions in use */
    size_t nodes, named;
    uint32_t depth;
};

struct cs_type *cs_type_new(struct cs_type_reader *r, enum cs_type_kind kind);
struct cs_type **cs_type_parts(struct cs_type_reader *r, size_t count);

/* Properties by name, each once. Room for `max`. */
struct cs_props {
    struct cs_type_reader *reader;
    struct cs_prop *at;
    uint32_t *slots; /* index + 1 */
    size_t count, mask;
};
struct cs_props cs_props(struct cs_type_reader *r, size_t max);
/* The one of that name, new (without a type) if there is none. */
struct cs_prop *cs_props_put(struct cs_props *props, struct cs_str name);
struct cs_type *cs_type_object(struct cs_type_reader *r, const struct cs_props *props,
                               struct cs_type *rest);

struct cs_type *cs_type_both(struct cs_type_reader *r, struct cs_type *a, struct cs_type *b);
struct cs_type *cs_type_either(struct cs_type_reader *r, struct cs_type *a, struct cs_type *b);
/* The union of all `parts`; `none` if there are none. */
struct cs_type *cs_type_union(struct cs_type_reader *r, struct cs_type **parts, size_t count,
                              struct cs_type *none);

/* Takes out what a type alias cannot say: itself as one of its own alternatives, and combinations
 * that multiply beyond what a type checker does. */
struct cs_type *cs_types_settle(struct cs_type_reader *r, struct cs_type *root,
                                struct cs_type_def *defs);

#endif

/*
 * What compile.c and build.c share: one schema while it becomes nodes.
 */
#ifndef CS_SCHEMA_COMPILE_H
#define CS_SCHEMA_COMPILE_H

#include "schema/load.h"

struct compiler {
    struct loader loader;
    struct cs_schema *schema;
    const struct cs_schema_options *options;
    uint32_t *place_of; /* by node */
    uint32_t cap, first;
    struct cs_names patterns; /* by source; value: index into pattern_of */
    struct cs_pattern **pattern_of;
    uint32_t pattern_cap;
    size_t pattern_bytes;
    bool uses_dynamic;
};

/* A node on its way. */
struct building {
    struct keywords k;
    struct dialect dialect;
    uint32_t resource;
    uint8_t types;
    uint32_t count;
    struct op ops[OP_KINDS + 8]; /* a few kinds come twice or three times */
};

typedef int (*builder)(struct compiler *c, struct building *b);

/* In the order of their operations; ends in NULL. */
extern const builder cs_compile_builders[];

/* The node of a place, to be compiled later. */
uint32_t cs_compile_place(struct compiler *c, uint32_t place);

/* The node of the schema `v`; fails if `v` is none. */
int cs_compile_child(struct compiler *c, struct cs_json_val v, uint32_t *node);
int cs_compile_list(struct compiler *c, struct cs_json_val v, const char *keyword,
                    struct op_list *list);

/* `source` must live as long as the schema. */
int cs_compile_pattern(struct compiler *c, struct cs_json_val at, struct cs_str source,
                       struct cs_pattern **pattern);

void cs_compile_op(struct building *b, enum op_kind kind, uint8_t applies, const void *data,
                   uint32_t node);

#endif

/*
 * A schema as it is checked: nodes in one array, each with its few operations.
 *
 * Owner:   struct cs_schema owns all of it, in its arena; patterns apart.
 */
#ifndef CS_SCHEMA_NODE_H
#define CS_SCHEMA_NODE_H

#include "base/json.h"
#include "schema/format.h"
#include "schema/names.h"
#include "schema/number.h"
#include "schema/pattern.h"
#include "schema/schema.h"

enum {
    TYPE_NULL = 1,
    TYPE_BOOLEAN = 2,
    TYPE_INTEGER = 4,
    TYPE_NUMBER = 8, /* in a mask: numbers that are no integers, too */
    TYPE_STRING = 16,
    TYPE_ARRAY = 32,
    TYPE_OBJECT = 64,
    TYPE_ANY = 127,
};

/* In the order in which they are checked: what is cheap first, what needs the others last. */
enum op_kind {
    OP_ENUM,
    OP_MINIMUM,
    OP_MAXIMUM,
    OP_ABOVE, /* exclusiveMinimum */
    OP_BELOW, /* exclusiveMaximum */
    OP_MULTIPLE,
    OP_LENGTH,
    OP_PATTERN,
    OP_FORMAT,
    OP_COUNT,
    OP_UNIQUE,
    OP_ITEMS,
    OP_CONTAINS,
    OP_MEMBERS,
    OP_DEPENDENT,
    OP_REF,
    OP_DYNAMIC_REF,
    OP_ALL,
    OP_ANY,
    OP_ONE,
    OP_NOT,
    OP_IF,
    OP_UNEVALUATED,
    OP_KINDS,
};

#define NODE_TRUE  0u
#define NODE_FALSE 1u
#define NO_NODE    UINT32_MAX

/* enum, and const as an enum of one. */
struct op_enum {
    struct cs_json_val values; /* an array; of a const, the value itself */
    struct cs_names strings;   /* those that are strings */
    bool is_const, has_others; /* has_others: not all are strings */
};

/* minLength and maxLength, minItems and maxItems, minProperties and maxProperties. */
struct op_range {
    uint64_t min, max;
    const char *min_keyword, *max_keyword;
};

struct op_number {
    struct cs_num n;
    struct cs_str raw;
};

struct op_pattern {
    struct cs_pattern *pattern;
    struct cs_str source;
    uint32_t node; /* of patternProperties */
};

struct op_items {
    uint32_t *first; /* for the elements at the front */
    uint32_t first_count;
    uint32_t rest; /* for those after; NO_NODE: anything, and they count as not evaluated */
    const char *rest_keyword;
};

struct op_contains {
    uint32_t node;
    uint64_t min, max;
    bool marks; /* elements that match count as evaluated */
};

struct member {
    uint32_t node; /* NO_NODE: only required */
    bool required;
};

/* properties, patternProperties, additionalProperties, propertyNames and required at once. */
struct op_members {
    struct cs_names names; /* value: index into `members` */
    struct member *members;
    uint32_t required_count;
    struct op_pattern *patterns;
    uint32_t pattern_count;
    uint32_t additional; /* NO_NODE: anything, and they count as not evaluated */
    uint32_t property_names;
};

/* A member that asks for others, or for the whole object to fit a node. */
struct dependent {
    struct cs_str *names;
    uint32_t name_count;
    uint32_t node;
};

struct op_dependent {
    struct cs_names names; /* value: index into `all` */
    struct dependent *all;
    const char *keyword;
};

struct op_list {
    uint32_t *nodes;
    uint32_t count;
};

struct op_if {
    uint32_t test, then, otherwise;
};

struct op_dynamic {
    uint32_t name; /* number of the anchor's name */
    uint32_t node; /* where it leads without a dynamic scope */
};

struct op_unevaluated {
    uint32_t items, properties; /* or NO_NODE */
};

struct op {
    uint8_t kind;
    uint8_t applies; /* types of values that it looks at */
    const void *data;
    uint32_t node; /* of OP_REF, OP_NOT */
};

struct node {
    struct op *ops;
    uint16_t op_count;
    uint8_t types;
    bool gathers; /* has unevaluatedItems or unevaluatedProperties */
    uint32_t resource;
};

/* The node that a $dynamicAnchor names in a resource. */
struct dynamic_anchor {
    uint32_t resource, name, node;
};

struct schema_doc {
    struct cs_json json;
    struct schema_doc *next;
};

struct schema_pattern {
    struct cs_pattern pattern;
    struct schema_pattern *next;
};

struct cs_schema {
    struct cs_arena arena;
    uint64_t seed;
    struct node *nodes;
    uint32_t node_count, root;
    struct dynamic_anchor *dynamic; /* sorted by resource, then name */
    uint32_t dynamic_count;
    struct schema_doc *docs;
    struct schema_pattern *patterns;
};

#endif

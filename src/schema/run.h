/*
 * One check while it runs. It runs twice at most: first for a yes or a no, and only after a no once
 * more to say what is wrong.
 *
 * Owner:   on the stack of cs_schema_check; `scratch` holds what the check needs.
 * Limits:  steps, which everything pays whose cost the schema or the value decides; and depth.
 */
#ifndef CS_SCHEMA_RUN_H
#define CS_SCHEMA_RUN_H

#include "schema/node.h"

/* Nodes within nodes, references included. */
#define RUN_DEPTH 1500

/* Where in the value we are. */
struct where {
    const struct where *up;
    struct cs_str key; /* at = NULL: an element of an array */
    uint32_t index;
    uint16_t depth;
    bool optional; /* it could be left out */
};

/* The resources that we came through, for $dynamicRef. */
struct scope {
    const struct scope *up;
    uint32_t resource;
};

/* Which members or elements of one value some keyword has looked at. */
struct seen {
    uint64_t *bits;
    uint32_t count;
    uint64_t few;
};

/* More are not kept of one value, or of one branch. */
#define FAULTS_KEPT 32

struct faults {
    struct fault *first, **end;
    uint32_t count;
    uint16_t depth; /* of the value that they are about, or about parts of */
    int64_t weight; /* how far it is from fitting */
};

struct run {
    const struct cs_schema *schema;
    int64_t steps;
    uint32_t depth;
    bool stopped; /* for good: steps or depth are used up */
    struct cs_arena scratch;
    struct cs_matcher matcher;
    struct faults *faults; /* NULL: yes or no is enough */
    const struct where *where;
    const struct scope *scope;
    enum cs_hiding (*look)(struct cs_str string); /* NULL: nothing is hidden */
    uint32_t unsure;                              /* judgements that were left open */
    struct cs_str unsure_at;                      /* the first of them */
};

/* What the operations of a node look at. */
struct frame {
    const struct node *node;
    struct cs_json_val value;
    uint8_t type;
    struct seen *seen; /* or NULL: nobody asks */
    enum cs_hiding hiding;
};

/* After a no: is it worth going on? Only to find more faults, and only so many. */
static inline bool goes_on(const struct run *r)
{
    return r->faults && !r->stopped && r->faults->count < FAULTS_KEPT;
}

/* False if that was too much. */
static inline bool pay(struct run *r, uint64_t steps)
{
    r->steps -= (int64_t)(steps < INT32_MAX ? steps : INT32_MAX);
    if (r->steps >= 0)
        return true;
    r->stopped = true;
    return false;
}

bool cs_run_node(struct run *r, uint32_t node, struct cs_json_val v, struct seen *seen);

/* The same, for a node that may fail: only if it does not, what it has seen counts. */
bool cs_run_apart(struct run *r, uint32_t node, struct cs_json_val v, struct seen *seen);

typedef bool (*op_check)(struct run *r, const struct frame *f, const struct op *op);

/* containers.c */
bool cs_op_items(struct run *r, const struct frame *f, const struct op *op);
bool cs_op_contains(struct run *r, const struct frame *f, const struct op *op);
bool cs_op_members(struct run *r, const struct frame *f, const struct op *op);
bool cs_op_dependent(struct run *r, const struct frame *f, const struct op *op);
bool cs_op_unevaluated(struct run *r, const struct frame *f, const struct op *op);

uint8_t cs_run_type(struct cs_json_val v); /* TYPE_...; every number is TYPE_NUMBER */
bool cs_run_is_integer(struct run *r, struct cs_json_val number);

/* The text of a string. */
struct cs_str cs_run_text(struct run *r, struct cs_json_val v);

/* Does this string hide something? */
enum cs_hiding cs_run_hiding(struct run *r, struct cs_json_val string);

/* What is hidden decides here: it may be so, or not. Always true. */
bool cs_run_unsure(struct run *r);

/* equal.c: equal as JSON values are; false also when the steps run out. Strings of `a` may hide
 * something. */
bool cs_run_equal(struct run *r, struct cs_json_val a, struct cs_json_val b);

/* Two equal elements of an array, by index. False: there are none, or the steps ran out. */
bool cs_run_twice(struct run *r, struct cs_json_val array, uint32_t *first, uint32_t *second);

static inline void seen_mark(struct seen *s, uint32_t i)
{
    if (s && i < s->count)
        s->bits[i / 64] |= 1ull << (i % 64);
}

static inline bool seen_has(const struct seen *s, uint32_t i)
{
    return s->bits[i / 64] >> (i % 64) & 1;
}

#endif

/*
 * What is wrong with a value, in words that help to mend it.
 *
 * Each of these notes one fault, or a few, about the value at r->where. They are called only where
 * goes_on(r) says so.
 */
#ifndef CS_SCHEMA_FAULT_H
#define CS_SCHEMA_FAULT_H

#include "base/buf.h"
#include "schema/run.h"

/* Most helpful first. */
enum fault_rank { RANK_RENAME, RANK_MISSING, RANK_UNKNOWN, RANK_TYPE, RANK_CHOICE, RANK_OTHER };

struct fault {
    struct fault *next;
    struct cs_str path, message;
    const char *keyword;
    enum fault_rank rank;
    uint16_t depth;                /* of the value it is about */
    uint8_t types;                 /* of RANK_TYPE: what was expected */
    const struct op_enum *choices; /* of RANK_CHOICE */
};

void cs_faults_init(const struct run *r, struct faults *f);

void cs_fault_type(struct run *r, const struct frame *f);
void cs_fault_false(struct run *r);
void cs_fault_choice(struct run *r, const struct op_enum *choices, struct cs_json_val v);
void cs_fault_number(struct run *r, const struct op *op, struct cs_json_val v);
void cs_fault_length(struct run *r, const struct op_range *range, struct cs_json_val v,
                     uint64_t given);
void cs_fault_count(struct run *r, const struct op_range *range, struct cs_json_val v);
void cs_fault_pattern(struct run *r, const struct op_pattern *p, struct cs_json_val v);
void cs_fault_format(struct run *r, const struct cs_format *format, struct cs_json_val v);
void cs_fault_twice(struct run *r, struct cs_json_val v, uint32_t first, uint32_t second);
void cs_fault_contains(struct run *r, const struct op_contains *c, uint64_t hits);
void cs_fault_name(struct run *r, uint32_t node, struct cs_json_val key, struct cs_str name);
void cs_fault_dependent(struct run *r, const char *keyword, struct cs_str given,
                        struct cs_str missing);
void cs_fault_unevaluated(struct run *r, const struct frame *f, struct cs_str name);
void cs_fault_not(struct run *r, uint32_t node, struct cs_json_val v);
void cs_fault_several(struct run *r, uint32_t first, uint32_t second);

/* Members that are missing, and those that are not allowed; says which was meant for which. */
void cs_fault_members(struct run *r, struct cs_json_val v, const struct op_members *m);

/* No branch of an anyOf or oneOf fits: notes what the nearest complains about. */
void cs_fault_branches(struct run *r, const char *keyword, const struct faults *branches,
                       uint32_t count, struct cs_json_val v);

/* What fault.c and fault_members.c share. NULL: there are enough already. */
struct fault *cs_fault_add(struct run *r, const char *keyword, enum fault_rank rank,
                           struct cs_buf *message);
void cs_fault_path(const struct where *w, struct cs_buf *out);
void cs_fault_put_value(struct cs_json_val v, struct cs_buf *out);
void cs_fault_put_name(struct cs_str name, struct cs_buf *out);

/* "a string", "one of \"a\", \"b\""; false if there is nothing to say about it. */
bool cs_fault_describe(struct run *r, uint32_t node, struct cs_buf *out);

#endif

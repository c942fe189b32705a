/* Private to compile/: what the files of folding share. */
#ifndef CS_COMPILE_FOLD_H
#define CS_COMPILE_FOLD_H

#include "compile/parser.h"

/* What is known of a declaration: its values, in the order of the text. */
struct cs_variable {
    uint32_t first;   /* its values: index + 1 in binds, then next */
    uint32_t values;  /* how many */
    uint32_t changes; /* besides */
    uint32_t branch;  /* where it is declared and set */
    uint32_t cursor;  /* the value that a use saw last: index + 1 */
    bool shared;      /* what it holds may be changed by others, or in parts */
    bool scattered;   /* it is set elsewhere too */
    uint32_t pushes;  /* what is put behind its elements: index + 1, then next */
    uint32_t pushed;  /* how many times */
};

struct cs_folder {
    struct cs_folded *values;
    uint8_t *state;                /* of each node */
    struct cs_variable *variables; /* of each declaration */
    uint32_t bytes, steps, depth;
    uint32_t gather_bytes, apply_nodes, applying;
    bool cut;
};

/* Of a node. FIXED: an argument, while its function is applied to it. */
enum { FOLD_UNKNOWN, FOLD_BUSY, FOLD_DONE, FOLD_FIXED };

/* A call whose value is asked for: of a method of `object`, or of a function. */
struct cs_call {
    struct cs_parser *p;
    uint32_t list; /* of arguments */
    struct cs_folded object;
};

static inline struct cs_folded cs_call_arg(const struct cs_call *c, uint32_t i)
{
    uint32_t node = cs_list_at(c->p, c->list, i);
    return node & CS_SPREAD ? (struct cs_folded){0} : cs_fold_node(c->p, node);
}

static inline bool cs_is_text(struct cs_folded v)
{
    return v.sort == FOLD_TEXT && !v.partial;
}

static inline bool cs_is_list(struct cs_folded v)
{
    return v.sort == FOLD_LIST && !v.partial;
}

static inline enum cs_via cs_stranger(uint8_t via, enum cs_via than)
{
    return via > than ? (enum cs_via)via : than;
}

/* fold_call.c: numbers as characters. */
struct cs_folded cs_fold_codes(struct cs_parser *p, const struct cs_folded *list, uint32_t n);

/* fold_vars.c: the values of each variable. */
void cs_fold_variables(struct cs_parser *p);

/* number.c: the number that is written at pos. */
struct cs_folded cs_fold_number(const struct cs_parser *p, uint32_t pos);

/* fold_fn.c */
struct cs_folded cs_fold_mapped(const struct cs_call *c);
struct cs_folded cs_fold_reduced(const struct cs_call *c);
struct cs_folded cs_fold_lists(const struct cs_call *c);
struct cs_folded cs_fold_json(const struct cs_call *c);
struct cs_folded cs_fold_map(const struct cs_call *c);
struct cs_folded cs_fold_keys(const struct cs_call *c);
struct cs_folded cs_fold_values(const struct cs_call *c);
/* What a function that the program has gives for the arguments of a call. */
struct cs_folded cs_fold_own(struct cs_parser *p, uint32_t node, uint32_t func);
/* A regular expression that stands for one text; `all`: it has the flag g. */
bool cs_fold_regex(struct cs_parser *p, uint32_t node, struct cs_folded *text, bool *all);

#endif

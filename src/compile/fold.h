/* Private to compile/: what the files of folding calls share. */
#ifndef CS_COMPILE_FOLD_H
#define CS_COMPILE_FOLD_H

#include "compile/parser.h"

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

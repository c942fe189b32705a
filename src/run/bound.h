/*
 * What a grant is good for: which values, which reasons to ask, which data. A card shows tokens,
 * and tokens are another value's in another execution; so beside the card there is, of each
 * argument, a hash of what its tool would get, by the key of the vaults.
 *
 *   of a question  {"four_eyes": "critical", "reasons": ["tools.ask", "flows"],
 *                   "arguments": {"to": [SHA-256 as it is shown, hash of its value or ""]}}
 *   of a grant     {"match": "exact" | "these" | "any", "reasons": [...],
 *                   "arguments": {"to": hash of its value}, "flows": as on the card}
 *
 * A question without "arguments" has too many, or too long ones, to be compared. A value without a
 * hash (its tokens are unknown, or there is no key) is like no other. Nobody is shown any of it.
 */
#ifndef CS_RUN_BOUND_H
#define CS_RUN_BOUND_H

#include "policy/policy.h"
#include "store/store.h"

struct cs_question_want;

/* Why it is asked about a call. A grant is good for those that its card had. */
enum cs_why {
    CS_WHY_POLICY = 1,   /* tools.ask */
    CS_WHY_CHANGED = 2,  /* the tool's definition */
    CS_WHY_YOUNG = 4,    /* the tool */
    CS_WHY_FLOW = 8,     /* what has come in, and where it would go */
    CS_WHY_VALUES = 16,  /* privacy.detokenize */
    CS_WHY_SENT = 64,    /* it may have been made already: no grant is good for that */
    CS_WHY_COMMAND = 32, /* what it is told to run; by which rule is one of the reasons, too */
};

/* Of a question. */
void cs_bound_question(const struct cs_question_want *want, struct cs_buf *out);

/* The stricter of these rules and those that held when it was asked. */
void cs_bound_four_eyes(struct cs_str bound, struct cs_approval_rules *rules);

/*
 * Of a grant for the call on `card`, which was asked with `bound`. `wanted`: the arguments that
 * must be equal, as they are on the card; empty: exactly these; any, or "any": whatever they are.
 * CS_INVALID: they are not those of the call. `grant` gets its arguments and what it is bound to,
 * in the arena.
 */
int cs_bound_grant(struct cs_str bound, struct cs_json_val card, struct cs_str wanted,
                   struct cs_arena *arena, struct cs_grant_row *grant, struct cs_err *err);

/* Is it an answer to the question on `card`, which is asked with `bound`? The tool is the same. */
bool cs_bound_fits(const struct cs_grant_row *grant, struct cs_str bound, struct cs_str card);

#endif

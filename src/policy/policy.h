/*
 * May it? Three questions, asked in this order by run/: admit (before anything is parsed), assess
 * (facts about the program become a verdict), and, with the tools to come, call.
 *
 * Runs in: daemon. Pure functions over their arguments; nothing is kept.
 */
#ifndef CS_POLICY_POLICY_H
#define CS_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "sandbox/limits.h"

#define CS_CODE_MAX   (1u << 20)
#define CS_INPUTS_MAX (10u << 20)

enum cs_risk { CS_RISK_LOW, CS_RISK_MEDIUM, CS_RISK_HIGH, CS_RISK_CRITICAL };

struct cs_verdict {
    bool allowed;
    enum cs_risk risk;
    struct cs_limits limits;
    struct cs_str *reasons; /* in the arena */
    uint32_t reason_count;
    struct cs_str *mitigations; /* what was done about it */
    uint32_t mitigation_count;
};

const char *cs_risk_name(enum cs_risk risk);

/* What the highest limits of a risk are. The caller may ask for less, never for more. */
struct cs_limits cs_policy_ceiling(enum cs_risk risk);

/* Size and form of a request. CS_LIMIT or CS_INVALID say what is wrong with it. `asked` holds the
 * limits the caller wants; a value above the ceiling of the lowest risk is CS_INVALID. */
int cs_policy_admit(struct cs_str code, struct cs_str inputs, const struct cs_limits *asked,
                    struct cs_err *err);

/* Are the inputs JSON? A worker finds that out itself, inside the jail, while it reads them (2 MB
 * take 2 ms); this is for those who want to know beforehand, and for guests. */
int cs_policy_inputs(struct cs_str inputs, const struct cs_limits *asked, struct cs_err *err);

/* Facts (the worker's JSON, unchecked) and the limits asked for become a verdict. Facts that cannot
 * be read are a refusal: fail closed. Everything in `verdict` lives in the arena. */
void cs_policy_assess(struct cs_str facts, const struct cs_limits *asked, struct cs_arena *arena,
                      struct cs_verdict *verdict);

/* The same for a guest, whose program nobody has parsed. */
void cs_policy_assess_guest(const char *language, const struct cs_limits *asked,
                            struct cs_arena *arena, struct cs_verdict *verdict);

#endif

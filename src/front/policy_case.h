/*
 * Inside of front/: a call as it might come, and what the policy would say to it and why. Pure: no
 * tool is called, and nothing has to be connected.
 */
#ifndef CS_FRONT_POLICY_CASE_H
#define CS_FRONT_POLICY_CASE_H

#include "policy/flows.h"
#include "policy/judge.h"
#include "tools/tools.h"

#define CS_POLICY_AFTER 64 /* calls before it */

/* One call. */
struct cs_policy_call {
    struct cs_tool_view tool;
    bool known;              /* else there is only its name to go by */
    struct cs_str arguments; /* JSON; empty: {} */
    /* What is found out. */
    unsigned labels;
    struct cs_str why; /* the labels */
    struct cs_str place;
};

struct cs_policy_case {
    struct cs_policy_call call;
    struct cs_policy_call after[CS_POLICY_AFTER]; /* was answered before */
    size_t after_count;
    struct cs_str principal;
};

struct cs_policy_said {
    enum cs_grant action;
    struct cs_str rule;  /* that decided; "": none, it is allowed */
    enum cs_grant grant; /* of `tools` alone, and by which pattern */
    struct cs_str pattern;
    enum cs_grant standing; /* because of how long it is known */
    struct cs_err broken;   /* a rule for parameters; no code: none */
    struct cs_flow_verdict flow;
    struct cs_command command; /* in its arguments */
};

const char *cs_grant_name(enum cs_grant grant); /* "allow", "ask", "deny" */

/*
 * "server/tool" as one of `tools` (what a test says about them; may be none), or of the catalogue
 * (may be NULL), or by its name alone. CS_INVALID: it is no name of a tool. Everything is lent, or
 * in the arena.
 */
int cs_policy_call_find(struct cs_str name, struct cs_str arguments, struct cs_json_val tools,
                        const struct cs_catalogue *catalogue, struct cs_arena *arena,
                        struct cs_policy_call *call, struct cs_err *err);

/* CS_INVALID: arguments that are no object. */
int cs_policy_explain(const struct cs_policy *policy, struct cs_policy_case *c,
                      struct cs_arena *arena, struct cs_policy_said *said, struct cs_err *err);
void cs_policy_explain_json(const struct cs_policy_case *c, const struct cs_policy_said *said,
                            struct cs_json_writer *w);
void cs_policy_explain_print(const struct cs_policy_case *c, const struct cs_policy_said *said);

#endif

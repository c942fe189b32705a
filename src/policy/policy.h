/*
 * May it? Three questions, asked in this order by run/: admit (before anything is parsed), assess
 * (facts about the program become a verdict), and call (each time the program wants a tool).
 *
 * Runs in: daemon. Pure functions over their arguments, and over a policy file that was read once.
 */
#ifndef CS_POLICY_POLICY_H
#define CS_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "sandbox/limits.h"

#define CS_CODE_MAX   (1u << 20)
#define CS_INPUTS_MAX (10u << 20)

enum cs_risk { CS_RISK_LOW, CS_RISK_MEDIUM, CS_RISK_HIGH, CS_RISK_CRITICAL };

enum cs_grant { CS_GRANT_ALLOW, CS_GRANT_ASK, CS_GRANT_DENY };

struct cs_finding;
struct cs_reached;
struct cs_evident_flow;

/* A file that the program imports, as it was judged. */
struct cs_imported {
    struct cs_str name, hash;
    uint64_t bytes, lines;
};

/* A line of such a file that something was noted in, or the part around that. */
struct cs_imported_line {
    struct cs_str module, text;
    uint32_t line, column;
    uint64_t before, after; /* bytes of the line that are left out */
};

/* What is thought of a program before it runs: judge.h. */
struct cs_verdict {
    bool unread;  /* it was not read to its end: as it is, nothing of it can run */
    bool allowed; /* `action` is not DENY; a person may still have to say so */
    enum cs_risk risk;
    enum cs_grant action; /* ASK: a person decides */
    struct cs_str rule;   /* of the policy, that decided on the action: "risk.then.HIGH" */
    struct cs_limits limits;
    const struct cs_finding *findings; /* the worst first */
    uint32_t finding_count;
    const struct cs_reached *tools; /* that can be reached, as far as they are there */
    uint32_t tool_count;
    bool any_tool; /* it may call what its text does not show: `tools` are all there are */
    const struct cs_evident_flow *flows;
    uint32_t flow_count;
    const struct cs_str *permissions; /* "filesystem.read", "network", ... */
    uint32_t permission_count;
    const struct cs_imported *files;
    uint32_t file_count, files_more;      /* more: that are not here */
    const struct cs_imported_line *lines; /* of those files, as far as there was room */
    uint32_t line_count;
    char modules_hash[65];  /* hex: of what it imports, as it was judged; "": nothing */
    struct cs_str *reasons; /* in the arena */
    uint32_t reason_count;
    struct cs_str *mitigations; /* what was done about it */
    uint32_t mitigation_count;
};

const char *cs_risk_name(enum cs_risk risk);

struct cs_policy;

/* What the highest limits of a risk are under this policy. The caller may ask for less, never for
 * more. NULL: the built-in table. */
struct cs_limits cs_policy_ceiling(const struct cs_policy *policy, enum cs_risk risk);

/* Size and form of a request. CS_LIMIT or CS_INVALID say what is wrong with it. `asked` holds the
 * limits the caller wants; a value above the ceiling of the lowest risk is CS_INVALID. */
int cs_policy_admit(struct cs_str code, struct cs_str inputs, const struct cs_limits *asked,
                    struct cs_err *err);

/* Are the inputs JSON? A worker finds that out itself, inside the jail, while it reads them (2 MB
 * take 2 ms); this is for those who want to know beforehand, and for guests. */
int cs_policy_inputs(struct cs_str inputs, const struct cs_limits *asked, struct cs_err *err);

/*
 * calls.c: the section `tools` of a policy file.
 *
 *     {"tools": {"allow": ["*"], "deny": ["admin/{*}", "{*}/delete*"], "ask": ["bank/transfer"],
 *                "timeout_ms": 30000, "max_argument_bytes": 1000000, "max_result_bytes": 1000000,
 *                "rules": [{"tool": "bank/{*}", "timeout_ms": 5000,
 *                           "parameters": {"amount": {"max": 100}}}],
 *                "principals": {"ci-*": {"deny": ["github/merge*"]}},
 *                "repeatable": ["crm/find*"], "cache": [{"tool": "github/list*", "ttl_s": 60}]}}
 *
 * (without the braces around the stars). A pattern matches "server/tool"; `*` stands for anything.
 * Deny wins over ask, and ask over allow; the lists of a principal come on top of the general ones.
 * A policy that cannot be read is an error: whoever loads it must not go on without.
 */
struct cs_policy;
struct cs_schema_hidden;

/* A file of its own, which may have comments; NULL: the defaults, under which every call is
 * allowed. Counted: whoever keeps one keeps a reference, so that it can be replaced while
 * executions go on under the old one. */
int cs_policy_load(const char *path, struct cs_policy **policy, struct cs_err *err);
/* The same from a text: `policy` in the configuration. `name` is for messages. */
int cs_policy_parse(struct cs_str json, const char *name, struct cs_policy **policy,
                    struct cs_err *err);
struct cs_policy *cs_policy_ref(struct cs_policy *policy);
void cs_policy_unref(struct cs_policy *policy);

/* A tool in all its spellings; a rule that names one of them names the tool. */
struct cs_target {
    struct cs_str server, server_ident, tool, ident;
};

/* `why` (may be NULL) gets the pattern that decided, if one did. */
enum cs_grant cs_policy_grant(const struct cs_policy *policy, struct cs_str principal,
                              const struct cs_target *target, struct cs_str *why);

/* What the policy says about calls of this tool; 0: nothing. */
struct cs_call_limits {
    uint32_t timeout_ms;
    uint64_t arguments, result;
};
struct cs_call_limits cs_policy_call_limits(const struct cs_policy *policy,
                                            const struct cs_target *target);

/* Does the policy vouch for it that a call like one that was answered need not, and may, be made
 * again? */
bool cs_policy_repeatable(const struct cs_policy *policy, const struct cs_target *target);

/* For how long a result of this tool is good; 0: it is asked each time. The first pattern counts.
 */
int64_t cs_policy_keep_ms(const struct cs_policy *policy, const struct cs_target *target);

/* All of it as plain JSON, for those who print it; empty: there is none. */
struct cs_str cs_policy_text(const struct cs_policy *policy);

/* SHA-256 of the file; zero if there is none. What was decided under another one is void. */
const unsigned char *cs_policy_hash(const struct cs_policy *policy);

/* The section `approvals`: how persons are asked. */
struct cs_approval_rules {
    uint32_t timeout_s;         /* of somebody who waits at the other end; 30 */
    uint32_t durable_timeout_s; /* 24 h */
    enum cs_risk four_eyes;     /* from this risk on nobody approves their own; CRITICAL */
    bool four_eyes_off;
    uint32_t most_waiting;    /* of one tenant, then they are denied; 100 */
    struct cs_str webhook;    /* URL that is told; empty: none */
    struct cs_str secret;     /* that it is signed with */
    struct cs_str public_url; /* where people reach this house; empty: it is not known */
};
struct cs_approval_rules cs_policy_approvals(const struct cs_policy *policy);
/* What `secret` stands for, if the file says only where it is. Before anybody else has the policy.
 */
void cs_policy_set_secret(struct cs_policy *policy, struct cs_str secret);

/* The section `privacy` of the file, as JSON, for privacy/privacy.h; empty: there is none. */
struct cs_str cs_policy_privacy(const struct cs_policy *policy);

/* The parameter rules. CS_DENIED: `err` says which parameter breaks which rule, or hides what a
 * rule would have to judge (`hidden`, which may be NULL). */
int cs_policy_arguments(const struct cs_policy *policy, const struct cs_target *target,
                        struct cs_json_val arguments, struct cs_schema_hidden *hidden,
                        struct cs_err *err);

#endif

/*
 * The judge: facts about a program, and the circumstances it is sent in, become a verdict.
 *
 * Runs in: daemon, loop thread. Pure over its arguments and a policy that was read.
 * Owner:   everything in a verdict lives in the arena it was made with.
 * Failure: facts that cannot be read, or that say that there is more, are a finding of their own
 *          ("unreadable", HIGH at least): fail closed. Nothing here can open the wall.
 *
 * Rules are data: default.json beside this file, overlaid by the section `risk` of the policy file.
 *
 *     {"risk": {"environment": "prod",
 *               "rules": [{"id": "no-ftp", "level": "HIGH",
 *                          "when": {"fact": "import", "name": ["ftp", "node:ftp"]},
 *                          "reason": "...", "mitigation": "..."},
 *                         {"id": "eval", "level": "CRITICAL"},         another level for one of
 * ours
 *                         {"id": "env", "level": "OFF"}],
 *               "then": {"HIGH": "ask", "CRITICAL": "deny"},
 *               "principals": {"ci-*": {"HIGH": "allow"}},
 *               "limits": {"MEDIUM": {"memory": ..., "wall_clock": ...}}}}
 *
 * `when`, all of whose members hold:
 *
 *   fact        a kind of base/facts.h, or a list of them; what follows speaks of one such fact
 *   name, via, key    globs, one of which fits; those that begin with "!" exclude
 *   words       one of these is in the name, in capitals or not
 *   like        a pattern (base/regex.h) that is found in the name, or in it as the eye reads it
 *   as          "shell": or in it as a shell reads it
 *   looks       how the text looks: "prose", "mixed", "control", "unseen" (risk.h)
 *   holds       kinds of secrets (privacy/privacy.h), one of which is found in the name
 *   outside     of an import: it is a path that lies beneath none of these
 *   tool        of a tool: {"standing", "grant", "labels", "read_only", "destructive",
 * "open_world", "trusted", "annotated"} from, to, besides    of a flow: labels of its ends, and of
 * anything else that is reached at_least    so many different ones environment, language, principal
 * globs source_bytes, longest_line, modules, sensitive_inputs, bad_lately, bad_percent    at least
 *   unreadable  not all of it could be read
 *   unless_intent    there is an intent, and this pattern is not found in it
 *   all         a list of further conditions that hold too
 *
 * `environments` of a rule: {"prod": "HIGH"}, its level there; `prose`: its level in texts for
 * people, where nothing is reached that runs commands. In `reason`, {name} is the name of
 * the fact, {count} how many there are, {tools} which tools, {language} the language.
 */
#ifndef CS_POLICY_JUDGE_H
#define CS_POLICY_JUDGE_H

#include "policy/flows.h"
#include "policy/policy.h"

struct cs_detector;

/* What the program can reach: a tool as tools/ knows it, with what policy says of it. */
struct cs_reached {
    struct cs_tool_view tool;
    unsigned labels; /* CS_LABEL_* */
    enum cs_grant grant;
};

struct cs_finding {
    struct cs_str id; /* of the rule */
    enum cs_risk level;
    uint32_t line, column; /* 0: the whole program */
    struct cs_str module;  /* empty: the program itself */
    struct cs_str reason, mitigation;
    struct cs_str what; /* the name of the fact, made visible and cut; may be empty */
    bool late;          /* it came with something that was imported while the program ran */
};

/* A way that data can take from one server to another, as the text shows. */
struct cs_evident_flow {
    struct cs_str from, to; /* "crm.find" */
    uint32_t line, column;
};

/* What else weighs. Everything is lent. */
struct cs_circumstances {
    struct cs_str principal, tenant, intent;
    struct cs_str environment; /* empty: what the policy says */
    const char *language;
    struct cs_str source;         /* of a guest: nobody has parsed it */
    uint32_t sensitive_inputs;    /* personal values and secrets that were found in the inputs */
    uint32_t lately, lately_bad;  /* executions of this principal in the last hour; of them denied,
                                   * by person or policy, or ended by a limit or the wall */
    struct cs_detector *detector; /* for credentials in constants; NULL: they are not looked for */
    /* Every tool there is, i = 0, 1, ... until false; NULL: none. */
    bool (*tool)(void *ctx, size_t i, struct cs_tool_view *tool);
    void *ctx;
};

/* `facts` is the worker's JSON, unchecked; empty of a guest, whose program nobody has parsed. */
void cs_judge(const struct cs_policy *policy, struct cs_str facts,
              const struct cs_circumstances *circumstances, const struct cs_limits *asked,
              struct cs_arena *arena, struct cs_verdict *verdict);

/*
 * The same of a program that imports more while it runs; `facts` are of all of it. `before` is what
 * was found until now. Risk, action and reasons are those of what is new: of `late` findings, which
 * are in the new modules or come about because of them. The limits stay as they are.
 */
void cs_judge_late(const struct cs_policy *policy, struct cs_str facts,
                   const struct cs_circumstances *circumstances, const struct cs_verdict *before,
                   struct cs_arena *arena, struct cs_verdict *verdict);

/* Where its reader gave up. */
struct cs_unread {
    struct cs_str why, instead; /* instead: empty, if there is nothing better than the rule's */
    uint32_t line, column;      /* 0: nowhere */
};
/* The same of a program that was not read to its end; `facts` may be empty. */
void cs_judge_unreadable(const struct cs_policy *policy, const struct cs_unread *unread,
                         struct cs_str facts, const struct cs_circumstances *circumstances,
                         const struct cs_limits *asked, struct cs_arena *arena,
                         struct cs_verdict *verdict);

/* {"level", "action", "rule", "findings": [...], "reasons", "mitigations", "permissions", "tools",
 * "flows", "limits"}: one member list for the card, `caisson assess -o json` and the record. */
void cs_verdict_json(const struct cs_verdict *verdict, struct cs_buf *out);

/* The rules as they count under a policy, i = 0, 1, ... until false; for lists of them. */
struct cs_rule_view {
    struct cs_str id, reason, mitigation;
    enum cs_risk level;
    bool off;
};
bool cs_risk_rule_at(const struct cs_policy *policy, size_t i, struct cs_rule_view *view);

/* What is done about a call of a tool that is known no longer than that: what follows from HIGH for
 * this principal, unless the rule tool-young or tool-changed is off. */
enum cs_grant cs_policy_standing(const struct cs_policy *policy, struct cs_str principal,
                                 enum cs_standing standing);

/* A command in the arguments of a call, which the program may have put together as it ran. */
struct cs_command {
    struct cs_str rule; /* its id, in the policy's arena or constant */
    struct cs_str reason;
    enum cs_risk level;
    enum cs_grant then;
};
/* Looks at the arguments (JSON, as the program gave them) of a call of a tool that runs commands,
 * as its names say, by the rules that read texts as a shell does. True: it is not just allowed. */
bool cs_judge_command(const struct cs_policy *policy, struct cs_str principal,
                      const struct cs_target *target, struct cs_str arguments,
                      struct cs_arena *arena, struct cs_command *found);

/* default.json: what counts where the policy says nothing else. */
struct cs_str cs_risk_defaults(void);

#endif

/*
 * Inside of policy/: a policy file that was read, section by section.
 *
 *   file.c    the file, its sections, and `approvals`
 *   calls.c   `tools`: who may call what, and with what
 *   rules.c   `risk`: the rules that facts are judged by, over default.json
 *   when.c    conditions of rules, read and checked; match.c do they hold?; words.c their words;
 *             plain.c texts as others read them
 *   gather.c  the worker's message becomes a case: tools, words, secrets
 *   flows.c   `labels`, `flows`
 *   labels.c  what tools bring in and can do, guessed
 *   judge.c   facts become a verdict; verdict.c as JSON; commands.c the arguments of a call
 */
#ifndef CS_POLICY_INSIDE_H
#define CS_POLICY_INSIDE_H

#include "policy/flows.h"
#include "policy/judge.h"
#include "policy/policy.h"

struct cs_schema;

struct cs_patterns {
    struct cs_str *at;
    size_t count;
};

/* Of everybody, or of those principals that match `who`. */
struct cs_grant_lists {
    struct cs_str who;
    struct cs_patterns allow, ask, deny;
};

struct cs_call_rule {
    struct cs_str tool;
    struct cs_call_limits limits;
    struct cs_schema *parameters; /* or NULL */
};

/* Results of tools that match are good for a while. */
struct cs_keep_rule {
    struct cs_str tool;
    int64_t ms;
};

struct cs_policy {
    unsigned refs;
    struct cs_arena arena;
    unsigned char hash[32]; /* of the file */
    struct cs_str text;     /* of it, as plain JSON; empty: there is none */
    struct cs_grant_lists general;
    struct cs_grant_lists *principals;
    size_t principal_count;
    struct cs_call_limits limits;
    struct cs_call_rule *rules;
    size_t rule_count;
    struct cs_patterns repeatable;
    struct cs_keep_rule *keeps;
    size_t keep_count;
    struct cs_str privacy;       /* JSON */
    struct cs_risk_rules *risk;  /* rules.c */
    struct cs_flow_rules *flows; /* flows.c */
    struct cs_approval_rules approvals;
};

/* Each reads its section (`section` may be none) into `p`, and says where it is wrong. */
int cs_policy_read_tools(struct cs_policy *p, struct cs_json_val section, struct cs_err *err);
int cs_policy_read_risk(struct cs_policy *p, struct cs_json_val section, struct cs_err *err);
int cs_policy_read_flows(struct cs_policy *p, struct cs_json_val labels, struct cs_json_val flows,
                         struct cs_err *err);
/* labels.c: what is guessed where the policy says nothing. `why` may be NULL. */
struct cs_label_words;
struct cs_label_words *cs_label_words_new(void);
void cs_label_words_free(struct cs_label_words *words);
unsigned cs_labels_guess(struct cs_label_words *words, const struct cs_tool_view *tool,
                         struct cs_str *why);
/* Does a pattern name this tool, in one of its spellings? */
bool cs_policy_matches(struct cs_str pattern, const struct cs_target *target);
int cs_policy_read_grant(struct cs_json_val from, const char *where, enum cs_grant *into,
                         struct cs_err *err);
void cs_risk_rules_free(struct cs_risk_rules *rules);
void cs_flow_rules_free(struct cs_flow_rules *rules);

/* "unknown key 'x' in WHERE; known are KNOWN"; -1 */
int cs_policy_unknown(struct cs_json_val key, const char *where, const char *known,
                      struct cs_err *err);

#endif

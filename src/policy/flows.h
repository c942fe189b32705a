/*
 * Who may tell what to whom: labels of tools, and rules about what has come in and where it may go.
 *
 * Runs in: daemon. Pure functions over a policy that was read.
 *
 * What a tool brings in: PRIVATE, UNTRUSTED, PUBLIC. What it can do: EGRESS (something leaves the
 * house), DESTRUCTIVE, INTERNAL (it stays within). From annotations, from what its name and
 * description say, and from the policy, which has the last word:
 *
 *     {"labels": {"crm/{*}": ["private", "internal"], "web/fetch": ["untrusted", "egress"]},
 *      "flows": [{"from": ["private", "untrusted"], "to": "egress", "then": "ask"},
 *                {"from": "private", "to": "egress", "tool": "mail/send", "then": "allow"}]}
 *
 * (without the braces around the star). The first rule that fits decides; then those built in:
 * private and untrusted data together with a way out is `ask`. `from` names labels that must all
 * have come in.
 */
#ifndef CS_POLICY_FLOWS_H
#define CS_POLICY_FLOWS_H

#include "policy/policy.h"

enum {
    CS_LABEL_PRIVATE = 1,
    CS_LABEL_UNTRUSTED = 2,
    CS_LABEL_PUBLIC = 4,
    CS_LABEL_EGRESS = 8,
    CS_LABEL_DESTRUCTIVE = 16,
    CS_LABEL_INTERNAL = 32,
};
#define CS_LABELS_IN 7u /* what may have come in */

/* For how long a tool is known as it is. */
enum cs_standing {
    CS_STANDING_KNOWN,
    CS_STANDING_YOUNG,   /* its server was known before it, and it came within five minutes */
    CS_STANDING_CHANGED, /* its definition is another one than it was, and nobody has looked */
};

/* A tool, as policy sees it. All of it is lent. */
struct cs_tool_view {
    struct cs_target target;
    struct cs_str description; /* the server's words: foreign */
    bool annotated;            /* it says something about itself */
    bool read_only, destructive, open_world;
    bool trusted; /* its server's word counts */
    enum cs_standing standing;
};

/* "private, untrusted" */
void cs_labels_text(unsigned labels, struct cs_buf *out);
/* 0: there is no such label. */
unsigned cs_label_parse(struct cs_str word);

/* `why` (may be NULL) gets the pattern of the policy that decided, or what it was guessed from. */
unsigned cs_policy_labels(const struct cs_policy *policy, const struct cs_tool_view *tool,
                          struct cs_str *why);

struct cs_flow_verdict {
    enum cs_grant then;
    unsigned from, to;  /* the labels that met */
    struct cs_str rule; /* "flows[0]", or "built in: ..." */
};
/* `have`: labels of what has come in. Something of it may go into this call. */
struct cs_flow_verdict cs_policy_flow(const struct cs_policy *policy, struct cs_str principal,
                                      unsigned have, const struct cs_target *target,
                                      unsigned labels);

#endif

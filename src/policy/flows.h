/*
 * Who may tell what to whom: labels of tools, and rules about what has come in and where it may go.
 *
 * Runs in: daemon. Pure functions over a policy that was read.
 *
 * What a tool brings in: PRIVATE (what outsiders may not see), UNTRUSTED (what anybody may have
 * written: it may try to give orders), PUBLIC. What it can do: EGRESS (something leaves the house,
 * or somebody outside gets to see it), DESTRUCTIVE, INTERNAL (it stays within). From annotations,
 * from what its name and description say, and from the policy, which has the last word:
 *
 *     {"labels": {"crm/{*}": ["private", "internal"], "web/fetch": ["untrusted", "egress"]},
 *      "flows": [{"from": ["private", "untrusted"], "to": "egress", "then": "ask"},
 *                {"from": "private", "to": "egress", "tool": "mail/send", "then": "allow"},
 *                {"from": "private", "source": "hr/{*}", "to": "egress", "then": "deny",
 *                 "principal": "ci-*", "back": true}]}
 *
 * (without the braces around the stars). The first rule that fits decides; then those built in:
 * private and untrusted data together with a way out is `ask`. `from` names labels that must all
 * have come in, `to` one of which the call must have; `tool` and `source` are patterns for where it
 * goes, and where what counts came from.
 *
 * Back home: private data that goes back to where it came from leaves nothing that was not there
 * (whoever reads an issue may comment on it), so it does not count, unless the rule says `back`.
 * Home is the same server, the same place there (owner, repository, project, workspace, ... as the
 * arguments name them: another repository is another place), and nobody who is addressed by the
 * call itself (to, recipient, url, ...: a mail server sends to everybody). A call whose arguments
 * name no place does not say that it was another one. What is untrusted counts
 * wherever it came from: what it does is talk somebody into the call.
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
    struct cs_str input;       /* JSON Schema of its arguments, as the server sent it */
    bool annotated;            /* it says something about itself */
    bool read_only, destructive, open_world;
    bool owns_up; /* it says itself that it is destructive, not only by saying nothing */
    bool trusted; /* its server's word counts: its `trust` is not "low" */
    enum cs_standing standing;
};

/* "private, untrusted" */
void cs_labels_text(unsigned labels, struct cs_buf *out);
/* ["private", "untrusted"] */
void cs_labels_json(unsigned labels, struct cs_json_writer *w);
/* 0: there is no such label. */
unsigned cs_label_parse(struct cs_str word);

/* `why` (may be NULL) gets the pattern of the policy that decided, or what it was guessed from. */
unsigned cs_policy_labels(const struct cs_policy *policy, const struct cs_tool_view *tool,
                          struct cs_str *why);

/*
 * Where a call reads or writes, as far as its arguments tell (the program's, with tokens as they
 * are): appended as a short text that is only there to be compared. Keep it with what came in.
 */
#define CS_FLOW_PLACE 400 /* bytes at most */
void cs_flow_place(struct cs_json_val arguments, struct cs_buf *place);

/* Something that has come in. All of it is lent. */
struct cs_flow_source {
    struct cs_target target;
    unsigned labels;     /* of the tool */
    struct cs_str place; /* cs_flow_place of the call */
};

/* The call that it may go into. */
struct cs_flow_sink {
    struct cs_target target;
    unsigned labels;
    struct cs_str place;
};

struct cs_flow_verdict {
    enum cs_grant then;
    unsigned from, to;    /* the labels that met; 0: no rule fits */
    bool back;            /* it counts, too, what goes back to where it came from */
    struct cs_str rule;   /* "flows[0]", or "built in: ..."; in the policy's arena or constant */
    struct cs_str source; /* pattern of the rule, or empty */
};
struct cs_flow_verdict cs_policy_flow(const struct cs_policy *policy, struct cs_str principal,
                                      const struct cs_flow_source *came, size_t count,
                                      const struct cs_flow_sink *sink);
/* The rules that are built in, as JSON. */
void cs_policy_default_flows(struct cs_json_writer *w);
/* Which of its labels make this one a part of the verdict; 0: it is none. For the card. */
unsigned cs_flow_part(const struct cs_flow_verdict *verdict, const struct cs_flow_source *came,
                      const struct cs_flow_sink *sink);

#endif

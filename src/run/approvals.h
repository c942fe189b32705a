/*
 * Asking a person: what is asked, who may answer, what an answer is good for.
 *
 * Runs in: daemon, loop thread. Questions and answers are rows of the store: whoever shares it can
 * answer (`caisson approve` in a terminal beside `caisson mcp`, another node), and the first answer
 * wins there. Whoever waits looks there several times a second.
 *
 * The card is what a person sees, on every channel the same (its hash is in the ledger):
 *
 *     {"kind": "program" | "call", "execution_id", "session_id", "principal", "actor_type",
 *      "intent", "language", "risk": cs_verdict_json, "why": "one sentence: why it is asked",
 *      "rule": "risk.then.HIGH",
 *      "program": {"code" (64 KiB of it at most), "code_lines" (how many there are), "lines":
 *                  [{"line": 701, "text", "marked"?, "bytes_before"?, "bytes_after"?}, ...] (around
 *                  all that was found, wherever that is), "code_hash", "inputs_preview",
 *                  "modules_hash", "files": [{"name", "bytes", "lines", "hash"}], "files_more"?,
 *                  "file_lines": [{"file", "line", "text"?, "bytes_before"?, "bytes_after"?}] (of
 *                  what it imports: those that something was found in)},
 *      "call": {"server", "tool", "sent_at"? (it was sent by a process that is gone: it may have
 *               taken effect, and yes sends it again), "description", "annotations", "labels",
 *               "standing",
 *               "values": [{"argument": "to", "token": "[EMAIL_3]", "what": "EMAIL", "from":
 *                           "web/fetch, call 2", "hint"?: "@corp.example"}], "values_cut"?,
 *               "arguments" (as the program gave them, with tokens: an object; a text if it was
               cut), "definition_hash" (cs_tool_definition_hash), "definition_before"?},
 *      "flows": [{"from": "crm/find", "call": 1, "labels": [...], "data": ["EMAIL x 3", ...],
 *                 "to": "mail/send", "labels_to": [...]}],
 *      "limits", "answers": ["once", "session", ...], "created", "expires"}
 *
 * Texts are as they are; whoever shows them makes control, bidi and invisible characters visible
 * (base/visible.h). Long ones are cut and say so; the hash is of the whole.
 *
 * The binding is SHA-256 over the canonical JSON of all that the answer is about: code, modules,
 * inputs, limits, principal, session, language; of a call also server, tool, arguments and the
 * tool's definition; of a program the definitions of all tools that it can reach. Anything else,
 * another binding: it is asked again. A grant for a program, or for one in a session, binds the
 * same without inputs and session; one for a tool its definition, the values of arguments, why it
 * was asked, and which data would have gone (run/bound.h). Each binds who asks, and through which
 * door.
 */
#ifndef CS_RUN_APPROVALS_H
#define CS_RUN_APPROVALS_H

#include "policy/judge.h"
#include "policy/keys.h"
#include "store/store.h"

struct cs_runner;

enum cs_approval_answer {
    CS_APPROVE_ONCE,
    CS_APPROVE_SESSION, /* in this session, the same program or the same tool with such arguments */
    CS_APPROVE_PROGRAM, /* exactly this program, always */
    CS_APPROVE_TOOL,    /* this tool with such arguments, until a date */
    CS_APPROVE_DENY,
    CS_APPROVE_ANSWERS
};
const char *cs_approval_answer_name(enum cs_approval_answer answer); /* "once", ... */
bool cs_approval_answer_parse(struct cs_str word, enum cs_approval_answer *answer);
/* On a button: "Allow once". `sent`: of a call that was sent before. */
const char *cs_approval_answer_title(enum cs_approval_answer answer, bool sent);

struct cs_decision {
    enum cs_approval_answer answer;
    struct cs_str arguments; /* of TOOL (and of SESSION for a call): JSON object of members that
                              * must be equal, as the card has them; "any": no matter; empty:
                              * exactly these arguments */
    int64_t until;           /* of TOOL; 0: 30 days */
    struct cs_str reason;    /* the program gets it as the error; at most 500 bytes */
    bool seen;               /* whoever answers has named the hash of the card */
    struct cs_caller who;
    const char *channel; /* "rest", "terminal", "mcp", "webhook" */
    bool person;         /* somebody at a keyboard was seen to answer (a terminal, a form) */
};

typedef void cs_approval_decided(void *ctx, const struct cs_err *err,
                                 const struct cs_approval_row *row);
/*
 * CS_MISSING no such question; CS_CONFLICT somebody was first or it is over (`row` is how it
 * stands); CS_DENIED this one may not answer it, and why: a role below `approve`, or its own
 * question (`rules`, or those under which it was asked, say from which risk on; a key never answers
 * what it has asked itself). CS_INVALID: it is no answer to this question, or has what none of its
 * kind has.
 */
void cs_approval_decide(struct cs_store *store, const struct cs_approval_rules *rules,
                        struct cs_str id, const struct cs_decision *decision,
                        cs_approval_decided *done, void *ctx);

/* May a grant for this call have these arguments? As cs_decision has them; CS_INVALID: why not. */
int cs_approval_arguments(const struct cs_approval_row *row, struct cs_str arguments,
                          struct cs_err *err);

/* What its arguments are compared with: "exact" exactly those, "these" those that it names, "any"
 * no matter; empty: of a program. In the arena. */
struct cs_str cs_grant_match(const struct cs_grant_row *grant, struct cs_arena *arena);

/* Data of the entry "tool.looked", for whoever else lets a person look. */
void cs_approval_looked_data(struct cs_str server, struct cs_str tool,
                             const unsigned char definition[32], struct cs_str by,
                             struct cs_str channel, struct cs_buf *data);

/* {"id", "state", "kind", "risk", "execution_id", "principal", "why", "created", "expires", ...,
 * "card"?}: for REST, -o json, the webhook. */
void cs_approval_json(const struct cs_approval_row *row, bool with_card, struct cs_buf *out);

/* The card as a text of at most `bytes` bytes, for a form of the protocol or a chat: what, why,
 * findings, flows, and unless it is `brief` the arguments, the inputs and the code. Made visible;
 * no line of a program's looks like one of ours. What does not fit is left out, which is said; the
 * lines that something was found in come first. */
void cs_approval_text(const struct cs_approval_row *row, bool brief, size_t bytes,
                      struct cs_buf *out);

/* Where people see it: `public_url`, with or without a slash at its end, and the rest. */
void cs_approval_url(const struct cs_approval_rules *rules, struct cs_str id, struct cs_buf *out);

/* Hears of every question of this process when it is asked, and when it is over. One per runner. */
struct cs_approval_watcher {
    void (*asked)(void *ctx, const struct cs_approval_row *row);
    void (*over)(void *ctx, const struct cs_approval_row *row);
    void *ctx;
};
void cs_approvals_watch(struct cs_runner *runner, const struct cs_approval_watcher *watcher);

#endif

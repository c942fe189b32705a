/*
 * Inside of what we offer: our tools, resources and prompts, each in a file of its own.
 *
 *     offer.c      the tables; tools/list, tools/call and the check of arguments; instructions
 *     execute.c    execute_code, call_tool: an execution that belongs to a call
 *     asking.c     what servers ask during such an execution goes to the client
 *     approving.c  what a person is asked before it goes on, likewise
 *     review.c     get_execution: an execution that runs, or that is on record
 *     page.c       pieces of what an execution left behind
 *     discover.c   search_tools, and what a failed program probably wanted
 *     signature.c  a tool in a line
 *     resources.c  the tree of tools and executions as resources
 *     follow.c     executions change while they run
 *     prompts.c, complete.c
 */
#ifndef CS_MCP_HOUSE_H
#define CS_MCP_HOUSE_H

#include "mcp/inside.h"
#include "schema/schema.h"

#define CS_HOUSE_TOOLS 4

struct cs_house {
    struct cs_mcp *mcp;
    struct cs_buf list;                        /* the answer to tools/list */
    struct cs_json nothing;                    /* {}: arguments that are not there */
    struct cs_schema *schemas[CS_HOUSE_TOOLS]; /* of arguments, in the order of the definitions */
    uint64_t names;            /* of all tools, as a number: does a new catalogue have others? */
    struct cs_house_job *jobs; /* under way */
    struct cs_follower *followers; /* of executions whose resources may change */
};

struct cs_house *cs_house_of(const struct cs_mcp_call *call);
const struct cs_mcp_options *cs_house_options(const struct cs_mcp_call *call);

/* --- answers --- */

/* cs_mcp_text for something that the model can mend. */
void cs_house_complain(struct cs_mcp_call *call, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* How many an answer may have. */
uint64_t cs_house_tokens(const struct cs_mcp_call *call);

/* May this caller see that tool? `ctx` is the call. */
bool cs_house_allowed(void *ctx, const struct cs_tool *tool);

/* Servers with tools that this caller may see: "github (117), slack (4)", at most so many and how
 * many more. Returns how many there are; `tools` is how many tools they have. */
size_t cs_house_servers(struct cs_mcp_call *call, const struct cs_catalogue *catalogue, size_t most,
                        size_t *tools, struct cs_buf *out);

/* A JSON object, also if a model wrote it as a text: then it is that text, in the call's arena.
 * Empty: there is none. */
struct cs_str cs_house_object(struct cs_mcp_call *call, struct cs_json_val value);
/* NONE or no number that fits: `otherwise`. */
uint64_t cs_house_number(struct cs_json_val value, uint64_t otherwise);

/* --- the tools; `arguments` fits the schema, and is NONE if there were none --- */

void cs_house_search(struct cs_mcp_call *call, struct cs_json_val arguments);
void cs_house_execute(struct cs_mcp_call *call, struct cs_json_val arguments);
void cs_house_call(struct cs_mcp_call *call, struct cs_json_val arguments);
void cs_house_review(struct cs_mcp_call *call, struct cs_json_val arguments);

/* --- other methods --- */

void cs_house_resources(struct cs_mcp_call *call);
void cs_house_templates(struct cs_mcp_call *call);
void cs_house_read(struct cs_mcp_call *call);
void cs_house_prompts(struct cs_mcp_call *call);
void cs_house_prompt(struct cs_mcp_call *call);
void cs_house_complete(struct cs_mcp_call *call);
void cs_house_recall(struct cs_mcp_call *call, struct cs_str task);

/* --- execute.c --- */

/* Executions of calls end; none of them answers any more. */
void cs_house_jobs_close(struct cs_house *house);
/* What a model is told of an execution: the short form of its envelope, and `hints` after it. */
void cs_house_told(struct cs_mcp_call *call, struct cs_str envelope, struct cs_str hints,
                   struct cs_buf *out);

/* --- asking.c: `run` is that of the call --- */

struct cs_house_question;
struct cs_house_questions {
    struct cs_house_question *first;
    unsigned count; /* so far, for their names */
};
bool cs_house_question_ask(struct cs_house_questions *questions, struct cs_mcp_call *call,
                           const struct cs_tool_ask *ask);
/* The client's answer. True: `result` is what the server is told, and the question is over. False:
 * it did not fit, and was asked again. */
bool cs_house_question_answered(struct cs_house_questions *questions, struct cs_mcp_call *call,
                                uint64_t ask, struct cs_str *result);
void cs_house_question_withdraw(struct cs_house_questions *questions, struct cs_mcp_call *call,
                                uint64_t ask);
void cs_house_questions_done(struct cs_house_questions *questions);

/* --- approving.c: the same for approvals; see run/approvals.h --- */

struct cs_house_approval;
struct cs_house_approvals {
    struct cs_house_approval *first; /* the oldest */
    unsigned count;                  /* so far */
};
void cs_house_approval_asked(struct cs_house_approvals *approvals, struct cs_mcp_call *call,
                             const struct cs_approval_row *row);
/* `call` may be NULL: nobody is there any more. */
void cs_house_approval_over(struct cs_house_approvals *approvals, struct cs_mcp_call *call,
                            struct cs_str id);
bool cs_house_approval_is(uint64_t ask); /* or it is a server's question */
void cs_house_approval_answered(struct cs_house_approvals *approvals, struct cs_mcp_call *call,
                                uint64_t ask, struct cs_str result);
/* What it waits for, and who can do something about it; false: it waits for nobody. */
bool cs_house_approvals_say(const struct cs_house_approvals *approvals, struct cs_buf *out);
void cs_house_approvals_done(struct cs_house_approvals *approvals);

/* --- discover.c --- */

/* What search_tools answers, from what is known now. `server` and `query` may be empty; `limit` 0:
 * what is usual. */
void cs_house_find(struct cs_mcp_call *call, struct cs_str query, struct cs_str server,
                   enum cs_detail detail, size_t limit, struct cs_buf *out);

/* Calls `then` now; or, if there are servers that nobody has ever asked what they offer, when that
 * is known, or soon. It takes call->own and call->cancelled. */
void cs_house_when_listed(struct cs_mcp_call *call, void (*then)(struct cs_mcp_call *call));

/* Definitions of tools that a failed execution probably wanted; nothing is added if nobody knows.
 */
void cs_house_hints(struct cs_mcp_call *call, const struct cs_result *result, struct cs_str intent,
                    uint64_t tokens, struct cs_buf *out);

/* --- signature.c, pure --- */

/* "github.listCommits({owner: string, repo: string, sha?: string})", from the schema of its input.
 */
void cs_house_signature(const struct cs_tool *tool, struct cs_buf *out);

/* --- review.c: an execution, wherever it is --- */

struct cs_found {
    struct cs_err err;      /* CS_MISSING: none of this tenant's */
    bool running;           /* still; then there is no envelope */
    struct cs_str envelope; /* the long form */
    struct cs_run *run;     /* of this process, if it is running */
};
/* Waits up to `wait_ms` for its end. `found` runs once, never before this has returned, unless the
 * call is cancelled: it takes call->own and call->cancelled. What it gets is lent. */
void cs_house_look(struct cs_mcp_call *call, struct cs_str id, uint32_t wait_ms,
                   void (*found)(struct cs_mcp_call *call, const struct cs_found *found));

/* What is known of one that runs, in the form of an envelope: status, id, logs. */
void cs_house_running(struct cs_str id, const struct cs_found *found, struct cs_buf *out);

/* --- page.c, pure --- */

enum cs_view { CS_VIEW_RESULT, CS_VIEW_LOGS, CS_VIEW_CALLS };
/* A piece of about `tokens` at most: `limit` elements, members, lines or characters from `offset`
 * on, and where the next one begins. */
void cs_page(struct cs_str envelope, enum cs_view view, uint64_t offset, uint64_t limit,
             uint64_t tokens, struct cs_buf *out);
/* The logs of an envelope as lines; of a guest also what it printed. */
void cs_page_logs(struct cs_json_val envelope, struct cs_buf *out);

/* --- resources.c --- */

/* What a URI names, as "kind/first/second", decoded, in the arena; false: it is none of ours. Pure.
 */
struct cs_house_uri {
    struct cs_str kind, first, second; /* "tools", "github", "listCommits.ts"; may be empty */
};
bool cs_house_uri(struct cs_str uri, struct cs_arena *arena, struct cs_house_uri *parts);

/* --- follow.c --- */

/* Clients that subscribed are told when something of this execution changes, now and then. */
void cs_house_follow(struct cs_house *house, struct cs_run *run, struct cs_str tenant);
void cs_house_subscribed(struct cs_mcp *mcp, const struct cs_caller *caller, struct cs_str uri);
void cs_followers_close(struct cs_house *house);

/* --- complete.c, pure --- */

/* Those of `names` that start with `value`, then those that contain it, at most 100; as the result
 * of completion/complete. */
void cs_complete(struct cs_str value, const struct cs_str *names, size_t count, struct cs_buf *out);

#endif

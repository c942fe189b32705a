/*
 * Inside of mcp/: the protocol (everything that is the same whoever is served) and what is offered
 * (our tools, resources and prompts; or the fixtures of the conformance suite) meet here.
 *
 *     protocol: proto.h rpc.c era.c request.c progress.c asks.c seal.c tasks.c listen.c
 *               peers.c streams.c endpoint.c stdio.c
 *     offered:  offer.c and the others that house.h names | fixtures.c
 *
 * What is offered never sees an era, a transport, a stream or a task: it gets a call and answers
 * it.
 */
#ifndef CS_MCP_INSIDE_H
#define CS_MCP_INSIDE_H

#include "base/arena.h"
#include "base/json.h"
#include "mcp/mcp.h"

struct cs_mcp_call;

/* JSON-RPC error codes. */
enum {
    CS_RPC_PARSE = -32700,
    CS_RPC_INVALID = -32600,
    CS_RPC_METHOD = -32601,
    CS_RPC_PARAMS = -32602,
    CS_RPC_INTERNAL = -32603,
    CS_RPC_HEADER = -32020,
    CS_RPC_CAPABILITY = -32021,
    CS_RPC_VERSION = -32022,
};

/* One method that is offered: "tools/list", "tools/call", "resources/read" ... Every call must be
 * answered once, now or later, by cs_mcp_result or cs_mcp_error, unless it was cancelled. */
struct cs_mcp_method {
    const char *name; /* NULL ends the table */
    void (*call)(struct cs_mcp_call *call);
};

/* An argument of a tool that clients also send as a header, Mcp-Param-<header>: the protocol checks
 * that both agree. The tool's schema says so with x-mcp-header. */
struct cs_mcp_header {
    const char *tool, *argument, *header; /* NULL ends the table */
};

/* What is offered. `own` is made by `open` and handed to nobody but through cs_mcp_own. */
struct cs_mcp_offer {
    const char *title;        /* of the server */
    const char *instructions; /* told at the start; under 300 tokens */
    /* The same if it depends on who asks, and on what is there: appends it. NULL: as above. */
    void (*instruct)(struct cs_mcp *mcp, const struct cs_caller *caller, struct cs_buf *out);
    /* The server's capabilities for an era, as JSON, without those of the protocol itself (logging,
     * tasks, extensions), which are added. */
    struct cs_str capabilities;
    const struct cs_mcp_method *methods;
    int (*open)(struct cs_mcp *mcp, void **own, struct cs_err *err);
    void (*close)(void *own);
    /* Somebody wants to be told when this resource changes (cs_mcp_resource_updated), whether it is
     * there or not. NULL: that happens anyhow. */
    void (*subscribed)(struct cs_mcp *mcp, const struct cs_caller *caller, struct cs_str uri);
    /* A task that the protocol has forgotten (another process, a restart): answers the call with
     * the result that the tools/call would have had, or an error. NULL: there are none. */
    void (*recall)(struct cs_mcp_call *call, struct cs_str task);
    const struct cs_mcp_header *headers; /* NULL: none */
};
extern const struct cs_mcp_offer cs_mcp_house, cs_mcp_fixtures;

const struct cs_mcp_options *cs_mcp_options(const struct cs_mcp *mcp);
uv_loop_t *cs_mcp_loop(const struct cs_mcp *mcp);
void *cs_mcp_own(const struct cs_mcp *mcp);

/* --- a call --- */

struct cs_mcp_call {
    struct cs_mcp *mcp;
    struct cs_caller caller;
    struct cs_json_val params; /* of the request; NONE if there were none. Valid until answered */
    struct cs_arena arena;     /* likewise */
    struct cs_trace trace;     /* of the client; see base/trace.h */
    /* Set by whoever answers it, if wanted: */
    void *own;
    void (*cancelled)(struct cs_mcp_call *call); /* the client lost interest: it is not answered any
                                                  * more, and gone after this has returned */
    /* The answer to cs_mcp_ask: JSON of the protocol ({action, content?} ...); empty: declined, or
     * the client cannot. */
    void (*answered)(struct cs_mcp_call *call, uint64_t ask, struct cs_str result);
};

/* `result` is a JSON object; resultType, serverInfo and cache hints (for those methods that have
 * them) are added. cs_mcp_text is the result of a tool that is one text. Each ends the call.
 * `data`: JSON or empty. */
void cs_mcp_result(struct cs_mcp_call *call, struct cs_str result);
void cs_mcp_text(struct cs_mcp_call *call, struct cs_str text, bool is_error);
void cs_mcp_error(struct cs_mcp_call *call, int code, const char *message, struct cs_str data);

/* Is there a progressToken? Without one cs_mcp_progress becomes a log message (level info), if the
 * client hears those. `total` < 0: unknown. Bounded to one a 100 ms by itself; the last one counts.
 */
void cs_mcp_progress(struct cs_mcp_call *call, double progress, double total,
                     struct cs_str message);
/* `data` is JSON; level as in the protocol: "debug" ... "emergency". Heard by those who asked for
 * it. */
void cs_mcp_log(struct cs_mcp_call *call, const char *level, const char *logger,
                struct cs_str data);

/* Can this client be asked such a thing? */
bool cs_mcp_can_ask(const struct cs_mcp_call *call, enum cs_ask_kind kind);
/* Asks; `answered` follows, unless it is withdrawn or cancelled. In the old era a request of ours,
 * in the new one the answer `input_required`, and the call goes on with the client's next request.
 * `key` names it for the client ("approve-1"), or NULL. */
void cs_mcp_ask(struct cs_mcp_call *call, uint64_t ask, const char *key, enum cs_ask_kind kind,
                struct cs_str params);
void cs_mcp_ask_roots(struct cs_mcp_call *call, uint64_t ask, const char *key);
void cs_mcp_withdraw(struct cs_mcp_call *call, uint64_t ask);

/* This call may take long, and `id` (an execution's) names it. If the client speaks tasks it
 * becomes one when it is not answered soon; the call does not notice, but for `cancelled`. */
void cs_mcp_may_be_task(struct cs_mcp_call *call, struct cs_str id);

/* --- what changes by itself --- */

/* The content of a resource has changed; `tenant` empty: for everybody. */
void cs_mcp_resource_updated(struct cs_mcp *mcp, struct cs_str tenant, struct cs_str uri);
enum cs_mcp_list { CS_MCP_TOOLS, CS_MCP_PROMPTS, CS_MCP_RESOURCES };
void cs_mcp_list_changed(struct cs_mcp *mcp, enum cs_mcp_list list);

#endif

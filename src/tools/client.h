/*
 * One MCP server as a client sees it, over either transport and in either era of the protocol:
 * 2026-07-28 (stateless), and 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05 (`initialize`).
 *
 * Runs in: daemon, loop thread.
 * Order:   new -> connect (or the first call does it) -> call ... -> close -> `closed`, then it is
 * freed. Owner:   the server's configuration is borrowed and must outlive the client. Failure: of
 * one call: its `done` gets an error. Of the connection: every call under way gets one, and the
 * server is started again at the next call, or by itself after a back-off with jitter (0.5 s
 * doubling to 60 s) if it had been ready; five failures in a row leave it FAILED until the next
 * call or connect. Limits:  CS_PAGES pages and CS_SERVER_TOOLS tools of a list; 1,000 calls under
 * way; a result is at most the server's max_result_bytes; 100 open questions, which a person has
 * ten minutes to answer (the clock of the call stands meanwhile); 200 lines of log in a second.
 */
#ifndef CS_TOOLS_CLIENT_H
#define CS_TOOLS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "base/trace.h"
#include "tools/transport.h"

#define CS_PAGES        100u
#define CS_SERVER_TOOLS 5000u

struct cs_client;
struct cs_client_call;

enum cs_client_state {
    CS_CLIENT_IDLE,       /* never started, or closed for want of use */
    CS_CLIENT_CONNECTING, /* process started or first request sent; probing, initialising, listing
                           */
    CS_CLIENT_READY,      /* tools are listed */
    CS_CLIENT_WAITING,    /* failed; will try again by itself */
    CS_CLIENT_FAILED,     /* failed; waits for somebody to ask */
    CS_CLIENT_LOGIN,      /* needs `caisson login NAME` */
};

struct cs_client_info {
    enum cs_client_state state;
    struct cs_err last_error; /* code CS_OK: none yet; kept when it recovers */
    struct cs_str protocol;   /* "2025-11-25"; empty: not connected yet */
    struct cs_str server_name, server_version,
        instructions; /* what it says about itself; untrusted */
    struct cs_str stderr_tail;
    uint32_t pid; /* stdio, while it runs */
    uint32_t restarts;
    uint64_t calls, call_errors;
};

/* What a downstream server asks of a person or a model. Answer with cs_client_answer, once. */
struct cs_client_ask {
    uint64_t id;
    const char *method;   /* "elicitation/create" or "sampling/createMessage" */
    bool url;             /* an elicitation of mode "url" */
    struct cs_str params; /* JSON */
    void *call_ctx;       /* `ctx` of the call during which it came; NULL: none */
};

/* Each may be NULL. */
struct cs_client_events {
    void (*changed)(void *ctx); /* state, or anything else in cs_client_info */
    /* The whole list of tools, all pages: a JSON array as the server sent its items. Comes when it
     * is first ready, and whenever the list may have changed; ready is told after this. */
    void (*listed)(void *ctx, struct cs_str tools);
    void (*log)(void *ctx, struct cs_str level, struct cs_str text);
    /* NULL, or false: nobody is there to ask, and it is declined. */
    bool (*ask)(void *ctx, const struct cs_client_ask *ask);
    /* Of a question that was handed on: its call, its server or its time is over, or it was taken
     * back. An answer to it would be ignored. */
    void (*withdrawn)(void *ctx, uint64_t ask);
};

struct cs_client_options {
    struct cs_fetcher *http; /* shared; needed for HTTP servers */
    struct cs_oauth *oauth;  /* or NULL */
    /* What is declared to the server: forms, addresses to open, a language model. */
    bool can_elicit, can_elicit_url, can_sample;
};

struct cs_client *cs_client_new(uv_loop_t *loop, const struct cs_server_config *server,
                                const struct cs_client_options *options,
                                const struct cs_client_events *events, void *ctx);
void cs_client_connect(struct cs_client *client);
void cs_client_refresh(struct cs_client *client); /* list the tools again; connects if need be */
const struct cs_client_info *cs_client_info(struct cs_client *client);

struct cs_client_request {
    struct cs_str tool;      /* the server's own name */
    struct cs_str arguments; /* JSON object */
    struct cs_str schema;    /* its inputSchema, for x-mcp-header; or empty */
    uint32_t timeout_ms;     /* progress extends it, up to ten times */
    uint64_t max_result_bytes;
    const struct cs_trace *trace; /* or NULL: not told to the server */
};

/* How a call ended. `result` is the raw JSON of `result` in the answer (an isError result too),
 * valid for the call. Errors: CS_UPSTREAM (the server answered with an error, or is gone), CS_LIMIT
 * (time, size), CS_DENIED (login). `retryable`: the same call may work later. */
struct cs_client_result {
    struct cs_str result;
    struct cs_json_val value; /* the same, parsed */
    struct cs_err err;
    bool retryable;
    int rpc_code; /* of a JSON-RPC error; 0: none */
};

/* `done` runs once, never before this has returned, unless it is cancelled. `progress` may be NULL.
 */
struct cs_client_call *
cs_client_call(struct cs_client *client, const struct cs_client_request *request,
               void (*progress)(void *ctx, struct cs_str params),
               void (*done)(void *ctx, const struct cs_client_result *result), void *ctx);
/* Tells the server; `done` will not run. */
void cs_client_cancel(struct cs_client_call *call);

/* `result`: the JSON of the answer ({action, content?}, or a sampling result); empty: declined. */
void cs_client_answer(struct cs_client *client, uint64_t ask, struct cs_str result);

/* Calls under way get CS_UPSTREAM first. */
void cs_client_close(struct cs_client *client, void (*closed)(void *ctx), void *ctx);

const char *cs_client_state_name(enum cs_client_state state);

#endif

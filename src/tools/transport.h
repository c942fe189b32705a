/*
 * How messages reach one MCP server and come back: over the pipes of a child (stdio.c), or over
 * Streamable HTTP (http.c). client.c speaks the protocol on top of either.
 *
 * Runs in: daemon, loop thread. Nothing here blocks.
 * Order:   new -> send ... -> close; `closed` of the events runs once, last. No event comes before
 *          the new function has returned, nor from within an operation.
 * Limits:  a message larger than `max_message` ends the connection (stdio) or the request (HTTP).
 * What waits to be sent is bounded; a peer that does not read loses its connection, no one else's.
 */
#ifndef CS_TOOLS_TRANSPORT_H
#define CS_TOOLS_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "base/str.h"
#include "tools/config.h"

#define CS_MESSAGE_MAX (64u << 20) /* of one message, unless the server's entry asks for less */
#define CS_STDERR_KEPT (64u << 10)

struct cs_transport;

/* One JSON-RPC message on its way out, with what HTTP wants to know about it beforehand. */
struct cs_outgoing {
    struct cs_str json;  /* one line, no newline */
    uint64_t id;         /* of a request of ours; 0: a notification or a response */
    const char *method;  /* NULL: a response */
    const char *version; /* MCP-Protocol-Version to send, or NULL */
    bool modern;         /* send Mcp-Method and the others; the answer is scoped to this request */
    struct cs_str name;  /* Mcp-Name, not yet encoded; empty: none */
    const struct cs_pair *params; /* Mcp-Param-* headers, whole names, values not yet encoded; name
                                     NULL at the end */
    const char *trace;            /* traceparent; NULL or empty: none */
};

/* What may happen to one request of ours, beside an answer. */
enum cs_trouble {
    CS_TROUBLE_LOST,         /* connection refused, reset, stream over without an answer */
    CS_TROUBLE_SESSION,      /* 404 for a session id that was valid: initialise again */
    CS_TROUBLE_STATUS,       /* another HTTP status without a JSON-RPC error in the body */
    CS_TROUBLE_UNAUTHORIZED, /* 401, or 403 insufficient_scope, and no token helps */
    CS_TROUBLE_TOO_LARGE,    /* the answer was larger than max_message */
};

/* Strings are borrowed for the call. */
struct cs_transport_events {
    /* One message, complete, not checked beyond its size. `request`: the request of ours on whose
     * stream it came (HTTP), or 0. */
    void (*message)(void *ctx, struct cs_str json, uint64_t request);
    /* Request `id` will get no answer. `http_status` is 0 if there was none. It may come for one
     * that has been answered, and then means nothing. */
    void (*failed)(void *ctx, uint64_t id, enum cs_trouble trouble, int http_status,
                   const struct cs_err *err);
    /* The connection is over: the child is dead and reaped, nothing is open. `err` says why if we
     * did not close it ourselves (code CS_OK otherwise). The transport is freed on return; its
     * stderr_tail can be asked for a last time. */
    void (*closed)(void *ctx, const struct cs_err *err);
};

struct cs_transport_ops {
    void (*send)(struct cs_transport *t, const struct cs_outgoing *message);
    /* Nobody waits for the answer any more. HTTP: drops the connection of that request. */
    void (*forget)(struct cs_transport *t, uint64_t id);
    /* Legacy, after `initialize`: open the GET stream for what the server has to say. stdio: no-op.
     */
    void (*listen)(struct cs_transport *t, const char *version);
    /* What the server wrote to stderr last (stdio; else empty). Valid until the next turn. */
    struct cs_str (*stderr_tail)(struct cs_transport *t);
    /* Staged: stdin EOF, SIGTERM, SIGKILL to the group; HTTP: DELETE of the session. Then `closed`.
     */
    void (*close)(struct cs_transport *t);
};

struct cs_transport {
    const struct cs_transport_ops *ops;
    const struct cs_transport_events *events;
    void *ctx;
    uint32_t pid; /* stdio: of the child; else 0 */
};

/* `server` must outlive the transport. */
int cs_stdio_new(uv_loop_t *loop, const struct cs_server_config *server,
                 const struct cs_transport_events *events, void *ctx,
                 struct cs_transport **transport, struct cs_err *err);

struct cs_fetcher; /* curl's multi handle on the loop; one for all HTTP servers */
struct cs_oauth;   /* tokens; see oauth.h */

/* Loads libcurl at first; CS_MISSING if it is not installed. Stop it after its transports are
 * closed and its cs_oauth is freed. */
int cs_fetcher_start(uv_loop_t *loop, struct cs_fetcher **http, struct cs_err *err);
void cs_fetcher_stop(struct cs_fetcher *http, void (*stopped)(void *ctx), void *ctx);

int cs_http_new(struct cs_fetcher *http, const struct cs_server_config *server,
                struct cs_oauth *oauth, const struct cs_transport_events *events, void *ctx,
                struct cs_transport **transport, struct cs_err *err);

#endif

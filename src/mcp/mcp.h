/*
 * The MCP door: a server for both eras of the protocol, over stdio and over HTTP. It holds no logic
 * of its own: what is asked becomes the one request, and the one envelope becomes the answer.
 *
 * Runs in: daemon, loop thread.
 * Order:   new -> stdio once, or http for each exchange -> close.
 * Limits:  a message has at most CS_MCP_MESSAGE bytes; requests under way, sessions, streams and
 *          subscriptions are bounded for each client.
 *
 * What is hidden here: JSON-RPC, eras, sessions of the transport, streams and their resumption,
 * tasks.
 */
#ifndef CS_MCP_MCP_H
#define CS_MCP_MCP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "http/http.h"
#include "policy/keys.h"
#include "run/run.h"

#define CS_MCP_MESSAGE (16u << 20)

struct cs_mcp;

struct cs_mcp_options {
    struct cs_runner *runner; /* all lent, to be closed after the door */
    struct cs_tools *tools;   /* NULL: no servers are configured */
    struct cs_store *store;
    struct cs_sessions *sessions;
    uint64_t answer_tokens; /* an answer has at most about so many; 0: 6000 */
    uint32_t timeout_ms;    /* of an execution that asks for none; 0: 30000 */
    bool fixtures; /* offers what the conformance suite wants to see instead of our tools */
};

int cs_mcp_new(uv_loop_t *loop, const struct cs_mcp_options *options, struct cs_mcp **mcp,
               struct cs_err *err);
/* What is under way is cancelled, streams end. Nothing of it is called afterwards. */
void cs_mcp_close(struct cs_mcp *mcp);

/* Settings that may change while it runs. */
void cs_mcp_set(struct cs_mcp *mcp, uint64_t answer_tokens, uint32_t timeout_ms);

/* Other tools are there now: clients that listen are told. */
void cs_mcp_tools_changed(struct cs_mcp *mcp);

/* Speaks over two descriptors, which it takes. `ended` runs when the client has closed its end and
 * everything it asked for is over. */
int cs_mcp_stdio(struct cs_mcp *mcp, int in, int out, const struct cs_caller *caller,
                 void (*ended)(void *ctx), void *ctx, struct cs_err *err);

/* Takes an exchange whose path is that of the endpoint; Host, Origin and the caller were checked.
 * Every method comes here. `mcp` NULL: it is closed already, which is what is answered. */
void cs_mcp_http(struct cs_mcp *mcp, struct cs_exchange *x, const struct cs_caller *caller);

struct cs_mcp_figures {
    uint64_t requests, errors;
    uint32_t sessions, streams;
};
void cs_mcp_figures(const struct cs_mcp *mcp, struct cs_mcp_figures *figures);

#endif

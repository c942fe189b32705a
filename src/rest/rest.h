/*
 * The REST door: one table of routes, from which requests are served and /openapi.json is made. It
 * holds no logic of its own: what is asked becomes the one request, and the one envelope is the
 * answer. Errors are application/problem+json with a code of ours.
 *
 * Runs in: daemon, loop thread.
 */
#ifndef CS_REST_REST_H
#define CS_REST_REST_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "http/http.h"
#include "ledger/ledger.h"
#include "policy/keys.h"
#include "run/run.h"
#include "watch/watch.h"

struct cs_rest;

struct cs_rest_options {
    struct cs_runner *runner; /* all lent, to be closed after the door */
    struct cs_tools *tools;   /* NULL: no servers are configured */
    struct cs_store *store;
    struct cs_sessions *sessions;
    struct cs_watch *watch;
    const struct cs_ledger *ledger;    /* NULL: nothing can be attested */
    uint64_t code_bytes, inputs_bytes; /* of one request */
    uint64_t file_bytes;               /* of a file that is put into a session; 0: 10 MB */
    uint32_t timeout_ms;               /* of an execution that asks for none */
    const char *mcp_path;              /* "/mcp", to be named by GET / */
    const char *policy_refused; /* why the newest policy does not count; "" or NULL: it does */
    /* Somebody asked for what their role does not allow; may be NULL. */
    void (*denied)(void *ctx, const struct cs_caller *caller);
    /* More lines for /metrics, of other parts; may be NULL. */
    void (*metrics)(void *ctx, struct cs_buf *text);
    void *ctx;
};

int cs_rest_new(uv_loop_t *loop, const struct cs_rest_options *options, struct cs_rest **rest,
                struct cs_err *err);
void cs_rest_close(struct cs_rest *rest); /* streams end; executions go on */
void cs_rest_set(struct cs_rest *rest, uint64_t code_bytes, uint64_t inputs_bytes,
                 uint32_t timeout_ms);

/* Is it a route that is served to those who show no key? GET / and /health and /openapi.json are.
 */
bool cs_rest_is_open(struct cs_str method, struct cs_str path);
/* The most bytes of body that a route takes; for cs_exchange_expect. */
uint64_t cs_rest_body_bytes(const struct cs_rest *rest, struct cs_str method, struct cs_str path);

/* The head has come: at most that much body is read. If it says that more follows, it is answered
 * already. */
void cs_rest_head(const struct cs_rest *rest, struct cs_exchange *x);

/* Takes the exchange. `caller` NULL, or without a tenant: nobody is known, as open routes allow.
 */
void cs_rest_handle(struct cs_rest *rest, struct cs_exchange *x, const struct cs_caller *caller);

/* An answer that is an error: problem+json {type, title, status, detail, code, instance?}. Also for
 * those who guard the doors. `status` 0: what the code stands for. */
void cs_rest_problem(struct cs_exchange *x, unsigned status, const struct cs_err *err);

/* /openapi.json, for `caisson openapi`. */
void cs_rest_openapi(struct cs_buf *json);

#endif

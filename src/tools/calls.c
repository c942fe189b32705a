/* tools/call. */
#include <inttypes.h>

#include "base/mem.h"
#include "tools/client_in.h"

#define PROGRESS_FACTOR 10u

static bool can_send(const struct cs_client *c)
{
    return c->phase == CS_CONN_LISTING || c->phase == CS_CONN_READY;
}

/* --- how a call ends --- */

static void finish(struct cs_client_call *r, const struct cs_client_result *result)
{
    struct cs_client *c = r->client;
    cs_ask_forget(c, r);
    void (*done)(void *, const struct cs_client_result *) = r->done;
    void *ctx = r->ctx;
    c->info.calls++;
    c->info.call_errors += result->err.code != CS_OK;
    cs_request_free(r);
    done(ctx, result);
}

void cs_call_fail(struct cs_client_call *r, const struct cs_err *err, bool retryable, int rpc_code)
{
    struct cs_client_result result = {.err = *err, .retryable = retryable, .rpc_code = rpc_code};
    finish(r, &result);
}

void cs_call_doom(struct cs_client_call *r, const struct cs_err *err)
{
    cs_request_unsent(r);
    r->doom = r->doom ? r->doom : CS_NEW(struct cs_err);
    *r->doom = *err;
    r->status = CS_AT_DOOMED;
    r->due = 0;
    cs_client_wake(r->client, 0);
}

/* Tells the server that nobody waits. */
static void tell(struct cs_client_call *r, const char *reason)
{
    struct cs_client *c = r->client;
    if (r->status != CS_AT_SENT || !can_send(c))
        return;
    uint64_t id = r->id;
    if (!(c->modern && c->server->is_http)) {
        char params[120];
        int n = snprintf(params, sizeof params, "\"requestId\":%" PRIu64 ",\"reason\":\"%s\"", id,
                         reason);
        cs_client_notify(c, "notifications/cancelled", cs_strn(params, (size_t)n));
    }
    c->transport->ops->forget(c->transport, id);
}

void cs_client_cancel(struct cs_client_call *call)
{
    if (call->status == CS_AT_DONE)
        return;
    tell(call, "cancelled");
    cs_ask_forget(call->client, call);
    cs_request_free(call);
}

void cs_call_timed_out(struct cs_client_call *r)
{
    struct cs_client *c = r->client;
    struct cs_err err = {0};
    double seconds = r->timeout_ms / 1000.0;
    if (r->status == CS_AT_DOOMED) {
        err = *r->doom;
        cs_call_fail(r, &err, err.code == CS_LIMIT, 0);
        return;
    }
    if (r->paced && can_send(c)) {
        r->paced = false;
        cs_call_again(r);
        return;
    }
    if (r->status == CS_AT_ASKING)
        cs_fail(&err, CS_LIMIT, "tool '%s' of server '%s' asked a question that nobody answered",
                r->tool, c->server->name);
    else if (r->status == CS_AT_SENT)
        cs_fail(&err, CS_LIMIT, "tool '%s' of server '%s' did not answer within %g s", r->tool,
                c->server->name, seconds);
    else
        cs_fail(&err, CS_LIMIT, "server '%s' was not ready within %g s", c->server->name, seconds);
    tell(r, "timed out");
    cs_call_fail(r, &err, true, 0);
}

/* --- out --- */

void cs_call_send(struct cs_client_call *r, struct cs_str arguments, struct cs_str schema)
{
    struct cs_client *c = r->client;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    cs_request_begin(r, "tools/call");
    struct cs_json_writer w = CS_JSON_WRITER(&c->out);
    cs_buf_puts(&c->out, "\"name\":");
    cs_json_put_str(&w, cs_strn(r->tool, r->tool_len));
    cs_buf_puts(&c->out, ",\"arguments\":");
    if (arguments.len > 0)
        cs_json_line(&c->out, arguments);
    else
        cs_buf_puts(&c->out, "{}");
    if (r->inputs.len > 0) {
        cs_buf_puts(&c->out, ",\"inputResponses\":{");
        cs_json_line(&c->out, cs_buf_str(&r->inputs));
        cs_buf_putc(&c->out, '}');
    }
    if (r->state.len > 0) {
        cs_buf_puts(&c->out, ",\"requestState\":");
        cs_json_line(&c->out, cs_buf_str(&r->state));
    }
    const struct cs_pair *params = NULL;
    if (c->modern && c->server->is_http)
        params = cs_mirror_of(schema, arguments, &arena);
    cs_request_send(r, "tools/call", cs_strn(r->tool, r->tool_len), params);
}

void cs_call_again(struct cs_client_call *r)
{
    uint64_t now = cs_client_now();
    r->due = now + r->timeout_ms;
    r->latest = now + (uint64_t)r->timeout_ms * PROGRESS_FACTOR;
    cs_call_send(r, cs_buf_str(&r->arguments), cs_buf_str(&r->schema));
}

void cs_call_send_waiting(struct cs_client *c)
{
    struct cs_link *next;
    for (struct cs_link *l = c->requests.next; l != &c->requests; l = next) {
        struct cs_client_call *r = cs_link_request(l);
        next = l->next;
        /* Its own deadline goes on from when it was made. */
        if (r->kind == CS_REQ_CALL && r->status == CS_AT_WAITING && !r->paced)
            cs_call_send(r, cs_buf_str(&r->arguments), cs_buf_str(&r->schema));
    }
}

struct cs_client_call *
cs_client_call(struct cs_client *client, const struct cs_client_request *request,
               void (*progress)(void *ctx, struct cs_str params),
               void (*done)(void *ctx, const struct cs_client_result *result), void *ctx)
{
    struct cs_client *c = client;
    struct cs_client_call *r = cs_request_new(c, CS_REQ_CALL, request->tool);
    uint64_t now = cs_client_now();
    r->timeout_ms = request->timeout_ms ? request->timeout_ms : CS_CALL_TIMEOUT_MS;
    r->due = now + r->timeout_ms;
    r->latest = now + (uint64_t)r->timeout_ms * PROGRESS_FACTOR;
    r->max_result = request->max_result_bytes ? request->max_result_bytes : CS_CALL_RESULT_MAX;
    if (c->parse_max < r->max_result + CS_MESSAGE_SLACK)
        c->parse_max = r->max_result + CS_MESSAGE_SLACK;
    if (request->trace && cs_trace_is(request->trace))
        cs_trace_put(request->trace, r->trace);
    r->progress = progress;
    r->done = done;
    r->ctx = ctx;
    struct cs_err err = {0};
    if (c->calls > CS_CALLS_MAX) {
        cs_fail(&err, CS_LIMIT, "server '%s' has %u calls under way already", c->server->name,
                CS_CALLS_MAX);
        cs_call_doom(r, &err);
        return r;
    }
    /* A legacy server over pipes is asked once; the others may have to be asked again. */
    if (!can_send(c) || c->modern || c->server->is_http) {
        cs_buf_putstr(&r->arguments, request->arguments);
        if (c->server->is_http)
            cs_buf_putstr(&r->schema, request->schema);
    }
    if (can_send(c)) {
        cs_call_send(r, request->arguments, request->schema);
    } else {
        cs_client_wake(c, r->due);
        cs_client_want(c);
    }
    return r;
}

/* --- in --- */

void cs_call_progress(struct cs_client *c, struct cs_json_val params)
{
    int64_t token = 0;
    if (!cs_json_i64(cs_json_get(params, "progressToken"), &token) || token <= 0)
        return;
    struct cs_client_call *r = cs_request_find(c, (uint64_t)token);
    if (!r || r->kind != CS_REQ_CALL)
        return;
    uint64_t due = cs_client_now() + r->timeout_ms;
    due = due < r->latest ? due : r->latest;
    r->due = due > r->due ? due : r->due;
    if (r->progress)
        r->progress(r->ctx, cs_json_raw(params));
}

static void refused(struct cs_client *c, struct cs_client_call *r, const struct cs_answer *a)
{
    if (a->code == CS_RPC_HEADERS && c->modern && c->server->is_http && !r->header_retried) {
        r->header_retried = true;
        cs_request_unsent(r);
        r->status = CS_AT_WAITING;
        cs_list_begin(c);
        return;
    }
    if (c->modern && cs_era_offers_ours(a) && !r->version_retried) {
        r->version_retried = true;
        cs_call_again(r);
        return;
    }
    struct cs_err err = {0};
    char words[300];
    cs_fail(&err, CS_UPSTREAM, "tool '%.100s' of server '%s': %s (%d)", r->tool, c->server->name,
            cs_answer_words(a, words, sizeof words), a->code);
    cs_call_fail(r, &err, false, a->code);
}

void cs_call_answered(struct cs_client *c, struct cs_client_call *r, const struct cs_answer *a)
{
    if (c->info.state == CS_CLIENT_LOGIN && c->phase == CS_CONN_READY) {
        r->held = true;
        cs_client_set_state(c, CS_CLIENT_READY);
        r->held = false;
        if (r->status == CS_AT_DONE) {
            cs_request_free(r);
            return;
        }
    }
    if (a->code) {
        refused(c, r, a);
        return;
    }
    struct cs_err err = {0};
    struct cs_json_val type = cs_json_get(a->result, "resultType");
    if (c->modern && cs_json_is(type, "input_required")) {
        cs_ask_inputs(c, r, a->result);
        return;
    }
    if (c->modern && cs_json_type(type) != CS_JSON_NONE && !cs_json_is(type, "complete")) {
        struct cs_str raw = cs_json_raw(type);
        cs_fail(&err, CS_UPSTREAM,
                "tool '%.100s' of server '%s' sent a result of unknown type %.*s", r->tool,
                c->server->name, (int)(raw.len < 60 ? raw.len : 60), raw.at);
        cs_call_fail(r, &err, false, 0);
        return;
    }
    struct cs_client_result result = {.result = cs_json_raw(a->result), .value = a->result};
    if (result.result.len > r->max_result) {
        cs_fail(&err, CS_LIMIT,
                "tool '%.100s' of server '%s' answered %zu bytes, at most %" PRIu64
                " are allowed: ask for less, or raise max_result_bytes of the server",
                r->tool, c->server->name, result.result.len, r->max_result);
        cs_call_fail(r, &err, false, 0);
        return;
    }
    c->failures = 0;
    finish(r, &result);
}

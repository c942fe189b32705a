/* Calls on their way to a server, those included that wait until its entry is known. */
#include <string.h>

#include "base/mem.h"
#include "tools/inside.h"

struct cs_tool_call {
    struct cs_tools *tools;
    struct cs_server *server;
    struct cs_client_call *inner; /* NULL: waits for the configuration, or failed already */
    struct cs_tool_call *next, **prev;
    void (*done)(void *ctx, const struct cs_tool_result *result);
    void *ctx;
    /* Of a call that waits, or failed: */
    uv_timer_t *late;
    struct cs_err err;
    struct cs_buf tool, arguments, schema;
    uint32_t timeout_ms;
    uint64_t max_result_bytes;
    struct cs_trace trace;
};

static void on_late_closed(uv_handle_t *handle)
{
    struct cs_tools *t = handle->data;
    free(handle);
    t->handles--;
    cs_tools_maybe_closed(t);
}

static void call_free(struct cs_tool_call *c)
{
    *c->prev = c->next;
    if (c->next)
        c->next->prev = c->prev;
    if (c->late) {
        c->late->data = c->tools;
        uv_close((uv_handle_t *)c->late, on_late_closed);
    }
    cs_buf_done(&c->tool);
    cs_buf_done(&c->arguments);
    cs_buf_done(&c->schema);
    free(c);
}

static void on_done(void *ctx, const struct cs_client_result *result)
{
    struct cs_tool_call *c = ctx;
    struct cs_tool_result r = {result->value, result->err, result->retryable};
    c->done(c->ctx, &r);
    call_free(c);
}

static void on_late(uv_timer_t *timer)
{
    struct cs_tool_call *c = timer->data;
    struct cs_tool_result r = {.err = c->err, .retryable = c->err.code == CS_UPSTREAM};
    c->done(c->ctx, &r);
    call_free(c);
}

static void fail_later(struct cs_tool_call *c, const struct cs_err *err)
{
    c->err = *err;
    c->server = NULL;
    c->late = CS_NEW(uv_timer_t);
    uv_timer_init(c->tools->loop, c->late);
    c->tools->handles++;
    c->late->data = c;
    uv_timer_start(c->late, on_late, 0, 0);
}

static void start_call(struct cs_tool_call *c, const struct cs_client_request *request)
{
    struct cs_server *s = c->server;
    struct cs_err err = {0};
    cs_server_need(s);
    if (s->client) {
        c->inner = cs_client_call(s->client, request, NULL, on_done, c);
        return;
    }
    if (!s->config->enabled)
        cs_fail(&err, CS_MISSING, "the server '%s' is disabled; 'caisson enable %s' changes that",
                s->name, s->name);
    else
        err = s->config->problem.code ? s->config->problem : s->trouble;
    fail_later(c, &err);
}

struct cs_tool_call *cs_tools_call(struct cs_tools *t, const struct cs_tool *tool,
                                   struct cs_str arguments, uint32_t timeout_ms,
                                   uint64_t max_result_bytes, const struct cs_trace *trace,
                                   void (*done)(void *ctx, const struct cs_tool_result *result),
                                   void *ctx)
{
    struct cs_tool_call *c = CS_NEW(struct cs_tool_call);
    c->tools = t;
    c->done = done;
    c->ctx = ctx;
    c->prev = &t->calls;
    c->next = t->calls;
    if (c->next)
        c->next->prev = &c->next;
    t->calls = c;
    c->server = cs_tools_server(t, tool->server);
    if (!c->server) {
        struct cs_err err = {0};
        cs_fail(&err, CS_MISSING, "the server '%.*s' is no longer configured",
                CS_STR_ARG(tool->server));
        fail_later(c, &err);
    } else if (c->server->expanded) {
        struct cs_client_request request = {
            .tool = tool->name,
            .arguments = arguments,
            .schema = tool->input,
            .timeout_ms = timeout_ms,
            .max_result_bytes = max_result_bytes,
            .trace = trace,
        };
        start_call(c, &request);
    } else {
        c->server->wanted = true;
        cs_buf_putstr(&c->tool, tool->name);
        cs_buf_putstr(&c->arguments, arguments);
        cs_buf_putstr(&c->schema, tool->input);
        c->timeout_ms = timeout_ms;
        c->max_result_bytes = max_result_bytes;
        if (trace)
            c->trace = *trace;
    }
    return c;
}

void cs_tool_call_cancel(struct cs_tool_call *c)
{
    if (c->inner)
        cs_client_cancel(c->inner);
    call_free(c);
}

void cs_calls_fail(struct cs_server *s, const struct cs_err *err)
{
    for (struct cs_tool_call *c = s->tools->calls; c; c = c->next)
        if (c->server == s && !c->inner && !c->late)
            fail_later(c, err);
}

size_t cs_calls_ctx(const struct cs_server *s, const struct cs_tool_call *only,
                    struct cs_arena *arena, void ***ctx)
{
    size_t count = 0, n = 0;
    for (const struct cs_tool_call *c = s->tools->calls; c; c = c->next)
        count += c->server == s && c->inner;
    *ctx = cs_arena_alloc(arena, (count + 1) * sizeof **ctx);
    for (const struct cs_tool_call *c = s->tools->calls; c; c = c->next)
        if (only ? c == only : c->server == s && c->inner)
            (*ctx)[n++] = c->ctx;
    return n;
}

void cs_calls_start(struct cs_tools *t)
{
    for (struct cs_tool_call *c = t->calls; c; c = c->next)
        if (c->server && !c->inner && !c->late) {
            struct cs_client_request request = {cs_buf_str(&c->tool),   cs_buf_str(&c->arguments),
                                                cs_buf_str(&c->schema), c->timeout_ms,
                                                c->max_result_bytes,    &c->trace};
            start_call(c, &request);
        }
}

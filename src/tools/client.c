#include "tools/client.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "tools/client_in.h"

#define FAILURES_MAX 5u

const struct cs_client_parts cs_client_parts_default = {
    .probe = 3000,
    .connect = 60000,
    .backoff = 500,
    .backoff_max = 60000,
    .steady = 30000,
    .debounce = 100,
    .pace = 250,
    .person = 600000,
    .verdict = 3600000,
};

static void on_tick(uv_timer_t *timer);

uint64_t cs_client_now(void)
{
    return uv_hrtime() / 1000000;
}

void cs_client_wake(struct cs_client *c, uint64_t at)
{
    if (c->closing || at >= c->timer_at)
        return;
    c->timer_at = at;
    uint64_t now = cs_client_now();
    uv_timer_start(&c->timer, on_tick, at > now ? at - now : 0, 0);
}

void cs_client_changed(struct cs_client *c)
{
    if (c->events.changed)
        c->events.changed(c->ctx);
}

void cs_client_set_state(struct cs_client *c, enum cs_client_state state)
{
    if (c->info.state == state)
        return;
    c->info.state = state;
    cs_client_changed(c);
}

void cs_client_say(struct cs_client *c, const char *level, const char *fmt, ...)
{
    if (!c->events.log)
        return;
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    c->events.log(c->ctx, cs_str(level), cs_strn(text, len));
}

/* --- opening --- */

static uint64_t backoff(struct cs_client *c)
{
    uint64_t delay = c->parts.backoff;
    for (uint32_t i = 1; i < c->failures && delay < c->parts.backoff_max; i++)
        delay *= 2;
    delay = delay < c->parts.backoff_max ? delay : c->parts.backoff_max;
    /* A quarter more or less, so that many servers do not come back in step. */
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return delay - delay / 4 + c->random % (delay / 2 + 1);
}

static void open_transport(struct cs_client *c)
{
    struct cs_err err = {0};
    c->connect_at = CS_NEVER;
    c->garbage = 0;
    c->info.restarts += c->was_ready && !c->respawned;
    cs_client_set_state(c, CS_CLIENT_CONNECTING);
    if (c->closing)
        return;
    if (c->server->problem.code != CS_OK) {
        cs_client_lost(c, &c->server->problem);
        return;
    }
    if (c->parts.open(c->parts.ctx, c->loop, c->server, &c->options, &cs_client_transport_events, c,
                      &c->transport, &err) < 0) {
        c->transport = NULL;
        cs_wrap(&err, "server '%s'", c->server->name);
        cs_client_lost(c, &err);
        return;
    }
    cs_buf_clear(&c->stderr_kept);
    cs_era_begin(c);
}

void cs_client_want(struct cs_client *c)
{
    if (c->closing)
        return;
    if (c->phase == CS_CONN_OFF || c->phase == CS_CONN_CLOSING) {
        c->connect_at = 0;
        if (c->phase == CS_CONN_OFF)
            cs_client_wake(c, 0);
        cs_client_set_state(c, CS_CLIENT_CONNECTING);
    }
}

void cs_client_connect(struct cs_client *client)
{
    cs_client_want(client);
}

void cs_client_shaken(struct cs_client *c)
{
    c->phase = CS_CONN_LISTING;
    cs_client_changed(c);
    if (c->phase != CS_CONN_LISTING)
        return;
    cs_call_send_waiting(c);
    cs_list_begin(c);
}

void cs_client_ready(struct cs_client *c)
{
    if (c->phase != CS_CONN_LISTING)
        return;
    c->phase = CS_CONN_READY;
    c->was_ready = true;
    c->respawned = false;
    c->listen_failures = 0;
    c->ready_at = cs_client_now();
    if (c->modern && c->tools_changing)
        cs_listen_begin(c);
    cs_client_set_state(c, CS_CLIENT_READY);
}

void cs_client_refresh(struct cs_client *client)
{
    if (client->phase == CS_CONN_READY)
        cs_list_begin(client);
    else
        cs_client_want(client);
}

/* --- failing --- */

/* Every request that is there now; what their callbacks start is not touched. */
static void fail_requests(struct cs_client *c, const struct cs_err *err, bool retryable)
{
    struct cs_link old;
    cs_link_init(&old);
    while (c->requests.next != &c->requests) {
        struct cs_link *l = c->requests.next;
        cs_link_off(l);
        cs_link_before(&old, l);
    }
    while (old.next != &old) {
        struct cs_client_call *r = cs_link_request(old.next);
        if (r->kind == CS_REQ_CALL)
            cs_call_fail(r, err, retryable, 0);
        else
            cs_request_free(r);
    }
}

static void fail_closing(struct cs_client *c)
{
    struct cs_err err = {0};
    cs_fail(&err, CS_UPSTREAM, "server '%s': its connection is being closed", c->server->name);
    fail_requests(c, &err, false);
}

static void forget_connection(struct cs_client *c)
{
    cs_ask_forget(c, NULL);
    cs_list_stop(c);
    c->relist_at = c->listen_at = CS_NEVER;
    c->listen_id = 0;
}

void cs_client_lost(struct cs_client *c, const struct cs_err *cause)
{
    if (c->phase == CS_CONN_CLOSING)
        return;
    struct cs_err err = *cause;
    bool login = err.code == CS_DENIED;
    if (c->ready_at != 0 && cs_client_now() - c->ready_at >= c->parts.steady)
        c->failures = 0;
    c->ready_at = 0;
    c->failures++;
    c->respawned = false;
    c->info.last_error = err;
    forget_connection(c);
    c->phase = c->transport ? CS_CONN_CLOSING : CS_CONN_OFF;
    if (c->transport)
        c->transport->ops->close(c->transport);

    enum cs_client_state next = login ? CS_CLIENT_LOGIN : CS_CLIENT_FAILED;
    if (!login && c->was_ready && c->failures < FAILURES_MAX && !c->closing) {
        next = CS_CLIENT_WAITING;
        c->connect_at = cs_client_now() + backoff(c);
        cs_client_wake(c, c->connect_at);
    }
    c->info.state = next;
    fail_requests(c, &err, !login && err.code != CS_MISSING && err.code != CS_INVALID);
    cs_client_changed(c);
}

static void keep_stderr(struct cs_client *c)
{
    struct cs_str tail = c->transport->ops->stderr_tail(c->transport);
    cs_buf_clear(&c->stderr_kept);
    cs_buf_putstr(&c->stderr_kept, tail);
}

static void on_timer_closed(uv_handle_t *h)
{
    struct cs_client *c = h->data;
    fail_closing(c);
    void (*closed)(void *ctx) = c->closed;
    void *ctx = c->closed_ctx;
    struct cs_buf *bufs[] = {&c->protocol,      &c->name,           &c->version, &c->instructions,
                             &c->listing.tools, &c->stderr_kept,    &c->meta,    &c->out,
                             &c->capabilities,  &c->listing.cursors};
    for (size_t i = 0; i < CS_COUNT(bufs); i++)
        cs_buf_done(bufs[i]);
    free(c);
    if (closed)
        closed(ctx);
}

static void on_closed(void *ctx, const struct cs_err *why)
{
    struct cs_client *c = ctx;
    keep_stderr(c);
    c->transport = NULL;
    if (c->closing) {
        uv_close((uv_handle_t *)&c->timer, on_timer_closed);
        return;
    }
    if (c->phase == CS_CONN_CLOSING) {
        c->phase = CS_CONN_OFF;
        if (c->connect_at != CS_NEVER)
            cs_client_wake(c, c->connect_at);
        cs_client_changed(c);
        return;
    }
    /* Some servers end when the first message is not `initialize`. */
    if (c->phase == CS_CONN_PROBING && c->server->era == CS_ERA_AUTO && !c->respawned) {
        struct cs_link *next;
        for (struct cs_link *l = c->requests.next; l != &c->requests; l = next) {
            next = l->next;
            if (cs_link_request(l)->kind != CS_REQ_CALL)
                cs_request_free(cs_link_request(l));
        }
        c->respawned = true;
        c->verdict = CS_ERA_LEGACY;
        c->verdict_at = cs_client_now();
        c->phase = CS_CONN_OFF;
        open_transport(c);
        return;
    }
    if (c->respawned)
        c->verdict = CS_ERA_AUTO;
    struct cs_err err = *why;
    if (err.code == CS_OK)
        cs_fail(&err, CS_UPSTREAM, "the connection ended");
    cs_wrap(&err, "server '%s'", c->server->name);
    cs_client_lost(c, &err);
}

static void on_message(void *ctx, struct cs_str json, uint64_t request)
{
    struct cs_client *c = ctx;
    if (c->phase != CS_CONN_CLOSING && !c->closing)
        cs_client_message(c, json, request);
}

static void on_failed(void *ctx, uint64_t id, enum cs_trouble trouble, int http_status,
                      const struct cs_err *err)
{
    struct cs_client *c = ctx;
    if (c->phase != CS_CONN_CLOSING && !c->closing)
        cs_client_trouble(c, id, trouble, http_status, err);
}

const struct cs_transport_events cs_client_transport_events = {
    .message = on_message, .failed = on_failed, .closed = on_closed};

/* --- time --- */

static void timed_out(struct cs_client *c, struct cs_client_call *r)
{
    struct cs_err err = {0};
    switch (r->kind) {
    case CS_REQ_CALL:
        cs_call_timed_out(r);
        return;
    case CS_REQ_DISCOVER:
        if (c->server->era == CS_ERA_AUTO) {
            /* It may only be slow to start: an answer still counts until the other one is there. */
            r->due = CS_NEVER;
            cs_era_initialize(c);
            return;
        }
        cs_request_free(r);
        break;
    case CS_REQ_LIST:
        cs_request_free(r);
        cs_fail(&err, CS_LIMIT, "server '%s': no list of tools after %" PRIu32 " s",
                c->server->name, c->parts.connect / 1000);
        cs_list_failed(c, &err);
        return;
    case CS_REQ_INITIALIZE:
    case CS_REQ_LISTEN:
        cs_request_free(r);
        break;
    }
    cs_fail(&err, CS_UPSTREAM, "server '%s' does not answer", c->server->name);
    cs_client_lost(c, &err);
}

static void expire(struct cs_client *c, uint64_t now)
{
    struct cs_link late, *next;
    cs_link_init(&late);
    for (struct cs_link *l = c->requests.next; l != &c->requests; l = next) {
        next = l->next;
        if (cs_link_request(l)->due <= now) {
            cs_link_off(l);
            cs_link_before(&late, l);
        }
    }
    while (late.next != &late) {
        struct cs_client_call *r = cs_link_request(late.next);
        cs_link_off(&r->link);
        cs_link_before(&c->requests, &r->link);
        if (r->kind != CS_REQ_CALL && c->phase == CS_CONN_CLOSING)
            cs_request_free(r);
        else
            timed_out(c, r);
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct cs_client *c = timer->data;
    uint64_t now = cs_client_now();
    c->timer_at = CS_NEVER;
    uint64_t next = cs_ask_expire(c, now);
    expire(c, now);
    if (!c->closing && c->phase == CS_CONN_OFF && c->connect_at <= now)
        open_transport(c);
    if (!c->closing && c->phase == CS_CONN_READY && c->relist_at <= now)
        cs_list_begin(c);
    if (!c->closing && c->phase == CS_CONN_READY && c->listen_at <= now)
        cs_listen_begin(c);
    if (c->closing)
        return;

    for (struct cs_link *l = c->requests.next; l != &c->requests; l = l->next) {
        uint64_t due = cs_link_request(l)->due;
        next = due < next ? due : next;
    }
    if (c->phase == CS_CONN_OFF && c->connect_at < next)
        next = c->connect_at;
    if (c->phase == CS_CONN_READY) {
        next = c->relist_at < next ? c->relist_at : next;
        next = c->listen_at < next ? c->listen_at : next;
    }
    cs_client_wake(c, next);
}

/* --- life --- */

struct cs_client *cs_client_new_with(uv_loop_t *loop, const struct cs_server_config *server,
                                     const struct cs_client_options *options,
                                     const struct cs_client_events *events, void *ctx,
                                     const struct cs_client_parts *parts)
{
    struct cs_client *c = CS_NEW(struct cs_client);
    c->loop = loop;
    c->server = server;
    if (options)
        c->options = *options;
    if (events)
        c->events = *events;
    c->ctx = ctx;
    c->parts = *parts;
    uint64_t largest = server->max_result_bytes > CS_CALL_RESULT_MAX ? server->max_result_bytes
                                                                     : CS_CALL_RESULT_MAX;
    c->parse_max = largest + CS_MESSAGE_SLACK;
    c->timer_at = c->connect_at = c->relist_at = c->listen_at = CS_NEVER;
    c->random = uv_hrtime() | 1;
    cs_link_init(&c->requests);
    uv_timer_init(loop, &c->timer);
    c->timer.data = c;
    cs_era_declare(c);
    return c;
}

const struct cs_client_info *cs_client_info(struct cs_client *c)
{
    c->info.protocol = cs_buf_str(&c->protocol);
    c->info.server_name = cs_buf_str(&c->name);
    c->info.server_version = cs_buf_str(&c->version);
    c->info.instructions = cs_buf_str(&c->instructions);
    c->info.pid = c->transport ? c->transport->pid : 0;
    c->info.stderr_tail =
        c->transport ? c->transport->ops->stderr_tail(c->transport) : cs_buf_str(&c->stderr_kept);
    return &c->info;
}

void cs_client_close(struct cs_client *c, void (*closed)(void *ctx), void *ctx)
{
    if (c->closing)
        return;
    c->closing = true;
    c->closed = closed;
    c->closed_ctx = ctx;
    uv_timer_stop(&c->timer);
    forget_connection(c);
    fail_closing(c);
    c->info.state = CS_CLIENT_IDLE;
    if (!c->transport) {
        uv_close((uv_handle_t *)&c->timer, on_timer_closed);
    } else if (c->phase != CS_CONN_CLOSING) {
        c->phase = CS_CONN_CLOSING;
        c->transport->ops->close(c->transport);
    }
}

const char *cs_client_state_name(enum cs_client_state state)
{
    static const char *const names[] = {"idle",    "connecting", "ready",
                                        "waiting", "failed",     "login"};
    return (size_t)state < CS_COUNT(names) ? names[state] : "unknown";
}

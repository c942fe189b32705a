/*
 * A server that a test plays itself: what the client sends is kept as text, and what the test says
 * arrives as messages. Also used by the fuzz target.
 */
#ifndef CS_TEST_FAKE_H
#define CS_TEST_FAKE_H

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "tools/client_in.h"

#ifndef FAKE_KEPT
#define FAKE_KEPT 4096
#endif

struct fake_sent {
    char *json;
    uint64_t id;
    const char *method; /* NULL: a response */
    bool modern;
    char *params; /* "Name: value;" of each header */
};

struct fake {
    uv_loop_t *loop, own;
    struct cs_server_config server;
    struct cs_client_options options;
    struct cs_client_parts parts;
    struct cs_client *client;

    struct cs_transport base;
    bool open;    /* there is a transport */
    bool ending;  /* it was told to close */
    bool stuck;   /* it does not close by itself */
    bool refuses; /* opening fails */
    unsigned opened, closed, forgotten, heard;
    const char *listening;
    struct fake_sent sent[FAKE_KEPT];
    unsigned count;

    /* what the client told */
    struct cs_buf tools, logs, progress, result, asked;
    unsigned listed, changed, done, progressed, asks, withdrawn;
    struct cs_client_result last;
    bool takes_asks;
    uint64_t ask;
    void *ask_ctx;
    bool client_closed;
};

/* --- time --- */

/* For a test it stands still but for its fake_sleep: what is due is due by that alone, however busy
 * the machine is. Weak, as a program that has the worker's clock in it (the fuzzer) keeps that. */
struct fake_clock {
    bool stands;
    uint64_t ns;
};

extern struct fake_clock fake_clock;
__attribute__((weak)) struct fake_clock fake_clock;

__attribute__((weak)) int clock_gettime(clockid_t id, struct timespec *t)
{
    if (!fake_clock.stands || (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_COARSE))
        return (int)syscall(SYS_clock_gettime, id, t);
    *t = (struct timespec){.tv_sec = (time_t)(fake_clock.ns / 1000000000),
                           .tv_nsec = (long)(fake_clock.ns % 1000000000)};
    return 0;
}

/* --- the transport --- */

static inline void fake_send(struct cs_transport *t, const struct cs_outgoing *m)
{
    struct fake *f = (struct fake *)(void *)((char *)t - offsetof(struct fake, base));
    assert(f->open && !f->ending);
    assert(!memchr(m->json.at, '\n', m->json.len));
    if (f->count == FAKE_KEPT) {
        for (unsigned i = 0; i < FAKE_KEPT / 2; i++) {
            free(f->sent[i].json);
            free(f->sent[i].params);
        }
        f->count = FAKE_KEPT / 2;
        memmove(f->sent, f->sent + FAKE_KEPT / 2, FAKE_KEPT / 2 * sizeof *f->sent);
    }
    struct cs_buf params = {0};
    for (const struct cs_pair *p = m->params; p && p->name; p++)
        cs_buf_printf(&params, "%s: %s;", p->name, p->value);
    cs_buf_putc(&params, '\0');
    f->sent[f->count++] = (struct fake_sent){.json = cs_strndup(m->json.at, m->json.len),
                                             .id = m->id,
                                             .method = m->method,
                                             .modern = m->modern,
                                             .params = params.at};
}

static inline struct fake *fake_of(struct cs_transport *t)
{
    return (struct fake *)(void *)((char *)t - offsetof(struct fake, base));
}

static inline void fake_forget(struct cs_transport *t, uint64_t id)
{
    (void)id;
    fake_of(t)->forgotten++;
}

static inline void fake_listen(struct cs_transport *t, const char *version)
{
    fake_of(t)->listening = version;
}

static inline struct cs_str fake_stderr(struct cs_transport *t)
{
    (void)t;
    return CS_STR("last words");
}

static inline void fake_close(struct cs_transport *t)
{
    assert(!fake_of(t)->ending);
    fake_of(t)->ending = true;
}

static inline int fake_open(void *ctx, uv_loop_t *loop, const struct cs_server_config *server,
                            const struct cs_client_options *options,
                            const struct cs_transport_events *events, void *events_ctx,
                            struct cs_transport **transport, struct cs_err *err)
{
    static const struct cs_transport_ops ops = {fake_send, fake_forget, fake_listen, fake_stderr,
                                                fake_close};
    struct fake *f = ctx;
    (void)loop;
    (void)server;
    (void)options;
    f->opened++;
    assert(!f->open);
    if (f->refuses)
        return cs_fail(err, CS_MISSING, "there is no such command");
    f->base = (struct cs_transport){.ops = &ops, .events = events, .ctx = events_ctx, .pid = 7};
    f->open = true;
    f->ending = false;
    *transport = &f->base;
    return 0;
}

/* --- events --- */

static inline void fake_changed(void *ctx)
{
    ((struct fake *)ctx)->changed++;
}

static inline void fake_listed(void *ctx, struct cs_str tools)
{
    struct fake *f = ctx;
    f->listed++;
    cs_buf_clear(&f->tools);
    cs_buf_putstr(&f->tools, tools);
}

static inline void fake_log(void *ctx, struct cs_str level, struct cs_str text)
{
    struct fake *f = ctx;
    if (f->logs.len < 100000)
        cs_buf_printf(&f->logs, "%.*s: %.*s\n", CS_STR_ARG(level), CS_STR_ARG(text));
}

static inline bool fake_ask(void *ctx, const struct cs_client_ask *ask)
{
    struct fake *f = ctx;
    f->asks++;
    f->ask = ask->id;
    f->ask_ctx = ask->call_ctx;
    cs_buf_clear(&f->asked);
    cs_buf_printf(&f->asked, "%s %.*s", ask->method, CS_STR_ARG(ask->params));
    return f->takes_asks;
}

static inline void fake_withdrawn(void *ctx, uint64_t ask)
{
    struct fake *f = ctx;
    (void)ask;
    f->withdrawn++;
}

static inline void fake_progress(void *ctx, struct cs_str params)
{
    struct fake *f = ctx;
    f->progressed++;
    cs_buf_clear(&f->progress);
    cs_buf_putstr(&f->progress, params);
}

static inline void fake_done(void *ctx, const struct cs_client_result *result)
{
    struct fake *f = ctx;
    f->done++;
    f->last = *result;
    cs_buf_clear(&f->result);
    cs_buf_putstr(&f->result, result->result);
    f->last.result = cs_buf_str(&f->result);
}

static inline void fake_client_closed(void *ctx)
{
    ((struct fake *)ctx)->client_closed = true;
}

/* --- life --- */

/* `loop` may be NULL: one of its own. */
static inline struct fake *fake_new_on(uv_loop_t *loop)
{
    struct fake *f = CS_NEW(struct fake);
    f->loop = loop ? loop : &f->own;
    if (!loop)
        uv_loop_init(&f->own);
    f->server = (struct cs_server_config){.name = "fake", .enabled = true, .command = "fake"};
    f->parts = (struct cs_client_parts){.open = fake_open,
                                        .ctx = f,
                                        .probe = 1000,
                                        .connect = 2000,
                                        .backoff = 4,
                                        .backoff_max = 20,
                                        .steady = 100000,
                                        .debounce = 5,
                                        .pace = 5,
                                        .person = 2000,
                                        .verdict = 100000};
    return f;
}

static inline struct fake *fake_new(void)
{
    if (!fake_clock.stands)
        fake_clock = (struct fake_clock){.stands = true, .ns = uv_hrtime()};
    assert(uv_hrtime() == fake_clock.ns);
    return fake_new_on(NULL);
}

static inline void fake_client(struct fake *f)
{
    const struct cs_client_events events = {fake_changed, fake_listed, fake_log, fake_ask,
                                            fake_withdrawn};
    f->client = cs_client_new_with(f->loop, &f->server, &f->options, &events, f, &f->parts);
}

/* The server's end, with or without our wish. */
static inline void fake_end(struct fake *f, const char *why)
{
    struct cs_err err = {0};
    if (why)
        cs_fail(&err, CS_UPSTREAM, "%s", why);
    f->open = f->ending = false;
    f->closed++;
    f->base.events->closed(f->base.ctx, &err);
}

/* A few turns of the loop. */
static inline void fake_turn(struct fake *f)
{
    for (int i = 0; i < 3; i++) {
        uv_run(f->loop, UV_RUN_NOWAIT);
        if (f->open && f->ending && !f->stuck)
            fake_end(f, NULL);
    }
}

/* So many ms go by, and the loop turns in each of them. */
static inline void fake_sleep(struct fake *f, uint64_t ms)
{
    for (; ms > 0; ms--) {
        fake_turn(f);
        fake_clock.ns += 1000000;
    }
    fake_turn(f);
}

static inline void fake_free(struct fake *f)
{
    f->stuck = false;
    if (f->client) {
        cs_client_close(f->client, fake_client_closed, f);
        while (!f->client_closed)
            fake_turn(f);
    }
    uv_run(f->loop, UV_RUN_DEFAULT);
    fake_clock.stands = false;
    int left = f->loop == &f->own ? uv_loop_close(f->loop) : uv_loop_alive(f->loop);
    assert(left == 0);
    (void)left;
    for (unsigned i = 0; i < f->count; i++) {
        free(f->sent[i].json);
        free(f->sent[i].params);
    }
    struct cs_buf *bufs[] = {&f->tools, &f->logs, &f->progress, &f->result, &f->asked};
    for (size_t i = 0; i < CS_COUNT(bufs); i++)
        cs_buf_done(bufs[i]);
    free(f);
}

/* --- the server's part --- */

static inline const struct fake_sent *fake_last(struct fake *f)
{
    static const struct fake_sent none = {.json = (char *)"(nothing)", .method = "(nothing)"};
    return f->count ? &f->sent[f->count - 1] : &none;
}

/* The last one with this method. */
static inline const struct fake_sent *fake_find(struct fake *f, const char *method)
{
    for (unsigned i = f->count; i-- > 0;)
        if (f->sent[i].method && strcmp(f->sent[i].method, method) == 0)
            return &f->sent[i];
    return NULL;
}

static inline unsigned fake_number(struct fake *f, const char *method)
{
    unsigned n = 0;
    for (unsigned i = 0; i < f->count; i++)
        n += f->sent[i].method && strcmp(f->sent[i].method, method) == 0;
    return n;
}

__attribute__((format(printf, 3, 4))) static inline void
fake_say_on(struct fake *f, uint64_t stream, const char *fmt, ...)
{
    struct cs_buf b = {0};
    char small[1];
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(small, 1, fmt, ap);
    vsnprintf(cs_buf_room(&b, (size_t)n + 1), (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    f->heard++;
    /* A block of exactly that size, so that the sanitizer sees one byte too many. */
    char *exact = cs_realloc(NULL, (size_t)n + (n == 0), 1);
    memcpy(exact, b.at, (size_t)n);
    cs_buf_done(&b);
    if (f->open && !f->ending)
        f->base.events->message(f->base.ctx, cs_strn(exact, (size_t)n), stream);
    free(exact);
    fake_turn(f);
}

#define fake_say(f, ...) fake_say_on(f, 0, __VA_ARGS__)

/* The id of a request as it was sent, quotes and all. */
static inline const char *fake_id(const struct fake_sent *s)
{
    static char id[40];
    const char *at = strstr(s->json, "\"id\":") + 5;
    snprintf(id, sizeof id, "%.*s", (int)strcspn(at, ","), at);
    return id;
}

static inline void fake_answer(struct fake *f, const struct fake_sent *to, const char *result)
{
    char id[40];
    snprintf(id, sizeof id, "%s", fake_id(to));
    fake_say(f, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}", id, result);
}

static inline void fake_error(struct fake *f, const struct fake_sent *to, int code,
                              const char *data)
{
    char id[40];
    snprintf(id, sizeof id, "%s", fake_id(to));
    fake_say(f,
             "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"no way\"%s%s}}",
             id, code, data ? ",\"data\":" : "", data ? data : "");
}

#define FAKE_DISCOVERED                                                               \
    "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"            \
    "\"capabilities\":{\"tools\":{\"listChanged\":true}},\"ttlMs\":0,\"cacheScope\":" \
    "\"private\",\"instructions\":\"be kind\",\"_meta\":{\"io.modelcontextprotocol/"  \
    "serverInfo\":{\"name\":\"new\",\"version\":\"2\"}}}"
#define FAKE_INITIALIZED                                                                       \
    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{\"listChanged\":true}}," \
    "\"serverInfo\":{\"name\":\"old\",\"version\":\"1\"}}"
#define FAKE_TOOLS "{\"tools\":[{\"name\":\"one\",\"inputSchema\":{\"type\":\"object\"}}]}"

/* Connects to the end, in the era of the server's entry (legacy unless that is modern). */
static inline void fake_ready(struct fake *f)
{
    if (f->server.era == CS_ERA_AUTO)
        f->server.era = CS_ERA_LEGACY;
    if (!f->client)
        fake_client(f);
    cs_client_connect(f->client);
    fake_turn(f);
    if (f->server.era == CS_ERA_MODERN)
        fake_answer(f, fake_last(f), FAKE_DISCOVERED);
    else
        fake_answer(f, fake_last(f), FAKE_INITIALIZED);
    fake_answer(f, fake_last(f), FAKE_TOOLS);
    assert(cs_client_info(f->client)->state == CS_CLIENT_READY);
}

static inline struct cs_client_call *fake_call(struct fake *f, const char *tool,
                                               const char *arguments)
{
    struct cs_client_request request = {
        .tool = cs_str(tool), .arguments = cs_str(arguments), .timeout_ms = 1000};
    struct cs_client_call *call = cs_client_call(f->client, &request, fake_progress, fake_done, f);
    fake_turn(f);
    return call;
}

#endif

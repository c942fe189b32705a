/*
 * A server of a few routes through http.h, for tests. Prints one JSON object per line for what
 * happens: {"event":"listening","port":N} first.
 *
 * http_probe [--OPTION VALUE]...     with the names of struct cs_http_options, and:
 *     --drain MS, --close MS         after so long
 *
 *     any  /echo          what was asked, as JSON
 *     any  /body          the body, as it came; ?type= of the answer
 *     GET  /big?bytes=N   so many bytes of text
 *     GET  /later?ms=N    the answer after so long
 *     GET  /never         no answer at all
 *     GET  /stream?count=N&ms=M&bytes=B    N events with M ms between them; N 0: none, for ever
 *     GET  /flood         as many bytes as are taken
 *     GET  /set?name=N&value=V   an answer with this header
 *     any  /small         a body of 10 bytes at most
 *     any  /early         answered by `head`
 *     GET  /state         connections, and bytes of memory in use
 *     GET  /drain, /close   begin to
 * SIGTERM closes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "http/http.h"

struct probe {
    uv_loop_t loop;
    struct cs_http *http;
    struct cs_http_options options;
    uv_timer_t drain, close;
    uv_signal_t term;
    uv_poll_t pipe; /* of somebody else, whose descriptor has the number that the listener had */
    int pipe_fds[2];
    bool closing, piped;
    unsigned held;
};

/* An exchange that is not answered at once. */
struct held {
    uv_timer_t timer; /* first */
    struct probe *p;
    struct cs_exchange *x;
    uint64_t left;
    size_t bytes;
    bool forever, flood;
};

static void say(const char *event, const char *key, uint64_t value)
{
    printf("{\"event\":\"%s\",\"%s\":%" PRIu64 "}\n", event, key, value);
    fflush(stdout);
}

static void say_path(const char *event, const struct cs_exchange *x)
{
    struct cs_str path = cs_exchange_path(x);
    printf("{\"event\":\"%s\",\"path\":\"%.*s\"}\n", event, CS_STR_ARG(path));
    fflush(stdout);
}

static uint64_t number(const struct cs_exchange *x, const char *name, uint64_t otherwise)
{
    struct cs_str s = cs_exchange_query(x, name);
    char text[24] = "";
    if (!s.at || s.len >= sizeof text)
        return otherwise;
    memcpy(text, s.at, s.len);
    return strtoull(text, NULL, 10);
}

static void reply_text(struct cs_exchange *x, const char *text)
{
    cs_exchange_reply(x, 200, "text/plain", cs_str(text));
}

static void echo(struct probe *p, struct cs_exchange *x)
{
    CS_AUTO_BUF struct cs_buf b = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&b);
    const struct {
        const char *key;
        struct cs_str value;
    } texts[] = {{"method", cs_exchange_method(x)},
                 {"path", cs_exchange_path(x)},
                 {"peer", cs_exchange_peer(x)},
                 {"q", cs_exchange_query(x, "q")},
                 {"header", cs_exchange_header(x, "X-Test")},
                 {"body", cs_exchange_body(x)}};
    (void)p;
    cs_json_open(&w, '{');
    for (size_t i = 0; i < CS_COUNT(texts); i++) {
        cs_json_key(&w, texts[i].key);
        if (texts[i].value.at)
            cs_json_put_str(&w, texts[i].value);
        else
            cs_json_put_raw(&w, CS_STR("null"));
    }
    cs_json_key(&w, "headers");
    cs_json_put_u64(&w, cs_exchange_header_count(x, "x-test"));
    cs_json_key(&w, "loopback");
    cs_json_put_bool(&w, cs_exchange_is_loopback(x));
    cs_json_key(&w, "tls");
    cs_json_put_bool(&w, cs_exchange_is_tls(x));
    cs_json_close(&w, '}');
    cs_exchange_reply(x, 200, "application/json", cs_buf_str(&b));
}

static void body(struct probe *p, struct cs_exchange *x)
{
    (void)p;
    cs_exchange_reply(x, 200, "application/json", cs_exchange_body(x));
}

static void big(struct probe *p, struct cs_exchange *x)
{
    CS_AUTO_BUF struct cs_buf b = {0};
    uint64_t n = number(x, "bytes", 1000);
    (void)p;
    while (b.len < n)
        cs_buf_printf(&b, "%zu,", b.len);
    cs_exchange_reply(x, 200, cs_exchange_query(x, "type").at ? "image/png" : "text/plain",
                      cs_strn(b.at, n));
}

static void on_released(uv_handle_t *handle)
{
    struct held *h = (struct held *)handle;
    h->p->held--;
    free(h);
}

static void release(struct held *h)
{
    if (!uv_is_closing((uv_handle_t *)&h->timer))
        uv_close((uv_handle_t *)&h->timer, on_released);
}

static void on_gone(void *ctx, struct cs_exchange *x)
{
    say_path("gone", x);
    release(ctx);
}

static struct held *hold(struct probe *p, struct cs_exchange *x, uv_timer_cb on, uint64_t ms,
                         uint64_t each)
{
    struct held *h = CS_NEW(struct held);
    h->p = p;
    h->x = x;
    p->held++;
    uv_timer_init(&p->loop, &h->timer);
    if (on)
        uv_timer_start(&h->timer, on, ms, each);
    cs_exchange_on_gone(x, on_gone, h);
    return h;
}

static void on_later(uv_timer_t *timer)
{
    struct held *h = (struct held *)timer;
    reply_text(h->x, "later\n");
    release(h);
}

static void later(struct probe *p, struct cs_exchange *x)
{
    hold(p, x, on_later, number(x, "ms", 100), 0);
}

static void never(struct probe *p, struct cs_exchange *x)
{
    say_path("held", x);
    hold(p, x, NULL, 0, 0);
}

static void on_event(uv_timer_t *timer)
{
    struct held *h = (struct held *)timer;
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_buf_printf(&b, "data: %" PRIu64 "\n\n", h->left);
    while (b.len < h->bytes)
        cs_buf_puts(&b, ": padding\n");
    if (h->left-- > 0) {
        if (!cs_exchange_write(h->x, cs_buf_str(&b)))
            uv_timer_stop(timer);
        return;
    }
    cs_exchange_end(h->x);
    release(h);
}

static void stream(struct probe *p, struct cs_exchange *x)
{
    uint64_t count = number(x, "count", 3), ms = number(x, "ms", 20);
    struct held *h = hold(p, x, count ? on_event : NULL, ms, ms ? ms : 1);
    h->left = count;
    h->bytes = number(x, "bytes", 0);
    say_path("held", x);
    cs_exchange_stream(x, 200, "text/event-stream");
    if (number(x, "now", 0))
        cs_exchange_write(x, CS_STR(": now\n\n"));
}

static void flood(struct probe *p, struct cs_exchange *x)
{
    struct held *h = hold(p, x, on_event, 1, 1);
    h->left = UINT64_MAX;
    h->bytes = 100000;
    cs_exchange_stream(x, 200, "text/event-stream");
}

static void set(struct probe *p, struct cs_exchange *x)
{
    (void)p;
    struct cs_str name = cs_exchange_query(x, "name"), value = cs_exchange_query(x, "value");
    CS_AUTO_FREE char *z = cs_strndup(name.at ? name.at : "", name.len);
    cs_exchange_set(x, z, CS_STR("first"));
    cs_exchange_set(x, z, value);
    reply_text(x, "set\n");
}

static void state(struct probe *p, struct cs_exchange *x)
{
    CS_AUTO_BUF struct cs_buf b = {0};
    struct mallinfo2 m = mallinfo2();
    cs_buf_printf(&b, "{\"connections\":%u,\"held\":%u,\"memory\":%zu}\n",
                  cs_http_connections(p->http), p->held, m.uordblks + m.hblkhd);
    cs_exchange_reply(x, 200, "application/json", cs_buf_str(&b));
}

static void on_closed(void *ctx)
{
    struct probe *p = ctx;
    say("closed", "held", p->held);
    if (p->piped)
        (void)!write(p->pipe_fds[1], "x", 1);
    uv_close((uv_handle_t *)&p->drain, NULL);
    uv_close((uv_handle_t *)&p->close, NULL);
    uv_close((uv_handle_t *)&p->term, NULL);
}

static void begin_close(struct probe *p)
{
    if (!p->closing)
        cs_http_close(p->http, on_closed, p);
    p->closing = true;
}

static void on_pipe(uv_poll_t *poll, int status, int events)
{
    struct probe *p = poll->data;
    (void)status, (void)events;
    say("heard", "fd", (uint64_t)p->pipe_fds[0]);
    uv_close((uv_handle_t *)poll, NULL);
    close(p->pipe_fds[0]);
    close(p->pipe_fds[1]);
}

static void drain(struct probe *p, struct cs_exchange *x)
{
    cs_http_drain(p->http);
    if (!p->piped && pipe2(p->pipe_fds, O_CLOEXEC | O_NONBLOCK) == 0) {
        uv_poll_init(&p->loop, &p->pipe, p->pipe_fds[0]);
        p->pipe.data = p;
        uv_poll_start(&p->pipe, UV_READABLE, on_pipe);
        p->piped = true;
    }
    reply_text(x, "draining\n");
}

static void close_now(struct probe *p, struct cs_exchange *x)
{
    hold(p, x, NULL, 0, 0);
    begin_close(p);
}

static const struct {
    const char *path;
    void (*serve)(struct probe *p, struct cs_exchange *x);
} routes[] = {{"/echo", echo},   {"/body", body},     {"/big", big},     {"/later", later},
              {"/never", never}, {"/stream", stream}, {"/flood", flood}, {"/set", set},
              {"/small", body},  {"/state", state},   {"/drain", drain}, {"/close", close_now}};

static void on_request(void *ctx, struct cs_exchange *x)
{
    for (size_t i = 0; i < CS_COUNT(routes); i++)
        if (cs_str_is(cs_exchange_path(x), routes[i].path)) {
            routes[i].serve(ctx, x);
            return;
        }
    echo(ctx, x);
}

static void on_head(void *ctx, struct cs_exchange *x)
{
    (void)ctx;
    if (cs_str_is(cs_exchange_path(x), "/small"))
        cs_exchange_expect(x, 10);
    if (cs_str_is(cs_exchange_path(x), "/early"))
        cs_exchange_reply(x, 401, "text/plain", CS_STR("early\n"));
}

static void on_nobodys_gone(void *ctx, struct cs_exchange *x)
{
    (void)ctx;
    say_path("nobody", x);
}

static void on_drain(uv_timer_t *timer)
{
    cs_http_drain(((struct probe *)timer->data)->http);
}

static void on_close(uv_timer_t *timer)
{
    begin_close(timer->data);
}

static void on_term(uv_signal_t *handle, int signum)
{
    (void)signum;
    begin_close(handle->data);
}

static bool option(struct probe *p, const char *name, const char *value)
{
    struct cs_http_options *o = &p->options;
    const struct {
        const char *name;
        const char **text;
        uint32_t *small;
        uint64_t *large;
    } all[] = {{"--host", &o->host, NULL, NULL},
               {"--tls_cert", &o->tls_cert, NULL, NULL},
               {"--tls_key", &o->tls_key, NULL, NULL},
               {"--max_connections", NULL, &o->max_connections, NULL},
               {"--head_bytes", NULL, &o->head_bytes, NULL},
               {"--body_bytes", NULL, NULL, &o->body_bytes},
               {"--request_ms", NULL, &o->request_ms, NULL},
               {"--idle_ms", NULL, &o->idle_ms, NULL},
               {"--unsent_bytes", NULL, NULL, &o->unsent_bytes},
               {"--compress_bytes", NULL, NULL, &o->compress_bytes}};
    if (strcmp(name, "--port") == 0) {
        o->port = (uint16_t)strtoul(value, NULL, 10);
        return true;
    }
    for (size_t i = 0; i < CS_COUNT(all); i++) {
        if (strcmp(name, all[i].name) != 0)
            continue;
        if (all[i].text)
            *all[i].text = value;
        else if (all[i].small)
            *all[i].small = (uint32_t)strtoul(value, NULL, 10);
        else
            *all[i].large = strtoull(value, NULL, 10);
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    struct probe p = {.options = {.host = "127.0.0.1",
                                  .max_connections = 100,
                                  .head_bytes = 16384,
                                  .body_bytes = 1 << 20,
                                  .request_ms = 10000,
                                  .idle_ms = 60000,
                                  .unsent_bytes = 1 << 20,
                                  .compress_bytes = 1000}};
    const struct cs_http_handler handler = {on_head, on_request, on_nobodys_gone};
    uint64_t drain_ms = 0, close_ms = 0;
    struct cs_err err = {0};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--drain") == 0)
            drain_ms = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--close") == 0)
            close_ms = strtoull(argv[i + 1], NULL, 10);
        else if (!option(&p, argv[i], argv[i + 1])) {
            fprintf(stderr, "http_probe: what is '%s'?\n", argv[i]);
            return 2;
        }
    }
    uv_loop_init(&p.loop);
    if (cs_http_listen(&p.loop, &p.options, &handler, &p, &p.http, &err) < 0) {
        fprintf(stderr, "http_probe: %s: %s\n", cs_code_name(err.code), err.msg);
        uv_loop_close(&p.loop);
        return 1;
    }
    say("listening", "port", cs_http_port(p.http));
    uv_timer_init(&p.loop, &p.drain);
    uv_timer_init(&p.loop, &p.close);
    uv_signal_init(&p.loop, &p.term);
    p.drain.data = p.close.data = p.term.data = &p;
    uv_signal_start(&p.term, on_term, SIGTERM);
    if (drain_ms)
        uv_timer_start(&p.drain, on_drain, drain_ms, 0);
    if (close_ms)
        uv_timer_start(&p.close, on_close, close_ms, 0);
    uv_run(&p.loop, UV_RUN_DEFAULT);
    return uv_loop_close(&p.loop) == 0 ? 0 : 3;
}

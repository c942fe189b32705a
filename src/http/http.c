#include "http/http.h"

#include <sys/epoll.h>

#include "base/mem.h"
#include "http/inside.h"

#define PATIENCE   4 /* see plan_next */
#define AGAIN_MS   10
#define PROBE_MS   1000
#define LINGER_MS  2000
#define POOL_EXTRA 4096 /* of a connection, beside its head: what libmicrohttpd notes, answers */

/* --- libmicrohttpd's turn --- */

static void on_soon(uv_idle_t *idle);
static void on_again(uv_timer_t *timer);

static void run_soon(struct cs_http *http)
{
    if (!http->closing)
        uv_idle_start(&http->soon, on_soon);
}

/* There is something to do: an answer, after which the next request may be there already, without
 * an event of its own. */
void cs_http_run_soon(struct cs_http *http)
{
    http->in_vain = 0;
    run_soon(http);
}

/*
 * What libmicrohttpd wants to do without an event. Over TLS it also says so of a handshake that
 * waits for its peer, for as long as it waits: after a few times in vain it is asked less often,
 * or one such peer would keep us busy.
 */
static void plan_next(struct cs_http *http)
{
    MHD_UNSIGNED_LONG_LONG ms = 0;
    if (http->mhd->get_timeout(http->daemon, &ms) != MHD_YES)
        return;
    if (ms == 0 && http->in_vain < PATIENCE)
        run_soon(http);
    else
        uv_timer_start(&http->again, on_again, ms > AGAIN_MS ? ms : AGAIN_MS, 0);
    http->in_vain++;
}

static void run(struct cs_http *http)
{
    uv_idle_stop(&http->soon);
    http->mhd->run(http->daemon);
    plan_next(http);
}

/* A timer cannot do this: one of 0 ms that starts itself again keeps libuv from all else. */
static void on_soon(uv_idle_t *idle)
{
    run(idle->data);
}

static void on_again(uv_timer_t *timer)
{
    run(timer->data);
}

static void on_turn(uv_poll_t *poll, int status, int events)
{
    struct cs_http *http = poll->data;
    (void)status, (void)events;
    http->in_vain = 0;
    run(http);
}

/* Names and values stay as they came: we decode them ourselves, once. */
static size_t leave_escaped(void *ctx, struct MHD_Connection *mhd, char *text)
{
    (void)ctx, (void)mhd;
    return strlen(text);
}

/* --- the end --- */

static void finish(struct cs_http *http)
{
    if (http->handles > 0 || http->squeezing > 0)
        return;
    void (*closed)(void *ctx) = http->closed;
    void *ctx = http->closed_ctx;
    cs_closep(&http->fd);
    cs_closep(&http->watch_fd);
    cs_closep(&http->spare_fd);
    free(http);
    if (closed)
        closed(ctx);
}

void cs_http_squeezed(struct cs_http *http)
{
    http->squeezing--;
    if (http->closing)
        finish(http);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct cs_http *http = handle->data;
    http->handles--;
    finish(http);
}

/* The handle before the descriptor: libuv forgets whatever has that number when a handle closes. */
static void close_listener(struct cs_http *http)
{
    if (!http->listening)
        return;
    http->listening = false;
    uv_close((uv_handle_t *)&http->listener, on_handle_closed);
    cs_closep(&http->fd);
}

/* In a turn of its own: nobody above us on the stack knows any of what is freed here. */
static void on_close(uv_timer_t *timer)
{
    struct cs_http *http = timer->data;
    uv_handle_t *const handles[] = {(uv_handle_t *)&http->turn, (uv_handle_t *)&http->watch,
                                    (uv_handle_t *)&http->timer, (uv_handle_t *)&http->again,
                                    (uv_handle_t *)&http->soon};
    for (size_t i = 0; i < CS_COUNT(handles); i++)
        uv_close(handles[i], on_handle_closed);
    for (struct cs_connection *c = http->connections; c; c = c->after)
        cs_http_resume(c);
    http->mhd->stop_daemon(http->daemon);
    while (http->connections)
        cs_http_linger_end(http->connections);
}

void cs_http_close(struct cs_http *http, void (*closed)(void *ctx), void *ctx)
{
    http->closed = closed;
    http->closed_ctx = ctx;
    http->closing = true;
    close_listener(http);
    for (struct cs_connection *c = http->connections; c; c = c->after)
        if (c->x)
            cs_exchange_say_gone(c->x);
    uv_timer_start(&http->timer, on_close, 0, 0);
}

void cs_http_drain(struct cs_http *http)
{
    http->draining = true;
    close_listener(http);
    for (struct cs_connection *c = http->connections; c; c = c->after)
        if (c->waiter.wait == CS_WAIT_IDLE && !cs_http_has_begun(c))
            cs_http_shut(c);
}

/* --- the begin --- */

static int start_daemon(struct cs_http *http, const struct cs_http_options *o, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf cert = {0}, key = {0};
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET;
    struct MHD_OptionItem tls[] = {{MHD_OPTION_END, 0, NULL},
                                   {MHD_OPTION_END, 0, NULL},
                                   {MHD_OPTION_END, 0, NULL},
                                   {MHD_OPTION_END, 0, NULL}};
    if (o->tls_cert || o->tls_key) {
        if (cs_http_read_tls(o->tls_cert, o->tls_key, &cert, &key, err) < 0)
            return -1;
        static char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
        flags |= MHD_USE_TLS;
        http->tls = true;
        cs_buf_cstr(&cert);
        cs_buf_cstr(&key);
        tls[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, cert.at};
        tls[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, key.at};
        tls[2] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, priorities};
    }
    http->daemon = http->mhd->start_daemon(
        flags, 0, NULL, NULL, cs_http_on_request, http,                         /**/
        MHD_OPTION_URI_LOG_CALLBACK, cs_http_on_target, http,                   /**/
        MHD_OPTION_NOTIFY_COMPLETED, cs_http_on_completed, http,                /**/
        MHD_OPTION_NOTIFY_CONNECTION, cs_http_on_connection, http,              /**/
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,                      /**/
        MHD_OPTION_CONNECTION_LIMIT, o->max_connections + CS_HTTP_ROOM,         /**/
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)o->head_bytes + POOL_EXTRA, /**/
        MHD_OPTION_CONNECTION_TIMEOUT, 0u, /* the deadlines are ours */
        MHD_OPTION_STRICT_FOR_CLIENT, 0,   /**/
        MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    if (!http->daemon)
        return cs_fail(err, CS_SYSTEM, "the HTTP server does not start%s",
                       http->tls ? ": is the certificate one that GnuTLS can use?" : "");
    return 0;
}

static void start_poll(struct cs_http *http, uv_poll_t *poll, int fd, uv_poll_cb on)
{
    uv_poll_init(http->loop, poll, fd);
    poll->data = http;
    http->handles++;
    uv_poll_start(poll, UV_READABLE, on);
}

static void start_timer(struct cs_http *http, uv_timer_t *timer)
{
    uv_timer_init(http->loop, timer);
    timer->data = http;
    http->handles++;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void set_times(struct cs_http *http)
{
    const struct cs_http_options *o = &http->options;
    http->waiters[CS_WAIT_IDLE].ms = least(o->idle_ms, o->request_ms / 4) + 1;
    http->waiters[CS_WAIT_REQUEST].ms = o->request_ms;
    http->waiters[CS_WAIT_TAKE].ms = o->idle_ms;
    http->waiters[CS_WAIT_PROBE].ms = PROBE_MS;
    http->waiters[CS_WAIT_LINGER].ms = LINGER_MS;
}

static void forget(struct cs_http *http)
{
    cs_closep(&http->fd);
    cs_closep(&http->watch_fd);
    cs_closep(&http->spare_fd);
    free(http);
}

int cs_http_listen(uv_loop_t *loop, const struct cs_http_options *options,
                   const struct cs_http_handler *handler, void *ctx, struct cs_http **out,
                   struct cs_err *err)
{
    struct cs_http *http = CS_NEW(struct cs_http);
    *http = (struct cs_http){.loop = loop,
                             .options = *options,
                             .handler = *handler,
                             .ctx = ctx,
                             .fd = -1,
                             .watch_fd = epoll_create1(EPOLL_CLOEXEC),
                             .spare_fd = cs_http_spare()};
    cs_http_raise_files();
    if (cs_mhd_load(&http->mhd, err) < 0 ||
        cs_http_bind(options->host, options->port, &http->fd, &http->port, err) < 0 ||
        start_daemon(http, options, err) < 0) {
        forget(http);
        return -1;
    }
    set_times(http);
    int turn = http->mhd->get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    start_poll(http, &http->listener, http->fd, cs_http_on_accept);
    start_poll(http, &http->turn, turn, on_turn);
    start_poll(http, &http->watch, http->watch_fd, cs_http_on_watch);
    start_timer(http, &http->timer);
    start_timer(http, &http->again);
    uv_idle_init(loop, &http->soon);
    http->soon.data = http;
    http->handles++;
    http->listening = true;
    http->options.host = http->options.tls_cert = http->options.tls_key = NULL;
    *out = http;
    return 0;
}

uint16_t cs_http_port(const struct cs_http *http)
{
    return http->port;
}

unsigned cs_http_connections(const struct cs_http *http)
{
    return http->count;
}

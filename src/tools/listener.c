#include "tools/listener.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tools/url.h"

#define DEFAULT_PATH "/callback"
#define PATIENCE_MS  5000u /* for an answer to be taken after the listener was closed */

struct peer {
    uv_tcp_t tcp; /* first */
    struct cs_listener *listener;
    struct peer *next;
    struct cs_buf head, page;
    uv_write_t write;
    bool answering, closing;
};

struct cs_listener {
    uv_tcp_t tcp;
    uv_timer_t timer;
    struct peer *peers; /* the newest first */
    unsigned count, handles;
    char *uri, *path;
    cs_listener_answer *answer;
    void *ctx;
    bool closing;
};

static void handle_gone(struct cs_listener *l)
{
    if (--l->handles > 0)
        return;
    free(l->uri);
    free(l->path);
    free(l);
}

static void part_gone(uv_handle_t *handle)
{
    handle_gone(handle->data);
}

static void finish_if_idle(struct cs_listener *l)
{
    if (l->closing && !l->peers && !uv_is_closing((uv_handle_t *)&l->timer))
        uv_close((uv_handle_t *)&l->timer, part_gone);
}

static void peer_gone(uv_handle_t *handle)
{
    struct peer *p = (struct peer *)handle;
    struct cs_listener *l = p->listener;
    cs_buf_done(&p->head);
    cs_buf_done(&p->page);
    free(p);
    handle_gone(l);
}

static void peer_close(struct peer *p)
{
    if (p->closing)
        return;
    p->closing = true;
    struct cs_listener *l = p->listener;
    for (struct peer **at = &l->peers; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            l->count--;
            break;
        }
    uv_close((uv_handle_t *)&p->tcp, peer_gone);
    finish_if_idle(l);
}

static void on_written(uv_write_t *write, int status)
{
    (void)status;
    peer_close(write->data);
}

/* The text is ours, or was checked to be plain: nothing of the request is shown. */
static void reply(struct peer *p, const char *status, const char *title, const char *text)
{
    CS_AUTO_BUF struct cs_buf html = {0};
    cs_buf_printf(&html,
                  "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
                  "<meta name=\"viewport\" content=\"width=device-width\"><title>%s</title>"
                  "<style>body{font:18px/1.5 system-ui,sans-serif;max-width:32em;margin:20vh auto;"
                  "padding:0 1em}@media(prefers-color-scheme:dark){body{background:#111;"
                  "color:#eee}}</style><h1>%s</h1><p>%s</p></html>\n",
                  title, title, text);
    cs_buf_printf(&p->page,
                  "HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n"
                  "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
                  "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n"
                  "Connection: close\r\n\r\n",
                  status, html.len);
    cs_buf_putstr(&p->page, cs_buf_str(&html));
    p->answering = true;
    uv_read_stop((uv_stream_t *)&p->tcp);
    uv_buf_t buf = uv_buf_init(p->page.at, (unsigned)p->page.len);
    p->write.data = p;
    if (uv_write(&p->write, (uv_stream_t *)&p->tcp, &buf, 1, on_written) != 0)
        peer_close(p);
}

/* The target of "GET /callback?code=... HTTP/1.1". */
static bool target(struct cs_str head, struct cs_str *out)
{
    if (!cs_str_starts(head, "GET /"))
        return false;
    const char *end = memchr(head.at + 4, ' ', head.len - 4);
    const char *line = memchr(head.at, '\r', head.len);
    if (!end || !line || end > line ||
        !cs_str_starts(cs_strn(end, head.len - (size_t)(end - head.at)), " HTTP/1."))
        return false;
    *out = cs_strn(head.at + 4, (size_t)(end - head.at) - 4);
    return true;
}

static void take_request(struct peer *p)
{
    struct cs_listener *l = p->listener;
    struct cs_str whole = {0}, path, query = {0};
    if (!target(cs_buf_str(&p->head), &whole)) {
        reply(p, "400 Bad Request", "Not understood", "This is no request that Caisson knows.");
        return;
    }
    const char *question = memchr(whole.at, '?', whole.len);
    path = cs_strn(whole.at, question ? (size_t)(question - whole.at) : whole.len);
    if (question)
        query = cs_strn(question, whole.len - path.len);
    if (!cs_str_is(path, l->path) || l->closing) {
        reply(p, "404 Not Found", "Not here", "Caisson only waits for the answer of a login here.");
        return;
    }
    bool ok = false;
    p->answering = true; /* so that a close from within leaves it alone */
    const char *text = l->answer(l->ctx, query, &ok);
    reply(p, ok ? "200 OK" : "400 Bad Request", ok ? "You are logged in" : "The login failed",
          text);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)suggested;
    struct peer *p = (struct peer *)handle;
    size_t room = CS_LISTENER_HEAD - p->head.len;
    *buf = uv_buf_init(room ? cs_buf_room(&p->head, room) : NULL, (unsigned)room);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    (void)buf;
    struct peer *p = (struct peer *)stream;
    if (n < 0) { /* the end, or more than fits */
        peer_close(p);
        return;
    }
    cs_buf_added(&p->head, (size_t)n);
    if (memmem(p->head.at, p->head.len, "\r\n\r\n", 4))
        take_request(p);
    else if (p->head.len == CS_LISTENER_HEAD)
        peer_close(p);
}

static void on_connection(uv_stream_t *server, int status)
{
    struct cs_listener *l = server->data;
    if (status < 0 || l->closing)
        return;
    struct peer *p = CS_NEW(struct peer);
    p->listener = l;
    uv_tcp_init(server->loop, &p->tcp);
    l->handles++;
    if (uv_accept(server, (uv_stream_t *)&p->tcp) != 0) {
        p->closing = true;
        uv_close((uv_handle_t *)&p->tcp, peer_gone);
        return;
    }
    p->next = l->peers;
    l->peers = p;
    if (++l->count > CS_LISTENER_PEERS) {
        struct peer *oldest = p;
        while (oldest->next)
            oldest = oldest->next;
        peer_close(oldest);
    }
    if (uv_read_start((uv_stream_t *)&p->tcp, on_alloc, on_read) != 0)
        peer_close(p);
}

static struct sockaddr_in address(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int listen_on(struct cs_listener *l, uint16_t port)
{
    struct sockaddr_in a = address(port);
    int status = uv_tcp_bind(&l->tcp, (const struct sockaddr *)&a, 0);
    return status ? status : uv_listen((uv_stream_t *)&l->tcp, 16, on_connection);
}

/* Nobody else has the port. A handle that failed to listen would be of no more use. */
static bool port_is_free(uint16_t port)
{
    struct sockaddr_in a = address(port);
    int yes = 1;
    CS_AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
           bind(fd, (const struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 1) == 0;
}

int cs_listener_start(uv_loop_t *loop, const char *redirect, const char *like,
                      cs_listener_answer *answer, void *ctx, struct cs_listener **listener,
                      struct cs_err *err)
{
    struct cs_url url = {0};
    uint16_t port = 0;
    struct cs_str path = CS_STR(DEFAULT_PATH);
    if (redirect) {
        if (cs_url_parse(cs_str(redirect), &url, err) < 0)
            return cs_wrap(err, "redirect address");
        if (url.https || !cs_url_loopback(&url))
            return cs_fail(err, CS_INVALID,
                           "the redirect address must be http on localhost or 127.0.0.1");
        port = url.port;
        path = url.path.len ? url.path : CS_STR("/");
    } else if (like && cs_url_parse(cs_str(like), &url, NULL) == 0 && port_is_free(url.port)) {
        port = url.port;
    }
    struct cs_listener *l = CS_NEW(struct cs_listener);
    l->answer = answer;
    l->ctx = ctx;
    l->path = cs_strndup(path.at, path.len);
    uv_timer_init(loop, &l->timer);
    uv_tcp_init(loop, &l->tcp);
    l->timer.data = l->tcp.data = l;
    l->handles = 2;
    int status = listen_on(l, port);
    if (status) {
        cs_listener_close(l);
        return cs_fail(err, CS_SYSTEM, "cannot listen on 127.0.0.1 port %u for the login: %s", port,
                       uv_strerror(status));
    }
    struct sockaddr_in bound = {0};
    int size = (int)sizeof bound;
    uv_tcp_getsockname(&l->tcp, (struct sockaddr *)&bound, &size);
    CS_AUTO_BUF struct cs_buf uri = {0};
    if (redirect)
        cs_buf_puts(&uri, redirect);
    else
        cs_buf_printf(&uri, "http://127.0.0.1:%u%s", ntohs(bound.sin_port), DEFAULT_PATH);
    l->uri = cs_strdup(cs_buf_cstr(&uri));
    *listener = l;
    return 0;
}

const char *cs_listener_uri(const struct cs_listener *l)
{
    return l->uri;
}

static void on_patience(uv_timer_t *timer)
{
    struct cs_listener *l = timer->data;
    while (l->peers)
        peer_close(l->peers);
}

void cs_listener_close(struct cs_listener *l)
{
    if (!l || l->closing)
        return;
    l->closing = true;
    uv_close((uv_handle_t *)&l->tcp, part_gone);
    for (struct peer *p = l->peers, *next; p; p = next) {
        next = p->next;
        if (!p->answering)
            peer_close(p);
    }
    if (l->peers)
        uv_timer_start(&l->timer, on_patience, PATIENCE_MS, 0);
    finish_if_idle(l);
}

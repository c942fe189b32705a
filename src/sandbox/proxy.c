#include "sandbox/proxy.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "sandbox/proxy_head.h"

#define CONNECTIONS 64
#define CHUNK       (64u << 10)
#define TRIES       4 /* addresses of one host */

/* How long a head may take, finding and reaching the host, and silence in both directions. */
#define HEAD_MS    10000
#define CONNECT_MS 20000
#define IDLE_MS    (10 * 60 * 1000)

struct connection;

/* One direction: a chunk is read, then written, and only then the next is read. */
struct flow {
    struct connection *connection;
    uv_tcp_t *from, *to;
    char *chunk;
    uint64_t left; /* bytes that may still pass */
    bool ended;
    uv_write_t write;
    uv_shutdown_t shutdown;
};

struct connection {
    struct cs_proxy *proxy;
    struct connection *next;
    uv_tcp_t client, host;
    uv_timer_t timer;
    unsigned open; /* handles and requests that libuv still has */
    bool has_host;
    bool resolving;
    bool answered; /* by ourselves: nothing else is to happen */
    bool closing;
    struct cs_buf in; /* the head, and what came with it */
    size_t looked_at;
    struct cs_proxy_request request;
    uv_getaddrinfo_t resolve;
    uv_connect_t connect;
    struct addrinfo *found, *candidate;
    unsigned tries;
    struct cs_buf out; /* the first bytes to the host, or the last to the client */
    struct flow up, down;
};

struct cs_proxy {
    uv_tcp_t listener;
    struct cs_hosts hosts;
    struct connection *connections;
    unsigned count;
    bool waiting; /* one more wants to be accepted */
    bool closing, listener_closed;
};

/* ---- the end ---- */

static void accept_one(struct cs_proxy *p);

static void maybe_free(struct cs_proxy *p)
{
    if (!p->closing || !p->listener_closed || p->count > 0)
        return;
    cs_hosts_done(&p->hosts);
    free(p);
}

static void release(struct connection *c)
{
    if (--c->open > 0)
        return;
    struct cs_proxy *p = c->proxy;
    for (struct connection **at = &p->connections; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    p->count--;
    if (c->found)
        uv_freeaddrinfo(c->found);
    cs_buf_done(&c->in);
    cs_buf_done(&c->out);
    free(c->up.chunk);
    free(c->down.chunk);
    free(c);
    if (p->waiting && !p->closing)
        accept_one(p);
    maybe_free(p);
}

static void on_closed(uv_handle_t *h)
{
    release(h->data);
}

static void end(struct connection *c)
{
    if (c->closing)
        return;
    c->closing = true;
    if (c->resolving)
        uv_cancel((uv_req_t *)&c->resolve); /* its callback comes in any case */
    uv_close((uv_handle_t *)&c->client, on_closed);
    uv_close((uv_handle_t *)&c->timer, on_closed);
    if (c->has_host && !uv_is_closing((uv_handle_t *)&c->host))
        uv_close((uv_handle_t *)&c->host, on_closed);
}

static void on_answered(uv_write_t *w, int status)
{
    (void)status;
    end(w->data);
}

/* An answer of our own, after which the connection ends. */
static void __attribute__((format(printf, 4, 5)))
answer(struct connection *c, int status, const char *reason, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    c->answered = true;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    cs_buf_clear(&c->out);
    cs_buf_printf(&c->out,
                  "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
                  "Content-Length: %zu\r\nConnection: close\r\n\r\n%s\n",
                  status, reason, strlen(text) + 1, text);
    uv_buf_t buf = uv_buf_init(c->out.at, (unsigned)c->out.len);
    c->down.write.data = c;
    if (uv_write(&c->down.write, (uv_stream_t *)&c->client, &buf, 1, on_answered) != 0)
        end(c);
}

static void set_timer(struct connection *c, uint64_t ms);

static void on_timeout(uv_timer_t *t)
{
    struct connection *c = t->data;
    bool reaching = c->resolving || (c->has_host && !c->up.connection);
    if (!reaching || c->answered) {
        end(c);
        return;
    }
    set_timer(c, HEAD_MS);
    answer(c, 504, "host does not answer", "caisson: '%s' port %u does not answer.",
           c->request.name, (unsigned)c->request.port);
}

static void set_timer(struct connection *c, uint64_t ms)
{
    uv_timer_start(&c->timer, on_timeout, ms, 0);
}

/* ---- both directions ---- */

static void read_on(struct flow *f);

static void on_shut(uv_shutdown_t *s, int status)
{
    (void)s;
    (void)status;
}

/* A tunnel ends when both directions have; a request with its answer. */
static void flow_ended(struct flow *f)
{
    struct connection *c = f->connection;
    f->ended = true;
    bool answered = f == &c->down && !c->request.tunnel;
    if (answered || (c->up.ended && c->down.ended)) {
        end(c);
        return;
    }
    /* Of a request without more body the host is not told: it might take that for a hang-up. */
    if (c->request.tunnel)
        uv_shutdown(&f->shutdown, (uv_stream_t *)f->to, on_shut);
}

static void on_written(uv_write_t *w, int status)
{
    struct flow *f = w->data;
    struct connection *c = f->connection;
    if (c->closing)
        return;
    if (status < 0) {
        end(c);
        return;
    }
    if (f->left == 0)
        flow_ended(f);
    else
        read_on(f);
}

static void write_on(struct flow *f, char *bytes, size_t len)
{
    uv_buf_t buf = uv_buf_init(bytes, (unsigned)len);
    f->write.data = f;
    if (uv_write(&f->write, (uv_stream_t *)f->to, &buf, 1, on_written) != 0)
        end(f->connection);
}

static void on_chunk_room(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    (void)suggested;
    struct connection *c = h->data;
    struct flow *f = h == (uv_handle_t *)&c->client ? &c->up : &c->down;
    if (!f->chunk)
        f->chunk = cs_calloc(CHUNK, 1);
    *buf = uv_buf_init(f->chunk, CHUNK);
}

static void on_chunk(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
    (void)buf;
    struct connection *c = s->data;
    struct flow *f = s == (uv_stream_t *)&c->client ? &c->up : &c->down;
    if (n == 0)
        return;
    uv_read_stop(s);
    set_timer(c, IDLE_MS);
    if (n == UV_EOF)
        flow_ended(f);
    else if (n < 0)
        end(c);
    else {
        size_t len = (uint64_t)n < f->left ? (size_t)n : (size_t)f->left;
        f->left -= len;
        write_on(f, f->chunk, len);
    }
}

static void read_on(struct flow *f)
{
    if (uv_read_start((uv_stream_t *)f->from, on_chunk_room, on_chunk) != 0)
        end(f->connection);
}

/* The host is there: the head goes to it, or the good news to the client. */
static void begin(struct connection *c, size_t head)
{
    struct cs_str rest = cs_strn(c->in.at + head, c->in.len - head);
    const struct cs_proxy_request *r = &c->request;
    c->up = (struct flow){.connection = c, .from = &c->client, .to = &c->host, .left = UINT64_MAX};
    c->down =
        (struct flow){.connection = c, .from = &c->host, .to = &c->client, .left = UINT64_MAX};
    set_timer(c, IDLE_MS);
    if (!r->tunnel) {
        if (!r->chunked)
            c->up.left = r->body;
        cs_proxy_rewrite(cs_strn(c->in.at, head), r, &c->out);
    }
    if (rest.len > c->up.left)
        rest.len = (size_t)c->up.left;
    cs_buf_putstr(&c->out, rest);
    if (!r->chunked && !r->tunnel)
        c->up.left -= rest.len;
    static char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";
    if (r->tunnel)
        write_on(&c->down, established, sizeof established - 1);
    else
        read_on(&c->down);
    if (c->out.len > 0)
        write_on(&c->up, c->out.at, c->out.len);
    else
        read_on(&c->up);
}

/* ---- reaching the host ---- */

static void try_next(struct connection *c);

static void on_failed_closed(uv_handle_t *h)
{
    struct connection *c = h->data;
    c->has_host = false;
    if (!c->closing && !c->answered)
        try_next(c);
    release(c);
}

static void on_connected(uv_connect_t *req, int status)
{
    struct connection *c = req->data;
    if (c->closing || c->answered)
        return;
    if (status == 0) {
        begin(c, c->looked_at);
        return;
    }
    uv_close((uv_handle_t *)&c->host, on_failed_closed);
}

static void say_private(struct connection *c, const struct sockaddr *address)
{
    char text[INET6_ADDRSTRLEN] = "?";
    uv_ip_name(address, text, sizeof text);
    bool v6 = address->sa_family == AF_INET6;
    answer(c, 403, "not a public address",
           "caisson: '%s' is at %s, which is not an address of the public internet. To let this "
           "server reach it, add \"%s%s%s:%u\" to \"hosts\" of its \"jail\".",
           c->request.name, text, v6 ? "[" : "", text, v6 ? "]" : "", (unsigned)c->request.port);
}

/* The next address that may be reached; an answer if there is none. */
static void try_next(struct connection *c)
{
    const struct sockaddr *refused = NULL;
    for (; c->candidate && c->tries < TRIES; c->candidate = c->candidate->ai_next) {
        if (!cs_hosts_allow_address(&c->proxy->hosts, c->candidate->ai_addr, c->request.port)) {
            refused = c->candidate->ai_addr;
            continue;
        }
        c->tries++;
        if (uv_tcp_init(c->client.loop, &c->host) != 0)
            break;
        c->host.data = c;
        c->has_host = true;
        uv_tcp_nodelay(&c->host, 1);
        c->open++;
        c->connect.data = c;
        const struct sockaddr *address = c->candidate->ai_addr;
        c->candidate = c->candidate->ai_next;
        if (uv_tcp_connect(&c->connect, &c->host, address, on_connected) != 0)
            uv_close((uv_handle_t *)&c->host, on_failed_closed);
        return;
    }
    if (refused && c->tries == 0)
        say_private(c, refused);
    else
        answer(c, 502, "host cannot be reached", "caisson: '%s' port %u cannot be reached.",
               c->request.name, (unsigned)c->request.port);
}

static void on_resolved(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    struct connection *c = req->data;
    c->resolving = false;
    c->found = c->candidate = status == 0 ? found : NULL;
    if (!c->closing && !c->answered) {
        if (status == 0)
            try_next(c);
        else
            answer(c, 502, "host is not known", "caisson: there is no host '%s' (%s).",
                   c->request.name, uv_strerror(status));
    }
    release(c);
}

static void reach(struct connection *c)
{
    const struct cs_proxy_request *r = &c->request;
    if (!cs_hosts_allow(&c->proxy->hosts, r->name, r->port)) {
        bool v6 = strchr(r->name, ':') != NULL, usual = r->port == 443 || r->port == 80;
        char entry[CS_PROXY_NAME + 16], port[8] = "";
        if (!usual)
            snprintf(port, sizeof port, ":%u", (unsigned)r->port);
        snprintf(entry, sizeof entry, "%s%s%s%s", v6 ? "[" : "", r->name, v6 ? "]" : "", port);
        answer(c, 403, "host is not allowed",
               "caisson: this server may not reach '%s' port %u. To let it, add \"%s\" to "
               "\"hosts\" of its \"jail\".",
               r->name, (unsigned)r->port, entry);
        return;
    }
    char port[8];
    snprintf(port, sizeof port, "%u", (unsigned)r->port);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    set_timer(c, CONNECT_MS);
    c->resolve.data = c;
    if (uv_getaddrinfo(c->client.loop, &c->resolve, on_resolved, r->name, port, &hints) != 0)
        answer(c, 502, "host cannot be looked up", "caisson: '%s' cannot be looked up.", r->name);
    else {
        c->resolving = true;
        c->open++;
    }
}

/* ---- the head ---- */

static void on_head_room(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    (void)suggested;
    struct connection *c = h->data;
    size_t room = CS_PROXY_HEAD - c->in.len;
    *buf = uv_buf_init(cs_buf_room(&c->in, room), (unsigned)room);
}

static void on_head(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
    (void)buf;
    struct connection *c = s->data;
    if (n == 0)
        return;
    if (n < 0) {
        end(c);
        return;
    }
    cs_buf_added(&c->in, (size_t)n);
    size_t head = cs_proxy_head_end(cs_buf_str(&c->in), c->looked_at);
    c->looked_at = head ? head : c->in.len;
    if (!head && c->in.len < CS_PROXY_HEAD)
        return;
    uv_read_stop(s);
    if (!head)
        answer(c, 431, "head too large", "caisson: the head of a request has at most %u bytes.",
               CS_PROXY_HEAD);
    else if (!cs_proxy_parse(cs_strn(c->in.at, head), &c->request))
        answer(c, c->request.status, "request refused", "caisson: %s.", c->request.why);
    else
        reach(c);
}

/* ---- connections ---- */

static void accept_one(struct cs_proxy *p)
{
    p->waiting = p->count >= CONNECTIONS;
    if (p->waiting)
        return; /* libuv holds it until we take it */
    struct connection *c = CS_NEW(struct connection);
    uv_loop_t *loop = p->listener.loop;
    c->proxy = p;
    uv_tcp_init(loop, &c->client);
    uv_timer_init(loop, &c->timer);
    c->client.data = c->timer.data = c;
    c->open = 2;
    c->next = p->connections;
    p->connections = c;
    p->count++;
    if (uv_accept((uv_stream_t *)&p->listener, (uv_stream_t *)&c->client) != 0 ||
        uv_read_start((uv_stream_t *)&c->client, on_head_room, on_head) != 0) {
        end(c);
        return;
    }
    uv_tcp_nodelay(&c->client, 1);
    set_timer(c, HEAD_MS);
}

static void on_connection(uv_stream_t *s, int status)
{
    if (status == 0)
        accept_one(s->data);
}

static void on_listener_closed(uv_handle_t *h)
{
    struct cs_proxy *p = h->data;
    p->listener_closed = true;
    maybe_free(p);
}

int cs_proxy_check(const char *const *list, struct cs_err *err)
{
    struct cs_hosts hosts;
    if (cs_hosts_parse(list, &hosts, err) < 0)
        return -1;
    cs_hosts_done(&hosts);
    return 0;
}

int cs_proxy_open(uv_loop_t *loop, int fd, const char *const *list, struct cs_proxy **proxy,
                  struct cs_err *err)
{
    CS_AUTO_FD int listener = fd;
    struct cs_proxy *p = CS_NEW(struct cs_proxy);
    if (cs_hosts_parse(list, &p->hosts, err) < 0) {
        free(p);
        return -1;
    }
    int r = uv_tcp_init(loop, &p->listener);
    if (r != 0) {
        cs_hosts_done(&p->hosts);
        free(p);
        return cs_fail(err, CS_SYSTEM, "the proxy of a jail: %s", uv_strerror(r));
    }
    p->listener.data = p;
    r = uv_tcp_open(&p->listener, listener);
    if (r == 0) {
        listener = -1;
        r = uv_listen((uv_stream_t *)&p->listener, CONNECTIONS, on_connection);
    }
    if (r != 0) {
        cs_proxy_close(p);
        return cs_fail(err, CS_SYSTEM, "the proxy of a jail: %s", uv_strerror(r));
    }
    *proxy = p;
    return 0;
}

void cs_proxy_close(struct cs_proxy *p)
{
    if (!p || p->closing)
        return;
    p->closing = true;
    for (struct connection *c = p->connections; c; c = c->next)
        end(c);
    uv_close((uv_handle_t *)&p->listener, on_listener_closed);
}

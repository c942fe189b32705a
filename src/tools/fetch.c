#include "tools/fetch.h"

#include <signal.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tools/curl.h"
#include "tools/url.h"

/*
 * libcurl must not be called from within its own callbacks. So those only gather: bytes go to
 * `pending`, ends to `over`, and the exchange is queued. Events run from the queue after curl has
 * returned, where everything is allowed.
 */

#define IDLE_CONNECTIONS 32L
#define HOST_CONNECTIONS 256L

struct socket_watch {
    uv_poll_t poll; /* first: it is freed as this */
    struct cs_fetcher *http;
    curl_socket_t fd;
};

struct cs_fetcher {
    uv_loop_t *loop;
    const struct cs_curl *curl;
    CURLM *multi;
    const char *authorities; /* a file of certificates to trust instead of the system's; or NULL */
    uv_timer_t timer;
    uv_timer_t kick; /* tells what failed before curl had it */
    unsigned handles;
    struct cs_fetch *all;                     /* doubly linked */
    struct cs_fetch *queue_head, *queue_tail; /* those with something to tell */
    bool draining, stopping;
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

struct cs_fetch {
    struct cs_fetcher *http;
    struct cs_fetch *prev, *next, *queue_next;
    bool queued, running, delivering, dead;

    CURL *easy;
    struct curl_slist *headers;
    char *method, *url;
    struct cs_buf sent;
    size_t max_body;
    uint32_t timeout_ms;
    unsigned hops;
    bool no_redirects;

    int status;
    struct cs_buf head, joined;
    bool streams, head_over;
    struct cs_buf body, pending;
    bool over;
    CURLcode code;
    struct cs_err err; /* of our own making, instead of curl's */
    char text[CURL_ERROR_SIZE];

    const struct cs_fetch_events *events;
    void *ctx;
};

static void drain(struct cs_fetcher *http);

static void enqueue(struct cs_fetch *f)
{
    if (f->queued || f->dead)
        return;
    struct cs_fetcher *http = f->http;
    f->queued = true;
    f->queue_next = NULL;
    if (http->queue_tail)
        http->queue_tail->queue_next = f;
    else
        http->queue_head = f;
    http->queue_tail = f;
}

static void dequeue(struct cs_fetch *f)
{
    struct cs_fetcher *http = f->http;
    if (!f->queued)
        return;
    struct cs_fetch *before = NULL;
    for (struct cs_fetch *i = http->queue_head; i != f; i = i->queue_next)
        before = i;
    if (before)
        before->queue_next = f->queue_next;
    else
        http->queue_head = f->queue_next;
    if (http->queue_tail == f)
        http->queue_tail = before;
    f->queued = false;
}

/* curl's callbacks */

static size_t on_header(char *at, size_t size, size_t n, void *user)
{
    struct cs_fetch *f = user;
    size_t len = size * n;
    if (len >= 5 && memcmp(at, "HTTP/", 5) == 0) {
        cs_buf_clear(&f->head);
        f->status = 0;
        f->head_over = false;
    }
    if (f->head_over) /* trailers tell us nothing */
        return len;
    if (f->head.len + len > CS_FETCH_HEAD) {
        cs_fail(&f->err, CS_LIMIT, "its answer has more than %u KiB of headers",
                CS_FETCH_HEAD >> 10);
        return 0;
    }
    cs_buf_put(&f->head, at, len);
    if (len > 2 || (len > 0 && at[0] != '\r' && at[0] != '\n'))
        return len;
    long status = 0;
    f->http->curl->easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
    f->status = (int)status;
    if (status < 200)
        return len;
    f->head_over = true;
    f->streams = f->events->data && status == 200 && cs_fetch_type_is(f, "text/event-stream");
    return len;
}

static size_t on_body(char *at, size_t size, size_t n, void *user)
{
    struct cs_fetch *f = user;
    size_t len = size * n;
    if (f->streams) {
        cs_buf_put(&f->pending, at, len);
        enqueue(f);
        return len;
    }
    if (len > f->max_body || f->body.len > f->max_body - len) {
        cs_fail(&f->err, CS_LIMIT, "its answer is larger than %zu bytes", f->max_body);
        return 0;
    }
    cs_buf_put(&f->body, at, len);
    return len;
}

static curl_socket_t on_open(void *user, curlsocktype purpose, struct curl_sockaddr *a)
{
    (void)user;
    (void)purpose;
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

static void act(struct cs_fetcher *http, curl_socket_t fd, int flags)
{
    int running;
    http->curl->multi_socket_action(http->multi, fd, flags, &running);
    CURLMsg *m;
    while ((m = http->curl->multi_info_read(http->multi, &running))) {
        if (m->msg != CURLMSG_DONE)
            continue;
        struct cs_fetch *f = NULL;
        CURLcode code = m->data.result;
        http->curl->easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&f);
        f->over = true;
        f->code = code;
        enqueue(f);
    }
    drain(http);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct socket_watch *w = (struct socket_watch *)poll;
    /* After an error curl reads and writes, and so finds out which one it is. */
    int flags = status < 0 ? CURL_CSELECT_IN | CURL_CSELECT_OUT : 0;
    if (events & UV_READABLE)
        flags |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        flags |= CURL_CSELECT_OUT;
    act(w->http, w->fd, flags);
}

static void handle_gone(struct cs_fetcher *http)
{
    if (--http->handles > 0 || !http->stopping)
        return;
    void (*stopped)(void *) = http->stopped;
    void *ctx = http->stopped_ctx;
    free(http);
    if (stopped)
        stopped(ctx);
}

static void watch_gone(uv_handle_t *handle)
{
    struct socket_watch *w = (struct socket_watch *)handle;
    struct cs_fetcher *http = w->http;
    free(w);
    handle_gone(http);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *of_socket)
{
    (void)easy;
    struct cs_fetcher *http = user;
    struct socket_watch *w = of_socket;
    if (what == CURL_POLL_REMOVE) {
        if (w) {
            http->curl->multi_assign(http->multi, fd, NULL);
            uv_poll_stop(&w->poll);
            uv_close((uv_handle_t *)&w->poll, watch_gone);
        }
        return 0;
    }
    if (!w) {
        w = CS_NEW(struct socket_watch);
        w->http = http;
        w->fd = fd;
        if (uv_poll_init_socket(http->loop, &w->poll, fd) != 0) {
            free(w);
            return -1;
        }
        http->handles++;
        http->curl->multi_assign(http->multi, fd, w);
    }
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    return uv_poll_start(&w->poll, events, on_poll) == 0 ? 0 : -1;
}

static void on_timer(uv_timer_t *timer)
{
    act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timeout(CURLM *multi, long ms, void *user)
{
    (void)multi;
    struct cs_fetcher *http = user;
    if (ms < 0)
        uv_timer_stop(&http->timer);
    else
        uv_timer_start(&http->timer, on_timer, (uint64_t)ms, 0);
    return 0;
}

/* Exchanges */

static void leave_multi(struct cs_fetch *f)
{
    if (f->running)
        f->http->curl->multi_remove_handle(f->http->multi, f->easy);
    f->running = false;
}

static void fetch_free(struct cs_fetch *f)
{
    const struct cs_curl *curl = f->http->curl;
    leave_multi(f);
    dequeue(f);
    if (f->prev)
        f->prev->next = f->next;
    else if (f->http->all == f)
        f->http->all = f->next;
    if (f->next)
        f->next->prev = f->prev;
    if (f->easy)
        curl->easy_cleanup(f->easy);
    curl->slist_free_all(f->headers);
    free(f->method);
    free(f->url);
    if (f->sent.at)
        explicit_bzero(f->sent.at, f->sent.len);
    cs_buf_done(&f->sent);
    cs_buf_done(&f->head);
    cs_buf_done(&f->joined);
    cs_buf_done(&f->body);
    cs_buf_done(&f->pending);
    free(f);
}

void cs_fetch_cancel(struct cs_fetch *f)
{
    if (!f)
        return;
    f->dead = true;
    leave_multi(f);
    if (!f->delivering)
        fetch_free(f);
}

/* What a person can do about it, by what curl says. */
static const char *advice(CURLcode code)
{
    switch ((int)code) {
    case CURLE_COULDNT_CONNECT:
        return "is the server running, and the port right?";
    case CURLE_OPERATION_TIMEDOUT:
        return "is it overloaded, or behind a firewall?";
    case CURLE_COULDNT_RESOLVE_HOST:
        return "check the host name and the network";
    case CURLE_COULDNT_RESOLVE_PROXY:
        return "check the proxy in https_proxy or http_proxy";
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return "its certificate is not trusted; add its authority to the system's with "
               "update-ca-certificates, or name its file in SSL_CERT_FILE";
    case CURLE_SSL_CONNECT_ERROR:
        return "does it speak TLS on that port?";
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_HTTP2:
        return "is this the address of an HTTP server?";
    default:
        return NULL;
    }
}

static void say_why(struct cs_fetch *f, struct cs_err *err)
{
    if (f->err.code != CS_OK) {
        *err = f->err;
    } else {
        const char *hint = advice(f->code);
        cs_fail(err, CS_UPSTREAM, "%s%s%s%s",
                f->text[0] ? f->text : f->http->curl->easy_strerror(f->code), hint ? " (" : "",
                hint ? hint : "", hint ? ")" : "");
    }
}

static bool is_redirect(const struct cs_fetch *f)
{
    return f->status == 301 || f->status == 302 || f->status == 307 || f->status == 308;
}

static void launch(struct cs_fetch *f);

/* True: the exchange goes on elsewhere. Otherwise it is over, perhaps with an error. */
static bool follow(struct cs_fetch *f, struct cs_err *err)
{
    char *to = NULL;
    f->http->curl->easy_getinfo(f->easy, CURLINFO_REDIRECT_URL, &to);
    if (!to)
        return false;
    struct cs_url here, there;
    if (cs_url_parse(cs_str(f->url), &here, err) < 0 || cs_url_parse(cs_str(to), &there, err) < 0) {
        cs_wrap(err, "it redirects (HTTP %d)", f->status);
        return false;
    }
    CS_AUTO_BUF struct cs_buf shown = {0};
    cs_url_show(cs_str(to), &shown);
    if (!cs_url_same_origin(&here, &there)) {
        cs_fail(err, CS_UPSTREAM,
                "it redirects (HTTP %d) to another origin, %s, which is not followed; if you trust "
                "that address, put it into the server's entry",
                f->status, cs_buf_cstr(&shown));
        return false;
    }
    if (++f->hops > CS_FETCH_HOPS) {
        cs_fail(err, CS_UPSTREAM, "it redirects more than %u times, last to %s", CS_FETCH_HOPS,
                cs_buf_cstr(&shown));
        return false;
    }
    char *url = cs_strdup(to);
    free(f->url);
    f->url = url;
    leave_multi(f);
    cs_buf_clear(&f->body);
    f->over = f->head_over = false;
    f->text[0] = 0;
    launch(f);
    return true;
}

static void finish(struct cs_fetch *f)
{
    struct cs_err err = {0};
    if (f->code != CURLE_OK || f->err.code != CS_OK)
        say_why(f, &err);
    else if (is_redirect(f) && !f->no_redirects && follow(f, &err))
        return;
    if (err.code != CS_OK) {
        CS_AUTO_BUF struct cs_buf where = {0};
        cs_url_show(cs_str(f->url), &where);
        cs_wrap(&err, "%s", cs_buf_cstr(&where));
    }
    f->delivering = true;
    leave_multi(f);
    f->events->done(f->ctx, &err);
    fetch_free(f);
}

static void deliver(struct cs_fetch *f)
{
    if (f->pending.len) {
        struct cs_buf bytes = f->pending;
        f->pending = (struct cs_buf){0};
        f->delivering = true;
        f->events->data(f->ctx, cs_buf_str(&bytes));
        f->delivering = false;
        if (f->dead) {
            cs_buf_done(&bytes);
            fetch_free(f);
            return;
        }
        cs_buf_clear(&bytes);
        if (f->pending.at)
            cs_buf_done(&bytes);
        else
            f->pending = bytes; /* to be filled again */
    }
    if (f->over)
        finish(f);
}

static void drain(struct cs_fetcher *http)
{
    if (http->draining)
        return;
    http->draining = true;
    for (struct cs_fetch *f; (f = http->queue_head);) {
        dequeue(f);
        deliver(f);
    }
    http->draining = false;
}

static void on_kick(uv_timer_t *timer)
{
    drain(timer->data);
}

static void launch(struct cs_fetch *f)
{
    const struct cs_curl *curl = f->http->curl;
    struct cs_url url = {0};
    if (cs_url_parse(cs_str(f->url), &url, &f->err) == 0 && !f->easy)
        f->easy = curl->easy_init();
    CURL *e = f->easy;
    if (e && f->err.code == CS_OK) {
        bool post = strcmp(f->method, "POST") == 0;
        curl->easy_setopt(e, CURLOPT_URL, f->url);
        curl->easy_setopt(e, CURLOPT_PRIVATE, f);
        curl->easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
        curl->easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
        curl->easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
        curl->easy_setopt(e, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
        curl->easy_setopt(e, CURLOPT_USERAGENT, "caisson/" CS_VERSION);
        curl->easy_setopt(e, CURLOPT_HTTPHEADER, f->headers);
        curl->easy_setopt(e, CURLOPT_ERRORBUFFER, f->text);
        curl->easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
        curl->easy_setopt(e, CURLOPT_HEADERDATA, f);
        curl->easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
        curl->easy_setopt(e, CURLOPT_WRITEDATA, f);
        curl->easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_open);
        curl->easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)CS_FETCH_CONNECT_MS);
        curl->easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)f->timeout_ms);
        curl->easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
        /* Cancelling must not wait for a name server that does not answer. */
        curl->easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
        /* Many requests at once share one connection where it turns out to be HTTP/2. */
        curl->easy_setopt(e, CURLOPT_PIPEWAIT, url.https ? 1L : 0L);
        curl->easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
        curl->easy_setopt(e, CURLOPT_BUFFERSIZE, 128L << 10);
        if (f->http->authorities)
            curl->easy_setopt(e, CURLOPT_CAINFO, f->http->authorities);
        if (cs_url_loopback(&url)) /* a proxy has no business there */
            curl->easy_setopt(e, CURLOPT_PROXY, "");
        if (post) {
            curl->easy_setopt(e, CURLOPT_POST, 1L);
            curl->easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)f->sent.len);
            curl->easy_setopt(e, CURLOPT_POSTFIELDS, f->sent.at ? f->sent.at : "");
        } else if (strcmp(f->method, "GET") != 0) {
            curl->easy_setopt(e, CURLOPT_CUSTOMREQUEST, f->method);
        }
        f->running = curl->multi_add_handle(f->http->multi, e) == CURLM_OK;
    }
    if (f->running)
        return;
    if (f->err.code == CS_OK)
        cs_fail(&f->err, CS_SYSTEM, "libcurl cannot start a request");
    f->over = true;
    enqueue(f);
    uv_timer_start(&f->http->kick, on_kick, 0, 0);
}

struct cs_fetch *cs_fetch_start(struct cs_fetcher *http, const struct cs_fetch_request *r,
                                const struct cs_fetch_events *events, void *ctx)
{
    struct cs_fetch *f = CS_NEW(struct cs_fetch);
    f->http = http;
    f->events = events;
    f->ctx = ctx;
    f->method = cs_strdup(r->method);
    f->url = cs_strdup(r->url);
    f->max_body = r->max_body;
    f->timeout_ms = r->timeout_ms;
    f->no_redirects = r->no_redirects;
    cs_buf_putstr(&f->sent, r->body);
    /* Waiting for "100 Continue" costs a second with servers that do not know it. */
    f->headers = http->curl->slist_append(NULL, "Expect:");
    for (size_t i = 0; r->headers && r->headers[i]; i++)
        f->headers = http->curl->slist_append(f->headers, r->headers[i]);
    f->next = http->all;
    if (f->next)
        f->next->prev = f;
    http->all = f;
    launch(f);
    return f;
}

int cs_fetch_status(const struct cs_fetch *f)
{
    return f->status;
}

struct cs_str cs_fetch_body(const struct cs_fetch *f)
{
    return cs_buf_str(&f->body);
}

const char *cs_fetch_url(const struct cs_fetch *f)
{
    return f->url;
}

static struct cs_str trim(struct cs_str s)
{
    while (s.len && (s.at[0] == ' ' || s.at[0] == '\t'))
        s = cs_strn(s.at + 1, s.len - 1);
    while (s.len && (unsigned char)s.at[s.len - 1] <= ' ')
        s.len--;
    return s;
}

struct cs_str cs_fetch_header(struct cs_fetch *f, const char *name)
{
    size_t n = strlen(name);
    struct cs_str found = {0};
    struct cs_str rest = cs_buf_str(&f->head);
    while (rest.len) {
        const char *lf = memchr(rest.at, '\n', rest.len);
        size_t len = lf ? (size_t)(lf - rest.at) + 1 : rest.len;
        if (len > n && rest.at[n] == ':' && strncasecmp(rest.at, name, n) == 0) {
            struct cs_str v = trim(cs_strn(rest.at + n + 1, len - n - 1));
            if (found.len == 0) {
                found = v;
            } else {
                if (found.at != f->joined.at) {
                    cs_buf_clear(&f->joined);
                    cs_buf_putstr(&f->joined, found);
                }
                cs_buf_puts(&f->joined, ", ");
                cs_buf_putstr(&f->joined, v);
                found = cs_buf_str(&f->joined);
            }
        }
        rest = cs_strn(rest.at + len, rest.len - len);
    }
    return found;
}

bool cs_fetch_type_is(struct cs_fetch *f, const char *type)
{
    struct cs_str v = cs_fetch_header(f, "content-type");
    size_t n = strlen(type);
    return v.len >= n && strncasecmp(v.at, type, n) == 0 &&
           (v.len == n || v.at[n] == ';' || v.at[n] == ' ' || v.at[n] == ',');
}

/* The loop's side */

uv_loop_t *cs_fetcher_loop(struct cs_fetcher *http)
{
    return http->loop;
}

int cs_fetcher_start(uv_loop_t *loop, struct cs_fetcher **http, struct cs_err *err)
{
    const struct cs_curl *curl;
    if (cs_curl_load(&curl, err) < 0)
        return -1;
    /* TLS writes with plain write(): a server that is gone must not be the end of us. */
    struct sigaction pipe_action;
    if (sigaction(SIGPIPE, NULL, &pipe_action) == 0 && pipe_action.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
    struct cs_fetcher *h = CS_NEW(struct cs_fetcher);
    h->loop = loop;
    h->curl = curl;
    h->authorities = getenv("SSL_CERT_FILE");
    h->multi = curl->multi_init();
    if (!h->multi) {
        free(h);
        return cs_fail(err, CS_SYSTEM, "libcurl cannot start");
    }
    curl->multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl->multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
    curl->multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    curl->multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
    curl->multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, IDLE_CONNECTIONS);
    curl->multi_setopt(h->multi, CURLMOPT_MAX_HOST_CONNECTIONS, HOST_CONNECTIONS);
    uv_timer_init(loop, &h->timer);
    uv_timer_init(loop, &h->kick);
    h->timer.data = h->kick.data = h;
    h->handles = 2;
    *http = h;
    return 0;
}

static void part_gone(uv_handle_t *handle)
{
    handle_gone(handle->data);
}

void cs_fetcher_stop(struct cs_fetcher *http, void (*stopped)(void *ctx), void *ctx)
{
    http->stopping = true;
    http->stopped = stopped;
    http->stopped_ctx = ctx;
    for (struct cs_fetch *f = http->all, *next; f; f = next) {
        next = f->next;
        cs_fetch_cancel(f);
    }
    http->curl->multi_cleanup(http->multi);
    uv_close((uv_handle_t *)&http->timer, part_gone);
    uv_close((uv_handle_t *)&http->kick, part_gone);
}

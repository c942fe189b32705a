#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/own.h"
#include "http/flow.h"
#include "http/inside.h"

#define ACCEPT_AT_ONCE 64 /* then others have their turn */
#define LONG_IDLE_MS   2000
#define LINGERING_MAX  256 /* more hang up without waiting */
#define EVENTS         64
#define CROWD          1000

static void say(int fd, struct cs_str text)
{
    (void)!send(fd, text.at, text.len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void cs_http_say(struct cs_connection *c, struct cs_str text)
{
    say(c->fd, text);
}

/* --- the end of a connection --- */

void cs_http_shut(struct cs_connection *c)
{
    c->shut = true;
    shutdown(c->fd, SHUT_RDWR);
    cs_http_resume(c);
}

void cs_http_suspend(struct cs_connection *c)
{
    c->suspended = true;
    c->http->mhd->suspend_connection(c->mhd);
}

void cs_http_resume(struct cs_connection *c)
{
    if (!c->suspended)
        return;
    c->suspended = false;
    c->http->mhd->resume_connection(c->mhd);
    cs_http_run_soon(c->http);
}

static void link_in(struct cs_connection *c)
{
    c->after = c->http->connections;
    if (c->after)
        c->after->before = c;
    c->http->connections = c;
}

static void link_out(struct cs_connection *c)
{
    *(c->before ? &c->before->after : &c->http->connections) = c->after;
    if (c->after)
        c->after->before = c->before;
    c->before = c->after = NULL;
}

static void watch(struct cs_connection *c, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = c};
    epoll_ctl(c->http->watch_fd, EPOLL_CTL_ADD, c->fd, &e);
}

/*
 * To close a socket that has unread bytes resets the connection, and the peer may then never see
 * what we said last ("413"). So we say that we are done, and read for a while what we do not want.
 * Takes the descriptor.
 */
static bool linger(struct cs_connection *c, int fd)
{
    if (fd < 0 || c->http->closing || c->http->lingering >= LINGERING_MAX) {
        cs_closep(&fd);
        return false;
    }
    shutdown(fd, SHUT_WR);
    c->mhd = NULL;
    c->fd = fd;
    c->http->lingering++;
    watch(c, EPOLLIN | EPOLLRDHUP);
    cs_http_wait(c->http, &c->waiter, CS_WAIT_LINGER);
    return true;
}

void cs_http_linger_end(struct cs_connection *c)
{
    cs_http_wait(c->http, &c->waiter, CS_WAIT_NOTHING);
    link_out(c);
    c->http->lingering--;
    close(c->fd);
    free(c);
}

static void linger_on(struct cs_connection *c)
{
    char unwanted[16384];
    for (unsigned i = 0; i < 16; i++) {
        ssize_t n = recv(c->fd, unwanted, sizeof unwanted, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            cs_http_linger_end(c);
            return;
        }
        if (n < 0)
            return;
    }
}

/* --- its begin --- */

/* No more than we may hold, or no descriptor left: said in plain words, if they can be read. */
static void turn_away(struct cs_http *http, int fd)
{
    if (http->tls) {
        close(fd);
        return;
    }
    say(fd, CS_STR("HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\n"
                   "Content-Length: 43\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
                   "There are too many connections; try again.\n"));
    struct cs_connection *c = CS_NEW(struct cs_connection);
    c->http = http;
    link_in(c);
    if (!linger(c, fd)) {
        link_out(c);
        free(c);
    }
}

/* Without a descriptor nothing can be accepted, and the peer would wait for ever: one is kept. */
static void turn_away_without_files(struct cs_http *http)
{
    cs_closep(&http->spare_fd);
    int fd = accept4(http->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        say(fd, CS_STR("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n"
                       "Retry-After: 1\r\nConnection: close\r\n\r\n"));
        close(fd);
    }
    http->spare_fd = cs_http_spare();
}

/* Whoever has asked for nothing for the longest time makes room: connections that do nothing must
 * not keep others out. */
static bool has_room(struct cs_http *http)
{
    struct cs_connection *c = (struct cs_connection *)http->waiters[CS_WAIT_IDLE].first;
    if (http->count < http->options.max_connections)
        return true;
    if (!c || http->count >= http->options.max_connections + CS_HTTP_ROOM ||
        uv_now(http->loop) - c->since < LONG_IDLE_MS || cs_http_has_begun(c))
        return false;
    cs_http_wait(http, &c->waiter, CS_WAIT_NOTHING);
    cs_http_shut(c);
    return true;
}

void cs_http_on_accept(uv_poll_t *poll, int status, int events)
{
    struct cs_http *http = poll->data;
    (void)status, (void)events;
    for (unsigned i = 0; i < ACCEPT_AT_ONCE; i++) {
        struct sockaddr_storage address;
        socklen_t len = sizeof address;
        int fd = accept4(http->fd, (struct sockaddr *)&address, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
            turn_away_without_files(http);
            return;
        }
        if (fd < 0 && errno == EAGAIN)
            return;
        if (fd < 0)
            continue; /* the peer was gone before we looked */
        if (!has_room(http))
            turn_away(http, fd);
        else
            http->mhd->add_connection(http->daemon, fd, (struct sockaddr *)&address, len);
    }
}

static void started(struct cs_http *http, struct MHD_Connection *mhd, void **context)
{
    struct cs_connection *c = CS_NEW(struct cs_connection);
    c->http = http;
    c->mhd = mhd;
    c->fd = http->mhd->get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    c->since = uv_now(http->loop);
    *context = c;
    link_in(c);
    http->count++;
    if (http->count > http->peak)
        http->peak = http->count;
    /* One edge per connection, when its peer hangs up: nothing has to be done per request. */
    watch(c, EPOLLRDHUP | EPOLLET);
    cs_http_wait(http, &c->waiter, CS_WAIT_IDLE);
}

/* After a crowd has gone, its memory goes back to the system: the allocator would keep it. */
static void trim(struct cs_http *http)
{
    if (http->peak < CROWD || http->count > http->peak / 4)
        return;
    malloc_trim(0);
    http->peak = http->count;
}

static void ended(struct cs_http *http, struct cs_connection *c)
{
    int unread = 0;
    http->count--;
    trim(http);
    cs_http_wait(http, &c->waiter, CS_WAIT_NOTHING);
    epoll_ctl(http->watch_fd, EPOLL_CTL_DEL, c->fd, NULL);
    if (!c->shut && !c->hung_up &&
        (c->early || (ioctl(c->fd, FIONREAD, &unread) == 0 && unread > 0)) &&
        linger(c, fcntl(c->fd, F_DUPFD_CLOEXEC, 0)))
        return;
    link_out(c);
    free(c);
}

void cs_http_on_connection(void *ctx, struct MHD_Connection *mhd, void **context,
                           enum MHD_ConnectionNotificationCode code)
{
    struct cs_http *http = ctx;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        started(http, mhd, context);
    else if (*context)
        ended(http, *context);
}

/* --- peers that hang up --- */

/*
 * A FIN says that the peer sends no more; it does not say that it does not read (`nc -N`). Nothing
 * tells but to send something: whoever has closed the socket answers with a reset. An interim
 * answer is harmless to those who still read.
 */
static void probe(struct cs_connection *c)
{
    const struct cs_str text = CS_STR("HTTP/1.1 100 Continue\r\n\r\n");
    if (send(c->fd, text.at, text.len, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)text.len)
        cs_exchange_cut(c->x);
    else
        cs_http_wait(c->http, &c->waiter, CS_WAIT_PROBE);
}

void cs_http_hung_up(struct cs_connection *c)
{
    struct cs_exchange *x = c->x;
    if (!x || !c->suspended)
        return; /* libmicrohttpd sees it */
    if (x->streams || x->http10 || c->http->tls)
        cs_exchange_cut(x);
    else
        probe(c);
}

static void on_event(struct cs_connection *c, uint32_t events)
{
    if (!c->mhd) {
        linger_on(c);
        return;
    }
    c->hung_up = true;
    if ((events & (EPOLLHUP | EPOLLERR)) && c->x && c->suspended)
        cs_exchange_cut(c->x);
    else
        cs_http_hung_up(c);
}

void cs_http_on_watch(uv_poll_t *poll, int status, int events)
{
    struct cs_http *http = poll->data;
    struct epoll_event found[EVENTS];
    (void)status, (void)events;
    /* Each is in it once, and none frees another: connections end in libmicrohttpd's turn. */
    int n = epoll_wait(http->watch_fd, found, EVENTS, 0);
    for (int i = 0; i < n; i++)
        on_event(found[i].data.ptr, found[i].events);
}

/* --- deadlines --- */

void cs_http_idle(struct cs_connection *c)
{
    c->since = uv_now(c->http->loop);
    c->bytes = cs_flow_of(c->fd).received;
    if (c->http->draining)
        cs_http_shut(c);
    else
        cs_http_wait(c->http, &c->waiter, CS_WAIT_IDLE);
}

bool cs_http_has_begun(struct cs_connection *c)
{
    return cs_flow_of(c->fd).received != c->bytes;
}

/* libmicrohttpd says nothing before a whole line of a request is there, so somebody who sends it
 * byte by byte would be idle. Hence a look at what has come, now and then. */
static void idle_due(struct cs_connection *c)
{
    if (cs_http_has_begun(c))
        cs_http_wait(c->http, &c->waiter, CS_WAIT_REQUEST);
    else if (uv_now(c->http->loop) - c->since >= c->http->options.idle_ms)
        cs_http_shut(c);
    else
        cs_http_wait(c->http, &c->waiter, CS_WAIT_IDLE);
}

static void take_due(struct cs_connection *c)
{
    uint64_t taken = cs_flow_of(c->fd).taken;
    if (taken == c->bytes) {
        cs_http_shut(c);
        return;
    }
    c->bytes = taken;
    cs_http_wait(c->http, &c->waiter, CS_WAIT_TAKE);
}

void cs_http_on_due(struct cs_connection *c, enum cs_wait wait)
{
    switch (wait) {
    case CS_WAIT_IDLE:
        idle_due(c);
        break;
    case CS_WAIT_REQUEST:
        if (!c->http->tls)
            cs_http_say(c, CS_STR("HTTP/1.1 408 Request Timeout\r\nContent-Type: text/plain\r\n"
                                  "Content-Length: 39\r\nConnection: close\r\n\r\n"
                                  "The request did not come in good time.\n"));
        cs_http_shut(c);
        break;
    case CS_WAIT_TAKE:
        take_due(c);
        break;
    case CS_WAIT_PROBE:
        probe(c);
        break;
    case CS_WAIT_LINGER:
        cs_http_linger_end(c);
        break;
    case CS_WAIT_NOTHING:
    case CS_WAITS:
        break;
    }
}

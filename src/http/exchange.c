#include <arpa/inet.h>

#include "base/mem.h"
#include "http/decode.h"
#include "http/inside.h"

#define BODY_AT_ONCE (256u * 1024) /* memory that is taken because a header says so */

/* --- what was asked --- */

struct cs_str cs_exchange_method(const struct cs_exchange *x)
{
    return x->method;
}

struct cs_str cs_exchange_path(const struct cs_exchange *x)
{
    return cs_buf_str(&x->path);
}

struct cs_str cs_exchange_query(const struct cs_exchange *x, const char *name)
{
    return cs_http_pair(cs_buf_str(&x->query), name);
}

struct cs_str cs_exchange_header(const struct cs_exchange *x, const char *name)
{
    return cs_http_trim(
        cs_str(x->http->mhd->lookup_connection_value(x->connection->mhd, MHD_HEADER_KIND, name)));
}

struct counting {
    const char *name;
    unsigned count;
};

static enum MHD_Result count(void *ctx, enum MHD_ValueKind kind, const char *name,
                             const char *value)
{
    struct counting *c = ctx;
    (void)kind, (void)value;
    c->count += cs_http_same(cs_str(name), c->name);
    return MHD_YES;
}

unsigned cs_exchange_header_count(const struct cs_exchange *x, const char *name)
{
    struct counting c = {.name = name};
    x->http->mhd->get_connection_values(x->connection->mhd, MHD_HEADER_KIND, count, &c);
    return c.count;
}

struct cs_str cs_exchange_body(const struct cs_exchange *x)
{
    return cs_buf_str(&x->body);
}

struct cs_str cs_exchange_peer(const struct cs_exchange *x)
{
    return cs_str(x->peer);
}

bool cs_exchange_is_loopback(const struct cs_exchange *x)
{
    return x->loopback;
}

bool cs_exchange_is_tls(const struct cs_exchange *x)
{
    return x->http->tls;
}

void cs_exchange_expect(struct cs_exchange *x, uint64_t body_bytes)
{
    if (body_bytes < x->body_max)
        x->body_max = body_bytes;
}

void cs_exchange_on_gone(struct cs_exchange *x, void (*gone)(void *ctx, struct cs_exchange *x),
                         void *ctx)
{
    x->gone = gone;
    x->gone_ctx = ctx;
}

/* --- begin and end --- */

static void set_peer(struct cs_exchange *x, const struct sockaddr *address)
{
    const struct sockaddr_in6 *six = (const void *)address;
    const struct sockaddr_in *four = (const void *)address;
    struct in_addr plain = {0};
    bool is_four = address->sa_family == AF_INET;
    if (is_four) {
        plain = four->sin_addr;
    } else if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
        memcpy(&plain, &six->sin6_addr.s6_addr[12], 4);
        is_four = true;
    }
    if (is_four) {
        inet_ntop(AF_INET, &plain, x->peer, sizeof x->peer);
        x->loopback = ntohl(plain.s_addr) >> 24 == 127;
    } else {
        inet_ntop(AF_INET6, &six->sin6_addr, x->peer, sizeof x->peer);
        x->loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
    }
}

/* The first line of a request has come. */
void *cs_http_on_target(void *ctx, const char *target, struct MHD_Connection *mhd)
{
    struct cs_http *http = ctx;
    const union MHD_ConnectionInfo *info =
        http->mhd->get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct cs_exchange *x = CS_NEW(struct cs_exchange);
    x->http = http;
    x->connection = info->socket_context;
    x->connection->x = x;
    x->body_max = http->options.body_bytes;
    x->gone = http->handler.gone;
    x->gone_ctx = http->ctx;
    cs_buf_puts(&x->raw, target);
    if (x->connection->waiter.wait != CS_WAIT_REQUEST)
        cs_http_wait(http, &x->connection->waiter, CS_WAIT_REQUEST);
    return x;
}

void cs_exchange_say_gone(struct cs_exchange *x)
{
    bool owned = x->phase == CS_PHASE_OWNED || x->phase == CS_PHASE_STREAM;
    x->phase = CS_PHASE_OVER;
    x->cut = true;
    if (owned && x->gone)
        x->gone(x->gone_ctx, x);
}

void cs_exchange_cut(struct cs_exchange *x)
{
    x->cut = true;
    cs_http_wait(x->http, &x->connection->waiter, CS_WAIT_NOTHING);
    cs_http_shut(x->connection);
}

static void drop_body(struct cs_exchange *x)
{
    x->http->held -= x->body.len;
    cs_buf_done(&x->body);
}

void cs_http_on_completed(void *ctx, struct MHD_Connection *mhd, void **context,
                          enum MHD_RequestTerminationCode why)
{
    struct cs_exchange *x = *context;
    (void)ctx, (void)mhd, (void)why;
    *context = NULL;
    if (!x)
        return;
    struct cs_connection *c = x->connection;
    cs_exchange_say_gone(x);
    c->x = NULL;
    cs_exchange_free_answer(x);
    cs_buf_done(&x->raw);
    cs_buf_done(&x->path);
    cs_buf_done(&x->query);
    drop_body(x);
    free(x);
    cs_http_idle(c);
}

/* --- the head --- */

struct look {
    const char *wrong;
    unsigned lengths, encodings, hosts;
    uint64_t length;
    bool chunked;
};

static enum MHD_Result look_at(void *ctx, enum MHD_ValueKind kind, const char *name,
                               const char *value)
{
    struct look *l = ctx;
    struct cs_str text = cs_http_trim(cs_str(value));
    (void)kind;
    if (!cs_http_is_token(cs_str(name)))
        l->wrong = "a header has no proper name";
    else if (!cs_http_is_value(text))
        l->wrong = "a header has a control character";
    else if (cs_http_same(cs_str(name), "content-length")) {
        l->lengths++;
        if (!cs_http_number(text, &l->length))
            l->wrong = "the Content-Length is no number";
    } else if (cs_http_same(cs_str(name), "transfer-encoding")) {
        l->encodings++;
        l->chunked = cs_http_same(text, "chunked");
    } else if (cs_http_same(cs_str(name), "host")) {
        l->hosts++;
    }
    return l->wrong ? MHD_NO : MHD_YES;
}

/* Where two servers could disagree about the end of a request, a second one hides in the first. */
static const char *contradiction(const struct look *l, bool http10)
{
    if (l->wrong)
        return l->wrong;
    if (l->lengths > 1)
        return "there is more than one Content-Length";
    if (l->encodings > 1)
        return "there is more than one Transfer-Encoding";
    if (l->lengths > 0 && l->encodings > 0)
        return "there are both a Content-Length and a Transfer-Encoding";
    if (l->encodings > 0 && http10)
        return "HTTP/1.0 has no Transfer-Encoding";
    if (l->hosts == 0 && !http10)
        return "there is no Host";
    return l->hosts > 1 ? "there is more than one Host" : NULL;
}

/* What is wrong with the head, with its status; 0 if nothing is. */
static unsigned check_head(struct cs_exchange *x, const char *url, const char *version,
                           const char **why)
{
    struct cs_http *http = x->http;
    struct MHD_Connection *mhd = x->connection->mhd;
    struct look look = {0};
    http->mhd->get_connection_values(mhd, MHD_HEADER_KIND, look_at, &look);
    x->http10 = strcmp(version, "HTTP/1.1") != 0;
    x->has_body = look.encodings > 0 || look.length > 0;
    *why = contradiction(&look, x->http10);
    if (!*why && !cs_http_is_token(x->method))
        *why = "the method is not a word";
    /* libmicrohttpd ends the target where a NUL is, and goes on behind it. */
    if (!*why && version != url + x->raw.len + 1)
        *why = "the request line is not one";
    if (!*why)
        *why = cs_http_target(cs_buf_str(&x->raw), &x->path, &x->query);
    if (*why)
        return 400;
    if (http->mhd->get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size >
        http->options.head_bytes) {
        *why = "the head of the request is too large";
        return 431;
    }
    *why = "only the Transfer-Encoding chunked is known";
    return look.encodings > 0 && !look.chunked ? 501 : 0;
}

static void refuse_large(struct cs_exchange *x)
{
    cs_exchange_refuse(x, 413, "the body of the request is too large");
}

/* Replies, or leaves it to the body. */
static void take_head(struct cs_exchange *x, const char *url, const char *version)
{
    struct cs_http *http = x->http;
    struct MHD_Connection *mhd = x->connection->mhd;
    const char *why = NULL;
    set_peer(x,
             http->mhd->get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
    unsigned status = check_head(x, url, version, &why);
    if (status != 0) {
        x->broken = true;
        cs_exchange_refuse(x, status, why);
        return;
    }
    if (http->handler.head)
        http->handler.head(http->ctx, x);
    if (x->phase == CS_PHASE_OVER)
        return;
    uint64_t length = 0;
    struct cs_str said = cs_exchange_header(x, "content-length");
    if (said.at && cs_http_number(said, &length) && length > x->body_max) {
        refuse_large(x);
        return;
    }
    if (length > 0)
        cs_buf_room(&x->body, length < BODY_AT_ONCE ? length : BODY_AT_ONCE);
    x->phase = CS_PHASE_BODY;
}

/* --- the body --- */

/*
 * libmicrohttpd takes no answer in the middle of a body. So what is too much is said past it, and
 * the connection closed; over TLS, where that cannot be, the rest is read, dropped and refused.
 */
static enum MHD_Result too_large(struct cs_exchange *x)
{
    drop_body(x);
    x->overflow = true;
    if (x->http->tls)
        return MHD_YES;
    cs_http_say(x->connection, x->crowded ? CS_STR("HTTP/1.1 503 Service Unavailable\r\n"
                                                   "Retry-After: 1\r\n"
                                                   "Content-Type: text/plain\r\n"
                                                   "Content-Length: 43\r\n"
                                                   "Connection: close\r\n\r\n"
                                                   "too much was sent at once; try again later\n")
                                          : CS_STR("HTTP/1.1 413 Content Too Large\r\n"
                                                   "Content-Type: text/plain\r\n"
                                                   "Content-Length: 37\r\n"
                                                   "Connection: close\r\n\r\n"
                                                   "the body of the request is too large\n"));
    x->connection->early = true;
    return MHD_NO;
}

static enum MHD_Result take_body(struct cs_exchange *x, const char *data, size_t *size)
{
    struct cs_http *http = x->http;
    size_t n = *size;
    *size = 0;
    if (x->overflow)
        return MHD_YES;
    /* Bodies come before anybody has looked at a key: strangers must not fill the memory. */
    x->crowded = http->options.held_bytes && n > http->options.held_bytes - http->held;
    if (x->crowded || n > x->body_max - x->body.len)
        return too_large(x);
    cs_buf_put(&x->body, data, n);
    http->held += n;
    return MHD_YES;
}

static void take_request(struct cs_exchange *x)
{
    cs_http_wait(x->http, &x->connection->waiter, CS_WAIT_NOTHING);
    if (x->overflow) {
        if (x->crowded)
            cs_exchange_refuse(x, 503, "too much was sent at once; try again later");
        else
            refuse_large(x);
        return;
    }
    x->phase = CS_PHASE_OWNED;
    x->http->handler.request(x->http->ctx, x);
}

/* Nothing happens to it until somebody answers, or its peer goes. */
static enum MHD_Result leave_it(struct cs_exchange *x)
{
    cs_http_suspend(x->connection);
    if (x->connection->hung_up)
        cs_http_hung_up(x->connection);
    return MHD_YES;
}

/*
 * Called when the head is there, for each piece of the body (*size bytes), when all of it is there,
 * and whenever the connection was resumed after that.
 */
enum MHD_Result cs_http_on_request(void *ctx, struct MHD_Connection *mhd, const char *url,
                                   const char *method, const char *version, const char *data,
                                   size_t *size, void **context)
{
    struct cs_http *http = ctx;
    struct cs_exchange *x = *context;
    (void)mhd;
    if (!x || x->cut || http->closing)
        return MHD_NO;
    if (x->phase == CS_PHASE_HEAD) {
        x->method = cs_str(method);
        take_head(x, url, version);
        x->connection->early = x->phase != CS_PHASE_BODY && (x->has_body || x->broken);
    } else if (x->phase == CS_PHASE_BODY && *size > 0) {
        return take_body(x, data, size);
    } else if (x->phase == CS_PHASE_BODY) {
        take_request(x);
    }
    if (x->cut)
        return MHD_NO;
    if (x->response)
        return cs_exchange_queue(x);
    return x->phase == CS_PHASE_BODY ? MHD_YES : leave_it(x);
}

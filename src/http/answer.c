#include <strings.h>

#include "base/mem.h"
#include "http/decode.h"
#include "http/inside.h"

#define BLOCK 16384 /* of a stream */

/* --- headers --- */

static const char *const ours[] = {"content-length", "transfer-encoding", "date", "connection"};

/* Takes the header away, if it was set. */
static void unset(struct cs_buf *set, const char *name)
{
    for (size_t at = 0; at < set->len;) {
        size_t name_len = strlen(set->at + at) + 1;
        size_t len = name_len + strlen(set->at + at + name_len) + 1;
        if (strcasecmp(set->at + at, name) != 0) {
            at += len;
            continue;
        }
        memmove(set->at + at, set->at + at + len, set->len - at - len);
        set->len -= len;
        return;
    }
}

void cs_exchange_set(struct cs_exchange *x, const char *name, struct cs_str value)
{
    for (size_t i = 0; i < CS_COUNT(ours); i++)
        if (strcasecmp(name, ours[i]) == 0)
            return;
    if (!cs_http_is_token(cs_str(name)))
        return;
    unset(&x->set, name);
    cs_buf_put(&x->set, name, strlen(name) + 1);
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.at[i];
        cs_buf_putc(&x->set, (char)(c < 0x20 || c == 0x7F ? ' ' : c));
    }
    cs_buf_putc(&x->set, 0);
}

struct cs_str cs_exchange_was_set(const struct cs_exchange *x, const char *name)
{
    for (const char *at = x->set.at, *end = at + x->set.len; at < end;) {
        const char *value = at + strlen(at) + 1;
        if (strcasecmp(at, name) == 0)
            return cs_str(value);
        at = value + strlen(value) + 1;
    }
    return cs_strn(NULL, 0);
}

static void add_headers(struct cs_exchange *x)
{
    const struct cs_mhd *mhd = x->http->mhd;
    for (const char *at = x->set.at, *end = at + x->set.len; at < end;) {
        const char *value = at + strlen(at) + 1;
        mhd->add_response_header(x->response, at, value);
        at = value + strlen(value) + 1;
    }
}

/* --- whole answers --- */

static void respond(struct cs_exchange *x)
{
    add_headers(x);
    cs_http_resume(x->connection);
}

void cs_exchange_send(struct cs_exchange *x, struct cs_buf *body)
{
    size_t len = body->len;
    x->response = x->http->mhd->create_response_from_buffer_with_free_callback(len, body->at, free);
    if (!x->response) {
        cs_buf_done(body);
        cs_exchange_cut(x);
        return;
    }
    *body = (struct cs_buf){0};
    respond(x);
}

void cs_exchange_reply(struct cs_exchange *x, unsigned status, const char *type, struct cs_str body)
{
    struct cs_buf copy = {0};
    x->status = status;
    x->phase = CS_PHASE_OVER;
    if (x->cut)
        return;
    if (type) {
        cs_exchange_set(x, "Content-Type", cs_str(type));
        cs_buf_put(&copy, body.at, body.len);
    }
    if (type && body.len > x->http->options.compress_bytes)
        cs_squeeze_start(x, cs_str(type), &copy);
    else
        cs_exchange_send(x, &copy);
}

void cs_exchange_refuse(struct cs_exchange *x, unsigned status, const char *text)
{
    CS_AUTO_BUF struct cs_buf line = {0};
    cs_buf_printf(&line, "%s\n", text);
    cs_exchange_reply(x, status, "text/plain", cs_buf_str(&line));
}

enum MHD_Result cs_exchange_queue(struct cs_exchange *x)
{
    const struct cs_mhd *mhd = x->http->mhd;
    struct cs_connection *c = x->connection;
    if (c->early || x->overflow || x->http->draining)
        mhd->add_response_header(x->response, "Connection", "close");
    enum MHD_Result rc = mhd->queue_response(c->mhd, x->status, x->response);
    mhd->destroy_response(x->response);
    x->response = NULL;
    c->bytes = 0;
    cs_http_wait(x->http, &c->waiter, x->streams && !x->ended ? CS_WAIT_NOTHING : CS_WAIT_TAKE);
    return rc;
}

void cs_exchange_free_answer(struct cs_exchange *x)
{
    if (x->response)
        x->http->mhd->destroy_response(x->response);
    if (x->squeeze)
        cs_squeeze_forget(x->squeeze);
    cs_buf_done(&x->set);
    cs_buf_done(&x->out);
}

/* --- streams --- */

/* libmicrohttpd can send up to `max` bytes. */
static ssize_t on_read(void *ctx, uint64_t position, char *to, size_t max)
{
    struct cs_exchange *x = ctx;
    (void)position;
    if (x->cut)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    size_t n = x->out.len - x->sent;
    if (n == 0 && x->ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (n == 0) {
        cs_http_suspend(x->connection);
        if (x->connection->hung_up)
            cs_http_hung_up(x->connection);
        return 0;
    }
    n = n < max ? n : max;
    memcpy(to, x->out.at + x->sent, n);
    x->sent += n;
    if (x->sent == x->out.len) {
        cs_buf_clear(&x->out);
        x->sent = 0;
    }
    return (ssize_t)n;
}

void cs_exchange_stream(struct cs_exchange *x, unsigned status, const char *type)
{
    x->phase = CS_PHASE_STREAM;
    x->status = status;
    x->streams = true;
    if (x->cut)
        return;
    cs_exchange_set(x, "Content-Type", cs_str(type));
    if (cs_str_is(x->method, "HEAD")) {
        /* libmicrohttpd would send the end of a stream that must not be there. */
        struct cs_buf none = {0};
        cs_exchange_send(x, &none);
        return;
    }
    x->response =
        x->http->mhd->create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, on_read, x, NULL);
    if (x->response)
        respond(x);
    else
        cs_exchange_cut(x);
}

bool cs_exchange_write(struct cs_exchange *x, struct cs_str bytes)
{
    if (x->cut)
        return false;
    if (x->sent > 0 && x->sent >= x->out.len - x->sent) {
        cs_buf_drop(&x->out, x->sent);
        x->sent = 0;
    }
    /* What waits, not what comes: one large text to somebody who reads is fine. */
    if (x->out.len - x->sent > x->http->options.unsent_bytes) {
        cs_exchange_cut(x);
        return false;
    }
    cs_buf_putstr(&x->out, bytes);
    cs_http_resume(x->connection);
    return true;
}

void cs_exchange_end(struct cs_exchange *x)
{
    x->phase = CS_PHASE_OVER;
    x->ended = true;
    cs_http_resume(x->connection);
    if (!x->response)
        cs_http_wait(x->http, &x->connection->waiter, CS_WAIT_TAKE);
}

#include <zlib.h>

#include "base/mem.h"
#include "http/decode.h"
#include "http/inside.h"

#define INLINE_MAX (32u * 1024) /* larger ones would hold up the loop, and go to the pool */
#define LEVEL      5
#define GZIP       (15 + 16)

struct cs_squeeze {
    uv_work_t work; /* first */
    struct cs_http *http;
    struct cs_exchange *x; /* NULL: nobody wants it any more */
    struct cs_buf body;
    bool smaller;
};

/* `body` becomes its compressed form, unless that is not smaller. */
static bool compress_it(struct cs_buf *body)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    z_stream z = {0};
    if (body->len > UINT32_MAX || deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY))
        return false;
    z.next_in = (Bytef *)body->at;
    z.avail_in = (uInt)body->len;
    z.next_out = (Bytef *)cs_buf_room(&out, body->len);
    z.avail_out = (uInt)body->len;
    bool done = deflate(&z, Z_FINISH) == Z_STREAM_END;
    cs_buf_added(&out, z.total_out);
    deflateEnd(&z);
    if (!done)
        return false;
    struct cs_buf plain = *body;
    *body = out;
    out = plain;
    return true;
}

static void send_it(struct cs_exchange *x, struct cs_buf *body, bool compressed)
{
    if (compressed)
        cs_exchange_set(x, "Content-Encoding", CS_STR("gzip"));
    cs_exchange_send(x, body);
}

static void on_work(uv_work_t *work)
{
    struct cs_squeeze *s = (struct cs_squeeze *)work;
    s->smaller = compress_it(&s->body);
}

static void on_worked(uv_work_t *work, int status)
{
    struct cs_squeeze *s = (struct cs_squeeze *)work;
    struct cs_http *http = s->http;
    (void)status;
    if (s->x) {
        s->x->squeeze = NULL;
        if (!s->x->cut)
            send_it(s->x, &s->body, s->smaller);
    }
    cs_buf_done(&s->body);
    free(s);
    cs_http_squeezed(http);
}

void cs_squeeze_forget(struct cs_squeeze *s)
{
    s->x = NULL;
}

/* Caches must not give the one form to those who asked for the other. */
static void set_vary(struct cs_exchange *x)
{
    CS_AUTO_BUF struct cs_buf vary = {0};
    struct cs_str was = cs_exchange_was_set(x, "Vary");
    if (was.len > 0)
        cs_buf_printf(&vary, "%.*s, ", CS_STR_ARG(was));
    cs_buf_puts(&vary, "Accept-Encoding");
    cs_exchange_set(x, "Vary", cs_buf_str(&vary));
}

void cs_squeeze_start(struct cs_exchange *x, struct cs_str type, struct cs_buf *body)
{
    if (!cs_http_is_texty(type) || cs_exchange_was_set(x, "Content-Encoding").at) {
        cs_exchange_send(x, body);
        return;
    }
    set_vary(x);
    if (!cs_http_takes_gzip(cs_exchange_header(x, "accept-encoding"))) {
        cs_exchange_send(x, body);
        return;
    }
    if (body->len <= INLINE_MAX) {
        bool smaller = compress_it(body);
        send_it(x, body, smaller);
        return;
    }
    struct cs_squeeze *s = CS_NEW(struct cs_squeeze);
    s->http = x->http;
    s->x = x;
    s->body = *body;
    *body = (struct cs_buf){0};
    x->squeeze = s;
    x->http->squeezing++;
    uv_queue_work(x->http->loop, &s->work, on_work, on_worked);
}

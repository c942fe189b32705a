/*
 * Answers over HTTP. One begins as nothing: if the answer is the first thing to be said it goes as
 * JSON; as soon as something must be said before, it becomes a stream of events, if the client
 * takes those.
 *
 * In a session of the older revisions a client that is cut off may come back and hear the rest:
 * what is said is kept, so much of it for each session, the oldest goes first. The id of an event
 * is that of its stream and its number in the session, "4_17".
 */
#include "base/mem.h"
#include "mcp/proto.h"

#define PRIMED_AFTER 1000u  /* ms without an answer: then there is something to resume by */
#define BEGUN_AFTER  15000u /* ms: then proxies want to see something */
#define RETRY_MS     1000u

struct event {
    struct cs_link link; /* peer->events */
    uint64_t stream, number;
    size_t len;
    char text[];
};

/* --- what is kept --- */

static void drop_event(struct cs_peer *peer, struct event *e)
{
    cs_link_off(&e->link);
    peer->event_count--;
    peer->event_bytes -= e->len;
    peer->mcp->event_bytes -= e->len;
    free(e);
}

static void keep(struct cs_peer *peer, uint64_t stream, uint64_t number, struct cs_str line)
{
    struct event *e = cs_calloc(1, sizeof *e + line.len);
    e->stream = stream;
    e->number = number;
    e->len = line.len;
    memcpy(e->text, line.at, line.len);
    cs_link_before(&peer->events, &e->link);
    peer->event_count++;
    peer->event_bytes += e->len;
    peer->mcp->event_bytes += e->len;
    while (peer->event_count > 1 &&
           (peer->event_count > CS_EVENTS || peer->event_bytes > CS_EVENT_BYTES ||
            peer->mcp->event_bytes > CS_EVENT_BYTES_ALL))
        drop_event(peer, CS_OF(peer->events.next, struct event, link));
}

/* --- life --- */

static void on_gone(void *ctx, struct cs_exchange *x)
{
    struct cs_stream *s = ctx;
    (void)x;
    s->x = NULL;
    /* In the newest revision that is how a client cancels; in the older ones it is not. */
    if (!s->peer && s->req)
        cs_req_cancel(s->req);
}

static void attach(struct cs_stream *s, struct cs_exchange *x)
{
    s->x = x;
    s->said_at = cs_mcp_now();
    if (x)
        cs_exchange_on_gone(x, on_gone, s);
}

struct cs_stream *cs_stream_new(struct cs_mcp *m, struct cs_peer *peer, struct cs_exchange *x,
                                bool may_sse)
{
    struct cs_stream *s = CS_NEW(struct cs_stream);
    s->mcp = m;
    s->peer = peer;
    s->may_sse = may_sse;
    s->began = cs_mcp_now();
    s->open = 1;
    cs_link_init(&s->link);
    cs_link_before(&m->all_streams, &s->all);
    if (peer) {
        s->id = ++peer->next_stream;
        cs_link_before(&peer->streams, &s->link);
    }
    attach(s, x);
    return s;
}

void cs_stream_free(struct cs_stream *s)
{
    if (s->peer && s->over)
        s->peer->old_streams--;
    if (s->peer && s->peer->own == s)
        s->peer->own = NULL;
    cs_link_off(&s->link);
    cs_link_off(&s->all);
    cs_buf_done(&s->answers);
    free(s);
}

static void begin_bytes(struct cs_stream *s)
{
    if (!s->x)
        return;
    cs_exchange_set(s->x, "Cache-Control", CS_STR("no-cache"));
    cs_exchange_set(s->x, "X-Accel-Buffering", CS_STR("no"));
    cs_exchange_stream(s->x, 200, "text/event-stream");
}

static void end_exchange(struct cs_stream *s)
{
    struct cs_exchange *x = s->x;
    s->x = NULL;
    if (x)
        cs_exchange_end(x);
}

void cs_stream_cut(struct cs_stream *s)
{
    if (s->x && !s->sse)
        begin_bytes(s);
    end_exchange(s);
    cs_stream_free(s);
}

static void drop_old(struct cs_peer *peer)
{
    struct cs_link *next;
    for (struct cs_link *l = peer->streams.next; l != &peer->streams; l = next) {
        struct cs_stream *s = CS_OF(l, struct cs_stream, link);
        next = l->next;
        if (peer->old_streams <= CS_OLD_STREAMS)
            return;
        if (s->over)
            cs_stream_free(s);
    }
}

/* --- events --- */

static void put_event(struct cs_buf *out, uint64_t stream, uint64_t number, struct cs_str line)
{
    if (stream > 0)
        cs_buf_printf(out, "id: %llu_%llu\n", (unsigned long long)stream,
                      (unsigned long long)number);
    cs_buf_puts(out, "event: message\ndata: ");
    cs_buf_putstr(out, line);
    cs_buf_puts(out, "\n\n");
}

/* An event without data, so that there is an id to come back with. Older clients would take it for
 * a message. */
static void prime(struct cs_stream *s)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    if (!s->x || !s->peer || s->peer->version < CS_V2025_11)
        return;
    cs_buf_printf(&out, "id: %llu_%llu\nretry: %u\ndata: \n\n", (unsigned long long)s->id,
                  (unsigned long long)s->peer->next_event, RETRY_MS);
    cs_exchange_write(s->x, cs_buf_str(&out));
}

static void begin(struct cs_stream *s)
{
    if (s->sse)
        return;
    s->sse = true;
    begin_bytes(s);
    prime(s);
}

static void emit(struct cs_stream *s, struct cs_str json)
{
    CS_AUTO_BUF struct cs_buf line = {0}, out = {0};
    uint64_t number = s->peer ? ++s->peer->next_event : 0;
    cs_json_line(&line, json);
    s->said_at = cs_mcp_now();
    if (s->peer)
        keep(s->peer, s->id, number, cs_buf_str(&line));
    if (!s->x)
        return;
    put_event(&out, s->id, number, cs_buf_str(&line));
    cs_exchange_write(s->x, cs_buf_str(&out));
}

bool cs_stream_say(struct cs_stream *s, struct cs_str json)
{
    if (s->over || !s->may_sse)
        return false;
    begin(s);
    emit(s, json);
    return true;
}

/* --- answers --- */

static void reply(struct cs_stream *s, unsigned status, struct cs_str json)
{
    struct cs_exchange *x = s->x;
    s->x = NULL;
    if (x)
        cs_exchange_reply(x, status, json.len > 0 ? "application/json" : NULL, json);
}

static void finish(struct cs_stream *s)
{
    bool gathered = s->array && !s->sse;
    if (gathered && s->answers.len > 0) {
        cs_buf_putc(&s->answers, ']');
        reply(s, 200, cs_buf_str(&s->answers));
    } else if (gathered) {
        reply(s, 202, (struct cs_str){0});
    } else if (!s->sse && s->x) {
        begin_bytes(s); /* it was cancelled: an end without an answer */
    }
    end_exchange(s);
    if (!s->peer || !s->sse) {
        cs_stream_free(s);
        return;
    }
    s->over = true;
    s->peer->old_streams++;
    cs_buf_done(&s->answers);
    drop_old(s->peer);
}

void cs_stream_answer(struct cs_stream *s, struct cs_str json, unsigned status)
{
    s->open--;
    if (json.len > 0 && s->may_sse && (s->array || s->no_json))
        begin(s);
    if (json.len > 0 && s->sse) {
        emit(s, json);
    } else if (json.len > 0 && s->array) {
        cs_buf_putc(&s->answers, s->answers.len > 0 ? ',' : '[');
        cs_buf_putstr(&s->answers, json);
    } else if (json.len > 0) {
        reply(s, status, json);
    }
    if (s->open == 0)
        finish(s);
}

/* --- coming back --- */

void cs_stream_hang_up(struct cs_stream *s)
{
    if (!s->peer || !s->may_sse || s->over)
        return;
    begin(s);
    end_exchange(s);
}

static void replay(struct cs_stream *s, uint64_t after)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    for (struct cs_link *l = s->peer->events.next; l != &s->peer->events; l = l->next) {
        struct event *e = CS_OF(l, struct event, link);
        if (e->stream == s->id && e->number > after)
            put_event(&out, e->stream, e->number, cs_strn(e->text, e->len));
    }
    if (out.len > 0 && s->x)
        cs_exchange_write(s->x, cs_buf_str(&out));
}

static bool read_event_id(struct cs_str text, uint64_t *stream, uint64_t *number)
{
    uint64_t *to = stream;
    unsigned digits = 0;
    *stream = *number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '_' && to == stream && digits > 0) {
            to = number;
            digits = 0;
        } else if (text.at[i] >= '0' && text.at[i] <= '9' && digits++ < 18) {
            *to = *to * 10 + (uint64_t)(text.at[i] - '0');
        } else {
            return false;
        }
    }
    return to == number && digits > 0;
}

bool cs_stream_resume(struct cs_peer *peer, struct cs_str event, struct cs_exchange *x)
{
    uint64_t stream, number;
    if (!read_event_id(event, &stream, &number))
        return false;
    for (struct cs_link *l = peer->streams.next; l != &peer->streams; l = l->next) {
        struct cs_stream *s = CS_OF(l, struct cs_stream, link);
        if (s->id != stream || !s->sse)
            continue;
        end_exchange(s); /* if the old connection is not known to be dead yet */
        attach(s, x);
        begin_bytes(s);
        replay(s, number);
        if (s->over)
            end_exchange(s);
        return true;
    }
    return false;
}

void cs_stream_open_get(struct cs_peer *peer, struct cs_exchange *x)
{
    if (peer->own) {
        end_exchange(peer->own);
        attach(peer->own, x);
        peer->own->sse = false;
    } else {
        peer->own = cs_stream_new(peer->mcp, peer, x, true);
        peer->own->get = true;
    }
    begin(peer->own);
}

void cs_stream_tick(struct cs_stream *s, uint64_t now)
{
    bool old = s->peer != NULL;
    uint64_t after = old && s->peer->version >= CS_V2025_11 ? PRIMED_AFTER : BEGUN_AFTER;
    if (!s->x || s->over)
        return;
    if (!s->sse && s->may_sse && now - s->began >= after)
        begin(s);
    if (!s->sse || now - s->said_at < CS_KEEP_ALIVE)
        return;
    s->said_at = now;
    cs_exchange_write(s->x, CS_STR(":\n\n"));
}

void cs_streams_close(struct cs_peer *peer)
{
    while (!cs_link_alone(&peer->streams)) {
        struct cs_stream *s = CS_OF(peer->streams.next, struct cs_stream, link);
        cs_stream_cut(s);
    }
    while (!cs_link_alone(&peer->events))
        drop_event(peer, CS_OF(peer->events.next, struct event, link));
}

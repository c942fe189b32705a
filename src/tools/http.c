/*
 * Streamable HTTP. Each message is one POST whose answer is JSON or a stream of events; in the
 * legacy era there may also be one GET stream, and a stream that breaks off is taken up again with
 * GET and Last-Event-ID. All of them are a `struct exchange`:
 *
 *     launch -> (401, 403: tokens -> launch) -> data ... -> done -> (wait -> launch with GET)
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tools/fetch.h"
#include "tools/headers.h"
#include "tools/oauth.h"
#include "tools/secret.h"
#include "tools/sse.h"
#include "tools/transport.h"
#include "tools/url.h"

#define SESSION_MAX  1024u
#define NOTE_MS      30000u /* of a POST for which nobody waits */
#define GREETING_MS  5000u  /* that others wait for notifications/initialized to be taken */
#define GOODBYE_MS   2000u
#define LINGER_MS    2000u /* a stream may stay open after its answer: its connection is reused */
#define AUTH_TRIES   3u
#define RESUME_TRIES 5u
#define RETRY_MS     1000u /* before taking up a stream again, if the server does not say */
#define RETRY_MIN_MS 100u
#define RETRY_MAX_MS 60000u
#define WAITING_MAX  (64u << 20) /* bytes of requests that are not answered yet */

enum kind { POST, LISTEN, GOODBYE };

struct ticket { /* outlives an exchange that is forgotten while tokens are looked for */
    struct exchange *x;
};

struct exchange {
    struct server *server;
    struct exchange *prev, *next;
    enum kind kind;
    uint64_t id;
    bool modern, initialize;
    char *version;
    struct cs_buf body;
    struct cs_headers fixed; /* Mcp-Method and its kind */

    struct cs_fetch *fetch;
    struct cs_sse sse;
    char *token, *session; /* sent with the last attempt; or NULL */
    struct ticket *ticket;
    uv_timer_t *timer;
    unsigned auth_tries, quiet; /* attempts without a single event */
    bool resuming, streamed, answered;
    bool held; /* until the greeting is over */
    bool busy, dead;
};

struct server {
    struct cs_transport base;
    struct cs_fetcher *http;
    const struct cs_server_config *config;
    struct cs_oauth *oauth;
    char *session, *version; /* of the legacy era */
    struct exchange *all;
    struct exchange *greeting; /* the POST of notifications/initialized, while it is under way */
    size_t waiting;            /* bytes */
    bool closing;
};

static const struct cs_fetch_events fetch_events;
static void launch(struct exchange *x);

/* Exchanges: made, told, ended */

static void timer_gone(uv_handle_t *handle)
{
    free(handle);
}

static void stop_timer(struct exchange *x)
{
    if (!x->timer)
        return;
    x->timer->data = NULL;
    uv_close((uv_handle_t *)x->timer, timer_gone);
    x->timer = NULL;
}

static void after(struct exchange *x, uint64_t ms, uv_timer_cb then)
{
    uv_loop_t *loop = cs_fetcher_loop(x->server->http);
    if (!x->timer) {
        x->timer = CS_NEW(uv_timer_t);
        uv_timer_init(loop, x->timer);
        x->timer->data = x;
    }
    uv_update_time(loop);
    uv_timer_start(x->timer, then, ms, 0);
}

static struct exchange *exchange_new(struct server *s, enum kind kind, const char *version)
{
    struct exchange *x = CS_NEW(struct exchange);
    x->server = s;
    x->kind = kind;
    x->version = version ? cs_strdup(version) : NULL;
    x->sse.max = CS_MESSAGE_MAX;
    x->next = s->all;
    if (x->next)
        x->next->prev = x;
    s->all = x;
    return x;
}

/* Some servers end a session whose first message is not the one that says we are there; on several
 * connections, only its answer tells that it has come first. */
static void greeted(struct server *s)
{
    s->greeting = NULL;
    struct exchange *x = s->all;
    while (x && x->next)
        x = x->next;
    for (; x && !s->closing; x = x->prev) /* the oldest first */
        if (x->held && !x->dead) {
            x->held = false;
            launch(x);
        }
}

static void exchange_free(struct exchange *x)
{
    struct server *s = x->server;
    if (s->greeting == x)
        greeted(s);
    cs_fetch_cancel(x->fetch);
    x->fetch = NULL;
    if (x->ticket)
        x->ticket->x = NULL;
    x->ticket = NULL;
    stop_timer(x);
    x->dead = true;
    if (x->busy)
        return;
    if (x->prev)
        x->prev->next = x->next;
    else
        s->all = x->next;
    if (x->next)
        x->next->prev = x->prev;
    s->waiting -= x->body.len;
    free(x->version);
    cs_secret_free(x->token);
    free(x->session);
    cs_buf_done(&x->body);
    cs_headers_done(&x->fixed);
    cs_sse_done(&x->sse);
    free(x);
}

static void failed(struct exchange *x, enum cs_trouble trouble, int status,
                   const struct cs_err *why)
{
    struct server *s = x->server;
    struct cs_err err = *why;
    uint64_t id = x->id;
    exchange_free(x);
    if (id)
        s->base.events->failed(s->base.ctx, id, trouble, status, &err);
}

/* The exchange has brought a response. Usually that was the end of the request; if it had another
 * id, this is. */
static void answered(struct exchange *x)
{
    struct cs_err err = {0};
    cs_fail(&err, CS_UPSTREAM, "it answered with a response to another request");
    failed(x, CS_TROUBLE_LOST, 200, &err);
}

static void on_linger(uv_timer_t *timer)
{
    answered(timer->data);
}

/* False: the exchange is gone. */
static bool message(struct exchange *x, struct cs_str json)
{
    struct server *s = x->server;
    if (x->kind == POST && x->id && cs_is_response(json))
        x->answered = true;
    x->busy = true;
    s->base.events->message(s->base.ctx, json, x->id);
    x->busy = false;
    if (!x->dead)
        return true;
    exchange_free(x);
    return false;
}

/* Streams */

static void on_resume(uv_timer_t *timer)
{
    struct exchange *x = timer->data;
    stop_timer(x);
    launch(x);
}

/* Waits as long as the server asked, or longer each time, then asks for the rest of the stream. */
static void resume(struct exchange *x)
{
    uint64_t ms = RETRY_MS;
    if (x->sse.has_retry)
        ms = x->sse.retry_ms < RETRY_MAX_MS ? (uint64_t)x->sse.retry_ms : RETRY_MAX_MS;
    else
        ms <<= x->quiet < 6 ? x->quiet : 6;
    if (ms > RETRY_MAX_MS)
        ms = RETRY_MAX_MS;
    if (ms < RETRY_MIN_MS) /* a server that ends each stream at once */
        ms = RETRY_MIN_MS;
    x->quiet++;
    x->resuming = true;
    x->streamed = false;
    x->fetch = NULL; /* it is over, and frees itself */
    cs_sse_restart(&x->sse);
    after(x, ms, on_resume);
}

/* The stream is over, in whichever way. */
static void stream_over(struct exchange *x, const struct cs_err *why)
{
    struct cs_err err = *why;
    if (x->answered) {
        answered(x);
    } else if (x->kind == LISTEN) {
        if (x->server->closing)
            exchange_free(x);
        else
            resume(x);
    } else if (x->id && !x->modern && x->sse.last_id.len && x->quiet < RESUME_TRIES) {
        resume(x);
    } else {
        if (err.code == CS_OK)
            cs_fail(&err, CS_UPSTREAM,
                    "it ended the stream without an answer; the call may have been done");
        failed(x, CS_TROUBLE_LOST, cs_fetch_status(x->fetch), &err);
    }
}

static void take_session(struct exchange *x)
{
    struct server *s = x->server;
    if (!x->initialize)
        return;
    struct cs_str id = cs_fetch_header(x->fetch, "mcp-session-id");
    bool good = id.len > 0 && id.len <= SESSION_MAX;
    for (size_t i = 0; good && i < id.len; i++)
        good = id.at[i] >= 0x21 && id.at[i] <= 0x7e;
    free(s->session);
    s->session = good ? cs_strndup(id.at, id.len) : NULL;
}

static void on_data(void *ctx, struct cs_str bytes)
{
    struct exchange *x = ctx;
    if (!x->streamed) {
        x->streamed = true;
        take_session(x);
    }
    struct cs_sse_event event;
    struct cs_err err = {0};
    int got;
    while ((got = cs_sse_next(&x->sse, &bytes, &event, &err)) == 1) {
        x->quiet = 0;
        /* An event without data names an id to come back to; other types are not for us. */
        if (event.data.len == 0 || (event.type.len && !cs_str_is(event.type, "message")))
            continue;
        bool before = x->answered;
        if (!message(x, event.data))
            return;
        if (x->answered && !before)
            after(x, LINGER_MS, on_linger);
    }
    if (got < 0) {
        if (x->kind == LISTEN)
            exchange_free(x); /* it would only send the same again */
        else
            failed(x, CS_TROUBLE_TOO_LARGE, 200, &err);
    }
}

/* Answers */

static void on_tokens(void *ctx, bool again, const struct cs_err *why)
{
    struct ticket *ticket = ctx;
    struct exchange *x = ticket->x;
    free(ticket);
    if (!x)
        return;
    x->ticket = NULL;
    if (again) {
        launch(x);
        return;
    }
    struct cs_err err = {0};
    cs_fail(&err, CS_DENIED, "it wants a login: run `caisson login %s`%s%.250s%s",
            x->server->config->name, why->code ? " (" : "", why->msg, why->code ? ")" : "");
    failed(x, CS_TROUBLE_UNAUTHORIZED, 401, &err);
}

static void refused(struct exchange *x, int status)
{
    struct server *s = x->server;
    struct cs_str challenge = cs_fetch_header(x->fetch, "www-authenticate");
    struct cs_err err = {0};
    char said[208];
    cs_body_text(cs_fetch_body(x->fetch), said, sizeof said);
    if (cs_headers_in_entry(s->config->headers, "authorization")) {
        cs_fail(&err, CS_DENIED, "it refuses the Authorization header of its entry (HTTP %d%s%s)",
                status, said[0] ? ": " : "", said);
    } else if (!s->oauth || ++x->auth_tries > AUTH_TRIES) {
        cs_fail(&err, CS_DENIED,
                "it refuses the login (HTTP %d%s%s): run `caisson login %s`, or put a token into "
                "the headers of its entry",
                status, said[0] ? ": " : "", said, s->config->name);
    } else {
        struct cs_str now = cs_oauth_token(s->oauth, s->config);
        bool changed = now.len && !cs_str_eq(now, cs_str(x->token));
        x->fetch = NULL; /* it is over, and frees itself */
        x->ticket = CS_NEW(struct ticket);
        x->ticket->x = x;
        struct ticket *ticket = x->ticket;
        if (changed) /* another request has brought a new one meanwhile */
            on_tokens(ticket, true, NULL);
        else
            cs_oauth_challenged(s->oauth, s->config, status, challenge, on_tokens, ticket);
        return;
    }
    failed(x, CS_TROUBLE_UNAUTHORIZED, status, &err);
}

static const char *status_advice(int status)
{
    switch (status) {
    case 403:
        return "; the login or token may not do this";
    case 404:
    case 405:
        return "; is this the address of its MCP endpoint?";
    case 413:
        return "; the request is too large for it";
    case 429:
        return "; it asks for fewer requests: wait, then try again";
    default:
        return status >= 500 ? "; the fault is the server's: try again later, or read its log" : "";
    }
}

static void bad_status(struct exchange *x, int status)
{
    struct cs_err err = {0};
    char said[208];
    struct cs_str body = cs_fetch_body(x->fetch);
    bool html = cs_fetch_type_is(x->fetch, "text/html");
    cs_body_text(html ? cs_strn(NULL, 0) : body, said, sizeof said);
    CS_AUTO_BUF struct cs_buf where = {0};
    cs_url_show(cs_str(x->server->config->url), &where);
    cs_fail(&err, CS_UPSTREAM, "%s answered HTTP %d%s%s%s", cs_buf_cstr(&where), status,
            said[0] ? ": " : "", said, status_advice(status));
    failed(x, CS_TROUBLE_STATUS, status, &err);
}

/* A server that has forgotten the session should say 404. Some say 400, and why. */
static bool session_lost(const struct exchange *x, int status)
{
    if (!x->session)
        return false;
    if (status == 404)
        return true;
    struct cs_str body = cs_fetch_body(x->fetch);
    return status == 400 &&
           (memmem(body.at, body.len, "session", 7) || memmem(body.at, body.len, "Session", 7));
}

static void no_session(struct exchange *x, int status)
{
    struct server *s = x->server;
    struct cs_err err = {0};
    cs_fail(&err, CS_UPSTREAM, "it has forgotten the session (HTTP %d)", status);
    if (s->session && strcmp(s->session, x->session) == 0) { /* there may be a new one by now */
        free(s->session);
        s->session = NULL;
    }
    failed(x, CS_TROUBLE_SESSION, status, &err);
}

/* An answer 2xx that is no stream. */
static void good_answer(struct exchange *x, int status)
{
    struct cs_str body = cs_fetch_body(x->fetch);
    struct cs_err err = {0};
    take_session(x);
    if (x->id == 0) {
        exchange_free(x);
    } else if (body.len == 0) {
        cs_fail(&err, CS_UPSTREAM, "it answered HTTP %d without a message", status);
        failed(x, CS_TROUBLE_STATUS, status, &err);
    } else if (!cs_fetch_type_is(x->fetch, "application/json")) {
        struct cs_str type = cs_fetch_header(x->fetch, "content-type");
        cs_fail(&err, CS_UPSTREAM,
                "it answered with '%.*s' instead of JSON; is this the address of its MCP "
                "endpoint?",
                (int)(type.len < 80 ? type.len : 80), type.len ? type.at : "");
        failed(x, CS_TROUBLE_STATUS, status, &err);
    } else if (message(x, body)) {
        if (x->answered) {
            answered(x);
            return;
        }
        cs_fail(&err, CS_UPSTREAM, "it answered with something that is no response");
        failed(x, CS_TROUBLE_LOST, status, &err);
    }
}

static bool wants_auth(struct exchange *x, int status)
{
    if (status == 401)
        return true;
    struct cs_str c = cs_fetch_header(x->fetch, "www-authenticate");
    return status == 403 && c.len &&
           (memmem(c.at, c.len, "insufficient_scope", 18) || memmem(c.at, c.len, "scope=", 6));
}

static void listen_done(struct exchange *x, int status, const struct cs_err *err)
{
    if (status == 200 && cs_fetch_type_is(x->fetch, "text/event-stream"))
        stream_over(x, err);
    else if (status == 401 && x->token && x->auth_tries < AUTH_TRIES)
        refused(x, status);
    else if ((status == 0 || status >= 500) && x->quiet < 10)
        stream_over(x, err);
    else
        exchange_free(x); /* 405 and the like: there is no such stream, which is fine */
}

/* The session is ended, or was none: all of it goes. */
static void goodbye(struct exchange *x)
{
    struct server *s = x->server;
    exchange_free(x);
    while (s->all)
        exchange_free(s->all);
    struct cs_err none = {0};
    s->base.events->closed(s->base.ctx, &none);
    free(s->session);
    free(s->version);
    free(s);
}

static void answer(struct exchange *x, int status, const struct cs_err *err)
{
    if (err->code == CS_UPSTREAM && x->resuming)
        stream_over(x, err);
    else if (err->code != CS_OK && !x->streamed)
        failed(x, err->code == CS_LIMIT ? CS_TROUBLE_TOO_LARGE : CS_TROUBLE_LOST, status, err);
    else if (x->streamed)
        stream_over(x, err);
    else if (status == 200 && cs_fetch_type_is(x->fetch, "text/event-stream"))
        stream_over(x, err); /* without a single byte */
    else if (wants_auth(x, status))
        refused(x, status);
    else if (session_lost(x, status))
        no_session(x, status);
    else if (status >= 200 && status < 300 && !x->resuming)
        good_answer(x, status);
    else if (status >= 400 && status < 500 && x->id && cs_is_rpc_error(cs_fetch_body(x->fetch))) {
        x->answered = true;
        if (message(x, cs_fetch_body(x->fetch)))
            exchange_free(x);
    } else
        bad_status(x, status);
}

static void on_done(void *ctx, const struct cs_err *err)
{
    struct exchange *x = ctx;
    int status = cs_fetch_status(x->fetch);
    if (x->kind == GOODBYE)
        goodbye(x);
    else if (x->kind == LISTEN)
        listen_done(x, status, err);
    else
        answer(x, status, err);
}

static const struct cs_fetch_events fetch_events = {on_data, on_done};

/* Requests */

static void add_token(struct exchange *x, struct cs_headers *h)
{
    struct server *s = x->server;
    cs_secret_free(x->token);
    x->token = NULL;
    if (!s->oauth || cs_headers_in_entry(s->config->headers, "authorization"))
        return;
    struct cs_str token = cs_oauth_token(s->oauth, s->config);
    if (token.len == 0)
        return;
    CS_AUTO(cs_buf_wipe) struct cs_buf bearer = {0};
    cs_buf_puts(&bearer, "Bearer ");
    cs_buf_putstr(&bearer, token);
    cs_headers_add(h, "Authorization", cs_buf_str(&bearer));
    x->token = cs_strndup(token.at, token.len);
}

static void launch(struct exchange *x)
{
    struct server *s = x->server;
    struct cs_headers h = {0};
    bool post = x->kind == POST && !x->resuming;
    if (post) {
        cs_headers_add(&h, "Content-Type", CS_STR("application/json"));
        cs_headers_add(&h, "Accept", CS_STR("application/json, text/event-stream"));
    } else if (x->kind != GOODBYE) {
        cs_headers_add(&h, "Accept", CS_STR("text/event-stream"));
        if (x->sse.last_id.len)
            cs_headers_add(&h, "Last-Event-ID", cs_buf_str(&x->sse.last_id));
    }
    if (x->version)
        cs_headers_add(&h, "MCP-Protocol-Version", cs_str(x->version));
    free(x->session);
    x->session = s->session && !x->modern && !x->initialize ? cs_strdup(s->session) : NULL;
    if (x->session)
        cs_headers_add(&h, "Mcp-Session-Id", cs_str(x->session));
    cs_headers_add_entry(&h, s->config->headers);
    add_token(x, &h);
    const char *lines[2 * CS_HEADERS_MAX + 1];
    size_t n = 0;
    for (size_t i = 0; post && i < x->fixed.count; i++)
        lines[n++] = x->fixed.line[i];
    for (size_t i = 0; i < h.count; i++)
        lines[n++] = h.line[i];
    lines[n] = NULL;
    struct cs_fetch_request r = {
        .method = post                 ? "POST"
                  : x->kind == GOODBYE ? "DELETE"
                                       : "GET",
        .url = s->config->url,
        .headers = lines,
        .body = post ? cs_buf_str(&x->body) : cs_strn(NULL, 0),
        .timeout_ms = x->kind == GOODBYE          ? GOODBYE_MS
                      : x == s->greeting          ? GREETING_MS
                      : x->kind == POST && !x->id ? NOTE_MS
                                                  : 0,
        .max_body = CS_MESSAGE_MAX,
    };
    x->fetch = cs_fetch_start(s->http, &r, &fetch_events, x);
    cs_headers_done(&h);
}

static void on_overflow(uv_timer_t *timer)
{
    struct exchange *x = timer->data;
    struct cs_err err = {0};
    cs_fail(&err, CS_LIMIT, "more than %u MiB of requests wait for it", WAITING_MAX >> 20);
    failed(x, CS_TROUBLE_LOST, 0, &err);
}

static void http_send(struct cs_transport *t, const struct cs_outgoing *m)
{
    struct server *s = (struct server *)t;
    if (s->closing)
        return;
    struct exchange *x = exchange_new(s, POST, m->version);
    x->id = m->id;
    x->modern = m->modern;
    x->initialize = m->method && !m->modern && strcmp(m->method, "initialize") == 0;
    if (m->version && !m->modern) {
        free(s->version);
        s->version = cs_strdup(m->version);
    }
    if (s->waiting + m->json.len > WAITING_MAX && s->waiting) {
        after(x, 0, on_overflow);
        return;
    }
    cs_buf_putstr(&x->body, m->json);
    s->waiting += x->body.len;
    if (m->modern && m->method) {
        cs_headers_add(&x->fixed, "Mcp-Method", cs_str(m->method));
        if (m->name.len)
            cs_headers_add_encoded(&x->fixed, "Mcp-Name", m->name);
        for (const struct cs_pair *p = m->params; p && p->name; p++)
            cs_headers_add_encoded(&x->fixed, p->name, cs_str(p->value));
    }
    if (m->trace && *m->trace)
        cs_headers_add(&x->fixed, "traceparent", cs_str(m->trace));
    if (m->method && !m->modern && strcmp(m->method, "notifications/initialized") == 0)
        s->greeting = x;
    x->held = s->greeting && s->greeting != x;
    if (!x->held)
        launch(x);
}

static void http_forget(struct cs_transport *t, uint64_t id)
{
    struct server *s = (struct server *)t;
    for (struct exchange *x = s->all; id && x; x = x->next)
        if (x->kind == POST && x->id == id && !x->dead) {
            exchange_free(x);
            return;
        }
}

static void http_listen(struct cs_transport *t, const char *version)
{
    struct server *s = (struct server *)t;
    for (struct exchange *x = s->all; x; x = x->next)
        if (x->kind == LISTEN && !x->dead) {
            exchange_free(x);
            break;
        }
    if (s->closing)
        return;
    struct exchange *x = exchange_new(s, LISTEN, version);
    x->held = s->greeting != NULL;
    if (!x->held)
        launch(x);
}

static struct cs_str http_stderr(struct cs_transport *t)
{
    (void)t;
    return (struct cs_str){0};
}

static void on_goodbye(uv_timer_t *timer)
{
    goodbye(timer->data);
}

static void http_close(struct cs_transport *t)
{
    struct server *s = (struct server *)t;
    if (s->closing)
        return;
    s->closing = true;
    for (struct exchange *x = s->all, *next; x; x = next) {
        next = x->next;
        exchange_free(x);
    }
    struct exchange *bye = exchange_new(s, GOODBYE, s->version);
    if (s->session)
        launch(bye);
    else
        after(bye, 0, on_goodbye);
}

int cs_http_new(struct cs_fetcher *http, const struct cs_server_config *config,
                struct cs_oauth *oauth, const struct cs_transport_events *events, void *ctx,
                struct cs_transport **transport, struct cs_err *err)
{
    static const struct cs_transport_ops ops = {
        http_send, http_forget, http_listen, http_stderr, http_close,
    };
    struct cs_url url;
    if (!http)
        return cs_fail(err, CS_BUG, "server '%s': HTTP was not started", config->name);
    if (cs_url_parse(cs_str(config->url), &url, err) < 0 ||
        cs_headers_check_entry(config->headers, err) < 0)
        return cs_wrap(err, "server '%s'", config->name);
    struct server *s = CS_NEW(struct server);
    s->base = (struct cs_transport){.ops = &ops, .events = events, .ctx = ctx};
    s->http = http;
    s->config = config;
    s->oauth = oauth;
    *transport = &s->base;
    return 0;
}

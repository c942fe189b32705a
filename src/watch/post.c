#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "tools/fetch.h"
#include "watch/inside.h"

#define TIMEOUT_MS  10000
#define ANSWER_MAX  (64u << 10)
#define ATTEMPTS    6
#define PAUSE_MS    500 /* doubles each time */
#define PAUSE_MOST  30000
#define LAST_MS     2000
#define BYTES_MOST  (16u << 20) /* of all that waits */
#define STATUS_FEW  429
#define SHOWN_BYTES 200

struct item {
    struct item *next;
    struct cs_buf body;
    uint32_t weight;
};

struct cs_poster {
    struct cs_watch *watch;
    const char *name;
    char *url;    /* NULL: nowhere */
    char *secret; /* NULL: not signed */
    struct item *head, **tail;
    size_t count, most, bytes;
    unsigned attempts; /* of the first one */
    struct cs_fetch *fetch;
    uv_timer_t timer; /* until the next attempt; when closing, until the end */
    uint64_t sent, dropped;
    bool failing; /* it was told */
    void (*closed)(struct cs_watch *watch);
};

struct cs_poster *cs_poster_new(struct cs_watch *w, const char *name, size_t most)
{
    struct cs_poster *p = CS_NEW(struct cs_poster);
    p->watch = w;
    p->name = name;
    p->most = most;
    p->tail = &p->head;
    uv_timer_init(w->loop, &p->timer);
    p->timer.data = p;
    return p;
}

static void next(struct cs_poster *p);

static void take_first(struct cs_poster *p, uint64_t *counter)
{
    struct item *i = p->head;
    *counter += i->weight;
    p->head = i->next;
    if (!p->head)
        p->tail = &p->head;
    p->count--;
    p->bytes -= i->body.len;
    p->attempts = 0;
    cs_buf_done(&i->body);
    free(i);
}

/* --- how it went --- */

/* By the rules of OTLP, which are good for anything. */
static bool is_for_now(int status)
{
    return status == 0 || status == STATUS_FEW || status == 502 || status == 503 || status == 504;
}

static uint64_t pause_of(struct cs_poster *p)
{
    uint64_t ms = (uint64_t)PAUSE_MS << p->attempts;
    struct cs_str after = cs_fetch_header(p->fetch, "retry-after");
    uint64_t seconds = 0;
    for (size_t i = 0; i < after.len && i < 4 && after.at[i] >= '0' && after.at[i] <= '9'; i++)
        seconds = seconds * 10 + (uint64_t)(after.at[i] - '0');
    if (seconds * 1000 > ms)
        ms = seconds * 1000;
    return ms < PAUSE_MOST ? ms : PAUSE_MOST;
}

static void on_timer(uv_timer_t *t)
{
    next(t->data);
}

/* Without the address that it begins with: that of a webhook is often a secret. */
static const char *reason_of(const struct cs_err *err)
{
    const char *end = strstr(err->msg, "://") ? strstr(err->msg, ": ") : NULL;
    return end ? end + 2 : err->msg;
}

static void say_failed(struct cs_poster *p, int status, const struct cs_err *err)
{
    if (!p->failing && err->code != CS_OK)
        cs_log_line(CS_LOG_WARN, p->name, "not delivered: %.*s", SHOWN_BYTES, reason_of(err));
    else if (!p->failing)
        cs_log_line(CS_LOG_WARN, p->name, "not delivered: the address answered HTTP %d", status);
    p->failing = true;
}

static void on_done(void *ctx, const struct cs_err *err)
{
    struct cs_poster *p = ctx;
    int status = err->code == CS_OK ? cs_fetch_status(p->fetch) : 0;
    uint64_t pause = pause_of(p);
    p->fetch = NULL; /* it is freed after this */
    if (status >= 200 && status < 300) {
        p->failing = false;
        take_first(p, &p->sent);
        next(p);
        return;
    }
    say_failed(p, status, err);
    if (p->closed || !is_for_now(status) || ++p->attempts >= ATTEMPTS) {
        take_first(p, &p->dropped);
        next(p);
        return;
    }
    uv_timer_start(&p->timer, on_timer, pause, 0);
}

/* --- who it comes from --- */

static void forget_secret(struct cs_poster *p)
{
    if (p->secret)
        explicit_bzero(p->secret, strlen(p->secret));
    free(p->secret);
    p->secret = NULL;
}

void cs_poster_sign(struct cs_poster *p, const char *secret)
{
    forget_secret(p);
    p->secret = cs_strdup(secret);
}

void cs_poster_signature(const char *secret, int64_t seconds, struct cs_str body,
                         char header[CS_SIGNATURE])
{
    CS_AUTO_BUF struct cs_buf text = {0};
    unsigned char mac[CS_SHA256];
    cs_buf_printf(&text, "%lld.", (long long)seconds);
    cs_buf_putstr(&text, body);
    if (!HMAC(EVP_sha256(), secret, (int)strlen(secret), (const unsigned char *)text.at, text.len,
              mac, NULL))
        abort(); /* nothing but memory can be missing */
    int n = snprintf(header, CS_SIGNATURE, "Caisson-Signature: t=%lld,v1=", (long long)seconds);
    cs_hex(mac, sizeof mac, header + n);
}

/* --- closing --- */

static void on_timer_closed(uv_handle_t *h)
{
    struct cs_poster *p = h->data;
    struct cs_watch *w = p->watch;
    void (*closed)(struct cs_watch *) = p->closed;
    free(p->url);
    forget_secret(p);
    free(p);
    closed(w);
}

static void end(struct cs_poster *p)
{
    cs_fetch_cancel(p->fetch);
    p->fetch = NULL;
    while (p->head)
        take_first(p, &p->dropped);
    if (!uv_is_closing((uv_handle_t *)&p->timer))
        uv_close((uv_handle_t *)&p->timer, on_timer_closed);
}

static void on_late(uv_timer_t *t)
{
    end(t->data);
}

void cs_poster_close(struct cs_poster *p, void (*closed)(struct cs_watch *watch))
{
    p->closed = closed;
    uv_timer_start(&p->timer, on_late, LAST_MS, 0);
    if (!p->fetch)
        next(p);
}

/* --- sending --- */

static void start(struct cs_poster *p)
{
    static const struct cs_fetch_events events = {.done = on_done};
    const char *headers[] = {"Content-Type: application/json", NULL, NULL};
    char signature[CS_SIGNATURE];
    struct cs_err err = {0};
    struct cs_fetcher *http = cs_watch_http(p->watch, &err);
    if (!http) {
        say_failed(p, 0, &err);
        while (p->head)
            take_first(p, &p->dropped);
        return;
    }
    if (p->secret) {
        cs_poster_signature(p->secret, cs_time_ms() / 1000, cs_buf_str(&p->head->body), signature);
        headers[1] = signature;
    }
    struct cs_fetch_request request = {
        .method = "POST",
        .url = p->url,
        .headers = headers,
        .body = cs_buf_str(&p->head->body),
        .timeout_ms = TIMEOUT_MS,
        .max_body = ANSWER_MAX,
        .no_redirects = true,
    };
    p->fetch = cs_fetch_start(http, &request, &events, p);
}

/* Whatever is first in line is sent, if nothing is under way. */
static void next(struct cs_poster *p)
{
    while (p->head && !p->url)
        take_first(p, &p->dropped);
    if (p->head && !p->fetch)
        start(p);
    if (!p->head && p->closed)
        end(p);
}

void cs_poster_set(struct cs_poster *p, const char *url)
{
    free(p->url);
    p->url = url ? cs_strdup(url) : NULL;
}

void cs_poster_send(struct cs_poster *p, struct cs_buf *body, uint32_t weight)
{
    if (!p->url || p->closed || p->count >= p->most || p->bytes + body->len > BYTES_MOST) {
        p->dropped += p->url ? weight : 0;
        cs_buf_done(body);
        return;
    }
    struct item *i = CS_NEW(struct item);
    i->body = *body;
    *body = (struct cs_buf){0};
    i->weight = weight;
    p->count++;
    p->bytes += i->body.len;
    *p->tail = i;
    p->tail = &i->next;
    if (!p->fetch && !uv_is_active((uv_handle_t *)&p->timer))
        next(p);
}

uint64_t cs_poster_sent(const struct cs_poster *p)
{
    return p->sent;
}

uint64_t cs_poster_dropped(const struct cs_poster *p)
{
    return p->dropped;
}

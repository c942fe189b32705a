/*
 * Somebody should look. Each kind of alert is told once per window and tenant: the first time at
 * once, then at the end of the window, with how often, if it happened again.
 *
 * Limits: MOST_TENANTS are watched; whoever was quiet for longest makes room. 100 posts wait.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/utf8.h"
#include "watch/inside.h"

#define MOST_TENANTS 1000
#define SLOTS        10 /* parts of a window, for the rate of errors */
#define LEAST_RUNS   10 /* fewer say nothing about a rate */
#define POSTS        100
#define DETAIL_BYTES 200
#define TICKS        10 /* in a window */
#define TICK_LEAST   100

enum kind { TIMEOUT, MEMORY_KILL, ERROR_RATE, SENSITIVE_OUTPUT, DENIED_CALL, KINDS };

static const char *const names[KINDS] = {"timeout", "memory_kill", "error_rate", "sensitive_output",
                                         "denied_call"};
static const char *const words[KINDS] = {
    "an execution took too long", "an execution was ended for want of memory",
    "many executions fail", "sensitive data in an output", "a call was denied"};

struct slot {
    int64_t number; /* of this part of time */
    uint32_t total, failed;
};

struct told {
    int64_t at;     /* when it was told; 0: never */
    uint64_t count; /* since then */
    char execution[36];
    char detail[DETAIL_BYTES + 1];
};

struct tenant {
    struct tenant *next;
    char name[65];
    struct slot slots[SLOTS];
    struct told told[KINDS];
};

struct cs_alerts {
    struct cs_watch *watch;
    bool on[KINDS];
    uint32_t error_rate;
    int64_t window_ms;
    struct cs_poster *poster;
    uv_timer_t timer;
    struct tenant *tenants; /* the last one that was heard of first */
    size_t count;
    uint64_t raised[KINDS];
    void (*closed)(struct cs_watch *watch);
};

/* --- telling --- */

static void put_time(struct cs_json_writer *w, const char *key)
{
    char text[CS_TIME_TEXT];
    cs_json_key(w, key);
    cs_json_put_z(w, cs_time_text(cs_time_ms(), text));
}

static void put_text(struct cs_json_writer *w, const char *key, const char *text)
{
    if (!*text)
        return;
    cs_json_key(w, key);
    cs_json_put_z(w, text);
}

static void post(struct cs_alerts *a, enum kind kind, const struct tenant *t)
{
    const struct told *told = &t->told[kind];
    struct cs_buf body = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&body);
    cs_buf_printf(&text, "Caisson: %s (tenant %s, %llu times)%s%s", words[kind], t->name,
                  (unsigned long long)told->count, *told->detail ? ": " : "", told->detail);
    cs_json_open(&w, '{');
    put_text(&w, "alert", names[kind]);
    put_text(&w, "tenant", t->name);
    cs_json_key(&w, "count");
    cs_json_put_u64(&w, told->count);
    cs_json_key(&w, "window_ms");
    cs_json_put_i64(&w, a->window_ms);
    put_text(&w, "execution_id", told->execution);
    put_text(&w, "detail", told->detail);
    put_time(&w, "time");
    cs_json_key(&w, "text"); /* what a chat shows */
    cs_json_put_str(&w, cs_buf_str(&text));
    cs_json_close(&w, '}');
    cs_poster_send(a->poster, &body, 1);
}

/* Its data is canonical: no space, names sorted. */
static void append(struct cs_alerts *a, enum kind kind, const struct tenant *t)
{
    const struct told *told = &t->told[kind];
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    cs_json_open(&w, '{');
    put_text(&w, "alert", names[kind]);
    cs_json_key(&w, "count");
    cs_json_put_u64(&w, told->count);
    put_text(&w, "detail", told->detail);
    cs_json_key(&w, "window_ms");
    cs_json_put_i64(&w, a->window_ms);
    cs_json_close(&w, '}');
    struct cs_entry entry = {
        .event = CS_STR("alert.raised"),
        .tenant = cs_str(t->name),
        .execution = cs_str(told->execution),
        .data = cs_buf_str(&data),
    };
    cs_store_append(a->watch->o.store, &entry, 1, NULL, NULL);
}

static void tell(struct cs_alerts *a, enum kind kind, struct tenant *t, int64_t now)
{
    struct told *told = &t->told[kind];
    a->raised[kind]++;
    cs_log_line(CS_LOG_WARN, "alert", "%s tenant=%s count=%llu%s%s%s%s", names[kind], t->name,
                (unsigned long long)told->count, *told->execution ? " execution=" : "",
                told->execution, *told->detail ? " detail=" : "", told->detail);
    append(a, kind, t);
    post(a, kind, t);
    told->at = now;
    told->count = 0;
}

/* --- hearing --- */

static void forget_last(struct cs_alerts *a)
{
    struct tenant **last = &a->tenants;
    while ((*last)->next)
        last = &(*last)->next;
    free(*last);
    *last = NULL;
    a->count--;
}

static struct tenant *tenant_of(struct cs_alerts *a, struct cs_str name)
{
    name = cs_utf8_cut(name, sizeof a->tenants->name - 1);
    for (struct tenant **at = &a->tenants; *at; at = &(*at)->next) {
        struct tenant *t = *at;
        if (!cs_str_is(name, t->name))
            continue;
        *at = t->next;
        t->next = a->tenants;
        a->tenants = t;
        return t;
    }
    if (a->count == MOST_TENANTS)
        forget_last(a);
    struct tenant *t = CS_NEW(struct tenant);
    if (name.len)
        memcpy(t->name, name.at, name.len);
    t->next = a->tenants;
    a->tenants = t;
    a->count++;
    return t;
}

/* `count` is added, or (a rate) takes the place of what was there. */
static void happened(struct cs_alerts *a, enum kind kind, struct tenant *t, const char *execution,
                     struct cs_str detail, uint64_t count, bool replaces)
{
    if (!a->on[kind])
        return;
    struct told *told = &t->told[kind];
    int64_t now = cs_tick_ms();
    told->count = replaces ? count : told->count + count;
    snprintf(told->execution, sizeof told->execution, "%s", execution);
    snprintf(told->detail, sizeof told->detail, "%.*s",
             CS_STR_ARG(cs_utf8_cut(detail, DETAIL_BYTES)));
    if (!told->at || now - told->at >= a->window_ms)
        tell(a, kind, t, now);
}

static void look_at_rate(struct cs_alerts *a, struct tenant *t, const struct cs_result *r)
{
    int64_t slot_ms = a->window_ms / SLOTS ? a->window_ms / SLOTS : 1;
    int64_t number = cs_tick_ms() / slot_ms;
    struct slot *s = &t->slots[number % SLOTS];
    uint64_t total = 0, failed = 0;
    if (s->number != number)
        *s = (struct slot){.number = number};
    s->total++;
    s->failed += r->status == CS_STATUS_FAILED;
    for (int i = 0; i < SLOTS; i++) {
        if (t->slots[i].number <= number - SLOTS)
            continue;
        total += t->slots[i].total;
        failed += t->slots[i].failed;
    }
    if (total < LEAST_RUNS || failed * 100 <= (uint64_t)a->error_rate * total)
        return;
    char detail[80];
    snprintf(detail, sizeof detail, "%llu of %llu executions failed", (unsigned long long)failed,
             (unsigned long long)total);
    happened(a, ERROR_RATE, t, "", cs_str(detail), failed, true);
}

static void look_at_calls(struct cs_alerts *a, struct tenant *t, const struct cs_result *r)
{
    CS_AUTO_BUF struct cs_buf detail = {0};
    for (uint32_t i = 0; i < r->tool_calls; i++) {
        const struct cs_call *c = &r->calls[i];
        if (c->status != CS_CALL_DENIED || !c->by_policy)
            continue;
        cs_buf_clear(&detail);
        cs_buf_printf(&detail, "%.*s/%.*s", CS_STR_ARG(c->server), CS_STR_ARG(c->tool));
        happened(a, DENIED_CALL, t, r->execution_id, cs_buf_str(&detail), 1, false);
    }
}

/* What a program put together itself, and said. */
static void look_at_outputs(struct cs_alerts *a, struct tenant *t, const struct cs_result *r)
{
    CS_AUTO_BUF struct cs_buf detail = {0};
    const struct cs_masked *said = &r->protection.outputs;
    if (!said->total || r->cached_from.len)
        return;
    for (int i = 0; i < CS_PII_COUNT; i++)
        if (said->found[i])
            cs_buf_printf(&detail, "%s%s: %u", detail.len ? ", " : "", cs_pii_name((enum cs_pii)i),
                          said->found[i]);
    happened(a, SENSITIVE_OUTPUT, t, r->execution_id, cs_buf_str(&detail), 1, false);
}

void cs_alerts_settled(struct cs_alerts *a, struct cs_str tenant, const struct cs_result *r)
{
    struct tenant *t = tenant_of(a, tenant);
    const struct cs_error *e = &r->error;
    if (r->failed && e->type == CS_ERROR_TIMEOUT)
        happened(a, TIMEOUT, t, r->execution_id, (struct cs_str){0}, 1, false);
    if (r->failed && e->type == CS_ERROR_RESOURCE && e->has_limit && e->limit == CS_LIMIT_MEMORY)
        happened(a, MEMORY_KILL, t, r->execution_id, (struct cs_str){0}, 1, false);
    look_at_calls(a, t, r);
    look_at_outputs(a, t, r);
    look_at_rate(a, t, r);
}

void cs_watch_alert(struct cs_watch *w, const char *kind, struct cs_str tenant,
                    struct cs_str execution, struct cs_str detail)
{
    char id[36];
    snprintf(id, sizeof id, "%.*s", CS_STR_ARG(execution));
    for (int i = 0; i < KINDS && !w->closing; i++)
        if (strcmp(names[i], kind) == 0)
            happened(w->alerts, (enum kind)i, tenant_of(w->alerts, tenant), id, detail, 1, false);
}

/* --- windows end --- */

static void on_tick(uv_timer_t *timer)
{
    struct cs_alerts *a = timer->data;
    int64_t now = cs_tick_ms();
    for (struct tenant *t = a->tenants; t; t = t->next)
        for (int i = 0; i < KINDS; i++)
            if (a->on[i] && t->told[i].count && now - t->told[i].at >= a->window_ms)
                tell(a, (enum kind)i, t, now);
}

static void complain(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(name, names[i]) == 0)
            return;
    cs_log_line(CS_LOG_WARN, "alert",
                "alerts.on: there is no '%s'; there are timeout, memory_kill, error_rate, "
                "sensitive_output, denied_call",
                name);
}

void cs_alerts_set(struct cs_alerts *a, const struct cs_alert_rules *rules)
{
    for (size_t n = 0; rules->on && rules->on[n]; n++)
        complain(rules->on[n]);
    for (int i = 0; i < KINDS; i++) {
        a->on[i] = false;
        for (size_t n = 0; rules->on && rules->on[n]; n++)
            a->on[i] = a->on[i] || strcmp(rules->on[n], names[i]) == 0;
    }
    a->error_rate = rules->error_rate;
    a->window_ms = rules->window_ms;
    cs_poster_set(a->poster, rules->webhook);
    int64_t tick = a->window_ms / TICKS;
    uv_timer_start(&a->timer, on_tick, 0, (uint64_t)(tick < TICK_LEAST ? TICK_LEAST : tick));
    uv_unref((uv_handle_t *)&a->timer);
}

struct cs_alerts *cs_alerts_new(struct cs_watch *w)
{
    struct cs_alerts *a = CS_NEW(struct cs_alerts);
    a->watch = w;
    a->poster = cs_poster_new(w, "webhook", POSTS);
    uv_timer_init(w->loop, &a->timer);
    a->timer.data = a;
    cs_alerts_set(a, &w->o.alerts);
    return a;
}

void cs_alerts_metrics(const struct cs_alerts *a, struct cs_buf *out)
{
    cs_metrics_head(out, "caisson_alerts_total", "counter", "Alerts that were told, by kind.");
    for (int i = 0; i < KINDS; i++)
        cs_buf_printf(out, "caisson_alerts_total{kind=\"%s\"} %llu\n", names[i],
                      (unsigned long long)a->raised[i]);
    cs_metrics_counter(out, "caisson_alert_posts_total", "Alerts that the webhook has taken.",
                       cs_poster_sent(a->poster));
    cs_metrics_counter(out, "caisson_alert_posts_dropped_total",
                       "Alerts that could not be posted to the webhook.",
                       cs_poster_dropped(a->poster));
}

static void on_timer_closed(uv_handle_t *h)
{
    struct cs_alerts *a = h->data;
    struct cs_watch *w = a->watch;
    void (*closed)(struct cs_watch *) = a->closed;
    while (a->tenants)
        forget_last(a);
    free(a);
    closed(w);
}

static void on_poster_closed(struct cs_watch *w)
{
    struct cs_alerts *a = w->alerts;
    uv_close((uv_handle_t *)&a->timer, on_timer_closed);
}

void cs_alerts_close(struct cs_alerts *a, void (*closed)(struct cs_watch *watch))
{
    a->closed = closed;
    uv_timer_stop(&a->timer);
    cs_poster_close(a->poster, on_poster_closed);
}

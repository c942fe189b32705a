/*
 * Traces, as OTLP over HTTP in JSON: a span of each execution, and one of each of its calls below
 * it. Names, sizes and times are in them; no program, argument, result or message of an error.
 *
 * Limits: a batch has 512 spans or a second's; 32 batches wait, then spans are dropped and counted.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/hash.h"
#include "base/mem.h"
#include "watch/inside.h"

#define EVERY_MS    1000
#define BATCH       512
#define BATCHES     32
#define MOST_CALLS  1000 /* spans of one execution's calls */
#define KIND_SERVER 2
#define KIND_CLIENT 3
#define STATUS_OK   1
#define STATUS_BAD  2

struct cs_otlp {
    struct cs_watch *watch;
    struct cs_poster *poster;
    uv_timer_t timer;
    struct cs_buf spans;
    uint32_t count;
    void (*closed)(struct cs_watch *watch);
};

/* --- spans --- */

static void put_key(struct cs_json_writer *w, const char *key, const char *type)
{
    cs_json_open(w, '{');
    cs_json_key(w, "key");
    cs_json_put_z(w, key);
    cs_json_key(w, "value");
    cs_json_open(w, '{');
    cs_json_key(w, type);
}

static void put_end(struct cs_json_writer *w)
{
    cs_json_close(w, '}');
    cs_json_close(w, '}');
}

static void put_text(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    put_key(w, key, "stringValue");
    cs_json_put_str(w, text);
    put_end(w);
}

/* 64-bit numbers are texts in the JSON of protocol buffers. */
static void put_number(struct cs_json_writer *w, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    cs_json_put_z(w, text);
}

static void put_int(struct cs_json_writer *w, const char *key, uint64_t n)
{
    put_key(w, key, "intValue");
    put_number(w, n);
    put_end(w);
}

static void put_hex(struct cs_json_writer *w, const char *key, const unsigned char *bytes, size_t n)
{
    char text[33];
    cs_hex(bytes, n, text);
    cs_json_key(w, key);
    cs_json_put_z(w, text);
}

struct span {
    const struct cs_trace *trace;
    const unsigned char *id, *parent;
    struct cs_str name;
    int kind;
    int64_t start_us, end_us;
};

static void put_head(struct cs_json_writer *w, const struct span *s)
{
    static const unsigned char none[8];
    put_hex(w, "traceId", s->trace->trace, sizeof s->trace->trace);
    put_hex(w, "spanId", s->id, 8);
    if (memcmp(s->parent, none, 8) != 0)
        put_hex(w, "parentSpanId", s->parent, 8);
    cs_json_key(w, "name");
    cs_json_put_str(w, s->name);
    cs_json_key(w, "kind");
    cs_json_put_i64(w, s->kind);
    cs_json_key(w, "startTimeUnixNano");
    put_number(w, (uint64_t)s->start_us * 1000);
    cs_json_key(w, "endTimeUnixNano");
    put_number(w, (uint64_t)(s->end_us < s->start_us ? s->start_us : s->end_us) * 1000);
}

static void put_status(struct cs_json_writer *w, bool ok)
{
    cs_json_key(w, "status");
    cs_json_open(w, '{');
    cs_json_key(w, "code");
    cs_json_put_i64(w, ok ? STATUS_OK : STATUS_BAD);
    cs_json_close(w, '}');
}

static void put_call(struct cs_json_writer *w, const struct cs_result *r, const struct cs_call *c)
{
    CS_AUTO_BUF struct cs_buf name = {0};
    cs_buf_printf(&name, "tools/call %.*s", CS_STR_ARG(c->tool));
    int64_t start = r->started_us + (int64_t)c->start_us;
    struct span span = {&r->trace,   c->span, r->trace.span,         cs_buf_str(&name),
                        KIND_CLIENT, start,   start + (int64_t)c->us};
    cs_json_open(w, '{');
    put_head(w, &span);
    cs_json_key(w, "attributes");
    cs_json_open(w, '[');
    put_text(w, "mcp.method.name", CS_STR("tools/call"));
    put_text(w, "gen_ai.tool.name", c->tool);
    put_text(w, "caisson.server", c->server);
    put_text(w, "caisson.call.status", cs_str(cs_call_status_name(c->status)));
    if (c->status != CS_CALL_OK)
        put_text(w, "error.type", cs_str(cs_call_status_name(c->status)));
    put_int(w, "caisson.call.argument_bytes", c->argument_bytes);
    put_int(w, "caisson.call.result_bytes", c->result_bytes);
    put_key(w, "caisson.cached", "boolValue");
    cs_json_put_bool(w, c->cached);
    put_end(w);
    cs_json_close(w, ']');
    put_status(w, c->status == CS_CALL_OK);
    cs_json_close(w, '}');
}

static void put_execution(struct cs_json_writer *w, struct cs_str tenant, const struct cs_result *r,
                          int64_t end_us)
{
    CS_AUTO_BUF struct cs_buf name = {0};
    cs_buf_printf(&name, "execute %s", cs_language_name(r->language));
    struct span span = {&r->trace,   r->trace.span, r->parent_span, cs_buf_str(&name),
                        KIND_SERVER, r->started_us, end_us};
    cs_json_open(w, '{');
    put_head(w, &span);
    cs_json_key(w, "attributes");
    cs_json_open(w, '[');
    put_text(w, "caisson.execution.id", cs_str(r->execution_id));
    put_text(w, "caisson.status", cs_str(cs_status_name(r->status)));
    if (r->failed)
        put_text(w, "error.type", cs_str(cs_error_type_name(r->error.type)));
    put_text(w, "caisson.language", cs_str(cs_language_name(r->language)));
    put_text(w, "caisson.tenant", tenant);
    put_text(w, "caisson.risk", cs_str(cs_risk_name(r->verdict.risk)));
    put_int(w, "caisson.tool_calls", r->tool_calls);
    put_int(w, "caisson.queued_us", r->queued_us);
    put_int(w, "caisson.memory_peak_bytes", r->memory_peak);
    put_key(w, "caisson.cached", "boolValue");
    cs_json_put_bool(w, r->cached_from.len > 0);
    put_end(w);
    cs_json_close(w, ']');
    put_status(w, r->status == CS_STATUS_COMPLETED);
    cs_json_close(w, '}');
}

uint32_t cs_otlp_spans(struct cs_str tenant, const struct cs_result *r, int64_t now_us,
                       struct cs_buf *out)
{
    uint32_t calls = r->tool_calls < MOST_CALLS ? r->tool_calls : MOST_CALLS;
    if (r->cached_from.len)
        calls = 0; /* they were made before */
    struct cs_json_writer w = CS_JSON_WRITER(out);
    if (!cs_trace_is(&r->trace) || !r->trace.sampled)
        return 0;
    for (uint32_t i = 0; i < calls; i++) { /* no call ends after its execution */
        int64_t end = r->started_us + (int64_t)(r->calls[i].start_us + r->calls[i].us);
        now_us = end > now_us ? end : now_us;
    }
    put_execution(&w, tenant, r, now_us);
    for (uint32_t i = 0; i < calls; i++) {
        cs_buf_putc(out, ',');
        w = CS_JSON_WRITER(out);
        put_call(&w, r, &r->calls[i]);
    }
    return 1 + calls;
}

/* --- batches --- */

static void flush(struct cs_otlp *o)
{
    static const char head[] =
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{"
        "\"stringValue\":\"caisson\"}},{\"key\":\"service.version\",\"value\":{\"stringValue\":"
        "\"" CS_VERSION "\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"caisson\",\"version\":"
        "\"" CS_VERSION "\"},\"spans\":[";
    if (!o->count)
        return;
    struct cs_buf body = {0};
    cs_buf_puts(&body, head);
    cs_buf_putstr(&body, cs_buf_str(&o->spans));
    cs_buf_puts(&body, "]}]}]}");
    cs_poster_send(o->poster, &body, o->count);
    cs_buf_clear(&o->spans);
    o->count = 0;
}

static void on_timer(uv_timer_t *t)
{
    flush(t->data);
}

void cs_otlp_settled(struct cs_otlp *o, struct cs_str tenant, const struct cs_result *r)
{
    struct timeval now;
    size_t before = o->spans.len;
    gettimeofday(&now, NULL);
    if (o->count)
        cs_buf_putc(&o->spans, ',');
    uint32_t n = cs_otlp_spans(tenant, r, (int64_t)now.tv_sec * 1000000 + now.tv_usec, &o->spans);
    if (!n)
        o->spans.len = before;
    o->count += n;
    if (o->count >= BATCH)
        flush(o);
    else if (o->count && !uv_is_active((uv_handle_t *)&o->timer))
        uv_timer_start(&o->timer, on_timer, EVERY_MS, 0);
}

struct cs_otlp *cs_otlp_new(struct cs_watch *w, const char *endpoint)
{
    struct cs_otlp *o = CS_NEW(struct cs_otlp);
    CS_AUTO_BUF struct cs_buf url = {0};
    size_t n = strlen(endpoint);
    while (n && endpoint[n - 1] == '/')
        n--;
    cs_buf_printf(&url, "%.*s/v1/traces", (int)n, endpoint);
    o->watch = w;
    o->poster = cs_poster_new(w, "otlp", BATCHES);
    cs_poster_set(o->poster, cs_buf_cstr(&url));
    uv_timer_init(w->loop, &o->timer);
    o->timer.data = o;
    return o;
}

void cs_otlp_metrics(const struct cs_otlp *o, struct cs_buf *out)
{
    cs_metrics_counter(out, "caisson_otlp_spans_total", "Spans that the collector has taken.",
                       cs_poster_sent(o->poster));
    cs_metrics_counter(out, "caisson_otlp_spans_dropped_total",
                       "Spans that the collector did not take, or that were too many.",
                       cs_poster_dropped(o->poster));
}

static void on_timer_closed(uv_handle_t *h)
{
    struct cs_otlp *o = h->data;
    struct cs_watch *w = o->watch;
    void (*closed)(struct cs_watch *) = o->closed;
    cs_buf_done(&o->spans);
    free(o);
    closed(w);
}

static void on_poster_closed(struct cs_watch *w)
{
    uv_close((uv_handle_t *)&w->otlp->timer, on_timer_closed);
}

void cs_otlp_close(struct cs_otlp *o, void (*closed)(struct cs_watch *watch))
{
    o->closed = closed;
    flush(o);
    cs_poster_close(o->poster, on_poster_closed);
}

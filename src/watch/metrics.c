/* Counters since the start, as families of Prometheus. Names of servers are labels, up to a bound;
 * tenants never are. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "watch/inside.h"

void cs_counters_done(struct cs_counters *c)
{
    for (unsigned i = 0; i < c->servers; i++)
        free(c->latencies[i].server);
}

static struct cs_latency *latency_of(struct cs_counters *c, struct cs_str server)
{
    for (unsigned i = 0; i < c->servers; i++)
        if (cs_str_is(server, c->latencies[i].server))
            return &c->latencies[i];
    if (c->servers == CS_WATCH_SERVERS)
        return &c->latencies[CS_WATCH_SERVERS];
    c->latencies[c->servers].server = cs_strndup(server.at ? server.at : "", server.len);
    return &c->latencies[c->servers++];
}

static void count_masked(struct cs_counters *c, const struct cs_protection *p)
{
    c->unprotected += p->is_known && !p->is_protected;
    for (unsigned k = 0; k < CS_PII_COUNT; k++)
        c->masked[k] += p->inputs.found[k] + p->results.found[k] + p->outputs.found[k];
}

void cs_counters_settled(struct cs_counters *c, const struct cs_result *r)
{
    c->hits += r->cached_from.len > 0;
    c->misses += r->cached_from.len == 0;
    c->tokens_saved += r->tokens_saved;
    count_masked(c, &r->protection);
    if (r->cached_from.len)
        return; /* its calls were made before, and counted */
    for (uint32_t i = 0; i < r->tool_calls; i++) {
        const struct cs_call *call = &r->calls[i];
        if (call->status == CS_CALL_DENIED) { /* its server may be anything that a program said */
            c->denied++;
            continue;
        }
        if (call->status == CS_CALL_CANCELLED)
            continue;
        struct cs_latency *l = latency_of(c, call->server);
        double seconds = (double)call->us / 1e6;
        unsigned bucket = 0;
        while (seconds > cs_run_bucket(bucket))
            bucket++;
        l->count[bucket]++;
        l->seconds += seconds;
    }
}

/* --- as text --- */

void cs_metrics_head(struct cs_buf *out, const char *name, const char *type, const char *help)
{
    cs_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_gauge(struct cs_buf *out, const char *name, const char *help, uint64_t value)
{
    cs_metrics_head(out, name, "gauge", help);
    cs_buf_printf(out, "%s %llu\n", name, (unsigned long long)value);
}

void cs_metrics_counter(struct cs_buf *out, const char *name, const char *help, uint64_t value)
{
    cs_metrics_head(out, name, "counter", help);
    cs_buf_printf(out, "%s %llu\n", name, (unsigned long long)value);
}

static void put_label(struct cs_buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\' || *text == '"')
            cs_buf_putc(out, '\\');
        if (*text == '\n')
            cs_buf_puts(out, "\\n");
        else
            cs_buf_putc(out, *text);
    }
}

static void put_latency(struct cs_buf *out, const char *name, const struct cs_latency *l)
{
    CS_AUTO_BUF struct cs_buf label = {0};
    uint64_t count = 0;
    put_label(&label, l->server ? l->server : "other servers");
    const char *server = cs_buf_cstr(&label);
    for (unsigned i = 0; i < CS_RUN_BUCKETS; i++) {
        count += l->count[i];
        if (i + 1 < CS_RUN_BUCKETS)
            cs_buf_printf(out, "%s_bucket{server=\"%s\",le=\"%g\"} %llu\n", name, server,
                          cs_run_bucket(i), (unsigned long long)count);
    }
    cs_buf_printf(out,
                  "%s_bucket{server=\"%s\",le=\"+Inf\"} %llu\n%s_sum{server=\"%s\"} %.9g\n"
                  "%s_count{server=\"%s\"} %llu\n",
                  name, server, (unsigned long long)count, name, server, l->seconds, name, server,
                  (unsigned long long)count);
}

static void put_masked(struct cs_buf *out, const struct cs_counters *c)
{
    static const char name[] = "caisson_privacy_masked_total";
    cs_metrics_head(out, name, "counter", "Personal data and secrets that were masked.");
    for (unsigned k = 0; k < CS_PII_COUNT; k++)
        if (c->masked[k])
            cs_buf_printf(out, "%s{kind=\"%s\"} %llu\n", name, cs_pii_name((enum cs_pii)k),
                          (unsigned long long)c->masked[k]);
    cs_metrics_counter(out, "caisson_privacy_unprotected_total",
                       "Executions without protection of personal data.", c->unprotected);
}

void cs_watch_metrics(struct cs_watch *w, struct cs_buf *out)
{
    static const char latency[] = "caisson_tool_call_duration_seconds";
    const struct cs_counters *c = &w->counters;
    cs_metrics_counter(out, "caisson_cache_hits_total", "Executions answered from the cache.",
                       c->hits);
    cs_metrics_counter(out, "caisson_cache_misses_total",
                       "Executions that ran, as no answer was known.", c->misses);
    struct cs_figures now = {0};
    if (w->o.runner)
        cs_runner_figures(w->o.runner, &now);
    put_gauge(out, "caisson_cache_memory_bytes", "Answers that are kept in memory.",
              now.cache_bytes);
    put_gauge(out, "caisson_cache_answers", "How many those are, results of tools too.",
              now.cache_answers);
    cs_metrics_counter(out, "caisson_tool_calls_denied_total",
                       "Calls that policy refused, or of tools that do not exist.", c->denied);
    cs_metrics_counter(out, "caisson_tokens_saved_total",
                       "Estimated tokens that did not pass through a model.", c->tokens_saved);
    put_masked(out, c);
    cs_metrics_head(out, "caisson_requests_refused_total", "counter",
                    "Requests that were refused at the door.");
    cs_buf_printf(out,
                  "caisson_requests_refused_total{reason=\"rate_limit\"} %llu\n"
                  "caisson_requests_refused_total{reason=\"denied\"} %llu\n",
                  (unsigned long long)c->rate_limited, (unsigned long long)c->refused);
    cs_metrics_head(out, latency, "histogram",
                    "Time of calls of tools, waiting for a turn included.");
    for (unsigned i = 0; i < c->servers; i++)
        put_latency(out, latency, &c->latencies[i]);
    if (c->servers == CS_WATCH_SERVERS)
        put_latency(out, latency, &c->latencies[CS_WATCH_SERVERS]);
    cs_alerts_metrics(w->alerts, out);
    cs_herald_metrics(w->herald, out);
    if (w->otlp)
        cs_otlp_metrics(w->otlp, out);
}

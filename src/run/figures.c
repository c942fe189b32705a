/* Counters, since the start. Nothing here is looked at by the program itself. */
#include <math.h>

#include "base/json.h"
#include "run/cache.h"

#define TOKEN_BYTES 4

double cs_run_bucket(unsigned i)
{
    static const double bounds[CS_RUN_BUCKETS - 1] = {
        0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300};
    return i < CS_RUN_BUCKETS - 1 ? bounds[i] : INFINITY;
}

void cs_figures_count(struct cs_runner *runner, const struct cs_run *run)
{
    struct cs_figures *f = &runner->figures;
    const struct cs_result *r = &run->result;
    if (r->earlier.len)
        return; /* it was counted when it ran */
    if (r->refused) {
        f->refused++;
        return;
    }
    f->by_status[r->status]++;
    if (r->failed)
        f->by_error[r->error.type]++;
    f->calls += r->cached_from.len ? 0 : r->tool_calls;
    for (uint32_t i = 0; i < r->tool_calls; i++)
        f->calls_failed += r->calls[i].status != CS_CALL_OK;
    double seconds = (double)r->wall_us / 1e6;
    unsigned bucket = 0;
    while (seconds > cs_run_bucket(bucket))
        bucket++;
    f->seconds_count[bucket]++;
    f->seconds_sum += seconds;
}

void cs_runner_figures(const struct cs_runner *runner, struct cs_figures *figures)
{
    *figures = runner->figures;
    if (runner->cache) {
        figures->cache_bytes = runner->cache->shelf.bytes;
        figures->cache_answers = runner->cache->shelf.count;
    }
    figures->running = runner->queue.running;
    figures->waiting = runner->waiting;
    figures->ready = runner->sandbox_closed ? 0 : cs_sandbox_ready(runner->sandbox);
}

void cs_runner_under_way(const struct cs_runner *runner, struct cs_str tenant, uint32_t *running,
                         uint32_t *waiting)
{
    *running = *waiting = 0;
    for (const struct cs_run *run = runner->runs; run; run = run->next) {
        if (run->is_joiner || (tenant.len && !cs_str_eq(run->tenant, tenant)))
            continue;
        *waiting += run->waiting;
        *running += run->place.has_turn;
    }
}

/* --- one execution --- */

uint64_t cs_tokens_saved(const struct cs_run *run)
{
    const struct cs_result *r = &run->result;
    uint64_t passed = 0, seen = run->code_bytes + r->value.len + run->output;
    for (uint32_t i = 0; i < r->tool_calls; i++)
        if (r->calls[i].status == CS_CALL_OK)
            passed += r->calls[i].argument_bytes + r->calls[i].result_bytes;
    return passed > seen ? (passed - seen) / TOKEN_BYTES : 0;
}

static bool same_tool(const struct cs_call *a, const struct cs_call *b)
{
    return cs_str_eq(a->server, b->server) && cs_str_eq(a->tool, b->tool);
}

#define TOOLS_OF_ONE 200 /* different tools of one execution; the others are not told by name */

/* {"server/tool": calls}; each once. */
static void put_tools(const struct cs_result *r, struct cs_buf *out)
{
    uint32_t seen[TOOLS_OF_ONE], count[TOOLS_OF_ONE], n = 0;
    for (uint32_t i = 0; i < r->tool_calls; i++) {
        uint32_t k = 0;
        while (k < n && !same_tool(&r->calls[seen[k]], &r->calls[i]))
            k++;
        if (k == TOOLS_OF_ONE || r->calls[i].status == CS_CALL_DENIED)
            continue;
        if (k == n) {
            seen[n] = i;
            count[n++] = 0;
        }
        count[k]++;
    }
    struct cs_json_writer w = CS_JSON_WRITER(out);
    CS_AUTO_BUF struct cs_buf name = {0};
    cs_json_open(&w, '{');
    for (uint32_t k = 0; k < n; k++) {
        const struct cs_call *c = &r->calls[seen[k]];
        cs_buf_clear(&name);
        cs_buf_printf(&name, "%.*s/%.*s", CS_STR_ARG(c->server), CS_STR_ARG(c->tool));
        cs_json_key_str(&w, cs_buf_str(&name));
        cs_json_put_u64(&w, count[k]);
    }
    cs_json_close(&w, '}');
}

/* {"EMAIL": values}: what was found on all ways; nothing, if nothing was. */
static void put_masked(const struct cs_protection *p, struct cs_buf *out)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    for (int k = 0; k < CS_PII_COUNT; k++) {
        uint64_t n = (uint64_t)p->inputs.found[k] + p->results.found[k] + p->outputs.found[k];
        if (!n)
            continue;
        if (!out->len)
            cs_json_open(&w, '{');
        cs_json_key(&w, cs_pii_name((enum cs_pii)k));
        cs_json_put_u64(&w, n);
    }
    if (out->len)
        cs_json_close(&w, '}');
}

void cs_measure_of(const struct cs_run *run, int64_t finished, struct cs_buf *tools,
                   struct cs_buf *masked, struct cs_measure *m)
{
    const struct cs_result *r = &run->result;
    if (r->cached_from.len)
        cs_buf_puts(tools, "{}");
    else
        put_tools(r, tools);
    put_masked(&r->protection, masked);
    *m = (struct cs_measure){
        .tenant = run->tenant,
        .status = cs_str(cs_status_name(r->status)),
        .error_type = r->failed ? cs_str(cs_error_type_name(r->error.type)) : (struct cs_str){0},
        .tools = cs_buf_str(tools),
        .masked = cs_buf_str(masked),
        .finished = finished,
        .wall_us = r->wall_us,
        .cpu_us = r->cpu_us,
        .memory_peak = r->memory_peak,
        .calls = r->cached_from.len ? 0 : r->tool_calls, /* those were made before */
        .tokens_saved = r->tokens_saved,
        .cached = r->cached_from.len > 0,
    };
    for (uint32_t i = 0; i < r->tool_calls; i++) {
        m->calls_failed += r->calls[i].status != CS_CALL_OK;
        m->calls_denied += r->calls[i].status == CS_CALL_DENIED;
    }
}

/* Counters, since the start. Nothing here is looked at by the program itself. */
#include <math.h>

#include "run/cache.h"

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

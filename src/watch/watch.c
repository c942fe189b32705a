/* One watch: its parts, what they hear, and their end. */
#include "watch/watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tools/fetch.h"
#include "watch/inside.h"

static void on_settled(void *ctx, const struct cs_str *tenant, const struct cs_result *result)
{
    struct cs_watch *w = ctx;
    cs_counters_settled(&w->counters, result);
    cs_alerts_settled(w->alerts, *tenant, result);
    if (w->otlp)
        cs_otlp_settled(w->otlp, *tenant, result);
}

int cs_watch_new(uv_loop_t *loop, const struct cs_watch_options *options, struct cs_watch **watch,
                 struct cs_err *err)
{
    (void)err;
    struct cs_watch *w = CS_NEW(struct cs_watch);
    w->loop = loop;
    w->o = *options;
    w->fold = cs_fold_new(w);
    w->alerts = cs_alerts_new(w);
    w->herald = cs_herald_new(w);
    if (w->o.otlp)
        w->otlp = cs_otlp_new(w, w->o.otlp);
    struct cs_observer observer = {on_settled, w, w->otlp != NULL};
    if (w->o.runner)
        cs_runner_observe(w->o.runner, &observer);
    *watch = w;
    return 0;
}

void cs_watch_set(struct cs_watch *w, const struct cs_alert_rules *rules)
{
    cs_alerts_set(w->alerts, rules);
}

void cs_watch_refused(struct cs_watch *w, const char *why)
{
    bool rate = strcmp(why, "rate_limit") == 0;
    w->counters.rate_limited += rate;
    w->counters.refused += !rate;
}

struct cs_fetcher *cs_watch_http(struct cs_watch *w, struct cs_err *err)
{
    if (!w->http && cs_fetcher_start(w->loop, &w->http, err) < 0)
        w->http = NULL;
    return w->http;
}

/* --- the end: its parts first, in any order, then what they stood on --- */

static void on_http_stopped(void *ctx)
{
    struct cs_watch *w = ctx;
    void (*closed)(void *) = w->closed;
    void *closed_ctx = w->ctx;
    cs_counters_done(&w->counters);
    free(w);
    if (closed)
        closed(closed_ctx);
}

void cs_watch_part_over(struct cs_watch *w)
{
    if (--w->parts || !w->closing)
        return;
    if (w->http)
        cs_fetcher_stop(w->http, on_http_stopped, w);
    else
        on_http_stopped(w);
}

void cs_watch_close(struct cs_watch *w, void (*closed)(void *ctx), void *ctx)
{
    w->closing = true;
    w->closed = closed;
    w->ctx = ctx;
    if (w->o.runner)
        cs_runner_observe(w->o.runner, &(struct cs_observer){0});
    w->parts += w->otlp ? 4 : 3;
    if (w->otlp)
        cs_otlp_close(w->otlp, cs_watch_part_over);
    cs_alerts_close(w->alerts, cs_watch_part_over);
    cs_herald_close(w->herald, cs_watch_part_over);
    cs_fold_close(w, cs_watch_part_over);
}

/* One watch: its parts, what they hear, and their end. */
#include "watch/watch.h"

#include <stdlib.h>

#include "base/mem.h"
#include "watch/inside.h"

static void on_settled(void *ctx, const struct cs_str *tenant, const struct cs_result *result)
{
    (void)ctx;
    (void)tenant;
    (void)result;
}

int cs_watch_new(uv_loop_t *loop, const struct cs_watch_options *options, struct cs_watch **watch,
                 struct cs_err *err)
{
    (void)err;
    struct cs_watch *w = CS_NEW(struct cs_watch);
    w->loop = loop;
    w->o = *options;
    w->fold = cs_fold_new(w);
    if (w->o.runner)
        cs_runner_observe(w->o.runner, &(struct cs_observer){.settled = on_settled, .ctx = w});
    *watch = w;
    return 0;
}

void cs_watch_set(struct cs_watch *watch, const struct cs_alert_rules *alerts)
{
    (void)watch;
    (void)alerts;
}

static void on_fold_closed(struct cs_watch *w)
{
    if (w->closed)
        w->closed(w->ctx);
    free(w);
}

void cs_watch_close(struct cs_watch *w, void (*closed)(void *ctx), void *ctx)
{
    w->closing = true;
    w->closed = closed;
    w->ctx = ctx;
    if (w->o.runner)
        cs_runner_observe(w->o.runner, &(struct cs_observer){0});
    cs_fold_close(w, on_fold_closed);
}

void cs_watch_refused(struct cs_watch *watch, struct cs_str tenant, const char *why)
{
    (void)watch;
    (void)tenant;
    (void)why;
}

void cs_watch_metrics(struct cs_watch *watch, struct cs_buf *out)
{
    (void)watch;
    (void)out;
}

/* One watch: its parts, and their end. */
#include "watch/watch.h"

#include "base/mem.h"

struct cs_watch {
    uv_loop_t *loop;
    uv_timer_t timer;
    void (*closed)(void *ctx);
    void *ctx;
};

int cs_watch_new(uv_loop_t *loop, const struct cs_watch_options *options, struct cs_watch **watch,
                 struct cs_err *err)
{
    (void)options;
    (void)err;
    struct cs_watch *w = CS_NEW(struct cs_watch);
    w->loop = loop;
    uv_timer_init(loop, &w->timer);
    w->timer.data = w;
    *watch = w;
    return 0;
}

void cs_watch_set(struct cs_watch *watch, const struct cs_alert_rules *alerts)
{
    (void)watch;
    (void)alerts;
}

static void on_closed(uv_handle_t *h)
{
    struct cs_watch *w = h->data;
    if (w->closed)
        w->closed(w->ctx);
    free(w);
}

void cs_watch_close(struct cs_watch *watch, void (*closed)(void *ctx), void *ctx)
{
    watch->closed = closed;
    watch->ctx = ctx;
    uv_close((uv_handle_t *)&watch->timer, on_closed);
}

void cs_watch_refused(struct cs_watch *watch, struct cs_str tenant, const char *why)
{
    (void)watch;
    (void)tenant;
    (void)why;
}

void cs_watch_figures(struct cs_watch *watch, struct cs_str tenant, int64_t window_ms,
                      cs_figures_found *done, void *ctx)
{
    (void)watch;
    (void)tenant;
    (void)window_ms;
    (void)done;
    (void)ctx;
}

void cs_watch_metrics(struct cs_watch *watch, struct cs_buf *out)
{
    (void)watch;
    (void)out;
}

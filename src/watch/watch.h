/*
 * Who watches all executions: figures over time, alerts, traces. It hears of each from the runner
 * (cs_runner_observe) and is asked by the doors.
 *
 * Runs in: daemon, loop thread.
 * Order:   new -> figures ... -> close, before the runner and the store.
 */
#ifndef CS_WATCH_WATCH_H
#define CS_WATCH_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "run/run.h"
#include "store/store.h"

struct cs_watch;

struct cs_alert_rules {
    const char *const
        *on; /* NULL-ended: timeout memory_kill error_rate sensitive_output denied_call */
    uint32_t error_rate; /* percent */
    int64_t window_ms;
    const char *webhook; /* or NULL */
};

struct cs_watch_options {
    struct cs_runner *runner; /* NULL: only figures that the store has */
    struct cs_store *store;
    const char *otlp; /* endpoint of a collector, "http://host:4318"; or NULL */
    struct cs_alert_rules alerts;
};

int cs_watch_new(uv_loop_t *loop, const struct cs_watch_options *options, struct cs_watch **watch,
                 struct cs_err *err);
void cs_watch_set(struct cs_watch *watch, const struct cs_alert_rules *alerts);
void cs_watch_close(struct cs_watch *watch, void (*closed)(void *ctx), void *ctx);
/* One more that somebody else has noticed: a kind that cs_alert_rules knows; `execution` may be
 * empty. `detail` is for people, and must be fit for the ledger: names, no values. */
void cs_watch_alert(struct cs_watch *watch, const char *kind, struct cs_str tenant,
                    struct cs_str execution, struct cs_str detail);
/* A request was refused at the door: to be counted. "rate_limit", "denied". */
void cs_watch_refused(struct cs_watch *watch, const char *why);

/* The figures of a tenant (empty: of all) in the last `window_ms` (0: ever), as a JSON object: what
 * /statistics and `caisson stats` answer. They are kept by the hour: all hours that the window
 * touches count, and `since` says where they begin. `done` runs once, never before this has
 * returned. */
typedef void cs_figures_found(void *ctx, const struct cs_err *err, struct cs_str json);
void cs_watch_figures(struct cs_watch *watch, struct cs_str tenant, int64_t window_ms,
                      cs_figures_found *done, void *ctx);
#define CS_WATCH_WINDOWS "1h, 24h, 7d, 30d, all"
bool cs_watch_window(struct cs_str name, int64_t *window_ms);
/* For /metrics: families of its own, in the text format of Prometheus. */
void cs_watch_metrics(struct cs_watch *watch, struct cs_buf *out);

#endif

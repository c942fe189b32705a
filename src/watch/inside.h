/* Inside of watch/: one watch and its parts. */
#ifndef CS_WATCH_INSIDE_H
#define CS_WATCH_INSIDE_H

#include "watch/watch.h"

/* --- figures.c: measures are folded into sums, every 10 s and when somebody asks --- */

struct cs_fold;
/* Somebody who waits for all measures that are there now to be folded. */
struct cs_fold_wait {
    struct cs_fold_wait *next;
    void (*folded)(struct cs_fold_wait *wait, const struct cs_err *err);
};

struct cs_fold *cs_fold_new(struct cs_watch *watch);
void cs_fold_start(struct cs_watch *watch);
/* `folded` runs once, never before this has returned. */
void cs_fold_await(struct cs_watch *watch, struct cs_fold_wait *wait);
/* All measures are folded once more, then `closed` runs. */
void cs_fold_close(struct cs_watch *watch, void (*closed)(struct cs_watch *watch));

/* --- post.c: JSON to an address, in the background: nobody waits for it, and it never grows
 * without bound. One at a time, in order; what fails for a while is sent again with growing pauses,
 * what fails for good is dropped. No redirect is followed. --- */

struct cs_poster;
struct cs_poster *cs_poster_new(struct cs_watch *watch, const char *name, size_t most);
/* NULL: nowhere; what comes is dropped without being counted. */
void cs_poster_set(struct cs_poster *poster, const char *url);
/* From now on with a header that shows who it comes from, and when:
 *
 *     Caisson-Signature: t=SECONDS,v1=HEX
 *
 * HMAC-SHA256 over "SECONDS.BODY". Each attempt has a time of its own. */
void cs_poster_sign(struct cs_poster *poster, const char *secret);
/* What it says. Pure. */
#define CS_SIGNATURE 128
void cs_poster_signature(const char *secret, int64_t seconds, struct cs_str body,
                         char header[CS_SIGNATURE]);
/* Takes the body, which is left empty. `weight`: how many things are in it, for the counters. */
void cs_poster_send(struct cs_poster *poster, struct cs_buf *body, uint32_t weight);
uint64_t cs_poster_sent(const struct cs_poster *poster);
uint64_t cs_poster_dropped(const struct cs_poster *poster);
/* What waits is given two more seconds. */
void cs_poster_close(struct cs_poster *poster, void (*closed)(struct cs_watch *watch));

/* --- alerts.c --- */

struct cs_alerts;
struct cs_alerts *cs_alerts_new(struct cs_watch *watch);
void cs_alerts_set(struct cs_alerts *alerts, const struct cs_alert_rules *rules);
void cs_alerts_settled(struct cs_alerts *alerts, struct cs_str tenant,
                       const struct cs_result *result);
void cs_alerts_metrics(const struct cs_alerts *alerts, struct cs_buf *out);
void cs_alerts_close(struct cs_alerts *alerts, void (*closed)(struct cs_watch *watch));

/* --- approvals.c --- */

struct cs_herald;
struct cs_herald *cs_herald_new(struct cs_watch *watch);
void cs_herald_metrics(const struct cs_herald *herald, struct cs_buf *out);
void cs_herald_close(struct cs_herald *herald, void (*closed)(struct cs_watch *watch));

/* --- otlp.c --- */

struct cs_otlp;
struct cs_otlp *cs_otlp_new(struct cs_watch *watch, const char *endpoint);
void cs_otlp_settled(struct cs_otlp *otlp, struct cs_str tenant, const struct cs_result *result);
void cs_otlp_metrics(const struct cs_otlp *otlp, struct cs_buf *out);
void cs_otlp_close(struct cs_otlp *otlp, void (*closed)(struct cs_watch *watch));
/* The spans of one execution, separated by commas; how many they are. Pure. */
uint32_t cs_otlp_spans(struct cs_str tenant, const struct cs_result *result, int64_t now_us,
                       struct cs_buf *out);

/* --- metrics.c: counters since the start --- */

#define CS_WATCH_SERVERS 100 /* told apart by name */

struct cs_latency {
    char *server;
    uint64_t count[CS_RUN_BUCKETS];
    double seconds;
};

struct cs_counters {
    uint64_t hits, misses, denied, tokens_saved;
    uint64_t rate_limited, refused;
    uint64_t masked[CS_PII_COUNT], unprotected; /* what was found; executions without protection */
    struct cs_latency latencies[CS_WATCH_SERVERS + 1]; /* the last one: all others */
    unsigned servers;
};
void cs_counters_settled(struct cs_counters *counters, const struct cs_result *result);
void cs_counters_done(struct cs_counters *counters);
void cs_metrics_head(struct cs_buf *out, const char *name, const char *type, const char *help);
void cs_metrics_counter(struct cs_buf *out, const char *name, const char *help, uint64_t value);

struct cs_watch {
    uv_loop_t *loop;
    struct cs_watch_options o;
    struct cs_fold *fold;
    struct cs_alerts *alerts;
    struct cs_herald *herald;
    struct cs_otlp *otlp;    /* NULL: no endpoint */
    struct cs_fetcher *http; /* NULL: nothing was posted yet */
    struct cs_counters counters;
    unsigned parts; /* that are not closed yet; and questions that are not answered */
    bool closing;
    void (*closed)(void *ctx);
    void *ctx;
};

/* One of its parts is closed, or one of its questions answered. */
void cs_watch_part_over(struct cs_watch *watch);
/* NULL: libcurl is missing, `err` says so. */
struct cs_fetcher *cs_watch_http(struct cs_watch *watch, struct cs_err *err);

#endif

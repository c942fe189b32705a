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

void cs_fold_start(struct cs_watch *watch);
/* `folded` runs once, never before this has returned. */
void cs_fold_await(struct cs_watch *watch, struct cs_fold_wait *wait);
/* All measures are folded once more, then `closed` runs. */
void cs_fold_close(struct cs_watch *watch, void (*closed)(struct cs_watch *watch));

struct cs_watch {
    uv_loop_t *loop;
    struct cs_watch_options o;
    struct cs_fold *fold;
    bool closing;
    void (*closed)(void *ctx);
    void *ctx;
};

struct cs_fold *cs_fold_new(struct cs_watch *watch);

#endif

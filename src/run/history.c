/*
 * Who asked lately, and how often that ended badly: a weight for the judge, not a limit. Hours are
 * counted in twelfths; of those who are not among the last few hundred nothing is known. A daemon
 * begins with what the store has of the last hour.
 */
#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "run/guard.h"

#define PARTS   12
#define PART_MS (5 * 60 * 1000)
#define MOST    256
#define RECALL  5000 /* of the last executions, in a daemon that begins */

struct principal {
    uint64_t who; /* 0: free */
    int64_t part; /* the newest one */
    struct {
        uint16_t all, bad;
    } parts[PARTS];
};

struct recalling {
    struct cs_runner *runner; /* NULL: it is gone */
};

struct cs_history {
    struct principal at[MOST];
    struct recalling *recalling; /* the store is asked; NULL: it is not */
};

static uint64_t mix(uint64_t h, struct cs_str text)
{
    for (size_t i = 0; i < text.len; i++)
        h = (h ^ (unsigned char)text.at[i]) * 1099511628211u;
    return (h ^ 0xFF) * 1099511628211u;
}

/* What is older than an hour is forgotten. */
static void move_on(struct principal *p, int64_t part)
{
    if (part - p->part >= PARTS)
        memset(p->parts, 0, sizeof p->parts);
    else
        for (int64_t i = p->part + 1; i <= part; i++)
            memset(&p->parts[i % PARTS], 0, sizeof p->parts[0]);
    if (part > p->part)
        p->part = part;
}

static struct cs_history *history_of(struct cs_runner *r)
{
    if (!r->history)
        r->history = CS_NEW(struct cs_history);
    return r->history;
}

/* The one who was seen last the longest ago makes room. */
static struct principal *find(struct cs_runner *r, struct cs_str tenant, struct cs_str principal)
{
    struct cs_history *h = history_of(r);
    uint64_t who = mix(mix(14695981039346656037u, tenant), principal) | 1;
    int64_t part = cs_time_ms() / PART_MS;
    struct principal *oldest = h->at;
    for (struct principal *p = h->at; p < h->at + MOST; p++) {
        if (p->who == who) {
            move_on(p, part);
            return p;
        }
        if (p->part < oldest->part)
            oldest = p;
    }
    *oldest = (struct principal){.who = who, .part = part};
    return oldest;
}

void cs_history_begun(struct cs_run *run, uint32_t *lately, uint32_t *bad)
{
    struct principal *p = find(run->runner, run->tenant, run->principal);
    *lately = *bad = 0;
    for (unsigned i = 0; i < PARTS; i++) {
        *lately += p->parts[i].all;
        *bad += p->parts[i].bad;
    }
    uint16_t *all = &p->parts[p->part % PARTS].all;
    *all += *all < UINT16_MAX;
}

void cs_history_bad(struct cs_run *run)
{
    struct principal *p = find(run->runner, run->tenant, run->principal);
    uint16_t *bad = &p->parts[p->part % PARTS].bad;
    *bad += *bad < UINT16_MAX;
}

/* --- what the store has --- */

/* As cs_guard_settled sees it, as far as a row tells. */
static bool was_bad(const struct cs_execution_row *row)
{
    return cs_str_is(row->status, "denied") || cs_str_is(row->error_type, "timeout_error") ||
           cs_str_is(row->error_type, "resource_error");
}

static void recall(struct cs_runner *r, const struct cs_execution_row *row)
{
    struct principal *p = find(r, row->tenant, row->principal);
    int64_t part = row->finished / PART_MS;
    if (part > p->part || p->part - part >= PARTS)
        return;
    uint16_t *all = &p->parts[part % PARTS].all, *bad = &p->parts[part % PARTS].bad;
    *all += *all < UINT16_MAX;
    *bad += was_bad(row) && *bad < UINT16_MAX;
}

/* Without it nobody has a history: that is as it was when this data directory was made. */
static void on_lately(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                      size_t count)
{
    struct cs_runner *r = ((struct recalling *)ctx)->runner;
    free(ctx);
    if (!r)
        return;
    r->history->recalling = NULL;
    for (size_t i = 0; err->code == CS_OK && i < count; i++)
        recall(r, &rows[i]);
}

void cs_runner_recall(struct cs_runner *r)
{
    struct cs_history *h = history_of(r);
    if (!r->store || h->recalling)
        return;
    h->recalling = CS_NEW(struct recalling);
    h->recalling->runner = r;
    cs_store_executions_lately(r->store, cs_time_ms() - PARTS * PART_MS, RECALL, on_lately,
                               h->recalling);
}

void cs_history_free(struct cs_history *h)
{
    if (h && h->recalling)
        h->recalling->runner = NULL;
    free(h);
}

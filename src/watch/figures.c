/*
 * Figures over time. The store keeps one measure of each execution that was settled, written
 * together with its end. Here they are folded into one sum per tenant and hour:
 *
 *     the oldest measures -> the sums of their hours -> added up -> put, and the measures are gone
 *
 * The last step is one transaction that fails if one of the measures is gone already. Everybody
 * takes the oldest first, so two processes that fold at the same time have the first one in common,
 * and only one of them succeeds: nothing is counted twice, whoever is killed when.
 *
 * An answer needs all that has happened, so it folds first and then reads sums alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/time.h"
#include "watch/inside.h"
#include "watch/tally.h"

#define EVERY_MS   10000
#define AT_ONCE    1000 /* measures */
#define ROWS       1000 /* of an answer of the store */
#define HOUR_MS    3600000
#define ATTEMPTS   20 /* somebody else was first; each time there is less left to do */
#define FAR_FUTURE INT64_C(253402300799999)

/* One tenant's hour. */
struct group {
    char tenant[65];
    int64_t hour;
    struct cs_tally tally;
};

struct cs_fold {
    struct cs_watch *watch;
    uv_timer_t timer;
    bool running;
    unsigned attempts;
    struct cs_fold_wait *now, *next; /* who waits for this round, and for the one after it */
    struct group *groups;            /* sorted by tenant and hour */
    size_t count, cap, at;
    uint64_t first, last;
    size_t measures;
    struct cs_fold_wait end; /* the last who waits */
    void (*closed)(struct cs_watch *watch);
};

static void forget_groups(struct cs_fold *f)
{
    for (size_t i = 0; i < f->count; i++)
        cs_tally_done(&f->groups[i].tally);
    f->count = 0;
}

/* --- a round --- */

static void begin(struct cs_fold *f);

static void on_timer_closed(uv_handle_t *h)
{
    struct cs_fold *f = h->data;
    struct cs_watch *w = f->watch;
    void (*closed)(struct cs_watch *) = f->closed;
    w->fold = NULL;
    free(f->groups);
    free(f);
    closed(w);
}

static void finish(struct cs_fold *f, const struct cs_err *err)
{
    struct cs_fold_wait *told = f->now;
    forget_groups(f);
    f->running = false;
    f->attempts = 0;
    f->now = f->next;
    f->next = NULL;
    if (f->now)
        begin(f);
    for (struct cs_fold_wait *next; told; told = next) {
        next = told->next;
        told->folded(told, err);
    }
}

static void on_put(void *ctx, const struct cs_err *err)
{
    static const struct cs_err none;
    struct cs_fold *f = ctx;
    bool again = err->code == CS_CONFLICT ? ++f->attempts < ATTEMPTS
                                          : err->code == CS_OK && f->measures >= AT_ONCE;
    forget_groups(f);
    if (again)
        begin(f);
    else
        finish(f, err->code == CS_CONFLICT ? &none : err);
}

static void put_sums(struct cs_fold *f)
{
    struct cs_sum *sums = cs_calloc(f->count, sizeof *sums);
    struct cs_buf *texts = cs_calloc(f->count, sizeof *texts);
    for (size_t i = 0; i < f->count; i++) {
        cs_tally_put(&f->groups[i].tally, &texts[i]);
        sums[i] = (struct cs_sum){.tenant = cs_str(f->groups[i].tenant),
                                  .start = f->groups[i].hour,
                                  .value = cs_buf_str(&texts[i])};
    }
    cs_store_sums_put(f->watch->o.store, sums, f->count, f->first, f->last, f->measures, on_put, f);
    for (size_t i = 0; i < f->count; i++)
        cs_buf_done(&texts[i]);
    free(texts);
    free(sums);
}

static bool same_tenant(const struct group *a, const struct group *b)
{
    return strcmp(a->tenant, b->tenant) == 0;
}

static void read_sums(struct cs_fold *f);

/* What was folded before, of the tenant that stands at f->at. */
static void on_sums(void *ctx, const struct cs_err *err, const struct cs_sum *rows, size_t count)
{
    struct cs_fold *f = ctx;
    if (err->code != CS_OK) {
        finish(f, err);
        return;
    }
    size_t i = f->at;
    for (; i < f->count && same_tenant(&f->groups[i], &f->groups[f->at]); i++) {
        struct group *g = &f->groups[i];
        for (size_t n = 0; n < count; n++) {
            struct cs_tally before = {0};
            if (rows[n].start != g->hour || !cs_tally_read(rows[n].value, &before))
                continue;
            cs_tally_merge(&g->tally, &before);
            cs_tally_done(&before);
        }
    }
    f->at = i;
    read_sums(f);
}

static void read_sums(struct cs_fold *f)
{
    if (f->at == f->count) {
        put_sums(f);
        return;
    }
    const struct group *g = &f->groups[f->at];
    cs_store_sums(f->watch->o.store, cs_str(g->tenant), g->hour, on_sums, f);
}

/* --- measures --- */

static struct group *group_of(struct cs_fold *f, struct cs_str tenant, int64_t hour)
{
    size_t low = 0, high = f->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct group *g = &f->groups[middle];
        struct cs_str name = cs_str(g->tenant);
        size_t n = name.len < tenant.len ? name.len : tenant.len;
        int order = n ? memcmp(name.at, tenant.at, n) : 0;
        if (!order)
            order = (name.len > tenant.len) - (name.len < tenant.len);
        if (!order)
            order = (g->hour > hour) - (g->hour < hour);
        if (!order)
            return &f->groups[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (f->count == f->cap) {
        f->cap = f->cap ? f->cap * 2 : 16;
        f->groups = cs_realloc(f->groups, f->cap, sizeof *f->groups);
    }
    struct group *g = &f->groups[low];
    memmove(g + 1, g, (f->count - low) * sizeof *g);
    *g = (struct group){.hour = hour};
    memcpy(g->tenant, tenant.at, tenant.len < sizeof g->tenant ? tenant.len : sizeof g->tenant - 1);
    f->count++;
    return g;
}

static int64_t hour_of(int64_t ms)
{
    if (ms < 0 || ms > FAR_FUTURE)
        return 0;
    return ms - ms % HOUR_MS;
}

static void on_measures(void *ctx, const struct cs_err *err, const struct cs_measure *rows,
                        size_t count)
{
    struct cs_fold *f = ctx;
    if (err->code != CS_OK || count == 0) {
        finish(f, err);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct cs_str tenant = rows[i].tenant;
        if (tenant.len > 64)
            tenant.len = 64;
        cs_tally_add(&group_of(f, tenant, hour_of(rows[i].finished))->tally, &rows[i]);
    }
    f->first = rows[0].seq;
    f->last = rows[count - 1].seq;
    f->measures = count;
    f->at = 0;
    read_sums(f);
}

static void begin(struct cs_fold *f)
{
    f->running = true;
    cs_store_measures(f->watch->o.store, AT_ONCE, on_measures, f);
}

static void on_timer(uv_timer_t *t)
{
    cs_fold_start(((struct cs_fold *)t->data)->watch);
}

struct cs_fold *cs_fold_new(struct cs_watch *w)
{
    struct cs_fold *f = CS_NEW(struct cs_fold);
    f->watch = w;
    uv_timer_init(w->loop, &f->timer);
    f->timer.data = f;
    uv_timer_start(&f->timer, on_timer, EVERY_MS, EVERY_MS);
    uv_unref((uv_handle_t *)&f->timer);
    return f;
}

void cs_fold_start(struct cs_watch *w)
{
    if (!w->fold->running)
        begin(w->fold);
}

void cs_fold_await(struct cs_watch *w, struct cs_fold_wait *wait)
{
    struct cs_fold *f = w->fold;
    /* A round under way may have read before the last measure came. */
    struct cs_fold_wait **list = f->running ? &f->next : &f->now;
    wait->next = *list;
    *list = wait;
    cs_fold_start(w);
}

static void on_last(struct cs_fold_wait *wait, const struct cs_err *err)
{
    struct cs_fold *f = (struct cs_fold *)((char *)wait - offsetof(struct cs_fold, end));
    (void)err; /* what is left is folded by whoever comes next */
    uv_close((uv_handle_t *)&f->timer, on_timer_closed);
}

void cs_fold_close(struct cs_watch *w, void (*closed)(struct cs_watch *watch))
{
    struct cs_fold *f = w->fold;
    f->closed = closed;
    f->end.folded = on_last;
    uv_timer_stop(&f->timer);
    cs_fold_await(w, &f->end);
}

/* --- answers --- */

struct query {
    struct cs_fold_wait wait;
    uv_work_t work;
    struct cs_watch *watch;
    char tenant[65];
    int64_t from, window_ms, first; /* first: the oldest hour that there is */
    int64_t next;                   /* where the next page begins; 0: this is the last one */
    struct cs_tally tally;
    struct cs_buf texts; /* a page, each of them after its length */
    bool has_now;
    uint32_t running, waiting;
    cs_figures_found *done;
    void *ctx;
};

static void answer(struct query *q, const struct cs_err *err, struct cs_str json)
{
    struct cs_watch *w = q->watch;
    q->done(q->ctx, err, json);
    cs_tally_done(&q->tally);
    cs_buf_done(&q->texts);
    free(q);
    cs_watch_part_over(w);
}

static void put_time(struct cs_json_writer *w, const char *key, int64_t ms)
{
    char text[CS_TIME_TEXT];
    cs_json_key(w, key);
    cs_json_put_z(w, *cs_time_text(ms, text) ? text : NULL);
}

static void report(struct query *q)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    char window[32] = "all";
    int64_t hours = q->window_ms / HOUR_MS;
    if (hours)
        snprintf(window, sizeof window, "%lld%c",
                 (long long)(hours > 24 && hours % 24 == 0 ? hours / 24 : hours),
                 hours > 24 && hours % 24 == 0 ? 'd' : 'h');
    cs_json_open(&w, '{');
    cs_json_key(&w, "window");
    cs_json_put_z(&w, window);
    put_time(&w, "since", q->from ? q->from : q->first);
    cs_json_key(&w, "tenant");
    cs_json_put_z(&w, *q->tenant ? q->tenant : NULL);
    cs_tally_report(&q->tally, q->has_now ? &q->running : NULL, q->has_now ? &q->waiting : NULL,
                    &w);
    cs_json_close(&w, '}');
    answer(q, &(struct cs_err){0}, cs_buf_str(&json));
}

/* In the pool: a year of hours takes longer than everybody else should wait. */
static void add_page(uv_work_t *work)
{
    struct query *q = work->data;
    const char *at = q->texts.at, *end = at + q->texts.len;
    while (at < end) {
        struct cs_tally hour = {0};
        size_t len;
        memcpy(&len, at, sizeof len);
        at += sizeof len;
        if (cs_tally_read(cs_strn(at, len), &hour))
            cs_tally_merge(&q->tally, &hour);
        cs_tally_done(&hour);
        at += len;
    }
}

static void on_page(void *ctx, const struct cs_err *err, const struct cs_sum *rows, size_t count);

static void on_added(uv_work_t *work, int status)
{
    struct query *q = work->data;
    (void)status; /* it is never cancelled */
    if (q->next)
        cs_store_sums(q->watch->o.store, cs_str(q->tenant), q->next, on_page, q);
    else
        report(q);
}

static void on_page(void *ctx, const struct cs_err *err, const struct cs_sum *rows, size_t count)
{
    struct query *q = ctx;
    if (err->code != CS_OK || count == 0) {
        if (err->code != CS_OK)
            answer(q, err, (struct cs_str){0});
        else
            report(q);
        return;
    }
    cs_buf_clear(&q->texts);
    for (size_t i = 0; i < count; i++) {
        cs_buf_put(&q->texts, &rows[i].value.len, sizeof rows[i].value.len);
        cs_buf_putstr(&q->texts, rows[i].value);
    }
    if (!q->first)
        q->first = rows[0].start;
    q->next = count >= ROWS ? rows[count - 1].start + HOUR_MS : 0;
    q->work.data = q;
    if (uv_queue_work(q->watch->loop, &q->work, add_page, on_added) == 0)
        return;
    add_page(&q->work);
    on_added(&q->work, 0);
}

static void on_folded(struct cs_fold_wait *wait, const struct cs_err *err)
{
    struct query *q = (struct query *)wait;
    if (err->code != CS_OK)
        answer(q, err, (struct cs_str){0});
    else
        cs_store_sums(q->watch->o.store, cs_str(q->tenant), q->from, on_page, q);
}

void cs_watch_figures(struct cs_watch *w, struct cs_str tenant, int64_t window_ms,
                      cs_figures_found *done, void *ctx)
{
    struct query *q = CS_NEW(struct query);
    q->wait.folded = on_folded;
    q->watch = w;
    w->parts++;
    memcpy(q->tenant, tenant.at ? tenant.at : "", tenant.len < 64 ? tenant.len : 64);
    q->window_ms = window_ms;
    q->from = window_ms ? hour_of(cs_time_ms() - window_ms) : 0;
    q->done = done;
    q->ctx = ctx;
    q->has_now = w->o.runner != NULL;
    if (q->has_now)
        cs_runner_under_way(w->o.runner, tenant, &q->running, &q->waiting);
    cs_fold_await(w, &q->wait);
}

bool cs_watch_window(struct cs_str name, int64_t *window_ms)
{
    static const struct {
        const char *name;
        int64_t hours;
    } windows[] = {{"1h", 1}, {"24h", 24}, {"7d", 7 * 24}, {"30d", 30 * 24}, {"all", 0}};
    for (size_t i = 0; i < CS_COUNT(windows); i++) {
        if (!cs_str_is(name, windows[i].name))
            continue;
        *window_ms = windows[i].hours * HOUR_MS;
        return true;
    }
    return false;
}

/*
 * Timers: a heap ordered by due time. The prelude keeps the functions, C the times.
 */
#include <string.h>

#include "base/mem.h"
#include "worker/clock.h"
#include "worker/host.h"

#define TIMERS_MAX 100000

/* As everywhere else: longer is at once, and nothing is sooner than a millisecond. */
#define DELAY_MAX_MS 2147483647.0

/* setImmediate does not wait. But a program that looks again and again whether its answer has come
 * needs time to pass, or it would never come: after so many without an answer each takes a moment.
 */
#define AT_ONCE_MAX 1000
#define AT_ONCE_US  100

static bool before(const struct cs_timer *a, const struct cs_timer *b)
{
    return a->due_us != b->due_us ? a->due_us < b->due_us : a->order < b->order;
}

static void sift(uint32_t i)
{
    struct cs_timer *t = cs_worker.timers;
    uint32_t n = cs_worker.timer_len;
    struct cs_timer moving = t[i];
    while (i > 0 && before(&moving, &t[(i - 1) / 2])) {
        t[i] = t[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= n)
            break;
        if (child + 1 < n && before(&t[child + 1], &t[child]))
            child++;
        if (!before(&t[child], &moving))
            break;
        t[i] = t[child];
        i = child;
    }
    t[i] = moving;
}

static void push(struct cs_timer timer)
{
    struct cs_worker *w = &cs_worker;
    if (w->timer_len == w->timer_cap) {
        w->timer_cap = w->timer_cap ? w->timer_cap * 2 : 16;
        w->timers = cs_realloc(w->timers, w->timer_cap, sizeof *w->timers);
    }
    timer.order = w->timer_order++;
    w->timers[w->timer_len++] = timer;
    sift(w->timer_len - 1);
}

static void drop(uint32_t i)
{
    struct cs_worker *w = &cs_worker;
    w->timers[i] = w->timers[--w->timer_len];
    if (i < w->timer_len)
        sift(i);
}

double cs_timer_add(double delay_ms, bool repeat)
{
    struct cs_worker *w = &cs_worker;
    if (w->timer_len >= TIMERS_MAX)
        return -1;
    bool at_once = delay_ms < 0; /* setImmediate */
    if (!(delay_ms >= 1 && delay_ms <= DELAY_MAX_MS))
        delay_ms = 1;
    int64_t delay_us = (int64_t)delay_ms * 1000;
    if (at_once)
        delay_us = w->at_once++ < AT_ONCE_MAX ? 0 : AT_ONCE_US;
    uint32_t id = ++w->timer_next;
    push((struct cs_timer){
        .due_us = cs_clock_now() + delay_us, .period_us = repeat ? delay_us : 0, .id = id});
    return id;
}

void cs_timer_cancel(uint32_t id)
{
    for (uint32_t i = 0; i < cs_worker.timer_len; i++) {
        if (cs_worker.timers[i].id == id) {
            drop(i);
            return;
        }
    }
}

bool cs_timer_next(int64_t *due_us)
{
    if (cs_worker.timer_len == 0)
        return false;
    *due_us = cs_worker.timers[0].due_us;
    return true;
}

void cs_timers_fire(int64_t until_us)
{
    int64_t due;
    while (cs_timer_next(&due) && due <= until_us) {
        struct cs_timer t = cs_worker.timers[0];
        drop(0);
        cs_clock_advance(t.due_us);
        if (t.period_us) {
            struct cs_timer again = t;
            again.due_us += t.period_us;
            push(again);
        }
        JSValueRef id = cs_host_number(t.id);
        cs_host_call(CS_ENTRY_fire, 1, &id, NULL);
        cs_serve_turn();
    }
}

/*
 * Rates: in no minute, and in no hour, are there more than so many.
 *
 * A window is a ring of counts, one for each second (or minute) of it, and one more: the oldest
 * leaves when all of it is older than the window. So the promise is kept whatever the moment the
 * window starts at, and at worst one is told to wait a second (or a minute) too long.
 */
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/own.h"
#include "policy/keys.h"

#define SLOTS      61
#define NAMES      8192 /* remembered; then the one not seen for longest is forgotten */
#define BUCKETS    8192
#define NAME_BYTES 128

static const int64_t slot_ms[] = {1000, 60000}; /* of a minute, and of an hour */
#define WINDOWS CS_COUNT(slot_ms)

struct window {
    int64_t slot; /* the newest one, counted since the clock's start */
    uint64_t sum;
    uint32_t counts[SLOTS]; /* of slot s, at s % SLOTS */
};

struct visitor {
    struct visitor *next;          /* in the bucket */
    struct visitor *newer, *older; /* by when they were seen last */
    uint32_t bucket;
    size_t len;
    struct window windows[WINDOWS];
    char name[NAME_BYTES];
};

struct cs_rates {
    struct cs_rate_limits limits;
    uint64_t seed;
    size_t count;
    struct visitor *newest, *oldest;
    struct visitor *buckets[BUCKETS];
};

struct cs_rates *cs_rates_new(struct cs_rate_limits limits)
{
    struct cs_rates *r = CS_NEW(struct cs_rates);
    r->limits = limits;
    if (getrandom(&r->seed, sizeof r->seed, GRND_NONBLOCK) != (ssize_t)sizeof r->seed)
        r->seed = (uintptr_t)r;
    return r;
}

void cs_rates_free(struct cs_rates *r)
{
    if (!r)
        return;
    for (struct visitor *v = r->newest, *older; v; v = older) {
        older = v->older;
        free(v);
    }
    free(r);
}

void cs_rates_set(struct cs_rates *r, struct cs_rate_limits limits)
{
    r->limits = limits;
}

/* --- who it is --- */

static uint32_t bucket_of(const struct cs_rates *r, struct cs_str name)
{
    uint64_t h = r->seed ^ 0xCBF29CE484222325u;
    for (size_t i = 0; i < name.len; i++)
        h = (h ^ (unsigned char)name.at[i]) * 0x100000001B3u;
    return (uint32_t)(h ^ h >> 32) % BUCKETS;
}

static void unlink_age(struct cs_rates *r, struct visitor *v)
{
    *(v->newer ? &v->newer->older : &r->newest) = v->older;
    *(v->older ? &v->older->newer : &r->oldest) = v->newer;
}

static void make_newest(struct cs_rates *r, struct visitor *v)
{
    v->newer = NULL;
    v->older = r->newest;
    *(r->newest ? &r->newest->newer : &r->oldest) = v;
    r->newest = v;
}

static void forget(struct cs_rates *r, struct visitor *v)
{
    struct visitor **at = &r->buckets[v->bucket];
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    unlink_age(r, v);
    r->count--;
    free(v);
}

static struct visitor *visitor_of(struct cs_rates *r, struct cs_str name)
{
    if (name.len > NAME_BYTES)
        name.len = NAME_BYTES;
    uint32_t bucket = bucket_of(r, name);
    for (struct visitor *v = r->buckets[bucket]; v; v = v->next) {
        if (!cs_str_eq(cs_strn(v->name, v->len), name))
            continue;
        unlink_age(r, v);
        make_newest(r, v);
        return v;
    }
    if (r->count == NAMES)
        forget(r, r->oldest);
    struct visitor *v = CS_NEW(struct visitor);
    v->bucket = bucket;
    v->len = name.len;
    if (name.len)
        memcpy(v->name, name.at, name.len);
    v->next = r->buckets[bucket];
    r->buckets[bucket] = v;
    make_newest(r, v);
    r->count++;
    return v;
}

/* --- how often --- */

/* Drops what is older than the window. A clock that went back stands still until it catches up. */
static void advance(struct window *w, int64_t slot)
{
    if (slot - w->slot >= SLOTS)
        *w = (struct window){.slot = slot};
    for (; w->slot < slot; w->slot++) {
        uint32_t *next = &w->counts[(w->slot + 1) % SLOTS];
        w->sum -= *next;
        *next = 0;
    }
}

static uint32_t seconds_up(int64_t ms)
{
    return ms > 0 ? (uint32_t)((ms + 999) / 1000) : 1;
}

/* When so many have left the window that there is room for one more. */
static uint32_t retry_after(const struct window *w, int64_t length, uint64_t limit, int64_t now)
{
    uint64_t left = w->sum;
    for (int64_t s = w->slot - SLOTS + 1; s <= w->slot; s++) {
        left -= s >= 0 ? w->counts[s % SLOTS] : 0;
        if (left < limit)
            return seconds_up((s + SLOTS) * length - now);
    }
    return seconds_up(length * SLOTS);
}

/* When all have left it, give or take a slot. */
static uint32_t reset_after(const struct window *w, int64_t length, int64_t now)
{
    uint32_t whole = seconds_up(length * (SLOTS - 1));
    for (int64_t s = w->slot; s >= 0 && s > w->slot - SLOTS; s--) {
        uint32_t wait = w->counts[s % SLOTS] ? seconds_up((s + SLOTS) * length - now) : 0;
        if (wait)
            return wait < whole ? wait : whole;
    }
    return 0;
}

struct cs_rate cs_rate_take(struct cs_rates *r, struct cs_str name, int64_t now_ms)
{
    const uint64_t limits[WINDOWS] = {r->limits.per_minute, r->limits.per_hour};
    struct cs_rate rate = {.allowed = true};
    if (!limits[0] && !limits[1])
        return rate;
    int64_t now = now_ms < 0 ? 0 : now_ms < INT64_MAX / 2 ? now_ms : INT64_MAX / 2;
    struct visitor *v = visitor_of(r, name);
    for (size_t i = 0; i < WINDOWS; i++) {
        struct window *w = &v->windows[i];
        advance(w, now / slot_ms[i]);
        if (!limits[i] || w->sum < limits[i])
            continue;
        uint32_t wait = retry_after(w, slot_ms[i], limits[i], now);
        rate.allowed = false;
        rate.retry_after_s = wait > rate.retry_after_s ? wait : rate.retry_after_s;
    }
    for (size_t i = 0; i < WINDOWS; i++) {
        struct window *w = &v->windows[i];
        if (rate.allowed && w->counts[w->slot % SLOTS] < UINT32_MAX) {
            w->counts[w->slot % SLOTS]++;
            w->sum++;
        }
        uint64_t remaining = limits[i] > w->sum ? limits[i] - w->sum : 0;
        if (!limits[i] || (rate.limit && remaining >= rate.remaining))
            continue;
        rate.limit = limits[i];
        rate.remaining = remaining;
        rate.reset_s = reset_after(w, slot_ms[i], now);
    }
    return rate;
}

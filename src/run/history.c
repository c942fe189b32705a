/*
 * Who asked lately, and how often that ended badly: a weight for the judge, not a limit. Hours are
 * counted in twelfths; of those who are not among the last few hundred nothing is known.
 */
#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "run/guard.h"

#define PARTS   12
#define PART_MS (5 * 60 * 1000)
#define MOST    256

struct principal {
    uint64_t who; /* 0: free */
    int64_t part; /* the newest one */
    struct {
        uint16_t all, bad;
    } parts[PARTS];
};

struct cs_history {
    struct principal at[MOST];
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

/* The one who was seen last the longest ago makes room. */
static struct principal *find(struct cs_run *run)
{
    struct cs_runner *r = run->runner;
    uint64_t who = mix(mix(14695981039346656037u, run->tenant), run->principal) | 1;
    int64_t part = cs_time_ms() / PART_MS;
    if (!r->history)
        r->history = CS_NEW(struct cs_history);
    struct principal *oldest = r->history->at;
    for (struct principal *p = r->history->at; p < r->history->at + MOST; p++) {
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
    struct principal *p = find(run);
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
    struct principal *p = find(run);
    uint16_t *bad = &p->parts[p->part % PARTS].bad;
    *bad += *bad < UINT16_MAX;
}

/*
 * Turns. A line for each tenant, the lines in a ring: whoever has many waiting delays their own,
 * not those of others.
 *
 * A session is held before a turn is asked for, never the other way round. So nobody who has a turn
 * waits for anybody who needs one, and those that wait for one session take no turns from others.
 */
#include "base/mem.h"
#include "run/inside.h"

#define TENANT_MAX 64
#define MOST_S     60

struct cs_line {
    struct cs_line *next;
    struct cs_place *first, *last; /* never empty */
    size_t tenant_len;
    char tenant[TENANT_MAX];
};

static struct cs_line *line_of(struct cs_queue *q, struct cs_str tenant)
{
    struct cs_line *l = q->last;
    if (!l)
        return NULL;
    do {
        if (cs_str_eq(cs_strn(l->tenant, l->tenant_len), tenant))
            return l;
        l = l->next;
    } while (l != q->last);
    return NULL;
}

/* At the end of the ring: all others are served once before it. */
static struct cs_line *new_line(struct cs_queue *q, struct cs_str tenant)
{
    struct cs_line *l = CS_NEW(struct cs_line);
    l->tenant_len = tenant.len < TENANT_MAX ? tenant.len : TENANT_MAX;
    if (l->tenant_len)
        memcpy(l->tenant, tenant.at, l->tenant_len);
    l->next = q->last ? q->last->next : l;
    if (q->last)
        q->last->next = l;
    q->last = l;
    return l;
}

static void remove_line(struct cs_queue *q, struct cs_line *line)
{
    struct cs_line *before = q->last;
    while (before->next != line)
        before = before->next;
    before->next = line->next;
    if (q->last == line)
        q->last = before == line ? NULL : before;
    free(line);
}

static void unlink_place(struct cs_queue *q, struct cs_place *place)
{
    struct cs_line *l = place->line;
    struct cs_place **at = &l->first, *before = NULL;
    while (*at != place) {
        before = *at;
        at = &(*at)->next;
    }
    *at = place->next;
    if (l->last == place)
        l->last = before;
    if (!l->first)
        remove_line(q, l);
    place->line = NULL;
    place->next = NULL;
    q->waiting--;
}

static void give_turn(struct cs_queue *q, struct cs_place *place)
{
    place->has_turn = true;
    place->since_ns = uv_hrtime();
    q->running++;
}

bool cs_queue_enter(struct cs_queue *q, struct cs_str tenant, struct cs_place *place)
{
    if (q->running < q->most && !q->last) {
        give_turn(q, place);
        return true;
    }
    struct cs_line *l = line_of(q, tenant);
    if (!l)
        l = new_line(q, tenant);
    place->line = l;
    place->next = NULL;
    if (l->last)
        l->last->next = place;
    else
        l->first = place;
    l->last = place;
    q->waiting++;
    return false;
}

static void serve(struct cs_queue *q)
{
    while (q->last && q->running < q->most) {
        struct cs_line *l = q->last->next;
        struct cs_place *place = l->first;
        q->last = l; /* it has had its turn */
        unlink_place(q, place);
        give_turn(q, place);
        q->go(place);
    }
}

void cs_queue_quit(struct cs_queue *q, struct cs_place *place)
{
    if (place->line)
        unlink_place(q, place);
    if (!place->has_turn)
        return;
    double seconds = (double)(uv_hrtime() - place->since_ns) / 1e9;
    q->turn_s = q->turn_s > 0 ? 0.9 * q->turn_s + 0.1 * seconds : seconds;
    place->has_turn = false;
    q->running--;
    serve(q);
}

uint32_t cs_queue_seconds(const struct cs_queue *q, uint32_t waiting)
{
    double seconds = q->turn_s * waiting / q->most;
    return seconds > MOST_S - 1 ? MOST_S : (uint32_t)seconds + 1;
}

int cs_step_turn(struct cs_run *run, struct cs_err *err)
{
    (void)err;
    return cs_queue_enter(&run->runner->queue, run->tenant, &run->place) ? CS_ON : CS_LATER;
}

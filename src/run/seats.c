/*
 * Who watches: whoever started it first, then the others in the order in which they came. A seat
 * that is left while something is told stays where it is until that is over. At the end, what those
 * can learn who do not watch.
 */
#include "base/mem.h"
#include "run/shield.h"

struct cs_run_seat *cs_run_join(struct cs_run *run, const struct cs_run_watch *watch,
                                void (*done)(void *ctx, const struct cs_result *result), void *ctx)
{
    struct cs_run_seat *seat = CS_NEW(struct cs_run_seat);
    seat->run = run;
    seat->watch = watch ? *watch : (struct cs_run_watch){0};
    seat->done = done;
    seat->ctx = ctx;
    struct cs_run_seat **end = &run->seats;
    while (*end)
        end = &(*end)->next;
    *end = seat;
    return seat;
}

static void unlink_seat(struct cs_run_seat *seat)
{
    struct cs_run_seat **at = &seat->run->seats;
    while (*at != seat)
        at = &(*at)->next;
    *at = seat->next;
    free(seat);
}

void cs_run_leave(struct cs_run_seat *seat)
{
    if (seat->run->telling)
        seat->left = true;
    else
        unlink_seat(seat);
}

static void told(struct cs_run *run)
{
    if (--run->telling)
        return;
    struct cs_run_seat *seat = run->seats;
    while (seat) {
        struct cs_run_seat *next = seat->next;
        if (seat->left)
            unlink_seat(seat);
        seat = next;
    }
}

void cs_seats_log(struct cs_run *run, enum cs_level level, struct cs_str text)
{
    run->telling++;
    if (run->watch.log)
        run->watch.log(run->ctx, level, text);
    for (struct cs_run_seat *s = run->seats; s; s = s->next)
        if (!s->left && s->watch.log)
            s->watch.log(s->ctx, level, text);
    told(run);
}

void cs_seats_output(struct cs_run *run, bool is_stderr, struct cs_str bytes)
{
    run->telling++;
    if (run->watch.output)
        run->watch.output(run->ctx, is_stderr, bytes);
    for (struct cs_run_seat *s = run->seats; s; s = s->next)
        if (!s->left && s->watch.output)
            s->watch.output(s->ctx, is_stderr, bytes);
    told(run);
}

void cs_seats_progress(struct cs_run *run, struct cs_str json)
{
    run->telling++;
    if (run->watch.progress)
        run->watch.progress(run->ctx, json);
    for (struct cs_run_seat *s = run->seats; s; s = s->next)
        if (!s->left && s->watch.progress)
            s->watch.progress(s->ctx, json);
    told(run);
}

void cs_seats_begun(struct cs_run *run)
{
    run->telling++;
    if (run->watch.begun)
        run->watch.begun(run->ctx);
    for (struct cs_run_seat *s = run->seats; s; s = s->next)
        if (!s->left && s->watch.begun)
            s->watch.begun(s->ctx);
    told(run);
}

/* --- what persons are asked --- */

struct cs_open_approval {
    struct cs_open_approval *next;
    char *id;
    struct cs_buf kind, risk, why;
    int64_t created, expires;
};

/* Where it is, or where the next one goes. */
static struct cs_open_approval **find_open(struct cs_run *run, struct cs_str id)
{
    struct cs_open_approval **at = &run->approvals;
    while (*at && !cs_str_is(id, (*at)->id))
        at = &(*at)->next;
    return at;
}

static void drop_open(struct cs_open_approval **at)
{
    struct cs_open_approval *open = *at;
    *at = open->next;
    cs_buf_done(&open->kind);
    cs_buf_done(&open->risk);
    cs_buf_done(&open->why);
    free(open->id);
    free(open);
}

static void keep_open(struct cs_run *run, const struct cs_approval_row *row)
{
    CS_AUTO_JSON struct cs_json card = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_open_approval **at = find_open(run, row->id);
    if (*at)
        return;
    struct cs_open_approval *open = CS_NEW(struct cs_open_approval);
    open->id = cs_strndup(row->id.at, row->id.len);
    open->created = row->created;
    open->expires = row->expires;
    cs_buf_putstr(&open->kind, row->kind);
    cs_buf_putstr(&open->risk, row->risk);
    if (cs_json_parse(row->card, NULL, &card, NULL) == 0)
        cs_buf_putstr(&open->why, cs_json_str(cs_json_get(cs_json_root(&card), "why"), &arena));
    *at = open;
}

void cs_seats_approval(struct cs_run *run, const struct cs_approval_row *row)
{
    keep_open(run, row);
    run->telling++;
    if (run->watch.approval)
        run->watch.approval(run->ctx, row);
    for (struct cs_run_seat *s = run->seats; s; s = s->next)
        if (!s->left && s->watch.approval)
            s->watch.approval(s->ctx, row);
    told(run);
}

void cs_seats_approval_over(struct cs_run *run, const struct cs_approval_row *row)
{
    struct cs_open_approval **at = find_open(run, row->id);
    if (!*at)
        return;
    drop_open(at);
    run->telling++;
    if (run->watch.approval_over)
        run->watch.approval_over(run->ctx, row);
    for (struct cs_run_seat *s = run->seats; s; s = s->next)
        if (!s->left && s->watch.approval_over)
            s->watch.approval_over(s->ctx, row);
    told(run);
}

size_t cs_run_approvals(const struct cs_run *run, struct cs_run_approval *open, size_t most)
{
    size_t count = 0;
    for (const struct cs_open_approval *a = run->approvals; a; a = a->next, count++)
        if (count < most)
            open[count] = (struct cs_run_approval){a->id,
                                                   cs_buf_str(&a->kind),
                                                   cs_buf_str(&a->risk),
                                                   cs_buf_str(&a->why),
                                                   a->created,
                                                   a->expires};
    return count;
}

void cs_seats_free(struct cs_run *run)
{
    while (run->approvals)
        drop_open(&run->approvals);
}

/* --- the end --- */

/* One may leave, or be made to leave, in the `done` of another. */
void cs_seats_done(struct cs_run *run, const struct cs_result *result)
{
    run->done(run->ctx, run->shield ? cs_shield_reveal(run) : result);
    while (run->seats) {
        struct cs_run_seat seat = *run->seats;
        unlink_seat(run->seats);
        if (!seat.left)
            seat.done(seat.ctx, result);
    }
}

/* --- those under way --- */

const char *cs_run_id(const struct cs_run *run)
{
    return run->result.execution_id;
}

struct cs_run *cs_run_find(struct cs_runner *runner, struct cs_str tenant, struct cs_str id)
{
    for (struct cs_run *run = runner->runs; run; run = run->next)
        if (!run->is_joiner && !run->again && cs_str_is(id, run->result.execution_id) &&
            cs_str_eq(run->tenant, tenant))
            return run;
    return NULL;
}

const char *cs_run_phase(const struct cs_run *run)
{
    if (run->approvals)
        return "awaiting_approval";
    return run->waiting ? "waiting" : "running";
}

size_t cs_run_logs(const struct cs_run *run, const struct cs_log **logs)
{
    *logs = run->logs;
    return run->log_count;
}

/*
 * Questions to persons, of this process: asked, looked for, expired, used.
 *
 *   LOOKING ──grant fits──────────────────────────────► ENDED
 *      └─► ADDING ──earlier denial, no room───────────► ENDED
 *             ├──earlier approval──► USING ───────────► ENDED
 *             └─► WAITING ──approved──► USING ──used by another──► ADDING, as a new question
 *                    ├──denied, expired, withdrawn────► ENDED
 *                    └──its time is over──► EXPIRING ─► ENDED, or as somebody decided meanwhile
 *
 * Each arrow but the last ones is an operation of the store under way; a question that is dropped
 * is freed when its last one is back.
 */
#include "run/approvals.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/canon.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
#include "run/guard.h"

#define LOOK_MS 250

enum state { LOOKING, ADDING, WAITING, USING, EXPIRING, ENDED };

struct cs_question {
    struct cs_question *next;
    struct cs_approvals *all;
    struct cs_run *run;
    void (*done)(void *ctx, const struct cs_question_end *end);
    void *ctx;
    enum state state;
    unsigned ops; /* of the store, that are not back */
    bool dropped, keep, told;
    int64_t due; /* cs_tick_ms: then its time is over */
    struct cs_approval_row row;
    struct cs_grant_row like; /* what a grant would have to be */
    struct cs_str rule;
    struct cs_question_end end;
    struct cs_arena arena; /* texts of all these */
};

/* Of one runner. */
struct cs_approvals {
    struct cs_runner *runner; /* NULL: closed */
    struct cs_store *store;
    struct cs_question *first;
    struct cs_approval_watcher watcher;
    uv_timer_t timer;
    unsigned refs; /* the runner, the timer, what the store has under way */
    bool looking;
};

static void unref(struct cs_approvals *all)
{
    if (--all->refs == 0)
        free(all);
}

/* --- a question's life --- */

static void question_free(struct cs_question *q)
{
    struct cs_approvals *all = q->all;
    cs_arena_done(&q->arena);
    free(q);
    unref(all);
}

static void unlink_question(struct cs_question *q)
{
    struct cs_question **at = &q->all->first;
    while (*at && *at != q)
        at = &(*at)->next;
    if (*at)
        *at = q->next;
}

/* An operation is back. False: nobody waits for it any more. */
static bool back(struct cs_question *q)
{
    q->ops--;
    if (!q->dropped)
        return true;
    if (!q->ops)
        question_free(q);
    return false;
}

static void tell_asked(struct cs_question *q)
{
    const struct cs_approval_watcher *w = &q->all->watcher;
    q->told = true;
    q->end.asked = true;
    if (w->asked)
        w->asked(w->ctx, &q->row);
    cs_seats_approval(q->run, &q->row);
}

static void tell_over(struct cs_question *q)
{
    const struct cs_approval_watcher *w = &q->all->watcher;
    if (!q->told)
        return;
    q->told = false;
    if (w->over)
        w->over(w->ctx, &q->row);
    cs_seats_approval_over(q->run, &q->row);
}

/* The last that is heard of it. */
static void finish(struct cs_question *q)
{
    q->state = ENDED;
    unlink_question(q);
    tell_over(q);
    q->dropped = true;
    q->done(q->ctx, &q->end);
    if (!q->ops)
        question_free(q);
}

static void deny(struct cs_question *q, struct cs_str reason)
{
    q->end.approved = false;
    q->end.reason = cs_arena_dup(&q->arena, reason);
    q->end.by = q->row.by;
    finish(q);
}

static void deny_failed(struct cs_question *q, const struct cs_err *err)
{
    deny(q, cs_str(cs_arena_printf(&q->arena, "nobody could be asked: %s", err->msg)));
}

/* --- what is put on record --- */

/* What is written is put in canonical form here. */
static void close_entry(struct cs_json_writer *w, struct cs_buf *data)
{
    struct cs_err err;
    cs_json_close(w, '}');
    cs_canon(cs_buf_str(w->out), data, &err);
}

static void put_hash(struct cs_json_writer *w, const char *key, const unsigned char hash[32])
{
    char hex[65];
    cs_hex(hash, 32, hex);
    cs_json_key(w, key);
    cs_json_put_z(w, hex);
}

static void put_text(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

static struct cs_entry entry_of(const struct cs_approval_row *r, const char *event,
                                const struct cs_buf *data)
{
    return (struct cs_entry){.event = cs_str(event),
                             .tenant = r->tenant,
                             .principal = r->principal,
                             .session = r->session,
                             .execution = r->execution,
                             .data = cs_buf_str(data)};
}

static void asked_data(const struct cs_question *q, const struct cs_approval_rules *rules,
                       struct cs_buf *data)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    const struct cs_approval_row *r = &q->row;
    cs_json_open(&w, '{');
    put_text(&w, "approval", r->id);
    put_hash(&w, "binding", r->binding);
    put_hash(&w, "card_hash", r->card_hash);
    cs_json_key(&w, "channels");
    cs_json_open(&w, '[');
    cs_json_put_z(&w, "store");
    if (q->run->watch.approval)
        cs_json_put_z(&w, "caller");
    if (rules->webhook.len)
        cs_json_put_z(&w, "webhook");
    cs_json_close(&w, ']');
    cs_json_key(&w, "expires");
    cs_json_put_i64(&w, r->expires);
    put_text(&w, "kind", r->kind);
    put_text(&w, "risk", r->risk);
    put_text(&w, "rule", q->rule);
    if (q->like.tool.len) {
        put_text(&w, "server", q->like.server);
        put_text(&w, "tool", q->like.tool);
    }
    close_entry(&w, data);
}

static void over_data(const struct cs_approval_row *r, int64_t now, struct cs_buf *data)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    put_text(&w, "approval", r->id);
    put_hash(&w, "card_hash", r->card_hash);
    cs_json_key(&w, "waited_ms");
    cs_json_put_i64(&w, now > r->created ? now - r->created : 0);
    close_entry(&w, data);
}

/* --- an answer is there --- */

static void add(struct cs_question *q);

static void on_used(void *ctx, const struct cs_err *err)
{
    struct cs_question *q = ctx;
    if (!back(q))
        return;
    if (err->code == CS_CONFLICT) { /* another one was first: this one is asked for itself */
        tell_over(q);
        add(q);
        return;
    }
    if (err->code) {
        deny_failed(q, err);
        return;
    }
    q->end.approved = true;
    q->end.by = q->row.by;
    finish(q);
}

static struct cs_str lasted(struct cs_question *q)
{
    int64_t s = (q->row.expires - q->row.created + 500) / 1000;
    bool hours = s >= 7200 && s % 3600 == 0;
    return cs_str(cs_arena_printf(&q->arena, "nobody answered within %" PRId64 " %s",
                                  hours ? s / 3600 : s, hours ? "h" : "s"));
}

/* Takes over how it was decided; the card stays. */
static void settle(struct cs_question *q, const struct cs_approval_row *row)
{
    struct cs_approval_row *r = &q->row;
    r->state = cs_arena_dup(&q->arena, row->state);
    r->answer = cs_arena_dup(&q->arena, row->answer);
    r->by = cs_arena_dup(&q->arena, row->by);
    r->channel = cs_arena_dup(&q->arena, row->channel);
    r->reason = cs_arena_dup(&q->arena, row->reason);
    r->decided = row->decided;
    if (cs_str_is(r->state, "approved")) {
        q->state = USING;
        q->ops++;
        cs_store_approval_use(q->all->store, r->tenant, r->id, on_used, q);
    } else if (cs_str_is(r->state, "expired")) {
        deny(q, lasted(q));
    } else if (cs_str_is(r->state, "withdrawn")) {
        deny(q, CS_STR("the question was withdrawn"));
    } else {
        deny(q, r->reason.len ? r->reason : CS_STR("a person said no"));
    }
}

/* --- waiting --- */

static void look(struct cs_approvals *all);

static void on_expired(void *ctx, const struct cs_err *err, const struct cs_approval_row *rows,
                       size_t count)
{
    struct cs_question *q = ctx;
    if (!back(q))
        return;
    if (count)
        settle(q, rows);
    else if (err->code == CS_MISSING)
        deny(q, lasted(q));
    else
        deny_failed(q, err);
}

static void expire(struct cs_question *q)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_approval_row r = q->row;
    r.decided = cs_time_ms();
    r.state = CS_STR("expired");
    r.reason = lasted(q);
    over_data(&r, r.decided, &data);
    struct cs_entry entry = entry_of(&r, "approval.expired", &data);
    q->state = EXPIRING;
    q->ops++;
    cs_store_approval_decide(q->all->store, &r, NULL, &entry, 1, on_expired, q);
}

static void on_tick(uv_timer_t *timer)
{
    struct cs_approvals *all = timer->data;
    int64_t now = cs_tick_ms(), today = cs_time_ms();
    bool again = true;
    /* Each that ends may change the list. Nobody can answer any more when it is too late by the
     * time of day, and that may jump. */
    while (again) {
        again = false;
        for (struct cs_question *q = all->first; q && !again; q = q->next) {
            if (q->state == ENDED) {
                finish(q);
                again = true;
            } else if (q->state == WAITING && (now >= q->due || today >= q->row.expires)) {
                expire(q);
            }
        }
    }
    look(all);
}

/* The timer runs while somebody waits, or is to be told. */
static void wind(struct cs_approvals *all)
{
    bool waits = false, due = false;
    for (struct cs_question *q = all->first; q; q = q->next) {
        waits |= q->state == WAITING;
        due |= q->state == ENDED;
    }
    if (!all->runner)
        return;
    if (due || waits)
        uv_timer_start(&all->timer, on_tick, due ? 0 : LOOK_MS, 0);
    else
        uv_timer_stop(&all->timer);
}

/* Somebody's answer, through this process or found by looking. */
static void on_over(void *ctx, const struct cs_approval_row *row)
{
    struct cs_approvals *all = ctx;
    bool again = true;
    while (again) {
        again = false;
        for (struct cs_question *q = all->first; q && !again; q = q->next) {
            if (q->state != WAITING || !cs_str_eq(q->row.id, row->id))
                continue;
            settle(q, row); /* several may wait for the same one */
            again = true;
        }
    }
}

static void on_looked(void *ctx, const struct cs_err *err, const struct cs_approval_row *rows,
                      size_t count)
{
    struct cs_approvals *all = ctx;
    (void)err; /* the next look, or the time that is over, will show */
    all->looking = false;
    for (size_t i = 0; i < count && all->runner; i++)
        on_over(all, &rows[i]);
    unref(all);
}

static void look(struct cs_approvals *all)
{
    size_t count = 0, i = 0;
    for (struct cs_question *q = all->first; q; q = q->next)
        count += q->state == WAITING;
    if (count && !all->looking) {
        CS_AUTO_FREE struct cs_str *ids = cs_calloc(count, sizeof *ids);
        for (struct cs_question *q = all->first; q; q = q->next)
            if (q->state == WAITING)
                ids[i++] = q->row.id;
        all->looking = true;
        all->refs++;
        cs_store_approvals_decided(all->store, ids, count, on_looked, all);
    }
    wind(all);
}

/* --- asking --- */

static void withdraw(struct cs_question *q)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_approval_row r = q->row;
    r.decided = cs_time_ms();
    r.state = CS_STR("withdrawn");
    r.reason = CS_STR("what asked for it is over");
    over_data(&r, r.decided, &data);
    struct cs_entry entry = entry_of(&r, "approval.withdrawn", &data);
    cs_store_approval_decide(q->all->store, &r, NULL, &entry, 1, NULL, NULL);
}

/* The row is one that this execution had asked before: it may be another. */
static void take_row(struct cs_question *q, const struct cs_approval_row *row)
{
    struct cs_approval_row *r = &q->row;
    r->id = cs_arena_dup(&q->arena, row->id);
    r->state = cs_arena_dup(&q->arena, row->state);
    r->card = cs_arena_dup(&q->arena, row->card);
    memcpy(r->card_hash, row->card_hash, sizeof r->card_hash);
    r->created = row->created;
    r->expires = row->expires;
}

static void on_added(void *ctx, const struct cs_err *err, const struct cs_approval_row *rows,
                     size_t count)
{
    struct cs_question *q = ctx;
    bool pending = count && cs_str_is(rows->state, "pending");
    if (q->dropped && !q->keep && pending) {
        take_row(q, rows);
        withdraw(q);
    }
    if (!back(q))
        return;
    if (!count) {
        deny_failed(q, err);
        return;
    }
    if (!cs_str_eq(rows->id, q->row.id))
        take_row(q, rows);
    if (!pending) {
        settle(q, rows);
        return;
    }
    int64_t left = rows->expires - cs_time_ms();
    q->row.state = CS_STR("pending");
    q->due = cs_tick_ms() + (left > 0 ? left : 0);
    q->state = WAITING;
    tell_asked(q);
    wind(q->all);
}

static void add(struct cs_question *q)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_approval_rules rules = cs_policy_approvals(q->run->policy);
    uint32_t timeout = q->run->request.durable ? rules.durable_timeout_s : rules.timeout_s;
    struct cs_approval_row *r = &q->row;
    char id[CS_ID_TEXT];
    cs_make_id("ap_", id);
    r->id = cs_arena_dup(&q->arena, cs_str(id));
    r->created = cs_time_ms();
    r->expires = r->created + (int64_t)timeout * 1000;
    asked_data(q, &rules, &data);
    struct cs_entry entry = entry_of(r, "approval.asked", &data);
    q->state = ADDING;
    q->ops++;
    cs_store_approval_add(q->all->store, r, rules.most_waiting, &entry, on_added, q);
}

/* --- grants --- */

static bool fits(const struct cs_question *q, const struct cs_grant_row *g)
{
    if (!g->tool.len)
        return memcmp(g->binding, q->like.binding, sizeof g->binding) == 0;
    return memcmp(g->definition, q->like.definition, sizeof g->definition) == 0 &&
           cs_bound_fits(g, q->row.bound, q->row.card);
}

static void note_grant(struct cs_question *q, const struct cs_grant_row *g)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    put_hash(&w, "binding", q->row.binding);
    put_text(&w, "grant", g->id);
    put_text(&w, "kind", q->row.kind);
    put_text(&w, "risk", q->row.risk);
    put_text(&w, "scope", g->scope);
    close_entry(&w, &data);
    cs_trail_note(q->run, "grant.used", cs_buf_str(&data));
}

static void on_grants(void *ctx, const struct cs_err *err, const struct cs_grant_row *rows,
                      size_t count)
{
    struct cs_question *q = ctx;
    if (!back(q))
        return;
    if (err->code) {
        deny_failed(q, err);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!fits(q, &rows[i]))
            continue;
        note_grant(q, &rows[i]);
        q->end.approved = true;
        q->end.by = cs_arena_dup(&q->arena, rows[i].by);
        finish(q);
        return;
    }
    add(q);
}

/* --- the outside --- */

static void fill(struct cs_question *q, const struct cs_question_want *want)
{
    CS_AUTO_BUF struct cs_buf bound = {0};
    struct cs_run *run = want->run;
    struct cs_arena *a = &q->arena;
    struct cs_approval_row *r = &q->row;
    *r = (struct cs_approval_row){
        .tenant = cs_arena_dup(a, run->tenant),
        .execution = cs_arena_dup(a, cs_str(run->result.execution_id)),
        .session = cs_arena_dup(a, run->request.session),
        .principal = cs_arena_dup(a, run->principal),
        .actor = cs_arena_dup(a, run->result.provenance.actor_type),
        .kind = want->call ? CS_STR("call") : CS_STR("program"),
        .risk = cs_str(cs_risk_name(want->risk)),
        .card = cs_arena_dup(a, want->card),
        .state = CS_STR("pending"),
    };
    memcpy(r->binding, want->binding, sizeof r->binding);
    memcpy(r->scope, want->scope, sizeof r->scope);
    cs_canon_hash(want->card, r->card_hash);
    cs_bound_question(want, &bound);
    r->bound = cs_arena_dup(a, cs_buf_str(&bound));
    q->rule = cs_arena_dup(a, want->rule);
    q->like = (struct cs_grant_row){
        .tenant = r->tenant, .principal = r->principal, .actor = r->actor, .session = r->session};
    memcpy(q->like.binding, want->scope, sizeof q->like.binding);
    if (want->call && want->call->tool) {
        q->like.server = cs_arena_dup(a, want->call->tool->server);
        q->like.tool = cs_arena_dup(a, want->call->tool->name);
        cs_tool_definition_hash(want->call->tool, q->like.definition);
    }
}

struct cs_question *cs_question_ask(const struct cs_question_want *want,
                                    void (*done)(void *ctx, const struct cs_question_end *end),
                                    void *ctx)
{
    struct cs_approvals *all = want->run->runner->approvals;
    struct cs_question *q = CS_NEW(struct cs_question);
    q->all = all;
    q->run = want->run;
    q->done = done;
    q->ctx = ctx;
    all->refs++;
    fill(q, want);
    struct cs_question **end = &all->first;
    while (*end)
        end = &(*end)->next;
    *end = q;
    if (!cs_run_store(want->run)) {
        q->state = ENDED;
        q->end.reason = CS_STR("nobody can be asked: nothing is kept here");
        wind(all);
    } else if (want->once ||
               want->risk == CS_RISK_CRITICAL) { /* nobody has allowed that for longer */
        add(q);
    } else {
        q->ops++;
        cs_store_grants_for(all->store, &q->like, on_grants, q);
    }
    return q;
}

void cs_question_drop(struct cs_question *q, bool keep)
{
    if (!q || q->dropped)
        return;
    q->dropped = true;
    q->keep = keep;
    unlink_question(q);
    if (q->state == WAITING && !keep) {
        withdraw(q);
        q->row.state = CS_STR("withdrawn");
    }
    tell_over(q);
    if (!q->ops)
        question_free(q);
}

void cs_approvals_watch(struct cs_runner *runner, const struct cs_approval_watcher *watcher)
{
    runner->approvals->watcher = watcher ? *watcher : (struct cs_approval_watcher){0};
}

static void on_closed(uv_handle_t *handle)
{
    unref(handle->data);
}

void cs_approvals_open(struct cs_runner *runner)
{
    struct cs_approvals *all = CS_NEW(struct cs_approvals);
    all->runner = runner;
    all->store = runner->store;
    all->refs = 2; /* the runner and the timer */
    uv_timer_init(runner->loop, &all->timer);
    all->timer.data = all;
    if (all->store)
        cs_store_watch_approvals(all->store, on_over, all);
    runner->approvals = all;
}

void cs_approvals_close(struct cs_runner *runner)
{
    struct cs_approvals *all = CS_TAKE(runner->approvals);
    if (!all)
        return;
    if (all->store)
        cs_store_watch_approvals(all->store, NULL, NULL);
    all->runner = NULL;
    uv_close((uv_handle_t *)&all->timer, on_closed);
    unref(all);
}

/*
 * One at a time in a session.
 *
 *     ask     is there such a session of this tenant?
 *     queue   those of this process are served in their order
 *     lock    flock, for those of other processes; taken away by the kernel when a process dies.
 *             Nobody tells when it is free, so it is tried again now and then
 *     read    its state, which nobody else can change now
 *     held    until the release
 *     check   may the new state and files be kept?
 *     store   the state
 *     adopt   the files
 *
 * Each step ends in a callback on the loop, which takes the next one. A hold that is released while
 * it waits ends at the next of these.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/time.h"
#include "run/inside.h"
#include "run/session_in.h"
#include "run/shield.h"

#define TRY_AGAIN_MS 20
#define STATE_DEPTH  1000

struct cs_hold {
    struct cs_sessions *s;
    struct cs_hold *next;
    char id[CS_SESSION_ID + 1], tenant[65];
    bool queued;  /* it was found, and has its place */
    bool working; /* a callback is under way */
    bool held, dropped, over;
    int lock;
    uint64_t deadline, version;
    uv_timer_t timer;
    uv_work_t work;
    struct cs_err err;
    struct cs_buf state;
    char *workspace, *workspace_out;
    struct cs_quota quota;
    int has_files;
    bool gone;                  /* the session ended meanwhile */
    bool returned;              /* it is counted, and its state stored, already */
    bool resting;               /* somebody else comes first, who is not there yet */
    char execution[CS_ID_TEXT]; /* empty: none that outlives its process */
    void (*done)(void *ctx, const struct cs_err *err, const struct cs_held *held);
    void *ctx;
    cs_stored *released;
    void *released_ctx;
};

static void enter(struct cs_hold *h);

/* --- the end --- */

static void on_closed(uv_handle_t *t)
{
    struct cs_hold *h = t->data;
    struct cs_sessions *s = h->s;
    cs_buf_done(&h->state);
    free(h->workspace);
    free(h->workspace_out);
    free(h);
    cs_sessions_less(s);
}

static struct cs_hold *first_of(struct cs_sessions *s, const char *id)
{
    struct cs_hold *h = s->holds;
    while (h && !(h->queued && strcmp(h->id, id) == 0))
        h = h->next;
    return h;
}

/* Takes it out, and lets the next one in. */
static void leave(struct cs_hold *h)
{
    struct cs_sessions *s = h->s;
    struct cs_hold **at = &s->holds;
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    h->over = true;
    cs_closep(&h->lock);
    uv_close((uv_handle_t *)&h->timer, on_closed);
    struct cs_hold *next = h->queued ? first_of(s, h->id) : NULL;
    if (next && !next->held && !next->working)
        enter(next);
}

/* Before it was held: `done`, unless nobody waits for that any more. */
static void fail(struct cs_hold *h)
{
    struct cs_err err = h->err;
    if (!h->dropped)
        h->done(h->ctx, &err, NULL);
    else if (h->released)
        h->released(h->released_ctx, &(struct cs_err){0});
    leave(h);
}

/* After it was held. */
static void finish(struct cs_hold *h)
{
    struct cs_err err = h->err;
    if (h->released)
        h->released(h->released_ctx, &err);
    leave(h);
}

/* --- into it --- */

static void remove_work(uv_work_t *w)
{
    struct cs_hold *h = w->data;
    cs_disk_remove(h->s->root, h->id, true);
}

static void on_removed(uv_work_t *w, int status)
{
    (void)status;
    fail(w->data);
}

static void on_again(uv_timer_t *t)
{
    struct cs_hold *h = t->data;
    h->resting = false;
    enter(h);
}

static void try_later(struct cs_hold *h)
{
    uint64_t now = uv_now(h->s->loop);
    uint64_t left = h->deadline > now ? h->deadline - now : 0;
    uv_timer_start(&h->timer, on_again, left < TRY_AGAIN_MS ? left : TRY_AGAIN_MS, 0);
}

/* A durable execution that is in it comes first, even if its process is gone. Of one that is, that
 * is on record before anything follows from it. */
static bool may_enter(struct cs_hold *h, const struct cs_session_row *row)
{
    if (row->holder.len)
        return cs_str_is(row->holder, h->execution);
    if (h->execution[0])
        cs_store_session_hold(h->s->store, cs_str(h->tenant), cs_str(h->id), cs_str(h->execution),
                              NULL, NULL);
    return true;
}

/* To the end of the line: the one that comes first may stand in it. */
static void rest(struct cs_hold *h, struct cs_str holder)
{
    struct cs_sessions *s = h->s;
    struct cs_hold **at = &s->holds;
    h->working = false;
    cs_closep(&h->lock);
    if (s->closing || uv_now(s->loop) >= h->deadline) {
        cs_fail(&h->err, CS_CONFLICT, "the durable execution %.*s is in session %s",
                CS_STR_ARG(holder), h->id);
        fail(h);
        return;
    }
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    h->next = NULL;
    while (*at)
        at = &(*at)->next;
    *at = h;
    h->resting = true;
    try_later(h);
    struct cs_hold *next = first_of(s, h->id);
    if (next != h && !next->held && !next->working && !next->resting)
        enter(next);
}

static void on_read(void *ctx, const struct cs_err *err, const struct cs_session_row *rows,
                    size_t count)
{
    struct cs_hold *h = ctx;
    if (err->code == CS_OK && count && !h->dropped && !may_enter(h, rows)) {
        rest(h, rows->holder);
        return;
    }
    if (err->code == CS_OK && count && !h->dropped) {
        h->working = false;
        h->held = true;
        h->version = rows->version;
        cs_buf_putstr(&h->state, rows->state.len ? rows->state : CS_STR("{}"));
        struct cs_held held = {.state = cs_buf_str(&h->state),
                               .state_bytes = h->s->limits.state_bytes,
                               .released = rows->released,
                               .workspace = h->workspace,
                               .workspace_out = h->workspace_out};
        h->done(h->ctx, &(struct cs_err){0}, &held);
        return;
    }
    h->err = *err;
    if (err->code == CS_MISSING) /* it ended just now: nothing of it may stay */
        uv_queue_work(h->s->loop, &h->work, remove_work, on_removed);
    else
        fail(h);
}

static void lock_work(uv_work_t *w)
{
    struct cs_hold *h = w->data;
    h->err = (struct cs_err){0};
    cs_disk_lock(h->s->root, h->id, h->tenant, &h->lock, &h->err);
}

static void on_locked(uv_work_t *w, int status)
{
    struct cs_hold *h = w->data;
    (void)status;
    h->working = false;
    if (h->lock >= 0 && !h->dropped) {
        h->working = true;
        cs_store_session_get(h->s->store, cs_str(h->tenant), cs_str(h->id), on_read, h);
        return;
    }
    bool again = h->err.code == CS_CONFLICT && !h->dropped && !h->s->closing &&
                 uv_now(h->s->loop) < h->deadline;
    if (again)
        try_later(h);
    else
        fail(h);
}

static void on_too_late(uv_timer_t *t)
{
    fail(t->data);
}

/* Its turn has come, or it waits for it. */
static void enter(struct cs_hold *h)
{
    struct cs_sessions *s = h->s;
    uint64_t now = uv_now(s->loop);
    uv_timer_stop(&h->timer);
    if (s->closing) {
        cs_fail(&h->err, CS_SYSTEM, "the program is about to end");
        fail(h);
    } else if (first_of(s, h->id) == h) {
        h->working = true;
        h->work.data = h;
        uv_queue_work(s->loop, &h->work, lock_work, on_locked);
    } else {
        cs_fail(&h->err, CS_CONFLICT, "another execution is in session %s", h->id);
        uv_timer_start(&h->timer, on_too_late, h->deadline > now ? h->deadline - now : 0, 0);
    }
}

static void on_asked(void *ctx, const struct cs_err *err, const struct cs_session_row *rows,
                     size_t count)
{
    struct cs_hold *h = ctx;
    (void)rows;
    (void)count;
    h->working = false;
    h->err = *err;
    h->queued = err->code == CS_OK && !h->dropped;
    if (h->queued)
        enter(h);
    else
        fail(h);
}

static void on_nonsense(void *ctx)
{
    struct cs_hold *h = ctx;
    h->working = false;
    fail(h);
}

struct cs_hold *cs_session_hold(struct cs_sessions *s, struct cs_str tenant, struct cs_str id,
                                struct cs_str execution, uint32_t wait_ms,
                                void (*done)(void *ctx, const struct cs_err *err,
                                             const struct cs_held *held),
                                void *ctx)
{
    struct cs_hold *h = CS_NEW(struct cs_hold), **end = &s->holds;
    h->s = s;
    h->lock = -1;
    h->done = done;
    h->ctx = ctx;
    h->deadline = uv_now(s->loop) + wait_ms;
    h->working = true;
    uv_timer_init(s->loop, &h->timer);
    h->timer.data = h;
    s->pending++;
    while (*end)
        end = &(*end)->next;
    *end = h;
    if (!cs_session_id_ok(id) || tenant.len >= sizeof h->tenant || s->closing) {
        cs_fail(&h->err, CS_MISSING, "there is no such session");
        cs_soon(s, on_nonsense, h);
        return h;
    }
    memcpy(h->id, id.at, id.len);
    memcpy(h->tenant, tenant.at, tenant.len);
    snprintf(h->execution, sizeof h->execution, "%.*s", CS_STR_ARG(execution));
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_buf_printf(&path, "%s/%s/files", s->path, h->id);
    h->workspace = cs_strdup(cs_buf_cstr(&path));
    cs_buf_clear(&path);
    cs_buf_printf(&path, "%s/%s/next", s->path, h->id);
    h->workspace_out = cs_strdup(cs_buf_cstr(&path));
    cs_store_session_get(s->store, tenant, id, on_asked, h);
    return h;
}

/* --- out of it --- */

static void adopt_work(uv_work_t *w)
{
    struct cs_hold *h = w->data;
    if (h->gone)
        cs_disk_remove(h->s->root, h->id, true);
    else if (h->err.code != CS_OK)
        cs_disk_drop(h->s->root, h->id);
    else
        cs_disk_adopt(h->s->root, h->id, &h->err);
}

static void on_adopted(uv_work_t *w, int status)
{
    (void)status;
    finish(w->data);
}

static void on_stored(void *ctx, const struct cs_err *err)
{
    struct cs_hold *h = ctx;
    if (h->err.code == CS_OK)
        h->err = *err;
    h->gone = err->code == CS_MISSING;
    if (h->gone) /* it may have sealed something after that */
        cs_safe_wipe(h->s, cs_str(h->tenant), cs_str(h->id));
    if (h->gone)
        cs_fail(&h->err, CS_MISSING,
                "it was ended while the execution was in it; its state and files are gone");
    if (h->has_files || h->gone)
        uv_queue_work(h->s->loop, &h->work, adopt_work, on_adopted);
    else
        finish(h);
}

static void check_state(struct cs_hold *h, struct cs_err *err)
{
    struct cs_str text = cs_buf_str(&h->state);
    struct cs_json_limits bounds = {
        .bytes = text.len, .depth = STATE_DEPTH, .allow_duplicate = true};
    CS_AUTO_JSON struct cs_json doc = {0};
    if (!text.len)
        return;
    if (text.len > h->quota.state)
        cs_fail(err, CS_LIMIT,
                "`state` is %zu bytes as JSON, at most %" PRIu64 " (setting session.state)",
                text.len, h->quota.state);
    else if (cs_json_parse(text, &bounds, &doc, err) < 0)
        cs_wrap(err, "`state`");
    else if (cs_json_type(cs_json_root(&doc)) != CS_JSON_OBJECT)
        cs_fail(err, CS_INVALID, "`state` must stay an object");
}

static void check_work(uv_work_t *w)
{
    struct cs_hold *h = w->data;
    h->err = (struct cs_err){0};
    h->has_files = cs_disk_next(h->s->root, h->id, &h->quota, &h->err);
    if (h->has_files >= 0)
        check_state(h, &h->err);
}

static void on_checked(uv_work_t *w, int status)
{
    (void)status;
    struct cs_hold *h = w->data;
    if (h->returned) {
        struct cs_err err = h->err;
        on_stored(h, &err);
        return;
    }
    /* It ran, whatever becomes of what it left: that is counted, and the session lives on. */
    struct cs_str state = h->err.code == CS_OK ? cs_buf_str(&h->state) : (struct cs_str){0};
    cs_store_session_put(h->s->store, cs_str(h->tenant), cs_str(h->id), h->version, state,
                         cs_time_ms(), on_stored, h);
}

/* Released before it was held: what is under way comes to its end first. */
static void drop(struct cs_hold *h)
{
    h->dropped = true;
    if (h->working)
        return;
    uv_timer_stop(&h->timer);
    h->working = true;
    cs_soon(h->s, on_nonsense, h);
}

void cs_session_release(struct cs_hold *h, struct cs_str state, cs_stored *done, void *ctx)
{
    h->released = done;
    h->released_ctx = ctx;
    if (!h->held) {
        drop(h);
        return;
    }
    h->working = true;
    h->quota = cs_sessions_quota(h->s);
    cs_buf_clear(&h->state);
    cs_buf_putstr(&h->state, state);
    h->work.data = h;
    uv_queue_work(h->s->loop, &h->work, check_work, on_checked);
}

void cs_session_return(struct cs_hold *h, struct cs_str state, cs_stored *done, void *ctx)
{
    h->returned = true;
    cs_session_release(h, state, done, ctx);
}

static void on_left(void *ctx)
{
    finish(ctx);
}

void cs_hold_leave(struct cs_hold *h)
{
    if (!h->held) {
        drop(h);
        return;
    }
    h->working = true;
    h->err = (struct cs_err){0};
    cs_soon(h->s, on_left, h);
}

void cs_holds_close(struct cs_sessions *s)
{
    for (struct cs_hold *h = s->holds, *next; h; h = next) {
        next = h->next;
        if (h->held || h->working)
            continue;
        cs_fail(&h->err, CS_SYSTEM, "the program is about to end");
        uv_timer_stop(&h->timer);
        h->working = true;
        cs_soon(s, on_nonsense, h);
    }
}

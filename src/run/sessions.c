#include "run/sessions.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/utf8.h"
#include "run/session_in.h"
#include "run/shield.h"
#include "sandbox/wire.h"

#define MINUTE_MS    60000
#define LOOK_MINUTES 60 /* how often directories are looked through for those without a session */
#define NAME_BYTES   200
#define IDLE_TIMES   30

struct cs_quota cs_sessions_quota(const struct cs_sessions *s)
{
    return (struct cs_quota){s->limits.state_bytes, s->limits.file_bytes, s->limits.files};
}

void cs_sessions_less(struct cs_sessions *s)
{
    if (--s->pending > 0 || !s->closing)
        return;
    void (*closed)(void *ctx) = s->closed;
    void *ctx = s->closed_ctx;
    cs_safes_done(s);
    cs_closep(&s->root);
    free(s->path);
    free(s);
    if (closed)
        closed(ctx);
}

/* --- later --- */

struct soon {
    uv_timer_t timer;
    struct cs_sessions *s;
    void (*then)(void *ctx);
    void *ctx;
};

static void on_soon_closed(uv_handle_t *h)
{
    struct soon *soon = h->data;
    struct cs_sessions *s = soon->s;
    free(soon);
    cs_sessions_less(s);
}

static void on_soon(uv_timer_t *t)
{
    struct soon *soon = t->data;
    uv_close((uv_handle_t *)t, on_soon_closed);
    soon->then(soon->ctx);
}

void cs_soon(struct cs_sessions *s, void (*then)(void *ctx), void *ctx)
{
    struct soon *soon = CS_NEW(struct soon);
    soon->s = s;
    soon->then = then;
    soon->ctx = ctx;
    s->pending++;
    uv_timer_init(s->loop, &soon->timer);
    soon->timer.data = soon;
    uv_timer_start(&soon->timer, on_soon, 0, 0);
}

/* --- what is over goes away --- */

/* Directories that may go: of sessions that expired, or all that are there. */
struct sweep {
    struct cs_sessions *s;
    uv_work_t work;
    struct entry {
        char id[CS_SESSION_ID + 1], tenant[65];
        bool keep;
    } * entries;
    size_t count, at;
};

static void sweep_free(struct sweep *w)
{
    struct cs_sessions *s = w->s;
    free(w->entries);
    free(w);
    cs_sessions_less(s);
}

static struct sweep *sweep_new(struct cs_sessions *s)
{
    struct sweep *w = CS_NEW(struct sweep);
    w->s = s;
    w->work.data = w;
    s->pending++;
    return w;
}

static void add_entry(struct sweep *w, struct cs_str id)
{
    if (!cs_session_id_ok(id))
        return;
    if ((w->count & (w->count - 1)) == 0)
        w->entries = cs_realloc(w->entries, w->count ? w->count * 2 : 1, sizeof *w->entries);
    struct entry *e = &w->entries[w->count++];
    *e = (struct entry){0};
    memcpy(e->id, id.at, id.len);
}

static void remove_work(uv_work_t *work)
{
    struct sweep *w = work->data;
    for (size_t i = 0; i < w->count; i++)
        if (!w->entries[i].keep)
            cs_disk_remove(w->s->root, w->entries[i].id, false);
}

static void on_removed(uv_work_t *work, int status)
{
    (void)status;
    sweep_free(work->data);
}

static void sweep_remove(struct sweep *w)
{
    uv_queue_work(w->s->loop, &w->work, remove_work, on_removed);
}

static void ask_next(struct sweep *w);

static void on_known(void *ctx, const struct cs_err *err, const struct cs_session_row *rows,
                     size_t count)
{
    struct sweep *w = ctx;
    (void)rows;
    (void)count;
    w->entries[w->at++].keep = err->code != CS_MISSING;
    ask_next(w);
}

/* One after the other: nobody waits for this. */
static void ask_next(struct sweep *w)
{
    while (w->at < w->count && w->entries[w->at].keep)
        w->at++;
    if (w->at >= w->count || w->s->closing) {
        for (; w->at < w->count; w->at++)
            w->entries[w->at].keep = true;
        sweep_remove(w);
        return;
    }
    struct entry *e = &w->entries[w->at];
    cs_store_session_get(w->s->store, cs_str(e->tenant), cs_str(e->id), on_known, w);
}

static void look_work(uv_work_t *work)
{
    struct sweep *w = work->data;
    int fd = openat(w->s->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t before = w->count;
        add_entry(w, cs_str(e->d_name));
        if (w->count > before)
            w->entries[before].keep =
                !cs_disk_tenant(w->s->root, e->d_name, w->entries[before].tenant);
    }
    if (d)
        closedir(d);
}

static void on_looked(uv_work_t *work, int status)
{
    (void)status;
    ask_next(work->data);
}

/* For the ledger. `done` may be NULL. */
static void note(struct cs_sessions *s, const char *event, struct cs_str tenant,
                 struct cs_str principal, struct cs_str id, cs_stored *done, void *ctx)
{
    struct cs_entry e = {
        .event = cs_str(event), .tenant = tenant, .principal = principal, .session = id};
    cs_store_append(s->store, &e, 1, done, ctx);
}

static void on_expired(void *ctx, const struct cs_err *err, const struct cs_session_row *rows,
                       size_t count)
{
    struct sweep *w = ctx;
    for (size_t i = 0; err->code == CS_OK && i < count; i++) {
        add_entry(w, rows[i].id);
        cs_safe_wipe(w->s, rows[i].tenant, rows[i].id);
        note(w->s, "session.expired", rows[i].tenant, (struct cs_str){0}, rows[i].id, NULL, NULL);
    }
    if (w->count)
        sweep_remove(w);
    else
        sweep_free(w);
}

static void on_minute(uv_timer_t *t)
{
    struct cs_sessions *s = t->data;
    cs_store_sessions_expire(s->store, cs_time_ms(), on_expired, sweep_new(s));
    if (s->minutes++ % LOOK_MINUTES)
        return;
    struct sweep *w = sweep_new(s);
    uv_queue_work(s->loop, &w->work, look_work, on_looked);
}

/* --- open and close --- */

void cs_sessions_set(struct cs_sessions *s, const struct cs_session_limits *limits)
{
    s->limits = *limits;
    if (s->limits.state_bytes > CS_STATE_MAX)
        s->limits.state_bytes = CS_STATE_MAX;
}

int cs_sessions_new(uv_loop_t *loop, struct cs_store *store, const char *data_dir,
                    const struct cs_session_limits *limits, struct cs_sessions **sessions,
                    struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_buf_printf(&path, "%s/sessions", data_dir);
    if (cs_dir_make(cs_buf_cstr(&path), 0700, err) < 0)
        return -1;
    CS_AUTO_FD int root = open(cs_buf_cstr(&path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return cs_fail_errno(err, "%s", cs_buf_cstr(&path));
    struct cs_sessions *s = CS_NEW(struct cs_sessions);
    s->loop = loop;
    s->store = store;
    cs_sessions_set(s, limits);
    s->root = CS_TAKE_FD(root);
    s->path = cs_strdup(cs_buf_cstr(&path));
    s->pending = 1; /* the timer */
    uv_timer_init(loop, &s->minute);
    s->minute.data = s;
    uv_timer_start(&s->minute, on_minute, 0, MINUTE_MS);
    uv_unref((uv_handle_t *)&s->minute);
    *sessions = s;
    return 0;
}

static void on_minute_closed(uv_handle_t *h)
{
    cs_sessions_less(h->data);
}

void cs_sessions_close(struct cs_sessions *s, void (*closed)(void *ctx), void *ctx)
{
    s->closing = true;
    s->closed = closed;
    s->closed_ctx = ctx;
    cs_holds_close(s);
    uv_close((uv_handle_t *)&s->minute, on_minute_closed);
}

/* --- one session --- */

struct ask {
    struct cs_sessions *s;
    struct cs_session_row row; /* its texts are these: */
    char id[CS_SESSION_ID + 1], tenant[65], principal[65], name[NAME_BYTES + 1];
    struct cs_err err;
    cs_session_found *found;
    cs_stored *stored;
    void *ctx;
    uv_work_t work;
};

static struct ask *ask_new(struct cs_sessions *s, const struct cs_caller *caller, void *ctx)
{
    struct ask *a = CS_NEW(struct ask);
    a->s = s;
    a->ctx = ctx;
    a->work.data = a;
    snprintf(a->tenant, sizeof a->tenant, "%s", caller->tenant);
    snprintf(a->principal, sizeof a->principal, "%s", caller->principal);
    s->pending++;
    return a;
}

static void ask_end(struct ask *a, const struct cs_session_row *rows, size_t count)
{
    struct cs_sessions *s = a->s;
    if (a->found)
        a->found(a->ctx, &a->err, rows, count);
    if (a->stored)
        a->stored(a->ctx, &a->err);
    free(a);
    cs_sessions_less(s);
}

static void on_refused(void *ctx)
{
    ask_end(ctx, NULL, 0);
}

static bool name_ok(struct cs_str name)
{
    for (size_t i = 0; i < name.len;) {
        int n = cs_utf8_len(name.at + i, name.len - i);
        if (n < 0 || (unsigned char)name.at[i] < ' ' || name.at[i] == 127)
            return false;
        i += (size_t)n;
    }
    return name.len <= NAME_BYTES;
}

static int fill_row(struct ask *a, struct cs_str name, int64_t idle_ms)
{
    int64_t most = a->s->limits.idle_ms * IDLE_TIMES;
    unsigned char bytes[16];
    if (!name_ok(name))
        return cs_fail(&a->err, CS_INVALID,
                       "the name of a session is text of at most %d bytes, without control "
                       "characters",
                       NAME_BYTES);
    if (idle_ms < 0 || idle_ms > most)
        return cs_fail(&a->err, CS_INVALID, "a session lives at most %lld s without being used",
                       (long long)(most / 1000));
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return cs_fail_errno(&a->err, "getrandom");
    snprintf(a->id, sizeof a->id, "ses_");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(a->id + 4 + 2 * i, 3, "%02x", bytes[i]);
    if (name.len)
        memcpy(a->name, name.at, name.len);
    int64_t now = cs_time_ms(), idle = idle_ms ? idle_ms : a->s->limits.idle_ms;
    a->row = (struct cs_session_row){
        .id = cs_str(a->id),
        .tenant = cs_str(a->tenant),
        .principal = cs_str(a->principal),
        .name = cs_strn(a->name, name.len),
        .state = CS_STR("{}"),
        .version = 1,
        .created = now,
        .used = now,
        .expires = now + idle,
        .idle_ms = idle,
    };
    return 0;
}

static void on_start_noted(void *ctx, const struct cs_err *err)
{
    struct ask *a = ctx;
    a->err = *err;
    ask_end(a, err->code == CS_OK ? &a->row : NULL, err->code == CS_OK);
}

static void on_added(void *ctx, const struct cs_err *err)
{
    struct ask *a = ctx;
    a->err = *err;
    if (err->code == CS_LIMIT)
        cs_fail(&a->err, CS_LIMIT,
                "there are %llu sessions already, which is the most (setting session.most): end "
                "some first",
                (unsigned long long)a->s->limits.per_tenant);
    if (err->code == CS_OK)
        note(a->s, "session.started", a->row.tenant, a->row.principal, a->row.id, on_start_noted,
             a);
    else
        ask_end(a, NULL, 0);
}

void cs_session_start(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str name,
                      int64_t idle_ms, cs_session_found *done, void *ctx)
{
    struct ask *a = ask_new(s, caller, ctx);
    a->found = done;
    if (fill_row(a, name, idle_ms) < 0)
        cs_soon(s, on_refused, a);
    else
        cs_store_session_add(s->store, &a->row, s->limits.per_tenant, on_added, a);
}

/* False: there cannot be one of that name, and `done` will be told. */
static bool take_id(struct ask *a, struct cs_str id)
{
    if (cs_session_id_ok(id)) {
        memcpy(a->id, id.at, id.len);
        return true;
    }
    cs_fail(&a->err, CS_MISSING, "there is no such session");
    cs_soon(a->s, on_refused, a);
    return false;
}

static void on_found(void *ctx, const struct cs_err *err, const struct cs_session_row *rows,
                     size_t count)
{
    struct ask *a = ctx;
    a->err = *err;
    ask_end(a, rows, count);
}

void cs_session_look(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                     cs_session_found *done, void *ctx)
{
    struct ask *a = ask_new(s, caller, ctx);
    a->found = done;
    if (take_id(a, id))
        cs_store_session_get(s->store, cs_str(a->tenant), cs_str(a->id), on_found, a);
}

/* Somebody who is in it finds at the release that it is gone, and removes the files then. */
static void stop_work(uv_work_t *work)
{
    struct ask *a = work->data;
    cs_disk_remove(a->s->root, a->id, false);
}

static void on_stopped(uv_work_t *work, int status)
{
    (void)status;
    ask_end(work->data, NULL, 0);
}

static void on_stop_noted(void *ctx, const struct cs_err *err)
{
    struct ask *a = ctx;
    a->err = *err;
    uv_queue_work(a->s->loop, &a->work, stop_work, on_stopped);
}

static void on_ended(void *ctx, const struct cs_err *err)
{
    struct ask *a = ctx;
    a->err = *err;
    if (err->code == CS_OK)
        cs_safe_wipe(a->s, cs_str(a->tenant), cs_str(a->id));
    if (err->code == CS_OK)
        note(a->s, "session.stopped", cs_str(a->tenant), cs_str(a->principal), cs_str(a->id),
             on_stop_noted, a);
    else
        ask_end(a, NULL, 0);
}

void cs_session_stop(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                     cs_stored *done, void *ctx)
{
    struct ask *a = ask_new(s, caller, ctx);
    a->stored = done;
    if (take_id(a, id))
        cs_store_session_end(s->store, cs_str(a->tenant), cs_str(a->id), on_ended, a);
}

/*
 * The queue between the loop and the thread that has the database.
 *
 *   pool:        files
 *   loop:   ask .....-> queue ................................. told: `done`s, in order
 *   thread:              take all -> files -> BEGIN, each, COMMIT -> files -> wake the loop
 *
 * What waits is one batch and one commit, so that many changes share its cost. If a batch fails as
 * a whole, each of its operations is tried again alone, and only the guilty ones fail.
 */
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "store/inside.h"

#define BATCH    4096 /* then other processes have a turn */
#define PROBE_NS 1000000000ull

struct list {
    struct cs_op *first, **end;
};

struct cs_store {
    struct cs_db db; /* the thread's */

    uv_mutex_t lock; /* for all until the next empty line */
    uv_cond_t wake;
    struct list queue, ready;
    struct cs_err health_there;
    bool stopping, ended;

    /* The loop's. */
    uv_async_t async;
    uv_thread_t thread;
    struct list refused;
    struct cs_err health;
    size_t ops, bytes; /* asked for, and not told */
    size_t in_pool;
    unsigned gathering; /* the thread is not woken yet */
    bool started, closing, over;
    void (*approval_over)(void *ctx, const struct cs_approval_row *row);
    void *approval_ctx;
    void (*closed)(void *ctx);
    void *closed_ctx;
};

static void list_init(struct list *l)
{
    l->first = NULL;
    l->end = &l->first;
}

static void list_push(struct list *l, struct cs_op *op)
{
    op->next = NULL;
    *l->end = op;
    l->end = &op->next;
}

static struct cs_op *list_take(struct list *l)
{
    struct cs_op *first = l->first;
    list_init(l);
    return first;
}

/* --- an operation --- */

struct cs_op *cs_op_new(struct cs_store *store, const struct cs_op_kind *kind, void *ctx)
{
    struct cs_op *op = CS_NEW(struct cs_op);
    op->store = store;
    op->kind = kind;
    op->ctx = ctx;
    return op;
}

void cs_op_keep(struct cs_op *op, struct cs_str *const *texts)
{
    size_t total = 1;
    for (size_t i = 0; texts[i]; i++)
        total += texts[i]->len;
    char *at = op->kept = cs_calloc(total, 1);
    op->kept_bytes += total;
    for (size_t i = 0; texts[i]; i++) {
        if (texts[i]->len)
            memcpy(at, texts[i]->at, texts[i]->len);
        texts[i]->at = at;
        at += texts[i]->len;
    }
}

void cs_op_check(struct cs_op *op, struct cs_str tenant, struct cs_str id)
{
    if (tenant.len > CS_STORE_ID || id.len > CS_STORE_ID || !id.len)
        cs_fail(&op->err, CS_INVALID, "a name or id has 1 to %d bytes, not %zu", CS_STORE_ID,
                id.len > tenant.len ? id.len : tenant.len);
}

void *cs_op_row(struct cs_op *op, size_t size)
{
    if (op->count == op->cap) {
        op->cap = op->cap ? op->cap * 2 : 1;
        op->rows = cs_realloc(op->rows, op->cap, size);
    }
    void *row = (char *)op->rows + op->count++ * size;
    memset(row, 0, size);
    return row;
}

void cs_op_tell_stored(const struct cs_op *op)
{
    if (op->done.stored)
        op->done.stored(op->ctx, &op->err);
}

#define ALIGN _Alignof(max_align_t)

void cs_op_room(struct cs_op *op, size_t bytes, size_t pieces)
{
    size_t total = bytes + pieces * ALIGN;
    op->given = cs_calloc(total + 1, 1);
    op->kept_bytes += total;
}

void *cs_op_give(struct cs_op *op, const void *bytes, size_t n)
{
    char *copy = op->given + op->given_at;
    op->given_at += (n + ALIGN - 1) & ~(ALIGN - 1);
    if (n)
        memcpy(copy, bytes, n);
    return copy;
}

#define ENTRY_TEXTS   6
#define MEASURE_TEXTS 5

static void texts_of(struct cs_entry *e, struct cs_str *texts[ENTRY_TEXTS])
{
    struct cs_str *const all[ENTRY_TEXTS] = {&e->event,   &e->tenant,    &e->principal,
                                             &e->session, &e->execution, &e->data};
    memcpy(texts, all, sizeof all);
}

static void make_room(struct cs_op *op, const struct cs_execution_more *more)
{
    size_t bytes = more->journal.len + more->blob_count * sizeof *more->blobs;
    struct cs_str *texts[ENTRY_TEXTS];
    for (size_t i = 0; i < more->entry_count; i++) {
        struct cs_entry e = more->entries[i];
        texts_of(&e, texts);
        bytes += sizeof e;
        for (size_t k = 0; k < ENTRY_TEXTS; k++)
            bytes += texts[k]->len;
    }
    const struct cs_measure *m = more->measure;
    if (m)
        bytes += sizeof *m + m->tenant.len + m->status.len + m->error_type.len + m->tools.len +
                 m->masked.len;
    cs_op_room(op, bytes, 4 + more->entry_count * ENTRY_TEXTS + MEASURE_TEXTS);
}

static void give_str(struct cs_op *op, struct cs_str *text)
{
    text->at = cs_op_give(op, text->at, text->len);
}

void cs_op_give_more(struct cs_op *op, const struct cs_execution_more *more)
{
    struct cs_execution_more *m = &op->more;
    struct cs_str *texts[ENTRY_TEXTS];
    if (!more)
        return;
    *m = *more;
    make_room(op, more);
    struct cs_entry *entries = cs_op_give(op, more->entries, m->entry_count * sizeof *m->entries);
    for (size_t i = 0; i < m->entry_count; i++) {
        texts_of(&entries[i], texts);
        for (size_t k = 0; k < ENTRY_TEXTS; k++)
            give_str(op, texts[k]);
    }
    m->entries = entries;
    give_str(op, &m->journal);
    m->blobs = cs_op_give(op, more->blobs, more->blob_count * sizeof *more->blobs);
    if (!more->measure)
        return;
    struct cs_measure *measure = cs_op_give(op, more->measure, sizeof *measure);
    give_str(op, &measure->tenant);
    give_str(op, &measure->status);
    give_str(op, &measure->error_type);
    give_str(op, &measure->tools);
    give_str(op, &measure->masked);
    m->measure = measure;
}

/* Nothing came of it yet. */
static void op_reset(struct cs_op *op)
{
    op->err = (struct cs_err){0};
    op->count = 0;
    op->content = (struct cs_str){0};
    op->again = false;
    cs_arena_done(&op->arena);
}

static void op_free(struct cs_op *op)
{
    cs_arena_done(&op->arena);
    free(op->given);
    free(op->rows);
    free(op->sources);
    free(op->kept);
    free(op);
}

void cs_op_queue(struct cs_op *op)
{
    struct cs_store *s = op->store;
    uv_mutex_lock(&s->lock);
    bool idle = !s->queue.first;
    list_push(&s->queue, op);
    if (idle && !s->gathering)
        uv_cond_signal(&s->wake);
    uv_mutex_unlock(&s->lock);
}

void cs_store_gather(struct cs_store *s)
{
    s->gathering++;
}

void cs_store_gathered(struct cs_store *s)
{
    if (--s->gathering)
        return;
    uv_mutex_lock(&s->lock);
    if (s->queue.first)
        uv_cond_signal(&s->wake);
    uv_mutex_unlock(&s->lock);
}

/* What has to be done before anything else, once it is known whether there is a chain. */
static void start(struct cs_store *s)
{
    if (s->started || s->closing)
        return;
    s->started = true;
    struct cs_op *op = cs_op_lost(s);
    op->is_ours = true;
    cs_op_queue(op);
}

void cs_store_watch_approvals(struct cs_store *s,
                              void (*over)(void *ctx, const struct cs_approval_row *row), void *ctx)
{
    s->approval_over = over;
    s->approval_ctx = ctx;
}

void cs_store_approval_over(struct cs_store *s, const struct cs_approval_row *row)
{
    if (s->approval_over)
        s->approval_over(s->approval_ctx, row);
}

static void in_pool(uv_work_t *work)
{
    struct cs_op *op = work->data;
    (op->is_late ? op->kind->late : op->kind->pool)(&op->store->db, op);
}

static void tell(struct cs_store *s, struct cs_op *op);
static void stop_if_idle(struct cs_store *s);
static void close_if_over(struct cs_store *s);

static void after_pool(uv_work_t *work, int status)
{
    struct cs_op *op = work->data;
    struct cs_store *s = op->store;
    (void)status;
    s->in_pool--;
    if (op->err.code || op->is_late || !op->kind->run)
        tell(s, op);
    else
        cs_op_queue(op);
    stop_if_idle(s);
    close_if_over(s);
}

static void to_pool(struct cs_op *op)
{
    struct cs_store *s = op->store;
    s->in_pool++;
    op->work.data = op;
    op->next = NULL;
    uv_queue_work(s->async.loop, &op->work, in_pool, after_pool);
}

void cs_op_ask(struct cs_op *op)
{
    struct cs_store *s = op->store;
    bool full = s->ops >= CS_STORE_OPS || s->bytes + op->kept_bytes > CS_STORE_BYTES;
    start(s);
    if (!op->err.code && s->closing)
        cs_fail(&op->err, CS_SYSTEM, "the store is being closed");
    if (!op->err.code && full)
        cs_fail(&op->err, CS_BUSY, "%s: too many changes are waiting; try again", s->db.path);
    s->ops++;
    s->bytes += op->kept_bytes;
    if (op->err.code) {
        list_push(&s->refused, op);
        uv_async_send(&s->async);
        return;
    }
    if (op->kind->pool)
        to_pool(op);
    else
        cs_op_queue(op);
}

/* --- the thread --- */

/* One operation; -1: the transaction is gone with it. */
static int run_one(struct cs_db *db, struct cs_op *op)
{
    struct cs_err ignored;
    bool inside = !cs_db_broken(db), steps = inside && op->kind->steps;
    if (steps && cs_sql_do(db, CS_SQL_SAVE, &op->err, "") < 0)
        return -1;
    bool failed = op->kind->run(db, op) < 0;
    if (inside && cs_db_broken(db))
        return -1;
    if (steps && failed) {
        db->head.known = false;
        if (cs_sql_do(db, CS_SQL_UNDO, &ignored, "") < 0)
            return -1;
    }
    if (steps && cs_sql_do(db, CS_SQL_RELEASE, failed ? &ignored : &op->err, "") < 0)
        return -1;
    return 0;
}

/* It cannot be written to at all: the others can still read. */
static void run_readers(struct cs_db *db, struct cs_op **ops, size_t count,
                        const struct cs_err *why)
{
    for (size_t i = 0; i < count; i++) {
        if (ops[i]->err.code)
            continue;
        if (ops[i]->kind->writes)
            ops[i]->err = *why;
        else
            run_one(db, ops[i]);
    }
}

/* In one transaction. -1: nothing of it was done, and `err` says why; 1: it cannot be written to,
 * and whoever wanted to was told. */
static int attempt(struct cs_db *db, struct cs_op **ops, size_t count, struct cs_err *err)
{
    bool writes = false;
    for (size_t i = 0; i < count; i++)
        writes |= ops[i]->kind->writes && !ops[i]->err.code;
    if (writes && cs_db_begin(db, err) < 0) {
        run_readers(db, ops, count, err);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        if (ops[i]->err.code || run_one(db, ops[i]) == 0)
            continue;
        *err = ops[i]->err;
        cs_db_rollback(db);
        return -1;
    }
    if (!writes || cs_db_commit(db, err) == 0)
        return 0;
    cs_db_rollback(db);
    return -1;
}

/* Each in a transaction of its own. Nobody waits for one that cannot be had twice. */
static void run_alone(struct cs_db *db, struct cs_op **ops, size_t count, const bool *out)
{
    static const struct cs_err unknown = {.code = CS_SYSTEM, .msg = "the database failed"};
    struct cs_err err = {0};
    bool closed = false;
    for (size_t i = 0; i < count; i++) {
        if (out[i])
            continue;
        op_reset(ops[i]);
        if (closed && ops[i]->kind->writes) {
            ops[i]->err = err;
            continue;
        }
        int tried = attempt(db, &ops[i], 1, &err);
        closed |= tried > 0;
        if (tried < 0)
            ops[i]->err = err.code ? err : unknown;
    }
}

/* A change that succeeded shows that it works, and what the system refused that it does not. */
static void judge(struct cs_op **ops, size_t count, struct cs_err *health)
{
    for (size_t i = 0; i < count; i++) {
        enum cs_code code = ops[i]->err.code;
        if (code == CS_SYSTEM || (code == CS_OK && ops[i]->kind->writes))
            *health = ops[i]->err;
    }
}

/* Those whose files failed are out already, and stay so. */
static void run_batch(struct cs_db *db, struct cs_op **ops, size_t count, struct cs_err *health)
{
    struct cs_err err = {0};
    bool out[BATCH];
    for (size_t i = 0; i < count; i++) {
        struct cs_op *op = ops[i];
        out[i] = op->kind->before && op->kind->before(db, op) < 0;
    }
    if (attempt(db, ops, count, &err) < 0)
        run_alone(db, ops, count, out);
    judge(ops, count, health);
    for (size_t i = 0; i < count; i++)
        if (!ops[i]->err.code && ops[i]->kind->after)
            ops[i]->kind->after(db, ops[i]);
}

/* The next ones, or none: it is time to see whether it works again, or to stop. */
static size_t take(struct cs_store *s, struct cs_op **ops, bool *stop)
{
    size_t n = 0;
    uv_mutex_lock(&s->lock);
    while (!s->queue.first && !s->stopping) {
        if (!s->health_there.code)
            uv_cond_wait(&s->wake, &s->lock);
        else if (uv_cond_timedwait(&s->wake, &s->lock, PROBE_NS) == UV_ETIMEDOUT)
            break;
    }
    for (; n < BATCH && s->queue.first; n++) {
        ops[n] = s->queue.first;
        s->queue.first = ops[n]->next;
    }
    if (!s->queue.first)
        s->queue.end = &s->queue.first;
    *stop = !n && s->stopping;
    uv_mutex_unlock(&s->lock);
    return n;
}

static void give(struct cs_store *s, struct cs_op **ops, size_t count, const struct cs_err *health)
{
    uv_mutex_lock(&s->lock);
    for (size_t i = 0; i < count; i++) {
        bool again = ops[i]->again && !ops[i]->err.code;
        ops[i]->again = false;
        list_push(again ? &s->queue : &s->ready, ops[i]);
    }
    s->health_there = *health;
    uv_mutex_unlock(&s->lock);
    uv_async_send(&s->async);
}

static void work(void *arg)
{
    struct cs_store *s = arg;
    CS_AUTO_FREE struct cs_op **ops = cs_calloc(BATCH, sizeof *ops);
    struct cs_err health = {0};
    for (bool stop = false; !stop;) {
        size_t count = take(s, ops, &stop);
        if (count) {
            run_batch(&s->db, ops, count, &health);
        } else if (!stop) {
            struct cs_err err = {0};
            cs_db_probe(&s->db, &err);
            health = err;
        }
        give(s, ops, count, &health);
        cs_flush_rest(&s->db);
    }
    cs_db_seal(&s->db);
    cs_db_close(&s->db);
    uv_mutex_lock(&s->lock);
    s->ended = true;
    uv_mutex_unlock(&s->lock);
    uv_async_send(&s->async);
}

/* --- the loop --- */

static void tell(struct cs_store *s, struct cs_op *op)
{
    for (struct cs_op *next; op; op = next) {
        next = op->next;
        if (op->kind->late && !op->is_late && !op->err.code) {
            op->is_late = true;
            to_pool(op);
            continue;
        }
        s->ops -= !op->is_ours;
        s->bytes -= op->kept_bytes;
        op->kind->tell(op);
        op_free(op);
    }
}

static void on_closed(uv_handle_t *handle)
{
    struct cs_store *s = handle->data;
    void (*closed)(void *) = s->closed;
    void *ctx = s->closed_ctx;
    uv_mutex_destroy(&s->lock);
    uv_cond_destroy(&s->wake);
    free(s);
    if (closed)
        closed(ctx);
}

/* A `done` may have asked for more: that was refused, and is told in the next round. */
static void close_if_over(struct cs_store *s)
{
    if (!s->over || s->refused.first || s->in_pool || uv_is_closing((uv_handle_t *)&s->async))
        return;
    uv_thread_join(&s->thread);
    uv_close((uv_handle_t *)&s->async, on_closed);
}

static void on_wake(uv_async_t *async)
{
    struct cs_store *s = async->data;
    uv_mutex_lock(&s->lock);
    struct cs_op *ready = list_take(&s->ready);
    bool ended = s->ended;
    s->health = s->health_there;
    uv_mutex_unlock(&s->lock);
    tell(s, list_take(&s->refused)); /* before what was asked for after them */
    tell(s, ready);
    s->over = ended;
    close_if_over(s);
}

int cs_store_open(uv_loop_t *loop, const char *dir, struct cs_store **store, struct cs_err *err)
{
    struct cs_store *s = CS_NEW(struct cs_store);
    if (cs_db_open(dir, &s->db, err) < 0) {
        cs_db_close(&s->db);
        free(s);
        return -1;
    }
    list_init(&s->queue);
    list_init(&s->ready);
    list_init(&s->refused);
    s->async.data = s;
    uv_mutex_init(&s->lock);
    uv_cond_init(&s->wake);
    uv_async_init(loop, &s->async, on_wake);
    int code = uv_thread_create(&s->thread, work, s);
    if (code < 0) {
        cs_db_close(&s->db);
        uv_close((uv_handle_t *)&s->async, on_closed);
        return cs_fail(err, CS_SYSTEM, "a thread for the database: %s", uv_strerror(code));
    }
    *store = s;
    return 0;
}

/* What is in the pool will still need the thread. */
static void stop_if_idle(struct cs_store *s)
{
    if (!s->closing || s->in_pool)
        return;
    uv_mutex_lock(&s->lock);
    s->stopping = true;
    uv_cond_signal(&s->wake);
    uv_mutex_unlock(&s->lock);
}

void cs_store_close(struct cs_store *s, void (*closed)(void *ctx), void *ctx)
{
    s->closing = true;
    s->closed = closed;
    s->closed_ctx = ctx;
    stop_if_idle(s);
}

void cs_store_set_chain(struct cs_store *s, const struct cs_chain *chain)
{
    s->db.chain = chain;
    start(s);
}

void cs_store_health(const struct cs_store *s, struct cs_err *err)
{
    *err = s->health;
}

uint64_t cs_store_cache_mark(const struct cs_store *s)
{
    return cs_mark_read(&s->db);
}

uv_loop_t *cs_store_loop(struct cs_store *s)
{
    return s->async.loop;
}

void cs_store_patience(struct cs_store *s, int ms)
{
    uv_mutex_lock(&s->lock);
    s->db.patience_ms = ms;
    uv_mutex_unlock(&s->lock);
}

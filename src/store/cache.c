/*
 * Cached answers. Whoever has some in memory must know when they are forgotten, by whatever
 * process, and that costs no more than a look: a small file has a number that is another one then.
 */
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/time.h"
#include "store/inside.h"

#define FORGET_STEP 500
#define MARK_FILE   "cache.mark"

/* --- the mark --- */

int cs_mark_open(struct cs_db *db, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_buf_printf(&path, "%s/" MARK_FILE, db->dir);
    db->mark_fd = open(cs_buf_cstr(&path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return db->mark_fd < 0 ? cs_fail_errno(err, "%s", cs_buf_cstr(&path)) : 0;
}

uint64_t cs_mark_read(const struct cs_db *db)
{
    uint64_t mark;
    return pread(db->mark_fd, &mark, sizeof mark, 0) == sizeof mark ? mark : 0;
}

static int mark_anew(const struct cs_db *db, struct cs_err *err)
{
    uint64_t mark;
    if (getrandom(&mark, sizeof mark, 0) == sizeof mark &&
        pwrite(db->mark_fd, &mark, sizeof mark, 0) == sizeof mark)
        return 0;
    cs_fail_errno(err, MARK_FILE);
    return cs_wrap(err, "servers that run still have answers in memory");
}

/* --- answers --- */

static void tell(const struct cs_op *op)
{
    if (op->done.cached)
        op->done.cached(op->ctx, &op->err, op->err.code ? NULL : op->rows);
}

static int run_put(struct cs_db *db, struct cs_op *op)
{
    const struct cs_cached_answer *r = &op->row.cached;
    return cs_sql_do(db, CS_SQL_CACHE_PUT, &op->err, "shsiis", r->tenant, r->key, r->execution,
                     r->created, r->expires, r->value) < 0
               ? -1
               : 0;
}

static int run_get(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s =
        cs_sql_ask(db, CS_SQL_CACHE_GET, &op->err, "shi", op->tenant, op->hash, cs_time_ms());
    int got = cs_sql_next(db, s, &op->err);
    if (got == 0)
        return cs_fail(&op->err, CS_MISSING, "it is not in the cache");
    if (got < 0)
        return -1;
    struct cs_cached_answer *r = cs_op_row(op, sizeof *r);
    memcpy(r->key, op->hash, sizeof r->key);
    r->tenant = op->tenant;
    r->execution = cs_sql_str(s, 0, &op->arena);
    r->created = sqlite3_column_int64(s, 1);
    r->expires = sqlite3_column_int64(s, 2);
    r->value = cs_sql_str(s, 3, &op->arena);
    cs_sql_leave(s);
    return 0;
}

static int run_forget(struct cs_db *db, struct cs_op *op)
{
    int64_t step = FORGET_STEP;
    int gone;
    if (op->when)
        gone = cs_sql_do(db, CS_SQL_CACHE_EXPIRE, &op->err, "issi", op->when, op->tenant,
                         op->tenant, step);
    else if (op->tenant.len)
        gone = cs_sql_do(db, CS_SQL_CACHE_END, &op->err, "si", op->tenant, step);
    else
        gone = cs_sql_do(db, CS_SQL_CACHE_END_ALL, &op->err, "i", step);
    op->again = gone == FORGET_STEP;
    return gone < 0 ? -1 : 0;
}

/* All that had to go is gone: what comes into memory from now on is none of it. */
static int after_forget(struct cs_db *db, struct cs_op *op)
{
    return op->when || op->again ? 0 : mark_anew(db, &op->err);
}

static const struct cs_op_kind kind_put = {.writes = true,
                                           .run = run_put,
                                           .tell = cs_op_tell_stored},
                               kind_get = {.run = run_get, .tell = tell},
                               kind_forget = {.writes = true,
                                              .run = run_forget,
                                              .after = after_forget,
                                              .tell = cs_op_tell_stored};

void cs_store_cache_put(struct cs_store *store, const struct cs_cached_answer *row, cs_stored *done,
                        void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_put, ctx);
    struct cs_cached_answer *r = &op->row.cached;
    op->done.stored = done;
    *r = *row;
    cs_op_keep(op, (struct cs_str *[]){&r->tenant, &r->execution, &r->value, NULL});
    cs_op_ask(op);
}

void cs_store_cache_get(struct cs_store *store, struct cs_str tenant, const unsigned char key[32],
                        cs_cached_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_get, ctx);
    op->done.cached = done;
    op->tenant = tenant;
    memcpy(op->hash, key, sizeof op->hash);
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, NULL});
    cs_op_ask(op);
}

void cs_store_cache_forget(struct cs_store *store, struct cs_str tenant, int64_t now,
                           cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_forget, ctx);
    op->done.stored = done;
    op->tenant = tenant;
    op->when = now;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, NULL});
    cs_op_ask(op);
}

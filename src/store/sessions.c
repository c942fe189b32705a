/* Sessions and their states. */
#include <inttypes.h>

#include "base/time.h"
#include "store/inside.h"

#define EXPIRE_MOST 10000 /* in one go; the rest has its turn the next time */

static void tell(const struct cs_op *op)
{
    if (op->done.sessions)
        op->done.sessions(op->ctx, &op->err, op->count ? op->rows : NULL,
                          op->err.code ? 0 : op->count);
}

static int missing(struct cs_op *op)
{
    return cs_fail(&op->err, CS_MISSING, "there is no session '%.*s'; it may have ended or expired",
                   (int)(op->id.len < CS_STORE_ID ? op->id.len : CS_STORE_ID), op->id.at);
}

static int read_rows(struct cs_db *db, sqlite3_stmt *s, bool with_state, struct cs_op *op)
{
    int got;
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_session_row *r = cs_op_row(op, sizeof *r);
        r->id = cs_sql_str(s, 0, &op->arena);
        r->tenant = cs_sql_str(s, 1, &op->arena);
        r->principal = cs_sql_str(s, 2, &op->arena);
        r->name = cs_sql_str(s, 3, &op->arena);
        r->version = (uint64_t)sqlite3_column_int64(s, 4);
        r->created = sqlite3_column_int64(s, 5);
        r->used = sqlite3_column_int64(s, 6);
        r->expires = sqlite3_column_int64(s, 7);
        r->idle_ms = sqlite3_column_int64(s, 8);
        r->executions = (uint64_t)sqlite3_column_int64(s, 9);
        if (!with_state)
            continue;
        r->state = cs_sql_str(s, 10, &op->arena);
        r->holder = cs_sql_str(s, 11, &op->arena);
        r->released = sqlite3_column_int(s, 12) != 0;
    }
    return got;
}

static int check_room(struct cs_db *db, struct cs_op *op)
{
    const struct cs_session_row *r = &op->row.session;
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_SESSION_COUNT, &op->err, "si", r->tenant, cs_time_ms());
    if (cs_sql_next(db, s, &op->err) < 0)
        return -1;
    uint64_t count = (uint64_t)sqlite3_column_int64(s, 0);
    cs_sql_leave(s);
    if (count < op->number)
        return 0;
    return cs_fail(&op->err, CS_LIMIT,
                   "there are %" PRIu64 " sessions already, which is the most; end some", count);
}

static int run_add(struct cs_db *db, struct cs_op *op)
{
    const struct cs_session_row *r = &op->row.session;
    if (check_room(db, op) < 0 ||
        cs_sql_do(db, CS_SQL_SESSION_ADD, &op->err, "ssssiiiiii", r->id, r->tenant, r->principal,
                  r->name, (int64_t)r->version, r->created, r->used, r->expires, r->idle_ms,
                  (int64_t)r->executions) < 0)
        return -1;
    if (!r->state.len)
        return 0;
    return cs_sql_do(db, CS_SQL_STATE_PUT, &op->err, "ss", r->id, r->state) < 0 ? -1 : 0;
}

static int run_get(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s =
        cs_sql_ask(db, CS_SQL_SESSION_GET, &op->err, "ssi", op->id, op->tenant, cs_time_ms());
    if (read_rows(db, s, true, op) < 0)
        return -1;
    return op->count ? 0 : missing(op);
}

static int run_list(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_SESSIONS, &op->err, "siii", op->tenant, cs_time_ms(),
                                 (int64_t)op->limit, (int64_t)op->offset);
    return read_rows(db, s, false, op);
}

static int run_put(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_SESSION_VERSION, &op->err, "ss", op->id, op->tenant);
    int got = cs_sql_next(db, s, &op->err);
    if (got < 0)
        return -1;
    if (got == 0)
        return missing(op);
    uint64_t version = (uint64_t)sqlite3_column_int64(s, 0);
    cs_sql_leave(s);
    if (version != op->number)
        return cs_fail(&op->err, CS_CONFLICT,
                       "the state of the session was changed meanwhile (version %" PRIu64
                       ", not %" PRIu64 ")",
                       version, op->number);
    if (cs_sql_do(db, CS_SQL_SESSION_PUT, &op->err, "iiis", (int64_t)(op->text.len > 0), op->when,
                  op->when, op->id) < 0 ||
        cs_sql_do(db, CS_SQL_HOLD_RELEASED, &op->err, "s", op->id) < 0)
        return -1;
    if (!op->text.len)
        return 0;
    return cs_sql_do(db, CS_SQL_STATE_PUT, &op->err, "ss", op->id, op->text) < 0 ? -1 : 0;
}

static int run_hold(struct cs_db *db, struct cs_op *op)
{
    return cs_sql_do(db, CS_SQL_HOLD_PUT, &op->err, "ss", op->id, op->text) < 0 ? -1 : 0;
}

/* How many sessions that was. */
static int end(struct cs_db *db, struct cs_str tenant, struct cs_str id, struct cs_err *err)
{
    int ended = cs_sql_do(db, CS_SQL_SESSION_END, err, "ss", id, tenant);
    if (ended > 0 &&
        (cs_sql_do(db, CS_SQL_STATE_END, err, "s", id) < 0 ||
         cs_sql_do(db, CS_SQL_HOLD_OF_SESSION_END, err, "s", id) < 0 ||
         cs_db_vault_wipe(db, tenant, id, err) < 0 || cs_db_grants_end(db, tenant, id, err) < 0))
        return -1;
    return ended;
}

static int run_end(struct cs_db *db, struct cs_op *op)
{
    int ended = end(db, op->tenant, op->id, &op->err);
    return ended > 0 ? 0 : ended < 0 ? -1 : missing(op);
}

static int run_expire(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s =
        cs_sql_ask(db, CS_SQL_SESSIONS_OLD, &op->err, "ii", op->when, (int64_t)EXPIRE_MOST);
    int got;
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_session_row *r = cs_op_row(op, sizeof *r);
        r->id = cs_sql_str(s, 0, &op->arena);
        r->tenant = cs_sql_str(s, 1, &op->arena);
    }
    const struct cs_session_row *rows = op->rows;
    for (size_t i = 0; got == 0 && i < op->count; i++)
        if (end(db, rows[i].tenant, rows[i].id, &op->err) < 0)
            got = -1;
    return got;
}

static const struct cs_op_kind
    kind_add = {.writes = true, .steps = true, .run = run_add, .tell = cs_op_tell_stored},
    kind_get = {.run = run_get, .tell = tell}, kind_list = {.run = run_list, .tell = tell},
    kind_put = {.writes = true, .steps = true, .run = run_put, .tell = cs_op_tell_stored},
    kind_hold = {.writes = true, .run = run_hold, .tell = cs_op_tell_stored},
    kind_end = {.writes = true, .steps = true, .run = run_end, .tell = cs_op_tell_stored},
    kind_expire = {.writes = true, .steps = true, .run = run_expire, .tell = tell};

void cs_store_session_add(struct cs_store *store, const struct cs_session_row *row, uint64_t most,
                          cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_add, ctx);
    op->done.stored = done;
    op->number = most;
    struct cs_session_row *r = &op->row.session;
    *r = *row;
    cs_op_keep(op,
               (struct cs_str *[]){&r->id, &r->tenant, &r->principal, &r->name, &r->state, NULL});
    cs_op_check(op, r->tenant, r->id);
    cs_op_ask(op);
}

/* An operation on one session. */
static struct cs_op *one(struct cs_store *store, const struct cs_op_kind *kind,
                         struct cs_str tenant, struct cs_str id, struct cs_str state, void *ctx)
{
    struct cs_op *op = cs_op_new(store, kind, ctx);
    op->tenant = tenant;
    op->id = id;
    op->text = state;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, &op->id, &op->text, NULL});
    return op;
}

void cs_store_session_get(struct cs_store *store, struct cs_str tenant, struct cs_str id,
                          cs_session_found *done, void *ctx)
{
    struct cs_op *op = one(store, &kind_get, tenant, id, CS_STR(""), ctx);
    op->done.sessions = done;
    cs_op_ask(op);
}

void cs_store_sessions(struct cs_store *store, struct cs_str tenant, size_t limit, size_t offset,
                       cs_session_found *done, void *ctx)
{
    struct cs_op *op = one(store, &kind_list, tenant, CS_STR(""), CS_STR(""), ctx);
    op->done.sessions = done;
    op->limit = limit < CS_STORE_LIST ? limit : CS_STORE_LIST;
    op->offset = offset < INT32_MAX ? offset : INT32_MAX;
    cs_op_ask(op);
}

void cs_store_session_put(struct cs_store *store, struct cs_str tenant, struct cs_str id,
                          uint64_t version, struct cs_str state, int64_t now, cs_stored *done,
                          void *ctx)
{
    struct cs_op *op = one(store, &kind_put, tenant, id, state, ctx);
    op->done.stored = done;
    op->number = version;
    op->when = now;
    cs_op_ask(op);
}

void cs_store_session_hold(struct cs_store *store, struct cs_str tenant, struct cs_str id,
                           struct cs_str execution, cs_stored *done, void *ctx)
{
    struct cs_op *op = one(store, &kind_hold, tenant, id, execution, ctx);
    op->done.stored = done;
    cs_op_ask(op);
}

void cs_store_session_end(struct cs_store *store, struct cs_str tenant, struct cs_str id,
                          cs_stored *done, void *ctx)
{
    struct cs_op *op = one(store, &kind_end, tenant, id, CS_STR(""), ctx);
    op->done.stored = done;
    cs_op_ask(op);
}

void cs_store_sessions_expire(struct cs_store *store, int64_t now, cs_session_found *done,
                              void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_expire, ctx);
    op->done.sessions = done;
    op->when = now;
    cs_op_ask(op);
}

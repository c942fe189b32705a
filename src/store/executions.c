/* Executions: admitted, ended, looked up, listed, forgotten. */
#include "base/buf.h"
#include "base/json.h"
#include "base/time.h"
#include "store/inside.h"

#define FORGET_STEP 500 /* executions removed in one go, so that nobody waits long */
#define TRASH_STEP  200

static void tell(const struct cs_op *op)
{
    bool has = op->count && (!op->err.code || op->err.code == CS_CONFLICT);
    if (op->done.executions)
        op->done.executions(op->ctx, &op->err, has ? op->rows : NULL, has ? op->count : 0);
}

static void read_row(sqlite3_stmt *s, struct cs_arena *arena, struct cs_execution_row *r)
{
    struct cs_str *const texts[] = {&r->id,     &r->tenant,     &r->principal, &r->session,
                                    &r->status, &r->error_type, &r->language,  &r->intent,
                                    &r->key,    &r->fingerprint};
    for (size_t i = 0; i < CS_COUNT(texts); i++)
        *texts[i] = cs_sql_str(s, (int)i + 1, arena);
    r->created = sqlite3_column_int64(s, 11);
    r->finished = sqlite3_column_int64(s, 12);
}

static int read_rows(struct cs_db *db, sqlite3_stmt *s, bool with_envelope, struct cs_op *op)
{
    int got;
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_execution_row *r = cs_op_row(op, sizeof *r);
        read_row(s, &op->arena, r);
        if (with_envelope)
            r->envelope = cs_sql_str(s, 13, &op->arena);
    }
    return got;
}

/* --- begin, end --- */

static int run_begin(struct cs_db *db, struct cs_op *op)
{
    const struct cs_execution_row *r = &op->row.execution;
    if (r->key.len) {
        sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_EXECUTION_BY_KEY, &op->err, "ssi", r->tenant,
                                     r->key, r->created - CS_STORE_DAY_MS);
        if (read_rows(db, s, true, op) < 0)
            return -1;
        if (op->count)
            return cs_fail(&op->err, CS_CONFLICT, "this Idempotency-Key was used before");
    }
    if (cs_sql_do(db, CS_SQL_EXECUTION_BEGIN, &op->err, "ssssssssis", r->id, r->tenant,
                  r->principal, r->session, r->language, r->intent, r->key, r->fingerprint,
                  r->created, cs_str(db->owner)) >= 0)
        return 0;
    /* A conflict means the key; that the same id comes twice is a mistake of ours. */
    if (op->err.code == CS_CONFLICT)
        cs_fail(&op->err, CS_BUG, "there is an execution '%.*s' already", CS_STR_ARG(r->id));
    return -1;
}

static int run_end(struct cs_db *db, struct cs_op *op)
{
    const struct cs_execution_row *r = &op->row.execution;
    int changed = cs_sql_do(db, CS_SQL_EXECUTION_END, &op->err, "sssiss", r->status, r->error_type,
                            r->envelope, r->finished, r->id, r->tenant);
    if (changed < 0)
        return -1;
    return changed
               ? 0
               : cs_fail(&op->err, CS_MISSING, "no execution '%.*s' is running", CS_STR_ARG(r->id));
}

static int missing(struct cs_op *op, struct cs_str id)
{
    return cs_fail(&op->err, CS_MISSING, "there is no execution '%.*s'",
                   (int)(id.len < CS_STORE_ID ? id.len : CS_STORE_ID), id.at);
}

static int run_drop(struct cs_db *db, struct cs_op *op)
{
    int gone = cs_sql_do(db, CS_SQL_EXECUTION_DROP, &op->err, "ss", op->id, op->tenant);
    return gone < 0 ? -1 : gone ? 0 : missing(op, op->id);
}

/* --- get, list --- */

static int run_get(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_EXECUTION_GET, &op->err, "ss", op->id, op->tenant);
    if (read_rows(db, s, true, op) < 0)
        return -1;
    return op->count ? 0 : missing(op, op->id);
}

/* Where the page before ended. */
static int seq_of(struct cs_db *db, struct cs_op *op, struct cs_str id, int64_t *seq)
{
    *seq = INT64_MAX;
    if (!id.len)
        return 0;
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_EXECUTION_SEQ, &op->err, "ss", id, op->tenant);
    int got = cs_sql_next(db, s, &op->err);
    if (got == 0)
        return missing(op, id);
    if (got < 0)
        return -1;
    *seq = sqlite3_column_int64(s, 0);
    cs_sql_leave(s);
    return 0;
}

static int run_list(struct cs_db *db, struct cs_op *op)
{
    const struct cs_execution_filter *f = &op->row.filter;
    int64_t before, limit = (int64_t)op->limit;
    sqlite3_stmt *s;
    if (seq_of(db, op, f->before, &before) < 0)
        return -1;
    if (f->session.len && f->status.len)
        s = cs_sql_ask(db, CS_SQL_EXECUTIONS_BY_BOTH, &op->err, "sssii", op->tenant, f->session,
                       f->status, before, limit);
    else if (f->session.len)
        s = cs_sql_ask(db, CS_SQL_EXECUTIONS_OF_SESSION, &op->err, "ssii", op->tenant, f->session,
                       before, limit);
    else if (f->status.len)
        s = cs_sql_ask(db, CS_SQL_EXECUTIONS_BY_STATUS, &op->err, "ssii", op->tenant, f->status,
                       before, limit);
    else
        s = cs_sql_ask(db, CS_SQL_EXECUTIONS, &op->err, "sii", op->tenant, before, limit);
    return read_rows(db, s, false, op);
}

/* --- those whose process is gone --- */

static void text_member(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    if (text.len)
        cs_json_put_str(w, text);
    else
        cs_json_put_null(w);
}

static void lost_envelope(const struct cs_execution_row *r, struct cs_buf *out)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    text_member(&w, "status", CS_STR("cancelled"));
    text_member(&w, "execution_id", r->id);
    text_member(&w, "session_id", r->session);
    text_member(&w, "language", r->language);
    text_member(&w, "result", CS_STR(""));
    cs_json_key(&w, "error");
    cs_json_open(&w, '{');
    text_member(&w, "type", CS_STR("internal_error"));
    text_member(&w, "message", CS_STR("the daemon ended while this execution ran"));
    text_member(&w, "suggestion", CS_STR("run it again, if it can be run twice"));
    cs_json_close(&w, '}');
    static const char *const empty[] = {"logs", "calls", "artifacts"};
    for (size_t i = 0; i < CS_COUNT(empty); i++) {
        cs_json_key(&w, empty[i]);
        cs_json_put_raw(&w, CS_STR("[]"));
    }
    cs_json_close(&w, '}');
}

/* One of that owner's: 1 there was one, 0 none is left. */
static int cancel_one(struct cs_db *db, struct cs_str owner, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf envelope = {0};
    struct cs_execution_row r = {0};
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_OWNED, err, "s", owner);
    int got = cs_sql_next(db, s, err);
    if (got <= 0)
        return got;
    read_row(s, &arena, &r);
    cs_sql_leave(s);
    lost_envelope(&r, &envelope);
    return cs_sql_do(db, CS_SQL_EXECUTION_END, err, "sssiss", CS_STR("cancelled"),
                     CS_STR("internal_error"), cs_buf_str(&envelope), cs_time_ms(), r.id, r.tenant);
}

int cs_db_lost(struct cs_db *db, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str owners[64];
    size_t count = 0;
    int got = 1;
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_OWNERS, err, "");
    while (count < CS_COUNT(owners) && (got = cs_sql_next(db, s, err)) > 0)
        owners[count++] = cs_sql_str(s, 0, &arena);
    cs_sql_leave(s);
    for (size_t i = 0; got >= 0 && i < count; i++) {
        if (cs_owner_alive(db, owners[i]))
            continue;
        while ((got = cancel_one(db, owners[i], err)) > 0)
            ;
    }
    return got < 0 ? -1 : 0;
}

/* --- forget --- */

/* Contents that no artifact has any more. Their rows are committed as gone, so that whatever
 * becomes of this transaction, the files may go. */
static int empty_trash(struct cs_db *db, struct cs_op *op)
{
    unsigned char hashes[TRASH_STEP][32] = {0};
    size_t count = 0;
    int got;
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_TRASH, &op->err, "i", (int64_t)TRASH_STEP);
    while ((got = cs_sql_next(db, s, &op->err)) > 0)
        cs_sql_hash(s, 0, hashes[count++]);
    for (size_t i = 0; got >= 0 && i < count; i++) {
        sqlite3_stmt *uses = cs_sql_ask(db, CS_SQL_ARTIFACT_USES, &op->err, "h", hashes[i]);
        got = cs_sql_next(db, uses, &op->err);
        cs_sql_leave(uses);
        if (got == 0)
            cs_blob_remove(db, hashes[i]);
        if (got >= 0)
            got = cs_sql_do(db, CS_SQL_TRASH_END, &op->err, "h", hashes[i]);
    }
    op->again = count == TRASH_STEP;
    return got < 0 ? -1 : 0;
}

/* First the rows, step by step; then, in a transaction that comes after theirs, the files. */
static int run_forget(struct cs_db *db, struct cs_op *op)
{
    int64_t step = FORGET_STEP;
    if (op->number)
        return empty_trash(db, op);
    if (cs_db_lost(db, &op->err) < 0 || cs_db_artifacts_age(db, op->when, step, &op->err) < 0)
        return -1;
    int gone = cs_sql_do(db, CS_SQL_OLD_EXECUTIONS, &op->err, "ii", op->when, step);
    if (gone < 0)
        return -1;
    int swept = gone < FORGET_STEP ? cs_db_artifacts_sweep(db, step, &op->err) : 0;
    if (swept < 0)
        return -1;
    op->again = true;
    op->offset = gone < FORGET_STEP && !swept; /* rows are done, once this is committed */
    return 0;
}

static int after_forget(struct cs_db *db, struct cs_op *op)
{
    (void)db;
    op->number = op->offset;
    return 0;
}

static const struct cs_op_kind kind_begin = {.writes = true, .run = run_begin, .tell = tell},
                               kind_end = {.writes = true,
                                           .run = run_end,
                                           .tell = cs_op_tell_stored},
                               kind_drop = {.writes = true,
                                            .run = run_drop,
                                            .tell = cs_op_tell_stored},
                               kind_get = {.run = run_get, .tell = tell},
                               kind_list = {.run = run_list, .tell = tell},
                               kind_forget = {.writes = true,
                                              .steps = true,
                                              .run = run_forget,
                                              .after = after_forget,
                                              .tell = cs_op_tell_stored};

static struct cs_op *with_row(struct cs_store *store, const struct cs_op_kind *kind,
                              const struct cs_execution_row *row, void *ctx)
{
    struct cs_op *op = cs_op_new(store, kind, ctx);
    struct cs_execution_row *r = &op->row.execution;
    *r = *row;
    cs_op_keep(op, (struct cs_str *[]){&r->id, &r->tenant, &r->principal, &r->session, &r->status,
                                       &r->error_type, &r->language, &r->intent, &r->key,
                                       &r->fingerprint, &r->envelope, NULL});
    cs_op_check(op, r->tenant, r->id);
    return op;
}

void cs_store_execution_begin(struct cs_store *store, const struct cs_execution_row *row,
                              cs_execution_found *done, void *ctx)
{
    struct cs_op *op = with_row(store, &kind_begin, row, ctx);
    op->done.executions = done;
    cs_op_ask(op);
}

void cs_store_execution_end(struct cs_store *store, const struct cs_execution_row *row,
                            cs_stored *done, void *ctx)
{
    struct cs_op *op = with_row(store, &kind_end, row, ctx);
    op->done.stored = done;
    cs_op_ask(op);
}

void cs_store_execution_admit(struct cs_store *store, const struct cs_execution_row *row,
                              const struct cs_execution_more *more, cs_execution_found *done,
                              void *ctx)
{
    (void)more;
    cs_store_execution_begin(store, row, done, ctx);
}

static void tell_ended(const struct cs_op *op)
{
    static const unsigned char none[32];
    if (op->done.ended)
        op->done.ended(op->ctx, &op->err, none);
}

static const struct cs_op_kind kind_settle = {.writes = true, .run = run_end, .tell = tell_ended};

void cs_store_execution_settle(struct cs_store *store, const struct cs_execution_row *row,
                               const struct cs_execution_more *more, cs_execution_ended *done,
                               void *ctx)
{
    (void)more;
    struct cs_op *op = with_row(store, &kind_settle, row, ctx);
    op->done.ended = done;
    cs_op_ask(op);
}

void cs_store_execution_adopt(struct cs_store *store, cs_execution_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_get, ctx);
    op->done.executions = done;
    cs_fail(&op->err, CS_SYSTEM, "not yet");
    cs_op_ask(op);
}

void cs_store_execution_status(struct cs_store *store, struct cs_str id, struct cs_str status,
                               cs_stored *done, void *ctx)
{
    (void)id;
    (void)status;
    struct cs_op *op = cs_op_new(store, &kind_drop, ctx);
    op->done.stored = done;
    cs_fail(&op->err, CS_SYSTEM, "not yet");
    cs_op_ask(op);
}

void cs_store_execution_drop(struct cs_store *store, struct cs_str tenant, struct cs_str id,
                             cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_drop, ctx);
    op->done.stored = done;
    op->tenant = tenant;
    op->id = id;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, &op->id, NULL});
    cs_op_ask(op);
}

void cs_store_execution_get(struct cs_store *store, struct cs_str tenant, struct cs_str id,
                            cs_execution_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_get, ctx);
    op->done.executions = done;
    op->tenant = tenant;
    op->id = id;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, &op->id, NULL});
    cs_op_ask(op);
}

void cs_store_executions(struct cs_store *store, struct cs_str tenant,
                         const struct cs_execution_filter *filter, cs_execution_found *done,
                         void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_list, ctx);
    struct cs_execution_filter *f = &op->row.filter;
    op->done.executions = done;
    op->tenant = tenant;
    *f = *filter;
    op->limit = f->limit < CS_STORE_LIST ? f->limit : CS_STORE_LIST;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, &f->session, &f->status, &f->before, NULL});
    cs_op_ask(op);
}

void cs_store_executions_forget(struct cs_store *store, int64_t when, cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_forget, ctx);
    op->done.stored = done;
    op->when = when;
    cs_op_ask(op);
}

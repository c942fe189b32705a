/* Executions: looked up, listed, lost with their process, forgotten. */
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/time.h"
#include "store/inside.h"

#define FORGET_STEP 500 /* executions removed in one go, so that nobody waits long */
#define TRASH_STEP  200
#define SWEEP_STEPS 16 /* directories of contents, every hour */

/* What forget is at. */
enum { AGEING, EMPTYING, SWEEPING };

void cs_op_tell_executions(const struct cs_op *op)
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
    r->durable = sqlite3_column_int(s, 13) != 0;
}

int cs_execution_rows(struct cs_db *db, sqlite3_stmt *s, bool with_envelope, struct cs_op *op)
{
    int got;
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_execution_row *r = cs_op_row(op, sizeof *r);
        read_row(s, &op->arena, r);
        if (with_envelope)
            r->envelope = cs_sql_str(s, 14, &op->arena);
    }
    return got;
}

/* --- drop --- */

static int missing(struct cs_op *op, struct cs_str id)
{
    return cs_fail(&op->err, CS_MISSING, "there is no execution '%.*s'",
                   (int)(id.len < CS_STORE_ID ? id.len : CS_STORE_ID), id.at);
}

static int run_drop(struct cs_db *db, struct cs_op *op)
{
    int gone = cs_sql_do(db, CS_SQL_EXECUTION_DROP, &op->err, "ss", op->id, op->tenant);
    if (gone == 0)
        return missing(op, op->id);
    if (gone < 0 || cs_sql_do(db, CS_SQL_HOLD_END, &op->err, "s", op->id) < 0)
        return -1;
    return cs_db_journal_end(db, op->id, &op->err);
}

/* --- get, list --- */

static int run_get(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_EXECUTION_GET, &op->err, "ss", op->id, op->tenant);
    if (cs_execution_rows(db, s, true, op) < 0)
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
    return cs_execution_rows(db, s, false, op);
}

static int run_lately(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s =
        cs_sql_ask(db, CS_SQL_EXECUTIONS_LATELY, &op->err, "ii", op->when, (int64_t)op->limit);
    return cs_execution_rows(db, s, false, op);
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

void cs_store_lost_envelope(const struct cs_execution_row *r, struct cs_str message,
                            struct cs_buf *out)
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
    text_member(&w, "message", message);
    text_member(&w, "suggestion",
                CS_STR("Look what its calls have done; then run it again, if it may run twice."));
    cs_json_close(&w, '}');
    static const char *const empty[] = {"logs", "calls", "artifacts"};
    for (size_t i = 0; i < CS_COUNT(empty); i++) {
        cs_json_key(&w, empty[i]);
        cs_json_put_raw(&w, CS_STR("[]"));
    }
    cs_json_close(&w, '}');
}

static int cancel(struct cs_db *db, const struct cs_execution_row *r, struct cs_str owner,
                  struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf envelope = {0};
    unsigned char hash[32];
    int64_t now = cs_time_ms();
    struct cs_str status = CS_STR("cancelled"), type = CS_STR("internal_error");
    const struct cs_entry entry = {
        .event = CS_STR("execution.settled"),
        .tenant = r->tenant,
        .principal = r->principal,
        .session = r->session,
        .execution = r->id,
        .data = CS_STR("{\"error\":\"internal_error\",\"lost\":true,\"status\":\"cancelled\"}"),
        .time = now};
    const struct cs_measure measure = {.tenant = r->tenant,
                                       .status = status,
                                       .error_type = type,
                                       .tools = CS_STR("{}"),
                                       .finished = now};
    cs_store_lost_envelope(r, CS_STR("the daemon ended while this execution ran"), &envelope);
    if (cs_db_append(db, &entry, 1, hash, err) < 0 || cs_db_measure(db, &measure, err) < 0 ||
        cs_sql_do(db, CS_SQL_EXECUTION_END, err, "sssisss", status, type, cs_buf_str(&envelope),
                  now, r->id, r->tenant, owner) < 0)
        return -1;
    return cs_db_approvals_lost(db, r, err);
}

/* One of that owner's: 1 there was one, 0 none is left. */
static int cancel_one(struct cs_db *db, struct cs_str owner, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_execution_row r = {0};
    int got = cs_db_owned(db, owner, false, &arena, &r, err);
    if (got <= 0)
        return got;
    return cancel(db, &r, owner, err) < 0 ? -1 : 1;
}

int cs_db_owned(struct cs_db *db, struct cs_str owner, bool durable, struct cs_arena *arena,
                struct cs_execution_row *row, struct cs_err *err)
{
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_OWNED, err, "si", owner, (int64_t)durable);
    int got = cs_sql_next(db, s, err);
    if (got <= 0)
        return got;
    read_row(s, arena, row);
    cs_sql_leave(s);
    return 1;
}

int cs_db_next_dead(struct cs_db *db, char owner[CS_STORE_ID + 1], struct cs_err *err)
{
    for (;;) {
        sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_OWNERS, err, "s", cs_str(owner));
        int got = cs_sql_next(db, s, err);
        if (got <= 0)
            return got;
        struct cs_str next = cs_sql_bytes(s, 0);
        bool fits = next.len <= CS_STORE_ID;
        snprintf(owner, CS_STORE_ID + 1, "%.*s", CS_STR_ARG(next));
        cs_sql_leave(s);
        if (!fits)
            return cs_fail(err, CS_SYSTEM, "%s: the owner of an execution is no name of ours: %s",
                           db->path, owner);
        if (!cs_owner_alive(db, cs_str(owner)))
            return 1;
    }
}

int cs_db_lost(struct cs_db *db, struct cs_err *err)
{
    char owner[CS_STORE_ID + 1] = "";
    int dead, has_ledger = db->chain ? 0 : cs_db_has_ledger(db, err);
    if (has_ledger)
        return has_ledger < 0 ? -1 : 0;
    while ((dead = cs_db_next_dead(db, owner, err)) > 0) {
        int got;
        while ((got = cancel_one(db, cs_str(owner), err)) > 0)
            ;
        if (got < 0)
            return -1;
    }
    return dead;
}

static int run_lost(struct cs_db *db, struct cs_op *op)
{
    return cs_db_lost(db, &op->err);
}

/* --- forget --- */

/* Contents that nothing refers to any more. Their rows are committed as gone, so that whatever
 * becomes of this transaction, the files may go. Those that were put lately stay for another time.
 */
static int empty_trash(struct cs_db *db, struct cs_op *op)
{
    unsigned char hashes[TRASH_STEP][32] = {0};
    int64_t old = cs_time_ms() - CS_STORE_HOUR_MS;
    size_t count = 0;
    int got;
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_TRASH, &op->err, "hi", op->hash, (int64_t)TRASH_STEP);
    while ((got = cs_sql_next(db, s, &op->err)) > 0)
        cs_sql_hash(s, 0, hashes[count++]);
    for (size_t i = 0; got >= 0 && i < count; i++) {
        sqlite3_stmt *uses = cs_sql_ask(db, CS_SQL_BLOB_USES, &op->err, "h", hashes[i]);
        got = cs_sql_next(db, uses, &op->err);
        cs_sql_leave(uses);
        bool gone = got == 1 || (got == 0 && cs_blob_remove(db, hashes[i], old));
        if (got >= 0 && gone)
            got = cs_sql_do(db, CS_SQL_TRASH_END, &op->err, "h", hashes[i]);
    }
    op->again = count == TRASH_STEP;
    if (op->again)
        memcpy(op->hash, hashes[count - 1], sizeof op->hash);
    return got < 0 ? -1 : 0;
}

/* Then the files that are in no list: each hour other directories. */
static int sweep(struct cs_db *db, struct cs_op *op)
{
    int64_t now = cs_time_ms();
    unsigned first = (unsigned)(now / CS_STORE_HOUR_MS * SWEEP_STEPS % 256);
    unsigned step = (unsigned)op->number - SWEEPING;
    if (cs_db_blobs_sweep(db, first + step, now - CS_STORE_HOUR_MS, &op->err) < 0)
        return -1;
    op->again = step + 1 < SWEEP_STEPS;
    op->offset = op->number + 1;
    return 0;
}

/* First the rows, step by step; then, in a transaction that comes after theirs, the files. */
static int run_forget(struct cs_db *db, struct cs_op *op)
{
    int64_t step = FORGET_STEP;
    if (op->number >= SWEEPING)
        return sweep(db, op);
    if (op->number == EMPTYING) {
        int emptied = empty_trash(db, op);
        if (emptied == 0 && !op->again) {
            op->again = true;
            op->offset = SWEEPING;
        }
        return emptied;
    }
    if (cs_db_lost(db, &op->err) < 0 || cs_db_artifacts_age(db, op->when, step, &op->err) < 0 ||
        cs_db_journals_age(db, op->when, step, &op->err) < 0 ||
        cs_db_vaults_age(db, op->when, step, &op->err) < 0 ||
        cs_db_approvals_age(db, op->when, step, &op->err) < 0 ||
        cs_db_grants_age(db, cs_time_ms(), &op->err) < 0 ||
        cs_db_seen_age(db, cs_time_ms(), &op->err) < 0)
        return -1;
    int gone = cs_sql_do(db, CS_SQL_OLD_EXECUTIONS, &op->err, "ii", op->when, step);
    if (gone < 0)
        return -1;
    int swept = gone < FORGET_STEP ? cs_db_artifacts_sweep(db, step, &op->err) : 0;
    if (swept < 0)
        return -1;
    op->again = true;
    op->offset = gone < FORGET_STEP && !swept ? EMPTYING : 0; /* once this is committed */
    return 0;
}

static int after_forget(struct cs_db *db, struct cs_op *op)
{
    (void)db;
    op->number = op->offset;
    return 0;
}

static const struct cs_op_kind
    kind_lost = {.writes = true, .steps = true, .run = run_lost, .tell = cs_op_tell_stored},
    kind_drop = {.writes = true, .steps = true, .run = run_drop, .tell = cs_op_tell_stored},
    kind_get = {.run = run_get, .tell = cs_op_tell_executions},
    kind_list = {.run = run_list, .tell = cs_op_tell_executions},
    kind_lately = {.run = run_lately, .tell = cs_op_tell_executions},
    kind_forget = {.writes = true,
                   .steps = true,
                   .run = run_forget,
                   .after = after_forget,
                   .tell = cs_op_tell_stored};

struct cs_op *cs_op_lost(struct cs_store *store)
{
    return cs_op_new(store, &kind_lost, NULL);
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

void cs_store_executions_lately(struct cs_store *store, int64_t since, size_t limit,
                                cs_execution_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_lately, ctx);
    op->done.executions = done;
    op->when = since;
    op->limit = limit;
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

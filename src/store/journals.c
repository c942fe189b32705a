/* Journals of executions, in parts, and which blobs they refer to. */
#include "store/inside.h"

#define JOURNAL_MAX (256u << 20) /* bytes that are read; larger payloads are blobs */

static void tell(const struct cs_op *op)
{
    if (op->done.journal)
        op->done.journal(op->ctx, &op->err, op->err.code ? (struct cs_str){0} : op->content);
}

int cs_db_journal(struct cs_db *db, struct cs_str execution, const struct cs_execution_more *more,
                  struct cs_err *err)
{
    if (more->journal.len &&
        cs_sql_do(db, CS_SQL_JOURNAL_ADD, err, "sb", execution, more->journal) < 0)
        return -1;
    for (size_t i = 0; i < more->blob_count; i++)
        if (cs_sql_do(db, CS_SQL_JOURNAL_BLOB, err, "sh", execution, more->blobs[i]) < 0)
            return -1;
    return 0;
}

int cs_db_journal_end(struct cs_db *db, struct cs_str execution, struct cs_err *err)
{
    if (cs_sql_do(db, CS_SQL_JOURNAL_END, err, "s", execution) < 0 ||
        cs_sql_do(db, CS_SQL_JOURNAL_BLOBS_END, err, "s", execution) < 0)
        return -1;
    return 0;
}

int cs_db_journals_age(struct cs_db *db, int64_t when, int64_t step, struct cs_err *err)
{
    static const enum cs_statement steps[] = {CS_SQL_OLD_JOURNAL_TRASH, CS_SQL_OLD_JOURNAL_BLOBS,
                                              CS_SQL_OLD_JOURNALS};
    for (size_t i = 0; i < CS_COUNT(steps); i++)
        if (cs_sql_do(db, steps[i], err, "ii", when, step) < 0)
            return -1;
    return 0;
}

static int there(struct cs_db *db, struct cs_op *op, enum cs_statement which, const char *types)
{
    sqlite3_stmt *s = cs_sql_ask(db, which, &op->err, types, op->id, op->tenant);
    int got = cs_sql_next(db, s, &op->err);
    cs_sql_leave(s);
    if (got != 0)
        return got < 0 ? -1 : 0;
    return cs_fail(&op->err, CS_MISSING, "there is no execution '%.*s'",
                   (int)(op->id.len < CS_STORE_ID ? op->id.len : CS_STORE_ID), op->id.at);
}

static int run_append(struct cs_db *db, struct cs_op *op)
{
    if (there(db, op, CS_SQL_EXECUTION_THERE, "s") < 0)
        return -1;
    return cs_db_journal(db, op->id, &op->more, &op->err);
}

static int run_get(struct cs_db *db, struct cs_op *op)
{
    CS_AUTO_BUF struct cs_buf all = {0};
    if (there(db, op, CS_SQL_EXECUTION_SEQ, "ss") < 0)
        return -1;
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_JOURNAL_GET, &op->err, "s", op->id);
    int got;
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_str part = cs_sql_bytes(s, 0);
        if (all.len + part.len > JOURNAL_MAX) {
            cs_sql_leave(s);
            return cs_fail(&op->err, CS_LIMIT, "the journal of '%.*s' is too long to be read",
                           CS_STR_ARG(op->id));
        }
        cs_buf_putstr(&all, part);
    }
    if (got < 0)
        return -1;
    if (!all.len)
        return cs_fail(&op->err, CS_MISSING, "the execution '%.*s' has no journal",
                       CS_STR_ARG(op->id));
    op->content = cs_arena_dup(&op->arena, cs_buf_str(&all));
    return 0;
}

static const struct cs_op_kind kind_append = {.writes = true,
                                              .steps = true,
                                              .run = run_append,
                                              .tell = cs_op_tell_stored},
                               kind_get = {.run = run_get, .tell = tell};

void cs_store_journal_append(struct cs_store *store, struct cs_str execution, struct cs_str part,
                             const unsigned char (*blobs)[32], size_t blob_count, cs_stored *done,
                             void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_append, ctx);
    op->done.stored = done;
    op->id = execution;
    cs_op_keep(op, (struct cs_str *[]){&op->id, NULL});
    cs_op_check(op, op->tenant, op->id);
    cs_op_give_more(
        op, &(struct cs_execution_more){.journal = part, .blobs = blobs, .blob_count = blob_count});
    cs_op_ask(op);
}

void cs_store_journal_get(struct cs_store *store, struct cs_str tenant, struct cs_str execution,
                          cs_journal_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_get, ctx);
    op->done.journal = done;
    op->tenant = tenant;
    op->id = execution;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, &op->id, NULL});
    cs_op_ask(op);
}

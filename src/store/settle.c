/*
 * The begin and the end of executions, each with what is put on record at the same moment: ledger,
 * journal, figures. And those that outlive their process.
 */
#include "base/hash.h"
#include "base/time.h"
#include "store/inside.h"

/* --- begin --- */

static int insert(struct cs_db *db, struct cs_op *op)
{
    const struct cs_execution_row *r = &op->row.execution;
    if (r->key.len) {
        sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_EXECUTION_BY_KEY, &op->err, "ssi", r->tenant,
                                     r->key, r->created - CS_STORE_DAY_MS);
        if (cs_execution_rows(db, s, true, op) < 0)
            return -1;
        if (op->count)
            return cs_fail(&op->err, CS_CONFLICT, "this Idempotency-Key was used before");
    }
    if (cs_sql_do(db, CS_SQL_EXECUTION_BEGIN, &op->err, "ssssssssiis", r->id, r->tenant,
                  r->principal, r->session, r->language, r->intent, r->key, r->fingerprint,
                  r->created, (int64_t)r->durable, cs_str(db->owner)) >= 0)
        return 0;
    /* A conflict means the key; that the same id comes twice is a mistake of ours. */
    if (op->err.code == CS_CONFLICT)
        cs_fail(&op->err, CS_BUG, "there is an execution '%.*s' already", CS_STR_ARG(r->id));
    return -1;
}

static int run_admit(struct cs_db *db, struct cs_op *op)
{
    const struct cs_execution_more *more = &op->more;
    if (insert(db, op) < 0 ||
        cs_db_append(db, more->entries, more->entry_count, op->hash, &op->err) < 0)
        return -1;
    return cs_db_journal(db, op->row.execution.id, more, &op->err);
}

/* --- end --- */

#define HEX 64

/* The envelope is a copy of ours. */
static int put_hash(struct cs_op *op)
{
    struct cs_str envelope = op->row.execution.envelope;
    size_t at = op->more.chain_at;
    char hex[HEX + 1];
    if (!at)
        return 0;
    if (at > envelope.len || envelope.len - at < HEX)
        return cs_fail(&op->err, CS_BUG, "the envelope has no room for a hash at %zu", at);
    cs_hex(op->hash, 32, hex);
    memcpy((char *)envelope.at + at, hex, HEX);
    return 0;
}

static int update(struct cs_db *db, struct cs_op *op)
{
    const struct cs_execution_row *r = &op->row.execution;
    int changed = cs_sql_do(db, CS_SQL_EXECUTION_END, &op->err, "sssisss", r->status, r->error_type,
                            r->envelope, r->finished, r->id, r->tenant, cs_str(db->owner));
    if (changed < 0)
        return -1;
    if (changed == 0)
        return cs_fail(&op->err, CS_MISSING, "no execution '%.*s' is running here",
                       CS_STR_ARG(r->id));
    if (!r->session.len || !r->durable)
        return 0;
    return cs_sql_do(db, CS_SQL_HOLD_END, &op->err, "s", r->id) < 0 ? -1 : 0;
}

static int run_settle(struct cs_db *db, struct cs_op *op)
{
    const struct cs_execution_more *more = &op->more;
    if (cs_db_append(db, more->entries, more->entry_count, op->hash, &op->err) < 0 ||
        put_hash(op) < 0 || update(db, op) < 0 ||
        cs_db_journal(db, op->row.execution.id, more, &op->err) < 0)
        return -1;
    return more->measure ? cs_db_measure(db, more->measure, &op->err) : 0;
}

static void tell_ended(const struct cs_op *op)
{
    if (op->done.ended)
        op->done.ended(op->ctx, &op->err, op->hash);
}

/* --- those that outlive their process --- */

static int run_adopt(struct cs_db *db, struct cs_op *op)
{
    struct cs_execution_row row = {0};
    char owner[CS_STORE_ID + 1] = "";
    int got = 0, dead = 0;
    while (got == 0 && (dead = cs_db_next_dead(db, owner, &op->err)) > 0)
        got = cs_db_owned(db, cs_str(owner), true, &op->arena, &row, &op->err);
    if (got < 0 || dead < 0)
        return -1;
    if (got == 0)
        return 0;
    if (cs_sql_do(db, CS_SQL_EXECUTION_ADOPT, &op->err, "ss", cs_str(db->owner), row.id) < 0)
        return -1;
    struct cs_execution_row *r = cs_op_row(op, sizeof *r);
    *r = row;
    return 0;
}

static int run_status(struct cs_db *db, struct cs_op *op)
{
    int changed = cs_sql_do(db, CS_SQL_EXECUTION_STATUS, &op->err, "sss", op->text, op->id,
                            cs_str(db->owner));
    if (changed != 0)
        return changed < 0 ? -1 : 0;
    return cs_fail(&op->err, CS_MISSING, "no execution '%.*s' is running here", CS_STR_ARG(op->id));
}

static const struct cs_op_kind
    kind_admit = {.writes = true, .steps = true, .run = run_admit, .tell = cs_op_tell_executions},
    kind_settle = {.writes = true, .steps = true, .run = run_settle, .tell = tell_ended},
    kind_adopt = {.writes = true, .steps = true, .run = run_adopt, .tell = cs_op_tell_executions},
    kind_status = {.writes = true, .run = run_status, .tell = cs_op_tell_stored};

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

void cs_store_execution_admit(struct cs_store *store, const struct cs_execution_row *row,
                              const struct cs_execution_more *more, cs_execution_found *done,
                              void *ctx)
{
    struct cs_op *op = with_row(store, &kind_admit, row, ctx);
    op->done.executions = done;
    cs_op_give_more(op, more);
    cs_op_ask(op);
}

void cs_store_execution_settle(struct cs_store *store, const struct cs_execution_row *row,
                               const struct cs_execution_more *more, cs_execution_ended *done,
                               void *ctx)
{
    struct cs_op *op = with_row(store, &kind_settle, row, ctx);
    op->done.ended = done;
    cs_op_give_more(op, more);
    cs_op_ask(op);
}

void cs_store_execution_adopt(struct cs_store *store, cs_execution_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_adopt, ctx);
    op->done.executions = done;
    cs_op_ask(op);
}

void cs_store_execution_status(struct cs_store *store, struct cs_str id, struct cs_str status,
                               cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_status, ctx);
    op->done.stored = done;
    op->id = id;
    op->text = status;
    cs_op_keep(op, (struct cs_str *[]){&op->id, &op->text, NULL});
    cs_op_check(op, op->tenant, op->id);
    cs_op_ask(op);
}

/* Grants: what persons allowed beyond one time. A grant that does not hold any more is no row. */
#include "base/time.h"
#include "store/inside.h"

static void tell(const struct cs_op *op)
{
    if (op->done.grants)
        op->done.grants(op->ctx, &op->err, op->count ? op->rows : NULL,
                        op->err.code ? 0 : op->count);
}

static int read_rows(struct cs_db *db, sqlite3_stmt *s, struct cs_op *op)
{
    int got;
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_grant_row *r = cs_op_row(op, sizeof *r);
        r->id = cs_sql_str(s, 0, &op->arena);
        r->tenant = cs_sql_str(s, 1, &op->arena);
        r->principal = cs_sql_str(s, 2, &op->arena);
        r->scope = cs_sql_str(s, 3, &op->arena);
        r->session = cs_sql_str(s, 4, &op->arena);
        cs_sql_hash(s, 5, r->binding);
        r->server = cs_sql_str(s, 6, &op->arena);
        r->tool = cs_sql_str(s, 7, &op->arena);
        cs_sql_hash(s, 8, r->definition);
        r->created = sqlite3_column_int64(s, 9);
        r->expires = sqlite3_column_int64(s, 10);
        r->by = cs_sql_str(s, 11, &op->arena);
        r->approval = cs_sql_str(s, 12, &op->arena);
        r->arguments = cs_sql_str(s, 13, &op->arena);
        r->actor = cs_sql_str(s, 14, &op->arena);
        r->bound = cs_sql_str(s, 15, &op->arena);
    }
    return got;
}

int cs_db_grant_add(struct cs_db *db, const struct cs_grant_row *g, struct cs_err *err)
{
    return cs_sql_do(db, CS_SQL_GRANT_ADD, err, "ssssshsshiisssss", g->id, g->tenant, g->principal,
                     g->scope, g->session, g->binding, g->server, g->tool, g->definition,
                     g->created, g->expires, g->by, g->approval, g->arguments, g->actor,
                     g->bound) < 0
               ? -1
               : 0;
}

int cs_db_grants_end(struct cs_db *db, struct cs_str tenant, struct cs_str session,
                     struct cs_err *err)
{
    return cs_sql_do(db, CS_SQL_GRANTS_OF_SESSION_END, err, "ss", session, tenant) < 0 ? -1 : 0;
}

int cs_db_grants_age(struct cs_db *db, int64_t now, struct cs_err *err)
{
    return cs_sql_do(db, CS_SQL_OLD_GRANTS, err, "i", now) < 0 ? -1 : 0;
}

static int run_list(struct cs_db *db, struct cs_op *op)
{
    return read_rows(db,
                     cs_sql_ask(db, CS_SQL_GRANTS, &op->err, "sii", op->tenant, cs_time_ms(),
                                (int64_t)op->limit),
                     op);
}

static int run_for(struct cs_db *db, struct cs_op *op)
{
    static const unsigned char none[32];
    const struct cs_grant_row *like = &op->row.ask.grant;
    int64_t now = cs_time_ms(), most = CS_STORE_LIST;
    if (memcmp(like->binding, none, sizeof none) != 0 &&
        read_rows(db,
                  cs_sql_ask(db, CS_SQL_GRANTS_OF_BINDING, &op->err, "shssiis", like->tenant,
                             like->binding, like->principal, like->session, now, most, like->actor),
                  op) < 0)
        return -1;
    if (!like->tool.len)
        return 0;
    return read_rows(db,
                     cs_sql_ask(db, CS_SQL_GRANTS_OF_TOOL, &op->err, "sssssiis", like->tenant,
                                like->server, like->tool, like->principal, like->session, now, most,
                                like->actor),
                     op);
}

static int run_revoke(struct cs_db *db, struct cs_op *op)
{
    int gone = cs_sql_do(db, CS_SQL_GRANT_END, &op->err, "ss", op->id, op->tenant);
    if (gone < 0)
        return -1;
    if (gone == 0)
        return cs_fail(&op->err, CS_MISSING, "there is no grant '%.*s' (any more)",
                       (int)(op->id.len < CS_STORE_ID ? op->id.len : CS_STORE_ID), op->id.at);
    return cs_db_append(db, op->more.entries, op->more.entry_count, op->hash, &op->err);
}

static const struct cs_op_kind kind_list = {.run = run_list, .tell = tell},
                               kind_for = {.run = run_for, .tell = tell},
                               kind_revoke = {.writes = true,
                                              .steps = true,
                                              .run = run_revoke,
                                              .tell = cs_op_tell_stored};

void cs_store_grants(struct cs_store *store, struct cs_str tenant, size_t limit,
                     cs_grants_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_list, ctx);
    op->done.grants = done;
    op->tenant = tenant;
    op->limit = limit < CS_STORE_LIST ? limit : CS_STORE_LIST;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, NULL});
    cs_op_ask(op);
}

void cs_store_grants_for(struct cs_store *store, const struct cs_grant_row *like,
                         cs_grants_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_for, ctx);
    struct cs_grant_row *g = &op->row.ask.grant;
    op->done.grants = done;
    *g = *like;
    cs_op_keep(op, (struct cs_str *[]){&g->tenant, &g->principal, &g->session, &g->server, &g->tool,
                                       &g->actor, NULL});
    cs_op_ask(op);
}

void cs_store_grant_revoke(struct cs_store *store, struct cs_str tenant, struct cs_str id,
                           const struct cs_entry *entry, cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_revoke, ctx);
    op->done.stored = done;
    op->tenant = tenant;
    op->id = id;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, &op->id, NULL});
    cs_op_give_more(op, &(struct cs_execution_more){.entries = entry, .entry_count = !!entry});
    cs_op_check(op, op->tenant, op->id);
    cs_op_ask(op);
}

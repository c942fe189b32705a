/* Artifacts: a row each, and the content in a file. */
#include "store/inside.h"

static void tell(const struct cs_op *op)
{
    bool fine = !op->err.code && op->count;
    if (op->done.artifacts)
        op->done.artifacts(op->ctx, &op->err, fine ? op->rows : NULL, fine ? op->count : 0,
                           op->err.code ? (struct cs_str){0} : op->content);
}

static int read_rows(struct cs_db *db, sqlite3_stmt *s, struct cs_op *op)
{
    int got;
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_artifact_row *r = cs_op_row(op, sizeof *r);
        struct cs_str *const texts[] = {&r->id,      &r->tenant, &r->execution,
                                        &r->session, &r->name,   &r->media_type};
        for (size_t i = 0; i < CS_COUNT(texts); i++)
            *texts[i] = cs_sql_str(s, (int)i, &op->arena);
        cs_sql_hash(s, 6, r->hash);
        r->size = (uint64_t)sqlite3_column_int64(s, 7);
        r->created = sqlite3_column_int64(s, 8);
    }
    return got;
}

static int before_add(struct cs_db *db, struct cs_op *op)
{
    struct cs_artifact_row *r = &op->row.artifact;
    cs_blob_hash(op->text, r->hash);
    r->size = op->text.len;
    return cs_blob_put(db, r->hash, op->text, &op->err);
}

static int run_add(struct cs_db *db, struct cs_op *op)
{
    const struct cs_artifact_row *r = &op->row.artifact;
    /* Another process may have removed it as nobody's, just before this was our turn to write. */
    if (cs_blob_put(db, r->hash, op->text, &op->err) < 0)
        return -1;
    if (cs_sql_do(db, CS_SQL_ARTIFACT_ADD, &op->err, "sssssshii", r->id, r->tenant, r->execution,
                  r->session, r->name, r->media_type, r->hash, (int64_t)r->size, r->created) >= 0)
        return 0;
    if (op->err.code == CS_CONFLICT)
        cs_fail(&op->err, CS_CONFLICT, "there is an artifact '%.*s' already", CS_STR_ARG(r->id));
    return -1;
}

static int run_get(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_ARTIFACT_GET, &op->err, "ss", op->id, op->tenant);
    if (read_rows(db, s, op) < 0)
        return -1;
    return op->count
               ? 0
               : cs_fail(&op->err, CS_MISSING, "there is no artifact '%.*s'",
                         (int)(op->id.len < CS_STORE_ID ? op->id.len : CS_STORE_ID), op->id.at);
}

static int after_get(struct cs_db *db, struct cs_op *op)
{
    const struct cs_artifact_row *r = op->rows;
    return cs_blob_get(db, r->hash, r->size, op->offset, op->limit, &op->arena, &op->content,
                       &op->err);
}

static int run_list(struct cs_db *db, struct cs_op *op)
{
    const struct cs_artifact_row *r = &op->row.artifact;
    int64_t limit = (int64_t)op->limit;
    sqlite3_stmt *s;
    if (r->execution.len)
        s = cs_sql_ask(db, CS_SQL_ARTIFACTS_OF_EXECUTION, &op->err, "ssi", r->execution, op->tenant,
                       limit);
    else if (r->session.len)
        s = cs_sql_ask(db, CS_SQL_ARTIFACTS_OF_SESSION, &op->err, "ssi", op->tenant, r->session,
                       limit);
    else
        s = cs_sql_ask(db, CS_SQL_ARTIFACTS, &op->err, "si", op->tenant, limit);
    return read_rows(db, s, op);
}

static const struct cs_op_kind kind_add = {.writes = true,
                                           .before = before_add,
                                           .run = run_add,
                                           .tell = cs_op_tell_stored},
                               kind_get = {.run = run_get, .after = after_get, .tell = tell},
                               kind_list = {.run = run_list, .tell = tell};

void cs_store_artifact_add(struct cs_store *store, const struct cs_artifact_row *row,
                           struct cs_str content, cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_add, ctx);
    struct cs_artifact_row *r = &op->row.artifact;
    op->done.stored = done;
    op->text = content;
    *r = *row;
    cs_op_keep(op, (struct cs_str *[]){&r->id, &r->tenant, &r->execution, &r->session, &r->name,
                                       &r->media_type, &op->text, NULL});
    cs_op_check(op, r->tenant, r->id);
    cs_op_ask(op);
}

void cs_store_artifact_get(struct cs_store *store, struct cs_str tenant, struct cs_str id,
                           uint64_t offset, size_t max, cs_artifact_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_get, ctx);
    op->done.artifacts = done;
    op->tenant = tenant;
    op->id = id;
    op->offset = offset;
    op->limit = max;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, &op->id, NULL});
    cs_op_ask(op);
}

void cs_store_artifacts(struct cs_store *store, struct cs_str tenant, struct cs_str session,
                        struct cs_str execution, size_t limit, cs_artifact_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_list, ctx);
    struct cs_artifact_row *r = &op->row.artifact;
    op->done.artifacts = done;
    op->tenant = tenant;
    r->session = session;
    r->execution = execution;
    op->limit = limit < CS_STORE_LIST ? limit : CS_STORE_LIST;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, &r->session, &r->execution, NULL});
    cs_op_ask(op);
}

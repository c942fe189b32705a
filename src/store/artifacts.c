/*
 * Artifacts: a row each, and the content in a file. And what executions have read: the lineage.
 *
 * When an execution is forgotten the contents of its artifacts go. A row whose artifact was read by
 * an execution that is still kept stays, as `gone`, and so do the sources of its own execution: the
 * lineage of what is kept is complete, back to its beginning.
 */
#include "base/mem.h"
#include "base/own.h"
#include "store/inside.h"

#define SOURCES_MOST 2000 /* of one execution, read at once */

static void tell(const struct cs_op *op)
{
    bool fine = !op->err.code && op->count;
    if (op->done.artifacts)
        op->done.artifacts(op->ctx, &op->err, fine ? op->rows : NULL, fine ? op->count : 0,
                           op->err.code ? (struct cs_str){0} : op->content);
}

void cs_db_artifact_row(sqlite3_stmt *s, struct cs_arena *arena, struct cs_artifact_row *r)
{
    struct cs_str *const texts[] = {&r->id,   &r->tenant,     &r->execution, &r->session,
                                    &r->name, &r->media_type, &r->kind};
    for (size_t i = 0; i < CS_COUNT(texts); i++)
        *texts[i] = cs_sql_str(s, (int)i, arena);
    cs_sql_hash(s, 7, r->hash);
    r->size = (uint64_t)sqlite3_column_int64(s, 8);
    r->created = sqlite3_column_int64(s, 9);
    r->gone = sqlite3_column_int(s, 10) != 0;
    r->came = cs_sql_str(s, 11, arena);
}

static int read_rows(struct cs_db *db, sqlite3_stmt *s, struct cs_op *op)
{
    int got;
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_artifact_row *r = cs_op_row(op, sizeof *r);
        cs_db_artifact_row(s, &op->arena, r);
    }
    return got;
}

static int missing(struct cs_op *op)
{
    return cs_fail(&op->err, CS_MISSING, "there is no artifact '%.*s'",
                   (int)(op->id.len < CS_STORE_ID ? op->id.len : CS_STORE_ID), op->id.at);
}

/* --- how much there is --- */

static int read_kept(struct cs_db *db, struct cs_str tenant, int64_t *bytes, int64_t *files,
                     struct cs_err *err)
{
    *bytes = *files = 0;
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_KEPT, err, "s", tenant);
    int got = cs_sql_next(db, s, err);
    if (got <= 0)
        return got;
    *bytes = sqlite3_column_int64(s, 0);
    *files = sqlite3_column_int64(s, 1);
    cs_sql_leave(s);
    return 0;
}

static int run_usage(struct cs_db *db, struct cs_op *op)
{
    int64_t bytes, files;
    if (read_kept(db, op->tenant, &bytes, &files, &op->err) < 0)
        return -1;
    op->number = (uint64_t)bytes;
    op->offset = (uint64_t)files;
    return 0;
}

static void tell_usage(const struct cs_op *op)
{
    if (op->done.usage)
        op->done.usage(op->ctx, &op->err, op->number, op->offset);
}

/* In the transaction of the add, so that two of them cannot both take the last of the room. */
static int check_quota(struct cs_db *db, struct cs_op *op)
{
    const struct cs_artifact_row *r = &op->row.artifact;
    int64_t bytes, files;
    if (!r->quota)
        return 0;
    if (read_kept(db, r->tenant, &bytes, &files, &op->err) < 0)
        return -1;
    if ((uint64_t)bytes <= r->quota && r->size <= r->quota - (uint64_t)bytes)
        return 0;
    return cs_fail(&op->err, CS_LIMIT,
                   "the tenant keeps %lld bytes of artifacts, and %llu more would be above its "
                   "quota of %llu; remove some, or raise artifacts.quota",
                   (long long)bytes, (unsigned long long)r->size, (unsigned long long)r->quota);
}

/* --- add, get, list --- */

static int pool_add(const struct cs_db *db, struct cs_op *op)
{
    struct cs_artifact_row *r = &op->row.artifact;
    cs_blob_hash(op->text, r->hash);
    r->size = op->text.len;
    return cs_blob_put(db, r->hash, op->text, &op->err);
}

static int run_add(struct cs_db *db, struct cs_op *op)
{
    const struct cs_artifact_row *r = &op->row.artifact;
    struct cs_str kind = r->kind.len ? r->kind : CS_STR("result");
    if (check_quota(db, op) < 0)
        return -1;
    if (cs_sql_do(db, CS_SQL_ARTIFACT_ADD, &op->err, "ssssssshiis", r->id, r->tenant, r->execution,
                  r->session, r->name, r->media_type, kind, r->hash, (int64_t)r->size, r->created,
                  r->came) >= 0)
        return 0;
    if (op->err.code == CS_CONFLICT)
        cs_fail(&op->err, CS_CONFLICT, "there is an artifact '%.*s' already", CS_STR_ARG(r->id));
    return -1;
}

static void tell_added(const struct cs_op *op)
{
    bool fine = !op->err.code;
    if (op->done.artifacts)
        op->done.artifacts(op->ctx, &op->err, fine ? &op->row.artifact : NULL, fine ? 1 : 0,
                           (struct cs_str){0});
}

static int run_get(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_ARTIFACT_GET, &op->err, "ss", op->id, op->tenant);
    if (read_rows(db, s, op) < 0)
        return -1;
    if (!op->count)
        return missing(op);
    const struct cs_artifact_row *r = op->rows;
    if (!r->gone || !op->limit)
        return 0;
    return cs_fail(&op->err, CS_MISSING,
                   "the content of '%.*s' was removed; it is known as something that others were "
                   "made from",
                   CS_STR_ARG(r->id));
}

static int late_get(const struct cs_db *db, struct cs_op *op)
{
    const struct cs_artifact_row *r = op->rows;
    if (!op->limit)
        return 0;
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

/* --- remove, forget --- */

static int run_remove(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_ARTIFACT_GET, &op->err, "ss", op->id, op->tenant);
    if (read_rows(db, s, op) < 0)
        return -1;
    const struct cs_artifact_row *r = op->rows;
    if (!op->count || r->gone)
        return missing(op);
    s = cs_sql_ask(db, CS_SQL_ARTIFACT_READERS, &op->err, "s", op->id);
    int read = cs_sql_next(db, s, &op->err);
    cs_sql_leave(s);
    if (read < 0 || cs_sql_do(db, CS_SQL_TRASH_ADD, &op->err, "h", r->hash) < 0)
        return -1;
    enum cs_statement how = read ? CS_SQL_ARTIFACT_GONE : CS_SQL_ARTIFACT_END;
    return cs_sql_do(db, how, &op->err, "ss", op->id, op->tenant) < 0 ? -1 : 0;
}

int cs_db_artifacts_age(struct cs_db *db, int64_t when, int64_t step, struct cs_err *err)
{
    static const enum cs_statement steps[] = {CS_SQL_OLD_TRASH, CS_SQL_OLD_ARTIFACTS,
                                              CS_SQL_OLD_ALONE};
    for (size_t i = 0; i < CS_COUNT(steps); i++)
        if (cs_sql_do(db, steps[i], err, "ii", when, step) < 0)
            return -1;
    return 0;
}

int cs_db_artifacts_sweep(struct cs_db *db, int64_t step, struct cs_err *err)
{
    int rows = cs_sql_do(db, CS_SQL_OLD_GONE, err, "i", step);
    int sources = rows < 0 ? -1 : cs_sql_do(db, CS_SQL_OLD_SOURCES, err, "i", step);
    return sources < 0 ? -1 : rows + sources;
}

/* --- sources --- */

void cs_db_source_row(sqlite3_stmt *s, struct cs_arena *arena, struct cs_source *row)
{
    row->kind = cs_sql_str(s, 0, arena);
    row->name = cs_sql_str(s, 1, arena);
    cs_sql_hash(s, 2, row->hash);
    cs_sql_hash(s, 3, row->arguments);
}

static int run_sources_add(struct cs_db *db, struct cs_op *op)
{
    for (size_t i = 0; i < op->limit; i++) {
        const struct cs_source *r = &op->sources[i];
        if (cs_sql_do(db, CS_SQL_SOURCE_ADD, &op->err, "sssshh", op->id, op->tenant, r->kind,
                      r->name, r->hash, r->arguments) < 0)
            return -1;
    }
    return 0;
}

static int run_sources(struct cs_db *db, struct cs_op *op)
{
    int got;
    sqlite3_stmt *s =
        cs_sql_ask(db, CS_SQL_SOURCES, &op->err, "ssi", op->id, op->tenant, (int64_t)SOURCES_MOST);
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_source *r = cs_op_row(op, sizeof *r);
        cs_db_source_row(s, &op->arena, r);
    }
    return got;
}

static void tell_sources(const struct cs_op *op)
{
    bool fine = !op->err.code && op->count;
    if (op->done.sources)
        op->done.sources(op->ctx, &op->err, fine ? op->rows : NULL, fine ? op->count : 0);
}

/* --- the operations --- */

static const struct cs_op_kind
    kind_add = {.writes = true, .pool = pool_add, .run = run_add, .tell = tell_added},
    kind_get = {.run = run_get, .late = late_get, .tell = tell},
    kind_list = {.run = run_list, .tell = tell},
    kind_remove = {.writes = true, .steps = true, .run = run_remove, .tell = cs_op_tell_stored},
    kind_usage = {.run = run_usage, .tell = tell_usage},
    kind_sources_add = {.writes = true,
                        .steps = true,
                        .run = run_sources_add,
                        .tell = cs_op_tell_stored},
    kind_sources = {.run = run_sources, .tell = tell_sources};

void cs_store_artifact_add(struct cs_store *store, const struct cs_artifact_row *row,
                           struct cs_str content, cs_artifact_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_add, ctx);
    struct cs_artifact_row *r = &op->row.artifact;
    op->done.artifacts = done;
    op->text = content;
    *r = *row;
    cs_op_keep(op, (struct cs_str *[]){&r->id, &r->tenant, &r->execution, &r->session, &r->name,
                                       &r->media_type, &r->kind, &r->came, &op->text, NULL});
    cs_op_check(op, r->tenant, r->id);
    cs_op_ask(op);
}

static struct cs_op *of_one(struct cs_store *store, const struct cs_op_kind *kind,
                            struct cs_str tenant, struct cs_str id, void *ctx)
{
    struct cs_op *op = cs_op_new(store, kind, ctx);
    op->tenant = tenant;
    op->id = id;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, &op->id, NULL});
    return op;
}

void cs_store_artifact_get(struct cs_store *store, struct cs_str tenant, struct cs_str id,
                           uint64_t offset, size_t max, cs_artifact_found *done, void *ctx)
{
    struct cs_op *op = of_one(store, &kind_get, tenant, id, ctx);
    op->done.artifacts = done;
    op->offset = offset;
    op->limit = max;
    cs_op_ask(op);
}

void cs_store_artifact_remove(struct cs_store *store, struct cs_str tenant, struct cs_str id,
                              cs_stored *done, void *ctx)
{
    struct cs_op *op = of_one(store, &kind_remove, tenant, id, ctx);
    op->done.stored = done;
    cs_op_ask(op);
}

void cs_store_artifact_usage(struct cs_store *store, struct cs_str tenant, cs_usage_found *done,
                             void *ctx)
{
    struct cs_op *op = of_one(store, &kind_usage, tenant, (struct cs_str){0}, ctx);
    op->done.usage = done;
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

void cs_store_sources_add(struct cs_store *store, struct cs_str tenant, struct cs_str execution,
                          const struct cs_source *sources, size_t count, cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_sources_add, ctx);
    CS_AUTO_FREE struct cs_str **texts = cs_calloc(2 * count + 3, sizeof *texts);
    op->done.stored = done;
    op->tenant = tenant;
    op->id = execution;
    op->limit = count;
    op->sources = cs_calloc(count ? count : 1, sizeof *op->sources);
    texts[0] = &op->tenant;
    texts[1] = &op->id;
    for (size_t i = 0; i < count; i++) {
        op->sources[i] = sources[i];
        texts[2 + 2 * i] = &op->sources[i].kind;
        texts[3 + 2 * i] = &op->sources[i].name;
    }
    cs_op_keep(op, texts);
    cs_op_check(op, tenant, execution);
    cs_op_ask(op);
}

void cs_store_sources(struct cs_store *store, struct cs_str tenant, struct cs_str execution,
                      cs_sources_found *done, void *ctx)
{
    struct cs_op *op = of_one(store, &kind_sources, tenant, execution, ctx);
    op->done.sources = done;
    cs_op_ask(op);
}

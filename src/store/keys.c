/* API keys. */
#include "base/time.h"
#include "store/inside.h"

static void tell(const struct cs_op *op)
{
    if (op->done.keys)
        op->done.keys(op->ctx, &op->err, op->count ? op->rows : NULL, op->err.code ? 0 : op->count);
}

static int read_rows(struct cs_db *db, sqlite3_stmt *s, struct cs_op *op)
{
    int got;
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_key_row *r = cs_op_row(op, sizeof *r);
        r->id = cs_sql_str(s, 0, &op->arena);
        r->name = cs_sql_str(s, 1, &op->arena);
        r->tenant = cs_sql_str(s, 2, &op->arena);
        r->role = cs_sql_str(s, 3, &op->arena);
        cs_sql_hash(s, 4, r->hash);
        r->created = sqlite3_column_int64(s, 5);
        r->expires = sqlite3_column_int64(s, 6);
        r->revoked = sqlite3_column_int64(s, 7);
        r->used = sqlite3_column_int64(s, 8);
        r->reveal = sqlite3_column_int64(s, 9) == 1;
    }
    return got;
}

static int run_add(struct cs_db *db, struct cs_op *op)
{
    const struct cs_key_row *r = &op->row.key;
    if (cs_sql_do(db, CS_SQL_KEY_ADD, &op->err, "sssshiiiii", r->id, r->name, r->tenant, r->role,
                  r->hash, r->created, r->expires, r->revoked, r->used, (int64_t)r->reveal) >= 0)
        return 0;
    if (op->err.code == CS_CONFLICT)
        cs_fail(&op->err, CS_CONFLICT, "there is a key '%.*s' already", CS_STR_ARG(r->name));
    return -1;
}

static int run_get(struct cs_db *db, struct cs_op *op)
{
    if (read_rows(db, cs_sql_ask(db, CS_SQL_KEY_GET, &op->err, "s", op->id), op) < 0)
        return -1;
    return op->count ? 0 : cs_fail(&op->err, CS_MISSING, "there is no such key");
}

static int run_all(struct cs_db *db, struct cs_op *op)
{
    return read_rows(db, cs_sql_ask(db, CS_SQL_KEYS, &op->err, ""), op);
}

/* The id of the key that is in use under this name, or else under this id. */
static int find(struct cs_db *db, struct cs_op *op, struct cs_str *id)
{
    static const enum cs_statement ways[] = {CS_SQL_KEY_BY_NAME, CS_SQL_KEY_BY_ID};
    for (size_t i = 0; i < CS_COUNT(ways); i++) {
        sqlite3_stmt *s = cs_sql_ask(db, ways[i], &op->err, "s", op->id);
        int got = cs_sql_next(db, s, &op->err);
        if (got < 0)
            return -1;
        if (got == 0)
            continue;
        *id = cs_sql_str(s, 0, &op->arena);
        cs_sql_leave(s);
        return 0;
    }
    return cs_fail(&op->err, CS_MISSING, "there is no key '%.*s' in use", CS_STR_ARG(op->id));
}

static int run_revoke(struct cs_db *db, struct cs_op *op)
{
    struct cs_str id;
    if (find(db, op, &id) < 0)
        return -1;
    return cs_sql_do(db, CS_SQL_KEY_REVOKE, &op->err, "is", op->when, id) < 0 ? -1 : 0;
}

static int run_rotate(struct cs_db *db, struct cs_op *op)
{
    const struct cs_key_row *r = &op->row.key;
    struct cs_str id;
    if (find(db, op, &id) < 0)
        return -1;
    return cs_sql_do(db, CS_SQL_KEY_ROTATE, &op->err, "shiis", r->id, r->hash, r->expires,
                     cs_time_ms(), id) < 0
               ? -1
               : 0;
}

static int run_used(struct cs_db *db, struct cs_op *op)
{
    return cs_sql_do(db, CS_SQL_KEY_USED, &op->err, "is", op->when, op->id) < 0 ? -1 : 0;
}

static const struct cs_op_kind
    kind_add = {.writes = true, .run = run_add, .tell = cs_op_tell_stored},
    kind_get = {.run = run_get, .tell = tell}, kind_all = {.run = run_all, .tell = tell},
    kind_revoke = {.writes = true, .run = run_revoke, .tell = cs_op_tell_stored},
    kind_rotate = {.writes = true, .run = run_rotate, .tell = cs_op_tell_stored},
    kind_used = {.writes = true, .run = run_used, .tell = cs_op_tell_stored};

void cs_store_key_add(struct cs_store *s, const struct cs_key_row *row, cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(s, &kind_add, ctx);
    op->done.stored = done;
    struct cs_key_row *r = &op->row.key;
    *r = *row;
    cs_op_keep(op, (struct cs_str *[]){&r->id, &r->name, &r->tenant, &r->role, NULL});
    cs_op_check(op, r->tenant, r->id);
    cs_op_ask(op);
}

void cs_store_key_get(struct cs_store *s, struct cs_str id, cs_key_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(s, &kind_get, ctx);
    op->done.keys = done;
    op->id = id;
    cs_op_keep(op, (struct cs_str *[]){&op->id, NULL});
    cs_op_ask(op);
}

void cs_store_keys(struct cs_store *s, cs_key_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(s, &kind_all, ctx);
    op->done.keys = done;
    cs_op_ask(op);
}

void cs_store_key_revoke(struct cs_store *s, struct cs_str name, int64_t when, cs_stored *done,
                         void *ctx)
{
    struct cs_op *op = cs_op_new(s, &kind_revoke, ctx);
    op->done.stored = done;
    op->id = name;
    op->when = when ? when : cs_time_ms();
    cs_op_keep(op, (struct cs_str *[]){&op->id, NULL});
    cs_op_check(op, op->tenant, op->id);
    cs_op_ask(op);
}

void cs_store_key_rotate(struct cs_store *s, struct cs_str name, struct cs_str new_id,
                         const unsigned char hash[32], int64_t expires, cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(s, &kind_rotate, ctx);
    op->done.stored = done;
    op->id = name;
    op->row.key = (struct cs_key_row){.id = new_id, .expires = expires};
    memcpy(op->row.key.hash, hash, 32);
    cs_op_keep(op, (struct cs_str *[]){&op->id, &op->row.key.id, NULL});
    cs_op_check(op, op->row.key.id, op->id);
    cs_op_ask(op);
}

void cs_store_key_used(struct cs_store *s, struct cs_str id, int64_t when)
{
    struct cs_op *op = cs_op_new(s, &kind_used, NULL);
    op->id = id;
    op->when = when;
    cs_op_keep(op, (struct cs_str *[]){&op->id, NULL});
    cs_op_ask(op);
}

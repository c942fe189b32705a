/* Sealed entries of vaults. They are encrypted, and still nothing of them stays behind: SQLite is
 * told to write zeros over what it deletes (sql.c). */
#include "store/inside.h"

#define MOST_BYTES (256u << 20) /* of one vault: four times its values */

/* With what had come in, which is kept beside it. */
static int end(struct cs_db *db, struct cs_str owner, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf flows = {0};
    cs_buf_printf(&flows, "%s%.*s", CS_FLOWS_OWNER, CS_STR_ARG(owner));
    if (cs_sql_do(db, CS_SQL_VAULT_END, err, "s", owner) < 0)
        return -1;
    return cs_sql_do(db, CS_SQL_VAULT_END, err, "s", cs_buf_str(&flows)) < 0 ? -1 : 0;
}

int cs_db_vault_wipe(struct cs_db *db, struct cs_str tenant, struct cs_str id, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf owner = {0};
    cs_buf_printf(&owner, "%.*s/%.*s", CS_STR_ARG(tenant), CS_STR_ARG(id));
    return end(db, cs_buf_str(&owner), err);
}

int cs_db_vaults_age(struct cs_db *db, int64_t when, int64_t step, struct cs_err *err)
{
    return cs_sql_do(db, CS_SQL_OLD_VAULTS, err, "ii", when, step) < 0 ? -1 : 0;
}

static void tell(const struct cs_op *op)
{
    if (op->done.vault)
        op->done.vault(op->ctx, &op->err, op->err.code ? NULL : op->rows,
                       op->err.code ? 0 : op->count);
}

static int run_add(struct cs_db *db, struct cs_op *op)
{
    return cs_sql_do(db, CS_SQL_VAULT_ADD, &op->err, "sb", op->id, op->text) < 0 ? -1 : 0;
}

static int run_get(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_VAULT_GET, &op->err, "s", op->id);
    size_t bytes = 0;
    int got;
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_str sealed = cs_sql_bytes(s, 0);
        bytes += sealed.len;
        if (bytes > MOST_BYTES) {
            cs_sql_leave(s);
            return cs_fail(&op->err, CS_LIMIT, "the vault of '%.*s' has more than %u MiB",
                           CS_STR_ARG(op->id), MOST_BYTES >> 20);
        }
        *(struct cs_str *)cs_op_row(op, sizeof sealed) = cs_arena_dup(&op->arena, sealed);
    }
    return got;
}

static int run_wipe(struct cs_db *db, struct cs_op *op)
{
    return end(db, op->id, &op->err);
}

static const struct cs_op_kind kind_add = {.writes = true,
                                           .run = run_add,
                                           .tell = cs_op_tell_stored},
                               kind_get = {.run = run_get, .tell = tell},
                               kind_wipe = {
                                   .writes = true, .run = run_wipe, .tell = cs_op_tell_stored};

static struct cs_op *of(struct cs_store *store, const struct cs_op_kind *kind, struct cs_str owner,
                        struct cs_str sealed, void *ctx)
{
    struct cs_op *op = cs_op_new(store, kind, ctx);
    op->id = owner;
    op->text = sealed;
    cs_op_keep(op, (struct cs_str *[]){&op->id, &op->text, NULL});
    if (owner.len == 0 || owner.len > CS_VAULT_OWNER)
        cs_fail(&op->err, CS_INVALID, "the owner of a vault has a name of 1 to %d bytes",
                CS_VAULT_OWNER);
    return op;
}

void cs_store_vault_add(struct cs_store *store, struct cs_str owner, struct cs_str sealed,
                        cs_stored *done, void *ctx)
{
    struct cs_op *op = of(store, &kind_add, owner, sealed, ctx);
    op->done.stored = done;
    cs_op_ask(op);
}

void cs_store_vault_get(struct cs_store *store, struct cs_str owner, cs_vault_found *done,
                        void *ctx)
{
    struct cs_op *op = of(store, &kind_get, owner, CS_STR(""), ctx);
    op->done.vault = done;
    cs_op_ask(op);
}

void cs_store_vault_wipe(struct cs_store *store, struct cs_str owner, cs_stored *done, void *ctx)
{
    struct cs_op *op = of(store, &kind_wipe, owner, CS_STR(""), ctx);
    op->done.stored = done;
    cs_op_ask(op);
}

/* The ledger: entries are linked and kept, read again without a loop, and removed from its start.
 */
#include "store/inside.h"

static const struct cs_op_kind kind_append = {.writes = true, .tell = cs_op_tell_stored};

void cs_store_set_chain(struct cs_store *store, const struct cs_chain *chain)
{
    (void)store;
    (void)chain;
}

void cs_store_append(struct cs_store *store, const struct cs_entry *entries, size_t count,
                     cs_stored *done, void *ctx)
{
    (void)entries;
    (void)count;
    struct cs_op *op = cs_op_new(store, &kind_append, ctx);
    op->done.stored = done;
    cs_fail(&op->err, CS_SYSTEM, "not yet");
    cs_op_ask(op);
}

int cs_store_ledger_read(const char *path, const struct cs_ledger_filter *filter,
                         struct cs_ledger_base *base,
                         bool (*visit)(void *ctx, const struct cs_entry_row *row), void *ctx,
                         struct cs_err *err)
{
    (void)path;
    (void)filter;
    (void)base;
    (void)visit;
    (void)ctx;
    return cs_fail(err, CS_SYSTEM, "not yet");
}

int cs_store_checkpoints_read(const char *path,
                              bool (*visit)(void *ctx, const struct cs_checkpoint_row *row),
                              void *ctx, struct cs_err *err)
{
    (void)path;
    (void)visit;
    (void)ctx;
    return cs_fail(err, CS_SYSTEM, "not yet");
}

void cs_store_ledger_purge(struct cs_store *store, uint64_t seq, cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_append, ctx);
    op->done.stored = done;
    op->number = seq;
    cs_fail(&op->err, CS_SYSTEM, "not yet");
    cs_op_ask(op);
}

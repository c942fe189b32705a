/* Journals of executions, in parts. */
#include "store/inside.h"

static void tell(const struct cs_op *op)
{
    if (op->done.journal)
        op->done.journal(op->ctx, &op->err, op->content);
}

static const struct cs_op_kind kind_append = {.writes = true, .tell = cs_op_tell_stored},
                               kind_get = {.tell = tell};

void cs_store_journal_append(struct cs_store *store, struct cs_str execution, struct cs_str part,
                             const unsigned char (*blobs)[32], size_t blob_count, cs_stored *done,
                             void *ctx)
{
    (void)execution;
    (void)part;
    (void)blobs;
    (void)blob_count;
    struct cs_op *op = cs_op_new(store, &kind_append, ctx);
    op->done.stored = done;
    cs_fail(&op->err, CS_SYSTEM, "not yet");
    cs_op_ask(op);
}

void cs_store_journal_get(struct cs_store *store, struct cs_str tenant, struct cs_str execution,
                          cs_journal_found *done, void *ctx)
{
    (void)tenant;
    (void)execution;
    struct cs_op *op = cs_op_new(store, &kind_get, ctx);
    op->done.journal = done;
    cs_fail(&op->err, CS_MISSING, "not yet");
    cs_op_ask(op);
}

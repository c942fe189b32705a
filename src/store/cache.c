/* Cached answers. */
#include "store/inside.h"

static void tell(const struct cs_op *op)
{
    if (op->done.cached)
        op->done.cached(op->ctx, &op->err, op->err.code ? NULL : op->rows);
}

static const struct cs_op_kind kind_put = {.writes = true, .tell = cs_op_tell_stored},
                               kind_get = {.tell = tell};

void cs_store_cache_put(struct cs_store *store, const struct cs_cached_answer *row, cs_stored *done,
                        void *ctx)
{
    (void)row;
    struct cs_op *op = cs_op_new(store, &kind_put, ctx);
    op->done.stored = done;
    cs_fail(&op->err, CS_SYSTEM, "not yet");
    cs_op_ask(op);
}

void cs_store_cache_get(struct cs_store *store, struct cs_str tenant, const unsigned char key[32],
                        cs_cached_found *done, void *ctx)
{
    (void)tenant;
    (void)key;
    struct cs_op *op = cs_op_new(store, &kind_get, ctx);
    op->done.cached = done;
    cs_fail(&op->err, CS_MISSING, "not yet");
    cs_op_ask(op);
}

void cs_store_cache_forget(struct cs_store *store, struct cs_str tenant, int64_t now,
                           cs_stored *done, void *ctx)
{
    (void)tenant;
    (void)now;
    struct cs_op *op = cs_op_new(store, &kind_put, ctx);
    op->done.stored = done;
    cs_fail(&op->err, CS_SYSTEM, "not yet");
    cs_op_ask(op);
}

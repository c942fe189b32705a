/* Measures of executions, and the sums that they are folded into. */
#include "store/inside.h"

static void tell_measures(const struct cs_op *op)
{
    if (op->done.measures)
        op->done.measures(op->ctx, &op->err, op->count ? op->rows : NULL,
                          op->err.code ? 0 : op->count);
}

static void tell_sums(const struct cs_op *op)
{
    if (op->done.sums)
        op->done.sums(op->ctx, &op->err, op->count ? op->rows : NULL, op->err.code ? 0 : op->count);
}

static const struct cs_op_kind kind_measures = {.tell = tell_measures},
                               kind_put = {.writes = true, .tell = cs_op_tell_stored},
                               kind_sums = {.tell = tell_sums};

void cs_store_measures(struct cs_store *store, size_t limit, cs_measures_found *done, void *ctx)
{
    (void)limit;
    struct cs_op *op = cs_op_new(store, &kind_measures, ctx);
    op->done.measures = done;
    cs_fail(&op->err, CS_SYSTEM, "not yet");
    cs_op_ask(op);
}

void cs_store_sums_put(struct cs_store *store, const struct cs_sum *sums, size_t sum_count,
                       uint64_t first, uint64_t last, size_t count, cs_stored *done, void *ctx)
{
    (void)sums;
    (void)sum_count;
    (void)first;
    (void)last;
    (void)count;
    struct cs_op *op = cs_op_new(store, &kind_put, ctx);
    op->done.stored = done;
    cs_fail(&op->err, CS_SYSTEM, "not yet");
    cs_op_ask(op);
}

void cs_store_sums(struct cs_store *store, struct cs_str tenant, int64_t from, cs_sums_found *done,
                   void *ctx)
{
    (void)tenant;
    (void)from;
    struct cs_op *op = cs_op_new(store, &kind_sums, ctx);
    op->done.sums = done;
    cs_fail(&op->err, CS_SYSTEM, "not yet");
    cs_op_ask(op);
}

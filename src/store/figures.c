/* Measures of executions, and the sums that they are folded into. */
#include "store/inside.h"

#define MEASURES_MOST 10000
#define SUMS_MOST     100000 /* eleven years of one tenant's hours */

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

int cs_db_measure(struct cs_db *db, const struct cs_measure *m, struct cs_err *err)
{
    return cs_sql_do(db, CS_SQL_MEASURE_ADD, err, "ssssiiiiiiiiis", m->tenant, m->status,
                     m->error_type, m->tools, m->finished, (int64_t)m->wall_us, (int64_t)m->cpu_us,
                     (int64_t)m->memory_peak, (int64_t)m->calls, (int64_t)m->calls_failed,
                     (int64_t)m->calls_denied, (int64_t)m->tokens_saved, (int64_t)m->cached,
                     m->masked) < 0
               ? -1
               : 0;
}

static int run_measures(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_MEASURES, &op->err, "i", (int64_t)op->limit);
    int got;
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_measure *m = cs_op_row(op, sizeof *m);
        struct cs_str *const texts[] = {&m->tenant, &m->status, &m->error_type, &m->tools};
        uint64_t *const numbers[] = {&m->wall_us,      &m->cpu_us,       &m->memory_peak, &m->calls,
                                     &m->calls_failed, &m->calls_denied, &m->tokens_saved};
        m->seq = (uint64_t)sqlite3_column_int64(s, 0);
        for (size_t i = 0; i < CS_COUNT(texts); i++)
            *texts[i] = cs_sql_str(s, (int)i + 1, &op->arena);
        m->finished = sqlite3_column_int64(s, 5);
        for (size_t i = 0; i < CS_COUNT(numbers); i++)
            *numbers[i] = (uint64_t)sqlite3_column_int64(s, (int)i + 6);
        m->cached = sqlite3_column_int(s, 13) != 0;
        m->masked = cs_sql_str(s, 14, &op->arena);
    }
    return got;
}

/* The measures go first: whether all of them are there decides. */
static int run_put(struct cs_db *db, struct cs_op *op)
{
    int gone = cs_sql_do(db, CS_SQL_MEASURES_END, &op->err, "ii", (int64_t)op->number,
                         (int64_t)op->offset);
    if (gone < 0)
        return -1;
    if ((size_t)gone != op->limit)
        return cs_fail(&op->err, CS_CONFLICT, "somebody else has folded these measures");
    for (size_t i = 0; i < op->sum_count; i++)
        if (cs_sql_do(db, CS_SQL_SUM_PUT, &op->err, "sis", op->sums[i].tenant, op->sums[i].start,
                      op->sums[i].value) < 0)
            return -1;
    return 0;
}

static int run_sums(struct cs_db *db, struct cs_op *op)
{
    int64_t most = SUMS_MOST;
    sqlite3_stmt *s = op->tenant.len ? cs_sql_ask(db, CS_SQL_SUMS_OF_TENANT, &op->err, "sii",
                                                  op->tenant, op->when, most)
                                     : cs_sql_ask(db, CS_SQL_SUMS, &op->err, "ii", op->when, most);
    int got;
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_sum *sum = cs_op_row(op, sizeof *sum);
        sum->tenant = cs_sql_str(s, 0, &op->arena);
        sum->start = sqlite3_column_int64(s, 1);
        sum->value = cs_sql_str(s, 2, &op->arena);
    }
    return got;
}

static const struct cs_op_kind kind_measures = {.run = run_measures, .tell = tell_measures},
                               kind_put = {.writes = true,
                                           .steps = true,
                                           .run = run_put,
                                           .tell = cs_op_tell_stored},
                               kind_sums = {.run = run_sums, .tell = tell_sums};

void cs_store_measures(struct cs_store *store, size_t limit, cs_measures_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_measures, ctx);
    op->done.measures = done;
    op->limit = limit < MEASURES_MOST ? limit : MEASURES_MOST;
    cs_op_ask(op);
}

void cs_store_sums_put(struct cs_store *store, const struct cs_sum *sums, size_t sum_count,
                       uint64_t first, uint64_t last, size_t count, cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_put, ctx);
    op->done.stored = done;
    op->number = first;
    op->offset = last;
    op->limit = count;
    size_t bytes = sum_count * sizeof *sums;
    for (size_t i = 0; i < sum_count; i++)
        bytes += sums[i].tenant.len + sums[i].value.len;
    cs_op_room(op, bytes, 1 + 2 * sum_count);
    struct cs_sum *copy = cs_op_give(op, sums, sum_count * sizeof *sums);
    for (size_t i = 0; i < sum_count; i++) {
        copy[i].tenant.at = cs_op_give(op, sums[i].tenant.at, sums[i].tenant.len);
        copy[i].value.at = cs_op_give(op, sums[i].value.at, sums[i].value.len);
    }
    op->sums = copy;
    op->sum_count = sum_count;
    cs_op_ask(op);
}

void cs_store_sums(struct cs_store *store, struct cs_str tenant, int64_t from, cs_sums_found *done,
                   void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_sums, ctx);
    op->done.sums = done;
    op->tenant = tenant;
    op->when = from;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, NULL});
    cs_op_ask(op);
}

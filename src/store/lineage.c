/*
 * Where an artifact comes from, and what was made from it: a walk over artifacts, the executions
 * that made them, and what those had read. In the store's thread, so that it is of one moment.
 */
#include <string.h>

#include "base/mem.h"
#include "store/inside.h"

#define DEPTH_DEFAULT 32
#define DEPTH_MOST    1000
#define NODES_DEFAULT 1000
#define NODES_MOST    10000

/* Everything is in the operation's arena or, growing, in lists that are freed with it. */
struct walk {
    struct cs_db *db;
    struct cs_op *op;
    struct cs_artifact_row *artifacts;
    uint32_t *depths; /* of each of them */
    bool *downs;      /* it was found on the way down */
    struct cs_execution_row *executions;
    struct cs_lineage_source *sources;
    size_t artifact_count, execution_count, source_count;
    uint32_t nodes, depth;
    bool cut;
};

static bool has_room(struct walk *w)
{
    if (w->artifact_count + w->execution_count + w->source_count < w->nodes)
        return true;
    w->cut = true;
    return false;
}

static bool knows_artifact(const struct walk *w, struct cs_str id)
{
    for (size_t i = 0; i < w->artifact_count; i++)
        if (cs_str_eq(w->artifacts[i].id, id))
            return true;
    return false;
}

static void add_artifact(struct walk *w, const struct cs_artifact_row *row, uint32_t depth,
                         bool down)
{
    if (knows_artifact(w, row->id) || !has_room(w))
        return;
    w->artifacts[w->artifact_count] = *row;
    w->depths[w->artifact_count] = depth;
    w->downs[w->artifact_count++] = down;
}

/* 1: there is one, 0: none, -1: failed. */
static int find_artifact(struct walk *w, struct cs_str id, struct cs_artifact_row *row)
{
    struct cs_op *op = w->op;
    sqlite3_stmt *s = cs_sql_ask(w->db, CS_SQL_ARTIFACT_GET, &op->err, "ss", id, op->tenant);
    int got = cs_sql_next(w->db, s, &op->err);
    if (got > 0)
        cs_db_artifact_row(s, &op->arena, row);
    cs_sql_leave(s);
    return got;
}

static int read_execution(struct walk *w, struct cs_str id, struct cs_execution_row *row)
{
    struct cs_op *op = w->op;
    sqlite3_stmt *s = cs_sql_ask(w->db, CS_SQL_EXECUTION_SHORT, &op->err, "ss", id, op->tenant);
    int got = cs_sql_next(w->db, s, &op->err);
    *row = (struct cs_execution_row){.id = id};
    if (got > 0) {
        row->status = cs_sql_str(s, 0, &op->arena);
        row->language = cs_sql_str(s, 1, &op->arena);
        row->session = cs_sql_str(s, 2, &op->arena);
        row->principal = cs_sql_str(s, 3, &op->arena);
        row->created = sqlite3_column_int64(s, 4);
        row->finished = sqlite3_column_int64(s, 5);
    }
    cs_sql_leave(s);
    return got < 0 ? -1 : 0;
}

static int read_sources(struct walk *w, size_t execution)
{
    struct cs_op *op = w->op;
    int got;
    sqlite3_stmt *s = cs_sql_ask(w->db, CS_SQL_SOURCES, &op->err, "ssi",
                                 w->executions[execution].id, op->tenant, (int64_t)w->nodes);
    while ((got = cs_sql_next(w->db, s, &op->err)) > 0) {
        if (!has_room(w)) {
            cs_sql_leave(s);
            return 0;
        }
        struct cs_lineage_source *one = &w->sources[w->source_count++];
        one->execution = execution;
        cs_db_source_row(s, &op->arena, &one->source);
    }
    return got;
}

/* With all that it has read. 1: it is new, 0: it was known, or there is no room. */
static int add_execution(struct walk *w, struct cs_str id, size_t *index)
{
    for (*index = 0; *index < w->execution_count; ++*index)
        if (cs_str_eq(w->executions[*index].id, id))
            return 0;
    if (!has_room(w))
        return 0;
    if (read_execution(w, id, &w->executions[*index]) < 0)
        return -1;
    w->execution_count++;
    return read_sources(w, *index) < 0 ? -1 : 1;
}

/* The execution that made it, and the artifacts that had been read there. */
static int go_up(struct walk *w, size_t artifact)
{
    uint32_t depth = w->depths[artifact] + 1;
    size_t execution, first = w->source_count;
    int added = add_execution(w, w->artifacts[artifact].execution, &execution);
    if (added <= 0)
        return added;
    for (size_t i = first; i < w->source_count; i++) {
        const struct cs_source *s = &w->sources[i].source;
        struct cs_artifact_row row = {0};
        if (!cs_str_is(s->kind, "artifact") || knows_artifact(w, s->name))
            continue;
        int got = find_artifact(w, s->name, &row);
        if (got < 0)
            return -1;
        if (got > 0)
            add_artifact(w, &row, depth, false);
    }
    return 0;
}

static int made_by(struct walk *w, struct cs_str execution, uint32_t depth)
{
    struct cs_op *op = w->op;
    int got;
    sqlite3_stmt *s = cs_sql_ask(w->db, CS_SQL_ARTIFACTS_MADE_BY, &op->err, "ssi", execution,
                                 op->tenant, (int64_t)w->nodes);
    while ((got = cs_sql_next(w->db, s, &op->err)) > 0) {
        struct cs_artifact_row row = {0};
        cs_db_artifact_row(s, &op->arena, &row);
        add_artifact(w, &row, depth, true);
    }
    return got;
}

/* The executions that have read it, and what they made. */
static int go_down(struct walk *w, size_t artifact)
{
    struct cs_op *op = w->op;
    struct cs_str readers[256];
    size_t count = 0, index;
    int got = 1;
    sqlite3_stmt *s =
        cs_sql_ask(w->db, CS_SQL_ARTIFACT_READ_BY, &op->err, "ssi", w->artifacts[artifact].id,
                   op->tenant, (int64_t)CS_COUNT(readers) + 1);
    while (count < CS_COUNT(readers) && (got = cs_sql_next(w->db, s, &op->err)) > 0)
        readers[count++] = cs_sql_str(s, 0, &op->arena);
    if (count == CS_COUNT(readers) && got > 0)
        w->cut = true;
    cs_sql_leave(s);
    for (size_t i = 0; got >= 0 && i < count; i++) {
        got = add_execution(w, readers[i], &index);
        if (got > 0)
            got = made_by(w, readers[i], w->depths[artifact] + 1);
    }
    return got < 0 ? -1 : 0;
}

static int walk_all(struct walk *w)
{
    const struct cs_lineage_want *want = &w->op->row.lineage;
    for (size_t i = 0; i < w->artifact_count; i++) {
        if (w->depths[i] >= w->depth) {
            w->cut = true; /* perhaps: nobody has looked */
            continue;
        }
        if (want->down && (i == 0 || w->downs[i]) && go_down(w, i) < 0)
            return -1;
        if (want->up && (i == 0 || !w->downs[i]) && go_up(w, i) < 0)
            return -1;
    }
    return 0;
}

static uint32_t bounded(uint32_t wanted, uint32_t usual, uint32_t most)
{
    return !wanted ? usual : wanted < most ? wanted : most;
}

static int run_lineage(struct cs_db *db, struct cs_op *op)
{
    const struct cs_lineage_want *want = &op->row.lineage;
    struct cs_artifact_row first = {0};
    struct walk w = {.db = db,
                     .op = op,
                     .depth = bounded(want->depth, DEPTH_DEFAULT, DEPTH_MOST),
                     .nodes = bounded(want->nodes, NODES_DEFAULT, NODES_MOST)};
    int got = find_artifact(&w, op->id, &first);
    if (got <= 0)
        return got < 0
                   ? -1
                   : cs_fail(&op->err, CS_MISSING, "there is no artifact '%.*s'",
                             (int)(op->id.len < CS_STORE_ID ? op->id.len : CS_STORE_ID), op->id.at);
    struct cs_arena *a = &op->arena;
    w.artifacts = cs_arena_alloc(a, w.nodes * sizeof *w.artifacts);
    w.depths = cs_arena_alloc(a, w.nodes * sizeof *w.depths);
    w.downs = cs_arena_alloc(a, w.nodes * sizeof *w.downs);
    w.executions = cs_arena_alloc(a, w.nodes * sizeof *w.executions);
    w.sources = cs_arena_alloc(a, w.nodes * sizeof *w.sources);
    add_artifact(&w, &first, 0, false);
    if (walk_all(&w) < 0)
        return -1;
    struct cs_lineage_found *found = cs_op_row(op, sizeof *found);
    *found = (struct cs_lineage_found){
        .artifacts = w.artifacts,
        .executions = w.executions,
        .sources = w.sources,
        .artifact_count = w.artifact_count,
        .execution_count = w.execution_count,
        .source_count = w.source_count,
        .cut = w.cut,
    };
    return 0;
}

static void tell(const struct cs_op *op)
{
    if (op->done.lineage)
        op->done.lineage(op->ctx, &op->err, op->err.code ? NULL : op->rows);
}

static const struct cs_op_kind kind_lineage = {.run = run_lineage, .tell = tell};

void cs_store_lineage(struct cs_store *store, struct cs_str tenant, struct cs_str id,
                      const struct cs_lineage_want *want, cs_lineage_told *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_lineage, ctx);
    op->done.lineage = done;
    op->tenant = tenant;
    op->id = id;
    op->row.lineage = *want;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, &op->id, NULL});
    cs_op_ask(op);
}

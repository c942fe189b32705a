/* Tools as they were seen: since when a server has one, how it was defined when somebody looked,
 * and how it is defined now. */
#include "base/time.h"
#include "store/inside.h"

#define SEEN_MS   (6 * (int64_t)CS_STORE_HOUR_MS)  /* that it is still there is noted so often */
#define FORGET_MS (366 * (int64_t)CS_STORE_DAY_MS) /* what was not seen for that long is gone */

static void tell(const struct cs_op *op)
{
    if (op->done.seen)
        op->done.seen(op->ctx, &op->err, op->count ? op->rows : NULL, op->err.code ? 0 : op->count);
}

/* 1: it is there, and `seen` says when it was last. */
static int find(struct cs_db *db, const struct cs_seen_row *which, bool texts, struct cs_op *op,
                struct cs_seen_row *r, int64_t *seen)
{
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_SEEN_GET, &op->err, "sis", which->server,
                                 (int64_t)which->entry, which->tool);
    int got = cs_sql_next(db, s, &op->err);
    if (got <= 0)
        return got;
    *r = *which;
    r->text = r->before = (struct cs_str){0};
    cs_sql_hash(s, 0, r->definition);
    cs_sql_hash(s, 1, r->looked_at);
    r->server_since = sqlite3_column_int64(s, 2);
    r->since = sqlite3_column_int64(s, 3);
    r->changed = sqlite3_column_int64(s, 4);
    *seen = sqlite3_column_int64(s, 5);
    if (texts) {
        r->text = cs_sql_str(s, 6, &op->arena);
        r->before = cs_sql_str(s, 7, &op->arena);
    }
    cs_sql_leave(s);
    return 1;
}

/* Since when this server is known; `now` if it never was. */
static int server_since(struct cs_db *db, struct cs_op *op, int64_t *since)
{
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_SEEN_SINCE, &op->err, "si", op->seen[0].server,
                                 (int64_t)op->seen[0].entry);
    if (cs_sql_next(db, s, &op->err) < 0)
        return -1;
    int64_t there = sqlite3_column_int64(s, 0);
    cs_sql_leave(s);
    *since = there ? there : op->when;
    return 0;
}

static int see(struct cs_db *db, struct cs_op *op, const struct cs_seen_row *now, int64_t server)
{
    struct cs_seen_row *r = cs_op_row(op, sizeof *r);
    int64_t seen = 0, entry = (int64_t)now->entry;
    int got = find(db, now, false, op, r, &seen);
    if (got < 0)
        return -1;
    if (got == 0) {
        *r = *now;
        r->text = r->before = (struct cs_str){0};
        memcpy(r->looked_at, now->definition, sizeof r->looked_at);
        r->server_since = server;
        r->since = op->when;
        return cs_sql_do(db, CS_SQL_SEEN_ADD, &op->err, "sishhiiis", now->server, entry, now->tool,
                         now->definition, now->definition, server, op->when, op->when, now->text);
    }
    if (memcmp(r->definition, now->definition, sizeof r->definition) != 0) {
        memcpy(r->definition, now->definition, sizeof r->definition);
        r->changed = op->when;
        return cs_sql_do(db, CS_SQL_SEEN_CHANGE, &op->err, "hsisis", now->definition, now->text,
                         op->when, now->server, entry, now->tool);
    }
    if (op->when - seen < SEEN_MS)
        return 0;
    return cs_sql_do(db, CS_SQL_SEEN_AGAIN, &op->err, "isis", op->when, now->server, entry,
                     now->tool);
}

static int run_seen(struct cs_db *db, struct cs_op *op)
{
    int64_t server = 0;
    if (!op->limit)
        return 0;
    if (server_since(db, op, &server) < 0)
        return -1;
    for (size_t i = 0; i < op->limit; i++)
        if (see(db, op, &op->seen[i], server) < 0)
            return -1;
    return 0;
}

static int run_get(struct cs_db *db, struct cs_op *op)
{
    struct cs_seen_row row;
    int64_t seen;
    int got = find(db, &op->row.seen, true, op, &row, &seen);
    if (got < 0)
        return -1;
    if (got == 0)
        return cs_fail(&op->err, CS_MISSING, "the tool was never seen here");
    *(struct cs_seen_row *)cs_op_row(op, sizeof row) = row;
    return 0;
}

static int run_look(struct cs_db *db, struct cs_op *op)
{
    const struct cs_seen_row *r = &op->row.seen;
    int looked =
        cs_sql_do(db, CS_SQL_SEEN_LOOK, &op->err, "ssh", r->server, r->tool, r->definition);
    if (looked < 0)
        return -1;
    if (looked == 0)
        return cs_fail(&op->err, CS_CONFLICT, "its definition is another one by now; look again");
    return cs_db_append(db, op->more.entries, op->more.entry_count, op->hash, &op->err);
}

int cs_db_seen_age(struct cs_db *db, int64_t now, struct cs_err *err)
{
    return cs_sql_do(db, CS_SQL_OLD_SEEN, err, "i", now - FORGET_MS) < 0 ? -1 : 0;
}

static const struct cs_op_kind
    kind_seen = {.writes = true, .steps = true, .run = run_seen, .tell = tell},
    kind_get = {.run = run_get, .tell = tell},
    kind_look = {.writes = true, .steps = true, .run = run_look, .tell = cs_op_tell_stored};

void cs_store_tools_seen(struct cs_store *store, const struct cs_seen_row *rows, size_t count,
                         int64_t now, cs_seen_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_seen, ctx);
    size_t bytes = count * sizeof *rows;
    for (size_t i = 0; i < count; i++)
        bytes += rows[i].server.len + rows[i].tool.len +
                 (rows[i].text.len <= CS_SEEN_TEXT ? rows[i].text.len : 0);
    cs_op_room(op, bytes, 3 * count + 1);
    struct cs_seen_row *copies = cs_op_give(op, rows, count * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        struct cs_seen_row *r = &copies[i];
        if (r->text.len > CS_SEEN_TEXT)
            r->text.len = 0;
        r->server.at = cs_op_give(op, r->server.at, r->server.len);
        r->tool.at = cs_op_give(op, r->tool.at, r->tool.len);
        r->text.at = cs_op_give(op, r->text.at, r->text.len);
        r->before = (struct cs_str){0};
    }
    op->done.seen = done;
    op->seen = copies;
    op->limit = count;
    op->when = now;
    cs_op_ask(op);
}

void cs_store_tool_seen(struct cs_store *store, struct cs_str server, uint64_t entry,
                        struct cs_str tool, cs_seen_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_get, ctx);
    struct cs_seen_row *r = &op->row.seen;
    op->done.seen = done;
    *r = (struct cs_seen_row){.server = server, .entry = entry, .tool = tool};
    cs_op_keep(op, (struct cs_str *[]){&r->server, &r->tool, NULL});
    cs_op_ask(op);
}

void cs_store_tool_look(struct cs_store *store, struct cs_str server, struct cs_str tool,
                        const unsigned char definition[32], const struct cs_entry *entry,
                        cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_look, ctx);
    struct cs_seen_row *r = &op->row.seen;
    op->done.stored = done;
    *r = (struct cs_seen_row){.server = server, .tool = tool};
    memcpy(r->definition, definition, sizeof r->definition);
    cs_op_keep(op, (struct cs_str *[]){&r->server, &r->tool, NULL});
    cs_op_give_more(op, &(struct cs_execution_more){.entries = entry, .entry_count = !!entry});
    cs_op_ask(op);
}

/*
 * Tools as they were seen: since when a server has one, how it was defined when somebody looked,
 * and how it is defined now.
 *
 * A list in which everything is known is remembered as a whole, by its hash, as the row of a tool
 * without a name: mostly a list is what it was, and nothing of it has to be looked at.
 */
#include "base/canon.h"
#include "base/hash.h"
#include "base/time.h"
#include "store/inside.h"

#define SEEN_MS   (6 * (int64_t)CS_STORE_HOUR_MS)  /* that it is still there is noted so often */
#define FORGET_MS (366 * (int64_t)CS_STORE_DAY_MS) /* what was not seen for that long is gone */

bool cs_seen_changed(const struct cs_seen_row *r)
{
    return memcmp(r->definition, r->looked_at, sizeof r->definition) != 0;
}

int64_t cs_seen_young_until(const struct cs_seen_row *r)
{
    return r->since - r->server_since > CS_SEEN_YOUNG ? r->since + CS_SEEN_YOUNG : 0;
}

static void tell(const struct cs_op *op)
{
    if (op->done.seen)
        op->done.seen(op->ctx, &op->err, op->count ? op->rows : NULL, op->err.code ? 0 : op->count);
}

/* 1: it is there. Its server, entry and name stay as they are. */
static int find(struct cs_db *db, struct cs_op *op, struct cs_seen_row *r)
{
    sqlite3_stmt *s =
        cs_sql_ask(db, CS_SQL_SEEN_GET, &op->err, "sis", r->server, (int64_t)r->entry, r->tool);
    int got = cs_sql_next(db, s, &op->err);
    if (got <= 0)
        return got;
    cs_sql_hash(s, 0, r->definition);
    cs_sql_hash(s, 1, r->looked_at);
    r->server_since = sqlite3_column_int64(s, 2);
    r->since = sqlite3_column_int64(s, 3);
    r->changed = sqlite3_column_int64(s, 4);
    if (cs_seen_changed(r) || !op->seen.count) {
        r->text = cs_sql_str(s, 5, &op->arena);
        r->before = cs_sql_str(s, 6, &op->arena);
    }
    cs_sql_leave(s);
    return 1;
}

/* Since when this server is known; now, if it never was. */
static int server_since(struct cs_db *db, struct cs_op *op, int64_t *since)
{
    sqlite3_stmt *s =
        cs_sql_ask(db, CS_SQL_SEEN_SINCE, &op->err, "si", op->seen.server, (int64_t)op->seen.entry);
    if (cs_sql_next(db, s, &op->err) < 0)
        return -1;
    int64_t there = sqlite3_column_int64(s, 0);
    cs_sql_leave(s);
    *since = there ? there : op->when;
    return 0;
}

static int add(struct cs_db *db, struct cs_op *op, const struct cs_seen_row *r, struct cs_str text)
{
    return cs_sql_do(db, CS_SQL_SEEN_ADD, &op->err, "sishhiiis", r->server, (int64_t)r->entry,
                     r->tool, r->definition, r->definition, r->server_since, r->since, r->since,
                     text) < 0
               ? -1
               : 0;
}

/* One tool of the list. */
static int see(struct cs_db *db, struct cs_op *op, size_t i, int64_t server)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_err ignored;
    unsigned char now[32];
    struct cs_seen_row *r = cs_op_row(op, sizeof *r);
    *r = (struct cs_seen_row){
        .server = op->seen.server, .entry = op->seen.entry, .tool = op->seen.tools[i]};
    cs_canon_hash(op->seen.definitions[i], now);
    if (cs_canon(op->seen.definitions[i], &text, &ignored) < 0 || text.len > CS_SEEN_TEXT)
        cs_buf_clear(&text);
    int got = find(db, op, r);
    if (got < 0)
        return -1;
    if (got == 0) {
        memcpy(r->definition, now, sizeof now);
        memcpy(r->looked_at, now, sizeof now);
        r->server_since = server;
        r->since = op->when;
        return add(db, op, r, cs_buf_str(&text));
    }
    if (memcmp(r->definition, now, sizeof now) == 0)
        return 0;
    if (cs_sql_do(db, CS_SQL_SEEN_CHANGE, &op->err, "hsisis", now, cs_buf_str(&text), op->when,
                  r->server, (int64_t)r->entry, r->tool) < 0)
        return -1;
    return find(db, op, r) < 0 ? -1 : 0;
}

/* The list as a whole: 1 it is known like this. */
static int see_list(struct cs_db *db, struct cs_op *op)
{
    struct cs_seen_row whole = {.server = op->seen.server, .entry = op->seen.entry};
    if (!op->seen.list)
        return 0;
    if (cs_sql_do(db, CS_SQL_SEEN_AGAIN, &op->err, "isii", op->when, whole.server,
                  (int64_t)whole.entry, op->when - SEEN_MS) < 0)
        return -1;
    int got = find(db, op, &whole);
    return got <= 0 ? got : memcmp(whole.definition, op->seen.list, 32) == 0;
}

static int keep_list(struct cs_db *db, struct cs_op *op, int64_t server)
{
    const struct cs_seen_row *rows = op->rows;
    bool known = true;
    struct cs_seen_row whole = {.server = op->seen.server,
                                .entry = op->seen.entry,
                                .server_since = server,
                                .since = op->when};
    if (!op->seen.list)
        return 0;
    for (size_t i = 0; i < op->count; i++)
        known &= !cs_seen_changed(&rows[i]) && cs_seen_young_until(&rows[i]) <= op->when;
    if (cs_sql_do(db, CS_SQL_SEEN_END, &op->err, "sis", whole.server, (int64_t)whole.entry,
                  whole.tool) < 0)
        return -1;
    memcpy(whole.definition, op->seen.list, sizeof whole.definition);
    return known ? add(db, op, &whole, CS_STR("")) : 0;
}

static int run_seen(struct cs_db *db, struct cs_op *op)
{
    int64_t server = 0;
    int known = see_list(db, op);
    if (known != 0)
        return known < 0 ? -1 : 0;
    if (server_since(db, op, &server) < 0)
        return -1;
    for (size_t i = 0; i < op->seen.count; i++)
        if (see(db, op, i, server) < 0)
            return -1;
    return keep_list(db, op, server);
}

static int run_get(struct cs_db *db, struct cs_op *op)
{
    struct cs_seen_row row = op->row.seen;
    int got = find(db, op, &row);
    if (got < 0)
        return -1;
    if (got == 0)
        return cs_fail(&op->err, CS_MISSING, "the tool was never seen here");
    *(struct cs_seen_row *)cs_op_row(op, sizeof row) = row;
    return 0;
}

/* One that its server had from the beginning is not young (server_since). */
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

static struct cs_str *give_all(struct cs_op *op, const struct cs_str *texts, size_t count)
{
    struct cs_str *copies = cs_op_give(op, texts, count * sizeof *texts);
    for (size_t i = 0; i < count; i++)
        copies[i].at = cs_op_give(op, texts[i].at, texts[i].len);
    return copies;
}

void cs_store_tools_seen(struct cs_store *store, const struct cs_seen_list *list, int64_t now,
                         cs_seen_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_seen, ctx);
    size_t bytes = list->server.len + 32 + 2 * list->count * sizeof(struct cs_str);
    for (size_t i = 0; i < list->count; i++)
        bytes += list->tools[i].len + list->definitions[i].len;
    cs_op_room(op, bytes, 2 * list->count + 4);
    op->seen = *list;
    op->seen.server.at = cs_op_give(op, list->server.at, list->server.len);
    op->seen.tools = give_all(op, list->tools, list->count);
    op->seen.definitions = give_all(op, list->definitions, list->count);
    if (list->list)
        op->seen.list = cs_op_give(op, list->list, 32);
    op->done.seen = done;
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

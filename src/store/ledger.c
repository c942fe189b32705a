/*
 * The chain: entries are linked in the transaction that appends them, after the last one that is
 * there, whoever wrote it; every so many of them are signed; the oldest ones are removed.
 */
#include <inttypes.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/time.h"
#include "store/inside.h"

#define PURGE_STEP 5000 /* entries removed in one go, so that nobody waits long */

/* --- append --- */

static int head(struct cs_db *db, struct cs_err *err)
{
    static const enum cs_statement ways[] = {CS_SQL_LEDGER_HEAD, CS_SQL_LEDGER_BASE};
    struct cs_head *h = &db->head;
    int got = 0;
    if (h->known)
        return 0;
    *h = (struct cs_head){0};
    for (size_t i = 0; got == 0 && i < CS_COUNT(ways); i++) {
        sqlite3_stmt *s = cs_sql_ask(db, ways[i], err, "");
        got = cs_sql_next(db, s, err);
        if (got <= 0)
            continue;
        h->seq = (uint64_t)sqlite3_column_int64(s, 0);
        cs_sql_hash(s, 1, h->hash);
        cs_sql_leave(s);
    }
    if (got < 0)
        return -1;
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_CHECKPOINT_LAST, err, "");
    got = cs_sql_next(db, s, err);
    if (got < 0)
        return -1;
    if (got > 0) {
        h->checkpoint = (uint64_t)sqlite3_column_int64(s, 0);
        cs_sql_leave(s);
    }
    h->known = true;
    return 0;
}

static int sign(struct cs_db *db, struct cs_err *err)
{
    struct cs_head *h = &db->head;
    struct cs_checkpoint_row row = {.seq = h->seq, .time = cs_time_ms()};
    memcpy(row.hash, h->hash, sizeof row.hash);
    if (db->chain->sign(db->chain->ctx, &row, err) < 0)
        return cs_wrap(err, "the ledger cannot be signed");
    if (cs_sql_do(db, CS_SQL_CHECKPOINT_ADD, err, "ihihg", (int64_t)row.seq, row.hash, row.time,
                  row.key, row.signature) < 0)
        return -1;
    h->checkpoint = h->seq;
    return 0;
}

static int append_one(struct cs_db *db, struct cs_entry e, struct cs_buf *text, struct cs_err *err)
{
    const struct cs_chain *chain = db->chain;
    struct cs_head *h = &db->head;
    unsigned char hash[32];
    if (!e.time)
        e.time = cs_time_ms();
    cs_buf_clear(text);
    chain->link(chain->ctx, h->seq + 1, h->hash, &e, text, hash);
    if (cs_sql_do(db, CS_SQL_LEDGER_ADD, err, "iisssshs", (int64_t)(h->seq + 1), e.time, e.tenant,
                  e.principal, e.execution, e.event, hash, cs_buf_str(text)) < 0)
        return -1;
    h->seq++;
    memcpy(h->hash, hash, sizeof hash);
    bool due = chain->checkpoint_every && h->seq - h->checkpoint >= chain->checkpoint_every;
    return due ? sign(db, err) : 0;
}

int cs_db_append(struct cs_db *db, const struct cs_entry *entries, size_t count,
                 unsigned char hash[32], struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    memset(hash, 0, 32);
    if (!db->chain || !count)
        return 0;
    if (head(db, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (append_one(db, entries[i], &text, err) < 0)
            return -1;
    memcpy(hash, db->head.hash, 32);
    return 0;
}

int cs_db_has_ledger(struct cs_db *db, struct cs_err *err)
{
    return head(db, err) < 0 ? -1 : db->head.seq > 0;
}

void cs_db_seal(struct cs_db *db)
{
    struct cs_err err = {0};
    if (!db->chain || cs_db_begin(db, &err) < 0)
        return;
    bool fine = head(db, &err) == 0;
    if (fine && db->head.seq > db->head.checkpoint)
        fine = sign(db, &err) == 0;
    if (!fine || cs_db_commit(db, &err) < 0)
        cs_db_rollback(db);
}

static int run_append(struct cs_db *db, struct cs_op *op)
{
    return cs_db_append(db, op->more.entries, op->more.entry_count, op->hash, &op->err);
}

/* What nobody asks after must not be missing without a word. */
static void tell_append(const struct cs_op *op)
{
    if (op->done.stored || !op->err.code) {
        cs_op_tell_stored(op);
        return;
    }
    for (size_t i = 0; i < op->more.entry_count; i++)
        cs_log_line(CS_LOG_ERROR, "ledger", "an entry is missing event=%.*s execution=%.*s: %s",
                    CS_STR_ARG(op->more.entries[i].event),
                    CS_STR_ARG(op->more.entries[i].execution), op->err.msg);
}

/* --- read --- */

static int run_entry(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_LEDGER_OF, &op->err, "ss", op->id, op->text);
    int got = cs_sql_next(db, s, &op->err);
    if (got < 0)
        return -1;
    if (got == 0)
        return cs_fail(&op->err, CS_MISSING, "the ledger has no such entry");
    op->content = cs_arena_dup(&op->arena, cs_sql_bytes(s, 0));
    cs_sql_leave(s);
    return 0;
}

static void tell_entry(const struct cs_op *op)
{
    op->done.entry(op->ctx, &op->err, op->content);
}

/* --- remove --- */

/* A step of it: what is left is a chain that begins after the base, always. */
static int run_purge(struct cs_db *db, struct cs_op *op)
{
    unsigned char hash[32];
    if (head(db, &op->err) < 0)
        return -1;
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_LEDGER_BASE, &op->err, "");
    int got = cs_sql_next(db, s, &op->err);
    uint64_t base = got > 0 ? (uint64_t)sqlite3_column_int64(s, 0) : 0, seq = op->number;
    cs_sql_leave(s);
    if (got < 0)
        return -1;
    if (seq > db->head.seq)
        return cs_fail(&op->err, CS_MISSING,
                       "the ledger has no entry %" PRIu64 ": its last one is %" PRIu64, seq,
                       db->head.seq);
    if (seq <= base)
        return 0;
    op->again = seq - base > PURGE_STEP;
    if (op->again)
        seq = base + PURGE_STEP;
    s = cs_sql_ask(db, CS_SQL_LEDGER_HASH, &op->err, "i", (int64_t)seq);
    got = cs_sql_next(db, s, &op->err);
    if (got > 0)
        cs_sql_hash(s, 0, hash);
    cs_sql_leave(s);
    if (got == 0)
        return cs_fail(&op->err, CS_SYSTEM, "the ledger is damaged: it has no entry %" PRIu64, seq);
    if (got < 0 || cs_sql_do(db, CS_SQL_LEDGER_BASE_PUT, &op->err, "ih", (int64_t)seq, hash) < 0 ||
        cs_sql_do(db, CS_SQL_LEDGER_PURGE, &op->err, "i", (int64_t)seq) < 0 ||
        cs_sql_do(db, CS_SQL_CHECKPOINT_PURGE, &op->err, "i", (int64_t)seq) < 0)
        return -1;
    return 0;
}

static const struct cs_op_kind
    kind_append = {.writes = true, .steps = true, .run = run_append, .tell = tell_append},
    kind_entry = {.run = run_entry, .tell = tell_entry},
    kind_purge = {.writes = true, .steps = true, .run = run_purge, .tell = cs_op_tell_stored};

void cs_store_append(struct cs_store *store, const struct cs_entry *entries, size_t count,
                     cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_append, ctx);
    op->done.stored = done;
    cs_op_give_more(op, &(struct cs_execution_more){.entries = entries, .entry_count = count});
    cs_op_ask(op);
}

void cs_store_entry_of(struct cs_store *store, struct cs_str execution, struct cs_str event,
                       cs_entry_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_entry, ctx);
    op->done.entry = done;
    op->id = execution;
    op->text = event;
    cs_op_keep(op, (struct cs_str *[]){&op->id, &op->text, NULL});
    cs_op_ask(op);
}

void cs_store_ledger_purge(struct cs_store *store, uint64_t seq, cs_stored *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_purge, ctx);
    op->done.stored = done;
    op->number = seq;
    cs_op_ask(op);
}

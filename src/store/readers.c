/*
 * Who reads the ledger without a loop: from the database in use, or from a copy of it, which may be
 * anybody's and is trusted in nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "store/inside.h"

#define ROW_MAX     (64 << 20) /* bytes of a value */
#define EVENTS_MOST 64         /* that begin alike, before all entries are walked instead */

/* What stands beside it decides how it is opened. A database in use has a log (-wal), and readers
 * take part in it; without one nobody has it open, and it can be read where nothing can be written.
 * Should somebody begin to use it meanwhile, that shows afterwards. */
struct reader {
    struct cs_db db;
    bool alone;
    struct stat before;
};

static void reader_done(struct reader *r)
{
    sqlite3_close(r->db.sqlite);
}

static bool has_log(const struct reader *r)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    struct stat st;
    cs_buf_printf(&path, "%s-wal", r->db.path);
    return stat(cs_buf_cstr(&path), &st) == 0;
}

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int finish(struct reader *r, int result, struct cs_err *err)
{
    struct stat now;
    if (!r->alone || (stat(r->db.path, &now) == 0 && same(&r->before, &now) && !has_log(r)))
        return result;
    return cs_fail(err, CS_BUSY, "%s: it was changed while it was read; try again", r->db.path);
}

static void uri_of(const struct reader *r, struct cs_buf *uri)
{
    cs_buf_puts(uri, "file:");
    for (const char *at = r->db.path; *at; at++)
        if (strchr("?#%", *at))
            cs_buf_printf(uri, "%%%02x", (unsigned)(unsigned char)*at);
        else
            cs_buf_putc(uri, *at);
    cs_buf_puts(uri, r->alone ? "?mode=ro&immutable=1" : "?mode=ro");
}

static int version_of(struct reader *r, struct cs_err *err)
{
    sqlite3_stmt *s = NULL;
    int version = -1;
    int code = sqlite3_prepare_v2(r->db.sqlite, "PRAGMA user_version", -1, &s, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW)
        version = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return version < 0 ? cs_sql_fail(&r->db, code, err) : version;
}

static int open_reader(const char *path, struct reader *r, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf uri = {0};
    *r = (struct reader){.db = {.owner_fd = -1, .patience_ms = CS_STORE_BUSY_MS}};
    if (snprintf(r->db.path, sizeof r->db.path, "%s", path) >= (int)sizeof r->db.path)
        return cs_fail(err, CS_INVALID, "the path is too long: %.200s", path);
    if (stat(path, &r->before) < 0)
        return errno == ENOENT ? cs_fail(err, CS_MISSING, "there is no file %s", path)
                               : cs_fail_errno(err, "%s", path);
    if (!S_ISREG(r->before.st_mode))
        return cs_fail(err, CS_INVALID, "%s is no file", path);
    r->alone = !has_log(r);
    uri_of(r, &uri);
    int code = sqlite3_open_v2(cs_buf_cstr(&uri), &r->db.sqlite,
                               SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
    if (code != SQLITE_OK)
        return cs_sql_fail(&r->db, code, err);
    sqlite3_extended_result_codes(r->db.sqlite, 1);
    sqlite3_busy_timeout(r->db.sqlite, CS_STORE_BUSY_MS);
    sqlite3_limit(r->db.sqlite, SQLITE_LIMIT_LENGTH, ROW_MAX);
    sqlite3_db_config(r->db.sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(r->db.sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(r->db.sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    if (cs_sql_exec(&r->db, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", err) < 0)
        return -1;
    int version = version_of(r, err), last = 0;
    while (cs_migrations[last])
        last++;
    if (version < 0)
        return -1;
    if (version < 2 || version > last)
        return cs_fail(err, CS_INVALID,
                       "%s: it is of version %d, and a ledger is in those of version 2 to %d%s",
                       path, version, last,
                       version == 1 ? "; start caisson on it once, and it has one" : "");
    return 0;
}

static sqlite3_stmt *prepare(struct reader *r, const char *sql, struct cs_err *err)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(r->db.sqlite, sql, -1, &s, NULL);
    if (code != SQLITE_OK)
        cs_sql_fail(&r->db, code, err);
    return s;
}

/* 1: there is one; 0: no more; -1. */
static int step(struct reader *r, sqlite3_stmt *s, struct cs_err *err)
{
    int code = sqlite3_step(s);
    if (code == SQLITE_ROW)
        return 1;
    return code == SQLITE_DONE ? 0 : cs_sql_fail(&r->db, code, err);
}

/* --- which entries --- */

/*
 * Which index leads, the first that can: the others are kept out of it by a sign before their
 * columns. All but the time's have the entries of one value in the order of their numbers; several
 * events that begin alike are merged.
 */
enum way { BY_EXECUTION, BY_TIME, BY_EVENT, BY_PRINCIPAL, BY_TENANT, BY_SEQ };

enum { FROM = 1, TO, SINCE, UNTIL, LIMIT, TENANT, EXECUTION, PRINCIPAL, EVENT, EVENTS };

struct question {
    const struct cs_ledger_filter *f;
    enum way way;
    struct cs_buf sql;
    struct cs_arena arena;
    struct cs_str events[EVENTS_MOST]; /* those that begin with the one asked for */
    size_t event_count;
};

static void question_done(struct question *q)
{
    cs_buf_done(&q->sql);
    cs_arena_done(&q->arena);
}

static bool is_prefix(struct cs_str event)
{
    return event.len && event.at[event.len - 1] == '.';
}

static enum way choose(const struct cs_ledger_filter *f)
{
    if (f->execution.len)
        return BY_EXECUTION;
    if (f->since || f->until)
        return BY_TIME;
    if (f->event.len)
        return BY_EVENT;
    return f->principal.len ? BY_PRINCIPAL : f->tenant.len ? BY_TENANT : BY_SEQ;
}

/* The events that begin like this: each is one step in the index. */
static int find_events(struct reader *r, struct question *q, struct cs_err *err)
{
    struct cs_str prefix = q->f->event, after = prefix;
    char *end = (char *)cs_arena_dup(&q->arena, prefix).at;
    end[prefix.len - 1]++;
    sqlite3_stmt *s = prepare(
        r, "SELECT event FROM ledger WHERE event > ?1 AND event < ?2 ORDER BY event LIMIT 1", err);
    int got = s ? 1 : -1;
    while (got > 0 && q->event_count < EVENTS_MOST) {
        sqlite3_bind_text64(s, 1, after.at, after.len, SQLITE_TRANSIENT, SQLITE_UTF8);
        sqlite3_bind_text64(s, 2, end, prefix.len, SQLITE_STATIC, SQLITE_UTF8);
        got = step(r, s, err);
        if (got > 0)
            after = q->events[q->event_count++] = cs_sql_str(s, 0, &q->arena);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    /* Too many of them: all entries are walked. */
    if (q->event_count == EVENTS_MOST)
        q->way = BY_SEQ;
    return got < 0 ? -1 : 0;
}

static void condition(struct question *q, bool asked, enum way way, const char *column,
                      const char *is, int value)
{
    if (asked)
        cs_buf_printf(&q->sql, " AND %s%s %s ?%d", q->way == way ? "" : "+", column, is, value);
}

/* `event`: the number of its value, or 0: any. */
static void select_entries(struct question *q, int event)
{
    const struct cs_ledger_filter *f = q->f;
    cs_buf_printf(&q->sql,
                  "SELECT seq, hash, entry, time, event, tenant, principal, execution FROM ledger "
                  "WHERE %sseq BETWEEN ?%d AND ?%d",
                  q->way == BY_TIME ? "+" : "", FROM, TO);
    condition(q, f->execution.len, BY_EXECUTION, "execution", "=", EXECUTION);
    condition(q, f->since, BY_TIME, "time", ">=", SINCE);
    condition(q, f->until, BY_TIME, "time", "<=", UNTIL);
    condition(q, event, BY_EVENT, "event", "=", event);
    condition(q, f->principal.len, BY_PRINCIPAL, "principal", "=", PRINCIPAL);
    condition(q, f->tenant.len, BY_TENANT, "tenant", "=", TENANT);
    /* What the indexes leave out. */
    static const char *const there[] = {[BY_EXECUTION] = " AND execution <> ''",
                                        [BY_PRINCIPAL] = " AND principal <> ''",
                                        [BY_TENANT] = " AND tenant <> ''",
                                        [BY_SEQ] = ""};
    if (there[q->way])
        cs_buf_puts(&q->sql, there[q->way]);
    if (!event && f->event.len)
        cs_buf_printf(&q->sql, " AND substr(event, 1, length(?%d)) = ?%d", EVENT, EVENT);
}

static int put_question(struct reader *r, struct question *q, struct cs_err *err)
{
    const struct cs_ledger_filter *f = q->f;
    const char *order = f->newest_first ? "DESC" : "ASC";
    q->way = choose(f);
    bool prefix = is_prefix(f->event);
    if (prefix && q->way == BY_EVENT && find_events(r, q, err) < 0)
        return -1;
    if (prefix && q->way == BY_EVENT && !q->event_count)
        return 0; /* no such entries, and nothing to ask */
    if (prefix && q->way == BY_EVENT)
        for (size_t i = 0; i < q->event_count; i++) {
            cs_buf_puts(&q->sql, i ? " UNION ALL " : "");
            select_entries(q, EVENTS + (int)i);
        }
    else
        select_entries(q, f->event.len && !prefix ? EVENT : 0);
    if (q->sql.len == 0) /* no event begins like that */
        return 0;
    if (q->way == BY_TIME)
        cs_buf_printf(&q->sql, " ORDER BY time %s, seq %s LIMIT ?%d", order, order, LIMIT);
    else
        cs_buf_printf(&q->sql, " ORDER BY seq %s LIMIT ?%d", order, LIMIT);
    return 0;
}

static int64_t number_of(uint64_t n, int64_t none)
{
    return n == 0 ? none : n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static void bind_values(sqlite3_stmt *s, const struct question *q)
{
    const struct cs_ledger_filter *f = q->f;
    const int64_t numbers[] = {[FROM] = number_of(f->from, 0),
                               [TO] = number_of(f->to, INT64_MAX),
                               [SINCE] = f->since,
                               [UNTIL] = f->until,
                               [LIMIT] = number_of(f->limit, -1)};
    const struct cs_str texts[] = {f->tenant, f->execution, f->principal, f->event};
    /* Those that it does not have are refused, and that is fine. */
    for (int i = FROM; i <= LIMIT; i++)
        sqlite3_bind_int64(s, i, numbers[i]);
    for (int i = 0; i < 4; i++)
        sqlite3_bind_text64(s, TENANT + i, texts[i].len ? texts[i].at : "", texts[i].len,
                            SQLITE_STATIC, SQLITE_UTF8);
    for (size_t i = 0; i < q->event_count; i++)
        sqlite3_bind_text64(s, EVENTS + (int)i, q->events[i].at, q->events[i].len, SQLITE_STATIC,
                            SQLITE_UTF8);
}

/* --- reading --- */

static int read_base(struct reader *r, struct cs_ledger_base *base, struct cs_err *err)
{
    sqlite3_stmt *s = prepare(r, "SELECT seq, hash FROM ledger_base WHERE id = 1", err);
    int got = s ? step(r, s, err) : -1;
    if (got > 0) {
        base->seq = (uint64_t)sqlite3_column_int64(s, 0);
        cs_sql_hash(s, 1, base->hash);
    }
    sqlite3_finalize(s);
    return got < 0 ? -1 : 0;
}

static int walk_entries(struct reader *r, struct question *q,
                        bool (*visit)(void *ctx, const struct cs_entry_row *row), void *ctx,
                        struct cs_err *err)
{
    sqlite3_stmt *s = prepare(r, cs_buf_cstr(&q->sql), err);
    int got = s ? 1 : -1;
    if (s)
        bind_values(s, q);
    while (got > 0 && (got = step(r, s, err)) > 0) {
        struct cs_entry_row row = {.seq = (uint64_t)sqlite3_column_int64(s, 0),
                                   .text = cs_sql_bytes(s, 2),
                                   .columns = {.time = sqlite3_column_int64(s, 3),
                                               .event = cs_sql_bytes(s, 4),
                                               .tenant = cs_sql_bytes(s, 5),
                                               .principal = cs_sql_bytes(s, 6),
                                               .execution = cs_sql_bytes(s, 7)}};
        cs_sql_hash(s, 1, row.hash);
        if (!visit(ctx, &row))
            got = 0;
    }
    sqlite3_finalize(s);
    return got < 0 ? -1 : 0;
}

int cs_store_ledger_read(const char *path, const struct cs_ledger_filter *filter,
                         struct cs_ledger_base *base,
                         bool (*visit)(void *ctx, const struct cs_entry_row *row), void *ctx,
                         struct cs_err *err)
{
    CS_AUTO(reader_done) struct reader r;
    CS_AUTO(question_done) struct question q = {.f = filter};
    struct cs_ledger_base there = {0};
    /* One transaction: base and entries are of the same moment. */
    if (open_reader(path, &r, err) < 0 || cs_sql_exec(&r.db, "BEGIN", err) < 0 ||
        read_base(&r, &there, err) < 0)
        return -1;
    if (base)
        *base = there;
    int result = put_question(&r, &q, err);
    if (result == 0 && q.sql.len)
        result = walk_entries(&r, &q, visit, ctx, err);
    return finish(&r, result, err);
}

int cs_ledger_question(const char *path, const struct cs_ledger_filter *filter, struct cs_buf *sql,
                       struct cs_err *err)
{
    CS_AUTO(reader_done) struct reader r;
    CS_AUTO(question_done) struct question q = {.f = filter};
    if (open_reader(path, &r, err) < 0 || put_question(&r, &q, err) < 0)
        return -1;
    cs_buf_putstr(sql, cs_buf_str(&q.sql));
    return 0;
}

int cs_store_checkpoints_read(const char *path,
                              bool (*visit)(void *ctx, const struct cs_checkpoint_row *row),
                              void *ctx, struct cs_err *err)
{
    CS_AUTO(reader_done) struct reader r;
    if (open_reader(path, &r, err) < 0)
        return -1;
    sqlite3_stmt *s =
        prepare(&r, "SELECT seq, hash, time, key, signature FROM checkpoints ORDER BY seq", err);
    int got = s ? 1 : -1;
    while (got > 0 && (got = step(&r, s, err)) > 0) {
        struct cs_checkpoint_row row = {.seq = (uint64_t)sqlite3_column_int64(s, 0),
                                        .time = sqlite3_column_int64(s, 2)};
        struct cs_str signature = cs_sql_bytes(s, 4);
        cs_sql_hash(s, 1, row.hash);
        cs_sql_hash(s, 3, row.key);
        if (signature.len == sizeof row.signature)
            memcpy(row.signature, signature.at, sizeof row.signature);
        if (!visit(ctx, &row))
            got = 0;
    }
    sqlite3_finalize(s);
    return finish(&r, got < 0 ? -1 : 0, err);
}

/* Rows are numbered as their executions were admitted, and so are the entries about that. Where
 * entries were archived, only what was admitted after the first one that is left must have all of
 * its own. */
static int first_row(struct reader *r, int64_t *seq, struct cs_err *err)
{
    struct cs_ledger_base base = {0};
    *seq = 0;
    if (read_base(r, &base, err) < 0)
        return -1;
    if (!base.seq)
        return 0;
    sqlite3_stmt *s = prepare(r,
                              "SELECT e.seq FROM ledger l CROSS JOIN executions e"
                              " ON e.id = l.execution WHERE l.event = 'execution.admitted'"
                              " ORDER BY l.seq LIMIT 1",
                              err);
    int got = s ? step(r, s, err) : -1;
    *seq = got > 0 ? sqlite3_column_int64(s, 0) : INT64_MAX;
    sqlite3_finalize(s);
    return got < 0 ? -1 : 0;
}

int cs_store_unentered_read(const char *path,
                            bool (*visit)(void *ctx, struct cs_str execution,
                                          struct cs_str envelope),
                            void *ctx, struct cs_err *err)
{
    CS_AUTO(reader_done) struct reader r;
    int64_t from;
    if (open_reader(path, &r, err) < 0 || cs_sql_exec(&r.db, "BEGIN", err) < 0 ||
        first_row(&r, &from, err) < 0)
        return -1;
    sqlite3_stmt *s = prepare(&r,
                              "SELECT id, envelope FROM executions WHERE seq >= ? AND finished > 0"
                              " AND NOT EXISTS (SELECT 1 FROM ledger l WHERE l.execution = id"
                              " AND l.execution <> '' AND +l.event = 'execution.settled')"
                              " ORDER BY seq",
                              err);
    int got = s ? 1 : -1;
    if (s)
        sqlite3_bind_int64(s, 1, from);
    while (got > 0 && (got = step(&r, s, err)) > 0)
        if (!visit(ctx, cs_sql_bytes(s, 0), cs_sql_bytes(s, 1)))
            got = 0;
    sqlite3_finalize(s);
    return finish(&r, got < 0 ? -1 : 0, err);
}

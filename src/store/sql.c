/* SQLite: opening it, its errors, and statements that are prepared once. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"
#include "base/time.h"
#include "store/inside.h"

static const char *const statements[] = {
#define X(name, sql) sql,
    CS_STATEMENTS(X)
#undef X
};

/* --- errors --- */

/* What a person can do about it. */
static const struct {
    int code;
    const char *what;
} remedies[] = {
    {SQLITE_FULL, "the disk is full: make room on it"},
    {SQLITE_BUSY, "another process has been writing to it for long: 'fuser -v' on the file says "
                  "which; end it if it hangs, and try again"},
    {SQLITE_LOCKED, "it is locked: try again"},
    {SQLITE_READONLY, "it cannot be written: the file and its directory must belong to the user "
                      "who runs caisson, on a file system that is not read-only"},
    {SQLITE_PERM, "access is denied: the file must belong to the user who runs caisson"},
    {SQLITE_CANTOPEN, "it cannot be opened: the directory must be there and belong to the user who "
                      "runs caisson, with room for files"},
    {SQLITE_CORRUPT, "it is damaged: put a backup in its place, or move it and the files beside it "
                     "(-wal, -shm) away and a new one is made, without the keys and records"},
    {SQLITE_NOTADB, "it is no database of ours: put a backup in its place, or move it away and a "
                    "new one is made, without the keys and records"},
    {SQLITE_IOERR, "reading or writing it failed: look after the disk (dmesg)"},
    {SQLITE_TOOBIG, "a value is too large"},
};

int cs_sql_fail(struct cs_db *db, int code, struct cs_err *err)
{
    if (code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY)
        return cs_fail(err, CS_CONFLICT, "it is there already (%s)", sqlite3_errmsg(db->sqlite));
    const char *said = db->sqlite ? sqlite3_errmsg(db->sqlite) : sqlite3_errstr(code);
    for (size_t i = 0; i < CS_COUNT(remedies); i++)
        if (remedies[i].code == (code & 0xFF))
            return cs_fail(err, CS_SYSTEM, "%s: %s (%s)", db->path, remedies[i].what, said);
    return cs_fail(err, CS_SYSTEM, "%s: %s", db->path, said);
}

/* --- statements --- */

static sqlite3_stmt *prepared(struct cs_db *db, enum cs_statement which, struct cs_err *err)
{
    sqlite3_stmt **s = &db->statements[which];
    if (*s)
        return *s;
    int code =
        sqlite3_prepare_v3(db->sqlite, statements[which], -1, SQLITE_PREPARE_PERSISTENT, s, NULL);
    if (code != SQLITE_OK) {
        cs_sql_fail(db, code, err);
        return NULL;
    }
    return *s;
}

/* The texts live as long as the operation does, so nothing is copied. */
static int bind_all(sqlite3_stmt *s, const char *types, va_list ap)
{
    int code = SQLITE_OK;
    for (int i = 0; types[i] && code == SQLITE_OK; i++) {
        if (types[i] == 's') {
            struct cs_str text = va_arg(ap, struct cs_str);
            code = sqlite3_bind_text64(s, i + 1, text.len ? text.at : "", text.len, SQLITE_STATIC,
                                       SQLITE_UTF8);
        } else if (types[i] == 'b') {
            struct cs_str bytes = va_arg(ap, struct cs_str);
            code =
                sqlite3_bind_blob64(s, i + 1, bytes.len ? bytes.at : "", bytes.len, SQLITE_STATIC);
        } else if (types[i] == 'i') {
            code = sqlite3_bind_int64(s, i + 1, va_arg(ap, int64_t));
        } else {
            code = sqlite3_bind_blob(s, i + 1, va_arg(ap, const unsigned char *),
                                     types[i] == 'g' ? 64 : 32, SQLITE_STATIC);
        }
    }
    return code;
}

static sqlite3_stmt *bound(struct cs_db *db, enum cs_statement which, struct cs_err *err,
                           const char *types, va_list ap)
{
    sqlite3_stmt *s = prepared(db, which, err);
    if (!s)
        return NULL;
    int code = bind_all(s, types, ap);
    if (code != SQLITE_OK) {
        cs_sql_fail(db, code, err);
        return NULL;
    }
    return s;
}

int cs_sql_do(struct cs_db *db, enum cs_statement which, struct cs_err *err, const char *types, ...)
{
    va_list ap;
    va_start(ap, types);
    sqlite3_stmt *s = bound(db, which, err, types, ap);
    va_end(ap);
    if (!s)
        return -1;
    int code = sqlite3_step(s);
    if (code != SQLITE_DONE)
        cs_sql_fail(db, code, err);
    sqlite3_reset(s);
    return code == SQLITE_DONE ? sqlite3_changes(db->sqlite) : -1;
}

sqlite3_stmt *cs_sql_ask(struct cs_db *db, enum cs_statement which, struct cs_err *err,
                         const char *types, ...)
{
    va_list ap;
    va_start(ap, types);
    sqlite3_stmt *s = bound(db, which, err, types, ap);
    va_end(ap);
    return s;
}

int cs_sql_next(struct cs_db *db, sqlite3_stmt *s, struct cs_err *err)
{
    if (!s)
        return -1;
    int code = sqlite3_step(s);
    if (code == SQLITE_ROW)
        return 1;
    if (code != SQLITE_DONE)
        cs_sql_fail(db, code, err);
    sqlite3_reset(s);
    return code == SQLITE_DONE ? 0 : -1;
}

void cs_sql_leave(sqlite3_stmt *s)
{
    if (s)
        sqlite3_reset(s);
}

struct cs_str cs_sql_str(sqlite3_stmt *s, int column, struct cs_arena *arena)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    int len = sqlite3_column_bytes(s, column);
    return cs_arena_dup(arena, cs_strn(text, text ? (size_t)len : 0));
}

struct cs_str cs_sql_bytes(sqlite3_stmt *s, int column)
{
    const char *at = sqlite3_column_blob(s, column);
    int len = sqlite3_column_bytes(s, column);
    return cs_strn(at, at && len > 0 ? (size_t)len : 0);
}

void cs_sql_hash(sqlite3_stmt *s, int column, unsigned char hash[32])
{
    const void *blob = sqlite3_column_blob(s, column);
    if (blob && sqlite3_column_bytes(s, column) == 32)
        memcpy(hash, blob, 32);
}

int cs_sql_exec(struct cs_db *db, const char *sql, struct cs_err *err)
{
    int code = sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : cs_sql_fail(db, code, err);
}

/* --- transactions --- */

int cs_db_begin(struct cs_db *db, struct cs_err *err)
{
    db->head.known = false;
    return cs_sql_do(db, CS_SQL_BEGIN, err, "") < 0 ? -1 : 0;
}

int cs_db_commit(struct cs_db *db, struct cs_err *err)
{
    return cs_sql_do(db, CS_SQL_COMMIT, err, "") < 0 ? -1 : 0;
}

void cs_db_rollback(struct cs_db *db)
{
    if (!sqlite3_get_autocommit(db->sqlite))
        sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
}

bool cs_db_broken(struct cs_db *db)
{
    return sqlite3_get_autocommit(db->sqlite);
}

int cs_db_probe(struct cs_db *db, struct cs_err *err)
{
    return cs_sql_do(db, CS_SQL_PROBE, err, "i", cs_time_ms()) < 0 ? -1 : 0;
}

/* --- opening --- */

/* Others write in batches, one right after the other: who looks rarely would never find a gap. */
static int wait_for_others(void *ctx, int times)
{
    const struct cs_db *db = ctx;
    const struct timespec pause = {.tv_nsec = 500000};
    if (times >= db->patience_ms * 2)
        return 0;
    nanosleep(&pause, NULL);
    return 1;
}

/*
 * SQLite gives the files beside it the mode of this one. A file that is there is not opened here:
 * closing it again would let go of the locks of every other store of this process at it.
 */
static int make_private(struct cs_db *db, struct cs_err *err)
{
    struct stat st;
    if (stat(db->path, &st) < 0 && errno == ENOENT) {
        CS_AUTO_FD int fd = open(db->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 || errno == EEXIST)
            return 0;
        bool full = errno == ENOSPC || errno == EDQUOT, gone = errno == ENOENT;
        return cs_sql_fail(db, full ? SQLITE_FULL : gone ? SQLITE_CANTOPEN : SQLITE_READONLY, err);
    }
    if (access(db->path, R_OK | W_OK) < 0)
        return cs_sql_fail(db, SQLITE_READONLY, err);
    if ((st.st_mode & 077) && chmod(db->path, 0600) < 0)
        return cs_fail_errno(err, "%s: others can read it, and that cannot be changed", db->path);
    return 0;
}

/* Whoever is first makes it a WAL database; that step does not wait by itself for the others who
 * try at the same time. */
static int set_up(struct cs_db *db, struct cs_err *err)
{
    static const char setup[] = "PRAGMA journal_mode = WAL;"
                                "PRAGMA synchronous = " CS_STORE_SYNC ";"
                                "PRAGMA journal_size_limit = 33554432;"
                                "PRAGMA cache_size = -4096;"
                                "PRAGMA temp_store = MEMORY;"
                                "PRAGMA secure_delete = ON;" /* states and vaults */
                                "PRAGMA trusted_schema = OFF;";
    int code = SQLITE_BUSY;
    for (int i = 0; i <= CS_STORE_BUSY_MS / 5 && (code & 0xFF) == SQLITE_BUSY; i++) {
        if (i)
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        code = sqlite3_exec(db->sqlite, setup, NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? 0 : cs_sql_fail(db, code, err);
}

int cs_db_open(const char *dir, struct cs_db *db, struct cs_err *err)
{
    *db = (struct cs_db){.owner_fd = -1, .mark_fd = -1, .patience_ms = CS_STORE_BUSY_MS};
    if (snprintf(db->dir, sizeof db->dir, "%s", dir) >= (int)sizeof db->dir ||
        snprintf(db->path, sizeof db->path, "%s/caisson.db", dir) >= (int)sizeof db->path)
        return cs_fail(err, CS_SYSTEM, "the path of the data directory is too long: %.200s", dir);
    if (make_private(db, err) < 0)
        return -1;
    /* One thread at a time has it, so it needs no lock of its own. */
    int code =
        sqlite3_open_v2(db->path, &db->sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        return cs_sql_fail(db, code, err);
    sqlite3_extended_result_codes(db->sqlite, 1);
    sqlite3_busy_handler(db->sqlite, wait_for_others, db);
    sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (set_up(db, err) < 0 || cs_db_migrate(db, cs_migrations, err) < 0 ||
        cs_owner_open(db, err) < 0 || cs_mark_open(db, err) < 0 || cs_flush_open(db, err) < 0)
        return -1;
    /* Is it writable? A database that can only be read would be noticed at the first change. */
    return cs_db_probe(db, err);
}

void cs_db_close(struct cs_db *db)
{
    cs_flush_close(db);
    for (size_t i = 0; i < CS_SQL_COUNT; i++)
        sqlite3_finalize(db->statements[i]);
    sqlite3_close(db->sqlite);
    db->sqlite = NULL;
    cs_owner_close(db);
    if (db->mark_fd >= 0)
        close(db->mark_fd);
}

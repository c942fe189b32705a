/*
 * A copy of all there is, in one file, while it is used.
 *
 * The database is copied as it is at one moment. Contents are put before what refers to them, and
 * removed only after that is gone for long: so those that are there before that moment, and those
 * that have come by the end, are all that it refers to.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/own.h"
#include "store/inside.h"
#include "store/tar.h"

#define STEP_PAGES  1024
#define PROGRESS_MS 200

struct cs_backup {
    char *file;
    void (*progress)(void *ctx, uint64_t bytes, uint64_t of);
    void *ctx;
    uv_timer_t timer;
    _Atomic uint64_t moved, of; /* both threads' */
};

/* --- what there is --- */

/* Names of contents, sorted once all are there. */
struct names {
    char (*at)[72];
    size_t count, cap;
};

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool has(const struct names *names, const char *name)
{
    return names->count && bsearch(name, names->at, names->count, sizeof *names->at, compare);
}

static void add(struct names *names, const char *name)
{
    if (names->count == names->cap) {
        names->cap = names->cap ? names->cap * 2 : 256;
        names->at = cs_realloc(names->at, names->cap, sizeof *names->at);
    }
    snprintf(names->at[names->count++], sizeof *names->at, "%.71s", name);
}

static void names_done(struct names *names)
{
    free(names->at);
}

/* Not what is being written, nor what somebody else put there. */
static bool is_content(const char *name)
{
    unsigned char hash[32];
    size_t len = strlen(name);
    return (len == 64 || (len == 68 && strcmp(name + 64, ".zst") == 0)) &&
           cs_hex_read(cs_strn(name, 64), hash, sizeof hash);
}

static int list_dir(const char *path, struct names *names, struct cs_err *err)
{
    DIR *dir = opendir(path);
    if (!dir)
        return errno == ENOENT ? 0 : cs_fail_errno(err, "%s", path);
    for (struct dirent *e; (e = readdir(dir));)
        if (is_content(e->d_name))
            add(names, e->d_name);
    closedir(dir);
    return 0;
}

static int list_contents(const struct cs_db *db, struct names *names, struct cs_err *err)
{
    for (int i = 0; i < 256; i++) {
        CS_AUTO_BUF struct cs_buf path = {0};
        cs_buf_printf(&path, "%s/blobs/%02x", db->dir, i);
        if (list_dir(cs_buf_cstr(&path), names, err) < 0)
            return -1;
    }
    if (names->count)
        qsort(names->at, names->count, sizeof *names->at, compare);
    return 0;
}

/* --- into the file --- */

/* Of the data directory; one that is not there (any more) is left out. */
static int put_file(const struct cs_db *db, struct cs_backup *b, struct cs_tar *tar,
                    const char *name, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    struct stat st;
    cs_buf_printf(&path, "%s/%s", db->dir, name);
    CS_AUTO_FD int fd = open(cs_buf_cstr(&path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        return cs_fail_errno(err, "%s", cs_buf_cstr(&path));
    if (!S_ISREG(st.st_mode))
        return cs_fail(err, CS_SYSTEM, "%s is no file", cs_buf_cstr(&path));
    return cs_tar_file(tar, name, fd, (uint64_t)st.st_size, &b->moved, err);
}

/* Those that `before` does not have. */
static int put_contents(const struct cs_db *db, struct cs_backup *b, struct cs_tar *tar,
                        const struct names *names, const struct names *before, struct cs_err *err)
{
    for (size_t i = 0; i < names->count; i++) {
        char name[96];
        snprintf(name, sizeof name, "blobs/%.2s/%s", names->at[i], names->at[i]);
        if (before && has(before, names->at[i]))
            continue;
        if (put_file(db, b, tar, name, err) < 0)
            return -1;
    }
    return 0;
}

static int put_dirs(struct cs_tar *tar, struct cs_err *err)
{
    int result = cs_tar_dir(tar, "blobs/", err);
    for (int i = 0; result == 0 && i < 256; i++) {
        char name[16];
        snprintf(name, sizeof name, "blobs/%02x/", i);
        result = cs_tar_dir(tar, name, err);
    }
    return result;
}

/* Parts of the ledger that have left the database. */
static int put_archives(const struct cs_db *db, struct cs_backup *b, struct cs_tar *tar,
                        struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_buf_printf(&path, "%s/archive", db->dir);
    DIR *dir = opendir(cs_buf_cstr(&path));
    if (!dir)
        return errno == ENOENT ? 0 : cs_fail_errno(err, "%s", cs_buf_cstr(&path));
    int result = cs_tar_dir(tar, "archive/", err);
    for (struct dirent *e; result == 0 && (e = readdir(dir));) {
        char name[96];
        int len = snprintf(name, sizeof name, "archive/%s", e->d_name);
        struct cs_str text = cs_str(e->d_name);
        if (cs_str_starts(text, "ledger-") && cs_str_ends(text, ".zst") && len < (int)sizeof name)
            result = put_file(db, b, tar, name, err);
    }
    closedir(dir);
    return result;
}

/* --- the database --- */

static int copy_pages(struct cs_db *from, sqlite3 *to, struct cs_backup *b, struct cs_err *err)
{
    sqlite3_backup *copy = sqlite3_backup_init(to, "main", from->sqlite, "main");
    if (!copy)
        return cs_fail(err, CS_SYSTEM, "the copy of the database: %s", sqlite3_errmsg(to));
    int code;
    while ((code = sqlite3_backup_step(copy, STEP_PAGES)) == SQLITE_OK)
        ;
    uint64_t bytes = (uint64_t)sqlite3_backup_pagecount(copy) * 4096;
    sqlite3_backup_finish(copy);
    b->of += bytes;
    if (code == SQLITE_DONE)
        return 0;
    bool theirs = (code & 0xFF) == SQLITE_CORRUPT || (code & 0xFF) == SQLITE_NOTADB;
    if (theirs)
        return cs_sql_fail(from, code, err);
    return cs_fail(err, CS_SYSTEM, "the copy of the database: %s%s", sqlite3_errstr(code),
                   (code & 0xFF) == SQLITE_FULL ? ": make room on the disk, or choose another"
                                                : "");
}

/* One transaction all the while: it is copied as it is at its beginning, whatever is written. */
static int copy_database(const struct cs_db *db, const char *to, struct cs_backup *b,
                         struct cs_err *err)
{
    struct cs_db from = {.owner_fd = -1};
    sqlite3 *copy = NULL;
    int result = -1;
    snprintf(from.path, sizeof from.path, "%s", db->path);
    int code =
        sqlite3_open_v2(db->path, &from.sqlite, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_busy_timeout(from.sqlite, CS_STORE_BUSY_MS);
    if (code != SQLITE_OK)
        cs_sql_fail(&from, code, err);
    else if (sqlite3_open_v2(to, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
             SQLITE_OK)
        cs_fail(err, CS_SYSTEM, "%s: %s", to, sqlite3_errmsg(copy));
    else if (cs_sql_exec(&from, "BEGIN; SELECT count(*) FROM sqlite_schema", err) == 0) {
        /* It is synced later, as a part of the whole. */
        sqlite3_exec(copy, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", NULL, NULL, NULL);
        result = copy_pages(&from, copy, b, err);
    }
    sqlite3_close(copy);
    sqlite3_close(from.sqlite);
    return result;
}

static int put_database(const struct cs_db *db, struct cs_backup *b, struct cs_tar *tar,
                        struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    struct stat st;
    if (cs_tar_beside(tar, &path, err) < 0)
        return -1;
    int result = copy_database(db, cs_buf_cstr(&path), b, err);
    if (result == 0) {
        CS_AUTO_FD int fd = open(cs_buf_cstr(&path), O_RDONLY | O_CLOEXEC);
        result = fd < 0 || fstat(fd, &st) < 0
                     ? cs_fail_errno(err, "%s", cs_buf_cstr(&path))
                     : cs_tar_file(tar, "caisson.db", fd, (uint64_t)st.st_size, &b->moved, err);
    }
    unlink(cs_buf_cstr(&path));
    return result;
}

/* --- the operation --- */

static uint64_t size_of(const struct cs_db *db, const struct names *names)
{
    uint64_t all = 0;
    for (size_t i = 0; i < names->count; i++) {
        CS_AUTO_BUF struct cs_buf path = {0};
        struct stat st;
        cs_buf_printf(&path, "%s/blobs/%.2s/%s", db->dir, names->at[i], names->at[i]);
        if (stat(cs_buf_cstr(&path), &st) == 0)
            all += (uint64_t)st.st_size;
    }
    return all;
}

static int put_all(const struct cs_db *db, struct cs_backup *b, struct cs_tar *tar,
                   struct cs_err *err)
{
    CS_AUTO(names_done) struct names before = {0}, after = {0};
    if (list_contents(db, &before, err) < 0)
        return -1;
    b->of = size_of(db, &before);
    if (put_dirs(tar, err) < 0 || put_contents(db, b, tar, &before, NULL, err) < 0 ||
        put_database(db, b, tar, err) < 0 || list_contents(db, &after, err) < 0 ||
        put_contents(db, b, tar, &after, &before, err) < 0 ||
        put_file(db, b, tar, "ledger.key", err) < 0 ||
        put_file(db, b, tar, "ledger.pub", err) < 0 || put_archives(db, b, tar, err) < 0)
        return -1;
    return cs_tar_finish(tar, err);
}

static int run_backup(const struct cs_db *db, struct cs_op *op)
{
    struct cs_tar *tar = NULL;
    if (cs_tar_open(op->backup->file, &tar, &op->err) < 0)
        return -1;
    int result = put_all(db, op->backup, tar, &op->err);
    cs_tar_free(tar);
    return result;
}

/* What came meanwhile was not counted before. */
static void tell_progress(struct cs_backup *b)
{
    uint64_t moved = b->moved, of = b->of;
    b->progress(b->ctx, moved, of > moved ? of : moved);
}

static void on_timer(uv_timer_t *timer)
{
    tell_progress(timer->data);
}

static void on_closed(uv_handle_t *handle)
{
    struct cs_backup *b = handle->data;
    free(b->file);
    free(b);
}

static void tell(const struct cs_op *op)
{
    struct cs_backup *b = op->backup;
    if (b->progress && !op->err.code)
        tell_progress(b);
    cs_op_tell_stored(op);
    uv_close((uv_handle_t *)&b->timer, on_closed);
}

static const struct cs_op_kind kind_backup = {.pool = run_backup, .tell = tell};

void cs_store_backup(struct cs_store *store, const char *file,
                     void (*progress)(void *ctx, uint64_t bytes, uint64_t of), cs_stored *done,
                     void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_backup, ctx);
    struct cs_backup *b = CS_NEW(struct cs_backup);
    op->done.stored = done;
    op->backup = b;
    b->file = cs_strdup(file);
    b->progress = progress;
    b->ctx = ctx;
    b->timer.data = b;
    uv_timer_init(cs_store_loop(store), &b->timer);
    if (progress)
        uv_timer_start(&b->timer, on_timer, PROGRESS_MS, PROGRESS_MS);
    cs_op_ask(op);
}

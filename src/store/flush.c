/*
 * From the log into the file. A commit appends to the log (-wal), and that is all that anybody
 * waits for; what is in the log is copied into the file by a thread of its own.
 *
 *   writer:  commit, commit, commit ... the log has grown -> wake      commit -> the rest -> ...
 *   here:                                                    copy, sync
 *
 * While it copies the log grows on, so it never has all of it, and only then can the log begin
 * anew. Now and then, between two commits, the writer copies the rest itself: that is little.
 */
#include "base/mem.h"
#include "store/inside.h"

#define FLUSH_PAGES 1024 /* 4 MB: what is worth to be copied */
#define REST_PAGES  4096 /* 16 MB: the log should begin anew */

struct cs_flush {
    uv_thread_t thread;
    uv_mutex_t lock; /* for all below */
    uv_cond_t wake;
    int pages;   /* of the log, as of the last commit */
    int flushed; /* of those, when it was copied last */
    bool wanted, stopping;
    bool has_rest;   /* that the writer should copy */
    sqlite3 *sqlite; /* the thread's */
};

/* In the writer's thread, after each commit. */
static int on_commit(void *ctx, sqlite3 *sqlite, const char *name, int pages)
{
    struct cs_flush *f = ctx;
    (void)sqlite;
    (void)name;
    uv_mutex_lock(&f->lock);
    if (pages < f->pages)
        f->flushed = 0; /* it has begun anew */
    f->pages = pages;
    if (!f->wanted && pages - f->flushed >= FLUSH_PAGES) {
        f->wanted = true;
        uv_cond_signal(&f->wake);
    }
    uv_mutex_unlock(&f->lock);
    return SQLITE_OK;
}

static void work(void *arg)
{
    struct cs_flush *f = arg;
    uv_mutex_lock(&f->lock);
    while (!f->stopping) {
        if (!f->wanted) {
            uv_cond_wait(&f->wake, &f->lock);
            continue;
        }
        uv_mutex_unlock(&f->lock);
        /* What it cannot do now, because others are at it or the disk is full, is in the log, and
         * safe there; it is tried again when the log has grown more. */
        int pages = 0, copied = 0;
        sqlite3_wal_checkpoint_v2(f->sqlite, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &copied);
        uv_mutex_lock(&f->lock);
        f->flushed = f->pages;
        f->has_rest = f->pages >= REST_PAGES;
        f->wanted = false;
    }
    uv_mutex_unlock(&f->lock);
}

int cs_flush_open(struct cs_db *db, struct cs_err *err)
{
    struct cs_flush *f = CS_NEW(struct cs_flush);
    int code =
        sqlite3_open_v2(db->path, &f->sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(f->sqlite, "PRAGMA synchronous = " CS_STORE_SYNC, NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        sqlite3_close(f->sqlite);
        free(f);
        return cs_sql_fail(db, code, err);
    }
    uv_mutex_init(&f->lock);
    uv_cond_init(&f->wake);
    code = uv_thread_create(&f->thread, work, f);
    if (code < 0) {
        sqlite3_close(f->sqlite);
        uv_mutex_destroy(&f->lock);
        uv_cond_destroy(&f->wake);
        free(f);
        return cs_fail(err, CS_SYSTEM, "a thread for the database: %s", uv_strerror(code));
    }
    db->flush = f;
    /* This is instead of what SQLite does by itself, in the midst of a commit. */
    sqlite3_wal_hook(db->sqlite, on_commit, f);
    return 0;
}

void cs_flush_rest(struct cs_db *db)
{
    struct cs_flush *f = db->flush;
    uv_mutex_lock(&f->lock);
    bool has_rest = f->has_rest;
    f->has_rest = false;
    uv_mutex_unlock(&f->lock);
    if (has_rest)
        sqlite3_wal_checkpoint_v2(db->sqlite, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

void cs_flush_close(struct cs_db *db)
{
    struct cs_flush *f = db->flush;
    if (!f)
        return;
    uv_mutex_lock(&f->lock);
    f->stopping = true;
    uv_cond_signal(&f->wake);
    uv_mutex_unlock(&f->lock);
    uv_thread_join(&f->thread);
    sqlite3_close(f->sqlite);
    uv_mutex_destroy(&f->lock);
    uv_cond_destroy(&f->wake);
    free(f);
    db->flush = NULL;
}

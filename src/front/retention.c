#include "front/retention.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "front/events.h"

#define OLD_MOST 64 /* archives removed in one go */

struct cs_retention {
    uv_loop_t *loop;
    uv_work_t work;
    struct cs_store *store;
    const struct cs_ledger *ledger;
    char dir[CS_DATA_PATH];
    int64_t entries_before, archives_before;
    void (*done)(void *ctx);
    void *ctx;
    int lock;
    bool stopping;
    /* What came of it. */
    struct cs_ledger_archived archived;
    char old[OLD_MOST][80]; /* names of archives that may go */
    size_t old_count, old_at;
    struct cs_err err;
};

static void finish(struct cs_retention *r)
{
    void (*done)(void *ctx) = r->done;
    void *ctx = r->ctx;
    if (r->err.code)
        cs_log_line(CS_LOG_ERROR, "retention", "nothing was removed: %s", r->err.msg);
    cs_closep(&r->lock);
    free(r);
    done(ctx);
}

/* --- archives that are old enough --- */

static void remove_next(struct cs_retention *r);

static void on_removal_noted(void *ctx, const struct cs_err *err)
{
    struct cs_retention *r = ctx;
    CS_AUTO_BUF struct cs_buf path = {0};
    if (err->code) {
        r->err = *err;
        finish(r);
        return;
    }
    cs_buf_printf(&path, "%s/" CS_LEDGER_ARCHIVE "/%s", r->dir, r->old[r->old_at]);
    if (unlink(cs_buf_cstr(&path)) == 0)
        cs_log_line(CS_LOG_INFO, "retention", "removed the archive %s", r->old[r->old_at]);
    r->old_at++;
    remove_next(r);
}

static void remove_next(struct cs_retention *r)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    if (r->old_at == r->old_count || r->stopping) {
        finish(r);
        return;
    }
    cs_json_open(&w, '{');
    cs_json_key(&w, "file");
    cs_json_put_z(&w, r->old[r->old_at]);
    cs_json_close(&w, '}');
    cs_event_note(r->store, "archive.removed", NULL, cs_buf_str(&data), on_removal_noted, r);
}

static void find_old(struct cs_retention *r)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_buf_printf(&path, "%s/" CS_LEDGER_ARCHIVE, r->dir);
    DIR *d = opendir(cs_buf_cstr(&path));
    for (struct dirent *e; d && r->old_count < OLD_MOST && (e = readdir(d));) {
        struct stat st;
        struct cs_str name = cs_str(e->d_name);
        if (!cs_str_starts(name, "ledger-") || !cs_str_ends(name, ".jsonl.zst") ||
            name.len >= sizeof r->old[0] ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
            (int64_t)st.st_mtim.tv_sec * 1000 >= r->archives_before)
            continue;
        memcpy(r->old[r->old_count++], name.at, name.len + 1);
    }
    if (d)
        closedir(d);
}

/* --- entries that are old enough --- */

static void archive_work(uv_work_t *work)
{
    struct cs_retention *r = work->data;
    if (cs_ledger_archive(r->dir, r->ledger, r->entries_before, &r->archived, &r->err) == 0)
        find_old(r);
}

static void on_archived(uv_work_t *work, int status);

static void on_purged(void *ctx, const struct cs_err *err)
{
    struct cs_retention *r = ctx;
    r->err = *err;
    if (err->code || r->stopping) {
        finish(r);
    } else if (r->archived.more) {
        r->old_count = 0;
        uv_queue_work(r->loop, &r->work, archive_work, on_archived);
    } else {
        remove_next(r);
    }
}

static void on_archive_noted(void *ctx, const struct cs_err *err)
{
    struct cs_retention *r = ctx;
    if (err->code) {
        r->err = *err;
        finish(r);
        return;
    }
    cs_log_line(CS_LOG_INFO, "retention",
                "entries %" PRIu64 " to %" PRIu64 " are in the archive %s", r->archived.from,
                r->archived.to, r->archived.file);
    cs_store_ledger_purge(r->store, r->archived.to, on_purged, r);
}

static void on_archived(uv_work_t *work, int status)
{
    struct cs_retention *r = work->data;
    const struct cs_ledger_archived *a = &r->archived;
    CS_AUTO_BUF struct cs_buf data = {0};
    if (status < 0 || r->err.code) {
        finish(r);
        return;
    }
    if (!a->to) {
        remove_next(r);
        return;
    }
    cs_buf_printf(&data, "{\"bytes\":%" PRIu64 ",\"file\":\"%s\",\"from\":%" PRIu64 ",\"hash\":\"",
                  a->bytes, a->file, a->from);
    cs_hex_put(&data, a->hash, 32);
    cs_buf_printf(&data, "\",\"to\":%" PRIu64 "}", a->to);
    cs_event_note(r->store, "ledger.archived", NULL, cs_buf_str(&data), on_archive_noted, r);
}

/* --- */

static int take_lock(const char *dir)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_buf_printf(&path, "%s/archive.lock", dir);
    CS_AUTO_FD int fd = open(cs_buf_cstr(&path), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? CS_TAKE_FD(fd) : -1;
}

struct cs_retention *cs_retention_start(uv_loop_t *loop, const struct cs_world *world,
                                        const struct cs_settings *s, void (*done)(void *ctx),
                                        void *ctx)
{
    int64_t now = cs_time_ms();
    cs_store_executions_forget(world->store, now - (int64_t)s->executions_keep, NULL, NULL);
    cs_store_cache_forget(world->store, (struct cs_str){0}, now, NULL, NULL);
    int lock = world->ledger ? take_lock(world->data) : -1;
    if (lock < 0)
        return NULL;
    struct cs_retention *r = CS_NEW(struct cs_retention);
    r->loop = loop;
    r->work.data = r;
    r->store = world->store;
    r->ledger = world->ledger;
    memcpy(r->dir, world->data, sizeof r->dir);
    r->entries_before = now - (int64_t)s->executions_keep;
    r->archives_before = now - (int64_t)s->archive_keep;
    r->done = done;
    r->ctx = ctx;
    r->lock = lock;
    uv_queue_work(loop, &r->work, archive_work, on_archived);
    return r;
}

void cs_retention_stop(struct cs_retention *r)
{
    r->stopping = true;
}

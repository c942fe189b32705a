/*
 * The files of a session, for a door. Reading takes what the last execution that succeeded left,
 * also while another one runs. Changing waits until nobody is in the session.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "run/session_in.h"

/* How long a change waits for the execution that is in the session. */
#define CHANGE_WAIT_MS 10000

struct job {
    struct cs_sessions *s;
    char id[CS_SESSION_ID + 1], tenant[65], path[CS_SESSION_PATH + 1];
    struct cs_buf content;
    struct cs_arena arena;
    struct cs_session_file *files;
    size_t count;
    struct cs_hold *hold;
    struct cs_quota quota;
    struct cs_err err;
    uv_work_t work;
    void (*perform)(struct job *j); /* in the thread pool */
    cs_files_found *list;
    cs_file_found *get;
    cs_stored *changed;
    void *ctx;
};

static struct job *job_new(struct cs_sessions *s, const struct cs_caller *caller, void *ctx)
{
    struct job *j = CS_NEW(struct job);
    j->s = s;
    j->ctx = ctx;
    j->work.data = j;
    j->quota = cs_sessions_quota(s);
    snprintf(j->tenant, sizeof j->tenant, "%s", caller->tenant);
    s->pending++;
    return j;
}

static void end(struct job *j)
{
    struct cs_sessions *s = j->s;
    if (j->list)
        j->list(j->ctx, &j->err, j->files, j->count);
    if (j->get)
        j->get(j->ctx, &j->err, cs_buf_str(&j->content));
    if (j->changed)
        j->changed(j->ctx, &j->err);
    free(j->files);
    cs_buf_done(&j->content);
    cs_arena_done(&j->arena);
    free(j);
    cs_sessions_less(s);
}

static void on_refused(void *ctx)
{
    end(ctx);
}

static void on_work(uv_work_t *w)
{
    struct job *j = w->data;
    j->err = (struct cs_err){0};
    j->perform(j);
}

static void on_worked(uv_work_t *w, int status)
{
    struct job *j = w->data;
    (void)status;
    if (j->hold)
        cs_hold_leave(j->hold);
    end(j);
}

static void work(struct job *j)
{
    uv_queue_work(j->s->loop, &j->work, on_work, on_worked);
}

static void on_alive(void *ctx, const struct cs_err *err, const struct cs_session_row *rows,
                     size_t count)
{
    struct job *j = ctx;
    (void)rows;
    (void)count;
    j->err = *err;
    if (err->code == CS_OK)
        work(j);
    else
        end(j);
}

static void on_held(void *ctx, const struct cs_err *err, const struct cs_held *held)
{
    struct job *j = ctx;
    (void)held;
    j->err = *err;
    if (err->code == CS_OK) {
        work(j);
        return;
    }
    j->hold = NULL;
    end(j);
}

static void begin(struct job *j, struct cs_str id, struct cs_str path)
{
    if (!cs_session_id_ok(id))
        cs_fail(&j->err, CS_MISSING, "there is no such session");
    else if (!j->list)
        cs_session_path_check(path, &j->err);
    if (j->err.code != CS_OK) {
        cs_soon(j->s, on_refused, j);
        return;
    }
    memcpy(j->id, id.at, id.len);
    if (!j->list)
        memcpy(j->path, path.at, path.len);
    if (j->changed)
        j->hold = cs_session_hold(j->s, cs_str(j->tenant), id, (struct cs_str){0}, CHANGE_WAIT_MS,
                                  on_held, j);
    else
        cs_store_session_get(j->s->store, cs_str(j->tenant), id, on_alive, j);
}

static void list(struct job *j)
{
    cs_disk_list(j->s->root, j->id, &j->arena, &j->files, &j->count, &j->err);
}

void cs_session_files(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                      cs_files_found *done, void *ctx)
{
    struct job *j = job_new(s, caller, ctx);
    j->list = done;
    j->perform = list;
    begin(j, id, (struct cs_str){0});
}

static void get(struct job *j)
{
    cs_disk_get(j->s->root, j->id, j->path, j->quota.bytes, &j->content, &j->err);
}

void cs_session_file_get(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                         struct cs_str path, cs_file_found *done, void *ctx)
{
    struct job *j = job_new(s, caller, ctx);
    j->get = done;
    j->perform = get;
    begin(j, id, path);
}

static void put(struct job *j)
{
    cs_disk_put(j->s->root, j->id, j->path, cs_buf_str(&j->content), &j->quota, &j->err);
}

static void nobody_asks(void *ctx, const struct cs_err *err)
{
    (void)ctx;
    (void)err;
}

void cs_session_file_put(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                         struct cs_str path, struct cs_str content, cs_stored *done, void *ctx)
{
    struct job *j = job_new(s, caller, ctx);
    j->changed = done ? done : nobody_asks;
    j->perform = put;
    if (content.len > s->limits.file_bytes)
        cs_fail(&j->err, CS_LIMIT,
                "the file is %zu bytes, all files of a session at most %llu (setting "
                "session.files)",
                content.len, (unsigned long long)s->limits.file_bytes);
    else
        cs_buf_putstr(&j->content, content);
    begin(j, id, path);
}

static void take(struct job *j)
{
    cs_disk_take(j->s->root, j->id, j->path, &j->err);
}

void cs_session_file_remove(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                            struct cs_str path, cs_stored *done, void *ctx)
{
    struct job *j = job_new(s, caller, ctx);
    j->changed = done ? done : nobody_asks;
    j->perform = take;
    begin(j, id, path);
}

/*
 * A store and the sessions on it, in a directory of their own. Each helper asks, runs the loop
 * until the answer is there, and leaves it in the fixture.
 */
#ifndef TESTS_RUN_SESSIONS_H
#define TESTS_RUN_SESSIONS_H

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "base/file.h"
#include "base/mem.h"
#include "run/session_disk.h"
#include "run/session_in.h"
#include "run/sessions.h"

struct fixture {
    uv_loop_t loop;
    char dir[64];
    struct cs_store *store;
    struct cs_sessions *s;
    struct cs_session_limits limits;
    struct cs_caller me, other;
    char id[40]; /* of the session that was started last */

    unsigned answers; /* that have come */
    struct cs_err err;
    struct cs_session_row row; /* numbers only */
    struct cs_buf text;        /* state, content, or the list: "path size\n" */
    char workspace[200], workspace_out[200];
};

/* One who asks, and what came of it. */
struct wish {
    struct fixture *f;
    struct cs_hold *hold;
    bool done, released, was_released;
    struct cs_err err;
    struct cs_buf state;
    unsigned order; /* which answer it was */
};

static inline void f_open(struct fixture *f)
{
    struct cs_err err = {0};
    if (cs_store_open(&f->loop, f->dir, &f->store, &err) < 0 ||
        cs_sessions_new(&f->loop, f->store, f->dir, &f->limits, &f->s, &err) < 0)
        fail_msg("%s", err.msg);
}

static inline void f_on_closed(void *ctx)
{
    ((struct fixture *)ctx)->answers++;
}

static inline void f_wait(struct fixture *f)
{
    unsigned before = f->answers;
    while (f->answers == before)
        uv_run(&f->loop, UV_RUN_ONCE);
}

static inline void f_close(struct fixture *f)
{
    cs_sessions_close(f->s, f_on_closed, f);
    f_wait(f);
    cs_store_close(f->store, f_on_closed, f);
    f_wait(f);
}

static inline int f_set_up(void **state)
{
    struct fixture *f = CS_NEW(struct fixture);
    f->limits = (struct cs_session_limits){
        .state_bytes = 1000, .file_bytes = 2000, .files = 10, .per_tenant = 5, .idle_ms = 3600000};
    f->me = cs_caller_local();
    f->other = f->me;
    snprintf(f->other.tenant, sizeof f->other.tenant, "other");
    snprintf(f->dir, sizeof f->dir, "/tmp/caisson-unit-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    uv_loop_init(&f->loop);
    f_open(f);
    *state = f;
    return 0;
}

static inline int f_tear_down(void **state)
{
    struct fixture *f = *state;
    f_close(f);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    cs_dir_remove(AT_FDCWD, f->dir);
    cs_buf_done(&f->text);
    free(f);
    return 0;
}

static inline void f_stored(void *ctx, const struct cs_err *err)
{
    struct fixture *f = ctx;
    f->err = *err;
    f->answers++;
}

static inline void f_session(void *ctx, const struct cs_err *err, const struct cs_session_row *rows,
                             size_t count)
{
    struct fixture *f = ctx;
    f->err = *err;
    f->answers++;
    cs_buf_clear(&f->text);
    f->row = (struct cs_session_row){0};
    if (!count)
        return;
    f->row = *rows;
    cs_buf_putstr(&f->text, rows->state);
    snprintf(f->id, sizeof f->id, "%.*s", CS_STR_ARG(rows->id));
}

static inline void f_files(void *ctx, const struct cs_err *err, const struct cs_session_file *files,
                           size_t count)
{
    struct fixture *f = ctx;
    f->err = *err;
    f->answers++;
    cs_buf_clear(&f->text);
    for (size_t i = 0; i < count; i++)
        cs_buf_printf(&f->text, "%.*s%s %d\n", CS_STR_ARG(files[i].path),
                      files[i].is_directory ? "/" : "", (int)files[i].size);
}

static inline void f_file(void *ctx, const struct cs_err *err, struct cs_str content)
{
    struct fixture *f = ctx;
    f->err = *err;
    f->answers++;
    cs_buf_clear(&f->text);
    cs_buf_putstr(&f->text, content);
}

static inline const char *start(struct fixture *f)
{
    cs_session_start(f->s, &f->me, CS_STR("a name"), 0, f_session, f);
    f_wait(f);
    assert_int_equal(f->err.code, CS_OK);
    return f->id;
}

static inline int put(struct fixture *f, const char *path, const char *text)
{
    cs_session_file_put(f->s, &f->me, cs_str(f->id), cs_str(path), cs_str(text), f_stored, f);
    f_wait(f);
    return (int)f->err.code;
}

static inline int get(struct fixture *f, const char *path)
{
    cs_session_file_get(f->s, &f->me, cs_str(f->id), cs_str(path), f_file, f);
    f_wait(f);
    return (int)f->err.code;
}

static inline int take(struct fixture *f, const char *path)
{
    cs_session_file_remove(f->s, &f->me, cs_str(f->id), cs_str(path), f_stored, f);
    f_wait(f);
    return (int)f->err.code;
}

static inline const char *listing(struct fixture *f)
{
    cs_session_files(f->s, &f->me, cs_str(f->id), f_files, f);
    f_wait(f);
    return f->err.code == CS_OK ? cs_buf_cstr(&f->text) : cs_code_name(f->err.code);
}

static inline void w_held(void *ctx, const struct cs_err *err, const struct cs_held *held)
{
    struct wish *w = ctx;
    w->done = true;
    w->err = *err;
    w->order = ++w->f->answers;
    cs_buf_clear(&w->state);
    if (!held) {
        w->hold = NULL;
        return;
    }
    cs_buf_putstr(&w->state, held->state);
    w->was_released = held->released;
    snprintf(w->f->workspace, sizeof w->f->workspace, "%s", held->workspace);
    snprintf(w->f->workspace_out, sizeof w->f->workspace_out, "%s", held->workspace_out);
}

static inline void w_released(void *ctx, const struct cs_err *err)
{
    struct wish *w = ctx;
    w->released = true;
    w->err = *err;
    w->order = ++w->f->answers;
}

static inline void ask_as(struct wish *w, struct fixture *f, const char *execution,
                          uint32_t wait_ms)
{
    *w = (struct wish){.f = f};
    w->hold = cs_session_hold(f->s, cs_str(f->me.tenant), cs_str(f->id), cs_str(execution), wait_ms,
                              w_held, w);
    assert_false(w->done);
}

static inline void ask(struct wish *w, struct fixture *f, uint32_t wait_ms)
{
    ask_as(w, f, "", wait_ms);
}

static inline int hold(struct wish *w, struct fixture *f, uint32_t wait_ms)
{
    ask(w, f, wait_ms);
    while (!w->done)
        uv_run(&f->loop, UV_RUN_ONCE);
    return (int)w->err.code;
}

static inline int release(struct wish *w, const char *state)
{
    cs_session_release(w->hold, cs_str(state), w_released, w);
    assert_false(w->released);
    while (!w->released)
        uv_run(&w->f->loop, UV_RUN_ONCE);
    cs_buf_done(&w->state);
    return (int)w->err.code;
}

/* The state, as the next one finds it. */
static inline void assert_state(struct fixture *f, const char *state)
{
    struct wish w;
    assert_int_equal(hold(&w, f, 1000), CS_OK);
    assert_string_equal(cs_buf_cstr(&w.state), state);
    release(&w, "");
}

static inline char *in_files(struct fixture *f, const char *name)
{
    static char path[2048];
    snprintf(path, sizeof path, "%s/sessions/%s/files/%s", f->dir, f->id, name);
    return path;
}

static inline bool there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static inline void write_at(const char *dir, const char *name, size_t size)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    CS_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(write(fd, "x", 1), 1);
}

#endif

/* A store in a directory of its own, and its operations as if they waited for their answer. */
#ifndef CS_TEST_STORE_H
#define CS_TEST_STORE_H

#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/store.h"

struct fixture {
    uv_loop_t loop;
    char dir[64];
    struct cs_store *store; /* NULL: closed */
    struct cs_arena arena;
    /* the last answer */
    bool done;
    struct cs_err err;
    size_t count;
    struct cs_key_row *keys;
    struct cs_session_row *sessions;
    struct cs_execution_row *executions;
    struct cs_artifact_row *artifacts;
    struct cs_str content;
};

__attribute__((unused)) static void f_open(struct fixture *f)
{
    struct cs_err err = {0};
    if (cs_store_open(&f->loop, f->dir, &f->store, &err) < 0)
        fail_msg("%s", err.msg);
}

__attribute__((unused)) static void on_f_closed(void *ctx)
{
    *(bool *)ctx = true;
}

__attribute__((unused)) static void f_close(struct fixture *f)
{
    bool closed = false;
    if (!f->store)
        return;
    cs_store_close(f->store, on_f_closed, &closed);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_true(closed);
    f->store = NULL;
}

__attribute__((unused)) static int f_setup(void **state)
{
    struct fixture *f = CS_NEW(struct fixture);
    strcpy(f->dir, "/tmp/caisson-store-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    uv_loop_init(&f->loop);
    f_open(f);
    *state = f;
    return 0;
}

__attribute__((unused)) static int f_teardown(void **state)
{
    struct fixture *f = *state;
    f_close(f);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    cs_dir_remove(AT_FDCWD, f->dir);
    cs_arena_done(&f->arena);
    free(f);
    return 0;
}

/* --- answers --- */

static int f_wait(struct fixture *f)
{
    assert_false(f->done); /* never before the operation has returned */
    while (!f->done)
        uv_run(&f->loop, UV_RUN_ONCE);
    return (int)f->err.code;
}

static void f_begin(struct fixture *f)
{
    f->done = false;
    f->count = 0;
    f->content = (struct cs_str){0};
}

static void f_said(struct fixture *f, const struct cs_err *err, size_t count)
{
    assert_false(f->done);
    f->done = true;
    f->err = *err;
    f->count = count;
}

static void *f_copy(struct fixture *f, const void *rows, size_t n)
{
    void *copy = cs_arena_alloc(&f->arena, n + 1);
    if (n)
        memcpy(copy, rows, n);
    return copy;
}

static void f_texts(struct fixture *f, struct cs_str *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *texts[i] = cs_arena_dup(&f->arena, *texts[i]);
}

__attribute__((unused)) static void f_stored(void *ctx, const struct cs_err *err)
{
    f_said(ctx, err, 0);
}

__attribute__((unused)) static void f_keys(void *ctx, const struct cs_err *err,
                                           const struct cs_key_row *rows, size_t count)
{
    struct fixture *f = ctx;
    f_said(f, err, count);
    f->keys = f_copy(f, rows, count * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        struct cs_key_row *r = &f->keys[i];
        f_texts(f, (struct cs_str *[]){&r->id, &r->name, &r->tenant, &r->role}, 4);
    }
}

__attribute__((unused)) static void f_sessions(void *ctx, const struct cs_err *err,
                                               const struct cs_session_row *rows, size_t count)
{
    struct fixture *f = ctx;
    f_said(f, err, count);
    f->sessions = f_copy(f, rows, count * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        struct cs_session_row *r = &f->sessions[i];
        f_texts(f, (struct cs_str *[]){&r->id, &r->tenant, &r->principal, &r->name, &r->state}, 5);
    }
}

__attribute__((unused)) static void f_executions(void *ctx, const struct cs_err *err,
                                                 const struct cs_execution_row *rows, size_t count)
{
    struct fixture *f = ctx;
    f_said(f, err, count);
    f->executions = f_copy(f, rows, count * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        struct cs_execution_row *r = &f->executions[i];
        f_texts(f,
                (struct cs_str *[]){&r->id, &r->tenant, &r->principal, &r->session, &r->status,
                                    &r->error_type, &r->language, &r->intent, &r->key,
                                    &r->fingerprint, &r->envelope},
                11);
    }
}

__attribute__((unused)) static void f_artifacts(void *ctx, const struct cs_err *err,
                                                const struct cs_artifact_row *rows, size_t count,
                                                struct cs_str content)
{
    struct fixture *f = ctx;
    f_said(f, err, count);
    f->content = cs_arena_dup(&f->arena, content);
    f->artifacts = f_copy(f, rows, count * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        struct cs_artifact_row *r = &f->artifacts[i];
        f_texts(f,
                (struct cs_str *[]){&r->id, &r->tenant, &r->execution, &r->session, &r->name,
                                    &r->media_type, &r->kind},
                7);
    }
}

/* Asks, waits, and answers the code: F(f, cs_store_keys, f_keys) */
#define F(f, operation, found, ...) \
    (f_begin(f), operation((f)->store, ##__VA_ARGS__, found, (f)), f_wait(f))

static inline struct cs_execution_row f_execution(const char *id, const char *tenant)
{
    return (struct cs_execution_row){.id = cs_str(id),
                                     .tenant = cs_str(tenant),
                                     .principal = CS_STR("ann"),
                                     .language = CS_STR("typescript"),
                                     .created = 1000};
}

static inline struct cs_execution_row f_end_of(const char *id, const char *tenant)
{
    struct cs_execution_row row = f_execution(id, tenant);
    row.status = CS_STR("completed");
    row.envelope = CS_STR("{\"status\":\"completed\"}");
    row.finished = 2000;
    return row;
}

#define assert_code(got, code, text)       \
    do {                                   \
        assert_int_equal(got, code);       \
        assert_contains(f->err.msg, text); \
    } while (0)

#endif

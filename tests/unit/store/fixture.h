/* A store in a directory of its own, and its operations as if they waited for their answer. */
#ifndef CS_TEST_STORE_H
#define CS_TEST_STORE_H

#include "test.h"

#include <fcntl.h>
#include <ftw.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
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
    unsigned char hash[32];
    struct cs_measure *measures;
    struct cs_sum *sums;
    struct cs_cached_answer cached;
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

__attribute__((unused)) static int f_wait(struct fixture *f)
{
    assert_false(f->done); /* never before the operation has returned */
    while (!f->done)
        uv_run(&f->loop, UV_RUN_ONCE);
    return (int)f->err.code;
}

__attribute__((unused)) static void f_begin(struct fixture *f)
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
        f_texts(
            f,
            (struct cs_str *[]){&r->id, &r->tenant, &r->principal, &r->name, &r->state, &r->holder},
            6);
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
                                    &r->media_type, &r->kind, &r->came},
                8);
    }
}

__attribute__((unused)) static void f_ended(void *ctx, const struct cs_err *err,
                                            const unsigned char hash[32])
{
    struct fixture *f = ctx;
    f_said(f, err, 0);
    memcpy(f->hash, hash, 32);
}

__attribute__((unused)) static void f_journal(void *ctx, const struct cs_err *err,
                                              struct cs_str journal)
{
    struct fixture *f = ctx;
    f_said(f, err, 0);
    f->content = cs_arena_dup(&f->arena, journal);
}

__attribute__((unused)) static void f_blob(void *ctx, const struct cs_err *err,
                                           const unsigned char hash[32], struct cs_str content)
{
    struct fixture *f = ctx;
    f_said(f, err, 0);
    memcpy(f->hash, hash, 32);
    f->content = cs_arena_dup(&f->arena, content);
}

__attribute__((unused)) static void f_cached(void *ctx, const struct cs_err *err,
                                             const struct cs_cached_answer *found)
{
    struct fixture *f = ctx;
    f_said(f, err, found != NULL);
    if (!found)
        return;
    f->cached = *found;
    f_texts(f, (struct cs_str *[]){&f->cached.tenant, &f->cached.execution, &f->cached.value}, 3);
}

__attribute__((unused)) static void f_measures(void *ctx, const struct cs_err *err,
                                               const struct cs_measure *rows, size_t count)
{
    struct fixture *f = ctx;
    f_said(f, err, count);
    f->measures = f_copy(f, rows, count * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        struct cs_measure *m = &f->measures[i];
        struct cs_str *texts[] = {&m->tenant, &m->status, &m->error_type, &m->tools, &m->masked};
        f_texts(f, texts, CS_COUNT(texts));
    }
}

__attribute__((unused)) static void f_sums(void *ctx, const struct cs_err *err,
                                           const struct cs_sum *rows, size_t count)
{
    struct fixture *f = ctx;
    f_said(f, err, count);
    f->sums = f_copy(f, rows, count * sizeof *rows);
    for (size_t i = 0; i < count; i++)
        f_texts(f, (struct cs_str *[]){&f->sums[i].tenant, &f->sums[i].value}, 2);
}

/* Without the store, what is in its file: the first value of the last row. */
__attribute__((unused)) static int f_sql_row(void *ctx, int columns, char **values, char **names)
{
    (void)names;
    snprintf(ctx, 128, "%s", columns && values[0] ? values[0] : "");
    return 0;
}

__attribute__((unused)) static const char *f_sql(struct fixture *f, const char *text)
{
    static char answer[128];
    char path[128];
    sqlite3 *db = NULL;
    answer[0] = '\0';
    snprintf(path, sizeof path, "%s/caisson.db", f->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    if (sqlite3_exec(db, text, f_sql_row, answer, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(db));
    sqlite3_close(db);
    return answer;
}

/* Every content was put two hours ago. */
__attribute__((unused)) static int f_age_one(const char *path, const struct stat *st, int type,
                                             struct FTW *at)
{
    (void)st;
    (void)at;
    const struct timespec then[2] = {{.tv_sec = time(NULL) - 7200}, {.tv_sec = time(NULL) - 7200}};
    return type == FTW_F ? utimensat(AT_FDCWD, path, then, 0) : 0;
}

__attribute__((unused)) static void f_age(struct fixture *f)
{
    char path[128];
    snprintf(path, sizeof path, "%s/blobs", f->dir);
    assert_int_equal(nftw(path, f_age_one, 8, FTW_PHYS), 0);
}

/* --- a chain that is easy to check: the text names its number and the hash before --- */

__attribute__((unused)) static void f_link(void *ctx, uint64_t seq, const unsigned char prev[32],
                                           const struct cs_entry *e, struct cs_buf *text,
                                           unsigned char hash[32])
{
    (void)ctx;
    cs_buf_printf(text, "{\"event\":\"%.*s\",\"prev\":\"", CS_STR_ARG(e->event));
    cs_hex_put(text, prev, 32);
    cs_buf_printf(text, "\",\"seq\":%llu,\"execution\":\"%.*s\",\"data\":\"%.*s\"}",
                  (unsigned long long)seq, CS_STR_ARG(e->execution), CS_STR_ARG(e->data));
    cs_sha256(cs_buf_str(text), hash);
}

__attribute__((unused)) static int f_sign(void *ctx, struct cs_checkpoint_row *row,
                                          struct cs_err *err)
{
    if (ctx && *(bool *)ctx)
        return cs_fail(err, CS_SYSTEM, "no pen");
    memset(row->key, 7, sizeof row->key);
    memcpy(row->signature, row->hash, 32);
    memcpy(row->signature + 32, row->hash, 32);
    return 0;
}

static const struct cs_chain f_chain = {.checkpoint_every = 10, .link = f_link, .sign = f_sign};

static inline struct cs_entry f_entry(const char *event, const char *execution)
{
    return (struct cs_entry){.event = cs_str(event),
                             .tenant = CS_STR("default"),
                             .principal = CS_STR("ann"),
                             .execution = cs_str(execution),
                             .time = 1000};
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

/* The whole way, with the real sandbox: executions that are started here and looked at when done.
 */
#ifndef WAY_H
#define WAY_H

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../test.h"

#include "base/buf.h"
#include "base/mem.h"
#include "run/inside.h"
#include "worker/worker.h"

static struct {
    uv_loop_t loop;
    struct cs_runner *runner;
    struct cs_store *store;
    struct cs_sessions *sessions;
    char dir[64]; /* scratch/, data/ */
    uv_timer_t timer;
    unsigned order; /* counts up with each done */
} world;

/* One execution, as whoever started it sees it. */
struct play {
    struct cs_run *run;
    bool is_done, failed;
    unsigned begun;
    unsigned order; /* it was the so-manieth that was done */
    enum cs_status status;
    enum cs_code refused;
    enum cs_error_type error;
    uint32_t retry_after_s;
    uint64_t queued_us;
    char id[36];
    struct cs_buf value, message, earlier, envelope, logs;
    char artifact[64];
};

static inline void play_done(struct play *p)
{
    cs_buf_done(&p->value);
    cs_buf_done(&p->message);
    cs_buf_done(&p->earlier);
    cs_buf_done(&p->envelope);
    cs_buf_done(&p->logs);
}

static inline void on_play_done(void *ctx, const struct cs_result *r)
{
    struct play *p = ctx;
    assert_false(p->is_done);
    p->is_done = true;
    p->order = ++world.order;
    p->failed = r->failed;
    p->status = r->status;
    p->refused = r->refused;
    p->error = r->error.type;
    p->retry_after_s = r->retry_after_s;
    p->queued_us = r->queued_us;
    memcpy(p->id, r->execution_id, sizeof p->id);
    cs_buf_putstr(&p->value, r->value);
    cs_buf_putstr(&p->message, r->failed ? r->error.message : CS_STR(""));
    cs_buf_putstr(&p->earlier, r->earlier);
    cs_envelope(r, &p->envelope);
    if (r->artifact_count)
        snprintf(p->artifact, sizeof p->artifact, "%.*s", CS_STR_ARG(r->artifacts[0].id));
}

static inline void on_play_log(void *ctx, enum cs_level level, struct cs_str text)
{
    struct play *p = ctx;
    (void)level;
    assert_false(p->is_done);
    cs_buf_printf(&p->logs, "%.*s\n", CS_STR_ARG(text));
}

static inline void on_play_begun(void *ctx)
{
    struct play *p = ctx;
    assert_non_null(p->run); /* start has returned */
    assert_false(p->is_done);
    p->begun++;
}

static const struct cs_run_watch play_watch = {.log = on_play_log, .begun = on_play_begun};

static inline struct cs_request request_of(const char *code)
{
    return (struct cs_request){.code = cs_str(code), .limits = cs_limits_default()};
}

static inline void begin(struct play *p, const struct cs_request *request)
{
    p->run = cs_run_start(world.runner, request, &play_watch, on_play_done, p);
    assert_false(p->is_done);
}

static inline void on_too_late(uv_timer_t *t)
{
    (void)t;
    fail_msg("it takes too long");
}

static inline void until(const bool *what)
{
    uv_timer_start(&world.timer, on_too_late, 60000, 0);
    while (!*what)
        uv_run(&world.loop, UV_RUN_ONCE);
    uv_timer_stop(&world.timer);
}

static inline void perform(struct play *p, const struct cs_request *request)
{
    begin(p, request);
    until(&p->is_done);
}

static inline int clear_path(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static inline const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", world.dir, name);
    return path;
}

static inline void open_world(void)
{
    snprintf(world.dir, sizeof world.dir, "/tmp/caisson-way-XXXXXX");
    assert_non_null(mkdtemp(world.dir));
    mkdir(path_of("scratch"), 0700);
    mkdir(path_of("data"), 0700);
    uv_loop_init(&world.loop);
    uv_timer_init(&world.loop, &world.timer);
}

static inline void open_runner(struct cs_runner_options o)
{
    char scratch[128];
    snprintf(scratch, sizeof scratch, "%s", path_of("scratch"));
    struct cs_sandbox_options sandbox = {.scratch_dir = scratch, .pool = 2};
    struct cs_err err = {0};
    o.sandbox = &sandbox;
    o.store = world.store;
    o.sessions = world.sessions;
    if (cs_runner_new(&world.loop, &o, &world.runner, &err) < 0)
        fail_msg("%s", err.msg);
}

static inline void on_closed(void *ctx)
{
    *(bool *)ctx = true;
}

static inline void close_runner(void)
{
    bool closed = false;
    if (world.runner)
        cs_runner_close(world.runner, on_closed, &closed);
    else
        closed = true;
    until(&closed);
    world.runner = NULL;
}

static inline void close_world(void)
{
    uv_close((uv_handle_t *)&world.timer, NULL);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&world.loop), 0);
    nftw(world.dir, clear_path, 8, FTW_DEPTH | FTW_PHYS);
}

/* --- of a whole file of tests --- */

static inline int set_up(void **state)
{
    (void)state;
    open_world();
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    close_world();
    return 0;
}

/* At the beginning of main: -1, unless this process is one of the jail's. */
static inline int play_role(int argc, char **argv)
{
    static const struct cs_engine_hooks engine = {cs_worker_warm, cs_worker_serve, cs_worker_polish,
                                                  cs_worker_rehearse, cs_worker_learn};
    return cs_role_main(argc, argv, &engine);
}

#endif

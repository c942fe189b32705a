/*
 * A worker that is not ours any more and says SLEEP as often as it can, without ever listening: the
 * daemon answers others meanwhile, keeps no more than it must, and ends it when its time is up.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../test.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "sandbox/folder.h"
#include "sandbox/sandbox.h"
#include "worker/worker.h"

static struct {
    uv_loop_t loop;
    struct cs_sandbox *sandbox;
    char dir[64];
    uv_timer_t beat;
    uint64_t beat_ns, longest_ns;
} world;

/* ---- in the worker ---- */

static void put(int sock, struct cs_buf *b)
{
    for (size_t at = 0; at < b->len;) {
        ssize_t n = send(sock, b->at + at, b->len - at, MSG_NOSIGNAL);
        if (n <= 0)
            _exit(1);
        at += (size_t)n;
    }
    cs_buf_clear(b);
}

static void await(int sock, struct cs_wire_reader *r, enum cs_msg type)
{
    struct cs_frame f = {0};
    while (cs_wire_next(r, &f, NULL) == 0) {
        size_t room;
        char *to = cs_wire_room(r, 4096, &room);
        ssize_t n = recv(sock, to, room, 0);
        if (n <= 0)
            _exit(1);
        cs_wire_added(r, (size_t)n);
    }
    if (f.type != type)
        _exit(2);
}

static void say(int sock, struct cs_wire_reader *r, enum cs_msg type, struct cs_buf *b, size_t mark)
{
    cs_frame_end(b, mark);
    put(sock, b);
    cs_wire_sent(r, type, NULL);
}

/* What is due: long ago, at once, never, at any time. */
static void flood(int sock) __attribute__((noreturn));
static void flood(int sock)
{
    struct cs_buf b = {0};
    uint64_t due = 0;
    for (uint64_t i = 0;; i++) {
        static const uint64_t some[] = {0, 1, INT64_MAX, INT64_MAX - 1, 1700000000000000u};
        due = i % 8 < CS_COUNT(some) ? some[i % 8] : due * 6364136223846793005u + i;
        size_t mark = cs_frame_begin(&b, CS_MSG_SLEEP, i, 0);
        cs_put_u64(&b, due & INT64_MAX);
        cs_frame_end(&b, mark);
        if (b.len > 30000)
            put(sock, &b);
    }
}

static void hostile_serve(int sock) __attribute__((noreturn));
static void hostile_serve(int sock)
{
    struct cs_wire_reader r;
    struct cs_buf b = {0};
    cs_wire_reader_init(&r, CS_SIDE_DAEMON, CS_PHASE_BOOT);
    size_t mark = cs_frame_begin(&b, CS_MSG_READY, 0, 0);
    cs_put_u32(&b, CS_WIRE_VERSION);
    say(sock, &r, CS_MSG_READY, &b, mark);
    await(sock, &r, CS_MSG_PROGRAM);
    mark = cs_frame_begin(&b, CS_MSG_FACTS, 0, 0);
    cs_put_str(&b, CS_STR("{}"));
    say(sock, &r, CS_MSG_FACTS, &b, mark);
    await(sock, &r, CS_MSG_VERDICT);
    flood(sock);
}

/* ---- in the daemon ---- */

struct play {
    struct cs_job *job;
    bool ended;
    struct cs_job_end end;
};

static void on_facts(void *ctx, struct cs_str json)
{
    (void)json;
    cs_job_verdict(((struct play *)ctx)->job, true, NULL, CS_STR(""));
}

static void on_ended(void *ctx, const struct cs_job_end *end)
{
    struct play *p = ctx;
    p->end = *end;
    p->ended = true;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* How long it has waited for a processor, which others had. */
static uint64_t delayed_ns(void)
{
    char text[100] = "";
    CS_AUTO_FD int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    const char *second = fd >= 0 && read(fd, text, sizeof text - 1) > 0 ? strchr(text, ' ') : NULL;
    return second ? strtoull(second, NULL, 10) : 0;
}

static void on_beat(uv_timer_t *t)
{
    (void)t;
    uint64_t now = now_ns() - delayed_ns(), gap = now > world.beat_ns ? now - world.beat_ns : 0;
    world.longest_ns = gap > world.longest_ns ? gap : world.longest_ns;
    world.beat_ns = now;
}

static size_t resident(void)
{
    char text[64] = "";
    CS_AUTO_FD int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (read(fd, text, sizeof text - 1) <= 0)
        return 0;
    return strtoul(strchr(text, ' '), NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static void a_flood_of_sleeps_hurts_nobody(void **state)
{
    (void)state;
    static const struct cs_job_events events = {.facts = on_facts, .ended = on_ended};
    struct play plays[2] = {0};
    struct cs_job_spec spec = {
        .source = CS_STR("1"), .limits = cs_limits_default(), .mcp_servers = -1};
    spec.limits.wall_clock = 1500;
    struct cs_err err = {0};
    for (size_t i = 0; i < CS_COUNT(plays); i++)
        assert_int_equal(
            cs_job_start(world.sandbox, &spec, &events, &plays[i], &plays[i].job, &err), 0);
    uv_timer_init(&world.loop, &world.beat);
    world.beat_ns = now_ns() - delayed_ns();
    uv_timer_start(&world.beat, on_beat, 5, 5);
    size_t before = resident();
    while (!plays[0].ended || !plays[1].ended)
        uv_run(&world.loop, UV_RUN_ONCE);
    for (size_t i = 0; i < CS_COUNT(plays); i++) {
        assert_int_equal(plays[i].end.how, CS_ENDED_LIMIT);
        assert_int_equal(plays[i].end.limit, CS_LIMIT_WALL_CLOCK);
    }
    print_message("the loop stood still for %.1f ms, grew by %zu KiB\n",
                  (double)world.longest_ns / 1e6, (resident() - before) / 1024);
    assert_true(world.longest_ns < 1000000000u);
    assert_true(resident() < before + 64 * CS_MIB);
    uv_close((uv_handle_t *)&world.beat, NULL);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(world.dir, sizeof world.dir, "/tmp/caisson-unit-XXXXXX");
    assert_non_null(mkdtemp(world.dir));
    chmod(world.dir, 0755);
    struct cs_sandbox_options options = {.pool = 2, .scratch_dir = world.dir};
    struct cs_err err = {0};
    uv_loop_init(&world.loop);
    if (cs_sandbox_new(&world.loop, &options, &world.sandbox, &err) < 0)
        fail_msg("%s", err.msg);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cs_sandbox_close(world.sandbox, NULL, NULL);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    uv_loop_close(&world.loop);
    cs_folder_remove(AT_FDCWD, world.dir);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct cs_engine_hooks engine = {.warm = cs_worker_warm, .serve = hostile_serve};
    int status = cs_role_main(argc, argv, &engine);
    if (status >= 0)
        return status;
    const struct CMUnitTest tests[] = {
        CS_TEST(a_flood_of_sleeps_hurts_nobody),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

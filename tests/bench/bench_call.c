/*
 * One call of a tool, to an echo inside the daemon: what the bridge itself costs, with everything
 * on (jail, verdict), and no server and no gate behind it.
 *
 *     bench_call SCRATCH N      prints  call_round_trip US us,  call_round_trip_p90 US us
 *
 * The program makes N calls one after the other; a round trip is the time from one CALL frame to
 * the next. The baseline is the least two processes can do: a byte to and fro over a socket pair.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/sandbox.h"
#include "worker/worker.h"

struct bench {
    struct cs_sandbox *sandbox;
    struct cs_job *job;
    double *times;
    size_t count, max;
    uint64_t last;
    bool failed;
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void note(struct bench *b, uint64_t now)
{
    if (b->last && b->count < b->max)
        b->times[b->count++] = (double)(now - b->last) / 1000;
    b->last = now;
}

static void on_facts(void *ctx, struct cs_str json)
{
    (void)json;
    struct bench *b = ctx;
    cs_job_verdict(b->job, true, NULL, CS_STR(""));
}

static void on_call(void *ctx, uint64_t id, struct cs_str server, struct cs_str tool,
                    struct cs_str arguments)
{
    (void)server;
    (void)tool;
    struct bench *b = ctx;
    note(b, uv_hrtime());
    cs_job_result(b->job, id, CS_ANSWER_OK, arguments);
}

static void on_log(void *ctx, enum cs_level level, struct cs_str text)
{
    (void)ctx;
    (void)level;
    (void)text;
}

static void on_output(void *ctx, bool is_stderr, struct cs_str bytes)
{
    (void)ctx;
    (void)is_stderr;
    (void)bytes;
}

static void on_progress(void *ctx, struct cs_str json)
{
    (void)ctx;
    (void)json;
}

static void on_ended(void *ctx, const struct cs_job_end *end)
{
    struct bench *b = ctx;
    b->failed = end->how != CS_ENDED_VALUE;
    if (b->failed)
        fprintf(stderr, "bench_call: it ended otherwise (%d): %.*s %s\n", (int)end->how,
                CS_STR_ARG(end->payload), end->err.msg);
    cs_sandbox_close(b->sandbox, NULL, NULL);
}

/* A byte there and back, between two processes. */
static void ping_pong(struct bench *b)
{
    int pair[2];
    char byte = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        while (read(pair[1], &byte, 1) == 1 && write(pair[1], &byte, 1) == 1)
            if (byte)
                _exit(0);
        _exit(0);
    }
    for (size_t i = 0; i <= b->max; i++) {
        byte = i == b->max;
        if (write(pair[0], &byte, 1) != 1 || read(pair[0], &byte, 1) != 1)
            break;
        note(b, uv_hrtime());
    }
    close(pair[0]);
    close(pair[1]);
    waitpid(child, NULL, 0);
}

static void report(struct bench *b, const char *name)
{
    qsort(b->times, b->count, sizeof *b->times, compare);
    if (b->count) {
        printf("%s %.2f us\n", name, b->times[b->count / 2]);
        printf("%s_p90 %.2f us\n", name, b->times[b->count * 9 / 10]);
    }
    b->count = 0;
    b->last = 0;
}

int main(int argc, char **argv)
{
    static const struct cs_engine_hooks engine = {cs_worker_warm, cs_worker_serve, cs_worker_polish,
                                                  cs_worker_rehearse, cs_worker_learn};
    int status = cs_role_main(argc, argv, &engine);
    if (status >= 0)
        return status;
    if (argc < 3) {
        fprintf(stderr, "usage: bench_call SCRATCH N\n");
        return 2;
    }
    struct bench b = {.max = strtoul(argv[2], NULL, 10)};
    b.times = cs_calloc(b.max + 1, sizeof *b.times);
    ping_pong(&b);
    report(&b, "socket_round_trip");

    uv_loop_t loop;
    uv_loop_init(&loop);
    struct cs_sandbox_options options = {.scratch_dir = argv[1], .pool = 1};
    struct cs_err err = {0};
    char source[300];
    snprintf(
        source, sizeof source,
        "let ok = 0; for (let i = 0; i < %zu; i++) ok += +((await tools.a.echo({ i, text: 'some "
        "text' })).i === i); if (ok !== %zu) throw new Error('wrong'); return ok",
        b.max, b.max);
    struct cs_job_spec spec = {
        .language = CS_TYPESCRIPT,
        .source = cs_str(source),
        .limits = cs_limits_default(),
        .mcp_servers = -1,
    };
    spec.limits.tool_calls = b.max + 1;
    static const struct cs_job_events events = {.facts = on_facts,
                                                .call = on_call,
                                                .log = on_log,
                                                .output = on_output,
                                                .progress = on_progress,
                                                .ended = on_ended};
    if (cs_sandbox_new(&loop, &options, &b.sandbox, &err) < 0 ||
        cs_job_start(b.sandbox, &spec, &events, &b, &b.job, &err) < 0) {
        fprintf(stderr, "bench_call: %s\n", err.msg);
        return 1;
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    report(&b, "call_round_trip");
    free(b.times);
    return b.failed || uv_loop_close(&loop) != 0;
}

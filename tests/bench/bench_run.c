/*
 * Our side of the benchmark: one daemon with a warm pool, used through the same calls as every door
 * uses (run/run.h), so that everything is on: jail, strip, facts, verdict, limits.
 *
 *     bench_run SCRATCH POOL [full] [strict] [polling] [config=FILE data=DIR] [store=DIR]
 *
 * One command per line on stdin, one answer per line on stdout; words are separated by blanks:
 *
 *     seq LANGUAGE CODE INPUTS EXPECT N           -> times T1 T2 ...   microseconds each
 *     burst LANGUAGE CODE INPUTS EXPECT N         -> the same, without letting the pool fill up
 *     load LANGUAGE CODE INPUTS EXPECT SECONDS P  -> count N SECONDS   P of them at any time
 *     memory                                      -> private KB ...    of each waiting worker
 *
 * CODE, INPUTS and EXPECT are files; INPUTS may be - for none. EXPECT holds the result as JSON;
 * anything else is the answer `wrong ...`. A time runs from cs_run_start to `done`, which is when
 * the answer may leave: the worker is dead and reaped by then.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "ledger/ledger.h"
#include "run/run.h"
#include "worker/worker.h"

#define WORDS_MAX 8
#define FULL_MS   2000 /* longest wait for a full pool */

struct bench {
    uv_loop_t loop;
    uv_timer_t timer;
    struct cs_runner *runner;
    struct cs_tools *tools;   /* with config=FILE */
    struct cs_store *store;   /* with store=DIR: executions are put on record, */
    struct cs_ledger *ledger; /* and in its ledger */
    unsigned pool;
};

/* One command: what is run, and what came of it. */
struct task {
    struct bench *bench;
    struct cs_request request;
    struct cs_buf code, inputs, expect, wrong;
    double from, until; /* of the run that was started last; of a load */
    unsigned running, count;
    bool again; /* a load: start another when one is done */
    struct cs_buf times;
};

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void read_all(const char *path, struct cs_buf *to)
{
    CS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;
    while (fd >= 0 && (n = read(fd, cs_buf_room(to, 65536), 65536)) > 0)
        cs_buf_added(to, (size_t)n);
}

static void on_timer(uv_timer_t *t)
{
    (void)t;
}

/* Lets the daemon work until every place in the pool is taken. */
static void fill_pool(struct bench *b)
{
    double until = now_us() + FULL_MS * 1000;
    uv_timer_start(&b->timer, on_timer, 1, 1);
    while (cs_runner_ready(b->runner) < b->pool && now_us() < until)
        uv_run(&b->loop, UV_RUN_ONCE);
    uv_timer_stop(&b->timer);
}

static void on_done(void *ctx, const struct cs_result *r);

static void start(struct task *t)
{
    t->running++;
    t->from = now_us();
    cs_run_start(t->bench->runner, &t->request, NULL, on_done, t);
}

static void on_done(void *ctx, const struct cs_result *r)
{
    struct task *t = ctx;
    double now = now_us();
    t->running--;
    t->count++;
    if (r->failed || !cs_str_eq(r->value, cs_buf_str(&t->expect))) {
        struct cs_str text = r->failed ? r->error.message : r->value;
        if (!t->wrong.len)
            cs_buf_printf(&t->wrong, "%s %.*s", cs_status_name(r->status),
                          (int)(text.len < 200 ? text.len : 200), text.at);
    } else if (!t->again) {
        cs_buf_printf(&t->times, " %.1f", now - t->from);
    } else if (now < t->until) {
        start(t);
    }
}

static void seq(struct task *t, int n, bool full)
{
    for (int i = 0; i < n && !t->wrong.len; i++) {
        if (full || i == 0)
            fill_pool(t->bench);
        start(t);
        while (t->running)
            uv_run(&t->bench->loop, UV_RUN_ONCE);
    }
    if (!t->wrong.len)
        printf("times%.*s\n", CS_STR_ARG(cs_buf_str(&t->times)));
}

static void load(struct task *t, double seconds, int parallel)
{
    fill_pool(t->bench);
    double from = now_us();
    t->until = from + seconds * 1e6;
    t->again = true;
    for (int i = 0; i < parallel; i++)
        start(t);
    while (t->running)
        uv_run(&t->bench->loop, UV_RUN_ONCE);
    if (!t->wrong.len)
        printf("count %u %.6f\n", t->count, (now_us() - from) / 1e6);
}

/* Private_Clean and Private_Dirty in KB; 0 if it may not be read. */
static unsigned long private_kb(const char *pid)
{
    CS_AUTO_BUF struct cs_buf path = {0}, text = {0};
    cs_buf_printf(&path, "/proc/%s/smaps_rollup", pid);
    read_all(cs_buf_cstr(&path), &text);
    unsigned long sum = 0;
    const char *at = text.len ? cs_buf_cstr(&text) : "";
    while ((at = strstr(at, "\nPrivate_"))) {
        at = strchr(at, ':') + 1;
        sum += strtoul(at, NULL, 10);
    }
    return sum;
}

static bool is_waiting_worker(const char *pid)
{
    CS_AUTO_BUF struct cs_buf path = {0}, text = {0};
    cs_buf_printf(&path, "/proc/%s/stat", pid);
    read_all(cs_buf_cstr(&path), &text);
    const char *stat = text.len ? cs_buf_cstr(&text) : "";
    const char *name = strstr(stat, "(caisson:worker)");
    return name && strtol(name + sizeof "(caisson:worker) S", NULL, 10) == getpid();
}

static void memory(struct bench *b)
{
    fill_pool(b);
    printf("private");
    DIR *dir = opendir("/proc");
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && is_waiting_worker(e->d_name))
            printf(" %lu", private_kb(e->d_name));
    if (dir)
        closedir(dir);
    printf("\n");
}

static int make_task(struct bench *b, char **words, struct task *t, struct cs_err *err)
{
    t->bench = b;
    t->request.limits = cs_limits_default();
    if (cs_language_parse(cs_str(words[1]), &t->request.language, err) < 0)
        return -1;
    read_all(words[2], &t->code);
    if (strcmp(words[3], "-") != 0)
        read_all(words[3], &t->inputs);
    read_all(words[4], &t->expect);
    t->request.code = cs_buf_str(&t->code);
    t->request.inputs = cs_buf_str(&t->inputs);
    return 0;
}

static void command(struct bench *b, char **words, int count)
{
    struct task t = {0};
    struct cs_err err = {0};
    if (count == 1 && strcmp(words[0], "memory") == 0)
        memory(b);
    else if (count < 6 || make_task(b, words, &t, &err) < 0)
        cs_buf_printf(&t.wrong, "command: %s", err.msg);
    else if (strcmp(words[0], "load") == 0 && count == 7)
        load(&t, strtod(words[5], NULL), (int)strtol(words[6], NULL, 10));
    else
        seq(&t, (int)strtol(words[5], NULL, 10), strcmp(words[0], "seq") == 0);
    if (t.wrong.len)
        printf("wrong %.*s\n", CS_STR_ARG(cs_buf_str(&t.wrong)));
    fflush(stdout);
    cs_buf_done(&t.code);
    cs_buf_done(&t.inputs);
    cs_buf_done(&t.expect);
    cs_buf_done(&t.wrong);
    cs_buf_done(&t.times);
}

static void conduct(struct bench *b)
{
    char *line = NULL;
    size_t cap = 0;
    while (getline(&line, &cap, stdin) > 0) {
        char *words[WORDS_MAX] = {0}, *save = NULL;
        int count = 0;
        for (char *w = strtok_r(line, " \n", &save); w && count < WORDS_MAX;
             w = strtok_r(NULL, " \n", &save))
            words[count++] = w;
        if (count)
            command(b, words, count);
    }
    free(line);
}

static void on_runner_closed(void *ctx)
{
    struct bench *b = ctx;
    if (b->tools)
        cs_tools_close(b->tools, NULL, NULL);
    if (b->store)
        cs_store_close(b->store, NULL, NULL);
}

int main(int argc, char **argv)
{
    static const struct cs_engine_hooks engine = {cs_worker_warm, cs_worker_serve, cs_worker_polish,
                                                  cs_worker_rehearse, cs_worker_learn};
    int status = cs_role_main(argc, argv, &engine);
    if (status >= 0)
        return status;
    cs_mem_keep();
    if (argc < 3) {
        fprintf(stderr, "usage: bench_run SCRATCH POOL [full] [strict] [polling] "
                        "[config=FILE data=DIR] [store=DIR]\n");
        return 2;
    }
    struct cs_sandbox_options options = {.scratch_dir = argv[1],
                                         .pool = (uint32_t)strtoul(argv[2], NULL, 10)};
    struct cs_tools_options tools = {0};
    const char *store = NULL;
    for (int i = 3; i < argc; i++) {
        if (strncmp(argv[i], "config=", 7) == 0)
            tools.config_path = argv[i] + 7;
        if (strncmp(argv[i], "data=", 5) == 0)
            tools.data_dir = argv[i] + 5;
        if (strncmp(argv[i], "store=", 6) == 0)
            store = argv[i] + 6;
        options.full_isolation |= strcmp(argv[i], "full") == 0;
        options.no_jit |= strcmp(argv[i], "strict") == 0;
        options.no_cgroups |= strcmp(argv[i], "polling") == 0;
    }
    struct bench b = {.pool = options.pool};
    struct cs_err err = {0};
    uv_loop_init(&b.loop);
    uv_timer_init(&b.loop, &b.timer);
    struct cs_runner_options runner = {.sandbox = &options};
    if (tools.config_path && cs_tools_new(&b.loop, &tools, &b.tools, &err) < 0) {
        fprintf(stderr, "bench_run: %s\n", err.msg);
        return 1;
    }
    runner.tools = b.tools;
    if (store && cs_store_open(&b.loop, store, &b.store, &err) < 0) {
        fprintf(stderr, "bench_run: %s\n", err.msg);
        return 1;
    }
    if (store && cs_ledger_open(store, &b.ledger, &err) < 0) {
        fprintf(stderr, "bench_run: %s\n", err.msg);
        return 1;
    }
    if (store)
        cs_store_set_chain(b.store, cs_ledger_chain(b.ledger));
    runner.store = b.store;
    if (cs_runner_new(&b.loop, &runner, &b.runner, &err) < 0) {
        fprintf(stderr, "bench_run: %s\n", err.msg);
        return 1;
    }
    conduct(&b);
    uv_close((uv_handle_t *)&b.timer, NULL);
    cs_runner_close(b.runner, on_runner_closed, &b);
    uv_run(&b.loop, UV_RUN_DEFAULT);
    if (b.ledger)
        cs_ledger_close(b.ledger);
    return uv_loop_close(&b.loop) == 0 ? 0 : 1;
}

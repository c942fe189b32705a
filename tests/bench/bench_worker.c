/*
 * The worker without its jail: what the engine, the compiler and the runtime cost. One line per
 * figure: name, median, 90th percentile, unit; then the median of the worker's processor time from
 * fork to end, which a busy machine disturbs less.
 */
#include "../unit/worker/daemon.h"

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *name, double *samples, size_t n, const char *unit)
{
    qsort(samples, n, sizeof *samples, by_value);
    printf("%-40s %9.3f %9.3f %s", name, samples[n / 2], samples[n * 9 / 10], unit);
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* From PROGRAM to DONE in a worker that said READY before: what a request from the pool costs. */
static double request(struct talk *t, const char *expected, double *cpu_ms)
{
    struct cs_frame f;
    pid_t pid = talk_fork(t);
    if (talk_frame(t, &f, 5000) != 1 || f.type != CS_MSG_READY)
        abort();
    usleep(4000); /* until it has rehearsed and blocks, as in a pool */
    double start = now_ms();
    talk_program(t);
    while (talk_frame(t, &f, 20000) == 1 && talk_handle(t, &f)) {
    }
    double took = now_ms() - start;
    struct rusage used;
    wait4(pid, NULL, 0, &used);
    *cpu_ms = (seconds(used.ru_utime) + seconds(used.ru_stime)) * 1e3;
    close(t->sock);
    if (expected && !cs_str_is(cs_buf_str(&t->answer), expected)) {
        fprintf(stderr, "expected %s, got %s\n", expected, cs_buf_cstr(&t->answer));
        exit(1);
    }
    return took;
}

static void bench(const char *name, const char *source, const char *inputs, const char *expected,
                  size_t rounds, double per)
{
    CS_AUTO_FREE double *samples = cs_calloc(rounds, sizeof *samples);
    CS_AUTO_FREE double *cpu = cs_calloc(rounds, sizeof *cpu);
    for (size_t i = 0; i < rounds; i++) {
        struct talk *t = cs_calloc(1, sizeof *t);
        t->source = source;
        t->inputs = inputs;
        t->result_bytes = 16 * CS_MIB;
        t->step_us = 1000;
        samples[i] = request(t, expected, &cpu[i]) / per;
        talk_done(t);
        free(t);
    }
    print(name, samples, rounds, per == 1 ? "ms" : "ms each");
    qsort(cpu, rounds, sizeof *cpu, by_value);
    printf(", %.2f ms of processor time\n", cpu[rounds / 2]);
}

/* Pages that only this process has, while it waits for a program. */
static double waiting_kb(void)
{
    struct talk *t = cs_calloc(1, sizeof *t);
    struct cs_frame f;
    pid_t pid = talk_fork(t);
    if (talk_frame(t, &f, 5000) != 1)
        abort();
    usleep(20000);
    char path[64], line[256];
    double kb = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *maps = fopen(path, "re");
    while (maps && fgets(line, sizeof line, maps)) {
        long v;
        if (sscanf(line, "Private_Dirty: %ld", &v) == 1 ||
            sscanf(line, "Private_Clean: %ld", &v) == 1)
            kb += (double)v;
    }
    if (maps)
        fclose(maps);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(t->sock);
    talk_done(t);
    free(t);
    return kb;
}

static void two_megabytes(struct cs_buf *json)
{
    cs_buf_putc(json, '[');
    for (int i = 0; json->len < 2 * CS_MIB; i++)
        cs_buf_printf(json,
                      "%s{\"id\":%d,\"name\":\"person %d\",\"email\":\"person%d@example.test\","
                      "\"score\":%d.5,\"tags\":[\"a\",\"b\"],\"active\":%s}",
                      i ? "," : "", i, i, i, i % 100, i % 2 ? "true" : "false");
    cs_buf_putc(json, ']');
}

/* As the zygote does it. */
static void learn(void)
{
    int ends[2];
    if (pipe(ends) < 0)
        abort();
    pid_t pid = fork();
    if (pid == 0)
        cs_worker_rehearse(ends[1]);
    close(ends[1]);
    cs_worker_learn(ends[0]);
    close(ends[0]);
    waitpid(pid, NULL, 0);
}

int main(void)
{
    struct cs_err err = {0};
    double start = now_ms();
    if (cs_worker_warm(false, &err) < 0) {
        fprintf(stderr, "warm: %s\n", err.msg);
        return 1;
    }
    printf("%-40s %9.3f %9s ms\n", "warm the engine", now_ms() - start, "");
    if (cs_worker_polish(&err) < 0)
        return 1;
    learn();
    bench("hello", "return 'hello'", NULL, "\"hello\"", 300, 1);
    bench("aggregate 200 rows",
          "const rows = Array.from({length: 200}, (_, i) => ({team: 't' + i % 7, n: i}));\n"
          "const sums: Record<string, number> = {};\n"
          "for (const r of rows) sums[r.team] = (sums[r.team] ?? 0) + r.n;\n"
          "return Object.entries(sums).sort((a, b) => b[1] - a[1]).slice(0, 3).length",
          NULL, "3", 200, 1);
    bench("ten lines of log", "for (let i = 0; i < 10; i++) console.log('line', i, {i}); return 1",
          NULL, "1", 200, 1);
    bench("tool call, one after the other",
          "for (let i = 0; i < 500; i++) await tools.fixture.echo({i}); return 1", NULL, "1", 30,
          500);
    CS_AUTO_BUF struct cs_buf json = {0};
    two_megabytes(&json);
    bench("2 MB of JSON in", "return inputs.length > 1000", cs_buf_cstr(&json), "true", 30, 1);
    bench("2 MB of JSON in and out", "return inputs", cs_buf_cstr(&json), NULL, 10, 1);
    bench("fib(30)",
          "const f = (n: number): number => n < 2 ? n : f(n - 1) + f(n - 2); return f(30)", NULL,
          "832040", 10, 1);
    double kb[5];
    for (size_t i = 0; i < CS_COUNT(kb); i++)
        kb[i] = waiting_kb();
    print("private memory of a waiting worker", kb, CS_COUNT(kb), "kB\n");
    return 0;
}

/*
 * What it costs to judge a program: the facts that the compiler notes (what it takes with them,
 * less what taking the types off takes), and what the judge makes of them, secrets included. Beside
 * it, in the same run and in turns, a hello execution in a warm daemon.
 *
 *     bench_assess [SCRATCH]
 *
 * Prints `name value unit` lines. Exits 1 if facts and judgement of a hello take more than 20 % of
 * its execution, those of 100 KB more than 5 ms, or reading the rules more than 2 ms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "compile/compile.h"
#include "policy/judge.h"
#include "run/run.h"
#include "worker/worker.h"

#define ROUNDS      40
#define LARGE_BYTES (100u << 10)
#define HELLO_SHARE 0.20
#define LARGE_US    5000.0
#define LOAD_US     2000.0
#define READY_MS    2000

static const char hello[] = "const greet = (name: string): string => `hello ${name}`;\n"
                            "export default greet('world');\n";

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* What agents write, over and over with other names: calls, texts, comments, patterns. */
static void fill(struct cs_buf *text, size_t size)
{
    for (unsigned i = 0; text->len < size; i++)
        cs_buf_printf(
            text,
            "// Part %u: every page of the listing, and what is left of it for the report.\n"
            "const page%u = await tools.github.list_issues({ owner: 'harbour', repo: 'repo-%u',\n"
            "  state: 'open', labels: ['bug', 'priority-%u'], per_page: 100 });\n"
            "const rows%u = page%u.filter((x: Issue) => /fix(es|ed)? #(\\d+)/i.test(x.body ?? "
            "''))\n"
            "  .map((x) => ({ id: x.number, title: `Issue ${x.number}: ${x.title} (${x.state})`,\n"
            "    url: 'https://example.com/issues/%u', note: 'the quick brown fox' + ' jumps' "
            "}));\n"
            "if (rows%u.length > %u) console.log('many in part %u', rows%u.length);\n\n",
            i, i, i, i, i, i, i, i, i, i, i);
}

/* As worker/facts.c sends them. */
static void put_facts(const struct cs_compiled *c, size_t bytes, struct cs_buf *out)
{
    static const char *const words[] = {
#define X(id, word) word,
        CS_FACTS(X)
#undef X
    };
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "facts");
    cs_json_open(&w, '[');
    for (uint32_t i = 0; i < c->fact_count && i < CS_FACTS_MOST; i++) {
        const struct cs_fact *f = &c->facts[i];
        cs_json_open(&w, '{');
        cs_json_key(&w, "kind");
        cs_json_put_z(&w, words[f->kind]);
        cs_json_key(&w, "name");
        cs_json_put_str(&w, f->name);
        cs_json_key(&w, "via");
        cs_json_put_str(&w, f->via);
        cs_json_key(&w, "key");
        cs_json_put_str(&w, f->key);
        cs_json_key(&w, "line");
        cs_json_put_u64(&w, f->line);
        cs_json_key(&w, "column");
        cs_json_put_u64(&w, f->column);
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    cs_json_key(&w, "source_bytes");
    cs_json_put_u64(&w, bytes);
    cs_json_close(&w, '}');
}

static double compile(enum cs_compile_kind kind, struct cs_str text, struct cs_buf *facts)
{
    struct cs_compiled c = {0};
    struct cs_diag d;
    double start = now_us();
    if (cs_compile(kind, text, &c, &d) < 0) {
        fprintf(stderr, "bench_assess: %u:%u: %s\n", d.line, d.column, d.message);
        exit(2);
    }
    if (facts)
        put_facts(&c, text.len, facts);
    double took = now_us() - start;
    cs_compiled_done(&c);
    return took;
}

struct judging {
    struct cs_policy *policy;
    struct cs_detector *detector;
    const char *level;
};

static double judge(struct judging *j, struct cs_str facts)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_circumstances c = {
        .principal = CS_STR("local"), .language = "typescript", .detector = j->detector};
    struct cs_limits asked = cs_limits_default();
    struct cs_verdict v;
    double start = now_us();
    cs_judge(j->policy, facts, &c, &asked, &arena, &v);
    double took = now_us() - start;
    j->level = cs_risk_name(v.risk);
    return took;
}

static double least(double a, double b)
{
    return b < a ? b : a;
}

struct cost {
    double strip, facts, judge;
};

static struct cost measure(struct judging *j, struct cs_str text, int rounds)
{
    struct cost best = {1e9, 1e9, 1e9};
    for (int i = 0; i < rounds; i++) {
        CS_AUTO_BUF struct cs_buf facts = {0};
        best.strip = least(best.strip, compile(CS_COMPILE_STRIP, text, NULL));
        best.facts = least(best.facts, compile(CS_COMPILE_PROGRAM, text, &facts));
        best.judge = least(best.judge, judge(j, cs_buf_str(&facts)));
    }
    return best;
}

/* --- a hello execution --- */

struct run {
    uv_loop_t loop;
    uv_timer_t timer;
    struct cs_runner *runner;
    bool over;
};

static void on_timer(uv_timer_t *t)
{
    (void)t;
}

static void on_done(void *ctx, const struct cs_result *r)
{
    struct run *run = ctx;
    if (r->failed) {
        fprintf(stderr, "bench_assess: %.*s\n", CS_STR_ARG(r->error.message));
        exit(2);
    }
    run->over = true;
}

static double execute(struct run *r)
{
    struct cs_request request = {.language = CS_TYPESCRIPT,
                                 .code = cs_str(hello),
                                 .limits = cs_limits_default(),
                                 .cache = CS_CACHE_OFF};
    double until = now_us() + READY_MS * 1000;
    uv_timer_start(&r->timer, on_timer, 1, 1);
    while (cs_runner_ready(r->runner) < 2 && now_us() < until)
        uv_run(&r->loop, UV_RUN_ONCE);
    uv_timer_stop(&r->timer);
    r->over = false;
    double start = now_us();
    cs_run_start(r->runner, &request, NULL, on_done, r);
    while (!r->over)
        uv_run(&r->loop, UV_RUN_ONCE);
    return now_us() - start;
}

static int bench(const char *scratch)
{
    struct cs_sandbox_options sandbox = {.scratch_dir = scratch, .pool = 2};
    struct cs_runner_options options = {.sandbox = &sandbox};
    struct judging j = {0};
    struct run r = {0};
    struct cs_err err = {0};
    double load = 1e9, run = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double start = now_us();
        cs_policy_unref(j.policy);
        if (cs_policy_load(NULL, &j.policy, &err) < 0) {
            fprintf(stderr, "bench_assess: %s\n", err.msg);
            return 2;
        }
        load = least(load, now_us() - start);
    }
    uv_loop_init(&r.loop);
    uv_timer_init(&r.loop, &r.timer);
    if (cs_detector_new(NULL, 0, &j.detector, &err) < 0 ||
        cs_runner_new(&r.loop, &options, &r.runner, &err) < 0) {
        fprintf(stderr, "bench_assess: %s\n", err.msg);
        return 2;
    }
    struct cost small = {1e9, 1e9, 1e9};
    for (int i = 0; i < ROUNDS; i++) {
        struct cost c = measure(&j, cs_str(hello), 5);
        small = (struct cost){least(small.strip, c.strip), least(small.facts, c.facts),
                              least(small.judge, c.judge)};
        run = least(run, execute(&r));
    }
    CS_AUTO_BUF struct cs_buf text = {0};
    fill(&text, LARGE_BYTES);
    struct cost large = measure(&j, cs_buf_str(&text), ROUNDS);
    double share = (small.facts - small.strip + small.judge) / run;
    double whole = large.facts - large.strip + large.judge;
    printf("assess_load %.0f us (at most %.0f)\n", load, LOAD_US);
    printf("assess_hello_execution %.0f us\n", run);
    printf("assess_hello_compile %.1f us, without facts %.1f us\n", small.facts, small.strip);
    printf("assess_hello_judge %.1f us\n", small.judge);
    printf("assess_hello_share %.1f %% (at most %.0f)\n", share * 100, HELLO_SHARE * 100);
    printf("assess_large_compile %.0f us, without facts %.0f us\n", large.facts, large.strip);
    printf("assess_large_judge %.0f us (%s)\n", large.judge, j.level);
    printf("assess_large %.0f us (at most %.0f)\n", whole, LARGE_US);
    bool met = share <= HELLO_SHARE && whole <= LARGE_US && load <= LOAD_US;
    puts(met ? "met" : "MISSED");
    uv_close((uv_handle_t *)&r.timer, NULL);
    cs_runner_close(r.runner, NULL, NULL);
    uv_run(&r.loop, UV_RUN_DEFAULT);
    uv_loop_close(&r.loop);
    cs_detector_unref(j.detector);
    cs_policy_unref(j.policy);
    return met ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct cs_engine_hooks engine = {cs_worker_warm, cs_worker_serve, cs_worker_polish,
                                                  cs_worker_rehearse, cs_worker_learn};
    int status = cs_role_main(argc, argv, &engine);
    if (status >= 0)
        return status;
    cs_mem_keep();
    char scratch[] = "/tmp/bench-assess-XXXXXX";
    if (argc > 1)
        return bench(argv[1]);
    if (!mkdtemp(scratch)) {
        perror("bench_assess");
        return 2;
    }
    status = bench(scratch);
    rmdir(scratch);
    return status;
}

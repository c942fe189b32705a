/*
 * An execution is a function of its program and of what it hears. Generated programs run once in
 * the real sandbox, with answers that come in any order after any time; then again from what was
 * heard alone, with nobody to ask and no time to wait, and everything is the same, byte for byte.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../test.h"

#include "../../lib/programs.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "sandbox/folder.h"
#include "sandbox/sandbox.h"
#include "worker/worker.h"

/* A sanitized worker takes ten times as long to make. */
#ifdef __SANITIZE_ADDRESS__
#define PROGRAMS 60
#else
#define PROGRAMS 300
#endif
#define AT_ONCE 6
#define ASK_MS  4000 /* until somebody answers */

static struct {
    uv_loop_t loop;
    struct cs_sandbox *sandbox;
    char dir[64];
    uint64_t chance;
} world;

/* What one execution showed. */
struct record {
    struct cs_heard *heard; /* payloads are copies */
    size_t count, cap;
    struct cs_buf wishes, logs, payload, state;
    enum cs_ending how;
};

/* A wish that is not answered yet. */
struct open {
    enum cs_heard_kind kind;
    uint64_t id;
};

struct play {
    struct cs_job *job;
    const char *source;
    uint64_t seed;
    enum cs_language language;
    enum cs_clock clock;
    int64_t start_us;
    const struct record *from; /* NULL: it is recorded */
    size_t next;               /* of `from` */
    bool extra;                /* with WAKEs that nobody asked for */
    size_t stop_after;         /* answers: then it goes on without the record. 0: never */
    bool redo, resumed, started, ended;
    unsigned idles;
    struct open open[300];
    unsigned open_count;
    uint64_t heard_by;
    uint64_t wall_ms; /* 0: the usual */
    unsigned answers; /* under way */
    struct record saw;
    char diverged[200];
};

static uint32_t roll(uint32_t sides)
{
    struct program_maker m = {.chance = world.chance};
    uint32_t n = program_roll(&m, sides);
    world.chance = m.chance;
    return n;
}

static void copy(struct cs_str from, struct cs_str *to)
{
    *to = cs_strn(from.len ? cs_strndup(from.at, from.len) : NULL, from.len);
}

static void free_record(struct record *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free((char *)r->heard[i].payload.at);
        free((char *)r->heard[i].canonical.at);
    }
    free(r->heard);
    struct cs_buf *all[] = {&r->wishes, &r->logs, &r->payload, &r->state};
    for (size_t i = 0; i < CS_COUNT(all); i++)
        cs_buf_done(all[i]);
}

/* ---- the player ---- */

static bool can_hear(struct play *p, const struct cs_heard *h)
{
    if (h->kind == CS_HEARD_START)
        return p->started;
    for (unsigned i = 0; i < p->open_count; i++) {
        /* A guest's numbers are its own affair; it makes one call after the other. */
        if ((p->open[i].id == h->id || p->language) && p->open[i].kind == h->kind) {
            p->heard_by = p->open[i].id;
            p->open[i] = p->open[--p->open_count];
            return true;
        }
    }
    return false;
}

static bool playing(const struct play *p)
{
    return p->from && !p->resumed;
}

static void play_on(struct play *p)
{
    while (playing(p) && p->next < p->from->count && can_hear(p, &p->from->heard[p->next])) {
        struct cs_heard heard = p->from->heard[p->next++], *h = &heard;
        heard.id = h->kind == CS_HEARD_START ? 0 : p->heard_by;
        if (p->extra && roll(3) == 0 && h->kind == CS_HEARD_CALL)
            cs_job_wake(p->job, h->time_us - roll(3000));
        cs_job_hear(p->job, h);
        if (p->next == p->stop_after) {
            p->resumed = true;
            cs_job_resume(p->job);
        }
    }
}

static void on_idle(void *ctx, int64_t due_us)
{
    struct play *p = ctx;
    p->idles++;
    bool more = p->next < p->from->count;
    if (due_us < INT64_MAX && (!more || due_us <= p->from->heard[p->next].time_us)) {
        cs_job_wake(p->job, due_us);
        return;
    }
    snprintf(p->diverged, sizeof p->diverged, "it waits at answer %zu of %zu, due %lld", p->next,
             p->from->count, (long long)due_us);
    cs_job_cancel(p->job);
}

/* ---- whoever answers ---- */

struct answer {
    uv_timer_t timer;
    struct play *play;
    uint64_t id;
    bool asks; /* the time stands still until somebody has answered */
    enum cs_answer status;
    struct cs_buf payload;
};

static void on_answer_closed(uv_handle_t *h)
{
    struct answer *a = h->data;
    a->play->answers--;
    cs_buf_done(&a->payload);
    free(a);
}

static void on_answer(uv_timer_t *t)
{
    struct answer *a = t->data;
    if (!a->play->ended && a->asks)
        cs_job_pause(a->play->job, false);
    if (!a->play->ended)
        cs_job_result(a->play->job, a->id, a->status, cs_buf_str(&a->payload));
    uv_close((uv_handle_t *)t, on_answer_closed);
}

static void on_call(void *ctx, uint64_t id, struct cs_str server, struct cs_str tool,
                    struct cs_str arguments)
{
    (void)server;
    struct play *p = ctx;
    struct answer *a = CS_NEW(struct answer);
    a->play = p;
    p->answers++;
    a->id = id;
    uv_timer_init(&world.loop, &a->timer);
    a->timer.data = a;
    if (cs_str_is(tool, "fails")) {
        a->status = CS_ANSWER_FAILED;
        cs_buf_printf(&a->payload, "{\"message\":\"no %u\"}", roll(1000));
    } else if (cs_str_is(tool, "echo")) {
        cs_buf_putstr(&a->payload, arguments);
    } else {
        cs_buf_printf(&a->payload, "{\"n\":%u}", roll(1000000));
    }
    unsigned ms = cs_str_is(tool, "slow") ? 2 + roll(8) : roll(4);
    if (cs_str_is(tool, "ask") || cs_str_is(tool, "never"))
        ms = ASK_MS;
    a->asks = cs_str_is(tool, "ask");
    if (a->asks)
        cs_job_pause(p->job, true);
    if (ms == 0)
        on_answer(&a->timer);
    else
        uv_timer_start(&a->timer, on_answer, ms, 0);
}

/* ---- what is seen ---- */

static bool on_wish(void *ctx, const struct cs_wish *w)
{
    struct play *p = ctx;
    cs_buf_printf(&p->saw.wishes, "%d %llu %.*s.%.*s(%.*s) %d %u %.*s %.*s\n", (int)w->kind,
                  p->language ? 0 : (unsigned long long)w->id, CS_STR_ARG(w->server),
                  CS_STR_ARG(w->tool), CS_STR_ARG(w->arguments), (int)w->op, w->flags,
                  CS_STR_ARG(w->path), CS_STR_ARG(w->data));
    if (!playing(p))
        return false;
    assert_true(p->open_count < CS_COUNT(p->open));
    p->open[p->open_count++] = (struct open){(enum cs_heard_kind)w->kind, w->id};
    if (p->redo)
        cs_job_redo(p->job, w);
    play_on(p);
    return true;
}

static void on_heard(void *ctx, const struct cs_heard *h)
{
    struct record *r = &((struct play *)ctx)->saw;
    assert_true(r->count == 0 || r->heard[r->count - 1].time_us <= h->time_us);
    if (r->count == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 64;
        r->heard = cs_realloc(r->heard, r->cap, sizeof *r->heard);
    }
    struct cs_heard *mine = &r->heard[r->count++];
    *mine = *h;
    copy(h->payload, &mine->payload);
    copy(h->canonical, &mine->canonical);
}

static void on_facts(void *ctx, struct cs_str json)
{
    (void)json;
    struct play *p = ctx;
    p->started = true;
    cs_job_verdict(p->job, true, NULL, CS_STR(""));
    play_on(p);
}

static void on_log(void *ctx, enum cs_level level, struct cs_str text)
{
    struct play *p = ctx;
    cs_buf_printf(&p->saw.logs, "%d %.*s\n", (int)level, CS_STR_ARG(text));
}

static void on_output(void *ctx, bool is_stderr, struct cs_str bytes)
{
    (void)is_stderr;
    struct play *p = ctx;
    cs_buf_putstr(&p->saw.logs, bytes);
}

static void on_progress(void *ctx, struct cs_str json)
{
    (void)ctx;
    (void)json;
}

static void on_ended(void *ctx, const struct cs_job_end *end)
{
    struct play *p = ctx;
    p->saw.how = end->how;
    cs_buf_putstr(&p->saw.payload, end->payload);
    cs_buf_putstr(&p->saw.state, end->state);
    if (end->err.code)
        snprintf(p->diverged, sizeof p->diverged, "%.150s", end->err.msg);
    p->ended = true;
}

static void begin(struct play *p)
{
    static const struct cs_job_events events = {.facts = on_facts,
                                                .call = on_call,
                                                .log = on_log,
                                                .output = on_output,
                                                .progress = on_progress,
                                                .ended = on_ended,
                                                .wish = on_wish,
                                                .heard = on_heard,
                                                .idle = on_idle};
    struct cs_job_spec spec = {.language = p->language,
                               .source = cs_str(p->source),
                               .limits = cs_limits_default(),
                               .state = CS_STR("{\"count\":1}"),
                               .seed = {p->seed, 5},
                               .mcp_servers = -1,
                               .clock = p->clock,
                               .start_us = p->start_us,
                               .globals = CS_STR("[\"world\"]")};
    if (p->wall_ms)
        spec.limits.wall_clock = p->wall_ms;
    struct cs_err err = {0};
    if (cs_job_start(world.sandbox, &spec, &events, p, &p->job, &err) < 0)
        fail_msg("start: %s", err.msg);
}

static void finish(const struct play *p)
{
    while (!p->ended || p->answers)
        uv_run(&world.loop, UV_RUN_ONCE);
}

static void perform(struct play *p)
{
    begin(p);
    finish(p);
}

static void same(const char *what, const struct play *p, const struct cs_buf *a,
                 const struct cs_buf *b)
{
    if (cs_str_eq(cs_buf_str(a), cs_buf_str(b)))
        return;
    size_t at = 0;
    while (at < a->len && at < b->len && a->at[at] == b->at[at])
        at++;
    size_t from = at > 200 ? at - 200 : 0;
    fail_msg("%s of program %llu differ at %zu: (%s)\n%.*s\n----\n%.*s", what,
             (unsigned long long)p->seed, at, p->diverged,
             (int)(a->len - from > 400 ? 400 : a->len - from), a->len ? a->at + from : "",
             (int)(b->len - from > 400 ? 400 : b->len - from), b->len ? b->at + from : "");
}

static void compare(const struct play *p, const struct record *a)
{
    const struct record *b = &p->saw;
    same("wishes", p, &a->wishes, &b->wishes);
    same("logs", p, &a->logs, &b->logs);
    same("results", p, &a->payload, &b->payload);
    same("states", p, &a->state, &b->state);
    if (a->how != b->how)
        fail_msg("program %llu ended as %d and as %d (%s)", (unsigned long long)p->seed,
                 (int)a->how, (int)b->how, p->diverged);
    assert_true(b->count <= a->count);
    for (size_t i = 0; i < b->count && !p->language; i++)
        assert_int_equal(a->heard[i].time_us, b->heard[i].time_us);
}

static struct play again(const struct play *was, bool extra)
{
    return (struct play){.source = was->source,
                         .seed = was->seed,
                         .language = was->language,
                         .clock = CS_CLOCK_REPLAY,
                         .start_us = was->start_us,
                         .from = &was->saw,
                         .extra = extra};
}

static void replay(const struct play *was)
{
    struct play p = again(was, false);
    perform(&p);
    compare(&p, &was->saw);
    free_record(&p.saw);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Some programs at once, and then their replays. Returns how many answers there were. */
static size_t some_programs(unsigned first, unsigned n, size_t *values)
{
    struct play plays[AT_ONCE] = {0}, others[AT_ONCE];
    struct cs_buf sources[AT_ONCE] = {0};
    size_t answers = 0;
    for (unsigned i = 0; i < n; i++) {
        struct play *p = &plays[i];
        program_make(first + i, "world", &sources[i]);
        p->source = cs_buf_cstr(&sources[i]);
        p->seed = first + i;
        p->start_us = 1700000000000000 + (int64_t)roll(1000000000);
        begin(p);
    }
    for (unsigned i = 0; i < n; i++)
        finish(&plays[i]);
    for (unsigned i = 0; i < n; i++) {
        others[i] = again(&plays[i], i % 2);
        begin(&others[i]);
    }
    for (unsigned i = 0; i < n; i++) {
        finish(&others[i]);
        assert_true(plays[i].saw.how == CS_ENDED_VALUE || plays[i].saw.how == CS_ENDED_ERROR);
        compare(&others[i], &plays[i].saw);
        answers += plays[i].saw.count;
        *values += plays[i].saw.how == CS_ENDED_VALUE;
    }
    for (unsigned i = 0; i < n; i++) {
        free_record(&others[i].saw);
        free_record(&plays[i].saw);
        cs_buf_done(&sources[i]);
    }
    return answers;
}

static void generated_programs_replay_to_the_byte(void **state)
{
    (void)state;
    size_t answers = 0, values = 0;
    const char *only = getenv("ONLY_PROGRAM"), *more = getenv("MORE_PROGRAMS");
    if (only) {
        some_programs((unsigned)strtoul(only, NULL, 10), 1, &values);
        return;
    }
    unsigned programs = more ? (unsigned)strtoul(more, NULL, 10) : PROGRAMS;
    for (unsigned n = 1; n <= programs; n += AT_ONCE)
        answers += some_programs(n, AT_ONCE, &values);
    print_message("%zu answers, %zu results\n", answers, values);
    assert_true(answers > 2 * programs && values > programs / 2);
}

static void a_replay_does_not_wait(void **state)
{
    (void)state;
    struct cs_heard start = {.kind = CS_HEARD_START, .time_us = 1700000000000000};
    const struct record nothing = {.heard = &start, .count = 1};
    struct play p = {.source = "const t = Date.now();\n"
                               "for (let i = 0; i < 60; i++) await new Promise((r) => "
                               "setTimeout(r, 10_000));\n"
                               "return [Date.now() - t, performance.now(), new "
                               "Date().toISOString()]",
                     .clock = CS_CLOCK_REPLAY,
                     .start_us = 1700000000000000,
                     .from = &nothing};
    double before = seconds();
    perform(&p);
    assert_string_equal(cs_buf_cstr(&p.saw.payload),
                        "[600000,600000,\"2023-11-14T22:23:20.000Z\"]");
    assert_true(seconds() - before < 2);
    assert_int_equal(p.idles, 60);
    free_record(&p.saw);
}

/* The record ends somewhere; from there on it is the world again that answers. */
static void a_record_can_be_gone_on_from(void **state)
{
    (void)state;
    static const char source[] =
        "import * as fs from 'node:fs/promises';\n"
        "let seen = [];\n"
        "for (let i = 0; i < 5; i++) {\n"
        "  const a = await tools.world.random({ i });\n"
        "  await fs.appendFile('/workspace/list', a.n + '\\n');\n"
        "  await new Promise((r) => setTimeout(r, 3));\n"
        "  seen.push(a.n);\n"
        "}\n"
        "const kept = (await fs.readFile('/workspace/list', 'utf8')).trim().split('\\n');\n"
        "return [kept.join() === seen.join(), kept.length, seen]";
    struct play first = {.source = source, .start_us = 1700000000000000};
    perform(&first);
    assert_contains(cs_buf_cstr(&first.saw.payload), "[true,5,[");
    for (size_t stop = 1; stop < first.saw.count; stop++) {
        struct play p = {.source = source,
                         .clock = CS_CLOCK_REPLAY,
                         .start_us = first.start_us,
                         .from = &first.saw,
                         .stop_after = stop,
                         .redo = true};
        perform(&p);
        assert_contains(cs_buf_cstr(&p.saw.payload), "[true,5,[");
        assert_int_equal(p.saw.count, first.saw.count);
        for (size_t i = 0; i < stop; i++)
            assert_int_equal(p.saw.heard[i].time_us, first.saw.heard[i].time_us);
        free_record(&p.saw);
    }
    free_record(&first.saw);
}

static void calls_of_guests_are_wishes(void **state)
{
    (void)state;
    if (cs_language_missing(CS_PYTHON))
        skip();
    struct play p = {.language = CS_PYTHON,
                     .source = "def main(i):\n"
                               "    return [caisson.tools.world.random(a=1), "
                               "caisson.tools.world.random(a=1)]\n"};
    perform(&p);
    assert_int_equal(p.saw.count, 2);
    assert_contains(cs_buf_cstr(&p.saw.wishes), "world.random({\"a\": 1})");
    replay(&p);
    free_record(&p.saw);
}

static void a_live_clock_runs(void **state)
{
    (void)state;
    struct play p = {
        .source = "let t, q, n = 0, apart = 1e9;\n"
                  "do { t = Date.now(); q = performance.now() } while (Date.now() > t + 1);\n"
                  "while (Date.now() < t + 30) n++;\n"
                  "await new Promise((r) => setTimeout(r, 20));\n"
                  "await tools.world.echo({});\n"
                  "const d = performance.now() - q;\n"
                  "for (let i = 0; i < 100; i++)\n"
                  "  apart = Math.min(apart, Math.abs(Date.now() - t - performance.now() + q));\n"
                  "return [n > 10, d >= 50, d < 50000, apart < 10]",
        .clock = CS_CLOCK_LIVE};
    perform(&p);
    assert_string_equal(cs_buf_cstr(&p.saw.payload), "[true,true,true,true]");
    free_record(&p.saw);
}

static void while_somebody_is_asked_no_time_is_lost(void **state)
{
    (void)state;
    struct play asks = {.source = "const all = [1, 2].map((n) => tools.world.ask({ n }));\n"
                                  "await Promise.all(all); return 'answered'",
                        .wall_ms = ASK_MS - 1000};
    struct play both = {.source = "const a = tools.world.ask({}); await tools.world.never({});\n"
                                  "await a; return 'both'",
                        .wall_ms = ASK_MS - 1000};
    struct play waits = {.source = "await tools.world.never({}); return 1",
                         .wall_ms = ASK_MS - 1000};
    struct play loses = {.source = "await tools.world.ask({}); await tools.world.never({})",
                         .wall_ms = ASK_MS - 1000};
    begin(&waits);
    begin(&loses);
    begin(&both);
    perform(&asks);
    assert_string_equal(cs_buf_cstr(&asks.saw.payload), "\"answered\"");
    finish(&both);
    assert_string_equal(cs_buf_cstr(&both.saw.payload), "\"both\"");
    finish(&waits);
    assert_int_equal(waits.saw.how, CS_ENDED_LIMIT);
    finish(&loses);
    assert_int_equal(loses.saw.how, CS_ENDED_LIMIT);
    free_record(&asks.saw);
    free_record(&waits.saw);
    free_record(&loses.saw);
    free_record(&both.saw);
}

/* But what it computes meanwhile counts. */
static void waiting_for_somebody_buys_no_time(void **state)
{
    (void)state;
    struct play computes = {.source = "const a = tools.world.ask({});\n"
                                      "for (let i = 0; ; i++) if (i < 0) break;\n"
                                      "return await a",
                            .wall_ms = 500};
    uint64_t start = uv_hrtime();
    perform(&computes);
    /* If time stood still it would have so much more. */
    assert_true(uv_hrtime() - start < ASK_MS * 1000000ull);
    assert_int_equal(computes.saw.how, CS_ENDED_LIMIT);
    free_record(&computes.saw);
}

/* Looking for an answer again and again must not keep it from coming. */
static void polling_ends(void **state)
{
    (void)state;
    static const char *const how[] = {"setImmediate(r)", "setTimeout(r, 0)", "setTimeout(r, 1)"};
    for (size_t i = 0; i < CS_COUNT(how); i++) {
        char source[400];
        snprintf(source, sizeof source,
                 "let done = false; tools.world.slow({}).then(() => { done = true });\n"
                 "let n = 0; while (!done) { n++; await new Promise((r) => %s); } return n",
                 how[i]);
        struct play p = {.source = source, .seed = i, .start_us = 1700000000000000};
        perform(&p);
        assert_int_equal(p.saw.how, CS_ENDED_VALUE);
        replay(&p);
        free_record(&p.saw);
    }
}

static int set_up(void **state)
{
    (void)state;
    const char *seed = getenv("TEST_SEED");
    world.chance = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    print_message("TEST_SEED=%llu\n", (unsigned long long)world.chance);
    snprintf(world.dir, sizeof world.dir, "/tmp/caisson-unit-XXXXXX");
    assert_non_null(mkdtemp(world.dir));
    chmod(world.dir, 0755);
    struct cs_sandbox_options options = {.pool = AT_ONCE, .scratch_dir = world.dir};
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
    static const struct cs_engine_hooks engine = {cs_worker_warm, cs_worker_serve, cs_worker_polish,
                                                  cs_worker_rehearse, cs_worker_learn};
    int status = cs_role_main(argc, argv, &engine);
    if (status >= 0)
        return status;
    const struct CMUnitTest tests[] = {
        CS_TEST(generated_programs_replay_to_the_byte),
        CS_TEST(a_replay_does_not_wait),
        CS_TEST(a_record_can_be_gone_on_from),
        CS_TEST(calls_of_guests_are_wishes),
        CS_TEST(a_live_clock_runs),
        CS_TEST(polling_ends),
        CS_TEST(while_somebody_is_asked_no_time_is_lost),
        CS_TEST(waiting_for_somebody_buys_no_time),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* Questions of servers find the execution that they belong to. */
#include "test.h"

#include <ftw.h>

#include "base/mem.h"
#include "run/inside.h"
#include "tools/inside.h"

struct watcher {
    unsigned asked, withdrawn;
    uint64_t last;
    bool takes;
};

struct fixture {
    uv_loop_t loop;
    char dir[64];
    struct cs_tools *tools;
    struct cs_runner runner;
    struct watcher watchers[2];
    struct cs_run runs[2];
    struct cs_gate_call calls[3]; /* two of the first execution, one of the second */
};

static bool on_ask(void *ctx, const struct cs_tool_ask *ask)
{
    struct watcher *w = ctx;
    w->asked++;
    w->last = ask->id;
    return w->takes;
}

static void on_withdrawn(void *ctx, uint64_t id)
{
    struct watcher *w = ctx;
    assert_true(id && id <= w->last);
    w->withdrawn++;
}

static int setup(void **state)
{
    struct fixture *f = CS_NEW(struct fixture);
    const struct cs_tools_options options = {.data_dir = f->dir};
    struct cs_err err = {0};
    snprintf(f->dir, sizeof f->dir, "/tmp/caisson-ask-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    uv_loop_init(&f->loop);
    if (cs_tools_new(&f->loop, &options, &f->tools, &err) < 0)
        fail_msg("%s", err.msg);
    f->runner = (struct cs_runner){.loop = &f->loop, .tools = f->tools};
    for (size_t i = 0; i < 2; i++) {
        f->watchers[i].takes = true;
        f->runs[i].runner = &f->runner;
        f->runs[i].ctx = &f->watchers[i];
        f->runs[i].watch = (struct cs_run_watch){.ask = on_ask, .withdrawn = on_withdrawn};
    }
    f->calls[0].run = f->calls[1].run = &f->runs[0];
    f->calls[2].run = &f->runs[1];
    cs_asks_open(&f->runner, 1u << CS_ASK_FORM);
    *state = f;
    return 0;
}

static int clear(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    cs_asks_close(&f->runs[0]);
    cs_asks_close(&f->runs[1]);
    assert_null(f->runner.asks);
    cs_tools_close(f->tools, NULL, NULL);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    nftw(f->dir, clear, 8, FTW_DEPTH | FTW_PHYS);
    free(f);
    return 0;
}

/* Of calls `from` to `to`, that one excluded. */
static bool ask(struct fixture *f, uint64_t id, size_t from, size_t to)
{
    void *calls[3];
    for (size_t i = from; i < to; i++)
        calls[i - from] = &f->calls[i];
    const struct cs_tool_ask question = {.id = id,
                                         .server = CS_STR("s"),
                                         .params = CS_STR("{}"),
                                         .calls = calls,
                                         .call_count = to - from};
    return f->tools->asker.ask(f->tools->asker.ctx, &question);
}

static void a_question_reaches_its_own_execution_only(void **state)
{
    struct fixture *f = *state;
    assert_true(ask(f, 1, 0, 1));
    assert_true(ask(f, 2, 2, 3));
    assert_true(ask(f, 3, 0, 2));
    assert_int_equal(f->watchers[0].asked, 2);
    assert_int_equal(f->watchers[1].asked, 1);
    /* Of several executions, or of none: nobody may see it. */
    assert_false(ask(f, 4, 1, 3));
    assert_false(ask(f, 5, 0, 0));
    assert_int_equal(f->watchers[0].asked + f->watchers[1].asked, 3);
    f->tools->asker.withdrawn(f->tools->asker.ctx, 3);
    assert_int_equal(f->watchers[0].withdrawn, 1);
    f->tools->asker.withdrawn(f->tools->asker.ctx, 3);
    assert_int_equal(f->watchers[0].withdrawn, 1);
}

static void nobody_to_ask_declines(void **state)
{
    struct fixture *f = *state;
    f->watchers[0].takes = false;
    assert_false(ask(f, 1, 0, 1));
    assert_null(f->runner.asks);
    f->runs[0].watch.ask = NULL;
    assert_false(ask(f, 2, 0, 1));
    assert_int_equal(f->watchers[0].asked, 1);
}

static void only_the_asked_execution_answers(void **state)
{
    struct fixture *f = *state;
    assert_true(ask(f, 7, 2, 3));
    cs_run_answer(&f->runs[0], 7, CS_STR("{\"action\":\"accept\"}"));
    assert_non_null(f->runner.asks);
    cs_run_answer(&f->runs[1], 7, CS_STR("{\"action\":\"accept\"}"));
    assert_null(f->runner.asks);
    cs_run_answer(&f->runs[1], 7, CS_STR("{\"action\":\"accept\"}"));
    f->tools->asker.withdrawn(f->tools->asker.ctx, 7);
    assert_int_equal(f->watchers[1].withdrawn, 0);
}

static void the_end_of_an_execution_ends_its_questions(void **state)
{
    struct fixture *f = *state;
    assert_true(ask(f, 1, 2, 3));
    assert_true(ask(f, 2, 0, 2));
    cs_asks_close(&f->runs[0]);
    assert_int_equal(f->watchers[0].withdrawn, 1);
    assert_int_equal(f->watchers[1].withdrawn, 0);
    assert_non_null(f->runner.asks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(a_question_reaches_its_own_execution_only, setup, teardown),
        CS_TEST_WITH(nobody_to_ask_declines, setup, teardown),
        CS_TEST_WITH(only_the_asked_execution_answers, setup, teardown),
        CS_TEST_WITH(the_end_of_an_execution_ends_its_questions, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

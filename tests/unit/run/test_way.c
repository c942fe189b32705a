/* Executions wait for their turn, can be found, watched and cancelled, and end with the runner. */
#include "way.h"

static const char spin[] = "console.log('on'); for (;;) await new Promise(r => setTimeout(r, 5));";

static int setup(void **state)
{
    (void)state;
    open_runner((struct cs_runner_options){.most_running = 1, .most_waiting = 3});
    world.order = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close_runner();
    return 0;
}

static void until_logged(const struct play *p)
{
    while (!p->logs.len)
        uv_run(&world.loop, UV_RUN_ONCE);
}

static void one_after_the_other(void **state)
{
    (void)state;
    struct play p[3] = {0};
    for (int i = 0; i < 3; i++) {
        char code[] = "return 'n'";
        code[8] = (char)('0' + i);
        struct cs_request request = request_of(code);
        begin(&p[i], &request);
        memset(code, 'x', sizeof code); /* it was lent until start returned */
        assert_string_equal(cs_run_phase(p[i].run), i ? "waiting" : "running");
    }
    struct cs_figures figures;
    cs_runner_figures(world.runner, &figures);
    assert_int_equal(figures.running, 1);
    assert_int_equal(figures.waiting, 2);
    until(&p[2].is_done);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(p[i].order, i + 1);
        assert_false(p[i].failed);
        char expected[] = {'"', (char)('0' + i), '"', 0};
        assert_str_is(cs_buf_str(&p[i].value), expected);
        assert_true(i ? p[i].queued_us > 0 : p[i].queued_us == 0);
        assert_true(!i == !strstr(cs_buf_cstr(&p[i].envelope), "\"queued_ms\":"));
        play_done(&p[i]);
    }
    cs_runner_figures(world.runner, &figures);
    assert_int_equal(figures.by_status[CS_STATUS_COMPLETED], 3);
    assert_int_equal(figures.running + figures.waiting, 0);
    uint64_t counted = 0;
    for (unsigned i = 0; i < CS_RUN_BUCKETS; i++) {
        counted += figures.seconds_count[i];
        assert_true(i == 0 || cs_run_bucket(i) > cs_run_bucket(i - 1));
    }
    assert_true(cs_run_bucket(CS_RUN_BUCKETS - 1) > 1e300);
    assert_int_equal(counted, 3);
    assert_true(figures.seconds_sum > 0);
}

static void too_many_are_refused(void **state)
{
    (void)state;
    struct play first = {0}, waiting[3] = {0}, refused = {0};
    struct cs_request request = request_of(spin), quick = request_of("return 1");
    begin(&first, &request);
    for (int i = 0; i < 3; i++)
        begin(&waiting[i], &quick);
    perform(&refused, &quick);
    assert_int_equal(refused.refused, CS_BUSY);
    assert_int_equal(refused.error, CS_ERROR_RESOURCE);
    assert_in_range(refused.retry_after_s, 1, 60);
    assert_contains(cs_buf_cstr(&refused.message), "try again in 1 s");
    struct cs_figures figures;
    cs_runner_figures(world.runner, &figures);
    assert_int_equal(figures.refused, 1);
    assert_int_equal(figures.by_error[CS_ERROR_RESOURCE], 0);
    assert_int_equal(figures.waiting, 3);

    /* Who waits can be cancelled, and makes room. */
    cs_run_cancel(waiting[1].run);
    cs_run_cancel(waiting[1].run);
    until(&waiting[1].is_done);
    assert_int_equal(waiting[1].status, CS_STATUS_CANCELLED);
    assert_int_equal(waiting[1].refused, CS_OK);
    struct play late = {0};
    begin(&late, &quick);
    cs_run_cancel(first.run);
    until(&late.is_done);
    assert_int_equal(first.status, CS_STATUS_CANCELLED);
    assert_false(waiting[0].failed || waiting[2].failed || late.failed);
    assert_true(first.order < waiting[0].order && waiting[0].order < waiting[2].order &&
                waiting[2].order < late.order);
    play_done(&first);
    play_done(&refused);
    play_done(&late);
    for (int i = 0; i < 3; i++)
        play_done(&waiting[i]);
}

static void malformed_requests_are_refused(void **state)
{
    (void)state;
    struct play p = {0};
    struct cs_request request = request_of("return 1");
    char name[80];
    memset(name, 'n', sizeof name);
    request.tenant = cs_strn(name, sizeof name);
    perform(&p, &request);
    assert_int_equal(p.refused, CS_INVALID);
    play_done(&p);
    p = (struct play){0};
    request = request_of("");
    request.code = (struct cs_str){name, CS_CODE_MAX + 1};
    perform(&p, &request);
    assert_int_equal(p.refused, CS_LIMIT);
    play_done(&p);
    p = (struct play){0};
    request = request_of("return 1");
    request.session = CS_STR("ses_0");
    perform(&p, &request);
    assert_int_equal(p.refused, CS_MISSING);
    play_done(&p);
}

static void it_is_found_by_its_own_tenant(void **state)
{
    (void)state;
    struct play p = {0};
    struct cs_request request = request_of(spin);
    request.tenant = CS_STR("blue");
    begin(&p, &request);
    struct cs_str id = cs_str(cs_run_id(p.run));
    assert_ptr_equal(cs_run_find(world.runner, CS_STR("blue"), id), p.run);
    assert_null(cs_run_find(world.runner, CS_STR("default"), id));
    assert_null(cs_run_find(world.runner, CS_STR("blue"), CS_STR("ex_1")));
    until_logged(&p);
    const struct cs_log *logs;
    assert_int_equal(cs_run_logs(p.run, &logs), 1);
    assert_str_is(logs[0].text, "on");
    cs_run_cancel(p.run);
    until(&p.is_done);
    assert_null(cs_run_find(world.runner, CS_STR("blue"), cs_str(p.id)));
    play_done(&p);
}

/* --- seats --- */

struct sitter {
    struct cs_run_seat *seat, *other;
    unsigned logs, dones;
    bool leaves;
};

static void on_sitter_log(void *ctx, enum cs_level level, struct cs_str text)
{
    struct sitter *s = ctx;
    (void)level;
    (void)text;
    assert_int_equal(s->dones, 0);
    s->logs++;
    if (!s->leaves)
        return;
    cs_run_leave(s->seat);
    if (s->other)
        cs_run_leave(s->other);
}

static void on_sitter_done(void *ctx, const struct cs_result *result)
{
    struct sitter *s = ctx;
    assert_int_equal(result->status, CS_STATUS_COMPLETED);
    s->dones++;
    if (s->other && !s->leaves)
        cs_run_leave(s->other);
}

static void watchers_come_and_go(void **state)
{
    (void)state;
    static const struct cs_run_watch watch = {.log = on_sitter_log};
    struct play p = {0};
    struct sitter s[5] = {0};
    struct cs_request request = request_of("for (let i = 0; i < 3; i++) console.log(i)");
    begin(&p, &request);
    for (int i = 0; i < 5; i++)
        s[i].seat = cs_run_join(p.run, i == 4 ? NULL : &watch, on_sitter_done, &s[i]);
    s[0].leaves = true; /* itself and the next one, both in a callback of its own */
    s[0].other = s[1].seat;
    s[2].other = s[3].seat; /* the next one, in `done` */
    until(&p.is_done);
    assert_string_equal(cs_buf_cstr(&p.logs), "0\n1\n2\n");
    const unsigned logs[] = {1, 0, 3, 3, 0}, dones[] = {0, 0, 1, 0, 1};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(s[i].logs, logs[i]);
        assert_int_equal(s[i].dones, dones[i]);
    }
    play_done(&p);
}

/* --- keys, as far as they go without a store --- */

static void the_same_key_joins(void **state)
{
    (void)state;
    struct play p[4] = {0};
    struct cs_request request = request_of("await new Promise(r => setTimeout(r, 50)); return 7");
    request.key = CS_STR("k");
    request.fingerprint = CS_STR("f");
    begin(&p[0], &request);
    begin(&p[1], &request);
    assert_string_equal(cs_run_id(p[0].run), cs_run_id(p[1].run));
    assert_ptr_equal(cs_run_find(world.runner, CS_STR("default"), cs_str(cs_run_id(p[0].run))),
                     p[0].run);
    begin(&p[3], &request);
    cs_run_cancel(p[3].run);
    request.fingerprint = CS_STR("g");
    perform(&p[2], &request);
    assert_int_equal(p[2].refused, CS_CONFLICT);
    assert_contains(cs_buf_cstr(&p[2].message), "used for another request");
    until(&p[3].is_done);
    assert_int_equal(p[3].status, CS_STATUS_CANCELLED);
    until(&p[1].is_done);
    assert_true(p[0].is_done);
    assert_str_is(cs_buf_str(&p[1].value), "7");
    assert_string_equal(cs_buf_cstr(&p[1].earlier), cs_buf_cstr(&p[0].envelope));
    struct cs_figures figures;
    cs_runner_figures(world.runner, &figures);
    assert_int_equal(figures.by_status[CS_STATUS_COMPLETED], 1);
    assert_int_equal(figures.waiting, 0);
    /* Of another tenant it is another key. */
    request.tenant = CS_STR("blue");
    play_done(&p[2]);
    p[2] = (struct play){0};
    begin(&p[2], &request);
    assert_string_not_equal(cs_run_id(p[2].run), p[0].id);
    until(&p[2].is_done);
    for (int i = 0; i < 4; i++)
        play_done(&p[i]);
}

static void closing_ends_them_all(void **state)
{
    (void)state;
    struct play p[3] = {0};
    struct cs_request request = request_of(spin);
    for (int i = 0; i < 3; i++)
        begin(&p[i], &request);
    until_logged(&p[0]);
    close_runner();
    for (int i = 0; i < 3; i++) {
        assert_true(p[i].is_done);
        assert_int_equal(p[i].status, CS_STATUS_CANCELLED);
        play_done(&p[i]);
    }
}

int main(int argc, char **argv)
{
    int status = play_role(argc, argv);
    if (status >= 0)
        return status;
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(one_after_the_other, setup, teardown),
        CS_TEST_WITH(too_many_are_refused, setup, teardown),
        CS_TEST_WITH(malformed_requests_are_refused, setup, teardown),
        CS_TEST_WITH(it_is_found_by_its_own_tenant, setup, teardown),
        CS_TEST_WITH(watchers_come_and_go, setup, teardown),
        CS_TEST_WITH(the_same_key_joins, setup, teardown),
        CS_TEST_WITH(closing_ends_them_all, setup, teardown),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* Servers are started when they are needed, and followed when their configuration changes. */
#include "world.h"

/* --- waiting for things, with an end --- */

static void on_deadline(uv_timer_t *timer)
{
    fail_msg("%s took too long", (const char *)timer->data);
}

static void run_until(struct world *w, const bool *done, const char *what)
{
    uv_timer_t timer;
    uv_timer_init(&w->loop, &timer);
    timer.data = (void *)(uintptr_t)what;
    uv_timer_start(&timer, on_deadline, 60000, 0);
    while (!*done)
        uv_run(&w->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&w->loop, UV_RUN_NOWAIT);
}

static void set_true(void *ctx)
{
    *(bool *)ctx = true;
}

static void await(struct world *w, const char *server, bool fresh)
{
    bool ready = false;
    cs_tools_await(w->tools, cs_str(server), fresh, 50000, set_true, &ready);
    assert_false(ready); /* never before it has returned */
    run_until(w, &ready, "waiting for a server");
}

static void on_pause(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

static void pause_for(struct world *w, unsigned ms)
{
    bool over = false;
    uv_timer_t timer;
    uv_timer_init(&w->loop, &timer);
    timer.data = &over;
    uv_timer_start(&timer, on_pause, ms, 0);
    run_until(w, &over, "a pause");
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&w->loop, UV_RUN_NOWAIT);
}

struct answer {
    bool done, retryable;
    struct cs_err err;
    char text[300];
};

static void on_answer(void *ctx, const struct cs_tool_result *r)
{
    struct answer *a = ctx;
    assert_false(a->done); /* once */
    a->done = true;
    a->err = r->err;
    a->retryable = r->retryable;
    if (r->err.code == CS_OK)
        snprintf(a->text, sizeof a->text, "%.*s", CS_STR_ARG(cs_json_raw(r->result)));
}

static bool has_tool(struct world *w, const char *server, const char *tool)
{
    struct cs_catalogue *c = cs_tools_current(w->tools);
    bool found = cs_catalogue_find(c, cs_str(server), cs_str(tool)) != NULL;
    cs_catalogue_unref(c);
    return found;
}

static struct answer call(struct world *w, const char *server, const char *tool,
                          unsigned timeout_ms)
{
    struct answer a = {0};
    struct cs_catalogue *c = cs_tools_current(w->tools);
    const struct cs_tool *t = cs_catalogue_find(c, cs_str(server), cs_str(tool));
    if (!t)
        fail_msg("there is no %s.%s", server, tool);
    cs_tools_call(w->tools, t, CS_STR("{}"), timeout_ms, 1 << 20, NULL, on_answer, &a);
    assert_false(a.done);
    run_until(w, &a.done, "a call");
    cs_catalogue_unref(c);
    return a;
}

static void count_state(void *ctx, const struct cs_server_state *s)
{
    struct cs_buf *out = ctx;
    cs_buf_printf(out, "%.*s=%s;", CS_STR_ARG(s->name), s->state);
}

static const char *states(struct world *w)
{
    static char text[500];
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_tools_servers(w->tools, count_state, &out);
    snprintf(text, sizeof text, "%s", cs_buf_cstr(&out));
    return text;
}

static void one_shell(struct world *w, const char *name, const char *tool)
{
    CS_AUTO_BUF struct cs_buf entry = {0};
    shell_entry(w, &entry, name, tool);
    put_config(w, cs_buf_cstr(&entry));
}

/* --- the tests --- */

static void test_no_file_is_no_servers(void **state)
{
    struct world *w = *state;
    open_tools(w, true);
    struct cs_catalogue *c = cs_tools_current(w->tools);
    assert_int_equal(cs_catalogue_count(c), 0);
    cs_catalogue_unref(c);
    assert_false(cs_tools_waiting(w->tools));
    await(w, "", false);
}

static void test_a_file_that_cannot_be_read_is_an_error(void **state)
{
    struct world *w = *state;
    struct cs_err err = {0};
    struct cs_tools_options options = {.config_path = w->config, .data_dir = w->data};
    assert_int_equal(cs_file_replace(w->config, CS_STR("{\"mcpServers\":"), 0600, &err), 0);
    assert_int_equal(cs_tools_new(&w->loop, &options, &w->tools, &err), -1);
    assert_null(w->tools);
    assert_contains(err.msg, "caisson.json");
}

static void test_a_server_starts_when_it_is_needed(void **state)
{
    struct world *w = *state;
    one_shell(w, "s", "extra");
    open_tools(w, false);
    pause_for(w, 200);
    assert_string_equal(states(w), "s=idle;");
    assert_true(cs_tools_waiting(w->tools));
    assert_false(has_tool(w, "s", "text"));
    await(w, "s", false);
    assert_string_equal(states(w), "s=ready;");
    assert_false(cs_tools_waiting(w->tools));
    assert_true(has_tool(w, "s", "extra"));
    struct answer a = call(w, "s", "text", 5000);
    assert_int_equal(a.err.code, CS_OK);
    assert_contains(a.text, "\"hello\"");
}

static void test_what_was_listed_is_known_next_time(void **state)
{
    struct world *w = *state;
    one_shell(w, "s", "extra");
    open_tools(w, false);
    await(w, "s", false);
    close_tools(w);
    assert_true(exists(w->data, "catalogue/s.json"));
    open_tools(w, false);
    assert_true(has_tool(w, "s", "extra"));
    /* At once, before the configuration is read a second time. */
    struct answer a = call(w, "s", "text", 5000);
    assert_int_equal(a.err.code, CS_OK);
    close_tools(w);
    /* Another entry of that name is another server. */
    one_shell(w, "s", "other");
    open_tools(w, false);
    assert_false(has_tool(w, "s", "extra"));
}

static void test_a_server_that_dies_is_started_again(void **state)
{
    struct world *w = *state;
    one_shell(w, "s", "extra");
    open_tools(w, false);
    await(w, "s", false);
    for (int i = 0; i < 3; i++) {
        struct answer a = call(w, "s", "die", 5000);
        assert_int_equal(a.err.code, CS_UPSTREAM);
        assert_contains(a.err.msg, "status 3");
        assert_true(a.retryable);
        a = call(w, "s", "text", 5000);
        assert_int_equal(a.err.code, CS_OK);
    }
}

static void test_calls_end_in_time(void **state)
{
    struct world *w = *state;
    one_shell(w, "s", "extra");
    open_tools(w, false);
    await(w, "s", false);
    struct answer a = call(w, "s", "late", 100);
    assert_int_equal(a.err.code, CS_LIMIT);
    assert_contains(a.err.msg, "within 0.1 s");
    assert_true(a.retryable);
}

static void test_a_server_that_cannot_be_used_says_why(void **state)
{
    struct world *w = *state;
    put_config(w,
               "\"gone\":{\"command\":\"/no/such/"
               "program\"},\"off\":{\"command\":\"sh\",\"enabled\":false},"
               "\"lacks\":{\"command\":\"sh\",\"env\":{\"A\":\"${env:NO_SUCH_VARIABLE_HERE}\"}}");
    remember(w, "gone", "[" TOOL("x") "]");
    remember(w, "lacks", "[" TOOL("x") "]");
    open_tools(w, false);
    struct answer a = call(w, "gone", "x", 5000);
    assert_contains(a.err.msg, "/no/such/program");
    a = call(w, "lacks", "x", 5000);
    assert_contains(a.err.msg, "NO_SUCH_VARIABLE_HERE");
    assert_false(has_tool(w, "off", "x"));
    assert_string_equal(states(w), "gone=failed;lacks=failed;off=disabled;");
    await(w, "", false);
    struct cs_offer *stale = offer_named("off", "[" TOOL("x") "]");
    struct answer b = {0};
    cs_tools_call(w->tools, cs_offer_at(stale, 0), CS_STR("{}"), 1000, 1000, NULL, on_answer, &b);
    run_until(w, &b.done, "a call of a server that is off");
    assert_contains(b.err.msg, "caisson enable off");
    cs_offer_unref(stale);
}

static void test_a_tool_of_a_server_that_is_gone(void **state)
{
    struct world *w = *state;
    open_tools(w, false);
    struct cs_offer *stale = offer_named("gone", "[" TOOL("x") "]");
    struct answer a = {0}, cancelled = {0};
    cs_tools_call(w->tools, cs_offer_at(stale, 0), CS_STR("{}"), 1000, 1000, NULL, on_answer, &a);
    struct cs_tool_call *c = cs_tools_call(w->tools, cs_offer_at(stale, 0), CS_STR("{}"), 1000,
                                           1000, NULL, on_answer, &cancelled);
    cs_tool_call_cancel(c);
    run_until(w, &a.done, "a call");
    assert_int_equal(a.err.code, CS_MISSING);
    assert_contains(a.err.msg, "no longer configured");
    assert_false(cancelled.done);
    cs_offer_unref(stale);
}

static void test_cancelled_calls_are_not_heard_of(void **state)
{
    struct world *w = *state;
    one_shell(w, "s", "extra");
    remember(w, "s", "[" TOOL("text") "," TOOL("late") "]");
    open_tools(w, false);
    struct cs_catalogue *c = cs_tools_current(w->tools);
    const struct cs_tool *text = cs_catalogue_find(c, CS_STR("s"), CS_STR("text"));
    const struct cs_tool *late = cs_catalogue_find(c, CS_STR("s"), CS_STR("late"));
    struct answer never[3] = {0}, last = {0};
    /* Before its entry is known, while it starts, and under way. */
    cs_tool_call_cancel(
        cs_tools_call(w->tools, text, CS_STR("{}"), 5000, 1 << 20, NULL, on_answer, &never[0]));
    struct answer first = call(w, "s", "text", 5000);
    assert_int_equal(first.err.code, CS_OK);
    struct cs_tool_call *under_way =
        cs_tools_call(w->tools, late, CS_STR("{}"), 5000, 1 << 20, NULL, on_answer, &never[1]);
    pause_for(w, 50);
    cs_tool_call_cancel(under_way);
    last = call(w, "s", "text", 5000);
    assert_int_equal(last.err.code, CS_OK);
    /* The end of all is the end of those under way. */
    cs_tools_call(w->tools, late, CS_STR("{}"), 5000, 1 << 20, NULL, on_answer, &never[2]);
    cs_catalogue_unref(c);
    close_tools(w);
    for (size_t i = 0; i < 3; i++)
        assert_false(never[i].done);
}

static void test_a_changed_file_is_followed(void **state)
{
    struct world *w = *state;
    one_shell(w, "a", "first");
    open_tools(w, true);
    await(w, "a", false);
    struct cs_catalogue *before = cs_tools_current(w->tools);
    /* Another comes. */
    CS_AUTO_BUF struct cs_buf both = {0};
    shell_entry(w, &both, "a", "first");
    shell_entry(w, &both, "b", "second");
    put_config(w, cs_buf_cstr(&both));
    for (int i = 0; i < 3000 && strcmp(states(w), "a=ready;b=idle;") != 0; i++)
        pause_for(w, 20);
    assert_string_equal(states(w), "a=ready;b=idle;"); /* the first was left alone */
    await(w, "b", false);
    assert_true(has_tool(w, "b", "second"));
    /* The file is broken for a while: nothing happens. */
    struct cs_err err = {0};
    assert_int_equal(cs_file_replace(w->config, CS_STR("{"), 0600, &err), 0);
    pause_for(w, 400);
    assert_string_equal(states(w), "a=ready;b=ready;");
    /* One goes; what was made of it stays with those who have it. */
    one_shell(w, "b", "second");
    for (int i = 0; i < 3000 && has_tool(w, "a", "first"); i++)
        pause_for(w, 20);
    assert_string_equal(states(w), "b=ready;");
    assert_false(has_tool(w, "a", "first"));
    assert_non_null(cs_catalogue_find(before, CS_STR("a"), CS_STR("first")));
    assert_int_equal(faccessat(cs_catalogue_dir(before), "a/first.ts", R_OK, 0), 0);
    cs_catalogue_unref(before);
}

/* Somebody waits for all servers while another one comes: it is started for them. */
static void test_who_waits_waits_for_newcomers_too(void **state)
{
    struct world *w = *state;
    bool ready = false;
    put_config(w, "\"mute\":{\"command\":\"sleep\",\"args\":[\"60\"]}");
    open_tools(w, true);
    cs_tools_await(w->tools, (struct cs_str){0}, false, 50000, set_true, &ready);
    pause_for(w, 100);
    assert_false(ready);
    one_shell(w, "s", "extra");
    run_until(w, &ready, "waiting for a newcomer");
    assert_true(has_tool(w, "s", "extra"));
}

static void test_waiting_ends_and_can_be_given_up(void **state)
{
    struct world *w = *state;
    bool ready = false, never = false;
    put_config(w, "\"mute\":{\"command\":\"sleep\",\"args\":[\"60\"]}");
    open_tools(w, false);
    struct cs_await *a = cs_tools_await(w->tools, CS_STR("mute"), true, 100, set_true, &never);
    cs_tools_await(w->tools, CS_STR("mute"), true, 200, set_true, &ready);
    cs_await_cancel(a);
    run_until(w, &ready, "waiting for a server that says nothing");
    assert_false(never);
    ready = false;
    cs_tools_await(w->tools, CS_STR("nobody"), true, 50000, set_true, &ready);
    run_until(w, &ready, "waiting for nobody");
    cs_tools_await(w->tools, CS_STR("mute"), true, 50000, set_true, &never);
    close_tools(w); /* with somebody waiting */
    assert_false(never);
}

/* --- what is learned --- */

static void seen(struct world *w, const char *tool, const char *value, struct cs_buf *drift)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_json_parse(cs_str(value), NULL, &doc, &err), 0);
    struct cs_catalogue *c = cs_tools_current(w->tools);
    const struct cs_tool *t = cs_catalogue_find(c, CS_STR("s"), cs_str(tool));
    assert_non_null(t);
    cs_buf_clear(drift);
    cs_tools_seen(w->tools, t, cs_json_root(&doc), NULL, drift);
    cs_catalogue_unref(c);
}

static uint64_t learned(struct world *w, const char *tool)
{
    struct cs_catalogue *c = cs_tools_current(w->tools);
    uint64_t count = cs_catalogue_find(c, CS_STR("s"), cs_str(tool))->learned;
    cs_catalogue_unref(c);
    return count;
}

static void test_waiting_begins_when_it_is_asked_for(void **state)
{
    struct world *w = *state;
    bool over = false;
    put_config(w, "\"mute\":{\"command\":\"sleep\",\"args\":[\"30\"]}");
    open_tools(w, false);
    uv_update_time(&w->loop);
    nanosleep(&(struct timespec){.tv_nsec = 400000000},
              NULL); /* the loop has not turned for long */
    uint64_t begun = uv_hrtime();
    cs_tools_await(w->tools, CS_STR("mute"), true, 300, set_true, &over);
    while (!over)
        uv_run(&w->loop, UV_RUN_ONCE);
    assert_true(uv_hrtime() - begun >= 290000000);
}

static void test_types_are_learned_and_kept(void **state)
{
    struct world *w = *state;
    CS_AUTO_BUF struct cs_buf drift = {0};
    one_shell(w, "s", "extra");
    open_tools(w, false);
    await(w, "s", false);
    seen(w, "extra", "{\"a\":1}", &drift);
    assert_int_equal(drift.len, 0); /* the first says what is right */
    assert_int_equal(learned(w, "extra"), 0);
    pause_for(w, 800);
    assert_int_equal(learned(w, "extra"), 1);
    seen(w, "extra", "{\"a\":2}", &drift);
    assert_int_equal(drift.len, 0);
    seen(w, "extra", "{\"a\":\"text\"}", &drift);
    assert_contains(cs_buf_cstr(&drift), "differs from the learned output type");
    seen(w, "extra", "{\"a\":\"more\"}", &drift);
    assert_int_equal(drift.len, 0); /* now it is known */
    /* A type that was declared is the server's word. */
    seen(w, "wrong", "{\"b\":1}", &drift);
    assert_contains(cs_buf_cstr(&drift), "differs from the declared output type");
    seen(w, "wrong", "{\"a\":1}", &drift);
    assert_int_equal(drift.len, 0);
    close_tools(w);
    open_tools(w, false);
    assert_int_equal(learned(w, "extra"), 3);
    assert_int_equal(learned(w, "wrong"), 0);
}

/* Warnings about a bad tool are not kept once per result. */
static void log_length(void *ctx, const struct cs_server_state *s)
{
    *(size_t *)ctx = s->log_tail.len;
}

static void test_logs_stay_small(void **state)
{
    struct world *w = *state;
    CS_AUTO_BUF struct cs_buf drift = {0};
    one_shell(w, "s", "text"); /* listed twice */
    open_tools(w, false);
    await(w, "s", false);
    size_t first = 0, last = 0;
    cs_tools_servers(w->tools, log_length, &first);
    assert_true(first > 0);
    for (int i = 0; i < 3; i++) {
        static const char *const values[] = {"1", "\"x\"", "[true]"};
        seen(w, "late", values[i], &drift);
        pause_for(w, 600);
    }
    cs_tools_servers(w->tools, log_length, &last);
    assert_int_equal(first, last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(test_no_file_is_no_servers, make_world, drop_world),
        CS_TEST_WITH(test_a_file_that_cannot_be_read_is_an_error, make_world, drop_world),
        CS_TEST_WITH(test_a_server_starts_when_it_is_needed, make_world, drop_world),
        CS_TEST_WITH(test_what_was_listed_is_known_next_time, make_world, drop_world),
        CS_TEST_WITH(test_a_server_that_dies_is_started_again, make_world, drop_world),
        CS_TEST_WITH(test_calls_end_in_time, make_world, drop_world),
        CS_TEST_WITH(test_a_server_that_cannot_be_used_says_why, make_world, drop_world),
        CS_TEST_WITH(test_a_tool_of_a_server_that_is_gone, make_world, drop_world),
        CS_TEST_WITH(test_cancelled_calls_are_not_heard_of, make_world, drop_world),
        CS_TEST_WITH(test_a_changed_file_is_followed, make_world, drop_world),
        CS_TEST_WITH(test_who_waits_waits_for_newcomers_too, make_world, drop_world),
        CS_TEST_WITH(test_waiting_ends_and_can_be_given_up, make_world, drop_world),
        CS_TEST_WITH(test_waiting_begins_when_it_is_asked_for, make_world, drop_world),
        CS_TEST_WITH(test_types_are_learned_and_kept, make_world, drop_world),
        CS_TEST_WITH(test_logs_stay_small, make_world, drop_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

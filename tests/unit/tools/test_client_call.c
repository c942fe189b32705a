/* Calls: answers of all kinds, time, size, cancelling, and servers that talk nonsense. */
#include "test.h"

#include "tools/fake.h"

static int setup(void **state)
{
    *state = fake_new();
    return 0;
}

static int teardown(void **state)
{
    fake_free(*state);
    return 0;
}

static struct fake *ready(void **state)
{
    fake_ready(*state);
    return *state;
}

static struct cs_client_call *call_for(struct fake *f, uint32_t timeout_ms, uint64_t max)
{
    struct cs_client_request request = {.tool = CS_STR("one"),
                                        .arguments = CS_STR("{}"),
                                        .timeout_ms = timeout_ms,
                                        .max_result_bytes = max};
    return cs_client_call(f->client, &request, fake_progress, fake_done, f);
}

static void a_result_is_handed_on_as_it_was_written(void **state)
{
    struct fake *f = ready(state);
    fake_call(f, "na\"me", "{ \"a\":1 }");
    assert_contains(fake_last(f)->json, "\"name\":\"na\\\"me\",\"arguments\":{ \"a\":1 }");
    assert_contains(fake_last(f)->json, "\"_meta\":{\"progressToken\":");
    assert_int_equal(f->done, 0);
    fake_answer(f, fake_last(f), "{ \"content\" : [ ],\"x\":1.0e0 , \"isError\":true}");
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last.err.code, CS_OK);
    assert_str_is(f->last.result, "{ \"content\" : [ ],\"x\":1.0e0 , \"isError\":true}");
    assert_int_equal(cs_client_info(f->client)->calls, 1);
    assert_int_equal(cs_client_info(f->client)->call_errors, 0);
}

static void arguments_stay_on_one_line(void **state)
{
    struct fake *f = ready(state);
    fake_call(f, "one",
              "{\n\t\"a\":\r\n\"x\xE2\x80\xA8y\xE2\x80\xA9z\xC2\x85w\xE2\x82\xAC\xC2\xA9\"}");
    assert_contains(fake_last(f)->json,
                    "{ \t\"a\":  \"x\\u2028y\\u2029z\\u0085w\xE2\x82\xAC\xC2\xA9\"}");
    fake_call(f, "one", "");
    assert_contains(fake_last(f)->json, "\"arguments\":{}");
}

static void an_error_is_told_with_tool_server_and_code(void **state)
{
    struct fake *f = ready(state);
    fake_call(f, "one", "{}");
    fake_say(f,
             "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32602,\"message\":"
             "\"bad\\n\\u001b[31m\\u00e9\"}}",
             fake_id(fake_last(f)));
    assert_int_equal(f->last.err.code, CS_UPSTREAM);
    assert_int_equal(f->last.rpc_code, -32602);
    assert_false(f->last.retryable);
    assert_contains(f->last.err.msg, "tool 'one' of server 'fake': bad  [31m\xC3\xA9 (-32602)");
    assert_int_equal(cs_client_info(f->client)->call_errors, 1);
}

static void answers_to_nobody_are_ignored(void **state)
{
    struct fake *f = ready(state);
    fake_call(f, "one", "{}");
    const struct fake_sent sent = *fake_last(f);
    static const char *const ids[] = {"999",  "0",    "-3",     "\"x\"",
                                      "1e99", "null", "{}",     "18446744073709551617",
                                      "true", "1.5",  "\"c1\"", "\"c99999999999999999999\""};
    for (size_t i = 0; i < CS_COUNT(ids); i++)
        fake_say(f, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", ids[i]);
    /* The right number, as a string, is another id. */
    fake_say(f, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{}}", fake_id(&sent));
    fake_say(f, "{\"jsonrpc\":\"2.0\",\"id\":\"c%s\",\"result\":{}}", fake_id(&sent));
    assert_int_equal(f->done, 0);
    fake_answer(f, &sent, "{\"content\":[1]}");
    assert_str_is(f->last.result, "{\"content\":[1]}");
    fake_answer(f, &sent, "{\"content\":[2]}");
    fake_error(f, &sent, -1, NULL);
    assert_int_equal(f->done, 1);
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_READY);
}

static void answers_come_in_any_order(void **state)
{
    struct fake *f = ready(state);
    unsigned before = f->count;
    for (int i = 0; i < 600; i++)
        call_for(f, 1000, 0);
    for (unsigned i = f->count; i-- > before;)
        fake_answer(f, &f->sent[i], "{}");
    assert_int_equal(f->done, 600);
    assert_int_equal(cs_client_info(f->client)->call_errors, 0);
}

static void modern_results_say_their_type(void **state)
{
    struct fake *f = *state;
    f->server.era = CS_ERA_MODERN;
    ready(state);
    fake_call(f, "one", "{}");
    assert_true(fake_last(f)->modern);
    assert_contains(fake_last(f)->json,
                    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"");
    assert_contains(fake_last(f)->json, ",\"progressToken\":");
    fake_answer(f, fake_last(f), "{\"resultType\":\"complete\",\"content\":[]}");
    assert_int_equal(f->last.err.code, CS_OK);
    fake_call(f, "one", "{}");
    fake_answer(f, fake_last(f), "{\"content\":[]}");
    assert_int_equal(f->last.err.code, CS_OK);
    fake_call(f, "one", "{}");
    fake_answer(f, fake_last(f), "{\"resultType\":\"task\",\"taskId\":\"x\"}");
    assert_int_equal(f->last.err.code, CS_UPSTREAM);
    assert_contains(f->last.err.msg, "\"task\"");
    assert_int_equal(f->done, 3);
}

static void a_refused_version_of_a_call_is_tried_once_more(void **state)
{
    struct fake *f = *state;
    f->server.era = CS_ERA_MODERN;
    ready(state);
    fake_call(f, "one", "{\"a\":2}");
    fake_error(f, fake_last(f), -32022, "{\"supported\":[\"2026-07-28\"]}");
    assert_int_equal(fake_number(f, "tools/call"), 2);
    assert_contains(fake_last(f)->json, "\"arguments\":{\"a\":2}");
    fake_error(f, fake_last(f), -32022, "{\"supported\":[\"2026-07-28\"]}");
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last.rpc_code, -32022);
}

static void a_call_that_takes_too_long_is_cancelled(void **state)
{
    struct fake *f = ready(state);
    call_for(f, 15, 0);
    const struct fake_sent sent = *fake_last(f);
    fake_sleep(f, 30);
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last.err.code, CS_LIMIT);
    assert_true(f->last.retryable);
    assert_contains(f->last.err.msg, "did not answer within 0.015 s");
    assert_string_equal(fake_last(f)->method, "notifications/cancelled");
    char wanted[60];
    snprintf(wanted, sizeof wanted, "\"requestId\":%s,", fake_id(&sent));
    assert_contains(fake_last(f)->json, wanted);
    fake_answer(f, &sent, "{}");
    assert_int_equal(f->done, 1);
}

static void progress_extends_the_deadline_but_not_for_ever(void **state)
{
    struct fake *f = ready(state);
    call_for(f, 80, 0);
    const struct fake_sent sent = *fake_last(f);
    uint64_t begun = uv_hrtime();
    while (f->done == 0 && uv_hrtime() - begun < 2000000000u) {
        fake_say(f,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                 "\"progressToken\":%s,\"progress\":1}}",
                 fake_id(&sent));
        fake_sleep(f, 5);
    }
    uint64_t took = (uv_hrtime() - begun) / 1000000;
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last.err.code, CS_LIMIT);
    assert_true(took >= 795 && took < 1600);
    assert_true(f->progressed > 10);
    assert_contains(cs_buf_cstr(&f->progress), "\"progress\":1");
}

static void progress_of_nobody_is_ignored(void **state)
{
    struct fake *f = ready(state);
    fake_call(f, "one", "{}");
    static const char *const params[] = {"{}",
                                         "[]",
                                         "{\"progressToken\":0}",
                                         "{\"progressToken\":-1}",
                                         "{\"progressToken\":\"1\"}",
                                         "{\"progressToken\":99}",
                                         "null"};
    for (size_t i = 0; i < CS_COUNT(params); i++)
        fake_say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":%s}",
                 params[i]);
    fake_say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}");
    assert_int_equal(f->progressed, 0);
}

static void a_cancelled_call_never_ends(void **state)
{
    struct fake *f = ready(state);
    struct cs_client_call *call = fake_call(f, "one", "{}");
    const struct fake_sent sent = *fake_last(f);
    cs_client_cancel(call);
    assert_string_equal(fake_last(f)->method, "notifications/cancelled");
    fake_answer(f, &sent, "{}");
    assert_int_equal(f->done, 0);
    fake_call(f, "one", "{}");
    fake_answer(f, fake_last(f), "{}");
    assert_int_equal(f->done, 1);
}

static void modern_http_is_told_by_hanging_up(void **state)
{
    struct fake *f = *state;
    f->server.is_http = true;
    f->server.era = CS_ERA_MODERN;
    ready(state);
    cs_client_cancel(fake_call(f, "one", "{}"));
    assert_int_equal(f->forgotten, 1);
    assert_int_equal(fake_number(f, "notifications/cancelled"), 0);
}

static void calls_wait_for_the_connection(void **state)
{
    struct fake *f = *state;
    f->server.era = CS_ERA_LEGACY;
    fake_client(f);
    fake_call(f, "one", "{\"n\":1}");
    struct cs_client_call *cancelled = fake_call(f, "one", "{\"n\":2}");
    fake_call(f, "one", "{\"n\":3}");
    cs_client_cancel(cancelled);
    assert_int_equal(f->opened, 1);
    assert_int_equal(fake_number(f, "tools/call"), 0);
    assert_int_equal(fake_number(f, "notifications/cancelled"), 0);
    fake_answer(f, fake_last(f), FAKE_INITIALIZED);
    assert_int_equal(fake_number(f, "tools/call"), 2);
    assert_contains(fake_find(f, "tools/call")->json, "\"n\":3");
    fake_answer(f, fake_find(f, "tools/call"), "{}");
    assert_int_equal(f->done, 1);
}

static void calls_wait_no_longer_than_they_may(void **state)
{
    struct fake *f = *state;
    f->server.era = CS_ERA_LEGACY;
    fake_client(f);
    call_for(f, 80, 0);
    fake_turn(f);
    assert_int_equal(f->done, 0);
    fake_sleep(f, 100);
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last.err.code, CS_LIMIT);
    assert_contains(f->last.err.msg, "was not ready");
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_CONNECTING);
}

static void the_end_of_a_server_fails_its_calls(void **state)
{
    struct fake *f = ready(state);
    fake_call(f, "one", "{}");
    fake_call(f, "one", "{}");
    fake_end(f, "it ended with status 3");
    assert_int_equal(f->done, 2);
    assert_int_equal(f->last.err.code, CS_UPSTREAM);
    assert_true(f->last.retryable);
    assert_contains(f->last.err.msg, "server 'fake': it ended with status 3");
    /* The next call starts it at once. */
    fake_call(f, "one", "{}");
    assert_int_equal(f->opened, 2);
}

static void a_result_has_a_largest_size(void **state)
{
    struct fake *f = ready(state);
    call_for(f, 1000, 20);
    fake_answer(f, fake_last(f), "{\"abc\":\"1234567890\"}");
    assert_int_equal(f->last.err.code, CS_OK);
    call_for(f, 1000, 19);
    fake_answer(f, fake_last(f), "{\"abc\":\"1234567890\"}");
    assert_int_equal(f->last.err.code, CS_LIMIT);
    assert_contains(f->last.err.msg, "20 bytes");
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_READY);
}

static void an_answer_too_large_for_any_costs_its_call_alone(void **state)
{
    struct fake *f = ready(state);
    struct cs_buf big = {0};
    memset(cs_buf_room(&big, CS_CALL_RESULT_MAX + 2 * CS_MESSAGE_SLACK), 'x',
           CS_CALL_RESULT_MAX + 2 * CS_MESSAGE_SLACK);
    cs_buf_added(&big, CS_CALL_RESULT_MAX + 2 * CS_MESSAGE_SLACK);
    static const char *const forms[] = {
        "{\"id\":%s,\"result\":{\"id\":1,\"a\":[\"]}\\\"\"],\"x\":\"%s\"}}",
        "{ \"jsonrpc\" : \"2.0\", \"result\":{\"id\":1,\"a\":\"\\\\\",\"x\":\"%2$s\"} , \"id\" : "
        "%1$s }",
        "{\"result\":{\"id\":1,\"x\":\"%2$s\"},\"\\\"id\":{},\"id\":%1$s}",
    };
    for (size_t i = 0; i < CS_COUNT(forms); i++) {
        call_for(f, 60000, 0);
        call_for(f, 60000, 0);
        char id[40];
        snprintf(id, sizeof id, "%s", fake_id(fake_last(f)));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        fake_say(f, forms[i], id, cs_buf_cstr(&big));
#pragma GCC diagnostic pop
        assert_int_equal(f->done, i + 1);
        assert_int_equal(f->last.err.code, CS_LIMIT);
    }
    /* Nobody's, and no JSON at all: garbage. */
    fake_say(f, "{\"id\":999,\"x\":\"%s\"}", cs_buf_cstr(&big));
    fake_say(f, "%s", cs_buf_cstr(&big));
    fake_say(f, "{\"id\":\"%s", cs_buf_cstr(&big));
    fake_say(f, "{\"id\":3%s\\", cs_buf_cstr(&big));
    cs_buf_done(&big);
    assert_int_equal(f->done, CS_COUNT(forms));
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_READY);
}

static void there_is_a_largest_number_of_calls(void **state)
{
    struct fake *f = ready(state);
    for (unsigned i = 0; i < CS_CALLS_MAX; i++)
        call_for(f, 1000, 0);
    assert_int_equal(f->done, 0);
    call_for(f, 1000, 0);
    assert_int_equal(f->done, 0); /* never from within */
    fake_sleep(f, 3);
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last.err.code, CS_LIMIT);
    assert_true(f->last.retryable);
}

static void garbage_is_skipped_up_to_a_point(void **state)
{
    struct fake *f = ready(state);
    static const char *const garbage[] = {"hello",
                                          "",
                                          "{",
                                          "[]",
                                          "3",
                                          "\"x\"",
                                          "{}",
                                          "{\"id\":1}",
                                          "\xFF\xFE",
                                          "[{\"id\":1,\"result\":{}}]",
                                          "{\"id\":2,\"method\":3}",
                                          "{\"method\":\"x\",\"id\":null}",
                                          "{\"method\":\"x\",\"id\":[]}",
                                          "{\"id\":1,\"result\":3}",
                                          "{\"id\":1,\"error\":\"no\"}",
                                          "{\"jsonrpc\":\"2.0\",\"method\":\"x/y\"}"};
    for (size_t i = 0; i < CS_COUNT(garbage); i++)
        fake_say(f, "%s", garbage[i]);
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_READY);
    for (unsigned i = 0; i < 3 * CS_GARBAGE_MAX; i++) {
        fake_say(f, "log: now I do this");
        if (i % 100 == 0) {
            fake_call(f, "one", "{}");
            fake_answer(f, fake_last(f), "{}");
        }
    }
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_READY);
    fake_call(f, "one", "{}");
    unsigned before = f->done;
    for (unsigned i = 0; i < CS_GARBAGE_MAX; i++)
        fake_say(f, "log: now I do that");
    assert_int_equal(f->done, before + 1);
    assert_contains(f->last.err.msg, "no messages of the protocol");
}

static void batches_belong_to_one_revision(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) {
        struct fake *f = fake_new();
        f->server.era = CS_ERA_LEGACY;
        fake_client(f);
        fake_call(f, "one", "{}");
        fake_answer(f, fake_last(f),
                    old ? "{\"protocolVersion\":\"2025-03-26\",\"capabilities\":{\"tools\":{}}}"
                        : FAKE_INITIALIZED);
        char id[40];
        snprintf(id, sizeof id, "%s", fake_id(fake_find(f, "tools/call")));
        fake_say(
            f,
            "[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":"
            "\"info\",\"data\":\"in a batch\"}},{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}]",
            id);
        assert_int_equal(f->done, old);
        assert_int_equal(strstr(cs_buf_cstr(&f->logs), "in a batch") != NULL, old);
        fake_free(f);
    }
}

static void logs_are_handed_on_but_not_without_bound(void **state)
{
    struct fake *f = ready(state);
    fake_say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":"
                "\"warning\",\"data\":{\"a\":1}}}");
    assert_string_equal(cs_buf_cstr(&f->logs), "warning: {\"a\":1}\n");
    for (int i = 0; i < 2000; i++)
        fake_say(f,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":"
                 "\"info\",\"data\":\"x\"}}");
    assert_true(f->logs.len < 1000 * sizeof "info: x");
}

struct chain {
    struct fake *f;
    struct cs_client_call *other;
    unsigned done;
    enum { CALL_AGAIN, CANCEL_OTHER, CLOSE } what;
};

static void on_chain(void *ctx, const struct cs_client_result *result)
{
    struct chain *chain = ctx;
    struct cs_client_request request = {.tool = CS_STR("one"), .timeout_ms = 1000};
    (void)result;
    chain->done++;
    if (chain->what == CALL_AGAIN && chain->done < 3)
        cs_client_call(chain->f->client, &request, NULL, on_chain, chain);
    if (chain->what == CANCEL_OTHER && chain->other) {
        cs_client_cancel(chain->other);
        chain->other = NULL;
    }
    if (chain->what == CLOSE)
        cs_client_close(chain->f->client, fake_client_closed, chain->f);
}

static void much_may_be_done_when_a_call_ends(void **state)
{
    (void)state;
    for (int what = CALL_AGAIN; what <= CLOSE; what++)
        for (int how = 0; how < 3; how++) {
            struct fake *f = fake_new();
            struct chain chain = {.f = f, .what = what};
            fake_ready(f);
            struct cs_client_request request = {.tool = CS_STR("one"), .timeout_ms = 20};
            cs_client_call(f->client, &request, NULL, on_chain, &chain);
            chain.other = cs_client_call(f->client, &request, NULL, on_chain, &chain);
            if (what != CANCEL_OTHER)
                chain.other = NULL;
            if (how == 0)
                fake_answer(f, &f->sent[f->count - 2], "{}");
            else if (how == 1)
                fake_end(f, "gone");
            else
                fake_sleep(f, 40);
            assert_true(chain.done >= 1);
            if (what == CANCEL_OTHER)
                assert_int_equal(chain.done, 1);
            if (what == CLOSE) {
                while (!f->client_closed)
                    fake_turn(f);
                f->client = NULL;
            }
            fake_free(f);
        }
}

static void closing_ends_every_call_first(void **state)
{
    struct fake *f = ready(state);
    for (int i = 0; i < 5; i++)
        fake_call(f, "one", "{}");
    cs_client_close(f->client, fake_client_closed, f);
    assert_int_equal(f->done, 5);
    assert_int_equal(f->last.err.code, CS_UPSTREAM);
    assert_false(f->client_closed);
    while (!f->client_closed)
        fake_turn(f);
    assert_int_equal(f->closed, 1);
    f->client = NULL;
}

static void a_client_that_never_started_closes_too(void **state)
{
    struct fake *f = *state;
    fake_client(f);
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_IDLE);
    assert_string_equal(cs_client_state_name(CS_CLIENT_IDLE), "idle");
    assert_string_equal(cs_client_state_name(CS_CLIENT_LOGIN), "login");
}

static void a_call_without_a_login_says_so(void **state)
{
    struct fake *f = *state;
    f->server.is_http = true;
    ready(state);
    struct cs_err err = {0};
    cs_fail(&err, CS_UPSTREAM, "it wants a login: run `caisson login fake`");
    fake_call(f, "one", "{}");
    f->base.events->failed(f->base.ctx, fake_last(f)->id, CS_TROUBLE_UNAUTHORIZED, 401, &err);
    assert_int_equal(f->last.err.code, CS_DENIED);
    assert_contains(f->last.err.msg, "caisson login");
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_LOGIN);
    fake_call(f, "one", "{}");
    fake_answer(f, fake_last(f), "{}");
    assert_int_equal(f->last.err.code, CS_OK);
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_READY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(a_result_is_handed_on_as_it_was_written, setup, teardown),
        CS_TEST_WITH(arguments_stay_on_one_line, setup, teardown),
        CS_TEST_WITH(an_error_is_told_with_tool_server_and_code, setup, teardown),
        CS_TEST_WITH(answers_to_nobody_are_ignored, setup, teardown),
        CS_TEST_WITH(answers_come_in_any_order, setup, teardown),
        CS_TEST_WITH(modern_results_say_their_type, setup, teardown),
        CS_TEST_WITH(a_refused_version_of_a_call_is_tried_once_more, setup, teardown),
        CS_TEST_WITH(a_call_that_takes_too_long_is_cancelled, setup, teardown),
        CS_TEST_WITH(progress_extends_the_deadline_but_not_for_ever, setup, teardown),
        CS_TEST_WITH(progress_of_nobody_is_ignored, setup, teardown),
        CS_TEST_WITH(a_cancelled_call_never_ends, setup, teardown),
        CS_TEST_WITH(modern_http_is_told_by_hanging_up, setup, teardown),
        CS_TEST_WITH(calls_wait_for_the_connection, setup, teardown),
        CS_TEST_WITH(calls_wait_no_longer_than_they_may, setup, teardown),
        CS_TEST_WITH(the_end_of_a_server_fails_its_calls, setup, teardown),
        CS_TEST_WITH(a_result_has_a_largest_size, setup, teardown),
        CS_TEST_WITH(an_answer_too_large_for_any_costs_its_call_alone, setup, teardown),
        CS_TEST_WITH(there_is_a_largest_number_of_calls, setup, teardown),
        CS_TEST_WITH(garbage_is_skipped_up_to_a_point, setup, teardown),
        CS_TEST(batches_belong_to_one_revision),
        CS_TEST_WITH(logs_are_handed_on_but_not_without_bound, setup, teardown),
        CS_TEST(much_may_be_done_when_a_call_ends),
        CS_TEST_WITH(closing_ends_every_call_first, setup, teardown),
        CS_TEST_WITH(a_client_that_never_started_closes_too, setup, teardown),
        CS_TEST_WITH(a_call_without_a_login_says_so, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

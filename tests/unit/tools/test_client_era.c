/* Which protocol a server speaks, and what happens when it does not answer, or goes. */
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

static struct fake *connecting(void **state)
{
    struct fake *f = *state;
    fake_client(f);
    cs_client_connect(f->client);
    fake_turn(f);
    return f;
}

static const struct cs_client_info *info(struct fake *f)
{
    return cs_client_info(f->client);
}

static void a_modern_server_is_found_by_discover(void **state)
{
    struct fake *f = connecting(state);
    assert_string_equal(fake_last(f)->method, "server/discover");
    assert_true(fake_last(f)->modern);
    assert_contains(fake_last(f)->json, "\"id\":\"c1\"");
    assert_contains(fake_last(f)->json,
                    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"");
    assert_contains(fake_last(f)->json, "\"io.modelcontextprotocol/clientCapabilities\":{}");
    assert_int_equal(info(f)->state, CS_CLIENT_CONNECTING);
    fake_answer(f, fake_last(f), FAKE_DISCOVERED);
    assert_string_equal(fake_last(f)->method, "tools/list");
    assert_contains(fake_last(f)->json,
                    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"caisson\"");
    fake_answer(f, fake_last(f), FAKE_TOOLS);
    assert_int_equal(info(f)->state, CS_CLIENT_READY);
    assert_int_equal(f->listed, 1);
    assert_str_is(cs_buf_str(&f->tools),
                  "[{\"name\":\"one\",\"inputSchema\":{\"type\":\"object\"}}]");
    assert_str_is(info(f)->protocol, "2026-07-28");
    assert_str_is(info(f)->server_name, "new");
    assert_str_is(info(f)->server_version, "2");
    assert_str_is(info(f)->instructions, "be kind");
    assert_int_equal(info(f)->pid, 7);
    assert_int_equal(fake_number(f, "initialize"), 0);
}

static void any_other_error_means_legacy(void **state)
{
    struct fake *f = connecting(state);
    fake_error(f, fake_last(f), -32601, NULL);
    assert_string_equal(fake_last(f)->method, "initialize");
    assert_false(fake_last(f)->modern);
    assert_contains(fake_last(f)->json, "\"protocolVersion\":\"2025-11-25\"");
    assert_null(strstr(fake_last(f)->json, "_meta"));
    fake_answer(f, fake_last(f), FAKE_INITIALIZED);
    assert_string_equal(fake_last(f)->method, "tools/list");
    assert_int_equal(fake_number(f, "notifications/initialized"), 1);
    assert_string_equal(f->listening, "2025-11-25");
    fake_answer(f, fake_last(f), FAKE_TOOLS);
    assert_int_equal(info(f)->state, CS_CLIENT_READY);
    assert_str_is(info(f)->protocol, "2025-11-25");
    assert_str_is(info(f)->server_name, "old");
}

static void an_error_without_an_id_answers_the_probe(void **state)
{
    struct fake *f = connecting(state);
    fake_say(f,
             "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"what\"}}");
    assert_string_equal(fake_last(f)->method, "initialize");
}

static void a_result_that_is_none_of_discover_means_legacy(void **state)
{
    struct fake *f = connecting(state);
    fake_answer(f, fake_last(f), "{\"hello\":true}");
    assert_string_equal(fake_last(f)->method, "initialize");
}

static void every_older_version_is_spoken(void **state)
{
    static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
    (void)state;
    for (size_t i = 0; i < CS_COUNT(versions); i++) {
        struct fake *f = fake_new();
        f->server.era = CS_ERA_LEGACY;
        fake_client(f);
        cs_client_connect(f->client);
        fake_turn(f);
        char result[200];
        snprintf(result, sizeof result, "{\"protocolVersion\":\"%s\",\"capabilities\":{}}",
                 versions[i]);
        fake_answer(f, fake_last(f), result);
        assert_string_equal(fake_last(f)->method, "tools/list");
        assert_str_is(info(f)->protocol, versions[i]);
        fake_free(f);
    }
}

static void a_version_that_nobody_knows_is_refused(void **state)
{
    struct fake *f = *state;
    f->server.era = CS_ERA_LEGACY;
    connecting(state);
    fake_answer(f, fake_last(f), "{\"protocolVersion\":\"1999-01-01\",\"capabilities\":{}}");
    assert_int_equal(info(f)->state, CS_CLIENT_FAILED);
    assert_contains(info(f)->last_error.msg, "1999-01-01");
    assert_contains(info(f)->last_error.msg, "fake");
    assert_int_equal(f->closed, 1);
}

static void silence_means_legacy_unless_the_answer_comes_late(void **state)
{
    ((struct fake *)*state)->parts.probe = 30;
    struct fake *f = connecting(state);
    const struct fake_sent probe = *fake_last(f);
    fake_sleep(f, 45);
    assert_string_equal(fake_last(f)->method, "initialize");
    assert_int_equal(f->opened, 1);
    fake_answer(f, &probe, FAKE_DISCOVERED);
    assert_string_equal(fake_last(f)->method, "tools/list");
    assert_true(fake_last(f)->modern);
    fake_answer(f, fake_last(f), FAKE_TOOLS);
    assert_str_is(info(f)->protocol, "2026-07-28");
}

static void a_late_refusal_changes_nothing(void **state)
{
    ((struct fake *)*state)->parts.probe = 30;
    struct fake *f = connecting(state);
    const struct fake_sent probe = *fake_last(f);
    fake_sleep(f, 45);
    fake_error(f, &probe, -32601, NULL);
    assert_int_equal(fake_number(f, "initialize"), 1);
    fake_answer(f, fake_find(f, "initialize"), FAKE_INITIALIZED);
    fake_answer(f, fake_last(f), FAKE_TOOLS);
    assert_str_is(info(f)->protocol, "2025-11-25");
}

static void a_server_that_ends_on_the_probe_is_started_again(void **state)
{
    struct fake *f = connecting(state);
    struct cs_client_request request = {.tool = CS_STR("one"), .timeout_ms = 1000};
    cs_client_call(f->client, &request, NULL, fake_done, f);
    fake_end(f, "it ended with status 1");
    assert_int_equal(f->opened, 2);
    assert_string_equal(fake_last(f)->method, "initialize");
    fake_answer(f, fake_last(f), FAKE_INITIALIZED);
    fake_answer(f, fake_find(f, "tools/list"), FAKE_TOOLS);
    assert_int_equal(info(f)->state, CS_CLIENT_READY);
    assert_int_equal(info(f)->restarts, 0);
    fake_answer(f, fake_find(f, "tools/call"), "{\"content\":[]}");
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last.err.code, CS_OK);
    /* It is remembered, so that it does not end again. */
    fake_end(f, "gone");
    fake_sleep(f, 15);
    assert_string_equal(fake_last(f)->method, "initialize");
    assert_int_equal(fake_number(f, "server/discover"), 1);
}

static void a_server_that_always_ends_fails(void **state)
{
    struct fake *f = connecting(state);
    fake_end(f, "it ended with status 1");
    fake_end(f, "it ended with status 1: no such module");
    assert_int_equal(info(f)->state, CS_CLIENT_FAILED);
    assert_contains(info(f)->last_error.msg, "no such module");
    assert_str_is(info(f)->stderr_tail, "last words");
    fake_sleep(f, 30);
    assert_int_equal(f->opened, 2);
    /* Asked again, it is looked at afresh. */
    cs_client_connect(f->client);
    fake_turn(f);
    assert_string_equal(fake_last(f)->method, "server/discover");
}

static void the_era_can_be_pinned(void **state)
{
    struct fake *f = *state;
    f->server.era = CS_ERA_MODERN;
    connecting(state);
    fake_error(f, fake_last(f), -32601, NULL);
    assert_string_equal(fake_last(f)->method, "tools/list");
    assert_true(fake_last(f)->modern);
    fake_answer(f, fake_last(f), FAKE_TOOLS);
    assert_int_equal(info(f)->state, CS_CLIENT_READY);

    f = fake_new();
    f->server.era = CS_ERA_LEGACY;
    fake_client(f);
    cs_client_connect(f->client);
    fake_turn(f);
    assert_string_equal(fake_last(f)->method, "initialize");
    fake_free(f);

    f = fake_new();
    f->server.era = CS_ERA_MODERN;
    fake_client(f);
    cs_client_connect(f->client);
    fake_turn(f);
    fake_error(f, fake_last(f), -32603, NULL);
    assert_int_equal(info(f)->state, CS_CLIENT_FAILED);
    fake_free(f);
}

static void a_refused_version_is_tried_once_more(void **state)
{
    struct fake *f = connecting(state);
    fake_error(f, fake_last(f), -32022,
               "{\"supported\":[\"2026-07-28\"],\"requested\":\"2026-07-28\"}");
    assert_int_equal(fake_number(f, "server/discover"), 2);
    assert_contains(fake_last(f)->json, "\"id\":\"c2\"");
    fake_error(f, fake_last(f), -32022,
               "{\"supported\":[\"2026-07-28\"],\"requested\":\"2026-07-28\"}");
    assert_int_equal(fake_number(f, "server/discover"), 2);
    assert_int_equal(info(f)->state, CS_CLIENT_FAILED);
}

static void a_refused_version_leads_to_an_older_one(void **state)
{
    struct fake *f = connecting(state);
    fake_error(f, fake_last(f), -32022, "{\"supported\":[\"2025-06-18\"]}");
    assert_string_equal(fake_last(f)->method, "initialize");
}

static void a_server_of_another_modern_version_is_named(void **state)
{
    struct fake *f = connecting(state);
    fake_answer(f, fake_last(f), "{\"supportedVersions\":[\"2031-01-01\"],\"capabilities\":{}}");
    assert_int_equal(info(f)->state, CS_CLIENT_FAILED);
    assert_contains(info(f)->last_error.msg, "2031-01-01");
}

static void a_ready_server_that_dies_comes_back_by_itself(void **state)
{
    struct fake *f = *state;
    fake_ready(f);
    fake_end(f, "it was ended by signal 9 (Killed)");
    assert_int_equal(info(f)->state, CS_CLIENT_WAITING);
    assert_contains(info(f)->last_error.msg, "signal 9");
    fake_sleep(f, 10);
    assert_int_equal(f->opened, 2);
    assert_int_equal(info(f)->restarts, 1);
    fake_ready(f);
    /* It is kept, for those who want to know why there was a restart. */
    assert_contains(info(f)->last_error.msg, "signal 9");
}

static void five_failures_in_a_row_are_enough(void **state)
{
    struct fake *f = *state;
    fake_ready(f);
    for (unsigned i = 1; i <= 5; i++) {
        assert_true(f->open);
        fake_end(f, "again");
        assert_int_equal(info(f)->state, i < 5 ? CS_CLIENT_WAITING : CS_CLIENT_FAILED);
        fake_sleep(f, 30);
    }
    assert_int_equal(f->opened, 5);
    fake_call(f, "one", "{}");
    assert_int_equal(f->opened, 6);
    assert_int_equal(info(f)->state, CS_CLIENT_CONNECTING);
}

static void an_answer_ends_the_row_of_failures(void **state)
{
    struct fake *f = *state;
    fake_ready(f);
    for (unsigned i = 0; i < 8; i++) {
        fake_end(f, "again");
        assert_int_equal(info(f)->state, CS_CLIENT_WAITING);
        fake_sleep(f, 10);
        fake_ready(f);
        fake_call(f, "one", "{}");
        fake_answer(f, fake_last(f), "{\"content\":[]}");
    }
}

static void a_command_that_is_missing_fails_calls_at_once(void **state)
{
    struct fake *f = *state;
    f->refuses = true;
    fake_client(f);
    fake_call(f, "one", "{}");
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last.err.code, CS_MISSING);
    assert_false(f->last.retryable);
    assert_contains(f->last.err.msg, "server 'fake'");
    assert_int_equal(info(f)->state, CS_CLIENT_FAILED);
}

static void an_entry_with_a_problem_is_never_started(void **state)
{
    struct fake *f = *state;
    cs_fail(&f->server.problem, CS_INVALID, "server 'fake': ${env:TOKEN} is not set");
    fake_client(f);
    fake_call(f, "one", "{}");
    assert_int_equal(f->opened, 0);
    assert_int_equal(f->last.err.code, CS_INVALID);
    assert_contains(f->last.err.msg, "TOKEN");
}

static void it_is_not_opened_twice_while_the_first_one_closes(void **state)
{
    struct fake *f = *state;
    f->server.era = CS_ERA_LEGACY;
    f->stuck = true;
    connecting(state);
    fake_error(f, fake_last(f), -32603, NULL);
    assert_true(f->ending);
    fake_call(f, "one", "{}");
    fake_sleep(f, 5);
    assert_int_equal(f->opened, 1);
    f->stuck = false;
    fake_turn(f);
    fake_turn(f);
    assert_int_equal(f->opened, 2);
    assert_int_equal(f->done, 0);
}

static void trouble_of_http_is_told_apart(void **state)
{
    static const struct {
        enum cs_trouble trouble;
        int status;
        bool legacy;
        enum cs_client_state state;
    } rows[] = {
        {CS_TROUBLE_STATUS, 404, true, CS_CLIENT_CONNECTING},
        {CS_TROUBLE_STATUS, 400, true, CS_CLIENT_CONNECTING},
        {CS_TROUBLE_STATUS, 503, false, CS_CLIENT_FAILED},
        {CS_TROUBLE_LOST, 0, false, CS_CLIENT_FAILED},
        {CS_TROUBLE_UNAUTHORIZED, 401, false, CS_CLIENT_LOGIN},
    };
    (void)state;
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        struct fake *f = fake_new();
        f->server.is_http = true;
        fake_client(f);
        fake_call(f, "one", "{}");
        struct cs_err err = {0};
        cs_fail(&err, CS_UPSTREAM, "HTTP status %d", rows[i].status);
        f->base.events->failed(f->base.ctx, fake_last(f)->id, rows[i].trouble, rows[i].status,
                               &err);
        fake_turn(f);
        assert_int_equal(info(f)->state, rows[i].state);
        assert_int_equal(fake_number(f, "initialize"), rows[i].legacy);
        assert_int_equal(f->done, !rows[i].legacy);
        if (!rows[i].legacy)
            assert_int_equal(f->last.err.code,
                             rows[i].state == CS_CLIENT_LOGIN ? CS_DENIED : CS_UPSTREAM);
        fake_free(f);
    }
}

static void a_lost_session_is_begun_again_and_the_call_repeated(void **state)
{
    struct fake *f = *state;
    f->server.is_http = true;
    fake_ready(f);
    fake_call(f, "one", "{\"a\":1}");
    struct cs_err err = {0};
    cs_fail(&err, CS_UPSTREAM, "the session is gone");
    f->base.events->failed(f->base.ctx, fake_last(f)->id, CS_TROUBLE_SESSION, 404, &err);
    assert_string_equal(fake_last(f)->method, "initialize");
    assert_int_equal(f->done, 0);
    fake_answer(f, fake_last(f), FAKE_INITIALIZED);
    assert_int_equal(fake_number(f, "tools/call"), 2);
    const struct fake_sent *again = fake_find(f, "tools/call");
    assert_contains(again->json, "\"arguments\":{\"a\":1}");
    /* Once: a server that loses every session is not asked for ever. */
    f->base.events->failed(f->base.ctx, again->id, CS_TROUBLE_SESSION, 404, &err);
    assert_int_equal(f->done, 1);
    assert_true(f->last.retryable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(a_modern_server_is_found_by_discover, setup, teardown),
        CS_TEST_WITH(any_other_error_means_legacy, setup, teardown),
        CS_TEST_WITH(an_error_without_an_id_answers_the_probe, setup, teardown),
        CS_TEST_WITH(a_result_that_is_none_of_discover_means_legacy, setup, teardown),
        CS_TEST(every_older_version_is_spoken),
        CS_TEST_WITH(a_version_that_nobody_knows_is_refused, setup, teardown),
        CS_TEST_WITH(silence_means_legacy_unless_the_answer_comes_late, setup, teardown),
        CS_TEST_WITH(a_late_refusal_changes_nothing, setup, teardown),
        CS_TEST_WITH(a_server_that_ends_on_the_probe_is_started_again, setup, teardown),
        CS_TEST_WITH(a_server_that_always_ends_fails, setup, teardown),
        CS_TEST_WITH(the_era_can_be_pinned, setup, teardown),
        CS_TEST_WITH(a_refused_version_is_tried_once_more, setup, teardown),
        CS_TEST_WITH(a_refused_version_leads_to_an_older_one, setup, teardown),
        CS_TEST_WITH(a_server_of_another_modern_version_is_named, setup, teardown),
        CS_TEST_WITH(a_ready_server_that_dies_comes_back_by_itself, setup, teardown),
        CS_TEST_WITH(five_failures_in_a_row_are_enough, setup, teardown),
        CS_TEST_WITH(an_answer_ends_the_row_of_failures, setup, teardown),
        CS_TEST_WITH(a_command_that_is_missing_fails_calls_at_once, setup, teardown),
        CS_TEST_WITH(an_entry_with_a_problem_is_never_started, setup, teardown),
        CS_TEST_WITH(it_is_not_opened_twice_while_the_first_one_closes, setup, teardown),
        CS_TEST(trouble_of_http_is_told_apart),
        CS_TEST_WITH(a_lost_session_is_begun_again_and_the_call_repeated, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

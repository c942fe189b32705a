/* What servers ask of people and models: as requests, and as input_required. */
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

static struct fake *ready(void **state, enum cs_era era, bool someone)
{
    struct fake *f = *state;
    f->server.era = era;
    f->options.can_elicit = f->options.can_sample = someone;
    f->takes_asks = someone;
    fake_ready(f);
    return f;
}

#define ELICIT "{\"method\":\"elicitation/create\",\"params\":{\"message\":\"Sure?\"}}"
#define SAMPLE "{\"method\":\"sampling/createMessage\",\"params\":{\"maxTokens\":5}}"
#define ROOTS  "{\"method\":\"roots/list\"}"

static void capabilities_are_those_that_are_there(void **state)
{
    static const char *roots[] = {"file:///srv/data", NULL};
    (void)state;
    for (int era = CS_ERA_MODERN; era <= CS_ERA_LEGACY; era++)
        for (int some = 0; some < 2; some++) {
            struct fake *f = fake_new();
            f->options.can_elicit = f->options.can_sample = some;
            f->server.roots = some ? roots : NULL;
            f->server.era = era;
            fake_client(f);
            cs_client_connect(f->client);
            fake_turn(f);
            const char *all = "apabilities\":{\"elicitation\":{},\"sampling\":{},\"roots\":{}}";
            assert_contains(fake_last(f)->json, some ? all : "apabilities\":{}");
            fake_free(f);
        }
}

static void input_is_gathered_and_sent_with_the_state(void **state)
{
    static const char *roots[] = {"file:///srv/data", NULL};
    struct fake *f = *state;
    f->server.roots = roots;
    ready(state, CS_ERA_MODERN, true);
    fake_call(f, "one", "{\"a\":1}");
    const struct fake_sent first = *fake_last(f);
    fake_answer(f, &first,
                "{\"resultType\":\"input_required\",\"requestState\":\"a\\u0062\\/\\\"=\","
                "\"inputRequests\":{\"k\\u0031\":" ELICIT ",\"k2\":" SAMPLE ",\"k3\":" ROOTS "}}");
    assert_int_equal(f->asks, 2);
    assert_int_equal(fake_number(f, "tools/call"), 1);
    assert_ptr_equal(f->ask_ctx, f);
    assert_string_equal(cs_buf_cstr(&f->asked), "sampling/createMessage {\"maxTokens\":5}");
    cs_client_answer(f->client, f->ask, CS_STR("{\"role\":\"assistant\"}"));
    assert_int_equal(fake_number(f, "tools/call"), 1);
    cs_client_answer(f->client, f->ask - 1,
                     CS_STR("{\"action\":\"accept\",\"content\":{\"ok\":true}}"));
    assert_int_equal(fake_number(f, "tools/call"), 2);
    const struct fake_sent *again = fake_last(f);
    assert_true(again->id != first.id);
    assert_contains(again->json, "\"name\":\"one\",\"arguments\":{\"a\":1},\"inputResponses\":{");
    assert_contains(again->json, "\"k\\u0031\":{\"action\":\"accept\",\"content\":{\"ok\":true}}");
    assert_contains(again->json, "\"k2\":{\"role\":\"assistant\"}");
    assert_contains(again->json,
                    "\"k3\":{\"roots\":[{\"uri\":\"file:///srv/data\",\"name\":\"data\"}]}");
    assert_contains(again->json, "\"requestState\":\"a\\u0062\\/\\\"=\"");
    assert_contains(again->json, "io.modelcontextprotocol/protocolVersion");
    /* The next round has nothing of this one. */
    fake_answer(f, again,
                "{\"resultType\":\"input_required\",\"inputRequests\":{\"z\":" ELICIT "}}");
    cs_client_answer(f->client, f->ask, (struct cs_str){0});
    again = fake_last(f);
    assert_contains(again->json, "\"inputResponses\":{\"z\":{\"action\":\"decline\"}}");
    assert_null(strstr(again->json, "requestState"));
    fake_answer(f, again, "{\"resultType\":\"complete\",\"content\":[]}");
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last.err.code, CS_OK);
}

static void other_calls_carry_nothing_of_it(void **state)
{
    struct fake *f = ready(state, CS_ERA_MODERN, true);
    fake_call(f, "one", "{}");
    fake_answer(
        f, fake_last(f),
        "{\"resultType\":\"input_required\",\"requestState\":\"s\",\"inputRequests\":{\"k\":" ELICIT
        "}}");
    fake_call(f, "two", "{}");
    assert_null(strstr(fake_last(f)->json, "requestState"));
    assert_null(strstr(fake_last(f)->json, "inputResponses"));
    fake_answer(f, fake_last(f), "{}");
    assert_int_equal(f->done, 1);
}

static void nobody_there_declines_and_refuses(void **state)
{
    struct fake *f = ready(state, CS_ERA_MODERN, false);
    fake_call(f, "one", "{}");
    fake_answer(f, fake_last(f),
                "{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":" ELICIT "}}");
    assert_int_equal(f->asks, 0);
    assert_contains(fake_last(f)->json, "\"inputResponses\":{\"k\":{\"action\":\"decline\"}}");
    fake_answer(f, fake_last(f),
                "{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":" SAMPLE "}}");
    fake_sleep(f, 3);
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last.err.code, CS_UPSTREAM);
    assert_false(f->last.retryable);
    assert_contains(f->last.err.msg, "language model");
    assert_int_equal(fake_number(f, "tools/call"), 2);
}

static void a_question_that_is_not_taken_is_declined(void **state)
{
    struct fake *f = ready(state, CS_ERA_MODERN, true);
    f->takes_asks = false;
    fake_call(f, "one", "{}");
    fake_answer(f, fake_last(f),
                "{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":" ELICIT "}}");
    assert_int_equal(f->asks, 1);
    assert_contains(fake_last(f)->json, "\"inputResponses\":{\"k\":{\"action\":\"decline\"}}");
    cs_client_answer(f->client, f->ask, CS_STR("{\"action\":\"accept\"}"));
    assert_int_equal(fake_number(f, "tools/call"), 2);
}

static void state_alone_is_tried_again_after_a_pause(void **state)
{
    struct fake *f = ready(state, CS_ERA_MODERN, true);
    fake_call(f, "one", "{}");
    fake_answer(f, fake_last(f), "{\"resultType\":\"input_required\",\"requestState\":\"later\"}");
    fake_sleep(f, 15);
    assert_int_equal(fake_number(f, "tools/call"), 2);
    assert_contains(fake_last(f)->json, "\"requestState\":\"later\"");
    assert_null(strstr(fake_last(f)->json, "inputResponses"));
}

static void rounds_have_an_end(void **state)
{
    struct fake *f = ready(state, CS_ERA_MODERN, false);
    fake_call(f, "one", "{}");
    for (unsigned i = 0; i < CS_ROUNDS_MAX + 3; i++)
        fake_answer(f, fake_find(f, "tools/call"),
                    "{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":" ELICIT "}}");
    fake_sleep(f, 3);
    assert_int_equal(fake_number(f, "tools/call"), CS_ROUNDS_MAX + 1);
    assert_int_equal(f->done, 1);
    assert_contains(f->last.err.msg, "again and again");
}

static void malformed_questions_fail_the_call(void **state)
{
    static const char *const bad[] = {
        "{\"resultType\":\"input_required\"}",
        "{\"resultType\":\"input_required\",\"inputRequests\":[]}",
        "{\"resultType\":\"input_required\",\"inputRequests\":{}}",
        "{\"resultType\":\"input_required\",\"requestState\":3}",
        "{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":{\"method\":\"tools/call\"}}}",
        "{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":3}}",
        "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":" ELICIT ",\"k\":{}}}",
    };
    struct fake *f = ready(state, CS_ERA_MODERN, true);
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        fake_call(f, "one", "{}");
        fake_answer(f, fake_last(f), bad[i]);
        fake_sleep(f, 3);
        assert_int_equal(f->done, i + 1);
        assert_int_equal(f->last.err.code, CS_UPSTREAM);
    }
    cs_client_answer(f->client, f->ask, CS_STR("{\"action\":\"accept\"}"));
    assert_int_equal(fake_number(f, "tools/call"), CS_COUNT(bad));
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_READY);
}

static void a_person_has_time_but_not_for_ever(void **state)
{
    struct fake *f = *state;
    f->parts.person = 250;
    ready(state, CS_ERA_MODERN, true);
    struct cs_client_request request = {.tool = CS_STR("one"), .timeout_ms = 15};
    cs_client_call(f->client, &request, NULL, fake_done, f);
    fake_answer(f, fake_last(f),
                "{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":" ELICIT "}}");
    fake_sleep(f, 50);
    assert_int_equal(f->done, 0);
    fake_sleep(f, 250);
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last.err.code, CS_LIMIT);
    assert_contains(f->last.err.msg, "nobody answered");
    cs_client_answer(f->client, f->ask, CS_STR("{\"action\":\"accept\"}"));
    assert_int_equal(fake_number(f, "tools/call"), 1);
}

static struct cs_client_call *under_way;

static bool cancels(void *ctx, const struct cs_client_ask *ask)
{
    (void)ctx;
    (void)ask;
    cs_client_cancel(under_way);
    return true;
}

static void a_call_may_be_cancelled_while_it_asks(void **state)
{
    struct fake *f = ready(state, CS_ERA_MODERN, true);
    under_way = fake_call(f, "one", "{}");
    fake_answer(f, fake_last(f),
                "{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":" ELICIT "}}");
    cs_client_cancel(under_way);
    cs_client_answer(f->client, f->ask, CS_STR("{\"action\":\"accept\"}"));
    assert_int_equal(f->done, 0);
    assert_int_equal(fake_number(f, "tools/call"), 1);

    f->client->events.ask = cancels;
    under_way = fake_call(f, "one", "{}");
    fake_answer(f, fake_last(f),
                "{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":" ELICIT
                ",\"l\":" ELICIT "}}");
    assert_int_equal(f->done, 0);
    assert_int_equal(fake_number(f, "tools/call"), 2);
}

/* --- requests of legacy servers --- */

static void request(struct fake *f, const char *id, const char *body)
{
    fake_say(f, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s", id, body + 1);
}

static void requests_of_a_legacy_server_are_answered(void **state)
{
    static const char *roots[] = {"file:///srv/data", NULL};
    struct fake *f = *state;
    f->server.roots = roots;
    ready(state, CS_ERA_LEGACY, false);
    static const char *const rows[][3] = {
        {"7", "{\"method\":\"ping\"}", "\"id\":7,\"result\":{}}"},
        {"\"7\"", "{\"method\":\"ping\"}", "\"id\":\"7\",\"result\":{}}"},
        {"1.0", "{\"method\":\"ping\"}", "\"id\":1.0,\"result\":{}}"},
        {"8", ROOTS, "\"id\":8,\"result\":{\"roots\":[{\"uri\":\"file:///srv/data\""},
        {"9", ELICIT, "\"id\":9,\"result\":{\"action\":\"decline\"}"},
        {"10", SAMPLE, "\"id\":10,\"error\":{\"code\":-32601"},
        {"11", "{\"method\":\"tools/call\"}", "\"id\":11,\"error\":{\"code\":-32601"},
        {"12", "{\"method\":\"\"}", "\"id\":12,\"error\":{\"code\":-32601"},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        unsigned before = f->count;
        request(f, rows[i][0], rows[i][1]);
        assert_int_equal(f->count, before + 1);
        assert_contains(fake_last(f)->json, rows[i][2]);
        assert_null(fake_last(f)->method);
    }
}

static void roots_that_were_not_declared_are_not_told(void **state)
{
    struct fake *f = ready(state, CS_ERA_LEGACY, false);
    request(f, "1", ROOTS);
    assert_contains(fake_last(f)->json, "-32601");
}

static void questions_of_a_legacy_server_are_handed_on(void **state)
{
    struct fake *f = ready(state, CS_ERA_LEGACY, true);
    unsigned before = f->count;
    request(f, "\"q\\u0031\"", ELICIT);
    assert_int_equal(f->asks, 1);
    assert_int_equal(f->count, before);
    assert_null(f->ask_ctx);
    assert_string_equal(cs_buf_cstr(&f->asked), "elicitation/create {\"message\":\"Sure?\"}");
    cs_client_answer(f->client, f->ask, CS_STR("{\"action\":\"accept\",\n\"content\":{}}"));
    assert_contains(fake_last(f)->json,
                    "\"id\":\"q\\u0031\",\"result\":{\"action\":\"accept\", \"content\":{}}");
    cs_client_answer(f->client, f->ask, CS_STR("{\"action\":\"cancel\"}"));
    assert_int_equal(f->count, before + 1);

    request(f, "2", SAMPLE);
    cs_client_answer(f->client, f->ask, (struct cs_str){0});
    assert_contains(fake_last(f)->json, "\"id\":2,\"error\":{\"code\":-1,");
    f->takes_asks = false;
    request(f, "3", ELICIT);
    assert_contains(fake_last(f)->json, "\"id\":3,\"result\":{\"action\":\"decline\"}");
}

static void a_question_belongs_to_the_call_during_which_it_came(void **state)
{
    struct fake *f = ready(state, CS_ERA_LEGACY, true);
    fake_call(f, "one", "{}");
    uint64_t stream = fake_last(f)->id;
    request(f, "1", ELICIT);
    assert_ptr_equal(f->ask_ctx, f);
    /* With two of them nobody knows, unless the stream tells. */
    fake_call(f, "two", "{}");
    request(f, "2", ELICIT);
    assert_null(f->ask_ctx);
    fake_say_on(f, stream, "{\"jsonrpc\":\"2.0\",\"id\":3,%s", ELICIT + 1);
    assert_ptr_equal(f->ask_ctx, f);
}

static void a_question_stops_the_clock_of_its_call(void **state)
{
    struct fake *f = ready(state, CS_ERA_LEGACY, true);
    struct cs_client_request slow = {.tool = CS_STR("one"), .timeout_ms = 100};
    cs_client_call(f->client, &slow, NULL, fake_done, f);
    const struct fake_sent sent = *fake_last(f);
    request(f, "1", ELICIT);
    fake_sleep(f, 130);
    assert_int_equal(f->done, 0);
    cs_client_answer(f->client, f->ask, CS_STR("{\"action\":\"accept\"}"));
    fake_sleep(f, 8);
    fake_answer(f, &sent, "{}");
    assert_int_equal(f->last.err.code, CS_OK);
    /* And after the answer it runs again. */
    cs_client_call(f->client, &slow, NULL, fake_done, f);
    request(f, "2", ELICIT);
    cs_client_answer(f->client, f->ask, CS_STR("{\"action\":\"accept\"}"));
    fake_sleep(f, 130);
    assert_int_equal(f->done, 2);
    assert_int_equal(f->last.err.code, CS_LIMIT);
}

static void questions_that_may_be_of_either_call_stop_both_clocks(void **state)
{
    struct fake *f = ready(state, CS_ERA_LEGACY, true);
    struct cs_client_request slow = {.tool = CS_STR("one"), .timeout_ms = 100};
    cs_client_call(f->client, &slow, NULL, fake_done, f);
    const struct fake_sent first = *fake_last(f);
    cs_client_call(f->client, &slow, NULL, fake_done, f);
    const struct fake_sent second = *fake_last(f);
    request(f, "1", ELICIT);
    request(f, "2", ELICIT);
    fake_sleep(f, 60);
    cs_client_answer(f->client, f->ask, CS_STR("{\"action\":\"accept\"}"));
    fake_sleep(f, 80);
    assert_int_equal(f->done, 0);
    /* It stays open as long as one of the two may have asked it. */
    fake_answer(f, &first, "{}");
    assert_int_equal(f->withdrawn, 0);
    fake_answer(f, &second, "{}");
    assert_int_equal(f->done, 2);
    assert_int_equal(f->last.err.code, CS_OK);
    assert_int_equal(f->withdrawn, 1);
    assert_contains(fake_last(f)->json, "\"id\":1,\"result\":{\"action\":\"cancel\"}");
}

static void a_question_whose_time_is_over_is_dismissed(void **state)
{
    struct fake *f = *state;
    f->parts.person = 40;
    ready(state, CS_ERA_LEGACY, true);
    struct cs_client_request slow = {.tool = CS_STR("one"), .timeout_ms = 100};
    cs_client_call(f->client, &slow, NULL, fake_done, f);
    request(f, "1", ELICIT);
    fake_sleep(f, 60);
    assert_int_equal(f->withdrawn, 1);
    assert_contains(fake_last(f)->json, "\"id\":1,\"result\":{\"action\":\"cancel\"}");
    unsigned before = f->count;
    cs_client_answer(f->client, f->ask, CS_STR("{\"action\":\"accept\"}"));
    assert_int_equal(f->count, before);
    /* The call has the rest of its own time. */
    assert_int_equal(f->done, 0);
    fake_sleep(f, 120);
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last.err.code, CS_LIMIT);
    /* One that came during no call has an end too. */
    request(f, "2", SAMPLE);
    fake_sleep(f, 60);
    assert_int_equal(f->withdrawn, 2);
    assert_contains(fake_last(f)->json, "\"id\":2,\"error\"");
}

static void questions_end_with_their_call_and_their_server(void **state)
{
    for (int era = CS_ERA_MODERN; era <= CS_ERA_LEGACY; era++) {
        fake_free(*state);
        *state = fake_new();
        struct fake *f = ready(state, (enum cs_era)era, true);
        for (unsigned i = 0; i < 3; i++) {
            struct cs_client_call *call = fake_call(f, "one", "{}");
            if (era == CS_ERA_LEGACY)
                request(f, "1", ELICIT);
            else
                fake_answer(f, fake_last(f),
                            "{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":" ELICIT
                            "}}");
            assert_int_equal(f->asks, i + 1);
            assert_int_equal(f->withdrawn, i);
            if (i < 2)
                cs_client_cancel(call);
            else
                fake_end(f, "gone");
            assert_int_equal(f->withdrawn, i + 1);
        }
    }
}

static void addresses_are_asked_for_only_if_that_was_declared(void **state)
{
    static const char url[] = "{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"url\","
                              "\"message\":\"Look\",\"url\":\"https://example.com\"}}";
    struct fake *f = ready(state, CS_ERA_LEGACY, true);
    request(f, "1", url);
    assert_int_equal(f->asks, 0);
    assert_contains(fake_last(f)->json, "\"id\":1,\"error\":{\"code\":-32602");
    fake_free(f);
    f = *state = fake_new();
    f->options.can_elicit_url = true;
    ready(state, CS_ERA_LEGACY, true);
    assert_contains(fake_find(f, "initialize")->json, "\"elicitation\":{\"form\":{},\"url\":{}}");
    request(f, "1", url);
    assert_int_equal(f->asks, 1);
}

static void a_question_can_be_taken_back(void **state)
{
    struct fake *f = ready(state, CS_ERA_LEGACY, true);
    request(f, "5", ELICIT);
    fake_say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                "cancelled\",\"params\":{\"requestId\":5}}");
    assert_int_equal(f->withdrawn, 1);
    unsigned before = f->count;
    cs_client_answer(f->client, f->ask, CS_STR("{\"action\":\"accept\"}"));
    assert_int_equal(f->count, before);
    /* So does the end of the server. */
    request(f, "6", ELICIT);
    fake_end(f, "gone");
    cs_client_answer(f->client, f->ask, CS_STR("{\"action\":\"accept\"}"));
}

static void questions_are_bounded(void **state)
{
    struct fake *f = ready(state, CS_ERA_LEGACY, true);
    for (unsigned i = 0; i < CS_ASKS_MAX + 5; i++) {
        char id[20];
        snprintf(id, sizeof id, "%u", i);
        request(f, id, ELICIT);
    }
    assert_int_equal(f->asks, CS_ASKS_MAX);
    assert_contains(fake_last(f)->json, "\"id\":104,\"result\":{\"action\":\"decline\"}");
}

static void modern_servers_send_no_requests(void **state)
{
    struct fake *f = ready(state, CS_ERA_MODERN, true);
    request(f, "1", ELICIT);
    assert_int_equal(f->asks, 0);
    assert_contains(fake_last(f)->json, "-32601");
    f->server.is_http = true;
    unsigned before = f->count;
    request(f, "2", ELICIT);
    assert_int_equal(f->count, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(capabilities_are_those_that_are_there),
        CS_TEST_WITH(input_is_gathered_and_sent_with_the_state, setup, teardown),
        CS_TEST_WITH(other_calls_carry_nothing_of_it, setup, teardown),
        CS_TEST_WITH(nobody_there_declines_and_refuses, setup, teardown),
        CS_TEST_WITH(a_question_that_is_not_taken_is_declined, setup, teardown),
        CS_TEST_WITH(state_alone_is_tried_again_after_a_pause, setup, teardown),
        CS_TEST_WITH(rounds_have_an_end, setup, teardown),
        CS_TEST_WITH(malformed_questions_fail_the_call, setup, teardown),
        CS_TEST_WITH(a_person_has_time_but_not_for_ever, setup, teardown),
        CS_TEST_WITH(a_call_may_be_cancelled_while_it_asks, setup, teardown),
        CS_TEST_WITH(requests_of_a_legacy_server_are_answered, setup, teardown),
        CS_TEST_WITH(roots_that_were_not_declared_are_not_told, setup, teardown),
        CS_TEST_WITH(questions_of_a_legacy_server_are_handed_on, setup, teardown),
        CS_TEST_WITH(a_question_belongs_to_the_call_during_which_it_came, setup, teardown),
        CS_TEST_WITH(a_question_stops_the_clock_of_its_call, setup, teardown),
        CS_TEST_WITH(questions_that_may_be_of_either_call_stop_both_clocks, setup, teardown),
        CS_TEST_WITH(a_question_whose_time_is_over_is_dismissed, setup, teardown),
        CS_TEST_WITH(questions_end_with_their_call_and_their_server, setup, teardown),
        CS_TEST_WITH(addresses_are_asked_for_only_if_that_was_declared, setup, teardown),
        CS_TEST_WITH(a_question_can_be_taken_back, setup, teardown),
        CS_TEST_WITH(questions_are_bounded, setup, teardown),
        CS_TEST_WITH(modern_servers_send_no_requests, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

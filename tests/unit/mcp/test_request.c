#include "fake.h"

#define HELLO                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{" \
    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"elicitation\":{}}}}"
#define SLOW(id, meta)                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":" \
    "\"slow_compute\",\"arguments\":{\"seconds\":60}" meta "}}"

static void expect(struct fake *f, const char *piece)
{
    const char *said = fake_said(f);
    assert_contains(said, piece);
}

static struct cs_req *only(struct fake *f)
{
    assert_false(cs_link_alone(&f->peer->reqs));
    return CS_OF(f->peer->reqs.next, struct cs_req, link);
}

static void progress_is_sent_when_nothing_else_is(void **state)
{
    struct fake *f = *state;
    fake_tell(f, HELLO);
    fake_tell(f, SLOW("1", ",\"_meta\":{\"progressToken\":\"t\"}"));
    fake_said(f);
    uint64_t now = cs_mcp_now();
    cs_progress_tick(only(f), now + 5000);
    assert_string_equal(fake_said(f), "");
    cs_progress_tick(only(f), now + CS_HEARTBEAT + 1000);
    expect(f, "\"progressToken\":\"t\",\"progress\":0}");
    cs_mcp_progress(&only(f)->call, 5, 10, CS_STR("half"));
    fake_said(f);
    only(f)->said_at = 0;
    cs_progress_tick(only(f), now + 2 * CS_HEARTBEAT);
    expect(f, "\"progress\":5.001,");
    only(f)->said_at = 0;
    cs_mcp_progress(&only(f)->call, 2, 10, CS_STR("less"));
    expect(f, "\"progress\":5.002,");
}

static void progress_that_comes_too_fast_is_gathered_and_the_last_counts(void **state)
{
    struct fake *f = *state;
    fake_tell(f, HELLO);
    fake_tell(f, SLOW("1", ",\"_meta\":{\"progressToken\":7}"));
    fake_said(f);
    for (int i = 1; i < 1000; i++)
        cs_mcp_progress(&only(f)->call, i, 1000, (struct cs_str){0});
    expect(f, "\"progress\":1,");
    only(f)->call.cancelled(&only(f)->call); /* the fixture itself is done with it */
    cs_mcp_result(&only(f)->call, CS_STR("{\"content\":[]}"));
    const char *said = fake_said(f);
    assert_non_null(strstr(said, "\"progress\":999,"));
    assert_null(strstr(said, "\"progress\":998,"));
    assert_true(strstr(said, "\"progress\":999,") < strstr(said, "\"result\""));
}

static void without_a_token_progress_is_a_log(void **state)
{
    struct fake *f = *state;
    fake_tell(f, HELLO);
    fake_tell(f, SLOW("1", ""));
    fake_said(f);
    cs_mcp_progress(&only(f)->call, 1, 2, CS_STR("one"));
    assert_string_equal(fake_said(f), "");
    f->peer->level = cs_level_find(CS_STR("info"));
    cs_mcp_progress(&only(f)->call, 1, 2, CS_STR("one"));
    expect(f, "\"level\":\"info\",\"data\":\"one\"");
    for (unsigned i = 0; i < 10 * CS_LOGS_A_SECOND; i++)
        cs_mcp_log(&only(f)->call, "error", NULL, CS_STR("1"));
    unsigned lines = 0;
    for (size_t i = 0; i < f->said.len; i++)
        lines += f->said.at[i] == '\n';
    assert_in_range(lines, 1, 2 * CS_LOGS_A_SECOND);
}

#define ASK                                                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":" \
    "\"test_input_required_result_elicitation\"," META "{\"elicitation\":{}}}}}"

static void a_parked_call_is_forgotten_after_its_time(void **state)
{
    struct fake *f = *state;
    char retry[1000];
    fake_tell(f, ASK);
    fake_turn(f);
    struct cs_str seal = fake_cut(fake_said(f), "\"requestState\":\"");
    snprintf(retry, sizeof retry,
             "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
             "\"test_input_required_result_elicitation\",\"requestState\":\"%.*s\"," META
             "{\"elicitation\":{}}}}}",
             CS_STR_ARG(seal));
    assert_true(only(f)->parked);
    cs_ask_tick(f->m, cs_mcp_now() + CS_ASK_WAIT + 5000);
    assert_true(cs_link_alone(&f->peer->reqs));
    fake_tell(f, retry);
    expect(f, "expired");
}

static void a_question_of_the_older_revisions_is_declined_after_its_time(void **state)
{
    struct fake *f = *state;
    fake_tell(f, HELLO);
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"test_elicitation\",\"arguments\":{\"message\":\"?\"}}}");
    expect(f, "elicitation/create");
    cs_ask_tick(f->m, cs_mcp_now() + CS_ASK_WAIT + 5000);
    fake_turn(f);
    expect(f, "declined");
}

static void a_question_that_is_withdrawn_is_cancelled(void **state)
{
    struct fake *f = *state;
    fake_tell(f, HELLO);
    fake_tell(f, SLOW("1", ""));
    cs_mcp_ask(&only(f)->call, 9, NULL, CS_ASK_FORM, CS_STR("{\"message\":\"?\"}"));
    expect(f, "\"id\":1,\"method\":\"elicitation/create\"");
    cs_mcp_withdraw(&only(f)->call, 9);
    expect(f, "notifications/cancelled\",\"params\":{\"requestId\":1}");
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\"}}");
    cs_mcp_withdraw(&only(f)->call, 9);
    assert_string_equal(fake_said(f), "");
}

static void a_result_that_came_while_it_was_parked_waits(void **state)
{
    struct fake *f = *state;
    char retry[1000];
    fake_tell(f, ASK);
    fake_turn(f);
    struct cs_str seal = fake_cut(fake_said(f), "\"requestState\":\"");
    snprintf(retry, sizeof retry,
             "{\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"tools/call\",\"params\":{\"name\":"
             "\"test_input_required_result_elicitation\",\"requestState\":\"%.*s\"," META
             "{\"elicitation\":{}}}}}",
             CS_STR_ARG(seal));
    only(f)->call.cancelled(&only(f)->call); /* the fixture itself is done with it */
    cs_mcp_result(&only(f)->call, CS_STR("{\"content\":[],\"early\":true}"));
    assert_string_equal(fake_said(f), "");
    fake_tell(f, retry);
    expect(f, "\"id\":\"r\",\"result\":{\"content\":[],\"early\":true");
    assert_true(cs_link_alone(&f->peer->reqs));
}

/* --- an offer of our own --- */

static struct cs_mcp_call *kept;
static unsigned cancelled;

static void on_cancelled(struct cs_mcp_call *call)
{
    cancelled++;
    cs_mcp_progress(call, 1, 2, CS_STR("never heard"));
    cs_mcp_result(call, CS_STR("{\"never\":\"heard\"}"));
}

static void keep(struct cs_mcp_call *call)
{
    kept = call;
    call->cancelled = on_cancelled;
    cs_mcp_may_be_task(call, CS_STR("exe_1"));
}

static void keep_silently(struct cs_mcp_call *call)
{
    kept = call;
}

static void recall(struct cs_mcp_call *call, struct cs_str task)
{
    if (cs_str_is(task, "exe_old"))
        cs_mcp_result(call, CS_STR("{\"content\":[],\"from\":\"before\"}"));
    else
        cs_mcp_error(call, CS_RPC_PARAMS, "no such execution", (struct cs_str){0});
}

static const struct cs_mcp_method own_methods[] = {
    {"tools/call", keep}, {"prompts/get", keep_silently}, {0}};

static void offer_ours(struct fake *f)
{
    f->offer = *f->m->offer;
    f->offer.methods = own_methods;
    f->offer.recall = recall;
    f->m->offer = &f->offer;
    cancelled = 0;
    kept = NULL;
}

#define TASKS "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"

static void a_call_that_takes_long_becomes_a_task_of_its_name(void **state)
{
    struct fake *f = *state;
    offer_ours(f);
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{" META TASKS
                 "}}}");
    uint64_t now = cs_mcp_now();
    cs_tasks_tick(f->m, now + 1000);
    assert_string_equal(fake_said(f), "");
    cs_tasks_tick(f->m, now + CS_TASK_AFTER + 100);
    expect(f, "\"taskId\":\"exe_1\",\"status\":\"working\"");
    cs_mcp_result(kept, CS_STR("{\"content\":[]}"));
    assert_string_equal(fake_said(f), "");
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tasks/get\",\"params\":{\"taskId\":"
                 "\"exe_1\"," META TASKS "}}}");
    expect(f, "\"status\":\"completed\"");
    cs_tasks_tick(f->m, now + CS_TASK_TTL + CS_ASK_WAIT + 5000);
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tasks/get\",\"params\":{\"taskId\":"
                 "\"exe_1\"," META TASKS "}}}");
    expect(f, "no such execution");
}

static void nobody_gets_a_task_who_does_not_speak_of_them(void **state)
{
    struct fake *f = *state;
    offer_ours(f);
    fake_tell(f,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{" META "{}}}}");
    cs_tasks_tick(f->m, cs_mcp_now() + 100000);
    assert_string_equal(fake_said(f), "");
    cs_mcp_result(kept, CS_STR("{\"content\":[]}"));
    expect(f, "\"resultType\":\"complete\"");
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tasks/get\",\"params\":{\"taskId\":"
                 "\"exe_1\"," META "{}}}}");
    expect(f, "-32021");
}

static void a_task_of_an_earlier_life_is_recalled(void **state)
{
    struct fake *f = *state;
    offer_ours(f);
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tasks/get\",\"params\":{\"taskId\":"
                 "\"exe_old\"," META TASKS "}}}");
    const char *said = fake_said(f);
    assert_contains(said, "\"taskId\":\"exe_old\",\"status\":\"completed\"");
    assert_contains(said, "\"result\":{\"content\":[],\"from\":\"before\"}");
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tasks/cancel\",\"params\":{\"taskId\":"
                 "\"exe_old\"," META TASKS "}}}");
    expect(f, "\"resultType\":\"complete\"");
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tasks/cancel\",\"params\":{\"taskId\":"
                 "\"exe_no\"," META TASKS "}}}");
    expect(f, "no such execution");
    fake_tell(f, HELLO);
    fake_said(f);
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tasks/result\",\"params\":{\"taskId\":"
                 "\"exe_old\"}}");
    expect(f, "/related-task\":{\"taskId\":\"exe_old\"}");
}

static void whoever_answers_while_it_is_cancelled_is_not_heard(void **state)
{
    struct fake *f = *state;
    offer_ours(f);
    fake_tell(f, HELLO);
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}");
    fake_said(f);
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                 "\"requestId\":1}}");
    assert_int_equal(cancelled, 1);
    assert_string_equal(fake_said(f), "");
}

static void whoever_does_not_hear_of_the_end_may_answer_late(void **state)
{
    struct fake *f = *state;
    offer_ours(f);
    fake_tell(f, HELLO);
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/get\"}");
    fake_tell(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                 "\"requestId\":1}}");
    fake_said(f);
    fake_hang_up(f);
    cs_mcp_log(kept, "error", NULL, CS_STR("1"));
    cs_mcp_ask(kept, 1, NULL, CS_ASK_FORM, CS_STR("{}"));
    cs_mcp_result(kept, CS_STR("{}"));
    assert_string_equal(fake_said(f), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(progress_is_sent_when_nothing_else_is, fake_open, fake_close),
        CS_TEST_WITH(progress_that_comes_too_fast_is_gathered_and_the_last_counts, fake_open,
                     fake_close),
        CS_TEST_WITH(without_a_token_progress_is_a_log, fake_open, fake_close),
        CS_TEST_WITH(a_parked_call_is_forgotten_after_its_time, fake_open, fake_close),
        CS_TEST_WITH(a_question_of_the_older_revisions_is_declined_after_its_time, fake_open,
                     fake_close),
        CS_TEST_WITH(a_question_that_is_withdrawn_is_cancelled, fake_open, fake_close),
        CS_TEST_WITH(a_result_that_came_while_it_was_parked_waits, fake_open, fake_close),
        CS_TEST_WITH(a_call_that_takes_long_becomes_a_task_of_its_name, fake_open, fake_close),
        CS_TEST_WITH(nobody_gets_a_task_who_does_not_speak_of_them, fake_open, fake_close),
        CS_TEST_WITH(a_task_of_an_earlier_life_is_recalled, fake_open, fake_close),
        CS_TEST_WITH(whoever_answers_while_it_is_cancelled_is_not_heard, fake_open, fake_close),
        CS_TEST_WITH(whoever_does_not_hear_of_the_end_may_answer_late, fake_open, fake_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Executions under protection: what they are given, say and leave has tokens. */
#include "way.h"

#include "run/shield.h"

static struct cs_privacy *privacy;
static struct cs_vault_key key = {{1, 2, 3}};

static int setup(void **state)
{
    (void)state;
    struct cs_err err = {0};
    struct cs_privacy_options house = {.level = CS_PRIVACY_MEDIUM};
    struct cs_session_limits limits = {.state_bytes = 1 << 20,
                                       .file_bytes = 1 << 20,
                                       .files = 10,
                                       .per_tenant = 10,
                                       .idle_ms = 60000};
    assert_int_equal(cs_privacy_new(&house, &privacy, &err), 0);
    if (cs_store_open(&world.loop, path_of("data"), &world.store, &err) < 0 ||
        cs_sessions_new(&world.loop, world.store, path_of("data"), &limits, &world.sessions, &err) <
            0)
        fail_msg("%s", err.msg);
    open_runner((struct cs_runner_options){.privacy = privacy, .vault_key = &key});
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    bool closed = false, stored = false;
    close_runner();
    cs_sessions_close(world.sessions, on_closed, &closed);
    until(&closed);
    cs_store_close(world.store, on_closed, &stored);
    until(&stored);
    world.sessions = NULL;
    world.store = NULL;
    cs_privacy_unref(privacy);
    return 0;
}

static void lacks(const struct cs_buf *text, const char *word)
{
    assert_null(memmem(text->at ? text->at : "", text->len, word, strlen(word)));
}

static void what_a_program_says_has_tokens(void **state)
{
    (void)state;
    struct play p = {0};
    struct cs_request request =
        request_of("const a = 'ada' + '@' + 'made.example.com'; console.log('to', a); return [a, "
                   "'bob' + '@made.example.com', 7]");
    perform(&p, &request);
    assert_false(p.failed);
    assert_str_is(cs_buf_str(&p.value), "[\"[EMAIL_1]\",\"[EMAIL_2]\",7]");
    assert_contains(cs_buf_cstr(&p.logs), "to [EMAIL_1]\n");
    lacks(&p.envelope, "@made.example.com\"");
    assert_contains(cs_buf_cstr(&p.envelope), "\"found\":{\"EMAIL\":3},\"tokens\":2}");
    play_done(&p);
}

static void errors_have_tokens(void **state)
{
    (void)state;
    struct play p = {0};
    struct cs_request request =
        request_of("throw new Error('no ' + 'ada' + '@' + 'made.example.com')");
    perform(&p, &request);
    assert_true(p.failed);
    assert_contains(cs_buf_cstr(&p.message), "no [EMAIL_1]");
    lacks(&p.envelope, "ada@made");
    play_done(&p);
}

static void inputs_are_tokens_before_the_program_sees_them(void **state)
{
    (void)state;
    struct play p = {0}, again = {0};
    struct cs_request request = request_of("return [inputs.to, inputs.to.length, inputs.n]");
    request.inputs = CS_STR("{\"to\":\"ada@given.example.com\",\"n\":3}");
    perform(&p, &request);
    assert_str_is(cs_buf_str(&p.value), "[\"[EMAIL_1]\",9,3]");
    lacks(&p.envelope, "given.example.com");
    /* A hash of what was given would tell whoever guesses it. */
    request.inputs = CS_STR("{\"n\":3,\"to\":\"bob@given.example.com\"}");
    perform(&again, &request);
    const char *one = strstr(cs_buf_cstr(&p.envelope), "\"inputs_hash\"");
    const char *other = strstr(cs_buf_cstr(&again.envelope), "\"inputs_hash\"");
    assert_memory_equal(one, other, 80);
    play_done(&p);
    play_done(&again);
}

static void large_inputs_are_looked_at_elsewhere(void **state)
{
    (void)state;
    struct play p = {0}, dropped = {0};
    CS_AUTO_BUF struct cs_buf inputs = {0};
    cs_buf_puts(&inputs, "{\"all\":[");
    for (int i = 0; i < 10000; i++)
        cs_buf_printf(&inputs, "\"person%d@given.example.com\",", i % 100);
    cs_buf_puts(&inputs, "0]}");
    struct cs_request request =
        request_of("return [new Set(inputs.all).size, inputs.all[5], inputs.all]");
    request.inputs = cs_buf_str(&inputs);
    assert_true(inputs.len > CS_SCAN_HERE);
    begin(&p, &request);
    begin(&dropped, &request);
    cs_run_cancel(dropped.run); /* while it is looked at */
    memset(inputs.at, 'x', inputs.len);
    until(&p.is_done);
    until(&dropped.is_done);
    assert_false(p.failed);
    assert_int_equal(dropped.status, CS_STATUS_CANCELLED);
    assert_true(cs_str_starts(cs_buf_str(&p.value), "[101,\"[EMAIL_6]\",[\"[EMAIL_1]\""));
    lacks(&p.envelope, "given.example.com");
    play_done(&p);
    play_done(&dropped);
}

static void without_protection_it_says_so(void **state)
{
    (void)state;
    struct play p = {0};
    struct cs_request request = request_of("return 'ada' + '@' + 'made.example.com'");
    request.no_privacy = true;
    perform(&p, &request);
    assert_str_is(cs_buf_str(&p.value), "\"ada@made.example.com\"");
    assert_contains(cs_buf_cstr(&p.envelope), "\"privacy\":{\"protected\":false,\"why\":");
    play_done(&p);
}

static void a_request_has_words_of_its_own(void **state)
{
    (void)state;
    struct play p = {0}, durable = {0};
    const struct cs_str words[] = {CS_STR("qzt-plan")};
    const struct cs_custom custom = {
        .name = CS_STR("PROJECT"), .words = words, .word_count = 1, .level = CS_PRIVACY_LOW};
    struct cs_request request = request_of("return 'it is ' + 'qzt' + '-plan'");
    request.customs = &custom;
    request.custom_count = 1;
    perform(&p, &request);
    assert_str_is(cs_buf_str(&p.value), "\"it is [PROJECT_1]\"");
    assert_contains(cs_buf_cstr(&p.envelope), "\"not_replayable\":");
    request.durable = true; /* they would be unknown when it goes on */
    perform(&durable, &request);
    assert_int_equal(durable.refused, CS_INVALID);
    play_done(&p);
    play_done(&durable);
}

static void revealed_values_are_for_one_alone(void **state)
{
    (void)state;
    struct play p = {0}, other = {0};
    struct cs_request request =
        request_of("console.log(inputs.to); return { to: inputs.to, x: '[EMAIL_99]' }");
    request.inputs = CS_STR("{\"to\":\"ada@given.example.com\"}");
    request.reveal = true;
    begin(&p, &request);
    assert_non_null(cs_run_join(p.run, NULL, on_play_done, &other));
    until(&p.is_done);
    until(&other.is_done);
    assert_str_is(cs_buf_str(&p.value), "{\"to\":\"ada@given.example.com\",\"x\":\"[EMAIL_99]\"}");
    assert_contains(cs_buf_cstr(&p.envelope), "\"result\":{\"to\":\"ada@given.example.com\"");
    lacks(&other.envelope, "given.example.com");
    play_done(&p);
    play_done(&other);
}

/* --- streams --- */

static void on_said(void *ctx, bool is_stderr, struct cs_str bytes)
{
    struct cs_buf *said = ctx;
    (void)is_stderr;
    cs_buf_putstr(said, bytes);
    cs_buf_putc(said, '|');
}

static void said_done(void *ctx, const struct cs_result *result)
{
    (void)ctx, (void)result;
}

static void streams_are_told_when_it_is_known_how_they_go_on(void **state)
{
    (void)state;
    struct cs_buf said = {0};
    struct cs_run run = {.runner = world.runner, .tenant = CS_STR("default")};
    CS_AUTO_BUF struct cs_buf long_line = {0};
    run.watch.output = on_said;
    run.ctx = &said;
    run.done = said_done;
    cs_shield_open(&run);
    assert_non_null(run.shield);
    cs_shield_output(&run, false, CS_STR("write to ada@ma"));
    assert_int_equal(said.len, 0);
    cs_shield_output(&run, false, CS_STR("de.example.com now\nand "));
    assert_str_is(cs_buf_str(&said), "write to [EMAIL_1] now\n|");
    cs_shield_output(&run, true, CS_STR("an error\n"));
    cs_shield_output(&run, false, CS_STR("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"));
    assert_str_is(cs_buf_str(&said), "write to [EMAIL_1] now\n|an error\n|and |");
    cs_buf_clear(&said);
    for (int i = 0; i < 20000; i++)
        cs_buf_puts(&long_line, "word ");
    cs_shield_output(&run, false, cs_buf_str(&long_line));
    assert_true(said.len > 64 << 10); /* it is held back only so long */
    cs_buf_clear(&said);
    cs_shield_output(&run, false, CS_STR("bob@made.example.com"));
    cs_shield_flush(&run);
    lacks(&said, "bob@made");
    cs_buf_done(&said);
    cs_shield_done(&run);
}

int main(int argc, char **argv)
{
    int status = play_role(argc, argv);
    if (status >= 0)
        return status;
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(what_a_program_says_has_tokens, setup, teardown),
        CS_TEST_WITH(errors_have_tokens, setup, teardown),
        CS_TEST_WITH(inputs_are_tokens_before_the_program_sees_them, setup, teardown),
        CS_TEST_WITH(large_inputs_are_looked_at_elsewhere, setup, teardown),
        CS_TEST_WITH(without_protection_it_says_so, setup, teardown),
        CS_TEST_WITH(a_request_has_words_of_its_own, setup, teardown),
        CS_TEST_WITH(revealed_values_are_for_one_alone, setup, teardown),
        CS_TEST_WITH(streams_are_told_when_it_is_known_how_they_go_on, setup, teardown),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

#include "test.h"

#include "base/mem.h"
#include "watch/tally.h"

static struct cs_measure measure(const char *status, const char *error, uint64_t ms)
{
    return (struct cs_measure){.tenant = CS_STR("t"),
                               .status = cs_str(status),
                               .error_type = cs_str(error),
                               .wall_us = ms * 1000,
                               .memory_peak = ms << 20};
}

static char *text_of(const struct cs_tally *t)
{
    struct cs_buf out = {0};
    cs_tally_put(t, &out);
    cs_buf_cstr(&out);
    return out.at;
}

static char *report_of(const struct cs_tally *t, const uint32_t *now)
{
    struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_tally_report(t, now, now, &w);
    cs_json_close(&w, '}');
    cs_buf_cstr(&out);
    return out.at;
}

static void report_says_what_was_added(void **state)
{
    (void)state;
    CS_AUTO(cs_tally_done) struct cs_tally t = {0};
    struct cs_measure a = measure("completed", "", 10), b = measure("failed", "timeout_error", 30),
                      c = measure("completed", "", 0);
    a.tools = CS_STR("{\"github/list\":3,\"mail/send\":1}");
    a.calls = 4;
    a.calls_failed = 2;
    a.calls_denied = 1;
    a.tokens_saved = 500;
    a.masked = CS_STR("{\"EMAIL\":3,\"NO_SUCH_KIND\":4,\"PERSON\":1}");
    b.masked = CS_STR("{\"EMAIL\":2}");
    b.tools = CS_STR("{\"github/list\":2}");
    b.calls = 2;
    c.cached = true;
    cs_tally_add(&t, &a);
    cs_tally_add(&t, &b);
    cs_tally_add(&t, &c);
    uint32_t now = 7;
    CS_AUTO_FREE char *text = report_of(&t, &now);
    assert_contains(text, "\"executions\":{\"total\":3,\"completed\":2,\"failed\":1,\"denied\":0,"
                          "\"cancelled\":0,\"running\":7,\"waiting\":7}");
    assert_contains(text, "\"success_rate\":0.666");
    assert_contains(text, "\"errors\":{\"timeout_error\":1,\"syntax_error\":0,");
    assert_contains(text, "\"average\":13.333,");
    assert_contains(text, "\"most\":30}");
    assert_contains(text, "\"memory_bytes\":{\"average\":20971520,\"peak\":31457280}");
    assert_contains(text, "\"tool_calls\":{\"total\":6,\"failed\":2,\"denied\":1}");
    assert_contains(text, "\"tools\":[{\"tool\":\"github/list\",\"calls\":5},"
                          "{\"tool\":\"mail/send\",\"calls\":1}],\"other_tools\":0");
    assert_contains(text, "\"cache\":{\"hits\":1,\"hit_rate\":0.333");
    assert_contains(text, "\"tokens_saved\":500,\"masked\":{\"EMAIL\":5,\"PERSON\":1}");
}

static void nothing_has_no_rates(void **state)
{
    (void)state;
    struct cs_tally t = {0};
    CS_AUTO_FREE char *text = report_of(&t, NULL);
    assert_contains(text, "\"success_rate\":null");
    assert_contains(text, "\"p99\":null");
    assert_contains(text, "\"hit_rate\":null");
    assert_null(strstr(text, "running"));
}

static void text_reads_back_and_merging_equals_adding(void **state)
{
    (void)state;
    CS_AUTO(cs_tally_done) struct cs_tally whole = {0}, sum = {0};
    struct cs_tally parts[2] = {0};
    for (unsigned i = 0; i < 500; i++) {
        char tools[80];
        struct cs_measure m =
            measure(i % 3 ? "completed" : "failed", i % 3 ? "" : "runtime_error", i * i);
        snprintf(tools, sizeof tools, "{\"s\\\"%u/t\":%u}", i % 20, i % 4);
        m.tools = cs_str(tools);
        m.calls = i % 4;
        m.cached = i % 5 == 0;
        m.masked = i % 7 ? CS_STR("{\"PHONE\":2}") : CS_STR("");
        cs_tally_add(&whole, &m);
        cs_tally_add(&parts[i % 2], &m);
    }
    for (int i = 0; i < 2; i++) {
        CS_AUTO_FREE char *text = text_of(&parts[i]);
        CS_AUTO(cs_tally_done) struct cs_tally again = {0};
        assert_true(cs_tally_read(cs_str(text), &again));
        cs_tally_merge(&sum, &again);
        cs_tally_done(&parts[i]);
    }
    CS_AUTO_FREE char *one = text_of(&whole), *two = text_of(&sum);
    assert_string_equal(one, two);
}

static void tools_are_bounded_and_no_call_is_lost(void **state)
{
    (void)state;
    CS_AUTO(cs_tally_done) struct cs_tally t = {0};
    uint64_t calls = 0;
    for (unsigned i = 0; i < 3000; i++) {
        char tools[300];
        struct cs_measure m = measure("completed", "", 1);
        m.calls = 1 + (i < 5) * 1000;
        snprintf(tools, sizeof tools, "{\"server/tool%0100u\":%u}", i, (unsigned)m.calls);
        m.tools = cs_str(tools);
        calls += m.calls;
        cs_tally_add(&t, &m);
    }
    assert_true(t.tool_count <= 1000);
    CS_AUTO_FREE char *text = text_of(&t);
    assert_true(strlen(text) < 20000);
    CS_AUTO(cs_tally_done) struct cs_tally again = {0};
    assert_true(cs_tally_read(cs_str(text), &again));
    assert_int_equal(again.tool_count, CS_TALLY_TOOLS);
    uint64_t sum = again.other_tools, most = 0;
    for (uint32_t i = 0; i < again.tool_cap; i++) {
        sum += again.tools[i].calls;
        most += again.tools[i].calls == 1001;
    }
    assert_int_equal(sum, calls);
    assert_int_equal(most, 5); /* the frequent ones stay */
}

static void malformed_texts_are_rejected(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"wall_us\":\"1:0:0:0:0:0:\"}",
        "{\"wall_us\":7,\"cpu_us\":0,\"memory_sum\":0,\"memory_most\":0,\"calls\":0,\"failed\":0,"
        "\"denied\":0,\"cached\":0,\"tokens_saved\":0}",
        "{\"wall_us\":\"1:0:0:0:0:0:\",\"cpu_us\":-1,\"memory_sum\":0,\"memory_most\":0,\"calls\":"
        "0,"
        "\"failed\":0,\"denied\":0,\"cached\":0,\"tokens_saved\":0}",
    };
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        struct cs_tally t = {.calls = 3};
        if (cs_tally_read(cs_str(bad[i]), &t))
            fail_msg("\"%s\" was read", bad[i]);
        assert_int_equal(t.calls, 3);
    }
    /* Of what is not known, nothing is counted. */
    CS_AUTO(cs_tally_done) struct cs_tally t = {0};
    assert_true(cs_tally_read(
        CS_STR("{\"wall_us\":\"1:0:0:0:0:0:\",\"cpu_us\":0,\"memory_sum\":0,\"memory_most\":0,"
               "\"calls\":0,\"failed\":0,\"denied\":0,\"cached\":0,\"tokens_saved\":0,"
               "\"status\":{\"dancing\":3},\"error\":7,\"tools\":[1],\"later\":{}}"),
        &t));
    struct cs_measure m = measure("dancing", "tango", 1);
    m.tools = CS_STR("no JSON");
    cs_tally_add(&t, &m);
    m.tools = CS_STR("{\"a/b\":-3,\"c/d\":1.5,\"e/f\":\"x\",\"\":1,\"g\\u0000h\":1}");
    cs_tally_add(&t, &m);
    assert_int_equal(t.tool_count, 0);
    assert_int_equal(t.other_tools, 2);
    assert_int_equal(t.wall_us.count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(report_says_what_was_added),
        CS_TEST(nothing_has_no_rates),
        CS_TEST(text_reads_back_and_merging_equals_adding),
        CS_TEST(tools_are_bounded_and_no_call_is_lost),
        CS_TEST(malformed_texts_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"

#include "mcp/house.h"

static char *page(const char *envelope, enum cs_view view, uint64_t offset, uint64_t limit,
                  uint64_t tokens)
{
    static char text[200000];
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_page(cs_str(envelope), view, offset, limit, tokens, &out);
    assert_true(out.len < sizeof text);
    snprintf(text, sizeof text, "%.*s", CS_STR_ARG(cs_buf_str(&out)));
    return text;
}

static void assert_json(const char *text)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    if (cs_json_parse(cs_str(text), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", err.msg, text);
}

static void an_array_is_paged_by_its_elements(void **state)
{
    (void)state;
    const char *envelope = "{\"result\":[1,{\"a\":2},\"x\",4]}";
    assert_string_equal(page(envelope, CS_VIEW_RESULT, 0, 2, 1000),
                        "{\"result\":[1,{\"a\":2}],\"offset\":0,\"total\":4,\"next_offset\":2}");
    assert_string_equal(page(envelope, CS_VIEW_RESULT, 2, 9, 1000),
                        "{\"result\":[\"x\",4],\"offset\":2,\"total\":4}");
    assert_string_equal(page(envelope, CS_VIEW_RESULT, 7, 9, 1000),
                        "{\"result\":[],\"offset\":7,\"total\":4}");
}

static void an_object_is_paged_by_its_members(void **state)
{
    (void)state;
    assert_string_equal(
        page("{\"result\":{\"a\":1,\"b\\n\":[2],\"c\":3}}", CS_VIEW_RESULT, 1, 1, 1000),
        "{\"result\":{\"b\\n\":[2]},\"offset\":1,\"total\":3,\"next_offset\":2}");
}

static void a_text_is_paged_by_its_characters(void **state)
{
    (void)state;
    assert_string_equal(page("{\"result\":\"a\u00e9\\u20acd\"}", CS_VIEW_RESULT, 1, 2, 1000),
                        "{\"result\":\"\u00e9\u20ac\",\"offset\":1,\"total\":4,\"next_offset\":3}");
}

static void a_small_value_comes_whole(void **state)
{
    (void)state;
    assert_string_equal(page("{\"result\":17}", CS_VIEW_RESULT, 0, 5, 1000), "{\"result\":17}");
    assert_string_equal(page("{\"status\":\"failed\"}", CS_VIEW_RESULT, 0, 5, 1000),
                        "{\"result\":null}");
}

/* All of it comes, piece by piece, and no piece is larger than it may be. */
static void all_pieces_together_are_the_whole(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf envelope = {0};
    cs_buf_puts(&envelope, "{\"result\":[");
    for (int i = 0; i < 2000; i++)
        cs_buf_printf(&envelope, "%s{\"number\":%d,\"text\":\"something\"}", i ? "," : "", i);
    cs_buf_puts(&envelope, "]}");
    int64_t offset = 0, seen = 0;
    for (int pieces = 0; offset >= 0; pieces++) {
        assert_true(pieces < 200);
        const char *text =
            page(cs_buf_cstr(&envelope), CS_VIEW_RESULT, (uint64_t)offset, UINT64_MAX, 1000);
        assert_true(strlen(text) < 6000);
        CS_AUTO_JSON struct cs_json doc = {0};
        assert_int_equal(cs_json_parse(cs_str(text), NULL, &doc, NULL), 0);
        struct cs_json_val root = cs_json_root(&doc), item;
        struct cs_json_iter it = {0};
        int64_t number = -1;
        while (cs_json_next(cs_json_get(root, "result"), &it, NULL, &item)) {
            assert_true(cs_json_i64(cs_json_get(item, "number"), &number));
            assert_int_equal(number, seen++);
        }
        offset = -1;
        cs_json_i64(cs_json_get(root, "next_offset"), &offset);
    }
    assert_int_equal(seen, 2000);
}

static void an_element_that_is_too_large_by_itself_is_cut_and_says_so(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf envelope = {0};
    cs_buf_puts(&envelope, "{\"result\":{\"k\":[");
    for (int i = 0; i < 5000; i++)
        cs_buf_puts(&envelope, i ? ",\"word\"" : "\"word\"");
    cs_buf_puts(&envelope, "],\"l\":2}}");
    const char *text = page(cs_buf_cstr(&envelope), CS_VIEW_RESULT, 0, UINT64_MAX, 1000);
    assert_json(text);
    assert_contains(text, "{\"result\":{\"k\":{\"cut\":\"[\\\"word\\\"");
    assert_contains(text, "\"missing_bytes\":");
    assert_contains(text, "\"next_offset\":1");
    assert_true(strlen(text) < 8000);
}

static void logs_are_lines(void **state)
{
    (void)state;
    const char *envelope = "{\"logs\":[{\"level\":\"info\",\"text\":\"one\"},{\"level\":\"error\","
                           "\"text\":\"two\"}],\"stdout\":\"a\\nb\\n\",\"stderr\":\"c\"}";
    assert_string_equal(page(envelope, CS_VIEW_LOGS, 1, 2, 1000),
                        "logs 1 to 2 of 5; next offset 3\nerror: two\nstdout: a");
    assert_string_equal(page(envelope, CS_VIEW_LOGS, 3, 9, 1000),
                        "logs 3 to 4 of 5\nstdout: b\nstderr: c");
    assert_string_equal(page(envelope, CS_VIEW_LOGS, 5, 9, 1000), "no logs from there on");
    assert_string_equal(page("{\"logs\":[]}", CS_VIEW_LOGS, 0, 9, 1000), "no logs");
}

static void calls_are_lines(void **state)
{
    (void)state;
    assert_string_equal(
        page(
            "{\"calls\":[{\"server\":\"s\",\"tool\":\"t\",\"status\":\"error\",\"latency_ms\":1.25,"
            "\"result_bytes\":7,\"error\":\"no\"}]}",
            CS_VIEW_CALLS, 0, 9, 1000),
        "calls 0 to 0 of 1\ns.t error, 1.2 ms, 7 bytes: no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(an_array_is_paged_by_its_elements),
        CS_TEST(an_object_is_paged_by_its_members),
        CS_TEST(a_text_is_paged_by_its_characters),
        CS_TEST(a_small_value_comes_whole),
        CS_TEST(all_pieces_together_are_the_whole),
        CS_TEST(an_element_that_is_too_large_by_itself_is_cut_and_says_so),
        CS_TEST(logs_are_lines),
        CS_TEST(calls_are_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"

#include "run/inside.h"

static size_t parse_max = SIZE_MAX;

/* The value, or the message of an error after "! ". */
static char *unwrapped(const char *result)
{
    static char text[20000];
    struct cs_unwrapped u;
    struct cs_err err = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    assert_int_equal(cs_json_parse(cs_str(result), NULL, &doc, &err), 0);
    if (cs_unwrap(cs_json_root(&doc), parse_max, &u, &err) < 0)
        snprintf(text, sizeof text, "!! %s", err.msg);
    else
        snprintf(text, sizeof text, "%s%s%.*s", u.is_error ? "! " : "",
                 u.retryable ? "again: " : "", CS_STR_ARG(u.value));
    cs_unwrapped_done(&u);
    return text;
}

static void structured_content_comes_first(void **state)
{
    (void)state;
    assert_string_equal(unwrapped("{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],"
                                  "\"structuredContent\":{\"a\":[1,2]}}"),
                        "{\"a\":[1,2]}");
    assert_string_equal(unwrapped("{\"structuredContent\":[1]}"), "[1]");
    assert_string_equal(unwrapped("{\"structuredContent\":null,\"content\":[]}"), "null");
}

static void one_text_is_parsed_if_it_is_json(void **state)
{
    (void)state;
    assert_string_equal(
        unwrapped(
            "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\": \\\"\\\\u00e9\\\"}\"}]}"),
        "{\"a\": \"\\u00e9\"}");
    assert_string_equal(unwrapped("{\"content\":[{\"type\":\"text\",\"text\":\" [1]\\n\"}]}"),
                        " [1]\n");
    assert_string_equal(unwrapped("{\"content\":[{\"type\":\"text\",\"text\":\"17\"}]}"), "17");
}

static void other_text_stays_text(void **state)
{
    (void)state;
    assert_string_equal(unwrapped("{\"content\":[{\"type\":\"text\",\"text\":\"17 apples\"}]}"),
                        "\"17 apples\"");
    assert_string_equal(unwrapped("{\"content\":[{\"type\":\"text\",\"text\":\"{not json\"}]}"),
                        "\"{not json\"");
    assert_string_equal(unwrapped("{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}"), "\"\"");
}

static void blocks_arrive_as_they_are(void **state)
{
    (void)state;
    const char *image = "{\"type\":\"image\",\"data\":\"AAAA\",\"mimeType\":\"image/png\"}";
    char result[400], wanted[300];
    snprintf(result, sizeof result, "{\"content\":[%s]}", image);
    assert_string_equal(unwrapped(result), image);
    snprintf(wanted, sizeof wanted, "[{\"type\":\"text\",\"text\":\"a\"},%s]", image);
    snprintf(result, sizeof result, "{\"content\":%s}", wanted);
    assert_string_equal(unwrapped(result), wanted);
    assert_string_equal(unwrapped("{}"), "null");
    assert_string_equal(unwrapped("{\"content\":[]}"), "null");
    assert_string_equal(unwrapped("{\"content\":\"odd\"}"), "null");
}

static void a_large_text_is_left_to_the_worker(void **state)
{
    (void)state;
    parse_max = 10;
    assert_string_equal(
        unwrapped("{\"content\":[{\"type\":\"text\",\"text\":\"[1,2,3,\\n4,5]\"}]}"),
        "[1,2,3,\n4,5]");
    assert_string_equal(
        unwrapped("{\"content\":[{\"type\":\"text\",\"text\":\"plain text, no JSON\"}]}"),
        "\"plain text, no JSON\"");
    parse_max = SIZE_MAX;
}

static void an_error_is_its_text(void **state)
{
    (void)state;
    assert_string_equal(
        unwrapped("{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no such "
                  "file\"},{\"type\":\"text\",\"text\":\"at all\"}]}"),
        "! no such file\nat all");
    assert_string_equal(
        unwrapped("{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"Rate "
                  "Limit exceeded\"}]}"),
        "! again: Rate Limit exceeded");
    assert_string_equal(unwrapped("{\"isError\":true,\"structuredContent\":{\"retryable\":false},"
                                  "\"content\":[{\"type\":\"text\",\"text\":\"timeout\"}]}"),
                        "! timeout");
    assert_contains(unwrapped("{\"isError\":true}"), "said nothing");
}

static void a_long_error_is_cut_between_characters(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf result = {0};
    cs_buf_puts(&result, "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"x");
    for (int i = 0; i < 6000; i++)
        cs_buf_puts(&result, "é");
    cs_buf_puts(&result, "\"}]}");
    const char *text = unwrapped(cs_buf_cstr(&result));
    assert_true(strlen(text) < 8100);
    assert_string_equal(text + strlen(text) - strlen("é…"), "é…");
}

static void what_is_no_result_is_refused(void **state)
{
    (void)state;
    assert_contains(unwrapped("[1]"), "!! ");
    assert_contains(unwrapped("null"), "!! ");
    assert_contains(unwrapped("\"text\""), "!! ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(structured_content_comes_first),
        CS_TEST(one_text_is_parsed_if_it_is_json),
        CS_TEST(other_text_stays_text),
        CS_TEST(blocks_arrive_as_they_are),
        CS_TEST(a_large_text_is_left_to_the_worker),
        CS_TEST(an_error_is_its_text),
        CS_TEST(a_long_error_is_cut_between_characters),
        CS_TEST(what_is_no_result_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

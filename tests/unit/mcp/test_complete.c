#include "test.h"

#include "mcp/house.h"

static char *completed(const char *value, const struct cs_str *names, size_t count)
{
    static char text[20000];
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_complete(cs_str(value), names, count, &out);
    snprintf(text, sizeof text, "%.*s", CS_STR_ARG(cs_buf_str(&out)));
    return text;
}

static void what_begins_so_comes_before_what_contains_it(void **state)
{
    (void)state;
    const struct cs_str names[] = {CS_STR("gitlab"), CS_STR("legit"), CS_STR("GitHub"),
                                   CS_STR("slack")};
    assert_string_equal(completed("git", names, 4), "{\"completion\":{\"values\":[\"gitlab\","
                                                    "\"GitHub\",\"legit\"],\"total\":3,\"hasMore\":"
                                                    "false}}");
    assert_string_equal(completed("x", names, 4),
                        "{\"completion\":{\"values\":[],\"total\":0,\"hasMore\":false}}");
    assert_string_equal(completed("", names, 2),
                        "{\"completion\":{\"values\":[\"gitlab\",\"legit\"]"
                        ",\"total\":2,\"hasMore\":false}}");
}

static void at_most_a_hundred_are_told(void **state)
{
    (void)state;
    struct cs_str names[150];
    for (size_t i = 0; i < 150; i++)
        names[i] = CS_STR("name");
    const char *text = completed("n", names, 150);
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, "\"name\"")); at++)
        count++;
    assert_int_equal(count, 100);
    assert_contains(text, "\"total\":150,\"hasMore\":true");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(what_begins_so_comes_before_what_contains_it),
        CS_TEST(at_most_a_hundred_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"

#include "mcp/house.h"

/* "kind|first|second", or "none". */
static char *parts(const char *uri)
{
    static char text[2000];
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_house_uri u = {0};
    if (cs_house_uri(cs_str(uri), &arena, &u))
        snprintf(text, sizeof text, "%.*s|%.*s|%.*s", CS_STR_ARG(u.kind), CS_STR_ARG(u.first),
                 CS_STR_ARG(u.second));
    else
        snprintf(text, sizeof text, "none");
    return text;
}

static void a_uri_has_up_to_three_parts(void **state)
{
    (void)state;
    assert_string_equal(parts("caisson://tools/github/listCommits.ts"),
                        "tools|github|listCommits.ts");
    assert_string_equal(parts("caisson://tools/README.md"), "tools|README.md|");
    assert_string_equal(parts("caisson://executions/ex_1/logs"), "executions|ex_1|logs");
    assert_string_equal(parts("caisson://"), "||");
    assert_string_equal(parts("caisson://tools/a/"), "tools|a|");
}

static void what_is_encoded_is_decoded(void **state)
{
    (void)state;
    assert_string_equal(parts("caisson://tools/a%2Eb/%c3%a9.ts"), "tools|a.b|\u00e9.ts");
    assert_string_equal(parts("caisson://tools/%2"), "none");
    assert_string_equal(parts("caisson://tools/%"), "none");
    assert_string_equal(parts("caisson://tools/%zz/x"), "none");
}

static void what_is_not_ours_is_none(void **state)
{
    (void)state;
    assert_string_equal(parts("file:///etc/passwd"), "none");
    assert_string_equal(parts("caisson:/tools/a/b"), "none");
    assert_string_equal(parts("caisson://tools/a/b/c"), "none");
    assert_string_equal(parts("caisson://tools/../../etc/passwd"), "none");
    assert_string_equal(parts(""), "none");
    char longest[1200];
    memset(longest, 'a', sizeof longest);
    memcpy(longest, "caisson://", 10);
    longest[sizeof longest - 1] = '\0';
    assert_string_equal(parts(longest), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_uri_has_up_to_three_parts),
        CS_TEST(what_is_encoded_is_decoded),
        CS_TEST(what_is_not_ours_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Patterns mean what ECMA-262 says, not what PCRE2 would make of them. */
#include "test.h"

#include "schema/pattern.h"

static int match(const char *ecma, struct cs_str text, bool strict)
{
    struct cs_pattern p = {0};
    struct cs_err err = {0};
    if (cs_pattern_new(cs_str(ecma), strict, &p, &err) < 0) {
        assert_int_equal(err.code, CS_INVALID);
        assert_contains(err.msg, "the pattern cannot be used: ");
        return -1;
    }
    int64_t steps = 100000;
    struct cs_matcher m = {.steps = &steps};
    int hit = cs_matcher_run(&m, &p, text);
    assert_true(hit >= 0);
    cs_matcher_done(&m);
    cs_pattern_free(&p);
    return hit;
}

#define assert_match(ecma, text)    assert_int_equal(match(ecma, cs_str(text), true), 1)
#define assert_no_match(ecma, text) assert_int_equal(match(ecma, cs_str(text), true), 0)
#define assert_refused(ecma)        assert_int_equal(match(ecma, cs_str(""), true), -1)

static void anchors_and_lines(void **state)
{
    (void)state;
    assert_match("b", "abc");
    assert_match("^abc$", "abc");
    assert_no_match("^abc$", "abc\n");
    assert_no_match("^b", "a\nb");
    assert_no_match("^.$", "\n");
    assert_no_match("^.$", "\xE2\x80\xA8");
    assert_match("^.$", "\xF0\x9F\x90\xB2");
}

static void classes(void **state)
{
    (void)state;
    assert_match("^\\d+$", "019");
    assert_no_match("^\\d$", "\xD9\xA3");
    assert_no_match("^\\w$", "\xC3\xA9");
    assert_match("^\\W$", "\xC3\xA9");
    assert_match("^\\s$", "\xC2\xA0");
    assert_match("^\\s$", "\xEF\xBB\xBF");
    assert_no_match("^\\S$", "\xE2\x80\x83");
    assert_match("^[\\s\\d]+$", "1 \xE3\x80\x80");
    assert_match("^[\\S]$", "\xC3\xA9");
    assert_no_match("^[\\S]$", "\xE3\x80\x80");
    assert_match("^[\\w-.]+$", "a-.");
    assert_match("^[\\s-x]+$", "- x");
    assert_match("^[[a]+$", "[a");
    assert_match("^[:alpha:]+$", "alpha:");
    assert_match("^[^]$", "x");
    assert_no_match("[]", "x");
    assert_match("^[\\b]$", "\b");
    assert_match("^[a-z&&b]+$", "a&b");
}

static void escapes(void **state)
{
    (void)state;
    assert_match("^\\u00e9$", "\xC3\xA9");
    assert_match("^\\u{1F432}$", "\xF0\x9F\x90\xB2");
    assert_match("^\\ud83d\\udc32+$", "\xF0\x9F\x90\xB2\xF0\x9F\x90\xB2");
    assert_match("^\\x41$", "A");
    assert_match("^\\cC$", "\x03");
    assert_match("^\\cc$", "\x03");
    assert_match("^\\v$", "\x0B");
    assert_no_match("^\\v$", "\n");
    assert_match("^\\/\\-\\.$", "/-.");
    assert_int_equal(match("^\\0$", CS_STR("\0"), true), 1);
    assert_refused("\\u12");
    assert_refused("\\u{110000}");
    assert_refused("\\a");
    assert_refused("\\Z");
    assert_refused("abc\\");
}

static void properties(void **state)
{
    (void)state;
    assert_match("^\\p{Letter}$", "\xC3\xA9");
    assert_match("^\\p{L}$", "\xC3\xA9");
    assert_match("^\\p{gc=Lowercase_Letter}$", "\xC3\xA9");
    assert_no_match("^\\P{General_Category=Letter}$", "\xC3\xA9");
    assert_match("^[\\p{Lu}\\p{Nd}]+$", "\xC3\x89\xD9\xA3");
    assert_match("^\\p{Script=Greek}+$", "\xCE\xB1\xCE\xB2");
    assert_match("^\\p{digit}$", "\xD9\xA3");
    assert_refused("\\pL");
    assert_refused("\\p{Nonsense}");
    assert_refused("\\p{L");
}

static void groups(void **state)
{
    (void)state;
    assert_match("^(?:a|b)+$", "abba");
    assert_match("^(?<x>a)\\k<x>$", "aa");
    assert_match("^(a)\\1$", "aa");
    assert_match("^(a)?\\1b$", "b");
    assert_match("^(?=a)a(?!b)", "ac");
    assert_match("(?<=a)b(?<!c)", "ab");
    assert_match("^a{2,3}$", "aaa");
    assert_match("^a{,3}$", "a{,3}");
    assert_match("^x{$", "x{");
    assert_refused("(");
    assert_refused("a**");
    assert_refused("[a");
    assert_refused("[b-a]");
}

/* Orders that PCRE2 would follow, and ECMA-262 does not have. */
static void nothing_of_another_language_passes(void **state)
{
    (void)state;
    assert_refused("(*LIMIT_MATCH=1)a");
    assert_refused("(?R)");
    assert_refused("(a)(?1)");
    assert_refused("(?&x)(?<x>a)");
    assert_refused("(?(1)a|b)");
    assert_refused("(?C1)a");
    assert_refused("(?P<x>a)");
    assert_int_equal(match("(?R)", CS_STR("a"), false), -1);
    assert_int_equal(match("(*UTF)", CS_STR("a"), false), -1);
}

/* What servers in Python write. */
static void some_of_it_is_understood_where_it_does_no_harm(void **state)
{
    (void)state;
    assert_int_equal(match("\\Aabc\\Z", CS_STR("abc"), false), 1);
    assert_int_equal(match("\\Aabc\\Z", CS_STR("abc\n"), false), 0);
    assert_int_equal(match("^(?P<x>a)$", CS_STR("a"), false), 1);
    assert_int_equal(match("(?i)^abc$", CS_STR("ABC"), false), 1);
    assert_int_equal(match("^\\_$", CS_STR("_"), false), 1);
}

static void a_match_pays(void **state)
{
    (void)state;
    struct cs_pattern p = {0};
    assert_int_equal(cs_pattern_new(CS_STR("^(a+)+$"), false, &p, NULL), 0);
    int64_t steps = 1000;
    struct cs_matcher m = {.steps = &steps};
    assert_int_equal(cs_matcher_run(&m, &p, CS_STR("aaa")), 1);
    assert_true(steps > 900 && steps < 1000);
    assert_int_equal(cs_matcher_run(&m, &p, CS_STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaa!")), -1);
    assert_true(steps < 0);
    cs_matcher_done(&m);
    cs_pattern_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(anchors_and_lines),
        CS_TEST(classes),
        CS_TEST(escapes),
        CS_TEST(properties),
        CS_TEST(groups),
        CS_TEST(nothing_of_another_language_passes),
        CS_TEST(some_of_it_is_understood_where_it_does_no_harm),
        CS_TEST(a_match_pays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"

#include "schema/near.h"
#include "schema/uri.h"

/* The examples of RFC 3986, section 5.4, and a few of ours. */
static void references_are_resolved(void **state)
{
    (void)state;
    static const struct {
        const char *base, *ref, *target;
    } cases[] = {
        {"http://a/b/c/d;p?q", "g:h", "g:h"},
        {"http://a/b/c/d;p?q", "g", "http://a/b/c/g"},
        {"http://a/b/c/d;p?q", "./g", "http://a/b/c/g"},
        {"http://a/b/c/d;p?q", "g/", "http://a/b/c/g/"},
        {"http://a/b/c/d;p?q", "/g", "http://a/g"},
        {"http://a/b/c/d;p?q", "//g", "http://g"},
        {"http://a/b/c/d;p?q", "?y", "http://a/b/c/d;p?y"},
        {"http://a/b/c/d;p?q", "g?y", "http://a/b/c/g?y"},
        {"http://a/b/c/d;p?q", "", "http://a/b/c/d;p?q"},
        {"http://a/b/c/d;p?q", ".", "http://a/b/c/"},
        {"http://a/b/c/d;p?q", "..", "http://a/b/"},
        {"http://a/b/c/d;p?q", "../g", "http://a/b/g"},
        {"http://a/b/c/d;p?q", "../../g", "http://a/g"},
        {"http://a/b/c/d;p?q", "../../../g", "http://a/g"},
        {"http://a/b/c/d;p?q", "/./g", "http://a/g"},
        {"http://a/b/c/d;p?q", "/../g", "http://a/g"},
        {"http://a/b/c/d;p?q", "g/./h", "http://a/b/c/g/h"},
        {"http://a/b/c/d;p?q", "g/../h", "http://a/b/c/h"},
        {"http://a", "g", "http://a/g"},
        {"", "a/b.json", "a/b.json"},
        {"a/b.json", "c.json", "a/c.json"},
        {"urn:uuid:1234", "", "urn:uuid:1234"},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        CS_AUTO_BUF struct cs_buf out = {0};
        cs_uri_resolve(cs_str(cases[i].base), cs_str(cases[i].ref), &out);
        assert_str_is(cs_buf_str(&out), cases[i].target);
    }
}

static void fragments_are_cut_and_decoded(void **state)
{
    (void)state;
    struct cs_str uri = CS_STR("http://a/b#/c%25d%7E%");
    struct cs_str fragment = cs_uri_cut_fragment(&uri);
    assert_str_is(uri, "http://a/b");
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_uri_decode(fragment, &out);
    assert_str_is(cs_buf_str(&out), "/c%d~%");
    assert_null(cs_uri_cut_fragment(&uri).at);
}

static int near(const char *a, const char *b)
{
    int d = cs_near(cs_str(a), cs_str(b));
    assert_int_equal(cs_near(cs_str(b), cs_str(a)), d);
    return d;
}

static void names_are_near_or_not(void **state)
{
    (void)state;
    assert_int_equal(near("userId", "user_id"), 0);
    assert_int_equal(near("USER-ID", "user_id"), 0);
    assert_true(near("repsoitory", "repository") < near("repo", "repository"));
    assert_true(near("label", "labels") < near("la", "labels"));
    assert_true(near("id", "issue_id") < NEAR_NOT);
    assert_true(near("q", "query") < NEAR_NOT);
    assert_int_equal(near("zebra", "query"), NEAR_NOT);
    assert_int_equal(near("ab", "cd"), NEAR_NOT);
    assert_int_equal(near("", "a"), NEAR_NOT);
    assert_int_equal(near("_", "a"), NEAR_NOT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(references_are_resolved),
        CS_TEST(fragments_are_cut_and_decoded),
        CS_TEST(names_are_near_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

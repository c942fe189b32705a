#include "test.h"

#include "http/decode.h"

struct target {
    const char *raw, *path;
    const char *q; /* the value of q; NULL: it is not there */
};

static void a_target_is_split_and_decoded_once(void **state)
{
    (void)state;
    static const struct target rows[] = {
        {"/", "/", NULL},
        {"/a/b", "/a/b", NULL},
        {"/a%20b%2Fc", "/a b/c", NULL},
        {"/%2541", "/%41", NULL},
        {"/+", "/+", NULL},
        {"/%C3%BC\xC3\xBC", "/\xC3\xBC\xC3\xBC", NULL},
        {"*", "*", NULL},
        {"/a?", "/a", NULL},
        {"/a?q", "/a", ""},
        {"/a?q=", "/a", ""},
        {"/a?q=1&q=2", "/a", "1"},
        {"/a?x=1&&=&q=a+b%2B%26%3d", "/a", "a b+&="},
        {"/a?q=a=b?c", "/a", "a=b?c"},
        {"/a?Q=1", "/a", NULL},
        {"/a?%71=z", "/a", "z"},
        {"/a?q=100%", "/a", "100%"},
        {"/a?q=%zz%4", "/a", "%zz%4"},
        {"/a?xq=1", "/a", NULL},
        {"http://h/p?q=1", "/p", "1"},
        {"HTTPS://h:80/p", "/p", NULL},
        {"http://h", "/", NULL},
        {"http://h?q=1", "/", "1"},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_BUF struct cs_buf path = {0}, query = {0};
        const char *wrong = cs_http_target(cs_str(rows[i].raw), &path, &query);
        if (wrong)
            fail_msg("%s: %s", rows[i].raw, wrong);
        assert_str_is(cs_buf_str(&path), rows[i].path);
        struct cs_str q = cs_http_pair(cs_buf_str(&query), "q");
        if (rows[i].q)
            assert_str_is(q, rows[i].q);
        assert_int_equal(q.at == NULL, rows[i].q == NULL);
    }
}

static void a_target_that_could_be_read_in_two_ways_is_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",        "a",          "a:80",           "/%00",    "/%0a",
        "/\x01",   "/\x7F",      "/%7F",           "/%",      "/%4",
        "/%4g",    "/%C3",       "/%C3%28",        "/%C0%AF", "/\xFF",
        "/%FF",    "/a#b",       "/a?b#c",         "/?q=%00", "/?%00=1",
        "/?q=%FF", "/?\xFF",     "?q=1",           "*?q=%FF", "ftp://h/",
        "http:/h", "/%ED%A0%80", "//%F5%80%80%80", "**",      "http://h/%zz",
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_BUF struct cs_buf path = {0}, query = {0};
        if (!cs_http_target(cs_str(rows[i]), &path, &query))
            fail_msg("'%s' was taken for '%.*s'", rows[i], CS_STR_ARG(path));
    }
    CS_AUTO_BUF struct cs_buf path = {0}, query = {0};
    assert_non_null(cs_http_target(CS_STR("/a\0b"), &path, &query));
}

static void accept_encoding_is_understood(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        bool takes;
    } rows[] = {
        {"gzip", true},
        {"x-gzip", true},
        {"deflate, gzip", true},
        {"GZIP ; Q=0.001", true},
        {"*", true},
        {"br;q=1,*;q=0.1", true},
        {"gzip;q=1;x=0", true},
        {"gzip;q=0", false},
        {"gzip; q=0.000", false},
        {"gzip;q=0, *", false},
        {"*, gzip;q=0", false},
        {"*;q=0", false},
        {"identity", false},
        {"gzipped", false},
        {"", false},
        {",,;", false},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++)
        if (cs_http_takes_gzip(cs_str(rows[i].accept)) != rows[i].takes)
            fail_msg("'%s'", rows[i].accept);
    assert_false(cs_http_takes_gzip(cs_strn(NULL, 0)));
}

static void texts_are_worth_to_compress(void **state)
{
    (void)state;
    assert_true(cs_http_is_texty(CS_STR("text/html; charset=utf-8")));
    assert_true(cs_http_is_texty(CS_STR("application/json")));
    assert_true(cs_http_is_texty(CS_STR("application/problem+json")));
    assert_true(cs_http_is_texty(CS_STR("image/svg+xml")));
    assert_false(cs_http_is_texty(CS_STR("image/png")));
    assert_false(cs_http_is_texty(CS_STR("application/zip;x=json")));
}

static void numbers_are_digits_and_fit(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "0x1",
                                      "1e3",
                                      "1,1",
                                      "9223372036854775808",
                                      "18446744073709551616"};
    uint64_t n = 0;
    for (size_t i = 0; i < CS_COUNT(bad); i++)
        assert_false(cs_http_number(cs_str(bad[i]), &n));
    assert_true(cs_http_number(CS_STR("9223372036854775807"), &n));
    assert_true(n == INT64_MAX);
    assert_true(cs_http_number(CS_STR("007"), &n));
    assert_int_equal(n, 7);
}

static void names_and_values_of_headers_are_plain(void **state)
{
    (void)state;
    assert_true(cs_http_is_token(CS_STR("X-Test_1.2!")));
    assert_false(cs_http_is_token(CS_STR("")));
    assert_false(cs_http_is_token(CS_STR("a b")));
    assert_false(cs_http_is_token(CS_STR("a\r\n")));
    assert_false(cs_http_is_token(CS_STR("a\0b")));
    assert_false(cs_http_is_token(CS_STR("\xC3\xBC")));
    assert_true(cs_http_is_value(CS_STR("a\tb \xC3\xBC")));
    assert_false(cs_http_is_value(CS_STR("a\nb")));
    assert_false(cs_http_is_value(CS_STR("a\x7F")));
    assert_str_is(cs_http_trim(CS_STR(" \t a b\t ")), "a b");
    assert_str_is(cs_http_trim(CS_STR(" \t ")), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_target_is_split_and_decoded_once),
        CS_TEST(a_target_that_could_be_read_in_two_ways_is_refused),
        CS_TEST(accept_encoding_is_understood),
        CS_TEST(texts_are_worth_to_compress),
        CS_TEST(numbers_are_digits_and_fit),
        CS_TEST(names_and_values_of_headers_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"

#include "tools/url.h"

static void an_address_is_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text, *origin, *path, *query;
    } rows[] = {
        {"http://localhost:3000/mcp", "http://localhost:3000", "/mcp", ""},
        {"HTTPS://API.Example.com/a/b?c=d#e", "https://api.example.com", "/a/b", "?c=d"},
        {"https://x:443", "https://x", "", ""},
        {"http://x:80/", "http://x", "/", ""},
        {"https://x:80/", "https://x:80", "/", ""},
        {"http://[::1]:8080/mcp", "http://[::1]:8080", "/mcp", ""},
        {"http://[2001:db8::1]", "http://[2001:db8::1]", "", ""},
        {"https://h?q=/x", "https://h", "", "?q=/x"},
        {"https://h#/x", "https://h", "", ""},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        struct cs_url u;
        CS_AUTO_BUF struct cs_buf origin = {0};
        assert_int_equal(cs_url_parse(cs_str(rows[i].text), &u, NULL), 0);
        cs_url_origin(&u, &origin);
        assert_string_equal(cs_buf_cstr(&origin), rows[i].origin);
        assert_true(cs_str_is(u.path, rows[i].path));
        assert_true(cs_str_is(u.query, rows[i].query));
    }
}

static void what_is_no_plain_address_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "http://",
        "ftp://x/",
        "//x/",
        "javascript:alert(1)",
        "https:/x",
        "https://user@host/",
        "https://user:pass@host/",
        "https://a\\b/",
        "https://a b/",
        "https://a/\r\nX: y",
        "https://a/\x01",
        "https://\xC3\xA4/",
        "https://x:0/",
        "https://x:65536/",
        "https://x:8080x/",
        "https://x:/",
        "https://[::1/",
        "https://[x]/",
        "https://:80/",
        "https://a%41/",
        "https://a,b/",
    };
    for (size_t i = 0; i < CS_COUNT(texts); i++) {
        struct cs_url u;
        struct cs_err err = {0};
        assert_int_equal(cs_url_parse(cs_str(texts[i]), &u, &err), -1);
        assert_int_not_equal(err.code, CS_OK);
    }
}

static void loopback_is_only_this_machine(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool loopback;
    } rows[] = {{"http://localhost/", true},
                {"http://LOCALHOST:1/", true},
                {"http://127.0.0.1/", true},
                {"http://127.1.2.3:9/", true},
                {"http://[::1]/", true},
                {"http://127.0.0.1.evil.com/", false},
                {"http://localhost.evil/", false},
                {"http://10.0.0.1/", false},
                {"http://127.evil.com.x/", false},
                {"http://128.0.0.1/", false},
                {"http://[::ffff:1.2.3.4]/", false}};
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        struct cs_url u;
        assert_int_equal(cs_url_parse(cs_str(rows[i].text), &u, NULL), 0);
        assert_int_equal(cs_url_loopback(&u), rows[i].loopback);
    }
}

static void origins_differ_by_scheme_host_and_port(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"https://x/a", "https://X:443/b", true}, {"https://x/", "http://x/", false},
        {"https://x/", "https://x:444/", false},  {"https://x/", "https://y/", false},
        {"https://x/", "https://x.y/", false},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        struct cs_url a, b;
        assert_int_equal(cs_url_parse(cs_str(rows[i].a), &a, NULL), 0);
        assert_int_equal(cs_url_parse(cs_str(rows[i].b), &b, NULL), 0);
        assert_int_equal(cs_url_same_origin(&a, &b), rows[i].same);
    }
}

static void parameters_survive_encoding(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf query = {0};
    CS_AUTO_BUF struct cs_buf back = {0};
    const char *hard = "a b&c=d%20+\xC3\xA4?/#~";
    cs_buf_puts(&query, "?x=1&code=");
    cs_url_encode(cs_str(hard), &query);
    cs_buf_puts(&query, "&state=s");
    assert_true(cs_url_param(cs_buf_str(&query), "code", &back));
    assert_string_equal(cs_buf_cstr(&back), hard);
    cs_buf_clear(&back);
    assert_true(cs_url_param(CS_STR("?a&b=%zz%4&c=x+y"), "b", &back));
    assert_string_equal(cs_buf_cstr(&back), "%zz%4");
    cs_buf_clear(&back);
    assert_true(cs_url_param(CS_STR("?a&b=%zz%4&c=x+y"), "c", &back));
    assert_string_equal(cs_buf_cstr(&back), "x y");
    assert_false(cs_url_param(CS_STR("?ab=1"), "a", &back));
    assert_false(cs_url_param(CS_STR(""), "a", &back));
}

static void an_address_is_shown_without_its_query(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf shown = {0};
    cs_url_show(CS_STR("https://x/a?key=secret"), &shown);
    assert_string_equal(cs_buf_cstr(&shown), "https://x/a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_taken_apart),
        cmocka_unit_test(what_is_no_plain_address_is_refused),
        cmocka_unit_test(loopback_is_only_this_machine),
        cmocka_unit_test(origins_differ_by_scheme_host_and_port),
        cmocka_unit_test(parameters_survive_encoding),
        cmocka_unit_test(an_address_is_shown_without_its_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"

#include "tools/headers.h"

#include "base/buf.h"
#include "tools/secret.h"

static void only_what_is_not_plain_is_encoded(void **state)
{
    (void)state;
    static const struct {
        const char *value, *line;
    } rows[] = {
        {"us-west1", "N: us-west1"},
        {"us west 1", "N: us west 1"},
        {"", "N;"},
        {" padded ", "N: =?base64?IHBhZGRlZCA=?="},
        {"tab\t", "N: =?base64?dGFiCQ==?="},
        {"a\r\nX: y", "N: =?base64?YQ0KWDogeQ==?="},
        {"\xE4\xB8\x96", "N: =?base64?5LiW?="},
        {"=?base64?YQ==?=", "N: =?base64?PT9iYXNlNjQ/WVE9PT89?="},
        {"=?base64?", "N: =?base64?"},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        struct cs_headers h = {0};
        cs_headers_add_encoded(&h, "N", cs_str(rows[i].value));
        assert_int_equal(h.count, 1);
        assert_string_equal(h.line[0], rows[i].line);
        cs_headers_done(&h);
    }
}

static void a_header_cannot_bring_another(void **state)
{
    (void)state;
    struct cs_headers h = {0};
    cs_headers_add(&h, "A", CS_STR("b\r\nC: d"));
    cs_headers_add(&h, "A", CS_STR("b\nc"));
    cs_headers_add(&h, "A\r\nB", CS_STR("c"));
    cs_headers_add(&h, "A B", CS_STR("c"));
    cs_headers_add(&h, "", CS_STR("c"));
    cs_headers_add(&h, "A", CS_STR("b\0c"));
    assert_int_equal(h.count, 0);
    for (unsigned i = 0; i < 2 * CS_HEADERS_MAX; i++)
        cs_headers_add(&h, "A", CS_STR("b"));
    assert_int_equal(h.count, CS_HEADERS_MAX);
    assert_null(h.line[CS_HEADERS_MAX]);
    cs_headers_done(&h);
}

static void an_entry_does_not_speak_for_the_protocol(void **state)
{
    (void)state;
    const struct cs_pair pairs[] = {
        {"X-Key", "1"},       {"content-type", "text/plain"}, {"Mcp-Session-ID", "stolen"},
        {"mcp-param-x", "y"}, {"Authorization", "Bearer t"},  {NULL, NULL}};
    struct cs_headers h = {0};
    cs_headers_add_entry(&h, pairs);
    assert_int_equal(h.count, 2);
    assert_string_equal(h.line[0], "X-Key: 1");
    assert_string_equal(h.line[1], "Authorization: Bearer t");
    assert_true(cs_headers_in_entry(pairs, "authorization"));
    assert_false(cs_headers_in_entry(pairs, "cookie"));
    cs_headers_done(&h);
}

static void an_entry_with_an_impossible_header_is_refused_by_name(void **state)
{
    (void)state;
    const struct cs_pair breaks[] = {{"X-Key", "a\nb"}, {NULL, NULL}};
    const struct cs_pair spaced[] = {{"X Key", "a"}, {NULL, NULL}};
    struct cs_err err = {0};
    assert_int_equal(cs_headers_check_entry(breaks, &err), -1);
    assert_non_null(strstr(err.msg, "X-Key"));
    assert_int_equal(cs_headers_check_entry(spaced, &err), -1);
    assert_non_null(strstr(err.msg, "X Key"));
    assert_int_equal(cs_headers_check_entry(NULL, &err), 0);
}

static void a_response_is_known_by_its_keys(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        bool response;
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", true},
        {"{\"result\":{\"method\":\"x\"},\"jsonrpc\":\"2.0\",\"id\":1}", true},
        {" {\n\"id\" : \"a\\\"}\" , \"error\" : {}}", true},
        {"{\"x\":[1,{\"a\":\"]}\"},2],\"result\":1}", true},
        {"{\"method\":\"ping\",\"id\":1}", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":{\"result\":1}}", false},
        {"{\"params\":{\"result\":1,\"error\":2},\"method\":\"m\"}", false},
        {"[{\"result\":1}]", false},
        {"\"result\"", false},
        {"{", false},
        {"{\"result", false},
        {"{\"a\":", false},
        {"{\"a\\", false},
        {"{}", false},
        {"", false},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++)
        assert_int_equal(cs_is_response(cs_str(rows[i].json)), rows[i].response);
}

static void an_error_body_is_told_from_others(void **state)
{
    (void)state;
    assert_true(
        cs_is_rpc_error(CS_STR("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32020,"
                               "\"message\":\"m\"}}")));
    assert_false(cs_is_rpc_error(CS_STR("{\"error\":\"invalid_token\"}")));
    assert_false(cs_is_rpc_error(CS_STR("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":\"x\"}}")));
    assert_false(cs_is_rpc_error(CS_STR("<html>")));
    char text[208];
    cs_body_text(CS_STR("{\"error\":{\"message\":\"no\\nway\"}}"), text, sizeof text);
    assert_string_equal(text, "no way");
    cs_body_text(CS_STR("{\"error\":\"invalid_token\",\"error_description\":\"old\"}"), text,
                 sizeof text);
    assert_string_equal(text, "old");
    cs_body_text(CS_STR("  gone \x01\x1b[31m\n"), text, sizeof text);
    assert_string_equal(text, "gone [31m");
}

static void the_challenge_of_rfc_7636_comes_out(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_pkce_challenge(CS_STR("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"), &out);
    assert_string_equal(cs_buf_cstr(&out), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    CS_AUTO_BUF struct cs_buf a = {0};
    CS_AUTO_BUF struct cs_buf b = {0};
    assert_int_equal(cs_random_text(&a, NULL), 0);
    assert_int_equal(cs_random_text(&b, NULL), 0);
    assert_int_equal(a.len, 43);
    assert_false(cs_secret_eq(cs_buf_str(&a), cs_buf_str(&b)));
    assert_true(cs_secret_eq(cs_buf_str(&a), cs_buf_str(&a)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_not_plain_is_encoded),
        cmocka_unit_test(a_header_cannot_bring_another),
        cmocka_unit_test(an_entry_does_not_speak_for_the_protocol),
        cmocka_unit_test(an_entry_with_an_impossible_header_is_refused_by_name),
        cmocka_unit_test(a_response_is_known_by_its_keys),
        cmocka_unit_test(an_error_body_is_told_from_others),
        cmocka_unit_test(the_challenge_of_rfc_7636_comes_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

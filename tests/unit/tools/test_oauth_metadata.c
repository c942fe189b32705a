#include "test.h"

#include "tools/metadata.h"

#define SERVER "https://mcp.example.com/v1/mcp"

static void same(const char *got, const char *wanted)
{
    if (!wanted)
        assert_null(got);
    else
        assert_string_equal(got ? got : "(none)", wanted);
}

static void a_challenge_gives_its_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *header, *metadata, *scope, *error;
    } rows[] = {
        {"Bearer resource_metadata=\"https://a/b\", scope=\"x y\"", "https://a/b", "x y", NULL},
        {"bearer error=insufficient_scope,scope=a", NULL, "a", "insufficient_scope"},
        {"Bearer", NULL, NULL, NULL},
        {"", NULL, NULL, NULL},
        {"Basic realm=\"x\", scope=\"no\"", NULL, NULL, NULL},
        {"Basic realm=\"x, Bearer scope=\\\"y\\\"\", Bearer scope=\"z\"", NULL, "z", NULL},
        {"Bearer scope=\"first\", Basic realm=\"r\", scope=\"second\"", NULL, "first", NULL},
        {"Bearer scope = \"spaced\" , error= \"e\"", NULL, "spaced", "e"},
        {"Bearer scope=\"quo\\\"ted\"", NULL, "quo\"ted", NULL},
        {"Bearer scope=\"open", NULL, "open", NULL},
        {"Bearer scope=a, scope=b", NULL, "a", NULL},
        {"Negotiate abc==, Bearer error=\"e\"", NULL, NULL, "e"},
        {"Bearer ,,,= = scope=\"s\"", NULL, "s", NULL},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_ARENA struct cs_arena arena = {0};
        struct cs_challenge c;
        cs_challenge_parse(cs_str(rows[i].header), &arena, &c);
        same(c.resource_metadata, rows[i].metadata);
        same(c.scope, rows[i].scope);
        same(c.error, rows[i].error);
    }
}

static void metadata_is_looked_for_in_the_order_of_the_specification(void **state)
{
    (void)state;
    CS_AUTO_ARENA struct cs_arena a = {0};
    const char *r[2], *i[3];
    assert_int_equal(cs_resource_meta_urls(SERVER, &a, r), 2);
    same(r[0], "https://mcp.example.com/.well-known/oauth-protected-resource/v1/mcp");
    same(r[1], "https://mcp.example.com/.well-known/oauth-protected-resource");
    assert_int_equal(cs_resource_meta_urls("https://x/", &a, r), 1);
    same(r[0], "https://x/.well-known/oauth-protected-resource");
    assert_int_equal(cs_issuer_meta_urls("https://as/t1", &a, i), 3);
    same(i[0], "https://as/.well-known/oauth-authorization-server/t1");
    same(i[1], "https://as/.well-known/openid-configuration/t1");
    same(i[2], "https://as/t1/.well-known/openid-configuration");
    assert_int_equal(cs_issuer_meta_urls("https://as", &a, i), 2);
    same(i[0], "https://as/.well-known/oauth-authorization-server");
    same(i[1], "https://as/.well-known/openid-configuration");
}

static void a_resource_must_be_the_server_or_above_it(void **state)
{
    (void)state;
    static const struct {
        const char *resource;
        bool good;
    } rows[] = {
        {"https://mcp.example.com/v1/mcp", true},   {"https://mcp.example.com/v1/mcp/", true},
        {"https://mcp.example.com/v1", true},       {"https://mcp.example.com", true},
        {"https://mcp.example.com/", true},         {"https://mcp.example.com/v1/mc", false},
        {"https://mcp.example.com/v1/mcp2", false}, {"https://mcp.example.com/v1/mcp/x", false},
        {"http://mcp.example.com/v1/mcp", false},   {"https://evil.com/v1/mcp", false},
        {"https://mcp.example.com:8443/v1", false}, {"mcp.example.com", false},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_ARENA struct cs_arena a = {0};
        CS_AUTO_BUF struct cs_buf json = {0};
        struct cs_resource_meta m;
        struct cs_err err = {0};
        cs_buf_printf(&json, "{\"resource\":\"%s\",\"authorization_servers\":[\"https://as\"]}",
                      rows[i].resource);
        int status = cs_resource_meta_parse(cs_buf_str(&json), SERVER, &a, &m, &err);
        assert_int_equal(status, rows[i].good ? 0 : -1);
        if (!rows[i].good)
            assert_int_equal(err.code, CS_DENIED);
    }
}

static void resource_metadata_gives_issuers_and_scopes(void **state)
{
    (void)state;
    CS_AUTO_ARENA struct cs_arena a = {0};
    struct cs_resource_meta m;
    struct cs_err err = {0};
    assert_int_equal(
        cs_resource_meta_parse(CS_STR("{\"resource\":\"" SERVER "\",\"scopes_supported\":[\"a\",3,"
                                      "\"b c\",\"d\"],\"authorization_servers\":[7,\"not a url\","
                                      "\"https://as/x\"]}"),
                               SERVER, &a, &m, &err),
        0);
    assert_int_equal(m.count, 1);
    same(m.issuers[0], "https://as/x");
    same(m.scopes, "a d");
    static const char *const bad[] = {"[]", "{", "{}", "{\"resource\":\"" SERVER "\"}",
                                      "{\"resource\":\"" SERVER "\",\"authorization_servers\":[]}"};
    for (size_t i = 0; i < CS_COUNT(bad); i++)
        assert_int_equal(cs_resource_meta_parse(cs_str(bad[i]), SERVER, &a, &m, &err), -1);
}

static void an_issuer_must_call_itself_what_it_was_called(void **state)
{
    (void)state;
    static const struct {
        const char *asked, *says;
        bool good;
    } rows[] = {
        {"https://as/t", "https://as/t", true}, {"https://as", "https://as/", true},
        {"https://as/", "https://as", true},    {"https://as/t", "https://as/t/", false},
        {"https://as/t", "https://as", false},  {"https://as", "https://AS", false},
        {"https://as", "https://evil", false},  {"https://as", "http://as", false},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_ARENA struct cs_arena a = {0};
        CS_AUTO_BUF struct cs_buf json = {0};
        struct cs_issuer_meta m;
        struct cs_err err = {0};
        cs_buf_printf(&json, "{\"issuer\":\"%s\",\"token_endpoint\":\"https://as/token\"}",
                      rows[i].says);
        int status = cs_issuer_meta_parse(cs_buf_str(&json), rows[i].asked, &a, &m, &err);
        assert_int_equal(status, rows[i].good ? 0 : -1);
        if (!rows[i].good)
            assert_int_equal(err.code, CS_DENIED);
    }
}

static void issuer_metadata_is_read(void **state)
{
    (void)state;
    CS_AUTO_ARENA struct cs_arena a = {0};
    struct cs_issuer_meta m;
    assert_int_equal(
        cs_issuer_meta_parse(
            CS_STR("{\"issuer\":\"https://as\",\"authorization_endpoint\":\"https://as/a\","
                   "\"token_endpoint\":\"https://as/t\",\"registration_endpoint\":\"https://as/r\","
                   "\"code_challenge_methods_supported\":[\"plain\",\"S256\"],"
                   "\"token_endpoint_auth_methods_supported\":[\"client_secret_post\",\"x\"],"
                   "\"authorization_response_iss_parameter_supported\":true,"
                   "\"client_id_metadata_document_supported\":true,"
                   "\"grant_types_supported\":[\"client_credentials\"],"
                   "\"scopes_supported\":[\"offline_access\"]}"),
            "https://as", &a, &m, NULL),
        0);
    same(m.registration, "https://as/r");
    assert_true(m.s256 && m.sends_iss && m.client_documents && m.client_credentials);
    assert_int_equal(m.auth_methods, CS_AUTH_POST);
    same(m.scopes, "offline_access");
    assert_int_equal(cs_issuer_meta_parse(CS_STR("{\"issuer\":\"https://as\",\"token_endpoint\":"
                                                 "\"https://as/t\",\"code_challenge_methods_"
                                                 "supported\":[\"plain\"]}"),
                                          "https://as", &a, &m, NULL),
                     0);
    assert_false(m.s256 || m.sends_iss || m.client_documents || m.client_credentials);
    same(m.authorization, NULL);
}

static void tokens_are_read(void **state)
{
    (void)state;
    CS_AUTO_ARENA struct cs_arena a = {0};
    struct cs_tokens t;
    struct cs_err err = {0};
    assert_int_equal(cs_tokens_parse(CS_STR("{\"access_token\":\"x\",\"token_type\":\"bearer\","
                                            "\"expires_in\":3600.5,\"refresh_token\":\"r\"}"),
                                     &a, &t, &err),
                     0);
    same(t.access, "x");
    same(t.refresh, "r");
    same(t.scope, NULL);
    assert_int_equal(t.expires_in, 3600);
    assert_int_equal(
        cs_tokens_parse(CS_STR("{\"access_token\":\"x\",\"expires_in\":1e300}"), &a, &t, &err), 0);
    assert_true(t.expires_in > 0);
    static const char *const bad[] = {"{}",
                                      "{\"access_token\":\"\"}",
                                      "{\"access_token\":\"a\\r\\nX: y\"}",
                                      "{\"access_token\":\"x\",\"token_type\":\"DPoP\"}",
                                      "{\"access_token\":\"a\\u0000b\"}",
                                      "[\"access_token\"]"};
    for (size_t i = 0; i < CS_COUNT(bad); i++)
        assert_int_equal(cs_tokens_parse(cs_str(bad[i]), &a, &t, &err), -1);
}

static void an_endpoint_is_https_or_on_this_machine(void **state)
{
    (void)state;
    static const struct {
        const char *url, *server;
        bool good;
    } rows[] = {
        {"https://as/token", SERVER, true},
        {"http://as/token", SERVER, false},
        {"http://localhost:1/token", SERVER, false},
        {"http://localhost:1/token", "http://127.0.0.1:2/mcp", true},
        {"http://169.254.169.254/", "http://127.0.0.1:2/mcp", false},
        {"file:///etc/passwd", "http://127.0.0.1:2/mcp", false},
        {NULL, SERVER, false},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        struct cs_err err = {0};
        assert_int_equal(cs_endpoint_check(rows[i].url, rows[i].server, "token endpoint", &err),
                         rows[i].good ? 0 : -1);
        if (!rows[i].good)
            assert_non_null(strstr(err.msg, "token endpoint"));
    }
}

static void scopes_are_united_without_repeats(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_scope_add(&b, "a b");
    cs_scope_add(&b, "b  c a");
    cs_scope_add(&b, NULL);
    cs_scope_add(&b, "ab");
    same(cs_buf_cstr(&b), "a b c ab");
    assert_false(cs_scope_has("abc", CS_STR("ab")));
    assert_true(cs_scope_has("x abc", CS_STR("abc")));
}

static void an_oauth_error_tells_its_story(void **state)
{
    (void)state;
    char code[64];
    struct cs_err err = {0};
    cs_oauth_error(CS_STR("{\"error\":\"invalid_grant\",\"error_description\":\"expired\"}"), 400,
                   code, &err);
    same(code, "invalid_grant");
    assert_non_null(strstr(err.msg, "expired"));
    cs_oauth_error(CS_STR("<html>"), 502, code, &err);
    same(code, "");
    assert_non_null(strstr(err.msg, "502"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_challenge_gives_its_parameters),
        cmocka_unit_test(metadata_is_looked_for_in_the_order_of_the_specification),
        cmocka_unit_test(a_resource_must_be_the_server_or_above_it),
        cmocka_unit_test(resource_metadata_gives_issuers_and_scopes),
        cmocka_unit_test(an_issuer_must_call_itself_what_it_was_called),
        cmocka_unit_test(issuer_metadata_is_read),
        cmocka_unit_test(tokens_are_read),
        cmocka_unit_test(an_endpoint_is_https_or_on_this_machine),
        cmocka_unit_test(scopes_are_united_without_repeats),
        cmocka_unit_test(an_oauth_error_tells_its_story),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"

#include "mcp/proto.h"

static const unsigned char key[32] = "an arbitrary key of 32 bytes....";
static const struct cs_caller ada = {.principal = "ada", .tenant = "a"};

static void digest(const struct cs_caller *caller, const char *method, const char *json,
                   unsigned char out[32])
{
    CS_AUTO_JSON struct cs_json doc = {0};
    assert_int_equal(cs_json_parse(cs_str(json), NULL, &doc, NULL), 0);
    cs_seal_digest(caller, cs_str(method), cs_json_root(&doc), out);
}

static void a_seal_comes_back_as_it_was(void **state)
{
    (void)state;
    struct cs_seal seal = {.handle = "0123456789abcde", .round = 70000, .until = 1ull << 40},
                   got = {0};
    unsigned char d[32];
    char text[CS_SEAL_TEXT];
    digest(&ada, "tools/call", "{\"name\":\"x\"}", d);
    cs_seal(key, &seal, d, text);
    assert_true(strlen(text) < CS_SEAL_TEXT);
    assert_true(cs_unseal(key, cs_str(text), d, &got));
    assert_memory_equal(&seal, &got, sizeof seal);
}

static void every_change_of_a_letter_is_noticed(void **state)
{
    (void)state;
    struct cs_seal seal = {.round = 1, .until = 5}, got;
    unsigned char d[32];
    char text[CS_SEAL_TEXT];
    digest(&ada, "tools/call", "{}", d);
    cs_seal(key, &seal, d, text);
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        for (const char *c = "AB-_.=+09z\x80"; *c; c++) {
            char was = text[i];
            text[i] = *c;
            assert_int_equal(cs_unseal(key, cs_str(text), d, &got), *c == was);
            text[i] = was;
        }
    for (size_t cut = 0; cut < n; cut++)
        assert_false(cs_unseal(key, cs_strn(text, cut), d, &got));
    unsigned char other[32] = {0};
    assert_false(cs_unseal(other, cs_str(text), d, &got));
}

static void it_is_bound_to_the_caller_the_method_and_the_parameters(void **state)
{
    (void)state;
    struct cs_caller eve = ada, tenant = ada, with_key = ada;
    unsigned char right[32], d[32];
    memcpy(eve.principal, "eve", 4);
    memcpy(tenant.tenant, "b", 2);
    memcpy(with_key.key_id, "k", 2);
    const char *params = "{\"name\":\"x\",\"arguments\":{\"a\":[1,{\"b\":2}],\"c\":\"\\u0041\"}}";
    digest(&ada, "tools/call", params, right);

    static const struct {
        const struct cs_caller *who;
        const char *method, *params;
        bool same;
    } rows[] = {
        {&ada, "tools/call",
         "{\"arguments\":{\"c\":\"A\",\"a\":[1, {\"b\":2}]},\"name\":\"x\",\"_meta\":{},"
         "\"requestState\":\"s\",\"inputResponses\":{}}",
         true},
        {&ada, "tools/call", "{\"name\":\"x\",\"arguments\":{\"a\":[1,{\"b\":3}],\"c\":\"A\"}}",
         false},
        {&ada, "tools/call", "{\"name\":\"x\",\"arguments\":{\"a\":[{\"b\":2},1],\"c\":\"A\"}}",
         false},
        {&ada, "tools/call",
         "{\"name\":\"x\",\"arguments\":{\"a\":[1,{\"b\":2}],\"c\":\"A\",\"_meta\":1}}", false},
        {&ada, "tools/call", "{\"name\":\"x\",\"arguments\":{\"a\":[1,{\"b\":\"2\"}],\"c\":\"A\"}}",
         false},
        {&ada, "prompts/get", "{\"name\":\"x\",\"arguments\":{\"a\":[1,{\"b\":2}],\"c\":\"A\"}}",
         false},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        digest(rows[i].who, rows[i].method, rows[i].params, d);
        assert_int_equal(memcmp(d, right, sizeof d) == 0, rows[i].same);
    }
    const struct cs_caller *const others[] = {&eve, &tenant, &with_key};
    for (size_t i = 0; i < CS_COUNT(others); i++) {
        digest(others[i], "tools/call", params, d);
        assert_memory_not_equal(d, right, sizeof d);
    }
}

static void ids_are_long_and_differ(void **state)
{
    (void)state;
    char a[44], b[44];
    cs_random_id(a);
    cs_random_id(b);
    assert_int_equal(strlen(a), 43);
    assert_int_equal(strspn(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
                     43);
    assert_string_not_equal(a, b);
}

static const struct {
    const char *value, *plain; /* NULL: malformed */
} headers[] = {
    {"plain", "plain"},
    {"", ""},
    {"SGVsbG8=", "SGVsbG8="},
    {"=?base64?SGVsbG8=?=", "Hello"},
    {"=?BASE64?SGVsbG8=?=", "Hello"},
    {"=?base64?"
     "?=",
     ""},
    {"=?base64?w6Q=?=", "\xC3\xA4"},
    {"=?base64?SGVsbG8?=", NULL},
    {"=?base64?SGVs!!!bG8=?=", NULL},
    {"=?base64?S=VsbG8=?=", NULL},
    {"=?base64?====?=", NULL},
    {"=?base64?SGVsbG8=", "=?base64?SGVsbG8="},
    {"SGVsbG8=?=", "SGVsbG8=?="},
    {"a\tb", NULL},
    {"\xC3\xA4", NULL},
    {"=?base64?=", "=?base64?="},
};

static void values_of_headers_are_decoded_strictly(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(headers); i++) {
        CS_AUTO_ARENA struct cs_arena arena = {0};
        struct cs_str out = {0};
        bool good = cs_header_decode(cs_str(headers[i].value), &arena, &out);
        if (good != (headers[i].plain != NULL))
            fail_msg("%s", headers[i].value);
        if (good)
            assert_str_is(out, headers[i].plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_seal_comes_back_as_it_was),
        CS_TEST(every_change_of_a_letter_is_noticed),
        CS_TEST(it_is_bound_to_the_caller_the_method_and_the_parameters),
        CS_TEST(ids_are_long_and_differ),
        CS_TEST(values_of_headers_are_decoded_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

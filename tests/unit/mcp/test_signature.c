#include "test.h"

#include "mcp/house.h"

static char *signature(const char *schema)
{
    static char text[20000];
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_tool tool = {
        .server_ident = CS_STR("s"), .ident = CS_STR("t"), .input = cs_str(schema)};
    cs_house_signature(&tool, &out);
    snprintf(text, sizeof text, "%.*s", CS_STR_ARG(cs_buf_str(&out)));
    return text;
}

static void a_signature_names_what_must_be_there_first(void **state)
{
    (void)state;
    assert_string_equal(signature("{\"type\":\"object\",\"properties\":{\"page\":{\"type\":"
                                  "\"integer\"},\"owner\":{\"type\":\"string\"}},\"required\":["
                                  "\"owner\"]}"),
                        "s.t({owner: string, page?: number})");
}

static void types_are_those_of_typescript(void **state)
{
    (void)state;
    assert_string_equal(
        signature(
            "{\"properties\":{\"a\":{\"enum\":[\"x\",\"y\"]},\"b\":{\"type\":\"array\","
            "\"items\":{\"type\":\"string\"}},\"c\":{\"type\":\"array\",\"items\":{\"enum\":[1,"
            "2]}},\"d\":{\"type\":\"object\",\"properties\":{\"e\":{\"type\":\"boolean\"}}},"
            "\"f\":{\"anyOf\":[]},\"g\":{\"const\":3},\"h\":{\"type\":\"object\"}}}"),
        "s.t({a?: \"x\"|\"y\", b?: string[], c?: (1|2)[], d?: {e?: boolean}, f?: any, g?: 3, h?: "
        "object})");
    assert_string_equal(signature("{\"type\":\"object\"}"), "s.t()");
    assert_string_equal(signature("not json"), "s.t()");
    assert_string_equal(signature(""), "s.t()");
}

static void a_long_signature_is_cut(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf schema = {0};
    cs_buf_puts(&schema, "{\"properties\":{");
    for (int i = 0; i < 5000; i++)
        cs_buf_printf(&schema, "%s\"parameter%d\":{\"type\":\"string\"}", i ? "," : "", i);
    cs_buf_puts(&schema, "},\"required\":[");
    for (int i = 0; i < 5000; i++)
        cs_buf_printf(&schema, "%s\"other%d\"", i ? "," : "", i);
    cs_buf_puts(&schema, "]}");
    const char *text = signature(cs_buf_cstr(&schema));
    assert_true(strlen(text) < 500);
    assert_contains(text, ", ...)");
}

static void what_it_answers_is_there_if_anybody_knows(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_tool tool = {
        .server_ident = CS_STR("s"),
        .ident = CS_STR("t"),
        .input = CS_STR("{}"),
        .learned_output =
            CS_STR("{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
                   "\"id\":{\"type\":\"integer\"}},\"required\":[\"id\"]}}"),
    };
    cs_house_signature(&tool, &out);
    assert_str_is(cs_buf_str(&out), "s.t(): {id: number}[]");
    cs_buf_clear(&out);
    tool.output = CS_STR("{\"type\":\"string\"}");
    cs_house_signature(&tool, &out);
    assert_str_is(cs_buf_str(&out), "s.t(): string");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_signature_names_what_must_be_there_first),
        CS_TEST(types_are_those_of_typescript),
        CS_TEST(a_long_signature_is_cut),
        CS_TEST(what_it_answers_is_there_if_anybody_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

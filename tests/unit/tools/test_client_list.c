/* Pages of tools, changes of the list, and parameters that HTTP servers want as headers. */
#include "test.h"

#include "tools/fake.h"

static int setup(void **state)
{
    *state = fake_new();
    return 0;
}

static int teardown(void **state)
{
    fake_free(*state);
    return 0;
}

/* Up to the first tools/list. */
static struct fake *listing(void **state, enum cs_era era)
{
    struct fake *f = *state;
    f->server.era = era;
    fake_client(f);
    cs_client_connect(f->client);
    fake_turn(f);
    fake_answer(f, fake_last(f), era == CS_ERA_MODERN ? FAKE_DISCOVERED : FAKE_INITIALIZED);
    assert_string_equal(fake_last(f)->method, "tools/list");
    return f;
}

static void all_pages_become_one_list(void **state)
{
    struct fake *f = listing(state, CS_ERA_LEGACY);
    assert_null(strstr(fake_last(f)->json, "cursor"));
    fake_answer(f, fake_last(f), "{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"two \\\"x\\\"\"}");
    assert_contains(fake_last(f)->json, "\"cursor\":\"two \\\"x\\\"\"");
    assert_int_equal(f->listed, 0);
    /* An empty cursor is a cursor. */
    fake_answer(f, fake_last(f),
                "{\"tools\":[{\"name\":\"b\"},{\"name\":\"c\"}],\"nextCursor\":\"\"}");
    assert_contains(fake_last(f)->json, "\"cursor\":\"\"");
    fake_answer(f, fake_last(f), "{\"tools\":[{\"name\":\"d\"}],\"nextCursor\":null}");
    assert_int_equal(f->listed, 1);
    assert_str_is(cs_buf_str(&f->tools),
                  "[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":\"d\"}]");
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_READY);
}

static void a_repeated_cursor_ends_the_list(void **state)
{
    struct fake *f = listing(state, CS_ERA_LEGACY);
    fake_answer(f, fake_last(f), "{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"x\"}");
    fake_answer(f, fake_last(f), "{\"tools\":[{\"name\":\"b\"}],\"nextCursor\":\"y\"}");
    fake_answer(f, fake_last(f), "{\"tools\":[{\"name\":\"c\"}],\"nextCursor\":\"x\"}");
    assert_int_equal(f->listed, 1);
    assert_int_equal(fake_number(f, "tools/list"), 3);
    assert_contains(cs_buf_cstr(&f->logs), "does not end");
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_READY);
}

static void a_list_without_end_is_cut(void **state)
{
    struct fake *f = listing(state, CS_ERA_LEGACY);
    for (unsigned i = 0; i < CS_PAGES + 5 && f->listed == 0; i++) {
        char result[100];
        snprintf(result, sizeof result, "{\"tools\":[{\"name\":\"t%u\"}],\"nextCursor\":\"%u\"}", i,
                 i);
        fake_answer(f, fake_last(f), result);
    }
    assert_int_equal(f->listed, 1);
    assert_int_equal(fake_number(f, "tools/list"), CS_PAGES);
}

static void too_many_tools_are_cut(void **state)
{
    struct fake *f = listing(state, CS_ERA_LEGACY);
    struct cs_buf b = {0};
    cs_buf_puts(&b, "{\"tools\":[{}");
    for (unsigned i = 0; i < CS_SERVER_TOOLS + 10; i++)
        cs_buf_puts(&b, ",{}");
    cs_buf_puts(&b, "],\"nextCursor\":\"more\"}");
    fake_answer(f, fake_last(f), cs_buf_cstr(&b));
    cs_buf_done(&b);
    assert_int_equal(f->listed, 1);
    assert_int_equal(f->tools.len, 1 + CS_SERVER_TOOLS * 3);
    assert_contains(cs_buf_cstr(&f->logs), "left out");
}

static void a_server_without_tools_is_ready_all_the_same(void **state)
{
    struct fake *f = *state;
    f->server.era = CS_ERA_LEGACY;
    fake_client(f);
    cs_client_connect(f->client);
    fake_turn(f);
    fake_answer(f, fake_last(f),
                "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"prompts\":{}}}");
    fake_error(f, fake_last(f), -32601, NULL);
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_READY);
    assert_str_is(cs_buf_str(&f->tools), "[]");
}

static void a_list_that_is_none_fails_the_server(void **state)
{
    static const char *const bad[] = {"{}", "{\"tools\":{}}", "{\"tools\":3}"};
    (void)state;
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        void *one = fake_new();
        struct fake *f = listing(&one, CS_ERA_LEGACY);
        fake_answer(f, fake_last(f), bad[i]);
        assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_FAILED);
        fake_free(f);
    }
}

static void an_unknown_type_of_result_is_no_list(void **state)
{
    struct fake *f = listing(state, CS_ERA_MODERN);
    fake_answer(f, fake_last(f), "{\"resultType\":\"riddle\",\"tools\":[]}");
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_FAILED);
}

static void a_change_is_asked_for_once_it_has_calmed_down(void **state)
{
    struct fake *f = *state;
    fake_ready(f);
    fake_sleep(f, 30);
    for (int i = 0; i < 20; i++)
        fake_say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    fake_sleep(f, 15);
    assert_int_equal(fake_number(f, "tools/list"), 2);
    fake_answer(f, fake_last(f), "{\"tools\":[{\"name\":\"new\"}]}");
    assert_int_equal(f->listed, 2);
    assert_str_is(cs_buf_str(&f->tools), "[{\"name\":\"new\"}]");
}

static void a_change_during_the_list_is_not_lost(void **state)
{
    struct fake *f = *state;
    fake_ready(f);
    cs_client_refresh(f->client);
    const struct fake_sent first = *fake_last(f);
    cs_client_refresh(f->client);
    assert_int_equal(fake_number(f, "tools/list"), 2);
    fake_answer(f, &first, FAKE_TOOLS);
    fake_sleep(f, 50);
    assert_int_equal(fake_number(f, "tools/list"), 3);
}

static void a_new_list_that_fails_leaves_the_old_one(void **state)
{
    struct fake *f = *state;
    fake_ready(f);
    cs_client_refresh(f->client);
    fake_error(f, fake_last(f), -32603, NULL);
    assert_int_equal(cs_client_info(f->client)->state, CS_CLIENT_READY);
    assert_int_equal(f->listed, 1);
    assert_contains(cs_client_info(f->client)->last_error.msg, "no way");
}

static void what_changed_before_it_was_listened_to_is_asked_for(void **state)
{
    struct fake *f = *state;
    f->server.era = CS_ERA_MODERN;
    fake_ready(f);
    assert_non_null(fake_find(f, "subscriptions/listen"));
    fake_sleep(f, 60);
    assert_int_equal(fake_number(f, "tools/list"), 1);
    fake_say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"
                "acknowledged\",\"params\":{}}");
    for (int i = 0; i < 600 && fake_number(f, "tools/list") < 2; i++)
        fake_sleep(f, 50);
    assert_int_equal(fake_number(f, "tools/list"), 2);
}

static void a_modern_server_is_listened_to_again_and_again(void **state)
{
    struct fake *f = *state;
    f->server.era = CS_ERA_MODERN;
    fake_ready(f);
    const struct fake_sent *listen = fake_find(f, "subscriptions/listen");
    assert_non_null(listen);
    assert_contains(listen->json, "\"notifications\":{\"toolsListChanged\":true}");
    assert_contains(listen->json, "io.modelcontextprotocol/protocolVersion");
    fake_say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"
                "acknowledged\",\"params\":{}}");
    fake_answer(f, listen, "{\"resultType\":\"complete\"}");
    fake_sleep(f, 60);
    /* What it may have said meanwhile is asked for. */
    assert_int_equal(fake_number(f, "subscriptions/listen"), 2);
    assert_int_equal(fake_number(f, "tools/list"), 2);
    /* Servers may also cancel it. */
    fake_say(f,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
             "cancelled\",\"params\":{\"requestId\":%s}}",
             fake_id(fake_find(f, "subscriptions/listen")));
    fake_sleep(f, 60);
    assert_int_equal(fake_number(f, "subscriptions/listen"), 3);
    /* And after a new start. */
    fake_end(f, "gone");
    fake_sleep(f, 20);
    fake_answer(f, fake_last(f), FAKE_DISCOVERED);
    fake_answer(f, fake_last(f), FAKE_TOOLS);
    assert_int_equal(fake_number(f, "subscriptions/listen"), 4);
    /* One that has no such thing is not asked for ever. */
    fake_error(f, fake_find(f, "subscriptions/listen"), -32601, NULL);
    fake_sleep(f, 30);
    assert_int_equal(fake_number(f, "subscriptions/listen"), 4);
}

#define TOOL(name, properties)                                                                     \
    "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\",\"properties\":{" properties "}}" \
    "}"
#define TAGGED(type, name) "{\"type\":\"" type "\",\"x-mcp-header\":\"" name "\"}"

static const char *const legal[] = {
    TOOL("plain", "\"x-mcp-header\":{\"type\":\"number\"}"),
    TOOL("all", "\"s\":" TAGGED("string", "S") ",\"i\":" TAGGED("integer", "I-2") ",\"b\":" TAGGED(
                    "boolean", "b_3")),
    TOOL("deep", "\"o\":{\"type\":\"object\",\"properties\":{\"s\":" TAGGED("string", "S") "}}"),
    TOOL("data", "\"s\":{\"type\":\"object\",\"default\":{\"x-mcp-header\":\" \"},\"enum\":[{"
                 "\"x-mcp-header\":1}]}"),
};

static const char *const illegal[] = {
    TOOL("empty", "\"s\":" TAGGED("string", "")),
    TOOL("space", "\"s\":" TAGGED("string", "a b")),
    TOOL("colon", "\"s\":" TAGGED("string", "a:b")),
    TOOL("umlaut", "\"s\":" TAGGED("string", "\xC3\xA4")),
    TOOL("line", "\"s\":" TAGGED("string", "a\\r\\nb")),
    TOOL("nul", "\"s\":" TAGGED("string", "a\\u0000")),
    TOOL("number", "\"s\":" TAGGED("number", "S")),
    TOOL("object", "\"s\":" TAGGED("object", "S")),
    TOOL("array", "\"s\":" TAGGED("array", "S")),
    TOOL("null", "\"s\":" TAGGED("null", "S")),
    TOOL("untyped", "\"s\":{\"x-mcp-header\":\"S\"}"),
    TOOL("no-string", "\"s\":{\"type\":\"string\",\"x-mcp-header\":1}"),
    TOOL("twice", "\"s\":" TAGGED("string", "Same") ",\"t\":" TAGGED("string", "sAME")),
    TOOL("items", "\"s\":{\"type\":\"array\",\"items\":" TAGGED("string", "S") "}"),
    TOOL("any", "\"s\":{\"anyOf\":[" TAGGED("string", "S") "]}"),
    TOOL("defs", "\"s\":{\"$defs\":{\"d\":" TAGGED("string", "S") "}}"),
    TOOL("if", "\"s\":{\"if\":{\"properties\":{\"p\":" TAGGED("string", "S") "}}}"),
    "{\"name\":\"root\",\"inputSchema\":{\"type\":\"string\",\"x-mcp-header\":\"S\"}}",
};

static void tools_with_illegal_headers_are_left_out_over_http(void **state)
{
    (void)state;
    for (int http = 0; http < 2; http++) {
        void *one = fake_new();
        ((struct fake *)one)->server.is_http = http;
        struct fake *f = listing(&one, CS_ERA_MODERN);
        struct cs_buf b = {0};
        cs_buf_puts(&b, "{\"tools\":[");
        for (size_t i = 0; i < CS_COUNT(legal); i++)
            cs_buf_printf(&b, "%s%s", i ? "," : "", legal[i]);
        for (size_t i = 0; i < CS_COUNT(illegal); i++)
            cs_buf_printf(&b, ",%s", illegal[i]);
        cs_buf_puts(&b, "]}");
        fake_answer(f, fake_last(f), cs_buf_cstr(&b));
        cs_buf_done(&b);
        const char *tools = cs_buf_cstr(&f->tools);
        for (size_t i = 0; i < CS_COUNT(legal); i++)
            assert_contains(tools, legal[i]);
        for (size_t i = 0; i < CS_COUNT(illegal); i++) {
            if (!http)
                assert_contains(tools, illegal[i]);
            else if (strstr(tools, illegal[i]))
                fail_msg("was kept: %s", illegal[i]);
        }
        if (http)
            assert_contains(cs_buf_cstr(&f->logs), "tool \"umlaut\" is left out");
        fake_free(f);
    }
}

static struct cs_client_call *call_with(struct fake *f, const char *schema, const char *arguments)
{
    struct cs_client_request request = {.tool = CS_STR("one"),
                                        .arguments = cs_str(arguments),
                                        .schema = cs_str(schema),
                                        .timeout_ms = 1000};
    return cs_client_call(f->client, &request, NULL, fake_done, f);
}

static void tagged_parameters_are_mirrored(void **state)
{
    struct fake *f = *state;
    f->server.is_http = true;
    f->server.era = CS_ERA_MODERN;
    fake_ready(f);
    const char *schema =
        "{\"type\":\"object\",\"properties\":{\"s\":{\"type\":\"string\",\"x-mcp-header\":\"Str\"},"
        "\"i\":{\"type\":\"integer\",\"x-mcp-header\":\"Int\"},\"b\":{\"type\":\"boolean\","
        "\"x-mcp-header\":\"Bool\"},\"n\":{\"type\":\"string\",\"x-mcp-header\":\"Null\"},"
        "\"a\":{\"type\":\"string\",\"x-mcp-header\":\"Absent\"},\"u\":{\"type\":\"string\"},"
        "\"o\":{\"type\":\"object\",\"properties\":{\"d\":{\"type\":\"string\",\"x-mcp-header\":"
        "\"Deep\"}}}}}";
    call_with(f, schema,
              "{\"s\":\" h\\u00e9 "
              "\",\"i\":4.2e1,\"b\":false,\"n\":null,\"u\":\"no\",\"o\":{\"d\":\"x\"}}");
    assert_string_equal(fake_last(f)->params,
                        "Mcp-Param-Str:  h\xC3\xA9 ;Mcp-Param-Int: 42;Mcp-Param-Bool: false;"
                        "Mcp-Param-Deep: x;");
    call_with(f, schema, "{\"i\":9007199254740993,\"s\":[1]}");
    assert_string_equal(fake_last(f)->params, "");
}

static void a_refusal_for_headers_lists_again_and_retries_once(void **state)
{
    struct fake *f = *state;
    f->server.is_http = true;
    f->server.era = CS_ERA_MODERN;
    fake_ready(f);
    call_with(f, "", "{\"r\":\"eu\"}");
    assert_string_equal(fake_last(f)->params, "");
    fake_error(f, fake_last(f), -32020, NULL);
    assert_string_equal(fake_last(f)->method, "tools/list");
    assert_int_equal(f->done, 0);
    fake_answer(f, fake_last(f),
                "{\"tools\":[" TOOL("two", "\"r\":" TAGGED("string", "No")) "," TOOL(
                    "one", "\"r\":" TAGGED("string", "Region")) "]}");
    assert_string_equal(fake_last(f)->method, "tools/call");
    assert_string_equal(fake_last(f)->params, "Mcp-Param-Region: eu;");
    fake_error(f, fake_last(f), -32020, NULL);
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last.rpc_code, -32020);
    assert_int_equal(fake_number(f, "tools/call"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(all_pages_become_one_list, setup, teardown),
        CS_TEST_WITH(a_repeated_cursor_ends_the_list, setup, teardown),
        CS_TEST_WITH(a_list_without_end_is_cut, setup, teardown),
        CS_TEST_WITH(too_many_tools_are_cut, setup, teardown),
        CS_TEST_WITH(a_server_without_tools_is_ready_all_the_same, setup, teardown),
        CS_TEST(a_list_that_is_none_fails_the_server),
        CS_TEST_WITH(an_unknown_type_of_result_is_no_list, setup, teardown),
        CS_TEST_WITH(a_change_is_asked_for_once_it_has_calmed_down, setup, teardown),
        CS_TEST_WITH(a_change_during_the_list_is_not_lost, setup, teardown),
        CS_TEST_WITH(a_new_list_that_fails_leaves_the_old_one, setup, teardown),
        CS_TEST_WITH(what_changed_before_it_was_listened_to_is_asked_for, setup, teardown),
        CS_TEST_WITH(a_modern_server_is_listened_to_again_and_again, setup, teardown),
        CS_TEST(tools_with_illegal_headers_are_left_out_over_http),
        CS_TEST_WITH(tagged_parameters_are_mirrored, setup, teardown),
        CS_TEST_WITH(a_refusal_for_headers_lists_again_and_retries_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"

#include "mcp/proto.h"

#define P "\"io.modelcontextprotocol/protocolVersion\":"
#define C "\"io.modelcontextprotocol/clientCapabilities\":"
#define L "\"io.modelcontextprotocol/logLevel\":"

static void versions_are_found_by_name(void **state)
{
    (void)state;
    for (enum cs_version v = CS_V2024; v < CS_VNONE; v++)
        assert_int_equal(cs_version_find(cs_str(cs_version_names[v])), v);
    assert_int_equal(cs_version_find(CS_STR("2025-11-2")), CS_VNONE);
    assert_int_equal(cs_version_find(CS_STR("")), CS_VNONE);
}

static const struct {
    const char *params, *why; /* a piece of why it is refused; NULL: it is not */
    enum cs_version version;
    unsigned asks;
    int level;
    bool tasks;
} envelopes[] = {
    {"{\"_meta\":{" P "\"2026-07-28\"," C "{}}}", NULL, CS_VMODERN, 0, 8, false},
    {"{\"_meta\":{" P "\"v999\"," C "{}}}", NULL, CS_VNONE, 0, 8, false},
    {"{\"_meta\":{" P "\"2026-07-28\"," C "{\"elicitation\":{}}}}", NULL, CS_VMODERN,
     1u << CS_ASK_FORM, 8, false},
    {"{\"_meta\":{" P "\"2026-07-28\"," C "{\"elicitation\":{\"url\":{}}}}}", NULL, CS_VMODERN,
     1u << CS_ASK_URL, 8, false},
    {"{\"_meta\":{" P "\"2026-07-28\"," C "{\"elicitation\":{\"url\":{},\"form\":{}}}}}", NULL,
     CS_VMODERN, 1u << CS_ASK_URL | 1u << CS_ASK_FORM, 8, false},
    {"{\"_meta\":{" P "\"2026-07-28\"," C "{\"sampling\":{},\"roots\":{},\"elicitation\":true}}}",
     NULL, CS_VMODERN, 1u << CS_ASK_SAMPLE | 1u << CS_ASK_ROOTS, 8, false},
    {"{\"_meta\":{" P "\"2026-07-28\"," C
     "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}," L "\"error\"}}",
     NULL, CS_VMODERN, 0, 4, true},
    {"{\"_meta\":{" P "\"2026-07-28\"," C "{}," L "\"loud\"}}", "logLevel", 0, 0, 0, false},
    {"{\"_meta\":{" P "\"2026-07-28\"," C "{}," L "3}}", "logLevel", 0, 0, 0, false},
    {"{\"_meta\":{" P "\"2026-07-28\"}}", "clientCapabilities", 0, 0, 0, false},
    {"{\"_meta\":{" P "\"2026-07-28\"," C "[]}}", "clientCapabilities", 0, 0, 0, false},
    {"{\"_meta\":{" C "{}}}", "protocolVersion", 0, 0, 0, false},
    {"{\"_meta\":{" P "7," C "{}}}", "protocolVersion", 0, 0, 0, false},
    {"{\"_meta\":[]}", "_meta", 0, 0, 0, false},
    {"{}", "_meta", 0, 0, 0, false},
};

static void an_envelope_says_what_is_missing(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(envelopes); i++) {
        CS_AUTO_JSON struct cs_json doc = {0};
        CS_AUTO_ARENA struct cs_arena arena = {0};
        struct cs_envelope_in e;
        const char *why = NULL;
        assert_int_equal(cs_json_parse(cs_str(envelopes[i].params), NULL, &doc, NULL), 0);
        int rc = cs_envelope_read(cs_json_root(&doc), &arena, &e, &why);
        assert_int_equal(rc, envelopes[i].why ? -1 : 0);
        if (envelopes[i].why) {
            assert_contains(why, envelopes[i].why);
            continue;
        }
        assert_int_equal(e.version, envelopes[i].version);
        assert_int_equal(e.asks, envelopes[i].asks);
        assert_int_equal(e.level, envelopes[i].level);
        assert_int_equal(e.tasks, envelopes[i].tasks);
    }
}

static const struct {
    const char *message;
    enum cs_rpc_kind kind;
    bool modern;
} messages[] = {
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}", CS_RPC_REQUEST, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"x\",\"params\":{}}", CS_RPC_REQUEST, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"x\"}", CS_RPC_REQUEST, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"_meta\":{" P "7}}}",
     CS_RPC_REQUEST, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}", CS_RPC_REQUEST, true},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", CS_RPC_NOTIFICATION, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}", CS_RPC_RESPONSE, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", CS_RPC_RESPONSE, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{},\"result\":{}}", CS_RPC_BAD, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":5}", CS_RPC_BAD, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}", CS_RPC_BAD, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}", CS_RPC_BAD, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", CS_RPC_BAD, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[]}", CS_RPC_BAD, false},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":null}", CS_RPC_BAD, false},
    {"{\"id\":1,\"method\":\"x\"}", CS_RPC_BAD, false},
    {"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"x\"}", CS_RPC_BAD, false},
    {"[]", CS_RPC_BAD, false},
    {"5", CS_RPC_BAD, false},
};

static void messages_are_told_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(messages); i++) {
        CS_AUTO_JSON struct cs_json doc = {0};
        assert_int_equal(cs_json_parse(cs_str(messages[i].message), NULL, &doc, NULL), 0);
        struct cs_json_val root = cs_json_root(&doc);
        if (cs_rpc_kind(root) != messages[i].kind || cs_rpc_is_modern(root) != messages[i].modern)
            fail_msg("%s", messages[i].message);
    }
}

static const struct {
    const char *result, *members, *meta, *out;
} splices[] = {
    {"{}", "\"a\":1", "\"m\":2", "{\"a\":1,\"_meta\":{\"m\":2}}"},
    {"{\"x\":[1]}", "\"a\":1", "\"m\":2", "{\"x\":[1],\"a\":1,\"_meta\":{\"m\":2}}"},
    {"{\"x\":1}", "", "", "{\"x\":1}"},
    {"{\"_meta\":{\"o\":0},\"x\":1}", "\"a\":1", "\"m\":2",
     "{\"x\":1,\"a\":1,\"_meta\":{\"o\":0,\"m\":2}}"},
    {"{\"_meta\":{},\"x\":1}", "", "\"m\":2", "{\"x\":1,\"_meta\":{\"m\":2}}"},
    {"{\"x\":{\"_meta\":{\"o\":0}}}", "\"a\":1", "\"m\":2",
     "{\"x\":{\"_meta\":{\"o\":0}},\"a\":1,\"_meta\":{\"m\":2}}"},
    {"{\"_meta\":{\"o\":0},\"x\":1}", "", "", "{\"x\":1,\"_meta\":{\"o\":0}}"},
};

static void members_are_added_and_meta_is_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(splices); i++) {
        CS_AUTO_BUF struct cs_buf out = {0};
        cs_rpc_splice(cs_str(splices[i].result), cs_str(splices[i].members),
                      cs_str(splices[i].meta), &out);
        assert_str_is(cs_buf_str(&out), splices[i].out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(versions_are_found_by_name),
        CS_TEST(an_envelope_says_what_is_missing),
        CS_TEST(messages_are_told_apart),
        CS_TEST(members_are_added_and_meta_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Offers and catalogues in memory: what is in them, and under which names it is found. */
#include "offers.h"

#include "base/json.h"

static void test_tools_are_found_in_all_spellings(void **state)
{
    struct place *p = *state;
    struct cs_server_config config = server_config("my-server");
    struct cs_offer *offer =
        offer_of(&config, "myServer", "[" TOOL("create-pr") "," TOOL("list_all") "]", NULL);
    struct cs_catalogue *c = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_catalogue_new(p->dir, &offer, 1, &c, &err), 0);
    static const char *const servers[] = {"my-server", "myServer"};
    static const char *const tools[] = {"create-pr", "createPr"};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++) {
            const struct cs_tool *t = cs_catalogue_find(c, cs_str(servers[i]), cs_str(tools[j]));
            assert_non_null(t);
            assert_str_is(t->name, "create-pr");
            assert_str_is(t->ident, "createPr");
            assert_str_is(t->server, "my-server");
            assert_str_is(t->server_ident, "myServer");
            assert_int_equal(t->timeout_ms, 1234);
            assert_int_equal(t->max_result_bytes, 5678);
        }
    static const char *const wrong[] = {"", "create", "create-pr2", "createpr", "CREATE-PR"};
    for (size_t i = 0; i < CS_COUNT(wrong); i++)
        assert_null(cs_catalogue_find(c, CS_STR("my-server"), cs_str(wrong[i])));
    assert_null(cs_catalogue_find(c, CS_STR("myserver"), CS_STR("create-pr")));
    assert_str_is(cs_catalogue_server(c, CS_STR("myServer")), "my-server");
    assert_str_is(cs_catalogue_server(c, CS_STR("nobody")), "");
    assert_str_is(cs_catalogue_globals(c), "[\"myServer\"]");
    cs_catalogue_unref(c);
    cs_offer_unref(offer);
}

static void test_among_many_each_is_found(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf list = {0};
    for (int i = 0; i < 700; i++)
        cs_buf_printf(&list, "%s{\"name\":\"tool-%d\",\"inputSchema\":{}}", i ? "," : "[", i);
    cs_buf_puts(&list, "]");
    struct cs_offer *offer = offer_named("s", cs_buf_cstr(&list));
    assert_int_equal(cs_offer_count(offer), 700);
    struct place *p = *state;
    struct cs_catalogue *c = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_catalogue_new(p->dir, &offer, 1, &c, &err), 0);
    for (int i = 0; i < 700; i++) {
        char name[32], ident[32];
        snprintf(name, sizeof name, "tool-%d", i);
        const struct cs_tool *t = cs_catalogue_find(c, CS_STR("s"), cs_str(name));
        assert_non_null(t);
        assert_str_is(t->name, name);
        snprintf(ident, sizeof ident, "%.*s", CS_STR_ARG(t->ident));
        assert_ptr_equal(cs_catalogue_find(c, CS_STR("s"), cs_str(ident)), t);
    }
    cs_catalogue_unref(c);
    cs_offer_unref(offer);
}

/* The name that a server gave wins over an identifier of another tool. */
static void test_names_come_before_identifiers(void **state)
{
    struct place *p = *state;
    struct cs_offer *offer = offer_named("s", "[" TOOL("a-b") "," TOOL("aB") "," TOOL("a_b") "]");
    struct cs_catalogue *c = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_catalogue_new(p->dir, &offer, 1, &c, &err), 0);
    assert_str_is(cs_catalogue_find(c, CS_STR("s"), CS_STR("aB"))->name, "aB");
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(cs_str_eq(cs_offer_at(offer, i)->ident, cs_offer_at(offer, j)->ident));
    cs_catalogue_unref(c);
    cs_offer_unref(offer);
}

static void test_bad_tools_are_left_out(void **state)
{
    (void)state;
    struct cs_server_config config = server_config("s");
    CS_AUTO_BUF struct cs_buf warnings = {0}, list = {0};
    cs_buf_puts(
        &list,
        "[" TOOL("good") ",1,null,[],{},{\"name\":\"\"},{\"name\":7},"
                         "{\"name\":\"nul\\u0000l\",\"inputSchema\":{}},"
                         "{\"name\":\"bare\"},{\"name\":\"text\",\"inputSchema\":\"x\"}," TOOL(
                             "good") ",{\"name\":\"");
    for (unsigned i = 0; i <= CS_TOOL_NAME_MAX; i++)
        cs_buf_putc(&list, 'x');
    cs_buf_puts(&list, "\",\"inputSchema\":{}}]");
    struct cs_offer *offer = offer_of(&config, "s", cs_buf_cstr(&list), &warnings);
    assert_int_equal(cs_offer_count(offer), 1);
    assert_str_is(cs_offer_at(offer, 0)->name, "good");
    assert_contains(cs_buf_cstr(&warnings), "s: a tool without a usable name was left out\n");
    assert_contains(cs_buf_cstr(&warnings), "s: bare has no inputSchema and was left out\n");
    assert_contains(cs_buf_cstr(&warnings), "s: text has no inputSchema and was left out\n");
    assert_contains(cs_buf_cstr(&warnings), "s: good is listed twice; the first counts\n");
    cs_offer_unref(offer);
}

static void test_a_list_that_is_none_is_an_error(void **state)
{
    (void)state;
    struct cs_server_config config = server_config("s");
    static const char *const bad[] = {"{}", "1", "[", "[]]", "nope"};
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        struct cs_offer_spec spec = {
            .config = &config, .ident = CS_STR("s"), .tools = cs_str(bad[i])};
        struct cs_offer *offer = NULL;
        CS_AUTO_BUF struct cs_buf warnings = {0};
        struct cs_err err = {0};
        assert_int_equal(cs_offer_new(&spec, &offer, &warnings, &err), -1);
        assert_null(offer);
        assert_contains(err.msg, "s: tools/list");
    }
}

static void test_allow_and_deny(void **state)
{
    (void)state;
    static const char list[] = "[" TOOL("get_a") "," TOOL("get_b") "," TOOL("delete_a") "]";
    struct cs_server_config config = server_config("s");
    const char *allow[] = {"get_*", NULL}, *deny[] = {"*_b", NULL};
    config.allow = allow;
    struct cs_offer *offer = offer_of(&config, "s", list, NULL);
    assert_int_equal(cs_offer_count(offer), 2);
    cs_offer_unref(offer);
    config.deny = deny;
    offer = offer_of(&config, "s", list, NULL);
    assert_int_equal(cs_offer_count(offer), 1);
    assert_str_is(cs_offer_at(offer, 0)->name, "get_a");
    cs_offer_unref(offer);
    config.allow = (const char **)(uintptr_t)no_patterns;
    offer = offer_of(&config, "s", list, NULL);
    assert_int_equal(cs_offer_count(offer), 2); /* an empty list allows all; deny still holds */
    cs_offer_unref(offer);
}

static struct cs_tool hinted(enum cs_trust trust, const char *annotations)
{
    char list[300];
    struct cs_server_config config = server_config("s");
    config.trust = trust;
    snprintf(list, sizeof list, "[{\"name\":\"t\",\"inputSchema\":{},\"annotations\":%s}]",
             annotations);
    struct cs_offer *offer = offer_of(&config, "s", list, NULL);
    struct cs_tool t = *cs_offer_at(offer, 0);
    cs_offer_unref(offer);
    return t; /* its strings are gone */
}

static void test_risk_follows_hints_and_trust(void **state)
{
    (void)state;
    static const char read_only[] = "{\"readOnlyHint\":true}";
    static const char writes[] = "{\"destructiveHint\":false,\"openWorldHint\":false}";
    assert_int_equal(hinted(CS_TRUST_NORMAL, read_only).risk, CS_TOOL_LOW);
    assert_int_equal(hinted(CS_TRUST_LOW, read_only).risk, CS_TOOL_MEDIUM);
    assert_int_equal(hinted(CS_TRUST_NORMAL, writes).risk, CS_TOOL_MEDIUM);
    assert_int_equal(hinted(CS_TRUST_LOW, writes).risk, CS_TOOL_HIGH);
    assert_int_equal(hinted(CS_TRUST_NORMAL, "{}").risk, CS_TOOL_HIGH);
    assert_int_equal(hinted(CS_TRUST_HIGH, "{}").risk, CS_TOOL_MEDIUM);
    assert_int_equal(hinted(CS_TRUST_NORMAL, "\"nonsense\"").risk, CS_TOOL_HIGH);
    struct cs_tool t = hinted(CS_TRUST_NORMAL, "{}");
    assert_true(t.destructive && t.open_world && !t.read_only && !t.idempotent && !t.owns_up);
    assert_true(hinted(CS_TRUST_NORMAL, "{\"destructiveHint\":true}").owns_up);
    t = hinted(CS_TRUST_NORMAL, "{\"readOnlyHint\":true,\"destructiveHint\":true}");
    assert_true(t.read_only && !t.destructive && t.idempotent);
    t = hinted(CS_TRUST_NORMAL, writes);
    assert_true(!t.destructive && !t.open_world);
}

static void hash_with(const char *tools, struct cs_learned *learned, enum cs_trust trust,
                      const char *deny, char hash[CS_HASH_HEX + 1])
{
    struct cs_server_config config = server_config("s");
    const char *patterns[] = {deny, NULL};
    config.deny = patterns;
    config.trust = trust;
    struct cs_offer_spec spec = {.config = &config,
                                 .ident = CS_STR("s"),
                                 .tools = cs_str(tools),
                                 .learned = learned,
                                 .learned_count = learned ? 1 : 0};
    struct cs_offer *offer = NULL;
    CS_AUTO_BUF struct cs_buf warnings = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_offer_new(&spec, &offer, &warnings, &err), 0);
    memcpy(hash, cs_offer_hash(offer), CS_HASH_HEX + 1);
    cs_offer_unref(offer);
}

static void test_hash_changes_with_the_content_only(void **state)
{
    (void)state;
    static const char list[] = "[" TOOL("a") "," TOOL("b") "]";
    struct cs_learned one = {CS_STR("a"), CS_STR("{\"type\":\"string\"}"), 1}, two = one,
                      other = one;
    two.count = 2;
    other.tool = CS_STR("nobody");
    char first[CS_HASH_HEX + 1], hash[8][CS_HASH_HEX + 1];
    hash_with(list, NULL, CS_TRUST_NORMAL, NULL, first);
    hash_with(list, NULL, CS_TRUST_NORMAL, NULL, hash[0]);
    assert_string_equal(first, hash[0]);
    hash_with(list, &other, CS_TRUST_NORMAL, NULL, hash[0]); /* of a tool that is not there */
    assert_string_equal(first, hash[0]);
    hash_with(list, NULL, CS_TRUST_NORMAL, "nothing_like_it", hash[0]);
    assert_string_equal(first, hash[0]);
    hash_with(list, &one, CS_TRUST_NORMAL, NULL, hash[0]);
    hash_with(list, &two, CS_TRUST_NORMAL, NULL, hash[1]);
    hash_with(list, NULL, CS_TRUST_LOW, NULL, hash[2]);
    hash_with(list, NULL, CS_TRUST_NORMAL, "b", hash[3]);
    hash_with("[" TOOL("a") "]", NULL, CS_TRUST_NORMAL, NULL, hash[4]);
    hash_with("[]", NULL, CS_TRUST_NORMAL, NULL, hash[5]);
    for (size_t i = 0; i < 6; i++) {
        assert_string_not_equal(first, hash[i]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(hash[i], hash[j]);
    }
}

static void test_learned_types_are_used_unless_one_was_declared(void **state)
{
    (void)state;
    struct cs_server_config config = server_config("s");
    struct cs_learned learned[] = {{CS_STR("free"), CS_STR("{\"type\":\"string\"}"), 5},
                                   {CS_STR("bound"), CS_STR("{\"type\":\"string\"}"), 6}};
    struct cs_offer_spec spec = {
        .config = &config,
        .ident = CS_STR("s"),
        .tools = CS_STR(
            "[{\"name\":\"free\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"x\"]}},"
            "{\"name\":\"bound\",\"inputSchema\":{\"type\":[]},"
            "\"outputSchema\":{\"type\":\"object\"}}]"),
        .learned = learned,
        .learned_count = 2,
    };
    struct cs_offer *offer = NULL;
    CS_AUTO_BUF struct cs_buf warnings = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_offer_new(&spec, &offer, &warnings, &err), 0);
    const struct cs_tool *bound = cs_offer_at(offer, 0), *free_one = cs_offer_at(offer, 1);
    assert_str_is(free_one->name, "free");
    assert_int_equal(free_one->learned, 5);
    assert_int_equal(bound->learned, 0);
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_schema_fault faults[2];
    assert_int_equal(cs_json_parse(CS_STR("\"text\""), NULL, &doc, &err), 0);
    assert_int_equal(
        cs_schema_check(cs_tool_output(free_one), cs_json_root(&doc), &arena, faults, 2, &err), 0);
    assert_int_equal(
        cs_schema_check(cs_tool_output(bound), cs_json_root(&doc), &arena, faults, 2, &err), 1);
    assert_non_null(cs_tool_input(free_one));
    assert_ptr_equal(cs_tool_input(free_one), cs_tool_input(free_one));
    assert_null(cs_tool_input(bound)); /* no schema that can be used is none */
    cs_offer_unref(offer);
}

static void test_catalogue_is_in_order_and_complete_or_not(void **state)
{
    struct place *p = *state;
    struct cs_offer *offers[] = {offer_named("zeta", "[" TOOL("z") "]"), offer_named("alpha", NULL),
                                 offer_named("mid", "[" TOOL("b") "," TOOL("a") "]")};
    struct cs_catalogue *c = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_catalogue_new(p->dir, offers, 3, &c, &err), 0);
    assert_int_equal(cs_catalogue_servers(c), 3);
    assert_int_equal(cs_catalogue_count(c), 3);
    assert_str_is(cs_catalogue_at(c, 0)->name, "a");
    assert_str_is(cs_catalogue_at(c, 1)->name, "b");
    assert_str_is(cs_catalogue_at(c, 2)->name, "z");
    assert_null(cs_catalogue_at(c, 3));
    assert_str_is(cs_catalogue_globals(c), "[\"alpha\",\"mid\",\"zeta\"]");
    assert_false(cs_catalogue_complete(c));
    assert_false(cs_catalogue_listed(c, CS_STR("alpha")));
    assert_true(cs_catalogue_listed(c, CS_STR("mid")));
    assert_false(cs_catalogue_listed(c, CS_STR("nobody")));
    assert_str_is(cs_catalogue_server(c, CS_STR("alpha")), "alpha");
    cs_catalogue_unref(c);
    c = NULL;
    assert_int_equal(cs_catalogue_new(p->dir, offers + 2, 1, &c, &err), 0);
    assert_true(cs_catalogue_complete(c));
    cs_catalogue_unref(c);
    assert_int_equal(cs_catalogue_new(p->dir, offers, 0, &c, &err), 0);
    assert_true(cs_catalogue_complete(c));
    assert_int_equal(cs_catalogue_count(c), 0);
    assert_str_is(cs_catalogue_globals(c), "[]");
    assert_str_is(cs_catalogue_server(c, CS_STR("mid")), "");
    cs_catalogue_unref(c);
    for (size_t i = 0; i < 3; i++)
        cs_offer_unref(offers[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(test_tools_are_found_in_all_spellings, make_place, drop_place),
        CS_TEST_WITH(test_among_many_each_is_found, make_place, drop_place),
        CS_TEST_WITH(test_names_come_before_identifiers, make_place, drop_place),
        CS_TEST(test_bad_tools_are_left_out),
        CS_TEST(test_a_list_that_is_none_is_an_error),
        CS_TEST(test_allow_and_deny),
        CS_TEST(test_risk_follows_hints_and_trust),
        CS_TEST(test_hash_changes_with_the_content_only),
        CS_TEST(test_learned_types_are_used_unless_one_was_declared),
        CS_TEST_WITH(test_catalogue_is_in_order_and_complete_or_not, make_place, drop_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

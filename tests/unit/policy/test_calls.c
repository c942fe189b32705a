#include "test.h"

#include "base/file.h"
#include "policy/policy.h"
#include "schema/schema.h"

static struct cs_policy *load(const char *json, struct cs_err *err)
{
    char path[] = "/tmp/caisson-policy-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(cs_file_replace(path, cs_str(json), 0600, err), 0);
    struct cs_policy *policy = NULL;
    int status = cs_policy_load(path, &policy, err);
    unlink(path);
    assert_true((status == 0) == (policy != NULL));
    return policy;
}

static struct cs_target target(const char *server, const char *tool, const char *ident)
{
    return (struct cs_target){cs_str(server), cs_str(server), cs_str(tool), cs_str(ident)};
}

static enum cs_grant grant(const struct cs_policy *p, const char *who, const char *server,
                           const char *tool)
{
    struct cs_target t = target(server, tool, tool);
    return cs_policy_grant(p, cs_str(who), &t, NULL);
}

static void without_a_file_everything_is_allowed(void **state)
{
    (void)state;
    struct cs_err err = {0};
    struct cs_policy *p = NULL;
    assert_int_equal(cs_policy_load(NULL, &p, &err), 0);
    assert_int_equal(grant(p, "local", "any", "thing"), CS_GRANT_ALLOW);
    cs_policy_unref(p);
}

static void deny_wins_over_ask_and_ask_over_allow(void **state)
{
    (void)state;
    struct cs_err err = {0};
    struct cs_policy *p = load("{\"tools\":{\"allow\":[\"a/*\",\"b/x\"],\"deny\":[\"*/delete*\"],"
                               "\"ask\":[\"a/d*\"]}}",
                               &err);
    assert_int_equal(grant(p, "local", "a", "list"), CS_GRANT_ALLOW);
    assert_int_equal(grant(p, "local", "b", "x"), CS_GRANT_ALLOW);
    assert_int_equal(grant(p, "local", "b", "y"), CS_GRANT_DENY);
    assert_int_equal(grant(p, "local", "c", "x"), CS_GRANT_DENY);
    assert_int_equal(grant(p, "local", "a", "draft"), CS_GRANT_ASK);
    assert_int_equal(grant(p, "local", "a", "delete_all"), CS_GRANT_DENY);
    cs_policy_unref(p);
}

static void a_principal_has_its_own_lists_on_top(void **state)
{
    (void)state;
    struct cs_err err = {0};
    struct cs_policy *p =
        load("{\"tools\":{\"deny\":[\"admin/*\"],\"principals\":{\"ci-*\":{\"allow\":"
             "[\"github/*\"],\"deny\":[\"github/merge*\"]}}}}",
             &err);
    assert_int_equal(grant(p, "ann", "github", "merge_pr"), CS_GRANT_ALLOW);
    assert_int_equal(grant(p, "ci-7", "github", "merge_pr"), CS_GRANT_DENY);
    assert_int_equal(grant(p, "ci-7", "github", "list"), CS_GRANT_ALLOW);
    assert_int_equal(grant(p, "ci-7", "jira", "list"), CS_GRANT_DENY);
    assert_int_equal(grant(p, "ci-7", "admin", "list"), CS_GRANT_DENY);
    cs_policy_unref(p);
}

static void a_pattern_may_name_any_spelling(void **state)
{
    (void)state;
    struct cs_err err = {0};
    struct cs_policy *p = load("{\"tools\":{\"deny\":[\"gitHub/deleteIt\"]}}", &err);
    struct cs_target t = {CS_STR("git-hub"), CS_STR("gitHub"), CS_STR("delete-it"),
                          CS_STR("deleteIt")};
    assert_int_equal(cs_policy_grant(p, CS_STR("local"), &t, NULL), CS_GRANT_DENY);
    cs_policy_unref(p);
}

static void a_name_too_long_to_match_is_denied(void **state)
{
    (void)state;
    struct cs_err err = {0};
    struct cs_policy *p = load("{\"tools\":{\"deny\":[\"*/x\"]}}", &err);
    char *name = calloc(1, 2000);
    memset(name, 'a', 1999);
    assert_int_equal(grant(p, "local", "s", name), CS_GRANT_DENY);
    free(name);
    cs_policy_unref(p);
}

static void limits_come_from_the_last_rule_that_matches(void **state)
{
    (void)state;
    struct cs_err err = {0};
    struct cs_policy *p =
        load("{\"tools\":{\"timeout_ms\":9000,\"max_result_bytes\":500,\"rules\":["
             "{\"tool\":\"bank/*\",\"timeout_ms\":100},"
             "{\"tool\":\"bank/slow\",\"timeout_ms\":700,\"max_argument_bytes\":50}]}}",
             &err);
    struct cs_target slow = target("bank", "slow", "slow"), other = target("a", "b", "b");
    struct cs_call_limits l = cs_policy_call_limits(p, &slow);
    assert_int_equal(l.timeout_ms, 700);
    assert_int_equal(l.arguments, 50);
    assert_int_equal(l.result, 500);
    assert_int_equal(cs_policy_call_limits(p, &other).timeout_ms, 9000);
    cs_policy_unref(p);
}

static enum cs_hiding hash_hides(struct cs_str s)
{
    return cs_str_is(s, "#")                  ? CS_HIDES_ALL
           : memchr(s.at, '#', s.len) != NULL ? CS_HIDES_PART
                                              : CS_HIDES_NOTHING;
}

static int arguments(const struct cs_policy *p, const char *json, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    assert_int_equal(cs_json_parse(cs_str(json), NULL, &doc, err), 0);
    struct cs_target t = target("bank", "transfer", "transfer");
    struct cs_schema_hidden hidden = {.look = hash_hides};
    return cs_policy_arguments(p, &t, cs_json_root(&doc), &hidden, err);
}

static void parameters_have_rules(void **state)
{
    (void)state;
    struct cs_err err = {0};
    struct cs_policy *p =
        load("{\"tools\":{\"rules\":[{\"tool\":\"bank/"
             "*\",\"parameters\":{\"amount\":{\"min\":1,\"max\":100},"
             "\"to\":{\"pattern\":\"^DE\",\"max_length\":5},\"kind\":{\"enum\":[\"gift\"]}}}]}}",
             &err);
    assert_int_equal(arguments(p, "{\"amount\":50,\"to\":\"DE1\",\"kind\":\"gift\"}", &err), 0);
    assert_int_equal(arguments(p, "{}", &err), 0);
    assert_int_equal(arguments(p, "{\"amount\":101}", &err), -1);
    assert_int_equal(err.code, CS_DENIED);
    assert_contains(err.msg, "amount");
    assert_contains(err.msg, "100");
    assert_int_equal(arguments(p, "{\"to\":\"FR1\"}", &err), -1);
    assert_int_equal(arguments(p, "{\"to\":\"DE1234\"}", &err), -1);
    assert_int_equal(arguments(p, "{\"kind\":\"bribe\"}", &err), -1);
    cs_policy_unref(p);
}

/* What cannot be judged is denied, and what it is makes no difference. */
static void what_is_hidden_breaks_a_rule_for_it(void **state)
{
    (void)state;
    struct cs_err err = {0};
    struct cs_policy *p =
        load("{\"tools\":{\"rules\":[{\"tool\":\"bank/*\",\"parameters\":{\"amount\":"
             "{\"max\":100},\"to\":{\"pattern\":\"^DE\"}}}]}}",
             &err);
    assert_int_equal(arguments(p, "{\"to\":\"DE1\",\"note\":\"for #\"}", &err), 0);
    assert_int_equal(arguments(p, "{\"to\":\"DE#\"}", &err), -1);
    assert_int_equal(err.code, CS_DENIED);
    assert_contains(err.msg, "rule 'bank/*'");
    assert_contains(err.msg, "to: holds a token");
    assert_int_equal(arguments(p, "{\"amount\":\"#\"}", &err), -1);
    assert_int_equal(arguments(p, "{\"#\":1}", &err), -1);
    assert_contains(err.msg, "name is a token");
    cs_policy_unref(p);
}

static void some_calls_may_be_repeated_and_some_results_kept(void **state)
{
    (void)state;
    struct cs_err err = {0};
    struct cs_policy *p = load("{\"tools\":{\"repeatable\":[\"a/find*\"],\"cache\":[{\"tool\":"
                               "\"a/find_it\",\"ttl_s\":5},{\"tool\":\"a/*\",\"ttl_s\":60}]}}",
                               &err);
    struct cs_policy *none = NULL;
    struct cs_target find = target("a", "find_it", "findIt"), list = target("a", "list", "list"),
                     other = target("b", "find_it", "findIt");
    assert_non_null(p);
    assert_int_equal(cs_policy_load(NULL, &none, &err), 0);
    assert_true(cs_policy_repeatable(p, &find));
    assert_false(cs_policy_repeatable(p, &list));
    assert_false(cs_policy_repeatable(p, &other));
    assert_false(cs_policy_repeatable(none, &find));
    assert_int_equal(cs_policy_keep_ms(p, &find), 5000);
    assert_int_equal(cs_policy_keep_ms(p, &list), 60000);
    assert_int_equal(cs_policy_keep_ms(p, &other), 0);
    assert_int_equal(cs_policy_keep_ms(none, &find), 0);
    assert_memory_not_equal(cs_policy_hash(p), cs_policy_hash(none), 32);
    cs_policy_unref(p);
    cs_policy_unref(none);
}

static void what_is_not_understood_is_an_error(void **state)
{
    (void)state;
    static const struct {
        const char *json, *says;
    } cases[] = {
        {"{\"tools\":{\"denied\":[]}}", "deny"},
        {"{\"tool\":{}}", "tools"},
        {"{\"tools\":[]}", "object"},
        {"{\"tools\":{\"deny\":\"x\"}}", "list"},
        {"{\"tools\":{\"deny\":[1]}}", "pattern"},
        {"{\"tools\":{\"timeout_ms\":0}}", "timeout_ms"},
        {"{\"tools\":{\"rules\":[{\"timeout_ms\":5}]}}", "tool"},
        {"{\"tools\":{\"rules\":[{\"tool\":\"a/*\",\"parameters\":{\"x\":{\"maximum\":5}}}]}}",
         "max"},
        {"{\"tools\":{\"rules\":[{\"tool\":\"a/*\",\"parameters\":{\"x\":{\"pattern\":\"(\"}}}]}}",
         "pattern"},
        {"{\"tools\":{\"principals\":{\"x\":{\"alow\":[]}}}}", "allow"},
        {"{\"tools\":{\"repeatable\":{}}}", "list"},
        {"{\"tools\":{\"cache\":[{\"tool\":\"a/*\"}]}}", "ttl_s"},
        {"{\"tools\":{\"cache\":[{\"tool\":\"a/*\",\"ttl_s\":1.5}]}}", "ttl_s"},
        {"{\"tools\":{\"cache\":[{\"tool\":\"a/*\",\"ttl_s\":86401}]}}", "86400"},
        {"{\"tools\":{\"cache\":[{\"ttl_s\":1}]}}", "tool"},
        {"{\"tools\":{\"cache\":[{\"tools\":\"a\",\"ttl_s\":1}]}}", "tool, ttl_s"},
        {"{\"tools\":{\"cache\":{\"a/*\":60}}}", "list"},
        {"{", "line 1"},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_err err = {0};
        assert_null(load(cases[i].json, &err));
        assert_contains(err.msg, cases[i].says);
    }
    struct cs_err err = {0};
    struct cs_policy *p = NULL;
    assert_int_equal(cs_policy_load("/nowhere/policy.json", &p, &err), -1);
    assert_int_equal(err.code, CS_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(without_a_file_everything_is_allowed),
        CS_TEST(deny_wins_over_ask_and_ask_over_allow),
        CS_TEST(a_principal_has_its_own_lists_on_top),
        CS_TEST(a_pattern_may_name_any_spelling),
        CS_TEST(a_name_too_long_to_match_is_denied),
        CS_TEST(limits_come_from_the_last_rule_that_matches),
        CS_TEST(parameters_have_rules),
        CS_TEST(what_is_hidden_breaks_a_rule_for_it),
        CS_TEST(some_calls_may_be_repeated_and_some_results_kept),
        CS_TEST(what_is_not_understood_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

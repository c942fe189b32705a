#include "test.h"

#include "policy/policy.h"

static struct cs_policy *parse(const char *json)
{
    struct cs_policy *p = NULL;
    struct cs_err err = {0};
    if (cs_policy_parse(cs_str(json), "policy x", &p, &err) < 0)
        fail_msg("%s", err.msg);
    return p;
}

static void refuses(const char *json, const char *says)
{
    struct cs_policy *p = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_policy_parse(cs_str(json), "policy x", &p, &err), -1);
    assert_null(p);
    if (!strstr(err.msg, says) || strncmp(err.msg, "policy x: ", 10) != 0)
        fail_msg("'%s' is not in: %s", says, err.msg);
}

static void approvals_have_defaults(void **state)
{
    struct cs_approval_rules none = cs_policy_approvals(NULL);
    struct cs_policy *p = parse("{}");
    struct cs_approval_rules a = cs_policy_approvals(p);
    (void)state;
    assert_int_equal(a.timeout_s, 30);
    assert_int_equal(a.durable_timeout_s, 86400);
    assert_int_equal(a.four_eyes, CS_RISK_CRITICAL);
    assert_false(a.four_eyes_off);
    assert_int_equal(a.most_waiting, 100);
    assert_int_equal(a.webhook.len, 0);
    assert_memory_equal(&a, &none, sizeof a);
    cs_policy_unref(p);
}

static void approvals_are_read(void **state)
{
    struct cs_policy *p =
        parse("// of the house\n{\"approvals\": {\"timeout_s\": 60, \"durable_timeout_s\": 3600,"
              "\"four_eyes\": \"high\", \"most_waiting\": 5, \"webhook\": \"https://x.example/y\","
              "\"secret\": \"s3\", \"public_url\": \"http://h:1\",}}");
    struct cs_approval_rules a = cs_policy_approvals(p);
    (void)state;
    assert_int_equal(a.timeout_s, 60);
    assert_int_equal(a.durable_timeout_s, 3600);
    assert_int_equal(a.four_eyes, CS_RISK_HIGH);
    assert_int_equal(a.most_waiting, 5);
    assert_true(cs_str_is(a.webhook, "https://x.example/y"));
    assert_true(cs_str_is(a.secret, "s3"));
    assert_true(cs_str_is(a.public_url, "http://h:1"));
    cs_policy_set_secret(p, CS_STR("other"));
    assert_true(cs_str_is(cs_policy_approvals(p).secret, "other"));
    cs_policy_unref(p);
    p = parse("{\"approvals\":{\"four_eyes\":\"off\"}}");
    assert_true(cs_policy_approvals(p).four_eyes_off);
    cs_policy_unref(p);
}

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    refuses("[]", "must be an object");
    refuses("{", "line 1");
    refuses("{\"tols\":{}}", "the file: there is no setting 'tols'; did you mean 'tools'?");
    refuses("{\"zzz\":{}}", "there are: tools, privacy, risk, labels, flows, approvals");
    refuses("{\"tools\":{},\"tools\":{\"deny\":[\"*\"]}}", "");
    refuses("{\"privacy\":7}", "privacy: must be an object");
    refuses("{\"approvals\":[]}", "approvals: must be an object");
    refuses("{\"approvals\":{\"timeout\":3}}", "did you mean 'timeout_s'?");
    refuses("{\"approvals\":{\"timeout_s\":0}}", "approvals.timeout_s: must be a whole number");
    refuses("{\"approvals\":{\"timeout_s\":\"3\"}}", "approvals.timeout_s");
    refuses("{\"approvals\":{\"timeout_s\":2592001}}", "from 1 to 2592000");
    refuses("{\"approvals\":{\"four_eyes\":\"hi\"}}", "\"off\", \"high\" or \"critical\"");
    refuses("{\"approvals\":{\"four_eyes\":\"critcal\"}}", "did you mean \"critical\"?");
    refuses("{\"approvals\":{\"webhook\":\"ftp://x\"}}", "approvals.webhook: must be a URL");
    refuses("{\"approvals\":{\"secret\":\"\"}}", "approvals.secret");
    refuses("{\"approvals\":{\"secret\":\"a\\u0000b\"}}", "approvals.secret");
    refuses("{\"tools\":{\"principals\":{\"x\":[]}}}", "tools.principals");
    refuses("{\"tools\":{\"principals\":{\"x\":{\"denny\":[]}}}}", "did you mean 'deny'?");
    refuses("{\"tools\":{\"rules\":[7]}}", "tools.rules[0]");
    refuses("{\"tools\":{\"cache\":[7]}}", "tools.cache[0]: must be an object");
    refuses("{\"tools\":{\"timeout\":7}}", "did you mean 'timeout_ms'?");
}

static void the_hash_is_of_the_file_as_it_is(void **state)
{
    struct cs_policy *a = parse("{}"), *b = parse("{} "), *c = parse("{}"), *none = NULL;
    static const unsigned char zero[32];
    (void)state;
    assert_memory_not_equal(cs_policy_hash(a), cs_policy_hash(b), 32);
    assert_memory_equal(cs_policy_hash(a), cs_policy_hash(c), 32);
    assert_int_equal(cs_policy_load(NULL, &none, NULL), 0);
    assert_memory_equal(cs_policy_hash(none), zero, 32);
    assert_int_equal(cs_policy_text(none).len, 0);
    assert_true(cs_str_is(cs_policy_text(a), "{}"));
    cs_policy_unref(a);
    cs_policy_unref(b);
    cs_policy_unref(c);
    cs_policy_unref(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(approvals_have_defaults),
        cmocka_unit_test(approvals_are_read),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(the_hash_is_of_the_file_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

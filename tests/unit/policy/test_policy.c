#include "test.h"

#include "policy/policy.h"

static void an_ordinary_request_is_admitted(void **state)
{
    (void)state;
    struct cs_limits limits = cs_limits_default();
    struct cs_err err = {0};
    assert_int_equal(cs_policy_admit(CS_STR("return 1"), CS_STR("{\"a\":1}"), &limits, &err), 0);
    assert_int_equal(cs_policy_admit(CS_STR(""), CS_STR(""), &limits, &err), 0);
}

static void sizes_forms_and_wishes_are_checked_before_anything_runs(void **state)
{
    (void)state;
    struct cs_limits limits = cs_limits_default();
    struct cs_err err = {0};
    char *big = calloc(1, CS_INPUTS_MAX + 1);
    assert_int_equal(cs_policy_admit(cs_strn(big, CS_CODE_MAX + 1), CS_STR(""), &limits, &err), -1);
    assert_int_equal(err.code, CS_LIMIT);
    assert_int_equal(cs_policy_admit(CS_STR(""), cs_strn(big, CS_INPUTS_MAX + 1), &limits, &err),
                     -1);
    assert_int_equal(err.code, CS_LIMIT);
    free(big);
    assert_int_equal(cs_policy_inputs(CS_STR("{a:1}"), &limits, &err), -1);
    assert_int_equal(err.code, CS_INVALID);
    assert_contains(err.msg, "inputs");
    limits.memory = 1ull << 40;
    assert_int_equal(cs_policy_admit(CS_STR(""), CS_STR(""), &limits, &err), -1);
    assert_contains(err.msg, "memory");
}

static void plain_programs_are_low_risk_and_keep_their_limits(void **state)
{
    (void)state;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_limits asked = cs_limits_default();
    struct cs_verdict v;
    cs_policy_assess(CS_STR("{\"language\":\"typescript\",\"dynamic_code\":[]}"), &asked, &arena,
                     &v);
    assert_true(v.allowed);
    assert_int_equal(v.risk, CS_RISK_LOW);
    assert_int_equal(v.limits.memory, asked.memory);
    assert_int_equal(v.reason_count, 0);
}

static void code_made_at_run_time_raises_the_risk_and_lowers_the_limits(void **state)
{
    (void)state;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_limits asked = cs_limits_default();
    struct cs_verdict v;
    cs_policy_assess(CS_STR("{\"dynamic_code\":[{\"what\":\"eval\",\"line\":1}]}"), &asked, &arena,
                     &v);
    assert_true(v.allowed);
    assert_int_equal(v.risk, CS_RISK_MEDIUM);
    assert_int_equal(v.limits.memory, 256ull << 20);
    assert_int_equal(v.limits.cpu, 25);
    assert_true(v.reason_count > 0);
    assert_true(v.mitigation_count >= 2);
}

static void facts_that_cannot_be_read_are_a_refusal(void **state)
{
    (void)state;
    static const char *const broken[] = {"", "{", "[]", "null", "{\"a\":1,\"a\":2}", "\xff"};
    struct cs_limits asked = cs_limits_default();
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        CS_AUTO_ARENA struct cs_arena arena = {0};
        struct cs_verdict v;
        cs_policy_assess(cs_str(broken[i]), &asked, &arena, &v);
        assert_false(v.allowed);
        assert_int_equal(v.risk, CS_RISK_CRITICAL);
        assert_true(v.reason_count > 0);
    }
}

static void the_ceiling_falls_as_the_risk_rises(void **state)
{
    (void)state;
    for (int r = CS_RISK_LOW; r < CS_RISK_CRITICAL; r++) {
        struct cs_limits low = cs_policy_ceiling((enum cs_risk)r);
        struct cs_limits high = cs_policy_ceiling((enum cs_risk)(r + 1));
        for (int i = 0; i < CS_LIMIT_COUNT; i++)
            assert_true(cs_limit_get(&low, (enum cs_limit)i) >=
                        cs_limit_get(&high, (enum cs_limit)i));
    }
}

static void a_guest_is_never_low_risk(void **state)
{
    (void)state;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_limits asked = cs_limits_default();
    struct cs_verdict v;
    cs_policy_assess_guest("python", &asked, &arena, &v);
    assert_int_equal(v.risk, CS_RISK_MEDIUM);
    assert_string_equal(cs_risk_name(v.risk), "MEDIUM");
    assert_contains(v.reasons[0].at, "python");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(an_ordinary_request_is_admitted),
        CS_TEST(sizes_forms_and_wishes_are_checked_before_anything_runs),
        CS_TEST(plain_programs_are_low_risk_and_keep_their_limits),
        CS_TEST(code_made_at_run_time_raises_the_risk_and_lowers_the_limits),
        CS_TEST(facts_that_cannot_be_read_are_a_refusal),
        CS_TEST(the_ceiling_falls_as_the_risk_rises),
        CS_TEST(a_guest_is_never_low_risk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

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

static void the_ceiling_falls_as_the_risk_rises(void **state)
{
    (void)state;
    for (int r = CS_RISK_LOW; r < CS_RISK_CRITICAL; r++) {
        struct cs_limits low = cs_policy_ceiling(NULL, (enum cs_risk)r);
        struct cs_limits high = cs_policy_ceiling(NULL, (enum cs_risk)(r + 1));
        for (int i = 0; i < CS_LIMIT_COUNT; i++)
            assert_true(cs_limit_get(&low, (enum cs_limit)i) >=
                        cs_limit_get(&high, (enum cs_limit)i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(an_ordinary_request_is_admitted),
        CS_TEST(sizes_forms_and_wishes_are_checked_before_anything_runs),
        CS_TEST(the_ceiling_falls_as_the_risk_rises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

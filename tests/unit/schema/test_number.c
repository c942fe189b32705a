/* Numbers are compared and divided as they are written, not as doubles. */
#include "schema_cases.h"

#include "schema/number.h"

static int compare(const char *a, const char *b)
{
    struct cs_num x = cs_num_read(cs_str(a)), y = cs_num_read(cs_str(b));
    int order = cs_num_compare(&x, &y);
    assert_int_equal(cs_num_compare(&y, &x), -order);
    if (order == 0)
        assert_int_equal(cs_num_hash(&x, 7), cs_num_hash(&y, 7));
    return order;
}

static void one_number_has_many_forms(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "1", "1.0", "1e0", "10e-1", "0.1e1", "1.000000E+00", "100000000000000000000e-20"};
    for (size_t i = 0; i < CS_COUNT(forms); i++)
        for (size_t j = 0; j < CS_COUNT(forms); j++)
            assert_int_equal(compare(forms[i], forms[j]), 0);
    assert_int_equal(compare("0", "-0.0e5"), 0);
    assert_int_equal(compare("0", "0e99999999999999999999"), 0);
    assert_int_equal(compare("1200", "1.2e3"), 0);
    assert_int_equal(compare("0.00012", "12e-5"), 0);
}

static void order_is_exact(void **state)
{
    (void)state;
    assert_int_equal(compare("9007199254740993", "9007199254740992.0"), 1);
    assert_int_equal(compare("18446744073709551616", "18446744073709551615"), 1);
    assert_int_equal(compare("0.1", "0.10000000000000000001"), -1);
    assert_int_equal(compare("1e400", "1e399"), 1);
    assert_int_equal(compare("-1e400", "1e-400"), -1);
    assert_int_equal(compare("-2", "-3"), 1);
    assert_int_equal(compare("1e-400", "0"), 1);
    assert_int_equal(compare("-1e-400", "0"), -1);
    assert_int_equal(compare("1e99999999999999999999", "1e308"), 1);
    assert_int_equal(compare("999999999999999999", "1000000000000000000"), -1);
    assert_int_equal(compare("123456789012345678901234567890", "123456789012345678901234567891"),
                     -1);
}

static bool multiple(const char *n, const char *unit)
{
    struct cs_num x = cs_num_read(cs_str(n)), u = cs_num_read(cs_str(unit));
    return cs_num_is_multiple(&x, &u);
}

static void multiples_are_exact(void **state)
{
    (void)state;
    assert_true(multiple("19.99", "0.01"));
    assert_true(multiple("0.3", "0.1"));
    assert_true(multiple("4.35", "0.05"));
    assert_false(multiple("19.995", "0.01"));
    assert_true(multiple("1e308", "0.5"));
    assert_false(multiple("1e308", "0.123456789"));
    assert_true(multiple("1e400", "7e399") == false);
    assert_true(multiple("1e400", "2"));
    assert_true(multiple("0", "3"));
    assert_true(multiple("-9", "3"));
    assert_true(multiple("123456789012345678901234567890", "10"));
    assert_false(multiple("123456789012345678901234567891", "10"));
    assert_true(multiple("12391239123", "1e-8"));
    assert_false(multiple("10", "20"));
    assert_false(multiple("5", "10"));
}

static void integers_may_have_a_point(void **state)
{
    (void)state;
    static const char *const yes[] = {"1", "-0", "1.0", "1e400", "12.5e1", "-3.00"};
    static const char *const no[] = {"1.5", "1e-1", "12.55e1", "-0.1", "1e-400"};
    for (size_t i = 0; i < CS_COUNT(yes); i++)
        assert_true(fits("{\"type\":\"integer\"}", yes[i]));
    for (size_t i = 0; i < CS_COUNT(no); i++)
        assert_false(fits("{\"type\":\"integer\"}", no[i]));
}

static void checks_use_them(void **state)
{
    (void)state;
    assert_false(fits("{\"maximum\":9007199254740992}", "9007199254740993"));
    assert_true(fits("{\"const\":100}", "1e2"));
    assert_false(fits("{\"const\":9007199254740992}", "9007199254740993"));
    assert_true(fits("{\"enum\":[1.0]}", "1"));
    assert_false(fits("{\"uniqueItems\":true}", "[1, 1.0]"));
    assert_true(fits("{\"uniqueItems\":true}", "[9007199254740993, 9007199254740992, true, 1]"));
    assert_true(fits("{\"maxLength\":1e400}", "\"a\""));
    assert_false(fits("{\"minItems\":2.0}", "[1]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(one_number_has_many_forms), CS_TEST(order_is_exact),  CS_TEST(multiples_are_exact),
        CS_TEST(integers_may_have_a_point), CS_TEST(checks_use_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

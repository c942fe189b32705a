#include "test.h"

#include "sandbox/limits.h"

static void amounts_are_read_in_the_usual_spellings(void **state)
{
    static const struct {
        enum cs_limit limit;
        const char *text;
        uint64_t value;
    } rows[] = {
        {CS_LIMIT_MEMORY, "64M", 64u << 20},
        {CS_LIMIT_MEMORY, "64MB", 64u << 20},
        {CS_LIMIT_MEMORY, "64MiB", 64u << 20},
        {CS_LIMIT_MEMORY, "64m", 64u << 20},
        {CS_LIMIT_MEMORY, "1.5G", 1610612736},
        {CS_LIMIT_MEMORY, "4096", 4096},
        {CS_LIMIT_MEMORY, "4k", 4096},
        {CS_LIMIT_MEMORY, "100b", 100},
        {CS_LIMIT_WALL_CLOCK, "500ms", 500},
        {CS_LIMIT_WALL_CLOCK, "30s", 30000},
        {CS_LIMIT_WALL_CLOCK, "2m", 120000},
        {CS_LIMIT_WALL_CLOCK, "0.5s", 500},
        {CS_LIMIT_WALL_CLOCK, "250", 250},
        {CS_LIMIT_CPU, "25%", 25},
        {CS_LIMIT_CPU, "25", 25},
        {CS_LIMIT_PROCESSES, "8", 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = 0;
        struct cs_err err = {0};
        if (cs_limit_parse(rows[i].limit, rows[i].text, &value, &err) < 0)
            fail_msg("%s: %s", rows[i].text, err.msg);
        assert_int_equal(value, rows[i].value);
    }
}

static void nonsense_is_refused_with_an_example(void **state)
{
    static const char *const texts[] = {"", "x", "-1", "0", "12q", "1e99", "nan", "inf", "5 M x"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        uint64_t value = 7;
        struct cs_err err = {0};
        assert_int_equal(cs_limit_parse(CS_LIMIT_MEMORY, texts[i], &value, &err), -1);
        assert_int_equal(err.code, CS_INVALID);
        assert_int_equal(value, 7);
        assert_contains(err.msg, "256M");
    }
}

static void a_limit_is_assigned_by_its_name(void **state)
{
    (void)state;
    struct cs_limits limits = cs_limits_default();
    struct cs_err err = {0};
    assert_int_equal(cs_limits_assign(&limits, "processes=3", &err), 0);
    assert_int_equal(limits.processes, 3);
    assert_int_equal(cs_limits_assign(&limits, "output=2M", &err), 0);
    assert_int_equal(limits.output, 2u << 20);
    assert_int_equal(cs_limits_assign(&limits, "no_such=3", &err), -1);
    assert_contains(err.msg, "no_such");
    assert_int_equal(cs_limits_assign(&limits, "memory", &err), -1);
    assert_int_equal(cs_limits_assign(&limits, "memory=lots", &err), -1);
}

static void every_limit_has_a_name_a_unit_and_a_default(void **state)
{
    (void)state;
    struct cs_limits limits = cs_limits_default();
    for (int i = 0; i < CS_LIMIT_COUNT; i++) {
        enum cs_limit limit = (enum cs_limit)i;
        assert_true(strlen(cs_limit_name(limit)) > 0);
        assert_true(strlen(cs_limit_unit(limit)) > 0);
        assert_true(strlen(cs_limit_what(limit)) > 0);
        assert_true(cs_limit_get(&limits, limit) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(amounts_are_read_in_the_usual_spellings),
        CS_TEST(nonsense_is_refused_with_an_example),
        CS_TEST(a_limit_is_assigned_by_its_name),
        CS_TEST(every_limit_has_a_name_a_unit_and_a_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

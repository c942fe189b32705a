#include "test.h"

#include "policy/keys.h"

#define T0 1700000000000

static const struct cs_str ann = {"ann", 3}, bob = {"bob", 3};

static int take_many(struct cs_rates *r, struct cs_str name, int64_t now, int times)
{
    int allowed = 0;
    for (int i = 0; i < times; i++)
        allowed += cs_rate_take(r, name, now).allowed;
    return allowed;
}

static void so_many_a_minute_and_then_no_more(void **state)
{
    (void)state;
    struct cs_rates *r = cs_rates_new((struct cs_rate_limits){.per_minute = 3});
    struct cs_rate rate = cs_rate_take(r, ann, T0);
    assert_true(rate.allowed);
    assert_int_equal(rate.limit, 3);
    assert_int_equal(rate.remaining, 2);
    assert_int_equal(rate.reset_s, 60);
    assert_int_equal(rate.retry_after_s, 0);
    cs_rate_take(r, ann, T0 + 10000);
    rate = cs_rate_take(r, ann, T0 + 20000);
    assert_true(rate.allowed);
    assert_int_equal(rate.remaining, 0);
    rate = cs_rate_take(r, ann, T0 + 20000);
    assert_false(rate.allowed);
    assert_int_equal(rate.limit, 3);
    assert_int_equal(rate.remaining, 0);
    assert_in_range(rate.retry_after_s, 40, 41);
    assert_int_equal(rate.reset_s, 60);
    /* Whoever waits as long as told is let in, and nobody else suffers. */
    assert_true(cs_rate_take(r, bob, T0 + 20000).allowed);
    assert_true(cs_rate_take(r, ann, T0 + 20000 + rate.retry_after_s * 1000).allowed);
    assert_false(cs_rate_take(r, ann, T0 + 20000 + rate.retry_after_s * 1000).allowed);
    cs_rates_free(r);
}

/* Whenever the minute begins, and however it is asked for. */
static void no_minute_has_more_than_the_limit(void **state)
{
    (void)state;
    struct cs_rates *r = cs_rates_new((struct cs_rate_limits){.per_minute = 10});
    static int64_t at[4000];
    int count = 0;
    uint32_t seed = 7;
    for (int64_t now = T0; now < T0 + 600000; now += 50 + seed % 400) {
        seed = seed * 1664525 + 1013904223;
        if (cs_rate_take(r, ann, now).allowed)
            at[count++] = now;
    }
    assert_true(count >= 10 * 9);
    for (int i = 10; i < count; i++)
        assert_true(at[i] - at[i - 10] >= 60000);
    cs_rates_free(r);
}

static void the_hour_counts_too(void **state)
{
    (void)state;
    struct cs_rates *r = cs_rates_new((struct cs_rate_limits){.per_minute = 10, .per_hour = 25});
    assert_int_equal(take_many(r, ann, T0, 20), 10);
    assert_int_equal(take_many(r, ann, T0 + 61000, 20), 10);
    struct cs_rate rate = cs_rate_take(r, ann, T0 + 122000);
    assert_true(rate.allowed);
    assert_int_equal(rate.limit, 25); /* 4 left in the hour, 9 in the minute */
    assert_int_equal(rate.remaining, 4);
    assert_int_equal(take_many(r, ann, T0 + 122000, 20), 4);
    rate = cs_rate_take(r, ann, T0 + 122000);
    assert_false(rate.allowed);
    assert_in_range(rate.retry_after_s, 3478, 3660);
    assert_true(cs_rate_take(r, ann, T0 + 122000 + rate.retry_after_s * 1000).allowed);
    cs_rates_free(r);
}

static void what_is_refused_does_not_count(void **state)
{
    (void)state;
    struct cs_rates *r = cs_rates_new((struct cs_rate_limits){.per_minute = 5, .per_hour = 8});
    assert_int_equal(take_many(r, ann, T0, 1000), 5);
    assert_int_equal(take_many(r, ann, T0 + 61000, 1000), 3);
    cs_rates_free(r);
}

static void without_limits_all_is_allowed(void **state)
{
    (void)state;
    struct cs_rates *r = cs_rates_new((struct cs_rate_limits){0});
    assert_int_equal(take_many(r, ann, T0, 1000), 1000);
    assert_int_equal(cs_rate_take(r, ann, T0).limit, 0);
    cs_rates_set(r, (struct cs_rate_limits){.per_hour = 5});
    assert_int_equal(take_many(r, ann, T0, 1000), 5);
    cs_rates_set(r, (struct cs_rate_limits){.per_hour = 2});
    struct cs_rate rate = cs_rate_take(r, ann, T0);
    assert_false(rate.allowed);
    assert_int_equal(rate.remaining, 0);
    cs_rates_set(r, (struct cs_rate_limits){.per_hour = 6});
    assert_int_equal(take_many(r, ann, T0, 1000), 1);
    cs_rates_free(r);
    cs_rates_free(NULL);
}

static void many_names_take_bounded_room(void **state)
{
    (void)state;
    struct cs_rates *r = cs_rates_new((struct cs_rate_limits){.per_minute = 1});
    assert_true(cs_rate_take(r, ann, T0).allowed);
    for (int i = 0; i < 20000; i++) {
        char name[32];
        snprintf(name, sizeof name, "name %d", i);
        assert_true(cs_rate_take(r, cs_str(name), T0).allowed);
        if (i % 1000 == 0)
            assert_false(cs_rate_take(r, ann, T0).allowed); /* seen often, so remembered */
    }
    for (int i = 0; i < 10000; i++) {
        char name[32];
        snprintf(name, sizeof name, "other %d", i);
        cs_rate_take(r, cs_str(name), T0);
    }
    assert_true(cs_rate_take(r, ann, T0).allowed); /* not seen for long, so forgotten */
    cs_rates_free(r);
}

static void odd_clocks_and_names_are_survived(void **state)
{
    (void)state;
    struct cs_rates *r = cs_rates_new((struct cs_rate_limits){.per_minute = 2, .per_hour = 100});
    char big[400];
    memset(big, 'x', sizeof big);
    assert_true(cs_rate_take(r, cs_strn(big, sizeof big), -5).allowed);
    assert_true(cs_rate_take(r, cs_strn(NULL, 0), 0).allowed);
    assert_int_equal(take_many(r, ann, T0, 5), 2);
    assert_int_equal(take_many(r, ann, T0 - 3600000, 5), 0); /* it went back an hour */
    assert_int_equal(take_many(r, ann, T0 + 61000, 5), 2);
    assert_int_equal(take_many(r, ann, INT64_MAX, 5), 2);
    cs_rates_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(so_many_a_minute_and_then_no_more),
        CS_TEST(no_minute_has_more_than_the_limit),
        CS_TEST(the_hour_counts_too),
        CS_TEST(what_is_refused_does_not_count),
        CS_TEST(without_limits_all_is_allowed),
        CS_TEST(many_names_take_bounded_room),
        CS_TEST(odd_clocks_and_names_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

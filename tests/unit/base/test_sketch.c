#include "test.h"

#include <math.h>

#include "base/mem.h"
#include "base/sketch.h"

#define NUMBERS 20000

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static double unit(uint64_t *seed)
{
    return (double)(next_random(seed) >> 11) / 9007199254740992.0;
}

/* --- what numbers look like --- */

static uint64_t flat(uint64_t *seed)
{
    return next_random(seed) % 1000000;
}

static uint64_t exponential(uint64_t *seed)
{
    return (uint64_t)(-log(1 - unit(seed)) * 50000);
}

static uint64_t heavy(uint64_t *seed) /* Pareto: some are huge */
{
    return (uint64_t)(1000 / pow(1 - unit(seed), 1.2));
}

static uint64_t two_humps(uint64_t *seed)
{
    return next_random(seed) % 10 ? 1500 + next_random(seed) % 500 : 30000000;
}

static uint64_t small(uint64_t *seed)
{
    return next_random(seed) % 5;
}

static uint64_t any_size(uint64_t *seed)
{
    return next_random(seed) >> (next_random(seed) % 64);
}

static uint64_t constant(uint64_t *seed)
{
    (void)seed;
    return 4711;
}

static uint64_t (*const distributions[])(uint64_t *) = {
    flat, exponential, heavy, two_humps, small, any_size, constant,
};

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void quantiles_are_within_one_percent(void **state)
{
    (void)state;
    static const double qs[] = {0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1};
    uint64_t *numbers = cs_calloc(NUMBERS, sizeof *numbers);
    for (size_t d = 0; d < CS_COUNT(distributions); d++) {
        struct cs_sketch s = {0};
        uint64_t seed = 88172645463325252ull + d;
        for (size_t i = 0; i < NUMBERS; i++) {
            numbers[i] = distributions[d](&seed);
            cs_sketch_add(&s, numbers[i]);
        }
        qsort(numbers, NUMBERS, sizeof *numbers, by_size);
        for (size_t i = 0; i < CS_COUNT(qs); i++) {
            double rank = fmax(ceil(qs[i] * NUMBERS), 1);
            double exact = (double)numbers[(size_t)rank - 1];
            double got = cs_sketch_quantile(&s, qs[i]);
            if (fabs(got - exact) > exact * 0.01 + 1e-9)
                fail_msg("distribution %zu, %g: %g, exactly %g", d, qs[i], got, exact);
        }
        assert_int_equal(s.count, NUMBERS);
        assert_int_equal(s.most, numbers[NUMBERS - 1]);
        cs_sketch_done(&s);
    }
    free(numbers);
}

static void assert_same(const struct cs_sketch *a, const struct cs_sketch *b)
{
    CS_AUTO_BUF struct cs_buf x = {0}, y = {0};
    cs_sketch_put(a, &x);
    cs_sketch_put(b, &y);
    assert_string_equal(cs_buf_cstr(&x), cs_buf_cstr(&y));
}

static void merging_equals_adding(void **state)
{
    (void)state;
    for (size_t d = 0; d < CS_COUNT(distributions); d++) {
        struct cs_sketch whole = {0}, parts[3] = {0}, sum = {0}, back = {0};
        uint64_t seed = 99 + d;
        for (size_t i = 0; i < NUMBERS; i++) {
            uint64_t n = distributions[(d + i % 3) % CS_COUNT(distributions)](&seed);
            cs_sketch_add(&whole, n);
            cs_sketch_add(&parts[i % 3], n);
        }
        for (int i = 0; i < 3; i++)
            cs_sketch_merge(&sum, &parts[i]);
        for (int i = 2; i >= 0; i--) /* in any order */
            cs_sketch_merge(&back, &parts[i]);
        assert_same(&sum, &whole);
        assert_same(&back, &whole);
        cs_sketch_merge(&sum, &(struct cs_sketch){0});
        assert_same(&sum, &whole);
        for (int i = 0; i < 3; i++)
            cs_sketch_done(&parts[i]);
        cs_sketch_done(&whole);
        cs_sketch_done(&sum);
        cs_sketch_done(&back);
    }
}

static void text_reads_back(void **state)
{
    (void)state;
    for (size_t d = 0; d < CS_COUNT(distributions); d++)
        for (size_t n = 0; n < 300; n += 1 + n / 2) {
            struct cs_sketch s = {0}, again = {0};
            CS_AUTO_BUF struct cs_buf text = {0};
            uint64_t seed = 7 + d;
            for (size_t i = 0; i < n; i++)
                cs_sketch_add(&s, distributions[d](&seed));
            cs_sketch_put(&s, &text);
            assert_true(cs_sketch_read(cs_buf_str(&text), &again));
            assert_same(&s, &again);
            assert_true(cs_sketch_quantile(&s, 0.5) == cs_sketch_quantile(&again, 0.5));
            cs_sketch_done(&s);
            cs_sketch_done(&again);
        }
}

static void memory_and_text_are_bounded(void **state)
{
    (void)state;
    struct cs_sketch s = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    uint64_t seed = 5;
    cs_sketch_add(&s, UINT64_MAX);
    cs_sketch_add(&s, 1);
    for (size_t i = 0; i < 200000; i++)
        cs_sketch_add(&s, any_size(&seed));
    assert_true(s.cap <= 4096);
    cs_sketch_put(&s, &text);
    assert_true(text.len < 32768);
    assert_int_equal(s.sum, UINT64_MAX); /* it does not wrap */
    assert_true(cs_sketch_quantile(&s, 1) >= 0.99 * 18446744073709551615.0);
    cs_sketch_done(&s);
}

static void few_numbers_have_the_nearest_rank(void **state)
{
    (void)state;
    struct cs_sketch s = {0};
    cs_sketch_add(&s, 2);
    cs_sketch_add(&s, 7);
    cs_sketch_add(&s, 121);
    assert_true(fabs(cs_sketch_quantile(&s, 0.5) - 7) < 0.1);
    assert_true(fabs(cs_sketch_quantile(&s, 0.99) - 121) < 1.3);
    cs_sketch_done(&s);
}

static void nothing_has_no_quantile(void **state)
{
    (void)state;
    struct cs_sketch s = {0};
    assert_true(cs_sketch_quantile(&s, 0.5) == 0);
    cs_sketch_add(&s, 0);
    assert_true(cs_sketch_quantile(&s, 0) == 0 && cs_sketch_quantile(&s, 1) == 0);
    cs_sketch_done(&s);
    cs_sketch_done(&s);
}

static void hostile_text_is_rejected(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "1",
        "2:0:0:0:0:0:",
        "1:0:0:0:0:0",
        "1:1:5:5:0:0:",                    /* a number is missing */
        "1:1:5:5:0:0:2",                   /* more than there are */
        "1:2:5:5:0:0:1,1,1",               /* the same */
        "1:1:5:5:0:0:1,",                  /* ends with a comma */
        "1:1:5:5:0:0:,1",                  /* begins with one */
        "1:1:5:5:0:0:0,1",                 /* an empty bucket is z1 */
        "1:1:5:5:0:0:z0,1",                /* none are not written */
        "1:1:5:5:0:0:z4294967295,1",       /* beyond the last bucket */
        "1:1:5:5:0:2219:1,z1",             /* the same */
        "1:1:5:5:0:2220:1",                /* the same */
        "1:1:5:5:2:0:",                    /* more zeros than numbers */
        "1:-1:5:5:0:0:1",                  /* no number */
        "1:1:5:5:0:-3:1",                  /* the same */
        "1:1:5:5:0:0:1 ",                  /* something after it */
        "1:18446744073709551616:5:5:0:0:", /* too large */
        "1:18446744073709551615:5:5:18446744073709551615:0:",
        "1:1:99999999999999999999999:5:0:0:1",
    };
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        struct cs_sketch s = {.count = 77};
        if (cs_sketch_read(cs_str(bad[i]), &s))
            fail_msg("\"%s\" was read", bad[i]);
        assert_int_equal(s.count, 77); /* untouched */
    }
    CS_AUTO_BUF struct cs_buf huge = {0};
    cs_buf_puts(&huge, "1:1:5:5:0:0:");
    for (int i = 0; i < 100000; i++)
        cs_buf_puts(&huge, "z1,");
    cs_buf_putc(&huge, '1');
    struct cs_sketch s = {0};
    assert_false(cs_sketch_read(cs_buf_str(&huge), &s));
    assert_true(cs_sketch_read(CS_STR("1:1:5:5:0:80:1"), &s));
    cs_sketch_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(quantiles_are_within_one_percent),
        CS_TEST(merging_equals_adding),
        CS_TEST(text_reads_back),
        CS_TEST(memory_and_text_are_bounded),
        CS_TEST(few_numbers_have_the_nearest_rank),
        CS_TEST(nothing_has_no_quantile),
        CS_TEST(hostile_text_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

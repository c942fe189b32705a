/* Times as people read them. */
#include "base/time.h"

#include "test.h"

static void times_are_utc(void **state)
{
    char text[CS_TIME_TEXT];
    (void)state;
    assert_string_equal(cs_time_text(1700000000123, text), "2023-11-14T22:13:20Z");
    assert_string_equal(cs_time_text_ms(1700000000123, text), "2023-11-14T22:13:20.123Z");
    assert_string_equal(cs_time_text_ms(1, text), "1970-01-01T00:00:00.001Z");
}

static void never_is_empty(void **state)
{
    char text[CS_TIME_TEXT];
    (void)state;
    assert_string_equal(cs_time_text(0, text), "");
    assert_string_equal(cs_time_text_ms(-1, text), "");
    assert_string_equal(cs_time_text(INT64_MAX, text), "292278994-08-17T07:12:55Z");
}

static void times_are_read(void **state)
{
    static const char *const wrong[] = {"",
                                        "2023-11-14",
                                        "2023-11-14T22:13:20",
                                        "2023-11-14 22:13:20Z",
                                        "2023-02-30T00:00:00Z",
                                        "2023-11-14T24:13:20Z",
                                        "2023-11-14T22:13:2 Z",
                                        "2023-11-14T22:13:20.Z",
                                        "2023-11-14T22:13:20ZZ",
                                        "2023-11-14T22:13:20+1:00",
                                        "2023-11-14T22:13:20+25:00",
                                        "2023-11-14T22:13:20+-1:00"};
    int64_t ms = 0;
    (void)state;
    assert_true(cs_time_parse(CS_STR("2023-11-14T22:13:20Z"), &ms));
    assert_int_equal(ms, 1700000000000);
    assert_true(cs_time_parse(CS_STR("2023-11-15T00:13:20.1234+02:00"), &ms));
    assert_int_equal(ms, 1700000000123);
    assert_true(cs_time_parse(CS_STR("2023-11-14t17:43:20.5-04:30"), &ms));
    assert_int_equal(ms, 1700000000500);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(cs_time_parse(cs_str(wrong[i]), &ms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {CS_TEST(times_are_utc), CS_TEST(never_is_empty),
                                       CS_TEST(times_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {CS_TEST(times_are_utc), CS_TEST(never_is_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"

#include "base/own.h"
#include "base/trace.h"

#define GOOD "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static void header_reads_back(void **state)
{
    (void)state;
    struct cs_trace t = {0};
    char header[CS_TRACEPARENT];
    assert_false(cs_trace_is(&t));
    assert_true(cs_trace_parse(CS_STR(GOOD), &t));
    assert_true(cs_trace_is(&t) && t.sampled);
    assert_int_equal(t.trace[1], 0xf7);
    assert_int_equal(t.span[7], 0x31);
    cs_trace_put(&t, header);
    assert_string_equal(header, GOOD);
    t.sampled = false;
    cs_trace_put(&t, header);
    assert_string_equal(header + 53, "00");
}

static void later_versions_are_read(void **state)
{
    (void)state;
    struct cs_trace t = {0};
    assert_true(
        cs_trace_parse(CS_STR("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03-what"), &t));
    assert_true(t.sampled);
    assert_true(
        cs_trace_parse(CS_STR("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02"), &t));
    assert_false(t.sampled);
}

static void malformed_headers_are_no_trace(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "00",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-011",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.what",
        "0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
        "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
        " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-zz",
        GOOD ", " GOOD,
    };
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        struct cs_trace t = {0};
        if (cs_trace_parse(cs_str(bad[i]), &t) || cs_trace_is(&t))
            fail_msg("\"%s\" was read", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(header_reads_back),
        CS_TEST(later_versions_are_read),
        CS_TEST(malformed_headers_are_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"

#include "base/base64.h"

static void bytes_come_back(void **state)
{
    (void)state;
    char bytes[64];
    for (size_t n = 0; n < sizeof bytes; n++) {
        CS_AUTO_BUF struct cs_buf text = {0}, back = {0};
        bytes[n] = (char)(n * 37);
        cs_base64(cs_strn(bytes, n), &text);
        assert_int_equal(text.len, (n + 2) / 3 * 4);
        assert_int_equal(cs_base64_read(cs_buf_str(&text), &back), 0);
        assert_int_equal(back.len, n);
        assert_true(n == 0 || memcmp(back.at, bytes, n) == 0);
    }
}

static void what_is_no_base64_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "a", "ab", "abc", "====", "a===", "ab=c", "ab c", "ab\n=", "ab-_", "abcd=ab="};
    for (size_t i = 0; i < CS_COUNT(wrong); i++) {
        CS_AUTO_BUF struct cs_buf back = {0};
        assert_int_equal(cs_base64_read(cs_str(wrong[i]), &back), -1);
        assert_int_equal(back.len, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back),
        cmocka_unit_test(what_is_no_base64_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

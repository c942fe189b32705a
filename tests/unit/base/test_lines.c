#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/lines.h"

static void lines_end_where_the_compiler_says(void **state)
{
    (void)state;
    struct cs_str rest = CS_STR("a\rb\xe2\x80\xa8"
                                "c\r\n\nd"),
                  line;
    static const char *const script[] = {"a", "b", "c", "", "d"};
    assert_int_equal(cs_lines_count(rest, true), 5);
    assert_int_equal(cs_lines_count(rest, false), 3);
    for (size_t i = 0; i < 5; i++) {
        assert_true(cs_line_next(&rest, true, &line));
        assert_true(cs_str_is(line, script[i]));
    }
    assert_false(cs_line_next(&rest, true, &line));
    assert_int_equal(cs_lines_count((struct cs_str){0}, true), 0);
    assert_int_equal(cs_lines_count(CS_STR("a\n"), true), 1);
}

static void columns_are_utf16_units(void **state)
{
    (void)state;
    struct cs_str line = CS_STR("\xc3\xa4\xf0\x9f\x98\x80x");
    assert_int_equal(cs_line_offset(line, 1), 0);
    assert_int_equal(cs_line_offset(line, 2), 2);
    assert_int_equal(cs_line_offset(line, 4), 6);
    assert_int_equal(cs_line_offset(line, 0), 0);
    assert_int_equal(cs_line_offset(line, 100), line.len);
    assert_int_equal(cs_text_aligned(line, 4), 2);
    assert_int_equal(cs_text_aligned(line, line.len), line.len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_where_the_compiler_says),
        cmocka_unit_test(columns_are_utf16_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

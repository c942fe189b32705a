#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

static void zeroed_is_empty_and_done_is_harmless(void **state)
{
    (void)state;
    struct cs_buf b = {0};
    assert_int_equal(cs_buf_str(&b).len, 0);
    cs_buf_clear(&b);
    cs_buf_drop(&b, 0);
    cs_buf_done(&b);
    cs_buf_done(&b);
    assert_null(b.at);
}

static void puts_append_in_order(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_buf_put(&b, "ab\0c", 4);
    cs_buf_putc(&b, 'd');
    cs_buf_puts(&b, "ef");
    cs_buf_putstr(&b, CS_STR("gh"));
    cs_buf_printf(&b, "-%d-", 42);
    assert_int_equal(b.len, 13);
    assert_memory_equal(b.at, "ab\0cdefgh-42-", 13);
}

static void nothing_appended_changes_nothing(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_buf_put(&b, NULL, 0);
    cs_buf_puts(&b, "");
    cs_buf_putstr(&b, (struct cs_str){0});
    cs_buf_printf(&b, "%s", "");
    assert_int_equal(b.len, 0);
}

static void growth_keeps_content_at_every_size(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    for (int i = 0; i < 100000; i++)
        cs_buf_putc(&b, (char)(i % 251));
    assert_int_equal(b.len, 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal((unsigned char)b.at[i], i % 251);
}

static void room_gives_at_least_what_was_asked(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    assert_non_null(cs_buf_room(&b, 0));
    for (size_t n = 1; n < 100000; n = n * 3 + 1) {
        char *to = cs_buf_room(&b, n);
        assert_ptr_equal(to, b.at + b.len);
        assert_true(b.cap - b.len >= n);
        memset(to, 'x', n);
        cs_buf_added(&b, n);
    }
}

static void printf_longer_than_its_first_guess_is_whole(void **state)
{
    (void)state;
    for (int width = 0; width < 700; width += 7) {
        CS_AUTO_BUF struct cs_buf b = {0};
        cs_buf_puts(&b, "start");
        cs_buf_printf(&b, "%*d", width, 7);
        cs_buf_printf(&b, "%s", "end");
        size_t number = width > 1 ? (size_t)width : 1;
        assert_int_equal(b.len, 5 + number + 3);
        assert_memory_equal(b.at + 5 + number - 1, "7end", 4);
    }
}

static void drop_removes_from_the_front(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_buf_puts(&b, "abcdef");
    cs_buf_drop(&b, 2);
    assert_true(cs_str_is(cs_buf_str(&b), "cdef"));
    cs_buf_drop(&b, 4);
    assert_int_equal(b.len, 0);
}

static void cstr_ends_in_nul_and_does_not_count_it(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    assert_string_equal(cs_buf_cstr(&b), "");
    cs_buf_puts(&b, "abc");
    assert_string_equal(cs_buf_cstr(&b), "abc");
    assert_int_equal(b.len, 3);
    cs_buf_puts(&b, "d");
    assert_string_equal(cs_buf_cstr(&b), "abcd");
}

static void clear_keeps_the_memory(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_buf_puts(&b, "abc");
    char *at = b.at;
    cs_buf_clear(&b);
    assert_int_equal(b.len, 0);
    cs_buf_puts(&b, "x");
    assert_ptr_equal(b.at, at);
}

static void slices_compare_by_content_and_length(void **state)
{
    (void)state;
    struct cs_str s = cs_strn("hello world", 5);
    assert_true(cs_str_is(s, "hello"));
    assert_false(cs_str_is(s, "hello world"));
    assert_false(cs_str_is(s, "hell"));
    assert_true(cs_str_starts(s, "he") && cs_str_starts(s, "") && cs_str_starts(s, "hello"));
    assert_false(cs_str_starts(s, "hello w"));
    assert_true(cs_str_ends(s, "llo") && cs_str_ends(s, ""));
    assert_false(cs_str_ends(s, "xhello"));
    assert_true(cs_str_eq(cs_str(NULL), CS_STR("")));
    assert_false(cs_str_eq(CS_STR("a\0b"), CS_STR("a\0c")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_is_empty_and_done_is_harmless),
        cmocka_unit_test(puts_append_in_order),
        cmocka_unit_test(nothing_appended_changes_nothing),
        cmocka_unit_test(growth_keeps_content_at_every_size),
        cmocka_unit_test(room_gives_at_least_what_was_asked),
        cmocka_unit_test(printf_longer_than_its_first_guess_is_whole),
        cmocka_unit_test(drop_removes_from_the_front),
        cmocka_unit_test(cstr_ends_in_nul_and_does_not_count_it),
        cmocka_unit_test(clear_keeps_the_memory),
        cmocka_unit_test(slices_compare_by_content_and_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

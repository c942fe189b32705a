#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static void fail_fills_code_and_message(void **state)
{
    (void)state;
    struct cs_err err = {.sys = 7};
    assert_int_equal(cs_fail(&err, CS_DENIED, "tool '%s' %d", "rm", 3), -1);
    assert_int_equal(err.code, CS_DENIED);
    assert_int_equal(err.sys, 0);
    assert_string_equal(err.msg, "tool 'rm' 3");
}

static void fail_errno_keeps_errno_and_says_it(void **state)
{
    (void)state;
    struct cs_err err = {0};
    errno = EISDIR;
    assert_int_equal(cs_fail_errno(&err, "read %s", "x"), -1);
    assert_int_equal(err.code, CS_SYSTEM);
    assert_int_equal(err.sys, EISDIR);
    assert_string_equal(err.msg, "read x: Is a directory");
}

static void wrap_puts_context_first_and_keeps_the_rest(void **state)
{
    (void)state;
    struct cs_err err = {0};
    errno = ENOENT;
    cs_fail_errno(&err, "open");
    assert_int_equal(cs_wrap(&err, "skill '%s'", "tidy"), -1);
    assert_string_equal(err.msg, "skill 'tidy': open: No such file or directory");
    assert_int_equal(err.code, CS_SYSTEM);
    assert_int_equal(err.sys, ENOENT);
}

static void a_caller_who_does_not_care_passes_null(void **state)
{
    (void)state;
    assert_int_equal(cs_fail(NULL, CS_BUG, "x"), -1);
    assert_int_equal(cs_fail_errno(NULL, "x"), -1);
    assert_int_equal(cs_wrap(NULL, "x"), -1);
}

static void long_messages_are_cut_and_end_in_nul(void **state)
{
    (void)state;
    struct cs_err err;
    char longer[2000];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    memset(&err, 0x55, sizeof err);
    cs_fail(&err, CS_LIMIT, "%s", longer);
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
    cs_wrap(&err, "%s", longer);
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
    errno = EIO;
    cs_fail_errno(&err, "%s", longer);
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
    assert_int_equal(err.sys, EIO);
}

static void wrapping_again_and_again_keeps_the_outermost(void **state)
{
    (void)state;
    struct cs_err err = {0};
    cs_fail(&err, CS_INVALID, "innermost");
    for (int i = 0; i < 200; i++)
        cs_wrap(&err, "layer %d", i);
    assert_int_equal(strncmp(err.msg, "layer 199: layer 198: ", 22), 0);
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
}

static void every_code_has_a_name_and_a_text(void **state)
{
    (void)state;
    for (int code = CS_OK; code <= CS_BUG; code++) {
        assert_true(strlen(cs_code_name((enum cs_code)code)) > 1);
        assert_true(strlen(cs_code_text((enum cs_code)code)) > 3);
    }
    assert_string_equal(cs_code_name(CS_LIMIT), "LIMIT");
    assert_string_equal(cs_code_text(CS_DENIED), "policy refused it");
}

static void a_code_from_outside_the_list_is_a_question_mark(void **state)
{
    (void)state;
    assert_string_equal(cs_code_name((enum cs_code)(CS_BUG + 1)), "?");
    assert_string_equal(cs_code_text((enum cs_code)1000), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_fills_code_and_message),
        cmocka_unit_test(fail_errno_keeps_errno_and_says_it),
        cmocka_unit_test(wrap_puts_context_first_and_keeps_the_rest),
        cmocka_unit_test(a_caller_who_does_not_care_passes_null),
        cmocka_unit_test(long_messages_are_cut_and_end_in_nul),
        cmocka_unit_test(wrapping_again_and_again_keeps_the_outermost),
        cmocka_unit_test(every_code_has_a_name_and_a_text),
        cmocka_unit_test(a_code_from_outside_the_list_is_a_question_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* cmocka with what it needs before it, and the few helpers every suite wants. */
#ifndef CS_TEST_H
#define CS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

#define CS_TEST(name)                       cmocka_unit_test(name)
#define CS_TEST_WITH(name, setup, teardown) cmocka_unit_test_setup_teardown(name, setup, teardown)

#define assert_contains(haystack, needle)                                     \
    do {                                                                      \
        if (!strstr((haystack), (needle)))                                    \
            fail_msg("\"%s\" does not contain \"%s\"", (haystack), (needle)); \
    } while (0)

#define assert_str_is(s, z)                                             \
    do {                                                                \
        struct cs_str cs_s_ = (s);                                      \
        if (!cs_str_is(cs_s_, (z)))                                     \
            fail_msg("\"%.*s\" is not \"%s\"", CS_STR_ARG(cs_s_), (z)); \
    } while (0)

#endif

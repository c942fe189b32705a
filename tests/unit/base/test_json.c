#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/json.h"

static void a_document_is_walked(void **state)
{
    (void)state;
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_json_parse(cs_str("{\"a\":[1,-2.5e3,{}],\"\\u00e9\":\"x\\ny\",\"t\":true}"),
                                   NULL, &doc, &err),
                     0);
    struct cs_json_val root = cs_json_root(&doc);
    assert_int_equal(cs_json_count(root), 3);
    int64_t i;
    struct cs_json_val a = cs_json_get(root, "a"), item;
    struct cs_json_iter it = {0};
    assert_true(cs_json_next(a, &it, NULL, &item));
    assert_true(cs_json_i64(item, &i) && i == 1);
    assert_true(cs_json_next(a, &it, NULL, &item));
    assert_true(cs_json_i64(item, &i) && i == -2500);
    assert_true(cs_json_next(a, &it, NULL, &item));
    assert_int_equal(cs_json_type(item), CS_JSON_OBJECT);
    assert_false(cs_json_next(a, &it, NULL, &item));
    assert_true(cs_str_is(cs_json_str(cs_json_get(root, "\xC3\xA9"), &arena), "x\ny"));
    assert_true(cs_str_is(cs_json_raw(a), "[1,-2.5e3,{}]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_walked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

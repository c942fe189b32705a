#include "test.h"

#include "run/inside.h"

static void assert_type(const char *name, struct cs_str content, const char *type)
{
    assert_str_is(cs_media_type(cs_str(name), content), type);
}

static void the_name_says_what_it_is(void **state)
{
    (void)state;
    assert_type("a.csv", CS_STR("\0\1"), "text/csv");
    assert_type("dir.x/A.JSON", CS_STR("no JSON"), "application/json");
    assert_type("archive.tar.gz", CS_STR(""), "application/gzip");
}

static void else_the_content_does(void **state)
{
    (void)state;
    assert_type("README", CS_STR("text\n"), "text/plain");
    assert_type("x.unknown", CS_STR("{\"a\": 1}"), "application/json");
    assert_type("x", CS_STR("{\"a\": 1"), "text/plain");
    assert_type("", CS_STR(""), "text/plain");
    assert_type("x.", CS_STR("a\0b"), "application/octet-stream");
    assert_type("x", CS_STR("\xff\xfe"), "application/octet-stream");
    assert_type("x", CS_STR("\xC3\xBC"), "text/plain");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_says_what_it_is),
        cmocka_unit_test(else_the_content_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

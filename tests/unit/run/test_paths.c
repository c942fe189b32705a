/* Paths in the error texts of tools. */
#include "test.h"

#include "base/own.h"
#include "run/paths.h"

static void assert_hidden(const char *text, const char *known, const char *wanted)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    bool changed = cs_hide_paths(cs_str(text), cs_str(known), &out);
    assert_string_equal(changed ? cs_buf_cstr(&out) : text, wanted);
    assert_int_equal(changed, strcmp(text, wanted) != 0);
}

static void what_is_left_of_a_path_is_its_last_name(void **state)
{
    (void)state;
    assert_hidden(
        "failed\n    at query (/home/ada/service/db.js:17:9)\n    at run (/srv/app/x.js:3)", "",
        "failed\n    at query (.../db.js:17:9)\n    at run (.../x.js:3)");
    assert_hidden("open '/home/ada/notes.txt': no such file", "",
                  "open '.../notes.txt': no such file");
    assert_hidden("see file:///root/.cache/x.", "", "see file://.../x.");
    assert_hidden("in C:\\Users\\ada\\app\\main.py", "", "in .../main.py");
    assert_hidden("/Users/ada/", "", ".../ada/");
    assert_hidden("/home/a/b /home/c/d", "", ".../b .../d");
}

static void what_is_no_path_of_a_machine_stays(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "GET /repos/ada/web failed",
        "https://example.com/home/ada/x.js:3",
        "a/home/b is not there",
        "/etc/hosts is not readable",
        "home/ada, ~/home/x and ./home/x",
        "50/home",
        "/",
        "//home/ada",
        "C: is full",
        "",
        "at 12:30:45",
    };
    for (size_t i = 0; i < CS_COUNT(texts); i++)
        assert_hidden(texts[i], "", texts[i]);
}

static void what_the_caller_named_stays(void **state)
{
    (void)state;
    assert_hidden("no '/home/ada/x'; there is '/home/ada/y' and '/home/eve/z'",
                  "{\"path\":\"/home/ada/x\"}",
                  "no '/home/ada/x'; there is '/home/ada/y' and '.../z'");
}

static void odd_texts_are_walked_once(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0}, out = {0};
    for (int i = 0; i < 200000; i++)
        cs_buf_puts(&text, "/");
    assert_false(cs_hide_paths(cs_buf_str(&text), CS_STR("/"), &out));
    cs_buf_clear(&text);
    for (int i = 0; i < 100000; i++)
        cs_buf_puts(&text, "/home/");
    assert_true(cs_hide_paths(cs_buf_str(&text), CS_STR(""), &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(what_is_left_of_a_path_is_its_last_name),
        CS_TEST(what_is_no_path_of_a_machine_stays),
        CS_TEST(what_the_caller_named_stays),
        CS_TEST(odd_texts_are_walked_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

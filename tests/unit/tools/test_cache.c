/* What a server offered last time: written, read, and ignored when it is garbage. */
#include "offers.h"

static void put_raw(const char *dir, const char *name, struct cs_str text)
{
    char path[4096];
    struct cs_err err = {0};
    snprintf(path, sizeof path, "%s/catalogue", dir);
    assert_int_equal(cs_dir_make(path, 0700, &err), 0);
    snprintf(path, sizeof path, "%s/catalogue/%s.json", dir, name);
    assert_int_equal(cs_file_replace(path, text, 0600, &err), 0);
}

static void test_what_is_written_is_read(void **state)
{
    struct place *p = *state;
    struct cs_learned learned[] = {{CS_STR("a \"b\""), CS_STR("{\"type\":\"string\"}"), 7},
                                   {CS_STR("c"), CS_STR("true"), 1}};
    struct cs_cached out = {
        .config = CS_STR("00ff"),
        .tools = CS_STR("[{\"name\":\"x\",\"n\":1.50}]"),
        .instructions = CS_STR("line\nline \xc3\xa4 \"quoted\""),
        .server_name = CS_STR("name"),
        .server_version = CS_STR("1.2.3"),
        .protocol = CS_STR("2025-11-25"),
        .listed_at = 1234567890123,
        .learned = learned,
        .learned_count = 2,
    };
    struct cs_err err = {0};
    assert_int_equal(cs_cache_write(p->dir, CS_STR("my.server-1"), &out, &err), 0);
    assert_true(exists(p->dir, "catalogue/my.server-1.json"));
    struct cs_cached in;
    assert_int_equal(cs_cache_read(p->dir, CS_STR("my.server-1"), &in, &err), 0);
    assert_str_is(in.config, "00ff");
    assert_str_is(in.tools, "[{\"name\":\"x\",\"n\":1.50}]"); /* byte for byte */
    assert_true(cs_str_eq(in.instructions, out.instructions));
    assert_str_is(in.server_name, "name");
    assert_str_is(in.server_version, "1.2.3");
    assert_str_is(in.protocol, "2025-11-25");
    assert_int_equal(in.listed_at, 1234567890123);
    assert_int_equal(in.learned_count, 2);
    assert_str_is(in.learned[0].tool, "a \"b\"");
    assert_str_is(in.learned[0].schema, "{\"type\":\"string\"}");
    assert_int_equal(in.learned[0].count, 7);
    assert_str_is(in.learned[1].schema, "true");
    cs_cached_done(&in);

    assert_int_equal(cs_cache_read(p->dir, CS_STR("my.server-2"), &in, &err), -1);
    assert_int_equal(err.code, CS_MISSING);
}

static void test_others_cannot_read_it(void **state)
{
    struct place *p = *state;
    struct cs_cached out = {.tools = CS_STR("[]")};
    struct cs_err err = {0};
    struct stat st;
    char path[128];
    assert_int_equal(cs_cache_write(p->dir, CS_STR("s"), &out, &err), 0);
    snprintf(path, sizeof path, "%s/catalogue/s.json", p->dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_garbage_is_an_error_and_nothing_else(void **state)
{
    struct place *p = *state;
    static const char *const bad[] = {
        "",
        "{",
        "null",
        "[]",
        "{}",
        "\x7f"
        "ELF",
        "{\"format\":0,\"tools\":[]}",
        "{\"format\":\"1\",\"tools\":[]}",
        "{\"format\":1}",
        "{\"format\":1,\"tools\":{}}",
        "{\"format\":1,\"tools\":[",
    };
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        struct cs_cached in;
        struct cs_err err = {0};
        put_raw(p->dir, "s", cs_str(bad[i]));
        assert_int_equal(cs_cache_read(p->dir, CS_STR("s"), &in, &err), -1);
        assert_true(err.code != CS_OK);
        assert_int_equal(in.tools.len, 0);
    }
}

static void test_odd_values_are_taken_for_nothing(void **state)
{
    struct place *p = *state;
    struct cs_cached in;
    struct cs_err err = {0};
    put_raw(p->dir, "s",
            CS_STR("{\"format\":1,\"tools\":[],\"config\":7,\"listed_at\":\"x\","
                   "\"learned\":[{\"tool\":\"a\",\"count\":-3,\"schema\":{}},{}]}"));
    assert_int_equal(cs_cache_read(p->dir, CS_STR("s"), &in, &err), 0);
    assert_int_equal(in.config.len, 0);
    assert_int_equal(in.listed_at, 0);
    assert_int_equal(in.learned_count, 2);
    assert_int_equal(in.learned[0].count, 1);
    assert_int_equal(in.learned[1].tool.len, 0);
    cs_cached_done(&in);
}

static void test_a_place_that_cannot_be_written_is_an_error(void **state)
{
    struct place *p = *state;
    struct cs_cached out = {.tools = CS_STR("[]")};
    struct cs_err err = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/catalogue", p->dir);
    assert_int_equal(cs_file_replace(path, CS_STR("a file"), 0600, &err), 0);
    assert_int_equal(cs_cache_write(p->dir, CS_STR("s"), &out, &err), -1);
    assert_contains(err.msg, "catalogue");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(test_what_is_written_is_read, make_place, drop_place),
        CS_TEST_WITH(test_others_cannot_read_it, make_place, drop_place),
        CS_TEST_WITH(test_garbage_is_an_error_and_nothing_else, make_place, drop_place),
        CS_TEST_WITH(test_odd_values_are_taken_for_nothing, make_place, drop_place),
        CS_TEST_WITH(test_a_place_that_cannot_be_written_is_an_error, make_place, drop_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

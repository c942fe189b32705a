#include "test.h"

#include <unistd.h>

#include "front/call_args.h"

#define SCHEMA                                                                                   \
    "{\"properties\": {\"s\": {\"type\": \"string\"}, \"n\": {\"type\": \"number\"}, \"b\": "    \
    "{\"type\": \"boolean\"}, \"l\": {\"type\": \"array\"}, \"e\": {\"enum\": [\"1\", \"2\"]}, " \
    "\"m\": {\"type\": [\"string\", \"number\"]}, \"o\": {\"type\": [\"string\", \"null\"]}}}"

static void words_become_what_the_schema_wants(void **state)
{
    static const struct {
        const char *words[4], *json;
    } rows[] = {
        {{NULL}, "{}"},
        {{"{\"a\": 1}"}, "{\"a\": 1}"},
        {{"s=1"}, "{\"s\":\"1\"}"},
        {{"n=1", "b=true"}, "{\"n\":1,\"b\":true}"},
        {{"n=many"}, "{\"n\":\"many\"}"},
        {{"l=[1, 2]"}, "{\"l\":[1, 2]}"},
        {{"e=1"}, "{\"e\":\"1\"}"},
        {{"m=1", "o=null"}, "{\"m\":1,\"o\":\"null\"}"},
        {{"unknown=1", "other=x y"}, "{\"unknown\":1,\"other\":\"x y\"}"},
        {{"s:={\"x\": 1}"}, "{\"s\":{\"x\": 1}}"},
        {{"s=a=b"}, "{\"s\":\"a=b\"}"},
        {{"s="}, "{\"s\":\"\"}"},
        {{"s=\"q\\"}, "{\"s\":\"\\\"q\\\\\"}"},
        {{"\"k=1"}, "{\"\\\"k\":1}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_err err = {0};
        CS_AUTO_BUF struct cs_buf json = {0};
        size_t count = 0;
        while (rows[i].words[count])
            count++;
        if (cs_call_args(rows[i].words, count, cs_str(SCHEMA), &json, &err) < 0)
            fail_msg("row %zu: %s", i, err.msg);
        assert_string_equal(cs_buf_cstr(&json), rows[i].json);
    }
}

static void other_words_are_refused(void **state)
{
    static const struct {
        const char *words[3], *says;
    } rows[] = {
        {{"x"}, "'x' is neither"},
        {{"=1"}, "'=1' is neither"},
        {{":=1"}, "no name"},
        {{"[1]"}, "'[1]' is neither"},
        {{"{\"a\": }"}, "line 1"},
        {{"a:={"}, "a: JSON"},
        {{"a=1", "a=2"}, "twice"},
        {{"@/no/such/file"}, "/no/such/file"},
        {{"{}", "a=1"}, "'{}' is neither"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_err err = {0};
        CS_AUTO_BUF struct cs_buf json = {0};
        size_t count = rows[i].words[1] ? 2 : 1;
        assert_int_equal(cs_call_args(rows[i].words, count, cs_str(""), &json, &err), -1);
        assert_int_equal(err.code, CS_INVALID);
        assert_contains(err.msg, rows[i].says);
        assert_int_equal(json.len, 0);
    }
}

static void a_file_is_read(void **state)
{
    (void)state;
    char path[] = "/tmp/caisson-args-XXXXXX", word[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, " {\"a\": [1]}\n", 12), 12);
    close(fd);
    snprintf(word, sizeof word, "@%s", path);
    const char *words[] = {word};
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf json = {0};
    assert_int_equal(cs_call_args(words, 1, cs_str(""), &json, &err), 0);
    assert_string_equal(cs_buf_cstr(&json), "{\"a\": [1]}");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(words_become_what_the_schema_wants),
        CS_TEST(other_words_are_refused),
        CS_TEST(a_file_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Strings that hide something: '#' stands for what nobody may know. */
#include "schema_cases.h"

static enum cs_hiding look(struct cs_str s)
{
    return cs_str_is(s, "#")                  ? CS_HIDES_ALL
           : memchr(s.at, '#', s.len) != NULL ? CS_HIDES_PART
                                              : CS_HIDES_NOTHING;
}

/* 1: it fits for sure; 0: it does not; -1: it may fit. */
static int judged(const char *schema, const char *value)
{
    struct cs_err err = {0};
    struct cs_schema *s = NULL;
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_schema_fault faults[4];
    struct cs_schema_options options = {.assert_format = true};
    struct cs_schema_hidden hidden = {.look = look};
    if (cs_schema_new(cs_str(schema), &options, &s, &err) < 0 ||
        cs_json_parse(cs_str(value), NULL, &doc, &err) < 0)
        fail_msg("%s", err.msg);
    struct cs_json_val root = cs_json_root(&doc);
    int quick = cs_schema_check_hidden(s, root, &hidden, NULL, NULL, 0, &err);
    int n = cs_schema_check_hidden(s, root, &hidden, &arena, faults, CS_COUNT(faults), &err);
    cs_schema_free(s);
    assert_int_equal(quick > 0, n > 0);
    assert_true(n >= 0);
    return n > 0 ? 0 : hidden.unsure ? -1 : 1;
}

static void a_string_that_holds_something_hidden_is_a_string(void **state)
{
    (void)state;
    assert_int_equal(judged("{\"type\":\"string\"}", "\"to #\""), 1);
    assert_int_equal(judged("{\"type\":\"number\"}", "\"to #\""), 0);
    static const char *const open[] = {
        "{\"pattern\":\"^x$\"}", "{\"format\":\"email\"}", "{\"minLength\":50}",
        "{\"maxLength\":1}",     "{\"enum\":[\"a\"]}",     "{\"const\":\"a\"}",
    };
    for (size_t i = 0; i < CS_COUNT(open); i++) {
        assert_int_equal(judged(open[i], "\"to #\""), -1);
        assert_int_equal(judged(open[i], "\"#\""), -1);
        assert_int_equal(judged(open[i], "\"plain\""), 0);
    }
    assert_int_equal(judged("{\"enum\":[1,2]}", "\"to #\""), 0);
    assert_int_equal(judged("{\"minimum\":3}", "\"to #\""), 1);
}

static void what_is_hidden_as_a_whole_may_be_any_scalar(void **state)
{
    (void)state;
    assert_int_equal(judged("{\"type\":[\"string\",\"number\",\"boolean\"]}", "\"#\""), 1);
    assert_int_equal(judged("{\"type\":\"integer\"}", "\"#\""), -1);
    assert_int_equal(judged("{\"type\":\"boolean\"}", "\"#\""), -1);
    assert_int_equal(judged("{\"type\":\"number\",\"minimum\":3}", "\"#\""), -1);
    assert_int_equal(judged("{\"enum\":[1,2]}", "\"#\""), -1);
    assert_int_equal(judged("{\"type\":\"object\"}", "\"#\""), 0);
    assert_int_equal(judged("{\"type\":[\"array\",\"null\"]}", "\"#\""), 0);
    assert_int_equal(judged("{\"enum\":[null]}", "\"#\""), 0);
    assert_int_equal(judged("false", "\"#\""), 0);
}

static void inside_of_values(void **state)
{
    (void)state;
    assert_int_equal(judged("{\"const\":{\"a\":[\"x\",2]}}", "{\"a\":[\"#\",2]}"), -1);
    assert_int_equal(judged("{\"const\":{\"a\":[\"x\",2]}}", "{\"a\":[\"#\",3]}"), 0);
    assert_int_equal(judged("{\"properties\":{\"a\":{\"items\":{\"pattern\":\"@\"}}}}",
                            "{\"a\":[\"a@b\",\"#\"]}"),
                     -1);
    assert_int_equal(
        judged("{\"properties\":{\"a\":{\"items\":{\"pattern\":\"@\"}}}}", "{\"a\":[\"b\",\"#\"]}"),
        0);
    /* One token, one value. */
    assert_int_equal(judged("{\"uniqueItems\":true}", "[\"#\",\"#\"]"), 0);
    assert_int_equal(judged("{\"uniqueItems\":true}", "[\"#\",\"a#\"]"), 1);
}

static void names_are_taken_as_they_are_written(void **state)
{
    (void)state;
    assert_int_equal(
        judged("{\"additionalProperties\":false,\"properties\":{\"a\":{}}}", "{\"#\":1}"), 0);
    assert_int_equal(judged("{\"required\":[\"a\"]}", "{\"#\":1}"), 0);
    assert_int_equal(judged("{\"propertyNames\":{\"format\":\"email\"}}", "{\"#\":1}"), -1);
    assert_int_equal(judged("{\"propertyNames\":{\"format\":\"email\"}}", "{\"b\":1}"), 0);
}

/* Nothing may fail only because more of it fits now. */
static void what_hangs_on_it_is_left_open(void **state)
{
    (void)state;
    static const char one[] = "{\"oneOf\":[{\"pattern\":\"^a\"},{\"pattern\":\"^b\"}]}";
    assert_int_equal(judged(one, "\"#\""), -1);
    assert_int_equal(judged(one, "\"c\""), 0);
    assert_int_equal(judged("{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"integer\"}]}", "\"#\""),
                     -1);
    assert_int_equal(judged("{\"oneOf\":[{},{\"type\":\"string\"}]}", "\"a#\""), 0);
    assert_int_equal(judged("{\"anyOf\":[{\"type\":\"array\"},{\"maxLength\":2}]}", "\"a###\""),
                     -1);
    assert_int_equal(judged("{\"not\":{\"enum\":[\"root\"]}}", "\"#\""), -1);
    assert_int_equal(judged("{\"not\":{\"type\":\"string\"}}", "\"a#\""), 0);
    assert_int_equal(judged("{\"not\":{\"type\":\"array\"}}", "\"a#\""), 1);
    static const char test[] = "{\"if\":{\"properties\":{\"k\":{\"const\":\"a\"}}},"
                               "\"then\":{\"required\":[\"x\"]},\"else\":{\"required\":[\"y\"]}}";
    assert_int_equal(judged(test, "{\"k\":\"#\",\"x\":1}"), -1);
    assert_int_equal(judged(test, "{\"k\":\"#\",\"y\":1}"), -1);
    assert_int_equal(judged(test, "{\"k\":\"#\"}"), 0);
    assert_int_equal(judged(test, "{\"k\":\"a\",\"y\":1}"), 0);
    static const char contains[] = "{\"contains\":{\"const\":\"a\"},\"maxContains\":1}";
    assert_int_equal(judged(contains, "[\"#\",\"#b\"]"), -1);
    assert_int_equal(judged(contains, "[\"c\"]"), 0);
    assert_int_equal(judged(contains, "[\"a\",\"a\"]"), 0);
}

static void it_is_said_where(void **state)
{
    (void)state;
    struct cs_err err = {0};
    struct cs_schema *s = NULL;
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_schema_fault fault;
    struct cs_schema_hidden hidden = {.look = look};
    assert_int_equal(
        cs_schema_new(CS_STR("{\"properties\":{\"to\":{\"items\":{\"maxLength\":3}}}}"), NULL, &s,
                      &err),
        0);
    assert_int_equal(cs_json_parse(CS_STR("{\"cc\":\"#\",\"to\":[\"a\",\"#\"]}"), NULL, &doc, &err),
                     0);
    assert_int_equal(
        cs_schema_check_hidden(s, cs_json_root(&doc), &hidden, &arena, &fault, 1, &err), 0);
    assert_true(hidden.unsure);
    assert_str_is(hidden.where, "to[1]");
    cs_schema_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_string_that_holds_something_hidden_is_a_string),
        CS_TEST(what_is_hidden_as_a_whole_may_be_any_scalar),
        CS_TEST(inside_of_values),
        CS_TEST(names_are_taken_as_they_are_written),
        CS_TEST(what_hangs_on_it_is_left_open),
        CS_TEST(it_is_said_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

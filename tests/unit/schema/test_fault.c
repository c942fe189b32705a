/* What is said to whoever has to mend a value. */
#include "schema_cases.h"

static const char issue[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"owner\",\"repository\"],"
    "\"properties\":{\"owner\":{\"type\":\"string\"},\"repository\":{\"type\":\"string\"},"
    "\"state\":{\"enum\":[\"open\",\"closed\",\"all\"]},"
    "\"per_page\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100},"
    "\"labels\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"filter\":{\"type\":\"object\",\"properties\":{\"labels\":{\"type\":\"array\",\"items\":"
    "{\"type\":\"string\",\"minLength\":2}}},\"additionalProperties\":false}}}";

static void a_fault_has_path_keyword_and_message(void **state)
{
    (void)state;
    AUTO_OUTCOME o;
    check(&o, issue,
          "{\"owner\":\"a\",\"repository\":\"b\",\"filter\":{\"labels\":[\"ab\",\"cd\",3]}}");
    assert_int_equal(o.count, 1);
    assert_str_is(o.faults[0].path, "filter.labels[2]");
    assert_str_is(o.faults[0].keyword, "type");
    assert_str_is(o.faults[0].message, "must be a string; given 3");
}

static void what_is_missing_is_named_with_what_is_expected(void **state)
{
    (void)state;
    assert_explained(issue, "{\"owner\":\"a\"}", "repository: is missing; a string is expected");
    assert_explained("{\"required\":[\"a\"]}", "{}", "a: is missing");
    assert_explained("{\"required\":[\"a\"],\"properties\":{\"a\":{\"$ref\":\"#/$defs/x\"}},"
                     "\"$defs\":{\"x\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}}}",
                     "{}", "a: is missing; an integer or null is expected");
    assert_explained("{\"required\":[\"a\"],\"properties\":{\"a\":{\"enum\":[\"x\",\"y\"]}}}", "{}",
                     "a: is missing; one of \"x\", \"y\" is expected");
    assert_explained("{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
                     "b: is missing; it is needed because 'a' is given");
}

/* The mistake that is made most: one fault says both what is missing and what was given for it. */
static void a_wrong_name_for_what_is_missing_is_one_fault(void **state)
{
    (void)state;
    AUTO_OUTCOME o;
    check(&o, issue, "{\"owner\":\"a\",\"repo\":\"b\"}");
    assert_int_equal(o.count, 1);
    assert_str_is(o.faults[0].path, "repository");
    assert_str_is(o.faults[0].keyword, "required");
    assert_str_is(o.faults[0].message,
                  "is missing; a string is expected; you gave 'repo': rename it to 'repository'");
    assert_explained(issue, "{\"owner\":\"a\",\"Repository\":\"b\"}",
                     "repository: is missing; a string is expected; you gave 'Repository': rename "
                     "it to 'repository'");
    assert_explained(issue, "{\"onwer\":\"a\",\"repsoitory\":\"b\"}",
                     "owner: is missing; a string is expected; you gave 'onwer': rename it to "
                     "'owner'; repository: is missing; a string is expected; you gave "
                     "'repsoitory': rename it to 'repository'");
}

static void a_wrong_name_is_seen_where_others_are_allowed(void **state)
{
    (void)state;
    static const char search[] = "{\"type\":\"object\",\"required\":[\"query\"],\"properties\":"
                                 "{\"query\":{\"type\":\"string\"},\"limit\":{}}}";
    assert_explained(search, "{\"q\":\"x\",\"limit\":3}",
                     "query: is missing; a string is expected; you gave 'q': rename it to 'query'");
    assert_explained(search, "{\"userQuery\":\"x\"}",
                     "query: is missing; a string is expected; you gave 'userQuery': rename it to "
                     "'query'");
    assert_explained(search, "{\"limit\":3}", "query: is missing; a string is expected");
    assert_explained(search, "{\"zebra\":3}", "query: is missing; a string is expected");
    assert_true(fits(search, "{\"query\":\"x\",\"quary\":1}"));
}

static void unknown_names_get_the_nearest(void **state)
{
    (void)state;
    AUTO_OUTCOME o;
    check(&o, issue, "{\"owner\":\"a\",\"repository\":\"b\",\"perPage\":3}");
    assert_int_equal(o.count, 1);
    assert_str_is(o.faults[0].path, "");
    assert_str_is(o.faults[0].keyword, "additionalProperties");
    assert_str_is(o.faults[0].message, "there is no 'perPage'; did you mean 'per_page'?");
    assert_explained(issue, "{\"owner\":\"a\",\"repository\":\"b\",\"zzz\":3}",
                     "there is no 'zzz'; there is 'owner', 'repository', 'state', 'per_page', "
                     "'labels', 'filter'");
    assert_explained(issue, "{\"owner\":\"a\",\"repository\":\"b\",\"filter\":{\"label\":[]}}",
                     "filter: there is no 'label'; did you mean 'labels'?");
    /* What was given already was not meant. */
    assert_explained(issue, "{\"owner\":\"a\",\"repository\":\"b\",\"owners\":\"c\"}",
                     "there is no 'owners'; there is 'owner', 'repository', 'state', 'per_page', "
                     "'labels', 'filter'");
    assert_explained("{\"additionalProperties\":false}", "{\"a\":1}",
                     "there is no 'a'; none is allowed");
    assert_explained(
        "{\"unevaluatedProperties\":false,\"allOf\":[{\"properties\":{\"title\":{}}}]}",
        "{\"titel\":1}", "there is no 'titel'; did you mean 'title'?");
    assert_explained("{\"properties\":{\"old\":false}}", "{\"old\":1}", "old: is not allowed here");
}

static void choices_are_listed_and_the_nearest_named(void **state)
{
    (void)state;
    assert_explained(issue, "{\"owner\":\"a\",\"repository\":\"b\",\"state\":\"opn\"}",
                     "state: must be one of \"open\", \"closed\", \"all\"; given \"opn\"; did you "
                     "mean \"open\"?");
    assert_explained(issue, "{\"owner\":\"a\",\"repository\":\"b\",\"state\":\"OPEN\"}",
                     "state: must be one of \"open\", \"closed\", \"all\"; given \"OPEN\"; did you "
                     "mean \"open\"?");
    assert_explained(issue, "{\"owner\":\"a\",\"repository\":\"b\",\"state\":7}",
                     "state: must be one of \"open\", \"closed\", \"all\"; given 7");
    assert_explained("{\"const\":3}", "4", "the value must be 3; given 4");
    CS_AUTO_BUF struct cs_buf many = {0};
    cs_buf_puts(&many, "{\"enum\":[1000");
    for (int i = 1001; i < 1200; i++)
        cs_buf_printf(&many, ",%d", i);
    cs_buf_puts(&many, "]}");
    AUTO_OUTCOME o;
    check(&o, cs_buf_cstr(&many), "1");
    assert_int_equal(o.count, 1);
    assert_true(o.faults[0].message.len < 500);
    assert_true(cs_str_ends(o.faults[0].message, " more; given 1"));
}

static void types_come_with_a_hint(void **state)
{
    (void)state;
    assert_explained("{\"type\":\"integer\"}", "1.5", "the value must be an integer; given 1.5");
    assert_explained("{\"type\":[\"string\",\"number\",\"null\"]}", "{\"a\":1}",
                     "the value must be a string, a number or null; given {\"a\":1}");
    assert_explained("{\"type\":\"integer\"}", "\"30\"",
                     "the value must be an integer; given \"30\"; write it without quotes");
    assert_explained("{\"type\":\"integer\"}", "\"3.5\"",
                     "the value must be an integer; given \"3.5\"");
    assert_explained("{\"type\":\"boolean\"}", "\"true\"",
                     "the value must be true or false; given \"true\"; write it without quotes");
    assert_explained("{\"type\":\"object\"}", "\"{\\\"a\\\":1}\"",
                     "the value must be an object; given \"{\\\"a\\\":1}\"; give it as JSON "
                     "itself, not as text in a string");
    assert_explained("{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "\"bug\"",
                     "the value must be an array; given \"bug\"; put it into [ ]");
    assert_explained("{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "3",
                     "the value must be an array; given 3");
    assert_explained("{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"}},"
                     "\"required\":[\"b\"]}",
                     "{\"a\":null,\"b\":null}",
                     "a: must be a string; given null; leave it out if there is none; b: must be a "
                     "string; given null");
}

static void bounds_are_told(void **state)
{
    (void)state;
    assert_explained("{\"minimum\":1}", "0", "the value must be at least 1; given 0");
    assert_explained("{\"maximum\":1.5}", "2e0", "the value must be at most 1.5; given 2e0");
    assert_explained("{\"exclusiveMinimum\":1}", "1", "the value must be greater than 1; given 1");
    assert_explained("{\"exclusiveMaximum\":1}", "1", "the value must be less than 1; given 1");
    assert_explained("{\"multipleOf\":0.01}", "0.005",
                     "the value must be a multiple of 0.01; given 0.005");
    assert_explained("{\"minLength\":3}", "\"\xC3\xA4\xC3\xB6\"",
                     "the value must have at least 3 characters; given 2: \"\xC3\xA4\xC3\xB6\"");
    assert_explained("{\"maxLength\":1}", "\"ab\"",
                     "the value must have at most 1 character; given 2: \"ab\"");
    assert_explained("{\"minItems\":2,\"maxItems\":2}", "[1]",
                     "the value must have exactly 2 elements; given 1");
    assert_explained("{\"maxProperties\":1}", "{\"a\":1,\"b\":2}",
                     "the value must have at most 1 member; given 2");
    assert_explained("{\"pattern\":\"^[a-z]+$\"}", "\"A\"",
                     "the value must match the pattern ^[a-z]+$; given \"A\"");
    assert_explained("{\"uniqueItems\":true}", "[1,2,1.0]",
                     "the value must not have equal elements; [0] and [2] are both 1");
    assert_explained("{\"contains\":{\"type\":\"string\"}}", "[1]",
                     "the value must have at least 1 element that is a string; given 0");
    assert_explained("{\"contains\":{\"const\":1},\"maxContains\":1}", "[1,1]",
                     "the value must have at most 1 element that is 1; given 2");
    assert_explained("{\"propertyNames\":{\"maxLength\":2}}", "{\"abc\":1}",
                     "the name 'abc' is not allowed: it must have at most 2 characters; given 3: "
                     "\"abc\"");
    assert_explained("{\"not\":{\"type\":\"string\"}}", "\"a\"",
                     "the value must not be a string; given \"a\"");
}

static void formats_say_what_they_want(void **state)
{
    (void)state;
    AUTO_OUTCOME o;
    struct cs_schema_options options = {.assert_format = true};
    check_with(&o, CS_STR("{\"format\":\"date\"}"), CS_STR("\"yesterday\""), &options);
    assert_int_equal(o.count, 1);
    assert_str_is(o.faults[0].message, "must be a date like 2024-01-31; given \"yesterday\"");
    assert_true(fits("{\"format\":\"date\"}", "\"yesterday\""));
}

static void of_alternatives_the_nearest_complains(void **state)
{
    (void)state;
    static const char shapes[] =
        "{\"oneOf\":[{\"type\":\"object\",\"properties\":{\"kind\":{\"const\":\"circle\"},"
        "\"radius\":{\"type\":\"number\"}},\"required\":[\"kind\",\"radius\"]},"
        "{\"type\":\"object\",\"properties\":{\"kind\":{\"const\":\"square\"},"
        "\"side\":{\"type\":\"number\"}},\"required\":[\"kind\",\"side\"]}]}";
    assert_explained(shapes, "{\"kind\":\"circle\",\"side\":3}",
                     "radius: is missing; a number is expected");
    assert_explained(shapes, "{\"kind\":\"square\",\"sides\":3}",
                     "side: is missing; a number is expected; you gave 'sides': rename it to "
                     "'side'");
    assert_explained(shapes, "{\"kind\":\"circel\",\"radius\":3}",
                     "kind: must be one of \"circle\", \"square\"; given \"circel\"; did you mean "
                     "\"circle\"?");
    assert_explained(shapes, "1", "the value must be an object; given 1");
    assert_explained("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "3",
                     "the value must be a string or null; given 3");
    assert_explained("{\"anyOf\":[{\"const\":\"a\"},{\"enum\":[\"b\",\"c\"]}]}", "\"d\"",
                     "the value must be one of \"a\", \"b\", \"c\"; given \"d\"");
    assert_explained("{\"anyOf\":[{\"type\":\"array\"},{\"type\":\"integer\",\"minimum\":5}]}", "3",
                     "the value must be at least 5; given 3");
    assert_explained("{\"oneOf\":[{\"items\":{\"const\":\"a\"}},{\"items\":{\"const\":\"b\"}}]}",
                     "[\"c\"]", "[0]: must be one of \"a\", \"b\"; given \"c\"");
    assert_explained("{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2}]}", "3",
                     "the value must fit exactly one of the alternatives; it fits number 1 and "
                     "number 2");
}

static void the_most_helpful_comes_first(void **state)
{
    (void)state;
    AUTO_OUTCOME o;
    check(&o, issue, "{\"state\":\"x\",\"per_page\":0,\"owner\":3,\"zzz\":1,\"repo\":\"r\"}");
    assert_int_equal(o.count, 5);
    assert_str_is(o.faults[0].path, "repository");
    assert_str_is(o.faults[1].keyword, "additionalProperties");
    assert_str_is(o.faults[2].keyword, "type");
    assert_str_is(o.faults[3].keyword, "enum");
    assert_str_is(o.faults[4].keyword, "minimum");
}

static void nothing_is_said_twice(void **state)
{
    (void)state;
    assert_explained("{\"allOf\":[{\"required\":[\"a\"]},{\"required\":[\"a\"]},{\"properties\":"
                     "{\"b\":{\"type\":\"null\"}}}],\"properties\":{\"b\":{\"type\":\"null\"}}}",
                     "{\"b\":1}", "a: is missing; b: must be null; given 1");
}

static void no_more_faults_than_asked_for(void **state)
{
    (void)state;
    struct cs_schema *s = NULL;
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_schema_fault one[1];
    struct cs_err err = {0};
    assert_int_equal(cs_schema_new(cs_str("{\"items\":{\"type\":\"string\"}}"), NULL, &s, &err), 0);
    assert_int_equal(cs_json_parse(CS_STR("[1,2,3]"), NULL, &doc, &err), 0);
    assert_int_equal(cs_schema_check(s, cs_json_root(&doc), &arena, one, 1, &err), 1);
    assert_str_is(one[0].path, "[0]");
    assert_int_equal(cs_schema_check(s, cs_json_root(&doc), NULL, NULL, 0, &err), 1);
    cs_schema_free(s);
}

static void the_last_of_many_is_found(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf value = {0};
    cs_buf_putc(&value, '[');
    for (int i = 0; i < 100000; i++)
        cs_buf_puts(&value, "{\"id\":1,\"name\":\"a\"},");
    cs_buf_puts(&value, "{\"id\":1,\"nmae\":\"a\"}]");
    AUTO_OUTCOME o;
    check(&o,
          "{\"items\":{\"required\":[\"id\",\"name\"],\"properties\":{\"id\":{\"type\":"
          "\"integer\"},\"name\":{\"type\":\"string\"}}}}",
          cs_buf_cstr(&value));
    assert_int_equal(o.count, 1);
    assert_str_is(o.faults[0].path, "[100000].name");
}

static void values_and_names_are_cut(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf value = {0};
    cs_buf_putc(&value, '"');
    for (int i = 0; i < 100; i++)
        cs_buf_puts(&value, "\xC3\xA4");
    cs_buf_putc(&value, '"');
    AUTO_OUTCOME o;
    check(&o, "{\"type\":\"null\"}", cs_buf_cstr(&value));
    CS_AUTO_BUF struct cs_buf expected = {0};
    cs_buf_puts(&expected, "must be null; given \"");
    for (int i = 0; i < 59; i++)
        cs_buf_puts(&expected, "\xC3\xA4");
    cs_buf_puts(&expected, "...");
    assert_str_is(o.faults[0].message, cs_buf_cstr(&expected));
    assert_explained("{\"type\":\"null\"}", "[\n  1,\n\n  2\n]",
                     "the value must be null; given [ 1, 2 ]");
}

static void odd_names_are_quoted_in_paths(void **state)
{
    (void)state;
    AUTO_OUTCOME o;
    check(&o,
          "{\"additionalProperties\":{\"items\":{\"additionalProperties\":{\"type\":\"null\"}}}}",
          "{\"content-type\":[{\"$id\":1}]}");
    assert_str_is(o.faults[0].path, "[\"content-type\"][0].$id");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_fault_has_path_keyword_and_message),
        CS_TEST(what_is_missing_is_named_with_what_is_expected),
        CS_TEST(a_wrong_name_for_what_is_missing_is_one_fault),
        CS_TEST(a_wrong_name_is_seen_where_others_are_allowed),
        CS_TEST(unknown_names_get_the_nearest),
        CS_TEST(choices_are_listed_and_the_nearest_named),
        CS_TEST(types_come_with_a_hint),
        CS_TEST(bounds_are_told),
        CS_TEST(formats_say_what_they_want),
        CS_TEST(of_alternatives_the_nearest_complains),
        CS_TEST(the_most_helpful_comes_first),
        CS_TEST(nothing_is_said_twice),
        CS_TEST(no_more_faults_than_asked_for),
        CS_TEST(the_last_of_many_is_found),
        CS_TEST(values_and_names_are_cut),
        CS_TEST(odd_names_are_quoted_in_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

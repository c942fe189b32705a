/* What becomes of a schema: dialects, references, and mistakes in it. */
#include "schema_cases.h"

static void refused(const char *schema, enum cs_code code, const char *words)
{
    struct cs_schema *s = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_schema_new(cs_str(schema), NULL, &s, &err), -1);
    assert_null(s);
    assert_int_equal(err.code, code);
    assert_contains(err.msg, words);
}

static void mistakes_are_told_with_their_place(void **state)
{
    (void)state;
    refused("{\"properties\":{\"a\":{\"type\":\"strin\"}}}", CS_INVALID,
            "schema, at #/properties/a/type: type must be null, boolean");
    refused("{\"items\":{\"allOf\":[{},{\"minimum\":\"1\"}]}}", CS_INVALID,
            "#/items/allOf/1/minimum: minimum must be a number");
    refused("{\"minLength\":-1}", CS_INVALID, "#/minLength: minLength must be an integer from 0");
    refused("{\"maxItems\":1.5}", CS_INVALID, "#/maxItems");
    refused("{\"multipleOf\":0}", CS_INVALID, "greater than 0");
    refused("{\"required\":true}", CS_INVALID, "required must be an array of strings");
    refused("{\"required\":[1]}", CS_INVALID, "required must be an array of strings");
    refused("{\"enum\":{}}", CS_INVALID, "enum must be an array");
    refused("{\"properties\":[]}", CS_INVALID, "properties must be an object");
    refused("{\"properties\":{\"a\":3}}", CS_INVALID, "#/properties/a: a schema is expected");
    refused("{\"anyOf\":{}}", CS_INVALID, "anyOf must be an array of schemas");
    refused("{\"patternProperties\":{\"(\":{}}}", CS_INVALID, "missing closing parenthesis");
    refused("{\"pattern\":3}", CS_INVALID, "pattern must be a string");
    refused("{\"uniqueItems\":1}", CS_INVALID, "uniqueItems must be true or false");
    refused("{\"dependentRequired\":{\"a\":1}}", CS_INVALID, "array of strings");
    refused("{\"$ref\":1}", CS_INVALID, "$ref must be a string");
    refused("{\"$id\":1}", CS_INVALID, "$id must be a string");
    refused("{\"$id\":\"http://x/#y\"}", CS_INVALID, "$id must not have a fragment");
    refused("{\"$ref\":\"#/$defs/nope\"}", CS_INVALID,
            "schema, at #/$ref: the reference '#/$defs/nope' leads nowhere");
    refused("{\"$ref\":\"#nope\"}", CS_INVALID, "leads nowhere");
    refused("{\"$ref\":\"#/title\",\"title\":\"x\"}", CS_INVALID, "leads nowhere");
    refused("3", CS_INVALID, "a schema is an object, true or false");
    refused("{\"type\":}", CS_INVALID, "JSON, line 1, column 9");
    refused("{\"a\":1,\"a\":2}", CS_INVALID, "twice");
}

static void nothing_is_fetched(void **state)
{
    (void)state;
    refused("{\"$ref\":\"http://example.com/a.json#/b\"}", CS_MISSING,
            "there is no schema 'http://example.com/a.json' among the documents");
    refused("{\"$id\":\"http://example.com/x/y\",\"$ref\":\"../a.json\"}", CS_MISSING,
            "'http://example.com/a.json'");
}

static void what_nobody_reaches_may_be_broken(void **state)
{
    (void)state;
    assert_true(fits("{\"$defs\":{\"a\":{\"type\":\"nonsense\",\"$ref\":\"http://gone/\"}}}", "1"));
}

static void documents_are_found_by_uri_and_by_id(void **state)
{
    (void)state;
    const struct cs_schema_document documents[] = {
        {CS_STR("http://example.com/a.json"),
         CS_STR("{\"$id\":\"http://other.org/b.json\",\"$defs\":{\"n\":{\"$anchor\":\"num\","
                "\"type\":\"number\"}},\"$ref\":\"#num\"}")},
        {CS_STR("http://example.com/broken.json"), CS_STR("{")},
    };
    struct cs_schema_options options = {.documents = documents, .document_count = 2};
    static const char *const refs[] = {"http://example.com/a.json", "http://example.com/a.json#num",
                                       "http://example.com/a.json#/$defs/n",
                                       "http://example.com/a.json#"};
    for (size_t i = 0; i < CS_COUNT(refs); i++) {
        CS_AUTO_BUF struct cs_buf schema = {0};
        cs_buf_printf(&schema, "{\"items\":{\"$ref\":\"%s\"}}", refs[i]);
        AUTO_OUTCOME o;
        check_with(&o, cs_buf_str(&schema), CS_STR("[1,\"a\"]"), &options);
        assert_int_equal(o.count, 1);
        assert_str_is(o.faults[0].path, "[1]");
    }
    AUTO_OUTCOME broken;
    check_with(&broken, CS_STR("{\"$ref\":\"http://example.com/broken.json\"}"), CS_STR("1"),
               &options);
    assert_int_equal(broken.count, -2);
    assert_contains(broken.err.msg, "broken.json");
}

static void the_dialect_comes_from_the_schema(void **state)
{
    (void)state;
    /* Draft 7 does not know prefixItems, and ignores what stands beside $ref. */
    static const char seven[] = "http://json-schema.org/draft-07/schema#";
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_buf_printf(&b, "{\"$schema\":\"%s\",\"prefixItems\":[{\"type\":\"string\"}]}", seven);
    assert_true(fits(cs_buf_cstr(&b), "[1]"));
    assert_false(fits("{\"prefixItems\":[{\"type\":\"string\"}]}", "[1]"));
    cs_buf_clear(&b);
    cs_buf_printf(&b,
                  "{\"$schema\":\"%s\",\"definitions\":{\"a\":{}},\"properties\":{\"x\":"
                  "{\"$ref\":\"#/definitions/a\",\"type\":\"string\"}}}",
                  seven);
    assert_true(fits(cs_buf_cstr(&b), "{\"x\":1}"));
    assert_false(fits("{\"$defs\":{\"a\":{}},\"properties\":{\"x\":{\"$ref\":\"#/$defs/a\","
                      "\"type\":\"string\"}}}",
                      "{\"x\":1}"));
    struct cs_schema_options old = {.dialect = CS_DRAFT_7};
    AUTO_OUTCOME o;
    check_with(&o, CS_STR("{\"dependentRequired\":{\"a\":[\"b\"]}}"), CS_STR("{\"a\":1}"), &old);
    assert_int_equal(o.count, 0);
    /* An unknown $schema changes nothing. */
    assert_false(fits("{\"$schema\":\"http://example.com/my-dialect\",\"type\":\"string\"}", "1"));
}

/* Servers that name no dialect often mean an older one. */
static void older_forms_are_understood(void **state)
{
    (void)state;
    static const char tuple[] =
        "{\"items\":[{\"type\":\"string\"},{\"type\":\"integer\"}],\"additionalItems\":false}";
    assert_true(fits(tuple, "[\"a\",1]"));
    assert_false(fits(tuple, "[1,1]"));
    assert_false(fits(tuple, "[\"a\",1,2]"));
    static const char defs[] =
        "{\"$ref\":\"#/definitions/a\",\"definitions\":{\"a\":{\"type\":\"string\"}}}";
    assert_false(fits(defs, "1"));
    assert_false(fits("{\"minimum\":3,\"exclusiveMinimum\":true}", "3"));
    assert_true(fits("{\"minimum\":3,\"exclusiveMinimum\":false}", "3"));
    assert_false(fits("{\"dependencies\":{\"a\":[\"b\"]}}", "{\"a\":1}"));
}

/* A tool that takes a schema refers to the metaschema. */
static void the_metaschemas_are_there(void **state)
{
    (void)state;
    static const char *const refs[] = {"http://json-schema.org/draft-07/schema#",
                                       "https://json-schema.org/draft/2020-12/schema"};
    for (size_t i = 0; i < CS_COUNT(refs); i++) {
        CS_AUTO_BUF struct cs_buf b = {0};
        cs_buf_printf(&b, "{\"properties\":{\"schema\":{\"$ref\":\"%s\"}}}", refs[i]);
        const char *schema = cs_buf_cstr(&b);
        assert_true(fits(schema, "{\"schema\":{\"type\":\"object\",\"properties\":{\"a\":"
                                 "{\"type\":[\"string\",\"null\"]}}}}"));
        assert_false(fits(schema, "{\"schema\":{\"properties\":{\"a\":{\"type\":\"text\"}}}}"));
        assert_false(fits(schema, "{\"schema\":{\"items\":{\"not\":{\"minLength\":-1}}}}"));
        assert_false(fits(schema, "{\"schema\":{\"required\":\"a\"}}"));
        assert_false(fits(schema, "{\"schema\":3}"));
    }
    assert_false(fits("{\"$ref\":\"https://json-schema.org/draft/2020-12/meta/validation\"}",
                      "{\"maximum\":\"1\"}"));
}

static void required_vocabularies_must_be_known(void **state)
{
    (void)state;
    const struct cs_schema_document documents[] = {
        {CS_STR("http://example.com/meta"),
         CS_STR("{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$vocabulary\":"
                "{\"http://example.com/vocab\":true}}")},
    };
    struct cs_schema_options options = {.documents = documents, .document_count = 1};
    AUTO_OUTCOME o;
    check_with(&o, CS_STR("{\"$schema\":\"http://example.com/meta\"}"), CS_STR("1"), &options);
    assert_int_equal(o.count, -2);
    assert_int_equal(o.err.code, CS_INVALID);
    assert_contains(o.err.msg, "http://example.com/vocab");
}

/* Names with escapes, in the schema or in the value, are the same names. */
static void escapes_do_not_matter(void **state)
{
    (void)state;
    static const char schema[] =
        "{\"properties\":{\"caf\\u00e9\":{\"enum\":[\"a\\\"b\"]}},\"required\":[\"caf\\u00e9\"],"
        "\"additionalProperties\":false,\"typ\\u0065\":\"object\"}";
    assert_true(fits(schema, "{\"caf\xC3\xA9\":\"a\\u0022b\"}"));
    assert_true(fits(schema, "{\"c\\u0061f\xC3\xA9\":\"a\\\"b\"}"));
    assert_false(fits(schema, "{\"cafe\":\"a\\\"b\"}"));
    assert_false(fits(schema, "1"));
    assert_false(fits("{\"properties\":{\"a\\u0000b\":false}}", "{\"a\\u0000b\":1}"));
    assert_true(fits("{\"properties\":{\"a\\u0000b\":false}}", "{\"a\":1}"));
}

/* A key that is there twice must fit twice, and counts once. */
static void keys_that_repeat_are_all_checked(void **state)
{
    (void)state;
    struct cs_schema *s = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_schema_new(CS_STR("{\"required\":[\"a\",\"b\"],\"properties\":"
                                          "{\"a\":{\"type\":\"integer\"}}}"),
                                   NULL, &s, &err),
                     0);
    static const struct {
        const char *value;
        int faults;
    } cases[] = {{"{\"a\":1,\"a\":2,\"b\":3}", 0},
                 {"{\"a\":1,\"a\":\"x\",\"b\":3}", 1},
                 {"{\"a\":\"x\",\"a\":1,\"b\":3}", 1},
                 {"{\"a\":1,\"a\":2}", 1}};
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        CS_AUTO_JSON struct cs_json doc = {0};
        struct cs_json_limits limits = {.allow_duplicate = true};
        assert_int_equal(cs_json_parse(cs_str(cases[i].value), &limits, &doc, &err), 0);
        assert_int_equal(cs_schema_check(s, cs_json_root(&doc), NULL, NULL, 0, &err),
                         cases[i].faults);
    }
    cs_schema_free(s);
}

static void no_value_is_an_error(void **state)
{
    (void)state;
    struct cs_schema *s = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_schema_new(CS_STR("true"), NULL, &s, NULL), 0);
    assert_int_equal(cs_schema_check(s, (struct cs_json_val){0}, NULL, NULL, 0, &err), -1);
    assert_int_equal(err.code, CS_INVALID);
    cs_schema_free(s);
    cs_schema_free(NULL);
    assert_int_equal(cs_schema_new(CS_STR("{\"$ref\":\"#x\"}"), NULL, &s, NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(mistakes_are_told_with_their_place),
        CS_TEST(nothing_is_fetched),
        CS_TEST(what_nobody_reaches_may_be_broken),
        CS_TEST(documents_are_found_by_uri_and_by_id),
        CS_TEST(the_dialect_comes_from_the_schema),
        CS_TEST(older_forms_are_understood),
        CS_TEST(the_metaschemas_are_there),
        CS_TEST(required_vocabularies_must_be_known),
        CS_TEST(escapes_do_not_matter),
        CS_TEST(keys_that_repeat_are_all_checked),
        CS_TEST(no_value_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"

#include "front/form.h"

static struct cs_form *form_of(const char *properties, const char *required)
{
    struct cs_form *form = NULL;
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf params = {0};
    cs_buf_printf(&params,
                  "{\"message\": \"Who?\", \"requestedSchema\": {\"type\": \"object\", "
                  "\"properties\": {%s}, \"required\": [%s]}}",
                  properties, required);
    if (cs_form_new(cs_buf_str(&params), &form, &err) < 0)
        fail_msg("%s: %s", properties, err.msg);
    return form;
}

#define COLOURS "{\"type\": \"string\", \"enum\": [\"red\", \"green\", \"deep blue\"]}"
#define HEROES                                                                           \
    "{\"type\": \"string\", \"oneOf\": [{\"const\": \"h1\", \"title\": \"Superman\"}, "  \
    "{\"const\": \"h2\", \"title\": \"Wonder, Woman\"}, {\"const\": \"h3\", \"title\": " \
    "\"superman\"}], \"default\": \"h2\"}"
#define PETS  "{\"type\": \"string\", \"enum\": [\"p1\", \"p2\"], \"enumNames\": [\"Cat\", \"Dog\"]}"
#define YEARS "{\"type\": \"string\", \"enum\": [\"3\", \"2\", \"1\"]}"
#define MANY                                                                         \
    "{\"type\": \"array\", \"minItems\": 1, \"maxItems\": 2, \"items\": {\"type\": " \
    "\"string\", \"enum\": [\"a\", \"b\", \"c\"]}}"
#define TITLED                                                                                 \
    "{\"type\": \"array\", \"items\": {\"anyOf\": [{\"const\": \"f1\", \"title\": \"Tuna\"}, " \
    "{\"const\": \"f2\", \"title\": \"Cod, smoked\"}]}, \"default\": [\"f1\", \"f2\"]}"

static void lines_become_values_or_questions(void **state)
{
    /* `json` NULL: left out. `says`: it is asked again, with these words. */
    static const struct {
        const char *schema, *line, *json, *says;
    } rows[] = {
        {"{\"type\": \"string\"}", "Ada Lovelace\n", "\"Ada Lovelace\"", NULL},
        {"{\"type\": \"string\"}", "  as typed \r\n", "\"  as typed \"", NULL},
        {"{\"type\": \"string\"}", "q\"\\\n", "\"q\\\"\\\\\"", NULL},
        {"{\"type\": \"string\"}", "\n", NULL, NULL},
        {"{\"type\": \"string\"}", "   \n", NULL, NULL},
        {"{\"type\": \"string\", \"default\": \"x y\"}", "\n", "\"x y\"", NULL},
        {"{\"type\": \"string\", \"default\": 3}", "\n", NULL, NULL},
        {"{\"type\": \"string\", \"minLength\": 3}", "ab\n", NULL, "3"},
        {"{\"type\": \"string\", \"maxLength\": 3}", "abcd\n", NULL, "3"},
        {"{\"type\": \"string\", \"pattern\": \"^[a-z]+$\"}", "A\n", NULL, "A"},
        {"{\"type\": \"string\", \"format\": \"email\"}", "ada\n", NULL, "e-mail"},
        {"{\"type\": \"string\", \"format\": \"email\"}", "a@b.cd\n", "\"a@b.cd\"", NULL},
        {"{\"type\": \"string\", \"format\": \"date\"}", "2026-02-30\n", NULL, "date"},
        {"{\"type\": \"string\", \"format\": \"date-time\"}", "2026-02-03T04:05:06Z\n",
         "\"2026-02-03T04:05:06Z\"", NULL},
        {"{\"type\": \"string\", \"format\": \"uri\"}", "no uri\n", NULL, "uri"},
        {"{\"type\": \"number\"}", " -1.5e3 \n", "-1.5e3", NULL},
        {"{\"type\": \"number\"}", "1,5\n", NULL, "must be a number"},
        {"{\"type\": \"number\"}", "\"1\"\n", NULL, "must be a number"},
        {"{\"type\": \"number\"}", "NaN\n", NULL, "must be a number"},
        {"{\"type\": \"number\", \"maximum\": 10}", "11\n", NULL, "10"},
        {"{\"type\": \"integer\"}", "7\n", "7", NULL},
        {"{\"type\": \"integer\"}", "seven\n", NULL, "must be a whole number"},
        {"{\"type\": \"integer\"}", "7.5\n", NULL, "integer"},
        {"{\"type\": \"integer\", \"default\": 42}", "\n", "42", NULL},
        {"{\"type\": \"boolean\"}", "Yes\n", "true", NULL},
        {"{\"type\": \"boolean\"}", "n\n", "false", NULL},
        {"{\"type\": \"boolean\"}", "2\n", NULL, "must be y or n"},
        {"{\"type\": \"boolean\", \"default\": false}", "\n", "false", NULL},
        {COLOURS, "green\n", "\"green\"", NULL},
        {COLOURS, " 3 \n", "\"deep blue\"", NULL},
        {COLOURS, "RED\n", "\"red\"", NULL},
        {COLOURS, "4\n", NULL, "'4' is none of the choices; a number will do"},
        {COLOURS, "0\n", NULL, "none of the choices"},
        {COLOURS, "99999999999999999999999999\n", NULL, "none of the choices"},
        {COLOURS, "1.0\n", NULL, "none of the choices"},
        {HEROES, "\n", "\"h2\"", NULL},
        {HEROES, "wonder, woman\n", "\"h2\"", NULL},
        {HEROES, "superman\n", NULL, "none of the choices"},
        {HEROES, "h3\n", "\"h3\"", NULL},
        {PETS, "dog\n", "\"p2\"", NULL},
        {PETS, "1\n", "\"p1\"", NULL},
        {YEARS, "1\n", "\"1\"", NULL},
        {"{\"enum\": [1, null, {\"a\": 1}]}", "null\n", "null", NULL},
        {MANY, "a, c\n", "[\"a\",\"c\"]", NULL},
        {MANY, "2 , B,\n", "[\"b\"]", NULL},
        {MANY, "1,2,3\n", NULL, "2"},
        {MANY, "a,x\n", NULL, "'x' is none of the choices"},
        {MANY, "\n", NULL, NULL},
        {MANY, ",\n", NULL, "1"},
        {TITLED, "cod, smoked\n", "[\"f2\"]", NULL},
        {TITLED, "1,2\n", "[\"f1\",\"f2\"]", NULL},
        {TITLED, "\n", "[\"f1\", \"f2\"]", NULL},
        {"{\"type\": [\"null\", \"integer\"]}", "5\n", "5", NULL},
        {"{}", "anything\n", "\"anything\"", NULL},
        {"{\"type\": \"object\"}", "{\"a\": [1]}\n", "{\"a\": [1]}", NULL},
        {"{\"type\": \"object\"}", "[1]\n", NULL, "object"},
        {"{\"type\": \"object\"}", "{\n", NULL, "JSON"},
        {"{\"type\": \"array\", \"items\": {\"type\": \"number\"}}", "[1, 2]\n", "[1, 2]", NULL},
        {"{\"type\": \"string\", \"pattern\": \"(\"}", "kept\n", "\"kept\"", NULL},
        {"{\"$ref\": \"#/nowhere\"}", "kept\n", "\"kept\"", NULL},
        {"true", "kept\n", "\"kept\"", NULL},
        {"3", "kept\n", "\"kept\"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_BUF struct cs_buf field = {0}, value = {0};
        cs_buf_printf(&field, "\"f\": %s", rows[i].schema);
        struct cs_form *form = form_of(cs_buf_cstr(&field), "");
        struct cs_err err = {0};
        assert_int_equal(cs_form_count(form), 1);
        enum cs_form_got got = cs_form_take(form, 0, cs_str(rows[i].line), &value, &err);
        if (got != (rows[i].says ? CS_FORM_AGAIN : rows[i].json ? CS_FORM_VALUE : CS_FORM_LEFT_OUT))
            fail_msg("row %zu: %s with %s: %d, '%s' %s", i, rows[i].schema, rows[i].line, got,
                     cs_buf_cstr(&value), err.msg);
        if (rows[i].says)
            assert_contains(err.msg, rows[i].says);
        assert_string_equal(cs_buf_cstr(&value), rows[i].json ? rows[i].json : "");
        cs_form_free(form);
    }
}

static void what_is_required_is_asked_again(void **state)
{
    static const char *const schemas[] = {"{\"type\": \"string\"}", "{\"type\": \"number\"}",
                                          "{\"type\": \"boolean\"}", COLOURS, MANY};
    (void)state;
    for (size_t i = 0; i < CS_COUNT(schemas); i++) {
        CS_AUTO_BUF struct cs_buf field = {0}, value = {0};
        struct cs_err err = {0};
        cs_buf_printf(&field, "\"f\": %s", schemas[i]);
        struct cs_form *form = form_of(cs_buf_cstr(&field), "\"f\"");
        assert_int_equal(cs_form_take(form, 0, CS_STR("\n"), &value, &err), CS_FORM_AGAIN);
        assert_int_equal(value.len, 0);
        assert_true(err.msg[0]);
        cs_form_free(form);
    }
}

static void prompts_say_what_is_wanted(void **state)
{
    static const struct {
        const char *schema, *prompt, *details;
    } rows[] = {
        {"{\"type\": \"string\"}", "f (required): ", ""},
        {"{\"type\": \"string\", \"title\": \"Full\\nname\", \"description\": \"As in a\\n"
         "passport\", \"default\": \"A\\tB\"}",
         "Full name (required) [A B]: ", "As in a\npassport\n"},
        {"{\"type\": \"boolean\", \"default\": true}", "f (required, y/n) [y]: ", ""},
        {"{\"type\": \"integer\", \"default\": 42}", "f (required) [42]: ", ""},
        {"{\"type\": \"integer\", \"default\": \"42\"}", "f (required): ", ""},
        {"{\"type\": \"object\"}", "f (required, JSON): ", ""},
        {HEROES,
         "f (required) [h2]: ", "  1) h1: Superman\n  2) h2: Wonder, Woman\n  3) h3: superman\n"},
        {YEARS, "f (required): ", "  - 3\n  - 2\n  - 1\n"},
        {TITLED,
         "f (required, several, with commas) [f1, f2]: ", "  1) f1: Tuna\n  2) f2: Cod, smoked\n"},
    };
    (void)state;
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_BUF struct cs_buf field = {0}, prompt = {0}, details = {0};
        cs_buf_printf(&field, "\"f\": %s", rows[i].schema);
        struct cs_form *form = form_of(cs_buf_cstr(&field), "\"g\", \"f\"");
        cs_form_prompt(form, 0, &prompt);
        cs_form_details(form, 0, &details);
        assert_string_equal(cs_buf_cstr(&prompt), rows[i].prompt);
        assert_string_equal(cs_buf_cstr(&details), rows[i].details);
        cs_form_free(form);
    }
}

static void values_become_one_object(void **state)
{
    struct cs_form *form = form_of("\"a\\\"b\": {\"type\": \"string\"}, \"c\": {}, \"d\": {}", "");
    struct cs_buf values[3] = {{0}};
    CS_AUTO_BUF struct cs_buf content = {0};
    struct cs_err err = {0};
    (void)state;
    cs_buf_puts(&values[0], "\"x\"");
    cs_buf_puts(&values[2], "[1]");
    assert_int_equal(cs_form_content(form, values, &content, &err), 0);
    assert_string_equal(cs_buf_cstr(&content), "{\"a\\\"b\":\"x\",\"d\":[1]}");
    cs_form_free(form);
    /* Each may fit alone, and not all together. */
    cs_buf_clear(&content);
    assert_int_equal(cs_form_new(CS_STR("{\"requestedSchema\": {\"minProperties\": 3, "
                                        "\"properties\": {\"a\": {}, \"b\": {}, \"c\": {}}}}"),
                                 &form, &err),
                     0);
    assert_int_equal(cs_form_content(form, values, &content, &err), -1);
    assert_contains(err.msg, "3");
    assert_int_equal(content.len, 0);
    cs_form_free(form);
    cs_buf_done(&values[0]);
    cs_buf_done(&values[2]);
}

static void odd_questions_are_refused_or_have_no_fields(void **state)
{
    static const char *const empty[] = {
        "{}", "{\"message\": 3, \"requestedSchema\": 3}",        "[]",
        "3",  "{\"requestedSchema\": {\"properties\": [1, 2]}}", "{\"requestedSchema\": {}}"};
    struct cs_form *form = NULL;
    struct cs_err err = {0};
    (void)state;
    for (size_t i = 0; i < CS_COUNT(empty); i++) {
        assert_int_equal(cs_form_new(cs_str(empty[i]), &form, &err), 0);
        assert_int_equal(cs_form_count(form), 0);
        assert_int_equal(cs_form_message(form).len, 0);
        cs_form_free(form);
    }
    form = NULL;
    assert_int_equal(cs_form_new(CS_STR("{"), &form, &err), -1);
    assert_int_equal(cs_form_new(CS_STR("{\"message\": \"a\", \"message\": \"b\"}"), &form, &err),
                     -1);
    assert_null(form);
    CS_AUTO_BUF struct cs_buf many = {0};
    cs_buf_puts(&many, "{\"requestedSchema\": {\"properties\": {");
    for (unsigned i = 0; i <= CS_FORM_FIELDS; i++)
        cs_buf_printf(&many, "%s\"f%u\": {}", i ? "," : "", i);
    cs_buf_puts(&many, "}}}");
    assert_int_equal(cs_form_new(cs_buf_str(&many), &form, &err), -1);
    assert_int_equal(err.code, CS_LIMIT);
    while (many.len <= CS_FORM_BYTES)
        cs_buf_putc(&many, ' ');
    assert_int_equal(cs_form_new(cs_buf_str(&many), &form, &err), -1);
    assert_int_equal(err.code, CS_LIMIT);
    assert_null(form);
}

static void long_texts_are_cut_between_characters(void **state)
{
    CS_AUTO_BUF struct cs_buf params = {0};
    struct cs_form *form = NULL;
    struct cs_err err = {0};
    (void)state;
    cs_buf_puts(&params, "{\"message\": \"x");
    for (int i = 0; i < 3000; i++)
        cs_buf_puts(&params, "\xc3\xa9");
    cs_buf_puts(&params, "\"}");
    assert_int_equal(cs_form_new(cs_buf_str(&params), &form, &err), 0);
    struct cs_str message = cs_form_message(form);
    assert_true(message.len < 2100 && message.len % 2 == 1);
    assert_true(cs_str_ends(message, "\xc3\xa9 ..."));
    cs_form_free(form);
}

static void hosts_are_what_they_seem(void **state)
{
    static const char *const rows[][2] = {
        {"https://example.com/a?b#c", "example.com"},
        {"HTTP://example.com:8080", "example.com:8080"},
        {"https://[::1]/x", "[::1]"},
        {"https://example.com?x=@y", "example.com"},
        {"https://user@example.com/", NULL},
        {"https://good.example\\@evil.example/", NULL},
        {"https://ex\xc3\xa4mple.com/", NULL},
        {"https://example.com/\x1b[2J", NULL},
        {"https://example.com/a b", NULL},
        {"https://a%2eb/", NULL},
        {"https://", NULL},
        {"https:///x", NULL},
        {"http:/x", NULL},
        {"ftp://example.com", NULL},
        {"javascript:alert(1)//", NULL},
        {"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        struct cs_str host = {0};
        struct cs_err err = {0};
        int status = cs_form_host(cs_str(rows[i][0]), &host, &err);
        if ((status == 0) != (rows[i][1] != NULL))
            fail_msg("%s: %d", rows[i][0], status);
        if (status == 0)
            assert_str_is(host, rows[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(lines_become_values_or_questions),
        CS_TEST(what_is_required_is_asked_again),
        CS_TEST(prompts_say_what_is_wanted),
        CS_TEST(values_become_one_object),
        CS_TEST(odd_questions_are_refused_or_have_no_fields),
        CS_TEST(long_texts_are_cut_between_characters),
        CS_TEST(hosts_are_what_they_seem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

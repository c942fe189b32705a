#include "rest/inside.h"
#include "test.h"

struct fixture {
    struct cs_rest_read how;
    struct cs_schema *schema;
    struct cs_json doc;
    struct cs_arena arena;
    struct cs_request request;
    bool async;
    struct cs_err err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    CS_AUTO_BUF struct cs_buf openapi = {0};
    cs_rest_openapi(&openapi);
    if (cs_rest_schema(cs_buf_str(&openapi), "ExecutionRequest", &f->schema, &f->err) < 0)
        fail_msg("%s", f->err.msg);
    f->how = (struct cs_rest_read){f->schema, 1000, 2000, 30000};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    cs_json_done(&f->doc);
    cs_arena_done(&f->arena);
    cs_schema_free(f->schema);
    free(f);
    return 0;
}

static int read_body(struct fixture *f, const char *body)
{
    cs_json_done(&f->doc);
    f->err = (struct cs_err){0};
    return cs_rest_read_execution(&f->how, cs_str(body), &f->doc, &f->arena, &f->request, &f->async,
                                  &f->err);
}

static void must_fail(struct fixture *f, const char *body, enum cs_code code, const char *piece)
{
    if (read_body(f, body) == 0)
        fail_msg("it is taken: %s", body);
    assert_int_equal(f->err.code, code);
    assert_contains(f->err.msg, piece);
}

static void a_body_becomes_a_request(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(
        read_body(f, "{\"code\": \"a\\nb\", \"language\": \"py\", \"inputs\": {\"a\": [1, 2]}, "
                     "\"intent\": \"why\", \"session_id\": \"ses_1\", \"timeout_ms\": 5000, "
                     "\"limits\": {\"memory\": \"64M\", \"tool_calls\": 7}, \"async\": true, "
                     "\"on_busy\": \"fail\"}"),
        0);
    assert_str_is(f->request.code, "a\nb");
    assert_str_is(f->request.inputs, "{\"a\": [1, 2]}");
    assert_str_is(f->request.intent, "why");
    assert_str_is(f->request.session, "ses_1");
    assert_int_equal(f->request.language, CS_PYTHON);
    assert_int_equal(f->request.limits.wall_clock, 5000);
    assert_int_equal(f->request.limits.memory, 64u << 20);
    assert_int_equal(f->request.limits.tool_calls, 7);
    assert_true(f->async);
    assert_true(f->request.session_must_be_free);
}

static void values_are_for_those_who_may_have_them(void **state)
{
    struct fixture *f = *state;
    const struct cs_privacy_options options = {.level = CS_PRIVACY_MEDIUM};
    struct cs_caller local = cs_caller_local(), key = {.key_id = "0123456789abcdef"};
    struct cs_privacy *p = NULL;
    assert_int_equal(cs_privacy_new(&options, &p, &f->err), 0);
    static const struct {
        const char *body, *says; /* NULL: taken */
        bool keyed, reveal;
        enum cs_code code;
    } cases[] = {
        {"{\"code\": \"1\", \"privacy\": \"high\"}", NULL, false, false, CS_OK},
        {"{\"code\": \"1\", \"reveal\": true}", "who shows no key", false, false, CS_DENIED},
        {"{\"code\": \"1\", \"reveal\": true}", "this key has no right", true, false, CS_DENIED},
        {"{\"code\": \"1\", \"reveal\": true}", NULL, true, true, CS_OK},
        {"{\"code\": \"1\", \"reveal\": false}", NULL, true, false, CS_OK},
        {"{\"code\": \"1\", \"reveal\": true, \"async\": true}", "leave out async", true, true,
         CS_INVALID},
        {"{\"code\": \"1\", \"privacy\": \"off\"}", "ask for more", true, true, CS_INVALID},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_caller *caller = cases[i].keyed ? &key : &local;
        caller->reveal = cases[i].reveal;
        assert_int_equal(read_body(f, cases[i].body), 0);
        int status =
            cs_rest_read_privacy(p, caller, cs_json_root(&f->doc), &f->arena, &f->request, &f->err);
        assert_int_equal(f->err.code, cases[i].code);
        if (cases[i].says)
            assert_contains(f->err.msg, cases[i].says);
        if (status == 0)
            assert_int_equal(f->request.reveal, cases[i].reveal);
        if (i == 0)
            assert_int_equal(f->request.privacy, CS_PRIVACY_HIGH);
    }
    cs_privacy_unref(p);
}

static void what_is_not_said_is_the_default(void **state)
{
    struct fixture *f = *state;
    struct cs_limits usual = cs_limits_default();
    f->how.timeout_ms = 1234;
    assert_int_equal(read_body(f, "{\"code\": \"1\"}"), 0);
    assert_int_equal(f->request.language, CS_TYPESCRIPT);
    assert_int_equal(f->request.limits.wall_clock, 1234);
    assert_int_equal(f->request.limits.memory, usual.memory);
    assert_int_equal(f->request.inputs.len, 0);
    assert_int_equal(f->request.principal.len + f->request.tenant.len + f->request.key.len, 0);
    assert_false(f->async);
    assert_false(f->request.session_must_be_free);
    assert_int_equal(read_body(f, "{\"code\": \"1\", \"limits\": {\"wall_clock\": \"2s\"}}"), 0);
    assert_int_equal(f->request.limits.wall_clock, 2000);
}

static void mistakes_are_named(void **state)
{
    struct fixture *f = *state;
    must_fail(f, "{\"code\": \"1\"", CS_INVALID, "line 1, column 13");
    must_fail(f, "{\n \"code\": x}", CS_INVALID, "line 2, column 10");
    must_fail(f, "[]", CS_INVALID, "object");
    must_fail(f, "{\"code\": \"1\", \"timeout\": 1}", CS_INVALID, "timeout_ms");
    must_fail(f, "{\"code\": \"1\", \"async\": 1}", CS_INVALID, "async");
    must_fail(f, "{\"code\": \"1\", \"limits\": {\"memory\": -1}}", CS_INVALID, "memory");
    must_fail(f, "{\"code\": \"1\", \"limits\": {\"memory\": \"1\\u00002\"}}", CS_INVALID,
              "memory");
    must_fail(f, "{\"code\": \"1\", \"limits\": {\"memory\": 1.5}}", CS_INVALID, "memory");
    must_fail(f, "{\"code\": \"1\", \"timeout_ms\": 1, \"limits\": {\"wall_clock\": 1}}",
              CS_INVALID, "timeout_ms and limits.wall_clock");
}

static void nobody_chooses_who_they_are(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"execution_id", "id",   "principal", "tenant",
                                        "created_at",   "time", "key",       "workspace"};
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        char body[100];
        snprintf(body, sizeof body, "{\"code\": \"1\", \"%s\": \"x\"}", names[i]);
        must_fail(f, body, CS_INVALID, names[i]);
    }
}

static void sizes_are_bounded(void **state)
{
    struct fixture *f = *state;
    f->how.code_bytes = 3;
    f->how.inputs_bytes = 4;
    assert_int_equal(read_body(f, "{\"code\": \"\\u0031\\u0032\\u0033\", \"inputs\": [10]}"), 0);
    must_fail(f, "{\"code\": \"1234\"}", CS_LIMIT, "code: 4 bytes; at most 3");
    must_fail(f, "{\"code\": \"1\", \"inputs\": [100]}", CS_LIMIT, "inputs: 5 bytes; at most 4");
}

static void equal_requests_have_one_canonical_form(void **state)
{
    (void)state;
    static const char *const same[] = {
        "{\"b\": [1, {\"y\": null, \"x\": true}], \"a\": \"\\u00e4\"}",
        "{\"a\":\"\xc3\xa4\",\n\"b\":[1,{\"x\":true,\"y\":null}]}"};
    CS_AUTO_BUF struct cs_buf first = {0};
    for (size_t i = 0; i < CS_COUNT(same); i++) {
        CS_AUTO_JSON struct cs_json doc = {0};
        CS_AUTO_BUF struct cs_buf out = {0};
        assert_int_equal(cs_json_parse(cs_str(same[i]), NULL, &doc, NULL), 0);
        cs_put_canonical(&out, cs_json_root(&doc));
        if (i == 0)
            cs_buf_putstr(&first, cs_buf_str(&out));
        assert_string_equal(cs_buf_cstr(&out), cs_buf_cstr(&first));
    }
    assert_string_equal(cs_buf_cstr(&first),
                        "{\"a\":\"\xc3\xa4\",\"b\":[1,{\"x\":true,\"y\":null}]}");
}

static void times_and_names_are_written_plainly(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0}, percent = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_put_time(&w, "at", 1700000000123);
    cs_put_time(&w, "never", 0);
    cs_put_text(&w, "none", (struct cs_str){0});
    cs_json_close(&w, '}');
    assert_string_equal(cs_buf_cstr(&out), "{\"at\":\"2023-11-14T22:13:20.123Z\"}");
    cs_put_percent(&percent, CS_STR("a b\r\n\"/\xc3\xa4~\0"));
    assert_string_equal(cs_buf_cstr(&percent), "a%20b%0D%0A%22%2F%C3%A4~%00");
}

static void a_form_becomes_an_object(void **state)
{
    static const struct {
        const char *form, *json; /* NULL: it cannot be read */
    } rows[] = {
        {"answer=once&card_hash=ab", "{\"answer\":\"once\",\"card_hash\":\"ab\"}"},
        {"card_hash=ab&reason=a+b%21%26%3d&x=", "{\"card_hash\":\"ab\",\"reason\":\"a b!&=\"}"},
        {"card_hash=&&", "{}"},
        {"card_hash", "{}"},
        {"answer=once", NULL},
        {"", NULL},
        {"card_hash=%", NULL},
        {"card_hash=%2", NULL},
        {"card_hash=%2g", NULL},
        {"card%zz_hash=1", NULL},
    };
    (void)state;
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_BUF struct cs_buf json = {0};
        struct cs_err err = {0};
        int status = cs_rest_form_json(cs_str(rows[i].form), &json, &err);
        assert_int_equal(status, rows[i].json ? 0 : -1);
        if (rows[i].json)
            assert_string_equal(cs_buf_cstr(&json), rows[i].json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_form_becomes_an_object),
        CS_TEST_WITH(a_body_becomes_a_request, setup, teardown),
        CS_TEST_WITH(what_is_not_said_is_the_default, setup, teardown),
        CS_TEST_WITH(values_are_for_those_who_may_have_them, setup, teardown),
        CS_TEST_WITH(mistakes_are_named, setup, teardown),
        CS_TEST_WITH(nobody_chooses_who_they_are, setup, teardown),
        CS_TEST_WITH(sizes_are_bounded, setup, teardown),
        CS_TEST(equal_requests_have_one_canonical_form),
        CS_TEST(times_and_names_are_written_plainly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

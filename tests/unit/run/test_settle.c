#include "test.h"

#include "base/json.h"
#include "base/mem.h"
#include "run/inside.h"

/* A run as it is when its job has ended. */
static struct cs_run *fresh(enum cs_language language)
{
    struct cs_run *run = CS_NEW(struct cs_run);
    run->result.language = language;
    run->result.is_guest = language != CS_TYPESCRIPT;
    run->result.limits = cs_limits_default();
    run->result.verdict.allowed = true;
    memcpy(run->result.execution_id, "ex_0", 5);
    return run;
}

static void discard(struct cs_run *run)
{
    cs_arena_done(&run->arena);
    cs_buf_done(&run->out);
    cs_buf_done(&run->err);
    free(run);
}

static void a_value_is_taken_over_as_it_is(void **state)
{
    (void)state;
    struct cs_run *run = fresh(CS_TYPESCRIPT);
    cs_settle(run, &(struct cs_job_end){.how = CS_ENDED_VALUE, .payload = CS_STR("{\"a\":[1]}")});
    assert_false(run->result.failed);
    assert_int_equal(run->result.status, CS_STATUS_COMPLETED);
    assert_str_is(run->result.value, "{\"a\":[1]}");
    discard(run);
}

static void a_value_that_is_not_json_is_not_believed(void **state)
{
    (void)state;
    static const char *const payloads[] = {"", "{", "1 2", "{\"a\":\xff}", "undefined", "[1,]"};
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        struct cs_run *run = fresh(CS_TYPESCRIPT);
        cs_settle(run, &(struct cs_job_end){.how = CS_ENDED_VALUE, .payload = cs_str(payloads[i])});
        assert_true(run->result.failed);
        assert_int_equal(run->result.error.type, CS_ERROR_PERMISSION);
        assert_int_equal(run->result.value.len, 0);
        discard(run);
    }
}

static void a_value_above_its_limits_names_them(void **state)
{
    (void)state;
    struct cs_run *run = fresh(CS_TYPESCRIPT);
    run->result.limits.result = 8;
    cs_settle(run, &(struct cs_job_end){.how = CS_ENDED_VALUE, .payload = CS_STR("[1,2,3,4,5]")});
    assert_int_equal(run->result.error.type, CS_ERROR_RESOURCE);
    assert_true(run->result.error.has_limit);
    assert_int_equal(run->result.error.limit, CS_LIMIT_RESULT);
    assert_int_equal(run->result.error.limit_value, 8);
    assert_true(run->result.error.suggestion.len > 0);
    discard(run);
    run = fresh(CS_TYPESCRIPT);
    run->result.limits.json_depth = 2;
    cs_settle(run, &(struct cs_job_end){.how = CS_ENDED_VALUE, .payload = CS_STR("[[[[[1]]]]]")});
    assert_int_equal(run->result.error.limit, CS_LIMIT_JSON_DEPTH);
    discard(run);
}

static void a_report_is_read_field_by_field(void **state)
{
    (void)state;
    struct cs_run *run = fresh(CS_TYPESCRIPT);
    cs_settle(run, &(struct cs_job_end){
                       .how = CS_ENDED_ERROR,
                       .payload = CS_STR("{\"type\":\"type_error\",\"message\":\"x is not a "
                                         "function\",\"line\":3,\"column\":7,\"stack\":\"at f\","
                                         "\"snippet\":\"x()\",\"suggestion\":\"call y\","
                                         "\"status\":\"completed\",\"result\":42}")});
    const struct cs_error *e = &run->result.error;
    assert_int_equal(run->result.status, CS_STATUS_FAILED);
    assert_int_equal(e->type, CS_ERROR_TYPE);
    assert_str_is(e->message, "x is not a function");
    assert_int_equal(e->line, 3);
    assert_int_equal(e->column, 7);
    assert_str_is(e->suggestion, "call y");
    assert_false(e->has_limit);
    discard(run);
}

static void a_report_cannot_claim_more_than_it_may(void **state)
{
    (void)state;
    static const struct {
        const char *report;
        enum cs_error_type type;
    } rows[] = {
        {"{\"type\":\"internal_error\",\"message\":\"m\"}", CS_ERROR_RUNTIME},
        {"{\"type\":\"no_such\",\"message\":\"m\"}", CS_ERROR_RUNTIME},
        {"{\"type\":7,\"message\":[],\"line\":-1,\"column\":1e99}", CS_ERROR_RUNTIME},
        {"{}", CS_ERROR_RUNTIME},
        {"[]", CS_ERROR_RUNTIME},
        {"not json", CS_ERROR_PERMISSION},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_run *run = fresh(CS_TYPESCRIPT);
        cs_settle(run,
                  &(struct cs_job_end){.how = CS_ENDED_ERROR, .payload = cs_str(rows[i].report)});
        assert_int_equal(run->result.error.type, rows[i].type);
        assert_int_equal(run->result.error.line, 0);
        discard(run);
    }
}

static void a_long_message_is_cut_between_characters(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf report = {0};
    cs_buf_puts(&report, "{\"message\":\"x");
    for (int i = 0; i < 10000; i++)
        cs_buf_puts(&report, "\xc3\xa4");
    cs_buf_puts(&report, "\"}");
    struct cs_run *run = fresh(CS_TYPESCRIPT);
    cs_settle(run, &(struct cs_job_end){.how = CS_ENDED_ERROR, .payload = cs_buf_str(&report)});
    size_t len = run->result.error.message.len;
    assert_true(len > 8000 && len <= 8192);
    assert_int_equal((unsigned char)run->result.error.message.at[len - 1], 0xa4);
    discard(run);
}

static void every_ending_has_its_answer(void **state)
{
    static const struct {
        struct cs_job_end end;
        enum cs_status status;
        enum cs_error_type type;
        const char *says;
    } rows[] = {
        {{.how = CS_ENDED_LIMIT, .limit = CS_LIMIT_WALL_CLOCK},
         CS_STATUS_FAILED,
         CS_ERROR_TIMEOUT,
         "30000 ms"},
        {{.how = CS_ENDED_LIMIT, .limit = CS_LIMIT_MEMORY},
         CS_STATUS_FAILED,
         CS_ERROR_RESOURCE,
         "memory"},
        {{.how = CS_ENDED_LIMIT, .limit = CS_LIMIT_TOOL_CALLS},
         CS_STATUS_FAILED,
         CS_ERROR_RESOURCE,
         "1000 calls"},
        {{.how = CS_ENDED_SYSCALL}, CS_STATUS_FAILED, CS_ERROR_PERMISSION, "system call"},
        {{.how = CS_ENDED_SIGNAL, .signal = 11}, CS_STATUS_FAILED, CS_ERROR_RUNTIME, "signal 11"},
        {{.how = CS_ENDED_SIGNAL, .signal = 6, .memory_refused = true},
         CS_STATUS_FAILED,
         CS_ERROR_RESOURCE,
         "memory"},
        {{.how = CS_ENDED_PROTOCOL, .err = {CS_DENIED, 0, "unknown message"}},
         CS_STATUS_FAILED,
         CS_ERROR_PERMISSION,
         "unknown message"},
        {{.how = CS_ENDED_CANCELLED}, CS_STATUS_CANCELLED, CS_ERROR_RUNTIME, "cancelled"},
        {{.how = CS_ENDED_FAILED, .err = {CS_SYSTEM, 5, "fork: no"}},
         CS_STATUS_FAILED,
         CS_ERROR_INTERNAL,
         "fork: no"},
        {{.how = CS_ENDED_FAILED, .err = {CS_DENIED, 0, "no wall"}},
         CS_STATUS_DENIED,
         CS_ERROR_PERMISSION,
         "no wall"},
        {{.how = CS_ENDED_FAILED, .err = {CS_INVALID, 0, "inputs"}},
         CS_STATUS_FAILED,
         CS_ERROR_VALIDATION,
         "inputs"},
        {{.how = CS_ENDED_FAILED, .err = {CS_LIMIT, 0, "too big"}},
         CS_STATUS_FAILED,
         CS_ERROR_RESOURCE,
         "too big"},
        {{.how = CS_ENDED_VALUE, .payload = {"1", 1}, .err = {CS_SYSTEM, 28, "disk full"}},
         CS_STATUS_FAILED,
         CS_ERROR_INTERNAL,
         "disk full"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_run *run = fresh(CS_TYPESCRIPT);
        cs_settle(run, &rows[i].end);
        assert_int_equal(run->result.status, rows[i].status);
        assert_int_equal(run->result.error.type, rows[i].type);
        assert_contains(run->result.error.message.at, rows[i].says);
        discard(run);
    }
}

static struct cs_run *guest(enum cs_language language, int status, const char *out, const char *err)
{
    struct cs_run *run = fresh(language);
    cs_buf_puts(&run->out, out);
    cs_buf_puts(&run->err, err);
    cs_settle(run, &(struct cs_job_end){.how = CS_ENDED_EXIT, .exit_status = status});
    return run;
}

static void a_guest_result_is_what_it_printed(void **state)
{
    static const struct {
        enum cs_language language;
        const char *out, *value;
    } rows[] = {
        {CS_BASH, "hello\nyou\n", "\"hello\\nyou\""},
        {CS_BASH, "", "\"\""},
        {CS_BASH, "{\"a\":1}", "\"{\\\"a\\\":1}\""},
        {CS_PYTHON, "noise\n{\"a\":1}\n", "{\"a\":1}"},
        {CS_PYTHON, "{\"a\":1}\nlast words\n", "{\"a\":1}"},
        {CS_PYTHON, "nothing of that kind\n", ""},
        {CS_PYTHON, "1\n2\n3", "3"},
        {CS_NODE, "\n\n[1]\n\n", "[1]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_run *run = guest(rows[i].language, 0, rows[i].out, "");
        assert_false(run->result.failed);
        assert_str_is(run->result.value, rows[i].value);
        discard(run);
    }
}

static void a_guest_that_fails_says_how(void **state)
{
    (void)state;
    struct cs_run *run = guest(CS_BASH, 3, "partial", "no such thing\n");
    assert_int_equal(run->result.error.type, CS_ERROR_RUNTIME);
    assert_contains(run->result.error.message.at, "exit status 3");
    assert_int_equal(run->result.exit_status, 3);
    discard(run);
    run = guest(CS_BASH, 128 + 9, "", "");
    assert_contains(run->result.error.message.at, "signal 9");
    discard(run);
    run = guest(CS_PYTHON, 1, "", "OSError: [Errno 24] Too many open files: 'x'\n");
    assert_int_equal(run->result.error.limit, CS_LIMIT_OPEN_FILES);
    discard(run);
}

static void a_full_scratch_is_blamed_when_a_guest_fails(void **state)
{
    (void)state;
    struct cs_job_end end = {.how = CS_ENDED_EXIT,
                             .exit_status = 1,
                             .scratch_full = true,
                             .limit = CS_LIMIT_SCRATCH_FILES};
    struct cs_run *run = fresh(CS_BASH);
    cs_settle(run, &end);
    assert_int_equal(run->result.error.limit, CS_LIMIT_SCRATCH_FILES);
    discard(run);
    end.exit_status = 0; /* it coped */
    run = fresh(CS_BASH);
    cs_settle(run, &end);
    assert_false(run->result.failed);
    discard(run);
    end = (struct cs_job_end){.how = CS_ENDED_EXIT, .exit_status = 1, .fork_refused = true};
    run = fresh(CS_BASH);
    cs_settle(run, &end);
    assert_int_equal(run->result.error.limit, CS_LIMIT_PROCESSES);
    discard(run);
}

static void the_envelope_is_json_with_everything_in_it(void **state)
{
    (void)state;
    struct cs_run *run = fresh(CS_PYTHON);
    struct cs_log logs[] = {{CS_LEVEL_WARN, CS_STR("careful \"you\"\n\033")}};
    run->logs = logs;
    run->log_count = 1;
    cs_buf_puts(&run->out, "out\xff");
    cs_settle(run, &(struct cs_job_end){.how = CS_ENDED_LIMIT,
                                        .limit = CS_LIMIT_MEMORY,
                                        .exit_status = -1,
                                        .wall_us = 1500,
                                        .cpu_us = 250,
                                        .memory_peak = 3u << 20});
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_envelope(&run->result, &out);
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_json_parse(cs_buf_str(&out), NULL, &doc, &err), 0);
    struct cs_json_val root = cs_json_root(&doc), error = cs_json_get(root, "error");
    assert_true(cs_json_is(cs_json_get(root, "status"), "failed"));
    assert_true(cs_json_is(cs_json_get(error, "type"), "resource_error"));
    assert_true(cs_json_is(cs_json_get(cs_json_get(error, "limit"), "name"), "memory"));
    int64_t value = 0;
    assert_true(cs_json_i64(cs_json_get(cs_json_get(error, "limit"), "value"), &value));
    assert_int_equal(value, 512 << 20);
    assert_int_equal(cs_json_type(cs_json_get(root, "result")), CS_JSON_NULL);
    assert_int_equal(cs_json_type(cs_json_get(root, "exit_status")), CS_JSON_NULL);
    assert_int_equal(cs_json_count(cs_json_get(root, "logs")), 1);
    double ms = 0;
    assert_true(cs_json_f64(cs_json_get(cs_json_get(root, "metrics"), "execution_time_ms"), &ms));
    assert_true(ms == 1.5);
    assert_true(cs_json_is(cs_json_get(root, "stdout"), "out\xef\xbf\xbd"));
    discard(run);
}

static void languages_have_their_usual_names(void **state)
{
    (void)state;
    enum cs_language language;
    struct cs_err err = {0};
    assert_int_equal(cs_language_parse(CS_STR("py"), &language, &err), 0);
    assert_int_equal(language, CS_PYTHON);
    assert_int_equal(cs_language_parse(CS_STR("typescript"), &language, &err), 0);
    assert_int_equal(language, CS_TYPESCRIPT);
    assert_int_equal(cs_language_parse(CS_STR("../../bin/sh"), &language, &err), -1);
    assert_contains(err.msg, "typescript, python, bash");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_value_is_taken_over_as_it_is),
        CS_TEST(a_value_that_is_not_json_is_not_believed),
        CS_TEST(a_value_above_its_limits_names_them),
        CS_TEST(a_report_is_read_field_by_field),
        CS_TEST(a_report_cannot_claim_more_than_it_may),
        CS_TEST(a_long_message_is_cut_between_characters),
        CS_TEST(every_ending_has_its_answer),
        CS_TEST(a_guest_result_is_what_it_printed),
        CS_TEST(a_guest_that_fails_says_how),
        CS_TEST(a_full_scratch_is_blamed_when_a_guest_fails),
        CS_TEST(the_envelope_is_json_with_everything_in_it),
        CS_TEST(languages_have_their_usual_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

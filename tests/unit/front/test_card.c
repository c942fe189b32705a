#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/time.h"
#include "front/card.h"
#include "front/deciding.h"

static struct cs_approval_row row_of(const char *kind, const char *card)
{
    return (struct cs_approval_row){
        .id = CS_STR("ap_0193c2d7a1f0c0ffee00c0ffee00c0ff"),
        .tenant = CS_STR("default"),
        .execution = CS_STR("ex_1"),
        .principal = CS_STR("alice"),
        .actor = CS_STR("key"),
        .kind = cs_str(kind),
        .risk = CS_STR("HIGH"),
        .card = cs_str(card),
        .state = CS_STR("pending"),
        .created = cs_time_ms(),
        .expires = cs_time_ms() + 30000,
    };
}

static char *shown(const struct cs_approval_row *row, bool details, bool *whole)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    bool all = cs_card_print(f, false, details, row);
    fclose(f);
    if (whole)
        *whole = all;
    return text;
}

#define PROGRAM                                                                                 \
    "{\"kind\":\"program\",\"intent\":\"tidy up\",\"why\":\"it makes code out of text\","       \
    "\"rule\":\"risk.then.HIGH\",\"language\":\"typescript\",\"risk\":{\"level\":\"HIGH\","     \
    "\"findings\":[{\"id\":\"eval\",\"level\":\"HIGH\",\"line\":2,\"column\":5,"                \
    "\"reason\":\"code out of text\",\"what\":\"eval\",\"mitigation\":\"write it out\"}]},"     \
    "\"program\":{\"code\":\"let a = 1\\nlet b = eval(a)\\nreturn b\",\"code_hash\":\"abcd\"}," \
    "\"limits\":{\"wall_clock\":60000,\"memory\":134217728},"                                   \
    "\"answers\":[\"once\",\"session\",\"program\",\"deny\"]}"

static void card_says_who_what_for_why_and_marks_the_line(void **state)
{
    (void)state;
    struct cs_approval_row row = row_of("program", PROGRAM);
    bool whole = false;
    char *text = shown(&row, false, &whole);
    assert_true(whole);
    assert_non_null(strstr(text, "HIGH  a program asks to run  ap_0193"));
    assert_non_null(strstr(text, "30 s left"));
    assert_non_null(strstr(text, "alice (key)"));
    assert_non_null(strstr(text, "tidy up"));
    assert_non_null(strstr(text, "it makes code out of text (rule risk.then.HIGH)"));
    assert_non_null(strstr(text, "2:5 code out of text: eval [eval]"));
    assert_non_null(strstr(text, "  >    2  let b = eval(a)\n"));
    assert_non_null(strstr(text, "       1  let a = 1\n"));
    assert_non_null(strstr(text, "wall_clock 60000 ms, memory 128 MiB"));
    free(text);
    text = shown(&row, true, NULL);
    assert_non_null(strstr(text, "write it out"));
    free(text);
}

static void card_names_data_source_and_sink(void **state)
{
    (void)state;
    struct cs_approval_row row =
        row_of("call", "{\"kind\":\"call\",\"why\":\"private data would leave\",\"call\":{"
                       "\"server\":\"mail\",\"tool\":\"send\",\"description\":\"Sends\","
                       "\"labels\":[\"egress\"],\"standing\":\"changed\","
                       "\"arguments\":{\"to\":\"[EMAIL_1]\"}},\"flows\":[{\"from\":\"crm/find\","
                       "\"call\":1,\"labels\":[\"private\"],\"data\":[\"EMAIL x 3\"],"
                       "\"to\":\"mail/send\",\"labels_to\":[\"egress\"]}]}");
    char *text = shown(&row, false, NULL);
    assert_non_null(strstr(text, "a program asks to call a tool"));
    assert_non_null(strstr(text, "the call: mail/send"));
    assert_non_null(strstr(text, "\"to\": \"[EMAIL_1]\""));
    assert_non_null(
        strstr(text, "EMAIL x 3 from crm/find, call 1 (private) -> mail/send (egress)"));
    assert_non_null(strstr(text, "another one than it was, and nobody has looked"));
    free(text);
}

static void nothing_is_cut_without_saying_so(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf card = {0};
    cs_buf_puts(&card, "{\"program\":{\"code\":\"");
    for (int i = 1; i <= 100; i++)
        cs_buf_printf(&card, "line%d\\n", i);
    cs_buf_puts(&card, "\"},\"risk\":{\"findings\":[{\"id\":\"x\",\"level\":\"HIGH\",\"line\":70}");
    for (int i = 0; i < 20; i++)
        cs_buf_puts(&card, ",{\"id\":\"y\",\"level\":\"LOW\",\"reason\":\"r\"}");
    cs_buf_puts(&card, "]}}");
    struct cs_approval_row row = row_of("program", cs_buf_cstr(&card));
    bool whole = true;
    char *text = shown(&row, false, &whole);
    assert_false(whole);
    assert_non_null(strstr(text, "... 67 lines left out"));
    assert_non_null(strstr(text, "... 28 lines left out"));
    assert_non_null(strstr(text, "  >   70  line70\n"));
    assert_non_null(strstr(text, "... and 9 more"));
    free(text);
    text = shown(&row, true, &whole);
    assert_true(whole);
    assert_non_null(strstr(text, "       1  line1\n"));
    assert_null(strstr(text, "left out"));
    free(text);
}

static void no_card_is_so_odd_that_it_cannot_be_shown(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"risk\":7,\"program\":[],\"call\":\"x\",\"flows\":{\"a\":1}}",
        "{\"flows\":[1,null,[]],\"risk\":{\"findings\":[1,{\"line\":-1},{\"line\":1e300}],"
        "\"tools\":[[],{}]},\"limits\":{\"memory\":\"x\"},\"program\":{\"code\":5}}",
        "{\"call\":{\"arguments\":\"too long, cut\"},\"answers\":[7]}"};
    for (size_t i = 0; i < CS_COUNT(odd); i++) {
        struct cs_approval_row row = row_of(i % 2 ? "call" : "program", odd[i]);
        char *text = shown(&row, i % 2, NULL);
        if (i < 2)
            assert_non_null(strstr(text, "Do not approve it"));
        assert_false(i < 2 && cs_card_offers(&row, "session"));
        assert_true(cs_card_offers(&row, "once"));
        free(text);
    }
}

static void keys_mean_what_the_card_offers(void **state)
{
    (void)state;
    struct cs_approval_row row = row_of("program", PROGRAM);
    struct cs_choice choice = {0};
    struct cs_deciding *d = cs_deciding_new(&row, NULL);
    assert_true(cs_deciding_wants_key(d));
    assert_false(cs_deciding_key(d, 't', &choice)); /* not offered */
    assert_false(cs_deciding_key(d, 'x', &choice));
    assert_true(cs_deciding_key(d, 'a', &choice));
    assert_int_equal(choice.answer, CS_APPROVE_PROGRAM);
    cs_deciding_free(d);

    d = cs_deciding_new(&row, NULL);
    assert_true(cs_deciding_key(d, 'n', &choice)); /* at once */
    assert_int_equal(choice.answer, CS_APPROVE_DENY);
    cs_deciding_free(d);

    d = cs_deciding_new(&row, NULL);
    assert_false(cs_deciding_key(d, 'r', &choice));
    assert_false(cs_deciding_wants_key(d));
    assert_true(cs_deciding_line(d, CS_STR("not today\n"), &choice));
    assert_int_equal(choice.answer, CS_APPROVE_DENY);
    assert_true(cs_str_is(choice.reason, "not today"));
    cs_deciding_free(d);

    d = cs_deciding_new(&row, &(struct cs_choice){.answer = CS_APPROVE_SESSION});
    assert_false(cs_deciding_key(d, 'a', &choice)); /* the command line has said which */
    assert_true(cs_deciding_key(d, 'y', &choice));
    assert_int_equal(choice.answer, CS_APPROVE_SESSION);
    cs_deciding_free(d);
}

static void a_tool_is_allowed_until_a_date_with_such_arguments(void **state)
{
    (void)state;
    struct cs_approval_row row = row_of("call", "{\"answers\":[\"once\",\"tool\",\"deny\"]}");
    row.bound =
        CS_STR("{\"reasons\":[],\"arguments\":{\"to\":["
               "\"ac8d8342bbb2362d13f0a559a3621bb407011368895164b628a54f7fc33fc43c\",\"\"]}}");
    struct cs_choice choice = {0};
    struct cs_deciding *d = cs_deciding_new(&row, NULL);
    assert_false(cs_deciding_key(d, 't', &choice));
    assert_false(cs_deciding_line(d, CS_STR("yesterday\n"), &choice));
    assert_false(cs_deciding_line(d, CS_STR("2020-01-01\n"), &choice));
    assert_false(cs_deciding_line(d, CS_STR("7d\n"), &choice));
    assert_false(cs_deciding_line(d, CS_STR("[1]\n"), &choice));
    assert_false(cs_deciding_line(d, CS_STR("{\"to\": \"b\"}\n"), &choice)); /* not the call's */
    assert_true(cs_deciding_line(d, CS_STR("{\"to\": \"a\"}\n"), &choice));
    assert_int_equal(choice.answer, CS_APPROVE_TOOL);
    assert_true(cs_str_is(choice.arguments, "{\"to\": \"a\"}"));
    assert_true(choice.until > cs_time_ms() + 6 * 86400000LL);
    cs_deciding_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(card_says_who_what_for_why_and_marks_the_line),
        cmocka_unit_test(card_names_data_source_and_sink),
        cmocka_unit_test(nothing_is_cut_without_saying_so),
        cmocka_unit_test(no_card_is_so_odd_that_it_cannot_be_shown),
        cmocka_unit_test(keys_mean_what_the_card_offers),
        cmocka_unit_test(a_tool_is_allowed_until_a_date_with_such_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <time.h>

#include "privacy/page.h"
#include "privacy/privacy.h"
#include "test.h"

static struct cs_detector *detector;

static int setup(void **state)
{
    (void)state;
    return cs_detector_new(NULL, 0, &detector, NULL);
}

static int teardown(void **state)
{
    (void)state;
    cs_detector_unref(detector);
    return 0;
}

/* What is found, marked: "<EMAIL:text>". */
static void assert_found(enum cs_form form, const char *text, const char *expected)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_spans spans = {0};
    size_t at = 0, len = strlen(text);
    cs_scan(detector, CS_PRIVACY_MEDIUM, form, cs_str(text), &spans);
    for (size_t i = 0; i < spans.count; i++) {
        const struct cs_span *s = &spans.at[i];
        assert_true(s->start >= at && s->start < s->end && s->end <= len);
        cs_buf_put(&out, text + at, s->start - at);
        cs_buf_printf(&out, "<%s:", cs_pii_name(s->kind));
        cs_buf_put(&out, text + s->start, s->end - s->start);
        cs_buf_putc(&out, '>');
        at = s->end;
    }
    cs_buf_put(&out, text + at, len - at);
    cs_spans_done(&spans);
    assert_string_equal(cs_buf_cstr(&out), expected);
}

static struct cs_span only(enum cs_form form, const char *text)
{
    struct cs_spans spans = {0};
    cs_scan(detector, CS_PRIVACY_MEDIUM, form, cs_str(text), &spans);
    assert_int_equal(spans.count, 1);
    struct cs_span span = spans.at[0];
    cs_spans_done(&spans);
    return span;
}

static void values_and_keys_of_json_are_looked_at(void **state)
{
    (void)state;
    assert_found(
        CS_FORM_GUESS, "{\"to\":\"ada@example.org\",\"n\":1,\"by\":{\"bo@example.org\":[true]}}",
        "{\"to\":\"<EMAIL:ada@example.org>\",\"n\":1,\"by\":{\"<EMAIL:bo@example.org>\":[true]}}");
    assert_true(only(CS_FORM_JSON, "{\"bo@example.org\":1}").is_key);
    assert_false(only(CS_FORM_JSON, "{\"a\":\"bo@example.org\"}").is_key);
}

static void a_bare_number_under_a_key_is_one(void **state)
{
    (void)state;
    struct cs_span s = only(CS_FORM_JSON, "{\"ssn\": 536221234 , \"x\": 2}");
    assert_int_equal(s.kind, CS_PII_SSN);
    assert_true(s.is_number);
    assert_int_equal(s.start, 8);
    assert_int_equal(s.end, 17);
}

static void lists_of_values_count_and_objects_do_not(void **state)
{
    (void)state;
    assert_found(
        CS_FORM_JSON, "{\"passwords\":1,\"password\":[\"hunter2!x\",\"Tr0ub4dor&3\"]}",
        "{\"passwords\":1,\"password\":[\"<PASSWORD:hunter2!x>\",\"<PASSWORD:Tr0ub4dor&3>\"]}");
    assert_found(CS_FORM_JSON, "{\"password\":{\"rule\":\"hunter2!x\"},\"z\":\"hunter2!x\"}",
                 "{\"password\":{\"rule\":\"hunter2!x\"},\"z\":\"hunter2!x\"}");
}

static void escapes_are_undone_and_offsets_are_those_of_the_text(void **state)
{
    (void)state;
    assert_found(CS_FORM_JSON, "{\"a\":\"x\\nada@example.org\\ty\"}",
                 "{\"a\":\"x\\n<EMAIL:ada@example.org>\\ty\"}");
    assert_found(CS_FORM_JSON, "{\"a\":\"ada\\u0040example.org\"}",
                 "{\"a\":\"<EMAIL:ada\\u0040example.org>\"}");
    assert_int_equal(only(CS_FORM_JSON, "{\"a\":\"x\\nada@example.org\"}").escapes, 0);
    assert_int_equal(only(CS_FORM_JSON, "{\"a\":\"ada\\u0040example.org\"}").escapes, 1);
}

static void json_in_json_is_looked_at(void **state)
{
    (void)state;
    assert_found(CS_FORM_JSON,
                 "{\"text\":\"{\\\"ssn\\\":\\\"536-22-1234\\\",\\\"password\\\":\\\"hunter2!x\\\","
                 "\\\"a\\\":\\\"b\\\\nada@example.org\\\"}\"}",
                 "{\"text\":\"{\\\"ssn\\\":\\\"<SSN:536-22-1234>\\\",\\\"password\\\":\\\"<"
                 "PASSWORD:hunter2!x>\\\","
                 "\\\"a\\\":\\\"b\\\\n<EMAIL:ada@example.org>\\\"}\"}");
    assert_int_equal(
        only(CS_FORM_JSON, "{\"t\":\"{\\\"a\\\":\\\"ada\\\\u0040example.org\\\"}\"}").escapes, 2);
}

/* What was found dull is not looked at again, under the same key only. */
static void a_value_that_comes_again_is_judged_by_its_key(void **state)
{
    (void)state;
    assert_found(
        CS_FORM_JSON,
        "[{\"at\":\"1980-02-03\"},{\"at\":\"1980-02-03\"},{\"dob\":\"1980-02-03\"},"
        "{\"at\":\"1980-02-03\"},{\"t\":\"{\\\"at\\\":\\\"1980-02-03\\\"}\"},"
        "{\"t\":\"{\\\"dob\\\":\\\"1980-02-03\\\"}\"}]",
        "[{\"at\":\"1980-02-03\"},{\"at\":\"1980-02-03\"},{\"dob\":\"<DATE_OF_BIRTH:1980-02-03>\"},"
        "{\"at\":\"1980-02-03\"},{\"t\":\"{\\\"at\\\":\\\"1980-02-03\\\"}\"},"
        "{\"t\":\"{\\\"dob\\\":\\\"<DATE_OF_BIRTH:1980-02-03>\\\"}\"}]");
}

static void a_hit_does_not_leave_its_string(void **state)
{
    (void)state;
    assert_found(CS_FORM_JSON, "[\"ada\",\"@example.org\"]", "[\"ada\",\"@example.org\"]");
}

static void what_is_no_json_is_text(void **state)
{
    (void)state;
    assert_found(CS_FORM_GUESS, "[10:22:01] mail from ada@example.org \"quoted\"",
                 "[10:22:01] mail from <EMAIL:ada@example.org> \"quoted\"");
    assert_found(CS_FORM_JSON, "{\"a\":\"x\"} and then bo@example.org",
                 "{\"a\":\"x\"} and then <EMAIL:bo@example.org>");
    assert_found(CS_FORM_JSON, "{\"a\":\"ada@example.org", "{\"a\":\"<EMAIL:ada@example.org>");
    assert_found(CS_FORM_JSON, "{\"a\":1}\n{\"a\":\"ada@example.org\"}\n",
                 "{\"a\":1}\n{\"a\":\"<EMAIL:ada@example.org>\"}\n");
}

static void keys_and_values_in_text(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"DB_PASSWORD=hunter2!x\nPORT=80\n", "DB_PASSWORD=<PASSWORD:hunter2!x>\nPORT=80\n"},
        {"password: \"hunter2!x\"", "password: \"<PASSWORD:hunter2!x>\""},
        {"conf[\"password\"] = 'hunter2!x';", "conf[\"password\"] = '<PASSWORD:hunter2!x>';"},
        {":password => 'hunter2!x'", ":password => '<PASSWORD:hunter2!x>'"},
        {"<user><password>hunter2!x</password></user>",
         "<user><password><PASSWORD:hunter2!x></password></user>"},
        {"Date of Birth:   1980-02-03\n", "Date of Birth:   <DATE_OF_BIRTH:1980-02-03>\n"},
        {"**Date of birth:** 1980-02-03", "**Date of birth:** <DATE_OF_BIRTH:1980-02-03>"},
        {"DOB (YYYY-MM-DD): 1980-02-03", "DOB (YYYY-MM-DD): <DATE_OF_BIRTH:1980-02-03>"},
        {"<b>Date of birth:</b> 1980-02-03", "<b>Date of birth:</b> <DATE_OF_BIRTH:1980-02-03>"},
        {"log {\"password\": \"hunter2!x\"} end",
         "log {\"password\": \"<PASSWORD:hunter2!x>\"} end"},
        {"log {\\\"password\\\": \\\"hunter2!x\\\"} end",
         "log {\\\"password\\\": \\\"<PASSWORD:hunter2!x>\\\"} end"},
    };
    for (size_t i = 0; i < CS_COUNT(texts); i++)
        assert_found(CS_FORM_TEXT, texts[i][0], texts[i][1]);
}

static void columns_have_the_keys_of_their_head(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"id,dob,x\n1,1980-02-03,2020-01-01\n2,1981-02-03,2020-01-01\n",
         "id,dob,x\n1,<DATE_OF_BIRTH:1980-02-03>,2020-01-01\n2,<DATE_OF_BIRTH:1981-02-03>,2020-01-"
         "01\n"},
        {"| id | dob |\n|---|---|\n| 1 | 1980-02-03 |\n",
         "| id | dob |\n|---|---|\n| 1 | <DATE_OF_BIRTH:1980-02-03> |\n"},
        {"id\tdob\n1\t1980-02-03\n", "id\tdob\n1\t<DATE_OF_BIRTH:1980-02-03>\n"},
        {" id | dob\n----+-----\n 1 | 1980-02-03\n",
         " id | dob\n----+-----\n 1 | <DATE_OF_BIRTH:1980-02-03>\n"},
        {"\"id\",\"dob\"\r\n\"a, b\",\"1980-02-03\"\r\n",
         "\"id\",\"dob\"\r\n\"a, b\",\"<DATE_OF_BIRTH:1980-02-03>\"\r\n"},
        {"<tr><th>Id</th><th>DOB</th></tr>\n<tr><td>1</td><td>1980-02-03</td></tr>",
         "<tr><th>Id</th><th>DOB</th></tr>\n<tr><td>1</td><td><DATE_OF_BIRTH:1980-02-03></td></"
         "tr>"},
        {"Date of birth\n1980-02-03\n", "Date of birth\n<DATE_OF_BIRTH:1980-02-03>\n"},
        {"INSERT INTO t (id, dob, at) VALUES (1, '1980-02-03', '2020-01-01'), (2, '1981-02-03', "
         "NULL);",
         "INSERT INTO t (id, dob, at) VALUES (1, '<DATE_OF_BIRTH:1980-02-03>', '2020-01-01'), "
         "(2, '<DATE_OF_BIRTH:1981-02-03>', NULL);"},
    };
    for (size_t i = 0; i < CS_COUNT(texts); i++)
        assert_found(CS_FORM_TEXT, texts[i][0], texts[i][1]);
}

static void columns_of_json_have_the_keys_of_their_head(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"[[\"id\",\"dob\"],[1,\"1980-02-03\"],[\"1981-02-03\",\"1982-02-03\"]]",
         "[[\"id\",\"dob\"],[1,\"<DATE_OF_BIRTH:1980-02-03>\"],[\"1981-02-03\",\"<DATE_OF_BIRTH:"
         "1982-02-03>\"]]"},
        {"{\"columns\":[\"id\",\"dob\"],\"rows\":[[1,\"1980-02-03\"]]}",
         "{\"columns\":[\"id\",\"dob\"],\"rows\":[[1,\"<DATE_OF_BIRTH:1980-02-03>\"]]}"},
        {"{\"fields\":[{\"name\":\"id\"},{\"name\":\"dob\"}],\"rows\":[[1,\"1980-02-03\"]]}",
         "{\"fields\":[{\"name\":\"id\"},{\"name\":\"dob\"}],\"rows\":[[1,\"<DATE_OF_BIRTH:1980-02-"
         "03>\"]]}"},
        {"[{\"label\":\"dob\",\"value\":\"1980-02-03\"},{\"label\":\"x\",\"value\":\"1980-02-03\"}"
         "]",
         "[{\"label\":\"dob\",\"value\":\"<DATE_OF_BIRTH:1980-02-03>\"},{\"label\":\"x\",\"value\":"
         "\"1980-02-03\"}]"},
        {"[[\"a\",\"b\"],[\"1980-02-03\",\"dob\"]]", "[[\"a\",\"b\"],[\"1980-02-03\",\"dob\"]]"},
    };
    for (size_t i = 0; i < CS_COUNT(texts); i++)
        assert_found(CS_FORM_JSON, texts[i][0], texts[i][1]);
}

static void look_alikes_are_folded_for_the_proof(void **state)
{
    (void)state;
    assert_found(CS_FORM_TEXT,
                 "ssn 536\xE2\x80\x93"
                 "22\xE2\x80\x93"
                 "1234.",
                 "ssn <SSN:536\xE2\x80\x93"
                 "22\xE2\x80\x93"
                 "1234>.");
    assert_found(CS_FORM_TEXT, "ada\xE2\x80\x8B@example.org",
                 "<EMAIL:ada\xE2\x80\x8B@example.org>");
}

static void tokens_are_left_alone(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "password: [PASSWORD_1]", "{\"password\":\"[PASSWORD_1]\",\"email\":\"[EMAIL_2]\"}",
        "secret=SECRET_TOKEN_001", "{\"token\":\"SECRET_3f9a0c71e2b4d855\"}",
        "Name: [PERSON_1], born [DATE_OF_BIRTH_1]"};
    for (size_t i = 0; i < CS_COUNT(texts); i++)
        assert_found(CS_FORM_GUESS, texts[i], texts[i]);
}

static void what_stands_beside_a_token_is_found(void **state)
{
    (void)state;
    assert_found(CS_FORM_JSON, "{\"password\":\"hunter2!x[EMAIL_1]zq9!kk\"}",
                 "{\"password\":\"<PASSWORD:hunter2!x>[EMAIL_1]<PASSWORD:zq9!kk>\"}");
}

static void levels_say_what_is_looked_for(void **state)
{
    (void)state;
    struct cs_spans spans = {0};
    struct cs_str text = CS_STR("ada@example.org 536-22-1234");
    cs_scan(detector, CS_PRIVACY_OFF, CS_FORM_TEXT, text, &spans);
    assert_int_equal(spans.count, 0);
    cs_scan(detector, CS_PRIVACY_LOW, CS_FORM_TEXT, text, &spans);
    assert_int_equal(spans.count, 1);
    assert_int_equal(spans.at[0].kind, CS_PII_SSN);
    cs_spans_done(&spans);
}

/* Bits against bytes. */
static void blocks_say_what_the_bytes_are(void **state)
{
    (void)state;
    char text[200];
    struct cs_block blocks[8];
    uint32_t seed = 1;
    for (unsigned round = 0; round < 200; round++) {
        size_t len = round % sizeof text;
        for (size_t i = 0; i < len; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = (char)(seed >> 24);
            if (seed >> 20 & 1)
                text[i] = (char)('a' + (seed >> 24) % 20);
        }
        cs_blocks_read(text, len, blocks);
        size_t run = 0;
        for (size_t i = 0; i < len; i++) {
            unsigned c = cs_block_class[(unsigned char)text[i]];
            uint64_t bit = (uint64_t)1 << i % 64;
            const struct cs_block *b = &blocks[i / 64];
            assert_int_equal((b->word & bit) != 0, (c & CS_B_WORD) != 0);
            assert_int_equal((b->opaque & bit) != 0, (c & CS_B_OPAQUE) != 0);
            assert_int_equal((b->quote & bit) != 0, (c & CS_B_QUOTE) != 0);
            assert_int_equal((b->odd & bit) != 0, (c & CS_B_ODD) != 0);
            for (run = i; run < len && cs_block_class[(unsigned char)text[run]] & CS_B_OPAQUE;
                 run++)
                ;
            bool begins = i == 0 || !(cs_block_class[(unsigned char)text[i - 1]] & CS_B_OPAQUE);
            assert_int_equal((b->runs & bit) != 0, begins && run - i >= CS_RUN);
        }
    }
}

static double seconds(struct cs_str text, enum cs_form form)
{
    double best = 1e9;
    for (unsigned i = 0; i < 2; i++) {
        struct timespec a, b;
        struct cs_spans spans = {0};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        cs_scan(detector, CS_PRIVACY_HIGH, form, text, &spans);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        cs_spans_done(&spans);
        double t = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
        best = t < best ? t : best;
    }
    return best;
}

/* Eight times the text takes eight times as long; with quadratic work it would be 64 times. */
static void time_is_linear_in_the_text(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "@",        "7",        "[",       "{\"a\":",     "\\",          "+1",        "eyJ",
        "a:a:",     "word",     "1 2 3",   "1.2.3",       "-----BEGIN ", "password=", "a,b\n",
        "(1,'a'),", "<name>",   "<td <tr", ")values",     "Ada Bo ",     "://a:",     "a@b.",
        "|a",       "\xC2\xA0", "\\\"",    "12 Main St, "};
    CS_AUTO_BUF struct cs_buf b = {0};
    for (size_t i = 0; i < CS_COUNT(pieces); i++) {
        for (enum cs_form form = CS_FORM_TEXT; form <= CS_FORM_JSON; form++) {
            cs_buf_clear(&b);
            while (b.len < 8 * 8192)
                cs_buf_puts(&b, pieces[i]);
            double small = seconds(cs_strn(b.at, 8192), form),
                   large = seconds(cs_buf_str(&b), form);
            if (large > 24 * small + 0.02)
                fail_msg("'%s': %.6f s become %.6f s", pieces[i], small, large);
        }
    }
}

static void nothing_is_read_out_of_bounds(void **state)
{
    (void)state;
    static const char text[] =
        "{\"password\": \"a\\u00e9\\\"b\\\\\", \"x\":[\"ada@example.org\",-1e5,true],"
        "\"t\":\"{\\\"ssn\\\":5362\\u0031\"} 1.2.3.4 ::1 eyJ -----BEGIN x";
    for (size_t n = 0; n <= sizeof text - 1; n++)
        for (enum cs_form form = CS_FORM_GUESS; form <= CS_FORM_JSON; form++) {
            char *copy = malloc(n ? n : 1);
            struct cs_spans spans = {0};
            memcpy(copy, text, n);
            cs_scan(detector, CS_PRIVACY_HIGH, form, cs_strn(copy, n), &spans);
            for (size_t i = 0; i < spans.count; i++)
                assert_true(spans.at[i].end <= n &&
                            (i == 0 || spans.at[i - 1].end <= spans.at[i].start));
            cs_spans_done(&spans);
            free(copy);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(values_and_keys_of_json_are_looked_at),
        CS_TEST(a_bare_number_under_a_key_is_one),
        CS_TEST(lists_of_values_count_and_objects_do_not),
        CS_TEST(escapes_are_undone_and_offsets_are_those_of_the_text),
        CS_TEST(json_in_json_is_looked_at),
        CS_TEST(a_value_that_comes_again_is_judged_by_its_key),
        CS_TEST(a_hit_does_not_leave_its_string),
        CS_TEST(what_is_no_json_is_text),
        CS_TEST(keys_and_values_in_text),
        CS_TEST(columns_have_the_keys_of_their_head),
        CS_TEST(columns_of_json_have_the_keys_of_their_head),
        CS_TEST(look_alikes_are_folded_for_the_proof),
        CS_TEST(tokens_are_left_alone),
        CS_TEST(what_stands_beside_a_token_is_found),
        CS_TEST(levels_say_what_is_looked_for),
        CS_TEST(blocks_say_what_the_bytes_are),
        CS_TEST(time_is_linear_in_the_text),
        CS_TEST(nothing_is_read_out_of_bounds),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

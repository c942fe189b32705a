/*
 * Values to tokens. What the scanner would find is marked in the text, <<EMAIL|ann@example.org>>,
 * so that nothing here depends on its rules.
 */
#include "test.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "privacy/vault.h"

struct fixture {
    struct cs_vault *vault;
    struct cs_detector *detector;
    struct cs_mask how;
    struct cs_buf text, out, back;
    struct cs_spans spans;
    struct cs_masked masked;
    struct cs_err err;
};

static void begin(struct fixture *f, enum cs_token_style style)
{
    cs_vault_free(f->vault);
    f->vault = f->how.vault = cs_vault_new(style);
}

static int setup(void **state)
{
    struct fixture *f = CS_NEW(struct fixture);
    begin(f, CS_TOKEN_BRACKET);
    assert_int_equal(cs_detector_new(NULL, 0, &f->detector, &f->err), 0);
    f->how = (struct cs_mask){.detector = f->detector,
                              .vault = f->vault,
                              .level = CS_PRIVACY_MEDIUM,
                              .literals = true,
                              .server = CS_STR("crm")};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    cs_vault_free(f->vault);
    cs_detector_unref(f->detector);
    cs_buf_done(&f->text);
    cs_buf_done(&f->out);
    cs_buf_done(&f->back);
    cs_spans_done(&f->spans);
    free(f);
    return 0;
}

/* <<KIND|value>>; <<KIND#value>> is a number without quotes, <<KIND:value>> (part of) a key. */
static void read_marks(struct fixture *f, const char *marked)
{
    cs_buf_clear(&f->text);
    f->spans.count = 0;
    for (const char *p = marked; *p;) {
        if (strncmp(p, "<<", 2) != 0) {
            cs_buf_putc(&f->text, *p++);
            continue;
        }
        const char *name = p + 2, *bar = name + strcspn(name, "|#:"), *end = strstr(bar, ">>");
        enum cs_pii kind;
        assert_true(cs_pii_parse(cs_strn(name, (size_t)(bar - name)), &kind));
        size_t start = f->text.len;
        cs_buf_put(&f->text, bar + 1, (size_t)(end - bar - 1));
        if (f->spans.count == f->spans.cap) {
            f->spans.cap = f->spans.cap * 2 + 4;
            f->spans.at = cs_realloc(f->spans.at, f->spans.cap, sizeof *f->spans.at);
        }
        f->spans.at[f->spans.count++] =
            (struct cs_span){.start = start,
                             .end = f->text.len,
                             .kind = (uint8_t)kind,
                             .is_number = *bar == '#',
                             .is_key = *bar == ':',
                             .escapes = memchr(bar, '\\', (size_t)(end - bar)) != NULL,
                             .core_start = start,
                             .core_end = f->text.len};
        p = end + 2;
    }
}

static struct cs_str mask(struct fixture *f, const char *marked)
{
    read_marks(f, marked);
    cs_buf_clear(&f->out);
    f->masked = (struct cs_masked){0};
    int got = cs_mask_spans(&f->how, cs_buf_str(&f->text), &f->spans, &f->out, &f->masked, &f->err);
    if (got < 0)
        fail_msg("%s: %s", marked, f->err.msg);
    struct cs_str result = got ? cs_buf_str(&f->out) : cs_buf_str(&f->text);
    CS_AUTO_JSON struct cs_json before = {0};
    CS_AUTO_JSON struct cs_json after = {0};
    if (cs_json_parse(cs_buf_str(&f->text), NULL, &before, NULL) == 0 &&
        cs_json_parse(result, NULL, &after, &f->err) < 0)
        fail_msg("%.*s: %s", CS_STR_ARG(result), f->err.msg);
    return result;
}

static struct cs_str unmask(struct fixture *f, struct cs_str json, struct cs_revealed *revealed)
{
    struct cs_unmask how = {.vault = f->vault, .revealed = revealed};
    cs_buf_clear(&f->back);
    int got = cs_unmask(&how, json, &f->back, NULL, &f->err);
    if (got < 0)
        fail_msg("%.*s: %s", CS_STR_ARG(json), f->err.msg);
    return got ? cs_buf_str(&f->back) : json;
}

/* And back again. */
static void both_ways(struct fixture *f, const char *marked, const char *wanted)
{
    struct cs_str got = mask(f, marked);
    assert_str_is(got, wanted);
    struct cs_str back = unmask(f, got, NULL);
    if (!cs_str_eq(back, cs_buf_str(&f->text)))
        fail_msg("%.*s is not %.*s", CS_STR_ARG(back), CS_STR_ARG(cs_buf_str(&f->text)));
}

/* --- what is found --- */

static void equal_values_have_equal_tokens(void **state)
{
    struct fixture *f = *state;
    assert_str_is(mask(f, "<<EMAIL|Ann@Example.org>> <<EMAIL|bob@example.org>> "
                          "<<EMAIL|ann@example.org>> <<PERSON|Ann  Ray>> <<PERSON|ANN RAY>> "
                          "<<PHONE|(415) 555-0100>> <<PHONE|415.555.0100>>"),
                  "[EMAIL_1] [EMAIL_2] [EMAIL_1] [PERSON_1] [PERSON_1] [PHONE_1] [PHONE_1]");
    assert_str_is(mask(f, "<<PASSWORD|Tr0ub4dor>> <<PASSWORD|tr0ub4dor>> "
                          "<<IBAN|de89 3704 0044>> <<IBAN|DE8937040044>> <<PASSPORT|4155550100>>"),
                  "[PASSWORD_1] [PASSWORD_2] [IBAN_1] [IBAN_1] [PASSPORT_1]");
    /* The first form is what comes back. */
    assert_str_is(unmask(f, CS_STR("\"[EMAIL_1] [PHONE_1]\""), NULL),
                  "\"Ann@Example.org (415) 555-0100\"");
    assert_int_equal(f->masked.total, 5);
    assert_int_equal(f->masked.fresh, 4);
    assert_int_equal(f->masked.found[CS_PII_PASSWORD], 2);
    assert_int_equal(f->masked.bytes, f->text.len);
}

static void json_stays_json(void **state)
{
    struct fixture *f = *state;
    both_ways(f, "{\"a\":\"<<EMAIL|ann@example.org>>\",\"n\": <<PHONE#4155550100>> }",
              "{\"a\":\"[EMAIL_1]\",\"n\": \"[PHONE_1]\" }");
    both_ways(f, "[<<PHONE#4155550100>>,<<SSN#219099999>>]", "[\"[PHONE_1]\",\"[SSN_1]\"]");
    assert_str_is(mask(f, "{\"k\":\"<<PRIVATE_KEY|-----BEGIN\\nabc\\u00e9\\\"-----END>>\"}"),
                  "{\"k\":\"[PRIVATE_KEY_1]\"}");
    assert_str_is(unmask(f, CS_STR("\"[PRIVATE_KEY_1]\""), NULL),
                  "\"-----BEGIN\\nabc\xC3\xA9\\\"-----END\"");
}

static void json_in_json_stays_json_too(void **state)
{
    struct fixture *f = *state;
    both_ways(
        f, "{\"text\":\"{\\\"n\\\": <<PHONE#4155550100>>, \\\"m\\\":\\\"<<EMAIL|a@b.org>>\\\"}\"}",
        "{\"text\":\"{\\\"n\\\": \\\"[PHONE_1]\\\", \\\"m\\\":\\\"[EMAIL_1]\\\"}\"}");
    both_ways(f, "{\"text\":\"[<<PHONE#4155550100>>]\",\"n\":<<PHONE#4155550100>>}",
              "{\"text\":\"[\\\"[PHONE_1]\\\"]\",\"n\":\"[PHONE_1]\"}");
    /* What lands between inner quotes is escaped for both. */
    mask(f, "{\"p\":\"<<PASSWORD|a\\\"b\\\\c>>\"}");
    assert_str_is(unmask(f, CS_STR("{\"t\":\"{\\\"p\\\":\\\"[PASSWORD_1]\\\"}\"}"), NULL),
                  "{\"t\":\"{\\\"p\\\":\\\"a\\\\\\\"b\\\\\\\\c\\\"}\"}");
    assert_str_is(unmask(f, CS_STR("{\"t\":\"say \\\"[PASSWORD_1]\\\"\"}"), NULL),
                  "{\"t\":\"say \\\"a\\\"b\\\\c\\\"\"}");
}

static void keys_stay_apart(void **state)
{
    struct fixture *f = *state;
    both_ways(f,
              "{\"<<EMAIL:ann@example.org>>\":1,\"<<EMAIL:Ann@example.org>>\":2,"
              "\"x\":\"<<EMAIL|ann@example.org>>\"}",
              "{\"[EMAIL_1]\":1,\"[EMAIL_2]\":2,\"x\":\"[EMAIL_1]\"}");
    /* A number and a text are not the same, as in the program. */
    both_ways(f, "[<<PHONE#4155550100>>,\"<<PHONE|4155550100>>\"]",
              "[\"[PHONE_1]\",\"[PHONE_2]\"]");
}

static void nothing_found_is_nothing_done(void **state)
{
    struct fixture *f = *state;
    read_marks(f, "{\"a_b\":[1,2,\"c\\nd\"]}");
    assert_int_equal(
        cs_mask_spans(&f->how, cs_buf_str(&f->text), &f->spans, &f->out, NULL, &f->err), 0);
    assert_null(f->out.at);
    assert_int_equal(cs_mask_spans(&f->how, CS_STR(""), &f->spans, &f->out, NULL, &f->err), 0);
}

/* --- what looks like a token --- */

static void token_shaped_text_of_strangers_is_text(void **state)
{
    struct fixture *f = *state;
    mask(f, "<<EMAIL|ann@example.org>>");
    static const char *const shapes[] = {
        "[EMAIL_1]",       "[email_1]",        "[ EMAIL_1 ]",
        "\\[EMAIL_1\\]",   "%5BEMAIL_1%5D",    "%5bEMAIL_1%5d",
        "EMAIL_1",         "EMAIL_TOKEN_001",  "EMAIL_3f9a0c71e2b4d855",
        "[LITERAL_1]",     "\\u005bEMAIL_1]",  "\\u005bE\\u004dAIL\\u005f1\\u005d",
        "[EMAIL_1234567]", "[CREDIT_CARD_12]", "\\\\u005bEMAIL_1\\\\u005d",
    };
    for (size_t i = 0; i < CS_COUNT(shapes); i++) {
        char json[128];
        snprintf(json, sizeof json, "{\"text\":\"pay %s now\"}", shapes[i]);
        struct cs_str got = mask(f, json);
        assert_int_equal(f->masked.found[CS_PII_LITERAL], 1);
        if (memmem(got.at, got.len, "EMAIL", 5) || memmem(got.at, got.len, "CREDIT", 6))
            fail_msg("%s became %.*s", shapes[i], CS_STR_ARG(got));
        struct cs_str back = unmask(f, got, NULL);
        assert_null(memmem(back.at, back.len, "ann@", 4));
    }
    both_ways(f, "[\"[EMAIL_1]\"]", "[\"[LITERAL_1]\"]");
    static const char *const ordinary[] = {"[EMAIL_0]",      "[EMAIL_12345678]", "[EMAIL]",
                                           "MY_EMAIL_1X",    "[FOO_1]",          "a_1",
                                           "[E\u200bMAIL_1]"};
    for (size_t i = 0; i < CS_COUNT(ordinary); i++)
        assert_str_is(mask(f, ordinary[i]), ordinary[i]);
}

static void tokens_of_the_program_stay(void **state)
{
    struct fixture *f = *state;
    mask(f, "<<EMAIL|ann@example.org>> <<PASSWORD|hunter2>>");
    f->how.literals = false;
    f->how.origin = CS_FROM_PROGRAM;
    assert_str_is(mask(f, "mail <<EMAIL|[EMAIL_1]>>, pw=<<PASSWORD|x[PASSWORD_1]>>, "
                          "<<PERSON|Mr [EMAIL_1]>> [EMAIL_9]"),
                  "mail [EMAIL_1], pw=x[PASSWORD_1], Mr [EMAIL_1] [EMAIL_9]");
    assert_int_equal(f->masked.total, 0);
}

static void every_style_goes_both_ways(void **state)
{
    struct fixture *f = *state;
    begin(f, CS_TOKEN_UNDERSCORE);
    both_ways(f, "{\"a\":\"<<EMAIL|ann@example.org>>\",\"b\":\"x<<EMAIL|bob@example.org>>y\"}",
              "{\"a\":\"EMAIL_TOKEN_001\",\"b\":\"xEMAIL_TOKEN_002y\"}");
    begin(f, CS_TOKEN_HASH);
    struct cs_str got = mask(f, "{\"a\":\"<<EMAIL|ann@example.org>> <<EMAIL|ANN@example.org>>\"}");
    assert_int_equal(got.len, 6 + 2 * 22 + 1 + 2);
    assert_memory_equal(got.at + 6, "EMAIL_", 6);
    assert_memory_equal(got.at + 6, got.at + 6 + 23, 22);
    char token[23];
    snprintf(token, sizeof token, "%.22s", got.at + 6);
    assert_str_is(unmask(f, got, NULL), "{\"a\":\"ann@example.org ann@example.org\"}");
    /* Another vault says another thing. */
    begin(f, CS_TOKEN_HASH);
    got = mask(f, "{\"a\":\"<<EMAIL|ann@example.org>>\"}");
    assert_memory_not_equal(got.at + 6, token, 22);
}

/* --- what is known --- */

static void known_values_are_found_without_a_rule(void **state)
{
    struct fixture *f = *state;
    mask(f, "<<API_KEY|zq81-Kd02-77aa>> <<PERSON|Ann Ray>> <<PERSON|Morgan>> <<PASSWORD|orange>> "
            "<<PHONE|+1 415 555 0100>> <<PASSPORT#C01X00T47>> <<DATE_OF_BIRTH|1984-03-12>> "
            "<<PERSON|\xC3\x89mile Zola>>");
    assert_str_is(mask(f, "x zq81-Kd02-77aa, ZQ81-KD02-77AA; ann ray (Ann Raymond) Morgan orange "
                          "+1 415 555 0100 1984-03-12 zq81-Kd02-77aab \xC3\x89mile Zola's"),
                  "x [API_KEY_1], [API_KEY_1]; [PERSON_1] (Ann Raymond) Morgan orange "
                  "[PHONE_1] 1984-03-12 zq81-Kd02-77aab [PERSON_3]'s");
    assert_str_is(mask(f, "{\"t\":\"\\u007aq81-Kd02-77aa\",\"n\":\"say\\n\\u00c9mile Zola\"}"),
                  "{\"t\":\"[API_KEY_1]\",\"n\":\"say\\n[PERSON_3]\"}");
    /* Not in what the program says: it could try values until one is known. */
    f->how.origin = CS_FROM_PROGRAM;
    f->how.literals = false;
    assert_str_is(mask(f, "is it zq81-Kd02-77aa?"), "is it zq81-Kd02-77aa?");
}

static void known_numbers_are_quoted(void **state)
{
    struct fixture *f = *state;
    both_ways(f, "{\"a\":<<LICENCE#88123456>>}", "{\"a\":\"[LICENCE_1]\"}");
    both_ways(f, "{\"b\":[88123456, 1],\"c\":\"88123456\",\"d\":\"no 88123456, yes\",\"e\\n\":1}",
              "{\"b\":[\"[LICENCE_1]\", 1],\"c\":\"[LICENCE_2]\",\"d\":\"no [LICENCE_2], yes\","
              "\"e\\n\":1}");
    both_ways(f, "{\"t\":\"{\\\"a\\\":88123456}\"}", "{\"t\":\"{\\\"a\\\":\\\"[LICENCE_1]\\\"}\"}");
    both_ways(f, "{\"88123456\":1}", "{\"[LICENCE_2]\":1}");
}

static void an_echo_comes_back_as_the_token(void **state)
{
    struct fixture *f = *state;
    mask(f, "<<PERSON|Bo>> <<PERSON|Lee>> <<PASSWORD|orange>> <<DATE_OF_BIRTH|1984-03-12>>");
    struct cs_revealed *revealed = cs_revealed_new();
    unmask(f, CS_STR("[\"[PERSON_1]\",\"[PERSON_2]\",\"[PASSWORD_1]\",\"[DATE_OF_BIRTH_1]\"]"),
           revealed);
    f->how.revealed = revealed;
    assert_str_is(mask(f, "{\"v\":\"Lee lee Leeds, ORANGE; 1984-03-12 Bo\"}"),
                  "{\"v\":\"[PERSON_2] [PERSON_2] Leeds, [PASSWORD_1]; [DATE_OF_BIRTH_1] Bo\"}");
    f->how.revealed = NULL;
    assert_str_is(mask(f, "{\"v\":\"Lee orange\"}"), "{\"v\":\"Lee orange\"}");
    cs_revealed_free(revealed);
}

static void a_tool_without_protection_shows_its_own(void **state)
{
    struct fixture *f = *state;
    mask(f, "<<API_KEY|zq81-Kd02-77aa>> <<EMAIL|ann@example.org>>");
    struct cs_revealed *revealed = cs_revealed_new();
    unmask(f, CS_STR("[\"[API_KEY_1]\"]"), revealed);
    f->how.revealed = revealed;
    f->how.level = CS_PRIVACY_OFF;
    assert_str_is(mask(f, "zq81-Kd02-77aa ann@example.org [EMAIL_1]"),
                  "[API_KEY_1] ann@example.org [LITERAL_1]");
    cs_revealed_free(revealed);
}

static void a_number_alone_is_json_too(void **state)
{
    struct fixture *f = *state;
    f->how.form = CS_FORM_JSON;
    assert_str_is(mask(f, "<<PHONE#4155550100>>"), "\"[PHONE_1]\"");
    assert_str_is(unmask(f, CS_STR("\"[PHONE_1]\""), NULL), "4155550100");
    assert_str_is(mask(f, " 4155550100 "), " \"[PHONE_1]\" ");
}

static void an_echo_is_found_within_words(void **state)
{
    struct fixture *f = *state;
    mask(f, "<<EMAIL|ann@example.org>> <<PERSON|Bob Lee>> <<PERSON|Ada>>");
    struct cs_revealed *revealed = cs_revealed_new();
    unmask(f, CS_STR("[\"[EMAIL_1]\",\"[PERSON_1]\",\"[PERSON_2]\"]"), revealed);
    f->how.revealed = revealed;
    assert_str_is(mask(f, "ann@<<EMAIL|example.organn@example.org>>"), "[EMAIL_1][EMAIL_1]");
    assert_str_is(mask(f, "xBob Leey, bob leeBob Lee"), "x[PERSON_1]y, [PERSON_1][PERSON_1]");
    /* What is short would be found everywhere. */
    assert_str_is(mask(f, "Adapter of Ada"), "Adapter of [PERSON_2]");
    f->how.revealed = NULL;
    cs_revealed_free(revealed);
}

/* --- who said it --- */

static void a_guess_beside_the_token_is_not_confirmed(void **state)
{
    struct fixture *f = *state;
    mask(f, "<<EMAIL|ann@example.org>>");
    struct cs_revealed *revealed = cs_revealed_new();
    static const char sent[] = "[\"ann@example.org\",\"[EMAIL_1]\",\"to ANN@example.org\"]";
    unmask(f, CS_STR("[\"[EMAIL_1]\"]"), revealed);
    struct cs_own *own = cs_own_of(f->detector, cs_str(sent));
    f->how.revealed = revealed;
    f->how.own = own;
    /* As if it were another value. */
    assert_str_is(mask(f, "[\"<<EMAIL|ann@example.org>>\",\"<<EMAIL|ann@example.org>>\",\"to "
                          "<<EMAIL|ann@example.org>>\"]"),
                  "[\"[EMAIL_2]\",\"[EMAIL_1]\",\"to [EMAIL_2]\"]");
    cs_own_free(own);
    cs_revealed_free(revealed);
    f->how.own = NULL;
    f->how.revealed = NULL;
}

static void a_guess_is_not_confirmed(void **state)
{
    struct fixture *f = *state;
    mask(f, "<<EMAIL|ann@example.org>> <<PHONE|415-555-0100>> <<API_KEY|zq81-Kd02-77aa>>");
    /* Printed by the program itself. */
    f->how.origin = CS_FROM_PROGRAM;
    f->how.literals = false;
    assert_str_is(mask(f, "<<EMAIL|ann@example.org>>"), "[EMAIL_2]");
    assert_str_is(mask(f, "<<EMAIL|ann@example.org>>"), "[EMAIL_2]");
    assert_str_is(mask(f, "<<EMAIL|eve@example.org>>"), "[EMAIL_3]");
    /* Through a tool that echoes. */
    struct cs_own *own = cs_own_of(
        f->detector, CS_STR("{\"q\":\"to: Ann@Example.org\",\"t\":\"1 (415) 555.0100\",\"k\":"
                            "\"{\\\"x\\\":\\\"zq81-Kd02\\u002d77aa\\\"}\",\"z\":\"[EMAIL_1]\"}"));
    f->how.origin = CS_FROM_WORLD;
    f->how.literals = true;
    f->how.own = own;
    assert_str_is(mask(f, "<<EMAIL|ann@example.org>> <<PHONE|4155550100>> zq81-Kd02-77aa "
                          "<<API_KEY|zq81-Kd02-77aa>> <<EMAIL|joe@example.org>>"),
                  "[EMAIL_2] [PHONE_2] zq81-Kd02-77aa [API_KEY_2] [EMAIL_4]");
    cs_own_free(own);
    f->how.own = NULL;
    assert_str_is(mask(f, "<<EMAIL|ann@example.org>> <<EMAIL|eve@example.org>>"),
                  "[EMAIL_1] [EMAIL_5]");
}

static void spans_that_meet_hide_everything(void **state)
{
    struct fixture *f = *state;
    mask(f, "<<EMAIL|ann@example.org>>");
    /* The scanner's is the larger one. */
    assert_str_is(mask(f, "<<PASSWORD|x ann@example.org y>>"), "[PASSWORD_1]");
    assert_str_is(mask(f, "<<PASSWORD|a[EMAIL_1]b>>"), "[PASSWORD_2]");
    /* They overlap: every byte of both is gone. */
    assert_str_is(mask(f, "<<PASSWORD|zz ann>>@example.org"), "[PASSWORD_3][EMAIL_2]");
    assert_str_is(mask(f, "<<PASSWORD|z [EMAIL>>_1]"), "[PASSWORD_4][LITERAL_1]");
}

/* --- bounds, records --- */

static void a_full_vault_lets_nothing_through(void **state)
{
    struct fixture *f = *state;
    char *large = cs_calloc(1, 20 << 20);
    struct cs_span span = {.kind = CS_PII_SECRET, .end = (20 << 20) - 1};
    struct cs_spans spans = {.at = &span, .count = 1, .cap = 1};
    int got = 1;
    for (int i = 0; i < 4 && got == 1; i++) {
        memset(large, 'a' + i, (20 << 20) - 1);
        cs_buf_clear(&f->out);
        got = cs_mask_spans(&f->how, cs_str(large), &spans, &f->out, NULL, &f->err);
    }
    assert_int_equal(got, -1);
    assert_int_equal(f->err.code, CS_LIMIT);
    assert_int_equal(f->out.len, 0);
    free(large);
}

static void a_replay_gives_the_same_tokens(void **state)
{
    struct fixture *f = *state;
    struct cs_buf record = {0};
    mask(f, "<<EMAIL|ann@example.org>>");
    f->how.origin = CS_FROM_PROGRAM;
    f->how.literals = false;
    mask(f, "<<EMAIL|before@example.org>>");
    cs_vault_record(f->vault, &record);
    assert_str_is(mask(f, "<<EMAIL|p@example.org>> <<EMAIL|before@example.org>> <<SSN|219-09-9999>>"
                          " <<EMAIL|p@example.org>>"),
                  "[EMAIL_3] [EMAIL_2] [SSN_1] [EMAIL_3]");
    cs_vault_record(f->vault, NULL);
    assert_str_is(cs_buf_str(&record), "[EMAIL_3]\n[EMAIL_2]\n[SSN_1]\n");
    begin(f, CS_TOKEN_BRACKET);
    cs_vault_play(f->vault, cs_buf_str(&record));
    assert_str_is(mask(f, "<<EMAIL|p@example.org>> <<EMAIL|before@example.org>> <<SSN|219-09-9999>>"
                          " <<EMAIL|p@example.org>> <<EMAIL|more@example.org>>"),
                  "[EMAIL_3] [EMAIL_2] [SSN_1] [EMAIL_3] [EMAIL_4]");
    /* Another kind than was recorded. */
    begin(f, CS_TOKEN_BRACKET);
    cs_vault_play(f->vault, cs_buf_str(&record));
    assert_str_is(mask(f, "<<SSN|219-09-9999>> <<EMAIL|p@example.org>>"), "[SSN_2] [EMAIL_2]");
    cs_buf_done(&record);
}

static void hostile_texts_take_linear_time(void **state)
{
    struct fixture *f = *state;
    static const char *const parts[] = {"[EMAIL_", "_",        "[[[[",     "\\\\",
                                        "\\u005b", "aaaa aaa", "BEGIN BE", "[EMAIL_1]"};
    mask(f, "<<SECRET|aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaab>> <<SECRET|BEGIN BEGIN BEGIN x9>>");
    f->spans.count = 0;
    for (size_t i = 0; i < CS_COUNT(parts); i++) {
        cs_buf_clear(&f->text);
        while (f->text.len < 1 << 20)
            cs_buf_puts(&f->text, parts[i]);
        cs_buf_clear(&f->out);
        assert_true(
            cs_mask_spans(&f->how, cs_buf_str(&f->text), &f->spans, &f->out, NULL, &f->err) >= 0);
    }
}

#define WITH(name) CS_TEST_WITH(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(equal_values_have_equal_tokens),
        WITH(json_stays_json),
        WITH(json_in_json_stays_json_too),
        WITH(keys_stay_apart),
        WITH(nothing_found_is_nothing_done),
        WITH(token_shaped_text_of_strangers_is_text),
        WITH(tokens_of_the_program_stay),
        WITH(every_style_goes_both_ways),
        WITH(known_values_are_found_without_a_rule),
        WITH(known_numbers_are_quoted),
        WITH(an_echo_is_found_within_words),
        WITH(a_guess_beside_the_token_is_not_confirmed),
        WITH(an_echo_comes_back_as_the_token),
        WITH(a_tool_without_protection_shows_its_own),
        WITH(a_number_alone_is_json_too),
        WITH(a_guess_is_not_confirmed),
        WITH(spans_that_meet_hide_everything),
        WITH(a_full_vault_lets_nothing_through),
        WITH(a_replay_gives_the_same_tokens),
        WITH(hostile_texts_take_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

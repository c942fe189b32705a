/* Finders of personal data: their examples, their words, and that they stay inside of the text. */
#include "test.h"

#include "base/mem.h"
#include "base/own.h"
#include "privacy/address.h"
#include "privacy/examples.h"
#include "privacy/personal.h"

static struct cs_detector *detector(void)
{
    struct cs_detector *d = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_detector_new(NULL, 0, &d, &err), 0);
    return d;
}

static void every_example_of_personal_data_holds(void **state)
{
    (void)state;
    struct cs_detector *d = detector();
    size_t n = 0;
    for (const struct cs_example *e = cs_examples_personal; e->rule; e++, n++) {
        CS_AUTO_BUF struct cs_buf why = {0};
        if (!cs_example_holds(d, e, &why)) {
            cs_buf_putc(&why, '\0');
            fail_msg("%s: %s\n    %s", e->rule, e->text, why.at);
        }
    }
    assert_true(n > 150);
    cs_detector_unref(d);
}

/* In memory of its own, so that a look outside is seen. */
static size_t scan(const struct cs_detector *d, const char *text, size_t len,
                   enum cs_privacy_level level)
{
    char *copy = cs_realloc(NULL, len ? len : 1, 1);
    memcpy(copy, text, len);
    struct cs_spans spans = {0};
    cs_scan(d, level, CS_FORM_TEXT, cs_strn(copy, len), &spans);
    for (size_t i = 0; i < spans.count; i++)
        assert_true(spans.at[i].start < spans.at[i].end && spans.at[i].end <= len);
    size_t n = spans.count;
    cs_spans_done(&spans);
    free(copy);
    return n;
}

static void every_beginning_and_end_of_an_example_can_be_looked_at(void **state)
{
    (void)state;
    struct cs_detector *d = detector();
    for (const struct cs_example *e = cs_examples_personal; e->rule; e++) {
        size_t len = strlen(e->text);
        for (size_t cut = 0; cut < len; cut += 1 + len / 16) {
            scan(d, e->text, cut, CS_PRIVACY_HIGH);
            scan(d, e->text + cut, len - cut, CS_PRIVACY_HIGH);
        }
    }
    cs_detector_unref(d);
}

static void long_runs_of_one_thing_can_be_looked_at(void **state)
{
    (void)state;
    static const char *const things[] = {"1",
                                         "+1",
                                         "(1",
                                         "1 ",
                                         "1-",
                                         "1.",
                                         "@",
                                         "a@",
                                         "::",
                                         "a:",
                                         "%40",
                                         "é",
                                         "12 A ",
                                         "A 1 ",
                                         "1, ",
                                         "St ",
                                         "1\n",
                                         "DE1 ",
                                         "Box 1 ",
                                         "1 Jan ",
                                         "\xC2\xA0"
                                         "1",
                                         "\xE2\x80"};
    struct cs_detector *d = detector();
    for (size_t i = 0; i < CS_COUNT(things); i++) {
        CS_AUTO_BUF struct cs_buf text = {0};
        while (text.len < 4096)
            cs_buf_put(&text, things[i], strlen(things[i]));
        scan(d, text.at, text.len, CS_PRIVACY_HIGH);
    }
    cs_detector_unref(d);
}

static void words_say_what_they_say_in_every_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        unsigned says;
    } words[] = {
        {"Phone", CS_CUE_PHONE},
        {"T\xC3\xA9l\xC3\xA9"
         "phone",
         CS_CUE_PHONE},
        {"zipcode", CS_CUE_OTHER},
        {"account", CS_CUE_OTHER},
        {"GEBOREN", CS_CUE_BIRTH},
        {"bday", CS_CUE_BIRTH},
        {"F\xC3\xBChrerschein", CS_CUE_DRIVER},
        {"visa", CS_CUE_CARD},
        {"ssn", CS_CUE_SSN},
        {"wohnhaft", CS_CUE_PLACE},
        {"yesterday", 0},
        {"", 0},
    };
    for (size_t i = 0; i < CS_COUNT(words); i++)
        assert_int_equal(cs_cue_of(words[i].word, strlen(words[i].word)) & words[i].says,
                         words[i].says);
    assert_int_equal(cs_cue_of("yesterday", 9), 0);
    assert_int_equal(cs_cue_of("", 0), 0);
    assert_true(cs_role_of("street", 6) & CS_ROLE_TYPE);
    assert_true(cs_role_of("wy", 2) & CS_ROLE_STATE);
    assert_true(cs_role_of("aan", 3) & CS_ROLE_PART);
    assert_true(cs_role_of("lindenstrasse", 13) & CS_ROLE_TAIL);
    assert_int_equal(cs_role_of("stree", 5), 0);
}

static void check_digits_are_checked(void **state)
{
    (void)state;
    assert_true(cs_luhn("4556737586899855", 16));
    assert_false(cs_luhn("4556737586899856", 16));
    assert_true(cs_card_issuer("371449635398431", 15));
    assert_false(cs_card_issuer("0000000000000000", 16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_of_personal_data_holds),
        cmocka_unit_test(every_beginning_and_end_of_an_example_can_be_looked_at),
        cmocka_unit_test(long_runs_of_one_thing_can_be_looked_at),
        cmocka_unit_test(words_say_what_they_say_in_every_spelling),
        cmocka_unit_test(check_digits_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

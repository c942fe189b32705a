/* Words, the gazetteer, the model, and names in texts. */
#include "privacy/names.h"

#include "base/own.h"
#include "test.h"

static size_t words_of(const char *text, struct cs_name_word *words, size_t most)
{
    struct cs_name_words t;
    size_t n = 0;
    cs_name_words_begin(&t, cs_str(text), CS_STR("userName"));
    while (n < most && cs_name_words_next(&t, &words[n]))
        n++;
    return n;
}

static void words_know_their_shape_and_what_is_between_them(void **state)
{
    static const struct {
        const char *text;
        uint8_t shapes[6], gaps[6];
        size_t count;
    } cases[] = {
        {"Anna went", {CS_SHAPE_CAP, CS_SHAPE_LOWER}, {CS_GAP_START, CS_GAP_SPACE}, 2},
        {"J. R. Smith",
         {CS_SHAPE_INITIAL, CS_SHAPE_INITIAL, CS_SHAPE_CAP},
         {CS_GAP_START, CS_GAP_INITIAL, CS_GAP_INITIAL},
         3},
        {"Dr. Lee. NASA",
         {CS_SHAPE_CAP, CS_SHAPE_CAP, CS_SHAPE_UPPER},
         {CS_GAP_START, CS_GAP_INITIAL, CS_GAP_STOP},
         3},
        {"Jean-Luc - Ann",
         {CS_SHAPE_CAP, CS_SHAPE_CAP, CS_SHAPE_CAP},
         {CS_GAP_START, CS_GAP_HYPHEN, CS_GAP_DASH},
         3},
        {"O'Brien's McGee", {CS_SHAPE_CAP, CS_SHAPE_INNER}, {CS_GAP_START, CS_GAP_POSSESSIVE}, 2},
        {"see https://a.example/b?c=D, a.b@c.example or @me",
         {CS_SHAPE_LOWER, CS_SHAPE_URL, CS_SHAPE_MAIL, CS_SHAPE_LOWER, CS_SHAPE_HANDLE},
         {CS_GAP_START, CS_GAP_SPACE, CS_GAP_COMMA, CS_GAP_SPACE, CS_GAP_SPACE},
         5},
        {"snake_case helloWorld x9 12:30",
         {CS_SHAPE_CODE, CS_SHAPE_MIXED, CS_SHAPE_CODE, CS_SHAPE_NUMBER},
         {CS_GAP_START, CS_GAP_SPACE, CS_GAP_SPACE, CS_GAP_SPACE},
         4},
        {"a,b\nc|d",
         {CS_SHAPE_LOWER, CS_SHAPE_LOWER, CS_SHAPE_LOWER, CS_SHAPE_LOWER},
         {CS_GAP_START, CS_GAP_COMMA_GLUED, CS_GAP_LINE, CS_GAP_CELL},
         4},
        {"<b>Eva</b> &amp; \xC3\x96zg\xC3\xBCr",
         {CS_SHAPE_CAP, CS_SHAPE_CAP},
         {CS_GAP_START, CS_GAP_ANGLE},
         2},
    };
    (void)state;
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_name_word w[8];
        assert_int_equal(words_of(cases[i].text, w, 8), cases[i].count);
        for (size_t k = 0; k < cases[i].count; k++) {
            if (w[k].shape != cases[i].shapes[k] || w[k].gap != cases[i].gaps[k])
                print_error("%s: word %zu\n", cases[i].text, k);
            assert_int_equal(w[k].shape, cases[i].shapes[k]);
            assert_int_equal(w[k].gap, cases[i].gaps[k]);
        }
    }
}

static void marks_and_case_make_no_difference(void **state)
{
    (void)state;
    assert_true(cs_name_word_hash(CS_STR("M\xC3\x9CLLER")) == cs_name_word_hash(CS_STR("muller")));
    assert_true(cs_name_word_hash(CS_STR("\xC5\x81ukasz")) == cs_name_word_hash(CS_STR("lukasz")));
    assert_true(cs_name_word_hash(CS_STR("S\xC3\xB8ren")) == cs_name_word_hash(CS_STR("soren")));
    /* decomposed: u and a mark */
    assert_true(cs_name_word_hash(CS_STR("Mu\xCC\x88ller")) == cs_name_word_hash(CS_STR("muller")));
    assert_true(cs_name_word_hash(CS_STR("muller")) != cs_name_word_hash(CS_STR("miller")));
}

static void the_last_part_of_a_key_counts(void **state)
{
    struct cs_name_word w[8], v[8];
    (void)state;
    assert_int_equal(words_of("name: Eva", w, 8), 2);
    assert_int_equal(words_of("user_name: Eva", v, 8), 2);
    assert_int_equal(w[1].key, v[1].key);
    assert_int_equal(w[0].key, v[1].key); /* that of the view is userName */
    assert_int_equal(words_of("city: Ulm", v, 8), 2);
    assert_int_not_equal(w[1].key, v[1].key);
}

static void the_gazetteer_has_names_words_and_places(void **state)
{
    uint8_t c;
    (void)state;
    c = cs_gazetteer(cs_name_word_hash(CS_STR("jennifer")));
    assert_int_equal(CS_GAZ_FIRST(c), 3);
    assert_int_equal(CS_GAZ_WORD(c), 0);
    c = cs_gazetteer(cs_name_word_hash(CS_STR("garcia")));
    assert_int_equal(CS_GAZ_LAST(c), 3);
    c = cs_gazetteer(cs_name_word_hash(CS_STR("window")));
    assert_int_equal(CS_GAZ_WORD(c), 3);
    assert_int_equal(CS_GAZ_FIRST(c), 0);
    c = cs_gazetteer(cs_name_word_hash(CS_STR("Berlin")));
    assert_int_equal(CS_GAZ_PLACE(c), 1);
    c = cs_gazetteer(cs_name_word_hash(CS_STR("Monday")));
    assert_int_equal(CS_GAZ_STOP(c), 1);
    assert_int_equal(cs_gazetteer(cs_name_word_hash(CS_STR("xqzvkj"))), 0);
}

struct found {
    size_t count;
    struct cs_span first;
};

static struct found names_in(enum cs_privacy_level level, struct cs_str text)
{
    CS_AUTO(cs_spans_done) struct cs_spans spans = {0};
    struct cs_detector *d = NULL;
    struct cs_err err = {0};
    struct found f = {0};
    assert_int_equal(cs_detector_new(NULL, 0, &d, &err), 0);
    cs_scan(d, level, CS_FORM_GUESS, text, &spans);
    for (size_t i = 0; i < spans.count; i++)
        if (spans.at[i].kind == CS_PII_PERSON && f.count++ == 0)
            f.first = spans.at[i];
    cs_detector_unref(d);
    return f;
}

static void a_name_that_was_seen_is_found_again(void **state)
{
    (void)state;
    struct found f = names_in(
        CS_PRIVACY_MEDIUM,
        CS_STR("My colleague Ottilie Brandvold will call you. Please send it to Brandvold."));
    assert_int_equal(f.count, 2);
}

static void names_over_the_end_of_a_window_stay_whole(void **state)
{
    (void)state;
    for (size_t words = 240; words < 270; words++) {
        CS_AUTO_BUF struct cs_buf b = {0};
        for (size_t i = 0; i < words; i++)
            cs_buf_puts(&b, "it ");
        size_t start = b.len + 8;
        cs_buf_puts(&b, "said by Margaret Ellen Holloway of the board");
        struct found f = names_in(CS_PRIVACY_MEDIUM, cs_buf_str(&b));
        assert_int_equal(f.count, 1);
        assert_int_equal(f.first.start, start);
        assert_int_equal(f.first.end, start + strlen("Margaret Ellen Holloway"));
    }
}

static void a_higher_level_finds_more(void **state)
{
    static const char text[] = "ask jennifer or the other one, then tell kowalski";
    (void)state;
    assert_int_equal(names_in(CS_PRIVACY_LOW, CS_STR("Jennifer Holloway")).count, 0);
    assert_true(names_in(CS_PRIVACY_HIGH, cs_str(text)).count >=
                names_in(CS_PRIVACY_MEDIUM, cs_str(text)).count);
    assert_true(names_in(CS_PRIVACY_HIGH, cs_str(text)).count >= 1);
}

/* Any bytes: words stay inside of the text, in order, and it ends. */
static void any_bytes_can_be_read(void **state)
{
    uint32_t x = 1;
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        char text[64];
        size_t len = round % sizeof text, last = 0;
        struct cs_name_words t;
        struct cs_name_word w;
        for (size_t i = 0; i < len; i++) {
            x = x * 1664525u + 1013904223u;
            text[i] = (char)(x >> 24);
            if (x >> 12 & 1)
                text[i] = "aA.'- \xC3\xE2\x80\x99<&@#/\n"[x >> 16 & 15];
        }
        CS_AUTO_BUF struct cs_buf exact = {0};
        cs_buf_put(&exact, text, len);
        cs_name_words_begin(&t, cs_buf_str(&exact), (struct cs_str){0});
        while (cs_name_words_next(&t, &w)) {
            assert_true(w.start >= last && w.end > w.start && w.end <= len);
            last = w.end;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_know_their_shape_and_what_is_between_them),
        cmocka_unit_test(marks_and_case_make_no_difference),
        cmocka_unit_test(the_last_part_of_a_key_counts),
        cmocka_unit_test(the_gazetteer_has_names_words_and_places),
        cmocka_unit_test(a_name_that_was_seen_is_found_again),
        cmocka_unit_test(names_over_the_end_of_a_window_stay_whole),
        cmocka_unit_test(a_higher_level_finds_more),
        cmocka_unit_test(any_bytes_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

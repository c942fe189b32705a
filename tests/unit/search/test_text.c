#include "base/buf.h"
#include "search/fold.h"
#include "search/terms.h"
#include "search/text.h"
#include "test.h"

static void assert_words(struct cs_str text, const char *want)
{
    CS_AUTO_BUF struct cs_buf got = {0};
    struct cs_words words = cs_words(text);
    struct cs_word word;
    while (cs_words_next(&words, &word)) {
        assert_in_range(word.len, 1, CS_WORD_MAX);
        cs_buf_printf(&got, "%s%s%.*s", got.len ? " " : "", word.joined ? "+" : "",
                      CS_STR_ARG(cs_word_str(&word)));
    }
    assert_string_equal(cs_buf_cstr(&got), want);
}

static void names_are_split_as_people_read_them(void **state)
{
    (void)state;
    assert_words(CS_STR(""), "");
    assert_words(CS_STR("create_pull_request"), "create pull request");
    assert_words(CS_STR("list-feature-flags.v2/x"), "list feature flags v2 x");
    assert_words(CS_STR("getUserByEmail"), "get user by email");
    assert_words(CS_STR("parseHTMLPage2"), "parse html page2");
    assert_words(CS_STR("GitHub repo"), "git hub +github repo");
    assert_words(CS_STR("PDFs and URLs of PRs"), "pdfs and urls of prs");
    assert_words(CS_STR("k8s base64Decode"), "k8s base64 decode +base64decode");
    assert_words(CS_STR("iPhone"), "i phone");
}

static void other_scripts_and_bad_bytes_do_no_harm(void **state)
{
    (void)state;
    assert_words(CS_STR("Caf\xC3\xA9 \xC3\x9C"
                        "BER"),
                 "cafe u ber");
    assert_words(CS_STR("\xE6\x9F\xA5\xE8\xAF\xA2 train"), "\xE6\x9F\xA5 \xE8\xAF\xA2 train");
    assert_words(CS_STR("\xD0\x9F\xD1\x80\xD0\xB8 \xCE\x95\xCE\xBB"),
                 "\xD0\xBF\xD1\x80\xD0\xB8 \xCE\xB5\xCE\xBB");
    assert_words(CS_STR("a\xFF\xFE"
                        "b\xE4\xB8"),
                 "a b");
    assert_words(cs_strn("a\0b\x01"
                         "c",
                         5),
                 "a b c");
    assert_words(CS_STR("\xCC\x81\xCC\x81"), "");
}

static void a_word_is_cut_at_its_limit(void **state)
{
    (void)state;
    char text[34000];
    memset(text, 'x', sizeof text);
    struct cs_words words = cs_words(cs_strn(text, sizeof text));
    struct cs_word word;
    assert_true(cs_words_next(&words, &word));
    assert_int_equal(word.len, CS_WORD_MAX);
    assert_false(cs_words_next(&words, &word));
}

static void endings_are_taken_off(void **state)
{
    (void)state;
    static const char *const same[][3] = {
        {"create", "creating", "created"}, {"repositories", "repository", "repository"},
        {"issues", "issue", "issues"},     {"planning", "plan", "plan"},
        {"classes", "class", "classes"},   {"invoice", "invoices", "invoiced"},
    };
    for (size_t i = 0; i < CS_COUNT(same); i++) {
        struct cs_word first = {0};
        for (size_t k = 0; k < 3; k++) {
            struct cs_words words = cs_words(cs_str(same[i][k]));
            struct cs_word word;
            assert_true(cs_words_next(&words, &word));
            cs_word_stem(&word);
            if (k == 0)
                first = word;
            assert_true(cs_str_eq(cs_word_str(&first), cs_word_str(&word)));
        }
    }
}

static void stop_words_are_known(void **state)
{
    (void)state;
    static const char *const stop[] = {"a", "the", "your", "which", "and"};
    static const char *const other[] = {"get", "b", "list", "yours", "an1", "zebra"};
    for (size_t i = 0; i < CS_COUNT(stop) + CS_COUNT(other); i++) {
        bool is = i < CS_COUNT(stop);
        const char *z = is ? stop[i] : other[i - CS_COUNT(stop)];
        struct cs_words words = cs_words(cs_str(z));
        struct cs_word word;
        assert_true(cs_words_next(&words, &word));
        assert_int_equal(cs_word_is_stop(&word), is);
    }
}

static void grams_mark_both_ends(void **state)
{
    (void)state;
    struct cs_word word = {.at = "ab\xC3\xA9", .len = 4};
    char bytes[CS_WORD_MAX + 2];
    struct cs_str at[CS_WORD_MAX + 2];
    assert_int_equal(cs_word_grams(&word, bytes, at), 3);
    assert_str_is(at[0], "^ab");
    assert_str_is(at[1], "ab\xC3\xA9");
    assert_str_is(at[2], "b\xC3\xA9$");
    word = (struct cs_word){.at = "x", .len = 1};
    assert_int_equal(cs_word_grams(&word, bytes, at), 1);
    assert_str_is(at[0], "^x$");
}

static void the_first_sentence_ends_where_it_ends(void **state)
{
    (void)state;
    assert_str_is(cs_text_sentence(CS_STR("  Reads v1.2 files. Then more."), 200),
                  "Reads v1.2 files");
    assert_str_is(cs_text_sentence(CS_STR("one\ntwo"), 200), "one");
    assert_str_is(cs_text_sentence(CS_STR("\xE6\x9F\xA5\xE3\x80\x82\xE8\xAF\xA2"), 200),
                  "\xE6\x9F\xA5");
    assert_str_is(cs_text_sentence(CS_STR("no end"), 4), "no ");
    assert_str_is(cs_text_sentence(CS_STR(""), 4), "");
    assert_str_is(cs_text_cut(CS_STR("a\xC3\xA9"), 2), "a");
    assert_str_is(cs_text_cut(CS_STR("a\xC3\xA9"), 3), "a\xC3\xA9");
    assert_str_is(cs_text_cut(CS_STR("\x80\x80\x80"), 2), "");
}

static void letters_are_folded(void **state)
{
    (void)state;
    static const struct {
        uint32_t from;
        unsigned count;
        uint32_t to[3];
    } cases[] = {
        {'A', 1, {'a'}},
        {0xC9, 1, {'e'}},
        {0x130, 1, {'i'}},
        {0x301, 0, {0}},
        {0x3A9, 1, {0x3C9}},
        {0x2126, 1, {0x3C9}},
        {0xAC01, 3, {0x1100, 0x1161, 0x11A8}},
        {0xAC00, 2, {0x1100, 0x1161}},
        {0x9CB, 2, {0x9C7, 0x9BE}},
        {0xDF, 1, {0xDF}},
        {0x102, 1, {'a'}},
        {0x4E2D, 1, {0x4E2D}},
        {0x1F680, 1, {0x1F680}},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        uint32_t to[CS_FOLD_MAX] = {0};
        assert_int_equal(cs_fold_char(cases[i].from, to), cases[i].count);
        for (unsigned k = 0; k < cases[i].count; k++)
            assert_int_equal(to[k], cases[i].to[k]);
    }
    assert_true(cs_fold_is_punctuation('_') && cs_fold_is_punctuation(0x3002));
    assert_false(cs_fold_is_punctuation('a') || cs_fold_is_punctuation(0x4E2D));
    assert_true(cs_fold_is_control(0) && cs_fold_is_control(0x200B) && cs_fold_is_control(0xFFFD));
    assert_false(cs_fold_is_control('\n') || cs_fold_is_control('a'));
    assert_true(cs_fold_is_space(0x3000) && cs_fold_is_ideograph(0x4E2D));
}

static void a_dictionary_numbers_what_it_is_given(void **state)
{
    (void)state;
    struct cs_terms terms = {0};
    assert_int_equal(cs_terms_get(&terms, CS_STR("x")), CS_NO_TERM);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            char text[16];
            int n = snprintf(text, sizeof text, "w%u", i);
            assert_int_equal(cs_terms_add(&terms, cs_strn(text, (size_t)n)), i);
        }
    }
    assert_int_equal(terms.count, 5000);
    assert_int_equal(cs_terms_get(&terms, CS_STR("w4999")), 4999);
    assert_int_equal(cs_terms_get(&terms, CS_STR("w5000")), CS_NO_TERM);
    assert_int_equal(cs_terms_add(&terms, CS_STR("")), 5000);
    cs_terms_done(&terms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(names_are_split_as_people_read_them),
        CS_TEST(other_scripts_and_bad_bytes_do_no_harm),
        CS_TEST(a_word_is_cut_at_its_limit),
        CS_TEST(endings_are_taken_off),
        CS_TEST(stop_words_are_known),
        CS_TEST(grams_mark_both_ends),
        CS_TEST(the_first_sentence_ends_where_it_ends),
        CS_TEST(letters_are_folded),
        CS_TEST(a_dictionary_numbers_what_it_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

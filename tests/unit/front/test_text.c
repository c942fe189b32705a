#include "test.h"

#include "front/text.h"
#include "front/verbs.h"

static char *safe(struct cs_str text)
{
    char *out = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&out, &len);
    cs_text_safe(f, text);
    fclose(f);
    return out;
}

static void nothing_can_drive_the_terminal(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"plain \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
         "plain \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"a\tb\n", "a\tb\n"},
        {"\033[31mred", "\\u{1b}[31mred"},
        {"\a\b\r\x7f", "\\u{7}\\u{8}\\u{d}\\u{7f}"},
        {"\xc2\x9b"
         "31m",
         "\\u{9b}31m"},
        {"\xe2\x80\xae"
         "evil",
         "\\u{202e}evil"},
        {"zero\xe2\x80\x8bwidth", "zero\\u{200b}width"},
        {"\xff\xc3(", "\\xff\\xc3("},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xc0\x80", "\\xc0\\x80"},
        {"cut \xe2\x82", "cut \\xe2\\x82"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *out = safe(cs_str(rows[i].in));
        assert_string_equal(out, rows[i].out);
        free(out);
    }
    char *nul = safe(cs_strn("a\0b", 3));
    assert_string_equal(nul, "a\\u{0}b");
    free(nul);
}

static void misspelt_words_are_recognised(void **state)
{
    (void)state;
    static const char *const names[] = {"run", "doctor", "help", "version", "completion"};
    assert_string_equal(cs_nearest("docter", names, 5), "doctor");
    assert_string_equal(cs_nearest("rnu", names, 5), "run");
    assert_string_equal(cs_nearest("versoin", names, 5), "version");
    assert_null(cs_nearest("zzz", names, 5));
    assert_null(cs_nearest("x", names, 5));
    assert_null(cs_nearest("bank", (const char *const[]){"mail"}, 1));
    assert_null(cs_nearest("a-word-that-is-far-too-long-for-any-of-our-names", names, 5));
}

static const struct cs_option options[] = {
    {"quiet", 'q', NULL, "", NULL, false},
    {"verbose", 'v', NULL, "", NULL, false},
    {"output", 'o', "FORMAT", "", "text json", false},
    {"eval", 'e', "CODE", "", NULL, false},
    {NULL, 0, NULL, NULL, NULL, false},
};
static const struct cs_verb verb = {"test", "", "", "", options, NULL, NULL, NULL};

static void options_are_taken_in_every_usual_spelling(void **state)
{
    (void)state;
    char *argv[] = {"test", "-qv", "--output=json", "-ojson", "-o",        "text", "file",
                    "-",    "-e",  "--quiet",       "--",     "--verbose", NULL};
    static const char *const expected[] = {"quiet",       "verbose",      "output=json",
                                           "output=json", "output=text",  "=file",
                                           "=-",          "eval=--quiet", "=--verbose"};
    struct cs_args args = {.verb = &verb, .argc = 12, .argv = argv};
    const struct cs_option *o;
    const char *value;
    struct cs_err err = {0};
    size_t n = 0;
    while (cs_args_next(&args, &o, &value, &err) > 0) {
        char got[64];
        snprintf(got, sizeof got, "%s%s%s", o ? o->name : "", value ? "=" : "", value ? value : "");
        assert_string_equal(got, expected[n++]);
    }
    assert_int_equal(n, sizeof expected / sizeof *expected);
}

static void wrong_options_say_what_was_meant(void **state)
{
    static const struct {
        const char *word, *says;
    } rows[] = {
        {"--verbos", "did you mean '--verbose'"},
        {"--zzzzzz", "there is no option '--zzzzzz'"},
        {"-x", "there is no option '-x'"},
        {"--output", "wants a value: FORMAT"},
        {"--output=xml", "none of: text json"},
        {"--quiet=1", "takes no value"},
        {"-o", "wants a value"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *argv[] = {"test", (char *)rows[i].word, NULL};
        struct cs_args args = {.verb = &verb, .argc = 2, .argv = argv};
        const struct cs_option *o;
        const char *value;
        struct cs_err err = {0};
        assert_int_equal(cs_args_next(&args, &o, &value, &err), -1);
        assert_contains(err.msg, rows[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(nothing_can_drive_the_terminal),
        CS_TEST(misspelt_words_are_recognised),
        CS_TEST(options_are_taken_in_every_usual_spelling),
        CS_TEST(wrong_options_say_what_was_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The conformance suite: every line of json_cases.h, some that are too large to write down, and, if
 * CS_JSON_SUITE names a directory, every y_*.json, n_*.json and i_*.json in it (tests/it/json_suite
 * puts the public suite there).
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/json_cases.h"

struct test_case {
    const char *name;
    struct cs_str text;
    bool accepted;
};

static const struct test_case cases[] = {
#define Y(name, bytes)              {"y_" #name, {bytes, sizeof bytes - 1}, true},
#define N(name, bytes)              {"n_" #name, {bytes, sizeof bytes - 1}, false},
#define I(name, bytes, answer, why) {"i_" #name, {bytes, sizeof bytes - 1}, answer},
    JSON_CASES(Y, N, I)
#undef Y
#undef N
#undef I
};

/* Looks at everything in the document, with a stack as high as the depth that was allowed. */
static size_t walk(const struct cs_json *doc)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct {
        struct cs_json_val v;
        struct cs_json_iter it;
    } stack[600] = {{cs_json_root(doc), {0}}};
    size_t seen = 1, depth = 1;
    while (depth > 0) {
        struct cs_json_val key, item;
        if (!cs_json_next(stack[depth - 1].v, &stack[depth - 1].it, &key, &item)) {
            depth--;
            continue;
        }
        seen++;
        struct cs_str raw = cs_json_raw(item);
        assert_true(raw.at >= doc->text.at && raw.at + raw.len <= doc->text.at + doc->text.len);
        assert_true(cs_json_str(item, &arena).len <= raw.len);
        stack[depth].v = item;
        stack[depth].it = (struct cs_json_iter){0};
        depth++;
    }
    return seen;
}

/*
 * Parses a copy that ends where its block ends, so that the sanitizer sees the slightest look past
 * the end.
 */
static bool accepts(struct cs_str text, const struct cs_json_limits *limits, struct cs_err *err)
{
    CS_AUTO_FREE char *copy = malloc(text.len ? text.len : 1);
    if (text.len)
        memcpy(copy, text.at, text.len);
    CS_AUTO_JSON struct cs_json doc = {0};
    *err = (struct cs_err){0};
    if (cs_json_parse(cs_strn(copy, text.len), limits, &doc, err) < 0) {
        assert_null(doc.tape);
        assert_int_equal(cs_json_type(cs_json_root(&doc)), CS_JSON_NONE);
        assert_int_not_equal(err->code, CS_OK);
        assert_non_null(strstr(err->msg, "line "));
        return false;
    }
    assert_int_equal(err->code, CS_OK);
    walk(&doc);
    return true;
}

static int check(const char *name, struct cs_str text, bool expected)
{
    struct cs_err err;
    if (accepts(text, NULL, &err) == expected)
        return 0;
    print_error("%s: should be %s. %s\n", name, expected ? "accepted" : "refused", err.msg);
    return 1;
}

static void every_case_has_its_answer(void **state)
{
    (void)state;
    assert_true(CS_COUNT(cases) >= 300);
    int wrong = 0;
    for (size_t i = 0; i < CS_COUNT(cases); i++)
        wrong += check(cases[i].name, cases[i].text, cases[i].accepted);
    print_message("%zu cases\n", CS_COUNT(cases));
    assert_int_equal(wrong, 0);
}

/* White space around a text changes nothing but which of the wide and narrow loops see it. */
static void every_case_has_its_answer_at_every_alignment(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < CS_COUNT(cases); i++)
        for (size_t before = 0; before < 18 && !wrong; before++)
            for (size_t after = 0; after < 36; after += 17) {
                CS_AUTO_BUF struct cs_buf b = {0};
                cs_buf_printf(&b, "%*s", (int)before, "");
                cs_buf_putstr(&b, cases[i].text);
                cs_buf_printf(&b, "%*s", (int)after, "");
                wrong += check(cases[i].name, cs_buf_str(&b), cases[i].accepted);
            }
    assert_int_equal(wrong, 0);
}

static void every_case_has_its_answer_inside_an_array(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        if (!cases[i].accepted)
            continue;
        CS_AUTO_BUF struct cs_buf b = {0};
        cs_buf_puts(&b, "{\"k\":[");
        cs_buf_putstr(&b, cases[i].text);
        cs_buf_puts(&b, ",");
        cs_buf_putstr(&b, cases[i].text);
        cs_buf_puts(&b, "]}");
        wrong += check(cases[i].name, cs_buf_str(&b), true);
    }
    assert_int_equal(wrong, 0);
}

static void no_beginning_of_a_container_is_a_text(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        const char *z = cases[i].text.at;
        if (!cases[i].accepted || (z[0] != '[' && z[0] != '{'))
            continue;
        size_t len = cases[i].text.len;
        while (len > 0 && z[len - 1] != ']' && z[len - 1] != '}')
            len--;
        for (size_t n = 0; n + 1 < len; n++)
            wrong += check(cases[i].name, cs_strn(z, n), false);
    }
    assert_int_equal(wrong, 0);
}

static void pretty_and_copied_texts_mean_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        if (!cases[i].accepted)
            continue;
        CS_AUTO_JSON struct cs_json doc = {0}, again = {0};
        CS_AUTO_BUF struct cs_buf pretty = {0}, twice = {0};
        struct cs_err err = {0};
        assert_int_equal(cs_json_parse(cases[i].text, NULL, &doc, &err), 0);
        cs_json_pretty(cases[i].text, &pretty);
        if (cs_json_parse(cs_buf_str(&pretty), NULL, &again, &err) < 0)
            fail_msg("%s, indented: %s", cases[i].name, err.msg);
        assert_int_equal(doc.len, again.len);
        assert_int_equal(walk(&doc), walk(&again));
        cs_json_pretty(cs_buf_str(&pretty), &twice);
        assert_true(cs_str_eq(cs_buf_str(&pretty), cs_buf_str(&twice)));
    }
}

static void repeat(struct cs_buf *b, const char *z, size_t times)
{
    while (times-- > 0)
        cs_buf_puts(b, z);
}

/* Opens `times` times, then whatever `inside` is, then closes. */
static bool nested(const char *open, const char *inside, const char *close, size_t times,
                   const struct cs_json_limits *limits, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf b = {0};
    repeat(&b, open, times);
    cs_buf_puts(&b, inside);
    repeat(&b, close, times);
    return accepts(cs_buf_str(&b), limits, err);
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    struct cs_err err;
    struct cs_json_limits deep = {.depth = 500};
    /* i_structure_500_nested_arrays: by the limit that is asked for. */
    assert_false(nested("[", "", "]", 500, NULL, &err));
    assert_int_equal(err.code, CS_LIMIT);
    assert_true(nested("[", "", "]", 500, &deep, &err));
    assert_false(nested("[", "", "]", 501, &deep, &err));
    assert_int_equal(err.code, CS_LIMIT);
    assert_true(nested("[", "", "]", 128, NULL, &err));
    assert_false(nested("[", "", "]", 129, NULL, &err));
    assert_true(nested("{\"a\":", "1", "}", 128, NULL, &err));
    assert_false(nested("{\"a\":", "1", "}", 129, NULL, &err));
    /* n_structure_100000_opening_arrays and its relatives. */
    assert_false(nested("[", "", "", 100000, NULL, &err));
    assert_false(nested("[{\"\":", "", "", 50000, NULL, &err));
    assert_false(nested("{\"a\":", "", "", 100000, NULL, &err));
    /* And with a limit that lets them through, they are what they are: unclosed, or fine. */
    struct cs_json_limits deepest = {.depth = 1000000};
    assert_false(nested("[", "", "", 100000, &deepest, &err));
    assert_int_equal(err.code, CS_INVALID);
}

static void size_is_bounded(void **state)
{
    (void)state;
    struct cs_json doc;
    struct cs_err err = {0};
    struct cs_json_limits small = {.bytes = 4};
    assert_int_equal(cs_json_parse(CS_STR("[12]"), &small, &doc, &err), 0);
    cs_json_done(&doc);
    assert_int_equal(cs_json_parse(CS_STR("[123]"), &small, &doc, &err), -1);
    assert_int_equal(err.code, CS_LIMIT);
    assert_non_null(strstr(err.msg, "5 bytes, at most 4"));
}

static void big_simple_texts_are_read(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    struct cs_err err;
    cs_buf_puts(&b, "[0");
    repeat(&b, ",0", 300000);
    cs_buf_puts(&b, "]");
    assert_true(accepts(cs_buf_str(&b), NULL, &err));
    cs_buf_clear(&b);
    cs_buf_puts(&b, "[[]");
    repeat(&b, ",[]", 300000);
    cs_buf_puts(&b, "]");
    assert_true(accepts(cs_buf_str(&b), NULL, &err));
    cs_buf_clear(&b);
    cs_buf_puts(&b, "\"");
    repeat(&b, "\xC3\xA9\\n", 300000);
    cs_buf_puts(&b, "\"");
    assert_true(accepts(cs_buf_str(&b), NULL, &err));
    cs_buf_clear(&b);
    repeat(&b, "9", 300000);
    assert_true(accepts(cs_buf_str(&b), NULL, &err));
}

static void read_file(const char *dir, const char *name, struct cs_buf *out)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    for (size_t n; (n = fread(cs_buf_room(out, 65536), 1, 65536, f)) > 0;)
        cs_buf_added(out, n);
    fclose(f);
}

/* Our answers to what the public suite leaves open, by the beginning of the name. First match. */
static const struct {
    const char *name;
    bool accepted;
    const char *why;
} open_questions[] = {
    {"i_number_", true, "numbers are kept as written, whatever their size"},
    {"i_object_key_lone_2nd_surrogate", true, "the grammar allows it; reads as U+FFFD"},
    {"i_structure_500_nested_arrays", false, "deeper than the default limit"},
    {"i_structure_UTF-8_BOM", false, "a byte order mark is no part of the grammar"},
    {"i_string_UTF-16", false, "texts are UTF-8"},
    {"i_string_utf16", false, "texts are UTF-8"},
    {"i_string_UTF-8_invalid", false, "not UTF-8"},
    {"i_string_UTF8_surrogate", false, "surrogates are no characters"},
    {"i_string_invalid_utf-8", false, "not UTF-8"},
    {"i_string_iso_latin_1", false, "not UTF-8"},
    {"i_string_lone_utf8_continuation", false, "not UTF-8"},
    {"i_string_not_in_unicode_range", false, "no such character"},
    {"i_string_overlong", false, "overlong forms hide characters"},
    {"i_string_truncated-utf-8", false, "not UTF-8"},
    {"i_string_", true, "escapes of lone surrogates: the grammar allows them; U+FFFD each"},
};

static int check_open_question(const char *name, struct cs_str text)
{
    for (size_t i = 0; i < CS_COUNT(open_questions); i++)
        if (cs_str_starts(cs_str(name), open_questions[i].name))
            return check(name, text, open_questions[i].accepted);
    print_error("%s: we have no answer to this one\n", name);
    return 1;
}

static int check_file(const char *dir, const char *name)
{
    CS_AUTO_BUF struct cs_buf b = {0};
    read_file(dir, name, &b);
    if (name[0] == 'i')
        return check_open_question(name, cs_buf_str(&b));
    /* The suite has duplicate keys as y_; RFC 8259 says they "SHOULD be unique" and no more. */
    if (cs_str_starts(cs_str(name), "y_object_duplicated_key")) {
        struct cs_json_limits allow = {.allow_duplicate = true};
        struct cs_err err;
        assert_true(accepts(cs_buf_str(&b), &allow, &err));
        return check(name, cs_buf_str(&b), false);
    }
    return check(name, cs_buf_str(&b), name[0] == 'y');
}

static void the_public_suite_agrees(void **state)
{
    (void)state;
    const char *dir = getenv("CS_JSON_SUITE");
    if (!dir)
        skip();
    DIR *d = opendir(dir);
    assert_non_null(d);
    int seen = 0, wrong = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (!strstr(e->d_name, ".json"))
            continue;
        wrong += check_file(dir, e->d_name);
        seen++;
    }
    closedir(d);
    print_message("%d files\n", seen);
    assert_true(seen > 0);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_has_its_answer),
        cmocka_unit_test(every_case_has_its_answer_at_every_alignment),
        cmocka_unit_test(every_case_has_its_answer_inside_an_array),
        cmocka_unit_test(no_beginning_of_a_container_is_a_text),
        cmocka_unit_test(pretty_and_copied_texts_mean_the_same),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(size_is_bounded),
        cmocka_unit_test(big_simple_texts_are_read),
        cmocka_unit_test(the_public_suite_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

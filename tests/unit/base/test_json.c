#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/utf8.h"

/* The document of a text that must be right. */
static struct cs_json parsed(const char *z)
{
    struct cs_json doc;
    struct cs_err err = {0};
    if (cs_json_parse(cs_str(z), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", z, err.msg);
    return doc;
}

static void types_are_told_apart(void **state)
{
    (void)state;
    CS_AUTO_JSON struct cs_json doc = parsed("[null,false,true,-1,\"s\",[],{}]");
    struct cs_json_val v = cs_json_root(&doc), item;
    assert_int_equal(cs_json_type(v), CS_JSON_ARRAY);
    assert_int_equal(cs_json_count(v), 7);
    struct cs_json_iter it = {0};
    for (int type = CS_JSON_NULL; type <= CS_JSON_OBJECT; type++) {
        struct cs_json_val key;
        assert_true(cs_json_next(v, &it, &key, &item));
        assert_int_equal(cs_json_type(item), type);
        assert_int_equal(cs_json_type(key), CS_JSON_NONE);
        assert_int_equal(cs_json_count(item), 0);
    }
    assert_false(cs_json_next(v, &it, NULL, &item));
    assert_false(cs_json_next(v, &it, NULL, &item));
}

static void members_are_found_by_key(void **state)
{
    (void)state;
    CS_AUTO_JSON struct cs_json doc =
        parsed("{\"a\":{\"x\":[1,{\"a\":9}]},\"\":5,\"\\u00e9\":\"e\",\"b\":2,\"n\\u0000\":3}");
    struct cs_json_val root = cs_json_root(&doc);
    int64_t i = 0;
    assert_int_equal(cs_json_count(root), 5);
    assert_true(cs_json_i64(cs_json_get(root, "b"), &i) && i == 2);
    assert_true(cs_json_i64(cs_json_get(root, ""), &i) && i == 5);
    assert_true(cs_json_is(cs_json_get(root, "\xC3\xA9"), "e"));
    assert_int_equal(cs_json_count(cs_json_get(cs_json_get(root, "a"), "x")), 2);
    /* A key with a NUL in it is not its beginning. */
    assert_int_equal(cs_json_type(cs_json_get(root, "n")), CS_JSON_NONE);
    assert_int_equal(cs_json_type(cs_json_get(root, "x")), CS_JSON_NONE);
    assert_int_equal(cs_json_type(cs_json_get(root, "c")), CS_JSON_NONE);
    assert_int_equal(cs_json_type(cs_json_get(cs_json_get(root, "b"), "a")), CS_JSON_NONE);
}

static void nothing_can_be_asked_anything(void **state)
{
    (void)state;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json empty = {0};
    struct cs_json_val none = cs_json_get(cs_json_root(&empty), "a"), item;
    struct cs_json_iter it = {0};
    int64_t i = 5;
    double d = 5;
    bool b = true;
    assert_int_equal(cs_json_type(none), CS_JSON_NONE);
    assert_int_equal(cs_json_count(none), 0);
    assert_false(cs_json_next(none, &it, NULL, &item));
    assert_int_equal(cs_json_raw(none).len, 0);
    assert_int_equal(cs_json_str(none, &arena).len, 0);
    assert_false(cs_json_is(none, ""));
    assert_false(cs_json_i64(none, &i) || cs_json_f64(none, &d) || cs_json_bool(none, &b));
    assert_true(i == 5 && d == 5 && b);
    assert_int_equal(cs_json_type(cs_json_get(none, "a")), CS_JSON_NONE);
    cs_json_done(&empty);
}

static void walking_an_object_gives_keys_and_values_in_order(void **state)
{
    (void)state;
    CS_AUTO_JSON struct cs_json doc = parsed(" { \"a\" : [1,[2]] , \"b\" : { \"c\" : 1 } } ");
    struct cs_json_val root = cs_json_root(&doc), key, item;
    struct cs_json_iter it = {0};
    assert_true(cs_json_next(root, &it, &key, &item));
    assert_true(cs_json_is(key, "a") && cs_str_is(cs_json_raw(item), "[1,[2]]"));
    assert_true(cs_json_next(root, &it, &key, &item));
    assert_true(cs_json_is(key, "b") && cs_str_is(cs_json_raw(item), "{ \"c\" : 1 }"));
    assert_true(cs_str_is(cs_json_raw(key), "\"b\""));
    assert_false(cs_json_next(root, &it, &key, &item));
    assert_true(cs_str_is(cs_json_raw(root), "{ \"a\" : [1,[2]] , \"b\" : { \"c\" : 1 } }"));
}

static void strings_without_escapes_are_slices(void **state)
{
    (void)state;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_JSON struct cs_json doc = parsed("\"h\xC3\xA9llo\"");
    struct cs_str s = cs_json_str(cs_json_root(&doc), &arena);
    assert_ptr_equal(s.at, doc.text.at + 1);
    assert_int_equal(s.len, 6);
    assert_null(arena.blocks);
}

static void escapes_become_what_they_mean(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct cs_str means;
    } cases[] = {
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", CS_STR("\"\\/\b\f\n\r\t")},
        {"\"a\\u0041b\"", CS_STR("aAb")},
        {"\"\\u0000\"", CS_STR("\0")},
        {"\"x\\u0000y\"", CS_STR("x\0y")},
        {"\"\\u007f\\u0080\"", CS_STR("\x7F\xC2\x80")},
        {"\"\\u07ff\\u0800\"", CS_STR("\xDF\xBF\xE0\xA0\x80")},
        {"\"\\uFFFF\"", CS_STR("\xEF\xBF\xBF")},
        {"\"\\ud800\\udc00\"", CS_STR("\xF0\x90\x80\x80")},
        {"\"\\uDBFF\\uDFFF\"", CS_STR("\xF4\x8F\xBF\xBF")},
        {"\"\\ud83d\\ude00!\"", CS_STR("\xF0\x9F\x98\x80!")},
        {"\"\\ud800\"", CS_STR(CS_UTF8_BAD)},
        {"\"\\udc00\"", CS_STR(CS_UTF8_BAD)},
        {"\"\\udc00\\ud800\"", CS_STR(CS_UTF8_BAD CS_UTF8_BAD)},
        {"\"\\ud800\\ud800\\udc00\"", CS_STR(CS_UTF8_BAD "\xF0\x90\x80\x80")},
        {"\"\\ud800x\"", CS_STR(CS_UTF8_BAD "x")},
        {"\"\\ud800\\n\"", CS_STR(CS_UTF8_BAD "\n")},
        {"\"\\ud800\\\\udc00\"", CS_STR(CS_UTF8_BAD "\\udc00")},
        {"\"\\\\u0041\"", CS_STR("\\u0041")},
        {"\"long enough to be copied in runs\\nand on\"",
         CS_STR("long enough to be copied in runs\nand on")},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        CS_AUTO_ARENA struct cs_arena arena = {0};
        CS_AUTO_JSON struct cs_json doc = parsed(cases[i].text);
        struct cs_str s = cs_json_str(cs_json_root(&doc), &arena);
        if (!cs_str_eq(s, cases[i].means))
            fail_msg("%s became \"%.*s\"", cases[i].text, CS_STR_ARG(s));
        /* A copy ends in NUL, and cs_json_is sees the same string. */
        assert_int_equal(s.at[s.len], 0);
        assert_int_equal(cs_json_is(cs_json_root(&doc), s.at), strlen(s.at) == s.len);
        assert_false(cs_json_is(cs_json_root(&doc), "something else"));
    }
}

static void comparing_needs_the_whole_string(void **state)
{
    (void)state;
    CS_AUTO_JSON struct cs_json doc = parsed("[\"abc\",\"a\\u0062c\"]");
    struct cs_json_val item;
    struct cs_json_iter it = {0};
    while (cs_json_next(cs_json_root(&doc), &it, NULL, &item)) {
        assert_true(cs_json_is(item, "abc"));
        assert_false(cs_json_is(item, "ab"));
        assert_false(cs_json_is(item, "abcd"));
        assert_false(cs_json_is(item, ""));
    }
}

static void integers_fit_exactly_or_not_at_all(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool fits;
        int64_t value;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"7", true, 7},
        {"-7", true, -7},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"18446744073709551616", false, 0},
        {"99999999999999999999999999", false, 0},
        {"1.0", true, 1},
        {"1.50", false, 0},
        {"1.5e1", true, 15},
        {"1.5e0", false, 0},
        {"1e3", true, 1000},
        {"1E+3", true, 1000},
        {"1000e-3", true, 1},
        {"1000e-4", false, 0},
        {"100.00e-2", true, 1},
        {"10203000e-3", true, 10203},
        {"0e999999999999999999999", true, 0},
        {"0.000e-999999999999999999999", true, 0},
        {"1e999999999999999999999", false, 0},
        {"1e-999999999999999999999", false, 0},
        {"1e18", true, 1000000000000000000},
        {"1e19", false, 0},
        {"9.223372036854775807e18", true, INT64_MAX},
        {"-9.223372036854775808e18", true, INT64_MIN},
        {"0.00000000000000000000000000000001e32", true, 1},
        {"100000000000000000000000000000000e-32", true, 1},
        {"\"1\"", false, 0},
        {"true", false, 0},
        {"[1]", false, 0},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        CS_AUTO_JSON struct cs_json doc = parsed(cases[i].text);
        int64_t value = 123;
        bool fits = cs_json_i64(cs_json_root(&doc), &value);
        if (fits != cases[i].fits || value != (fits ? cases[i].value : 123))
            fail_msg("%s: %d %lld", cases[i].text, fits, (long long)value);
    }
}

static void doubles_are_the_nearest(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "0",
        "-0",
        "0.1",
        "-2.5e3",
        "1e22",
        "1e23",
        "123456789",
        "1e308",
        "1.7976931348623157e308",
        "5e-324",
        "1e-400",
        "2.2250738585072011e-308",
        "0.3",
        "1e-22",
        "9007199254740993",
        "4503599627370496.5",
        "123456789012345678901234567890",
        "0.000000000000000000000000000000000000000000000000000000000000000000000000001",
        "1000000000000000000000000000000000000000000000000000000000000000000000000000",
        "9007199254740992.99999999999999999999999999999999999999999999999999999999999",
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        CS_AUTO_JSON struct cs_json doc = parsed(cases[i]);
        double d = 1, expected = strtod(cases[i], NULL);
        assert_true(cs_json_f64(cs_json_root(&doc), &d));
        if (memcmp(&d, &expected, sizeof d) != 0)
            fail_msg("%s: %.17g, expected %.17g", cases[i], d, expected);
    }
    static const char *const beyond[] = {"1e309", "-1e309", "1e999999999999", "null", "\"1\""};
    for (size_t i = 0; i < CS_COUNT(beyond); i++) {
        CS_AUTO_JSON struct cs_json doc = parsed(beyond[i]);
        double d = 5;
        assert_false(cs_json_f64(cs_json_root(&doc), &d));
        assert_true(d == 5);
    }
}

static void errors_say_where_and_what_was_expected(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "JSON, line 1, column 1: expected a value, found the end of the text"},
        {"\xEF\xBB\xBF{}", "JSON, line 1, column 1: expected a value, found a byte order mark"},
        {"[1,\n 2,,3]", "JSON, line 2, column 4: expected a value, found ','"},
        {"[1,\r\n\r\n  x]", "JSON, line 3, column 3: expected a value, found 'x'"},
        {"{\"a\" 1}", "JSON, line 1, column 6: expected ':' after the key, found '1'"},
        {"{a:1}", "JSON, line 1, column 2: expected a key in double quotes or '}', found 'a'"},
        {"{\"a\":1,}",
         "JSON, line 1, column 8: expected a key in double quotes after ',', found '}'"},
        {"{\"a\":1]", "JSON, line 1, column 7: expected ',' or '}' after the member, found ']'"},
        {"[1 2]", "JSON, line 1, column 4: expected ',' or ']' after the element, found '2'"},
        {"[1,\n2", "JSON, line 2, column 2: expected ',' or ']' after the element, found the end "
                   "of the text"},
        {"[\"\xC3\xA9\xF0\x9F\x98\x80\" x]",
         "JSON, line 1, column 7: expected ',' or ']' after the element, found 'x'"},
        {"{}\n\nx", "JSON, line 3, column 1: expected nothing after the value, found 'x'"},
        {"[\"ab", "JSON, line 1, column 2: the string that starts here is not closed"},
        {"[\"a\nb\"]", "JSON, line 1, column 4: a control character in a string must be escaped"},
        {"[\"\\x\"]", "JSON, line 1, column 4: expected one of \" \\ / b f n r t u after the "
                      "backslash, found 'x'"},
        {"[\"\\u00g0\"]",
         "JSON, line 1, column 7: expected four hexadecimal digits after \\u, found 'g'"},
        {"[\"\xFF\"]", "JSON, line 1, column 3: the text is not valid UTF-8"},
        {"01", "JSON, line 1, column 1: expected no zero before other digits of a number"},
        {"[-]", "JSON, line 1, column 3: expected a digit, found ']'"},
        {"[1.]", "JSON, line 1, column 4: expected a digit after the point, found ']'"},
        {"1e",
         "JSON, line 1, column 3: expected a digit of the exponent, found the end of the text"},
        {"[\x01]", "JSON, line 1, column 2: expected a value, found the byte 0x01"},
        {"{\"a\":1,\n \"a\":2}", "JSON, line 2, column 2: the object has the key \"a\" twice"},
        {"{\"k\xC3\xA9y that is longer than anyone would want to read\":1,\"k\xC3\xA9y that is "
         "longer than anyone would want to read\":1}",
         "JSON, line 1, column 56: the object has the key \"k\xC3\xA9y that is longer than anyone "
         "would wa...\" twice"},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_json doc;
        struct cs_err err = {0};
        assert_int_equal(cs_json_parse(cs_str(cases[i].text), NULL, &doc, &err), -1);
        assert_int_equal(err.code, CS_INVALID);
        assert_string_equal(err.msg, cases[i].message);
        assert_int_equal(cs_json_parse(cs_str(cases[i].text), NULL, &doc, NULL), -1);
    }
}

static void depth_errors_name_the_limit(void **state)
{
    (void)state;
    struct cs_json doc;
    struct cs_err err = {0};
    struct cs_json_limits limits = {.depth = 2};
    assert_int_equal(cs_json_parse(CS_STR("[[\n[]]]"), &limits, &doc, &err), -1);
    assert_int_equal(err.code, CS_LIMIT);
    assert_string_equal(err.msg, "JSON, line 2, column 1: nested deeper than 2");
}

static void with_duplicates_allowed_the_last_one_counts(void **state)
{
    (void)state;
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_limits limits = {.allow_duplicate = true};
    assert_int_equal(
        cs_json_parse(CS_STR("{\"a\":1,\"b\":2,\"\\u0061\":3,\"c\":4}"), &limits, &doc, NULL), 0);
    int64_t i;
    assert_true(cs_json_i64(cs_json_get(cs_json_root(&doc), "a"), &i));
    assert_int_equal(i, 3);
    assert_int_equal(cs_json_count(cs_json_root(&doc)), 4);
}

/* An object of `n` keys; the last is a duplicate of key `twice` if that is >= 0.
 */
static void wide_object(struct cs_buf *out, const char *const parts[2], int n, int twice)
{
    cs_buf_clear(out);
    cs_buf_putc(out, '{');
    for (int i = 0; i < n; i++) {
        int id = i == n - 1 && twice >= 0 ? twice : i;
        cs_buf_printf(out, "%s\"%s%08d%s\":%d", i ? ",\n" : "", parts[0], id, parts[1], i);
    }
    cs_buf_putc(out, '}');
}

static void duplicates_are_found_at_every_width(void **state)
{
    (void)state;
    static const char *const shapes[][2] = {{"", ""}, {"key", ""}, {"aaaaaaaa", "aaaaaaaa"}};
    CS_AUTO_BUF struct cs_buf b = {0};
    for (size_t s = 0; s < CS_COUNT(shapes); s++)
        for (int n = 2; n < 60; n++)
            for (int twice = -1; twice < n - 1; twice++) {
                CS_AUTO_JSON struct cs_json doc = {0};
                struct cs_err err = {0};
                wide_object(&b, shapes[s], n, twice);
                int status = cs_json_parse(cs_buf_str(&b), NULL, &doc, &err);
                assert_int_equal(status, twice < 0 ? 0 : -1);
                if (twice < 0)
                    continue;
                char where[40];
                snprintf(where, sizeof where, "line %d, column 1", n);
                assert_non_null(strstr(err.msg, where));
            }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* With these keys the hash is the same for all: beginning, end and length are. */
static void hostile_wide_objects_do_not_take_quadratic_time(void **state)
{
    (void)state;
    static const char *const same_hash[2] = {"aaaaaaaa", "aaaaaaaa"};
    CS_AUTO_BUF struct cs_buf b = {0};
    double took[2];
    for (int round = 0; round < 2; round++) {
        CS_AUTO_JSON struct cs_json doc = {0};
        wide_object(&b, same_hash, round ? 160000 : 10000, -1);
        double start = seconds();
        assert_int_equal(cs_json_parse(cs_buf_str(&b), NULL, &doc, NULL), 0);
        took[round] = seconds() - start;
    }
    /* Sixteen times the keys: n log n is 21 times the time (more where the cache ends), n squared
     * 256. */
    if (took[1] > 120 * took[0])
        fail_msg("10000 keys took %.4f s, 160000 took %.4f s", took[0], took[1]);
}

static void the_writer_places_commas(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&b);
    cs_json_open(&w, '{');
    cs_json_key(&w, "a");
    cs_json_open(&w, '[');
    cs_json_put_i64(&w, INT64_MIN);
    cs_json_put_u64(&w, UINT64_MAX);
    cs_json_put_bool(&w, true);
    cs_json_put_bool(&w, false);
    cs_json_put_null(&w);
    cs_json_open(&w, '{');
    cs_json_close(&w, '}');
    cs_json_open(&w, '[');
    cs_json_close(&w, ']');
    cs_json_close(&w, ']');
    cs_json_key_str(&w, CS_STR("b\0"));
    cs_json_put_z(&w, "z");
    cs_json_key(&w, "n");
    cs_json_put_z(&w, NULL);
    cs_json_key(&w, "raw");
    cs_json_put_raw(&w, CS_STR("[1, 2]"));
    cs_json_close(&w, '}');
    assert_int_equal(w.depth, 0);
    assert_string_equal(cs_buf_cstr(&b),
                        "{\"a\":[-9223372036854775808,18446744073709551615,true,false,null,{},[]],"
                        "\"b\\u0000\":\"z\",\"n\":null,\"raw\":[1, 2]}");
}

static void the_writer_escapes_what_must_be(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&b);
    cs_json_put_str(&w, CS_STR("q\"b\\/\b\f\n\r\t\x01\x1F\x7F\0z \xC3\xA9\xF0\x9F\x98\x80"));
    assert_string_equal(cs_buf_cstr(&b), "\"q\\\"b\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7F\\u0000z "
                                         "\xC3\xA9\xF0\x9F\x98\x80\"");
}

static void the_writer_replaces_broken_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *written;
    } cases[] = {
        {"\xFF", CS_UTF8_BAD},
        {"a\x80z", "a" CS_UTF8_BAD "z"},
        {"\xC3", CS_UTF8_BAD},
        {"\xC3(", CS_UTF8_BAD "("},
        {"\xE2\x82", CS_UTF8_BAD},
        {"\xE2\x82\xE2\x82\xAC", CS_UTF8_BAD "\xE2\x82\xAC"},
        {"\xF0\x9F\x98", CS_UTF8_BAD},
        {"\xF0\x9F\x98z", CS_UTF8_BAD "z"},
        {"\xC0\xAF", CS_UTF8_BAD CS_UTF8_BAD},
        {"\xED\xA0\x80", CS_UTF8_BAD CS_UTF8_BAD CS_UTF8_BAD},
        {"\xF4\x90\x80\x80", CS_UTF8_BAD CS_UTF8_BAD CS_UTF8_BAD CS_UTF8_BAD},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        CS_AUTO_BUF struct cs_buf b = {0};
        struct cs_json_writer w = CS_JSON_WRITER(&b);
        cs_json_put_z(&w, cases[i].bytes);
        assert_int_equal(b.len, strlen(cases[i].written) + 2);
        assert_memory_equal(b.at + 1, cases[i].written, b.len - 2);
    }
}

/* Every string of bytes survives, or comes back as the same with U+FFFD in it. */
static void strings_survive_writing_and_reading(void **state)
{
    (void)state;
    for (int first = 0; first < 256; first++)
        for (int second = 0; second < 256; second++) {
            char bytes[24] = "0123456789abcd??xyz";
            bytes[14] = (char)first;
            bytes[15] = (char)second;
            CS_AUTO_BUF struct cs_buf b = {0};
            CS_AUTO_ARENA struct cs_arena arena = {0};
            CS_AUTO_JSON struct cs_json doc = {0};
            struct cs_err err = {0};
            struct cs_json_writer w = CS_JSON_WRITER(&b);
            cs_json_put_str(&w, cs_strn(bytes, 19));
            if (cs_json_parse(cs_buf_str(&b), NULL, &doc, &err) < 0)
                fail_msg("%02X %02X: %s", first, second, err.msg);
            if (first < 0x80 && second < 0x80)
                assert_true(cs_str_eq(cs_json_str(cs_json_root(&doc), &arena), cs_strn(bytes, 19)));
        }
}

static void check_double(double v, const char *expected)
{
    CS_AUTO_BUF struct cs_buf b = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&b);
    cs_json_put_f64(&w, v);
    if (expected)
        assert_string_equal(cs_buf_cstr(&b), expected);
    CS_AUTO_JSON struct cs_json doc = parsed(cs_buf_cstr(&b));
    double back;
    assert_true(cs_json_f64(cs_json_root(&doc), &back));
    assert_memory_equal(&back, &v, sizeof v);
}

static void doubles_are_written_short_and_read_back(void **state)
{
    (void)state;
    check_double(0, "0");
    check_double(-0.0, "-0");
    check_double(1, "1");
    check_double(-1.5, "-1.5");
    check_double(0.1, "0.1");
    check_double(0.1 + 0.2, "0.30000000000000004");
    check_double(1.0 / 3, "0.3333333333333333");
    check_double(100, "100");
    check_double(1e15, "1000000000000000");
    check_double(9007199254740992.0, "9007199254740992");
    check_double(1e21, "1e+21");
    check_double(5e-324, "5e-324");
    check_double(DBL_MAX, "1.7976931348623157e+308");
    check_double(DBL_MIN, "2.2250738585072014e-308");
    check_double(123456.789, "123456.789");
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double v;
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v))
            check_double(v, NULL);
    }
}

static void what_is_no_number_is_written_as_null(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&b);
    cs_json_open(&w, '[');
    cs_json_put_f64(&w, NAN);
    cs_json_put_f64(&w, INFINITY);
    cs_json_put_f64(&w, -INFINITY);
    cs_json_close(&w, ']');
    assert_string_equal(cs_buf_cstr(&b), "[null,null,null]");
}

static void pretty_indents_by_two(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_json_pretty(CS_STR("{\"a\":[1,{\"b\":[ ],\"c\":{\n}}, \"x: , {\\\"\"],\"d\":null}"), &b);
    assert_string_equal(cs_buf_cstr(&b), "{\n"
                                         "  \"a\": [\n"
                                         "    1,\n"
                                         "    {\n"
                                         "      \"b\": [],\n"
                                         "      \"c\": {}\n"
                                         "    },\n"
                                         "    \"x: , {\\\"\"\n"
                                         "  ],\n"
                                         "  \"d\": null\n"
                                         "}");
    cs_buf_clear(&b);
    cs_json_pretty(CS_STR(" 42 "), &b);
    assert_string_equal(cs_buf_cstr(&b), "42");
}

/* It is trusted to be valid, but a mistake of ours must not become one of memory. */
static void one_line_is_one_line_for_every_reader(void **state)
{
    static const struct {
        const char *json, *line;
    } rows[] = {
        {"{}", "{}"},
        {"{\n \"a\":\r\n1}", "{  \"a\":  1}"},
        {"\"x\xE2\x80\xA8y\xE2\x80\xA9z\xC2\x85\"", "\"x\\u2028y\\u2029z\\u0085\""},
        {"\"\xE2\x82\xAC \xC3\xA4 \xC2\xA7\"", "\"\xE2\x82\xAC \xC3\xA4 \xC2\xA7\""},
        {"\xE2", "\xE2"},
        {"\xC2", "\xC2"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CS_AUTO_BUF struct cs_buf b = {0};
        cs_json_line(&b, cs_str(rows[i].json));
        assert_true(cs_str_is(cs_buf_str(&b), rows[i].line));
    }
}

static void pretty_survives_what_is_not_json(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\"", "\"\\", "]]]]", "}{", "[\"a", ",:,:", "\\\"\\"};
    for (size_t i = 0; i < CS_COUNT(texts); i++) {
        CS_AUTO_BUF struct cs_buf b = {0};
        CS_AUTO_FREE char *copy = malloc(strlen(texts[i]) + 1);
        memcpy(copy, texts[i], strlen(texts[i]) + 1);
        cs_json_pretty(cs_strn(copy, strlen(copy)), &b);
    }
}

static void utf8_lengths_follow_the_standard(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        if (c == 0xD800)
            c = 0xE000;
        char bytes[4];
        unsigned n = cs_utf8_put(bytes, c);
        if (cs_utf8_len(bytes, n) != (int)n)
            fail_msg("U+%04X", c);
        if (n > 1 && cs_utf8_len(bytes, n - 1) >= 0)
            fail_msg("U+%04X cut short", c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_told_apart),
        cmocka_unit_test(members_are_found_by_key),
        cmocka_unit_test(nothing_can_be_asked_anything),
        cmocka_unit_test(walking_an_object_gives_keys_and_values_in_order),
        cmocka_unit_test(strings_without_escapes_are_slices),
        cmocka_unit_test(escapes_become_what_they_mean),
        cmocka_unit_test(comparing_needs_the_whole_string),
        cmocka_unit_test(integers_fit_exactly_or_not_at_all),
        cmocka_unit_test(doubles_are_the_nearest),
        cmocka_unit_test(errors_say_where_and_what_was_expected),
        cmocka_unit_test(depth_errors_name_the_limit),
        cmocka_unit_test(with_duplicates_allowed_the_last_one_counts),
        cmocka_unit_test(duplicates_are_found_at_every_width),
        cmocka_unit_test(hostile_wide_objects_do_not_take_quadratic_time),
        cmocka_unit_test(the_writer_places_commas),
        cmocka_unit_test(the_writer_escapes_what_must_be),
        cmocka_unit_test(the_writer_replaces_broken_utf8),
        cmocka_unit_test(strings_survive_writing_and_reading),
        cmocka_unit_test(doubles_are_written_short_and_read_back),
        cmocka_unit_test(what_is_no_number_is_written_as_null),
        cmocka_unit_test(one_line_is_one_line_for_every_reader),
        cmocka_unit_test(pretty_indents_by_two),
        cmocka_unit_test(pretty_survives_what_is_not_json),
        cmocka_unit_test(utf8_lengths_follow_the_standard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

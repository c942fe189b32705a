/* RFC 8785: its own examples, and numbers whose shortest form is not the rounded one. */
#include "base/canon.h"

#include "base/hash.h"
#include "test.h"

static void assert_canon(const char *in, const char *out)
{
    CS_AUTO_BUF struct cs_buf canon = {0};
    struct cs_err err = {0};
    if (cs_canon(cs_str(in), &canon, &err) < 0)
        fail_msg("%s: %s", in, err.msg);
    if (!cs_str_is(cs_buf_str(&canon), out))
        fail_msg("%s: \"%s\" is not \"%s\"", in, cs_buf_cstr(&canon), out);
}

/* Section 3.2.2 and 3.2.3. */
static void the_examples_of_the_rfc(void **state)
{
    (void)state;
    assert_canon(
        "{\n"
        "  \"numbers\": [333333333.33333329, 1E30, 4.50,\n"
        "              2e-3, 0.000000000000000000000000001],\n"
        "  \"string\": \"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\",\n"
        "  \"literals\": [null, true, false]\n"
        "}",
        "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-"
        "27],\"string\":\"\xE2\x82\xAC$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
    assert_canon("{\"\\u20ac\": \"Euro Sign\", \"\\r\": \"Carriage Return\", \"\\ufb33\": \"Hebrew "
                 "Letter Dalet With Dagesh\", \"1\": \"One\", \"\\ud83d\\ude00\": \"Emoji: "
                 "Grinning Face\", \"\\u0080\": \"Control\", \"\\u00f6\": \"Latin Small Letter O "
                 "With Diaeresis\"}",
                 "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xC2\x80\":\"Control\",\"\xC3\xB6\":"
                 "\"Latin Small Letter O With Diaeresis\",\"\xE2\x82\xAC\":\"Euro Sign\",\"\xF0\x9F"
                 "\x98\x80\":\"Emoji: Grinning Face\",\"\xEF\xAC\xB3\":\"Hebrew Letter Dalet With "
                 "Dagesh\"}");
}

/* Appendix B: the bits of a double, and how it is written. */
static void the_numbers_of_the_rfc(void **state)
{
    (void)state;
    static const struct {
        uint64_t bits;
        const char *text;
    } rows[] = {
        {0x0000000000000000, "0"},
        {0x8000000000000000, "0"},
        {0x0000000000000001, "5e-324"},
        {0x8000000000000001, "-5e-324"},
        {0x7fefffffffffffff, "1.7976931348623157e+308"},
        {0xffefffffffffffff, "-1.7976931348623157e+308"},
        {0x4340000000000000, "9007199254740992"},
        {0xc340000000000000, "-9007199254740992"},
        {0x4430000000000000, "295147905179352830000"},
        {0x44b52d02c7e14af5, "9.999999999999997e+22"},
        {0x44b52d02c7e14af6, "1e+23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        {0x444b1ae4d6e2ef4e, "999999999999999700000"},
        {0x444b1ae4d6e2ef4f, "999999999999999900000"},
        {0x444b1ae4d6e2ef50, "1e+21"},
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        {0x3eb0c6f7a0b5ed8d, "0.000001"},
        {0x41b3de4355555553, "333333333.3333332"},
        {0x41b3de4355555554, "333333333.33333325"},
        {0x41b3de4355555555, "333333333.3333333"},
        {0x41b3de4355555556, "333333333.3333334"},
        {0x41b3de4355555557, "333333333.33333343"},
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
        {0x43143ff3c1cb0959, "1424953923781206.2"},
        {0x3d30000000000000, "5.684341886080802e-14"}, /* a power of two: rounded up */
        {0x0010000000000000, "2.2250738585072014e-308"},
        {0x3ff0000000000001, "1.0000000000000002"},
        {0x43b0000000000000, "1152921504606847000"},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        double v;
        char in[40];
        memcpy(&v, &rows[i].bits, sizeof v);
        snprintf(in, sizeof in, "%.17g", v);
        assert_canon(in, rows[i].text);
    }
}

static void of_one_name_the_last_counts(void **state)
{
    (void)state;
    assert_canon("{\"b\":1,\"a\":2,\"b\":3,\"\\u0061\":4}", "{\"a\":4,\"b\":3}");
    assert_canon(" [ ] ", "[]");
    assert_canon("{\"a\":{},\"\":[[],{}]}", "{\"\":[[],{}],\"a\":{}}");
    assert_canon("\"\\ud800x\\u2028\\u007f\"", "\"\xEF\xBF\xBDx\xE2\x80\xA8\x7F\"");
}

static void deep_and_wide_is_no_matter(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf in = {0}, out = {0};
    for (int i = 0; i < 3999; i++)
        cs_buf_puts(&in, i % 2 ? "[" : "{\"a\":");
    cs_buf_puts(&in, "1");
    for (int i = 3998; i >= 0; i--)
        cs_buf_puts(&in, i % 2 ? "]" : "}");
    assert_int_equal(cs_canon(cs_buf_str(&in), &out, NULL), 0);
    assert_true(cs_str_eq(cs_buf_str(&in), cs_buf_str(&out)));
    cs_buf_clear(&in);
    cs_buf_clear(&out);
    cs_buf_putc(&in, '{');
    for (int i = 20000; i > 0; i--)
        cs_buf_printf(&in, "%s\"k%d\":%d", i < 20000 ? "," : "", i % 5000, i);
    cs_buf_putc(&in, '}');
    assert_int_equal(cs_canon(cs_buf_str(&in), &out, NULL), 0);
    assert_true(cs_str_starts(cs_buf_str(&out), "{\"k0\":5000,\"k1\":1,\"k10\":10,"));
}

static void what_is_no_json_is_hashed_as_it_is(void **state)
{
    (void)state;
    unsigned char a[32], b[32];
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_canon_hash(CS_STR("{ \"b\": 1.0, \"a\": 2 }"), a);
    cs_sha256(CS_STR("{\"a\":2,\"b\":1}"), b);
    assert_memory_equal(a, b, 32);
    cs_canon_hash(CS_STR("hello"), a);
    cs_sha256(CS_STR("hello"), b);
    assert_memory_equal(a, b, 32);
    assert_int_equal(cs_canon(CS_STR("[1e400]"), &out, &err), -1);
    assert_int_equal(err.code, CS_INVALID);
    assert_int_equal(out.len, 0);
    cs_canon_hash(CS_STR("[1e400]"), a);
    cs_sha256(CS_STR("[1e400]"), b);
    assert_memory_equal(a, b, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(the_examples_of_the_rfc),
        CS_TEST(the_numbers_of_the_rfc),
        CS_TEST(of_one_name_the_last_counts),
        CS_TEST(deep_and_wide_is_no_matter),
        CS_TEST(what_is_no_json_is_hashed_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

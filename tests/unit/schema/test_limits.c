/* Hostile schemas and values end, soon, and with an error that says so. */
#include "schema_cases.h"

#include <time.h>

#include "base/buf.h"

/* With sanitizers, on a busy machine. Without, all of these take some ten milliseconds. */
#define SECONDS 10.0

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void ends_with(struct cs_str schema, struct cs_str value, int count)
{
    AUTO_OUTCOME o;
    double start = now();
    check_with(&o, schema, value, NULL);
    double took = now() - start;
    if (getenv("CS_TEST_TIMES"))
        printf("    %.3f s: %s\n", took, o.err.msg);
    if (o.count != count)
        fail_msg("%d instead of %d: %s", o.count, count, o.err.msg);
    if (count < 0) {
        assert_int_equal(o.err.code, CS_LIMIT);
        assert_true(o.err.msg[0]);
    }
    assert_true(took < SECONDS);
}

static void gives_up(const char *schema, const char *value)
{
    ends_with(cs_str(schema), cs_str(value), -1);
}

static void repeat(struct cs_buf *b, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        cs_buf_puts(b, text);
}

static void references_that_go_round_end(void **state)
{
    (void)state;
    gives_up("{\"$ref\":\"#\"}", "1");
    gives_up("{\"allOf\":[{\"$ref\":\"#/$defs/a\"}],\"$defs\":{\"a\":{\"$ref\":\"#\"}}}", "1");
    gives_up("{\"not\":{\"$ref\":\"#\"}}", "1");
    gives_up("{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}", "1");
    gives_up("{\"$dynamicAnchor\":\"a\",\"if\":{\"$dynamicRef\":\"#a\"}}", "1");
    gives_up("{\"unevaluatedProperties\":{\"$ref\":\"#\"},\"dependentSchemas\":"
             "{\"a\":{\"$ref\":\"#\"}}}",
             "{\"a\":1}");
}

static void doubling_alternatives_end(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf schema = {0};
    cs_buf_puts(&schema, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (int i = 0; i < 40; i++)
        cs_buf_printf(
            &schema, "\"d%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]},",
            i, i + 1, i + 1);
    cs_buf_puts(&schema, "\"d40\":{\"type\":\"string\"}}}");
    ends_with(cs_buf_str(&schema), CS_STR("1"), -1);
    /* The same with what was seen to be gathered. */
    cs_buf_clear(&schema);
    cs_buf_puts(&schema, "{\"unevaluatedItems\":false,\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (int i = 0; i < 40; i++)
        cs_buf_printf(
            &schema, "\"d%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]},",
            i, i + 1, i + 1);
    cs_buf_puts(&schema, "\"d40\":true}}");
    ends_with(cs_buf_str(&schema), CS_STR("[1,2,3]"), -1);
}

static void catastrophic_patterns_end(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf value = {0};
    static const char *const patterns[] = {
        "{\"pattern\":\"^(a+)+$\"}",        "{\"pattern\":\"^(a|aa)+$\"}",
        "{\"pattern\":\"(a*)*[bc]\"}",      "{\"pattern\":\"(.*)(.*)(.*)(.*)(.*)[^a!][xy]\"}",
        "{\"pattern\":\"^((a)\\\\2?)*$\"}", "{\"pattern\":\"(?=(a+)+[bc])a\"}"};
    cs_buf_putc(&value, '"');
    repeat(&value, "a", 5000);
    cs_buf_puts(&value, "!\"");
    for (size_t i = 0; i < CS_COUNT(patterns); i++)
        ends_with(cs_str(patterns[i]), cs_buf_str(&value), -1);
}

/* Quadratic without any backtracking: each start reads to the end. */
static void slow_searches_end(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf value = {0};
    cs_buf_putc(&value, '"');
    repeat(&value, "a", 1 << 20);
    cs_buf_putc(&value, '"');
    ends_with(CS_STR("{\"pattern\":\"[a-y]+[0-9]\"}"), cs_buf_str(&value), -1);
    ends_with(CS_STR("{\"pattern\":\"a*[^a]\"}"), cs_buf_str(&value), -1);
}

static void large_classes_are_paid_for(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf schema = {0}, value = {0};
    cs_buf_puts(&schema, "{\"pattern\":\"^[");
    for (int i = 0; i < 2000; i++)
        cs_buf_printf(&schema, "\\\\u%04x", 0x1000 + 2 * i);
    cs_buf_puts(&schema, "]*$\"}");
    cs_buf_putc(&value, '"');
    repeat(&value, "\xe1\xbe\x9e", 500000); /* U+1F9E, the last but one */
    cs_buf_puts(&value, "!\"");
    AUTO_OUTCOME o;
    double start = now();
    check_with(&o, cs_buf_str(&schema), cs_buf_str(&value), NULL);
    assert_true(o.count == -1 || o.count == 1);
    assert_true(now() - start < SECONDS);
}

static void many_patterns_on_many_names_end(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf schema = {0}, value = {0};
    cs_buf_puts(&schema, "{\"patternProperties\":{");
    for (int i = 0; i < 2000; i++)
        cs_buf_printf(&schema, "%s\"x%d$\":{}", i ? "," : "", i);
    cs_buf_puts(&schema, "}}");
    cs_buf_putc(&value, '{');
    for (int i = 0; i < 20000; i++)
        cs_buf_printf(&value, "%s\"name%d\":1", i ? "," : "", i);
    cs_buf_putc(&value, '}');
    ends_with(cs_buf_str(&schema), cs_buf_str(&value), -1);
}

static void compiled_patterns_are_bounded(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf schema = {0};
    cs_buf_puts(&schema, "{\"allOf\":[{}");
    for (int i = 0; i < 2000; i++)
        cs_buf_printf(&schema, ",{\"pattern\":\"(?:%da{2}b){1000}\"}", i);
    cs_buf_puts(&schema, "]}");
    ends_with(cs_buf_str(&schema), CS_STR("1"), -2);
}

static void deep_values_end(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf value = {0};
    repeat(&value, "[", 50000);
    repeat(&value, "]", 50000);
    ends_with(CS_STR("{\"items\":{\"$ref\":\"#\"}}"), cs_buf_str(&value), -1);
    cs_buf_clear(&value);
    cs_buf_putc(&value, '[');
    repeat(&value, "[", 50000);
    repeat(&value, "]", 50000);
    cs_buf_puts(&value, ",1]");
    ends_with(CS_STR("{\"uniqueItems\":true}"), cs_buf_str(&value), -1);
}

/* Deep, and yet fine: 200 levels of a tree of objects. */
static void deep_trees_fit(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf value = {0};
    repeat(&value, "{\"children\":[", 100);
    repeat(&value, "]}", 100);
    ends_with(CS_STR("{\"$ref\":\"#/$defs/tree\",\"$defs\":{\"tree\":{\"type\":\"object\","
                     "\"properties\":{\"children\":{\"anyOf\":[{\"type\":\"array\",\"items\":"
                     "{\"$ref\":\"#/$defs/tree\"}},{\"type\":\"null\"}]}},"
                     "\"additionalProperties\":false}}}"),
              cs_buf_str(&value), 0);
}

static void equal_elements_are_found_among_many(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf value = {0};
    cs_buf_putc(&value, '[');
    for (int i = 0; i < 100000; i++)
        cs_buf_printf(&value, "{\"a\":%d,\"b\":[%d]},", i, i + 1);
    cs_buf_puts(&value, "0]");
    ends_with(CS_STR("{\"uniqueItems\":true}"), cs_buf_str(&value), 0);
    value.len -= 2;
    cs_buf_puts(&value, "{\"b\":[4.0e0],\"a\":3}]");
    ends_with(CS_STR("{\"uniqueItems\":true}"), cs_buf_str(&value), 1);
}

static void wide_objects_in_another_order_end(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf schema = {0}, value = {0};
    cs_buf_puts(&schema, "{\"const\":{");
    cs_buf_putc(&value, '{');
    for (int i = 0; i < 20000; i++) {
        cs_buf_printf(&schema, "%s\"n%d\":1", i ? "," : "", i);
        cs_buf_printf(&value, "%s\"n%d\":1", i ? "," : "", 19999 - i);
    }
    cs_buf_puts(&schema, "}}");
    cs_buf_putc(&value, '}');
    ends_with(cs_buf_str(&schema), cs_buf_str(&value), -1);
}

static void escaped_text_is_not_copied_without_end(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf schema = {0}, value = {0};
    cs_buf_puts(&schema, "{\"allOf\":[{}");
    repeat(&schema, ",{\"minLength\":3000000}", 5000);
    cs_buf_puts(&schema, "]}");
    cs_buf_puts(&value, "\"\\n");
    repeat(&value, "aaaaaaaaaaaaaaaa", 1 << 18);
    cs_buf_putc(&value, '"');
    ends_with(cs_buf_str(&schema), cs_buf_str(&value), -1);
}

static void compiling_is_not_quadratic(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf schema = {0};
    cs_buf_puts(&schema, "{\"allOf\":[{}");
    for (int i = 0; i < 40000; i++)
        cs_buf_printf(&schema, ",{\"$ref\":\"#/$defs/d%d\"}", i);
    cs_buf_puts(&schema, "],\"$defs\":{\"x\":{}");
    for (int i = 0; i < 40000; i++)
        cs_buf_printf(&schema, ",\"d%d\":{\"type\":\"integer\"}", i);
    cs_buf_puts(&schema, "}}");
    ends_with(cs_buf_str(&schema), CS_STR("1"), 0);
}

static void sizes_are_bounded(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf schema = {0};
    cs_buf_puts(&schema, "{\"allOf\":[{}");
    repeat(&schema, ",true", 120000);
    cs_buf_puts(&schema, "]}");
    ends_with(cs_buf_str(&schema), CS_STR("1"), -2);
    cs_buf_clear(&schema);
    repeat(&schema, "{\"not\":", 5000);
    cs_buf_puts(&schema, "true");
    repeat(&schema, "}", 5000);
    ends_with(cs_buf_str(&schema), CS_STR("1"), -2);
    cs_buf_clear(&schema);
    cs_buf_puts(&schema, "{\"title\":\"");
    repeat(&schema, "x", CS_SCHEMA_BYTES);
    cs_buf_puts(&schema, "\"}");
    ends_with(cs_buf_str(&schema), CS_STR("1"), -2);
    /* Short names on a long base. */
    cs_buf_clear(&schema);
    cs_buf_puts(&schema, "{\"$id\":\"http://");
    repeat(&schema, "x", 10000);
    cs_buf_puts(&schema, "/\",\"allOf\":[{}");
    for (int i = 0; i < 20000; i++)
        cs_buf_printf(&schema, ",{\"$id\":\"%d\"}", i);
    cs_buf_puts(&schema, "]}");
    ends_with(cs_buf_str(&schema), CS_STR("1"), -2);
}

/* However long it takes to find faults, at least one is told. */
static void explaining_is_bounded_too(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf schema = {0}, value = {0};
    cs_buf_puts(&schema, "{\"additionalProperties\":false,\"properties\":{\"x\":{}");
    for (int i = 0; i < 20000; i++)
        cs_buf_printf(&schema, ",\"a_long_property_name_with_the_number_%d\":{}", i);
    cs_buf_puts(&schema, "}}");
    cs_buf_putc(&value, '{');
    for (int i = 0; i < 20000; i++)
        cs_buf_printf(&value, "%s\"a_lnog_property_name_with_the_number_%d\":1", i ? "," : "", i);
    cs_buf_putc(&value, '}');
    AUTO_OUTCOME o;
    double start = now();
    check_with(&o, cs_buf_str(&schema), cs_buf_str(&value), NULL);
    assert_true(o.count >= 1);
    assert_true(now() - start < SECONDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(references_that_go_round_end),
        CS_TEST(doubling_alternatives_end),
        CS_TEST(catastrophic_patterns_end),
        CS_TEST(slow_searches_end),
        CS_TEST(large_classes_are_paid_for),
        CS_TEST(many_patterns_on_many_names_end),
        CS_TEST(compiled_patterns_are_bounded),
        CS_TEST(deep_values_end),
        CS_TEST(deep_trees_fit),
        CS_TEST(equal_elements_are_found_among_many),
        CS_TEST(wide_objects_in_another_order_end),
        CS_TEST(escaped_text_is_not_copied_without_end),
        CS_TEST(compiling_is_not_quadratic),
        CS_TEST(sizes_are_bounded),
        CS_TEST(explaining_is_bounded_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

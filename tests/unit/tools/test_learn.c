#include "test.h"

#include "base/json.h"
#include "tools/declare.h"
#include "tools/learn.h"

static void learn(struct cs_buf *schema, const char *value)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf merged = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_json_parse(cs_str(value), NULL, &doc, &err), 0);
    if (cs_learn(cs_buf_str(schema), cs_json_root(&doc), &merged, &err) < 0)
        fail_msg("%s", err.msg);
    cs_buf_clear(schema);
    cs_buf_putstr(schema, cs_buf_str(&merged));
}

#define assert_learned(schema, wanted, ...)                              \
    do {                                                                 \
        static const char *const values_[] = {__VA_ARGS__};              \
        for (size_t i_ = 0; i_ < sizeof values_ / sizeof *values_; i_++) \
            learn(&(schema), values_[i_]);                               \
        assert_string_equal(cs_buf_cstr(&(schema)), (wanted));           \
    } while (0)

/* The TypeScript of a tool that answered like this. */
static const char *type_of(struct cs_buf *schema, struct cs_buf *out)
{
    struct cs_declaration tool = {.server = CS_STR("s"),
                                  .name = CS_STR("t"),
                                  .input = CS_STR("{}"),
                                  .output = cs_buf_str(schema),
                                  .learned = 3};
    struct cs_err err = {0};
    assert_int_equal(cs_declare_tool(&tool, out, &err), 0);
    return cs_buf_cstr(out);
}

static void one_result_gives_its_shape(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf s = {0}, ts = {0};
    assert_learned(s,
                   "{\"type\":\"object\",\"properties\":{\"items\":{\"type\":\"array\",\"items\":{"
                   "\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},\"title\":{"
                   "\"type\":\"string\"}},\"required\":[\"id\",\"title\"]}},\"total\":{\"type\":"
                   "\"integer\"}},\"required\":[\"items\",\"total\"]}",
                   "{\"total\": 2, \"items\": [{\"id\": 1, \"title\": \"a\"}, {\"title\": \"b\", "
                   "\"id\": 2}]}");
    assert_contains(type_of(&s, &ts), "@learned from 3 results");
    assert_contains(type_of(&s, &ts), "items: { id: number; title: string }[];");
}

static void a_key_that_is_not_always_there_is_optional(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf s = {0}, ts = {0};
    learn(&s, "[{\"id\":1,\"body\":\"x\"},{\"id\":2}]");
    learn(&s, "[{\"id\":3,\"labels\":[]}]");
    assert_contains(type_of(&s, &ts), "{ body?: string; id: number; labels?: unknown[] }[]");
    learn(&s, "[{\"id\":3,\"labels\":[\"bug\"]}]");
    cs_buf_clear(&ts);
    assert_contains(type_of(&s, &ts), "{ body?: string; id: number; labels?: string[] }[]");
}

static void kinds_are_merged(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf number = {0}, maybe = {0}, many = {0}, mixed = {0};
    assert_learned(number, "{\"type\":\"number\"}", "1", "2.5", "3");
    assert_learned(maybe, "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "null",
                   "\"x\"", "null");
    assert_learned(mixed,
                   "{\"anyOf\":[{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"boolean\"}},"
                   "\"required\":[\"a\"]},{\"type\":\"string\"}]}",
                   "{\"a\":true}", "\"error\"");
    assert_learned(many, "{}", "null", "true", "1", "\"x\"", "[]");
}

static void unknown_stays_unknown(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf s = {0};
    assert_learned(s, "{}", "null", "true", "1", "\"x\"", "[]", "{}", "5");
}

static void the_order_of_keys_and_of_equal_results_does_not_matter(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf a = {0}, b = {0};
    learn(&a, "{\"x\":1,\"y\":{\"p\":null,\"q\":[1]}}");
    learn(&a, "{\"y\":{\"q\":[\"s\"]},\"z\":true}");
    learn(&b, "{\"z\":true,\"y\":{\"q\":[\"s\"]}}");
    learn(&b, "{\"y\":{\"q\":[1],\"p\":null},\"x\":1}");
    assert_string_equal(cs_buf_cstr(&a), cs_buf_cstr(&b));
}

static void no_value_and_no_personal_key_gets_in(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf s = {0};
    learn(&s, "{\"users\":{\"ada@example.com\":{\"age\":36,\"city\":\"Secretville\"}},"
              "\"days\":{\"2025-01-31\":4},\"ids\":{\"u_1234567\":1},\"paths\":{\"/home/ada\":2}}");
    const char *text = cs_buf_cstr(&s);
    assert_null(strstr(text, "ada"));
    assert_null(strstr(text, "Secretville"));
    assert_null(strstr(text, "2025"));
    assert_null(strstr(text, "1234567"));
    assert_contains(text, "\"users\":{\"type\":\"object\",\"additionalProperties\":{\"type\":"
                          "\"object\",\"properties\":{\"age\"");
    learn(&s, "{\"users\":{\"plain\":{\"age\":1.5}}}");
    assert_null(strstr(cs_buf_cstr(&s), "plain"));
}

static void many_keys_are_a_map(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf s = {0}, v = {0};
    cs_buf_putc(&v, '{');
    for (int i = 0; i < 61; i++)
        cs_buf_printf(&v, "%s\"k%c%c\":%d", i ? "," : "", 'a' + i / 26, 'a' + i % 26, i);
    cs_buf_putc(&v, '}');
    learn(&s, cs_buf_cstr(&v));
    assert_string_equal(cs_buf_cstr(&s),
                        "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}");
}

static void fields_that_gather_over_time_become_a_map_too(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf s = {0};
    for (int i = 0; i < 70; i++) {
        char value[64];
        snprintf(value, sizeof value, "{\"k%c%c\":%s}", 'a' + i / 26, 'a' + i % 26,
                 i % 2 ? "1" : "\"s\"");
        learn(&s, value);
    }
    assert_contains(cs_buf_cstr(&s), "{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":");
}

static void deep_wide_and_long_results_stay_small(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf s = {0}, v = {0};
    for (int i = 0; i < 100; i++)
        cs_buf_puts(&v, "{\"a\":");
    cs_buf_puts(&v, "1");
    for (int i = 0; i < 100; i++)
        cs_buf_puts(&v, "}");
    learn(&s, cs_buf_cstr(&v));
    assert_true(s.len < 2000);

    cs_buf_clear(&s);
    cs_buf_clear(&v);
    cs_buf_putc(&v, '[');
    for (int i = 0; i < 20000; i++)
        cs_buf_printf(&v, "{\"id\":%d,\"tags\":[\"a\",\"b\"],\"o\":{\"p\":1}},", i);
    cs_buf_puts(&v, "{\"id\":null}]");
    learn(&s, cs_buf_cstr(&v));
    /* The last element was seen, and the first; the fields are no `unknown`. */
    assert_contains(cs_buf_cstr(&s), "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}");
    assert_contains(cs_buf_cstr(&s),
                    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}");
}

/* 50 times 50 keys: more than may be kept. */
static void a_schema_that_would_be_large_loses_its_depth(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf s = {0};
    for (int top = 0; top < 50; top++) {
        CS_AUTO_BUF struct cs_buf v = {0};
        cs_buf_printf(&v, "{\"%060d_%c%c\":{", 0, 'a' + top / 26, 'a' + top % 26);
        v.at[2] = 'k';
        memset(v.at + 3, 'x', 59);
        for (int i = 0; i < 50; i++)
            cs_buf_printf(&v, "%s\"field_of_a_longer_name_%c%c\":[1]", i ? "," : "", 'a' + i / 26,
                          'a' + i % 26);
        cs_buf_puts(&v, "}}");
        learn(&s, cs_buf_cstr(&v));
        assert_true(s.len <= CS_LEARN_BYTES);
    }
    assert_contains(cs_buf_cstr(&s), "_aa\":{}");
}

static void a_foreign_schema_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{\"type\":\"strange\"}",
        "{\"type\":\"string\",\"enum\":[\"a\"]}",
        "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"string\"}]}",
        "{\"anyOf\":[]}",
        "{\"type\":\"object\",\"properties\":{},\"required\":[\"a\"]}",
        "{\"type\":\"array\",\"items\":7}",
        "[]",
        "{",
        "nothing",
    };
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        CS_AUTO_JSON struct cs_json doc = {0};
        CS_AUTO_BUF struct cs_buf merged = {0};
        struct cs_err err = {0};
        assert_int_equal(cs_json_parse(CS_STR("1"), NULL, &doc, &err), 0);
        if (cs_learn(cs_str(bad[i]), cs_json_root(&doc), &merged, &err) == 0)
            fail_msg("%s was accepted", bad[i]);
        assert_int_equal(err.code, CS_INVALID);
        assert_int_equal(merged.len, 0);
    }
}

/* --- every value seen fits --- */

static bool fits(struct cs_json_val schema, struct cs_json_val v);

static bool fits_type(struct cs_json_val schema, struct cs_json_val v)
{
    struct cs_json_val type = cs_json_get(schema, "type"), key, item;
    struct cs_json_iter it = {0};
    int64_t whole;
    switch (cs_json_type(v)) {
    case CS_JSON_NULL:
        return cs_json_is(type, "null");
    case CS_JSON_TRUE:
    case CS_JSON_FALSE:
        return cs_json_is(type, "boolean");
    case CS_JSON_NUMBER:
        return cs_json_is(type, "number") ||
               (cs_json_is(type, "integer") && cs_json_i64(v, &whole));
    case CS_JSON_STRING:
        return cs_json_is(type, "string");
    case CS_JSON_ARRAY:
        if (!cs_json_is(type, "array"))
            return false;
        if (cs_json_type(cs_json_get(schema, "maxItems")) != CS_JSON_NONE && cs_json_count(v))
            return false;
        while (cs_json_next(v, &it, NULL, &item)) {
            if (!fits(cs_json_get(schema, "items"), item))
                return false;
        }
        return true;
    case CS_JSON_OBJECT:
        break;
    case CS_JSON_NONE:
        return false;
    }
    if (!cs_json_is(type, "object"))
        return false;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_val properties = cs_json_get(schema, "properties");
    while (cs_json_next(v, &it, &key, &item)) {
        struct cs_json_val own = cs_json_get(
            properties,
            cs_json_str(key, &arena).at ? cs_arena_dup(&arena, cs_json_str(key, &arena)).at : "");
        if (cs_json_type(own) == CS_JSON_NONE)
            own = cs_json_get(schema, "additionalProperties");
        /* Every key was seen, so that every key is known. */
        if (cs_json_type(own) == CS_JSON_NONE || !fits(own, item))
            return false;
    }
    it = (struct cs_json_iter){0};
    struct cs_json_val required = cs_json_get(schema, "required");
    while (cs_json_next(required, &it, NULL, &item)) {
        if (cs_json_type(cs_json_get(v, cs_arena_dup(&arena, cs_json_str(item, &arena)).at)) ==
            CS_JSON_NONE)
            return false;
    }
    return true;
}

static bool fits(struct cs_json_val schema, struct cs_json_val v)
{
    struct cs_json_val list = cs_json_get(schema, "anyOf"), item;
    struct cs_json_iter it = {0};
    if (cs_json_type(schema) == CS_JSON_OBJECT && cs_json_count(schema) == 0)
        return true;
    if (cs_json_type(list) == CS_JSON_NONE)
        return fits_type(schema, v);
    while (cs_json_next(list, &it, NULL, &item)) {
        if (fits_type(item, v))
            return true;
    }
    return false;
}

static uint32_t random_state;

static uint32_t below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 10) % n;
}

static void random_value(struct cs_buf *out, unsigned depth)
{
    static const char *const scalars[] = {
        "null", "true",  "false",    "0",    "-7",
        "1.5",  "1e300", "\"text\"", "\"\"", "12345678901234567890"};
    static const char *const keys[] = {"id",          "name",    "a b",       "__proto__",
                                       "x-y",         "\\u00e9", "7seven",    "k\\\"q",
                                       "a@b.example", "",        "long_name", "z"};
    uint32_t kind = depth > 14 ? 0 : below(4);
    if (kind < 2) {
        cs_buf_puts(out, scalars[below(CS_COUNT(scalars))]);
        return;
    }
    cs_buf_putc(out, kind == 2 ? '[' : '{');
    bool used[CS_COUNT(keys)] = {false};
    bool comma = false;
    for (uint32_t n = below(4); n > 0; n--) {
        uint32_t k = below(CS_COUNT(keys));
        if (kind == 3 && used[k])
            continue;
        used[k] = true;
        cs_buf_puts(out, comma ? "," : "");
        comma = true;
        if (kind == 3)
            cs_buf_printf(out, "\"%s\":", keys[k]);
        random_value(out, depth + 1);
    }
    cs_buf_putc(out, kind == 2 ? ']' : '}');
}

static void after_any_results_each_of_them_fits(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        CS_AUTO_BUF struct cs_buf schema = {0};
        struct cs_buf values[6] = {{0}};
        random_state = round * 2654435761u + 1;
        for (size_t i = 0; i < CS_COUNT(values); i++) {
            random_value(&values[i], 0);
            learn(&schema, cs_buf_cstr(&values[i]));
        }
        CS_AUTO_JSON struct cs_json s = {0};
        assert_int_equal(cs_json_parse(cs_buf_str(&schema), NULL, &s, NULL), 0);
        for (size_t i = 0; i < CS_COUNT(values); i++) {
            CS_AUTO_JSON struct cs_json v = {0};
            assert_int_equal(cs_json_parse(cs_buf_str(&values[i]), NULL, &v, NULL), 0);
            if (!fits(cs_json_root(&s), cs_json_root(&v)))
                fail_msg("round %u: %s does not fit %s", round, cs_buf_cstr(&values[i]),
                         cs_buf_cstr(&schema));
            cs_buf_done(&values[i]);
        }
    }
}

static void learning_the_same_again_changes_nothing(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 100; round++) {
        CS_AUTO_BUF struct cs_buf schema = {0}, again = {0}, value = {0};
        random_state = round * 40503u + 9;
        random_value(&value, 0);
        learn(&schema, cs_buf_cstr(&value));
        cs_buf_putstr(&again, cs_buf_str(&schema));
        learn(&again, cs_buf_cstr(&value));
        assert_string_equal(cs_buf_cstr(&again), cs_buf_cstr(&schema));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(one_result_gives_its_shape),
        CS_TEST(a_key_that_is_not_always_there_is_optional),
        CS_TEST(kinds_are_merged),
        CS_TEST(unknown_stays_unknown),
        CS_TEST(the_order_of_keys_and_of_equal_results_does_not_matter),
        CS_TEST(no_value_and_no_personal_key_gets_in),
        CS_TEST(many_keys_are_a_map),
        CS_TEST(fields_that_gather_over_time_become_a_map_too),
        CS_TEST(deep_wide_and_long_results_stay_small),
        CS_TEST(a_schema_that_would_be_large_loses_its_depth),
        CS_TEST(a_foreign_schema_is_refused),
        CS_TEST(after_any_results_each_of_them_fits),
        CS_TEST(learning_the_same_again_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"

#include <time.h>

#include "base/mem.h"
#include "base/own.h"
#include "compile/compile.h"
#include "tools/declare.h"

static struct cs_declaration tool_with(const char *input)
{
    return (struct cs_declaration){.server = CS_STR("github"),
                                   .name = CS_STR("list_commits"),
                                   .ident = CS_STR("listCommits"),
                                   .description = CS_STR("Lists commits."),
                                   .input = cs_str(input),
                                   .category = "read",
                                   .risk = "low"};
}

/* The file, which our own compiler must take. */
static const char *declared(const struct cs_declaration *tool, struct cs_buf *out)
{
    struct cs_err err = {0};
    cs_buf_clear(out);
    if (cs_declare_tool(tool, out, &err) < 0)
        fail_msg("%s", err.msg);
    struct cs_compiled c = {0};
    struct cs_diag d = {0};
    if (cs_compile(CS_COMPILE_MODULE, cs_buf_str(out), &c, &d) < 0)
        fail_msg("%u:%u: %s\n%s", d.line, d.column, d.message, cs_buf_cstr(out));
    cs_compiled_done(&c);
    return cs_buf_cstr(out);
}

static void a_tool_becomes_one_file(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_declaration tool = tool_with(
        "{\"$schema\":\"x\",\"type\":\"object\",\"properties\":{\"owner\":{\"type\":\"string\","
        "\"description\":\"Account\"},\"repo\":{\"type\":\"string\"},\"perPage\":{\"type\":"
        "\"integer\",\"minimum\":1,\"maximum\":100,\"default\":30,\"description\":\"Page size\"},"
        "\"sort\":{\"enum\":[\"asc\",\"desc\"]},\"where\":{\"type\":\"object\",\"properties\":{"
        "\"path\":{\"type\":\"string\",\"description\":\"A file\"}}}},\"required\":[\"owner\","
        "\"repo\"],\"additionalProperties\":false}");
    tool.output = CS_STR("{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
                         "\"sha\":{\"type\":\"string\"}},\"required\":[\"sha\"]}}");
    assert_string_equal(
        declared(&tool, &out),
        "/**\n"
        " * Lists commits.\n"
        " * @category read\n"
        " * @riskLevel low\n"
        " * @param input.owner - Account\n"
        " * @param input.repo\n"
        " * @param input.perPage - Page size (default 30, integer, 1 to 100)\n"
        " * @param input.sort\n"
        " * @param input.where\n"
        " * @example\n"
        " * const result = await listCommits({ owner: \"owner\", repo: \"repo\" });\n"
        " */\n"
        "export async function listCommits(input: ListCommitsInput): Promise<ListCommitsOutput> {\n"
        "  return caisson.callTool(\"github\", \"list_commits\", input);\n"
        "}\n"
        "export type ListCommitsInput = {\n"
        "  owner: string;\n"
        "  repo: string;\n"
        "  perPage?: number;\n"
        "  sort?: \"asc\" | \"desc\";\n"
        "  where?: {\n"
        "    /** A file */\n"
        "    path?: string;\n"
        "  };\n"
        "};\n"
        "export type ListCommitsOutput = { sha: string }[];\n"
        "export default listCommits;\n");
}

static void nothing_required_makes_the_input_optional(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_declaration tool = tool_with("{\"type\":\"object\",\"properties\":{}}");
    const char *text = declared(&tool, &out);
    assert_contains(text, "listCommits(input: ListCommitsInput = {})");
    assert_contains(text, "await listCommits();");
    assert_contains(text, "export type ListCommitsInput = {};");
    /* A program goes on with what nobody described. */
    assert_contains(text, "export type ListCommitsOutput = any;");
}

static void learned_types_are_marked(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_declaration tool = tool_with("{}");
    tool.output = CS_STR("{\"type\":\"string\"}");
    tool.learned = 12;
    assert_contains(declared(&tool, &out), " * @learned from 12 results\n");
    tool.learned = 0;
    assert_null(strstr(declared(&tool, &out), "@learned"));
}

/* Each schema as the property `x` of an input, required, and the type that it must get. */
static void schemas_become_types(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *type;
    } rows[] = {
        {"true", "x: unknown"},
        {"false", "x: never"},
        {"{}", "x: unknown"},
        {"{\"type\":\"integer\"}", "x: number"},
        {"{\"type\":[\"string\",\"null\"]}", "x: string | null"},
        {"{\"type\":\"string\",\"nullable\":true}", "x: string | null"},
        {"{\"const\":\"a\"}", "x: \"a\""},
        {"{\"const\":null}", "x: null"},
        {"{\"enum\":[\"a\",1,true,null]}", "x: \"a\" | 1 | true | null"},
        {"{\"type\":\"string\",\"enum\":[\"a\",1]}", "x: \"a\""},
        {"{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "x: string[]"},
        {"{\"items\":{\"type\":[\"string\",\"number\"]}}", "x: (string | number)[]"},
        {"{\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"number\"}]}", "x: [string, number]"},
        {"{\"prefixItems\":[{\"type\":\"string\"}],\"items\":{\"type\":\"number\"},\"minItems\":0}",
         "x: [string?, ...number[]]"},
        {"{\"items\":[{\"type\":\"string\"}],\"additionalItems\":{\"type\":\"null\"}}",
         "x: [string, ...null[]]"},
        {"{\"type\":\"object\"}", "x: Record<string, unknown>"},
        {"{\"type\":\"object\",\"additionalProperties\":false}", "x: Record<string, never>"},
        {"{\"additionalProperties\":{\"type\":\"number\"}}", "x: { [key: string]: number }"},
        {"{\"properties\":{\"a\":{\"type\":\"string\"}},\"additionalProperties\":{\"type\":"
         "\"number\"}}",
         "x: { a?: string; [key: string]: number | string | undefined }"},
        {"{\"patternProperties\":{\"^a\":{\"type\":\"number\"},\"^b\":{\"type\":\"null\"}}}",
         "x: { [key: string]: number | null }"},
        {"{\"properties\":{\"a b\":{\"type\":\"string\"},\"1\":{},\"__proto__\":{}}}",
         "x: { \"a b\"?: string; \"1\"?: unknown; __proto__?: unknown }"},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"string\"},{\"type\":\"null\"}]}",
         "x: string | null"},
        {"{\"oneOf\":[{\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]},{"
         "\"type\":\"number\"}]}",
         "x: { a: string } | number"},
        {"{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{}},\"anyOf\":[{\"required\":[\"a\"]},"
         "{\"required\":[\"b\"]}]}",
         "x: { a?: string; b?: unknown } & ({ a: unknown } | { b: unknown })"},
        {"{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"string\"}}},{\"required\":[\"a\"]}]}",
         "x: { a: string }"},
        {"{\"type\":\"string\",\"anyOf\":[{\"const\":\"a\"},{\"const\":\"b\"},{\"type\":"
         "\"number\"}]}",
         "x: \"a\" | \"b\""},
        {"{\"allOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]}", "x: never"},
        {"{\"not\":{\"type\":\"string\"}}", "x: unknown"},
        {"{\"properties\":{\"a\":{}},\"if\":{},\"then\":{\"properties\":{\"b\":{\"type\":"
         "\"null\"}},\"required\":[\"b\"]}}",
         "x: { a?: unknown; b?: null }"},
        {"{\"$ref\":\"#/$defs/Small\"}", "x: string"},
        {"{\"$ref\":\"#/$defs/Tree\"}", "x: ListCommits$Tree"},
        {"{\"$ref\":\"#kept\"}", "x: number[]"},
        {"{\"$ref\":\"#\"}", "x: ListCommitsInput"},
        {"{\"$ref\":\"https://example.com/other\"}", "x: unknown"},
        {"{\"type\":\"strange\"}", "x: unknown"},
        {"\"string\"", "x: unknown"},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_BUF struct cs_buf schema = {0}, out = {0};
        cs_buf_printf(&schema,
                      "{\"type\":\"object\",\"properties\":{\"x\":%s},\"required\":[\"x\"],"
                      "\"$defs\":{\"Small\":{\"type\":\"string\"},\"Tree\":{\"type\":\"object\","
                      "\"properties\":{\"kids\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/"
                      "Tree\"}}}},\"Kept\":{\"$anchor\":\"kept\",\"type\":\"array\",\"items\":{"
                      "\"type\":\"number\"}}}}",
                      rows[i].schema);
        struct cs_declaration tool = tool_with(cs_buf_cstr(&schema));
        const char *text = declared(&tool, &out);
        char wanted[300];
        snprintf(wanted, sizeof wanted, "export type ListCommitsInput = { %s };\n", rows[i].type);
        assert_contains(text, wanted);
    }
}

static void recursive_types_have_names(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_declaration tool =
        tool_with("{\"$ref\":\"#/$defs/A\",\"$defs\":{\"A\":{\"anyOf\":[{\"$ref\":\"#/$defs/A\"},{"
                  "\"$ref\":\"#/$defs/B\"},{\"type\":\"object\"}]},\"B\":{\"type\":\"object\","
                  "\"properties\":{\"a\":{\"$ref\":\"#/$defs/A\"}}}}}");
    tool.output = tool.input;
    const char *text = declared(&tool, &out);
    /* A type that is one of its own alternatives cannot be said, and need not be. */
    assert_contains(text, "export type ListCommits$A = ListCommits$B | Record<string, unknown>;\n");
    assert_contains(text, "export type ListCommits$B = { a?: ListCommits$A };\n");
    assert_contains(text, "export type ListCommitsOutput$B = { a?: ListCommitsOutput$A };\n");
}

static void a_parameter_without_words_takes_those_of_its_definition(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_declaration tool =
        tool_with("{\"properties\":{\"a\":{\"$ref\":\"#/$defs/A\"},\"b\":{\"$ref\":\"#/$defs/A\","
                  "\"description\":\"My own\"}},\"$defs\":{\"A\":{\"type\":\"string\","
                  "\"description\":\"Of all\"}}}");
    const char *text = declared(&tool, &out);
    assert_contains(text, "@param input.a - Of all\n");
    assert_contains(text, "@param input.b - My own\n");
}

static void examples_fit_the_schema(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *value;
    } rows[] = {
        {"{\"type\":\"string\"}", "\"x\""},
        {"{\"type\":\"string\",\"default\":\"main\"}", "\"main\""},
        {"{\"type\":\"integer\",\"default\":\"wrong\"}", "1"},
        {"{\"type\":\"string\",\"examples\":[\"octocat\"]}", "\"octocat\""},
        {"{\"type\":\"string\",\"format\":\"uuid\"}", "\"123e4567-e89b-42d3-a456-426614174000\""},
        {"{\"type\":\"string\",\"format\":\"date\"}", "\"2025-01-31\""},
        {"{\"type\":\"string\",\"minLength\":4}", "\"xxxx\""},
        {"{\"type\":\"string\",\"maxLength\":0}", "\"\""},
        {"{\"type\":\"string\",\"pattern\":\"^\\\\d{4}-(AB|CD)[^a-z]+$\"}", "\"1111-AB0\""},
        {"{\"type\":\"string\",\"pattern\":\"^(?=x)y$\"}", "\"x\""},
        {"{\"type\":\"integer\",\"minimum\":10}", "10"},
        {"{\"type\":\"integer\",\"exclusiveMinimum\":10}", "11"},
        {"{\"type\":\"number\",\"maximum\":-3}", "-3"},
        {"{\"type\":\"integer\",\"multipleOf\":7,\"minimum\":8}", "14"},
        {"{\"type\":\"boolean\"}", "true"},
        {"{\"enum\":[\"first\",\"second\"]}", "\"first\""},
        {"{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":2}", "[\"x\", \"x\"]"},
        {"{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":0}", "[]"},
        {"{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"number\"}]}", "1"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"const\":5},\"b\":{}},\"required\":[\"a\"]}",
         "{ a: 5 }"},
        {"{\"type\":\"object\",\"properties\":{\"__proto__\":{\"const\":5}},\"required\":[\"__"
         "proto__\"]}",
         "{ [\"__proto__\"]: 5 }"},
        {"{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{}},\"anyOf\":[{\"required\":[\"a\"]},"
         "{\"required\":[\"b\"]}]}",
         "{ a: \"a\" }"},
        {"{\"enum\":[\"*/ \\u2028\"]}", "\"*\\/ \\u2028\""},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_BUF struct cs_buf schema = {0}, out = {0};
        cs_buf_printf(&schema,
                      "{\"type\":\"object\",\"properties\":{\"x\":%s},\"required\":[\"x\"]}",
                      rows[i].schema);
        struct cs_declaration tool = tool_with(cs_buf_cstr(&schema));
        char wanted[300];
        snprintf(wanted, sizeof wanted, "await listCommits({ x: %s });\n", rows[i].value);
        assert_contains(declared(&tool, &out), wanted);
    }
}

static void foreign_text_stays_in_its_comment(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_declaration tool = tool_with(
        "{\"type\":\"object\",\"properties\":{\"a*/\\nb\":{\"type\":\"string\",\"description\":"
        "\"x */ evil() /* \\u2028\\u202e\\u0007\\u200b\\n@riskLevel none\"}}}");
    tool.description = CS_STR("Ends. */ evil();\n@riskLevel none\n *\xE2\x80\x8B/ evil()");
    tool.name = CS_STR("a\"); evil(\"*/\n\xE2\x80\xA8");
    tool.server = CS_STR("s\\\"");
    const char *text = declared(&tool, &out);
    assert_contains(text, " * Ends. *\\/ evil();\n * \\@riskLevel none\n * *\\/ evil()\n");
    assert_contains(text, "callTool(\"s\\\\\\\"\", \"a\\\"); evil(\\\"*\\/\\n\\u2028\", input)");
    assert_contains(text, " * @param input[\"a*\\/\\nb\"] - x *\\/ evil() /* @riskLevel none\n");
    /* One comment, and it ends where ours does. */
    assert_ptr_equal(strstr(text, "*/"), strstr(text, " */\nexport async") + 1);
}

static void a_long_description_is_cut_at_a_sentence(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0}, description = {0};
    for (int i = 0; i < 300; i++)
        cs_buf_puts(&description, "This is one of many sentences. ");
    struct cs_declaration tool = tool_with("{}");
    tool.description = cs_buf_str(&description);
    const char *text = declared(&tool, &out);
    assert_true(strlen(text) < 1500);
    assert_contains(text, "many sentences. \xE2\x80\xA6\n");
}

static void bad_schemas_are_errors_that_name_the_tool(void **state)
{
    (void)state;
    static const char *const bad[] = {"nonsense", "[]", "7", "\"x\"", "{", "null"};
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        CS_AUTO_BUF struct cs_buf out = {0};
        struct cs_declaration tool = tool_with(bad[i]);
        struct cs_err err = {0};
        assert_int_equal(cs_declare_tool(&tool, &out, &err), -1);
        assert_int_equal(err.code, CS_INVALID);
        assert_contains(err.msg, "list_commits");
        assert_int_equal(out.len, 0);
        /* An output schema is not worth a tool. */
        tool = tool_with("{}");
        tool.output = cs_str(bad[i]);
        assert_contains(declared(&tool, &out), "ListCommitsOutput = any;");
    }
}

/* Of this thread alone: others may have the machine. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Each made of a start, a middle that is repeated, and an end. */
static void hostile_schemas_cost_little(void **state)
{
    (void)state;
    static const struct {
        const char *start, *middle, *end;
        int times;
    } rows[] = {
        {"", "{\"items\":", "{}", 120},
        {"{\"properties\":{", "\"p%d\":{\"type\":\"string\"},", "\"q\":{}}}", 10000},
        {"{\"required\":[", "\"r%d\",", "\"q\"]}", 10000},
        {"{\"enum\":[", "\"v%d\",", "1]}", 50000},
        {"{\"allOf\":[", "{\"properties\":{\"p%d\":{}}},", "{}]}", 10000},
        {"{\"anyOf\":[", "{\"properties\":{\"p%d\":{}}},", "{\"type\":\"null\"}]}", 10000},
        {"{\"allOf\":[", "{\"anyOf\":[{\"const\":%d},{\"type\":\"object\"}]},", "{}]}", 5000},
        {"{\"properties\":{", "\"p%d\":{\"$ref\":\"#\"},", "\"q\":{}}}", 10000},
        {"{\"$defs\":{", "\"d%d\":{\"$ref\":\"#/$defs/d0\"},", "\"q\":{}},\"$ref\":\"#/$defs/q\"}",
         10000},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_BUF struct cs_buf schema = {0}, out = {0};
        cs_buf_puts(&schema, rows[i].start);
        for (int n = 0; n < rows[i].times; n++) {
            const char *mark = strstr(rows[i].middle, "%d");
            cs_buf_put(&schema, rows[i].middle,
                       mark ? (size_t)(mark - rows[i].middle) : strlen(rows[i].middle));
            if (mark)
                cs_buf_printf(&schema, "%d%s", n, mark + 2);
        }
        cs_buf_puts(&schema, rows[i].end);
        for (int n = 0; i == 0 && n < rows[i].times; n++)
            cs_buf_putc(&schema, '}');
        struct cs_declaration tool = tool_with("{}");
        tool.input = tool.output = cs_buf_str(&schema);
        struct cs_err err = {0};
        double start = now();
        if (cs_declare_tool(&tool, &out, &err) < 0)
            assert_int_equal(err.code, CS_INVALID);
        assert_true(out.len <= CS_DECLARE_BYTES);
        if (now() - start > 5)
            fail_msg("row %zu took %.1f s", i, now() - start);
    }
}

static void the_index_exports_functions_and_types(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_declaration tools[] = {tool_with("{}"), tool_with("{}")};
    tools[1].ident = CS_STR("delete_");
    cs_declare_index(CS_STR("github"), CS_STR("Works with\nrepositories. */"), tools, 2, &out);
    assert_string_equal(
        cs_buf_cstr(&out),
        "/** github, 2 tools. Works with repositories. *\\/ */\n"
        "export { listCommits, type ListCommitsInput, type ListCommitsOutput } from "
        "\"./listCommits\";\n"
        "export { delete_, type Delete_Input, type Delete_Output } from \"./delete_\";\n");
}

static void the_readme_stays_short(void **state)
{
    (void)state;
    struct cs_declare_server few[] = {
        {CS_STR("github"), CS_STR("github"), CS_STR("Issues, pull requests. And more."), 42},
        {CS_STR("my-files"), CS_STR("myFiles"), {0}, 1},
    };
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_declare_readme(few, 2, &out);
    assert_contains(cs_buf_cstr(&out), "# 43 tools of 2 servers\n");
    assert_contains(cs_buf_cstr(&out), "- github (42): Issues, pull requests.\n- my-files (1)\n");

    struct cs_declare_server many[100];
    for (size_t i = 0; i < CS_COUNT(many); i++)
        many[i] = few[0];
    cs_buf_clear(&out);
    cs_declare_readme(many, CS_COUNT(many), &out);
    assert_contains(cs_buf_cstr(&out), "84 more");
    assert_true(out.len < 1000);
}

static void globals_do_not_take_names_of_the_web(void **state)
{
    (void)state;
    struct cs_declare_server servers[] = {
        {CS_STR("my-files"), CS_STR("myFiles"), {0}, 1},
        {CS_STR("fetch"), CS_STR("fetch"), {0}, 1},
        {CS_STR("Map"), CS_STR("Map"), {0}, 1},
    };
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_declare_globals(servers, CS_COUNT(servers), &out);
    const char *text = cs_buf_cstr(&out);
    assert_contains(text, "  myFiles: typeof import(\"./my-files/index\");\n");
    assert_contains(text, "declare const myFiles: typeof tools.myFiles;\n");
    assert_contains(text, "  fetch: typeof import(\"./fetch/index\");\n");
    assert_null(strstr(text, "declare const fetch"));
    assert_null(strstr(text, "declare const Map"));
    assert_contains(text, "declare class ToolError extends Error");
}

static void a_summary_is_the_first_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t max;
        const char *summary;
    } rows[] = {
        {"Lists commits. And more.", 120, "Lists commits."},
        {"Finds files, e.g. by name. Then more.", 120, "Finds files, e.g. by name."},
        {"\n\n  Two\tspaces\nsecond line", 120, "Two spaces"},
        {"Version 1.2 is out", 120, "Version 1.2 is out"},
        {"\xE6\x9F\xA5\xE8\xAF\xA2\xE3\x80\x82\xE5\x86\x8D", 120,
         "\xE6\x9F\xA5\xE8\xAF\xA2\xE3\x80\x82"},
        {"One two three four five six", 14, "One two\xE2\x80\xA6"},
        {"\xE6\x9F\xA5\xE8\xAF\xA2\xE6\x9F\xA5\xE8\xAF\xA2", 10,
         "\xE6\x9F\xA5\xE8\xAF\xA2\xE2\x80\xA6"},
        {"hid\xE2\x80\xAE"
         "den",
         120, "hidden"},
        {"", 120, ""},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_BUF struct cs_buf out = {0};
        cs_declare_summary(cs_str(rows[i].text), rows[i].max, &out);
        assert_string_equal(cs_buf_cstr(&out), rows[i].summary);
        assert_true(out.len <= rows[i].max);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_tool_becomes_one_file),
        CS_TEST(nothing_required_makes_the_input_optional),
        CS_TEST(learned_types_are_marked),
        CS_TEST(schemas_become_types),
        CS_TEST(recursive_types_have_names),
        CS_TEST(a_parameter_without_words_takes_those_of_its_definition),
        CS_TEST(examples_fit_the_schema),
        CS_TEST(foreign_text_stays_in_its_comment),
        CS_TEST(a_long_description_is_cut_at_a_sentence),
        CS_TEST(bad_schemas_are_errors_that_name_the_tool),
        CS_TEST(hostile_schemas_cost_little),
        CS_TEST(the_index_exports_functions_and_types),
        CS_TEST(the_readme_stays_short),
        CS_TEST(globals_do_not_take_names_of_the_web),
        CS_TEST(a_summary_is_the_first_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What the program can reach, as far as its text shows. */
#include "compile/cases.h"

static const struct output_case cases[] = {
    {"await tools.github.create_issue({})", "tool:github.create_issue@1:7"},
    {"tools?.github?.['create_issue']({})", "tool:github.create_issue@1:1"},
    {"tools[\"github\"][`x`]()", "tool:github.x@1:1"},
    {"tools.github[name]()", "tool:github.*@1:1"},
    {"tools[name].x()", "tool:*@1:1"},
    {"const { github } = tools", "tool:*@1:20"},
    {"const t = tools.github", "tool:github.*@1:11"},
    {"f(tools)", "tool:*@1:3"},
    {"({ tools })", "tool:*@1:4"},
    {"(tools as any).a.b()", "tool:a.b@1:2"},
    {"globalThis.tools.a.b()", "tool:a.b@1:1"},
    {"globalThis['tools'].a", "tool:a.*@1:1"},
    {"function f(tools) { tools.a.b() }", ""},
    {"const tools = 1; tools.a.b()", ""},
    {"tools", "tool:*@1:1"},
    {"eval('x')", "dynamic:eval@1:1"},
    {"const e = \\u0065val", "dynamic:eval@1:11"},
    {"Function('x'); new Function('x')", "dynamic:Function@1:1 dynamic:Function@1:20"},
    {"x instanceof Function", ""},
    {"[].constructor.constructor('x')()", "dynamic:constructor@1:16"},
    {"x['constructor']('y')", "dynamic:constructor@1:2"},
    {"new AsyncFunction('x')", "dynamic:Function@1:5"},
    {"setTimeout('x'); setTimeout(f); setInterval(`x`)",
     "dynamic:setTimeout(string)@1:1 dynamic:setInterval(string)@1:33"},
    {"import(x); import('y'); import(`z`); import('a' + b)",
     "dynamic:import(expression)@1:1 dynamic:import(expression)@1:38"},
    {"process.env; require('fs'); module.exports; Deno; Bun; fetch; WebAssembly; SharedArrayBuffer",
     "global:process@1:1 global:require@1:14 global:module@1:29 global:Deno@1:45 global:Bun@1:51 "
     "global:fetch@1:56 global:WebAssembly@1:63 global:SharedArrayBuffer@1:76"},
    {"globalThis[x]; globalThis['process']; globalThis.fetch",
     "global:globalThis[...]@1:1 global:process@1:16 global:fetch@1:39"},
    {"function f(process, { fetch }) { process; fetch }", ""},
    {"x.process; ({ process: 1 }); process: for (;;) break process", ""},
    {"typeof process", "global:process@1:8"},
    {"import { a } from './mcp-servers/github/create.ts'; a", "tool:github.create@1:19"},
    {"import a from '/mcp-servers/s/t.ts'; import b from 'mcp-servers/u/v'; import c from "
     "'../mcp-servers/w/index.ts'; import d from './mcp-servers/x'; a; b; c; d",
     "tool:s.t@1:15 tool:u.v@1:52 tool:w.*@1:85 tool:x.*@1:128"},
    {"import { T } from './mcp-servers/github/create.ts'; let x: T", ""},
    {"await import('./mcp-servers/a/b.ts')", "tool:a.b@1:7"},
    {"export { x } from './mcp-servers/a/b.ts'", "tool:a.b@1:19"},
    {"let fetch; fetch()", ""},
};

static void facts_name_tools_dynamic_code_and_foreign_globals(void **state)
{
    static const char *const kinds[] = {
        [CS_FACT_TOOL] = "tool", [CS_FACT_CODE] = "dynamic", [CS_FACT_MEMBER] = "global"};
    (void)state;
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_compiled c = {0};
        struct cs_diag d;
        char text[1024] = "";
        size_t at = 0;
        assert_int_equal(cs_compile(CS_COMPILE_PROGRAM, cs_str(cases[i].source), &c, &d), 0);
        for (uint32_t k = 0; k < c.fact_count; k++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s:%.*s@%u:%u", k ? " " : "",
                                   kinds[c.facts[k].kind], CS_STR_ARG(c.facts[k].name),
                                   c.facts[k].line, c.facts[k].column);
        if (strcmp(text, cases[i].output) != 0)
            fail_msg("%s\n  expected: %s\n  facts:    %s", cases[i].source, cases[i].output, text);
        cs_compiled_done(&c);
    }
}

static void facts_have_places_over_lines_and_wide_characters(void **state)
{
    (void)state;
    struct cs_compiled c = {0};
    struct cs_diag d;
    assert_int_equal(
        cs_compile(CS_COMPILE_PROGRAM, CS_STR("let s = 1;\r\n'\xf0\x9f\x98\x80'; eval(s)"), &c, &d),
        0);
    assert_int_equal(c.fact_count, 1);
    assert_int_equal(c.facts[0].line, 2);
    assert_int_equal(c.facts[0].column, 7);
    cs_compiled_done(&c);
}

static void facts_are_bounded(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0};
    for (int i = 0; i < 10000; i++)
        cs_buf_puts(&text, "eval(x);process;");
    struct cs_compiled c = {0};
    struct cs_diag d;
    assert_int_equal(cs_compile(CS_COMPILE_PROGRAM, cs_buf_str(&text), &c, &d), 0);
    assert_int_equal(c.fact_count, 2 * 257);
    assert_true(cs_str_is(c.facts[c.fact_count - 1].name, "more"));
    cs_compiled_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_name_tools_dynamic_code_and_foreign_globals),
        cmocka_unit_test(facts_have_places_over_lines_and_wide_characters),
        cmocka_unit_test(facts_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What the program can reach, as far as its text shows. */
#include "compile/cases.h"

static const struct output_case cases[] = {
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
    {"let fetch; fetch()", ""},
};

static void facts_name_dynamic_code_and_foreign_globals(void **state)
{
    static const char *const kinds[] = {[CS_FACT_CODE] = "dynamic", [CS_FACT_MEMBER] = "global"};
    (void)state;
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_compiled c = {0};
        struct cs_diag d;
        char text[1024] = "";
        size_t at = 0;
        assert_int_equal(cs_compile(CS_COMPILE_PROGRAM, cs_str(cases[i].source), &c, &d), 0);
        for (uint32_t k = 0; k < c.fact_count; k++) {
            if (c.facts[k].kind >= CS_FACT_LOOP)
                continue;
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s:%.*s@%u:%u", at ? " " : "",
                                   kinds[c.facts[k].kind], CS_STR_ARG(c.facts[k].name),
                                   c.facts[k].line, c.facts[k].column);
        }
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
    assert_in_range(c.fact_count, 2 * 257, 2 * 257 + 3);
    assert_true(cs_str_is(c.facts[c.fact_count - 1].name, "more"));
    cs_compiled_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_name_dynamic_code_and_foreign_globals),
        cmocka_unit_test(facts_have_places_over_lines_and_wide_characters),
        cmocka_unit_test(facts_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Values that take a way: in steps, through functions, patterns, JSON and the like. What must be
 * found, and what only looks like it.
 */
#include <time.h>

#include "compile/fact_cases.h"

static void texts_in_steps_are_put_together(void **state)
{
    (void)state;
    CHECK(
        STRING,
        {"let s = 'rm'; s += ' -rf'; s += ' /x'; f(s)", " -rf [s] |  /x [s] | rm -rf /x (concat)"},
        {"let s = 'abc'; s = s + 'def'; f(s)", "abc [s] | abcdef (concat)"},
        {"let s = 'abc'; s += x; f(s)", "abc [s] | abc${}"},
        /* What a use does not see: another function may be called at any time. */
        {"let s = 'abc'; f(s); s += 'def'", "abc [s] | def [s]"},
        {"let s = 'abc'; if (x) s += 'def'; f(s)", "abc [s] | def [s]"},
        {"const a = ['abc']; a.push('def', 'g'); f(a.join(' '))", "abc | def | abc def g (join)"},
        {"const a = ['abc']; if (x) a.push('def'); f(a.join(' '))", "abc | def"},
        {"const a = ['abc']; g(a); a.push('def'); f(a.join(' '))", "abc | def"});
}

static void texts_through_functions_are_followed(void **state)
{
    (void)state;
    CHECK(STRING, {"const k = () => 'abc'; f(k() + 'def')", "abc | abcdef (concat)"},
          {"function k() { return 'abc' } f('x' + k())", "abc | xabc (concat)"},
          {"const k = (a, b) => `${a} -${b}`; k('rm', 'rf')", "${} -${} | rm -rf (template)"},
          {"const k = a => a; k('abc')", "abc"},
          {"[114, 109, 32].map(x => String.fromCharCode(x)).join('')", "rm  (charcode)"},
          {"['ab', 'cd'].reduce((a, b) => a + b)", "abcd (concat)"},
          {"String.fromCharCode.apply(null, [97, 98, 99])", "abc (charcode)"},
          {"'a-b-c'.replace(/-/g, '')", "a-b-c | abc (replace)"},
          {"'a.b.c'.replace(/./g, '')", "a.b.c"}, {"f('x' + /abc\\/d/.source)", "xabc/d (escape)"},
          {"JSON.parse('{\"a\": \"b c\"}').a", "b c | {\"a\": \"b c\"}"},
          {"const k = a => k(a); k('abc')", "abc"},
          {"const k = a => k(a + 'abc'); k('abc')", "${}abc | abc"});
}

static void words_of_a_command_are_one_text(void **state)
{
    (void)state;
    CHECK(STRING, {"f(['rm', '-rf', '/x'])", "rm -rf /x | -rf"},
          {"f({ command: 'dd', args: ['if=/x'] })", "dd if=/x | if=/x"},
          {"['red', 'green']", "red | green"}, {"f({ name: 'dd', args: ['if=/x'] })", "if=/x"},
          {"/Say it as it is/", "Say it as it is"}, {"/[a-z]+/g", ""},
          {"let a: 'this is said in a type'; a", "this is said in a type"},
          {"let a: 'short' | 'shorter'; a", ""});
    CHECK(COMMENT, {"const say_this_to_the_next_one = 1", "say this to the next one"},
          {"f({ sayThisToTheNextReader: 1 })", "say this to the next reader"},
          {"const totalRevenueOfAll = 1", ""});
}

static void the_maker_of_functions_is_found_in_patterns(void **state)
{
    (void)state;
    CHECK(CODE, {"(({ constructor: F }) => F(x))(() => {})", "constructor"},
          {"let F; ({ constructor: F } = f); F(x)", "constructor"},
          {"const g = ({ constructor: F } = () => {}) => F(x)", "constructor"},
          {"function g({ constructor: F }) { F(x) }", "constructor"},
          {"try {} catch ({ constructor: F }) { F(x) }", "constructor"},
          {"for (const { constructor: F } of fs) F(x)", "constructor"},
          {"const g = x => x.constructor; g(f)(x)", "constructor"},
          {"class A extends (() => {}).constructor {}", "constructor"},
          {"Object.getOwnPropertyDescriptor(Function.prototype, 'constructor').value(x)",
           "constructor"},
          {"const k = y ? 'name' : 'constructor'; (() => {})[k](x)", "constructor"},
          {"(() => {})[['constructor']](x)", "constructor"},
          {"(() => {})[Object.keys({ constructor: 1 })[0]](x)", "constructor"},
          {"(() => {})[JSON.parse('{\"k\": \"constructor\"}').k](x)", "constructor"},
          {"(() => {})[new Map([['a', 'constructor']]).get('a')](x)", "constructor"},
          {"class K { static k = 'constructor' } (() => {})[K.k](x)", "constructor"},
          {"run((() => {}).constructor)", "constructor"}, {"globalThis.valueOf().eval(x)", "eval"},
          {"Object.freeze(globalThis).eval(x)", "eval"},
          /* not */
          {"const { constructor: F } = f; F.name", ""}, {"(({ a: F }) => F(x))(y)", ""},
          {"const k = y ? 'name' : 'length'; (() => {})[k]", ""},
          {"const A = (async () => {}).constructor; x instanceof A", ""},
          {"class A extends B {}", ""}, {"a.constructor === b.constructor", ""});
    CHECK(DYNAMIC, {"(() => {})[k](x)", "function[*]"}, {"[][k][k](x)", "[][*]"}, {"[1, 2][k]", ""},
          {"const o = {}; o[k]", ""}, {"({ a: 1 })[k]", ""});
}

static void the_environment_as_a_whole_is_told(void **state)
{
    (void)state;
    CHECK(ENV, {"f(process)", "process.env"}, {"({ ...process })", "process.env"},
          {"const p = () => process; p().env", "process.env"},
          {"Reflect.get(process, 'env')", "process.env"},
          {"const { pid, ...rest } = process; f(rest)", "process.env"},
          {"let e; ({ env: e } = process)", "process.env"},
          {"for (const { env } of [process]) f(env)", "process.env"},
          {"const { env: { HOME } } = process", "process.env.HOME"},
          /* not */
          {"typeof process", ""}, {"process.pid", ""}, {"const { pid } = process", ""},
          {"const process = 1; f(process)", ""});
}

static void prototypes_are_found_where_they_are_targets(void **state)
{
    (void)state;
    CHECK(PROTOTYPE, {"Object.getPrototypeOf({}).x = 1", "__proto__.x (set)"},
          {"const g = Reflect.getPrototypeOf; g({}).x = 1", "__proto__.x (set)"},
          {"[Object.prototype.x] = [1]", "Object.prototype.x (set)"},
          {"({ a: Array.prototype.map } = { a: 1 })", "Array.prototype.map (set)"},
          {"for (Object.prototype.x of [1]);", "Object.prototype.x (set)"},
          {"for (Object.prototype.x in y);", "Object.prototype.x (set)"},
          {"Reflect.set(Object.prototype, 'x', 1)", "Object.prototype (set)"},
          {"JSON.parse('{\"__proto__\": {\"x\": 1}}')", "__proto__"},
          /* not */
          {"Object.getPrototypeOf(x) === Object.prototype", ""},
          {"const o = Object.create(Object.getPrototypeOf(x)); o.y = 1", ""},
          {"[a.x] = [1]; ({ a: b.c } = d)", ""}, {"Reflect.set(o, 'x', 1)", ""});
}

static void modules_are_told_as_rules_know_them(void **state)
{
    (void)state;
    CHECK(IMPORT, {"import('NODE:Child_Process')", "node:child_process (dynamic)"},
          {"import(' child_process')", "child_process (dynamic)"},
          {"import('child_process\\0')", "child_process (dynamic)"},
          {"import('HtTpS://a.B/C.js')", "https://a.B/C.js (dynamic)"},
          {"import('da\\tta:text/javascript,1')", "data:text/javascript,1 (dynamic)"},
          {"import('node:node:fs/')", "node:fs (dynamic)"}, {"require('FS')", "fs (require)"},
          {"import('./A.ts')", "./A.ts (dynamic)"},
          {"import(x ? 'fs' : 'net')", "fs (dynamic) | net (dynamic)"},
          {"let m = 'fs'; m = 'net'; import(m)", "net (dynamic) | fs (dynamic)"},
          {"let m = 'fs'; if (x) m = y; import(m)", "* (dynamic) | fs (dynamic)"});
}

static const struct {
    const char *start, *again, *end;
} hostile[] = {
    {"let s = ''; ", "s += 'abc'; ", "f(s)"},
    {"let s = ''; ", "s = s + 'abc'; f(s); ", "f(s)"},
    {"let s = ''; ", "s = `${s}abc`; ", "f(s)"},
    {"const a = []; ", "a.push('abc'); ", "f(a.join(''))"},
    {"const k = a => a + 'abc'; ", "k('def'); ", ""},
    {"let a; ", "[a] = [[a]]; ", "f(a)"},
    {"const k = a => k(a) + k(a) + k(a); ", "k('def'); ", ""},
    {"f(", "(a => ", "1"},
    {"let i = 0; ", "while (i < 10) {} ", ""},
    {"", "try { throw 1 } catch { ", ""},
    {"const o = ", "{ a: ", "1"},
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Nothing here may take long, or be more than folding is willing to do: too long is only unknown.
 */
static void many_steps_cost_no_more_than_they_are_long(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(hostile); i++) {
        CS_AUTO_BUF struct cs_buf text = {0};
        struct cs_compiled c = {0};
        struct cs_diag d;
        cs_buf_puts(&text, hostile[i].start);
        while (text.len < 100000)
            cs_buf_puts(&text, hostile[i].again);
        cs_buf_puts(&text, hostile[i].end);
        double start = seconds();
        if (cs_compile(CS_COMPILE_PROGRAM, cs_buf_str(&text), &c, &d) == 0)
            cs_compiled_done(&c);
        if (seconds() - start > 3)
            fail_msg("%s...: %.1f s", hostile[i].again, seconds() - start);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_in_steps_are_put_together),
        cmocka_unit_test(texts_through_functions_are_followed),
        cmocka_unit_test(words_of_a_command_are_one_text),
        cmocka_unit_test(the_maker_of_functions_is_found_in_patterns),
        cmocka_unit_test(the_environment_as_a_whole_is_told),
        cmocka_unit_test(prototypes_are_found_where_they_are_targets),
        cmocka_unit_test(modules_are_told_as_rules_know_them),
        cmocka_unit_test(many_steps_cost_no_more_than_they_are_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

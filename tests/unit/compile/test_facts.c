/*
 * What the compiler notes about names and code: for each kind what must be found, what only looks
 * like it, and what tries not to be found. Places are tested apart.
 */
#include "compile/fact_cases.h"

static void imports_are_found_however_they_are_written(void **state)
{
    (void)state;
    CHECK(IMPORT,
          /* found */
          {"import fs from 'fs'; fs", "fs (static)"}, {"import 'node:net'", "node:net (static)"},
          {"export { x } from './a.ts'", "./a.ts (static)"},
          {"await import('node:vm')", "node:vm (dynamic)"},
          {"require('child_process')", "child_process (require)"},
          {"import x from '/etc/passwd'; x", "/etc/passwd (static)"},
          {"import x from '../../../etc/x.ts'; x", "../../../etc/x.ts (static)"},
          /* not */
          {"import type { A } from 'fs'", ""}, {"import { A } from 'fs'; let a: A", ""},
          {"// import 'fs'", ""}, {"const s = \"import 'fs'\"", ""},
          {"const require = (x) => x; require('fs')", ""}, {"x.require('fs'); a.import('fs')", ""},
          /* evasions */
          {"import('node' + ':fs')", "node:fs (dynamic)"},
          {"import(`node:${'fs'}`)", "node:fs (dynamic)"},
          {"const m = 'n' + 'et'; require(m)", "net (require)"},
          {"import(atob('bm9kZTpmcw=='))", "node:fs (dynamic)"}, {"import(m)", "* (dynamic)"},
          {"require(m)", "* (require)"}, {"const r = require; r('fs')", "fs (require)"},
          {"globalThis['req' + 'uire']('fs')", "fs (require)"},
          {"module.require('fs')", "fs (require)"},
          {"process.getBuiltinModule('fs')", "fs (require)"},
          {"import { createRequire } from 'node:module'; createRequire('/')('fs')",
           "node:module (static) | fs (require)"},
          {"import('\\x66s')", "fs (dynamic)"});
}

static void calls_are_chains_from_free_names_and_imports(void **state)
{
    (void)state;
    CHECK(CALL, {"fetch('x')", "fetch"}, {"Deno.readTextFile('x')", "Deno.readTextFile"},
          {"new WebSocket(u)", "WebSocket"}, {"new WebSocket", "WebSocket"},
          {"import { readFileSync } from 'node:fs'; readFileSync('x')", "node:fs.readFileSync"},
          {"import { readFileSync as r } from 'node:fs'; r('x')", "node:fs.readFileSync"},
          {"import fs from 'fs'; fs.rmSync('x')", "fs.rmSync"},
          {"import * as fs from 'fs'; fs.promises.rm('x')", "fs.promises.rm"},
          {"(await import('fs')).rmSync('x')", "fs.rmSync"},
          {"require('fs').rmSync('x')", "require | fs.rmSync"}, {"a?.b?.(1)", "a.b"},
          {"process.binding`fs`", "process.binding"},
          /* not: what is declared here, what only looks like it */
          {"function f(fetch) { fetch() }", ""}, {"const fetch = x => x; fetch()", ""},
          {"x => x.exec('rm')", ""}, {"class A { exec() {} }; let a: A; a.exec()", ""},
          {"'fetch()'; `fetch()`; /fetch()/; // fetch()", ""},
          /* aliases, patterns, computed names */
          {"const f = fetch; f('x')", "fetch"}, {"let f; f = fetch; f('x')", "fetch"},
          {"const { exit: e } = process; e(1)", "process.exit"},
          {"const { [`ex${'it'}`]: e } = process; e(1)", "process.exit"},
          {"const { mainModule: { require: r } } = process; r('x')", "process.mainModule.require"},
          {"globalThis['fe' + 'tch']('x')", "fetch"}, {"window.self.fetch('x')", "fetch"},
          {"process[x](1)", "process.*"}, {"const o = { go: fetch }; o.go('x')", "fetch"},
          {"const [f] = [fetch]; f('x')", "fetch"}, {"(0, fetch)('x')", "fetch"},
          {"(x ? fetch : 0)('x')", "fetch"}, {"(y || fetch)('x')", "y"},
          {"function f(g = fetch) { g('x') }", "fetch"},
          {"fetch.bind(null)('x')", "fetch.bind | fetch"},
          {"Reflect.get(globalThis, 'fetch')('x')", "Reflect.get | fetch"},
          {"function f() { return late('x') } const late = fetch", "fetch"},
          {"import p = globalThis.process; p.exit()", "process.exit"},
          {"const a = b, b = a; a()", ""}, {"let f = fetch; f = x => x; f('x')", "fetch"});
}

static void members_are_chains_that_are_not_called(void **state)
{
    (void)state;
    CHECK(MEMBER, {"process.argv", "process.argv"}, {"typeof process", "process"},
          {"({ process })", "process"}, {"f(Deno)", "Deno"},
          {"import * as os from 'os'; os.EOL", "os.EOL"},
          {"const p = process; p.pid", "process | process.pid"},
          {"const { pid } = process", "process.pid | process"},
          {"const { a, ...rest } = process; rest.b", "process.a | process | process.b"},
          {"process.a.b.c.d.e.f.g.h.i.j", "process.a.b.c.d.e.f.g.h"}, {"undefined; arguments", ""},
          {"x => x.process", ""}, {"({ process: 1 })", ""}, {"process: for (;;) break process", ""},
          {"declare const process: any; 1", ""}, {"let a: typeof process; a", ""},
          {"import.meta.url", "import.meta.url"});
}

static void code_out_of_text_is_found(void **state)
{
    (void)state;
    CHECK(CODE,
          /* found */
          {"eval(x)", "eval"}, {"new Function(x)", "Function"}, {"Function('a', x)", "Function"},
          {"new AsyncFunction(x)", "AsyncFunction"}, {"GeneratorFunction(x)", "GeneratorFunction"},
          {"(() => {}).constructor(x)", "constructor"}, {"f.constructor('x', y)", "constructor"},
          {"setTimeout(`a${x}`, 1)", "setTimeout(string)"}, {"import(x)", "import(*)"},
          {"import('./a.ts')", "import"}, {"import('/workspace/a.ts')", "import"},
          {"import('/tmp/a.ts')", "import"}, {"import('data:text/javascript,1')", "import"},
          /* what is constant is read */
          {"eval('1 + 1')", "eval (constant)"}, {"new Function('return 1')", "Function (constant)"},
          {"Function('a', 'b', 'return a + b')", "Function (constant)"},
          {"setInterval('f()', 1)", "setInterval(string) (constant)"}, {"eval('1 +')", "eval"},
          {"eval('eval(x)')", "eval | eval (constant)"},
          {"eval('eval(\"1\")')", "eval | eval (constant)"},
          {"const c = '1' + '+1'; eval(c)", "eval (constant)"},
          {"let c = '1'; c = x; eval(c)", "eval"}, {"let c = '1'; c += x; eval(c)", "eval"},
          {"for (let c of x) eval(c)", "eval"},
          /* not */
          {"x instanceof Function", ""}, {"typeof eval === 'function'", ""},
          {"const eval2 = x => x; eval2('x')", ""}, {"function f(eval) { }", ""},
          {"'eval(x)'; `new Function(x)`; // eval(x)", ""}, {"x.eval('y')", ""},
          {"setTimeout(f, 1); setTimeout(() => 'x', 1)", ""}, {"a.constructor.name", ""},
          {"class A { clone() { return new this.constructor(this.x) } }", ""},
          {"import('node:path'); import('./mcp-servers/a/b.ts'); import('/skills/x.ts')", ""},
          {"import('./a.ts' as const)", "import"}, {"class A { constructor() {} }", ""},
          {"function f() { this.eval(x) } class A { eval = this.eval(x) }", ""},
          {"Function.prototype.toString.call(x)", ""}, {"let Function = 1; Function", ""},
          /* evasions */
          {"(0, eval)(x)", "eval"}, {"const e = eval; e(x)", "eval"}, {"f(eval)", "eval"},
          {"[eval][0](x)", "eval"}, {"eval?.(x)", "eval"}, {"globalThis.eval(x)", "eval"},
          {"globalThis['ev' + 'al'](x)", "eval"}, {"self[`e${'val'}`](x)", "eval"},
          {"globalThis['lave'.split('').reverse().join('')](x)", "eval"},
          {"globalThis[String.fromCharCode(101, 118, 97, 108)](x)", "eval"},
          {"\\u0065val(x)", "eval"}, {"const { eval: e } = globalThis; e(x)", "eval"},
          {"eval.call(null, x)", "eval"}, {"eval.apply(null, [x])", "eval"},
          {"Reflect.apply(eval, null, ['1'])", "eval (constant) | eval"},
          {"Reflect.construct(Function, [x])", "Function"}, {"Function.call(null, x)", "Function"},
          {"Function.bind(null, x)()", "Function | Function (constant)"},
          {"const F = Function; new F(x)", "Function"}, {"({ F: Function })", "Function"},
          {"[].map.constructor(x)", "constructor"},
          {"[]['fil' + 'ter']['constr' + 'uctor'](x)()", "constructor"},
          {"const c = 'constructor'; ''[c][c](x)", "constructor"},
          {"const { constructor: C } = f; C(x)", "constructor"},
          {"Object.getPrototypeOf(async () => {}).constructor(x)", "constructor"},
          {"const A = (async () => {}).constructor; new A('return 1')", "constructor (constant)"},
          {"class A { f() { return new this.constructor('x') } }", "constructor (constant)"},
          {"globalThis.setTimeout('x' + y)", "setTimeout(string)"}, {"this.eval(x)", "eval"},
          {"(() => this['ev' + 'al'](x))()", "eval"},
          {"(x as any) ? (globalThis as any).eval(y) : <any>globalThis!.eval(z)", "eval"},
          {"globalThis[(14).toString(36) + 'val'](x)", "eval"},
          {"class A extends Function { }", "Function"}, {"(x ? eval : f)(y)", "eval"},
          {"Reflect.get(globalThis, 'ev' + 'al')(x)", "eval"},
          {"import('da' + 'ta:text/javascript,1')", "import"});
}

static void constant_code_is_read_where_it_is_used(void **state)
{
    (void)state;
    CHECK(IMPORT, {"1\neval(\"import('node:net')\")", "node:net (dynamic)"});
    CHECK(ENV, {"new Function('return process.env.HOME')", "process.env.HOME"});
    CHECK(CALL, {"new Function('u', 'return fetch(u)')", "fetch"});
}

static void the_environment_is_found(void **state)
{
    (void)state;
    CHECK(ENV, {"process.env", "process.env"}, {"process.env.HOME", "process.env.HOME"},
          {"process.env['HO' + 'ME']", "process.env.HOME"}, {"process.env[x]", "process.env.*"},
          {"Deno.env.get('X')", "Deno.env.get"}, {"Bun.env.X", "Bun.env.X"},
          {"import.meta.env.X", "import.meta.env.X"},
          {"const { env } = process; env.X", "process.env | process.env.X"},
          {"const { env: { HOME } } = process; HOME", "process.env.HOME"},
          {"import { env } from 'node:process'; env.X", "process.env.X"},
          {"globalThis.process?.env?.X", "process.env.X"},
          {"Object.keys(process.env)", "process.env"},
          {"const p = process, e = 'env'; p[e].X", "process.env.X"},
          {"const env = {}; env.X; x => x.env; config.env.X; process.environment", ""},
          {"'process.env'; // process.env", ""}, {"function f(process) { process.env }", ""});
}

static void dynamic_members_of_globals_are_found(void **state)
{
    (void)state;
    CHECK(DYNAMIC, {"globalThis[x]", "globalThis[*]"}, {"globalThis[x].y()", "globalThis[*]"},
          {"window[a + b]", "globalThis[*]"}, {"process[x]", "process[*]"},
          {"import * as fs from 'fs'; fs[x]()", "fs[*]"}, {"f(globalThis)", "globalThis"},
          {"const g = globalThis; g[x]", "globalThis[*]"},
          {"const { [x]: y } = globalThis", "globalThis[*]"},
          {"let k = 'a'; k = y; globalThis[k]", "globalThis[*]"},
          {"for (let k of ks) { globalThis[k]; if (0) k = 'a' }", "globalThis[*]"},
          {"Reflect.get(globalThis, x)", "globalThis"}, {"this[x]", "globalThis[*]"},
          /* constants that are none */
          {"const l = ['a']; l[0] = y; globalThis[l[0]]", "globalThis[*]"},
          {"const l = ['a']; l.unshift(y); globalThis[l[0]]", "globalThis[*]"},
          {"const l = ['a']; f(l); globalThis[l[0]]", "globalThis[*]"},
          {"const o = { k: 'a' }; o.k = y; globalThis[o.k]", "globalThis[*]"},
          {"const o = { k: ['a'] }; o.k[0] = y; globalThis[o.k[0]]", "globalThis[*]"},
          {"const o = { k: 'a' }, q = o; q.k = y; globalThis[o.k]", "globalThis[*]"},
          {"const l = ['a'], o = { k: 'b' }; l.join(); globalThis[l[0]]; globalThis[o.k]", ""},
          {"globalThis['a']; globalThis.b; typeof globalThis", ""},
          {"Math[x](1); console[level]('x'); inputs[key]; rows[i][j]; o[k] = 1", ""},
          {"import * as a from './a.ts'; a[x]", ""}, {"globalThis[`a${1}`]", ""});
}

static void prototype_games_are_found(void **state)
{
    (void)state;
    CHECK(PROTOTYPE, {"x.__proto__", "__proto__"}, {"x.__proto__ = y", "__proto__ (set)"},
          {"x['__pro' + 'to__'].y = 1", "__proto__.y (set) | __proto__"},
          {"Object.prototype.x = 1", "Object.prototype.x (set)"},
          {"Array.prototype.map = f", "Array.prototype.map (set)"},
          {"delete Array.prototype.map", "Array.prototype.map (set)"},
          {"JSON.parse = f", "JSON.parse (set)"},
          {"const P = Object.prototype; P.x = 1", "Object.prototype.x (set)"},
          {"Object.prototype[x] = 1", "Object.prototype.* (set)"},
          {"({}).constructor.prototype.x = 1",
           "constructor.prototype.x (set) | constructor.prototype"},
          {"Object.setPrototypeOf(x, y)", "Object.setPrototypeOf (set)"},
          {"Reflect.setPrototypeOf(x, y)", "Reflect.setPrototypeOf (set)"},
          {"Object.defineProperty(Object.prototype, 'x', {})", "Object.defineProperty (set)"},
          {"Object.assign(Array.prototype, { x: 1 })", "Object.assign (set)"},
          {"x.__defineGetter__('a', f)", "__defineGetter__ (set)"},
          /* not */
          {"Object.prototype.hasOwnProperty.call(a, b)", ""}, {"Array.prototype.slice.call(x)", ""},
          {"function A() {} A.prototype.f = 1", ""}, {"Object.defineProperty(x, 'y', {})", ""},
          {"class E extends Error { constructor() { super(); Object.setPrototypeOf(this, "
           "E.prototype) } }",
           ""},
          {"Object.assign(x, y); Object.create(null); Object.getPrototypeOf(x)", ""},
          {"console.log = f; x.prototype = 1", ""}, {"'__proto__'; // x.__proto__ = 1", ""});
}

static void tools_are_found(void **state)
{
    (void)state;
    CHECK(TOOL, {"await tools.github.create_issue({})", "github.create_issue (chain)"},
          {"tools?.github?.['create_issue']({})", "github.create_issue (chain)"},
          {"tools[name].x()", "* (chain)"}, {"f(tools)", "* (chain)"},
          {"import { a } from './mcp-servers/github/create.ts'; a", "github.create (import)"},
          {"function f(tools) { tools.a.b() }", ""}, {"const tools = 1; tools.a.b()", ""});
}

static void facts_have_places_over_lines_and_wide_characters(void **state)
{
    (void)state;
    struct cs_compiled c = {0};
    struct cs_diag d;
    assert_int_equal(cs_compile(CS_COMPILE_PROGRAM,
                                CS_STR("let s = x => 1;\r\n'\xf0\x9f\x98\x80'; eval(s)"), &c, &d),
                     0);
    assert_int_equal(c.fact_count, 3);
    assert_int_equal(c.facts[2].kind, CS_FACT_CODE);
    assert_int_equal(c.facts[2].line, 2);
    assert_int_equal(c.facts[2].column, 7);
    cs_compiled_done(&c);
}

static void a_fact_is_told_once_at_its_first_place(void **state)
{
    (void)state;
    struct cs_compiled c = {0};
    struct cs_diag d;
    assert_int_equal(cs_compile(CS_COMPILE_PROGRAM, CS_STR("x => 1;\natob(1);\natob(2)"), &c, &d),
                     0);
    assert_int_equal(c.fact_count, 1);
    assert_int_equal(c.facts[0].line, 2);
    cs_compiled_done(&c);
}

static void facts_are_bounded(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0};
    for (int i = 0; i < 10000; i++)
        cs_buf_printf(&text, "eval(x);a%d();", i);
    struct cs_compiled c = {0};
    struct cs_diag d;
    assert_int_equal(cs_compile(CS_COMPILE_PROGRAM, cs_buf_str(&text), &c, &d), 0);
    assert_int_equal(c.fact_count, CS_FACTS_MOST);
    assert_true(c.facts_cut);
    cs_compiled_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports_are_found_however_they_are_written),
        cmocka_unit_test(calls_are_chains_from_free_names_and_imports),
        cmocka_unit_test(members_are_chains_that_are_not_called),
        cmocka_unit_test(code_out_of_text_is_found),
        cmocka_unit_test(constant_code_is_read_where_it_is_used),
        cmocka_unit_test(the_environment_is_found),
        cmocka_unit_test(dynamic_members_of_globals_are_found),
        cmocka_unit_test(prototype_games_are_found),
        cmocka_unit_test(tools_are_found),
        cmocka_unit_test(facts_have_places_over_lines_and_wide_characters),
        cmocka_unit_test(a_fact_is_told_once_at_its_first_place),
        cmocka_unit_test(facts_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Which tools a program can reach. */
#include "compile/reach_cases.h"

static const struct output_case plain[] = {
    {"await tools.github.create_issue({})", "github.create_issue"},
    {"tools?.github?.['create_issue']({})", "github.create_issue"},
    {"tools[\"github\"][`x`]()", "github.x"},
    {"(tools as any).a.b()", "a.b"},
    {"tools.a.b(); tools.a.b(); tools.a.c()", "a.b, a.c"},
    {"github.listCommits({})", "github.listCommits"},
    {"const f = tools.a.b; f()", "a.b"},
    {"[1, 2].map(tools.a.b)", "a.b"},
    {"globalThis.tools.a.b()", "a.b"},
    {"tools['git' + 'hub'].list()", "github.list"},
    {"const s = 'github'; tools[s]['li' + `st`]()", "github.list"},
    {"tools[atob('Z2l0aHVi')].list()", "github.list"},
    {"const m = '/mcp-servers/' + 'a'; (await import(m)).b()", "a.b (import)"},
    /* No tools. */
    {"function f(tools) { tools.a.b() } f(1)", ""},
    {"const tools = 1; tools.a.b()", ""},
    {"Math.max(1); JSON.parse('1'); console.log(inputs.a); state.x = 1", ""},
    {"'tools.a.b()'; // tools.a.b()", ""},
    {"x.tools.a.b", "x.tools"},
    {"Object.keys(tools.github)", ""},
    {"if (tools.github) return 1", ""},
    {"console.log(Object.keys(tools))", ""},
};

static const struct output_case aliases[] = {
    {"const { github } = tools; github.listCommits()", "github.listCommits (alias)"},
    {"const { github: { listCommits: lc } } = tools; lc()", "github.listCommits (alias)"},
    {"const { listCommits } = tools.github; listCommits()", "github.listCommits (alias)"},
    {"const { github: { x } = {} } = tools ?? {}; x()", "github.x (alias)"},
    {"const t = tools; t.a.b()", "a.b (alias)"},
    {"let gh; gh = tools.github; gh.list()", "github.list (alias)"},
    {"const { tools: t } = globalThis; t.a.b()", "a.b (alias)"},
    {"let gh; ({ github: gh } = tools); gh.list()", "github.list (alias)"},
    {"const o = { gh: tools.github }; o.gh.list()", "github.list (alias)"},
    {"const o = { t: { list: tools.a.b } }; const { t: { list } } = o; list()", "a.b"},
    {"const [a, b] = [tools.x, tools.y]; a.one(); b.two()", "x.one (alias), y.two (alias)"},
    {"function gh() { return tools.github } gh().list()", "github.list (alias)"},
    {"const gh = () => tools.github; gh().list()", "github.list (alias)"},
    {"function use(c) { return c.list() } use(tools.github)", "github.list (alias)"},
    {"class A { constructor(api) { this.api = api } run() { this.api.list() } }\n"
     "new A(tools.github).run()",
     "github.list (alias)"},
    {"class A { gh = tools.github; run() { return this.gh.list() } } new A().run()",
     "github.list (alias)"},
    {"const o = { get gh() { return tools.github } }; o.gh.list()", "github.list (alias)"},
    {"state.gh = tools.github; state.gh.list()", "github.list"},
    {"const { github = tools.gitlab } = tools; github.list()",
     "gitlab.* (alias), github.* (alias), gitlab.list (alias)"},
    {"later(); function later() { return x().list() } function x() { return tools.github }",
     "github.list (alias)"},
    {"const gh = tools.github", ""},
};

static const struct output_case unknown[] = {
    {"tools.github[name]()", "github.*"},
    {"caisson.callTool('crm', 'find_one', {})", "crm.find_one"},
    {"const { callTool } = caisson; callTool('crm', `find`)", "crm.find"},
    {"const c = globalThis.caisson; c['call' + 'Tool']('crm', 'find')", "crm.find"},
    {"caisson.callTool('crm', x, {})", "crm.*"},
    {"caisson.callTool(x, 'find')", "*"},
    {"caisson.callTool(...x)", "*"},
    {"caisson[x]('crm', 'find')", "*"},
    {"const f = caisson.callTool.bind(null, 'crm'); f('find')", "*"},
    {"caisson.callTool.apply(null, ['crm', 'find'])", "*"},
    {"run(caisson)", "*"},
    {"caisson.storage.put('a', 1); console.log(caisson.log)", ""},
    {"tools[name].x()", "*"},
    {"tools[name]", "*"},
    {"tools", "*"},
    {"f(tools)", "*"},
    {"f({ tools })", "*"},
    {"f([tools.github])", "github.*"},
    {"const s = c ? tools.a : tools.b; s.go()", "a.* (alias), b.* (alias), a.go (alias)"},
    {"for (const s of Object.values(tools)) s.x()", "*"},
    {"const all = { ...tools }; all.a.b()", "*"},
    {"Reflect.get(tools, 'a').b()", "*"},
    {"new Proxy(tools, {})", "*"},
    {"export const gh = tools.github", "github.* (alias)"},
    {"const gh = tools.github; export { gh }", "github.* (alias)"},
    {"export default tools", "*"},
    {"const x = {}; x[k] = tools.github", "github.*"},
    {"const list = []; list.push(tools.github)", "github.*"},
    {"const map = new Map(); map.set('a', tools.github.drop)", "github.drop"},
    {"(await import(name)).x()", "*"},
};

static const struct output_case imports[] = {
    {"import { a } from './mcp-servers/github/create.ts'; a", "github.create (import)"},
    {"import a from '/mcp-servers/s/t.ts'; a(); import b from 'mcp-servers/u/v'; b()",
     "s.t (import), u.v (import)"},
    {"import { T } from './mcp-servers/github/create.ts'; let x: T", ""},
    {"import { a } from './mcp-servers/github/create.ts'", ""},
    {"import * as gh from '/mcp-servers/github/index.ts'; gh.list(); const { drop } = gh; drop()",
     "github.drop (import), github.list (import)"},
    {"import { list as l } from '../mcp-servers/github'; l()", "github.list (import)"},
    {"import * as gh from '/mcp-servers/github'; use(gh)", "github.* (import)"},
    {"const { list } = await import('/mcp-servers/github/index.ts'); list()",
     "github.list (import)"},
    {"const { default: t } = await import('./mcp-servers/a/b.ts'); t()", "a.b (import)"},
    {"(await import('./mcp-servers/a')).b()", "a.b (import)"},
    {"import('mcp-servers/a').then(m => m.b())", "a.b (import)"},
    {"const { a } = require('mcp-servers/s'); a()", "s.a (import)"},
    {"export { x } from './mcp-servers/a/b.ts'", "a.b (import)"},
    {"export * from './mcp-servers/a'", "a.* (import)"},
    {"import { x } from './other/mcp-servers.ts'; x()", ""},
    {"import x from '/mcp-servers/web/../crm/drop.ts'; x()", "crm.drop (import)"},
    {"import x from '/mcp-servers/./crm//drop.ts'; x()", "crm.drop (import)"},
    {"import x from '/workspace/../mcp-servers/crm/drop.ts'; x()", "crm.drop (import)"},
    {"const m = await import('/mcp-servers/web/../crm/index.ts'); m[inputs.t]({})",
     "crm.* (import)"},
    {"export { drop } from '/mcp-servers/web/../crm/index.ts'", "crm.drop (import)"},
    {"import x from '/mcp-servers/../workspace/crm/drop.ts'; x()", ""},
    {"import { getMe } from '/mcp-servers/github/index.ts'; getMe()", "github.getMe (import)"},
};

/* Ways to tools that get out of sight. */
static const struct output_case hidden[] = {
    /* Classes, namespaces and what is this. */
    {"class A { static t = tools.crm; static go() { return A.t.drop({}) } } A.go()",
     "crm.drop (alias)"},
    {"class A { static #t = tools.crm; static go() { return A.#t.drop({}) } } A.go()",
     "crm.drop (alias)"},
    {"class A { static t = tools; static go(s) { return A.t[s].drop({}) } } A.go(inputs.s)",
     "* (alias)"},
    {"class A { #t = tools.crm; static of(a) { return a.#t } } A.of(new A()).drop({})",
     "crm.drop (alias)"},
    {"namespace N { export const t = tools.crm } N.t.drop({})", "crm.drop (alias)"},
    {"namespace A.B { export const t = tools.crm } A.B.t.drop({})", "crm.drop (alias)"},
    {"namespace N { export let t: any; t = tools.crm } (N as any)['t'].drop({})", "crm.drop"},
    {"namespace N { export const t = tools.crm } import Q = N.t; Q.drop({})", "crm.drop (alias)"},
    {"namespace N { const t = tools.crm; export const u = 1 } N.u", ""},
    {"import T = tools.crm; T.drop({})", "crm.drop (alias)"},
    {"import T = tools; T[inputs.a][inputs.b]({})", "*"},
    {"new (class { constructor() { return tools } } as any)().crm.drop({})", "* (alias)"},
    {"new (class { constructor() { return tools.crm } } as any)().drop({})", "crm.* (alias)"},
    {"function F() { this.t = tools.crm } new F().t.drop({})", "crm.drop"},
    {"function F() {} F.prototype.t = tools.crm; new F().t.drop({})", "crm.drop"},
    {"class A { t = tools } Reflect.construct(A, []).t.crm.drop({})", "* (alias)"},
    {"class A { t = tools.crm } Reflect.construct(A, []).t.drop({})", "crm.* (alias)"},
    {"class A { t = 1; go() { return this.t } } new A().go()", ""},
    /* Deep, and in itself. */
    {"const o = { a: { a: { a: { a: { a: { a: tools } } } } } }; o.a.a.a.a.a.a.crm.x()", "*"},
    {"const o={a:{a:{a:{a:{a:{a:{a:{a:{a:{a:tools.crm}}}}}}}}}};\n"
     "o.a.a.a.a.a.a.a.a.a.a.drop({})",
     "crm.*"},
    {"const f=[[[[[[[[[[tools.crm]]]]]]]]]]; f[0][0][0][0][0][0][0][0][0][0].drop({})", "crm.*"},
    {"const o: any = {}; o.a = o; o.t = tools.crm; o.a.t.drop({})", "crm.* (alias)"},
    {"let n: any = null; for (let i = 0; i < 3; i++) n = { next: n, t: tools };\n"
     "n.next.next.t.crm.drop({})",
     "* (alias)"},
    {"const i = { t: tools.crm }, o = { x: i }; i.t.list(); o.x.t.drop({})",
     "crm.* (alias), crm.list (alias)"},
    {"const p = { t: tools.crm }, q = { t: 1 }; p.t.list(); (c ? p : q).t.drop({})",
     "crm.list (alias), crm.* (alias)"},
    {"const o = { a: tools.crm }; o.a.list(); o[inputs.k].drop({})",
     "crm.list (alias), crm.* (alias)"},
    {"f().t = tools.crm; f().t.drop({})", "crm.* (alias)"},
    {"const o = { a: 1 }; o[inputs.k]; o.a = tools.crm.list", "crm.list (alias)"},
    /* Functions that give it to somebody. */
    {"(await Promise.resolve().then(() => tools)).crm.drop({})", "* (alias)"},
    {"(await Promise.resolve().then(() => tools.crm)).drop({})", "crm.* (alias)"},
    {"(await Promise.reject(0).catch(async () => tools.crm)).drop({})", "crm.* (alias)"},
    {"(await Promise.resolve().then(() => tools.crm.list({})))", "crm.list"},
    {"function f() { return arguments[0].drop({}) } f(tools.crm)", "crm.*"},
    {"function f() { return g(...arguments) } function g(t) { return t.drop({}) } f(tools.crm)",
     "crm.*"},
    {"(function () { const [t] = arguments; return t })(tools.crm).drop({})", "crm.*"},
    {"function f() { return arguments.length } f(1, tools.crm.list)", "crm.list"},
    {"function* g() { return tools } g().next().value.crm.drop({})", "* (alias)"},
    {"function* g() { yield tools.crm } for (const t of g()) t.drop({})", "crm.*"},
    {"Object.defineProperty({}, 'x', { get: () => tools.crm }).x.drop({})", "crm.* (alias)"},
    {"Object.create(null, { x: { get() { return tools.crm } } }).x.drop({})", "crm.* (alias)"},
    {"new Proxy({}, { get: () => tools.crm }).x.drop({})", "crm.* (alias)"},
    {"const p = new Proxy(function () {}, { apply: () => tools.crm }); p().drop({})",
     "crm.* (alias)"},
    {"const p = new Proxy(function () {}, { construct: () => tools }); (new p()).crm.drop({})",
     "* (alias)"},
    {"JSON.parse('1', () => tools.crm).drop({})", "crm.* (alias)"},
    {"const it = { [Symbol.iterator]: () => ({ next: () => ({ value: tools.crm }) }) };\n"
     "const [t] = it; t.drop({})",
     "crm.* (alias)"},
    {"Reflect.construct(function () { return tools.crm }, []).drop({})", "crm.* (alias)"},
    {"Reflect.apply(() => tools.crm, null, []).drop({})", "crm.* (alias)"},
    {"tools.valueOf().crm.drop({})", "*"},
    {"tools.crm.valueOf().drop({})", "crm.*"},
    {"globalThis.valueOf().tools.crm.drop({})", "*"},
    {"const x = 1; x.valueOf(); tools.crm.list()", "crm.list"},
    {"new EventTarget().addEventListener('x', e => e.t.drop({}), { t: tools.crm })", "crm.*"},
    {"class A { static [Symbol.hasInstance](x) { A.t = x } } tools instanceof A", "*"},
    {"tools.crm.find() instanceof Error", "crm.find"},
    /* All that is global. */
    {"globalThis[inputs.s][inputs.t]({})", "*"},
    {"Reflect.get(globalThis, 'tools').crm.drop({})", "*"},
    {"const { [inputs.k]: t } = globalThis; t.crm.drop({})", "*"},
    {"Object.getOwnPropertyDescriptor(globalThis, 'tools').value.crm.drop({})", "*"},
    {"const o = { g: globalThis }; o.g.x", "*, x.* (alias)"},
    {"globalThis.x = 1; globalThis['y'] = 2; typeof globalThis", ""},
    /* Code. */
    {"Function('return tools')()[inputs.a][inputs.b]({})", "* (alias)"},
    {"Function('return this')().tools.crm.drop({})", "*"},
    {"(0, eval)('var z = tools'); z[inputs.a][inputs.b]({})", "* (alias), z.*"},
    {"eval(inputs.code)", "*"},
    {"new Function('a', 'b', 'return a + b')(1, 2)", ""},
};

static const struct output_case places[] = {
    {"await tools.github.create_issue({})", "github.create_issue@1:7"},
    {"const { a } =\n  tools;\na.b()", "a.b@3:1"},
    {"import { a } from './mcp-servers/github/create.ts'; a", "github.create@1:19"},
};

static void tools_are_found_in_all_spellings(void **state)
{
    (void)state;
    check_facts(CS_FACT_TOOL, false, plain, CS_COUNT(plain));
    check_facts(CS_FACT_TOOL, true, places, CS_COUNT(places));
}

static void tools_are_found_through_other_names(void **state)
{
    (void)state;
    check_facts(CS_FACT_TOOL, false, aliases, CS_COUNT(aliases));
}

static void what_nobody_knows_counts_as_all(void **state)
{
    (void)state;
    check_facts(CS_FACT_TOOL, false, unknown, CS_COUNT(unknown));
}

static void imported_tools_are_found(void **state)
{
    (void)state;
    check_facts(CS_FACT_TOOL, false, imports, CS_COUNT(imports));
}

static void ways_out_of_sight_count_as_all(void **state)
{
    (void)state;
    check_facts(CS_FACT_TOOL, false, hidden, CS_COUNT(hidden));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tools_are_found_in_all_spellings),
        cmocka_unit_test(tools_are_found_through_other_names),
        cmocka_unit_test(what_nobody_knows_counts_as_all),
        cmocka_unit_test(imported_tools_are_found),
        cmocka_unit_test(ways_out_of_sight_count_as_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

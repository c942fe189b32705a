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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tools_are_found_in_all_spellings),
        cmocka_unit_test(tools_are_found_through_other_names),
        cmocka_unit_test(what_nobody_knows_counts_as_all),
        cmocka_unit_test(imported_tools_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

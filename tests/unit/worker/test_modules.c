/* Modules: loading, linking, order, import(), builtins, and what is refused. */
#include "worker/cases.h"

static const struct file wants[] = {
    {"/workspace/lib.ts", "export const a = 1;"},
    {"/workspace/wants.ts", "import { nope } from './lib.ts'; export const z = nope;"},
    {0}};

static const struct file one[] = {
    {"/workspace/lib.ts",
     "export const a = 1;\nexport function twice(n: number): number { return n * 2; }\n"
     "export default class Box { v = 7 }\nexport { a as renamed };"},
    {"/skills/tidy.ts", "export const tidy = (s: string) => s.trim();"},
    {"/mcp-servers/github/index.ts", "export * from './list.ts'; export const server = 'github';"},
    {"/mcp-servers/github/list.ts", "export const list = () => ['x'];"},
    {0}};

static const struct file cycle[] = {
    {"/workspace/a.ts",
     "import { b, callA } from './b.ts';\nexport function fa() { return 'fa'; }\n"
     "export const a = 'a' + b;\nexport const later = () => callA();"},
    {"/workspace/b.ts", "import { fa } from './a.ts';\nexport const b = 'b' + fa();\n"
                        "export const callA = () => fa();"},
    {0}};

static const struct file order[] = {
    {"/workspace/x.ts", "import './y.ts'; import './z.ts'; log.push('x');"},
    {"/workspace/y.ts", "import './w.ts'; log.push('y');"},
    {"/workspace/z.ts", "log.push('z');"},
    {"/workspace/w.ts", "globalThis.log = globalThis.log || []; log.push('w');"},
    {0}};

static const struct file waits[] = {
    {"/workspace/slow.ts",
     "export const v = await new Promise((r) => setTimeout(() => r('slow'), 5)); "
     "globalThis.seen = [...(globalThis.seen ?? []), 'slow'];"},
    {"/workspace/user.ts", "import { v } from './slow.ts'; export const u = v + '!'; "
                           "globalThis.seen.push('user');"},
    {"/workspace/fast.ts", "globalThis.seen = [...(globalThis.seen ?? []), 'fast'];"},
    {0}};

static const struct file live[] = {
    {"/workspace/counter.ts", "export let n = 0; export const inc = () => { n++; };"}, {0}};

static const struct file broken[] = {
    {"/workspace/syntax.ts", "export const a = 1;\nexport const b = ;\n"},
    {"/workspace/throws.ts", "export const before = 1;\nthrow new Error('module failed');"},
    {"/workspace/importer.ts", "import './missing.ts';"},
    {"/workspace/passes.ts", "export * from './throws.ts';"},
    {"/workspace/outside.ts", "import '/etc/passwd';"},
    {0}};

static const struct file stars[] = {
    {"/workspace/s1.ts", "export const same = 1, one = 1;"},
    {"/workspace/s2.ts", "export const same = 2, two = 2;"},
    {"/workspace/both.ts",
     "export * from './s1.ts'; export * from './s2.ts'; export * as ns from './s1.ts';"},
    {0}};

static const struct file cycle_and_one[] = {
    {"/workspace/a.ts", "import './b.ts'; export const a = 1;"},
    {"/workspace/b.ts", "import './a.ts'; export const b = 1;"},
    {"/workspace/lib.ts", "export const late = () => process.env.HOME;"},
    {0},
};
static const struct file generated[] = {
    {"/mcp-servers/x/y.ts", "export const y = (x) => eval(x);"},
    {0},
};

static unsigned judged(const struct talk *t)
{
    unsigned n = 0;
    for (size_t i = 0; i < t->late.len; i++)
        n += t->late.at[i] == '\n';
    return n;
}

static void judged_never(struct talk *t)
{
    assert_int_equal(judged(t), 0);
}

static void judged_once(struct talk *t)
{
    assert_int_equal(judged(t), 1);
}

/* A cycle is one question, and what is new in the second one is told from what is old. */
static void judged_twice(struct talk *t)
{
    assert_int_equal(judged(t), 2);
    const char *second = strchr(cs_buf_cstr(&t->late), '\n') + 1;
    assert_contains(second, "\"imports\":\"/workspace/lib.ts\"");
    assert_contains(second, "\"module\":\"/workspace/lib.ts\",\"late\":true");
    assert_contains(second, "\"name\":\"/workspace/a.ts\"");
    assert_null(strstr(second, "\"module\":\"/workspace/a.ts\",\"late\""));
}

static void refuses_late(struct talk *t)
{
    t->refuse_late = "{\"message\":\"not this one\"}";
}

static const struct worker_case cases[] = {
    {"named_and_default_imports",
     "import Box, { a, twice, renamed as r } from './lib.ts';\nreturn [a, twice(4), r, new "
     "Box().v];",
     .result = "[1,8,1,7]", .files = one},
    {"namespace_import", "import * as lib from './lib.ts'; return Object.keys(lib)",
     .result = "[\"a\",\"default\",\"renamed\",\"twice\"]", .files = one},
    {"without_extension", "import { a } from './lib'; return a", .result = "1", .files = one},
    {"absolute_path", "import { tidy } from '/skills/tidy.ts'; return tidy('  x ')",
     .result = "\"x\"", .files = one},
    {"roots_count_from_the_top",
     "import { tidy } from './skills/tidy.ts'; import { list } from 'mcp-servers/github/index.ts'; "
     "return [tidy(' a '), list()]",
     .result = "[\"a\",[\"x\"]]", .files = one},
    {"a_directory_with_an_index", "import { server } from '/mcp-servers/github'; return server",
     .result = "\"github\"", .files = one},
    {"re_exports_with_star",
     "import * as g from '/mcp-servers/github/index.ts'; return Object.keys(g)",
     .result = "[\"list\",\"server\"]", .files = one},
    {"the_same_file_is_one_module",
     "import * as a from './lib.ts'; import * as b from '/workspace/lib'; return a === b",
     .result = "true", .files = one},
    {"type_imports_load_nothing", "import type { X } from './nowhere.ts'; return 1", .result = "1"},
    {"cycles_with_hoisted_functions", "import { a, later } from './a.ts'; return [a, later()]",
     .result = "[\"abfa\",\"fa\"]", .files = cycle},
    {"bodies_run_in_order", "import './x.ts'; return log", .result = "[\"w\",\"y\",\"z\",\"x\"]",
     .files = order},
    {"top_level_await_is_waited_for",
     "import { u } from './user.ts'; import './fast.ts'; return [u, globalThis.seen]",
     .result = "[\"slow!\",[\"fast\",\"slow\",\"user\"]]", .files = waits},
    {"bindings_are_live",
     "import { n, inc } from './counter.ts'; const x = n; inc(); inc(); return [x, n]",
     .result = "[0,2]", .files = live},
    {"stars_that_clash_give_nothing",
     "import * as m from './both.ts'; return [Object.keys(m), m.ns.same, m.same ?? 'none']",
     .result = "[[\"ns\",\"one\",\"two\"],1,\"none\"]", .files = stars},
    {"namespaces_cannot_be_changed",
     "import * as m from './lib.ts'; const out = [];\ntry { m.a = 5 } catch (e) { out.push(e.name) "
     "}\n"
     "try { Object.defineProperty(m, 'zz', {value: 1}) } catch (e) { out.push(e.name) }\n"
     "try { delete m.a } catch (e) { out.push(e.name) }\nreturn [m.a, out]",
     .result = "[1,[\"TypeError\",\"TypeError\",\"TypeError\"]]", .files = one},
    {"a_namespace_shows_as_a_module", "import * as m from './counter.ts'; console.log(m); return 1",
     .result = "1", .log = "[Object: null prototype] [Module] {", .files = live},

    {"dynamic_import", "const { twice } = await import('./lib.ts'); return twice(21)",
     .result = "42", .files = one},
    {"dynamic_import_of_a_computed_name", "const n = 'lib'; return (await import(`./${n}.ts`)).a",
     .result = "1", .files = one},
    {"dynamic_import_twice_is_one_module",
     "const [a, b] = await Promise.all([import('./lib.ts'), import('/workspace/lib.ts')]); return "
     "a === b",
     .result = "true", .files = one},
    {"dynamic_import_of_what_is_there", "import './lib.ts'; return (await import('./lib.ts')).a",
     .result = "1", .files = one},
    {"dynamic_import_of_a_cycle", "return (await import('./a.ts')).a", .result = "\"abfa\"",
     .files = cycle},
    {"dynamic_import_runs_bodies_once",
     "await import('./x.ts'); await import('./y.ts'); await import('./x.ts'); return log",
     .result = "[\"w\",\"y\",\"z\",\"x\"]", .files = order},
    {"dynamic_import_waits_for_top_level_await", "return (await import('./user.ts')).u",
     .result = "\"slow!\"", .files = waits},
    {"dynamic_import_of_a_missing_file",
     "try { await import('./none.ts') } catch (e) { return e.message }",
     .result = "\"there is no module '/workspace/none.ts' (looked for /workspace/none.ts): no such "
               "file\""},
    {"dynamic_import_of_a_broken_file",
     "try { await import('./syntax.ts') } catch (e) { return [e.name, e.message.slice(0, 26)] }",
     .result = "[\"SyntaxError\",\"/workspace/syntax.ts:2:18:\"]", .files = broken},
    {"dynamic_import_of_a_throwing_module_each_time",
     "const out = []; for (let i = 0; i < 2; i++) try { await import('./throws.ts') } catch (e) { "
     "out.push(e.message) } return out",
     .result = "[\"module failed\",\"module failed\"]", .files = broken},
    {"dynamic_import_uncaught", "await import('/etc/passwd')", .type = "permission_error",
     .contains = "outside of what a program may see"},
    {"dynamic_import_is_judged_once",
     "await import('./a.ts'); await Promise.all([import('./b.ts'), import('./lib.ts')]); return 1",
     .result = "1", .files = cycle_and_one, .check = judged_twice},
    {"what_was_there_is_not_judged_again", "import './lib.ts'; await import('./lib.ts'); return 1",
     .result = "1", .files = one, .check = judged_never},
    {"builtins_and_tools_are_not_judged",
     "await import('node:path'); await import('/mcp-servers/x/y.ts'); return 1", .result = "1",
     .files = generated, .check = judged_never},
    {"what_is_imported_can_be_refused",
     "const out = []; for (let i = 0; i < 2; i++) try { await import('./lib.ts') } catch (e) { "
     "out.push(e.message) } return out",
     .result = "[\"the module '/workspace/lib.ts' may not be imported: not this one\","
               "\"the module '/workspace/lib.ts' may not be imported: not this one\"]",
     .files = one, .tune = refuses_late, .check = judged_once},
    {"what_is_refused_did_not_run",
     "try { await import('./x.ts') } catch {} return globalThis.log ?? 'nothing'",
     .result = "\"nothing\"", .files = order, .tune = refuses_late},
    {"nobody_else_asks_for_a_verdict",
     "try { await caisson.callTool('caisson', 'judgeImport', {facts: []}) } catch (e) { return "
     "e.name }",
     .result = "\"ToolError\"", .check = judged_never},
    {"imports_inside_functions",
     "const f = async () => (await import('node:path')).join('a', 'b'); return f()",
     .result = "\"a/b\""},

    {"missing_module", "import { x } from './none.ts';\nreturn x", .type = "runtime_error",
     .contains = "there is no module './none.ts' (looked for /workspace/none.ts)"},
    {"missing_module_has_the_imports_line", "const a = 1;\nimport { x } from './none.ts'; x;",
     .type = "runtime_error", .contains = "\"line\":2"},
    {"missing_module_behind_another", "import './importer.ts'", .type = "runtime_error",
     .contains = "\"file\":\"/workspace/importer.ts\",\"line\":1", .files = broken},
    {"a_module_that_does_not_parse", "import './syntax.ts'", .type = "syntax_error",
     .contains = "\"file\":\"/workspace/syntax.ts\",\"line\":2", .files = broken},
    {"a_module_that_throws", "import './throws.ts'; return 1", .type = "runtime_error",
     .contains = "\"message\":\"module failed\",\"file\":\"/workspace/throws.ts\",\"line\":2",
     .files = broken},
    {"a_module_whose_dependency_throws", "import './passes.ts'; return 1", .type = "runtime_error",
     .contains = "module failed", .files = broken},
    {"absolute_paths_outside_the_roots", "import x from '/etc/passwd'; return x",
     .type = "permission_error", .contains = "outside of what a program may see"},
    {"a_module_that_reaches_outside", "import './outside.ts'", .type = "permission_error",
     .contains = "\"file\":\"/workspace/outside.ts\"", .files = broken},
    {"climbing_out", "import x from '../../etc/passwd'; return x", .type = "permission_error"},
    {"urls", "import x from 'https://example.com/x.js'; return x", .type = "permission_error",
     .contains = "a URL cannot be imported"},
    {"file_urls", "import x from 'file:///etc/passwd'; return x", .type = "permission_error"},
    {"data_urls", "import x from 'data:text/javascript,export default 1'; return x",
     .type = "permission_error"},
    {"packages", "import _ from 'lodash'; return _", .type = "permission_error",
     .contains = "not available"},
    {"an_unknown_package", "import x from 'left-pad'; return x", .type = "permission_error",
     .contains = "Available are node:fs/promises"},
    {"node_fs_says_what_to_use", "import fs from 'fs'; return fs", .type = "permission_error",
     .contains = "node:fs/promises"},
    {"node_child_process", "import { exec } from 'node:child_process'; exec()",
     .type = "permission_error"},
    {"a_missing_export_is_told", "import { nope } from './lib.ts'; nope()", .type = "syntax_error",
     .contains = "It exports: a, default, renamed, twice.", .files = one},
    {"a_missing_export_of_an_imported_module_rejects",
     "try { await import('./wants.ts') } catch (e) { return String(e) }",
     .result =
         "\"SyntaxError: /workspace/wants.ts:1:10: /workspace/lib.ts does not export 'nope'\"",
     .files = wants},
    {"backslashes_and_NUL",
     "const out = []; for (const s of ['./a\\\\b', './a\\0b', 'a\\nb', '']) try { await import(s); "
     "} "
     "catch (e) { out.push(1) } return out.length",
     .result = "4"},
    {"eval_cannot_import",
     "try { await eval(\"import('node:path')\"); return 'in' } catch (e) { return 'out' }",
     .result = "\"out\""},

    /* builtins */
    {"node_path",
     "import path, { join, basename } from 'node:path';\nreturn [join('/a', '../b', './c/'), "
     "basename('/x/y.ts', '.ts'), path.extname('a.b.c'), path.resolve('x'), "
     "path.relative('/a/b/c', "
     "'/a/d'), path.normalize('a//b/../c'), path.dirname('/a/b/'), path.parse('/h/f.txt').name, "
     "path.isAbsolute('/x'), path.format({dir: '/d', name: 'n', ext: 'e'}), path.sep]",
     .result = "[\"/b/c/\",\"y\",\".c\",\"/workspace/x\",\"../../d\",\"a/c\",\"/a\",\"f\",true,\"/"
               "d/n.e\",\"/\"]"},
    {"bare_builtin_names",
     "import { join } from 'path'; import * as c from 'crypto'; import { "
     "inspect } from 'util'; import { Buffer as B } from 'buffer'; return "
     "[join('a', 'b'), typeof c.createHash, inspect({a: 1}), B === Buffer]",
     .result = "[\"a/b\",\"function\",\"{ a: 1 }\",true]"},
    {"node_util",
     "import util, { promisify, isDeepStrictEqual as eq, format, types } from 'node:util';\n"
     "const p = promisify((a, cb) => setTimeout(() => cb(null, a + 1), 1));\n"
     "return [await p(1), eq({a: [1, new Map([[1, new Set([2])]])]}, {a: [1, new Map([[1, new "
     "Set([2])]])]}), eq([1], ['1']), eq({a: undefined}, {}), format('%s=%d', 'x', 1, {b: 2}), "
     "types.isDate(new Date()), util.inspect('s'), types.isProxy(new Proxy({}, {}))]",
     .result = "[2,true,false,false,\"x=1 { b: 2 }\",true,\"'s'\",true]"},
    {"node_crypto",
     "import { createHash, createHmac, randomBytes, randomUUID, randomInt } from 'node:crypto';\n"
     "return [createHash('sha256').update('a').update('bc').digest('hex'), "
     "createHash('md5').update('').digest('hex'), createHmac('sha256', 'key').update('The quick "
     "brown fox jumps over the lazy dog').digest('hex'), randomBytes(4).length, "
     "randomUUID().length, randomInt(5) < 5, createHash('sha1').update('abc').digest('base64')]",
     .result = "[\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\","
               "\"d41d8cd98f00b204e9800998ecf8427e\","
               "\"f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8\",4,36,true,"
               "\"qZk+NkcGgWq6PiVxeFDCbJzQ2J0=\"]"},
    {"unknown_digest", "import { createHash } from 'crypto'; createHash('sha3')",
     .type = "runtime_error", .contains = "there are md5, sha1"},
    {"builtin_namespaces_have_a_default",
     "import * as p from 'node:path'; return p.default.join === p.join", .result = "true"},

    /* how programs are written */
    {"export_default_function_is_called_with_inputs",
     "export default async function (inputs: {n: number}) { return inputs.n + 1 }",
     .inputs = "{\"n\":4}", .result = "5"},
    {"bare_arrow_is_called", "async ({ n }) => n * 2", .inputs = "{\"n\":4}", .result = "8"},
    {"export_default_value", "export default { a: 1 }", .result = "{\"a\":1}"},
    {"trailing_expression", "const x: number = 2;\nx * 21", .result = "42"},
    {"code_fence", "```ts\nreturn 5\n```", .result = "5"},
    {"enums_and_types",
     "enum C { A = 1, B }\ninterface X { a: C }\nconst x = { a: C.B } as X;\nreturn [x.a, C[2]]",
     .result = "[2,\"B\"]"},
    {"import_meta", "return import.meta.url", .result = "\"file:///workspace/program.ts\""},
    {"syntax_error_with_position", "const a = 1;\nconst b = ;\n", .type = "syntax_error",
     .contains = "\"line\":2,\"column\":11"},
    {"wrapper_break_out_with_an_arrow",
     "return 'inside';\n})().catch(() => 0); console.log('out'); (async () => {\nreturn 'x';",
     .type = "syntax_error", .lacks = "info: out"},
    {"wrapper_break_out_with_a_function",
     "return 'inside';\n}\nconsole.log('out');\nasync function another_one() {\nreturn 'x';",
     .type = "syntax_error", .lacks = "info: out"},
    {"a_syntax_error_only_the_engine_sees", "let a = 1; let b = 2; return /[/.test('x')",
     .type = "syntax_error"},
    {"duplicate_declarations", "let a = 1;\nlet a = 2;", .type = "syntax_error",
     .contains = "\"line\":2"},
    {"source_url_comments_choose_no_names",
     "//# sourceURL=../../../../var/log/audit.log\n//# sourceMappingURL=file:///etc/x\n//@ "
     "sourceURL=approved.ts\nthrow new Error('where')",
     .type = "runtime_error", .contains = "\"line\":4", .lacks = "audit.log:"},
    {"facts_are_sent_before_anything_runs",
     "import { tidy } from '/skills/tidy.ts'; eval('1'); await tools.github.search({}); return 1",
     .type = "permission_error", .files = one, .contains = "no tool servers"},
};

int main(void)
{
    return run_cases("worker_modules", cases, CS_COUNT(cases));
}

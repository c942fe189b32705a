/* What the answers of one server can get into arguments of another. */
#include "compile/reach_cases.h"

#define FLOW "crm.find > mail.send"

static const struct output_case found[] = {
    {"const rows = await tools.crm.find({}); await tools.mail.send({ to: rows[0].email })", FLOW},
    {"await tools.mail.send(await tools.crm.find({}))", FLOW},
    {"const r = await caisson.callTool('crm', 'find'); caisson.callTool('mail', 'send', { r })",
     FLOW},
    {"await tools.mail.send({ text: `${(await tools.crm.find({})).name}` })", FLOW},
    {"for (const r of await tools.crm.find({})) await tools.mail.send({ to: r.email })", FLOW},
    {"const { data: { rows: [first] } } = await tools.crm.find(); tools.mail.send(first)", FLOW},
    {"const rs = await tools.crm.find(); rs.map(r => tools.mail.send({ to: r.email }))", FLOW},
    {"const rs = await tools.crm.find();\n"
     "await Promise.all(rs.filter(r => r.ok).map(async ({ email }) => {\n"
     "  await tools.mail.send({ to: email })\n}))",
     FLOW},
    {"const out = []; for (const r of await tools.crm.find()) out.push(r.name);\n"
     "await tools.mail.send({ text: out.join() })",
     FLOW},
    {"let text = ''; for (const r of await tools.crm.find()) text += r.name;\n"
     "await tools.mail.send({ text })",
     FLOW},
    {"const o = {}; o.rows = await tools.crm.find(); tools.mail.send({ o })", FLOW},
    {"const m = new Map(); m.set(1, await tools.crm.find()); tools.mail.send(m.get(1))", FLOW},
    {"async function load() { return tools.crm.find() }\n"
     "async function send(x, y) { await tools.mail.send({ y }) }\nsend(1, await load())",
     FLOW},
    {"tools.crm.find().then(rs => rs.map(r => r.id)).then(ids => tools.mail.send({ ids }))", FLOW},
    {"const x = await crm.find(); await mail.send(x)", FLOW},
    {"import { find } from '/mcp-servers/crm/find.ts'; import * as m from '/mcp-servers/mail';\n"
     "await m.send(await find())",
     FLOW},
    {"const { crm, mail } = tools; mail.send(await crm.find())", FLOW},
    {"const sum = (await tools.crm.find()).reduce((a, r) => { a[r.k] = 1; return a }, {});\n"
     "tools.mail.send(sum)",
     FLOW},
    {"const r = JSON.parse(JSON.stringify(await tools.crm.find())); tools.mail.send(r)", FLOW},
    {"let x; function get() { return x } x = await tools.crm.find(); tools.mail.send(get())", FLOW},
};

static const struct output_case misses[] = {
    {"await tools.crm.find(); await tools.mail.send({ text: 'hello' })", ""},
    {"const a = await tools.crm.find(); await tools.crm.update({ a })", ""},
    {"const a = await tools.crm.find(); if (a.length > 3) await tools.mail.send({ n: 'many' })",
     ""},
    {"const n = (await tools.crm.find()).length > 3; tools.mail.send({ t: n ? 'a' : 'b' })", ""},
    {"const [a, b] = await Promise.all([tools.crm.find(), tools.mail.list()]); tools.mail.send(b)",
     ""},
    {"const d = { a: await tools.crm.find(), b: 1 }; tools.mail.send(d.b); return d", ""},
    {"async function send(x, y) { await tools.mail.send({ y }) }\n"
     "send(await tools.crm.find(), 1)",
     ""},
    {"await tools.mail.send({ to: inputs.to }); return tools.crm.find()", ""},
    {"const id = inputs.id; const by = {}; by[id] = await tools.crm.find(id);\n"
     "await tools.mail.send({ id })",
     ""},
    {"const r = await tools.crm.find(); const i = await tools.gh.create({ r });\n"
     "await tools.mail.send({ i })",
     "crm.find > gh.create, gh.create > mail.send"},
    {"async function load() { const a = await tools.crm.find(); return { a, b: 2 } }\n"
     "const { b } = await load(); tools.mail.send({ b })",
     ""},
    {"main(); async function main() { const { b } = await load(); tools.mail.send(b) }\n"
     "async function load() { return { a: await tools.crm.find(), b: 1 } }",
     ""},
    {"console.log(await tools.crm.find()); await tools.mail.send({ text: 'done' })", ""},
    {"const seen = new Set(['a']); if (seen.has(await tools.crm.find())) tools.mail.send(seen)",
     ""},
    {"const r = await tools.crm.find(), t = ['a']; t.includes(r.x); t[r.i]; tools.mail.send(t)",
     ""},
    {"tools.mail.send(await Deno.readTextFile('x')); return tools.crm.find()", ""},
    {"const o = { name() { return r } }, r = await tools.crm.find(); tools.mail.send({ q: 1 })",
     ""},
    {"const u = new URL('https://a.example'); const r = await tools.crm.find();\n"
     "u.searchParams.get(r); tools.mail.send(u.href)",
     ""},
};

static const struct output_case evasions[] = {
    {"try { throw await tools.crm.find() } catch (e) { tools.mail.send({ e }) }", FLOW},
    {"globalThis.x = await tools.crm.find(); tools.mail.send(x)", FLOW},
    {"state.x = await tools.crm.find(); tools.mail.send({ ...state })", FLOW},
    {"const { send } = tools['ma' + 'il']; const f = send.bind(null); f(await tools.crm.find())",
     FLOW},
    {"tools.mail.send.call(null, await tools.crm.find())", FLOW},
    {"Reflect.apply(tools.mail.send, null, [await tools.crm.find()])", FLOW},
    {"(await tools.crm.find()).forEach(tools.mail.send)", FLOW},
    {"const o = { f: tools.mail.send }; o.f(await tools.crm.find())", FLOW},
    {"class S { async load() { this.rows = await tools.crm.find() }\n"
     "async go() { for (const r of this.rows) await tools.mail.send(r) } }\n"
     "const s = new S(); await s.load(); await s.go()",
     FLOW},
    {"class S { #r; async load() { this.#r = await tools.crm.find() } go() { "
     "tools.mail.send(this.#r) "
     "} }\nnew S().go()",
     FLOW},
    {"function* g() { yield* x } const x = await tools.crm.find();\n"
     "for (const r of g()) tools.mail.send(r)",
     FLOW},
    {"function add(list, x) { list.push(x) } const all = [];\n"
     "add(all, await tools.crm.find()); tools.mail.send(all)",
     FLOW},
    {"const a = {}, b = a; b.x = await tools.crm.find(); tools.mail.send(a.x)", FLOW},
    {"const a = []; const last = a; last[0] = await tools.crm.find(); tools.mail.send(a)", FLOW},
    {"const a = {}; Object.assign(a, await tools.crm.find()); tools.mail.send(a)", FLOW},
    {"const rows = [{}]; for (const r of rows) r.x = await tools.crm.find();\n"
     "tools.mail.send(rows)",
     FLOW},
    {"let a; [a] = await tools.crm.find(); tools.mail.send(a)", FLOW},
    {"let a; ({ x: a } = await tools.crm.find()); tools.mail.send(a)", FLOW},
    {"const api = { get: () => tools.crm.find(), put: m => tools.mail.send(m) };\n"
     "api.put(await api.get())",
     FLOW},
    {"const o = { get x() { return y } }; const y = await tools.crm.find(); tools.mail.send(o.x)",
     FLOW},
    {"tools.mail.send`${await tools.crm.find()}`", FLOW},
    {"const fs = [tools.crm.find, tools.mail.send]; fs[1](await fs[0]())", FLOW},
    {"const go = c ? tools.mail.send : tools.mail.draft; go(await tools.crm.find())",
     "crm.find > mail.send, crm.find > mail.draft"},
    {"function f(...xs) { tools.mail.send(xs) } f(await tools.crm.find())", FLOW},
    {"const f = (a, b) => tools.mail.send(b); f(...await tools.crm.find())", FLOW},
    {"class A { find(x) { return 1 } } const r = [await tools.crm.find()].find(x => x);\n"
     "tools.mail.send(r)",
     FLOW},
    {"main(); async function main() { const o = await load(); send(o.a.b) }\n"
     "function send(x) { tools.mail.send(x) }\n"
     "async function load() { return { a: { b: await tools.crm.find() } } }",
     FLOW},
    {"const o = inputs, l = o.items; l.push(await tools.crm.find()); tools.mail.send(o)", FLOW},
    {"const h = {}; h[a] = x => tools.mail.send(x); h[b](await tools.crm.find())", FLOW},
    {"const fs = []; fs.push(x => tools.mail.send(x)); for (const f of fs) f(await crm.find())",
     FLOW},
    {"eval('tools.mail.send(await tools.crm.find())')", FLOW},
    /* By way of somebody else. */
    {"await Deno.writeTextFile('/tmp/x', JSON.stringify(await tools.crm.find()));\n"
     "tools.mail.send({ q: await Deno.readTextFile('/tmp/x') })",
     FLOW},
    {"import { writeFile, readFile } from 'node:fs/promises';\n"
     "await writeFile('/tmp/x', await tools.crm.find()); tools.mail.send(await readFile('/tmp/x'))",
     FLOW},
    {"import fs from 'node:fs'; fs.writeFileSync('x', await tools.crm.find());\n"
     "tools.mail.send(fs.readFileSync('x'))",
     FLOW},
    {"await caisson.storage.put('a', await tools.crm.find());\n"
     "tools.mail.send(await caisson.storage.get('a'))",
     FLOW},
    {"const u = new URL('https://a.example'); u.searchParams.set('q', await tools.crm.find());\n"
     "tools.mail.send(u.href)",
     FLOW},
    {"const r = await tools.crm.find(), o = {}; o[r.name] = 1; tools.mail.send(Object.keys(o))",
     FLOW},
    {"function s() { tools.mail.send(arguments[0]) } s(await tools.crm.find())", FLOW},
    {"const o = { toJSON() { return v } }; let v; v = await tools.crm.find();\n"
     "tools.mail.send({ o })",
     FLOW},
    {"class O { toJSON() { return v } } let v; v = await tools.crm.find(); const o = new O();\n"
     "tools.mail.send({ o })",
     FLOW},
    {"const t = new EventTarget(); t.addEventListener('x', e => tools.mail.send(e.detail));\n"
     "t.dispatchEvent(new CustomEvent('x', { detail: await tools.crm.find() }))",
     FLOW},
    {"const q = new Queue(); q.keep(await tools.crm.find()); tools.mail.send(q.last())", FLOW},
    {"const f = c ? x => tools.mail.send(x) : x => 1; f(await tools.crm.find())", FLOW},
    {"namespace N { export let r } N.r = await tools.crm.find(); tools.mail.send(N.r)", FLOW},
    {"class A { static r; static go() { tools.mail.send(A.r) } }\n"
     "A.r = await tools.crm.find(); A.go()",
     FLOW},
};

static void what_flows_from_one_server_to_another_is_found(void **state)
{
    (void)state;
    check_facts(CS_FACT_FLOW, false, found, CS_COUNT(found));
}

static void what_does_not_flow_is_not_said_to(void **state)
{
    (void)state;
    check_facts(CS_FACT_FLOW, false, misses, CS_COUNT(misses));
}

static void flows_by_other_ways_are_found(void **state)
{
    (void)state;
    check_facts(CS_FACT_FLOW, false, evasions, CS_COUNT(evasions));
}

/* v0 = tool; v1 = v0; ... in an order that takes as many walks as there are variables. */
static void what_takes_too_long_counts_as_all(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_puts(&text, "let x;");
    for (int i = 0; i <= 3000; i++)
        cs_buf_printf(&text, "var v%d;", i);
    for (int i = 3000; i > 0; i--)
        cs_buf_printf(&text, "v%d = v%d + x;", i, i - 1);
    cs_buf_puts(&text, "v0 = await tools.crm.find(); tools.mail.send(v3000)");
    char facts[256];
    facts_of(cs_buf_cstr(&text), CS_FACT_FLOW, false, facts, sizeof facts);
    assert_string_equal(facts, "* > *");
    facts_of(cs_buf_cstr(&text), CS_FACT_TOOL, false, facts, sizeof facts);
    assert_non_null(strstr(facts, "*"));
}

static void flows_are_bounded(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_puts(&text, "const all = [];");
    for (int i = 0; i < 1000; i++)
        cs_buf_printf(&text, "all.push(await tools.s%d.t(all));", i);
    struct cs_compiled c = {0};
    struct cs_diag d;
    assert_int_equal(cs_compile(CS_COMPILE_PROGRAM, cs_buf_str(&text), &c, &d), 0);
    uint32_t flows = 0, any = 0;
    for (uint32_t i = 0; i < c.fact_count; i++) {
        flows += c.facts[i].kind == CS_FACT_FLOW;
        any += c.facts[i].kind == CS_FACT_FLOW && cs_str_is(c.facts[i].name, "* > *");
    }
    assert_in_range(flows, 1, 300);
    assert_int_equal(any, 1);
    cs_compiled_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_flows_from_one_server_to_another_is_found),
        cmocka_unit_test(what_does_not_flow_is_not_said_to),
        cmocka_unit_test(flows_by_other_ways_are_found),
        cmocka_unit_test(what_takes_too_long_counts_as_all),
        cmocka_unit_test(flows_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

"""What programs may look like, and what becomes of the values they return."""

from harness import table


@table([
    ("return", "return 1 + 1", 2),
    ("trailing expression", "const a = 20;\na + 1", 21),
    ("trailing object", "({ a: 1 })", {"a": 1}),
    ("await", "await Promise.resolve(5)", 5),
    ("export default", "export default 7", 7),
    ("export default function", "export default function (inputs: { n: number }) { return inputs.n + 1 }", 11),
    ("export default async", "export default async function main(inputs: any) { await null; return inputs.n * 2 }", 20),
    ("bare arrow", "(inputs) => inputs.n + 2", 12),
    ("bare async arrow", "async ({ n }: { n: number }) => { await null; return n + 3 }", 13),
    ("bare function", "async function run(inputs: any) { return inputs.n }", 10),
    ("fenced", "```ts\nconst x: number = 3;\nreturn x;\n```", 3),
    ("fenced with talk", "Here is the code:\n```typescript\nreturn 4;\n```\n", 4),
    ("crlf", "const a: number = 1;\r\nreturn a;\r\n", 1),
    ("bom", "\ufeffreturn 9", 9),
    ("types", "interface P { x: number }\ntype Q = P & { y?: string };\nconst p = { x: 1 } as Q satisfies P;\nreturn p!.x", 1),
    ("generics", "function id<T extends unknown>(v: T): T { return v }\nreturn id<number>(5)", 5),
    ("enum", "enum E { A = 1, B, C = 'c' as any }\nreturn [E.A, E.B, E[2]]", [1, 2, "B"]),
    ("namespace", "namespace N { export const v = 3 }\nreturn N.v", 3),
    ("parameter property", "class C { constructor(private readonly a: number, public b = 2) {} sum() { return this.a + this.b } }\nreturn new C(1).sum()", 3),
    ("overloads", "function f(a: string): string;\nfunction f(a: number): number;\nfunction f(a: any) { return a }\nreturn f(3)", 3),
    ("abstract", "abstract class A { abstract v(): number; w() { return this.v() } }\nclass B extends A { v() { return 8 } }\nreturn new B().w()", 8),
    ("import type", "import type { X } from './nowhere.ts';\nreturn 1", 1),
    ("this and new.target", "function F(this: any) { return typeof this }\nreturn F.call(5 as any)", "number"),
    ("optional chain", "const o: any = {};\nreturn o?.a?.[0] ?? 'none'", "none"),
    ("regex or division", "const a = 4, g = 2;\nreturn a / 2 / g", 1),
    ("template", "const n = 2;\nreturn `${n}${`${n + 1}`}`", "23"),
])
def test_what_models_write_is_accepted(t, name, code, wanted):
    e = t.envelope(code, "--input", '{"n": 10}')
    t.true(e["status"] == "completed", "failed: %r" % e.get("error"))
    t.equal(e["result"], wanted, "result")


@table([
    ("Date", "return new Date(0)", "1970-01-01T00:00:00.000Z"),
    ("NaN", "return [NaN, Infinity, -0]", [None, None, 0]),
    ("sparse", "return [1, , 3]", [1, None, 3]),
    ("nested undefined", "return { a: undefined, b: 1 }", {"b": 1}),
    ("toJSON", "return { toJSON() { return 'mine' } }", "mine"),
    ("promise", "return Promise.resolve([1])", [1]),
    ("unicode keys", "return { 'é': 1, '': 2 }", {"é": 1, "": 2}),
    ("__proto__", "return JSON.parse('{\"__proto__\": 1}')", {"__proto__": 1}),
])
def test_values_have_one_answer(t, name, code, wanted):
    e = t.envelope(code)
    t.true(e["status"] == "completed", "failed: %r" % e.get("error"))
    t.equal(e["result"], wanted, "result")


@table([
    ("BigInt", "return 10n ** 30n"), ("Map", "return new Map([[1, 2]])"), ("Set", "return new Set([1])"), ("typed array", "return new Uint8Array([1, 2])"),
    ("error", "return new Error('as value')"), ("function", "return () => 1"), ("symbol", "return Symbol('s')"), ("regex", "return /x/g"),
    ("cycle", "const o: any = {}; o.self = o; return o"),
])
def test_odd_values_have_a_defined_answer(t, name, code):
    """The same twice, and never our own fault."""
    a, b = t.envelope(code), t.envelope(code)
    t.true(a["status"] in ("completed", "failed"), "status %r" % a["status"])
    t.equal(a.get("result"), b.get("result"), "result")
    if a["status"] == "failed":
        t.true(a["error"]["type"] in ("runtime_error", "type_error", "validation_error"), "error %r" % a["error"])
        t.true(a["error"].get("message"), "no message")


@table([
    ("URL", "const u = new URL('../x?a=1#h', 'https://e.org/p/q'); return [u.href, u.searchParams.get('a')]", ["https://e.org/x?a=1#h", "1"]),
    ("URLSearchParams", "return new URLSearchParams({ a: '1 2', b: 'é' }).toString()", "a=1+2&b=%C3%A9"),
    ("TextEncoder", "return [...new TextEncoder().encode('é')]", [195, 169]),
    ("TextDecoder", "return new TextDecoder().decode(new Uint8Array([195, 169]))", "é"),
    ("atob", "return [atob('aGk='), btoa('hi')]", ["hi", "aGk="]),
    ("structuredClone", "const m = structuredClone(new Map([[1, { a: new Date(0) }]])); return [m instanceof Map, m.get(1).a.getTime()]", [True, 0]),
    ("sha-256", "const d = await crypto.subtle.digest('SHA-256', new TextEncoder().encode('abc')); return [...new Uint8Array(d)].map((b) => b.toString(16).padStart(2, '0')).join('').slice(0, 16)", "ba7816bf8f01cfea"),
    ("uuid", "return /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())", True),
    ("random values", "const a = crypto.getRandomValues(new Uint8Array(32)); return new Set(a).size > 4", True),
    ("abort", "const c = new AbortController(); let seen = 0; c.signal.addEventListener('abort', () => seen++); c.abort(); return [seen, c.signal.aborted]", [1, True]),
    ("microtask order", "const o: number[] = []; setTimeout(() => o.push(3), 0); queueMicrotask(() => o.push(2)); o.push(1); await new Promise((f) => setTimeout(f, 5)); return o", [1, 2, 3]),
    ("interval", "let n = 0; await new Promise<void>((f) => { const i = setInterval(() => { if (++n === 3) { clearInterval(i); f(); } }, 1); }); return n", 3),
    ("Intl", "return new Intl.NumberFormat('en-US').format(1234567.891)", "1,234,567.891"),
    ("node:path", "import path from 'node:path';\nreturn path.join('/a', '..', 'b', 'c.ts')", "/b/c.ts"),
    ("node:util", "import { inspect } from 'node:util';\nreturn typeof inspect({ a: 1 })", "string"),
    ("node:crypto", "import { createHash } from 'node:crypto';\nreturn createHash('sha256').update('abc').digest('hex').slice(0, 16)", "ba7816bf8f01cfea"),
    ("node:buffer", "import { Buffer } from 'node:buffer';\nreturn Buffer.from('hi').toString('base64')", "aGk="),
    ("no wasm", "return [typeof (globalThis as any).WebAssembly, typeof (globalThis as any).SharedArrayBuffer, typeof (globalThis as any).Worker]", ["undefined"] * 3),
    ("stopped clock", "const a = Date.now(); let x = 0; for (let i = 0; i < 5e6; i++) x += i; return Date.now() - a", 0),
    ("moving clock", "const a = Date.now(); await new Promise((f) => setTimeout(f, 30)); return Date.now() - a >= 30", True),
])
def test_the_runtime_has_what_programs_use(t, name, code, wanted):
    e = t.envelope(code)
    t.true(e["status"] == "completed", "failed: %r" % e.get("error"))
    t.equal(e["result"], wanted, "result")


@table([
    ("levels", "console.debug('d'); console.info('i'); console.warn('w'); console.error('e')", [("debug", "d"), ("info", "i"), ("warn", "w"), ("error", "e")]),
    ("format", "console.log('%s is %d', 'x', 4, { a: [1, 'b'] })", [("info", "x is 4 { a: [ 1, 'b' ] }")]),
    ("group", "console.group('g'); console.log('in'); console.groupEnd(); console.log('out')", [("info", "g"), ("info", "  in"), ("info", "out")]),
    ("count", "console.count(); console.count('k'); console.count()", [("info", "default: 1"), ("info", "k: 1"), ("info", "default: 2")]),
    ("assert", "console.assert(true, 'no'); console.assert(false, 'yes')", [("error", "Assertion failed: yes")]),
])
def test_console_writes_what_node_writes(t, name, code, wanted):
    got = [(l["level"], l["text"]) for l in t.envelope(code)["logs"]]
    t.equal(got, wanted, "logs")


def test_a_table_is_drawn(t):
    text = "\n".join(l["text"] for l in t.envelope("console.table([{ a: 1, b: 'x' }, { a: 2, b: 'y' }])")["logs"])
    for piece in ("a", "b", "1", "x", "2", "y"):
        t.has(text, piece, "table")
    t.true(text.count("\n") >= 4, "not a table: %r" % text)


def test_randomness_differs_between_runs(t):
    code = "return [Math.random(), crypto.randomUUID()]"
    a, b = t.envelope(code)["result"], t.envelope(code)["result"]
    t.true(a[0] != b[0] and a[1] != b[1], "the same twice: %r %r" % (a, b))

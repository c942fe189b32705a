"""Errors say what happened, where, and what to do."""

from harness import table

# name, code, type, line, columns (from the offending token's start to just behind it), a piece of the message
POSITIONS = [
    ("unknown name", "const a = 1;\nreturn a + missing;", "runtime_error", 2, (12, 19), "missing"),
    ("null", "const o: any = null;\n\n  o.x.y;", "type_error|runtime_error", 3, (3, 5), "null"),
    ("not a function", "const o: any = {};\no.go();", "type_error|runtime_error", 2, (1, 5), "function"),
    ("thrown", "function f(): never {\n  throw new Error('deep');\n}\nf();", "runtime_error", 2, (3, 18), "deep"),
    ("thrown after await", "await null;\nthrow new RangeError('late');", "runtime_error", 2, (1, 21), "late"),
    ("after types", "type T = { a: number; b: string };\nconst x: T = { a: 1, b: 'x' }; throw new Error('here');", "runtime_error", 2, (32, 48), "here"),
    ("after an enum", "enum E { A, B }\nthrow new Error('enum' + E.B);", "runtime_error", 2, (1, 16), "enum1"),
    ("syntax", "const a = 1;\nconst = 2;", "syntax_error", 2, 7, ""),
    ("unfinished", "const a = [1, 2;\nreturn a", "syntax_error", 1, 16, ""),
    ("unclosed brace", "function f() {\n  return 1;\n", "syntax_error", 3, 1, ""),
    ("unclosed string", "const a = 'x;\nreturn a", "syntax_error", 1, 11, ""),
    ("unclosed template", "const a = 1;\nreturn `x${a", "syntax_error", 2, None, ""),
    ("bad regex", "const a = 1;\nconst r = /(/;", "syntax_error", 2, None, ""),
    ("decorator", "const a = 1;\n@dec\nclass C {}", "syntax_error", 3 - 1, 1, "decorator"),
    ("jsx", "const a = 1;\nreturn <div>hi</div>;", "syntax_error", 2, None, "JSX"),
    ("import equals", "import fs = require('fs');", "syntax_error", 1, None, ""),
    ("closes the wrapper", "return 1;\n}); console.log('out'); (async () => {", "syntax_error", 2, 1, ""),
    ("fenced", "```ts\nconst a = 1;\nnope();\n```", "runtime_error", 3, (1, 5), "nope"),
    ("crlf", "const a = 1;\r\nnope();\r\n", "runtime_error", 2, (1, 5), "nope"),
    ("wide characters", "const s = '\U0001F600\U0001F600'; nope();", "runtime_error", 1, (19, 23), "nope"),
    ("in a timer", "setTimeout(() => {\n  throw new Error('in timer');\n}, 1);\nawait new Promise((f) => setTimeout(f, 20));", "runtime_error", 2, None, "in timer"),
    ("in a class", "class A {\n  get v(): number { return nope; }\n}\nreturn new A().v", "runtime_error", 2, (28, 32), "nope"),
    ("missing module", "import { x } from './nowhere.ts';\nreturn x", "permission_error|syntax_error|runtime_error", 1, None, "nowhere"),
    ("outside import", "const a = 1;\nimport p from '/etc/passwd';\nreturn p", "permission_error|syntax_error", 2, None, "/etc/passwd"),
    ("not exported", "import { nope } from 'node:path';\nreturn nope", "syntax_error|runtime_error", 1, None, "nope"),
]


@table(POSITIONS)
def test_an_error_has_its_position(t, name, code, kind, line, column, piece):
    done = t.run(code, "-o", "json")
    t.status(done, 3 if done.json()["status"] == "denied" else 1)
    error = done.json()["error"]
    t.true(error["type"] in kind.split("|"), "type %r: %r" % (error["type"], error["message"]))
    t.has(error["message"].lower(), piece.lower(), "message")
    t.equal(error.get("line"), line, "line")
    if isinstance(column, int):
        column = (column, column)
    if column is not None:
        t.true(column[0] <= (error.get("column") or 0) <= column[1], "column %r, not in %r" % (error.get("column"), column))
    if error.get("column"):
        check_snippet(t, error, code)


def check_snippet(t, error, code):
    """The source line, and below it a caret under the column."""
    source = code.replace("\r", "").split("\n")[error["line"] - 1]
    lines = error["snippet"].split("\n")
    shown = [i for i, l in enumerate(lines) if source.strip() and source.strip()[:60] in l]
    if not source.strip():
        return
    t.true(shown, "the snippet lacks the source line %r: %r" % (source, error["snippet"]))
    caret = lines[shown[0] + 1]
    t.true(caret.strip(" |0123456789").startswith("^"), "no caret below the line: %r" % error["snippet"])
    if source.isascii():
        t.equal(caret.index("^") - lines[shown[0]].index(source.strip()), error["column"] - 1 - (len(source) - len(source.lstrip())), "caret's place")


def test_the_text_form_shows_place_line_and_caret(t):
    done = t.caisson("run", t.file("prog.ts", "const a = 1;\n  nope(a);\n"))
    t.status(done, 1)
    t.equal(done.out, "", "stdout")
    t.matches(done.err, r"prog\.ts:2:|line 2", "stderr")
    lines = done.err.split("\n")
    at = [i for i, l in enumerate(lines) if "nope(a);" in l]
    t.true(at, "no source line in %r" % done.err)
    t.true(0 <= lines[at[0] + 1].index("^") - lines[at[0]].index("nope") <= 4, "caret's place: %r" % lines)


def test_a_stack_has_the_agents_own_positions(t):
    code = "function inner(): never {\n  throw new Error('x');\n}\nconst outer = (): void => {\n  inner();\n};\nouter();"
    error = t.envelope(code)["error"]
    t.matches(error["stack"], r"inner.*2:\d+.*outer.*5:\d+.*7:\d+", "stack")
    for hidden in ("prelude", "[native", "/home", "/root", "$export"):
        t.lacks(error["stack"], hidden, "stack")


def test_a_stack_inside_the_program_is_mapped_too(t):
    got = t.envelope("interface A { b: number }\nenum E { X }\nreturn (new Error('x')).stack")["result"]
    t.matches(got, r"program\.ts:3:\d+", "stack")


def test_an_error_in_a_module_names_the_module(t):
    t.file("ws/lib.ts", "export const a = 1;\nexport function f(): never {\n  throw new Error('in lib');\n}\n")
    e = t.envelope("import { f } from './lib.ts';\nf();", "--workspace", t.dir + "/ws")
    t.matches(e["error"]["stack"], r"lib\.ts:3:\d+", "stack")
    t.has(e["error"]["message"], "in lib", "message")


def test_a_syntax_error_in_a_module_names_the_module(t):
    t.file("ws/lib.ts", "export const a = 1;\nexport const = 2;\n")
    e = t.envelope("import { a } from './lib.ts';\nreturn a", "--workspace", t.dir + "/ws")
    t.equal(e["error"]["type"], "syntax_error", "type")
    t.has(str(e["error"]), "lib.ts", "error")
    t.equal(e["error"]["line"], 2, "line")


@table([("string", "throw 'just text'", "just text"), ("object", "throw { code: 7 }", "7"), ("undefined", "throw undefined", ""), ("null", "throw null", ""),
        ("cause", "throw new Error('outer', { cause: new Error('inner') })", "outer"),
        ("aggregate", "await Promise.any([Promise.reject(new Error('first')), Promise.reject(new Error('second'))])", ""),
        ("throwing message", "throw { get message() { throw new Error('nested'); } }", ""),
        ("proxy", "throw new Proxy({}, { get() { throw 1; } })", "")])
def test_whatever_is_thrown_is_an_error_of_the_program(t, name, code, piece):
    done = t.run(code, "-o", "json")
    t.status(done, 1)
    error = done.json()["error"]
    t.equal(error["type"], "runtime_error", "type")
    t.has(error["message"], piece, "message")
    t.true(error["message"], "an empty message")


def test_a_rejection_that_nobody_handles_is_logged(t):
    e = t.envelope("Promise.reject(new Error('unhandled one'));\nawait new Promise((f) => setTimeout(f, 5));\nreturn 1")
    t.equal(e["result"], 1, "result")
    t.true(any(l["level"] == "error" and "unhandled one" in l["text"] for l in e["logs"]), "logs %r" % e["logs"])


def test_a_promise_that_waits_for_nothing_is_told_at_once(t):
    done = t.run("await new Promise(() => {});", "-o", "json", "--timeout", "100s")
    t.status(done, 1)
    t.true(done.seconds < 60, "took %.1f s" % done.seconds)
    t.matches(done.json()["error"]["message"], "never|waits|nothing|pending", "message")


# The usual mistakes. name, code, what the suggestion must speak of
SUGGESTIONS = [
    ("missing await", "const load = async () => ({ items: [1, 2] });\nconst d: any = load();\nreturn d.items.length", r"await"),
    ("missing await, method", "const load = async () => [1, 2];\nconst d: any = load();\nreturn d.map((x: number) => x)", r"await"),
    ("require", "const fs = require('fs');\nreturn 1", r"import"),
    ("module.exports", "module.exports = { a: 1 };", r"export|return"),
    ("wrong import path", "import { a } from './helpers.ts';\nreturn a", r"/workspace|/mcp-servers|/skills|path"),
    ("npm package", "import axios from 'axios';\nreturn axios", r"fetch|tools|packages|node:|install"),
    ("node:fs", "import fs from 'node:fs';\nreturn fs", r"node:fs/promises"),
    ("fs", "import fs from 'fs';\nreturn fs", r"node:fs/promises"),
    ("child_process", "import { exec } from 'node:child_process';\nreturn exec", r"bash|language|tools|programs"),
    ("process", "return process.env.HOME", r"inputs|environment"),
    ("window", "return window.location", r"globalThis|browser"),
    ("document", "return document.title", r"browser|page|DOM"),
    ("__dirname", "return __dirname", r"/workspace"),
    ("Buffer global", "return new NotThere()", r"import|declared|spell|defined"),
    ("assign to const", "const a = 1;\na = 2;\nreturn a", r"let"),
    ("use before definition", "return early();\nconst early = () => 1;", r"declar|before|move|above"),
    ("not iterable", "const o: any = { a: 1 };\nfor (const x of o) console.log(x);", r"Object\.(entries|keys|values)"),
    ("undefined property", "const o: any = {};\nreturn o.a.b", r"\?\."),
    ("bad JSON", "return JSON.parse('{a: 1}')", r"JSON|quot"),
    ("BigInt mix", "return 1n + (2 as any)", r"BigInt|Number\("),
    ("await in a plain function", "function f() {\n  return await Promise.resolve(1);\n}\nreturn f()", r"async"),
    ("jsx", "return <b>x</b>;", r"string|template|HTML|text"),
    ("decorator", "@x class A {}", r"function|call|wrap"),
    ("waits for nothing", "await new Promise((resolve) => {});", r"resolve"),
    ("cycle in the result", "const o: any = { a: 1 }; o.o = o; return o", r"cycl|circular|copy|fields|reference"),
    ("too deep", "const f = (n: number): number => f(n + 1); return f(0)", r"recursion|loop|stop condition"),
    ("time limit", "for (;;);", r"--timeout|timeout"),
    ("memory limit", "const a: any[] = []; for (;;) a.push(new Array(1e5).fill(1.5))", r"--memory|memory"),
    ("duplicate name", "const a = 1;\nconst a = 2;\nreturn a", r"rename|name|already"),
    ("python", "def main():\n    return 1", r"python|TypeScript"),
]


@table(SUGGESTIONS)
def test_a_usual_mistake_has_a_suggestion(t, name, code, pattern):
    options = {"time limit": ("--timeout", "200ms"), "memory limit": ("--memory", "64M")}.get(name, ())
    e = t.envelope(code, *options)
    t.true(e.get("error"), "no error: %r" % e.get("result"))
    t.matches(e["error"].get("suggestion"), pattern, "suggestion for %r" % e["error"]["message"])
    t.true(len(e["error"]["suggestion"]) < 400, "a long suggestion")


def test_a_suggestion_is_shown_to_people_too(t):
    done = t.run("const fs = require('fs');")
    t.matches(done.err, "import", "stderr")


def test_a_good_program_that_names_the_mistakes_has_no_error(t):
    t.equal(t.run("const s = 'require process window'; return s.length").out, "22\n", "stdout")

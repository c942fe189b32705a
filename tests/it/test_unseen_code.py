"""Code that is made out of text where the judge saw none: the engine refuses it, however it is reached."""

from harness import table

# What a reader of the text does not see: names that come about at run time, functions that find each other.
UNSEEN = [
    ("a name out of numbers", "return globalThis[[101, 118, 97, 108].map(n => String.fromCharCode(n + inputs.zero)).join('')]('1 + 1')"),
    ("a name out of inputs", "return (() => {})[inputs.key]('return 1')()"),
    ("twice over an array", "return [][inputs.key][inputs.key]('return 1')()"),
    ("of an async function", "return await (async () => {})[inputs.key]('return 1')()"),
    ("of a generator", "return (function* () {})[inputs.key]('yield 1')().next().value"),
    ("of an async generator", "return (await (async function* () {})[inputs.key]('yield 1')().next()).value"),
    ("a look at all globals", "for (const k of Object.getOwnPropertyNames(globalThis)) "
                              "if (k.length === 4 && k[1] === 'v') return globalThis[k]('1 + 1')"),
    ("through Reflect", "return Reflect.construct(Reflect.get(Math.max, inputs.key), ['return 1'])()"),
    ("in a callback", "return [1].map(() => Reflect.get(Math.max, inputs.key)('return 1')())[0]"),
    ("in a timer", "return await new Promise((yes, no) => setTimeout(() => { "
                   "try { yes(Reflect.get(Math.max, inputs.key)('return 1')()) } catch (e) { no(e) } }, 1))"),
    ("in a file that is imported later",
     "await fs.writeFile('/workspace/later.ts', \"export default (key) => Reflect.get(Math.max, key)('return 1')()\");"
     "return (await import('/workspace/' + 'later.ts')).default(inputs.key)"),
]


@table(UNSEEN)
def test_it_is_refused(t, name, code):
    t.lets_risky_programs_run()
    if "fs." in code:
        code = "import * as fs from 'node:fs/promises';\n" + code
    e = t.envelope(code, "--input", '{"key": "constructor", "zero": 0}')
    t.equal(e["status"], "failed", "status of %r" % e)
    t.has(e["error"]["message"], "nobody saw when the program was judged")


def test_a_program_can_catch_that(t):
    e = t.envelope("try { return (() => {})[inputs.key]('return 1')() } catch (e) { return [e.name, e instanceof EvalError] }",
                   "--input", '{"key": "constructor"}')
    t.equal(e["result"], ["EvalError", True])


def test_what_was_judged_runs(t):
    t.lets_risky_programs_run()
    t.equal(t.envelope("return eval('1 + 1') + new Function('return 5')() + (() => {}).constructor('return 1')()")["result"], 8)
    t.equal(t.envelope("return eval(inputs.code)", "--input", '{"code": "40 + 2"}')["result"], 42)
    t.file("ws/adding.ts", "export const add = () => eval('1 + 1')")
    t.equal(t.envelope("import { add } from './adding.ts';\nreturn add()", "--workspace", t.dir + "/ws")["result"], 2, "in a module")

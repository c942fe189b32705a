"""What a program imports while it runs is judged before any of it runs, as the program was."""

import json

from guarding import Waiting, asked, entries, office, pending, shown
from harness import table
from resting import begin, until
from serving import Daemon
from test_durable import ended, kill
from test_replay import replay, same

ADDING = "export const add = (a: number, b: number) => a + b;\n"
MAKING = "// makes something\nexport const make = (text: string) => eval(text);\n"

# Programs that write what they import are risky by themselves; here it is about what they import.
WRITERS = {"risk": {"rules": [{"id": "import-written-itself", "level": "MEDIUM"}]}}
PATIENT = {"approvals": {"timeout_s": 300}}

IMPORT = """
try {
    return (await import('/workspace/%s')).%s;
} catch (e) {
    return e.name + ': ' + e.message;
}
"""
WRITE = """
import { writeFile } from 'node:fs/promises';
await writeFile('/workspace/later.ts', %s);
"""


def writes(text, then):
    return WRITE % json.dumps(text) + then


def workspace(t, **files):
    for name, text in files.items():
        t.file("ws/%s.ts" % name, text)
    return "--workspace", t.dir + "/ws"


def policy(t, content):
    return "--policy", t.file("policy.json", json.dumps(content))


def waiting(t, code, *options):
    return Waiting(t, code, "-o", "json", *policy(t, PATIENT), *options)


def judged(t):
    return [e["risk"] for e in entries(t, "execution.imported")]


# --- at once ---


def test_what_is_harmless_runs_without_a_question(t):
    e = t.envelope(IMPORT % ("adding.ts", "add(1, 2)"), *workspace(t, adding=ADDING))
    t.equal(e["result"], 3, "result")
    t.equal(judged(t), ["LOW"], "what was judged")
    t.equal(entries(t, "approval.asked"), [], "who was asked")
    same(t, e)


def test_what_was_found_in_it_is_told(t):
    e = t.envelope(IMPORT % ("env.ts", "home"), *workspace(t, env="export const home = typeof process.env.HOME;"))
    t.equal(judged(t), ["MEDIUM"], "what was judged")
    found = [(f["id"], f.get("module")) for f in e["risk"]["findings"]]
    t.true(("env", "/workspace/env.ts") in found, "the finding is among %r" % found)
    t.true(any("env.ts line 1" in r for r in e["risk"]["reasons"]), "the reason is among %r" % e["risk"]["reasons"])


def test_it_is_judged_once(t):
    files = workspace(t, a="import { n } from './shared.ts'; export const a = n();", shared="let i = 0; export const n = () => ++i;",
                      b="import { n } from './shared.ts'; export const b = n();")
    e = t.envelope("""
        const both = await Promise.all([import('./a.ts'), import('./b.ts')]);
        const again = await import('./a.ts'), same = again === both[0];
        return [both[0].a, both[1].b, (await import('./shared.ts')).n(), same];""", *files)
    t.equal(e["result"], [1, 2, 3, True], "result")
    t.equal(judged(t), ["LOW", "LOW"], "what was judged")
    same(t, e)


def test_what_was_judged_with_the_program_is_not_judged_again(t):
    e = t.envelope("import { add } from './adding.ts';\nreturn (await import('./adding.ts')).add === add;",
                   *workspace(t, adding=ADDING))
    t.equal((e["result"], judged(t)), (True, []), "result, and what was judged")


def test_what_we_wrote_ourselves_is_not_judged(t):
    office(t, roles=("crm",))
    e = t.envelope("""
        const path = await import('node:path'), crm = await import('/mcp-servers/crm/countCustomers.ts');
        return [path.join('a', 'b'), typeof crm.default];""")
    t.equal((e["result"], judged(t)), (["a/b", "function"], []), "result, and what was judged")


def test_a_module_that_cannot_be_read_is_no_question(t):
    e = t.envelope(IMPORT % ("broken.ts", "x"), *workspace(t, broken="export const x = eval( ;"))
    t.has(e["result"], "SyntaxError", "result")
    t.equal(judged(t), [], "what was judged")


# --- a person is asked ---


def test_a_person_says_yes(t):
    with waiting(t, IMPORT % ("making.ts", "make('40 + 2')"), *workspace(t, making=MAKING)) as w:
        approval = w.asked()
        row = shown(t, approval)
        card = row["card"]
        t.equal((card["kind"], row["risk"]), ("program", "HIGH"), "what is asked")
        t.matches(card["why"], "imports /workspace/making.ts.*eval", "why")
        t.equal([f["name"] for f in card["program"]["files"]], ["/workspace/making.ts"], "files")
        line = card["program"]["file_lines"][0]
        t.equal((line["file"], line["line"]), ("/workspace/making.ts", 2), "place")
        t.has(line["text"], "eval(text)", "line")
        t.status(t.caisson("approve", approval, "--yes"), 0)
        done = w.end()
    e = done.json()
    t.equal((e["result"], e["risk"]["level"], e["risk"]["approved_by"]), (42, "HIGH", "local"), "how it ended")
    t.true(e["metrics"]["waited_ms"] > 0, "that it waited is told")
    same(t, e)


def test_whoever_runs_it_at_a_terminal_is_asked_in_place(t):
    status, seen = t.on_a_terminal("run", *policy(t, PATIENT), *workspace(t, making=MAKING), "-e", IMPORT % ("making.ts", "make('40 + 2')"),
                                   answers=[("answer: ", "y")], env={"NO_COLOR": "1"})
    t.equal(status, 0, "exit status")
    for piece in ("it runs, and imports /workspace/making.ts", "eval(text)", "42"):
        t.has(seen, piece, "the terminal")


def test_a_person_says_no(t):
    code = IMPORT % ("making.ts", "make('40 + 2')")
    with waiting(t, code, *workspace(t, making=MAKING)) as w:
        w.answer("deny", "--reason", "not from there")
        e = w.end().json()
    t.matches(e["result"], "'/workspace/making.ts' may not be imported: the import was not approved by local: not from there")
    same(t, e)


def test_no_is_no_the_next_time_too(t):
    code = """
        const said = [];
        for (let i = 0; i < 2; i++) try { await import('./making.ts'); } catch (e) { said.push(e.message); }
        try { await import('./behind.ts'); } catch (e) { said.push(e.message); }
        return said;"""
    files = workspace(t, making=MAKING, behind="export * from './making.ts';")
    with waiting(t, code, *files) as w:
        w.answer("deny")
        e = w.end().json()
    t.equal([e["result"][0]] * 3, e["result"], "the answers")
    t.equal(len(entries(t, "approval.asked")), 1, "how often somebody was asked")


def test_what_it_has_written_itself(t):
    code = writes(MAKING, "return (await import('/workspace/later.ts')).make('6 * 7');")
    with waiting(t, code, "-o", "json") as w:
        first = w.answer("approve", "--yes")
        second = until(t, "the second question", lambda: [i for i in asked(t) if i != first])[0]
        t.has(shown(t, first)["card"]["why"], "writes files, and imports", "the first question")
        t.has(shown(t, second)["card"]["why"], "/workspace/later.ts", "the second question")
        t.equal(shown(t, second)["card"]["program"]["file_lines"][0]["text"].strip(), MAKING.splitlines()[1], "line")
        t.status(t.caisson("approve", second, "--yes"), 0)
        e = w.end().json()
    t.equal(e["result"], 42, "result")
    same(t, e)


def test_a_path_that_is_put_together(t):
    code = "const m = await import('./' + inputs.name + '.ts'); return Object.keys(m);"
    files = workspace(t, making=MAKING, adding=ADDING)
    with waiting(t, code, "-i", '{"name": "adding"}', *files) as w:
        w.answer("approve", "--yes")
        t.equal(w.end().json()["result"], ["add"], "a harmless one is no further question")
    with waiting(t, code, "-i", '{"name": "making"}', *files) as w:
        first = w.answer("approve", "--yes")
        second = until(t, "the second question", lambda: [i for i in asked(t) if i != first])[0]
        t.status(t.caisson("deny", second, "--reason", "no"), 0)
        e = w.end().json()
    t.equal((e["status"], e["error"]["type"]), ("failed", "permission_error"), "how it ended")
    t.has(e["error"]["suggestion"], "go on without it", "suggestion")


def test_what_stands_behind_a_harmless_one(t):
    files = workspace(t, front="export { make } from './making.ts';", making=MAKING)
    with waiting(t, IMPORT % ("front.ts", "make('1')"), *files) as w:
        t.equal([f["name"] for f in w.card()["program"]["files"]], ["/workspace/front.ts", "/workspace/making.ts"], "files")
        w.answer("approve", "--yes")
        t.equal(w.end().json()["result"], 1, "result")


def test_what_is_new_is_seen_beside_what_is_old(t):
    """The program makes code, too, and somebody has let it: that says nothing about what it imports."""
    code = "const two = eval('1 + 1'); return (await import('./making.ts')).make('40') + two;"
    with waiting(t, code, *workspace(t, making=MAKING)) as w:
        first = w.answer("approve", "--yes")
        second = until(t, "the second question", lambda: [i for i in asked(t) if i != first])[0]
        t.equal(shown(t, second)["card"]["program"]["file_lines"][0]["line"], 2, "line")
        t.status(t.caisson("approve", second, "--yes"), 0)
        t.equal(w.end().json()["result"], 42, "result")


def test_always_holds_for_exactly_these_files(t):
    code = IMPORT % ("making.ts", "make('40 + 2')")
    with waiting(t, code, *workspace(t, making=MAKING)) as w:
        w.answer("approve", "--yes", "--always")
        t.equal(w.end().json()["result"], 42, "result")
    t.equal(t.envelope(code, *workspace(t, making=MAKING))["result"], 42, "nobody is asked again")
    with waiting(t, code, *workspace(t, making=MAKING + "\n")) as w:
        t.has(w.card()["why"], "making.ts", "asked again")


def test_other_calls_go_on_and_the_end_does_not_wait(t):
    code = """
        import('./making.ts').catch(() => {});
        return (await import('./adding.ts')).add(1, 2);"""
    e = t.envelope(code, *workspace(t, making=MAKING, adding=ADDING))
    t.equal(e["result"], 3, "result")
    t.equal(pending(t), [], "questions that are left")


def test_a_question_outlives_its_daemon(t):
    code = writes(MAKING, "const m = await import('/workspace/later.ts'); return m.make('6 * 7');")
    more = policy(t, WRITERS)
    with Daemon(t, *more) as d:
        execution = begin(t, d, code, durable=True)
        approval = asked(t)[0]
        kill(t, d)
    with Daemon(t, *more) as d:
        until(t, "the question again", lambda: d.get("/executions/" + execution).json()["status"] == "awaiting_approval")
        t.equal([p["id"] for p in pending(t)], [approval], "the question is the same")
        t.status(t.caisson("approve", approval, "--yes"), 0)
        e = ended(t, d, execution)
    t.equal(e["result"], 42, "result")
    same(t, e)


# --- by rule ---


def test_the_policy_refuses(t):
    e = t.envelope(IMPORT % ("making.ts", "x"), *policy(t, {"risk": {"then": {"HIGH": "deny"}}}), *workspace(t, making=MAKING))
    t.matches(e["result"], r"may not be imported: the policy refuses it \(risk.then.HIGH\): makes code at run time")
    t.equal(entries(t, "approval.asked"), [], "who was asked")
    same(t, e)


def test_the_policy_lets(t):
    t.lets_risky_programs_run()
    e = t.envelope(writes(MAKING, "return (await import('/workspace/later.ts')).make('6 * 7');"))
    t.equal(e["result"], 42, "result")
    same(t, e)


def test_what_is_made_of_two_halves(t):
    """Neither is HIGH alone: one imports what can be written, the other writes."""
    files = workspace(t, saving="import { writeFile } from 'node:fs/promises';\nexport const save = () => writeFile('/workspace/x', '1');")
    with waiting(t, IMPORT % ("saving.ts", "save.name"), *files) as w:
        t.has(w.card()["why"], "writes files, and imports", "why")


# --- nobody else may say what a module is ---


def test_programs_cannot_speak_for_the_compiler(t):
    e = t.envelope("""
        try { return await caisson.callTool('caisson', 'judgeImport', { facts: [], language: 'typescript' }); }
        catch (e) { return e.message; }""")
    t.has(e["result"], "there is no such function of caisson", "result")
    t.equal(judged(t), [], "what was judged")


def test_guests_cannot_either(t):
    done = t.run("import caisson\ntry:\n    print(caisson.call('caisson', 'judgeImport', {'facts': []}))\n"
                 "except Exception as e:\n    print(e)", language="python")
    t.has(done.out + done.err, "there is no such function", "what it says")
    t.equal(judged(t), [], "what was judged")


def test_a_guest_that_pretends_to_import_is_ended(t):
    done = t.run("import caisson\nfor i in range(5000):\n    try:\n        caisson.call('caisson', 'judgeImport', {})\n"
                 "    except Exception:\n        pass\nprint('all of them')", "-o", "json", language="python")
    t.equal(done.json()["error"]["limit"]["name"], "tool_calls", "limit")


def test_too_many_imports(t):
    files = {"m%d" % i: "export default %d;" % i for i in range(201)}
    e = t.envelope("""
        let sum = 0;
        try { for (let i = 0; i < 201; i++) sum += (await import(`/workspace/m${i}.ts`)).default; }
        catch (e) { return [sum, e.message]; }""", *policy(t, {"risk": {"then": {"HIGH": "allow"}}}), *workspace(t, **files))
    t.equal(e["result"][0], sum(range(200)), "sum")
    t.has(e["result"][1], "200 times", "message")


# --- another program in the recorded world ---


CHANGED = [("harmless", ADDING, "Object.keys(m)", ["add"]), ("risky", MAKING, "Object.keys(m)", "a replay asks nobody")]


@table(CHANGED)
def test_a_changed_program(t, name, text, value, wanted):
    code = """
        import { readFile } from 'node:fs/promises';
        try { const m = await import('./later.ts'); return %s; } catch (e) { return e.message; }"""
    with waiting(t, code % "1", *workspace(t, later=text)) as w:
        if name == "risky":
            w.answer("approve", "--yes")
        e = w.end().json()
    t.equal(e["result"], 1, "result")
    report = replay(t, e["execution_id"], "--code", t.file("changed.ts", code % value), status=1)
    result = report["envelope"]["result"]
    if name == "risky":
        t.has(result, wanted, "result")
    else:
        t.equal(result, wanted, "result")

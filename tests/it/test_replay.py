"""An execution is run again from its record, without the world: the same answers, the same end."""

import hashlib
import json
import os
import random
import re
import sqlite3
import sys
import time

from guarding import RISKY, Waiting, pending
from harness import table
from resting import problem, until
from serving import Daemon

HERE = os.path.dirname(os.path.abspath(__file__))


def with_world(t):
    t.file("caisson.json", json.dumps({"mcpServers": {
        "world": {"command": sys.executable, "args": [os.path.join(HERE, "servers", "world.py")]}}}))


def without_world(t):
    """From now on nobody could ask it again."""
    t.file("caisson.json", "{}")


def replay(t, id, *options, status=0):
    done = t.caisson("replay", id, "-o", "json", *options)
    t.status(done, status)
    return done.json()


def same(t, envelope, *options):
    report = replay(t, envelope["execution_id"], *options)
    t.equal(report["same"], True, "the same")
    t.equal(report["diverged"], None, "where they part")
    t.equal(report["replayed"], report["recorded"], "ends")
    t.equal(report["recorded"]["outputs_hash"], envelope["provenance"]["outputs_hash"], "hash")
    t.equal(report["envelope"]["result"], envelope["result"], "result")
    t.equal(report["envelope"]["logs"], envelope["logs"], "logs")
    return report


PROGRAMS = [
    ("time and chance", """
        console.log(Date.now(), performance.now(), new Date().toString());
        const bytes = crypto.getRandomValues(new Uint8Array(8));
        await new Promise(r => setTimeout(r, 30));
        return { then: Date.now(), now: performance.now(), r: Math.random(), id: crypto.randomUUID(), bytes: [...bytes] };"""),
    ("timers in their order", """
        const seen = [];
        for (const ms of [20, 5, 10, 5, 0]) setTimeout(() => seen.push([ms, Date.now()]), ms);
        const every = setInterval(() => seen.push(['tick', performance.now()]), 3);
        await new Promise(r => setTimeout(r, 25)); clearInterval(every);
        return seen;"""),
    ("parallel calls", """
        const order = [];
        const all = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(n =>
            world.roll({ n, ms: 20 }).then(a => { order.push([n, Date.now()]); return a; })));
        return { order, all };"""),
    ("equal calls", "return Promise.all([1, 2, 3, 4].map(() => world.count({ n: 7, ms: 5 })))"),
    ("a race", """
        const sleep = ms => new Promise(r => setTimeout(() => r('timer ' + ms), ms));
        const won = [];
        for (let i = 0; i < 8; i++) won.push(await Promise.race([world.roll({ n: i, ms: 8 }), sleep(4)]));
        return won;"""),
    ("errors of tools", """
        const said = [];
        try { await world.refuse({ n: 1 }); } catch (e) { said.push(e.name, e.message); }
        try { await world.nothing({}); } catch (e) { said.push(e.name, e.message); }
        try { await world.roll({ n: 'x' }); } catch (e) { said.push(e.name, e.message); }
        return said;"""),
    ("large results", """
        const [a, b] = await Promise.all([world.page({ n: 300000 }), world.page({ n: 100 })]);
        console.log(a.page.slice(0, 20));
        return { a: a.page.length, end: a.page.slice(-20), b };"""),
    ("modules and searches", """
        import { roll } from './mcp-servers/world/roll.ts';
        const found = await searchTools('roll');
        const late = await import('./mcp-servers/world/count.ts');
        return { found, rolled: await roll({ n: 1 }), count: await late.count({ n: 2 }) };"""),
    ("files", """
        import { writeFile, readFile, mkdir, readdir, stat, rm } from 'node:fs/promises';
        await mkdir('/workspace/d', { recursive: true });
        await writeFile('/workspace/d/a.txt', String(Math.random()));
        const text = await readFile('/workspace/d/a.txt', 'utf8');
        const s = await stat('/workspace/d/a.txt');
        const names = await readdir('/workspace/d');
        await rm('/workspace/d/a.txt');
        let gone = ''; try { await readFile('/workspace/d/a.txt'); } catch (e) { gone = e.message; }
        return { text, size: s.size, mtime: s.mtimeMs, names, gone };"""),
    ("an error of its own", """
        const a = await world.roll({ n: 1 });
        throw new Error('at ' + Date.now() + ' it was ' + a.rolled);"""),
    ("calls that nobody waits for", """
        world.roll({ n: 1, ms: 1 }).then(() => console.log('heard'));
        world.count({ n: 1, ms: 3000 }).catch(() => 0);
        return Date.now();"""),
    ("immediates and microtasks", """
        const seen = [];
        setImmediate(() => seen.push('immediate'));
        queueMicrotask(() => seen.push('micro'));
        process.nextTick?.(() => seen.push('tick'));
        const a = await world.roll({ n: 1 }); seen.push(a.rolled);
        await new Promise(r => setTimeout(r, 1));
        return seen;"""),
]


@table(PROGRAMS)
def test_it_comes_to_the_same_end(t, name, code):
    with_world(t)
    e = t.envelope(code)
    without_world(t)
    same(t, e)


# The ledger says nothing about journals any more, as one of an earlier build.
NO_HASH = "UPDATE ledger SET entry = replace(entry, 'journal_hash', 'journal_cash')"


def change_journal(t, execution, old, new):
    """As somebody would who can write to the database: the same length, and still a journal."""
    db = sqlite3.connect(os.path.join(t.env["XDG_DATA_HOME"], "caisson", "caisson.db"), timeout=30)
    changed = 0
    for seq, part in db.execute("SELECT seq, part FROM journals WHERE execution = ?", (execution,)).fetchall():
        if old in part:
            db.execute("UPDATE journals SET part = ? WHERE seq = ?", (part.replace(old, new), seq))
            changed += 1
    db.commit()
    db.close()
    t.equal(changed, 1, "parts that were changed")


def test_a_journal_that_was_changed_is_not_replayed(t):
    t.replayed = False
    with_world(t)
    good = t.envelope("const a = await world.count({ n: 41 }); return a.n + 1")
    bad = t.envelope("const a = await world.count({ n: 31 }); return a.n + 1")
    t.equal(same(t, good)["journal_verified"], True, "verified")
    change_journal(t, bad["execution_id"], b'"n": 31', b'"n": 51')
    done = t.caisson("replay", bad["execution_id"], "-o", "json")
    t.equal(done.status != 0, True, "it fails")
    t.equal(done.out, "", "nothing of it is shown")
    t.matches(done.err, r"journal was changed after it was recorded: .* entry \d+ of the ledger.*audit verify")
    t.status(t.caisson("audit", "verify"), 0)
    done = t.caisson("replay", "--all", "-o", "json")
    t.equal(done.status != 0, True, "all of them fail")
    t.has(done.out, bad["execution_id"])
    t.has(done.out, "was changed after it was recorded")
    # Whoever changes the entry too is found out by verify.
    db = sqlite3.connect(os.path.join(t.env["XDG_DATA_HOME"], "caisson", "caisson.db"), timeout=30)
    db.execute(NO_HASH + " WHERE execution = ?", (bad["execution_id"],))
    db.commit()
    db.close()
    t.equal(replay(t, bad["execution_id"], status=1)["journal_verified"], False, "verified")
    t.status(t.caisson("audit", "verify"), 1)


def test_so_is_that_of_a_durable_one(t):
    t.replayed = False
    with_world(t)
    with Daemon(t) as d:
        sent = {"code": "const a = await world.count({ n: 31 }); return a.n + 1", "durable": True}
        good, bad = (d.post("/executions", sent).json()["execution_id"] for _ in range(2))
        report = d.post("/executions/%s/replay" % good, {}).json()
        t.equal((report["same"], report["journal_verified"]), (True, True), "the same, verified")
        change_journal(t, bad, b'"n": 31', b'"n": 51')
        answer = d.post("/executions/%s/replay" % bad, {})
        t.equal(answer.status, 500, "status")
        t.has(answer.json()["detail"], "was changed after it was recorded")



def test_one_that_ran_out_of_time_runs_as_far_as_it_went(t):
    with_world(t)
    e = t.envelope("console.log((await world.roll({})).rolled); await new Promise(r => setTimeout(r, 60000)); return 1",
                   "--timeout", "500ms")
    t.equal(e["error"]["type"], "timeout_error")
    report = same(t, e)
    t.equal(report["envelope"]["error"], e["error"])
    e = t.envelope("await world.count({ ms: 100000 }); return 1", "--timeout", "500ms")
    done = t.caisson("replay", e["execution_id"])
    t.status(done, 0)
    t.true(done.seconds < 50, "it waited for what never comes")


def test_one_that_was_cancelled_is_not_waited_for_until_its_limit(t):
    with Daemon(t) as d:
        for code in ("for (;;) await Promise.resolve()", "for (let n = 0; n < 1e15; n += Math.random());"):
            id = d.post("/executions", {"code": "console.log('begun'); await new Promise(r => setTimeout(r, 1)); " + code, "timeout_ms": 60000, "async": True}).json()["execution_id"]
            until(t, "its first words", lambda: "begun" in d.get("/executions/" + id).body.decode())
            t.equal(d.request("DELETE", "/executions/" + id).json()["status"], "cancelled")
            start = time.monotonic()
            report = d.post("/executions/%s/replay" % id, {}).json()
            t.equal((report["same"], report["replayed"]["status"]), (True, "cancelled"))
            t.true(time.monotonic() - start < 55, "it ran as if nobody had cancelled it")


def test_a_session_is_replayed_with_the_state_it_had(t):
    with Daemon(t) as d:
        session = d.post("/sessions", {}).json()["session_id"]
        code = "state.n = (state.n ?? 0) + 1; state.at = Date.now(); return { n: state.n, r: Math.random() }"
        ran = [d.run(code, session_id=session) for _ in range(3)]
        for n, e in enumerate(ran, 1):
            t.equal(e["result"]["n"], n)
            report = d.post("/executions/%s/replay" % e["execution_id"], {}).json()
            t.equal((report["same"], report["envelope"]["result"]), (True, e["result"]))
        t.equal(d.run("return state.n", session_id=session)["result"], 3, "the state after replays")


def test_the_replay_door(t):
    with_world(t)
    with Daemon(t) as d:
        e = d.run("return (await world.roll({ n: 1 })).rolled", cache="off")
        calls = d.run("return (await world.count({})).asked", cache="off")["result"]
        report = d.post("/executions/%s/replay" % e["execution_id"]).json()
        t.equal((report["same"], report["envelope"]["result"]), (True, e["result"]))
        changed = d.post("/executions/%s/replay" % e["execution_id"],
                         {"code": "return (await world.roll({ n: 1 })).rolled + ' times'"}).json()
        t.equal((changed["same"], changed["envelope"]["result"]), (False, "%s times" % e["result"]))
        t.equal(changed["differences"]["result"],
                [{"path": "result", "recorded": e["result"], "replayed": "%s times" % e["result"]}])
        t.equal(d.run("return (await world.count({})).asked", cache="off")["result"], calls + 1, "no tool was asked")
        problem(t, d.post("/executions/ex_0/replay"), 404, "missing")
        problem(t, d.post("/executions/%s/replay" % e["execution_id"], {"kode": 1}), 400, "invalid")
        live = d.run("return Date.now()", clock="live")
        problem(t, d.post("/executions/%s/replay" % live["execution_id"]), 409, "conflict", "live")
        t.equal(len(d.get("/executions").json()["executions"]), 4, "replays are no executions")


def test_a_changed_program_sees_the_recorded_world(t):
    with_world(t)
    e = t.envelope("""
        const a = await world.roll({ n: 1 }), b = await world.roll({ n: 2 });
        return { sum: a.rolled + b.rolled, wrong: a.missing.deep };""")
    t.equal(e["status"], "failed")
    without_world(t)
    mended = t.file("mended.ts", """
        import { writeFile, readFile } from 'node:fs/promises';
        const a = await world.roll({ n: 1 }), b = await world.roll({ n: 2 }), again = await world.roll({ n: 1 });
        const [c, d] = await Promise.all([world.roll({ n: 2 }), world.roll({ n: 2 })]);
        if (c.rolled !== d.rolled || c.rolled !== b.rolled) throw new Error('not what it was');
        await writeFile('/workspace/new.txt', 'new'); const text = await readFile('/workspace/new.txt', 'utf8');
        let said = ''; try { await world.roll({ n: 3 }); } catch (e) { said = e.message; }
        return { n: [a.n, b.n, again.n], same: a.rolled === again.rolled, text, said };""")
    report = replay(t, e["execution_id"], "--code", mended, status=1)
    result = report["envelope"]["result"]
    t.equal((result["n"], result["same"], result["text"]), ([1, 2, 1], True, "new"))
    t.has(result["said"], "the recorded world has no answer for world.roll")
    t.has(result["said"], "it has answers for: world.roll (2)")
    t.equal(report["diverged"], None)
    t.equal([c["call"] for c in report["differences"]["calls"]], [3, 4, 5, 6])
    done = t.caisson("replay", e["execution_id"], "--code", mended, "--diff")
    t.status(done, 1)
    for piece in ("different", "recorded  failed", "replayed  completed", "call 4", "- ", "+ "):
        t.has(done.out, piece)


def test_a_changed_program_is_judged_like_any_other(t):
    """Nobody can be asked about it in the recorded world; what was approved then was another program."""
    t.file("caisson.json", "{}")
    envelope = t.envelope("return 1", "-i", '{"by": 2}')
    with Daemon(t) as d:
        report = d.post("/executions/%s/replay" % envelope["execution_id"], {"code": RISKY}).json()
    t.equal(report["replayed"]["status"], "denied", "status over REST")
    risky = t.file("risky.ts", RISKY)
    report = replay(t, envelope["execution_id"], "--code", risky, status=1)
    t.equal(report["replayed"]["status"], "denied", "status")
    error = report["envelope"]["error"]
    t.equal(error["type"], "permission_error", "type")
    t.matches(error["message"], r"a person would have to approve this program, and a replay asks nobody \(built in: risk\.then\.HIGH\): .+", "message")
    t.has(error["suggestion"], "risk.then", "what to do")
    t.equal(report["envelope"]["risk"]["level"], "HIGH", "risk")
    t.equal(pending(t, "--all"), [], "what was asked")
    # As the policy says to whoever replays it.
    t.file("policy.json", json.dumps({"risk": {"then": {"HIGH": "allow"}}}))
    report = replay(t, envelope["execution_id"], "--code", risky, status=1)
    t.equal((report["replayed"]["status"], report["envelope"]["result"]), ("completed", 42), "where it is allowed")
    denies = t.file("denies.json", json.dumps({"risk": {"then": {"HIGH": "deny"}}}))
    report = replay(t, envelope["execution_id"], "--code", risky, "--policy", denies, status=1)
    t.has(report["envelope"]["error"]["message"], "the policy refuses this program", "where it is denied")


def test_what_was_said_then_is_heard_again(t):
    """The same program, approved or refused by a person, whatever the policy says by now."""
    ends = []
    t.file("caisson.json", "{}")
    for verb, options in (("approve", ("--yes",)), ("deny", ("--reason", "not this one"))):
        with Waiting(t, RISKY, "-i", '{"by": 2}', "-o", "json") as w:
            w.answer(verb, *options)
            ends.append(w.end().json())
    t.file("policy.json", json.dumps({"risk": {"then": {"HIGH": "deny"}}}))
    for envelope in ends:
        report = replay(t, envelope["execution_id"])
        t.equal((report["same"], report["replayed"]["status"]), (True, envelope["status"]), "how it ends")
    t.equal([e["status"] for e in ends], ["completed", "denied"], "how they ended")
    # Another program is not refused because that one was.
    t.file("policy.json", "{}")
    report = replay(t, ends[1]["execution_id"], "--code", t.file("plain.ts", "return inputs.by * 4"), status=1)
    t.equal(report["envelope"]["result"], 8, "result of another one")


def damage(t, change):
    t.replayed = False
    data = os.path.join(t.env["XDG_DATA_HOME"], "caisson")
    db = sqlite3.connect(os.path.join(data, "caisson.db"))
    change(db, data)
    db.commit()
    db.close()


def test_where_they_part_is_named(t):
    """The program in the journal is another one than what was recorded: as if something had not been deterministic."""
    with_world(t)
    e = t.envelope("const n = 1; const a = await world.roll({ n }); const b = await world.count({ n }); return [a, b]")

    def other(db, data):
        (part,), = db.execute("SELECT part FROM journals").fetchall()
        db.execute("UPDATE journals SET part = ?", (part.replace(b"const n = 1", b"const n = 2"),))
        db.execute(NO_HASH)
    damage(t, other)
    report = replay(t, e["execution_id"], status=1)
    t.equal(report["same"], False)
    t.equal(report["diverged"], {"call": 1, "server": "world", "tool": "roll", "why": "a call that was not recorded"})
    done = t.caisson("replay", e["execution_id"])
    t.status(done, 1)
    t.has(done.out, "they part at call 1, world.roll: a call that was not recorded")


def test_a_damaged_journal_is_an_error(t):
    with_world(t)
    big = t.envelope("return (await world.page({ n: 200000 })).page.length")
    small, unhashed = t.envelope("return 1"), t.envelope("return 2")

    def cut(db, data):
        for e in (small, unhashed):
            db.execute("UPDATE journals SET part = substr(part, 1, length(part) - 3) WHERE execution = ?", (e["execution_id"],))
        db.execute(NO_HASH + " WHERE execution = ?", (unhashed["execution_id"],))
        for folder, _, files in os.walk(os.path.join(data, "blobs")):
            for file in files:
                with open(os.path.join(folder, file), "r+b") as f:
                    f.seek(20)
                    f.write(b"????")
    damage(t, cut)
    for e, what in ((big, "damaged|blob"), (small, "changed after it was recorded"), (unhashed, "journal is (cut off|damaged)")):
        done = t.caisson("replay", e["execution_id"])
        t.true(done.status in (1, 5), "status %d" % done.status)
        t.matches(done.err, what)
    t.matches(t.caisson("replay", "ex_nothing").err, "there is no execution 'ex_nothing'")


def test_what_cannot_be_replayed_says_why(t):
    live = t.envelope("return Date.now()", "--clock", "live")
    t.equal((live["replayable"], live["not_replayable"]), (False, 'its clock ran as the one outside (clock: "live")'))
    t.matches(t.caisson("replay", live["execution_id"]).err, "cannot be replayed: its clock")
    guest = t.envelope("echo hello; date +%s%N", language="bash")
    t.equal((guest["replayable"], guest["not_replayable"]), (False, "the clock of bash runs"))
    kept = t.envelope("return 1", "--no-record")
    t.equal((kept["replayable"], kept["provenance"]["chain_hash"]), (False, None))
    t.matches(t.caisson("replay", kept["execution_id"]).err, "there is no execution")
    t.true("replayable" not in t.envelope("return 1"), "says that it cannot be replayed")
    large = t.envelope("return 'x'", "-i", json.dumps("y" * 5000), env={"CAISSON_RECORD_JOURNAL": "2000"})
    t.matches(large["not_replayable"], "more than 2000 bytes")


def test_a_guest_is_replayed_as_well_as_it_can_be(t):
    with_world(t)
    e = t.envelope('caisson call world roll \'{"n": 4}\'', language="bash")
    without_world(t)
    report = replay(t, e["execution_id"])
    t.equal((report["same"], report["envelope"]["result"]), (True, e["result"]))


def test_the_provenance_of_a_result(t):
    with_world(t)
    e = t.envelope("await world.roll({}); await world.count({}); await world.roll({}); return inputs.b", "-i", '{"b": [1, 2], "a": 1}')
    p = e["provenance"]
    t.equal(p["tool_ids"], ["world/roll", "world/count"])
    t.equal((p["actor_id"], p["actor_type"], p["success"]), ("local", "local", True))
    t.equal(p["outputs_hash"], hashlib.sha256(b"[1,2]").hexdigest())
    t.equal(p["inputs_hash"], hashlib.sha256(b'{"a":1,"b":[1,2]}').hexdigest())
    t.matches(p["chain_hash"], "^[0-9a-f]{64}$")


def test_the_example_of_the_documentation(t):
    """The programs in docs/replay.md are run, and what it shows is what is printed, but for ids and hashes."""
    with open(os.path.join(HERE, "..", "..", "docs", "replay.md")) as f:
        page = f.read()
    for name, code in re.findall(r"```ts (\S+)\n(.*?)```", page, re.S):
        t.file(name, code)
    t.file("caisson.json", json.dumps({"mcpServers": {
        "shop": {"command": sys.executable, "args": [os.path.join(HERE, "servers", "shop.py")]}}}))
    e = t.caisson("run", "-o", "json", "-i", '{"day": "2026-11-14"}', "report.ts").json()
    without_world(t)
    shown = re.findall(r"```console\n\$ caisson (replay .*?)\n(.*?)```", page, re.S)
    t.equal(len(shown), 2, "commands")

    def plain(text):
        return re.sub(r"ex_[0-9a-f]{32}", "ID", re.sub(r"[0-9a-f]{12}\.\.\.", "HASH...", text))
    for words, wanted in shown:
        done = t.caisson(*words.replace("ex_01a1e098434dfc2918a9a5759bab7b29", e["execution_id"]).split())
        printed = plain(done.out + done.err)
        for line in plain(wanted).splitlines():
            t.has(printed, line, "what it prints")


# --- a thousand programs that nobody wrote ---

def generate(seed):
    """A program of timers, parallel calls, randomness and dates that says all it saw."""
    r = random.Random(seed)
    lines = ["const seen = []; const say = (...a) => seen.push(a.concat(Date.now(), Math.random()));",
             "const sleep = ms => new Promise(done => setTimeout(done, ms));"]

    def wait():
        n, ms = r.randrange(5), r.randrange(1, 6)
        return r.choice([
            "await sleep(%d);" % ms,
            "await Promise.all([%s]);" % ", ".join("world.roll({ n: %d, ms: %d }).then(a => say('r', a.rolled))" % (i, ms)
                                                   for i in range(r.randrange(1, 5))),
            "say(await Promise.race([world.roll({ n: %d, ms: 4 }).then(a => a.rolled), sleep(%d)]));" % (n, ms),
            "setTimeout(() => say('t', performance.now()), %d);" % ms,
            "setImmediate(() => say('i'));",
            "say(new Date().toISOString(), crypto.randomUUID());",
            "try { await world.refuse({ n: %d }); } catch (e) { say(e.message); }" % n,
            "for (const x of await Promise.allSettled([world.count({ n: %d }), sleep(%d), world.refuse({})])) say(x.status);" % (n, ms),
            "if (Math.random() < 0.5) { await sleep(1); say('half'); } else say((await world.count({ n: %d })).asked);" % n,
            "{ const every = setInterval(() => say('e'), %d); await sleep(%d); clearInterval(every); }" % (ms, 3 * ms),
        ])
    lines += [wait() for _ in range(r.randrange(3, 9))]
    if r.random() < 0.2:
        lines.append("if (Math.random() < 0.5) throw new Error('at ' + Date.now());")
    return "\n".join(lines + ["return seen;"])


def test_a_thousand_programs_replay_identically(t):
    with_world(t)
    t.replayed = False  # it is, here
    sanitized = b"__asan_init" in open(t.binary, "rb").read()
    count = 100 if sanitized else 1000
    batch = "\n".join(json.dumps({"id": n, "code": generate(n)}) for n in range(count))
    done = t.caisson("run", "--batch", "--jobs", "8", stdin=batch, patience=900)
    t.status(done, 0)
    ran = [json.loads(line) for line in done.out.splitlines()]
    t.equal(len(ran), count, "answers")
    odd = [e for e in ran if e["status"] == "failed" and not e["error"]["message"].startswith("at ")]
    t.true(not odd, "%d programs failed: %.1000r" % (len(odd), odd[:1]))
    without_world(t)
    done = t.caisson("replay", "--all", "-o", "json", patience=900)
    report = done.json()
    t.true(report["replayed"] == report["same"] == count,
           "%d of %d are the same: %.3000s" % (report["same"], count, json.dumps(
               [dict(x, envelope=None) for x in report["reports"][:2]])))

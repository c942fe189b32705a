"""Executions with `durable: true` outlive the process that runs them."""

import glob
import json
import os
import signal
import socket
import sqlite3
import sys
import threading
import time

from harness import PATIENCE, until
from resting import begin, problem, raw
from serving import Daemon, children_of, make_key

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(HERE, "servers", "effects.py")

STEPS = """
const pause = (ms) => new Promise((r) => setTimeout(r, ms));
const t = Date.now(), dice = Math.random();
console.log("began");
const a = await effects.add({ key: "a" });
await pause(20);
const b = await effects.%s({ key: "b", gate: true });
await pause(10);
return { a: a.value, b: b.value, t, dice, took: Date.now() - t };
"""
CAREFUL = """
const a = await effects.add({ key: "a" });
try {
    await effects.charge({ key: "b", after: 60000 });
    return "charged";
} catch (e) {
    return e.name + ": " + e.message;
}
"""


def world(t, **more):
    """A server that counts its effects; returns how often something was done. The second call of STEPS waits for the gate."""
    path = os.path.join(t.dir, "effects")
    t.file("caisson.json", json.dumps({"mcpServers": dict({
        "effects": {"command": sys.executable, "args": [SERVER, path]}}, **more)}))

    def count(tool, key):
        if not os.path.exists(path):
            return 0
        with open(path) as f:
            return sum(line.split()[:2] == [tool, key] for line in f)
    return count


def open_gate(t):
    t.file("effects.go", "")


def kill(t, d):
    family = children_of(d.process.pid)
    d.process.send_signal(signal.SIGKILL)
    d.process.wait()
    until(t, "the end of its children", lambda: not set(family) & set(alive()))


def alive():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def ended(t, d, execution, **more):
    def look():
        e = d.get("/executions/" + execution, **more).json()
        return e if e["status"] not in ("running", "awaiting_approval") else None
    return until(t, "the end of " + execution, look)


def asked(t, d, execution, **more):
    """The question that it waits with, and its card."""
    found = until(t, "the question", lambda: d.get("/executions/" + execution, **more).json().get("approval"))
    return d.get("/approvals/" + found["id"], **more).json()


def say(d, question, answer, **more):
    return d.post("/approvals/" + question["id"], dict({"answer": answer}, **more))


def second():
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())


def hours(question):
    created, expires = [time.mktime(time.strptime(question[n][:19], "%Y-%m-%dT%H:%M:%S")) for n in ("created", "expires")]
    return round((expires - created) / 3600, 2)


def database(t):
    return sqlite3.connect(glob.glob(os.path.join(t.env["XDG_DATA_HOME"], "caisson", "*.db"))[0])


def events(t, execution):
    db = database(t)
    found = [json.loads(row[0]) for row in db.execute("SELECT entry FROM ledger WHERE execution = ? ORDER BY seq", (execution,))]
    db.close()
    return found


def replayed(t, d, execution):
    answer = d.post("/executions/%s/replay" % execution, {})
    t.equal(answer.status, 200, "replay: %s" % answer)
    t.equal(answer.json()["same"], True, "replay: %s" % answer)
    t.equal(answer.json()["journal_verified"], True, "the journal is the one that the ledger knows")


def test_it_goes_on_at_the_call_where_it_stood(t):
    count = world(t)
    with Daemon(t) as d:
        execution = begin(t, d, STEPS % "add", durable=True)
        until(t, "the second call", lambda: count("begun", "b"))
        time.sleep(0.3)
        kill(t, d)
    t.equal((count("add", "a"), count("add", "b")), (1, 0), "effects before")
    open_gate(t)
    with Daemon(t) as d:
        e = ended(t, d, execution)
        t.equal(e["status"], "completed")
        t.equal((count("add", "a"), count("add", "b")), (1, 1), "effects")
        t.equal([c["tool"] for c in e["calls"]], ["add", "add"], "calls")
        t.equal([c["status"] for c in e["calls"]], ["ok", "ok"], "calls")
        t.equal([log["text"] for log in e["logs"]], ["began"], "logs")
        t.true(e["result"]["took"] >= 300, "its clock stood still while it was down: %s" % e["result"])
        replayed(t, d, execution)
    names = [entry["event"] for entry in events(t, execution)]
    t.equal([names.count("execution." + n) for n in ("admitted", "resumed", "settled")], [1, 1, 1], "entries in %s" % names)
    t.equal(names.count("call.made"), 2, "calls in %s" % names)


def test_killed_again_and_again_it_still_finishes_once(t):
    count = world(t)
    code = """
const out = [];
for (let i = 0; i < 6; i++) {
    out.push((await effects.add({ key: "k" + i, before: 150 })).value);
    await new Promise((r) => setTimeout(r, 5));
}
return { out, dice: Math.random(), at: Date.now() };
"""
    done = lambda: sum(count("add", "k%d" % i) > 0 for i in range(6))
    with Daemon(t) as d:
        execution = begin(t, d, code, durable=True)
        until(t, "a call", done)
        kill(t, d)
    for _ in range(3):
        before = done()
        with Daemon(t) as d:
            until(t, "one call more", lambda: done() > before)
            kill(t, d)
    with Daemon(t) as d:
        e = ended(t, d, execution)
        t.equal((e["status"], len(e["result"]["out"]), len(e["calls"])), ("completed", 6, 6), "result")
        replayed(t, d, execution)
    for i in range(6):
        t.true(1 <= count("add", "k%d" % i) <= 2, "k%d: %d" % (i, count("add", "k%d" % i)))


def test_of_two_that_start_one_goes_on_with_it(t):
    count = world(t)
    with Daemon(t) as d:
        executions = [begin(t, d, STEPS.replace('"a"', '"a%d"' % i).replace('"b"', '"b%d"' % i) % "add", durable=True)
                      for i in range(4)]
        until(t, "the second calls", lambda: all(count("begun", "b%d" % i) for i in range(4)))
        kill(t, d)
    open_gate(t)
    with Daemon(t) as d, Daemon(t) as other:
        for execution in executions:
            t.equal(ended(t, d, execution)["status"], "completed")
            t.equal(other.get("/executions/" + execution).json()["status"], "completed")
    for i in range(4):
        t.equal((count("add", "a%d" % i), count("add", "b%d" % i)), (1, 1), "effects of %d" % i)


def test_what_may_have_happened_is_asked_about_and_tried_again(t):
    count = world(t)
    with Daemon(t) as d:
        began = second()
        execution = begin(t, d, STEPS % "charge", durable=True)
        until(t, "the second call", lambda: count("begun", "b"))
        kill(t, d)
    t.equal(count("charge", "b"), 0, "effects before")
    open_gate(t)
    with Daemon(t) as d:
        q = asked(t, d, execution)
        card = q["card"]
        t.equal((q["kind"], q["risk"], q["state"], card["rule"]), ("call", "HIGH", "pending", "sent before"), "question")
        t.has(q["why"], "nobody knows whether it took effect")
        t.has(q["why"], q["sent_at"])
        call = card["call"]
        t.equal((call["server"], call["tool"], call["number"], call["arguments"]),
                ("effects", "charge", 2, {"key": "b", "gate": True}), "call")
        t.true(began <= call["sent_at"][:19] <= second(), "it was sent at %s, after %s" % (call["sent_at"], began))
        t.equal(card["answers"], ["once", "deny"], "answers")
        t.equal(hours(q), 24, "hours it waits")
        page = d.get("/approvals/" + q["id"], headers={"Accept": "text/html"}).body.decode()
        t.has(page, 'value="once">Send it again</button> <button name="answer" value="deny">Do not send it again</button> </p>')
        t.has(page, "a call may have been made already; is it sent again?")
        t.equal([row["sent_at"] for row in d.get("/approvals?state=pending").json()["approvals"]], [q["sent_at"]], "listed")
        now = d.get("/executions/" + execution).json()
        t.equal((now["status"], now["phase"]), ("awaiting_approval", "awaiting_approval"), "status")
        listed = d.get("/executions?status=awaiting_approval").json()["executions"]
        t.equal([row["execution_id"] for row in listed], [execution], "listed")
        kill(t, d)
    with Daemon(t, "--server.grace", "%ds" % (10 * PATIENCE)) as d:
        t.equal(asked(t, d, execution), q, "the same question")
        d.stop()
        t.equal(d.wait(), 0)  # nobody waits for people then
    with Daemon(t) as d:  # it is asked until it is answered
        t.equal(asked(t, d, execution), q, "the same question")
        t.equal(d.post("/executions/%s/decision" % execution, {"answer": "retry"}).status, 404, "there is one place to answer")
        problem(t, say(d, q, "retry"), 400, "invalid", "answer")
        for answer in ("session", "program", "tool"):
            problem(t, say(d, q, answer), 400, "invalid", "may have been made already")
        answer = say(d, q, "once", card_hash=q["card_hash"])
        t.equal((answer.status, answer.json()["state"]), (200, "approved"), "the answer")
        e = ended(t, d, execution)
        t.equal((e["status"], count("charge", "b"), count("add", "a")), ("completed", 1, 1), "outcome")
        t.equal([c.get("approved_by") for c in e["calls"]], [None, "local"], "who let it be sent again")
        problem(t, say(d, q, "once"), 409, "conflict", "approved")
        replayed(t, d, execution)
    entries = events(t, execution)
    names = [entry["event"] for entry in entries]
    t.equal([names.count(n) for n in ("approval.asked", "approval.decided", "execution.settled")], [1, 1, 1], "entries in %s" % names)
    told = {entry["event"]: entry["data"] for entry in entries}
    t.equal({told[n]["card_hash"] for n in ("approval.asked", "approval.decided")}, {q["card_hash"]}, "what they saw")
    t.equal((told["approval.asked"]["rule"], told["approval.asked"]["tool"]), ("sent before", "charge"), "asked")
    t.equal((told["approval.decided"]["answer"], told["approval.decided"]["by"]), ("once", "local"), "decided")


def test_it_may_be_answered_while_nothing_runs(t):
    count = world(t)
    with Daemon(t) as d:
        execution = begin(t, d, STEPS % "charge", durable=True)
        until(t, "the second call", lambda: count("begun", "b"))
        kill(t, d)
    open_gate(t)
    with Daemon(t) as d:
        q = asked(t, d, execution)
        kill(t, d)
    shown = t.caisson("approvals", "show", q["id"])
    t.has(shown.out, "a call may have been made already; is it sent again?")
    t.has(shown.out, "sent at %s, and never answered" % q["sent_at"])
    refused = t.caisson("approve", q["id"], "--yes", "--session")
    t.status(refused, 2)
    t.has(refused.err, "may have been made already")
    status, seen = t.on_a_terminal("approve", q["id"], answers=[("answer: ", "y")], env={"NO_COLOR": "1"})
    t.equal(status, 0, "exit status of approve, which said %s" % seen)
    t.has(seen, "[y] yes, send it again")
    for key in "sat":
        t.lacks(seen, "[%s]" % key)
    t.equal(count("charge", "b"), 0, "effects before")
    with Daemon(t) as d:
        e = ended(t, d, execution)
        t.equal((e["status"], count("charge", "b")), ("completed", 1), "outcome")
    t.equal([entry["event"] for entry in events(t, execution)].count("approval.asked"), 1, "questions")


def test_each_time_it_was_sent_is_a_question_of_its_own(t):
    count = world(t)
    with Daemon(t) as d:
        execution = begin(t, d, CAREFUL, durable=True)
        until(t, "the effect", lambda: count("charge", "b"))
        kill(t, d)
    with Daemon(t) as d:
        first = asked(t, d, execution)
        t.equal(say(d, first, "once").status, 200)
        until(t, "the effect, once more", lambda: count("charge", "b") == 2)
        kill(t, d)
    with Daemon(t) as d:
        second = asked(t, d, execution)
        t.true(second["id"] != first["id"] and second["sent_at"] > first["sent_at"], "%s, then %s" % (first, second))
        t.equal(say(d, second, "deny").status, 200)
        t.equal(ended(t, d, execution)["status"], "completed")
    t.equal(count("charge", "b"), 2, "effects")


def test_whatever_else_a_person_is_asked_about_it_is_one_question(t):
    count = world(t)
    path = t.file("policy.json", json.dumps({"tools": {"ask": ["effects/charge"]}}))
    with Daemon(t, "--policy", path) as d:
        execution = begin(t, d, CAREFUL, durable=True)
        first = asked(t, d, execution)
        t.true("sent_at" not in first, "%s" % first)
        t.equal(say(d, first, "tool").status, 200, "the grant")  # is for later calls, and not for this one
        until(t, "the effect", lambda: count("charge", "b"))
        kill(t, d)
    with Daemon(t, "--policy", path) as d:
        q = asked(t, d, execution)
        t.has(q["why"], "nobody knows whether it took effect")
        t.has(q["why"], "the policy wants a person to approve")
        t.equal(say(d, q, "deny", reason="it was charged").status, 200)
        e = ended(t, d, execution)
        t.has(e["result"], "it was charged")
        t.equal(len(d.get("/approvals").json()["approvals"]), 2, "questions")
    t.equal(count("charge", "b"), 1, "effects")


def test_each_of_several_is_a_question_and_all_go_with_their_execution(t):
    count = world(t)
    code = """
const one = (key) => effects.charge({ key, gate: true }).then(() => "yes", (e) => e.name);
return await Promise.all(["a", "b", "c"].map((k) => one(inputs.name + k)));
"""
    with Daemon(t) as d:
        executions = {name: begin(t, d, code, durable=True, inputs={"name": name}) for name in "xy"}
        until(t, "the calls", lambda: all(count("begun", name + k) for name in "xy" for k in "abc"))
        kill(t, d)
    open_gate(t)
    with Daemon(t) as d:
        def open_ones(name):
            listed = d.get("/approvals?state=pending&execution_id=" + executions[name]).json()["approvals"]
            cards = [d.get("/approvals/" + row["id"]).json() for row in listed]
            return {q["card"]["call"]["arguments"]["key"]: q for q in cards}
        until(t, "the questions", lambda: len(open_ones("x")) == 3 and len(open_ones("y")) == 3)
        t.equal(d.get("/executions/" + executions["x"]).json()["approvals_waiting"], 3, "questions of one")
        asked_for = open_ones("x")
        for key, answer in (("xb", "deny"), ("xa", "once"), ("xc", "deny")):
            t.equal(say(d, asked_for[key], answer).status, 200, "answer about " + key)
        t.equal(ended(t, d, executions["x"])["result"], ["yes", "ToolError", "ToolError"], "result")
        left = open_ones("y")
        t.equal(d.request("DELETE", "/executions/" + executions["y"]).json()["status"], "cancelled", "status")
        for q in left.values():
            problem(t, say(d, q, "once"), 409, "conflict", "withdrawn")
    t.equal([count("charge", name + k) for name in "xy" for k in "abc"], [1, 0, 0, 0, 0, 0], "effects")


def test_a_server_that_is_down_is_asked_about_and_called_when_it_is_back(t):
    count = world(t)
    away = os.path.join(t.dir, "away")
    t.file("start", "#!/bin/sh\n[ -e %s ] && exit 1\nexec %s %s %s\n" % (away, sys.executable, SERVER, os.path.join(t.dir, "effects")))
    t.file("caisson.json", json.dumps({"mcpServers": {"effects": {"command": "/bin/sh", "args": [os.path.join(t.dir, "start")]}}}))
    with Daemon(t) as d:
        execution = begin(t, d, STEPS % "charge", durable=True)
        until(t, "the second call", lambda: count("begun", "b"))
        until(t, "what it offers on the disk", lambda: os.path.exists(
            os.path.join(t.env["XDG_DATA_HOME"], "caisson", "catalogue", "effects.json")))
        kill(t, d)
    open_gate(t)
    t.file("away", "")
    with Daemon(t) as d:
        q = asked(t, d, execution)
        until(t, "that it is known to be down", lambda: d.get("/servers").json()["servers"][0]["state"] != "connecting")
        os.unlink(away)
        t.equal(say(d, q, "once").status, 200)
        e = ended(t, d, execution)
        t.equal((e["status"], count("charge", "b"), count("add", "a")), ("completed", 1, 1), "outcome of %s" % e)


def test_what_cannot_be_sent_again_is_not_asked_about(t):
    """Its server is gone, or the policy refuses it by now."""
    count = world(t)
    path = t.file("policy.json", json.dumps({"tools": {}}))
    with open(os.path.join(t.dir, "caisson.json")) as f:
        there = f.read()
    for config, policy, why in (({"mcpServers": {}}, {}, "there is no server 'effects'"),
                                (json.loads(there), {"deny": ["effects/charge"]}, "has no tool 'charge' that may be called")):
        t.file("caisson.json", there)
        t.file("policy.json", json.dumps({"tools": {}}))
        before = count("charge", "b")
        with Daemon(t, "--policy", path) as d:
            execution = begin(t, d, CAREFUL, durable=True)
            until(t, "the effect", lambda: count("charge", "b") > before)
            kill(t, d)
        t.file("caisson.json", json.dumps(config))
        t.file("policy.json", json.dumps({"tools": policy}))
        with Daemon(t, "--policy", path) as d:
            e = ended(t, d, execution)
            t.equal((e["status"], [c["status"] for c in e["calls"]]), ("completed", ["ok", "error"]), "outcome of %s" % e)
            t.has(e["result"], "not known whether this call took effect")
            t.has(e["result"], why)
            t.equal(d.get("/approvals").json()["approvals"], [], "questions")
            replayed(t, d, execution)
        t.equal(count("charge", "b"), before + 1, "effects")


def test_what_has_happened_fails_in_the_program_if_somebody_says_so(t):
    count = world(t)
    with Daemon(t) as d:
        execution = begin(t, d, CAREFUL, durable=True, timeout_ms=6000)
        until(t, "the effect", lambda: count("charge", "b"))
        kill(t, d)
    with Daemon(t) as d:
        asked(t, d, execution)
        time.sleep(6)  # its clock stands still
        t.equal(say(d, asked(t, d, execution), "deny", reason="I saw it").status, 200)
        e = ended(t, d, execution)
        t.equal(e["status"], "completed")
        t.has(e["result"], "not known whether this call took effect")
        t.has(e["result"], "not approved by local: I saw it")
        t.equal([c["status"] for c in e["calls"]], ["ok", "error"], "calls")
        replayed(t, d, execution)
    t.equal(count("charge", "b"), 1, "effects")


def test_only_those_who_may_approve_decide_and_only_in_their_tenant(t):
    count = world(t)
    keys = {name: make_key(t, name, "--tenant", tenant, role=role) for name, tenant, role in
            (("runner", "blue", "execute"), ("boss", "blue", "approve"), ("stranger", "red", "admin"))}
    with Daemon(t) as d:
        answer = d.post("/executions", {"code": CAREFUL, "durable": True, "async": True}, key=keys["runner"])
        execution = answer.json()["execution_id"]
        until(t, "the effect", lambda: count("charge", "b"))
        kill(t, d)
    with Daemon(t) as d:
        path = "/approvals/" + asked(t, d, execution, key=keys["runner"])["id"]
        problem(t, d.post(path, {"answer": "deny"}, key=keys["runner"]), 403, "denied", "approve")
        problem(t, d.post(path, {"answer": "deny"}, key=keys["stranger"]), 404, "missing", "approval")
        t.equal(d.post(path, {"answer": "deny"}, key=keys["boss"]).status, 200)
        t.equal(ended(t, d, execution, key=keys["boss"])["status"], "completed")


def test_the_same_key_finds_it_after_a_restart(t):
    count = world(t)
    body = {"code": STEPS % "add", "durable": True}
    headers = {"Idempotency-Key": "once"}
    with Daemon(t) as d:
        def ask():
            try:
                d.post("/executions", body, headers=headers)
            except OSError:
                pass
        thread = threading.Thread(target=ask)
        thread.start()
        until(t, "the second call", lambda: count("begun", "b"))
        kill(t, d)
        thread.join()
    open_gate(t)
    with Daemon(t) as d:
        def again():
            answer = d.post("/executions", body, headers=headers)
            return answer if answer.status == 200 else None
        e = until(t, "the answer", again).json()
        t.equal((e["status"], count("add", "a")), ("completed", 1), "outcome")
        t.equal(d.post("/executions", body, headers=headers).json(), e, "the answer, once more")
        other = d.post("/executions", dict(body, code="return 1"), headers=headers)
        t.equal(other.status, 422, "another request with this key")


def test_it_takes_its_session_along(t):
    count = world(t)
    code = """
state.n = (state.n ?? 0) + 1;
await writeFile("/workspace/one.txt", "1");
await effects.add({ key: "a" });
await effects.add({ key: "b", gate: true });
state.n += 10;
return [state.n, await readFile("/workspace/one.txt", "utf8")];
"""
    code = 'import { readFile, writeFile } from "fs/promises";' + code
    with Daemon(t) as d:
        session = d.post("/sessions", {}).json()["session_id"]
        t.equal(d.run("state.n = 5; return 0", session_id=session)["status"], "completed")
        execution = begin(t, d, code, durable=True, session_id=session)
        until(t, "the second call", lambda: count("begun", "b"))
        kill(t, d)
    open_gate(t)
    with Daemon(t) as d:
        e = ended(t, d, execution)
        t.equal((e["status"], e["result"], e["session_id"]), ("completed", [16, "1"], session), "outcome of %s" % e)
        now = d.get("/sessions/" + session).json()
        t.equal((now["state"], now["executions"]), ({"n": 16}, 2), "session")
        t.equal(d.get("/sessions/%s/files/one.txt" % session).body, b"1", "file")


def test_a_sigterm_leaves_it_for_the_next_one(t):
    count = world(t)
    with Daemon(t, "--server.grace", "300ms") as d:
        execution = begin(t, d, STEPS % "add", durable=True)
        lost = begin(t, d, "await new Promise((r) => setTimeout(r, 20000))")
        until(t, "the second call", lambda: count("begun", "b"))
        d.stop()
        t.equal(d.wait(), 0)
    open_gate(t)
    with Daemon(t) as d:
        t.equal(d.get("/executions/" + lost).json()["status"], "cancelled")
        e = ended(t, d, execution)
        t.equal((e["status"], count("add", "a"), count("add", "b")), ("completed", 1, 1), "outcome")


def test_whoever_hangs_up_does_not_end_it(t):
    count = world(t)
    with Daemon(t) as d:
        body = json.dumps({"code": STEPS % "add", "durable": True}).encode()
        with socket.create_connection((d.host, d.port)) as s:
            s.sendall(raw("POST", "/executions", body))
            until(t, "the second call", lambda: count("begun", "b"))
        time.sleep(0.3)  # that the connection is gone is noticed
        open_gate(t)
        until(t, "its end", lambda: d.get("/executions?status=completed").json()["executions"])
        t.equal(count("add", "b"), 1, "effects")


def test_what_cannot_go_on_is_refused_at_once(t):
    with Daemon(t) as d:
        problem(t, d.post("/executions", {"code": "print(1)", "language": "python", "durable": True}),
                400, "invalid", "TypeScript")
        e = d.run("return 1", durable=True)
        t.equal((e["status"], e["result"]), ("completed", 1), "without a call")


def test_a_journal_that_is_damaged_is_an_execution_that_is_lost(t):
    count = world(t)
    with Daemon(t) as d:
        execution = begin(t, d, STEPS % "add", durable=True)
        until(t, "the second call", lambda: count("begun", "b"))
        kill(t, d)
    db = database(t)
    rows = db.execute("SELECT rowid, part FROM journals WHERE execution = ? ORDER BY 1", (execution,)).fetchall()
    t.true(len(rows) > 1, "it has no journal")
    db.execute("UPDATE journals SET part = ? WHERE rowid = ?", (rows[-1][1][:-3] + b"\xff\xff\xff\xff\xff", rows[-1][0]))
    db.commit()
    db.close()
    with Daemon(t) as d:
        e = ended(t, d, execution)
        t.equal((e["status"], e["error"]["type"]), ("cancelled", "internal_error"), "outcome")
        t.has(e["error"]["message"], "cannot go on")
        t.has(e["error"]["suggestion"], "Look what its calls have done")
        t.equal((e["execution_id"], e["calls"], e["logs"]), (execution, [], []), "as any that is lost")
        until(t, "the figures", lambda: d.get("/statistics").json()["executions"]["cancelled"] == 1)
        t.equal(d.run("return 1")["result"], 1, "the next one")
    settled = [entry for entry in events(t, execution) if entry["event"] == "execution.settled"]
    t.equal([entry["data"].get("reason") for entry in settled], ["journal_damaged"], "settled")


def test_calls_after_a_restart_are_judged_by_the_policy_of_then(t):
    count = world(t)
    path = t.file("policy.json", json.dumps({"tools": {}}))
    with Daemon(t, "--policy", path) as d:
        execution = begin(t, d, STEPS % "add", durable=True)
        until(t, "the second call", lambda: count("begun", "b"))
        kill(t, d)
    t.file("policy.json", json.dumps({"tools": {"deny": ["effects/add"]}}))
    with Daemon(t, "--policy", path) as d:
        e = ended(t, d, execution)
        t.equal((e["status"], [c["status"] for c in e["calls"]]), ("failed", ["ok", "denied"]), "outcome")
    t.equal(count("add", "b"), 0, "effects")


def test_a_server_that_is_gone_after_a_restart_is_an_error_of_its_call(t):
    count = world(t)
    with Daemon(t) as d:
        execution = begin(t, d, STEPS % "add", durable=True)
        until(t, "the second call", lambda: count("begun", "b"))
        kill(t, d)
    t.file("caisson.json", json.dumps({"mcpServers": {}}))
    with Daemon(t) as d:
        e = ended(t, d, execution)
        t.equal((e["status"], [c["status"] for c in e["calls"]]), ("failed", ["ok", "denied"]), "outcome")
        t.has(e["error"]["message"], "effects")

"""Answers that are known are given again, and only where they are the same: docs/cache.md."""

import glob
import json
import os
import sqlite3
import sys
import time

from mcp_wire import Lines, call, text
from harness import until
from resting import HERE, problem
from serving import Daemon, make_key

COUNTING = os.path.join(HERE, "servers", "counting.py")
ON = ("--cache.ttl", "5m")
READ = "return (await counting.read({ a: inputs.a })).count"


# A server that changes is nothing that a person is asked about here.
CHANGES = {"risk": {"rules": [{"id": "tool-changed", "level": "OFF"}, {"id": "tool-young", "level": "OFF"}]}}


def counting(t, policy=None, **more):
    """Options of a daemon with the server that counts; the file is part of a tool's description."""
    said = t.file("said", "first")
    t.file("caisson.json", json.dumps({"mcpServers": {
        "counting": dict({"command": sys.executable, "args": [COUNTING, said]}, **more)}}))
    options = list(ON)
    if policy:
        options += ["--policy", t.file("policy.json", json.dumps({"tools": policy, **CHANGES}))]
    return options


def ran(t, e, what="it"):
    t.equal((e["status"], e.get("cached"), e.get("cached_from")), ("completed", None, None), what + " is to run")
    return e["result"]


def known(t, e, of, what="it"):
    t.equal((e["status"], e.get("cached"), e.get("cached_from")), ("completed", True, of["execution_id"]), what + " is to be known")
    t.true(e["execution_id"] != of["execution_id"], "it has no id of its own")
    t.equal((e["result"], e["logs"], e["calls"], e["artifacts"]), (of["result"], of["logs"], of["calls"], of["artifacts"]), what)
    return e["result"]


def test_the_same_request_runs_once(t):
    code = "console.log('said'); return { a: inputs.a, keys: Object.keys(inputs), state: typeof state }"
    with Daemon(t, *ON) as d:
        first = d.run(code, inputs={"a": 1, "b": 2})
        ran(t, first)
        again = d.run(code, inputs={"a": 1, "b": 2})
        known(t, again, first)
        t.true(0 <= again["cached_age_ms"] < 60000, "its age")
        hashes = [{k: e["provenance"][k] for k in ("code_hash", "inputs_hash", "outputs_hash")} for e in (first, again)]
        t.equal(hashes[0], hashes[1], "where it comes from")
        chain = [e["provenance"]["chain_hash"] or "" for e in (first, again)]
        t.true(not chain[0].strip("0") or chain[0] != chain[1], "each has its entry in the ledger")
        t.equal(d.get("/executions/" + again["execution_id"]).json(), again, "the record")
        t.equal([e["execution_id"] for e in d.get("/executions").json()["executions"]],
                [again["execution_id"], first["execution_id"]], "both are on record")
        # Whatever the program can see is another request.
        ran(t, d.run(code, inputs={"b": 2, "a": 1}), "the order of inputs")
        ran(t, d.run(code, inputs={"a": 2, "b": 2}), "other inputs")
        ran(t, d.run(code + " ", inputs={"a": 1, "b": 2}), "another program")
        ran(t, d.run(code, inputs={"a": 1, "b": 2}, limits={"log_lines": 7}), "other limits")
        # How it is wanted.
        ran(t, d.run(code, inputs={"a": 1, "b": 2}, cache="off"), "off")
        known(t, d.run(code, inputs={"a": 1, "b": 2}, cache="only"), first, "only")
        newer = d.run(code, inputs={"a": 1, "b": 2}, cache="refresh")
        ran(t, newer, "refresh")
        known(t, d.run(code, inputs={"a": 1, "b": 2}, cache="use"), newer, "after refresh")
        e = d.run("return 'nobody asked'", cache="only")
        t.equal((e["status"], e["error"]["type"]), ("failed", "validation_error"))
        t.has(e["error"]["message"], "no answer is known")
        ran(t, d.run("return 'nobody asked'", cache="off"), "after only")
        ran(t, d.run("return 'nobody asked'"), "off keeps nothing")
        problem(t, d.post("/executions", {"code": "1", "cache": "maybe"}), 400, "invalid", "cache")
        # One that does not wait for it.
        started = d.post("/executions", {"code": code, "inputs": {"a": 1, "b": 2}, "async": True})
        t.equal(started.status, 202)
        path = "/executions/" + started.json()["execution_id"]
        until(t, "its end", lambda: d.get(path).json()["status"] == "completed")
        known(t, d.get(path).json(), newer, "one that does not wait")
        # An idempotency key comes first: it is the same execution.
        key = {"Idempotency-Key": "k"}
        one = d.post("/executions", {"code": code, "inputs": {"a": 1, "b": 2}}, headers=key).json()
        known(t, one, newer, "with a key")
        t.equal(d.post("/executions", {"code": code, "inputs": {"a": 1, "b": 2}}, headers=key).json(), one, "the key again")


def test_what_would_answer_otherwise_is_not_kept(t):
    with Daemon(t, *ON) as d:
        for code in ("return Math.random()", "return Date.now()", "return new Date().getTime()", "return [new Date]",
                     "return Date( )", "return crypto.randomUUID()", "throw new Error('x')",
                     "console.log(1); console.log(2); console.log(3); return 1", "return caisson.storage.list()"):
            for _ in range(2):
                t.equal(d.run(code, limits={"log_lines": 2}).get("cached"), None, code)
        e = d.run("return Math.random()", cache="only")
        t.has(e["error"]["message"], "time or for chance")
        for _ in range(2):
            t.equal(d.run("print(1)", language="python").get("cached"), None, "a guest")
        first = d.run("return new Date(0).toISOString()")
        known(t, d.run("return new Date(0).toISOString()"), first, "a moment that is given")
        # A large result has a handle, which both answers name; without it there is no answer.
        large = "return 'y'.repeat(50000)"
        first = d.run(large)
        t.equal(len(first["artifacts"]), 1)
        known(t, d.run(large), first, "a large one")
        data = glob.glob(t.state + "/data/caisson/*.db")[0]
        with sqlite3.connect(data, timeout=10) as db:
            db.execute("DELETE FROM artifacts")
        ran(t, d.run(large), "without its artifact")


def test_a_session_is_what_it_holds(t):
    with Daemon(t, *ON) as d:
        one, two = (d.post("/sessions", {}).json()["session_id"] for _ in range(2))
        look = "return state.n ?? 0"
        first = d.run(look, session_id=one)
        ran(t, first)
        known(t, d.run(look, session_id=one), first, "the same state")
        e = d.run(look, session_id=two)
        known(t, e, first, "another session with the same state")
        t.equal(e["session_id"], two)
        ran(t, d.run(look), "no session at all")
        ran(t, d.run("state.n = 5; return 1", session_id=one), "a change")
        ran(t, d.run("state.n = 5; return 1", session_id=two), "a change is made each time")
        t.equal(ran(t, d.run(look, session_id=one), "another state"), 5)
        t.equal(d.run(look, session_id=two)["cached"], True)
        # Files are not looked into.
        d.request("PUT", "/sessions/%s/files/x" % one, body=b"x")
        for _ in range(2):
            ran(t, d.run(look, session_id=one), "with files")
        write = "import { writeFile } from 'fs/promises'; await writeFile('/workspace/y', 'y'); return 1"
        three = d.post("/sessions", {}).json()["session_id"]
        ran(t, d.run(write, session_id=three), "one that writes files")
        four = d.post("/sessions", {}).json()["session_id"]
        ran(t, d.run(write, session_id=four), "they are written each time")
        t.equal([f["path"] for f in d.get("/sessions/%s/files" % four).json()["files"]], ["y"])


def test_calls_decide(t):
    options = counting(t, policy={"principals": {"poor": {"deny": ["counting/read"]}}})
    with Daemon(t, *options) as d:
        read = d.run(READ, inputs={"a": 1})
        t.equal(ran(t, read), 1)
        t.equal(known(t, d.run(READ, inputs={"a": 1}), read), 1)
        t.equal(ran(t, d.run(READ, inputs={"a": 2})), 2)
        code = "return (await counting.set({})).count"
        first = d.run(code)
        t.equal((ran(t, first), known(t, d.run(code), first)), (3, 3), "idempotent")
        for code in ("return (await counting.plain({})).count",
                     "return (await counting.read({})).count + (await counting.plain({})).count",
                     "try { await counting.fail({}) } catch {} return 1",
                     "try { await counting.nothing({}) } catch {} return 1",
                     "await counting.ask({}); return 1"):
            for _ in range(2):
                ran(t, d.run(code), code)
        # One call means that call.
        counts = [d.post("/tools/counting/read", {}).json()["result"]["count"] for _ in range(2)]
        t.equal(counts[1], counts[0] + 1)
        # Who may not call it does not get what it answered.
        poor, rich = make_key(t, "poor"), make_key(t, "rich")
        known(t, d.post("/executions", {"code": READ, "inputs": {"a": 1}}, key=rich).json(), read, "who may")
        e = d.post("/executions", {"code": READ, "inputs": {"a": 1}}, key=poor).json()
        t.equal((e["status"], e["error"]["type"]), ("failed", "permission_error"), "denied")
        # Another definition is another tool, for those that use it.
        search = "return (await searchTools('read', { detail: 'full' })).tools.length > 0"
        files = "import fs from 'node:fs/promises'; return (await fs.readdir('/mcp-servers/counting')).sort()"
        imports = "import { read } from './mcp-servers/counting/read.ts'; return typeof read"
        other, imported = d.run("return (await counting.set({ a: 3 })).count"), d.run(imports)
        # Types that are learned from results change the tree, a while after the calls.
        until(t, "a search that is known", lambda: d.run(search).get("cached"))
        until(t, "a tree of tools that is known", lambda: d.run(files).get("cached"))
        known(t, d.run(imports), imported, "an import")
        known(t, d.post("/executions", {"code": imports}, key=rich).json(), imported, "an import by somebody else")
        t.equal(d.post("/executions", {"code": files}, key=rich).json().get("cached"), None, "the tree of somebody else")
        t.equal(d.post("/executions", {"code": search}, key=rich).json().get("cached"), None, "a search by somebody else")
        t.file("said", "second")
        until(t, "the change", lambda: "second" in d.get("/tools/counting/read").json()["definition"]["description"])
        ran(t, d.run(READ, inputs={"a": 1}), "another definition")
        ran(t, d.run(search), "a search among others")
        ran(t, d.run(files), "the tree of others")
        ran(t, d.run(imports), "an import of another")
        known(t, d.run("return (await counting.set({ a: 3 })).count"), other, "the others stay")


def test_the_word_of_a_server_counts_as_it_is_trusted(t):
    options = counting(t, trust="low", policy={"repeatable": ["counting/plain"]})
    with Daemon(t, *options) as d:
        for _ in range(2):
            ran(t, d.run(READ, inputs={"a": 1}), "nobody vouches for it")
        code = "return (await counting.plain({})).count"
        first = d.run(code)
        known(t, d.run(code), first, "the policy does")


def test_tenants_share_nothing(t):
    options = counting(t)
    a, b, boss = make_key(t, "a", "--tenant", "ta"), make_key(t, "b", "--tenant", "tb"), make_key(t, "boss", "--tenant", "ta", role="admin")
    body = {"code": READ, "inputs": {"a": 1}}
    with Daemon(t, *options) as d:
        first = d.post("/executions", body, key=a).json()
        t.equal(ran(t, first), 1)
        t.equal(ran(t, d.post("/executions", body, key=b).json(), "another tenant"), 2)
        known(t, d.post("/executions", body, key=boss).json(), first, "another key of the same")
        e = d.post("/executions", dict(body, cache="only")).json()
        t.equal(e["error"]["type"], "validation_error", "the tenant of this machine")
        problem(t, d.request("DELETE", "/cache", key=a), 403, "denied")
        t.equal(d.request("DELETE", "/cache", key=boss).status, 204)
        t.equal(ran(t, d.post("/executions", body, key=a).json(), "after it was cleared"), 3)
        t.equal(d.post("/executions", body, key=b).json()["result"], 2, "the other's stays")


def test_it_outlives_the_process_and_trusts_no_row(t):
    options = counting(t)
    with Daemon(t, *options) as d:
        first = d.run(READ, inputs={"a": 1})
        other = d.run(READ, inputs={"a": 2})
        third = d.run("return 'three'")
    with Daemon(t, *options) as d:
        known(t, d.run(READ, inputs={"a": 1}), first, "after a restart")
        known(t, d.run(READ, inputs={"a": 1}), first, "from memory")
    data = glob.glob(t.state + "/data/caisson/*.db")[0]
    with sqlite3.connect(data, timeout=10) as db:
        rows = db.execute("SELECT key, value FROM cache ORDER BY created").fetchall()
        t.equal(len(rows), 3, "rows")
        # One answers something else, one is another's, one is rubbish.
        db.execute("UPDATE cache SET value = ? WHERE key = ?", (rows[0][1].replace('"result":1', '"result":666'), rows[0][0]))
        db.execute("UPDATE cache SET value = ? WHERE key = ?", (rows[2][1], rows[1][0]))
        db.execute("UPDATE cache SET value = ? WHERE key = ?", ('{"sum":', rows[2][0]))
    with Daemon(t, *options) as d:
        t.equal(ran(t, d.run(READ, inputs={"a": 1}), "a poisoned one"), 1)
        t.equal(ran(t, d.run(READ, inputs={"a": 2}), "one of another key"), 2)
        t.equal(ran(t, d.run("return 'three'"), "a broken one"), "three")
        t.true(d.run("return 'three'")["cached"], "it is kept again")
    t.equal(t.caisson("cache", "clear").status, 0)
    with Daemon(t, *options) as d:
        ran(t, d.run("return 'three'"), "after it was cleared")
    t.true(other["result"] == 2 and third["result"] == "three", "the first ones")


def test_what_is_cleared_is_forgotten_by_whoever_has_it(t):
    options = counting(t, policy={"cache": [{"tool": "counting/set", "ttl_s": 600}]})
    kept = "return (await counting.set({ a: 1 })).count"
    key = make_key(t, "b", "--tenant", "tb")
    with Daemon(t, *options) as d, Daemon(t, *options) as e:
        e.run(READ, inputs={"a": 2})  # it has to know the tool to see that it is the same one
        first = d.run(READ, inputs={"a": 1})
        known(t, d.run(READ, inputs={"a": 1}), first, "before")
        known(t, e.run(READ, inputs={"a": 1}), first, "another server's")
        known(t, e.run(READ, inputs={"a": 1}), first, "in its memory")
        result = d.run(kept)["result"]
        t.equal(d.run(kept, limits={"json_depth": 90})["result"], result, "the result of a tool")
        t.status(t.caisson("cache", "clear"), 0)
        for server in (d, e):
            ran(t, server.run(READ, inputs={"a": 1}, cache="use" if server is d else "refresh"), "after it was cleared")
        t.true(d.run(kept, limits={"json_depth": 91})["result"] != result, "the tool is asked again")
        # What is of others stays, in the store.
        mine, theirs = d.run("return 'x'"), d.post("/executions", {"code": "return 'x'"}, key=key).json()
        t.status(t.caisson("cache", "clear", "--tenant", "tb"), 0)
        known(t, d.run("return 'x'"), mine, "of another tenant")
        ran(t, d.post("/executions", {"code": "return 'x'"}, key=key).json(), "of that tenant")
        t.equal(theirs["result"], "x")
        # One server that is told tells the other.
        admin = make_key(t, "a", role="admin")
        first = d.post("/executions", {"code": "return 'y'"}, key=admin).json()
        known(t, e.post("/executions", {"code": "return 'y'"}, key=admin).json(), first, "before")
        t.equal(d.request("DELETE", "/cache", key=admin).status, 204, "status")
        ran(t, e.post("/executions", {"code": "return 'y'"}, key=admin).json(), "after DELETE /cache of the other")


def test_it_is_good_for_a_while_and_for_so_much(t):
    with Daemon(t, "--cache.ttl", "6s", "--cache.memory", "200K") as d:
        first = d.run("return 1")
        known(t, d.run("return 1"), first)
        time.sleep(6.1)
        ran(t, d.run("return 1"), "too old")
    with Daemon(t, "--cache.ttl", "5m", "--cache.memory", "200K") as d:
        answers = [d.run("return 'x'.repeat(3000) + %d" % i) for i in range(40)]
        metrics = dict(line.split() for line in d.get("/metrics").body.decode().splitlines() if line.startswith("caisson_cache_"))
        t.true(0 < int(metrics["caisson_cache_memory_bytes"]) <= 200 << 10, "memory")
        t.true(0 < int(metrics["caisson_cache_answers"]) < 40, "answers")
        for i in (0, 20, 39):
            known(t, d.run("return 'x'.repeat(3000) + %d" % i), answers[i], "what has no room in memory is in the store")


def test_it_can_be_switched_off_while_it_runs(t):
    t.file("caisson.json", json.dumps({"cache": {"ttl": "5m"}, "mcpServers": {}}))
    del t.env["CAISSON_CACHE_TTL"]
    with Daemon(t) as d:
        first = d.run("return 1")
        known(t, d.run("return 1"), first)
        t.file("caisson.json", json.dumps({"cache": {"ttl": 0}, "mcpServers": {}}))
        d.await_said(r"cache\.ttl")
        ran(t, d.run("return 1"), "switched off")
        t.has(d.run("return 1", cache="only")["error"]["message"], "no cache")


def test_results_of_tools_are_kept_where_the_policy_says_so(t):
    options = counting(t, policy={"cache": [{"tool": "counting/pl*", "ttl_s": 600}, {"tool": "counting/set", "ttl_s": 600},
                                         {"tool": "counting/brief", "ttl_s": 1}]})
    key = make_key(t, "b", "--tenant", "tb")
    code = "return (await counting.%s({ a: 1, b: 2 })).count"
    with Daemon(t, *options) as d:
        first = d.run(code % "plain")
        t.equal((first["result"], first["calls"][0].get("cached")), (1, None))
        again = d.run("return (await counting.plain({ b: 2, a: 1 })).count")
        t.equal((again["result"], again["calls"][0].get("cached"), again.get("cached")), (1, True, None), "a result that is known")
        t.equal(d.run(code % "plain", cache="off")["result"], 2, "off")
        t.equal(d.run(code % "plain")["result"], 1, "off keeps nothing")
        t.equal(d.run(code % "plain", cache="refresh")["result"], 3, "refresh")
        t.equal(d.run(code % "plain")["result"], 3, "after refresh")
        t.equal(d.run("return (await counting.plain({ a: 1, b: 3 })).count")["result"], 4, "other arguments")
        t.equal(d.post("/executions", {"code": code % "plain"}, key=key).json()["result"], 5, "another tenant")
        counts = [d.run("return (await counting.read({ a: 1 })).count", cache="refresh")["result"] for _ in range(2)]
        t.equal(counts, [6, 7], "a tool that the policy does not name")
        t.equal(d.run(code % "brief")["result"], 8, "for a second")
        time.sleep(1.1)
        t.equal(d.run(code % "brief")["result"], 9, "too old")
        t.equal(d.run(code % "plain")["result"], 3, "not too old")
        large = "return (await counting.set({ bytes: 200000 })).fill.length"
        t.equal([d.run(large, limits={"json_depth": n})["calls"][0].get("cached") for n in (90, 91)], [None, True], "a large one")
    for policy, says in (({"cache": {}}, "list"), ({"cache": [{"tool": "x/*"}]}, "ttl_s"), ({"cache": [{"ttl_s": 5}]}, "tool"),
                         ({"cache": [{"tool": "x", "ttl": 5}]}, "ttl_s"), ({"cache": [{"tool": "x", "ttl_s": 0}]}, "ttl_s"),
                         ({"repeatable": "x"}, "list")):
        done = t.caisson("serve", "--port", "0", "--policy", t.file("wrong.json", json.dumps({"tools": policy})))
        t.true(done.status != 0, "it is a mistake")
        t.has(done.err, says)


def test_a_model_is_told(t):
    with Lines(t, [t.binary, "mcp", *ON]) as m:
        m.initialize()
        first = json.loads(text(m.ask(call(1, "execute_code", {"code": "return 42"}), 30)))
        t.equal((first["result"], first.get("cached")), (42, None))
        again = json.loads(text(m.ask(call(2, "execute_code", {"code": "return 42"}))))
        t.equal((again["result"], again["cached"]), (42, True))
        t.has(again["answered"], "refresh")
        fresh = json.loads(text(m.ask(call(3, "execute_code", {"code": "return 42", "cache": "refresh"}))))
        t.equal((fresh["result"], fresh.get("cached")), (42, None))

"""The REST door: every route, every error, against the running daemon."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

from harness import Failed
from peers import NODE, PEERS
from serving import Daemon, make_key

HERE = os.path.dirname(os.path.abspath(__file__))
NASTY = os.path.join(HERE, "servers", "nasty.py")
SLEEP = "await new Promise((r) => setTimeout(r, %d)); return 'slept'"
JSON = {"Content-Type": "application/json"}


def problem(t, answer, status, code, *pieces):
    """It is a problem of this kind, and its detail has all the pieces."""
    t.equal(answer.status, status, "status")
    t.equal(answer.headers["Content-Type"], "application/problem+json", "Content-Type")
    t.equal(answer.headers["Cache-Control"], "no-store", "Cache-Control")
    said = answer.json()
    t.equal(sorted(said), ["code", "detail", "instance", "status", "title", "type"], "members")
    t.equal((said["status"], said["code"]), (status, code), "status and code")
    for piece in pieces:
        t.has(said["detail"], piece, "detail")


def begin(t, d, code, **more):
    headers = more.pop("headers", None)
    answer = d.post("/executions", dict({"code": code, "async": True}, **more), headers=headers)
    t.equal(answer.status, 202, "status")
    execution = answer.json()["execution_id"]
    t.equal(answer.headers["Location"], "/executions/" + execution, "Location")
    return execution


def until(t, what, found, patience=10):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        value = found()
        if value:
            return value
        time.sleep(0.02)
    t.fail("%s did not happen within %d s" % (what, patience))


def with_tools(t, policy=None, **servers):
    servers = servers or {"plain": {"command": sys.executable, "args": [NASTY]}}
    t.file("caisson.json", json.dumps({"mcpServers": servers}))
    if policy:
        t.file("policy.json", json.dumps(policy))
        return ["--policy", os.path.join(t.dir, "policy.json")]
    return []


# Finding the way

def test_the_root_names_itself_and_where_things_are(t):
    with Daemon(t) as d:
        root = d.get("/").json()
        t.equal((root["name"], root["links"]["openapi"], root["links"]["mcp"]), ("caisson", "/openapi.json", "/mcp"))
        page = d.get("/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        t.has(page.headers["Content-Type"], "text/html")
        t.has(page.body.decode(), "/executions/{execution_id}/trace")
        t.lacks(page.body.decode(), "<script")
        t.has(d.get("/", headers={"Accept": "application/json, text/html;q=0.9"}).headers["Content-Type"], "json")


def test_health_tells_of_each_part(t):
    with_tools(t, broken={"command": "/no/such/program"})
    with Daemon(t) as d:
        until(t, "readiness", lambda: d.get("/health").status == 200)
        d.get("/tools?server=broken")
        health = until(t, "the failure", lambda: (lambda h: h if h["status"] == "degraded" else None)(d.get("/health").json()))
        t.equal(health["parts"]["store"]["status"], "ok")
        t.true(health["parts"]["sandbox"]["ready_workers"] > 0, "no worker is ready")
        t.equal(health["parts"]["queue"], {"running": 0, "waiting": 0})
        t.equal(health["parts"]["servers"]["states"], {"broken": "failed"})
        # Behind a proxy nobody knows who asks: names are not told.
        far = d.get("/health", headers={"X-Forwarded-For": "203.0.113.9"}).json()
        t.equal(far["parts"]["servers"], {"status": "degraded", "total": 1, "failed": 1})


def test_wrong_paths_and_methods_are_told_so(t):
    with Daemon(t) as d:
        problem(t, d.get("/nothing"), 404, "missing", "/nothing", "/openapi.json")
        problem(t, d.get("/executions/"), 404, "missing")
        problem(t, d.get("//executions"), 404, "missing")
        answer = d.request("PATCH", "/executions/ex_1")
        problem(t, answer, 405, "not_allowed", "PATCH")
        t.equal(answer.headers["Allow"], "GET, HEAD, DELETE, OPTIONS")
        options = d.request("OPTIONS", "/executions")
        t.equal((options.status, options.headers["Allow"]), (204, "POST, GET, HEAD, OPTIONS"))
        head = d.request("HEAD", "/executions")
        t.equal((head.status, head.body), (200, b""))
        t.equal(head.headers["Content-Length"], str(len(d.get("/executions").body)))
        t.equal(d.request("HEAD", "/executions/ex_1").status, 404)


# Programs

def test_a_program_is_answered_with_its_envelope(t):
    with Daemon(t) as d:
        answer = d.post("/executions", {"code": "console.log('hello'); return inputs.a + 1", "inputs": {"a": 41},
                                        "intent": "add"})
        t.equal(answer.status, 200)
        t.equal(answer.headers["Cache-Control"], "no-store")
        t.equal(answer.headers["X-Content-Type-Options"], "nosniff")
        e = answer.json()
        t.equal((e["status"], e["result"], e["logs"]), ("completed", 42, [{"level": "info", "text": "hello"}]))
        t.equal(e["limits"]["wall_clock"], 30000, "the default time")
        again = d.get("/executions/" + e["execution_id"])
        t.equal(again.json(), e, "the record")
        failed = d.post("/executions", {"code": "throw new Error('no')"})
        t.equal((failed.status, failed.json()["status"]), (200, "failed"))
        t.equal(failed.json()["error"]["type"], "runtime_error")
        python = d.run("print(6 * 7)", language="py")
        t.equal((python["language"], python["stdout"]), ("python", "42\n"))


def test_limits_can_be_asked_for(t):
    with Daemon(t) as d:
        e = d.run("while (true) {}", timeout_ms=300)
        t.equal((e["status"], e["error"]["type"], e["limits"]["wall_clock"]), ("failed", "timeout_error", 300))
        e = d.run("return 1", limits={"memory": "64M", "tool_calls": 3, "wall_clock": "2s"})
        t.equal([e["limits"][n] for n in ("memory", "tool_calls", "wall_clock")], [64 << 20, 3, 2000])
        post = lambda **body: d.post("/executions", dict({"code": "return 1"}, **body))
        problem(t, post(timeout_ms=300001), 400, "invalid", "timeout_ms")
        problem(t, post(timeout_ms=0), 400, "invalid", "timeout_ms")
        problem(t, post(limits={"memory": "8T"}), 400, "invalid", "memory")
        problem(t, post(limits={"memory": "many"}), 400, "invalid", "memory")
        problem(t, post(limits={"memory": True}), 400, "invalid", "memory")
        problem(t, post(limits={"memry": 1}), 400, "invalid", "did you mean 'memory'?")
        problem(t, post(limits={"wall_clock": 5}, timeout_ms=5), 400, "invalid", "timeout_ms and limits.wall_clock")


WRONG = [
    ("no json", '{"code": "return 1",\n "inputs": }', "line 2, column 12"),
    ("an array", "[1]", "must be a JSON object"),
    ("two keys", '{"code": "1", "code": "2"}', "code"),
    ("no code", "{}", "code"),
    ("a wrong name", '{"code": "return 1", "langauge": "python"}', "did you mean 'language'?"),
    ("a wrong type", '{"code": 3}', "code"),
    ("an empty program", '{"code": ""}', "code"),
    ("a language", '{"code": "1", "language": "cobol"}', "cobol"),
    ("async", '{"code": "1", "async": "yes"}', "async"),
    ("on_busy", '{"code": "1", "on_busy": "panic"}', "on_busy"),
    ("an id", '{"code": "1", "execution_id": "ex_1"}', "execution_id"),
    ("a time", '{"code": "1", "created_at": 1}', "created_at"),
    ("a principal", '{"code": "1", "principal": "root"}', "principal"),
    ("a tenant", '{"code": "1", "tenant": "other"}', "tenant"),
    ("no utf-8", b'{"code": "\xff"}', "UTF-8"),
    ("too deep", '{"code": "1", "inputs": %s1%s}' % ("[" * 101, "]" * 101), "deep"),
]


def test_bodies_that_are_wrong_are_refused(t):
    with Daemon(t) as d:
        for name, body, piece in WRONG:
            t.log.append(name)
            problem(t, d.post("/executions", body, headers=JSON), 400, "invalid", piece)
        t.equal(d.get("/executions").json()["executions"], [], "what was executed")


def test_inputs_may_be_as_deep_as_programs_may_see_them(t):
    with Daemon(t) as d:
        body = '{"code": "return 1", "inputs": %s1%s}' % ("[" * 100, "]" * 100)
        t.equal(d.post("/executions", body, headers=JSON).json()["result"], 1)


def test_only_json_is_taken(t):
    with Daemon(t) as d:
        body = '{"code": "return 1"}'
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""):
            problem(t, d.post("/executions", body, headers={"Content-Type": kind}), 415, "media_type", "application/json")
        for kind in ("application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.api+json"):
            t.equal(d.post("/executions", body, headers={"Content-Type": kind}).status, 200, kind)
        problem(t, d.post("/executions", "", headers=JSON), 400, "invalid", "empty")


def test_what_is_too_large_is_refused(t):
    with Daemon(t, "--limits.code", "1000", "--limits.inputs", "2000") as d:
        fits = "return 1 //".ljust(1000, "x")
        t.equal(d.run(fits)["result"], 1)
        problem(t, d.post("/executions", {"code": fits + "x"}), 413, "limit", "code", "1001", "1000")
        # A byte of a program takes up to six in JSON, and counts as one.
        body = '{"code": "return 1 //%s"}' % ("\\u0001" * 989)
        t.equal(d.post("/executions", body, headers=JSON).json()["result"], 1)
        problem(t, d.post("/executions", {"code": "return 1", "inputs": "x" * 1999}), 413, "limit", "inputs")
        t.equal(d.post("/executions", {"code": "return 1", "inputs": "x" * 1998}).status, 200)
        t.equal(d.post("/executions", {"code": "x" * 200000}).status, 413)
        t.equal(d.post("/sessions", {"name": "x" * 70000}).status, 413)
        t.equal(d.run("return 2")["result"], 2)


# Those who do not wait

def test_who_does_not_wait_asks_later(t):
    with Daemon(t) as d:
        execution = begin(t, d, "console.log('one'); " + SLEEP % 600)
        running = until(t, "its log", lambda: (lambda e: e if e.get("logs") else None)(d.get("/executions/" + execution).json()))
        t.equal((running["status"], running["phase"]), ("running", "running"))
        t.equal(running["logs"], [{"level": "info", "text": "one"}])
        problem(t, d.get("/executions/%s/trace" % execution), 409, "conflict", "running")
        soon = time.monotonic()
        t.equal(d.get("/executions/%s?wait_ms=20" % execution).json()["status"], "running")
        ended = d.get("/executions/%s?wait_ms=20000" % execution).json()
        t.equal((ended["status"], ended["result"]), ("completed", "slept"))
        t.true(time.monotonic() - soon < 8, "it waited for too long")
        t.equal(d.get("/executions/%s?wait_ms=20000" % execution).json(), ended)
        problem(t, d.get("/executions/%s?wait_ms=x" % execution), 400, "invalid", "wait_ms")
        problem(t, d.get("/executions/%s?wait_ms=60001" % execution), 400, "invalid", "wait_ms")


def test_executions_are_listed_in_pages(t):
    with Daemon(t) as d:
        ids = [d.run("return %d" % i)["execution_id"] for i in range(3)]
        ids.append(d.run("throw 1")["execution_id"])
        ids.reverse()
        t.equal([e["execution_id"] for e in d.get("/executions").json()["executions"]], ids)
        seen, path = [], "/executions?limit=3"
        while path:
            page = d.get(path).json()
            seen += [e["execution_id"] for e in page["executions"]]
            path = page.get("next")
        t.equal(seen, ids)
        failed = d.get("/executions?status=failed").json()["executions"]
        t.equal([(e["execution_id"], e["error_type"]) for e in failed], [(ids[0], "runtime_error")])
        t.matches(failed[0]["created_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        problem(t, d.get("/executions?status=open"), 400, "invalid", "status")
        problem(t, d.get("/executions?limit=0"), 400, "invalid", "limit")
        problem(t, d.get("/executions?limit=201"), 400, "invalid", "limit")


def test_what_runs_can_be_cancelled(t):
    with Daemon(t) as d:
        execution = begin(t, d, SLEEP % 25000)
        ended = d.request("DELETE", "/executions/" + execution)
        t.equal((ended.status, ended.json()["status"]), (200, "cancelled"))
        t.equal(d.get("/executions/" + execution).json(), ended.json())
        again = d.request("DELETE", "/executions/" + execution)
        t.equal((again.status, again.json()), (200, ended.json()))
        problem(t, d.request("DELETE", "/executions/ex_00"), 404, "missing", "ex_00")
        problem(t, d.request("DELETE", "/executions/" + execution.upper()), 404, "missing")


def test_a_caller_who_hangs_up_cancels(t):
    with Daemon(t) as d:
        def hang_up(headers):
            before = len(d.get("/executions").json()["executions"])
            body = json.dumps({"code": SLEEP % 900}).encode()
            with socket.create_connection((d.host, d.port)) as s:
                s.sendall(b"POST /executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body)
                rows = until(t, "its start", lambda: (lambda r: r if len(r) > before else None)(
                    d.get("/executions?status=running").json()["executions"] +
                    [0] * before))
            return rows[0]["execution_id"]
        execution = hang_up(b"")
        t.equal(d.get("/executions/%s?wait_ms=5000" % execution).json()["status"], "cancelled")
        # Who gave it a key comes back for the answer.
        execution = hang_up(b"Idempotency-Key: k\r\n")
        t.equal(d.get("/executions/%s?wait_ms=5000" % execution).json()["status"], "completed")


def test_a_trace_tells_what_it_did(t):
    with_tools(t)
    with Daemon(t) as d:
        e = d.run("await plain.echo({a: 1}); try { await plain.nothing({}) } catch {} ; return 1")
        trace = d.get("/executions/%s/trace" % e["execution_id"]).json()
        t.equal([(c["server"], c["tool"], c["status"]) for c in trace["calls"]],
                [("plain", "echo", "ok"), ("plain", "nothing", "denied")])
        t.true(all(c["latency_ms"] >= 0 for c in trace["calls"]), "no times")
        t.true("execution" in [p["phase"] for p in trace["phases"]], "no phase")
        t.equal((trace["status"], trace["execution_id"]), ("completed", e["execution_id"]))


def test_there_is_no_replay_yet(t):
    with Daemon(t) as d:
        e = d.run("return 1")
        problem(t, d.post("/executions/%s/replay" % e["execution_id"]), 501, "not_available")
        problem(t, d.post("/executions/ex_0/replay"), 404, "missing")


# Streams

def read_events(d, path, headers=None, until_done=True):
    """[(id, event, data)] of a stream, to its end."""
    connection = d.connect(30)
    connection.request("GET", path, headers=dict({"Accept": "text/event-stream"}, **(headers or {})))
    answer = connection.getresponse()
    if answer.status != 200 or not answer.headers["Content-Type"].startswith("text/event-stream"):
        raise Failed("no stream: %d %s" % (answer.status, answer.read()))
    events = []
    for block in answer.read().decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            events.append((fields.get("id"), fields["event"], json.loads(fields["data"])))
    connection.close()
    return events


def test_logs_come_as_a_stream_while_it_runs(t):
    with Daemon(t) as d:
        execution = begin(t, d, "console.log('one'); await new Promise((r) => setTimeout(r, 300));"
                          "console.warn('two\\nlines'); caisson.progress({done: 1});"
                          "await new Promise((r) => setTimeout(r, 100)); console.error('three'); return 1")
        until(t, "its log", lambda: d.get("/executions/%s/logs" % execution).json()["logs"])
        events = read_events(d, "/executions/%s/logs" % execution)
        t.equal([(i, e) for i, e, _ in events], [("1", "log"), ("2", "log"), (None, "progress"), ("3", "log"), (None, "done")])
        t.equal([v.get("text") for _, e, v in events if e == "log"], ["one", "two\nlines", "three"])
        t.equal(events[1][2]["level"], "warn")
        t.equal(events[4][2], {"execution_id": execution, "status": "completed"})
        # Afterwards the stream tells what is on record, and goes on after what was seen.
        t.equal([v.get("text") for _, e, v in read_events(d, "/executions/%s/logs" % execution)],
                ["one", "two\nlines", "three", None])
        t.equal(read_events(d, "/executions/%s/logs" % execution)[:3], [e for e in events if e[1] == "log"], "numbers")
        seen = read_events(d, "/executions/%s/logs" % execution, {"Last-Event-ID": "2"})
        t.equal([e for _, e, _ in seen], ["log", "done"])
        logs = d.get("/executions/%s/logs" % execution).json()
        t.equal([(l["level"], l["text"]) for l in logs["logs"]], [("info", "one"), ("warn", "two\nlines"), ("error", "three")])
        problem(t, d.get("/executions/ex_0/logs", headers={"Accept": "text/event-stream"}), 404, "missing")


def test_output_of_a_guest_is_streamed(t):
    with Daemon(t) as d:
        execution = begin(t, d, "import time,sys\ntime.sleep(0.4)\nprint('out', flush=True)\nprint('err', file=sys.stderr)", language="python")
        events = read_events(d, "/executions/%s/logs" % execution)
        out = "".join(v["text"] for _, e, v in events if e == "output" and v["stream"] == "stdout")
        t.equal((out, events[-1][1]), ("out\n", "done"))
        t.equal(d.get("/executions/%s/logs" % execution).json()["stdout"], "out\n")


def test_a_stream_that_nobody_reads_hurts_nobody(t):
    with Daemon(t) as d:
        execution = begin(t, d, "for (let i = 0; i < 300; i++) { console.log('x'.repeat(3000));"
                          "await new Promise((r) => setTimeout(r, 1)) } return 1", timeout_ms=20000)
        streams = []
        for _ in range(5):
            s = socket.create_connection((d.host, d.port))
            s.sendall(b"GET /executions/%s/logs HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n" % execution.encode())
            streams.append(s)
        streams.pop().close()
        t.equal(d.get("/executions/%s?wait_ms=20000" % execution).json()["status"], "completed")
        for s in streams:
            s.close()
        t.equal(d.run("return 1")["result"], 1)


# Once only

def test_the_same_key_is_executed_once(t):
    with Daemon(t) as d:
        key = {"Idempotency-Key": "order 4711"}
        body = {"code": "return crypto.randomUUID()", "inputs": {"a": 1, "b": [1, 2]}}
        first = d.post("/executions", body, headers=key)
        t.equal((first.status, first.headers["Idempotency-Replayed"]), (200, None))
        again = d.post("/executions", '{"inputs": {"b": [1,\n2], "\\u0061": 1}, "code": "return crypto.randomUUID()"}',
                       headers=dict(key, **JSON))
        t.equal((again.status, again.headers["Idempotency-Replayed"]), (200, "true"))
        t.equal(again.json(), first.json())
        problem(t, d.post("/executions", {"code": "return 2"}, headers=key), 422, "key_reused", "another request")
        other = d.post("/executions", body, headers={"Idempotency-Key": "order 4712"})
        t.true(other.json()["result"] != first.json()["result"], "two keys, one execution")
        for bad in ("", "x" * 256):
            problem(t, d.post("/executions", body, headers={"Idempotency-Key": bad}), 400, "invalid", "Idempotency-Key")
        t.equal(d.post("/executions", body, headers={"Idempotency-Key": "x" * 255}).status, 200)
    with Daemon(t) as d:
        again = d.post("/executions", body, headers=key)
        t.equal((again.json(), again.headers["Idempotency-Replayed"]), (first.json(), "true"))


def test_two_at_the_same_time_with_one_key_get_one_answer(t):
    with Daemon(t) as d:
        key, answers = {"Idempotency-Key": "k"}, []
        body = {"code": "await new Promise((r) => setTimeout(r, 300)); return crypto.randomUUID()"}
        threads = [threading.Thread(target=lambda: answers.append(d.post("/executions", body, headers=key))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        t.equal([a.status for a in answers], [200] * 4)
        t.equal(len({a.body for a in answers}), 1, "different answers")
        t.equal(sorted(a.headers["Idempotency-Replayed"] or "" for a in answers), ["", "true", "true", "true"])
        t.equal(len(d.get("/executions").json()["executions"]), 1)


def test_a_key_goes_with_async_too(t):
    with Daemon(t) as d:
        key = {"Idempotency-Key": "k"}
        execution = begin(t, d, SLEEP % 300, headers=key)
        t.equal(begin(t, d, SLEEP % 300, headers=key), execution, "while it runs")
        d.get("/executions/%s?wait_ms=5000" % execution)
        t.equal(begin(t, d, SLEEP % 300, headers=key), execution, "afterwards")


# Tools

def test_tools_are_listed_found_and_described(t):
    options = with_tools(t, policy={"tools": {"deny": ["plain/env"]}})
    with Daemon(t, *options) as d:
        tools = d.get("/tools").json()
        t.equal([x["name"] for x in tools["tools"]], ["ask", "echo", "grow"])
        t.equal((tools["total"], tools["complete"]), (3, True))
        page = d.get("/tools?server=plain&limit=2").json()
        t.equal([x["tool"] for x in page["tools"] + d.get(page["next"]).json()["tools"]], ["plain.ask", "plain.echo", "plain.grow"])
        found = d.get("/tools/search?q=echo&limit=1").json()
        t.equal([x["tool"] for x in found["tools"]], ["plain.echo"])
        t.has(d.get("/tools/search?q=echo&detail=full").json()["tools"][0]["definition"], "echo")
        t.equal(d.get("/tools/search").json()["servers"], [{"server": "plain", "tools": 3}])
        tool = d.get("/tools/plain/echo").json()
        t.equal((tool["server"], tool["definition"]["name"]), ("plain", "echo"))
        t.has(tool["typescript"], "export")
        problem(t, d.get("/tools/plain/eco"), 404, "missing", "eco", "plain.echo")
        problem(t, d.get("/tools/plain/env"), 404, "missing")
        problem(t, d.get("/tools/plan/echo"), 404, "missing", "plan")
        problem(t, d.get("/tools?server=plan"), 404, "missing", "plan")
        problem(t, d.get("/tools/search?q=x&detail=much"), 400, "invalid", "detail")
        servers = d.get("/servers").json()["servers"]
        t.equal([(s["server"], s["kind"], s["state"]) for s in servers], [("plain", "stdio", "ready")])


def test_a_tool_is_called_by_the_one_path(t):
    options = with_tools(t, policy={"tools": {"deny": ["plain/env"]}})
    with Daemon(t, *options) as d:
        answer = d.post("/tools/plain/echo", {"a": [1, "zwei"]})
        e = answer.json()
        t.equal((answer.status, e["status"], e["result"]), (200, "completed", {"a": [1, "zwei"]}))
        t.equal([(c["tool"], c["status"]) for c in e["calls"]], [("echo", "ok")])
        t.equal(d.get("/executions/" + e["execution_id"]).json(), e)
        denied = d.post("/tools/plain/env", {}).json()
        t.equal((denied["status"], denied["error"]["type"]), ("failed", "permission_error"))
        problem(t, d.post("/tools/plain/eco", {}), 404, "missing", "plain.echo")
        problem(t, d.post("/tools/nobody/echo", {}), 404, "missing", "nobody")
        problem(t, d.post("/tools/plain/echo", "[]", headers=JSON), 400, "invalid", "object")
        problem(t, d.post("/tools/plain/echo", "{}"), 415, "media_type")
        key = {"Idempotency-Key": "k"}
        first = d.post("/tools/plain/echo", {"a": 1}, headers=key)
        again = d.post("/tools/plain/echo", {"a": 1}, headers=key)
        t.equal((again.json(), again.headers["Idempotency-Replayed"]), (first.json(), "true"))
        problem(t, d.post("/tools/plain/grow", {"a": 1}, headers=key), 422, "key_reused")
        t.equal(d.post("/tools/plain/echo?timeout_ms=1234", {}).json()["limits"]["wall_clock"], 1234)


def test_a_server_that_fails_is_told_from_a_tool_that_is_not_there(t):
    with_tools(t, broken={"command": "/no/such/program"}, off={"command": "cat", "disabled": True})
    with Daemon(t) as d:
        problem(t, d.get("/tools/broken/x"), 502, "upstream", "/no/such/program")
        problem(t, d.post("/tools/broken/x", {}), 502, "upstream", "/no/such/program")
        problem(t, d.get("/tools/off/x"), 404, "missing")


# Sessions

def test_a_session_keeps_state_and_history(t):
    with Daemon(t) as d:
        made = d.post("/sessions", {"name": "work", "idle_ms": 60000})
        session = made.json()["session_id"]
        t.equal((made.status, made.headers["Location"]), (201, "/sessions/" + session))
        t.equal((made.json()["name"], made.json()["idle_ms"]), ("work", 60000))
        e = d.run("state.n = (state.n ?? 0) + 1; return state.n", session_id=session)
        t.equal((e["result"], e["session_id"]), (1, session))
        t.equal(d.run("state.n = (state.n ?? 0) + 1; return state.n", session_id=session)["result"], 2)
        seen = d.get("/sessions/" + session).json()
        t.equal((seen["state"], seen["executions"], len(seen["history"])), ({"n": 2}, 2, 2))
        t.equal(seen["history"][1]["execution_id"], e["execution_id"])
        t.equal(len(d.get("/executions?session_id=" + session).json()["executions"]), 2)
        t.equal([s["session_id"] for s in d.get("/sessions").json()["sessions"]], [session])
        problem(t, d.post("/executions", {"code": "return 1", "session_id": "ses_0"}), 404, "missing")
        problem(t, d.post("/executions", {"code": "return 1", "session_id": "ses_0", "async": True}), 404, "missing")
        problem(t, d.get("/sessions/ses_0"), 404, "missing")
        problem(t, d.post("/sessions", {"nam": "x"}), 400, "invalid", "name")
        problem(t, d.post("/sessions", {"session_id": session}), 400, "invalid", "session_id")
        problem(t, d.post("/sessions", {"idle_ms": "long"}), 400, "invalid", "idle_ms")
        empty = d.request("POST", "/sessions")
        t.equal(empty.status, 201)
    with Daemon(t) as d:
        t.equal(d.run("return state.n", session_id=session)["result"], 2)
        t.equal(d.request("DELETE", "/sessions/" + session).status, 204)
        problem(t, d.get("/sessions/" + session), 404, "missing")
        problem(t, d.request("DELETE", "/sessions/" + session), 404, "missing")


def test_one_execution_at_a_time_is_in_a_session(t):
    with Daemon(t) as d:
        session = d.request("POST", "/sessions").json()["session_id"]
        begin(t, d, SLEEP % 700, session_id=session)
        problem(t, d.post("/executions", {"code": "return 1", "session_id": session, "on_busy": "fail"}), 409, "conflict")
        t.equal(d.run("return 1", session_id=session)["result"], 1, "who waits")


def test_files_of_a_session_go_in_and_out(t):
    with Daemon(t) as d:
        session = d.request("POST", "/sessions").json()["session_id"]
        base = "/sessions/%s/files" % session
        data = bytes(range(256)) * 10
        t.equal(d.request("PUT", base + "/in/data.bin", body=data).status, 204)
        got = d.get(base + "/in/data.bin")
        t.equal((got.status, got.body, got.headers["Content-Type"]), (200, data, "application/octet-stream"))
        t.equal(got.headers["Content-Disposition"], "attachment; filename*=UTF-8''data.bin")
        t.equal(got.headers["X-Content-Type-Options"], "nosniff")
        t.has(got.headers["Content-Security-Policy"], "sandbox")
        d.run("import * as fs from 'node:fs/promises'\n"
              "await fs.writeFile('/workspace/out \u00e4.html', String((await fs.readFile('/workspace/in/data.bin')).length))", session_id=session)
        html = d.get(base + "/out%20%C3%A4.html")
        t.equal((html.body, html.headers["Content-Type"]), (b"2560", "application/octet-stream"))
        t.equal(html.headers["Content-Disposition"], "attachment; filename*=UTF-8''out%20%C3%A4.html")
        listed = {f["path"]: f for f in d.get(base).json()["files"] if f["type"] == "file"}
        t.equal(sorted(listed), ["in/data.bin", "out \u00e4.html"])
        t.equal(listed["in/data.bin"]["size"], 2560)
        t.equal(d.request("DELETE", base + "/in/data.bin").status, 204)
        problem(t, d.get(base + "/in/data.bin"), 404, "missing")
        problem(t, d.get(base + "/nothing"), 404, "missing")
        problem(t, d.get("/sessions/ses_0/files"), 404, "missing")
        problem(t, d.request("PUT", "/sessions/ses_0/files/a", body=b"x"), 404, "missing")


def test_no_path_leads_out_of_a_session(t):
    with Daemon(t) as d:
        session = d.request("POST", "/sessions").json()["session_id"]
        base = "/sessions/%s/files/" % session
        for path in ("../x", "..%2Fx", "a/../../x", "%2e%2e/x", "/etc/passwd", "%2Fetc%2Fpasswd", ".", "a//b", "a/./b", "x%00y", "a%0Ab/.."):
            for method in ("PUT", "GET", "DELETE"):
                answer = d.request(method, base + path, body=b"x" if method == "PUT" else None)
                t.true(answer.status in (400, 404), "%s %s: %s" % (method, path, answer))
        d.request("PUT", base + "x", body=b"inside")
        d.run("import * as fs from 'node:fs/promises'\ntry { await fs.symlink('/etc/passwd', '/workspace/link') } catch {}", session_id=session)
        t.true(d.get(base + "link").status in (400, 404), "a link leads out")
        t.equal([f["path"] for f in d.get(base[:-1]).json()["files"] if f["path"] == "x"], ["x"])


def test_files_have_a_bound(t):
    with Daemon(t, "--session.files", "1000") as d:
        base = "/sessions/%s/files/" % d.request("POST", "/sessions").json()["session_id"]
        t.equal(d.request("PUT", base + "a", body=b"x" * 900).status, 204)
        problem(t, d.request("PUT", base + "b", body=b"x" * 200), 413, "limit")
        t.equal(d.request("PUT", base + "a", body=b"x" * 1000).status, 204, "what it replaces does not count")


# Artifacts

def test_a_large_result_is_an_artifact_that_can_be_read_in_parts(t):
    with Daemon(t) as d:
        e = d.run("return Array.from({length: 20000}, (_, i) => i)")
        artifact = e["artifacts"][0]["id"]
        whole = d.get("/artifacts/" + artifact)
        t.equal(json.loads(whole.body), list(range(20000)))
        t.has(whole.headers["Content-Disposition"], "attachment")
        part = d.get("/artifacts/" + artifact, headers={"Range": "bytes=1-9"})
        t.equal((part.status, part.body), (206, whole.body[1:10]))
        t.equal(part.headers["Content-Range"], "bytes 1-9/%d" % len(whole.body))
        end = d.get("/artifacts/" + artifact, headers={"Range": "bytes=%d-" % (len(whole.body) - 3)})
        t.equal((end.status, end.body), (206, whole.body[-3:]))
        past = d.get("/artifacts/" + artifact, headers={"Range": "bytes=9999999-"})
        problem(t, past, 416, "range")
        t.equal(past.headers["Content-Range"], "bytes */%d" % len(whole.body))
        for odd in ("bytes=5-1", "bytes=-", "lines=1-2", "bytes=1-2,4-5", "bytes=99999999999999999999-"):
            t.equal(d.get("/artifacts/" + artifact, headers={"Range": odd}).status, 200, odd)
        listed = d.get("/artifacts?execution_id=" + e["execution_id"]).json()["artifacts"]
        t.equal([(a["artifact_id"], a["size"]) for a in listed], [(artifact, len(whole.body))])
        t.equal(d.get("/artifacts?execution_id=ex_0").json()["artifacts"], [])
        problem(t, d.get("/artifacts/art_0"), 404, "missing")


# Tenants

def test_two_tenants_do_not_see_each_other(t):
    one, two = make_key(t, "one", "--tenant", "one"), make_key(t, "two", "--tenant", "two")
    with Daemon(t) as d:
        e = d.post("/executions", {"code": "return Array.from({length: 20000}, (_, i) => i)"}, key=one,
                   headers={"Idempotency-Key": "k"}).json()
        session = d.request("POST", "/sessions", key=one).json()["session_id"]
        d.request("PUT", "/sessions/%s/files/a" % session, body=b"secret", key=one)
        running = d.post("/executions", {"code": SLEEP % 20000, "async": True}, key=one).json()["execution_id"]
        paths = ["/executions/" + e["execution_id"], "/executions/%s/logs" % e["execution_id"],
                 "/executions/%s/trace" % e["execution_id"], "/executions/" + running,
                 "/executions/%s/logs" % running, "/sessions/" + session, "/sessions/%s/files" % session,
                 "/sessions/%s/files/a" % session, "/artifacts/" + e["artifacts"][0]["id"]]
        for path in paths:
            for key in (two, None):
                problem(t, d.get(path, key=key), 404, "missing")
        for path in ("/executions/" + running, "/sessions/" + session, "/sessions/%s/files/a" % session):
            problem(t, d.request("DELETE", path, key=two), 404, "missing")
        problem(t, d.post("/executions", {"code": "return 1", "session_id": session}, key=two), 404, "missing")
        for path, name in (("/executions", "executions"), ("/sessions", "sessions"), ("/artifacts", "artifacts")):
            t.equal(d.get(path, key=two).json()[name], [], path)
        mine = d.post("/executions", {"code": "return 2"}, key=two, headers={"Idempotency-Key": "k"})
        t.equal((mine.status, mine.json()["result"]), (200, 2), "a key of another tenant")
        t.equal(d.get("/executions/" + running, key=one).json()["status"], "running")
        t.equal(d.request("DELETE", "/executions/" + running, key=one).json()["status"], "cancelled")
        t.equal(d.get("/executions", key=one).json()["executions"][0]["principal"], "one")


# Figures

def test_figures_count_what_happened(t):
    with Daemon(t) as d:
        d.run("return 1")
        d.run("throw 1")
        d.post("/executions", {"code": "return 1", "limits": {"memory": "8T"}})
        s = d.get("/statistics").json()
        t.equal([s["executions"][n] for n in ("total", "completed", "failed", "running")], [2, 1, 1, 0])
        t.equal((s["success_rate"], s["errors"]["runtime_error"]), (0.5, 1))
        t.equal(s["execution_seconds"]["count"], 2)
        answer = d.get("/metrics")
        t.equal(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        values, types = {}, {}
        for line in answer.body.decode().splitlines():
            words = line.split()
            if line.startswith("# TYPE "):
                types[words[2]] = words[3]
            elif not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                t.true(name not in values, "twice: " + name)
                values[name] = float(value)
        for name in values:
            family = name.split("{")[0]
            known = [family] + [family[:-len(s)] for s in ("_bucket", "_sum", "_count") if family.endswith(s)]
            t.true(any(k in types for k in known), "no type: " + name)
            t.true(types.get(family) != "counter" or family.endswith("_total"), "a counter by another name: " + name)
        t.equal(values['caisson_executions_total{status="completed"}'], 1)
        t.equal(values['caisson_executions_total{status="failed"}'], 1)
        t.equal(values['caisson_execution_duration_seconds_bucket{le="+Inf"}'], 2)
        t.equal(values["caisson_execution_duration_seconds_count"], 2)
        buckets = [v for n, v in values.items() if n.startswith("caisson_execution_duration_seconds_bucket")]
        t.equal(buckets, sorted(buckets), "buckets add up")
        t.true(values["process_resident_memory_bytes"] > 1e6, "no memory")
        t.true(values["process_open_fds"] > 3, "no files")


# The description

def placeholder(path):
    return path.replace("{execution_id}", "ex_0").replace("{session_id}", "ses_0").replace("{artifact_id}", "art_0") \
               .replace("{server}", "nobody").replace("{tool}", "x").replace("{path}", "x")


def test_every_path_of_the_description_is_served(t):
    with Daemon(t) as d:
        document = d.get("/openapi.json").json()
        t.equal(document["openapi"], "3.1.0")
        for path, methods in document["paths"].items():
            allow = d.request("OPTIONS", placeholder(path)).headers["Allow"].split(", ")
            t.equal(sorted(m for m in allow if m not in ("HEAD", "OPTIONS")), sorted(m.upper() for m in methods), path)
            if "get" in methods:
                answer = d.get(placeholder(path))
                t.true(str(answer.status) in methods["get"]["responses"], "%s: %s" % (path, answer))


def test_the_description_is_valid_and_answers_fit_it(t):
    if not shutil.which(NODE) or not os.path.isdir(os.path.join(PEERS, "node_modules", "@seriousme")):
        t.skip("tests/it/peers/node_modules is not there: scripts/bootstrap test")
    with_tools(t)
    with Daemon(t) as d:
        session = d.post("/sessions", {"name": "x"}).json()
        e = d.post("/executions", {"code": "console.log(1); await plain.echo({}); return Array.from({length: 20000}, (_, i) => i)",
                                   "session_id": session["session_id"]}).json()
        d.request("PUT", "/sessions/%s/files/a" % session["session_id"], body=b"x")
        running = d.post("/executions", {"code": SLEEP % 20000, "async": True}).json()
        answers = [("Session", session), ("Execution", e), ("ExecutionStarted", running),
                   ("Execution", d.run("throw new TypeError('x')")), ("Execution", d.run("print(1)", language="python")),
                   ("Execution", d.run("while (1) {}", timeout_ms=100)),
                   ("ExecutionRunning", d.get("/executions/" + running["execution_id"]).json()),
                   ("Execution", d.request("DELETE", "/executions/" + running["execution_id"]).json()),
                   ("Problem", d.get("/executions/ex_0").json()), ("Problem", d.get("/nothing").json()),
                   ("Tool", d.get("/tools/plain/echo").json()), ("Execution", d.post("/tools/plain/echo", {}).json())]
        for schema, path in (("Root", "/"), ("Health", "/health"), ("ExecutionList", "/executions"),
                             ("Trace", "/executions/%s/trace" % e["execution_id"]), ("Logs", "/executions/%s/logs" % e["execution_id"]),
                             ("ToolList", "/tools"), ("ToolsFound", "/tools/search?q=echo"), ("ToolsFound", "/tools/search"),
                             ("ServerList", "/servers"), ("SessionList", "/sessions"), ("SessionWithState", "/sessions/" + session["session_id"]),
                             ("FileList", "/sessions/%s/files" % session["session_id"]), ("ArtifactList", "/artifacts"), ("Statistics", "/statistics")):
            answers.append((schema, d.get(path).json()))
        document = d.get("/openapi.json")
        t.file("openapi.json", document.body.decode())
    for schema in document.json()["components"]["schemas"].items():
        answers += [(schema[0], example) for example in schema[1].get("examples", [])]
    lines = "\n".join(json.dumps({"schema": s, "value": v}) for s, v in answers)
    done = subprocess.run([NODE, os.path.join(PEERS, "openapi.mjs"), os.path.join(t.dir, "openapi.json")], input=lines,
                          capture_output=True, text=True, timeout=60)
    t.equal((done.returncode, done.stdout), (0, ""), "what the validator says\n" + done.stderr)
    # And it can say no.
    done = subprocess.run([NODE, os.path.join(PEERS, "openapi.mjs"), os.path.join(t.dir, "openapi.json")],
                          input='{"schema": "Problem", "value": {"status": "x"}}', capture_output=True, text=True, timeout=60)
    t.has(done.stdout, "Problem: ")


# The page for people

def test_the_examples_of_the_page_work(t):
    for tool in ("curl", "jq"):
        if not shutil.which(tool):
            t.skip("%s is not there" % tool)
    with open(os.path.join(HERE, "..", "..", "docs", "rest.md")) as f:
        page = f.read()
    blocks = [part.split("```")[0] for part in page.split("```sh\n")[1:]]
    t.true(len(blocks) > 8, "where are the examples?")
    with Daemon(t) as d:
        until(t, "readiness", lambda: d.get("/health").status == 200)
        # Every curl of the page has to end well: -f makes it fail with the status.
        script = "set -euo pipefail\n" + "\n".join(blocks).replace("http://127.0.0.1:8002", d.url).replace("curl -s", "curl -f -s")
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
        t.log.append(done.stdout + done.stderr)
        t.equal(done.returncode, 0, "exit status\n" + done.stderr[-500:])
        for piece in ('"result":6', '"result":42', "event: done", "Idempotency-Replayed: true", '"state":{"n":1}', "a,b",
                      "caisson_executions_total", "[0,1,2,3"):
            t.has(done.stdout, piece)


# Rough weather

def raw(method, path, body=b"", *headers):
    lines = ["%s %s HTTP/1.1" % (method, path), "Host: localhost", *headers]
    if body:
        lines += ["Content-Type: application/json", "Content-Length: %d" % len(body)]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def test_whoever_hangs_up_at_any_moment_hurts_nobody(t):
    with_tools(t)
    with Daemon(t) as d:
        session = d.request("POST", "/sessions").json()["session_id"]
        running = begin(t, d, SLEEP % 20000)
        large = d.run("return Array.from({length: 20000}, (_, i) => i)")["artifacts"][0]["id"]
        code = lambda text, **more: json.dumps(dict({"code": text}, **more)).encode()
        requests = [
            raw("POST", "/executions", code(SLEEP % 50)), raw("POST", "/executions", code("return 1", **{"async": True})),
            raw("POST", "/executions", code("return 1"), "Idempotency-Key: k"), raw("POST", "/executions", code("return 1", session_id=session)),
            raw("GET", "/executions"), raw("GET", "/executions/%s?wait_ms=300" % running), raw("GET", "/executions/" + running),
            raw("GET", "/executions/%s/logs" % running, b"", "Accept: text/event-stream"), raw("POST", "/tools/plain/echo", b'{"a": 1}'),
            raw("GET", "/tools"), raw("GET", "/tools/plain/echo"), raw("GET", "/sessions/" + session), raw("GET", "/artifacts/" + large),
            raw("PUT", "/sessions/%s/files/a" % session, b"{}"), raw("GET", "/sessions/%s/files/a" % session), raw("GET", "/metrics"),
        ]
        for i, request in enumerate(requests * 3):
            s = socket.create_connection((d.host, d.port))
            s.sendall(request if i % 3 else request[:len(request) * (1 + i % 7) // 8])
            if i % 2:
                time.sleep(0.01 * (i % 5))
            s.close()
        t.equal(d.get("/executions/" + running).json()["status"], "running")
        t.equal(d.run("return 1")["result"], 1)
        until(t, "the end of the others", lambda: d.get("/statistics").json()["executions"]["running"] == 1)


def test_those_who_wait_are_told_when_it_stops(t):
    with Daemon(t, "--server.grace", "200ms") as d:
        running = begin(t, d, "console.log('one'); " + SLEEP % 20000)
        until(t, "its log", lambda: d.get("/executions/%s/logs" % running).json()["logs"])
        requests = [raw("GET", "/executions/%s/logs" % running, b"", "Accept: text/event-stream"),
                    raw("GET", "/executions/%s?wait_ms=30000" % running), raw("POST", "/executions", json.dumps({"code": SLEEP % 20000}).encode())]
        sockets = []
        for request in requests:
            s = socket.create_connection((d.host, d.port))
            s.settimeout(20)
            s.sendall(request)
            sockets.append(s)
        until(t, "both to run", lambda: d.get("/statistics").json()["executions"]["running"] == 2)
        d.stop()
        answers = []
        for s in sockets:
            said = b""
            while True:
                piece = s.recv(65536)
                if not piece:
                    break
                said += piece
            answers.append(said)
            s.close()
        t.equal(d.wait(), 0)
        t.matches(answers[0].decode(), r'(?s)event: log.*event: done.*"cancelled"')
        for said in answers[1:]:
            t.has(said.decode(), '"status":"cancelled"')
    with Daemon(t) as d:
        t.equal(d.get("/executions/" + running).json()["status"], "cancelled")

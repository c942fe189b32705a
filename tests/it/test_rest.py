"""The REST door: finding the way, programs, those who do not wait, streams, keys that make it once only."""

import json
import socket
import threading
import time

from harness import Failed
from resting import JSON, SLEEP, begin, problem, until, with_tools
from serving import Daemon


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
        problem(t, d.post("/executions", {"code": "x" * 200000}), 413, "limit", "2000", "at most")
        problem(t, d.post("/sessions", {"name": "x" * 70000}), 413, "limit", "at most 65536")
        t.equal(d.run("return 2")["result"], 2)


# Those who do not wait

def test_who_does_not_wait_asks_later(t):
    with Daemon(t) as d:
        execution = begin(t, d, "console.log('one'); " + SLEEP % 4000)
        running = until(t, "its log", lambda: (lambda e: e if e.get("logs") else None)(d.get("/executions/" + execution).json()))
        t.equal((running["status"], running["phase"]), ("running", "running"))
        t.equal(running["logs"], [{"level": "info", "text": "one"}])
        problem(t, d.get("/executions/%s/trace" % execution), 409, "conflict", "running")
        soon = time.monotonic()
        t.equal(d.get("/executions/%s?wait_ms=20" % execution).json()["status"], "running")
        ended = d.get("/executions/%s?wait_ms=20000" % execution).json()
        t.equal((ended["status"], ended["result"]), ("completed", "slept"))
        t.true(time.monotonic() - soon < 18, "it waited for too long")
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
        def hang_up(headers, ms):
            before = len(d.get("/executions").json()["executions"])
            body = json.dumps({"code": SLEEP % ms}).encode()
            with socket.create_connection((d.host, d.port)) as s:
                s.sendall(b"POST /executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body)
                rows = until(t, "its start", lambda: (lambda r: r if len(r) > before else None)(
                    d.get("/executions?status=running").json()["executions"] +
                    [0] * before))
            return rows[0]["execution_id"]
        execution = hang_up(b"", 25000)
        t.equal(d.get("/executions/%s?wait_ms=50000" % execution).json()["status"], "cancelled")
        # Who gave it a key comes back for the answer.
        execution = hang_up(b"Idempotency-Key: k\r\n", 3000)
        t.equal(d.get("/executions/%s?wait_ms=50000" % execution).json()["status"], "completed")


def test_too_many_are_told_to_come_later(t):
    with Daemon(t, "--execution.concurrency", "1", "--execution.queue", "1") as d:
        first = begin(t, d, SLEEP % 20000)
        until(t, "its start", lambda: d.get("/executions/" + first).json().get("phase") == "running")
        second = begin(t, d, "return 2")
        t.equal(d.get("/executions/" + second).json()["phase"], "waiting")
        for more in ({}, {"async": True}):
            busy = d.post("/executions", dict({"code": "return 3"}, **more))
            problem(t, busy, 503, "busy", "try again")
            t.true(int(busy.headers["Retry-After"]) >= 1, "Retry-After")
        t.equal(d.get("/health").json()["parts"]["queue"], {"running": 1, "waiting": 1})
        d.request("DELETE", "/executions/" + first)
        t.equal(d.get("/executions/%s?wait_ms=50000" % second).json()["result"], 2)
        t.equal(len(d.get("/executions").json()["executions"]), 2, "those that were refused left no record")


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


# Streams

def read_events(d, path, headers=None, until_done=True):
    """[(id, event, data)] of a stream, to its end."""
    connection = d.connect(60)
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
        execution = begin(t, d, "console.log('one'); await new Promise((r) => setTimeout(r, 3000));"
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
        execution = begin(t, d, "import time,sys\ntime.sleep(2)\nprint('out', flush=True)\nprint('err', file=sys.stderr)", language="python")
        events = read_events(d, "/executions/%s/logs" % execution)
        out = "".join(v["text"] for _, e, v in events if e == "output" and v["stream"] == "stdout")
        t.equal((out, events[-1][1]), ("out\n", "done"))
        t.equal(d.get("/executions/%s/logs" % execution).json()["stdout"], "out\n")


def test_a_stream_that_nobody_reads_hurts_nobody(t):
    with Daemon(t) as d:
        execution = begin(t, d, "for (let i = 0; i < 300; i++) { console.log('x'.repeat(3000));"
                          "await new Promise((r) => setTimeout(r, 1)) } return 1", timeout_ms=100000)
        streams = []
        for _ in range(5):
            s = socket.create_connection((d.host, d.port))
            s.sendall(b"GET /executions/%s/logs HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n" % execution.encode())
            streams.append(s)
        streams.pop().close()
        t.equal(d.get("/executions/%s?wait_ms=60000" % execution).json()["status"], "completed")
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
        d.get("/executions/%s?wait_ms=50000" % execution)
        t.equal(begin(t, d, SLEEP % 300, headers=key), execution, "afterwards")

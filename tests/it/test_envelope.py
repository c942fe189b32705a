"""The long form of an answer, `-o json`."""

from harness import table

ERROR_TYPES = ("syntax_error", "type_error", "runtime_error", "timeout_error", "resource_error", "permission_error", "validation_error",
               "upstream_error")


def check_common(t, e):
    t.true(e["status"] in ("completed", "failed", "denied", "cancelled"), "status %r" % e["status"])
    t.true(isinstance(e["execution_id"], str) and len(e["execution_id"]) >= 8, "execution_id %r" % e.get("execution_id"))
    t.true("session_id" in e, "no session_id")
    t.true(isinstance(e["logs"], list), "logs")
    for line in e["logs"]:
        t.true(line["level"] in ("debug", "info", "warn", "error") and isinstance(line["text"], str), "log line %r" % line)
    m = e["metrics"]
    for name in ("execution_time_ms", "cpu_ms", "memory_peak_mb"):
        t.true(isinstance(m[name], (int, float)) and m[name] >= 0, "metrics.%s is %r" % (name, m.get(name)))
    t.true(m["execution_time_ms"] < 60000, "time %r" % m["execution_time_ms"])
    for name in ("calls", "artifacts"):
        t.true(isinstance(e.get(name, []), list), name)
    t.true(e["risk"]["level"] in ("LOW", "MEDIUM", "HIGH", "CRITICAL"), "risk %r" % e.get("risk"))


def test_a_completed_run_has_all_fields(t):
    done = t.run("console.log('a', 1); console.warn('b'); return { x: 1 }", "-o", "json")
    t.status(done, 0)
    e = done.json()
    check_common(t, e)
    t.equal(e["status"], "completed", "status")
    t.equal(e["result"], {"x": 1}, "result")
    t.equal([(l["level"], l["text"]) for l in e["logs"]], [("info", "a 1"), ("warn", "b")], "logs")
    t.true(e.get("error") is None, "error in a completed run")
    t.equal(done.out.count("\n"), done.out.rstrip("\n").count("\n") + 1, "newlines at the end")


def test_a_failed_run_has_an_error_with_a_position(t):
    done = t.run("const a = 1;\n  nope();", "-o", "json")
    t.status(done, 1)
    e = done.json()
    check_common(t, e)
    t.equal(e["status"], "failed", "status")
    t.true(e["error"]["type"] in ERROR_TYPES, "type %r" % e["error"]["type"])
    t.equal(e["error"]["line"], 2, "line")
    t.true(3 <= e["error"]["column"] <= 7, "column %r" % e["error"]["column"])
    t.has(e["error"]["message"], "nope", "message")
    t.has(e["error"]["snippet"], "nope();", "snippet")
    t.has(e["error"]["snippet"], "^", "snippet")


def test_a_limit_is_named_with_its_number(t):
    done = t.run("for (;;);", "-o", "json", "--timeout", "250ms")
    t.status(done, 4)
    e = done.json()
    check_common(t, e)
    t.equal(e["error"]["type"], "timeout_error", "type")
    limit = e["error"]["limit"]
    t.equal((limit["name"], limit["value"], limit["unit"]), ("wall_clock", 250, "ms"), "limit")


def test_a_guest_has_streams_and_an_exit_status(t):
    done = t.run("echo out; echo err >&2; exit 3", "-o", "json", language="bash")
    t.status(done, 1)
    e = done.json()
    check_common(t, e)
    t.equal((e["stdout"], e["stderr"], e["exit_status"]), ("out\n", "err\n", 3), "streams")


def test_json_on_stdout_is_all_there_is(t):
    done = t.run("console.log('to the logs'); return 1", "-o", "json")
    t.lacks(done.err, "to the logs", "stderr")
    done.json()


@table([("undefined", "return undefined"), ("null", "return null")])
def test_nothing_is_null(t, name, code):
    e = t.envelope(code)
    t.equal(e["status"], "completed", "status")
    t.true(e.get("result") is None, "result %r" % e.get("result"))


def test_execution_ids_differ(t):
    t.true(t.envelope("return 1")["execution_id"] != t.envelope("return 1")["execution_id"], "the same id twice")


def test_unicode_survives_the_way_out(t):
    e = t.envelope("console.log('\\u00e9\\u{1F600}'); return ['é', '\\u{1F600}', '\\ud800', '\\u0000', '\\u2028']")
    t.equal(e["result"][:2], ["é", "\U0001F600"], "result")
    t.true(e["result"][2] in ("\ufffd", "\ud800"), "a lone surrogate is %r" % e["result"][2])
    t.equal(e["result"][3:], ["\0", "\u2028"], "result")
    t.equal(e["logs"][0]["text"], "é\U0001F600", "log")


def test_cpu_and_memory_are_measured(t):
    e = t.envelope("const end = 3e7; let x = 0; for (let i = 0; i < end; i++) x = (x * 31 + i) | 0; const u = new Uint8Array(64 << 20); u.fill(1); return [x, u.length].length")
    t.true(e["metrics"]["cpu_ms"] > 5, "cpu_ms %r" % e["metrics"]["cpu_ms"])
    t.true(64 <= e["metrics"]["memory_peak_mb"] < 400, "memory_peak_mb %r" % e["metrics"]["memory_peak_mb"])

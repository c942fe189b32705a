"""The REST door: tools, sessions and their files, artifacts, tenants, figures."""

import json

from resting import JSON, SLEEP, begin, problem, with_tools
from serving import Daemon, make_key


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
        begin(t, d, SLEEP % 3000, session_id=session)
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
        running = d.post("/executions", {"code": SLEEP % 200000, "async": True, "timeout_ms": 250000}, key=one).json()["execution_id"]
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
        t.true(0 < s["time_ms"]["p50"] <= s["time_ms"]["most"], "times")
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

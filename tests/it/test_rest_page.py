"""The REST door: its description, the page for people, and rough weather."""

import json
import os
import shutil
import socket
import subprocess
import time

from peers import NODE, PEERS
from resting import HERE, SLEEP, begin, raw, until, with_tools
from serving import Daemon


# The description

def placeholder(path):
    return path.replace("{execution_id}", "ex_0").replace("{session_id}", "ses_0").replace("{artifact_id}", "art_0") \
               .replace("{server}", "nobody").replace("{tool}", "x").replace("{path}", "x") \
               .replace("{approval_id}", "ap_0").replace("{grant_id}", "gr_0")


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
    policy = with_tools(t, {"tools": {"ask": ["plain/env"]}})
    with Daemon(t, *policy) as d:
        session = d.post("/sessions", {"name": "x"}).json()
        e = d.post("/executions", {"code": "console.log(1); await plain.echo({}); return Array.from({length: 20000}, (_, i) => i)",
                                   "session_id": session["session_id"]}).json()
        d.request("PUT", "/sessions/%s/files/a" % session["session_id"], body=b"x")
        running = d.post("/executions", {"code": SLEEP % 200000, "async": True, "timeout_ms": 250000}).json()
        answers = [("Session", session), ("Execution", e), ("ExecutionStarted", running),
                   ("Execution", d.run("throw new TypeError('x')")), ("Execution", d.run("print(1)", language="python")),
                   ("Execution", d.run("while (1) {}", timeout_ms=100)),
                   ("ExecutionRunning", d.get("/executions/" + running["execution_id"]).json()),
                   ("Execution", d.request("DELETE", "/executions/" + running["execution_id"]).json()),
                   ("Problem", d.get("/executions/ex_0").json()), ("Problem", d.get("/nothing").json()),
                   ("Tool", d.get("/tools/plain/echo").json()), ("Execution", d.post("/tools/plain/echo", {}).json())]
        waits = begin(t, d, "return await plain.env({})")
        asked = until(t, "a question", lambda: d.get("/approvals?state=pending").json()["approvals"])[0]
        answers += [("Approval", d.get("/approvals/" + asked["id"]).json()), ("ExecutionRunning", d.get("/executions/" + waits).json()),
                    ("Approval", d.post("/approvals/" + asked["id"], {"answer": "tool"}).json()),
                    ("Problem", d.post("/approvals/" + asked["id"], {"answer": "once"}).json()),
                    ("Execution", d.request("DELETE", "/executions/" + waits).json())]
        for schema, path in (("Root", "/"), ("Health", "/health"), ("ExecutionList", "/executions"),
                             ("Provenance", "/executions/%s/provenance" % e["execution_id"]),
                             ("Attestation", "/executions/%s/provenance?attest=true" % e["execution_id"]),
                             ("Trace", "/executions/%s/trace" % e["execution_id"]), ("Logs", "/executions/%s/logs" % e["execution_id"]),
                             ("ToolList", "/tools"), ("ToolsFound", "/tools/search?q=echo"), ("ToolsFound", "/tools/search"),
                             ("ServerList", "/servers"), ("SessionList", "/sessions"), ("SessionWithState", "/sessions/" + session["session_id"]),
                             ("FileList", "/sessions/%s/files" % session["session_id"]), ("ArtifactList", "/artifacts"),
                             ("ApprovalList", "/approvals"), ("GrantList", "/grants"), ("Statistics", "/statistics")):
            answers.append((schema, d.get(path).json()))
        document = d.get("/openapi.json")
        t.file("openapi.json", document.body.decode())
    for schema in document.json()["components"]["schemas"].items():
        answers += [(schema[0], example) for example in schema[1].get("examples", [])]
    lines = "\n".join(json.dumps({"schema": s, "value": v}) for s, v in answers)
    done = subprocess.run([NODE, os.path.join(PEERS, "openapi.mjs"), os.path.join(t.dir, "openapi.json")], input=lines,
                          capture_output=True, text=True, timeout=240)
    t.equal((done.returncode, done.stdout), (0, ""), "what the validator says\n" + done.stderr)
    # And it can say no.
    done = subprocess.run([NODE, os.path.join(PEERS, "openapi.mjs"), os.path.join(t.dir, "openapi.json")],
                          input='{"schema": "Problem", "value": {"status": "x"}}', capture_output=True, text=True, timeout=240)
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
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=240)
        t.log.append(done.stdout + done.stderr)
        t.equal(done.returncode, 0, "exit status\n" + done.stderr[-500:])
        for piece in ('"result":6', '"result":42', "event: done", "Idempotency-Replayed: true", '"state":{"n":1}', "a,b",
                      "caisson_executions_total", "[0,1,2,3"):
            t.has(done.stdout, piece)


# Rough weather

def test_whoever_hangs_up_at_any_moment_hurts_nobody(t):
    with_tools(t)
    with Daemon(t) as d:
        session = d.request("POST", "/sessions").json()["session_id"]
        running = begin(t, d, SLEEP % 200000, timeout_ms=250000)
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
            s.settimeout(60)
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

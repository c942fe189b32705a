"""Alerts: told once per window and tenant, to the log, to the ledger, and to a webhook."""

import json
import os
import re
import subprocess
import sys
import time

from approving import Later
from serving import Daemon
from watching import RECORDER, Receiver, metrics, until

FOREVER = "while (1) {}"


def with_policy(t):
    t.file("caisson.json", json.dumps({"mcpServers": {"rec": {"command": sys.executable, "args": [RECORDER, os.path.join(t.dir, "calls")]}}}))
    t.file("policy.json", json.dumps({"tools": {"deny": ["rec/fail"]}}))
    return ["--policy", os.path.join(t.dir, "policy.json")]


def ledger(t, event):
    done = subprocess.run([t.binary, "audit", "list", "--event", event, "-o", "json"], capture_output=True, text=True, env=t.env, timeout=60)
    t.equal(done.returncode, 0, done.stderr)
    return json.loads(done.stdout)["entries"]


def test_each_kind_is_told_with_its_count(t):
    policy = with_policy(t)
    with Receiver() as hook, Daemon(t, *policy, "--alerts.webhook", hook.url + "/hook", "--alerts.window", "5s") as d:
        for one in [Later(lambda: d.run(FOREVER, timeout_ms=100)) for _ in range(3)]:
            one.get()
        until(t, "the second telling", lambda: len(hook.taken()) == 2)
        first, second = hook.taken()
        t.equal((first["alert"], first["tenant"], first["count"], first["window_ms"]), ("timeout", "default", 1, 5000))
        t.equal((second["alert"], second["count"]), ("timeout", 2), "those that came within the window")
        t.true(first["execution_id"].startswith("ex_") and first["execution_id"] != second["execution_id"], str(hook.taken()))
        t.true(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first["time"]), first["time"])
        t.has(first["text"], "took too long")
        t.equal({path for path, *_ in hook.got}, {"/hook"})
        d.await_said("alert: timeout tenant=default count=1 execution=ex_")
        d.run("const a = []; while (1) a.push(new Uint8Array(1 << 20).fill(1))", limits={"memory": "64M"})
        until(t, "the memory", lambda: "memory_kill" in [a["alert"] for a in hook.taken()])
        # Unknown tools are mistakes; denied ones are alerts.
        d.run("try { await rec.nothing({}) } catch {}; return 1")
        d.run("try { await rec.fail({secret: 'SECRET'}) } catch {}; return 1")
        denied = until(t, "the denial", lambda: [a for a in hook.taken() if a["alert"] == "denied_call"])
        t.equal((len(denied), denied[0]["count"], denied[0]["detail"]), (1, 1, "rec/fail"))
        t.true("SECRET" not in json.dumps(hook.got), "an argument is in an alert")
        until(t, "its entry", lambda: "denied_call" in [e["data"]["alert"] for e in ledger(t, "alert.raised")])
        entries = ledger(t, "alert.raised")
        told = [(e["tenant"], e["data"]["alert"], e["data"]["count"], e["data"].get("detail")) for e in entries]
        t.equal(sorted(told, key=str)[:2], [("default", "denied_call", 1, "rec/fail"), ("default", "memory_kill", 1, None)])
        t.equal(sorted(c for _, kind, c, _ in told if kind == "timeout"), [1, 2])
        t.true("SECRET" not in json.dumps(entries) and all(e["data"]["window_ms"] == 5000 for e in entries), str(entries))
        m = metrics(d)
        t.equal((m['caisson_alerts_total{kind="timeout"}'], m['caisson_alerts_total{kind="denied_call"}']), (2, 1))
        t.equal(m["caisson_tool_calls_denied_total"], 2)


def test_many_errors_are_one_alert(t):
    with Receiver() as hook, Daemon(t, "--alerts.webhook", hook.url) as d:
        for _ in range(5):
            d.run("return 1")
        for _ in range(4):
            d.run("throw 1")
        t.equal(hook.got, [], "nine executions say nothing")
        d.run("throw 1")
        t.equal(hook.got, [], "half of them is not above it")
        d.run("throw 1")
        until(t, "the alert", lambda: hook.got)
        d.run("throw 1")
        time.sleep(0.3)
        t.equal([(a["alert"], a["count"], a["detail"]) for a in hook.taken()], [("error_rate", 6, "6 of 11 executions failed")])


def test_rules_change_while_it_runs(t):
    with Receiver() as hook:
        t.file("caisson.json", json.dumps({"alerts": {"on": ["memory_kill"]}}))
        with Daemon(t, "--config", os.path.join(t.dir, "caisson.json")) as d:
            d.run(FOREVER, timeout_ms=100)
            t.equal(metrics(d)['caisson_alerts_total{kind="timeout"}'], 0)
            t.file("caisson.json", json.dumps({"alerts": {"on": ["timeout"], "webhook": hook.url}}))
            d.await_said("alerts.webhook")
            d.run(FOREVER, timeout_ms=100)
            until(t, "the alert", lambda: [a["alert"] for a in hook.taken()] == ["timeout"])


def test_a_webhook_that_fails_is_tried_again_and_follows_nobody(t):
    with Receiver() as other, Receiver(statuses=[503, 503]) as hook, Daemon(t, "--alerts.webhook", hook.url) as d:
        d.run(FOREVER, timeout_ms=100)
        until(t, "the third attempt", lambda: len(hook.taken()) == 1)
        t.equal(len(hook.got), 3)
        with Receiver(statuses=[307], headers={"Location": other.url}) as moved:
            with Daemon(t, "--alerts.webhook", moved.url) as e:
                e.run(FOREVER, timeout_ms=100)
                until(t, "the answer", lambda: metrics(e)["caisson_alert_posts_dropped_total"] == 1)
                t.equal((len(moved.got), other.got), (1, []))


def test_what_is_refused_at_the_door_is_counted(t):
    done = subprocess.run([t.binary, "keys", "create", "k", "--tenant", "acme"], capture_output=True, text=True, env=t.env, timeout=60)
    key = done.stdout.strip().splitlines()[-1]
    with Daemon(t, "--rate.per_minute", "3") as d:
        t.equal([d.get("/tools", key=key).status for _ in range(6)], [200] * 3 + [429] * 3)
        wrong = key[:-4] + "AAAA"
        t.equal([d.get("/tools", key=wrong).status for _ in range(2)], [401] * 2)
        m = metrics(d)
        t.equal([m['caisson_requests_refused_total{reason="%s"}' % r] for r in ("rate_limit", "denied")], [3, 2])

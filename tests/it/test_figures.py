"""Figures over time: /statistics and `caisson stats`, over restarts and kill -9, by window and tenant."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading

from serving import Daemon
from watching import RECORDER, metrics, until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def with_recorder(t):
    t.file("caisson.json", json.dumps({"mcpServers": {"rec": {"command": sys.executable, "args": [RECORDER, os.path.join(t.dir, "calls")]}}}))


def stats(t, *options):
    done = subprocess.run([t.binary, "stats", "-o", "json", *options], capture_output=True, text=True, env=t.env, cwd=t.dir, timeout=60)
    t.equal((done.returncode, done.stderr), (0, ""), "caisson stats")
    return json.loads(done.stdout)


def key_of(t, name, *options):
    done = subprocess.run([t.binary, "keys", "create", name, *options], capture_output=True, text=True, env=t.env, timeout=60)
    t.equal(done.returncode, 0, done.stderr)
    return done.stdout.strip().splitlines()[-1]


def test_what_ran_is_counted(t):
    with_recorder(t)
    with Daemon(t) as d:
        big = "x" * 40000
        for _ in range(3):
            d.run("await rec.echo({text: %r}); return 1" % big)
        d.run("try { await rec.fail({}) } catch {}; try { await rec.nothing({}) } catch {}; return 2")
        d.run("throw new TypeError('x')")
        d.run("while (1) {}", timeout_ms=100)
        s = d.get("/statistics?window=1h").json()
        t.equal((s["window"], s["tenant"]), ("1h", "default"))
        t.equal(s["executions"], {"total": 6, "completed": 4, "failed": 2, "denied": 0, "cancelled": 0, "running": 0, "waiting": 0})
        t.true(abs(s["success_rate"] - 4 / 6) < 1e-9, "success rate")
        t.equal(list(s["errors"].items())[2][1], 0, "the common ones come first")
        t.equal((s["errors"]["timeout_error"], sum(s["errors"].values())), (1, 2))
        times = s["time_ms"]
        t.true(0 < times["p50"] <= times["p95"] <= times["p99"] <= times["most"] and times["most"] >= 100, str(times))
        t.true(0 < s["memory_bytes"]["average"] <= s["memory_bytes"]["peak"], str(s["memory_bytes"]))
        t.equal(s["tool_calls"], {"total": 5, "failed": 2, "denied": 1})
        t.equal(s["tools"], [{"tool": "rec/echo", "calls": 3}, {"tool": "rec/fail", "calls": 1}])
        # Arguments and results of 3 calls did not pass through a model, but the programs did.
        t.true(3 * 9000 < s["tokens_saved"] < 3 * 12000, "tokens saved: %d" % s["tokens_saved"])
        t.equal(s["other_tools"], 0)
        t.equal(d.get("/statistics").json()["window"], "24h")
        t.equal(d.get("/statistics?window=2h").status, 400)
        m = metrics(d)
        t.equal(m['caisson_tool_call_duration_seconds_count{server="rec"}'], 4)
        t.equal(m["caisson_tokens_saved_total"], s["tokens_saved"])
        # The same, while it runs, from the store.
        same = stats(t, "--window", "1h", "--tenant", "default")
        for name in ("executions", "time_ms", "tools", "tokens_saved", "memory_bytes"):
            want = dict(s[name]) if isinstance(s[name], dict) else s[name]
            if name == "executions":
                del want["running"], want["waiting"]
            t.equal(same[name], want, name)
    done = subprocess.run([t.binary, "stats"], capture_output=True, text=True, env=t.env, timeout=60)
    t.equal(done.returncode, 0, done.stderr)
    for piece in ("executions      6", "completed 4, failed 2", "success       66.7 %", "rec/echo", "tokens saved"):
        t.has(done.stdout, piece)


def test_answers_from_the_cache_are_counted(t):
    with Daemon(t, "--cache.ttl", "5m") as d:
        answers = [d.run("return 6 * 7") for _ in range(4)]
        t.equal([a.get("cached") for a in answers], [None, True, True, True])
        s, m = d.get("/statistics").json(), metrics(d)
    t.equal((s["executions"]["total"], s["cache"]), (4, {"hits": 3, "hit_rate": 0.75}))
    t.equal((m["caisson_cache_hits_total"], m["caisson_cache_misses_total"]), (3, 1))
    t.true(s["memory_bytes"]["average"] == s["memory_bytes"]["peak"], "memory is of those that ran: %s" % s["memory_bytes"])


def test_what_was_masked_is_counted_by_tenant(t):
    acme, bolt = key_of(t, "a", "--tenant", "acme"), key_of(t, "b", "--tenant", "bolt")
    with Daemon(t, "--server.require_key", "yes") as d:
        inputs = {"to": ["ada@example.org", "bob@example.org"], "phone": "+44 20 7946 0958"}
        for key, n in ((acme, 2), (bolt, 1)):
            for i in range(n):
                d.post("/executions", {"code": "return inputs.to.length + %d" % i, "inputs": inputs}, key=key)
        d.post("/executions", {"code": "return 'carl' + '@example.org'"}, key=bolt)
        t.equal(d.get("/statistics?window=1h", key=acme).json()["masked"], {"EMAIL": 4, "PHONE": 2})
        t.equal(d.get("/statistics", key=bolt).json()["masked"], {"EMAIL": 3, "PHONE": 1})
        t.has(d.get("/metrics", key=acme).body.decode(), 'caisson_privacy_masked_total{kind="EMAIL"} 7\n')
    t.equal(stats(t)["masked"], {"EMAIL": 7, "PHONE": 3})
    t.equal(stats(t, "--tenant", "acme", "--window", "all")["masked"], {"EMAIL": 4, "PHONE": 2})
    done = subprocess.run([t.binary, "stats"], capture_output=True, text=True, env=t.env, timeout=60)
    t.has(done.stdout, "masked          EMAIL 7, PHONE 3")


def test_figures_outlive_restarts(t):
    for round in range(3):
        with Daemon(t) as d:
            for i in range(5):
                d.run("return %d" % (round * 5 + i))
            t.equal(d.get("/statistics?window=all").json()["executions"]["total"], 5 * (round + 1))
    t.equal(stats(t)["executions"]["total"], 15)


def test_tenants_see_their_own(t):
    acme, bolt = key_of(t, "a", "--tenant", "acme"), key_of(t, "b", "--tenant", "bolt")
    boss = key_of(t, "boss", "--tenant", "acme", "--role", "admin")
    with Daemon(t, "--server.require_key", "yes") as d:
        for key, n in ((acme, 3), (bolt, 2)):
            for i in range(n):
                d.post("/executions", {"code": "return %d" % i}, key=key)

        def total(query, key):
            return d.get("/statistics" + query, key=key).json()["executions"]["total"]

        t.equal((total("", acme), total("?tenant=acme", acme), total("", bolt)), (3, 3, 2))
        for query in ("?tenant=bolt", "?tenant=*", "?tenant=nobody"):
            t.equal(d.get("/statistics" + query, key=acme).status, 403, query)
        t.equal((total("", boss), total("?tenant=bolt", boss), total("?tenant=*", boss), total("?tenant=nobody", boss)), (3, 2, 5, 0))
        t.equal(d.get("/statistics?tenant=no%20name", key=boss).status, 400)
        t.equal(d.get("/statistics").status, 401)
        text = d.get("/metrics", key=acme).body.decode()
        t.true("bolt" not in text and "acme" not in text, "a tenant is named in /metrics")
    t.equal([stats(t, *o)["executions"]["total"] for o in ((), ("--tenant", "bolt"), ("--tenant", "acme"))], [5, 2, 3])


def test_killed_at_any_moment_nothing_is_counted_twice(t):
    answered, lock = [0], threading.Lock()
    for round in range(4):
        with Daemon(t) as d:

            def work(n):
                for i in range(10000):
                    try:
                        status = d.post("/executions", {"code": "return %d" % (1000000 * round + 10000 * n + i)}).status
                    except Exception:
                        return
                    with lock:
                        answered[0] += status == 200

            def fold():
                while True:
                    try:
                        d.get("/statistics")
                    except Exception:
                        return

            threads = [threading.Thread(target=work, args=(n,)) for n in range(3)] + [threading.Thread(target=fold)]
            for thread in threads:
                thread.start()
            until(t, "some answers", lambda: answered[0] >= 15 * (round + 1))
            stats(t)  # another process folds meanwhile
            d.process.send_signal(signal.SIGKILL)
            d.process.wait(10)
            for thread in threads:
                thread.join(20)
    recorded = on_record(t)  # what was lost is settled by whoever starts next
    s = stats(t, "--window", "all")["executions"]
    t.true(answered[0] <= s["completed"] <= answered[0] + 12, "answered %d, counted %s" % (answered[0], s))
    t.equal({n: s[n] for n in recorded}, recorded, "as many as are on record")
    t.equal(s["total"], sum(recorded.values()), "each once")
    t.equal(stats(t, "--window", "all")["executions"], s, "asked again")


def on_record(t):
    """How many executions are on record, by status."""
    with Daemon(t) as d:
        found, path = {"completed": 0}, "/executions?limit=200"
        while path:
            page = d.get(path).json()
            for e in page["executions"]:
                found[e["status"]] = found.get(e["status"], 0) + 1
            path = page.get("next")
    return found


def test_metrics_please_promtool(t):
    promtool = shutil.which("promtool", path=os.pathsep.join([os.environ["PATH"], os.path.join(ROOT, "build")]))
    if not promtool:
        t.skip("promtool is not installed")
    with_recorder(t)
    with Daemon(t, "--otlp.endpoint", "http://127.0.0.1:9") as d:
        d.run("return await rec.echo({})")
        text = d.get("/metrics").body
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, timeout=60)
    t.equal((done.returncode, done.stdout + done.stderr), (0, b""), "promtool")

"""The client of MCP servers over stdio, driven by tools/mcp_probe: real servers, and servers that misbehave."""

import json
import os
import subprocess
import sys
import time

from harness import PATIENCE, table

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(HERE, "peers")
NASTY = os.path.join(HERE, "servers", "nasty.py")

DRIVES_TOOLS = True  # of the test build; the program itself is not in it


def tool(t, name):
    return os.path.join(os.path.dirname(t.binary), "tests", name)


def probe(t, *actions, server, patience=2 * PATIENCE, env=None):
    """Events of one run of mcp_probe."""
    if not os.path.exists(tool(t, "mcp_probe")):
        t.skip("mcp_probe is not built")
    done = subprocess.run([tool(t, "mcp_probe"), "--env", "ASAN_OPTIONS=detect_leaks=0", *actions, "--", *server],
                          capture_output=True, text=True, timeout=patience, env=dict(t.env, **(env or {})), cwd=t.dir)
    t.log.append("$ %s\nstatus %d\n%s\n%s" % (" ".join(done.args), done.returncode, done.stdout[:20000],
                                             done.stderr[:5000]))
    t.equal(done.returncode, 0, "exit status")
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def nasty(t, mode, *actions, options=(), argument=(), **more):
    return probe(t, *options, *actions, server=[sys.executable, NASTY, mode, *argument], **more)


def some(events, kind):
    return [e for e in events if e["event"] == kind]


def last(events, kind):
    found = some(events, kind)
    return found[-1] if found else None


def text(event):
    return event["result"]["content"][0]["text"]


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(t, pid):
    deadline = time.monotonic() + PATIENCE
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    t.true(not alive(pid), "process %d is still there" % pid)


# Real servers

def node(t):
    for arch in ("arm64", "x64"):
        path = os.path.join(PEERS, "node_modules", "node-linux-" + arch, "bin")
        if os.path.exists(os.path.join(path, "node")):
            return {"PATH": path + ":" + t.env["PATH"]}
    t.skip("no Node in tests/it/peers")


def official(t, name, *actions, arguments=(), **more):
    return probe(t, *actions, env=node(t), **more,
                 server=[os.path.join(PEERS, "node_modules", ".bin", "mcp-server-" + name), *arguments])


def test_the_official_everything_server(t):
    e = official(t, "everything", "--root", "file:///srv/x", "connect", "call", "echo", '{"message":"h\u00e9"}',
                 "call", "get-sum", '{"a":2,"b":40}', "call", "trigger-long-running-operation",
                 '{"duration":1,"steps":4}', "call", "get-sum", '{"a":"x"}', "par", "20", "echo", '{"message":"p"}',
                 "info")
    done = some(e, "done")
    t.has(text(done[0]), "h\u00e9")
    t.has(text(done[1]), "42")
    t.equal(len(some(e, "progress")), 4, "progress")
    t.equal(done[3]["result"]["isError"], True, "isError")
    t.equal(len(done), 24, "answers")
    info = last(e, "info")
    t.equal((info["protocol"], info["state"], info["call_errors"]), ("2025-11-25", "ready", 0))
    t.has(info["instructions"], "Everything")


def test_the_official_everything_server_asks_and_is_answered(t):
    e = official(t, "everything", "--elicit", '{"action":"accept","content":{"name":"Ada"}}', "--sample",
                 '{"role":"assistant","content":{"type":"text","text":"sampled"},"model":"m"}', "connect", "listed", "1",
                 "sleep", "2000", "call", "trigger-sampling-request", '{"prompt":"x"}', "call",
                 "trigger-elicitation-request", "{}")
    t.has(json.dumps(some(e, "done")[0]), "sampled")
    t.has(json.dumps(some(e, "done")[1]), "Ada")
    t.equal([a["call"] for a in some(e, "ask")], [True, True], "asked during a call")


def test_the_official_filesystem_server(t):
    t.file("hello.txt", "hello from a file")
    e = official(t, "filesystem", "connect", "call", "read_text_file", json.dumps({"path": t.dir + "/hello.txt"}),
                 "call", "read_text_file", '{"path":"/etc/passwd"}', arguments=[t.dir])
    t.has(text(some(e, "done")[0]), "hello from a file")
    t.equal(some(e, "done")[1]["result"]["isError"], True, "isError")


def test_the_official_memory_server(t):
    e = official(t, "memory", "--env", "MEMORY_FILE_PATH=" + t.dir + "/memory.jsonl", "connect", "call",
                 "create_entities", '{"entities":[{"name":"Ada","entityType":"person","observations":["counts"]}]}',
                 "call", "search_nodes", '{"query":"Ada"}')
    t.has(json.dumps(some(e, "done")[1]["result"]), "counts")


def modern(t, *actions, arguments=()):
    # However long it takes to start: it is asked which era it is of before it is spoken to the old way.
    return probe(t, "--probe", "30000", *actions, env=node(t), server=["node", os.path.join(PEERS, "servers", "modern.mjs"), *arguments])


@table([("both eras", ()), ("modern only", ("strict",))])
def test_a_modern_server_of_the_official_sdk(t, _, arguments):
    e = modern(t, "--elicit", '{"action":"accept","content":{"confirm":true}}', "connect", "call", "add",
               '{"a":1,"b":2}', "call", "slow", '{"steps":3,"ms":20}', "call", "deploy", '{"env":"prod"}', "call",
               "grow", "{}", "offers", "grown_1", "info", arguments=arguments)
    done = some(e, "done")
    t.equal(done[0]["result"]["structuredContent"], {"sum": 3})
    t.equal(len(some(e, "progress")), 3, "progress")
    t.equal(text(done[2]), 'deployed to prod with "state for \\"prod\\" \u2028 /="')
    t.has(last(e, "listed")["names"], "grown_1")
    t.equal(last(e, "info")["protocol"], "2026-07-28")
    t.equal(last(e, "info")["name"], "modern")


def test_a_modern_server_is_declined_when_nobody_is_there(t):
    e = modern(t, "connect", "call", "deploy", '{"env":"prod"}')
    done = last(e, "done")
    # The SDK refuses to ask a client that cannot be asked.
    t.true("error" in done or "not deployed" in text(done), "deployed: %r" % done)


def test_the_same_server_spoken_to_the_old_way(t):
    e = modern(t, "--era", "legacy", "--elicit", '{"action":"accept","content":{"confirm":true}}', "connect", "call",
               "deploy", '{"env":"dev"}', "call", "grow", "{}", "offers", "grown_1", "info")
    t.has(text(some(e, "done")[0]), "deployed to dev")
    t.equal(last(e, "info")["protocol"], "2025-11-25")


# Servers that misbehave

def test_a_plain_server_is_used_and_closed(t):
    e = nasty(t, "plain", "connect", "call", "echo", '{"a":[1,2]}', "info")
    t.equal(text(last(e, "done")), '{"a": [1, 2]}')
    info = last(e, "info")
    t.equal((info["state"], info["protocol"], info["name"]), ("ready", "2025-11-25", "nasty plain"))
    t.true(last(e, "closed")["ms"] < 2000, "closing took %d ms" % last(e, "closed")["ms"])
    gone(t, info["pid"])


def test_a_call_starts_the_server(t):
    e = nasty(t, "slow-start", "call", "echo", '{"x":1}')
    t.equal(text(last(e, "done")), '{"x": 1}')


def test_a_flood_of_notifications_does_not_stop_calls(t):
    e = nasty(t, "flood", "connect", "par", "5", "echo", '{"x":1}', options=("--timeout", "20000"))
    t.equal([text(d) for d in some(e, "done")], ['{"x": 1}'] * 5)
    t.true(len(some(e, "log")) < 5000, "logs are not bounded")


def test_a_server_that_hangs_costs_the_call_alone(t):
    e = nasty(t, "hang", "connect", "call", "echo", "{}", "said", "cancelled", "info", options=("--timeout", "300"))
    done = last(e, "done")
    t.equal((done["code"], done["retryable"]), ("LIMIT", True))
    t.true(250 <= done["ms"] < 20000, "it took %d ms" % done["ms"])
    t.equal(last(e, "info")["state"], "ready")
    t.has(last(e, "info")["stderr"], "cancelled")


def test_a_server_that_never_answers_does_not_hold_up_calls(t):
    e = nasty(t, "hang-all", "call", "echo", "{}", options=("--timeout", "500", "--probe", "100"))
    t.equal(last(e, "done")["code"], "LIMIT")
    t.has(last(e, "done")["error"], "not ready")


@table([("garbage",), ("crlf",), ("split",), ("twice",), ("wrong-id",)])
def test_oddities_that_are_forgiven(t, mode):
    e = nasty(t, mode, "connect", "call", "echo", '{"x":1}', "call", "echo", '{"x":2}')
    wanted = "a\u2028b\u2029c\u0085d\r" if mode == "crlf" else None
    t.equal([text(d) for d in some(e, "done")], [wanted or '{"x": 1}', wanted or '{"x": 2}'])


def test_answers_to_others_are_not_taken(t):
    e = nasty(t, "wrong-id-only", "connect", "call", "echo", "{}", options=("--timeout", "300"))
    t.equal(last(e, "done")["code"], "LIMIT")


def test_nothing_but_garbage_ends_the_server(t):
    e = nasty(t, "garbage-only", "connect", "state", "waiting", "info", options=("--backoff", "60000"))
    t.has(last(e, "info")["error"], "no messages of the protocol")
    t.equal(last(e, "info")["state"], "waiting")


def test_half_a_message_fails_the_call(t):
    e = nasty(t, "half", "connect", "call", "echo", "{}")
    done = last(e, "done")
    t.equal((done["code"], done["retryable"]), ("UPSTREAM", True))
    t.has(done["error"], "in the middle of a message")
    e = nasty(t, "half-hang", "connect", "call", "echo", "{}", options=("--timeout", "300"))
    t.equal(last(e, "done")["code"], "LIMIT")


def test_a_message_of_100_mb_ends_the_connection(t):
    e = nasty(t, "huge", "connect", "call", "echo", "{}", "info", options=("--backoff", "60000"))
    t.equal(last(e, "done")["code"], "LIMIT")
    t.has(last(e, "done")["error"], "67108864 bytes")
    t.equal(last(e, "info")["state"], "waiting")


def test_results_are_bounded_and_large_ones_come_through(t):
    e = probe(t, "--max", "5000000", "connect", "call", "big", '{"bytes":4000000}', "call", "big",
              '{"bytes":6000000}', "call", "echo", "{}", server=[tool(t, "echo_server")])
    done = some(e, "done")
    t.equal(done[0]["bytes"], 4000039)
    t.equal(done[1]["code"], "LIMIT")
    t.has(done[1]["error"], "max_result_bytes")
    t.equal("result" in done[2], True, "the server is still there")


def test_a_server_that_ends_on_the_probe_is_started_again(t):
    e = nasty(t, "exit-on-probe", "call", "echo", '{"x":1}', "info")
    t.equal(text(last(e, "done")), '{"x": 1}')
    t.equal(last(e, "info")["restarts"], 0)


def test_a_server_that_cannot_start_says_why(t):
    e = nasty(t, "exit-at-once", "connect", "call", "echo", "{}", "info")
    t.equal(last(e, "info")["state"], "failed")
    t.has(last(e, "done")["error"], "it ended with status 3: Error: no such module")
    t.has(last(e, "info")["stderr"], "starting\nError: no such module")
    e = probe(t, "call", "x", "{}", server=["/no/such/command"])
    t.equal((last(e, "done")["code"], last(e, "done")["retryable"]), ("MISSING", False))
    e = nasty(t, "crash", "connect", "info")
    t.has(last(e, "info")["error"], "signal 11")


def test_a_server_that_dies_comes_back(t):
    e = nasty(t, "die-after", "connect", "call", "echo", '{"x":1}', "state", "waiting", "state", "ready", "call",
              "echo", '{"x":2}', "info", options=("--backoff", "50"))
    t.equal([text(d) for d in some(e, "done")], ['{"x": 1}', '{"x": 2}'])
    t.equal(last(e, "info")["restarts"], 1)
    t.has(last(e, "info")["error"], "status 3")


def test_calls_of_a_server_that_dies_fail_and_the_next_one_starts_it(t):
    e = nasty(t, "die-after", "connect", "par", "10", "echo", "{}", "call", "echo", '{"x":2}',
              options=("--backoff", "60000"))
    done = some(e, "done")
    lost = [d for d in done[:-1] if "error" in d]
    t.true(all(d["code"] == "UPSTREAM" and d["retryable"] for d in lost), "lost calls: %r" % lost)
    t.equal(text(done[-1]), '{"x": 2}')


@table([("ignore-eof", 2000, 4000), ("deaf", 4000, 30000)])
def test_a_server_that_stays_is_ended(t, mode, least, most):
    e = nasty(t, mode, "connect", "info")
    took = last(e, "closed")["ms"]
    t.true(least - 50 <= took < most, "closing took %d ms" % took)
    gone(t, last(e, "info")["pid"])


def test_grandchildren_do_not_stay(t):
    e = nasty(t, "spawn-grandchild", "connect", "said", "grandchild", "info")
    words = last(e, "info")["stderr"].split()
    grandchild = int(words[words.index("grandchild") + 1])
    gone(t, grandchild)
    t.true(last(e, "closed")["ms"] < 2000, "closing took %d ms" % last(e, "closed")["ms"])


def test_stderr_is_drained_and_its_end_kept(t):
    e = nasty(t, "stderr-flood", "connect", "call", "echo", '{"x":1}', "said", "the last line", "info")
    t.equal(text(last(e, "done")), '{"x": 1}')
    kept = last(e, "info")["stderr"]
    t.true(60000 < len(kept) <= 65536, "%d bytes were kept" % len(kept))
    t.has(kept[-100:], "the last line")


def test_a_server_that_does_not_read_loses_its_connection(t):
    big = json.dumps({"x": "y" * 100000})
    e = nasty(t, "no-read", "connect", "par", "300", "echo", big, options=("--timeout", "3000", "--backoff", "60000"))
    done = some(e, "done")
    t.equal(len(done), 300)
    t.has(json.dumps(done), "does not read its input")


def test_progress_extends_the_deadline(t):
    e = nasty(t, "slow-progress", "connect", "call", "echo", '{"x":1}', options=("--timeout", "3000"), argument=("10",))
    t.equal(text(last(e, "done")), '{"x": 1}')
    t.equal(len(some(e, "progress")), 10)


def test_a_changed_list_is_asked_for_once(t):
    e = nasty(t, "plain", "connect", "sleep", "600", "call", "grow", "{}", "listed", "2", "sleep", "700")
    t.has(last(e, "listed")["names"], "grown_4")
    t.true(len(some(e, "listed")) <= 3, "listed %d times" % len(some(e, "listed")))


@table([("endless-cursor", 100), ("same-cursor", 8), ("pages", 3)])
def test_pages(t, mode, count):
    e = nasty(t, mode, "connect", "info")
    t.equal((last(e, "listed")["count"], last(e, "info")["state"]), (count, "ready"))


def test_a_server_that_closes_its_output_is_ended(t):
    e = nasty(t, "close-stdout", "connect", "call", "echo", "{}", "info", options=("--backoff", "60000"))
    t.equal(last(e, "done")["code"], "UPSTREAM")


def test_cancelling_reaches_the_server(t):
    e = nasty(t, "cancelled", "connect", "cancel", "echo", "{}", "50", "sleep", "400", "call", "echo", '{"x":1}', "said", "cancelled", "info")
    t.equal([text(d) for d in some(e, "done")], ['{"x": 1}'])
    t.has(last(e, "info")["stderr"], "cancelled")


def test_questions_of_a_server(t):
    e = nasty(t, "plain", "connect", "call", "ask", "{}")
    t.equal(json.loads(text(last(e, "done"))), [{}, -32601, {"action": "decline"}, -32601, -32601])
    e = nasty(t, "plain", "connect", "call", "ask", "{}", options=(
        "--root", "file:///srv/x", "--elicit", '{"action":"accept"}', "--sample", '{"role":"assistant"}'))
    t.equal(json.loads(text(last(e, "done"))), [
        {}, {"roots": [{"uri": "file:///srv/x", "name": "x"}]}, {"action": "accept"}, {"role": "assistant"}, -32601])


def test_a_server_gets_a_small_environment(t):
    e = nasty(t, "plain", "connect", "call", "env", "{}", options=("--env", "TOKEN=x", "--env", "HOME=/elsewhere"),
              env={"CAISSON_SECRET": "s", "AWS_SECRET_ACCESS_KEY": "s", "LC_TIME": "C", "http_proxy": "http://p"})
    got = json.loads(text(last(e, "done")))
    t.equal((got["TOKEN"], got["HOME"], got["LC_TIME"], got["http_proxy"]), ("x", "/elsewhere", "C", "http://p"))
    for name in got:
        t.true(name in ("TOKEN", "HOME", "PATH", "LANG", "TERM", "SHELL", "USER", "LOGNAME", "TMPDIR", "TZ",
                        "ASAN_OPTIONS") or name.startswith(("LC_", "XDG_")) or name.lower().endswith("_proxy")
               or name.startswith(("SSL_CERT_", "NODE_EXTRA")), "%s is inherited" % name)

"""The daemon from start to end: what it says, signals, reloading, and the client that hangs up."""

import json
import os
import signal
import socket
import struct
import subprocess
import time

import batch
from harness import Failed
from serving import Daemon, children_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SLOW = "await new Promise((r) => setTimeout(r, %d)); return 'slept'"
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
              "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                         "clientInfo": {"name": "test", "version": "1"}}}


def test_it_says_where_it_listens_and_a_program_runs(t):
    with Daemon(t) as d:
        envelope = d.run("return 6 * 7")
        t.equal(envelope["status"], "completed")
        t.equal(envelope["result"], 42)
        t.has(d.said(), d.url + "/mcp")
        t.has(d.said(), "curl -s " + d.url)


def test_a_port_that_is_taken_is_named(t):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        port = str(s.getsockname()[1])
        done = t.caisson("serve", "--port", port)
    t.equal(done.status, 2)
    t.has(done.err, "127.0.0.1:" + port)
    t.has(done.err, "--port")


def begin(d, code):
    answer = d.post("/executions", {"code": code, "async": True})
    t_id = answer.json()["execution_id"]
    if answer.status != 202:
        raise Failed("not accepted: %s" % answer)
    return t_id


def await_running(d, execution, patience=60):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if d.get("/executions/" + execution).json().get("phase") == "running":
            return
        time.sleep(0.02)
    raise Failed("it does not run")


def test_what_runs_at_a_sigterm_is_given_time_to_end(t):
    with Daemon(t) as d:
        execution = begin(d, SLOW % 700)
        await_running(d, execution)
        d.stop()
        t.equal(d.wait(), 0)
    with Daemon(t) as d:
        envelope = d.get("/executions/" + execution).json()
        t.equal(envelope["status"], "completed")
        t.equal(envelope["result"], "slept")


def test_what_outlasts_the_grace_is_cancelled_and_recorded(t):
    with Daemon(t, "--server.grace", "300ms") as d:
        execution = begin(d, SLOW % 25000)
        await_running(d, execution)
        started = time.monotonic()
        d.stop()
        t.equal(d.wait(), 0)
        t.true(time.monotonic() - started < 20, "it took too long")
    with Daemon(t) as d:
        t.equal(d.get("/executions/" + execution).json()["status"], "cancelled")


def test_a_second_sigterm_ends_at_once(t):
    with Daemon(t, "--server.grace", "1h") as d:
        execution = begin(d, SLOW % 25000)
        await_running(d, execution)
        d.stop()
        d.await_said("1 executions have")
        started = time.monotonic()
        d.stop()
        t.equal(d.wait(), 0)
        t.true(time.monotonic() - started < 20, "it took too long")
    with Daemon(t) as d:
        t.equal(d.get("/executions/" + execution).json()["status"], "cancelled")


def await_end(t, family):
    """Those who die with it need a moment."""
    end = time.monotonic() + 30
    while batch.births(pid for pid, _ in family) & family:
        t.true(time.monotonic() < end, "children are left: %r" % family)
        time.sleep(0.05)


def test_nothing_of_it_is_left(t):
    with Daemon(t) as d:
        d.run("return 1")
        family = batch.births(children_of(d.process.pid))
        t.true(len(family) > 0, "it has no children at all")
        d.stop()
        d.wait()
        await_end(t, family)


def test_a_changed_file_is_read_and_what_cannot_change_is_said(t):
    path = t.file("caisson.json", json.dumps({"mcpServers": {}, "execution": {"timeout": "7s"}}))
    with Daemon(t, "--config", path) as d:
        t.equal(d.run("return 1")["limits"]["wall_clock"], 7000)
        t.file("caisson.json", json.dumps({"mcpServers": {}, "execution": {"timeout": "9s"},
                                           "server": {"idle_timeout": "1m"}}))
        d.stop(signal.SIGHUP)
        d.await_said("execution.timeout")
        d.await_said("server.idle_timeout.*restart")
        t.equal(d.run("return 1")["limits"]["wall_clock"], 9000)
        t.file("caisson.json", json.dumps({"mcpServers": {}, "execution": {"timeuot": "9s"}}))
        d.stop(signal.SIGHUP)
        d.await_said("the old ones stay.*timeout")
        t.equal(d.run("return 1")["limits"]["wall_clock"], 9000)


class Stdio:
    def __init__(self, t, *options):
        self.t = t
        self.process = subprocess.Popen([t.binary, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, cwd=t.dir, env=t.env)

    def say(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        self.t.log.append("<- %r" % line[:2000])
        if not line:
            raise Failed("it said nothing more: %s" % self.process.stderr.read().decode())
        return json.loads(line)


def test_the_end_of_stdin_ends_everything(t):
    c = Stdio(t)
    c.say(INITIALIZE)
    t.equal(c.hear()["id"], 1)
    c.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    c.say({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
           "params": {"name": "execute_code", "arguments": {"code": "for (;;);"}}})
    end = time.monotonic() + 60
    while len(children_of(c.process.pid)) < 2:
        t.true(time.monotonic() < end, "nothing was started")
        time.sleep(0.02)
    time.sleep(0.3)
    family = batch.births(children_of(c.process.pid))
    c.process.stdin.close()
    t.equal(c.process.wait(60), 0)
    await_end(t, family)


def test_stdout_carries_the_protocol_alone(t):
    c = Stdio(t, "--log.level", "debug")
    c.say(INITIALIZE)
    c.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    c.say({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "execute_code", "arguments": {"code": "console.log('hello'); console.error('x'); return 1"}}})
    c.process.stdin.flush()
    answers = {}
    while 2 not in answers:
        message = c.hear()
        t.equal(message["jsonrpc"], "2.0")
        answers[message.get("id")] = message
    t.has(json.dumps(answers[2]), "completed")
    c.process.stdin.close()
    for line in c.process.stdout:
        json.loads(line)
    t.equal(c.process.wait(60), 0)


def test_what_is_only_previewed_has_a_handle(t):
    """Numbers have few bytes for a token: what is too large for an answer is found by its handle all the same."""
    c = Stdio(t, "--output.tokens", "1000")
    c.say(INITIALIZE)
    c.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def answer(number, code):
        c.say({"jsonrpc": "2.0", "id": number, "method": "tools/call",
               "params": {"name": "execute_code", "arguments": {"code": code}}})
        while True:
            message = c.hear()
            if message.get("id") == number:
                return json.loads(message["result"]["content"][0]["text"])

    for number, length in ((2, 400), (3, 600), (4, 900)):
        short = answer(number, "return Array.from({ length: %d }, (_, i) => (i * 7919) %% 997)" % length)
        t.true("result" in short or "artifact" in short, "neither whole nor with a handle: %r" % short)
    t.true("artifact" in short, "it was not previewed: %r" % short)
    again = answer(5, "return (await caisson.storage.get('%s')).length" % short["artifact"])
    t.equal(again["result"], 900)
    c.process.stdin.close()
    t.equal(c.process.wait(60), 0)


def test_the_first_run_explains_and_serves(t):
    log = open(os.path.join(t.dir, "log"), "wb")
    p = subprocess.Popen([os.path.join(ROOT, "scripts", "first-run"), t.binary], stdout=log, stderr=log,
                         stdin=subprocess.DEVNULL,
                         env=dict(t.env, CAISSON_PORT="0", CAISSON_DATA=os.path.join(t.dir, "data")))
    try:
        end = time.monotonic() + 120
        while "openapi.json" not in t.read("log") or "executions -H" not in t.read("log"):
            t.true(p.poll() is None, "it ended: " + t.read("log"))
            t.true(time.monotonic() < end, "it does not serve: " + t.read("log"))
            time.sleep(0.1)
        curl = [line for line in t.read("log").splitlines() if "curl -s" in line][-1].split("curl -s", 1)[1]
        done = subprocess.run("curl -s " + curl, shell=True, stdout=subprocess.PIPE, timeout=60)
        t.equal(json.loads(done.stdout)["result"], 42)
    finally:
        p.terminate()
        t.equal(p.wait(60), 0)
        t.log.append(t.read("log"))


def test_clients_that_hang_up_hold_up_nobody(t):
    """What is cancelled while it waits for a worker must not stand in the way of those behind it."""
    body = b'{"code": "return 1"}'
    request = (b"POST /executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
               b"Content-Length: %d\r\n\r\n" % len(body)) + body
    reset = struct.pack("ii", 1, 0)
    with Daemon(t, "--execution.workers", "2", "--execution.concurrency", "16") as d:
        d.run("return 1")
        for _ in range(12):
            gone = [socket.create_connection((d.host, d.port)) for _ in range(32)]
            for s in gone:
                s.sendall(request)
            time.sleep(0.01)
            for s in gone:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
                s.close()
            stay = [socket.create_connection((d.host, d.port), timeout=60) for _ in range(8)]
            for s in stay:
                s.sendall(request)
            for s in stay:
                t.has(s.recv(65536).decode(), "200 OK", "answer")
                s.close()

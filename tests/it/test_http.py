"""MCP over HTTP: official servers of both eras, and one of ours that misbehaves."""

import glob
import json
import os
import queue
import subprocess
import sys
import threading

from harness import Failed, table
from peers import listening

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PEERS = os.path.join(HERE, "peers")

DRIVES_TOOLS = True  # of the test build; the program itself is not in it


class Server:
    """A server of a test: its address is the first line that it prints."""

    def __init__(self, t, *argv, env=None, address=None):
        self.t = t
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=dict(t.env, **(env or {})))
        self.lines = queue.Queue()
        self.errors = []
        threading.Thread(target=self.read, daemon=True).start()
        threading.Thread(target=self.read_errors, args=(address,), daemon=True).start()
        self.url = self.line() if address is None else address(self.line())

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def read_errors(self, address):
        for line in self.process.stderr:
            self.errors.append(line)
            if address:
                self.lines.put(line.rstrip("\n"))

    def line(self, patience=60):
        try:
            return self.lines.get(timeout=patience)
        except queue.Empty:
            raise Failed("the server says nothing; stderr: %s" % "".join(self.errors)[-2000:])

    def requests(self):
        """What our nasty server was sent so far: all that it wrote down before it heard of this, and what comes at once."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        found, patience = [], 60
        try:
            while True:
                line = self.lines.get(timeout=patience)
                if line:
                    found.append(json.loads(line))
                else:
                    patience = 0.3
        except queue.Empty:
            if patience == 60:
                raise Failed("the server says nothing; stderr: %s" % "".join(self.errors)[-2000:])
            return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def nasty(t, *options):
    return Server(t, sys.executable, os.path.join(HERE, "servers/nasty_http.py"), *options)


def node(t):
    found = glob.glob(os.path.join(PEERS, "node_modules/node-linux-*/bin/node"))
    if not found:
        t.skip("tests/it/peers/node_modules is not there: scripts/bootstrap test")
    return found[0]


def modern(t, *options):
    return Server(t, node(t), os.path.join(PEERS, "servers/modern_http.mjs"), *options)


def everything(t):
    path = os.path.join(PEERS, "node_modules/@modelcontextprotocol/server-everything/dist/index.js")
    server = Server(t, node(t), path, "streamableHttp", env={"PORT": "0"}, address=lambda _: None)
    server.url = "http://localhost:%d/mcp" % listening(t, server.process)
    return server


def probe_path(t):
    """Beside the program under test, or else from the ordinary build."""
    for build in (os.path.dirname(t.binary), os.path.join(ROOT, "build/dev")):
        path = os.path.join(build, "tests/mcp_probe")
        if os.path.exists(path):
            return path
    t.skip("mcp_probe is not built")


def probe(t, url, *words, status=0, patience=180):
    """Events of mcp_probe, by kind."""
    p = subprocess.run([probe_path(t), *words, "--", url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       env=t.env, timeout=patience)
    t.log.append("$ mcp_probe %s -- %s\n%s\n%s" % (" ".join(words), url, p.stdout[-20000:], p.stderr[-20000:]))
    t.equal(p.returncode, status, "status of mcp_probe (%s)" % p.stderr[-1500:])
    events = {}
    for line in p.stdout.splitlines():
        event = json.loads(line)
        events.setdefault(event["event"], []).append(event)
    t.true(events["closed"][0]["clean"], "it was not closed cleanly")
    return events


def call(t, url, tool, *options, arguments="{}", **more):
    return probe(t, url, *options, "connect", "call", tool, arguments, **more)["done"][0]


def said(done):
    if "result" not in done:
        raise Failed("no result: %r" % done)
    return done["result"]["content"][0]["text"]


# Official servers

def test_a_legacy_server_of_the_sdk_answers_calls_in_a_session(t):
    with everything(t) as server:
        events = probe(t, server.url, "connect", "info", "call", "echo", '{"message":"hi"}',
                       "par", "10", "get-sum", '{"a":1,"b":2}', "call", "trigger-long-running-operation",
                       '{"duration":1,"steps":4}')
        t.equal(events["info"][0]["protocol"], "2025-11-25")
        t.equal(said(events["done"][0]), "Echo: hi")
        t.equal([said(d) for d in events["done"][1:11]], ["The sum of 1 and 2 is 3."] * 10)
        t.equal(len(events["progress"]), 4, "notes of progress")


@table([("auto",), ("sse",), ("json",)])
def test_a_modern_server_of_the_sdk_answers_calls(t, mode):
    with modern(t, "reject", mode) as server:
        events = probe(t, server.url, "--elicit", '{"action":"accept","content":{"name":"Ada"}}', "connect", "info",
                       "call", "echo", '{"text":"h\u00e9"}', "call", "big", '{"bytes":3000000}', "call", "ask", "{}")
        t.equal(events["info"][0]["protocol"], "2026-07-28")
        t.equal(said(events["done"][0]), "h\u00e9")
        t.true(events["done"][1]["bytes"] > 3000000, "the large answer came whole")
        t.equal(said(events["done"][2]), "hello Ada")


def test_a_modern_server_tells_progress_and_changes_of_its_list(t):
    with modern(t) as server:
        events = probe(t, server.url, "connect", "call", "count", '{"to":3}', "call", "grow", "{}",
                       "offers", "extra", "call", "extra", "{}")
        t.equal([e["params"]["progress"] for e in events["progress"]], [1, 2, 3])
        t.true("extra" in events["listed"][-1]["names"], "the new tool is listed")
        t.equal(said(events["done"][-1]), "extra")


def test_a_cancelled_call_of_a_modern_server_is_cancelled_there(t):
    with modern(t) as server:
        probe(t, server.url, "connect", "cancel", "wait", "{}", "1500", "sleep", "300")
        t.equal(server.line(), "cancelled")


def test_a_call_that_is_too_slow_is_given_up_at_a_modern_server(t):
    with modern(t) as server:
        done = call(t, server.url, "wait", "--timeout", "1500")
        t.equal(done["code"], "LIMIT")
        t.equal(server.line(), "cancelled")


def test_the_era_of_a_server_that_speaks_both_is_the_newer(t):
    with modern(t, "stateless") as server:
        t.equal(probe(t, server.url, "connect", "info")["info"][0]["protocol"], "2026-07-28")
        legacy = probe(t, server.url, "--era", "legacy", "connect", "info", "call", "echo", '{"text":"x"}')
        t.true(legacy["info"][0]["protocol"] < "2026", "it was told to speak the older one")
        t.equal(said(legacy["done"][0]), "x")


def test_nothing_is_sent_before_the_server_knows_that_it_is_initialised(t):
    with nasty(t, "--strict", "--listen") as server:
        events = probe(t, server.url, "--era", "legacy", "par", "3", "fine", "{}")
        t.equal([said(d) for d in events["done"]], ["fine"] * 3)
        sent = [(r["body"] or {}).get("method", r["method"]) for r in server.requests()]
        t.equal(sent[:2], ["initialize", "notifications/initialized"])


# Ours: what must work all the same

@table([(tool,) for tool in "fine sse split crlf gzip notes redirect_near retry_stream many_events".split()])
def test_an_odd_answer_is_an_answer(t, tool):
    with nasty(t) as server:
        t.equal(said(call(t, server.url, tool)), "fine")


def test_a_stream_that_stays_open_after_its_answer_holds_nothing_up(t):
    with nasty(t) as server:
        took = []
        while len(took) < 5 and (not took or took[-1] >= 2000):  # the machine may be busy
            done = call(t, server.url, "lingers")
            t.equal(said(done), "fine")
            took.append(done["ms"])
        t.true(took[-1] < 2000, "it took %r ms" % took)


def test_a_broken_stream_is_taken_up_where_it_was_after_the_time_asked_for(t):
    with nasty(t) as server:
        t.equal(said(call(t, server.url, "retry_stream")), "fine")
        seen = [r for r in server.requests() if r["method"] == "GET" and "last-event-id" in r["headers"]
                or (r["body"] or {}).get("method") == "tools/call"]
        t.equal([r["method"] for r in seen], ["POST", "GET"])
        t.equal(seen[1]["headers"]["last-event-id"], "stream-1")
        t.equal(seen[1]["headers"]["mcp-protocol-version"], "2025-11-25")
        waited = seen[1]["at"] - seen[0]["at"]
        t.true(0.28 < waited < 60, "it waited %.3f s instead of 0.3 s" % waited)


def test_questions_of_a_server_are_answered_by_a_request_of_their_own(t):
    with nasty(t) as server:
        done = call(t, server.url, "ask", "--elicit", '{"action":"decline"}')
        t.equal(said(done), "fine")
        answers = [r["body"] for r in server.requests() if r["body"] and r["body"].get("id") == "q1"]
        t.equal([a["result"] for a in answers], [{"action": "decline"}])


def test_headers_and_session_go_with_every_request(t):
    with nasty(t, "--sessions") as server:
        probe(t, server.url, "--header", "X-Team=blue", "--header", "Mcp-Session-Id=forged", "connect", "call", "fine",
              "{}")
        seen = server.requests()
        for r in seen:
            t.equal(r["headers"].get("x-team"), "blue", "the entry's header")
        after = [r for r in seen if not r["body"] or r["body"].get("method") not in ("initialize", "server/discover")]
        t.true(len(after) >= 4, "notification, list, GET, call, DELETE")
        for r in after:
            t.equal(r["headers"].get("mcp-session-id"), "session-1", r["method"])
            t.equal(r["headers"].get("mcp-protocol-version"), "2025-11-25", r["method"])
        t.equal(seen[-1]["method"], "DELETE", "the last request")


@table([("session_dies",), ("session_400",)])
def test_a_session_that_died_is_begun_anew_and_the_call_repeated(t, tool):
    with nasty(t, "--sessions") as server:
        t.equal(said(call(t, server.url, tool)), "fine")
        seen = server.requests()
        t.equal(len([r for r in seen if r["body"] and r["body"].get("method") == "initialize"]), 2)
        t.equal(seen[-1]["headers"].get("mcp-session-id"), "session-2")


def test_late_news_of_a_dead_session_do_not_end_the_new_one(t):
    with nasty(t, "--sessions") as server:
        events = probe(t, server.url, "connect", "par", "4", "session_late", "{}", "sleep", "300", "call", "fine", "{}")
        t.equal([said(d) for d in events["done"]], ["fine"] * 5)
        bodies = [(r["body"] or {}, r["headers"].get("mcp-session-id")) for r in server.requests()]
        calls = [session for body, session in bodies if body.get("method") == "tools/call"]
        t.equal(sorted(calls), ["session-1"] * 4 + ["session-2"] * 5, "sessions of the calls")
        t.equal(len([1 for body, _ in bodies if body.get("method") == "initialize"]), 2, "sessions begun")


def test_idle_connections_are_used_again(t):
    with nasty(t) as server:
        events = probe(t, server.url, "connect", "bench", "50", "fine", "{}")
        t.equal(events["bench"][0]["failed"], 0)
        ports = {r["port"] for r in server.requests()}
        t.true(len(ports) <= 3, "%d connections for 50 calls" % len(ports))


def test_the_stream_of_what_a_server_has_to_say_is_taken_up_again(t):
    with nasty(t, "--listen", "--sessions") as server:
        events = probe(t, server.url, "--debounce", "10", "connect", "sleep", "200", "call", "change", "{}",
                       "listed", "2", "sleep", "400", "call", "change", "{}", "listed", "3")
        t.equal(len(events["listed"]), 3, "lists")
        streams = [r["headers"] for r in server.requests() if r["method"] == "GET"]
        t.equal([h.get("last-event-id") for h in streams[:2]], [None, "listen-1"])
        t.equal({h["mcp-session-id"] for h in streams}, {"session-1"})


def certificate(t):
    """A file with a key, and a certificate for it that is its own authority."""
    path = os.path.join(t.dir, "cert.pem")
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                           "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                           "-keyout", path, "-out", path + ".crt"], capture_output=True)
    if made.returncode != 0:
        t.skip("openssl cannot make a certificate here")
    with open(path, "a") as key, open(path + ".crt") as crt:
        key.write(crt.read())
    return path


def test_a_certificate_that_nobody_vouches_for_is_refused(t):
    with nasty(t, "--cert", certificate(t)) as server:
        events = probe(t, server.url, "--header", "Authorization=Bearer secret", "connect", "info")
        t.equal(events["info"][0]["state"], "failed")
        t.matches(events["info"][0]["error"], "certificate.*not trusted.*SSL_CERT_FILE")
        t.equal(server.requests(), [], "what it was sent")


def test_tls_and_http_2_are_spoken(t):
    pem = certificate(t)
    t.env["SSL_CERT_FILE"] = pem + ".crt"
    with modern(t, "reject", "auto", pem) as server:
        events = probe(t, server.url, "connect", "par", "20", "echo", '{"text":"x"}', "call", "count", '{"to":2}',
                       "call", "big", '{"bytes":2000000}', "cancel", "wait", "{}", "1500", "call", "echo", '{"text":"y"}')
        t.equal([said(d) for d in events["done"][:20]], ["x"] * 20)
        t.equal(len(events["progress"]), 2)
        t.true(events["done"][21]["bytes"] > 2000000, "the large answer came whole")
        t.equal(said(events["done"][-1]), "y")
        t.equal(server.line(), "HTTP 2.0")
        t.equal(server.line(), "cancelled")
    with nasty(t, "--cert", pem) as server:
        t.equal(said(call(t, server.url, "sse")), "fine")


# Ours: what must fail, and say why, and cost only itself

@table([
    ("garbage", "UPSTREAM", "JSON"),
    ("html", "UPSTREAM", "text/html.*endpoint"),
    ("empty", "UPSTREAM", "without a message"),
    ("ignore", "UPSTREAM", "without a message"),
    ("text500", "UPSTREAM", "HTTP 500: the disk is full.*(again|later|log)"),
    ("json500", "UPSTREAM", "HTTP 503: overloaded"),
    ("rpc400", "UPSTREAM", "bad thing"),
    ("wrong_id", "UPSTREAM", "another request"),
    ("close", "UPSTREAM", "Empty reply|reset|closed"),
    ("headers", "UPSTREAM|LIMIT", "64 KiB of headers"),
    ("endless", "LIMIT", "larger than"),
    ("bomb", "LIMIT", "larger than"),
    ("huge_event", "LIMIT", "more than"),
    ("redirect_far", "UPSTREAM", "redirects.*another origin.*entry"),
    ("redirect_loop", "UPSTREAM", "redirects more than 5"),
    ("lost_stream", "UPSTREAM", "stream|transfer|closed|reset"),
    ("bad_chunk", "UPSTREAM", "."),
])
def test_a_bad_answer_is_an_error_that_says_why(t, tool, code, why):
    with nasty(t) as server:
        events = probe(t, server.url, "connect", "call", tool, "{}", "call", "fine", "{}")
        t.matches(events["done"][0].get("code"), code, "code")
        t.matches(events["done"][0]["error"], why, "error")
        t.lacks(events["done"][0]["error"], "\x1b")
        t.equal(said(events["done"][1]), "fine")


@table([("slow",), ("too_slow_head",), ("stall_event",)])
def test_an_answer_that_does_not_come_runs_into_the_deadline(t, tool):
    with nasty(t) as server:
        events = probe(t, server.url, "--timeout", "2500", "connect", "call", tool, "{}", "call", "fine", "{}")
        t.matches(events["done"][0]["code"], "LIMIT|UPSTREAM", "code")
        t.true(events["done"][0]["ms"] < 20000, "it took %d ms" % events["done"][0]["ms"])
        t.equal(said(events["done"][1]), "fine")


def test_a_redirect_to_another_host_brings_it_neither_token_nor_request(t):
    with nasty(t) as other, nasty(t, "--origin", other.url.replace("127.0.0.1", "localhost")[:-4]) as server:
        done = call(t, server.url, "redirect_far", "--header", "Authorization=Bearer secret")
        t.equal(done.get("code"), "UPSTREAM")
        t.equal(other.requests(), [], "what the other host was sent")


def test_a_token_of_the_entry_is_sent_and_a_refused_one_is_explained(t):
    with nasty(t, "--token", "right") as server:
        t.equal(said(call(t, server.url, "fine", "--header", "Authorization=Bearer right")), "fine")
        events = probe(t, server.url, "--header", "Authorization=Bearer wrong", "connect", "info")
        t.equal(events["info"][0]["state"], "login")
        t.matches(events["info"][0]["error"], "refuses the Authorization header.*401")
        events = probe(t, server.url, "--oauth", t.dir, "connect", "info")
        t.equal(events["info"][0]["state"], "login")
        t.matches(events["info"][0]["error"], "caisson login")


@table([
    ("refused", "http://127.0.0.1:1/mcp", "connect.*running"),
    ("no such host", "http://no-such-host.invalid/mcp", "resolve host.*host name"),
    ("no TLS", "https://127.0.0.1:%d/mcp", "."),
    ("wrong path", "http://127.0.0.1:%d/elsewhere", "HTTP 404.*endpoint"),
])
def test_a_server_that_cannot_be_reached_is_explained(t, name, url, why):
    with nasty(t) as server:
        port = int(server.url.split(":")[2].split("/")[0])
        events = probe(t, url % port if "%d" in url else url, "connect", "info")
        t.equal(events["info"][0]["state"], "failed")
        t.matches(events["info"][0]["error"], why)

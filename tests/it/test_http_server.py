"""The HTTP server of src/http, through tools/http_probe: every way to be asked well, and many to be asked badly."""

import gzip
import http.client
import json
import os
import queue
import random
import resource
import signal
import socket
import ssl
import subprocess
import threading
import time

from harness import Failed, table

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

DRIVES_TOOLS = True  # of the test build; the program itself is not in it

HEAD = b"Host: here\r\n"


def tool(t):
    for build in (os.path.dirname(t.binary), os.path.join(ROOT, "build/dev")):
        path = os.path.join(build, "tests/http_probe")
        if os.access(path, os.X_OK):
            return path
    t.skip("http_probe is not built")


class Probe:
    """A server of the test. At its end it must close at once, hold nothing, and have said nothing on stderr."""

    def __init__(self, t, *options, env=None, tls=None):
        self.t, self.tls = t, tls
        words = [tool(t)]
        for name, value in zip(options[::2], options[1::2]):
            words += ["--" + name, str(value)]
        if tls:
            words += ["--tls_cert", tls + "/cert.pem", "--tls_key", tls + "/key.pem"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=dict(t.env, **(env or {})))
        self.events, self.errors = queue.Queue(), []
        threading.Thread(target=self.read, daemon=True).start()
        self.reader = threading.Thread(target=self.read_errors, daemon=True)
        self.reader.start()
        self.port = self.event("listening")["port"]

    def read(self):
        for line in self.process.stdout:
            self.events.put(json.loads(line))

    def read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line)

    def event(self, name, patience=15):
        """The next event, which must be this one."""
        try:
            event = self.events.get(timeout=patience)
        except queue.Empty:
            raise Failed("no %r within %s s; stderr: %s" % (name, patience, "".join(self.errors)[-3000:]))
        self.t.equal(event["event"], name, "event")
        return event

    def quiet(self, seconds):
        """Nothing happens for so long."""
        try:
            raise Failed("unexpected: %r" % self.events.get(timeout=seconds))
        except queue.Empty:
            pass

    def connect(self, patience=10, raw=False):
        s = socket.create_connection(("127.0.0.1", self.port), patience)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.tls and not raw:
            s = ssl.create_default_context(cafile=self.tls + "/cert.pem").wrap_socket(s, server_hostname="localhost")
        return s

    def talk(self, data, patience=10, shut=False):
        """Sends these bytes; all that comes until the server closes."""
        with self.connect(patience) as s:
            s.sendall(data)
            if shut:
                s.shutdown(socket.SHUT_WR)
            return rest(s)

    def get(self, path, method="GET", body=None, headers=None, chunked=False):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        if self.tls:
            context = ssl.create_default_context(cafile=self.tls + "/cert.pem")
            c = http.client.HTTPSConnection("localhost", self.port, timeout=20, context=context)
        try:
            c.request(method, path, body, headers or {}, encode_chunked=chunked)
            r = c.getresponse()
            return r, r.read()
        finally:
            c.close()

    def state(self):
        return json.loads(self.get("/state")[1])

    def fds(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def rss(self):
        with open("/proc/%d/statm" % self.process.pid) as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = "no end after SIGTERM"
        self.reader.join(5)
        self.t.log.append("stderr of the server: " + "".join(self.errors)[-20000:])
        if kind is None:
            self.t.equal((status, "".join(self.errors)[-3000:]), (0, ""), "the end of the server")


def rest(s):
    found = b""
    try:
        while True:
            data = s.recv(65536)
            if not data:
                return found
            found += data
    except ConnectionResetError:
        return found


def until(s, end):
    found = b""
    while end not in found:
        data = s.recv(65536)
        if not data:
            raise Failed("closed before %r: %r" % (end, found))
        found += data
    return found


def answers(text):
    """(status, body) of several answers in a row, all with a Content-Length."""
    found = []
    while text:
        head, _, text = text.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        n = int(fields.get(b"content-length", 0))
        found.append((int(head.split()[1]), text[:n]))
        text = text[n:]
    return found


def first_status(text):
    return int(text.split()[1]) if text.startswith(b"HTTP/1.1 ") else text[:100]


def until_true(what, seconds=10):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


# --- asked well

def test_a_request_reaches_the_handler_decoded(t):
    with Probe(t) as p:
        r, body = p.get("/a%20b%2Fc%C3%BC?x=1&q=a+b%26%2B", headers={"X-Test": "\t hello  "})
        e = json.loads(body)
        t.equal(r.status, 200)
        t.equal((e["method"], e["path"], e["q"], e["header"], e["headers"]), ("GET", "/a b/cü", "a b&+", "hello", 1))
        t.equal((e["peer"], e["loopback"], e["tls"], e["body"]), ("127.0.0.1", True, False, None))
        t.equal(json.loads(p.get("/echo", "POST", "hällo".encode())[1])["body"], "hällo")
        t.equal(json.loads(p.get("/echo", "BREW")[1])["method"], "BREW")
        t.equal(json.loads(p.get("http://some.where/path?q=2")[1])["path"], "/path")
        t.equal(json.loads(p.get("*", "OPTIONS")[1])["path"], "*")


def test_a_connection_serves_many_requests(t):
    with Probe(t) as p:
        c = http.client.HTTPConnection("127.0.0.1", p.port, timeout=10)
        for i in range(50):
            c.request("POST", "/body", b"%d" % i)
            t.equal(c.getresponse().read(), b"%d" % i)
            c.request("GET", "/later?ms=1")
            t.equal(c.getresponse().read(), b"later\n")
        t.equal(p.state()["connections"], 2)
        c.close()


def test_pipelined_requests_are_answered_in_order(t):
    with Probe(t) as p:
        wanted, data = [], b""
        for i in range(30):
            if i % 3 == 0:
                data += b"POST /body HTTP/1.1\r\n%sContent-Length: 3\r\n\r\n%03d" % (HEAD, i)
                wanted.append((200, b"%03d" % i))
            elif i % 3 == 1:
                data += b"GET /later?ms=%d HTTP/1.1\r\n%s\r\n" % (30 - i, HEAD)
                wanted.append((200, b"later\n"))
            else:
                data += b"PUT /body HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n2\r\n%02d\r\n0\r\n\r\n" % (HEAD, i)
                wanted.append((200, b"ab%02d" % i))
        data += b"GET /set?name=A&value=b HTTP/1.1\r\n%sConnection: close\r\n\r\n" % HEAD
        wanted.append((200, b"set\n"))
        t.equal(answers(p.talk(data)), wanted)
        # The same, byte by byte.
        with p.connect() as s:
            for i in range(0, len(data)):
                s.send(data[i:i + 1])
            t.equal(answers(rest(s)), wanted)


def test_head_has_no_body(t):
    with Probe(t) as p:
        found = p.talk(b"HEAD /big?bytes=5000 HTTP/1.1\r\n%s\r\nHEAD /stream?count=0 HTTP/1.1\r\n%s\r\n"
                       b"GET /later HTTP/1.1\r\n%sConnection: close\r\n\r\n" % (HEAD, HEAD, HEAD))
        heads = found.split(b"\r\n\r\n")
        t.has(heads[0], b"Content-Length: 5000")
        t.has(heads[1], b"text/event-stream")
        t.equal((heads[3], len(heads)), (b"later\n", 4), "what follows")
        p.event("held"), p.event("gone")


def test_expect_100_continue_is_answered_before_the_body(t):
    with Probe(t) as p:
        with p.connect() as s:
            s.sendall(b"POST /body HTTP/1.1\r\n%sContent-Length: 4\r\nExpect: 100-continue\r\n\r\n" % HEAD)
            t.equal(until(s, b"\r\n\r\n"), b"HTTP/1.1 100 Continue\r\n\r\n")
            s.sendall(b"body")
            t.has(until(s, b"body"), b"HTTP/1.1 200")
        for path, status in ((b"/early", 401), (b"/small", 413)):
            with p.connect() as s:
                s.sendall(b"POST %s HTTP/1.1\r\n%sContent-Length: 40\r\nExpect: 100-continue\r\n\r\n" % (path, HEAD))
                t.equal(first_status(rest(s)), status, "status without a body")


def test_http_1_0_gets_one_answer_and_is_closed(t):
    with Probe(t) as p:
        found = p.talk(b"GET /later HTTP/1.0\r\n\r\n")
        t.has(found, b"later")
        found = p.talk(b"GET /stream?count=2&ms=5 HTTP/1.0\r\n\r\n")
        t.lacks(found.lower(), b"chunked")
        t.true(found.endswith(b"\r\n\r\ndata: 2\n\ndata: 1\n\n"), "the stream is %r" % found)


def test_a_stream_comes_as_it_is_written(t):
    with Probe(t, "idle_ms", 300, "request_ms", 300) as p:
        with p.connect() as s:
            s.sendall(b"GET /stream?count=3&ms=250&now=1 HTTP/1.1\r\n%s\r\n" % HEAD)
            started = time.monotonic()
            t.has(until(s, b": now"), b"text/event-stream")
            t.true(time.monotonic() - started < 0.2, "the begin came late")
            for n in (b"data: 3", b"data: 2", b"data: 1", b"0\r\n\r\n"):
                until(s, n)
            t.true(time.monotonic() - started > 0.7, "it came too early")  # and longer than both limits
            s.sendall(b"GET /later?ms=1 HTTP/1.1\r\n%s\r\n" % HEAD)  # the connection is still good
            until(s, b"later")
        p.event("held")
        # A silent one stays, for longer than an idle connection.
        with p.connect() as s:
            s.sendall(b"GET /stream?count=0 HTTP/1.1\r\n%s\r\n" % HEAD)
            until(s, b"\r\n\r\n")
            p.event("held")
            p.quiet(0.8)
        p.event("gone", 2)


def test_a_large_answer_comes_whole(t):
    with Probe(t) as p:
        r, plain = p.get("/big?bytes=20000000")
        t.equal((len(plain), plain[:12], r.getheader("Content-Encoding")), (20000000, b"0,2,4,6,8,10", None))
        # To one who reads slowly, in little pieces.
        with p.connect() as s:
            s.sendall(b"GET /big?bytes=3000000 HTTP/1.1\r\n%sConnection: close\r\n\r\n" % HEAD)
            found = 0
            while True:
                n = len(s.recv(30000))
                if n == 0:
                    break
                found += n
                time.sleep(0.001)
            t.true(found > 3000000, "%d bytes" % found)


@table([("gzip", "gzip"), ("gzip, deflate, br", "gzip"), ("br, *", "gzip"), ("GZIP;q=0.1", "gzip"), ("gzip;q=0", None),
        ("*;q=0", None), ("gzip;q=0.000, *", None), ("identity", None), ("", None), ("br;q=1.0, gzip ; q=0.5", "gzip")])
def test_answers_are_compressed_for_those_who_accept(t, accept, wanted):
    with Probe(t) as p:
        plain = p.get("/big?bytes=5000")[1]
        for size in (5000, 300000):
            plain = p.get("/big?bytes=%d" % size)[1]
            r, body = p.get("/big?bytes=%d" % size, headers={"Accept-Encoding": accept})
            t.equal(r.getheader("Content-Encoding"), wanted)
            t.equal(r.getheader("Vary"), "Accept-Encoding")
            t.true(gzip.decompress(body) == plain if wanted else body == plain, "the body differs")
        for path in ("/big?bytes=900", "/big?bytes=5000&type=png"):
            r, body = p.get(path, headers={"Accept-Encoding": accept})
            t.equal(r.getheader("Content-Encoding"), None, "encoding of " + path)


def test_somebody_who_leaves_while_it_is_compressed_does_no_harm(t):
    with Probe(t) as p:
        for _ in range(10):
            s = p.connect()
            s.sendall(b"GET /big?bytes=5000000 HTTP/1.1\r\n%sAccept-Encoding: gzip\r\n\r\n" % HEAD)
            time.sleep(0.02)
            s.close()
        s = p.connect()  # and the server may close then, too
        s.sendall(b"GET /big?bytes=5000000 HTTP/1.1\r\n%sAccept-Encoding: gzip\r\n\r\n" % HEAD)
        time.sleep(0.05)


# --- gone

def test_somebody_who_hangs_up_is_noticed_at_once(t):
    with Probe(t) as p:
        for path in (b"/never", b"/stream?count=0"):
            for how in ("close", "reset", "after more"):
                s = p.connect()
                s.sendall(b"POST %s HTTP/1.1\r\n%sContent-Length: 2\r\n\r\nab" % (path, HEAD))
                p.event("held")
                if how == "reset":
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                if how == "after more":
                    s.sendall(b"GET /later HTTP/1.1\r\n%s\r\n" % HEAD)
                started = time.monotonic()
                s.close()
                p.event("gone", 3)
                t.true(time.monotonic() - started < 1, "%s %s took %.1f s" % (path, how, time.monotonic() - started))
        t.equal(p.state(), {**p.state(), "held": 0, "connections": 1})


def test_a_half_closed_connection_still_gets_its_answer(t):
    with Probe(t) as p:
        found = p.talk(b"GET /later?ms=300 HTTP/1.1\r\n%s\r\n" % HEAD, shut=True)
        while found.startswith(b"HTTP/1.1 100 Continue\r\n\r\n"):
            found = found[25:]
        t.equal(answers(found), [(200, b"later\n")])
        # One that goes after that is noticed too.
        s = p.connect()
        s.sendall(b"GET /never HTTP/1.1\r\n%s\r\n" % HEAD)
        p.event("held")
        s.shutdown(socket.SHUT_WR)
        p.quiet(0.3)
        s.close()
        p.event("gone", 3)


def test_curl_that_is_stopped_is_gone(t):
    with Probe(t) as p:
        subprocess.run(["curl", "-s", "-m", "0.3", "http://127.0.0.1:%d/never" % p.port])
        p.event("held"), p.event("gone", 1)
        done = subprocess.run(["curl", "-s", "-m", "10", "http://127.0.0.1:%d/later?ms=100" % p.port], capture_output=True)
        t.equal(done.stdout, b"later\n")


def test_a_stream_that_nobody_reads_is_cut(t):
    with Probe(t, "unsent_bytes", 300000) as p:
        s = p.connect()
        s.sendall(b"GET /flood HTTP/1.1\r\n%s\r\n" % HEAD)
        p.event("gone", 20)
        t.true(until_true(lambda: p.state()["connections"] == 1), "the connection is still there")
        s.close()


def test_an_answer_that_nobody_takes_is_cut(t):
    with Probe(t, "idle_ms", 400) as p:
        s = p.connect()
        s.sendall(b"GET /big?bytes=20000000 HTTP/1.1\r\n%s\r\n" % HEAD)
        t.true(until_true(lambda: p.state()["connections"] == 2), "not connected")
        t.true(until_true(lambda: p.state()["connections"] == 1, 5), "it is still there")
        s.close()


# --- asked badly

@table([
    ("two lengths", b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd"),
    ("two different lengths", b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 60\r\n\r\nabcd"),
    ("length and chunks", b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("chunks and length", b"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"),
    ("list of lengths", b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 4, 4\r\n\r\nabcd"),
    ("negative length", b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: -4\r\n\r\nabcd"),
    ("plus length", b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: +4\r\n\r\nabcd"),
    ("hex length", b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 0x4\r\n\r\nabcd"),
    ("empty length", b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nabcd"),
    ("huge length", b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\nabcd", (400, 413)),
    ("wrapping length", b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551620\r\n\r\nabcd", (400, 413)),
    ("two encodings", b"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
    ("unknown encoding", b"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", (400, 501)),
    ("encoding list", b"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", (400, 501)),
    ("space before colon", b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length : 4\r\n\r\nabcd"),
    ("space in name", b"GET /body HTTP/1.1\r\nHost: a\r\nA B: 4\r\n\r\n"),
    ("folded", b"GET /body HTTP/1.1\r\nHost: a\r\nX-Test: 1\r\n Transfer-Encoding: chunked\r\n\r\n", (400, 200)),
    ("no colon", b"GET /body HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n"),
    ("empty name", b"GET /body HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", (400, 200)),
    ("two hosts", b"GET /body HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
    ("no host", b"GET /body HTTP/1.1\r\n\r\n"),
    ("control in header", b"GET /body HTTP/1.1\r\nHost: a\r\nX-Test: a\x01b\r\n\r\n"),
    ("bare CR in header", b"GET /body HTTP/1.1\r\nHost: a\r\nX-Test: a\rX-Evil: b\r\n\r\n"),
    ("NUL in path", b"GET /bo%00dy HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("raw NUL in path", b"GET /bo\x00dy HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("control in path", b"GET /bo%0Ady HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("raw control in path", b"GET /bo\x01dy HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("not UTF-8 in path", b"GET /%C3%28 HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("overlong UTF-8 in path", b"GET /%C0%AF HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("surrogate in path", b"GET /%ED%A0%80 HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("bad escape in path", b"GET /a%2 HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("not UTF-8 in query", b"GET /a?q=%FF HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("NUL in query", b"GET /a?q=%00 HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("fragment", b"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("no slash", b"GET a HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("method with a slash", b"G/T /a HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("connect", b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("chunk size is no number", b"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabcd\r\n0\r\n\r\n", (400, 0)),
    ("chunk size negative", b"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nabcd\r\n0\r\n\r\n", (400, 0)),
    ("chunk size huge", b"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nabcd\r\n0\r\n\r\n", (400, 413, 0)),
    ("chunk not ended", b"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", (400, 0)),
    ("other protocol", b"SSH-2.0-OpenSSH_9.2p1\r\n\r\n", (400, 505, 0)),
    ("http 2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 505, 0)),
    ("http 9", b"GET / HTTP/9.9\r\nHost: a\r\n\r\n", (400, 505, 0)),
    ("no version", b"GET /\r\n\r\n", (400, 505, 0, 200)),
])
def test_what_is_not_a_proper_request_is_refused(t, name, data, allowed=(400,)):
    with Probe(t, "request_ms", 2000) as p:
        # Whatever hides behind it is never taken for a request.
        found = p.talk(data + b"GET /later?ms=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        status = first_status(found) if found else 0
        t.true(status in allowed, "%s: %r, not one of %r: %r" % (name, status, allowed, found[:300]))
        if status != 200:
            t.lacks(found, b"later", "what follows")
        t.equal(p.get("/echo")[0].status, 200, "the next one")


def test_a_body_over_the_bound_is_refused(t):
    with Probe(t, "body_bytes", 1000) as p:
        t.equal(p.get("/body", "POST", b"x" * 1000)[0].status, 200)
        t.equal(p.get("/body", "POST", b"x" * 1001)[0].status, 413)
        t.equal(p.get("/small", "POST", b"x" * 10)[0].status, 200)
        t.equal(p.get("/small", "POST", b"x" * 11)[0].status, 413)
        # Said before it is read.
        t.equal(first_status(p.talk(b"PUT /body HTTP/1.1\r\n%sContent-Length: 1001\r\n\r\n" % HEAD)), 413)
        # Counted as it comes. The one who sends more and more still gets to read the answer.
        with p.connect() as s:
            s.sendall(b"POST /body HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n" % HEAD)
            for _ in range(300):
                s.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")
            t.equal(first_status(rest(s)), 413)
        # A method that seldom has one is no way around it, nor is what follows taken for a request.
        for method in (b"DELETE", b"GET", b"BREW"):
            for path in (b"/small", b"/early"):
                found = p.talk(b"%s %s HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n20\r\n%s\r\n0\r\n\r\n"
                               b"GET /never HTTP/1.1\r\n%s\r\n" % (method, path, HEAD, b"x" * 32, HEAD))
                t.equal((first_status(found), found.count(b"HTTP/1.1 ")), (413 if path == b"/small" else 401, 1))
        p.quiet(0.1)


def test_a_head_that_is_too_large_is_refused(t):
    with Probe(t, "head_bytes", 8192) as p:
        t.equal(p.get("/echo", headers={"X-Test": "a" * 7000})[0].status, 200)
        t.equal(p.get("/" + "a" * 7000)[0].status, 200)
        t.equal(p.get("/echo", headers={"X-Test": "a" * 8500})[0].status, 431)
        t.true(p.get("/" + "a" * 8500)[0].status in (414, 431), "a long target")
        t.equal(p.get("/echo", headers={"X-%d" % i: "b" for i in range(3000)})[0].status, 431)
        t.equal(p.get("/echo", headers={"X-Test": "a" * 200000})[0].status, 431)
        found = p.talk(b"GET /" + b"a" * 100000)
        t.true(first_status(found) in (414, 431), "a target without end: %r" % found[:100])


def test_headers_of_an_answer_cannot_be_split(t):
    with Probe(t) as p:
        r, body = p.get("/set?name=X-A&value=a%0D%0AX-Evil:%20b%0D%0A%0D%0Abody")
        t.equal((body, r.getheader("X-Evil"), r.getheader("X-A")), (b"set\n", None, "a  X-Evil: b    body"))
        for name in ("X%0D%0AX-Evil", "X%20A", "", "X:", "Content-Length", "Transfer-Encoding"):
            r, body = p.get("/set?name=%s&value=chunked" % name)
            t.equal((body, r.getheader("X-Evil")), (b"set\n", None))


# --- slow, and many

def test_a_request_that_takes_too_long_is_cut_off(t):
    with Probe(t, "request_ms", 400, "idle_ms", 5000) as p:
        for data in (b"GET /later HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 1000,
                     b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n" + b"a" * 900,
                     b"GET /" + b"a" * 1000):
            with p.connect() as s:
                started, found = time.monotonic(), b""
                # The first half at once, then a byte now and then.
                s.sendall(data[:30])
                s.setblocking(False)
                for i in range(30, 300):
                    try:
                        s.send(data[i:i + 1])
                        found = s.recv(1000)
                        break
                    except BlockingIOError:
                        time.sleep(0.01)
                    except ConnectionError:
                        break
                took = time.monotonic() - started
                t.true(0.3 < took < 1.5, "cut off after %.2f s" % took)
                t.equal(first_status(found), 408)
        # Also on a connection that was used before.
        with p.connect() as s:
            s.sendall(b"GET /echo HTTP/1.1\r\n%s\r\n" % HEAD)
            until(s, b"}")
            time.sleep(0.2)
            s.sendall(b"GET")
            started = time.monotonic()
            t.equal(first_status(rest(s)), 408)
            t.true(time.monotonic() - started < 1.5, "a used connection may take longer")


def test_an_idle_connection_is_closed(t):
    with Probe(t, "request_ms", 400, "idle_ms", 700) as p:
        for data in (b"", b"GET /echo HTTP/1.1\r\n%s\r\n" % HEAD):
            with p.connect() as s:
                if data:
                    s.sendall(data)
                    until(s, b"}")
                started = time.monotonic()
                t.equal(rest(s), b"", "what came")
                took = time.monotonic() - started
                t.true(0.6 < took < 1.6, "closed after %.2f s" % took)
        t.true(until_true(lambda: p.state()["connections"] == 1), "still connected")


def test_too_many_connections_are_told_so(t):
    with Probe(t, "max_connections", 5) as p:
        held = [p.connect() for _ in range(5)]
        for s in held:
            s.sendall(b"GET /echo HTTP/1.1\r\n%s\r\n" % HEAD)
            until(s, b"}")
        for _ in range(20):
            t.equal(first_status(p.talk(b"GET /echo HTTP/1.1\r\n%s\r\n" % HEAD)), 503)
        held.pop().close()
        t.true(until_true(lambda: p.get("/echo")[0].status == 200), "nobody else gets in")
        for s in held:  # those who were first notice nothing
            s.sendall(b"GET /echo HTTP/1.1\r\n%s\r\n" % HEAD)
            until(s, b"}")
            s.close()


def test_without_file_descriptors_it_says_so_and_recovers(t):
    with Probe(t, "max_connections", 1000) as p:
        n = p.fds() + 20
        resource.prlimit(p.process.pid, resource.RLIMIT_NOFILE, (n, n))
        held = [p.connect(3) for _ in range(40)]
        found = []
        for s in held:
            s.sendall(b"GET /echo HTTP/1.1\r\n%sConnection: close\r\n\r\n" % HEAD)
            found.append(first_status(rest(s)))
            s.close()
        t.true(found.count(200) >= 15 and found.count(503) + found.count(b"") >= 5, "answers: %r" % found)
        t.equal(p.get("/echo")[0].status, 200)


def test_ten_thousand_idle_connections_are_held(t):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(10000, hard - 300)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 300), hard))
    t.log.append("%d connections (the limit of descriptors is %d)" % (count, hard))
    t.env["ASAN_OPTIONS"] = "detect_leaks=0:quarantine_size_mb=1"
    with Probe(t, "max_connections", 10100, "request_ms", 60000) as p:
        p.get("/echo")
        before, fds = p.rss(), p.fds()
        held = []
        try:
            for i in range(count):
                s = p.connect(30)
                held.append(s)
                if i % 10 == 0:  # some have been served
                    s.sendall(b"GET /echo HTTP/1.1\r\n%s\r\n" % HEAD)
                    until(s, b"}")
            t.equal(p.state()["connections"], count + 1)
            each = (p.rss() - before) / count
            t.log.append("%.0f bytes of memory per idle connection (of the sanitized build)" % each)
            t.true(each < 60000, "%.0f bytes of memory per idle connection" % each)
            started = time.monotonic()
            for _ in range(100):
                p.get("/echo")
            t.true(time.monotonic() - started < 5, "100 requests beside them took %.1f s" % (time.monotonic() - started))
        finally:
            for s in held:
                s.close()
        t.true(until_true(lambda: p.state()["connections"] == 1, 20), "they are still there")
        t.true(until_true(lambda: p.fds() <= fds, 5), "%d descriptors, before: %d" % (p.fds(), fds))


def test_rubbish_and_sudden_death_leave_nothing_behind(t):
    chance = random.Random(7)
    good = [b"GET /later?ms=3 HTTP/1.1\r\n%s\r\n" % HEAD, b"POST /body HTTP/1.1\r\n%sContent-Length: 20\r\n\r\n%s" % (HEAD, b"x" * 20),
            b"PUT /body HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n" % HEAD,
            b"GET /stream?count=5&ms=1 HTTP/1.1\r\n%s\r\n" % HEAD, b"GET /stream?count=0 HTTP/1.1\r\n%s\r\n" % HEAD,
            b"GET /never HTTP/1.1\r\n%s\r\n" % HEAD, b"GET /big?bytes=500000 HTTP/1.1\r\n%s\r\n" % HEAD,
            b"GET /big?bytes=500000 HTTP/1.1\r\n%sAccept-Encoding: gzip\r\n\r\n" % HEAD, b"GET /flood HTTP/1.1\r\n%s\r\n" % HEAD]
    leaks = "halt_on_error=1" if "detect_leaks=0" in os.environ.get("ASAN_OPTIONS", "") else "detect_leaks=1"
    with Probe(t, "request_ms", 500, "idle_ms", 500, "unsent_bytes", 200000, env={"ASAN_OPTIONS": leaks}) as p:
        p.get("/echo")
        fds = p.fds()

        def one(n):
            data = b"".join(chance.choice(good) for _ in range(chance.randrange(1, 4)))
            kind = n % 4
            if kind == 0:
                data = bytes(chance.randrange(256) for _ in range(chance.randrange(300)))
            elif kind == 1:
                data = data[:chance.randrange(len(data))]
            elif kind == 2:
                at = chance.randrange(len(data))
                data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1:]
            s = p.connect()
            try:
                s.sendall(data)
                if chance.random() < 0.3:
                    s.recv(100) if s.settimeout(0.05) is None else None
                if chance.random() < 0.3:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                if chance.random() < 0.2:
                    s.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            return s

        held = []
        for n in range(600):
            held.append(one(n))
            if len(held) > 40:
                held.pop(chance.randrange(len(held))).close()
        for s in held:
            s.close()
        t.true(until_true(lambda: p.state()["connections"] == 1 and p.state()["held"] == 0), "left: %r" % p.state())
        t.true(until_true(lambda: p.fds() <= fds, 5), "%d descriptors, before: %d" % (p.fds(), fds))
        # What is under way when the server closes is cut, and its owners hear it.
        s = one(3)
        with p.connect() as other:
            other.sendall(good[5])
            time.sleep(0.1)
            p.process.send_signal(signal.SIGTERM)
            p.process.wait(20)
        s.close()


# --- the end

def test_drain_lets_what_is_under_way_finish(t):
    with Probe(t) as p:
        idle = p.connect()
        idle.sendall(b"GET /echo HTTP/1.1\r\n%s\r\n" % HEAD)
        until(idle, b"}")
        fresh = p.connect()
        busy = p.connect()
        busy.sendall(b"GET /later?ms=400 HTTP/1.1\r\n%s\r\n" % HEAD)
        stream = p.connect()
        stream.sendall(b"GET /stream?count=4&ms=100 HTTP/1.1\r\n%s\r\n" % HEAD)
        until(stream, b"\r\n\r\n")
        r, body = p.get("/drain")
        t.equal((body, r.getheader("Connection")), (b"draining\n", "close"))
        t.equal((rest(idle), rest(fresh)), (b"", b""), "idle ones")
        try:
            p.connect(1).close()
            t.fail("a new connection was taken")
        except ConnectionRefusedError:
            pass
        found = rest(busy)
        t.equal(answers(found), [(200, b"later\n")])
        t.has(found, b"Connection: close")
        t.true(rest(stream).endswith(b"data: 1\n\n\r\n0\r\n\r\n"), "the stream was cut")


def test_close_from_within_a_request_tells_everybody(t):
    with Probe(t) as p:
        held = [p.connect() for _ in range(5)]
        for path, s in zip((b"/never", b"/stream?count=0", b"/later?ms=9999", b"/flood", b"/big?bytes=9000000"), held):
            s.sendall(b"GET %s HTTP/1.1\r\n%s\r\n" % (path, HEAD))
        p.event("held"), p.event("held")
        time.sleep(0.1)
        t.equal(p.talk(b"GET /close HTTP/1.1\r\n%s\r\n" % HEAD), b"")
        gone = sorted(p.event("gone")["path"] for _ in range(5))
        t.equal(gone, ["/close", "/flood", "/later", "/never", "/stream"])
        p.event("closed")
        for s in held:
            s.close()


# --- where it listens

def fails(t, *options):
    done = subprocess.run([tool(t), *options], capture_output=True, text=True, env=t.env, timeout=20)
    t.equal(done.returncode, 1, "status (%s)" % done.stderr)
    return done.stderr


def test_errors_of_listening_say_what_to_do(t):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        port = s.getsockname()[1]
        t.has(fails(t, "--port", str(port)), "127.0.0.1:%d is in use" % port)
        t.has(fails(t, "--port", str(port)), "--port")
    t.matches(fails(t, "--host", "no.such.host.invalid"), "no host 'no.such.host.invalid'")
    t.matches(fails(t, "--host", "192.0.2.1"), "no address of this machine")
    t.matches(fails(t, "--tls_cert", "/no/cert.pem", "--tls_key", "/no/key.pem"), "TLS: .*/no/cert.pem")


def test_it_listens_on_ipv6(t):
    try:
        socket.socket(socket.AF_INET6).bind(("::1", 0))
    except OSError:
        t.skip("there is no IPv6 here")
    with Probe(t, "host", "::1") as p:
        c = http.client.HTTPConnection("::1", p.port, timeout=5)
        c.request("GET", "/echo")
        e = json.loads(c.getresponse().read())
        t.equal((e["peer"], e["loopback"]), ("::1", True))
        c.close()


# --- TLS

def certificate(t, name="tls"):
    d = os.path.join(t.dir, name)
    os.makedirs(d)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", d + "/key.pem", "-out", d + "/cert.pem", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    return d


def test_over_tls_everything_is_the_same(t):
    with Probe(t, "body_bytes", 100000, "unsent_bytes", 300000, tls=certificate(t)) as p:
        r, body = p.get("/echo?q=1")
        t.equal((r.status, json.loads(body)["tls"]), (200, True))
        t.equal(p.get("/later?ms=50")[1], b"later\n")
        t.equal(len(p.get("/big?bytes=3000000")[1]), 3000000)
        t.equal(p.get("/body", "POST", b"x" * 90000)[1], b"x" * 90000)
        t.equal(p.get("/body", "POST", b"x" * 110000)[0].status, 413)
        t.equal(p.get("/body", "POST", iter([b"x" * 60000] * 3), {"Transfer-Encoding": "chunked"}, True)[0].status, 413)
        t.equal(p.get("/stream?count=3&ms=5")[1], b"data: 3\n\ndata: 2\n\ndata: 1\n\n")
        p.event("held")
        for path in (b"/never", b"/stream?count=0"):
            s = p.connect()
            s.sendall(b"GET %s HTTP/1.1\r\n%s\r\n" % (path, HEAD))
            p.event("held")
            s.close()
            p.event("gone", 3)
        s = p.connect()
        s.sendall(b"GET /flood HTTP/1.1\r\n%s\r\n" % HEAD)
        p.event("gone", 20)
        s.close()
        c = http.client.HTTPSConnection("localhost", p.port, timeout=9, context=ssl.create_default_context(cafile=p.tls + "/cert.pem"))
        for i in range(20):
            c.request("POST", "/body", b"%d" % i)
            t.equal(c.getresponse().read(), b"%d" % i)
        c.close()
        t.true(until_true(lambda: p.state()["connections"] == 1), "left: %r" % p.state())


def test_over_tls_the_slow_and_the_wrong_are_cut(t):
    with Probe(t, "request_ms", 400, "idle_ms", 800, tls=certificate(t)) as p:
        with p.connect(raw=True) as s:  # plain HTTP
            s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            t.lacks(rest(s), b"HTTP/1.1 200")
        with p.connect(raw=True) as s:  # no handshake
            started = time.monotonic()
            rest(s)
            t.true(time.monotonic() - started < 2.5, "nothing at all")
        with p.connect(raw=True) as s:  # half of one
            s.sendall(b"\x16\x03\x01\x02\x00\x01")
            rest(s)
        with p.connect() as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost:")
            rest(s)
        old = ssl.create_default_context(cafile=p.tls + "/cert.pem")
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        try:
            old.wrap_socket(p.connect(raw=True), server_hostname="localhost")
            t.fail("TLS 1.1 was accepted")
        except (ssl.SSLError, OSError):
            pass
        t.equal(p.get("/echo")[0].status, 200)


def test_errors_of_tls_files_say_which(t):
    one, other = certificate(t, "one"), certificate(t, "other")
    empty = t.file("empty.pem", "nothing\n")
    t.matches(fails(t, "--tls_cert", one + "/cert.pem", "--tls_key", other + "/key.pem"), "other/key.pem is not the key of the certificate .*one/cert.pem")
    t.matches(fails(t, "--tls_cert", empty, "--tls_key", other + "/key.pem"), "empty.pem: there is no certificate")
    t.matches(fails(t, "--tls_cert", one + "/cert.pem", "--tls_key", empty), "empty.pem: there is no private key")
    t.matches(fails(t, "--tls_cert", one + "/cert.pem"), "both")
    t.matches(fails(t, "--tls_cert", one + "/cert.pem", "--tls_key", "/no/key.pem"), "/no/key.pem")

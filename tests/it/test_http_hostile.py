"""The HTTP server of src/http, through tools/http_probe: those who ask badly, slowly, or too often."""

import http.client
import random
import resource
import socket
import time

from harness import table
from httpd import HEAD, Probe, certificate, first_status, rest, until, until_true

DRIVES_TOOLS = True  # of the test build; the program itself is not in it


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
    ("chunks in HTTP/1.0", b"POST /body HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
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
    with Probe(t, "request_ms", 9000) as p:
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
    with Probe(t, "request_ms", 400, "idle_ms", 120000) as p:
        for data in (b"GET /later HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 1000,
                     b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n" + b"a" * 900,
                     b"GET /" + b"a" * 1000):
            started, found = time.monotonic(), b""
            with p.connect() as s:
                # The first half at once, then a byte now and then.
                s.sendall(data[:30])
                s.setblocking(False)
                for i in range(30, 900):
                    try:
                        s.send(data[i:i + 1])
                        found = s.recv(1000)
                        break
                    except BlockingIOError:
                        time.sleep(0.03)
                    except ConnectionError:
                        break
                took = time.monotonic() - started
                t.true(0.3 < took < 60, "cut off after %.2f s" % took)
                t.equal(first_status(found), 408)
        # Also on a connection that was used before.
        with p.connect() as s:
            s.sendall(b"GET /echo HTTP/1.1\r\n%s\r\n" % HEAD)
            until(s, b"}")
            time.sleep(0.2)
            started = time.monotonic()
            s.sendall(b"GET")
            t.equal(first_status(rest(s)), 408)
            t.true(time.monotonic() - started < 60, "a used connection may take longer")


def test_an_idle_connection_is_closed(t):
    with Probe(t, "request_ms", 400, "idle_ms", 700) as p:
        for data in (b"", b"GET /echo HTTP/1.1\r\n%s\r\n" % HEAD):
            started = time.monotonic()
            with p.connect() as s:
                if data:
                    s.sendall(data)
                    until(s, b"}")
                t.equal(rest(s), b"", "what came")
                took = time.monotonic() - started
                t.true(0.6 < took < 10, "closed after %.2f s" % took)
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
        held = [p.connect(60) for _ in range(40)]
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
    with Probe(t, "max_connections", 10100, "request_ms", 600000, "idle_ms", 600000) as p:
        p.get("/echo")
        before, fds = p.rss(), p.fds()
        held = []
        try:
            for i in range(count):
                s = p.connect(60)
                held.append(s)
                if i % 10 == 0:  # some have been served
                    s.sendall(b"GET /echo HTTP/1.1\r\n%s\r\n" % HEAD)
                    until(s, b"}")
            t.equal(p.state()["connections"], count + 1)
            each = (p.rss() - before) / count
            t.log.append("%.0f bytes of memory per idle connection (of the sanitized build)" % each)
            t.true(each < 60000, "%.0f bytes of memory per idle connection" % each)
            took = []
            while len(took) < 10 and (not took or took[-1] >= 5):  # the machine may be busy
                started = time.monotonic()
                for _ in range(100):
                    p.get("/echo")
                took.append(time.monotonic() - started)
            t.true(took[-1] < 5, "100 requests beside them took %r s" % took)
        finally:
            for s in held:
                s.close()
        t.true(until_true(lambda: p.state()["connections"] == 1, 60), "they are still there")
        t.true(until_true(lambda: p.fds() <= fds, 60), "%d descriptors, before: %d" % (p.fds(), fds))


@table([("plain", False), ("TLS", True)])
def test_rubbish_and_sudden_death_leave_nothing_behind(t, name, tls):
    chance = random.Random(7)
    good = [b"GET /later?ms=3 HTTP/1.1\r\n%s\r\n" % HEAD, b"POST /body HTTP/1.1\r\n%sContent-Length: 20\r\n\r\n%s" % (HEAD, b"x" * 20),
            b"PUT /body HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n" % HEAD,
            b"GET /stream?count=5&ms=1 HTTP/1.1\r\n%s\r\n" % HEAD, b"GET /stream?count=0 HTTP/1.1\r\n%s\r\n" % HEAD,
            b"GET /never HTTP/1.1\r\n%s\r\n" % HEAD, b"GET /big?bytes=500000 HTTP/1.1\r\n%s\r\n" % HEAD,
            b"GET /big?bytes=500000 HTTP/1.1\r\n%sAccept-Encoding: gzip\r\n\r\n" % HEAD, b"GET /flood HTTP/1.1\r\n%s\r\n" % HEAD]
    # The soak of the doors looks for leaks without TLS.
    leaks = "detect_leaks=%d" % tls
    with Probe(t, "request_ms", 500, "idle_ms", 500, "unsent_bytes", 200000, env={"ASAN_OPTIONS": leaks},
               tls=certificate(t) if tls else None) as p:
        def state():
            """What is left; nothing if a busy machine takes longer to ask than a request may."""
            try:
                return p.state()
            except (OSError, http.client.HTTPException):
                return {}

        until_true(state)
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
            s = None
            try:
                s = p.connect(raw=n % 3 == 0)
                s.sendall(data)
                if chance.random() < 0.3:
                    s.recv(100) if s.settimeout(0.05) is None else None
                if chance.random() < 0.3:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                if chance.random() < 0.2:
                    s.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            return s or socket.socket()

        held = []
        for n in range(600):
            held.append(one(n))
            if len(held) > 40:
                held.pop(chance.randrange(len(held))).close()
        for s in held:
            s.close()
        t.true(until_true(lambda: (lambda s: (s.get("connections"), s.get("held")) == (1, 0))(state()), 60), "left: %r" % state())
        t.true(until_true(lambda: p.fds() <= fds, 60), "%d descriptors, before: %d" % (p.fds(), fds))
        # What is under way when the server closes is cut, and its owners hear it.
        s, other = one(3), None
        while other is None:
            try:
                other = p.connect()
            except OSError:
                pass  # a busy machine took longer to greet it than a request may
        with other:
            other.sendall(good[5])
            time.sleep(0.1)
            p.stop()
            p.process.wait(240)  # it also looks for leaks
        s.close()

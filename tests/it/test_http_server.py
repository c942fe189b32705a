"""The HTTP server of src/http, through tools/http_probe: how it serves those who ask well, and how it ends."""

import gzip
import http.client
import json
import socket
import ssl
import subprocess
import time

from harness import table
from httpd import HEAD, Probe, answers, certificate, first_status, rest, tool, until, until_true

DRIVES_TOOLS = True  # of the test build; the program itself is not in it


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
        c = http.client.HTTPConnection("127.0.0.1", p.port, timeout=60)
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
    with Probe(t, "idle_ms", 1500, "request_ms", 1500) as p:
        with p.connect() as s:
            started = time.monotonic()
            s.sendall(b"GET /stream?count=3&ms=650 HTTP/1.1\r\n%s\r\n" % HEAD)
            for n in (b"data: 3", b"data: 2", b"data: 1", b"0\r\n\r\n"):
                until(s, n)
            t.true(time.monotonic() - started > 1.8, "it came too early")  # and longer than both limits
            s.sendall(b"GET /later?ms=1 HTTP/1.1\r\n%s\r\n" % HEAD)  # the connection is still good
            until(s, b"later")
        p.event("held")
        # A silent one stays, for longer than an idle connection.
        with p.connect() as s:
            s.sendall(b"GET /stream?count=0&now=1 HTTP/1.1\r\n%s\r\n" % HEAD)
            t.has(until(s, b": now"), b"text/event-stream")  # though nothing ever follows
            p.event("held")
            p.quiet(1.8)
        p.event("gone")


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
                p.event("gone")
                # Not when it would be idle for too long.
                t.true(time.monotonic() - started < 8, "%s %s took %.1f s" % (path, how, time.monotonic() - started))
        t.true(until_true(lambda: (p.state()["held"], p.state()["connections"]) == (0, 1)), "left: %r" % p.state())


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
        p.event("gone")


def test_curl_that_is_stopped_is_gone(t):
    with Probe(t) as p:
        curl = subprocess.Popen(["curl", "-s", "http://127.0.0.1:%d/never" % p.port])
        p.event("held")
        curl.terminate()
        curl.wait()
        p.event("gone")
        done = subprocess.run(["curl", "-s", "-m", "60", "http://127.0.0.1:%d/later?ms=100" % p.port], capture_output=True)
        t.equal(done.stdout, b"later\n")


def test_a_stream_that_nobody_reads_is_cut(t):
    with Probe(t, "unsent_bytes", 300000) as p:
        s = p.connect()
        s.sendall(b"GET /flood HTTP/1.1\r\n%s\r\n" % HEAD)
        p.event("gone", 60)
        t.true(until_true(lambda: p.state()["connections"] == 1), "the connection is still there")
        s.close()


def test_an_answer_that_nobody_takes_is_cut(t):
    with Probe(t, "idle_ms", 400) as p:
        s = p.connect()
        s.sendall(b"GET /big?bytes=20000000 HTTP/1.1\r\n%s\r\n" % HEAD)
        taken = len(until(s, b"\r\n\r\n"))
        t.true(until_true(lambda: p.state()["connections"] == 1), "it is still there")
        t.true(taken + len(rest(s)) < 20000000, "all of it came")
        s.close()


# --- the end

def test_drain_lets_what_is_under_way_finish(t):
    with Probe(t) as p:
        idle = p.connect()
        idle.sendall(b"GET /echo HTTP/1.1\r\n%s\r\n" % HEAD)
        until(idle, b"}")
        fresh = p.connect()
        busy = p.connect()
        busy.sendall(b"GET /later?ms=3000 HTTP/1.1\r\n%s\r\n" % HEAD)
        stream = p.connect()
        stream.sendall(b"GET /stream?count=4&ms=700 HTTP/1.1\r\n%s\r\n" % HEAD)
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
        # What others watch under the number of a descriptor that was ours is still watched when we close.
        p.event("held")
        p.stop()
        p.event("closed"), p.event("heard")


def test_close_from_within_a_request_tells_everybody(t):
    with Probe(t) as p:
        held = [p.connect() for _ in range(5)]
        for path, s in zip((b"/never", b"/stream?count=0", b"/later?ms=9999", b"/flood", b"/big?bytes=9000000"), held):
            s.sendall(b"GET %s HTTP/1.1\r\n%s\r\n" % (path, HEAD))
        p.event("held"), p.event("held")
        t.true(until_true(lambda: p.state()["held"] >= 3), "it holds %r" % p.state())
        t.equal(p.talk(b"GET /close HTTP/1.1\r\n%s\r\n" % HEAD), b"")
        gone = sorted(p.event("gone")["path"] for _ in range(5))
        t.equal(gone, ["/close", "/flood", "/later", "/never", "/stream"])
        p.event("closed")
        p.stopped = True
        for s in held:
            s.close()


# --- where it listens

def fails(t, *options):
    done = subprocess.run([tool(t), *options], capture_output=True, text=True, env=t.env, timeout=60)
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
        c = http.client.HTTPConnection("::1", p.port, timeout=60)
        c.request("GET", "/echo")
        e = json.loads(c.getresponse().read())
        t.equal((e["peer"], e["loopback"]), ("::1", True))
        c.close()


# --- TLS

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
            p.event("gone")
        s = p.connect()
        s.sendall(b"GET /flood HTTP/1.1\r\n%s\r\n" % HEAD)
        p.event("gone", 60)
        s.close()
        c = http.client.HTTPSConnection("localhost", p.port, timeout=60, context=ssl.create_default_context(cafile=p.tls + "/cert.pem"))
        for i in range(20):
            c.request("POST", "/body", b"%d" % i)
            t.equal(c.getresponse().read(), b"%d" % i)
        c.close()
        t.true(until_true(lambda: p.state()["connections"] == 1), "left: %r" % p.state())


def test_over_tls_the_slow_and_the_wrong_are_cut(t):
    with Probe(t, "request_ms", 1500, "idle_ms", 2500, tls=certificate(t)) as p:
        with p.connect(raw=True) as s:  # plain HTTP
            s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            t.lacks(rest(s), b"HTTP/1.1 200")
        with p.connect(raw=True) as s:  # no handshake
            started = time.monotonic()
            rest(s)
            t.true(time.monotonic() - started < 9, "nothing at all")
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

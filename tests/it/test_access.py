"""Who may use the HTTP doors: tried over real sockets, with what a hostile page, proxy or neighbour would send."""

import http.client
import json
import re
import select
import socket
import struct
import threading
import time

from harness import PATIENCE, table, until
from serving import Daemon, make_key

RUN = b'{"code": "return \'it ran\'"}'
JSON = "Content-Type: application/json"


class Heard:
    def __init__(self, data):
        self.data = data
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        found = re.match(r"HTTP/1\.[01] (\d+)", lines[0])
        self.status = int(found.group(1)) if found else 0
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.headers[name.strip().lower()] = value.strip()


def send(t, d, data, host="127.0.0.1", shut=False):
    """Exactly these bytes; everything that comes back until the peer hangs up."""
    with socket.create_connection((host, d.port), timeout=PATIENCE) as s:
        try:
            s.sendall(data)
            if shut:
                s.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        heard = b""
        try:
            while True:
                more = s.recv(65536)
                if not more:
                    break
                heard += more
        except OSError:
            pass
    t.log.append("-> %r\n<- %r" % (data[:600], heard[:900]))
    return Heard(heard)


def ask(t, d, *headers, method="POST", path="/executions", body=RUN, host="127.0.0.1", named=None):
    """A request with these header lines; `Host` is right unless one of them is another."""
    lines = ["%s %s HTTP/1.1" % (method, path)]
    if not any(h.lower().startswith("host") for h in headers):
        lines.append("Host: %s" % (named or "127.0.0.1:%d" % d.port))
    lines += [*headers, JSON, "Connection: close", "Content-Length: %d" % len(body)]
    return send(t, d, "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body, host)


def await_health(t, d):
    """Workers are made after the start."""
    until(t, "it is healthy", lambda: ask(t, d, method="GET", path="/health", body=b"").status == 200)


def must_run(t, heard):
    t.equal(heard.status, 200, "status")
    t.has(heard.body.decode(), '"result":"it ran"')


def must_refuse(t, heard, *statuses):
    t.true(heard.status in statuses, "status %d, not %s: %r" % (heard.status, statuses, heard.data[:400]))
    t.lacks(heard.data.decode("latin-1"), "it ran")


# Names (DNS rebinding)

OUR_NAMES = ["127.0.0.1:%d", "localhost:%d", "LocalHost:%d", "[::1]:%d", "localhost", "127.0.0.1"]
OTHER_NAMES = ["evil.example", "evil.example:%d", "localhost.evil.example:%d", "127.0.0.1.evil.example",
               "localhost:%d.evil.example", "localhost:%d@evil.example", "evil.example#localhost", "localhost: x",
               "localhost:x", "[::1].evil.example", "[::1]x:%d", "0.0.0.0:%d", "2130706433:%d", "0x7f.1", "127.1:%d", "",
               "127.0.0.1, evil.example", "evil.example localhost", "localhost."]


def test_it_answers_to_its_own_names_only(t):
    with Daemon(t) as d:
        for name in OUR_NAMES:
            must_run(t, ask(t, d, "Host: " + (name % d.port if "%d" in name else name)))
        for name in OTHER_NAMES:
            heard = ask(t, d, "Host: " + (name % d.port if "%d" in name else name))
            must_refuse(t, heard, 400, 403)
        # Not even what is open to everybody, and not MCP either.
        must_refuse(t, ask(t, d, "Host: evil.example", method="GET", path="/health", body=b""), 403)
        must_refuse(t, ask(t, d, "Host: evil.example", path="/mcp"), 403)
        must_refuse(t, ask(t, d, "Host: 127.0.0.1:%d" % d.port, "Host: evil.example"), 400, 403)
        must_refuse(t, ask(t, d, "Host: evil.example", "Host: 127.0.0.1:%d" % d.port), 400, 403)
        must_refuse(t, send(t, d, b"POST /executions HTTP/1.1\r\n%s\r\nContent-Length: %d\r\n\r\n%s" % (
            JSON.encode(), len(RUN), RUN), shut=True), 400, 403)
        must_refuse(t, send(t, d, b"POST /executions HTTP/1.0\r\n%s\r\nContent-Length: %d\r\n\r\n%s" % (
            JSON.encode(), len(RUN), RUN), shut=True), 400, 403)


def test_names_that_are_listed_are_its_own(t):
    with Daemon(t, "--server.allowed_hosts", "tools.example,exact.example:9") as d:
        must_run(t, ask(t, d, "Host: tools.example"))
        must_run(t, ask(t, d, "Host: Tools.Example:443"))
        must_run(t, ask(t, d, "Host: exact.example:9"))
        must_refuse(t, ask(t, d, "Host: exact.example:8"), 403)
        must_refuse(t, ask(t, d, "Host: x.tools.example"), 403)
        # A page of a name that is its own is its own page.
        must_run(t, ask(t, d, "Host: tools.example", "Origin: https://tools.example"))


# Pages

OTHER_PAGES = ["https://evil.example", "null", "", "http://localhost.evil.example", "http://evil.example:%d",
               "http://127.0.0.1:%d.evil.example", "http://127.0.0.1:%d@evil.example", "file://", "chrome-extension://abc",
               "http://127.0.0.1:1", "http://localhost:3000", "http://127.0.0.1", "ftp://127.0.0.1:%d", "127.0.0.1:%d",
               "http://127.0.0.1:%d/", "http://127.0.0.1:%d http://evil.example", "HTTP://evil.example"]


def test_pages_of_others_are_refused(t):
    with Daemon(t) as d:
        must_run(t, ask(t, d, "Origin: http://127.0.0.1:%d" % d.port))
        must_run(t, ask(t, d, "Host: localhost:%d" % d.port, "Origin: http://localhost:%d" % d.port))
        for page in OTHER_PAGES:
            heard = ask(t, d, "Origin: " + (page % d.port if "%d" in page else page))
            must_refuse(t, heard, 403)
            t.true("access-control-allow-origin" not in heard.headers, "CORS for %s" % page)
        must_refuse(t, ask(t, d, "Origin: http://127.0.0.1:%d" % d.port, "Origin: https://evil.example"), 400, 403)
        must_refuse(t, ask(t, d, "Origin: https://evil.example", "Origin: http://127.0.0.1:%d" % d.port), 400, 403)
        must_refuse(t, ask(t, d, "Origin: https://evil.example", path="/mcp"), 403)
        # A key does not make a page welcome.
        key = make_key(t, "alice")
        must_refuse(t, ask(t, d, "Origin: https://evil.example", "Authorization: Bearer " + key), 403)


def preflight(t, d, page):
    return ask(t, d, "Origin: " + page, "Access-Control-Request-Method: POST",
               "Access-Control-Request-Headers: authorization,content-type", method="OPTIONS", body=b"")


def test_a_browser_is_told_what_a_page_may_do(t):
    with Daemon(t, "--server.allowed_origins", "https://app.example") as d:
        heard = preflight(t, d, "https://app.example")
        t.equal(heard.status, 204)
        t.equal(heard.headers["access-control-allow-origin"], "https://app.example")
        t.has(heard.headers["vary"], "Origin")
        t.has(heard.headers["access-control-allow-headers"], "authorization")
        t.true("access-control-allow-credentials" not in heard.headers, "cookies are for nobody")
        refused = preflight(t, d, "https://evil.example")
        t.equal(refused.status, 403)
        t.true("access-control-allow-origin" not in refused.headers, "CORS for a page of others")
        must_run(t, ask(t, d, "Origin: https://app.example"))
        must_refuse(t, ask(t, d, "Origin: https://app.example.evil.example"), 403)
        must_refuse(t, ask(t, d, "Origin: http://app.example"), 403)


def test_a_page_that_nobody_named_needs_a_key(t):
    with Daemon(t, "--server.allowed_origins", "*") as d:
        t.equal(preflight(t, d, "https://evil.example").status, 204)
        must_refuse(t, ask(t, d, "Origin: https://evil.example"), 401)
        must_refuse(t, ask(t, d, "Origin: https://evil.example", path="/mcp"), 401)
        must_run(t, ask(t, d, "Origin: https://evil.example", "Authorization: Bearer " + make_key(t, "alice")))
        must_run(t, ask(t, d, "Origin: http://127.0.0.1:%d" % d.port))


# Keys

def test_a_key_that_is_shown_must_be_good(t):
    key = None
    with Daemon(t) as d:
        key = make_key(t, "alice")
        bad = key[:-1] + ("A" if key[-1] != "A" else "B")
        must_run(t, ask(t, d, "Authorization: Bearer " + key))
        must_run(t, ask(t, d, "authorization: bearer " + key))
        must_run(t, ask(t, d, "X-API-Key: " + key))
        must_run(t, ask(t, d, "X-API-Key: " + key, "Authorization: Bearer " + key))
        for lines in (["Authorization: Bearer " + bad], ["X-API-Key: " + bad], ["Authorization: Bearer x"],
                      ["Authorization: Bearer"], ["Authorization: Bearer "], ["Authorization: " + key],
                      ["Authorization: Basic " + key], ["Authorization:"], ["Authorization: Bearer %s x" % key],
                      ["Authorization: Bearer %s," % key], ["Authorization: Bearer " + key[:20]],
                      ["Authorization: Bearer " + key.upper()], ["Authorization: Bearer " + key + "\x01"],
                      ["Authorization: Bearer " + key, "Authorization: Bearer " + bad],
                      ["Authorization: Bearer " + bad, "Authorization: Bearer " + key],
                      ["X-API-Key: " + bad, "Authorization: Bearer " + key],
                      ["X-API-Key: " + key, "X-API-Key: " + key],
                      ["Authorization: Bearer " + "A" * 5000]):
            must_refuse(t, ask(t, d, *lines), 400, 401, 431)
        heard = ask(t, d, "Authorization: Bearer " + bad, path="/mcp")
        t.equal(heard.status, 401)
        t.has(heard.headers["www-authenticate"].lower(), "bearer")


def test_a_key_is_no_longer_good_when_it_is_revoked(t):
    with Daemon(t) as d:
        key = make_key(t, "alice")
        must_run(t, ask(t, d, "Authorization: Bearer " + key))
        t.status(t.caisson("keys", "revoke", "alice"), 0)
        must_refuse(t, ask(t, d, "Authorization: Bearer " + key), 401)


def test_everybody_is_asked_if_the_person_wants_it(t):
    with Daemon(t, "--server.require_key", "true") as d:
        must_refuse(t, ask(t, d), 401)
        must_refuse(t, ask(t, d, path="/mcp"), 401)
        must_refuse(t, ask(t, d, "X-API-Key:"), 401)
        must_run(t, ask(t, d, "Authorization: Bearer " + make_key(t, "alice")))
        t.equal(ask(t, d, method="GET", path="/health", body=b"").status, 200)


CLOSED = ["/executions", "/mcp", "/sessions", "/tools", "/servers", "/metrics", "/statistics", "/artifacts"]
AROUND = ["/%s", "//%s", "/%s/", "/./%s", "/x/../%s", "/health/../%s", "/health/..%%2f%s", "/health%%2f..%%2f%s",
          "/health;/../%s", "/health%%00/%s", "/%%2e%%2e/%s", "/%s?x=/health", "/%s#/health", "/health?/../%s",
          "http://127.0.0.1/%s", "http://127.0.0.1/health/../%s", "/openapi.json/../%s", "\\%s", "/%s%%20", "/%s;x", "/%s.json"]


def test_no_spelling_of_a_path_gets_around_the_key(t):
    with Daemon(t, "--server.require_key", "true") as d:
        await_health(t, d)
        for name in CLOSED:
            for form in AROUND:
                for word in (name[1:], name[1:].upper(), "%%%02x%s" % (ord(name[1]), name[2:])):
                    path = form % word
                    for method in ("GET", "POST"):
                        heard = ask(t, d, method=method, path=path, body=RUN if method == "POST" else b"")
                        if heard.status == 200:
                            # Of /health itself, then.
                            t.true(path.startswith("/health?"), "%s %s is open" % (method, path))
                            t.equal(json.loads(heard.body)["status"], "ok")
                        else:
                            must_refuse(t, heard, 400, 401, 404, 405)


@table([("method", "X-HTTP-Method-Override: GET"), ("url", "X-Original-URL: /health"), ("rewrite", "X-Rewrite-URL: /health"),
        ("key in a cookie", "Cookie: key=csk_x; api_key=csk_x")])
def test_no_header_gets_around_the_key(t, name, line):
    with Daemon(t, "--server.require_key", "true") as d:
        must_refuse(t, ask(t, d, line), 401)
        must_refuse(t, ask(t, d, line, path="/executions?key=x&api_key=y&access_token=z"), 401)


# Proxies

FORWARDED = ["X-Forwarded-For: 203.0.113.9", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: 127.0.0.1, 203.0.113.9",
             "X-Forwarded-For: 203.0.113.9, 127.0.0.1", "X-Forwarded-For:", "Forwarded: for=127.0.0.1", "Via: 1.1 proxy",
             "X-Real-IP: 127.0.0.1", "X-Forwarded-Host: localhost", "X-Forwarded-Proto: https", "CF-Connecting-IP: ::1",
             "x-forwarded-for: ::1", "True-Client-IP: 127.0.0.1"]


def test_what_came_through_a_proxy_is_not_from_here(t):
    with Daemon(t) as d:
        for line in FORWARDED:
            must_refuse(t, ask(t, d, line), 401)
        key = make_key(t, "alice")
        must_run(t, ask(t, d, "X-Forwarded-For: 203.0.113.9", "Authorization: Bearer " + key))
        t.equal(ask(t, d, "X-Forwarded-For: 203.0.113.9", method="GET", path="/health", body=b"").status, 200)


def test_a_proxy_that_is_trusted_is_believed_only_if_all_it_names_is_here(t):
    with Daemon(t, "--server.trust_proxy", "127.0.0.1") as d:
        must_run(t, ask(t, d, "X-Forwarded-For: 127.0.0.1"))
        must_run(t, ask(t, d, "X-Forwarded-For: ::1, 127.0.0.1"))
        for line in ["X-Forwarded-For: 203.0.113.9", "X-Forwarded-For: 127.0.0.1, 203.0.113.9",
                     "X-Forwarded-For: 203.0.113.9, 127.0.0.1", "X-Forwarded-For: 203.0.113.9,127.0.0.1",
                     "X-Forwarded-For:", "X-Forwarded-For: ,127.0.0.1", "X-Forwarded-For: 127.0.0.1,", "X-Forwarded-For: localhost",
                     "X-Forwarded-For: 127.0.0.1:80", "X-Forwarded-For: 127.1", "X-Forwarded-For: unknown",
                     "X-Forwarded-For: ::ffff:203.0.113.9", "Forwarded: for=127.0.0.1", "X-Real-IP: 127.0.0.1"]:
            must_refuse(t, ask(t, d, line), 401)
        must_refuse(t, ask(t, d, "X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: 203.0.113.9"), 401)
        must_refuse(t, ask(t, d, "X-Forwarded-For: 203.0.113.9", "X-Forwarded-For: 127.0.0.1"), 401)


def other_address():
    """An address of this machine that is not loopback, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("203.0.113.1", 9))  # sends nothing
            found = s.getsockname()[0]
        except OSError:
            return None
    return None if found.startswith("127.") else found


def test_a_caller_from_elsewhere_needs_a_key(t):
    address = other_address()
    if not address:
        t.skip("there is no other address")
    with Daemon(t, "--host", "0.0.0.0", "--server.trust_proxy", address) as d:
        must_run(t, ask(t, d))
        for lines in ([], ["Host: localhost"], ["Host: " + address], ["Host: evil.example"], ["X-Forwarded-For: 127.0.0.1"],
                      ["X-Forwarded-For: " + address]):
            must_refuse(t, ask(t, d, *lines, host=address), 401, 403)
        key = make_key(t, "alice")
        must_run(t, ask(t, d, "Host: whatever.example", "Authorization: Bearer " + key, host=address))
        t.equal(ask(t, d, method="GET", path="/health", body=b"", host=address).status, 200)


# Two requests that look like one

def test_a_request_hides_no_other(t):
    hidden = b"POST /executions HTTP/1.1\r\nHost: 127.0.0.1\r\n" + JSON.encode() + b"\r\nContent-Length: %d\r\n\r\n" % len(RUN) + RUN
    with Daemon(t, "--server.require_key", "true") as d:
        host = b"Host: 127.0.0.1:%d\r\n" % d.port
        for head in (b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
                     b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
                     b"Content-Length: 0\r\nContent-Length: %d\r\n" % len(hidden),
                     b"Transfer-Encoding: xchunked\r\n", b"Transfer-Encoding : chunked\r\n",
                     b"Content-Length: +4\r\n", b"Content-Length: 0x4\r\n", b"X: y\nContent-Length: 0\r\n"):
            heard = send(t, d, b"POST /health HTTP/1.1\r\n" + host + head + b"\r\n0\r\n\r\n" + hidden, shut=True)
            t.lacks(heard.data.decode("latin-1"), "it ran")
            t.true(b"HTTP/1.1 200" not in heard.data, "it was taken: %r" % heard.data[:300])


# Neighbours

def test_tenants_do_not_see_each_other(t):
    with Daemon(t) as d:
        alice = make_key(t, "alice", "--tenant", "a")
        bob = make_key(t, "bob", "--tenant", "b")
        session = d.post("/sessions", {}, key=alice).json()["session_id"]
        t.equal(d.request("PUT", "/sessions/%s/files/note.txt" % session, "mine", key=alice).status, 204)
        ran = d.post("/executions", {"code": "console.log('x'); return 'secret'", "session_id": session}, key=alice).json()
        execution = ran["execution_id"]
        for key in (bob, None):
            for method, path in (("GET", "/executions/" + execution), ("GET", "/executions/%s/trace" % execution),
                                 ("GET", "/executions/%s/logs" % execution), ("DELETE", "/executions/" + execution),
                                 ("GET", "/sessions/" + session), ("GET", "/sessions/%s/files" % session),
                                 ("GET", "/sessions/%s/files/note.txt" % session),
                                 ("PUT", "/sessions/%s/files/note.txt" % session),
                                 ("DELETE", "/sessions/%s/files/note.txt" % session), ("DELETE", "/sessions/" + session)):
                answer = d.request(method, path, "changed" if method == "PUT" else None, key=key)
                t.equal(answer.status, 404, "status of %s %s" % (method, path))
                t.lacks(answer.body.decode(), "secret")
            t.equal(d.post("/executions", {"code": "return 1", "session_id": session}, key=key).status, 404)
            t.lacks(d.get("/executions", key=key).body.decode(), execution)
            t.lacks(d.get("/sessions", key=key).body.decode(), session)
        t.equal(d.get("/sessions/%s/files/note.txt" % session, key=alice).body, b"mine")
        t.equal(d.get("/executions/" + execution, key=alice).json()["result"], "secret")


INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
              "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}


def test_an_mcp_session_belongs_to_whoever_began_it(t):
    with Daemon(t) as d:
        alice = make_key(t, "alice", "--tenant", "a")
        bob = make_key(t, "bob", "--tenant", "b")
        both = {"Accept": "application/json, text/event-stream"}
        began = d.post("/mcp", INITIALIZE, key=alice, headers=both)
        t.equal(began.status, 200)
        theirs = dict(both, **{"Mcp-Session-Id": began.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"})
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        t.equal(d.post("/mcp", ping, key=alice, headers=theirs).status, 200)
        for key in (bob, None):
            t.equal(d.post("/mcp", ping, key=key, headers=theirs).status, 404)
            t.equal(d.get("/mcp", key=key, headers=dict(theirs, Accept="text/event-stream")).status, 404)
            t.equal(d.request("DELETE", "/mcp", key=key, headers=theirs).status, 404)
        t.equal(d.post("/mcp", ping, key=alice, headers=theirs).status, 200)


def test_one_key_that_asks_too_often_does_not_cost_another(t):
    with Daemon(t, "--rate.per_minute", "5") as d:
        alice, bob = make_key(t, "alice"), make_key(t, "bob")
        answers = [d.post("/executions", {"code": "return 1"}, key=alice) for _ in range(8)]
        t.equal([a.status for a in answers], [200] * 5 + [429] * 3, "statuses")
        t.true(int(answers[-1].headers["Retry-After"]) >= 1, "no Retry-After")
        t.equal(d.post("/executions", {"code": "return 1"}, key=bob).status, 200)


def test_a_session_opens_by_its_exact_name_alone(t):
    with Daemon(t) as d:
        session = d.post("/sessions", {}).json()["session_id"]
        both = {"Accept": "application/json, text/event-stream"}
        began = d.post("/mcp", INITIALIZE, headers=both)
        ours = dict(both, **{"Mcp-Session-Id": began.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"})
        for name, runs in ((session, True), (session + "\0", False), (session + "\0x", False), (session + " ", False),
                           (" " + session, False), (session.upper(), False), ("../" + session, False), (session[:-1], False),
                           (session + "/", False), (session + "\n", False)):
            answer = d.post("/executions", {"code": "return 'it ran'", "session_id": name})
            t.equal(answer.status == 200, runs, "REST runs in %r" % name)
            answer = d.post("/mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": "execute_code", "arguments": {"code": "return 'it ran'", "session_id": name}}}, headers=ours)
            t.equal("it ran" in answer.body.decode(), runs, "MCP runs in %r" % name)
        for path in (session + "%00", session + "%20", session.upper(), "..%2f" + session, session + "%2f"):
            t.true(d.get("/sessions/" + path).status in (400, 404), "there is a session %s" % path)
            t.true(d.get("/sessions/%s/files" % path).status in (400, 404), "there are files of %s" % path)


def test_strangers_cannot_fill_the_memory(t):
    """Bodies come before a key is looked at."""
    with Daemon(t, "--limits.bodies", "16M") as d:
        head = ("POST /mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer csk_wrong\r\n%s\r\nContent-Length: 12000000\r\n\r\n" % JSON).encode()
        crowd = []

        def pour(s):
            try:
                s.sendall(head + b"x" * 11000000)
            except OSError:
                pass  # it was told to go

        try:
            for _ in range(4):
                crowd.append(socket.create_connection(("127.0.0.1", d.port), timeout=PATIENCE))
                threading.Thread(target=pour, args=(crowd[-1],), daemon=True).start()
            told = until(t, "somebody is told to wait", lambda: select.select(crowd, [], [], 0.1)[0])
            t.has(told[0].recv(4096).decode("latin-1"), "HTTP/1.1 503")
            t.true(len(told) < 4, "even the first was sent away")
            t.equal(ask(t, d, method="GET", path="/health", body=b"").status in (200, 503), True)
        finally:
            for s in crowd:
                s.close()
        until(t, "it recovers", lambda: ask(t, d).status == 200)


class Mcp:
    """A client of the older era, as much of one as these tests need."""

    def __init__(self, d, key):
        self.d, self.key, self.headers, self.number = d, key, {"Accept": "application/json, text/event-stream"}, 1
        began = d.post("/mcp", INITIALIZE, key=key, headers=self.headers)
        self.headers.update({"Mcp-Session-Id": began.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"})
        d.post("/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, key=key, headers=self.headers)

    def ask(self, method, **params):
        self.number += 1
        answer = self.d.post("/mcp", {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params},
                             key=self.key, headers=self.headers)
        return answer.body.decode()

    def call(self, tool, **arguments):
        return self.ask("tools/call", name=tool, arguments=arguments)


def test_nothing_of_an_execution_is_shown_to_another_tenant_over_mcp(t):
    with Daemon(t) as d:
        alice = Mcp(d, make_key(t, "alice", "--tenant", "a"))
        bob = Mcp(d, make_key(t, "bob", "--tenant", "b"))
        said = alice.call("execute_code", code="console.log('a-secret'); return Array.from({length: 9000}, () => 'a-secret')")
        execution = re.search(r"ex_[0-9a-f]{32}", said).group(0)
        artifact = re.search(r"art_[0-9a-f]{32}", d.get("/artifacts", key=alice.key).body.decode()).group(0)
        t.has(alice.call("get_execution", execution_id=execution), "a-secret")
        t.has(alice.ask("resources/read", uri="caisson://executions/%s/result" % execution), "a-secret")
        t.equal(d.get("/artifacts/" + artifact, key=alice.key).status, 200)
        tries = [bob.call("get_execution", execution_id=execution, view=view) for view in ("result", "logs", "calls")]
        tries += [bob.ask("resources/read", uri="caisson://executions/%s%s" % (execution, part)) for part in ("", "/logs", "/result")]
        tries += [bob.ask("resources/list"), bob.ask("tasks/list"), bob.ask("tasks/get", taskId=execution),
                  bob.ask("tasks/result", taskId=execution), bob.ask("tasks/cancel", taskId=execution),
                  bob.ask("resources/subscribe", uri="caisson://executions/%s/result" % execution),
                  bob.ask("completion/complete", ref={"type": "ref/resource", "uri": "caisson://executions/{id}"},
                          argument={"name": "id", "value": "ex_"})]
        for answer in tries:
            t.lacks(answer, "a-secret")
            t.true(execution not in answer or "error" in answer.lower(), "it is known to the other: %s" % answer[:300])
        for key in (bob.key, None):
            t.equal(d.get("/artifacts/" + artifact, key=key).status, 404)
            t.lacks(d.get("/artifacts", key=key).body.decode(), artifact)
            t.equal(d.get("/artifacts?execution_id=" + execution, key=key).json()["artifacts"], [])


def test_a_task_is_its_tenants_alone(t):
    with Daemon(t) as d:
        alice = Mcp(d, make_key(t, "alice", "--tenant", "a"))
        bob = Mcp(d, make_key(t, "bob", "--tenant", "b"))
        said = alice.ask("tools/call", name="execute_code", task={"ttl": 60000},
                         arguments={"code": "await new Promise((f) => setTimeout(f, 1500)); return 'a-secret'"})
        task = json.loads(said)["result"]["task"]["taskId"]
        for answer in (bob.ask("tasks/get", taskId=task), bob.ask("tasks/cancel", taskId=task),
                       bob.ask("tasks/result", taskId=task)):
            t.true("error" in json.loads(answer), "it was answered: %s" % answer[:300])
        t.lacks(bob.ask("tasks/list"), task)
        t.equal(d.request("DELETE", "/executions/" + task, key=bob.key).status, 404)
        t.has(alice.ask("tasks/result", taskId=task), "a-secret")


def test_an_idempotency_key_is_its_tenants_alone(t):
    with Daemon(t) as d:
        alice = make_key(t, "alice", "--tenant", "a")
        bob = make_key(t, "bob", "--tenant", "b")
        again = {"Idempotency-Key": "the-same"}
        first = d.post("/executions", {"code": "return Math.random()"}, key=alice, headers=again)
        second = d.post("/executions", {"code": "return Math.random()"}, key=alice, headers=again)
        t.equal(second.json()["execution_id"], first.json()["execution_id"])
        other = d.post("/executions", {"code": "return Math.random()"}, key=bob, headers=again)
        t.equal(other.status, 200)
        t.true(other.json()["execution_id"] != first.json()["execution_id"], "the other's answer was given")
        t.true("Idempotency-Replayed" not in other.headers, "it was replayed")


def test_a_tenant_that_fills_the_queue_does_not_keep_another_out(t):
    with Daemon(t, "--rate.per_minute", "0", "--rate.per_hour", "0", "--execution.concurrency", "2",
                "--execution.queue", "10") as d:
        mallory = make_key(t, "mallory", "--tenant", "m")
        bob = make_key(t, "bob", "--tenant", "b")
        statuses = []

        def flood():
            try:
                statuses.append(d.post("/executions", {"code": "for (;;);", "timeout_ms": 2000}, key=mallory).status)
            except (OSError, http.client.HTTPException):
                pass

        crowd = [threading.Thread(target=flood, daemon=True) for _ in range(30)]
        for one in crowd:
            one.start()
        until(t, "they are told that the queue is full", lambda: statuses.count(503) >= 10)
        t.equal(d.post("/executions", {"code": "return 'bob is fine'"}, key=bob).json().get("result"), "bob is fine")


def test_connections_that_do_nothing_make_room(t):
    with Daemon(t, "--server.max_connections", "20") as d:
        crowd, refused = [], None
        try:
            while not refused:
                begun = time.monotonic()
                crowd = [socket.create_connection(("127.0.0.1", d.port)) for _ in range(20)]
                heard = ask(t, d)
                if time.monotonic() - begun < 2:  # else the first of them may have made room already
                    t.equal(heard.status, 503)
                    refused = heard
                else:
                    for s in crowd:
                        s.close()
            time.sleep(2.2)
            for _ in range(5):
                must_run(t, ask(t, d))
        finally:
            for s in crowd:
                s.close()


def test_callers_who_hang_up_while_their_session_is_looked_for_cost_nothing(t):
    with Daemon(t, "--rate.per_minute", "0", "--rate.per_hour", "0") as d:
        session = d.post("/sessions", {}).json()["session_id"]
        for i in range(600):
            body = json.dumps({"code": "return 1", "session_id": (session, "ses_" + "0" * 32)[i % 2]}).encode()
            with socket.create_connection(("127.0.0.1", d.port)) as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close is a reset
                s.sendall(b"POST /executions HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\nContent-Length: %d\r\n\r\n%s" % (
                    JSON.encode(), len(body), body))
                time.sleep((0, 0.0001, 0.0003, 0.0006, 0.001)[i % 5])
        answer = d.post("/executions", {"code": "return 'still here'", "session_id": session})
        t.equal(answer.json().get("result"), "still here")

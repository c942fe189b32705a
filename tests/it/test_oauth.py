"""Logins to MCP servers: the flow, its refusals, and what becomes of tokens. The test is the browser."""

import base64
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from harness import table
from test_http import Server, call, probe, probe_path, said

HERE = os.path.dirname(os.path.abspath(__file__))

DRIVES_TOOLS = True  # of the test build; the program itself is not in it


def oauth(t, *options):
    return Server(t, sys.executable, os.path.join(HERE, "servers/oauth_http.py"), *options)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def get(url):
    """(status, text, Location)"""
    try:
        with urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({})).open(url, timeout=60) as answer:
            return answer.status, answer.read().decode(), None
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode(), e.headers.get("Location")


def post(url):
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, data=b"", timeout=60).read()


def login(t, url, visit=None):
    """The error of a login (None: it worked). `visit` is given the address to go back to; otherwise we just go."""
    p = subprocess.Popen([probe_path(t), "--oauth", t.dir, "login", "--", url], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, env=t.env)
    error = "nothing was said"
    for line in p.stdout:
        t.log.append(line)
        event = json.loads(line)
        if event["event"] == "open":
            status, _, back = get(event["url"])
            t.equal(status, 302, "status of the authorization endpoint")
            (visit or get)(back)
        elif event["event"] == "login":
            error = event["error"]
    t.log.append(p.stderr.read())
    t.equal(p.wait(), 0, "status of mcp_probe")
    return error


def stored(t):
    with open(os.path.join(t.dir, "oauth.json")) as f:
        return json.load(f)["grants"]


def edit(t, **fields):
    path = os.path.join(t.dir, "oauth.json")
    with open(path) as f:
        value = json.load(f)
    value["grants"][0].update(fields)
    with open(path, "w") as f:
        json.dump(value, f)


def tokens_asked(server, grant):
    return [r for r in server.requests() if r["what"] == "token" and r["form"]["grant_type"] == grant]


@table([("public",), ("secret",)])
def test_a_login_brings_tokens_that_later_runs_use(t, kind):
    with oauth(t, *(["--secret"] if kind == "secret" else [])) as server:
        t.equal(login(t, server.url), None)
        seen = server.requests()
        t.equal([r["what"] for r in seen], ["register", "authorize", "token"])
        t.equal(seen[0]["value"]["application_type"], "native")
        query = seen[1]["query"]
        t.equal(query["code_challenge_method"], "S256")
        t.equal(query["resource"], server.url)
        t.true(len(query["state"]) >= 32, "a long state")
        if kind == "secret":
            basic = base64.b64decode(seen[2]["authorization"].split()[1]).decode()
            t.equal(urllib.parse.unquote(basic.split(":")[1]), "a secret: with+signs")
        else:
            t.equal(seen[2]["form"]["client_id"], query["client_id"])
        t.equal(os.stat(os.path.join(t.dir, "oauth.json")).st_mode & 0o7777, 0o600)
        t.equal(said(call(t, server.url, "fine", "--oauth", t.dir)), "token-1")


def test_a_second_login_does_not_register_again(t):
    with oauth(t) as server:
        t.equal(login(t, server.url), None)
        t.equal(login(t, server.url), None)
        t.equal([r["what"] for r in server.requests()],
                ["register", "authorize", "token", "authorize", "token"])
        t.equal(len(stored(t)), 1)


def test_an_answer_without_our_state_is_not_taken(t):
    with oauth(t) as server:
        pages = []

        def visit(back):
            url = urllib.parse.urlsplit(back)
            base = "http://" + url.netloc
            query = dict(urllib.parse.parse_qsl(url.query))
            for path in (url.path + "?" + urllib.parse.urlencode(dict(query, state="guessed", code="stolen")),
                         url.path + "?code=stolen", url.path, "/", "/favicon.ico"):
                pages.append(get(base + path)[0])
            pages.append(get(back))
        t.equal(login(t, server.url, visit), None)
        t.equal(pages[:5], [400, 400, 400, 404, 404])
        t.equal(pages[5][0], 200)
        t.has(pages[5][1], "close this window")
        t.lacks(pages[5][1], "the-code")
        t.equal([r["form"]["code"] for r in tokens_asked(server, "authorization_code")], ["the-code"])


def test_an_answer_of_another_issuer_is_refused(t):
    with oauth(t) as server:
        error = login(t, server.url, lambda back: get(back.replace("iss=http", "iss=https")))
        t.matches(error, "another issuer")
        t.equal(tokens_asked(server, "authorization_code"), [])
        error = login(t, server.url, lambda back: get(back[:back.index("&iss=")] + back[back.index("&code"):]))
        t.matches(error, "promises")
        t.equal(tokens_asked(server, "authorization_code"), [])


@table([
    ("--deny", "refused: access_denied: not today"),
    ("--no-pkce", "PKCE.*not safe"),
    ("--no-registration", "register Caisson there.*redirect http://127.0.0.1:.*client_id"),
])
def test_a_login_that_cannot_be_says_why(t, option, why):
    with oauth(t, option) as server:
        t.matches(login(t, server.url), why)
        t.equal(tokens_asked(server, "authorization_code"), [])


def test_a_refused_token_is_refreshed_once_for_all_calls(t):
    with oauth(t) as server:
        t.equal(login(t, server.url), None)
        post(server.url.replace("/mcp", "/revoke-access"))
        edit(t, obtained_at=int(time.time()) - 1000)
        server.requests()
        events = probe(t, server.url, "--oauth", t.dir, "connect", "par", "10", "fine", "{}")
        t.equal({said(d) for d in events["done"]}, {"token-2"})
        t.equal([r["form"]["refresh_token"] for r in tokens_asked(server, "refresh_token")], ["refresh-1"])
        t.equal(stored(t)[0]["refresh_token"], "refresh-2", "the new one is kept")


def test_a_token_is_refreshed_before_it_ends(t):
    with oauth(t) as server:
        t.equal(login(t, server.url), None)
        now = int(time.time())
        edit(t, obtained_at=now - 3570, expires_at=now + 30)
        server.requests()
        events = probe(t, server.url, "--oauth", t.dir, "connect", *["sleep", "500", "call", "fine", "{}"] * 4)
        t.equal(said(events["done"][-1]), "token-2")
        t.equal(len(tokens_asked(server, "refresh_token")), 1, "it was refreshed without being refused, once")


def test_a_token_that_lives_shortly_is_used_before_it_is_refreshed(t):
    with oauth(t, "--expires", "3000") as server:
        t.equal(login(t, server.url), None)
        now = int(time.time())
        edit(t, obtained_at=now, expires_at=now + 50)
        server.requests()
        t.equal(said(call(t, server.url, "fine", "--oauth", t.dir)), "token-1")
        t.equal(tokens_asked(server, "refresh_token"), [], "tokens asked for")
        edit(t, obtained_at=now - 40, expires_at=now + 10)
        events = probe(t, server.url, "--oauth", t.dir, "connect", *["sleep", "500", "call", "fine", "{}"] * 4)
        t.equal(said(events["done"][-1]), "token-2", "in the last quarter")


def test_when_nothing_helps_a_person_must_log_in(t):
    with oauth(t) as server:
        t.equal(login(t, server.url), None)
        post(server.url.replace("/mcp", "/revoke-all"))
        edit(t, obtained_at=int(time.time()) - 1000)
        events = probe(t, server.url, "--oauth", t.dir, "connect", "info")
        t.equal(events["info"][0]["state"], "login")
        t.matches(events["info"][0]["error"], "caisson login probed")
        t.equal(stored(t)[0].get("refresh_token"), None, "a refresh token that is refused is dropped")
        t.equal(login(t, server.url), None)
        t.equal(said(call(t, server.url, "fine", "--oauth", t.dir)), "token-2")


def test_a_logout_forgets(t):
    with oauth(t) as server:
        t.equal(login(t, server.url), None)
        events = probe(t, server.url, "--oauth", t.dir, "logout", "logout", "connect", "info")
        t.equal(events["logout"][0]["error"], None)
        t.matches(events["logout"][1]["error"], "no login to")
        t.equal(events["info"][0]["state"], "login")
        t.equal(stored(t), [])

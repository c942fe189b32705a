"""Requests that mean nothing, or almost something, at both HTTP doors at once; callers who hang up in the middle.

What is made up depends on NONSENSE_SEED (1), for how long on NONSENSE_SECONDS (6): the daemon must stand, and never
blame itself (500).
"""

import concurrent.futures
import http.client
import json
import os
import random
import re
import sys
import time

from serving import Daemon

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURE = os.path.join(os.path.dirname(HERE), "escape", "fixture.py")

TEXTS = ["", "a", "x" * 300, "ex_" + "0" * 32, "ses_" + "0" * 32, "new", "result", "logs", "\0", "é\u202e", "../..", "%s%n",
         "caisson://executions/x", "caisson://tools/README.md", "caisson://tools/fixture/echo.ts", "2025-11-25", "2026-07-28",
         "fixture", "echo", "-1", "9" * 400, "ref/prompt", "ref/resource", "typescript", "return 1", "debug"]
NUMBERS = [0, 1, -1, 1.5, 1e308, 2**53, 2**63, -2**63, 60000, 300000]
KEYS = """code language inputs session_id timeout_ms intent execution_id view offset limit wait_ms query server detail tool
arguments uri cursor name taskId task ttl _meta progressToken requestId reason ref argument value type level protocolVersion
capabilities clientInfo inputResponses requestState elicitation sampling roots async on_busy limits notifications""".split()
METHODS = """initialize ping tools/list tools/call resources/list resources/read resources/templates/list resources/subscribe
resources/unsubscribe prompts/list prompts/get completion/complete logging/setLevel tasks/get tasks/list tasks/result
tasks/cancel tasks/update server/discover subscriptions/listen notifications/cancelled notifications/initialized
notifications/progress notifications/roots/list_changed x/y""".split()
NAMES = ["execute_code", "search_tools", "call_tool", "get_execution", "none"]
CODES = ["return 1", "return await tools.fixture.echo({a: 1})", "throw 1", "console.log(1)", "for (;;);",
         "return 'x'.repeat(90000)", "caisson.progress(1, 2)", "for (;;) await tools.fixture.echo({})"]
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
          "io.modelcontextprotocol/clientCapabilities": {}}
PATHS = ["/executions", "/executions/%s", "/executions/%s/trace", "/executions/%s/logs", "/executions/%s/replay", "/servers",
         "/tools", "/tools/search", "/tools/fixture/echo", "/sessions", "/sessions/%s", "/sessions/%s/files",
         "/sessions/%s/files/a/b", "/artifacts", "/artifacts/%s", "/statistics", "/metrics", "/health", "/", "/openapi.json"]


class Talker:
    def __init__(self, d, seed):
        self.d, self.r = d, random.Random(seed)
        self.ids, self.sessions, self.asked, self.ours = ["x"], [], 0, []

    def chance(self, p):
        return self.r.random() < p

    def value(self, depth=0):
        r = self.r.random()
        if r < 0.3:
            return self.r.choice(TEXTS + self.ids[-5:])
        if r < 0.55:
            return self.r.choice([*NUMBERS, True, False, None])
        if depth > 3:
            return {}
        if r < 0.7:
            return [self.value(depth + 1) for _ in range(self.r.randint(0, 4))]
        return self.members(5, depth + 1)

    def members(self, most, depth=0):
        return {self.r.choice(KEYS): self.value(depth) for _ in range(self.r.randint(0, most))}

    def params(self):
        p = self.members(5)
        if self.chance(0.7):
            p["name"] = self.r.choice(NAMES)
        if self.chance(0.6):
            p["arguments"] = self.members(4)
            if self.chance(0.6):
                p["arguments"].update(code=self.r.choice(CODES), timeout_ms=self.r.choice([1, 50, 200]))
        if self.chance(0.3):
            p["uri"] = "caisson://executions/%s%s" % (self.r.choice(self.ids[-3:]), self.r.choice(["", "/logs", "/result", "/x"]))
        if self.chance(0.3):
            p["taskId"] = self.r.choice(self.ids[-5:])
        if self.chance(0.3):
            p["task"] = self.r.choice([{"ttl": 1}, {"ttl": 60000}, {}, [], None, {"ttl": -1}])
        if self.chance(0.3):
            p["_meta"] = dict(MODERN, progressToken=self.r.choice([1, "a", None, []]))
        return p if self.chance(0.95) else self.value()

    def message(self):
        if self.chance(0.1):
            return {"jsonrpc": "2.0", "id": self.r.randint(1, 50), self.r.choice(["result", "error"]): self.value()}
        m = {"jsonrpc": self.r.choice(["2.0"] * 9 + [2]), "method": self.r.choice(METHODS), "params": self.params()}
        if self.chance(0.85):
            m["id"] = self.r.choice([self.r.randint(1, 9999)] * 5 + ["a", "é" * 10, None, 1.5, [], {}])
        return m

    def bent(self, data):
        data = bytearray(data)
        for _ in range(self.r.randint(0, 3) if self.chance(0.2) else 0):
            data[self.r.randrange(len(data))] = self.r.randrange(256)
        return bytes(data)

    def mcp(self):
        headers = {"Accept": self.r.choice(["application/json, text/event-stream"] * 8 + ["text/event-stream", "x"]),
                   "Content-Type": "application/json"}
        if self.sessions and self.chance(0.8):
            headers["Mcp-Session-Id"] = self.r.choice(self.sessions[-10:])
        if self.chance(0.8):
            headers["MCP-Protocol-Version"] = self.r.choice(["2025-11-25", "2025-06-18", "2026-07-28", "x"])
        if self.chance(0.2):
            headers["Last-Event-ID"] = self.r.choice(["", "1", "a-1", "x" * 300])
        method = self.r.choice(["POST"] * 18 + ["GET", "DELETE"])
        body = self.message() if self.chance(0.95) else [self.message(), self.message()]
        return method, "/mcp", self.bent(json.dumps(body).encode()) if method == "POST" else None, headers

    def rest(self):
        path = self.r.choice(PATHS)
        if "%s" in path:
            path %= self.r.choice(self.ids[-5:])
        if self.chance(0.5):
            path += "?" + "&".join("%s=%s" % (self.r.choice(KEYS + ["before", "status", "q"]), self.r.choice(
                ["1", "-1", "99999999999", "a", "%00", "", "ex_1", "running", "full"])) for _ in range(3))
        headers = {"Content-Type": "application/json"}
        if self.chance(0.2):
            headers["Idempotency-Key"] = self.r.choice("ab")
        if self.chance(0.1):
            headers["Range"] = self.r.choice(["bytes=0-1", "bytes=-5", "bytes=9-", "x"])
        body = self.params() if self.chance(0.5) else {
            "code": self.r.choice(CODES), "timeout_ms": 100, "async": self.chance(0.5), "session_id": self.r.choice(self.ids[-9:])}
        method = self.r.choice(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
        return method, path, self.bent(json.dumps(body).encode()) if method in ("POST", "PUT") else None, headers

    def talk(self, _):
        self.asked += 1
        method, path, body, headers = self.mcp() if self.chance(0.6) else self.rest()
        connection = self.d.connect(10)
        try:
            connection.request(method, path, body=body, headers=headers)
            if self.chance(0.15):
                return  # hangs up
            answer = connection.getresponse()
            data = answer.read(200000)
            self.ids += [i.decode() for i in re.findall(rb"(?:ex|ses|art)_[0-9a-f]{32}", data)[:3]]
            if answer.headers.get("Mcp-Session-Id"):
                self.sessions.append(answer.headers["Mcp-Session-Id"])
            if answer.status == 500:
                self.ours.append("%s %s %r: %r" % (method, path, (body or b"")[:300], data[:300]))
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()


def test_nonsense_at_both_doors_leaves_it_standing(t):
    config = t.file("caisson.json", json.dumps({"mcpServers": {"fixture": {
        "command": sys.executable, "args": [FIXTURE, os.path.join(t.dir, "ledger"), os.path.join(t.dir, "calls")]}}}))
    with Daemon(t, "--rate.per_minute", "0", "--rate.per_hour", "0", "--config", config) as d:
        talker = Talker(d, int(os.environ.get("NONSENSE_SEED", "1")))
        end = time.monotonic() + float(os.environ.get("NONSENSE_SECONDS", "6"))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            # A busy machine may take all that time for the first few.
            while (time.monotonic() < end or talker.asked <= 100) and d.process.poll() is None:
                list(pool.map(talker.talk, range(64)))
        t.log.append("%d requests" % talker.asked)
        t.equal(d.process.poll(), None, "its end")
        t.equal(talker.ours[:3], [], "what it blames itself for")
        t.equal(d.run("return 'still here'")["result"], "still here")
        t.true(talker.asked > 100, "hardly anything was asked")

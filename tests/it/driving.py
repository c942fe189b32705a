"""The official clients, driven by a test: tests/it/peers/clients/drive.mjs for any of them, over any transport.

    with Client(t, "modern", "stdio") as c:
        c.tool("execute_code", code="return 1")        # the text of its answer
        c.ask("listResources")                         # the result of any method; an error fails the test
        c.refused("readResource", {"uri": "x"})        # the error of one that must fail
"""

import glob
import json
import os
import queue
import subprocess
import threading
import time

from harness import Failed

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")
KINDS = ["old", "legacy", "modern"]


def node(t):
    found = glob.glob(os.path.join(PEERS, "node_modules/node-linux-*/bin/node"))
    if not found:
        t.skip("tests/it/peers/node_modules is not there: scripts/bootstrap test")
    return found[0]


class Client:
    def __init__(self, t, kind, transport, *where, env=None):
        """`where`: options of `caisson mcp`; or for http the URL, and a key."""
        self.t, self.kind, self.next, self.answers, self.events = t, kind, 0, {}, []
        self.lines = queue.Queue()
        target = [t.binary, "mcp", *where] if transport == "stdio" else list(where)
        self.stderr = os.path.join(t.state, "drive-%d.log" % id(self))
        self.process = subprocess.Popen([node(t), os.path.join(PEERS, "clients", "drive.mjs"), kind, transport, *target], cwd=t.dir,
                                        env=dict(t.env, **(env or {})), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=open(self.stderr, "wb"), text=True)
        threading.Thread(target=self._read, daemon=True).start()
        self.ready = self.event("ready", patience=60)

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _said(self):
        with open(self.stderr, "rb") as f:
            return f.read().decode("utf-8", "replace")

    def _step(self, patience):
        """Takes one line that came. False: none did."""
        try:
            line = self.lines.get(timeout=max(0.001, patience))
        except queue.Empty:
            return False
        if line is None:
            raise Failed("the client ended:\n" + self._said()[-4000:])
        self.t.log.append("%s < %s" % (self.kind, line[:3000].rstrip()))
        said = json.loads(line)
        if "id" in said:
            self.answers[said["id"]] = said
        else:
            self.events.append(said)
        return True

    def _until(self, found, what, patience):
        end = time.monotonic() + patience
        while True:
            value = found()
            if value is not None:
                return value
            if not self._step(end - time.monotonic()) and time.monotonic() > end:
                raise Failed("no %s within %d s; events: %.1500r\n%s" % (what, patience, self.events, self._said()[-2000:]))

    def send(self, what, params=None, **more):
        self.next += 1
        line = json.dumps(dict({"id": self.next, "do": what, "params": {} if params is None else params}, **more))
        self.t.log.append("%s > %s" % (self.kind, line[:3000]))
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.next

    def wait(self, number, patience=60):
        return self._until(lambda: self.answers.pop(number, None), "answer", patience)

    def ask(self, what, params=None, patience=60, **more):
        said = self.wait(self.send(what, params, **more), patience)
        if "error" in said:
            raise Failed("%s: %r\n%s" % (what, said["error"], self._said()[-2000:]))
        return said.get("result")

    def refused(self, what, params=None, **more):
        said = self.wait(self.send(what, params, **more))
        if "error" not in said:
            raise Failed("%s was not refused: %.1000r" % (what, said))
        return said["error"]

    def event(self, name, match=lambda params: True, patience=60):
        """The first event of that name that fits; it is taken."""
        def look():
            for e in self.events:
                if e["event"] == name and match(e["params"]):
                    self.events.remove(e)
                    return e["params"]
            return None
        return self._until(look, "event '%s'" % name, patience)

    def seen(self, name):
        return [e["params"] for e in self.events if e["event"] == name]

    # Tools

    def result(self, tool, arguments, **more):
        result = self.ask("callTool", {"name": tool, "arguments": arguments}, **more)
        if [b["type"] for b in result["content"]] != ["text"] or "structuredContent" in result:
            raise Failed("not one text: %.1000r" % result)
        return result

    def tool(self, name, **arguments):
        result = self.result(name, arguments)
        if result.get("isError"):
            raise Failed("%s failed: %.1500s" % (name, result["content"][0]["text"]))
        return result["content"][0]["text"]

    def wrong(self, name, **arguments):
        result = self.result(name, arguments)
        if not result.get("isError"):
            raise Failed("%s did not fail: %.1500s" % (name, result["content"][0]["text"]))
        return result["content"][0]["text"]

    def execute(self, code, **more):
        return json.loads(self.tool("execute_code", code=code, **more))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.stdin.close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            if kind is None:
                raise Failed("the client did not end")
        self.t.log.append("--- stderr of the client and its server\n" + self._said()[-8000:])
        if kind is None and ("Sanitizer" in self._said() or "runtime error:" in self._said()):
            raise Failed("a sanitizer complained:\n" + self._said()[-4000:])

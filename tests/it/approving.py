"""What the tests of approvals share: a server that writes down what it was sent, a policy that asks, those who may answer."""

import json
import os
import sys
import threading
import time

from harness import PATIENCE, until
from serving import make_key

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDER = os.path.join(HERE, "servers", "recorder.py")
SEND = "return await tools.rec.echo({n: %d})"


def with_policy(t, ask=("rec/echo",), timeout_s=300, **more):
    """A server `rec` whose tool `echo` wants an answer; options for the daemon."""
    entry = {"command": sys.executable, "args": [RECORDER, os.path.join(t.dir, "sent.jsonl")]}
    t.file("caisson.json", json.dumps({"mcpServers": {"rec": entry}}))
    approvals = dict({"timeout_s": timeout_s}, **more.pop("approvals", {}))
    t.file("policy.json", json.dumps(dict({"tools": {"ask": list(ask)}, "approvals": approvals}, **more)))
    return ["--policy", os.path.join(t.dir, "policy.json")]


def sent(t):
    """The arguments that the server has got."""
    path = os.path.join(t.dir, "sent.jsonl")
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [json.loads(line).get("arguments") for line in f]


def keys(t):
    """(of an agent, of somebody who decides)"""
    return make_key(t, "agent"), make_key(t, "boss", role="approve")


class Later:
    """A request whose answer comes later."""

    def __init__(self, what):
        self.value = self.trouble = None
        self.thread = threading.Thread(target=self._run, args=(what,), daemon=True)
        self.thread.start()

    def _run(self, what):
        try:
            self.value = what()
        except Exception as e:  # it is raised by whoever waits for it
            self.trouble = e

    def get(self, patience=PATIENCE):
        self.thread.join(patience)
        if self.trouble:
            raise self.trouble
        if self.thread.is_alive():
            raise AssertionError("no answer within %d s" % patience)
        return self.value

    def waits(self):
        return self.thread.is_alive()


def pending(t, d, key=None, count=1):
    """What is asked now, oldest first."""
    def look():
        found = d.get("/approvals?state=pending", key=key).json()["approvals"]
        if len(found) >= count:
            return found[::-1]
        time.sleep(0.1)
        return None
    return until(t, "a question", look)


def answer(d, approval, word="once", key=None, **more):
    return d.post("/approvals/" + approval["id"], dict({"answer": word}, **more), key=key)

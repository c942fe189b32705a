"""What the tests of the guard share: an office of servers, programs that wait for a person, and the person.

    office(t, policy={...})           writes the configuration
    with Waiting(t, CODE) as w:       `caisson run` that waits, without a terminal
        card = w.card()               what the person would see
        w.answer("approve", "--yes")
        done = w.end()
"""

import json
import os
import subprocess
import sys
import threading
import time

from harness import PATIENCE, Done, Failed, until

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(HERE, "servers", "office.py")

# It makes code out of a text that nobody can have read: HIGH.
RISKY = "const make = new Function('a', 'return a * ' + inputs.by); return make(21)"


# Whoever is to answer has time for it, however busy the machine is.
PATIENT = {"timeout_s": 5 * PATIENCE}


def patient(policy=None):
    """The policy, with as much time for an answer unless it says something else."""
    policy = policy or {}
    return dict(policy, approvals={**PATIENT, **policy.get("approvals", {})})


def office(t, policy=None, roles=("crm", "web", "mail")):
    """Returns what was sent: a list of mails and notes."""
    outbox = os.path.join(t.dir, "outbox")
    t.file("caisson.json", json.dumps({"mcpServers": {
        role: {"command": sys.executable, "args": [SERVER, role, outbox, os.path.join(t.dir, role + ".words")]}
        for role in roles}}))
    t.file("policy.json", json.dumps(patient(policy)))

    def sent():
        if not os.path.exists(outbox):
            return []
        with open(outbox) as f:
            return [json.loads(line) for line in f]
    return sent


def pending(t, *more):
    return t.caisson("approvals", "-o", "json", *more).json()["approvals"]


def asked(t, count=1):
    """Ids of what waits, as soon as there are so many."""
    rows = until(t, "a question to a person", lambda: [r for r in [pending(t)] if len(r) >= count])[0]
    return [row["id"] for row in rows]


def shown(t, approval):
    return t.caisson("approvals", "show", approval, "-o", "json").json()


def entries(t, event):
    """Data of the ledger's entries of an event, oldest first."""
    listed = t.caisson("audit", "list", "--event", event, "-n", "1000", "-o", "json").json()
    rows = listed if isinstance(listed, list) else listed["entries"]
    return [row.get("data") or {} for row in reversed(rows)]


def no_hurry(t, options):
    """Options for a program whose test has no policy of its own."""
    config, beside = (os.path.join(t.dir, name) for name in ("caisson.json", "policy.json"))
    if "--policy" in options or "CAISSON_POLICY" in t.env:
        return ()
    if os.path.exists(config):
        with open(config) as f:
            if os.path.exists(beside) or "policy" in json.load(f):
                return ()
    return "--policy", t.file("patient.json", json.dumps(patient()))


class Waiting:
    def __init__(self, t, code, *options, env=None):
        self.t, self.argv = t, [t.binary, "run", *options, *no_hurry(t, options), "-e", code]
        self.started = time.monotonic()
        self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        cwd=t.dir, env=dict(t.env, **(env or {})))
        self.done = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()
        self.process.wait()

    def asked(self):
        return asked(self.t)[0]

    def card(self):
        return shown(self.t, self.asked())["card"]

    def answer(self, verb, *options):
        approval = self.asked()
        done = self.t.caisson(verb, approval, *options)
        self.t.status(done, 0)
        return approval

    def end(self, patience=PATIENCE):
        try:
            out, err = self.process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            raise Failed("what waits does not end after %d s" % patience)
        done = Done(self.argv, self.process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"),
                    time.monotonic() - self.started)
        self.t.log.append(str(done))
        return done


def at_once(*functions):
    """Runs them together; what each gave."""
    results = [None] * len(functions)

    def run(i):
        results[i] = functions[i]()
    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    return results

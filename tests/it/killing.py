"""`caisson serve` is killed with SIGKILL at random moments under load, and what it left is checked.

    kills = Kills(t, seed=1)
    problems = kills.run(12)

Clients of several kinds work all the time, whoever the daemon is just now:

    plain     programs that call a tool
    session   counters in the state of a session, and durable programs in between
    keyed     requests with an Idempotency-Key, sent again until there is an answer
    durable   programs with calls, timers and parallel calls; each has one call that must not be made twice

A person decides about calls that were sent and not answered: after looking at what the tool server did.
"""

import collections
import glob
import hashlib
import http.client
import json
import os
import random
import signal
import sqlite3
import sys
import threading
import time

from harness import PATIENCE
from serving import Daemon, children_of

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(HERE, "servers", "effects.py")

PLAIN = "const r = await effects.look({ key: inputs.key }); return r.value"
COUNT = "state.n = (state.n ?? 0) + 1; return state.n"
KEYED = "const r = await effects.add({ key: inputs.key, before: 3 }); return r.value"
DURABLE = """
const pause = (ms) => new Promise((r) => setTimeout(r, ms));
const { key } = inputs, out = [], t = Date.now(), dice = Math.random();
out.push((await effects.add({ key: key + ".a", before: 2, after: 3 })).value);
await pause(25);
const [b, c] = await Promise.all([effects.look({ key: key + ".b", before: 4 }), effects.add({ key: key + ".c", after: 8 })]);
out.push(b.value, c.value);
let paid = "yes";
try {
    out.push((await effects.charge({ key, before: 12, after: 18 })).value);
} catch (e) {
    if (!/not known/.test(e.message)) throw e;
    paid = "perhaps";
}
await Promise.race([pause(15), pause(5000)]);
if (typeof state === "object") state.n = (state.n ?? 0) + 1;
console.log("waited", Date.now() - t >= 40);
return { out, paid, dice };
"""

CODES = {hashlib.sha256(code.encode()).hexdigest() for code in (PLAIN, COUNT, KEYED, DURABLE)}


def value(tool, key):
    return hashlib.sha256((tool + key).encode()).hexdigest()[:8]


class Gone(Exception):
    """The daemon died before it answered."""


class Wrong(Exception):
    pass


def must(held, *what):
    if not held:
        raise Wrong(" ".join(str(w)[:600] for w in what))


class Client:
    """Speaks to whichever daemon there is."""

    def __init__(self, kills):
        self.kills, self.http, self.port = kills, None, None

    def ask(self, method, path, body=None, **headers):
        kills = self.kills
        if not kills.up.wait(PATIENCE):
            raise Gone("no daemon for %d s" % PATIENCE)
        port = kills.daemon.port
        try:
            if self.port != port:
                self.close()
                self.http, self.port = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE), port
            send = {k.replace("_", "-"): v for k, v in headers.items()}
            if body is not None:
                send["Content-Type"] = "application/json"
            self.http.request(method, path, json.dumps(body) if body is not None else None, send)
            r = self.http.getresponse()
            data = r.read()
        except (OSError, http.client.HTTPException) as e:
            self.close()
            time.sleep(0.01)
            raise Gone(repr(e))
        try:
            return r.status, json.loads(data) if data else None
        except ValueError:
            raise Wrong("%s %s: %d %r" % (method, path, r.status, data[:300]))

    def close(self):
        if self.http:
            self.http.close()
        self.http = self.port = None

    def insist(self, method, path, body=None, **headers):
        """The answer, however many daemons it takes."""
        while True:
            try:
                return self.ask(method, path, body, **headers)
            except Gone:
                self.kills.count["asked again"] += 1


class Session:
    """A counter: each answer tells how often it was increased."""

    def __init__(self, id):
        self.id, self.least, self.most = id, 0, 0


class Kills:
    def __init__(self, t, seed=1, clients=2, durable=3):
        self.t, self.chance = t, random.Random(seed)
        self.clients, self.at_once = clients, durable
        self.seed = seed
        self.effects_file = os.path.join(t.dir, "effects")
        open(self.effects_file, "w").close()
        t.file("caisson.json", json.dumps({"mcpServers": {
            "effects": {"command": sys.executable, "args": [SERVER, self.effects_file]}}}))
        self.up, self.over = threading.Event(), threading.Event()
        self.daemon = None
        self.lock = threading.Lock()
        self.count = collections.Counter()
        self.problems = []
        self.answers = {}   # of an execution: what a client was told
        self.durable = {}   # key: execution
        self.began = {}     # key: when
        self.sessions = []
        self.figures = None

    # --- the daemon

    def start(self):
        self.daemon = Daemon(self.t, "--rate.per_minute", "0", "--rate.per_hour", "0", "--server.grace", "5s")
        self.up.set()

    def kill(self):
        pid = self.daemon.process.pid
        family = children_of(pid)
        self.up.clear()
        self.daemon.process.send_signal(signal.SIGKILL)
        self.daemon.process.wait()
        self.await_end(family)
        if "Sanitizer" in self.daemon.said() or "runtime error:" in self.daemon.said():
            self.problem("a sanitizer complained: " + self.daemon.said()[-3000:])
        self.t.log.append("--- a daemon that was killed said\n" + self.daemon.said()[-3000:])

    def await_end(self, family):
        end = time.monotonic() + PATIENCE
        while any(alive(p) for p in family):
            if time.monotonic() > end:
                self.problem("processes outlive the daemon by %d s: %s" % (
                    PATIENCE, [command_of(p) for p in family if alive(p)][:3]))
                break
            time.sleep(0.005)

    def problem(self, text):
        with self.lock:
            self.problems.append(text)

    # --- the clients

    def answered(self, envelope):
        id = envelope["execution_id"]
        with self.lock:
            before = self.answers.setdefault(id, envelope)
        must(before == envelope, "two answers of", id, before, envelope)

    def plain(self, c, chance, n):
        key = "plain.%s" % n
        status, e = c.ask("POST", "/executions", {"code": PLAIN, "inputs": {"key": key}})
        must(status == 200 and e["status"] == "completed", "plain:", status, e)
        must(e["result"] == value("look", key), "plain:", e)
        self.answered(e)
        self.count["plain"] += 1

    def session(self, c, chance, n):
        s = chance.choice(self.sessions)
        with self.lock:
            s.most += 1
            least = s.least
        status, e = c.ask("POST", "/executions", {"code": COUNT, "session_id": s.id})
        must(status == 200 and e["status"] == "completed", "session:", status, e)
        with self.lock:
            s.least = max(s.least, e["result"])
            most = s.most
        must(least < e["result"] <= most, "session: counted", e["result"], "not", least + 1, "to", most)
        self.answered(e)
        self.count["session"] += 1

    def keyed(self, c, chance, n):
        key = "keyed.%s" % n
        while True:
            status, e = c.insist("POST", "/executions", {"code": KEYED, "inputs": {"key": key}}, Idempotency_Key=key)
            if status != 409:
                break
            time.sleep(0.05)
        must(status == 200 and e["status"] in ("completed", "cancelled"), "keyed:", status, e)
        if e["status"] == "completed":
            must(e["result"] == value("add", key), "keyed:", e)
        else:
            must(e["error"]["type"] == "internal_error", "keyed:", e)
            self.count["lost"] += 1
        self.answered(e)
        status, again = c.insist("POST", "/executions", {"code": KEYED, "inputs": {"key": key}}, Idempotency_Key=key)
        must(again == e, "keyed: another answer:", e, again)
        self.count["keyed"] += 1

    def durables(self, c, chance, n):
        with self.lock:
            open_ones = sum(1 for key, id in self.durable.items() if id not in self.answers)
        if open_ones >= self.at_once:
            time.sleep(0.02)
            return
        key = "durable.%s" % n
        body = {"code": DURABLE, "inputs": {"key": key}, "durable": True, "async": True}
        s = chance.choice(self.sessions) if chance.random() < 0.3 else None
        if s:
            body["session_id"] = s.id
            with self.lock:
                s.most += 1
        self.began[key] = time.monotonic()
        while True:
            status, e = c.insist("POST", "/executions", body, Idempotency_Key=key)
            if status != 409:
                break
            time.sleep(0.05)
        must(status == 202, "durable:", status, e)
        with self.lock:
            self.durable[key] = e["execution_id"]
        self.count["durable"] += 1

    def decide(self, c, chance, n):
        """Looks after durable ones: those that ended, and those that ask."""
        with self.lock:
            left = [(key, id) for key, id in self.durable.items() if id not in self.answers]
        for key, id in left:
            status, e = c.ask("GET", "/executions/" + id)
            must(status == 200, "durable: it is gone:", key, status, e)
            if e["status"] == "awaiting_approval" and e.get("approval"):
                self.judge(c, key, "/approvals/" + e["approval"]["id"])
            elif e["status"] not in ("running", "awaiting_approval"):
                self.answered(e)
                self.check_durable(key, e)
            elif time.monotonic() - self.began[key] > 3 * PATIENCE:
                self.began[key] = float("inf")
                raise Wrong("durable: no end after %d s: %s" % (3 * PATIENCE, e))
        time.sleep(0.03)

    def judge(self, c, key, path):
        status, question = c.ask("GET", path)
        must(status == 200, "a question:", status, question)
        call = question["card"]["call"]
        must(question["sent_at"] and call["tool"] == "charge" and call["server"] == "effects" and call["arguments"]["key"] == key,
             "an odd question:", question)
        must(question["card"]["answers"] == ["once", "deny"], "an odd question:", question)
        answer = "deny" if self.effects()["charge", key] else "once"
        status, e = c.ask("POST", path, {"answer": answer})
        if status == 200:
            self.count["decided " + answer] += 1
        else:
            must(status == 409, "answer:", status, e)

    def check_durable(self, key, e):
        """A lost one is right only if nobody was promised anything, and nothing was done."""
        must(e["status"] == "completed", "durable:", key, e)
        got = e["result"]
        wanted = [value("add", key + ".a"), value("look", key + ".b"), value("add", key + ".c")]
        if got["paid"] == "yes":
            wanted.append(value("charge", key))
        must(got["out"] == wanted, "durable:", key, got, wanted)
        must([log["text"] for log in e["logs"]] == ["waited true"], "durable:", key, e["logs"])
        must(len(e["calls"]) == 4, "durable:", key, e["calls"])

    def effects(self):
        found = collections.Counter()
        with open(self.effects_file) as f:
            for line in f:
                tool, key, _ = line.split()
                found[tool, key] += 1
        return found

    def work(self, what, number):
        c, chance, n = Client(self), random.Random("%s %s %d" % (self.seed, what.__name__, number)), 0
        while not self.over.is_set():
            n += 1
            try:
                what(c, chance, "%d.%d" % (number, n))
            except Gone:
                self.count["unanswered"] += 1
            except Wrong as e:
                self.problem(str(e))
            except Exception as e:  # a broken answer is a problem like others
                self.problem("%s: %r" % (what.__name__, e))
            if len(self.problems) > 20:
                return
        c.close()

    def begin(self):
        c = Client(self)
        for _ in range(2):
            status, s = c.ask("POST", "/sessions", {})
            must(status == 201, "no session:", status, s)
            self.sessions.append(Session(s["session_id"]))
        roles = [self.plain, self.session, self.keyed, self.durables] * self.clients
        self.workers = [threading.Thread(target=self.work, args=(role, i), daemon=True) for i, role in enumerate(roles)]
        self.workers.append(threading.Thread(target=self.watch, daemon=True))
        self.watching = threading.Event()
        for w in self.workers:
            w.start()

    def watch(self):
        c, chance = Client(self), random.Random(self.seed)
        while not self.watching.is_set():
            try:
                self.decide(c, chance, 0)
            except Gone:
                pass
            except Wrong as e:
                self.problem(str(e))
            except Exception as e:
                self.problem("watch: %r" % e)
        c.close()

    def await_work(self, patience=10):
        """However slow the machine is: somebody gets an answer of this daemon."""
        end, before = time.monotonic() + patience, len(self.answers)
        while len(self.answers) == before and time.monotonic() < end:
            time.sleep(0.01)

    def left_open(self):
        with self.lock:
            return [key for key, id in self.durable.items() if id not in self.answers]

    def run(self, kills, least=0.05, most=1.2):
        self.start()
        try:
            self.begin()
            for _ in range(kills):
                if self.chance.random() < 0.5:
                    self.await_work()
                time.sleep(self.chance.uniform(least, most))
                self.kill()
                self.count["kills"] += 1
                self.start()
                if len(self.problems) > 20:
                    break
            time.sleep(0.3)
            self.over.set()
            for w in self.workers[:-1]:
                w.join(2 * PATIENCE)
                if w.is_alive():
                    self.problem("a client waits for ever")
            end = time.monotonic() + 2 * PATIENCE
            while self.left_open() and time.monotonic() < end and len(self.problems) <= 20:
                time.sleep(0.05)
            self.watching.set()
            self.workers[-1].join(PATIENCE)
            for key in self.left_open():
                self.problem("durable: %s (%s) has not ended" % (key, self.durable[key]))
            if not self.problems:
                self.look_through_the_door()
            family = children_of(self.daemon.process.pid)
            self.daemon.stop()
            self.daemon.wait()
            self.up.clear()
            self.await_end(family)
            self.check_effects()
            self.check_record()
        finally:
            self.over.set()
            self.watching.set()
            if self.daemon.process.poll() is None:
                self.daemon.process.kill()
                self.daemon.process.wait()
            self.t.log.append("--- the last daemon said\n" + self.daemon.said()[-6000:])
        return self.problems

    # --- afterwards

    def look_through_the_door(self):
        c = Client(self)
        for s in self.sessions:
            status, now = c.ask("GET", "/sessions/" + s.id)
            must(status == 200, "session:", status, now)
            n = now["state"].get("n", 0)
            if not s.least <= n <= s.most:
                self.problem("session: %d counted, %d to %d expected" % (n, s.least, s.most))
            if now["executions"] != n:
                self.problem("session: %d executions, and %d counted by themselves" % (now["executions"], n))
        for status in ("running", "awaiting_approval"):
            code, rows = c.ask("GET", "/executions?status=" + status)
            if code != 200 or rows["executions"]:
                self.problem("at the end %s: %s" % (status, rows))
        self.figures = c.insist("GET", "/statistics?window=all")[1]["executions"]
        with self.lock:
            some = list(self.answers.items())
        for id, envelope in self.chance.sample(some, min(len(some), 200)):
            status, now = c.ask("GET", "/executions/" + id)
            if status != 200 or now != envelope:
                self.problem("%s is not what it was: %s %s" % (id, envelope, now))
        durable = sorted(self.durable.values())
        for id in self.chance.sample(durable, min(len(durable), 20)):
            status, again = c.ask("POST", "/executions/%s/replay" % id, {})
            if status != 200 or not again["same"]:
                self.problem("%s is not the same when it is replayed: %d %s" % (id, status, again))

    def check_effects(self):
        effects = self.effects()
        for key, id in self.durable.items():
            if effects["charge", key] != 1:
                self.problem("durable: %s (%s) was charged %d times" % (key, id, effects["charge", key]))
            for part in (".a", ".c"):
                if effects["add", key + part] < 1:
                    self.problem("durable: %s%s was not added" % (key, part))
        self.count["effects twice"] = sum(1 for (tool, _), n in effects.items() if tool == "add" and n > 1)

    def check_record(self):
        path = glob.glob(os.path.join(self.t.env["XDG_DATA_HOME"], "caisson", "*.db"))[0]
        db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        rows = {id: (status, envelope) for id, status, envelope in db.execute("SELECT id, status, envelope FROM executions")}
        stale = [id for id, (status, _) in rows.items() if status in ("running", "awaiting_approval")]
        if stale:
            self.problem("rows that still run: %s" % stale[:5])
        for id, envelope in self.answers.items():
            if id not in rows:
                self.problem("%s was answered and is not on record" % id)
            elif json.loads(rows[id][1]) != envelope:
                self.problem("%s was answered otherwise: %s %s" % (id, rows[id][1], envelope))
        counted = {status: self.figures[status] for status in ("completed", "failed", "denied", "cancelled")} if self.figures else {}
        for status, n in counted.items():
            there = sum(1 for known, _ in rows.values() if known == status)
            if n != there:
                self.problem("figures: %d %s, and %d on record" % (n, status, there))
        events = check_chain(db, self.problem)
        db.close()
        for id, envelope in self.answers.items():
            self.check_entries(id, envelope, events.get(id, []))
        for id, entries in events.items():
            ended = [e for _, e in entries if e["event"] == "execution.settled"]
            if id in rows and len(ended) != 1:
                self.problem("%s has ended %d times in the ledger" % (id, len(ended)))
        self.count["entries"] = sum(len(e) for e in events.values())
        self.count["resumed"] = sum(1 for es in events.values() for _, e in es if e["event"] == "execution.resumed")
        self.count["asked"] = sum(1 for es in events.values() for _, e in es if e["event"] == "approval.asked")
        self.count["lost in all"] = sum(1 for es in events.values() for _, e in es
                                        if e["event"] == "execution.settled" and e["data"].get("lost"))
        verify = self.t.caisson("audit", "verify")
        if verify.status != 0:
            self.problem("caisson audit verify: %s" % verify)

    def check_entries(self, id, envelope, entries):
        names = collections.Counter(e["event"] for _, e in entries)
        if names["execution.admitted"] != 1:
            self.problem("%s: admitted %d times: %s" % (id, names["execution.admitted"], dict(names)))
        last = [(hash, e) for hash, e in entries if e["event"] == "execution.settled"]
        if len(last) != 1:
            self.problem("%s: settled %d times: %s" % (id, len(last), dict(names)))
            return
        hash, entry = last[0]
        provenance = envelope.get("provenance")
        if entry["data"].get("lost"):
            if envelope["status"] != "cancelled":
                self.problem("%s: lost in the ledger, and %s" % (id, envelope))
        elif provenance is None:
            self.problem("%s: no provenance in %s" % (id, envelope))
        else:
            if provenance["chain_hash"] != hash:
                self.problem("%s: chain hash %s in the envelope, %s in the ledger" % (id, provenance["chain_hash"], hash))
            if provenance["code_hash"] not in CODES:
                self.problem("%s: code hash %s" % (id, provenance["code_hash"]))
            if provenance["outputs_hash"] != entry["data"].get("outputs_hash"):
                self.problem("%s: outputs hash %s, in the ledger %s" % (id, provenance["outputs_hash"], entry["data"]))


def check_chain(db, problem):
    """Entries of each execution; whoever does not trust us has code of his own for this."""
    events, before, wanted = collections.defaultdict(list), None, None
    for seq, hash, text in db.execute("SELECT seq, hash, entry FROM ledger ORDER BY seq"):
        hash = hash.hex()
        text = text if isinstance(text, bytes) else text.encode()
        entry = json.loads(text)
        if hashlib.sha256(text).hexdigest() != hash:
            problem("entry %d: its hash is not its text's" % seq)
        if entry["seq"] != seq or wanted not in (None, seq):
            problem("entry %d stands where %s belongs" % (seq, wanted))
        if before and entry["prev"] != before:
            problem("entry %d does not follow the one before" % seq)
        before, wanted = hash, seq + 1
        if entry.get("execution"):
            events[entry["execution"]].append((hash, entry))
    if wanted is None:
        problem("the ledger is empty")
    return events


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def command_of(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return "%d %s" % (pid, f.read().replace(b"\0", b" ").decode("utf-8", "replace")[:100])
    except OSError:
        return "%d (gone)" % pid

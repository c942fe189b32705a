"""The ledger: what is on record, that it can be checked by others, and that changes are noticed."""

import base64
import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys

from resting import until
from serving import Daemon, make_key

DOCS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "ledger.md")


def data(t):
    return os.path.join(t.env["XDG_DATA_HOME"], "caisson")


def entries(t, *options):
    done = t.caisson("audit", "list", "-n", "1000", "-o", "json", *options)
    t.status(done, 0)
    return done.json()["entries"][::-1]


def events(t, *options):
    return [e["event"] for e in entries(t, *options)]


def fits(t, *words):
    done = t.caisson("audit", "verify", *words, "-o", "json")
    t.status(done, 0)
    return done.json()


def does_not_fit(t, *words):
    done = t.caisson("audit", "verify", *words)
    t.status(done, 1)
    t.has(done.err, "does NOT fit", "stderr")
    return done.err


def some_ledger(t, keys=5):
    for i in range(keys):
        t.status(t.caisson("keys", "create", "key-%d" % i), 0)


def test_what_happens_is_on_record(t):
    t.file("caisson.json", '{"mcpServers": {}}')
    t.file("policy.json", "{}")
    changed = '{"mcpServers": {}, "log": {"level": "debug"}}'
    key = make_key(t, "ci")
    with Daemon(t, "--rate.per_minute", "3") as d:
        session = d.post("/sessions", {}).json()["session_id"]
        execution = d.post("/executions", {"code": "return 6 * 7", "session_id": session}).json()
        t.equal(d.request("DELETE", "/sessions/" + session).status, 204)
        t.equal(d.get("/executions", key="csk_0123456789abcdef_" + "x" * 43).status, 401)
        t.equal(d.request("DELETE", "/cache", key=key).status, 403)
        t.equal([d.get("/executions", key=key).status for _ in range(20)][-1], 429)
        t.file("caisson.json", changed)
        d.process.send_signal(signal.SIGHUP)
        until(t, "the new configuration is on record", lambda: hashlib.sha256(changed.encode()).hexdigest() in [
            e["data"]["hash"] for e in entries(t, "--event", "config.loaded")])
        # While it runs.
        said = fits(t)
        t.equal(said["ok"], True)
    all_of_them = entries(t)
    seen = [e["event"] for e in all_of_them]
    for event in ("key.created", "daemon.started", "config.loaded", "policy.loaded", "session.started", "execution.admitted",
                  "execution.settled", "session.stopped", "request.denied", "request.limited", "daemon.stopped"):
        t.true(event in seen, "%s is not on record: %s" % (event, seen))
    t.equal(seen[-1], "daemon.stopped")
    t.true(len([e for e in seen if e == "request.limited"]) <= 6, "refusals are not bounded")
    reasons = [e["data"]["reason"] for e in all_of_them if e["event"] == "request.denied"]
    t.equal(reasons, ["key", "role", "left_out"])
    t.equal([e["data"].get("key_id") for e in all_of_them if e["event"] == "request.denied"],
            ["0123456789abcdef", key[4:20], None])
    loaded = [e["data"]["hash"] for e in all_of_them if e["event"] == "config.loaded"]
    t.equal(loaded[0], hashlib.sha256(b'{"mcpServers": {}}').hexdigest())
    t.equal(loaded[-1], hashlib.sha256(changed.encode()).hexdigest())
    t.equal(all_of_them[0]["data"]["name"], "ci")
    t.true(key[21:] not in json.dumps(all_of_them), "the secret is in the ledger")
    # The envelope names the last entry of its execution.
    mine = [e for e in all_of_them if e.get("execution") == execution["execution_id"]]
    t.equal(execution["provenance"]["chain_hash"], mine[-1]["hash"])
    shown = t.caisson("audit", "show", execution["execution_id"])
    t.status(shown, 0)
    t.has(shown.out, "execution.settled", "stdout")
    t.has(shown.out, mine[-1]["hash"], "stdout")
    said = fits(t)
    t.equal((said["entries"], said["signed_to"], said["key_from"]), (len(all_of_them), len(all_of_them), "this machine"))


def test_filters_and_forms(t):
    some_ledger(t, 3)
    t.status(t.caisson("keys", "revoke", "key-1"), 0)
    t.equal(events(t), ["key.created"] * 3 + ["key.revoked"])
    t.equal(events(t, "--event", "key.revoked"), ["key.revoked"])
    t.equal(len(events(t, "--event", "key.")), 4)
    t.equal(events(t, "--event", "session."), [])
    t.equal(events(t, "--since", "2001-01-01", "--until", "2001-01-02"), [])
    t.equal(len(events(t, "--since", "1h", "--tenant", "default", "--principal", "local")), 4)
    last = t.caisson("audit", "tail", "-n", "2", "-o", "json")
    t.equal([json.loads(line)["seq"] for line in last.out.splitlines()], [3, 4])
    text = t.caisson("audit", "list", "-n", "1").out
    t.has(text, "key.revoked", "stdout")
    t.status(t.caisson("audit", "show", "99"), 2)
    t.status(t.caisson("audit", "list", "--since", "yesterday"), 2)
    t.status(t.caisson("audit", "show", "nonsense"), 2)


def test_tail_follows(t):
    some_ledger(t, 1)
    p = subprocess.Popen([t.binary, "audit", "tail", "-f", "-n", "1"], stdout=subprocess.PIPE, env=t.env, cwd=t.dir)
    try:
        t.has(p.stdout.readline().decode(), "key.created", "stdout")
        t.status(t.caisson("keys", "revoke", "key-0"), 0)
        t.has(p.stdout.readline().decode(), "key.revoked", "stdout")
    finally:
        p.kill()
        p.wait()


def test_nothing_drives_the_terminal_of_whoever_reads(t):
    with Daemon(t) as d:
        d.post("/executions", {"code": "return 1", "intent": "\x1b[2J\u202eevil"})
    path = os.path.join(data(t), "caisson.db")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE ledger SET event = 'x' || char(27) || '[31mred' WHERE seq = 1")
        db.execute("UPDATE ledger SET entry = char(27) || '[31mred' WHERE seq = 2")
    for words in (("list",), ("tail",), ("show", "1"), ("show", "2"), ("list", "-o", "json"), ("tail", "-o", "json")):
        done = t.caisson("audit", *words)
        t.status(done, 0)
        t.lacks(done.out, "\x1b", "stdout")
    does_not_fit(t)


def test_an_export_is_checked_anywhere(t):
    some_ledger(t)
    t.status(t.caisson("audit", "export", "whole.jsonl"), 0)
    t.status(t.caisson("audit", "export", "whole.jsonl.zst"), 0)
    t.status(t.caisson("audit", "export", "part.jsonl", "--from", "2", "--to", "4"), 0)
    t.true(t.caisson("audit", "export", "whole.jsonl").status != 0, "an old export was overwritten")
    key = os.path.join(data(t), "ledger.pub")
    elsewhere = dict(XDG_DATA_HOME=os.path.join(t.state, "elsewhere"))
    os.mkdir(elsewhere["XDG_DATA_HOME"])
    for name, count in (("whole.jsonl", 5), ("whole.jsonl.zst", 5), ("part.jsonl", 3)):
        t.equal(fits(t, name)["entries"], count)
        done = t.caisson("audit", "verify", name, "--key", key, "-o", "json", env=elsewhere)
        t.equal((done.status, done.json()["entries"], done.json()["key_from"]), (0, count, key))
        done = t.caisson("audit", "verify", name, env=elsewhere)
        t.status(done, 0)
        t.has(done.out, "taken from the file itself", "stdout")
    part = [json.loads(line) for line in t.read("part.jsonl").splitlines()]
    t.equal((part[0]["from"], part[0]["to"], part[0]["base"]["seq"]), (2, 4, 1))
    # Another machine has another key, and says so.
    t.status(t.caisson("keys", "create", "x", env=elsewhere), 0)
    done = t.caisson("audit", "verify", "whole.jsonl", env=elsewhere)
    t.status(done, 1)
    t.has(done.err, "foreign key", "stderr")


def test_what_was_done_to_it_is_said(t):
    some_ledger(t)
    t.status(t.caisson("audit", "export", "whole.jsonl"), 0)
    checkpoint = t.caisson("audit", "checkpoint")
    t.file("kept.json", checkpoint.out)
    lines = t.read("whole.jsonl").splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if '"key-2"' in line)
    for name, changed, says in (
            ("changed", [*lines[:at], lines[at].replace("key-2", "key-9"), *lines[at + 1:]], "entry 3 "),
            ("removed", [*lines[:at], *lines[at + 1:]], "entry 3 is not there"),
            ("cut", lines[:at], "ends at entry 2"),
            ("headless", lines[1:], "head of an export"),
            ("torn", ["".join(lines)[:-1]], "within a line")):
        t.file(name, "".join(changed))
        t.has(does_not_fit(t, name), says, name)
    # Cut off together with its signatures: only what was kept elsewhere shows it.
    database = os.path.join(data(t), "caisson.db")
    with sqlite3.connect(database) as db:
        db.execute("DELETE FROM ledger WHERE seq > 3")
        db.execute("DELETE FROM checkpoints WHERE seq > 3")
    fits(t)
    t.has(does_not_fit(t, "--checkpoint", "@kept.json"), "the end is missing", "stderr")
    t.has(does_not_fit(t, "--checkpoint", checkpoint.out.strip()), "the end is missing", "stderr")


def test_a_cut_is_noticed_by_the_executions(t):
    t.replayed = False
    some_ledger(t, 1)
    ids = [t.envelope("return %d" % n)["execution_id"] for n in range(3)]
    fits(t)
    database = os.path.join(data(t), "caisson.db")

    def cut(*more):
        with sqlite3.connect(database) as db:
            last, = db.execute("SELECT seq FROM ledger WHERE execution = ? AND event = 'execution.settled'", (ids[2],)).fetchone()
            db.execute("DELETE FROM ledger WHERE seq >= ?", (last,))
            db.execute("DELETE FROM checkpoints WHERE seq >= ?", (last,))
            for statement in more:
                db.execute(*statement)
        db.close()
        return last
    shutil.copy(database, t.file("whole.db", ""))
    last = cut()
    said = does_not_fit(t)
    t.has(said, ids[2], "which execution")
    t.has(said, "no entry up to %d says so" % (last - 1), "where")
    t.has(does_not_fit(t, database), ids[2], "a copy")
    # What was written afterwards does not hide it.
    t.status(t.caisson("keys", "create", "later"), 0)
    t.status(t.caisson("run", "-e", "return 4"), 0)
    t.has(does_not_fit(t), ids[2], "with more behind it")
    # Rows and all: it is a shorter ledger, as the documentation says.
    shutil.copy(t.dir + "/whole.db", database)
    cut(("DELETE FROM executions WHERE id = ?", (ids[2],)))
    fits(t)


def test_a_backup_is_made_while_it_runs(t):
    with Daemon(t) as d:
        d.post("/executions", {"code": "return 1"})
        t.status(t.caisson("backup", "copy.tar"), 0)
        d.post("/executions", {"code": "return 2"})
        again = t.caisson("backup", "copy.tar")
        t.true(again.status != 0, "an old copy was overwritten")
    t.has(t.caisson("audit", "verify", "copy.tar").err, "tar xf", "stderr")
    subprocess.run(["tar", "xf", "copy.tar", "caisson.db"], cwd=t.dir, check=True)
    copy, now = fits(t, "caisson.db"), fits(t)
    t.true(copy["entries"] < now["entries"], "%s %s" % (copy, now))


def test_an_attestation_is_checked_by_others(t):
    with Daemon(t) as d:
        execution = d.post("/executions", {"code": "return {a: 1}"}).json()
        name = execution["execution_id"]
        over_rest = d.get("/executions/%s/provenance" % name).json()
        envelope = d.get("/executions/%s/provenance?attest=true" % name).json()
        t.equal(d.get("/executions/%s/provenance?attest=perhaps" % name).status, 400)
        t.equal(d.get("/executions/ex_none/provenance").status, 404)
    t.equal(over_rest, execution["provenance"])
    t.equal(t.caisson("executions", "provenance", name).json(), over_rest)
    attested = t.caisson("executions", "provenance", name, "--attest").json()
    payload = base64.b64decode(envelope["payload"])
    t.equal(base64.b64decode(attested["payload"]), payload)
    statement = json.loads(payload)
    t.equal(statement["_type"], "https://in-toto.io/Statement/v1")
    t.equal(statement["subject"][0]["digest"]["sha256"], hashlib.sha256(b'{"a":1}').hexdigest())
    t.equal(statement["predicate"], over_rest)
    kind = envelope["payloadType"].encode()
    t.file("pae", b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload))
    t.file("sig", base64.b64decode(envelope["signatures"][0]["sig"]))
    check = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", os.path.join(data(t), "ledger.pub"), "-rawin",
             "-in", "pae", "-sigfile", "sig"]
    t.equal(subprocess.run(check, cwd=t.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode, 0)
    t.file("pae", b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload.replace(b"1", b"2", 1)))
    t.true(subprocess.run(check, cwd=t.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0, "it verifies")


def test_executions_are_listed_without_a_daemon(t):
    with Daemon(t) as d:
        good = d.post("/executions", {"code": "return 1"}).json()["execution_id"]
        bad = d.post("/executions", {"code": "throw new Error('no')"}).json()["execution_id"]
    listed = t.caisson("executions", "list", "-o", "json").json()["executions"]
    t.equal([(e["execution_id"], e["status"]) for e in listed], [(bad, "failed"), (good, "completed")])
    t.equal(len(t.caisson("executions", "list", "--status", "failed", "-o", "json").json()["executions"]), 1)
    t.has(t.caisson("executions", "list").out, good, "stdout")
    t.equal(t.caisson("executions", "show", good).json()["result"], 1)
    t.status(t.caisson("executions", "show", "ex_none"), 2)
    t.has(t.caisson("executions", "list", "--tenant", "acme").out, "no such execution", "stdout")


def test_a_key_that_is_not_right_stops_everything(t):
    some_ledger(t, 1)
    key = os.path.join(data(t), "ledger.key")
    os.chmod(key, 0o644)
    done = t.caisson("keys", "create", "x")
    t.true(done.status != 0, "it went on with a key that anybody can read")
    t.has(done.err, "chmod 600", "stderr")
    os.chmod(key, 0o600)
    os.rename(key, key + ".away")
    done = t.caisson("keys", "create", "x")
    t.has(done.err, "put the key back", "stderr")
    os.rename(key + ".away", key)
    t.status(t.caisson("keys", "create", "x"), 0)
    t.status(t.caisson("audit", "verify"), 0)


def test_the_script_of_the_documentation_works(t):
    some_ledger(t)
    with open(DOCS, encoding="utf-8") as f:
        script = re.search(r"```python\n(.*?)```", f.read(), re.S).group(1)
    t.true(len(script.splitlines()) <= 40, "it is no short script")
    t.file("verify.py", script)
    t.status(t.caisson("audit", "export", "whole.jsonl"), 0)
    fingerprint = t.caisson("audit", "key", "-o", "json").json()["fingerprint"]

    def check(name):
        done = subprocess.run([sys.executable, "verify.py", name], cwd=t.dir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        t.log.append(done.stdout.decode())
        return done.returncode, done.stdout.decode()
    status, said = check("whole.jsonl")
    t.equal(status, 0)
    t.has(said, fingerprint, "stdout")
    whole = t.read("whole.jsonl")
    lines = whole.splitlines(keepends=True)
    for changed in (whole.replace("key-2", "key-9"), "".join(lines[:-2]), "".join(lines[:2] + lines[3:]),
                    "".join([lines[0], lines[2], lines[1], *lines[3:]])):
        t.file("changed.jsonl", changed)
        t.true(check("changed.jsonl")[0] != 0, "a change was not noticed")

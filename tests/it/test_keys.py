"""API keys: made, listed, revoked and rotated at the command line, and what `caisson serve` makes of them."""

import json
import os
import re
import signal
import sqlite3
import time

from harness import table
from resting import until
from serving import Daemon, make_key

KEY = r"^csk_([A-Za-z0-9]{16})_[A-Za-z0-9_-]{43}\n$"


def keys(t):
    done = t.caisson("keys", "list", "-o", "json")
    t.status(done, 0)
    return done.json()["keys"]


def data(t):
    return os.path.join(t.env["XDG_DATA_HOME"], "caisson")


def test_a_key_is_shown_once_and_alone_on_stdout(t):
    done = t.caisson("keys", "create", "ci", "--role", "approve", "--tenant", "acme", "--expires", "30d")
    t.status(done, 0)
    t.matches(done.out, KEY, "stdout")
    t.has(done.err, "Authorization: Bearer", "stderr")
    t.has(done.err, "acme", "stderr")
    secret = done.out.strip()[21:]
    t.lacks(done.err, secret, "stderr")
    row = keys(t)[0]
    t.equal(row["name"], "ci")
    t.equal(row["id"], done.out[4:20])
    t.equal(row["role"], "approve")
    t.equal(row["tenant"], "acme")
    t.equal(row["state"], "active")
    t.equal(row["last_used"], None)
    t.matches(row["expires"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
    # Nothing in the data directory is the secret.
    for directory, _, names in os.walk(data(t)):
        for name in names:
            with open(os.path.join(directory, name), "rb") as f:
                t.true(secret.encode() not in f.read(), "%s has the secret in it" % name)


def test_the_least_is_the_default(t):
    t.status(t.caisson("keys", "create", "ci"), 0)
    row = keys(t)[0]
    t.equal((row["role"], row["tenant"], row["expires"]), ("execute", "default", None))


def test_json_has_the_key_too(t):
    made = t.caisson("keys", "create", "ci", "-o", "json").json()
    t.matches(made["key"] + "\n", KEY)
    t.equal(made["name"], "ci")
    t.true("key" not in keys(t)[0], "the list has a key in it")
    again = t.caisson("keys", "rotate", "ci", "-o", "json").json()
    t.true(made["key"] != again["key"], "rotation changed nothing")


def test_the_table_is_for_people(t):
    t.has(t.caisson("keys", "list").out, "keys create")
    t.caisson("keys", "create", "one")
    t.caisson("keys", "create", "two", "--expires", "1s")
    t.caisson("keys", "revoke", "one")
    lines = t.caisson("keys", "list").out.splitlines()
    t.equal(lines[0].split(), ["name", "state", "id", "role", "tenant", "created", "expires", "last", "used"])
    t.matches(lines[1], r"^one +revoked .* execute +default .* never +never$")


@table([("no name", []), ("two names", ["a", "b"]), ("a space", ["a b"]), ("a path", ["../a"]), ("too long", ["a" * 65]),
        ("a role", ["a", "--role", "root"]), ("a tenant", ["a", "--tenant", "x/y"]), ("an empty tenant", ["a", "--tenant", ""]),
        ("a bare time", ["a", "--expires", "30"]), ("no time", ["a", "--expires", "soon"]), ("a negative time", ["a", "--expires", "-1d"]),
        ("no end", ["a", "--expires", "inf"]), ("a long time", ["a", "--expires", "101y"])])
def test_what_cannot_be_is_refused(t, name, words):
    done = t.caisson("keys", "create", *words)
    t.status(done, 2)
    t.equal(done.out, "", "stdout")
    t.has(done.err, "caisson keys create: ", "stderr")
    t.equal(keys(t), [], "keys")


def test_a_name_in_use_is_refused_until_it_is_revoked(t):
    first = make_key(t, "ci")
    done = t.caisson("keys", "create", "ci")
    t.status(done, 2)
    t.has(done.err, "keys rotate ci", "stderr")
    t.status(t.caisson("keys", "revoke", "ci"), 0)
    t.true(make_key(t, "ci") != first, "the same key again")
    t.equal([k["state"] for k in keys(t)], ["revoked", "active"])
    t.status(t.caisson("keys", "revoke", "nobody"), 2)
    t.status(t.caisson("keys", "rotate", "nobody"), 2)


def test_rotation_keeps_the_lifetime_unless_told_otherwise(t):
    def lifetime():
        from datetime import datetime
        row = keys(t)[0]
        if not row["expires"]:
            return None
        read = lambda text: datetime.fromisoformat(text.replace("Z", "+00:00"))
        return round((read(row["expires"]) - read(row["created"])).total_seconds() / 3600)

    make_key(t, "ci", "--expires", "30d", "--tenant", "acme", role="admin")
    t.equal(lifetime(), 720)
    t.status(t.caisson("keys", "rotate", "ci"), 0)
    t.equal(lifetime(), 720)
    t.equal((keys(t)[0]["role"], keys(t)[0]["tenant"]), ("admin", "acme"))
    t.status(t.caisson("keys", "rotate", keys(t)[0]["id"], "--expires", "2h"), 0)
    t.equal(lifetime(), 2)
    t.status(t.caisson("keys", "rotate", "ci", "--expires", "never"), 0)
    t.equal(lifetime(), None)


def test_a_daemon_knows_them_at_once(t):
    with Daemon(t, "--server.require_key", "true") as d:
        t.equal(d.get("/executions").status, 401)
        key = make_key(t, "ci")
        t.equal(d.get("/executions", key=key).status, 200)
        t.equal(d.get("/executions", headers={"X-API-Key": key}).status, 200)
        until(t, "its use is written down", lambda: keys(t)[0]["last_used"])
        t.equal(d.get("/executions", key=key[:-1] + ("A" if key[-1] != "A" else "B")).status, 401)
        done = t.caisson("keys", "rotate", "ci")
        t.equal(d.get("/executions", key=key).status, 401)
        key = done.out.strip()
        t.equal(d.get("/executions", key=key).status, 200)
        t.caisson("keys", "revoke", "ci")
        t.equal(d.get("/executions", key=key).status, 401)
        bodies = {d.get("/executions", key=k).body for k in (key, "csk_" + "a" * 16 + "_" + "b" * 43, "nonsense")}
        t.equal(len(bodies), 1, "kinds of refusal")


def test_tenants_do_not_see_each_other(t):
    with Daemon(t) as d:
        ann, bob, eve = make_key(t, "ann", "--tenant", "a"), make_key(t, "bob", "--tenant", "a"), make_key(t, "eve", "--tenant", "e")
        done = d.post("/executions", {"code": "return 1"}, key=ann).json()
        path = "/executions/" + done["execution_id"]
        t.equal(d.get(path, key=ann).status, 200)
        t.equal(d.get(path, key=bob).status, 200, "a colleague's look")
        t.equal(d.get(path, key=eve).status, 404, "a stranger's look")
        t.equal(d.get(path).status, 404, "the look of the person at this machine")
        t.lacks(d.get("/executions", key=eve).body.decode(), done["execution_id"])


def test_a_key_has_its_rate(t):
    with Daemon(t, "--rate.per_minute", "3") as d:
        ann, bob = make_key(t, "ann"), make_key(t, "bob")
        left = []
        for _ in range(3):
            answer = d.get("/executions", key=ann)
            t.equal(answer.status, 200)
            left.append(answer.headers["RateLimit-Remaining"])
        t.equal(left, ["2", "1", "0"])
        answer = d.get("/executions", key=ann)
        t.equal(answer.status, 429)
        t.true(1 <= int(answer.headers["Retry-After"]) <= 61, "Retry-After %s" % answer.headers["Retry-After"])
        t.equal(d.get("/executions", key=bob).status, 200)


def test_what_a_killed_daemon_ran_is_cancelled_when_the_next_one_starts(t):
    with Daemon(t) as d:
        connection = d.connect()
        connection.request("POST", "/executions", json.dumps({"code": "await new Promise((r) => setTimeout(r, 30000))"}),
                           {"Content-Type": "application/json"})
        row, end = [], time.monotonic() + 60
        while not row and time.monotonic() < end:
            row = re.findall(r'"execution_id":\s*"([^"]+)"', d.get("/executions?status=running").body.decode())
        t.true(row, "it does not run")
        d.process.send_signal(signal.SIGKILL)
        d.wait()
        connection.close()
    with Daemon(t) as d:
        envelope = d.get("/executions/" + row[0]).json()
        t.equal(envelope["status"], "cancelled")
        t.has(envelope["error"]["message"], "the daemon ended")


def spoil(t, how):
    make_key(t, "ci")
    path = os.path.join(data(t), "caisson.db")
    if how == "newer":
        db = sqlite3.connect(path)
        db.execute("PRAGMA user_version = 4711")
        db.close()
    elif how == "damaged":
        with open(path, "r+b") as f:
            f.seek(4096)
            f.write(b"\xff" * (os.path.getsize(path) - 4096))
    else:
        os.remove(path)
        with open(path, "wb") as f:
            f.write(b"something else entirely\n" * 1000)
    return path


@table([("newer", "version 4711"), ("damaged", "damaged"), ("foreign", "no database of ours")])
def test_a_store_that_cannot_be_used_is_explained(t, how, text):
    path = spoil(t, how)
    for words in (["keys", "list"], ["serve", "--port", "0"]):
        done = t.caisson(*words)
        t.status(done, 5)
        t.has(done.err, path, "stderr")
        t.has(done.err, text, "stderr")


def test_the_help_names_them(t):
    t.has(t.caisson("help").out, "keys")
    text = t.caisson("help", "keys").out
    for verb in ("create", "list", "revoke", "rotate"):
        t.has(text, "keys " + verb)
    t.true(re.search(r"keys create", t.caisson("help", "man-page").out), "the man page lacks it")
    t.has(t.caisson("keys", "creat", "x").err, "did you mean 'caisson keys create'")

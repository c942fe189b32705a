"""What cannot be put on record has not happened: no answer leaves as if it had, and what is missing is said."""

import json
import os
import sqlite3
import sys

from serving import Daemon, make_key

HERE = os.path.dirname(os.path.abspath(__file__))


def with_world(t):
    t.file("caisson.json", json.dumps({"mcpServers": {
        "world": {"command": sys.executable, "args": [os.path.join(HERE, "servers", "world.py")]}}}))


def database(t):
    db = sqlite3.connect(os.path.join(t.env["XDG_DATA_HOME"], "caisson", "caisson.db"), timeout=30)
    db.isolation_level = None
    return db


def refuse(t, event):
    """From now on the database does not take entries of this kind, as a disk that is full would not."""
    with database(t) as db:
        db.execute("CREATE TRIGGER no_room BEFORE INSERT ON ledger WHEN new.event = '%s' "
                   "BEGIN SELECT RAISE(ABORT, 'no room'); END" % event)
    db.close()


def let(t):
    with database(t) as db:
        db.execute("DROP TRIGGER no_room")
    db.close()


def events(t, id):
    db = database(t)
    found = [row[0] for row in db.execute("SELECT event FROM ledger WHERE execution = ? ORDER BY seq", (id,))]
    db.close()
    return found


CALLS = "const seen = []; for (let i = 0; i < 3; i++) seen.push(await world.count({ n: i })); return seen.length"


def test_what_cannot_be_put_on_record_at_all_is_not_answered(t):
    t.replayed = False
    with_world(t)
    with Daemon(t) as d:
        key = make_key(t, "ci")
        refuse(t, "call.made")
        # It lasts until somebody has noticed.
        e = d.post("/executions", {"code": CALLS.replace("return", "await new Promise((r) => setTimeout(r, 25000)); return")}, key=key).json()
        t.equal(e["status"], "failed", "status")
        t.has(e["error"]["message"], "could not be put on record")
        t.equal("execution.settled" in events(t, e["execution_id"]), False, "it is settled")
        let(t)
        t.equal(d.post("/executions", {"code": CALLS}, key=key).json()["result"], 3, "when there is room again")
    # The next one finds it, and it is lost.
    with Daemon(t):
        pass
    t.has(t.caisson("executions", "show", e["execution_id"]).out, "cancelled")
    t.status(t.caisson("audit", "verify"), 0)


def test_an_entry_that_nobody_waits_for_is_missed_in_the_log(t):
    with Daemon(t) as d:
        make_key(t, "ci")
        refuse(t, "request.denied")
        t.equal(d.post("/executions", {"code": "return 1"}, key="nobody").status, 401, "status")
        d.await_said(r"error ledger: an entry is missing event=request\.denied .*no room")
        let(t)

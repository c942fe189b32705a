"""The daemon is killed between a person's answer and what it is for: one answer is used once, and nothing is sent without one."""

import time

from approving import SEND, sent, with_policy
from resting import begin, until
from serving import Daemon
from test_durable import database, kill


def rows(t, execution):
    db = database(t)
    found = db.execute("SELECT state, used, card LIKE '%\"sent_at\":%' FROM approvals WHERE execution = ? ORDER BY seq", (execution,)).fetchall()
    db.close()
    return found


def say_yes(d):
    """But a call that may have been made already is not made again."""
    for row in d.get("/approvals?state=pending").json()["approvals"]:
        d.post("/approvals/" + row["id"], {"answer": "deny" if row.get("sent_at") else "once"})


def settled(t, d, execution):
    """Until it has ended; whatever is asked meanwhile is answered."""
    def look():
        e = d.get("/executions/" + execution).json()
        if e["status"] == "awaiting_approval":
            say_yes(d)
        return e if e["status"] not in ("running", "awaiting_approval") else None
    return until(t, "the end of " + execution, look)


def test_killed_between_the_answer_and_its_use(t):
    options = with_policy(t, approvals={"durable_timeout_s": 600})
    executions, ends = [], []
    for i, pause in enumerate((0, 0.003, 0.01, 0.03)):
        with Daemon(t, *options) as d:
            execution = begin(t, d, SEND % i, durable=True)
            executions.append(execution)
            until(t, "a question", lambda: d.get("/approvals?state=pending").json()["approvals"])
            t.true({"n": i} not in sent(t), "it was sent before anybody said yes")
            say_yes(d)
            time.sleep(pause)
            kill(t, d)
        with Daemon(t, *options) as d:
            ends.append(settled(t, d, execution)["status"])
    for i, execution in enumerate(executions):
        found = rows(t, execution)
        made = sent(t).count({"n": i})
        used = sum(u for _, u, _ in found)
        t.log.append("%d: %r, sent %d times, %s" % (i, found, made, ends[i]))
        t.true(made <= 1, "call %d was made %d times" % (i, made))
        t.true(made <= used, "call %d was made %d times on %d answers" % (i, made, used))
        t.true(all(state == ("denied" if again else "approved") for state, _, again in found), "how the questions stand: %r" % found)


def test_what_a_killed_daemon_asked_for_others_is_withdrawn(t):
    options = with_policy(t)
    with Daemon(t, *options) as d:
        execution = begin(t, d, SEND % 1)
        approval = until(t, "a question", lambda: d.get("/approvals?state=pending").json()["approvals"])[0]["id"]
        kill(t, d)
    with Daemon(t, *options) as d:
        t.equal(d.get("/approvals/" + approval).json()["state"], "withdrawn", "state")
        t.equal(d.post("/approvals/" + approval, {"answer": "once"}).status, 409, "status of an answer")
        t.equal(d.get("/executions/" + execution).json()["status"], "cancelled", "status")
    t.equal(sent(t), [], "what was sent")

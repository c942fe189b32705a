"""Approvals as MCP clients see them: the official ones of both eras, and raw messages where only those will do."""

import contextlib
import json
import time

from approving import SEND, answer, pending, sent, with_policy
from driving import Client
from harness import PATIENCE, table, until
from mcp_wire import LEGACY, TASKS, Lines, call, code, envelope, request, text
from serving import Daemon, make_key

ROWS = [("old over stdio", "old", "stdio"), ("modern over stdio", "modern", "stdio"), ("old over http", "old", "http"),
        ("modern over http", "modern", "http")]
TWO = table([("old over stdio", "old", "stdio"), ("modern over http", "modern", "http")])
FORM = {"elicitation": {}}
ALONE = json.dumps({"roots": {}})


def accept(decision="once", **more):
    after = {"after": more.pop("after")} if "after" in more else {}
    return dict({"action": "accept", "content": dict({"decision": decision}, **more)}, **after)


@contextlib.contextmanager
def client(t, kind, transport, options, capabilities=None, key=None):
    env = {"DRIVE_CAPABILITIES": capabilities} if capabilities else None
    if transport == "stdio":
        with Client(t, kind, "stdio", *options, env=env) as c:
            yield c
        return
    with Daemon(t, *options) as d, Client(t, kind, "http", d.url + "/mcp", *([key] if key else []), env=env) as c:
        c.daemon = d
        yield c


def start(c, code, **more):
    return c.send("callTool", {"name": "execute_code", "arguments": {"code": code}}, **more)


def ended(c, number, patience=60):
    """(what the model reads, is it an error)"""
    result = c.wait(number, patience)["result"]
    return json.loads(result["content"][0]["text"].split("\n\n")[0]), bool(result.get("isError"))


# The client is asked

@table(ROWS)
def test_a_call_is_approved_in_the_client(t, _, kind, transport):
    with client(t, kind, transport, with_policy(t)) as c:
        c.ask("answers", [accept()])
        got, bad = ended(c, start(c, SEND % 1))
        t.equal((got["status"], got["result"], bad), ("completed", {"n": 1}, False))
        asked = c.event("elicit")
        t.equal(asked.get("mode", "form"), "form")
        t.has(asked["message"], "echo")
        t.has(asked["message"], "Without an answer within")
        schema = asked["requestedSchema"]
        t.equal((schema["required"], schema["properties"]["decision"]["default"]), (["decision"], "deny"))
        t.true({"once", "deny"} <= set(schema["properties"]["decision"]["enum"]), str(schema))
        t.equal(sent(t), [{"n": 1}])
        # Once is once.
        c.ask("answers", [accept("deny", reason="enough for today")])
        got, bad = ended(c, start(c, SEND % 1))
        t.equal((got["status"], bad, len(sent(t))), ("failed", True, 1))
        t.has(json.dumps(got), "enough for today")


@TWO
def test_everything_else_than_yes_is_no(t, _, kind, transport):
    with client(t, kind, transport, with_policy(t)) as c:
        for reply in ({"action": "decline"}, {"action": "cancel"}):
            c.ask("answers", [reply])
            got, bad = ended(c, start(c, SEND % 1))
            t.equal((got["status"], bad), ("failed", True))
            t.has(json.dumps(got), "by the person at the client")
        t.equal(sent(t), [])


@TWO
def test_the_one_who_is_first_counts_and_the_question_is_withdrawn(t, _, kind, transport):
    options = with_policy(t)
    with Daemon(t, *options) as d:
        boss = make_key(t, "boss", role="approve")
        with client(t, kind, "stdio", options) if transport == "stdio" else Client(t, kind, "http", d.url + "/mcp") as c:
            # The older one is told that it is too late, the modern one when it answers.
            c.ask("answers", [accept("deny", after=1000 * PATIENCE if kind == "old" else 8000)])
            number = start(c, SEND % 1)
            asked = pending(t, d, boss)[0]
            c.event("elicit")
            t.equal(asked["actor_type"], "agent")
            t.equal(answer(d, asked, key=boss).status, 200)
            if kind == "old":
                c.event("withdrawn")
            got, bad = ended(c, number)
            t.equal((got["status"], got["result"], bad), ("completed", {"n": 1}, False))


@TWO
def test_nobody_answers(t, _, kind, transport):
    with client(t, kind, transport, with_policy(t, timeout_s=1)) as c:
        c.ask("answers", [accept(after=1600)])
        got, bad = ended(c, start(c, SEND % 1))
        t.equal((got["status"], bad), ("failed", True))
        t.has(json.dumps(got), "nobody answered within 1 s")
        t.has(json.dumps(got), "Somebody with the role approve can")
        t.equal(sent(t), [])


def test_several_calls_are_asked_for_one_by_one(t):
    with client(t, "modern", "stdio", with_policy(t)) as c:
        c.ask("answers", [accept(), accept("deny")])
        code = "return (await Promise.allSettled([tools.rec.echo({n: 1}), tools.rec.echo({n: 2})])).map(r => r.status)"
        got, _ = ended(c, start(c, code))
        t.equal(sorted(got["result"]), ["fulfilled", "rejected"])
        t.equal((len(c.seen("elicit")), len(sent(t))), (2, 1))


def test_a_task_of_the_older_era_asks_on_its_way(t):
    with client(t, "old", "stdio", with_policy(t)) as c:
        c.ask("answers", [accept()])
        seen = c.ask("task", {"name": "execute_code", "arguments": {"code": SEND % 1}})
        got = json.loads(seen[-1]["result"]["content"][0]["text"])
        t.equal((got["status"], got["result"]), ("completed", {"n": 1}))
        t.has(c.event("elicit")["message"], "echo")


def test_a_task_of_the_newest_revision_waits_with_what_it_asks(t):
    capabilities = dict(TASKS, **FORM)
    with lines(t, with_policy(t)) as s:
        program = {"code": "await new Promise((r) => setTimeout(r, 5000)); " + SEND % 1}
        task = s.ask(modern(1, program, capabilities))["result"]
        t.equal(task["resultType"], "task")
        ask = lambda id, method, **params: s.ask(request(id, method, dict(params, taskId=task["taskId"], _meta=envelope(capabilities))))["result"]
        get = lambda id, status: until(t, status, lambda: [s for s in [ask(id, "tasks/get")] if s["status"] == status])[0]
        t.equal(list(get(2, "input_required")["inputRequests"]), ["approve-1"])
        ask(3, "tasks/update", inputResponses={"approve-1": accept()})
        shown = get(4, "completed")
        t.equal(json.loads(shown["result"]["content"][0]["text"])["result"], {"n": 1})
        t.equal(sent(t), [{"n": 1}])


# The client is not asked

@TWO
def test_without_elicitation_the_call_waits_and_says_for_what(t, _, kind, transport):
    options = with_policy(t)
    with Daemon(t, *options) as d:
        boss = make_key(t, "boss", role="approve")
        with Client(t, kind, "http", d.url + "/mcp", env={"DRIVE_CAPABILITIES": ALONE}) as c:
            number = start(c, SEND % 1, progress=True)
            asked = pending(t, d, boss)[0]
            said = c.event("progress", lambda p: "approval" in (p.get("message") or ""))
            t.has(said["message"], asked["id"])
            t.has(said["message"], "caisson approve " + asked["id"])
            found = json.loads(c.tool("get_execution", execution_id=asked["execution_id"], wait_ms=0))
            t.equal(found["status"], "awaiting_approval")
            t.has(found["waits_for"], asked["id"])
            answer(d, asked, key=boss)
            got, bad = ended(c, number)
            t.equal((got["status"], got["result"], bad), ("completed", {"n": 1}, False))


def test_a_key_is_not_asked_about_its_own(t):
    options = with_policy(t)
    with Daemon(t, *options) as d:
        boss, own = make_key(t, "boss", role="approve"), make_key(t, "own", role="approve")
        with Client(t, "modern", "http", d.url + "/mcp", own) as c:
            number = start(c, SEND % 1, progress=True)
            asked = pending(t, d, boss)[0]
            said = c.event("progress", lambda p: "approval" in (p.get("message") or ""))
            t.has(said["message"], "somebody else")
            t.equal(c.seen("elicit"), [])
            answer(d, asked, key=boss)
            t.equal(ended(c, number)[0]["status"], "completed")


def test_four_eyes_see_more_than_two(t):
    options = with_policy(t, approvals={"four_eyes": "high"}, risk={"rules": [
        {"id": "marked", "level": "HIGH", "when": {"fact": "string", "like": "marked as risky"}, "reason": "it is marked"}]})
    with Daemon(t, *options) as d:
        boss = make_key(t, "boss", role="approve")
        with Client(t, "old", "http", d.url + "/mcp") as c:
            number = start(c, "return 'marked as risky'", progress=True)
            asked = pending(t, d, boss)[0]
            t.equal((asked["kind"], asked["risk"]), ("program", "HIGH"))
            said = c.event("progress", lambda p: "approval" in (p.get("message") or ""))
            t.has(said["message"], "somebody else (not whoever asks)")
            t.equal(c.seen("elicit"), [])
            # Nor does the one without a key over REST: it is the same one.
            t.equal(answer(d, asked).status, 403)
            answer(d, asked, key=boss)
            t.equal(ended(c, number)[0]["result"], "marked as risky")


def test_an_address_is_given_where_forms_are_unknown(t):
    options = with_policy(t, approvals={"public_url": "https://caisson.example"})
    with Daemon(t, *options) as d:
        boss = make_key(t, "boss", role="approve")
        for kind in ("old", "modern"):
            with Client(t, kind, "http", d.url + "/mcp", env={"DRIVE_CAPABILITIES": json.dumps({"elicitation": {"url": {}}})}) as c:
                c.ask("answers", [{"action": "accept"}])
                number = start(c, SEND % 1)
                asked = pending(t, d, boss)[0]
                said = c.event("elicit")
                t.equal((said["mode"], said["url"]), ("url", "https://caisson.example/approvals/" + asked["id"]))
                time.sleep(0.3)
                t.equal(d.get("/approvals/" + asked["id"], key=boss).json()["state"], "pending", "consent to look is no yes")
                answer(d, asked, key=boss)
                t.equal(ended(c, number)[0]["status"], "completed")


# A whole program

@TWO
def test_a_program_is_asked_for_before_it_runs_and_again_when_it_changes(t, _, kind, transport):
    options = with_policy(t, ask=[], risk={"rules": [
        {"id": "marked", "level": "HIGH", "when": {"fact": "string", "like": "marked as risky"}, "reason": "it is marked"}]})
    risky = "const why = 'marked as risky'; await tools.rec.echo({n: %d}); return why.length"
    with client(t, kind, transport, options) as c:
        c.ask("answers", [accept("program")])
        got, bad = ended(c, start(c, risky % 1))
        t.equal((got["status"], got["result"], bad), ("completed", 15, False))
        asked = c.event("elicit")
        t.has(asked["message"], "it is marked")
        t.has(asked["message"], "const why")
        # Exactly this program always; another one is another question.
        t.equal(ended(c, start(c, risky % 1))[0]["status"], "completed")
        t.equal(c.seen("elicit"), [])
        c.ask("answers", [accept("deny", reason="not this one")])
        got, bad = ended(c, start(c, risky % 2))
        t.equal((got["status"], bad), ("denied", True))
        t.has(json.dumps(got), "not this one")
        t.equal(len(c.seen("elicit")), 1)
        t.equal(sent(t), [{"n": 1}, {"n": 1}], "the one that was denied has not run")


# Raw

def lines(t, options):
    return Lines(t, [t.binary, "mcp", *options])


def modern(id, arguments, capabilities=FORM, **params):
    return call(id, "execute_code", arguments, envelope(capabilities), **params)


def test_a_state_is_good_once_and_for_its_request_alone(t):
    with lines(t, with_policy(t)) as s:
        program = {"code": SEND % 1}
        first = s.ask(modern(1, program))["result"]
        t.equal((first["resultType"], list(first["inputRequests"])), ("input_required", ["approve-1"]))
        state, yes = first["requestState"], {"approve-1": accept()}
        for other in ({"code": SEND % 2}, {"code": SEND % 1, "intent": "x"}):
            t.equal(code(s.ask(modern(2, other, requestState=state, inputResponses=yes))), -32602)
        bent = state[:20] + ("A" if state[20] != "A" else "B") + state[21:]
        t.equal(code(s.ask(modern(3, program, requestState=bent, inputResponses=yes))), -32602)
        t.equal(sent(t), [])
        done = s.ask(modern(4, program, requestState=state, inputResponses=yes))
        t.equal(json.loads(text(done))["result"], {"n": 1})
        again = s.ask(modern(5, program, requestState=state, inputResponses=yes))
        t.equal(code(again), -32602)
        t.has(again["error"]["message"], "used before")
        t.equal(len(sent(t)), 1)


def test_a_call_that_goes_on_after_the_answer_is_no_task_for_who_knows_none(t):
    with lines(t, with_policy(t)) as s:
        program = {"code": "await tools.rec.echo({n: 1}); await new Promise((r) => setTimeout(r, 3000)); return 'slow'"}
        first = s.ask(modern(1, program), 60)["result"]
        t.equal(first["resultType"], "input_required")
        done = s.ask(modern(2, program, requestState=first["requestState"], inputResponses={"approve-1": accept()}), 60)
        t.equal((done["result"]["resultType"], json.loads(text(done))["result"]), ("complete", "slow"))


WRONG = [("a word that is no choice", accept("yes")), ("no content", {"action": "accept"}), ("another action", {"action": "sure"}),
         ("a reason that is no text", accept("once", reason=3)), ("an endless reason", accept("deny", reason="x" * 501)),
         ("an empty object", {})]


def test_an_answer_that_does_not_fit_is_asked_for_once_more_and_then_denied(t):
    with lines(t, with_policy(t)) as s:
        program = {"code": SEND % 1}
        for name, wrong in WRONG:
            t.log.append(name)
            first = s.ask(modern(1, program))["result"]
            second = s.ask(modern(2, program, requestState=first["requestState"], inputResponses={"approve-1": wrong}))["result"]
            t.equal((second["resultType"], list(second["inputRequests"])), ("input_required", ["approve-1-again"]), name)
            t.has(second["inputRequests"]["approve-1-again"]["params"]["message"], "did not fit")
            third = s.ask(modern(3, program, requestState=second["requestState"], inputResponses={"approve-1-again": wrong}))
            got = json.loads(text(third).split("\n\n")[0])
            t.equal((got["status"], third["result"]["isError"], sent(t)), ("failed", True, []), name)
            t.has(json.dumps(got), "did not fit")


def test_a_client_of_the_older_era_may_answer_with_an_error(t):
    with lines(t, with_policy(t, timeout_s=2)) as s:
        s.initialize(LEGACY, FORM)
        s.send(call(1, "execute_code", {"code": SEND % 1}))
        asked = s.get()
        while asked.get("method") != "elicitation/create":
            asked = s.get()
        s.send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32603, "message": "no screen"}})
        got = json.loads(text(s.answer(1)).split("\n\n")[0])
        t.has(json.dumps(got), "nobody answered within 2 s")
        t.equal(sent(t), [])


def test_a_client_that_goes_away_takes_its_question_along(t):
    options = with_policy(t)
    with Daemon(t, *options) as d:
        boss = make_key(t, "boss", role="approve")
        with lines(t, options) as s:
            s.initialize(LEGACY, FORM)
            s.send(call(1, "execute_code", {"code": SEND % 1}))
            asked = pending(t, d, boss)[0]
            s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
            state = lambda: d.get("/approvals/" + asked["id"], key=boss).json()["state"]
            until(t, "the question is over", lambda: state() != "pending")
            t.equal(state(), "withdrawn")
            t.equal(answer(d, asked, key=boss).status, 409)
            t.equal(sent(t), [])

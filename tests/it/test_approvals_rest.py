"""Approvals over REST, as curl would: who sees what, who may answer, what becomes of those who wait."""

import hashlib
import hmac
import json
import re
import signal
import threading
import time

from approving import SEND, Later, answer, keys, pending, sent, with_policy
from harness import PATIENCE, until
from resting import begin, problem
from serving import Daemon, make_key
from watching import Receiver, metrics


def test_a_call_waits_is_approved_and_goes_on(t):
    with Daemon(t, *with_policy(t)) as d:
        agent, boss = keys(t)
        waits = Later(lambda: d.post("/executions", {"code": SEND % 1}, key=agent))
        asked = pending(t, d, boss)[0]
        t.equal((asked["kind"], asked["state"], asked["principal"]), ("call", "pending", "agent"))
        t.equal(sent(t), [], "what was sent without an answer")
        t.true(waits.waits(), "it did not wait")
        shown = d.get("/executions/" + asked["execution_id"], key=agent).json()
        t.equal((shown["status"], shown["phase"], shown["approvals_waiting"]), ("awaiting_approval", "awaiting_approval", 1))
        t.equal((shown["approval"]["id"], shown["approval"]["kind"]), (asked["id"], "call"))
        t.true(shown["approval"]["why"] and shown["approval"]["expires"], str(shown))
        listed = d.get("/executions?status=awaiting_approval", key=agent).json()["executions"]
        t.equal([e["execution_id"] for e in listed], [asked["execution_id"]])
        whole = d.get("/approvals/" + asked["id"], key=boss)
        card = whole.json()["card"]
        t.equal((card["call"]["server"], card["call"]["tool"], card["call"]["arguments"]), ("rec", "echo", {"n": 1}))
        t.equal(whole.headers["ETag"], '"%s"' % whole.json()["card_hash"])
        t.equal(whole.headers["Cache-Control"], "no-store")
        done = answer(d, asked, key=boss, card_hash=whole.json()["card_hash"])
        t.equal(done.status, 200)
        t.equal([done.json()[k] for k in ("state", "answer", "by", "channel")], ["approved", "once", "boss", "rest"])
        e = waits.get().json()
        t.equal((e["status"], e["result"]), ("completed", {"n": 1}))
        t.equal(sent(t), [{"n": 1}])
        # Once is once.
        waits = Later(lambda: d.post("/executions", {"code": SEND % 1}, key=agent))
        again = pending(t, d, boss)[0]
        t.true(again["id"] != asked["id"], "an old answer was used twice")
        answer(d, again, "deny", boss, reason="not today")
        e = waits.get().json()
        t.equal((e["status"], len(sent(t))), ("failed", 1))
        t.has(json.dumps(e["error"]), "not today")


def test_a_denial_reaches_the_program_with_its_reason(t):
    with Daemon(t, *with_policy(t)) as d:
        agent, boss = keys(t)
        code = "try { await tools.rec.echo({n: 1}) } catch (e) { return 'caught: ' + e.message }"
        waits = Later(lambda: d.post("/executions", {"code": code}, key=agent))
        answer(d, pending(t, d, boss)[0], "deny", boss, reason="ask me\u202e later")
        e = waits.get().json()
        t.equal(e["status"], "completed")
        t.has(e["result"], "caught: ")
        t.has(e["result"], "ask me<U+202E> later")
        t.equal(sent(t), [])


def test_nobody_answers(t):
    with Daemon(t, *with_policy(t, timeout_s=6)) as d:
        agent, boss = keys(t)
        e = d.post("/executions", {"code": SEND % 1, "timeout_ms": 5500}, key=agent).json()
        t.equal(e["status"], "failed")
        t.has(e["error"]["message"], "nobody answered within 6 s")
        t.equal(sent(t), [])
        row = d.get("/approvals?state=expired", key=boss).json()["approvals"][0]
        problem(t, answer(d, row, key=boss), 409, "conflict", "expired")


def test_who_may_answer(t):
    with Daemon(t, *with_policy(t)) as d:
        agent, boss = keys(t)
        stranger, other = make_key(t, "stranger"), make_key(t, "other", "--tenant", "elsewhere", role="admin")
        waits = Later(lambda: d.post("/executions", {"code": SEND % 1}, key=agent))
        asked = pending(t, d, boss)[0]
        where = "/approvals/" + asked["id"]
        # Whose execution it is sees it, and answers nothing.
        t.equal([a["id"] for a in d.get("/approvals", key=agent).json()["approvals"]], [asked["id"]])
        t.equal(d.get(where, key=agent).status, 200)
        problem(t, answer(d, asked, key=agent), 403, "denied", "'approve'")
        # Others of the tenant with that role see nothing; other tenants neither, whatever their role.
        t.equal(d.get("/approvals", key=stranger).json(), {"approvals": []})
        problem(t, d.get(where, key=stranger), 404, "missing", asked["id"])
        t.equal(d.get("/approvals", key=other).json(), {"approvals": []})
        problem(t, d.get(where, key=other), 404, "missing", asked["id"])
        problem(t, answer(d, asked, key=other), 404, "missing", asked["id"])
        t.true(waits.waits(), "somebody's answer counted")
        t.equal(answer(d, asked, key=boss).status, 200)
        t.equal(waits.get().json()["status"], "completed")
        # A key that may approve still does not approve its own.
        waits = Later(lambda: d.post("/executions", {"code": SEND % 2}, key=boss))
        own = pending(t, d, boss)[0]
        problem(t, answer(d, own, key=boss), 403, "denied", "asked for itself")
        t.equal(answer(d, own, "deny", boss).status, 200, "saying no to oneself")
        t.equal(waits.get().json()["status"], "failed")


def test_answers_that_are_wrong(t):
    with Daemon(t, *with_policy(t)) as d:
        agent, boss = keys(t)
        waits = Later(lambda: d.post("/executions", {"code": SEND % 1}, key=agent))
        asked = pending(t, d, boss)[0]
        post = lambda body, **more: d.post("/approvals/" + asked["id"], body, key=boss, **more)
        problem(t, post({}), 400, "invalid", "answer")
        problem(t, post({"answer": "yes"}), 400, "invalid", "answer")
        problem(t, post({"answer": "once", "by": "root"}), 400, "invalid", "by")
        problem(t, post({"answer": "tool", "until": "tomorrow"}), 400, "invalid", "until")
        problem(t, post({"answer": "tool", "until": "2020-01-01T00:00:00Z"}), 400, "invalid", "over already")
        problem(t, post({"answer": "deny", "reason": "x" * 501}), 400, "invalid", "reason")
        problem(t, post({"answer": "once", "card_hash": "0" * 64}), 409, "conflict", "another card")
        problem(t, post("answer=once", headers={"Content-Type": "text/plain"}), 415, "media_type")
        problem(t, d.post("/approvals/ap_nothing", {"answer": "once"}, key=boss), 404, "missing")
        problem(t, d.post("/approvals/" + "x" * 300, {"answer": "once"}, key=boss), 404, "missing")
        problem(t, d.get("/approvals?state=open", key=boss), 400, "invalid", "state must be")
        problem(t, d.get("/approvals?limit=0", key=boss), 400, "invalid", "limit")
        t.equal(sent(t), [])
        t.equal(post({"answer": "once"}).status, 200)
        t.equal(waits.get().json()["status"], "completed")


def test_two_who_answer_at_once(t):
    with Daemon(t, *with_policy(t)) as d:
        agent, boss = keys(t)
        second = make_key(t, "second", role="approve")
        for n in range(5):
            waits = Later(lambda: d.post("/executions", {"code": SEND % n}, key=agent))
            asked = pending(t, d, boss)[0]
            gate = threading.Barrier(2)
            both = [Later(lambda k=k, w=w: (gate.wait(PATIENCE), answer(d, asked, w, k))[1])
                    for k, w in ((boss, "once"), (second, "deny"))]
            yes, no = [b.get() for b in both]
            t.equal(sorted((yes.status, no.status)), [200, 409])
            late = yes if yes.status == 409 else no
            problem(t, late, 409, "conflict", "denied" if late is yes else "approved", "second" if late is yes else "boss")
            e = waits.get().json()
            t.equal(e["status"] == "completed", yes.status == 200, "whose answer counted")
            t.equal({"n": n} in sent(t), yes.status == 200, "what was sent")


def test_other_calls_go_on_while_one_waits(t):
    policy = with_policy(t, ask=["rec/fail"])
    with Daemon(t, *policy) as d:
        agent, boss = keys(t)
        code = ("const slow = tools.rec.fail({}).catch(e => String(e)); const first = await tools.rec.echo({n: 1});"
                "console.log('first'); await tools.rec.echo({n: 2}); console.log('second'); await slow; return first")
        waits = Later(lambda: d.post("/executions", {"code": code, "timeout_ms": 60000}, key=agent))
        asked = pending(t, d, boss)[0]
        until(t, "the other calls", lambda: len(sent(t)) == 2)
        e = d.run("return 7", timeout_ms=60000)
        t.equal(e["result"], 7, "another execution meanwhile")
        answer(d, asked, key=boss)
        e = waits.get().json()
        t.equal((e["status"], e["result"]), ("completed", {"n": 1}))


def test_another_program_is_asked_for_again(t):
    with Daemon(t, *with_policy(t)) as d:
        agent, boss = keys(t)
        code = SEND % 1
        waits = Later(lambda: d.post("/executions", {"code": code}, key=agent))
        asked = pending(t, d, boss)[0]
        t.equal(answer(d, asked, "tool", boss).status, 200)
        t.equal(waits.get().json()["status"], "completed")
        # The same arguments need nobody any more; others do.
        t.equal(d.post("/executions", {"code": code}, key=agent).json()["status"], "completed")
        waits = Later(lambda: d.post("/executions", {"code": SEND % 2}, key=agent))
        answer(d, pending(t, d, boss)[0], "deny", boss)
        t.equal(waits.get().json()["status"], "failed")
        grants = d.get("/grants", key=boss).json()
        t.equal((grants["complete"], [(g["scope"], g["tool"], g["arguments"], g["by"]) for g in grants["grants"]]),
                (True, [("tool", "echo", {"n": 1}, "boss")]))
        problem(t, d.get("/grants", key=agent), 403, "denied", "'approve'")
        where = "/grants/" + grants["grants"][0]["id"]
        problem(t, d.request("DELETE", where, key=agent), 403, "denied")
        problem(t, d.request("DELETE", where, key=make_key(t, "far", "--tenant", "elsewhere", role="admin")), 404, "missing")
        t.equal(d.request("DELETE", where, key=boss).status, 204)
        problem(t, d.request("DELETE", where, key=boss), 404, "missing")
        waits = Later(lambda: d.post("/executions", {"code": code}, key=agent))
        answer(d, pending(t, d, boss)[0], "deny", boss)
        t.equal(waits.get().json()["status"], "failed", "the grant was taken back")
    for event, count in (("approval.asked", 3), ("approval.decided", 3), ("grant.made", 1), ("grant.revoked", 1)):
        found = t.caisson("audit", "list", "--event", event, "-o", "json").json()["entries"]
        t.equal(len(found), count, event)


def test_an_answer_that_comes_too_late_is_told_why(t):
    with Daemon(t, *with_policy(t)) as d:
        agent, boss = keys(t)
        other = make_key(t, "other", role="approve")
        waits = Later(lambda: d.post("/executions", {"code": SEND % 1}, key=agent))
        asked = pending(t, d, boss)[0]
        tag = d.get("/approvals/" + asked["id"], key=boss).headers["ETag"]

        def late(says, *pieces, key=boss, status=409, code="conflict", **more):
            headers = more.pop("headers", None)
            said = d.post("/approvals/" + asked["id"], dict({"answer": "once"}, **more), key=key, headers=headers)
            problem(t, said, status, code, *pieces)
            t.equal(said.json()["title"], says, "title")
        late("It is another card than the one that was seen", "card_hash", card_hash="0" * 64)
        for match in ('"%s"' % ("0" * 64), "W/" + tag, tag[1:-1], '"a", "b"'):
            late("It is another one than the one that was seen", "If-Match", status=412, code="precondition", headers={"If-Match": match})
        t.true(waits.waits(), "one of them counted")
        done = d.post("/approvals/" + asked["id"], {"answer": "once"}, key=boss, headers={"If-Match": '"x", ' + tag})
        t.equal(done.status, 200, "with its tag")
        late("You have answered already", "by boss")
        late("Somebody else has answered", "by boss", key=other)
        t.equal(waits.get().json()["status"], "completed")
        execution = begin(t, d, SEND % 3, headers={"Authorization": "Bearer " + agent})
        asked = pending(t, d, boss)[0]
        d.request("DELETE", "/executions/" + execution, key=agent)
        late("It was withdrawn: nobody waits for it any more", "withdrawn")
    with Daemon(t, *with_policy(t, timeout_s=1)) as d:
        t.equal(d.post("/executions", {"code": SEND % 2}, key=agent).json()["status"], "failed")
        asked = d.get("/approvals?state=expired", key=boss).json()["approvals"][0]
        late("Its time is over", "expired")


def test_what_an_answer_has_not_is_refused(t):
    with Daemon(t, *with_policy(t)) as d:
        agent, boss = keys(t)
        waits = Later(lambda: d.post("/executions", {"code": SEND % 1}, key=agent))
        asked = pending(t, d, boss)[0]
        problem(t, answer(d, asked, "once", boss, until="2099-01-01T00:00:00Z"), 400, "invalid", "until", "'once'")
        problem(t, answer(d, asked, "deny", boss, arguments={"n": 1}), 400, "invalid", "arguments", "'deny'")
        problem(t, answer(d, asked, "deny", boss, reason="\u00e9" * 300), 400, "invalid", "reason: 600 bytes; at most 500")
        said = t.caisson("deny", asked["id"], "--reason", "x" * 700)
        t.equal((said.status, said.out), (2, ""), "a long reason")
        t.has(said.err, "at most 500", "why")
        t.true(waits.waits(), "one of them counted")
        t.status(t.caisson("deny", asked["id"], "--reason", "x" * 500), 0)
        t.has(json.dumps(waits.get().json()["error"]), "x" * 500)
        problem(t, d.post("/tools/rec/echo?session_id=s", {"n": 1}, key=agent), 400, "invalid", "session_id", "POST /executions")


def test_the_ledger_says_whether_the_card_was_named(t):
    with Daemon(t, *with_policy(t)) as d:
        agent, boss = keys(t)
        for n in range(3):
            waits = Later(lambda: d.post("/executions", {"code": SEND % n}, key=agent))
            asked = pending(t, d, boss)[0]
            tag = {"If-Match": '"%s"' % asked["card_hash"]} if n == 2 else {"If-Match": "*"}
            more = {"card_hash": asked["card_hash"]} if n == 1 else {}
            t.equal(d.post("/approvals/" + asked["id"], dict({"answer": "once"}, **more), key=boss, headers=tag).status, 200)
            waits.get()
    found = t.caisson("audit", "list", "--event", "approval.decided", "-o", "json").json()["entries"]
    t.equal([(e["data"]["seen"], e["data"]["person"]) for e in reversed(found)], [(False, False), (True, False), (True, False)])


def test_the_stream_says_when_it_is_asked_and_decided(t):
    with Daemon(t, *with_policy(t)) as d:
        agent, boss = keys(t)
        execution = begin(t, d, SEND % 1, headers={"Authorization": "Bearer " + agent})
        asked = pending(t, d, boss)[0]
        connection = d.connect()
        connection.request("GET", "/executions/%s/logs" % execution,
                           headers={"Accept": "text/event-stream", "Authorization": "Bearer " + agent})
        response = connection.getresponse()
        text = response.readline()  # it listens
        answer(d, asked, key=boss)
        text = (text + response.read()).decode()
        connection.close()
        found = [json.loads(data) for data in re.findall(r"event: approval\ndata: (.*)\n", text)]
        t.equal([(a["id"], a["state"]) for a in found], [(asked["id"], "pending"), (asked["id"], "approved")])
        t.has(text, "event: done")
        e = d.get("/executions/%s?wait_ms=5000" % execution, key=agent).json()
        t.equal((e["status"], e["result"]), ("completed", {"n": 1}))


def test_it_is_asked_before_a_restart_and_answered_after_it(t):
    policy = with_policy(t)
    with Daemon(t, *policy) as d:
        agent, boss = keys(t)
        execution = begin(t, d, SEND % 1, durable=True, headers={"Authorization": "Bearer " + agent})
        asked = pending(t, d, boss)[0]
        d.stop(signal.SIGKILL)
        d.wait()
    with Daemon(t, *policy) as d:
        shown = d.get("/approvals/" + asked["id"], key=boss).json()
        t.equal((shown["state"], shown["card_hash"]), ("pending", asked["card_hash"]))
        t.equal(answer(d, asked, key=boss).status, 200)
        e = until(t, "its end", lambda: (lambda e: e if e["status"] == "completed" else time.sleep(0.2))(
            d.get("/executions/%s?wait_ms=2000" % execution, key=agent).json()))
        t.equal((e["result"], sent(t)), ({"n": 1}, [{"n": 1}]))
        t.equal([a["id"] for a in d.get("/approvals", key=boss).json()["approvals"]], [asked["id"]], "asked once")


def test_lists_have_pages(t):
    with Daemon(t, *with_policy(t)) as d:
        agent, boss = keys(t)
        other = make_key(t, "other")
        runs = [begin(t, d, SEND % n, headers={"Authorization": "Bearer " + (other if n % 2 else agent)}) for n in range(7)]
        all = pending(t, d, boss, count=7)[::-1]
        t.equal(sorted(a["execution_id"] for a in all), sorted(runs))
        path, seen = "/approvals?limit=3&state=pending", []
        while path:
            page = d.get(path, key=boss).json()
            t.true(len(page["approvals"]) <= 3, "the page is too long")
            seen += page["approvals"]
            path = page.get("next")
        t.equal([a["id"] for a in seen], [a["id"] for a in all])
        first = d.get("/approvals?limit=2", key=agent).json()
        rest = d.get(first["next"], key=agent).json()
        own = [a["execution_id"] for a in first["approvals"] + rest["approvals"]]
        t.equal((sorted(own), "next" in rest), (sorted(runs[::2]), False))
        one = d.get("/approvals?execution_id=" + runs[3], key=boss).json()["approvals"]
        t.equal([a["execution_id"] for a in one], [runs[3]])
        d.request("DELETE", "/executions/" + runs[3], key=other)
        gone = d.get("/approvals/" + one[0]["id"], key=boss).json()
        t.equal(gone["state"], "withdrawn")


def test_the_page_has_buttons_that_only_it_can_press(t):
    with Daemon(t, *with_policy(t)) as d:
        agent, boss = keys(t)
        waits = Later(lambda: d.post("/executions", {"code": "// <script>alert(1)</script>\n" + SEND % 1}, key=agent))
        asked = pending(t, d, boss)[0]
        where, html = "/approvals/" + asked["id"], {"Accept": "text/html,*/*;q=0.8"}
        page = d.get(where, key=boss, headers=html)
        text = page.body.decode()
        t.has(page.headers["Content-Type"], "text/html")
        t.has(page.headers["Content-Security-Policy"], "frame-ancestors 'none'")
        t.lacks(text, "<script")
        t.has(text, 'name="answer" value="once"')
        t.lacks(d.get(where, key=agent, headers=html).body.decode(), "<button")
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        press = lambda body, **more: d.post(where, body, key=boss, headers=dict(form, **more))
        problem(t, press("answer=once"), 400, "invalid", "card_hash")
        problem(t, press("answer=once&card_hash=" + "0" * 64), 409, "conflict")
        problem(t, press("answer=on%zze&card_hash=1"), 400, "invalid")
        seen = re.search(r'name="card_hash" value="([0-9a-f]{64})"', text).group(1)
        t.equal(press("answer=once&card_hash=" + seen, Origin="https://evil.example").status, 403)
        t.true(waits.waits(), "somebody else's page counted")
        done = press("card_hash=%s&reason=fine+by+me%%21&answer=once" % seen)
        t.equal((done.status, done.headers["Location"]), (303, where))
        t.equal(waits.get().json()["status"], "completed")
        t.has(d.get(where, key=boss, headers=html).body.decode(), "fine by me!")


def test_the_webhook_is_signed_and_tried_again(t):
    with Receiver(statuses=[503]) as hook:
        more = {"webhook": hook.url + "/chat", "secret": "whsec-1", "public_url": "https://caisson.example"}
        with Daemon(t, *with_policy(t, approvals=more)) as d:
            agent, boss = keys(t)
            raw = []
            hook.reply = lambda value: raw.append(value) or {}
            waits = Later(lambda: d.post("/executions", {"code": SEND % 1}, key=agent))
            asked = pending(t, d, boss)[0]
            until(t, "the post", lambda: hook.taken())
            answer(d, asked, key=boss)
            t.equal(waits.get().json()["status"], "completed")
            until(t, "the second post", lambda: len(hook.taken()) == 2)
            first, second = hook.taken()
            t.equal((first["event"], second["event"]), ("approval.asked", "approval.over"))
            t.equal((first["approval"]["id"], first["approval"]["state"], first["url"]),
                    (asked["id"], "pending", "https://caisson.example/approvals/" + asked["id"]))
            t.equal((second["approval"]["state"], second["approval"]["by"]), ("approved", "boss"))
            t.has(first["text"], "echo")
            for (path, headers, value, _), body in zip(hook.got, hook.bodies):
                t.equal(path, "/chat")
                seconds, mac = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", headers["Caisson-Signature"]).groups()
                t.true(abs(int(seconds) - time.time()) < 60, "its time is %s" % seconds)
                right = hmac.new(b"whsec-1", seconds.encode() + b"." + body, hashlib.sha256).hexdigest()
                t.equal(mac, right, "signature")
            m = until(t, "the count", lambda: (lambda m: m if m["caisson_approval_posts_total"] == 2 else None)(metrics(d)))
            t.equal((m["caisson_approvals_asked_total"], m['caisson_approvals_total{state="approved"}'],
                     m["caisson_approvals_pending"], m["caisson_approval_posts_dropped_total"]), (1, 1, 0, 0))

"""What was allowed for longer than once is good for what was seen, and for nothing else."""

import json

from approving import Later, answer, keys, pending
from guarding import RISKY, Waiting, asked, entries, office, patient, shown
from serving import Daemon
from test_approvals_mcp import client, start

ASK_MAIL = {"tools": {"ask": ["mail/*"]}}
SEND = "await mail.sendMail({ to: inputs.to, subject: 's', body: 'hi' }); return 'sent'"
READ = "const p = await web.fetchPage({ url: 'u' }), c = await crm.findCustomers({});\n"


class Asker:
    """Runs programs with one key and answers what is asked about them with another."""

    def __init__(self, t, d):
        self.t, self.d = t, d
        self.key, self.boss = keys(t)

    def start(self, code, **request):
        return Later(lambda: self.d.post("/executions", dict(request, code=code), key=self.key).json())

    def question(self):
        return pending(self.t, self.d, self.boss)[0]

    def allow(self, what, code, word="tool", request=None, **more):
        """It is asked about, and the answer is this one. Returns the card."""
        waits = self.start(code, **(request or {}))
        asked = self.question()
        card = self.d.get("/approvals/" + asked["id"], key=self.boss).json()["card"]
        done = answer(self.d, asked, word, self.boss, **more)
        self.t.equal(done.status, 200, "%s: %s" % (what, done.body))
        self.t.equal(waits.get()["status"], "completed", what)
        return card

    def free(self, what, code, **request):
        done = self.start(code, **request).get()
        self.t.equal(done["status"], "completed", "%s: it needs nobody" % what)

    def asked(self, what, code, **request):
        waits = self.start(code, **request)
        answer(self.d, self.question(), "deny", self.boss)
        self.t.equal(waits.get()["status"], "failed", what)


def test_a_grant_is_for_the_value_and_not_for_its_token(t):
    sent = office(t, ASK_MAIL)
    to = lambda who: {"to": who}
    with Daemon(t) as d:
        a = Asker(t, d)
        card = a.allow("the first", SEND, request={"inputs": to("team@corp.example")})
        t.equal(card["call"]["arguments"]["to"], "[EMAIL_1]", "what is shown")
        a.free("the same", SEND, inputs=to("team@corp.example"))
        a.asked("somebody else, with the same token", SEND, inputs=to("evil@attacker.example"))
        a.allow("named", SEND, request={"inputs": to("second@corp.example")}, arguments={"to": "[EMAIL_1]"})
        other = SEND.replace("'hi'", "'hello'")
        a.free("the same, and another text", other, inputs=to("second@corp.example"))
        a.asked("somebody else", other, inputs=to("evil@attacker.example"))
        a.asked("a token that is none", SEND.replace("inputs.to", "'[EMAIL_1]'") + "\n// " + "x", inputs={})
        for grant in d.get("/grants", key=a.boss).json()["grants"]:
            t.lacks(json.dumps(grant), "corp.example", "the list")
    with Daemon(t) as d:
        a.d = d
        a.free("after a restart", SEND, inputs=to("team@corp.example"))
    t.equal({m["to"] for m in sent()}, {"team@corp.example", "second@corp.example"}, "who got mail")
    for word in ("team@corp.example", "second@corp.example"):
        t.lacks(json.dumps(entries(t, "grant.made")), word, "the ledger")


def test_a_grant_of_a_session_is_for_the_value_too(t):
    office(t, ASK_MAIL)
    with Daemon(t) as d:
        a = Asker(t, d)
        session = d.post("/sessions", {}, key=a.key).json()["session_id"]
        same = {"inputs": {"to": "team@corp.example"}, "session_id": session}
        a.allow("the first", SEND, "session", request=same)
        a.free("the same", SEND, **same)
        a.asked("somebody else", SEND, inputs={"to": "evil@attacker.example"}, session_id=session)
        a.asked("without the session", SEND, inputs=same["inputs"])


def test_exactly_these_arguments_are_no_more_and_no_less(t):
    office(t, {"tools": {"ask": ["crm/*"]}})
    find = "return (await crm.findCustomers(%s)).length"
    with Daemon(t) as d:
        a = Asker(t, d)
        a.allow("none", find % "{}")
        a.free("none again", find % "{}")
        a.asked("one more", find % "{ city: 'Akron' }")
        a.allow("whatever they are", find % "{ city: 'Akron' }", arguments="any")
        a.free("others", find % "{ city: 'Dayton' }")
        found = {g["match"]: g["arguments"] for g in d.get("/grants", key=a.boss).json()["grants"]}
        t.equal(found, {"exact": {}, "any": {}}, "the list")
        listed = t.caisson("approvals", "grants")
        t.has(listed.out, "any arguments", "the list in words")


def test_a_grant_does_not_open_the_flow_guard(t):
    sent = office(t, ASK_MAIL)
    mail = "await mail.sendMail({ to: 'team', subject: 's', body: %s }); return 'sent'"
    with Daemon(t) as d:
        a = Asker(t, d)
        card = a.allow("by the policy", mail % "'hi'", arguments={"to": "team"})
        t.equal(card["flows"], [], "flows")
        a.free("another text", mail % "'hello'")
        a.asked("with what has come in", READ + mail % "JSON.stringify(c)")
        a.asked("with what has come in, though none of it is sent", READ + mail % "'hi'")
        card = a.allow("such a flow, without data", READ + mail % "'hi'", arguments={"to": "team"})
        t.equal({f["from"] for f in card["flows"]}, {"web/fetch_page", "crm/find_customers"}, "from where")
        a.free("the same flow", READ + mail % "'bye'")
        a.asked("the same flow, with data", READ + mail % "c[0].email")
        a.allow("and with one address", READ + mail % "c[0].email", arguments={"to": "team"})
        a.free("another one", READ + mail % "c[1].email")
        a.asked("more than that", READ + mail % "c[0].email + c[1].email")
        a.asked("of another kind", READ + mail % "c[0].name")
    t.equal(len(sent()), 6, "mails")


def test_a_grant_for_a_flow_is_for_its_sources(t):
    office(t, roles=("crm", "web", "mail", "github"))
    mail = "await mail.sendMail({ to: 'team', subject: 's', body: 'hi' }); return 'sent'"
    with Daemon(t) as d:
        a = Asker(t, d)
        a.allow("two sources", READ + mail)
        a.free("the same", READ + mail)
        a.asked("a third one", READ + "await github.getFileContents({ owner: 'o', repo: 'r', path: 'p' });\n" + mail)


def test_the_arguments_of_an_answer_are_those_of_the_call(t):
    office(t, ASK_MAIL)
    with Daemon(t) as d:
        a = Asker(t, d)
        waits = a.start(SEND, inputs={"to": "b"})
        asked = a.question()
        for arguments, says in (({"to": "other"}, "'to'"), ({"nope": 1}, "'nope'"), ({"to": "b", "body": ["hi"]}, "'body'"),
                                ({}, '\\"any\\"'), ("all", "arguments"), ([1], "arguments")):
            done = answer(d, asked, "tool", a.boss, arguments=arguments)
            t.equal(done.status, 400, str(arguments))
            t.has(done.body.decode(), says, str(arguments))
        for arguments, says in (('{"to": "WRONG"}', "'to'"), ("{}", '"any"'), ('{"nope": 1}', "'nope'")):
            done = t.caisson("approve", asked["id"], "--yes", "--tool", "--arguments", arguments)
            t.equal((done.status, done.out), (2, ""), arguments)
            t.has(done.err, says, arguments)
        t.true(waits.waits(), "one of them counted")
        t.equal(d.get("/grants", key=a.boss).json()["grants"], [], "grants")
        t.status(t.caisson("approve", asked["id"], "--yes", "--tool", "--arguments", '{"to": "b"}'), 0)
        t.equal(waits.get()["status"], "completed", "status")
        a.allow("any of them", SEND, request={"inputs": {"to": "c"}}, arguments="any")
        a.free("another one", SEND, inputs={"to": "d"})


def test_four_eyes_are_those_of_when_it_was_asked(t):
    for word in ("off", "high"):
        t.file(word + ".json", json.dumps(patient({"approvals": {"four_eyes": word}})))
    for mine, yours in (("high.json", "off.json"), ("off.json", "high.json")):
        with Waiting(t, RISKY, "--policy", mine, "--input", '{"by": 2}') as w:
            done = t.caisson("approve", w.asked(), "--yes", "--policy", yours)
            t.equal(done.status, 3, "asked under %s, answered under %s" % (mine, yours))
            t.has(done.err, "four_eyes", "why")
            w.answer("deny")
            w.end()
    with Waiting(t, RISKY, "--policy", "off.json", "--input", '{"by": 2}') as w:
        w.answer("approve", "--yes", "--policy", "off.json")
        t.equal(w.end().status, 0, "under both")


def test_always_is_for_the_one_who_asked_and_not_for_an_agent(t):
    options = ["--policy", t.file("patient.json", json.dumps(patient()))]
    with Waiting(t, RISKY, "--input", '{"by": 2}') as w:
        w.answer("approve", "--yes", "--always")
        t.equal(w.end().status, 0, "the first")
    again = t.caisson("run", "--input", '{"by": 3}', "-e", RISKY)
    t.equal(again.status, 0, "again: %s" % again)
    with client(t, "old", "stdio", options, capabilities=json.dumps({"roots": {}})) as c:
        start(c, RISKY)
        waits = asked(t)[0]
        t.equal(shown(t, waits)["actor_type"], "agent", "who asks")
        t.status(t.caisson("deny", waits), 0)


def test_arguments_that_do_not_fit_are_asked_for_again_at_the_terminal(t):
    office(t, ASK_MAIL)
    options = ("run", "--input", '{"to": "b"}', "-e", SEND)
    lines = [("answer: ", "t"), ("until when?", "\n"), ("arguments that must be equal", '{"to": "c"}\n'), ("another one in the call", ""),
             ("arguments that must be equal", "{}\n"), ("names none", ""), ("arguments that must be equal", '{"to": "b"}\n')]
    status, seen = t.on_a_terminal(*options, answers=lines, env={"NO_COLOR": "1"})
    t.equal(status, 0, "status: %s" % seen)
    t.equal(t.caisson("run", "--input", '{"to": "b"}', "-e", SEND.replace("'hi'", "'ho'")).status, 0, "another text")
    grants = t.caisson("approvals", "grants", "-o", "json").json()["grants"]
    t.equal([(g["arguments"], g["match"], g["actor_type"]) for g in grants], [({"to": "b"}, "these", "local")], "grants")

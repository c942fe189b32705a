"""The model sees tokens, tools see values: 500 customers come from one server, a program works with them, and another server
gets the real addresses. Everything that leaves on any other way is searched for what was planted: docs/privacy.md."""

import json
import os
import re

from harness import Failed, table
from mcp_wire import Lines, call
from peers import configure, ours
from people import Person
from recording import Planted, contents
from resting import begin, until
from serving import Daemon, children_of

CUSTOMERS = 500
FEW = 40
DEBUG = ("--log.level", "debug")
TOKEN = re.compile(r"\[[A-Z][A-Z_]*_[1-9][0-9]*\]")

# Filters, groups, joins, uses tokens as keys, in templates and through JSON; sends one message to each customer in Dayton.
PROGRAM = r"""
const all = await crm.listCustomers({});
const { orders } = await crm.listOrders({});
const byMail = new Map(all.map((c) => [c.email, c]));
const spent: Record<string, number> = {};
for (const o of orders) spent[o.customer_email] = (spent[o.customer_email] ?? 0) + o.total;
const again = JSON.parse(JSON.stringify(all));
const chosen = again.filter((c) => c.city === 'Dayton' && byMail.get(c.email)?.email === c.email);
chosen.sort((a, b) => a.id - b.id);
for (const c of chosen)
    await post.send({
        to: c.email, subject: `Hello ${c.name}`,
        body: `Dear ${c.name},\nwe have "${c.phone}" and <${c.email}>; you live at ${c.street}.`,
        meta: { nested: [{ contact: { phone: c.phone } }], born: c.date_of_birth, by: { [c.email]: spent[c.email] ?? 0 },
                packed: JSON.stringify({ to: [c.email] }) },
    });
const cities: Record<string, number> = {};
for (const c of all) cities[c.city] = (cities[c.city] ?? 0) + 1;
console.log('first', all[0], `${all[1].name} / ${all[1].card_number}`);
console.error(all[2].note);
caisson.progress(1, 2, `sent to ${chosen[0].email}`);
import fs from 'node:fs/promises';
await fs.writeFile('/workspace/out/chosen.csv', chosen.map((c) => `${c.name},${c.email},${c.iban}`).join('\n'));
await caisson.storage.put('chosen', chosen.slice(0, 3));
let trouble = '';
try { await crm.break({}) } catch (e) { trouble = e.message }
return { sent: chosen.map((c) => c.id), cities, joined: orders.filter((o) => byMail.has(o.customer_email)).length,
         accounts: new Set(all.map((c) => c.email)).size, sample: all.slice(0, 20), trouble,
         sorted: all.map((c) => c.ssn).sort().slice(0, 5), spent: Object.keys(spent).slice(0, 5) };
"""

GUEST = r"""
import json
people = caisson.call("crm", "list_customers", {})
if isinstance(people, str):
    people = json.loads(people)
chosen = [p for p in people if p["city"] == "Dayton"]
for p in chosen[:5]:
    caisson.call("post", "send", {"to": p["email"], "subject": "Hello", "body": "Dear " + p["name"] + ", call " + p["phone"]})
open("/workspace/out/people.json", "w").write(json.dumps(chosen))
print(people[0])
import sys
print(people[1]["note"], file=sys.stderr)
print(json.dumps({"sent": len(chosen[:5]), "sample": people[:5]}))
"""


class World:
    """Two servers, the people that one of them knows, and what the other one has sent."""

    def __init__(self, t, policy=None, count=FEW):
        self.t = t
        people = [Person(i) for i in range(count)]
        cities = ("Dayton", "Boulder", "Salem", "Duluth")
        self.customers = [{
            "id": i, "name": p.name, "email": p.email, "phone": p.phone, "card_number": p.card, "ssn": p.ssn, "iban": p.iban,
            "street": p.house, "date_of_birth": p.birth, "city": cities[i % 4],
            "note": "Paid with card %s, asked to be called at %s or written to at %s" % (p.card, p.phone, p.email),
        } for i, p in enumerate(people)]
        orders = [{"number": 7000 + i, "customer_email": people[i % (count // 5)].email, "total": i % 7 + 1} for i in range(300)]
        self.secret = people[0].stripe
        self.values = {self.secret}
        for p in people:
            self.values |= {p.name, p.email, p.phone, p.card, p.ssn, p.iban, p.house}
        self.planted = Planted(self.values)
        self.box = os.path.join(t.dir, "sent.jsonl")
        self.gate = os.path.join(t.dir, "go-on")
        known = t.file("people.json", json.dumps({"customers": self.customers, "orders": orders, "secret": self.secret}))
        configure(t, {"crm": ours("crm", known), "post": ours("post", self.box, self.gate)}, policy)
        self.options = ["--policy", os.path.join(t.dir, "policy.json")] if policy else []

    def sent(self, tool="send"):
        if not os.path.exists(self.box):
            return []
        with open(self.box) as f:
            return [m for m in map(json.loads, f) if m["tool"] == tool]

    def chosen(self):
        return [c for c in self.customers if c["city"] == "Dayton"]

    def clean(self, what, data):
        if not isinstance(data, bytes):
            data = (data if isinstance(data, str) else json.dumps(data)).encode()
        found = self.planted.found_in(data)
        if found:
            at = data.find(found[0].encode())
            raise Failed("%s has %d values, such as %r: %r" % (what, len(found), found[:3], data[max(0, at - 200):at + 100]))

    def clean_disk(self):
        """Everything that caisson has written anywhere."""
        t, looked = self.t, 0
        for place in sorted(os.listdir(t.state)):
            if place == os.path.basename(t.dir):
                continue
            found, read = self.planted.found_under(os.path.join(t.state, place))
            looked += len(read)
            t.true(not found, "%s: %s" % (place, {path: values[:3] for path, values in found.items()}))
        t.true(looked > 0, "nothing was written at all")

    def clean_ledger(self):
        done = self.t.caisson("audit", "export")
        self.t.status(done, 0)
        self.t.true(len(done.out) > 500, "the export is empty")
        self.clean("the ledger's export", done.out)

    def clean_backup(self):
        path = os.path.join(self.t.dir, "backup.tar")
        self.t.status(self.t.caisson("backup", path), 0)
        self.clean("the backup", b"\n".join(contents(path)))

    def delivered(self, sent, wanted):
        """What the other server got is what the first one gave, at every depth."""
        t = self.t
        t.equal([m["to"] for m in sent], [c["email"] for c in wanted], "addresses")
        for m, c in zip(sent, wanted):
            t.equal(m["subject"], "Hello " + c["name"], "subject")
            t.equal(m["body"], 'Dear %s,\nwe have "%s" and <%s>; you live at %s.' % (c["name"], c["phone"], c["email"], c["street"]), "body")
            t.equal(m["meta"]["nested"], [{"contact": {"phone": c["phone"]}}], "nested")
            t.equal(m["meta"]["born"], c["date_of_birth"], "date of birth")
            t.equal(list(m["meta"]["by"]), [c["email"]], "as a key")
            t.equal(json.loads(m["meta"]["packed"]), {"to": [c["email"]]}, "JSON in JSON")


def completed(t, e):
    t.true(e["status"] == "completed", "failed: %r" % e.get("error"))
    return e["result"]


def check_result(t, world, r):
    t.equal(r["sent"], [c["id"] for c in world.chosen()], "who was chosen")
    t.equal(r["cities"], {city: CUSTOMERS // 4 for city in ("Dayton", "Boulder", "Salem", "Duluth")}, "cities")
    t.equal(r["joined"], 300, "orders that were joined")
    t.equal(r["accounts"], CUSTOMERS, "different addresses")
    t.matches(r["sample"][0]["email"], r"^\[EMAIL_[0-9]+\]$", "an address")
    t.matches(r["sample"][0]["name"], r"^\[PERSON_[0-9]+\]$", "a name")
    t.matches(r["trouble"], r"\[CREDIT_CARD_[0-9]+\].*\[EMAIL_[0-9]+\].*\[PHONE_[0-9]+\]", "the error of the tool")


class Tapped(Lines):
    """Keeps every byte that the client was sent."""

    def __init__(self, *args):
        super().__init__(*args)
        self.bytes = b""

    def line(self, patience=60):
        line = super().line(patience)
        self.bytes += (line or b"") + b"\n"
        return line


def test_the_mail_workflow_over_mcp(t):
    w = World(t, count=CUSTOMERS)
    with Tapped(t, [t.binary, "mcp", *DEBUG, *w.options]) as m:
        m.initialize()
        answer = m.ask(call(1, "execute_code", {"code": PROGRAM, "session_id": "new"}, {"progressToken": "p"}), 180)
        t.true(not answer["result"].get("isError"), "it failed: %.2000s" % answer)
        said = json.dumps(answer)
        id = re.search(r"ex_[A-Za-z0-9]+", said).group(0)
        for view in ("result", "logs", "calls"):
            m.ask(call("v" + view, "get_execution", {"execution_id": id, "view": view}))
        m.ask(call(2, "call_tool", {"server": "crm", "tool": "get_customer", "arguments": {"id": 3}}))
        m.ask(call(3, "call_tool", {"server": "crm", "tool": "break", "arguments": {}}))
        w.delivered(w.sent(), w.chosen())
        w.clean("what the client was sent", m.bytes)
        t.true(m.seen, "there were no notifications")
        t.true(TOKEN.search(m.bytes.decode()), "there is no token in it")
        m.p.stdin.close()
        m.p.wait(60)
        log = m.p.stderr.read()
        t.log.append(log[-3000:].decode("utf-8", "replace"))
    w.clean("the log", log)
    w.clean_disk()
    w.clean_ledger()


def test_the_mail_workflow_over_rest(t):
    w = World(t, count=CUSTOMERS)
    with Daemon(t, *DEBUG, *w.options) as d:
        session = d.post("/sessions", {"name": "mail"}).json()["session_id"]
        e = d.run(PROGRAM, session_id=session)
        check_result(t, w, completed(t, e))
        w.delivered(w.sent(), w.chosen())
        w.clean("the envelope", e)
        paths = ["/executions/" + e["execution_id"], "/executions", "/executions/%s/logs" % e["execution_id"], "/sessions/" + session,
                 "/sessions/%s/files" % session, "/servers", "/artifacts", "/audit", "/metrics"]
        paths += ["/artifacts/" + a["id"] for a in e["artifacts"]]
        for path in paths:
            w.clean("GET " + path, d.get(path).body)
        t.true(any(TOKEN.search(d.get("/artifacts/" + a["id"]).body.decode()) for a in e["artifacts"]), "no artifact has tokens")
        w.clean_backup()
    w.clean("the log", d.said())
    w.clean_disk()
    w.clean_ledger()


KEEP = """
const all = await crm.listCustomers({});
state.all = all;
const text = all.map((c) => Object.values(c).join(' ')).join('\\n');
await post.wait({});
return text.length > 1000 && all.length;
"""


def is_worker(pid):
    try:
        return os.path.basename(os.readlink("/proc/%d/exe" % pid)) not in ("node", "python3")
    except OSError:
        return False


@table([("typescript",), ("python",)])
def test_the_workers_memory_has_no_value(t, language):
    w = World(t, count=CUSTOMERS)
    code = KEEP if language == "typescript" else (
        'people = caisson.call("crm", "list_customers", {})\ntext = str(people)\ncaisson.call("post", "wait", {})\nprint(len(text))')
    with Daemon(t, "--execution.workers", "1", *w.options) as d:
        before = set(children_of(d.process.pid))
        id = begin(t, d, code, language=language, timeout_ms=300000)
        try:
            until(t, "the call that waits", lambda: w.sent("wait"), 60)
            family = set(children_of(d.process.pid))
            looked = 0
            for pid in sorted(family):
                if language == "typescript" and not is_worker(pid) or language == "python" and pid in before:
                    continue
                if serves(pid):
                    continue
                seen = w.planted.found_in_memory(pid)
                if seen is None:
                    t.skip("the memory of another process cannot be read here")
                found, size = seen
                looked += size
                t.true(not found, "process %d has %d values: %r" % (pid, len(found), found[:3]))
            t.true(looked > 1 << 20, "only %d bytes were looked at" % looked)
        finally:
            open(w.gate, "w").close()
        until(t, "its end", lambda: d.get("/executions/" + id).json().get("status") == "completed", 60)


def serves(pid):
    """Is it one of the tool servers?"""
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return b".mjs" in f.read()
    except OSError:
        return True


# Sessions, and who a token belongs to

REMEMBER = "const all = await crm.listCustomers({}); return all.slice(0, 4).map((c) => c.email)"
ECHO = "return await post.echo({ value: inputs.value })"
SEND = "return await post.send({ to: inputs.to, subject: 'x', body: 'for ' + inputs.to })"


def start(d):
    return d.post("/sessions", {}).json()["session_id"]


def test_tokens_hold_within_a_session_and_after_a_restart(t):
    w = World(t)
    mails = [c["email"] for c in w.customers]
    with Daemon(t, *DEBUG) as d:
        s = start(d)
        tokens = completed(t, d.run(REMEMBER, session_id=s))
        t.equal(completed(t, d.run(REMEMBER, session_id=s)), tokens, "tokens of the second execution")
        completed(t, d.run(SEND, session_id=s, inputs={"to": tokens[0]}))
        t.equal(w.sent()[-1]["to"], mails[0], "who it was sent to")
    w.clean_disk()
    with Daemon(t, *DEBUG) as d:
        completed(t, d.run(SEND, session_id=s, inputs={"to": tokens[2]}))
        t.equal((w.sent()[-1]["to"], w.sent()[-1]["body"]), (mails[2], "for " + mails[2]), "after a restart")
        t.equal(completed(t, d.run(REMEMBER, session_id=s)), tokens, "tokens after a restart")
        w.clean("the log", d.said())
    w.clean_disk()


def test_a_durable_execution_that_was_accepted_goes_on(t):
    """Its inputs are masked with the tokens of its session, which takes a while: it is not accepted before."""
    w = World(t)
    code = "await new Promise((r) => setTimeout(r, 300)); const c = await crm.getCustomer({ id: 3 }); return [inputs.to, c.email]"
    for i in range(2):
        with Daemon(t) as d:
            id = begin(t, d, code, inputs={"to": w.customers[i]["email"]}, session_id=start(d), durable=True)
            d.process.kill()
            d.process.wait()
        with Daemon(t) as d:
            until(t, "its end", lambda: d.get("/executions/" + id).json().get("status") in ("completed", "failed", "cancelled"), 60)
            tokens = completed(t, d.get("/executions/" + id).json())
            t.true(all(TOKEN.fullmatch(token) for token in tokens), "tokens: %r" % tokens)
    w.clean_disk()


def test_another_sessions_token_is_nobodys(t):
    w = World(t)
    with Daemon(t) as d:
        one, other = start(d), start(d)
        token = completed(t, d.run(REMEMBER, session_id=one))[3]
        for more in ({"session_id": other}, {}):
            e = d.run(SEND, inputs={"to": token}, **more)
            t.equal(e["status"], "failed", "a token of another session, sent on with %r" % more)
            w.clean("the refusal", e)
        t.equal(w.sent(), [], "what was sent")
        # Its own counts, whatever the other one's say.
        mine = completed(t, d.run("return (await crm.getCustomer({ id: 9 })).email", session_id=other))
        completed(t, d.run(SEND, session_id=other, inputs={"to": mine}))
        t.equal(w.sent()[-1]["to"], w.customers[9]["email"], "who it was sent to")
        # A session that is over takes its tokens along.
        d.request("DELETE", "/sessions/" + one)
        t.true(d.run(SEND, inputs={"to": token})["status"] == "failed", "the session is over, and its token is good")


def test_a_forged_token_fails_the_call(t):
    w = World(t)
    with Daemon(t) as d:
        s = start(d)
        completed(t, d.run(REMEMBER, session_id=s))
        for forged in ("[EMAIL_99999]", "to [EMAIL_4711] now", "[IBAN_777]", {"[EMAIL_31337]": 1}, [[{"a": "x [SSN_4711]"}]]):
            e = d.run(ECHO, session_id=s, inputs={"value": forged})
            t.equal(e["status"], "failed", "with %r" % (forged,))
            t.matches(e["error"]["message"], "token", "message")
        t.equal(w.sent("echo"), [], "what arrived")


# Other ways out

def test_what_is_known_replayed_or_durable_shows_nothing(t):
    w = World(t)
    code = "const c = await crm.getCustomer({ id: inputs.id }); console.log(c); await post.send({ to: c.email, subject: c.name, body: c.phone }); return c"
    read = "return await crm.getCustomer({ id: 8 })"
    with Daemon(t, "--cache.ttl", "5m", *DEBUG) as d:
        # Tokens mean something in their session alone: so does an answer that has them.
        s = start(d)
        completed(t, d.run(REMEMBER, session_id=s))
        first, again, elsewhere = d.run(read, session_id=s), d.run(read, session_id=s), d.run(read)
        t.equal((again.get("cached"), elsewhere.get("cached")), (True, None), "cached")
        t.equal(again["result"], first["result"], "a known answer")
        durable = d.run(code, inputs={"id": 4}, durable=True)
        for e in (first, again, elsewhere, durable):
            completed(t, e)
            w.clean("an envelope", e)
        t.equal(w.sent()[-1]["to"], w.customers[4]["email"], "who it was sent to")
    for e in (first, durable):
        done = t.caisson("replay", e["execution_id"], "-o", "json")
        t.status(done, 0)
        t.equal(done.json()["same"], True, "the same")
        w.clean("the replay", done.out + done.err)
    w.clean("the log", d.said())
    w.clean_disk()
    w.clean_ledger()


def test_a_guest_sees_tokens_too(t):
    w = World(t)
    with Daemon(t, *DEBUG) as d:
        e = d.run(GUEST, language="python")
        t.equal(completed(t, e)["sent"], 5, "sent")
        w.clean("the envelope", e)
        t.true(TOKEN.search(json.dumps(e["result"])), "there is no token in the result")
        t.equal([m["to"] for m in w.sent()], [c["email"] for c in w.chosen()[:5]], "addresses")
        t.equal(w.sent()[0]["body"], "Dear %s, call %s" % (w.chosen()[0]["name"], w.chosen()[0]["phone"]), "body")
        for a in e["artifacts"]:
            w.clean("an artifact", d.get("/artifacts/" + a["id"]).body)
    w.clean("the log", d.said())
    w.clean_disk()


ERRORS = {
    "of a tool": "await crm.break({})",
    "of a tool that was given a value": "await post.refuse({ to: (await crm.getCustomer({ id: 5 })).email })",
    "thrown by the program": "const c = await crm.getCustomer({ id: 5 }); throw new Error('about ' + JSON.stringify(c))",
    "made of pieces": "const c = await crm.getCustomer({ id: 5 }); throw new TypeError(['x', c.email, c.ssn].join(' '))",
    "of a schema": "const c = await crm.getCustomer({ id: 5 }); await post.send({ to: c.email, subject: c.name, body: [c.phone] })",
    "of a missing tool": "const c = await crm.getCustomer({ id: 5 }); await post[c.email]({})",
}


def test_errors_show_nothing(t):
    w = World(t)
    with Daemon(t, *DEBUG) as d:
        for name, code in ERRORS.items():
            e = d.run(code)
            t.equal(e["status"], "failed", "status of an error " + name)
            w.clean("an error " + name, e)
    w.clean("the log", d.said())
    w.clean_disk()


def test_what_the_program_computes_itself_is_hidden(t):
    w = World(t)
    mail = w.customers[7]["email"]
    with Daemon(t) as d:
        code = "const s = inputs.codes.map((n) => String.fromCharCode(n)).join(''); console.log('it is', s); return { s, list: [s] }"
        e = d.run(code, inputs={"codes": [ord(c) for c in mail]})
        completed(t, e)
        w.clean("the envelope", e)
        t.matches(e["result"]["s"], r"^\[EMAIL_[0-9]+\]$", "result")


def test_patterns_of_a_request_tell_nothing_about_values(t):
    """A pattern that comes with a program is a guess: where a rule finds something, it finds it with or without the guess."""
    w = World(t)
    mail = w.customers[0]["email"]
    read = "const c = await crm.getCustomer({ id: 0 }); return [c.email, c.note, c.ssn, c.phone]"
    with Daemon(t) as d:
        plain = completed(t, d.run(read))
        for pattern in (re.escape(mail[:5]), re.escape(mail.split("@")[0]), re.escape(mail), r"[a-m]\w+\.\w+@.*", r".*" + re.escape(mail[-4:]),
                        re.escape(w.customers[0]["ssn"][:3]) + r"-\d\d-\d{4}", r"\+1 7\d\d.*"):
            e = d.run(read, privacy={"patterns": [{"name": "GUESS", "pattern": pattern}]})
            t.equal(completed(t, e), plain, "with the pattern %r" % pattern)
            w.clean("the envelope", e)


def test_records_tell_no_lengths(t):
    """What is counted about a call has tokens, not values."""
    w = World(t)
    mails = [c["email"] for c in w.customers]
    shortest, longest = min(range(FEW), key=lambda i: len(mails[i])), max(range(FEW), key=lambda i: len(mails[i]))
    t.true(len(mails[shortest]) < len(mails[longest]), "they are all as long")
    code = "const c = await crm.getCustomer({ id: inputs.id }); await post.echo({ value: c.email }); return c.email.length"
    with Daemon(t) as d:
        seen = [d.run(code, inputs={"id": i}) for i in (shortest, longest)]
        counted = [[{k: v for k, v in c.items() if k.endswith("bytes")} for c in e["calls"]] for e in seen]
        results = [completed(t, e) for e in seen]
        t.equal(results[0], results[1], "lengths that the program sees")
        t.equal(counted[0][1], counted[1][1], "bytes of the call that echoes")


# The recorder can fail

def shows(t, w, e):
    data = json.dumps(e).encode()
    t.true(w.planted.found_in(data), "nothing is shown, though nothing is hidden")


def test_without_protection_values_are_shown_and_the_envelope_says_so(t):
    w = World(t)
    with Daemon(t, "--no-pii-protection", *DEBUG) as d:
        e = d.run(PROGRAM)
        completed(t, e)
        shows(t, w, e)
        t.equal((e["privacy"]["protected"], e["privacy"]["why"]), (False, "switched off (--no-pii-protection, privacy.enabled)"), "what the envelope says")
        w.delivered(w.sent(), w.chosen())
    t.true(w.planted.found_under(os.path.join(t.state, "data"))[0], "nothing is on disk either")


def test_a_tool_can_be_let_through(t):
    w = World(t, {"privacy": {"rules": [{"tool": "crm/get_customer", "level": "off"}]}})
    with Daemon(t, *w.options) as d:
        # What the program says of it is hidden again; so it has to spell it.
        e = d.run("const codes = (c) => [...c.email].map((x) => x.charCodeAt(0)); "
                  "return [codes(await crm.getCustomer({ id: 2 })), codes((await crm.listCustomers({}))[2])]")
        shown, hidden = ("".join(map(chr, codes)) for codes in completed(t, e))
        t.equal(shown, w.customers[2]["email"], "what was let through")
        t.matches(hidden, TOKEN.pattern, "what was not")
        t.equal(e["privacy"]["unprotected"], ["crm/get_customer"], "what the envelope says")


def test_what_may_not_be_sent_is_not_sent(t):
    w = World(t, {"privacy": {"detokenize": [{"tool": "post/*", "kinds": ["EMAIL"], "then": "deny"}]}})
    with Daemon(t, *w.options) as d:
        e = d.run("const c = await crm.getCustomer({ id: 2 }); return await post.echo({ value: c.email })")
        t.equal((e["status"], e["error"]["type"]), ("failed", "permission_error"), "the call")
        w.clean("the refusal", e)
        e = d.run("const c = await crm.getCustomer({ id: 2 }); return await post.echo({ value: c.phone })")
        completed(t, e)
        t.equal(w.sent("echo"), [{"tool": "echo", "value": w.customers[2]["phone"]}], "what was sent")
        # Secrets go nowhere unless somebody says so.
        e = d.run("const s = await crm.settings({}); return await post.echo({ value: s.api_key })")
        t.equal(e["status"], "failed", "a secret that was sent on")
        w.clean("the refusal", e)

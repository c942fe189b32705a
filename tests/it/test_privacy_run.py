"""What an execution does under protection: tokens for the program, the record and the model, values for tools."""

import glob
import json
import os
import sqlite3
import sys
import time

from mcp_wire import Lines, call
from resting import HERE, until
from serving import Daemon, make_key
from test_durable import database, ended, kill

PEOPLE = os.path.join(HERE, "servers", "people.py")
PLANTED = ["customers.example.org", "+1 415 555", "4111 1111", "4111111111111111", "correct-horse-7", "Lovelace"]


def people(t, privacy=None, policy=None, log="sent", approvals=None):
    """Options of a daemon with that server; and what it was sent so far."""
    sent = os.path.join(t.dir, log)
    t.file("caisson.json", json.dumps({"mcpServers": {"people": {"command": sys.executable, "args": [PEOPLE, sent]}}}))
    rules = {k: v for k, v in (("tools", policy), ("privacy", privacy), ("approvals", approvals)) if v}
    options = ["--policy", t.file("policy.json", json.dumps(rules))] if rules else []

    def was_sent(name=None):
        with open(sent) as f:
            calls = [json.loads(line) for line in f]
        return [a for n, a in calls if name in (None, n)]
    return options, was_sent


def store_bytes(t):
    """Everything that is kept on disk, but for the key and the log of the server."""
    found = b""
    for path in glob.glob(os.path.join(t.env["XDG_DATA_HOME"], "**", "*"), recursive=True):
        if os.path.isfile(path):
            with open(path, "rb") as f:
                found += f.read()
    return found


def clean(t, what, text):
    text = text if isinstance(text, bytes) else (text if isinstance(text, str) else json.dumps(text)).encode()
    for planted in PLANTED:
        t.true(planted.encode() not in text, "%s has %r: %r" % (what, planted, text[:300]))


def entries(t, event):
    path = glob.glob(os.path.join(t.env["XDG_DATA_HOME"], "**", "caisson.db"), recursive=True)[0]
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    rows = [json.loads(e) for (e,) in db.execute("SELECT entry FROM ledger WHERE event = ? ORDER BY seq", (event,))]
    db.close()
    return [r["data"] if isinstance(r.get("data"), dict) else r for r in rows]


def test_the_program_works_with_tokens_and_tools_get_values(t):
    options, sent = people(t)
    code = """\
const all = await people.list({ n: 3 });
const one = await people.find({ n: 1 });
console.log('first', all[0].email, all[1].email === one.email);
await people.send({ to: all[2].email, text: `Dear ${all[2].name}, call ${all[2].phone}` });
return { emails: all.map(p => p.email), same: one.email === all[1].email, city: one.city, orders: one.orders };
"""
    with Daemon(t, *options) as d:
        e = d.run(code)
        t.equal(e["status"], "completed", str(e.get("error")))
        clean(t, "the envelope", e)
        t.equal((e["result"]["same"], e["result"]["city"], e["result"]["orders"]), (True, "Oslo", 1))
        t.true(all(x.startswith("[EMAIL_") for x in e["result"]["emails"]), str(e["result"]))
        t.equal(len(set(e["result"]["emails"])), 3)
        t.equal(sent("send"), [{"to": "person2@customers.example.org", "text": "Dear Ada Lovelace, call +1 415 555 1002"}])
        p = e["privacy"]
        t.equal((p["protected"], p["level"]), (True, "medium"))
        t.true(p["found"]["EMAIL"] >= 4 and p["tokens"] >= 7, str(p))
        clean(t, "the daemon's words", d.said())
        again = d.post("/executions/%s/replay" % e["execution_id"]).json()
        t.true(again["same"], str(again)[:600])
    clean(t, "the store", store_bytes(t))
    masked, restored = entries(t, "privacy.masked"), entries(t, "privacy.restored")
    t.equal(len(masked), 1)
    t.true(masked[0]["found"]["EMAIL"] >= 4 and masked[0]["results"]["people/list"] > 5, str(masked))
    t.equal(masked[0]["outputs"], 0)
    t.equal([(r["server"], r["tool"], r["restored"]["EMAIL"]) for r in restored], [("people", "send", 1)])


def test_large_answers_and_errors_of_tools_are_masked(t):
    options, _ = people(t)
    code = """\
const all = await people.list({ n: 3000 });
const errors = [];
try { await people.fail({}); } catch (e) { errors.push(e.message); }
try { await people.fail({ text: all[7].email }); } catch (e) { errors.push(e.message); }
return { n: all.length, last: all[2999], sum: all.reduce((a, p) => a + p.orders, 0), errors, mine: all[7].email };
"""
    with Daemon(t, *options) as d:
        e = d.run(code)
        t.equal(e["status"], "completed", str(e.get("error")))
        clean(t, "the envelope", e)
        r = e["result"]
        t.equal((r["n"], r["sum"]), (3000, 2999 * 3000 // 2))
        t.true(r["errors"][0].startswith("no such person [EMAIL_"), r["errors"][0])
        t.has(r["errors"][1], r["mine"])
        t.true("/home/ada" not in str(r["errors"]), str(r["errors"]))
        t.true(d.post("/executions/%s/replay" % e["execution_id"]).json()["same"], "its replay")
    clean(t, "the store", store_bytes(t))


def test_tokens_that_nobody_issued_or_that_are_not_for_a_tool_fail_the_call(t):
    options, sent = people(t, approvals={"timeout_s": 1})
    code = """\
const out = [];
const tries = [{ to: '[EMAIL_77]' }, { to: 'x [PERSON_9] y' }];
for (const a of tries) try { await people.send(a); } catch (e) { out.push([e.type ?? e.name, e.message]); }
const all = await people.list({ n: 1 }), key = await people.key({});
for (const v of [all[0].card, key.password]) try { await people.send({ to: v }); } catch (e) { out.push([e.type ?? e.name, e.message]); }
return out;
"""
    with Daemon(t, *options) as d:
        e = d.run(code)
        t.equal(e["status"], "completed", str(e.get("error")))
        out = e["result"]
        t.equal(len(out), 4)
        t.has(out[0][1], "[EMAIL_77] is no token")
        t.has(out[1][1], "[PERSON_9] is no token")
        t.has(out[2][1], "the call was not approved: nobody answered within 1 s")
        t.has(out[3][1], "is not for 'people/send'")
        t.equal([c["status"] for c in e["calls"]], ["invalid", "invalid", "ok", "ok", "denied", "denied"])
        t.equal(sent("send"), [])
        clean(t, "the envelope", e)


def test_inputs_and_outputs_are_masked_and_a_replay_says_the_same(t):
    options, sent = people(t)
    code = """\
console.log('made', 'someone' + '@' + 'made.example.com');
await people.send({ to: inputs.to, text: JSON.stringify({ inner: inputs.to }) });
const made = 'other' + '@' + 'made.example.com';
return { to: inputs.to, made, again: 'someone@' + 'made.example.com' };
"""
    with Daemon(t, *options) as d:
        e = d.run(code, inputs={"to": "person5@customers.example.org"})
        t.equal(e["status"], "completed", str(e.get("error")))
        clean(t, "the envelope", e)
        t.true("made.example.com" not in json.dumps(e), str(e))
        t.true(e["result"]["to"] not in (e["result"]["made"], e["result"]["again"]), str(e["result"]))
        t.has(e["logs"][0]["text"], e["result"]["again"])
        t.equal(sent("send")[0], {"to": "person5@customers.example.org",
                                  "text": "{\"inner\":\"person5@customers.example.org\"}"})
        again = d.post("/executions/%s/replay" % e["execution_id"]).json()
        t.true(again["same"], str(again)[:800])
        t.equal(entries(t, "privacy.masked")[0]["inputs"], 1)
        t.equal(entries(t, "privacy.masked")[0]["outputs"], 3)
        until(t, "an alert on record", lambda: entries(t, "alert.raised"))
        t.equal([a["alert"] for a in entries(t, "alert.raised")], ["sensitive_output"], "somebody should look")
        failed = d.run("throw new Error('for ' + 'someone@' + 'made.example.com')")
        t.true("someone@made.example.com" not in json.dumps(failed), str(failed["error"]))
        guest = d.run("a=made; echo someone@$a.example.com; a=customers; echo person1@$a.example.org >&2", language="bash")
        t.equal(guest["result"], "[EMAIL_1]")
        t.has(guest["stderr"], "[EMAIL_2]")
        t.true(d.post("/executions/%s/replay" % failed["execution_id"]).json()["same"], "the replay of the one that failed")
    clean(t, "the store", store_bytes(t))


def test_a_program_cannot_find_out_a_value_by_guessing(t):
    options, _ = people(t)
    code = """\
const one = await people.find({ n: 1 });
const guessed = await people.say({ text: 'person1' + '@customers.example.org' });
const echoed = await people.say({ text: one.email });
return { token: one.email, guessed, echoed, said: 'person1' + '@customers.example.org' };
"""
    with Daemon(t, *options) as d:
        r = d.run(code)["result"]
        t.equal(r["echoed"], r["token"], "what a tool was given comes back as what it was")
        t.true(r["guessed"] != r["token"] and r["said"] != r["token"], str(r))


def test_a_session_keeps_its_tokens_over_a_restart_and_takes_them_along(t):
    options, sent = people(t)
    with Daemon(t, *options) as d:
        s = d.post("/sessions", {}).json()["session_id"]
        first = d.run("const p = await people.find({ n: 4 }); state.to = p.email; return p.email", session_id=s)["result"]
        other = d.run("return (await people.find({ n: 5 })).email", session_id=s)["result"]
        t.true(first != other, "two values")
        t.equal(d.run("return (await people.find({ n: 4 })).email", session_id=s)["result"], first)
        t.equal(d.run("return inputs.x", inputs={"x": "person4@customers.example.org"}, session_id=s)["result"], first)
    with Daemon(t, *options) as d:
        e = d.run("await people.send({ to: state.to }); return (await people.find({ n: 4 })).email", session_id=s)
        t.equal((e["status"], e["result"]), ("completed", first), str(e.get("error")))
        t.equal(sent("send")[-1], {"to": "person4@customers.example.org"})
        alien = d.run("await people.send({ to: inputs.x })", inputs={"x": first})
        t.equal((alien["status"], alien["error"]["type"]), ("failed", "validation_error"))
        t.equal(d.request("DELETE", "/sessions/" + s).status, 204)
    path = glob.glob(os.path.join(t.env["XDG_DATA_HOME"], "**", "caisson.db"), recursive=True)[0]
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    t.equal(db.execute("SELECT count(*) FROM vaults").fetchone(), (0,))
    db.close()
    clean(t, "the store", store_bytes(t))


def test_levels_and_tools_that_are_off_are_said(t):
    options, _ = people(t, privacy={"rules": [{"tool": "people/find", "level": "off"}, {"tool": "people/list", "level": "low"}]})
    code = "return [(await people.find({ n: 1 })).email.length, (await people.list({ n: 1 }))[0]]"
    with Daemon(t, *options) as d:
        e = d.run(code)
        t.equal(e["privacy"]["unprotected"], ["people/find"])
        t.equal(e["result"][0], len("person1@customers.example.org"))
        t.true(e["result"][1]["card"].startswith("[CREDIT_CARD_"), str(e["result"]))
    e = t.envelope("return 'someone@' + 'made.example.com'", "--no-pii-protection")
    t.equal((e["result"], e["privacy"]["protected"]), ("someone@made.example.com", False))


def test_a_durable_execution_has_its_tokens_after_a_restart(t):
    options, sent = people(t)
    code = """\
const p = await people.find({ n: 6 });
await new Promise(r => setTimeout(r, 4000));
await people.send({ to: p.email, text: inputs.who });
return [p.email, inputs.who];
"""
    body = {"code": code, "durable": True, "async": True, "inputs": {"who": "person8@customers.example.org"}}
    for session in (False, True):
        with Daemon(t, *options) as d:
            if session:
                body["session_id"] = d.post("/sessions", {}).json()["session_id"]
            asked = len(sent("find")) if os.path.exists(os.path.join(t.dir, "sent")) else 0
            e = d.post("/executions", body).json()["execution_id"]
            until(t, "its call", lambda: os.path.exists(os.path.join(t.dir, "sent")) and len(sent("find")) > asked)
            time.sleep(0.3)
            kill(t, d)
        clean(t, "the store", store_bytes(t))
        with Daemon(t, *options) as d:
            done = ended(t, d, e)
            t.equal(done["status"], "completed", str(done.get("error")))
            t.equal(sent("send")[-1], {"to": "person6@customers.example.org", "text": "person8@customers.example.org"})
            clean(t, "the envelope", done)
            t.true(d.post("/executions/%s/replay" % e).json()["same"], "its replay")
            if not session:
                db = database(t)
                t.equal(db.execute("SELECT count(*) FROM vaults").fetchone(), (0,))
                db.close()
    clean(t, "the store", store_bytes(t))


def test_answers_about_people_are_known_within_their_session_alone(t):
    options, sent = people(t)
    code = "return (await people.find({ n: inputs.n })).email"
    with Daemon(t, "--cache.ttl", "5m", *options) as d:
        for _ in range(2):
            t.true("cached" not in d.run(code, inputs={"n": 1}), "without a session it is not kept")
        t.true("cached" not in d.run("return inputs.x", inputs={"x": "person1@customers.example.org"}), "inputs")
        r = d.run("return inputs.x.length", inputs={"x": "person2@customers.example.org"})
        t.true("cached" not in r, "inputs that are other values")
        s = d.post("/sessions", {}).json()["session_id"]
        answers = [d.run(code, inputs={"n": 1}, session_id=s) for _ in range(3)]
        t.equal([a.get("cached") for a in answers], [None, None, True])
        t.equal(len({a["result"] for a in answers}), 1)
        other = d.post("/sessions", {}).json()["session_id"]
        d.run("return (await people.find({ n: 9 })).email", session_id=other)
        t.equal(d.run(code, inputs={"n": 1}, session_id=other).get("cached"), None, "another session")
        # What holds nothing personal is as good for everybody as before.
        t.equal([d.run("return (await people.find({ n: 1 })).orders").get("cached") for _ in range(2)], [None, True])


def test_results_that_the_policy_keeps_are_masked_for_each(t):
    options, sent = people(t, policy={"cache": [{"tool": "people/find", "ttl_s": 300}, {"tool": "people/say", "ttl_s": 300}]})
    code = "await people.list({ n: 1 }); return (await people.find({ n: 1 })).email"
    with Daemon(t, "--cache.ttl", "5m", *options) as d:
        a, b = d.run(code), d.run("const x = await people.list({ n: 2 });\n" + code)
        t.equal([c.get("cached") for c in b["calls"]][-1], True, str(b["calls"]))
        t.equal(len(sent("find")), 1)
        clean(t, "the answers", [a, b])
        # The same token is another value elsewhere.
        echo = "return await people.say({ text: (await people.list({ n: 2 }))[inputs.i].email })"
        d.run(echo, inputs={"i": 0})
        d.run(echo, inputs={"i": 1})
        t.equal([a["text"] for a in sent("say")], ["person0@customers.example.org", "person1@customers.example.org"])


def test_values_are_shown_to_a_caller_with_that_right_and_it_is_recorded(t):
    options, _ = people(t)
    key = make_key(t, "seer", "--reveal")
    with Daemon(t, *options) as d:
        code = "const p = await people.find({ n: 1 }); console.log('it is', p.email); return { to: p.email }"
        e = d.post("/executions", {"code": code, "reveal": True}, key=key).json()
        t.equal(e["result"], {"to": "person1@customers.example.org"}, str(e))
        t.equal(e["logs"][0]["text"], "it is person1@customers.example.org")
        clean(t, "the record", d.get("/executions/" + e["execution_id"], key=key).json())
        t.true(e["provenance"]["chain_hash"].strip("0") != "", "its place in the chain")
    t.equal(entries(t, "privacy.revealed")[0]["revealed"], {"EMAIL": 2})
    clean(t, "the store", store_bytes(t))


def test_a_model_that_a_server_asks_sees_tokens_and_the_server_reads_values(t):
    options, sent = people(t)
    with Lines(t, [t.binary, "mcp", *options]) as m:
        m.initialize(capabilities={"sampling": {}})
        m.send(call(1, "execute_code", {"code": "const p = await people.find({ n: 7 }); return [p.email, await people.more({})]"}))
        answer = None
        while answer is None:
            message = json.loads(m.line() or "null")
            t.true(message is not None, "it says nothing")
            if message.get("method") == "sampling/createMessage":
                clean(t, "the question", message)
                asked = message["params"]["messages"][0]["content"]["text"]
                t.has(asked, "[EMAIL_1]")
                m.send({"jsonrpc": "2.0", "id": message["id"], "result": {
                    "role": "assistant", "model": "m", "content": {"type": "text", "text": "[EMAIL_1] is one"}}})
            elif message.get("id") == 1:
                answer = message
        clean(t, "the answer", answer)
        t.has(sent("said")[0], "person7@customers.example.org is one")


NAMES = """\
const fs = await import('node:fs/promises');
const mail = 'ada.lovelace@customers' + '.example.org';
const name = 'Ada_Love' + 'lace';
await fs.writeFile('/workspace/out/' + mail + '.csv', 'a');
await fs.mkdir('/workspace/out/' + name);
await fs.writeFile('/workspace/out/' + name + '/report.txt', 'b');
await fs.writeFile('/workspace/out/weekly_report.txt', 'c');
const put = await caisson.storage.put(mail, 'd');
return [put.name, (await caisson.storage.list()).map((a) => a.name)]
"""


def test_names_of_artifacts_hold_no_values(t):
    options, _ = people(t)
    with Daemon(t, *options) as d:
        e = d.run(NAMES)
        t.equal(e["status"], "completed", e)
        t.equal(sorted(a["name"] for a in e["artifacts"]), ["[EMAIL].csv", "[EMAIL].org", "[PERSON]/report.txt", "weekly_report.txt"])
        t.equal(e["result"], ["[EMAIL].org", ["[EMAIL].org"]])
        left = d.run("a=ada; ln -s /x out/$a@customers'.example.org'.lnk", language="bash")
        t.equal(left["artifacts_left_out"]["reasons"], ["'[EMAIL].lnk' is no file"])
        by_name = {a["name"]: a["id"] for a in e["artifacts"]}
        t.equal(d.get("/artifacts/" + by_name["[EMAIL].csv"]).headers["Content-Type"], "text/csv")
        clean(t, "the envelope", e)
        clean(t, "the list", d.get("/artifacts").body)
        clean(t, "the lineage", d.get("/artifacts/%s/lineage" % by_name["[EMAIL].csv"]).body)
    clean(t, "the store", store_bytes(t))


def test_without_protection_names_are_as_they_are(t):
    with Daemon(t, "--no-pii-protection") as d:
        e = d.run("const a = await caisson.storage.put(['ada', 'customers.example.org'].join('@'), 'd'); return a.name")
        t.equal(e["result"], "ada@customers.example.org")


def test_errors_name_identifiers_of_the_program(t):
    with Daemon(t) as d:
        e = d.run("return Max.foo")
        t.equal(e["error"]["message"], "Can't find variable: Max")
        t.true("Max.foo" in e["error"]["snippet"], e["error"])
        e = d.run("const Max = 1 // Florence\nthrow new Error('Expected Florence to be a number, ask Ada Lovelace, ada@customers.example.org: Max')")
        t.equal(e["error"]["message"], "Expected [PERSON_1] to be a number, ask [PERSON_2], [EMAIL_1]: Max")
        clean(t, "the error", e["error"])
        e = d.run("throw new Error('no card of ' + inputs.last_name)", inputs={"last_name": "Lovelace"})
        clean(t, "the error", e["error"])


def test_an_unknown_token_says_how_programs_share_them(t):
    options, sent = people(t)
    find, send = "const p = await people.find({ n: 7 }); return p.email", "await people.send({ to: '%s', body: 'x' }); return 'sent'"

    def run(m, n, code, **arguments):
        m.send(call(n, "execute_code", {"code": code, **arguments}))
        while True:
            message = json.loads(m.line() or "null")
            t.true(message is not None, "it says nothing")
            if message.get("id") == n:
                return json.JSONDecoder().raw_decode(message["result"]["content"][0]["text"])[0]

    with Lines(t, [t.binary, "mcp", *options]) as m:
        m.initialize()
        t.equal(run(m, 1, find)["result"], "[EMAIL_1]")
        told = run(m, 2, send % "[EMAIL_1]")
        t.equal(told["status"], "failed")
        t.has(told["error"]["suggestion"], "`session_id`")
        first = run(m, 3, find, session_id="new")
        t.equal(run(m, 4, send % first["result"], session_id=first["session_id"])["result"], "sent")
        told = run(m, 5, send % "[EMAIL_9]", session_id=first["session_id"])
        t.true("session_id" not in told["error"]["suggestion"], told["error"]["suggestion"])
    t.equal([a["to"] for a in sent("send")], ["person7@customers.example.org"])

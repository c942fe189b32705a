"""What people and programs see of protection: `caisson privacy`, settings, the policy's section, and what each door takes.

How well personal data is found is test_privacy_score's business, and that nothing leaks test_privacy_e2e's.
"""

import json
import os
import re
import stat
import sys

from harness import table
from mcp_wire import Lines, call, text
from resting import problem, until
from serving import Daemon, make_key

MAIL = "ada.lovelace@example.org"
LETTER = "Write to %s today.\n" % MAIL
ECHO = "return inputs"
POLICY = {"privacy": {
    "patterns": [{"name": "EMPLOYEE", "pattern": "E-[0-9]{6}", "examples": ["badge E-123456"], "not": ["E-12"]}],
    "words": [{"name": "PROJECT", "values": ["Bluebird"]}]}}


def policy(t, **section):
    return t.file("policy.json", json.dumps({"privacy": section}))


# --- scan ---

def test_a_text_is_shown_with_marks(t):
    path = t.file("letter.txt", LETTER)
    done = t.caisson("privacy", "scan", path)
    t.status(done, 0)
    t.equal(done.out, "Write to [EMAIL: %s] today.\n" % MAIL)
    t.equal(done.err, "1 EMAIL in %d bytes\n" % len(LETTER))
    same = t.caisson("privacy", "scan", "-", "-v", stdin=LETTER)
    t.equal(same.out, done.out)
    t.matches(same.err, r"1 EMAIL in 41 bytes, [0-9.]+ ms, [0-9.]+ MB/s")
    t.equal(t.caisson("privacy", "scan", "--mask", stdin=LETTER).out, "Write to [EMAIL_1] today.\n")


def test_the_exit_status_tells_only_if_it_is_asked_to(t):
    t.status(t.caisson("privacy", "scan", "--fail", stdin=LETTER), 1)
    nothing = t.caisson("privacy", "scan", "--fail", stdin="nothing to see\n")
    t.status(nothing, 0)
    t.equal((nothing.out, nothing.err), ("nothing to see\n", "nothing found in 15 bytes\n"))
    t.status(t.caisson("privacy", "scan", "missing.txt"), 2)
    t.has(t.caisson("privacy", "scan", "--level", "max", stdin="").err, "is none of: low medium high")
    t.has(t.caisson("privacy", "scan", "--mask", "--jsonl", stdin="").err, "one of them")


def test_json_of_a_scan(t):
    said = t.caisson("privacy", "scan", "-o", "json", "--level", "high", stdin=LETTER).json()
    t.equal(said["spans"], [{"start": 9, "end": 9 + len(MAIL), "type": "EMAIL"}])
    t.equal((said["found"], said["total"], said["bytes"], said["level"]), ({"EMAIL": 1}, 1, len(LETTER), "high"))


def test_a_terminal_is_coloured_and_not_driven_by_the_text(t):
    t.file("letter.txt", "\x1b[2J\x07" + LETTER)
    status, seen = t.on_a_terminal("privacy", "scan", "letter.txt")
    t.equal(status, 0)
    seen = seen if isinstance(seen, str) else seen.decode("utf-8", "replace")
    t.has(seen, "\\u{1b}[2J\\u{7}Write")
    t.lacks(seen, "\x1b[2J")
    t.matches(seen, r"\x1b\[33m\[\x1b\[1mEMAIL\x1b\[22m: " + MAIL)


def test_lines_of_json(t):
    texts = ["Grüße an %s" % MAIL, "x\t\"%s\"\n" % MAIL, json.dumps({"mail": MAIL}), "", "nobody"]
    lines = [json.dumps({"id": i if i else "first", "text": x, "more": [1]}) for i, x in enumerate(texts)]
    done = t.caisson("privacy", "scan", "--jsonl", stdin="\n".join(lines[:2]) + "\n\n" + "\r\n".join(lines[2:]))
    t.status(done, 0)
    said = [json.loads(line) for line in done.out.splitlines()]
    t.equal([s["id"] for s in said], ["first", 1, 2, 3, 4])
    for text_, s in zip(texts, said):
        found = [text_.encode()[x["start"]:x["end"]].decode() for x in s["spans"]]
        t.equal(found, [MAIL] if MAIL in text_ else [], text_)
    t.equal(done.err, "")


def test_a_line_that_is_wrong_is_named(t):
    good = json.dumps({"id": 1, "text": LETTER}) + "\n"
    for bad, says in (('{"id": 2}', 'line 2: expected an object with a string "text"'), ("{", "line 2: JSON, line 1"),
                      ('{"text": 3}', "line 2: expected an object"), ("[]", "line 2: expected an object")):
        done = t.caisson("privacy", "scan", "--jsonl", stdin=good + bad + "\n" + good)
        t.status(done, 2)
        t.has(done.err, says)
        t.equal(len(done.out.splitlines()), 1, "lines before it")


def test_long_lines_and_many_of_them(t):
    long = json.dumps({"id": "long", "text": "word " * 600000 + MAIL})
    many = "\n".join(json.dumps({"id": i, "text": LETTER}) for i in range(2000))
    done = t.caisson("privacy", "scan", "--jsonl", stdin=long + "\n" + many)
    t.status(done, 0)
    said = [json.loads(line) for line in done.out.splitlines()]
    t.equal(len(said), 2001)
    t.equal(said[0]["spans"], [{"start": 3000000, "end": 3000000 + len(MAIL), "type": "EMAIL"}])
    t.true(all(len(s["spans"]) == 1 for s in said), "one in each")


def test_the_password_of_a_connection_string_is_what_counts(t):
    url = "postgres://app:hunter2hunter2@db.example.org:5432/app"
    said = t.caisson("privacy", "scan", "--jsonl", stdin=json.dumps({"id": 1, "text": "DATABASE_URL=" + url})).json()
    t.equal([s["type"] for s in said["spans"]], ["PASSWORD"])
    at = 13 + url.index("hunter2")
    t.equal((said["spans"][0]["start"], said["spans"][0]["end"]), (at, at + 14))


# --- examples ---

def test_every_rule_holds_on_its_examples(t):
    done = t.caisson("privacy", "test")
    t.status(done, 0)
    t.matches(done.out, r"^[1-9][0-9]{2,} held, 0 failed\n$")


def test_patterns_of_the_policy_are_tried_too(t):
    def tried():
        done = t.caisson("privacy", "test", "--policy", "policy.json")
        return done, [int(n) for n in re.search(r"(\d+) held, (\d+) failed\n$", done.out).groups()]
    t.file("policy.json", "{}")
    held, failed = tried()[1]
    t.file("policy.json", json.dumps(POLICY))
    t.equal(tried()[1], [held + 2, failed])
    policy(t, patterns=[{"name": "EMPLOYEE", "pattern": "E-[0-9]{6}", "examples": ["badge E-12345"], "not": ["E-123456"]}])
    done, figures = tried()
    t.status(done, 1)
    t.has(done.out, "EMPLOYEE: badge E-12345\n    it is not found here\n")
    t.has(done.out, "EMPLOYEE: E-123456\n    it is found here\n")
    t.equal(figures, [held, failed + 2])


def test_patterns_and_words_of_the_policy_are_found(t):
    t.file("policy.json", json.dumps(POLICY))
    done = t.caisson("privacy", "scan", "--policy", "policy.json", stdin="Bluebird is led by E-123456.\n")
    t.equal(done.out, "[PROJECT: Bluebird] is led by [EMPLOYEE: E-123456].\n")


# --- mistakes ---

@table([("a wrong word", {"level": "hgih"}, "privacy.level: 'hgih' is none of: off, low, medium, high; did you mean 'high'?"),
        ("an unknown kind", {"detokenize": [{"kinds": ["EMIAL"], "then": "deny"}]}, "did you mean 'EMAIL'?"),
        ("a server alone", {"rules": [{"tool": "crm", "level": "off"}]}, "did you mean 'crm/*'?"),
        ("no pattern", {"patterns": [{"name": "X", "pattern": "("}]}, "privacy"),
        ("a pattern that matches nothing", {"patterns": [{"name": "X", "pattern": "a*"}]}, "privacy"),
        ("a missing dictionary", {"words": [{"name": "X", "file": "words.txt"}]}, "privacy.words[0].file: 'words.txt' cannot be read")])
def test_a_section_that_cannot_be_read_stops_everything(t, _name, section, says):
    path = policy(t, **section)
    for argv in (("run", "-e", "return 1"), ("serve", "--port", "0"), ("mcp",), ("privacy", "scan", "-")):
        done = t.caisson(*argv, "--policy", path)
        t.true(done.status not in (0, 1), "it went on: %s" % done)
        t.has(done.err, says)
    t.file("caisson.json", "{}")
    checked = t.caisson("config", "check")
    t.status(checked, 2)
    t.has(checked.out, says)


# --- run ---

def test_protection_is_on_unless_somebody_says_otherwise(t):
    inputs = ("--input", json.dumps({"to": MAIL}))
    on = t.envelope(ECHO, *inputs)
    t.equal((on["result"], on["privacy"]["protected"]), ({"to": "[EMAIL_1]"}, True))
    t.equal((on["privacy"]["level"], on["privacy"]["found"]), ("medium", {"EMAIL": 1}))
    t.equal(t.envelope(ECHO, *inputs, "--no-record")["result"], {"to": "[EMAIL_1]"}, "without a record")
    t.equal(t.envelope(ECHO, *inputs, "--reveal")["result"], {"to": MAIL}, "revealed")
    for options, env in ((["--no-pii-protection"], {}), ([], {"CAISSON_PRIVACY_ENABLED": "false"})):
        off = t.envelope(ECHO, *inputs, *options, env=env)
        t.equal((off["result"], off["privacy"]["protected"]), ({"to": MAIL}, False))
        t.true(off["privacy"]["why"], "it says why")
    kept = t.caisson("executions", "list", "-o", "json").json()["executions"]
    shown = [t.caisson("executions", "show", e["execution_id"], "-o", "json").json() for e in kept]
    t.equal(sorted(json.dumps(s["result"]) for s in shown), sorted(
        json.dumps({"to": x}) for x in ("[EMAIL_1]", "[EMAIL_1]", MAIL, MAIL)), "what is kept of one that was revealed has tokens")


@table([("bracket", r"\[EMAIL_1\]"), ("underscore", r"EMAIL_TOKEN_001"), ("hash", r"EMAIL_[0-9a-f]{16}")])
def test_tokens_look_as_the_settings_say(t, style, form):
    e = t.envelope(ECHO, "--input", json.dumps({"to": MAIL}), env={"CAISSON_PRIVACY_TOKENS": style})
    t.matches(e["result"]["to"], "^" + form + "$")


def test_a_word_file_lies_beside_the_policy(t):
    t.file("rules/words.txt", "# ours\nBluebird\n")
    t.file("rules/policy.json", json.dumps({"privacy": {"words": [{"name": "PROJECT", "file": "words.txt"}]}}))
    e = t.envelope(ECHO, "--input", json.dumps(["about Bluebird"]), "--policy", "rules/policy.json")
    t.equal(e["result"], ["about [PROJECT_1]"])


def test_where_the_key_of_the_vaults_comes_from(t):
    t.status(t.run("return 1"), 0)
    path = os.path.join(t.env["XDG_DATA_HOME"], "caisson", "privacy.key")
    t.equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "mode")
    os.unlink(path)
    script = t.file("key.sh", "#!/bin/sh\necho %s\n" % ("ab" * 32))
    os.chmod(script, 0o755)
    t.status(t.run("return 1", env={"CAISSON_PRIVACY_KEY_COMMAND": script}), 0)
    t.status(t.run("return 1", env={"CAISSON_PRIVACY_KEY": "cd" * 32, "CAISSON_PRIVACY_KEY_COMMAND": "/no/such"}), 0)
    t.true(not os.path.exists(path), "a key was made that nobody asked for")
    for env, says in (({"CAISSON_PRIVACY_KEY": "short"}, "CAISSON_PRIVACY_KEY is no key"),
                      ({"CAISSON_PRIVACY_KEY_COMMAND": "/no/such"}, "privacy.key_command"),
                      ({"CAISSON_PRIVACY_KEY_COMMAND": "echo nothing"}, "printed none")):
        done = t.run("return 1", env=env)
        t.true(done.status not in (0, 1), "it went on without a key: %s" % done)
        t.has(done.err, says)
        t.lacks(done.err, "cd" * 32)


def test_a_server_that_is_started_does_not_get_the_key(t):
    t.file("env.py", "import json, os, sys\n"
           "for line in sys.stdin:\n"
           "    m = json.loads(line)\n"
           "    r = {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'e', 'version': '1'}}\n"
           "    if m.get('method') == 'tools/list': r = {'tools': [{'name': 'look', 'inputSchema': {'type': 'object'}}]}\n"
           "    if m.get('method') == 'tools/call':\n"
           "        up = open('/proc/%d/environ' % os.getppid()).read()\n"
           "        r = {'content': [{'type': 'text', 'text': json.dumps([os.environ.get('CAISSON_PRIVACY_KEY', ''), 'cdcd' in up])}]}\n"
           "    if 'id' in m: print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': r}), flush=True)\n")
    t.file("caisson.json", json.dumps({"mcpServers": {"env": {"command": sys.executable, "args": ["env.py"]}}}))
    done = t.caisson("tools", "call", "env.look", "--reveal", env={"CAISSON_PRIVACY_KEY": "cd" * 32})
    t.status(done, 0)
    t.equal(done.json(), ["", False])


def test_what_is_written_by_hand_is_for_that_tool(t):
    """A caller who writes a secret into one call means it; a program that got it as a token needs a rule."""
    t.file("echo.py", "import json, sys\n"
           "for line in sys.stdin:\n"
           "    m = json.loads(line)\n"
           "    r = {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'e', 'version': '1'}}\n"
           "    if m.get('method') == 'tools/list': r = {'tools': [{'name': 'look', 'inputSchema': {'type': 'object'}}]}\n"
           "    if m.get('method') == 'tools/call':\n"
           "        open('got', 'a').write(json.dumps(m['params']['arguments']) + '\\n')\n"
           "        r = {'content': [{'type': 'text', 'text': json.dumps(m['params']['arguments'])}]}\n"
           "    if 'id' in m: print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': r}), flush=True)\n")
    t.file("caisson.json", json.dumps({"mcpServers": {"echo": {"command": sys.executable, "args": ["echo.py"]}}}))
    secret = {"ssn": "536-22-8145", "password": "hunter22-hunter"}
    done = t.caisson("tools", "call", "echo.look", json.dumps(secret))
    t.status(done, 0)
    t.equal(done.json(), {"ssn": "[SSN_1]", "password": "[PASSWORD_1]"})
    t.equal(json.loads(t.read("got")), secret)
    refused = t.run("return await echo.look(inputs)", "--input", json.dumps(secret))
    t.status(refused, 1)
    t.matches(refused.err, r"the value of \[(SSN|PASSWORD)_1\] is not for 'echo/look'")
    t.equal(len(t.read("got").splitlines()), 1, "calls")


# --- doors ---

def test_a_request_may_ask_for_more_and_not_for_less(t):
    t.file("policy.json", json.dumps({"privacy": {"level": "low"}}))
    with Daemon(t, "--policy", "policy.json") as d:
        inputs = {"mail": MAIL, "said": "Bluebird has T-123456"}
        low = d.run(ECHO, inputs=inputs)
        t.equal((low["result"]["said"], low["privacy"]["level"]), (inputs["said"], "low"))
        more = d.run(ECHO, inputs=inputs, privacy={"level": "high", "patterns": [{"name": "TICKET", "pattern": "T-[0-9]{6}"}],
                                                   "words": ["Bluebird"]})
        t.equal(more["result"], {"mail": "[EMAIL_1]", "said": "[WORD_1] has [TICKET_1]"})
        t.equal(more["privacy"]["level"], "high")
        t.equal(d.run(ECHO, inputs=inputs, privacy="medium")["privacy"]["level"], "medium")
        for asked, says in (("off", "a request can ask for more protection"), ({"level": "none"}, "privacy.level"),
                            ({"rules": []}, "'rules' is none of: level, patterns, words"),
                            ({"patterns": [{"name": "x", "pattern": "y"}]}, "privacy.patterns[0]: wants a `name`"),
                            ({"patterns": [{"name": "X", "pattern": "("}]}, "privacy")):
            problem(t, d.post("/executions", {"code": ECHO, "privacy": asked}), 400, "invalid", says)


def test_values_are_for_keys_that_have_the_right(t):
    plain, may = make_key(t, "plain"), make_key(t, "auditor", "--reveal")
    listed = {k["name"]: k["reveal"] for k in t.caisson("keys", "list", "-o", "json").json()["keys"]}
    t.equal(listed, {"plain": False, "auditor": True})
    t.matches(t.caisson("keys", "list").out, r"auditor .* execute, reveal ")
    body = {"code": "console.log(inputs); return inputs", "inputs": {"to": MAIL}, "reveal": True}
    with Daemon(t) as d:
        problem(t, d.post("/executions", body), 403, "denied", "who shows no key", "caisson keys create NAME --reveal")
        problem(t, d.post("/executions", body, key=plain), 403, "denied", "this key has no right")
        problem(t, d.post("/executions", dict(body, **{"async": True}), key=may), 400, "invalid", "leave out async")
        answer = d.post("/executions", body, key=may)
        t.equal(answer.status, 200)
        t.equal(answer.json()["result"], {"to": MAIL})
        kept = d.get("/executions/" + answer.json()["execution_id"], key=may)
        t.equal(kept.json()["result"], {"to": "[EMAIL_1]"})
        t.lacks(kept.body.decode(), MAIL)
        t.has(d.get("/metrics", key=may).body.decode(), 'caisson_privacy_masked_total{kind="EMAIL"} ')
        without = d.post("/executions", dict(body, reveal=False), key=may).json()
        t.equal(without["result"], {"to": "[EMAIL_1]"})
        rotated = t.caisson("keys", "rotate", "auditor", "-o", "json").json()
        t.equal((rotated["reveal"], d.post("/executions", body, key=rotated["key"]).json()["result"]), (True, {"to": MAIL}))
    events = [e["event"] for e in t.caisson("audit", "list", "-n", "200", "-o", "json").json()["entries"]]
    t.true("request.denied" in events, "refusals are on record: %s" % events)


def test_mcp_takes_wishes_and_never_reveals(t):
    with Lines(t, [t.binary, "mcp"]) as s:
        s.initialize()
        asked = {"code": ECHO, "inputs": {"to": MAIL, "about": "Bluebird"}}
        t.has(text(s.ask(call(1, "execute_code", asked), 30)), "[EMAIL_1]")
        more = text(s.ask(call(2, "execute_code", dict(asked, privacy={"words": ["Bluebird"]})), 30))
        t.has(more, "[WORD_1]")
        t.lacks(more, "Bluebird")
        t.has(text(s.ask(call(3, "execute_code", dict(asked, privacy="off")))), "a request can ask for more protection")
        refused = json.dumps(s.ask(call(4, "execute_code", dict(asked, reveal=True))))
        t.has(refused, "reveal")
        t.lacks(refused, "EMAIL_1")


def test_doors_without_protection_say_so(t):
    with Daemon(t, "--no-pii-protection") as d:
        e = d.run(ECHO, inputs={"to": MAIL})
        t.equal((e["result"], e["privacy"]["protected"]), ({"to": MAIL}, False))
        problem(t, d.post("/executions", {"code": ECHO, "privacy": "high"}), 400, "invalid", "switched off here")
        t.has(d.get("/metrics").body.decode(), "caisson_privacy_unprotected_total 1\n")
        t.has(d.said(), "--no-pii-protection: models see personal data and secrets as they are")


def test_rules_change_while_it_runs(t):
    path = policy(t, words=[{"name": "PROJECT", "values": ["Bluebird"]}])
    with Daemon(t, "--policy", path) as d:
        def seen(word):
            return d.run(ECHO, inputs=[word])["result"][0]
        t.equal((seen("Bluebird"), seen("Kestrel")), ("[PROJECT_1]", "Kestrel"))
        policy(t, words=[{"name": "PROJECT", "values": ["Kestrel"]}])
        until(t, "the new rules", lambda: seen("Kestrel") == "[PROJECT_1]")
        t.equal(seen("Bluebird"), "Bluebird")
        policy(t, words=[{"name": "project", "values": ["Osprey"]}])
        d.await_said(r"not reloaded, the old rules stay: policy .*privacy\.words\[0\]: wants a `name`")
        t.equal((seen("Kestrel"), seen("Osprey")), ("[PROJECT_1]", "Osprey"))

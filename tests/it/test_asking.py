"""What servers ask while they work: a person at the terminal answers it, and without one it is declined."""

import json
import os
import sys

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
PLAIN = {"NO_COLOR": "1"}


def plain(mode="plain"):
    """A legacy server whose tool `ask` asks what its arguments say, whatever the client declared."""
    return {"command": sys.executable, "args": [os.path.join(HERE, "servers", "nasty.py"), mode]}


def everything(t):
    peers.configure(t, {"everything": peers.official("everything")})


def asked(t, params, *answers, **more):
    """What the server was answered, and the terminal."""
    t.file("caisson.json", json.dumps({"mcpServers": {"plain": plain()}}))
    status, seen = t.on_a_terminal("tools", "call", "plain.ask", json.dumps(params), answers=answers, env=PLAIN, **more)
    t.equal(status, 0, "exit status")
    return seen


def action(seen):
    return json.loads(seen[seen.rindex('"action": "') + len('"action": "') - 1:].split("\n")[0].rstrip(",\r"))


def form(message="Please", required=(), **fields):
    return {"message": message, "requestedSchema": {"type": "object", "properties": fields, "required": list(required)}}


def test_the_form_of_the_official_everything_server_is_filled_in(t):
    everything(t)
    code = "return (await tools.everything['trigger-elicitation-request']({})).map(b => b.text).join('\\n')"
    status, seen = t.on_a_terminal("run", "--no-pii-protection", "-e", code, patience=60, answers=[
        ("String (required): ", "\n"),
        ("this one is required\r\nString (required): ", "Ada\n"),
        ("Boolean (y/n): ", "maybe\n"),
        ("must be y or n", "y\n"),
        ("[It was a dark and stormy night.]: ", "\n"),
        ("String with email format: ", "nobody\n"),
        ("String with email format: ", "ada@example.com\n"),
        ("uri format: ", "\n"),
        ("date format: ", "1815-13-10\n"),
        ("date format: ", "1815-12-10\n"),
        ("Integer [42]: ", "4.5\n"),
        ("Integer [42]: ", "101\n"),
        ("Integer [42]: ", "7\n"),
        ("Number in range 1-1000 [3.14]: ", "\n"),
        ("Untitled Single Select Enum [Monica]: ", "Hugo\n"),
        ("'Hugo' is none of the choices", "2\n"),
        ("(several, with commas) [Guitar]: ", "1,2,3,4\n"),
        ("(several, with commas) [Guitar]: ", "piano, 4\n"),
        ("[hero-1]: ", "wonder woman\n"),
        ("[fish-1]: ", "Trout\n"),
        ("[pet-1]: ", "pet-3\n"),
        ("accept? [Y/n/decline]", "\n"),
    ])
    t.equal(status, 0, "exit status")
    t.has(seen, "server 'everything' asks:")
    raw = json.loads(seen[seen.rindex("Raw result: ") + len("Raw result: "):])
    t.equal(raw["action"], "accept")
    t.equal(raw["content"], {
        "name": "Ada", "check": True, "firstLine": "It was a dark and stormy night.", "email": "ada@example.com",
        "birthdate": "1815-12-10", "integer": 7, "number": 3.14, "untitledSingleSelectEnum": "Rachel",
        "untitledMultipleSelectEnum": ["Piano", "Drums"], "titledSingleSelectEnum": "hero-3",
        "titledMultipleSelectEnum": ["fish-3"], "legacyTitledEnum": "pet-3"})


def test_the_end_of_the_input_declines(t):
    everything(t)
    status, seen = t.on_a_terminal("tools", "call", "everything.trigger-elicitation-request", patience=60,
                                   answers=[("String (required): ", "\x04")])
    t.equal(status, 0, "exit status")
    t.has(seen, "User declined")


def test_an_interrupt_ends_the_run(t):
    everything(t)
    status, seen = t.on_a_terminal("tools", "call", "everything.trigger-elicitation-request", patience=60,
                                   answers=[("String (required): ", "\x03")])
    t.true(status != 0, "exit status is 0")
    t.lacks(seen, "User ")


def test_the_address_of_the_official_everything_server_is_shown(t):
    everything(t)
    for typed, wanted in (("y\n", "User completed"), ("\n", "decline")):
        status, seen = t.on_a_terminal("tools", "call", "everything.trigger-url-elicitation", "-o", "json",
                                       "url=https://example.com/a?b=c", patience=60, env=PLAIN,
                                       answers=[("accept? [y/N]: ", typed)])
        t.equal(status, 0, "exit status")
        t.has(seen, "server 'everything' asks you to open an address: Please open the link")
        t.has(seen, "  https://example.com/a?b=c\r\n")
        t.has(seen, "example.com")
        t.matches(seen, wanted)


def modern(t, era, *answers):
    entry = dict(peers.ours("modern", *(["strict"] if era == "modern" else [])), era=era)
    peers.configure(t, {"modern": entry})
    return t.on_a_terminal("tools", "call", "modern.deploy", "env=prod", answers=answers, patience=60, env=PLAIN)


def test_servers_of_both_eras_ask_the_same_way(t):
    for era in ("modern", "legacy"):
        status, seen = modern(t, era, ("confirm (required, y/n): ", "y\n"), ("accept? [Y/n/decline]", "y\n"))
        t.equal(status, 0, "exit status")
        t.has(seen, "server 'modern' asks: Deploy to prod?")
        t.has(seen, "deployed to prod with")
        status, seen = modern(t, era, ("confirm (required, y/n): ", "y\n"), ("accept? [Y/n/decline]", "decline\n"))
        t.has(seen, "not deployed")


def test_an_answer_can_be_changed(t):
    seen = asked(t, form(a={"type": "string"}), ("a: ", "first\n"), ("accept?", "n\n"), ("a: ", "second\n"),
                 ("accept?", "what\n"), ("accept?", "yes\n"))
    t.has(seen, '"a": "second"')


def test_the_words_of_a_server_cannot_drive_the_terminal(t):
    message = "one\x1b[2J\u202etwo\naccept? [Y/n]: "
    seen = asked(t, form(message, a={"type": "string", "title": "x\x1b]0;y\x07\nz"}), (" z: ", "v\n"), ("accept?", "\n"))
    t.has(seen, "asks: one\\u{1b}[2J\\u{202e}two\r\n  accept? [Y/n]: \r\n")
    t.has(seen, "x\\u{1b}]0;y\\u{7} z: ")
    t.lacks(seen, "\x1b[2J")


def test_addresses_that_deceive_are_declined(t):
    for url in ("javascript:alert(1)", "https://good.example@evil.example/", "https://evil.example\\@good.example", ""):
        seen = asked(t, {"mode": "url", "message": "m", "url": url})
        t.has(seen, "asks something that is declined")
        t.equal(action(seen), "decline")


def test_without_a_terminal_it_is_declined_and_the_tool_says_so(t):
    t.file("caisson.json", json.dumps({"mcpServers": {"plain": plain()}}))
    done = t.caisson("tools", "call", "plain.ask", json.dumps(form("ok?")), "-o", "json")
    t.status(done, 0)
    t.equal(done.json()["result"], {"action": "decline"})
    t.lacks(done.err, "asks")
    # Quiet is like having nobody there.
    code = "return await tools.plain.ask(%s)" % json.dumps(form("ok?"))
    status, seen = t.on_a_terminal("run", "-q", "-e", code)
    t.equal(status, 0, "exit status")
    t.equal(action(seen), "decline")
    t.lacks(seen, "server 'plain' asks")


def test_the_official_sdk_does_not_ask_where_nobody_is(t):
    peers.configure(t, {"modern": peers.ours("modern")})
    done = t.caisson("tools", "call", "modern.deploy", "env=prod")
    t.true("deployed to" not in done.out, "deployed: %s" % done.out)
    t.matches(done.out + done.err, "elicitation|not deployed")


def test_a_call_that_is_asked_does_not_run_out_of_its_time(t):
    t.file("caisson.json", json.dumps({"mcpServers": {"plain": dict(plain(), timeout_ms=4000)}}))
    status, seen = t.on_a_terminal(
        "run", "-e", "console.log('before'); setTimeout(() => console.log('meanwhile'), 6000); "
        "return await tools.plain.ask(%s)" % json.dumps(form(a={"type": "string"})),
        answers=[("a: ", ""), ("meanwhile\r\n", ""), ("a: ", "late\n"), ("accept?", "\n")])
    t.equal(status, 0, "exit status")
    t.has(seen, '"a": "late"')


def test_the_clock_of_the_execution_goes_on(t):
    t.file("caisson.json", json.dumps({"mcpServers": {"plain": plain()}}))
    status, seen = t.on_a_terminal(
        "run", "--timeout", "8", "-e", "return await tools.plain.ask(%s)" % json.dumps(form(a={"type": "string"})),
        answers=[("a: ", "")])
    t.equal(status, 4, "exit status")
    t.has(seen, "the question is withdrawn")


def test_a_server_that_dies_takes_its_question_along(t):
    t.file("caisson.json", json.dumps({"mcpServers": {"plain": plain("dies-asking")}}))
    code = "await Promise.allSettled([tools.plain.ask(%s)]); return 'over'" % json.dumps(form(a={"type": "string"}))
    status, seen = t.on_a_terminal("run", "-e", code, answers=[("a: ", "")])
    t.equal(status, 0, "exit status")
    t.has(seen, "the question is withdrawn\r\n")
    t.matches(seen, "over\r\n$")


def test_questions_that_come_together_are_asked_one_after_the_other(t):
    t.file("caisson.json", json.dumps({"mcpServers": {"plain": plain()}}))
    code = "return await Promise.all([tools.plain.ask(%s), tools.plain.ask(%s)])" % (
        json.dumps(form("which?", a={"type": "string"})), json.dumps(form("which?", a={"type": "string"})))
    status, seen = t.on_a_terminal("run", "-e", code, env=PLAIN, answers=[
        ("a: ", "one\n"), ("accept?", "\n"), ("asks: which?", ""), ("a: ", "two\n"), ("accept?", "\n")])
    t.equal(status, 0, "exit status")
    answers = json.loads(seen[seen.rindex("accept? [Y/n/decline] (n: answer again): ") + 41:])
    t.equal(sorted(a["content"]["a"] for a in answers), ["one", "two"])

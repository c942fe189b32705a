"""The policy from outside: checked, explained, tested, in the configuration or beside it, and changed while it runs."""

import hashlib
import json
import os
import re
import shlex
import signal

from guarding import RISKY, Waiting, entries, office, pending
from harness import table
from resting import until
from serving import Daemon

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")
TRIFECTA = "built in: private and untrusted data, and a way out"


def examples(page):
    """Blocks of a page that are JSON, with the line where each begins."""
    found, block = [], []
    with open(os.path.join(DOCS, page)) as f:
        for number, line in enumerate([*f, "end\n"], 1):
            if line.startswith("    ") or (not line.strip() and block):
                block.append((number, line[4:]))
                continue
            text = "".join(l for _, l in block)
            if text.lstrip().startswith("{"):
                found.append((block[0][0], text))
            block = []
    return found


def explained(t, *argv):
    done = t.caisson("policy", "explain", *argv, "-o", "json")
    said = done.json()
    t.equal(done.status, 0 if said["action"] == "allow" else 3, "exit status")
    return said


def test_every_example_of_the_page_is_valid(t):
    blocks = examples("policy.md")
    t.true(len(blocks) >= 7, "only %d examples were found" % len(blocks))
    for line, text in blocks:
        path = t.file("example.json", text)
        if '"tests"' in text:
            done = t.caisson("policy", "test", path)
            t.equal((done.status, done.out), (0, "3 passed, 0 failed\n"), "line %d" % line)
            continue
        done = t.caisson("policy", "check", path, env={"HOOK_SECRET": "x"})
        t.equal((done.status, done.err), (0, ""), "line %d: %s" % (line, done.err))


def test_what_the_page_explains_is_asked_about(t):
    with open(os.path.join(DOCS, "policy.md")) as f:
        lines = f.read().replace("\\\n", " ").split("\n")
    calls = [shlex.split(line)[2:] for line in lines if line.startswith("    $ caisson policy explain --tool")]
    t.equal([t.caisson(*argv).status for argv in calls], [3, 3])


def test_what_is_built_in_is_a_policy(t):
    done = t.caisson("policy", "default")
    t.status(done, 0)
    rules = done.json()
    t.equal(rules["flows"], [{"from": ["private", "untrusted"], "to": ["egress"], "then": "ask"}])
    t.equal(rules["risk"]["then"]["HIGH"], "ask")
    t.true("two programs" not in done.out, "it tells how to get round the guard")
    t.status(t.caisson("policy", "check", t.file("default.json", done.out)), 0)


@table([("a section", '{"tols": {}}', "did you mean 'tools'?"),
        ("a label", '{"labels": {"a/*": "privat"}}', "did you mean 'private'"),
        ("an action", '{"flows": [{"from": "private", "to": "egress", "then": "aks"}]}', 'did you mean "ask"?'),
        ("twice", '{"tools": {}, "tools": {}}', "twice"),
        ("no JSON", '{"tools": ', "example.json"),
        ("a level", '{"risk": {"rules": [{"id": "env", "level": "HIHG"}]}}', "risk.rules[0]"),
        ("a secret that is not there", '{"approvals": {"secret": "${env:NOT_SET_ANYWHERE}"}}', "NOT_SET_ANYWHERE"),
        ("privacy", '{"privacy": {"words": [7]}}', "privacy"),
        ("two at once", '{"tools": {"deny": 7}, "risk": {"then": {"HIHG": "ask"}}}', "; and risk.then: there is no setting 'HIHG'"),
        ("a NUL", r'{"tools": {"deny": ["mail/a\u0000b"]}}', "tools.deny[0]: has a NUL in it (\\u0000)"),
        ("a NUL in a name", r'{"labels": {"a/*\u0000": "private"}}', "labels: a name has a NUL in it")])
def test_a_mistake_is_told(t, _, text, says):
    path = t.file("example.json", text)
    done = t.caisson("policy", "check", path)
    t.status(done, 2)
    if says != "twice":
        t.has(done.err, says)
    said = t.caisson("policy", "check", path, "-o", "json").json()
    t.equal(said["valid"], False)
    stopped = t.caisson("run", "-e", "return 1", "--policy", path)
    t.true(stopped.status not in (0, 1), "it ran: %s" % stopped)


def test_what_is_probably_not_meant_is_warned_of(t):
    office(t)
    path = t.file("p.json", json.dumps({
        "tools": {"deny": ["crn/*", "mail"], "ask": ["mail/send*"], "allow": ["*"]},
        "labels": {"crm/*": "private", "crm/find*": "public"},
        "flows": [{"from": "private", "to": "egress", "then": "ask"},
                  {"from": ["private", "untrusted"], "to": "egress", "tool": "mail/*", "then": "deny"}],
        "approvals": {"webhook": "https://x.example/"}}))
    done = t.caisson("policy", "check", path)
    t.status(done, 0)
    for says in ("'crn/*' matches nothing: there is no server 'crn'; did you mean 'crm'?", "so write 'mail/*'",
                 "'crm/find*' is never reached: 'crm/*'", "flows[1] is never reached: flows[0]",
                 "approvals.webhook: there is no `secret` to sign with, so nothing is sent there"):
        t.has(done.out, says)
    t.equal(len(t.caisson("policy", "check", path, "-o", "json").json()["warnings"]), 5)


def test_tools_that_are_not_there_are_warned_of(t):
    office(t)
    path = t.file("p.json", json.dumps({
        "tools": {"deny": ["mail/send_mial", "mail/sendMail", "mail/send*", "bank/pay", "crm/zzz*"],
                  "rules": [{"tool": "crm/find_customers",
                             "parameters": {"n": {"min": 5, "max": 2}, "m": {"min": 1, "max": 1}, "t": {"min_length": 3, "max_length": 1}}}]},
        "risk": {"rules": [
            {"id": "ftp", "level": "HIGH", "when": {"fact": "import", "name": "ftp"}, "reason": "imports {nmae} {x} {name}",
             "mitigation": "not {name}"},
            {"id": "ftp", "level": "LOW"}, {"id": "loop", "level": "HIGH"}]}}))
    others = ["tools.deny: 'bank/pay' matches nothing: there is no server 'bank'",
              "tools.rules[0].parameters.n: min is more than max, so nothing fits",
              "tools.rules[0].parameters.t: min_length is more than max_length, so nothing fits",
              "risk.rules[0].reason: {nmae} stays as it is, did you mean {name}?; there are {name}, {count}, {tools}, {language}",
              "risk.rules[0].reason: {x} stays as it is; there are {name}, {count}, {tools}, {language}",
              "risk.rules[0].mitigation: {name} stays as it is: it is filled in only in a `reason`",
              "risk.rules[1]: 'ftp' is there twice: it changes risk.rules[0]"]

    def warnings():
        return t.caisson("policy", "check", path, "-o", "json").json()["warnings"]
    t.equal(warnings(), others, "what is not known yet is not doubted")
    t.status(t.caisson("tools", "list"), 0)  # now it is known what they offer
    t.equal(warnings(), ["tools.deny: 'mail/send_mial' matches nothing: the server has no such tool; did you mean 'send_mail'?", *others])


def test_what_is_no_file_is_not_waited_for(t):
    pipe = os.path.join(t.dir, "pipe")
    os.mkfifo(pipe)
    for argv in (("policy", "check", pipe), ("policy", "test", pipe), ("run", "-e", "return 1", "--policy", pipe)):
        done = t.caisson(*argv)
        t.status(done, 2)
        t.has(done.err, "it is no file, but a pipe or a device")
    t.has(t.caisson("policy", "check", "/dev/zero").err, "it is no file")
    t.has(t.caisson("policy", "check", t.dir).err, "a directory")


def test_a_webhook_that_is_sent_nothing_is_said_at_the_start(t):
    t.file("caisson.json", "{}")
    t.file("policy.json", '{"approvals": {"webhook": "https://x.example/"}}')
    with Daemon(t) as d:
        d.await_said("approvals.webhook: there is no approvals.secret to sign with, so nothing is sent there")


def test_a_call_is_explained(t):
    office(t, policy={"tools": {"deny": ["crm/add*"], "rules": [{"tool": "mail/*", "parameters": {"to": {"max_length": 20}}}],
                                "principals": {"ci-*": {"ask": ["web/*"]}}},
                      "flows": [{"from": "private", "to": "egress", "tool": "mail/*", "principal": "boss", "then": "allow"}]})
    t.status(t.caisson("tools", "list"), 0)  # now it is known what they offer
    after = ["--after", "crm/find_customers", "--after", "web/fetch_page"]
    said = explained(t, "--tool", "mail/send_mail", *after)
    t.equal((said["action"], said["rule"], said["labels"], said["known"]), ("ask", TRIFECTA, ["egress"], True))
    t.equal([a["counts"] for a in said["after"]], [["private"], ["untrusted"]])
    t.equal(explained(t, "--tool", "mail/send_mail", *after[:2])["action"], "allow")
    said = explained(t, "--tool", "mail/send_mail", *after, "--principal", "boss")
    t.equal((said["action"], said["rule"]), ("allow", "flows[0]"))
    said = explained(t, "--tool", "mail/send_mail", "--arguments", '{"to": "somebody-who-is-far-away@example.org"}')
    t.equal((said["action"], said["rule"]), ("deny", "tools.rules"))
    said = explained(t, "--tool", "box/run_command", "--arguments", '{"argv": ["rm", "-rf", "/"]}')
    t.equal((said["action"], said["rule"]), ("ask", "shell-delete"))
    t.equal(explained(t, "--tool", "box/run_command", "--arguments", '{"argv": ["ls", "-l", "/"]}')["action"], "allow")
    said = explained(t, "--tool", "crm/add_note")
    t.equal((said["action"], said["rule"]), ("deny", "tools.deny: crm/add*"))
    said = explained(t, "--tool", "web.fetchPage", "--principal", "ci-7")
    t.equal((said["action"], said["rule"], said["labels"]), ("ask", "tools.ask: web/*", ["untrusted", "egress"]))
    text = t.caisson("policy", "explain", "--tool", "mail/send_mail", *after)
    t.has(text.out, "ask: a person is asked before it is called (%s)" % TRIFECTA)
    for wrong in (["--tool", "mail"], ["--tool", "a/b", "x.ts"], ["--after", "a/b", "-e", "1"], [],
                  ["--tool", "a/b", "--arguments", "[1]"]):
        t.status(t.caisson("policy", "explain", *wrong), 2)


def test_a_program_is_explained(t):
    done = t.caisson("policy", "explain", t.file("x.ts", "return eval(inputs.x)"))
    t.status(done, 3)
    t.has(done.out, "HIGH  eval  line 1, column 8")
    t.has(done.out, "a person is asked before it runs")
    said = t.caisson("policy", "explain", "-e", "return 1", "-o", "json")
    t.status(said, 0)
    t.equal(said.json()["level"], "LOW")
    t.status(t.caisson("policy", "explain", "x.ts", "--policy", t.file(
        "p.json", json.dumps({"risk": {"then": {"HIGH": "allow"}}}))), 0)


AGENT = """const issues = await tools.github.listIssues({owner: "acme", repo: "site"})
const file = await tools.github.getFileContents({owner: "acme", repo: %s, path: "plans.md"})
await tools.github.addIssueComment({owner: "acme", repo: "site", body: issues[0].title + file.text})
return "commented" """


def test_what_goes_back_to_where_it_came_from_is_not_asked_about(t):
    sent = office(t, roles=("github",))
    done = t.caisson("run", "-e", AGENT % '"site"')
    t.equal((done.status, pending(t)), (0, []), done.err)
    t.equal([s["body"].endswith("the plans of site") for s in sent()], [True])


def test_what_goes_from_one_repository_to_another_is_asked_about(t):
    sent = office(t, roles=("github",))
    with Waiting(t, AGENT % '"se" + "cret"') as w:
        card = w.card()
        t.equal((card["kind"], card["rule"], card["call"]["tool"]), ("call", TRIFECTA, "add_issue_comment"))
        t.equal(sorted(f["from"] for f in card["flows"]), ["github/get_file_contents", "github/list_issues"])
        w.answer("deny", "--reason", "not that one")
        done = w.end()
    t.has(done.err, "not that one")
    t.equal(sent(), [])


def test_expectations_are_tried(t):
    t.file("caisson.json", "{}")
    t.file("policy.json", json.dumps({"tools": {"deny": ["bank/close"]}}))
    t.file("sub/x.ts", "return eval(inputs.x)")
    path = t.file("sub/tests.json", """[ // of the house
      {"name": "one", "call": "bank/close", "expect": {"action": "deny", "rule": "tools.deny: *"}},
      {"name": "two", "program": "x.ts", "expect": {"action": "ask", "risk": "HIGH", "finding": "eval"}},
      {"name": "three", "call": "mail/send", "after": [{"tool": "crm/find"}, "web/fetch"], "expect": "allow"},
      {"name": "four", "code": "return 1", "expect": {"risk": "CRITICAL", "finding": "loop"}},
      {"name": "six", "call": "new/tool", "expect": "allow"},
      {"name": "five", "call": "files/read", "expect": {"labels": ["private"]}},
    ]""")
    done = t.caisson("policy", "test", path)
    t.status(done, 1)
    t.has(done.out, "tests.json:4: three\n    action: wanted allow, but it is ask\n")
    t.has(done.out, "four\n    risk: wanted CRITICAL, but it is LOW; finding: wanted loop, but there are:")
    t.true(done.out.endswith("4 passed, 2 failed\n"), done.out)
    said = t.caisson("policy", "test", path, "-o", "json").json()
    t.equal([x["passed"] for x in said["tests"]], [True, True, False, False, True, True])
    t.status(t.caisson("policy", "test", t.file("young.json", json.dumps({
        "tools": [{"server": "new", "tool": "tool", "standing": "young"}, {"server": "far", "tool": "get_map", "trusted": False}],
        "tests": [{"call": "new/tool", "expect": {"action": "ask", "rule": "tools.young"}},
                  {"call": "far/get_map", "expect": {"labels": ["public", "untrusted", "egress"]}}]}))), 0)
    for wrong, says in (('[{"call": "a/b"}]', "expect"), ('[{"calls": "a/b", "expect": "ask"}]', "did you mean 'call'?"),
                        ('{}', "must be a list"), ('[{"call": "a/b", "expect": {"action": "ask", "riks": 1}}]', "'risk'?"),
                        ('[{"call": "a/b", "expect": "alow"}]', "`expect`: 'alow' is none, did you mean 'allow'?"),
                        ('[{"call": "a/b", "expect": {"action": "al*"}}]', "`action`: 'al*' is none"),
                        ('[{"code": "1", "expect": {"risk": "high"}}]', "`risk`: 'high' is none"),
                        ('[{"call": "a/b", "expect": {"labels": ["privat"]}}]', "did you mean 'private'?"),
                        ('[{"program": "none.ts", "expect": "ask"}]', "none.ts"), ('[{"call": "ab", "expect": "ask"}]', "SERVER/TOOL")):
        done = t.caisson("policy", "test", t.file("wrong.json", wrong))
        t.true(done.status not in (0, 1), "%s: %s" % (wrong, done))
        t.has(done.err, says)


def test_it_may_be_in_the_configuration(t):
    t.file("caisson.json", '{"mcpServers": {}, /* here */ "policy": {"tools": {"deny": ["bank/*"]}}}')
    said = explained(t, "--tool", "bank/pay")
    t.equal(said["rule"], "tools.deny: bank/*")
    t.status(t.caisson("config", "check"), 0)
    t.file("policy.json", "{}")
    for argv in (("policy", "check"), ("config", "check"), ("run", "-e", "return 1")):
        done = t.caisson(*argv)
        t.true(done.status != 0, argv)
        t.has(done.err + done.out, "there are two policies")
    os.unlink(os.path.join(t.dir, "policy.json"))
    t.file("rules/own.json", '{"tools": {"ask": ["bank/*"]}}')
    t.file("caisson.json", '{"policy": "rules/own.json"}')
    t.equal(explained(t, "--tool", "bank/pay", "--config", os.path.join(t.dir, "caisson.json"))["rule"], "tools.ask: bank/*")
    t.file("caisson.json", '{"policy": "rules/none.json"}')
    t.has(t.caisson("run", "-e", "return 1").err, "none.json")
    t.file("caisson.json", '{"policy": 7}')
    t.has(t.caisson("config", "check").out, "'policy' wants an object, or the path of a file")
    # Another program's file is none of our business.
    t.file(".mcp.json", '{"mcpServers": {}, "policy": {"no": "idea"}}')
    t.status(t.caisson("run", "-e", "return 1", "--config", os.path.join(t.dir, ".mcp.json"), "--no-record"), 0)


def test_all_of_it_changes_while_it_runs(t):
    office(t)
    first, third = '{"tools": {"deny": ["mail/*"]}}', "{}"
    t.file("policy.json", first)

    def offered(d):
        return sorted(re.findall(r'"name":"(\w+)"', d.get("/tools").body.decode()))

    with Daemon(t) as d:
        until(t, "the tools", lambda: "find_customers" in offered(d) and "fetch_page" in offered(d))
        t.true("send_mail" not in offered(d), "a denied tool is shown")
        wanted = "return await tools.mail.sendMail({to: 'x', subject: 's', body: 'b'})"
        t.equal(d.run(wanted)["status"] == "completed", False)
        second = '{"tools": {"deny": ["web/*"]}, "risk": {"then": {"HIGH": "allow"}}}'
        t.file("policy.json", second)
        d.process.send_signal(signal.SIGHUP)
        until(t, "the new policy", lambda: "send_mail" in offered(d))
        t.true("fetch_page" not in offered(d), "a denied tool is shown")
        t.equal(d.run("return eval('1 + ' + inputs.x)", inputs={"x": "1"})["result"], 2)
        t.file("policy.json", '{"tools": {"deny": "all"}}')
        d.await_said(r"not reloaded, the old rules stay: policy .*tools: deny: must be a list")
        t.true("fetch_page" not in offered(d), "a policy that cannot be read took something away")
        t.file("policy.json", third)
        until(t, "no rules", lambda: "fetch_page" in offered(d))
    hashes = [hashlib.sha256(x.encode()).hexdigest() for x in (first, second, third)]
    changed = entries(t, "policy.changed")
    t.equal([(e["before"], e["hash"]) for e in changed], [tuple(hashes[:2]), tuple(hashes[1:])])
    t.equal([e["hash"] for e in entries(t, "policy.loaded")], hashes[:1])
    t.has(entries(t, "policy.refused")[0]["error"], "must be a list")


EVAL = "return eval('1 + ' + inputs.x)"
DENY, ALLOW = ('{"risk": {"then": {"HIGH": "%s"}}}' % x for x in ("deny", "allow"))


def runs(d):
    return d.run(EVAL, inputs={"x": "1"})["status"] == "completed"


def test_one_that_appears_counts(t):
    t.file("caisson.json", "{}")
    with Daemon(t) as d:
        t.file("policy.json", ALLOW)
        d.await_said(r"a new one counts from now on: \S*policy.json")
        t.true(runs(d), "the new policy does not count")
        t.equal(d.get("/health").json()["parts"]["policy"], {"status": "ok"})
    changed = entries(t, "policy.changed")
    t.equal([(e["before"], e["hash"]) for e in changed], [("0" * 64, hashlib.sha256(ALLOW.encode()).hexdigest())])


def test_one_that_vanishes_counts_on(t):
    t.file("caisson.json", "{}")
    path = t.file("policy.json", DENY)
    with Daemon(t) as d:
        os.unlink(path)
        d.await_said(r"not reloaded, the old rules stay: \S*policy.json: it was there and is not any more")
        d.process.send_signal(signal.SIGHUP)
        until(t, "SIGHUP is answered", lambda: d.said().count("is not any more") == 2)
        t.true(not runs(d), "the defaults came back by themselves")
        health = d.get("/health").json()
        t.equal((health["status"], health["parts"]["policy"]["status"]), ("degraded", "degraded"))
        t.has(health["parts"]["policy"]["error"], "is not any more")
        t.file("policy.json", DENY)
        d.await_said("is the newest again")
        t.equal(d.get("/health").json()["parts"]["policy"], {"status": "ok"})
    refused = entries(t, "policy.refused")
    t.equal(len(refused), 2)
    t.has(refused[0]["error"], "is not any more")
    t.equal(entries(t, "policy.changed"), [])


def test_one_that_is_named_and_vanishes_counts_on(t):
    path = t.file("rules.json", DENY)
    with Daemon(t, "--policy", path) as d:
        os.unlink(path)
        d.await_said(r"not reloaded, the old rules stay: policy \S*rules.json")
        t.true(not runs(d), "the defaults came back by themselves")


def test_one_that_goes_with_its_configuration_counts_on(t):
    path = t.file("caisson.json", '{"policy": %s}' % DENY)
    with Daemon(t) as d:
        os.unlink(path)
        d.await_said(r"not reloaded, the old rules stay: \S*caisson.json")
        t.true(not runs(d), "the defaults came back by themselves")
        t.file("caisson.json", '{"policy": %s}' % ALLOW)
        until(t, "the new one", lambda: runs(d))
        t.file("policy.json", DENY)
        d.await_said("there are two policies")
        t.true(runs(d), "one of two counts")


def test_a_broken_one_keeps_nobody_from_looking_and_denying(t):
    t.file("caisson.json", "{}")
    t.file("policy.json", '{"approvals": {"timeout_s": 60}}')
    with Waiting(t, RISKY, "--input", '{"by": 2}') as w:
        approval = w.asked()
        t.file("policy.json", '{"approvals": {"timeout": 60}}')
        for argv in (("approvals",), ("approvals", "show", approval), ("approvals", "grants")):
            done = t.caisson(*argv)
            t.status(done, 0)
            t.has(done.err, "the policy cannot be read: ")
            t.has(done.err, "did you mean 'timeout_s'?")
        done = t.caisson("approve", approval, "--yes")
        t.status(done, 2)
        t.has(done.err, "the policy cannot be read, and who may approve is in it; showing and denying work without: ")
        t.status(t.caisson("deny", approval, "--reason", "not with these rules"), 0)
        t.has(w.end().err, "not with these rules")


def test_one_in_the_configuration_changes_too(t):
    t.file("caisson.json", '{"policy": {"risk": {"then": {"HIGH": "deny"}}}}')
    code = "return eval('1 + ' + inputs.x)"
    with Daemon(t) as d:
        t.true(d.run(code, inputs={"x": "1"})["status"] != "completed", "it ran")
        t.file("caisson.json", '{"policy": {"risk": {"then": {"HIGH": "allow"}}}}')
        until(t, "the new policy", lambda: d.run(code, inputs={"x": "1"})["status"] == "completed")
        t.file("caisson.json", '{"policy": "rules.json"}')
        d.await_said("not reloaded, the old rules stay: policy ./rules.json")
        t.file("rules.json", '{"risk": {"then": {"HIGH": "deny"}}}')
        until(t, "the file that is named", lambda: d.run(code, inputs={"x": "1"})["status"] != "completed")
        t.file("rules.json", '{"risk": {"then": {"HIGH": "allow"}}}')
        until(t, "its change", lambda: d.run(code, inputs={"x": "1"})["status"] == "completed")

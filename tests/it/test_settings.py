"""Settings: where they come from, what is said about a wrong one, and that the docs are the table."""

import json
import os
import re

from harness import table
from serving import Daemon

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

GOOD = """{
  // The team's.
  "mcpServers": {},
  "server": {"port": 9000, "allowed_hosts": ["box.example"]},
  "log.level": "warn",
  "redis": {"url": "redis://user:hunter2@cache:6379/0"},
}
"""

BAD = """{
  "server": {"port": 70000, "hots": "x"},
  "execution": {"timeout": "10 years"},
  "mcpServer": {}
}
"""


def settings_of(t, *options, env=None):
    done = t.caisson("config", "show", "-o", "json", *options, env=env)
    t.status(done, 0)
    return done.json()["settings"]


def test_each_place_comes_before_the_next(t):
    t.file("caisson.json", GOOD)
    port = settings_of(t)["server.port"]
    t.equal(port, {"value": 9000, "from": "./caisson.json:4:22"})
    env = {"CODE_EXEC_PORT": "9001"}
    t.equal(settings_of(t, env=env)["server.port"], {"value": 9001, "from": "$CODE_EXEC_PORT"})
    env["CAISSON_PORT"] = "9002"
    t.equal(settings_of(t, env=env)["server.port"], {"value": 9002, "from": "$CAISSON_PORT"})
    env["CAISSON_SERVER_PORT"] = "9003"
    t.equal(settings_of(t, env=env)["server.port"], {"value": 9003, "from": "$CAISSON_SERVER_PORT"})
    t.equal(settings_of(t, "--port", "9004", env=env)["server.port"], {"value": 9004, "from": "--server.port"})
    t.equal(settings_of(t, "--server.port=9005", env=env)["server.port"]["value"], 9005)


def test_what_is_set_is_shown_and_all_with_all(t):
    t.file("caisson.json", GOOD)
    some = t.caisson("config", "show")
    t.status(some, 0)
    t.has(some.out, "box.example")
    t.lacks(some.out, "rate.per_hour")
    t.has(some.out, "--all")
    every = settings_of(t, "--all")
    t.equal(every["rate.per_hour"], {"value": 10000, "from": "default"})
    t.equal(every["session.idle"]["value"], "24h")
    t.equal(every["server.require_key"]["value"], False)
    explained = t.caisson("config", "explain").out
    t.equal(sorted(every), sorted(re.findall(r"^([a-z]+\.[a-z_]+): ", explained, re.M)), "settings explained")


def test_a_password_is_never_shown(t):
    t.file("caisson.json", GOOD)
    for verb in (["show"], ["show", "--all", "-o", "json"], ["explain"], ["explain", "redis.url"], ["check"]):
        done = t.caisson("config", *verb)
        t.status(done, 0)
        t.lacks(done.out + done.err, "hunter2")
    t.has(t.caisson("config", "show").out, "redis://user:***@cache:6379/0")


def test_all_mistakes_are_told_with_their_places(t):
    t.file("caisson.json", BAD)
    done = t.caisson("config", "check", env={"CAISSON_RATE_PER_HOUR": "many"})
    t.status(done, 2)
    t.has(done.out, "./caisson.json:2:22: server.port: wants a whole number from 0 to 65535, but there is 70000\n")
    t.has(done.out, "./caisson.json:2:29: there is no setting 'server.hots'; did you mean 'server.host'?\n")
    t.has(done.out, "./caisson.json:3:28: execution.timeout: wants a time from 1ms to 5m")
    t.has(done.out, "./caisson.json:4:3: there is no setting 'mcpServer'; did you mean 'mcpServers'?\n")
    t.equal(done.out.count("mcpServers"), 1, "how often it is told")
    t.has(done.out, "$CAISSON_RATE_PER_HOUR: rate.per_hour: wants")
    # The file alone is the same wherever it is checked.
    t.lacks(t.caisson("config", "check", "caisson.json", env={"CAISSON_RATE_PER_HOUR": "many"}).out, "CAISSON_RATE")
    shown = t.caisson("config", "show")
    t.status(shown, 2)
    t.has(shown.err, "server.hots")


def test_serving_with_a_mistake_is_refused(t):
    t.file("caisson.json", BAD)
    done = t.caisson("serve", "--port", "0")
    t.true(done.status != 0, "it served")
    t.has(done.err, "caisson.json:2:22: server.port")
    t.has(done.err, "'server.hots'; did you mean 'server.host'?")


def test_serving_warns_of_a_variable_that_means_nothing(t):
    with Daemon(t, env={"CAISSON_SERVR_GRACE": "1"}) as d:
        d.await_said(r"CAISSON_SERVR_GRACE is not understood; did you mean \$CAISSON_SERVER_GRACE")


@table([
    ("settings", '{"server": {"port": 1}}', 0, "1 settings"),
    ("another program's", '{"numStartups": 3, "theme": {}, "mcpServers": {"a": {"command": "x"}}}', 0, "1 servers"),
    ("another program's with ours in it", '{"theme": 1, "log.level": "info"}', 2, "no setting 'theme'"),
    ("a server that cannot be", '{"mcpServers": {"a": {}}}', 2, "server 'a'"),
    ("no JSON", '{"mcpServers": ', 2, "line 1"),
    ("no object", '[]', 2, "an object is wanted"),
])
def test_any_file_can_be_checked(t, name, text, status, said):
    t.file("some.json", text)
    done = t.caisson("config", "check", "some.json")
    t.status(done, status)
    t.has(done.out, said)
    t.true(done.out.count("\n") == 1, "more than one line: %s" % done.out)


def test_a_file_that_was_named_must_be_there(t):
    for argv in (["check", "none.json"], ["check", "--config", "none.json"], ["show", "--config", "none.json"]):
        done = t.caisson("config", *argv)
        t.true(done.status != 0, "it was taken")
        t.has(done.err, "there is no configuration 'none.json'")
    t.status(t.caisson("config", "check"), 0)


def test_a_policy_that_cannot_be_read_is_a_mistake(t):
    t.file("caisson.json", "{}")
    t.file("policy.json", "{")
    done = t.caisson("config", "check")
    t.status(done, 2)
    t.has(done.out, "policy")


def test_a_variable_that_means_nothing_is_warned_of(t):
    done = t.caisson("config", "show", env={"CAISSON_SERVR_PORT": "1", "CAISSON_DATA": t.dir, "CAISSON_MODEL": "/m"})
    t.status(done, 0)
    t.equal(done.err, "$CAISSON_SERVR_PORT is not understood; did you mean $CAISSON_SERVER_PORT?\n", "stderr")


def test_one_setting_is_explained(t):
    done = t.caisson("config", "explain", "server.port", env={"CAISSON_PORT": "7"})
    t.status(done, 0)
    for piece in ("a whole number from 0 to 65535", "8002", "CAISSON_SERVER_PORT, CAISSON_PORT, CODE_EXEC_PORT",
                  "--server.port, --port", "after a restart", "7 ($CAISSON_PORT)"):
        t.has(done.out, piece)
    t.has(t.caisson("config", "explain", "server.grace").out, "at a reload")
    wrong = t.caisson("config", "explain", "server.prot")
    t.status(wrong, 2)
    t.has(wrong.err, "did you mean 'server.port'?")
    # Also where the configuration cannot be read.
    t.file("caisson.json", BAD)
    t.has(t.caisson("config", "explain", "server.port").out, "caisson config check")


def test_every_setting_is_a_flag_of_serve(t):
    help_text = t.caisson("help", "serve").out
    for name in settings_of(t, "--all"):
        t.has(help_text, "--" + name)
    t.has(t.caisson("serve", "--server.prot", "1").err, "did you mean '--server.port'?")


def test_the_docs_are_what_the_program_says(t):
    said = t.caisson("config", "docs")
    t.status(said, 0)
    with open(os.path.join(ROOT, "docs", "configuration.md")) as f:
        docs = f.read()
    made = re.search(r"<!-- caisson config docs -->\n\n(.*)\n<!-- end -->", docs, re.S)
    t.true(made, "docs/configuration.md has lost the marks around its tables")
    t.true(made.group(1) == said.out, "docs/configuration.md differs from what 'caisson config docs' prints: put it there")
    t.lacks(t.caisson("help", "config").out, "config docs")


def test_the_example_in_the_docs_is_right(t):
    with open(os.path.join(ROOT, "docs", "configuration.md")) as f:
        docs = f.read()
    t.file("caisson.json", re.search(r"```jsonc\n(.*?)```", docs, re.S).group(1))
    done = t.caisson("config", "check")
    t.status(done, 0)
    t.true("(0 settings" not in done.out, done.out)

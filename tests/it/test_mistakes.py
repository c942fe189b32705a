"""What an agent gets wrong about tools, and whether the answer says how to mend it."""

import json
import os
import sys

from harness import table

FIXTURE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "escape", "fixture.py")


def options(t):
    server = {"command": sys.executable, "args": [FIXTURE, os.path.join(t.dir, "ledger"), os.path.join(t.dir, "calls")]}
    return ("--config", t.file("servers.json", json.dumps({"mcpServers": {"fixture": server}})))


@table([
    ("unknown tool", "return fixture.ecko({})", "permission_error", "no tool 'ecko'", "fixture.echo", 1),
    ("unknown server", "return tools.fixtur.echo({})", "permission_error", "no server 'fixtur'", "fixture", 1),
    ("unknown import", "const a = 1;\nimport { ecko } from './mcp-servers/fixture/ecko.ts';\necko()",
     "runtime_error", "near to it: fixture.echo", "searchTools", 2),
    ("wrong argument name", "const a = 1;\nreturn fixture.strict({ kode: 'abc' })", "validation_error",
     "rename it to 'code'", "code (required)", 2),
    ("positional arguments", "return fixture.strict('abc', 1)", "validation_error", "one object", "fixture.strict({", 1),
    ("missing await", "const c = fixture.echo({ n: 1 });\nreturn c.n + 1", "type_error", "an `await` is missing",
     "Line 1: write `const c = await fixture.echo({ n: 1 });`.", 2),
    ("missing await, imported", "import { echo } from 'mcp-servers/fixture';\nconst c = echo({ n: 1 });\n"
     "return c.map((x) => x)", "type_error", "an `await` is missing", "Line 2: write `const c = await echo({ n: 1 });`.", 3),
    ("calling a server", "await tools.fixture({ n: 1 })", "type_error", "a server, not a tool", "fixture.<tool>", 1),
    ("tool error", "const a = 1;\n\nawait fixture.strict({ code: 'abcd' })", "validation_error", "pattern", "code", 3),
    ("require", "const x = require('mcp-servers/fixture')", "runtime_error", "require", "import", 1)])
def test_a_mistake_is_told_with_its_mend(t, name, code, kind, message, suggestion, line):
    error = t.envelope(code, *options(t))["error"]
    t.equal(error["type"], kind, "type of %r" % error)
    t.has(error["message"], message, "message")
    t.has(error.get("suggestion", ""), suggestion, "suggestion")
    t.equal(error.get("line"), line, "line")


def test_a_call_without_await_is_finished_and_warned_about(t):
    e = t.envelope("fixture.danger({ note: 'posted' }); return 'done'", *options(t))
    t.equal(e["result"], "done", "result")
    t.has(t.read("ledger"), "posted", "the ledger")
    t.has(str(e["logs"]), "without waiting for fixture.danger", "logs")


def test_three_spellings_are_one_call(t):
    e = t.envelope("import { echo } from './mcp-servers/fixture/echo.ts';\nimport again from 'mcp-servers/fixture';\n"
                   "return [await echo({ a: 1 }), await tools.fixture.echo({ a: 2 }), await fixture.echo({ a: 3 }), "
                   "again.echo === echo, await caisson.callTool('fixture', 'echo', { a: 4 })]", *options(t))
    t.equal(e.get("result"), [{"a": 1}, {"a": 2}, {"a": 3}, True, {"a": 4}], "result (%s)" % e.get("error"))


def test_python_and_the_shell_call_tools(t):
    e = t.envelope("def main():\n    return [caisson.tools.fixture.echo(a=1), list(caisson.tools),\n"
                   "        [x['tool'] for x in caisson.search_tools('three letters')]]",
                   *options(t), language="python")
    t.equal(e.get("result"), [{"a": 1}, ["fixture"], ["fixture.strict"]], "result (%s)" % e.get("error"))
    e = t.envelope("try:\n    caisson.tools.fixture.strict(kode='abc')\nexcept caisson.ToolError as e:\n    raise",
                   *options(t), language="python")
    t.equal((e["error"]["type"], e["error"]["name"], e["error"]["line"]), ("validation_error", "ToolError", 2), "error")
    t.has(e["error"]["suggestion"], "code (required)", "suggestion")
    e = t.envelope("caisson call fixture echo '{\"a\":1}'; caisson search letters; caisson show fixture/strict | "
                   "grep -c 'export async function strict'", *options(t), language="bash")
    t.has(e["stdout"], '{"a": 1}\nfixture.strict\t/mcp-servers/fixture/strict.ts\t', "stdout")
    t.true(e["stdout"].endswith("\n1\n"), "the declaration is not shown: %r" % e["stdout"])

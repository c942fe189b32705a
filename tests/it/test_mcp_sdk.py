"""What we offer over MCP, as the official clients see it: both eras, both transports, every tool, resource and prompt."""

import contextlib
import json
import os
import re
import subprocess
import sys
import time

import batch
import peers
from driving import Client, node
from harness import Failed, table, until
from serving import Daemon, children_of, make_key

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# What a client can be, and how it is connected. Every row must behave alike.
ROWS = [("old over stdio", "old", "stdio"), ("old over http", "old", "http"), ("modern over stdio", "modern", "stdio"),
        ("modern over http", "modern", "http")]
EVERY = table(ROWS)
# Where the era makes no difference, one of each is enough.
TWO = table([("old over stdio", "old", "stdio"), ("modern over http", "modern", "http")])

ENDLESS = "console.log('begun'); for (;;) ;"


def plain(mode="plain"):
    """A server whose tool `ask` asks what its arguments say."""
    return {"command": sys.executable, "args": [os.path.join(HERE, "servers", "nasty.py"), mode]}


def known(t, c, count):
    """It knows the tools of so many servers. Whoever asks waits for them, though not as long as a busy machine may need."""
    if count:
        until(t, "the servers are known", lambda: len(re.findall(r"^\w+ [1-9]\d*$", c.tool("search_tools"), re.M)) >= count)


@contextlib.contextmanager
def client(t, kind, transport, servers=None, policy=None, options=(), shown=None):
    """`shown`: how many of its servers the policy does not hide."""
    servers = {"github": peers.ours("github")} if servers is None else servers
    peers.configure(t, servers, policy)
    if transport == "stdio":
        with Client(t, kind, "stdio", *options) as c:
            c.daemon = None
            known(t, c, len(servers) if shown is None else shown)
            yield c
        return
    with Daemon(t, *options) as d:
        with Client(t, kind, "http", d.url + "/mcp") as c:
            c.daemon = d
            known(t, c, len(servers) if shown is None else shown)
            yield c


def tokens(t, *texts):
    """As a model's own tokenizer counts them."""
    code = ("import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';"
            "console.log(JSON.stringify(JSON.parse(process.argv[1]).map((s) => countTokens(s))));")
    out = subprocess.run([node(t), "--input-type=module", "-e", code, json.dumps(texts)], cwd=peers.PEERS, capture_output=True,
                         text=True, check=True, timeout=180).stdout
    return json.loads(out)


# What is there

@table([*ROWS, ("legacy over stdio", "legacy", "stdio")])
def test_four_small_tools_are_offered(t, _, kind, transport):
    with client(t, kind, transport) as c:
        tools = c.ask("listTools")["tools"]
        t.equal([x["name"] for x in tools], ["search_tools", "execute_code", "call_tool", "get_execution"])
        for x in tools:
            t.equal(x["inputSchema"]["additionalProperties"], False, x["name"])
            t.true(x["description"] and x["title"], "%s has no words" % x["name"])
        reads = {x["name"]: x.get("annotations", {}).get("readOnlyHint", False) for x in tools}
        t.equal(reads, {"search_tools": True, "execute_code": False, "call_tool": False, "get_execution": True})
        capabilities = c.ready["capabilities"]
        t.equal(capabilities["tools"], {"listChanged": True})
        t.equal(capabilities["resources"], {"subscribe": True, "listChanged": True})
        t.true("prompts" in capabilities and "completions" in capabilities, "capabilities: %r" % capabilities)
        size, instructions = tokens(t, json.dumps(tools, separators=(",", ":")), c.ready["instructions"])
        t.true(size <= 850, "our definitions have %d tokens" % size)
        t.true(instructions < 300, "our instructions have %d tokens" % instructions)


def test_the_instructions_name_the_servers_within_their_bound(t):
    servers = {"server-%d-of-many" % i: plain() for i in range(30)}
    peers.configure(t, servers)
    t.caisson("list")
    with Client(t, "old", "stdio") as c:
        t.has(c.ready["instructions"], "Servers (tools): server-0-of-many (4), ")
        t.has(c.ready["instructions"], " and 18 more")
        t.true(tokens(t, c.ready["instructions"])[0] < 300, "the instructions are too long")


# search_tools

@TWO
def test_tools_are_found_with_their_signatures(t, _, kind, transport):
    with client(t, kind, transport) as c:
        found = c.tool("search_tools", query="commits of a branch")
        t.has(found, "// ./mcp-servers/github/listCommits.ts\ngithub.listCommits({owner: string, repo: string, sha?: string, "
                     "since?: string, per_page?: number, page?: number}) // Get the list of commits of a branch of a repository\n")
        t.true(len(found) < 1500, "it is long: %s" % found)
        t.equal(c.tool("search_tools", query="list commits", detail="name", limit=1).split("\n")[1], "github.listCommits")
        full = c.tool("search_tools", query="github.listCommits", detail="full", limit=1)
        t.has(full, "export async function listCommits(input: ListCommitsInput)")
        t.lacks(full, "createIssue")


def test_without_a_query_there_are_servers_and_with_a_server_its_tools(t):
    with client(t, "old", "stdio", {"github": peers.ours("github"), "my-plain": plain()}) as c:
        t.has(c.tool("search_tools"), "github 8\nmyPlain 4\n")
        own = c.tool("search_tools", server="my-plain", detail="name")
        t.equal(own, "myPlain.ask\nmyPlain.echo\nmyPlain.env\nmyPlain.grow\n4 of 4 tools of my-plain\n")
        t.has(c.tool("search_tools", query="issue", server="nowhere"), "there is no server 'nowhere'")
        t.matches(c.tool("search_tools", query="zzzzqqq"), "nothing matches.*github 8")


def test_without_servers_it_says_so_and_programs_run(t):
    with Client(t, "old", "stdio") as c:
        t.matches(c.tool("search_tools", query="x"), "no servers are connected")
        t.equal(c.execute("return 1")["result"], 1)
        t.equal(c.ask("listResources")["resources"][1:], [])


def test_what_policy_hides_is_nowhere(t):
    policy = {"tools": {"deny": ["github/create*", "plain/*"]}}
    with client(t, "old", "stdio", {"github": peers.ours("github"), "plain": plain()}, policy, shown=1) as c:
        t.lacks(c.tool("search_tools", server="github"), "createIssue")
        t.lacks(c.tool("search_tools", query="create an issue"), "createIssue")
        t.lacks(c.tool("search_tools"), "plain")
        readme = c.ask("readResource", {"uri": "caisson://tools/README.md"})["contents"][0]["text"]
        t.has(readme, "# 6 tools of 1 servers\n")
        t.has(readme, "Servers: github (6)\n")
        t.lacks(readme, "plain")
        uris = [r["uri"] for r in c.ask("listResources")["resources"]]
        t.true("caisson://tools/github/listCommits.ts" in uris, "the others are there")
        t.true(not [u for u in uris if "createIssue" in u or "plain" in u], "hidden tools are listed: %r" % uris)
        index = c.ask("readResource", {"uri": "caisson://tools/github/index.ts"})["contents"][0]["text"]
        t.has(index, "listCommits")
        t.lacks(index, "createIssue")
        for uri in ("caisson://tools/github/createIssue.ts", "caisson://tools/plain/index.ts", "caisson://tools/plain/echo.ts"):
            c.refused("readResource", {"uri": uri})
        t.lacks(json.dumps(c.refused("callTool", {"name": "github.create_issue"})), "call_tool {")
        values = c.ask("complete", {"ref": {"type": "ref/resource", "uri": "caisson://tools/{server}/{file}"},
                                    "argument": {"name": "server", "value": ""}})["completion"]["values"]
        t.equal(values, ["github"])
        t.has(c.wrong("call_tool", server="github", tool="create_issue", arguments={}), "permission_error")


# execute_code

@EVERY
def test_a_program_is_answered_with_one_short_text(t, _, kind, transport):
    with client(t, kind, transport) as c:
        text = c.tool("execute_code", code="const c = await github.listCommits({owner: 'harbour', repo: 'web', per_page: 500});\n"
                                           "console.log('got', c.length);\nreturn { n: c.length }")
        answer = json.loads(text)
        t.equal(answer["status"], "completed")
        t.equal(answer["result"], {"n": 500})
        t.has(json.dumps(answer["logs"]), "got 500")
        t.matches(answer["execution_id"], "^ex_[0-9a-f]{32}$")
        t.true(tokens(t, text)[0] < 80, "a small answer is long: %s" % text)


@table([("typescript", "return inputs.a + 1", 42), ("python", "def main(inputs):\n    return inputs['a'] + 1", 42),
        ("bash", "echo 42", "42"), ("node", "console.log(inputs.a + 1)", 42)])
def test_a_program_may_be_of_another_language(t, language, code, result):
    if t.caisson("run", "--language", language, "-e", "echo" if language == "bash" else "1").status:
        t.skip("%s is not there" % language)
    with Client(t, "old", "stdio") as c:
        answer = c.execute(code, language=language, inputs={"a": 41})
        t.equal((answer["status"], answer["result"]), ("completed", result))


@TWO
def test_a_failed_program_says_where_and_what_it_probably_wanted(t, _, kind, transport):
    with client(t, kind, transport) as c:
        text = c.wrong("execute_code", code="const a = 1;\nreturn a.b.c", intent="list the commits of a branch")
        answer, hints = text.split("\n\n", 1)
        error = json.loads(answer)["error"]
        t.equal(error["type"], "type_error")
        t.equal((error["line"], json.loads(answer)["status"]), (2, "failed"))
        t.has(hints, "Probably wanted:\n// ./mcp-servers/github/listCommits.ts\n")
        t.has(hints, "export async function listCommits(")
        t.true(tokens(t, text)[0] < 6000, "it is too long")
        plain = c.wrong("execute_code", code="return nothing.there")
        t.lacks(plain, "Probably wanted")


def test_a_program_without_an_end_is_told_how_to_get_more_time(t):
    with client(t, "old", "stdio", {}) as c:
        text = c.wrong("execute_code", code="for (;;) ;", timeout_ms=300)
        t.has(text, "timeout_error")
        t.has(text, "timeout_ms, up to 300000")
        t.matches(c.wrong("execute_code", code="1", timeout_ms=900000), "timeout_ms: .*300000")


def test_a_wrong_name_is_answered_with_the_right_definition(t):
    with client(t, "old", "stdio") as c:
        called = c.wrong("execute_code", code="return await tools.github.listComits({owner: 'harbour', repo: 'web'})")
        t.has(called, "permission_error")
        t.has(called, "export async function listCommits(")
        imported = c.wrong("execute_code", code="import { listComits } from './mcp-servers/github/listComits.ts';\nreturn listComits({})")
        t.has(imported, "export async function listCommits(")
        invalid = c.wrong("execute_code", code="return await github.createIssue({owner: 'a'})")
        t.has(invalid, "validation_error")
        t.has(invalid, "export type CreateIssueInput")


def test_a_session_keeps_state_and_files(t):
    with client(t, "old", "stdio", {}) as c:
        first = c.execute("state.n = 41; await Deno.writeTextFile('/workspace/a.txt', 'kept'); return 1", session_id="new")
        t.matches(first["session_id"], "^ses_[0-9a-f]{32}$")
        again = c.execute("state.n++; return [state.n, await Deno.readTextFile('/workspace/a.txt')]", session_id=first["session_id"])
        t.equal(again["result"], [42, "kept"])
        t.equal(again["session_id"], first["session_id"])
        other = c.execute("return state.n ?? 'nothing'", session_id="new")
        t.equal(other["result"], "nothing")
        t.matches(c.wrong("execute_code", code="return 1", session_id="ses_" + "0" * 32), "no such session|there is no session")
        t.matches(c.wrong("execute_code", code="return 1", session_id="x" * 100), "session")


def test_a_large_result_is_a_preview_and_can_be_paged(t):
    with client(t, "old", "stdio", {}) as c:
        text = c.tool("execute_code", code="return Array.from({length: 3000}, (_, i) => ({number: i, text: 'item ' + i}))")
        t.true(tokens(t, text)[0] <= 6600, "the preview has %d tokens" % tokens(t, text)[0])
        answer, seen, offset = json.loads(text), [], 0
        while offset is not None:
            piece = c.tool("get_execution", execution_id=answer["execution_id"], view="result", offset=offset)
            t.true(tokens(t, piece)[0] <= 6600, "a piece is too large")
            piece = json.loads(piece)
            seen += piece["result"]
            t.equal(piece["total"], 3000)
            offset = piece.get("next_offset")
        t.equal([x["number"] for x in seen], list(range(3000)))
        few = json.loads(c.tool("get_execution", execution_id=answer["execution_id"], view="result", offset=10, limit=2))
        t.equal(few["result"], [{"number": 10, "text": "item 10"}, {"number": 11, "text": "item 11"}])
        for artifact in answer.get("artifacts", []):
            t.has(c.tool("get_execution", execution_id=artifact["id"], limit=1), '"item 0"')


# call_tool

@TWO
def test_one_tool_is_called_without_a_program(t, _, kind, transport):
    with client(t, kind, transport) as c:
        answer = json.loads(c.tool("call_tool", server="github", tool="list_commits",
                                   arguments={"owner": "harbour", "repo": "web", "per_page": 2}))
        t.equal((answer["status"], len(answer["result"])), ("completed", 2))
        same = json.loads(c.tool("call_tool", server="github", tool="listCommits",
                                 arguments=json.dumps({"owner": "harbour", "repo": "web", "per_page": 2})))
        t.equal(same["result"], answer["result"])
        text = c.wrong("call_tool", server="github", tool="list_commits", arguments={"owner": "harbour"})
        t.has(text, "repo")
        t.has(text, "validation_error")
        t.lacks(text, "snippet")
        t.has(c.wrong("call_tool", server="github", tool="list_commits", arguments={"owner": "x", "repo": "y"}), "Not Found")


# Wrong arguments

@table([("a name that is nearly right", "execute_code", {"cod": "return 1"}, "code.*cod"),
        ("one that nobody knows", "search_tools", {"query": "x", "colour": "red"}, "colour"),
        ("a wrong kind", "execute_code", {"code": 7}, "code: must be a string; given 7"),
        ("a choice", "execute_code", {"code": "1", "language": "perl"}, "language: must be one of .*python"),
        ("a bound", "search_tools", {"query": "x", "limit": 500}, "limit: .*50"),
        ("nothing at all", "call_tool", {}, "server: is missing.*tool: is missing"),
        ("no object", "call_tool", {"server": "a", "tool": "b", "arguments": "nothing"}, "arguments: must be an object")])
def test_arguments_that_do_not_fit_are_explained(t, _, tool, arguments, said):
    with client(t, "old", "stdio", {}) as c:
        text = c.wrong(tool, **arguments)
        t.has(text, tool + " was not called")
        t.matches(text, said)


def test_an_unknown_tool_is_an_error_that_names_those_there_are(t):
    with client(t, "old", "stdio") as c:
        error = c.refused("callTool", {"name": "nonsense", "arguments": {}})
        t.equal(error["code"], -32602)
        t.has(error["message"], "there are search_tools, execute_code, call_tool, get_execution")
        t.lacks(error["message"], "call_tool {")
        for name in ("github.list_commits", "github__list_commits", "github/listCommits", "list_commits"):
            t.has(c.refused("callTool", {"name": name})["message"], 'call_tool {"server": "github", "tool": "list_commits"')


# While it runs

@EVERY
def test_progress_and_logs_arrive_while_it_runs(t, _, kind, transport):
    # The old client drops progress that it reads together with the answer: the answer comes a good while later.
    code = ("console.warn('warned'); for (let i = 1; i <= 3; i++) { caisson.progress(i, 3, `step ${i}`);"
            " await new Promise((r) => setTimeout(r, i < 3 ? 150 : 2500)); } return 'done'")
    with client(t, kind, transport, {}) as c:
        if kind != "modern":
            c.ask("setLoggingLevel", "debug")
        result = c.result("execute_code", {"code": code}, progress=True, log="debug")
        answer = json.loads(result["content"][0]["text"])
        t.equal(answer["result"], "done")
        steps = c.seen("progress")
        t.true({"progress": 3, "total": 3, "message": "step 3"} in steps, "progress: %r" % steps)
        values = [p["progress"] for p in steps]
        t.equal(values, sorted(set(values)), "progress")
        log = c.event("log", lambda p: p["data"] == "warned")
        t.equal((log["level"], log["logger"]), ("warning", answer["execution_id"]))


def test_a_long_one_tells_that_it_is_alive(t):
    with client(t, "old", "stdio", {"plain": plain()}) as c:
        code = "await plain.echo({}); await new Promise((r) => setTimeout(r, 2500)); return 1"
        c.result("execute_code", {"code": code}, progress=True)
        t.true([p for p in c.seen("progress") if re.match(r"1 tool call, \d+ s$", p["message"])], "progress: %r" % c.seen("progress"))


def cancelled(t, c, execution):
    """What get_execution says of it, once it is over."""
    end = time.monotonic() + 50
    while time.monotonic() < end:
        answer = json.loads(c.tool("get_execution", execution_id=execution, wait_ms=2000))
        if answer["status"] not in ("running", "waiting"):
            return answer
    raise Failed("it never ends: %r" % answer)


@EVERY
def test_cancelling_ends_the_jail_at_once(t, _, kind, transport):
    with client(t, kind, transport, {}) as c:
        if kind != "modern":
            c.ask("setLoggingLevel", "debug")
        number = c.send("callTool", {"name": "execute_code", "arguments": {"code": ENDLESS, "timeout_ms": 60000}}, log="debug")
        execution = c.event("log", lambda p: p["data"] == "begun")["logger"]
        t.equal(json.loads(c.tool("get_execution", execution_id=execution, wait_ms=0))["status"], "running")
        c.ask("abort", number)
        t.true("error" in c.wait(number), "it was not cancelled")
        started = time.monotonic()
        t.equal(cancelled(t, c, execution)["status"], "cancelled")
        t.true(time.monotonic() - started < 40, "it took %.1f s" % (time.monotonic() - started))


def test_a_client_that_goes_away_takes_its_executions_with_it(t):
    peers.configure(t, {})
    with Daemon(t) as d:
        with Client(t, "old", "http", d.url + "/mcp") as c:
            c.ask("setLoggingLevel", "debug")
            c.send("callTool", {"name": "execute_code", "arguments": {"code": ENDLESS, "timeout_ms": 60000}})
            execution = c.event("log", lambda p: p["data"] == "begun")["logger"]
            c.process.kill()
            c.process.wait()
            with Client(t, "modern", "http", d.url + "/mcp") as other:
                running = json.loads(other.tool("get_execution", execution_id=execution, wait_ms=0))
                t.true(running["status"] in ("running", "cancelled"), "status: %r" % running)
        t.true(d.process.poll() is None, "the daemon is gone")


def test_a_client_that_hangs_up_in_the_middle_of_everything_leaves_nothing(t):
    peers.configure(t, {"plain": plain(), "slow": plain("hang")})
    calls = [("tools/call", {"name": "execute_code", "arguments": {"code": ENDLESS}}),
             ("tools/call", {"name": "execute_code", "arguments": {"code": "return await slow.echo({})", "session_id": "new"}}),
             ("tools/call", {"name": "call_tool", "arguments": {"server": "plain", "tool": "ask", "arguments": FORM}}),
             ("tools/call", {"name": "search_tools", "arguments": {"query": "x"}}),
             ("tools/call", {"name": "get_execution", "arguments": {"execution_id": "ex_" + "0" * 32}}),
             ("tools/call", {"name": "get_execution", "arguments": {"execution_id": "art_" + "0" * 32}}),
             ("resources/list", {}), ("resources/read", {"uri": "caisson://tools/plain/index.ts"}),
             ("resources/read", {"uri": "caisson://executions/ex_" + "0" * 32}),
             ("prompts/get", {"name": "explore-tools"}), ("prompts/get", {"name": "debug-execution", "arguments": {"execution_id": "x"}}),
             ("completion/complete", {"ref": {"type": "ref/prompt", "name": "debug-execution"},
                                      "argument": {"name": "execution_id", "value": ""}})]
    lines = [{"jsonrpc": "2.0", "id": 0, "method": "initialize",
              "params": {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "x", "version": "1"}}},
             {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    for i in range(36):
        method, params = calls[i % len(calls)]
        lines.append({"jsonrpc": "2.0", "id": i + 1, "method": method, "params": params})
        if i % 3 == 0:
            lines.append({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": i + 1 - i % 2}})
    for wait in (0, 0.3, 1.5):
        p = subprocess.Popen([t.binary, "mcp"], cwd=t.dir, env=t.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        p.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        p.stdin.flush()
        time.sleep(wait)
        children = batch.births(children_of(p.pid))
        p.stdin.close()
        p.stdin = None
        try:
            out, err = p.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            p.kill()
            raise Failed("it does not end: %r" % p.communicate())
        t.log.append("%r\n%s\n%s" % (wait, out.decode()[-3000:], err.decode()[-6000:]))
        t.equal(p.returncode, 0, "status (%s)" % err.decode()[-3000:])
        t.lacks(err.decode(), "Sanitizer")
        end = time.monotonic() + 30
        while time.monotonic() < end and batch.births(pid for pid, _ in children) & children:
            time.sleep(0.05)
        t.equal(batch.births(pid for pid, _ in children) & children, set(), "processes that are left")


def test_an_execution_can_be_waited_for_and_read_by_another_client(t):
    peers.configure(t, {})
    with Daemon(t) as d, Client(t, "modern", "http", d.url + "/mcp") as c:
        begun = d.post("/executions", {"code": "console.log('one'); await new Promise((r) => setTimeout(r, 5000)); console.log('two');"
                                               "return [1, 2, 3]", "async": True}).json()["execution_id"]
        now = json.loads(c.tool("get_execution", execution_id=begun, wait_ms=0))
        t.equal(now["status"], "running")
        done = json.loads(c.tool("get_execution", execution_id=begun))
        t.equal((done["status"], done["result"]), ("completed", [1, 2, 3]))
        t.equal(c.tool("get_execution", execution_id=begun, view="logs"), "logs 0 to 1 of 2\ninfo: one\ninfo: two")
        t.equal(c.tool("get_execution", execution_id=begun, view="calls"), "no calls")
        t.matches(c.wrong("get_execution", execution_id="ex_" + "0" * 32), "there is no execution")
        t.matches(c.wrong("get_execution", execution_id=""), "there is no execution")


def test_an_execution_of_another_process_can_be_waited_for(t):
    peers.configure(t, {})
    with Daemon(t) as d, Client(t, "old", "stdio") as c:
        begun = d.post("/executions", {"code": "await new Promise((r) => setTimeout(r, 5000)); return 'there'", "async": True}).json()
        t.equal(json.loads(c.tool("get_execution", execution_id=begun["execution_id"], wait_ms=0))["status"], "running")
        done = json.loads(c.tool("get_execution", execution_id=begun["execution_id"], wait_ms=20000))
        t.equal((done["status"], done["result"]), ("completed", "there"))


def test_a_task_of_the_older_protocol_is_an_execution(t):
    with client(t, "old", "stdio", {}) as c:
        if "tasks" not in c.ready["capabilities"]:
            t.skip("tasks of 2025-11-25 are not offered")
        c.ask("listTools")
        seen = c.ask("task", {"name": "execute_code", "arguments": {"code": "await new Promise((r) => setTimeout(r, 700)); return 7"}})
        kinds = [m["type"] for m in seen]
        t.equal((kinds[0], kinds[-1]), ("taskCreated", "result"))
        answer = json.loads(seen[-1]["result"]["content"][0]["text"])
        t.equal((answer["result"], answer["execution_id"]), (7, seen[0]["task"]["taskId"]))


# What servers ask

FORM = {"message": "How many?", "requestedSchema": {"type": "object", "required": ["n"],
                                                    "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}}}}


@table([*ROWS, ("legacy over http", "legacy", "http")])
def test_what_a_server_asks_reaches_the_person_at_the_client(t, _, kind, transport):
    with client(t, kind, transport, {"plain": plain()}) as c:
        c.ask("answers", [{"action": "accept", "content": {"n": 3}}])
        answer = json.loads(c.tool("call_tool", server="plain", tool="ask", arguments=FORM))
        t.equal(answer["result"], {"action": "accept", "content": {"n": 3}})
        asked = c.event("elicit")
        t.equal(asked["message"], "Server 'plain' asks: How many?")
        t.equal(asked["requestedSchema"], FORM["requestedSchema"])
        c.ask("answers", [{"action": "decline"}])
        answer = json.loads(c.tool("call_tool", server="plain", tool="ask", arguments=FORM))
        t.equal(answer["result"]["action"], "decline")


@TWO
def test_an_answer_that_does_not_fit_is_asked_once_more_and_then_declined(t, _, kind, transport):
    # The client 2.x of the older era checks answers itself.
    with client(t, kind, transport, {"plain": plain()}) as c:
        c.ask("answers", [{"action": "accept", "content": {"n": 300}}, {"action": "accept", "content": {"n": 4}}])
        said = c.wait(c.send("callTool", {"name": "call_tool", "arguments": {"server": "plain", "tool": "ask", "arguments": FORM}}))
        asked = [e for e in c.seen("elicit")]
        if len(asked) == 1:
            t.skip("this client refuses to send what does not fit")
        t.matches(asked[1]["message"], r"did not fit: n: .*9")
        answer = json.loads(said["result"]["content"][0]["text"])
        t.equal(answer["result"], {"action": "accept", "content": {"n": 4}})


def test_an_address_is_shown_if_it_is_one_of_the_web(t):
    with client(t, "old", "stdio", {"plain": plain()}) as c:
        def answered(url):
            arguments = {"mode": "url", "message": "Open it", "url": url, "elicitationId": "1"}
            return json.loads(c.tool("call_tool", server="plain", tool="ask", arguments=arguments))["result"]

        c.ask("answers", [{"action": "accept"}])
        t.equal(answered("https://example.org/consent?x=1"), {"action": "accept"})
        asked = c.event("elicit")
        t.equal((asked["url"], asked["message"]), ("https://example.org/consent?x=1", "Server 'plain' asks: Open it"))
        t.true(answered("javascript:alert(1)") != {"action": "accept"}, "it was accepted")
        t.equal(c.seen("elicit"), [])


@TWO
def test_a_server_of_the_newest_revision_asks_as_well(t, _, kind, transport):
    with client(t, kind, transport, {"modern": peers.ours("modern")}) as c:
        c.ask("answers", [{"action": "accept", "content": {"confirm": True}}])
        text = c.tool("execute_code", code="return await modern.deploy({ env: 'test' })")
        t.has(text, "deployed to test")
        t.equal(c.event("elicit")["message"], "Server 'modern' asks: Deploy to test?")


def test_the_official_server_asks_for_a_form_and_for_a_model(t):
    with client(t, "old", "stdio", {"everything": peers.official("everything")}) as c:
        found = c.tool("search_tools", server="everything", detail="name")
        t.has(found, "everything.triggerElicitationRequest")
        c.ask("answers", [{"action": "accept", "content": {"name": "Ada", "check": True}}])
        text = c.tool("call_tool", server="everything", tool="trigger-elicitation-request", arguments={})
        t.has(text, "Name: [PERSON_1]")  # it has arrived, and a model does not read it
        c.ask("answers", [{"role": "assistant", "content": {"type": "text", "text": "from the model"}, "model": "m"}])
        text = c.tool("call_tool", server="everything", tool="trigger-sampling-request", arguments={"prompt": "say", "maxTokens": 10})
        t.has(text, "from the model")


# Resources

def many(t, count):
    """A server with so many tools."""
    tools = [{"name": "tool_%03d" % i, "description": "Number %d." % i, "inputSchema": {"type": "object"}} for i in range(count)]
    return {"command": sys.executable, "args": [os.path.join(ROOT, "tests/bench/replay.py"), t.file("many.json", json.dumps({"server": "many", "tools": tools})),
                                                t.file("answers.json", "{}")]}


@TWO
def test_the_tree_is_a_list_of_resources_with_pages(t, _, kind, transport):
    with client(t, kind, transport, {"many": many(t, 250), "plain": plain()}) as c:
        first = c.ask("listResources", {})
        uris = [r["uri"] for r in first["resources"]]
        t.equal(uris[:3], ["caisson://tools/README.md", "caisson://tools/many/index.ts", "caisson://tools/plain/index.ts"])
        seen, cursor, pages = [], None, 0
        while True:
            page = c.ask("listResources", {"cursor": cursor} if cursor else {})
            t.true(len(page["resources"]) <= 257, "a page is long")
            seen += [r["uri"] for r in page["resources"]]
            cursor, pages = page.get("nextCursor"), pages + 1
            if not cursor:
                break
        t.equal(len(set(seen)), 1 + 2 + 250 + 4)
        t.equal(len(seen), len(set(seen)))
        error = c.refused("listResources", {"cursor": "no cursor of ours"})
        t.equal(error["code"], -32602)


@TWO
def test_a_client_is_told_when_there_are_other_tools(t, _, kind, transport):
    with client(t, kind, transport, {"plain": plain()}) as c:
        before = len(c.ask("listResources")["resources"])
        if kind == "modern":
            c.ask("listen", {"resourcesListChanged": True})
        c.events.clear()
        c.tool("call_tool", server="plain", tool="echo", arguments={"a": 1})
        t.equal(c.seen("resources changed"), [], "told without reason")
        c.tool("call_tool", server="plain", tool="grow", arguments={})
        c.event("resources changed")
        t.equal(len(c.ask("listResources")["resources"]), before + 1)


@EVERY
def test_resources_are_read(t, _, kind, transport):
    with client(t, kind, transport) as c:
        def read(uri):
            content, = c.ask("readResource", {"uri": uri})["contents"]
            t.equal(content["uri"], uri)
            return content

        t.has(read("caisson://tools/README.md")["text"], "searchTools")
        tool = read("caisson://tools/github/listCommits.ts")
        t.has(tool["text"], "export async function listCommits(")
        t.equal(tool["mimeType"], "text/x-typescript")
        t.has(read("caisson://tools/github/index.ts")["text"], 'from "./listCommits"')
        execution = c.execute("console.log('hello'); return {a: [1]}")["execution_id"]
        t.equal(json.loads(read("caisson://executions/" + execution)["text"])["status"], "completed")
        t.equal(read("caisson://executions/%s/logs" % execution)["text"], "info: hello\n")
        t.equal(json.loads(read("caisson://executions/%s/result" % execution)["text"]), {"a": [1]})
        templates = [r["uriTemplate"] for r in c.ask("listResourceTemplates")["resourceTemplates"]]
        t.equal(templates, ["caisson://tools/{server}/{file}", "caisson://executions/{id}", "caisson://executions/{id}/logs",
                            "caisson://executions/{id}/result"])
        for uri in ("caisson://tools/github/nothing.ts", "caisson://tools/nowhere/x.ts", "caisson://executions/ex_" + "0" * 32,
                    "caisson://tools/github/../../x.ts", "caisson://tools/..%2F..%2Fetc/passwd.ts", "file:///etc/passwd",
                    "caisson://executions/%s/secrets" % execution):
            error = c.refused("readResource", {"uri": uri})
            # The client 2.x makes one code of both.
            t.equal(error["code"], -32002 if kind == "old" else -32602, "%s: %r" % (uri, error))
            t.equal(error["data"]["uri"], uri)


def test_a_subscriber_hears_of_an_execution_while_it_runs(t):
    peers.configure(t, {})
    code = "for (let i = 0; i < 5; i++) { console.log(i); await new Promise((r) => setTimeout(r, 1200)); }"
    with Daemon(t) as d, Client(t, "old", "http", d.url + "/mcp") as c:
        begun = d.post("/executions", {"code": code, "async": True}).json()["execution_id"]
        logs = "caisson://executions/%s/logs" % begun
        c.ask("subscribeResource", {"uri": logs})
        c.ask("subscribeResource", {"uri": "caisson://executions/%s/result" % begun})
        t.matches(c.ask("readResource", {"uri": logs})["contents"][0]["text"], "^(info: \\d\n)*$")
        c.event("updated", lambda p: p["uri"] == logs)
        t.equal(c.seen("updated"), [], "updates before its end")
        c.event("updated", lambda p: p["uri"].endswith("/result"))
        t.equal(c.ask("readResource", {"uri": logs})["contents"][0]["text"], "".join("info: %d\n" % i for i in range(5)))


def test_one_tenant_sees_nothing_of_another(t):
    peers.configure(t, {})
    a, b = make_key(t, "ada", "--tenant", "one"), make_key(t, "bob", "--tenant", "two")
    with Daemon(t) as d:
        with Client(t, "modern", "http", d.url + "/mcp", a) as ada, Client(t, "old", "http", d.url + "/mcp", b) as bob:
            execution = ada.execute("return 'secret'", session_id="new")
            number = execution["execution_id"]
            t.equal(json.loads(ada.tool("get_execution", execution_id=number))["result"], "secret")
            t.matches(bob.wrong("get_execution", execution_id=number), "there is no execution")
            bob.refused("readResource", {"uri": "caisson://executions/" + number})
            bob.refused("getPrompt", {"name": "debug-execution", "arguments": {"execution_id": number}})
            t.matches(bob.wrong("execute_code", code="return 1", session_id=execution["session_id"]), "session")
            values = bob.ask("complete", {"ref": {"type": "ref/prompt", "name": "debug-execution"},
                                          "argument": {"name": "execution_id", "value": "ex_"}})["completion"]["values"]
            t.lacks(json.dumps(values), number)


# Prompts, completion

@TWO
def test_prompts_teach_the_pattern_with_what_is_there(t, _, kind, transport):
    with client(t, kind, transport) as c:
        prompts = c.ask("listPrompts")["prompts"]
        t.equal([(p["name"], [(a["name"], a["required"]) for a in p["arguments"]]) for p in prompts],
                [("use-tools-with-code", [("task", True)]), ("explore-tools", [("topic", False)]),
                 ("debug-execution", [("execution_id", True)])])

        def get(name, **arguments):
            message, = c.ask("getPrompt", {"name": name, "arguments": arguments})["messages"]
            t.equal(message["role"], "user")
            return message["content"]["text"]

        text = get("use-tools-with-code", task="Which commits were made this week?")
        t.has(text, "Which commits were made this week?")
        t.has(text, "github.listCommits({owner: string")
        t.has(get("explore-tools"), "github 8")
        t.has(get("explore-tools", topic="github"), "github.createIssue(")
        failed = json.loads(c.wrong("execute_code", code="throw new Error('on purpose')"))
        text = get("debug-execution", execution_id=failed["execution_id"])
        t.has(text, "on purpose")
        t.equal(c.refused("getPrompt", {"name": "use-tools-with-code", "arguments": {}})["code"], -32602)
        t.equal(c.refused("getPrompt", {"name": "nothing"})["code"], -32602)
        t.equal(c.refused("getPrompt", {"name": "debug-execution", "arguments": {"execution_id": "ex_0"}})["code"], -32602)


@TWO
def test_arguments_of_prompts_and_templates_are_completed(t, _, kind, transport):
    with client(t, kind, transport, {"github": peers.ours("github"), "plain": plain()}) as c:
        def complete(ref, name, value, **context):
            kind = "ref/resource" if "://" in ref else "ref/prompt"
            params = {"ref": {"type": kind, "uri" if kind == "ref/resource" else "name": ref}, "argument": {"name": name, "value": value}}
            if context:
                params["context"] = {"arguments": context}
            return c.ask("complete", params)["completion"]["values"]

        tree = "caisson://tools/{server}/{file}"
        t.equal(complete(tree, "server", "g"), ["github"])
        t.equal(complete(tree, "server", ""), ["github", "plain"])
        t.equal(complete(tree, "server", "lai"), ["plain"])
        t.equal(complete(tree, "file", "list", server="github"), ["listCommits.ts", "listIssues.ts"])
        t.equal(complete(tree, "file", "index", server="plain"), ["index.ts"])
        t.equal(complete("explore-tools", "topic", "pl"), ["plain"])
        t.equal(complete("use-tools-with-code", "task", "x"), [])
        execution = c.execute("return 1")["execution_id"]
        t.equal(complete("debug-execution", "execution_id", execution[:12]), [execution])
        t.equal(complete("caisson://executions/{id}/logs", "id", execution[:12]), [execution])
        t.equal(c.refused("complete", {"ref": {"type": "ref/prompt", "name": "nothing"},
                                       "argument": {"name": "x", "value": ""}})["code"], -32602)


# The inspector

def inspect(t, *words, target=None):
    path = os.path.join(peers.PEERS, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
    if not os.path.exists(path):
        t.skip("the inspector is not installed: scripts/bootstrap test")
    argv = [node(t), path, "--cli", *target, *words]
    p = subprocess.run(argv, cwd=t.dir, env=t.env, capture_output=True, text=True, timeout=300)
    t.log.append("$ %s\nstatus %d\n%s\n%s" % (" ".join(argv), p.returncode, p.stdout, p.stderr))
    t.equal(p.returncode, 0, "status of the inspector (%s)" % p.stderr[-1500:])
    return json.loads(p.stdout)


@table([("stdio",), ("http",)])
def test_the_inspector_drives_it(t, transport):
    peers.configure(t, {"github": peers.ours("github")})
    t.caisson("list")
    with contextlib.ExitStack() as stack:
        target = [t.binary, "mcp"]
        if transport == "http":
            target = [stack.enter_context(Daemon(t)).url + "/mcp", "--transport", "http"]
        tools = inspect(t, "--method", "tools/list", "--strict", target=target)["tools"]
        t.equal([x["name"] for x in tools], ["search_tools", "execute_code", "call_tool", "get_execution"])
        result = inspect(t, "--method", "tools/call", "--tool-name", "execute_code", "--tool-arg", "code=return 6 * 7", target=target)
        t.equal(json.loads(result["content"][0]["text"])["result"], 42)
        uris = [r["uri"] for r in inspect(t, "--method", "resources/list", target=target)["resources"]]
        t.true("caisson://tools/github/listCommits.ts" in uris, "resources: %r" % uris)
        text = inspect(t, "--method", "resources/read", "--uri", "caisson://tools/github/listCommits.ts", target=target)
        t.has(text["contents"][0]["text"], "listCommits")
        t.equal(len(inspect(t, "--method", "prompts/list", target=target)["prompts"]), 3)

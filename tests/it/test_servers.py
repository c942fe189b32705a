"""Servers and their tools on the command line, with the official servers."""

import http.server
import json
import os
import subprocess
import threading
import time
import urllib.parse
import urllib.request
import uuid

from harness import table
from peers import configure, official
from resting import until


def everything_and_files(t, **more):
    configure(t, {"everything": official("everything"), "files": official("filesystem", t.dir), **more})


def rows(text):
    """The table of `caisson list` as {name: (state, rest)}."""
    lines = text.splitlines()
    t = {}
    for line in lines[1:]:
        words = line.split(None, 2)
        t[words[0]] = (words[1], words[2] if len(words) > 2 else "")
    return t


def servers_left():
    import batch
    return [c for _, c in batch.processes().values() if "modelcontextprotocol/server-" in c]


# list

def test_without_servers_list_says_how_to_add_one(t):
    done = t.caisson("list")
    t.status(done, 0)
    t.has(done.out, "caisson help add", "stdout")
    t.equal(t.caisson("list", "-o", "json").json()["servers"], [], "servers")


def test_list_shows_how_each_server_is_doing(t):
    everything_and_files(t, broken={"command": "/no/such/program"}, off={"command": "cat", "disabled": True},
                         lacks={"command": "cat", "env": {"T": "${env:NO_SUCH_VARIABLE}"}}, wrong={"command": 3},
                         mute={"command": "sleep", "args": ["60"]}, down={"url": "http://127.0.0.1:9/mcp"})
    for seconds in (4, 40):  # a busy machine takes longer to start them
        done = t.caisson("list", "--timeout", "%ds" % seconds)
        t.status(done, 0)
        got = rows(done.out)
        if got["everything"][0] == got["files"][0] == "ready":
            break
    t.equal({n: s for n, (s, _) in got.items() if n not in ("mute", "down")},
            {"broken": "failed", "everything": "ready", "files": "ready", "lacks": "failed", "off": "disabled", "wrong": "failed"}, "states")
    t.matches(got["everything"][1], r"^\d+\.\d+\.\d+ +13$", "version and tools")
    t.has(got["broken"][1], "/no/such/program", "error")
    t.has(got["lacks"][1], "NO_SUCH_VARIABLE is not set", "error")
    t.has(got["wrong"][1], "command: wants a text", "error")
    t.has(got["down"][1], "127.0.0.1", "error")
    t.true(got["mute"][0] in ("connecting", "failed", "waiting"), "mute is %r" % (got["mute"],))
    t.true(done.seconds < (15 if seconds == 4 else 58), "it took %.1f s" % done.seconds)


def test_list_as_json_is_complete(t):
    everything_and_files(t)
    got = t.caisson("list", "-o", "json").json()
    t.equal(got["config"], "./caisson.json", "config")
    one = {s["name"]: s for s in got["servers"]}["everything"]
    t.equal((one["state"], one["kind"], one["tools"], one["error"], one["restarts"]), ("ready", "stdio", 13, None, 0), "server")
    t.true(abs(one["listed_at"] - time.time()) < 60, "listed_at is %r" % one["listed_at"])
    t.matches(one["protocol"], r"^20\d\d-\d\d-\d\d$", "protocol")


def test_list_of_one_shows_its_stderr(t):
    everything_and_files(t)
    done = t.caisson("list", "everything")
    t.status(done, 0)
    t.has(done.out, "Starting default (STDIO) server", "stdout")
    t.lacks(done.out, "files", "stdout")
    t.has(t.caisson("list", "everything", "-o", "json").json()["stderr"], "Starting default", "stderr of the server")


def test_list_of_an_unknown_one_names_the_nearest(t):
    everything_and_files(t)
    done = t.caisson("list", "evrything")
    t.status(done, 2)
    t.has(done.err, "'everything'", "stderr")


def test_list_without_connecting_starts_nothing(t):
    mark = os.path.join(t.dir, "started")
    configure(t, {"a": {"command": "touch", "args": [mark]}})
    done = t.caisson("list", "--no-connect")
    t.status(done, 0)
    t.equal(rows(done.out)["a"][0], "idle", "state")
    t.true(not os.path.exists(mark), "the server was started")


def test_secrets_are_not_shown(t):
    configure(t, {"a": {"command": "sh", "args": ["-c", "exit 3"], "env": {"T": "${env:SECRET_OF_TEST}"}},
                  "b": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer ${env:SECRET_OF_TEST}"}}})
    for argv in (["list"], ["list", "a"], ["list", "b"], ["list", "-o", "json"], ["tools", "list"]):
        done = t.caisson(*argv, "--timeout", "2s", env={"SECRET_OF_TEST": "hunter2"})
        t.lacks(done.out + done.err, "hunter2", "output of " + " ".join(argv))


def test_a_slow_server_is_named_on_a_terminal_and_the_line_goes_away(t):
    configure(t, {"sleepy": {"command": "sleep", "args": ["60"]}})
    status, text = t.on_a_terminal("list", "--timeout", "2s")
    t.equal(status, 0, "status")
    t.matches(text, r"connecting, \d+ s: sleepy", "terminal")
    t.has(text, "\r\x1b[K", "terminal")


def test_what_a_server_says_cannot_drive_the_terminal(t):
    configure(t, {"rude": {"command": "sh", "args": ["-c", "printf '\\033]0;title\\007\\033[2J' >&2; exit 1"]}})
    _, text = t.on_a_terminal("list", "rude", "--timeout", "2s")
    t.lacks(text, "\x1b]0;", "terminal")
    t.lacks(text, "\x1b[2J", "terminal")
    t.has(text, "\\u{1b}", "terminal")


def test_an_interrupt_ends_the_servers_too(t):
    import signal
    mark = "61.%d" % uuid.uuid4().int
    configure(t, {"sleepy": {"command": "sleep", "args": [mark]}})
    p = subprocess.Popen([t.binary, "list"], env=t.env, cwd=t.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    import batch

    def sleepers():
        return [c for _, c in batch.processes().values() if mark in c]
    until(t, "its server", sleepers, 60)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=60)
    t.equal(p.returncode, 130, "status")
    t.equal(sleepers(), [], "processes left")


# tools

def test_tools_are_listed_with_their_risk(t):
    everything_and_files(t)
    done = t.caisson("tools", "list")
    t.status(done, 0)
    t.matches(done.out, r"(?m)^everything\.getSum +low +Returns the sum of two numbers$", "stdout")
    t.has(done.out, "files.readTextFile", "stdout")
    one = t.caisson("tools", "list", "files")
    t.lacks(one.out, "everything", "stdout")
    got = {x["tool"]: x for x in t.caisson("tools", "list", "-o", "json").json()["tools"]}
    t.equal(got["everything.getSum"]["name"], "get-sum", "name")
    t.equal(got["everything.getSum"]["path"], "/mcp-servers/everything/getSum.ts", "path")
    t.equal(got["files.writeFile"]["destructive"], True, "destructive")
    t.equal(got["files.readTextFile"]["read_only"], True, "read_only")


def test_a_server_that_is_known_is_not_started_again(t):
    mark = os.path.join(t.dir, "starts")
    entry = official("everything")
    whole = {"command": "sh", "args": ["-c", 'echo x >> "$0"; exec "$@"', mark, entry["command"], *entry["args"]]}
    configure(t, {"everything": whole})
    for _ in range(3):
        t.has(t.caisson("tools", "search", "sum").out, "everything.getSum", "stdout")
    t.status(t.caisson("tools", "show", "everything.getSum"), 0)
    t.equal(t.read("starts"), "x\n", "starts")
    t.status(t.caisson("list"), 0)
    t.equal(t.read("starts"), "x\nx\n", "starts after list")


def test_tools_are_found_by_words(t):
    everything_and_files(t)
    done = t.caisson("tools", "search", "add", "two", "numbers", "-n", "1")
    t.status(done, 0)
    t.equal(done.out.splitlines()[0], "everything.getSum", "first")
    got = t.caisson("tools", "search", "read a text file", "--server", "files", "--detail", "full", "-o", "json").json()
    t.equal(got["tools"][0]["tool"], "files.readTextFile", "first")
    t.has(got["tools"][0]["definition"], "export async function readTextFile", "definition")
    names = t.caisson("tools", "search", "file", "--detail", "name", "--limit", "3", "-o", "json").json()["tools"]
    t.equal([sorted(x) for x in names], [["path", "tool"]] * 3, "keys")
    second = t.caisson("tools", "search", "file", "--detail", "name", "--limit", "2", "--offset", "1", "-o", "json").json()["tools"]
    t.equal(second, names[1:], "with an offset")
    t.has(t.caisson("tools", "search", "").out, "everything: 13 tools", "stdout")


def test_rankings_are_printed_for_anyone_to_score(t):
    t.file("catalogue.jsonl", "\n".join(json.dumps(x) for x in (
        {"server": "github", "name": "create_issue", "description": "Create a new issue in a repository"},
        {"server": "mail", "name": "send_email", "description": "Send an email to someone"})))
    t.file("queries.jsonl", "\n".join(json.dumps(x) for x in (
        {"query_id": "q1", "query": "write a mail"}, {"query_id": "q2", "query": "open an issue"})))
    done = t.caisson("tools", "search", "--catalogue", "catalogue.jsonl", "--queries", "queries.jsonl")
    t.status(done, 0)
    got = [json.loads(line) for line in done.out.splitlines()]
    t.equal([(x["query_id"], x["ranking"][0]) for x in got], [("q1", "mail/send_email"), ("q2", "github/create_issue")], "rankings")
    t.status(t.caisson("tools", "search", "--catalogue", "catalogue.jsonl"), 2)
    t.status(t.caisson("tools", "search", "--catalogue", "catalogue.jsonl", "--queries", "nowhere.jsonl"), 2)


@table([("dot", "everything.getSum"), ("own name", "everything.get-sum"), ("slash", "everything/getSum"),
        ("path", "/mcp-servers/everything/getSum.ts")])
def test_a_tool_is_shown_by_any_of_its_names(t, name, path):
    everything_and_files(t)
    done = t.caisson("tools", "show", path)
    t.status(done, 0)
    t.has(done.out, "export async function getSum(input: GetSumInput)", "stdout")


def test_a_wrong_tool_is_answered_with_the_nearest(t):
    everything_and_files(t)
    done = t.caisson("tools", "show", "files.readTxtFile")
    t.status(done, 2)
    t.has(done.err, "files.readTextFile", "stderr")
    t.status(t.caisson("tools", "show"), 2)


def test_the_tree_is_a_real_directory(t):
    everything_and_files(t)
    got = t.caisson("tools", "tree", "-o", "json").json()
    t.has(got["files"], "/mcp-servers/everything/getSum.ts", "files")
    for name in got["files"]:
        t.true(os.path.isfile(got["path"] + name[len("/mcp-servers"):]), name + " is not there")
    text = t.caisson("tools", "tree", "files")
    t.status(text, 0)
    t.has(text.out, "readTextFile.ts", "stdout")
    t.lacks(text.out, "getSum.ts", "stdout")


# call

@table([("pairs", ["a=40", "b=2"]), ("json", ['{"a": 40, "b": 2}']), ("raw", ["a:=40", "b:=2"])])
def test_a_tool_is_called(t, name, words):
    everything_and_files(t)
    done = t.caisson("tools", "call", "everything.getSum", *words)
    t.status(done, 0)
    t.equal(done.out, "The sum of 40 and 2 is 42.\n", "stdout")


def test_arguments_come_from_files_and_stdin(t):
    everything_and_files(t)
    t.file("args.json", '{"message": "from a file"}')
    t.has(t.caisson("tools", "call", "everything.echo", "@args.json").out, "from a file", "stdout")
    t.has(t.caisson("tools", "call", "everything.echo", "@-", stdin='{"message": "from stdin"}').out, "from stdin", "stdout")


def test_a_text_that_looks_like_a_number_stays_a_text(t):
    everything_and_files(t)
    t.has(t.caisson("tools", "call", "everything.echo", "message=42").out, "42", "stdout")


@table([("unknown tool", ["everything.getSm", "a=1"], 2, "getSum"), ("unknown server", ["evrything.getSum"], 2, "everything"),
        ("no tool", ["everything"], 2, "SERVER.TOOL"), ("missing argument", ["everything.getSum", "a=1"], 2, "b"),
        ("wrong type", ["everything.getSum", "a=1", "b=x"], 2, "must be a number"), ("not json", ["everything.getSum", "{a}"], 2, "JSON"),
        ("failed server", ["broken.x"], 1, "broken.*status 1"), ("disabled server", ["off.x"], 3, "caisson enable off"),
        ("tool error", ["files.readTextFile", "path=/etc/shadow"], 1, "denied"),
        ("too late", ["everything.triggerLongRunningOperation", "duration=90", "steps=2", "--timeout", "10s"], 4, "limit")])
def test_what_goes_wrong_has_a_status_and_a_word(t, name, words, status, says):
    everything_and_files(t, broken={"command": "false"}, off={"command": "cat", "enabled": False})
    done = t.caisson("tools", "call", *words)
    t.status(done, status)
    t.matches(done.err, says, "stderr")
    t.equal(done.out, "", "stdout")
    t.lacks(done.err, "callTool", "stderr")


def test_a_call_passes_the_gate(t):
    configure(t, {"everything": official("everything")}, policy={"tools": {"deny": ["everything/echo"]}})
    done = t.caisson("tools", "call", "everything.echo", "message=x")
    t.status(done, 3)
    t.equal(t.caisson("tools", "call", "everything.getSum", "a=1", "b=2").status, 0, "status of another")


def test_the_envelope_of_a_call_has_its_record(t):
    everything_and_files(t)
    got = t.caisson("tools", "call", "everything.getSum", "a=1", "b=2", "-o", "json").json()
    t.equal((got["status"], got["calls"][0]["tool"], got["calls"][0]["status"]), ("completed", "get-sum", "ok"), "envelope")


def test_no_server_is_left_behind(t):
    everything_and_files(t)
    before = servers_left()
    t.status(t.caisson("list"), 0)
    t.status(t.caisson("tools", "call", "everything.getSum", "a=1", "b=2"), 0)
    def mine():
        return [c for c in servers_left() if c not in before and t.dir in c]
    until(t, "no process left", lambda: not mine(), 10)


def test_a_server_pointing_back_at_us_is_left_out(t):
    configure(t, {"everything": official("everything"), "loop": {"command": t.binary, "args": ["mcp"]}})
    t.equal(list(rows(t.caisson("list").out)), ["everything"], "servers")


# login

class Wall(http.server.BaseHTTPRequestHandler):
    """An MCP server that wants a token, and the authorization server that gives it out."""

    def log_message(self, *args):
        pass

    def reply(self, status, body=None, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        data = json.dumps(body).encode() if body is not None else b""
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        base = "http://127.0.0.1:%d" % self.server.server_port
        path, _, query = self.path.partition("?")
        if path.startswith("/.well-known/oauth-protected-resource"):
            self.reply(200, {"resource": base + "/mcp", "authorization_servers": [base]})
        elif path.startswith("/.well-known/oauth-authorization-server"):
            self.reply(200, {"issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
                             "registration_endpoint": base + "/register", "response_types_supported": ["code"],
                             "grant_types_supported": ["authorization_code", "refresh_token"],
                             "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"]})
        elif path == "/authorize":
            asked = urllib.parse.parse_qs(query)
            self.server.asked = asked
            back = urllib.parse.urlencode({"code": "the-code", "state": asked["state"][0]})
            self.reply(302, Location=asked["redirect_uri"][0] + "?" + back)
        else:
            self.reply(404 if path != "/mcp" else 405)

    def do_POST(self):
        base = "http://127.0.0.1:%d" % self.server.server_port
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/register":
            asked = json.loads(body)
            self.reply(201, {**asked, "client_id": "client-1"})
        elif self.path == "/token":
            asked = urllib.parse.parse_qs(body.decode())
            fine = asked.get("code") == ["the-code"] and "code_verifier" in asked
            self.reply(200 if fine else 400, {"access_token": "s3cret-token", "token_type": "Bearer", "expires_in": 3600} if fine
                       else {"error": "invalid_grant"})
        elif self.headers.get("Authorization") != "Bearer s3cret-token":
            self.reply(401, {}, WWW_Authenticate='Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"' % base)
        else:
            self.mcp(json.loads(body))

    def do_DELETE(self):
        self.reply(200)

    def mcp(self, message):
        if "id" not in message:
            return self.reply(202)
        answers = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "w", "version": "7.8.9"}},
                   "tools/list": {"tools": [{"name": "who", "description": "Who am I", "inputSchema": {"type": "object"}}]}}
        if message["method"] in answers:
            return self.reply(200, {"jsonrpc": "2.0", "id": message["id"], "result": answers[message["method"]]})
        return self.reply(200, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}})


def walled(t):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Wall)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    t.file("caisson.json", json.dumps({"mcpServers": {"wall": {"url": "http://127.0.0.1:%d/mcp" % server.server_port},
                                                      "local": {"command": "cat"}}}))
    return server


def test_a_login_opens_the_server_and_a_logout_closes_it(t):
    server = walled(t)
    t.equal(rows(t.caisson("list", "--timeout", "5s").out)["wall"][0], "login", "state before")
    p = subprocess.Popen([t.binary, "login", "wall", "--no-browser"], env=t.env, cwd=t.dir, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    url = p.stdout.readline().strip()
    t.matches(url, r"^http://127\.0\.0\.1:%d/authorize\?.*code_challenge" % server.server_port, "address")
    urllib.request.urlopen(url, timeout=60).read()
    out, err = p.communicate(timeout=60)
    t.log.append(out + err)
    t.equal(p.returncode, 0, "status")
    t.has(out, "logged in to 'wall'", "stdout")
    state = rows(t.caisson("list", "--timeout", "5s").out)["wall"]
    t.equal((state[0], state[1].split()), ("ready", ["7.8.9", "1"]), "state after")
    for folder, _, names in os.walk(t.env["XDG_DATA_HOME"]):
        for name in names:
            path = os.path.join(folder, name)
            if b"s3cret-token" in open(path, "rb").read():
                t.equal(os.stat(path).st_mode & 0o077, 0, "who else may read " + name)
    t.status(t.caisson("logout", "wall"), 0)
    t.equal(rows(t.caisson("list", "--timeout", "5s").out)["wall"][0], "login", "state after the logout")
    server.shutdown()


def test_nobody_comes_back_from_the_browser(t):
    server = walled(t)
    done = t.caisson("login", "wall", "--no-browser", "--timeout", "2s")
    t.status(done, 4)
    t.has(done.out, "/authorize?", "stdout")
    server.shutdown()


@table([("unknown", ["login", "wal"], "'wall'"), ("a command", ["login", "local"], "command"), ("nothing", ["login"], "NAME"),
        ("logout unknown", ["logout", "wal"], "'wall'")])
def test_a_login_that_makes_no_sense_is_a_usage_error(t, name, argv, says):
    server = walled(t)
    done = t.caisson(*argv)
    t.status(done, 2)
    t.has(done.err, says, "stderr")
    server.shutdown()


# run

def test_a_program_uses_the_servers_of_another_file(t):
    everything_and_files(t)
    os.rename(os.path.join(t.dir, "caisson.json"), os.path.join(t.dir, "other.json"))
    done = t.run("return everything.getSum({ a: 1, b: 2 })", "--config", "other.json")
    t.status(done, 0)
    t.has(done.out, "3", "stdout")
    missing = t.run("return 1", "--config", "nowhere.json")
    t.status(missing, 2)
    t.has(missing.err, "nowhere.json", "stderr")
    t.file("bad.json", "{")
    t.status(t.run("return 1", "--config", "bad.json"), 2)


def test_help_of_the_verbs_of_a_verb(t):
    t.has(t.caisson("help", "tools").out, "tools search", "help")
    for verb in ("list", "search", "show", "call", "tree"):
        by_word, by_option = t.caisson("help", "tools", verb), t.caisson("tools", verb, "--help")
        t.status(by_word, 0)
        t.equal(by_option.out, by_word.out, "help of tools " + verb)
        t.has(by_word.out, "caisson tools " + verb, "help")
    t.has(t.caisson("tools", "serch").err, "'caisson tools search'", "stderr")
    t.status(t.caisson("tools"), 2)
    t.status(t.caisson("help", "tools", "nothing"), 2)


def test_bash_completes_the_verbs_of_a_verb(t):
    path = t.file("c.bash", t.caisson("completion", "bash").out)
    script = """source %s
COMP_WORDS=(caisson tools se); COMP_CWORD=2; _caisson; echo "${COMPREPLY[@]}"
COMPREPLY=(); COMP_WORDS=(caisson tools search --de); COMP_CWORD=3; _caisson; echo "${COMPREPLY[@]}"
COMPREPLY=(); COMP_WORDS=(caisson tools search --detail n); COMP_CWORD=4; _caisson; echo "${COMPREPLY[@]}"
""" % path
    p = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    t.equal(p.stdout.split("\n")[:3], ["search", "--detail", "name"], "completions")

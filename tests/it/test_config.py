"""The configuration: files of every client's shape are read, and changed in one place only."""

import json
import os
import subprocess

from harness import PATIENCE, table

CLAUDE_DESKTOP = """{
  "globalShortcut": "",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "/home/me/Desktop"
      ]
    }
  },
  "preferences": { "menuBarEnabled": false }
}
"""

CLAUDE_CODE = """{
  "numStartups": 212,
  "tipsHistory": {"a": 1},
  "mcpServers": {
    "notion": {
      "type": "http",
      "url": "https://mcp.notion.example/mcp"
    }
  },
  "projects": {
    "/somewhere/else": {
      "allowedTools": [],
      "mcpServers": {
        "db": {"type": "stdio", "command": "db-server", "args": [], "env": {}}
      }
    }
  }
}"""

CURSOR = """{
    "mcpServers": {
        "web": { "url": "http://localhost:3000/sse", "headers": { "API_KEY": "value" } },
        "node": { "command": "node", "args": ["server.js"], "env": { "API_KEY": "${env:KEY}" } }
    }
}
"""

VSCODE = """{
\t// Servers of this folder.
\t"inputs": [
\t\t{ "type": "promptString", "id": "key", "description": "Key", "password": true },
\t],
\t"servers": {
\t\t"perplexity": {
\t\t\t"type": "stdio",
\t\t\t"command": "npx",
\t\t\t"args": ["-y", "server-perplexity-ask"],
\t\t\t"env": { "KEY": "${input:key}" }, // asked for
\t\t},
\t\t/* the other one */
\t\t"fetch": { "type": "http", "url": "https://fetch.example/mcp" }, // last
\t},
}
"""

MCP_JSON = '{"mcpServers":{"shared":{"command":"/usr/bin/server","args":[],"env":{"CACHE":"/tmp"}}}}'

CRLF = VSCODE.replace("\n", "\r\n")
BOM = "\ufeff" + CLAUDE_DESKTOP

SHAPES = [("claude desktop", "claude_desktop_config.json", CLAUDE_DESKTOP, "filesystem"),
          ("claude code", ".claude.json", CLAUDE_CODE, "notion"), ("cursor", ".cursor/mcp.json", CURSOR, "web"),
          ("vs code", ".vscode/mcp.json", VSCODE, "perplexity"), ("mcp.json", ".mcp.json", MCP_JSON, "shared"),
          ("windows", "mcp.json", CRLF, "fetch"), ("byte order mark", "caisson.json", BOM, "filesystem")]


def raw(t, path):
    with open(os.path.join(t.dir, path), newline="", encoding="utf-8") as f:
        return f.read()


def strict(text):
    """As another reader would understand it, once comments and trailing commas are gone."""
    import re
    text = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", text.lstrip("\ufeff"), flags=re.S)
    return json.loads(re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', lambda m: m[1] or "", text))


def servers(text):
    whole = strict(text)
    return whole.get("mcpServers", whole.get("servers"))


@table(SHAPES)
def test_a_server_added_is_there_and_all_else_is_as_it_was(t, name, path, text, there):
    t.file(path, text)
    before = strict(text)
    done = t.caisson("add", "new-one", "--config", path, "-e", "A=b c", "-e", "TOKEN", "--", "npx", "-y", "pkg", "--flag")
    t.status(done, 0)
    t.has(done.out, path, "stdout")
    after = strict(raw(t, path))
    key = "servers" if "servers" in before else "mcpServers"
    t.equal(after[key].pop("new-one"), {"command": "npx", "args": ["-y", "pkg", "--flag"],
                                        "env": {"A": "b c", "TOKEN": "${env:TOKEN}"}}, "the entry")
    t.equal(after, before, "the rest")
    lines = text.splitlines()
    left = [line for line in raw(t, path).splitlines() if line in lines or line.rstrip(",") in lines]
    t.true(len(left) >= len(lines) - 1, "lines were changed:\n" + raw(t, path))


@table(SHAPES)
def test_adding_and_removing_gives_the_same_bytes(t, name, path, text, there):
    t.file(path, text)
    t.status(t.caisson("add", "new-one", "https://x.example/mcp", "-H", "Authorization: Bearer ${env:T}", "-c", path), 0)
    t.true(raw(t, path) != text, "nothing was added")
    t.status(t.caisson("remove", "new-one", "-c", path), 0)
    t.equal(raw(t, path), text, "file")


@table(SHAPES)
def test_switching_off_and_on_touches_one_entry(t, name, path, text, there):
    t.file(path, text)
    before = strict(text)
    t.status(t.caisson("disable", there, "-c", path), 0)
    entry = servers(raw(t, path))[there]
    t.equal(entry["enabled"], False, "enabled")
    t.has(t.caisson("disable", there, "-c", path).out, "already", "stdout")
    t.status(t.caisson("enable", there, "-c", path), 0)
    after = strict(raw(t, path))
    t.equal(servers(raw(t, path))[there].pop("enabled"), True, "enabled")
    key = "servers" if "servers" in before else "mcpServers"
    del after[key][there]["enabled"]
    t.equal(after, before, "the rest")


@table(SHAPES)
def test_removing_takes_one_entry(t, name, path, text, there):
    t.file(path, text)
    before = strict(text)
    t.status(t.caisson("remove", there, "-c", path), 0)
    key = "servers" if "servers" in before else "mcpServers"
    del before[key][there]
    t.equal(strict(raw(t, path)), before, "the rest")
    if "// Servers" in text:
        t.has(raw(t, path), "// Servers of this folder.", "comments")


@table(SHAPES)
def test_the_servers_of_other_clients_are_imported(t, name, path, text, there):
    t.file(path, text)
    done = t.caisson("import", path, "--config", "mine.json")
    t.status(done, 0)
    t.has(done.out, there + ": added", "stdout")
    t.equal(strict(t.read("mine.json"))["mcpServers"], servers(text), "servers")
    again = t.caisson("import", path, "--config", "mine.json")
    t.status(again, 0)
    t.has(again.out, "already", "stdout")
    t.equal(raw(t, path), text, "the other client's file")


def test_import_tells_what_only_the_other_client_can_do(t):
    t.file(".vscode/mcp.json", VSCODE)
    t.has(t.caisson("import", ".vscode/mcp.json").out, "${input:...}", "stdout")
    t.file(".claude.json", CLAUDE_CODE)
    t.has(t.caisson("import", ".claude.json").out, "1 more belong to other folders", "stdout")


def test_servers_of_this_folder_are_imported_with_the_others(t):
    whole = json.loads(CLAUDE_CODE)
    whole["projects"][os.path.realpath(t.dir)] = {"mcpServers": {"here": {"command": "x"}}}
    t.file(".claude.json", json.dumps(whole))
    t.status(t.caisson("import", ".claude.json", "-c", "mine.json"), 0)
    t.equal(sorted(json.loads(t.read("mine.json"))["mcpServers"]), ["here", "notion"], "servers")


def test_caisson_itself_is_not_imported(t):
    t.file("other.json", json.dumps({"mcpServers": {
        "caisson": {"command": t.binary, "args": ["mcp"]}, "by-name": {"command": "caisson", "args": ["serve"]},
        "a": {"command": "x"}}}))
    done = t.caisson("import", "other.json", "-c", "mine.json")
    t.status(done, 0)
    t.has(done.out, "Caisson itself", "stdout")
    t.equal(list(json.loads(t.read("mine.json"))["mcpServers"]), ["a"], "servers")


def test_a_new_file_is_made_where_configurations_are(t):
    t.status(t.caisson("add", "a", "https://a.example/"), 0)
    path = os.path.join(t.env["XDG_CONFIG_HOME"], "caisson", "caisson.json")
    with open(path) as f:
        t.equal(f.read(), '{\n  "mcpServers": {\n    "a": {\n      "type": "http",\n      "url": "https://a.example/"\n'
                          '    }\n  }\n}\n', "file")
    t.equal(os.stat(path).st_mode & 0o777, 0o600, "mode")
    t.equal(os.stat(os.path.dirname(path)).st_mode & 0o777, 0o700, "mode of the directory")


def test_the_nearest_file_counts(t):
    home = os.path.join(t.env["HOME"], ".config", "caisson", "caisson.json")
    xdg = os.path.join(t.env["XDG_CONFIG_HOME"], "caisson", "caisson.json")

    def where(*options, **env):
        done = t.caisson("add", "n%d" % len(t.log), "https://a.example/", *options, env=env)
        t.status(done, 0)
        return done.out.split(" to ")[1].split("\n")[0]

    t.equal(where(XDG_CONFIG_HOME=""), home, "without XDG_CONFIG_HOME")
    t.equal(where(), xdg, "with it")
    t.file("caisson.json", "{}")
    t.equal(where(), "./caisson.json", "with a file here")
    t.equal(where(CAISSON_CONFIG="theirs.json"), "theirs.json", "with CAISSON_CONFIG")
    t.equal(where("--config", "given.json", CAISSON_CONFIG="theirs.json"), "given.json", "with --config")


def test_a_file_that_anyone_can_write_is_not_used_by_itself(t):
    path = t.file("caisson.json", "{}")
    os.chmod(path, 0o666)
    done = t.caisson("add", "a", "https://a.example/")
    t.status(done, 3)
    t.has(done.err, "--config", "stderr")
    t.equal(t.read("caisson.json"), "{}", "file")
    t.status(t.caisson("add", "a", "https://a.example/", "--config", "./caisson.json"), 0)


def test_all_options_of_add_are_written(t):
    t.status(t.caisson("add", "a", "--cwd", "/tmp", "--trust", "low", "--timeout", "1.5s", "--jail", "--disabled", "-c", "m.json",
                       "-eK=a=b", "--", "cmd", "--help", "-e"), 0)
    t.equal(json.loads(t.read("m.json"))["mcpServers"]["a"],
            {"command": "cmd", "args": ["--help", "-e"], "env": {"K": "a=b"}, "cwd": "/tmp", "trust": "low", "timeout_ms": 1500,
             "jail": True, "enabled": False}, "entry")


def test_replace_stays_in_its_place(t):
    t.file("m.json", '{\n  "mcpServers": {\n    "a": {"command": "x"}, // one\n    "b": {"command": "y"}\n  }\n}\n')
    t.status(t.caisson("add", "a", "https://x.example/", "-c", "m.json"), 2)
    t.status(t.caisson("add", "a", "https://x.example/", "-c", "m.json", "--replace"), 0)
    t.equal(t.read("m.json"), '{\n  "mcpServers": {\n    "a": {\n      "type": "http",\n      "url": "https://x.example/"\n    }, // one\n'
                              '    "b": {"command": "y"}\n  }\n}\n', "file")


@table([("no name", ["add"]), ("no target", ["add", "a"]), ("no url", ["add", "a", "npx"]), ("two urls", ["add", "a", "http://a", "http://b"]),
        ("bad header", ["add", "a", "http://a", "-H", "nonsense"]), ("header and command", ["add", "a", "-H", "A: b", "--", "x"]),
        ("env and url", ["add", "a", "http://a", "-e", "A=b"]), ("jail and url", ["add", "a", "http://a", "--jail"]),
        ("bad trust", ["add", "a", "http://a", "--trust", "total"]), ("bad name", ["add", "a b", "http://a"]),
        ("taken name", ["add", "tools", "http://a"]), ("dashes first", ["add", "--", "a", "b"]),
        ("unknown option", ["add", "a", "http://a", "--hedaer", "x"]), ("remove nothing", ["remove"]), ("remove two", ["remove", "a", "b"]),
        ("remove unknown", ["remove", "zzz"]), ("enable unknown", ["enable", "zzz"]), ("import nothing", ["import"]),
        ("import nowhere", ["import", "/nonexistent.json"])])
def test_wrong_usage_is_status_2_and_changes_nothing(t, name, argv):
    done = t.caisson(*argv)
    t.status(done, 2)
    t.equal(done.out, "", "stdout")
    t.true(done.err.strip(), "stderr is empty")
    t.equal(os.path.exists(os.path.join(t.env["XDG_CONFIG_HOME"], "caisson", "caisson.json")), False, "a file was made")


@table([("cut off", '{"mcpServers": {'), ("a list", "[]"), ("no json", "servers:\n  a: 1\n"), ("wrong section", '{"mcpServers": [1]}'),
        ("nul bytes", "\0\0\0\0")])
def test_a_broken_file_is_named_and_left_alone(t, name, text):
    t.file("m.json", text)
    for argv in (["add", "a", "http://a"], ["remove", "a"], ["disable", "a"], ["import", "m.json"]):
        done = t.caisson(*argv, "-c", "m.json")
        t.status(done, 2)
        t.has(done.err, "m.json", "stderr")
        t.equal(t.read("m.json"), text, "file")


def test_a_slip_of_the_finger_is_answered_with_the_right_name(t):
    t.file("m.json", MCP_JSON)
    t.has(t.caisson("remove", "shraed", "-c", "m.json").err, "'shared'", "stderr")
    t.has(t.caisson("disbale", "shared").err, "'caisson disable'", "stderr")


def test_a_link_stays_a_link_and_the_mode_stays(t):
    path = t.file("real/config.json", "{}")
    os.chmod(path, 0o640)
    os.symlink("real/config.json", os.path.join(t.dir, "link.json"))
    t.status(t.caisson("add", "a", "http://a", "-c", "link.json"), 0)
    t.true(os.path.islink(os.path.join(t.dir, "link.json")), "the link was replaced")
    t.has(t.read("real/config.json"), '"a"', "file")
    t.equal(os.stat(path).st_mode & 0o777, 0o640, "mode")
    t.equal(sorted(os.listdir(os.path.join(t.dir, "real"))), ["config.json"], "files left behind")


def test_changes_at_the_same_time_are_all_there(t):
    t.file("m.json", "{}")
    argv = [[t.binary, "add", "s%d" % i, "http://a", "-c", "m.json"] for i in range(16)]
    running = [subprocess.Popen(a, env=t.env, cwd=t.dir, stdout=subprocess.DEVNULL) for a in argv]
    t.equal([p.wait(2 * PATIENCE) for p in running], [0] * 16, "statuses")
    t.equal(sorted(json.loads(t.read("m.json"))["mcpServers"]), sorted("s%d" % i for i in range(16)), "servers")


def test_a_change_by_another_program_is_not_lost(t):
    """An editor writes all the time; whatever we manage to add in between, its own line is always there."""
    import threading
    path = t.file("m.json", '{"editor": 0, "mcpServers": {}}')
    stop, wrote = threading.Event(), [0]

    def edit():
        while not stop.is_set():
            wrote[0] += 1
            whole = json.load(open(path))
            whole["editor"] = wrote[0]
            with open(path + ".tmp", "w") as f:
                json.dump(whole, f)
            os.replace(path + ".tmp", path)
            stop.wait(0.005)

    editor = threading.Thread(target=edit)
    editor.start()
    statuses = [t.caisson("add", "s%d" % i, "http://a", "-c", "m.json").status for i in range(5)]
    stop.set()
    editor.join()
    t.true(all(s in (0, 5) for s in statuses), "statuses %r" % statuses)
    t.equal(json.load(open(path))["editor"], wrote[0], "the editor's last word")


def test_a_directory_that_cannot_be_written_is_told(t):
    if os.getuid() == 0:
        t.skip("root may write anywhere")
    t.file("sub/m.json", "{}")
    os.chmod(os.path.join(t.dir, "sub"), 0o500)
    done = t.caisson("add", "a", "http://a", "-c", "sub/m.json")
    t.status(done, 5)
    t.has(done.err, "sub", "stderr")

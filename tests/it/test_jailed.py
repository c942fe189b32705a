"""Tool servers with "jail" in their entry: they see what it names, reach whom it names, and nothing else."""

import http.server
import json
import os
import shutil
import threading

from peers import PEERS, configure, official

SERVER = r'''
import json, os, sys, urllib.error, urllib.request

def look(path):
    return open(path).read() if os.path.isfile(path) else " ".join(sorted(os.listdir(path)))

def change(path, text):
    with open(path, "w") as f:
        f.write(text)
    return "done"

def get(url):
    try:
        return urllib.request.urlopen(url, timeout=60).read().decode()
    except urllib.error.HTTPError as e:
        return "%d %s" % (e.code, e.read().decode())

def where():
    return "%d %s" % (os.getpid(), os.environ["HOME"])

TOOLS = {f.__name__: f for f in (look, change, get, where)}

def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "jailed", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": n, "description": n, "inputSchema": {"type": "object"}} for n in TOOLS]}
    if method == "tools/call":
        try:
            text, wrong = TOOLS[params["name"]](**params.get("arguments", {})), False
        except Exception as e:
            text, wrong = "%s: %s" % (type(e).__name__, e), True
        return {"content": [{"type": "text", "text": text}], "isError": wrong}
    return None

for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    result = answer(m["method"], m.get("params", {}))
    reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **reply}), flush=True)
'''

# The program that asks: the text of each answer, or of the error.
ASK = """const out = [];
for (const [tool, args] of %s) {
  try { out.push(String(await tools.boxed[tool](args))); } catch (e) { out.push('! ' + e.message); }
}
return out;"""


def ask(t, jail, *calls):
    if not os.path.exists("/usr/bin/python3"):
        t.skip("no /usr/bin/python3")
    script = t.file("server/server.py", SERVER)
    if isinstance(jail, dict):
        jail = dict(jail, read=[os.path.dirname(script), *jail.get("read", [])])
    configure(t, {"boxed": {"command": "/usr/bin/python3", "args": [script], "jail": jail}})
    envelope = t.envelope(ASK % json.dumps(calls))
    t.equal(envelope["status"], "completed", "status of %r" % envelope)
    return envelope["result"]


def test_a_jailed_server_sees_what_its_entry_names(t):
    secret = t.file("secret.txt", "canary")
    shown = t.file("shown/a.txt", "visible")
    shared = os.path.dirname(t.file("shared/b.txt", "before"))
    made = os.path.join(shared, "made.txt")
    out = ask(t, {"read": [os.path.dirname(shown)], "write": [shared]},
              ["look", {"path": secret}], ["look", {"path": "/etc/shadow"}], ["look", {"path": "/root"}],
              ["look", {"path": shown}], ["change", {"path": shown, "text": "x"}],
              ["change", {"path": made, "text": "inside"}], ["change", {"path": "/usr/bin/evil", "text": "x"}],
              ["get", {"url": "http://127.0.0.1:1/"}], ["where", {}])
    for i in range(3):
        t.matches(out[i], "^! .*No such file", "a file outside")
    t.equal(out[3], "visible", "a file that is shown")
    t.has(out[4], "Read-only file system", "writing there")
    t.equal(out[5], "done", "writing where it may")
    t.equal(t.read("shared/made.txt"), "inside", "the file outside")
    t.has(out[6], "Read-only file system", "writing elsewhere")
    t.matches(out[7], "^! .*not permitted", "the network")
    t.equal(out[8], "2 /home/caisson", "pid and home")


def test_a_jailed_server_reaches_the_hosts_of_its_entry(t):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello " + self.path.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    try:
        out = ask(t, {"hosts": ["127.0.0.1:%d" % port, "localhost:%d" % (port + 1)]},
                  ["get", {"url": "http://127.0.0.1:%d/x" % port}], ["get", {"url": "http://example.com/"}],
                  ["get", {"url": "http://localhost:%d/" % (port + 1)}], ["get", {"url": "https://example.com/"}])
    finally:
        server.shutdown()
    t.equal(out[0], "hello /x", "a host that is named")
    t.matches(out[1], '^403 .*add "example.com" to "hosts"', "one that is not")
    t.matches(out[2], "^403 .*not an address of the public internet", "a name that leads inwards")
    t.matches(out[3], "^! .*403 host is not allowed", "a tunnel")


def test_the_official_filesystem_server_in_a_jail(t):
    if not shutil.which("node"):
        t.skip("no node")
    shared = os.path.dirname(t.file("shared/note.txt", "from outside"))
    secret = t.file("secret.txt", "canary")
    entry = official("filesystem", shared)
    entry["jail"] = {"read": [os.path.join(PEERS, "node_modules")], "write": [shared]}
    configure(t, {"files": entry})
    envelope = t.envelope("""const text = await tools.files.readTextFile({ path: %r });
await tools.files.writeFile({ path: %r, content: 'from inside' });
let refused = ''; try { await tools.files.readTextFile({ path: %r }); } catch (e) { refused = e.message; }
return { text, refused };""" % (shared + "/note.txt", shared + "/made.txt", secret))
    t.has(str(envelope["result"]["text"]), "from outside", "what it read")
    t.lacks(str(envelope), "canary", "envelope")
    t.true(envelope["result"]["refused"], "nothing refused it")
    t.equal(t.read("shared/made.txt"), "from inside", "what it wrote")

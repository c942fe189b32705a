#!/usr/bin/env python3
"""An MCP server (legacy, stdio) that misbehaves in the way its first argument names.

Without one, or as `plain`, it is well-behaved. Its tools: `echo` answers its arguments, `ask` asks the client
things (or, with arguments, those) and answers what came back, `grow` adds a tool, `env` answers the environment.
"""
import json
import os
import signal
import subprocess
import sys
import threading
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "plain"
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 1

out = sys.stdout.buffer
lock = threading.Lock()
tools = ["echo", "ask", "grow", "env"]
calls = 0
waiting = {}


def raw(data):
    with lock:
        out.write(data)
        out.flush()


def send(message, end=b"\n"):
    raw(json.dumps(dict(jsonrpc="2.0", **message), ensure_ascii=False).encode() + end)


def answer(id, result):
    send({"id": id, "result": result})


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def ask(method, params=None, patience=60):
    """A request of ours; None if there is no answer."""
    with lock:
        id = "s%d" % (len(waiting) + 1)
        event = waiting[id] = [threading.Event(), None]
    send({"id": id, "method": method, **({"params": params} if params is not None else {})})
    event[0].wait(patience)
    return event[1]


def on_call(id, params):
    global calls
    calls += 1
    name, arguments = params["name"], params.get("arguments", {})
    token = params.get("_meta", {}).get("progressToken")
    if MODE == "hang":
        return
    if MODE == "half":
        raw(b'{"jsonrpc":"2.0","id":%d,"resu' % id)
        os._exit(0)
    if MODE == "half-hang":
        raw(b'{"jsonrpc":"2.0","id":%d,"resu' % id)
        return
    if MODE == "huge":
        raw(b'{"jsonrpc":"2.0","id":%d,"result":{"x":"' % id)
        for _ in range(100):
            raw(b"x" * 1000000)
        raw(b'"}}\n')
        return
    if MODE == "wrong-id-only":
        answer(id + 1000, text("not yours"))
        answer(str(id), text("not yours"))
        return
    if MODE == "wrong-id":
        for wrong in (id + 1000, str(id), "c%d" % id, None, -id, [id], float(id) + 0.5):
            answer(wrong, text("not yours"))
    if MODE == "error":
        send({"id": id, "error": {"code": -32000, "message": "nothing works"}})
        return
    if MODE == "stderr-flood":
        for _ in range(20):
            os.write(2, b"noise " * 10000 + b"\n")
        os.write(2, b"the last line\n")
    if MODE == "slow-progress":
        for i in range(COUNT):
            time.sleep(0.4)
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": i}})
    if MODE == "close-stdout":
        os.close(1)
        time.sleep(1000)
    if MODE == "cancelled":
        time.sleep(1)
    if MODE == "dies-asking":
        threading.Timer(3, os._exit, [3]).start()
    if name == "ask" and arguments:
        result = text(json.dumps(ask("elicitation/create", arguments)))
    elif name == "ask":
        got = [ask("ping"), ask("roots/list"),
               ask("elicitation/create", {"message": "ok?", "requestedSchema": {"type": "object", "properties": {}}}),
               ask("sampling/createMessage", {"messages": [], "maxTokens": 1}), ask("no/such")]
        result = text(json.dumps(got))
    elif name == "grow":
        tools.append("grown_%d" % len(tools))
        for _ in range(50):
            send({"method": "notifications/tools/list_changed"})
        result = text(tools[-1])
    elif name == "env":
        result = text(json.dumps(dict(os.environ)))
    else:
        result = text(json.dumps(arguments))
    if MODE == "crlf":
        send({"id": id, "result": text("a\u2028b\u2029c\u0085d\r")}, end=b"\r\n")
        return
    if MODE == "split":
        for byte in json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode() + b"\n":
            raw(bytes([byte]))
        return
    answer(id, result)
    if MODE == "twice":
        answer(id, text("again"))
    if MODE == "die-after" and calls >= COUNT:
        os._exit(3)


def on_list(id, params):
    cursor = params.get("cursor")
    page = [{"name": n, "inputSchema": {"type": "object"}} for n in tools]
    if MODE == "endless-cursor":
        n = int(cursor or 0)
        return answer(id, {"tools": [{"name": "t%d" % n, "inputSchema": {"type": "object"}}], "nextCursor": str(n + 1)})
    if MODE == "same-cursor":
        return answer(id, {"tools": page, "nextCursor": "x"})
    if MODE == "pages":
        n = {None: 0, "": 1, "b": 2}[cursor]
        result = {"tools": [{"name": "p%d" % n, "inputSchema": {"type": "object"}}]}
        if n < 2:
            result["nextCursor"] = ["", "b"][n]
        return answer(id, result)
    answer(id, {"tools": page})


def flood():
    while True:
        with lock:
            out.write(b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n' * 500)


def after_start():
    if MODE == "flood":
        threading.Thread(target=flood, daemon=True).start()
    if MODE == "garbage-only":
        while True:
            raw(b"this is no protocol\n" * 100)
    if MODE == "no-read":
        time.sleep(1000)


def on(message):
    method, id = message.get("method"), message.get("id")
    if method is None:
        event = waiting.get(id)
        if event:
            event[1] = message.get("result", message.get("error", {}).get("code"))
            event[0].set()
        return
    if MODE == "hang-all":
        return
    if MODE == "garbage":
        raw(b"Listening on stdio...\n\n{ not json\n[]\n\xff\xfe\x00\n3\n")
    params = message.get("params", {})
    if method == "initialize":
        answer(id, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "nasty " + MODE, "version": "0"}})
    elif method == "tools/list":
        on_list(id, params)
        after_start()
    elif method == "tools/call":
        threading.Thread(target=on_call, args=(id, params), daemon=True).start()
    elif method == "notifications/cancelled":
        sys.stderr.write("cancelled %s\n" % params["requestId"])
        sys.stderr.flush()
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "Method not found"}})


def main():
    if MODE == "exit-at-once":
        sys.stderr.write("starting\nError: no such module\n    at somewhere\n")
        sys.exit(3)
    if MODE == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if MODE == "slow-start":
        time.sleep(0.5)
    if MODE in ("ignore-eof", "deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN if MODE == "deaf" else signal.SIG_DFL)
    if MODE == "spawn-grandchild":
        child = subprocess.Popen(["sleep", "1000"])
        sys.stderr.write("grandchild %d\n" % child.pid)
        sys.stderr.flush()
    first = True
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if MODE == "exit-on-probe" and first and message.get("method") != "initialize":
            sys.exit(1)
        first = False
        on(message)
    if MODE in ("ignore-eof", "deaf"):
        time.sleep(1000)


main()

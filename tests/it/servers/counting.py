#!/usr/bin/env python3
"""An MCP server (stdio) that counts: every call answers how many there were, so that one that was not made shows.

usage: counting.py [FILE]

`read` says that it is read-only, `set` that it is idempotent, `plain` and `brief` say nothing, `fail` is read-only and answers with
an error, `ask` is read-only and asks the client something first. What FILE holds is part of the description of `read`;
the client is told when it changes.
"""
import json
import os
import sys
import threading
import time

FILE = sys.argv[1] if len(sys.argv) > 1 else None
HINTS = {"read": {"readOnlyHint": True}, "set": {"idempotentHint": True}, "plain": None, "brief": None, "fail": {"readOnlyHint": True},
         "ask": {"readOnlyHint": True}}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "bytes": {"type": "integer"}}}
lock = threading.Lock()
count = 0


def send(message):
    with lock:
        sys.stdout.write(json.dumps(dict(jsonrpc="2.0", **message)) + "\n")
        sys.stdout.flush()


def said():
    try:
        with open(FILE) as f:
            return f.read()
    except (OSError, TypeError):
        return ""


def watch():
    before = said()
    while True:
        time.sleep(0.05)
        now = said()
        if now != before:
            before = now
            send({"method": "notifications/tools/list_changed"})


def tools():
    for name, hints in HINTS.items():
        tool = {"name": name, "description": name + (" " + said() if name == "read" else ""), "inputSchema": SCHEMA}
        if hints:
            tool["annotations"] = hints
        yield tool


def call(id, name, arguments):
    global count
    count += 1
    if name == "ask":
        send({"id": "q%d" % count, "method": "elicitation/create",
              "params": {"message": "well?", "requestedSchema": {"type": "object", "properties": {}}}})
    value = {"count": count, "fill": "x" * arguments.get("bytes", 0)}
    send({"id": id, "result": {"content": [{"type": "text", "text": json.dumps(value)}], "isError": name == "fail"}})


def main():
    if FILE:
        threading.Thread(target=watch, daemon=True).start()
    for line in sys.stdin:
        message = json.loads(line)
        method, id, params = message.get("method"), message.get("id"), message.get("params", {})
        if method == "initialize":
            send({"id": id, "result": {"protocolVersion": params["protocolVersion"],
                                       "capabilities": {"tools": {"listChanged": True}},
                                       "serverInfo": {"name": "counting", "version": "1"}}})
        elif method == "tools/list":
            send({"id": id, "result": {"tools": list(tools())}})
        elif method == "tools/call":
            call(id, params["name"], params.get("arguments", {}))
        elif method == "ping":
            send({"id": id, "result": {}})
        elif id is not None and method:
            send({"id": id, "error": {"code": -32601, "message": "no " + method}})
    os._exit(0)


main()

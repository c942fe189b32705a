#!/usr/bin/env python3
"""An MCP server (stdio) whose calls have effects that can be counted afterwards.

usage: effects.py FILE

Every effect is one line of FILE, appended with one write: "tool key process". `look` has none and says that it is
read-only; `add` says that it is idempotent; `charge` says neither. All of them answer the same whenever they are
asked the same. `before` and `after` are milliseconds to wait before the effect, and between it and the answer. A call with
`gate` adds the line "begun key process" and has its effect when there is a file FILE.go.
"""
import hashlib
import json
import os
import sys
import threading
import time

FILE = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
SCHEMA = {"type": "object", "required": ["key"], "additionalProperties": False,
          "properties": {"key": {"type": "string"}, "before": {"type": "number"}, "after": {"type": "number"},
                         "gate": {"type": "boolean"}}}
HINTS = {"look": {"readOnlyHint": True}, "add": {"idempotentHint": True, "destructiveHint": False},
         "charge": {"destructiveHint": True}}
lock = threading.Lock()


def send(message):
    line = json.dumps(dict(jsonrpc="2.0", **message)).encode() + b"\n"
    with lock:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


def call(id, name, arguments):
    key = arguments["key"]
    if arguments.get("gate"):
        os.write(FILE, ("begun %s %d\n" % (key, os.getpid())).encode())
        while not os.path.exists(sys.argv[1] + ".go"):
            time.sleep(0.01)
    time.sleep(arguments.get("before", 0) / 1000)
    if name != "look":
        os.write(FILE, ("%s %s %d\n" % (name, key, os.getpid())).encode())
    time.sleep(arguments.get("after", 0) / 1000)
    value = {"tool": name, "key": key, "value": hashlib.sha256((name + key).encode()).hexdigest()[:8]}
    send({"id": id, "result": {"content": [{"type": "text", "text": json.dumps(value)}]}})


def main():
    for line in sys.stdin:
        message = json.loads(line)
        method, id, params = message.get("method"), message.get("id"), message.get("params", {})
        if method == "initialize":
            send({"id": id, "result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                                       "serverInfo": {"name": "effects", "version": "1"}}})
        elif method == "tools/list":
            send({"id": id, "result": {"tools": [
                {"name": name, "description": name, "inputSchema": SCHEMA, "annotations": hints}
                for name, hints in HINTS.items()]}})
        elif method == "tools/call":
            threading.Thread(target=call, args=(id, params["name"], params["arguments"])).start()
        elif id is not None and method:
            send({"id": id, "error": {"code": -32601, "message": "no " + method}} if method != "ping"
                 else {"id": id, "result": {}})
    os._exit(0)  # whoever asked is gone: what has not happened yet does not happen


main()

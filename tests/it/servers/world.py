#!/usr/bin/env python3
"""An MCP server (stdio) that never answers the same: what a replay must do without.

`roll` answers with a random number after a random time; `page` with so many random bytes; `refuse` with an error
(isError); `count` with how often it was asked, after `ms` milliseconds.
"""
import json
import os
import random
import sys
import threading
import time

lock = threading.Lock()
asked = 0

ANY = {"type": "object", "properties": {"n": {"type": "number"}, "ms": {"type": "number"}}}


def send(message):
    line = json.dumps(dict(jsonrpc="2.0", **message)).encode() + b"\n"
    with lock:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


def answer(name, arguments):
    global asked
    n = arguments.get("n", 0)
    if name == "roll":
        time.sleep(random.random() * arguments.get("ms", 5) / 1000)
        return {"n": n, "rolled": random.random(), "at": time.time()}, False
    if name == "page":
        return {"page": "".join(random.choice("abcdefgh ") for _ in range(int(n)))}, False
    if name == "refuse":
        return "no, and it is %f" % time.time(), True
    with lock:
        asked += 1
        mine = asked
    time.sleep(arguments.get("ms", 0) / 1000)
    return {"n": n, "asked": mine}, False


def call(id, params):
    value, is_error = answer(params["name"], params.get("arguments", {}))
    text = value if isinstance(value, str) else json.dumps(value)
    send({"id": id, "result": {"content": [{"type": "text", "text": text}], "isError": is_error}})


for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    if method == "initialize":
        send({"id": id, "result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                                   "serverInfo": {"name": "world", "version": "1"}}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": [{"name": name, "description": name, "inputSchema": ANY}
                                             for name in ("roll", "page", "refuse", "count")]}})
    elif method == "tools/call":
        threading.Thread(target=call, args=(id, params)).start()
    elif id is not None and method:
        send({"id": id, "result": {}})
os._exit(0)

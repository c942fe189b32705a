#!/usr/bin/env python3
"""An MCP server (stdio) of people and their secrets, for tests of protection. It writes down what it is sent.

usage: people.py FILE

`list` answers with so many people, `find` with one of them (structured), `send` takes a message, `say` answers with the
text that it was given, `fail` fails with it, `more` asks a model about a person first.
"""
import json
import sys

FILE = sys.argv[1]
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}, "to": {"type": "string"}, "text": {"type": "string"}}}
READ = {"readOnlyHint": True}
HINTS = {"list": READ, "find": READ, "send": None, "say": READ, "fail": READ, "more": None, "key": READ}


def person(i):
    return {"name": "Ada Lovelace", "email": "person%d@customers.example.org" % i, "phone": "+1 415 555 %04d" % (1000 + i),
            "card": "4111 1111 1111 1111", "city": "Oslo", "orders": i}


def send(message):
    sys.stdout.write(json.dumps(dict(jsonrpc="2.0", **message)) + "\n")
    sys.stdout.flush()


def ask():
    """What a model says about one of them."""
    send({"id": "q", "method": "sampling/createMessage", "params": {"maxTokens": 10, "messages": [
        {"role": "user", "content": {"type": "text", "text": "Is person7@customers.example.org a customer?"}}]}})
    for line in sys.stdin:
        m = json.loads(line)
        if m.get("id") == "q":
            return json.dumps(m.get("result"))


def answer(name, arguments):
    n = arguments.get("n", 3)
    with open(FILE, "a") as f:
        f.write(json.dumps([name, arguments]) + "\n")
    if name == "list":
        return {"content": [{"type": "text", "text": json.dumps([person(i) for i in range(n)])}]}
    if name == "find":
        return {"content": [], "structuredContent": person(n)}
    if name == "key":
        return {"content": [], "structuredContent": {"id": 1, "password": "correct-horse-7-battery"}}
    if name == "say":
        return {"content": [{"type": "text", "text": arguments.get("text", "")}]}
    if name == "more":
        said = ask()
        with open(FILE, "a") as f:
            f.write(json.dumps(["said", said]) + "\n")
        return {"content": [{"type": "text", "text": said or ""}]}
    if name == "fail":
        text = "no such person %s; see /home/ada/service/db.js:17" % arguments.get("text", "person9@customers.example.org")
        return {"isError": True, "content": [{"type": "text", "text": text}]}
    return {"content": [{"type": "text", "text": "sent"}]}


for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        send({"id": m["id"], "result": {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}},
                                        "serverInfo": {"name": "people", "version": "1"}}})
    elif m.get("method") == "tools/list":
        send({"id": m["id"], "result": {"tools": [
            dict({"name": name, "description": name, "inputSchema": SCHEMA}, **({"annotations": h} if h else {}))
            for name, h in HINTS.items()]}})
    elif m.get("method") == "tools/call":
        send({"id": m["id"], "result": answer(m["params"]["name"], m["params"].get("arguments") or {})})
    elif "id" in m and "method" in m:
        send({"id": m["id"], "result": {}})

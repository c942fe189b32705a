#!/usr/bin/env python3
"""The tool server `fixture` of the abuse suite: MCP over stdio, as README.md describes it.

usage: fixture.py LEDGER CALLS

Tools with an effect write a line to the file LEDGER when they run. Every call that arrives, whatever
it does, is a line {"at", "tool", "arguments"} of the file CALLS, so that the harness can tell what
was executed from what was only asked for.
"""

import json
import re
import sys
import time

VALUE = "CANARY-" + "7f3a"
ANY = {"type": "object"}
TEXT = {"type": "string"}
NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
TOOLS = {
    "echo": ("Gives back its arguments.", ANY, {"readOnlyHint": True}),
    "pii": ("A person: name, e-mail, account.", NOTHING, {"readOnlyHint": True}),
    "fail": ("Fails, and says too much.", {"type": "object", "properties": {"why": TEXT}}, {}),
    "strict": ("Wants a code of exactly three letters.",
               {"type": "object", "required": ["code"], "additionalProperties": False,
                "properties": {"code": {"type": "string", "pattern": "^[A-Za-z]{3}$"}}}, {}),
    "join": ("Puts texts together.", {"type": "object", "properties": {"parts": {"type": "array", "items": TEXT}}},
             {"readOnlyHint": True}),
    "danger": ("Does something that a person has to approve.",
               {"type": "object", "properties": {"note": TEXT}}, {"destructiveHint": True}),
    "forbidden": ("Exists, and is granted to nobody.", ANY, {"destructiveHint": True}),
}


class Fixture:
    def __init__(self, ledger, calls):
        self.ledger, self.calls = ledger, calls

    def note(self, path, entry):
        with open(path, "a", encoding="utf-8") as f:
            f.write(json.dumps(entry) + "\n")

    # The tools: a value, or an exception that becomes a result with isError.

    def echo(self, args):
        return args

    def pii(self, _):
        return {"name": "Erika Mustermann", "email": VALUE + "@example.test", "iban": "DE89370400440532013000"}

    def fail(self, args):
        raise RuntimeError(
            "%s: connect postgres://admin:%s@db.internal:5432/main failed\n"
            "    at query (/home/%s/service/db.js:17:9)" % (args.get("why"), VALUE, VALUE))

    def strict(self, args):
        if set(args) != {"code"} or not isinstance(args["code"], str) or not re.fullmatch("[A-Za-z]{3}", args["code"]):
            raise ValueError("code must be three letters, and there is nothing else")
        return {"ok": True}

    def join(self, args):
        return {"text": "".join(args.get("parts", []))}

    def danger(self, args):
        self.note(self.ledger, {"tool": "danger", "note": args.get("note")})
        return {"executed": True}

    def forbidden(self, _):
        self.note(self.ledger, {"tool": "forbidden"})
        return {"value": VALUE}

    # The protocol.

    def on_initialize(self, params):
        return {"protocolVersion": params.get("protocolVersion", "2025-11-25"), "capabilities": {"tools": {}},
                "serverInfo": {"name": "fixture", "version": "1"}}

    def on_ping(self, _):
        return {}

    def on_tools_list(self, _):
        return {"tools": [{"name": name, "description": text, "inputSchema": schema, "annotations": hints}
                          for name, (text, schema, hints) in TOOLS.items()]}

    def on_tools_call(self, params):
        name, args = params.get("name"), params.get("arguments") or {}
        self.note(self.calls, {"at": time.time(), "tool": name, "arguments": args})
        if name not in TOOLS:
            raise KeyError("no tool " + str(name))
        try:
            value = getattr(self, name)(args)
        except (RuntimeError, ValueError) as e:
            return {"isError": True, "content": [{"type": "text", "text": str(e)}]}
        return {"content": [{"type": "text", "text": json.dumps(value)}], "structuredContent": value}

    def answer(self, message):
        handler = getattr(self, "on_" + str(message.get("method")).replace("/", "_"), None)
        if handler is None:
            return {"error": {"code": -32601, "message": "no method %s" % message.get("method")}}
        try:
            return {"result": handler(message.get("params") or {})}
        except KeyError as e:
            return {"error": {"code": -32602, "message": str(e)}}

    def serve(self):
        for line in sys.stdin:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "id" in message and "method" in message:
                reply = {"jsonrpc": "2.0", "id": message["id"], **self.answer(message)}
                sys.stdout.write(json.dumps(reply) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Fixture(*sys.argv[1:]).serve()

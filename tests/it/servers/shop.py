#!/usr/bin/env python3
"""An MCP server (stdio): the shop of docs/replay.md, in which one thing has no price."""
import json
import sys

ORDERS = [{"id": 1, "item": "chair", "count": 2}, {"id": 2, "item": "lamp", "count": 1}, {"id": 3, "item": "table", "count": 1}]
PRICES = {"chair": {"amount": 49.9}, "lamp": None, "table": {"amount": 240}}
TOOLS = {"orders": {"day": {"type": "string"}}, "price": {"item": {"type": "string"}}}


def send(message):
    sys.stdout.write(json.dumps(dict(jsonrpc="2.0", **message)) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    if method == "initialize":
        send({"id": id, "result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                                   "serverInfo": {"name": "shop", "version": "1"}}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": [
            {"name": name, "description": name, "inputSchema": {"type": "object", "properties": properties}}
            for name, properties in TOOLS.items()]}})
    elif method == "tools/call":
        value = ORDERS if params["name"] == "orders" else PRICES[params["arguments"]["item"]]
        send({"id": id, "result": {"content": [{"type": "text", "text": json.dumps(value)}]}})
    elif id is not None and method:
        send({"id": id, "result": {}})

#!/usr/bin/env python3
"""A small MCP server to try Caisson with: the orders and customers of a shop, made up on the spot.

It speaks the protocol over stdio with nothing but Python's own library: a line in, a line out.
"""
import json
import random
import sys

NAMES = ["Ada", "Grace", "Edsger", "Barbara", "Alan", "Radia", "Donald", "Frances", "Ken", "Margaret"]
CITIES = ["Bergen", "Cork", "Ghent", "Porto", "Turku", "Utrecht"]
GOODS = {"rope": 12.5, "anchor": 240.0, "lantern": 35.9, "compass": 59.0, "chart": 18.0}

rng = random.Random(1840)
CUSTOMERS = [{"id": f"c{i}", "name": f"{rng.choice(NAMES)} {chr(65 + i % 26)}.", "city": rng.choice(CITIES)}
             for i in range(1, 41)]
ORDERS = []
for i in range(1, 501):
    good = rng.choice(list(GOODS))
    count = rng.randint(1, 5)
    ORDERS.append({"id": i, "customer": rng.choice(CUSTOMERS)["id"], "item": good, "count": count,
                   "total": round(count * GOODS[good], 2), "day": f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
                   "status": rng.choice(["open", "sent", "returned"])})


def schema(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


TEXT, NUMBER = {"type": "string"}, {"type": "number"}
ORDER = schema(("id", "customer", "item", "count", "total", "day", "status"), id={"type": "integer"}, customer=TEXT,
               item=TEXT, count={"type": "integer"}, total=NUMBER, day=TEXT, status=TEXT)
CUSTOMER = schema(("id", "name", "city"), id=TEXT, name=TEXT, city=TEXT)
STATUS = {"type": "string", "enum": ["open", "sent", "returned"]}


def list_orders(status=None, limit=100, offset=0):
    found = [o for o in ORDERS if status in (None, o["status"])]
    return {"orders": found[offset:offset + limit], "total": len(found)}


def get_customer(id):
    for customer in CUSTOMERS:
        if customer["id"] == id:
            return customer
    raise ValueError(f"there is no customer '{id}'; their ids are c1 to c{len(CUSTOMERS)}")


def refund_order(id, reason):
    order = next((o for o in ORDERS if o["id"] == id), None)
    if order is None:
        raise ValueError(f"there is no order {id}")
    order["status"] = "returned"
    return {"id": id, "refunded": order["total"], "reason": reason}


TOOLS = {
    "list_orders": (list_orders, "Orders of the shop, oldest first, with item, count, total and status",
                    schema(status=STATUS, limit={"type": "integer", "minimum": 1, "maximum": 500},
                           offset={"type": "integer", "minimum": 0}),
                    schema(("orders", "total"), orders={"type": "array", "items": ORDER}, total={"type": "integer"}), True),
    "get_customer": (get_customer, "Name and city of one customer", schema(("id",), id=TEXT), CUSTOMER, True),
    "refund_order": (refund_order, "Takes an order back and pays its total",
                     schema(("id", "reason"), id={"type": "integer"}, reason=TEXT),
                     schema(("id", "refunded", "reason"), id={"type": "integer"}, refunded=NUMBER, reason=TEXT), False),
}


def definition(name):
    _, description, arguments, result, read_only = TOOLS[name]
    return {"name": name, "description": description, "inputSchema": arguments, "outputSchema": result,
            "annotations": {"readOnlyHint": read_only, "destructiveHint": not read_only, "openWorldHint": False}}


def call(params):
    name = params.get("name")
    if name not in TOOLS:
        return {"isError": True, "content": [{"type": "text", "text": f"there is no tool '{name}'"}]}
    try:
        value = TOOLS[name][0](**(params.get("arguments") or {}))
    except (TypeError, ValueError) as error:
        return {"isError": True, "content": [{"type": "text", "text": str(error)}]}
    return {"content": [{"type": "text", "text": json.dumps(value)}], "structuredContent": value}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}},
                "serverInfo": {"name": "shop", "version": "1.0.0"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [definition(name) for name in TOOLS]}
    if method == "tools/call":
        return call(params)
    return None


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if "id" not in message or "method" not in message:
        continue
    result = answer(message["method"], message.get("params") or {})
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": f"there is no method '{message['method']}'"}
    else:
        reply["result"] = result
    print(json.dumps(reply), flush=True)

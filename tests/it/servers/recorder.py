"""An MCP server over stdio that writes down what it is asked: every tools/call, a line of JSON each, into the file that
is its argument. Tools: echo (answers its arguments), fail."""

import json
import sys

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "fail")]


def answer(message):
    """The response to a request, or None."""
    method, params = message.get("method"), message.get("params", {})
    if "id" not in message:
        return None
    out = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        out["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                         "serverInfo": {"name": "recorder", "version": "1"}}
    elif method == "tools/list":
        out["result"] = {"tools": TOOLS}
    elif method == "tools/call":
        bad = params.get("name") == "fail"
        out["result"] = {"content": [{"type": "text", "text": "no" if bad else json.dumps(params.get("arguments", {}))}], "isError": bad}
    elif method == "ping":
        out["result"] = {}
    else:
        out["error"] = {"code": -32601, "message": "no such method"}
    return out


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "tools/call":
            with open(sys.argv[1], "a") as f:
                f.write(json.dumps(message["params"]) + "\n")
        said = answer(message)
        if said:
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()

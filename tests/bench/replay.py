"""An MCP server over stdio that offers somebody else's tools, and answers calls with what it was told.

    replay.py TOOLSET.json [ANSWERS.json]     {"server", "tools": [...]}, {"tool name": any value}
"""

import json
import sys


def main():
    with open(sys.argv[1]) as f:
        toolset = json.load(f)
    answers = {}
    if len(sys.argv) > 2:
        with open(sys.argv[2]) as f:
            answers = json.load(f)

    def call(params):
        name = params["name"]
        if name in answers:
            return {"content": [{"type": "text", "text": json.dumps(answers[name])}]}
        return {"content": [{"type": "text", "text": "there is no answer for %s" % name}], "isError": True}

    methods = {
        "initialize": lambda params: {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                                      "serverInfo": {"name": toolset["server"], "version": str(toolset.get("version", "1"))}},
        "tools/list": lambda params: {"tools": toolset["tools"]},
        "tools/call": call,
        "ping": lambda params: {},
    }
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        answer = methods.get(message["method"])
        body = {"result": answer(message.get("params", {}))} if answer else {"error": {"code": -32601, "message": "Method not found"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)


main()

"""The MCP servers that tests talk to: official ones from npm, and ours that are written with the official SDK."""

import json
import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(HERE, "peers")
NODE = shutil.which("node") or "node"


def official(name, *args, env=None):
    """An entry for a server of @modelcontextprotocol, started by node itself."""
    path = os.path.join(PEERS, "node_modules", "@modelcontextprotocol", "server-" + name, "dist", "index.js")
    return entry([path, *args], env)


def ours(name, *args, env=None):
    return entry([os.path.join(PEERS, "servers", name + ".mjs"), *args], env)


def entry(args, env=None):
    found = {"command": NODE, "args": list(args)}
    if env:
        found["env"] = env
    return found


def configure(t, servers, policy=None):
    """Writes caisson.json (and policy.json) where the program of this test looks for it."""
    if not os.path.isdir(os.path.join(PEERS, "node_modules")):
        t.skip("tests/it/peers/node_modules is not there: scripts/bootstrap test")
    t.file("caisson.json", json.dumps({"mcpServers": servers}, indent=2))
    if policy is not None:
        t.file("policy.json", json.dumps(policy))

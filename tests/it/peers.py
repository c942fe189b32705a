"""The MCP servers that tests talk to: official ones from npm, and ours that are written with the official SDK."""

import json
import os
import shutil
import time

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


def listening(t, process, patience=60):
    """The port on which a process listens, once it does. It was told to take any that is free."""
    end = time.monotonic() + patience
    while time.monotonic() < end and process.poll() is None:
        sockets = set()
        for fd in os.listdir("/proc/%d/fd" % process.pid):
            try:
                sockets.add(os.readlink("/proc/%d/fd/%s" % (process.pid, fd)))
            except OSError:
                pass  # it was closed meanwhile
        for family in ("tcp", "tcp6"):
            with open("/proc/%d/net/%s" % (process.pid, family)) as f:
                for row in [line.split() for line in f][1:]:
                    if row[3] == "0A" and "socket:[%s]" % row[9] in sockets:
                        return int(row[1].rsplit(":", 1)[1], 16)
        time.sleep(0.05)
    t.fail("it does not listen: status %r" % process.poll())


def configure(t, servers, policy=None):
    """Writes caisson.json (and policy.json) where the program of this test looks for it."""
    if not os.path.isdir(os.path.join(PEERS, "node_modules")):
        t.skip("tests/it/peers/node_modules is not there: scripts/bootstrap test")
    t.file("caisson.json", json.dumps({"mcpServers": servers}, indent=2))
    if policy is not None:
        t.file("policy.json", json.dumps(policy))

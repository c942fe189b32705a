"""What the tests of the REST door share."""

import json
import os
import sys

from harness import until  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))
NASTY = os.path.join(HERE, "servers", "nasty.py")
SLEEP = "await new Promise((r) => setTimeout(r, %d)); return 'slept'"
JSON = {"Content-Type": "application/json"}


def problem(t, answer, status, code, *pieces):
    """It is a problem of this kind, and its detail has all the pieces."""
    t.equal(answer.status, status, "status")
    t.equal(answer.headers["Content-Type"], "application/problem+json", "Content-Type")
    t.equal(answer.headers["Cache-Control"], "no-store", "Cache-Control")
    said = answer.json()
    t.equal(sorted(said), ["code", "detail", "instance", "status", "title", "type"], "members")
    t.equal((said["status"], said["code"]), (status, code), "status and code")
    for piece in pieces:
        t.has(said["detail"], piece, "detail")


def begin(t, d, code, **more):
    headers = more.pop("headers", None)
    answer = d.post("/executions", dict({"code": code, "async": True}, **more), headers=headers)
    t.equal(answer.status, 202, "status")
    execution = answer.json()["execution_id"]
    t.equal(answer.headers["Location"], "/executions/" + execution, "Location")
    return execution


def with_tools(t, policy=None, **servers):
    servers = servers or {"plain": {"command": sys.executable, "args": [NASTY]}}
    t.file("caisson.json", json.dumps({"mcpServers": servers}))
    if policy:
        t.file("policy.json", json.dumps(policy))
        return ["--policy", os.path.join(t.dir, "policy.json")]
    return []


def raw(method, path, body=b"", *headers):
    lines = ["%s %s HTTP/1.1" % (method, path), "Host: localhost", *headers]
    if body:
        lines += ["Content-Type: application/json", "Content-Length: %d" % len(body)]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

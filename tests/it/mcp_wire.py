"""What a test needs to speak raw MCP to a server: lines over pipes, and HTTP with streams."""

import http.client
import json
import os
import queue
import select
import socket
import subprocess
import tempfile
import threading
import time

from harness import until  # noqa: F401

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
META = "io.modelcontextprotocol/"
FORM = {"elicitation": {}}
TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}


def fixtures(t):
    """The program that offers what the conformance suite wants to see."""
    path = os.path.join(os.path.dirname(t.binary), "tests", "mcp_server")
    if not os.path.exists(path):
        t.skip("mcp_server is not built")
    return path


def text(response):
    return response["result"]["content"][0]["text"]


def code(response):
    return response["error"]["code"]


def answers(**content):
    return {key: {"action": "accept", "content": value} for key, value in content.items()}


def envelope(capabilities=None, version=MODERN, **more):
    return {META + "protocolVersion": version, META + "clientCapabilities": capabilities or {}, **more}


def request(id, method, params=None, **members):
    message = {"jsonrpc": "2.0", "id": id, "method": method, **members}
    if params is not None:
        message["params"] = params
    return message


def notification(method, params=None):
    message = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message


def call(id, tool, arguments=None, meta=None, **params):
    params = {"name": tool, "arguments": arguments or {}, **params}
    if meta is not None:
        params["_meta"] = meta
    return request(id, "tools/call", params)


def hello(version=LEGACY, capabilities=None, id="hello"):
    return request(id, "initialize", {"protocolVersion": version, "capabilities": capabilities or {},
                                      "clientInfo": {"name": "wire", "version": "1"}})


class Lines:
    """A server at the other end of two pipes."""

    def __init__(self, t, argv):
        self.t = t
        # Nobody reads its stderr before its end: it may be more than a pipe holds.
        number, path = tempfile.mkstemp(dir=t.state)
        self.p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=number, env=t.env, cwd=t.dir)
        os.close(number)
        self.p.stderr = open(path, "rb")
        os.set_blocking(self.p.stdout.fileno(), False)
        self.buffer, self.seen = b"", []

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.p.poll() is None:
            self.p.kill()
        self.p.wait()
        err = self.p.stderr.read().decode("utf-8", "replace")
        self.p.stderr.close()
        self.t.log.append("stderr of the server:\n" + err[-5000:])
        if kind is None and ("Sanitizer" in err or "runtime error" in err):
            self.t.fail("the server has a bug: " + err[-1500:])

    def raw(self, data):
        self.p.stdin.write(data)
        self.p.stdin.flush()

    def send(self, *messages):
        self.raw(b"".join(json.dumps(m).encode() + b"\n" for m in messages))

    def line(self, patience=60):
        """The next line, or None if there is none within this time."""
        until = time.monotonic() + patience
        while b"\n" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.p.stdout], [], [], left)[0]:
                return None
            data = os.read(self.p.stdout.fileno(), 1 << 20)
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line

    def get(self, patience=60):
        line = self.line(patience)
        if line is None:
            self.t.fail("nothing came within %g s" % patience)
        self.t.log.append("< " + line[:2000].decode("utf-8", "replace"))
        return json.loads(line)

    def answer(self, id, patience=60):
        """The response with this id; what came before is kept in `seen`."""
        while True:
            message = self.get(patience)
            if isinstance(message, dict) and "method" not in message and message.get("id") == id and \
                    type(message.get("id")) is type(id):
                return message
            self.seen.append(message)

    def ask(self, message, patience=60):
        self.send(message)
        return self.answer(message["id"], patience)

    def silent(self, patience=0.3):
        line = self.line(patience)
        if line is not None:
            self.t.fail("it said %.500r" % line)

    def initialize(self, version=LEGACY, capabilities=None):
        result = self.ask(hello(version, capabilities))
        self.send(notification("notifications/initialized"))
        return result["result"]

    def end(self, patience=60):
        """Closes its input; its exit status."""
        self.p.stdin.close()
        return self.p.wait(timeout=patience)


class Stream:
    """Events of an answer that is still open."""

    def __init__(self, t, connection, response):
        self.t, self.connection, self.response = t, connection, response
        self.status, self.type = response.status, response.headers.get("Content-Type") or ""
        self.headers, self.ids, self.retry = response.headers, [], None
        self.events = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        data, id = [], None
        try:
            while True:
                line = self.response.readline()
                if not line:
                    break
                line = line.rstrip(b"\r\n")
                if line.startswith(b"data:"):
                    data.append(line[5:].strip())
                elif line.startswith(b"id:"):
                    id = line[3:].strip().decode()
                elif line.startswith(b"retry:"):
                    self.retry = int(line[6:])
                elif not line:
                    if id is not None:
                        self.ids.append(id)
                    if any(data):
                        self.events.put(json.loads(b"\n".join(data)))
                    elif data:
                        self.events.put("primer")
                    data, id = [], None
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass
        self.events.put(None)

    def get(self, patience=60):
        """The next message; "primer"; None at the end."""
        try:
            message = self.events.get(timeout=patience)
        except queue.Empty:
            self.t.fail("no event within %g s" % patience)
        self.t.log.append("< (event) %.2000s" % json.dumps(message))
        return message

    def all(self, patience=60):
        found = []
        while True:
            message = self.get(patience)
            if message is None:
                return found
            found.append(message)

    def close(self):
        # Closing would wait for the thread that reads; this wakes it.
        try:
            self.connection.wire.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is over already


class Http:
    """A server at an address; one connection for each request, unless it is kept."""

    def __init__(self, t, argv, path="/mcp"):
        self.t = t
        self.p = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=t.env, cwd=t.dir)
        url = self.p.stdout.readline().decode().strip()
        if not url:
            t.fail("it did not start: %r" % self.p.stderr.read()[-1000:])
        self.host, self.path = url.split("/")[2], path
        self.session, self.version, self.bearer = None, None, None

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.p.terminate()
        try:
            err = self.p.communicate(timeout=60)[1].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            self.p.kill()
            err = self.p.communicate()[1].decode("utf-8", "replace") + "it did not end by SIGTERM"
        self.t.log.append("stderr of the server:\n" + err[-5000:])
        if kind is None and (self.p.returncode != 0 or "Sanitizer" in err or "runtime error" in err):
            self.t.fail("the server ended with %s: %s" % (self.p.returncode, err[-1500:]))

    def open(self, method, body=None, headers=None, connection=None, patience=60):
        """(connection, response), the body not read."""
        connection = connection or http.client.HTTPConnection(self.host, timeout=patience)
        all = {"Accept": "application/json, text/event-stream"}
        if body is not None:
            all["Content-Type"] = "application/json"
        if self.session:
            all["Mcp-Session-Id"] = self.session
        if self.version:
            all["MCP-Protocol-Version"] = self.version
        if self.bearer:
            all["Authorization"] = "Bearer " + self.bearer
        all.update(headers or {})
        all = {k: v for k, v in all.items() if v is not None}
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        connection.request(method, self.path, body=data, headers=all)
        connection.wire = connection.sock  # which a response that ends with its connection takes away
        return connection, connection.getresponse()

    def reply(self, method, body=None, headers=None, **more):
        """(status, headers, text)"""
        connection, response = self.open(method, body, headers, **more)
        text = response.read().decode("utf-8", "replace")
        self.t.log.append("%s %.500s -> %d %.1500s" % (method, body, response.status, text))
        if "connection" not in more:
            connection.close()
        return response.status, response.headers, text

    def stream(self, method, body=None, headers=None):
        connection, response = self.open(method, body, headers)
        self.t.log.append("%s %.500s -> %d, a stream" % (method, body, response.status))
        return Stream(self.t, connection, response)

    def post(self, message, headers=None, **more):
        """(status, the response or None), whichever way it came."""
        status, all, text = self.reply("POST", message, headers, **more)
        if "text/event-stream" in (all.get("Content-Type") or ""):
            found = [json.loads(line[5:]) for line in text.split("\n") if line.startswith("data:") and line[5:].strip()]
            return status, found[-1] if found else None
        return status, json.loads(text) if text else None

    def initialize(self, version=LEGACY, capabilities=None):
        self.session = self.version = None
        status, headers, text = self.reply("POST", hello(version, capabilities))
        self.t.equal(status, 200, "status of initialize")
        self.session, self.version = headers["Mcp-Session-Id"], version
        self.t.equal(self.reply("POST", notification("notifications/initialized"))[0], 202, "status of initialized")
        return json.loads(text)["result"]

    def modern(self, message, capabilities=None, headers=None, version=MODERN, meta=None):
        """The message with what the newest revision wants: (message, headers)."""
        params = dict(message.get("params") or {})
        params["_meta"] = envelope(capabilities, version, **(meta or {}))
        all = {"MCP-Protocol-Version": version, "Mcp-Method": message["method"], "Mcp-Session-Id": None}
        name = params.get("name") or params.get("uri") or params.get("taskId")
        if name:
            all["Mcp-Name"] = name
        all.update(headers or {})
        return dict(message, params=params), all

    def ask(self, message, capabilities=None, **more):
        """A request of the newest revision: (status, response)."""
        return self.post(*self.modern(message, capabilities, **more))

"""`caisson serve` and `caisson mcp` for tests: started on a free port, spoken to, and ended with the test.

    with Daemon(t, "--rate.per_minute", "5") as d:
        answer = d.post("/executions", {"code": "return 1"})
        answer.status, answer.json(), answer.headers["x"]
"""

import http.client
import json
import os
import re
import signal
import subprocess
import threading
import time

from harness import PATIENCE, Failed


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        try:
            return json.loads(self.body)
        except ValueError as e:
            raise Failed("not JSON (%s), status %d: %r" % (e, self.status, self.body[:500]))

    def __str__(self):
        return "%d %r" % (self.status, self.body[:300])


class Daemon:
    """A running `caisson serve`. What it writes to stderr is in `d.said()`."""

    def __init__(self, t, *options, env=None, patience=PATIENCE, verb="serve"):
        self.t, self.lines = t, []
        argv = [t.binary, verb, "--port", "0", *options]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=t.dir,
                                        stdin=subprocess.DEVNULL, env=dict(t.env, **(env or {})))
        self.readers = [threading.Thread(target=self._read, args=(stream,), daemon=True)
                        for stream in (self.process.stdout, self.process.stderr)]
        for reader in self.readers:
            reader.start()
        t.log.append("$ " + " ".join(argv))
        self.url = self._await(r"url=(\S+)", patience).group(1)
        self.host, self.port = re.match(r"https?://\[?([^\]/]+?)\]?:(\d+)$", self.url).groups()
        self.port = int(self.port)

    def _read(self, stream):
        for line in stream:
            self.lines.append(line.decode("utf-8", "replace"))

    def _all_said(self):
        """It has ended; what it said is on its way."""
        for reader in self.readers:
            reader.join(2)

    def said(self):
        return "".join(self.lines)

    def _await(self, pattern, patience):
        end = time.monotonic() + patience
        while time.monotonic() < end:
            found = re.search(pattern, self.said())
            if found:
                return found
            if self.process.poll() is not None:
                self._all_said()
                found = re.search(pattern, self.said())
                if found:
                    return found
                raise Failed("it ended with status %d before %r was said:\n%s" % (
                    self.process.returncode, pattern, self.said()))
            time.sleep(0.01)
        raise Failed("%r was not said within %d s:\n%s" % (pattern, patience, self.said()))

    def await_said(self, pattern, patience=PATIENCE):
        return self._await(pattern, patience)

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                # What runs is not waited for; without that it is only slow.
                if "stopping: " in self.said():
                    self.process.send_signal(signal.SIGTERM)
                try:
                    self.process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    self.process.kill()
                    self.process.wait()
                    if kind is None:
                        self.t.log.append(self.said())
                        raise Failed("it did not end after SIGTERM")
        self._all_said()
        self.t.log.append("--- said by the daemon (status %s)\n%s" % (self.process.returncode, self.said()[-20000:]))
        if kind is None and re.search(r"Sanitizer|runtime error:", self.said()):
            raise Failed("a sanitizer complained:\n" + self.said()[-4000:])

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self, patience=PATIENCE):
        try:
            status = self.process.wait(patience)
            self._all_said()
            return status
        except subprocess.TimeoutExpired:
            raise Failed("it did not end within %d s:\n%s" % (patience, self.said()[-4000:]))

    # Speaking

    def connect(self, timeout=60):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def request(self, method, path, body=None, key=None, headers=None, timeout=60):
        send = dict(headers or {})
        if key:
            send["Authorization"] = "Bearer " + key
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            send.setdefault("Content-Type", "application/json")
        if isinstance(body, str):
            body = body.encode()
        connection = self.connect(timeout)
        try:
            connection.request(method, path, body=body, headers=send)
            r = connection.getresponse()
            answer = Answer(r.status, r.headers, r.read())
        finally:
            connection.close()
        self.t.log.append("%s %s %s -> %s" % (method, path, (body or b"")[:500], answer))
        return answer

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.request("POST", path, body=body, **more)

    def run(self, code, **more):
        """The envelope of one execution."""
        answer = self.post("/executions", dict({"code": code}, **more))
        if answer.status != 200:
            raise Failed("POST /executions: %s" % answer)
        return answer.json()


def make_key(t, name, *options, role="execute"):
    """A new API key; the daemon may run already."""
    done = t.caisson("keys", "create", name, "--role", role, *options)
    found = re.search(r"csk_[A-Za-z0-9]{16}_[A-Za-z0-9_-]{43}", done.out + done.err)
    if done.status != 0 or not found:
        raise Failed("no key was made:\n%s" % done)
    return found.group(0)


def children_of(pid):
    """All descendants of a process that are alive."""
    found, left = [], [pid]
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as f:
                    rest = f.read().rsplit(")", 1)[1].split()
                if rest[0] != "Z":
                    parents.setdefault(int(rest[1]), []).append(int(name))
            except OSError:
                pass
    while left:
        for child in parents.get(left.pop(), []):
            found.append(child)
            left.append(child)
    return found

"""A server of tools/http_probe for tests of src/http, and ways to talk to it."""

import http.client
import json
import os
import queue
import signal
import socket
import ssl
import subprocess
import threading
import time

from harness import PATIENCE, Failed

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

HEAD = b"Host: here\r\n"


def tool(t):
    for build in (os.path.dirname(t.binary), os.path.join(ROOT, "build/dev")):
        path = os.path.join(build, "tests/http_probe")
        if os.access(path, os.X_OK):
            return path
    t.skip("http_probe is not built")


class Probe:
    """A server of the test. At its end it must close at once, hold nothing, and have said nothing on stderr."""

    def __init__(self, t, *options, env=None, tls=None):
        self.t, self.tls, self.stopped = t, tls, False
        words = [tool(t)]
        for name, value in zip(options[::2], options[1::2]):
            words += ["--" + name, str(value)]
        if tls:
            words += ["--tls_cert", tls + "/cert.pem", "--tls_key", tls + "/key.pem"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=dict(t.env, **(env or {})))
        self.events, self.errors = queue.Queue(), []
        threading.Thread(target=self.read, daemon=True).start()
        self.reader = threading.Thread(target=self.read_errors, daemon=True)
        self.reader.start()
        self.port = self.event("listening")["port"]

    def read(self):
        for line in self.process.stdout:
            self.events.put(json.loads(line))

    def read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line)

    def event(self, name, patience=PATIENCE):
        """The next event, which must be this one."""
        try:
            event = self.events.get(timeout=patience)
        except queue.Empty:
            raise Failed("no %r within %s s; stderr: %s" % (name, patience, "".join(self.errors)[-3000:]))
        self.t.equal(event["event"], name, "event")
        return event

    def quiet(self, seconds):
        """Nothing happens for so long."""
        try:
            raise Failed("unexpected: %r" % self.events.get(timeout=seconds))
        except queue.Empty:
            pass

    def connect(self, patience=PATIENCE, raw=False):
        s = socket.create_connection(("127.0.0.1", self.port), patience)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.tls and not raw:
            s = ssl.create_default_context(cafile=self.tls + "/cert.pem").wrap_socket(s, server_hostname="localhost")
        return s

    def talk(self, data, patience=PATIENCE, shut=False):
        """Sends these bytes; all that comes until the server closes."""
        with self.connect(patience) as s:
            s.sendall(data)
            if shut:
                s.shutdown(socket.SHUT_WR)
            return rest(s)

    def get(self, path, method="GET", body=None, headers=None, chunked=False):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        if self.tls:
            context = ssl.create_default_context(cafile=self.tls + "/cert.pem")
            c = http.client.HTTPSConnection("localhost", self.port, timeout=PATIENCE, context=context)
        try:
            c.request(method, path, body, headers or {}, encode_chunked=chunked)
            r = c.getresponse()
            return r, r.read()
        finally:
            c.close()

    def state(self):
        return json.loads(self.get("/state")[1])

    def fds(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def rss(self):
        with open("/proc/%d/statm" % self.process.pid) as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def stop(self):
        """Tells it to close, once: it may be on its way."""
        if self.process.poll() is None and not self.stopped:
            self.process.send_signal(signal.SIGTERM)
        self.stopped = True

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.stop()
        try:
            status = self.process.wait(90)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = "no end after SIGTERM"
        self.reader.join(PATIENCE)
        self.t.log.append("stderr of the server: " + "".join(self.errors)[-20000:])
        if kind is None:
            self.t.equal((status, "".join(self.errors)[-3000:]), (0, ""), "the end of the server")


def rest(s):
    found = b""
    try:
        while True:
            data = s.recv(65536)
            if not data:
                return found
            found += data
    except ConnectionResetError:
        return found


def until(s, end):
    found = b""
    while end not in found:
        data = s.recv(65536)
        if not data:
            raise Failed("closed before %r: %r" % (end, found))
        found += data
    return found


def answers(text):
    """(status, body) of several answers in a row, all with a Content-Length."""
    found = []
    while text:
        head, _, text = text.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        n = int(fields.get(b"content-length", 0))
        found.append((int(head.split()[1]), text[:n]))
        text = text[n:]
    return found


def first_status(text):
    return int(text.split()[1]) if text.startswith(b"HTTP/1.1 ") else text[:100]


def until_true(what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def certificate(t, name="tls"):
    d = os.path.join(t.dir, name)
    os.makedirs(d)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", d + "/key.pem", "-out", d + "/cert.pem", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    return d

"""What the tests of figures, alerts and traces share: addresses that daemons post to."""

import http.server
import json
import os
import threading

from harness import until  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDER = os.path.join(HERE, "servers", "recorder.py")


class Receiver:
    """An HTTP server in this process that keeps what is posted: (path, headers, JSON) in `got`, bytes in `bodies`.

    `statuses`: what the first posts are answered with; then 200. `reply(path, headers, body)`: the body of the answer."""

    def __init__(self, statuses=(), reply=None, headers=None):
        outer = self
        self.got, self.bodies, self.statuses, self.reply, self.more = [], [], list(statuses), reply, headers or {}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status = outer.statuses.pop(0) if outer.statuses else 200
                value = json.loads(body) if body else None
                outer.bodies.append(body)
                outer.got.append((self.path, dict(self.headers), value, status))
                said = outer.reply(value) if outer.reply else {}
                data = b"" if said is None else json.dumps(said).encode()
                self.send_response(202 if said is None and status == 200 else status)
                for name, text in outer.more.items():
                    self.send_header(name, text)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                self.send_response(405)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_DELETE = do_GET

            def log_message(self, *rest):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def taken(self):
        """The bodies of those that were answered with 200."""
        return [value for _, _, value, status in self.got if status == 200]

    def __enter__(self):
        return self

    def __exit__(self, *rest):
        self.server.shutdown()
        self.server.server_close()


def spans_of(bodies):
    """All spans, with their attributes as a dictionary."""
    found = []
    for body in bodies:
        for resource in body["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    values = {a["key"]: list(a["value"].values())[0] for a in span["attributes"]}
                    found.append(dict(span, attributes=values))
    return found


def metrics(d):
    """Values of /metrics by name and labels."""
    values = {}
    for line in d.get("/metrics").body.decode().splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            values[name] = float(value)
    return values

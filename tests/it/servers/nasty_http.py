#!/usr/bin/env python3
"""An MCP server over HTTP that misbehaves on demand: the tool that is called says how.

    nasty_http.py [--sessions] [--strict] [--listen] [--origin URL] [--token TOKEN] [--cert FILE]

Prints its address, then one JSON line per request: method, path, headers, body. It speaks 2025-11-25, and the
modern probe gets a plain error. Ends with its standard input.
"""
import argparse
import gzip
import http.server
import json
import os
import socket
import socketserver
import ssl
import sys
import threading
import time

TOOLS = """fine sse split crlf gzip garbage html empty wrong_id text500 rpc400 json500 close slow endless huge_event
huge_json headers redirect_far redirect_near redirect_loop retry_stream lost_stream notes session_dies session_late session_400
ask bomb change lingers many_events bad_chunk too_slow_head stall_event ignore""".split()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, *_):
        pass

    def note(self, body=None):
        with self.server.lock:
            print(json.dumps({"method": self.command, "path": self.path, "body": body,
                              "headers": {k.lower(): v for k, v in self.headers.items()},
                              "at": time.monotonic(), "port": self.client_address[1]}), flush=True)

    def answer(self, status, body=b"", kind="application/json", **headers):
        if isinstance(body, str):
            body = body.encode()
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def result(self, id, value=None):
        return json.dumps({"jsonrpc": "2.0", "id": id,
                           "result": value or {"content": [{"type": "text", "text": "fine"}]}})

    # Streams are chunked by hand, so that each piece goes out as it is.
    def stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def piece(self, data):
        if isinstance(data, str):
            data = data.encode()
        if data:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

    def end_stream(self):
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def event(self, text, **fields):
        self.piece("".join("%s: %s\n" % f for f in fields.items()) + "data: %s\n\n" % text)

    def abort(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.close_connection = True

    def refused(self):
        """Is the token wanted, and missing?"""
        wanted = self.server.options.token
        if not wanted or self.headers.get("Authorization") == "Bearer " + wanted:
            return False
        self.answer(401, '{"error":"invalid_token"}', WWW_Authenticate='Bearer error="invalid_token"')
        return True

    def session(self):
        return self.headers.get("Mcp-Session-Id")

    def do_GET(self):
        self.note()
        last = self.headers.get("Last-Event-ID")
        if self.refused():
            return
        if self.server.options.listen and (last or "listen").startswith("listen"):
            self.listen()
        elif last is None:
            self.answer(405, Allow="POST")
        elif last == "stream-1":
            self.stream()
            self.event(self.result(self.server.pending), id="stream-2")
            self.end_stream()
        else:
            self.answer(404, "no such stream", "text/plain")

    def listen(self):
        """A stream that ends after each thing it says, and is to be taken up again."""
        self.server.streams += 1
        self.stream()
        self.event("", id="listen-%d" % self.server.streams, retry="100")
        if self.server.changed.wait(20):
            self.server.changed.clear()
            self.event(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
        self.end_stream()

    def do_DELETE(self):
        self.note()
        self.answer(200)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"null")
        self.note(body)
        if self.path != "/mcp" and not self.path.startswith("/moved"):
            self.answer(404, "<h1>not here</h1>", "text/html")
            return
        if self.refused():
            return
        method, id = body.get("method"), body.get("id")
        if id is None or method is None:
            if "result" in body or "error" in body:
                self.server.answered.set()
            if self.server.options.strict and method == "notifications/initialized":
                time.sleep(0.3)
                self.server.greeted = True
            self.answer(202, kind=None)
        elif self.server.options.strict and method.startswith("tools/") and not self.server.greeted:
            self.answer(400, "not initialized", "text/plain")
        elif method == "initialize":
            extra = {}
            if self.server.options.sessions:
                self.server.count += 1
                self.server.live = "session-%d" % self.server.count
                extra["Mcp_Session_Id"] = self.server.live
            self.answer(200, self.result(id, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}},
                                              "serverInfo": {"name": "nasty", "version": "1"}}), **extra)
        elif method == "server/discover":
            self.answer(400, json.dumps({"jsonrpc": "2.0", "id": None,
                                         "error": {"code": -32000, "message": "not initialized"}}))
        elif self.server.options.sessions and self.session() != self.server.live and not (
                method == "tools/call" and body["params"]["name"] == "session_late"):
            self.answer(self.server.dead_status, "Session not found", "text/plain")
        elif method == "tools/list":
            self.answer(200, self.result(id, {"tools": [{"name": n, "inputSchema": {"type": "object"}}
                                                        for n in TOOLS]}))
        elif method == "tools/call":
            getattr(self, "tool_" + body["params"]["name"])(id, body["params"])
        else:
            self.answer(200, json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}))

    # What goes well, in odd ways

    def tool_fine(self, id, params):
        self.answer(200, self.result(id), "application/json; charset=utf-8")

    def tool_sse(self, id, params):
        self.stream()
        self.event(self.result(id), event="message")
        self.end_stream()

    def tool_split(self, id, params):
        self.stream()
        for byte in ("\ufeff: hello\n\nevent: message\ndata: %s\n\n" % self.result(id)).encode():
            self.piece(bytes([byte]))
        self.end_stream()

    def tool_crlf(self, id, params):
        half = self.result(id).replace(',"id"', ',\n"id"', 1).replace(', "id"', ',\n"id"', 1)
        self.stream()
        self.piece("".join("data: %s\r\n" % line for line in half.split("\n")) + "\r\n")
        self.end_stream()

    def tool_gzip(self, id, params):
        self.answer(200, gzip.compress(self.result(id).encode()), Content_Encoding="gzip")

    def tool_change(self, id, params):
        self.server.changed.set()
        self.tool_fine(id, params)

    def tool_notes(self, id, params):
        token = params["_meta"]["progressToken"]
        self.stream()
        for i in range(3):
            self.event(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress",
                                   "params": {"progressToken": token, "progress": i}}))
        self.event("not for us", event="other")
        self.event(self.result(id))
        self.end_stream()

    def tool_lingers(self, id, params):
        self.stream()
        self.event(self.result(id))
        time.sleep(30)

    def tool_ask(self, id, params):
        self.server.answered.clear()
        self.stream()
        self.event(json.dumps({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create",
                               "params": {"message": "sure?", "requestedSchema": {"type": "object", "properties": {}}}}))
        self.server.answered.wait(10)
        self.event(self.result(id))
        self.end_stream()

    def tool_many_events(self, id, params):
        self.stream()
        note = "data:%s\r\r" % json.dumps({"jsonrpc": "2.0", "method": "notifications/x"})
        for _ in range(20):
            self.piece(note * 1000)
        self.event(self.result(id))
        self.end_stream()

    def tool_retry_stream(self, id, params):
        self.server.pending = id
        self.stream()
        self.event("", id="stream-1", retry="300")
        self.end_stream()

    def tool_redirect_near(self, id, params):
        if self.path == "/mcp":
            self.answer(307, Location="/moved?x=1")
        else:
            self.tool_fine(id, params)

    # What goes wrong

    def tool_bomb(self, id, params):
        self.answer(200, gzip.compress(b" " * (100 << 20), 1), Content_Encoding="gzip")

    def tool_garbage(self, id, params):
        self.answer(200, '{"jsonrpc": "2.0", "id": %d, "result": {' % id)

    def tool_html(self, id, params):
        self.answer(200, "<html>welcome</html>", "text/html")

    def tool_empty(self, id, params):
        self.answer(200)

    def tool_ignore(self, id, params):
        self.answer(202, kind=None)

    def tool_wrong_id(self, id, params):
        self.answer(200, self.result(id + 1000))

    def tool_text500(self, id, params):
        self.answer(500, "the disk is full\n\x1b[31m", "text/plain")

    def tool_json500(self, id, params):
        self.answer(503, json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "overloaded"}}))

    def tool_rpc400(self, id, params):
        self.answer(400, json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "bad thing"}}))

    def tool_close(self, id, params):
        self.abort()

    def tool_slow(self, id, params):
        time.sleep(30)
        self.abort()

    def tool_too_slow_head(self, id, params):
        try:
            for byte in b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" * 10:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(0.2)
        except OSError:
            pass
        self.abort()

    def tool_endless(self, id, params):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.pour(b'{"jsonrpc":"2.0","result":{"x":"' + b"x" * 65536)

    def pour(self, data):
        try:
            for _ in range(4000):
                self.piece(data)
        except OSError:
            pass
        self.abort()

    def tool_huge_event(self, id, params):
        self.stream()
        self.piece("data: ")
        self.pour(b"x" * 65536)

    def tool_huge_json(self, id, params):
        self.tool_endless(id, params)

    def tool_headers(self, id, params):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        try:
            for i in range(4000):
                self.wfile.write(b"X-%d: %s\r\n" % (i, b"y" * 100))
        except OSError:
            pass
        self.abort()

    def tool_redirect_far(self, id, params):
        self.answer(307, Location=self.server.options.origin + "/stolen")

    def tool_redirect_loop(self, id, params):
        self.answer(308, Location="/moved")

    def tool_lost_stream(self, id, params):
        self.stream()
        self.event(json.dumps({"jsonrpc": "2.0", "method": "notifications/x"}))
        self.abort()

    def tool_stall_event(self, id, params):
        self.stream()
        self.piece("data: {")
        time.sleep(30)

    def tool_bad_chunk(self, id, params):
        self.stream()
        self.wfile.write(b"zz\r\nnonsense\r\n")
        self.abort()

    def tool_session_dies(self, id, params):
        if self.server.count == 1:
            self.server.live = "gone"
            self.answer(404, "Session not found", "text/plain")
        else:
            self.tool_fine(id, params)

    def tool_session_late(self, id, params):
        """Calls of the first session are refused, the later the slower; those of the second are answered."""
        if self.session() == "session-1":
            self.server.live = "gone" if self.server.live == "session-1" else self.server.live
            self.server.late += 0.15
            time.sleep(self.server.late)
            self.answer(404, "Session not found", "text/plain")
        else:
            self.tool_fine(id, params)

    def tool_session_400(self, id, params):
        self.server.dead_status = 400
        self.tool_session_dies(id, params) if self.server.count > 1 else (
            setattr(self.server, "live", "gone"), self.answer(400, '{"error":"No valid session ID"}'))


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", action="store_true")
    parser.add_argument("--strict", action="store_true", help="nothing before notifications/initialized")
    parser.add_argument("--listen", action="store_true")
    parser.add_argument("--cert")
    parser.add_argument("--origin", default="http://127.0.0.1:9")
    parser.add_argument("--token")
    server = Server(("127.0.0.1", 0), Handler)
    server.options = parser.parse_args()
    server.lock, server.count, server.live, server.dead_status = threading.Lock(), 0, None, 404
    server.greeted = False
    server.pending, server.answered = None, threading.Event()
    server.changed, server.streams, server.late = threading.Event(), 0, 0
    if server.options.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(server.options.cert)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print("http%s://127.0.0.1:%d/mcp" % ("s" if server.options.cert else "", server.server_port), flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for _ in sys.stdin:  # somebody wants to know that all before this was said
        with server.lock:
            print(flush=True)
    os._exit(0)


main()

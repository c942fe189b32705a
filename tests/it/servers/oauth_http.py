#!/usr/bin/env python3
"""An MCP server over HTTP that wants tokens, and the authorization server that gives them, in one.

    oauth_http.py [--expires SECONDS] [--no-pkce] [--deny] [--no-registration] [--secret]

Prints its address, then one JSON line per request that concerns tokens. Ends with its standard input.
"""
import argparse
import base64
import hashlib
import http.server
import json
import os
import socketserver
import sys
import threading
import urllib.parse


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, what, **more):
        with self.server.lock:
            print(json.dumps(dict(more, what=what)), flush=True)

    def answer(self, status, value=None, **headers):
        body = json.dumps(value).encode() if value is not None else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    @property
    def base(self):
        return "http://127.0.0.1:%d" % self.server.server_port

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        options = self.server.options
        if url.path == "/.well-known/oauth-protected-resource/mcp":
            self.answer(200, {"resource": self.base + "/mcp", "authorization_servers": [self.base]})
        elif url.path == "/.well-known/oauth-authorization-server":
            value = {"issuer": self.base, "authorization_endpoint": self.base + "/authorize",
                     "token_endpoint": self.base + "/token", "response_types_supported": ["code"],
                     "authorization_response_iss_parameter_supported": True,
                     "token_endpoint_auth_methods_supported": ["client_secret_basic" if options.secret else "none"]}
            if not options.no_pkce:
                value["code_challenge_methods_supported"] = ["S256"]
            if not options.no_registration:
                value["registration_endpoint"] = self.base + "/register"
            self.answer(200, value)
        elif url.path == "/authorize":
            self.note("authorize", query=query)
            back = {"state": query["state"], "iss": self.base}
            if options.deny:
                back.update(error="access_denied", error_description="not today")
            else:
                self.server.challenge = query["code_challenge"]
                self.server.redirect = query["redirect_uri"]
                back["code"] = "the-code"
            self.answer(302, Location=query["redirect_uri"] + "?" + urllib.parse.urlencode(back))
        else:
            self.answer(405 if url.path == "/mcp" else 404)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def tokens(self):
        self.server.count += 1
        n = self.server.count
        self.server.valid, self.server.refresh = "token-%d" % n, "refresh-%d" % n
        self.answer(200, {"access_token": self.server.valid, "refresh_token": self.server.refresh,
                          "token_type": "Bearer", "expires_in": self.server.options.expires})

    def token(self, form):
        self.note("token", form=form, authorization=self.headers.get("Authorization"))
        if form["grant_type"] == "refresh_token":
            good = form["refresh_token"] == self.server.refresh
        else:
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            good = form["code"] == "the-code" and form["redirect_uri"] == self.server.redirect and \
                base64.urlsafe_b64encode(digest).decode().rstrip("=") == self.server.challenge
        if good and form.get("resource") == self.base + "/mcp":
            self.tokens()
        else:
            self.answer(400, {"error": "invalid_grant", "error_description": "used or old"})

    def do_POST(self):
        body = self.body()
        if self.path == "/register":
            value = json.loads(body)
            self.note("register", value=value)
            given = {"client_id": "client-%d" % len(value["redirect_uris"]), "redirect_uris": value["redirect_uris"]}
            if self.server.options.secret:
                given["client_secret"] = "a secret: with+signs"
            self.answer(201, given)
        elif self.path == "/token":
            self.token(dict(urllib.parse.parse_qsl(body.decode())))
        elif self.path == "/revoke-access":
            self.server.valid = "none"
            self.answer(200)
        elif self.path == "/revoke-all":
            self.server.valid = self.server.refresh = "none"
            self.answer(200)
        else:
            self.mcp(json.loads(body))

    def mcp(self, body):
        if self.headers.get("Authorization") != "Bearer " + self.server.valid:
            self.answer(401, {"error": "invalid_token"}, WWW_Authenticate=(
                'Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"' % self.base))
            return
        results = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                  "serverInfo": {"name": "oauth", "version": "1"}},
                   "tools/list": {"tools": [{"name": "fine", "inputSchema": {"type": "object"}}]},
                   "tools/call": {"content": [{"type": "text", "text": self.server.valid}]}}
        if "id" not in body:
            self.answer(202)
        elif body["method"] in results:
            self.answer(200, {"jsonrpc": "2.0", "id": body["id"], "result": results[body["method"]]})
        else:
            self.answer(200, {"jsonrpc": "2.0", "id": body["id"], "error": {"code": -32601, "message": "no"}})


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--expires", type=int, default=3600)
    for flag in ("no-pkce", "deny", "no-registration", "secret"):
        parser.add_argument("--" + flag, action="store_true")
    server = Server(("127.0.0.1", 0), Handler)
    server.options = parser.parse_args()
    server.lock, server.count, server.valid, server.refresh = threading.Lock(), 0, "none", "none"
    server.challenge = server.redirect = None
    print("http://127.0.0.1:%d/mcp" % server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for _ in sys.stdin:  # somebody wants to know that all before this was said
        with server.lock:
            print(flush=True)
    os._exit(0)


main()

"""What a known answer costs at the HTTP door: the commits workload, run and known, in turns on one connection."""

import json
import os
import shutil
import socket
import statistics
import tempfile
import time

import doors
import tools

HIT_MS = 1.0
TIMES = 10


class Connection:
    """One that is kept open, with as little of our own time in it as can be."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def post(self, body):
        """(envelope, ms)"""
        head = (f"POST /executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode()
        started = time.perf_counter()
        self.socket.sendall(head + body)
        got, wanted = b"", None
        while wanted is None or len(got) < wanted:
            part = self.socket.recv(1 << 20)
            if not part:
                raise OSError("it hung up")
            got += part
            if wanted is None and b"\r\n\r\n" in got:
                at = got.index(b"\r\n\r\n") + 4
                lines = dict(line.split(b": ", 1) for line in got[:at].lower().split(b"\r\n")[1:] if b": " in line)
                wanted = at + int(lines[b"content-length"])
        took = (time.perf_counter() - started) * 1000
        return json.loads(got[at:]), took


class Daemon(doors.Daemon):
    """With the servers of a configuration."""

    def __init__(self, binary, pool, servers, *options):
        before = os.getcwd()
        place = tempfile.mkdtemp(prefix="bench-cache-")
        with open(os.path.join(place, "caisson.json"), "w") as f:
            json.dump({"mcpServers": servers, "rate.per_minute": 0, "rate.per_hour": 0}, f)
        os.environ["CAISSON_CONFIG"] = os.path.join(place, "caisson.json")
        try:
            super().__init__(binary, pool, *options)
        finally:
            del os.environ["CAISSON_CONFIG"]
            os.chdir(before)
        self.place = place

    def close(self):
        super().close()
        shutil.rmtree(self.place, ignore_errors=True)


def measure(bench, connection, body, count):
    """Milliseconds of those that run, and of those that are known, in turns."""
    ran, known = [], []
    refresh, use = (json.dumps(dict(body, cache=mode)).encode() for mode in ("refresh", "use"))
    expect = None
    for _ in range(count):
        for send, times, wants_cached in ((refresh, ran, None), (use, known, True), (use, known, True), (use, known, True)):
            e, took = connection.post(send)
            if expect is None:
                expect = e["result"]
            if e["status"] != "completed" or e["result"] != expect or e.get("cached") is not wants_cached:
                raise bench.Wrong(f"not as expected: {json.dumps(e)[:500]}")
            times.append(took)
    return ran, known


def cache(side, bench):
    side.table.head("a known answer at the HTTP door, one connection (ms)")
    if not (tools.peers() / "node_modules").exists() or not shutil.which("node"):
        print("  the SDK is missing: run scripts/bootstrap bench")
        return
    daemon = Daemon(bench.BUILD / "caisson", bench.POOL, {"github": tools.node_server("github")})
    try:
        connection = Connection(daemon.port)
        call = json.dumps(tools.ARGUMENTS)
        commits = {"code": f"const commits: any[] = await tools.github.listCommits({call});\n{tools.COMMITS}return result;\n"}
        measure(bench, connection, commits, 2)  # the server is warm
        ran, known = measure(bench, connection, commits, side.n(100))
        miss, hit = statistics.median(ran), statistics.median(known)
        side.table.add("a thousand commits, known: p50", hit, target=f"<= {HIT_MS:g}", ok=hit <= HIT_MS)
        side.table.add("  p99", bench.percentile(known, 99))
        side.table.add("  times faster than running it", hit, "run", miss, miss / hit, f">= {TIMES} x", miss / hit >= TIMES)
        large = {"code": "return Array.from({ length: 20000 }, (_, i) => 'row number ' + i + ' of many, with some text')",
                 "limits": {"result": "4M"}}
        ran, known = measure(bench, connection, large, side.n(50))
        side.table.add("a result of 1 MB, known: p50", statistics.median(known), "run", statistics.median(ran),
                       statistics.median(ran) / statistics.median(known))
        hello = {"code": (bench.WORK / "hello.caisson.ts").read_text()}
        ran, known = measure(bench, connection, hello, side.n(200))
        side.table.add("hello, known: p50", statistics.median(known), "run", statistics.median(ran),
                       statistics.median(ran) / statistics.median(known))
    finally:
        daemon.close()

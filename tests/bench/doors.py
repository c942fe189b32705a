"""What the HTTP door costs: programs through POST /executions, by wrk, beside the same ones without a door."""

import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

CONNECTIONS = (2, 8, 64)
SHARE = 0.75  # of the executions per second that are there without a door
GROWTH = 8 << 20  # what the allocator may differ by

SCRIPT = """\
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local file = io.open("%s")
wrk.body = file:read("*a")
file:close()
local wrong = 0
function setup(thread) worker = thread end
function response(status, headers, body)
  if status ~= 200 or not body:find('"result":"hello world"', 1, true) then
    wrong = wrong + 1
    if wrong == 1 then io.stderr:write(status, " ", body, "\\n") end
  end
  worker_wrong = wrong
end
function done(summary, latency, requests)
  local e = summary.errors
  local broken = e.connect + e.read + e.write + e.timeout
  io.write(string.format("figures %%d %%d %%d %%d %%d %%d\\n", summary.requests, summary.duration, latency:percentile(50),
    latency:percentile(99), worker:get("worker_wrong") or 0, broken))
end
"""


class Daemon:
    """`caisson serve` of the benchmark's build, on a port of its own."""

    def __init__(self, binary, pool, *options):
        self.data = tempfile.mkdtemp(prefix="bench-serve-")
        self.process = subprocess.Popen(
            [binary, "serve", "--port", "0", "--execution.workers", str(pool), "--server.grace", "1s", *options], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, cwd=self.data, env=dict(os.environ, CAISSON_DATA=self.data))
        self.port = int(re.search(r":(\d+)$", self.process.stdout.readline().strip())[1])

    def private(self):
        text = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return sum(int(n) for n in re.findall(r"^Private_\w+:\s+(\d+) kB", text, re.M)) * 1024

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        shutil.rmtree(self.data, ignore_errors=True)


def load(bench, daemon, seconds, connections, wrong):
    """(executions per second, p50 and p99 in ms, how many)"""
    script = bench.WORK / "post.lua"
    said = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--latency", "--timeout", "20s", "-s", script,
                           f"http://127.0.0.1:{daemon.port}/executions"], capture_output=True, text=True, check=False)
    found = re.search(r"^figures (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$", said.stdout, re.M)
    if not found or int(found[1]) == 0:
        raise wrong(f"wrk: {said.stdout[-500:]} {said.stderr[-500:]}")
    count, took, p50, p99, bad, broken = (int(n) for n in found.groups())
    if bad or broken:
        raise wrong(f"of {count} answers {bad} were not the expected one and {broken} did not come, with {connections} "
                    f"connections: {said.stderr[:1000]}")
    return count / took * 1e6, p50 / 1000, p99 / 1000, count


def doors(side, bench):
    """`side` is the Bench, `bench` the module that runs us."""
    if not shutil.which("wrk"):
        print("wrk is missing: run scripts/bootstrap bench")
        return
    side.table.head("the HTTP door: POST /executions of hello, by wrk")
    (bench.WORK / "hello.json").write_text(json.dumps({"code": (bench.WORK / "hello.caisson.ts").read_text(), "cache": "off"}))
    (bench.WORK / "post.lua").write_text(SCRIPT % (bench.WORK / "hello.json"))
    daemon = Daemon(bench.BUILD / "caisson", bench.POOL)
    try:
        figures(side, bench, daemon)
        memory(side, bench, daemon)
    finally:
        daemon.close()


def figures(side, bench, daemon):
    seconds, rounds = (2, 1) if side.quick else (3, 3)
    load(bench, daemon, 1, 4, bench.Wrong)
    for connections in CONNECTIONS:
        through, bare = [], []
        for _ in range(rounds):
            bare.append(side.ours.load("hello", seconds, connections))
            through.append(load(bench, daemon, seconds, connections, bench.Wrong))
        rate, without = statistics.median(t[0] for t in through), statistics.median(bare)
        side.table.add(f"executions per second, {connections} connections", rate, "no door", without, rate / without,
                       f">= {SHARE} x", rate / without >= SHARE, unit="/s")
        side.table.add("  p50", statistics.median(t[1] for t in through))
        side.table.add("  p99", statistics.median(t[2] for t in through))


def memory(side, bench, daemon):
    """After a fifth everything that grows once has grown."""
    wanted, done = 1000 if side.quick else 10000, 0
    before = None
    while done < wanted:
        done += load(bench, daemon, 2, 8, bench.Wrong)[3]
        if before is None and done >= wanted // 5:
            time.sleep(0.5)
            before = daemon.private()
    time.sleep(0.5)
    grown = daemon.private() - (before or 0)
    side.table.add(f"daemon's memory over {done:,} executions", max(0, grown) / (1 << 20), target=f"<= {GROWTH >> 20} MB",
                   ok=grown <= GROWTH, unit="MB", note=f"from {before / (1 << 20):.1f} MB")

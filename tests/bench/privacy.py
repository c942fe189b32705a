"""What protection costs: the commits workload at the HTTP door with it and without, in turns."""

import json
import shutil
import statistics

import cache
import tools

TIMES = 2.0
OFF = "--no-pii-protection"


def measure(bench, connections, body, count):
    """Milliseconds of each, in turns."""
    times = [[] for _ in connections]
    for _ in range(count):
        for connection, took in zip(connections, times):
            e, ms = connection.post(body)
            if e["status"] != "completed" or e["result"]["commits"] != 1000:
                raise bench.Wrong(f"not as expected: {json.dumps(e)[:500]}")
            took.append(ms)
    return [statistics.median(took) for took in times]


def privacy(side, bench):
    side.table.head("a thousand commits, 2 MB, with personal data hidden, at the HTTP door (ms)")
    if not (tools.peers() / "node_modules").exists() or not shutil.which("node"):
        print("  the SDK is missing: run scripts/bootstrap bench")
        return
    servers = {"github": tools.node_server("github")}
    daemons = []
    try:
        for options in ((), (OFF,)):
            daemons.append(cache.Daemon(bench.BUILD / "caisson", bench.POOL, servers, *options))
        connections = [cache.Connection(d.port) for d in daemons]
        code = f"const commits: any[] = await tools.github.listCommits({json.dumps(tools.ARGUMENTS)});\n{tools.COMMITS}return result;\n"
        body = json.dumps({"code": code, "cache": "off"}).encode()
        measure(bench, connections, body, 3)  # the servers are warm
        on, off = measure(bench, connections, body, side.n(40))
        side.table.add("fetch, filter, aggregate, protected: p50", on, "not protected", off, on / off, f"<= {TIMES:g} x", on / off <= TIMES)
    finally:
        for daemon in daemons:
            daemon.close()

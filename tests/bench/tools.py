"""What calls of tools cost: inside the daemon, over pipes, beside the SDK's own client, and with two megabytes of answer."""

import json
import shutil
import statistics
import subprocess
import sys

CALLS = 500

COMMITS = """\
const since = '2026-06-23T12:00:00.000Z';
const byAuthor: Record<string, number> = {};
let bytes = 0;
for (const c of commits) {
  bytes += c.sha.length;
  if (c.commit.author.date >= since) byAuthor[c.author.login] = (byAuthor[c.author.login] ?? 0) + 1;
}
const result = { commits: commits.length, bytes, byAuthor };
"""
ARGUMENTS = {"owner": "harbour", "repo": "web", "per_page": 1000}


def bench():
    """The module that runs us; it is a script without a suffix."""
    return sys.modules["__main__"]


def peers():
    return bench().ROOT / "tests" / "it" / "peers"


def configured(name, servers):
    """Our side with these servers."""
    work = bench().WORK
    data = work / f"data-{name}"
    data.mkdir(exist_ok=True)
    config = bench().write(f"{name}.json", json.dumps({"mcpServers": servers}))
    return bench().Ours(f"config={config}", f"data={data}")


def node_server(name):
    return {"command": shutil.which("node"), "args": [str(peers() / "servers" / f"{name}.mjs")]}


def echo_server(*args):
    return {"command": str(bench().TOOLS / "echo_server"), "args": [str(a) for a in args]}


def program(figure, text, expect):
    b = bench()
    b.write(f"{b.file_of(figure)}.caisson.ts", text)
    b.write(f"{b.file_of(figure)}.expect", expect)


def in_turns(side, rounds, *figures):
    """Median milliseconds of each figure."""
    times = {figure: [] for figure in figures}
    for figure in figures:
        side.seq(figure, 1)  # servers are warm
    for _ in range(rounds):
        for figure in figures:
            times[figure] += side.seq(figure, 1)
    return [bench().p50(times[figure]) for figure in figures]


SEQUENTIAL = "for (let i = 0; i < {n}; i++) if ((await tools.echo.echo({{ i, text: 'some text' }})).i !== i) return 0;\nreturn 1;\n"
PARALLEL = "const all = await Promise.all(Array.from({{ length: {n} }}, (_, i) => tools.echo.echo({{ i, text: 'some text' }})));\n" \
           "return +all.every((a, i) => a.i === i);\n"


def inside(b):
    """To an echo inside the daemon."""
    out = subprocess.run([bench().TOOLS / "bench_call", bench().WORK / "scratch", str(b.n(20000))], capture_output=True,
                         text=True, check=True).stdout
    figures = {words[0]: float(words[1]) for words in map(str.split, out.splitlines())}
    ours, least = figures["call_round_trip"], figures["socket_round_trip"]
    b.table.add("call, answered by the daemon, p50", ours, "socket pair", least, ours / least, "<= 35", ours <= 35, unit="us")


def per_call(b, side):
    """Microseconds of one call, the rest of the execution taken off."""
    program("calls none", SEQUENTIAL.format(n=0), "1")
    program("calls many", SEQUENTIAL.format(n=CALLS), "1")
    none, many = in_turns(side, b.n(20), "calls none", "calls many")
    return (many - none) * 1000 / CALLS


def calls(b):
    b.table.head("calls of tools")
    inside(b)
    few = configured("few", {"echo": echo_server()})
    many = configured("many", {"echo": echo_server(), **{f"s{i}": echo_server(500) for i in range(8)}})
    program("list all", "const r = await searchTools('filler', { limit: 1 });\nreturn +(r.total > 3000);\n", "1")
    many.seq("list all", 1)
    alone, among = per_call(b, few), per_call(b, many)
    b.table.add("call to a C server over stdio", alone, target="<= 120", ok=alone <= 120, unit="us")
    b.table.add("  the same among 4,000 tools", among, "5 tools", alone, among / alone, "<= 1.2 x", among / alone <= 1.2, unit="us")
    few.close()
    many.close()
    sdk(b)


def sdk(b):
    """A hundred calls to a server of the official SDK, beside its own client."""
    if not (peers() / "node_modules").exists() or not shutil.which("node"):
        print("  the SDK is missing: run scripts/bootstrap bench")
        return
    out = subprocess.run(["node", bench().HERE / "sdk_client.mjs", peers() / "servers" / "echo.mjs", str(b.n(30))], cwd=peers(),
                         capture_output=True, text=True, check=True).stdout
    theirs = dict(line.split() for line in out.splitlines())
    side = configured("sdk", {"echo": node_server("echo")})
    program("sdk none", "return 1;\n", "1")
    program("sdk sequential", SEQUENTIAL.format(n=100), "1")
    program("sdk parallel", PARALLEL.format(n=100), "1")
    none, sequential, parallel = in_turns(side, b.n(30), "sdk none", "sdk sequential", "sdk parallel")
    for name, ours, target in (("sequential", sequential - none, 13), ("parallel", parallel - none, 2.5)):
        peer = float(theirs[name])
        b.table.add(f"100 {name} calls to an SDK server", ours, "SDK client", peer, ours / peer, f"<= {target}", ours <= target)
    side.close()


def commits(b):
    """Two megabytes of commits become a few hundred bytes."""
    b.table.head("a thousand commits, 2 MB, aggregated by author: the whole execution, the server warm (ms)")
    if not (peers() / "node_modules").exists() or not shutil.which("node"):
        print("  the SDK is missing: run scripts/bootstrap bench")
        return
    call = json.dumps(ARGUMENTS)
    side = configured("commits", {"github": node_server("github")})
    text = f"const commits: any[] = await tools.github.listCommits({call});\n{COMMITS}"
    bench().write("probe.caisson.ts", text + "return 0;\n")
    bench().write("probe.expect", "0")
    side.seq("probe", 1)
    deno = b.peers.get("deno")
    expect = None
    if deno:
        bench().write("commits.deno.ts",
                      f"console.log(JSON.stringify({{ call: 'list_commits', arguments: {call} }}));\n"
                      "let text = '';\nfor await (const part of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) text += part;\n"
                      f"const commits: any[] = JSON.parse(text);\n{COMMITS}console.log(JSON.stringify(result));\n")
        argv = [str(a) for a in [*bench().jailed(deno.binary), "/peer", "run", "/work/commits.deno.ts"]]
        out = subprocess.run(["node", bench().HERE / "bridged.mjs", peers() / "servers" / "github.mjs", str(b.n(20)), *argv], cwd=peers(),
                             capture_output=True, text=True, check=True).stdout.splitlines()
        theirs, expect, server = float(out[0]), out[1], float(out[2])
    program("commits", text + "return result;\n", expect or "")
    if expect is None:
        print("  deno is missing: run scripts/bootstrap bench")
        side.close()
        return
    ours = statistics.median(sum((side.seq("commits", 1) for _ in range(b.n(30))), [])) / 1000
    b.table.add("fetch, filter, aggregate", ours, "deno in bwrap", theirs, theirs / ours, "<= 32", ours <= 32)
    b.table.add("  times faster than", ours, "deno in bwrap", theirs, theirs / ours, ">= 4 x", theirs / ours >= 4)
    b.table.add("  both without the server's own time", ours - server, "deno in bwrap", theirs - server,
                (theirs - server) / (ours - server), note=f"the server alone: {server:.1f} ms")
    side.close()

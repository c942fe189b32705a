"""What the record costs: executions a second with it, beside those without, in turns."""

import json
import shutil
import statistics
import tempfile

import tools

SHARE = 0.8
SECONDS = 1.0
AT_ONCE = 16  # as many as the daemon runs at once on two processors: those that wait for a commit share it


def sides(name, servers):
    """Without a record, and with one."""
    b = tools.bench()
    config = b.write(f"{name}.json", json.dumps({"mcpServers": servers}))
    made = []
    for kind in ("off", "on"):
        data = b.WORK / f"data-{name}-{kind}"
        data.mkdir(exist_ok=True)
        more = [f"store={tempfile.mkdtemp(prefix='store-', dir=b.WORK)}"] if kind == "on" else []
        made.append(b.Ours(f"config={config}", f"data={data}", *more))
    return made


def compare(b, title, figure, servers, rounds):
    off, on = sides(figure, servers)
    rates = {off: [], on: []}
    for side in (off, on):
        side.seq(figure, 3)  # servers are warm
    for _ in range(rounds):
        for side in (off, on):
            rates[side].append(side.load(figure, SECONDS, AT_ONCE))
    ours, theirs = statistics.median(rates[on]), statistics.median(rates[off])
    b.table.add(title, ours, "no record", theirs, ours / theirs, f">= {SHARE:.0%} of it", ours / theirs >= SHARE, unit="/s")
    off.close()
    on.close()


def record(b):
    b.table.head("executions a second that are on record (ledger, journal, figures), beside those that are not")
    compare(b, "hello", "hello", {}, b.n(12))
    if not (tools.peers() / "node_modules").exists() or not shutil.which("node"):
        print("  the SDK is missing: run scripts/bootstrap bench")
        return
    call = json.dumps(tools.ARGUMENTS)
    text = f"const commits: any[] = await tools.github.listCommits({call});\n{tools.COMMITS}return result.commits;\n"
    tools.program("recorded_commits", text, "1000")
    compare(b, "a thousand commits, 2 MB", "recorded_commits", {"github": tools.node_server("github")}, b.n(12))

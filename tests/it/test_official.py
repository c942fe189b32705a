"""Real MCP servers through the real program: the official ones from npm, over pipes and over HTTP, and one that watches its client."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import time
import uuid

import batch
from harness import table
from peers import NODE, configure, listening, official, ours

PNG = "iVBORw0KGgo"  # how every PNG begins, in base64


def completed(t, envelope):
    t.true(envelope["status"] == "completed", "failed: %r" % envelope.get("error"))
    return envelope["result"]


def until(t, what, look, patience=60):
    """Waits for it; how long that took, and what was seen."""
    start = time.monotonic()
    while True:
        seen = look()
        if seen:
            return time.monotonic() - start, seen
        if time.monotonic() - start > patience:
            t.fail("after %d s still not: %s" % (patience, what))
        time.sleep(0.03)


@contextlib.contextmanager
def over_http(t):
    """server-everything over Streamable HTTP; its entry."""
    args = official("everything", "streamableHttp")["args"]
    if not os.path.exists(args[0]):
        t.skip("tests/it/peers/node_modules is not there: scripts/bootstrap test")
    server = subprocess.Popen([NODE, *args], env=dict(t.env, PORT="0"), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    try:
        yield {"type": "http", "url": "http://127.0.0.1:%d/mcp" % listening(t, server)}
    finally:
        server.kill()
        server.wait()


@contextlib.contextmanager
def daemon(t, **more):
    """`caisson run --batch` in the directory of the test."""
    running = batch.Batch(t.binary, env=t.env, cwd=t.dir, stderr=os.path.join(t.state, "stderr.log"), **more)
    try:
        yield running
    finally:
        if running.alive():
            running.close()
        with open(os.path.join(t.state, "stderr.log"), errors="replace") as f:
            t.log.append("--- stderr of the daemon\n" + f.read()[-5000:])


def ask(t, running, code, **fields):
    _, envelope, _ = running.ask(code, **fields)
    t.log.append("$ %s\n%s" % (code, json.dumps(envelope, indent=1)[:5000]))
    return envelope


class Probe:
    """servers/probe.mjs, and what it wrote down."""

    def __init__(self, t, *args, name="probe"):
        self.path = os.path.join(t.dir, name + ".log")
        self.entry = ours("probe", *args, env={"PROBE_LOG": self.path})

    def lines(self):
        if not os.path.exists(self.path):
            return []
        with open(self.path) as f:
            return f.read().splitlines()

    def said(self, line):
        return lambda: line in self.lines()


# --- server-everything ---

EVERYTHING = """
const [said, sum, weather, image, links, resource] = await Promise.all([
    everything.echo({ message: 'über 😀' }),
    everything.getSum({ a: 19, b: 23 }),
    everything.getStructuredContent({ location: 'Chicago' }),
    everything.getTinyImage({}),
    everything.getResourceLinks({ count: 2 }),
    everything.getResourceReference({ resourceType: 'Text', resourceId: 1 }),
]);
return {
    said, sum, weather, image: image.find((b) => b.type === 'image'), links: links.filter((b) => b.type === 'resource_link'),
    resource: resource.find((b) => b.type === 'resource'), definition: await readToolDefinition('everything/get-structured-content'),
};
"""


def judge_everything(t, e):
    result = completed(t, e)
    t.equal(result["said"], "Echo: über 😀", "text")
    t.matches(result["sum"], r"\b42\b", "sum")
    t.equal(result["weather"], {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82}, "structuredContent")
    t.true(result["image"]["data"].startswith(PNG) and result["image"]["mimeType"] == "image/png", "image: %.200r" % result["image"])
    t.equal(len(result["links"]), 2, "links")
    t.matches(result["links"][0]["uri"], r"^\w+://", "uri of a link")
    t.matches(result["resource"]["resource"]["text"], "Resource 1", "text of a resource")
    for member in ("temperature: number", "conditions: string", "humidity: number"):
        t.has(result["definition"], member, "the declared output type")
    t.equal({c["status"] for c in e["calls"]}, {"ok"}, "how calls ended")


def test_server_everything_over_stdio(t):
    configure(t, {"everything": official("everything")})
    judge_everything(t, t.envelope(EVERYTHING))


def test_server_everything_over_http(t):
    with over_http(t) as entry:
        configure(t, {"everything": entry})
        judge_everything(t, t.envelope(EVERYTHING))


@table([("over stdio",), ("over http",)])
def test_progress_extends_the_deadline_of_a_call(t, way):
    with over_http(t) if way == "over http" else contextlib.nullcontext(official("everything")) as entry:
        configure(t, {"everything": dict(entry, timeout_ms=3000)})
        with daemon(t) as running:
            # The deadline of a call includes the start of its server.
            until(t, "an answer", lambda: ask(t, running, "return await everything.echo({ message: 'warm' })")["status"] == "completed")
            e = ask(t, running, "return await everything.triggerLongRunningOperation({ duration: 6, steps: 24 })")
            t.has(completed(t, e), "completed", "the answer")
            t.true(e["calls"][0]["latency_ms"] > 5500, "it took no longer than the deadline: %r" % e["calls"])
            late = ask(t, running, "return await everything.triggerLongRunningOperation({ duration: 6, steps: 1 })")
        t.equal(late["error"]["type"], "timeout_error", "the error without progress")
        t.equal(late["calls"][0]["status"], "limit", "status of the call")


# --- server-filesystem, server-memory ---

def test_server_filesystem_writes_reads_lists_and_refuses(t):
    shared = os.path.dirname(t.file("shared/there.txt", "from outside\n"))
    secret = t.file("secret.txt", "canary")
    configure(t, {"files": official("filesystem", shared)})
    e = t.envelope("""
        const dir = %s;
        await files.writeFile({ path: dir + '/made.txt', content: 'line 1\\nline 2 äß\\n' });
        const made = await files.readTextFile({ path: dir + '/made.txt' });
        const head = await files.readTextFile({ path: dir + '/made.txt', head: 1 });
        const list = await files.listDirectory({ path: dir });
        const refused = [];
        for (const path of [%s, dir + '/nothing.txt'])
            try { await files.readTextFile({ path }) } catch (e) { refused.push([e.name, e.server, e.message, e.retryable]) }
        return { made, head, list, refused }""" % (json.dumps(shared), json.dumps(secret)))
    result = completed(t, e)
    t.equal(result["made"], {"content": "line 1\nline 2 äß\n"}, "what it read")
    t.equal(result["head"], {"content": "line 1"}, "the first line")
    t.has(result["list"]["content"], "[FILE] there.txt", "the directory")
    t.equal(t.read("shared/made.txt"), "line 1\nline 2 äß\n", "the file outside")
    (outside, missing) = result["refused"]
    t.equal(outside[:2], ["ToolError", "files"], "the error")
    t.matches(outside[2], "outside allowed directories", "message")
    t.matches(missing[2], "ENOENT|no such file", "message")
    t.lacks(json.dumps(e), "canary", "envelope")


def test_server_memory_keeps_a_graph(t):
    store = os.path.join(t.dir, "memory.jsonl")
    configure(t, {"memory": official("memory", env={"MEMORY_FILE_PATH": store})})
    result = completed(t, t.envelope("""
        import { createEntities, createRelations, readGraph } from './mcp-servers/memory/index.ts';
        await createEntities({ entities: [
            { name: 'Loom', entityType: 'machine', observations: ['writes programs'] },
            { name: 'Engine', entityType: 'machine', observations: [] }] });
        await createRelations({ relations: [{ from: 'Loom', to: 'Engine', relationType: 'programs' }] });
        return await readGraph({})"""))
    t.equal(sorted(e["name"] for e in result["entities"]), ["Engine", "Loom"], "entities")
    t.equal(result["relations"], [{"from": "Loom", "to": "Engine", "relationType": "programs"}], "relations")
    again = completed(t, t.envelope("return (await memory.searchNodes({ query: 'Loom' })).entities[0].observations"))
    t.equal(again, ["writes programs"], "after a restart")


# --- values ---

def test_blocks_of_every_kind_are_held_and_passed_on(t):
    configure(t, {"probe": ours("probe"), "other": ours("probe"), "everything": official("everything")})
    result = completed(t, t.envelope("""
        const [media, pictures] = await Promise.all([probe.media({}), everything.getTinyImage({})]);
        const image = pictures.filter((b) => b.type === 'image');
        return { direct: await other.take({ blocks: media }), again: (await other.take({ blocks: image }))[0].slice(0, 2) }"""))
    t.equal(result["direct"], [["text", "", "all kinds"], ["audio", "audio/wav", "a sound"], ["image", "image/png", "a picture"],
                               ["resource", "text/plain", "a note"],
                               ["resource_link", "application/octet-stream", "file:///far.bin"]], "what arrived")
    t.equal(result["again"], ["image", "image/png"], "the official image")


def test_a_result_of_another_shape_is_drift_and_still_arrives(t):
    configure(t, {"probe": ours("probe")})
    first = '{"id": 1, "name": "a", "tags": ["x"]}'
    other = '{"id": "one", "label": true}'
    with daemon(t) as running:
        code = "return await probe.shape({ text: inputs.text })"
        for _ in range(2):
            e = ask(t, running, code, inputs={"text": first})
            t.equal(completed(t, e), json.loads(first), "the first shape")
            t.true("drift" not in e["calls"][0], "drift without a reason: %r" % e["calls"])
        until(t, "a learned type", lambda: "@learned" in completed(t, ask(t, running, "return await readToolDefinition('probe/shape')")))
        e = ask(t, running, code, inputs={"text": other})
        t.equal(completed(t, e), json.loads(other), "the second shape")
        t.matches(e["calls"][0].get("drift", ""), "id", "drift of %r" % e["calls"])


PROMISES = r"""
import json, sys
tool = {"name": "count", "description": "Promises a number.", "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}}
answers = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "p", "version": "1"}},
           "tools/list": {"tools": [tool]}, "tools/call": {"content": [], "structuredContent": {"n": "many", "more": 1}}}
for line in sys.stdin:
    m = json.loads(line)
    if "id" in m:
        found = {"result": answers[m["method"]]} if m["method"] in answers else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **found}), flush=True)
"""


def test_a_result_that_breaks_the_declared_schema_is_drift_and_still_arrives(t):
    configure(t, {"promises": {"command": "python3", "args": [t.file("promises.py", PROMISES)]}})
    e = t.envelope("return await promises.count({})")
    t.equal(completed(t, e), {"n": "many", "more": 1}, "the value")
    t.matches(e["calls"][0].get("drift", ""), "n.*number", "drift of %r" % e["calls"])


# --- manners ---

@table([("limit of the call",), ("wall clock",), ("end of the program",)])
def test_a_program_that_ends_cancels_its_call(t, how):
    probe = Probe(t)
    configure(t, {"probe": probe.entry})
    wait = "probe.wait({ ms: 60000, label: 'long' })"
    with daemon(t) as running:
        completed(t, ask(t, running, "return (await probe.wait({ ms: 1 })).most"))
        if how == "end of the program":
            code = "%s.catch(() => 0); while (!(await probe.wait({ ms: 50 })).from); return 1" % wait
            completed(t, ask(t, running, code))
        elif how == "wall clock":
            e = ask(t, running, "await " + wait, timeout_ms=4000)
            t.equal((e["error"]["type"], [c["status"] for c in e["calls"]]), ("timeout_error", ["cancelled"]), "how it ended")
        else:
            t.file("caisson.json", json.dumps({"mcpServers": {"probe": dict(probe.entry, timeout_ms=3000)}}))
            until(t, "the new deadline", lambda: ask(t, running, "return await probe.wait({ ms: 6000 })")["status"] == "failed")
            e = ask(t, running, "await " + wait)
            t.equal(e["error"]["type"], "timeout_error", "type")
        until(t, "that the server is told", probe.said("cancelled long"))
        completed(t, ask(t, running, "return await probe.wait({ ms: 1 })"))  # and goes on to serve


def test_eight_calls_are_under_way_at_a_time(t):
    configure(t, {"probe": ours("probe")})
    code = "const all = await Promise.all(Array.from({ length: %d }, () => probe.wait({ ms: 800 }))); return all.at(-1).most"
    t.equal(completed(t, t.envelope(code % 20)), 8, "calls at once")
    t.equal(completed(t, t.envelope(code % 8, "--limit", "calls_at_once=3")), 3, "calls at once, limited")


def test_two_servers_work_at_the_same_time(t):
    configure(t, {"a": ours("probe"), "b": ours("probe")})
    one, two = completed(t, t.envelope("""
        await Promise.all([tools.a.wait({ ms: 1 }), tools.b.wait({ ms: 1 })]);
        return await Promise.all([tools.a.wait({ ms: 3000 }), tools.b.wait({ ms: 3000 })])"""))
    overlap = min(one["to"], two["to"]) - max(one["from"], two["from"])
    t.true(overlap > 350, "they overlap for %d ms: %r" % (overlap, (one, two)))


def test_a_server_that_dies_is_started_again(t):
    probe = Probe(t)
    configure(t, {"probe": probe.entry})
    with daemon(t) as running:
        e = ask(t, running, "return await probe.crash({})")
        t.equal((e["error"]["type"], e["calls"][0]["status"]), ("upstream_error", "error"), "the call that killed it")
        t.equal(completed(t, ask(t, running, "return (await probe.wait({ ms: 1 })).most")), 1, "a call afterwards")
    t.equal(len([x for x in probe.lines() if x.startswith("start")]), 2, "starts in %r" % probe.lines())


# --- what changes while it runs ---

MOST_TRIES = 12


def best_of(t, what, tries):
    """The machine may be busy: at least one of the tries keeps the promise of a second."""
    t.log.append("%s: %s" % (what, ["%.3f s" % x for x in tries]))
    t.true(min(tries) < 1, "%s takes %s s" % (what, ["%.2f" % x for x in tries]))


def test_a_server_added_or_removed_is_followed_within_a_second(t):
    configure(t, {"probe": ours("probe")})
    few, more = {"probe": ours("probe")}, {"probe": ours("probe"), "extra": ours("probe")}
    with daemon(t) as running:
        def names():
            return completed(t, ask(t, running, "return Object.keys(tools)"))
        t.equal(names(), ["probe"], "servers")
        added, removed = [], []
        while not added or len(added) < MOST_TRIES and max(min(added), min(removed)) >= 1:
            t.file("caisson.json", json.dumps({"mcpServers": more}))
            added.append(until(t, "the new server", lambda: names() == ["extra", "probe"])[0])
            t.equal(completed(t, ask(t, running, "import { shape } from '/mcp-servers/extra/shape.ts';\nreturn await shape({ text: '7' })")), 7,
                    "a call to it")
            t.file("caisson.json", json.dumps({"mcpServers": few}))
            removed.append(until(t, "that it is gone", lambda: names() == ["probe"])[0])
        best_of(t, "adding a server", added)
        best_of(t, "removing one", removed)
        gone = ask(t, running, "return await tools.extra.shape({ text: '7' })")
        t.equal(gone["error"]["type"], "permission_error", "a call afterwards")
        t.file("caisson.json", '{"mcpServers": {')
        time.sleep(0.5)
        t.equal(completed(t, ask(t, running, "return await probe.shape({ text: '8' })")), 8, "with a file that cannot be read")


def test_a_tool_that_a_server_announces_is_there_within_a_second(t):
    configure(t, {"probe": ours("probe")})
    with daemon(t) as running:
        tries = []
        for name in ["fresh_pears", *("fresh_%d" % n for n in range(1, MOST_TRIES))]:
            def found():
                return name in json.dumps(completed(t, ask(t, running, "return await searchTools('%s', { detail: 'full' })" % name)))
            t.true(not found(), "it is there before")
            completed(t, ask(t, running, "return await probe.grow({ name: '%s' })" % name))
            tries.append(until(t, "the new tool", found)[0])
            if tries[-1] < 1:
                break
        best_of(t, "a new tool", tries)
        t.equal(completed(t, ask(t, running, "import { freshPears } from '/mcp-servers/probe/freshPears.ts';\nreturn await freshPears({})")),
                "fresh_pears", "the new tool's answer")


def test_a_running_execution_keeps_what_it_started_with(t):
    configure(t, {"probe": ours("probe"), "other": ours("probe")})
    with daemon(t, args=("--jobs", "2")) as running:
        completed(t, ask(t, running, "return await Promise.all([probe.wait({ ms: 1 }), tools.other.wait({ ms: 1 })])"))
        box = running.send("""
            const seen = async () => [(await searchTools('kumquat', { detail: 'name' })).tools.map((x) => x.tool),
                                      Object.keys(tools), (await readToolDefinition('other/wait')).length > 100];
            const before = await seen();
            while ((await probe.wait({ ms: 100 })).most < 6);
            return { same: JSON.stringify(before) === JSON.stringify(await seen()), before }""", timeout_ms=200000)
        completed(t, ask(t, running, "return await probe.grow({ name: 'kumquat' })"))
        t.file("caisson.json", json.dumps({"mcpServers": {"probe": ours("probe")}}))
        now = "return [Object.keys(tools), (await searchTools('kumquat', { detail: 'name' })).tools.map((x) => x.tool)]"
        until(t, "the new state", lambda: completed(t, ask(t, running, now)) == [["probe"], ["probe.kumquat"]])
        # It goes on when it sees six calls at once.
        many = "return (await Promise.all([1, 2, 3, 4, 5, 6].map(() => probe.wait({ ms: 500 })))).at(-1).most"
        until(t, "six calls at once", lambda: completed(t, ask(t, running, many)) >= 6)
        _, envelope, _ = running.wait(box, 200)
        result = completed(t, envelope)
        t.true(result["same"], "it changed under a running program")
        t.equal(result["before"][1], ["other", "probe"], "servers at the start")


# --- guests ---

def test_guests_see_the_tree_as_files_and_call(t):
    configure(t, {"memory": official("memory", env={"MEMORY_FILE_PATH": os.path.join(t.dir, "m.jsonl")}), "probe": ours("probe")})
    code = """
import caisson, os
print(sorted(os.listdir('/mcp-servers')))
print('export async function readGraph' in open('/mcp-servers/memory/readGraph.ts').read())
for attempt in (lambda: open('/mcp-servers/memory/readGraph.ts', 'w'), lambda: open('/mcp-servers/new.ts', 'w'),
                lambda: os.unlink('/mcp-servers/memory/readGraph.ts'), lambda: os.chmod('/mcp-servers/memory/readGraph.ts', 0o777)):
    try:
        attempt()
        print('CHANGED')
    except OSError as e:
        print(e.errno)
caisson.tools.memory.create_entities(entities=[{'name': 'n', 'entityType': 't', 'observations': []}])
print(caisson.tools.memory.read_graph()['entities'][0]['name'])
try:
    caisson.call('memory', 'no_such_tool', {})
except caisson.ToolError as e:
    print(type(e).__name__)
"""
    for _ in range(5):  # a guest waits for the tree, though not as long as a busy machine may need to start its servers
        e = t.envelope(code, language="python")
        if e["status"] == "completed":
            break
    out = e["stdout"].splitlines()
    t.true(e["status"] == "completed", "failed: %r" % e)
    t.true("'memory', 'probe'" in out[0], "the root: %r" % out)
    t.equal(out[1], "True", "a file")
    t.lacks(e["stdout"], "CHANGED", "the tree can be changed")
    t.equal(out[6:], ["n", "ToolError"], "calls")
    shell = t.envelope("""
cd /mcp-servers && ls && grep -l 'async function' memory/*.ts | wc -l
(echo x >memory/x.ts) 2>/dev/null && echo CHANGED
caisson call probe shape '{"text": "[1,2]"}'
caisson call probe no_such_tool 2>/dev/null || echo refused
""", language="bash")
    t.true("CHANGED" not in shell["stdout"] and "memory" in shell["stdout"], "bash: %r" % shell)
    t.equal(shell["stdout"].split()[-2:], ["[1,2]", "refused"], "calls from bash")


# --- nothing is left ---

def marked(marker):
    mine = os.getpid()
    return {pid: line for pid, (_, line) in batch.processes().items() if marker in line and pid != mine}


def wrapped(entry):
    """Behind a shell that waits for it, and passes no signal on."""
    line = " ".join(map(shlex.quote, [entry["command"], *entry["args"]]))
    return dict(entry, command="sh", args=["-c", "trap '' TERM; %s; true" % line])


SERVERS = {
    "polite": lambda marker: ours("probe", marker),
    "stubborn": lambda marker: ours("probe", "--stubborn", marker),
    "behind a shell": lambda marker: wrapped(ours("probe", marker)),
    "stubborn behind a shell": lambda marker: wrapped(ours("probe", "--stubborn", marker)),
}


@table([(name + ", " + end, name, end) for name in SERVERS for end in ("end", "SIGTERM", "SIGKILL")])
def test_no_server_is_left(t, _, name, end):
    marker = "marker-" + uuid.uuid4().hex
    probe = Probe(t)
    configure(t, {"probe": dict(SERVERS[name](marker), env={"PROBE_LOG": probe.path})})
    code = "await probe.wait({ ms: %d, label: 'it' }); return 1" % (4000 if end == "end" else 60000)
    running = subprocess.Popen([t.binary, "run", "-e", code], cwd=t.dir, env=t.env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        until(t, "a call under way", probe.said("call it"))
        t.true(marked(marker), "the server cannot be seen, so this shows nothing")
        if end != "end":
            running.send_signal(getattr(signal, end))
        running.wait(60)
        t.equal(running.returncode == 0, end == "end", "success")
        # Those who die with us need a moment; those whom we close are gone when we are.
        until(t, "no process left: %r" % marked(marker), lambda: not marked(marker), 30 if end == "SIGKILL" else 10)
    finally:
        running.kill()
        running.wait()
        t.log.append(running.stderr.read())
        running.stderr.close()
        for pid in marked(marker):
            os.kill(pid, signal.SIGKILL)

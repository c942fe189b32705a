"""Artifacts: files that programs leave in /workspace/out, values that they put, where they come from, and how long they stay."""

import glob
import json
import os
import shutil
import sqlite3
import subprocess
import time

from harness import until
from resting import begin, problem, with_tools
from serving import Daemon, make_key


# What a program leaves in /workspace/out

PROGRAMS = {
    "typescript": "import * as fs from 'node:fs/promises'\n"
                  "await fs.writeFile('/workspace/out/report.csv', 'a,b\\n1,2\\n')\n"
                  "await fs.mkdir('/workspace/out/deep/er', { recursive: true })\n"
                  "await fs.writeFile('/workspace/out/deep/er/data.json', '{\"n\": 7}')\n"
                  "return 1",
    "python": "import os\n"
              "open('/workspace/out/report.csv', 'w').write('a,b\\n1,2\\n')\n"
              "os.makedirs('/workspace/out/deep/er')\n"
              "open('/workspace/out/deep/er/data.json', 'w').write('{\"n\": 7}')\n",
    "bash": "printf 'a,b\\n1,2\\n' > out/report.csv; mkdir -p out/deep/er; printf '{\"n\": 7}' > out/deep/er/data.json",
    "node": "const fs = require('node:fs')\n"
            "fs.writeFileSync('/workspace/out/report.csv', 'a,b\\n1,2\\n')\n"
            "fs.mkdirSync('/workspace/out/deep/er', { recursive: true })\n"
            "fs.writeFileSync('/workspace/out/deep/er/data.json', '{\"n\": 7}')\n",
}


def short(envelope):
    return [(a["name"], a["media_type"], a["kind"], a["size"]) for a in envelope["artifacts"]]


def test_files_in_out_become_artifacts(t):
    with Daemon(t) as d:
        for language, code in PROGRAMS.items():
            e = d.run(code, language=language)
            t.equal(e["status"], "completed", language)
            t.equal(short(e), [("deep/er/data.json", "application/json", "file", 8), ("report.csv", "text/csv", "file", 8)], language)
            got = d.get("/artifacts/" + e["artifacts"][1]["id"])
            t.equal((got.body, got.headers["Content-Type"]), (b"a,b\n1,2\n", "text/csv"))
            read = "return caisson.storage.get('%s')" % e["artifacts"][0]["id"]
            t.equal(d.run(read)["result"], {"n": 7})
        t.equal(d.run("return 1")["artifacts"], [])


def test_put_and_get(t):
    with Daemon(t) as d:
        e = d.run("const a = await caisson.storage.put('x.json', { a: [1, 'zwei'] })\n"
                  "const b = await caisson.storage.put('x.csv', 'a,ü\\n')\n"
                  "const c = await caisson.storage.put('x', new Uint8Array([0, 255, 1, 254]))\n"
                  "const f = await caisson.storage.put('x', 'text', { mediaType: 'text/x-own' })\n"
                  "return [a, b, c, f, await caisson.storage.get(a.id), await caisson.storage.get(b.id),\n"
                  "  [...await caisson.storage.get(c.id, { as: 'bytes' })], await caisson.storage.get(c.id, { as: 'bytes', offset: 1, length: 2 })]")
        t.equal(e["status"], "completed", e.get("error"))
        a, b, c, f = e["result"][:4]
        t.equal([x["media_type"] for x in (a, b, c, f)], ["application/json", "text/csv", "application/octet-stream", "text/x-own"])
        t.equal(e["result"][4:7], [{"a": [1, "zwei"]}, "a,ü\n", [0, 255, 1, 254]])
        t.equal(e["result"][7]["next"], 3)
        t.equal([x["id"] for x in e["artifacts"]], [a["id"], b["id"], c["id"], f["id"]])
        t.equal(set(x["kind"] for x in e["artifacts"]), {"stored"})
        twice = d.run("return (await Promise.all([1, 1, 2].map((n) => caisson.storage.put('n', n)))).map((a) => a.id)")
        one, same, other = twice["result"]
        t.true(one == same and one != other, twice["result"])
        t.equal(len(twice["artifacts"]), 2)


def test_put_and_get_from_guests(t):
    with Daemon(t) as d:
        python = ("import caisson\n"
                  "a = caisson.storage.put('x.bin', b'\\x00\\xff')\n"
                  "b = caisson.storage.put('note.md', '# hi')\n"
                  "c = caisson.storage.put('v', [1, {'a': None}])\n"
                  "assert caisson.storage.get(a['id'], binary=True) == b'\\x00\\xff'\n"
                  "def main(inputs):\n"
                  "    return [caisson.storage.get(b['id']), caisson.storage.get(c['id']), [a['media_type'], b['media_type'], c['media_type']]]\n")
        wanted = ["# hi", [1, {"a": None}], ["application/octet-stream", "text/markdown", "application/json"]]
        e = d.run(python, language="python")
        t.equal(e["result"], wanted, e)
        node = ("module.exports = async () => {\n"
                "  const a = await caisson.storage.put('x.bin', Buffer.from([0, 255]))\n"
                "  const b = await caisson.storage.put('note.md', '# hi')\n"
                "  const c = await caisson.storage.put('v', [1, { a: null }])\n"
                "  const back = await caisson.storage.get(a.id, { as: 'bytes' })\n"
                "  if (back.length !== 2 || back[1] !== 255) throw new Error('bytes')\n"
                "  return [await caisson.storage.get(b.id), await caisson.storage.get(c.id), [a.media_type, b.media_type, c.media_type]]\n"
                "}")
        t.equal(d.run(node, language="node")["result"], wanted)
        e = d.run("caisson call caisson storagePut '{\"name\": \"x\", \"text\": \"hi\"}'", language="bash")
        t.equal([(a["name"], a["kind"]) for a in e["artifacts"]], [("x", "stored")], e)


def test_what_cannot_be_put_says_why(t):
    with Daemon(t) as d:
        for code, piece in (("caisson.storage.put('', 1)", "name"), ("caisson.storage.put('a\\nb', 1)", "control"),
                            ("caisson.storage.put('a', 'x', { mediaType: 'no type' })", "media type"),
                            ("caisson.callTool('caisson', 'storagePut', { name: 'a' })", "a value"),
                            ("caisson.callTool('caisson', 'storagePut', { name: 'a', base64: '=x=' })", "base64"),
                            ("caisson.storage.put('a', 'x'.repeat(11e6))", "bytes"),
                            ("caisson.storage.get((await caisson.storage.put('a', new Uint8Array([0, 1]))).id)", "no text")):
            e = d.run("return await " + code)
            t.equal(e["status"], "failed", code)
            t.has(e["error"]["message"], piece, code)
        e = d.run("const a = await caisson.storage.put('a.json', 'no { JSON'); return caisson.storage.get(a.id)")
        t.equal(e["result"], "no { JSON")


def test_a_failed_program_leaves_its_files_too(t):
    with Daemon(t) as d:
        e = d.run("echo partial > out/x; exit 3", language="bash")
        t.equal((e["status"], [a["name"] for a in e["artifacts"]]), ("failed", ["x"]))


# A hostile program

HOSTILE = r"""
import os, socket
os.chdir('/workspace/out')
open('good', 'w').write('good')
os.symlink('/etc/passwd', 'link')
os.symlink('/workspace', 'dirlink')
for make in (lambda: os.mkfifo('pipe'), lambda: socket.socket(socket.AF_UNIX).bind('sock')):
    try:
        make()
    except OSError:
        pass  # the jail has refused it
open(b'bad\xff', 'w').write('x')
open('line\nbreak', 'w').write('x')
open('hard', 'w').write('x'); os.link('hard', 'hard2')
for name in ('sparse1', 'sparse2'):
    f = open(name, 'w'); f.truncate(40 << 20); f.close()
path = 'd'
for i in range(40):
    os.mkdir(path); path += '/d'
open(path[:-2] + '/deep', 'w').write('x')
open('.hidden', 'w').write('h')
open('q"\\.txt', 'w').write('q')
os.mkdir('locked'); open('locked/x', 'w').write('x'); os.chmod('locked', 0)
"""


def test_a_hostile_out_is_harmless(t):
    with Daemon(t) as d:
        e = d.run(HOSTILE, language="python")
        t.equal(e["status"], "completed", e)
        names = {a["name"] for a in e["artifacts"]}
        wanted = {"good", ".hidden", 'q"\\.txt', "sparse1"}
        t.true(wanted <= names <= wanted | {"locked/x"}, names)
        left = e["artifacts_left_out"]
        t.true(left["count"] >= 8, left)
        t.equal(len(left["reasons"]), 5)
        for a in e["artifacts"]:
            t.equal(d.get("/artifacts/" + a["id"]).status, 200)
        e = d.run("import os\nfor i in range(150): open('/workspace/out/%03d' % i, 'w').write(str(i))", language="python")
        t.equal((len(e["artifacts"]), e["artifacts"][99]["name"], e["artifacts_left_out"]["count"]), (100, "099", 50))
        t.has(e["artifacts_left_out"]["reasons"][0], "100 files")
        t.equal(glob.glob(os.path.join(data_dir(t), "scratch", "*-out")), [])


def data_dir(t):
    return os.path.join(t.env["XDG_DATA_HOME"], "caisson")


# Sessions, tenants

def test_a_session_keeps_its_files_and_each_file_is_taken_once(t):
    with Daemon(t) as d:
        session = d.post("/sessions", {}).json()["session_id"]
        e = d.run("echo one > out/a", language="bash", session_id=session)
        t.equal([a["name"] for a in e["artifacts"]], ["a"])
        e = d.run("cat out/a; echo two > out/b", language="bash", session_id=session)
        t.equal((e["stdout"], [a["name"] for a in e["artifacts"]]), ("one\n", ["b"]))
        e = d.run("import * as fs from 'node:fs/promises'; await fs.writeFile('/workspace/out/a', 'changed'); return 1", session_id=session)
        t.equal([(a["name"], a["size"]) for a in e["artifacts"]], [("a", 7)])
        t.equal(d.run("return 1", session_id=session)["artifacts"], [])
        listed = d.get("/artifacts?session_id=" + session).json()["artifacts"]
        t.equal([a["name"] for a in listed], ["a", "b", "a"])
        t.equal([a["name"] for a in d.run("return caisson.storage.list()", session_id=session)["result"]], ["a", "b", "a"])
        t.equal(d.get("/sessions/%s/files/out/b" % session).body, b"two\n")


def test_tenants_are_apart(t):
    with Daemon(t, "--server.require_key", "true") as d:
        ours, theirs = make_key(t, "ours"), make_key(t, "theirs", "--tenant", "acme")
        run = lambda code, key: d.post("/executions", {"code": code}, key=key).json()
        handle = run("return (await caisson.storage.put('x', 'secret')).id", ours)["result"]
        t.equal(run("return caisson.storage.get('%s')" % handle, ours)["result"], "secret")
        denied = run("return caisson.storage.get('%s')" % handle, theirs)
        t.equal(denied["status"], "failed")
        for method, path in (("GET", ""), ("GET", "/lineage"), ("DELETE", "")):
            problem(t, d.request(method, "/artifacts/" + handle + path, key=theirs), 404, "missing")
        t.equal(d.get("/artifacts", key=theirs).json()["artifacts"], [])
        t.equal(d.request("DELETE", "/artifacts/" + handle, key=ours).status, 204)
        problem(t, d.get("/artifacts/" + handle, key=ours), 404, "missing")


# Sizes

def test_a_quota_is_kept(t):
    with Daemon(t, "--artifacts.quota", "100k") as d:
        t.equal(d.run("return caisson.storage.put('a', 'x'.repeat(60000))")["status"], "completed")
        e = d.run("return caisson.storage.put('b', 'x'.repeat(60000))")
        t.equal((e["status"], e["error"]["type"]), ("failed", "resource_error"))
        t.has(e["error"]["message"], "artifacts.quota")
        e = d.run("head -c 60000 /dev/zero > out/zero; echo small > out/small", language="bash")
        t.equal((e["status"], [a["name"] for a in e["artifacts"]]), ("completed", ["small"]))
        t.has(e["artifacts_left_out"]["reasons"][0], "quota")
        e = d.run("return 'y'.repeat(70000)")
        t.equal((e["status"], e["artifacts"], e["artifacts_left_out"]["count"]), ("completed", [], 1))
        first = d.get("/artifacts").json()["artifacts"][-1]["artifact_id"]
        d.request("DELETE", "/artifacts/" + first)
        t.equal(d.run("return caisson.storage.put('b', 'x'.repeat(60000))")["status"], "completed")


def test_parts_of_a_large_file(t):
    with Daemon(t) as d:
        e = d.run("seq 1 500000 > out/numbers.txt; head -c 3000000 /dev/urandom > out/noise; sha256sum out/* >&2", language="bash")
        whole = "".join("%d\n" % i for i in range(1, 500001)).encode()
        noise, numbers = e["artifacts"]
        t.equal((numbers["name"], numbers["size"], noise["size"]), ("numbers.txt", len(whole), 3000000))
        answer = d.get("/artifacts/" + numbers["id"])
        t.true(answer.body == whole, "the content is the same")
        tag = answer.headers["ETag"]
        t.has(e["stderr"], tag.strip('"'))
        for first, last in ((0, 9), (70000, 70100), (len(whole) - 5, len(whole) + 100)):
            part = d.get("/artifacts/" + numbers["id"], headers={"Range": "bytes=%d-%d" % (first, last)})
            t.equal((part.status, part.body), (206, whole[first:last + 1]))
        t.equal(d.get("/artifacts/" + numbers["id"], headers={"If-None-Match": tag}).status, 304)
        t.equal(d.run("return (await caisson.storage.get('%s', { offset: 2000000, length: 50 })).text" % numbers["id"])["result"].encode(), whole[2000000:2000050])
        got = t.caisson("artifacts", "get", numbers["id"], "-O", os.path.join(t.dir, "copy"))
        t.status(got, 0)
        t.true(open(os.path.join(t.dir, "copy"), "rb").read() == whole, "the copy is the same")
        t.equal(t.caisson("artifacts", "get", numbers["id"], "--offset", "1000000", "--length", "7").out.encode(), whole[1000000:1000007])


# Where they come from

def three_generations(t, d):
    first = d.run("const r = await tools.plain.echo({ a: 1 }); return (await caisson.storage.put('one.json', r)).id", inputs={"who": "me"})["result"]
    second = d.run("import caisson\ndef main(inputs):\n    x = caisson.storage.get('%s')\n    return caisson.storage.put('two \"quoted\" \\\\ <b>', x)['id']\n" % first, language="python")["result"]
    third = d.run("import * as fs from 'node:fs/promises'\n"
                  "await fs.writeFile('/workspace/out/three.txt', JSON.stringify([await caisson.storage.get('%s'), await caisson.storage.get('%s')]))\nreturn 1" % (first, second))
    return first, second, third["artifacts"][0]["id"], third["execution_id"]


def check_dot(t, text):
    """Well formed: every statement is a node or an edge with quoted names, and the nodes of all edges are there."""
    lines = text.strip().split("\n")
    t.equal((lines[0], lines[-1]), ("digraph lineage {", "}"))
    quoted = r'"(?:[^"\\]|\\.)*"'
    for line in lines[3:-1]:
        t.matches(line, r'^  (%s \[shape=.*, label=%s\]|%s -> %s);$' % (quoted, quoted, quoted, quoted))
    if shutil.which("dot"):
        done = subprocess.run(["dot", "-Tplain"], input=text.encode(), capture_output=True, timeout=20)
        t.equal(done.returncode, 0, done.stderr)


def test_the_lineage_of_three_generations(t):
    with Daemon(t, *with_tools(t)) as d:
        first, second, third, execution = three_generations(t, d)
        graph = d.get("/artifacts/%s/lineage" % third).json()
        t.equal((graph["artifact_id"], graph["complete"]), (third, True))
        nodes = {n["id"]: n for n in graph["nodes"]}
        t.equal([n["id"] for n in graph["nodes"] if n["type"] == "artifact"], [third, first, second])
        t.equal(sum(n["type"] == "execution" for n in graph["nodes"]), 3)
        edges = {(e["from"], e["to"]) for e in graph["edges"]}
        t.true({(execution, third), (first, execution), (second, execution)} <= edges, edges)
        calls = [n for n in graph["nodes"] if n["type"] == "call"]
        t.equal([n["name"] for n in calls], ["plain/echo#1"])
        for e in graph["edges"]:
            t.true(e["from"] in nodes and e["to"] in nodes, "%s is an edge between nodes" % e)
        t.equal(nodes[second]["name"], 'two "quoted" \\ <b>')
        check_dot(t, d.get("/artifacts/%s/lineage?format=dot&direction=both" % second).body.decode())
        down = d.get("/artifacts/%s/lineage?direction=down" % first).json()
        t.equal({n["id"] for n in down["nodes"] if n["type"] == "artifact"}, {first, second, third})
        t.equal(d.get("/artifacts/%s/lineage?depth=1" % third).json()["complete"], False)
        problem(t, d.get("/artifacts/%s/lineage?format=svg" % third), 400, "invalid", "format")
        problem(t, d.get("/artifacts/art_0/lineage"), 404, "missing")
        t.equal(t.caisson("artifacts", "lineage", third, "-o", "json").json(), graph)
        check_dot(t, t.caisson("artifacts", "lineage", third, "-o", "dot").out)
        tree = t.caisson("artifacts", "lineage", third).out
        for piece in (first, second, "call  plain/echo#1", "made by " + execution):
            t.has(tree, piece)
        listed = t.caisson("artifacts", "list", "-o", "json").json()["artifacts"]
        t.equal([a["artifact_id"] for a in listed], [third, second, first])
        t.equal([a["kind"] for a in listed], ["file", "stored", "stored"])
        t.has(t.caisson("artifacts", "list").out, "three.txt")
        t.has(t.caisson("artifacts", "list", "--execution", execution).out, third)
        t.status(t.caisson("artifacts", "remove", first), 0)
        t.has(t.caisson("audit", "list", "--event", "artifact.removed", "-o", "json").out, first)
        t.equal(t.caisson("artifacts", "get", first).status, 2)
        removed = {n["id"]: n for n in d.get("/artifacts/%s/lineage" % third).json()["nodes"]}
        t.equal(removed[first].get("removed"), True)


# How long they stay

def test_old_ones_go_with_their_executions(t):
    with Daemon(t) as d:
        first = d.run("return (await caisson.storage.put('one', 'first ' + 'x'.repeat(99))).id")
        second = d.run("return (await caisson.storage.put('two', await caisson.storage.get('%s') + '!')).id" % first["result"])
        alone = d.run("return (await caisson.storage.put('alone', 'nobody reads this')).id")
    data = data_dir(t)
    blobs = lambda: len([p for p in glob.glob(os.path.join(data, "blobs", "??", "*"))])
    before = blobs()
    with sqlite3.connect(os.path.join(data, "caisson.db")) as db:
        for e in (first, alone):
            db.execute("UPDATE executions SET finished = finished - 40 * 86400000 WHERE id = ?", (e["execution_id"],))
    for path in glob.glob(os.path.join(data, "blobs", "??", "*")):
        os.utime(path, (1, 1))
    with Daemon(t) as d:
        until(t, "their end", lambda: all(d.get("/artifacts/" + e["result"]).status == 404 for e in (alone, first)))
        problem(t, d.get("/artifacts/" + alone["result"]), 404, "missing")
        problem(t, d.get("/artifacts/" + first["result"]), 404, "missing", "was removed")
        t.equal(d.get("/artifacts/" + second["result"]).status, 200)
        graph = d.get("/artifacts/%s/lineage" % second["result"]).json()
        t.equal([(n["id"], n.get("removed")) for n in graph["nodes"] if n["type"] == "artifact"],
                [(second["result"], None), (first["result"], True)])
        until(t, "their contents are gone", lambda: blobs() <= before - 2)
        t.equal([a["artifact_id"] for a in d.get("/artifacts").json()["artifacts"]], [second["result"]])


def test_a_resumed_execution_has_what_it_had_put(t):
    with Daemon(t) as d:
        code = ("const a = await caisson.storage.put('before', 'x')\n"
                "for (let i = 0; i < 15; i++) await new Promise((r) => setTimeout(r, 100))\n"
                "const b = await caisson.storage.put('after', 'y')\n"
                "return [a.id, b.id]")
        execution = begin(t, d, code, durable=True)
        until(t, "the first is kept", lambda: d.get("/artifacts").json()["artifacts"])
        time.sleep(0.3)
        d.process.kill()
        d.process.wait()
    with Daemon(t) as d:
        e = until(t, "it ends", lambda: (lambda x: x if x["status"] != "running" else None)(d.get("/executions/%s?wait_ms=5000" % execution).json()))
        t.equal(e["status"], "completed", e)
        t.equal([a["id"] for a in e["artifacts"]][::1 if e["artifacts"][0]["name"] == "before" else -1], e["result"])
        t.equal(sorted(a["name"] for a in d.get("/artifacts").json()["artifacts"]), ["after", "before"])

"""Artifacts: files that programs leave in /workspace/out, values that they put, where they come from, and how long they stay."""

import json

from serving import Daemon


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

"""Files and modules: the workspace in and out, the roots, and nothing beyond."""

import os

from harness import table

FS = "import * as fs from 'node:fs/promises';\n"


def listing(top):
    return sorted(os.path.relpath(os.path.join(r, f), top) for r, _, files in os.walk(top) for f in files)


def test_a_workspace_is_copied_in_and_out(t):
    t.file("ws/in.txt", "five")
    t.file("ws/sub/deep.txt", "deep")
    done = t.run(FS + "const a = await fs.readFile('/workspace/in.txt', 'utf8'); await fs.mkdir('/workspace/new/dir', { recursive: true });"
                 " await fs.writeFile('/workspace/new/dir/out.txt', a + '!'); await fs.rm('/workspace/sub/deep.txt'); return a", "--workspace", t.dir + "/ws")
    t.status(done, 0)
    t.equal(done.out, "five\n", "stdout")
    t.equal(t.read("ws/new/dir/out.txt"), "five!", "the file that came out")
    t.equal(t.read("ws/in.txt"), "five", "the file that was there")


def test_a_workspace_is_copied_for_guests_too(t):
    t.file("ws/in.txt", "five")
    t.file("ws/bin.dat", bytes(range(256)))
    done = t.run("cat in.txt; mkdir -p out; cp bin.dat out/copy.dat; printf changed >in.txt", "--workspace", t.dir + "/ws", language="bash")
    t.status(done, 0)
    t.has(done.out, "five", "stdout")
    with open(t.dir + "/ws/out/copy.dat", "rb") as f:
        t.equal(f.read(), bytes(range(256)), "bytes")
    t.equal(t.read("ws/in.txt"), "changed", "the changed file")


def test_without_a_workspace_nothing_is_written(t):
    t.status(t.run(FS + "await fs.writeFile('/workspace/x.txt', 'x'); return 1"), 0)
    t.equal(os.listdir(t.dir), [], "the directory it ran in")


def test_a_failed_program_still_gives_its_files(t):
    os.mkdir(t.dir + "/ws")
    t.status(t.run(FS + "await fs.writeFile('/workspace/part.txt', 'half'); throw new Error('x')", "--workspace", t.dir + "/ws"), 1)
    t.equal(listing(t.dir + "/ws"), ["part.txt"], "files")


@table([("symlink to a file", "ln -s /etc/passwd link"), ("symlink out", "ln -s / root; ln -s ../../.. up"), ("fifo", "mkfifo pipe"), ("socket", "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('s')\""),
        ("hard link", "echo x >a; ln a b"), ("setuid", "cp /bin/true t; chmod 6777 t"), ("unreadable", "mkdir d; echo y >d/f; chmod 000 d/f d"), ("odd names", "touch -- $'new\\nline' '-rf' $'\\xff' '*'")])
def test_what_a_guest_leaves_cannot_hurt_the_caller(t, name, code):
    os.mkdir(t.dir + "/ws")
    done = t.run(code + "; echo kept >kept.txt; exit 0", "--workspace", t.dir + "/ws", language="bash")
    t.true(done.status in (0, 1, 3), "status %d: %s" % (done.status, done.err))
    t.true(done.seconds < 60, "took %.1f s" % done.seconds)
    for root, dirs, files in os.walk(t.dir + "/ws"):
        for n in dirs + files:
            path = os.path.join(root, n)
            info = os.lstat(path)
            if os.path.islink(path):
                target = os.path.realpath(path)
                t.true(target.startswith(os.path.realpath(t.dir + "/ws")), "a link leads out: %s -> %s" % (path, target))
                continue
            t.true(os.path.isfile(path) or os.path.isdir(path), "a special file came out: " + path)
            t.equal(info.st_mode & 0o7000, 0, "mode bits of " + path)
    t.equal(os.path.isfile(t.dir + "/ws/kept.txt"), True, "the plain file came out")


def test_links_in_the_workspace_do_not_lead_the_copy_out_of_it(t):
    t.file("secret.txt", "SECRET-9")
    os.mkdir(t.dir + "/ws")
    os.symlink("../secret.txt", t.dir + "/ws/link.txt")
    os.symlink("..", t.dir + "/ws/up")
    done = t.run("cat link.txt up/secret.txt 2>&1; ls -la; exit 0", "--workspace", t.dir + "/ws", language="bash")
    t.lacks(done.out + done.err, "SECRET-9", "answer")


@table([
    ("write and read", "await fs.writeFile('/tmp/a', 'text'); return await fs.readFile('/tmp/a', 'utf8')", "text"),
    ("relative", "await fs.writeFile('a.txt', 'rel'); return await fs.readFile('/workspace/a.txt', 'utf8')", "rel"),
    ("bytes", "await fs.writeFile('/tmp/b', new Uint8Array([0, 255, 10])); const b = await fs.readFile('/tmp/b'); return [...b]", [0, 255, 10]),
    ("append", "await fs.appendFile('/tmp/a', 'x'); await fs.appendFile('/tmp/a', 'y'); return await fs.readFile('/tmp/a', 'utf8')", "xy"),
    ("stat", "await fs.writeFile('/tmp/a', 'four'); const s = await fs.stat('/tmp/a'); return [s.size, s.isFile(), s.isDirectory()]", [4, True, False]),
    ("list", "await fs.mkdir('/tmp/d'); await fs.writeFile('/tmp/d/b', ''); await fs.writeFile('/tmp/d/a', ''); return (await fs.readdir('/tmp/d')).sort()", ["a", "b"]),
    ("rename", "await fs.writeFile('/tmp/a', 'm'); await fs.rename('/tmp/a', '/tmp/b'); return [await fs.readFile('/tmp/b', 'utf8'), (await fs.readdir('/tmp')).length]", ["m", 1]),
    ("copy", "await fs.writeFile('/tmp/a', 'm'); await fs.copyFile('/tmp/a', '/tmp/b'); return (await fs.readdir('/tmp')).length", 2),
    ("remove", "await fs.mkdir('/tmp/d/e', { recursive: true }); await fs.rm('/tmp/d', { recursive: true }); return await fs.readdir('/tmp')", []),
    ("missing", "try { await fs.readFile('/tmp/none') } catch (e: any) { return e.code }", "ENOENT"),
    ("is a directory", "try { await fs.readFile('/tmp') } catch (e: any) { return e.code }", "EISDIR"),
    ("unlink", "await fs.writeFile('/tmp/a', ''); await fs.unlink('/tmp/a'); return (await fs.readdir('/tmp')).length", 0),
    ("access", "await fs.writeFile('/tmp/a', ''); await fs.access('/tmp/a'); try { await fs.access('/tmp/b') } catch (e: any) { return e.code }", "ENOENT"),
    ("unicode name", "await fs.writeFile('/tmp/é\u00a0x', 'u'); return await fs.readdir('/tmp')", ["é\u00a0x"]),
    ("Deno", "await Deno.writeTextFile('/tmp/d', 'deno'); return await Deno.readTextFile('/tmp/d')", "deno"),
])
def test_files_work_as_programs_expect(t, name, code, wanted):
    e = t.envelope(FS + code)
    t.true(e["status"] == "completed", "failed: %r" % e.get("error"))
    t.equal(e["result"], wanted, "result")


@table([("etc", "/etc/passwd"), ("proc", "/proc/self/environ"), ("up", "/workspace/../../etc/passwd"), ("up from tmp", "/tmp/../etc/passwd"), ("dots", "../../../etc/passwd"),
        ("root", "/"), ("nul", "/tmp/a\\u0000/../../etc/passwd"), ("home", "~/.ssh/id_rsa"), ("url", "file:///etc/passwd"), ("double slash", "//etc/passwd")])
def test_no_path_leaves_the_roots(t, name, path):
    e = t.envelope(FS + "try { return await fs.readFile('%s', 'utf8') } catch (e: any) { return 'refused ' + e.code + ' ' + e.message }" % path)
    if e["status"] == "completed":
        t.matches(e["result"], r"^refused", "result")
    t.lacks(str(e), "root:x:", "answer")


@table([("mcp-servers", "/mcp-servers/x.ts"), ("skills", "/skills/x.ts"), ("root", "/x.ts"), ("etc", "/etc/x")])
def test_only_two_roots_are_writable(t, name, path):
    e = t.envelope(FS + "try { await fs.writeFile('%s', 'x'); return 'written' } catch (e: any) { return e.code }" % path)
    t.true(e["result"] in ("EACCES", "EROFS", "EPERM", "ENOENT"), "result %r" % e.get("result"))


# Modules

GRAPH = {
    "lib/math.ts": "export const two: number = 2;\nexport default function add(a: number, b: number): number { return a + b }\nexport class Box<T> { constructor(public v: T) {} }\n",
    "lib/index.ts": "export * from './math.ts';\nexport { default as add } from './math.ts';\nexport * as math from './math.ts';\nexport type Nothing = never;\n",
    "count.ts": "export let n = 0;\nexport function up(): void { n++ }\n",
    "a.ts": "import { b } from './b.ts';\nexport const a = 'a';\nexport function both(): string { return a + b }\n",
    "b.ts": "import { both } from './a.ts';\nexport const b = 'b';\nexport function viaA(): string { return both() }\n",
    "side.ts": "(globalThis as any).touched = ((globalThis as any).touched ?? 0) + 1;\n",
    "later.ts": "const v: number = await Promise.resolve(11);\nexport { v as value };\n",
    "data.json": '{"k": [1, 2]}',
    "plain.js": "export const js = 'plain';\n",
    "throws.ts": "throw new Error('at load');\n",
}


def workspace(t):
    for name, text in GRAPH.items():
        t.file("ws/" + name, text)
    return t.dir + "/ws"


@table([
    ("named", "import { two } from './lib/math.ts';\nreturn two", 2),
    ("default", "import add from './lib/math.ts';\nreturn add(1, 2)", 3),
    ("both", "import add, { two as zwei } from './lib/math.ts';\nreturn add(zwei, 1)", 3),
    ("namespace", "import * as m from './lib/math.ts';\nreturn [m.two, m.default(2, 2), Object.keys(m).sort()]", [2, 4, ["Box", "default", "two"]]),
    ("absolute", "import { two } from '/workspace/lib/math.ts';\nreturn two", 2),
    ("re-export", "import { two, add, math, Box } from './lib/index.ts';\nreturn [two, add(1, 1), math.two, new Box('v').v]", [2, 2, 2, "v"]),
    ("live binding", "import { n, up } from './count.ts';\nconst before = n; up(); up();\nreturn [before, n]", [0, 2]),
    ("one instance", "import { up } from './count.ts';\nimport * as again from '/workspace/count.ts';\nup();\nreturn again.n", 1),
    ("cycle", "import { viaA } from './b.ts';\nimport { both } from './a.ts';\nreturn [viaA(), both()]", ["ab", "ab"]),
    ("side effect, once", "import './side.ts';\nimport './side.ts';\nawait import('./side.ts');\nreturn (globalThis as any).touched", 1),
    ("top-level await", "import { value } from './later.ts';\nreturn value", 11),
    ("dynamic", "const m = await import('./lib/math.ts');\nreturn m.default(m.two, 5)", 7),
    ("dynamic by name", "const name = 'math';\nconst m = await import(`./lib/${name}.ts`);\nreturn m.two", 2),
    ("a directory's index", "import { two } from './lib';\nreturn two", 2),
    ("type only", "import type { Box } from './lib/math.ts';\nimport { type Nothing, two } from './lib/index.ts';\nconst b: Box<number> | null = null;\nreturn [b, two]", [None, 2]),
    ("javascript", "import { js } from './plain.js';\nreturn js", "plain"),
    ("import.meta", "return typeof import.meta.url", "string"),
])
def test_modules_of_the_workspace_link(t, name, code, wanted):
    e = t.envelope(code, "--workspace", workspace(t))
    t.true(e["status"] == "completed", "failed: %r" % e.get("error"))
    t.equal(e["result"], wanted, "result")


@table([("a module that throws", "import './throws.ts';", "at load"), ("missing name", "import { three } from './lib/math.ts';\nreturn three", "three"),
        ("missing file", "import './lib/nope.ts';", "nope"), ("above the root", "import '../../etc/passwd';", "etc/passwd"),
        ("url", "import 'https://example.org/x.ts';", "example.org"), ("write to an import", "import { two } from './lib/math.ts';\ntwo = 3;", "")])
def test_a_bad_import_is_a_clear_error(t, name, code, piece):
    e = t.envelope(code, "--workspace", workspace(t))
    t.equal(e["status"] in ("failed", "denied"), True, "it failed")
    t.has(e["error"]["message"] + str(e["error"].get("stack")), piece, "error")
    t.lacks(str(e), t.state, "a host path in the answer")

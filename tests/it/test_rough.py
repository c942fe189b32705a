"""Rough handling: odd surroundings, huge and broken input, sudden ends."""

import os
import signal
import subprocess
import threading
import time

import batch
from harness import table


def shell(t, script, patience=60, env=None):
    """The program as $CAISSON in a shell, for surroundings that only a shell makes."""
    p = subprocess.run(["bash", "-c", script], env=dict(t.env, CAISSON=t.binary, **(env or {})), cwd=t.dir, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=patience)
    t.log.append("$ %s\nstatus %d\n%r\n%r" % (script, p.returncode, p.stdout[-2000:], p.stderr[-2000:]))
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


@table([("stdin closed", "$CAISSON run -e 'return 5' <&-", "5"), ("stderr closed", "$CAISSON run -e 'console.log(1); return 5' 2>&-", "5"),
        ("stdin and stderr closed", "$CAISSON run -e 'return 5' <&- 2>&-", "5"), ("guest, all but stdout closed", "$CAISSON run -l bash -e 'echo 5' <&- 2>&-", "5"),
        ("few descriptors", "ulimit -n 64; $CAISSON run -e 'return 5'", "5"), ("few descriptors, guest", "ulimit -n 256; $CAISSON run -l python -e 'print(5)'", "5"),
        ("no directory", "mkdir gone; cd gone; rmdir ../gone; $CAISSON run -e 'return 5'", "5"), ("open umask", "umask 0; $CAISSON run -e 'return 5'", "5"),
        ("closed umask", "umask 777; $CAISSON run -l bash -e 'echo 5 >f; cat f'", "5"), ("many descriptors", "for i in $(seq 3 60); do eval \"exec $i</dev/null\"; done; $CAISSON run -l bash -e 'ls /proc/self/fd | wc -l'", None),
        ("empty environment", "env -i HOME=$HOME $CAISSON run -e 'return 5'", "5"), ("ignored signals", "trap '' CHLD PIPE TERM INT USR1 ALRM; $CAISSON run -l bash -e 'echo 5'", "5"),
        ("another locale", "LC_ALL=tr_TR.UTF-8 $CAISSON run -e 'return 2.5 * 2'", "5")])
def test_odd_surroundings_change_nothing(t, name, script, wanted):
    status, out, err = shell(t, script)
    t.equal(status, 0, "status (%s)" % err)
    if wanted is not None:
        t.equal(out.strip(), wanted, "stdout")
    else:
        t.true(int(out) <= 6, "descriptors inside: %s" % out)


def test_without_any_place_for_data_it_says_so(t):
    status, _, err = shell(t, "env -i $CAISSON run -e 'return 5'")
    t.true(status in (0, 5), "status %d" % status)
    if status == 5:
        t.has(err, "CAISSON_DATA", "stderr")


BOMBS = [("parentheses", "(" * 200000), ("brackets", "return " + "[" * 200000 + "]" * 200000), ("braces", "{" * 200000 + "}" * 200000),
         ("arrows", "return " + "a=>" * 100000 + "1"), ("templates", "return " + "`${" * 50000 + "1" + "}`" * 50000), ("unary", "return " + "!" * 300000 + "1"),
         ("ternaries", "return " + "1?" * 100000 + "1" + ":1" * 100000), ("generics", "let x: " + "A<" * 100000 + "number" + ">" * 100000 + ";"),
         ("types", "type T = " + "{a:" * 100000 + "1" + "}" * 100000 + ";return 1"), ("conditional types", "type T = " + "A extends B ? " * 50000 + "1"),
         ("chain", "return a" + ".b" * 300000), ("calls", "return f" + "()" * 200000), ("binary", "return " + "1+" * 300000 + "1"), ("strings", "return '" + "x" * 3000000 + "'.length"),
         ("names", "\n".join("const v%d = %d;" % (i, i) for i in range(60000)) + "\nreturn v59999"), ("one name", "const " + "a" * 1000000 + " = 1; return 1"),
         ("comments", "/*" * 500000), ("regex", "return /" + "(" * 50000 + ")" * 50000 + "/.source.length"), ("else", "if (0) {} " + "else if (0) {} " * 50000 + "\nreturn 1"),
         ("imports", "\n".join("import './m%d.ts';" % i for i in range(5000))), ("enum", "enum E {" + ",".join("A%d" % i for i in range(50000)) + "}\nreturn E.A9"),
         ("classes", "class A{" * 20000 + "}" * 20000), ("decorators", "@a" * 50000 + " class A {}"), ("nulls", "\0" * 100000), ("bad utf-8", b"return '\xff\xfe\xc0\x80'.length"),
         ("bom", "\ufeff" * 1000 + "return 1"), ("escapes", "return '" + "\\u{61}" * 100000 + "'.length"), ("line ends", "\r\n" * 300000 + "return 1"), ("too long", "x" * (5 << 20))]


@table(BOMBS)
def test_no_source_text_breaks_anything(t, name, code):
    t.lets_risky_programs_run()
    done = t.caisson("run", "-o", "json", "--timeout", "10s", "-", stdin=code, patience=150)
    t.true(done.status in (0, 1, 2, 4), "status %d: %s" % (done.status, done.err[:300]))
    t.true(done.seconds < 100, "took %.1f s" % done.seconds)
    if done.status == 2:
        t.true(done.err.strip(), "no message")
        return
    error = done.json().get("error")
    if error:
        t.true(error["type"] in ("syntax_error", "runtime_error", "type_error", "resource_error", "timeout_error", "permission_error", "validation_error"), "type %r" % error)
        t.lacks(error["message"], "ended by signal", "message")
        t.true(len(done.out) < 200000, "the answer has %d bytes" % len(done.out))


def test_large_inputs_arrive_whole(t):
    path = t.file("in.json", '{"rows": [' + ",".join('{"i": %d, "s": "%s"}' % (i, "x" * 50) for i in range(40000)) + "]}")
    done = t.run("return [inputs.rows.length, inputs.rows[39999].i]", "--input", "@" + path)
    t.status(done, 0)
    import json
    t.equal(json.loads(done.out), [40000, 39999], "result")


def test_deep_inputs_are_refused(t):
    t.status(t.run("return 1", "--input", "[" * 5000 + "]" * 5000), 2)


@table([("nothing", ""), ("spaces", "  \n\n"), ("a comment", "// nothing"), ("a semicolon", ";")])
def test_an_empty_program_is_a_program(t, name, code):
    done = t.run(code)
    t.status(done, 0)
    t.equal(done.out, "", "stdout")


@table([("not awaited", "for (;;) fs.writeFile('/tmp/a' + Math.random(), 'x'.repeat(1000))"),
        ("a thousand at a time", "for (;;) await Promise.all(Array.from({ length: 1000 }, (_, i) => fs.writeFile('/tmp/a' + i, 'x')))"),
        ("imports", "for (;;) await Promise.all(Array.from({ length: 1000 }, (_, i) => import('/tmp/a' + i + '.ts').catch(() => 0)))")])
def test_an_end_while_files_wait_is_an_end(t, name, code):
    t.lets_risky_programs_run()
    done = t.run("import * as fs from 'node:fs/promises';\n" + code, "--timeout", "500ms")
    t.true(done.status in (1, 3, 4), "status %d" % done.status)
    t.true(done.seconds < 50, "took %.1f s" % done.seconds)


def test_many_at_once_do_not_disturb_each_other(t):
    wrong = []

    def one(n):
        done = t.run("import * as fs from 'node:fs/promises';\nawait fs.writeFile('/tmp/n', String(inputs.n));\nreturn Number(await fs.readFile('/tmp/n', 'utf8')) * 2", "--input", '{"n": %d}' % n)
        if done.status != 0 or done.out != "%d\n" % (2 * n):
            wrong.append((n, done.status, done.out, done.err))

    threads = [threading.Thread(target=one, args=(n,)) for n in range(24)]
    for th in threads:
        th.start()
    for th in threads:
        th.join()
    t.equal(wrong, [], "wrong answers")
    t.equal(scratch(t), [], "scratch left")


def scratch(t):
    top = os.path.join(t.env["XDG_DATA_HOME"], "caisson", "scratch")
    return sorted(os.listdir(top)) if os.path.isdir(top) else []


def start(t, code, language="bash", *options):
    p = subprocess.Popen([t.binary, "run", "--timeout", "60s", "--language", language, *options, "-e", code], env=t.env, cwd=t.dir, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    return p


def named(piece):
    return [c for _, c in batch.processes().values() if piece in c and "caisson run" not in c and "/caisson run" not in c and " run --timeout" not in c]


@table([("SIGKILL", signal.SIGKILL), ("SIGTERM", signal.SIGTERM), ("SIGHUP", signal.SIGHUP)])
def test_a_sudden_end_takes_the_whole_tree_along(t, name, number):
    mark = "caisson-sudden-%d-%s" % (os.getpid(), name)
    p = start(t, "( exec -a %s sleep 50 ) & exec -a %s sleep 50" % (mark, mark))
    for _ in range(600):
        if len(named(mark)) >= 2:
            break
        time.sleep(0.1)
    t.true(named(mark), "the guest never started")
    family = batch.births(batch.descendants(p.pid))
    p.send_signal(number)
    p.wait(60)
    p.stdout.close()
    p.stderr.close()
    for _ in range(600):
        if not named(mark):
            break
        time.sleep(0.1)
    t.equal(named(mark), [], "processes left")
    for _ in range(600):
        if not batch.births(pid for pid, _ in family) & family:
            break
        time.sleep(0.1)
    t.equal(batch.births(pid for pid, _ in family) & family, set(), "children left")


def test_what_a_killed_daemon_left_is_cleared_by_the_next(t):
    p = start(t, "import * as fs from 'node:fs/promises';\nawait fs.writeFile('/workspace/x', 'y'); for (;;);", "typescript")
    for _ in range(600):
        if scratch(t):
            break
        time.sleep(0.1)
    time.sleep(0.2)
    p.kill()
    p.wait()
    p.stdout.close()
    p.stderr.close()
    time.sleep(0.3)
    t.status(t.run("return 1"), 0)
    t.equal(scratch(t), [], "scratch left")
    t.equal(batch.cgroups(p.pid), [], "control groups left")


def test_a_terminated_run_ends_soon_and_not_with_success(t):
    for number in (signal.SIGINT, signal.SIGTERM):
        p = start(t, "import * as fs from 'node:fs/promises';\nawait fs.writeFile('/workspace/x', 'y'); for (;;);", "typescript")
        for _ in range(300):
            if scratch(t):
                break
            time.sleep(0.1)
        t.true(scratch(t), "the program never started")
        p.send_signal(number)
        began = time.monotonic()
        p.communicate(timeout=60)
        t.true(time.monotonic() - began < 30, "took %.1f s to end" % (time.monotonic() - began))
        t.true(p.returncode != 0, "status 0 after signal %d" % number)
        t.equal(batch.cgroups(p.pid), [], "control groups left")
        t.equal(scratch(t), [], "scratch left")


@table([("too many files", "mkdir ws; cd ws; for i in $(seq 300); do :> f$i; done", ["--limit", "scratch_files=100"], "scratch_files"),
        ("too many bytes", "mkdir ws; head -c 3000000 /dev/zero >ws/big", ["--limit", "scratch_bytes=1M"], "scratch_bytes")])
def test_a_workspace_beyond_the_limits_is_told_before_it_runs(t, name, make, options, limit):
    shell(t, make)
    done = t.run("return 'ran'", "-o", "json", "--workspace", t.dir + "/ws", *options)
    t.status(done, 4)
    t.equal(done.json()["error"]["limit"]["name"], limit, "limit")


def test_a_file_that_became_a_directory_comes_out_or_is_an_error(t):
    t.file("ws/a", "file")
    done = t.run("rm a; mkdir a; echo x >a/b; echo y >c", "--workspace", t.dir + "/ws", language="bash")
    t.true(done.status in (0, 1, 5), "status %d" % done.status)
    if done.status == 0:
        t.equal(t.read("ws/a/b"), "x\n", "the new file")
    else:
        t.true("a" in done.err, "no word about it: " + done.err)


def test_a_read_only_workspace_is_an_error_that_says_so(t):
    if os.getuid() == 0:
        t.skip("root can write everywhere")
    t.file("ws/a", "file")
    os.chmod(t.dir + "/ws", 0o555)
    done = t.run("echo x >new", "--workspace", t.dir + "/ws", language="bash")
    t.true(done.status != 0, "status 0, and the file is lost")
    t.has(done.err, "new", "stderr")

"""What a test of the real program needs: its own state directory, a way to run it, and words to judge.

A test is a function whose name starts with `test_` and says as a sentence what holds; it takes one
argument `t`. `@table(rows)` makes one test per row, named by the row's first field.
"""

import fcntl
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import tempfile
import termios
import time

ESCAPES = re.compile(r"\x1b")

# Seconds for what must come. Whoever waits goes on as soon as it has, so only what fails takes so long: a machine that is
# busy with other tests may need most of it.
PATIENCE = 60

# Programs of any risk run at once, with the limits of the lowest: for tests of the language and of the wall.
ANY_RISK = {"risk": {"then": {"HIGH": "allow", "CRITICAL": "allow"},
                     "limits": {level: {"memory": 512 << 20, "cpu": 50, "wall_clock": 300000}
                                for level in ("MEDIUM", "HIGH", "CRITICAL")}}}


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


class Done:
    """A finished run of the program."""

    def __init__(self, argv, status, out, err, seconds):
        self.argv, self.status, self.out, self.err, self.seconds = argv, status, out, err, seconds

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as e:
            raise Failed("not JSON on stdout (%s): %r" % (e, self.out[:500]))

    def __str__(self):
        return "$ %s\nstatus %d, %.2f s\n--- stdout\n%s\n--- stderr\n%s\n" % (
            " ".join(self.argv), self.status, self.seconds, self.out[:20000], self.err[:20000])


def until(t, what, found, patience=PATIENCE):
    """What `found` gives, as soon as it gives anything."""
    end = time.monotonic() + patience
    while True:
        value = found()
        if value:
            return value
        if time.monotonic() > end:
            t.fail("not within %g s: %s" % (patience, what))
        time.sleep(0.02)


def table(rows):
    def mark(function):
        function.rows = rows
        return function
    return mark


class Test:
    def __init__(self, binary, name):
        self.binary, self.name = binary, name
        self.state = tempfile.mkdtemp(prefix="caisson-it-")
        self.dir = os.path.join(self.state, "work")
        self.log = []
        self.replayed = True  # what it ran is replayed after all tests
        os.mkdir(self.dir)
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("CAISSON_", "CODE_EXEC_")) and k not in ("NO_COLOR", "CLICOLOR_FORCE")}
        for variable, place in (("XDG_DATA_HOME", "data"), ("XDG_STATE_HOME", "state"), ("TMPDIR", "tmp"),
                                ("XDG_CACHE_HOME", "cache"), ("XDG_CONFIG_HOME", "config"),
                                ("XDG_RUNTIME_DIR", "run"), ("HOME", "home")):
            self.env[variable] = os.path.join(self.state, place)
            os.mkdir(self.env[variable], 0o700)
        self.env["LC_ALL"] = "C.UTF-8"
        # A program that is sent twice is to run twice; tests of the cache say --cache.ttl.
        self.env["CAISSON_CACHE_TTL"] = "0"
        # Looking for leaks takes seconds at every exit of so large a library; the soak does it once, for all.
        self.env.setdefault("ASAN_OPTIONS", "detect_leaks=0")

    def clear(self):
        subprocess.run(["chmod", "-R", "u+rwx", self.state], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.state, ignore_errors=True)

    # Doing

    def file(self, name, text):
        """A file in the test's directory; returns its path. It is never seen half written."""
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        number, new = tempfile.mkstemp(dir=self.state)
        with open(number, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        os.chmod(new, 0o644)  # whatever the umask: a configuration that anyone can write to is refused
        os.replace(new, path)
        return path

    def read(self, name):
        with open(os.path.join(self.dir, name), "rb") as f:
            return f.read().decode("utf-8", "replace")

    def caisson(self, *argv, stdin=b"", env=None, patience=2 * PATIENCE, prefix=(), cwd=None):
        argv = [*prefix, self.binary, *argv]
        started = time.monotonic()
        try:
            p = subprocess.run(argv, input=stdin if isinstance(stdin, bytes) else stdin.encode(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd or self.dir,
                               env=dict(self.env, **(env or {})), timeout=patience)
        except subprocess.TimeoutExpired as e:
            self.log.append("$ %s\nno end after %d s; stdout %r stderr %r" % (
                " ".join(argv), patience, (e.stdout or b"")[-2000:], (e.stderr or b"")[-2000:]))
            raise Failed("no end after %d s" % patience)
        done = Done(argv, p.returncode, p.stdout.decode("utf-8", "replace"),
                    p.stderr.decode("utf-8", "replace"), time.monotonic() - started)
        self.log.append(str(done))
        return done

    def run(self, code, *options, language=None, **more):
        """`caisson run` of this text."""
        chosen = ("--language", language) if language else ()
        return self.caisson("run", *chosen, *options, "-e", code, **more)

    def envelope(self, code, *options, **more):
        return self.run(code, "-o", "json", *options, **more).json()

    def on_a_terminal(self, *argv, answers=(), patience=2 * PATIENCE, columns=100, env=None):
        """Runs the program with a terminal on all three streams; (status, what the terminal was sent).

        `answers` are pairs: when the first text has come (after that of the pair before), the second is typed; if it is a
        function, it is called.
        """
        started = time.monotonic()
        pid, master = pty.fork()
        if pid == 0:
            try:
                os.chdir(self.dir)
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
                os.execve(self.binary, [self.binary, *argv], dict(self.env, TERM="xterm-256color", **(env or {})))
            finally:
                os._exit(127)
        os.set_inheritable(master, False)
        seen, at, left = b"", 0, list(answers)
        while time.monotonic() - started < patience:
            ready, _, _ = select.select([master], [], [], 0.5)
            if ready:
                try:
                    data = os.read(master, 65536)
                except OSError:
                    break
                if not data:
                    break
                seen += data
            while left and left[0][0].encode() in seen[at:]:
                wanted, typed = left.pop(0)
                at = seen.index(wanted.encode(), at) + len(wanted.encode())
                if callable(typed):
                    typed()
                else:
                    os.write(master, typed.encode())
        else:
            os.kill(pid, 9)
        _, status = os.waitpid(pid, 0)
        os.close(master)
        text = seen.decode("utf-8", "replace")
        status = os.waitstatus_to_exitcode(status)
        self.log.append(str(Done([*argv], status, text, "(a terminal)", time.monotonic() - started)))
        if left:
            raise Failed("nobody asked %r: %.1500r" % (left[0][0], text))
        return status, text

    def lets_risky_programs_run(self):
        """What it sends is risky on purpose, and something else than the judge is tested."""
        self.env["CAISSON_POLICY"] = self.file("any-risk.json", json.dumps(ANY_RISK))

    # Judging

    def skip(self, why):
        raise Skipped(why)

    def fail(self, why):
        raise Failed(why)

    def true(self, value, what):
        if not value:
            raise Failed(what)

    def equal(self, got, wanted, what="value"):
        if got != wanted or type(got) is bool and type(wanted) is not bool:
            raise Failed("%s is %.600r, not %.600r" % (what, got, wanted))

    def has(self, text, piece, what="text"):
        if piece not in text:
            raise Failed("%s lacks %r: %.800r" % (what, piece, text))

    def lacks(self, text, piece, what="text"):
        if piece in text:
            raise Failed("%s contains %r: %.800r" % (what, piece, text))

    def matches(self, text, pattern, what="text"):
        if not re.search(pattern, text or "", re.I | re.S):
            raise Failed("%s does not match /%s/: %.800r" % (what, pattern, text))

    def status(self, done, wanted):
        if done.status != wanted:
            raise Failed("exit status %d, not %d\nstdout: %.600s\nstderr: %.1500s" % (
                done.status, wanted, done.out, done.err))

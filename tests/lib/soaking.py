"""Many executions through one daemon: what the soaks share.

A soak is a plan (what to run, and what must come back) for a `Soak`, which runs it, a few at a time, and judges
what it leaves: no process, open file, mount, control group or temporary file more than before, and memory as
flat as it was after the first fifth.
"""

import argparse
import collections
import json
import os
import shutil
import tempfile
import threading
import time

import batch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MIB = 1 << 20
GROWTH = 8 * MIB  # what the allocator may differ by; a leak of 1 KB per execution is as much


def fails(*kinds):
    def check(e, n):
        return e.get("status") in ("failed", "denied") and (not kinds or e["error"]["type"] in kinds)
    return check


def ends(e, n):
    """Any answer will do: the program may be told no and end well, or be stopped."""
    return e.get("status") in ("completed", "failed", "denied")


# Whoever sends so much that is hostile is asked about, and so are tools that change: not here.
ANY_RISK = {"risk": {"then": {"HIGH": "allow", "CRITICAL": "allow"},
                     "limits": {level: {"memory": 512 << 20, "cpu": 50, "wall_clock": 300000}
                                for level in ("MEDIUM", "HIGH", "CRITICAL")}}}


class Soak:
    """`rows` are (number, name, language, code with {n}, fields of the request, check of the envelope)."""

    def __init__(self, options, rows):
        self.rows, self.at_once = rows, options.at_once
        self.state = tempfile.mkdtemp(prefix="soak-")
        env = dict(os.environ, XDG_DATA_HOME=self.state + "/data", XDG_RUNTIME_DIR=self.state + "/run",
                   XDG_STATE_HOME=self.state + "/state", XDG_CACHE_HOME=self.state + "/cache",
                   TMPDIR=self.state + "/tmp")
        env.setdefault("ASAN_OPTIONS", "quarantine_size_mb=4")
        for d in ("data", "run", "state", "cache", "tmp"):
            os.mkdir(os.path.join(self.state, d))
        self.log = os.path.join(self.state, "stderr.log")
        env["CAISSON_POLICY"] = os.path.join(self.state, "any-risk.json")
        with open(env["CAISSON_POLICY"], "w") as f:
            json.dump(ANY_RISK, f)
        self.prepare()
        self.outside = self.world()
        self.daemon = batch.Batch(os.path.abspath(options.binary), env=env, cwd=self.state, stderr=self.log,
                                  args=("--jobs", str(options.at_once), *options.more.split()))
        self.wrong = collections.Counter()
        self.examples = {}
        self.done = 0
        self.started = time.monotonic()
        self.lock = threading.Lock()

    # What a soak may add.

    def prepare(self):
        """Before the daemon starts: `state` is its working directory."""

    def before(self, row):
        """Before each execution."""

    def rest(self):
        """Before a snapshot: everything that may be started is started."""

    # The rest is the same for all.

    def world(self):
        """What the machine holds besides the daemon."""
        return {"mounts": batch.mounts(), "temporary files": batch.temporary_files()}

    def snapshot(self):
        """The daemon at rest."""
        self.rest()
        batch.settle(self.daemon.pid)
        return {"fds": self.daemon.fds(), "processes": self.daemon.descendants(),
                "state": batch.temporary_files(self.state), "rss": self.daemon.rss(),
                "private": self.daemon.private()}

    def one(self, row):
        n, name, language, code, fields, check = row
        fields = {"timeout_ms": 60000, **fields}
        self.before(row)
        box = self.daemon.send(code.format(n=n), language, inputs={"n": n}, **fields)
        _, envelope, _ = self.daemon.wait(box, 180)
        try:
            fine = check(envelope, n)
        except (KeyError, TypeError):
            fine = False
        with self.lock:
            self.done += 1
            if not fine:
                self.wrong[name] += 1
                self.examples.setdefault(name, str(envelope)[:500])

    def span(self, rows):
        """Runs these, a few at a time."""
        rows = iter(rows)
        problems = []

        def work():
            while True:
                with self.lock:
                    row = next(rows, None)
                if row is None or problems:
                    return
                try:
                    self.one(row)
                except batch.Gone as e:
                    problems.append("execution %d (%s): %s" % (row[0], row[1], e))

        threads = [threading.Thread(target=work, daemon=True) for _ in range(self.at_once)]
        for t in threads:
            t.start()
        last = time.monotonic()
        for t in threads:
            while t.is_alive():
                t.join(0.2)
                if time.monotonic() - last > 10:
                    last = time.monotonic()
                    self.progress()
        if problems:
            raise batch.Gone(problems[0])

    def progress(self):
        print("  %5d of %d, %d/s, daemon %.1f MiB, %d fds, %d processes below it" % (
            self.done, len(self.rows), self.done / (time.monotonic() - self.started), self.daemon.rss() / MIB,
            len(self.daemon.fds()), len(self.daemon.descendants())), flush=True)

    def run(self):
        warm = max(50, len(self.rows) // 5)
        self.started = time.monotonic()
        self.span(self.rows[:warm])
        early = self.snapshot()
        self.span(self.rows[warm:])
        self.progress()
        late = self.snapshot()
        pid = self.daemon.pid
        status = self.daemon.close(120)
        end = time.monotonic() + 30
        while self.left_outside(pid) and time.monotonic() < end:
            time.sleep(0.2)
        return self.judge(early, late, pid, status)

    def judge(self, early, late, pid, status):
        problems = []
        for name, times in self.wrong.items():
            problems.append("%s: %d unexpected answers, such as %s" % (name, times, self.examples[name]))
        for what in ("fds", "processes"):
            extra = len(late[what]) - len(early[what])
            if extra > (2 if what == "processes" else 0):  # a worker may be on its way into the pool
                problems.append("%d more %s than after the first fifth: %s" % (
                    extra, what, collections.Counter(late[what].values()).most_common(8)))
        zombies = [c for c in late["processes"].values() if "zombie" in c]
        if len(zombies) > 2:
            problems.append("%d zombies" % len(zombies))
        grown = late["private"] - early["private"]
        if grown > GROWTH:
            problems.append("memory grew by %.1f MiB since the first fifth" % (grown / MIB))
        if status != 0:
            problems.append("the daemon ended with %r" % status)
        problems += self.files_left(early, late) + self.left_outside(pid)
        print("  memory after a fifth %.1f MiB, at the end %.1f MiB (private %.1f and %.1f); %d and %d fds" % (
            early["rss"] / MIB, late["rss"] / MIB, early["private"] / MIB, late["private"] / MIB,
            len(early["fds"]), len(late["fds"])))
        return problems

    def files_left(self, early, late):
        new = [f for f in late["state"] - early["state"] if not f.endswith(("-wal", "-shm", "-journal"))]
        return ["%d files left in the state directory: %s" % (len(new), sorted(new)[:5])] if new else []

    def left_outside(self, pid):
        problems = []
        for p, (_, command) in batch.processes().items():
            if "caisson-surviv-soak" in command or self.state in command:
                problems.append("process %d is left: %s" % (p, command))
        now = self.world()
        for what in ("mounts", "temporary files"):
            extra = set(now[what]) - set(self.outside[what])
            if extra:
                problems.append("%s left: %s" % (what, sorted(extra)[:5]))
        groups = batch.cgroups(pid)
        if groups:
            problems.append("%d control groups left: %s" % (len(groups), groups[:5]))
        return problems

    def clear(self, failed):
        if self.daemon.alive():
            self.daemon.kill()
        if failed:
            print("  the daemon's log: %s" % self.log)
        else:
            shutil.rmtree(self.state, ignore_errors=True)


def arguments(doc, count, *more):
    """The options that all soaks have, and those of this one: (name, help)."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "caisson"))
    parser.add_argument("--at-once", type=int, default=4, help="requests under way at a time (default: 4)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--with", dest="more", default="", metavar="OPTIONS", help="more options for `caisson run`")
    for name, text in more:
        parser.add_argument(name, help=text)
    options = parser.parse_args()
    if not os.access(options.binary, os.X_OK):
        parser.error("there is no program at %s: run make first" % options.binary)
    return options


def run(soak):
    """Runs it; the exit status."""
    problems = ["did not end"]
    try:
        problems = soak.run()
    except batch.Gone as e:
        problems = [str(e)]
    except KeyboardInterrupt:
        problems = ["interrupted"]
    finally:
        soak.clear(problems)
    for p in problems:
        print("FAIL " + p)
    print("%d executions, %d problems, %.0f s" % (soak.done, len(problems), time.monotonic() - soak.started))
    return 1 if problems else 0

"""One daemon, many executions: the client side of `caisson run --batch`.

The daemon reads one JSON request per line and writes one envelope per line. Its pid, memory, open
files and processor time can then be watched from outside over any number of executions.
"""

import glob
import json
import os
import queue
import re
import signal
import subprocess
import threading
import time


class Gone(Exception):
    """The daemon ended, or did not answer in time."""


class Batch:
    """A running daemon. Requests may be under way at once; answers are matched by their id."""

    def __init__(self, binary, env=None, cwd=None, pass_fds=(), args=(), stderr=None):
        self._stderr = open(stderr, "ab") if stderr else subprocess.DEVNULL
        self.process = subprocess.Popen(
            [binary, "run", "--batch", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._stderr, env=env, cwd=cwd, pass_fds=pass_fds, start_new_session=True)
        self.pid = self.process.pid
        self._next = 0
        self._lock = threading.Lock()
        self._waiting = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            try:
                answer = json.loads(line)
            except ValueError:
                answer = {"status": "unreadable", "raw": line[:2000].decode("utf-8", "replace")}
            with self._lock:
                key = answer.get("id")
                if key not in self._waiting and len(self._waiting) == 1:
                    key = next(iter(self._waiting))
                box = self._waiting.pop(key, None)
            if box is not None:
                box.put((line, answer, time.monotonic()))
        with self._lock:
            boxes, self._waiting = list(self._waiting.values()), {}
        for box in boxes:
            box.put(None)

    def send(self, code, language="typescript", **fields):
        """Sends a request; the value goes to `wait`."""
        box = queue.Queue()
        with self._lock:
            self._next += 1
            key = "r%d" % self._next
            self._waiting[key] = box
        request = {"id": key, "code": code, "language": language, **fields}
        data = json.dumps(request).encode() + b"\n"
        box.sent = time.monotonic()
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            with self._lock:
                self._waiting.pop(key, None)
            raise Gone("the daemon closed its input (%s)" % self.how_it_ended())
        return box

    def wait(self, box, patience=60):
        """The answer to a request: (line, envelope, seconds)."""
        try:
            got = box.get(timeout=max(0.01, box.sent + patience - time.monotonic()))
        except queue.Empty:
            raise Gone("no answer after %g s" % patience)
        if got is None:
            raise Gone("the daemon ended (%s)" % self.how_it_ended())
        line, answer, at = got
        return line, answer, at - box.sent

    def ask(self, code, language="typescript", patience=60, **fields):
        return self.wait(self.send(code, language, **fields), patience)

    def alive(self):
        return self.process.poll() is None

    def how_it_ended(self):
        try:
            status = self.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return "still running"
        return "signal %d" % -status if status < 0 else "exit status %d" % status

    def close(self, patience=60):
        """Ends the daemon the polite way; returns its exit status, or None if it had to be killed."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            status = self.process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self.kill()
            status = None
        self._reader.join(timeout=5)
        self.process.stdout.close()
        if self._stderr is not subprocess.DEVNULL:
            self._stderr.close()
        return status

    def kill(self):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    # What can be seen of the daemon from outside.

    def _status_kb(self, name):
        try:
            with open("/proc/%d/status" % self.pid) as f:
                for line in f:
                    if line.startswith(name + ":"):
                        return int(line.split()[1])
        except OSError:
            pass
        return 0

    def rss(self):
        return self._status_kb("VmRSS") * 1024

    def private(self):
        """Anonymous memory: what a leak would add to."""
        return self._status_kb("RssAnon") * 1024

    def peak_rss(self):
        return self._status_kb("VmHWM") * 1024

    def reset_peak(self):
        try:
            with open("/proc/%d/clear_refs" % self.pid, "w") as f:
                f.write("5")
            return True
        except OSError:
            return False

    def cpu_ms(self):
        try:
            with open("/proc/%d/stat" % self.pid) as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except OSError:
            return 0
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def fds(self):
        try:
            return {n: _link("/proc/%d/fd/%s" % (self.pid, n))
                    for n in os.listdir("/proc/%d/fd" % self.pid)}
        except OSError:
            return {}

    def descendants(self):
        return descendants(self.pid)


def _link(path):
    try:
        return os.readlink(path)
    except OSError:
        return "?"


def processes():
    """pid -> (parent, command line or name) of everything that runs."""
    seen = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % entry) as f:
                text = f.read()
            with open("/proc/%s/cmdline" % entry, "rb") as f:
                line = f.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        except OSError:
            continue
        name = text[text.index("(") + 1:text.rindex(")")]
        state, parent = text.rsplit(")", 1)[1].split()[:2]
        seen[int(entry)] = (int(parent), line or "[%s]%s" % (name, " zombie" if state == "Z" else ""))
    return seen


def descendants(pid):
    """pid -> command line of all processes below `pid`."""
    table = processes()
    children = {}
    for p, (parent, _) in table.items():
        children.setdefault(parent, []).append(p)
    found, todo = {}, [pid]
    while todo:
        for child in children.get(todo.pop(), ()):
            found[child] = table[child][1]
            todo.append(child)
    return found


def births(pids):
    """Those of these processes that are alive, each with when it began: a number may be another's later."""
    found = set()
    for pid in pids:
        try:
            with open("/proc/%d/stat" % pid) as f:
                rest = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if rest[0] != "Z":
            found.add((pid, int(rest[19])))
    return found


def settle(pid, patience=60):
    """Until a daemon has opened and started nothing for a second: its pool is filled again."""
    def count():
        try:
            return len(os.listdir("/proc/%d/fd" % pid)), len(descendants(pid))
        except OSError:
            return None
    end, seen, since = time.monotonic() + patience, count(), time.monotonic()
    while time.monotonic() < min(end, since + 1):
        time.sleep(0.1)
        now = count()
        if now != seen:
            seen, since = now, time.monotonic()


def cgroups(pid=None):
    """The control groups of the daemon `pid` (or of any), as directories: caisson-PID-RANDOM."""
    found, prefix = [], "caisson-%d-" % pid if pid else "caisson-"
    for root, dirs, _ in os.walk("/sys/fs/cgroup"):
        for d in dirs:
            if d.startswith(prefix):
                found.append(os.path.join(root, d))
    return found


def cgroup_pids(path):
    pids = []
    for root, _, files in os.walk(path):
        if "cgroup.procs" in files:
            try:
                with open(os.path.join(root, "cgroup.procs")) as f:
                    pids += [int(x) for x in f.read().split()]
            except OSError:
                pass
    return pids


def temporary_files(*more):
    """Files a careless engine would leave: by name in the shared places, everything in `more`.

    What other tests plant beside us is not the engine's.
    """
    found = set()
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/run"):
        found.update(glob.glob(place + "/*caisson*"))
        found.update(glob.glob(place + "/.*caisson*"))
    found = {f for f in found if not re.search("/caisson-(canary|escape-|it-|again-|bench-|unit-)", f)}
    for top in more:
        for root, dirs, files in os.walk(top):
            found.update(os.path.join(root, n) for n in dirs + files)
    return found


def mounts():
    with open("/proc/self/mountinfo") as f:
        return [line.split()[4] for line in f]

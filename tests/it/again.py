"""Everything that tests have run, gathered into one store and replayed by one process.

A test has a state directory of its own, which is gone when it is over. What it put on record (rows, journals, blobs) is
copied into the store here before that; in the end `caisson replay --all` must come to the same outputs for all of it.
"""

import glob
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import threading

MOST_SANITIZED = 400  # of a sanitized build, which takes ten times as long


class Gathered:
    def __init__(self, binary):
        self.binary, self.lock = binary, threading.Lock()
        self.dir = tempfile.mkdtemp(prefix="caisson-again-")
        self.env = dict(os.environ, CAISSON_DATA=self.dir, CAISSON_CONFIG=os.path.join(self.dir, "caisson.json"),
                        ASAN_OPTIONS="detect_leaks=0")
        with open(self.env["CAISSON_CONFIG"], "w") as f:
            f.write("{}")
        self.rows, self.journals, self.names = [], [], {}
        with open(binary, "rb") as f:
            self.sanitized = b"__asan_init" in f.read()

    def add(self, t):
        """A test has ended well."""
        for path in glob.glob(os.path.join(t.state, "**", "caisson.db"), recursive=True):
            try:
                db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
                rows = db.execute("SELECT id, status, language, created, finished, envelope FROM executions WHERE "
                                  "language = 'typescript' AND envelope <> ''").fetchall()
                journals = db.execute("SELECT execution, part FROM journals ORDER BY seq").fetchall()
                db.close()
            except sqlite3.Error:
                continue  # a test of damaged or old stores
            with self.lock:
                self.rows += [r for r in rows if '"replayable":false' not in r[5]]
                self.names.update((r[0], t.name) for r in rows)
                self.journals += journals
                blobs = os.path.join(os.path.dirname(path), "blobs")
                if os.path.isdir(blobs):
                    shutil.copytree(blobs, os.path.join(self.dir, "blobs"), dirs_exist_ok=True)

    def caisson(self, *argv, patience):
        return subprocess.run([self.binary, *argv], env=self.env, cwd=self.dir, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=patience)

    def replay(self):
        """What is different, a line each; and how many were replayed."""
        if not self.rows:
            return [], 0
        made = self.caisson("run", "-q", "-e", "return 1", patience=60)
        if made.returncode:
            return ["no store: %s" % made.stderr.decode("utf-8", "replace")], 0
        rows = self.rows
        if self.sanitized and len(rows) > MOST_SANITIZED:
            rows = rows[::len(rows) // MOST_SANITIZED + 1]
        db = sqlite3.connect(os.path.join(self.dir, "caisson.db"))
        db.executemany("INSERT OR IGNORE INTO executions (id, tenant, principal, session, status, language, intent, key, "
                       "fingerprint, created, finished, envelope) VALUES (?, 'default', 'local', '', ?, ?, '', '', '', ?, ?, ?)",
                       rows)
        db.executemany("INSERT INTO journals (execution, part) VALUES (?, ?)", self.journals)
        db.commit()
        db.close()
        done = self.caisson("replay", "--all", "-o", "json", patience=900)
        try:
            report = json.loads(done.stdout)
        except ValueError:
            return ["replay --all: %s" % done.stderr.decode("utf-8", "replace")[-2000:]], 0
        wrong = []
        for one in report["reports"]:
            said = one.get("error") or json.dumps({k: one[k] for k in ("recorded", "replayed", "diverged", "differences")})
            wrong.append("%s, %s: %s" % (self.names.get(one["execution_id"], "?"), one["execution_id"], said[:1500]))
        return wrong, report["replayed"]

    def clear(self):
        shutil.rmtree(self.dir, ignore_errors=True)

"""Host checks of the ledger: what a case did is on record, as it was, and nothing else is.

The ledger holds no values. What a case looks for by its text is looked for by the hash of the arguments
that the fixture has seen.
"""

import hashlib
import json
import subprocess

EVENTS = {"execution.admitted", "execution.assessed", "execution.imported", "execution.started", "execution.refused",
          "execution.resumed", "execution.settled", "call.made", "alert.raised"}


def hash_of(arguments):
    """As canonical JSON: the fixture gets nothing whose form would differ (numbers are whole, names ASCII)."""
    text = json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Audit:
    def __init__(self, binary, env, cwd):
        self.binary, self.env, self.cwd = binary, env, cwd
        lines = self.ask("tail", "-n", "1", "-o", "json").stdout.splitlines()
        self.last = json.loads(lines[-1])["seq"] if lines else 0

    def ask(self, *words):
        return subprocess.run([self.binary, "audit", *words], env=self.env, cwd=self.cwd, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)

    def read(self):
        """What was written since, and the bytes of it."""
        export = self.ask("export", "--from", str(self.last + 1))
        if export.returncode != 0:
            raise ValueError("no export: %s" % export.stderr[-300:].decode("utf-8", "replace"))
        lines = [json.loads(line) for line in export.stdout.split(b"\n")[1:-1]]
        return [e for e in lines if "checkpoint" not in e], export.stdout

    def check(self, name, argument, envelope, seen):
        """What is wrong, or None. `seen`: the calls that the fixture has had."""
        try:
            entries, raw = self.read()
        except ValueError as e:
            return str(e)
        mine = [e for e in entries if e.get("execution") == envelope.get("execution_id")]
        calls = [e["data"] for e in mine if e["event"] == "call.made"]
        hashes = {c["argument_hash"] for c in calls}
        if not mine:
            return "it is not on record"
        return getattr(self, name)(argument, entries, raw, calls, hashes, seen)

    def audit_intact(self, _argument, _entries, _raw, calls, _hashes, seen):
        done = self.ask("verify")
        if done.returncode != 0:
            return done.stderr[-300:].decode("utf-8", "replace")
        return "%d calls are on record, and the fixture had %d" % (len(calls), len(seen)) if len(calls) < len(seen) else None

    def audit_no_forged_event(self, _argument, entries, _raw, _calls, _hashes, _seen):
        odd = [e["event"] for e in entries if e["event"] not in EVENTS]
        return "there are other events: %s" % odd if odd else None

    def audit_no_control_chars(self, _argument, _entries, raw, _calls, _hashes, _seen):
        odd = sorted({c for c in raw.decode("utf-8") if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or
                                                                      c in "\u2028\u2029\u202a\u202b\u202c\u202d\u202e")})
        return "it holds %r" % odd if odd else None

    def audit_has(self, argument, _entries, _raw, _calls, hashes, seen):
        wanted = argument.removesuffix("_or_never_executed")
        executed = [hash_of(c["arguments"]) for c in seen if wanted in json.dumps(c["arguments"])]
        if not executed and wanted != argument:
            return None
        return None if executed and set(executed) <= hashes else "%s is not on record" % wanted

    def audit_has_digest_and_length(self, _argument, _entries, _raw, calls, hashes, seen):
        if not calls:
            return "no call is on record"
        for c in seen:
            size = len(json.dumps(c["arguments"], separators=(",", ":")))
            if hash_of(c["arguments"]) not in hashes or not any(x["argument_bytes"] >= size - 2 for x in calls):
                return "a call of %d bytes is not on record as it was" % size
        return None

    def audit_principal_unchanged(self, _argument, entries, _raw, _calls, _hashes, _seen):
        others = sorted({e.get("principal", "") for e in entries if "execution" in e} - {"local"})
        return "entries of %s" % others if others else None

    def audit_args_equal_executed_args(self, _argument, _entries, _raw, _calls, hashes, seen):
        odd = [c["arguments"] for c in seen if hash_of(c["arguments"]) not in hashes]
        return "executed, and not on record: %s" % odd if odd else None

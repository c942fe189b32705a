"""Every program in examples/ runs, and prints what examples/<name>.out says."""

import glob
import os

from harness import table

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Examples that show what an error looks like: exit status, what stderr must say.
MISTAKES = {"errors.ts": (1, "await")}


def rows():
    found = sorted(f for ext in ("ts", "py", "sh") for f in glob.glob(os.path.join(ROOT, "examples", "*." + ext)))
    return [(os.path.basename(f), f) for f in found] or [("none", None)]


@table(rows)
def test_an_example_works_as_written(t, name, path):
    if path is None:
        t.skip("there are no examples yet")
    base = os.path.splitext(path)[0]
    options = []
    for suffix in (".json", ".input.json"):
        if os.path.exists(base + suffix):
            options += ["--input", "@" + base + suffix]
    if os.path.isdir(base):
        import shutil
        shutil.copytree(base, t.dir + "/ws")
        options += ["--workspace", t.dir + "/ws"]
    done = t.caisson("run", *options, path)
    status, says = MISTAKES.get(name, (0, ""))
    t.status(done, status)
    t.has(done.err, says, "stderr")
    if os.path.exists(base + ".out"):
        with open(base + ".out") as f:
            t.equal(done.out, f.read(), "stdout")

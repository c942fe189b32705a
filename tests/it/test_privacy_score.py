"""How much is found of what should be, and how much of what should not: figures that must hold.

With the labelled data of ../shared (CAISSON_SHARED names another place) by its own scorer; and always with layouts of our own,
filled with people who do not exist."""

import gzip
import json
import os
import re
import subprocess
import sys

from harness import table
from people import TYPES, Person

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("CAISSON_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
PII = os.path.join(SHARED, "data", "pii")
OURS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "privacy")

# Overlap F1 at MEDIUM.
F1 = {"EMAIL": .99, "JWT": .99, "IBAN": .99, "SSN": .98, "PRIVATE_KEY": .98, "CREDIT_CARD": .97, "IP": .97, "PHONE": .95,
      "DOB": .94, "API_KEY": .92, "ADDRESS": .88, "PASSWORD": .85, "PERSON": .85, "all": .91}
BOUNDS = {
    "medium": [*[("--min", "overlap.f1.%s" % kind, v) for kind, v in F1.items()],
               ("--max", "leak", .08), ("--max", "fp_per_mb", 200)],
    "high": [("--max", "leak", .05), ("--max", "fp_per_mb", 1000)],
    "low": [("--max", "fp_per_mb", 20)],
}

# Of our own layouts, which are plainer.
OUR_RECALL, OUR_PRECISION = .97, .95
OUR_ALARMS = {"low": 0, "medium": 2, "high": 6}


def scan(t, lines, level):
    done = t.caisson("privacy", "scan", "--jsonl", "--level", level, "-", stdin=lines, patience=600)
    t.status(done, 0)
    return done.out


@table([("medium",), ("high",), ("low",)])
def test_the_labelled_data_is_found_as_well_as_promised(t, level):
    gold = os.path.join(PII, "dev.jsonl.gz")
    if not os.path.exists(gold):
        t.skip("the labelled data is not here (../shared/data/pii, or CAISSON_SHARED)")
    with gzip.open(gold, "rb") as f:
        found = t.file("found.jsonl", scan(t, f.read(), level))
    bounds = [word for how, name, value in BOUNDS[level] for word in (how, "%s=%g" % (name, value))]
    scored = subprocess.run([sys.executable, os.path.join(PII, "score.py"), gold, found, *bounds],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
    t.log.append(scored.stdout.decode())
    t.true(scored.returncode == 0, "at %s:\n%s" % (level, scored.stdout.decode()))


def fill(layout, person):
    """The text, and what is in it as (start, end, type), in bytes."""
    text, spans, at = b"", [], 0
    for hole in re.finditer(r"\{(%s|pemline)\}" % "|".join(TYPES), layout):
        text += layout[at:hole.start()].encode()
        field = hole.group(1)
        value = person.pem.replace("\n", "\\n") if field == "pemline" else getattr(person, field)
        spans.append((len(text), len(text) + len(value.encode()), TYPES["pem" if field == "pemline" else field]))
        text += value.encode()
        at = hole.end()
    return (text + layout[at:].encode()).decode(), spans


def read(name):
    with open(os.path.join(OURS, name), encoding="utf-8") as f:
        return [json.loads(line)["text"] for line in f]


def overlap(a, b):
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


def found_in(t, texts, level):
    """One list of (start, end, type) for each text."""
    lines = "".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(texts))
    answers = {}
    for line in scan(t, lines, level).splitlines():
        answer = json.loads(line)
        answers[int(answer["id"])] = [(s["start"], s["end"], s["type"]) for s in answer["spans"]]
    t.equal(sorted(answers), list(range(len(texts))), "ids that were answered")
    return [answers[i] for i in range(len(texts))]


def describe(text, span):
    return "%s %r in %.120r" % (span[2], text.encode()[span[0]:span[1]].decode("utf-8", "replace"), text)


def test_people_in_many_layouts_are_found(t):
    filled = [fill(layout, Person(n * 100 + i)) for i, layout in enumerate(read("layouts.jsonl")) for n in range(3)]
    found = found_in(t, [text for text, _ in filled], "medium")
    missed, alarms, wanted, given = [], [], 0, 0
    for (text, gold), spans in zip(filled, found):
        wanted += len(gold)
        given += len(spans)
        for g in gold:
            if sum(overlap(g, s) for s in spans) * 2 < g[1] - g[0]:
                missed.append(describe(text, g))
        for s in spans:
            if sum(overlap(g, s) for g in gold) * 2 < s[1] - s[0]:
                alarms.append(describe(text, s))
    recall, precision = 1 - len(missed) / wanted, 1 - len(alarms) / max(given, 1)
    t.true(recall >= OUR_RECALL and precision >= OUR_PRECISION,
           "recall %.3f (at least %.2f), precision %.3f (at least %.2f)\nmissed:\n  %s\nfalse alarms:\n  %s" % (
               recall, OUR_RECALL, precision, OUR_PRECISION, "\n  ".join(missed[:30]), "\n  ".join(alarms[:30])))


@table([("low",), ("medium",), ("high",)])
def test_what_only_looks_like_it_is_left_alone(t, level):
    texts = read("clean.jsonl")
    alarms = [describe(text, s) for text, spans in zip(texts, found_in(t, texts, level)) for s in spans]
    t.true(len(alarms) <= OUR_ALARMS[level], "%d false alarms at %s:\n  %s" % (len(alarms), level, "\n  ".join(alarms)))

"""The TypeScript tree: what real and nasty tool definitions become is accepted by a type checker, our compiler and the engine."""

import glob
import json
import os
import re
import subprocess
import time

from harness import Failed

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHARED = os.environ.get("CAISSON_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
TSC = os.path.join(HERE, "peers", "node_modules", ".bin", "tsc")
MINE = sorted(glob.glob(os.path.join(HERE, "data", "declare", "*.json")))
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")

DRIVES_TOOLS = True  # of the test build; the program itself is not in it


def tool(t):
    for build in (os.environ.get("CAISSON_BUILD"), "build/dev", "build/bench"):
        path = build and os.path.join(ROOT, build, "tests", "declare_tree")
        if path and os.access(path, os.X_OK):
            return path
    t.skip("declare_tree is not built: cmake --build build/dev")


def count(files):
    total = 0
    for path in files:
        with open(path, encoding="utf-8") as f:
            total += len(json.load(f)["tools"])
    return total


def generate(t, files, patience=120):
    """The tree of these toolset files, beneath the test's directory."""
    tree = os.path.join(t.dir, "tree")
    os.mkdir(tree)
    started = time.monotonic()
    p = subprocess.run([tool(t), tree, *files], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=t.env, text=True,
                       timeout=patience)
    t.log.append(p.stdout[-20000:])
    t.equal(p.returncode, 0, "status of declare_tree (%s)" % p.stdout[-500:])
    words = p.stdout.strip().split("\n")[-1].split()
    return tree, dict(zip(words[::2], map(int, words[1::2]))), time.monotonic() - started


def tools_of(tree):
    """(directory, identifier, text) of every tool's file."""
    for path in sorted(glob.glob(tree + "/*/*.ts")):
        name = os.path.basename(path)[:-3]
        if name != "index":
            with open(path, encoding="utf-8") as f:
                yield os.path.dirname(path), name, f.read()


def write_examples(t, tree):
    """Each example as a program of its own that imports the function."""
    for directory, name, text in tools_of(tree):
        example = re.search(r"\n \* @example\n \* (.*)\n \*/\n", text)
        t.true(example, "%s/%s has no example" % (directory, name))
        server = os.path.basename(directory)
        t.file("examples/%s/%s.ts" % (server, name),
               'import { %s } from "../../tree/%s/%s";\n%s\nexport {};\n' % (name, server, name, example[1]))


def check_types(t, *include):
    if not os.access(TSC, os.X_OK):
        t.skip("there is no tsc: npm ci in tests/it/peers")
    t.file("tsconfig.json", json.dumps({"compilerOptions": {
        "noEmit": True, "strict": True, "target": "es2023", "module": "esnext", "moduleResolution": "bundler", "types": []},
        "include": list(include)}))
    p = subprocess.run([TSC, "-p", t.dir], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    return [line for line in p.stdout.split("\n") if "error" in line]


def check_tree(t, tree):
    """What holds for every tree, whatever it was made of."""
    seen = {}
    for directory, name, text in tools_of(tree):
        where = "%s/%s" % (os.path.basename(directory), name)
        if HIDDEN.search(text):
            raise Failed("%s has the hidden character %r" % (where, HIDDEN.search(text)[0]))
        for tag in ("@category", "@riskLevel", "@example"):
            t.equal(len(re.findall(r"^ \* %s\b" % tag, text, re.M)), 1, "number of %s in %s" % (tag, where))
        exported = re.findall(r"^export (?:type|async function) ([^\s(=]+)", text, re.M)
        t.true(len(exported) >= 3, "%s exports only %s" % (where, exported))
        for one in exported + ["file:" + name.lower()]:
            key = (directory, one)
            if key in seen and seen[key] != where:
                raise Failed("%s and %s both have %s" % (seen[key], where, one))
            seen[key] = where


def accepted(t, files):
    tree, counts, _ = generate(t, files)
    check_tree(t, tree)
    write_examples(t, tree)
    errors = check_types(t, "tree", "examples")
    t.equal(errors[:5], [], "errors of tsc")
    return tree, counts


def test_nasty_definitions_pass_the_type_checker(t):
    wanted = count(MINE)
    t.true(wanted > 150, "the definitions are not there")
    _, counts = accepted(t, MINE)
    t.equal(counts["tools"], wanted, "tools with a file")


def test_all_real_definitions_pass_the_type_checker(t):
    files = sorted(glob.glob(os.path.join(SHARED, "data", "toolsets", "**", "*.json"), recursive=True))
    if not files:
        t.skip("there are no toolsets beside the project; the definitions in tests/it/data cover the same code")
    wanted = count(files)
    _, counts = accepted(t, files)
    t.equal(counts["tools"], wanted, "tools with a file")


def test_the_type_checker_sees_mistakes_of_a_program_and_no_others(t):
    generate(t, MINE)
    t.file("programs/good.ts", """\
import { listCommits, type ListCommitsInput } from "../tree/nasty-names/index";
import recursive from "../tree/nasty-keywords/recursive";
const args: ListCommitsInput = { q: "x" };
const found = await searchTools("create issue", { limit: 3, detail: "summary", server: "github", offset: 2 });
const text: string = await readToolDefinition(found.tools[0].path);
const all = await Promise.all([listCommits(args), tools.nastyNames.createPR({ q: text }), nastyNames.listCommits(args)]);
await recursive({ tree: { value: "a", children: [{ value: "b" }] }, list: { head: 1, tail: null }, json: [1, { a: null }] });
try { state.count = (state.count ?? 0) + inputs.n; } catch (e) {
  if (e instanceof ToolError) console.log(e.server, e.tool, e.code, e.retryable, e.message);
}
console.log(all.length, new URL("https://example.com").host, structuredClone(args), await caisson.callTool("s", "t", {}));
export default all;
""".replace("tools.nastyNames.createPR", "tools.nastyNames.CreatePR"))
    t.equal(check_types(t, "tree/caisson.d.ts", "programs/good.ts"), [], "errors of tsc")
    wrong = {
        "missing": 'tools.nastyNames.listCommits({});', "misspelt": 'tools.nastyNames.listCommits({ qq: "x" });',
        "type": 'tools.nastyNames.listCommits({ q: 7 });', "tool": 'tools.nastyNames.listComits({ q: "x" });',
        "server": 'tools.nastyNam.listCommits({ q: "x" });', "enum": 'tools.nastyKeywords.consts({} as never).then(() => 0); '
        'const a: Parameters<typeof tools.nastyKeywords.consts>[0]["a"] = "other";',
    }
    for name, code in wrong.items():
        t.file("programs/%s.ts" % name, code + "\nexport {};\n")
    errors = "\n".join(check_types(t, "tree/caisson.d.ts", "programs"))
    for name in wrong:
        t.has(errors, "programs/%s.ts" % name, "errors of tsc")
    t.lacks(errors, "good.ts", "errors of tsc")


def test_the_readme_of_the_tree_is_short_and_names_the_servers(t):
    tree, _, _ = generate(t, MINE)
    text = t.read("tree/README.md")
    for word in ("searchTools", "readToolDefinition", "import {", "Promise.all", "ToolError"):
        t.has(text, word, "README.md")
    for server in os.listdir(tree):
        if os.path.isdir(os.path.join(tree, server)):
            t.matches(text, r"%s \(\d+\)" % server, "README.md")
    t.true(len(text) < 1000, "README.md has %d bytes" % len(text))


def hostile():
    string = {"type": "string"}
    deep = near = names = lists = string
    for _ in range(200):
        deep = {"type": "object", "properties": {"a": deep}, "required": ["a"]}
    for _ in range(50):
        near = {"type": "object", "properties": {"a": near, "b": string}, "required": ["a"]}
    for _ in range(9):
        names = {"type": "object", "propertyNames": {"enum": ["k%d" % i for i in range(30)]}, "additionalProperties": names}
        lists = {"type": ["object"] * 30, "properties": {"a": lists}}
    many = {"p%d" % i: {"type": "string", "description": "number %d" % i} for i in range(10000)}
    halves = {"d%d" % i: {"type": "object", "properties": {k: {"$ref": "#/$defs/d%d" % (i + 1)} for k in "ab"},
                          "required": ["a", "b"]} for i in range(60)}
    unions = {"u%d" % i: {"anyOf": [{"$ref": "#/$defs/u%d" % (i + 1)}, {"$ref": "#/$defs/u%d" % (i + 2)}]} for i in range(60)}
    boths = {"b%d" % i: {"allOf": [{"$ref": "#/$defs/b%d" % (i + 1)}, {"$ref": "#/$defs/b%d" % (i + 2)}]} for i in range(60)}
    chain = {"c%d" % i: {"$ref": "#/$defs/c%d" % (i + 1)} for i in range(15000)}
    yield "deep", deep
    yield "near", near
    yield "manyProperties", {"type": "object", "properties": many, "required": list(many)}
    yield "manyValues", {"type": "object", "properties": {"e": {"enum": ["value %d" % i for i in range(50000)]}}, "required": ["e"]}
    yield "manyAlternatives", {"type": "object", "properties": {"a": {"anyOf": [
        {"type": "object", "properties": {"p%d" % i: string}, "required": ["p%d" % i]} for i in range(2000)]}}}
    yield "manyParts", {"allOf": [{"type": "object", "properties": {"p%d" % i: string}} for i in range(2000)]}
    yield "manyConditions", {"type": "object", "properties": {"a": string}, "dependentSchemas": {
        "k%d" % i: {"properties": {"p%d" % i: string}} for i in range(2000)}}
    yield "halves", {"$ref": "#/$defs/d0", "$defs": halves}
    yield "unions", {"type": "object", "properties": {"a": {"$ref": "#/$defs/u0"}}, "required": ["a"], "$defs": unions}
    yield "boths", {"type": "object", "properties": {"a": {"$ref": "#/$defs/b0"}}, "required": ["a"], "$defs": boths}
    yield "chain", {"type": "object", "properties": {"a": {"$ref": "#/$defs/c0"}}, "$defs": chain}
    yield "wideDefs", {"type": "object", "properties": {"p%d" % i: {"$ref": "#/$defs/d%d" % i} for i in range(12000)},
                       "$defs": {"d%d" % i: {"type": "object", "properties": {"a": string, "b": string, "c": string}}
                                 for i in range(12000)}}
    yield "sameHints", {"type": "object", "properties": {"p%d" % i: {"$ref": "#/x%d/same" % i} for i in range(900)},
                        **{"x%d" % i: {"same": {"type": "object", "properties": {"me": {"$ref": "#/x%d/same" % i}}}} for i in range(900)}}
    yield "names", names
    yield "lists", lists
    yield "patterns", {"type": "object", "properties": {
        p: {"type": "string", "pattern": p} for p in ("(" * 10000, "(a{1000}){1000}", "(((a+)+)+)+" * 500, "[" * 5000, "a|" * 5000,
                                                      "\\" * 4001, "{" * 1000, "a{99999999999999999999}")}}
    yield "x" * 100000, {"type": "object", "properties": {"y" * 100000: string}, "required": ["y" * 100000]}


def test_a_hostile_definition_costs_only_its_own_tool(t):
    """Bounded in time and size, and what is written is right."""
    tools = [{"name": name, "description": "d*/ " * 1000, "inputSchema": schema} for name, schema in hostile()]
    tools += [{"name": "out " + x["name"][:20], "inputSchema": {}, "outputSchema": x["inputSchema"]} for x in tools]
    tools.append({"name": "innocent", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}})
    for i, one in enumerate(tools):
        t.file("sets/%03d.json" % i, json.dumps({"server": "s%d" % i, "tools": [one]}, separators=(",", ":")))
    tree, counts, seconds = generate(t, sorted(glob.glob(t.dir + "/sets/*.json")))
    t.true(seconds < 60, "it took %.1f s" % seconds)
    t.true(counts["refused"] < len(tools) / 2, "%(refused)d of them were refused" % counts)
    t.true(os.path.exists("%s/s%d/innocent.ts" % (tree, len(tools) - 1)), "the innocent one has no file")
    for _, name, text in tools_of(tree):
        t.true(len(text.encode()) <= 1 << 20, "%s has %d bytes" % (name, len(text)))
    check_tree(t, tree)
    write_examples(t, tree)
    t.equal(check_types(t, "tree", "examples")[:5], [], "errors of tsc")

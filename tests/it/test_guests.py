"""Python, bash and node in the same jail, with the same envelope."""

import shutil

from harness import table


@table([("main", "def main(inputs):\n    return {'sum': inputs['a'] + inputs['b']}", {"sum": 5}),
        ("async main", "async def main(inputs):\n    return inputs['a']", 2),
        ("last printed JSON", "import json\nprint('hello')\nprint(json.dumps([1, 2]))", [1, 2]),
        ("inputs as a global", "import json\nprint(json.dumps(inputs['b']))", 3)])
def test_python_gives_a_result(t, name, code, wanted):
    done = t.run(code, "-o", "json", "--input", '{"a": 2, "b": 3}', language="python")
    e = done.json()
    if name == "async main" and e["status"] == "failed":
        t.skip("main must not be async")
    t.equal(e["status"], "completed", "status of %r" % e.get("error"))
    t.equal(e["result"], wanted, "result")


def test_python_main_may_take_nothing(t):
    t.equal(t.envelope("def main():\n    return 4", language="python")["result"], 4, "result")


def test_python_errors_have_their_own_line(t):
    done = t.run("a = 1\nb = 2\nraise ValueError('wrong thing')", "-o", "json", language="python")
    t.status(done, 1)
    e = done.json()
    t.equal(e["error"]["type"], "runtime_error", "type")
    t.has(str(e["error"]), "wrong thing", "error")
    t.has(e["stderr"], "line 3", "stderr")
    t.true(e["exit_status"] != 0, "exit status 0")
    t.equal(e["error"].get("line"), 3, "line")


def test_python_syntax_errors_are_syntax_errors(t):
    e = t.envelope("a = (1\nb = 2", language="python")
    t.true(e["error"]["type"] in ("syntax_error", "runtime_error"), "type %r" % e["error"]["type"])
    t.has(e["stderr"], "SyntaxError", "stderr")


def test_the_exit_status_of_python_is_given(t):
    done = t.run("import sys\nsys.exit(7)", "-o", "json", language="python")
    t.status(done, 1)
    t.equal(done.json()["exit_status"], 7, "exit_status")


def test_bash_gives_its_output_as_result(t):
    done = t.run("echo one; echo two >&2; echo three", "-o", "json", language="bash")
    t.status(done, 0)
    e = done.json()
    t.equal((e["stdout"], e["stderr"], e["exit_status"]), ("one\nthree\n", "two\n", 0), "streams")
    t.true(e["result"] in ("one\nthree\n", "one\nthree"), "result %r" % e["result"])


def test_bash_text_form(t):
    done = t.run("echo out; echo err >&2", language="bash")
    t.equal(done.out, "out\n", "stdout")
    t.has(done.err, "err", "stderr")


def test_bash_sees_its_inputs(t):
    e = t.envelope("caisson inputs 2>/dev/null || cat \"$CAISSON_INPUTS\" 2>/dev/null || echo \"$CAISSON_INPUTS\"", "--input", '{"k": "v"}', language="bash")
    t.matches(e["stdout"], r'"k": ?"v"', "stdout")


def test_a_killed_guest_says_by_which_signal(t):
    done = t.run("import os\nos.kill(os.getpid(), 11)", "-o", "json", language="python")
    t.status(done, 1)
    t.matches(str(done.json()["error"]), "signal|SIGSEGV|11", "error")


def test_node_runs_if_it_is_installed(t):
    done = t.run("console.log(JSON.stringify({ v: 40 + 2 }))", "-o", "json", language="node")
    if not shutil.which("node"):
        t.status(done, 2)
        t.has(done.err, "node", "stderr")
        t.skip("node is not installed")
    t.status(done, 0)
    t.has(done.json()["stdout"], "42", "stdout")


@table([("python", "import os\nprint(os.getcwd(), os.path.isdir('/workspace'), os.path.isdir('/tmp'))", "/workspace True True"),
        ("bash", "echo $PWD $([ -d /workspace ] && echo True) $([ -d /tmp ] && echo True)", "/workspace True True")])
def test_guests_start_in_the_workspace(t, language, code, wanted):
    t.equal(t.envelope(code, language=language)["stdout"].strip(), wanted, "stdout")


@table([("python", "import os, json\nprint(json.dumps(sorted(os.environ)))"), ("bash", "compgen -e | sort")])
def test_guests_have_a_small_fixed_environment(t, language, code):
    e = t.envelope(code, language=language, env={"SECRET_TOKEN": "x", "AWS_SECRET": "y", "LD_PRELOAD": "", "PYTHONSTARTUP": "/x"})
    for name in ("SECRET_TOKEN", "AWS_SECRET", "PYTHONSTARTUP", "XDG_DATA_HOME"):
        t.lacks(e["stdout"], name, "environment")
    for name in ("PATH", "HOME"):
        t.has(e["stdout"], name, "environment")


def test_python_has_the_sdk(t):
    e = t.envelope("import caisson\nprint(sorted(n for n in dir(caisson) if not n.startswith('_')))", language="python")
    t.equal(e["status"], "completed", "status of %r %r" % (e.get("error"), e.get("stderr")))
    t.true(len(e["stdout"]) > 4, "an empty module")


def test_bash_has_the_command(t):
    e = t.envelope("command -v caisson; caisson --help || caisson help", language="bash")
    t.has(e["stdout"], "caisson", "stdout")


@table([("python", "import urllib.request\ntry:\n    urllib.request.urlopen('http://127.0.0.1:80/', timeout=2)\nexcept Exception as e: print('refused', type(e).__name__)"),
        ("bash", "(exec 3<>/dev/tcp/127.0.0.1/80) 2>/dev/null || echo refused")])
def test_guests_have_no_network(t, language, code):
    t.has(t.envelope(code, language=language)["stdout"], "refused", "stdout")


@table([("python", "print(open('/etc/passwd').read())"), ("bash", "cat /etc/shadow /root/.bashrc /home/*/.bashrc")])
def test_guests_see_nothing_of_the_user(t, language, code):
    e = t.envelope(code, language=language)
    for secret in ("$6$", "$y$", "root:x:0:0:", "PS1="):
        t.lacks(e["stdout"], secret, "stdout")


def test_guest_and_program_share_the_limits_of_time(t):
    e = t.envelope("import time\nprint(round(time.monotonic() - time.monotonic()))", "--timeout", "30s", language="python")
    t.equal(e["status"], "completed", "status")


@table([("python", ".py", "print(5)"), ("bash", ".sh", "echo 5")])
def test_the_language_follows_from_the_files_name(t, language, suffix, code):
    done = t.caisson("run", t.file("prog" + suffix, code))
    t.status(done, 0)
    t.equal(done.out.strip(), "5", "stdout")


def test_standard_input_of_a_guest_is_empty(t):
    e = t.envelope("cat; echo end", language="bash", stdin=b"secret")
    t.equal(e["stdout"], "end\n", "stdout")


def test_binary_output_does_not_break_the_envelope(t):
    e = t.envelope("head -c 300 /dev/urandom; printf '\\xff\\xfe\\x00end'", language="bash")
    t.true(e["stdout"].endswith("end"), "stdout %r" % e["stdout"][-20:])

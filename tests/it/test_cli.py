"""The command line: where programs come from, where answers go, and with which exit status."""

import os
import re
import shutil
import subprocess

from harness import PATIENCE, table, until


def test_a_file_runs_and_its_result_is_on_stdout(t):
    done = t.caisson("run", t.file("hello.ts", "const a: number = 40;\nreturn a + 2;\n"))
    t.status(done, 0)
    t.equal(done.out, "42\n", "stdout")


def test_code_on_the_command_line_runs(t):
    done = t.run("1 + 1")
    t.status(done, 0)
    t.equal(done.out, "2\n", "stdout")


def test_a_dash_reads_the_program_from_stdin(t):
    done = t.caisson("run", "-", stdin="return 'from ' + 'stdin'")
    t.status(done, 0)
    t.equal(done.out.strip().strip('"'), "from stdin", "stdout")


def test_a_string_is_printed_as_it_is(t):
    t.equal(t.run("return 'two\\nlines'").out, "two\nlines\n", "stdout")


def test_an_object_is_printed_as_json(t):
    import json
    t.equal(json.loads(t.run("return { a: [1, 'x', null] }").out), {"a": [1, "x", None]}, "result")


def test_no_result_prints_nothing(t):
    done = t.run("const a = 1;")
    t.status(done, 0)
    t.equal(done.out, "", "stdout")


def test_logs_go_to_stderr_and_the_result_to_stdout(t):
    done = t.run("console.log('note', { a: 1 }); console.error('bad'); return 7")
    t.status(done, 0)
    t.equal(done.out, "7\n", "stdout")
    t.has(done.err, "note", "stderr")
    t.has(done.err, "a: 1", "stderr")
    t.has(done.err, "bad", "stderr")


def test_quiet_leaves_the_logs_out(t):
    done = t.run("console.log('chatter'); return 7", "-q")
    t.equal(done.out, "7\n", "stdout")
    t.lacks(done.err, "chatter", "stderr")


def test_verbose_tells_more(t):
    plain, verbose = t.run("return 7"), t.run("return 7", "-v")
    t.status(verbose, 0)
    t.equal(verbose.out, "7\n", "stdout")
    t.true(len(verbose.err) > len(plain.err), "-v adds nothing to stderr: %r" % verbose.err)
    t.matches(verbose.err, r"\d+(\.\d+)? ?(ms|MB|MiB)", "stderr")


@table([("literal", '{"n": 20, "s": "é"}'), ("array", "[20, 1]"), ("number", "20")])
def test_inputs_are_given_as_json(t, name, text):
    done = t.run("return Array.isArray(inputs) ? inputs[0] + 1 : typeof inputs === 'number' ? inputs + 1 : inputs.n + 1",
                 "--input", text)
    t.status(done, 0)
    t.equal(done.out, "21\n", "stdout")


def test_inputs_come_from_a_file(t):
    path = t.file("in.json", '{"list": [1, 2, 3]}')
    t.equal(t.run("return inputs.list.length", "--input", "@" + path).out, "3\n", "stdout")
    t.equal(t.run("return inputs.list.length", "--input", "@in.json").out, "3\n", "stdout")


def test_without_input_inputs_is_an_empty_object(t):
    t.equal(t.run("return JSON.stringify(inputs)").out.strip().strip('"'), "{}", "stdout")


@table([("not json", ["--input", "{nope"], "input"), ("missing file", ["--input", "@/nonexistent/x.json"], "/nonexistent/x.json"),
        ("duplicate key", ["--input", '{"a":1,"a":2}'], "input")])
def test_bad_inputs_are_a_usage_error(t, name, options, says):
    done = t.run("return 1", *options)
    t.status(done, 2)
    t.has(done.err, says, "stderr")
    t.equal(done.out, "", "stdout")


@table([("0", "return 1", [], 0), ("1 throws", "throw new Error('x')", [], 1), ("1 syntax", "const = 3", [], 1),
        ("1 rejects", "await Promise.reject(new Error('x'))", [], 1),
        ("4 time", "for (;;);", ["--timeout", "200ms"], 4),
        ("4 memory", "const a: any[] = []; for (;;) a.push(new Array(1e5).fill(1.5))", ["--memory", "64M"], 4),
        ("4 result", "return 'x'.repeat(64 << 20)", [], 4),
        ("2 timeout", "return 1", ["--timeout", "soon"], 2), ("2 memory", "return 1", ["--memory", "lots"], 2),
        ("2 negative", "return 1", ["--timeout", "-1s"], 2), ("2 zero", "return 1", ["--timeout", "0"], 2),
        ("2 language", "return 1", ["--language", "cobol"], 2), ("2 output", "return 1", ["-o", "xml"], 2),
        ("2 isolation", "return 1", ["--isolation", "none"], 2),
        ("2 wall", "return 1", ["--allow-weak-isolation", "moat"], 2),
        ("2 workspace", "return 1", ["--workspace", "/nonexistent/dir"], 2)])
def test_the_exit_status_tells_the_outcome(t, name, code, options, wanted):
    t.status(t.run(code, *options), wanted)


@table([("nothing to run", ["run"]), ("file and code", ["run", "x.ts", "-e", "1"]),
        ("missing file", ["run", "nowhere.ts"]), ("a directory", ["run", "/"]), ("option without value", ["run", "-e"]),
        ("unknown option", ["run", "--tiemout", "5s", "-e", "1"]), ("unknown verb", ["rnu"])])
def test_wrong_usage_is_status_2_and_one_clear_message(t, name, argv):
    done = t.caisson(*argv)
    t.status(done, 2)
    t.equal(done.out, "", "stdout")
    t.true(done.err.strip(), "stderr is empty")
    t.lacks(done.err, "\x1b", "stderr")


@table([("--tiemout", ["run", "--tiemout", "5s", "-e", "1"], "--timeout"), ("--memroy", ["run", "--memroy", "5M", "-e", "1"], "--memory"),
        ("rnu", ["rnu"], "run"), ("docter", ["docter"], "doctor"), ("versoin", ["versoin"], "version"),
        ("pyton", ["run", "--language", "pyton", "-e", "1"], "python")])
def test_a_slip_of_the_finger_is_answered_with_the_right_word(t, name, argv, says):
    done = t.caisson(*argv)
    t.status(done, 2)
    t.has(done.err, says, "stderr")


@table([("30s", "30s"), ("30500ms", "30500ms"), ("1m", "1m"), ("30.5s", "30.5s"), ("30", "30")])
def test_durations_have_units(t, name, text):
    t.status(t.run("return 1", "--timeout", text), 0)


@table([("64M", "64M"), ("65536K", "65536K"), ("0.5G", "0.5G"), ("256MB", "256MB"), ("128MiB", "128MiB")])
def test_sizes_have_units(t, name, text):
    t.status(t.run("return 1", "--memory", text), 0)


@table([("long", ["--timeout=30s"]), ("separate", ["--timeout", "30s"])])
def test_options_take_their_value_either_way(t, name, options):
    t.status(t.run("return 1", *options), 0)


def test_options_may_follow_the_file(t):
    done = t.caisson("run", t.file("a.ts", "return inputs.x"), "--input", '{"x": 5}')
    t.equal(done.out, "5\n", "stdout")


def test_two_dashes_end_the_options(t):
    t.file("-odd.ts", "return 'odd'")
    done = t.caisson("run", "--", "-odd.ts")
    t.status(done, 0)
    t.has(done.out, "odd", "stdout")


@table([("light", "light"), ("full", "full")])
def test_both_isolations_run(t, name, kind):
    done = t.run("return 1", "--isolation", kind)
    t.status(done, 0)
    t.equal(done.out, "1\n", "stdout")


def test_strict_runs_without_a_compiler(t):
    done = t.run("const f = (n: number): number => n < 2 ? n : f(n - 1) + f(n - 2); return f(16)", "--strict")
    t.status(done, 0)
    t.equal(done.out, "987\n", "stdout")


@table([("typescript", "return 5"), ("python", "print(5)"), ("bash", "echo 5")])
def test_without_control_groups_programs_run_too(t, language, code):
    done = t.run(code, "--no-cgroups", language=language)
    t.status(done, 0)
    t.equal(done.out, "5\n", "stdout")


def test_help_lists_the_limits(t):
    done = t.caisson("help", "limits")
    t.status(done, 0)
    for name in ("wall_clock", "memory", "cpu", "processes", "open_files", "scratch_bytes", "scratch_files", "output", "log_lines", "result",
                 "json_depth", "tool_calls"):
        t.has(done.out, name, "limits")


@table([("unknown", "colour=3"), ("no value", "result"), ("no number", "result=much"), ("zero", "result=0"), ("above the ceiling", "memory=64G")])
def test_a_bad_limit_is_a_usage_error(t, name, text):
    done = t.run("return 1", "--limit", text)
    t.status(done, 2)
    t.has(done.err, text.split("=")[0], "stderr")


def test_no_verb_shows_the_verbs(t):
    done = t.caisson()
    t.status(done, 2)
    t.has(done.out + done.err, "doctor", "output")


def test_a_place_that_cannot_be_written_is_our_fault(t):
    done = t.run("return 1", env={"CAISSON_DATA": "/proc/nowhere"})
    t.status(done, 5)
    t.has(done.err, "CAISSON_DATA", "stderr")


def test_walls_may_be_named_as_dispensable(t):
    t.status(t.run("return 1", "--allow-weak-isolation", "landlock,cpu-limit"), 0)


def verbs(t):
    text = t.caisson("help").out
    found = re.findall(r"^ {2,4}(?:caisson )?([a-z]+)\b", text, re.M)
    return [v for v in dict.fromkeys(found) if v not in ("caisson",)]


def test_help_lists_the_verbs(t):
    done = t.caisson("help")
    t.status(done, 0)
    for verb in ("run", "doctor", "help", "version"):
        t.has(done.out, verb, "help")
    t.equal(done.err, "", "stderr")


def test_every_verb_has_help_in_both_spellings(t):
    for verb in verbs(t):
        by_word, by_option = t.caisson("help", verb), t.caisson(verb, "--help")
        t.status(by_word, 0)
        t.status(by_option, 0)
        t.equal(by_option.out, by_word.out, "help of " + verb)
        t.has(by_word.out, "caisson " + verb, "help of " + verb)


def test_help_of_run_names_every_option(t):
    text = t.caisson("help", "run").out
    for option in ("-e", "--input", "--language", "--timeout", "--memory", "--workspace", "-o", "-q", "-v", "--isolation",
                   "--allow-weak-isolation"):
        t.has(text, option, "help")
    for line in text.splitlines():
        t.true(len(line) <= 100, "a line of help is %d columns wide: %s" % (len(line), line))


def test_help_of_an_unknown_verb_is_a_usage_error(t):
    t.status(t.caisson("help", "rnu"), 2)


def test_version_is_the_one_in_the_tree(t):
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "..", "VERSION")) as f:
        version = f.read().strip()
    for argv in (["version"], ["--version"]):
        done = t.caisson(*argv)
        t.status(done, 0)
        t.has(done.out, version, "version")


def completion(t, shell):
    done = t.caisson("completion", shell)
    t.status(done, 0)
    t.true(len(done.out) > 100, "the script is nearly empty")
    for word in ("run", "doctor", "timeout"):
        t.has(done.out, word, shell + " completion")
    return t.file("completion." + shell, done.out)


@table([("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])])
def test_completion_scripts_parse(t, shell, check):
    path = completion(t, shell)
    if not shutil.which(check[0]):
        t.skip(shell + " is not installed")
    p = subprocess.run([*check, path], stderr=subprocess.PIPE, text=True)
    t.equal((p.returncode, p.stderr), (0, ""), "the shell's opinion")


def test_bash_completes_verbs_and_options(t):
    path = completion(t, "bash")
    script = """source %s
complete -p caisson >/dev/null || exit 3
f=$(complete -p caisson | sed 's/.*-F \\([^ ]*\\).*/\\1/')
COMP_WORDS=(caisson ru); COMP_CWORD=1; COMP_LINE="caisson ru"; COMP_POINT=10; $f caisson ru caisson; echo "${COMPREPLY[@]}"
COMPREPLY=(); COMP_WORDS=(caisson run --time); COMP_CWORD=2; COMP_LINE="caisson run --time"; COMP_POINT=18; $f caisson --time run; echo "${COMPREPLY[@]}"
""" % path
    p = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    t.log.append(p.stdout + p.stderr)
    t.equal(p.returncode, 0, "status")
    lines = p.stdout.split("\n")
    t.has(lines[0], "run", "verbs")
    t.has(lines[1], "--timeout", "options")


def test_an_unknown_shell_is_a_usage_error(t):
    t.status(t.caisson("completion", "tcsh"), 2)


def test_the_man_page_renders_without_a_warning(t):
    page = t.caisson("help", "man-page")
    t.status(page, 0)
    if not shutil.which("groff"):
        t.skip("groff is not installed")
    p = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-c", t.file("caisson.1", page.out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    t.equal((p.returncode, p.stderr), (0, ""), "groff's opinion")
    for option in ("--timeout", "--memory", "--workspace", "--isolation", "scratch_files", "exit status"):
        t.has(re.sub("[\u2010\u2212]", "-", re.sub(".\b", "", p.stdout)), option, "man page")


def test_nothing_is_coloured_when_nobody_looks(t):
    for done in (t.run("console.warn('w'); return { a: 'b' }"), t.run("throw new Error('x')"), t.caisson("help"), t.caisson("doctor"),
                 t.run("for (;;);", "--timeout", "300ms"), t.run("return 1", "-v")):
        t.lacks(done.out + done.err, "\x1b", "output")
        t.lacks(done.out + done.err, "\r", "output")


def test_errors_are_coloured_on_a_terminal(t):
    status, text = t.on_a_terminal("run", "-e", "throw new Error('x')")
    t.equal(status, 1, "status")
    t.has(text, "\x1b[", "terminal")


def test_no_color_is_respected_on_a_terminal(t):
    _, text = t.on_a_terminal("run", "-e", "throw new Error('x')", env={"NO_COLOR": "1"})
    t.true(not re.search(r"\x1b\[[0-9;]*m", text), "colours: %r" % text)


def test_a_slow_program_shows_progress_on_a_terminal_and_takes_it_away(t):
    status, text = t.on_a_terminal("run", "-e", "const s = 1; for (let i = 0; i < 8; i++) await new Promise((f) => setTimeout(f, 250)); return 'end'")
    t.equal(status, 0, "status")
    t.true("\r" in text.replace("\r\n", "") or "\x1b[" in text, "no progress line: %r" % text)
    t.has(text.strip().splitlines()[-1], "end", "last line")


def test_control_sequences_of_a_program_do_not_reach_the_terminal(t):
    _, text = t.on_a_terminal("run", "-e", "console.log('a\\u001b]0;title\\u0007b\\u001b[2J'); throw new Error('m\\u001b[8mhidden')")
    t.lacks(text, "\x1b]0;", "terminal")
    t.lacks(text, "\x1b[2J", "terminal")
    t.lacks(text, "\x1b[8m", "terminal")


def test_a_reader_that_goes_away_is_not_a_crash(t):
    p = subprocess.run("%s run -e \"for (let i = 0; i < 1000; i++) console.log('x'.repeat(500)); return 'y'.repeat(500000)\" 2>/dev/null | head -c 10"
                       % t.binary, shell=True, env=t.env, cwd=t.dir, stdout=subprocess.PIPE, timeout=PATIENCE)
    t.equal(len(p.stdout), 10, "bytes read")


def test_an_interrupt_ends_the_program_and_its_tree(t):
    import batch
    import signal
    name = "caisson-int-%d" % os.getpid()
    sleeps = lambda: [c for _, c in batch.processes().values() if c.startswith(name)]
    p = subprocess.Popen([t.binary, "run", "--timeout", "300s", "--language", "bash", "-e", "exec -a %s sleep 290" % name], env=t.env, cwd=t.dir,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(t, "it runs", sleeps)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=PATIENCE)
    t.true(p.returncode != 0, "an interrupted run ended with status 0")
    until(t, "no process is left", lambda: not sleeps())


AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def become_nobody(t):
    """As root: a copy of the program and a state directory that an ordinary user can reach."""
    if os.getuid() != 0:
        t.skip("the whole suite runs as an ordinary user already")
    if not shutil.which("setpriv"):
        t.skip("setpriv is not installed")
    copy = os.path.join(t.state, "caisson")
    shutil.copy(t.binary, copy)
    for root, dirs, files in os.walk(t.state):
        for n in dirs + files:
            os.chown(os.path.join(root, n), 65534, 65534)
    os.chmod(t.state, 0o755)
    os.chown(t.state, 65534, 65534)
    t.binary = copy


def test_an_ordinary_user_can_run_programs(t):
    become_nobody(t)
    for code, language, wanted in (("return 6 * 7", "typescript", "42"), ("print(6 * 7)", "python", "42"), ("echo 42", "bash", "42")):
        done = t.run(code, language=language, prefix=AS_NOBODY)
        t.status(done, 0)
        t.has(done.out, wanted, "stdout")
    t.status(t.run("for (;;);", "--timeout", "300ms", prefix=AS_NOBODY), 4)
    t.status(t.run("const a: any[] = []; for (;;) a.push(new Array(1e5).fill(1.5))", "--memory", "64M", prefix=AS_NOBODY), 4)
    t.true(t.caisson("doctor", prefix=AS_NOBODY).status in (0, 3), "doctor broke")


def test_the_root_of_a_container_can_run_programs(t):
    """A rootless container: root inside, an ordinary user outside, and no other id in the map."""
    become_nobody(t)
    for code, language in (("return 6 * 7", "typescript"), ("print(6 * 7)", "python")):
        done = t.run(code, language=language, prefix=[*AS_NOBODY, "unshare", "--user", "--map-root-user"])
        t.status(done, 0)
        t.has(done.out, "42", "stdout")

"""Sessions from outside: state and files that stay, one execution at a time, and nobody else's."""

import os
import signal
import threading
import time

from harness import Failed
from resting import until
from serving import Daemon, make_key

WRITE = "import fs from 'node:fs/promises'; await fs.writeFile(%r, %r); return 1"
LIST = "import fs from 'node:fs/promises'; return (await fs.readdir('/workspace')).sort()"
SLOW = "await new Promise((r) => setTimeout(r, %d)); "


def start(d, **more):
    answer = d.post("/sessions", {k: v for k, v in more.items() if k != "key"}, key=more.get("key"))
    if answer.status != 201:
        raise Failed("no session: %s" % answer)
    return answer.json()["session_id"]


def run(d, session, code, **more):
    return d.run(code, session_id=session, **more)


def state_of(d, session):
    return d.get("/sessions/" + session).json()["state"]


def files_of(d, session):
    return [f["path"] for f in d.get("/sessions/%s/files" % session).json()["files"] if f["type"] == "file"]


def begin(d, session, code, **more):
    answer = d.post("/executions", dict({"code": code, "session_id": session, "async": True}, **more))
    if answer.status != 202:
        raise Failed("not accepted: %s" % answer)
    return answer.json()["execution_id"]


def await_phase(d, execution, phase, patience=60):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        seen = d.get("/executions/" + execution).json()
        if seen.get("phase") == phase or seen.get("status") == phase:
            return seen
        time.sleep(0.02)
    raise Failed("it is not %s: %s" % (phase, seen))


def test_state_goes_from_one_program_to_the_next(t):
    with Daemon(t) as d:
        s = start(d, name="a")
        t.equal(run(d, s, "state.n = (state.n ?? 0) + 1; return state.n")["result"], 1)
        t.equal(run(d, s, "state.n = (state.n ?? 0) + 1; return state.n")["result"], 2)
        t.equal(run(d, s, "state = { list: [state.n, 'ä'] }")["status"], "completed")
        t.equal(run(d, s, "state['python'] = len(state['list'])\nprint(1)", language="python")["status"], "completed")
        t.equal(run(d, s, "state.node = true; module.exports = () => state", language="node")["result"],
                {"list": [2, "ä"], "python": 2, "node": True})
        t.equal(run(d, s, "cat /caisson/state.json", language="bash")["result"],
                '{"list":[2,"ä"],"python":2,"node":true}')
        t.equal(state_of(d, s), {"list": [2, "ä"], "python": 2, "node": True})
        t.equal(d.get("/sessions/" + s).json()["executions"], 6)
        t.equal(run(d, start(d), "return state")["result"], {})
        t.equal(d.run("return state")["result"], {})


def test_a_failure_leaves_state_and_files_as_they_were(t):
    with Daemon(t) as d:
        s = start(d)
        run(d, s, "import fs from 'node:fs/promises'; await fs.writeFile('old', '1'); state.n = 1")
        touch = "import fs from 'node:fs/promises'; await fs.writeFile('new', '1'); await fs.rm('old'); state.n = 2; "
        failures = [
            ({"code": touch + "throw new Error('x')"}, "runtime_error", "x"),
            ({"code": touch + "for (;;);", "timeout_ms": 300}, "timeout_error", "wall_clock"),
            ({"code": touch + "state.when = [new Date(0)]"}, "validation_error", "a Date at $.when[0]"),
            ({"code": touch + "state.me = state"}, "validation_error", "refers to itself at $.me"),
            ({"code": touch + "state.text = 'x'.repeat(2000000); return 1"}, "resource_error", "`state` is larger"),
            ({"code": touch + "await fs.writeFile('big', 'x'.repeat(11000000))"}, "resource_error", "bytes"),
            ({"code": "rm old; touch new; exit 3", "language": "bash"}, "runtime_error", "status 3"),
            ({"code": "rm old; truncate -s 60M big; truncate -s 60M big2", "language": "bash"}, "resource_error", "cannot be kept"),
            ({"code": "state['n'] = {1, 2}", "language": "python"}, "validation_error", "a set at $.n"),
        ]
        for request, kind, text in failures:
            envelope = d.run(request.pop("code"), session_id=s, **request)
            t.equal((envelope["status"], envelope["error"]["type"]), ("failed", kind))
            t.has(envelope["error"]["message"], text)
            t.lacks(str(envelope), t.state)  # no path of this machine
            t.equal((state_of(d, s), files_of(d, s)), ({"n": 1}, ["old"]))
        t.equal(run(d, s, LIST)["result"], ["old"])


def test_files_go_from_one_program_to_the_next_and_to_the_outside(t):
    with Daemon(t) as d:
        s = start(d)
        base = "/sessions/%s/files/" % s
        t.equal(d.request("PUT", base + "in/data.csv", body=b"a,b\n1,2\n").status, 204)
        t.equal(run(d, s, "cat in/data.csv; mkdir out; tr , ';' < in/data.csv > out/data.txt", language="bash")
                ["result"], "a,b\n1,2")
        t.equal(d.get(base + "out/data.txt").body, b"a;b\n1;2\n")
        t.equal(run(d, s, "import fs from 'node:fs/promises'; await fs.rm('in', {recursive: true}); "
                          "return fs.readFile('out/data.txt', 'utf8')")["result"], "a;b\n1;2\n")
        t.equal(files_of(d, s), ["out/data.txt"])
        t.equal(run(d, s, "import os\nprint(os.listdir('out'))", language="python")["status"], "completed")
        t.equal(d.request("DELETE", base + "out/data.txt").status, 204)
        t.equal(d.get(base + "out/data.txt").status, 404)
        t.equal(run(d, s, LIST)["result"], ["out"])


def test_what_a_program_plants_leads_nowhere(t):
    with Daemon(t) as d:
        s = start(d)
        base = "/sessions/%s/files/" % s
        run(d, s, "ln -s /etc/passwd link; ln -s / root; ln -s ../.. up; mkfifo pipe; echo x > a; ln a hard; "
                  "mkdir -p d; ln -s /etc d/etc; echo y > d/real", language="bash")
        t.equal(files_of(d, s), ["d/real"])
        for path in ["link", "root/etc/passwd", "up/lock", "pipe", "d/etc/passwd", "hard"]:
            t.equal(d.get(base + path).status, 404)
        # The same, planted where the files are, by somebody on this machine.
        files = os.path.join(t.env["XDG_DATA_HOME"], "caisson", "sessions", s, "files")
        os.symlink("/etc/passwd", os.path.join(files, "link"))
        os.symlink("/etc", os.path.join(files, "etc"))
        os.mkfifo(os.path.join(files, "pipe"))
        for path in ["link", "etc/passwd", "pipe"]:
            answer = d.get(base + path)
            if answer.status not in (400, 404, 422):
                raise Failed("%s: %s" % (path, answer))
        t.equal(files_of(d, s), ["d/real"])
        t.equal(run(d, s, "ls -A", language="bash")["result"], "d\nout")


def test_a_path_stays_in_the_session(t):
    with Daemon(t) as d:
        s, other = start(d), start(d)
        d.request("PUT", "/sessions/%s/files/secret" % other, body=b"theirs")
        for path in ["../%s/files/secret" % other, "..%%2f%s%%2ffiles%%2fsecret" % other,
                     "%%2e%%2e/%s/files/secret" % other, "%2fetc%2fpasswd", "a/../../x", "a%00b", "%ff", "./a", "a//b",
                     "x" * 2000, "/".join("d" * 40), "%2e", "a/", "..%5c..%5cx%00"]:
            for method, body in [("GET", None), ("PUT", b"x"), ("DELETE", None)]:
                answer = d.request(method, "/sessions/%s/files/%s" % (s, path), body=body)
                if answer.status < 400 or answer.status >= 500 or b"theirs" in answer.body:
                    raise Failed("%s %s: %s" % (method, path, answer))
        t.equal(files_of(d, s), [])
        t.equal(files_of(d, other), ["secret"])


def test_one_execution_at_a_time_in_order(t):
    with Daemon(t) as d:
        s = start(d)
        code = "const n = (state.list ?? []).length; " + SLOW % 30 + "state.list = [...(state.list ?? []), n]; return n"
        results = []
        threads = [threading.Thread(target=lambda: results.append(run(d, s, code)["result"])) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        t.equal(sorted(results), list(range(8)))
        t.equal(state_of(d, s), {"list": list(range(8))})


def test_who_does_not_want_to_wait_is_refused_and_reading_goes_on(t):
    with Daemon(t) as d:
        s = start(d)
        base = "/sessions/%s/files/" % s
        d.request("PUT", base + "a", body=b"1")
        execution = begin(d, s, "import fs from 'node:fs/promises'; await fs.writeFile('a', '2'); " + SLOW % 5000)
        await_phase(d, execution, "running")
        answer = d.post("/executions", {"code": "return 1", "session_id": s, "on_busy": "fail"})
        t.equal(answer.status, 409)
        t.has(answer.body.decode(), s)
        t.equal(d.get(base + "a").body, b"1")
        t.equal(run(d, start(d), "return 2")["result"], 2)  # another session is free
        t.equal(d.request("PUT", base + "b", body=b"3").status, 204)  # waits
        t.equal(await_phase(d, execution, "completed")["status"], "completed")
        t.equal(d.get(base + "a").body, b"2")
        t.equal(files_of(d, s), ["a", "b"])


def test_a_restart_keeps_it_and_a_crash_frees_it(t):
    with Daemon(t) as d:
        s = start(d)
        run(d, s, "import fs from 'node:fs/promises'; await fs.writeFile('a', '1'); state.n = 1")
    with Daemon(t) as d:
        t.equal(run(d, s, "state.n++; return [state.n, " + "await (await import('node:fs/promises')).readFile('a', 'utf8')]")
                ["result"], [2, "1"])
        execution = begin(d, s, "state.n = 99; " + SLOW % 60000)
        await_phase(d, execution, "running")
        d.stop(signal.SIGKILL)
        d.wait()
    with Daemon(t) as d:
        t.equal(run(d, s, "return state.n", on_busy="fail")["result"], 2)


def test_two_daemons_share_it_one_at_a_time(t):
    with Daemon(t) as one, Daemon(t) as two:
        s = start(one)
        execution = begin(one, s, SLOW % 3000 + "state.n = 1")
        await_phase(one, execution, "running")
        answer = two.post("/executions", {"code": "return 1", "session_id": s, "on_busy": "fail"})
        t.equal(answer.status, 409)
        t.equal(run(two, s, "state.n++; return state.n")["result"], 2)
        t.equal(run(one, s, "return state.n")["result"], 2)
        # An impatient one gives up after its own time.
        execution = begin(one, s, SLOW % 4000)
        await_phase(one, execution, "running")
        answer = two.post("/executions", {"code": "return 1", "session_id": s, "timeout_ms": 200})
        t.equal(answer.status, 409)


def test_it_belongs_to_its_tenant_and_answers_to_its_name_alone(t):
    mine, theirs = make_key(t, "mine"), make_key(t, "theirs", "--tenant", "acme")
    with Daemon(t) as d:
        s = start(d, key=mine)
        base = "/sessions/" + s
        t.equal(d.request("PUT", base + "/files/a", body=b"1", key=mine).status, 204)
        for method, path, body in [
            ("GET", base, None), ("DELETE", base, None), ("GET", base + "/files", None), ("GET", base + "/files/a", None),
            ("PUT", base + "/files/a", b"2"), ("DELETE", base + "/files/a", None),
            ("POST", "/executions", {"code": "return state", "session_id": s}),
            ("POST", "/executions", {"code": "return state", "session_id": s, "on_busy": "fail"}),
        ]:
            t.equal(d.request(method, path, body=body, key=theirs).status, 404)
        for name in [s.upper(), s[:-1], s + "0", s[:4] + s[4:].upper() + "x", s + "%00", "%73es_" + s[4:] + "%20"]:
            t.true(d.get("/sessions/" + name, key=mine).status in (400, 404), "no session " + name)
            t.equal(d.post("/executions", {"code": "return 1", "session_id": name}, key=mine).status, 404)
        t.equal(d.get(base + "/files/a", key=mine).body, b"1")


def test_its_end_is_told_to_who_is_inside(t):
    with Daemon(t) as d:
        s = start(d)
        run(d, s, WRITE % ("a", "1"))
        execution = begin(d, s, SLOW % 3000 + "state.n = 1")
        await_phase(d, execution, "running")
        t.equal(d.request("DELETE", "/sessions/" + s).status, 204)
        t.equal(d.get("/sessions/" + s).status, 404)
        envelope = await_phase(d, execution, "failed")
        t.has(str(envelope), "ended while")
        t.equal(d.post("/executions", {"code": "return 1", "session_id": s}).status, 404)
        until(t, "its files are gone", lambda: not os.listdir(os.path.join(t.env["XDG_DATA_HOME"], "caisson", "sessions")))


def test_an_idle_one_ends_with_its_files(t):
    with Daemon(t) as d:
        s = start(d, idle_ms=4000)
        run(d, s, WRITE % ("a", "1"))
        time.sleep(4.05)
        t.equal(d.get("/sessions/" + s).status, 404)
        t.equal(d.get("/sessions/%s/files/a" % s).status, 404)
    sessions = os.path.join(t.env["XDG_DATA_HOME"], "caisson", "sessions")
    t.equal(os.listdir(sessions), [s])
    with Daemon(t):
        end = time.monotonic() + 60
        while os.listdir(sessions) and time.monotonic() < end:
            time.sleep(0.02)
    t.equal(os.listdir(sessions), [])


def test_its_limits_are_settings(t):
    with Daemon(t, "--session.most", "1", "--session.files", "1K", "--session.state", "100") as d:
        s = start(d)
        t.has(d.post("/sessions", {}).body.decode(), "session.most")
        t.equal(run(d, s, "state.text = 'x'.repeat(100)")["error"]["type"], "resource_error")
        t.equal(run(d, s, WRITE % ("a", "x" * 1025))["error"]["type"], "resource_error")
        answer = d.request("PUT", "/sessions/%s/files/a" % s, body=b"x" * 1025)
        t.equal(answer.status, 413)
        t.equal(run(d, s, WRITE % ("a", "x" * 1024))["status"], "completed")

"""Cases of language `api`: steps that are played against a real `caisson serve`, over REST and over MCP.

Every user of a case has a key and a tenant of their own. What a case cannot do at a door (files and sessions
over MCP) it does over REST; programs are run through the door that is being tried.
"""

import http.client
import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.parse

import batch
import judge

MIB = 1 << 20
TIMEOUT_MS = 5000
MEMORY = {"typescript": 512 * MIB}
PATIENCE = 60
DOORS = ("rest", "mcp")

# Answers of REST that are no envelope, in the words of the manifest.
PROBLEMS = {400: "validation", 401: "permission", 403: "permission", 404: "validation", 405: "protocol",
            408: "timeout", 409: "validation", 413: "validation", 415: "protocol", 422: "validation",
            429: "process_limit", 431: "protocol", 503: "process_limit"}
# The same of JSON-RPC.
RPC_ERRORS = {-32700: "protocol", -32600: "protocol", -32601: "protocol", -32602: "validation"}

# A program that waits by looking at the clock waits for ever: inside, time moves only when the world answers.
WAITS = re.compile(r"while \(Date\.now\(\) - t < (\d+)\) await 0;")

# Speaks on the bridge of a guest in place of its SDK.
STUB = """
import os, time
data = %s
fd, at = int(os.environ.get('CAISSON_BRIDGE', '3')), 0
try:
    while at < len(data):
        at += os.write(fd, data[at:at + 65536])
except OSError as e:
    print('cut:', e)
time.sleep(%f)
print('said', at)
"""


def changed_lines(change):
    """What is done to the lines of an export; the first one is its head."""
    def mutate(export):
        lines = export.splitlines(keepends=True)
        change(lines, len(lines) // 2)
        return b"".join(lines)
    return mutate


def drop_middle(lines, at):
    del lines[at]


def flip_byte(lines, at):
    line = bytearray(lines[at])
    line[len(line) // 2] ^= 1
    lines[at] = bytes(line)


def swap_two(lines, at):
    lines[at], lines[at + 1] = lines[at + 1], lines[at]


def drop_tail(lines, _at):
    del lines[-1]


MUTATIONS = {"none": lambda export: export, "drop_middle": changed_lines(drop_middle),
             "flip_byte": changed_lines(flip_byte), "swap_two": changed_lines(swap_two),
             "drop_tail": changed_lines(drop_tail)}


class Broken(Exception):
    """The case or the harness is wrong, not the program."""


class Answer:
    """What a step was given back: all bytes, and whether that is an error, of which kind."""

    def __init__(self, raw=b"", error=None, result=None, texts=(), truncated=False):
        self.raw, self.error, self.result = raw, error, result
        self.texts = [raw.decode("utf-8", "replace"), *texts]
        self.truncated = truncated

    def has(self, text):
        return any(text in t for t in self.texts)


def of_envelope(raw, envelope):
    failed = envelope.get("status") != "completed"
    kind = judge.error_type(envelope) or (envelope.get("status") if failed else None)
    if kind == "resource_error/None":
        kind = "validation"  # too large to be begun
    return Answer(raw, kind, envelope.get("result"), list(judge.strings(envelope)))


def in_text(result):
    """The short form of an envelope, which is the text of the first block."""
    for block in result.get("content") or ():
        try:
            value = json.loads(block.get("text", ""))
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    return {}


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class Server:
    """A `caisson serve` in a state directory of its own."""

    def __init__(self, binary, env, state, options, pass_fds, weak):
        self.binary, self.env, self.state, self.weak = binary, env, state, weak
        self.log = os.path.join(state, "serve.log")
        self.keys = {}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [binary, "serve", "--port", "0", "--log.level", "debug", *options], env=env, cwd=state,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=pass_fds, start_new_session=True)
        self.pid = self.process.pid
        self.port = int(self.await_said(r"url=http://127\.0\.0\.1:(\d+)").group(1))

    def said(self):
        with open(self.log, "rb") as f:
            return f.read().decode("utf-8", "replace")

    def await_said(self, pattern, patience=PATIENCE):
        end = time.monotonic() + patience
        while time.monotonic() < end:
            found = re.search(pattern, self.said())
            if found:
                return found
            if not self.alive():
                break
            time.sleep(0.02)
        raise batch.Gone("`caisson serve` does not say %r: %s" % (pattern, self.said()[-600:]))

    def alive(self):
        return self.process.poll() is None

    def stop(self):
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()

    def kill(self):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def how_it_ended(self):
        status = self.process.poll()
        return "still running" if status is None else "signal %d" % -status if status < 0 else "exit status %d" % status

    def audit(self, *words):
        """`caisson audit`, in the data directory of the daemon that runs."""
        return subprocess.run([self.binary, "audit", *words], env=self.env, cwd=self.state, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE)

    def key(self, user, tenant=None, role="execute"):
        """Whoever it is has a tenant of their own. The weak variant knows one user only, whatever the name."""
        if self.weak:
            user, tenant = "everybody" if tenant is None else "operator", tenant and "everybody"
        if user not in self.keys:
            done = subprocess.run([self.binary, "keys", "create", user, "--tenant", tenant or user, "--role", role],
                                  env=self.env, cwd=self.state, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=PATIENCE)
            found = re.search(rb"csk_[A-Za-z0-9]{16}_[A-Za-z0-9_-]{43}", done.stdout)
            if done.returncode != 0 or not found:
                raise Broken("no key for %s: %s" % (user, done.stdout[-400:]))
            self.keys[user] = found.group(0).decode()
        return self.keys[user]

    def ask(self, method, path, body=None, key=None, headers=None, patience=PATIENCE):
        """One exchange. A server that hangs up while it is sent to has refused, and mostly says why."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience)
        send = {"Authorization": "Bearer " + key} if key else {}
        send.update(headers or {})
        try:
            try:
                connection.putrequest(method, path, skip_accept_encoding=True)
                for name, value in send.items():
                    connection.putheader(name, value)
                if body is not None:
                    connection.putheader("Content-Length", str(len(body)))
                connection.endheaders()
                for at in range(0, len(body or b""), MIB):
                    connection.send(body[at:at + MIB])
            except (BrokenPipeError, ConnectionResetError):
                pass
            r = connection.getresponse()
            return Reply(r.status, r.headers, r.read())
        except (BrokenPipeError, ConnectionResetError, http.client.BadStatusLine):
            return Reply(413, {}, b"")
        except (TimeoutError, ConnectionRefusedError) as e:
            raise batch.Gone("no answer to %s %.80s: %s" % (method, path, e))
        finally:
            connection.close()

    # Figures, as of a batch daemon.
    _status_kb = batch.Batch._status_kb
    cpu_ms = batch.Batch.cpu_ms
    rss, peak_rss, reset_peak = batch.Batch.rss, batch.Batch.peak_rss, batch.Batch.reset_peak


class Client:
    """One user at one door."""

    def __init__(self, server, door, key):
        self.server, self.door, self.key = server, door, key
        self.transport = None
        self.next = 0

    # REST

    def rest(self, method, path, body=None, headers=None, patience=PATIENCE):
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            headers = dict(headers or {}, **{"Content-Type": "application/json"})
        return self.server.ask(method, path, body, self.key, headers, patience)

    def of_rest(self, reply):
        value = reply.json()
        if reply.status >= 400:
            return Answer(reply.body, PROBLEMS.get(reply.status, "status %d" % reply.status),
                          texts=list(judge.strings(value)) if value is not None else ())
        if isinstance(value, dict) and "status" in value and "execution_id" in value:
            return of_envelope(reply.body, value)
        return Answer(reply.body, texts=list(judge.strings(value)) if value is not None else ())

    def run(self, request, known):
        if self.door == "mcp":
            return self.call("execute_code", request, known)
        limits = {"memory": MEMORY[request["language"]]} if request.get("language") in MEMORY else None
        if limits and "limits" not in request:
            request = dict(request, limits=limits)
        if known is None:
            return self.of_rest(self.rest("POST", "/executions", request))
        reply = self.rest("POST", "/executions", dict(request, **{"async": True}))
        if reply.status != 202:
            return self.of_rest(reply)
        execution = reply.json()["execution_id"]
        known(execution)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            reply = self.rest("GET", "/executions/%s?wait_ms=5000" % execution)
            if reply.status != 200 or reply.json().get("status") != "running":
                return self.of_rest(reply)
        raise batch.Gone("an execution does not end")

    # MCP

    def post(self, message, patience=PATIENCE, more=None):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.transport:
            headers.update({"Mcp-Session-Id": self.transport, "MCP-Protocol-Version": "2025-11-25"})
        headers.update(more or {})
        return self.server.ask("POST", "/mcp", message, self.key, headers, patience)

    def begin(self):
        hello = {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "abuse", "version": "1"}}}
        reply = self.post(json.dumps(hello).encode())
        self.transport = reply.headers.get("Mcp-Session-Id")
        if reply.status != 200 or not self.transport:
            raise Broken("MCP does not begin: %d %r" % (reply.status, reply.body[:400]))
        self.post(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def call(self, tool, arguments, known=None):
        self.next += 1
        number = "%s-%d-%d" % (self.key[4:12], id(self), self.next)
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call",
                   "params": {"name": tool, "arguments": arguments}}
        if known:
            known(number)
        reply = self.post(json.dumps(message).encode())
        return self.of_rpc(reply, number)

    def of_rpc(self, reply, number=None):
        """The last message of the answer, whichever way it came."""
        messages = [json.loads(line[5:]) for line in reply.body.decode("utf-8", "replace").splitlines()
                    if line.startswith("data:") and line[5:].strip()]
        value = reply.json()
        messages += value if isinstance(value, list) else [value] if isinstance(value, dict) else []
        mine = [m for m in messages if number is None or m.get("id") == number]
        last = mine[-1] if mine else {}
        texts = [t for m in messages for t in judge.strings(m)]
        if "error" in last:
            return Answer(reply.body, RPC_ERRORS.get(last["error"].get("code"), "protocol"), texts=texts)
        if reply.status >= 400:
            return Answer(reply.body, PROBLEMS.get(reply.status, "status %d" % reply.status), texts=texts)
        result = last.get("result") or {}
        envelope = in_text(result)
        if "execution_id" not in envelope:
            return Answer(reply.body, "validation" if result.get("isError") else None, result, texts)
        # A model is told the short form of an error; the record has all of it.
        if envelope.get("status") != "completed":
            record = self.rest("GET", "/executions/" + envelope["execution_id"])
            whole = record.json() or {}
            envelope = whole if whole.get("error") else envelope
        answer = of_envelope(reply.body, envelope)
        answer.texts += texts
        return answer


class Play:
    """One case at one door."""

    def __init__(self, server, door, case, text, canaries, fixture):
        self.server, self.door, self.case, self.canaries = server, door, case, canaries
        self.fixture = fixture
        self.plans = {}
        self.script = json.loads(text)
        self.clients, self.sessions, self.answers, self.ids = {}, {}, {}, {}
        self.all, self.problems = [], []
        self.lock = threading.Lock()
        self.no = 0  # how often somebody was told "no"
        self.flooding = False

    # Names

    def client(self, user):
        with self.lock:
            if user not in self.clients:
                key = self.server.key("%s-%s-%s" % (user, self.case["id"], self.door))
                self.clients[user] = Client(self.server, self.door, key)
                if self.door == "mcp":
                    self.clients[user].begin()
            return self.clients[user]

    def of(self, step):
        """The client of the step's session, or whoever came first."""
        name = step.get("session")
        if name in self.sessions:
            return self.clients[self.sessions[name][0]]
        return next(iter(self.clients.values())) if self.clients else self.client("nobody")

    def sid(self, name):
        return self.sessions[name][1] if name in self.sessions else "ses_" + "0" * 32

    def fill(self, value, index):
        if isinstance(value, dict):
            return {k: self.fill(v, index) for k, v in value.items()}
        if isinstance(value, list):
            return [self.fill(v, index) for v in value]
        if not isinstance(value, str) or "{{" not in value:
            return value
        value = value.replace("{{i}}", str(index)).replace("{{CANARY_PORT}}", str(self.canaries.port))
        value = re.sub(r"\{\{sid:(\w+)\|upper\}\}", lambda m: self.sid(m[1]).upper(), value)
        value = re.sub(r"\{\{sid:(\w+)\}\}", lambda m: self.sid(m[1]), value)
        return re.sub(r"\{\{id:(\w+)\}\}", lambda m: self.wait_id(m[1]), value)

    def wait_id(self, name):
        end = time.monotonic() + PATIENCE
        while name not in self.ids and time.monotonic() < end:
            time.sleep(0.01)
        return str(self.ids.get(name, "unknown"))

    # Steps

    def play(self):
        self.fixture.forget()
        for step in self.script["steps"]:
            self.step(step, 0)
        for check in self.script["asserts"]:
            wrong = self.check(check)
            if wrong:
                self.problems.append("[%s] %s" % (self.door, wrong))
        self.judge_answers()

    def step(self, step, index):
        if step["op"] in ("parallel", "repeat"):  # their own steps are filled in when their turn comes
            getattr(self, "do_" + step["op"])(step, index)
            return
        step = self.fill(step, index)
        handler = getattr(self, "do_" + step["op"], None)
        if handler is None:
            raise Broken("there is no op '%s'" % step["op"])
        answer = handler(step)
        if answer is None:
            return
        with self.lock:
            self.all.append((step, answer))
            self.no += answer.error is not None
            if "as" in step:
                self.answers[step["as"]] = answer

    def do_parallel(self, step, index):
        """Programs go on their own way; everything else follows in order."""
        threads = []
        for one in step["steps"]:
            if one["op"] in ("execute", "run"):
                threads.append(self.thread(dict(one, aside=True), index))
            else:
                self.step(one, index)
        for t in threads:
            self.join(t)

    def do_repeat(self, step, index):
        threads = []
        self.flooding = True
        for i in range(step["times"]):
            for one in step["steps"]:
                if step.get("parallel"):
                    threads.append(self.thread(one, i))
                else:
                    self.step(one, i)
        # Whoever floods does not wait to be served; the next steps are others' turn.
        time.sleep(0.5 if threads else 0)
        self.flooding = False

    def thread(self, step, index):
        def run():
            try:
                self.step(step, index)
            except (batch.Gone, OSError):
                pass  # the assertions see that there is no answer
        t = threading.Thread(target=run, daemon=True)
        t.start()
        return t

    def join(self, t):
        t.join(PATIENCE)
        if t.is_alive():
            raise batch.Gone("a step does not end")

    def do_session(self, step):
        client = self.client(step["user"])
        reply = client.rest("POST", "/sessions", {})
        value = reply.json() or {}
        if reply.status == 201 and "session_id" in value:
            with self.lock:
                self.sessions[step["as"]] = (step["user"], value["session_id"])
        elif not self.flooding:
            raise Broken("no session for %s: %d %r" % (step["user"], reply.status, reply.body[:300]))
        return client.of_rest(reply)

    def do_close(self, step):
        client = self.of(step)
        answer = client.of_rest(client.rest("DELETE", "/sessions/" + self.sid(step["session"])))
        self.sessions.pop(step["session"], None)
        return answer

    def do_execute(self, step):
        client = self.of(step)
        code = WAITS.sub(r"await new Promise((f) => setTimeout(f, \1));", step["code"]) if "code" in step \
            else generate(step["gen"]).decode()
        request = {"code": code, "language": step["language"], "timeout_ms": step.get("timeout_ms", TIMEOUT_MS),
                   "session_id": step.get("use_session_id", self.sid(step["session"]))}
        known = (lambda number: self.ids.__setitem__(step["as"], number)) if "aside" in step else None
        if not step.get("options"):
            return client.run(request, known)
        # Where a careless door would take them from: among the members, or as an object of their own.
        answers = [client.run(dict(request, **step["options"]), None),
                   client.run(dict(request, options=step["options"]), None)]
        return together(answers)

    # A plan is a request that waits for a person; running it again is the same request again.

    def operator(self, user):
        """Somebody else of the same tenant, who may approve."""
        tenant = "%s-%s-%s" % (user, self.case["id"], self.door)
        return Client(self.server, "rest", self.server.key("op-" + tenant, tenant, "approve"))

    def plan_request(self, step, session):
        return {"code": step["code"], "language": step["language"], "timeout_ms": TIMEOUT_MS,
                "session_id": self.sid(session)}

    def pending(self, operator, patience=PATIENCE):
        end = time.monotonic() + patience
        while time.monotonic() < end:
            reply = operator.rest("GET", "/approvals?state=pending")
            rows = (reply.json() or {}).get("approvals") or []
            if rows:
                return rows[0]["id"]
            time.sleep(0.05)
        raise Broken("nobody is asked")

    def do_submit(self, step):
        """It is sent, and waits; its answer belongs to the first `run`."""
        plan = {"step": step, "user": self.sessions[step["session"]][0], "box": []}
        client, request = self.of(step), self.plan_request(step, step["session"])
        operator = self.operator(plan["user"])

        def run():
            try:
                plan["box"].append(client.run(request, None))
            except (batch.Gone, OSError):
                pass
        plan["thread"] = threading.Thread(target=run, daemon=True)
        plan["thread"].start()
        plan["approval"] = self.pending(operator)
        self.plans[step["as"]] = plan

    def do_approve(self, step):
        """Over REST. Who has asked tries first, with a key that may not."""
        plan = self.plans[step["plan"]]
        where, scope = "/approvals/" + plan["approval"], step.get("scope")
        own = self.clients[plan["user"]].rest("POST", where, {"answer": "once"})
        if own.status < 400:
            self.problems.append("[%s] whoever asks approves its own: %.200r" % (self.door, own.body))
        # A text or file that changes is tried against more than one use: the whole session.
        answer = {"answer": "tool", "arguments": scope["args"]} if scope else \
            {"answer": "session" if "TOCTOU" in self.case.get("class", "") else "once"}
        reply = self.operator(plan["user"]).rest("POST", where, answer)
        if reply.status != 200:
            raise Broken("not approved: %d %.300r" % (reply.status, reply.body))
        plan["thread"].join(PATIENCE)
        if not plan["box"]:
            raise batch.Gone("what was approved does not end")

    def do_run(self, step):
        plan = self.plans[step["plan"]]
        # What has run already cannot be changed: it is the next one that must not use the same answer.
        changed = "code" in step or "session" in step or "TOCTOU" in self.case.get("class", "")
        if plan["box"] and not changed:
            with self.lock:
                if plan["box"]:
                    return plan["box"].pop()
        request = self.plan_request(dict(plan["step"], **({"code": step["code"]} if "code" in step else {})),
                                    step.get("session", plan["step"]["session"]))
        client = self.of(step) if "session" in step else self.clients[plan["user"]]
        return client.run(request, None)

    def do_put_file(self, step):
        client, answers = self.of(step), []
        for path in spellings(step["path"]):
            answers.append(client.of_rest(client.rest(
                "PUT", "/sessions/%s/files/%s" % (self.sid(step["session"]), path), step["text"].encode())))
        return together(answers)

    def do_get_file(self, step):
        client, answers = self.of(step), []
        patience = step.get("timeout_ms", PATIENCE * 1000) / 1000
        for path in spellings(step["path"]):
            answers.append(client.of_rest(client.rest(
                "GET", "/sessions/%s/files/%s" % (self.sid(step["session"]), path), patience=patience)))
        return together(answers)

    def do_list_files(self, step):
        client = self.of(step)
        return client.of_rest(client.rest("GET", "/sessions/%s/files" % self.sid(step["session"]),
                                          patience=step.get("timeout_ms", PATIENCE * 1000) / 1000))

    def do_rpc(self, step):
        return self.of(step).of_rpc(self.of(step).post(octets(step)))

    def do_bridge(self, step):
        data = repr(octets(step)) if "gen" not in step else "%r + %r * %d + %r" % (
            step["gen"]["prefix"].encode(), step["gen"]["repeat"].encode(), step["gen"]["times"],
            step["gen"]["suffix"].encode())
        code = STUB % (data, step.get("hold_ms", 0) / 1000)
        return self.of(step).run({"code": code, "language": "python", "timeout_ms": 2 * TIMEOUT_MS,
                                  "session_id": self.sid(step["session"])}, None)

    def do_cancel(self, step):
        client, number = self.of(step), self.wait_id(step["run"])
        answers = [client.of_rest(client.rest("DELETE", "/executions/" + urllib.parse.quote(number, safe="")))]
        if self.door == "mcp":
            # A notification has no answer; what it was about shows that it had no effect.
            client.post(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled",
                                    "params": {"requestId": number}}).encode())
        return together(answers)

    def do_sleep(self, step):
        time.sleep(step["ms"] / 1000)

    def do_audit_read(self, step):
        """The ledger, the records of executions, and what the daemon has written down."""
        client = self.of(step)
        records = client.rest("GET", "/executions")
        return Answer(records.body, texts=[self.server.audit("list", "-n", "1000").stdout.decode(), self.server.said()])

    def do_audit_verify(self, step):
        """An export of the ledger in use, changed, and checked with the key of this data directory."""
        export = self.server.audit("export")
        if export.returncode != 0:
            raise Broken("no export: %s" % export.stderr[-400:])
        path = os.path.join(self.server.state, "export-%s.jsonl" % self.door)
        with open(path, "wb") as f:
            f.write(MUTATIONS[step["mutate"]](export.stdout))
        done = self.server.audit("verify", path)
        os.unlink(path)
        if done.returncode not in (0, 1):
            raise Broken("audit verify: %s" % done.stderr[-400:])
        return Answer(done.stdout + done.stderr, "validation" if done.returncode else None)

    # Judging

    def check(self, a):
        if "host_file_absent" in a:
            return "%s is there" % a["host_file_absent"] if os.path.lexists(a["host_file_absent"]) else None
        if "ledger" in a:
            return self.check_ledger(a)
        answer = self.answers.get(a["of"])
        if answer is None:
            return "%s has no answer" % a["of"]
        holds = {
            "equals": lambda: answer.error is None and answer.result == a["value"],
            "contains": lambda: answer.has(a["value"]),
            "not_contains": lambda: not answer.has(a["value"]),
            "error": lambda: answer.error is not None,
            "ok": lambda: answer.error is None,
            "error_or_truncated": lambda: answer.error is not None or answer.truncated,
        }[a["assert"]]()
        if holds:
            return None
        return "%s: not '%s %s' but %s: %.300s" % (a["of"], a["assert"], a.get("value", ""),
                                                    answer.error or "a result", answer.texts[0])

    def check_ledger(self, a):
        """What the fixture has really done at this door."""
        entries = self.fixture.read(self.fixture.ledger)
        count = sum(a.get("value", "") in json.dumps(e) for e in entries)
        holds = {"empty": not entries, "count": count == a.get("is"), "not_contains": not count}[a["ledger"]]
        return None if holds else "the ledger of the fixture holds %s" % entries

    def judge_answers(self):
        expect = self.case["expect"]
        for step, answer in self.all:
            leaked = sorted({bad for bad in expect["must_not_contain"] if answer.has(bad)})
            if leaked and step["op"] != "audit_read":
                self.problems.append("[%s] the answer to %s contains %s: %.300s" % (
                    self.door, step.get("as", step["op"]), ", ".join(leaked), answer.texts[0]))
            # A step without a name prepares something; how that went shows in those that have one.
            wanted = expect["error_types"] if "as" in step else ()
            if answer.error is not None and wanted and answer.error not in wanted:
                self.problems.append("[%s] %s: error type %s, not one of %s: %.300s" % (
                    self.door, step.get("as", step["op"]), answer.error, ", ".join(wanted), answer.texts[0]))
        if self.case["id"] == "D46" and not self.no:
            self.problems.append("[%s] nobody was ever told to stop" % self.door)

    def end(self):
        """Everything that was opened is closed."""
        for name, (user, sid) in list(self.sessions.items()):
            self.clients[user].rest("DELETE", "/sessions/" + sid)
        self.sessions.clear()


def spellings(path):
    """A path in a URL: its slashes kept, its slashes escaped, and as it is where a request line allows that."""
    data = path.encode("utf-8", "surrogatepass")
    forms = [urllib.parse.quote(data, safe="/"), urllib.parse.quote(data, safe="")]
    if re.fullmatch(r"[!-~]*", path) and not re.search(r"[?#]", path):
        forms.append(path)
    return list(dict.fromkeys(forms))


def together(answers):
    """Several tries of one step: an error if all of them are."""
    error = None if any(a.error is None for a in answers) else answers[0].error
    whole = Answer(answers[0].raw, error, next((a.result for a in answers if a.error is None), None))
    whole.texts = [t for a in answers for t in a.texts]
    return whole


def generate(gen):
    return (gen["prefix"] + gen["repeat"] * gen["times"] + gen["suffix"]).encode()


def octets(step):
    return bytes.fromhex(step["hex"]) if "hex" in step else generate(step["gen"]) if "gen" in step \
        else step["raw"].encode()

"""Spans over OTLP, and traceparent from the caller to the servers that are called."""

import json
import os
import re
import sys

from mcp_wire import Lines, call
from serving import Daemon
from servers import recorder
from watching import RECORDER, Receiver, metrics, spans_of, until

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE, SPAN = PARENT.split("-")[1:3]


def with_recorder(t, http=None):
    calls = os.path.join(t.dir, "calls")
    servers = {"rec": {"command": sys.executable, "args": [RECORDER, calls]}}
    if http:
        servers["far"] = {"type": "http", "url": http.url + "/mcp"}
    t.file("caisson.json", json.dumps({"mcpServers": servers}))
    return calls


def heard(calls):
    return [json.loads(line) for line in open(calls)] if os.path.exists(calls) else []


def test_spans_of_an_execution_and_its_calls(t):
    calls = with_recorder(t)
    with Receiver() as collector, Daemon(t, "--otlp.endpoint", collector.url + "/") as d:
        code = ("await rec.echo({secret: 'SECRET-ARGUMENT'}); try { await rec.fail({}) } catch {}; "
                "console.log('SECRET-LOG'); return 'SECRET-RESULT'")
        d.post("/executions", {"code": code, "intent": "SECRET-INTENT"}, headers={"traceparent": PARENT})
        d.run("throw new Error('SECRET-MESSAGE')")
        until(t, "the spans", lambda: len(spans_of(collector.taken())) == 4)
        t.equal({path for path, *_ in collector.got}, {"/v1/traces"})
        t.equal({headers["Content-Type"] for _, headers, *_ in collector.got}, {"application/json"})
        resource = collector.taken()[0]["resourceSpans"][0]["resource"]["attributes"]
        t.true({"key": "service.name", "value": {"stringValue": "caisson"}} in resource, str(resource))
        spans = spans_of(collector.taken())
        for s in spans:
            t.true(re.fullmatch("[0-9a-f]{32}", s["traceId"]) and re.fullmatch("[0-9a-f]{16}", s["spanId"]), str(s))
            t.true(int(s["startTimeUnixNano"]) <= int(s["endTimeUnixNano"]), "times: %s" % s)
        t.equal(len({s["spanId"] for s in spans}), 4, "each span has its own id")
        one, bad = [s for s in spans if s["kind"] == 2]
        t.equal((one["traceId"], one["parentSpanId"], one["name"]), (TRACE, SPAN, "execute typescript"))
        a = one["attributes"]
        t.equal((a["caisson.status"], a["caisson.tenant"], a["caisson.language"], a["caisson.tool_calls"], a["caisson.cached"]),
                ("completed", "default", "typescript", "2", False))
        t.true(a["caisson.execution.id"].startswith("ex_") and a["caisson.risk"], str(a))
        t.equal((one["status"]["code"], bad["status"]["code"]), (1, 2))
        t.equal((bad["attributes"]["error.type"], "parentSpanId" in bad, bad["traceId"] != TRACE), ("runtime_error", False, True))
        children = [s for s in spans if s["kind"] == 3]
        for child in children:
            t.equal((child["traceId"], child["parentSpanId"]), (TRACE, one["spanId"]), "a call belongs to its execution")
            t.true(int(one["startTimeUnixNano"]) <= int(child["startTimeUnixNano"])
                   and int(child["endTimeUnixNano"]) <= int(one["endTimeUnixNano"]), "a call lies within its execution")
        by_tool = {c["attributes"]["gen_ai.tool.name"]: c for c in children}
        t.equal(sorted(by_tool), ["echo", "fail"])
        t.equal([by_tool[n]["attributes"]["caisson.call.status"] for n in ("echo", "fail")], ["ok", "error"])
        t.equal([by_tool[n]["attributes"]["caisson.server"] for n in ("echo", "fail")], ["rec", "rec"])
        t.true("SECRET" not in json.dumps(collector.got), "a value is in a span")
        # What the server was told is the span of its call.
        told = {c["name"]: c["_meta"]["traceparent"] for c in heard(calls)}
        t.equal(told, {n: "00-%s-%s-01" % (TRACE, by_tool[n]["spanId"]) for n in by_tool})
        until(t, "the count", lambda: metrics(d)["caisson_otlp_spans_total"] >= 4)  # when the answer has come
        t.equal(metrics(d)["caisson_otlp_spans_total"], 4)


def test_a_collector_that_fails_is_tried_again_and_never_waited_for(t):
    with_recorder(t)
    with Receiver(statuses=[503, 429]) as collector, Daemon(t, "--otlp.endpoint", collector.url) as d:
        d.run("return 1")
        until(t, "the span", lambda: len(spans_of(collector.taken())) == 1)
        t.equal([status for *_, status in collector.got], [503, 429, 200])
        d.await_said("otlp: not delivered: the address answered HTTP 503")
    with Receiver(statuses=[400]) as collector, Daemon(t, "--otlp.endpoint", collector.url) as d:
        d.run("return 1")
        until(t, "the refusal", lambda: metrics(d)["caisson_otlp_spans_dropped_total"] == 1)
        t.equal(len(collector.got), 1, "what is refused for good is not sent again")
    # Nobody is there at all.
    with Daemon(t, "--otlp.endpoint", "http://127.0.0.1:9") as d:
        for _ in range(5):
            t.equal(d.run("return 1")["status"], "completed")
        d.stop()
        t.equal(d.wait(60), 0)


def test_the_last_spans_leave_before_the_end(t):
    with_recorder(t)
    with Receiver() as collector:
        with Daemon(t, "--otlp.endpoint", collector.url) as d:
            d.run("return 1")
        t.equal(len(spans_of(collector.taken())), 1)


def test_a_trace_is_handed_on_even_if_nobody_collects(t):
    with Receiver(reply=recorder.answer) as far:
        calls = with_recorder(t, far)
        with Daemon(t) as d:
            code = "await rec.echo({}); await far.echo({}); return 1"
            ok = d.post("/executions", {"code": code}, headers={"traceparent": PARENT}).json()
            t.equal((ok["status"], ok.get("error")), ("completed", None))
            # Without one, or with one that is malformed, nothing is made up.
            d.run(code)
            for bad in (PARENT[:-1], PARENT.upper(), "00-%s-%s-01" % ("0" * 32, SPAN), "ff" + PARENT[2:], PARENT + "-x"):
                d.post("/executions", {"code": code}, headers={"traceparent": bad})
        near = [c["_meta"] for c in heard(calls)]
        there = [(headers, body["params"]["_meta"]) for _, headers, body, _ in far.got if body and body.get("method") == "tools/call"]
        t.equal((len(near), len(there)), (7, 7))
        t.true(re.fullmatch("00-%s-[0-9a-f]{16}-01" % TRACE, near[0]["traceparent"]), str(near[0]))
        t.true(SPAN not in near[0]["traceparent"], "the span is the call's, not the caller's")
        t.equal(there[0][0]["traceparent"], there[0][1]["traceparent"], "header and message agree")
        t.true(there[0][0]["traceparent"].startswith("00-%s-" % TRACE), str(there[0]))
        for meta in near[1:] + [m for _, m in there[1:]]:
            t.true("traceparent" not in meta, str(meta))
        for headers, _ in there[1:]:
            t.true("traceparent" not in {h.lower() for h in headers}, str(headers))


def test_a_caller_that_does_not_sample_is_not_collected(t):
    calls = with_recorder(t)
    with Receiver() as collector:
        with Daemon(t, "--otlp.endpoint", collector.url) as d:
            d.post("/executions", {"code": "return await rec.echo({})"}, headers={"traceparent": PARENT[:-2] + "00"})
        t.equal(spans_of(collector.taken()), [])
        t.true(re.fullmatch("00-%s-[0-9a-f]{16}-00" % TRACE, heard(calls)[0]["_meta"]["traceparent"]), "handed on as it is")


def test_a_trace_of_an_mcp_client(t):
    calls = with_recorder(t)
    with Daemon(t) as d:
        hello = d.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
            headers={"Accept": "application/json, text/event-stream"})
        session = hello.headers["Mcp-Session-Id"]
        headers = {"Accept": "application/json, text/event-stream", "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-06-18"}
        d.post("/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
        call = {"name": "execute_code", "arguments": {"code": "return await rec.echo({n: 1})"}}
        other = PARENT.replace("0af7", "1af7")
        d.post("/mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}, headers=dict(headers, traceparent=PARENT))
        d.post("/mcp", {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": dict(call, _meta={"traceparent": other})},
               headers=dict(headers, traceparent=PARENT))
        d.post("/mcp", {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": dict(call, _meta={"traceparent": 7})}, headers=headers)
    told = [c["_meta"].get("traceparent", "none").split("-")[1:2] for c in heard(calls)]
    t.equal(told, [[TRACE], [TRACE.replace("0af7", "1af7")], []])


def test_a_trace_of_a_client_over_stdio(t):
    calls = with_recorder(t)
    with Receiver() as collector:
        with Lines(t, [t.binary, "mcp", "--otlp.endpoint", collector.url]) as m:
            m.initialize()
            request = call(1, "execute_code", {"code": "return await rec.echo({n: 1})"})
            request["params"]["_meta"] = {"traceparent": PARENT}
            m.ask(request)
            t.equal(m.end(), 0, "exit status")
        one, child = sorted(spans_of(collector.taken()), key=lambda s: s["kind"])
        t.equal((one["traceId"], one["parentSpanId"], child["parentSpanId"]), (TRACE, SPAN, one["spanId"]))
        t.equal(heard(calls)[0]["_meta"]["traceparent"], "00-%s-%s-01" % (TRACE, child["spanId"]))

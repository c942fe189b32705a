"""The MCP door as clients see it over HTTP: sessions, streams that are cut and taken up, callers kept apart.

What the conformance suite asks is not asked again here.
"""

import http.client
import json
import random
import socket
import threading
import time

from harness import table
from mcp_wire import (FORM, META, TASKS, Http, answers, call, code, fixtures, hello, notification, request, text,
                      until)

DRIVES_TOOLS = True  # of the test build; the program itself is not in it


def over_http(t):
    return Http(t, [fixtures(t), "0"])


def test_an_answer_is_json_unless_something_comes_before_it(t):
    with over_http(t) as s:
        s.initialize()
        status, headers, _ = s.reply("POST", call(1, "test_simple_text"))
        t.equal((status, headers["Content-Type"]), (200, "application/json"))
        got = s.stream("POST", call(2, "test_tool_with_progress", meta={"progressToken": 1}))
        t.has(got.type, "text/event-stream")
        all = got.all()
        t.equal(all[0], "primer")
        t.equal([m.get("method") for m in all[1:]], ["notifications/progress"] * 3 + [None])
        t.equal(len(set(got.ids)), len(got.ids), "ids that differ")
        status, headers, text = s.reply("POST", call(3, "test_tool_with_progress", meta={"progressToken": 1}),
                                        {"Accept": "application/json"})
        t.equal(headers["Content-Type"], "application/json")
        status, headers, text = s.reply("POST", request(5, "ping"), {"Accept": "text/event-stream"})
        t.has(headers["Content-Type"], "text/event-stream")
        message, more = s.modern(call(4, "test_tool_with_progress"), meta={"progressToken": 1})
        got = s.stream("POST", message, more)
        t.equal([m.get("method") for m in got.all()], ["notifications/progress"] * 3 + [None])
        t.equal(got.ids, [])


def test_older_clients_get_no_event_without_data(t):
    with over_http(t) as s:
        s.initialize("2025-06-18")
        got = s.stream("POST", call(2, "test_tool_with_progress", meta={"progressToken": 1}))
        t.true("primer" not in got.all(), "no primer")


@table([("none", None, 400), ("one that never was", "x" * 43, 404), ("an empty one", "", 404), ("a long one", "y" * 3000, 404)])
def test_a_session_is_needed_and_must_be_alive(t, _name, id, wanted):
    with over_http(t) as s:
        s.initialize()
        for method, body in (("POST", request(1, "ping")), ("POST", notification("x")), ("DELETE", None)):
            t.equal(s.reply(method, body, {"Mcp-Session-Id": id})[0], wanted, method)
        t.equal(s.reply("GET", None, {"Mcp-Session-Id": id})[0], 405 if id is None else wanted, "GET")
        t.equal(s.post(request(2, "ping"))[1]["result"], {})


def test_a_session_that_was_ended_is_gone(t):
    with over_http(t) as s:
        s.initialize()
        get = s.stream("GET")
        long = s.stream("POST", call(1, "test_reconnection"))
        t.equal(s.reply("DELETE")[0], 204)
        t.equal(get.all(), ["primer"])
        long.all()
        status, _, body = s.reply("POST", request(2, "ping"))
        t.equal((status, json.loads(body)["id"]), (404, 2))
        t.equal(s.reply("GET")[0], 404)
        t.equal(s.reply("DELETE")[0], 404)


def test_a_session_of_somebody_else_is_not_there(t):
    with over_http(t) as s:
        s.bearer = "ada"
        s.initialize(capabilities={"elicitation": {}})
        call_stream = s.stream("POST", call(1, "test_elicitation", {"message": "?"}))
        t.equal(call_stream.get(), "primer")
        asked = call_stream.get()
        s.bearer = "eve"
        t.equal(s.reply("POST", request(2, "ping"))[0], 404)
        t.equal(s.reply("GET", None, {"Last-Event-ID": call_stream.ids[0]})[0], 404)
        t.equal(s.reply("DELETE")[0], 404)
        t.equal(s.reply("POST", {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}})[0], 404)
        mine = s.session
        s.initialize()
        t.equal(s.reply("POST", {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}})[0], 202)
        t.equal(s.reply("POST", notification("notifications/cancelled", {"requestId": 1}))[0], 202)
        s.bearer, s.session = "ada", mine
        t.equal(s.reply("POST", {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept",
                                                                                 "content": {"username": "Ada"}}})[0], 202)
        t.has(text(call_stream.get()), "Ada")


@table([("PUT", {}, 405), ("PATCH", {}, 405), ("POST", {"Content-Type": "text/plain"}, 415),
        ("POST", {"Accept": "text/html"}, 406), ("POST", {"MCP-Protocol-Version": "1999-01-01"}, 400),
        ("GET", {"Accept": "application/json"}, 406), ("GET", {"MCP-Protocol-Version": "2026-07-28"}, 405),
        ("DELETE", {"MCP-Protocol-Version": "2026-07-28"}, 405), ("GET", {"MCP-Protocol-Version": "x"}, 400),
        ("GET", {"Last-Event-ID": "99_1"}, 400), ("GET", {"Last-Event-ID": "x"}, 400),
        ("GET", {"Last-Event-ID": "1_" + "9" * 50}, 400)])
def test_what_is_not_served_is_refused(t, method, headers, wanted):
    with over_http(t) as s:
        s.initialize()
        status, got, _ = s.reply(method, request(1, "ping") if method not in ("GET", "DELETE") else None, headers)
        t.equal(status, wanted)
        t.equal("Allow" in got, wanted == 405, "Allow")
        t.equal(s.post(request(2, "ping"))[1]["result"], {})


def test_a_body_that_is_too_large_is_refused(t):
    with over_http(t) as s:
        s.initialize()
        body = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"' + b"x" * (16 << 20) + b'"}}'
        try:
            t.equal(s.reply("POST", body)[0], 413)
        except (ConnectionError, OSError):
            pass  # it was told while it was still sending
        t.equal(s.post(request(2, "ping"))[1]["result"], {})


def test_the_stream_of_a_session_tells_what_changes(t):
    with over_http(t) as s:
        s.initialize()
        get = s.stream("GET")
        t.equal(get.get(), "primer")
        s.post(call(1, "test_trigger_tool_change"))
        t.equal(get.get()["method"], "notifications/tools/list_changed")
        get.close()
        time.sleep(0.2)
        s.post(call(2, "test_trigger_prompt_change"))
        again = s.stream("GET", None, {"Last-Event-ID": get.ids[-1]})
        t.equal(again.get()["method"], "notifications/prompts/list_changed")
        other = s.stream("GET")
        t.equal(again.get(), None)
        t.equal(other.get(), "primer")
        s.post(call(3, "test_trigger_tool_change"))
        t.equal(other.get()["method"], "notifications/tools/list_changed")


def test_a_stream_that_was_cut_is_resumed_and_only_it(t):
    with over_http(t) as s:
        s.initialize()
        a = s.stream("POST", call("a", "test_tool_with_progress", meta={"progressToken": "a"}))
        b = s.stream("POST", call("b", "test_tool_with_progress", meta={"progressToken": "b"}))
        t.equal(a.get(), "primer")
        t.equal(a.get()["params"]["progress"], 0)
        a.close()
        t.equal(b.all()[-1]["id"], "b")
        rest = s.stream("GET", None, {"Last-Event-ID": a.ids[1]}).all()
        t.equal([m["params"]["progress"] if "params" in m else m["id"] for m in rest], [50, 100, "a"])
        rest = s.stream("GET", None, {"Last-Event-ID": a.ids[0]}).all()
        t.equal(len(rest), 4)


def test_hanging_up_cancels_in_the_newest_revision_alone(t):
    with over_http(t) as s:
        s.initialize()

        def count():
            return int(text(s.post(call("r", "test_running"))[1]))
        for modern in (False, True):
            message, headers = call(1, "slow_compute", {"seconds": 60 if modern else 5}), {}
            if modern:
                message, headers = s.modern(message)
            connection = http.client.HTTPConnection(s.host, timeout=60)
            all = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json",
                   "Mcp-Session-Id": s.session, "MCP-Protocol-Version": s.version, **headers}
            connection.request("POST", s.path, json.dumps(message).encode(),
                               {k: v for k, v in all.items() if v is not None})
            until(t, "it runs", lambda: count() == 1, 30)
            connection.close()
            if modern:
                until(t, "it is cancelled", lambda: count() == 0, 30)
            else:
                time.sleep(1.2)
                t.equal(count(), 1, "it goes on")
                until(t, "it ends", lambda: count() == 0, 60)


def test_a_result_waits_for_the_client_that_was_cut(t):
    with over_http(t) as s:
        s.initialize()
        got = s.stream("POST", call(1, "test_reconnection"))
        t.equal(got.all(), ["primer"])
        t.true(got.retry and got.retry > 0, "retry")
        time.sleep(0.8)
        again = s.stream("GET", None, {"Last-Event-ID": got.ids[0]})
        t.equal([m["id"] for m in again.all()], [1])


def test_a_call_that_takes_long_can_be_taken_up_though_it_has_said_nothing(t):
    with over_http(t) as s:
        s.initialize()
        got = s.stream("POST", call("long", "slow_compute", {"seconds": 2.5}))
        t.has(got.type, "text/event-stream")
        t.equal(got.get(), "primer")
        got.close()
        again = s.stream("GET", None, {"Last-Event-ID": got.ids[0]})
        t.equal([m["id"] for m in again.all()], ["long"])


def test_a_cancelled_call_over_http_ends_its_stream_without_an_answer(t):
    with over_http(t) as s:
        s.initialize()
        got = []
        thread = threading.Thread(target=lambda: got.append(s.reply("POST", call(1, "slow_compute", {"seconds": 60}))))
        thread.start()
        until(t, "it runs", lambda: text(s.post(call("r", "test_running"))[1]) == "1", 30)
        s.post(notification("notifications/cancelled", {"requestId": 1}))
        thread.join(50)
        t.equal((got[0][0], "result" in got[0][2]), (200, False))


def test_batches_over_http(t):
    with over_http(t) as s:
        s.initialize("2025-03-26")
        both = [request(1, "ping"), call(2, "slow_compute", {"seconds": 0.1}), notification("x")]
        status, headers, body = s.reply("POST", both, {"Accept": "application/json"})
        t.equal(sorted(m["id"] for m in json.loads(body)), [1, 2])
        t.equal(sorted(m["id"] for m in s.stream("POST", both).all()), [1, 2])
        t.equal(s.reply("POST", [notification("x")])[0], 202)
        t.equal(s.reply("POST", [])[0], 400)
        status, _, body = s.reply("POST", [hello("2025-03-26")], {"Accept": "application/json"})
        t.equal(code(json.loads(body)[0]), -32600)
        s.initialize("2025-06-18")
        t.equal(s.reply("POST", both)[0], 400)


def test_the_newest_revision_knows_no_batches_and_no_responses(t):
    with over_http(t) as s:
        one, headers = s.modern(request(1, "tools/list"))
        t.equal(s.reply("POST", [one], headers)[0], 400)
        t.equal(s.reply("POST", {"jsonrpc": "2.0", "id": 1, "result": {}}, headers)[0], 400)


@table([("a state", None, "eve"), ("a task", TASKS, "eve")])
def test_what_was_begun_by_one_is_not_continued_by_another(t, what, capabilities, other):
    with over_http(t) as s:
        s.bearer = "ada"
        if capabilities is None:
            name = "test_input_required_result_elicitation"
            state = s.ask(call(1, name), FORM)[1]["result"]["requestState"]
            retry = call(2, name, requestState=state, inputResponses=answers(user_name={"name": "Ada"}))
            s.bearer = other
            t.equal(code(s.ask(retry, FORM)[1]), -32602)
            s.bearer = "ada"
            t.has(text(s.ask(retry, FORM)[1]), "Ada")
            return
        id = s.ask(call(1, "slow_compute", {"seconds": 60}), capabilities)[1]["result"]["taskId"]
        s.bearer = other
        for method in ("tasks/get", "tasks/cancel", "tasks/update"):
            got = s.ask(request(2, method, {"taskId": id, "inputResponses": {}}), capabilities)[1]
            t.equal(code(got), -32602, method)
        s.bearer = "ada"
        t.equal(s.ask(request(3, "tasks/get", {"taskId": id}), capabilities)[1]["result"]["status"], "working")
        s.ask(request(4, "tasks/cancel", {"taskId": id}), capabilities)
        t.equal(s.ask(request(5, "tasks/get", {"taskId": id}), capabilities)[1]["result"]["status"], "cancelled")


def test_a_task_outlives_the_session_that_began_it(t):
    with over_http(t) as s:
        s.initialize()
        id = s.post(call(1, "slow_compute", {"seconds": 1}, task={}))[1]["result"]["task"]["taskId"]
        s.reply("DELETE")
        s.initialize()
        got = s.post(request(2, "tasks/result", {"taskId": id}))[1]
        t.equal(got["result"]["content"][0]["text"], "It is done.")


def test_a_question_of_a_task_goes_to_whoever_waits_for_its_result(t):
    with over_http(t) as s:
        s.initialize(capabilities={"elicitation": {}})
        id = s.post(call(1, "confirm_delete", task={}))[1]["result"]["task"]["taskId"]
        waiting = s.stream("POST", request(2, "tasks/result", {"taskId": id}))
        t.equal(waiting.get(), "primer")
        asked = waiting.get()
        t.equal(asked["params"]["_meta"][META + "related-task"], {"taskId": id})
        s.post({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"confirm": True}}})
        t.has(text(waiting.get()), "confirm")


def test_sessions_are_bounded_and_the_idle_ones_make_place(t):
    with over_http(t) as s:
        s.initialize()
        first = s.session
        connection = http.client.HTTPConnection(s.host, timeout=60)
        s.session = s.version = None
        for _ in range(1000):
            t.equal(s.reply("POST", hello(), connection=connection)[0], 200)
        t.equal(s.reply("POST", request(1, "ping"), {"Mcp-Session-Id": first})[0], 404)
        del t.log[:-5]


def test_a_listener_over_http_is_told_until_it_hangs_up(t):
    with over_http(t) as s:
        message, headers = s.modern(request("L", "subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
        got = s.stream("POST", message, headers)
        t.equal(got.get()["method"], "notifications/subscriptions/acknowledged")
        s.ask(call(1, "test_trigger_tool_change"))
        t.equal(got.get()["params"]["_meta"], {META + "subscriptionId": "L"})
        s.ask(call(2, "test_trigger_prompt_change"))
        s.p.terminate()
        t.equal(got.get()["result"]["_meta"][META + "subscriptionId"], "L")
        t.equal(got.get(), None)


def test_many_clients_that_come_and_go(t):
    with over_http(t) as s:
        s.initialize(capabilities={"elicitation": {}})
        failed = []

        def client(seed):
            dice = random.Random(seed)
            try:
                for i in range(12):
                    what = dice.randint(0, 3)
                    if what == 0:
                        got = s.post(call("%d-%d" % (seed, i), "test_echo", {"n": i}))
                        if json.loads(text(got[1])) != {"n": i}:
                            failed.append(got)
                    elif what == 1:
                        one = s.stream("POST", call("%d-%d" % (seed, i), "test_tool_with_progress",
                                                    meta={"progressToken": i}))
                        one.get()
                        one.close()
                    elif what == 2:
                        message, headers = s.modern(call(i, "slow_compute", {"seconds": 5}), meta={"progressToken": i})
                        h, p = s.host.split(":")
                        with socket.create_connection((h, int(p))) as raw:
                            body = json.dumps(message).encode()
                            head = "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n" % s.host
                            head += "Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n" % len(body)
                            head += "".join("%s: %s\r\n" % x for x in headers.items() if x[1]) + "\r\n"
                            raw.sendall(head.encode() + body)
                            time.sleep(dice.random() * 0.05)
                    else:
                        got = s.ask(call(i, "test_input_required_result_elicitation"), FORM)
                        if got[1]["result"]["resultType"] != "input_required":
                            failed.append(got)
            except Exception as e:  # whatever it is, it is this test's to tell
                failed.append(repr(e))
        threads = [threading.Thread(target=client, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(180)
        t.equal(failed, [])
        t.equal(s.post(request("p", "ping"))[1]["result"], {})

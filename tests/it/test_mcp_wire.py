"""The MCP door as clients see it over pipes: raw messages, to a server with the fixtures of the suite.

What the conformance suite asks is not asked again here.
"""

import json
import random
import threading
import time

from harness import table
from mcp_wire import (FORM, LEGACY, META, TASKS, Lines, answers, call, code, envelope, fixtures, hello, notification,
                      request, text)

DRIVES_TOOLS = True  # of the test build; the program itself is not in it


def lines(t):
    return Lines(t, [fixtures(t)])


def running(s, id):
    return int(text(s.ask(call(id, "test_running"))))


# --- messages ---

@table([("a number", 7), ("a text", "7"), ("a text with an escape", "a\"\\é"), ("zero", 0), ("negative", -3),
        ("large", 9007199254740993), ("an empty text", "")])
def test_ids_come_back_with_their_type(t, _name, id):
    with lines(t) as s:
        s.send(request(id, "ping"))
        got = s.get()
        t.equal(got["id"], id)
        t.true(type(got["id"]) is type(id), "the type of the id")


@table([("null", "null"), ("a fraction", "1.5"), ("an object", "{}"), ("true", "true"),
        ("a very long one", '"' + "x" * 600 + '"')])
def test_other_ids_are_refused(t, _name, id):
    with lines(t) as s:
        s.raw(b'{"jsonrpc":"2.0","id":%s,"method":"ping"}\n' % id.encode())
        got = s.get()
        t.equal(code(got), -32600)
        t.equal(got["id"], None)


@table([("no JSON", "{", -32700), ("two keys of one name", '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700),
        ("a text", '"ping"', -32600), ("another version", '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        ("no method", '{"jsonrpc":"2.0","id":1}', -32600),
        ("parameters that are a list", '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600),
        ("bytes that are no text", b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700),
        ("too deep", '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + "[" * 500 + "]" * 500 + "}}", -32700)])
def test_malformed_messages_are_answered_and_the_next_is_heard(t, _name, line, wanted):
    with lines(t) as s:
        s.raw((line if isinstance(line, bytes) else line.encode()) + b"\n")
        t.equal(code(s.get()), wanted)
        t.equal(s.ask(request(5, "ping"))["result"], {})


def test_a_first_message_that_is_not_initialize_is_answered(t):
    with lines(t) as s:
        t.equal(code(s.ask(request(1, "tools/list"))), -32600)
        t.equal(code(s.ask(request(2, "server/discover"))), -32602)
        t.equal(s.initialize()["protocolVersion"], LEGACY)
        t.true(len(s.ask(request(3, "tools/list"))["result"]["tools"]) > 10, "tools")
        t.equal(code(s.ask(request(4, "no/such"))), -32601)


def test_notifications_are_never_answered(t):
    with lines(t) as s:
        s.initialize()
        s.send(notification("no/such"), notification("tools/call", {"name": "test_simple_text"}),
               {"jsonrpc": "2.0", "id": 77, "result": {}}, {"jsonrpc": "2.0", "id": 78, "error": {"code": 1, "message": ""}})
        s.silent()
        t.equal(s.ask(request(5, "ping"))["result"], {})


@table([("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"), ("2026-07-28", "2025-11-25"), ("1999-01-01", "2025-11-25")])
def test_initialize_agrees_on_a_version(t, asked, wanted):
    with lines(t) as s:
        got = s.initialize(asked)
        t.equal(got["protocolVersion"], wanted)
        t.equal("tasks" in got["capabilities"], wanted == "2025-11-25")


def test_line_separators_do_not_cut_a_line(t):
    with lines(t) as s:
        s.initialize()
        s.raw('{"jsonrpc":"2.0","id":"\u2028","method":"tools/call","params":{"name":"test_echo","arguments":'
              '{"a":"x\u2028y\u2029z\u0085"}}}\r\n'.encode())
        line = s.line()
        for c in "\u2028\u2029\u0085":
            t.true(c.encode() not in line, "%r is not escaped" % c)
        got = json.loads(line)
        t.equal(got["id"], "\u2028")
        t.equal(json.loads(text(got)), {"a": "x\u2028y\u2029z\u0085"})


def test_messages_in_pieces_and_many_in_one(t):
    with lines(t) as s:
        data = b"".join(json.dumps(request(i, "ping")).encode() + b"\n" for i in range(200))
        for at in range(0, len(data), 777):
            s.raw(data[at:at + 777])
        t.equal(sorted(s.get()["id"] for _ in range(200)), list(range(200)))


def test_a_message_that_is_too_large_costs_only_itself(t):
    with lines(t) as s:
        s.raw(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"')
        for _ in range(17):
            s.raw(b"x" * (1 << 20))
        s.raw(b'"}}\n')
        t.equal(code(s.get()), -32600)
        t.equal(s.ask(request(5, "ping"))["result"], {})


def test_a_large_message_comes_back_whole(t):
    with lines(t) as s:
        s.initialize()
        big = "ä" * 2000000
        threading.Thread(target=lambda: s.send(call(1, "test_echo", {"a": big}))).start()
        t.equal(json.loads(text(s.answer(1)))["a"], big)


def test_batches_of_their_revision(t):
    with lines(t) as s:
        s.initialize("2025-03-26")
        s.send([request(1, "ping"), notification("x"), request("b", "no/such"), call(3, "test_simple_text"), 5])
        got = s.get()
        t.equal(sorted(str(m["id"]) for m in got), ["1", "3", "None", "b"])
        s.send([notification("x"), notification("y")])
        s.silent()
        s.send([hello("2025-03-26")])
        t.equal(code(s.get()[0]), -32600)
        s.send([])
        t.equal(code(s.get()), -32600)
        s.send([call(8, "slow_compute", {"seconds": 0.2}), request(9, "ping")])
        t.equal(sorted(m["id"] for m in s.get()), [8, 9])


def test_batches_of_other_revisions_are_refused(t):
    with lines(t) as s:
        s.initialize("2025-06-18")
        s.send([request(1, "ping")])
        t.equal(code(s.get()), -32600)


def test_a_batch_whose_calls_are_cancelled_is_answered_without_them(t):
    with lines(t) as s:
        s.initialize("2025-03-26")
        s.send([call(8, "slow_compute", {"seconds": 60}), request(9, "ping")])
        s.send(notification("notifications/cancelled", {"requestId": 8}))
        t.equal([m["id"] for m in s.get()], [9])


# --- cancellation ---

def test_a_cancelled_call_is_not_answered_and_stops(t):
    with lines(t) as s:
        s.initialize()
        s.send(call(1, "slow_compute", {"seconds": 3}))
        t.equal(running(s, 2), 1)
        s.send(notification("notifications/cancelled", {"requestId": 1, "reason": "enough"}))
        t.equal(running(s, 3), 0)
        s.silent(3.2)
        t.equal(text(s.ask(call(1, "slow_compute", {"seconds": 0}))), "It is done.")


def test_cancelling_what_is_over_or_unknown_is_harmless(t):
    with lines(t) as s:
        s.initialize()
        s.ask(call(1, "test_simple_text"))
        s.send(*[notification("notifications/cancelled", {"requestId": id}) for id in (1, 99, "1", None, {}, [])])
        s.send(notification("notifications/cancelled"), notification("notifications/cancelled", {"requestId": "hello"}))
        s.silent()
        t.equal(s.ask(request(5, "ping"))["result"], {})


def test_an_id_of_another_type_does_not_cancel(t):
    with lines(t) as s:
        s.initialize()
        s.send(call(1, "slow_compute", {"seconds": 0.5}))
        s.send(notification("notifications/cancelled", {"requestId": "1"}))
        t.equal(text(s.answer(1)), "It is done.")


def test_races_of_answers_and_cancellations(t):
    with lines(t) as s:
        s.initialize()
        dice, answered = random.Random(4), set()
        for i in range(300):
            # In one piece: some are cancelled before they can have ended, however slow this is.
            both = [call(i, "slow_compute", {"seconds": dice.choice([0, 0, 0.002, 0.01])})]
            if dice.random() < 0.7:
                both.append(notification("notifications/cancelled", {"requestId": dice.randint(0, i)}))
            s.send(*both)
        s.send(call("last", "slow_compute", {"seconds": 0.5}))
        while True:
            got = s.get()
            t.true(got["id"] not in answered, "answered twice: %r" % got["id"])
            t.true("result" in got, "an error: %r" % got)
            answered.add(got["id"])
            if got["id"] == "last":
                break
        t.true(30 < len(answered) < 301, "%d were answered" % len(answered))
        t.equal(running(s, "r"), 0)


def test_the_end_of_input_ends_everything(t):
    with lines(t) as s:
        s.initialize(capabilities={"elicitation": {}})
        s.send(call(1, "slow_compute", {"seconds": 60}), call(2, "test_elicitation", {"message": "?"}))
        s.get()
        started = time.monotonic()
        t.equal(s.end(), 0, "exit status")
        t.true(time.monotonic() - started < 30, "it took %.1f s" % (time.monotonic() - started))


def test_a_last_line_without_its_end_is_heard(t):
    with lines(t) as s:
        s.raw(json.dumps(request(1, "ping")).encode())
        s.p.stdin.close()
        t.equal(s.get()["result"], {})
        t.equal(s.p.wait(timeout=60), 0)


def test_an_id_under_way_is_not_taken_twice(t):
    with lines(t) as s:
        s.initialize()
        s.send(call(1, "slow_compute", {"seconds": 0.5}), call(1, "test_simple_text"))
        t.equal(code(s.get()), -32600)
        t.equal(text(s.get()), "It is done.")


def test_so_many_requests_at_once_and_no_more(t):
    with lines(t) as s:
        s.initialize()
        for i in range(300):
            s.send(call(i, "slow_compute", {"seconds": 60}))
        refused = [s.get() for _ in range(44)]
        t.equal({code(m) for m in refused}, {-32603})
        s.send(notification("notifications/cancelled", {"requestId": 0}))
        t.equal(s.ask(request("p", "ping"))["result"], {})


def test_who_does_not_read_is_not_read_from(t):
    with lines(t) as s:
        s.initialize()
        big, sent = "x" * 100000, [0]

        def flood():
            for i in range(600):
                s.send(call(i, "test_echo", {"a": big}))
                sent[0] += 1
        writer = threading.Thread(target=flood, daemon=True)
        writer.start()
        time.sleep(1.5)
        before = sent[0]
        with open("/proc/%d/statm" % s.p.pid) as f:
            resident = int(f.read().split()[1]) * 4096
        t.true(before < 400, "it has taken %d messages of 100 kB" % before)
        t.true(resident < 400 << 20, "it holds %d MB" % (resident >> 20))
        t.equal(sorted(s.get()["id"] for _ in range(600)), list(range(600)))


# --- what is said on the way ---

def test_progress_comes_for_tokens_alone_and_grows(t):
    with lines(t) as s:
        s.initialize()
        s.ask(call(1, "test_tool_with_progress"))
        t.equal(s.seen[1:], [])
        s.seen = []
        s.ask(call(2, "test_tool_with_progress", meta={"progressToken": "p\u2028"}))
        t.equal([m["params"]["progress"] for m in s.seen], [0, 50, 100])
        t.equal({m["params"]["progressToken"] for m in s.seen}, {"p\u2028"})
        s.silent()


def test_logs_are_heard_by_those_who_asked(t):
    with lines(t) as s:
        s.initialize()
        s.seen = []
        s.ask(call(1, "test_logging_tool"))
        t.equal(s.seen, [])
        t.equal(code(s.ask(request(2, "logging/setLevel", {"level": "loud"}))), -32602)
        s.ask(request(3, "logging/setLevel", {"level": "warning"}))
        s.ask(call(4, "test_logging_tool"))
        t.equal([m["params"]["level"] for m in s.seen], ["warning"])
        s.seen = []
        s.ask(call(5, "test_logging_tool", meta=envelope()))
        t.equal(s.seen, [])
        s.ask(call(6, "test_logging_tool", meta=envelope(**{META + "logLevel": "info"})))
        t.equal([m["params"]["level"] for m in s.seen], ["info", "warning"])
        t.equal(code(s.ask(call(7, "test_logging_tool", meta=envelope(**{META + "logLevel": "loud"})))), -32602)


# --- questions, older revisions ---

def test_a_question_is_answered_on_the_same_channel(t):
    with lines(t) as s:
        s.initialize(capabilities={"elicitation": {}})
        s.send(call(1, "test_elicitation", {"message": "Who?"}))
        asked = s.get()
        t.equal(asked["method"], "elicitation/create")
        t.equal(asked["params"]["message"], "Who?")
        s.send({"jsonrpc": "2.0", "id": asked["id"] + 50, "result": {"action": "accept"}})
        s.silent(0.2)
        s.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"username": "Ada"}}})
        t.has(text(s.answer(1)), "Ada")
        s.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"username": "Bob"}}})
        s.silent(0.2)


def test_a_client_that_refuses_or_cannot_is_not_waited_for(t):
    with lines(t) as s:
        s.initialize(capabilities={"elicitation": {}})
        s.send(call(1, "test_elicitation", {"message": "Who?"}))
        s.send({"jsonrpc": "2.0", "id": s.get()["id"], "error": {"code": -1, "message": "no"}})
        t.has(text(s.answer(1)), "declined")
        t.has(text(s.ask(call(2, "test_sampling", {"prompt": "?"}))), "declined")
    with lines(t) as s:
        s.initialize("2025-03-26", capabilities={"elicitation": {}})
        t.has(text(s.ask(call(1, "test_elicitation", {"message": "Who?"}))), "declined")


def test_a_call_that_is_cancelled_while_it_asks(t):
    with lines(t) as s:
        s.initialize(capabilities={"elicitation": {}})
        s.send(call(1, "test_elicitation", {"message": "Who?"}))
        asked = s.get()
        s.send(notification("notifications/cancelled", {"requestId": 1}))
        s.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {}}})
        s.silent()
        t.equal(running(s, 2), 0)


# --- questions, newest revision ---

def ask_for_name(s, id=1, **arguments):
    got = s.ask(call(id, "test_input_required_result_elicitation", arguments, meta=envelope(FORM)))["result"]
    return got["requestState"], got


def test_a_parked_call_goes_on_with_the_next_request(t):
    with lines(t) as s:
        state, got = ask_for_name(s)
        t.equal(got["resultType"], "input_required")
        t.equal(list(got["inputRequests"]), ["user_name"])
        t.equal(running(s, "r") if s.initialize() else 0, 1)
        done = s.ask(call(2, "test_input_required_result_elicitation", meta=envelope(FORM), requestState=state,
                          inputResponses=answers(user_name={"name": "Ada"}, other={})))
        t.equal(done["result"]["resultType"], "complete")
        t.has(text(done), "Ada")
        again = s.ask(call(3, "test_input_required_result_elicitation", meta=envelope(FORM), requestState=state,
                           inputResponses=answers(user_name={"name": "Eve"})))
        t.equal(code(again), -32602)


@table([("changed", lambda s: s[:-3] + ("AAA" if s[-3:] != "AAA" else "BBB")), ("cut", lambda s: s[:-1]),
        ("longer", lambda s: s + "A"), ("empty", lambda s: ""), ("of another process", lambda s: "1." + "A" * 80),
        ("a number", lambda s: 5), ("of an object", lambda s: {"a": 1})])
def test_a_state_that_is_not_ours_is_refused(t, _name, change):
    with lines(t) as s:
        state, _ = ask_for_name(s)
        got = s.ask(call(2, "test_input_required_result_elicitation", meta=envelope(FORM), requestState=change(state),
                         inputResponses=answers(user_name={"name": "Eve"})))
        t.equal(code(got), -32602)
        done = s.ask(call(3, "test_input_required_result_elicitation", meta=envelope(FORM), requestState=state,
                          inputResponses=answers(user_name={"name": "Ada"})))
        t.has(text(done), "Ada")


def test_a_state_is_bound_to_what_was_asked_for(t):
    with lines(t) as s:
        state, _ = ask_for_name(s, a=1, b=[1, {"c": "x"}])
        for tool, arguments in (("test_input_required_result_elicitation", {"a": 2, "b": [1, {"c": "x"}]}),
                                ("test_input_required_result_elicitation", {"a": 1, "b": [1, {"c": "y"}]}),
                                ("test_input_required_result_request_state", {"a": 1, "b": [1, {"c": "x"}]})):
            got = s.ask(call(2, tool, arguments, meta=envelope(FORM), requestState=state,
                             inputResponses=answers(user_name={"name": "Eve"})))
            t.equal(code(got), -32602)
        done = s.ask(call(3, "test_input_required_result_elicitation", {"b": [1, {"c": "x"}], "a": 1},
                          meta=envelope(FORM), requestState=state, inputResponses=answers(user_name={"name": "Ada"})))
        t.has(text(done), "Ada")


@table([("nothing", None), ("another key", {"x": {"action": "accept"}}), ("a number", {"user_name": 5}),
        ("null", {"user_name": None}), ("an empty object", {})])
def test_what_is_not_answered_is_asked_again(t, _name, responses):
    with lines(t) as s:
        state, _ = ask_for_name(s)
        more = {} if responses is None else {"inputResponses": responses}
        got = s.ask(call(2, "test_input_required_result_elicitation", meta=envelope(FORM), requestState=state, **more))
        t.equal(got["result"]["resultType"], "input_required")
        t.true(got["result"]["requestState"] != state, "the state is another one")
        used = s.ask(call(3, "test_input_required_result_elicitation", meta=envelope(FORM), requestState=state,
                          inputResponses=answers(user_name={"name": "Eve"})))
        t.equal(code(used), -32602)
        done = s.ask(call(4, "test_input_required_result_elicitation", meta=envelope(FORM),
                          requestState=got["result"]["requestState"],
                          inputResponses=answers(user_name={"name": "Ada"})))
        t.has(text(done), "Ada")


def test_responses_that_are_no_object_are_refused_and_do_not_use_it_up(t):
    with lines(t) as s:
        state, _ = ask_for_name(s)
        got = s.ask(call(2, "test_input_required_result_elicitation", meta=envelope(FORM), requestState=state,
                         inputResponses=[1]))
        t.equal(code(got), -32602)
        done = s.ask(call(3, "test_input_required_result_elicitation", meta=envelope(FORM), requestState=state,
                          inputResponses=answers(user_name={"name": "Ada"})))
        t.has(text(done), "Ada")


def test_a_cancellation_of_an_id_that_was_answered_does_not_touch_the_parked_call(t):
    with lines(t) as s:
        state, _ = ask_for_name(s)
        s.send(notification("notifications/cancelled", {"requestId": 1}))
        done = s.ask(call(3, "test_input_required_result_elicitation", meta=envelope(FORM), requestState=state,
                          inputResponses=answers(user_name={"name": "Ada"})))
        t.has(text(done), "Ada")


# --- what changes ---

def test_listen_is_acknowledged_tagged_and_kept_to_its_filter(t):
    with lines(t) as s:
        s.send(request("L", "subscriptions/listen", {"_meta": envelope(), "notifications": {
            "toolsListChanged": True, "resourceSubscriptions": ["test://watched-resource"], "nonsense": True}}))
        ack = s.get()
        t.equal(ack["method"], "notifications/subscriptions/acknowledged")
        t.equal(ack["params"]["notifications"], {"toolsListChanged": True,
                                                 "resourceSubscriptions": ["test://watched-resource"]})
        for i, tool in enumerate(["test_trigger_tool_change", "test_trigger_prompt_change",
                                  "test_trigger_resource_update"]):
            s.ask(call(i, tool, meta=envelope()))
        t.equal([m["method"] for m in s.seen], ["notifications/tools/list_changed", "notifications/resources/updated"])
        for m in [ack, *s.seen]:
            t.equal(m["params"]["_meta"], {META + "subscriptionId": "L"})
        s.send(notification("notifications/cancelled", {"requestId": "L"}))
        s.seen = []
        s.ask(call(9, "test_trigger_tool_change", meta=envelope()))
        t.equal(s.seen, [])


def test_subscriptions_of_the_older_revisions(t):
    with lines(t) as s:
        s.initialize()
        s.seen = []
        watched = {"uri": "test://watched-resource"}
        s.ask(call(1, "test_trigger_resource_update"))
        t.equal(s.seen, [])
        t.equal(s.ask(request(2, "resources/subscribe", watched))["result"], {})
        s.ask(call(3, "test_trigger_resource_update"))
        t.equal([m["params"] for m in s.seen], [watched])
        t.equal(s.ask(request(4, "resources/unsubscribe", watched))["result"], {})
        s.seen = []
        s.ask(call(5, "test_trigger_resource_update"))
        t.equal(s.seen, [])
        t.equal(code(s.ask(request(6, "resources/subscribe"))), -32602)
        s.ask(call(7, "test_trigger_tool_change"))
        t.equal([m["method"] for m in s.seen], ["notifications/tools/list_changed"])


def test_nothing_is_told_before_the_client_is_ready(t):
    with lines(t) as s:
        s.ask(hello())
        s.ask(call(1, "test_trigger_tool_change"))
        t.equal(s.seen, [])


# --- tasks ---

def test_tasks_of_revision_2025_11_25(t):
    with lines(t) as s:
        s.initialize(capabilities={"elicitation": {}})
        made = s.ask(call(1, "slow_compute", {"seconds": 2}, task={"ttl": 60000}))["result"]["task"]
        t.equal((made["status"], made["ttl"]), ("working", 60000))
        id = {"taskId": made["taskId"]}
        t.equal(s.ask(request(2, "tasks/get", id))["result"]["status"], "working")
        result = s.ask(request(3, "tasks/result", id))["result"]
        t.equal(result["content"][0]["text"], "It is done.")
        t.equal(result["_meta"][META + "related-task"], id)
        t.equal(s.ask(request(4, "tasks/get", id))["result"]["status"], "completed")
        t.equal(code(s.ask(request(5, "tasks/cancel", id))), -32602)
        t.equal(code(s.ask(request(6, "tasks/get", {"taskId": "nobody"}))), -32602)
        failed = s.ask(call(7, "failing_job", task={}))["result"]["task"]
        t.equal(s.ask(request(8, "tasks/result", {"taskId": failed["taskId"]}))["result"]["isError"], True)
        listed = s.ask(request(9, "tasks/list"))["result"]["tasks"]
        t.equal([x["status"] for x in listed], ["completed", "failed"])


def test_a_task_of_2025_11_25_that_is_cancelled_or_asks(t):
    with lines(t) as s:
        s.initialize(capabilities={"elicitation": {}})
        made = s.ask(call(1, "slow_compute", {"seconds": 60}, task={}))["result"]["task"]
        s.send(request(2, "tasks/result", {"taskId": made["taskId"]}))
        t.equal(s.ask(request(3, "tasks/cancel", {"taskId": made["taskId"]}))["result"]["status"], "cancelled")
        t.true(any("error" in m and m["id"] == 2 for m in s.seen), "whoever waited is told")
        s.seen = []
        made = s.ask(call(4, "confirm_delete", {"filename": "x"}, task={}))["result"]["task"]
        asked = [m for m in s.seen if m.get("method") == "elicitation/create"] or [s.get()]
        t.equal(asked[0]["params"]["_meta"][META + "related-task"], {"taskId": made["taskId"]})
        t.equal(s.ask(request(5, "tasks/get", {"taskId": made["taskId"]}))["result"]["status"], "input_required")
        s.send({"jsonrpc": "2.0", "id": asked[0]["id"], "result": {"action": "accept", "content": {"confirm": True}}})
        t.has(text(s.ask(request(6, "tasks/result", {"taskId": made["taskId"]}))), "confirm")


def test_a_call_without_its_own_wish_becomes_no_task(t):
    with lines(t) as s:
        s.initialize()
        t.equal(text(s.ask(call(1, "slow_compute", {"seconds": 0.2}))), "It is done.")
        got = s.ask(call(2, "slow_compute", {"seconds": 0.2}, meta=envelope()))
        t.equal(got["result"]["resultType"], "complete")


def test_tasks_are_told_to_those_who_listen(t):
    with lines(t) as s:
        meta = envelope(dict(TASKS, elicitation={}))
        made = s.ask(call(1, "confirm_delete", meta=meta))["result"]
        t.equal(made["resultType"], "task")
        s.send(request("L", "subscriptions/listen", {"_meta": meta, "notifications": {"taskIds": [made["taskId"]]}}))
        t.equal(s.get()["params"]["notifications"], {"taskIds": [made["taskId"]]})
        key = list(s.ask(request(2, "tasks/get", {"taskId": made["taskId"], "_meta": meta}))["result"]["inputRequests"])[0]
        s.ask(request(3, "tasks/update", {"taskId": made["taskId"], "_meta": meta, "inputResponses": {
            key: {"action": "accept", "content": {"confirm": True}}}}))
        t.equal([m["params"]["status"] for m in s.seen if m.get("method") == "notifications/tasks"],
                ["working", "completed"])

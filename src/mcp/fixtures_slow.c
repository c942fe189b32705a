/* Fixtures that take their time: progress, logs, a stream that is cut, tasks. */
#include "mcp/fixtures.h"

#define STEP_MS 120u /* progress comes at most every 100 ms */

bool cs_fixture_become_task(struct cs_mcp_call *call)
{
    char id[44];
    cs_random_id(id);
    return cs_mcp_task_now(call, cs_str(id));
}

static void next_progress(struct cs_fixture *f)
{
    if (f->step == 3) {
        cs_fixture_say(f, CS_STR("All of it is done."), false);
        return;
    }
    cs_mcp_progress(f->call, 50 * f->step++, 100, CS_STR("going on"));
    cs_fixture_wait(f, STEP_MS, next_progress);
}

static void with_progress(struct cs_mcp_call *call)
{
    next_progress(cs_fixture_new(call));
}

static void next_log(struct cs_fixture *f)
{
    if (f->step == 3) {
        cs_fixture_say(f, CS_STR("It has logged."), false);
        return;
    }
    f->step++;
    cs_mcp_log(f->call, "info", "fixture", CS_STR("\"one more step\""));
    cs_fixture_wait(f, 50, next_log);
}

static void with_logging(struct cs_mcp_call *call)
{
    next_log(cs_fixture_new(call));
}

static void say_done(struct cs_fixture *f)
{
    cs_fixture_say(f, CS_STR("It is done."), false);
}

static void reconnection(struct cs_mcp_call *call)
{
    struct cs_req *r = (struct cs_req *)call;
    if (r->stream)
        cs_stream_hang_up(r->stream);
    cs_fixture_wait(cs_fixture_new(call), 500, say_done);
}

static void slow_compute(struct cs_mcp_call *call)
{
    double seconds = 0;
    cs_json_f64(cs_json_get(cs_json_get(call->params, "arguments"), "seconds"), &seconds);
    seconds = seconds > 0 && seconds < 3600 ? seconds : 0;
    if (seconds > 0)
        cs_fixture_become_task(call);
    cs_fixture_wait(cs_fixture_new(call), (uint64_t)(seconds * 1000), say_done);
}

static void say_failed(struct cs_fixture *f)
{
    cs_fixture_say(f, CS_STR("It went wrong."), true);
}

static void failing_job(struct cs_mcp_call *call)
{
    if (cs_fixture_become_task(call) || ((struct cs_req *)call)->version != CS_VMODERN)
        cs_fixture_wait(cs_fixture_new(call), 1000, say_failed);
    else
        cs_req_needs((struct cs_req *)call,
                     CS_STR("{\"extensions\":{\"" CS_TASKS_EXTENSION "\":{}}}"));
}

static void say_error(struct cs_fixture *f)
{
    cs_fixture_fail(f, CS_RPC_INTERNAL, "it broke");
}

static void protocol_error_job(struct cs_mcp_call *call)
{
    cs_fixture_become_task(call);
    cs_fixture_wait(cs_fixture_new(call), 200, say_error);
}

const struct cs_fixture_tool cs_fixtures_slow[] = {
    {"test_tool_with_progress", with_progress},
    {"test_tool_with_logging", with_logging},
    {"test_reconnection", reconnection},
    {"slow_compute", slow_compute},
    {"failing_job", failing_job},
    {"protocol_error_job", protocol_error_job},
    {0},
};

/*
 * What servers ask during calls goes to the watcher of the execution that made them, and to nobody
 * else: a question that may be of several executions is declined.
 */
#include "base/mem.h"
#include "run/shield.h"

/* NULL: nobody can say. */
static struct cs_run *whose(const struct cs_tool_ask *ask)
{
    struct cs_run *run = NULL;
    for (size_t i = 0; i < ask->call_count; i++) {
        const struct cs_gate_call *call = ask->calls[i];
        if (run && run != call->run)
            return NULL;
        run = call->run;
    }
    return run;
}

/* NULL `run`: of any. */
static struct cs_run_ask *take(struct cs_runner *runner, const struct cs_run *run, uint64_t id)
{
    struct cs_run_ask **at = &runner->asks;
    while (*at && ((*at)->id != id || (run && (*at)->run != run)))
        at = &(*at)->next;
    struct cs_run_ask *ask = *at;
    if (ask)
        *at = ask->next;
    return ask;
}

/* A person sees what the server says; a model sees tokens. */
static bool tell(struct cs_run *run, const struct cs_tool_ask *ask, struct cs_run_ask *open)
{
    CS_AUTO_BUF struct cs_buf masked = {0};
    struct cs_tool_ask said = *ask;
    struct cs_err err = {0};
    if (ask->kind == CS_ASK_SAMPLE && run->shield) {
        open->call = ask->calls[0];
        int n = cs_shield_question(open->call, ask->params, &masked, &err);
        if (n < 0)
            return false;
        if (n > 0)
            said.params = cs_buf_str(&masked);
    }
    return run->watch.ask(run->ctx, &said);
}

static bool on_ask(void *ctx, const struct cs_tool_ask *ask)
{
    struct cs_runner *runner = ctx;
    struct cs_run *run = whose(ask);
    for (size_t i = 0; i < ask->call_count; i++)
        cs_cache_never(((struct cs_gate_call *)ask->calls[i])->run, "somebody was asked");
    if (!run || !run->watch.ask)
        return false;
    struct cs_run_ask *open = CS_NEW(struct cs_run_ask);
    *open = (struct cs_run_ask){runner->asks, run, ask->id, NULL};
    runner->asks = open;
    if (tell(run, ask, open))
        return true;
    free(take(runner, run, ask->id));
    return false;
}

static void on_withdrawn(void *ctx, uint64_t id)
{
    struct cs_run_ask *ask = take(ctx, NULL, id);
    if (!ask)
        return;
    struct cs_run *run = ask->run;
    free(ask);
    if (run->watch.withdrawn)
        run->watch.withdrawn(run->ctx, id);
}

void cs_run_answer(struct cs_run *run, uint64_t id, struct cs_str result)
{
    struct cs_run_ask *ask = take(run->runner, run, id);
    CS_AUTO_BUF struct cs_buf values = {0};
    if (!ask)
        return;
    if (ask->call && result.len)
        result = cs_shield_reply(ask->call, result, &values);
    free(ask);
    cs_tools_answer(run->runner->tools, id, result);
}

void cs_asks_open(struct cs_runner *runner, unsigned kinds)
{
    const struct cs_asker asker = {kinds, on_ask, on_withdrawn, runner};
    if (runner->tools && kinds)
        cs_tools_set_asker(runner->tools, &asker);
}

void cs_asks_leave(const struct cs_gate_call *call)
{
    for (struct cs_run_ask *ask = call->run->runner->asks; ask; ask = ask->next)
        if (ask->call == call)
            ask->call = NULL;
}

void cs_asks_close(struct cs_run *run)
{
    struct cs_run_ask *ask = run->runner->asks;
    while (ask) {
        if (ask->run != run) {
            ask = ask->next;
            continue;
        }
        uint64_t id = ask->id;
        free(take(run->runner, run, id));
        if (run->watch.withdrawn)
            run->watch.withdrawn(run->ctx, id);
        cs_tools_answer(run->runner->tools, id, (struct cs_str){0});
        ask = run->runner->asks;
    }
}

/*
 * One execution as a state machine; a newcomer reads this file first.
 *
 *     ADMIT -> COMPILE -> ASSESS -> EXECUTE <-> CALL -> SETTLE -> DONE
 *
 * Every state can go to SETTLE with an error; nothing skips SETTLE. Compiling happens in the jailed
 * worker: what comes back here are facts, and nothing of the program runs before their verdict.
 */
#include "run/run.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/json.h"
#include "base/mem.h"
#include "run/inside.h"

#define TREE_WAIT_MS 5000

int cs_runner_new(uv_loop_t *loop, const struct cs_runner_options *options,
                  struct cs_runner **runner, struct cs_err *err)
{
    struct cs_runner *r = CS_NEW(struct cs_runner);
    r->loop = loop;
    r->tools = options->tools;
    r->policy = options->policy;
    if (cs_sandbox_new(loop, options->sandbox, &r->sandbox, err) < 0) {
        free(r);
        return -1;
    }
    cs_asks_open(r, options->asks);
    *runner = r;
    return 0;
}

void cs_runner_close(struct cs_runner *r, void (*closed)(void *ctx), void *ctx)
{
    if (r->tools)
        cs_tools_set_asker(r->tools, NULL);
    cs_sandbox_close(r->sandbox, closed, ctx);
    free(r);
}

unsigned cs_runner_ready(const struct cs_runner *r)
{
    return cs_sandbox_ready(r->sandbox);
}

/* --- 6. done: the answer leaves --- */

static void finish(struct cs_run *run)
{
    run->done(run->ctx, &run->result);
    for (size_t i = 0; i < run->log_count; i++)
        cs_buf_done(&run->log_texts[i]);
    free(run->log_texts);
    free(run->logs);
    cs_buf_done(&run->out);
    cs_buf_done(&run->err);
    free(run->records);
    cs_catalogue_unref(run->catalogue);
    cs_arena_done(&run->arena);
    free(run);
}

/* --- 5. settle: how it ended becomes a result --- */

static void on_ended(void *ctx, const struct cs_job_end *end)
{
    struct cs_run *run = ctx;
    cs_gate_close(run);
    cs_asks_close(run);
    run->job = NULL;
    cs_settle(run, end);
    finish(run);
}

/* A refusal before there was a job; told from the loop, so that `done` never runs inside start. */
static void on_refused_closed(uv_handle_t *h)
{
    struct cs_run *run = h->data;
    free(h);
    cs_settle(run, &run->early);
    finish(run);
}

static void on_refused(uv_timer_t *t)
{
    uv_close((uv_handle_t *)t, on_refused_closed);
}

static void end_early(struct cs_run *run, enum cs_ending how, const struct cs_err *err)
{
    run->early = (struct cs_job_end){.how = how, .exit_status = -1, .err = *err};
    uv_timer_t *t = CS_NEW(uv_timer_t);
    uv_timer_init(run->runner->loop, t);
    t->data = run;
    uv_timer_start(t, on_refused, 0, 0);
}

/* --- 4. execute: what the program says while it runs --- */

static void on_call(void *ctx, uint64_t id, struct cs_str server, struct cs_str tool,
                    struct cs_str arguments)
{
    cs_gate_call(ctx, id, server, tool, arguments);
}

static void on_module(void *ctx, uint64_t id, struct cs_str path)
{
    cs_gate_module(ctx, id, path);
}

/* How much of `len` more bytes of output may be kept. */
static size_t take_output(struct cs_run *run, size_t len)
{
    uint64_t left = run->result.limits.output - run->output;
    size_t keep = len < left ? len : (size_t)left;
    run->output += keep;
    run->result.output_cut += len - keep;
    return keep;
}

static void on_log(void *ctx, enum cs_level level, struct cs_str text)
{
    struct cs_run *run = ctx;
    if (run->log_count >= run->result.limits.log_lines) {
        run->result.output_cut += text.len;
        return;
    }
    size_t keep = take_output(run, text.len);
    if (keep < text.len && keep == 0)
        return;
    text.len = keep;
    if (run->log_count == run->log_cap) {
        run->log_cap = run->log_cap ? run->log_cap * 2 : 16;
        run->logs = cs_realloc(run->logs, run->log_cap, sizeof *run->logs);
        run->log_texts = cs_realloc(run->log_texts, run->log_cap, sizeof *run->log_texts);
    }
    struct cs_buf *copy = &run->log_texts[run->log_count];
    *copy = (struct cs_buf){0};
    cs_buf_putstr(copy, text);
    run->logs[run->log_count++] = (struct cs_log){level, cs_buf_str(copy)};
    if (run->watch.log)
        run->watch.log(run->ctx, level, text);
}

static void on_output(void *ctx, bool is_stderr, struct cs_str bytes)
{
    struct cs_run *run = ctx;
    bytes.len = take_output(run, bytes.len);
    cs_buf_putstr(is_stderr ? &run->err : &run->out, bytes);
    if (run->watch.output && bytes.len)
        run->watch.output(run->ctx, is_stderr, bytes);
}

static void on_progress(void *ctx, struct cs_str json)
{
    struct cs_run *run = ctx;
    if (run->watch.progress)
        run->watch.progress(run->ctx, json);
}

/* --- 3. assess: facts become a verdict --- */

static void on_facts(void *ctx, struct cs_str facts)
{
    struct cs_run *run = ctx;
    struct cs_verdict *v = &run->result.verdict;
    cs_policy_assess(facts, &run->result.limits, &run->arena, v);
    run->result.limits = v->limits;
    struct cs_str why = v->allowed ? CS_STR("") : v->reasons[0];
    cs_job_verdict(run->job, v->allowed, &v->limits, why);
}

/* --- 2. compile: a jailed worker is given the source --- */

static const struct cs_job_events events = {
    .facts = on_facts,
    .call = on_call,
    .module = on_module,
    .log = on_log,
    .output = on_output,
    .progress = on_progress,
    .ended = on_ended,
};

static int start_job(struct cs_run *run, const struct cs_request *request, struct cs_err *err)
{
    struct cs_job_spec spec = {
        .language = request->language,
        .source = request->code,
        .inputs = request->inputs,
        .workspace = request->workspace,
        .mcp_servers = -1,
    };
    if (run->runner->tools) {
        run->catalogue = cs_tools_current(run->runner->tools);
        spec.mcp_servers = cs_catalogue_dir(run->catalogue);
        spec.globals = cs_catalogue_globals(run->catalogue);
    }
    const char *missing = cs_language_missing(request->language);
    if (missing)
        return cs_fail(err, CS_MISSING, "%s", missing);
    if (getrandom(spec.seed, sizeof spec.seed, 0) != sizeof spec.seed)
        return cs_fail_errno(err, "getrandom");
    if (run->result.is_guest && cs_policy_inputs(request->inputs, &request->limits, err) < 0)
        return -1;
    if (run->result.is_guest)
        cs_policy_assess_guest(cs_language_name(request->language), &request->limits, &run->arena,
                               &run->result.verdict);
    else
        run->result.verdict.limits = request->limits;
    run->result.limits = spec.limits = run->result.verdict.limits;
    return cs_job_start(run->runner->sandbox, &spec, &events, run, &run->job, err);
}

/*
 * The tree of tools is a mount of a guest's, made before it starts. One that speaks of it waits for
 * servers that nobody has ever asked what they offer; modules of a program wait when they are
 * imported.
 */
static bool must_wait(const struct cs_run *run, const struct cs_request *request)
{
    static const char root[] = "mcp-servers";
    struct cs_tools *tools = run->runner->tools;
    return run->result.is_guest && tools && cs_tools_waiting(tools) &&
           memmem(request->code.at, request->code.len, root, sizeof root - 1);
}

static void on_listed(void *ctx)
{
    struct cs_run *run = ctx;
    struct cs_err err = {0};
    run->await = NULL;
    if (start_job(run, &run->held, &err) < 0)
        end_early(run, CS_ENDED_FAILED, &err);
}

static void hold(struct cs_run *run, const struct cs_request *request)
{
    run->held = *request;
    run->held.code = cs_arena_dup(&run->arena, request->code);
    run->held.inputs = cs_arena_dup(&run->arena, request->inputs);
    if (request->workspace)
        run->held.workspace = cs_arena_printf(&run->arena, "%s", request->workspace);
    run->await =
        cs_tools_await(run->runner->tools, (struct cs_str){0}, false, TREE_WAIT_MS, on_listed, run);
}

/* --- 1. admit: cheap, before anything is parsed --- */

static void make_id(char id[36])
{
    unsigned char bytes[16] = {0};
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        abort(); /* the kernel's generator cannot fail once it is seeded */
    memcpy(id, "ex_", 3);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(id + 3 + 2 * i, 3, "%02x", bytes[i]);
}

struct cs_run *cs_run_start(struct cs_runner *runner, const struct cs_request *request,
                            const struct cs_run_watch *watch,
                            void (*done)(void *ctx, const struct cs_result *result), void *ctx)
{
    struct cs_run *run = CS_NEW(struct cs_run);
    run->runner = runner;
    run->watch = watch ? *watch : (struct cs_run_watch){0};
    run->done = done;
    run->ctx = ctx;
    run->result.language = request->language;
    run->result.is_guest = request->language != CS_TYPESCRIPT;
    run->result.limits = request->limits;
    run->result.exit_status = -1;
    run->principal =
        cs_arena_dup(&run->arena, request->principal.len ? request->principal : CS_STR("local"));
    make_id(run->result.execution_id);
    struct cs_err err = {0};
    if (cs_policy_admit(request->code, request->inputs, &request->limits, &err) < 0)
        end_early(run, CS_ENDED_FAILED, &err);
    else if (must_wait(run, request))
        hold(run, request);
    else if (start_job(run, request, &err) < 0)
        end_early(run, CS_ENDED_FAILED, &err);
    return run;
}

struct cs_request cs_request_call(struct cs_str server, struct cs_str tool, struct cs_str arguments,
                                  struct cs_buf *inputs)
{
    struct cs_json_writer w = CS_JSON_WRITER(inputs);
    cs_json_open(&w, '{');
    cs_json_key(&w, "server");
    cs_json_put_str(&w, server);
    cs_json_key(&w, "tool");
    cs_json_put_str(&w, tool);
    cs_json_key(&w, "arguments");
    cs_json_put_raw(&w, arguments.len ? arguments : CS_STR("{}"));
    cs_json_close(&w, '}');
    return (struct cs_request){
        .language = CS_TYPESCRIPT,
        .code = CS_STR("return caisson.callTool(inputs.server, inputs.tool, inputs.arguments)"),
        .inputs = cs_buf_str(inputs),
        .limits = cs_limits_default(),
    };
}

void cs_run_cancel(struct cs_run *run)
{
    static const struct cs_err none;
    if (run->job)
        cs_job_cancel(run->job);
    if (!run->await)
        return;
    cs_await_cancel(run->await);
    run->await = NULL;
    end_early(run, CS_ENDED_CANCELLED, &none);
}

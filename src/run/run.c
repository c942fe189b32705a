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

#include "base/canon.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/utf8.h"
#include "run/guard.h"
#include "run/journal.h"
#include "run/shield.h"

#define TREE_WAIT_MS   5000
#define MOST_RUNNING   64
#define MOST_WAITING   1000
#define FEW            10 /* a part of the queue */
#define ARTIFACT_BYTES 6000
#define JOURNAL_BYTES  (64u << 20)
#define NAME_MAX_BYTES 64 /* of a tenant, a principal, a session */
#define KEY_MAX_BYTES  255
#define INTENT_BYTES   2000

/* --- the way, one step per line --- */

static int admit(struct cs_run *run, struct cs_err *err);
static int await_tools(struct cs_run *run, struct cs_err *err);
static int start_job(struct cs_run *run, struct cs_err *err);

static int (*const way[])(struct cs_run *run, struct cs_err *err) = {
    admit,          /* 1. size, form, and is there room?                            policy/     */
    cs_step_inputs, /*    tokens instead of personal data                           shield_in.c */
    cs_step_begin,  /*    on record; an idempotency key is its own, or it joins     record.c    */
    cs_step_hold,   /*    nobody else is in its session                             hold.c      */
    cs_step_vault,  /*    what its session's tokens stand for                       shield_in.c */
    cs_step_flows,  /*    what has come into its session before                     flows.c     */
    cs_step_begun,  /*    from here on it is not refused, and its watchers hear so  record.c    */
    cs_step_cache,  /*    perhaps its answer is known                               cache.c     */
    await_tools,    /*    a guest that speaks of tools waits for servers            tools/      */
    cs_step_turn,   /*    one of so many at once, tenants in turn                   queue.c     */
    cs_step_guard,  /*    a guest is judged: nobody will have parsed it             guard.c     */
    start_job,      /* 2. compile, 3. assess, 4. execute and call: see below        sandbox/    */
    /* SETTLE: whatever happened before, what follows is done */
    cs_step_mask,    /* 5. tokens instead of personal data                           shield_out.c */
    cs_step_seal,    /*    what new tokens stand for is kept, sealed                 shield_in.c */
    cs_step_release, /*    its session has the new state and files                   hold.c      */
    cs_step_recall,  /*    what it had left before its process died                  artifacts.c */
    cs_step_collect, /*    files in /workspace/out are artifacts                     collect.c   */
    cs_step_keep,    /*    what is too large for an answer becomes an artifact       artifacts.c */
    cs_step_trace,   /*    what they were made from                                  lineage.c   */
    cs_step_end,     /*    how it ended is on record                                 record.c    */
};

void cs_run_go(struct cs_run *run)
{
    struct cs_err err = {0};
    while (run->step < CS_COUNT(way)) {
        int next = way[run->step++](run, &err);
        if (next == CS_LATER)
            return;
        if (next < 0) {
            cs_run_refuse(run, &err);
            return;
        }
    }
    cs_run_finish(run);
}

static uint32_t step_of(int (*wanted)(struct cs_run *run, struct cs_err *err))
{
    uint32_t step = 0;
    while (way[step] != wanted)
        step++;
    return step;
}

/* --- the runner --- */

static void on_turn(struct cs_place *place)
{
    struct cs_run *run = (struct cs_run *)((char *)place - offsetof(struct cs_run, place));
    if (!cs_guard_turn(run))
        cs_run_go(run);
}

void cs_runner_set(struct cs_runner *r, uint64_t artifact_bytes, uint64_t artifact_quota)
{
    r->artifact_quota = artifact_quota;
    r->artifact_bytes = artifact_bytes ? artifact_bytes : ARTIFACT_BYTES;
}

int cs_runner_new(uv_loop_t *loop, const struct cs_runner_options *options,
                  struct cs_runner **runner, struct cs_err *err)
{
    struct cs_runner *r = CS_NEW(struct cs_runner);
    r->loop = loop;
    r->tools = options->tools;
    if (options->policy)
        r->policy = cs_policy_ref(options->policy);
    else if (cs_policy_load(NULL, &r->policy, err) < 0) {
        free(r);
        return -1;
    }
    r->store = options->store;
    r->sessions = options->sessions;
    r->most_waiting = options->most_waiting ? options->most_waiting : MOST_WAITING;
    cs_runner_set(r, options->artifact_bytes, options->artifact_quota);
    r->journal_bytes = options->journal_bytes ? options->journal_bytes : JOURNAL_BYTES;
    r->queue.most = options->most_running ? options->most_running : MOST_RUNNING;
    r->queue.go = on_turn;
    if (cs_sandbox_new(loop, options->sandbox, &r->sandbox, err) < 0) {
        cs_policy_unref(r->policy);
        free(r);
        return -1;
    }
    cs_runner_set_privacy(r, options->privacy);
    r->has_vault_key = options->vault_key != NULL;
    if (options->vault_key)
        r->vault_key = *options->vault_key;
    r->data_dir = options->data_dir ? cs_strdup(options->data_dir) : NULL;
    cs_asks_open(r, options->asks);
    cs_approvals_open(r);
    cs_runner_set_cache(r, options->cache_bytes, options->cache_ms);
    *runner = r;
    return 0;
}

void cs_runner_set_policy(struct cs_runner *r, struct cs_policy *policy)
{
    cs_policy_ref(policy);
    cs_policy_unref(r->policy);
    r->policy = policy;
}

const struct cs_policy *cs_runner_policy(const struct cs_runner *r)
{
    return r->policy;
}

static void close_if_empty(struct cs_runner *r)
{
    if (!r->sandbox_closed || r->runs || r->agains)
        return;
    cs_approvals_close(r);
    free(r->lately);
    cs_history_free(r->history);
    if (r->closed)
        r->closed(r->closed_ctx);
    cs_cache_free(r->cache);
    cs_privacy_unref(r->privacy);
    cs_policy_unref(r->policy);
    explicit_bzero(&r->vault_key, sizeof r->vault_key);
    free(r->data_dir);
    free(r);
}

void cs_runner_again_over(struct cs_runner *r)
{
    r->agains--;
    if (r->closing)
        close_if_empty(r);
}

static void on_sandbox_closed(void *ctx)
{
    struct cs_runner *r = ctx;
    r->sandbox_closed = true;
    close_if_empty(r);
}

/* Those that wait are cancelled here, those that run by the sandbox; all of them are settled. */
void cs_runner_close(struct cs_runner *r, void (*closed)(void *ctx), void *ctx)
{
    r->closing = true;
    r->closed = closed;
    r->closed_ctx = ctx;
    cs_resumer_close(r->resumer);
    for (struct cs_run *run = r->runs; run; run = run->next) {
        run->leaves = cs_run_may_leave(run);
        if (!run->job)
            cs_run_cancel(run);
    }
    if (r->tools)
        cs_tools_set_asker(r->tools, NULL);
    cs_sandbox_close(r->sandbox, on_sandbox_closed, r);
}

void cs_runner_observe(struct cs_runner *r, const struct cs_observer *observer)
{
    r->observer = *observer;
}

unsigned cs_runner_ready(const struct cs_runner *r)
{
    return cs_sandbox_ready(r->sandbox);
}

/* --- 6. done: the answer leaves --- */

static void forget(struct cs_run *run)
{
    struct cs_runner *r = run->runner;
    if (run->next)
        run->next->prev = run->prev;
    if (run->prev)
        run->prev->next = run->next;
    else
        r->runs = run->next;
}

void cs_run_finish(struct cs_run *run)
{
    struct cs_runner *r = run->runner;
    forget(run);
    if (!run->again)
        cs_figures_count(r, run);
    if (r->observer.settled && run->end_stored && !run->again && !run->result.refused)
        r->observer.settled(r->observer.ctx, &run->tenant, &run->result);
    cs_seats_done(run, &run->result);
    cs_cache_keep(run);
    for (size_t i = 0; i < run->log_count; i++)
        cs_buf_done(&run->log_texts[i]);
    free(run->log_texts);
    free(run->logs);
    cs_buf_done(&run->out);
    cs_buf_done(&run->err);
    cs_buf_done(&run->envelope);
    free(run->records);
    cs_artifacts_done(run);
    cs_lineage_done(run);
    cs_catalogue_unref(run->catalogue);
    cs_player_free(run->player);
    cs_shield_done(run);
    cs_flows_done(run);
    cs_policy_unref(run->policy);
    cs_resume_done(run);
    cs_journal_done(run);
    cs_trail_done(run);
    cs_seats_free(run);
    cs_arena_done(&run->arena);
    free(run);
    if (r->closing)
        close_if_empty(r);
}

/* --- 5. settle: how it ended becomes a result --- */

void cs_run_waits_no_more(struct cs_run *run)
{
    if (!run->waiting)
        return;
    run->waiting = false;
    run->runner->waiting--;
}

/* It stays under way: the next process goes on with it. */
static void leave_behind(struct cs_run *run)
{
    run->result.refused = CS_BUSY;
    run->result.retry_after_s = 5;
    run->result.failed = true;
    run->result.error = (struct cs_error){
        .type = CS_ERROR_INTERNAL,
        .message = CS_STR("caisson is shutting down; the execution is durable, and goes on when "
                          "caisson starts again")};
    cs_run_unhold(run);
    cs_run_finish(run);
}

static void leave_way(struct cs_run *run)
{
    run->result.tokens_saved = cs_tokens_saved(run);
    run->settling = true;
    run->step = step_of(cs_step_mask);
    cs_run_waits_no_more(run);
    cs_queue_quit(&run->runner->queue, &run->place);
}

static void settle(struct cs_run *run, const struct cs_job_end *end)
{
    cs_settle(run, end);
    cs_guard_settled(run, end);
    cs_resume_settled(run);
    cs_cache_settled(run);
    leave_way(run);
    if (run->leaves && end->how == CS_ENDED_CANCELLED)
        leave_behind(run);
    else
        cs_run_go(run);
}

static void on_ended(void *ctx, const struct cs_job_end *end)
{
    struct cs_run *run = ctx;
    cs_guard_close(run);
    cs_gate_close(run);
    cs_shield_flush(run);
    cs_asks_close(run);
    cs_resume_close(run);
    cs_journal_ended(run, end);
    run->job = NULL;
    struct cs_job_end as_then;
    if (run->again)
        end = cs_again_ended(run, end, &as_then);
    run->harvest = end->harvest;
    if (run->hold && end->state.len)
        run->new_state = cs_arena_dup(&run->arena, end->state);
    settle(run, end);
}

/* An end before there was a job; told from the loop, so that `done` never runs inside start. */
static void on_early_closed(uv_handle_t *h)
{
    struct cs_run *run = h->data;
    free(h);
    settle(run, &run->early);
}

static void on_early(uv_timer_t *t)
{
    uv_close((uv_handle_t *)t, on_early_closed);
}

void cs_run_end_early(struct cs_run *run, enum cs_ending how, const struct cs_err *err)
{
    run->settling = true;
    run->early = (struct cs_job_end){.how = how, .exit_status = -1, .err = *err};
    uv_timer_t *t = CS_NEW(uv_timer_t);
    uv_timer_init(run->runner->loop, t);
    t->data = run;
    uv_timer_start(t, on_early, 0, 0);
}

static void on_known_closed(uv_handle_t *h)
{
    struct cs_run *run = h->data;
    free(h);
    cs_run_go(run);
}

static void on_known(uv_timer_t *t)
{
    uv_close((uv_handle_t *)t, on_known_closed);
}

int cs_run_known(struct cs_run *run)
{
    leave_way(run);
    if (run->on_record)
        return CS_ON; /* the store will call back */
    uv_timer_t *t = CS_NEW(uv_timer_t);
    uv_timer_init(run->runner->loop, t);
    t->data = run;
    uv_timer_start(t, on_known, 0, 0);
    return CS_LATER;
}

void cs_run_refuse(struct cs_run *run, const struct cs_err *err)
{
    run->result.refused = err->code;
    cs_trail_refused(run, err);
    cs_run_end_early(run, CS_ENDED_FAILED, err);
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
    CS_AUTO_BUF struct cs_buf masked = {0};
    if (run->log_count >= run->result.limits.log_lines) {
        run->result.output_cut += text.len;
        return;
    }
    text = cs_shield_said(run, CS_FORM_GUESS, text, &masked);
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
    cs_seats_log(run, level, text);
}

static void on_output(void *ctx, bool is_stderr, struct cs_str bytes)
{
    struct cs_run *run = ctx;
    bytes.len = take_output(run, bytes.len);
    cs_buf_putstr(is_stderr ? &run->err : &run->out, bytes);
    if (bytes.len)
        cs_shield_output(run, is_stderr, bytes);
}

static void on_progress(void *ctx, struct cs_str json)
{
    CS_AUTO_BUF struct cs_buf masked = {0};
    cs_seats_progress(ctx, cs_shield_said(ctx, CS_FORM_JSON, json, &masked));
}

/* --- what it wants to know, and hears: on record, or from the record --- */

static bool on_wish(void *ctx, const struct cs_wish *wish)
{
    struct cs_run *run = ctx;
    if (wish->kind == CS_WISH_CALL)
        cs_guard_wish_hash(wish, run->argument_hash);
    cs_cache_wish(run, wish);
    cs_journal_wish(run, wish);
    bool played = run->player && cs_player_wish(run->player, wish);
    return run->resume ? cs_resume_wish(run, wish, played) : played;
}

static void on_heard(void *ctx, const struct cs_heard *heard)
{
    struct cs_run *run = ctx;
    if (heard->kind == CS_HEARD_START)
        run->refused = heard->answer != CS_ANSWER_OK;
    cs_journal_heard(run, heard);
}

static void on_idle(void *ctx, int64_t due_us)
{
    struct cs_run *run = ctx;
    if (run->resume)
        cs_resume_idle(run, due_us);
    else if (run->again)
        cs_again_idle(run, due_us);
}

/* --- 3. assess: facts become a verdict --- */

static void on_facts(void *ctx, struct cs_str facts)
{
    cs_guard_facts(ctx, facts);
}

/* --- 2. compile: a jailed worker is given the source --- */

static struct cs_str keep(struct cs_run *run, struct cs_str text)
{
    return text.len ? cs_arena_dup(&run->arena, text) : text;
}

static const struct cs_job_events events = {
    .facts = on_facts,
    .call = on_call,
    .module = on_module,
    .log = on_log,
    .output = on_output,
    .progress = on_progress,
    .ended = on_ended,
    .wish = on_wish,
    .heard = on_heard,
    .idle = on_idle,
};

/* What the world is like that it sees. */
static int fill_world(struct cs_run *run, struct cs_job_spec *spec, struct cs_err *err)
{
    if (run->again)
        return cs_player_world(run, spec, err);
    if (run->runner->tools) {
        run->catalogue = cs_tools_current(run->runner->tools);
        spec->mcp_servers = cs_catalogue_dir(run->catalogue);
        spec->globals = cs_catalogue_globals(run->catalogue);
    }
    if (run->player) /* of one that goes on: it sees the tools of now */
        return cs_player_world(run, spec, err);
    if (getrandom(run->seed, sizeof run->seed, 0) != sizeof run->seed)
        return cs_fail_errno(err, "getrandom");
    memcpy(spec->seed, run->seed, sizeof spec->seed);
    spec->clock = run->request.clock;
    spec->start_us = cs_time_ms() * 1000;
    return 0;
}

static int fill_spec(struct cs_run *run, struct cs_job_spec *spec, struct cs_err *err)
{
    const struct cs_request *request = &run->request;
    if (fill_world(run, spec, err) < 0)
        return -1;
    const char *missing = cs_language_missing(request->language);
    if (missing)
        return cs_fail(err, CS_MISSING, "%s", missing);
    if (!run->result.is_guest)
        run->result.verdict.limits = request->limits;
    run->result.limits = spec->limits = run->result.verdict.limits;
    cs_journal_begin(run, spec->start_us);
    if (run->record_error.code != CS_OK) {
        *err = run->record_error;
        return -1;
    }
    if (run->result.is_guest)
        cs_trail_started(run);
    return 0;
}

/* From here on it has begun: what fails now is a result like others. */
static int start_job(struct cs_run *run, struct cs_err *err)
{
    struct cs_job_spec spec = {
        .language = run->request.language,
        .source = run->request.code,
        .inputs = run->request.inputs,
        .state = run->state,
        .state_bytes = run->state_bytes,
        .workspace = run->request.workspace ? run->request.workspace : run->workspace,
        .workspace_out = run->request.workspace ? NULL : run->workspace_out,
        .harvest = run->on_record,
        .mcp_servers = -1,
    };
    cs_run_waits_no_more(run);
    if (run->queued_ns)
        run->result.queued_us = (uv_hrtime() - run->queued_ns) / 1000;
    run->inputs_shown = keep(run, cs_utf8_cut(run->request.inputs, CS_INPUTS_SHOWN));
    run->inputs_bytes = run->request.inputs.len;
    if (fill_spec(run, &spec, err) < 0 ||
        cs_job_start(run->runner->sandbox, &spec, &events, run, &run->job, err) < 0)
        cs_run_end_early(run, CS_ENDED_FAILED, err);
    return CS_LATER;
}

/*
 * The tree of tools is a mount of a guest's, made before it starts. One that speaks of it waits for
 * servers that nobody has ever asked what they offer; modules of a program wait when they are
 * imported.
 */
static bool must_wait(const struct cs_run *run)
{
    static const char root[] = "mcp-servers";
    const struct cs_request *request = &run->request;
    struct cs_tools *tools = run->runner->tools;
    return run->result.is_guest && tools && !run->again && cs_tools_waiting(tools) &&
           memmem(request->code.at, request->code.len, root, sizeof root - 1);
}

static void on_listed(void *ctx)
{
    struct cs_run *run = ctx;
    run->await = NULL;
    cs_run_go(run);
}

static int await_tools(struct cs_run *run, struct cs_err *err)
{
    (void)err;
    if (!must_wait(run))
        return CS_ON;
    run->await =
        cs_tools_await(run->runner->tools, (struct cs_str){0}, false, TREE_WAIT_MS, on_listed, run);
    return CS_LATER;
}

/* --- 1. admit: cheap, before anything is parsed --- */

static int check_names(const struct cs_run *run, struct cs_err *err)
{
    if (run->tenant.len > NAME_MAX_BYTES || run->principal.len > NAME_MAX_BYTES ||
        run->request.session.len > NAME_MAX_BYTES)
        return cs_fail(err, CS_INVALID,
                       "the name of a tenant, principal or session has at most %d bytes",
                       NAME_MAX_BYTES);
    if (run->request.key.len > KEY_MAX_BYTES)
        return cs_fail(err, CS_INVALID, "an idempotency key has at most %d bytes", KEY_MAX_BYTES);
    return 0;
}

/* All that it hears must be on record, and all that it needs to begin again. */
static int check_durable(const struct cs_run *run, struct cs_err *err)
{
    const struct cs_request *request = &run->request;
    if (run->result.is_guest)
        return cs_fail(err, CS_INVALID,
                       "durable executions are of TypeScript: what a %s program hears is not "
                       "recorded",
                       cs_language_name(request->language));
    if (request->clock == CS_CLOCK_LIVE)
        return cs_fail(err, CS_INVALID, "a durable execution cannot have the clock \"live\"");
    if (!run->runner->store || request->workspace)
        return cs_fail(err, CS_INVALID, "nothing is kept here: durable executions need a daemon");
    return 0;
}

/* One tenant may fill the queue, but not keep the others out of it: whoever has few waiting is let
 * in, up to twice its length. */
static bool has_room(const struct cs_run *run)
{
    const struct cs_runner *r = run->runner;
    if (r->waiting < r->most_waiting || r->waiting / 2 >= r->most_waiting)
        return r->waiting < r->most_waiting;
    uint32_t own = 0;
    for (const struct cs_run *other = r->runs; other; other = other->next)
        own += other->waiting && cs_str_eq(other->tenant, run->tenant);
    return own <= r->most_waiting / FEW;
}

static int admit(struct cs_run *run, struct cs_err *err)
{
    struct cs_runner *r = run->runner;
    const struct cs_request *request = &run->request;
    if (cs_policy_admit(request->code, request->inputs, &request->limits, err) < 0 ||
        (run->result.is_guest && cs_policy_inputs(request->inputs, &request->limits, err) < 0) ||
        check_names(run, err) < 0)
        return -1;
    if (r->closing) {
        run->result.retry_after_s = 1;
        return cs_fail(err, CS_BUSY, "caisson is shutting down");
    }
    if (request->durable && check_durable(run, err) < 0)
        return -1;
    if (!has_room(run)) {
        run->result.retry_after_s = cs_queue_seconds(&r->queue, r->waiting);
        return cs_fail(err, CS_BUSY,
                       "%u executions run and %u wait, which is the most; try again in %u s",
                       r->queue.running, r->waiting, run->result.retry_after_s);
    }
    cs_provenance_begin(run);
    run->code_shown = keep(run, request->code);
    run->waiting = true;
    r->waiting++;
    return CS_ON;
}

/* What it was lent and is still going to need is copied. */
static void keep_request(struct cs_run *run)
{
    struct cs_request *r = &run->request;
    bool later = run->waiting || cs_guard_asks(run);
    r->code = later ? keep(run, r->code) : (struct cs_str){0};
    r->inputs = later ? keep(run, r->inputs) : (struct cs_str){0};
    r->session = keep(run, r->session);
    r->intent = keep(run, r->intent);
    r->key = keep(run, r->key);
    r->fingerprint = keep(run, r->fingerprint);
    r->actor_type = keep(run, r->actor_type);
    if (r->workspace && later)
        r->workspace = cs_arena_printf(&run->arena, "%s", r->workspace);
    if (run->waiting)
        run->queued_ns = uv_hrtime();
}

static struct cs_run *new_run(struct cs_runner *runner, const struct cs_request *request)
{
    struct cs_run *run = CS_NEW(struct cs_run);
    run->runner = runner;
    run->policy = cs_policy_ref(runner->policy);
    run->next = runner->runs;
    if (run->next)
        run->next->prev = run;
    runner->runs = run;
    run->request = *request;
    run->code_bytes = request->code.len;
    run->request.intent = cs_utf8_cut(request->intent, INTENT_BYTES);
    run->result.language = request->language;
    run->result.is_guest = request->language != CS_TYPESCRIPT;
    run->result.limits = request->limits;
    run->result.exit_status = -1;
    run->principal =
        cs_arena_dup(&run->arena, request->principal.len ? request->principal : CS_STR("local"));
    run->tenant = cs_arena_dup(&run->arena,
                               request->tenant.len ? request->tenant : CS_STR(CS_TENANT_DEFAULT));
    cs_make_id("ex_", run->result.execution_id);
    cs_run_trace(run);
    return run;
}

struct cs_run *cs_run_start(struct cs_runner *runner, const struct cs_request *request,
                            const struct cs_run_watch *watch,
                            void (*done)(void *ctx, const struct cs_result *result), void *ctx)
{
    struct cs_run *run = new_run(runner, request);
    run->watch = watch ? *watch : (struct cs_run_watch){0};
    run->done = done;
    run->ctx = ctx;
    cs_shield_open(run);
    cs_shield_fingerprint(run);
    /* The begin and the end of one whose answer is known are one commit. */
    if (runner->store)
        cs_store_gather(runner->store);
    cs_run_go(run);
    if (runner->store)
        cs_store_gathered(runner->store);
    keep_request(run);
    return run;
}

struct cs_run *cs_run_start_again(struct cs_runner *runner, const struct cs_request *request,
                                  struct cs_again *again, const char *id,
                                  void (*done)(void *ctx, const struct cs_result *result))
{
    struct cs_run *run = new_run(runner, request);
    snprintf(run->result.execution_id, sizeof run->result.execution_id, "%s", id);
    run->again = again;
    cs_again_open(run);
    cs_shield_open(run);
    run->done = done;
    run->ctx = again;
    cs_run_go(run);
    keep_request(run);
    return run;
}

struct cs_run *cs_run_resumed(struct cs_runner *runner, const struct cs_request *request,
                              struct cs_str id,
                              void (*done)(void *ctx, const struct cs_result *result), void *ctx)
{
    struct cs_run *run = new_run(runner, request);
    snprintf(run->result.execution_id, sizeof run->result.execution_id, "%.*s", CS_STR_ARG(id));
    run->done = done;
    run->ctx = ctx;
    run->step = step_of(cs_step_hold);
    run->on_record = true;
    run->waiting = true;
    runner->waiting++;
    keep_request(run);
    run->code_shown = run->request.code;
    cs_shield_open(run);
    cs_provenance_begin(run);
    cs_provenance_inputs(run);
    return run;
}

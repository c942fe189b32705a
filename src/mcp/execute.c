/*
 * execute_code and call_tool: an execution that belongs to a call of a client.
 *
 * The call may end before the execution does: the client loses interest, or goes away. Then the
 * execution is cancelled, and what is left here waits for its end without a call.
 */
#include <string.h>

#include "base/mem.h"
#include "mcp/house.h"

#define BEAT_FIRST_MS 2000
#define BEAT_MS       5000
#define STEP          1e-6 /* a sign of life is progress that does not count */
/* Definitions for a failed program take at most this part of its answer. */
#define HINTS_PART 3

struct cs_house_job {
    struct cs_house_job *next, **link;
    struct cs_house *house;   /* NULL: closed */
    struct cs_mcp_call *call; /* NULL: nobody wants to know any more */
    struct cs_run *run;       /* NULL: not begun, or over */
    void (*begin)(struct cs_house_job *errand, struct cs_request *request);
    struct cs_json_val arguments; /* of the call */
    struct cs_buf inputs;         /* of call_tool */
    struct cs_privacy_wish wish;  /* what it holds is the call's */
    char session[65];             /* empty: none */
    struct cs_house_questions questions;
    struct cs_house_approvals approvals;
    uv_timer_t beat;
    uint64_t start_ms;
    double progress, total; /* as told last */
    struct cs_buf message;
};

static void on_gone(uv_handle_t *h)
{
    struct cs_house_job *e = h->data;
    cs_buf_done(&e->inputs);
    cs_buf_done(&e->message);
    free(e);
}

/* It has no execution any more. */
static void end(struct cs_house_job *e)
{
    if (e->house) {
        *e->link = e->next;
        if (e->next)
            e->next->link = e->link;
    }
    cs_house_questions_done(&e->questions);
    cs_house_approvals_done(&e->approvals);
    uv_close((uv_handle_t *)&e->beat, on_gone);
}

/* --- while it runs --- */

/* The protocol wants it to grow each time, whatever the program says. */
static void tell_progress(struct cs_house_job *e, double progress)
{
    e->progress = progress > e->progress ? progress : e->progress + STEP;
    if (e->call)
        cs_mcp_progress(e->call, e->progress, e->total, cs_buf_str(&e->message));
}

static void say_waits(struct cs_house_job *e)
{
    CS_AUTO_BUF struct cs_buf message = {0};
    if (!e->call || !cs_house_approvals_say(&e->approvals, &message))
        return;
    e->progress += STEP;
    cs_mcp_progress(e->call, e->progress, e->total, cs_buf_str(&message));
}

static void on_beat(uv_timer_t *t)
{
    struct cs_house_job *e = t->data;
    CS_AUTO_BUF struct cs_buf message = {0};
    if (!e->call || !e->run)
        return;
    if (e->approvals.first) {
        say_waits(e);
        return;
    }
    /* One that said it has done all of it, and goes on, has nothing more to say. */
    if (e->total >= 0 && e->progress + STEP > e->total)
        return;
    if (e->message.len)
        cs_buf_printf(&message, "%.*s; ", CS_STR_ARG(cs_buf_str(&e->message)));
    uint32_t calls = cs_run_calls(e->run);
    if (calls)
        cs_buf_printf(&message, "%u tool call%s, ", calls, calls == 1 ? "" : "s");
    cs_buf_printf(&message, "%u s", (unsigned)((uv_now(t->loop) - e->start_ms) / 1000));
    e->progress += STEP;
    cs_mcp_progress(e->call, e->progress, e->total, cs_buf_str(&message));
}

static void on_progress(void *ctx, struct cs_str json)
{
    struct cs_house_job *e = ctx;
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    if (cs_json_parse(json, NULL, &doc, NULL) < 0)
        return;
    struct cs_json_val root = cs_json_root(&doc);
    double progress = 0;
    cs_json_f64(cs_json_get(root, "progress"), &progress);
    e->total = -1;
    cs_json_f64(cs_json_get(root, "total"), &e->total);
    cs_buf_clear(&e->message);
    cs_buf_putstr(&e->message, cs_json_str(cs_json_get(root, "message"), &arena));
    tell_progress(e, progress);
}

static void tell_log(struct cs_house_job *e, const char *level, struct cs_str text)
{
    if (!e->call || !e->run)
        return;
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    cs_json_put_str(&w, text);
    cs_mcp_log(e->call, level, cs_run_id(e->run), cs_buf_str(&data));
}

static void on_log(void *ctx, enum cs_level level, struct cs_str text)
{
    static const char *const levels[] = {"debug", "info", "warning", "error"};
    tell_log(ctx, levels[level], text);
}

static void on_output(void *ctx, bool is_stderr, struct cs_str bytes)
{
    tell_log(ctx, is_stderr ? "warning" : "info", bytes);
}

/* --- what servers ask, and what a person must allow --- */

static bool on_ask(void *ctx, const struct cs_tool_ask *ask)
{
    struct cs_house_job *e = ctx;
    return e->call && cs_house_question_ask(&e->questions, e->call, ask);
}

static void on_withdrawn(void *ctx, uint64_t ask)
{
    struct cs_house_job *e = ctx;
    cs_house_question_withdraw(&e->questions, e->call, ask);
}

static void on_approval(void *ctx, const struct cs_approval_row *row)
{
    struct cs_house_job *e = ctx;
    if (!e->call)
        return;
    cs_house_approval_asked(&e->approvals, e->call, row);
    say_waits(e);
}

static void on_approval_over(void *ctx, const struct cs_approval_row *row)
{
    struct cs_house_job *e = ctx;
    cs_house_approval_over(&e->approvals, e->call, row->id);
}

static void on_answered(struct cs_mcp_call *call, uint64_t ask, struct cs_str result)
{
    struct cs_house_job *e = call->own;
    if (cs_house_approval_is(ask))
        cs_house_approval_answered(&e->approvals, call, ask, result);
    else if (cs_house_question_answered(&e->questions, call, ask, &result) && e->run)
        cs_run_answer(e->run, ask, result);
}

/* --- its end --- */

void cs_house_told(struct cs_mcp_call *call, struct cs_str envelope, struct cs_str hints,
                   struct cs_buf *out)
{
    uint64_t tokens = cs_house_tokens(call), used = hints.len ? cs_token_estimate(hints) : 0;
    cs_digest(envelope, tokens > used ? tokens - used : 1, out);
    if (hints.len)
        cs_buf_puts(out, "\n\n");
    cs_buf_putstr(out, hints);
}

/* The program around one call is ours: nobody can mend it. On record it stays as it was. */
static void forget_place(struct cs_result *result)
{
    struct cs_error *error = &result->error;
    error->snippet = error->stack = (struct cs_str){0};
    error->line = error->column = 0;
    if (result->failed)
        result->envelope = (struct cs_str){0};
}

static void begin_call(struct cs_house_job *e, struct cs_request *request);

static void on_done(void *ctx, const struct cs_result *result)
{
    struct cs_house_job *e = ctx;
    struct cs_mcp_call *call = e->call;
    e->run = NULL;
    e->call = NULL;
    if (call) {
        CS_AUTO_BUF struct cs_buf envelope = {0}, hints = {0}, text = {0};
        struct cs_result told = *result;
        if (e->begin == begin_call)
            forget_place(&told);
        cs_envelope(&told, &envelope);
        struct cs_str intent = cs_json_str(cs_json_get(e->arguments, "intent"), &call->arena);
        cs_house_hints(call, result, intent, cs_house_tokens(call) / HINTS_PART, &hints);
        cs_house_told(call, cs_buf_str(&envelope), cs_buf_str(&hints), &text);
        cs_mcp_text(call, cs_buf_str(&text), result->status != CS_STATUS_COMPLETED);
    }
    end(e);
}

static void on_cancelled(struct cs_mcp_call *call)
{
    struct cs_house_job *e = call->own;
    e->call = NULL;
    if (e->run)
        cs_run_cancel(e->run);
}

void cs_house_jobs_close(struct cs_house *house)
{
    while (house->jobs) {
        struct cs_house_job *e = house->jobs;
        house->jobs = e->next;
        e->house = NULL;
        e->call = NULL;
        uv_timer_stop(&e->beat);
        if (e->run)
            cs_run_cancel(e->run);
    }
}

/* --- its start --- */

static const struct cs_run_watch watch = {
    .log = on_log,
    .output = on_output,
    .progress = on_progress,
    .ask = on_ask,
    .withdrawn = on_withdrawn,
    .approval = on_approval,
    .approval_over = on_approval_over,
};

static void start(struct cs_house_job *e)
{
    const struct cs_mcp_options *options = cs_house_options(e->call);
    const struct cs_caller *caller = &e->call->caller;
    struct cs_request request = {.limits = cs_limits_default()};
    e->begin(e, &request);
    request.privacy = e->wish.level;
    request.customs = e->wish.customs;
    request.custom_count = e->wish.custom_count;
    request.principal = cs_str(caller->principal);
    request.actor_type = caller->key_id[0] ? CS_STR("key") : CS_STR("agent");
    request.tenant = cs_str(caller->tenant);
    request.session = cs_str(e->session);
    request.trace = e->call->trace;
    e->start_ms = uv_now(e->beat.loop);
    e->run = cs_run_start(options->runner, &request, &watch, on_done, e);
    uv_timer_start(&e->beat, on_beat, BEAT_FIRST_MS, BEAT_MS);
    cs_house_follow(e->house, e->run, cs_str(caller->tenant));
    cs_mcp_may_be_task(e->call, cs_str(cs_run_id(e->run)));
}

static void on_session(void *ctx, const struct cs_err *err, const struct cs_session_row *rows,
                       size_t count)
{
    struct cs_house_job *e = ctx;
    bool there = err->code == CS_OK && count == 1 && rows[0].id.len < sizeof e->session;
    if (e->call && there) {
        memcpy(e->session, rows[0].id.at, rows[0].id.len);
        e->session[rows[0].id.len] = '\0';
        start(e);
        return;
    }
    if (e->call)
        cs_house_complain(e->call, "no session could be started: %s", err->msg);
    e->call = NULL;
    end(e);
}

static void begin(struct cs_mcp_call *call, struct cs_json_val arguments,
                  void (*how)(struct cs_house_job *e, struct cs_request *request))
{
    const struct cs_mcp_options *options = cs_house_options(call);
    struct cs_str session = cs_json_str(cs_json_get(arguments, "session_id"), &call->arena);
    struct cs_privacy_wish wish;
    struct cs_err err = {0};
    if (cs_privacy_wish(cs_runner_privacy(options->runner), cs_json_get(arguments, "privacy"),
                        &call->arena, &wish, &err) < 0) {
        cs_house_complain(call, "%s", err.msg);
        return;
    }
    if (session.len && !options->sessions) {
        cs_house_complain(call, "session_id: there are no sessions here");
        return;
    }
    struct cs_house_job *e = CS_NEW(struct cs_house_job);
    /* A NUL would cut it short, and what is left might be a session. */
    if (session.len >= sizeof e->session || (session.len && memchr(session.at, 0, session.len))) {
        free(e);
        cs_house_complain(call, "session_id: there is no such session; \"new\" starts one");
        return;
    }
    e->house = cs_house_of(call);
    e->call = call;
    e->begin = how;
    e->arguments = arguments;
    e->wish = wish;
    e->total = -1;
    uv_timer_init(cs_mcp_loop(call->mcp), &e->beat);
    e->beat.data = e;
    e->next = e->house->jobs;
    e->link = &e->house->jobs;
    if (e->next)
        e->next->link = &e->next;
    e->house->jobs = e;
    call->own = e;
    call->cancelled = on_cancelled;
    call->answered = on_answered;
    if (cs_str_is(session, "new")) {
        cs_session_start(options->sessions, &call->caller, (struct cs_str){0}, 0, on_session, e);
        return;
    }
    if (session.len)
        memcpy(e->session, session.at, session.len);
    start(e);
}

static void begin_code(struct cs_house_job *e, struct cs_request *request)
{
    struct cs_mcp_call *call = e->call;
    struct cs_json_val a = e->arguments, language = cs_json_get(a, "language");
    request->code = cs_json_str(cs_json_get(a, "code"), &call->arena);
    request->inputs = cs_house_object(call, cs_json_get(a, "inputs"));
    request->intent = cs_json_str(cs_json_get(a, "intent"), &call->arena);
    uint64_t timeout = cs_house_options(call)->timeout_ms;
    request->limits.wall_clock = cs_house_number(cs_json_get(a, "timeout_ms"),
                                                 timeout ? timeout : request->limits.wall_clock);
    cs_cache_mode_parse(cs_json_str(cs_json_get(a, "cache"), &call->arena), &request->cache);
    /* It is one of the schema's. */
    cs_language_parse(cs_json_str(language, &call->arena), &request->language, NULL);
}

static void begin_call(struct cs_house_job *e, struct cs_request *request)
{
    struct cs_mcp_call *call = e->call;
    struct cs_json_val a = e->arguments;
    *request = cs_request_call(cs_json_str(cs_json_get(a, "server"), &call->arena),
                               cs_json_str(cs_json_get(a, "tool"), &call->arena),
                               cs_house_object(call, cs_json_get(a, "arguments")), &e->inputs);
    /* The tool has a time of its own, which stands still while its server asks somebody. */
    request->limits.wall_clock = cs_policy_ceiling(NULL, CS_RISK_LOW).wall_clock;
}

void cs_house_execute(struct cs_mcp_call *call, struct cs_json_val arguments)
{
    begin(call, arguments, begin_code);
}

void cs_house_call(struct cs_mcp_call *call, struct cs_json_val arguments)
{
    begin(call, arguments, begin_call);
}

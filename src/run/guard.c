/*
 * Between a verdict and what it stops: a program before it runs, a call before it is sent. What is
 * imported meanwhile: guard_late.c.
 *
 *     allowed  -> at once
 *     refused  -> the program never ran, or gets an error for its call
 *     asked    -> it waits, paused and without a turn, until somebody has answered; then it is
 *                 looked whether that is still what was asked about, and it goes on when it is its
 *                 turn again
 */
#include "run/guard.h"

#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "run/journal.h"
#include "run/resume.h"
#include "run/shield.h"

#define LISTED_MS 5000 /* how long servers have to say what they offer before somebody is asked */

static const struct cs_refusal denied = {CS_CALL_DENIED, CS_ANSWER_DENIED, NULL, false};

/* Neighbours that do not know each other. */
static enum cs_standing standing_of(const struct cs_tool *t)
{
    static const enum cs_standing same[] = {[CS_TOOL_KNOWN] = CS_STANDING_KNOWN,
                                            [CS_TOOL_YOUNG] = CS_STANDING_YOUNG,
                                            [CS_TOOL_CHANGED] = CS_STANDING_CHANGED};
    return same[cs_tool_standing(t)];
}

struct cs_tool_view cs_guard_view(const struct cs_tool *t)
{
    return (struct cs_tool_view){
        .target = cs_gate_target(t),
        .description = t->description,
        .input = t->input,
        .annotated = t->annotated,
        .trusted = t->trusted,
        .read_only = t->read_only,
        .destructive = t->destructive,
        .owns_up = t->owns_up,
        .open_world = t->open_world,
        .standing = standing_of(t),
    };
}

struct cs_guarded *cs_guarded_of(struct cs_run *run)
{
    if (!run->guarded)
        run->guarded = CS_NEW(struct cs_guarded);
    return run->guarded;
}

bool cs_guard_asks(const struct cs_run *run)
{
    return run->guarded && run->guarded->waits > 0;
}

/* --- it waits, it goes on --- */

static void set_status(struct cs_run *run, struct cs_str status)
{
    if (run->on_record && cs_run_store(run))
        cs_store_execution_status(run->runner->store, cs_str(run->result.execution_id), status,
                                  NULL, NULL);
}

void cs_guard_waits(struct cs_run *run)
{
    struct cs_guarded *g = cs_guarded_of(run);
    cs_cache_never(run, "a person was asked");
    if (run->job)
        cs_job_pause(run->job, true);
    if (g->waits++)
        return;
    g->since_ns = uv_hrtime();
    cs_queue_quit(&run->runner->queue, &run->place);
    g->wants_turn = false;
    cs_run_waits_no_more(run);
    set_status(run, CS_STR("awaiting_approval"));
}

/* Without a turn it goes on if there is none right now: it gets the next one. */
void cs_guard_goes_on(struct cs_run *run)
{
    struct cs_guarded *g = run->guarded;
    if (run->job)
        cs_job_pause(run->job, false);
    if (--g->waits)
        return;
    g->waited_ns += uv_hrtime() - g->since_ns;
    set_status(run, CS_STR("running"));
    if (!run->place.has_turn && !g->wants_turn)
        g->wants_turn = !cs_queue_enter(&run->runner->queue, run->tenant, &run->place);
}

static void let_run(struct cs_run *run);

/* Those that somebody has said yes to. */
static void let_go(struct cs_run *run)
{
    struct cs_guarded *g = run->guarded;
    if (g->allowed) {
        g->allowed = false;
        cs_guard_goes_on(run);
        let_run(run);
        return;
    }
    struct cs_gate_call *c = run->calls;
    while (c) {
        if (!c->allowed) {
            c = c->next;
            continue;
        }
        c->allowed = false;
        cs_guard_goes_on(run);
        if (c->tool)
            cs_gate_granted(c); /* it may be over */
        else
            cs_guard_late_granted(c);
        c = run->calls;
    }
}

/* The last one that was waited for goes on in a turn. */
void cs_guard_may_go_on(struct cs_run *run)
{
    struct cs_guarded *g = run->guarded;
    if (g->waits > 1 || run->place.has_turn)
        let_go(run);
    else if (!g->wants_turn && cs_queue_enter(&run->runner->queue, run->tenant, &run->place))
        let_go(run);
    else
        g->wants_turn = true;
}

bool cs_guard_turn(struct cs_run *run)
{
    struct cs_guarded *g = run->guarded;
    if (!g || !g->wants_turn)
        return false;
    g->wants_turn = false;
    let_go(run);
    if (g->waits) /* for somebody else */
        cs_queue_quit(&run->runner->queue, &run->place);
    return true;
}

void cs_guard_close(struct cs_run *run)
{
    struct cs_guarded *g = run->guarded;
    if (run->await)
        cs_await_cancel(CS_TAKE(run->await));
    if (!g)
        return;
    if (g->question)
        cs_question_drop(CS_TAKE(g->question), run->leaves);
    if (g->waits)
        g->waited_ns += uv_hrtime() - g->since_ns;
    g->waits = 0;
    g->allowed = g->wants_turn = false;
}

void cs_guard_settled(struct cs_run *run, const struct cs_job_end *end)
{
    if (run->again || run->leaves)
        return;
    if (run->guarded)
        run->result.waited_us = run->guarded->waited_ns / 1000;
    if (run->result.status == CS_STATUS_DENIED || end->how == CS_ENDED_LIMIT ||
        end->how == CS_ENDED_SYSCALL || end->how == CS_ENDED_PROTOCOL)
        cs_history_bad(run);
}

/* "Denied by alice: not this one", "Nobody answered within 30 s" */
struct cs_str cs_guard_why_not(struct cs_run *run, const char *what,
                               const struct cs_question_end *end)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_printf(&text, "%s was not approved", what);
    if (end->by.len)
        cs_buf_printf(&text, " by %.*s", CS_STR_ARG(end->by));
    if (end->reason.len)
        cs_buf_printf(&text, ": %.*s", CS_STR_ARG(end->reason));
    return cs_arena_dup(&run->arena, cs_buf_str(&text));
}

static struct cs_question_end nobody(void)
{
    return (struct cs_question_end){.reason = CS_STR("nobody can be asked here")};
}

/* --- a program is judged --- */

static bool tool_at(void *ctx, size_t i, struct cs_tool_view *view)
{
    struct cs_run *run = ctx;
    if (!run->catalogue || i >= cs_catalogue_count(run->catalogue))
        return false;
    *view = cs_guard_view(cs_catalogue_at(run->catalogue, i));
    return true;
}

static struct cs_detector *detector_of(const struct cs_run *run)
{
    if (run->shield)
        return run->shield->detector;
    return run->runner->privacy ? cs_privacy_detector(run->runner->privacy) : NULL;
}

struct cs_circumstances cs_guard_circumstances(struct cs_run *run)
{
    return (struct cs_circumstances){
        .principal = run->principal,
        .tenant = run->tenant,
        .intent = run->request.intent,
        .language = cs_language_name(run->request.language),
        .source = run->result.is_guest ? run->request.code : (struct cs_str){0},
        .sensitive_inputs = run->result.protection.inputs.total,
        .detector = detector_of(run),
        .tool = tool_at,
        .ctx = run,
    };
}

static void judge(struct cs_run *run, struct cs_str facts, bool first)
{
    struct cs_verdict *v = &run->result.verdict;
    struct cs_circumstances c = cs_guard_circumstances(run);
    if (!run->again && first)
        cs_history_begun(run, &c.lately, &c.lately_bad);
    cs_judge(run->policy, facts, &c, &run->request.limits, &run->arena, v);
    if (v->action == CS_GRANT_ALLOW && run->guarded && run->guarded->must_ask) {
        v->action = CS_GRANT_ASK;
        v->rule = CS_STR("asked before");
    }
    run->result.limits = v->limits;
}

/* --- and what follows from it --- */

static void let_run(struct cs_run *run)
{
    const struct cs_verdict *v = &run->result.verdict;
    if (run->result.is_guest) {
        cs_run_go(run);
        return;
    }
    if (!run->resume || !cs_resume_begun(run)) {
        cs_trail_started(run);
        if (run->request.durable)
            cs_trail_flush(run);
    }
    if (run->resume)
        cs_resume_facts(run, true, (struct cs_str){0});
    else
        cs_job_verdict(run->job, true, &v->limits, (struct cs_str){0});
}

#define REFUSED "the policy refuses this program"
#define UNASKED "a person would have to approve this program, and a replay asks nobody"

/* Its time was over: approvals.c says so in these words. */
static bool nobody_came(struct cs_str why)
{
    static const char words[] = "nobody answered within";
    return why.len && memmem(why.at, why.len, words, sizeof words - 1);
}

#define TELL_THEM                                                                             \
    CS_STR("Nobody was there to answer. Somebody with the role approve can, with `caisson "   \
           "approvals` or GET /approvals: tell them what it is for, and send it again while " \
           "they are there.")

struct cs_str cs_guard_advice(struct cs_str why)
{
    if (nobody_came(why))
        return TELL_THEM;
    if (cs_str_starts(why, REFUSED))
        return CS_STR(
            "Write it without what `risk.findings` names, or ask whoever keeps the policy "
            "to let it run; `caisson assess FILE` says beforehand.");
    if (cs_str_starts(why, UNASKED))
        return CS_STR("Run it as an execution of its own, where somebody can be asked, or let "
                      "`risk.then` of the policy allow it to whoever replays it.");
    return CS_STR("It did not run, and nothing it would have done was done. `risk.findings` says "
                  "why a person was asked.");
}

static void refuse(struct cs_run *run, struct cs_str why)
{
    struct cs_guarded *g = cs_guarded_of(run);
    struct cs_err err = {0};
    g->denied = why;
    run->result.verdict.allowed = false;
    run->refused = true;
    cs_fail(&err, CS_DENIED, "%.*s", CS_STR_ARG(why));
    if (run->result.is_guest)
        cs_run_end_early(run, CS_ENDED_FAILED, &err);
    else if (run->again)
        cs_player_judged(run->player, false, why);
    else if (run->resume)
        cs_resume_facts(run, false, why);
    else
        cs_job_verdict(run->job, false, &run->result.verdict.limits, why);
}

static void put_reasons(const struct cs_verdict *v, struct cs_buf *text)
{
    for (uint32_t i = 0; i < v->reason_count && i < 5; i++)
        cs_buf_printf(text, "%s%.*s", i ? "; " : ": ", CS_STR_ARG(v->reasons[i]));
}

/* "the policy refuses it (risk.then.CRITICAL): imports node:child_process (line 3); ..." */
static void refuse_by_rule(struct cs_run *run)
{
    const struct cs_verdict *v = &run->result.verdict;
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_puts(&text, REFUSED);
    if (v->rule.len)
        cs_buf_printf(&text, " (%.*s)", CS_STR_ARG(v->rule));
    put_reasons(v, &text);
    refuse(run, cs_arena_dup(&run->arena, cs_buf_str(&text)));
}

/* In the recorded world there is nobody who could be asked about a program that was not in it. */
static void refuse_again(struct cs_run *run)
{
    const struct cs_verdict *v = &run->result.verdict;
    CS_AUTO_BUF struct cs_buf text = {0};
    if (v->action == CS_GRANT_DENY) {
        refuse_by_rule(run);
        return;
    }
    cs_buf_printf(&text, UNASKED " (%.*s)", CS_STR_ARG(v->rule));
    put_reasons(v, &text);
    refuse(run, cs_arena_dup(&run->arena, cs_buf_str(&text)));
}

static void ask_program(struct cs_run *run);

/* What may have changed while somebody was thinking: the policy, and the tools. It has not begun,
 * so it gets what holds now. */
static void judge_anew(struct cs_run *run)
{
    struct cs_runner *r = run->runner;
    if (run->policy != r->policy) {
        cs_policy_unref(run->policy);
        run->policy = cs_policy_ref(r->policy);
    }
    if (r->tools) {
        cs_catalogue_unref(run->catalogue);
        run->catalogue = cs_tools_current(r->tools);
    }
    judge(run, run->guarded->facts, false);
}

static bool still_the_same(struct cs_run *run)
{
    struct cs_guarded *g = run->guarded;
    struct cs_question_want want = {.run = run};
    CS_AUTO_BUF struct cs_buf card = {0};
    judge_anew(run);
    if (run->result.verdict.action == CS_GRANT_DENY)
        return false;
    cs_card_program(run, &want, &card);
    return memcmp(want.binding, g->binding, sizeof g->binding) == 0;
}

static void on_program(void *ctx, const struct cs_question_end *end)
{
    struct cs_run *run = ctx;
    struct cs_guarded *g = run->guarded;
    g->question = NULL;
    if (!end->approved) {
        cs_guard_goes_on(run);
        refuse(run, cs_guard_why_not(run, "the program", end));
    } else if (still_the_same(run)) {
        g->approved = g->allowed = true;
        g->by = cs_arena_dup(&run->arena, end->by);
        run->result.approved_by = g->by;
        cs_guard_may_go_on(run);
    } else {
        cs_guard_goes_on(run);
        if (run->result.verdict.action == CS_GRANT_DENY)
            refuse_by_rule(run);
        else
            ask_program(run);
    }
}

static void ask_program(struct cs_run *run)
{
    const struct cs_verdict *v = &run->result.verdict;
    struct cs_guarded *g = cs_guarded_of(run);
    CS_AUTO_BUF struct cs_buf card = {0}, why = {0};
    for (uint32_t i = 0; i < v->reason_count && i < 3; i++)
        cs_buf_printf(&why, "%s%.*s", i ? "; " : "", CS_STR_ARG(v->reasons[i]));
    if (!why.len)
        cs_buf_puts(&why, "the policy wants a person to decide");
    struct cs_question_want want = {
        .run = run, .risk = v->risk, .rule = v->rule, .why = cs_buf_str(&why)};
    cs_card_program(run, &want, &card);
    want.card = cs_buf_str(&card);
    memcpy(g->binding, want.binding, sizeof g->binding);
    cs_trail_flush(run);
    cs_guard_waits(run);
    if (++g->asked <= CS_ASKED_MOST)
        g->question = cs_question_ask(&want, on_program, run);
    struct cs_question_end none = nobody();
    if (!g->question)
        on_program(run, &none);
}

static void follow(struct cs_run *run, struct cs_str facts);

static void on_listed(void *ctx)
{
    struct cs_run *run = ctx;
    run->await = NULL;
    if (run->job)
        cs_job_pause(run->job, false);
    judge_anew(run);
    follow(run, run->guarded->facts);
}

/* Servers that have just been started say what they offer first: else it would be asked again as
 * soon as they do, since that is part of what somebody approves. */
static bool await_tools(struct cs_run *run)
{
    struct cs_guarded *g = cs_guarded_of(run);
    struct cs_tools *tools = run->runner->tools;
    if (g->listed || !tools)
        return false;
    g->listed = true;
    if (run->job)
        cs_job_pause(run->job, true);
    cs_tools_look_again(tools);
    run->await = cs_tools_await(tools, (struct cs_str){0}, false, LISTED_MS, on_listed, run);
    return true;
}

static void follow(struct cs_run *run, struct cs_str facts)
{
    switch (run->result.verdict.action) {
    case CS_GRANT_ALLOW:
        let_run(run);
        break;
    case CS_GRANT_DENY:
        refuse_by_rule(run);
        break;
    case CS_GRANT_ASK:
        cs_guarded_of(run)->facts = cs_arena_dup(&run->arena, facts);
        if (!await_tools(run))
            ask_program(run);
        break;
    }
}

void cs_guard_facts(struct cs_run *run, struct cs_str facts)
{
    const struct cs_verdict *v = &run->result.verdict;
    judge(run, facts, true);
    if (run->again && cs_again_changed(run)) {
        cs_job_verdict(run->job, true, &v->limits, (struct cs_str){0});
        if (v->action == CS_GRANT_ALLOW)
            cs_player_judged(run->player, true, (struct cs_str){0});
        else
            refuse_again(run);
        return;
    }
    if (run->again) { /* whatever holds now: what was said then is heard once more */
        cs_job_verdict(run->job, true, &v->limits, (struct cs_str){0});
        cs_player_facts(run->player);
        return;
    }
    if (!run->player) /* else it was noted long ago */
        cs_trail_assessed(run);
    if (run->resume && cs_resume_begun(run)) /* somebody let it run, or nobody had to */
        cs_resume_facts(run, v->action != CS_GRANT_DENY, v->reason_count ? v->reasons[0] : v->rule);
    else
        follow(run, facts);
}

int cs_step_guard(struct cs_run *run, struct cs_err *err)
{
    (void)err;
    if (!run->result.is_guest)
        return CS_ON;
    judge(run, (struct cs_str){0}, true);
    if (run->again && (!cs_again_changed(run) || run->result.verdict.action == CS_GRANT_ALLOW))
        return CS_ON;
    if (run->again) {
        refuse_again(run);
        return CS_LATER;
    }
    cs_trail_assessed(run);
    if (run->result.verdict.action == CS_GRANT_ALLOW)
        return CS_ON;
    follow(run, (struct cs_str){0});
    return CS_LATER;
}

/* --- a call --- */

/* As the server offers it now, if that is not what the program sees; else NULL. Lent by `now`. */
static const struct cs_tool *other_definition(struct cs_gate_call *c, struct cs_catalogue *now)
{
    if (!now || cs_catalogue_serial(now) == cs_catalogue_serial(c->catalogue))
        return NULL;
    const struct cs_tool *t = cs_catalogue_find(now, c->tool->server, c->tool->name);
    return t && !cs_str_eq(t->definition, c->tool->definition) ? t : NULL;
}

void cs_guard_newest(struct cs_gate_call *c)
{
    struct cs_tools *tools = c->run->runner->tools;
    struct cs_catalogue *now = tools ? cs_tools_current(tools) : NULL;
    const struct cs_tool *t = other_definition(c, now);
    if (t) {
        cs_catalogue_unref(c->catalogue);
        c->catalogue = cs_catalogue_ref(now);
        c->tool = t;
        c->changed = true;
    }
    cs_catalogue_unref(now);
}

/* Why it is asked about a call. */
struct whys {
    struct cs_buf text;
    struct cs_str rule;    /* of the first */
    struct cs_str command; /* the rule that a command breaks */
    unsigned reasons;      /* enum cs_why */
};

static void whys_done(struct whys *w)
{
    cs_buf_done(&w->text);
}

static void also(struct whys *w, enum cs_why why, struct cs_str by, const char *text)
{
    cs_buf_printf(&w->text, "%s%s", w->text.len ? "; " : "", text);
    w->reasons |= (unsigned)why;
    if (!w->rule.len)
        w->rule = by;
}

/* By a process that is gone: it may have taken effect. */
static void why_sent(struct cs_gate_call *c, struct whys *w)
{
    char at[CS_TIME_TEXT];
    if (!c->sent_us)
        return;
    also(w, CS_WHY_SENT, CS_STR("sent before"), "");
    cs_buf_printf(&w->text,
                  "'%.*s/%.*s' was sent at %s, caisson ended before the answer came, and nobody "
                  "knows whether it took effect",
                  CS_STR_ARG(c->tool->server), CS_STR_ARG(c->tool->name),
                  cs_time_text_ms(c->sent_us / 1000, at));
}

static void why_policy(struct cs_gate_call *c, struct whys *w)
{
    struct cs_target target = cs_gate_target(c->tool);
    struct cs_str pattern = {0};
    if (cs_policy_grant(c->run->policy, c->run->principal, &target, &pattern) != CS_GRANT_ASK)
        return;
    also(w, CS_WHY_POLICY, CS_STR("tools.ask"), "");
    cs_buf_printf(&w->text, "the policy wants a person to approve '%.*s'", CS_STR_ARG(pattern));
}

/* Who let the program run has seen how this tool is defined: nobody is asked twice. */
static bool was_seen(const struct cs_gate_call *c)
{
    const struct cs_verdict *v = &c->run->result.verdict;
    if (c->changed || !c->run->guarded || !c->run->guarded->approved)
        return false;
    for (uint32_t i = 0; i < v->tool_count; i++)
        if (cs_str_eq(v->tools[i].tool.target.server, c->tool->server) &&
            cs_str_eq(v->tools[i].tool.target.tool, c->tool->name))
            return true;
    return false;
}

static void why_standing(struct cs_gate_call *c, struct whys *w)
{
    enum cs_standing standing = cs_guard_view(c->tool).standing;
    bool approved = c->run->guarded && c->run->guarded->approved;
    if (was_seen(c) ||
        cs_policy_standing(c->run->policy, c->run->principal, standing) == CS_GRANT_ALLOW)
        standing = CS_STANDING_KNOWN;
    if (standing == CS_STANDING_CHANGED)
        also(w, CS_WHY_CHANGED, CS_STR("tools.changed"),
             "the tool's definition has changed, and nobody has looked at it since");
    else if (standing == CS_STANDING_YOUNG)
        also(w, CS_WHY_YOUNG, CS_STR("tools.young"), "the tool came only minutes ago");
    else if (c->changed && approved)
        also(w, CS_WHY_CHANGED, CS_STR("tools.changed"),
             "the tool's definition has changed since the program was approved");
}

static void why_flow(struct cs_gate_call *c, const struct cs_flow_verdict *flow, struct whys *w)
{
    if (flow->then == CS_GRANT_ALLOW)
        return;
    also(w, CS_WHY_FLOW, flow->rule, "what has come in is ");
    cs_labels_text(flow->from, &w->text);
    cs_buf_printf(&w->text, ", and '%.*s/%.*s' is ", CS_STR_ARG(c->tool->server),
                  CS_STR_ARG(c->tool->name));
    cs_labels_text(flow->to, &w->text);
}

static void why_values(struct cs_gate_call *c, struct whys *w)
{
    CS_AUTO_BUF struct cs_buf values = {0};
    if (!cs_shield_asks(c, &values))
        return;
    also(w, CS_WHY_VALUES, CS_STR("privacy.detokenize"), "it would get ");
    cs_buf_putstr(&w->text, cs_buf_str(&values));
}

/* Who let the program run has seen a finding of the same rule: nobody is asked twice. */
static bool was_found(const struct cs_run *run, struct cs_str rule)
{
    const struct cs_verdict *v = &run->result.verdict;
    if (!run->guarded || !run->guarded->approved)
        return false;
    for (uint32_t i = 0; i < v->finding_count; i++)
        if (cs_str_eq(v->findings[i].id, rule) && !v->findings[i].late)
            return true;
    return false;
}

/* What the program put together as it ran, and gives to something that runs commands. */
static void why_command(struct cs_gate_call *c, struct cs_command *found, struct whys *w)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_target target = cs_gate_target(c->tool);
    if (!cs_judge_command(c->run->policy, c->run->principal, &target, cs_buf_str(&c->arguments),
                          &arena, found) ||
        was_found(c->run, found->rule)) {
        found->then = CS_GRANT_ALLOW;
        return;
    }
    also(w, CS_WHY_COMMAND, found->rule, "what it is told to run ");
    cs_buf_putstr(&w->text, found->reason);
}

static void refuse_call(struct cs_gate_call *c, struct cs_str why, struct cs_str advice)
{
    c->run->records[c->record].by_policy = true;
    cs_gate_refuse(c, denied, why, advice);
}

#define LEAVE_IT \
    CS_STR("Do not try it again: go on without it, or say what a person should do about it.")

struct cs_str cs_guard_leave_it(struct cs_str why)
{
    return nobody_came(why) ? TELL_THEM : LEAVE_IT;
}

static const struct cs_refused_call *refused_before(const struct cs_run *run,
                                                    const unsigned char scope[32])
{
    const struct cs_refused_call *r = run->guarded ? run->guarded->refused : NULL;
    while (r && memcmp(r->scope, scope, sizeof r->scope) != 0)
        r = r->next;
    return r;
}

static void on_call_answered(void *ctx, const struct cs_question_end *end);

/* 1: nothing has to be asked. */
static int ask_call(struct cs_gate_call *c, const struct cs_flow_verdict *flow,
                    const struct whys *why)
{
    struct cs_run *run = c->run;
    struct cs_guarded *g = cs_guarded_of(run);
    CS_AUTO_BUF struct cs_buf card = {0};
    enum cs_risk risk = run->result.verdict.risk;
    struct cs_question_want want = {
        .run = run,
        .call = c,
        .risk = risk > CS_RISK_HIGH ? risk : CS_RISK_HIGH,
        .rule = why->rule,
        .why = cs_buf_str(&why->text),
        .once = c->sent_us,
        .reasons = why->reasons,
        .command = why->command,
    };
    cs_card_call(c, flow, &want, &card);
    want.card = cs_buf_str(&card);
    memcpy(c->binding, want.binding, sizeof c->binding);
    memcpy(c->scope, want.scope, sizeof c->scope);
    const struct cs_refused_call *before = c->sent_us ? NULL : refused_before(run, want.scope);
    if (before) {
        refuse_call(c, before->why, LEAVE_IT);
        return 0;
    }
    if (!c->sent_us && ++g->asked > CS_ASKED_MOST) {
        refuse_call(c,
                    CS_STR("this execution has asked persons too often already; nobody is asked "
                           "any more"),
                    LEAVE_IT);
        return 0;
    }
    cs_trail_flush(run);
    cs_guard_waits(run);
    c->question = cs_question_ask(&want, on_call_answered, c);
    struct cs_question_end none = nobody();
    if (!c->question)
        on_call_answered(c, &none);
    return 0;
}

static void refuse_by(struct cs_gate_call *c, struct cs_str rule, struct cs_str why)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_printf(&text, "the policy refuses it (%.*s): %.*s", CS_STR_ARG(rule), CS_STR_ARG(why));
    refuse_call(c, cs_buf_str(&text), LEAVE_IT);
}

int cs_guard_call(struct cs_gate_call *c)
{
    CS_AUTO(whys_done) struct whys why = {0};
    CS_AUTO(whys_done) struct whys only = {0};
    struct cs_command command = {0};
    struct cs_flow_verdict flow = cs_flows_check(c);
    why_sent(c, &why);
    why_policy(c, &why);
    why_standing(c, &why);
    why_command(c, &command, &only);
    if (command.then == CS_GRANT_DENY) {
        refuse_by(c, only.rule, cs_buf_str(&only.text));
        return 0;
    }
    if (only.text.len) {
        also(&why, CS_WHY_COMMAND, only.rule, cs_buf_cstr(&only.text));
        why.command = only.rule;
    }
    if (flow.then == CS_GRANT_DENY) {
        cs_buf_clear(&why.text);
        why_flow(c, &flow, &why);
        refuse_by(c, flow.rule, cs_buf_str(&why.text));
        return 0;
    }
    why_flow(c, &flow, &why);
    why_values(c, &why);
    return why.text.len ? ask_call(c, &flow, &why) : 1;
}

static void deny_call(struct cs_gate_call *c, const struct cs_question_end *end)
{
    struct cs_run *run = c->run;
    if (c->sent_us) {
        cs_guard_goes_on(run);
        cs_gate_refuse(c, denied, cs_guard_why_not(run, "that", end), (struct cs_str){0});
        return;
    }
    struct cs_refused_call *r = cs_arena_alloc(&run->arena, sizeof *r);
    *r = (struct cs_refused_call){.next = run->guarded->refused,
                                  .why = cs_guard_why_not(run, "the call", end)};
    memcpy(r->scope, c->scope, sizeof r->scope);
    run->guarded->refused = r;
    cs_guard_goes_on(run);
    refuse_call(c, r->why, cs_guard_leave_it(r->why));
}

static void on_call_answered(void *ctx, const struct cs_question_end *end)
{
    struct cs_gate_call *c = ctx;
    struct cs_run *run = c->run;
    c->question = NULL;
    if (!end->approved) {
        deny_call(c, end);
        return;
    }
    c->changed = false;
    cs_guard_newest(c);
    if (c->changed) { /* that is not what somebody has seen */
        cs_guard_goes_on(run);
        cs_gate_check(c);
        return;
    }
    run->records[c->record].approved_by = cs_arena_dup(&run->arena, end->by);
    c->approved = c->allowed = true;
    cs_guard_may_go_on(run);
}

/*
 * What a program imports while it runs: judged as the program was, before anything of it runs. Its
 * worker asks by a call of ours, CS_LATE_TOOL (base/facts.h, worker/late.c), and so the answer is
 * in the journal like that of any other.
 *
 *     allowed  -> at once; what was found is added to what is known of the execution
 *     refused  -> the import fails, and says why
 *     asked    -> as for a call: it waits, and a person sees the program with what it imports now
 *
 * These facts come from a worker that runs a program already, so they add to the verdict it began
 * with, and take nothing from it: who let the program run has not seen them.
 */
#include <string.h>

#include "base/canon.h"
#include "base/facts.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "run/guard.h"

#define LATE_MOST    200u /* questions about modules, of one execution */
#define NOTED_MOST   64u  /* findings that are added */
#define REASONS_MOST 40u
#define PATH_BYTES   200u

static const struct cs_refusal denied = {CS_CALL_DENIED, CS_ANSWER_DENIED, NULL, false};
static const struct cs_refusal too_many = {CS_CALL_LIMIT, CS_ANSWER_LIMIT, NULL, false};

bool cs_guard_is_late(struct cs_str server, struct cs_str tool)
{
    return cs_str_is(server, "caisson") && cs_str_is(tool, CS_LATE_TOOL);
}

/* A member of the facts, as a text. */
static struct cs_str member(struct cs_str facts, const char *key, struct cs_arena *arena)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (cs_json_parse(facts, NULL, &doc, NULL) < 0)
        return (struct cs_str){0};
    return cs_arena_dup(arena, cs_json_str(cs_json_get(cs_json_root(&doc), key), arena));
}

/* By the modules and not by the facts about them, which another version may tell otherwise. */
void cs_guard_wish_hash(const struct cs_wish *wish, unsigned char hash[CS_SHA256])
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str modules = {0};
    if (cs_guard_is_late(wish->server, wish->tool))
        modules = member(wish->arguments, "modules_hash", &arena);
    if (modules.len)
        cs_sha256(modules, hash);
    else
        cs_canon_hash(wish->arguments, hash);
}

static void judge(struct cs_run *run, struct cs_str facts, struct cs_arena *arena,
                  struct cs_verdict *v)
{
    struct cs_circumstances c = cs_guard_circumstances(run);
    cs_judge_late(run->policy, facts, &c, &run->result.verdict, arena, v);
}

/* --- what is known of the execution --- */

static void add_finding(struct cs_run *run, const struct cs_finding *f)
{
    struct cs_guarded *g = cs_guarded_of(run);
    struct cs_verdict *v = &run->result.verdict;
    struct cs_arena *a = &run->arena;
    if (!g->findings) {
        g->findings_room = v->finding_count + NOTED_MOST;
        g->findings = cs_arena_alloc(a, g->findings_room * sizeof *g->findings);
        if (v->finding_count)
            memcpy(g->findings, v->findings, v->finding_count * sizeof *g->findings);
        v->findings = g->findings;
    }
    if (v->finding_count == g->findings_room)
        return;
    uint32_t at = v->finding_count++;
    for (; at > 0 && g->findings[at - 1].level < f->level; at--)
        g->findings[at] = g->findings[at - 1];
    struct cs_finding *to = &g->findings[at];
    *to = *f;
    to->id = cs_arena_dup(a, f->id);
    to->module = cs_arena_dup(a, f->module);
    to->reason = cs_arena_dup(a, f->reason);
    to->mitigation = cs_arena_dup(a, f->mitigation);
    to->what = cs_arena_dup(a, f->what);
}

static void add_reasons(struct cs_run *run, const struct cs_verdict *late)
{
    struct cs_verdict *v = &run->result.verdict;
    uint32_t room = v->reason_count < REASONS_MOST ? REASONS_MOST - v->reason_count : 0;
    uint32_t more = late->reason_count < room ? late->reason_count : room;
    if (!more)
        return;
    struct cs_str *all = cs_arena_alloc(&run->arena, (v->reason_count + more) * sizeof *all);
    if (v->reason_count)
        memcpy(all, v->reasons, v->reason_count * sizeof *all);
    for (uint32_t i = 0; i < more; i++)
        all[v->reason_count + i] = cs_arena_dup(&run->arena, late->reasons[i]);
    v->reasons = all;
    v->reason_count += more;
}

/* It may run, so what was found in it belongs to the program. */
static void add_verdict(struct cs_run *run, const struct cs_verdict *late)
{
    struct cs_verdict *v = &run->result.verdict;
    for (uint32_t i = 0; i < late->finding_count; i++)
        if (late->findings[i].late)
            add_finding(run, &late->findings[i]);
    add_reasons(run, late);
    if (late->risk <= v->risk)
        return;
    v->risk = late->risk;
    v->action = late->action;
    v->rule = cs_arena_dup(&run->arena, late->rule);
}

/* --- what follows --- */

static void put_reasons(const struct cs_verdict *v, struct cs_buf *text)
{
    for (uint32_t i = 0; i < v->reason_count && i < 5; i++)
        cs_buf_printf(text, "%s%.*s", i ? "; " : ": ", CS_STR_ARG(v->reasons[i]));
}

static void refuse(struct cs_gate_call *c, struct cs_str why)
{
    cs_gate_refuse(c, denied, why, cs_guard_leave_it(why));
}

static void let(struct cs_gate_call *c, const struct cs_verdict *v)
{
    add_verdict(c->run, v);
    cs_gate_answer(c, CS_CALL_OK, CS_ANSWER_OK, CS_STR("true"));
}

void cs_guard_late_granted(struct cs_gate_call *c)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_verdict v;
    judge(c->run, cs_buf_str(&c->arguments), &arena, &v);
    let(c, &v);
}

static void on_answered(void *ctx, const struct cs_question_end *end)
{
    struct cs_gate_call *c = ctx;
    struct cs_run *run = c->run;
    c->question = NULL;
    if (!end->approved) {
        cs_guard_goes_on(run);
        refuse(c, cs_guard_why_not(run, "the import", end));
        return;
    }
    if (!run->result.approved_by.len)
        run->result.approved_by = cs_arena_dup(&run->arena, end->by);
    c->allowed = true;
    cs_guard_may_go_on(run);
}

/* No answer about a program as it began is one about what it imports later. */
static void set_apart(unsigned char hash[CS_SHA256])
{
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_puts(&text, "caisson import 1");
    cs_buf_put(&text, hash, CS_SHA256);
    cs_sha256(cs_buf_str(&text), hash);
}

static void ask(struct cs_gate_call *c, const struct cs_verdict *v, struct cs_str path)
{
    struct cs_run *run = c->run;
    struct cs_guarded *g = cs_guarded_of(run);
    CS_AUTO_BUF struct cs_buf card = {0}, why = {0};
    cs_buf_puts(&why, "it runs, and imports ");
    cs_visible(cs_utf8_cut(path, PATH_BYTES), false, &why);
    put_reasons(v, &why);
    struct cs_question_want want = {
        .run = run, .risk = v->risk, .rule = v->rule, .why = cs_buf_str(&why)};
    struct cs_verdict before = run->result.verdict;
    run->result.verdict =
        *v; /* the card is about all of it: the program, and what it imports now */
    cs_card_program(run, &want, &card);
    run->result.verdict = before;
    want.card = cs_buf_str(&card);
    set_apart(want.binding);
    set_apart(want.scope);
    if (++g->asked > CS_ASKED_MOST) {
        refuse(c, CS_STR("this execution has asked persons too often already; nobody is asked any "
                         "more"));
        return;
    }
    cs_trail_flush(run);
    cs_guard_waits(run);
    c->question = cs_question_ask(&want, on_answered, c);
}

/* "the policy refuses it (risk.then.HIGH): imports node:child_process ..., /workspace/m.ts line 3"
 */
static void explain(const struct cs_verdict *v, const char *what, struct cs_buf *text)
{
    cs_buf_printf(text, "%s (%.*s)", what, CS_STR_ARG(v->rule));
    put_reasons(v, text);
}

void cs_guard_late(struct cs_gate_call *c)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_run *run = c->run;
    struct cs_str facts = cs_buf_str(&c->arguments);
    struct cs_str path = member(facts, "imports", &arena);
    struct cs_verdict v;
    if (++cs_guarded_of(run)->imports > LATE_MOST) {
        cs_gate_refuse(c, too_many, CS_STR("a program may import 200 times while it runs"),
                       CS_STR("Import statically, or one module that imports the others."));
        return;
    }
    judge(run, facts, &arena, &v);
    cs_trail_imported(run, &v);
    switch (v.action) {
    case CS_GRANT_ALLOW:
        let(c, &v);
        break;
    case CS_GRANT_DENY:
        explain(&v, "the policy refuses it", &text);
        refuse(c, cs_buf_str(&text));
        break;
    case CS_GRANT_ASK:
        ask(c, &v, path);
        break;
    }
}

/* --- in the recorded world --- */

enum cs_answer cs_guard_late_again(struct cs_run *run, const struct cs_wish *wish,
                                   struct cs_buf *payload)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_verdict v;
    judge(run, wish->arguments, &arena, &v);
    if (v.action == CS_GRANT_ALLOW) {
        add_verdict(run, &v);
        cs_buf_puts(payload, "true");
        return CS_ANSWER_OK;
    }
    explain(&v,
            v.action == CS_GRANT_DENY ? "the policy refuses it"
                                      : "a person would have to approve it, and a replay asks "
                                        "nobody",
            &text);
    struct cs_json_writer w = CS_JSON_WRITER(payload);
    cs_json_open(&w, '{');
    cs_json_key(&w, "message");
    cs_json_put_str(&w, cs_buf_str(&text));
    cs_json_close(&w, '}');
    return CS_ANSWER_DENIED;
}

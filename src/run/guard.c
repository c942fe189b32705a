/* Between a verdict and what it stops: a program before it runs, a call before it is sent. */
#include "run/guard.h"

#include "run/journal.h"

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
        .open_world = t->open_world,
    };
}

static struct cs_circumstances circumstances(struct cs_run *run)
{
    return (struct cs_circumstances){
        .principal = run->principal,
        .tenant = run->tenant,
        .intent = run->request.intent,
        .language = cs_language_name(run->request.language),
    };
}

void cs_guard_facts(struct cs_run *run, struct cs_str facts)
{
    struct cs_verdict *v = &run->result.verdict;
    struct cs_circumstances c = circumstances(run);
    cs_judge(run->policy, facts, &c, &run->result.limits, &run->arena, v);
    run->result.limits = v->limits;
    if (!run->player) { /* else it was noted long ago */
        cs_trail_assessed(run);
        if (v->allowed)
            cs_trail_started(run);
        if (run->request.durable)
            cs_trail_flush(run);
    }
    struct cs_str why = v->allowed ? CS_STR("") : v->reasons[0];
    if (run->resume) {
        cs_resume_facts(run, v->allowed, why);
        return;
    }
    cs_job_verdict(run->job, v->allowed, &v->limits, why);
    if (run->player)
        cs_player_facts(run->player);
}

int cs_step_guard(struct cs_run *run, struct cs_err *err)
{
    (void)err;
    if (!run->result.is_guest)
        return CS_ON;
    struct cs_circumstances c = circumstances(run);
    c.source = run->request.code;
    cs_judge(run->policy, (struct cs_str){0}, &c, &run->request.limits, &run->arena,
             &run->result.verdict);
    return CS_ON;
}

int cs_guard_call(struct cs_gate_call *call)
{
    (void)call;
    return 1;
}

void cs_guard_close(struct cs_run *run)
{
    (void)run;
}

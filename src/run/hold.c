/* The session of an execution: held before it waits for its turn, given back when it is over. */
#include "run/resume.h"
#include "run/session_in.h"

static void on_held(void *ctx, const struct cs_err *err, const struct cs_held *held)
{
    struct cs_run *run = ctx;
    if (err->code != CS_OK)
        run->hold = NULL;
    if (run->settling)
        return; /* cancelled meanwhile: what it holds is given back on the way */
    if (err->code != CS_OK && run->resume) {
        cs_run_end_early(run, CS_ENDED_FAILED, err); /* it has begun, long ago */
        return;
    }
    if (err->code != CS_OK) {
        cs_run_refuse(run, err);
        return;
    }
    run->result.session_id = run->request.session;
    run->state = cs_arena_dup(&run->arena, held->state);
    run->state_bytes = held->state_bytes;
    run->workspace = held->workspace;
    run->workspace_out = held->workspace_out;
    if (run->resume)
        cs_resume_held(run, held);
    cs_run_go(run);
}

int cs_step_hold(struct cs_run *run, struct cs_err *err)
{
    const struct cs_request *r = &run->request;
    if (!r->session.len)
        return CS_ON;
    if (!run->runner->sessions)
        return cs_fail(err, CS_MISSING, "there are no sessions here");
    uint64_t wait = r->limits.wall_clock < UINT32_MAX ? r->limits.wall_clock : UINT32_MAX;
    if (run->resume)
        wait = UINT32_MAX;
    struct cs_str durable = r->durable ? cs_str(run->result.execution_id) : (struct cs_str){0};
    run->hold = cs_session_hold(run->runner->sessions, run->tenant, r->session, durable,
                                r->session_must_be_free ? 0 : (uint32_t)wait, on_held, run);
    return CS_LATER;
}

/* A program that is fine, but whose state or files could not be kept, has failed: the next one
 * would find something else than it was told. */
static void on_released(void *ctx, const struct cs_err *err)
{
    struct cs_run *run = ctx;
    if (err->code != CS_OK && !run->result.failed) {
        struct cs_err why = *err;
        cs_wrap(&why, "the session");
        cs_settle_fault(run, &why);
    }
    cs_run_go(run);
}

int cs_step_release(struct cs_run *run, struct cs_err *err)
{
    (void)err;
    if (!run->hold)
        return CS_ON;
    struct cs_str state = run->result.failed ? (struct cs_str){0} : run->new_state;
    if (run->resume && run->resume->released)
        cs_session_return(run->hold, state, on_released, run);
    else
        cs_session_release(run->hold, state, on_released, run);
    run->hold = NULL;
    return CS_LATER;
}

void cs_run_unhold(struct cs_run *run)
{
    if (run->hold)
        cs_hold_leave(run->hold);
    run->hold = NULL;
}

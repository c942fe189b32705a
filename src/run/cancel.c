/* An end that comes from outside: cancelled, or left for the next process. */
#include "run/guard.h"

bool cs_run_may_leave(const struct cs_run *run)
{
    return run->request.durable && run->admitted && !run->beginning && !run->settling;
}

/* Whatever it waits for, it waits no longer. What it holds is given back when it is settled. */
void cs_run_cancel(struct cs_run *run)
{
    static const struct cs_err none;
    if (run->job)
        cs_job_cancel(run->job);
    if (run->job || run->settling || run->cancelled)
        return;
    run->cancelled = true;
    if (run->beginning && run->request.key.len)
        return; /* whether it has begun is not known yet: record.c goes on */
    cs_record_leave(run);
    if (run->await)
        cs_await_cancel(run->await);
    run->await = NULL;
    cs_guard_close(run);
    cs_queue_quit(&run->runner->queue, &run->place);
    cs_run_end_early(run, CS_ENDED_CANCELLED, &none);
}

static void cancel_all(struct cs_runner *runner, bool who_asks)
{
    for (struct cs_run *run = runner->runs; run; run = run->next) {
        if (who_asks && !cs_guard_asks(run))
            continue;
        run->leaves = cs_run_may_leave(run);
        cs_run_cancel(run);
    }
}

void cs_runner_cancel_all(struct cs_runner *runner)
{
    cancel_all(runner, false);
}

void cs_runner_leave_asking(struct cs_runner *runner)
{
    cancel_all(runner, true);
}

/*
 * Executions that outlive their process: taken over from a process that is gone, played from their
 * journals up to where they stood, and gone on with.
 */
#include "run/inside.h"

void cs_runner_resume(struct cs_runner *runner)
{
    (void)runner;
}

struct cs_str cs_run_question(const struct cs_run *run)
{
    (void)run;
    return (struct cs_str){0};
}

int cs_run_decide(struct cs_run *run, enum cs_resume_answer answer, struct cs_str principal,
                  struct cs_err *err)
{
    (void)run;
    (void)answer;
    (void)principal;
    return cs_fail(err, CS_MISSING, "nothing is asked");
}

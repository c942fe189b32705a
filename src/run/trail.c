/* Entries of the ledger about an execution. */
#include "run/inside.h"

void cs_trail_note(struct cs_run *run, const char *event, struct cs_str data)
{
    (void)run, (void)event, (void)data;
}

void cs_trail_flush(struct cs_run *run)
{
    (void)run;
}

void cs_trail_admitted(struct cs_run *run)
{
    (void)run;
}

void cs_trail_assessed(struct cs_run *run)
{
    (void)run;
}

void cs_trail_call(struct cs_run *run, const struct cs_call *call)
{
    (void)run, (void)call;
}

void cs_trail_settled(struct cs_run *run)
{
    (void)run;
}

void cs_trail_take(struct cs_run *run, struct cs_execution_more *more)
{
    (void)run, (void)more;
}

void cs_trail_done(struct cs_run *run)
{
    (void)run;
}

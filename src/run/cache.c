/* Answers that are known already. */
#include "run/inside.h"

int cs_step_cache(struct cs_run *run, struct cs_err *err)
{
    (void)run;
    (void)err;
    return CS_ON;
}

void cs_cache_keep(struct cs_run *run)
{
    (void)run;
}

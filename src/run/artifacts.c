/* What is too large for an answer is kept under a handle, which a later program can open. */
#include "run/inside.h"

int cs_step_keep(struct cs_run *run, struct cs_err *err)
{
    (void)run;
    (void)err;
    return CS_ON;
}

/* What an execution has read, so that what it leaves behind can be traced back to it. */
#include "run/inside.h"

void cs_lineage_read(struct cs_run *run, const struct cs_artifact_row *row)
{
    (void)run, (void)row;
}

int cs_step_collect(struct cs_run *run, struct cs_err *err)
{
    (void)run, (void)err;
    return CS_ON;
}

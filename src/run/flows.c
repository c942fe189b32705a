/* What has come in, and where it may go: labels of one execution and its session. */
#include "run/guard.h"

void cs_flows_came(struct cs_gate_call *call)
{
    (void)call;
}

struct cs_flow_verdict cs_flows_check(struct cs_gate_call *call)
{
    (void)call;
    return (struct cs_flow_verdict){.then = CS_GRANT_ALLOW};
}

void cs_flows_json(struct cs_gate_call *call, const struct cs_flow_verdict *verdict,
                   struct cs_json_writer *w)
{
    (void)call;
    (void)verdict;
    (void)w;
}

void cs_flows_done(struct cs_run *run)
{
    (void)run;
}

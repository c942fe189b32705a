/* Where an execution belongs in the traces of others: below its caller's span, or in a trace of its
 * own if somebody wants traces. Without either there is none, and nothing is handed on. */
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>

#include "run/inside.h"

static void fill(unsigned char *bytes, size_t n)
{
    if (getrandom(bytes, n, 0) != (ssize_t)n)
        memset(bytes, 0, n);
    bytes[n - 1] |= !bytes[n - 1]; /* zero is for none */
}

void cs_run_span(unsigned char span[8])
{
    fill(span, 8);
}

void cs_run_trace(struct cs_run *run)
{
    const struct cs_trace *caller = &run->request.trace;
    struct cs_result *r = &run->result;
    struct timeval now;
    gettimeofday(&now, NULL);
    run->start_ns = uv_hrtime();
    r->started_us = (int64_t)now.tv_sec * 1000000 + now.tv_usec;
    if (cs_trace_is(caller)) {
        r->trace = *caller;
        memcpy(r->parent_span, caller->span, sizeof r->parent_span);
    } else if (run->runner->observer.traces) {
        fill(r->trace.trace, sizeof r->trace.trace);
        r->trace.sampled = true;
    } else {
        return;
    }
    cs_run_span(r->trace.span);
}

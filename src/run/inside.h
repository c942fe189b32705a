/* Inside of run/: one execution, as run.c drives it and settle.c ends it. */
#ifndef CS_RUN_INSIDE_H
#define CS_RUN_INSIDE_H

#include "base/arena.h"
#include "run/run.h"

struct cs_run {
    struct cs_runner *runner;
    struct cs_job *job; /* NULL: not started, or over */
    struct cs_run_watch watch;
    void (*done)(void *ctx, const struct cs_result *result);
    void *ctx;
    struct cs_arena arena; /* what the result points at, unless it is one of these: */
    struct cs_log *logs;   /* and the buffers that own their texts */
    struct cs_buf *log_texts;
    size_t log_count, log_cap;
    struct cs_buf out, err;
    uint64_t output;         /* bytes of logs and streams kept so far */
    struct cs_job_end early; /* for a refusal before there was a job */
    struct cs_result result;
};

/* Fills run->result from how the job ended. Everything a worker reported is checked here. */
void cs_settle(struct cs_run *run, const struct cs_job_end *end);

#endif

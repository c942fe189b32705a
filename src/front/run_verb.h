/* Inside of front/: what `caisson run` was asked for, shared with its batch form. */
#ifndef CS_FRONT_RUN_VERB_H
#define CS_FRONT_RUN_VERB_H

#include "base/buf.h"
#include "front/settings.h"
#include "front/verbs.h"
#include "front/world.h"
#include "run/run.h"

struct cs_run_args {
    struct cs_buf code, inputs;
    bool has_code;
    const char *file; /* operand, or NULL */
    bool has_language;
    enum cs_language language;
    struct cs_limits limits;
    const char *workspace, *config, *policy;
    bool json, quiet, verbose, batch;
    bool no_record, durable, no_privacy, reveal;
    enum cs_clock clock;
    enum cs_cache_mode cache;
    struct cs_settings settings;
    uint32_t jobs;
    struct cs_sandbox_options sandbox;
    char data_dir[CS_DATA_PATH];
};

/* Requests as lines of JSON on stdin, envelopes as lines on stdout. The exit status, or -1. */
int cs_run_batch(struct cs_run_args *args, struct cs_err *err);

#endif

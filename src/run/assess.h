/*
 * A program is judged, and nothing of it runs: what `caisson assess` prints.
 *
 * Runs in: daemon, loop thread. The program is compiled in a jailed worker, as it is in an
 *          execution, and the worker is sent away once its facts are there. Nothing is kept.
 * Failure: whatever goes wrong with the program is a finding ("unreadable"); what goes wrong with
 *          us is `err`.
 */
#ifndef CS_RUN_ASSESS_H
#define CS_RUN_ASSESS_H

#include "policy/judge.h"
#include "run/run.h"

/* All of it is lent until `done` has returned. */
struct cs_assess_request {
    enum cs_language language;
    struct cs_str code;
    struct cs_str principal, tenant, intent, environment; /* each may be empty */
    uint32_t sensitive_inputs, lately, lately_bad;
    struct cs_limits limits;
    /* In place of those that are connected; NULL: these. */
    const struct cs_tool_view *tools;
    size_t tool_count;
};

/* The verdict is lent to `done`, which runs once, never before this has returned. */
void cs_assess(struct cs_runner *runner, const struct cs_assess_request *request,
               void (*done)(void *ctx, const struct cs_err *err, const struct cs_verdict *verdict),
               void *ctx);

/* A tool as policy sees it; lent by the tool. guard.c */
struct cs_tool_view cs_guard_view(const struct cs_tool *tool);

#endif

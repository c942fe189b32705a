/*
 * Inside of front/: what a verb stands on: the policy, the tools of the configured servers, and the
 * runner. Opened in that order, closed in the other.
 */
#ifndef CS_FRONT_WORLD_H
#define CS_FRONT_WORLD_H

#include "front/data.h"
#include "run/run.h"

struct cs_world {
    struct cs_policy *policy;
    struct cs_tools *tools;   /* NULL: there is no configuration */
    struct cs_runner *runner; /* NULL: not asked for */
    char config[CS_DATA_PATH], policy_path[CS_DATA_PATH], data[CS_DATA_PATH];
    void (*closed)(void *ctx);
    void *ctx;
};

struct cs_world_options {
    const char *config, *policy;              /* from the command line, or NULL */
    const char *model;                        /* directory of a static model for search, or NULL */
    bool watch, eager;                        /* see cs_tools_options */
    const struct cs_sandbox_options *sandbox; /* NULL: no runner */
    unsigned asks;                            /* see cs_runner_options */
};

/* On failure nothing is open. A policy that cannot be read is a failure. */
int cs_world_open(uv_loop_t *loop, const struct cs_world_options *options, struct cs_world *world,
                  struct cs_err *err);

/* `closed` (may be NULL) runs when nothing is left. */
void cs_world_close(struct cs_world *world, void (*closed)(void *ctx), void *ctx);

#endif

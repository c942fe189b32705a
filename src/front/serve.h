/*
 * Inside of front/: the daemon behind the doors: the world, the MCP door, and whatever else is
 * open, from the first signal to the last record.
 *
 *     open -> (doors) -> stop: first the executions that run are given their time, then they are
 *     cancelled and recorded, then everything is closed -> `ended`
 *
 * Runs in: daemon, loop thread.
 */
#ifndef CS_FRONT_SERVE_H
#define CS_FRONT_SERVE_H

#include <stdbool.h>
#include <uv.h>

#include "front/file_watch.h"
#include "front/retention.h"
#include "front/settings.h"
#include "front/verbs.h"
#include "front/world.h"
#include "mcp/mcp.h"

struct cs_daemon {
    const struct cs_verb *verb;
    uv_loop_t *loop;
    struct cs_settings settings;
    struct cs_setting_flags flags; /* from the command line: they win after a reload, too */
    const char *config, *policy;   /* from the command line, or NULL */
    struct cs_sandbox_options sandbox;
    struct cs_world world;
    struct cs_mcp *mcp;
    bool fixtures, no_privacy;
    /* What the doors do; each may be NULL. */
    void (*drain)(struct cs_daemon *d);    /* no new work */
    void (*shut)(struct cs_daemon *d);     /* doors are to be closed, then cs_daemon_shut called */
    void (*reloaded)(struct cs_daemon *d); /* settings have changed */
    void *ctx;
    /* Inside. */
    uv_signal_t signals[3];
    uv_timer_t timer, sweep;
    struct cs_file_watch watch, watch_policy;
    char scratch[CS_DATA_PATH];
    char policy_refused[sizeof(((struct cs_err *)0)->msg)]; /* why the newest one does not count */
    uint64_t deadline;
    struct cs_retention *retention; /* NULL: none is under way */
    bool shut_after;                /* it */
    unsigned stops;                 /* how often it was asked to stop */
    bool cancelled, shutting, closed;
    int exit_status;
};

/* Reads the words of the command line that both verbs share, and the settings. */
int cs_daemon_args(const struct cs_verb *verb, int argc, char **argv, struct cs_daemon *d,
                   struct cs_err *err);
/* Opens world and MCP door, and watches signals and the configuration. */
int cs_daemon_open(struct cs_daemon *d, struct cs_err *err);
/* Once: grace, then the end. Twice: the end. */
void cs_daemon_stop(struct cs_daemon *d);
/* The doors are closed. */
void cs_daemon_shut(struct cs_daemon *d);
/* Runs until everything is over; nothing is left then. */
int cs_daemon_run(struct cs_daemon *d);

/* For one that was never opened. */
void cs_daemon_done(struct cs_daemon *d);

#endif

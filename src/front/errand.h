/*
 * Inside of front/: the servers of the configuration, for as long as one verb takes.
 *
 *     run -> (wait for servers, with a line on the terminal) -> `then` -> end -> run returns
 *
 * Runs in: daemon, loop thread. An interrupt ends it with status 130.
 */
#ifndef CS_FRONT_ERRAND_H
#define CS_FRONT_ERRAND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "front/verbs.h"
#include "front/world.h"
#include "tools/config.h"
#include "tools/tools.h"

#define CS_WAIT_MS 10000u

enum cs_wait {
    CS_WAIT_NOT,   /* what is known from last time */
    CS_WAIT_KNOWN, /* until it is known what each offers, from last time or now */
    CS_WAIT_FRESH, /* until each has answered now */
};

struct cs_errand {
    /* What is wanted. */
    const char *config, *policy; /* from the command line, or NULL */
    const char *model;           /* directory of vectors, or NULL */
    const char *server;          /* only this one is waited for; NULL: all. It must be there */
    const char *tool;            /* or only the server of this tool or path, if that can be told */
    enum cs_wait wait;
    uint32_t timeout_ms;                      /* 0: CS_WAIT_MS */
    const struct cs_sandbox_options *sandbox; /* NULL: no program is run */
    unsigned asks;                            /* see cs_runner_options */
    const struct cs_settings *settings;       /* with a sandbox */
    bool no_record, no_privacy;               /* see cs_world_options */
    void (*then)(struct cs_errand *s);        /* must lead to cs_errand_end */
    void (*interrupted)(struct cs_errand *s); /* NULL: an interrupt ends it */
    void *ctx;
    /* What is there, from `then` on. */
    const struct cs_verb *verb;
    uv_loop_t *loop;
    struct cs_world world;
    struct cs_tools *tools; /* NULL, like the catalogue: there is no configuration */
    struct cs_catalogue *catalogue;
    struct cs_config written; /* the configuration, values not expanded */
    char path[CS_DATA_PATH], data[CS_DATA_PATH];
    /* Inside. */
    uv_timer_t spinner;
    uv_signal_t interrupts[3];
    uint64_t started;
    bool live, ended;
    int exit_status;
};

/* The exit status. What goes wrong before `then` is printed. */
int cs_errand_run(const struct cs_verb *verb, struct cs_errand *s);
void cs_errand_end(struct cs_errand *s, int exit_status);

/* Reads the configuration and finds the data directory, and nothing more: `written`, `path`,
 * `data`. For what needs no tools. */
int cs_errand_open(const struct cs_verb *verb, struct cs_errand *s, struct cs_err *err);
void cs_errand_close(struct cs_errand *s);

/* The configured server of that name (or identifier); CS_MISSING names the nearest. */
const struct cs_server_config *cs_errand_server(const struct cs_errand *s, const char *name,
                                                struct cs_err *err);

/* The error of a server, without its name before it: whoever prints it has said that. */
struct cs_str cs_errand_error(const struct cs_server_state *state);

/* A line about what goes on, on a terminal; the next one, or the end, takes it away. */
void cs_errand_clear(struct cs_errand *s);

#endif

/*
 * Inside of front/: what a verb stands on: the policy, the store and the sessions (for those who
 * keep something), the tools of the configured servers, and the runner. Opened in that order,
 * closed in the other.
 */
#ifndef CS_FRONT_WORLD_H
#define CS_FRONT_WORLD_H

#include "front/data.h"
#include "front/policy_place.h"
#include "front/settings.h"
#include "ledger/ledger.h"
#include "privacy/privacy.h"
#include "run/run.h"
#include "watch/watch.h"

struct cs_world {
    struct cs_policy *policy;
    struct cs_privacy *privacy; /* NULL: there is no runner */
    struct cs_vault_key vault_key;
    bool no_privacy;          /* from the command line */
    struct cs_ledger *ledger; /* NULL, like the store and the sessions: not asked for */
    struct cs_store *store;
    struct cs_sessions *sessions;
    struct cs_tools *tools;   /* NULL: there is no configuration */
    struct cs_runner *runner; /* NULL: not asked for */
    struct cs_watch *watch;   /* NULL: there is no runner, or nothing is kept */
    char config[CS_DATA_PATH], data[CS_DATA_PATH];
    const char *policy_given; /* from the command line, or NULL */
    struct cs_policy_place policy_place;
    void (*closed)(void *ctx);
    void *ctx;
};

struct cs_world_options {
    const char *config, *policy;              /* from the command line, or NULL */
    const char *model;                        /* directory of a static model for search, or NULL */
    bool watch, eager;                        /* see cs_tools_options */
    bool no_tools;                            /* nothing of the outside is connected */
    const struct cs_sandbox_options *sandbox; /* NULL: no runner */
    unsigned asks;                            /* see cs_runner_options */
    const struct cs_settings *settings;       /* wanted with a runner */
    bool no_record;                           /* nothing is kept, and nobody waits */
    bool no_privacy;                          /* --no-pii-protection */
};

/* On failure nothing is open. A policy that cannot be read is a failure. */
int cs_world_open(uv_loop_t *loop, const struct cs_world_options *options, struct cs_world *world,
                  struct cs_err *err);

/* The rules of `policy`, which was read from the file at `path` ("": there is none); `settings` may
 * be NULL. */
int cs_world_privacy(const struct cs_policy *policy, const char *path,
                     const struct cs_settings *settings, bool off, struct cs_privacy **privacy,
                     struct cs_err *err);

/* How many warm workers, and how many executions at once, the settings mean. */
uint32_t cs_world_workers(const struct cs_settings *settings);
uint32_t cs_world_concurrency(const struct cs_settings *settings);

/* The settings have changed. */
void cs_world_reload(struct cs_world *world, const struct cs_settings *settings);
/* The policy is looked for and read anew, all of it: executions that begin from now on are under
 * it. What cannot be read changes nothing. */
int cs_world_reload_policy(struct cs_world *world, const struct cs_settings *settings,
                           struct cs_err *err);
/* `closed` (may be NULL) runs when nothing is left. */
void cs_world_close(struct cs_world *world, void (*closed)(void *ctx), void *ctx);

#endif

/*
 * Inside of front/: what is old goes: executions and cached answers are forgotten, entries of the
 * ledger move into archives, and archives are removed in their time.
 *
 *     pool: archive, check -> entry "ledger.archived" -> purge -> old archives: entry
 *     "archive.removed" -> unlink
 *
 * One process of a data directory does it at a time; another one that comes meanwhile goes away.
 *
 * Runs in: daemon, loop thread.
 */
#ifndef CS_FRONT_RETENTION_H
#define CS_FRONT_RETENTION_H

#include "front/settings.h"
#include "front/world.h"

struct cs_retention;
/* Takes until it is done what it needs of `world`, which must not be closed before. NULL: one is
 * under way, or there is nothing to do it with. */
struct cs_retention *cs_retention_start(uv_loop_t *loop, const struct cs_world *world,
                                        const struct cs_settings *settings, void (*done)(void *ctx),
                                        void *ctx);
/* It ends as soon as it can; `done` still runs. */
void cs_retention_stop(struct cs_retention *retention);

#endif

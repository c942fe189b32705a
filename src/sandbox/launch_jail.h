/*
 * The jailed form of cs_launch: a server in a guest's jail (guest_server.h), with a control group
 * and a proxy.
 *
 * Runs in: daemon, loop thread. Blocks while the jail is built (some ten ms).
 */
#ifndef CS_SANDBOX_LAUNCH_JAIL_H
#define CS_SANDBOX_LAUNCH_JAIL_H

#include "base/arena.h"
#include "base/buf.h"
#include "sandbox/guest_server.h"
#include "sandbox/launch.h"

/* Pipes of a server: an answer of megabytes then needs few turns between writer and reader. Not
 * more, since what one user has in pipes is bounded. */
#define CS_LAUNCH_PIPE (256 << 10)

struct cs_jailed;

int cs_launch_jailed(uv_loop_t *loop, const struct cs_launch *launch, struct cs_child *child,
                     struct cs_err *err);

/* After the process has been reaped. */
void cs_jailed_free(struct cs_jailed *jailed);

/* The program that argv[0] means, as an absolute path; fails as starting it would. */
int cs_launch_find(const struct cs_launch *launch, struct cs_buf *program, struct cs_err *err);

/*
 * The paths of a jail: what `read` and `write` name, normalised ("~/" is our HOME), each once and
 * in order; the program, and where it lies, unless that is visible anyway. Strings are kept in
 * `arena`.
 */
int cs_launch_paths(const struct cs_launch *launch, const char *program, struct cs_arena *arena,
                    struct cs_server *server, struct cs_err *err);

#endif

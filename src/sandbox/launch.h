/*
 * Starts a tool server: a process of our own choosing, not of the agent's, whose three streams we
 * hold.
 *
 * Runs in: daemon, loop thread. Blocks for the time of a fork and exec (a few ms); with a jail,
 * longer. Owner:   the caller owns the fds and must reap the process through `pidfd` (waitid).
 *
 * With a jail `pid` is that of a process of ours which ends as the server ends: its status is the
 * server's, or 128 + the signal that ended it.
 *
 * The child has a session and a process group of its own, default signal handling, no other fd of
 * ours, and dies with us (PR_SET_PDEATHSIG), as does the rest of its group (keeper.h). Its
 * environment is exactly `env`. In the jail it has in addition the guest's walls: own namespaces, a
 * read-only system, no capabilities, the syscall filter; it sees `read` and may change `write`;
 * with `hosts`, HTTP(S)_PROXY leads to a proxy of ours that connects to those alone.
 */
#ifndef CS_SANDBOX_LAUNCH_H
#define CS_SANDBOX_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

#include "base/err.h"

struct cs_launch {
    const char *const *argv; /* NULL at the end; argv[0] is looked up in PATH of `env` */
    const char *const *env;  /* "NAME=value" */
    const char *cwd;         /* or NULL: ours */
    bool jail;
    const char *const *read, *const *write, *const *hosts; /* NULL at the end, or NULL */
};

struct cs_child {
    pid_t pid;
    int pidfd;
    int in, out, err;         /* our ends of its streams, non-blocking */
    struct cs_proxy *proxy;   /* of a jail with hosts; or NULL */
    struct cs_jailed *jailed; /* its limits; NULL without a jail */
};

/*
 * CS_MISSING: no such command, directory, or path. CS_INVALID: `read`, `write` or `hosts` make no
 * sense. CS_DENIED: the jail cannot be built here, and the message says what to do; nothing runs
 * then.
 */
int cs_launch(uv_loop_t *loop, const struct cs_launch *launch, struct cs_child *child,
              struct cs_err *err);

/*
 * Sends a signal to the whole group (with a jail: to everything in it). Only while the process has
 * not been reaped: afterwards its number may be another's. Of a server that ended by itself, send
 * SIGKILL before reaping it (waitid with WNOWAIT, or the pidfd, tells of its end): what it left
 * behind is still in the group.
 */
void cs_child_kill(const struct cs_child *child, int signal);

/* Closes the fds and the proxy; after the process has been reaped. */
void cs_child_done(struct cs_child *child);

#endif

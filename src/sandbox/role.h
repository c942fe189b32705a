/*
 * Roles: this same program, started again as the zygote, a guest launcher, a keeper or a probe.
 *
 * Runs in: cs_role_spawn in the daemon; cs_role_main and cs_role_begin in the new process; send and
 * receive on both sides.
 *
 * The daemon has threads and secrets, so it never forks without exec. What it starts is a sealed
 * copy of itself in memory (no file on disk that could be swapped), with an empty environment, its
 * own session, and one descriptor: the control socket, fd 3. Everything else that such a process
 * needs comes as a message over that socket.
 *
 * A role dies with the thread that spawned it, but for the keeper, which has something left to do
 * when the daemon is gone. Spawn from a thread that lives as long as the
 * daemon, which is the loop's.
 */
#ifndef CS_SANDBOX_ROLE_H
#define CS_SANDBOX_ROLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* The control socket in a role process. */
#define CS_ROLE_CONTROL 3

/* Most descriptors in one message. */
#define CS_ROLE_FDS 8

/* What the zygote does with the engine; main.c passes the worker's functions in. */
struct cs_engine_hooks {
    int (*warm)(bool no_jit,
                struct cs_err *err); /* once, before the jail closes: engine, prelude */
    void (*serve)(int sock)
        __attribute__((noreturn)); /* in the worker: READY, one execution, end */
    /* The rest makes workers faster and the start slower, and may be NULL. Before the jail closes,
     * unless it is for one execution only: */
    int (*polish)(struct cs_err *err);
    /* then a child runs a program of ours and writes down what that touches, for the zygote. */
    void (*rehearse)(int out) __attribute__((noreturn));
    void (*learn)(int in);
};

struct cs_role {
    pid_t pid;
    int pidfd;
    int control; /* SOCK_SEQPACKET, non-blocking */
};

/* False in a program whose main() does not ask cs_role_main: started again, it would be itself. */
bool cs_role_can_spawn(void);

/* `name` is one of those cs_role_main knows. The caller owns what is in `role`. */
int cs_role_spawn(const char *name, struct cs_role *role, struct cs_err *err);

/* Closes the control socket, kills the process and reaps it. Harmless when nothing is there. */
void cs_role_end(struct cs_role *role);

/*
 * To be asked first thing in main(): if the arguments choose a role (or the `caisson` command
 * inside a guest), plays it and returns the exit status; otherwise returns -1 at once.
 */
int cs_role_main(int argc, char **argv, const struct cs_engine_hooks *hooks);

/*
 * In a role process that has changed its credentials: arms the death signal again, which the kernel
 * drops on such a change, and fails if the daemon is gone already (in a process that is no role, it
 * cannot know that).
 */
int cs_role_bind(struct cs_err *err);

/* One message with descriptors, whole or not at all. The caller keeps its copies of `fds`. */
int cs_role_send(int control, const void *msg, size_t len, const int *fds, size_t count,
                 struct cs_err *err);

/*
 * 1: one message of exactly `len` bytes with at most `*count` descriptors, which the caller now
 * owns (`*count` says how many came, CLOEXEC); 0: nothing there (non-blocking); -1: the other side
 * is gone, or sent something else.
 */
int cs_role_recv(int control, void *msg, size_t len, int *fds, size_t *count, struct cs_err *err);

#endif

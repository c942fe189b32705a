/*
 * The walls of the jail, each tried for real on this machine.
 *
 * Runs in: daemon (which starts a throw-away child process by cs_role_spawn for the trying).
 */
#ifndef CS_SANDBOX_WALLS_H
#define CS_SANDBOX_WALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* id, name on the command line, required, what it keeps out */
#define CS_WALLS(X)                                                                          \
    X(USERNS, "user-namespace", true, "code has no identity outside the jail")               \
    X(MOUNTNS, "mount-namespace", true, "an empty root: no file of this machine is visible") \
    X(PIDNS, "pid-namespace", true, "no other process is visible, and all die together")     \
    X(NETNS, "network-namespace", true, "no network, not even loopback")                     \
    X(IPCNS, "ipc-namespace", true, "no shared memory or message queue of this machine")     \
    X(UTSNS, "uts-namespace", true, "no host name")                                          \
    X(CGROUPNS, "cgroup-namespace", true, "no view of this machine's control groups")        \
    X(SECCOMP, "seccomp", true, "only the listed system calls")                              \
    X(NNP, "no-new-privileges", true, "no set-uid program works")                            \
    X(LANDLOCK, "landlock", false, "a second wall around files and sockets")                 \
    X(MEMORY, "memory-limit", true, "memory is bounded")                                     \
    X(CPU, "cpu-limit", true, "processor time is bounded")                                   \
    X(PIDS, "process-limit", true, "processes are bounded")                                  \
    X(ENGINE, "engine", true, "the engine can be forked safely (one thread)")

enum cs_wall {
#define X(id, name, required, purpose) CS_WALL_##id,
    CS_WALLS(X)
#undef X
        CS_WALL_COUNT
};

struct cs_wall_state {
    bool holds;
    char how[160];    /* "cgroup v1", "Landlock ABI 7", "polling" */
    char remedy[240]; /* what to do, if it does not hold or holds only in its weaker form */
};

const char *cs_wall_name(enum cs_wall wall);
const char *cs_wall_purpose(enum cs_wall wall);
bool cs_wall_required(enum cs_wall wall);

/* A bit mask (1 << enum cs_wall) from "a,b,c" or "all"; CS_INVALID names the unknown one. */
int cs_walls_parse(const char *list, uint32_t *mask, struct cs_err *err);

/* Tries every wall. Only fails if the trying itself could not be done. */
int cs_walls_probe(struct cs_wall_state states[CS_WALL_COUNT], struct cs_err *err);

/* What people can do about a wall that could not be built (`sys`: the errno, or 0). */
const char *cs_wall_remedy(enum cs_wall wall, int sys);

/* The role "probe" itself, in probe.c. */
struct cs_engine_hooks;
int cs_walls_main(const struct cs_engine_hooks *hooks);

#endif

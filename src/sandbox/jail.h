/*
 * The jail, step by step. The order of the steps is the design: each takes away what only the
 * earlier ones needed.
 *
 *     enter    identity, namespaces, id maps
 *     empty    (zygote) the root becomes an empty, read-only tmpfs
 *     harden   host name, keyring, limits, capabilities, no_new_privs, not dumpable
 *     fence    Landlock
 *     filter   seccomp, last (filter.h)
 *
 * Runs in: zygote, worker, guest launcher, probe: processes with one thread, no secrets. Never in
 * the daemon: there is no way back from any of these.
 * Failure: CS_DENIED names the wall that could not be built and says what to do. A wall that
 * options.allow_weak names may be missing; it is then noted in `missing`.
 */
#ifndef CS_SANDBOX_JAIL_H
#define CS_SANDBOX_JAIL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sandbox/limits.h"
#include "sandbox/walls.h"
#include "sandbox/zygote.h"

/* Who the jailed code is, inside its user namespace. */
#define CS_JAIL_ID 1000

struct cs_jail {
    struct cs_jail_options options;
    uint32_t missing;       /* walls (1 << enum cs_wall) that are not there, with permission */
    int why[CS_WALL_COUNT]; /* errno of those */
};

static inline bool cs_jail_has(const struct cs_jail *jail, enum cs_wall wall)
{
    return !(jail->missing & (1u << wall));
}

/* True if no wall shall be built at all, to show that the escape tests can fail. */
static inline bool cs_jail_off(const struct cs_jail *jail)
{
#ifdef CS_TEST_HOOKS
    return jail->options.weak_for_test;
#else
    (void)jail;
    return false;
#endif
}

/*
 * Says that `wall` could not be built, `sys` being the errno. Returns 0 if it may be missing, else
 * -1 with a complete message.
 */
int cs_jail_missing(struct cs_jail *jail, enum cs_wall wall, int sys, const char *what,
                    struct cs_err *err);

/* As root: the first of the CS_JAIL_UIDS ids that jailed processes of this daemon run as. They own
 * nothing, and other daemons have others. */
#define CS_JAIL_UIDS 1024u
uint32_t cs_jail_uid_base(void);

/* The namespaces that `walls` (a mask) name, for clone3 and unshare. */
uint64_t cs_jail_namespaces(uint32_t walls);

/* All namespaces but pid (which is for children) and cgroup (which begins after joining one). */
#define CS_JAIL_ENTERED                                                                         \
    (1u << CS_WALL_USERNS | 1u << CS_WALL_MOUNTNS | 1u << CS_WALL_NETNS | 1u << CS_WALL_IPCNS | \
     1u << CS_WALL_UTSNS)

/* As root becomes options.host_uid for good; then enters `walls` and maps CS_JAIL_ID to itself. */
int cs_jail_enter(struct cs_jail *jail, uint32_t walls, struct cs_err *err);

/* Makes every mount private and puts an empty tmpfs over the root, read-only, the old one gone. */
int cs_jail_empty_root(struct cs_jail *jail, struct cs_err *err);

/* pivot_root into the current directory and forget the old root. */
int cs_jail_pivot(struct cs_err *err);

/* Host name and session keyring. Needs the capabilities of the new user namespace. */
int cs_jail_rename(struct cs_jail *jail, struct cs_err *err);

/* rlimits. NULL: those of a zygote and its workers; else those of a guest. */
int cs_jail_rlimits(const struct cs_jail *jail, const struct cs_limits *limits, struct cs_err *err);

/* Bounding, ambient and inheritable sets empty; of the permitted ones only `keep` (a mask). */
int cs_jail_drop(uint64_t keep, struct cs_err *err);

/* The last part of it alone, for a process whose other sets are empty already. */
int cs_jail_uncap(uint64_t keep, struct cs_err *err);

/* no_new_privs, and not dumpable. */
int cs_jail_seal(struct cs_jail *jail, struct cs_err *err);

enum cs_fence {
    CS_FENCE_NOTHING, /* a worker has no file at all */
    CS_FENCE_GUEST,   /* reads and executes below "/", and writes below `writable` */
    CS_FENCE_SERVER   /* the same, and connects where the network namespace lets it */
};

/*
 * Landlock: everything the kernel can refuse is refused, but for what `kind` says. `writable` are
 * `count` directories or files.
 */
int cs_jail_fence(struct cs_jail *jail, enum cs_fence kind, const char *const *writable, int count,
                  struct cs_err *err);

/*
 * The one fork, in zygote.c: clone3 with `flags` (namespaces, CLONE_PARENT). Returns as fork does;
 * in the parent `pidfd` (may be NULL) is set, CLOEXEC. Only for processes with one thread.
 */
pid_t cs_jail_fork(uint64_t flags, int *pidfd);

/* The Landlock version of this kernel; 0: none. */
int cs_jail_landlock_abi(void);

#endif

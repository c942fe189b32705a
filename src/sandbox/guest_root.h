/*
 * The root of a guest: what python, bash and node see instead of this machine.
 *
 *     /usr and its links        the system's programs, read-only; /usr/local and /usr/src are empty
 *     /etc                      made anew: a user, no secrets
 *     /dev                      null zero full random urandom
 *     /proc                     only the guest's own processes, if the kernel lets us
 *     /workspace /tmp           one tmpfs, bounded in bytes and files
 *     /mcp-servers /skills      read-only
 *     /caisson                  the program, its inputs, the SDK, read-only
 *
 * A tool server has its HOME in place of /workspace, none of the directories behind it, and instead
 * the paths that its entry names; with a network also the certificates of this machine.
 *
 * Runs in: build in the launcher, enter in pid 1 of the guest. Both have capabilities in a user
 * namespace of their own only, and a private mount namespace that dies with them.
 */
#ifndef CS_SANDBOX_GUEST_ROOT_H
#define CS_SANDBOX_GUEST_ROOT_H

#include "base/err.h"
#include "sandbox/guest.h"
#include "sandbox/jail.h"

struct cs_server;

struct cs_guest_parts {
    enum cs_guest_language language;
    struct cs_limits limits;
    int source; /* sealed memory files */
    int inputs;
    int state;       /* empty: there is none */
    int mcp_servers; /* directories, or -1 */
    int skills;
    struct cs_server *server; /* whose paths are shown, or NULL */
};

struct cs_guest_root {
    int root;      /* the new root; not the root of anything yet */
    int workspace; /* directories of the scratch tmpfs */
    int tmp;
};

int cs_guest_root_build(const struct cs_jail *jail, const struct cs_guest_parts *parts,
                        struct cs_guest_root *root, struct cs_err *err);

/* Mounts /proc (in the pid namespace of the caller), makes it the root, read-only. */
int cs_guest_root_enter(const struct cs_jail *jail, const struct cs_guest_root *root,
                        struct cs_err *err);

#endif

/*
 * A tool server in a guest's jail: what it runs, and which paths of this machine it is shown.
 *
 * Runs in: cs_server_put in the daemon; the rest in the launcher, single-threaded, and in pid 1.
 * Order:   read -> take (still root, if we are) -> enter the jail -> take again (what root did not
 * get) -> listen -> mount into the new root -> (pid 1, in its root) check.
 */
#ifndef CS_SANDBOX_GUEST_SERVER_H
#define CS_SANDBOX_GUEST_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Where the proxy listens, in a network of the server's own. */
#define CS_SERVER_PROXY_PORT 3128

/* Its HOME; beside /tmp the only place that is writable without being named. */
#define CS_SERVER_HOME "/home/caisson"

/* Most paths of one server. */
#define CS_SERVER_PATHS 64

struct cs_server_path {
    const char *path; /* absolute, normalised; shown at this same place */
    bool writable;
    bool is_file;
    int tree; /* a detached copy of the mount, or -1 */
};

struct cs_server {
    const char *program; /* absolute */
    const char *real;    /* without links: those may lead through what the jail does not show */
    const char *cwd;
    const char *const *argv, *const *env;
    struct cs_server_path paths[CS_SERVER_PATHS]; /* parents before what is below them */
    size_t path_count;
    bool network;
    bool from_root; /* our user was root, and is one that owns nothing now */
    void *memory;   /* what the pointers above point into; NULL: not ours */
};

/* The server as bytes, for a memory file. */
void cs_server_put(const struct cs_server *server, struct cs_buf *out);

/* From that file. Kept for the life of the process. */
int cs_server_read(int fd, struct cs_server *server, struct cs_err *err);

/*
 * Copies the mounts of all paths that have none yet, with their attributes. As root of the machine
 * the files of a path's owner become those of `host_uid` inside (an idmapped mount), where the file
 * system can do that. What does not work is left for the second time; `last` makes it an error.
 */
int cs_server_take(struct cs_server *server, uint32_t host_uid, bool last, struct cs_err *err);

/* Brings the loopback of this network namespace up and listens there. The descriptor, or -1. */
int cs_server_listen(struct cs_err *err);

/* Attaches the paths below the new root. */
int cs_server_mount(struct cs_server *server, int root, struct cs_err *err);

/* CS_DENIED if a path cannot be used by who we are, with what to do. */
int cs_server_check(const struct cs_server *server, struct cs_err *err);

#endif

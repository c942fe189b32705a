/*
 * The files of one execution: /mcp-servers and /skills (read-only), /workspace and /tmp (scratch).
 *
 * Runs in: daemon. The operations block on the file system: call them from the thread pool, one at
 * a time per cs_roots (there is no lock inside). Order:   init -> (copy_in) -> op and module as the
 * worker asks -> (copy_out) -> done. Owner:   the scratch directory is made at the first write and
 * removed by done. Limits:  bytes and files of the scratch are counted here, and refused with
 * CS_ANSWER_LIMIT.
 *
 * A path is absolute and normalised ("/workspace/a/b"): no empty, "." or ".." part, no NUL. It is
 * opened beneath its root with openat2 (RESOLVE_BENEATH, no symlinks, no other device), so even a
 * link that appears in between leads nowhere. What is not a regular file or directory does not
 * exist.
 */
#ifndef CS_SANDBOX_ROOTS_H
#define CS_SANDBOX_ROOTS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "sandbox/harvest.h"
#include "sandbox/limits.h"
#include "sandbox/wire.h"

enum cs_root { CS_ROOT_MCP_SERVERS, CS_ROOT_SKILLS, CS_ROOT_WORKSPACE, CS_ROOT_TMP, CS_ROOT_COUNT };

struct cs_roots {
    int dir[CS_ROOT_COUNT]; /* -1: not there (yet) */
    char *scratch;          /* path of the directory that holds workspace/ and tmp/ */
    bool made;              /* ... and it exists */
    bool adopted;           /* the scratch is a guest's tmpfs */
    uint64_t bytes, bytes_max;
    uint32_t files, files_max;
};

/* `scratch` is copied; `mcp_servers` and `skills` are directory fds to keep (taken), or -1. */
void cs_roots_init(struct cs_roots *r, const char *scratch, int mcp_servers, int skills,
                   const struct cs_limits *limits);

/* Instead of making a scratch directory, use these two (taken): the tmpfs of a guest. */
void cs_roots_adopt(struct cs_roots *r, int workspace, int tmp);

/* Another directory (taken) in place of /mcp-servers. */
void cs_roots_servers(struct cs_roots *r, int mcp_servers);

/* Closes everything and removes the scratch directory, whatever the program made in it. */
void cs_roots_done(struct cs_roots *r);

/* One FILE message; here a path may also be relative, to /workspace. Fills `payload` with the
 * answer's bytes, or a message for people. */
enum cs_answer cs_roots_op(struct cs_roots *r, enum cs_file_op op, struct cs_str path,
                           struct cs_str data, uint32_t flags, struct cs_buf *payload);

/* One ASK message: tries path, path.ts, path.js, path.json, path/index.ts. */
enum cs_answer cs_roots_module(struct cs_roots *r, struct cs_str path, struct cs_buf *canonical,
                               struct cs_buf *source);

/* Copies a directory of the host into /workspace, or /workspace into it. Links and special files
 * are left out. Copying out overwrites what has the same name and deletes nothing. */
int cs_roots_copy_in(struct cs_roots *r, const char *host_dir, struct cs_err *err);
int cs_roots_copy_out(struct cs_roots *r, const char *host_dir, struct cs_err *err);

/* A /workspace/out that is empty goes, so that it makes no difference. */
void cs_roots_trim(struct cs_roots *r);

/* What is in /workspace/out and was not there when `old` (may be NULL) was copied in. */
struct cs_harvest *cs_roots_harvest(struct cs_roots *r, const char *old);

/* Copies /workspace into `fresh`, which is made; not if it is still what `old` is. On failure
 * `fresh` is not there, and the error names no path of the host. */
int cs_roots_copy_new(struct cs_roots *r, const char *old, const char *fresh, struct cs_err *err);

#endif

/*
 * The directory of one session, as the thread pool sees it.
 *
 *     <data>/sessions/<id>/lock    held with flock by whoever runs in it; says whose session it is
 *                         /files   what the session keeps
 *                         /next    what an execution left, until it takes the place of files
 *                         /put     a file that is being stored
 *
 * Runs in: thread pool (everything blocks). The content of files is a hostile program's work.
 * `root` is a descriptor of <data>/sessions.
 */
#ifndef CS_RUN_SESSION_DISK_H
#define CS_RUN_SESSION_DISK_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "run/sessions.h"

#define CS_SESSION_ID    36 /* "ses_" and 32 hex digits */
#define CS_SESSION_PATH  1024
#define CS_SESSION_DEPTH 32

struct cs_quota {
    uint64_t state, bytes, files;
};

/* Exactly as it is made: another spelling is another name. */
bool cs_session_id_ok(struct cs_str id);
int cs_session_path_check(struct cs_str path, struct cs_err *err);

/* Takes the lock, makes what is missing, and removes what somebody who died left. CS_CONFLICT: it
 * is taken. */
int cs_disk_lock(int root, const char *id, const char *tenant, int *lock, struct cs_err *err);
/* The whole session. `locked`: by the caller; else it is left alone if somebody holds it. */
void cs_disk_remove(int root, const char *id, bool locked);
/* Whose is it? False: nobody knows. */
bool cs_disk_tenant(int root, const char *id, char tenant[65]);

/* Is there a next, and within the quota? 1 yes, 0 there is none, -1 CS_LIMIT. */
int cs_disk_next(int root, const char *id, const struct cs_quota *quota, struct cs_err *err);
int cs_disk_adopt(int root, const char *id, struct cs_err *err); /* next becomes files */
void cs_disk_drop(int root, const char *id);                     /* next is removed */

/* Texts live in the arena, the rows (sorted by path) are the caller's to free. */
int cs_disk_list(int root, const char *id, struct cs_arena *arena, struct cs_session_file **files,
                 size_t *count, struct cs_err *err);
int cs_disk_get(int root, const char *id, const char *path, uint64_t max, struct cs_buf *out,
                struct cs_err *err);
/* With the lock held. */
int cs_disk_put(int root, const char *id, const char *path, struct cs_str content,
                const struct cs_quota *quota, struct cs_err *err);
int cs_disk_take(int root, const char *id, const char *path, struct cs_err *err); /* removes it */

#endif

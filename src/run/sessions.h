/*
 * Sessions: a handle of ours, valid at every door and across restarts, for `state`, workspace files
 * and history.
 *
 * Runs in: daemon, loop thread; files are touched in libuv's thread pool.
 * Owner:   as in store/store.h: arguments are copied, what `done` gets is lent for the call, and it
 *          runs once, never before the operation has returned.
 * Failure: CS_MISSING there is no such session (of this tenant, alive), or file; CS_INVALID a path
 *          or state that cannot be; CS_LIMIT a quota; CS_CONFLICT it is busy.
 *
 * A session is held by one execution at a time, in whatever process: the next one waits, or fails
 * if it asked to. A path is relative, of ordinary names, below the session's own directory: no
 * link,
 * "..", device or race leads out of it, in or out.
 */
#ifndef CS_RUN_SESSIONS_H
#define CS_RUN_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "base/str.h"
#include "policy/keys.h"
#include "store/store.h"

struct cs_sessions;
struct cs_hold;

struct cs_session_limits {
    uint64_t state_bytes, file_bytes, files; /* the last two: of all its files together */
    uint64_t per_tenant;
    int64_t idle_ms; /* the default, and the most that may be asked for is 30 times this */
};

int cs_sessions_new(uv_loop_t *loop, struct cs_store *store, const char *data_dir,
                    const struct cs_session_limits *limits, struct cs_sessions **sessions,
                    struct cs_err *err);
/* Other limits, for what begins from now on. */
void cs_sessions_set(struct cs_sessions *sessions, const struct cs_session_limits *limits);
void cs_sessions_close(struct cs_sessions *sessions, void (*closed)(void *ctx), void *ctx);

/* `name` may be empty; `idle_ms` 0: the default. The row has the new id: "ses_" + 32 hex digits. */
void cs_session_start(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str name,
                      int64_t idle_ms, cs_session_found *done, void *ctx);
void cs_session_look(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                     cs_session_found *done, void *ctx);
/* Its state, files and history's names are gone afterwards; an execution that runs in it is told.
 */
void cs_session_stop(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                     cs_stored *done, void *ctx);

/* --- files --- */

struct cs_session_file {
    struct cs_str path;
    uint64_t size;
    int64_t modified;
    bool is_directory;
};
typedef void cs_files_found(void *ctx, const struct cs_err *err,
                            const struct cs_session_file *files, size_t count);
typedef void cs_file_found(void *ctx, const struct cs_err *err, struct cs_str content);

void cs_session_files(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                      cs_files_found *done, void *ctx);
void cs_session_file_get(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                         struct cs_str path, cs_file_found *done, void *ctx);
/* Makes parents. Replaces a file. */
void cs_session_file_put(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                         struct cs_str path, struct cs_str content, cs_stored *done, void *ctx);
void cs_session_file_remove(struct cs_sessions *s, const struct cs_caller *caller, struct cs_str id,
                            struct cs_str path, cs_stored *done, void *ctx);

/* --- for run/ alone: an execution holds it --- */

struct cs_held {
    struct cs_str state;  /* JSON, never empty */
    uint64_t state_bytes; /* the largest that it may become */
    bool released;        /* this execution was released before, and its process died then */
    /* For struct cs_job_spec, until the release: where its files are, and the directory (made by
     * the sandbox if the program succeeded and changed something) that takes their place at the
     * release. */
    const char *workspace, *workspace_out;
};
/* `wait_ms` 0: CS_CONFLICT at once if it is busy. `execution`: a durable one; nobody else gets in
 * before it is settled, even if this process dies. Empty: somebody else. */
struct cs_hold *cs_session_hold(struct cs_sessions *s, struct cs_str tenant, struct cs_str id,
                                struct cs_str execution, uint32_t wait_ms,
                                void (*done)(void *ctx, const struct cs_err *err,
                                             const struct cs_held *held),
                                void *ctx);
/* Ends the hold, or the wait for it (then no `done` of the hold runs). `state`: the new one; empty:
 * unchanged. CS_LIMIT, CS_INVALID: state and files could not be kept, and stay what they were;
 * CS_MISSING: the session was ended meanwhile. `done` may be NULL. */
void cs_session_release(struct cs_hold *hold, struct cs_str state, cs_stored *done, void *ctx);
/* The same, of one that was released before: its state is there, and it is counted. Its files
 * are taken over once more. */
void cs_session_return(struct cs_hold *hold, struct cs_str state, cs_stored *done, void *ctx);

#endif

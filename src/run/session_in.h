/* Inside of the sessions: what sessions.c, session_hold.c and session_files.c share. */
#ifndef CS_RUN_SESSION_IN_H
#define CS_RUN_SESSION_IN_H

#include "base/buf.h"
#include "run/session_disk.h"
#include "run/sessions.h"

struct cs_sessions {
    uv_loop_t *loop;
    struct cs_store *store;
    int root; /* <data>/sessions */
    char *path;
    struct cs_session_limits limits;
    struct cs_hold *holds; /* those that hold and those that wait, in the order of their turns */
    struct cs_safe *safes; /* vaults of those that were used here */
    struct cs_session_flows *flows; /* what has come into them */
    unsigned pending;               /* operations, holds and handles that keep this alive */
    uv_timer_t minute;
    unsigned minutes;
    bool closing;
    void (*closed)(void *ctx);
    void *closed_ctx;
};

/* One thing less that keeps it alive. */
void cs_sessions_less(struct cs_sessions *s);

/* Calls `then` from the loop, as soon as it is back there. */
void cs_soon(struct cs_sessions *s, void (*then)(void *ctx), void *ctx);

/* For the thread pool, which does not look at the limits themselves: they may change. */
struct cs_quota cs_sessions_quota(const struct cs_sessions *s);

/* As cs_session_release, for somebody who is not an execution: only gives it back. */
void cs_hold_leave(struct cs_hold *hold);

/* Those that wait learn that nobody will be let in any more. */
void cs_holds_close(struct cs_sessions *s);

#endif

/*
 * What outlives the process: API keys, sessions, executions, artifacts. The few operations that the
 * program needs, not a database layer: which database stands behind them is hidden here.
 *
 * Runs in: daemon, loop thread. The database is touched by a thread of its own only.
 * Order:   open -> operations -> close. Operations take effect in the order in which they were
 *          asked for.
 * Owner:   what an operation is given is copied before it returns; what `done` gets is lent for the
 *          call.
 * Failure: `done` (may be NULL where nothing is read) runs once, never before the operation has
 *          returned, and gets the error. Of a change it runs after the change is committed; many
 *          share one commit, and one that fails fails alone.
 *          CS_MISSING there is no such row (a row of another tenant is no row); CS_CONFLICT
 *          somebody else was first; CS_LIMIT it is full; CS_INVALID a name is too long; CS_BUSY too
 *          much is waiting; CS_SYSTEM the database failed: the message says what to do.
 * Limits:  65,536 operations wait, with 256 MB of texts; a list has 1,000 rows, whatever was
 *          asked for; 64 MB of an artifact are read at once.
 *
 * Several processes use one store at the same time (`caisson serve` and `caisson mcp`).
 * Times are milliseconds since 1970; 0: never. Texts are UTF-8; a tenant and an id are at most 64
 * bytes.
 */
#ifndef CS_STORE_STORE_H
#define CS_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "base/str.h"

struct cs_store;

/* `dir`: an existing directory of ours. What executions of processes that are gone left as running
 * becomes `cancelled` (lost). */
int cs_store_open(uv_loop_t *loop, const char *dir, struct cs_store **store, struct cs_err *err);
/* Everything that was asked for is done first. */
void cs_store_close(struct cs_store *store, void (*closed)(void *ctx), void *ctx);
/* CS_OK, or why it cannot be used right now; for `/health`. */
void cs_store_health(const struct cs_store *store, struct cs_err *err);

/* `err->code` is CS_OK if it worked. */
typedef void cs_stored(void *ctx, const struct cs_err *err);

/* --- API keys --- */

struct cs_key_row {
    struct cs_str id;   /* the public part of the key */
    struct cs_str name; /* unique among those that are not revoked */
    struct cs_str tenant, role;
    unsigned char hash[32]; /* of the secret part */
    int64_t created, expires, revoked, used;
};
typedef void cs_key_found(void *ctx, const struct cs_err *err, const struct cs_key_row *rows,
                          size_t count);

/* CS_CONFLICT: a key of that name is in use. */
void cs_store_key_add(struct cs_store *s, const struct cs_key_row *row, cs_stored *done, void *ctx);
void cs_store_key_get(struct cs_store *s, struct cs_str id, cs_key_found *done, void *ctx);
void cs_store_keys(struct cs_store *s, cs_key_found *done, void *ctx); /* all, oldest first */
/* By name or id. The second puts another secret into its place: same name, role and tenant. */
void cs_store_key_revoke(struct cs_store *s, struct cs_str name, int64_t when, cs_stored *done,
                         void *ctx);
void cs_store_key_rotate(struct cs_store *s, struct cs_str name, struct cs_str new_id,
                         const unsigned char hash[32], int64_t expires, cs_stored *done, void *ctx);
void cs_store_key_used(struct cs_store *s, struct cs_str id, int64_t when);

/* --- sessions --- */

struct cs_session_row {
    struct cs_str id, tenant, principal, name; /* name: may be empty */
    struct cs_str state;                       /* JSON; empty: {} */
    uint64_t version;                          /* of the state; grows with each change */
    int64_t created, used, expires;            /* expires moves with each use */
    int64_t idle_ms;                           /* lives this long after its last use */
    uint64_t executions;
};
typedef void cs_session_found(void *ctx, const struct cs_err *err,
                              const struct cs_session_row *rows, size_t count);

/* CS_LIMIT: the tenant has `most` of them already. */
void cs_store_session_add(struct cs_store *s, const struct cs_session_row *row, uint64_t most,
                          cs_stored *done, void *ctx);
/* One that has expired is missing. */
void cs_store_session_get(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                          cs_session_found *done, void *ctx);
/* Without their state; newest use first. */
void cs_store_sessions(struct cs_store *s, struct cs_str tenant, size_t limit, size_t offset,
                       cs_session_found *done, void *ctx);
/* The state after an execution, or as it was if empty: counts the execution and moves the expiry.
 * CS_CONFLICT: its version is not `version` any more. */
void cs_store_session_put(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                          uint64_t version, struct cs_str state, int64_t now, cs_stored *done,
                          void *ctx);
void cs_store_session_end(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                          cs_stored *done, void *ctx);
/* Removes those that expired before `now` and have no execution under way, and tells which (only
 * ids and tenants). */
void cs_store_sessions_expire(struct cs_store *s, int64_t now, cs_session_found *done, void *ctx);

/* --- executions --- */

struct cs_execution_row {
    struct cs_str id, tenant, principal, session; /* session: may be empty */
    struct cs_str status;                         /* "running", or one of the envelope's */
    struct cs_str error_type;                     /* empty: none */
    struct cs_str language, intent;
    struct cs_str key, fingerprint; /* Idempotency-Key and what it stands for; or empty */
    struct cs_str envelope;         /* JSON, the long form; empty while it runs, and in lists */
    int64_t created, finished;
};
typedef void cs_execution_found(void *ctx, const struct cs_err *err,
                                const struct cs_execution_row *rows, size_t count);

/* It is admitted and runs in this process. CS_CONFLICT: this tenant has used that key within the
 * last day; `rows` is the execution it was used for (its fingerprint may differ). */
void cs_store_execution_begin(struct cs_store *s, const struct cs_execution_row *row,
                              cs_execution_found *done, void *ctx);
void cs_store_execution_end(struct cs_store *s, const struct cs_execution_row *row, cs_stored *done,
                            void *ctx);
/* It was refused after all, before it did anything: there is no such row, and its key is free. */
void cs_store_execution_drop(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                             cs_stored *done, void *ctx);
void cs_store_execution_get(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                            cs_execution_found *done, void *ctx);

struct cs_execution_filter {
    struct cs_str session, status; /* empty: any */
    struct cs_str before;          /* id of the last one of the page before; empty: newest */
    size_t limit;
};
void cs_store_executions(struct cs_store *s, struct cs_str tenant,
                         const struct cs_execution_filter *filter, cs_execution_found *done,
                         void *ctx); /* newest first */
/* Removes what finished before `when`, with its artifacts. Also notices what processes that are
 * gone left as running, as open does. */
void cs_store_executions_forget(struct cs_store *s, int64_t when, cs_stored *done, void *ctx);

/* --- artifacts: the bytes are files of the store's directory, named by their content --- */

struct cs_artifact_row {
    struct cs_str id, tenant, execution, session;
    struct cs_str name, media_type;
    unsigned char hash[32]; /* SHA-256 of the content; filled in by add */
    uint64_t size;
    int64_t created;
};
typedef void cs_artifact_found(void *ctx, const struct cs_err *err,
                               const struct cs_artifact_row *rows, size_t count,
                               struct cs_str content);

void cs_store_artifact_add(struct cs_store *s, const struct cs_artifact_row *row,
                           struct cs_str content, cs_stored *done, void *ctx);
/* With up to `max` bytes of its content from `offset` on. */
void cs_store_artifact_get(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                           uint64_t offset, size_t max, cs_artifact_found *done, void *ctx);
/* Of one session or execution, or (both empty) of the tenant; newest first. */
void cs_store_artifacts(struct cs_store *s, struct cs_str tenant, struct cs_str session,
                        struct cs_str execution, size_t limit, cs_artifact_found *done, void *ctx);

#endif

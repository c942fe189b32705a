/*
 * What outlives the process: API keys, sessions, executions with their journals, artifacts, the
 * ledger, cached results, figures. The few operations that the program needs, not a database layer:
 * which database stands behind them is hidden here.
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

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct cs_store;
struct cs_measure;

/* `dir`: an existing directory of ours. What executions of processes that are gone left as running
 * becomes `cancelled` (lost) before the first operation, with an entry "execution.settled" and a
 * measure, unless they are durable: those wait for cs_store_execution_adopt. Who has no chain
 * leaves them alone where there is a ledger. */
int cs_store_open(uv_loop_t *loop, const char *dir, struct cs_store **store, struct cs_err *err);
/* Everything that was asked for is done first. */
void cs_store_close(struct cs_store *store, void (*closed)(void *ctx), void *ctx);
/* CS_OK, or why it cannot be used right now; for `/health`. */
void cs_store_health(const struct cs_store *store, struct cs_err *err);

/* What is asked for in between shares a commit, unless the store is at work anyway. The loop must
 * not be left in between; may be nested. */
void cs_store_gather(struct cs_store *store);
void cs_store_gathered(struct cs_store *store);

/* `err->code` is CS_OK if it worked. */
typedef void cs_stored(void *ctx, const struct cs_err *err);

/* --- the ledger: what happened, each entry hashed over the one before --- */

/* What happened, as whoever saw it says it. Names and hashes, never a value of a person's. */
struct cs_entry {
    struct cs_str event;                                 /* "execution.settled" */
    struct cs_str tenant, principal, session, execution; /* may be empty */
    struct cs_str data;                                  /* canonical JSON object; empty: {} */
    int64_t time;                                        /* 0: now */
};

/* As it stands in the chain. */
struct cs_entry_row {
    uint64_t seq; /* 1, 2, 3, ... without a gap */
    unsigned char hash[32];
    struct cs_str text; /* canonical JSON, one line: what the hash is of */
    /* What stands beside it, for finding it (no session, no data): verify compares it with the
     * text. */
    struct cs_entry columns;
};

/* A signature over all entries up to one. */
struct cs_checkpoint_row {
    uint64_t seq;
    unsigned char hash[32]; /* of that entry */
    int64_t time;
    unsigned char key[32]; /* the public key */
    unsigned char signature[64];
};

/* How entries are linked, by whoever knows (ledger/). Pure functions, called in the store's thread,
 * inside the transaction that appends: that is what makes the chain one, whoever writes to it. */
struct cs_chain {
    uint32_t checkpoint_every; /* entries */
    /* The entry has its time. */
    void (*link)(void *ctx, uint64_t seq, const unsigned char prev[32], const struct cs_entry *e,
                 struct cs_buf *text, unsigned char hash[32]);
    /* Fills key and signature of a row whose other members are set; -1: it cannot. */
    int (*sign)(void *ctx, struct cs_checkpoint_row *row, struct cs_err *err);
    void *ctx;
};
/* Right after it was opened, before any operation; lent until it is closed. Without it there is no
 * ledger: what is appended is dropped, and hashes of it are zeros. A checkpoint is made every so
 * many entries, and when the store is closed if there is an entry after the last one. */
void cs_store_set_chain(struct cs_store *s, const struct cs_chain *chain);

/* All of them or none, in this order, one right after the other. Without `done` it is the log that
 * says which could not be written, and why. */
void cs_store_append(struct cs_store *s, const struct cs_entry *entries, size_t count,
                     cs_stored *done, void *ctx);

/* The last entry of that kind about an execution, one line as it stands in the chain. CS_MISSING:
 * there is none (any more). */
typedef void cs_entry_found(void *ctx, const struct cs_err *err, struct cs_str text);
void cs_store_entry_of(struct cs_store *s, struct cs_str execution, struct cs_str event,
                       cs_entry_found *done, void *ctx);

/* Readers of the ledger need no loop: they open the database at `path` (a copy, or one in use) for
 * reading, and walk what is there at one moment. `visit` returns false to stop. CS_MISSING there is
 * no such file; CS_INVALID it has no ledger; CS_BUSY somebody began to use it meanwhile. Nothing in
 * a copy is trusted: a hash that is none comes as zeros. */
struct cs_ledger_filter {
    uint64_t from, to;    /* seq, both included; 0: from the first, to the last */
    int64_t since, until; /* time; 0: any */
    struct cs_str tenant, execution, principal;
    struct cs_str event; /* or its first part: "execution." */
    bool newest_first;   /* by seq; with since or until (and no execution) by time, then seq */
    size_t limit;        /* 0: all */
};
struct cs_ledger_base {
    uint64_t seq; /* the last entry that was archived and removed; 0: none was */
    unsigned char hash[32];
};
int cs_store_ledger_read(const char *path, const struct cs_ledger_filter *filter,
                         struct cs_ledger_base *base,
                         bool (*visit)(void *ctx, const struct cs_entry_row *row), void *ctx,
                         struct cs_err *err);
int cs_store_checkpoints_read(const char *path,
                              bool (*visit)(void *ctx, const struct cs_checkpoint_row *row),
                              void *ctx, struct cs_err *err);
/* Executions that have ended, as their rows say, and whose end has no entry: of all that were
 * admitted after the first entry there is, oldest first, with their envelopes. */
int cs_store_unentered_read(const char *path,
                            bool (*visit)(void *ctx, struct cs_str execution,
                                          struct cs_str envelope),
                            void *ctx, struct cs_err *err);
/* Removes entries up to `seq`, which must have been exported; its hash becomes the base. Step by
 * step: if it is cut short, less is gone, and the base fits. CS_MISSING: there is no such entry. */
void cs_store_ledger_purge(struct cs_store *s, uint64_t seq, cs_stored *done, void *ctx);

/* --- API keys --- */

struct cs_key_row {
    struct cs_str id;   /* the public part of the key */
    struct cs_str name; /* unique among those that are not revoked */
    struct cs_str tenant, role;
    unsigned char hash[32]; /* of the secret part */
    int64_t created, expires, revoked, used;
    bool reveal; /* it may ask for values instead of tokens */
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
    /* Of get: the durable execution that is in it, or empty; released: its state is the new one
     * already, and only the record of its end is missing. */
    struct cs_str holder;
    bool released;
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
/* A durable execution is in it, until it is settled: whatever becomes of its process. */
void cs_store_session_hold(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                           struct cs_str execution, cs_stored *done, void *ctx);
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
    bool durable; /* it outlives its process: see cs_store_execution_adopt */
};
typedef void cs_execution_found(void *ctx, const struct cs_err *err,
                                const struct cs_execution_row *rows, size_t count);

/* What is written together with the begin or the end of an execution, all or nothing. */
struct cs_execution_more {
    const struct cs_entry *entries; /* for the ledger */
    size_t entry_count;
    struct cs_str journal; /* a part of its journal; empty: none */
    const unsigned char (*blobs)[32];
    size_t blob_count; /* that the part refers to */
    /* Of an end: where in the envelope 64 characters stand that become the hash, in hex, of the
     * last of these entries (zeros without a chain); 0: nowhere. */
    size_t chain_at;
    const struct cs_measure *measure; /* of an end: for the figures; NULL: not counted */
};
typedef void cs_execution_ended(void *ctx, const struct cs_err *err,
                                const unsigned char chain_hash[32]);

/* It is admitted and runs in this process. CS_CONFLICT: this tenant has used that key within the
 * last day; `rows` is the execution it was used for (its fingerprint may differ). `more` NULL:
 * nothing, here and below. */
void cs_store_execution_admit(struct cs_store *s, const struct cs_execution_row *row,
                              const struct cs_execution_more *more, cs_execution_found *done,
                              void *ctx);
/* It has ended. CS_MISSING: it does not run in this process, and nothing was written. */
void cs_store_execution_settle(struct cs_store *s, const struct cs_execution_row *row,
                               const struct cs_execution_more *more, cs_execution_ended *done,
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
/* Of all tenants: those that have ended since then, the last ones first. */
void cs_store_executions_lately(struct cs_store *s, int64_t since, size_t limit,
                                cs_execution_found *done, void *ctx);
/* One durable execution whose process is gone is this process's from now on, whoever else asks at
 * the same time; no row: there is none (any more). Its journal is what was appended. */
void cs_store_execution_adopt(struct cs_store *s, cs_execution_found *done, void *ctx);
/* "running" or "awaiting_approval", while it runs here. */
void cs_store_execution_status(struct cs_store *s, struct cs_str id, struct cs_str status,
                               cs_stored *done, void *ctx);
/* Removes what finished before `when`, with journal and artifacts. Also notices what processes that
 * are gone left as running, as open does. */
void cs_store_executions_forget(struct cs_store *s, int64_t when, cs_stored *done, void *ctx);

/* --- journals: what an execution heard, in parts that are put one after the other --- */

typedef void cs_journal_found(void *ctx, const struct cs_err *err, struct cs_str journal);
/* As in struct cs_execution_more. CS_MISSING: there is no such execution. */
void cs_store_journal_append(struct cs_store *s, struct cs_str execution, struct cs_str part,
                             const unsigned char (*blobs)[32], size_t blob_count, cs_stored *done,
                             void *ctx);
/* All parts, in their order; up to 256 MB. CS_MISSING: it has none (any more). */
void cs_store_journal_get(struct cs_store *s, struct cs_str tenant, struct cs_str execution,
                          cs_journal_found *done, void *ctx);

/* --- blobs: bytes under their SHA-256, in files. Above 64 KiB they are compressed. They are
 * written and read in libuv's pool, so that nobody waits for them in the store's thread. One that
 * nothing refers to for an hour is removed by forget. --- */

typedef void cs_blob_found(void *ctx, const struct cs_err *err, const unsigned char hash[32],
                           struct cs_str content);
/* Copies the content. `done` gets no content. */
void cs_store_blob_put(struct cs_store *s, struct cs_str content, cs_blob_found *done, void *ctx);
/* Up to `max` bytes of it; more is CS_LIMIT. CS_MISSING, or CS_SYSTEM if it is damaged. */
void cs_store_blob_get(struct cs_store *s, const unsigned char hash[32], size_t max,
                       cs_blob_found *done, void *ctx);

/* --- cached answers --- */

struct cs_cached_answer {
    unsigned char key[32];
    struct cs_str tenant, execution; /* whose answer it is */
    struct cs_str value;             /* JSON */
    int64_t created, expires;
};
typedef void cs_cached_found(void *ctx, const struct cs_err *err,
                             const struct cs_cached_answer *found);
void cs_store_cache_put(struct cs_store *s, const struct cs_cached_answer *row, cs_stored *done,
                        void *ctx);
/* CS_MISSING: it is not there, or expired. */
void cs_store_cache_get(struct cs_store *s, struct cs_str tenant, const unsigned char key[32],
                        cs_cached_found *done, void *ctx);
/* Another number each time when answers were forgotten by whatever process, but for those that
 * expired: what is known of them elsewhere is not good any more. Costs next to nothing. */
uint64_t cs_store_cache_mark(const struct cs_store *s);
/* All of a tenant (empty: of all), or those that have expired by `now` (0: all). */
void cs_store_cache_forget(struct cs_store *s, struct cs_str tenant, int64_t now, cs_stored *done,
                           void *ctx);

/* --- figures: one measure per execution, folded into sums by whoever knows (watch/) --- */

struct cs_measure {
    uint64_t seq; /* given by the store */
    struct cs_str tenant;
    struct cs_str status, error_type;
    struct cs_str tools;  /* JSON {"server/tool": calls} */
    struct cs_str masked; /* JSON {"EMAIL": values}; may be empty */
    int64_t finished;
    uint64_t wall_us, cpu_us, memory_peak, calls, calls_failed, calls_denied;
    uint64_t tokens_saved;
    bool cached;
};
struct cs_sum {
    struct cs_str tenant;
    int64_t start;       /* of its hour */
    struct cs_str value; /* what was folded; opaque here */
};
typedef void cs_measures_found(void *ctx, const struct cs_err *err, const struct cs_measure *rows,
                               size_t count);
typedef void cs_sums_found(void *ctx, const struct cs_err *err, const struct cs_sum *rows,
                           size_t count);
/* Those that are not folded yet, oldest first; at most 10,000. Numbers are never used twice. */
void cs_store_measures(struct cs_store *s, size_t limit, cs_measures_found *done, void *ctx);
/* Takes the place of sums of the same tenant and hour, and removes the measures `first` to `last`.
 * CS_CONFLICT: one of those `count` is gone: somebody else has folded them. Ask for the measures
 * first and for the sums that they go into afterwards: then nothing is counted twice or lost. */
void cs_store_sums_put(struct cs_store *s, const struct cs_sum *sums, size_t sum_count,
                       uint64_t first, uint64_t last, size_t count, cs_stored *done, void *ctx);
/* Of one tenant (empty: of all), from that hour on; at most 100,000. */
void cs_store_sums(struct cs_store *s, struct cs_str tenant, int64_t from, cs_sums_found *done,
                   void *ctx);

/* --- copies --- */

/* A consistent copy of all there is, as one file that must not be there yet (CS_CONFLICT): a tar,
 * compressed if the name ends in .zst, of the database, the blobs and the ledger's key, for this
 * user alone to read. Unpacked into an empty directory it is a data directory. Not in it: the
 * working directories of sessions. It needs room for the database twice. In the pool; `progress`
 * (may be NULL) is told on the loop how far it is. */
void cs_store_backup(struct cs_store *s, const char *file,
                     void (*progress)(void *ctx, uint64_t bytes, uint64_t of), cs_stored *done,
                     void *ctx);

/* --- artifacts: the bytes are files of the store's directory, named by their content --- */

struct cs_artifact_row {
    struct cs_str id, tenant, execution, session;
    struct cs_str name, media_type;
    unsigned char hash[32]; /* SHA-256 of the content; filled in by add */
    uint64_t size;
    int64_t created;
    struct cs_str kind; /* "result", "stdout", "file", "stored" */
    bool gone;          /* only this row is left of it: something that is kept was made from it */
    uint64_t quota;     /* of an add: what the tenant may keep, all together; 0: no bound */
    struct cs_str came; /* what had come in when it was made (run/flows.c); empty: nothing */
};
/* What an execution has read and heard, and its artifacts are made from. */
struct cs_source {
    struct cs_str kind;          /* "artifact", "input", "call" */
    struct cs_str name;          /* its id; "inputs"; "server/tool#3" */
    unsigned char hash[32];      /* of the artifact, the inputs, the call's result; zero: none */
    unsigned char arguments[32]; /* of a call */
};
typedef void cs_sources_found(void *ctx, const struct cs_err *err, const struct cs_source *rows,
                              size_t count);
typedef void cs_artifact_found(void *ctx, const struct cs_err *err,
                               const struct cs_artifact_row *rows, size_t count,
                               struct cs_str content);

/* `done` gets the row as it is now, without the content. CS_LIMIT: the tenant would keep more than
 * `quota`. */
void cs_store_artifact_add(struct cs_store *s, const struct cs_artifact_row *row,
                           struct cs_str content, cs_artifact_found *done, void *ctx);
/* With up to `max` bytes of its content from `offset` on; `max` 0: the row alone, also of one that
 * is gone. */
void cs_store_artifact_get(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                           uint64_t offset, size_t max, cs_artifact_found *done, void *ctx);
/* Of one session or execution, or (both empty) of the tenant; newest first, without those that are
 * gone. */
void cs_store_artifacts(struct cs_store *s, struct cs_str tenant, struct cs_str session,
                        struct cs_str execution, size_t limit, cs_artifact_found *done, void *ctx);
/* Its content, and its row unless something that is kept was made from it. */
void cs_store_artifact_remove(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                              cs_stored *done, void *ctx);
/* How much a tenant keeps. */
typedef void cs_usage_found(void *ctx, const struct cs_err *err, uint64_t bytes, uint64_t files);
void cs_store_artifact_usage(struct cs_store *s, struct cs_str tenant, cs_usage_found *done,
                             void *ctx);

/* More of what an execution has read and heard; its artifacts come from that. */
void cs_store_sources_add(struct cs_store *s, struct cs_str tenant, struct cs_str execution,
                          const struct cs_source *sources, size_t count, cs_stored *done,
                          void *ctx);
/* In their order. */
void cs_store_sources(struct cs_store *s, struct cs_str tenant, struct cs_str execution,
                      cs_sources_found *done, void *ctx);

/* Where an artifact comes from, and what was made from it. */
struct cs_lineage_want {
    bool up, down;  /* towards what it was made from; towards what was made from it */
    uint32_t depth; /* executions away; 0: 32 */
    uint32_t nodes; /* artifacts, executions and sources together; 0: 1,000 */
};
struct cs_lineage_source {
    size_t execution; /* index in executions */
    struct cs_source source;
};
struct cs_lineage_found {
    const struct cs_artifact_row *artifacts; /* the first one is the one asked for */
    const struct cs_execution_row
        *executions; /* without envelope; created 0: only its id is known */
    const struct cs_lineage_source *sources;
    size_t artifact_count, execution_count, source_count;
    bool cut; /* there is more */
};
typedef void cs_lineage_told(void *ctx, const struct cs_err *err,
                             const struct cs_lineage_found *found);
void cs_store_lineage(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                      const struct cs_lineage_want *want, cs_lineage_told *done, void *ctx);

/* --- sealed entries of vaults: see privacy/ --- */

#define CS_VAULT_OWNER 200 /* bytes of "tenant/session" or "tenant/execution" */
#define CS_FLOWS_OWNER                                                                            \
    "flows/" /* before "tenant/session", or "tenant/execution" of a durable one: what has come in \
              * (run/flows.c); it goes with its vault, and is not sealed */

/* Lent. */
typedef void cs_vault_found(void *ctx, const struct cs_err *err, const struct cs_str *sealed,
                            size_t count);

/*
 * One more of this owner, after those that are there. They go with the session or the execution
 * whose row goes, whatever the reason, or when they are wiped; either way nothing of them is left
 * in the file.
 */
void cs_store_vault_add(struct cs_store *s, struct cs_str owner, struct cs_str sealed,
                        cs_stored *done, void *ctx);
/* All of them, in their order. CS_LIMIT: there is more than a vault can hold. */
void cs_store_vault_get(struct cs_store *s, struct cs_str owner, cs_vault_found *done, void *ctx);
void cs_store_vault_wipe(struct cs_store *s, struct cs_str owner, cs_stored *done, void *ctx);

/* --- approvals: what persons were asked, and what they said --- */

struct cs_approval_row {
    struct cs_str id; /* "ap_" + 32 hex digits */
    struct cs_str tenant, execution, session;
    struct cs_str principal, actor; /* who asks: the execution's, and its actor_type */
    struct cs_str kind;             /* "program", "call" */
    struct cs_str risk;             /* "HIGH" */
    struct cs_str card;             /* JSON: what the person sees; see run/approvals.h */
    unsigned char binding[32];      /* what exactly is asked for */
    unsigned char scope[32];        /* what a grant for a session or a program would cover */
    unsigned char card_hash[32];    /* of the canonical card */
    struct cs_str bound;            /* JSON: what a grant would be good for; see run/bound.h. Of
                                     * cs_store_approval_get alone */
    struct cs_str state;            /* "pending", "approved", "denied", "expired", "withdrawn" */
    int64_t created, expires, decided;
    struct cs_str answer;              /* "once", "session", "program", "tool", "deny"; or empty */
    struct cs_str by, channel, reason; /* of the decision */
    bool used;                         /* an approval is good for one use */
};
typedef void cs_approval_found(void *ctx, const struct cs_err *err,
                               const struct cs_approval_row *rows, size_t count);

/* A question. If this execution has asked with the same binding before, and it is pending or
 * decided and not used, that row comes instead (after a restart; a denial stays one). CS_LIMIT: the
 * tenant has `most` pending ones. `entry` (may be NULL) is for the ledger, together with it. What
 * is pending when its execution is lost with its process is withdrawn. */
void cs_store_approval_add(struct cs_store *s, const struct cs_approval_row *row, uint64_t most,
                           const struct cs_entry *entry, cs_approval_found *done, void *ctx);
void cs_store_approval_get(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                           cs_approval_found *done, void *ctx);
/* Of a state (empty: any), newest first; without their cards unless `cards` (then 100 at most).
 * `before`: id of the last one of the page before. One whose time is over is "expired" here and
 * above, whether or not somebody has put that down. */
void cs_store_approvals(struct cs_store *s, struct cs_str tenant, struct cs_str state, size_t limit,
                        struct cs_str before, bool cards, cs_approval_found *done, void *ctx);
/* From pending to what `row` says (state, answer, by, channel, reason, decided), with what goes to
 * the ledger. CS_CONFLICT: somebody was first, or it has expired; `rows` is how it stands. `grant`
 * (may be NULL) is added with it. */
struct cs_grant_row;
void cs_store_approval_decide(struct cs_store *s, const struct cs_approval_row *row,
                              const struct cs_grant_row *grant, const struct cs_entry *entries,
                              size_t entry_count, cs_approval_found *done, void *ctx);
/* Hears, on the loop, of every question that is decided, expired or withdrawn through this store
 * object; others are found by looking. There is one who is told; NULL: nobody. */
void cs_store_watch_approvals(struct cs_store *s,
                              void (*over)(void *ctx, const struct cs_approval_row *row),
                              void *ctx);
/* From approved and not used to used. CS_CONFLICT: it is not (any more). */
void cs_store_approval_use(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                           cs_stored *done, void *ctx);
/* Those of these ids that are not pending any more, without cards: for whoever waits. */
void cs_store_approvals_decided(struct cs_store *s, const struct cs_str *ids, size_t count,
                                cs_approval_found *done, void *ctx);

/* What persons allowed beyond one time. */
struct cs_grant_row {
    struct cs_str id;                /* "gr_" + 32 hex digits */
    struct cs_str tenant, principal; /* of those who may use it: whose execution asked */
    struct cs_str actor;             /* and through which door: its actor_type */
    struct cs_str scope;             /* "session", "program", "tool" */
    struct cs_str session;           /* of scope session */
    unsigned char binding[32];    /* of scope session and program: what was asked for, without what
                                   * may differ (see run/approvals.h) */
    struct cs_str server, tool;   /* of scope tool, */
    unsigned char definition[32]; /* as it was defined then, */
    struct cs_str arguments;      /* JSON object: members that must be equal, as they were shown */
    struct cs_str bound;          /* JSON: what it is good for, and is compared; see run/bound.h */
    int64_t created, expires;     /* 0: never */
    struct cs_str by, approval;
};
typedef void cs_grants_found(void *ctx, const struct cs_err *err, const struct cs_grant_row *rows,
                             size_t count);
/* Those that hold now, of a tenant, newest first. */
void cs_store_grants(struct cs_store *s, struct cs_str tenant, size_t limit, cs_grants_found *done,
                     void *ctx);
/* Those that hold now and may fit, of the tenant, principal and actor of `like`: of its session or
 * program with its binding (not if it is zeros), or of its server and tool. */
void cs_store_grants_for(struct cs_store *s, const struct cs_grant_row *like, cs_grants_found *done,
                         void *ctx);
void cs_store_grant_revoke(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                           const struct cs_entry *entry, cs_stored *done, void *ctx);

/* --- tools as they were seen: who has looked at which definition --- */

struct cs_seen_row {
    struct cs_str server, tool;
    uint64_t entry; /* hash of the server's configuration: another one, another server */
    unsigned char definition[32]; /* SHA-256 of the newest one, canonical */
    unsigned char looked_at[32];  /* of the one that somebody has looked at, or that was first */
    int64_t server_since, since, changed;
    struct cs_str text, before; /* both of them, canonical JSON; `before` is empty if nothing
                                 * changed; either if it is too long */
};
typedef void cs_seen_found(void *ctx, const struct cs_err *err, const struct cs_seen_row *rows,
                           size_t count);
#define CS_SEEN_TEXT  (64u << 10) /* bytes of a definition that are kept */
#define CS_SEEN_YOUNG (5 * 60000) /* ms: younger than that, of a server that is older, is young */
bool cs_seen_changed(const struct cs_seen_row *row);
/* Until when it is young; 0: it came with its server. */
int64_t cs_seen_young_until(const struct cs_seen_row *row);

/* What a server offers now: `tools` and their `definitions` as it has sent them. The answer is how
 * each of them stands, in their order, `before` of those that changed; no rows: all of them stood
 * like this before, and nothing is to be said of any. `list` is a hash of the whole list; NULL:
 * these are some of its tools. */
struct cs_seen_list {
    struct cs_str server;
    uint64_t entry;
    const unsigned char *list;
    const struct cs_str *tools, *definitions;
    size_t count;
};
void cs_store_tools_seen(struct cs_store *s, const struct cs_seen_list *list, int64_t now,
                         cs_seen_found *done, void *ctx);
/* The same of one tool, as it stands, with texts; CS_MISSING: it was never seen. */
void cs_store_tool_seen(struct cs_store *s, struct cs_str server, uint64_t entry,
                        struct cs_str tool, cs_seen_found *done, void *ctx);
/* A person has looked at this definition. CS_CONFLICT: it is another one by now. */
void cs_store_tool_look(struct cs_store *s, struct cs_str server, struct cs_str tool,
                        const unsigned char definition[32], const struct cs_entry *entry,
                        cs_stored *done, void *ctx);

#endif

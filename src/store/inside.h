/*
 * Inside of store/: an operation, and the database that it is done in.
 *
 * store.c knows the queue and the two threads, and no SQL. sql.c knows SQLite. keys.c, sessions.c,
 * executions.c, settle.c, ledger.c, journals.c, cache.c, figures.c, artifacts.c and lineage.c are
 * the operations: each is a row of struct cs_op_kind. blobs.c are the files, owner.c which
 * processes are alive, schema.c the tables, readers.c who reads without a loop, flush.c the way
 * from the log into the file.
 *
 * Runs in: what takes a struct cs_db, the database's thread (while it is opened: the opener's).
 */
#ifndef CS_STORE_INSIDE_H
#define CS_STORE_INSIDE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/time.h"
#include "store/statements.h"
#include "store/store.h"

/* One word: FULL makes a commit survive the loss of power too; NORMAL that of the process. A record
 * is there for good before its answer leaves, so it is FULL; many answers share one commit. */
#define CS_STORE_SYNC "FULL"

#define CS_STORE_PATH     4096
#define CS_STORE_ID       64           /* bytes of a tenant or an id */
#define CS_STORE_LIST     1000         /* rows of a list */
#define CS_STORE_OPS      65536        /* waiting operations, then CS_BUSY */
#define CS_STORE_BYTES    (256u << 20) /* ... and what they were given */
#define CS_STORE_READ_MAX (64u << 20)  /* bytes of an artifact at once */
#define CS_STORE_BUSY_MS  5000         /* patience with other processes */
#define CS_STORE_DAY_MS   86400000
#define CS_STORE_HOUR_MS  3600000

enum cs_statement {
#define X(name, sql) CS_SQL_##name,
    CS_STATEMENTS(X)
#undef X
        CS_SQL_COUNT
};

/* Where the chain ends, as read in the transaction that is open. */
struct cs_head {
    bool known;
    uint64_t seq, checkpoint; /* of the last entry, and of the last one that is signed */
    unsigned char hash[32];
};

struct cs_db {
    sqlite3 *sqlite;
    sqlite3_stmt *statements[CS_SQL_COUNT];
    char dir[CS_STORE_PATH], path[CS_STORE_PATH];
    char owner[CS_STORE_ID]; /* this store, among all that are open */
    int owner_fd;
    int mark_fd;                  /* cache.c */
    int patience_ms;              /* with other processes that write */
    const struct cs_chain *chain; /* or NULL */
    struct cs_flush *flush;
    struct cs_head head;
};

struct cs_op;

struct cs_op_kind {
    bool writes;
    bool steps; /* several changes: all of them, or none */
    /* In libuv's pool, before it has its turn; the database is only there for its path. Or NULL.
     * Without `run` that was all. */
    int (*pool)(const struct cs_db *, struct cs_op *);
    int (*before)(struct cs_db *, struct cs_op *); /* files, outside of a transaction; or NULL */
    int (*run)(struct cs_db *, struct cs_op *);
    int (*after)(struct cs_db *, struct cs_op *);      /* the same, after the commit; or NULL */
    int (*late)(const struct cs_db *, struct cs_op *); /* in the pool again, last of all; or NULL */
    void (*tell)(const struct cs_op *);                /* on the loop */
};

/* What is asked for, and what came of it. Owned by one thread at a time. */
struct cs_op {
    struct cs_op *next;
    const struct cs_op_kind *kind;
    union {
        cs_stored *stored;
        cs_key_found *keys;
        cs_session_found *sessions;
        cs_execution_found *executions;
        cs_artifact_found *artifacts;
        cs_execution_ended *ended;
        cs_journal_found *journal;
        cs_entry_found *entry;
        cs_blob_found *blob;
        cs_cached_found *cached;
        cs_measures_found *measures;
        cs_sums_found *sums;
        cs_sources_found *sources;
        cs_usage_found *usage;
        cs_lineage_told *lineage;
        cs_vault_found *vault;
        cs_approval_found *approvals;
        cs_grants_found *grants;
        cs_seen_found *seen;
    } done;
    void *ctx;
    struct cs_store *store;

    /* What it was given: texts are copies in `kept`. */
    char *kept;
    size_t kept_bytes;
    union {
        struct cs_key_row key;
        struct cs_session_row session;
        struct cs_execution_row execution;
        struct cs_artifact_row artifact;
        struct cs_execution_filter filter;
        struct cs_cached_answer cached;
        struct cs_lineage_want lineage;
        struct {
            struct cs_approval_row approval;
            struct cs_grant_row grant; /* no id: none */
        } ask;
        struct cs_seen_row seen;
    } row;
    struct cs_source *sources; /* `limit` of them, their texts too in `kept` */
    struct cs_backup *backup;
    struct cs_execution_more more; /* copied to `given`, all that is in it */
    char *given;
    size_t given_at;
    const struct cs_sum *sums; /* there too */
    size_t sum_count;
    const struct cs_str *ids; /* the same, `limit` of them */
    struct cs_seen_list seen; /* the same */
    struct cs_str tenant, id;
    struct cs_str text; /* a state, a content, a new id */
    int64_t when;
    uint64_t number, offset;
    size_t limit;

    /* What came of it. */
    struct cs_err err;
    void *rows; /* of the kind that `done` gets */
    size_t count, cap;
    struct cs_str content;
    unsigned char hash[32];
    struct cs_arena arena; /* texts of `rows`, and content */
    bool is_late;          /* it was in the pool for the last time */
    bool is_ours;          /* nobody asked for it */
    bool again;            /* there is more to do: to the end of the queue */
    uv_work_t work;
};

/* --- store.c --- */

struct cs_op *cs_op_new(struct cs_store *store, const struct cs_op_kind *kind, void *ctx);
/* Copies the texts, all of them in one block; the last one is NULL. */
void cs_op_keep(struct cs_op *op, struct cs_str *const *texts);
/* Copies into one more block: first room for all of them, then each. */
void cs_op_room(struct cs_op *op, size_t bytes, size_t pieces);
void *cs_op_give(struct cs_op *op, const void *bytes, size_t n);
void cs_op_give_more(struct cs_op *op, const struct cs_execution_more *more);
/* CS_INVALID, once it is asked for, if a name is too long or the id empty. */
void cs_op_check(struct cs_op *op, struct cs_str tenant, struct cs_str id);
/* Takes it. */
void cs_op_ask(struct cs_op *op);
/* Room for one more row of `size` bytes, zeroed. */
void *cs_op_row(struct cs_op *op, size_t size);
void cs_op_tell_stored(const struct cs_op *op);

/* To the queue's end, whatever waits there. Takes it; for what the store itself has to do. */
void cs_op_queue(struct cs_op *op);

uv_loop_t *cs_store_loop(struct cs_store *store);
/* Tells who watches approvals. */
void cs_store_approval_over(struct cs_store *store, const struct cs_approval_row *row);

/* For tests, which have less time. Before the first operation. */
void cs_store_patience(struct cs_store *store, int ms);

/* --- sql.c --- */

int cs_db_open(const char *dir, struct cs_db *db, struct cs_err *err);
void cs_db_close(struct cs_db *db);

int cs_db_begin(struct cs_db *db, struct cs_err *err); /* to write */
int cs_db_commit(struct cs_db *db, struct cs_err *err);
void cs_db_rollback(struct cs_db *db);
/* Has an error ended the transaction? */
bool cs_db_broken(struct cs_db *db);
/* Can it be written to? */
int cs_db_probe(struct cs_db *db, struct cs_err *err);

/*
 * Binds what `types` names: s struct cs_str, b the same as bytes, i int64_t, h const unsigned
 * char[32], g const unsigned char[64].
 * cs_sql_do runs a statement without rows, and answers how many rows it changed; cs_sql_ask starts
 * one with rows, which cs_sql_next walks: 1 there is one, 0 no more, -1 failed. Who leaves before
 * the end calls cs_sql_leave. CS_CONFLICT: a row like that is there.
 */
int cs_sql_do(struct cs_db *db, enum cs_statement which, struct cs_err *err, const char *types,
              ...);
sqlite3_stmt *cs_sql_ask(struct cs_db *db, enum cs_statement which, struct cs_err *err,
                         const char *types, ...);
int cs_sql_next(struct cs_db *db, sqlite3_stmt *statement, struct cs_err *err);
void cs_sql_leave(sqlite3_stmt *statement);
struct cs_str cs_sql_str(sqlite3_stmt *statement, int column, struct cs_arena *arena);
struct cs_str cs_sql_bytes(sqlite3_stmt *statement, int column); /* until the next step */
void cs_sql_hash(sqlite3_stmt *statement, int column, unsigned char hash[32]);
/* Any statement, not kept. */
int cs_sql_exec(struct cs_db *db, const char *sql, struct cs_err *err);
int cs_sql_fail(struct cs_db *db, int code, struct cs_err *err);

/* --- readers.c --- */

/* The statement that a list of entries becomes: for tests of its plan. */
int cs_ledger_question(const char *path, const struct cs_ledger_filter *filter, struct cs_buf *sql,
                       struct cs_err *err);

/* --- flush.c --- */

int cs_flush_open(struct cs_db *db, struct cs_err *err);
/* Between two commits, when nobody waits. */
void cs_flush_rest(struct cs_db *db);
void cs_flush_close(struct cs_db *db); /* before the database */

/* --- schema.c --- */

extern const char *const cs_migrations[]; /* [0] makes version 1; NULL ends it */
/* In one transaction, to the last version of `migrations`. */
int cs_db_migrate(struct cs_db *db, const char *const *migrations, struct cs_err *err);

/* --- owner.c --- */

int cs_owner_open(struct cs_db *db, struct cs_err *err);
int cs_mark_open(struct cs_db *db, struct cs_err *err); /* cache.c */
uint64_t cs_mark_read(const struct cs_db *db);          /* any thread */
void cs_owner_close(struct cs_db *db);
bool cs_owner_alive(struct cs_db *db, struct cs_str owner);

/* --- executions.c --- */

/* What the dead left as running becomes cancelled. In a transaction of the caller's. Where there is
 * a ledger, that is done by who can write to it. */
int cs_db_lost(struct cs_db *db, struct cs_err *err);
/* The same, as the first operation of a store. */
struct cs_op *cs_op_lost(struct cs_store *store);
/* The next owner of running executions that is gone, after `owner`: 1 there is one, 0 none. */
int cs_db_next_dead(struct cs_db *db, char owner[CS_STORE_ID + 1], struct cs_err *err);
/* An execution of that owner's: 1 there is one, 0 none. */
int cs_db_owned(struct cs_db *db, struct cs_str owner, bool durable, struct cs_arena *arena,
                struct cs_execution_row *row, struct cs_err *err);
int cs_execution_rows(struct cs_db *db, sqlite3_stmt *s, bool with_envelope, struct cs_op *op);
void cs_op_tell_executions(const struct cs_op *op);

/* --- ledger.c: in a transaction of the caller's --- */

/* `hash`: of the last one; zeros if there is no chain. */
int cs_db_append(struct cs_db *db, const struct cs_entry *entries, size_t count,
                 unsigned char hash[32], struct cs_err *err);
/* 1: somebody keeps one; 0: nobody does. */
int cs_db_has_ledger(struct cs_db *db, struct cs_err *err);
/* A signature for what has none yet. Makes a transaction of its own. */
void cs_db_seal(struct cs_db *db);

/* --- journals.c, figures.c: the same --- */

int cs_db_journal(struct cs_db *db, struct cs_str execution, const struct cs_execution_more *more,
                  struct cs_err *err);
int cs_db_journal_end(struct cs_db *db, struct cs_str execution, struct cs_err *err);
/* Those of executions that finished before `when`, as with artifacts. */
int cs_db_journals_age(struct cs_db *db, int64_t when, int64_t step, struct cs_err *err);
int cs_db_measure(struct cs_db *db, const struct cs_measure *measure, struct cs_err *err);

/* --- vaults.c: the same --- */

/* That of a session. */
int cs_db_vault_wipe(struct cs_db *db, struct cs_str tenant, struct cs_str id, struct cs_err *err);
/* Those of executions that finished before `when`, as with artifacts. */
int cs_db_vaults_age(struct cs_db *db, int64_t when, int64_t step, struct cs_err *err);

/* --- approvals.c, grants.c, seen.c: the same --- */

/* What an execution that is lost has asked is withdrawn. */
int cs_db_approvals_lost(struct cs_db *db, const struct cs_execution_row *execution,
                         struct cs_err *err);
/* Those whose time is over are expired; those that were decided before `when` go. */
int cs_db_approvals_age(struct cs_db *db, int64_t when, int64_t step, struct cs_err *err);
int cs_db_grant_add(struct cs_db *db, const struct cs_grant_row *grant, struct cs_err *err);
int cs_db_grants_end(struct cs_db *db, struct cs_str tenant, struct cs_str session,
                     struct cs_err *err);
int cs_db_grants_age(struct cs_db *db, int64_t now, struct cs_err *err);
int cs_db_seen_age(struct cs_db *db, int64_t now, struct cs_err *err);

/* --- artifacts.c --- */

/* Those of executions that finished before `when`: their contents go, and so do their rows, unless
 * something that is kept was made from them. In the transaction that removes the executions. */
int cs_db_artifacts_age(struct cs_db *db, int64_t when, int64_t step, struct cs_err *err);
/* Rows that were only kept because of others that are gone too: how many went, or -1. */
int cs_db_artifacts_sweep(struct cs_db *db, int64_t step, struct cs_err *err);
/* One row; its texts are put into the arena. */
void cs_db_artifact_row(sqlite3_stmt *statement, struct cs_arena *arena,
                        struct cs_artifact_row *row);
void cs_db_source_row(sqlite3_stmt *statement, struct cs_arena *arena, struct cs_source *row);

/* --- blobs.c: in any thread; of the database only its path is used --- */

void cs_blob_hash(struct cs_str content, unsigned char hash[32]);
/* It is there and on the disk, and nobody removes it as too old for the next hour. */
int cs_blob_put(const struct cs_db *db, const unsigned char hash[32], struct cs_str content,
                struct cs_err *err);
bool cs_blob_there(const struct cs_db *db, const unsigned char hash[32], uint64_t size);
int cs_blob_get(const struct cs_db *db, const unsigned char hash[32], uint64_t size,
                uint64_t offset, size_t max, struct cs_arena *arena, struct cs_str *content,
                struct cs_err *err);
/* Unless it was put at `before` or later: false, it is still there. Whoever calls has seen, in a
 * transaction that is still open, that nothing refers to it. */
bool cs_blob_remove(const struct cs_db *db, const unsigned char hash[32], int64_t before);

/* --- sweep.c --- */

/* Removes what is in one of the 256 directories, was not put since `before`, and is nobody's. In a
 * transaction to write. */
int cs_db_blobs_sweep(struct cs_db *db, unsigned directory, int64_t before, struct cs_err *err);

#endif

/*
 * What it costs to put an execution on record, beside the same changes in a transaction each, in
 * the same run and on the same disk; what an entry of the ledger costs, beside the same bytes
 * inserted with nothing else to do; and whether lists stay fast when there are many rows.
 *
 * Prints `name value unit` lines. Exits 1 if the ratio is missed; the absolute figures are notes,
 * since they say as much about the machine.
 *
 *     bench_store [ROWS]      of the long table; 1,000,000 by default
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "base/file.h"
#include "base/own.h"
#include "ledger/ledger.h"
#include "store/store.h"

#define ROUNDS        5
#define EXECUTIONS    10000 /* of a round: each is two changes */
#define TARGET_RATIO  2.0
#define TARGET_LEDGER 0.25 /* of what SQLite alone does */
#define PAGES         200
#define ENTRIES       20000 /* of a round */

static char envelope[700];
static char dir[] = "/var/tmp/caisson-bench-XXXXXX";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "%s\n", what);
    cs_dir_remove(AT_FDCWD, dir);
    exit(2);
}

static struct cs_execution_row row_of(const char *id)
{
    return (struct cs_execution_row){.id = cs_str(id),
                                     .tenant = CS_STR("default"),
                                     .principal = CS_STR("local"),
                                     .status = CS_STR("completed"),
                                     .language = CS_STR("typescript"),
                                     .envelope = cs_strn(envelope, sizeof envelope),
                                     .created = 1700000000000,
                                     .finished = 1700000000001};
}

/* Ids as they are: nothing of their order is in them. */
static void id_of(char id[40], uint32_t n)
{
    uint64_t a = (n + 1) * 0x9E3779B97F4A7C15u, b = (a ^ a >> 29) * 0xBF58476D1CE4E5B9u;
    snprintf(id, 40, "ex_%016llx%016llx", (unsigned long long)b, (unsigned long long)a);
}

/* --- ours --- */

static uint64_t told;

static void on_stored(void *ctx, const struct cs_err *err)
{
    (void)ctx;
    must(err->code == CS_OK, err->msg);
    told++;
}

static void on_ended(void *ctx, const struct cs_err *err, const unsigned char hash[32])
{
    (void)hash;
    on_stored(ctx, err);
}

static void on_begun(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                     size_t count)
{
    (void)rows;
    (void)count;
    on_stored(ctx, err);
}

static void wait_for(uv_loop_t *loop, uint64_t count)
{
    while (told < count)
        uv_run(loop, UV_RUN_ONCE);
}

static double time_batch(uv_loop_t *loop, struct cs_store *store, uint32_t *next)
{
    double start = now();
    told = 0;
    for (int i = 0; i < EXECUTIONS; i++) {
        char id[40];
        id_of(id, (*next)++);
        struct cs_execution_row row = row_of(id);
        cs_store_execution_admit(store, &row, NULL, on_begun, NULL);
        cs_store_execution_settle(store, &row, NULL, on_ended, NULL);
    }
    wait_for(loop, 2 * EXECUTIONS);
    return (now() - start) / (2 * EXECUTIONS);
}

/* One execution after the other: what a program that runs alone waits for. */
static double time_alone(uv_loop_t *loop, struct cs_store *store, uint32_t *next)
{
    const int times = 500;
    double start = now();
    for (int i = 0; i < times; i++) {
        char id[40];
        id_of(id, (*next)++);
        struct cs_execution_row row = row_of(id);
        told = 0;
        cs_store_execution_admit(store, &row, NULL, on_begun, NULL);
        wait_for(loop, 1);
        cs_store_execution_settle(store, &row, NULL, on_ended, NULL);
        wait_for(loop, 2);
    }
    return (now() - start) / times;
}

/* --- a transaction each --- */

static double time_each(sqlite3 *db, uint32_t *next)
{
    static const char begin[] =
        "INSERT INTO executions (id, tenant, principal, session, status, language, intent, key,"
        " fingerprint, created, owner) VALUES (?, 'default', 'local', '', 'running', 'typescript',"
        " '', '', '', 1700000000000, 'bench')";
    static const char end[] =
        "UPDATE executions SET status = 'completed', envelope = ?2, finished = 1700000000001,"
        " owner = '' WHERE id = ?1 AND tenant = 'default' AND owner <> ''";
    sqlite3_stmt *s[2];
    must(sqlite3_prepare_v2(db, begin, -1, &s[0], NULL) == SQLITE_OK, sqlite3_errmsg(db));
    must(sqlite3_prepare_v2(db, end, -1, &s[1], NULL) == SQLITE_OK, sqlite3_errmsg(db));
    double start = now();
    const int times = EXECUTIONS / 10;
    for (int i = 0; i < times; i++) {
        char id[40];
        id_of(id, (*next)++);
        sqlite3_bind_text(s[1], 2, envelope, sizeof envelope, SQLITE_STATIC);
        for (int k = 0; k < 2; k++) {
            sqlite3_bind_text(s[k], 1, id, -1, SQLITE_STATIC);
            must(sqlite3_step(s[k]) == SQLITE_DONE, sqlite3_errmsg(db));
            sqlite3_reset(s[k]);
        }
    }
    double took = (now() - start) / (2 * times);
    sqlite3_finalize(s[0]);
    sqlite3_finalize(s[1]);
    return took;
}

/* --- the ledger --- */

/* One operation each, as they come: linked, hashed, signed every 1,000, and on the disk. */
static double time_entries(uv_loop_t *loop, struct cs_store *store, uint32_t *next)
{
    static const char data[] =
        "{\"arguments\":\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\","
        "\"bytes\":1234,\"ms\":17,\"result\":"
        "\"60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752\","
        "\"tool\":\"github/list_commits\",\"verdict\":\"allow\"}";
    double start = now();
    told = 0;
    for (int i = 0; i < ENTRIES; i++) {
        char id[40];
        id_of(id, (*next)++ / 4);
        const struct cs_entry entry = {.event = CS_STR("call.made"),
                                       .tenant = CS_STR("default"),
                                       .principal = CS_STR("local"),
                                       .execution = cs_str(id),
                                       .data = cs_strn(data, sizeof data - 1)};
        cs_store_append(store, &entry, 1, on_stored, NULL);
    }
    wait_for(loop, ENTRIES);
    return (now() - start) / ENTRIES;
}

/* The same rows in a table with the same indexes, in one transaction, by a loop of C. */
static double time_raw(sqlite3 *db)
{
    static const char make[] =
        "CREATE TABLE IF NOT EXISTS raw (seq INTEGER PRIMARY KEY, time INTEGER NOT NULL,"
        " tenant TEXT NOT NULL, principal TEXT NOT NULL, execution TEXT NOT NULL,"
        " event TEXT NOT NULL, hash BLOB NOT NULL, entry TEXT NOT NULL);"
        "CREATE INDEX IF NOT EXISTS raw_time ON raw (time);"
        "CREATE INDEX IF NOT EXISTS raw_tenant ON raw (tenant) WHERE tenant <> '';"
        "CREATE INDEX IF NOT EXISTS raw_principal ON raw (principal) WHERE principal <> '';"
        "CREATE INDEX IF NOT EXISTS raw_execution ON raw (execution) WHERE execution <> '';"
        "CREATE INDEX IF NOT EXISTS raw_event ON raw (event);";
    static const char insert[] =
        "INSERT INTO raw SELECT seq + ?1, time, tenant, principal, execution, event, hash, entry"
        " FROM ledger WHERE seq = ?1";
    sqlite3_stmt *s;
    must(sqlite3_exec(db, "DROP TABLE IF EXISTS raw", NULL, NULL, NULL) == SQLITE_OK, "drop");
    must(sqlite3_exec(db, make, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    must(sqlite3_prepare_v2(db, insert, -1, &s, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    double start = now();
    must(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    for (int i = 1; i <= ENTRIES; i++) {
        sqlite3_bind_int64(s, 1, i);
        must(sqlite3_step(s) == SQLITE_DONE, sqlite3_errmsg(db));
        sqlite3_reset(s);
    }
    must(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    double took = (now() - start) / ENTRIES;
    sqlite3_finalize(s);
    return took;
}

/* --- lists --- */

static char last[40];
static size_t got;

static void on_page(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                    size_t count)
{
    on_begun(ctx, err, rows, count);
    got = count;
    if (count)
        snprintf(last, sizeof last, "%.*s", CS_STR_ARG(rows[count - 1].id));
}

static double time_pages(uv_loop_t *loop, struct cs_store *store, const char *status)
{
    double start = now();
    last[0] = '\0';
    for (int i = 0; i < PAGES; i++) {
        struct cs_execution_filter filter = {
            .limit = 50, .before = cs_str(last), .status = cs_str(status)};
        told = 0;
        cs_store_executions(store, CS_STR("default"), &filter, on_page, NULL);
        wait_for(loop, 1);
        must(got == 50, "a page is not full");
    }
    return (now() - start) / PAGES;
}

static void make_long(sqlite3 *db, uint32_t rows)
{
    char sql[700];
    snprintf(sql, sizeof sql,
             "BEGIN; WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
             " INSERT INTO executions (id, tenant, principal, session, status, language, intent,"
             " key, fingerprint, created, finished, envelope)"
             " SELECT 'old_' || i, CASE WHEN i %% 4 THEN 'default' ELSE 'other' END, 'local', '',"
             " CASE WHEN i %% 10 THEN 'completed' ELSE 'failed' END, 'typescript', '', '', '',"
             " 1600000000000, 1600000000000 + i, '{}' FROM n; COMMIT",
             rows);
    must(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
}

int main(int argc, char **argv)
{
    uint32_t next = 0, rows = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
    double batch = 1e9, each = 1e9, alone = 1e9, entry = 1e9, raw = 1e9, entry_cpu = 1e9;
    struct cs_ledger *ledger = NULL;
    struct cs_store *store = NULL;
    struct cs_err err = {0};
    uv_loop_t loop;
    sqlite3 *db = NULL;
    char path[64];
    memset(envelope, 'x', sizeof envelope);
    must(mkdtemp(dir) != NULL, "no directory");
    snprintf(path, sizeof path, "%s/caisson.db", dir);
    uv_loop_init(&loop);
    must(cs_store_open(&loop, dir, &store, &err) == 0, err.msg);
    must(cs_ledger_open(dir, &ledger, &err) == 0, err.msg);
    cs_store_set_chain(store, cs_ledger_chain(ledger));
    must(sqlite3_open(path, &db) == SQLITE_OK, "the other one cannot be opened");
    sqlite3_busy_timeout(db, 5000);
    sqlite3_exec(db, "PRAGMA synchronous = FULL; PRAGMA cache_size = -32768", NULL, NULL, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        double t = time_batch(&loop, store, &next);
        batch = t < batch ? t : batch;
        t = time_each(db, &next);
        each = t < each ? t : each;
        t = time_alone(&loop, store, &next);
        alone = t < alone ? t : alone;
        double used = cpu();
        t = time_entries(&loop, store, &next);
        used = (cpu() - used) / ENTRIES;
        entry = t < entry ? t : entry;
        entry_cpu = used < entry_cpu ? used : entry_cpu;
        t = time_raw(db);
        raw = t < raw ? t : raw;
    }
    printf("store_changes %.0f /s\n", 1 / batch);
    printf("store_each_alone %.0f /s\n", 1 / each);
    printf("store_ratio %.2f x\n", each / batch);
    printf("store_execution %.0f us\n", alone * 1e6);
    printf("ledger_append %.0f /s\n", 1 / entry);
    printf("ledger_append_cpu %.1f us\n", entry_cpu * 1e6);
    printf("ledger_raw_inserts %.0f /s\n", 1 / raw);
    printf("ledger_ratio %.2f x\n", raw / entry);
    double few = time_pages(&loop, store, "");
    make_long(db, rows);
    double many = time_pages(&loop, store, ""), failed = time_pages(&loop, store, "failed");
    printf("store_page_%u %.0f us\n", (unsigned)next, few * 1e6);
    printf("store_page_%u %.0f us\n", (unsigned)(next + rows), many * 1e6);
    printf("store_page_failed %.0f us\n", failed * 1e6);
    printf("store_changes_after %.0f /s\n", 1 / time_batch(&loop, store, &next));
    sqlite3_close(db);
    cs_store_close(store, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    cs_ledger_close(ledger);
    cs_dir_remove(AT_FDCWD, dir);
    return each / batch < TARGET_RATIO || raw / entry < TARGET_LEDGER;
}

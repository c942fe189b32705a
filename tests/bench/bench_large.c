/*
 * Whether a store of 2 GB still answers at once: the last 50 executions, the last 20 entries of the
 * ledger, and lists of both that are filtered; each from a file that is in no cache.
 *
 * Prints `name value unit` lines; beside them what the same lists cost in a store of a hundredth
 * of that. Exits 1 if one takes more than 50 ms.
 *
 *     bench_large [MB]      2048 by default
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "base/file.h"
#include "base/own.h"
#include "store/store.h"

#define TARGET_MS 50.0
#define ROUNDS    5

static char dir[] = "/var/tmp/caisson-bench-XXXXXX";
static char path[64];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
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

/* Two thirds are executions with envelopes of 2 KB and some of 100 KB, one third is the ledger: 3
 * entries for each execution. Ids begin with the time, as ours do. */
static void make(unsigned mb)
{
    static const char sql[] =
        "PRAGMA synchronous = OFF; PRAGMA cache_size = -65536; BEGIN;"
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
        " INSERT INTO executions (id, tenant, principal, session, status, language, intent, key,"
        " fingerprint, created, finished, envelope)"
        " SELECT printf('ex_%%012x_%%08x', 1700000000000 + i, i * 7919 %% 65521),"
        " CASE WHEN i %% 4 THEN 'default' ELSE 'other' END, 'local', '',"
        " CASE WHEN i %% 999 THEN 'completed' ELSE 'failed' END, 'typescript', '', '', '',"
        " 1700000000000 + i, 1700000000000 + i,"
        " CAST(zeroblob(CASE WHEN i %% 50 THEN 2000 ELSE 100000 END) AS TEXT) FROM n;"
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
        " INSERT INTO ledger (seq, time, tenant, principal, execution, event, hash, entry)"
        " SELECT i, 1700000000000 + i / 3, CASE WHEN i / 3 %% 4 THEN 'default' ELSE 'other' END,"
        " 'local', printf('ex_%%012x_%%08x', 1700000000000 + i / 3, i / 3 * 7919 %% 65521),"
        " CASE i %% 3 WHEN 0 THEN 'execution.admitted' WHEN 1 THEN 'call.made'"
        " ELSE CASE WHEN i %% 99999 = 2 THEN 'key.added' ELSE 'execution.settled' END END,"
        " zeroblob(32), CAST(zeroblob(450) AS TEXT) FROM n;"
        "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)";
    unsigned executions = mb * 130;
    char text[sizeof sql + 40];
    sqlite3 *db = NULL;
    must(sqlite3_open(path, &db) == SQLITE_OK, "it cannot be opened");
    snprintf(text, sizeof text, sql, executions, executions * 3);
    must(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* As after a start of the machine. */
static void forget_cache(void)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    must(fd >= 0 && fsync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0, "cache");
    close(fd);
}

struct wait {
    bool done;
    size_t count;
};

static void on_page(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                    size_t count)
{
    struct wait *w = ctx;
    (void)rows;
    must(err->code == CS_OK, err->msg);
    w->done = true;
    w->count = count;
}

/* With the opening of the store. */
static double list_executions(const char *status)
{
    struct cs_store *store = NULL;
    struct cs_err err = {0};
    struct wait w = {0};
    uv_loop_t loop;
    uv_loop_init(&loop);
    forget_cache();
    double start = now();
    must(cs_store_open(&loop, dir, &store, &err) == 0, err.msg);
    struct cs_execution_filter filter = {.limit = 50, .status = cs_str(status)};
    cs_store_executions(store, CS_STR("default"), &filter, on_page, &w);
    while (!w.done)
        uv_run(&loop, UV_RUN_ONCE);
    double took = now() - start;
    must(w.count > 0, "nothing was found");
    cs_store_close(store, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return took * 1e3;
}

static bool on_entry(void *ctx, const struct cs_entry_row *row)
{
    (void)row;
    ++*(size_t *)ctx;
    return true;
}

static double list_entries(const struct cs_ledger_filter *filter)
{
    struct cs_err err = {0};
    size_t count = 0;
    forget_cache();
    double start = now();
    must(cs_store_ledger_read(path, filter, NULL, on_entry, &count, &err) == 0, err.msg);
    double took = now() - start;
    must(count > 0, "nothing was found");
    return took * 1e3;
}

static double worst;

static void tell(const char *name, unsigned mb, const double *times)
{
    double least = times[0];
    for (int i = 1; i < ROUNDS; i++)
        least = times[i] < least ? times[i] : least;
    printf("large_%s_%u %.2f ms\n", name, mb, least);
    worst = least > worst ? least : worst;
}

static void measure(unsigned mb)
{
    static const char *const statuses[][2] = {{"executions", ""}, {"executions_failed", "failed"}};
    const struct cs_ledger_filter
        tail = {.limit = 20, .newest_first = true},
        event = {.limit = 20, .newest_first = true, .event = CS_STR("key.")},
        tenant = {.limit = 20, .newest_first = true, .tenant = CS_STR("other")},
        since = {.limit = 20, .newest_first = true, .since = 1700000000100};
    const struct cs_ledger_filter *const filters[] = {&tail, &event, &tenant, &since};
    static const char *const names[] = {"audit_tail", "audit_event", "audit_tenant", "audit_since"};
    double times[ROUNDS];
    for (size_t k = 0; k < CS_COUNT(statuses); k++) {
        for (int i = 0; i < ROUNDS; i++)
            times[i] = list_executions(statuses[k][1]);
        tell(statuses[k][0], mb, times);
    }
    for (size_t k = 0; k < CS_COUNT(filters); k++) {
        for (int i = 0; i < ROUNDS; i++)
            times[i] = list_entries(filters[k]);
        tell(names[k], mb, times);
    }
}

static void fill_and_measure(unsigned mb)
{
    struct cs_store *store = NULL;
    struct cs_err err = {0};
    struct stat st;
    uv_loop_t loop;
    must(mkdtemp(dir) != NULL, "no directory");
    snprintf(path, sizeof path, "%s/caisson.db", dir);
    uv_loop_init(&loop);
    must(cs_store_open(&loop, dir, &store, &err) == 0, err.msg);
    cs_store_close(store, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    double start = now();
    make(mb);
    must(stat(path, &st) == 0, "stat");
    printf("large_store_%u %.0f MB\n", mb, (double)st.st_size / 1048576);
    printf("large_made_%u %.0f s\n", mb, now() - start);
    measure(mb);
    cs_dir_remove(AT_FDCWD, dir);
    memcpy(strrchr(dir, '-') + 1, "XXXXXX", 6);
}

int main(int argc, char **argv)
{
    unsigned mb = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2048;
    fill_and_measure(mb > 2000 ? mb / 100 : 20);
    fill_and_measure(mb);
    return worst > TARGET_MS;
}

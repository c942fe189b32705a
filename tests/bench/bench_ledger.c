/*
 * What the ledger costs beside the hash alone, in the same run: linking entries, checking a
 * database and an export of them, and what the plain SHA-256 of the same bytes takes.
 *
 * Prints `name value unit` lines; those of hash, link and verify are per second of the processor.
 * Exits 1 if a target is missed that hardly depends on the machine:
 * the ratio to the hash; the absolute figures are notes.
 *
 *     bench_ledger [ENTRIES]      300,000 by default
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/own.h"
#include "ledger/ledger.h"
#include "store/store.h"

#define AT_ONCE     20
#define LINK_RATIO  15.0 /* times the plain hash, at most */
#define CHECK_RATIO 12.0

static char dir[] = "/var/tmp/caisson-bench-XXXXXX";

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double now(void)
{
    return seconds(CLOCK_MONOTONIC);
}

/* Of this process: ratios hold on a busy machine too. */
static double cpu(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static void must(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "%s\n", what);
    cs_dir_remove(AT_FDCWD, dir);
    exit(2);
}

/* As the end of a call is written. */
static struct cs_entry entry_of(size_t n, char data[400])
{
    snprintf(data, 400,
             "{\"arguments_bytes\":%zu,\"arguments_hash\":\"44136fa355b3678a1146ad16f7e8649e94fb4fc"
             "21fe77e8310c060f61caaff8a\",\"result_bytes\":%zu,\"result_hash\":\"6b86b273ff34fce19d"
             "6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b\",\"tool\":\"github/listCommits\","
             "\"verdict\":\"allow\",\"wall_ms\":%zu}",
             n % 997, n % 10007, n % 31);
    return (struct cs_entry){.event = CS_STR("call.made"),
                             .tenant = CS_STR("default"),
                             .principal = CS_STR("agent"),
                             .execution = CS_STR("ex_01a1e0850d63a1b18b304847f5307da1"),
                             .data = cs_str(data),
                             .time = 1700000000000 + (int64_t)n};
}

static size_t waiting;

static void on_stored(void *ctx, const struct cs_err *err)
{
    (void)ctx;
    must(err->code == CS_OK, err->msg);
    waiting--;
}

static double append(struct cs_ledger *ledger, size_t count)
{
    uv_loop_t loop;
    struct cs_store *store;
    struct cs_err err = {0};
    uv_loop_init(&loop);
    must(cs_store_open(&loop, dir, &store, &err) == 0, err.msg);
    cs_store_set_chain(store, cs_ledger_chain(ledger));
    double start = now();
    for (size_t n = 0; n < count;) {
        struct cs_entry entries[AT_ONCE];
        char data[AT_ONCE][400];
        size_t some = 0;
        for (; some < AT_ONCE && n < count; some++, n++)
            entries[some] = entry_of(n, data[some]);
        waiting++;
        cs_store_append(store, entries, some, on_stored, NULL);
        while (waiting > 1000)
            uv_run(&loop, UV_RUN_ONCE);
    }
    while (waiting)
        uv_run(&loop, UV_RUN_ONCE);
    double took = now() - start;
    cs_store_close(store, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return took;
}

/* The lines themselves, and what they take to be linked and to be hashed. */
static void lines(struct cs_ledger *ledger, size_t count, double *linked, double *hashed)
{
    const struct cs_chain *chain = cs_ledger_chain(ledger);
    CS_AUTO_BUF struct cs_buf text = {0};
    unsigned char hash[32] = {0};
    char data[400];
    double start = cpu();
    for (size_t n = 0; n < count; n++) {
        struct cs_entry e = entry_of(n, data);
        cs_buf_clear(&text);
        chain->link(chain->ctx, n + 1, hash, &e, &text, hash);
    }
    *linked = cpu() - start;
    start = cpu();
    for (size_t n = 0; n < count; n++)
        cs_sha256(cs_buf_str(&text), hash);
    *hashed = cpu() - start;
    printf("entry %zu bytes\n", text.len);
}

static double verify(const char *path, size_t count)
{
    struct cs_ledger_check check;
    struct cs_err err = {0};
    double start = cpu();
    must(cs_ledger_verify(path, NULL, (struct cs_str){0}, &check, &err) == 0, err.msg);
    must(check.entries == count, "not all entries were checked");
    return cpu() - start;
}

static double export_to(const char *path, const char *database, struct cs_ledger *ledger,
                        bool compress)
{
    struct cs_err err = {0};
    FILE *out = fopen(path, "w");
    must(out != NULL, path);
    double start = now();
    must(cs_ledger_export(database, NULL, ledger, compress, out, &err) == 0, err.msg);
    double took = now() - start;
    fclose(out);
    return took;
}

static void say(const char *what, size_t count, double took)
{
    printf("%s %.0f entries/s\n", what, (double)count / took);
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 300000;
    char database[64], plain[64], packed[64];
    struct cs_ledger *ledger;
    struct cs_err err = {0};
    double linked, hashed;
    must(mkdtemp(dir) != NULL, "no directory");
    snprintf(database, sizeof database, "%s/caisson.db", dir);
    snprintf(plain, sizeof plain, "%s/export", dir);
    snprintf(packed, sizeof packed, "%s/export.zst", dir);
    must(cs_ledger_open(dir, &ledger, &err) == 0, err.msg);
    lines(ledger, count, &linked, &hashed);
    say("hash", count, hashed);
    say("link", count, linked);
    say("append", count, append(ledger, count));
    double checked = verify(database, count);
    say("verify-database", count, checked);
    say("export", count, export_to(plain, database, ledger, false));
    say("export-zstd", count, export_to(packed, database, ledger, true));
    double file = verify(plain, count);
    say("verify-export", count, file);
    say("verify-export-zstd", count, verify(packed, count));
    printf("link-ratio %.1f times the hash (at most %.0f)\n", linked / hashed, LINK_RATIO);
    printf("verify-ratio %.1f times the hash (at most %.0f)\n", checked / hashed, CHECK_RATIO);
    cs_ledger_close(ledger);
    cs_dir_remove(AT_FDCWD, dir);
    return linked / hashed > LINK_RATIO || checked / hashed > CHECK_RATIO;
}

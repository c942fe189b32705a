/*
 * Puts entries of some day into the ledger of a data directory.
 *
 *     ledger_fill DIR COUNT TIME      of which the first has this time, in ms since 1970
 */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include "ledger/ledger.h"
#include "store/store.h"

#define AT_ONCE 100

static size_t waiting;
static int status;

static void on_stored(void *ctx, const struct cs_err *err)
{
    (void)ctx;
    waiting--;
    if (err->code) {
        fprintf(stderr, "%s\n", err->msg);
        status = 1;
    }
}

static void append(struct cs_store *store, uint64_t from, size_t count, int64_t time)
{
    struct cs_entry entries[AT_ONCE];
    char ids[AT_ONCE][32];
    for (size_t i = 0; i < count; i++) {
        snprintf(ids[i], sizeof ids[i], "ex_%llu", (unsigned long long)(from + i) / 5);
        entries[i] = (struct cs_entry){.event = CS_STR("call.made"),
                                       .tenant = CS_STR("default"),
                                       .principal = CS_STR("filler"),
                                       .execution = cs_str(ids[i]),
                                       .data = CS_STR("{\"tool\":\"a/b\"}"),
                                       .time = time + (int64_t)(from + i)};
    }
    waiting++;
    cs_store_append(store, entries, count, on_stored, NULL);
}

int main(int argc, char **argv)
{
    struct cs_ledger *ledger;
    struct cs_store *store;
    struct cs_err err = {0};
    uv_loop_t loop;
    if (argc != 4)
        return 2;
    uint64_t count = strtoull(argv[2], NULL, 10);
    int64_t time = strtoll(argv[3], NULL, 10);
    uv_loop_init(&loop);
    if (cs_ledger_open(argv[1], &ledger, &err) < 0 ||
        cs_store_open(&loop, argv[1], &store, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    cs_store_set_chain(store, cs_ledger_chain(ledger));
    for (uint64_t n = 0; n < count; n += AT_ONCE) {
        append(store, n, count - n < AT_ONCE ? (size_t)(count - n) : AT_ONCE, time);
        while (waiting > 50)
            uv_run(&loop, UV_RUN_ONCE);
    }
    while (waiting)
        uv_run(&loop, UV_RUN_ONCE);
    cs_store_close(store, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    cs_ledger_close(ledger);
    return status;
}

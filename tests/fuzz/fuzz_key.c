/*
 * Whatever is shown as a key is nobody's, unless it is the one that was made; and whatever bytes a
 * text of the store has, it comes back as it was, to its own tenant alone.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/file.h"
#include "policy/keys.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uv_loop_t loop;
static struct cs_store *store;
static char dir[] = "/tmp/caisson-fuzz-XXXXXX";
static char key[CS_KEY_TEXT];
static unsigned number;
static bool done;

static void must(bool fine)
{
    if (!fine)
        abort();
}

static void clean_up(void)
{
    cs_store_close(store, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    cs_dir_remove(AT_FDCWD, dir);
}

static void set_up(void)
{
    struct cs_key_row row;
    struct cs_err err = {0};
    must(mkdtemp(dir) != NULL);
    uv_loop_init(&loop);
    must(cs_store_open(&loop, dir, &store, &err) == 0);
    must(cs_key_make(CS_STR("a"), CS_STR("t"), CS_KEY_ADMIN, 0, key, &row, &err) == 0);
    cs_store_key_add(store, &row, NULL, NULL);
    atexit(clean_up);
}

static void wait_for_it(void)
{
    while (!done)
        uv_run(&loop, UV_RUN_ONCE);
    done = false;
}

static void on_checked(void *ctx, const struct cs_err *err, const struct cs_caller *caller)
{
    must((err->code == CS_OK) == (caller != NULL));
    must(err->code == (ctx ? CS_OK : CS_DENIED));
    done = true;
}

static void on_found(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                     size_t count)
{
    const struct cs_str *text = ctx;
    must(err->code == (text ? CS_OK : CS_MISSING) && count == (text ? 1 : 0));
    if (text)
        must(cs_str_eq(rows[0].tenant, *text) && cs_str_eq(rows[0].intent, *text));
    done = true;
}

static void there_and_back(struct cs_str text)
{
    char id[24];
    snprintf(id, sizeof id, "ex_%u", number++);
    struct cs_execution_row row = {.id = cs_str(id), .tenant = text, .intent = text};
    cs_store_execution_admit(store, &row, NULL, NULL, NULL);
    cs_store_execution_get(store, text, cs_str(id), on_found, &text);
    wait_for_it();
    cs_store_execution_get(store, CS_STR("another's"), cs_str(id), on_found, NULL);
    wait_for_it();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_str text = cs_strn((const char *)data, size);
    if (!store)
        set_up();
    cs_key_check(store, text, on_checked, NULL);
    wait_for_it();
    cs_key_check(store, cs_str(key), on_checked, key);
    wait_for_it();
    if (size <= 64)
        there_and_back(text);
    return 0;
}

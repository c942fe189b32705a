/* `caisson cache clear`: answers that are kept are forgotten, by servers that run too. */
#include <stdio.h>

#include "front/data.h"
#include "front/verbs.h"
#include "store/store.h"

struct clearing {
    const struct cs_verb *verb;
    struct cs_store *store;
    int exit_status;
};

static void on_cleared(void *ctx, const struct cs_err *err)
{
    struct clearing *c = ctx;
    c->exit_status = err->code ? cs_verb_failed(c->verb, err) : CS_EXIT_OK;
    if (!err->code)
        fprintf(stderr, "cleared\n");
    cs_store_close(c->store, NULL, NULL);
}

int cs_verb_cache_clear(const struct cs_verb *verb, int argc, char **argv)
{
    const char *tenant = NULL;
    const struct cs_bind binds[] = {{"tenant", CS_BIND_TEXT, &tenant}, {NULL, CS_BIND_TEXT, NULL}};
    CS_AUTO_WORDS struct cs_words operands = {0};
    struct clearing c = {.verb = verb};
    char dir[CS_DATA_PATH];
    struct cs_err err = {0};
    if (cs_args_bind(verb, argc, argv, binds, &operands, &err) < 0)
        return cs_usage_error(verb, &err);
    if (operands.count) {
        cs_fail(&err, CS_INVALID, "'%s' is not wanted here", operands.at[0]);
        return cs_usage_error(verb, &err);
    }
    if (cs_data_dir(dir, &err) < 0)
        return cs_verb_failed(verb, &err);
    uv_loop_t loop;
    uv_loop_init(&loop);
    if (cs_store_open(&loop, dir, &c.store, &err) < 0)
        c.exit_status = cs_verb_failed(verb, &err);
    else
        cs_store_cache_forget(c.store, cs_str(tenant), 0, on_cleared, &c);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return c.exit_status;
}

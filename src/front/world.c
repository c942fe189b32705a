#include "front/world.h"

#include <stdlib.h>
#include <unistd.h>

static void on_tools_closed(void *ctx)
{
    struct cs_world *w = ctx;
    w->tools = NULL;
    cs_policy_free(w->policy);
    w->policy = NULL;
    if (w->closed)
        w->closed(w->ctx);
}

static void on_runner_closed(void *ctx)
{
    struct cs_world *w = ctx;
    w->runner = NULL;
    if (w->tools)
        cs_tools_close(w->tools, on_tools_closed, w);
    else
        on_tools_closed(w);
}

void cs_world_close(struct cs_world *w, void (*closed)(void *ctx), void *ctx)
{
    w->closed = closed;
    w->ctx = ctx;
    if (w->runner)
        cs_runner_close(w->runner, on_runner_closed, w);
    else
        on_runner_closed(w);
}

/* A configuration that was asked for must be there; the usual places may be empty. */
static int open_tools(uv_loop_t *loop, const struct cs_world_options *o, struct cs_world *w,
                      struct cs_err *err)
{
    const char *variable = getenv("CAISSON_CONFIG");
    bool asked = o->config || (variable && *variable);
    if (access(w->config, F_OK) < 0 && !o->watch)
        return asked ? cs_fail(err, CS_MISSING, "there is no configuration '%s'", w->config) : 0;
    struct cs_tools_options options = {
        .config_path = w->config,
        .data_dir = w->data,
        .model_dir = o->model ? o->model : getenv("CAISSON_MODEL"),
        .watch = o->watch,
        .eager = o->eager,
    };
    return cs_tools_new(loop, &options, &w->tools, err);
}

int cs_world_open(uv_loop_t *loop, const struct cs_world_options *o, struct cs_world *w,
                  struct cs_err *err)
{
    *w = (struct cs_world){0};
    if (cs_data_dir(w->data, err) < 0 || cs_data_config(o->config, w->config, err) < 0 ||
        cs_data_policy(o->policy, w->config, w->policy_path, err) < 0 ||
        cs_policy_load(w->policy_path[0] ? w->policy_path : NULL, &w->policy, err) < 0 ||
        open_tools(loop, o, w, err) < 0)
        goto failed;
    if (o->sandbox) {
        struct cs_runner_options options = {
            .sandbox = o->sandbox, .tools = w->tools, .policy = w->policy, .asks = o->asks};
        if (cs_runner_new(loop, &options, &w->runner, err) < 0)
            goto failed;
    }
    return 0;
failed:
    /* What was opened needs the loop to close; nothing has been started yet. */
    cs_world_close(w, NULL, NULL);
    uv_run(loop, UV_RUN_DEFAULT);
    return -1;
}

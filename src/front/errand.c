#include "front/errand.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "front/data.h"
#include "front/text.h"

#define INTERRUPTED 130

void cs_errand_clear(struct cs_errand *s)
{
    if (s->live)
        fputs("\r\033[K", stderr);
    s->live = false;
}

struct cs_str cs_errand_error(const struct cs_server_state *state)
{
    struct cs_str error = state->error;
    CS_AUTO_BUF struct cs_buf before = {0};
    cs_buf_printf(&before, "server '%.*s': ", CS_STR_ARG(state->name));
    if (cs_str_starts(error, cs_buf_cstr(&before)))
        return cs_strn(error.at + before.len, error.len - before.len);
    return error;
}

static void name_connecting(void *ctx, const struct cs_server_state *state)
{
    struct cs_buf *names = ctx;
    if (strcmp(state->state, "connecting") != 0 || names->len > 60)
        return;
    cs_buf_puts(names, names->len ? ", " : "");
    cs_buf_putstr(names, state->name);
}

static void on_spin(uv_timer_t *timer)
{
    struct cs_errand *s = timer->data;
    CS_AUTO_BUF struct cs_buf names = {0};
    cs_tools_servers(s->tools, name_connecting, &names);
    cs_errand_clear(s);
    fprintf(stderr,
            "\033[2mconnecting, %.0f s: ", (double)(uv_now(timer->loop) - s->started) / 1000);
    cs_text_safe(stderr, cs_buf_str(&names));
    fputs("\033[0m", stderr);
    fflush(stderr);
    s->live = true;
}

static void on_interrupt(uv_signal_t *handle, int number)
{
    (void)number;
    struct cs_errand *s = handle->data;
    if (s->interrupted && s->catalogue)
        s->interrupted(s);
    else
        cs_errand_end(s, INTERRUPTED);
}

void cs_errand_end(struct cs_errand *s, int exit_status)
{
    if (s->ended)
        return;
    s->ended = true;
    s->exit_status = exit_status;
    cs_errand_clear(s);
    cs_catalogue_unref(s->catalogue);
    s->catalogue = NULL;
    uv_close((uv_handle_t *)&s->spinner, NULL);
    for (size_t i = 0; i < CS_COUNT(s->interrupts); i++)
        uv_close((uv_handle_t *)&s->interrupts[i], NULL);
    cs_world_close(&s->world, NULL, NULL);
}

static void on_known(void *ctx)
{
    struct cs_errand *s = ctx;
    if (s->ended)
        return;
    uv_timer_stop(&s->spinner);
    cs_errand_clear(s);
    if (s->tools)
        s->catalogue = cs_tools_current(s->tools);
    s->then(s);
}

static void on_start(uv_timer_t *timer)
{
    on_known(timer->data);
}

const struct cs_server_config *cs_errand_server(const struct cs_errand *s, const char *name,
                                                struct cs_err *err)
{
    const struct cs_config *config = &s->written;
    const struct cs_server_config *server = cs_config_find(config, cs_str(name));
    if (server)
        return server;
    const char **names = cs_calloc(config->count + 1, sizeof *names);
    for (size_t i = 0; i < config->count; i++)
        names[i] = config->servers[i].name;
    const char *near = cs_nearest(name, names, config->count);
    if (near)
        cs_fail(err, CS_MISSING, "there is no server '%s'; did you mean '%s'?", name, near);
    else
        cs_fail(err, CS_MISSING, "there is no server '%s' in %s", name, s->path);
    free(names);
    return NULL;
}

/* The server that "github.listCommits" or "/mcp-servers/github/listCommits.ts" is of, as far as its
 * name is the configured one; NULL otherwise. */
static const char *server_of(const struct cs_config *config, const char *tool)
{
    static const char *const prefixes[] = {"./", "/", "mcp-servers/", "tools."};
    const char *best = NULL;
    for (size_t i = 0; i < CS_COUNT(prefixes); i++)
        if (cs_str_starts(cs_str(tool), prefixes[i]))
            tool += strlen(prefixes[i]);
    for (size_t i = 0; i < config->count; i++) {
        const char *name = config->servers[i].name;
        size_t len = strlen(name);
        if (strncmp(tool, name, len) == 0 && (!tool[len] || strchr("./", tool[len])) &&
            (!best || len > strlen(best)))
            best = name;
    }
    return best;
}

int cs_errand_open(const struct cs_verb *verb, struct cs_errand *s, struct cs_err *err)
{
    s->verb = verb;
    if (cs_data_config(s->config, s->path, err) < 0 || cs_data_dir(s->data, err) < 0)
        return -1;
    if (cs_config_peek(s->path, &s->written, err) < 0 && (err->code != CS_MISSING || s->config))
        return -1;
    *err = (struct cs_err){0};
    if (s->written.warnings && *s->written.warnings) {
        fprintf(stderr, "caisson %s: in %s:\n", verb->name, s->path);
        cs_text_lines(stderr, "  ", cs_str(s->written.warnings));
    }
    if (s->tool)
        s->server = server_of(&s->written, s->tool);
    return s->server && !cs_errand_server(s, s->server, err) ? -1 : 0;
}

void cs_errand_close(struct cs_errand *s)
{
    cs_config_done(&s->written);
}

static int start(struct cs_errand *s, struct cs_err *err)
{
    struct cs_world_options options = {
        .config = s->config,
        .policy = s->policy,
        .model = s->model,
        .sandbox = s->sandbox,
        .asks = s->asks,
        .settings = s->settings,
        .no_record = s->no_record,
        .no_privacy = s->no_privacy,
    };
    if (cs_world_open(s->loop, &options, &s->world, err) < 0)
        return -1;
    s->tools = s->world.tools;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < CS_COUNT(numbers); i++) {
        uv_signal_init(s->loop, &s->interrupts[i]);
        s->interrupts[i].data = s;
        uv_signal_start(&s->interrupts[i], on_interrupt, numbers[i]);
        uv_unref((uv_handle_t *)&s->interrupts[i]);
    }
    uv_timer_init(s->loop, &s->spinner);
    s->spinner.data = s;
    s->started = uv_now(s->loop);
    if (s->wait == CS_WAIT_NOT || !s->tools) {
        uv_timer_start(&s->spinner, on_start, 0, 0);
        return 0;
    }
    if (cs_text_colour(stderr))
        uv_timer_start(&s->spinner, on_spin, 500, 250);
    cs_tools_await(s->tools, cs_str(s->server), s->wait == CS_WAIT_FRESH,
                   s->timeout_ms ? s->timeout_ms : CS_WAIT_MS, on_known, s);
    return 0;
}

int cs_errand_run(const struct cs_verb *verb, struct cs_errand *s)
{
    struct cs_err err = {0};
    s->loop = uv_default_loop();
    if (cs_errand_open(verb, s, &err) < 0 || start(s, &err) < 0)
        s->exit_status = cs_verb_failed(verb, &err);
    uv_run(s->loop, UV_RUN_DEFAULT);
    uv_loop_close(s->loop);
    cs_errand_close(s);
    return s->exit_status;
}

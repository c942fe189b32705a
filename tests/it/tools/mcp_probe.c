/*
 * A client of one MCP server, driven from the command line. Prints one JSON object per line for
 * everything that happens.
 *
 * mcp_probe [OPTIONS] ACTION... -- COMMAND [ARGUMENTS]
 * mcp_probe [OPTIONS] ACTION... -- http://...
 *
 *     --era auto|modern|legacy   --timeout MS      --max BYTES   --env NAME=VALUE   --cwd DIR
 *     --elicit JSON   answer to every question of the server      --silent   questions stay open
 *     --sample JSON   the same for sampling                       --root URI
 *     --header NAME=VALUE        --oauth DIR   where tokens are
 *     --probe MS --backoff MS --debounce MS   shorter waits than usual
 *
 *     connect            and wait until it is ready, or failed
 *     state NAME         wait until it is in this state, a minute at most
 *     said TEXT          the same, until the end of its stderr has this
 *     call TOOL JSON     and wait for the answer
 *     start TOOL JSON    do not wait
 *     cancel TOOL JSON MS    cancel after so long
 *     wait               for everything that was started
 *     par N TOOL JSON    N calls at once
 *     bench N TOOL JSON  N calls one after the other, and how long they took
 *     listed N           wait until so many lists have come
 *     offers TOOL        wait until a list has this one
 *     sleep MS           info            refresh
 *     login              prints the address that a browser must visit, and waits
 *     logout
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "tools/client_in.h"
#include "tools/oauth.h"

#define MANY    64
#define WAIT_MS 60000

struct probe {
    uv_loop_t *loop;
    struct cs_client *client;
    struct cs_server_config server;
    struct cs_client_options options;
    struct cs_client_parts parts;
    const char *elicit, *sample;
    bool silent, quiet;
    unsigned open, listed;
    struct cs_buf offered; /* names of the last list */
    uint64_t failed;
    struct cs_pair env[MANY], headers[MANY];
    const char *tokens;
    const char *roots[MANY];
    const char **args; /* of the server */
};

struct one {
    struct probe *p;
    unsigned number;
    uint64_t started;
};

static void line(struct cs_buf *b)
{
    cs_buf_putc(b, '\n');
    fwrite(b->at, 1, b->len, stdout);
    fflush(stdout);
}

static void begin(struct cs_json_writer *w, const char *event)
{
    cs_json_open(w, '{');
    cs_json_key(w, "event");
    cs_json_put_z(w, event);
}

static void put_info(struct probe *p, const char *event, bool all)
{
    CS_AUTO_BUF struct cs_buf b = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&b);
    const struct cs_client_info *i = cs_client_info(p->client);
    begin(&w, event);
    cs_json_key(&w, "state");
    cs_json_put_z(&w, cs_client_state_name(i->state));
    cs_json_key(&w, "error");
    cs_json_put_z(&w, i->last_error.code ? i->last_error.msg : NULL);
    if (all) {
        const struct {
            const char *key;
            struct cs_str value;
        } texts[] = {{"protocol", i->protocol},
                     {"name", i->server_name},
                     {"version", i->server_version},
                     {"instructions", i->instructions},
                     {"stderr", i->stderr_tail}};
        for (size_t k = 0; k < CS_COUNT(texts); k++) {
            cs_json_key(&w, texts[k].key);
            cs_json_put_str(&w, texts[k].value);
        }
        cs_json_key(&w, "pid");
        cs_json_put_u64(&w, i->pid);
        cs_json_key(&w, "restarts");
        cs_json_put_u64(&w, i->restarts);
        cs_json_key(&w, "calls");
        cs_json_put_u64(&w, i->calls);
        cs_json_key(&w, "call_errors");
        cs_json_put_u64(&w, i->call_errors);
    }
    cs_json_close(&w, '}');
    line(&b);
}

/* What is waited for may have come before the loop waits for anything else: look again. */
static void on_changed(void *ctx)
{
    struct probe *p = ctx;
    uv_stop(p->loop);
    if (p->client)
        put_info(p, "state", false);
}

static void on_listed(void *ctx, struct cs_str tools)
{
    struct probe *p = ctx;
    CS_AUTO_BUF struct cs_buf b = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    p->listed++;
    uv_stop(p->loop);
    if (cs_json_parse(tools, NULL, &doc, &err) < 0) {
        fprintf(stderr, "mcp_probe: the list of tools: %s\n", err.msg);
        exit(2);
    }
    struct cs_json_writer w = CS_JSON_WRITER(&b);
    struct cs_json_iter it = {0};
    struct cs_json_val tool;
    begin(&w, "listed");
    cs_json_key(&w, "count");
    cs_json_put_u64(&w, cs_json_count(cs_json_root(&doc)));
    cs_json_key(&w, "names");
    cs_json_open(&w, '[');
    for (unsigned i = 0; i < 200 && cs_json_next(cs_json_root(&doc), &it, NULL, &tool); i++)
        cs_json_put_raw(&w, cs_json_raw(cs_json_get(tool, "name")));
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    cs_buf_clear(&p->offered);
    cs_buf_putstr(&p->offered, cs_buf_str(&b));
    line(&b);
}

static void on_log(void *ctx, struct cs_str level, struct cs_str text)
{
    (void)ctx;
    CS_AUTO_BUF struct cs_buf b = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&b);
    begin(&w, "log");
    cs_json_key(&w, "level");
    cs_json_put_str(&w, level);
    cs_json_key(&w, "text");
    cs_json_put_str(&w, text);
    cs_json_close(&w, '}');
    line(&b);
}

static bool on_ask(void *ctx, const struct cs_client_ask *ask)
{
    struct probe *p = ctx;
    CS_AUTO_BUF struct cs_buf b = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&b);
    begin(&w, "ask");
    cs_json_key(&w, "method");
    cs_json_put_z(&w, ask->method);
    cs_json_key(&w, "params");
    cs_json_put_raw(&w, ask->params);
    cs_json_key(&w, "call");
    cs_json_put_bool(&w, ask->call_ctx != NULL);
    cs_json_close(&w, '}');
    line(&b);
    const char *answer = ask->method[0] == 's' ? p->sample : p->elicit;
    if (!answer)
        return p->silent;
    cs_client_answer(p->client, ask->id, cs_str(answer));
    return true;
}

static void on_progress(void *ctx, struct cs_str params)
{
    struct one *one = ctx;
    CS_AUTO_BUF struct cs_buf b = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&b);
    begin(&w, "progress");
    cs_json_key(&w, "number");
    cs_json_put_u64(&w, one->number);
    cs_json_key(&w, "params");
    cs_json_put_raw(&w, params);
    cs_json_close(&w, '}');
    line(&b);
}

static void on_done(void *ctx, const struct cs_client_result *result)
{
    struct one *one = ctx;
    struct probe *p = one->p;
    p->open--;
    uv_stop(p->loop);
    p->failed += result->err.code != CS_OK;
    if (!p->quiet) {
        CS_AUTO_BUF struct cs_buf b = {0};
        struct cs_json_writer w = CS_JSON_WRITER(&b);
        begin(&w, "done");
        cs_json_key(&w, "number");
        cs_json_put_u64(&w, one->number);
        cs_json_key(&w, "ms");
        cs_json_put_u64(&w, (uv_hrtime() - one->started) / 1000000);
        cs_json_key(&w, "bytes");
        cs_json_put_u64(&w, result->result.len);
        if (result->err.code == CS_OK) {
            cs_json_key(&w, "result");
            cs_json_put_raw(&w, result->result.len < 100000 ? result->result : CS_STR("null"));
        } else {
            cs_json_key(&w, "code");
            cs_json_put_z(&w, cs_code_name(result->err.code));
            cs_json_key(&w, "error");
            cs_json_put_z(&w, result->err.msg);
            cs_json_key(&w, "retryable");
            cs_json_put_bool(&w, result->retryable);
            cs_json_key(&w, "rpc_code");
            cs_json_put_i64(&w, result->rpc_code);
        }
        cs_json_close(&w, '}');
        line(&b);
    }
    free(one);
}

static struct cs_client_call *start(struct probe *p, const char *tool, const char *arguments)
{
    static unsigned number;
    struct one *one = CS_NEW(struct one);
    one->p = p;
    one->number = ++number;
    one->started = uv_hrtime();
    p->open++;
    struct cs_client_request request = {.tool = cs_str(tool),
                                        .arguments = cs_str(arguments),
                                        .timeout_ms = p->server.timeout_ms,
                                        .max_result_bytes = p->server.max_result_bytes};
    return cs_client_call(p->client, &request, on_progress, on_done, one);
}

static void on_wake(uv_timer_t *t)
{
    (void)t;
}

/* Runs the loop until `holds`, or so long. A turn may end without a look at what the timers did, so
 * there is one every few ms. */
static bool until(struct probe *p, bool (*holds)(struct probe *p, const void *what),
                  const void *what, uint64_t ms)
{
    uv_timer_t *t = CS_NEW(uv_timer_t);
    uv_timer_init(p->loop, t);
    uv_timer_start(t, on_wake, 5, 5);
    uint64_t end = uv_hrtime() + ms * 1000000;
    bool held = false;
    while (!(held = holds && holds(p, what)) && uv_hrtime() < end)
        uv_run(p->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)t, (uv_close_cb)free);
    return held;
}

static bool settled(struct probe *p, const void *what)
{
    (void)what;
    enum cs_client_state s = cs_client_info(p->client)->state;
    return s == CS_CLIENT_READY || s == CS_CLIENT_FAILED || s == CS_CLIENT_LOGIN;
}

static bool in_state(struct probe *p, const void *what)
{
    return strcmp(cs_client_state_name(cs_client_info(p->client)->state), what) == 0;
}

static bool has_said(struct probe *p, const void *what)
{
    struct cs_str said = cs_client_info(p->client)->stderr_tail;
    return said.len && memmem(said.at, said.len, what, strlen(what));
}

static bool none_open(struct probe *p, const void *what)
{
    (void)what;
    return p->open == 0;
}

static bool listed(struct probe *p, const void *what)
{
    return p->listed >= *(const unsigned *)what;
}

static bool offered(struct probe *p, const void *what)
{
    CS_AUTO_BUF struct cs_buf quoted = {0};
    cs_buf_printf(&quoted, "\"%s\"", (const char *)what);
    return p->offered.len && memmem(p->offered.at, p->offered.len, quoted.at, quoted.len);
}

static void bench(struct probe *p, unsigned n, const char *tool, const char *arguments)
{
    p->quiet = true;
    double best = 1e9;
    uint64_t begun = uv_hrtime();
    for (unsigned i = 0; i < n; i++) {
        uint64_t t = uv_hrtime();
        start(p, tool, arguments);
        while (p->open > 0)
            uv_run(p->loop, UV_RUN_ONCE);
        double us = (double)(uv_hrtime() - t) / 1000;
        best = us < best ? us : best;
    }
    printf("{\"event\":\"bench\",\"calls\":%u,\"failed\":%" PRIu64
           ",\"us\":%.1f,\"best_us\":%.1f}\n",
           n, p->failed, (double)(uv_hrtime() - begun) / 1000 / n, best);
    fflush(stdout);
    p->quiet = false;
}

static const char *need(char ***at)
{
    if (!**at) {
        fprintf(stderr, "mcp_probe: an argument is missing\n");
        exit(2);
    }
    return *(*at)++;
}

static uint64_t number(char ***at)
{
    return strtoull(need(at), NULL, 10);
}

static bool option(struct probe *p, const char *word, char ***at)
{
    static unsigned envs, roots, headers;
    struct cs_server_config *s = &p->server;
    if (strcmp(word, "--era") == 0) {
        const char *era = need(at);
        s->era = era[0] == 'm' ? CS_ERA_MODERN : era[0] == 'l' ? CS_ERA_LEGACY : CS_ERA_AUTO;
    } else if (strcmp(word, "--timeout") == 0) {
        s->timeout_ms = (uint32_t)number(at);
    } else if (strcmp(word, "--max") == 0) {
        s->max_result_bytes = number(at);
    } else if (strcmp(word, "--cwd") == 0) {
        s->cwd = need(at);
    } else if (strcmp(word, "--env") == 0) {
        const char *pair = need(at), *equals = strchr(pair, '=');
        if (equals && envs + 1 < MANY)
            p->env[envs++] =
                (struct cs_pair){cs_strndup(pair, (size_t)(equals - pair)), equals + 1};
    } else if (strcmp(word, "--header") == 0) {
        const char *pair = need(at), *equals = strchr(pair, '=');
        if (equals && headers + 1 < MANY)
            p->headers[headers++] =
                (struct cs_pair){cs_strndup(pair, (size_t)(equals - pair)), equals + 1};
    } else if (strcmp(word, "--oauth") == 0) {
        p->tokens = need(at);
    } else if (strcmp(word, "--root") == 0) {
        const char *root = need(at);
        if (roots + 1 < MANY)
            p->roots[roots++] = root;
    } else if (strcmp(word, "--elicit") == 0) {
        p->elicit = need(at);
        p->options.can_elicit = true;
    } else if (strcmp(word, "--sample") == 0) {
        p->sample = need(at);
        p->options.can_sample = true;
    } else if (strcmp(word, "--silent") == 0) {
        p->silent = p->options.can_elicit = p->options.can_sample = true;
    } else if (strcmp(word, "--probe") == 0) {
        p->parts.probe = (uint32_t)number(at);
    } else if (strcmp(word, "--backoff") == 0) {
        p->parts.backoff = (uint32_t)number(at);
    } else if (strcmp(word, "--debounce") == 0) {
        p->parts.debounce = (uint32_t)number(at);
    } else {
        return false;
    }
    return true;
}

static void put_event(const char *event, const char *key, const char *value)
{
    CS_AUTO_BUF struct cs_buf b = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&b);
    begin(&w, event);
    cs_json_key(&w, key);
    cs_json_put_z(&w, value);
    cs_json_close(&w, '}');
    line(&b);
}

static void on_open(void *ctx, const char *url)
{
    (void)ctx;
    put_event("open", "url", url);
}

static void on_login(void *ctx, const struct cs_err *err)
{
    struct probe *p = ctx;
    put_event("login", "error", err->code ? err->msg : NULL);
    p->open--;
    uv_stop(p->loop);
}

static void login(struct probe *p)
{
    const struct cs_login how = {.server = &p->server, .open = on_open, .done = on_login, .ctx = p};
    p->open++;
    cs_oauth_login(p->options.oauth, &how);
    until(p, none_open, NULL, 600000);
}

static void act(struct probe *p, const char *word, char ***at)
{
    if (strcmp(word, "connect") == 0) {
        cs_client_connect(p->client);
        until(p, settled, NULL, WAIT_MS);
    } else if (strcmp(word, "state") == 0) {
        if (!until(p, in_state, need(at), WAIT_MS))
            put_info(p, "stuck", true);
    } else if (strcmp(word, "said") == 0) {
        if (!until(p, has_said, need(at), WAIT_MS))
            put_info(p, "stuck", true);
    } else if (strcmp(word, "call") == 0 || strcmp(word, "start") == 0) {
        const char *tool = need(at);
        start(p, tool, need(at));
        if (word[0] == 'c')
            until(p, none_open, NULL, 600000);
    } else if (strcmp(word, "cancel") == 0) {
        const char *tool = need(at), *arguments = need(at);
        struct cs_client_call *call = start(p, tool, arguments);
        until(p, NULL, NULL, number(at));
        free(call->ctx);
        cs_client_cancel(call);
        p->open--;
    } else if (strcmp(word, "wait") == 0) {
        until(p, none_open, NULL, 600000);
    } else if (strcmp(word, "par") == 0 || strcmp(word, "bench") == 0) {
        unsigned n = (unsigned)number(at);
        const char *tool = need(at), *arguments = need(at);
        if (word[0] == 'b') {
            bench(p, n, tool, arguments);
            return;
        }
        for (unsigned i = 0; i < n; i++)
            start(p, tool, arguments);
        until(p, none_open, NULL, 600000);
    } else if (strcmp(word, "listed") == 0) {
        unsigned n = (unsigned)number(at);
        if (!until(p, listed, &n, WAIT_MS))
            put_info(p, "stuck", true);
    } else if (strcmp(word, "sleep") == 0) {
        until(p, NULL, NULL, number(at));
    } else if (strcmp(word, "offers") == 0) {
        if (!until(p, offered, need(at), 60000))
            put_info(p, "stuck", true);
    } else if (strcmp(word, "info") == 0) {
        put_info(p, "info", true);
    } else if (strcmp(word, "login") == 0) {
        login(p);
    } else if (strcmp(word, "logout") == 0) {
        struct cs_err err = {0};
        cs_oauth_logout(p->options.oauth, &p->server, &err);
        put_event("logout", "error", err.code ? err.msg : NULL);
    } else if (strcmp(word, "refresh") == 0) {
        cs_client_refresh(p->client);
    } else {
        fprintf(stderr, "mcp_probe: what is '%s'?\n", word);
        exit(2);
    }
}

static int open_either(void *ctx, uv_loop_t *loop, const struct cs_server_config *server,
                       const struct cs_client_options *options,
                       const struct cs_transport_events *events, void *events_ctx,
                       struct cs_transport **transport, struct cs_err *err)
{
    (void)ctx;
    if (server->is_http)
        return cs_http_new(options->http, server, options->oauth, events, events_ctx, transport,
                           err);
    return cs_stdio_new(loop, server, events, events_ctx, transport, err);
}

static void start_http(struct probe *p, const char *url)
{
    struct cs_err err = {0};
    p->server.is_http = true;
    p->server.url = url;
    p->server.headers = p->headers;
    if (cs_fetcher_start(p->loop, &p->options.http, &err) < 0 ||
        (p->tokens && cs_oauth_new(p->options.http, p->tokens, &p->options.oauth, &err) < 0)) {
        fprintf(stderr, "mcp_probe: %s\n", err.msg);
        exit(2);
    }
}

static void on_closed(void *ctx)
{
    *(bool *)ctx = true;
}

int main(int argc, char **argv)
{
    struct probe p = {.loop = uv_default_loop(), .parts = cs_client_parts_default};
    char **split = argv + 1, **at = argv + 1;
    while (*split && strcmp(*split, "--") != 0)
        split++;
    if (argc < 3 || !*split || !split[1]) {
        fprintf(stderr, "usage: mcp_probe [OPTIONS] ACTION... -- COMMAND [ARGUMENTS]\n");
        return 2;
    }
    *split = NULL;
    p.parts.open = open_either;
    p.server = (struct cs_server_config){.name = "probed",
                                         .enabled = true,
                                         .command = split[1],
                                         .args = (const char **)(split + 2),
                                         .env = p.env,
                                         .roots = p.roots,
                                         .timeout_ms = CS_CALL_TIMEOUT_MS,
                                         .max_result_bytes = CS_CALL_RESULT_MAX};
    while (*at && strncmp(*at, "--", 2) == 0) {
        const char *word = *at++;
        if (!option(&p, word, &at)) {
            fprintf(stderr, "mcp_probe: what is '%s'?\n", word);
            return 2;
        }
    }
    if (strncmp(p.server.command, "http", 4) == 0)
        start_http(&p, p.server.command);
    const struct cs_client_events events = {
        .changed = on_changed, .listed = on_listed, .log = on_log, .ask = on_ask};
    p.client = cs_client_new_with(p.loop, &p.server, &p.options, &events, &p, &p.parts);
    while (*at) {
        const char *word = *at++;
        act(&p, word, &at);
    }
    bool closed = false;
    uint64_t begun = uv_hrtime();
    cs_client_close(p.client, on_closed, &closed);
    p.client = NULL;
    while (!closed && uv_run(p.loop, UV_RUN_ONCE))
        ;
    cs_oauth_free(p.options.oauth);
    if (p.options.http)
        cs_fetcher_stop(p.options.http, NULL, NULL);
    uv_run(p.loop, UV_RUN_DEFAULT);
    printf("{\"event\":\"closed\",\"clean\":%s,\"ms\":%" PRIu64 "}\n", closed ? "true" : "false",
           (uv_hrtime() - begun) / 1000000);
    cs_buf_done(&p.offered);
    for (size_t i = 0; i < MANY && p.env[i].name; i++)
        free((void *)(uintptr_t)p.env[i].name);
    for (size_t i = 0; i < MANY && p.headers[i].name; i++)
        free((void *)(uintptr_t)p.headers[i].name);
    return uv_loop_close(p.loop) == 0 ? 0 : 3;
}

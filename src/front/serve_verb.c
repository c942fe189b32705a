/* `caisson serve`: MCP over HTTP and REST, on one port. `caisson mcp`: MCP over stdio. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "front/access.h"
#include "front/serve.h"
#include "http/http.h"
#include "rest/rest.h"

#define MCP_PATH       "/mcp"
#define HEAD_BYTES     (16u << 10)
#define UNSENT_BYTES   (16u << 20)
#define COMPRESS_BYTES (1u << 20)
#define FLUSH_TICKS    50 /* of 10 ms, for the last answers to leave */

struct serve {
    struct cs_daemon daemon;
    struct cs_access *access;
    struct cs_rest *rest;
    struct cs_http *http;
    uv_timer_t flush;
    unsigned ticks;
};

/* --- an exchange finds its door --- */

static bool is_mcp(const struct cs_exchange *x)
{
    return cs_str_is(cs_exchange_path(x), MCP_PATH);
}

static bool is_open(const struct cs_exchange *x)
{
    return !is_mcp(x) && cs_rest_is_open(cs_exchange_method(x), cs_exchange_path(x));
}

static void on_head(void *ctx, struct cs_exchange *x)
{
    struct serve *s = ctx;
    if (!cs_access_head(s->access, x, is_open(x)))
        return;
    if (is_mcp(x))
        cs_exchange_expect(x, CS_MCP_MESSAGE);
    else
        cs_rest_head(s->rest, x);
}

static void on_known(void *ctx, struct cs_exchange *x, const struct cs_caller *caller)
{
    struct serve *s = ctx;
    cs_log_line(CS_LOG_DEBUG, "http", "%.*s %.*s principal=%s tenant=%s",
                CS_STR_ARG(cs_exchange_method(x)), CS_STR_ARG(cs_exchange_path(x)),
                caller->principal, caller->tenant);
    if (is_mcp(x))
        cs_mcp_http(s->daemon.mcp, x, caller);
    else
        cs_rest_handle(s->rest, x, caller);
}

static void on_request(void *ctx, struct cs_exchange *x)
{
    struct serve *s = ctx;
    cs_access_check(s->access, x, is_open(x), on_known, s);
}

static void on_gone(void *ctx, struct cs_exchange *x)
{
    (void)ctx;
    (void)x;
}

/* --- what the doors say about themselves --- */

static void put_metrics(void *ctx, struct cs_buf *text)
{
    struct serve *s = ctx;
    struct cs_mcp_figures f = {0};
    cs_mcp_figures(s->daemon.mcp, &f);
    cs_buf_printf(text,
                  "# HELP caisson_http_connections Open HTTP connections.\n"
                  "# TYPE caisson_http_connections gauge\n"
                  "caisson_http_connections %u\n"
                  "# HELP caisson_mcp_requests_total MCP requests over HTTP and stdio.\n"
                  "# TYPE caisson_mcp_requests_total counter\n"
                  "caisson_mcp_requests_total %llu\n"
                  "# HELP caisson_mcp_errors_total MCP requests that were answered with an error.\n"
                  "# TYPE caisson_mcp_errors_total counter\n"
                  "caisson_mcp_errors_total %llu\n"
                  "# HELP caisson_mcp_sessions MCP transport sessions.\n"
                  "# TYPE caisson_mcp_sessions gauge\n"
                  "caisson_mcp_sessions %u\n"
                  "# HELP caisson_mcp_streams Open MCP event streams.\n"
                  "# TYPE caisson_mcp_streams gauge\n"
                  "caisson_mcp_streams %u\n",
                  cs_http_connections(s->http), (unsigned long long)f.requests,
                  (unsigned long long)f.errors, f.sessions, f.streams);
}

/* --- the verb --- */

static void drain(struct cs_daemon *d)
{
    struct serve *s = d->ctx;
    cs_http_drain(s->http);
}

static void on_http_closed(void *ctx)
{
    struct serve *s = ctx;
    s->http = NULL;
    if (s->rest)
        cs_rest_close(s->rest);
    cs_access_free(s->access);
    s->rest = NULL;
    s->access = NULL;
    cs_daemon_shut(&s->daemon);
}

/* Connections close by themselves once they are answered; those that do not are cut. */
static void on_flush(uv_timer_t *timer)
{
    struct serve *s = timer->data;
    if (cs_http_connections(s->http) > 0 && ++s->ticks < FLUSH_TICKS)
        return;
    uv_close((uv_handle_t *)timer, NULL);
    cs_http_close(s->http, on_http_closed, s);
}

static void shut(struct cs_daemon *d)
{
    struct serve *s = d->ctx;
    if (!s->http) {
        on_http_closed(s);
        return;
    }
    uv_timer_init(d->loop, &s->flush);
    s->flush.data = s;
    uv_timer_start(&s->flush, on_flush, 0, 10);
}

static void reloaded(struct cs_daemon *d)
{
    struct serve *s = d->ctx;
    cs_access_reload(s->access);
    cs_rest_set(s->rest, d->settings.limits_code, d->settings.limits_inputs,
                (uint32_t)d->settings.execution_timeout);
}

static void on_denied(void *ctx, const struct cs_caller *caller)
{
    struct serve *s = ctx;
    cs_access_denied(s->access, caller);
}

static int open_rest(struct serve *s, struct cs_err *err)
{
    const struct cs_daemon *d = &s->daemon;
    struct cs_rest_options options = {
        .runner = d->world.runner,
        .tools = d->world.tools,
        .store = d->world.store,
        .sessions = d->world.sessions,
        .watch = d->world.watch,
        .ledger = d->world.ledger,
        .code_bytes = d->settings.limits_code,
        .inputs_bytes = d->settings.limits_inputs,
        .file_bytes = d->settings.session_files,
        .timeout_ms = (uint32_t)d->settings.execution_timeout,
        .mcp_path = MCP_PATH,
        .policy_refused = d->policy_refused,
        .denied = on_denied,
        .metrics = put_metrics,
        .ctx = s,
    };
    return cs_rest_new(d->loop, &options, &s->rest, err);
}

/* The largest body of any door; each exchange is then held to its own. */
static uint64_t most_body(const struct cs_rest *rest)
{
    const uint64_t most[] = {
        CS_MCP_MESSAGE,
        cs_rest_body_bytes(rest, CS_STR("POST"), CS_STR("/executions")),
        cs_rest_body_bytes(rest, CS_STR("PUT"), CS_STR("/sessions/s/files/f")),
    };
    uint64_t found = 0;
    for (size_t i = 0; i < CS_COUNT(most); i++)
        found = most[i] > found ? most[i] : found;
    return found;
}

static int open_http(struct serve *s, struct cs_err *err)
{
    static const struct cs_http_handler handler = {on_head, on_request, on_gone};
    const struct cs_settings *set = &s->daemon.settings;
    struct cs_http_options options = {
        .host = set->server_host,
        .port = (uint16_t)set->server_port,
        .tls_cert = *set->tls_cert ? set->tls_cert : NULL,
        .tls_key = *set->tls_key ? set->tls_key : NULL,
        .max_connections = (uint32_t)set->server_max_connections,
        .head_bytes = HEAD_BYTES,
        .body_bytes = most_body(s->rest),
        .held_bytes = set->limits_bodies,
        .request_ms = (uint32_t)set->server_request_timeout,
        .idle_ms = (uint32_t)set->server_idle_timeout,
        .unsent_bytes = UNSENT_BYTES,
        .compress_bytes = COMPRESS_BYTES,
    };
    return cs_http_listen(s->daemon.loop, &options, &handler, s, &s->http, err);
}

static void put_url(struct serve *s, char url[300])
{
    const struct cs_settings *set = &s->daemon.settings;
    bool six = strchr(set->server_host, ':') != NULL;
    const char *host = set->server_host;
    if (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0) {
        host = "localhost";
        six = false;
    }
    snprintf(url, 300, "%s://%s%s%s:%u", *set->tls_cert ? "https" : "http", six ? "[" : "", host,
             six ? "]" : "", cs_http_port(s->http));
}

static void greet(struct serve *s)
{
    char url[300];
    put_url(s, url);
    cs_log_line(CS_LOG_INFO, "serve", "listening url=%s mcp=%s%s workers=%u concurrency=%u", url,
                url, MCP_PATH, cs_world_workers(&s->daemon.settings),
                cs_world_concurrency(&s->daemon.settings));
    printf("Caisson " CS_VERSION " listens on %s\n\n", url);
    printf("  MCP clients:   {\"mcpServers\": {\"caisson\": {\"type\": \"http\", \"url\": "
           "\"%s%s\"}}}\n",
           url, MCP_PATH);
    printf("  Claude Code:   claude mcp add --transport http caisson %s%s\n", url, MCP_PATH);
    printf("  a program:     curl -s %s/executions -H 'Content-Type: application/json' -d "
           "'{\"code\": \"return 6 * 7\"}'\n",
           url);
    printf("  all routes:    %s/openapi.json\n\n", url);
    fflush(stdout);
}

static int open_serve(struct serve *s, struct cs_err *err)
{
    struct cs_daemon *d = &s->daemon;
    d->ctx = s;
    d->drain = drain;
    d->shut = shut;
    d->reloaded = reloaded;
    if (cs_daemon_open(d, err) < 0)
        return -1;
    s->access = cs_access_new(&d->settings, d->world.store, d->world.watch);
    if (open_rest(s, err) == 0 && open_http(s, err) == 0)
        return 0;
    d->drain = NULL;
    cs_daemon_stop(d);
    uv_run(d->loop, UV_RUN_DEFAULT);
    return -1;
}

int cs_verb_serve(const struct cs_verb *verb, int argc, char **argv)
{
    struct serve s = {0};
    struct cs_err err = {0};
    if (cs_daemon_args(verb, argc, argv, &s.daemon, &err) < 0) {
        cs_daemon_done(&s.daemon);
        return err.code == CS_INVALID ? cs_usage_error(verb, &err) : cs_verb_failed(verb, &err);
    }
    if (open_serve(&s, &err) < 0) {
        cs_daemon_done(&s.daemon);
        return cs_verb_failed(verb, &err);
    }
    greet(&s);
    return cs_daemon_run(&s.daemon);
}

/* --- over stdio --- */

static void on_client_gone(void *ctx)
{
    struct cs_daemon *d = ctx;
    d->settings.server_grace = 0; /* nobody is left to hear of it */
    cs_daemon_stop(d);
}

/* What anything prints by mistake must not get between the messages: it goes to stderr. */
static int take_stdout(struct cs_err *err)
{
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return cs_fail_errno(err, "stdout");
    return out;
}

/* Children must not hold the client's end open either. */
static int take_stdin(struct cs_err *err)
{
    int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    CS_AUTO_FD int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0)
        return cs_fail_errno(err, "stdin");
    return in;
}

int cs_verb_mcp(const struct cs_verb *verb, int argc, char **argv)
{
    struct cs_daemon d = {0};
    struct cs_err err = {0};
    if (cs_daemon_args(verb, argc, argv, &d, &err) < 0) {
        cs_daemon_done(&d);
        return err.code == CS_INVALID ? cs_usage_error(verb, &err) : cs_verb_failed(verb, &err);
    }
    int out = take_stdout(&err), in = out < 0 ? -1 : take_stdin(&err);
    struct cs_caller caller = cs_caller_local();
    if (in < 0 || cs_daemon_open(&d, &err) < 0) {
        cs_daemon_done(&d);
        return cs_verb_failed(verb, &err);
    }
    if (cs_mcp_stdio(d.mcp, in, out, &caller, on_client_gone, &d, &err) < 0) {
        d.exit_status = cs_verb_failed(verb, &err);
        cs_daemon_stop(&d);
    }
    return cs_daemon_run(&d);
}

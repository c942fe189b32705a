/*
 * The MCP door with the fixtures of the conformance suite, and nothing else of the program.
 *
 *     mcp_server              over stdin and stdout, ends with its input
 *     mcp_server PORT         over HTTP on 127.0.0.1; 0: any that is free. Prints the address
 *
 * Over HTTP the caller is whoever `Authorization: Bearer NAME` says, without any check.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/http.h"
#include "mcp/mcp.h"

static uv_loop_t *loop;
static struct cs_mcp *mcp;
static struct cs_http *http;

static bool is_local(struct cs_str host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (host.len >= n && memcmp(host.at, names[i], n) == 0 &&
            (host.len == n || host.at[n] == ':'))
            return true;
    }
    return false;
}

static bool is_foreign(struct cs_exchange *x)
{
    struct cs_str origin = cs_exchange_header(x, "Origin");
    if (!is_local(cs_exchange_header(x, "Host")))
        return true;
    if (!origin.at)
        return false;
    if (!cs_str_starts(origin, "http://"))
        return true;
    return !is_local(cs_strn(origin.at + 7, origin.len - 7));
}

static void on_head(void *ctx, struct cs_exchange *x)
{
    (void)ctx;
    if (is_foreign(x))
        cs_exchange_reply(x, 403, "text/plain", CS_STR("not from here\n"));
    else if (!cs_str_is(cs_exchange_path(x), "/mcp"))
        cs_exchange_reply(x, 404, "text/plain", CS_STR("not here\n"));
}

static void on_request(void *ctx, struct cs_exchange *x)
{
    struct cs_caller caller = cs_caller_local();
    struct cs_str who = cs_exchange_header(x, "Authorization");
    (void)ctx;
    if (!mcp) {
        cs_exchange_reply(x, 503, NULL, (struct cs_str){0});
        return;
    }
    if (cs_str_starts(who, "Bearer ") && who.len - 7 < sizeof caller.principal) {
        memcpy(caller.principal, who.at + 7, who.len - 7);
        caller.principal[who.len - 7] = '\0';
    }
    cs_mcp_http(mcp, x, &caller);
}

static void on_ended(void *ctx)
{
    (void)ctx;
    cs_mcp_close(mcp);
    mcp = NULL;
}

static void on_late(uv_timer_t *timer)
{
    uv_close((uv_handle_t *)timer, NULL);
    cs_http_close(http, NULL, NULL);
}

/* The last words of streams get a moment. */
static void on_signal(uv_signal_t *handle, int number)
{
    static uv_timer_t timer;
    (void)number;
    if (!mcp)
        return;
    uv_unref((uv_handle_t *)handle);
    cs_mcp_close(mcp);
    mcp = NULL;
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, on_late, 100, 0);
}

static int listen_on(const char *port, struct cs_err *err)
{
    struct cs_http_options options = {
        .host = "127.0.0.1",
        .port = (uint16_t)strtoul(port, NULL, 10),
        .max_connections = 1000,
        .head_bytes = 32768,
        .body_bytes = CS_MCP_MESSAGE + 1000,
        .request_ms = 30000,
        .idle_ms = 60000,
        .unsent_bytes = 64u << 20,
        .compress_bytes = 1u << 30,
    };
    static const struct cs_http_handler handler = {.head = on_head, .request = on_request};
    if (cs_http_listen(loop, &options, &handler, NULL, &http, err) < 0)
        return -1;
    printf("http://127.0.0.1:%u/mcp\n", cs_http_port(http));
    return fflush(stdout);
}

int main(int argc, char **argv)
{
    struct cs_mcp_options options = {.fixtures = true};
    struct cs_caller local = cs_caller_local();
    struct cs_err err = {0};
    uv_signal_t signal;
    int rc;
    loop = uv_default_loop();
    uv_signal_init(loop, &signal);
    rc = cs_mcp_new(loop, &options, &mcp, &err);
    if (rc == 0 && argc > 1)
        rc = listen_on(argv[1], &err);
    else if (rc == 0)
        rc = cs_mcp_stdio(mcp, 0, 1, &local, on_ended, NULL, &err);
    if (argc > 1)
        uv_signal_start(&signal, on_signal, SIGTERM);
    if (rc < 0) {
        fprintf(stderr, "mcp_server: %s\n", err.msg);
        return 1;
    }
    uv_run(loop, UV_RUN_DEFAULT);
    return 0;
}

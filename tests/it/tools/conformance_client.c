/*
 * The client under test of the official conformance suite: our own client over our own HTTP and
 * OAuth, with a person in it that says yes to everything.
 *
 *     conformance_client URL
 *
 * Which scenario is played is in MCP_CONFORMANCE_SCENARIO, at which revision of the protocol in
 * MCP_CONFORMANCE_PROTOCOL_VERSION, and what a scenario gives along in MCP_CONFORMANCE_CONTEXT.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "tools/client.h"
#include "tools/fetch.h"
#include "tools/oauth.h"

#define PATIENCE_MS 20000u
#define LOGINS      3u /* a server that is never content is given up */
#define DOCUMENT    "https://conformance-test.local/client-metadata.json"

struct person {
    uv_loop_t *loop;
    struct cs_client *client;
    struct cs_oauth *oauth;
    struct cs_fetcher *http;
    struct cs_server_config server;
    struct cs_buf tools; /* the newest list */
    struct cs_arena arena;
    const char *scenario;
    unsigned open, logins, asks;
    bool failed, denied, login_over, late;
    uint64_t held; /* a question that waits for another call to end */
    struct cs_buf held_answer;
};

/* A browser that follows where it is sent, without anybody in front of it. */

static struct cs_fetch *page;

static void visit(struct person *p, const char *url);

static void on_page(void *ctx, const struct cs_err *err)
{
    struct person *p = ctx;
    struct cs_str to = cs_fetch_header(page, "location");
    int status = cs_fetch_status(page);
    if (err->code != CS_OK)
        fprintf(stderr, "browser: %s\n", err->msg);
    if (status < 300 || status >= 400 || to.len == 0)
        return;
    visit(p, cs_arena_dup(&p->arena, to).at);
}

static void visit(struct person *p, const char *url)
{
    static const struct cs_fetch_events events = {NULL, on_page};
    struct cs_fetch_request r = {
        .method = "GET", .url = url, .timeout_ms = 5000, .max_body = 1 << 20, .no_redirects = true};
    page = cs_fetch_start(p->http, &r, &events, p);
}

static void on_open(void *ctx, const char *url)
{
    visit(ctx, url);
}

static void on_login(void *ctx, const struct cs_err *err)
{
    struct person *p = ctx;
    p->login_over = true;
    uv_stop(p->loop);
    p->denied = err->code != CS_OK;
    if (p->denied)
        fprintf(stderr, "login: %s\n", err->msg);
}

/* Questions: a form is accepted with its defaults, and with `true` for what has none. */

static void fill_form(struct cs_json_val params, struct cs_buf *out)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    struct cs_json_val properties =
        cs_json_get(cs_json_get(params, "requestedSchema"), "properties");
    struct cs_json_iter it = {0};
    struct cs_json_val key, schema;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    cs_json_open(&w, '{');
    cs_json_key(&w, "action");
    cs_json_put_z(&w, "accept");
    cs_json_key(&w, "content");
    cs_json_open(&w, '{');
    while (cs_json_next(properties, &it, &key, &schema)) {
        struct cs_json_val preset = cs_json_get(schema, "default");
        bool boolean = cs_json_is(cs_json_get(schema, "type"), "boolean");
        if (cs_json_type(preset) == CS_JSON_NONE && !boolean)
            continue;
        cs_json_key_str(&w, cs_json_str(key, &arena));
        if (cs_json_type(preset) != CS_JSON_NONE)
            cs_json_put_raw(&w, cs_json_raw(preset));
        else
            cs_json_put_bool(&w, true);
    }
    cs_json_close(&w, '}');
    cs_json_close(&w, '}');
}

static void call(struct person *p, const char *tool, struct cs_str arguments);

static bool on_ask(void *ctx, const struct cs_client_ask *ask)
{
    struct person *p = ctx;
    CS_AUTO_JSON struct cs_json doc = {0};
    if (strcmp(ask->method, "elicitation/create") != 0 ||
        cs_json_parse(ask->params, NULL, &doc, NULL) < 0)
        return false;
    CS_AUTO_BUF struct cs_buf answer = {0};
    fill_form(cs_json_root(&doc), &answer);
    /* Once, another call is made while a question is open. */
    if (++p->asks == 1 && strcmp(p->scenario, "sep-2322-client-request-state") == 0) {
        p->held = ask->id;
        cs_buf_putstr(&p->held_answer, cs_buf_str(&answer));
        call(p, "test_mrtr_unrelated", CS_STR("{}"));
    } else {
        cs_client_answer(p->client, ask->id, cs_buf_str(&answer));
    }
    return true;
}

/* Calls */

struct call {
    struct person *p;
    char *tool;
};

static void on_done(void *ctx, const struct cs_client_result *result)
{
    struct call *one = ctx;
    struct person *p = one->p;
    p->open--;
    uv_stop(p->loop); /* it may have come before the loop waits for anything else */
    if (result->err.code != CS_OK) {
        fprintf(stderr, "%s: %s\n", one->tool, result->err.msg);
        p->failed = true;
    }
    if (p->held && strcmp(one->tool, "test_mrtr_unrelated") == 0) {
        cs_client_answer(p->client, p->held, cs_buf_str(&p->held_answer));
        p->held = 0;
    }
    free(one->tool);
    free(one);
}

/* The schema of a tool as it was listed: some parameters are sent as headers, too. */
static struct cs_str schema_of(const struct cs_json *list, const char *tool)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(cs_json_root(list), &it, NULL, &item))
        if (cs_json_is(cs_json_get(item, "name"), tool))
            return cs_json_raw(cs_json_get(item, "inputSchema"));
    return (struct cs_str){0};
}

static void call(struct person *p, const char *tool, struct cs_str arguments)
{
    CS_AUTO_JSON struct cs_json list = {0};
    cs_json_parse(cs_buf_str(&p->tools), NULL, &list, NULL);
    struct call *one = CS_NEW(struct call);
    *one = (struct call){p, cs_strdup(tool)};
    p->open++;
    struct cs_client_request r = {.tool = cs_str(tool),
                                  .arguments = arguments,
                                  .schema = schema_of(&list, tool),
                                  .timeout_ms = PATIENCE_MS,
                                  .max_result_bytes = CS_CALL_RESULT_MAX};
    cs_client_call(p->client, &r, NULL, on_done, one);
}

static void on_listed(void *ctx, struct cs_str tools)
{
    struct person *p = ctx;
    cs_buf_clear(&p->tools);
    cs_buf_putstr(&p->tools, tools);
}

static void on_changed(void *ctx)
{
    struct person *p = ctx;
    uv_stop(p->loop);
}

static void on_log(void *ctx, struct cs_str level, struct cs_str text)
{
    (void)ctx;
    fprintf(stderr, "%.*s: %.*s\n", CS_STR_ARG(level), CS_STR_ARG(text));
}

/* Waiting */

static void on_late(uv_timer_t *t)
{
    ((struct person *)t->data)->late = true;
}

static bool until(struct person *p, bool (*holds)(struct person *p))
{
    uv_timer_t *t = CS_NEW(uv_timer_t);
    uv_timer_init(p->loop, t);
    t->data = p;
    p->late = false;
    uv_update_time(p->loop);
    uv_timer_start(t, on_late, PATIENCE_MS, 0);
    while (!p->late && !holds(p))
        uv_run(p->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)t, (uv_close_cb)free);
    return !p->late;
}

static bool settled(struct person *p)
{
    enum cs_client_state s = cs_client_info(p->client)->state;
    return s == CS_CLIENT_READY || s == CS_CLIENT_FAILED || s == CS_CLIENT_LOGIN ||
           s == CS_CLIENT_WAITING;
}

static bool logged_in(struct person *p)
{
    return p->login_over;
}

static bool none_open(struct person *p)
{
    return p->open == 0;
}

static bool log_in(struct person *p)
{
    if (p->logins++ == LOGINS)
        return false;
    struct cs_login login = {.server = &p->server,
                             .client_document = DOCUMENT,
                             .open = on_open,
                             .done = on_login,
                             .ctx = p};
    p->login_over = false;
    cs_oauth_login(p->oauth, &login);
    return until(p, logged_in) && !p->denied;
}

static bool ready(struct person *p)
{
    for (;;) {
        cs_client_connect(p->client);
        if (!until(p, settled))
            return false;
        const struct cs_client_info *info = cs_client_info(p->client);
        if (info->state == CS_CLIENT_READY)
            return true;
        fprintf(stderr, "connect: %s: %s\n", cs_client_state_name(info->state),
                info->last_error.msg);
        if (info->state != CS_CLIENT_LOGIN || !log_in(p))
            return false;
    }
}

/* A call, and the logins that it may need. */
static bool play(struct person *p, const char *tool, struct cs_str arguments)
{
    for (;;) {
        p->failed = false;
        call(p, tool, arguments);
        if (!until(p, none_open))
            return false;
        if (!p->failed)
            return true;
        if (cs_client_info(p->client)->state != CS_CLIENT_LOGIN || !log_in(p))
            return false;
    }
}

/* Scenarios */

static bool play_context(struct person *p, const struct cs_json *context)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    bool good = true;
    while (cs_json_next(cs_json_get(cs_json_root(context), "toolCalls"), &it, NULL, &item)) {
        struct cs_str name = cs_json_str(cs_json_get(item, "name"), &p->arena);
        struct cs_str arguments = cs_json_raw(cs_json_get(item, "arguments"));
        good &= play(p, cs_arena_dup(&p->arena, name).at, arguments.len ? arguments : CS_STR("{}"));
    }
    return good;
}

static bool play_schema(struct person *p)
{
    CS_AUTO_JSON struct cs_json list = {0};
    CS_AUTO_BUF struct cs_buf arguments = {0};
    cs_json_parse(cs_buf_str(&p->tools), NULL, &list, NULL);
    struct cs_str schema = schema_of(&list, "json_schema_2020_12_tool");
    cs_buf_puts(&arguments, "{\"schema\":");
    cs_buf_putstr(&arguments, schema.len ? schema : CS_STR("null"));
    cs_buf_putc(&arguments, '}');
    return play(p, "json_schema_echo", cs_buf_str(&arguments));
}

static bool play_first(struct person *p)
{
    CS_AUTO_JSON struct cs_json list = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val tool;
    cs_json_parse(cs_buf_str(&p->tools), NULL, &list, NULL);
    if (!cs_json_next(cs_json_root(&list), &it, NULL, &tool))
        return true;
    struct cs_str name = cs_json_str(cs_json_get(tool, "name"), &p->arena);
    return play(p, cs_arena_dup(&p->arena, name).at, CS_STR("{}"));
}

static bool scenario(struct person *p, const struct cs_json *context)
{
    static const struct {
        const char *scenario, *tool, *arguments;
    } plays[] = {
        {"tools_call", "add_numbers", "{\"a\":5,\"b\":3}"},
        {"elicitation-sep1034-client-defaults", "test_client_elicitation_defaults", "{}"},
        {"sse-retry", "test_reconnection", "{}"},
        {"sep-2322-client-request-state", "test_mrtr_echo_state", "{}"},
        {"sep-2322-client-request-state", "test_mrtr_no_state", "{}"},
        {"sep-2322-client-request-state", "test_mrtr_no_result_type", "{}"},
        {"http-invalid-tool-headers", "valid_tool", "{\"region\":\"eu\"}"},
    };
    bool good = true;
    if (!ready(p))
        return false;
    if (strncmp(p->scenario, "auth/", 5) == 0)
        return play(p, "test-tool", CS_STR("{}"));
    if (strcmp(p->scenario, "json-schema-2020-12-preservation") == 0)
        return play_schema(p);
    if (strcmp(p->scenario, "http-standard-headers") == 0)
        return play_first(p);
    for (size_t i = 0; i < CS_COUNT(plays); i++)
        if (strcmp(p->scenario, plays[i].scenario) == 0)
            good &= play(p, plays[i].tool, cs_str(plays[i].arguments));
    return play_context(p, context) && good;
}

static const char *text(struct person *p, const struct cs_json *context, const char *key)
{
    struct cs_json_val v = cs_json_get(cs_json_root(context), key);
    if (cs_json_type(v) != CS_JSON_STRING)
        return NULL;
    return cs_arena_dup(&p->arena, cs_json_str(v, &p->arena)).at;
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static void on_closed(void *ctx)
{
    *(bool *)ctx = true;
}

int main(int argc, char **argv)
{
    struct person p = {.loop = uv_default_loop()};
    struct cs_err err = {0};
    char dir[] = "/tmp/caisson-conformance-XXXXXX";
    if (argc != 2 || !mkdtemp(dir)) {
        fprintf(stderr, "usage: conformance_client URL\n");
        return 2;
    }
    p.scenario = variable("MCP_CONFORMANCE_SCENARIO");
    const char *given = variable("MCP_CONFORMANCE_CONTEXT");
    CS_AUTO_JSON struct cs_json context = {0};
    if (given[0] && cs_json_parse(cs_str(given), NULL, &context, &err) < 0) {
        fprintf(stderr, "context: %s\n", err.msg);
        return 2;
    }
    bool modern = strcmp(variable("MCP_CONFORMANCE_PROTOCOL_VERSION"), "2026-07-28") == 0;
    p.server = (struct cs_server_config){.name = "conformance",
                                         .enabled = true,
                                         .is_http = true,
                                         .url = argv[1],
                                         .era = modern ? CS_ERA_MODERN : CS_ERA_LEGACY,
                                         .client_id = text(&p, &context, "client_id"),
                                         .client_secret = text(&p, &context, "client_secret"),
                                         .timeout_ms = PATIENCE_MS,
                                         .max_result_bytes = CS_CALL_RESULT_MAX};
    if (cs_fetcher_start(p.loop, &p.http, &err) < 0 ||
        cs_oauth_new(p.http, dir, &p.oauth, &err) < 0) {
        fprintf(stderr, "conformance_client: %s\n", err.msg);
        return 2;
    }
    const struct cs_client_options options = {
        .http = p.http, .oauth = p.oauth, .can_elicit = true, .can_sample = false};
    const struct cs_client_events events = {
        .changed = on_changed, .listed = on_listed, .log = on_log, .ask = on_ask};
    p.client = cs_client_new(p.loop, &p.server, &options, &events, &p);
    bool good = scenario(&p, &context), closed = false;
    cs_client_close(p.client, on_closed, &closed);
    while (!closed && uv_run(p.loop, UV_RUN_ONCE))
        ;
    cs_oauth_free(p.oauth);
    cs_fetcher_stop(p.http, NULL, NULL);
    uv_run(p.loop, UV_RUN_DEFAULT);
    int left = uv_loop_close(p.loop);
    cs_buf_done(&p.tools);
    cs_buf_done(&p.held_answer);
    cs_arena_done(&p.arena);
    int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    unlinkat(at, "oauth.json", 0);
    unlinkat(at, "oauth.json.lock", 0);
    close(at);
    rmdir(dir);
    if (left != 0)
        fprintf(stderr, "conformance_client: handles are left: %s\n", uv_strerror(left));
    return good && left == 0 ? 0 : 1;
}

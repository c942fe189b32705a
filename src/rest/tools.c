/* Tools of all servers: listed, found, described, called. */
#include <string.h>

#include "rest/inside.h"

static const char *const risks[] = {
    [CS_TOOL_LOW] = "low", [CS_TOOL_MEDIUM] = "medium", [CS_TOOL_HIGH] = "high"};

/* What policy refuses to the caller anyway is not shown either. */
static bool allowed(void *ctx, const struct cs_tool *t)
{
    const struct cs_visit *v = ctx;
    if (!v->rest || !v->rest->o.runner)
        return true;
    const struct cs_target target = {t->server, t->server_ident, t->name, t->ident};
    const struct cs_policy *policy = cs_runner_policy(v->rest->o.runner);
    return cs_policy_grant(policy, cs_str(v->caller.principal), &target, NULL) != CS_GRANT_DENY;
}

static void on_known(void *ctx)
{
    struct cs_visit *v = ctx;
    v->await = NULL;
    v->then(v);
}

/* Goes on once it is known what that server (empty: every server) offers, or that it does not say.
 */
static void when_known(struct cs_visit *v, struct cs_str server, uint32_t ms,
                       void (*then)(struct cs_visit *v))
{
    v->then = then;
    v->await = cs_tools_await(v->rest->o.tools, server, false, ms, on_known, v);
}

static void no_server(struct cs_visit *v, struct cs_str server)
{
    CS_AUTO_BUF struct cs_buf near = {0};
    if (v->rest->o.tools) {
        struct cs_catalogue *catalogue = cs_tools_current(v->rest->o.tools);
        cs_tools_near(v->rest->o.tools, catalogue, server, (struct cs_str){0}, allowed, v, &near);
        cs_catalogue_unref(catalogue);
    }
    cs_visit_failf(v, 0, CS_MISSING, "there is no server '%.*s'%s%s",
                   (int)(server.len < 100 ? server.len : 100), server.at,
                   near.len ? "; near to it: " : "", cs_buf_cstr(&near));
}

/* Is there such a server at all? */
static bool is_server(struct cs_visit *v, struct cs_str server)
{
    if (!v->rest->o.tools)
        return false;
    struct cs_catalogue *catalogue = cs_tools_current(v->rest->o.tools);
    bool known = cs_catalogue_server(catalogue, server).len > 0;
    cs_catalogue_unref(catalogue);
    return known;
}

/* --- lists --- */

static void put_name(struct cs_json_writer *w, const struct cs_tool *t)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_printf(&text, "%.*s.%.*s", CS_STR_ARG(t->server_ident), CS_STR_ARG(t->ident));
    cs_put_text(w, "tool", cs_buf_str(&text));
    cs_put_text(w, "server", t->server);
    cs_put_text(w, "name", t->name);
    cs_put_text(w, "title", t->title);
    cs_put_text(w, "description", t->description);
    cs_buf_clear(&text);
    cs_buf_printf(&text, "/mcp-servers/%.*s/%.*s.ts", CS_STR_ARG(t->server), CS_STR_ARG(t->ident));
    cs_put_text(w, "path", cs_buf_str(&text));
    cs_put_text(w, "risk", cs_str(risks[t->risk]));
    cs_put_text(w, "standing", cs_str(cs_tool_standing_name(cs_tool_standing(t))));
    const struct {
        const char *name;
        bool value;
    } hints[] = {{"read_only", t->read_only},
                 {"destructive", t->destructive},
                 {"idempotent", t->idempotent},
                 {"open_world", t->open_world}};
    for (size_t i = 0; i < CS_COUNT(hints); i++) {
        cs_json_key(w, hints[i].name);
        cs_json_put_bool(w, hints[i].value);
    }
}

static void put_page(struct cs_visit *v, struct cs_json_writer *w,
                     const struct cs_catalogue *catalogue, size_t *total)
{
    struct cs_str server = cs_catalogue_server(catalogue, v->server);
    for (size_t i = 0; i < cs_catalogue_count(catalogue); i++) {
        const struct cs_tool *t = cs_catalogue_at(catalogue, i);
        if ((v->server.len && !cs_str_eq(t->server, server)) || !allowed(v, t))
            continue;
        if (*total >= v->offset && *total - v->offset < v->limit) {
            cs_json_open(w, '{');
            put_name(w, t);
            cs_json_close(w, '}');
        }
        ++*total;
    }
}

static void answer_tools(struct cs_visit *v)
{
    struct cs_catalogue *catalogue = cs_tools_current(v->rest->o.tools);
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    size_t total = 0;
    cs_json_open(&w, '{');
    cs_json_key(&w, "tools");
    cs_json_open(&w, '[');
    put_page(v, &w, catalogue, &total);
    cs_json_close(&w, ']');
    cs_put_number(&w, "total", total);
    cs_json_key(&w, "complete");
    cs_json_put_bool(&w, v->server.len ? cs_catalogue_listed(catalogue, v->server)
                                       : cs_catalogue_complete(catalogue));
    if (total > v->offset + v->limit) {
        CS_AUTO_BUF struct cs_buf next = {0};
        cs_buf_printf(&next, "/tools?limit=%zu&offset=%llu", v->limit,
                      (unsigned long long)(v->offset + v->limit));
        if (v->server.len) {
            cs_buf_puts(&next, "&server=");
            cs_put_percent(&next, v->server);
        }
        cs_put_text(&w, "next", cs_buf_str(&next));
    }
    cs_json_close(&w, '}');
    cs_catalogue_unref(catalogue);
    cs_visit_json(v, 200, &json);
}

/* ?server, limit and offset. False: it was answered. */
static bool read_page(struct cs_visit *v, uint64_t most, uint64_t otherwise)
{
    uint64_t limit = 0;
    if (!cs_visit_number(v, "limit", 1, most, otherwise, &limit) ||
        !cs_visit_number(v, "offset", 0, 1000000, 0, &v->offset))
        return false;
    v->limit = limit;
    v->server = cs_visit_query(v, "server");
    if (v->server.len && !is_server(v, v->server)) {
        no_server(v, v->server);
        return false;
    }
    return true;
}

void cs_rest_get_tools(struct cs_visit *v)
{
    if (!read_page(v, CS_REST_PAGE_MOST, CS_REST_PAGE))
        return;
    if (!v->rest->o.tools)
        cs_visit_reply(v, 200, "application/json",
                       CS_STR("{\"tools\":[],\"total\":0,\"complete\":true}"));
    else
        when_known(v, v->server, CS_REST_LIST_MS, answer_tools);
}

/* --- search --- */

static int read_detail(struct cs_str name, enum cs_detail *detail, struct cs_err *err)
{
    static const char *const names[] = {"name", "summary", "full"};
    *detail = CS_DETAIL_SUMMARY;
    if (!name.len)
        return 0;
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        if (cs_str_is(name, names[i])) {
            *detail = (enum cs_detail)i;
            return 0;
        }
    }
    return cs_fail(err, CS_INVALID, "detail must be name, summary or full");
}

static void answer_search(struct cs_visit *v)
{
    struct cs_catalogue *catalogue = cs_tools_current(v->rest->o.tools);
    CS_AUTO_BUF struct cs_buf json = {0};
    const struct cs_find find = {.query = v->query,
                                 .server = v->server,
                                 .limit = v->limit,
                                 .offset = v->offset,
                                 .detail = v->detail,
                                 .allowed = allowed,
                                 .ctx = v};
    cs_tools_find(v->rest->o.tools, catalogue, &find, &json);
    cs_catalogue_unref(catalogue);
    cs_visit_json(v, 200, &json);
}

void cs_rest_search_tools(struct cs_visit *v)
{
    struct cs_err err = {0};
    if (!read_page(v, 50, 5))
        return;
    v->query = cs_visit_query(v, "q");
    if (v->query.len > 1000)
        cs_visit_failf(v, 0, CS_INVALID, "q: at most 1000 bytes");
    else if (read_detail(cs_visit_query(v, "detail"), &v->detail, &err) < 0)
        cs_visit_fail(v, 0, &err);
    else if (!v->rest->o.tools)
        cs_visit_reply(v, 200, "application/json", CS_STR("{\"tools\":[],\"total\":0}"));
    else
        when_known(v, v->server, CS_REST_LIST_MS, answer_search);
}

/* --- one tool --- */

struct why {
    struct cs_str server;
    struct cs_err *err;
};

static void tell(void *ctx, const struct cs_server_state *state)
{
    struct why *why = ctx;
    if (!cs_str_eq(state->name, why->server))
        return;
    if (strcmp(state->state, "disabled") == 0)
        cs_fail(why->err, CS_MISSING, "the server '%.*s' is disabled", CS_STR_ARG(state->name));
    else if (state->error.len)
        cs_fail(why->err, CS_UPSTREAM, "%.*s", CS_STR_ARG(state->error));
    else
        cs_fail(why->err, CS_UPSTREAM, "the server '%.*s' has not answered yet (%s)",
                CS_STR_ARG(state->name), state->state);
}

/* Why there is no such tool. */
static void explain(struct cs_visit *v, const struct cs_catalogue *catalogue, struct cs_err *err)
{
    struct why why = {cs_catalogue_server(catalogue, v->parts[0]), err};
    cs_fail(err, CS_MISSING, "there is no server '%.*s'", CS_STR_ARG(v->parts[0]));
    if (why.server.len && !cs_catalogue_listed(catalogue, v->parts[0])) {
        cs_tools_servers(v->rest->o.tools, tell, &why);
        return;
    }
    CS_AUTO_BUF struct cs_buf near = {0};
    cs_tools_near(v->rest->o.tools, catalogue, v->parts[0], v->parts[1], allowed, v, &near);
    cs_fail(err, CS_MISSING, "the server '%.*s' has no tool '%.*s'%s%s", CS_STR_ARG(v->parts[0]),
            (int)(v->parts[1].len < 100 ? v->parts[1].len : 100), v->parts[1].at,
            near.len ? "; near to it: " : "", cs_buf_cstr(&near));
}

static void answer_tool(struct cs_visit *v)
{
    struct cs_catalogue *catalogue = cs_tools_current(v->rest->o.tools);
    const struct cs_tool *t = cs_catalogue_find(catalogue, v->parts[0], v->parts[1]);
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf json = {0}, text = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    if (!t || !allowed(v, t)) {
        explain(v, catalogue, &err);
    } else {
        cs_json_open(&w, '{');
        put_name(&w, t);
        cs_json_key(&w, "definition");
        cs_json_put_raw(&w, t->definition);
        if (t->learned_output.len) {
            cs_json_key(&w, "learned_output");
            cs_json_put_raw(&w, t->learned_output);
        }
        cs_buf_printf(&text, "/mcp-servers/%.*s/%.*s.ts", CS_STR_ARG(t->server),
                      CS_STR_ARG(t->ident));
        CS_AUTO_BUF struct cs_buf source = {0};
        struct cs_err ignored = {0};
        if (cs_tools_read(v->rest->o.tools, catalogue, cs_buf_str(&text), allowed, v, &source,
                          &ignored) == 0)
            cs_put_text(&w, "typescript", cs_buf_str(&source));
        cs_json_close(&w, '}');
    }
    cs_catalogue_unref(catalogue);
    if (err.code != CS_OK)
        cs_visit_fail(v, 0, &err);
    else
        cs_visit_json(v, 200, &json);
}

void cs_rest_get_tool(struct cs_visit *v)
{
    if (!is_server(v, v->parts[0]))
        no_server(v, v->parts[0]);
    else
        when_known(v, v->parts[0], CS_REST_SERVER_MS, answer_tool);
}

/* --- a call: an execution that makes it --- */

static void call_tool(struct cs_visit *v)
{
    struct cs_catalogue *catalogue = cs_tools_current(v->rest->o.tools);
    const struct cs_tool *t = cs_catalogue_find(catalogue, v->parts[0], v->parts[1]);
    uint32_t its_own = t ? t->timeout_ms : 0;
    struct cs_err err = {0};
    if (!t)
        explain(v, catalogue, &err);
    cs_catalogue_unref(catalogue);
    if (err.code != CS_OK) {
        cs_visit_fail(v, 0, &err);
        return;
    }
    CS_AUTO_BUF struct cs_buf inputs = {0};
    struct cs_request request =
        cs_request_call(v->parts[0], v->parts[1], cs_json_raw(cs_json_root(&v->body)), &inputs);
    /* The call has its own time; the execution around it starts the server, if need be. */
    uint64_t most = cs_policy_ceiling(NULL, CS_RISK_LOW).wall_clock;
    request.limits.wall_clock = v->timeout_ms ? v->timeout_ms : v->rest->o.timeout_ms + its_own;
    if (request.limits.wall_clock > most)
        request.limits.wall_clock = most;
    cs_visit_run(v, &request);
}

void cs_rest_post_tool(struct cs_visit *v)
{
    struct cs_err err = {0};
    uint64_t most = cs_policy_ceiling(NULL, CS_RISK_LOW).wall_clock;
    struct cs_str body = cs_exchange_body(v->x);
    if (!cs_visit_number(v, "timeout_ms", 1, most, 0, &v->timeout_ms))
        return;
    /* It would be thought that what the session has seen counts. */
    if (cs_exchange_query(v->x, "session_id").at)
        cs_visit_failf(v, 0, CS_INVALID,
                       "session_id: a call by itself is in no session; POST /executions runs a "
                       "program in one");
    else if (cs_rest_read_object(body, NULL, &v->body, &v->arena, &err) < 0)
        cs_visit_fail(v, 0, &err);
    else if (!is_server(v, v->parts[0]))
        no_server(v, v->parts[0]);
    else
        when_known(v, v->parts[0], CS_REST_SERVER_MS, call_tool);
}

/* --- servers --- */

static void put_server(void *ctx, const struct cs_server_state *state)
{
    struct cs_json_writer *w = ctx;
    cs_json_open(w, '{');
    cs_put_text(w, "server", state->name);
    cs_put_text(w, "kind", state->kind);
    cs_put_text(w, "state", cs_str(state->state));
    cs_put_text(w, "version", state->version);
    cs_put_text(w, "protocol", state->protocol);
    cs_put_number(w, "tools", state->tools);
    cs_put_text(w, "error", state->error);
    cs_put_number(w, "restarts", state->restarts);
    cs_put_time(w, "listed_at", state->listed_at * 1000);
    cs_json_close(w, '}');
}

void cs_rest_get_servers(struct cs_visit *v)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_json_key(&w, "servers");
    cs_json_open(&w, '[');
    if (v->rest->o.tools)
        cs_tools_servers(v->rest->o.tools, put_server, &w);
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    cs_visit_json(v, 200, &json);
}

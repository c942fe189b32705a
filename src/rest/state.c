/* How it is doing: /, /health, /statistics. */
#include <string.h>

#include "rest/inside.h"

/* --- / --- */

static void put_link(struct cs_json_writer *w, const char *name, const char *path)
{
    cs_json_key(w, name);
    cs_json_put_z(w, path);
}

static void root_html(const struct cs_rest *rest, struct cs_buf *out)
{
    size_t count;
    const struct cs_route *routes = cs_routes(&count);
    cs_buf_printf(out,
                  "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                  "<title>Caisson</title></head>\n<body><h1>Caisson %s</h1>\n"
                  "<p>Programs of agents run here, next to the tools they use. "
                  "<a href=\"/openapi.json\">OpenAPI description</a>, "
                  "<a href=\"/health\">health</a>",
                  CS_VERSION);
    if (rest->o.mcp_path)
        cs_buf_printf(out, "; MCP clients connect to <code>%s</code>", rest->o.mcp_path);
    cs_buf_puts(out, ".</p>\n<table>\n");
    for (size_t i = 0; i < count; i++) {
        int len = (int)strcspn(routes[i].path, "*");
        const char *end = routes[i].path[len] ? "}" : "";
        cs_buf_printf(out,
                      "<tr><td><code>%s</code></td><td><code>%.*s%s</code></td><td>%s</td></tr>\n",
                      routes[i].method, len, routes[i].path, end, routes[i].summary);
    }
    cs_buf_puts(out, "</table></body></html>\n");
}

void cs_rest_get_root(struct cs_visit *v)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_visit_set(v, "Vary", CS_STR("Accept"));
    if (cs_visit_accepts(v, "text/html", "application/json")) {
        root_html(v->rest, &out);
        cs_visit_set(v, "Content-Security-Policy", CS_STR("default-src 'none'"));
        cs_visit_reply(v, 200, "text/html; charset=utf-8", cs_buf_str(&out));
        return;
    }
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_put_text(&w, "name", CS_STR("caisson"));
    cs_put_text(&w, "version", CS_STR(CS_VERSION));
    cs_json_key(&w, "links");
    cs_json_open(&w, '{');
    put_link(&w, "docs", "/");
    put_link(&w, "openapi", "/openapi.json");
    put_link(&w, "health", "/health");
    if (v->rest->o.mcp_path)
        put_link(&w, "mcp", v->rest->o.mcp_path);
    cs_json_close(&w, '}');
    cs_json_close(&w, '}');
    cs_visit_json(v, 200, &out);
}

void cs_rest_get_openapi(struct cs_visit *v)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    cs_rest_openapi(&json);
    cs_visit_json(v, 200, &json);
}

/* --- /health --- */

struct servers {
    struct cs_json_writer *w; /* NULL: only counted */
    unsigned total, failed;
};

static void look_at_server(void *ctx, const struct cs_server_state *state)
{
    struct servers *s = ctx;
    bool failed = strcmp(state->state, "failed") == 0;
    s->total++;
    s->failed += failed;
    if (!s->w)
        return;
    cs_json_key_str(s->w, state->name);
    cs_json_put_z(s->w, state->state);
}

static bool put_servers(const struct cs_visit *v, struct cs_json_writer *w)
{
    struct servers s = {0};
    if (v->rest->o.tools)
        cs_tools_servers(v->rest->o.tools, look_at_server, &s);
    cs_json_key(w, "servers");
    cs_json_open(w, '{');
    cs_put_text(w, "status", s.failed ? CS_STR("degraded") : CS_STR("ok"));
    cs_put_number(w, "total", s.total);
    cs_put_number(w, "failed", s.failed);
    if (v->rest->o.tools && v->is_known) { /* names are for those who may use them */
        struct servers named = {.w = w};
        cs_json_key(w, "states");
        cs_json_open(w, '{');
        cs_tools_servers(v->rest->o.tools, look_at_server, &named);
        cs_json_close(w, '}');
    }
    cs_json_close(w, '}');
    return s.failed == 0;
}

static bool put_store(const struct cs_visit *v, struct cs_json_writer *w)
{
    struct cs_err err = {0};
    cs_store_health(v->rest->o.store, &err);
    cs_json_key(w, "store");
    cs_json_open(w, '{');
    cs_put_text(w, "status", err.code == CS_OK ? CS_STR("ok") : CS_STR("unavailable"));
    if (err.code != CS_OK && v->is_known)
        cs_put_text(w, "error", cs_str(err.msg));
    cs_json_close(w, '}');
    return err.code == CS_OK;
}

/* Whoever broke the rules while it runs must not believe that the new ones count. */
static bool put_policy(const struct cs_visit *v, struct cs_json_writer *w)
{
    const char *refused = v->rest->o.policy_refused;
    bool ok = !refused || !*refused;
    cs_json_key(w, "policy");
    cs_json_open(w, '{');
    cs_put_text(w, "status", ok ? CS_STR("ok") : CS_STR("degraded"));
    if (!ok && v->is_known)
        cs_put_text(w, "error", cs_str(refused));
    cs_json_close(w, '}');
    return ok;
}

/* Without a ready worker it is starting, broken, or has its hands full; the last is fine. */
static bool put_sandbox(struct cs_json_writer *w, const struct cs_figures *f)
{
    bool ok = f->ready > 0 || f->running > 0;
    cs_json_key(w, "sandbox");
    cs_json_open(w, '{');
    cs_put_text(w, "status", ok ? CS_STR("ok") : CS_STR("unavailable"));
    cs_put_number(w, "ready_workers", f->ready);
    cs_json_close(w, '}');
    cs_json_key(w, "queue");
    cs_json_open(w, '{');
    cs_put_number(w, "running", f->running);
    cs_put_number(w, "waiting", f->waiting);
    cs_json_close(w, '}');
    return ok;
}

void cs_rest_get_health(struct cs_visit *v)
{
    CS_AUTO_BUF struct cs_buf parts = {0}, json = {0};
    struct cs_json_writer p = CS_JSON_WRITER(&parts), w = CS_JSON_WRITER(&json);
    struct cs_figures figures = {0};
    cs_runner_figures(v->rest->o.runner, &figures);
    cs_json_open(&p, '{');
    bool store = put_store(v, &p), sandbox = put_sandbox(&p, &figures),
         servers = put_servers(v, &p), policy = put_policy(v, &p);
    cs_json_close(&p, '}');
    bool usable = store && sandbox;
    cs_json_open(&w, '{');
    cs_put_text(&w, "status",
                !usable               ? CS_STR("unavailable")
                : !servers || !policy ? CS_STR("degraded")
                                      : CS_STR("ok"));
    cs_put_text(&w, "version", CS_STR(CS_VERSION));
    cs_json_key(&w, "parts");
    cs_json_put_raw(&w, cs_buf_str(&parts));
    cs_json_close(&w, '}');
    cs_visit_json(v, usable ? 200 : 503, &json);
}

/* --- /statistics --- */

static void on_figures(void *ctx, const struct cs_err *err, struct cs_str figures)
{
    struct cs_visit *v = ctx;
    if (err->code != CS_OK) {
        cs_visit_fail(v, 0, err);
        return;
    }
    /* What is known of this process alone is put before the last brace. */
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_figures f = {0};
    if (v->rest) {
        cs_runner_figures(v->rest->o.runner, &f);
        cs_buf_putstr(&json, cs_strn(figures.at, figures.len - 1));
        cs_buf_printf(&json, ",\"ready_workers\":%u}", f.ready);
    }
    cs_visit_json(v, 200, &json);
}

/* Whose figures? False: it was answered. */
static bool read_tenant(struct cs_visit *v, struct cs_str *tenant)
{
    struct cs_str asked = cs_visit_query(v, "tenant");
    *tenant = cs_visit_tenant(v);
    if (!asked.len || cs_str_eq(asked, *tenant))
        return true;
    if (v->caller.role != CS_KEY_ADMIN) {
        cs_visit_failf(v, 403, CS_DENIED,
                       "the figures of other tenants are for keys with the role admin");
        return false;
    }
    if (!cs_str_is(asked, "*") && !cs_key_name_ok(asked)) {
        cs_visit_failf(v, 400, CS_INVALID, "tenant: a name, or * for all");
        return false;
    }
    *tenant = cs_str_is(asked, "*") ? (struct cs_str){0} : asked;
    return true;
}

void cs_rest_get_statistics(struct cs_visit *v)
{
    struct cs_str window = cs_visit_query(v, "window"), tenant;
    int64_t ms = 0;
    if (!cs_watch_window(window.len ? window : CS_STR("24h"), &ms)) {
        cs_visit_failf(v, 400, CS_INVALID, "window: one of " CS_WATCH_WINDOWS);
        return;
    }
    if (read_tenant(v, &tenant))
        cs_watch_figures(v->rest->o.watch, tenant, ms, on_figures, v);
}

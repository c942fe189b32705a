/* Which protocol a server speaks: asked with server/discover first, then with initialize. */
#include "tools/client_in.h"

#define TEXT_MAX 65536u /* of what a server says about itself */

static const char *const legacy[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

void cs_era_declare(struct cs_client *c)
{
    struct cs_json_writer w = CS_JSON_WRITER(&c->capabilities);
    cs_json_open(&w, '{');
    if (c->options.can_elicit || c->options.can_elicit_url) {
        cs_json_key(&w, "elicitation");
        cs_json_open(&w, '{');
        /* Without a mode it means forms, and older servers know nothing else. */
        if (c->options.can_elicit && c->options.can_elicit_url) {
            cs_json_key(&w, "form");
            cs_json_put_raw(&w, CS_STR("{}"));
        }
        if (c->options.can_elicit_url) {
            cs_json_key(&w, "url");
            cs_json_put_raw(&w, CS_STR("{}"));
        }
        cs_json_close(&w, '}');
    }
    if (c->options.can_sample) {
        cs_json_key(&w, "sampling");
        cs_json_put_raw(&w, CS_STR("{}"));
    }
    if (c->server->roots && c->server->roots[0]) {
        cs_json_key(&w, "roots");
        cs_json_put_raw(&w, CS_STR("{}"));
    }
    cs_json_close(&w, '}');
    cs_buf_puts(&c->meta, "\"io.modelcontextprotocol/protocolVersion\":\"" CS_MCP_MODERN
                          "\",\"io.modelcontextprotocol/clientInfo\":"
                          "{\"name\":\"caisson\",\"version\":\"" CS_VERSION
                          "\"},\"io.modelcontextprotocol/clientCapabilities\":");
    cs_buf_putstr(&c->meta, cs_buf_str(&c->capabilities));
}

static void discover(struct cs_client *c, struct cs_client_call *r)
{
    c->modern = true;
    c->phase = CS_CONN_PROBING;
    r->string_id = true;
    r->due = cs_client_now() + (uint64_t)c->parts.probe * (c->server->is_http ? 10 : 1);
    cs_request_begin(r, "server/discover");
    cs_request_send(r, "server/discover", (struct cs_str){0}, NULL);
}

void cs_era_initialize(struct cs_client *c)
{
    c->modern = false;
    c->phase = CS_CONN_INITIALIZING;
    cs_buf_clear(&c->protocol);
    struct cs_client_call *r = cs_request_new(c, CS_REQ_INITIALIZE, (struct cs_str){0});
    r->due = cs_client_now() + c->parts.connect;
    cs_request_begin(r, "initialize");
    c->session_from = r->id;
    cs_buf_puts(&c->out, "\"protocolVersion\":\"" CS_MCP_LEGACY "\",\"capabilities\":");
    cs_buf_putstr(&c->out, cs_buf_str(&c->capabilities));
    cs_buf_puts(&c->out, ",\"clientInfo\":{\"name\":\"caisson\",\"version\":\"" CS_VERSION "\"}");
    cs_request_send(r, "initialize", (struct cs_str){0}, NULL);
}

void cs_era_begin(struct cs_client *c)
{
    bool known = c->verdict == CS_ERA_LEGACY && cs_client_now() - c->verdict_at < c->parts.verdict;
    if (c->server->era == CS_ERA_LEGACY || (c->server->era == CS_ERA_AUTO && known)) {
        cs_era_initialize(c);
        return;
    }
    discover(c, cs_request_new(c, CS_REQ_DISCOVER, (struct cs_str){0}));
}

static bool names(struct cs_json_val versions, const char *version)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_type(versions) == CS_JSON_ARRAY && cs_json_next(versions, &it, NULL, &item))
        if (cs_json_is(item, version))
            return true;
    return false;
}

bool cs_era_offers_ours(const struct cs_answer *a)
{
    return a->code == CS_RPC_VERSION && names(cs_json_get(a->data, "supported"), CS_MCP_MODERN);
}

static bool names_legacy(struct cs_json_val versions)
{
    for (size_t i = 0; i < CS_COUNT(legacy); i++)
        if (names(versions, legacy[i]))
            return true;
    return false;
}

static void keep_text(struct cs_buf *to, struct cs_json_val v)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str s = cs_json_str(v, &arena);
    cs_buf_clear(to);
    cs_buf_put(to, s.at, s.len < TEXT_MAX ? s.len : TEXT_MAX);
}

/* What both answers have in common. */
static void keep_about(struct cs_client *c, struct cs_json_val result, struct cs_json_val about)
{
    struct cs_json_val capabilities = cs_json_get(result, "capabilities");
    struct cs_json_val tools = cs_json_get(capabilities, "tools");
    bool changing = false;
    cs_json_bool(cs_json_get(tools, "listChanged"), &changing);
    c->tools_changing = changing;
    c->tools_undeclared =
        cs_json_type(capabilities) == CS_JSON_OBJECT && cs_json_type(tools) == CS_JSON_NONE;
    keep_text(&c->name, cs_json_get(about, "name"));
    keep_text(&c->version, cs_json_get(about, "version"));
    keep_text(&c->instructions, cs_json_get(result, "instructions"));
}

/* Whatever else was sent to find out has lost its point. */
static void drop_handshake(struct cs_client *c)
{
    struct cs_link *next;
    for (struct cs_link *l = c->requests.next; l != &c->requests; l = next) {
        struct cs_client_call *r = cs_link_request(l);
        next = l->next;
        if (r->kind == CS_REQ_DISCOVER || r->kind == CS_REQ_INITIALIZE)
            cs_request_free(r);
    }
}

static void is_modern(struct cs_client *c, struct cs_json_val result)
{
    drop_handshake(c);
    c->verdict = CS_ERA_MODERN;
    c->verdict_at = cs_client_now();
    c->modern = true;
    cs_buf_clear(&c->protocol);
    cs_buf_puts(&c->protocol, CS_MCP_MODERN);
    struct cs_json_val about =
        cs_json_get(cs_json_get(result, "_meta"), "io.modelcontextprotocol/serverInfo");
    keep_about(c, result,
               cs_json_type(about) == CS_JSON_NONE ? cs_json_get(result, "serverInfo") : about);
    cs_client_shaken(c);
}

void cs_era_discovered(struct cs_client *c, struct cs_client_call *r, const struct cs_answer *a)
{
    bool pinned = c->server->era == CS_ERA_MODERN, late = c->phase == CS_CONN_INITIALIZING;
    if (cs_era_offers_ours(a) && !r->version_retried) {
        r->version_retried = true;
        discover(c, r);
        return;
    }
    cs_request_free(r);
    struct cs_json_val versions =
        a->code ? cs_json_get(a->data, "supported") : cs_json_get(a->result, "supportedVersions");
    if (!a->code && names(versions, CS_MCP_MODERN)) {
        is_modern(c, a->result);
        return;
    }
    if (late)
        return;
    /* Told to take it for modern, we can do without what server/discover would have said. */
    if (pinned && a->code == CS_RPC_NO_METHOD) {
        is_modern(c, (struct cs_json_val){0});
        return;
    }
    bool other_modern = (a->code == CS_RPC_VERSION || (!a->code && cs_json_count(versions) > 0)) &&
                        !names_legacy(versions);
    if (!pinned && !other_modern) {
        c->verdict = CS_ERA_LEGACY;
        c->verdict_at = cs_client_now();
        cs_era_initialize(c);
        return;
    }
    struct cs_err err = {0};
    char words[256];
    if (a->code && a->code != CS_RPC_VERSION)
        cs_fail(&err, CS_UPSTREAM, "server '%s' refused server/discover: %s (%d)", c->server->name,
                cs_answer_words(a, words, sizeof words), a->code);
    else
        cs_fail(&err, CS_UPSTREAM, "server '%s' does not speak " CS_MCP_MODERN ", but %.*s",
                c->server->name,
                (int)(cs_json_raw(versions).len < 200 ? cs_json_raw(versions).len : 200),
                cs_json_raw(versions).at ? cs_json_raw(versions).at : "nothing that it names");
    cs_client_lost(c, &err);
}

void cs_era_initialized(struct cs_client *c, const struct cs_answer *a)
{
    struct cs_err err = {0};
    if (a->code) {
        char words[256];
        cs_fail(&err, CS_UPSTREAM, "server '%s' refused to be initialised: %s (%d)",
                c->server->name, cs_answer_words(a, words, sizeof words), a->code);
        cs_client_lost(c, &err);
        return;
    }
    struct cs_json_val version = cs_json_get(a->result, "protocolVersion");
    const char *spoken = NULL;
    for (size_t i = 0; i < CS_COUNT(legacy) && !spoken; i++)
        if (cs_json_is(version, legacy[i]))
            spoken = legacy[i];
    if (!spoken) {
        struct cs_str raw = cs_json_raw(version);
        cs_fail(&err, CS_UPSTREAM,
                "server '%s' speaks protocol version %.*s, which is unknown here", c->server->name,
                (int)(raw.len < 60 ? raw.len : 60), raw.at ? raw.at : "(none)");
        cs_client_lost(c, &err);
        return;
    }
    drop_handshake(c);
    c->modern = false;
    c->verdict = CS_ERA_LEGACY;
    c->verdict_at = cs_client_now();
    cs_buf_clear(&c->protocol);
    cs_buf_puts(&c->protocol, spoken);
    keep_about(c, a->result, cs_json_get(a->result, "serverInfo"));
    cs_client_notify(c, "notifications/initialized", (struct cs_str){0});
    if (c->transport && c->phase == CS_CONN_INITIALIZING)
        c->transport->ops->listen(c->transport, spoken);
    cs_client_shaken(c);
}

/* Revisions of the protocol: what they are called, how they begin, and what is agreed on then. */
#include "mcp/proto.h"

const char *const cs_version_names[] = {
    [CS_V2024] = "2024-11-05",    [CS_V2025_03] = "2025-03-26", [CS_V2025_06] = "2025-06-18",
    [CS_V2025_11] = "2025-11-25", [CS_VMODERN] = "2026-07-28",
};

static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                     "error", "critical", "alert",  "emergency"};

/* method, first and last revision that has it, who answers */
const struct cs_proto_method cs_proto_methods[] = {
    {"initialize", CS_V2024, CS_V2025_11, cs_hello_initialize},
    {"ping", CS_V2024, CS_V2025_11, cs_hello_ping},
    {"logging/setLevel", CS_V2024, CS_V2025_11, cs_hello_set_level},
    {"resources/subscribe", CS_V2024, CS_V2025_11, cs_sub_subscribe},
    {"resources/unsubscribe", CS_V2024, CS_V2025_11, cs_sub_unsubscribe},
    {"tasks/get", CS_V2025_11, CS_V2025_11, cs_tasks_old_get},
    {"tasks/result", CS_V2025_11, CS_V2025_11, cs_tasks_old_result},
    {"tasks/list", CS_V2025_11, CS_V2025_11, cs_tasks_old_list},
    {"tasks/cancel", CS_V2025_11, CS_V2025_11, cs_tasks_old_cancel},
    {"server/discover", CS_VMODERN, CS_VMODERN, cs_hello_discover},
    {"subscriptions/listen", CS_VMODERN, CS_VMODERN, cs_listen_start},
    {"tasks/get", CS_VMODERN, CS_VMODERN, cs_tasks_get},
    {"tasks/update", CS_VMODERN, CS_VMODERN, cs_tasks_update},
    {"tasks/cancel", CS_VMODERN, CS_VMODERN, cs_tasks_cancel},
    {0},
};

enum cs_version cs_version_find(struct cs_str name)
{
    for (enum cs_version v = CS_V2024; v < CS_VNONE; v++)
        if (cs_str_is(name, cs_version_names[v]))
            return v;
    return CS_VNONE;
}

/* Those that requests can name by themselves. */
void cs_put_versions(struct cs_json_writer *w)
{
    cs_json_open(w, '[');
    cs_json_put_z(w, cs_version_names[CS_VMODERN]);
    cs_json_close(w, ']');
}

int cs_level_find(struct cs_str name)
{
    for (int i = 0; i < 8; i++)
        if (cs_str_is(name, levels[i]))
            return i;
    return -1;
}

static bool is_object(struct cs_json_val v)
{
    return cs_json_type(v) == CS_JSON_OBJECT;
}

unsigned cs_caps_asks(struct cs_json_val capabilities)
{
    struct cs_json_val elicitation = cs_json_get(capabilities, "elicitation");
    bool url = is_object(cs_json_get(elicitation, "url"));
    bool form = is_object(cs_json_get(elicitation, "form"));
    unsigned asks = 0;
    if (is_object(elicitation) && (form || !url))
        asks |= 1u << CS_ASK_FORM;
    if (url)
        asks |= 1u << CS_ASK_URL;
    if (is_object(cs_json_get(capabilities, "sampling")))
        asks |= 1u << CS_ASK_SAMPLE;
    if (is_object(cs_json_get(capabilities, "roots")))
        asks |= 1u << CS_ASK_ROOTS;
    return asks;
}

bool cs_caps_offered(const struct cs_mcp *m, const char *what, const char *how)
{
    bool yes = false;
    struct cs_json_val v = cs_json_get(cs_json_root(&m->capabilities), what);
    if (!how)
        return is_object(v);
    return cs_json_bool(cs_json_get(v, how), &yes) && yes;
}

int cs_envelope_read(struct cs_json_val params, struct cs_arena *arena, struct cs_envelope_in *e,
                     const char **why)
{
    struct cs_json_val meta = cs_json_get(params, "_meta");
    struct cs_json_val version = cs_json_get(meta, "io.modelcontextprotocol/protocolVersion");
    struct cs_json_val caps = cs_json_get(meta, "io.modelcontextprotocol/clientCapabilities");
    struct cs_json_val level = cs_json_get(meta, "io.modelcontextprotocol/logLevel");
    *e = (struct cs_envelope_in){.level = 8};
    *why = NULL;
    if (!is_object(meta))
        *why = "params._meta is missing: every request must carry its protocol version and the "
               "client's capabilities";
    else if (cs_json_type(version) != CS_JSON_STRING)
        *why = "params._meta[\"io.modelcontextprotocol/protocolVersion\"] is missing or no text";
    else if (!is_object(caps))
        *why = "params._meta[\"io.modelcontextprotocol/clientCapabilities\"] is missing or no "
               "object";
    if (*why)
        return -1;
    e->name = cs_json_str(version, arena);
    e->version = cs_version_find(e->name);
    e->asks = cs_caps_asks(caps);
    e->tasks =
        is_object(cs_json_get(cs_json_get(caps, "extensions"), "io.modelcontextprotocol/tasks"));
    if (cs_json_type(level) != CS_JSON_NONE)
        e->level = cs_level_find(cs_json_str(level, arena));
    if (e->level >= 0)
        return 0;
    *why = "params._meta[\"io.modelcontextprotocol/logLevel\"] is no level";
    return -1;
}

/* --- the methods --- */

static void put_capabilities(struct cs_req *req, struct cs_json_writer *w)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    cs_json_open(w, '{');
    while (cs_json_next(cs_json_root(&req->call.mcp->capabilities), &it, &key, &item)) {
        cs_json_key_str(w, cs_json_str(key, &arena));
        cs_json_put_raw(w, cs_json_raw(item));
    }
    cs_json_key(w, "logging");
    cs_json_put_raw(w, CS_STR("{}"));
    if (req->version == CS_VMODERN) {
        cs_json_key(w, "extensions");
        cs_json_put_raw(w, CS_STR("{\"io.modelcontextprotocol/tasks\":{}}"));
    } else if (req->version == CS_V2025_11) {
        cs_json_key(w, "tasks");
        cs_json_put_raw(
            w, CS_STR("{\"list\":{},\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}"));
    }
    cs_json_close(w, '}');
}

static void put_instructions(struct cs_req *req, struct cs_json_writer *w)
{
    const struct cs_mcp_offer *offer = req->call.mcp->offer;
    CS_AUTO_BUF struct cs_buf text = {0};
    if (offer->instruct)
        offer->instruct(req->call.mcp, &req->call.caller, &text);
    else if (offer->instructions)
        cs_buf_puts(&text, offer->instructions);
    if (text.len == 0)
        return;
    cs_json_key(w, "instructions");
    cs_json_put_str(w, cs_buf_str(&text));
}

void cs_put_server_info(const struct cs_mcp *m, struct cs_json_writer *w)
{
    cs_json_open(w, '{');
    cs_json_key(w, "name");
    cs_json_put_z(w, "caisson");
    if (m->offer->title) {
        cs_json_key(w, "title");
        cs_json_put_z(w, m->offer->title);
    }
    cs_json_key(w, "version");
    cs_json_put_z(w, CS_VERSION);
    cs_json_close(w, '}');
}

void cs_hello_initialize(struct cs_req *req)
{
    struct cs_peer *peer = req->peer;
    struct cs_json_val wanted = cs_json_get(req->call.params, "protocolVersion");
    struct cs_str name = cs_json_str(wanted, &req->call.arena);
    if (cs_json_type(wanted) != CS_JSON_STRING) {
        cs_mcp_error(&req->call, CS_RPC_PARAMS, "params.protocolVersion is missing or no text",
                     (struct cs_str){0});
        return;
    }
    enum cs_version version = cs_version_find(name);
    peer->version = version < CS_VMODERN ? version : CS_NEWEST_LEGACY;
    peer->asks = cs_caps_asks(cs_json_get(req->call.params, "capabilities"));
    /* Elicitation came later than the revisions that cannot mean it. */
    if (peer->version < CS_V2025_06)
        peer->asks &= ~(1u << CS_ASK_FORM | 1u << CS_ASK_URL);
    peer->ready = false;
    req->version = peer->version;

    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "protocolVersion");
    cs_json_put_z(&w, cs_version_names[peer->version]);
    cs_json_key(&w, "capabilities");
    put_capabilities(req, &w);
    cs_json_key(&w, "serverInfo");
    cs_put_server_info(req->call.mcp, &w);
    put_instructions(req, &w);
    cs_json_close(&w, '}');
    cs_mcp_result(&req->call, cs_buf_str(&out));
}

void cs_hello_discover(struct cs_req *req)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "supportedVersions");
    cs_put_versions(&w);
    cs_json_key(&w, "capabilities");
    put_capabilities(req, &w);
    put_instructions(req, &w);
    cs_json_close(&w, '}');
    cs_mcp_result(&req->call, cs_buf_str(&out));
}

void cs_hello_set_level(struct cs_req *req)
{
    struct cs_json_val level = cs_json_get(req->call.params, "level");
    int n = cs_level_find(cs_json_str(level, &req->call.arena));
    if (n < 0) {
        cs_mcp_error(&req->call, CS_RPC_PARAMS,
                     "params.level must be one of debug, info, notice, warning, error, critical, "
                     "alert, emergency",
                     (struct cs_str){0});
        return;
    }
    req->peer->level = n;
    cs_mcp_result(&req->call, CS_STR("{}"));
}

void cs_hello_ping(struct cs_req *req)
{
    cs_mcp_result(&req->call, CS_STR("{}"));
}

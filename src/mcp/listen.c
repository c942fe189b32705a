/* What clients want to be told: subscriptions of both kinds. */
#include "base/mem.h"
#include "mcp/proto.h"

static const struct {
    const char *filter, *capability, *method;
} lists[] = {
    [CS_MCP_TOOLS] = {"toolsListChanged", "tools", "notifications/tools/list_changed"},
    [CS_MCP_PROMPTS] = {"promptsListChanged", "prompts", "notifications/prompts/list_changed"},
    [CS_MCP_RESOURCES] = {"resourcesListChanged", "resources",
                          "notifications/resources/list_changed"},
};

struct cs_listen {
    bool lists[3];
    struct cs_uri *uris, *tasks;
    uint32_t count;
    char id[CS_ID_BYTES + 1];
};

/* --- names --- */

static bool has(const struct cs_uri *list, struct cs_str text)
{
    for (; list; list = list->next)
        if (cs_str_eq(cs_strn(list->text, list->len), text))
            return true;
    return false;
}

static void add(struct cs_uri **list, struct cs_str text)
{
    struct cs_uri *u = cs_calloc(1, sizeof *u + text.len + 1);
    u->len = text.len;
    memcpy(u->text, text.at, text.len);
    u->next = *list;
    *list = u;
}

static void free_all(struct cs_uri *list)
{
    while (list) {
        struct cs_uri *next = list->next;
        free(list);
        list = next;
    }
}

/* --- the newest revision --- */

static void put_tag(struct cs_json_writer *w, const struct cs_listen *l)
{
    cs_json_key(w, "_meta");
    cs_json_open(w, '{');
    cs_json_key(w, "io.modelcontextprotocol/subscriptionId");
    cs_json_put_raw(w, cs_str(l->id));
    cs_json_close(w, '}');
}

static void read_names(struct cs_listen *l, struct cs_json_val names, struct cs_uri **list,
                       struct cs_arena *arena)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    if (cs_json_type(names) != CS_JSON_ARRAY)
        return;
    while (l->count < CS_PEER_URIS && cs_json_next(names, &it, NULL, &item)) {
        struct cs_str text = cs_json_str(item, arena);
        if (text.len == 0 || text.len > CS_PEER_URI_BYTES || has(*list, text))
            continue;
        add(list, text);
        l->count++;
    }
}

static void put_names(struct cs_json_writer *w, const char *key, const struct cs_uri *list)
{
    if (!list)
        return;
    cs_json_key(w, key);
    cs_json_open(w, '[');
    for (; list; list = list->next)
        cs_json_put_str(w, cs_strn(list->text, list->len));
    cs_json_close(w, ']');
}

static void acknowledge(struct cs_req *r)
{
    struct cs_listen *l = r->listen;
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = cs_rpc_begin(&out, "notifications/subscriptions/acknowledged");
    cs_json_key(&w, "notifications");
    cs_json_open(&w, '{');
    for (size_t i = 0; i < CS_COUNT(lists); i++)
        if (l->lists[i]) {
            cs_json_key(&w, lists[i].filter);
            cs_json_put_bool(&w, true);
        }
    put_names(&w, "resourceSubscriptions", l->uris);
    put_names(&w, "taskIds", l->tasks);
    cs_json_close(&w, '}');
    put_tag(&w, l);
    cs_rpc_end(&w);
    cs_req_say(r, cs_buf_str(&out), false);
}

static void tell_offer(struct cs_req *r, struct cs_str uri)
{
    const struct cs_mcp_offer *offer = r->call.mcp->offer;
    if (offer->subscribed)
        offer->subscribed(r->call.mcp, &r->call.caller, uri);
}

void cs_listen_start(struct cs_req *r)
{
    struct cs_mcp *m = r->call.mcp;
    struct cs_json_val filter = cs_json_get(r->call.params, "notifications");
    if (cs_json_type(filter) != CS_JSON_OBJECT) {
        cs_mcp_error(&r->call, CS_RPC_PARAMS, "params.notifications is missing or no object",
                     (struct cs_str){0});
        return;
    }
    if (r->stream && !r->stream->may_sse) {
        cs_req_refuse(r, CS_RPC_INVALID, 406,
                      "a subscription needs a client that accepts text/event-stream",
                      (struct cs_str){0});
        return;
    }
    struct cs_listen *l = r->listen = CS_NEW(struct cs_listen);
    memcpy(l->id, r->id, sizeof l->id);
    for (size_t i = 0; i < CS_COUNT(lists); i++) {
        bool yes = false;
        cs_json_bool(cs_json_get(filter, lists[i].filter), &yes);
        l->lists[i] = yes && cs_caps_offered(m, lists[i].capability, "listChanged");
    }
    if (cs_caps_offered(m, "resources", "subscribe"))
        read_names(l, cs_json_get(filter, "resourceSubscriptions"), &l->uris, &r->call.arena);
    if (r->speaks_tasks)
        read_names(l, cs_json_get(filter, "taskIds"), &l->tasks, &r->call.arena);
    acknowledge(r);
    for (const struct cs_uri *u = l->uris; u; u = u->next)
        tell_offer(r, cs_strn(u->text, u->len));
}

void cs_listen_end(struct cs_req *r)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    cs_json_open(&w, '{');
    put_tag(&w, r->listen);
    cs_json_close(&w, '}');
    cs_mcp_result(&r->call, cs_buf_str(&out));
}

void cs_listen_free(struct cs_req *r)
{
    if (!r->listen)
        return;
    free_all(r->listen->uris);
    free_all(r->listen->tasks);
    free(r->listen);
    r->listen = NULL;
}

void cs_listen_task(struct cs_task *t)
{
    struct cs_mcp *m = t->mcp;
    for (struct cs_link *l = m->reqs.next; l != &m->reqs; l = l->next) {
        struct cs_req *r = CS_OF(l, struct cs_req, all);
        CS_AUTO_BUF struct cs_buf out = {0};
        if (!r->listen || !has(r->listen->tasks, cs_str(t->id)) ||
            !cs_caller_same(&r->call.caller, &t->caller))
            continue;
        struct cs_json_writer w = cs_rpc_begin(&out, "notifications/tasks");
        cs_task_put(t, &w);
        put_tag(&w, r->listen);
        cs_rpc_end(&w);
        cs_req_say(r, cs_buf_str(&out), false);
    }
}

/* --- what changed --- */

void cs_mcp_list_changed(struct cs_mcp *m, enum cs_mcp_list list)
{
    if (m->closing || !cs_caps_offered(m, lists[list].capability, "listChanged"))
        return;
    for (struct cs_link *l = m->reqs.next; l != &m->reqs; l = l->next) {
        struct cs_req *r = CS_OF(l, struct cs_req, all);
        CS_AUTO_BUF struct cs_buf out = {0};
        if (!r->listen || !r->listen->lists[list])
            continue;
        struct cs_json_writer w = cs_rpc_begin(&out, lists[list].method);
        put_tag(&w, r->listen);
        cs_rpc_end(&w);
        cs_req_say(r, cs_buf_str(&out), false);
    }
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_buf_printf(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}", lists[list].method);
    for (struct cs_link *l = m->peers.next; l != &m->peers; l = l->next) {
        struct cs_peer *peer = CS_OF(l, struct cs_peer, link);
        if (peer->ready)
            cs_peer_tell(peer, cs_buf_str(&out));
    }
}

static void put_updated(struct cs_buf *out, struct cs_str uri, const struct cs_listen *listen)
{
    struct cs_json_writer w = cs_rpc_begin(out, "notifications/resources/updated");
    cs_json_key(&w, "uri");
    cs_json_put_str(&w, uri);
    if (listen)
        put_tag(&w, listen);
    cs_rpc_end(&w);
}

void cs_mcp_resource_updated(struct cs_mcp *m, struct cs_str tenant, struct cs_str uri)
{
    if (m->closing)
        return;
    for (struct cs_link *l = m->reqs.next; l != &m->reqs; l = l->next) {
        struct cs_req *r = CS_OF(l, struct cs_req, all);
        CS_AUTO_BUF struct cs_buf out = {0};
        if (!r->listen || !has(r->listen->uris, uri) ||
            (tenant.len > 0 && !cs_str_is(tenant, r->call.caller.tenant)))
            continue;
        put_updated(&out, uri, r->listen);
        cs_req_say(r, cs_buf_str(&out), false);
    }
    for (struct cs_link *l = m->peers.next; l != &m->peers; l = l->next) {
        struct cs_peer *peer = CS_OF(l, struct cs_peer, link);
        CS_AUTO_BUF struct cs_buf out = {0};
        if (!has(peer->uris, uri) || (tenant.len > 0 && !cs_str_is(tenant, peer->caller.tenant)))
            continue;
        put_updated(&out, uri, NULL);
        cs_peer_tell(peer, cs_buf_str(&out));
    }
}

/* --- the older revisions --- */

static bool read_uri(struct cs_req *r, struct cs_str *uri)
{
    if (!cs_caps_offered(r->call.mcp, "resources", "subscribe")) {
        cs_mcp_error(&r->call, CS_RPC_METHOD, "there is nothing to subscribe to",
                     (struct cs_str){0});
        return false;
    }
    *uri = cs_json_str(cs_json_get(r->call.params, "uri"), &r->call.arena);
    if (uri->len > 0 && uri->len <= CS_PEER_URI_BYTES)
        return true;
    cs_mcp_error(&r->call, CS_RPC_PARAMS, "params.uri is missing, or no URI", (struct cs_str){0});
    return false;
}

void cs_sub_subscribe(struct cs_req *r)
{
    struct cs_peer *peer = r->peer;
    struct cs_str uri;
    if (!read_uri(r, &uri))
        return;
    if (!has(peer->uris, uri)) {
        if (peer->uri_count >= CS_PEER_URIS) {
            cs_mcp_error(&r->call, CS_RPC_PARAMS, "too many subscriptions: end some first",
                         (struct cs_str){0});
            return;
        }
        add(&peer->uris, uri);
        peer->uri_count++;
    }
    tell_offer(r, uri);
    cs_mcp_result(&r->call, CS_STR("{}"));
}

void cs_sub_unsubscribe(struct cs_req *r)
{
    struct cs_peer *peer = r->peer;
    struct cs_str uri;
    if (!read_uri(r, &uri))
        return;
    for (struct cs_uri **at = &peer->uris; *at; at = &(*at)->next) {
        struct cs_uri *u = *at;
        if (!cs_str_eq(cs_strn(u->text, u->len), uri))
            continue;
        *at = u->next;
        free(u);
        peer->uri_count--;
        break;
    }
    cs_mcp_result(&r->call, CS_STR("{}"));
}

void cs_sub_free(struct cs_peer *peer)
{
    free_all(peer->uris);
    peer->uris = NULL;
    peer->uri_count = 0;
}

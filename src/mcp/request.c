/* Requests under way: from the message to its answer, exactly one or none. */
#include "base/mem.h"
#include "mcp/proto.h"

#define OLD_NO_RESOURCE (-32002)

static const struct {
    const char *name;
    unsigned ttl_ms;
} cached[] = {
    {"server/discover", 60000}, {"tools/list", 60000}, {"prompts/list", 60000},
    {"resources/list", 10000},  {"resources/read", 0}, {"resources/templates/list", 60000},
};

uint64_t cs_mcp_now(void)
{
    return uv_hrtime() / 1000000;
}

static struct cs_req *req_of(struct cs_mcp_call *call)
{
    return (struct cs_req *)call;
}

/* --- the beginning --- */

bool cs_req_method(const struct cs_mcp *m, enum cs_version version, struct cs_json_val name,
                   const struct cs_mcp_method **offered, const struct cs_proto_method **own)
{
    *offered = NULL;
    *own = NULL;
    for (const struct cs_proto_method *p = cs_proto_methods; p->name; p++)
        if (version >= p->from && version <= p->to && cs_json_is(name, p->name)) {
            *own = p;
            return true;
        }
    for (const struct cs_mcp_method *o = m->offer->methods; o && o->name; o++)
        if (cs_json_is(name, o->name)) {
            *offered = o;
            return true;
        }
    return false;
}

struct cs_req *cs_req_find(struct cs_peer *peer, struct cs_str id)
{
    for (struct cs_link *l = peer->reqs.next; l != &peer->reqs; l = l->next) {
        struct cs_req *r = CS_OF(l, struct cs_req, link);
        if (cs_str_is(id, r->id))
            return r;
    }
    return NULL;
}

bool cs_token_copy(char to[CS_ID_BYTES + 1], struct cs_json_val v)
{
    struct cs_str raw = cs_json_raw(v);
    to[0] = '\0';
    if (!cs_rpc_id_ok(v))
        return false;
    memcpy(to, raw.at, raw.len);
    to[raw.len] = '\0';
    return true;
}

static struct cs_req *make(const struct cs_wanted *wanted, struct cs_json_val message)
{
    struct cs_peer *peer = wanted->peer;
    struct cs_req *r = CS_NEW(struct cs_req);
    struct cs_json_val params = cs_json_get(message, "params");
    r->call.mcp = peer->mcp;
    r->call.caller = peer->caller;
    r->peer = peer;
    r->stream = wanted->stream;
    r->batch = wanted->batch;
    r->version = wanted->version;
    r->began = r->said_at = cs_mcp_now();
    r->ttl = -1;
    cs_link_init(&r->waiting);
    cs_link_before(&peer->reqs, &r->link);
    cs_link_before(&peer->mcp->reqs, &r->all);
    peer->req_count++;
    peer->mcp->requests++;
    if (r->stream && !peer->closing && r->version == CS_VMODERN)
        r->stream->req = r;
    cs_token_copy(r->id, cs_json_get(message, "id"));
    if (cs_json_type(params) == CS_JSON_OBJECT) {
        cs_buf_putstr(&r->text, cs_json_raw(params));
        peer->mcp->held += r->text.len;
        /* It was parsed as part of the message a moment ago. */
        if (cs_json_parse(cs_buf_str(&r->text), &cs_rpc_limits, &r->doc, NULL) == 0)
            r->call.params = cs_json_root(&r->doc);
    }
    return r;
}

static bool may_ask(const struct cs_req *r)
{
    static const char *const methods[] = {"tools/call", "prompts/get", "resources/read"};
    for (size_t i = 0; r->offered && i < CS_COUNT(methods); i++)
        if (strcmp(r->offered->name, methods[i]) == 0)
            return true;
    return false;
}

/* What the message says comes before what its transport says. */
static void read_trace(struct cs_req *r, struct cs_json_val meta)
{
    struct cs_exchange *x = r->stream ? r->stream->x : NULL;
    struct cs_str said = cs_json_str(cs_json_get(meta, "traceparent"), &r->call.arena);
    if (!cs_trace_parse(said, &r->call.trace) && x &&
        cs_exchange_header_count(x, "traceparent") == 1)
        cs_trace_parse(cs_exchange_header(x, "traceparent"), &r->call.trace);
}

static void read_wishes(struct cs_req *r, const struct cs_envelope_in *e)
{
    struct cs_json_val meta = cs_json_get(r->call.params, "_meta");
    struct cs_json_val token = cs_json_get(meta, "progressToken");
    read_trace(r, meta);
    if (cs_json_type(token) != CS_JSON_NONE)
        cs_token_copy(r->token, token);
    r->asks = e ? e->asks : r->peer->asks;
    if (!may_ask(r) || (!e && r->stream && !r->stream->may_sse))
        r->asks = 0;
    r->level = e ? e->level : 8;
    r->speaks_tasks = e && e->tasks;
    struct cs_json_val task = cs_json_get(r->call.params, "task");
    if (r->version == CS_V2025_11 && r->offered && strcmp(r->offered->name, "tools/call") == 0 &&
        cs_json_type(task) == CS_JSON_OBJECT) {
        r->ttl = CS_TASK_TTL;
        cs_json_i64(cs_json_get(task, "ttl"), &r->ttl);
        r->ttl = r->ttl < 1000 ? 1000 : r->ttl > 24 * CS_TASK_TTL ? 24 * CS_TASK_TTL : r->ttl;
    }
}

/* One client must not use the id of a request that is under way again; several that share a key
 * cannot know of each other. */
static bool is_twice(struct cs_req *r)
{
    struct cs_req *first = cs_req_find(r->peer, cs_str(r->id));
    return r->peer->kind != CS_PEER_CROWD && first != r;
}

void cs_req_start(const struct cs_wanted *wanted, struct cs_json_val message)
{
    struct cs_mcp *m = wanted->peer->mcp;
    struct cs_req *r = make(wanted, message);
    if (r->peer->req_count > CS_PEER_REQUESTS || m->held > CS_HELD_BYTES) {
        cs_req_refuse(r, CS_RPC_INTERNAL, 429, "too many requests are under way: wait for some",
                      (struct cs_str){0});
        return;
    }
    if (is_twice(r)) {
        cs_req_refuse(r, CS_RPC_INVALID, 400, "a request with this id is under way",
                      (struct cs_str){0});
        return;
    }
    if (!cs_req_method(m, r->version, cs_json_get(message, "method"), &r->offered, &r->own)) {
        cs_req_refuse(r, CS_RPC_METHOD, 404, "there is no such method", (struct cs_str){0});
        return;
    }
    read_wishes(r, wanted->envelope);
    if (r->own)
        r->own->call(r);
    else if (!cs_ask_retry(r))
        r->offered->call(&r->call);
}

/* --- the end --- */

void cs_req_free(struct cs_req *r)
{
    r->ending = true;
    cs_ask_drop_all(r);
    cs_listen_free(r);
    cs_link_off(&r->waiting);
    cs_link_off(&r->all);
    if (!cs_link_alone(&r->link)) {
        cs_link_off(&r->link);
        r->peer->req_count--;
    }
    if (r->stream && r->stream->req == r)
        r->stream->req = NULL;
    if (r->task)
        r->task->req = NULL;
    cs_json_done(&r->doc);
    r->call.mcp->held -= r->text.len;
    cs_buf_done(&r->text);
    cs_buf_done(&r->words);
    cs_buf_done(&r->outcome);
    cs_arena_done(&r->call.arena);
    free(r);
}

/* Whoever waits for the answer gets it, or learns that there is none. */
static void hand_out(struct cs_req *r, struct cs_str json, unsigned status)
{
    struct cs_stream *stream = r->stream;
    struct cs_batch *batch = r->batch;
    bool line = r->id[0] && !stream && !batch && r->peer->kind == CS_PEER_LINES;
    r->stream = NULL;
    r->batch = NULL;
    r->id[0] = '\0';
    if (stream && stream->req == r)
        stream->req = NULL;
    if (stream)
        cs_stream_answer(stream, json, status);
    else if (batch)
        cs_batch_answer(batch, json);
    else if (line && json.len > 0 && !r->peer->closing)
        r->peer->send(r->peer, json, false);
}

void cs_req_deliver(struct cs_req *r, bool failed, struct cs_str outcome, unsigned status)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_progress_flush(r);
    r->call.mcp->errors += failed;
    if (failed) {
        cs_buf_puts(&out, "{\"jsonrpc\":\"2.0\",\"id\":");
        cs_buf_puts(&out, r->id[0] ? r->id : "null");
        cs_buf_puts(&out, ",\"error\":");
        cs_buf_putstr(&out, outcome);
        cs_buf_putc(&out, '}');
    } else {
        cs_rpc_put_result(&out, cs_str(r->id), outcome);
    }
    hand_out(r, cs_buf_str(&out), r->version == CS_VMODERN ? status : 200);
}

void cs_req_detach(struct cs_req *r)
{
    hand_out(r, (struct cs_str){0}, 200);
}

void cs_req_cancel(struct cs_req *r)
{
    if (r->ending)
        return;
    r->ending = true;
    cs_ask_drop_all(r);
    if (r->task)
        cs_task_lost(r);
    bool working = (r->offered || r->recall != CS_RECALL_NO) && !r->over;
    if (working && r->call.cancelled) {
        r->telling = true;
        r->call.cancelled(&r->call);
    }
    hand_out(r, (struct cs_str){0}, 200);
    if (!working || r->call.cancelled) {
        cs_req_free(r);
        return;
    }
    /* Nobody is there to be told: it is kept until its answer comes, which nobody hears. */
    cs_link_off(&r->link);
    r->peer->req_count--;
    r->peer = NULL;
}

/* --- the answer --- */

/* The members of an object, but those that are written by us. */
static void put_members(struct cs_json_writer *w, struct cs_json_val object)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(object, &it, &key, &item)) {
        if (cs_json_is(key, "_meta") || cs_json_is(key, "resultType"))
            continue;
        cs_json_key_str(w, cs_json_str(key, &arena));
        cs_json_put_raw(w, cs_json_raw(item));
    }
}

void cs_rpc_splice(struct cs_str result, struct cs_str members, struct cs_str meta,
                   struct cs_buf *out)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_limits limits = {.depth = 4 * CS_DEPTH, .allow_duplicate = true};
    struct cs_json_writer w = CS_JSON_WRITER(out);
    bool there = memmem(result.at, result.len, "\"_meta\"", 7) != NULL;
    if (there && cs_json_parse(result, &limits, &doc, NULL) < 0)
        there = false;
    struct cs_json_val old = cs_json_get(cs_json_root(&doc), "_meta");
    cs_json_open(&w, '{');
    if (there)
        put_members(&w, cs_json_root(&doc));
    else if (result.len > 2)
        cs_json_put_raw(&w, cs_strn(result.at + 1, result.len - 2));
    if (members.len > 0)
        cs_json_put_raw(&w, members);
    if (meta.len > 0 || cs_json_type(old) == CS_JSON_OBJECT) {
        cs_json_key(&w, "_meta");
        cs_json_open(&w, '{');
        if (cs_json_type(old) == CS_JSON_OBJECT && cs_json_count(old) > 0) {
            struct cs_str raw = cs_json_raw(old);
            cs_json_put_raw(&w, cs_strn(raw.at + 1, raw.len - 2));
        }
        if (meta.len > 0)
            cs_json_put_raw(&w, meta);
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, '}');
}

static void put_hints(const struct cs_req *r, struct cs_buf *members)
{
    const char *name = r->own ? r->own->name : r->offered ? r->offered->name : "";
    for (size_t i = 0; i < CS_COUNT(cached); i++)
        if (strcmp(cached[i].name, name) == 0)
            cs_buf_printf(members, ",\"ttlMs\":%u,\"cacheScope\":\"private\"", cached[i].ttl_ms);
}

void cs_req_dress(const struct cs_req *r, struct cs_str result, const char *type,
                  struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf members = {0}, meta = {0};
    if (r->version != CS_VMODERN) {
        cs_buf_putstr(out, result);
        return;
    }
    cs_buf_printf(&members, "\"resultType\":\"%s\"", type);
    if (strcmp(type, "complete") == 0)
        put_hints(r, &members);
    struct cs_json_writer w = CS_JSON_WRITER(&meta);
    cs_buf_puts(&meta, "\"io.modelcontextprotocol/serverInfo\":");
    cs_put_server_info(r->call.mcp, &w);
    cs_rpc_splice(result, cs_buf_str(&members), cs_buf_str(&meta), out);
}

/* The call is over, whoever is told now. `dressed` is the outcome. */
static void finish(struct cs_req *r, bool failed, struct cs_str outcome, unsigned status)
{
    if (r->telling)
        return;
    if (r->ending) {
        cs_req_free(r);
        return;
    }
    if (r->ttl >= 0 && !r->task && !failed)
        cs_task_make(r);
    if (r->task) {
        cs_task_over(r, failed, outcome);
        return;
    }
    if (r->recall != CS_RECALL_NO) {
        cs_task_recalled(r, failed, outcome);
        return;
    }
    CS_AUTO_BUF struct cs_buf out = {0};
    if (failed)
        cs_buf_putstr(&out, outcome);
    else
        cs_req_dress(r, outcome, "complete", &out);
    if (r->parked) {
        cs_ask_drop_all(r);
        r->over = true;
        r->failed = failed;
        cs_buf_putstr(&r->outcome, cs_buf_str(&out));
        return;
    }
    cs_req_deliver(r, failed, cs_buf_str(&out), status);
    cs_req_free(r);
}

void cs_mcp_result(struct cs_mcp_call *call, struct cs_str result)
{
    finish(req_of(call), false, result.len >= 2 ? result : CS_STR("{}"), 200);
}

void cs_mcp_text(struct cs_mcp_call *call, struct cs_str text, bool is_error)
{
    CS_AUTO_BUF struct cs_buf result = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&result);
    cs_json_open(&w, '{');
    cs_json_key(&w, "content");
    cs_json_open(&w, '[');
    cs_json_open(&w, '{');
    cs_json_key(&w, "type");
    cs_json_put_z(&w, "text");
    cs_json_key(&w, "text");
    cs_json_put_str(&w, text);
    cs_json_close(&w, '}');
    cs_json_close(&w, ']');
    if (is_error) {
        cs_json_key(&w, "isError");
        cs_json_put_bool(&w, true);
    }
    cs_json_close(&w, '}');
    cs_mcp_result(call, cs_buf_str(&result));
}

void cs_req_refuse(struct cs_req *r, int code, unsigned status, const char *message,
                   struct cs_str data)
{
    CS_AUTO_BUF struct cs_buf error = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&error);
    cs_json_open(&w, '{');
    cs_json_key(&w, "code");
    cs_json_put_i64(&w, code);
    cs_json_key(&w, "message");
    cs_json_put_z(&w, message ? message : "it failed");
    if (data.len > 0) {
        cs_json_key(&w, "data");
        cs_json_put_raw(&w, data);
    }
    cs_json_close(&w, '}');
    finish(r, true, cs_buf_str(&error), status);
}

void cs_mcp_error(struct cs_mcp_call *call, int code, const char *message, struct cs_str data)
{
    struct cs_req *r = req_of(call);
    /* The older revisions have a code of their own for a resource that is not there. */
    if (r->version != CS_VMODERN && r->offered && code == CS_RPC_PARAMS && data.len > 0 &&
        strcmp(r->offered->name, "resources/read") == 0)
        code = OLD_NO_RESOURCE;
    cs_req_refuse(r, code, code == CS_RPC_CAPABILITY ? 400 : 200, message, data);
}

void cs_req_needs(struct cs_req *r, struct cs_str capability)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    cs_buf_puts(&data, "{\"requiredCapabilities\":");
    cs_buf_putstr(&data, capability);
    cs_buf_putc(&data, '}');
    cs_req_refuse(r, CS_RPC_CAPABILITY, 400,
                  "this needs a capability that the client did not declare", cs_buf_str(&data));
}

void cs_req_say(struct cs_req *r, struct cs_str json, bool minor)
{
    if (r->ending || !r->peer || r->peer->closing)
        return;
    if (r->stream)
        cs_stream_say(r->stream, json);
    else if (r->peer->kind == CS_PEER_LINES)
        r->peer->send(r->peer, json, minor);
}

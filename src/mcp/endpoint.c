/*
 * The endpoint over HTTP: which revision a request speaks, whether its headers agree with its body,
 * and which session it belongs to.
 */
#include <strings.h>

#include "mcp/proto.h"

struct post {
    struct cs_mcp *m;
    struct cs_exchange *x;
    const struct cs_caller *caller;
    bool sse, json;          /* what the client accepts */
    enum cs_version version; /* of the header; CS_VNONE: none, or unknown */
    bool has_version;
};

static const char unserved[] = "the header MCP-Protocol-Version names none that is served";

static bool is_unserved(const struct post *p)
{
    return p->has_version && p->version == CS_VNONE;
}

/* --- refusals --- */

static void refuse(struct cs_mcp *m, struct cs_exchange *x, unsigned status, struct cs_str id,
                   int code, const char *message, struct cs_str data)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    m->errors++;
    cs_rpc_put_error(&out, id, code, cs_str(message), data);
    cs_exchange_reply(x, status, "application/json", cs_buf_str(&out));
}

static void refuse_plain(struct cs_mcp *m, struct cs_exchange *x, unsigned status,
                         const char *message)
{
    refuse(m, x, status, (struct cs_str){0}, CS_RPC_INVALID, message, (struct cs_str){0});
}

static void refuse_method(struct cs_mcp *m, struct cs_exchange *x, const char *allow)
{
    cs_exchange_set(x, "Allow", cs_str(allow));
    refuse_plain(m, x, 405, "this method is not served here");
}

/* --- headers --- */

static struct cs_str trim(struct cs_str s)
{
    while (s.len > 0 && (s.at[0] == ' ' || s.at[0] == '\t'))
        s = cs_strn(s.at + 1, s.len - 1);
    while (s.len > 0 && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t'))
        s.len--;
    return s;
}

/* Up to `stop`, which is taken off the front of `rest` with it. */
static struct cs_str cut(struct cs_str *rest, char stop)
{
    const char *at = rest->len > 0 ? memchr(rest->at, stop, rest->len) : NULL;
    struct cs_str part = {rest->at, at ? (size_t)(at - rest->at) : rest->len};
    *rest = at ? cs_strn(at + 1, rest->len - part.len - 1) : (struct cs_str){0};
    return trim(part);
}

static bool same_type(struct cs_str a, const char *b)
{
    return a.len == strlen(b) && strncasecmp(a.at, b, a.len) == 0;
}

static bool accepts(struct cs_str header, const char *type, const char *family)
{
    while (header.len > 0) {
        struct cs_str item = cut(&header, ',');
        struct cs_str name = cut(&item, ';');
        bool never = false;
        while (item.len > 0) {
            struct cs_str parameter = cut(&item, ';');
            never = never || same_type(parameter, "q=0") || same_type(parameter, "q=0.0");
        }
        if (!never && (same_type(name, type) || same_type(name, family) || same_type(name, "*/*")))
            return true;
    }
    return false;
}

static bool is_json(struct cs_exchange *x)
{
    struct cs_str type = cs_exchange_header(x, "Content-Type");
    return same_type(cut(&type, ';'), "application/json");
}

/* What a header must say if the body is to be believed; true: it does. */
static bool agrees(struct cs_exchange *x, const char *header, struct cs_str value, bool coded)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str said = cs_exchange_header(x, header), plain = said;
    if (cs_exchange_header_count(x, header) != 1)
        return false;
    if (coded && !cs_header_decode(said, &arena, &plain))
        return false;
    return cs_str_eq(plain, value);
}

static const struct {
    const char *method, *member;
} named[] = {
    {"tools/call", "name"},  {"prompts/get", "name"},    {"resources/read", "uri"},
    {"tasks/get", "taskId"}, {"tasks/update", "taskId"}, {"tasks/cancel", "taskId"},
};

/* Numbers are compared as such: 7 and 7.0 are the same. */
static bool argument_agrees(struct cs_exchange *x, const char *header, struct cs_json_val v,
                            struct cs_arena *arena)
{
    struct cs_str said = cs_exchange_header(x, header), plain;
    bool absent = cs_json_type(v) == CS_JSON_NONE || cs_json_type(v) == CS_JSON_NULL;
    if (absent)
        return said.at == NULL;
    if (cs_json_type(v) != CS_JSON_NUMBER)
        return agrees(x, header,
                      cs_json_type(v) == CS_JSON_STRING ? cs_json_str(v, arena) : cs_json_raw(v),
                      true);
    CS_AUTO_JSON struct cs_json doc = {0};
    int64_t a, b;
    return cs_exchange_header_count(x, header) == 1 && cs_header_decode(said, arena, &plain) &&
           plain.len > 0 && cs_json_parse(plain, NULL, &doc, NULL) == 0 &&
           cs_json_i64(cs_json_root(&doc), &a) && cs_json_i64(v, &b) && a == b;
}

/* Arguments of tools that travel in a header too. */
static bool arguments_agree(const struct post *p, struct cs_json_val params, struct cs_arena *arena)
{
    struct cs_json_val name = cs_json_get(params, "name");
    struct cs_json_val arguments = cs_json_get(params, "arguments");
    for (const struct cs_mcp_header *h = p->m->offer->headers; h && h->tool; h++) {
        char header[128];
        snprintf(header, sizeof header, "Mcp-Param-%s", h->header);
        if (cs_json_is(name, h->tool) &&
            !argument_agrees(p->x, header, cs_json_get(arguments, h->argument), arena))
            return false;
    }
    return true;
}

/* NULL: they agree. */
static const char *check_headers(const struct post *p, struct cs_json_val message,
                                 struct cs_str version)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_val method = cs_json_get(message, "method");
    struct cs_json_val params = cs_json_get(message, "params");
    if (!agrees(p->x, "MCP-Protocol-Version", version, false))
        return "the header MCP-Protocol-Version is missing or differs from the body";
    if (!agrees(p->x, "Mcp-Method", cs_json_str(method, &arena), false))
        return "the header Mcp-Method is missing or differs from the body";
    for (size_t i = 0; i < CS_COUNT(named); i++) {
        if (!cs_json_is(method, named[i].method))
            continue;
        struct cs_str name = cs_json_str(cs_json_get(params, named[i].member), &arena);
        if (!agrees(p->x, "Mcp-Name", name, true))
            return "the header Mcp-Name is missing or differs from the body";
    }
    if (cs_json_is(method, "tools/call") && !arguments_agree(p, params, &arena))
        return "a header Mcp-Param-* is missing or differs from the arguments";
    return NULL;
}

static struct cs_stream *new_stream(const struct post *p, struct cs_peer *session)
{
    struct cs_stream *s = cs_stream_new(p->m, session, p->x, p->sse);
    s->no_json = !p->json;
    return s;
}

/* --- the newest revision --- */

static void modern(const struct post *p, struct cs_json_val message)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_envelope_in e = {0};
    struct cs_str id = cs_rpc_id(message);
    const struct cs_mcp_method *offered;
    const struct cs_proto_method *own;
    const char *why = NULL;
    if (cs_envelope_read(cs_json_get(message, "params"), &arena, &e, &why) < 0) {
        refuse(p->m, p->x, 400, id, CS_RPC_PARAMS, why, (struct cs_str){0});
        return;
    }
    if ((why = check_headers(p, message, e.name))) {
        refuse(p->m, p->x, 400, id, CS_RPC_HEADER, why, (struct cs_str){0});
        return;
    }
    if (e.version != CS_VMODERN) {
        cs_rpc_unserved(&data, e.name);
        refuse(p->m, p->x, 400, id, CS_RPC_VERSION, "this version of the protocol is not served",
               cs_buf_str(&data));
        return;
    }
    if (!cs_req_method(p->m, CS_VMODERN, cs_json_get(message, "method"), &offered, &own)) {
        refuse(p->m, p->x, 404, id, CS_RPC_METHOD, "there is no such method", (struct cs_str){0});
        return;
    }
    struct cs_wanted wanted = {
        .peer = cs_peer_crowd(p->m, p->caller),
        .stream = new_stream(p, NULL),
        .version = CS_VMODERN,
        .envelope = &e,
    };
    cs_req_start(&wanted, message);
}

/* --- the older revisions --- */

static void hello(const struct post *p, struct cs_json_val message)
{
    struct cs_json_val params = cs_json_get(message, "params");
    struct cs_str id = cs_rpc_id(message);
    if (cs_json_type(cs_json_get(params, "protocolVersion")) != CS_JSON_STRING) {
        refuse(p->m, p->x, 400, id, CS_RPC_PARAMS, "params.protocolVersion is missing or no text",
               (struct cs_str){0});
        return;
    }
    struct cs_peer *peer = cs_session_new(p->m, p->caller);
    if (!peer) {
        refuse(p->m, p->x, 429, id, CS_RPC_INTERNAL, "too many sessions: end some of them, or wait",
               (struct cs_str){0});
        return;
    }
    cs_exchange_set(p->x, "Mcp-Session-Id", cs_str(peer->id));
    struct cs_wanted wanted = {
        .peer = peer,
        .stream = new_stream(p, peer),
        .version = CS_NEWEST_LEGACY,
    };
    cs_req_start(&wanted, message);
}

/* NULL: it was refused. */
static struct cs_peer *session(struct cs_mcp *m, struct cs_exchange *x,
                               const struct cs_caller *caller, struct cs_str rpc_id)
{
    struct cs_str id = cs_exchange_header(x, "Mcp-Session-Id");
    if (!id.at) {
        refuse(m, x, 400, rpc_id, CS_RPC_INVALID,
               "the header Mcp-Session-Id is missing: begin with initialize, or send the _meta and "
               "headers of revision 2026-07-28 with every request",
               (struct cs_str){0});
        return NULL;
    }
    struct cs_peer *peer = cs_session_find(m, caller, id);
    if (!peer)
        refuse(m, x, 404, rpc_id, CS_RPC_INVALID,
               "there is no such session (any more): begin again with initialize",
               (struct cs_str){0});
    return peer;
}

static void start_one(const struct post *p, struct cs_peer *peer, struct cs_stream *stream,
                      struct cs_json_val message)
{
    struct cs_wanted wanted = {.peer = peer, .stream = stream, .version = peer->version};
    (void)p;
    cs_req_start(&wanted, message);
}

static void answer_bad(struct cs_mcp *m, struct cs_stream *stream, struct cs_json_val message,
                       const char *why)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    m->errors++;
    cs_rpc_put_error(&out, cs_rpc_id(message), CS_RPC_INVALID, cs_str(why), (struct cs_str){0});
    cs_stream_answer(stream, cs_buf_str(&out), 400);
}

static void batch(const struct post *p, struct cs_json_val list)
{
    struct cs_peer *peer = session(p->m, p->x, p->caller, (struct cs_str){0});
    struct cs_json_iter it = {0};
    struct cs_json_val message;
    if (!peer)
        return;
    if (peer->version != CS_V2025_03 || cs_json_count(list) == 0 ||
        cs_json_count(list) > CS_PEER_REQUESTS) {
        refuse_plain(p->m, p->x, 400,
                     peer->version == CS_V2025_03 ? "a batch has from 1 to 256 messages"
                                                  : "batches exist in revision 2025-03-26 alone");
        return;
    }
    struct cs_stream *stream = new_stream(p, peer);
    stream->array = true;
    stream->open = cs_json_count(list) + 1; /* ours keeps it until all have begun */
    while (cs_json_next(list, &it, NULL, &message)) {
        switch (cs_rpc_kind(message)) {
        case CS_RPC_REQUEST:
            if (cs_json_is(cs_json_get(message, "method"), "initialize"))
                answer_bad(p->m, stream, message, "initialize must not be part of a batch");
            else
                start_one(p, peer, stream, message);
            break;
        case CS_RPC_NOTIFICATION:
        case CS_RPC_RESPONSE:
            cs_rpc_other(peer, message);
            cs_stream_answer(stream, (struct cs_str){0}, 200);
            break;
        case CS_RPC_BAD:
            answer_bad(p->m, stream, message, "this is no message of JSON-RPC 2.0");
            break;
        }
    }
    cs_stream_answer(stream, (struct cs_str){0}, 200);
}

static void request(const struct post *p, struct cs_json_val message)
{
    if (cs_rpc_is_modern(message)) {
        modern(p, message);
        return;
    }
    if (cs_json_is(cs_json_get(message, "method"), "initialize")) {
        hello(p, message);
        return;
    }
    if (p->version == CS_VMODERN) {
        modern(p, message); /* which says what is missing */
        return;
    }
    if (is_unserved(p)) {
        refuse(p->m, p->x, 400, cs_rpc_id(message), CS_RPC_INVALID, unserved, (struct cs_str){0});
        return;
    }
    struct cs_peer *peer = session(p->m, p->x, p->caller, cs_rpc_id(message));
    if (peer)
        start_one(p, peer, new_stream(p, peer), message);
}

/* A notification or a response: taken, and that is all. */
static void other(const struct post *p, struct cs_json_val message)
{
    if (is_unserved(p)) {
        refuse_plain(p->m, p->x, 400, unserved);
        return;
    }
    if (p->version != CS_VMODERN && !cs_rpc_is_modern(message)) {
        struct cs_peer *peer = session(p->m, p->x, p->caller, (struct cs_str){0});
        if (!peer)
            return;
        cs_rpc_other(peer, message);
    } else if (cs_rpc_kind(message) == CS_RPC_RESPONSE) {
        refuse_plain(p->m, p->x, 400, "revision 2026-07-28 has no requests of servers to answer");
        return;
    }
    cs_exchange_reply(p->x, 202, NULL, (struct cs_str){0});
}

static void post(struct post *p)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    struct cs_str body = cs_exchange_body(p->x);
    if (!is_json(p->x)) {
        refuse_plain(p->m, p->x, 415, "Content-Type must be application/json");
        return;
    }
    if (!p->sse && !p->json) {
        refuse_plain(p->m, p->x, 406, "Accept must name application/json and text/event-stream");
        return;
    }
    if (body.len > CS_MCP_MESSAGE) {
        refuse_plain(p->m, p->x, 413, "the message is too large: at most 16 MiB are taken");
        return;
    }
    if (cs_json_parse(body, &cs_rpc_limits, &doc, &err) < 0) {
        refuse(p->m, p->x, 400, (struct cs_str){0}, CS_RPC_PARSE, err.msg, (struct cs_str){0});
        return;
    }
    struct cs_json_val root = cs_json_root(&doc);
    if (cs_json_type(root) == CS_JSON_ARRAY && p->version != CS_VMODERN) {
        batch(p, root);
        return;
    }
    switch (cs_rpc_kind(root)) {
    case CS_RPC_REQUEST:
        request(p, root);
        return;
    case CS_RPC_NOTIFICATION:
    case CS_RPC_RESPONSE:
        other(p, root);
        return;
    case CS_RPC_BAD:
        refuse(p->m, p->x, 400, cs_rpc_id(root), CS_RPC_INVALID,
               "this is no message of JSON-RPC 2.0", (struct cs_str){0});
        return;
    }
}

/* The stream of a session, or the rest of one that was cut. */
static void get(const struct post *p)
{
    struct cs_str last = cs_exchange_header(p->x, "Last-Event-ID");
    if (p->version == CS_VMODERN || !cs_exchange_header(p->x, "Mcp-Session-Id").at) {
        refuse_method(p->m, p->x, "POST");
        return;
    }
    if (!p->sse) {
        refuse_plain(p->m, p->x, 406, "Accept must name text/event-stream");
        return;
    }
    struct cs_peer *peer = session(p->m, p->x, p->caller, (struct cs_str){0});
    if (!peer)
        return;
    if (!last.at)
        cs_stream_open_get(peer, p->x);
    else if (!cs_stream_resume(peer, last, p->x))
        refuse_plain(p->m, p->x, 400, "Last-Event-ID names a stream that is not known (any more)");
}

static void end_session(const struct post *p)
{
    if (p->version == CS_VMODERN) {
        refuse_method(p->m, p->x, "POST");
        return;
    }
    struct cs_peer *peer = session(p->m, p->x, p->caller, (struct cs_str){0});
    if (!peer)
        return;
    cs_peer_close(peer);
    cs_exchange_reply(p->x, 204, NULL, (struct cs_str){0});
}

void cs_mcp_http(struct cs_mcp *m, struct cs_exchange *x, const struct cs_caller *caller)
{
    if (!m) {
        cs_exchange_reply(x, 503, NULL, (struct cs_str){0});
        return;
    }
    struct cs_str method = cs_exchange_method(x), accept = cs_exchange_header(x, "Accept");
    struct cs_str version = cs_exchange_header(x, "MCP-Protocol-Version");
    struct post p = {.m = m, .x = x, .caller = caller, .version = CS_VNONE};
    p.has_version = version.at != NULL;
    p.version = p.has_version ? cs_version_find(version) : CS_VNONE;
    p.sse = accept.at && accepts(accept, "text/event-stream", "text/*");
    p.json = !accept.at || accepts(accept, "application/json", "application/*");
    if (cs_str_is(method, "POST"))
        post(&p);
    else if (is_unserved(&p))
        refuse_plain(m, x, 400, unserved);
    else if (cs_str_is(method, "GET"))
        get(&p);
    else if (cs_str_is(method, "DELETE"))
        end_session(&p);
    else
        refuse_method(m, x, "GET, POST, DELETE");
}

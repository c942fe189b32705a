/* JSON-RPC: messages in, of any transport, and the frames of messages out. */
#include "base/mem.h"
#include "mcp/proto.h"

/* --- out --- */

void cs_rpc_put_error(struct cs_buf *out, struct cs_str id, int code, struct cs_str message,
                      struct cs_str data)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "jsonrpc");
    cs_json_put_z(&w, "2.0");
    cs_json_key(&w, "id");
    cs_json_put_raw(&w, id.len > 0 ? id : CS_STR("null"));
    cs_json_key(&w, "error");
    cs_json_open(&w, '{');
    cs_json_key(&w, "code");
    cs_json_put_i64(&w, code);
    cs_json_key(&w, "message");
    cs_json_put_str(&w, message);
    if (data.len > 0) {
        cs_json_key(&w, "data");
        cs_json_put_raw(&w, data);
    }
    cs_json_close(&w, '}');
    cs_json_close(&w, '}');
}

void cs_rpc_put_result(struct cs_buf *out, struct cs_str id, struct cs_str result)
{
    cs_buf_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    cs_buf_putstr(out, id);
    cs_buf_puts(out, ",\"result\":");
    cs_buf_putstr(out, result);
    cs_buf_putc(out, '}');
}

struct cs_json_writer cs_rpc_begin(struct cs_buf *out, const char *method)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "jsonrpc");
    cs_json_put_z(&w, "2.0");
    cs_json_key(&w, "method");
    cs_json_put_z(&w, method);
    cs_json_key(&w, "params");
    cs_json_open(&w, '{');
    return w;
}

void cs_rpc_end(struct cs_json_writer *w)
{
    cs_json_close(w, '}');
    cs_json_close(w, '}');
}

/* --- batches of lines --- */

void cs_batch_answer(struct cs_batch *batch, struct cs_str json)
{
    if (json.len > 0) {
        cs_buf_putc(&batch->answers, batch->answers.len > 0 ? ',' : '[');
        cs_buf_putstr(&batch->answers, json);
    }
    if (--batch->open > 0)
        return;
    if (batch->answers.len > 0 && batch->peer && !batch->peer->closing) {
        cs_buf_putc(&batch->answers, ']');
        batch->peer->send(batch->peer, cs_buf_str(&batch->answers), false);
    }
    cs_buf_done(&batch->answers);
    free(batch);
}

/* --- in --- */

bool cs_rpc_id_ok(struct cs_json_val id)
{
    int64_t n;
    if (cs_json_raw(id).len > CS_ID_BYTES)
        return false;
    return cs_json_type(id) == CS_JSON_STRING || cs_json_i64(id, &n);
}

enum cs_rpc_kind cs_rpc_kind(struct cs_json_val message)
{
    struct cs_json_val id = cs_json_get(message, "id"), method = cs_json_get(message, "method");
    if (!cs_json_is(cs_json_get(message, "jsonrpc"), "2.0"))
        return CS_RPC_BAD;
    if (cs_json_type(method) == CS_JSON_STRING) {
        enum cs_json_type params = cs_json_type(cs_json_get(message, "params"));
        if (params != CS_JSON_NONE && params != CS_JSON_OBJECT)
            return CS_RPC_BAD;
        if (cs_json_type(id) == CS_JSON_NONE)
            return CS_RPC_NOTIFICATION;
        return cs_rpc_id_ok(id) ? CS_RPC_REQUEST : CS_RPC_BAD;
    }
    if (cs_json_type(method) != CS_JSON_NONE || !cs_rpc_id_ok(id))
        return CS_RPC_BAD;
    bool error = cs_json_type(cs_json_get(message, "error")) == CS_JSON_OBJECT;
    bool result = cs_json_type(cs_json_get(message, "result")) != CS_JSON_NONE;
    return error != result ? CS_RPC_RESPONSE : CS_RPC_BAD;
}

struct cs_str cs_rpc_id(struct cs_json_val message)
{
    struct cs_json_val id = cs_json_get(message, "id");
    return cs_rpc_id_ok(id) ? cs_json_raw(id) : (struct cs_str){0};
}

bool cs_rpc_is_modern(struct cs_json_val message)
{
    struct cs_json_val params = cs_json_get(message, "params");
    struct cs_json_val meta = cs_json_get(params, "_meta");
    if (cs_json_type(cs_json_get(meta, "io.modelcontextprotocol/protocolVersion")) != CS_JSON_NONE)
        return true;
    return cs_json_is(cs_json_get(message, "method"), "server/discover");
}

void cs_rpc_other(struct cs_peer *peer, struct cs_json_val message)
{
    struct cs_json_val method = cs_json_get(message, "method");
    if (cs_json_type(method) == CS_JSON_NONE) {
        cs_ask_response(peer, message);
    } else if (cs_json_is(method, "notifications/initialized")) {
        peer->ready = peer->version != CS_VNONE;
    } else if (cs_json_is(method, "notifications/cancelled")) {
        struct cs_json_val id = cs_json_get(cs_json_get(message, "params"), "requestId");
        struct cs_req *req = cs_rpc_id_ok(id) ? cs_req_find(peer, cs_json_raw(id)) : NULL;
        if (req)
            cs_req_cancel(req);
    }
}

/* --- lines --- */

static void refuse(struct cs_peer *peer, struct cs_batch *batch, struct cs_str id, int code,
                   const char *message, struct cs_str data)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    peer->mcp->errors++;
    cs_rpc_put_error(&out, id, code, cs_str(message), data);
    if (batch)
        cs_batch_answer(batch, cs_buf_str(&out));
    else
        peer->send(peer, cs_buf_str(&out), false);
}

void cs_rpc_unserved(struct cs_buf *data, struct cs_str version)
{
    struct cs_json_writer w = CS_JSON_WRITER(data);
    cs_json_open(&w, '{');
    cs_json_key(&w, "supported");
    cs_put_versions(&w);
    cs_json_key(&w, "requested");
    cs_json_put_str(&w, version);
    cs_json_close(&w, '}');
}

static void modern_line(struct cs_peer *peer, struct cs_batch *batch, struct cs_json_val message)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_envelope_in e = {0};
    struct cs_str id = cs_rpc_id(message);
    const char *why = NULL;
    const struct cs_mcp_method *offered;
    const struct cs_proto_method *own;
    if (cs_envelope_read(cs_json_get(message, "params"), &arena, &e, &why) < 0) {
        refuse(peer, batch, id, CS_RPC_PARAMS, why, (struct cs_str){0});
    } else if (e.version != CS_VMODERN) {
        cs_rpc_unserved(&data, e.name);
        refuse(peer, batch, id, CS_RPC_VERSION, "this version of the protocol is not served",
               cs_buf_str(&data));
    } else if (!cs_req_method(peer->mcp, CS_VMODERN, cs_json_get(message, "method"), &offered,
                              &own)) {
        refuse(peer, batch, id, CS_RPC_METHOD, "there is no such method", (struct cs_str){0});
    } else {
        struct cs_wanted wanted = {
            .peer = peer, .batch = batch, .version = CS_VMODERN, .envelope = &e};
        cs_req_start(&wanted, message);
    }
}

static void request_line(struct cs_peer *peer, struct cs_batch *batch, struct cs_json_val message)
{
    struct cs_json_val method = cs_json_get(message, "method");
    struct cs_str id = cs_rpc_id(message);
    bool hello = cs_json_is(method, "initialize");
    if (cs_rpc_is_modern(message)) {
        modern_line(peer, batch, message);
        return;
    }
    if (hello && batch) {
        refuse(peer, batch, id, CS_RPC_INVALID, "initialize must not be part of a batch",
               (struct cs_str){0});
        return;
    }
    if (peer->version == CS_VNONE && !hello && !cs_json_is(method, "ping")) {
        refuse(peer, batch, id, CS_RPC_INVALID,
               "begin with initialize, or send the _meta of revision 2026-07-28 with every request",
               (struct cs_str){0});
        return;
    }
    struct cs_wanted wanted = {.peer = peer,
                               .batch = batch,
                               .version =
                                   peer->version == CS_VNONE ? CS_NEWEST_LEGACY : peer->version};
    cs_req_start(&wanted, message);
}

static void one(struct cs_peer *peer, struct cs_batch *batch, struct cs_json_val message)
{
    switch (cs_rpc_kind(message)) {
    case CS_RPC_REQUEST:
        request_line(peer, batch, message);
        return;
    case CS_RPC_NOTIFICATION:
    case CS_RPC_RESPONSE:
        cs_rpc_other(peer, message);
        break;
    case CS_RPC_BAD:
        refuse(peer, batch, cs_rpc_id(message), CS_RPC_INVALID,
               "this is no message of JSON-RPC 2.0", (struct cs_str){0});
        return;
    }
    if (batch)
        cs_batch_answer(batch, (struct cs_str){0});
}

static void several(struct cs_peer *peer, struct cs_json_val list)
{
    struct cs_json_iter it = {0};
    struct cs_json_val message;
    if (peer->version != CS_V2025_03 || cs_json_count(list) == 0 ||
        cs_json_count(list) > CS_PEER_REQUESTS) {
        refuse(peer, NULL, (struct cs_str){0}, CS_RPC_INVALID,
               peer->version == CS_V2025_03 ? "a batch has from 1 to 256 messages"
                                            : "batches exist in revision 2025-03-26 alone",
               (struct cs_str){0});
        return;
    }
    struct cs_batch *batch = CS_NEW(struct cs_batch);
    batch->peer = peer;
    batch->open = cs_json_count(list) + 1; /* ours keeps it until all have begun */
    while (cs_json_next(list, &it, NULL, &message))
        one(peer, batch, message);
    cs_batch_answer(batch, (struct cs_str){0});
}

const struct cs_json_limits cs_rpc_limits = {.bytes = CS_MCP_MESSAGE, .depth = CS_DEPTH};

void cs_rpc_line(struct cs_peer *peer, struct cs_str text)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    if (cs_json_parse(text, &cs_rpc_limits, &doc, &err) < 0) {
        refuse(peer, NULL, (struct cs_str){0}, CS_RPC_PARSE, err.msg, (struct cs_str){0});
        return;
    }
    struct cs_json_val root = cs_json_root(&doc);
    if (cs_json_type(root) == CS_JSON_ARRAY)
        several(peer, root);
    else
        one(peer, NULL, root);
}

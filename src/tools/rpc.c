/* JSON-RPC messages out and in. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "tools/client_in.h"

/* --- requests under way --- */

struct cs_client_call *cs_request_new(struct cs_client *c, enum cs_request_kind kind,
                                      struct cs_str tool)
{
    struct cs_client_call *r = cs_calloc(1, sizeof *r + tool.len + 1);
    r->client = c;
    r->kind = kind;
    r->due = CS_NEVER;
    r->tool_len = tool.len;
    if (tool.len > 0)
        memcpy(r->tool, tool.at, tool.len);
    cs_link_before(&c->requests, &r->link);
    c->calls += kind == CS_REQ_CALL;
    return r;
}

void cs_request_unsent(struct cs_client_call *r)
{
    if (r->id == 0)
        return;
    struct cs_client_call **at = &r->client->buckets[r->id % CS_BUCKETS];
    while (*at && *at != r)
        at = &(*at)->chain;
    if (*at)
        *at = r->chain;
    r->chain = NULL;
    r->id = 0;
}

void cs_request_free(struct cs_client_call *r)
{
    cs_request_unsent(r);
    cs_link_off(&r->link);
    if (r->status != CS_AT_DONE)
        r->client->calls -= r->kind == CS_REQ_CALL;
    r->status = CS_AT_DONE;
    if (r->held)
        return;
    cs_buf_done(&r->arguments);
    cs_buf_done(&r->schema);
    cs_buf_done(&r->inputs);
    cs_buf_done(&r->state);
    free(r->doom);
    free(r);
}

struct cs_client_call *cs_request_find(struct cs_client *c, uint64_t id)
{
    struct cs_client_call *r = id ? c->buckets[id % CS_BUCKETS] : NULL;
    while (r && r->id != id)
        r = r->chain;
    return r;
}

const char *cs_answer_words(const struct cs_answer *a, char *to, size_t size)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str text = cs_json_str(a->message, &arena);
    size_t n = 0;
    for (size_t i = 0; i < text.len;) {
        int len = cs_utf8_len(text.at + i, text.len - i);
        size_t step = (size_t)(len < 0 ? -len : len);
        if (n + step >= size)
            break;
        for (size_t k = 0; k < step; k++, n++)
            to[n] = (unsigned char)text.at[i + k] < 0x20 ? ' ' : text.at[i + k];
        i += step;
    }
    to[n] = '\0';
    return to;
}

/* --- out --- */

static void put_u64(struct cs_buf *b, uint64_t v)
{
    char digits[20], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + v % 10);
    while (v /= 10);
    cs_buf_put(b, at, (size_t)(digits + sizeof digits - at));
}

void cs_request_begin(struct cs_client_call *r, const char *method)
{
    struct cs_client *c = r->client;
    cs_request_unsent(r);
    r->id = ++c->next_id;
    struct cs_client_call **bucket = &c->buckets[r->id % CS_BUCKETS];
    r->chain = *bucket;
    *bucket = r;
    r->status = CS_AT_SENT;

    cs_buf_clear(&c->out);
    cs_buf_puts(&c->out, "{\"jsonrpc\":\"2.0\",\"id\":");
    cs_buf_puts(&c->out, r->string_id ? "\"c" : "");
    put_u64(&c->out, r->id);
    cs_buf_puts(&c->out, r->string_id ? "\",\"method\":\"" : ",\"method\":\"");
    cs_buf_puts(&c->out, method);
    cs_buf_puts(&c->out, "\",\"params\":{");
}

void cs_request_send(struct cs_client_call *r, const char *method, struct cs_str name,
                     const struct cs_pair *params)
{
    struct cs_client *c = r->client;
    bool modern = c->modern && r->kind != CS_REQ_INITIALIZE;
    if (modern || r->kind == CS_REQ_CALL) {
        if (c->out.at[c->out.len - 1] != '{')
            cs_buf_putc(&c->out, ',');
        cs_buf_puts(&c->out, "\"_meta\":{");
        if (modern)
            cs_buf_putstr(&c->out, cs_buf_str(&c->meta));
        if (r->kind == CS_REQ_CALL) {
            cs_buf_puts(&c->out, modern ? ",\"progressToken\":" : "\"progressToken\":");
            put_u64(&c->out, r->id);
            if (*r->trace)
                cs_buf_printf(&c->out, ",\"traceparent\":\"%s\"", r->trace);
        }
        cs_buf_putc(&c->out, '}');
    }
    cs_buf_puts(&c->out, "}}");
    struct cs_outgoing message = {
        .json = cs_buf_str(&c->out),
        .id = r->id,
        .method = method,
        .version = r->kind == CS_REQ_INITIALIZE ? NULL
                   : modern                     ? CS_MCP_MODERN
                                                : cs_buf_cstr(&c->protocol),
        .modern = modern,
        .name = name,
        .params = params,
        .trace = r->trace,
    };
    cs_client_wake(c, r->due);
    c->transport->ops->send(c->transport, &message);
}

static void send_other(struct cs_client *c, const char *method)
{
    struct cs_outgoing message = {
        .json = cs_buf_str(&c->out),
        .method = method,
        .version = c->modern             ? CS_MCP_MODERN
                   : c->protocol.len > 0 ? cs_buf_cstr(&c->protocol)
                                         : NULL,
        .modern = c->modern,
    };
    if (c->transport && c->phase != CS_CONN_CLOSING)
        c->transport->ops->send(c->transport, &message);
}

void cs_client_notify(struct cs_client *c, const char *method, struct cs_str params)
{
    cs_buf_clear(&c->out);
    cs_buf_puts(&c->out, "{\"jsonrpc\":\"2.0\",\"method\":\"");
    cs_buf_puts(&c->out, method);
    cs_buf_putc(&c->out, '"');
    if (params.len > 0) {
        cs_buf_puts(&c->out, ",\"params\":{");
        cs_buf_putstr(&c->out, params);
        cs_buf_putc(&c->out, '}');
    }
    cs_buf_putc(&c->out, '}');
    send_other(c, method);
}

void cs_client_reply(struct cs_client *c, struct cs_str id, struct cs_str result)
{
    cs_buf_clear(&c->out);
    cs_buf_puts(&c->out, "{\"jsonrpc\":\"2.0\",\"id\":");
    cs_json_line(&c->out, id);
    cs_buf_puts(&c->out, ",\"result\":");
    cs_json_line(&c->out, result);
    cs_buf_putc(&c->out, '}');
    send_other(c, NULL);
}

void cs_client_refuse(struct cs_client *c, struct cs_str id, int code, const char *message)
{
    cs_buf_clear(&c->out);
    cs_buf_puts(&c->out, "{\"jsonrpc\":\"2.0\",\"id\":");
    cs_json_line(&c->out, id);
    cs_buf_printf(&c->out, ",\"error\":{\"code\":%d,\"message\":\"%s\"}}", code, message);
    send_other(c, NULL);
}

/* --- in --- */

/* A long one counts for as many as it costs to read. */
static void garbage(struct cs_client *c, const char *what, size_t len)
{
    bool few = c->garbage < 3;
    c->garbage += 1 + (uint32_t)(len / CS_GARBAGE_BYTES);
    if (few)
        cs_client_say(c, "warning", "server '%s' sent %s", c->server->name, what);
    if (c->garbage < CS_GARBAGE_MAX)
        return;
    struct cs_err err = {0};
    cs_fail(&err, CS_UPSTREAM,
            "server '%s' sent too many things that are no messages of the protocol",
            c->server->name);
    cs_client_lost(c, &err);
}

/* Our id in an answer; 0 if it is none of ours. */
static uint64_t read_id(struct cs_json_val v, bool *string)
{
    int64_t n = 0;
    *string = cs_json_type(v) == CS_JSON_STRING;
    if (!*string)
        return cs_json_i64(v, &n) && n > 0 ? (uint64_t)n : 0;
    struct cs_str raw = cs_json_raw(v);
    if (raw.len < 4 || raw.len > 22 || raw.at[1] != 'c')
        return 0;
    uint64_t id = 0;
    for (size_t i = 2; i + 1 < raw.len; i++) {
        if (raw.at[i] < '0' || raw.at[i] > '9')
            return 0;
        id = id * 10 + (uint64_t)(raw.at[i] - '0');
    }
    return id;
}

static void read_error(struct cs_json_val error, struct cs_answer *a)
{
    int64_t code = 0;
    cs_json_i64(cs_json_get(error, "code"), &code);
    a->code = code >= INT32_MIN && code <= INT32_MAX && code != 0 ? (int)code : -32603;
    a->message = cs_json_get(error, "message");
    a->data = cs_json_get(error, "data");
}

static void give(struct cs_client *c, struct cs_client_call *r, const struct cs_answer *a)
{
    switch (r->kind) {
    case CS_REQ_DISCOVER:
        cs_era_discovered(c, r, a);
        return;
    case CS_REQ_INITIALIZE:
        cs_request_free(r);
        cs_era_initialized(c, a);
        return;
    case CS_REQ_LIST:
        cs_list_page(c, r, a);
        return;
    case CS_REQ_LISTEN:
        cs_request_free(r);
        cs_listen_over(c, a->code == CS_RPC_NO_METHOD || a->code == CS_RPC_PARAMS);
        return;
    case CS_REQ_CALL:
        cs_call_answered(c, r, a);
        return;
    }
}

/* The first request of a connection that is not over: whom an error without an id is meant for. */
static struct cs_client_call *handshake(struct cs_client *c)
{
    for (struct cs_link *l = c->requests.next; l != &c->requests; l = l->next) {
        struct cs_client_call *r = cs_link_request(l);
        if (r->kind == CS_REQ_DISCOVER || r->kind == CS_REQ_INITIALIZE)
            return r;
    }
    return NULL;
}

static void on_response(struct cs_client *c, struct cs_json_val root, struct cs_json_val id,
                        uint64_t request)
{
    struct cs_answer a = {0};
    bool string = false;
    struct cs_json_val error = cs_json_get(root, "error");
    a.result = cs_json_get(root, "result");
    bool is_error = cs_json_type(error) == CS_JSON_OBJECT;
    if (!is_error && cs_json_type(a.result) != CS_JSON_OBJECT) {
        garbage(c, "an answer without a result", cs_json_raw(root).len);
        return;
    }
    if (is_error) {
        a.result = (struct cs_json_val){0};
        read_error(error, &a);
    }
    struct cs_client_call *r = NULL;
    if (cs_json_type(id) == CS_JSON_NONE || cs_json_type(id) == CS_JSON_NULL) {
        r = !is_error ? NULL : request ? cs_request_find(c, request) : handshake(c);
    } else {
        r = cs_request_find(c, read_id(id, &string));
        r = r && r->string_id == string ? r : NULL;
    }
    if (!r)
        return; /* late, twice, or never ours */
    c->garbage = 0;
    give(c, r, &a);
}

static void on_log(struct cs_client *c, struct cs_json_val params)
{
    uint64_t second = cs_client_now() / 1000;
    c->logs = second == c->logs_at ? c->logs + 1 : 0;
    c->logs_at = second;
    if (!c->events.log || c->logs >= CS_LOGS_MAX)
        return;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_val data = cs_json_get(params, "data");
    struct cs_str text =
        cs_json_type(data) == CS_JSON_STRING ? cs_json_str(data, &arena) : cs_json_raw(data);
    struct cs_str level = cs_json_str(cs_json_get(params, "level"), &arena);
    text.len = text.len < CS_LOG_BYTES ? text.len : CS_LOG_BYTES;
    level.len = level.len < 32 ? level.len : 32;
    c->events.log(c->ctx, level, text);
}

static void on_notification(struct cs_client *c, struct cs_json_val method,
                            struct cs_json_val params)
{
    if (cs_json_is(method, "notifications/progress")) {
        cs_call_progress(c, params);
    } else if (cs_json_is(method, "notifications/tools/list_changed") ||
               cs_json_is(method, "notifications/subscriptions/acknowledged")) {
        /* From here on changes are told: what changed between our list and this was not. */
        cs_list_changed(c);
    } else if (cs_json_is(method, "notifications/message")) {
        on_log(c, params);
    } else if (cs_json_is(method, "notifications/cancelled")) {
        bool string;
        struct cs_json_val id = cs_json_get(params, "requestId");
        struct cs_client_call *r = cs_request_find(c, read_id(id, &string));
        if (r && r->kind == CS_REQ_LISTEN && r->string_id == string) {
            cs_request_free(r);
            cs_listen_over(c, false);
        } else {
            cs_ask_cancelled(c, cs_json_raw(id));
        }
    }
}

static void on_one(struct cs_client *c, struct cs_json_val root, uint64_t request)
{
    if (cs_json_type(root) != CS_JSON_OBJECT) {
        garbage(c, "something that is no message", cs_json_raw(root).len);
        return;
    }
    struct cs_json_val method = cs_json_get(root, "method"), id = cs_json_get(root, "id");
    if (cs_json_type(method) == CS_JSON_NONE) {
        on_response(c, root, id, request);
    } else if (cs_json_type(method) != CS_JSON_STRING || cs_json_type(id) == CS_JSON_NULL) {
        garbage(c, "a malformed request", cs_json_raw(root).len);
    } else if (cs_json_type(id) == CS_JSON_NONE) {
        on_notification(c, method, cs_json_get(root, "params"));
    } else if (cs_json_type(id) == CS_JSON_STRING || cs_json_type(id) == CS_JSON_NUMBER) {
        cs_ask_request(c, root, id, request);
    } else {
        garbage(c, "a request with an impossible id", cs_json_raw(root).len);
    }
}

/* From the quote of a string to its closing one, or to the end. */
static const char *skip_string(const char *at, const char *end)
{
    while (++at < end && *at != '"')
        at += *at == '\\';
    return at;
}

/* The value of "id" in an object, found without looking at the rest; empty if there is none. Of a
 * message that nobody would take, only this is of interest, and a tape of it would be several times
 * its size. */
static struct cs_str find_id(struct cs_str json)
{
    const char *end = json.at + json.len, *value = NULL;
    bool key = false;
    int depth = 0;
    for (const char *at = json.at; at < end; at++) {
        if (*at == '"') {
            const char *from = at;
            at = skip_string(at, end);
            if (depth == 1 && !value)
                key = at - from == 3 && memcmp(from, "\"id", 3) == 0;
        } else if (*at == ':' && depth == 1) {
            value = at + 1;
        } else if (depth == 1 && (*at == ',' || *at == '}')) {
            if (key && value)
                return cs_strn(value, (size_t)(at - value));
            key = false;
            value = NULL;
        } else {
            depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        }
    }
    return (struct cs_str){0};
}

/* Too large for any result that is allowed: costs the one request that it answers. */
static void too_large(struct cs_client *c, struct cs_str json, uint64_t request)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_str token = find_id(json);
    bool string = false;
    struct cs_client_call *r = cs_request_find(c, request);
    if (token.len > 0 && token.len < 64 && cs_json_parse(token, NULL, &doc, NULL) == 0)
        r = cs_request_find(c, read_id(cs_json_root(&doc), &string));
    if (!r || r->string_id != string) {
        garbage(c, "a message that is too large", json.len);
        return;
    }
    struct cs_err err = {0};
    cs_fail(&err, CS_LIMIT, "it answered %zu bytes, which is more than any result may have",
            json.len);
    cs_client_trouble(c, r->id, CS_TROUBLE_TOO_LARGE, 0, &err);
}

void cs_client_message(struct cs_client *c, struct cs_str json, uint64_t request)
{
    if (json.len > c->parse_max) {
        too_large(c, json, request);
        return;
    }
    const struct cs_json_limits limits = {
        .bytes = CS_MESSAGE_MAX + 1, .depth = CS_JSON_DEEPEST, .allow_duplicate = true};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    if (cs_json_parse(json, &limits, &doc, &err) < 0) {
        struct cs_client_call *r = cs_request_find(c, request);
        if (!r) {
            garbage(c, "a line that is no JSON", json.len);
            return;
        }
        cs_client_trouble(c, request, CS_TROUBLE_STATUS, 200, &err);
        return;
    }
    struct cs_json_val root = cs_json_root(&doc);
    /* Batches were in one revision only. */
    if (cs_json_type(root) == CS_JSON_ARRAY && cs_str_is(cs_buf_str(&c->protocol), "2025-03-26")) {
        struct cs_json_iter it = {0};
        struct cs_json_val item;
        while (cs_json_next(root, &it, NULL, &item)) {
            if (c->closing || c->phase == CS_CONN_CLOSING || c->phase == CS_CONN_OFF)
                return;
            on_one(c, item, request);
        }
        return;
    }
    on_one(c, root, request);
}

/* --- requests that get no answer (HTTP) --- */

/* A new session, and with it everything that depends on one; the call goes out again then. */
static void session_lost(struct cs_client *c, struct cs_client_call *r, const struct cs_err *err)
{
    bool call = r->kind == CS_REQ_CALL;
    bool late = r->id < c->session_from; /* another request has learned of it first */
    if ((call && r->session_retried) || (!call && c->phase != CS_CONN_READY)) {
        if (call)
            cs_call_fail(r, err, true, 0);
        else
            cs_client_lost(c, err);
        return;
    }
    if (call) {
        r->session_retried = true;
        cs_request_unsent(r);
        r->status = CS_AT_WAITING;
    } else {
        cs_request_free(r);
    }
    if (late) {
        if (c->phase == CS_CONN_LISTING || c->phase == CS_CONN_READY)
            cs_call_send_waiting(c);
    } else if (c->phase != CS_CONN_INITIALIZING) {
        cs_list_stop(c);
        cs_era_initialize(c);
    }
}

static void trouble_in_handshake(struct cs_client *c, struct cs_client_call *r,
                                 enum cs_trouble trouble, int http_status, const struct cs_err *err)
{
    bool probing = r->kind == CS_REQ_DISCOVER && c->server->era == CS_ERA_AUTO;
    cs_request_free(r);
    if (probing && trouble == CS_TROUBLE_STATUS && http_status >= 200 && http_status < 500)
        cs_era_initialize(c);
    else
        cs_client_lost(c, err);
}

void cs_client_trouble(struct cs_client *c, uint64_t id, enum cs_trouble trouble, int http_status,
                       const struct cs_err *cause)
{
    struct cs_client_call *r = cs_request_find(c, id);
    struct cs_err err = *cause;
    if (!r)
        return;
    bool login = trouble == CS_TROUBLE_UNAUTHORIZED;
    err.code = login ? CS_DENIED : trouble == CS_TROUBLE_TOO_LARGE ? CS_LIMIT : CS_UPSTREAM;
    cs_wrap(&err, "server '%s'", c->server->name);
    if (trouble == CS_TROUBLE_SESSION) {
        session_lost(c, r, &err);
        return;
    }
    switch (r->kind) {
    case CS_REQ_DISCOVER:
    case CS_REQ_INITIALIZE:
        trouble_in_handshake(c, r, trouble, http_status, &err);
        return;
    case CS_REQ_LIST:
        cs_request_free(r);
        cs_list_failed(c, &err);
        return;
    case CS_REQ_LISTEN:
        cs_request_free(r);
        cs_listen_over(c, trouble == CS_TROUBLE_STATUS && http_status < 500);
        return;
    case CS_REQ_CALL:
        c->info.last_error = err;
        if (login)
            cs_client_set_state(c, CS_CLIENT_LOGIN);
        cs_call_fail(r, &err,
                     trouble == CS_TROUBLE_LOST || http_status >= 500 || http_status == 429, 0);
        return;
    }
}

/*
 * Questions to the client. In the older revisions a request of ours; in the newest one the answer
 * `input_required`: the call is parked then, and goes on with the client's next request, which
 * brings the answers and the sealed state that we gave out.
 */
#include "base/mem.h"
#include "mcp/proto.h"

static const char *const methods[] = {
    [CS_ASK_FORM] = "elicitation/create",
    [CS_ASK_URL] = "elicitation/create",
    [CS_ASK_SAMPLE] = "sampling/createMessage",
    [CS_ASK_ROOTS] = "roots/list",
};

/* --- questions --- */

static struct cs_question *question_of(struct cs_link *l)
{
    return CS_OF(l, struct cs_question, link);
}

static void free_question(struct cs_question *q)
{
    cs_link_off(&q->link);
    q->req->open--;
    cs_buf_done(&q->key);
    cs_buf_done(&q->params);
    cs_buf_done(&q->answer);
    free(q);
}

void cs_ask_drop_all(struct cs_req *r)
{
    struct cs_link *list = &r->call.mcp->asks;
    for (struct cs_link *l = list->next, *next; r->open > 0 && l != list; l = next) {
        next = l->next;
        if (question_of(l)->req == r)
            free_question(question_of(l));
    }
}

static struct cs_question *find(const struct cs_req *r, uint64_t ask)
{
    struct cs_link *list = &r->call.mcp->asks;
    for (struct cs_link *l = list->next; l != list; l = l->next)
        if (question_of(l)->req == r && question_of(l)->ask == ask)
            return question_of(l);
    return NULL;
}

/* The call may be gone afterwards. */
static void give(struct cs_question *q, struct cs_str result)
{
    CS_AUTO_BUF struct cs_buf answer = {0};
    struct cs_req *r = q->req;
    uint64_t ask = q->ask;
    cs_buf_putstr(&answer, result);
    free_question(q);
    if (r->task)
        cs_task_asks(r->task);
    if (r->call.answered && !r->ending && !r->over)
        r->call.answered(&r->call, ask, cs_buf_str(&answer));
}

/* --- asking --- */

bool cs_mcp_can_ask(const struct cs_mcp_call *call, enum cs_ask_kind kind)
{
    return ((const struct cs_req *)call)->asks & 1u << kind;
}

static void put_params(const struct cs_question *q, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf more = {0};
    CS_AUTO_BUF struct cs_buf meta = {0};
    struct cs_str params = cs_buf_str(&q->params);
    bool old = q->req->version != CS_VMODERN;
    if (q->kind == CS_ASK_URL && !memmem(params.at, params.len, "\"mode\"", 6))
        cs_buf_puts(&more, "\"mode\":\"url\"");
    if (q->kind == CS_ASK_URL && old && !memmem(params.at, params.len, "\"elicitationId\"", 15))
        cs_buf_printf(&more, "%s\"elicitationId\":\"%llu\"", more.len > 0 ? "," : "",
                      (unsigned long long)q->id);
    if (q->req->task && old)
        cs_task_put_related(q->req->task, &meta);
    cs_rpc_splice(params, cs_buf_str(&more), cs_buf_str(&meta), out);
}

static void send_old(struct cs_question *q, struct cs_req *via)
{
    CS_AUTO_BUF struct cs_buf out = {0}, params = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    q->asked = via->peer;
    q->id = ++via->peer->next_id;
    put_params(q, &params);
    cs_json_open(&w, '{');
    cs_json_key(&w, "jsonrpc");
    cs_json_put_z(&w, "2.0");
    cs_json_key(&w, "id");
    cs_json_put_u64(&w, q->id);
    cs_json_key(&w, "method");
    cs_json_put_z(&w, methods[q->kind]);
    cs_json_key(&w, "params");
    cs_json_put_raw(&w, cs_buf_str(&params));
    cs_json_close(&w, '}');
    cs_req_say(via, cs_buf_str(&out), false);
}

void cs_ask_send_old(struct cs_req *r, struct cs_req *via)
{
    struct cs_link *list = &r->call.mcp->asks;
    for (struct cs_link *l = list->next; l != list; l = l->next) {
        struct cs_question *q = question_of(l);
        if (q->req == r && !q->asked && !q->declined)
            send_old(q, via);
    }
}

static void ask_old(struct cs_question *q)
{
    struct cs_req *r = q->req;
    if (!r->task || r->peer->kind == CS_PEER_LINES)
        send_old(q, r);
    else if (!cs_link_alone(&r->task->waiting))
        send_old(q, CS_OF(r->task->waiting.next, struct cs_req, waiting));
    /* Else it waits until somebody wants to hear the result. */
}

static bool key_is_taken(const struct cs_req *r, struct cs_str key)
{
    struct cs_link *list = &r->call.mcp->asks;
    for (struct cs_link *l = list->next; l != list; l = l->next)
        if (question_of(l)->req == r && cs_str_eq(cs_buf_str(&question_of(l)->key), key))
            return true;
    return false;
}

static void name(struct cs_question *q, const char *key)
{
    struct cs_json_writer w = CS_JSON_WRITER(&q->key);
    cs_json_put_z(&w, key ? key : "");
    if (key && *key && !key_is_taken(q->req, cs_buf_str(&q->key)))
        return;
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_printf(&text, "%s-%llu", key && *key ? key : "ask",
                  (unsigned long long)++q->req->next_key);
    cs_buf_clear(&q->key);
    w = CS_JSON_WRITER(&q->key);
    cs_json_put_str(&w, cs_buf_str(&text));
}

static void ask(struct cs_mcp_call *call, uint64_t number, const char *key, unsigned kind,
                struct cs_str params)
{
    struct cs_req *r = (struct cs_req *)call;
    struct cs_mcp *m = call->mcp;
    if (r->ending || r->over || !r->peer)
        return;
    struct cs_question *q = CS_NEW(struct cs_question);
    q->req = r;
    q->ask = number;
    q->kind = kind;
    q->until = cs_mcp_now() + CS_ASK_WAIT;
    q->declined = !(r->asks & 1u << kind) || r->open >= CS_QUESTIONS;
    name(q, key);
    cs_buf_putstr(&q->params, params.len >= 2 ? params : CS_STR("{}"));
    cs_link_before(&m->asks, &q->link);
    r->open++;
    if (q->declined || (r->version == CS_VMODERN && !r->task)) {
        cs_mcp_soon(m);
        return;
    }
    if (r->version != CS_VMODERN)
        ask_old(q);
    if (r->task)
        cs_task_asks(r->task);
}

void cs_mcp_ask(struct cs_mcp_call *call, uint64_t number, const char *key, enum cs_ask_kind kind,
                struct cs_str params)
{
    ask(call, number, key, kind, params);
}

void cs_mcp_ask_roots(struct cs_mcp_call *call, uint64_t number, const char *key)
{
    ask(call, number, key, CS_ASK_ROOTS, (struct cs_str){0});
}

void cs_mcp_withdraw(struct cs_mcp_call *call, uint64_t number)
{
    struct cs_req *r = (struct cs_req *)call;
    struct cs_question *q = find(r, number);
    if (!q)
        return;
    if (q->asked && q->asked == r->peer) {
        CS_AUTO_BUF struct cs_buf out = {0};
        struct cs_json_writer w = cs_rpc_begin(&out, "notifications/cancelled");
        cs_json_key(&w, "requestId");
        cs_json_put_u64(&w, q->id);
        cs_rpc_end(&w);
        cs_req_say(r, cs_buf_str(&out), false);
    }
    free_question(q);
    if (r->task)
        cs_task_asks(r->task);
}

/* --- answers --- */

void cs_ask_response(struct cs_peer *peer, struct cs_json_val message)
{
    int64_t id = 0;
    struct cs_link *list = &peer->mcp->asks;
    struct cs_json_val result = cs_json_get(message, "result");
    if (!cs_json_i64(cs_json_get(message, "id"), &id) || id <= 0)
        return;
    for (struct cs_link *l = list->next; l != list; l = l->next) {
        struct cs_question *q = question_of(l);
        if (q->asked != peer || q->id != (uint64_t)id)
            continue;
        bool good = cs_json_type(result) == CS_JSON_OBJECT;
        give(q, good ? cs_json_raw(result) : (struct cs_str){0});
        return;
    }
}

void cs_ask_peer_gone(struct cs_peer *peer)
{
    struct cs_link *list = &peer->mcp->asks;
    for (struct cs_link *l = list->next; l != list; l = l->next)
        if (question_of(l)->asked == peer)
            question_of(l)->asked = NULL;
}

/* Answers that were put beside their questions. Each may end the call, and with it the rest. */
static void give_all(struct cs_mcp *m, const struct cs_req *r)
{
    for (struct cs_link *l = m->asks.next; l != &m->asks; l = l->next) {
        struct cs_question *q = question_of(l);
        if (q->req != r || q->answer.len == 0)
            continue;
        struct cs_buf answer = q->answer;
        q->answer = (struct cs_buf){0};
        give(q, cs_buf_str(&answer));
        cs_buf_done(&answer);
        l = &m->asks;
    }
}

bool cs_ask_take(struct cs_req *r, struct cs_json_val responses)
{
    struct cs_mcp *m = r->call.mcp;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    if (cs_json_type(responses) != CS_JSON_OBJECT && cs_json_type(responses) != CS_JSON_NONE)
        return false;
    for (struct cs_link *l = m->asks.next; l != &m->asks; l = l->next) {
        struct cs_question *q = question_of(l);
        if (q->req != r)
            continue;
        CS_AUTO_JSON struct cs_json key = {0};
        cs_json_parse(cs_buf_str(&q->key), NULL, &key, NULL);
        struct cs_str text = cs_json_str(cs_json_root(&key), &arena);
        struct cs_json_val answer = cs_json_get(responses, cs_arena_dup(&arena, text).at);
        if ((q->given || r->task) && cs_json_type(answer) == CS_JSON_OBJECT)
            cs_buf_putstr(&q->answer, cs_json_raw(answer));
        else if (!r->task)
            q->given = false; /* it is asked again */
    }
    cs_mcp_soon(m);
    give_all(m, r);
    return true;
}

void cs_ask_put(struct cs_req *r, struct cs_json_writer *w)
{
    struct cs_link *list = &r->call.mcp->asks;
    cs_json_open(w, '{');
    for (struct cs_link *l = list->next; l != list; l = l->next) {
        struct cs_question *q = question_of(l);
        CS_AUTO_BUF struct cs_buf params = {0};
        if (q->req != r || q->declined)
            continue;
        q->given = true;
        put_params(q, &params);
        cs_json_put_raw(w, cs_buf_str(&q->key));
        cs_buf_putc(w->out, ':');
        w->comma = false;
        cs_json_open(w, '{');
        cs_json_key(w, "method");
        cs_json_put_z(w, methods[q->kind]);
        cs_json_key(w, "params");
        cs_json_put_raw(w, cs_buf_str(&params));
        cs_json_close(w, '}');
    }
    cs_json_close(w, '}');
}

/* --- the newest revision: parked calls --- */

static void park(struct cs_req *r)
{
    CS_AUTO_BUF struct cs_buf result = {0}, out = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&result);
    unsigned char digest[32];
    char state[CS_SEAL_TEXT];
    if (r->round == 0)
        cs_random_bytes(r->handle, sizeof r->handle);
    r->round++;
    r->until = cs_mcp_now() + CS_ASK_WAIT;
    r->parked = true;
    struct cs_seal seal = {.round = r->round, .until = r->until};
    memcpy(seal.handle, r->handle, sizeof seal.handle);
    cs_seal_digest(&r->call.caller, cs_str(r->offered->name), r->call.params, digest);
    cs_seal(r->call.mcp->key, &seal, digest, state);
    cs_json_open(&w, '{');
    cs_json_key(&w, "inputRequests");
    cs_ask_put(r, &w);
    cs_json_key(&w, "requestState");
    cs_json_put_z(&w, state);
    cs_json_close(&w, '}');
    cs_req_dress(r, cs_buf_str(&result), "input_required", &out);
    cs_req_deliver(r, false, cs_buf_str(&out), 200);
}

void cs_ask_soon(struct cs_mcp *m)
{
    for (struct cs_link *l = m->asks.next; l != &m->asks; l = l->next) {
        struct cs_question *q = question_of(l);
        if (!q->declined)
            continue;
        give(q, (struct cs_str){0});
        l = &m->asks; /* anything may have happened */
    }
    for (struct cs_link *l = m->asks.next; l != &m->asks; l = l->next) {
        struct cs_question *q = question_of(l);
        struct cs_req *r = q->req;
        if (!q->given && !r->task && r->version == CS_VMODERN && r->id[0] && !r->parked)
            park(r);
    }
}

void cs_ask_tick(struct cs_mcp *m, uint64_t now)
{
    for (struct cs_link *l = m->reqs.next, *next; l != &m->reqs; l = next) {
        struct cs_req *r = CS_OF(l, struct cs_req, all);
        next = l->next;
        if (r->parked && now > r->until)
            cs_req_cancel(r);
    }
    for (struct cs_link *l = m->asks.next; l != &m->asks; l = l->next)
        if (now > question_of(l)->until && !question_of(l)->req->parked) {
            question_of(l)->declined = true;
            cs_mcp_soon(m);
        }
}

static struct cs_req *find_parked(struct cs_mcp *m, const struct cs_seal *seal)
{
    for (struct cs_link *l = m->reqs.next; l != &m->reqs; l = l->next) {
        struct cs_req *r = CS_OF(l, struct cs_req, all);
        if (r->parked && r->round == seal->round && cs_mcp_now() <= r->until &&
            memcmp(r->handle, seal->handle, sizeof r->handle) == 0)
            return r;
    }
    return NULL;
}

/* The parked call goes on in the place of the request that came for it. */
static void take_over(struct cs_req *r, struct cs_req *from)
{
    memcpy(r->id, from->id, sizeof r->id);
    memcpy(r->token, from->token, sizeof r->token);
    r->stream = from->stream;
    r->batch = from->batch;
    r->asks = from->asks;
    r->level = from->level;
    r->speaks_tasks = from->speaks_tasks;
    r->said = r->waits = false;
    r->said_at = cs_mcp_now();
    r->parked = false;
    r->task_at = r->speaks_tasks && r->task_id[0] ? r->said_at + CS_TASK_AFTER : 0;
    if (r->stream)
        r->stream->req = r;
    from->stream = NULL;
    from->batch = NULL;
    from->id[0] = '\0';
    if (r->peer != from->peer) {
        cs_link_off(&r->link);
        r->peer->req_count--;
        r->peer = from->peer;
        r->peer->req_count++;
        cs_link_before(&r->peer->reqs, &r->link);
    }
}

bool cs_ask_retry(struct cs_req *req)
{
    struct cs_json_val state = cs_json_get(req->call.params, "requestState");
    struct cs_json_val responses = cs_json_get(req->call.params, "inputResponses");
    struct cs_seal seal;
    unsigned char digest[32];
    if (req->version != CS_VMODERN || cs_json_type(state) == CS_JSON_NONE)
        return false;
    cs_seal_digest(&req->call.caller, cs_str(req->offered->name), req->call.params, digest);
    if (!cs_unseal(req->call.mcp->key, cs_json_str(state, &req->call.arena), digest, &seal)) {
        cs_mcp_error(&req->call, CS_RPC_PARAMS,
                     "params.requestState is not what this server gave out for this request",
                     (struct cs_str){0});
        return true;
    }
    struct cs_req *r = find_parked(req->call.mcp, &seal);
    if (!r) {
        cs_mcp_error(&req->call, CS_RPC_PARAMS,
                     "params.requestState was used before, or has expired: start again without it",
                     (struct cs_str){0});
        return true;
    }
    if (cs_json_type(responses) != CS_JSON_OBJECT && cs_json_type(responses) != CS_JSON_NONE) {
        cs_mcp_error(&req->call, CS_RPC_PARAMS, "params.inputResponses must be an object",
                     (struct cs_str){0});
        return true;
    }
    take_over(r, req);
    if (r->over) {
        cs_req_deliver(r, r->failed, cs_buf_str(&r->outcome), 200);
        cs_req_free(r);
    } else {
        cs_ask_take(r, responses);
    }
    cs_req_free(req);
    return true;
}

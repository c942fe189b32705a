/* What a server asks of us: as requests (legacy), or as input_required in an answer (modern). */
#include "base/mem.h"
#include "tools/client_in.h"

#define DECLINED  "{\"action\":\"decline\"}"
#define DISMISSED "{\"action\":\"cancel\"}"

void cs_ask_roots(struct cs_client *c, struct cs_buf *json)
{
    struct cs_json_writer w = CS_JSON_WRITER(json);
    cs_json_open(&w, '{');
    cs_json_key(&w, "roots");
    cs_json_open(&w, '[');
    for (const char **root = c->server->roots; root && *root; root++) {
        const char *slash = strrchr(*root, '/');
        cs_json_open(&w, '{');
        cs_json_key(&w, "uri");
        cs_json_put_z(&w, *root);
        if (slash && slash[1]) {
            cs_json_key(&w, "name");
            cs_json_put_z(&w, slash + 1);
        }
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
}

/* --- questions that are open --- */

static struct cs_ask *take(struct cs_client *c, uint64_t id)
{
    struct cs_ask **at = &c->asks;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    struct cs_ask *ask = *at;
    if (ask) {
        *at = ask->next;
        c->ask_count--;
    }
    return ask;
}

static void free_ask(struct cs_ask *ask)
{
    cs_buf_done(&ask->token);
    free(ask);
}

/* It is no longer in the list. */
static void withdraw(struct cs_client *c, struct cs_ask *ask)
{
    uint64_t id = ask->id;
    free_ask(ask);
    if (c->events.withdrawn)
        c->events.withdrawn(c->ctx, id);
}

/* --- the clock of a call stands while somebody is asked --- */

static bool concerns(const struct cs_ask *ask, const struct cs_client_call *r)
{
    if (ask->modern || r->kind != CS_REQ_CALL || r->status != CS_AT_SENT)
        return false;
    return ask->call ? ask->call == r : r->id < ask->before;
}

static bool is_asked(const struct cs_client *c, const struct cs_client_call *r)
{
    const struct cs_ask *ask = c->asks;
    while (ask && !concerns(ask, r))
        ask = ask->next;
    return ask != NULL;
}

/* Before `ask` is put into the list. */
static void stop_clocks(struct cs_client *c, struct cs_ask *ask, uint64_t now)
{
    ask->due = now + c->parts.person;
    cs_client_wake(c, ask->due);
    for (struct cs_link *l = c->requests.next; l != &c->requests; l = l->next) {
        struct cs_client_call *r = cs_link_request(l);
        if (!concerns(ask, r))
            continue;
        if (!is_asked(c, r)) {
            r->asked_at = now;
            r->left = r->due > now ? r->due - now : 0;
        }
        r->due = ask->due;
    }
}

/* After it was taken out. */
static void start_clocks(struct cs_client *c, const struct cs_ask *ask)
{
    uint64_t now = cs_client_now();
    for (struct cs_link *l = c->requests.next; l != &c->requests; l = l->next) {
        struct cs_client_call *r = cs_link_request(l);
        if (!concerns(ask, r) || is_asked(c, r))
            continue;
        /* A person's time is not the tool's. */
        r->latest += now - r->asked_at;
        r->due = now + r->left;
        cs_client_wake(c, r->due);
    }
}

/* --- answers --- */

static void put_input(struct cs_client_call *r, struct cs_str key, struct cs_str value)
{
    if (r->inputs.len > 0)
        cs_buf_putc(&r->inputs, ',');
    cs_buf_putstr(&r->inputs, key);
    cs_buf_putc(&r->inputs, ':');
    cs_buf_putstr(&r->inputs, value);
}

static void refuse_sampling(struct cs_client *c, struct cs_client_call *r)
{
    struct cs_err err = {0};
    cs_fail(&err, CS_UPSTREAM,
            "tool '%.100s' of server '%s' asks for a language model, and there is none for it",
            r->tool, c->server->name);
    cs_call_doom(r, &err);
}

/* Empty: declined. */
static void answer_modern(struct cs_client *c, struct cs_client_call *r, bool sampling,
                          struct cs_str key, struct cs_str result)
{
    if (r->status != CS_AT_ASKING)
        return;
    if (result.len == 0 && sampling) {
        refuse_sampling(c, r);
        return;
    }
    put_input(r, key, result.len > 0 ? result : CS_STR(DECLINED));
    if (--r->asks == 0)
        cs_call_again(r);
}

static void answer_legacy(struct cs_client *c, struct cs_str id, bool sampling,
                          struct cs_str result)
{
    if (result.len > 0)
        cs_client_reply(c, id, result);
    else if (sampling)
        cs_client_refuse(c, id, -1, "sampling was refused");
    else
        cs_client_reply(c, id, CS_STR(DECLINED));
}

static void settle(struct cs_client *c, struct cs_ask *ask, struct cs_str result)
{
    if (ask->modern) {
        answer_modern(c, ask->call, ask->sampling, cs_buf_str(&ask->token), result);
    } else {
        start_clocks(c, ask);
        answer_legacy(c, cs_buf_str(&ask->token), ask->sampling, result);
    }
    free_ask(ask);
}

/* Nobody will answer it any more; a server that waits for it is told so. */
static void dismiss(struct cs_client *c, struct cs_ask *ask)
{
    bool connected = c->phase == CS_CONN_LISTING || c->phase == CS_CONN_READY;
    if (!ask->modern && connected) {
        start_clocks(c, ask);
        answer_legacy(c, cs_buf_str(&ask->token), ask->sampling,
                      ask->sampling ? (struct cs_str){0} : CS_STR(DISMISSED));
    }
    withdraw(c, ask);
}

/* Does nobody wait for it once `r` is over? */
static bool only_for(const struct cs_client *c, const struct cs_ask *ask,
                     const struct cs_client_call *r)
{
    if (ask->call || !concerns(ask, r))
        return ask->call == r;
    for (struct cs_link *l = c->requests.next; l != &c->requests; l = l->next)
        if (cs_link_request(l) != r && concerns(ask, cs_link_request(l)))
            return false;
    return true;
}

void cs_ask_forget(struct cs_client *c, struct cs_client_call *r)
{
    struct cs_ask *ask = c->asks;
    while (ask) {
        if (r && !only_for(c, ask, r)) {
            ask = ask->next;
            continue;
        }
        take(c, ask->id);
        if (r)
            dismiss(c, ask);
        else
            withdraw(c, ask);
        ask = c->asks; /* whoever was told may have answered others */
    }
}

void cs_ask_cancelled(struct cs_client *c, struct cs_str id)
{
    for (struct cs_ask *ask = c->asks; ask; ask = ask->next) {
        if (!ask->modern && cs_str_eq(cs_buf_str(&ask->token), id)) {
            take(c, ask->id);
            start_clocks(c, ask);
            withdraw(c, ask);
            return;
        }
    }
}

uint64_t cs_ask_expire(struct cs_client *c, uint64_t now)
{
    uint64_t next = CS_NEVER;
    struct cs_ask *ask = c->asks;
    while (ask) {
        if (ask->modern || ask->due > now) {
            next = !ask->modern && ask->due < next ? ask->due : next;
            ask = ask->next;
            continue;
        }
        dismiss(c, take(c, ask->id));
        next = CS_NEVER;
        ask = c->asks;
    }
    return next;
}

void cs_client_answer(struct cs_client *client, uint64_t id, struct cs_str result)
{
    struct cs_ask *ask = take(client, id);
    if (ask)
        settle(client, ask, result);
}

static bool can_ask(const struct cs_client *c, bool sampling, bool url)
{
    const struct cs_client_options *o = &c->options;
    return (sampling ? o->can_sample
            : url    ? o->can_elicit_url
                     : o->can_elicit) &&
           c->events.ask && c->ask_count < CS_ASKS_MAX;
}

/* Hands a question on; declines it if nobody is there. `r` may be NULL (legacy). */
static void put_question(struct cs_client *c, struct cs_client_call *r, bool modern, bool sampling,
                         struct cs_str token, struct cs_json_val params)
{
    bool url = !sampling && cs_json_is(cs_json_get(params, "mode"), "url");
    struct cs_str text = cs_json_raw(params);
    if (!can_ask(c, sampling, url)) {
        if (modern)
            answer_modern(c, r, sampling, token, (struct cs_str){0});
        else
            answer_legacy(c, token, sampling, (struct cs_str){0});
        return;
    }
    struct cs_ask *ask = CS_NEW(struct cs_ask);
    uint64_t id = ask->id = ++c->next_ask;
    ask->sampling = sampling;
    ask->modern = modern;
    ask->call = r;
    ask->before = c->next_id + 1;
    cs_buf_putstr(&ask->token, token);
    if (!modern)
        stop_clocks(c, ask, cs_client_now());
    ask->next = c->asks;
    c->asks = ask;
    c->ask_count++;
    const struct cs_client_ask question = {
        .id = id,
        .method = sampling ? "sampling/createMessage" : "elicitation/create",
        .url = url,
        .params = text.len > 0 ? text : CS_STR("{}"),
        .call_ctx = r ? r->ctx : NULL,
    };
    if (c->events.ask(c->ctx, &question))
        return;
    ask = take(c, id);
    if (ask)
        settle(c, ask, (struct cs_str){0});
}

/* --- modern --- */

static void bad_inputs(struct cs_client *c, struct cs_client_call *r, const char *what)
{
    struct cs_err err = {0};
    cs_fail(&err, CS_UPSTREAM, "tool '%.100s' of server '%s' %s", r->tool, c->server->name, what);
    cs_call_doom(r, &err);
}

static void ask_one(struct cs_client *c, struct cs_client_call *r, struct cs_json_val key,
                    struct cs_json_val item)
{
    struct cs_json_val method = cs_json_get(item, "method");
    struct cs_json_val params = cs_json_get(item, "params");
    if (cs_json_is(method, "roots/list")) {
        CS_AUTO_BUF struct cs_buf roots = {0};
        cs_ask_roots(c, &roots);
        answer_modern(c, r, false, cs_json_raw(key), cs_buf_str(&roots));
    } else if (cs_json_is(method, "elicitation/create")) {
        put_question(c, r, true, false, cs_json_raw(key), params);
    } else if (cs_json_is(method, "sampling/createMessage")) {
        put_question(c, r, true, true, cs_json_raw(key), params);
    } else {
        bad_inputs(c, r, "asks for something that is no part of the protocol");
    }
}

void cs_ask_inputs(struct cs_client *c, struct cs_client_call *r, struct cs_json_val result)
{
    struct cs_json_val inputs = cs_json_get(result, "inputRequests");
    struct cs_json_val state = cs_json_get(result, "requestState");
    uint32_t count = cs_json_count(inputs);
    cs_request_unsent(r);
    cs_buf_clear(&r->inputs);
    cs_buf_clear(&r->state);
    if (cs_json_type(state) == CS_JSON_STRING)
        cs_buf_putstr(&r->state, cs_json_raw(state));
    r->status = CS_AT_ASKING;
    if ((cs_json_type(inputs) != CS_JSON_NONE && cs_json_type(inputs) != CS_JSON_OBJECT) ||
        (cs_json_type(state) != CS_JSON_NONE && cs_json_type(state) != CS_JSON_STRING) ||
        (count == 0 && r->state.len == 0)) {
        bad_inputs(c, r, "asks for input without saying which");
        return;
    }
    if (++r->rounds > CS_ROUNDS_MAX || count > CS_ASKS_MAX) {
        bad_inputs(c, r, "asks for input again and again");
        return;
    }
    uint64_t now = cs_client_now();
    if (count == 0) {
        r->status = CS_AT_WAITING;
        r->paced = true;
        r->due = now + c->parts.pace;
        cs_client_wake(c, r->due);
        return;
    }
    r->due = now + c->parts.person;
    cs_client_wake(c, r->due);
    /* One more than there are, so that an answer given at once does not send too early. */
    r->asks = count + 1;
    r->held = true;
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (r->status == CS_AT_ASKING && cs_json_next(inputs, &it, &key, &item))
        ask_one(c, r, key, item);
    r->held = false;
    if (r->status == CS_AT_DONE)
        cs_request_free(r);
    else if (r->status == CS_AT_ASKING && --r->asks == 0)
        cs_call_again(r);
}

/* --- legacy --- */

/* The call during which a request came: the stream says so (HTTP), or there is but one. */
static struct cs_client_call *during(struct cs_client *c, uint64_t request)
{
    struct cs_client_call *only = cs_request_find(c, request);
    if (only && only->kind == CS_REQ_CALL)
        return only;
    only = NULL;
    for (struct cs_link *l = c->requests.next; l != &c->requests; l = l->next) {
        struct cs_client_call *r = cs_link_request(l);
        if (r->kind != CS_REQ_CALL || r->status != CS_AT_SENT)
            continue;
        if (only)
            return NULL;
        only = r;
    }
    return only;
}

/* Somebody is there, but not for this. */
static bool undeclared_mode(const struct cs_client *c, struct cs_json_val params)
{
    bool url = cs_json_is(cs_json_get(params, "mode"), "url");
    return url ? c->options.can_elicit && !c->options.can_elicit_url
               : c->options.can_elicit_url && !c->options.can_elicit;
}

void cs_ask_request(struct cs_client *c, struct cs_json_val root, struct cs_json_val id,
                    uint64_t request)
{
    struct cs_json_val method = cs_json_get(root, "method");
    struct cs_json_val params = cs_json_get(root, "params");
    struct cs_str token = cs_json_raw(id);
    if (c->modern || token.len > 1000) {
        /* Modern servers send no requests; over HTTP there is not even a way to answer. */
        if (!c->server->is_http)
            cs_client_refuse(c, token.len > 1000 ? CS_STR("null") : token, CS_RPC_NO_METHOD,
                             "servers send no requests");
    } else if (cs_json_is(method, "ping")) {
        cs_client_reply(c, token, CS_STR("{}"));
    } else if (cs_json_is(method, "roots/list") && c->server->roots && c->server->roots[0]) {
        CS_AUTO_BUF struct cs_buf roots = {0};
        cs_ask_roots(c, &roots);
        cs_client_reply(c, token, cs_buf_str(&roots));
    } else if (cs_json_is(method, "elicitation/create") && undeclared_mode(c, params)) {
        cs_client_refuse(c, token, CS_RPC_PARAMS, "this mode of elicitation was not declared");
    } else if (cs_json_is(method, "elicitation/create")) {
        put_question(c, during(c, request), false, false, token, params);
    } else if (cs_json_is(method, "sampling/createMessage") && c->options.can_sample) {
        put_question(c, during(c, request), false, true, token, params);
    } else {
        cs_client_refuse(c, token, CS_RPC_NO_METHOD, "Method not found");
    }
}

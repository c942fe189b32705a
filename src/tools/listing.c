/* tools/list with all its pages, and how we learn that it changed. */
#include <inttypes.h>

#include "tools/client_in.h"

static void next_page(struct cs_client *c, struct cs_client_call *r, struct cs_str cursor)
{
    r->due = cs_client_now() + c->parts.connect;
    cs_request_begin(r, "tools/list");
    if (cursor.len > 0) {
        cs_buf_puts(&c->out, "\"cursor\":");
        cs_json_line(&c->out, cursor);
    }
    cs_request_send(r, "tools/list", (struct cs_str){0}, NULL);
}

void cs_list_begin(struct cs_client *c)
{
    struct cs_listing *l = &c->listing;
    c->relist_at = CS_NEVER;
    if (l->active) {
        l->again = true;
        return;
    }
    l->active = true;
    l->again = false;
    l->pages = l->count = l->dropped = 0;
    cs_buf_clear(&l->cursors);
    cs_buf_clear(&l->tools);
    cs_buf_putc(&l->tools, '[');
    next_page(c, cs_request_new(c, CS_REQ_LIST, (struct cs_str){0}), (struct cs_str){0});
}

void cs_list_stop(struct cs_client *c)
{
    struct cs_link *next;
    for (struct cs_link *l = c->requests.next; l != &c->requests; l = next) {
        next = l->next;
        if (cs_link_request(l)->kind == CS_REQ_LIST)
            cs_request_free(cs_link_request(l));
    }
    c->listing.active = c->listing.again = false;
    cs_buf_done(&c->listing.tools);
    cs_buf_done(&c->listing.cursors);
}

void cs_list_changed(struct cs_client *c)
{
    uint64_t now = cs_client_now(), at = now + c->parts.debounce;
    if (c->phase != CS_CONN_READY) {
        c->listing.again = c->listing.active;
        return;
    }
    /* A server that says so all the time is not asked all the time. */
    uint64_t earliest = c->listed_at + 5 * (uint64_t)c->parts.debounce;
    at = at < earliest ? earliest : at;
    if (at < c->relist_at)
        c->relist_at = at;
    cs_client_wake(c, c->relist_at);
}

/* A call that was refused for its headers takes the schema that the tool has now. */
static void renew_schemas(struct cs_client *c)
{
    bool any = false;
    for (struct cs_link *l = c->requests.next; l != &c->requests; l = l->next)
        any |= cs_link_request(l)->status == CS_AT_WAITING && cs_link_request(l)->header_retried;
    CS_AUTO_JSON struct cs_json doc = {0};
    const struct cs_json_limits limits = {
        .bytes = 2 * CS_MESSAGE_MAX, .depth = CS_JSON_DEEPEST, .allow_duplicate = true};
    if (!any || cs_json_parse(cs_buf_str(&c->listing.tools), &limits, &doc, NULL) < 0)
        return;
    for (struct cs_link *l = c->requests.next; l != &c->requests; l = l->next) {
        struct cs_client_call *r = cs_link_request(l);
        if (r->status != CS_AT_WAITING || !r->header_retried)
            continue;
        struct cs_json_iter it = {0};
        struct cs_json_val tool;
        while (cs_json_next(cs_json_root(&doc), &it, NULL, &tool)) {
            if (!cs_json_is(cs_json_get(tool, "name"), r->tool))
                continue;
            cs_buf_clear(&r->schema);
            cs_buf_putstr(&r->schema, cs_json_raw(cs_json_get(tool, "inputSchema")));
        }
    }
}

static void finish(struct cs_client *c)
{
    struct cs_listing *l = &c->listing;
    cs_buf_putc(&l->tools, ']');
    l->active = false;
    c->listed_at = cs_client_now();
    renew_schemas(c);
    struct cs_buf tools = l->tools;
    l->tools = (struct cs_buf){0};
    if (c->events.listed)
        c->events.listed(c->ctx, cs_buf_str(&tools));
    cs_buf_done(&tools);
    bool again = l->again;
    cs_client_ready(c);
    if (c->phase != CS_CONN_READY || c->closing)
        return;
    cs_call_send_waiting(c);
    if (again && c->phase == CS_CONN_READY)
        cs_list_changed(c);
}

void cs_list_failed(struct cs_client *c, const struct cs_err *err)
{
    c->listing.active = false;
    if (c->phase != CS_CONN_READY || err->code == CS_DENIED) {
        cs_client_lost(c, err);
        return;
    }
    c->info.last_error = *err;
    cs_client_say(c, "warning", "%s", err->msg);
    cs_client_changed(c);
    if (c->phase == CS_CONN_READY)
        cs_call_send_waiting(c);
}

/* Takes the tools of one page. False: that is enough. */
static bool take_tools(struct cs_client *c, struct cs_json_val tools)
{
    struct cs_listing *l = &c->listing;
    struct cs_json_iter it = {0};
    struct cs_json_val tool;
    while (cs_json_next(tools, &it, NULL, &tool)) {
        CS_AUTO_BUF struct cs_buf why = {0};
        if (c->modern && c->server->is_http &&
            !cs_mirror_ok(cs_json_get(tool, "inputSchema"), &why)) {
            struct cs_str name = cs_json_raw(cs_json_get(tool, "name"));
            l->dropped++;
            cs_client_say(c, "warning", "server '%s': tool %.*s is left out: %s", c->server->name,
                          (int)(name.len < 100 ? name.len : 100), name.at ? name.at : "?",
                          cs_buf_cstr(&why));
            continue;
        }
        struct cs_str raw = cs_json_raw(tool);
        if (l->count == CS_SERVER_TOOLS || l->tools.len + raw.len > CS_MESSAGE_MAX) {
            cs_client_say(c, "warning",
                          "server '%s' has more than %u tools or %u MiB of them: the "
                          "rest is left out",
                          c->server->name, CS_SERVER_TOOLS, CS_MESSAGE_MAX >> 20);
            return false;
        }
        if (l->count++ > 0)
            cs_buf_putc(&l->tools, ',');
        cs_buf_putstr(&l->tools, raw);
    }
    return true;
}

/* Was this cursor there before? Notes it. */
static bool seen(struct cs_listing *l, struct cs_str cursor)
{
    size_t len;
    for (size_t at = 0; at < l->cursors.len; at += sizeof len + len) {
        memcpy(&len, l->cursors.at + at, sizeof len);
        if (cs_str_eq(cs_strn(l->cursors.at + at + sizeof len, len), cursor))
            return true;
    }
    cs_buf_put(&l->cursors, &cursor.len, sizeof cursor.len);
    cs_buf_putstr(&l->cursors, cursor);
    return l->cursors.len > CS_MESSAGE_MAX;
}

static int check_page(struct cs_client *c, const struct cs_answer *a, struct cs_err *err)
{
    struct cs_json_val type = cs_json_get(a->result, "resultType");
    char words[256];
    if (a->code)
        return cs_fail(err, CS_UPSTREAM, "server '%s' refused to list its tools: %s (%d)",
                       c->server->name, cs_answer_words(a, words, sizeof words), a->code);
    if (cs_json_type(cs_json_get(a->result, "tools")) != CS_JSON_ARRAY)
        return cs_fail(err, CS_UPSTREAM, "server '%s' sent a list of tools without tools",
                       c->server->name);
    if (c->modern && cs_json_type(type) != CS_JSON_NONE && !cs_json_is(type, "complete"))
        return cs_fail(err, CS_UPSTREAM, "server '%s' sent a list of an unknown type",
                       c->server->name);
    return 0;
}

void cs_list_page(struct cs_client *c, struct cs_client_call *r, const struct cs_answer *a)
{
    struct cs_listing *l = &c->listing;
    if (cs_era_offers_ours(a) && !r->version_retried && l->pages == 0) {
        r->version_retried = true;
        next_page(c, r, (struct cs_str){0});
        return;
    }
    if (a->code == CS_RPC_NO_METHOD && c->tools_undeclared) {
        cs_request_free(r);
        finish(c);
        return;
    }
    struct cs_err err = {0};
    if (check_page(c, a, &err) < 0) {
        cs_request_free(r);
        cs_list_failed(c, &err);
        return;
    }
    l->pages++;
    bool more = take_tools(c, cs_json_get(a->result, "tools"));
    if (!l->active || c->phase == CS_CONN_CLOSING)
        return;
    struct cs_json_val cursor = cs_json_get(a->result, "nextCursor");
    more = more && cs_json_type(cursor) == CS_JSON_STRING;
    if (more && (l->pages >= CS_PAGES || seen(l, cs_json_raw(cursor)))) {
        cs_client_say(c, "warning",
                      "server '%s': its list of tools does not end; stopped after "
                      "page %" PRIu32,
                      c->server->name, l->pages);
        more = false;
    }
    if (!l->active || c->phase == CS_CONN_CLOSING)
        return;
    if (more) {
        next_page(c, r, cs_json_raw(cursor));
        return;
    }
    cs_request_free(r);
    finish(c);
}

/* --- being told (modern) --- */

void cs_listen_begin(struct cs_client *c)
{
    c->listen_at = CS_NEVER;
    if (c->listen_id != 0)
        return;
    struct cs_client_call *r = cs_request_new(c, CS_REQ_LISTEN, (struct cs_str){0});
    r->string_id = true;
    cs_request_begin(r, "subscriptions/listen");
    c->listen_id = r->id;
    c->listen_since = cs_client_now();
    cs_buf_puts(&c->out, "\"notifications\":{\"toolsListChanged\":true}");
    cs_request_send(r, "subscriptions/listen", (struct cs_str){0}, NULL);
}

void cs_listen_over(struct cs_client *c, bool for_good)
{
    c->listen_id = 0;
    if (for_good || c->phase != CS_CONN_READY)
        return;
    if (cs_client_now() - c->listen_since >= c->parts.steady)
        c->listen_failures = 0;
    uint64_t delay = c->parts.backoff;
    for (uint32_t i = 0; i < c->listen_failures && delay < c->parts.backoff_max; i++)
        delay *= 2;
    c->listen_failures++;
    c->listen_at = cs_client_now() + (delay < c->parts.backoff_max ? delay : c->parts.backoff_max);
    cs_client_wake(c, c->listen_at);
    /* What happened meanwhile was not told. */
    cs_list_changed(c);
}

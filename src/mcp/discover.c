/* search_tools; and the definitions that a failed program probably wanted. */
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/house.h"

#define WAIT_MS       3000 /* for servers that have never been listed */
#define LIST_DEFAULT  50
#define SUMMARY_BYTES 120
#define HINTS_MOST    3
#define HINT_NAMES    1000
#define HINT_SMALL    150 /* tokens */

/* Its first sentence or line. */
static struct cs_str summary(const struct cs_tool *tool)
{
    struct cs_str s = tool->description.len ? tool->description : tool->title;
    for (size_t i = 0; i < s.len && i < SUMMARY_BYTES; i++)
        if (s.at[i] == '\n' || (s.at[i] == '.' && i + 1 < s.len && s.at[i + 1] == ' '))
            return cs_strn(s.at, i);
    return cs_utf8_cut(s, SUMMARY_BYTES);
}

/* --- one answer --- */

struct answer {
    struct cs_mcp_call *call;
    struct cs_tools *tools;
    struct cs_catalogue *catalogue;
    enum cs_detail detail;
    struct cs_buf text;
    uint64_t tokens; /* left */
    bool words;      /* there is a query */
    size_t shown, omitted;
};

/* Nothing is cut in the middle: what does not fit is counted. */
static void put_entry(struct answer *a, struct cs_str entry)
{
    uint64_t tokens = cs_token_estimate(entry);
    if (tokens > a->tokens || a->omitted) {
        a->omitted++;
        return;
    }
    a->tokens -= tokens;
    a->shown++;
    cs_buf_putstr(&a->text, entry);
}

static void put_path(const struct cs_tool *t, struct cs_buf *out)
{
    cs_buf_printf(out, "./mcp-servers/%.*s/%.*s.ts", CS_STR_ARG(t->server), CS_STR_ARG(t->ident));
}

static void put_tool(struct answer *a, const struct cs_tool *t)
{
    CS_AUTO_BUF struct cs_buf entry = {0}, path = {0};
    put_path(t, &path);
    switch (a->detail) {
    case CS_DETAIL_NAME:
        cs_buf_printf(&entry, "%.*s.%.*s\n", CS_STR_ARG(t->server_ident), CS_STR_ARG(t->ident));
        break;
    case CS_DETAIL_SUMMARY: {
        struct cs_str about = summary(t);
        cs_buf_printf(&entry, "// %.*s\n", CS_STR_ARG(cs_buf_str(&path)));
        cs_house_signature(t, &entry);
        cs_buf_printf(&entry, "%s%.*s\n", about.len ? " // " : "", CS_STR_ARG(about));
        break;
    }
    case CS_DETAIL_FULL:
        cs_buf_printf(&entry, "// %.*s\n", CS_STR_ARG(cs_buf_str(&path)));
        cs_tools_read(a->tools, a->catalogue, cs_buf_str(&path), cs_house_allowed, a->call, &entry,
                      NULL);
        cs_buf_putc(&entry, '\n');
        break;
    }
    put_entry(a, cs_buf_str(&entry));
}

static void put_list(struct answer *a, const char *before, struct cs_json_val list)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    for (bool first = true; cs_json_next(list, &it, NULL, &item); first = false)
        cs_buf_printf(&a->text, "%s%.*s", first ? before : ", ",
                      CS_STR_ARG(cs_json_str(item, &a->call->arena)));
    if (cs_json_count(list))
        cs_buf_putc(&a->text, '\n');
}

static void put_servers(struct answer *a, struct cs_json_val servers)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    if (cs_json_count(servers) == 0)
        cs_buf_puts(&a->text, "no servers are connected\n");
    else
        cs_buf_puts(&a->text, "servers, and how many tools they have:\n");
    while (cs_json_next(servers, &it, NULL, &item)) {
        CS_AUTO_BUF struct cs_buf entry = {0};
        /* Nothing is known of it, or nothing may be. */
        if (cs_house_number(cs_json_get(item, "tools"), 0) == 0)
            continue;
        cs_buf_printf(&entry, "%.*s %.*s\n",
                      CS_STR_ARG(cs_json_str(cs_json_get(item, "server"), &a->call->arena)),
                      CS_STR_ARG(cs_json_raw(cs_json_get(item, "tools"))));
        put_entry(a, cs_buf_str(&entry));
    }
}

static void put_found(struct answer *a, struct cs_json_val found)
{
    struct cs_json_val list = cs_json_get(found, "tools"), item;
    struct cs_json_iter it = {0};
    uint64_t total = cs_house_number(cs_json_get(found, "total"), 0);
    if (total)
        cs_buf_printf(&a->text, "%u of %llu that match\n", cs_json_count(list),
                      (unsigned long long)total);
    while (cs_json_next(list, &it, NULL, &item)) {
        /* "/mcp-servers/SERVER/IDENT.ts": neither part has a slash in it. */
        struct cs_str path = cs_json_str(cs_json_get(item, "path"), &a->call->arena);
        const char *last = path.len ? memrchr(path.at, '/', path.len) : NULL;
        size_t skip = strlen("/mcp-servers/");
        if (!last || path.len < skip + 4 || last < path.at + skip)
            continue;
        struct cs_str server = cs_strn(path.at + skip, (size_t)(last - path.at) - skip);
        struct cs_str ident = cs_strn(last + 1, (size_t)(path.at + path.len - last) - 4);
        const struct cs_tool *t = cs_catalogue_find(a->catalogue, server, ident);
        if (t)
            put_tool(a, t);
    }
    if (total == 0 && a->words)
        cs_buf_puts(&a->text, "nothing matches; other words may, or a server's own list\n");
    if (total == 0)
        put_servers(a, cs_json_get(found, "servers"));
    put_list(a, "not known yet what these offer: ", cs_json_get(found, "waiting"));
}

/* All tools of one server, in its own order. */
static void put_server(struct answer *a, struct cs_str server, size_t limit)
{
    size_t there = 0;
    for (size_t i = 0; i < cs_catalogue_count(a->catalogue); i++) {
        const struct cs_tool *t = cs_catalogue_at(a->catalogue, i);
        if (!cs_str_eq(t->server, server) || !cs_house_allowed(a->call, t))
            continue;
        if (there++ < limit)
            put_tool(a, t);
    }
    cs_buf_printf(&a->text, "%zu of %zu tools of %.*s\n", a->shown, there, CS_STR_ARG(server));
    a->omitted = 0;
}

void cs_house_find(struct cs_mcp_call *call, struct cs_str query, struct cs_str named,
                   enum cs_detail detail, size_t limit, struct cs_buf *out)
{
    struct answer a = {
        .call = call,
        .tools = cs_house_options(call)->tools,
        .detail = detail,
        .words = query.len > 0,
        .tokens = cs_house_tokens(call),
    };
    if (!a.tools) {
        cs_buf_puts(out, "no servers are connected; `caisson add` connects one\n");
        return;
    }
    a.catalogue = cs_tools_current(a.tools);
    struct cs_str server = cs_catalogue_server(a.catalogue, named);
    if (!query.len && server.len) {
        put_server(&a, server, limit ? limit : LIST_DEFAULT);
    } else {
        CS_AUTO_BUF struct cs_buf json = {0};
        CS_AUTO_JSON struct cs_json doc = {0};
        struct cs_find find = {.query = query,
                               .server = named,
                               .limit = limit,
                               .detail = CS_DETAIL_NAME,
                               .allowed = cs_house_allowed,
                               .ctx = call};
        cs_tools_find(a.tools, a.catalogue, &find, &json);
        if (cs_json_parse(cs_buf_str(&json), NULL, &doc, NULL) == 0)
            put_found(&a, cs_json_root(&doc));
        if (named.len && !server.len)
            cs_buf_printf(&a.text, "there is no server '%.*s'; all were searched\n",
                          CS_STR_ARG(cs_utf8_cut(named, 100)));
    }
    if (a.omitted)
        cs_buf_printf(&a.text, "%zu more do not fit into one answer: ask for fewer\n", a.omitted);
    cs_buf_putstr(out, cs_buf_str(&a.text));
    cs_buf_done(&a.text);
    cs_catalogue_unref(a.catalogue);
}

static void search(struct cs_mcp_call *call)
{
    struct cs_json_val arguments = cs_json_get(call->params, "arguments");
    struct cs_json_val detail = cs_json_get(arguments, "detail");
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_house_find(call, cs_json_str(cs_json_get(arguments, "query"), &call->arena),
                  cs_json_str(cs_json_get(arguments, "server"), &call->arena),
                  cs_json_is(detail, "name")   ? CS_DETAIL_NAME
                  : cs_json_is(detail, "full") ? CS_DETAIL_FULL
                                               : CS_DETAIL_SUMMARY,
                  (size_t)cs_house_number(cs_json_get(arguments, "limit"), 0), &text);
    cs_mcp_text(call, cs_buf_str(&text), false);
}

/* --- servers that nobody has asked yet --- */

struct waiting {
    struct cs_mcp_call *call;
    struct cs_await *await;
    void (*then)(struct cs_mcp_call *call);
};

static void on_listed(void *ctx)
{
    struct waiting *w = ctx;
    w->call->own = NULL;
    w->call->cancelled = NULL;
    w->then(w->call);
}

static void on_cancelled(struct cs_mcp_call *call)
{
    struct waiting *w = call->own;
    cs_await_cancel(w->await);
}

void cs_house_when_listed(struct cs_mcp_call *call, void (*then)(struct cs_mcp_call *call))
{
    struct cs_tools *tools = cs_house_options(call)->tools;
    if (!tools || !cs_tools_waiting(tools)) {
        then(call);
        return;
    }
    struct waiting *w = cs_arena_alloc(&call->arena, sizeof *w);
    *w = (struct waiting){.call = call, .then = then};
    call->own = w;
    call->cancelled = on_cancelled;
    w->await = cs_tools_await(tools, (struct cs_str){0}, false, WAIT_MS, on_listed, w);
}

void cs_house_search(struct cs_mcp_call *call, struct cs_json_val arguments)
{
    (void)arguments; /* read again when the servers are there */
    cs_house_when_listed(call, search);
}

/* --- what a failed program probably wanted --- */

struct wanted {
    const struct cs_tool *tools[HINTS_MOST];
    size_t count;
    struct cs_buf words; /* of wrong names */
};

static void want(struct cs_mcp_call *call, struct wanted *w, const struct cs_tool *tool)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->tools[i] == tool)
            return;
    if (tool && w->count < HINTS_MOST && cs_house_allowed(call, tool))
        w->tools[w->count++] = tool;
}

/* Calls that were refused name what was meant; with an intent, those that worked count as well: the
 * program may have taken their answers for something else. */
static void want_called(struct cs_mcp_call *call, struct wanted *w,
                        const struct cs_catalogue *catalogue, const struct cs_result *result,
                        bool all)
{
    for (uint32_t i = 0; i < result->tool_calls; i++) {
        const struct cs_call *c = &result->calls[i];
        bool refused = c->status == CS_CALL_INVALID || c->status == CS_CALL_DENIED;
        const struct cs_tool *tool = cs_catalogue_find(catalogue, c->server, c->tool);
        if (refused && !tool && w->words.len < HINT_NAMES)
            cs_buf_printf(&w->words, "%.*s %.*s ", CS_STR_ARG(cs_utf8_cut(c->server, 100)),
                          CS_STR_ARG(cs_utf8_cut(c->tool, 100)));
        if (refused != all)
            want(call, w, tool);
    }
}

/* A module that could not be imported: ".../mcp-servers/github/listComits.ts". */
static void words_of_import(struct cs_str message, struct cs_buf *words)
{
    static const char root[] = "mcp-servers/";
    const char *at = message.len ? memmem(message.at, message.len, root, sizeof root - 1) : NULL;
    if (!at)
        return;
    for (at += sizeof root - 1; at < message.at + message.len && words->len < HINT_NAMES; at++) {
        if (strchr("'\"`, ", *at))
            break;
        cs_buf_putc(words, strchr("/.", *at) ? ' ' : *at);
    }
    cs_buf_putc(words, ' ');
}

static void want_found(struct cs_mcp_call *call, struct wanted *w,
                       const struct cs_catalogue *catalogue, struct cs_str query)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_find find = {.query = query,
                           .limit = HINTS_MOST,
                           .detail = CS_DETAIL_NAME,
                           .allowed = cs_house_allowed,
                           .ctx = call};
    cs_tools_find(cs_house_options(call)->tools, catalogue, &find, &json);
    if (cs_json_parse(cs_buf_str(&json), NULL, &doc, NULL) < 0)
        return;
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(cs_json_get(cs_json_root(&doc), "tools"), &it, NULL, &item)) {
        struct cs_str name = cs_json_str(cs_json_get(item, "tool"), &call->arena);
        const char *dot = name.len ? memchr(name.at, '.', name.len) : NULL;
        if (dot)
            want(call, w,
                 cs_catalogue_find(catalogue, cs_strn(name.at, (size_t)(dot - name.at)),
                                   cs_strn(dot + 1, (size_t)(name.at + name.len - dot) - 1)));
    }
}

/* The likeliest one whole; the others too if they are small, else as a line. */
static void put_hint(struct answer *a, const struct cs_tool *tool)
{
    CS_AUTO_BUF struct cs_buf path = {0}, entry = {0}, line = {0};
    put_path(tool, &path);
    cs_buf_printf(&entry, "// %.*s\n", CS_STR_ARG(cs_buf_str(&path)));
    cs_buf_putstr(&line, cs_buf_str(&entry));
    cs_tools_read(a->tools, a->catalogue, cs_buf_str(&path), cs_house_allowed, a->call, &entry,
                  NULL);
    cs_house_signature(tool, &line);
    cs_buf_putc(&line, '\n');
    uint64_t tokens = cs_token_estimate(cs_buf_str(&entry));
    bool whole = tokens <= a->tokens && (a->shown == 0 || tokens <= HINT_SMALL);
    put_entry(a, cs_buf_str(whole ? &entry : &line));
}

void cs_house_hints(struct cs_mcp_call *call, const struct cs_result *result, struct cs_str intent,
                    uint64_t tokens, struct cs_buf *out)
{
    struct cs_tools *tools = cs_house_options(call)->tools;
    enum cs_error_type type = result->error.type;
    if (result->failed && type == CS_ERROR_TIMEOUT)
        cs_buf_printf(out, "Here that is timeout_ms, up to %llu.",
                      (unsigned long long)cs_policy_ceiling(NULL, CS_RISK_LOW).wall_clock);
    if (!tools || !result->failed || type == CS_ERROR_TIMEOUT || type == CS_ERROR_RESOURCE ||
        type == CS_ERROR_INTERNAL)
        return;
    struct answer a = {.call = call, .tools = tools, .tokens = tokens};
    struct wanted w = {0};
    a.catalogue = cs_tools_current(tools);
    want_called(call, &w, a.catalogue, result, false);
    words_of_import(result->error.message, &w.words);
    if (w.words.len)
        want_found(call, &w, a.catalogue, cs_buf_str(&w.words));
    if (intent.len) {
        want_called(call, &w, a.catalogue, result, true);
        want_found(call, &w, a.catalogue, intent);
    }
    for (size_t i = 0; i < w.count; i++)
        put_hint(&a, w.tools[i]);
    if (a.text.len)
        cs_buf_printf(out, "Probably wanted:\n%.*s", CS_STR_ARG(cs_buf_str(&a.text)));
    cs_buf_done(&a.text);
    cs_buf_done(&w.words);
    cs_catalogue_unref(a.catalogue);
}

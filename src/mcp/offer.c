/* What we offer: four small tools instead of hundreds of large ones. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/house.h"

CS_EMBED(tools_json, "src/mcp/tools.json")

#define ANSWER_TOKENS 6000u
#define FAULTS        5
#define SERVERS_NAMED 12
#define NAME_BYTES    40

#define INSTRUCTIONS                                                                             \
    "Caisson runs programs next to the tools of many MCP servers. Work like this:\n"             \
    "1. search_tools with what you want to do; detail \"full\" if you must know the types.\n"    \
    "2. execute_code with ONE program that does the whole job: calls in loops or with "          \
    "Promise.all, filters, joins. Data between calls stays inside and costs you nothing.\n"      \
    "3. Return only what you need to see: counts, a few rows, ids. A large result comes as a "   \
    "preview; get_execution pages through it.\n"                                                 \
    "A failed program is answered with the line and what to change: mend it and send it again. " \
    "To keep `state` and files in /workspace for the next program, pass session_id \"new\" and " \
    "then the id from the answer. call_tool is for a single call with a small answer."

/* In the order of tools.json. */
static const struct {
    const char *name;
    void (*call)(struct cs_mcp_call *call, struct cs_json_val arguments);
} tools[CS_HOUSE_TOOLS] = {
    {"search_tools", cs_house_search},
    {"execute_code", cs_house_execute},
    {"call_tool", cs_house_call},
    {"get_execution", cs_house_review},
};

struct cs_house *cs_house_of(const struct cs_mcp_call *call)
{
    return cs_mcp_own(call->mcp);
}

const struct cs_mcp_options *cs_house_options(const struct cs_mcp_call *call)
{
    return cs_mcp_options(call->mcp);
}

uint64_t cs_house_tokens(const struct cs_mcp_call *call)
{
    uint64_t tokens = cs_house_options(call)->answer_tokens;
    return tokens ? tokens : ANSWER_TOKENS;
}

bool cs_house_allowed(void *ctx, const struct cs_tool *tool)
{
    const struct cs_mcp_call *call = ctx;
    const struct cs_runner *runner = cs_house_options(call)->runner;
    const struct cs_policy *policy = runner ? cs_runner_policy(runner) : NULL;
    struct cs_target target = {tool->server, tool->server_ident, tool->name, tool->ident};
    return !policy ||
           cs_policy_grant(policy, cs_str(call->caller.principal), &target, NULL) != CS_GRANT_DENY;
}

/* --- answers --- */

void cs_house_complain(struct cs_mcp_call *call, const char *fmt, ...)
{
    char text[2000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    cs_mcp_text(call, cs_str(text), true);
}

/* --- arguments --- */

struct cs_str cs_house_object(struct cs_mcp_call *call, struct cs_json_val value)
{
    if (cs_json_type(value) == CS_JSON_OBJECT)
        return cs_json_raw(value);
    struct cs_str text = cs_json_str(value, &call->arena);
    CS_AUTO_JSON struct cs_json doc = {0};
    bool is_object = text.len && cs_json_parse(text, NULL, &doc, NULL) == 0 &&
                     cs_json_type(cs_json_root(&doc)) == CS_JSON_OBJECT;
    return is_object ? text : (struct cs_str){0};
}

uint64_t cs_house_number(struct cs_json_val value, uint64_t otherwise)
{
    int64_t n;
    return cs_json_i64(value, &n) && n >= 0 ? (uint64_t)n : otherwise;
}

/* Models write an object as a text now and then; that is no reason to refuse it. */
static bool tolerable(struct cs_mcp_call *call, struct cs_json_val arguments,
                      const struct cs_schema_fault *fault)
{
    const char *key = cs_str_is(fault->path, "arguments") ? "arguments"
                      : cs_str_is(fault->path, "inputs")  ? "inputs"
                                                          : NULL;
    return key && cs_str_is(fault->keyword, "type") &&
           cs_house_object(call, cs_json_get(arguments, key)).len;
}

/* True if they fit. Otherwise the model is told what to change. */
static bool fits(struct cs_mcp_call *call, size_t tool, struct cs_json_val arguments)
{
    struct cs_schema_fault faults[FAULTS];
    struct cs_err err = {0};
    int count = cs_schema_check(cs_house_of(call)->schemas[tool], arguments, &call->arena, faults,
                                FAULTS, &err);
    int bad = 0;
    for (int i = 0; i < count; i++)
        if (!tolerable(call, arguments, &faults[i]))
            faults[bad++] = faults[i];
    if (count >= 0 && bad == 0)
        return true;
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_printf(&text, "%s was not called. ", tools[tool].name);
    if (count < 0)
        cs_buf_puts(&text, err.msg);
    else
        cs_schema_explain(faults, bad, &text);
    cs_mcp_text(call, cs_buf_str(&text), true);
    return false;
}

/* --- tools --- */

static void list_tools(struct cs_mcp_call *call)
{
    if (cs_json_type(cs_json_get(call->params, "cursor")) == CS_JSON_STRING)
        cs_mcp_error(call, CS_RPC_PARAMS, "cursor: the list has one page", (struct cs_str){0});
    else
        cs_mcp_result(call, cs_buf_str(&cs_house_of(call)->list));
}

/* Is it a tool of one of the servers? "github.listCommits", "github/list_commits", "github__x". */
static const struct cs_tool *downstream(struct cs_mcp_call *call,
                                        const struct cs_catalogue *catalogue, struct cs_str name)
{
    for (size_t i = 1; i + 1 < name.len; i++) {
        bool two = name.at[i] == '_' && name.at[i + 1] == '_';
        if (!two && !strchr("./:", name.at[i]))
            continue;
        size_t rest = i + (two ? 2 : 1);
        const struct cs_tool *tool = cs_catalogue_find(catalogue, cs_strn(name.at, i),
                                                       cs_strn(name.at + rest, name.len - rest));
        if (tool && cs_house_allowed(call, tool))
            return tool;
    }
    for (size_t i = 0; i < cs_catalogue_count(catalogue); i++) {
        const struct cs_tool *tool = cs_catalogue_at(catalogue, i);
        if ((cs_str_eq(tool->name, name) || cs_str_eq(tool->ident, name)) &&
            cs_house_allowed(call, tool))
            return tool;
    }
    return NULL;
}

static void refuse_unknown(struct cs_mcp_call *call, struct cs_str name)
{
    struct cs_tools *outside = cs_house_options(call)->tools;
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_printf(&text, "there is no tool '%.*s' here; there are ",
                  CS_STR_ARG(cs_utf8_cut(name, 100)));
    for (size_t i = 0; i < CS_COUNT(tools); i++)
        cs_buf_printf(&text, "%s%s", i ? ", " : "", tools[i].name);
    if (outside && name.len && name.len < 200) {
        struct cs_catalogue *catalogue = cs_tools_current(outside);
        const struct cs_tool *tool = downstream(call, catalogue, name);
        if (tool)
            cs_buf_printf(&text,
                          ". A tool of a server is called with call_tool {\"server\": \"%.*s\", "
                          "\"tool\": \"%.*s\", \"arguments\": {...}}, or by `await "
                          "tools.%.*s.%.*s({...})` in execute_code",
                          CS_STR_ARG(tool->server), CS_STR_ARG(tool->name),
                          CS_STR_ARG(tool->server_ident), CS_STR_ARG(tool->ident));
        cs_catalogue_unref(catalogue);
    }
    cs_mcp_error(call, CS_RPC_PARAMS, cs_buf_cstr(&text), (struct cs_str){0});
}

static void call_tool(struct cs_mcp_call *call)
{
    struct cs_json_val name = cs_json_get(call->params, "name");
    struct cs_json_val arguments = cs_json_get(call->params, "arguments");
    if (cs_json_type(name) != CS_JSON_STRING) {
        cs_mcp_error(call, CS_RPC_PARAMS, "name: must be the name of a tool", (struct cs_str){0});
        return;
    }
    enum cs_json_type type = cs_json_type(arguments);
    if (type == CS_JSON_NONE || type == CS_JSON_NULL)
        arguments = cs_json_root(&cs_house_of(call)->nothing);
    for (size_t i = 0; i < CS_COUNT(tools); i++) {
        if (!cs_json_is(name, tools[i].name))
            continue;
        if (fits(call, i, arguments))
            tools[i].call(call, arguments);
        return;
    }
    refuse_unknown(call, cs_json_str(name, &call->arena));
}

/* --- instructions --- */

size_t cs_house_servers(struct cs_mcp_call *call, const struct cs_catalogue *catalogue, size_t most,
                        size_t *all, struct cs_buf *out)
{
    size_t servers = 0, count = 0, total = cs_catalogue_count(catalogue);
    struct cs_str server = {0};
    *all = 0;
    for (size_t i = 0; i <= total; i++) {
        const struct cs_tool *t = i < total ? cs_catalogue_at(catalogue, i) : NULL;
        if (!t || !cs_str_eq(t->server, server)) {
            if (count && servers++ < most)
                cs_buf_printf(out, "%s%.*s (%zu)", servers > 1 ? ", " : "",
                              CS_STR_ARG(cs_utf8_cut(server, NAME_BYTES)), count);
            *all += count;
            server = t ? t->server : server;
            count = 0;
        }
        count += t && cs_house_allowed(call, t);
    }
    if (servers > most)
        cs_buf_printf(out, " and %zu more", servers - most);
    return servers;
}

static void instruct(struct cs_mcp *mcp, const struct cs_caller *caller, struct cs_buf *out)
{
    struct cs_tools *outside = cs_mcp_options(mcp)->tools;
    cs_buf_puts(out, INSTRUCTIONS);
    if (!outside)
        return;
    /* What the caller may see is asked for as by a call of theirs. */
    struct cs_mcp_call asks = {.mcp = mcp, .caller = *caller};
    CS_AUTO_BUF struct cs_buf servers = {0};
    struct cs_catalogue *catalogue = cs_tools_current(outside);
    size_t all;
    if (cs_house_servers(&asks, catalogue, SERVERS_NAMED, &all, &servers))
        cs_buf_printf(out, "\n\nServers (tools): %.*s", CS_STR_ARG(cs_buf_str(&servers)));
    cs_catalogue_unref(catalogue);
}

/* --- the offer --- */

/* What stands between the tokens of a JSON text costs the model's context, too. */
static void compact(struct cs_str json, struct cs_buf *out)
{
    bool inside = false;
    for (size_t i = 0; i < json.len; i++) {
        char c = json.at[i];
        if (!inside && (c == ' ' || c == '\n'))
            continue;
        cs_buf_putc(out, c);
        if (c == '"' && (i == 0 || json.at[i - 1] != '\\'))
            inside = !inside;
    }
}

/* A type that was learned makes a new catalogue, too; nobody has to list anything anew then. */
static uint64_t names_of(struct cs_tools *outside)
{
    struct cs_catalogue *catalogue = cs_tools_current(outside);
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < cs_catalogue_count(catalogue); i++) {
        const struct cs_tool *t = cs_catalogue_at(catalogue, i);
        const struct cs_str parts[] = {t->server, CS_STR("/"), t->ident, t->description};
        for (size_t p = 0; p < CS_COUNT(parts); p++)
            for (size_t c = 0; c < parts[p].len; c++)
                sum = (sum ^ (unsigned char)parts[p].at[c]) * 1099511628211u;
    }
    cs_catalogue_unref(catalogue);
    return sum;
}

static void on_catalogue(void *ctx)
{
    struct cs_house *h = ctx;
    uint64_t names = names_of(cs_mcp_options(h->mcp)->tools);
    if (names == h->names)
        return;
    h->names = names;
    cs_mcp_list_changed(h->mcp, CS_MCP_TOOLS);
    cs_mcp_list_changed(h->mcp, CS_MCP_RESOURCES);
}

static void close_house(void *own)
{
    struct cs_house *h = own;
    if (cs_mcp_options(h->mcp)->tools)
        cs_tools_set_watcher(cs_mcp_options(h->mcp)->tools, NULL, NULL);
    cs_house_jobs_close(h);
    cs_followers_close(h);
    for (size_t i = 0; i < CS_HOUSE_TOOLS; i++)
        cs_schema_free(h->schemas[i]);
    cs_json_done(&h->nothing);
    cs_buf_done(&h->list);
    free(h);
}

/* The definitions are the truth; their schemas also check what comes. */
static int compile_schemas(struct cs_house *h, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (cs_json_parse(cs_buf_str(&h->list), NULL, &doc, err) < 0)
        return -1;
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    struct cs_json_val list = cs_json_get(cs_json_root(&doc), "tools");
    for (size_t i = 0; i < CS_COUNT(tools); i++) {
        if (!cs_json_next(list, &it, NULL, &item) ||
            !cs_json_is(cs_json_get(item, "name"), tools[i].name))
            return cs_fail(err, CS_BUG, "tools.json: '%s' is not at its place", tools[i].name);
        struct cs_str schema = cs_json_raw(cs_json_get(item, "inputSchema"));
        if (cs_schema_new(schema, NULL, &h->schemas[i], err) < 0)
            return cs_wrap(err, "tools.json: '%s'", tools[i].name);
    }
    return cs_json_parse(CS_STR("{}"), NULL, &h->nothing, err);
}

static int open_house(struct cs_mcp *mcp, void **own, struct cs_err *err)
{
    struct cs_house *h = CS_NEW(struct cs_house);
    h->mcp = mcp;
    compact(tools_json(), &h->list);
    if (compile_schemas(h, err) < 0) {
        close_house(h);
        return -1;
    }
    struct cs_tools *outside = cs_mcp_options(mcp)->tools;
    if (outside) {
        h->names = names_of(outside);
        cs_tools_set_watcher(outside, on_catalogue, h);
    }
    *own = h;
    return 0;
}

static const struct cs_mcp_method methods[] = {
    {"tools/list", list_tools},
    {"tools/call", call_tool},
    {"resources/list", cs_house_resources},
    {"resources/templates/list", cs_house_templates},
    {"resources/read", cs_house_read},
    {"prompts/list", cs_house_prompts},
    {"prompts/get", cs_house_prompt},
    {"completion/complete", cs_house_complete},
    {0},
};

const struct cs_mcp_offer cs_mcp_house = {
    .title = "Caisson",
    .instructions = INSTRUCTIONS,
    .instruct = instruct,
    .capabilities = CS_STR("{\"tools\":{\"listChanged\":true},"
                           "\"resources\":{\"subscribe\":true,\"listChanged\":true},"
                           "\"prompts\":{},\"completions\":{}}"),
    .methods = methods,
    .open = open_house,
    .close = close_house,
    .subscribed = cs_house_subscribed,
    .recall = cs_house_recall,
};

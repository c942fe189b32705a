/* completion/complete: names of servers, files of the tree, recent executions. */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "mcp/house.h"

#define VALUES_MOST 100
#define VALUE_BYTES 200

/* --- pure --- */

static bool begins(struct cs_str name, struct cs_str value)
{
    return name.len >= value.len && strncasecmp(name.at, value.at, value.len) == 0;
}

static bool contains(struct cs_str name, struct cs_str value)
{
    for (size_t i = 0; i + value.len <= name.len; i++)
        if (strncasecmp(name.at + i, value.at, value.len) == 0)
            return true;
    return false;
}

void cs_complete(struct cs_str value, const struct cs_str *names, size_t count, struct cs_buf *out)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    size_t total = 0;
    cs_json_open(&w, '{');
    cs_json_key(&w, "completion");
    cs_json_open(&w, '{');
    cs_json_key(&w, "values");
    cs_json_open(&w, '[');
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            bool first = value.len == 0 || begins(names[i], value);
            if (pass == 0 ? !first : first || !contains(names[i], value))
                continue;
            if (total++ < VALUES_MOST)
                cs_json_put_str(&w, names[i]);
        }
    cs_json_close(&w, ']');
    cs_json_key(&w, "total");
    cs_json_put_u64(&w, total);
    cs_json_key(&w, "hasMore");
    cs_json_put_bool(&w, total > VALUES_MOST);
    cs_json_close(&w, '}');
    cs_json_close(&w, '}');
}

/* --- what there is to complete --- */

struct names {
    struct cs_str *at;
    size_t count, cap;
};

static void add(struct names *n, struct cs_str name)
{
    if (n->count == n->cap) {
        n->cap = n->cap ? n->cap * 2 : 64;
        n->at = cs_realloc(n->at, n->cap, sizeof *n->at);
    }
    n->at[n->count++] = name;
}

static struct cs_str value_of(struct cs_mcp_call *call)
{
    struct cs_json_val argument = cs_json_get(call->params, "argument");
    struct cs_str value = cs_json_str(cs_json_get(argument, "value"), &call->arena);
    return value.len <= VALUE_BYTES ? value : cs_strn(value.at, VALUE_BYTES);
}

static void answer(struct cs_mcp_call *call, const struct cs_str *names, size_t count)
{
    CS_AUTO_BUF struct cs_buf result = {0};
    cs_complete(value_of(call), names, count, &result);
    cs_mcp_result(call, cs_buf_str(&result));
}

static void servers(struct cs_mcp_call *call, const struct cs_catalogue *catalogue,
                    struct names *names)
{
    for (size_t i = 0; i < cs_catalogue_count(catalogue); i++) {
        const struct cs_tool *t = cs_catalogue_at(catalogue, i);
        bool known = names->count && cs_str_eq(names->at[names->count - 1], t->server);
        if (!known && cs_house_allowed(call, t))
            add(names, t->server);
    }
}

/* Of the server that was chosen before, or of all. */
static void files(struct cs_mcp_call *call, const struct cs_catalogue *catalogue,
                  struct names *names)
{
    struct cs_json_val chosen = cs_json_get(cs_json_get(call->params, "context"), "arguments");
    struct cs_str server = cs_json_str(cs_json_get(chosen, "server"), &call->arena);
    struct cs_str known = cs_catalogue_server(catalogue, server);
    if (known.len)
        add(names, CS_STR("index.ts"));
    for (size_t i = 0; i < cs_catalogue_count(catalogue); i++) {
        const struct cs_tool *t = cs_catalogue_at(catalogue, i);
        if ((!server.len || cs_str_eq(t->server, known)) && cs_house_allowed(call, t))
            add(names, cs_str(cs_arena_printf(&call->arena, "%.*s.ts", CS_STR_ARG(t->ident))));
    }
}

static void with_catalogue(struct cs_mcp_call *call,
                           void (*collect)(struct cs_mcp_call *call,
                                           const struct cs_catalogue *catalogue,
                                           struct names *names))
{
    struct cs_tools *tools = cs_house_options(call)->tools;
    struct names names = {0};
    struct cs_catalogue *catalogue = tools ? cs_tools_current(tools) : NULL;
    if (catalogue)
        collect(call, catalogue, &names);
    answer(call, names.at, names.count);
    free(names.at);
    if (catalogue)
        cs_catalogue_unref(catalogue);
}

static void complete_server(struct cs_mcp_call *call)
{
    with_catalogue(call, servers);
}

static void complete_file(struct cs_mcp_call *call)
{
    with_catalogue(call, files);
}

static void when_server(struct cs_mcp_call *call)
{
    cs_house_when_listed(call, complete_server);
}

static void when_file(struct cs_mcp_call *call)
{
    cs_house_when_listed(call, complete_file);
}

static void complete_nothing(struct cs_mcp_call *call)
{
    answer(call, NULL, 0);
}

/* The client may be gone when the store answers. */
struct fetch {
    struct cs_mcp_call *call;
};

static void on_cancelled(struct cs_mcp_call *call)
{
    struct fetch *f = call->own;
    f->call = NULL;
}

static void on_executions(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                          size_t count)
{
    struct fetch *f = ctx;
    struct names names = {0};
    for (size_t i = 0; f->call && err->code == CS_OK && i < count; i++)
        add(&names, rows[i].id);
    if (f->call)
        answer(f->call, names.at, names.count);
    free(names.at);
    free(f);
}

static void complete_execution(struct cs_mcp_call *call)
{
    struct cs_store *store = cs_house_options(call)->store;
    if (!store) {
        complete_nothing(call);
        return;
    }
    struct fetch *f = CS_NEW(struct fetch);
    f->call = call;
    call->own = f;
    call->cancelled = on_cancelled;
    const struct cs_execution_filter newest = {.limit = VALUES_MOST};
    cs_store_executions(store, cs_str(call->caller.tenant), &newest, on_executions, f);
}

/* --- the method --- */

static const struct {
    const char *ref, *argument;
    void (*complete)(struct cs_mcp_call *call);
} completions[] = {
    {"use-tools-with-code", "task", complete_nothing},
    {"explore-tools", "topic", when_server},
    {"debug-execution", "execution_id", complete_execution},
    {"caisson://tools/{server}/{file}", "server", when_server},
    {"caisson://tools/{server}/{file}", "file", when_file},
    {"caisson://executions/{id}", "id", complete_execution},
    {"caisson://executions/{id}/logs", "id", complete_execution},
    {"caisson://executions/{id}/result", "id", complete_execution},
};

void cs_house_complete(struct cs_mcp_call *call)
{
    struct cs_json_val ref = cs_json_get(call->params, "ref");
    struct cs_json_val name = cs_json_get(cs_json_get(call->params, "argument"), "name");
    bool prompt = cs_json_is(cs_json_get(ref, "type"), "ref/prompt");
    struct cs_json_val what = cs_json_get(ref, prompt ? "name" : "uri");
    bool known = false;
    for (size_t i = 0; i < CS_COUNT(completions); i++) {
        if (!cs_json_is(what, completions[i].ref))
            continue;
        known = true;
        if (cs_json_is(name, completions[i].argument)) {
            completions[i].complete(call);
            return;
        }
    }
    cs_mcp_error(call, CS_RPC_PARAMS,
                 known    ? "argument.name: there is no such argument"
                 : prompt ? "ref: there is no such prompt"
                          : "ref: there is no such resource template",
                 (struct cs_str){0});
}

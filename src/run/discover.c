/*
 * Finding tools from inside a program: searchTools, readToolDefinition, and imports of a server
 * that nobody has asked yet. A server that was listed before never holds a search up.
 */
#include <string.h>

#include "base/mem.h"
#include "run/guard.h"
#include "run/shield.h"

/* A search waits so long for servers that have never been listed, then answers without them. */
#define SEARCH_WAIT_MS 3000
#define IMPORT_WAIT_MS 15000
#define MESSAGE_BYTES  4096

static const struct cs_refusal invalid = {CS_CALL_INVALID, CS_ANSWER_INVALID, NULL, false};
static const struct cs_refusal missing = {CS_CALL_DENIED, CS_ANSWER_DENIED, NULL, false};

/* --- why a server has no tools --- */

struct why {
    struct cs_str server;
    struct cs_buf *text;
};

static void find_why(void *ctx, const struct cs_server_state *state)
{
    struct why *why = ctx;
    if (cs_str_eq(state->name, why->server) && state->error.len)
        cs_buf_printf(why->text, "the server '%.*s' cannot be used: %.*s", CS_STR_ARG(why->server),
                      CS_STR_ARG(state->error));
}

void cs_gate_why(struct cs_run *run, struct cs_str server, struct cs_buf *text)
{
    struct cs_str known = cs_catalogue_server(run->catalogue, server);
    struct why why = {known, NULL};
    CS_AUTO_BUF struct cs_buf said = {0};
    why.text = &said;
    if (known.len && !cs_catalogue_listed(run->catalogue, known))
        cs_tools_servers(run->runner->tools, find_why, &why);
    if (said.len)
        cs_shield_words(run, known, cs_buf_str(&said), text);
}

static void newest_catalogue(struct cs_run *run)
{
    cs_catalogue_unref(run->catalogue);
    run->catalogue = cs_tools_current(run->runner->tools);
}

/* --- searchTools(query, {limit, detail, server, offset}) --- */

static size_t count_of(struct cs_json_val v)
{
    int64_t n;
    return cs_json_i64(v, &n) && n > 0 && n < 1000000 ? (size_t)n : 0;
}

static int detail_of(struct cs_json_val v, enum cs_detail *detail, struct cs_err *err)
{
    *detail = CS_DETAIL_SUMMARY;
    if (cs_json_type(v) == CS_JSON_NONE || cs_json_is(v, "summary"))
        return 0;
    if (cs_json_is(v, "name"))
        *detail = CS_DETAIL_NAME;
    else if (cs_json_is(v, "full"))
        *detail = CS_DETAIL_FULL;
    else
        return cs_fail(err, CS_INVALID, "detail: must be \"name\", \"summary\" or \"full\"");
    return 0;
}

static void search(struct cs_gate_call *c)
{
    struct cs_run *run = c->run;
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_err err = {0};
    if (cs_json_parse(cs_buf_str(&c->arguments), NULL, &doc, &err) < 0) {
        cs_gate_refuse(c, invalid, cs_str(err.msg), (struct cs_str){0});
        return;
    }
    struct cs_json_val root = cs_json_root(&doc);
    struct cs_find find = {
        .query = cs_json_str(cs_json_get(root, "query"), &arena),
        .server = cs_json_str(cs_json_get(root, "server"), &arena),
        .limit = count_of(cs_json_get(root, "limit")),
        .offset = count_of(cs_json_get(root, "offset")),
        .allowed = cs_gate_allowed,
        .ctx = run,
    };
    if (detail_of(cs_json_get(root, "detail"), &find.detail, &err) < 0) {
        cs_gate_refuse(c, invalid, cs_str(err.msg), (struct cs_str){0});
        return;
    }
    cs_cache_saw_tools(run);
    cs_tools_find(run->runner->tools, run->catalogue, &find, &json);
    cs_gate_answer(c, CS_CALL_OK, CS_ANSWER_OK, cs_buf_str(&json));
}

static void on_search_ready(void *ctx)
{
    struct cs_gate_call *c = ctx;
    c->await = NULL;
    newest_catalogue(c->run);
    search(c);
}

/* --- readToolDefinition(path) --- */

static void read_definition(struct cs_gate_call *c)
{
    struct cs_run *run = c->run;
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf text = {0}, json = {0};
    struct cs_err err = {0};
    struct cs_str path = {0};
    if (cs_json_parse(cs_buf_str(&c->arguments), NULL, &doc, &err) == 0)
        path = cs_json_str(cs_json_get(cs_json_root(&doc), "path"), &arena);
    if (!path.len) {
        cs_gate_refuse(c, invalid, CS_STR("readToolDefinition wants the path of a tool"),
                       CS_STR("Paths are in the answers of searchTools."));
        return;
    }
    cs_cache_saw_tools(run);
    if (cs_tools_read(run->runner->tools, run->catalogue, path, cs_gate_allowed, run, &text, &err) <
        0) {
        cs_gate_refuse(c, missing, cs_str(err.msg),
                       CS_STR("`await searchTools('...')` finds the path of a tool."));
        return;
    }
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_put_str(&w, cs_buf_str(&text));
    cs_gate_answer(c, CS_CALL_OK, CS_ANSWER_OK, cs_buf_str(&json));
}

static void on_read_ready(void *ctx)
{
    struct cs_gate_call *c = ctx;
    c->await = NULL;
    newest_catalogue(c->run);
    read_definition(c);
}

void cs_gate_own(struct cs_gate_call *c)
{
    struct cs_run *run = c->run;
    struct cs_str name = cs_buf_str(&c->name);
    bool is_search = cs_str_is(name, "searchTools");
    if (!run->result.is_guest && cs_guard_is_late(cs_buf_str(&c->server), name)) {
        cs_guard_late(c);
        return;
    }
    if (cs_gate_storage(c)) {
        cs_cache_never(run, "it reads artifacts");
        return;
    }
    if (!is_search && !cs_str_is(name, "readToolDefinition")) {
        cs_gate_refuse(
            c, missing, CS_STR("there is no such function of caisson"),
            CS_STR("There are searchTools, readToolDefinition, storageGet, storagePut and "
                   "storageList."));
        return;
    }
    if (!run->catalogue) {
        cs_gate_refuse(c, missing, CS_STR("no tool servers are configured"),
                       CS_STR("`caisson add` connects one."));
        return;
    }
    /* What is complete is kept: a program sees the same tools from its first line to its last. */
    if (!cs_catalogue_complete(run->catalogue) && cs_tools_waiting(run->runner->tools))
        c->await = cs_tools_await(run->runner->tools, (struct cs_str){0}, false, SEARCH_WAIT_MS,
                                  is_search ? on_search_ready : on_read_ready, c);
    else if (is_search)
        search(c);
    else
        read_definition(c);
}

/* --- imports --- */

/* "/mcp-servers/github/listCommits.ts" is in c->name; its two parts. */
static void parts_of(struct cs_str path, struct cs_str *server, struct cs_str *tool)
{
    if (cs_str_starts(path, "/mcp-servers/")) {
        path.at += strlen("/mcp-servers/");
        path.len -= strlen("/mcp-servers/");
    }
    const char *slash = memchr(path.at, '/', path.len);
    size_t n = slash ? (size_t)(slash - path.at) : path.len;
    *server = cs_strn(path.at, n);
    *tool = slash ? cs_strn(slash + 1, path.len - n - 1) : (struct cs_str){0};
    if (cs_str_ends(*tool, ".ts"))
        tool->len -= 3;
}

static void explain_missing(struct cs_run *run, struct cs_str path, struct cs_buf *message)
{
    struct cs_str server, tool;
    parts_of(path, &server, &tool);
    struct cs_str known = cs_catalogue_server(run->catalogue, server);
    cs_gate_why(run, server, message);
    if (message->len)
        return;
    CS_AUTO_BUF struct cs_buf near = {0};
    cs_tools_near(run->runner->tools, run->catalogue, server, tool, cs_gate_allowed, run, &near);
    if (known.len)
        cs_buf_printf(message, "the server '%.*s' has no tool '%.*s'", CS_STR_ARG(server),
                      CS_STR_ARG(tool));
    else
        cs_buf_printf(message, "there is no server '%.*s'", CS_STR_ARG(server));
    if (near.len)
        cs_buf_printf(message, "; near to it: %s", cs_buf_cstr(&near));
}

static void answer_module(struct cs_gate_call *c, bool again)
{
    struct cs_run *run = c->run;
    CS_AUTO_BUF struct cs_buf message = {0};
    struct cs_str path = cs_buf_str(&c->name), server, tool;
    cs_cache_saw_tools(run);
    parts_of(path, &server, &tool);
    bool there = !tool.len || cs_str_is(tool, "index") ||
                 cs_catalogue_find(run->catalogue, server, tool) != NULL;
    int dir = again && there ? cs_catalogue_dir(run->catalogue) : -1;
    if (dir < 0)
        explain_missing(run, path, &message);
    if (message.len > MESSAGE_BYTES)
        message.len = MESSAGE_BYTES;
    cs_job_module(run->job, c->id, dir, cs_buf_str(&message));
    cs_gate_call_free(c);
}

static void on_module_ready(void *ctx)
{
    struct cs_gate_call *c = ctx;
    c->await = NULL;
    newest_catalogue(c->run);
    answer_module(c, true);
}

void cs_gate_module(struct cs_run *run, uint64_t id, struct cs_str path)
{
    if (!run->catalogue) {
        cs_job_module(run->job, id, -1, CS_STR("no tool servers are configured"));
        return;
    }
    struct cs_gate_call *c = cs_gate_call_new(run, id);
    cs_buf_putstr(&c->name, path);
    struct cs_str server, tool, known;
    parts_of(path, &server, &tool);
    known = cs_catalogue_server(run->catalogue, server);
    if (known.len)
        c->await =
            cs_tools_await(run->runner->tools, known, true, IMPORT_WAIT_MS, on_module_ready, c);
    else
        answer_module(c, false);
}

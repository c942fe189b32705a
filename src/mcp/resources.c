/*
 * The tree of tools and executions as resources.
 *
 *     caisson://tools/README.md           how to use them, and the servers
 *     caisson://tools/{server}/{file}     index.ts, or the TypeScript of a tool
 *     caisson://executions/{id}           the long envelope; /logs as lines, /result as JSON
 *
 * A tool that policy hides from the caller does not exist, and neither does an execution of another
 * tenant.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/house.h"

#define PAGE        100
#define ABOUT_BYTES 120
#define URI_BYTES   1000
#define TYPESCRIPT  "text/x-typescript"
#define TOOLS       "caisson://tools/"
#define EXECUTIONS  "caisson://executions/"

/* --- URIs --- */

static bool plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~$", c));
}

static void put_part(struct cs_buf *out, struct cs_str part)
{
    for (size_t i = 0; i < part.len; i++)
        if (plain(part.at[i]))
            cs_buf_putc(out, part.at[i]);
        else
            cs_buf_printf(out, "%%%02X", (unsigned char)part.at[i]);
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: a percent sign that means nothing. */
static bool decode(struct cs_str part, struct cs_arena *arena, struct cs_str *out)
{
    char *to = cs_arena_alloc(arena, part.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < part.len; i++) {
        char c = part.at[i];
        if (c == '%') {
            if (part.len - i < 3 || hex(part.at[i + 1]) < 0 || hex(part.at[i + 2]) < 0)
                return false;
            c = (char)(hex(part.at[i + 1]) * 16 + hex(part.at[i + 2]));
            i += 2;
        }
        to[n++] = c;
    }
    *out = cs_strn(to, n);
    return true;
}

bool cs_house_uri(struct cs_str uri, struct cs_arena *arena, struct cs_house_uri *parts)
{
    static const char scheme[] = "caisson://";
    if (!cs_str_starts(uri, scheme) || uri.len > URI_BYTES)
        return false;
    struct cs_str *const fields[] = {&parts->kind, &parts->first, &parts->second};
    const char *at = uri.at + sizeof scheme - 1, *end = uri.at + uri.len;
    for (size_t i = 0; i < CS_COUNT(fields); i++) {
        const char *slash = at < end ? memchr(at, '/', (size_t)(end - at)) : NULL;
        bool last = i == CS_COUNT(fields) - 1;
        const char *stop = slash ? slash : end;
        if (last && slash)
            return false;
        if (!decode(cs_strn(at, (size_t)(stop - at)), arena, fields[i]))
            return false;
        at = slash ? slash + 1 : end;
    }
    return true;
}

/* --- lists --- */

struct page {
    struct cs_json_writer w;
    struct cs_str after; /* the cursor: the last URI of the page before; empty: from the start */
    bool begun, more;
    size_t count;
    struct cs_buf last;
};

static void put_resource(struct page *p, struct cs_str uri, struct cs_str name, struct cs_str about,
                         const char *type)
{
    if (!p->begun) {
        p->begun = cs_str_eq(uri, p->after);
        return;
    }
    if (p->count == PAGE) {
        p->more = true;
        return;
    }
    p->count++;
    cs_buf_clear(&p->last);
    cs_buf_putstr(&p->last, uri);
    cs_json_open(&p->w, '{');
    cs_json_key(&p->w, "uri");
    cs_json_put_str(&p->w, uri);
    cs_json_key(&p->w, "name");
    cs_json_put_str(&p->w, name);
    if (about.len) {
        cs_json_key(&p->w, "description");
        cs_json_put_str(&p->w, cs_utf8_cut(about, ABOUT_BYTES));
    }
    cs_json_key(&p->w, "mimeType");
    cs_json_put_z(&p->w, type);
    cs_json_close(&p->w, '}');
}

static void put_file(struct page *p, const struct cs_tool *t, struct cs_str file,
                     struct cs_str about)
{
    CS_AUTO_BUF struct cs_buf uri = {0}, name = {0};
    cs_buf_puts(&uri, TOOLS);
    put_part(&uri, t->server);
    cs_buf_putc(&uri, '/');
    put_part(&uri, file);
    cs_buf_puts(&uri, ".ts");
    cs_buf_printf(&name, "%.*s/%.*s.ts", CS_STR_ARG(t->server), CS_STR_ARG(file));
    put_resource(p, cs_buf_str(&uri), cs_buf_str(&name), about, TYPESCRIPT);
}

static struct cs_str first_line(struct cs_str text)
{
    const char *end = text.len ? memchr(text.at, '\n', text.len) : NULL;
    return end ? cs_strn(text.at, (size_t)(end - text.at)) : text;
}

/* All servers first: many hosts read one page only. */
static void put_tree(struct cs_mcp_call *call, const struct cs_catalogue *catalogue, struct page *p)
{
    struct cs_str server = {0};
    put_resource(p, CS_STR(TOOLS "README.md"), CS_STR("README.md"),
                 CS_STR("How to find and call tools in a program, and the servers"),
                 "text/markdown");
    for (size_t i = 0; i < cs_catalogue_count(catalogue); i++) {
        const struct cs_tool *t = cs_catalogue_at(catalogue, i);
        if (cs_str_eq(t->server, server) || !cs_house_allowed(call, t))
            continue;
        server = t->server;
        put_file(p, t, CS_STR("index"), CS_STR("All tools of this server"));
    }
    for (size_t i = 0; i < cs_catalogue_count(catalogue) && !p->more; i++) {
        const struct cs_tool *t = cs_catalogue_at(catalogue, i);
        if (cs_house_allowed(call, t))
            put_file(p, t, t->ident, first_line(t->description));
    }
}

static void list(struct cs_mcp_call *call)
{
    struct cs_tools *tools = cs_house_options(call)->tools;
    struct cs_json_val cursor = cs_json_get(call->params, "cursor");
    CS_AUTO_BUF struct cs_buf result = {0};
    struct page p = {.w = CS_JSON_WRITER(&result),
                     .after = cs_json_str(cursor, &call->arena),
                     .begun = cs_json_type(cursor) != CS_JSON_STRING};
    cs_json_open(&p.w, '{');
    cs_json_key(&p.w, "resources");
    cs_json_open(&p.w, '[');
    if (tools) {
        struct cs_catalogue *catalogue = cs_tools_current(tools);
        put_tree(call, catalogue, &p);
        cs_catalogue_unref(catalogue);
    }
    cs_json_close(&p.w, ']');
    if (p.more) {
        cs_json_key(&p.w, "nextCursor");
        cs_json_put_str(&p.w, cs_buf_str(&p.last));
    }
    cs_json_close(&p.w, '}');
    if (p.begun)
        cs_mcp_result(call, cs_buf_str(&result));
    else
        cs_mcp_error(call, CS_RPC_PARAMS,
                     "cursor: the list has changed since, or this is none of its cursors; begin "
                     "anew without one",
                     (struct cs_str){0});
    cs_buf_done(&p.last);
}

void cs_house_resources(struct cs_mcp_call *call)
{
    cs_house_when_listed(call, list);
}

void cs_house_templates(struct cs_mcp_call *call)
{
    cs_mcp_result(
        call,
        CS_STR("{\"resourceTemplates\":["
               "{\"uriTemplate\":\"caisson://tools/{server}/{file}\",\"name\":\"tool\","
               "\"description\":\"TypeScript of a tool (NAME.ts), or of a server (index.ts)\","
               "\"mimeType\":\"" TYPESCRIPT "\"},"
               "{\"uriTemplate\":\"caisson://executions/{id}\",\"name\":\"execution\","
               "\"description\":\"All that is on record of an execution\","
               "\"mimeType\":\"application/json\"},"
               "{\"uriTemplate\":\"caisson://executions/{id}/logs\",\"name\":\"logs\","
               "\"description\":\"What it logged and printed\",\"mimeType\":\"text/plain\"},"
               "{\"uriTemplate\":\"caisson://executions/{id}/result\",\"name\":\"result\","
               "\"description\":\"What it returned, whole\",\"mimeType\":\"application/json\"}"
               "]}"));
}

/* --- reading --- */

static void answer(struct cs_mcp_call *call, const char *type, struct cs_str text)
{
    CS_AUTO_BUF struct cs_buf result = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&result);
    cs_json_open(&w, '{');
    cs_json_key(&w, "contents");
    cs_json_open(&w, '[');
    cs_json_open(&w, '{');
    cs_json_key(&w, "uri");
    cs_json_put_raw(&w, cs_json_raw(cs_json_get(call->params, "uri")));
    cs_json_key(&w, "mimeType");
    cs_json_put_z(&w, type);
    cs_json_key(&w, "text");
    cs_json_put_str(&w, text);
    cs_json_close(&w, '}');
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    cs_mcp_result(call, cs_buf_str(&result));
}

static void refuse(struct cs_mcp_call *call, const char *message)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    struct cs_str uri = cs_json_str(cs_json_get(call->params, "uri"), &call->arena);
    cs_json_open(&w, '{');
    cs_json_key(&w, "uri");
    cs_json_put_str(&w, cs_utf8_cut(uri, URI_BYTES));
    cs_json_close(&w, '}');
    cs_mcp_error(call, CS_RPC_PARAMS, message, cs_buf_str(&data));
}

/* Does this line of an index name a tool that the caller may not see? `... from "./listCommits";`
 */
static bool hidden(struct cs_mcp_call *call, const struct cs_catalogue *catalogue,
                   struct cs_str server, struct cs_str line)
{
    static const char from[] = " from \"./";
    const char *name = memmem(line.at, line.len, from, sizeof from - 1);
    if (!name)
        return false;
    name += sizeof from - 1;
    const char *quote = memchr(name, '"', (size_t)(line.at + line.len - name));
    const struct cs_tool *tool =
        quote ? cs_catalogue_find(catalogue, server, cs_strn(name, (size_t)(quote - name))) : NULL;
    return !tool || !cs_house_allowed(call, tool);
}

static bool any_visible(struct cs_mcp_call *call, const struct cs_catalogue *catalogue,
                        struct cs_str server)
{
    for (size_t i = 0; i < cs_catalogue_count(catalogue); i++) {
        const struct cs_tool *t = cs_catalogue_at(catalogue, i);
        if (cs_str_eq(t->server, server) && cs_house_allowed(call, t))
            return true;
    }
    return false;
}

static void put_index(struct cs_mcp_call *call, const struct cs_catalogue *catalogue,
                      struct cs_str server, struct cs_str index, struct cs_buf *out)
{
    while (index.len) {
        const char *end = memchr(index.at, '\n', index.len);
        struct cs_str line = cs_strn(index.at, end ? (size_t)(end - index.at) + 1 : index.len);
        if (!hidden(call, catalogue, server, line))
            cs_buf_putstr(out, line);
        index = cs_strn(index.at + line.len, index.len - line.len);
    }
}

static int file_of(struct cs_mcp_call *call, const struct cs_catalogue *catalogue,
                   const struct cs_house_uri *uri, struct cs_buf *out, struct cs_err *err)
{
    struct cs_tools *tools = cs_house_options(call)->tools;
    CS_AUTO_BUF struct cs_buf path = {0}, text = {0};
    struct cs_str server = cs_catalogue_server(catalogue, uri->first);
    if (!server.len)
        return cs_fail(err, CS_MISSING, "there is no such server");
    if (!cs_str_ends(uri->second, ".ts"))
        return cs_fail(err, CS_MISSING, "a file is index.ts, or the name of a tool and .ts");
    bool index = cs_str_is(uri->second, "index.ts");
    if (index && !any_visible(call, catalogue, server))
        return cs_fail(err, CS_MISSING, "this server offers nothing");
    cs_buf_printf(&path, "/mcp-servers/%.*s/%.*s", CS_STR_ARG(server), CS_STR_ARG(uri->second));
    if (cs_tools_read(tools, catalogue, cs_buf_str(&path), cs_house_allowed, call, &text, err) < 0)
        return -1;
    if (index)
        put_index(call, catalogue, server, cs_buf_str(&text), out);
    else
        cs_buf_putstr(out, cs_buf_str(&text));
    return 0;
}

static struct cs_house_uri uri_of(struct cs_mcp_call *call)
{
    struct cs_house_uri uri = {0};
    struct cs_str text = cs_json_str(cs_json_get(call->params, "uri"), &call->arena);
    if (!cs_house_uri(text, &call->arena, &uri))
        uri = (struct cs_house_uri){0};
    return uri;
}

/* The tree's own, but for what it says about servers: those are the caller's. */
static int readme_of(struct cs_mcp_call *call, const struct cs_catalogue *catalogue,
                     struct cs_buf *out, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf text = {0}, servers = {0};
    if (cs_tools_read(cs_house_options(call)->tools, catalogue, CS_STR("README.md"), NULL, NULL,
                      &text, err) < 0)
        return -1;
    const char *z = cs_buf_cstr(&text), *from = strchr(z, '\n'), *to = strstr(z, "\nServers:");
    size_t tools = 0, count = cs_house_servers(call, catalogue, SIZE_MAX, &tools, &servers);
    cs_buf_printf(out, "# %zu tools of %zu servers\n", tools, count);
    if (from && to > from)
        cs_buf_put(out, from + 1, (size_t)(to - from));
    if (count)
        cs_buf_printf(out, "Servers: %.*s\n", CS_STR_ARG(cs_buf_str(&servers)));
    return 0;
}

static void read_tree(struct cs_mcp_call *call)
{
    struct cs_tools *tools = cs_house_options(call)->tools;
    struct cs_house_uri uri = uri_of(call);
    bool readme = cs_str_is(uri.first, "README.md") && !uri.second.len;
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_err err = {0};
    if (!tools) {
        refuse(call, "there is no such resource: no servers are connected");
        return;
    }
    struct cs_catalogue *catalogue = cs_tools_current(tools);
    int failed = readme ? readme_of(call, catalogue, &text, &err)
                        : file_of(call, catalogue, &uri, &text, &err);
    if (failed < 0) {
        cs_wrap(&err, "there is no such resource");
        refuse(call, err.msg);
    } else {
        answer(call, readme ? "text/markdown" : TYPESCRIPT, cs_buf_str(&text));
    }
    cs_catalogue_unref(catalogue);
}

/* --- executions --- */

static void answer_running(struct cs_mcp_call *call, const struct cs_house_uri *uri,
                           const struct cs_found *found)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf envelope = {0}, logs = {0};
    cs_house_running(uri->first, found, &envelope);
    if (found->run)
        cs_house_follow(cs_house_of(call), found->run, cs_str(call->caller.tenant));
    if (!uri->second.len) {
        answer(call, "application/json", cs_buf_str(&envelope));
    } else if (cs_str_is(uri->second, "logs") &&
               cs_json_parse(cs_buf_str(&envelope), NULL, &doc, NULL) == 0) {
        cs_page_logs(cs_json_root(&doc), &logs);
        answer(call, "text/plain", cs_buf_str(&logs));
    } else {
        refuse(call, "there is no such resource yet: the execution is running");
    }
}

static void on_found(struct cs_mcp_call *call, const struct cs_found *found)
{
    struct cs_house_uri uri = uri_of(call);
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    if (found->err.code != CS_OK) {
        refuse(call, "there is no such resource: no such execution");
    } else if (found->running) {
        answer_running(call, &uri, found);
    } else if (!uri.second.len) {
        answer(call, "application/json", found->envelope);
    } else if (cs_json_parse(found->envelope, NULL, &doc, NULL) < 0) {
        refuse(call, "the execution's record cannot be read");
    } else if (cs_str_is(uri.second, "logs")) {
        cs_page_logs(cs_json_root(&doc), &text);
        answer(call, "text/plain", cs_buf_str(&text));
    } else {
        answer(call, "application/json", cs_json_raw(cs_json_get(cs_json_root(&doc), "result")));
    }
}

void cs_house_read(struct cs_mcp_call *call)
{
    struct cs_house_uri uri = uri_of(call);
    bool piece =
        !uri.second.len || cs_str_is(uri.second, "logs") || cs_str_is(uri.second, "result");
    if (cs_str_is(uri.kind, "tools") && uri.first.len)
        cs_house_when_listed(call, read_tree);
    else if (cs_str_is(uri.kind, "executions") && uri.first.len && piece)
        cs_house_look(call, uri.first, 0, on_found);
    else
        refuse(call, "there is no such resource; there are " TOOLS "{server}/{file} and " EXECUTIONS
                     "{id}, also with /logs or /result");
}

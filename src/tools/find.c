/* Tools by words, by path, and by names that are nearly right. */
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "tools/inside.h"

#define LIMIT_DEFAULT 5
#define LIMIT_MAX     50
#define SUMMARY_BYTES 120
#define NEAR          3
#define FILE_BYTES    (4u << 20)

/* --- the index follows the catalogue, server by server, when it is asked --- */

static void index_offer(struct cs_search *search, const struct cs_offer *offer)
{
    size_t count = cs_offer_count(offer);
    struct cs_search_doc *docs = cs_calloc(count + 1, sizeof *docs);
    for (size_t i = 0; i < count; i++) {
        const struct cs_tool *t = cs_offer_at(offer, i);
        docs[i] = (struct cs_search_doc){t->name, t->title, t->description, t->input, t};
    }
    struct cs_err err = {0};
    /* Beyond the index's bound a server is not found by words; its tools can still be called. */
    if (cs_search_put(search, cs_offer_server(offer), docs, count, &err) < 0)
        cs_search_remove(search, cs_offer_server(offer));
    free(docs);
}

static void update_index(struct cs_tools *t)
{
    if (t->indexed == t->catalogue)
        return;
    if (!t->search)
        t->search = cs_search_new(t->model);
    for (size_t i = 0; t->indexed && i < cs_catalogue_servers(t->indexed); i++) {
        struct cs_str server = cs_offer_server(cs_catalogue_offer(t->indexed, i));
        if (!cs_catalogue_find_offer(t->catalogue, server))
            cs_search_remove(t->search, server);
    }
    for (size_t i = 0; i < cs_catalogue_servers(t->catalogue); i++) {
        const struct cs_offer *offer = cs_catalogue_offer(t->catalogue, i);
        if (!t->indexed || cs_catalogue_find_offer(t->indexed, cs_offer_server(offer)) != offer)
            index_offer(t->search, offer);
    }
    cs_catalogue_unref(t->indexed);
    t->indexed = cs_catalogue_ref(t->catalogue);
}

/* What the caller may see: in the catalogue that it started with, and allowed. */
struct view {
    const struct cs_catalogue *catalogue;
    bool (*allowed)(void *ctx, const struct cs_tool *tool);
    void *ctx;
};

static bool visible(void *ctx, const void *tag)
{
    const struct view *v = ctx;
    const struct cs_tool *t = tag;
    t = cs_catalogue_find(v->catalogue, t->server, t->name);
    return t && (!v->allowed || v->allowed(v->ctx, t));
}

/* --- answers --- */

static void put_tool(struct cs_json_writer *w, const struct cs_tool *t, enum cs_detail detail)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_json_open(w, '{');
    cs_buf_printf(&text, "%.*s.%.*s", CS_STR_ARG(t->server_ident), CS_STR_ARG(t->ident));
    cs_json_key(w, "tool");
    cs_json_put_str(w, cs_buf_str(&text));
    cs_buf_clear(&text);
    cs_buf_printf(&text, "/mcp-servers/%.*s/%.*s.ts", CS_STR_ARG(t->server), CS_STR_ARG(t->ident));
    cs_json_key(w, "path");
    cs_json_put_str(w, cs_buf_str(&text));
    cs_buf_clear(&text);
    struct cs_err err = {0};
    if (detail == CS_DETAIL_SUMMARY) {
        cs_declare_summary(t->description.len ? t->description : t->title, SUMMARY_BYTES, &text);
        cs_json_key(w, "summary");
        cs_json_put_str(w, cs_buf_str(&text));
    } else if (detail == CS_DETAIL_FULL && cs_tool_declare(t, &text, &err) == 0) {
        cs_json_key(w, "definition");
        cs_json_put_str(w, cs_buf_str(&text));
    }
    cs_json_close(w, '}');
}

static size_t count_visible(const struct cs_offer *offer, const struct view *v)
{
    size_t count = 0;
    for (size_t i = 0; i < cs_offer_count(offer); i++)
        count += !v->allowed || v->allowed(v->ctx, cs_offer_at(offer, i));
    return count;
}

static void put_servers(struct cs_json_writer *w, const struct view *v)
{
    cs_json_key(w, "servers");
    cs_json_open(w, '[');
    for (size_t i = 0; i < cs_catalogue_servers(v->catalogue); i++) {
        const struct cs_offer *offer = cs_catalogue_offer(v->catalogue, i);
        cs_json_open(w, '{');
        cs_json_key(w, "server");
        cs_json_put_str(w, cs_offer_ident(offer));
        cs_json_key(w, "tools");
        cs_json_put_u64(w, count_visible(offer, v));
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

static void put_waiting(struct cs_json_writer *w, const struct cs_catalogue *catalogue)
{
    bool any = false;
    for (size_t i = 0; i < cs_catalogue_servers(catalogue); i++) {
        const struct cs_offer *offer = cs_catalogue_offer(catalogue, i);
        if (cs_offer_listed(offer))
            continue;
        if (!any) {
            cs_json_key(w, "waiting");
            cs_json_open(w, '[');
        }
        any = true;
        cs_json_put_str(w, cs_offer_server(offer));
    }
    if (any)
        cs_json_close(w, ']');
}

void cs_tools_find(struct cs_tools *t, const struct cs_catalogue *catalogue,
                   const struct cs_find *find, struct cs_buf *json)
{
    update_index(t);
    struct view view = {catalogue, find->allowed, find->ctx};
    struct cs_search_hit hits[LIMIT_MAX];
    size_t limit = find->limit ? find->limit : LIMIT_DEFAULT, total = 0;
    /* A server may be named by its identifier, too. */
    const struct cs_offer *named =
        find->server.len ? cs_catalogue_find_offer(catalogue, find->server) : NULL;
    struct cs_search_options options = {
        .limit = limit < LIMIT_MAX ? limit : LIMIT_MAX,
        .offset = find->offset,
        .group = named ? cs_offer_server(named) : find->server,
        .accept = visible,
        .ctx = &view,
    };
    size_t count = cs_search_find(t->search, find->query, &options, hits, &total);
    struct cs_json_writer w = CS_JSON_WRITER(json);
    cs_json_open(&w, '{');
    cs_json_key(&w, "tools");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < count; i++) {
        const struct cs_tool *hit = hits[i].tag;
        put_tool(&w, cs_catalogue_find(catalogue, hit->server, hit->name), find->detail);
    }
    cs_json_close(&w, ']');
    cs_json_key(&w, "total");
    cs_json_put_u64(&w, total);
    if (total == 0)
        put_servers(&w, &view);
    put_waiting(&w, catalogue);
    cs_json_close(&w, '}');
}

static void put_name(struct cs_buf *out, struct cs_str first, struct cs_str second)
{
    if (out->len)
        cs_buf_puts(out, ", ");
    cs_buf_putstr(out, first);
    if (second.len) {
        cs_buf_putc(out, '.');
        cs_buf_putstr(out, second);
    }
}

void cs_tools_near(struct cs_tools *t, const struct cs_catalogue *catalogue, struct cs_str server,
                   struct cs_str tool, bool (*allowed)(void *ctx, const struct cs_tool *tool),
                   void *ctx, struct cs_buf *out)
{
    update_index(t);
    struct view view = {catalogue, allowed, ctx};
    const struct cs_offer *named = cs_catalogue_find_offer(catalogue, server);
    CS_AUTO_BUF struct cs_buf query = {0};
    if (!named)
        cs_buf_printf(&query, "%.*s ", CS_STR_ARG(server));
    cs_buf_printf(&query, "%.*s", CS_STR_ARG(tool));
    struct cs_search_hit hits[NEAR];
    size_t total;
    struct cs_search_options options = {
        .limit = NEAR,
        .group = named ? cs_offer_server(named) : (struct cs_str){0},
        .accept = visible,
        .ctx = &view,
    };
    CS_AUTO_BUF struct cs_buf names = {0};
    size_t count = cs_search_find(t->search, cs_buf_str(&query), &options, hits, &total);
    for (size_t i = 0; i < count; i++) {
        const struct cs_tool *hit = hits[i].tag;
        put_name(&names, hit->server_ident, hit->ident);
    }
    /* Nothing is like it: a few of what there is. */
    for (size_t i = 0, put = 0; !count && named && i < cs_offer_count(named) && put < NEAR; i++) {
        const struct cs_tool *other = cs_offer_at(named, i);
        if (allowed && !allowed(ctx, other))
            continue;
        put_name(&names, other->server_ident, other->ident);
        put++;
    }
    for (size_t i = 0; !count && !named && i < cs_catalogue_servers(catalogue) && i < 10; i++)
        put_name(&names, cs_offer_ident(cs_catalogue_offer(catalogue, i)), (struct cs_str){0});
    cs_buf_putstr(out, cs_buf_str(&names));
}

/* --- one definition --- */

/* "server" and "tool" of a path in any of its spellings; `tool` is empty if there is only one part.
 */
static void split_path(struct cs_str path, struct cs_str *server, struct cs_str *tool)
{
    static const char *const prefixes[] = {"./", "/", "mcp-servers/", "tools."};
    for (size_t i = 0; i < CS_COUNT(prefixes); i++)
        if (cs_str_starts(path, prefixes[i])) {
            path.at += strlen(prefixes[i]);
            path.len -= strlen(prefixes[i]);
        }
    if (cs_str_ends(path, ".ts"))
        path.len -= 3;
    const char *cut = memchr(path.at, '/', path.len);
    if (!cut)
        cut = memchr(path.at, '.', path.len);
    size_t n = cut ? (size_t)(cut - path.at) : path.len;
    *server = cs_strn(path.at, n);
    *tool = cut ? cs_strn(cut + 1, path.len - n - 1) : (struct cs_str){0};
}

static int read_tree(const struct cs_catalogue *catalogue, const char *path, struct cs_buf *text,
                     struct cs_err *err)
{
    CS_AUTO_FD int fd = openat(cs_catalogue_dir(catalogue), path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cs_fail_errno(err, "%s", path);
    return cs_file_read_fd(fd, FILE_BYTES, text, err);
}

int cs_tools_read(struct cs_tools *t, const struct cs_catalogue *catalogue, struct cs_str path,
                  bool (*allowed)(void *ctx, const struct cs_tool *tool), void *ctx,
                  struct cs_buf *text, struct cs_err *err)
{
    struct cs_str server, name;
    split_path(path, &server, &name);
    if (cs_str_is(server, "README.md") || cs_str_is(server, "README"))
        return read_tree(catalogue, "README.md", text, err);
    const struct cs_offer *offer = cs_catalogue_find_offer(catalogue, server);
    /* A server's name may have a dot in it. */
    if (!offer && name.len) {
        struct cs_str whole = cs_strn(server.at, server.len + 1 + name.len);
        offer = cs_catalogue_find_offer(catalogue, whole);
        name.len = offer ? 0 : name.len;
        for (size_t n = whole.len; n > server.len && !offer; n--)
            if (whole.at[n - 1] == '.') {
                offer = cs_catalogue_find_offer(catalogue, cs_strn(whole.at, n - 1));
                name = cs_strn(whole.at + n, whole.len - n);
            }
    }
    if (offer && !cs_offer_listed(offer))
        return cs_fail(err, CS_MISSING, "it is not known what the server '%.*s' offers",
                       CS_STR_ARG(cs_offer_server(offer)));
    if (offer && (name.len == 0 || cs_str_is(name, "index"))) {
        CS_AUTO_BUF struct cs_buf file = {0};
        cs_buf_printf(&file, "%.*s/index.ts", CS_STR_ARG(cs_offer_server(offer)));
        return read_tree(catalogue, cs_buf_cstr(&file), text, err);
    }
    const struct cs_tool *tool =
        offer ? cs_catalogue_find(catalogue, cs_offer_server(offer), name) : NULL;
    if (tool && (!allowed || allowed(ctx, tool)))
        return cs_tool_declare(tool, text, err);
    CS_AUTO_BUF struct cs_buf near = {0};
    cs_tools_near(t, catalogue, server, name, allowed, ctx, &near);
    return cs_fail(err, CS_MISSING, "there is no tool '%.*s'%s%s", CS_STR_ARG(path),
                   near.len ? "; near to it: " : "", cs_buf_cstr(&near));
}

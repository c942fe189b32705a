#include <errno.h>

#include "base/json.h"
#include "base/mem.h"
#include "search/search.h"

#define LIMIT_MAX 100000u

/* A file of JSON lines, one document at a time. */
struct lines {
    const char *path;
    FILE *file;
    char *line;
    size_t room, number;
    struct cs_json doc;
};

static void lines_done(struct lines *l)
{
    if (l->file)
        fclose(l->file);
    free(l->line);
    cs_json_done(&l->doc);
}

static int lines_open(struct lines *l, const char *path, struct cs_err *err)
{
    *l = (struct lines){.path = path, .file = fopen(path, "re")};
    if (!l->file && errno == ENOENT)
        return cs_fail(err, CS_MISSING, "there is no %s", path);
    return l->file ? 0 : cs_fail_errno(err, "%s", path);
}

/* 1 if there is a line, 0 at the end. Empty lines are passed over. */
static int lines_next(struct lines *l, struct cs_json_val *value, struct cs_err *err)
{
    for (;;) {
        errno = 0;
        ssize_t len = getline(&l->line, &l->room, l->file);
        if (len < 0 && ferror(l->file))
            return cs_fail_errno(err, "%s", l->path);
        if (len < 0)
            return 0;
        l->number++;
        while (len > 0 && strchr(" \t\r\n", l->line[len - 1]))
            len--;
        if (len == 0)
            continue;
        cs_json_done(&l->doc);
        const struct cs_json_limits limits = {.allow_duplicate = true};
        if (cs_json_parse(cs_strn(l->line, (size_t)len), &limits, &l->doc, err) < 0)
            return cs_wrap(err, "%s, line %zu", l->path, l->number);
        *value = cs_json_root(&l->doc);
        if (cs_json_type(*value) != CS_JSON_OBJECT)
            return cs_fail(err, CS_INVALID, "%s, line %zu: not an object", l->path, l->number);
        return 1;
    }
}

static int need_text(const struct lines *l, struct cs_json_val object, const char *key,
                     struct cs_arena *arena, struct cs_str *text, struct cs_err *err)
{
    struct cs_json_val value = cs_json_get(object, key);
    if (cs_json_type(value) != CS_JSON_STRING)
        return cs_fail(err, CS_INVALID, "%s, line %zu: \"%s\" is not a string", l->path, l->number,
                       key);
    *text = cs_arena_dup(arena, cs_json_str(value, arena));
    return 0;
}

struct entry {
    struct cs_str server;
    struct cs_search_doc doc;
    size_t order;
};

static int by_server(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    size_t n = x->server.len < y->server.len ? x->server.len : y->server.len;
    int order = n ? memcmp(x->server.at, y->server.at, n) : 0;
    if (order == 0 && x->server.len != y->server.len)
        order = x->server.len < y->server.len ? -1 : 1;
    return order ? order : x->order < y->order ? -1 : 1;
}

struct catalogue {
    struct cs_arena arena;
    struct entry *entries;
    size_t count, room;
};

static void catalogue_done(struct catalogue *c)
{
    cs_arena_done(&c->arena);
    free(c->entries);
}

static int read_entry(const struct lines *l, struct cs_json_val tool, struct catalogue *c,
                      struct cs_err *err)
{
    if (c->count == CS_SEARCH_DOCS)
        return cs_fail(err, CS_LIMIT, "%s: more than %u tools", l->path, CS_SEARCH_DOCS);
    if (c->count == c->room) {
        c->room = c->room ? c->room * 2 : 1024;
        c->entries = cs_realloc(c->entries, c->room, sizeof *c->entries);
    }
    struct entry *e = &c->entries[c->count];
    *e = (struct entry){.order = c->count};
    if (need_text(l, tool, "server", &c->arena, &e->server, err) < 0 ||
        need_text(l, tool, "name", &c->arena, &e->doc.name, err) < 0)
        return -1;
    struct cs_str title = cs_json_str(cs_json_get(tool, "title"), &c->arena);
    struct cs_str text = cs_json_str(cs_json_get(tool, "description"), &c->arena);
    struct cs_json_val schema = cs_json_get(tool, "inputSchema");
    e->doc.title = cs_arena_dup(&c->arena, title);
    e->doc.description = cs_arena_dup(&c->arena, text);
    if (cs_json_type(schema) == CS_JSON_OBJECT)
        e->doc.schema = cs_arena_dup(&c->arena, cs_json_raw(schema));
    e->doc.tag =
        cs_arena_printf(&c->arena, "%.*s/%.*s", CS_STR_ARG(e->server), CS_STR_ARG(e->doc.name));
    c->count++;
    return 0;
}

static int read_catalogue(const char *path, struct catalogue *c, struct cs_err *err)
{
    CS_AUTO(lines_done) struct lines l = {0};
    if (lines_open(&l, path, err) < 0)
        return -1;
    struct cs_json_val tool;
    int more;
    while ((more = lines_next(&l, &tool, err)) > 0)
        if (read_entry(&l, tool, c, err) < 0)
            return -1;
    return more;
}

static int put_all(struct cs_search *index, struct catalogue *c, struct cs_err *err)
{
    qsort(c->entries, c->count, sizeof *c->entries, by_server);
    CS_AUTO_FREE struct cs_search_doc *docs = cs_calloc(c->count, sizeof *docs);
    for (size_t i = 0; i < c->count; i++)
        docs[i] = c->entries[i].doc;
    for (size_t first = 0, end; first < c->count; first = end) {
        for (end = first; end < c->count; end++)
            if (!cs_str_eq(c->entries[end].server, c->entries[first].server))
                break;
        if (cs_search_put(index, c->entries[first].server, docs + first, end - first, err) < 0)
            return -1;
    }
    return 0;
}

static int answer_all(struct cs_search *index, const char *path, size_t limit, FILE *out,
                      struct cs_err *err)
{
    CS_AUTO(lines_done) struct lines l = {0};
    if (lines_open(&l, path, err) < 0)
        return -1;
    CS_AUTO_FREE struct cs_search_hit *hits = cs_calloc(limit, sizeof *hits);
    CS_AUTO_BUF struct cs_buf line = {0};
    struct cs_json_val query;
    int more;
    while ((more = lines_next(&l, &query, err)) > 0) {
        CS_AUTO_ARENA struct cs_arena arena = {0};
        struct cs_str text;
        struct cs_json_val id = cs_json_get(query, "query_id");
        if (need_text(&l, query, "query", &arena, &text, err) < 0)
            return -1;
        const struct cs_search_options options = {.limit = limit};
        size_t count = cs_search_find(index, text, &options, hits, NULL);
        cs_buf_clear(&line);
        struct cs_json_writer w = CS_JSON_WRITER(&line);
        cs_json_open(&w, '{');
        cs_json_key(&w, "query_id");
        cs_json_put_raw(&w, cs_json_type(id) == CS_JSON_NONE ? CS_STR("null") : cs_json_raw(id));
        cs_json_key(&w, "ranking");
        cs_json_open(&w, '[');
        for (size_t i = 0; i < count; i++)
            cs_json_put_z(&w, hits[i].tag);
        cs_json_close(&w, ']');
        cs_json_close(&w, '}');
        cs_buf_putc(&line, '\n');
        if (fwrite(line.at, 1, line.len, out) != line.len)
            return cs_fail_errno(err, "rankings");
    }
    return more;
}

CS_DEFINE_CLEANUP(struct cs_search, cs_search_free)

int cs_search_rank(const char *catalogue_path, const char *queries_path,
                   const struct cs_model *model, size_t limit, FILE *out, struct cs_err *err)
{
    limit = limit ? limit : 10;
    limit = limit < LIMIT_MAX ? limit : LIMIT_MAX;
    CS_AUTO(catalogue_done) struct catalogue catalogue = {0};
    CS_AUTO(cs_search_freep) struct cs_search *index = cs_search_new(model);
    if (read_catalogue(catalogue_path, &catalogue, err) < 0 || put_all(index, &catalogue, err) < 0)
        return -1;
    return answer_all(index, queries_path, limit, out, err);
}

/* x-mcp-header: parameters of a tool that the server wants to see as HTTP headers too. */
#include <strings.h>

#include "tools/client_in.h"

#define TAG         "x-mcp-header"
#define HEADERS_MAX 64u
#define SAFE_MAX    9007199254740991 /* 2^53 - 1 */

struct walk {
    struct cs_arena arena;
    struct cs_str names[HEADERS_MAX];
    size_t count;
    struct cs_buf *why;
};

static bool is_token(struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char ch = s.at[i];
        bool alnum =
            (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9');
        if (!alnum && (ch == '\0' || !strchr("!#$%&'*+-.^_`|~", ch)))
            return false;
    }
    return s.len > 0;
}

static bool no(struct walk *w, const char *what)
{
    cs_buf_printf(w->why, TAG " %s", what);
    return false;
}

static bool tag_ok(struct walk *w, struct cs_json_val schema, struct cs_json_val tag,
                   bool reachable)
{
    struct cs_json_val type = cs_json_get(schema, "type");
    if (!reachable)
        return no(w, "stands where no parameter is");
    if (cs_json_type(tag) != CS_JSON_STRING)
        return no(w, "is no string");
    struct cs_str name = cs_json_str(tag, &w->arena);
    if (!is_token(name))
        return no(w, "is no name of a header");
    if (!cs_json_is(type, "string") && !cs_json_is(type, "integer") && !cs_json_is(type, "boolean"))
        return no(w, "is on a parameter that is no string, integer or boolean");
    for (size_t i = 0; i < w->count; i++)
        if (name.len == w->names[i].len && strncasecmp(name.at, w->names[i].at, name.len) == 0)
            return no(w, "is there twice with one name");
    if (w->count == HEADERS_MAX)
        return no(w, "is there too often");
    w->names[w->count++] = name;
    return true;
}

static bool one_of(struct cs_json_val key, const char *const *names)
{
    for (; *names; names++)
        if (cs_json_is(key, *names))
            return true;
    return false;
}

static bool schema_ok(struct walk *w, struct cs_json_val schema, bool is_root, bool reachable);

/* Every value of an object or array is a schema. */
static bool all_ok(struct walk *w, struct cs_json_val many, bool reachable)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(many, &it, &key, &item))
        if (!schema_ok(w, item, false, reachable))
            return false;
    return true;
}

static bool schema_ok(struct walk *w, struct cs_json_val schema, bool is_root, bool reachable)
{
    static const char *const maps[] = {"$defs", "definitions", "patternProperties",
                                       "dependentSchemas", NULL};
    static const char *const lists[] = {"allOf", "anyOf", "oneOf", "prefixItems", NULL};
    static const char *const singles[] = {"items",
                                          "additionalProperties",
                                          "not",
                                          "if",
                                          "then",
                                          "else",
                                          "contains",
                                          "propertyNames",
                                          "unevaluatedItems",
                                          "unevaluatedProperties",
                                          "additionalItems",
                                          NULL};
    if (cs_json_type(schema) != CS_JSON_OBJECT)
        return true;
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(schema, &it, &key, &item)) {
        bool ok = true;
        if (cs_json_is(key, TAG))
            ok = tag_ok(w, schema, item, reachable && !is_root);
        else if (cs_json_is(key, "properties"))
            ok = all_ok(w, item, reachable);
        else if (one_of(key, maps) || one_of(key, lists))
            ok = all_ok(w, item, false);
        else if (one_of(key, singles))
            ok = cs_json_type(item) == CS_JSON_ARRAY ? all_ok(w, item, false)
                                                     : schema_ok(w, item, false, false);
        if (!ok)
            return false;
    }
    return true;
}

bool cs_mirror_ok(struct cs_json_val schema, struct cs_buf *why)
{
    struct cs_str raw = cs_json_raw(schema);
    if (raw.len == 0 || !memmem(raw.at, raw.len, TAG, sizeof TAG - 1))
        return true;
    struct walk w = {.why = why};
    bool ok = schema_ok(&w, schema, true, true);
    cs_arena_done(&w.arena);
    return ok;
}

struct gather {
    struct cs_arena *arena;
    struct cs_pair *pairs;
    size_t count;
};

static const char *header_value(struct cs_json_val v, struct cs_arena *arena)
{
    int64_t n;
    switch (cs_json_type(v)) {
    case CS_JSON_STRING:
        return cs_arena_dup(arena, cs_json_str(v, arena)).at;
    case CS_JSON_TRUE:
        return "true";
    case CS_JSON_FALSE:
        return "false";
    case CS_JSON_NUMBER:
        if (cs_json_i64(v, &n) && n >= -SAFE_MAX && n <= SAFE_MAX)
            return cs_arena_printf(arena, "%lld", (long long)n);
        return NULL;
    case CS_JSON_NONE:
    case CS_JSON_NULL:
    case CS_JSON_ARRAY:
    case CS_JSON_OBJECT:
        return NULL;
    }
    return NULL;
}

static void gather(struct gather *g, struct cs_json_val schema, struct cs_json_val value)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    struct cs_json_val properties = cs_json_get(schema, "properties");
    if (cs_json_type(properties) != CS_JSON_OBJECT || cs_json_type(value) != CS_JSON_OBJECT)
        return;
    while (g->count < HEADERS_MAX && cs_json_next(properties, &it, &key, &item)) {
        struct cs_str name = cs_json_str(key, g->arena);
        struct cs_json_val given = cs_json_get(value, cs_arena_dup(g->arena, name).at);
        struct cs_json_val tag = cs_json_get(item, TAG);
        const char *text = header_value(given, g->arena);
        if (cs_json_type(tag) == CS_JSON_STRING && text)
            g->pairs[g->count++] = (struct cs_pair){
                cs_arena_printf(g->arena, "Mcp-Param-%.*s", CS_STR_ARG(cs_json_str(tag, g->arena))),
                text};
        else
            gather(g, item, given);
    }
}

struct cs_pair *cs_mirror_of(struct cs_str schema, struct cs_str arguments, struct cs_arena *arena)
{
    const struct cs_json_limits limits = {
        .bytes = CS_MESSAGE_MAX, .depth = CS_JSON_DEEPEST, .allow_duplicate = true};
    CS_AUTO_JSON struct cs_json form = {0}, given = {0};
    if (schema.len == 0 || !memmem(schema.at, schema.len, TAG, sizeof TAG - 1) ||
        cs_json_parse(schema, &limits, &form, NULL) < 0 ||
        cs_json_parse(arguments, &limits, &given, NULL) < 0)
        return NULL;
    struct gather g = {.arena = arena,
                       .pairs = cs_arena_alloc(arena, (HEADERS_MAX + 1) * sizeof *g.pairs)};
    gather(&g, cs_json_root(&form), cs_json_root(&given));
    return g.count > 0 ? g.pairs : NULL;
}

/* The settings of a file: sections, or dotted names, beside the servers. */
#include <string.h>

#include "base/file.h"
#include "base/jsonc.h"
#include "base/near.h"
#include "front/settings_inside.h"

#define KEY_SHOWN 60
#define NAMES     (2 * CS_SETTING_COUNT + 16)

/* Other keys at the top: what tools/config.h reads, and what editors put there. */
static const char *const others[] = {"mcpServers", "servers", "mcp",   "inputs",
                                     "projects",   "$schema", "policy"};

struct reading {
    const struct cs_jsonc *doc;
    const char *path;
    struct cs_settings *into;
    struct cs_mistakes *mistakes;
    struct cs_arena *arena; /* for the time of reading */
    bool seen[CS_SETTING_COUNT];
};

static const char *where(struct reading *r, struct cs_json_val v)
{
    struct cs_jsonc_place place = cs_jsonc_where(r->doc, v);
    return cs_arena_printf(r->arena, "%s:%zu:%zu", r->path, place.line, place.column);
}

/* A place costs a walk through the text, which nobody sees beyond the last mistake that is told. */
static const char *where_wrong(struct reading *r, struct cs_json_val v)
{
    return r->mistakes->count < CS_MISTAKES_MOST ? where(r, v) : "";
}

/* --- names --- */

static bool is_section(struct cs_str name)
{
    for (size_t i = 0; i < CS_SETTING_COUNT; i++) {
        const char *whole = cs_setting_rows[i].name;
        if (strcspn(whole, ".") == name.len && memcmp(whole, name.at, name.len) == 0)
            return true;
    }
    return false;
}

static bool is_other(struct cs_str name)
{
    for (size_t i = 0; i < CS_COUNT(others); i++)
        if (cs_str_is(name, others[i]))
            return true;
    return false;
}

/* "port" at the top is server.port, most probably. */
static const char *with_section(const char *word)
{
    for (size_t i = 0; i < CS_SETTING_COUNT; i++)
        if (strcmp(strchr(cs_setting_rows[i].name, '.') + 1, word) == 0)
            return cs_setting_rows[i].name;
    return NULL;
}

static const char *nearest(struct reading *r, const char *word)
{
    const char *names[NAMES];
    size_t count = 0;
    const char *in_section = with_section(word);
    if (in_section)
        return in_section;
    for (size_t i = 0; i < CS_SETTING_COUNT; i++) {
        const char *name = cs_setting_rows[i].name;
        names[count++] = name;
        if (!strchr(word, '.'))
            names[count++] = cs_arena_dup(r->arena, cs_strn(name, strcspn(name, "."))).at;
    }
    for (size_t i = 0; i < CS_COUNT(others); i++)
        names[count++] = others[i];
    return cs_nearest(word, names, count);
}

static void unknown(struct reading *r, struct cs_json_val key, struct cs_str name)
{
    if (r->mistakes->count >= CS_MISTAKES_MOST) {
        r->mistakes->count++;
        return;
    }
    bool cut = name.len > KEY_SHOWN;
    const char *word = cs_arena_dup(r->arena, cs_strn(name.at, cut ? KEY_SHOWN : name.len)).at;
    const char *near = cut ? NULL : nearest(r, word);
    if (near)
        cs_mistake(r->mistakes, where(r, key), "there is no setting '%s'; did you mean '%s'?", word,
                   near);
    else
        cs_mistake(r->mistakes, where(r, key),
                   "there is no setting '%s%s'; 'caisson config explain' lists them", word,
                   cut ? "..." : "");
}

/* --- values --- */

static void take(struct reading *r, struct cs_json_val key, struct cs_str name,
                 struct cs_json_val v)
{
    const struct cs_setting *row = cs_setting_find(name);
    struct cs_err err = {0};
    if (!row) {
        unknown(r, key, name);
        return;
    }
    size_t id = cs_setting_id(row);
    if (r->seen[id])
        cs_mistake(r->mistakes, where_wrong(r, key), "%s is there twice: keep one of the two",
                   row->name);
    r->seen[id] = true;
    if (cs_json_type(v) == CS_JSON_NULL)
        return;
    if (cs_setting_take(row, v, r->into, &err) < 0)
        cs_mistake(r->mistakes, where_wrong(r, v), "%s: %s", row->name, err.msg);
    else
        r->into->origin[id] = cs_arena_dup(&r->into->arena, cs_str(where(r, v))).at;
}

/* Calls `each` with the whole name of every member of a section. */
static void walk(struct reading *r, struct cs_str section, struct cs_json_val object,
                 void (*each)(struct reading *r, struct cs_json_val key, struct cs_str name,
                              struct cs_json_val v))
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(object, &it, &key, &item)) {
        CS_AUTO_BUF struct cs_buf name = {0};
        cs_buf_putstr(&name, section);
        cs_buf_putc(&name, '.');
        cs_buf_putstr(&name, cs_json_str(key, r->arena));
        each(r, key, cs_buf_str(&name), item);
    }
}

static void take_top(struct reading *r, struct cs_json_val key, struct cs_str name,
                     struct cs_json_val v)
{
    enum cs_json_type type = cs_json_type(v);
    if (cs_str_is(name, "policy") && type != CS_JSON_OBJECT && type != CS_JSON_STRING &&
        type != CS_JSON_NULL)
        cs_mistake(r->mistakes, where_wrong(r, v),
                   "'policy' wants an object, or the path of a file");
    if (is_other(name))
        return;
    if (!is_section(name))
        take(r, key, name, v);
    else if (cs_json_type(v) == CS_JSON_OBJECT)
        walk(r, name, v, take);
    else if (cs_json_type(v) != CS_JSON_NULL)
        cs_mistake(r->mistakes, where_wrong(r, v),
                   "'%.*s' is a section: it wants an object of settings", CS_STR_ARG(name));
}

/* --- whose file is it? --- */

static void note(struct reading *r, struct cs_json_val key, struct cs_str name,
                 struct cs_json_val v)
{
    const struct cs_setting *row = cs_setting_find(name);
    (void)key, (void)v;
    if (row)
        r->seen[cs_setting_id(row)] = true;
}

static bool is_ours(const struct reading *reading, struct cs_json_val root)
{
    const char *slash = strrchr(reading->path, '/');
    if (strcmp(slash ? slash + 1 : reading->path, "caisson.json") == 0)
        return true;
    struct reading r = *reading;
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(root, &it, &key, &item)) {
        struct cs_str name = cs_json_str(key, r.arena);
        note(&r, key, name, item);
        if (is_section(name) && cs_json_type(item) == CS_JSON_OBJECT)
            walk(&r, name, item, note);
    }
    return memchr(r.seen, true, sizeof r.seen) != NULL;
}

int cs_settings_policy(const char *path, struct cs_buf *json, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_JSONC struct cs_jsonc doc = {0};
    struct cs_err missing = {0};
    if (cs_file_read(path, CS_JSONC_BYTES, &text, &missing) < 0) {
        if (missing.code == CS_MISSING)
            return 0;
        *err = missing;
        return -1;
    }
    if (cs_jsonc_parse(cs_buf_str(&text), &doc, err) < 0)
        return -1;
    struct reading r = {&doc, path, NULL, NULL, &arena, {false}};
    struct cs_json_val root = cs_json_root(&doc.doc), v = cs_json_get(root, "policy");
    enum cs_json_type type = cs_json_type(v);
    if (type != CS_JSON_NONE && type != CS_JSON_NULL && is_ours(&r, root))
        cs_buf_putstr(json, cs_json_raw(v));
    return 0;
}

void cs_settings_take_text(struct cs_str text, const char *path, struct cs_settings *into,
                           struct cs_mistakes *m)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_JSONC struct cs_jsonc doc = {0};
    struct cs_err err = {0};
    if (cs_jsonc_parse(text, &doc, &err) < 0) {
        cs_mistake(m, path, "%s", err.msg);
        return;
    }
    struct reading r = {&doc, path, into, m, &arena, {false}};
    struct cs_json_val root = cs_json_root(&doc.doc), key, item;
    if (cs_json_type(root) != CS_JSON_OBJECT) {
        cs_mistake(m, where(&r, root), "an object is wanted: {\"mcpServers\": {...}}");
        return;
    }
    if (!is_ours(&r, root))
        return;
    struct cs_json_iter it = {0};
    while (cs_json_next(root, &it, &key, &item))
        take_top(&r, key, cs_json_str(key, &arena), item);
}

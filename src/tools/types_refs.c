/* Which schemas of a document are named by a $ref, and what a $ref names. */
#include "tools/types_refs.h"

#include <stdlib.h>
#include <string.h>

/* A lookup costs as many steps as the object has keys; a schema that needs more is a hostile one.
 */
#define STEPS 3000000u

static bool is_object(struct cs_json_val v)
{
    return cs_json_type(v) == CS_JSON_OBJECT;
}

static struct cs_json_val member(struct cs_refs *r, struct cs_json_val v, struct cs_str key)
{
    struct cs_json_val none = {0}, found = {0}, name, item;
    if (!is_object(v) || r->steps > STEPS)
        return none;
    r->steps += cs_json_count(v) + 1;
    struct cs_json_iter it = {0};
    while (cs_json_next(v, &it, &name, &item)) {
        if (cs_str_eq(cs_json_str(name, r->arena), key))
            found = item;
    }
    return found;
}

static struct cs_json_val element(struct cs_refs *r, struct cs_json_val v, struct cs_str index)
{
    struct cs_json_val none = {0}, item;
    size_t n = 0;
    if (index.len == 0 || index.len > 6)
        return none;
    for (size_t i = 0; i < index.len; i++) {
        if (index.at[i] < '0' || index.at[i] > '9')
            return none;
        n = n * 10 + (size_t)(index.at[i] - '0');
    }
    if (n >= cs_json_count(v) || r->steps > STEPS)
        return none;
    r->steps += n + 1;
    struct cs_json_iter it = {0};
    while (cs_json_next(v, &it, NULL, &item)) {
        if (n-- == 0)
            return item;
    }
    return none;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* One segment of a pointer, with %2F and then ~1 undone. */
static struct cs_str segment(struct cs_refs *r, struct cs_str *rest)
{
    const char *slash = rest->len ? memchr(rest->at, '/', rest->len) : NULL;
    struct cs_str raw = cs_strn(rest->at, slash ? (size_t)(slash - rest->at) : rest->len);
    *rest = slash ? cs_strn(slash + 1, rest->len - raw.len - 1) : cs_strn(rest->at, 0);
    if (raw.len == 0 || (!memchr(raw.at, '%', raw.len) && !memchr(raw.at, '~', raw.len)))
        return raw;
    char *text = cs_arena_alloc(r->arena, raw.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.at[i];
        if (c == '%' && i + 2 < raw.len && hex(raw.at[i + 1]) >= 0 && hex(raw.at[i + 2]) >= 0) {
            c = (char)(hex(raw.at[i + 1]) << 4 | hex(raw.at[i + 2]));
            i += 2;
        }
        if (n > 0 && text[n - 1] == '~' && (c == '0' || c == '1'))
            text[n - 1] = c == '0' ? '~' : '/';
        else
            text[n++] = c;
    }
    return cs_strn(text, n);
}

static struct cs_json_val follow(struct cs_refs *r, struct cs_json_val from, struct cs_str pointer)
{
    struct cs_str rest = cs_strn(pointer.at + 1, pointer.len - 1);
    struct cs_json_val v = from;
    bool more = true;
    while (more && cs_json_type(v) != CS_JSON_NONE) {
        more = rest.len && memchr(rest.at, '/', rest.len);
        struct cs_str key = segment(r, &rest);
        v = cs_json_type(v) == CS_JSON_ARRAY ? element(r, v, key) : member(r, v, key);
    }
    return v;
}

static struct cs_json_val anchored(struct cs_refs *r, struct cs_str name, bool is_id)
{
    for (struct cs_anchor *a = r->anchors; a && r->steps <= STEPS; a = a->next, r->steps++) {
        if (a->is_id == is_id && cs_str_eq(a->name, name))
            return a->schema;
    }
    return (struct cs_json_val){0};
}

struct cs_json_val cs_refs_resolve(struct cs_refs *r, struct cs_str ref)
{
    const char *hash = ref.len ? memchr(ref.at, '#', ref.len) : NULL;
    struct cs_str base = cs_strn(ref.at, hash ? (size_t)(hash - ref.at) : ref.len);
    struct cs_str part = hash ? cs_strn(hash + 1, ref.len - base.len - 1) : cs_strn(ref.at, 0);
    struct cs_json_val from = base.len ? anchored(r, base, true) : r->root;
    if (part.len == 0)
        return from;
    return part.at[0] == '/' ? follow(r, from, part) : anchored(r, part, false);
}

struct cs_str cs_ref_of(struct cs_json_val schema, struct cs_arena *arena)
{
    static const char *const words[] = {"$ref", "$dynamicRef", "$recursiveRef"};
    for (size_t i = 0; i < CS_COUNT(words); i++) {
        struct cs_json_val v = cs_json_get(schema, words[i]);
        if (cs_json_type(v) == CS_JSON_STRING)
            return cs_json_str(v, arena);
    }
    return (struct cs_str){0};
}

/* --- the table of definitions, by where they stand --- */

static struct cs_type_def **slot(struct cs_refs *r, uint32_t at)
{
    size_t i = at * 2654435761u % CS_REFS_SLOTS;
    while (r->slots[i] && r->slots[i]->schema.at != at)
        i = (i + 1) % CS_REFS_SLOTS;
    return &r->slots[i];
}

struct cs_type_def *cs_refs_find(struct cs_refs *r, struct cs_json_val schema)
{
    return r->count ? *slot(r, schema.at) : NULL;
}

static bool is_word(struct cs_str s)
{
    static const char *const words[] = {"items", "properties", "additionalProperties", "anyOf",
                                        "oneOf", "allOf",      "prefixItems",          "schema"};
    for (size_t i = 0; i < CS_COUNT(words); i++) {
        if (cs_str_is(s, words[i]))
            return true;
    }
    return s.len == 0 || (s.at[0] >= '0' && s.at[0] <= '9');
}

/* The last part of the reference that says something. */
static struct cs_str hint_of(struct cs_refs *r, struct cs_str ref)
{
    const char *hash = memchr(ref.at, '#', ref.len);
    struct cs_str rest = hash ? cs_strn(hash + 1, ref.len - (size_t)(hash - ref.at) - 1) : ref;
    struct cs_str hint = CS_STR("Node");
    while (rest.len > 0) {
        struct cs_str s = segment(r, &rest);
        if (!is_word(s))
            hint = s;
    }
    return hint;
}

static void add(struct cs_refs *r, struct cs_str ref)
{
    if (r->count >= CS_TYPES_DEFS)
        return;
    struct cs_json_val target = cs_refs_resolve(r, ref);
    if (cs_json_type(target) == CS_JSON_NONE)
        return;
    struct cs_type_def **at = slot(r, target.at);
    if (*at)
        return;
    *at = cs_arena_alloc(r->arena, sizeof **at);
    (*at)->schema = target;
    (*at)->hint = hint_of(r, ref);
    r->count++;
}

struct pending {
    struct cs_str ref;
    struct pending *next;
};

/* Bounded by the depth that the document was parsed with. */
static void gather(struct cs_refs *r, struct cs_json_val v, struct pending **refs)
{
    struct cs_json_val key, item;
    struct cs_json_iter it = {0};
    if (is_object(v)) {
        struct cs_str ref = cs_ref_of(v, r->arena);
        if (ref.at) {
            struct pending *p = cs_arena_alloc(r->arena, sizeof *p);
            *p = (struct pending){ref, *refs};
            *refs = p;
        }
    }
    while (cs_json_next(v, &it, &key, &item)) {
        enum cs_json_type type = cs_json_type(item);
        if (type == CS_JSON_OBJECT || type == CS_JSON_ARRAY)
            gather(r, item, refs);
        if (type != CS_JSON_STRING || !is_object(v))
            continue;
        bool is_id = cs_json_is(key, "$id");
        if (!is_id && !cs_json_is(key, "$anchor") && !cs_json_is(key, "$dynamicAnchor"))
            continue;
        struct cs_anchor *a = cs_arena_alloc(r->arena, sizeof *a);
        *a = (struct cs_anchor){cs_json_str(item, r->arena), v, is_id, r->anchors};
        r->anchors = a;
    }
}

void cs_refs_init(struct cs_refs *r, struct cs_json_val root, struct cs_arena *arena)
{
    struct pending *refs = NULL;
    *r = (struct cs_refs){.arena = arena, .root = root};
    gather(r, root, &refs);
    if (!refs)
        return;
    r->slots = cs_arena_alloc(arena, CS_REFS_SLOTS * sizeof *r->slots);
    for (; refs; refs = refs->next)
        add(r, refs->ref);
}

#include "schema/load.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "schema/uri.h"

#define PATH_MAX_SHOWN 200

/* Doubles what is full. */
static void *roomy(void *array, uint32_t count, uint32_t *cap, size_t size)
{
    if (count < *cap)
        return array;
    *cap = *cap ? *cap * 2 : 16;
    return cs_realloc(array, *cap, size);
}

void cs_load_done(struct loader *l)
{
    free(l->resources);
    free(l->places);
    free(l->slots);
    free(l->child_names);
    cs_arena_done(&l->arena);
}

/* Where `at` stands in its document, as a JSON pointer. */
static void put_path(struct cs_json_val at, struct cs_buf *out)
{
    struct cs_json_val here = cs_json_root(at.doc);
    CS_AUTO_ARENA struct cs_arena arena = {0};
    cs_buf_putc(out, '#');
    while (here.doc && here.at != at.at && out->len < PATH_MAX_SHOWN) {
        struct cs_json_iter it = {0};
        struct cs_json_val key, item, inside = {0}, inside_key = {0};
        uint32_t index = 0;
        for (; cs_json_next(here, &it, &key, &item) && item.at <= at.at; index++) {
            inside = item;
            inside_key = key;
        }
        if (inside_key.doc)
            cs_buf_printf(out, "/%.*s", CS_STR_ARG(cs_json_str(inside_key, &arena)));
        else
            cs_buf_printf(out, "/%u", index - 1);
        here = inside;
    }
}

int cs_load_fail(struct loader *l, struct cs_json_val at, enum cs_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    cs_vfail(l->err, code, fmt, ap);
    va_end(ap);
    CS_AUTO_BUF struct cs_buf path = {0};
    put_path(at, &path);
    return cs_wrap(l->err, "schema, at %s", cs_buf_cstr(&path));
}

static uint32_t slot_of(struct cs_json_val v)
{
    return (uint32_t)cs_names_mix((uintptr_t)v.doc ^ v.at, 0x9E3779B97F4A7C15u);
}

uint32_t cs_load_place(const struct loader *l, struct cs_json_val value)
{
    if (!l->slots)
        return NO_NODE;
    for (uint32_t s = slot_of(value) & l->slot_mask; l->slots[s]; s = (s + 1) & l->slot_mask) {
        const struct place *p = &l->places[l->slots[s] - 1];
        if (p->value.doc == value.doc && p->value.at == value.at)
            return l->slots[s] - 1;
    }
    return NO_NODE;
}

static void put_slot(struct loader *l, uint32_t place)
{
    uint32_t s = slot_of(l->places[place].value) & l->slot_mask;
    while (l->slots[s])
        s = (s + 1) & l->slot_mask;
    l->slots[s] = place + 1;
}

static int add_place(struct loader *l, struct cs_json_val value, uint32_t resource, uint32_t *place)
{
    if (l->place_count == CS_SCHEMA_NODES)
        return cs_load_fail(l, value, CS_LIMIT, "it has more than %u subschemas", CS_SCHEMA_NODES);
    if (!l->slots || l->place_count * 2 > l->slot_mask) {
        uint32_t size = l->slots ? (l->slot_mask + 1) * 2 : 64;
        free(l->slots);
        l->slots = cs_calloc(size, sizeof *l->slots);
        l->slot_mask = size - 1;
        for (uint32_t i = 0; i < l->place_count; i++)
            put_slot(l, i);
    }
    l->places = roomy(l->places, l->place_count, &l->place_cap, sizeof *l->places);
    l->places[l->place_count] = (struct place){value, resource, NO_NODE, NO_NODE};
    put_slot(l, l->place_count);
    *place = l->place_count++;
    return 0;
}

/* Counts names that are kept, so that short relative ones on a long base stay few. */
static int keep(struct loader *l, struct cs_json_val at, struct cs_str s, struct cs_str *kept)
{
    l->uri_bytes += s.len + 16;
    if (l->uri_bytes > CS_SCHEMA_URIS)
        return cs_load_fail(l, at, CS_LIMIT, "its names have more than %u bytes", CS_SCHEMA_URIS);
    *kept = cs_arena_dup(&l->arena, s);
    return 0;
}

static int add_resource(struct loader *l, struct cs_str uri, struct cs_json_val root,
                        struct dialect dialect, uint32_t *resource)
{
    struct cs_str kept;
    if (keep(l, root, uri, &kept) < 0)
        return -1;
    l->resources = roomy(l->resources, l->resource_count, &l->resource_cap, sizeof *l->resources);
    l->resources[l->resource_count] = (struct resource){kept, root, dialect};
    cs_names_add(&l->uris, &l->arena, kept, l->resource_count);
    *resource = l->resource_count++;
    return 0;
}

static void put_anchor_key(struct cs_buf *out, uint32_t resource, struct cs_str name)
{
    cs_buf_printf(out, "%u#", resource);
    cs_buf_putstr(out, name);
}

static int add_anchor(struct loader *l, uint32_t place, uint32_t resource, struct cs_str name)
{
    CS_AUTO_BUF struct cs_buf key = {0};
    struct cs_str kept;
    put_anchor_key(&key, resource, name);
    if (keep(l, l->places[place].value, cs_buf_str(&key), &kept) < 0)
        return -1;
    cs_names_add(&l->anchors, &l->arena, kept, place);
    return 0;
}

static const struct cs_schema_document *find_document(const struct loader *l, struct cs_str uri)
{
    for (size_t i = 0; l->options && i < l->options->document_count; i++) {
        struct cs_str name = l->options->documents[i].uri;
        cs_uri_cut_fragment(&name);
        if (cs_str_eq(name, uri))
            return &l->options->documents[i];
    }
    return NULL;
}

/* What the $vocabulary of a metaschema of somebody's own allows. */
static int read_metaschema(struct loader *l, struct cs_json_val at, struct cs_str text,
                           struct dialect *dialect)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_limits limits = {.bytes = CS_SCHEMA_BYTES, .depth = CS_SCHEMA_DEPTH};
    if (cs_json_parse(text, &limits, &doc, l->err) < 0)
        return cs_wrap(l->err, "the metaschema");
    struct cs_json_val root = cs_json_root(&doc);
    cs_dialect_find(cs_json_str(cs_json_get(root, "$schema"), &arena), dialect);
    struct cs_json_val vocabularies = cs_json_get(root, "$vocabulary"), key, item;
    if (cs_json_type(vocabularies) != CS_JSON_OBJECT)
        return 0;
    dialect->vocabularies = VOCAB_CORE;
    struct cs_json_iter it = {0};
    while (cs_json_next(vocabularies, &it, &key, &item)) {
        struct cs_str name = cs_json_str(key, &arena);
        uint8_t bit = cs_vocabulary_find(name);
        if (!bit && cs_json_type(item) == CS_JSON_TRUE)
            return cs_load_fail(l, at, CS_INVALID,
                                "its metaschema needs the vocabulary '%.*s', which is unknown",
                                CS_STR_ARG(name));
        dialect->vocabularies |= bit;
    }
    return 0;
}

/* An unknown $schema that nobody gave as a document changes nothing. */
static int read_dialect(struct loader *l, struct cs_json_val schema, struct dialect *dialect)
{
    struct cs_json_val named = cs_json_get(schema, "$schema");
    CS_AUTO_ARENA struct cs_arena arena = {0};
    if (cs_json_type(named) != CS_JSON_STRING)
        return 0;
    struct cs_str uri = cs_json_str(named, &arena);
    if (cs_dialect_find(uri, dialect))
        return 0;
    cs_uri_cut_fragment(&uri);
    const struct cs_name *known = cs_names_find(&l->metaschemas, uri);
    const struct cs_schema_document *d = known ? NULL : find_document(l, uri);
    if (known)
        *dialect = (struct dialect){(uint8_t)(known->value >> 8), (uint8_t)known->value};
    if (!d)
        return 0;
    if (read_metaschema(l, named, d->text, dialect) < 0)
        return -1;
    cs_names_add(&l->metaschemas, &l->arena, cs_arena_dup(&l->arena, uri),
                 (uint32_t)dialect->draft << 8 | dialect->vocabularies);
    return 0;
}

/* Is `v` a string that names something? Anything else in its place is a mistake. */
static int get_name(struct loader *l, struct cs_json_val v, const char *keyword,
                    struct cs_str *name)
{
    *name = (struct cs_str){0};
    if (!v.doc)
        return 0;
    if (cs_json_type(v) != CS_JSON_STRING)
        return cs_load_fail(l, v, CS_INVALID, "%s must be a string", keyword);
    *name = cs_json_str(v, &l->arena);
    return 0;
}

/* The resource of an object that may start one: by its $id, with a dialect of its own. */
static int enter(struct loader *l, struct cs_json_val v, uint32_t *resource, struct cs_str *anchor)
{
    struct cs_json_val id = cs_json_get(v, "$id");
    struct cs_json_val root = l->resources[*resource].root;
    bool is_root = root.doc == v.doc && root.at == v.at;
    *anchor = (struct cs_str){0};
    if (!id.doc)
        return 0;
    struct dialect dialect = l->resources[*resource].dialect;
    if (!is_root && read_dialect(l, v, &dialect) < 0)
        return -1;
    if (dialect.draft == DRAFT_7 && cs_json_type(cs_json_get(v, "$ref")) == CS_JSON_STRING)
        return 0;
    struct cs_str name;
    if (get_name(l, id, "$id", &name) < 0)
        return -1;
    *anchor = cs_uri_cut_fragment(&name);
    if (anchor->len && dialect.draft != DRAFT_7)
        return cs_load_fail(l, id, CS_INVALID, "$id must not have a fragment");
    if (name.len == 0)
        return 0;
    CS_AUTO_BUF struct cs_buf uri = {0};
    cs_uri_resolve(l->resources[*resource].uri, name, &uri);
    return add_resource(l, cs_buf_str(&uri), v, dialect, resource);
}

static int name_place(struct loader *l, uint32_t place, const struct keywords *k,
                      struct cs_str old_anchor)
{
    uint32_t resource = l->places[place].resource;
    struct cs_str anchor, dynamic;
    if (old_anchor.len && add_anchor(l, place, resource, old_anchor) < 0)
        return -1;
    if (get_name(l, k->all[KW_ANCHOR], "$anchor", &anchor) < 0 ||
        get_name(l, k->all[KW_DYNAMIC_ANCHOR], "$dynamicAnchor", &dynamic) < 0)
        return -1;
    if (anchor.at && add_anchor(l, place, resource, anchor) < 0)
        return -1;
    if (dynamic.at && add_anchor(l, place, resource, dynamic) < 0)
        return -1;
    /* $recursiveAnchor is a $dynamicAnchor without a name. */
    if (cs_json_type(k->all[KW_RECURSIVE_ANCHOR]) == CS_JSON_TRUE)
        dynamic = CS_STR("");
    if (dynamic.at)
        l->places[place].dynamic =
            cs_names_add(&l->dynamic_names, &l->arena, dynamic, l->dynamic_names.count)->value;
    return 0;
}

/* Schemas that are known to be there and not looked at yet. */
struct todo {
    struct {
        struct cs_json_val value;
        uint32_t resource;
    } * all;
    uint32_t count, cap;
};

static void todo_done(struct todo *t)
{
    free(t->all);
}

static void push(struct todo *t, struct cs_json_val v, uint32_t resource)
{
    t->all = roomy(t->all, t->count, &t->cap, sizeof *t->all);
    t->all[t->count].value = v;
    t->all[t->count++].resource = resource;
}

static bool is_schema(struct cs_json_val v)
{
    enum cs_json_type t = cs_json_type(v);
    return t == CS_JSON_OBJECT || t == CS_JSON_TRUE || t == CS_JSON_FALSE;
}

/* What is no schema where one should be is found, and told, when it is compiled. */
static void push_children(struct todo *t, const struct keywords *k, uint32_t resource)
{
    for (int i = 0; i < KW_COUNT; i++) {
        struct cs_json_val v = k->all[i], item;
        enum holds holds = cs_keyword_holds((enum keyword)i);
        if (!v.doc || holds == HOLDS_NONE)
            continue;
        if ((holds == HOLDS_SCHEMA || holds == HOLDS_EITHER) && is_schema(v)) {
            push(t, v, resource);
            continue;
        }
        struct cs_json_iter it = {0};
        while (holds != HOLDS_SCHEMA && cs_json_next(v, &it, NULL, &item))
            if (is_schema(item))
                push(t, item, resource);
    }
}

/* Finds every subschema of `v`, which is a schema in `resource`, and what it is called. */
static int index_schemas(struct loader *l, struct cs_json_val v, uint32_t resource)
{
    CS_AUTO(todo_done) struct todo t = {0};
    push(&t, v, resource);
    while (t.count > 0) {
        struct cs_json_val here = t.all[--t.count].value;
        uint32_t in = t.all[t.count].resource, place = 0;
        if (cs_load_place(l, here) != NO_NODE)
            continue;
        struct cs_str anchor = {0};
        if (cs_json_type(here) == CS_JSON_OBJECT && enter(l, here, &in, &anchor) < 0)
            return -1;
        if (add_place(l, here, in, &place) < 0)
            return -1;
        if (cs_json_type(here) != CS_JSON_OBJECT)
            continue;
        struct keywords k;
        cs_keywords_read(here, l->resources[in].dialect, &k);
        if (name_place(l, place, &k, anchor) < 0)
            return -1;
        push_children(&t, &k, in);
    }
    return 0;
}

static int load_text(struct loader *l, struct cs_str text, struct cs_str uri,
                     struct dialect dialect, struct cs_json_val *root)
{
    struct cs_json_limits limits = {.bytes = CS_SCHEMA_BYTES, .depth = CS_SCHEMA_DEPTH};
    struct schema_doc *doc = cs_arena_alloc(&l->schema->arena, sizeof *doc);
    uint32_t resource;
    if (text.len > CS_SCHEMA_BYTES)
        return cs_fail(l->err, CS_LIMIT, "the schema has %zu bytes, at most %u", text.len,
                       CS_SCHEMA_BYTES);
    if (cs_json_parse(cs_arena_dup(&l->schema->arena, text), &limits, &doc->json, l->err) < 0)
        return cs_wrap(l->err, "the schema%s%.*s", uri.len ? " " : "", CS_STR_ARG(uri));
    doc->next = l->schema->docs;
    l->schema->docs = doc;
    *root = cs_json_root(&doc->json);
    if (!is_schema(*root))
        return cs_load_fail(l, *root, CS_INVALID, "a schema is an object, true or false");
    if (read_dialect(l, *root, &dialect) < 0 || add_resource(l, uri, *root, dialect, &resource) < 0)
        return -1;
    return index_schemas(l, *root, resource);
}

int cs_load_root(struct loader *l, struct cs_str text, uint32_t *place)
{
    struct dialect dialect = {DRAFT_2020, VOCAB_ALL};
    struct cs_json_val root;
    if (l->options && l->options->dialect == CS_DRAFT_7)
        dialect.draft = DRAFT_7;
    l->uris.seed = l->anchors.seed = l->dynamic_names.seed = l->schema->seed;
    l->containers.seed = l->metaschemas.seed = l->schema->seed;
    if (load_text(l, text, CS_STR(""), dialect, &root) < 0)
        return -1;
    *place = cs_load_place(l, root);
    return 0;
}

/* The resource of this name; loads the document if somebody has it. */
static int find_resource(struct loader *l, uint32_t from, struct cs_str uri, struct cs_json_val at,
                         uint32_t *resource)
{
    const struct cs_name *known = cs_names_find(&l->uris, uri);
    if (!known) {
        const struct cs_schema_document *d = find_document(l, uri);
        struct cs_str text = d ? d->text : cs_metaschema_find(uri), name = uri;
        if (!text.at)
            return cs_load_fail(l, at, CS_MISSING,
                                "there is no schema '%.*s' among the documents; nothing is fetched",
                                CS_STR_ARG(uri));
        if (!d && cs_str_starts(uri, "https://json-schema.org/draft/2020-12/"))
            name = CS_STR("https://json-schema.org/draft/2020-12/schema");
        struct cs_json_val root;
        if (load_text(l, text, name, l->resources[from].dialect, &root) < 0)
            return cs_wrap(l->err, "schema '%.*s'", CS_STR_ARG(uri));
        known = cs_names_find(&l->uris, uri);
    }
    if (!known)
        return cs_load_fail(l, at, CS_MISSING, "there is no schema '%.*s'", CS_STR_ARG(uri));
    *resource = known->value;
    return 0;
}

/* The children of a container by name. Whoever refers to one often refers to others. */
static struct cs_names *children(struct loader *l, struct cs_json_val v)
{
    char where[sizeof v.doc + sizeof v.at];
    memcpy(where, &v.doc, sizeof v.doc);
    memcpy(where + sizeof v.doc, &v.at, sizeof v.at);
    struct cs_str key = cs_strn(where, sizeof where);
    const struct cs_name *known = cs_names_find(&l->containers, key);
    if (known)
        return &l->child_names[known->value];
    l->child_names =
        roomy(l->child_names, l->containers.count, &l->child_cap, sizeof *l->child_names);
    struct cs_names *n = &l->child_names[l->containers.count];
    *n = (struct cs_names){.seed = l->schema->seed};
    cs_names_add(&l->containers, &l->arena, cs_arena_dup(&l->arena, key), l->containers.count);
    struct cs_json_iter it = {0};
    struct cs_json_val name, item;
    for (uint32_t i = 0; cs_json_next(v, &it, &name, &item); i++) {
        struct cs_str text =
            name.doc ? cs_json_str(name, &l->arena) : cs_str(cs_arena_printf(&l->arena, "%u", i));
        cs_names_add(n, &l->arena, text, item.at);
    }
    return n;
}

static struct cs_json_val child(struct loader *l, struct cs_json_val v, struct cs_str token)
{
    const struct cs_name *hit = cs_names_find(children(l, v), token);
    return hit ? (struct cs_json_val){v.doc, hit->value} : (struct cs_json_val){0};
}

/* Undoes ~0 and ~1, in place. */
static struct cs_str unescape_token(char *at, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        char c = at[i];
        if (c == '~' && i + 1 < len && (at[i + 1] == '0' || at[i + 1] == '1'))
            c = at[++i] == '0' ? '~' : '/';
        at[n++] = c;
    }
    return cs_strn(at, n);
}

/* Follows a JSON pointer; a place that nobody knew as a schema becomes one. */
static int find_pointer(struct loader *l, uint32_t resource, char *pointer, size_t len,
                        uint32_t *place)
{
    struct cs_json_val v = l->resources[resource].root;
    char *p = pointer, *end = pointer + len;
    while (p < end && v.doc) {
        char *token = ++p;
        uint32_t known = cs_load_place(l, v);
        if (known != NO_NODE)
            resource = l->places[known].resource;
        while (p < end && *p != '/')
            p++;
        v = child(l, v, unescape_token(token, (size_t)(p - token)));
    }
    if (!is_schema(v))
        return -1;
    *place = cs_load_place(l, v);
    if (*place != NO_NODE)
        return 0;
    if (index_schemas(l, v, resource) < 0)
        return -1;
    *place = cs_load_place(l, v);
    return 0;
}

static int find_fragment(struct loader *l, uint32_t resource, struct cs_str fragment,
                         uint32_t *place)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_uri_decode(fragment, &text);
    uint32_t root = cs_load_place(l, l->resources[resource].root);
    if (root == NO_NODE)
        return -1;
    if (text.len == 0) {
        *place = root;
        return 0;
    }
    if (text.at[0] == '/')
        return find_pointer(l, resource, text.at, text.len, place);
    CS_AUTO_BUF struct cs_buf key = {0};
    put_anchor_key(&key, l->places[root].resource, cs_buf_str(&text));
    const struct cs_name *anchor = cs_names_find(&l->anchors, cs_buf_str(&key));
    if (!anchor)
        return -1;
    *place = anchor->value;
    return 0;
}

int cs_load_ref(struct loader *l, uint32_t resource, struct cs_str ref, struct cs_json_val from,
                uint32_t *place)
{
    struct cs_str target = ref, fragment = cs_uri_cut_fragment(&target);
    if (target.len > 0) {
        CS_AUTO_BUF struct cs_buf uri = {0};
        cs_uri_resolve(l->resources[resource].uri, target, &uri);
        if (find_resource(l, resource, cs_buf_str(&uri), from, &resource) < 0)
            return -1;
    }
    if (l->err)
        l->err->code = CS_OK;
    if (find_fragment(l, resource, fragment, place) == 0)
        return 0;
    if (l->err && l->err->code != CS_OK)
        return -1;
    return cs_load_fail(l, from, CS_INVALID, "the reference '%.*s' leads nowhere", CS_STR_ARG(ref));
}

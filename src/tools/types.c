/* JSON Schema to types. */
#include "tools/types.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tools/types_join.h"
#include "tools/types_refs.h"

#define ENUM_MAX  256u
#define TUPLE_MAX 32u

/* The keywords that say something about the type, gathered in one walk. */
enum word {
    W_TYPE,
    W_ENUM,
    W_CONST,
    W_PROPERTIES,
    W_REQUIRED,
    W_ADDITIONAL,
    W_PATTERNS,
    W_NAMES,
    W_ITEMS,
    W_PREFIX,
    W_MORE_ITEMS,
    W_MIN_ITEMS,
    W_ALL_OF,
    W_ANY_OF,
    W_ONE_OF,
    W_THEN,
    W_ELSE,
    W_DEPENDENT,
    W_NULLABLE,
    W_REF,
    W_TEXT,   /* keywords of strings ... */
    W_AMOUNT, /* ... and of numbers: all that they tell is the type */
    WORDS,
};

static const struct {
    const char *name;
    enum word word;
} words[] = {
    {"type", W_TYPE},
    {"properties", W_PROPERTIES},
    {"required", W_REQUIRED},
    {"items", W_ITEMS},
    {"enum", W_ENUM},
    {"const", W_CONST},
    {"additionalProperties", W_ADDITIONAL},
    {"patternProperties", W_PATTERNS},
    {"propertyNames", W_NAMES},
    {"prefixItems", W_PREFIX},
    {"additionalItems", W_MORE_ITEMS},
    {"minItems", W_MIN_ITEMS},
    {"allOf", W_ALL_OF},
    {"anyOf", W_ANY_OF},
    {"oneOf", W_ONE_OF},
    {"then", W_THEN},
    {"else", W_ELSE},
    {"dependentSchemas", W_DEPENDENT},
    {"nullable", W_NULLABLE},
    {"$ref", W_REF},
    {"$dynamicRef", W_REF},
    {"$recursiveRef", W_REF},
    {"pattern", W_TEXT},
    {"format", W_TEXT},
    {"minLength", W_TEXT},
    {"maxLength", W_TEXT},
    {"minimum", W_AMOUNT},
    {"maximum", W_AMOUNT},
    {"exclusiveMinimum", W_AMOUNT},
    {"exclusiveMaximum", W_AMOUNT},
    {"multipleOf", W_AMOUNT},
};

struct schema {
    struct cs_json_val self;
    struct cs_json_val word[WORDS];
    bool any;
};

static void read_words(struct cs_json_val v, struct schema *s)
{
    *s = (struct schema){.self = v};
    struct cs_json_val key, item;
    struct cs_json_iter it = {0};
    while (cs_json_next(v, &it, &key, &item)) {
        for (size_t i = 0; i < CS_COUNT(words); i++) {
            if (cs_json_is(key, words[i].name)) {
                s->word[words[i].word] = item;
                s->any = true;
                break;
            }
        }
    }
}

static bool is(const struct schema *s, enum word w, enum cs_json_type type)
{
    return cs_json_type(s->word[w]) == type;
}

static bool has(const struct schema *s, enum word w)
{
    return cs_json_type(s->word[w]) != CS_JSON_NONE;
}

static struct cs_type *read_schema(struct cs_type_reader *r, struct cs_json_val v);

/* --- values --- */

static struct cs_type *literal(struct cs_type_reader *r, struct cs_json_val v);

static struct cs_type *literal_object(struct cs_type_reader *r, struct cs_json_val v)
{
    struct cs_props props = cs_props(r, cs_json_count(v));
    struct cs_json_val key, item;
    struct cs_json_iter it = {0};
    while (cs_json_next(v, &it, &key, &item)) {
        struct cs_prop *p = cs_props_put(&props, cs_json_str(key, r->arena));
        p->type = literal(r, item);
        p->required = true;
    }
    return cs_type_object(r, &props, NULL);
}

static struct cs_type *literal(struct cs_type_reader *r, struct cs_json_val v)
{
    double number;
    struct cs_type *t;
    switch (cs_json_type(v)) {
    case CS_JSON_NULL:
        return cs_type_new(r, CS_TYPE_NULL);
    case CS_JSON_NUMBER:
        /* Beyond a double there is no literal for it. */
        if (!cs_json_f64(v, &number))
            return cs_type_new(r, CS_TYPE_NUMBER);
        break;
    case CS_JSON_OBJECT:
        return literal_object(r, v);
    case CS_JSON_ARRAY: {
        t = cs_type_new(r, CS_TYPE_TUPLE);
        struct cs_type **parts = cs_type_parts(r, cs_json_count(v));
        struct cs_json_iter it = {0};
        struct cs_json_val item;
        while (cs_json_next(v, &it, NULL, &item))
            parts[t->count++] = literal(r, item);
        t->parts = parts;
        t->needed = t->count;
        return t;
    }
    case CS_JSON_STRING:
    case CS_JSON_TRUE:
    case CS_JSON_FALSE:
        break;
    case CS_JSON_NONE:
        return cs_type_new(r, CS_TYPE_UNKNOWN);
    }
    t = cs_type_new(r, CS_TYPE_LITERAL);
    t->value = v;
    return t;
}

/* --- type --- */

/* Also the words that people write who do not know the right ones. */
static enum cs_type_kind kind_named(struct cs_json_val v, bool *integer)
{
    static const struct {
        const char *name;
        enum cs_type_kind kind;
    } kinds[] = {
        {"string", CS_TYPE_STRING},   {"object", CS_TYPE_OBJECT}, {"number", CS_TYPE_NUMBER},
        {"integer", CS_TYPE_NUMBER},  {"array", CS_TYPE_ARRAY},   {"boolean", CS_TYPE_BOOLEAN},
        {"null", CS_TYPE_NULL},       {"str", CS_TYPE_STRING},    {"int", CS_TYPE_NUMBER},
        {"float", CS_TYPE_NUMBER},    {"double", CS_TYPE_NUMBER}, {"bool", CS_TYPE_BOOLEAN},
        {"list", CS_TYPE_ARRAY},      {"dict", CS_TYPE_OBJECT},   {"map", CS_TYPE_OBJECT},
        {"datetime", CS_TYPE_STRING}, {"date", CS_TYPE_STRING},   {"uuid", CS_TYPE_STRING},
    };
    *integer = cs_json_is(v, "integer") || cs_json_is(v, "int");
    for (size_t i = 0; i < CS_COUNT(kinds); i++) {
        if (cs_json_is(v, kinds[i].name))
            return kinds[i].kind;
    }
    return CS_TYPE_UNKNOWN;
}

static void read_properties(struct cs_type_reader *r, struct cs_json_val properties,
                            struct cs_props *props)
{
    struct cs_json_val key, item;
    struct cs_json_iter it = {0};
    if (cs_json_type(properties) != CS_JSON_OBJECT)
        return;
    while (cs_json_next(properties, &it, &key, &item)) {
        struct cs_prop *p = cs_props_put(props, cs_json_str(key, r->arena));
        p->type = read_schema(r, item);
        p->schema = item;
    }
}

/* The type of the keys that are not named, or NULL: none are spoken of. */
static struct cs_type *read_rest(struct cs_type_reader *r, const struct schema *s)
{
    struct cs_type *rest = NULL;
    if (is(s, W_ADDITIONAL, CS_JSON_OBJECT))
        rest = read_schema(r, s->word[W_ADDITIONAL]);
    else if (is(s, W_ADDITIONAL, CS_JSON_TRUE))
        rest = cs_type_new(r, CS_TYPE_UNKNOWN);
    if (!is(s, W_PATTERNS, CS_JSON_OBJECT))
        return rest;
    struct cs_json_val item;
    struct cs_json_iter it = {0};
    while (cs_json_next(s->word[W_PATTERNS], &it, NULL, &item)) {
        struct cs_type *one = read_schema(r, item);
        rest = rest ? cs_type_either(r, rest, one) : one;
    }
    return rest;
}

/* propertyNames: {enum: [...]}: the keys are known after all. Each gets a type of its own: a shared
 * one, nested, would be printed more often than it was read. */
static void read_names(struct cs_type_reader *r, const struct schema *s, struct cs_props *props,
                       struct cs_type **rest)
{
    struct cs_json_val names = cs_json_get(s->word[W_NAMES], "enum"), name;
    struct cs_json_iter it = {0};
    if (cs_json_type(names) != CS_JSON_ARRAY || props->count || !*rest ||
        cs_json_count(names) > TUPLE_MAX)
        return;
    while (cs_json_next(names, &it, NULL, &name)) {
        if (cs_json_type(name) != CS_JSON_STRING)
            return;
        struct cs_prop *p = cs_props_put(props, cs_json_str(name, r->arena));
        p->type = p->type ? p->type : read_rest(r, s);
    }
    *rest = NULL;
}

static struct cs_type *read_object(struct cs_type_reader *r, const struct schema *s)
{
    struct cs_json_val required = s->word[W_REQUIRED], name;
    size_t wanted = is(s, W_REQUIRED, CS_JSON_ARRAY) ? cs_json_count(required) : 0;
    size_t extra = cs_json_type(s->word[W_NAMES]) == CS_JSON_NONE ? 0 : TUPLE_MAX;
    struct cs_props props = cs_props(r, cs_json_count(s->word[W_PROPERTIES]) + wanted + extra);
    read_properties(r, s->word[W_PROPERTIES], &props);
    struct cs_type *rest = read_rest(r, s);
    read_names(r, s, &props, &rest);
    struct cs_json_iter it = {0};
    while (wanted && cs_json_next(required, &it, NULL, &name)) {
        if (cs_json_type(name) != CS_JSON_STRING)
            continue;
        struct cs_prop *p = cs_props_put(&props, cs_json_str(name, r->arena));
        if (!p->type)
            p->type = rest ? read_rest(r, s) : cs_type_new(r, CS_TYPE_UNKNOWN);
        p->required = true;
    }
    /* No word about keys: any will do. */
    if (!props.count && !rest && !is(s, W_ADDITIONAL, CS_JSON_FALSE))
        rest = cs_type_new(r, CS_TYPE_UNKNOWN);
    return cs_type_object(r, &props, rest);
}

/* Without minItems its writer means all of them, and no more than those. */
static struct cs_type *read_tuple(struct cs_type_reader *r, const struct schema *s,
                                  struct cs_json_val parts, struct cs_json_val more)
{
    struct cs_type *t = cs_type_new(r, CS_TYPE_TUPLE), *rest = NULL;
    if (cs_json_type(more) == CS_JSON_OBJECT)
        rest = read_schema(r, more);
    else if (cs_json_type(more) == CS_JSON_TRUE)
        rest = cs_type_new(r, CS_TYPE_UNKNOWN);
    t->parts = cs_type_parts(r, cs_json_count(parts));
    struct cs_json_val item;
    struct cs_json_iter it = {0};
    while (cs_json_next(parts, &it, NULL, &item))
        t->parts[t->count++] = read_schema(r, item);
    int64_t least;
    t->needed = t->count;
    if (cs_json_i64(s->word[W_MIN_ITEMS], &least) && least >= 0 && (uint64_t)least < t->count)
        t->needed = (size_t)least;
    t->rest = rest;
    if (t->count == 0)
        t->kind = rest ? CS_TYPE_ARRAY : CS_TYPE_TUPLE;
    return t;
}

static struct cs_type *read_array(struct cs_type_reader *r, const struct schema *s)
{
    struct cs_json_val items = s->word[W_ITEMS], prefix = s->word[W_PREFIX];
    bool many = cs_json_count(prefix) > TUPLE_MAX || cs_json_count(items) > TUPLE_MAX;
    if (is(s, W_PREFIX, CS_JSON_ARRAY) && cs_json_count(prefix) && !many)
        return read_tuple(r, s, prefix, items);
    if (is(s, W_ITEMS, CS_JSON_ARRAY) && !many)
        return read_tuple(r, s, items, s->word[W_MORE_ITEMS]);
    struct cs_type *t = cs_type_new(r, CS_TYPE_ARRAY);
    t->rest = is(s, W_ITEMS, CS_JSON_ARRAY) || is(s, W_PREFIX, CS_JSON_ARRAY) || !has(s, W_ITEMS)
                  ? cs_type_new(r, CS_TYPE_UNKNOWN)
                  : read_schema(r, items);
    return t;
}

static struct cs_type *read_kind(struct cs_type_reader *r, const struct schema *s,
                                 enum cs_type_kind kind, bool integer)
{
    struct cs_type *t = kind == CS_TYPE_OBJECT  ? read_object(r, s)
                        : kind == CS_TYPE_ARRAY ? read_array(r, s)
                                                : cs_type_new(r, kind);
    t->integer = integer;
    t->schema = s->self;
    return t;
}

static struct cs_type *read_type(struct cs_type_reader *r, const struct schema *s)
{
    struct cs_json_val type = s->word[W_TYPE], item;
    bool integer = false;
    if (cs_json_type(type) == CS_JSON_STRING) {
        enum cs_type_kind kind = kind_named(type, &integer);
        return read_kind(r, s, kind, integer);
    }
    if (cs_json_type(type) == CS_JSON_ARRAY && cs_json_count(type) <= TUPLE_MAX) {
        struct cs_json_iter it = {0};
        struct cs_type *t = cs_type_new(r, CS_TYPE_NEVER);
        while (cs_json_next(type, &it, NULL, &item)) {
            enum cs_type_kind kind = kind_named(item, &integer);
            t = cs_type_either(r, t, read_kind(r, s, kind, integer));
        }
        return t;
    }
    if (is(s, W_PROPERTIES, CS_JSON_OBJECT) || has(s, W_ADDITIONAL) || has(s, W_PATTERNS) ||
        is(s, W_REQUIRED, CS_JSON_ARRAY))
        return read_kind(r, s, CS_TYPE_OBJECT, false);
    if (has(s, W_ITEMS) || has(s, W_PREFIX))
        return read_kind(r, s, CS_TYPE_ARRAY, false);
    if (has(s, W_TEXT) || has(s, W_AMOUNT))
        return read_kind(r, s, has(s, W_TEXT) ? CS_TYPE_STRING : CS_TYPE_NUMBER, false);
    return cs_type_new(r, CS_TYPE_UNKNOWN);
}

/* The values of an enum, those of another type than the schema's left out, unless all are. */
static struct cs_type *read_enum(struct cs_type_reader *r, const struct schema *s,
                                 const struct cs_type *type)
{
    struct cs_json_val list = s->word[W_ENUM], item;
    size_t count = cs_json_count(list);
    if (count > ENUM_MAX)
        return NULL;
    for (int strict = 1; strict >= 0; strict--) {
        struct cs_props seen = cs_props(r, count);
        struct cs_type *t = cs_type_new(r, CS_TYPE_UNION);
        t->parts = cs_type_parts(r, count);
        struct cs_json_iter it = {0};
        while (cs_json_next(list, &it, NULL, &item)) {
            if (strict && !cs_type_fits(type, item, 0))
                continue;
            size_t before = seen.count;
            cs_props_put(&seen, cs_json_raw(item));
            if (seen.count > before)
                t->parts[t->count++] = literal(r, item);
        }
        t->schema = s->self;
        if (t->count > 0)
            return t->count == 1 ? t->parts[0] : t;
    }
    return cs_type_new(r, CS_TYPE_NEVER);
}

static struct cs_type *read_base(struct cs_type_reader *r, const struct schema *s)
{
    if (has(s, W_CONST))
        return literal(r, s->word[W_CONST]);
    struct cs_type *type = read_type(r, s);
    /* An empty one comes from a server that has nothing to offer yet. */
    if (!is(s, W_ENUM, CS_JSON_ARRAY) || cs_json_count(s->word[W_ENUM]) == 0)
        return type;
    struct cs_type *values = read_enum(r, s, type);
    if (values)
        return values;
    /* Too many to write down: what they have in common is enough. */
    struct cs_json_val first;
    struct cs_json_iter it = {0};
    if (type->kind == CS_TYPE_UNKNOWN && cs_json_next(s->word[W_ENUM], &it, NULL, &first) &&
        cs_json_type(first) == CS_JSON_STRING)
        type = read_kind(r, s, CS_TYPE_STRING, false);
    return type;
}

/* --- combinations --- */

static struct cs_type *read_ref(struct cs_type_reader *r, const struct schema *s)
{
    struct cs_str ref = cs_ref_of(s->self, r->arena);
    struct cs_json_val target = ref.at ? cs_refs_resolve(&r->refs, ref) : (struct cs_json_val){0};
    return cs_json_type(target) == CS_JSON_NONE ? cs_type_new(r, CS_TYPE_UNKNOWN)
                                                : read_schema(r, target);
}

static struct cs_type *read_any(struct cs_type_reader *r, struct cs_json_val list)
{
    struct cs_type *t = cs_type_new(r, CS_TYPE_NEVER);
    struct cs_json_val item;
    struct cs_json_iter it = {0};
    if (cs_json_type(list) != CS_JSON_ARRAY || cs_json_count(list) == 0)
        return cs_type_new(r, CS_TYPE_UNKNOWN);
    struct cs_type **parts = cs_type_parts(r, cs_json_count(list));
    size_t count = 0;
    while (cs_json_next(list, &it, NULL, &item))
        parts[count++] = read_schema(r, item);
    for (size_t i = 0; i < count; i++) {
        if (parts[i]->kind == CS_TYPE_UNKNOWN)
            return parts[i];
    }
    return count == 1 ? parts[0] : cs_type_union(r, parts, count, t);
}

/* What holds only under a condition is offered, not demanded. */
static struct cs_type *read_maybe(struct cs_type_reader *r, struct cs_type *t, struct cs_json_val v)
{
    struct cs_type *more = read_schema(r, v);
    if (more->kind != CS_TYPE_OBJECT || t->kind != CS_TYPE_OBJECT)
        return t;
    struct cs_props props = cs_props(r, t->count + more->count);
    for (size_t i = 0; i < t->count; i++)
        *cs_props_put(&props, t->props[i].name) = t->props[i];
    for (size_t i = 0; i < more->count; i++) {
        struct cs_prop *p = cs_props_put(&props, more->props[i].name);
        if (p->type)
            continue;
        *p = more->props[i];
        p->required = false;
    }
    struct cs_type *all = cs_type_object(r, &props, t->rest);
    all->schema = t->schema;
    return all;
}

static struct cs_type *read_conditions(struct cs_type_reader *r, const struct schema *s,
                                       struct cs_type *t)
{
    struct cs_json_val item;
    struct cs_json_iter it = {0};
    if (has(s, W_THEN))
        t = read_maybe(r, t, s->word[W_THEN]);
    if (has(s, W_ELSE))
        t = read_maybe(r, t, s->word[W_ELSE]);
    while (is(s, W_DEPENDENT, CS_JSON_OBJECT) &&
           cs_json_next(s->word[W_DEPENDENT], &it, NULL, &item))
        t = read_maybe(r, t, item);
    return t;
}

static struct cs_type *read_here(struct cs_type_reader *r, struct cs_json_val v)
{
    struct schema s;
    struct cs_json_val item;
    struct cs_json_iter it = {0};
    read_words(v, &s);
    struct cs_type *t = read_base(r, &s);
    if (has(&s, W_REF))
        t = cs_type_both(r, read_ref(r, &s), t);
    while (is(&s, W_ALL_OF, CS_JSON_ARRAY) && cs_json_next(s.word[W_ALL_OF], &it, NULL, &item))
        t = cs_type_both(r, t, read_schema(r, item));
    for (int w = W_ANY_OF; w <= W_ONE_OF; w++) {
        if (has(&s, (enum word)w))
            t = cs_type_both(r, t, read_any(r, s.word[w]));
    }
    t = read_conditions(r, &s, t);
    if (is(&s, W_NULLABLE, CS_JSON_TRUE))
        t = cs_type_either(r, t, cs_type_new(r, CS_TYPE_NULL));
    return t;
}

static struct cs_type *named(struct cs_type_reader *r, struct cs_type_def *def)
{
    struct cs_type *t = cs_type_new(r, CS_TYPE_NAMED);
    t->def = def;
    if (def->uses++ == 0) {
        *r->end = def;
        r->end = &def->next;
    }
    r->named++;
    return t;
}

static struct cs_type *read_schema(struct cs_type_reader *r, struct cs_json_val v)
{
    enum cs_json_type type = cs_json_type(v);
    if (type == CS_JSON_FALSE)
        return cs_type_new(r, CS_TYPE_NEVER);
    if (type != CS_JSON_OBJECT || r->depth >= CS_TYPES_DEPTH || r->nodes >= CS_TYPES_NODES)
        return cs_type_new(r, CS_TYPE_UNKNOWN);
    struct cs_type_def *def = cs_refs_find(&r->refs, v);
    if (def)
        return named(r, def);
    r->depth++;
    struct cs_type *t = read_here(r, v);
    r->depth--;
    return t;
}

static void read_def(struct cs_type_reader *r, struct cs_type_def *def)
{
    size_t before = r->named;
    def->type = cs_json_type(def->schema) == CS_JSON_OBJECT
                    ? read_here(r, def->schema)
                    : cs_type_new(r, cs_json_type(def->schema) == CS_JSON_FALSE ? CS_TYPE_NEVER
                                                                                : CS_TYPE_UNKNOWN);
    def->leaf = r->named == before;
}

/* A map of properties where the schema should be: found in the wild, and clear enough. */
static bool is_bare_properties(struct cs_json_val v)
{
    struct cs_json_val key, item;
    struct cs_json_iter it = {0};
    struct schema s;
    read_words(v, &s);
    bool found = false;
    while (!s.any && cs_json_next(v, &it, &key, &item)) {
        struct cs_str name = cs_json_raw(key);
        if (name.len > 1 && name.at[1] == '$')
            continue;
        if (cs_json_type(cs_json_get(item, "type")) != CS_JSON_STRING)
            return false;
        found = true;
    }
    return found;
}

static struct cs_type *read_root(struct cs_type_reader *r, struct cs_json_val v)
{
    if (!is_bare_properties(v))
        return read_here(r, v);
    struct cs_props props = cs_props(r, cs_json_count(v));
    struct cs_json_val key, item;
    struct cs_json_iter it = {0};
    while (cs_json_next(v, &it, &key, &item)) {
        if (cs_json_type(item) != CS_JSON_OBJECT)
            continue;
        struct cs_prop *p = cs_props_put(&props, cs_json_str(key, r->arena));
        p->type = read_schema(r, item);
        p->schema = item;
    }
    return cs_type_object(r, &props, cs_type_new(r, CS_TYPE_UNKNOWN));
}

/* --- names --- */

static bool is_small(const struct cs_type *t)
{
    if (t->kind == CS_TYPE_ARRAY)
        return is_small(t->rest);
    if (t->kind == CS_TYPE_UNION && t->count <= 4) {
        for (size_t i = 0; i < t->count; i++) {
            if (!is_small(t->parts[i]))
                return false;
        }
        return true;
    }
    return t->kind <= CS_TYPE_LITERAL;
}

/* `number` is of the definition: where a name is taken, it makes another one at once. */
static void name_def(struct cs_type_def *def, unsigned number, const char *prefix,
                     const struct cs_type_def *first)
{
    char ident[CS_IDENT_MAX + 1], type[CS_IDENT_MAX + 1];
    cs_ident(def->hint, ident);
    cs_ident_type(ident, type);
    for (unsigned n = number;; n++) {
        if (n == number)
            snprintf(def->name, sizeof def->name, "%s$%s", prefix, type);
        else
            snprintf(def->name, sizeof def->name, "%s$%s_%u", prefix, type, n);
        const struct cs_type_def *d = first;
        while (d != def && strcmp(d->name, def->name) != 0)
            d = d->next;
        if (d == def)
            return;
    }
}

int cs_types_read(struct cs_json_val schema, const char *name, const char *prefix,
                  struct cs_arena *arena, struct cs_types *types, struct cs_err *err)
{
    enum cs_json_type type = cs_json_type(schema);
    if (type != CS_JSON_OBJECT && type != CS_JSON_TRUE && type != CS_JSON_FALSE)
        return cs_fail(err, CS_INVALID, "the schema is neither an object nor true or false");
    struct cs_type_def *defs = NULL;
    struct cs_type_reader r = {.arena = arena, .end = &defs};
    cs_refs_init(&r.refs, schema, arena);
    struct cs_type_def *self = cs_refs_find(&r.refs, schema);
    struct cs_type *root =
        type == CS_JSON_OBJECT
            ? read_root(&r, schema)
            : cs_type_new(&r, type == CS_JSON_TRUE ? CS_TYPE_UNKNOWN : CS_TYPE_NEVER);
    if (self)
        self->type = root;
    for (struct cs_type_def *d = defs; d; d = d->next) {
        if (d != self)
            read_def(&r, d);
    }
    if (r.nodes >= CS_TYPES_NODES)
        return cs_fail(err, CS_INVALID, "the schema has more than %u parts", CS_TYPES_NODES);
    root = cs_types_settle(&r, root, defs);
    if (self)
        snprintf(self->name, sizeof self->name, "%s", name);
    unsigned number = 0;
    for (struct cs_type_def *d = defs; d; d = d->next, number++) {
        if (d != self && !(d->leaf && (d->uses == 1 || is_small(d->type))))
            name_def(d, number, prefix, defs);
    }
    *types = (struct cs_types){root, defs};
    return 0;
}

/* Unions, intersections and objects of types. */
#include "tools/types_join.h"

#include <string.h>

/* Wider ones are not searched for equal members; a checker does not mind them. */
#define EQUAL_MAX 64u
/* How many alternatives an intersection may multiply to. */
#define WIDTH_MAX 500u
#define CHAIN_MAX 500u

struct cs_type *cs_type_new(struct cs_type_reader *r, enum cs_type_kind kind)
{
    struct cs_type *t = cs_arena_alloc(r->arena, sizeof *t);
    t->kind = kind;
    r->nodes++;
    return t;
}

struct cs_type **cs_type_parts(struct cs_type_reader *r, size_t count)
{
    return cs_arena_alloc(r->arena, (count ? count : 1) * sizeof(struct cs_type *));
}

/* --- objects --- */

struct cs_props cs_props(struct cs_type_reader *r, size_t max)
{
    size_t slots = 8;
    r->nodes += max / 4; /* objects that are copied again and again count as well */
    while (slots < max * 2)
        slots *= 2;
    return (struct cs_props){
        .reader = r,
        .at = cs_arena_alloc(r->arena, (max ? max : 1) * sizeof(struct cs_prop)),
        .slots = cs_arena_alloc(r->arena, slots * sizeof(uint32_t)),
        .mask = slots - 1,
    };
}

static size_t hash(struct cs_str s)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.at[i]) * 1099511628211u;
    return (size_t)(h ^ h >> 29);
}

struct cs_prop *cs_props_put(struct cs_props *props, struct cs_str name)
{
    size_t i = hash(name) & props->mask;
    for (; props->slots[i]; i = (i + 1) & props->mask) {
        struct cs_prop *p = &props->at[props->slots[i] - 1];
        if (cs_str_eq(p->name, name))
            return p;
    }
    struct cs_prop *p = &props->at[props->count++];
    props->slots[i] = (uint32_t)props->count;
    p->name = name;
    return p;
}

struct cs_type *cs_type_object(struct cs_type_reader *r, const struct cs_props *props,
                               struct cs_type *rest)
{
    struct cs_type *t = cs_type_new(r, CS_TYPE_OBJECT);
    t->props = props->at;
    t->count = props->count;
    t->rest = rest;
    return t;
}

static struct cs_type *merge(struct cs_type_reader *r, struct cs_type *a, struct cs_type *b)
{
    struct cs_props props = cs_props(r, a->count + b->count);
    for (size_t i = 0; i < a->count; i++)
        *cs_props_put(&props, a->props[i].name) = a->props[i];
    for (size_t i = 0; i < b->count; i++) {
        struct cs_prop *p = cs_props_put(&props, b->props[i].name);
        if (!p->type) {
            *p = b->props[i];
            continue;
        }
        p->type = cs_type_both(r, p->type, b->props[i].type);
        p->required = p->required || b->props[i].required;
        if (cs_json_type(p->schema) == CS_JSON_NONE)
            p->schema = b->props[i].schema;
    }
    struct cs_type *rest = a->rest && b->rest ? cs_type_both(r, a->rest, b->rest)
                           : a->rest          ? a->rest
                                              : b->rest;
    struct cs_type *t = cs_type_object(r, &props, rest);
    t->schema = a->schema;
    return t;
}

/* {type: object} and nothing more. */
static bool is_any_object(const struct cs_type *t)
{
    return t->kind == CS_TYPE_OBJECT && t->count == 0 && t->rest &&
           t->rest->kind == CS_TYPE_UNKNOWN;
}

/* --- either --- */

static bool is_simple(const struct cs_type *t)
{
    return t->kind >= CS_TYPE_NULL && t->kind <= CS_TYPE_LITERAL;
}

static bool same_value(const struct cs_type *a, const struct cs_type *b)
{
    return cs_str_eq(cs_json_raw(a->value), cs_json_raw(b->value));
}

static bool same(const struct cs_type *a, const struct cs_type *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind)
        return false;
    return a->kind == CS_TYPE_NAMED     ? a->def == b->def
           : a->kind == CS_TYPE_LITERAL ? same_value(a, b)
                                        : is_simple(a);
}

static void add_part(struct cs_type *t, struct cs_type *part)
{
    if (part->kind == CS_TYPE_NEVER)
        return;
    for (size_t i = 0; i < t->count && t->count <= EQUAL_MAX; i++) {
        if (same(t->parts[i], part))
            return;
    }
    t->parts[t->count++] = part;
}

struct cs_type *cs_type_union(struct cs_type_reader *r, struct cs_type **parts, size_t count,
                              struct cs_type *none)
{
    size_t room = 0;
    for (size_t i = 0; i < count; i++)
        room += parts[i]->kind == CS_TYPE_UNION ? parts[i]->count : 1;
    struct cs_type *t = cs_type_new(r, CS_TYPE_UNION);
    t->parts = cs_type_parts(r, room);
    r->nodes += room / 8; /* long lists that are joined again and again count as well */
    for (size_t i = 0; i < count; i++) {
        if (parts[i]->kind == CS_TYPE_UNKNOWN)
            return parts[i];
        if (parts[i]->kind != CS_TYPE_UNION)
            add_part(t, parts[i]);
        for (size_t j = 0; parts[i]->kind == CS_TYPE_UNION && j < parts[i]->count; j++)
            add_part(t, parts[i]->parts[j]);
    }
    return t->count == 0 ? none : t->count == 1 ? t->parts[0] : t;
}

struct cs_type *cs_type_either(struct cs_type_reader *r, struct cs_type *a, struct cs_type *b)
{
    struct cs_type *pair[] = {a, b};
    return cs_type_union(r, pair, 2, a);
}

/* --- both --- */

/* For an example it matters which of two strings is kept. */
static bool says_more(const struct cs_type *t)
{
    return cs_json_type(cs_json_get(t->schema, "format")) != CS_JSON_NONE ||
           cs_json_type(cs_json_get(t->schema, "pattern")) != CS_JSON_NONE;
}

static enum cs_type_kind kind_of_value(const struct cs_type *t)
{
    enum cs_json_type type = cs_json_type(t->value);
    return t->kind != CS_TYPE_LITERAL ? t->kind
           : type == CS_JSON_STRING   ? CS_TYPE_STRING
           : type == CS_JSON_NUMBER   ? CS_TYPE_NUMBER
                                      : CS_TYPE_BOOLEAN;
}

static struct cs_type *list_of_both(struct cs_type_reader *r, struct cs_type *a, struct cs_type *b)
{
    size_t na = a->kind == CS_TYPE_BOTH ? a->count : 1, nb = b->kind == CS_TYPE_BOTH ? b->count : 1;
    struct cs_type *t = cs_type_new(r, CS_TYPE_BOTH);
    t->parts = cs_type_parts(r, na + nb);
    r->nodes += (na + nb) / 8;
    for (size_t i = 0; i < na; i++)
        t->parts[t->count++] = a->kind == CS_TYPE_BOTH ? a->parts[i] : a;
    for (size_t i = 0; i < nb; i++)
        t->parts[t->count++] = b->kind == CS_TYPE_BOTH ? b->parts[i] : b;
    t->schema = a->schema;
    return t;
}

/* Those alternatives of `u` that `a`, a simple type, leaves. */
static struct cs_type *narrow(struct cs_type_reader *r, struct cs_type *a, struct cs_type *u)
{
    struct cs_type **left = cs_type_parts(r, u->count);
    size_t count = 0;
    for (size_t i = 0; i < u->count; i++)
        left[count++] = cs_type_both(r, a, u->parts[i]);
    struct cs_type *t = cs_type_union(r, left, count, cs_type_new(r, CS_TYPE_NEVER));
    if (t->kind == CS_TYPE_UNION)
        t->schema = u->schema;
    return t;
}

/* Both simple, or one simple and the other an object or an array. */
static struct cs_type *both_simple(struct cs_type_reader *r, struct cs_type *a, struct cs_type *b)
{
    if (!is_simple(a) || !is_simple(b) || kind_of_value(a) != kind_of_value(b))
        return cs_type_new(r, CS_TYPE_NEVER);
    if (a->kind == CS_TYPE_LITERAL && b->kind == CS_TYPE_LITERAL)
        return same_value(a, b) ? a : cs_type_new(r, CS_TYPE_NEVER);
    if (a->kind == CS_TYPE_LITERAL)
        return a;
    return b->kind == CS_TYPE_LITERAL || b->integer || says_more(b) ? b : a;
}

static bool is_list(const struct cs_type *t)
{
    return t->kind == CS_TYPE_ARRAY || t->kind == CS_TYPE_TUPLE;
}

static bool is_plain(const struct cs_type *t)
{
    return is_simple(t) || is_list(t) || t->kind == CS_TYPE_OBJECT;
}

/* Both are lists, or at least one is simple. */
static struct cs_type *both_plain(struct cs_type_reader *r, struct cs_type *a, struct cs_type *b)
{
    if (!is_list(a) || !is_list(b))
        return both_simple(r, a, b);
    if (a->kind == CS_TYPE_TUPLE || b->kind == CS_TYPE_TUPLE)
        return a->kind == CS_TYPE_TUPLE ? a : b;
    struct cs_type *t = cs_type_new(r, CS_TYPE_ARRAY);
    t->schema = a->schema;
    t->rest = cs_type_both(r, a->rest, b->rest);
    return t;
}

/* Is the intersection with a union, or a name, simply a part of that? */
static bool is_sieve(const struct cs_type *t)
{
    return is_simple(t) || is_list(t) || is_any_object(t);
}

struct cs_type *cs_type_both(struct cs_type_reader *r, struct cs_type *a, struct cs_type *b)
{
    if (a->kind == CS_TYPE_UNKNOWN || b->kind == CS_TYPE_NEVER)
        return b;
    if (b->kind == CS_TYPE_UNKNOWN || a->kind == CS_TYPE_NEVER || r->nodes >= CS_TYPES_NODES)
        return a;
    if (same(a, b))
        return says_more(b) ? b : a;
    if (a->kind == CS_TYPE_OBJECT && b->kind == CS_TYPE_OBJECT)
        return is_any_object(a) ? b : is_any_object(b) ? a : merge(r, a, b);
    if (is_plain(a) && is_plain(b))
        return both_plain(r, a, b);
    if (is_sieve(b) && !is_sieve(a)) {
        struct cs_type *swap = a;
        a = b;
        b = swap;
    }
    if (is_sieve(a) && b->kind == CS_TYPE_UNION)
        return narrow(r, a, b);
    if (is_any_object(a) && b->kind == CS_TYPE_NAMED)
        return b;
    return list_of_both(r, a, b);
}

/* --- what an alias cannot say --- */

const struct cs_type *cs_type_real(const struct cs_type *t)
{
    for (unsigned i = 0; i < CHAIN_MAX && t->kind == CS_TYPE_NAMED && t->def->type; i++)
        t = t->def->type;
    return t;
}

/* To how many alternatives a checker multiplies it out. */
static size_t width(const struct cs_type *t, unsigned depth)
{
    if (depth > 50)
        return WIDTH_MAX + 1;
    if (t->kind == CS_TYPE_NAMED) {
        if (!t->def->width)
            t->def->width = width(t->def->type, depth + 1);
        return t->def->width;
    }
    if (t->kind != CS_TYPE_UNION && t->kind != CS_TYPE_BOTH)
        return t->kind == CS_TYPE_BOOLEAN ? 2 : 1;
    size_t n = t->kind == CS_TYPE_BOTH;
    for (size_t i = 0; i < t->count && n <= WIDTH_MAX; i++) {
        size_t w = width(t->parts[i], depth + 1);
        n = t->kind == CS_TYPE_UNION ? n + w : n * w;
    }
    return n;
}

static void settle_parts(struct cs_type *t, unsigned depth);

static void settle(struct cs_type *t, unsigned depth)
{
    if (t->kind == CS_TYPE_UNION || t->kind == CS_TYPE_BOTH) {
        settle_parts(t, depth + 1);
        return;
    }
    if (t->kind != CS_TYPE_NAMED || t->def->settled)
        return;
    if (t->def->open || depth > CHAIN_MAX) {
        t->kind = CS_TYPE_UNKNOWN;
        return;
    }
    t->def->open = true;
    settle(t->def->type, depth + 1);
    t->def->open = false;
    t->def->settled = true;
}

/* An alternative that is the type itself adds nothing; neither does it as a condition. */
static void settle_parts(struct cs_type *t, unsigned depth)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        bool was_named = t->parts[i]->kind == CS_TYPE_NAMED;
        settle(t->parts[i], depth);
        if (!was_named || t->parts[i]->kind == CS_TYPE_NAMED)
            t->parts[count++] = t->parts[i];
    }
    t->count = count;
    if (count == 0)
        t->kind = CS_TYPE_UNKNOWN;
}

/* After `settle` alternatives lead nowhere in circles, so that they can be counted. */
static void slim(struct cs_type *t)
{
    if (t->seen)
        return;
    t->seen = true;
    if (t->kind == CS_TYPE_BOTH && width(t, 0) > WIDTH_MAX)
        t->count = 1;
    for (size_t i = 0; t->kind != CS_TYPE_OBJECT && i < t->count; i++)
        slim(t->parts[i]);
    for (size_t i = 0; t->kind == CS_TYPE_OBJECT && i < t->count; i++)
        slim(t->props[i].type);
    if (t->rest)
        slim(t->rest);
}

struct cs_type *cs_types_settle(struct cs_type_reader *r, struct cs_type *root,
                                struct cs_type_def *defs)
{
    struct cs_type_def *self = cs_refs_find(&r->refs, r->refs.root);
    if (self)
        self->open = true;
    settle(root, 0);
    if (self) {
        self->open = false;
        self->settled = true;
    }
    for (struct cs_type_def *d = defs; d; d = d->next) {
        if (d->settled || !d->type)
            continue;
        d->open = true;
        settle(d->type, 0);
        d->open = false;
        d->settled = true;
    }
    slim(root);
    for (struct cs_type_def *d = defs; d; d = d->next)
        slim(d->type);
    return root;
}

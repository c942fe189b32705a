#include "tools/learn.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define DEPTH_MAX  12u
#define FIELDS_MAX 60u
#define KINDS_MAX  4u
#define ARRAY_ENDS 32u
#define KEY_MAX    64u

/* One bit a kind of value; a shape has at most one of each. */
enum kind {
    K_NULL = 1,
    K_BOOLEAN = 2,
    K_INTEGER = 4,
    K_NUMBER = 8,
    K_STRING = 16,
    K_ARRAY = 32,
    K_OBJECT = 64,
};

/* In the order in which they are written: what a program works with comes first. */
static const struct {
    enum kind kind;
    const char *name;
} kinds[] = {
    {K_OBJECT, "object"},   {K_ARRAY, "array"},     {K_STRING, "string"}, {K_NUMBER, "number"},
    {K_INTEGER, "integer"}, {K_BOOLEAN, "boolean"}, {K_NULL, "null"},
};

struct shape {
    unsigned kinds;
    bool any;
    struct shape *items;  /* of an array; NULL: only empty ones were seen */
    struct shape *values; /* of an object whose keys are data; NULL: it has fields */
    struct field *fields; /* FIELDS_MAX of them */
    size_t count;
};

struct field {
    struct cs_str name;
    struct shape *shape;
    bool required, seen;
};

struct learner {
    struct cs_arena arena;
    size_t nodes;
};

static struct shape *new_shape(struct learner *l)
{
    return cs_arena_alloc(&l->arena, sizeof(struct shape));
}

static void set_any(struct shape *s)
{
    *s = (struct shape){.any = true};
}

static void add_kind(struct shape *s, enum kind kind)
{
    s->kinds |= kind;
    if (s->kinds & K_NUMBER)
        s->kinds &= ~(unsigned)K_INTEGER;
    if ((unsigned)__builtin_popcount(s->kinds) > KINDS_MAX)
        set_any(s);
}

static struct field *find_field(const struct shape *s, struct cs_str name)
{
    for (size_t i = 0; i < s->count; i++) {
        if (cs_str_eq(s->fields[i].name, name))
            return &s->fields[i];
    }
    return NULL;
}

static struct field *add_field(struct learner *l, struct shape *s, struct cs_str name)
{
    if (!s->fields)
        s->fields = cs_arena_alloc(&l->arena, FIELDS_MAX * sizeof *s->fields);
    struct field *f = &s->fields[s->count++];
    *f = (struct field){.name = name, .shape = new_shape(l)};
    return f;
}

/* --- two shapes become one --- */

static void join(struct learner *l, struct shape *into, const struct shape *from);

/* The fields become values of a map: what was required is no more. */
static void make_map(struct learner *l, struct shape *s)
{
    if (s->values)
        return;
    s->values = new_shape(l);
    for (size_t i = 0; i < s->count; i++)
        join(l, s->values, s->fields[i].shape);
    s->count = 0;
}

static void join_objects(struct learner *l, struct shape *into, const struct shape *from)
{
    if (from->values)
        make_map(l, into);
    for (size_t i = 0; i < from->count; i++) {
        const struct field *f = &from->fields[i];
        struct field *known = into->values ? NULL : find_field(into, f->name);
        if (known) {
            known->required = known->required && f->required;
            join(l, known->shape, f->shape);
            continue;
        }
        if (!into->values && into->count == FIELDS_MAX)
            make_map(l, into);
        join(l, into->values ? into->values : add_field(l, into, f->name)->shape, f->shape);
    }
    for (size_t i = 0; i < into->count; i++) {
        if (!find_field(from, into->fields[i].name))
            into->fields[i].required = false;
    }
    if (from->values)
        join(l, into->values, from->values);
}

static void join(struct learner *l, struct shape *into, const struct shape *from)
{
    if (from->any)
        set_any(into);
    if (into->any)
        return;
    bool had_object = into->kinds & K_OBJECT;
    for (size_t i = 0; i < CS_COUNT(kinds) && !into->any; i++) {
        if (from->kinds & kinds[i].kind)
            add_kind(into, kinds[i].kind);
    }
    if (into->any)
        return;
    if (from->items) {
        if (!into->items)
            into->items = new_shape(l);
        join(l, into->items, from->items);
    }
    if (!(from->kinds & K_OBJECT))
        return;
    join_objects(l, into, from);
    for (size_t i = 0; !had_object && i < from->count && into->count; i++) {
        struct field *f = find_field(into, from->fields[i].name);
        if (f)
            f->required = from->fields[i].required;
    }
}

/* --- a value --- */

/* Keys that are data, not names: addresses, paths, dates, numbers. They would make a type of no
 * use, and may be personal. */
static bool is_data(struct cs_str key)
{
    size_t run = 0, longest = 0, digits = 0;
    for (size_t i = 0; i < key.len; i++) {
        char c = key.at[i];
        if (c == '@' || c == '/' || c == '\\' || (unsigned char)c < ' ')
            return true;
        run = c >= '0' && c <= '9' ? run + 1 : 0;
        digits += run > 0;
        longest = run > longest ? run : longest;
    }
    bool starts_so = key.len > 0 && key.at[0] >= '0' && key.at[0] <= '9';
    return key.len == 0 || key.len > KEY_MAX || longest >= 6 || starts_so ||
           (key.len >= 16 && digits * 3 >= key.len);
}

static bool has_data_keys(struct learner *l, struct cs_json_val object)
{
    struct cs_json_val key, item;
    struct cs_json_iter it = {0};
    if (cs_json_count(object) > FIELDS_MAX)
        return true;
    while (cs_json_next(object, &it, &key, &item)) {
        if (is_data(cs_json_str(key, &l->arena)))
            return true;
    }
    return false;
}

static void add_value(struct learner *l, struct shape *s, struct cs_json_val v, unsigned depth);

static void add_fields(struct learner *l, struct shape *s, struct cs_json_val v, bool first,
                       unsigned depth)
{
    struct cs_json_val key, item;
    struct cs_json_iter it = {0};
    for (size_t i = 0; i < s->count; i++)
        s->fields[i].seen = false;
    while (cs_json_next(v, &it, &key, &item)) {
        struct cs_str name = cs_json_str(key, &l->arena);
        struct field *f = s->values ? NULL : find_field(s, name);
        if (!f && !s->values && s->count == FIELDS_MAX)
            make_map(l, s);
        if (s->values) {
            add_value(l, s->values, item, depth + 1);
            continue;
        }
        if (!f) {
            f = add_field(l, s, name);
            f->required = first;
        }
        f->seen = true;
        add_value(l, f->shape, item, depth + 1);
    }
    for (size_t i = 0; i < s->count; i++)
        s->fields[i].required = s->fields[i].required && s->fields[i].seen;
}

static void add_object(struct learner *l, struct shape *s, struct cs_json_val v, unsigned depth)
{
    bool first = !(s->kinds & K_OBJECT);
    add_kind(s, K_OBJECT);
    if (s->any)
        return;
    if (!s->values && has_data_keys(l, v))
        make_map(l, s);
    add_fields(l, s, v, first, depth);
}

/* From both ends towards the middle, as far as half of what may be looked at: a long list is not
 * the only thing in an answer. */
static void add_array(struct learner *l, struct shape *s, struct cs_json_val v, unsigned depth)
{
    add_kind(s, K_ARRAY);
    size_t count = cs_json_count(v), i = 0, kept = 0;
    if (s->any || count == 0)
        return;
    if (!s->items)
        s->items = new_shape(l);
    struct cs_json_val ends[2 * ARRAY_ENDS], item;
    struct cs_json_iter it = {0};
    for (; cs_json_next(v, &it, NULL, &item); i++) {
        if (i < ARRAY_ENDS || i + ARRAY_ENDS >= count)
            ends[kept++] = item;
    }
    for (i = 0; i < kept && (i < 2 || l->nodes < CS_LEARN_NODES / 2); i++)
        add_value(l, s->items, ends[i % 2 ? kept - 1 - i / 2 : i / 2], depth + 1);
}

static void add_value(struct learner *l, struct shape *s, struct cs_json_val v, unsigned depth)
{
    int64_t integer;
    /* What was not looked at may be anything. */
    if (depth > DEPTH_MAX || ++l->nodes > CS_LEARN_NODES)
        set_any(s);
    if (s->any)
        return;
    switch (cs_json_type(v)) {
    case CS_JSON_NULL:
        add_kind(s, K_NULL);
        break;
    case CS_JSON_FALSE:
    case CS_JSON_TRUE:
        add_kind(s, K_BOOLEAN);
        break;
    case CS_JSON_NUMBER:
        add_kind(s, cs_json_i64(v, &integer) && !(s->kinds & K_NUMBER) ? K_INTEGER : K_NUMBER);
        break;
    case CS_JSON_STRING:
        add_kind(s, K_STRING);
        break;
    case CS_JSON_ARRAY:
        add_array(l, s, v, depth);
        break;
    case CS_JSON_OBJECT:
        add_object(l, s, v, depth);
        break;
    case CS_JSON_NONE:
        set_any(s);
        break;
    }
}

/* --- a schema that was written here --- */

static bool read_shape(struct learner *l, struct cs_json_val v, struct shape *s);

static bool read_object(struct learner *l, struct shape *s, struct cs_json_val properties,
                        struct cs_json_val required, struct cs_json_val values)
{
    struct cs_json_val key, item;
    struct cs_json_iter it = {0};
    if (cs_json_count(properties) > FIELDS_MAX)
        return false;
    if (cs_json_type(values) != CS_JSON_NONE) {
        s->values = new_shape(l);
        return read_shape(l, values, s->values);
    }
    while (cs_json_next(properties, &it, &key, &item)) {
        struct cs_str name = cs_json_str(key, &l->arena);
        if (find_field(s, name) || !read_shape(l, item, add_field(l, s, name)->shape))
            return false;
    }
    it = (struct cs_json_iter){0};
    while (cs_json_next(required, &it, NULL, &item)) {
        struct field *f = find_field(s, cs_json_str(item, &l->arena));
        if (!f)
            return false;
        f->required = true;
    }
    return true;
}

/* One kind: {"type": ...} and what belongs to it. */
static bool read_kind(struct learner *l, struct cs_json_val v, struct shape *s)
{
    static const char *const words[] = {"type",  "properties",           "required",
                                        "items", "additionalProperties", "maxItems"};
    struct cs_json_val at[CS_COUNT(words)] = {{0}}, key, item;
    struct cs_json_iter it = {0};
    while (cs_json_next(v, &it, &key, &item)) {
        size_t w = 0;
        while (w < CS_COUNT(words) && !cs_json_is(key, words[w]))
            w++;
        if (w == CS_COUNT(words))
            return false;
        at[w] = item;
    }
    for (size_t i = 0; i < CS_COUNT(kinds); i++) {
        if (!cs_json_is(at[0], kinds[i].name))
            continue;
        if (s->kinds & kinds[i].kind)
            return false;
        add_kind(s, kinds[i].kind);
        if (kinds[i].kind == K_OBJECT)
            return read_object(l, s, at[1], at[2], at[4]);
        if (kinds[i].kind != K_ARRAY || cs_json_type(at[3]) == CS_JSON_NONE)
            return true;
        s->items = new_shape(l);
        return read_shape(l, at[3], s->items);
    }
    return false;
}

static bool read_shape(struct learner *l, struct cs_json_val v, struct shape *s)
{
    struct cs_json_val list = cs_json_get(v, "anyOf"), item;
    struct cs_json_iter it = {0};
    if (cs_json_type(v) != CS_JSON_OBJECT)
        return false;
    if (cs_json_count(v) == 0)
        set_any(s);
    if (s->any)
        return true;
    if (cs_json_type(list) == CS_JSON_NONE)
        return read_kind(l, v, s);
    if (cs_json_count(v) != 1 || cs_json_count(list) > KINDS_MAX)
        return false;
    while (cs_json_next(list, &it, NULL, &item)) {
        if (!read_kind(l, item, s))
            return false;
    }
    return s->kinds != 0;
}

/* --- writing --- */

static int by_name(const void *a, const void *b)
{
    struct cs_str x = ((const struct field *)a)->name, y = ((const struct field *)b)->name;
    size_t n = x.len < y.len ? x.len : y.len;
    int order = n ? memcmp(x.at, y.at, n) : 0;
    return order ? order : x.len < y.len ? -1 : x.len > y.len;
}

static void write_shape(struct cs_json_writer *w, const struct shape *s, unsigned levels);

static void write_object(struct cs_json_writer *w, const struct shape *s, unsigned levels)
{
    if (s->values) {
        cs_json_key(w, "additionalProperties");
        write_shape(w, s->values, levels - 1);
        return;
    }
    /* The order of the keys is not the server's word on anything. */
    if (s->count)
        qsort(s->fields, s->count, sizeof *s->fields, by_name);
    size_t required = 0;
    cs_json_key(w, "properties");
    cs_json_open(w, '{');
    for (size_t i = 0; i < s->count; i++) {
        cs_json_key_str(w, s->fields[i].name);
        write_shape(w, s->fields[i].shape, levels - 1);
        required += s->fields[i].required;
    }
    cs_json_close(w, '}');
    if (!required)
        return;
    cs_json_key(w, "required");
    cs_json_open(w, '[');
    for (size_t i = 0; i < s->count; i++) {
        if (s->fields[i].required)
            cs_json_put_str(w, s->fields[i].name);
    }
    cs_json_close(w, ']');
}

static void write_kind(struct cs_json_writer *w, const struct shape *s, size_t k, unsigned levels)
{
    cs_json_open(w, '{');
    cs_json_key(w, "type");
    cs_json_put_z(w, kinds[k].name);
    if (kinds[k].kind == K_OBJECT && levels > 0)
        write_object(w, s, levels);
    if (kinds[k].kind == K_ARRAY && s->items) {
        cs_json_key(w, "items");
        write_shape(w, s->items, levels ? levels - 1 : 0);
    } else if (kinds[k].kind == K_ARRAY) {
        cs_json_key(w, "maxItems");
        cs_json_put_i64(w, 0);
    }
    cs_json_close(w, '}');
}

/* What is more than `levels` deep is written as anything. */
static void write_shape(struct cs_json_writer *w, const struct shape *s, unsigned levels)
{
    bool several = (s->kinds & (s->kinds - 1)) != 0;
    if (s->any || s->kinds == 0 || (levels == 0 && s->kinds & (K_OBJECT | K_ARRAY))) {
        cs_json_open(w, '{');
        cs_json_close(w, '}');
        return;
    }
    if (several) {
        cs_json_open(w, '{');
        cs_json_key(w, "anyOf");
        cs_json_open(w, '[');
    }
    for (size_t i = 0; i < CS_COUNT(kinds); i++) {
        if (s->kinds & kinds[i].kind)
            write_kind(w, s, i, levels);
    }
    if (several) {
        cs_json_close(w, ']');
        cs_json_close(w, '}');
    }
}

int cs_learn(struct cs_str schema, struct cs_json_val value, struct cs_buf *merged,
             struct cs_err *err)
{
    struct learner l = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_limits limits = {.bytes = 2 * CS_LEARN_BYTES};
    struct shape root = {0};
    int result = 0;
    if (schema.len > 0 && cs_json_parse(schema, &limits, &doc, err) < 0)
        result = cs_wrap(err, "the learned schema");
    else if (schema.len > 0 && !read_shape(&l, cs_json_root(&doc), &root))
        result = cs_fail(err, CS_INVALID, "the learned schema was not written by this program");
    CS_AUTO_BUF struct cs_buf text = {0};
    if (result == 0) {
        add_value(&l, &root, value, 0);
        for (unsigned levels = DEPTH_MAX + 1; levels > 0; levels--) {
            struct cs_json_writer w = CS_JSON_WRITER(&text);
            cs_buf_clear(&text);
            write_shape(&w, &root, levels);
            if (text.len <= CS_LEARN_BYTES)
                break;
        }
        cs_buf_putstr(merged, cs_buf_str(&text));
    }
    cs_arena_done(&l.arena);
    return result;
}

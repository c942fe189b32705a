/* A value that fits a type, as a program would write it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tools/types.h"
#include "tools/types_pattern.h"

#define SAMPLE_BYTES 1500u
#define SAMPLE_DEPTH 20u
#define TEXT_MAX     40u
#define PROPS_MAX    64u

struct sampler {
    struct cs_arena *arena;
    struct cs_buf *out;
    size_t limit;
    unsigned depth;
};

/* Always accepted by a type checker, for what no value can be written down for. */
static const char nothing[] = "undefined as never";

static void sample(struct sampler *s, const struct cs_type *t, struct cs_str hint);

static bool all_fit(const struct cs_type *t, struct cs_json_val list, unsigned depth)
{
    struct cs_json_val item;
    struct cs_json_iter it = {0};
    if (cs_json_type(list) != CS_JSON_ARRAY || depth > 1)
        return false;
    while (cs_json_next(list, &it, NULL, &item)) {
        if (!cs_type_fits(t, item, depth + 1))
            return false;
    }
    return true;
}

static bool one_fits(const struct cs_type *t, struct cs_json_val value, unsigned depth)
{
    for (size_t i = 0; i < t->count && depth < 4; i++) {
        if (cs_type_fits(t->parts[i], value, depth + 1))
            return true;
    }
    return false;
}

bool cs_type_fits(const struct cs_type *t, struct cs_json_val value, unsigned depth)
{
    enum cs_json_type type = cs_json_type(value);
    t = cs_type_real(t);
    switch (t->kind) {
    case CS_TYPE_UNKNOWN:
        return true;
    case CS_TYPE_NULL:
        return type == CS_JSON_NULL;
    case CS_TYPE_BOOLEAN:
        return type == CS_JSON_TRUE || type == CS_JSON_FALSE;
    case CS_TYPE_NUMBER:
        return type == CS_JSON_NUMBER;
    case CS_TYPE_STRING:
        return type == CS_JSON_STRING;
    case CS_TYPE_LITERAL:
        return cs_str_eq(cs_json_raw(t->value), cs_json_raw(value));
    case CS_TYPE_ARRAY:
        return all_fit(t->rest, value, depth);
    case CS_TYPE_UNION:
        return one_fits(t, value, depth);
    case CS_TYPE_NEVER:
    case CS_TYPE_TUPLE:
    case CS_TYPE_OBJECT:
    case CS_TYPE_BOTH:
    case CS_TYPE_NAMED:
        return false;
    }
    return false;
}

static bool takes_nothing(const struct cs_type *t, unsigned depth)
{
    t = cs_type_real(t);
    if (depth > 20)
        return false;
    bool both = t->kind == CS_TYPE_BOTH;
    switch (t->kind) {
    case CS_TYPE_UNKNOWN:
        return true;
    case CS_TYPE_OBJECT:
        for (size_t i = 0; i < t->count; i++) {
            if (t->props[i].required)
                return false;
        }
        return true;
    case CS_TYPE_UNION:
    case CS_TYPE_BOTH:
        for (size_t i = 0; i < t->count; i++) {
            if (takes_nothing(t->parts[i], depth + 1) != both)
                return !both;
        }
        return both;
    case CS_TYPE_NEVER:
    case CS_TYPE_NULL:
    case CS_TYPE_BOOLEAN:
    case CS_TYPE_NUMBER:
    case CS_TYPE_STRING:
    case CS_TYPE_LITERAL:
    case CS_TYPE_ARRAY:
    case CS_TYPE_TUPLE:
    case CS_TYPE_NAMED:
        return false;
    }
    return false;
}

bool cs_type_takes_nothing(const struct cs_type *t)
{
    return takes_nothing(t, 0);
}

static bool is_shadowed(const struct cs_prop *props, size_t count)
{
    static const char *const inherited[] = {
        "constructor",    "toString",      "toLocaleString",      "valueOf",
        "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; !props[i].required && j < CS_COUNT(inherited); j++) {
            if (cs_str_is(props[i].name, inherited[j]))
                return true;
        }
    }
    return false;
}

bool cs_type_is_shadowed(const struct cs_type *t)
{
    t = cs_type_real(t);
    if (t->kind == CS_TYPE_OBJECT)
        return is_shadowed(t->props, t->count);
    bool parts = t->kind == CS_TYPE_UNION || t->kind == CS_TYPE_BOTH;
    for (size_t i = 0; parts && i < t->count; i++) {
        const struct cs_type *part = cs_type_real(t->parts[i]);
        if (part->kind == CS_TYPE_OBJECT && is_shadowed(part->props, part->count))
            return true;
    }
    return false;
}

/* --- scalars --- */

static bool number_of(struct cs_json_val schema, const char *word, double *number)
{
    return cs_json_f64(cs_json_get(schema, word), number);
}

static void sample_number(struct sampler *s, const struct cs_type *t)
{
    double v = 1, bound, step;
    bool floor_set = number_of(t->schema, "minimum", &bound);
    if (floor_set)
        v = bound > 1 ? bound : v;
    if (number_of(t->schema, "exclusiveMinimum", &bound) && v <= bound)
        v = bound + 1;
    if (number_of(t->schema, "maximum", &bound) && v > bound)
        v = bound;
    if (number_of(t->schema, "exclusiveMaximum", &bound) && v >= bound)
        v = t->integer ? bound - 1 : bound - (bound > 0 ? bound / 2 : 1);
    if (number_of(t->schema, "multipleOf", &step) && step > 0)
        v = ceil(v / step) * step;
    if (t->integer)
        v = ceil(v);
    struct cs_json_writer w = CS_JSON_WRITER(s->out);
    cs_json_put_f64(&w, isfinite(v) ? v : 1);
}

static bool ends_with(struct cs_str s, const char *end)
{
    size_t n = strlen(end);
    return s.len >= n && strncasecmp(s.at + s.len - n, end, n) == 0;
}

static const char *for_format(struct cs_str format, struct cs_str hint)
{
    static const struct {
        const char *format, *value;
    } samples[] = {
        {"date-time", "2025-01-31T12:00:00Z"},
        {"date", "2025-01-31"},
        {"time", "12:00:00Z"},
        {"duration", "P1D"},
        {"email", "user@example.com"},
        {"idn-email", "user@example.com"},
        {"hostname", "example.com"},
        {"idn-hostname", "example.com"},
        {"ipv4", "192.0.2.1"},
        {"ipv6", "2001:db8::1"},
        {"uri", "https://example.com/"},
        {"url", "https://example.com/"},
        {"iri", "https://example.com/"},
        {"uri-reference", "/path"},
        {"uuid", "123e4567-e89b-42d3-a456-426614174000"},
        {"json-pointer", "/path"},
        {"regex", "^a+$"},
        {"byte", "YQ=="},
        {"json", "{}"},
    };
    for (size_t i = 0; i < CS_COUNT(samples); i++) {
        if (cs_str_is(format, samples[i].format))
            return samples[i].value;
    }
    if (format.len == 0 && (ends_with(hint, "url") || ends_with(hint, "uri")))
        return "https://example.com/";
    if (format.len == 0 && ends_with(hint, "email"))
        return "user@example.com";
    return NULL;
}

static struct cs_str shortened(struct cs_str s, size_t max)
{
    if (s.len <= max)
        return s;
    while (max > 0 && ((unsigned char)s.at[max] & 0xC0) == 0x80)
        max--;
    return cs_strn(s.at, max);
}

static void sample_string(struct sampler *s, const struct cs_type *t, struct cs_str hint)
{
    struct cs_json_val values = cs_json_get(t->schema, "enum"), first;
    struct cs_json_iter it = {0};
    if (cs_json_next(values, &it, NULL, &first) && cs_json_type(first) == CS_JSON_STRING) {
        cs_type_quote(cs_json_str(first, s->arena), s->out);
        return;
    }
    CS_AUTO_BUF struct cs_buf text = {0};
    int64_t least = 0, most = 0;
    bool has_least = cs_json_i64(cs_json_get(t->schema, "minLength"), &least);
    bool has_most = cs_json_i64(cs_json_get(t->schema, "maxLength"), &most);
    struct cs_str pattern = cs_json_str(cs_json_get(t->schema, "pattern"), s->arena);
    const char *known = for_format(cs_json_str(cs_json_get(t->schema, "format"), s->arena), hint);
    if (!known && pattern.len &&
        cs_pattern_sample(pattern, has_least && least > 0 ? (size_t)least : 1, &text)) {
        cs_type_quote(cs_buf_str(&text), s->out);
        return;
    }
    if (known)
        cs_buf_puts(&text, known);
    else
        cs_buf_putstr(&text, shortened(hint.len ? hint : CS_STR("text"), TEXT_MAX));
    while (has_least && least <= 200 && text.len < (size_t)least)
        cs_buf_putc(&text, 'x');
    struct cs_str all = cs_buf_str(&text);
    if (has_most && most >= 0 && most < (int64_t)all.len)
        all = shortened(all, (size_t)most);
    cs_type_quote(all, s->out);
}

/* --- the rest --- */

/* A default or an example, if it says something and is of the right type. */
static bool sample_given(struct sampler *s, const struct cs_prop *prop)
{
    struct cs_json_val values[2] = {cs_json_get(prop->schema, "default"), {0}};
    struct cs_json_iter it = {0};
    struct cs_json_val examples = cs_json_get(prop->schema, "examples");
    if (cs_json_type(examples) == CS_JSON_ARRAY)
        cs_json_next(examples, &it, NULL, &values[1]);
    for (size_t i = 0; i < CS_COUNT(values); i++) {
        enum cs_json_type type = cs_json_type(values[i]);
        if (type == CS_JSON_NONE || type == CS_JSON_NULL || cs_json_is(values[i], "") ||
            cs_json_raw(values[i]).len > 80 || !cs_type_fits(prop->type, values[i], 0))
            continue;
        cs_type_literal(values[i], s->arena, s->out);
        return true;
    }
    return false;
}

static void sample_props(struct sampler *s, const struct cs_prop *props, size_t count)
{
    const char *comma = "{ ";
    for (size_t i = 0; i < count && s->out->len <= s->limit; i++) {
        if (!props[i].required)
            continue;
        cs_buf_puts(s->out, comma);
        comma = ", ";
        /* Written plainly, it would set the prototype. */
        bool proto = cs_str_is(props[i].name, "__proto__");
        cs_buf_puts(s->out, proto ? "[\"" : "");
        cs_type_key(props[i].name, s->out);
        cs_buf_puts(s->out, proto ? "\"]: " : ": ");
        if (!sample_given(s, &props[i]))
            sample(s, props[i].type, props[i].name);
    }
    cs_buf_puts(s->out, *comma == ',' ? " }" : "{}");
    if (is_shadowed(props, count))
        cs_buf_puts(s->out, " as never");
}

static void sample_array(struct sampler *s, const struct cs_type *t, struct cs_str hint)
{
    int64_t least = 1, most = 1;
    if (!cs_json_i64(cs_json_get(t->schema, "minItems"), &least) || least < 1)
        least = 1;
    if (least > 5)
        least = 5;
    if (cs_json_i64(cs_json_get(t->schema, "maxItems"), &most) && most < least)
        least = most;
    if (cs_type_real(t->rest)->kind == CS_TYPE_NEVER)
        least = 0;
    if (hint.len > 2 && hint.at[hint.len - 1] == 's' && hint.at[hint.len - 2] != 's')
        hint.len--;
    cs_buf_putc(s->out, '[');
    for (int64_t i = 0; i < least && s->out->len <= s->limit; i++) {
        cs_buf_puts(s->out, i ? ", " : "");
        sample(s, t->rest, hint);
    }
    cs_buf_putc(s->out, ']');
}

/* The first alternative that is something, and does not lead back to where we are. */
static const struct cs_type *choose(const struct cs_type *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct cs_type *part = t->parts[i];
        bool open = part->kind == CS_TYPE_NAMED && part->def->open;
        enum cs_type_kind kind = cs_type_real(part)->kind;
        if (!open && kind != CS_TYPE_NULL && kind != CS_TYPE_NEVER)
            return part;
    }
    for (size_t i = 0; i < t->count; i++) {
        if (t->parts[i]->kind == CS_TYPE_NULL)
            return t->parts[i];
    }
    return t->parts[0];
}

struct merged {
    struct cs_prop props[PROPS_MAX];
    size_t count;
    bool doubtful;
};

static bool agree(const struct cs_type *a, const struct cs_type *b)
{
    return a == b || (a->kind == b->kind && a->kind >= CS_TYPE_NULL && a->kind <= CS_TYPE_STRING);
}

static void merge_prop(struct merged *m, const struct cs_prop *p)
{
    for (size_t i = 0; i < m->count; i++) {
        struct cs_prop *old = &m->props[i];
        if (!cs_str_eq(old->name, p->name))
            continue;
        old->required = old->required || p->required;
        const struct cs_type *a = cs_type_real(old->type), *b = cs_type_real(p->type);
        if (a->kind == CS_TYPE_UNKNOWN || (b->kind == CS_TYPE_LITERAL && a->kind != b->kind)) {
            old->type = p->type;
            old->schema = p->schema;
        }
        if (a->kind != CS_TYPE_UNKNOWN && b->kind != CS_TYPE_UNKNOWN && !agree(a, b))
            m->doubtful = true;
        return;
    }
    if (m->count == PROPS_MAX)
        m->doubtful = true;
    else
        m->props[m->count++] = *p;
}

/* Gathers the properties of all parts of an intersection. */
static void merge_type(struct merged *m, const struct cs_type *t, unsigned depth)
{
    t = cs_type_real(t);
    if (t->kind == CS_TYPE_UNION && t->count > 0)
        t = cs_type_real(choose(t));
    if (t->kind == CS_TYPE_OBJECT) {
        for (size_t i = 0; i < t->count && !(m->doubtful && m->count == PROPS_MAX); i++)
            merge_prop(m, &t->props[i]);
        m->doubtful = m->doubtful || (t->rest && t->count);
    } else if (t->kind == CS_TYPE_BOTH && depth < SAMPLE_DEPTH) {
        for (size_t i = 0; i < t->count; i++)
            merge_type(m, t->parts[i], depth + 1);
    } else {
        m->doubtful = true;
    }
}

static void sample_both(struct sampler *s, const struct cs_type *t)
{
    struct merged *m = cs_arena_alloc(s->arena, sizeof *m);
    merge_type(m, t, 0);
    sample_props(s, m->props, m->count);
    if (m->doubtful)
        cs_buf_puts(s->out, " as never");
}

static void sample_tuple(struct sampler *s, const struct cs_type *t, struct cs_str hint)
{
    cs_buf_putc(s->out, '[');
    for (size_t i = 0; i < t->needed && s->out->len <= s->limit; i++) {
        cs_buf_puts(s->out, i ? ", " : "");
        sample(s, t->parts[i], hint);
    }
    cs_buf_putc(s->out, ']');
}

static void sample_kind(struct sampler *s, const struct cs_type *t, struct cs_str hint)
{
    switch (t->kind) {
    case CS_TYPE_UNKNOWN:
        cs_buf_puts(s->out, "{}");
        break;
    case CS_TYPE_NEVER:
        cs_buf_puts(s->out, nothing);
        break;
    case CS_TYPE_NULL:
        cs_buf_puts(s->out, "null");
        break;
    case CS_TYPE_BOOLEAN:
        cs_buf_puts(s->out, "true");
        break;
    case CS_TYPE_NUMBER:
        sample_number(s, t);
        break;
    case CS_TYPE_STRING:
        sample_string(s, t, hint);
        break;
    case CS_TYPE_LITERAL:
        cs_type_literal(t->value, s->arena, s->out);
        break;
    case CS_TYPE_ARRAY:
        sample_array(s, t, hint);
        break;
    case CS_TYPE_TUPLE:
        sample_tuple(s, t, hint);
        break;
    case CS_TYPE_OBJECT:
        sample_props(s, t->props, t->count);
        break;
    case CS_TYPE_UNION:
        sample(s, choose(t), hint);
        break;
    case CS_TYPE_BOTH:
        sample_both(s, t);
        break;
    case CS_TYPE_NAMED:
        cs_buf_puts(s->out, nothing);
        break;
    }
}

static void sample(struct sampler *s, const struct cs_type *t, struct cs_str hint)
{
    struct cs_type_def *def = t->kind == CS_TYPE_NAMED ? t->def : NULL;
    if (s->out->len > s->limit || s->depth >= SAMPLE_DEPTH || (def && (def->open || !def->type))) {
        cs_buf_puts(s->out, nothing);
        return;
    }
    s->depth++;
    if (def)
        def->open = true;
    if (def)
        sample(s, def->type, hint);
    else
        sample_kind(s, t, hint);
    if (def)
        def->open = false;
    s->depth--;
}

void cs_type_sample(const struct cs_type *t, struct cs_str hint, struct cs_arena *arena,
                    struct cs_buf *out)
{
    size_t start = out->len;
    struct sampler s = {arena, out, start + SAMPLE_BYTES, 0};
    sample(&s, t, hint);
    if (out->len <= s.limit)
        return;
    /* Too long to teach anything. */
    out->len = start;
    cs_buf_puts(out, "{} as never");
}

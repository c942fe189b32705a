/* Types as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tools/types.h"

#define COMMENT_BYTES 240u
#define SAID_BYTES    500u
#define ONE_LINE      80u
#define INDEX_MAX     6u

bool cs_type_key_is_plain(struct cs_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
        if (!letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return name.len > 0;
}

void cs_type_quote(struct cs_str s, struct cs_buf *out)
{
    char last = 0;
    cs_buf_putc(out, '"');
    for (size_t n; s.len > 0; s.at += n, s.len -= n) {
        uint32_t c = cs_text_char(s, &n);
        if (c == '\n')
            cs_buf_puts(out, "\\n");
        else if (cs_text_is_hidden(c))
            cs_buf_printf(out, c > 0xFFFF ? "\\u{%" PRIx32 "}" : "\\u%04" PRIx32, c);
        else if (c == 0xFFFD)
            cs_buf_puts(out, "\\ufffd");
        else if (c == '"' || c == '\\' || (c == '/' && last == '*'))
            cs_buf_printf(out, "\\%c", (char)c);
        else
            cs_buf_put(out, s.at, n);
        last = (char)(c < 0x80 ? c : 0);
    }
    cs_buf_putc(out, '"');
}

void cs_type_key(struct cs_str name, struct cs_buf *out)
{
    if (cs_type_key_is_plain(name))
        cs_buf_putstr(out, name);
    else
        cs_type_quote(name, out);
}

void cs_type_literal(struct cs_json_val value, struct cs_arena *arena, struct cs_buf *out)
{
    enum cs_json_type type = cs_json_type(value);
    if (type == CS_JSON_STRING) {
        cs_type_quote(cs_json_str(value, arena), out);
        return;
    }
    if (type != CS_JSON_ARRAY && type != CS_JSON_OBJECT) {
        cs_buf_putstr(out, cs_json_raw(value));
        return;
    }
    struct cs_json_val key, item;
    struct cs_json_iter it = {0};
    const char *comma = type == CS_JSON_ARRAY ? "[" : "{ ";
    while (cs_json_next(value, &it, &key, &item)) {
        cs_buf_puts(out, comma);
        comma = ", ";
        if (type == CS_JSON_OBJECT) {
            struct cs_str name = cs_json_str(key, arena);
            bool proto = cs_str_is(name, "__proto__"); /* plain, it would set the prototype */
            cs_buf_puts(out, proto ? "[" : "");
            proto ? cs_type_quote(name, out) : cs_type_key(name, out);
            cs_buf_puts(out, proto ? "]: " : ": ");
        }
        cs_type_literal(item, arena, out);
    }
    if (cs_json_count(value) == 0)
        cs_buf_puts(out, type == CS_JSON_ARRAY ? "[" : "{");
    cs_buf_puts(out, type == CS_JSON_ARRAY ? "]" : cs_json_count(value) ? " }" : "}");
}

/* --- notes --- */

struct notes {
    struct cs_buf *out;
    size_t start;
    struct cs_str said; /* need not be said again */
};

static void note(struct notes *n)
{
    if (n->out->len > n->start)
        cs_buf_puts(n->out, ", ");
}

static bool mentions(struct cs_str text, struct cs_str word)
{
    if (text.len > SAID_BYTES)
        text.len = SAID_BYTES;
    for (size_t i = 0; i + word.len <= text.len; i++) {
        if (strncasecmp(text.at + i, word.at, word.len) == 0)
            return true;
    }
    return false;
}

/* "1 to 100", "at least 1", "at most 100", each with what is counted behind it. */
static void note_range(struct notes *n, struct cs_json_val least, struct cs_json_val most,
                       double boring, const char *what)
{
    double low = 0, high = 0;
    bool has_low = cs_json_f64(least, &low) && low > -9e15 && low != boring;
    bool has_high = cs_json_f64(most, &high) && high < 9e15;
    struct cs_str a = cs_json_raw(least), b = cs_json_raw(most);
    if (a.len > 24 || b.len > 24 || (!has_low && !has_high))
        return;
    if ((!has_low || mentions(n->said, a)) && (!has_high || mentions(n->said, b)))
        return;
    note(n);
    if (has_low && has_high && cs_str_eq(a, b))
        cs_buf_printf(n->out, "%.*s", CS_STR_ARG(a));
    else if (has_low && has_high)
        cs_buf_printf(n->out, "%.*s to %.*s", CS_STR_ARG(a), CS_STR_ARG(b));
    else
        cs_buf_printf(n->out, has_low ? "at least %.*s" : "at most %.*s",
                      CS_STR_ARG(has_low ? a : b));
    cs_buf_puts(n->out, what);
}

static void note_limits(struct notes *n, struct cs_json_val schema)
{
    note_range(n, cs_json_get(schema, "minimum"), cs_json_get(schema, "maximum"), -1e300, "");
    struct cs_json_val above = cs_json_get(schema, "exclusiveMinimum"),
                       below = cs_json_get(schema, "exclusiveMaximum");
    double number;
    if (cs_json_f64(above, &number) && number > -9e15 && cs_json_raw(above).len <= 24) {
        note(n);
        cs_buf_printf(n->out, "> %.*s", CS_STR_ARG(cs_json_raw(above)));
    }
    if (cs_json_f64(below, &number) && number < 9e15 && cs_json_raw(below).len <= 24) {
        note(n);
        cs_buf_printf(n->out, "< %.*s", CS_STR_ARG(cs_json_raw(below)));
    }
    note_range(n, cs_json_get(schema, "minLength"), cs_json_get(schema, "maxLength"), 1,
               " characters");
    note_range(n, cs_json_get(schema, "minItems"), cs_json_get(schema, "maxItems"), 0, " items");
}

static void note_default(struct notes *n, struct cs_json_val schema)
{
    struct cs_json_val value = cs_json_get(schema, "default");
    enum cs_json_type type = cs_json_type(value);
    struct cs_str raw = cs_json_raw(value);
    if (type == CS_JSON_NONE || type == CS_JSON_NULL || raw.len > 40 || raw.len < 1 ||
        mentions(n->said, CS_STR("default")) || cs_json_is(value, ""))
        return;
    note(n);
    cs_buf_puts(n->out, "default ");
    cs_buf_putstr(n->out, raw);
}

/* An enum that is too long to be a type. */
static void note_values(struct notes *n, struct cs_json_val values)
{
    struct cs_json_iter it = {0};
    struct cs_json_val first;
    if (cs_json_type(values) != CS_JSON_ARRAY || cs_json_count(values) == 0)
        return;
    note(n);
    cs_buf_printf(n->out, "one of %" PRIu32 " values", cs_json_count(values));
    if (cs_json_next(values, &it, NULL, &first) && cs_json_raw(first).len < 40)
        cs_buf_printf(n->out, " like %.*s", CS_STR_ARG(cs_json_raw(first)));
}

static void note_text(struct notes *n, const char *before, struct cs_str text, size_t max,
                      const char *after)
{
    if (text.len == 0 || text.len > max)
        return;
    note(n);
    cs_buf_puts(n->out, before);
    cs_buf_putstr(n->out, text);
    cs_buf_puts(n->out, after);
}

void cs_type_notes(struct cs_json_val schema, const struct cs_type *type, bool limits,
                   struct cs_str said, struct cs_arena *arena, struct cs_buf *out)
{
    struct notes n = {out, out->len, said};
    const struct cs_type *t = cs_type_real(type);
    bool text = t->kind == CS_TYPE_STRING, deprecated = false;
    if (limits)
        note_default(&n, schema);
    if (text)
        note_text(&n, "", cs_json_str(cs_json_get(schema, "format"), arena), 30, "");
    if (limits && t->kind == CS_TYPE_NUMBER && t->integer)
        note_text(&n, "", CS_STR("integer"), 10, "");
    if (limits) {
        note_limits(&n, schema);
        note_text(&n, "/", cs_json_str(cs_json_get(schema, "pattern"), arena), 40, "/");
    }
    if (text)
        note_values(&n, cs_json_get(schema, "enum"));
    if (cs_json_bool(cs_json_get(schema, "deprecated"), &deprecated) && deprecated)
        note_text(&n, "", CS_STR("deprecated"), 10, "");
}

struct cs_str cs_prop_description(const struct cs_prop *prop, struct cs_arena *arena)
{
    struct cs_str said = cs_json_str(cs_json_get(prop->schema, "description"), arena);
    if (said.len == 0 && prop->type->kind == CS_TYPE_NAMED)
        said = cs_json_str(cs_json_get(prop->type->def->schema, "description"), arena);
    return said;
}

/* --- types --- */

struct printer {
    const struct cs_type_style *style;
    struct cs_buf *out;
    size_t limit; /* length of `out` at which to give up, the text being of no use any more */
    unsigned indent;
    bool one_line; /* nothing else will do ... */
    bool over;     /* ... and it did not */
};

static void print(struct printer *p, const struct cs_type *t);

static const struct cs_type *written(const struct cs_type *t)
{
    return t->kind == CS_TYPE_NAMED && !t->def->name[0] && t->def->type ? t->def->type : t;
}

static void print_wrapped(struct printer *p, const struct cs_type *t)
{
    enum cs_type_kind kind = written(t)->kind;
    bool wrap = (kind == CS_TYPE_UNION || kind == CS_TYPE_BOTH) && written(t)->count > 1;
    cs_buf_puts(p->out, wrap ? "(" : "");
    print(p, t);
    cs_buf_puts(p->out, wrap ? ")" : "");
}

static void print_joined(struct printer *p, const struct cs_type *t, const char *joint)
{
    for (size_t i = 0; i < t->count && p->out->len <= p->limit; i++) {
        cs_buf_puts(p->out, i ? joint : "");
        if (t->kind == CS_TYPE_BOTH && t->count > 1)
            print_wrapped(p, t->parts[i]);
        else
            print(p, t->parts[i]);
    }
}

static void print_tuple(struct printer *p, const struct cs_type *t)
{
    cs_buf_putc(p->out, '[');
    for (size_t i = 0; i < t->count && p->out->len <= p->limit; i++) {
        cs_buf_puts(p->out, i ? ", " : "");
        print_wrapped(p, t->parts[i]);
        cs_buf_puts(p->out, i >= t->needed ? "?" : "");
    }
    if (t->rest) {
        cs_buf_puts(p->out, t->count ? ", ..." : "...");
        print_wrapped(p, t->rest);
        cs_buf_puts(p->out, "[]");
    }
    cs_buf_putc(p->out, ']');
}

/* The alternatives of an index signature, which must allow what the named properties allow. False
 * if there are too many to say anything. */
static bool print_index(struct printer *p, const struct cs_type *t)
{
    struct cs_type_style style = {.arena = p->style->arena};
    struct cs_str said[INDEX_MAX + 1];
    size_t count = 0, start = p->out->len;
    bool optional = false;
    for (size_t i = 0; i <= t->count; i++) {
        CS_AUTO_BUF struct cs_buf text = {0};
        struct printer one = {&style, &text, ONE_LINE, 0, true, false};
        print(&one, i == 0 ? t->rest : t->props[i - 1].type);
        optional = optional || (i > 0 && !t->props[i - 1].required);
        if (one.over || text.len + p->out->len - start > ONE_LINE)
            return false;
        bool known = false;
        for (size_t j = 0; j < count; j++)
            known = known || cs_str_eq(said[j], cs_buf_str(&text));
        if (known)
            continue;
        said[count] = cs_arena_dup(p->style->arena, cs_buf_str(&text));
        cs_buf_puts(p->out, count ? " | " : "");
        cs_buf_putstr(p->out, said[count++]);
    }
    cs_buf_puts(p->out, optional ? " | undefined" : "");
    return true;
}

static void print_rest(struct printer *p, const struct cs_type *t)
{
    cs_buf_puts(p->out, "[key: string]: ");
    size_t start = p->out->len;
    if (t->rest->kind != CS_TYPE_UNKNOWN && t->count <= INDEX_MAX && print_index(p, t))
        return;
    p->out->len = start;
    cs_buf_puts(p->out, "unknown");
}

static void put_indent(struct printer *p)
{
    for (unsigned i = 0; i < p->indent; i++)
        cs_buf_puts(p->out, "  ");
}

/* True if there is something to say about it. */
static bool print_comment(struct printer *p, const struct cs_prop *prop, bool bare)
{
    if (!p->style->comments || bare)
        return false;
    CS_AUTO_BUF struct cs_buf notes = {0}, all = {0};
    struct cs_str said = cs_prop_description(prop, p->style->arena);
    cs_type_notes(prop->schema, prop->type, p->style->limits, said, p->style->arena, &notes);
    cs_comment_line(said, COMMENT_BYTES, &all);
    if (notes.len) {
        cs_buf_puts(&all, all.len ? " (" : "(");
        cs_comment_line(cs_buf_str(&notes), COMMENT_BYTES, &all);
        cs_buf_putc(&all, ')');
    }
    if (all.len == 0)
        return false;
    if (!p->one_line) {
        put_indent(p);
        cs_buf_puts(p->out, "/** ");
        cs_buf_putstr(p->out, cs_buf_str(&all));
        cs_buf_puts(p->out, " */\n");
    }
    return true;
}

static void print_members(struct printer *p, const struct cs_type *t, bool bare)
{
    for (size_t i = 0; i < t->count && p->out->len <= p->limit && !p->over; i++) {
        if (print_comment(p, &t->props[i], bare) && p->one_line)
            p->over = true;
        if (!p->one_line)
            put_indent(p);
        cs_type_key(t->props[i].name, p->out);
        cs_buf_puts(p->out, t->props[i].required ? ": " : "?: ");
        print(p, t->props[i].type);
        bool last = i + 1 == t->count && !t->rest;
        cs_buf_puts(p->out, !p->one_line ? ";\n" : last ? "" : "; ");
    }
    if (!t->rest)
        return;
    if (!p->one_line)
        put_indent(p);
    print_rest(p, t);
    cs_buf_puts(p->out, p->one_line ? "" : ";\n");
}

/* A map, with the type of its values as it is. */
static void print_map(struct printer *p, const struct cs_type *t)
{
    if (!t->rest || t->rest->kind == CS_TYPE_UNKNOWN) {
        cs_buf_puts(p->out, t->rest ? "Record<string, unknown>" : "Record<string, never>");
        return;
    }
    cs_buf_puts(p->out, "{ [key: string]: ");
    print(p, t->rest);
    cs_buf_puts(p->out, " }");
}

static void print_object(struct printer *p, const struct cs_type *t)
{
    bool bare = p->style->bare && p->indent == 0;
    if (t->count == 0) {
        print_map(p, t);
        return;
    }
    size_t start = p->out->len, limit = start + ONE_LINE < p->limit ? start + ONE_LINE : p->limit;
    struct printer fresh = {p->style, p->out, limit, p->indent, true, false};
    struct printer *one = p->one_line ? p : &fresh;
    cs_buf_puts(p->out, "{ ");
    print_members(one, t, bare);
    cs_buf_puts(p->out, " }");
    if (p->one_line || (!fresh.over && p->out->len <= limit))
        return;
    p->out->len = start;
    cs_buf_puts(p->out, "{\n");
    p->indent++;
    print_members(p, t, bare);
    p->indent--;
    put_indent(p);
    cs_buf_putc(p->out, '}');
}

static void print(struct printer *p, const struct cs_type *t)
{
    static const char *const simple[] = {
        [CS_TYPE_UNKNOWN] = "unknown", [CS_TYPE_NEVER] = "never",   [CS_TYPE_NULL] = "null",
        [CS_TYPE_BOOLEAN] = "boolean", [CS_TYPE_NUMBER] = "number", [CS_TYPE_STRING] = "string",
    };
    if (p->out->len > p->limit)
        p->over = true;
    if (p->over)
        return;
    t = written(t);
    switch (t->kind) {
    case CS_TYPE_UNKNOWN:
    case CS_TYPE_NEVER:
    case CS_TYPE_NULL:
    case CS_TYPE_BOOLEAN:
    case CS_TYPE_NUMBER:
    case CS_TYPE_STRING:
        cs_buf_puts(p->out, simple[t->kind]);
        break;
    case CS_TYPE_LITERAL:
        cs_type_literal(t->value, p->style->arena, p->out);
        break;
    case CS_TYPE_ARRAY:
        print_wrapped(p, t->rest);
        cs_buf_puts(p->out, "[]");
        break;
    case CS_TYPE_TUPLE:
        print_tuple(p, t);
        break;
    case CS_TYPE_OBJECT:
        print_object(p, t);
        break;
    case CS_TYPE_UNION:
        print_joined(p, t, " | ");
        break;
    case CS_TYPE_BOTH:
        print_joined(p, t, " & ");
        break;
    case CS_TYPE_NAMED:
        cs_buf_puts(p->out, t->def->name);
        break;
    }
}

void cs_type_print(const struct cs_type *t, const struct cs_type_style *style, struct cs_buf *out)
{
    struct printer p = {style, out, CS_DECLARE_BYTES, 0, false, false};
    print(&p, t);
}

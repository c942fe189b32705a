#include "front/form.h"

#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "schema/schema.h"

#define CHOICES_SHOWN 200u
#define NAME_SHOWN    100u
#define TEXT_SHOWN    2000u
#define DEFAULT_SHOWN 80u

enum kind { TEXT, NUMBER, BOOLEAN, CHOICE, CHOICES, ANYTHING };

struct choice {
    struct cs_str value; /* JSON */
    struct cs_str text;  /* the value as a person types it */
    struct cs_str title; /* may be the same */
};

struct field {
    struct cs_str name, title, description;
    enum kind kind;
    bool required, whole; /* whole: a number without a fraction */
    struct cs_str usual;  /* the default, JSON; empty: none */
    struct choice *choices;
    size_t choice_count;
    bool numbered; /* choices can be named by their number */
    struct cs_schema *schema;
};

struct cs_form {
    struct cs_arena arena;
    struct cs_json doc;
    struct cs_str message, url;
    struct field *fields;
    size_t count;
    struct cs_schema *schema; /* NULL: none, or none that can be used */
};

/* In one line: nothing of it may look like a line of ours. */
static void put_flat(struct cs_buf *out, struct cs_str s, size_t max)
{
    struct cs_str shown = cs_utf8_cut(s, max);
    for (size_t i = 0; i < shown.len; i++)
        cs_buf_putc(out, strchr("\n\r\t", shown.at[i]) ? ' ' : shown.at[i]);
    if (shown.len < s.len)
        cs_buf_puts(out, " ...");
}

static struct cs_str trim(struct cs_str s)
{
    while (s.len && strchr(" \t\r\n", s.at[s.len - 1]))
        s.len--;
    while (s.len && strchr(" \t", s.at[0])) {
        s.at++;
        s.len--;
    }
    return s;
}

static bool same_letters(struct cs_str a, struct cs_str b)
{
    return a.len == b.len && strncasecmp(a.at, b.at, a.len) == 0;
}

/* --- from the schema --- */

static struct cs_schema *compile(struct cs_str text)
{
    const struct cs_schema_options options = {.assert_format = true};
    struct cs_schema *schema = NULL;
    struct cs_err err = {0};
    return cs_schema_new(text, &options, &schema, &err) < 0 ? NULL : schema;
}

static int check(const struct cs_schema *schema, struct cs_str json, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_schema_fault faults[3];
    if (!schema)
        return 0;
    if (cs_json_parse(json, NULL, &doc, err) < 0)
        return -1;
    int count = cs_schema_check(schema, cs_json_root(&doc), &arena, faults, 3, err);
    if (count <= 0)
        return count;
    cs_schema_explain(faults, count, &text);
    return cs_fail(err, CS_INVALID, "%s", cs_buf_cstr(&text));
}

/* The first type that is not null; a schema without one takes what is typed. */
static struct cs_json_val type_of(struct cs_json_val schema)
{
    struct cs_json_val type = cs_json_get(schema, "type"), item;
    struct cs_json_iter it = {0};
    while (cs_json_type(type) == CS_JSON_ARRAY && cs_json_next(type, &it, NULL, &item))
        if (!cs_json_is(item, "null"))
            return item;
    return type;
}

static bool is_number(struct cs_str s)
{
    size_t digits = 0;
    while (digits < s.len && s.at[digits] >= '0' && s.at[digits] <= '9')
        digits++;
    return s.len && digits == s.len;
}

static void add_choice(struct cs_form *form, struct field *f, struct cs_json_val value,
                       struct cs_json_val title)
{
    struct choice *c = &f->choices[f->choice_count++];
    c->value = cs_json_raw(value);
    c->text = cs_json_type(value) == CS_JSON_STRING ? cs_json_str(value, &form->arena) : c->value;
    c->title = cs_json_str(title, &form->arena);
    if (!c->title.len)
        c->title = c->text;
    if (is_number(c->text) || is_number(c->title))
        f->numbered = false;
}

/* enum (with enumNames, as it was once written), or constants with titles. */
static bool read_choices(struct cs_form *form, struct field *f, struct cs_json_val schema)
{
    struct cs_json_val list = cs_json_get(schema, "enum"), item, title;
    struct cs_json_val names = cs_json_get(schema, "enumNames");
    bool plain = cs_json_type(list) == CS_JSON_ARRAY;
    if (!plain)
        list = cs_json_get(schema, "oneOf");
    if (cs_json_type(list) != CS_JSON_ARRAY)
        list = cs_json_get(schema, "anyOf");
    struct cs_json_iter it = {0}, name = {0};
    if (cs_json_type(list) != CS_JSON_ARRAY || cs_json_count(list) == 0)
        return false;
    while (!plain && cs_json_next(list, &it, NULL, &item))
        if (cs_json_type(cs_json_get(item, "const")) == CS_JSON_NONE)
            return false;
    f->numbered = true;
    f->choices = cs_arena_alloc(&form->arena, sizeof *f->choices * cs_json_count(list));
    it = (struct cs_json_iter){0};
    while (cs_json_next(list, &it, NULL, &item)) {
        title = plain ? (struct cs_json_val){0} : cs_json_get(item, "title");
        if (plain && cs_json_type(names) == CS_JSON_ARRAY)
            cs_json_next(names, &name, NULL, &title);
        add_choice(form, f, plain ? item : cs_json_get(item, "const"), title);
    }
    return true;
}

static enum kind kind_of(struct cs_form *form, struct field *f, struct cs_json_val schema)
{
    struct cs_json_val type = type_of(schema);
    bool none = cs_json_type(type) == CS_JSON_NONE;
    if (cs_json_is(type, "array"))
        return read_choices(form, f, cs_json_get(schema, "items")) ? CHOICES : ANYTHING;
    if (read_choices(form, f, schema))
        return CHOICE;
    f->whole = cs_json_is(type, "integer");
    if (f->whole || cs_json_is(type, "number"))
        return NUMBER;
    if (cs_json_is(type, "boolean"))
        return BOOLEAN;
    return none || cs_json_is(type, "string") ? TEXT : ANYTHING;
}

static bool is_in(struct cs_json_val list, struct cs_str name, struct cs_arena *arena)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(list, &it, NULL, &item))
        if (cs_str_eq(cs_json_str(item, arena), name))
            return true;
    return false;
}

static void read_field(struct cs_form *form, struct field *f, struct cs_json_val key,
                       struct cs_json_val schema, struct cs_json_val required)
{
    struct cs_arena *arena = &form->arena;
    f->name = cs_json_str(key, arena);
    f->title = cs_json_str(cs_json_get(schema, "title"), arena);
    f->description = cs_json_str(cs_json_get(schema, "description"), arena);
    if (!trim(f->title).len)
        f->title = f->name;
    f->required = is_in(required, f->name, arena);
    f->kind = kind_of(form, f, schema);
    f->schema = compile(cs_json_raw(schema));
    f->usual = cs_json_raw(cs_json_get(schema, "default"));
    struct cs_err err = {0};
    if (f->usual.len && check(f->schema, f->usual, &err) < 0)
        f->usual = (struct cs_str){0};
}

int cs_form_new(struct cs_str params, struct cs_form **form, struct cs_err *err)
{
    if (params.len > CS_FORM_BYTES)
        return cs_fail(err, CS_LIMIT, "the question has %zu bytes, at most %u can be asked",
                       params.len, CS_FORM_BYTES);
    struct cs_form *f = CS_NEW(struct cs_form);
    if (cs_json_parse(cs_arena_dup(&f->arena, params), NULL, &f->doc, err) < 0) {
        cs_form_free(f);
        return cs_wrap(err, "the question");
    }
    struct cs_json_val root = cs_json_root(&f->doc), schema = cs_json_get(root, "requestedSchema");
    struct cs_json_val fields = cs_json_get(schema, "properties"), key, item;
    f->message = cs_json_str(cs_json_get(root, "message"), &f->arena);
    if (f->message.len > TEXT_SHOWN) {
        struct cs_str shown = cs_utf8_cut(f->message, TEXT_SHOWN);
        f->message = cs_str(cs_arena_printf(&f->arena, "%.*s ...", CS_STR_ARG(shown)));
    }
    f->url = cs_json_str(cs_json_get(root, "url"), &f->arena);
    if (cs_json_count(fields) > CS_FORM_FIELDS) {
        cs_fail(err, CS_LIMIT, "the question has %u fields, at most %u can be asked",
                cs_json_count(fields), CS_FORM_FIELDS);
        cs_form_free(f);
        return -1;
    }
    f->fields = cs_arena_alloc(&f->arena, sizeof *f->fields * (cs_json_count(fields) + 1));
    struct cs_json_iter it = {0};
    while (cs_json_type(fields) == CS_JSON_OBJECT && cs_json_next(fields, &it, &key, &item))
        read_field(f, &f->fields[f->count++], key, item, cs_json_get(schema, "required"));
    if (cs_json_type(schema) == CS_JSON_OBJECT)
        f->schema = compile(cs_json_raw(schema));
    *form = f;
    return 0;
}

void cs_form_free(struct cs_form *form)
{
    if (!form)
        return;
    for (size_t i = 0; i < form->count; i++)
        cs_schema_free(form->fields[i].schema);
    cs_schema_free(form->schema);
    cs_json_done(&form->doc);
    cs_arena_done(&form->arena);
    free(form);
}

struct cs_str cs_form_message(const struct cs_form *form)
{
    return form->message;
}

struct cs_str cs_form_url(const struct cs_form *form)
{
    return form->url;
}

size_t cs_form_count(const struct cs_form *form)
{
    return form->count;
}

/* --- to the person --- */

void cs_form_details(const struct cs_form *form, size_t field, struct cs_buf *text)
{
    const struct field *f = &form->fields[field];
    if (f->description.len) {
        cs_buf_putstr(text, cs_utf8_cut(f->description, TEXT_SHOWN));
        cs_buf_putc(text, '\n');
    }
    for (size_t i = 0; i < f->choice_count; i++) {
        const struct choice *c = &f->choices[i];
        if (i == CHOICES_SHOWN) {
            cs_buf_printf(text, "  ... and %zu more\n", f->choice_count - i);
            break;
        }
        if (f->numbered)
            cs_buf_printf(text, "  %zu) ", i + 1);
        else
            cs_buf_puts(text, "  - ");
        put_flat(text, c->text, NAME_SHOWN);
        if (!cs_str_eq(c->title, c->text)) {
            cs_buf_puts(text, ": ");
            put_flat(text, c->title, NAME_SHOWN);
        }
        cs_buf_putc(text, '\n');
    }
}

/* A value as a person would type it. */
static void put_typed(const struct field *f, struct cs_json_val value, struct cs_buf *out)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    bool yes = false;
    if (f->kind == BOOLEAN && cs_json_bool(value, &yes)) {
        cs_buf_puts(out, yes ? "y" : "n");
    } else if (f->kind == CHOICES) {
        for (bool more = false; cs_json_next(value, &it, NULL, &item); more = true) {
            cs_buf_puts(out, more ? ", " : "");
            put_flat(out, cs_json_str(item, &arena), DEFAULT_SHOWN);
        }
    } else if (cs_json_type(value) == CS_JSON_STRING) {
        put_flat(out, cs_json_str(value, &arena), DEFAULT_SHOWN);
    } else {
        put_flat(out, cs_json_raw(value), DEFAULT_SHOWN);
    }
}

void cs_form_prompt(const struct cs_form *form, size_t field, struct cs_buf *text)
{
    static const char *const hints[] = {
        [BOOLEAN] = "y/n", [CHOICES] = "several, with commas", [ANYTHING] = "JSON"};
    const struct field *f = &form->fields[field];
    const char *hint = f->kind < CS_COUNT(hints) ? hints[f->kind] : NULL;
    put_flat(text, f->title, NAME_SHOWN);
    if (f->required || hint)
        cs_buf_printf(text, " (%s%s%s)", f->required ? "required" : "",
                      f->required && hint ? ", " : "", hint ? hint : "");
    CS_AUTO_JSON struct cs_json doc = {0};
    if (f->usual.len && cs_json_parse(f->usual, NULL, &doc, NULL) == 0) {
        cs_buf_puts(text, " [");
        put_typed(f, cs_json_root(&doc), text);
        cs_buf_putc(text, ']');
    }
    cs_buf_puts(text, ": ");
}

/* --- from the person --- */

static const struct choice *pick(const struct field *f, struct cs_str text)
{
    for (size_t i = 0; i < f->choice_count; i++)
        if (cs_str_eq(f->choices[i].text, text))
            return &f->choices[i];
    size_t number = 0;
    for (size_t i = 0; is_number(text) && i < text.len && number <= f->choice_count; i++)
        number = number * 10 + (size_t)(text.at[i] - '0');
    if (f->numbered && number >= 1 && number <= f->choice_count)
        return &f->choices[number - 1];
    const struct choice *found = NULL;
    for (size_t i = 0; i < f->choice_count; i++) {
        const struct choice *c = &f->choices[i];
        if (!same_letters(c->title, text) && !same_letters(c->text, text))
            continue;
        if (found)
            return NULL;
        found = c;
    }
    return found;
}

static int fail_choice(const struct field *f, struct cs_str text, struct cs_err *err)
{
    text = cs_utf8_cut(text, 60);
    return cs_fail(err, CS_INVALID, "'%.*s' is none of the choices%s", CS_STR_ARG(text),
                   f->numbered ? "; a number will do" : "");
}

static int take_choices(const struct field *f, struct cs_str text, struct cs_buf *value,
                        struct cs_err *err)
{
    bool *taken = cs_calloc(f->choice_count + 1, sizeof *taken);
    const struct choice *all = text.len ? pick(f, text) : NULL; /* its title may have a comma */
    struct cs_json_writer w = CS_JSON_WRITER(value);
    int status = 0;
    cs_json_open(&w, '[');
    while (text.len && status == 0) {
        const char *comma = all ? NULL : memchr(text.at, ',', text.len);
        size_t len = comma ? (size_t)(comma - text.at) : text.len;
        struct cs_str word = trim(cs_strn(text.at, len));
        const struct choice *c = all ? all : pick(f, word);
        len += comma != NULL;
        text.at += len;
        text.len -= len;
        if (word.len && !c)
            status = fail_choice(f, word, err);
        else if (word.len && !taken[c - f->choices])
            cs_json_put_raw(&w, c->value);
        if (c)
            taken[c - f->choices] = true;
    }
    cs_json_close(&w, ']');
    free(taken);
    return status;
}

static int take_boolean(struct cs_str text, struct cs_buf *value, struct cs_err *err)
{
    static const char *const words[] = {"y", "yes", "true", "1", "n", "no", "false", "0"};
    for (size_t i = 0; i < CS_COUNT(words); i++)
        if (same_letters(text, cs_str(words[i]))) {
            cs_buf_puts(value, i < 4 ? "true" : "false");
            return 0;
        }
    return cs_fail(err, CS_INVALID, "must be y or n");
}

static int take_json(const struct field *f, struct cs_str text, struct cs_buf *value,
                     struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (cs_json_parse(text, NULL, &doc, err) < 0 && f->kind == ANYTHING)
        return -1;
    if (f->kind == NUMBER && cs_json_type(cs_json_root(&doc)) != CS_JSON_NUMBER)
        return cs_fail(err, CS_INVALID, "must be a %snumber", f->whole ? "whole " : "");
    cs_buf_putstr(value, text);
    return 0;
}

static int take_value(const struct field *f, struct cs_str line, struct cs_buf *value,
                      struct cs_err *err)
{
    struct cs_str text = trim(line);
    struct cs_json_writer w = CS_JSON_WRITER(value);
    const struct choice *c;
    switch (f->kind) {
    case NUMBER:
    case ANYTHING:
        return take_json(f, text, value, err);
    case BOOLEAN:
        return take_boolean(text, value, err);
    case CHOICES:
        return take_choices(f, text, value, err);
    case CHOICE:
        c = pick(f, text);
        if (!c)
            return fail_choice(f, text, err);
        cs_json_put_raw(&w, c->value);
        return 0;
    case TEXT:
        break;
    }
    cs_json_put_str(&w, line);
    return 0;
}

enum cs_form_got cs_form_take(const struct cs_form *form, size_t field, struct cs_str line,
                              struct cs_buf *value, struct cs_err *err)
{
    const struct field *f = &form->fields[field];
    while (line.len && strchr("\r\n", line.at[line.len - 1]))
        line.len--;
    if (!trim(line).len) {
        if (f->usual.len) {
            cs_buf_putstr(value, f->usual);
            return CS_FORM_VALUE;
        }
        if (!f->required)
            return CS_FORM_LEFT_OUT;
        if (f->kind != CHOICES) {
            cs_fail(err, CS_INVALID, "this one is required");
            return CS_FORM_AGAIN;
        }
    }
    CS_AUTO_BUF struct cs_buf json = {0};
    if (take_value(f, line, &json, err) < 0 || check(f->schema, cs_buf_str(&json), err) < 0)
        return CS_FORM_AGAIN;
    cs_buf_putstr(value, cs_buf_str(&json));
    return CS_FORM_VALUE;
}

int cs_form_content(const struct cs_form *form, const struct cs_buf *values, struct cs_buf *content,
                    struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    for (size_t i = 0; i < form->count; i++) {
        if (!values[i].len)
            continue;
        cs_json_key_str(&w, form->fields[i].name);
        cs_json_put_raw(&w, cs_buf_str(&values[i]));
    }
    cs_json_close(&w, '}');
    if (check(form->schema, cs_buf_str(&json), err) < 0)
        return -1;
    cs_buf_putstr(content, cs_buf_str(&json));
    return 0;
}

int cs_form_host(struct cs_str url, struct cs_str *host, struct cs_err *err)
{
    size_t scheme = same_letters(cs_utf8_cut(url, 8), CS_STR("https://"))  ? 8
                    : same_letters(cs_utf8_cut(url, 7), CS_STR("http://")) ? 7
                                                                           : 0;
    if (!scheme)
        return cs_fail(err, CS_INVALID, "it is no address of the web");
    struct cs_str h = {url.at + scheme, 0};
    while (scheme + h.len < url.len && !strchr("/?#", h.at[h.len]))
        h.len++;
    for (size_t i = 0; i < url.len; i++)
        if (url.at[i] <= ' ' || url.at[i] > '~' || strchr("\\\"<>^`{|}", url.at[i]))
            return cs_fail(err, CS_INVALID, "it has characters that no address has");
    if (!h.len || h.at[0] == ':' || memchr(h.at, '@', h.len) || memchr(h.at, '%', h.len))
        return cs_fail(err, CS_INVALID, "its host is not what it seems to be");
    *host = h;
    return 0;
}

#include "front/call_args.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"

/* May a value of this schema be a text, and may it be something else? */
struct kinds {
    bool text, other;
};

static void note_type(struct cs_json_val type, struct kinds *k)
{
    if (cs_json_type(type) != CS_JSON_STRING)
        return;
    if (cs_json_is(type, "string"))
        k->text = true;
    else if (!cs_json_is(type, "null"))
        k->other = true;
}

static struct kinds kinds_of(struct cs_json_val schema)
{
    struct kinds k = {false, false};
    struct cs_json_val type = cs_json_get(schema, "type"), item;
    struct cs_json_iter it = {0};
    note_type(type, &k);
    if (cs_json_type(type) == CS_JSON_ARRAY)
        while (cs_json_next(type, &it, NULL, &item))
            note_type(item, &k);
    struct cs_json_val members = cs_json_get(schema, "enum");
    it = (struct cs_json_iter){0};
    while (!k.text && !k.other && cs_json_next(members, &it, NULL, &item))
        *(cs_json_type(item) == CS_JSON_STRING ? &k.text : &k.other) = true;
    return k;
}

/* A text where only a text can be; else JSON if it is JSON, and a text if it is not. */
static void put_value(struct cs_json_writer *w, const char *value, struct cs_json_val schema)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct kinds k = kinds_of(schema);
    if ((k.text && !k.other) || cs_json_parse(cs_str(value), NULL, &doc, NULL) < 0)
        cs_json_put_z(w, value);
    else
        cs_json_put_raw(w, cs_json_raw(cs_json_root(&doc)));
}

static int put_pair(struct cs_json_writer *w, const char *word, struct cs_json_val properties,
                    struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    const char *equals = strchr(word, '=');
    if (!equals || equals == word)
        return cs_fail(err, CS_INVALID,
                       "'%s' is neither an object in JSON, nor @FILE, nor NAME=VALUE", word);
    bool raw = equals[-1] == ':';
    struct cs_str name = cs_strn(word, (size_t)(equals - word) - raw);
    const char *value = equals + 1;
    if (!name.len)
        return cs_fail(err, CS_INVALID, "'%s' has no name before the '='", word);
    cs_json_key_str(w, name);
    if (!raw) {
        put_value(w, value, cs_json_get(properties, cs_arena_dup(&arena, name).at));
        return 0;
    }
    CS_AUTO_JSON struct cs_json doc = {0};
    if (cs_json_parse(cs_str(value), NULL, &doc, err) < 0)
        return cs_wrap(err, "%.*s", CS_STR_ARG(name));
    cs_json_put_raw(w, cs_json_raw(cs_json_root(&doc)));
    return 0;
}

static int put_pairs(const char *const *words, size_t count, struct cs_str schema,
                     struct cs_buf *json, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_writer w = CS_JSON_WRITER(json);
    struct cs_json_val properties = {0};
    if (schema.len && cs_json_parse(schema, NULL, &doc, NULL) == 0)
        properties = cs_json_get(cs_json_root(&doc), "properties");
    else
        cs_json_parse(CS_STR("{}"), NULL, &doc, NULL);
    if (!properties.doc)
        properties = cs_json_root(&doc);
    cs_json_open(&w, '{');
    for (size_t i = 0; i < count; i++)
        if (put_pair(&w, words[i], properties, err) < 0)
            return -1;
    cs_json_close(&w, '}');
    return 0;
}

static int read_text(const char *word, struct cs_buf *text, struct cs_err *err)
{
    if (word[0] != '@') {
        cs_buf_puts(text, word);
        return 0;
    }
    int read = strcmp(word, "@-") == 0 ? cs_file_read_fd(STDIN_FILENO, CS_CALL_ARGS_MAX, text, err)
                                       : cs_file_read(word + 1, CS_CALL_ARGS_MAX, text, err);
    if (read < 0)
        err->code = CS_INVALID;
    return read;
}

int cs_call_args(const char *const *words, size_t count, struct cs_str schema, struct cs_buf *json,
                 struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf text = {0}, pairs = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    const char *first = count ? words[0] : "{}";
    bool whole = count < 2 && (first[0] == '@' || first[0] == '{');
    if (!whole && put_pairs(words, count, schema, &pairs, err) < 0)
        return -1;
    if (whole && read_text(first, &text, err) < 0)
        return -1;
    struct cs_str given = cs_buf_str(whole ? &text : &pairs);
    /* Equal names are refused here. */
    struct cs_json_limits limits = {.bytes = CS_CALL_ARGS_MAX};
    if (cs_json_parse(given, &limits, &doc, err) < 0)
        return cs_wrap(err, "the arguments");
    struct cs_json_val root = cs_json_root(&doc);
    if (cs_json_type(root) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "the arguments must be an object: {\"name\": value}");
    cs_buf_putstr(json, cs_json_raw(root));
    return 0;
}

/* One value: read from a text or from JSON, printed, compared. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/near.h"
#include "front/settings_inside.h"

#define SHOWN     60   /* of a value that is wrong */
#define EXACT     9e15 /* up to here a double is exact */
#define WORDS     8
#define LIST_MOST 1000
#define SECOND    1000u
#define MINUTE    (60 * SECOND)
#define HOUR      (60 * MINUTE)
#define DAY       (24 * HOUR)

struct unit {
    const char *name;
    uint64_t factor;
};

/* The first of a factor is the one that is printed. */
static const struct unit times[] = {
    {"d", DAY},    {"h", HOUR},     {"m", MINUTE}, {"min", MINUTE},
    {"s", SECOND}, {"sec", SECOND}, {"", SECOND},  {"ms", 1},
};
static const struct unit sizes[] = {
    {"G", 1u << 30},   {"GB", 1u << 30},  {"GiB", 1u << 30}, {"M", 1u << 20},
    {"MB", 1u << 20},  {"MiB", 1u << 20}, {"K", 1u << 10},   {"KB", 1u << 10},
    {"KiB", 1u << 10}, {"", 1},           {"B", 1},
};

static void *field_of(const struct cs_setting *row, struct cs_settings *s)
{
    return (char *)s + row->at;
}

static const void *seen_of(const struct cs_setting *row, const struct cs_settings *s)
{
    return (const char *)s + row->at;
}

static const char *text_of(const struct cs_setting *row, const struct cs_settings *s)
{
    return *(const char *const *)seen_of(row, s);
}

static const char *const *list_of(const struct cs_setting *row, const struct cs_settings *s)
{
    return *(const char *const *const *)seen_of(row, s);
}

static uint64_t number_of(const struct cs_setting *row, const struct cs_settings *s)
{
    return *(const uint64_t *)seen_of(row, s);
}

static bool flag_of(const struct cs_setting *row, const struct cs_settings *s)
{
    return *(const bool *)seen_of(row, s);
}

/* --- what is wanted --- */

static void print_time(uint64_t ms, struct cs_buf *out)
{
    for (size_t i = 0; i < CS_COUNT(times); i++) {
        uint64_t by = times[i].factor;
        /* 24h is what people say, 1d is not. */
        if (*times[i].name && ms % by == 0 && (ms > DAY || by < DAY) && (ms || by == SECOND)) {
            cs_buf_printf(out, "%" PRIu64 "%s", ms / by, times[i].name);
            return;
        }
    }
}

static void print_size(uint64_t bytes, struct cs_buf *out)
{
    size_t i = 0;
    while (sizes[i].factor > 1 && (!bytes || bytes % sizes[i].factor != 0))
        i++;
    cs_buf_printf(out, "%" PRIu64 "%s", bytes / sizes[i].factor, sizes[i].name);
}

static void print_number(char kind, uint64_t number, struct cs_buf *out)
{
    if (kind == 'D')
        print_time(number, out);
    else if (kind == 'B')
        print_size(number, out);
    else
        cs_buf_printf(out, "%" PRIu64, number);
}

void cs_setting_wanted(const struct cs_setting *row, struct cs_buf *out)
{
    static const struct {
        char kind;
        const char *text;
    } texts[] = {{'T', "a text"},         {'L', "a list of texts"},
                 {'N', "a whole number"}, {'B', "a number of bytes"},
                 {'D', "a time"},         {'F', "true or false"},
                 {'C', "one of "}};
    for (size_t i = 0; i < CS_COUNT(texts); i++)
        if (texts[i].kind == row->kind)
            cs_buf_puts(out, texts[i].text);
    for (const char *c = row->words; *c; c++)
        cs_buf_puts(out, *c == ' ' ? ", " : (char[]){*c, '\0'});
    if (!strchr("NBD", row->kind))
        return;
    cs_buf_puts(out, " from ");
    print_number(row->kind, row->least, out);
    cs_buf_puts(out, " to ");
    print_number(row->kind, row->most, out);
}

static int wrong(const struct cs_setting *row, const char *quote, struct cs_str found,
                 struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf wanted = {0};
    bool cut = found.len > SHOWN;
    found.len = cut ? SHOWN : found.len;
    cs_setting_wanted(row, &wanted);
    if (row->kind == 'B')
        cs_buf_puts(&wanted, " (like 512K or 1M)");
    if (row->kind == 'D')
        cs_buf_puts(&wanted, " (like 500ms, 30s, 5m or 24h)");
    return cs_fail(err, CS_INVALID, "wants %s, but there is %s%.*s%s%s", cs_buf_cstr(&wanted),
                   quote, CS_STR_ARG(found), cut ? "..." : "", quote);
}

/* A list or an object is named, not shown: it may have lines, and secrets. */
static int wrong_json(const struct cs_setting *row, struct cs_json_val v, struct cs_err *err)
{
    enum cs_json_type type = cs_json_type(v);
    struct cs_str shown = type == CS_JSON_ARRAY    ? CS_STR("a list")
                          : type == CS_JSON_OBJECT ? CS_STR("an object")
                                                   : cs_json_raw(v);
    return wrong(row, "", shown, err);
}

/* --- reading --- */

static bool set_number(const struct cs_setting *row, uint64_t number, struct cs_settings *into)
{
    if (number < row->least || number > row->most)
        return false;
    *(uint64_t *)field_of(row, into) = number;
    return true;
}

static bool scaled(const char *text, const struct unit *units, size_t count, uint64_t *out)
{
    size_t digits = strspn(text, "0123456789.");
    if (!digits || digits > 20)
        return false;
    char *end;
    double number = strtod(text, &end);
    if (end != text + digits)
        return false;
    for (size_t i = 0; i < count; i++) {
        double product = number * (double)units[i].factor;
        if (strcasecmp(end, units[i].name) != 0 || product > EXACT)
            continue;
        *out = (uint64_t)product;
        return true;
    }
    return false;
}

static bool parse_number(char kind, const char *text, uint64_t *out)
{
    if (kind == 'B')
        return scaled(text, sizes, CS_COUNT(sizes), out);
    if (kind == 'D')
        return scaled(text, times, CS_COUNT(times), out);
    size_t digits = strspn(text, "0123456789");
    if (!digits || text[digits] || digits > 19)
        return false;
    *out = strtoull(text, NULL, 10);
    return true;
}

static bool parse_flag(const char *text, bool *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (size_t i = 0; i < CS_COUNT(words); i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *out = i % 2;
            return true;
        }
    }
    return false;
}

/* What other programs call the same levels. */
static const char *usual(const char *word)
{
    static const char *const same[][2] = {
        {"warning", "warn"}, {"critical", "error"}, {"fatal", "error"}, {"trace", "debug"}};
    for (size_t i = 0; i < CS_COUNT(same); i++)
        if (strcasecmp(word, same[i][0]) == 0)
            return same[i][1];
    return word;
}

static int set_word(const struct cs_setting *row, const char *text, struct cs_settings *into,
                    struct cs_err *err)
{
    const char *names[WORDS];
    size_t count = 0;
    const char *word = usual(text);
    for (const char *at = row->words; *at && count < WORDS; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        names[count++] = cs_arena_dup(&into->arena, cs_strn(at, len)).at;
        if (strcasecmp(names[count - 1], word) == 0) {
            *(const char **)field_of(row, into) = names[count - 1];
            return 0;
        }
        at += len;
    }
    wrong(row, "'", cs_str(text), err);
    const char *near = cs_nearest(text, names, count);
    size_t used = err ? strlen(err->msg) : 0;
    if (near && err)
        snprintf(err->msg + used, sizeof err->msg - used, "; did you mean '%s'?", near);
    return -1;
}

/* Nothing that ends up in a header, a path or a line of the log has a control character. */
static int set_text(struct cs_str text, struct cs_arena *arena, const char **out,
                    struct cs_err *err)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.at[i] < ' ' || text.at[i] == 127)
            return cs_fail(err, CS_INVALID, "there is a control character in it");
    *out = cs_arena_dup(arena, text).at;
    return 0;
}

/* Items are parted by commas or spaces. */
static int split(const char *text, struct cs_arena *arena, const char ***out, struct cs_err *err)
{
    const char **list = NULL;
    size_t count = 0, most = 1;
    for (const char *c = text; *c; c++)
        most += *c == ',' || *c == ' ';
    list = cs_arena_alloc(arena, (most + 1) * sizeof *list);
    for (text += strspn(text, ", "); *text; text += strspn(text, ", ")) {
        size_t len = strcspn(text, ", ");
        if (set_text(cs_strn(text, len), arena, &list[count++], err) < 0)
            return -1;
        text += len;
    }
    *out = list;
    return 0;
}

int cs_setting_parse(const struct cs_setting *row, const char *text, struct cs_settings *into,
                     struct cs_err *err)
{
    void *field = field_of(row, into);
    uint64_t number;
    switch (row->kind) {
    case 'T':
        return set_text(cs_str(text), &into->arena, field, err);
    case 'L':
        return split(text, &into->arena, field, err);
    case 'C':
        return set_word(row, text, into, err);
    case 'F':
        return parse_flag(text, field) ? 0 : wrong(row, "'", cs_str(text), err);
    default:
        if (parse_number(row->kind, text, &number) && set_number(row, number, into))
            return 0;
        return wrong(row, "'", cs_str(text), err);
    }
}

static int take_list(const struct cs_setting *row, struct cs_json_val v, struct cs_settings *into,
                     struct cs_err *err)
{
    uint32_t count = cs_json_count(v);
    if (count > LIST_MOST)
        return cs_fail(err, CS_INVALID, "has more than %d items", LIST_MOST);
    const char **list = cs_arena_alloc(&into->arena, (count + 1) * sizeof *list);
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    for (size_t i = 0; cs_json_next(v, &it, NULL, &item); i++) {
        if (cs_json_type(item) != CS_JSON_STRING)
            return wrong_json(row, item, err);
        if (set_text(cs_json_str(item, &into->arena), &into->arena, &list[i], err) < 0)
            return cs_wrap(err, "item %zu", i + 1);
    }
    *(const char ***)field_of(row, into) = list;
    return 0;
}

/* A number in JSON is what it is in a text: of bytes, or of seconds. */
static int take_number(const struct cs_setting *row, struct cs_json_val v, struct cs_settings *into,
                       struct cs_err *err)
{
    int64_t whole;
    double number;
    if (row->kind == 'D' && cs_json_f64(v, &number) && number >= 0 && number * SECOND < EXACT &&
        set_number(row, (uint64_t)(number * SECOND), into))
        return 0;
    if (row->kind != 'D' && cs_json_i64(v, &whole) && whole >= 0 &&
        set_number(row, (uint64_t)whole, into))
        return 0;
    return wrong_json(row, v, err);
}

int cs_setting_take(const struct cs_setting *row, struct cs_json_val v, struct cs_settings *into,
                    struct cs_err *err)
{
    static const char *const kinds[] = {
        /* what may be written as a text, a number, a list, true or false */
        [CS_JSON_STRING] = "TCBD", [CS_JSON_NUMBER] = "NBD", [CS_JSON_ARRAY] = "L",
        [CS_JSON_TRUE] = "F",      [CS_JSON_FALSE] = "F",    [CS_JSON_OBJECT] = NULL,
    };
    enum cs_json_type type = cs_json_type(v);
    if (!kinds[type] || !strchr(kinds[type], row->kind))
        return wrong_json(row, v, err);
    if (type == CS_JSON_ARRAY)
        return take_list(row, v, into, err);
    if (type == CS_JSON_NUMBER)
        return take_number(row, v, into, err);
    if (type != CS_JSON_STRING) {
        cs_json_bool(v, field_of(row, into));
        return 0;
    }
    struct cs_str text = cs_json_str(v, &into->arena);
    const char *copy = NULL;
    if (set_text(text, &into->arena, &copy, err) < 0)
        return -1;
    return cs_setting_parse(row, copy, into, err);
}

/* --- printing --- */

/* "redis://user:secret@host" -> "redis://user:***@host" */
static void print_masked(const char *text, struct cs_buf *out)
{
    const char *slashes = strstr(text, "://");
    const char *from = slashes ? slashes + 3 : text;
    size_t authority = strcspn(from, "/?#");
    const char *at = slashes ? memrchr(from, '@', authority) : NULL;
    if (!at) {
        cs_buf_puts(out, text);
        return;
    }
    const char *colon = memchr(from, ':', (size_t)(at - from));
    cs_buf_put(out, text, (size_t)((colon ? colon + 1 : from) - text));
    cs_buf_puts(out, "***");
    cs_buf_puts(out, at);
}

/* Whoever knows the path of a webhook may use it. */
static void print_webhook(const char *text, struct cs_buf *out)
{
    const char *slashes = strstr(text, "://");
    size_t shown = slashes ? (size_t)(slashes - text) + 3 + strcspn(slashes + 3, "/?#") : 0;
    CS_AUTO_BUF struct cs_buf origin = {0};
    cs_buf_put(&origin, text, shown);
    print_masked(cs_buf_cstr(&origin), out);
    cs_buf_puts(out, text[shown] ? "/***" : "");
}

void cs_setting_print(const struct cs_setting *row, const struct cs_settings *s, struct cs_buf *out)
{
    const char *const *list;
    if (strcmp(row->name, "alerts.webhook") == 0) {
        print_webhook(text_of(row, s), out);
        return;
    }
    switch (row->kind) {
    case 'T':
    case 'C':
        print_masked(text_of(row, s), out);
        return;
    case 'L':
        list = list_of(row, s);
        for (size_t i = 0; list[i]; i++)
            cs_buf_printf(out, "%s%s", i ? ", " : "", list[i]);
        return;
    case 'F':
        cs_buf_puts(out, flag_of(row, s) ? "true" : "false");
        return;
    default:
        print_number(row->kind, number_of(row, s), out);
    }
}

void cs_setting_put(const struct cs_setting *row, const struct cs_settings *s,
                    struct cs_json_writer *w)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    if (row->kind == 'F') {
        cs_json_put_bool(w, flag_of(row, s));
    } else if (row->kind == 'N') {
        cs_json_put_u64(w, number_of(row, s));
    } else if (row->kind == 'L') {
        cs_json_open(w, '[');
        for (const char *const *at = list_of(row, s); *at; at++)
            cs_json_put_z(w, *at);
        cs_json_close(w, ']');
    } else {
        cs_setting_print(row, s, &text);
        cs_json_put_str(w, cs_buf_str(&text));
    }
}

/* --- two of them --- */

static bool same_list(const char *const *a, const char *const *b)
{
    for (; *a && *b; a++, b++)
        if (strcmp(*a, *b) != 0)
            return false;
    return !*a && !*b;
}

bool cs_setting_equal(const struct cs_setting *row, const struct cs_settings *a,
                      const struct cs_settings *b)
{
    switch (row->kind) {
    case 'T':
    case 'C':
        return strcmp(text_of(row, a), text_of(row, b)) == 0;
    case 'L':
        return same_list(list_of(row, a), list_of(row, b));
    case 'F':
        return flag_of(row, a) == flag_of(row, b);
    default:
        return number_of(row, a) == number_of(row, b);
    }
}

static const char **copy_list(struct cs_arena *arena, const char *const *from)
{
    size_t count = 0;
    while (from[count])
        count++;
    const char **list = cs_arena_alloc(arena, (count + 1) * sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = cs_arena_dup(arena, cs_str(from[i])).at;
    return list;
}

void cs_setting_copy(const struct cs_setting *row, struct cs_settings *into,
                     const struct cs_settings *from)
{
    void *field = field_of(row, into);
    switch (row->kind) {
    case 'T':
    case 'C':
        *(const char **)field = cs_arena_dup(&into->arena, cs_str(text_of(row, from))).at;
        return;
    case 'L':
        *(const char ***)field = copy_list(&into->arena, list_of(row, from));
        return;
    case 'F':
        *(bool *)field = flag_of(row, from);
        return;
    default:
        *(uint64_t *)field = number_of(row, from);
    }
}

#include "tools/config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/jsonc.h"
#include "base/near.h"
#include "tools/config_doc.h"
#include "tools/expand.h"

#define NAME_MAX_BYTES 64
#define TIMEOUT_MAX_MS 86400000
#define RESULT_MAX     (64u << 20)
#define WARNINGS_MAX   20
#define STRANGE_MAX    1000 /* looking for the nearest name takes its time */

struct reading {
    struct cs_config *config;
    struct cs_expand *expand; /* NULL: values stay as they are written */
    struct cs_server_config *server;
    struct cs_buf warnings;
    unsigned warned, strange; /* keys that we do not know */
    bool ours; /* the file is a caisson.json, so that a key we do not know is nobody's */
    bool disabled, has_type, wants_http;
};

bool cs_server_name_ok(struct cs_str name)
{
    /* Names that a program has already, inside the jail, or that every object has. */
    static const char *const taken[] = {
        "caisson",    "tools",   "inputs", "state",       "console",   "index",
        "globalThis", "process", "Deno",   "constructor", "__proto__", "prototype",
    };
    if (!name.len || name.len > NAME_MAX_BYTES || strchr(".-", name.at[0]))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i], lower = (char)(c | 0x20);
        bool letter = lower >= 'a' && lower <= 'z', digit = c >= '0' && c <= '9';
        if (!c || (!letter && !digit && !strchr("._-", c)))
            return false;
    }
    for (size_t i = 0; i < CS_COUNT(taken); i++)
        if (cs_str_is(name, taken[i]))
            return false;
    return true;
}

/* --- values --- */

static int wrong(struct cs_json_val v, const char *wanted, struct cs_err *err)
{
    static const char *const names[] = {
        [CS_JSON_NONE] = "nothing", [CS_JSON_NULL] = "null",        [CS_JSON_FALSE] = "false",
        [CS_JSON_TRUE] = "true",    [CS_JSON_NUMBER] = "a number",  [CS_JSON_STRING] = "a text",
        [CS_JSON_ARRAY] = "a list", [CS_JSON_OBJECT] = "an object",
    };
    return cs_fail(err, CS_INVALID, "wants %s, but there is %s", wanted, names[cs_json_type(v)]);
}

static int expanded(struct reading *r, struct cs_str text, const char **out, struct cs_err *err)
{
    if (r->expand)
        return cs_expand(r->expand, text, out, err);
    if (text.len && memchr(text.at, 0, text.len))
        return cs_fail(err, CS_INVALID, "a NUL in it");
    *out = cs_arena_dup(&r->config->arena, text).at;
    return 0;
}

static int take_text(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    if (cs_json_type(v) != CS_JSON_STRING)
        return wrong(v, "a text", err);
    return expanded(r, cs_json_str(v, &r->config->arena), field, err);
}

static int take_path(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    const char **path = field;
    if (take_text(r, v, path, err) < 0)
        return -1;
    if (!**path)
        return cs_fail(err, CS_INVALID, "is empty");
    if (r->expand)
        *path = cs_expand_home(&r->config->arena, *path);
    return 0;
}

static int take_list(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    if (cs_json_type(v) != CS_JSON_ARRAY)
        return wrong(v, "a list of texts", err);
    const char **list = cs_arena_alloc(&r->config->arena, (cs_json_count(v) + 1) * sizeof *list);
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    for (size_t i = 0; cs_json_next(v, &it, NULL, &item); i++)
        if (take_text(r, item, &list[i], err) < 0)
            return cs_wrap(err, "item %zu", i + 1);
    *(const char ***)field = list;
    return 0;
}

static int take_paths(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    if (take_list(r, v, field, err) < 0)
        return -1;
    for (const char **p = *(const char ***)field; r->expand && *p; p++)
        *p = cs_expand_home(&r->config->arena, *p);
    return 0;
}

/* Numbers are taken as they are written; null is for "not set". */
static int take_pairs(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    if (cs_json_type(v) != CS_JSON_OBJECT)
        return wrong(v, "an object of texts", err);
    struct cs_arena *arena = &r->config->arena;
    struct cs_pair *pairs = cs_arena_alloc(arena, (cs_json_count(v) + 1) * sizeof *pairs);
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    size_t n = 0;
    while (cs_json_next(v, &it, &key, &item)) {
        struct cs_str name = cs_arena_dup(arena, cs_json_str(key, arena));
        enum cs_json_type type = cs_json_type(item);
        if (!name.len || strpbrk(name.at, "=\r\n") || strlen(name.at) != name.len)
            return cs_fail(err, CS_INVALID, "'%.*s' cannot be a name", CS_STR_ARG(name));
        if (type == CS_JSON_NULL)
            continue;
        pairs[n].name = name.at;
        if (type == CS_JSON_NUMBER)
            pairs[n].value = cs_arena_dup(arena, cs_json_raw(item)).at;
        else if (take_text(r, item, &pairs[n].value, err) < 0)
            return cs_wrap(err, "%s", name.at);
        n++;
    }
    *(struct cs_pair **)field = pairs;
    return 0;
}

static int take_headers(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    if (take_pairs(r, v, field, err) < 0)
        return -1;
    for (struct cs_pair *p = *(struct cs_pair **)field; p->name; p++)
        if (strpbrk(p->value, "\r\n") || strpbrk(p->name, ": \t"))
            return cs_fail(err, CS_INVALID, "%s: a header has one line, and no colon in its name",
                           p->name);
    return 0;
}

static int take_bool(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    (void)r;
    return cs_json_bool(v, field) ? 0 : wrong(v, "true or false", err);
}

static int take_number(struct cs_json_val v, int64_t max, int64_t *number, struct cs_err *err)
{
    if (!cs_json_i64(v, number) || *number < 1 || *number > max)
        return cs_fail(err, CS_INVALID, "wants a whole number from 1 to %lld", (long long)max);
    return 0;
}

static int take_timeout_ms(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    int64_t n;
    (void)r;
    if (take_number(v, TIMEOUT_MAX_MS, &n, err) < 0)
        return -1;
    *(uint32_t *)field = (uint32_t)n;
    return 0;
}

/* Other clients mean seconds (up to an hour), or milliseconds. */
static int take_timeout(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    if (take_timeout_ms(r, v, field, err) < 0)
        return -1;
    uint32_t *ms = field;
    if (*ms <= 3600)
        *ms *= 1000;
    return 0;
}

static int take_result(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    int64_t n;
    (void)r;
    if (take_number(v, RESULT_MAX, &n, err) < 0)
        return -1;
    *(uint64_t *)field = (uint64_t)n;
    return 0;
}

static int take_word(struct cs_json_val v, const char *const *words, size_t count, int *index,
                     struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    if (cs_json_type(v) != CS_JSON_STRING)
        return wrong(v, "a text", err);
    for (size_t i = 0; i < count; i++) {
        if (cs_json_is(v, words[i])) {
            *index = (int)i;
            return 0;
        }
    }
    CS_AUTO_BUF struct cs_buf known = {0};
    for (size_t i = 0; i < count; i++)
        cs_buf_printf(&known, "%s'%s'", i ? ", " : "", words[i]);
    struct cs_str given = cs_json_str(v, &arena);
    return cs_fail(err, CS_INVALID, "'%.*s' is none of %s", (int)(given.len < 40 ? given.len : 40),
                   given.at, cs_buf_cstr(&known));
}

static int take_trust(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    static const char *const words[] = {"low", "normal", "high"};
    int i;
    (void)field;
    if (take_word(v, words, CS_COUNT(words), &i, err) < 0)
        return -1;
    r->server->trust = (enum cs_trust)i;
    return 0;
}

static int take_era(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    static const char *const words[] = {"auto", "modern", "legacy"};
    int i;
    (void)field;
    if (take_word(v, words, CS_COUNT(words), &i, err) < 0)
        return -1;
    r->server->era = (enum cs_era)i;
    return 0;
}

static int take_type(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    static const char *const words[] = {"stdio",          "http", "streamable-http",
                                        "streamableHttp", "sse",  "streamable_http"};
    int i = 0;
    (void)field;
    if (take_word(v, words, CS_COUNT(words), &i, err) < 0)
        return -1;
    r->has_type = true;
    r->wants_http = i > 0;
    return 0;
}

/* A file of NAME=value lines. What the entry itself says in `env` comes on top. */
static int take_env_file(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    struct cs_arena *arena = &r->config->arena;
    const char *path;
    if (take_path(r, v, &path, err) < 0)
        return -1;
    if (!r->expand)
        return 0;
    CS_AUTO_BUF struct cs_buf bytes = {0};
    if (cs_file_read(path, CS_EXPAND_BYTES, &bytes, err) < 0)
        return -1;
    struct cs_str text = cs_buf_str(&bytes);
    if (text.len && memchr(text.at, 0, text.len))
        return cs_fail(err, CS_INVALID, "%s: a NUL in it", path);
    size_t lines = 2;
    for (size_t i = 0; i < text.len; i++)
        lines += text.at[i] == '\n';
    struct cs_pair *pairs = cs_arena_alloc(arena, lines * sizeof *pairs);
    for (size_t n = 0; text.len;) {
        const char *end = memchr(text.at, '\n', text.len);
        struct cs_str line = cs_strn(text.at, end ? (size_t)(end - text.at) : text.len);
        text = cs_strn(line.at + line.len + (end != NULL), text.len - line.len - (end != NULL));
        if (cs_str_starts(line, "export "))
            line = cs_strn(line.at + 7, line.len - 7);
        if (line.len && line.at[line.len - 1] == '\r')
            line.len--;
        const char *equals = line.len ? memchr(line.at, '=', line.len) : NULL;
        if (!equals || equals == line.at || line.at[0] == '#')
            continue;
        struct cs_str value = cs_strn(equals + 1, (size_t)(line.at + line.len - equals - 1));
        if (value.len >= 2 && strchr("\"'", value.at[0]) && value.at[value.len - 1] == value.at[0])
            value = cs_strn(value.at + 1, value.len - 2);
        pairs[n].name = cs_arena_dup(arena, cs_strn(line.at, (size_t)(equals - line.at))).at;
        pairs[n++].value = cs_arena_dup(arena, value).at;
    }
    *(struct cs_pair **)field = pairs;
    return 0;
}

/* --- parts of an entry that are objects themselves --- */

struct row {
    const char *key;
    int (*take)(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err);
    size_t at; /* offset of the field */
};

#define AT(field) offsetof(struct cs_server_config, field)

/* What is said here decides what a server may do, so a word that is not understood is an error. */
static int take_part(struct reading *r, struct cs_json_val v, const struct row *rows, size_t count,
                     struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(v, &it, &key, &item)) {
        size_t i = 0;
        while (i < count && !cs_json_is(key, rows[i].key))
            i++;
        if (i == count) {
            struct cs_str name = cs_json_str(key, &arena);
            CS_AUTO_BUF struct cs_buf known = {0};
            for (size_t k = 0; k < count; k++)
                cs_buf_printf(&known, "%s'%s'", k ? ", " : "", rows[k].key);
            return cs_fail(err, CS_INVALID, "there is no '%.*s' in it, but %s",
                           (int)(name.len < 40 ? name.len : 40), name.at, cs_buf_cstr(&known));
        }
        if (rows[i].take(r, item, (char *)r->server + rows[i].at, err) < 0)
            return cs_wrap(err, "%s", rows[i].key);
    }
    return 0;
}

static int take_tools(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    static const struct row rows[] = {{"allow", take_list, AT(allow)},
                                      {"deny", take_list, AT(deny)}};
    (void)field;
    if (cs_json_type(v) == CS_JSON_ARRAY)
        return take_list(r, v, &r->server->allow, err);
    if (cs_json_type(v) != CS_JSON_OBJECT)
        return wrong(v, "{allow, deny}", err);
    return take_part(r, v, rows, CS_COUNT(rows), err);
}

static int take_jail(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    static const struct row rows[] = {{"read", take_paths, AT(jail_read)},
                                      {"write", take_paths, AT(jail_write)},
                                      {"hosts", take_list, AT(jail_hosts)}};
    (void)field;
    if (cs_json_bool(v, &r->server->jail))
        return 0;
    if (cs_json_type(v) != CS_JSON_OBJECT)
        return wrong(v, "true, false or {read, write, hosts}", err);
    r->server->jail = true;
    return take_part(r, v, rows, CS_COUNT(rows), err);
}

static int take_oauth(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    static const struct row rows[] = {
        {"client_id", take_text, AT(client_id)},
        {"clientId", take_text, AT(client_id)},
        {"client_secret", take_text, AT(client_secret)},
        {"clientSecret", take_text, AT(client_secret)},
        {"scopes", take_list, AT(scopes)},
    };
    (void)field;
    if (cs_json_type(v) != CS_JSON_OBJECT)
        return wrong(v, "{client_id, client_secret, scopes}", err);
    return take_part(r, v, rows, CS_COUNT(rows), err);
}

/* A path becomes a URI. */
static int take_roots(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~/!$&'()*+,;=:@";
    if (take_paths(r, v, field, err) < 0)
        return -1;
    for (const char **p = *(const char ***)field; r->expand && *p; p++) {
        if (strncmp(*p, "file://", 7) == 0)
            continue;
        if (**p != '/')
            return cs_fail(err, CS_INVALID, "'%s' is neither a file: URI nor an absolute path", *p);
        CS_AUTO_BUF struct cs_buf uri = {0};
        cs_buf_puts(&uri, "file://");
        for (const char *c = *p; *c; c++) {
            if (strchr(plain, *c))
                cs_buf_putc(&uri, *c);
            else
                cs_buf_printf(&uri, "%%%02X", (unsigned char)*c);
        }
        *p = cs_arena_dup(&r->config->arena, cs_buf_str(&uri)).at;
    }
    return 0;
}

/* --- an entry --- */

static int take_nothing(struct reading *r, struct cs_json_val v, void *field, struct cs_err *err)
{
    (void)r, (void)v, (void)field, (void)err;
    return 0;
}

/* `envFile` comes before `env`. Below `enabled` are words of other clients. */
static const struct row entry_rows[] = {
    {"command", take_path, AT(command)},
    {"args", take_list, AT(args)},
    {"env", take_pairs, AT(env)},
    {"cwd", take_path, AT(cwd)},
    {"type", take_type, 0},
    {"url", take_text, AT(url)},
    {"headers", take_headers, AT(headers)},
    {"timeout_ms", take_timeout_ms, AT(timeout_ms)},
    {"max_result_bytes", take_result, AT(max_result_bytes)},
    {"trust", take_trust, 0},
    {"era", take_era, 0},
    {"tools", take_tools, 0},
    {"roots", take_roots, AT(roots)},
    {"jail", take_jail, 0},
    {"oauth", take_oauth, 0},
    {"enabled", take_bool, AT(enabled)},
    {"disabled", take_nothing, 0},
    {"envFile", take_nothing, 0},
    {"timeout", take_timeout, AT(timeout_ms)},
    {"transport", take_type, 0},
    {"transportType", take_type, 0},
    {"serverUrl", take_text, AT(url)},
    {"httpUrl", take_text, AT(url)},
    {"includeTools", take_list, AT(allow)},
    {"enabled_tools", take_list, AT(allow)},
    {"excludeTools", take_list, AT(deny)},
    {"disabledTools", take_list, AT(deny)},
    {"disabled_tools", take_list, AT(deny)},
};

/* What other clients keep in an entry for themselves. */
static const char *const foreign[] = {
    "alwaysAllow", "autoApprove", "autoStart", "description", "name",   "gallery",
    "version",     "dev",         "iconUrl",   "note",        "source", "metadata",
};

static const struct row *find_row(struct cs_json_val key)
{
    for (size_t i = 0; i < CS_COUNT(entry_rows); i++)
        if (cs_json_is(key, entry_rows[i].key))
            return &entry_rows[i];
    return NULL;
}

static void warn(struct reading *r, const char *what, struct cs_str key, const char *near)
{
    if (r->warned++ >= WARNINGS_MAX)
        return;
    cs_buf_printf(&r->warnings, "%s: '%.*s' is not understood", what,
                  (int)(key.len < 60 ? key.len : 60), key.at);
    if (near)
        cs_buf_printf(&r->warnings, "; did you mean '%s'?", near);
    cs_buf_putc(&r->warnings, '\n');
}

static void warn_of_key(struct reading *r, struct cs_json_val key)
{
    const char *names[CS_COUNT(entry_rows)];
    CS_AUTO_ARENA struct cs_arena arena = {0};
    if (r->warned >= WARNINGS_MAX || r->strange++ >= STRANGE_MAX)
        return;
    struct cs_str name = cs_arena_dup(&arena, cs_json_str(key, &arena));
    for (size_t i = 0; i < CS_COUNT(foreign); i++)
        if (cs_str_is(name, foreign[i]))
            return;
    for (size_t i = 0; i < CS_COUNT(entry_rows); i++)
        names[i] = entry_rows[i].key;
    const char *near = cs_nearest(name.at, names, CS_COUNT(names));
    if (near || r->ours)
        warn(r, cs_arena_printf(&arena, "server '%s'", r->server->name), name, near);
}

static int take_keys(struct reading *r, struct cs_json_val entry, struct cs_err *err)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    struct cs_pair *from_file = NULL;
    struct cs_json_val env_file = cs_json_get(entry, "envFile");
    if (cs_json_type(env_file) != CS_JSON_NONE && take_env_file(r, env_file, &from_file, err) < 0)
        return cs_wrap(err, "envFile");
    while (cs_json_next(entry, &it, &key, &item)) {
        const struct row *row = find_row(key);
        if (!row)
            warn_of_key(r, key);
        else if (row->take(r, item, (char *)r->server + row->at, err) < 0)
            return cs_wrap(err, "%s", row->key);
    }
    if (!from_file)
        return 0;
    size_t a = 0, b = 0;
    while (from_file[a].name)
        a++;
    while (r->server->env && r->server->env[b].name)
        b++;
    struct cs_pair *both = cs_arena_alloc(&r->config->arena, (a + b + 1) * sizeof *both);
    memcpy(both, from_file, a * sizeof *both);
    if (b)
        memcpy(both + a, r->server->env, b * sizeof *both);
    r->server->env = both;
    return 0;
}

/* Do the parts fit together? */
static int settle(struct reading *r, struct cs_err *err)
{
    struct cs_server_config *s = r->server;
    s->is_http = r->has_type ? r->wants_http : s->url && !s->command;
    if (s->command && s->url)
        return cs_fail(err, CS_INVALID, "has both 'command' and 'url': one of them");
    if (!s->command && !s->url)
        return cs_fail(err, CS_INVALID, "has neither 'command' nor 'url'");
    if (s->is_http != (s->url != NULL))
        return cs_fail(err, CS_INVALID, "its 'type' does not fit its '%s'",
                       s->url ? "url" : "command");
    if (s->url && r->expand && strncmp(s->url, "http://", 7) != 0 &&
        strncmp(s->url, "https://", 8) != 0)
        return cs_fail(err, CS_INVALID, "url: must start with http:// or https://");
    if (s->is_http && s->jail)
        return cs_fail(err, CS_INVALID, "jail: is for servers with a 'command'");
    return 0;
}

static int take_entry(struct reading *r, struct cs_json_val entry, struct cs_err *err)
{
    if (!cs_server_name_ok(cs_str(r->server->name)))
        return cs_fail(err, CS_INVALID,
                       "a server's name has letters, digits, '.', '_' and '-', at most %d, and is "
                       "none that programs have already (caisson, tools, inputs ...): rename it",
                       NAME_MAX_BYTES);
    if (cs_json_type(entry) != CS_JSON_OBJECT)
        return wrong(entry, "an object", err);
    struct cs_json_val disabled = cs_json_get(entry, "disabled"),
                       enabled = cs_json_get(entry, "enabled");
    bool off = false;
    if (cs_json_type(disabled) != CS_JSON_NONE && !cs_json_bool(disabled, &off)) {
        wrong(disabled, "true or false", err);
        return cs_wrap(err, "disabled");
    }
    if (cs_json_type(enabled) == CS_JSON_FALSE || off)
        r->expand = NULL; /* nothing is asked of the world for a server that is off */
    if (take_keys(r, entry, err) < 0)
        return -1;
    if (off)
        r->server->enabled = false;
    return settle(r, err);
}

/* --- did it change? --- */

static void mix(uint64_t *hash, const void *bytes, size_t n)
{
    for (const unsigned char *p = bytes; n--; p++)
        *hash = (*hash ^ *p) * 0x100000001b3u;
}

static void mix_text(uint64_t *hash, const char *text)
{
    mix(hash, text ? "+" : "-", 1);
    if (text)
        mix(hash, text, strlen(text) + 1);
}

static void mix_list(uint64_t *hash, const char *const *list)
{
    for (; list && *list; list++)
        mix_text(hash, *list);
    mix(hash, "|", 1);
}

static void mix_pairs(uint64_t *hash, const struct cs_pair *pair)
{
    for (; pair && pair->name; pair++) {
        mix_text(hash, pair->name);
        mix_text(hash, pair->value);
    }
    mix(hash, "|", 1);
}

static uint64_t hash_of(const struct cs_server_config *s)
{
    uint64_t hash = 0xcbf29ce484222325u;
    const uint64_t numbers[] = {
        s->enabled,         s->is_http,       s->timeout_ms, s->max_result_bytes,
        (uint64_t)s->trust, (uint64_t)s->era, s->jail};
    mix(&hash, numbers, sizeof numbers);
    const char *const texts[] = {s->name,
                                 s->command,
                                 s->cwd,
                                 s->url,
                                 s->client_id,
                                 s->client_secret,
                                 s->problem.code ? s->problem.msg : NULL};
    for (size_t i = 0; i < CS_COUNT(texts); i++)
        mix_text(&hash, texts[i]);
    const char **const lists[] = {s->args,      s->allow,      s->deny,       s->roots,
                                  s->jail_read, s->jail_write, s->jail_hosts, s->scopes};
    for (size_t i = 0; i < CS_COUNT(lists); i++)
        mix_list(&hash, lists[i]);
    mix_pairs(&hash, s->env);
    mix_pairs(&hash, s->headers);
    return hash;
}

/* Nobody downstream has to ask whether there is a list. */
static void fill_lists(struct cs_server_config *s)
{
    static const char *none[1];
    static struct cs_pair no_pair[1];
    const char ***lists[] = {&s->args,      &s->allow,      &s->deny,       &s->roots,
                             &s->jail_read, &s->jail_write, &s->jail_hosts, &s->scopes};
    for (size_t i = 0; i < CS_COUNT(lists); i++)
        if (!*lists[i])
            *lists[i] = none;
    if (!s->env)
        s->env = no_pair;
    if (!s->headers)
        s->headers = no_pair;
}

/* --- a file --- */

static struct cs_server_config *slot(struct cs_config *config, const char *name, size_t from)
{
    struct cs_server_config *s = NULL;
    for (size_t i = 0; i < config->count && !s; i++)
        if (strcmp(config->servers[i].name, name) == 0)
            s = &config->servers[i];
    bool twice = s && (size_t)(s - config->servers) >= from;
    if (!s)
        s = &config->servers[config->count++];
    *s = (struct cs_server_config){.name = name,
                                   .enabled = true,
                                   .timeout_ms = CS_CALL_TIMEOUT_MS,
                                   .max_result_bytes = CS_CALL_RESULT_MAX,
                                   .trust = CS_TRUST_NORMAL};
    if (twice)
        cs_fail(&s->problem, CS_INVALID, "is there twice: keep one of the two");
    return s;
}

/* A name that cannot be used is still shown, and is nobody's path. */
static const char *shown_name(struct cs_arena *arena, struct cs_str name)
{
    if (name.len > NAME_MAX_BYTES + 1)
        name.len = NAME_MAX_BYTES + 1;
    char *copy = (char *)cs_arena_dup(arena, name).at;
    for (size_t i = 0; i < name.len; i++)
        if (!copy[i] || copy[i] == '/' || (copy[i] == '.' && i == 0))
            copy[i] = '?';
    return copy;
}

static void take_place(struct reading *r, struct cs_json_val place)
{
    struct cs_arena *arena = &r->config->arena;
    struct cs_expand *expand = r->expand;
    struct cs_json_iter it = {0};
    struct cs_json_val key, entry;
    size_t from = r->config->count;
    while (cs_json_next(place, &it, &key, &entry)) {
        const char *copy = shown_name(arena, cs_json_str(key, arena));
        r->server = slot(r->config, copy, from);
        r->expand = expand;
        r->has_type = r->wants_http = false;
        struct cs_server_config *s = r->server;
        struct cs_err *problem = &s->problem;
        if (problem->code || take_entry(r, entry, problem) < 0)
            cs_wrap(problem, "server '%.80s'", s->name);
        fill_lists(s);
        s->hash = hash_of(s);
        if (s->command && cs_is_self(s->command, s->args)) {
            struct cs_server_config *end = r->config->servers + --r->config->count;
            memmove(s, s + 1, (size_t)(end - s) * sizeof *s);
        }
    }
    r->expand = expand;
}

static void warn_of_section(struct reading *r, struct cs_json_val root)
{
    static const char *const names[] = {"mcpServers"};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(root, &it, &key, &item)) {
        struct cs_str name = cs_json_str(key, &arena);
        if (name.len < 20 && !cs_str_is(name, names[0]) && cs_json_type(item) == CS_JSON_OBJECT &&
            cs_nearest(cs_arena_dup(&arena, name).at, names, 1))
            warn(r, "the file", name, names[0]);
    }
}

/* The folder that belongs to the file: its own, or the one that an editor's folder is in. A file of
 * the user's own says nothing about a folder, so there it is the current one. */
static const char *folder_of(struct cs_arena *arena, const char *path)
{
    char real[PATH_MAX], here[PATH_MAX];
    const char *home = getenv("HOME");
    if (!getcwd(here, sizeof here))
        snprintf(here, sizeof here, "/");
    const char *folder = cs_arena_dup(arena, cs_str(here)).at;
    if (!realpath(path, real))
        return folder;
    char *slash = strrchr(real, '/');
    bool project = strcmp(slash + 1, ".mcp.json") == 0;
    *slash = '\0';
    char *above = strrchr(real, '/');
    if (above && (strcmp(above + 1, ".vscode") == 0 || strcmp(above + 1, ".cursor") == 0)) {
        *above = '\0';
        project = !home || strcmp(real, home) != 0;
    }
    return project ? cs_arena_dup(arena, cs_str(real[0] ? real : "/")).at : folder;
}

static int read_config(const char *path, bool peek, struct cs_config *config, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf bytes = {0};
    CS_AUTO_JSONC struct cs_jsonc doc = {0};
    struct cs_places places;
    if (cs_file_read(path, CS_CONFIG_BYTES, &bytes, err) < 0)
        return -1;
    if (cs_jsonc_parse(cs_buf_str(&bytes), &doc, err) < 0 ||
        cs_places_find(cs_json_root(&doc.doc), &places, err) < 0)
        return cs_wrap(err, "%s", path);
    size_t most = 0;
    for (size_t i = 0; i < places.count; i++)
        most += cs_json_count(places.at[i]);
    if (most > CS_CONFIG_SERVERS)
        return cs_fail(err, CS_LIMIT, "%s: more than %u servers", path, CS_CONFIG_SERVERS);

    *config = (struct cs_config){0};
    config->path = cs_arena_dup(&config->arena, cs_str(path)).at;
    config->servers = cs_arena_alloc(&config->arena, (most + 1) * sizeof *config->servers);
    struct cs_expand expand = {.arena = &config->arena, .folder = folder_of(&config->arena, path)};
    const char *slash = strrchr(path, '/');
    struct reading r = {.config = config,
                        .expand = peek ? NULL : &expand,
                        .ours = strcmp(slash ? slash + 1 : path, "caisson.json") == 0};
    warn_of_section(&r, cs_json_root(&doc.doc));
    for (size_t i = 0; i < places.count; i++)
        take_place(&r, places.at[i]);
    if (r.warned > WARNINGS_MAX)
        cs_buf_puts(&r.warnings, "... and more\n");
    config->warnings = cs_arena_dup(&config->arena, cs_buf_str(&r.warnings)).at;
    cs_buf_done(&r.warnings);
    return 0;
}

int cs_config_load(const char *path, struct cs_config *config, struct cs_err *err)
{
    return read_config(path, false, config, err);
}

int cs_config_peek(const char *path, struct cs_config *config, struct cs_err *err)
{
    return read_config(path, true, config, err);
}

void cs_config_done(struct cs_config *config)
{
    cs_arena_done(&config->arena);
    *config = (struct cs_config){0};
}

const struct cs_server_config *cs_config_find(const struct cs_config *config, struct cs_str name)
{
    for (size_t i = 0; i < config->count; i++)
        if (cs_str_is(name, config->servers[i].name))
            return &config->servers[i];
    return NULL;
}

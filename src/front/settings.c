#include "front/settings.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonc.h"
#include "base/mem.h"
#include "base/near.h"
#include "front/settings_inside.h"

#define OURS          "CAISSON_"
#define OLDER         "CODE_EXEC_"
#define WARNINGS_MOST 20

#define RANGE_T(least_, most_)  .words = ""
#define RANGE_L(least_, most_)  .words = ""
#define RANGE_F(least_, most_)  .words = ""
#define RANGE_N(least_, most_)  .words = "", .least = (least_), .most = (most_)
#define RANGE_B                 RANGE_N
#define RANGE_D                 RANGE_N
#define RANGE_C(least_, words_) .words = (words_)

const struct cs_setting cs_setting_rows[CS_SETTING_COUNT] = {
#define X(kind_, field_, name_, def_, least_, most_, older_, live_, help_) \
    {.kind = #kind_[0],                                                    \
     .live = (live_),                                                      \
     .name = (name_),                                                      \
     .def = (def_),                                                        \
     .older = (older_),                                                    \
     .help = (help_),                                                      \
     .at = offsetof(struct cs_settings, field_),                           \
     RANGE_##kind_(least_, most_)},
    CS_SETTINGS(X)
#undef X
};

/* Variables that are not of settings. */
static const char *const others[] = {
    "CAISSON_DATA",         "CAISSON_CONFIG", "CAISSON_POLICY",       "CAISSON_SHARED",
    "CAISSON_BRIDGE",       "CAISSON_INPUTS", "CAISSON_INPUTS_FILE",  "CAISSON_CANARY",
    "CAISSON_NO_HUGE_TEXT", "CAISSON_BUILD",  "CAISSON_SCHEMA_SUITE", "CAISSON_PRIVACY_KEY",
};

static const struct {
    const char *name, *flag, *variable;
} shorts[] = {
    {"server.host", "host", "CAISSON_HOST"},
    {"server.port", "port", "CAISSON_PORT"},
    {"search.model", NULL, "CAISSON_MODEL"},
};

/* --- names --- */

const struct cs_setting *cs_setting_find(struct cs_str name)
{
    for (size_t i = 0; i < CS_SETTING_COUNT; i++)
        if (cs_str_is(name, cs_setting_rows[i].name))
            return &cs_setting_rows[i];
    return NULL;
}

size_t cs_setting_id(const struct cs_setting *row)
{
    return (size_t)(row - cs_setting_rows);
}

void cs_setting_variable(const char *name, char variable[CS_SETTING_NAME])
{
    int n = snprintf(variable, CS_SETTING_NAME, "%s%s", OURS, name);
    for (int i = 0; i < n && i < CS_SETTING_NAME; i++)
        variable[i] = variable[i] == '.' ? '_' : (char)toupper((unsigned char)variable[i]);
}

static size_t short_of(const struct cs_setting *row)
{
    size_t i = 0;
    while (i < CS_COUNT(shorts) && strcmp(shorts[i].name, row->name) != 0)
        i++;
    return i;
}

const char *cs_setting_short(const struct cs_setting *row)
{
    size_t i = short_of(row);
    return i < CS_COUNT(shorts) ? shorts[i].variable : NULL;
}

const char *cs_setting_short_flag(const struct cs_setting *row)
{
    size_t i = short_of(row);
    return i < CS_COUNT(shorts) ? shorts[i].flag : NULL;
}

/* --- mistakes --- */

void cs_mistake(struct cs_mistakes *m, const char *where, const char *fmt, ...)
{
    char line[1024];
    if (m->count++ >= CS_MISTAKES_MOST)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ') /* a mistake is one line, whatever is in it */
            *c = '?';
    cs_buf_printf(m->text, "%s: %s\n", where, line);
}

/* --- flags --- */

bool cs_settings_flag(const char *name, const char *value, struct cs_setting_flags *flags)
{
    for (size_t i = 0; i < CS_COUNT(shorts); i++)
        if (shorts[i].flag && strcmp(name, shorts[i].flag) == 0)
            name = shorts[i].name;
    if (!cs_setting_find(cs_str(name)))
        return false;
    flags->list = cs_realloc(flags->list, flags->count + 2, sizeof *flags->list);
    flags->list[flags->count++] = (struct cs_setting_flag){name, value};
    flags->list[flags->count] = (struct cs_setting_flag){NULL, NULL};
    return true;
}

void cs_setting_flags_done(struct cs_setting_flags *flags)
{
    free(flags->list);
    *flags = (struct cs_setting_flags){0};
}

static void take_flags(const struct cs_setting_flag *flags, struct cs_settings *s,
                       struct cs_mistakes *m)
{
    for (; flags && flags->name; flags++) {
        const struct cs_setting *row = cs_setting_find(cs_str(flags->name));
        const char *place = cs_arena_printf(&s->arena, "--%s", flags->name);
        struct cs_err err = {0};
        if (!row)
            cs_mistake(m, place, "there is no such setting");
        else if (cs_setting_parse(row, flags->value, s, &err) < 0)
            cs_mistake(m, place, "%s", err.msg);
        else
            s->origin[cs_setting_id(row)] = place;
    }
}

/* --- environment --- */

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static void take_variable(const struct cs_setting *row, struct cs_settings *s,
                          struct cs_mistakes *m)
{
    char whole[CS_SETTING_NAME], older[CS_SETTING_NAME];
    const char *brief = cs_setting_short(row);
    cs_setting_variable(row->name, whole);
    snprintf(older, sizeof older, "%s%s", OLDER, row->older);
    const char *name = variable(whole)                  ? whole
                       : brief && variable(brief)       ? brief
                       : *row->older && variable(older) ? older
                                                        : NULL;
    struct cs_err err = {0};
    if (!name)
        return;
    const char *place = cs_arena_printf(&s->arena, "$%s", name);
    if (cs_setting_parse(row, variable(name), s, &err) < 0)
        cs_mistake(m, place, "%s: %s", row->name, err.msg);
    else
        s->origin[cs_setting_id(row)] = place;
}

/* Every variable that means something to us; how many. */
static size_t known(struct cs_arena *arena, const char *names[4 * CS_SETTING_COUNT])
{
    size_t count = 0;
    for (size_t i = 0; i < CS_SETTING_COUNT; i++) {
        const struct cs_setting *row = &cs_setting_rows[i];
        char whole[CS_SETTING_NAME];
        cs_setting_variable(row->name, whole);
        names[count++] = cs_arena_dup(arena, cs_str(whole)).at;
        if (cs_setting_short(row))
            names[count++] = cs_setting_short(row);
        if (*row->older)
            names[count++] = cs_arena_printf(arena, "%s%s", OLDER, row->older);
    }
    for (size_t i = 0; i < CS_COUNT(others); i++)
        names[count++] = others[i];
    return count;
}

static bool among(const char *word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return false;
}

static void warn_of_variables(struct cs_settings *s)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf said = {0};
    const char *names[4 * CS_SETTING_COUNT];
    size_t count = known(&arena, names), warned = 0;
    for (char **at = environ; *at && warned < WARNINGS_MOST; at++) {
        struct cs_str whole = cs_strn(*at, strcspn(*at, "="));
        bool ours = cs_str_starts(whole, OURS) && !cs_str_starts(whole, OURS "TEST_");
        if (whole.len >= CS_SETTING_NAME || (!ours && !cs_str_starts(whole, OLDER)))
            continue;
        const char *name = cs_arena_dup(&arena, whole).at;
        if (among(name, names, count))
            continue;
        const char *near = cs_nearest(name, names, count);
        cs_buf_printf(&said, "$%s is not understood%s%s%s\n", name, near ? "; did you mean $" : "",
                      near ? near : "", near ? "?" : "");
        warned++;
    }
    s->warnings = cs_arena_dup(&s->arena, cs_buf_str(&said)).at;
}

static void take_defaults(struct cs_settings *s)
{
    for (size_t i = 0; i < CS_SETTING_COUNT; i++) {
        cs_setting_parse(&cs_setting_rows[i], cs_setting_rows[i].def, s, NULL);
        s->origin[i] = "default";
    }
    s->warnings = "";
}

/* --- what one value cannot tell --- */

static bool is_address(const char *text)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

/* As a browser sends it: a scheme, a host, perhaps a port. */
static bool is_origin(const char *text)
{
    const char *slashes = strstr(text, "://");
    return strcmp(text, "*") == 0 ||
           (slashes && slashes != text && slashes[3] && !strchr(slashes + 3, '/'));
}

/* "example.org", "example.org:8443" */
static bool is_host(const char *text)
{
    return !strpbrk(text, "/*");
}

static void check_items(const char **list, bool (*is_good)(const char *text), const char *wanted,
                        enum cs_setting_id id, struct cs_settings *s, struct cs_mistakes *m)
{
    for (; *list; list++)
        if (!is_good(*list))
            cs_mistake(m, s->origin[id], "%s: '%.60s' is not %s", cs_setting_rows[id].name, *list,
                       wanted);
}

/* A list with an item that never matches looks as if it said something. */
static void check_lists(struct cs_settings *s, struct cs_mistakes *m)
{
    check_items(s->server_trust_proxy, is_address, "an address, like 10.0.0.1 or ::1",
                CS_SETTING_ID_server_trust_proxy, s, m);
    check_items(s->server_allowed_origins, is_origin, "an origin, like https://app.example.org",
                CS_SETTING_ID_server_allowed_origins, s, m);
    check_items(s->server_allowed_hosts, is_host, "the name of a host, like app.example.org",
                CS_SETTING_ID_server_allowed_hosts, s, m);
}

static void check_together(struct cs_settings *s, struct cs_mistakes *m)
{
    bool cert = *s->tls_cert, key = *s->tls_key;
    if (cert != key)
        cs_mistake(m, s->origin[cert ? CS_SETTING_ID_tls_cert : CS_SETTING_ID_tls_key],
                   "%s is of no use without %s", cert ? "tls.cert" : "tls.key",
                   cert ? "tls.key" : "tls.cert");
    if (s->log_debug) {
        s->log_level = "debug";
        s->origin[CS_SETTING_ID_log_level] = s->origin[CS_SETTING_ID_log_debug];
    }
}

/* --- all of it --- */

int cs_settings_read(const char *path, const struct cs_setting_flag *flags, bool only_file,
                     struct cs_settings *s, struct cs_buf *mistakes, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_mistakes m = {mistakes, 0};
    struct cs_err missing = {0};
    if (path && cs_file_read(path, CS_JSONC_BYTES, &text, &missing) < 0 &&
        missing.code != CS_MISSING) {
        *err = missing;
        return -1;
    }
    *s = (struct cs_settings){0};
    take_defaults(s);
    if (path && !missing.code)
        cs_settings_take_text(cs_buf_str(&text), path, s, &m);
    for (size_t i = 0; i < CS_SETTING_COUNT && !only_file; i++)
        take_variable(&cs_setting_rows[i], s, &m);
    if (!only_file) {
        take_flags(flags, s, &m);
        warn_of_variables(s);
    }
    check_lists(s, &m);
    check_together(s, &m);
    if (!m.count)
        return 0;
    if (m.count > CS_MISTAKES_MOST)
        cs_buf_printf(mistakes, "... and %zu more\n", m.count - CS_MISTAKES_MOST);
    cs_settings_done(s);
    return cs_fail(err, CS_INVALID, "%zu mistake%s in the settings", m.count,
                   m.count == 1 ? "" : "s");
}

int cs_settings_load(const char *path, const struct cs_setting_flag *flags,
                     struct cs_settings *settings, struct cs_err *err)
{
    static const char more[] = "... 'caisson config check' tells the rest";
    CS_AUTO_BUF struct cs_buf mistakes = {0};
    if (cs_settings_read(path, flags, false, settings, &mistakes, err) == 0)
        return 0;
    if (!mistakes.len)
        return -1;
    struct cs_str text = cs_buf_str(&mistakes);
    text.len--; /* the last line end */
    if (text.len < sizeof err->msg)
        return cs_fail(err, CS_INVALID, "%.*s", CS_STR_ARG(text));
    /* As many lines as fit. */
    text.len = sizeof err->msg - sizeof more;
    const char *end = memrchr(text.at, '\n', text.len);
    text.len = end ? (size_t)(end + 1 - text.at) : text.len;
    return cs_fail(err, CS_INVALID, "%.*s%s", CS_STR_ARG(text), more);
}

void cs_settings_done(struct cs_settings *settings)
{
    cs_arena_done(&settings->arena);
    *settings = (struct cs_settings){0};
}

/* --- a reload --- */

static void print_shown(const struct cs_setting *row, const struct cs_settings *s,
                        struct cs_buf *out)
{
    size_t before = out->len;
    cs_setting_print(row, s, out);
    if (out->len == before)
        cs_buf_puts(out, "(none)");
}

void cs_settings_compare(const struct cs_settings *old, const struct cs_settings *now,
                         struct cs_buf *said)
{
    for (size_t i = 0; i < CS_SETTING_COUNT; i++) {
        const struct cs_setting *row = &cs_setting_rows[i];
        if (cs_setting_equal(row, old, now))
            continue;
        cs_buf_printf(said, "%s: ", row->name);
        print_shown(row, old, said);
        cs_buf_puts(said, " -> ");
        print_shown(row, now, said);
        cs_buf_puts(said, row->live ? "\n" : " (takes effect after a restart)\n");
    }
}

void cs_settings_adopt(struct cs_settings *into, const struct cs_settings *now)
{
    for (size_t i = 0; i < CS_SETTING_COUNT; i++) {
        const struct cs_setting *row = &cs_setting_rows[i];
        if (!row->live)
            continue;
        if (!cs_setting_equal(row, into, now))
            cs_setting_copy(row, into, now);
        if (strcmp(into->origin[i], now->origin[i]) != 0)
            into->origin[i] = cs_arena_dup(&into->arena, cs_str(now->origin[i])).at;
    }
    if (strcmp(into->warnings, now->warnings) != 0)
        into->warnings = cs_arena_dup(&into->arena, cs_str(now->warnings)).at;
}

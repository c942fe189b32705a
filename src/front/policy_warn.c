/* What a policy that can be read probably does not mean. */
#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "front/policy_verb.h"
#include "tools/config.h"

#define SERVERS_MOST 256
#define LINES_MOST   50u
#define COVER_MOST   300u  /* rules that are compared with each other */
#define TOOLS_MOST   1000u /* of one server, that a misspelt one is compared with */

struct warning {
    struct cs_arena arena;
    const char *servers[SERVERS_MOST];
    size_t server_count;
    const struct cs_catalogue *catalogue; /* NULL: nothing is known of tools */
    struct cs_buf *lines;
    size_t said;
};

static void warn(struct warning *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void warn(struct warning *w, const char *fmt, ...)
{
    char line[600];
    if (w->said++ >= LINES_MOST)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = '?';
    cs_buf_printf(w->lines, "%s\n", line);
}

/* --- patterns --- */

/* my-server, my_server and myServer are one. */
static bool same_name(struct cs_str a, const char *b)
{
    size_t i = 0;
    for (;; b++) {
        while (*b == '-' || *b == '_')
            b++;
        while (i < a.len && (a.at[i] == '-' || a.at[i] == '_'))
            i++;
        if (i == a.len || !*b)
            return i == a.len && !*b;
        if ((a.at[i++] | 0x20) != (*b | 0x20))
            return false;
    }
}

/* Of a server whose tools are known; a pattern with a star may be meant for those to come. */
static void check_tool(struct warning *w, const char *where, struct cs_str server,
                       struct cs_str tool)
{
    const char *names[TOOLS_MOST], *word = cs_arena_dup(&w->arena, tool).at;
    size_t count = 0;
    for (size_t i = 0; i < cs_catalogue_count(w->catalogue); i++) {
        const struct cs_tool *t = cs_catalogue_at(w->catalogue, i);
        if (!cs_str_eq(t->server, server))
            continue;
        if (cs_str_eq(t->name, tool) || cs_str_eq(t->ident, tool))
            return;
        if (count < TOOLS_MOST)
            names[count++] = cs_arena_dup(&w->arena, t->name).at;
    }
    const char *near = cs_nearest(word, names, count);
    warn(w, "%s: '%.*s/%s' matches nothing: the server has no such tool%s%s%s", where,
         CS_STR_ARG(server), word, near ? "; did you mean '" : "", near ? near : "",
         near ? "'?" : "");
}

static void check_server(struct warning *w, const char *where, struct cs_str pattern,
                         struct cs_str server)
{
    struct cs_str tool = cs_strn(pattern.at + server.len + 1, pattern.len - server.len - 1);
    for (size_t i = 0; i < w->server_count; i++) {
        struct cs_str name = cs_str(w->servers[i]);
        if (!same_name(server, w->servers[i]))
            continue;
        if (w->catalogue && cs_catalogue_listed(w->catalogue, name) && tool.len &&
            !memchr(tool.at, '*', tool.len))
            check_tool(w, where, name, tool);
        return;
    }
    const char *word = cs_arena_dup(&w->arena, server).at;
    const char *near = cs_nearest(word, w->servers, w->server_count);
    warn(w, "%s: '%.*s' matches nothing: there is no server '%s'%s%s%s", where, CS_STR_ARG(pattern),
         word, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static void check_pattern(struct warning *w, const char *where, struct cs_json_val v)
{
    struct cs_str pattern = cs_json_str(v, &w->arena);
    const char *slash = pattern.len ? memchr(pattern.at, '/', pattern.len) : NULL;
    const char *star = pattern.len ? memchr(pattern.at, '*', pattern.len) : NULL;
    if (!pattern.len)
        return;
    if (!slash && !star)
        warn(w, "%s: '%.*s' matches nothing: tools are named server/tool, so write '%.*s/*'", where,
             CS_STR_ARG(pattern), CS_STR_ARG(pattern));
    else if (slash && (!star || star > slash) && w->server_count)
        check_server(w, where, pattern, cs_strn(pattern.at, (size_t)(slash - pattern.at)));
}

static void check_list(struct warning *w, const char *where, struct cs_json_val list)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(list, &it, NULL, &item))
        check_pattern(w, where, item);
}

/* `key` of every item of a list of rules. */
static void check_rules(struct warning *w, const char *name, struct cs_json_val list,
                        const char *key)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    for (size_t i = 0; cs_json_next(list, &it, NULL, &item); i++) {
        char where[60];
        snprintf(where, sizeof where, "%s[%zu].%s", name, i, key);
        check_pattern(w, where, cs_json_get(item, key));
    }
}

/* --- what is never reached --- */

static bool covers(struct warning *w, struct cs_json_val wide, struct cs_json_val narrow)
{
    struct cs_str a = cs_json_str(wide, &w->arena), b = cs_json_str(narrow, &w->arena);
    return !a.len || (b.len && cs_glob(a, b));
}

static void check_denied(struct warning *w, const char *name, struct cs_json_val lists,
                         const char *key)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item, deny;
    while (cs_json_next(cs_json_get(lists, key), &it, NULL, &item)) {
        struct cs_json_iter inner = {0};
        while (cs_json_next(cs_json_get(lists, "deny"), &inner, NULL, &deny))
            if (covers(w, deny, item)) {
                struct cs_str a = cs_json_str(item, &w->arena), b = cs_json_str(deny, &w->arena);
                warn(w, "%s.%s: '%.*s' never counts: '%.*s' denies it", name, key, CS_STR_ARG(a),
                     CS_STR_ARG(b));
            }
    }
}

static void check_labels(struct warning *w, struct cs_json_val labels)
{
    struct cs_json_val keys[COVER_MOST], key, item;
    struct cs_json_iter it = {0};
    size_t count = 0;
    while (count < COVER_MOST && cs_json_next(labels, &it, &key, &item)) {
        check_pattern(w, "labels", key);
        for (size_t i = 0; i < count; i++)
            if (covers(w, keys[i], key)) {
                struct cs_str a = cs_json_str(key, &w->arena), b = cs_json_str(keys[i], &w->arena);
                warn(w, "labels: '%.*s' is never reached: '%.*s' before it matches the same",
                     CS_STR_ARG(a), CS_STR_ARG(b));
                break;
            }
        keys[count++] = key;
    }
}

static unsigned labels_in(struct warning *w, struct cs_json_val v)
{
    unsigned labels = 0;
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    if (cs_json_type(v) == CS_JSON_STRING)
        return cs_label_parse(cs_json_str(v, &w->arena));
    while (cs_json_next(v, &it, NULL, &item))
        labels |= cs_label_parse(cs_json_str(item, &w->arena));
    return labels;
}

/* Does `a` fit whenever `b` does? */
static bool covers_flow(struct warning *w, struct cs_json_val a, struct cs_json_val b)
{
    unsigned from_a = labels_in(w, cs_json_get(a, "from")),
             from_b = labels_in(w, cs_json_get(b, "from"));
    unsigned to_a = labels_in(w, cs_json_get(a, "to")), to_b = labels_in(w, cs_json_get(b, "to"));
    bool back_a = false, back_b = false;
    cs_json_bool(cs_json_get(a, "back"), &back_a);
    cs_json_bool(cs_json_get(b, "back"), &back_b);
    return (from_a & ~from_b) == 0 && (!to_a || (to_b && (to_b & ~to_a) == 0)) &&
           (back_a || !back_b) && covers(w, cs_json_get(a, "tool"), cs_json_get(b, "tool")) &&
           covers(w, cs_json_get(a, "source"), cs_json_get(b, "source")) &&
           covers(w, cs_json_get(a, "principal"), cs_json_get(b, "principal"));
}

static void check_flows(struct warning *w, struct cs_json_val flows)
{
    struct cs_json_val rules[COVER_MOST], item;
    struct cs_json_iter it = {0};
    size_t count = 0;
    check_rules(w, "flows", flows, "tool");
    check_rules(w, "flows", flows, "source");
    while (count < COVER_MOST && cs_json_next(flows, &it, NULL, &item)) {
        for (size_t i = 0; i < count; i++)
            if (covers_flow(w, rules[i], item)) {
                warn(w, "flows[%zu] is never reached: flows[%zu] fits whenever it does", count, i);
                break;
            }
        rules[count++] = item;
    }
}

static void check_approvals(struct warning *w, struct cs_json_val approvals)
{
    struct cs_str secret = cs_json_str(cs_json_get(approvals, "secret"), &w->arena);
    struct cs_str webhook = cs_json_str(cs_json_get(approvals, "webhook"), &w->arena);
    if (webhook.len && !secret.len)
        warn(w, "approvals.webhook: there is no `secret` to sign with, so nothing is sent there");
    if (secret.len && !webhook.len)
        warn(w, "approvals.secret: there is no `webhook` that it could sign anything for");
    if (secret.len && !memmem(secret.at, secret.len, "${", 2))
        warn(w, "approvals.secret: it is in the file for everybody to read; ${env:NAME} or "
                "${command:...} keep it elsewhere");
}

/* --- risk --- */

/* {name} and its like are filled in, in a reason; what else is in braces stays there. */
static void check_braces(struct warning *w, const char *where, struct cs_json_val v, bool reason)
{
    static const char *const known[] = {"name", "count", "tools", "language"};
    struct cs_str rest = cs_json_str(v, &w->arena);
    while (rest.len) {
        const char *open = memchr(rest.at, '{', rest.len);
        if (!open)
            return;
        rest = cs_strn(open + 1, rest.len - (size_t)(open + 1 - rest.at));
        size_t len = 0, i = 0;
        while (len < rest.len && rest.at[len] >= 'a' && rest.at[len] <= 'z')
            len++;
        if (!len || len > 30 || len == rest.len || rest.at[len] != '}')
            continue;
        const char *word = cs_arena_dup(&w->arena, cs_strn(rest.at, len)).at;
        while (i < CS_COUNT(known) && strcmp(known[i], word) != 0)
            i++;
        const char *near = cs_nearest(word, known, CS_COUNT(known));
        if (reason && i == CS_COUNT(known))
            warn(w, "%s: {%s} stays as it is%s%s%s; there are {name}, {count}, {tools}, {language}",
                 where, word, near ? ", did you mean {" : "", near ? near : "", near ? "}?" : "");
        else if (!reason && i < CS_COUNT(known))
            warn(w, "%s: {%s} stays as it is: it is filled in only in a `reason`", where, word);
    }
}

static void check_risk(struct warning *w, struct cs_json_val rules)
{
    struct cs_json_val seen[COVER_MOST], item;
    struct cs_json_iter it = {0};
    size_t count = 0;
    for (; count < COVER_MOST && cs_json_next(rules, &it, NULL, &item); count++) {
        char where[60];
        struct cs_str id = cs_json_str(cs_json_get(item, "id"), &w->arena);
        snprintf(where, sizeof where, "risk.rules[%zu].reason", count);
        check_braces(w, where, cs_json_get(item, "reason"), true);
        snprintf(where, sizeof where, "risk.rules[%zu].mitigation", count);
        check_braces(w, where, cs_json_get(item, "mitigation"), false);
        for (size_t i = 0; i < count; i++)
            if (cs_str_eq(cs_json_str(cs_json_get(seen[i], "id"), &w->arena), id))
                warn(w, "risk.rules[%zu]: '%.*s' is there twice: it changes risk.rules[%zu]", count,
                     CS_STR_ARG(id), i);
        seen[count] = item;
    }
}

/* --- parameters --- */

static void check_range(struct warning *w, const char *where, struct cs_json_val rule,
                        const char *least, const char *most)
{
    double a, b;
    if (cs_json_f64(cs_json_get(rule, least), &a) && cs_json_f64(cs_json_get(rule, most), &b) &&
        a > b)
        warn(w, "%s: %s is more than %s, so nothing fits", where, least, most);
}

static void check_parameters(struct warning *w, struct cs_json_val rules)
{
    struct cs_json_iter it = {0};
    struct cs_json_val rule, key, item;
    for (size_t i = 0; cs_json_next(rules, &it, NULL, &rule); i++) {
        struct cs_json_iter inner = {0};
        while (cs_json_next(cs_json_get(rule, "parameters"), &inner, &key, &item)) {
            char where[160];
            struct cs_str name = cs_json_str(key, &w->arena);
            snprintf(where, sizeof where, "tools.rules[%zu].parameters.%.*s", i,
                     name.len > 80 ? 80 : (int)name.len, name.at);
            check_range(w, where, item, "min", "max");
            check_range(w, where, item, "min_length", "max_length");
            check_range(w, where, item, "min_items", "max_items");
        }
    }
}

/* --- all of it --- */

static void check_tools(struct warning *w, struct cs_json_val tools)
{
    static const char *const lists[] = {"allow", "ask", "deny", "repeatable"};
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    for (size_t i = 0; i < CS_COUNT(lists); i++) {
        char where[40];
        snprintf(where, sizeof where, "tools.%s", lists[i]);
        check_list(w, where, cs_json_get(tools, lists[i]));
    }
    check_denied(w, "tools", tools, "allow");
    check_denied(w, "tools", tools, "ask");
    check_rules(w, "tools.rules", cs_json_get(tools, "rules"), "tool");
    check_parameters(w, cs_json_get(tools, "rules"));
    check_rules(w, "tools.cache", cs_json_get(tools, "cache"), "tool");
    while (cs_json_next(cs_json_get(tools, "principals"), &it, &key, &item))
        for (size_t i = 0; i < 3; i++) {
            char where[120];
            struct cs_str who = cs_json_str(key, &w->arena);
            snprintf(where, sizeof where, "tools.principals.%.*s.%s",
                     who.len > 60 ? 60 : (int)who.len, who.at, lists[i]);
            check_list(w, where, cs_json_get(item, lists[i]));
        }
}

void cs_policy_warn(const struct cs_policy *policy, const char *path,
                    const struct cs_catalogue *catalogue, struct cs_buf *lines)
{
    struct warning w = {.lines = lines, .catalogue = catalogue};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_config config = {0};
    struct cs_err err = {0};
    if (!cs_policy_text(policy).len || cs_json_parse(cs_policy_text(policy), NULL, &doc, &err) < 0)
        return;
    bool there = path && cs_config_peek(path, &config, &err) == 0;
    for (size_t i = 0; there && i < config.count && i < SERVERS_MOST; i++)
        w.servers[w.server_count++] = config.servers[i].name;
    struct cs_json_val root = cs_json_root(&doc);
    check_tools(&w, cs_json_get(root, "tools"));
    check_risk(&w, cs_json_get(cs_json_get(root, "risk"), "rules"));
    check_labels(&w, cs_json_get(root, "labels"));
    check_flows(&w, cs_json_get(root, "flows"));
    check_approvals(&w, cs_json_get(root, "approvals"));
    if (w.said > LINES_MOST)
        cs_buf_printf(lines, "... and %zu more\n", w.said - LINES_MOST);
    if (there)
        cs_config_done(&config);
    cs_arena_done(&w.arena);
}

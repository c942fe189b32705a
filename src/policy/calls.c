/* Which tools may be called by whom, and with what: the section `tools` of the policy file. */
#include <stdio.h>

#include "base/glob.h"
#include "base/mem.h"
#include "policy/inside.h"
#include "schema/schema.h"

#define RULES_MAX    1000u
#define PATTERNS_MAX 10000u
#define NAME_MAX_    300u

/* --- matching --- */

bool cs_policy_matches(struct cs_str pattern, const struct cs_target *target)
{
    const struct cs_str servers[] = {target->server, target->server_ident};
    const struct cs_str tools[] = {target->tool, target->ident};
    for (size_t i = 0; i < 4; i++) {
        char text[2 * NAME_MAX_];
        struct cs_str server = servers[i / 2], tool = tools[i % 2];
        int n = snprintf(text, sizeof text, "%.*s/%.*s", CS_STR_ARG(server), CS_STR_ARG(tool));
        if (n > 0 && (size_t)n < sizeof text && cs_glob(pattern, cs_strn(text, (size_t)n)))
            return true;
    }
    return false;
}

static const struct cs_str *first_match(const struct cs_patterns *patterns,
                                        const struct cs_target *target)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (cs_policy_matches(patterns->at[i], target))
            return &patterns->at[i];
    return NULL;
}

/* A name too long to be matched is a name that nobody has allowed. */
static bool too_long(const struct cs_target *t)
{
    return t->server.len >= NAME_MAX_ - 1 || t->server_ident.len >= NAME_MAX_ - 1 ||
           t->tool.len >= NAME_MAX_ - 1 || t->ident.len >= NAME_MAX_ - 1;
}

enum cs_grant cs_policy_grant(const struct cs_policy *policy, struct cs_str principal,
                              const struct cs_target *target, struct cs_str *why)
{
    enum cs_grant grant = CS_GRANT_ALLOW;
    struct cs_str decided = {0};
    if (too_long(target))
        grant = CS_GRANT_DENY;
    for (size_t i = 0; i <= policy->principal_count && grant != CS_GRANT_DENY; i++) {
        const struct cs_grant_lists *l = i == 0 ? &policy->general : &policy->principals[i - 1];
        if (i > 0 && !cs_glob(l->who, principal))
            continue;
        const struct cs_str *deny = first_match(&l->deny, target);
        const struct cs_str *ask = first_match(&l->ask, target);
        if (deny || (l->allow.count && !first_match(&l->allow, target))) {
            grant = CS_GRANT_DENY;
            decided = deny ? *deny : (struct cs_str){0};
        } else if (ask && grant == CS_GRANT_ALLOW) {
            grant = CS_GRANT_ASK;
            decided = *ask;
        }
    }
    if (why)
        *why = decided;
    return grant;
}

struct cs_call_limits cs_policy_call_limits(const struct cs_policy *policy,
                                            const struct cs_target *target)
{
    struct cs_call_limits limits = policy->limits;
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct cs_call_rule *r = &policy->rules[i];
        if (!cs_policy_matches(r->tool, target))
            continue;
        if (r->limits.timeout_ms)
            limits.timeout_ms = r->limits.timeout_ms;
        if (r->limits.arguments)
            limits.arguments = r->limits.arguments;
        if (r->limits.result)
            limits.result = r->limits.result;
    }
    return limits;
}

/* A hidden name could turn out to be that of a parameter which has a rule. */
static bool hides_name(struct cs_json_val arguments, const struct cs_schema_hidden *hidden,
                       struct cs_arena *arena)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (hidden && cs_json_next(arguments, &it, &key, &item))
        if (hidden->look(cs_json_str(key, arena)) != CS_HIDES_NOTHING)
            return true;
    return false;
}

int cs_policy_arguments(const struct cs_policy *policy, const struct cs_target *target,
                        struct cs_json_val arguments, struct cs_schema_hidden *hidden,
                        struct cs_err *err)
{
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct cs_call_rule *r = &policy->rules[i];
        if (!r->parameters || !cs_policy_matches(r->tool, target))
            continue;
        CS_AUTO_ARENA struct cs_arena arena = {0};
        struct cs_schema_fault faults[4];
        int n = cs_schema_check_hidden(r->parameters, arguments, hidden, &arena, faults,
                                       CS_COUNT(faults), err);
        if (n == 0 && hidden && hidden->unsure)
            return cs_fail(err, CS_DENIED,
                           "policy (rule '%.*s'): %.*s: holds a token, and a rule for this "
                           "parameter cannot be checked against what the token stands for",
                           CS_STR_ARG(r->tool), CS_STR_ARG(hidden->where));
        if (n == 0 && hides_name(arguments, hidden, &arena))
            return cs_fail(err, CS_DENIED,
                           "policy (rule '%.*s'): a parameter's name is a token, so that the rules "
                           "for parameters cannot be checked",
                           CS_STR_ARG(r->tool));
        if (n == 0)
            continue;
        if (n < 0)
            return cs_wrap(err, "the rules for '%.*s'", CS_STR_ARG(r->tool));
        CS_AUTO_BUF struct cs_buf text = {0};
        cs_schema_explain(faults, n, &text);
        return cs_fail(err, CS_DENIED, "policy (rule '%.*s'): %s", CS_STR_ARG(r->tool),
                       cs_buf_cstr(&text));
    }
    return 0;
}

bool cs_policy_repeatable(const struct cs_policy *policy, const struct cs_target *target)
{
    return !too_long(target) && first_match(&policy->repeatable, target) != NULL;
}

int64_t cs_policy_keep_ms(const struct cs_policy *policy, const struct cs_target *target)
{
    for (size_t i = 0; i < policy->keep_count; i++)
        if (!too_long(target) && cs_policy_matches(policy->keeps[i].tool, target))
            return policy->keeps[i].ms;
    return 0;
}

/* --- reading --- */

static int read_patterns(struct cs_arena *arena, struct cs_json_val from, const char *what,
                         struct cs_patterns *into, struct cs_err *err)
{
    if (cs_json_type(from) == CS_JSON_NONE)
        return 0;
    if (cs_json_type(from) != CS_JSON_ARRAY)
        return cs_fail(err, CS_INVALID, "%s: must be a list of patterns like \"github/*\"", what);
    if (cs_json_count(from) > PATTERNS_MAX)
        return cs_fail(err, CS_LIMIT, "%s: more than %u patterns", what, PATTERNS_MAX);
    into->at = cs_arena_alloc(arena, sizeof *into->at * (cs_json_count(from) + 1));
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(from, &it, NULL, &item)) {
        struct cs_str pattern = cs_json_str(item, arena);
        if (pattern.len == 0)
            return cs_fail(err, CS_INVALID, "%s: a pattern must be a text like \"github/*\"", what);
        if (pattern.len > NAME_MAX_)
            return cs_fail(err, CS_LIMIT, "%s: a pattern is longer than %u", what, NAME_MAX_);
        into->at[into->count++] = cs_arena_dup(arena, pattern);
    }
    return 0;
}

/* A positive whole number at most `max`. */
static int read_number(struct cs_json_val from, const char *where, const char *name, uint64_t max,
                       uint64_t *into, struct cs_err *err)
{
    int64_t n;
    if (!cs_json_i64(from, &n) || n < 1 || (uint64_t)n > max)
        return cs_fail(err, CS_INVALID, "%s.%s: must be a whole number from 1 to %llu", where, name,
                       (unsigned long long)max);
    *into = (uint64_t)n;
    return 0;
}

#define TIMEOUT_MAX 3600000u
#define SIZE_LIMIT  (32u << 20)
#define TTL_MAX     86400u

/* 1: it was one of these; 0: it is something else. */
static int read_limit(struct cs_json_val key, struct cs_json_val item, const char *where,
                      struct cs_call_limits *limits, struct cs_err *err)
{
    uint64_t n = 0;
    if (cs_json_is(key, "timeout_ms")) {
        if (read_number(item, where, "timeout_ms", TIMEOUT_MAX, &n, err) < 0)
            return -1;
        limits->timeout_ms = (uint32_t)n;
        return 1;
    }
    if (cs_json_is(key, "max_argument_bytes"))
        return read_number(item, where, "max_argument_bytes", SIZE_LIMIT, &limits->arguments, err) <
                       0
                   ? -1
                   : 1;
    if (cs_json_is(key, "max_result_bytes"))
        return read_number(item, where, "max_result_bytes", SIZE_LIMIT, &limits->result, err) < 0
                   ? -1
                   : 1;
    return 0;
}

/* The rules for parameters are JSON Schema under our names, so one checker serves both. */
static int read_parameters(struct cs_json_val from, const char *where, struct cs_schema **schema,
                           struct cs_err *err)
{
    static const struct {
        const char *ours, *theirs;
    } names[] = {{"min", "minimum"},          {"max", "maximum"},       {"min_length", "minLength"},
                 {"max_length", "maxLength"}, {"pattern", "pattern"},   {"enum", "enum"},
                 {"min_items", "minItems"},   {"max_items", "maxItems"}};
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "%s.parameters: must be an object", where);
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&text);
    cs_json_open(&w, '{');
    cs_json_key(&w, "properties");
    cs_json_open(&w, '{');
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val key, item, rule_key, rule_item;
    while (cs_json_next(from, &it, &key, &item)) {
        cs_json_key_str(&w, cs_json_str(key, &arena));
        cs_json_open(&w, '{');
        struct cs_json_iter rules = {0};
        while (cs_json_next(item, &rules, &rule_key, &rule_item)) {
            size_t i = 0;
            while (i < CS_COUNT(names) && !cs_json_is(rule_key, names[i].ours))
                i++;
            if (i == CS_COUNT(names))
                return cs_policy_unknown(rule_key, where,
                                         "min, max, min_length, max_length, min_items, max_items, "
                                         "pattern, enum",
                                         err);
            cs_json_key(&w, names[i].theirs);
            cs_json_put_raw(&w, cs_json_raw(rule_item));
        }
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, '}');
    cs_json_close(&w, '}');
    if (cs_schema_new(cs_buf_str(&text), NULL, schema, err) < 0)
        return cs_wrap(err, "%s.parameters", where);
    return 0;
}

static int read_rule(struct cs_policy *p, struct cs_json_val from, size_t number,
                     struct cs_err *err)
{
    char where[40];
    snprintf(where, sizeof where, "tools.rules[%zu]", number);
    struct cs_call_rule *r = &p->rules[p->rule_count++];
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(from, &it, &key, &item)) {
        int limit = read_limit(key, item, where, &r->limits, err);
        if (limit < 0)
            return -1;
        if (limit)
            continue;
        if (cs_json_is(key, "tool")) {
            r->tool = cs_arena_dup(&p->arena, cs_json_str(item, &p->arena));
        } else if (cs_json_is(key, "parameters")) {
            if (read_parameters(item, where, &r->parameters, err) < 0)
                return -1;
        } else {
            return cs_policy_unknown(
                key, where, "tool, timeout_ms, max_argument_bytes, max_result_bytes, parameters",
                err);
        }
    }
    if (r->tool.len == 0 || r->tool.len > NAME_MAX_)
        return cs_fail(err, CS_INVALID, "%s: wants a `tool`, a pattern like \"github/*\"", where);
    return 0;
}

static int read_rules(struct cs_policy *p, struct cs_json_val from, struct cs_err *err)
{
    if (cs_json_type(from) != CS_JSON_ARRAY)
        return cs_fail(err, CS_INVALID, "tools.rules: must be a list");
    if (cs_json_count(from) > RULES_MAX)
        return cs_fail(err, CS_LIMIT, "tools.rules: more than %u rules", RULES_MAX);
    p->rules = cs_arena_alloc(&p->arena, sizeof *p->rules * (cs_json_count(from) + 1));
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    for (size_t i = 0; cs_json_next(from, &it, NULL, &item); i++)
        if (read_rule(p, item, i, err) < 0)
            return -1;
    return 0;
}

static int read_lists(struct cs_policy *p, struct cs_json_val from, struct cs_grant_lists *lists,
                      struct cs_err *err)
{
    if (read_patterns(&p->arena, cs_json_get(from, "allow"), "allow", &lists->allow, err) < 0 ||
        read_patterns(&p->arena, cs_json_get(from, "ask"), "ask", &lists->ask, err) < 0 ||
        read_patterns(&p->arena, cs_json_get(from, "deny"), "deny", &lists->deny, err) < 0)
        return cs_wrap(err, "tools");
    return 0;
}

static int read_principals(struct cs_policy *p, struct cs_json_val from, struct cs_err *err)
{
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "tools.principals: must be an object");
    if (cs_json_count(from) > RULES_MAX)
        return cs_fail(err, CS_LIMIT, "tools.principals: more than %u", RULES_MAX);
    p->principals = cs_arena_alloc(&p->arena, sizeof *p->principals * (cs_json_count(from) + 1));
    struct cs_json_iter it = {0};
    struct cs_json_val key, item, inner_key, inner;
    while (cs_json_next(from, &it, &key, &item)) {
        struct cs_grant_lists *l = &p->principals[p->principal_count++];
        l->who = cs_arena_dup(&p->arena, cs_json_str(key, &p->arena));
        if (cs_json_type(item) != CS_JSON_OBJECT || !l->who.len)
            return cs_fail(err, CS_INVALID,
                           "tools.principals: wants patterns of names, and lists for each, like "
                           "{\"ci-*\": {\"deny\": [\"github/merge*\"]}}");
        struct cs_json_iter inner_it = {0};
        while (cs_json_next(item, &inner_it, &inner_key, &inner))
            if (!cs_json_is(inner_key, "allow") && !cs_json_is(inner_key, "ask") &&
                !cs_json_is(inner_key, "deny"))
                return cs_policy_unknown(inner_key, "tools.principals", "allow, ask, deny", err);
        if (read_lists(p, item, l, err) < 0)
            return -1;
    }
    return 0;
}

static int read_keep(struct cs_policy *p, struct cs_json_val from, size_t number,
                     struct cs_err *err)
{
    char where[40];
    uint64_t seconds = 0;
    snprintf(where, sizeof where, "tools.cache[%zu]", number);
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "%s: must be an object", where);
    struct cs_keep_rule *k = &p->keeps[p->keep_count++];
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(from, &it, &key, &item)) {
        if (cs_json_is(key, "tool"))
            k->tool = cs_arena_dup(&p->arena, cs_json_str(item, &p->arena));
        else if (!cs_json_is(key, "ttl_s"))
            return cs_policy_unknown(key, where, "tool, ttl_s", err);
        else if (read_number(item, where, "ttl_s", TTL_MAX, &seconds, err) < 0)
            return -1;
    }
    if (k->tool.len == 0 || k->tool.len > NAME_MAX_)
        return cs_fail(err, CS_INVALID, "%s: wants a `tool`, a pattern like \"github/list*\"",
                       where);
    if (!seconds)
        return cs_fail(err, CS_INVALID, "%s: wants `ttl_s`, for how many seconds a result is good",
                       where);
    k->ms = (int64_t)seconds * 1000;
    return 0;
}

static int read_keeps(struct cs_policy *p, struct cs_json_val from, struct cs_err *err)
{
    if (cs_json_type(from) != CS_JSON_ARRAY)
        return cs_fail(err, CS_INVALID,
                       "tools.cache: must be a list like [{\"tool\": \"github/list*\", "
                       "\"ttl_s\": 60}]");
    if (cs_json_count(from) > RULES_MAX)
        return cs_fail(err, CS_LIMIT, "tools.cache: more than %u", RULES_MAX);
    p->keeps = cs_arena_alloc(&p->arena, sizeof *p->keeps * (cs_json_count(from) + 1));
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    for (size_t i = 0; cs_json_next(from, &it, NULL, &item); i++)
        if (read_keep(p, item, i, err) < 0)
            return -1;
    return 0;
}

static int read_repeatable(struct cs_policy *p, struct cs_json_val from, struct cs_err *err)
{
    return read_patterns(&p->arena, from, "tools.repeatable", &p->repeatable, err);
}

int cs_policy_read_tools(struct cs_policy *p, struct cs_json_val tools, struct cs_err *err)
{
    if (cs_json_type(tools) == CS_JSON_NONE)
        return 0;
    if (cs_json_type(tools) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "tools: must be an object");
    static const struct {
        const char *name;
        int (*read)(struct cs_policy *p, struct cs_json_val from, struct cs_err *err);
    } parts[] = {{"rules", read_rules},
                 {"principals", read_principals},
                 {"repeatable", read_repeatable},
                 {"cache", read_keeps}};
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(tools, &it, &key, &item)) {
        int known = read_limit(key, item, "tools", &p->limits, err);
        for (size_t i = 0; known == 0 && i < CS_COUNT(parts); i++)
            if (cs_json_is(key, parts[i].name))
                known = parts[i].read(p, item, err) < 0 ? -1 : 1;
        if (cs_json_is(key, "allow") || cs_json_is(key, "ask") || cs_json_is(key, "deny"))
            known = 1;
        if (known < 0)
            return -1;
        if (!known)
            return cs_policy_unknown(key, "tools",
                                     "allow, ask, deny, rules, principals, repeatable, cache, "
                                     "timeout_ms, max_argument_bytes, max_result_bytes",
                                     err);
    }
    return read_lists(p, tools, &p->general, err);
}

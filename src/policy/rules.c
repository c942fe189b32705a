/* The section `risk`: rules that facts are judged by, over those of default.json. */
#include "base/embed.h"
#include "base/glob.h"
#include "base/mem.h"
#include "policy/risk.h"

CS_EMBED(default_rules, "src/policy/default.json")

#define RULES_MOST 1000u
#define TEXT_MOST  1000u
#define ID_BYTES   64u

struct cs_str cs_risk_defaults(void)
{
    return default_rules();
}

bool cs_risk_rule_at(const struct cs_policy *policy, size_t i, struct cs_rule_view *view)
{
    if (i >= policy->risk->rule_count)
        return false;
    const struct cs_risk_rule *r = &policy->risk->rules[i];
    *view = (struct cs_rule_view){r->id, r->reason, r->mitigation, r->level, r->off};
    return true;
}

enum cs_grant cs_risk_grant(const struct cs_risk_rules *r, struct cs_str principal,
                            enum cs_risk level)
{
    for (uint32_t i = 0; i < r->principal_count; i++)
        if (r->principals[i].is_set[level] && cs_glob(r->principals[i].who, principal))
            return r->principals[i].then[level];
    return r->general.is_set[level] ? r->general.then[level] : r->built_in.then[level];
}

enum cs_grant cs_policy_standing(const struct cs_policy *policy, struct cs_str principal,
                                 enum cs_standing standing)
{
    static const char *const ids[] = {
        [CS_STANDING_YOUNG] = "tool-young", [CS_STANDING_CHANGED] = "tool-changed"};
    const struct cs_risk_rules *r = policy->risk;
    uint32_t i = 0;
    if (standing == CS_STANDING_KNOWN)
        return CS_GRANT_ALLOW;
    while (i < r->rule_count && !cs_str_is(r->rules[i].id, ids[standing]))
        i++;
    if (i == r->rule_count || r->rules[i].off)
        return CS_GRANT_ALLOW;
    /* A program that could call it is not risky for that; the call is. */
    return cs_risk_grant(r, principal, CS_RISK_HIGH);
}

/* risk: memory, CPU share, wall clock. The rest does not depend on the risk. */
static const struct {
    uint64_t memory, cpu, wall_clock;
} by_risk[] = {
    [CS_RISK_LOW] = {512ull << 20, 50, 300000},
    [CS_RISK_MEDIUM] = {256ull << 20, 25, 120000},
    [CS_RISK_HIGH] = {128ull << 20, 10, 60000},
    [CS_RISK_CRITICAL] = {128ull << 20, 10, 60000},
};

static struct cs_limits built_in(enum cs_risk risk)
{
    return (struct cs_limits){
        .wall_clock = by_risk[risk].wall_clock,
        .memory = by_risk[risk].memory,
        .cpu = by_risk[risk].cpu,
        .cpu_burst = 10000,
        .processes = 512,
        .open_files = 4096,
        .stack = 64ull << 20,
        .scratch_bytes = 1ull << 30,
        .scratch_files = 200000,
        .output = 16ull << 20,
        .log_lines = 200000,
        .result = 16ull << 20,
        .json_depth = 1000,
        .tool_calls = 10000,
        .calls_at_once = 64,
        .arguments = 15ull << 20,
        .call_result = 31ull << 20,
    };
}

struct cs_limits cs_policy_ceiling(const struct cs_policy *policy, enum cs_risk risk)
{
    return policy && policy->risk ? policy->risk->ceilings[risk] : built_in(risk);
}

/* --- rules --- */

static struct cs_risk_rule *rule_named(struct cs_risk_rules *rules, struct cs_str id)
{
    for (uint32_t i = 0; i < rules->rule_count; i++)
        if (cs_str_eq(rules->rules[i].id, id))
            return &rules->rules[i];
    return NULL;
}

static bool id_ok(struct cs_str id)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    for (size_t i = 0; i < id.len; i++)
        if (!id.at[i] || !strchr(letters, id.at[i]))
            return false;
    return id.len > 0 && id.len <= ID_BYTES;
}

static int read_text(struct cs_arena *arena, struct cs_json_val from, const char *where,
                     struct cs_str *text, struct cs_err *err)
{
    struct cs_str s = cs_json_str(from, arena);
    if (cs_json_type(from) != CS_JSON_STRING || !s.len || s.len > TEXT_MOST)
        return cs_fail(err, CS_INVALID, "%s: must be a text of at most %u bytes", where, TEXT_MOST);
    *text = cs_arena_dup(arena, s);
    return 0;
}

static int read_raises(struct cs_arena *arena, struct cs_json_val from, const char *outer,
                       struct cs_risk_rule *rule, struct cs_err *err)
{
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "%s: must be an object like {\"prod\": \"HIGH\"}", outer);
    rule->raises = cs_arena_alloc(arena, (cs_json_count(from) + 1) * sizeof *rule->raises);
    rule->raise_count = 0;
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(from, &it, &key, &item)) {
        char where[CS_PLACE_BYTES];
        struct cs_str environment = cs_arena_dup(arena, cs_json_str(key, arena));
        cs_risk_place(where, "%s.%s", outer, environment.at);
        if (cs_risk_level(item, where, &rule->raises[rule->raise_count].level, err) < 0)
            return -1;
        rule->raises[rule->raise_count++].environment = environment;
    }
    return 0;
}

static int read_member(struct cs_risk_reader *r, struct cs_json_val key, struct cs_json_val item,
                       const char *outer, struct cs_risk_rule *rule, struct cs_err *err)
{
    struct cs_arena *arena = &r->policy->arena;
    char where[CS_PLACE_BYTES];
    cs_risk_place(where, "%s.%.*s", outer, CS_STR_ARG(cs_json_str(key, arena)));
    if (cs_json_is(key, "id"))
        return 0;
    if (cs_json_is(key, "level")) {
        rule->off = cs_json_is(item, "OFF");
        if (!rule->off && cs_risk_level(item, where, &rule->level, err) < 0)
            return cs_fail(err, CS_INVALID, "%s: must be LOW, MEDIUM, HIGH, CRITICAL or OFF",
                           where);
        return 0;
    }
    if (cs_json_is(key, "reason"))
        return read_text(arena, item, where, &rule->reason, err);
    if (cs_json_is(key, "mitigation"))
        return read_text(arena, item, where, &rule->mitigation, err);
    if (cs_json_is(key, "environments"))
        return read_raises(arena, item, where, rule, err);
    if (cs_json_is(key, "prose")) {
        rule->has_prose = true;
        return cs_risk_level(item, where, &rule->prose, err);
    }
    if (cs_json_is(key, "when")) {
        rule->when = (struct cs_when){0};
        return cs_when_read(r, item, where, &rule->when, err);
    }
    return cs_policy_unknown(key, outer, "id, level, when, reason, mitigation, environments, prose",
                             err);
}

/* What nobody could read is asked for, whatever the policy says. */
static int check_rule(struct cs_json_val from, const char *where, const struct cs_risk_rule *rule,
                      bool is_new, struct cs_err *err)
{
    static const char *const wanted[] = {"level", "when", "reason"};
    for (size_t i = 0; is_new && i < CS_COUNT(wanted); i++)
        if (cs_json_type(cs_json_get(from, wanted[i])) == CS_JSON_NONE)
            return cs_fail(err, CS_INVALID,
                           "%s.%s: is missing; there is no built-in rule '%.*s', and a new one "
                           "needs level, when and reason",
                           where, wanted[i], CS_STR_ARG(rule->id));
    if (cs_str_is(rule->id, "unreadable") && (rule->off || rule->level < CS_RISK_HIGH))
        return cs_fail(err, CS_INVALID, "%s.level: what cannot be read is HIGH at least", where);
    return 0;
}

static int read_rule(struct cs_risk_reader *r, struct cs_json_val from, const char *where,
                     struct cs_err *err)
{
    struct cs_risk_rules *rules = r->rules;
    struct cs_str id = cs_json_str(cs_json_get(from, "id"), &r->policy->arena);
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "%s: must be an object", where);
    if (!id_ok(id))
        return cs_fail(err, CS_INVALID, "%s.id: must be 1 to %u letters, digits, '-', '_' or '.'",
                       where, ID_BYTES);
    struct cs_risk_rule *rule = rule_named(rules, id);
    bool is_new = !rule;
    if (is_new) {
        rule = &rules->rules[rules->rule_count++];
        rule->id = cs_arena_dup(&r->policy->arena, id);
    }
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(from, &it, &key, &item))
        if (read_member(r, key, item, where, rule, err) < 0)
            return -1;
    return check_rule(from, where, rule, is_new, err);
}

static int read_rules(struct cs_risk_reader *r, struct cs_json_val from, struct cs_err *err)
{
    struct cs_risk_rules *rules = r->rules;
    if (cs_json_type(from) == CS_JSON_NONE)
        return 0;
    if (cs_json_type(from) != CS_JSON_ARRAY)
        return cs_fail(err, CS_INVALID, "risk.rules: must be a list");
    if (cs_json_count(from) > RULES_MOST)
        return cs_fail(err, CS_LIMIT, "risk.rules: more than %u rules", RULES_MOST);
    rules->rules =
        cs_realloc(rules->rules, rules->rule_count + cs_json_count(from) + 1, sizeof *rules->rules);
    memset(rules->rules + rules->rule_count, 0, (cs_json_count(from) + 1) * sizeof *rules->rules);
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    for (unsigned i = 0; cs_json_next(from, &it, NULL, &item); i++) {
        char where[CS_PLACE_BYTES];
        cs_risk_place(where, "risk.rules[%u]", i);
        if (read_rule(r, item, where, err) < 0)
            return -1;
    }
    return 0;
}

/* --- what a level leads to --- */

static int read_then(struct cs_json_val from, const char *outer, struct cs_risk_then *into,
                     struct cs_err *err)
{
    static const char *const words[] = {"allow", "ask", "deny"};
    if (cs_json_type(from) == CS_JSON_NONE)
        return 0;
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "%s: must be an object like {\"HIGH\": \"ask\"}", outer);
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(from, &it, &key, &item)) {
        char where[CS_PLACE_BYTES];
        enum cs_risk level;
        if (cs_risk_level(key, outer, &level, NULL) < 0)
            return cs_policy_unknown(key, outer, "LOW, MEDIUM, HIGH, CRITICAL", err);
        cs_risk_place(where, "%s.%s", outer, cs_risk_name(level));
        size_t i = 0;
        while (i < CS_COUNT(words) && !cs_json_is(item, words[i]))
            i++;
        if (i == CS_COUNT(words))
            return cs_fail(err, CS_INVALID, "%s: must be allow, ask or deny", where);
        into->is_set[level] = true;
        into->then[level] = (enum cs_grant)i;
    }
    return 0;
}

static int read_principals(struct cs_risk_reader *r, struct cs_json_val from, struct cs_err *err)
{
    struct cs_risk_rules *rules = r->rules;
    struct cs_arena *arena = &r->policy->arena;
    if (cs_json_type(from) == CS_JSON_NONE)
        return 0;
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID,
                       "risk.principals: must be an object like {\"ci-*\": {\"HIGH\": \"allow\"}}");
    rules->principals =
        cs_arena_alloc(arena, (cs_json_count(from) + 1) * sizeof *rules->principals);
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(from, &it, &key, &item)) {
        char where[CS_PLACE_BYTES];
        struct cs_risk_then *t = &rules->principals[rules->principal_count++];
        t->who = cs_arena_dup(arena, cs_json_str(key, arena));
        cs_risk_place(where, "risk.principals.%s", t->who.at);
        if (read_then(item, where, t, err) < 0)
            return -1;
    }
    return 0;
}

/* --- limits --- */

static int read_limit(struct cs_json_val item, const char *where, enum cs_limit limit,
                      struct cs_limits *limits, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_limits most = built_in(CS_RISK_LOW);
    struct cs_str text =
        cs_json_type(item) == CS_JSON_STRING ? cs_json_str(item, &arena) : cs_json_raw(item);
    uint64_t value = 0;
    if (cs_limit_parse(limit, cs_arena_dup(&arena, text).at, &value, err) < 0)
        return cs_wrap(err, "%s", where);
    if (value < 1 || value > cs_limit_get(&most, limit))
        return cs_fail(err, CS_INVALID, "%s: must be from 1 to %llu %s", where,
                       (unsigned long long)cs_limit_get(&most, limit), cs_limit_unit(limit));
    cs_limit_set(limits, limit, value);
    return 0;
}

static int read_ceiling(struct cs_json_val from, const char *outer, struct cs_limits *limits,
                        struct cs_err *err)
{
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "%s: must be an object like {\"memory\": \"128M\"}", outer);
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(from, &it, &key, &item)) {
        char where[CS_PLACE_BYTES];
        int i = 0;
        while (i < CS_LIMIT_COUNT && !cs_json_is(key, cs_limit_name((enum cs_limit)i)))
            i++;
        if (i == CS_LIMIT_COUNT)
            return cs_policy_unknown(key, outer, "those that 'caisson help limits' lists", err);
        cs_risk_place(where, "%s.%s", outer, cs_limit_name((enum cs_limit)i));
        if (read_limit(item, where, (enum cs_limit)i, limits, err) < 0)
            return -1;
    }
    return 0;
}

static int read_limits(struct cs_risk_rules *rules, struct cs_json_val from, struct cs_err *err)
{
    if (cs_json_type(from) == CS_JSON_NONE)
        return 0;
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "risk.limits: must be an object like {\"HIGH\": {...}}");
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(from, &it, &key, &item)) {
        char where[CS_PLACE_BYTES];
        enum cs_risk level;
        if (cs_risk_level(key, "", &level, NULL) < 0)
            return cs_policy_unknown(key, "risk.limits", "LOW, MEDIUM, HIGH, CRITICAL", err);
        cs_risk_place(where, "risk.limits.%s", cs_risk_name(level));
        if (read_ceiling(item, where, &rules->ceilings[level], err) < 0)
            return -1;
    }
    return 0;
}

/* --- the section --- */

static int read_section(struct cs_risk_reader *r, struct cs_json_val section, struct cs_err *err)
{
    static const char *const known[] = {"environment", "rules", "then", "principals", "limits"};
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    if (cs_json_type(section) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "risk: must be an object");
    while (cs_json_next(section, &it, &key, &item)) {
        size_t i = 0;
        while (i < CS_COUNT(known) && !cs_json_is(key, known[i]))
            i++;
        if (i == CS_COUNT(known))
            return cs_policy_unknown(key, "risk", "environment, rules, then, principals, limits",
                                     err);
    }
    struct cs_json_val environment = cs_json_get(section, "environment");
    if (cs_json_type(environment) != CS_JSON_NONE &&
        read_text(&r->policy->arena, environment, "risk.environment", &r->rules->environment, err) <
            0)
        return -1;
    if (read_rules(r, cs_json_get(section, "rules"), err) < 0 ||
        read_then(cs_json_get(section, "then"), "risk.then", &r->rules->general, err) < 0 ||
        read_principals(r, cs_json_get(section, "principals"), err) < 0)
        return -1;
    return read_limits(r->rules, cs_json_get(section, "limits"), err);
}

int cs_policy_read_risk(struct cs_policy *p, struct cs_json_val section, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    p->risk = CS_NEW(struct cs_risk_rules);
    for (int i = 0; i < CS_RISK_COUNT; i++)
        p->risk->ceilings[i] = built_in((enum cs_risk)i);
    struct cs_risk_reader r = {.policy = p, .rules = p->risk, .ours = true};
    if (cs_json_parse(default_rules(), NULL, &doc, err) < 0 ||
        read_section(&r, cs_json_root(&doc), err) < 0)
        return cs_wrap(err, "the built-in rules");
    /* So that messages can tell what the file says from what is built in. */
    p->risk->built_in = p->risk->general;
    p->risk->general = (struct cs_risk_then){0};
    r.ours = false;
    if (cs_json_type(section) == CS_JSON_NONE)
        return 0;
    return read_section(&r, section, err);
}

void cs_risk_rules_free(struct cs_risk_rules *rules)
{
    if (!rules)
        return;
    for (uint32_t i = 0; i < rules->like_count; i++)
        cs_regex_free(rules->likes[i]->compiled);
    free(rules->likes);
    cs_matcher_free(rules->matcher);
    free(rules->rules);
    free(rules);
}

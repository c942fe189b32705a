/*
 * Commands that a program puts together only when it runs: the arguments of a call of a tool that
 * runs commands are looked at by the rules that read texts as a shell does.
 */
#include "base/mem.h"
#include "policy/risk.h"

#define TEXTS_MOST 256u
#define TEXT_BYTES (1u << 20) /* of all of them */
#define DEEP_MOST  16

struct texts {
    struct cs_arena *arena;
    struct cs_fact_seen at[TEXTS_MOST + 1];
    uint32_t count;
    struct cs_buf all; /* one behind the other: ["rm", "-rf", "/"] is a command, too */
    bool more;
};

static void collect(struct texts *t, struct cs_json_val from, int depth)
{
    enum cs_json_type type = cs_json_type(from);
    if (type == CS_JSON_STRING) {
        struct cs_str text = cs_json_str(from, t->arena);
        if (t->count == TEXTS_MOST || t->all.len + text.len > TEXT_BYTES) {
            t->more = true;
            return;
        }
        if (t->all.len)
            cs_buf_putc(&t->all, ' ');
        cs_buf_putstr(&t->all, text);
        t->at[t->count++] = (struct cs_fact_seen){.kind = CS_FACT_STRING, .name = text};
        return;
    }
    if (type != CS_JSON_ARRAY && type != CS_JSON_OBJECT)
        return;
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    if (depth == DEEP_MOST)
        t->more = true;
    while (depth < DEEP_MOST && cs_json_next(from, &it, NULL, &item))
        collect(t, item, depth + 1);
}

static void open_case(struct cs_case *k, struct texts *t)
{
    struct cs_verdict unused = {0};
    if (t->count > 1)
        t->at[t->count++] =
            (struct cs_fact_seen){.kind = CS_FACT_STRING, .name = cs_buf_str(&t->all)};
    k->facts = t->at;
    k->fact_count = t->count;
    for (int kind = CS_FACT_STRING; kind < CS_FACT_COUNT; kind++)
        k->start[kind + 1] = t->count;
    cs_case_prepare(k, &unused);
    k->runs = true;
}

bool cs_judge_command(const struct cs_policy *policy, struct cs_str principal,
                      const struct cs_target *target, struct cs_str arguments,
                      struct cs_arena *arena, struct cs_command *found)
{
    struct cs_circumstances c = {.principal = principal, .language = ""};
    struct cs_case k = {.policy = policy, .rules = policy->risk, .c = &c, .arena = arena};
    const char *name =
        cs_arena_printf(arena, "%.*s.%.*s", CS_STR_ARG(target->server), CS_STR_ARG(target->tool));
    CS_AUTO_JSON struct cs_json doc = {0};
    *found = (struct cs_command){.then = CS_GRANT_ALLOW};
    if (!cs_words_runs(cs_str(name)) || cs_json_parse(arguments, NULL, &doc, NULL) < 0)
        return false;
    struct texts *t = CS_NEW(struct texts);
    t->arena = arena;
    collect(t, cs_json_root(&doc), 0);
    k.environment = k.rules->environment;
    open_case(&k, t);
    for (uint32_t i = 0; i < k.rules->rule_count; i++) {
        const struct cs_risk_rule *rule = &k.rules->rules[i];
        const struct cs_fact_seen *hit = NULL;
        if (rule->off || !rule->when.shell || !cs_when_holds(&k, &rule->when, &hit, 1))
            continue;
        enum cs_risk level = cs_risk_level_of(&k, rule);
        if (found->rule.len && level <= found->level)
            continue;
        *found = (struct cs_command){rule->id, cs_risk_reason(&k, rule, hit), level,
                                     cs_risk_grant(k.rules, principal, level)};
    }
    if ((k.too_slow || t->more) && found->level < CS_RISK_HIGH)
        *found = (struct cs_command){CS_STR("unreadable"),
                                     CS_STR("is too long to be looked through for commands"),
                                     CS_RISK_HIGH, cs_risk_grant(k.rules, principal, CS_RISK_HIGH)};
    cs_buf_done(&t->all);
    free(t);
    return found->then != CS_GRANT_ALLOW;
}

/* Facts and circumstances become a verdict. */
#include "policy/judge.h"

#include <inttypes.h>
#include <string.h>

#include "base/glob.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "policy/risk.h"
#include "privacy/privacy.h"

#define FINDINGS_MOST 200u
#define OF_ONE_RULE   8u
#define REASONS_MOST  40u
#define WHAT_BYTES    160u
#define TOOLS_NAMED   3u

struct findings {
    struct cs_finding *at;
    uint32_t count;
};

static void add(struct cs_arena *arena, struct cs_str **list, uint32_t *count, const char *text)
{
    for (uint32_t i = 0; i < *count; i++)
        if (cs_str_is((*list)[i], text))
            return;
    struct cs_str *more = cs_arena_alloc(arena, (*count + 1) * sizeof **list);
    if (*count)
        memcpy(more, *list, *count * sizeof **list);
    more[*count] = cs_str(text);
    *list = more;
    (*count)++;
}

/* --- words --- */

/* Foreign text for people, short. */
static struct cs_str shown(struct cs_arena *arena, struct cs_str text)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_str cut = cs_utf8_cut(text, WHAT_BYTES);
    cs_visible(cut, false, &out);
    if (cut.len < text.len)
        cs_buf_puts(&out, "...");
    return cs_arena_dup(arena, cs_buf_str(&out));
}

/* What a fact is called. A credential is not shown again: it would be in cards, logs and answers.
 */
static struct cs_str shown_fact(const struct cs_case *k, const struct cs_fact_seen *f)
{
    for (unsigned kind = 0; kind < CS_PII_COUNT; kind++)
        if (f->secrets >> kind & 1 && cs_pii_secret((enum cs_pii)kind))
            return cs_str(cs_arena_printf(k->arena, "[%s]", cs_pii_name((enum cs_pii)kind)));
    if (f->name.len && memmem(f->name.at, f->name.len, "PRIVATE KEY", 11)) /* or a piece of one */
        return cs_str(cs_arena_printf(k->arena, "[%s]", cs_pii_name(CS_PII_PRIVATE_KEY)));
    return shown(k->arena, f->name);
}

static void put_tools(const struct cs_case *k, const struct cs_tool_when *w,
                      const struct cs_fact_seen *f, struct cs_buf *out)
{
    uint32_t named = 0, more = 0;
    for (uint32_t i = 0; f && i < f->tool_count; i++) {
        const struct cs_reached *t = &k->tools[f->tools[i]];
        if (!cs_tool_fits(w, t))
            continue;
        if (named == TOOLS_NAMED) {
            more++;
            continue;
        }
        cs_buf_printf(out, "%s", named++ ? ", " : "");
        cs_visible(t->tool.target.server, false, out);
        cs_buf_putc(out, '/');
        cs_visible(t->tool.target.tool, false, out);
    }
    if (more)
        cs_buf_printf(out, " and %u more", more);
}

/* {name}, {count}, {tools}, {language} */
static struct cs_str filled(const struct cs_case *k, const struct cs_risk_rule *rule,
                            const struct cs_fact_seen *f, uint32_t count)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_str rest = rule->reason;
    while (rest.len) {
        const char *open = memchr(rest.at, '{', rest.len);
        size_t plain = open ? (size_t)(open - rest.at) : rest.len;
        cs_buf_put(&out, rest.at, plain);
        rest = cs_strn(rest.at + plain, rest.len - plain);
        if (cs_str_starts(rest, "{name}")) {
            cs_buf_putstr(&out, f ? shown_fact(k, f) : (struct cs_str){0});
            plain = 6;
        } else if (cs_str_starts(rest, "{count}")) {
            cs_buf_printf(&out, "%u", count);
            plain = 7;
        } else if (cs_str_starts(rest, "{tools}")) {
            put_tools(k, &rule->when.tool, f, &out);
            plain = 7;
        } else if (cs_str_starts(rest, "{language}")) {
            cs_buf_puts(&out, k->c->language);
            plain = 10;
        } else {
            plain = rest.len ? 1 : 0;
            cs_buf_put(&out, rest.at, plain);
        }
        rest = cs_strn(rest.at + plain, rest.len - plain);
    }
    return cs_arena_dup(k->arena, cs_buf_str(&out));
}

/* --- findings --- */

enum cs_risk cs_risk_level_of(const struct cs_case *k, const struct cs_risk_rule *rule)
{
    for (uint32_t i = 0; i < rule->raise_count; i++)
        if (cs_glob(rule->raises[i].environment, k->environment))
            return rule->raises[i].level;
    return rule->level;
}

/* Where it was found. Commands in a text for people are not run, unless something runs them. */
static enum cs_risk level_at(const struct cs_case *k, const struct cs_risk_rule *rule,
                             const struct cs_fact_seen *f)
{
    enum cs_risk level = cs_risk_level_of(k, rule);
    if (!rule->has_prose || !f || !(f->looks & CS_LOOKS_PROSE) || k->runs)
        return level;
    return rule->prose < level ? rule->prose : level;
}

struct cs_str cs_risk_reason(const struct cs_case *k, const struct cs_risk_rule *rule,
                             const struct cs_fact_seen *f)
{
    return filled(k, rule, f, 1);
}

/* What was found in one line need not be found in all of them together. */
static uint32_t without_joined(const struct cs_fact_seen **hits, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!cs_str_is(hits[i]->via, CS_VIA_JOINED))
            hits[kept++] = hits[i];
    return kept ? kept : 1;
}

static void find(struct cs_case *k, struct findings *all, const struct cs_risk_rule *rule)
{
    const struct cs_fact_seen *hits[OF_ONE_RULE] = {NULL};
    uint32_t count = cs_when_holds(k, &rule->when, hits, OF_ONE_RULE);
    if (!count)
        return;
    uint32_t most = count < OF_ONE_RULE ? count : OF_ONE_RULE;
    if (rule->when.kinds)
        most = without_joined(hits, most);
    if (rule->when.at_least > 1 || !rule->when.kinds)
        most = 1;
    for (uint32_t i = 0; i < most && all->count < FINDINGS_MOST; i++) {
        const struct cs_fact_seen *f = rule->when.kinds ? hits[i] : NULL;
        all->at[all->count++] = (struct cs_finding){
            .id = cs_arena_dup(k->arena, rule->id),
            .level = level_at(k, rule, f),
            .line = f ? f->line : 0,
            .column = f ? f->column : 0,
            .module = f ? f->module : (struct cs_str){0},
            .reason = filled(k, rule, f, count),
            .mitigation = cs_arena_dup(k->arena, rule->mitigation),
            .what = f ? shown_fact(k, f) : (struct cs_str){0},
            .late = f && f->late,
        };
    }
}

static struct cs_finding *unreadable(struct cs_case *k, struct findings *all, enum cs_risk least,
                                     struct cs_str why)
{
    enum cs_risk level = least;
    struct cs_str mitigation = {0};
    k->unreadable = true;
    for (uint32_t i = 0; i < k->rules->rule_count; i++) {
        const struct cs_risk_rule *rule = &k->rules->rules[i];
        if (!cs_str_is(rule->id, "unreadable"))
            continue;
        level = cs_risk_level_of(k, rule) > least ? cs_risk_level_of(k, rule) : least;
        mitigation = cs_arena_dup(k->arena, rule->mitigation);
    }
    struct cs_finding *f = &all->at[all->count++];
    *f = (struct cs_finding){.id = CS_STR("unreadable"),
                             .level = level,
                             .reason = cs_arena_dup(k->arena, why),
                             .mitigation = mitigation};
    return f;
}

/* The worst first; those of one level in the order of the text. Few: inserted. */
static void sort(struct findings *all)
{
    for (uint32_t i = 1; i < all->count; i++) {
        struct cs_finding f = all->at[i];
        uint32_t at = i;
        while (at > 0 && (all->at[at - 1].level < f.level ||
                          (all->at[at - 1].level == f.level && all->at[at - 1].line > f.line))) {
            all->at[at] = all->at[at - 1];
            at--;
        }
        all->at[at] = f;
    }
}

static void reasons(struct cs_case *k, const struct findings *all, struct cs_verdict *v)
{
    for (uint32_t i = 0; i < all->count && v->reason_count < REASONS_MOST; i++) {
        const struct cs_finding *f = &all->at[i];
        const char *text = f->reason.at;
        if (f->line && f->module.len)
            text = cs_arena_printf(k->arena, "%.*s, %.*s line %u", CS_STR_ARG(f->reason),
                                   CS_STR_ARG(shown(k->arena, f->module)), f->line);
        else if (f->line)
            text = cs_arena_printf(k->arena, "%.*s, line %u", CS_STR_ARG(f->reason), f->line);
        add(k->arena, &v->reasons, &v->reason_count, text);
    }
}

/* --- what follows --- */

/* The first principal's row that speaks of this level, then the file's, then what is built in. */
static void decide(const struct cs_case *k, struct cs_verdict *v)
{
    const struct cs_risk_rules *r = k->rules;
    const char *level = cs_risk_name(v->risk);
    const struct cs_risk_then *then = NULL;
    for (uint32_t i = 0; !then && i < r->principal_count; i++)
        if (r->principals[i].is_set[v->risk] && cs_glob(r->principals[i].who, k->c->principal))
            then = &r->principals[i];
    if (then) {
        v->rule = cs_str(
            cs_arena_printf(k->arena, "risk.principals.%.*s.%s", CS_STR_ARG(then->who), level));
    } else if (r->general.is_set[v->risk]) {
        then = &r->general;
        v->rule = cs_str(cs_arena_printf(k->arena, "risk.then.%s", level));
    } else {
        then = &r->built_in;
        v->rule = cs_str(cs_arena_printf(k->arena, "built in: risk.then.%s", level));
    }
    v->action = then->then[v->risk];
    v->allowed = v->action != CS_GRANT_DENY;
}

/* The limits asked for, held below the ceiling of the risk. */
static void settle(const struct cs_policy *policy, struct cs_verdict *v,
                   const struct cs_limits *asked, struct cs_arena *arena)
{
    struct cs_limits most = cs_policy_ceiling(policy, v->risk);
    v->limits = *asked;
    for (int i = 0; i < CS_LIMIT_COUNT; i++) {
        enum cs_limit limit = (enum cs_limit)i;
        uint64_t may = cs_limit_get(&most, limit);
        if (cs_limit_get(asked, limit) <= may)
            continue;
        cs_limit_set(&v->limits, limit, may);
        add(arena, &v->mitigations, &v->mitigation_count,
            cs_arena_printf(arena, "%s lowered to %" PRIu64 " %s", cs_limit_name(limit), may,
                            cs_limit_unit(limit)));
    }
}

static void read_case(struct cs_case *k, struct cs_str facts, struct findings *all,
                      struct cs_verdict *v)
{
    struct cs_err err = {0};
    if (!facts.len && k->c->source.len) {
        cs_case_guest(k);
        return;
    }
    int read = cs_case_facts(k, facts, v, &err);
    if (read < 0) {
        /* A worker that is itself would not say such a thing. */
        k->fact_count = 0;
        memset(k->start, 0, sizeof k->start);
        cs_wrap(&err, "the facts about the program cannot be read");
        unreadable(k, all, CS_RISK_CRITICAL, cs_str(err.msg));
    } else if (read > 0) {
        unreadable(k, all, CS_RISK_HIGH,
                   CS_STR("there is more in the program than the judge has seen"));
    }
}

static void open_case(struct cs_case *k, struct findings *all, struct cs_verdict *v)
{
    struct cs_risk_rules *rules = k->policy->risk;
    k->rules = rules;
    k->environment = k->c->environment.len ? k->c->environment : rules->environment;
    all->at = cs_arena_alloc(k->arena, (FINDINGS_MOST + 3) * sizeof *all->at);
    *v = (struct cs_verdict){.allowed = true, .risk = CS_RISK_LOW};
}

static void close_case(struct cs_case *k, struct findings *all, const struct cs_limits *asked,
                       struct cs_verdict *v)
{
    cs_case_prepare(k, v);
    for (uint32_t i = 0; i < k->rules->rule_count; i++) {
        const struct cs_risk_rule *rule = &k->rules->rules[i];
        if (!rule->off && !cs_str_is(rule->id, "unreadable"))
            find(k, all, rule);
    }
    if (k->too_slow)
        unreadable(k, all, CS_RISK_HIGH, CS_STR("its texts take too long to be looked through"));
    sort(all);
    v->findings = all->at;
    v->finding_count = all->count;
    v->risk = all->count ? all->at[0].level : CS_RISK_LOW;
    reasons(k, all, v);
    decide(k, v);
    settle(k->policy, v, asked, k->arena);
    if (v->action == CS_GRANT_ASK)
        add(k->arena, &v->mitigations, &v->mitigation_count, "a person is asked before it runs");
}

void cs_judge(const struct cs_policy *policy, struct cs_str facts, const struct cs_circumstances *c,
              const struct cs_limits *asked, struct cs_arena *arena, struct cs_verdict *v)
{
    struct cs_case k = {.policy = policy, .c = c, .arena = arena};
    struct findings all = {0};
    open_case(&k, &all, v);
    read_case(&k, facts, &all, v);
    close_case(&k, &all, asked, v);
}

static bool was_there(const struct cs_verdict *before, const struct cs_finding *f)
{
    for (uint32_t i = 0; i < before->finding_count; i++)
        if (before->findings[i].level >= f->level && cs_str_eq(before->findings[i].id, f->id))
            return true;
    return false;
}

void cs_judge_late(const struct cs_policy *policy, struct cs_str facts,
                   const struct cs_circumstances *c, const struct cs_verdict *before,
                   struct cs_arena *arena, struct cs_verdict *v)
{
    struct cs_case k = {.policy = policy, .c = c, .arena = arena};
    struct findings all = {0}, late = {0};
    open_case(&k, &all, v);
    late.at = cs_arena_alloc(arena, (FINDINGS_MOST + 3) * sizeof *late.at);
    read_case(&k, facts, &all, v);
    close_case(&k, &all, &before->limits, v);
    for (uint32_t i = 0; i < all.count; i++) {
        all.at[i].late |= !was_there(before, &all.at[i]);
        if (all.at[i].late)
            late.at[late.count++] = all.at[i];
    }
    v->risk = late.count ? late.at[0].level : CS_RISK_LOW;
    v->reason_count = v->mitigation_count = 0;
    reasons(&k, &late, v);
    decide(&k, v);
    v->limits = before->limits;
}

void cs_judge_unreadable(const struct cs_policy *policy, const struct cs_unread *unread,
                         struct cs_str facts, const struct cs_circumstances *c,
                         const struct cs_limits *asked, struct cs_arena *arena,
                         struct cs_verdict *v)
{
    struct cs_case k = {.policy = policy, .c = c, .arena = arena};
    struct findings all = {0};
    open_case(&k, &all, v);
    if (facts.len)
        read_case(&k, facts, &all, v);
    struct cs_finding *f = unreadable(&k, &all, CS_RISK_HIGH, shown(arena, unread->why));
    if (unread->instead.len)
        f->mitigation = shown(arena, unread->instead);
    f->line = unread->line;
    f->column = unread->column;
    v->unread = true;
    close_case(&k, &all, asked, v);
}

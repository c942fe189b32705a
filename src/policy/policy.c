#include "policy/policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

static const char *const risk_names[] = {"LOW", "MEDIUM", "HIGH", "CRITICAL"};

const char *cs_risk_name(enum cs_risk risk)
{
    return risk_names[risk];
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

struct cs_limits cs_policy_ceiling(enum cs_risk risk)
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

int cs_policy_admit(struct cs_str code, struct cs_str inputs, const struct cs_limits *asked,
                    struct cs_err *err)
{
    if (code.len > CS_CODE_MAX)
        return cs_fail(err, CS_LIMIT, "the program has %zu bytes, at most %u are run", code.len,
                       CS_CODE_MAX);
    if (inputs.len > CS_INPUTS_MAX)
        return cs_fail(err, CS_LIMIT, "the inputs have %zu bytes, at most %u are taken", inputs.len,
                       CS_INPUTS_MAX);
    struct cs_limits most = cs_policy_ceiling(CS_RISK_LOW);
    for (int i = 0; i < CS_LIMIT_COUNT; i++) {
        enum cs_limit limit = (enum cs_limit)i;
        uint64_t want = cs_limit_get(asked, limit), may = cs_limit_get(&most, limit);
        if (want > may)
            return cs_fail(err, CS_INVALID, "limit %s: %" PRIu64 " %s asked for, at most %" PRIu64,
                           cs_limit_name(limit), want, cs_limit_unit(limit), may);
    }
    return 0;
}

int cs_policy_inputs(struct cs_str inputs, const struct cs_limits *asked, struct cs_err *err)
{
    struct cs_json doc = {0};
    struct cs_json_limits bounds = {.bytes = CS_INPUTS_MAX, .depth = (uint32_t)asked->json_depth};
    if (inputs.len && cs_json_parse(inputs, &bounds, &doc, err) < 0)
        return cs_wrap(err, "inputs");
    cs_json_done(&doc);
    return 0;
}

static void add(struct cs_arena *arena, struct cs_str **list, uint32_t *count, const char *text)
{
    struct cs_str *more = cs_arena_alloc(arena, (*count + 1) * sizeof **list);
    if (*count)
        memcpy(more, *list, *count * sizeof **list);
    more[*count] = cs_arena_dup(arena, cs_str(text));
    *list = more;
    (*count)++;
}

/* The limits asked for, held below the ceiling of the risk. */
static void settle(struct cs_verdict *v, const struct cs_limits *asked, struct cs_arena *arena)
{
    struct cs_limits most = cs_policy_ceiling(v->risk);
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

/* The table that decides: a member of the facts that is not an empty list raises the risk to this.
 */
static const struct rule {
    const char *fact;
    enum cs_risk risk;
    const char *reason;
} rules[] = {
    {"dynamic_code", CS_RISK_MEDIUM, "makes code at run time, which cannot be read beforehand"},
};

void cs_policy_assess(struct cs_str facts, const struct cs_limits *asked, struct cs_arena *arena,
                      struct cs_verdict *v)
{
    *v = (struct cs_verdict){.allowed = true, .risk = CS_RISK_LOW};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    if (cs_json_parse(facts, NULL, &doc, &err) < 0 ||
        cs_json_type(cs_json_root(&doc)) != CS_JSON_OBJECT) {
        v->allowed = false;
        v->risk = CS_RISK_CRITICAL;
        add(arena, &v->reasons, &v->reason_count, "the facts about the program cannot be read");
    }
    for (size_t i = 0; v->allowed && i < CS_COUNT(rules); i++) {
        if (cs_json_count(cs_json_get(cs_json_root(&doc), rules[i].fact)) == 0)
            continue;
        if (rules[i].risk > v->risk)
            v->risk = rules[i].risk;
        add(arena, &v->reasons, &v->reason_count, rules[i].reason);
    }
    settle(v, asked, arena);
}

void cs_policy_assess_guest(const char *language, const struct cs_limits *asked,
                            struct cs_arena *arena, struct cs_verdict *v)
{
    *v = (struct cs_verdict){.allowed = true, .risk = CS_RISK_MEDIUM};
    add(arena, &v->reasons, &v->reason_count,
        cs_arena_printf(arena, "%s code is not read beforehand", language));
    settle(v, asked, arena);
}

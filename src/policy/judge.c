/* Facts and circumstances become a verdict. */
#include "policy/judge.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "policy/inside.h"

/* risk: memory, CPU share, wall clock. The rest does not depend on the risk. */
static const struct {
    uint64_t memory, cpu, wall_clock;
} by_risk[] = {
    [CS_RISK_LOW] = {512ull << 20, 50, 300000},
    [CS_RISK_MEDIUM] = {256ull << 20, 25, 120000},
    [CS_RISK_HIGH] = {128ull << 20, 10, 60000},
    [CS_RISK_CRITICAL] = {128ull << 20, 10, 60000},
};

struct cs_limits cs_policy_ceiling(const struct cs_policy *policy, enum cs_risk risk)
{
    (void)policy;
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

void cs_judge(const struct cs_policy *policy, struct cs_str facts, const struct cs_circumstances *c,
              const struct cs_limits *asked, struct cs_arena *arena, struct cs_verdict *v)
{
    *v = (struct cs_verdict){.allowed = true, .risk = CS_RISK_LOW};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    if (!facts.len && c->source.len) {
        v->risk = CS_RISK_MEDIUM;
        add(arena, &v->reasons, &v->reason_count,
            cs_arena_printf(arena, "%s code is not read beforehand", c->language));
    } else if (cs_json_parse(facts, NULL, &doc, &err) < 0 ||
               cs_json_type(cs_json_root(&doc)) != CS_JSON_OBJECT) {
        v->allowed = false;
        v->action = CS_GRANT_DENY;
        v->risk = CS_RISK_CRITICAL;
        add(arena, &v->reasons, &v->reason_count, "the facts about the program cannot be read");
    }
    struct cs_json_iter it = {0};
    struct cs_json_val fact;
    while (cs_json_next(cs_json_get(cs_json_root(&doc), "facts"), &it, NULL, &fact)) {
        if (!cs_json_is(cs_json_get(fact, "kind"), "code") || v->risk > CS_RISK_LOW)
            continue;
        v->risk = CS_RISK_MEDIUM;
        add(arena, &v->reasons, &v->reason_count,
            "makes code at run time, which cannot be read beforehand");
    }
    settle(policy, v, asked, arena);
}

void cs_verdict_json(const struct cs_verdict *v, struct cs_buf *out)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "level");
    cs_json_put_z(&w, cs_risk_name(v->risk));
    cs_json_close(&w, '}');
}

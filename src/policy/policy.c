#include "policy/judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

static const char *const risk_names[] = {"LOW", "MEDIUM", "HIGH", "CRITICAL"};

const char *cs_risk_name(enum cs_risk risk)
{
    return risk_names[risk];
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
    struct cs_limits most = cs_policy_ceiling(NULL, CS_RISK_LOW);
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

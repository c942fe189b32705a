/* The section `risk`: rules that facts are judged by, over those of default.json. */
#include "policy/inside.h"

#include "base/mem.h"

struct cs_risk_rules {
    int none;
};

int cs_policy_read_risk(struct cs_policy *p, struct cs_json_val section, struct cs_err *err)
{
    (void)section;
    (void)err;
    p->risk = CS_NEW(struct cs_risk_rules);
    return 0;
}

void cs_risk_rules_free(struct cs_risk_rules *rules)
{
    free(rules);
}

/* What was reached, and what flows where, as facts. */
#include "compile/reach.h"

static const char *tool_name(struct cs_reach *r, const struct cs_tool *t)
{
    const struct cs_name *names = r->p->names.at;
    if (t->server == K_NONE)
        return "*";
    struct cs_str name = t->name == K_NONE ? CS_STR("*") : names[t->name].text;
    return cs_textf(r->p, "%.*s.%.*s", CS_STR_ARG(names[t->server].text), CS_STR_ARG(name));
}

static void found(struct cs_reach *r, enum cs_fact_kind kind, uint32_t pos, const char *name,
                  const char *via)
{
    cs_fact_add(r->p, (int)kind, cs_str(name), via, CS_STR(""), pos);
}

/* Of the tools that share a bit, the first. */
static bool flows_to(struct cs_reach *r, uint32_t tool, uint32_t *left)
{
    struct cs_tool *to = &r->tools.at[tool];
    const char *name = tool_name(r, to);
    for (uint32_t i = 0; i < r->tools.len && i <= REACH_BITS; i++) {
        const struct cs_tool *from = &r->tools.at[i];
        if (!(to->gets >> i & 1) || (from->server == to->server && to->server != K_NONE))
            continue;
        if ((*left)-- == 0) {
            found(r, CS_FACT_FLOW, to->call, "* > *", "");
            return false;
        }
        found(r, CS_FACT_FLOW, to->call,
              cs_textf(r->p, "%s > %s", i == REACH_BITS ? "*" : tool_name(r, from), name), "");
    }
    return true;
}

void cs_flow_facts(struct cs_reach *r)
{
    uint32_t left = REACH_FLOWS;
    for (uint32_t i = 0; i < r->tools.len; i++) {
        const struct cs_tool *t = &r->tools.at[i];
        found(r, CS_FACT_TOOL, t->pos, tool_name(r, t), t->via);
    }
    if (r->lost && !r->matters)
        return;
    if (r->lost) {
        found(r, CS_FACT_TOOL, 0, "*", "chain");
        found(r, CS_FACT_FLOW, 0, "* > *", "");
        return;
    }
    for (uint32_t i = 0; i < r->tools.len; i++) {
        if (r->tools.at[i].gets && !flows_to(r, i, &left))
            break;
    }
}

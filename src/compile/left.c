/* What is left when everything has been solved: ways to tools that got somewhere unseen. */
#include "compile/reach.h"

/* All tools, or all that is global: whoever keeps these in anything but a variable has them. */
static bool all_of_them(const struct cs_reach *r, uint32_t path)
{
    enum cs_path_kind kind = r->paths.at[path].kind;
    return kind == PATH_TOOLS || kind == PATH_GLOBAL;
}

static void left_in_literals(struct cs_reach *r)
{
    for (uint32_t i = VALUE_FIRST; i < r->p->vals.len && cs_reach_step(r); i++) {
        const struct cs_val *v = cs_reach_val(r, i);
        if ((v->kind != VAL_ARRAY && v->kind != VAL_OBJECT) || (r->marks[i] & MARK_PATTERN))
            continue;
        if (!(r->marks[i] & MARK_EATEN))
            cs_hand_out(r, i);
        for (uint32_t k = v->a; k && cs_reach_step(r); k = cs_reach_val(r, k)->c) {
            uint32_t item = cs_reach_val(r, k)->a;
            if (all_of_them(r, r->at[item].path))
                cs_hand_out(r, item);
        }
    }
}

void cs_reach_code(struct cs_parser *p, struct cs_str name, const char *via, uint32_t pos)
{
    if (!cs_str_is(cs_str(via), "constant") && !cs_str_starts(name, "import"))
        cs_fact_add(p, CS_FACT_TOOL, CS_STR("*"), "chain", CS_STR(""), pos);
}

/* Code in a constant: its this is globalThis. */
void cs_reach_nested(struct cs_parser *p)
{
    for (uint32_t i = VALUE_FIRST; p->nested && i < p->vals.len; i++) {
        if (p->vals.at[i].kind == VAL_THIS) {
            cs_fact_add(p, CS_FACT_TOOL, CS_STR("*"), "chain", CS_STR(""), 0);
            return;
        }
    }
}

void cs_reach_left(struct cs_reach *r)
{
    uint32_t variables = r->p->decls.len;
    /* What it declares others may see. */
    for (uint32_t i = 1; i <= variables && r->p->nested; i++)
        cs_hand_out_spot(r, i);
    for (uint32_t i = variables + 1; i < r->places.len; i++) {
        const struct cs_spot *s = &r->places.at[i];
        if (!cs_path_whole(r, s->path) || (s->used && !all_of_them(r, s->path)))
            continue;
        cs_path_tool(r, s->path, r->paths.at[s->path].pos, "alias");
    }
    if (r->inside || r->in_literals)
        left_in_literals(r);
}

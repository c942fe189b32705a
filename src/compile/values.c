/* Values as they are read: nodes, lists of them, functions. */
#include "compile/parser.h"

uint32_t cs_val(struct cs_parser *p, enum cs_val_kind kind, uint32_t a, uint32_t b, uint32_t c)
{
    if (p->kind == CS_COMPILE_STRIP && p->vals.len >= VALUE_FIRST)
        return 0;
    *CS_PUSH(&p->vals) = (struct cs_val){.kind = (uint8_t)kind, .a = a, .b = b, .c = c};
    return p->vals.len - 1;
}

void cs_values_init(struct cs_parser *p)
{
    cs_val(p, VAL_NONE, 0, 0, 0);
    cs_val(p, VAL_TRUE, 0, 0, 0);
    cs_val(p, VAL_FALSE, 0, 0, 0);
}

void cs_item(struct cs_parser *p, struct cs_items *list, uint32_t value, uint32_t name,
             unsigned flags)
{
    uint32_t place = list->count++;
    if (value < VALUE_FIRST)
        return;
    uint32_t item = cs_val(p, VAL_ITEM, value, flags & VAL_NAMED ? name : place, 0);
    p->vals.at[item].flags = (uint8_t)flags;
    if (list->last)
        p->vals.at[list->last].c = item;
    else
        list->first = item;
    list->last = item;
}

uint32_t cs_join(struct cs_parser *p, uint32_t a, uint32_t b)
{
    if (a < VALUE_FIRST)
        return b < VALUE_FIRST ? 0 : b;
    return b < VALUE_FIRST ? a : cs_val(p, VAL_JOIN, a, b, 0);
}

uint32_t cs_value(struct cs_parser *p, enum cs_ex ex)
{
    return ex == EX_STRING ? cs_val(p, VAL_STR, p->last_str, 0, 0) : p->val;
}

void cs_key(struct cs_parser *p, uint32_t member, uint32_t key)
{
    if (key >= VALUE_FIRST)
        cs_val(p, VAL_KEY, member, key, 0);
}

uint32_t cs_assigned(struct cs_parser *p, uint32_t target, uint32_t value)
{
    /* x[key] = value: both are in x. */
    if (target && target + 1 < p->vals.len && p->vals.at[target + 1].kind == VAL_KEY &&
        p->vals.at[target + 1].a == target)
        cs_val(p, VAL_ASSIGN, target, p->vals.at[target + 1].b, 1);
    if (!target || !value)
        return value;
    p->vals.at[target].flags |= VAL_TARGET;
    return cs_val(p, VAL_ASSIGN, target, value, 0);
}

void cs_own_member(struct cs_parser *p, uint32_t name, uint32_t value)
{
    if (value < VALUE_FIRST)
        return;
    uint32_t self = cs_val(p, VAL_THIS, 0, 0, 0);
    cs_assigned(p, cs_val(p, VAL_MEMBER, self, name, 0), value);
}

uint32_t cs_fn_begin(struct cs_parser *p, struct cs_fn_state *s, uint32_t pos)
{
    s->outer = p->fn;
    s->branch = cs_branch(p);
    s->fn_branch = p->fn_branch;
    p->fn_branch = p->branch;
    s->returns = p->returns;
    s->returned = p->returned;
    p->returns = p->returned = 0;
    cs_loop_begin(p, &s->frame, LOOP_FUNCTION, K_NONE);
    return p->fn = cs_val(p, VAL_FN, 0, 0, pos);
}

void cs_fn_end(struct cs_parser *p, const struct cs_fn_state *s)
{
    p->val = p->fn;
    p->fn = s->outer;
    p->func_body = p->returns == 1 ? p->returned : 0;
    p->branch = s->branch;
    p->fn_branch = s->fn_branch;
    p->returns = s->returns;
    p->returned = s->returned;
    cs_loop_end(p, &s->frame);
}

void cs_returned(struct cs_parser *p, uint32_t value)
{
    if (value >= VALUE_FIRST)
        cs_val(p, VAL_RETURN, value, p->fn, 0);
}

/*
 * Loops that evidently never end: the condition always holds, and nothing in the body, functions in
 * it aside, leaves the loop or waits.
 */
#include "compile/parser.h"

void cs_loop_begin(struct cs_parser *p, struct cs_loop *l, enum cs_loop_kind kind, uint32_t label)
{
    *l = (struct cs_loop){.outer = p->loops, .label = label, .kind = kind};
    p->loops = l;
}

void cs_loop_end(struct cs_parser *p, const struct cs_loop *l)
{
    p->loops = l->outer;
}

void cs_loop_seen(struct cs_parser *p, const struct cs_loop *l, uint32_t pos, const char *name,
                  uint32_t cond)
{
    if (!l->left && cond && cond != VALUE_FALSE)
        *CS_PUSH(&p->endless) = (struct cs_endless){.pos = pos, .cond = cond, .name = name};
}

void cs_loop_jump(struct cs_parser *p, bool leaves, uint32_t label)
{
    struct cs_loop *last = NULL;
    for (struct cs_loop *l = p->loops; l && l->kind != LOOP_FUNCTION; l = l->outer) {
        if (l->kind == LOOP_LABEL) {
            if (l->label != label || label == K_NONE)
                continue;
            /* The loop that the label stands before: continue stays in it. */
            if (last && leaves)
                last->left = true;
            return;
        }
        if (label == K_NONE && (leaves || l->kind == LOOP_LOOP)) {
            l->left |= leaves;
            return;
        }
        if (label != K_NONE) {
            if (last)
                last->left = true;
            last = l;
        }
    }
}

void cs_loop_leave(struct cs_parser *p)
{
    /* Where one is left already, so are those around it. */
    for (struct cs_loop *l = p->loops; l && l->kind != LOOP_FUNCTION && !l->leaving; l = l->outer)
        l->left = l->leaving = true;
}

/* A value that always holds, as far as constants show. */
static bool holds(const struct cs_parser *p, uint32_t value, int depth, bool *known)
{
    const struct cs_val *v = &p->vals.at[value];
    *known = true;
    switch (v->kind) {
    case VAL_TRUE:
    case VAL_ARRAY:
    case VAL_OBJECT:
    case VAL_FN:
        return true;
    case VAL_FALSE:
        return false;
    case VAL_STR:
        return p->names.at[v->a].text.len > 0;
    case VAL_NOT:
        if (depth < 8)
            return !holds(p, v->a, depth + 1, known);
        break;
    case VAL_REF: {
        const struct cs_ref *r = &p->refs.at[v->a];
        uint32_t once = r->decl ? p->decls.at[r->decl - 1].once : 0;
        if (once && depth < 8)
            return holds(p, once, depth + 1, known);
        if (!r->decl && r->atom == K_undefined)
            return false;
        if (!r->decl && r->atom == K_globalThis)
            return true;
        break;
    }
    default:
        break;
    }
    *known = false;
    return false;
}

/*
 * What each declaration is set to, if that happens once and to a constant. A write of any other
 * kind leaves it unknown.
 */
static void constants(struct cs_parser *p)
{
    for (uint32_t i = VALUE_FIRST; i < p->vals.len; i++) {
        const struct cs_val *v = &p->vals.at[i], *t = &p->vals.at[v->a];
        if (v->kind == VAL_ASSIGN && t->kind == VAL_DECL)
            p->decls.at[t->a].once = v->b;
    }
    for (uint32_t i = 0; i < p->refs.len; i++) {
        const struct cs_ref *r = &p->refs.at[i];
        if (r->decl && (r->flags & REF_WRITE))
            p->decls.at[r->decl - 1].once = 0;
    }
}

void cs_loops(struct cs_parser *p)
{
    bool ready = false, known;
    for (uint32_t i = 0; i < p->endless.len; i++) {
        const struct cs_endless *e = &p->endless.at[i];
        if (!ready && e->cond >= VALUE_FIRST)
            constants(p);
        ready |= e->cond >= VALUE_FIRST;
        if (holds(p, e->cond, 0, &known) && known)
            cs_fact_add(p, CS_FACT_LOOP, cs_str(e->name), "", CS_STR(""), e->pos);
    }
}

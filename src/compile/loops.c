/*
 * Loops that evidently never end: the condition always holds, and nothing in the body, functions in
 * it aside, leaves the loop. One that waits is another thing, unless only a variable would end it,
 * and nobody sets that.
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

void cs_loop_seen(struct cs_parser *p, const struct cs_loop *l, struct cs_endless e)
{
    e.waits = l->waits;
    if (!l->left && p->kind != CS_COMPILE_STRIP)
        *CS_PUSH(&p->endless) = e;
}

void cs_loop_jump(struct cs_parser *p, bool leaves, uint32_t label)
{
    struct cs_loop *last = NULL;
    for (struct cs_loop *l = p->loops; l && l->kind != LOOP_FUNCTION && !p->dead; l = l->outer) {
        if (l->kind == LOOP_TRY)
            continue;
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
    if (p->dead)
        return;
    /* Where one is left already, so are those around it. */
    for (struct cs_loop *l = p->loops; l && l->kind != LOOP_FUNCTION && !l->leaving; l = l->outer) {
        l->leaving = true;
        l->left |= l->kind != LOOP_TRY;
    }
}

void cs_loop_throw(struct cs_parser *p)
{
    struct cs_loop *l = p->loops;
    while (l && l->kind != LOOP_FUNCTION && l->kind != LOOP_TRY)
        l = l->outer;
    if (!l || l->kind != LOOP_TRY) {
        cs_loop_leave(p);
        return;
    }
    for (l = p->loops; !p->dead; l = l->outer) {
        l->left = true;
        if (l->kind == LOOP_TRY)
            return;
    }
}

void cs_loop_wait(struct cs_parser *p)
{
    for (struct cs_loop *l = p->loops; l && l->kind != LOOP_FUNCTION && !l->waits; l = l->outer)
        l->waits = true;
}

void cs_loops(struct cs_parser *p)
{
    for (uint32_t i = 0; i < p->endless.len; i++) {
        cs_look_at_condition(p, i);
        struct cs_endless e = p->endless.at[i];
        if (e.always && (!e.waits || e.variable))
            cs_fact_add(p, CS_FACT_LOOP, cs_str(e.name), "", CS_STR(""), e.pos);
    }
}

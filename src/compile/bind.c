/* Assignments: values into variables, members, patterns and parameters. */
#include "compile/reach.h"

/* { toJSON() {} }: whoever gets the thing gets what it returns. */
static void asked_for(struct cs_reach *r, uint32_t member, uint32_t atom, uint32_t from)
{
    struct cs_str name = r->p->names.at[atom].text;
    uint32_t fn = from ? cs_reach_literal(r, from) : 0;
    if (fn && cs_reach_val(r, fn)->kind == VAL_FN &&
        (cs_str_is(name, "toJSON") || cs_str_is(name, "toString") || cs_str_is(name, "valueOf") ||
         cs_str_is(name, "then")))
        cs_spot_put(r, member, (struct cs_flow){.from = cs_fn_returned(r, fn).from});
}

/* The items of a literal into members of a place, or loosely into it. */
static void put_items(struct cs_reach *r, uint32_t place, uint32_t lit, unsigned deep)
{
    bool spread = false;
    r->marks[lit] |= MARK_EATEN;
    for (uint32_t i = cs_reach_val(r, lit)->a; i && cs_reach_step(r);) {
        const struct cs_val item = *cs_reach_val(r, i);
        bool named = (item.flags & VAL_NAMED) != 0;
        uint32_t atom = item.b, member = 0;
        if (!named)
            atom = item.b < CS_COUNT(r->digits) ? r->digits[item.b] : (uint32_t)K_NONE;
        spread |= (item.flags & VAL_SPREAD) != 0;
        if (!spread && atom != K_NONE)
            member = cs_spot_member(r, place, atom, true);
        if (member) {
            cs_reach_put(r, member, item.a, r->at[item.a], deep + 1);
            asked_for(r, member, named ? atom : (uint32_t)K_NONE, item.a);
        } else {
            struct cs_flow some = r->at[item.a];
            some.can |= cs_hand_out(r, item.a);
            cs_spot_put_some(r, place, some);
        }
        spread = spread && !named;
        i = item.c;
    }
}

/* A path that only says how something is called. */
static bool plain(const struct cs_reach *r, uint32_t path)
{
    return r->paths.at[path].kind < PATH_TOOLS;
}

/* c ? f : g: either function. */
static void put_fns(struct cs_reach *r, uint32_t place, uint32_t node, unsigned deep)
{
    const struct cs_val *v = cs_reach_val(r, node);
    uint32_t other = r->at[node].place;
    if (deep > DEEP_MOST || !cs_reach_step(r))
        return;
    if (v->kind == VAL_JOIN) {
        put_fns(r, place, v->a, deep + 1);
        put_fns(r, place, v->b, deep + 1);
    } else if (v->kind == VAL_FN) {
        cs_spot_put_fn(r, place, node);
    } else if (other && !(other & REACH_LOOSE)) {
        for (uint32_t i = r->places.at[cs_spot_itself(r, other) & ~REACH_LOOSE].fns; i;
             i = r->fns.at[i].next)
            cs_spot_put_fn(r, place, r->fns.at[i].fn);
    }
}

void cs_reach_put(struct cs_reach *r, uint32_t place, uint32_t from, struct cs_flow w,
                  unsigned deep)
{
    uint32_t lit = from ? cs_reach_literal(r, from) : 0;
    const struct cs_val *v = cs_reach_val(r, lit);
    if (!cs_reach_step(r))
        return;
    /* Another name for a member: what is put into the one is in the other. */
    if (from && !lit && !w.place && cs_reach_val(r, from)->kind == VAL_MEMBER && plain(r, w.path))
        w.place = cs_spot_of(r, from, 0);
    if (lit && v->kind == VAL_FN) {
        if (v->flags & VAL_READ)
            cs_spot_put(r, place, cs_fn_returned(r, lit));
        else
            cs_spot_put_fn(r, place & ~REACH_LOOSE, lit);
        /* A.x: what is static is kept with the rest of the class. */
        if (v->flags & VAL_CLASS)
            cs_spot_put(r, place, (struct cs_flow){.place = r->self});
    } else if (lit && deep < DEEP_MOST && !(place & REACH_LOOSE)) {
        put_items(r, place, lit, deep);
    } else {
        if (lit)
            w.can |= cs_hand_out(r, lit);
        if (from && cs_reach_val(r, from)->kind == VAL_JOIN)
            put_fns(r, place & ~REACH_LOOSE, from, 0);
        cs_spot_put(r, place, w);
    }
}

/* The part of a literal that a pattern's item takes, or 0. */
static uint32_t part_of(struct cs_reach *r, uint32_t lit, const struct cs_val *item)
{
    const struct cs_val *v = cs_reach_val(r, lit);
    bool named = (item->flags & VAL_NAMED) != 0;
    if (!lit || v->kind != (named ? VAL_OBJECT : VAL_ARRAY))
        return 0;
    for (uint32_t i = v->a; i && cs_reach_step(r); i = cs_reach_val(r, i)->c) {
        const struct cs_val *part = cs_reach_val(r, i);
        if (part->flags & VAL_SPREAD)
            return 0;
        if (part->b == item->b && (item->b != K_NONE || !named))
            return part->a;
    }
    return 0;
}

static uint32_t spot_of_name(struct cs_reach *r, const struct cs_ref *ref)
{
    if (!ref->decl && ref->atom == K_globalThis)
        return r->globals;
    if (!ref->decl)
        return cs_spot_member(r, r->globals, ref->atom, true);
    if (r->p->decls.at[ref->decl - 1].kind == DECL_NSVAR)
        return cs_spot_member(r, r->spaces, ref->atom, true);
    if (r->p->decls.at[ref->decl - 1].kind == DECL_NS)
        return r->spaces;
    return ref->decl;
}

/* The place that an expression stands for, or 0; members come to be. */
uint32_t cs_spot_of(struct cs_reach *r, uint32_t node, unsigned deep)
{
    const struct cs_val *v = cs_reach_val(r, node);
    switch (v->kind) {
    case VAL_DECL:
        return v->a + 1;
    case VAL_REF:
        return spot_of_name(r, &r->p->refs.at[v->a]);
    case VAL_THIS:
        return r->self;
    case VAL_THROWN:
        return r->thrown;
    case VAL_ASSIGN:
        return deep < DEEP_MOST ? cs_spot_of(r, v->a, deep + 1) : 0;
    case VAL_MEMBER: {
        uint32_t of = deep < DEEP_MOST ? cs_spot_of(r, v->a, deep + 1) : r->at[v->a].place;
        if (v->b == r->prototype && !r->at[v->a].path)
            return r->self;
        of = of ? cs_spot_itself(r, of) : 0;
        if (!of || of & REACH_LOOSE || v->b == K_NONE)
            return of ? of | REACH_LOOSE : 0;
        uint32_t member = cs_spot_member(r, of, v->b, true);
        return member ? member : of | REACH_LOOSE;
    }
    default:
        return r->at[node].place;
    }
}

/* It goes where nobody follows it. */
static void hand_on(struct cs_reach *r, uint32_t from, struct cs_flow w)
{
    cs_path_tool(r, w.path, r->pos, "alias");
    cs_hand_out_spot(r, w.place);
    if (from)
        cs_hand_out(r, from);
}

/* x.name = value: also in what x is another name of. */
static void put_member(struct cs_reach *r, const struct cs_val *target, uint32_t from,
                       struct cs_flow w, unsigned deep)
{
    uint32_t of = cs_spot_of(r, target->a, 0);
    if (!of)
        hand_on(r, from, w);
    for (uint32_t steps = 0; of && steps < 16 && cs_reach_step(r); steps++) {
        uint32_t loose = of & REACH_LOOSE, base = of & ~REACH_LOOSE, member = 0;
        if (!loose && target->b != K_NONE)
            member = cs_spot_member(r, base, target->b, true);
        if (member) {
            cs_reach_put(r, member, from, w, deep + 1);
            asked_for(r, member, target->b, from);
        } else {
            struct cs_flow some = w;
            uint32_t lit = from ? cs_reach_literal(r, from) : 0;
            if (from)
                some.can |= cs_hand_out(r, from);
            if (lit && cs_reach_val(r, lit)->kind == VAL_FN)
                cs_spot_put_fn(r, base, lit);
            cs_spot_put_some(r, base, some);
            return;
        }
        of = r->places.at[base].same;
    }
}

/* The items of a pattern, each with its part of the value. */
static void bind_items(struct cs_reach *r, uint32_t pattern, uint32_t from, struct cs_flow w,
                       unsigned deep)
{
    uint32_t lit = from ? cs_reach_literal(r, from) : 0;
    r->marks[pattern] |= MARK_PATTERN;
    r->marks[lit] |= MARK_EATEN;
    for (uint32_t i = cs_reach_val(r, pattern)->a; i && cs_reach_step(r);) {
        const struct cs_val item = *cs_reach_val(r, i);
        uint32_t part = 0;
        struct cs_flow got = w;
        if (item.flags & VAL_SPREAD) {
            got.place = w.place ? w.place | REACH_LOOSE : 0;
            if (lit && !(item.flags & VAL_NAMED))
                got.can |= cs_hand_out(r, lit);
        } else if ((part = part_of(r, lit, &item))) {
            got = r->at[part];
        } else {
            uint32_t atom = item.flags & VAL_NAMED         ? item.b
                            : item.b < CS_COUNT(r->digits) ? r->digits[item.b]
                                                           : (uint32_t)K_NONE;
            if (lit)
                got.can |= cs_hand_out(r, lit);
            got = cs_flow_member(r, got, atom);
            if (!got.place && plain(r, got.path) && w.place && !(w.place & REACH_LOOSE)) {
                uint32_t of = cs_spot_itself(r, w.place);
                got.place = of & REACH_LOOSE ? of : cs_spot_member(r, of, atom, true);
            }
            if (got.path && r->paths.at[got.path].kind == PATH_TOOL)
                cs_path_tool(r, got.path, r->pos, "alias");
        }
        cs_reach_bind(r, item.a, part, got, deep + 1);
        i = item.c;
    }
}

void cs_reach_bind(struct cs_reach *r, uint32_t target, uint32_t from, struct cs_flow w,
                   unsigned deep)
{
    const struct cs_val t = *cs_reach_val(r, target);
    if (!cs_reach_step(r))
        return;
    switch (t.kind) {
    case VAL_ASSIGN: /* with a default, which is assigned where it stands */
        if (deep < DEEP_MOST)
            cs_reach_bind(r, t.a, from, w, deep + 1);
        else
            r->lost = true;
        return;
    case VAL_ARRAY:
    case VAL_OBJECT:
        if (deep < DEEP_MOST)
            bind_items(r, target, from, w, deep);
        else
            r->lost = true;
        return;
    case VAL_MEMBER:
        put_member(r, &t, from, w, deep);
        if (deep > 0 && cs_path_whole(r, w.path))
            hand_on(r, from, w);
        return;
    default: {
        uint32_t place = cs_spot_of(r, target, 0);
        if (place)
            cs_reach_put(r, place, from, w, deep);
        else
            hand_on(r, from, w);
    }
    }
}

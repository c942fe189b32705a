/* The walk over all values: what each of them is, and what calls do. See reach.h. */
#include "compile/reach.h"

/* The literal or function that a value is, seen through assignments and Promise.all. */
uint32_t cs_reach_literal(const struct cs_reach *r, uint32_t node)
{
    for (uint32_t i = 0; i < DEEP_MOST; i++) {
        const struct cs_val *v = cs_reach_val(r, node);
        if (v->kind == VAL_ARRAY || v->kind == VAL_OBJECT || v->kind == VAL_FN)
            return node;
        if (v->kind == VAL_ASSIGN)
            node = v->b;
        else if (v->kind == VAL_CALL && v->b && !(cs_reach_val(r, v->b)->flags & VAL_SPREAD) &&
                 r->paths.at[r->at[v->a].path].special == SPECIAL_WHOLE)
            node = cs_reach_val(r, v->b)->a;
        else
            break;
    }
    return 0;
}

static bool nothing(struct cs_flow w)
{
    return !w.from && !w.can && !w.path && !w.place;
}

struct cs_flow cs_flow_join(struct cs_reach *r, struct cs_flow a, struct cs_flow b)
{
    if (a.path && b.path && a.path != b.path)
        b.can |=
            cs_path_tool(r, a.path, r->pos, "alias") | cs_path_tool(r, b.path, r->pos, "alias");
    uint32_t place = a.place == b.place ? a.place : 0;
    if (nothing(a))
        place = b.place;
    else if (nothing(b))
        place = a.place;
    else if (!place && !r->quiet)
        a.can |= cs_hand_out_inside(r, a.place) | cs_hand_out_inside(r, b.place);
    a.from |= b.from;
    a.can |= b.can;
    a.path = a.path ? a.path : b.path;
    a.place = place;
    return a;
}

uint32_t cs_start_of(const struct cs_reach *r, uint32_t node, const char **via)
{
    const struct cs_val *v = cs_reach_val(r, node);
    for (uint32_t i = 0; v->kind == VAL_MEMBER && i < 64; i++)
        v = cs_reach_val(r, v->a);
    *via = "alias";
    if (v->kind == VAL_REF) {
        const struct cs_ref *ref = &r->p->refs.at[v->a];
        if (!ref->decl)
            *via = "chain";
        return ref->start;
    }
    return v->kind == VAL_IMPORT || v->kind == VAL_CALL ? v->c : r->pos;
}

static struct cs_flow reference(struct cs_reach *r, uint32_t node)
{
    struct cs_parser *p = r->p;
    const struct cs_ref *ref = &p->refs.at[cs_reach_val(r, node)->a];
    r->pos = ref->start;
    if (!ref->decl && ref->atom == K_arguments) {
        r->changed |= !r->arguments_used;
        r->arguments_used = true;
        return cs_spot_read(r, r->args);
    }
    if (!ref->decl) {
        uint32_t place = cs_spot_member(r, r->globals, ref->atom, false);
        struct cs_flow w = place ? cs_spot_read(r, place) : (struct cs_flow){0};
        w.path = w.path ? w.path : cs_path_free(r, ref->atom);
        if (ref->atom == K_globalThis)
            w.place = r->globals;
        return w;
    }
    const struct cs_decl *d = &p->decls.at[ref->decl - 1];
    if (d->kind == DECL_NS)
        return cs_spot_read(r, r->spaces);
    if (d->kind == DECL_NSVAR) {
        uint32_t place = cs_spot_member(r, r->spaces, ref->atom, false);
        return place ? cs_spot_read(r, place) : (struct cs_flow){0};
    }
    if (d->kind != DECL_IMPORT)
        return cs_spot_read(r, ref->decl);
    const struct cs_spec *s = &p->specs.at[d->aux];
    const struct cs_req *req = &p->reqs.at[s->req];
    r->pos = req->pos;
    struct cs_flow w = {.path = cs_path_module(r, req->atom)};
    if (s->name != K_NONE)
        w.path = cs_path_member(r, w.path, s->name);
    if (r->paths.at[w.path].kind == PATH_TOOL)
        cs_path_tool(r, w.path, req->pos, "import");
    return w;
}

/* The text that a node stands for, as an atom, or K_NONE. */
static uint32_t folded(struct cs_reach *r, uint32_t node)
{
    struct cs_folded f = cs_fold_node(r->p, node);
    if (f.sort != FOLD_TEXT || f.partial || !f.len)
        return K_NONE;
    return cs_intern(r->p, cs_arena_dup(&r->p->scratch, cs_strn(f.text, f.len)));
}

/* Members that are not what their name says. */
static bool odd_member(struct cs_reach *r, uint32_t of, uint32_t atom, struct cs_flow *w)
{
    *w = r->at[of];
    if (atom == r->value_of && cs_path_whole(r, w->path))
        *w = (struct cs_flow){.can = cs_hand_out(r, of)};
    else if (atom == r->prototype && !w->path)
        *w = cs_spot_read(r, r->self);
    else /* N.M of namespaces in each other */
        return w->place == r->spaces && !cs_spot_member(r, r->spaces, atom, false);
    return true;
}

static struct cs_flow member(struct cs_reach *r, uint32_t node)
{
    const struct cs_val v = *cs_reach_val(r, node);
    struct cs_flow of = r->at[v.a], w;
    uint32_t atom = v.b;
    if (cs_reach_val(r, v.a)->kind == VAL_ARRAY || cs_reach_val(r, v.a)->kind == VAL_OBJECT) {
        of.can |= cs_hand_out(r, v.a);
    }
    if (atom == K_NONE && v.c && of.path)
        atom = folded(r, v.c);
    if (odd_member(r, v.a, atom, &w))
        return w;
    if (of.path && r->paths.at[of.path].kind == PATH_GLOBAL && atom != K_NONE) {
        uint32_t place = cs_spot_member(r, r->globals, atom, false);
        w = place ? cs_spot_read(r, place) : (struct cs_flow){0};
        w.path = w.path ? w.path : cs_path_free(r, atom);
        return w;
    }
    /* import().then: of the promise. With await before it, of the module. */
    if (cs_reach_val(r, v.a)->kind == VAL_IMPORT && cs_str_is(r->p->names.at[atom].text, "then"))
        return (struct cs_flow){0};
    w = cs_flow_member(r, of, atom);
    if (w.path) {
        const struct cs_path *to = &r->paths.at[w.path];
        const char *via;
        uint32_t pos = cs_start_of(r, node, &via);
        if (to->kind == PATH_TOOL)
            cs_path_tool(r, w.path, pos, via);
        if ((to->kind == PATH_SERVER && to->server == K_NONE) ||
            (to->special == SPECIAL_NAMED && to->atom == K_NONE))
            w.can |= cs_any_tool(r, pos);
    }
    return w;
}

static struct cs_flow literal_value(struct cs_reach *r, uint32_t node)
{
    struct cs_flow w = {0};
    for (uint32_t i = cs_reach_val(r, node)->a; i; i = cs_reach_val(r, i)->c) {
        const struct cs_flow *item = &r->at[cs_reach_val(r, i)->a];
        w.from |= item->from;
        w.can |= item->can;
        r->in_literals |= item->path && cs_path_whole(r, item->path);
    }
    return w;
}

static struct cs_flow imported(struct cs_reach *r, const struct cs_val *v)
{
    uint32_t specifier = v->a ? folded(r, v->a) : (uint32_t)K_NONE;
    r->pos = v->c;
    if (specifier != K_NONE)
        return (struct cs_flow){.path = cs_path_module(r, specifier)};
    return (struct cs_flow){.can = cs_any_tool(r, v->c)};
}

/* size: one case for each kind */
static void look_at(struct cs_reach *r, uint32_t node)
{
    const struct cs_val v = *cs_reach_val(r, node);
    struct cs_flow w = {0};
    r->quiet = (v.flags & VAL_TARGET) != 0;
    switch (v.kind) {
    case VAL_REF:
        w = reference(r, node);
        break;
    case VAL_DECL:
        r->pos = r->p->decls.at[v.a].pos;
        w = cs_spot_read(r, v.a + 1);
        break;
    case VAL_JOIN:
        w = cs_flow_join(r, r->at[v.a], r->at[v.b]);
        break;
    case VAL_MEMBER:
        w = member(r, node);
        break;
    case VAL_CALL:
    case VAL_NEW:
        w = cs_reach_call(r, node);
        break;
    case VAL_ARRAY:
    case VAL_OBJECT:
        w = literal_value(r, node);
        break;
    case VAL_RETURN:
        if (v.b)
            cs_reach_put(r, cs_fn_returns(r, v.b), v.a, r->at[v.a], 0);
        else
            cs_hand_out(r, v.a);
        break;
    case VAL_ASSIGN:
        r->quiet = false;
        if (v.c)
            cs_reach_bind(r, v.a, 0, (struct cs_flow){.from = r->at[v.b].from}, 0);
        else if (v.b >= VALUE_FIRST)
            cs_reach_bind(r, v.a, v.b, r->at[v.b], 0);
        w = r->at[v.b];
        break;
    case VAL_IMPORT:
        w = imported(r, &v);
        break;
    case VAL_THIS:
        w = cs_spot_read(r, r->self);
        break;
    case VAL_THROWN:
        w = cs_spot_read(r, r->thrown);
        break;
    case VAL_NONE:
    case VAL_STR:
    case VAL_TRUE:
    case VAL_FALSE:
    case VAL_NOT:
    case VAL_FN:
    case VAL_ITEM:
    case VAL_KEY:
        break;
    }
    r->at[node] = w;
}

/* Is there anything that tools or permissions could come from? */
static bool worth_it(struct cs_parser *p)
{
    for (uint32_t i = 0; i < p->reqs.len; i++) {
        const struct cs_req *req = &p->reqs.at[i];
        if ((req->used || req->dynamic) && !cs_path_plain(p, req->atom, true))
            return true;
    }
    bool *seen = cs_arena_alloc(&p->scratch, p->names.len * sizeof *seen);
    for (uint32_t i = 0; i < p->refs.len; i++) {
        const struct cs_ref *ref = &p->refs.at[i];
        if (ref->decl || (ref->flags & (REF_DEAD | REF_EXPORT)) || seen[ref->atom])
            continue;
        seen[ref->atom] = true;
        if (!cs_path_plain(p, ref->atom, false))
            return true;
    }
    for (uint32_t i = VALUE_FIRST; i < p->vals.len; i++) {
        if (p->vals.at[i].kind == VAL_IMPORT)
            return true;
    }
    return false;
}

/* What other modules can get. */
static void exported(struct cs_reach *r)
{
    struct cs_parser *p = r->p;
    for (uint32_t i = 0; i < p->exports.len; i++) {
        const struct cs_export *e = &p->exports.at[i];
        uint32_t path = 0;
        r->pos = e->pos;
        if (e->kind == EXPORT_LOCAL) {
            if (e->ref && p->refs.at[e->ref - 1].decl)
                cs_hand_out_spot(r, p->refs.at[e->ref - 1].decl);
            continue;
        }
        const struct cs_req *req = &p->reqs.at[e->req];
        path = cs_path_module(r, req->atom);
        if (e->kind == EXPORT_FROM)
            path = cs_path_member(r, path, e->local);
        if (path)
            cs_path_tool(r, path, req->pos, "import");
    }
    if (!p->exports.len)
        return;
    /* export const x = tools.y: by its name. */
    for (uint32_t i = 0; i < p->decls.len; i++) {
        const struct cs_decl *d = &p->decls.at[i];
        if (d->scope != 0 || d->kind == DECL_TYPE ||
            (!r->places.at[i + 1].path && !r->places.at[i + 1].member && !r->places.at[i + 1].same))
            continue;
        r->pos = d->pos;
        for (uint32_t k = 0; k < p->exports.len && cs_reach_step(r); k++) {
            if (p->exports.at[k].kind == EXPORT_LOCAL && p->exports.at[k].local == d->atom)
                cs_hand_out_spot(r, i + 1);
        }
    }
}

/* How many servers' tools have been met; more than one is enough to know. */
static uint32_t servers(const struct cs_reach *r)
{
    uint32_t count = r->tools.len > 0;
    for (uint32_t i = 1; i < r->tools.len && count < 2; i++)
        count += r->tools.at[i].server != r->tools.at[0].server;
    return count;
}

static void reach_init(struct cs_reach *r)
{
    struct cs_parser *p = r->p;
    r->at = cs_arena_alloc(&p->scratch, p->vals.len * sizeof *r->at);
    r->marks = cs_arena_alloc(&p->scratch, p->vals.len * sizeof *r->marks);
    *CS_PUSH(&r->paths) = (struct cs_path){0};
    *CS_PUSH(&r->fns) = (struct cs_fn_link){0};
    for (uint32_t i = 0; i < CS_COUNT(r->digits); i++)
        r->digits[i] = cs_intern(p, cs_strn(&"0123456789"[i], 1));
    r->prototype = cs_intern(p, CS_STR("prototype"));
    r->value_of = cs_intern(p, CS_STR("valueOf"));
    cs_spots_init(r);
    r->steps_max = (uint64_t)p->vals.len * REACH_STEPS + 10000;
}

void cs_reach(struct cs_parser *p)
{
    cs_loops(p);
    cs_reach_nested(p);
    if (p->kind == CS_COMPILE_STRIP || !worth_it(p))
        return;
    struct cs_reach r = {.p = p};
    reach_init(&r);
    for (r.pass = 1; !r.lost; r.pass++) {
        r.changed = r.moved = false;
        for (uint32_t i = VALUE_FIRST; i < p->vals.len && cs_reach_step(&r); i++) {
            if (p->vals.at[i].kind != VAL_ITEM)
                look_at(&r, i);
        }
        if (!(r.changed || (r.moved && servers(&r) > 1)) || !r.matters)
            break;
        r.lost |= r.pass == REACH_PASSES;
    }
    r.quiet = false;
    exported(&r);
    cs_reach_left(&r);
    cs_flow_facts(&r);
    cs_permissions(&r);
    free(r.paths.at);
    free(r.path_table);
    free(r.places.at);
    free(r.fns.at);
    free(r.tools.at);
    free(r.members);
    free(r.member_keys);
}

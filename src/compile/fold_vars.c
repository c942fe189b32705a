/* The values of variables, once names are resolved: by declarations, assignments and patterns. */
#include "compile/fold.h"

#define PUSH_MOST 64 /* elements put behind a list, one after the other, that are followed */
#define TAKE_DEEP 16 /* patterns in each other that are taken apart */

static void bind(struct cs_parser *p, uint32_t bind)
{
    struct cs_bound *b = &p->binds.at[bind];
    struct cs_variable *var = &p->folder->variables[b->decl];
    const struct cs_node *hole = &p->nodes.at[b->node];
    var->scattered |= var->first && var->branch != b->branch;
    var->branch = b->branch;
    b->next = var->first;
    var->first = bind + 1;
    if (hole->kind == NODE_HOLE)
        var->changes += (hole->flags & NODE_MAYBE) != 0;
    var->values += hole->kind != NODE_HOLE || hole->a != 0;
}

/* x.push(y), where x is a list: one after the other, and nowhere else. */
static void push(struct cs_parser *p, uint32_t index)
{
    struct cs_push *one = &p->pushes.at[index];
    uint32_t decl = p->refs.at[one->ref].decl;
    struct cs_variable *var = &p->folder->variables[decl ? decl - 1 : p->decls.len];
    const struct cs_ref *r = &p->refs.at[one->ref];
    if (!decl || r->flags & REF_DEAD)
        return;
    var->shared |=
        one->branch != var->branch || var->values != 1 || ++var->pushed > PUSH_MOST ||
        p->scopes.at[r->scope].function != p->scopes.at[p->decls.at[decl - 1].scope].function;
    one->next = var->pushes;
    var->pushes = index + 1;
    if (var->shared)
        var->pushes = 0;
}

static void written(struct cs_parser *p, struct cs_write w)
{
    uint32_t decl = p->refs.at[w.ref].decl;
    if (!decl || (p->refs.at[w.ref].flags & REF_DEAD))
        return;
    p->folder->variables[decl - 1].changes--;
    *CS_PUSH(&p->binds) =
        (struct cs_bound){.decl = decl - 1, .node = w.node, .pos = w.pos, .branch = w.branch};
}

/* The parts of a pattern, each bound to its part of what is taken apart. */
static void take(struct cs_parser *p, struct cs_take t, unsigned deep)
{
    struct cs_node n = p->nodes.at[t.target];
    uint32_t count = cs_list_len(p, n.kind == NODE_OBJECT || n.kind == NODE_ARRAY ? n.b : 0);
    if (n.kind == NODE_REF) {
        uint32_t decl = p->refs.at[n.a].decl;
        if (!decl)
            return;
        if (!(p->refs.at[n.a].flags & REF_DEAD) && p->folder->variables[decl - 1].changes)
            p->folder->variables[decl - 1].changes--;
        *CS_PUSH(&p->binds) =
            (struct cs_bound){.decl = decl - 1, .node = t.from, .pos = t.pos, .branch = t.branch};
        return;
    }
    if (n.kind == NODE_ASSIGN) {
        /* The default has been assigned where it stands, unless this is a parameter. */
        struct cs_take with = t;
        struct cs_node to = p->nodes.at[n.a];
        with.target = n.a;
        if (to.kind == NODE_ASSIGN)
            return;
        take(p, with, deep);
        with.from = n.b;
        if (to.kind == NODE_REF && p->refs.at[to.a].flags & REF_DEAD)
            take(p, with, deep);
        return;
    }
    p->nodes.at[t.target].flags |= NODE_WRITTEN;
    for (uint32_t i = 0; i < count && deep < TAKE_DEEP; i++) {
        uint32_t key = K_NONE, value = cs_list_at(p, n.b, i);
        struct cs_take part = t;
        if (n.kind == NODE_OBJECT) {
            key = value;
            value = cs_list_at(p, n.b, ++i);
        }
        part.target = value & ~CS_SPREAD;
        uint32_t pos = p->nodes.at[part.target].pos;
        if (!part.target)
            continue;
        if (value & CS_SPREAD)
            part.from = cs_node(p, NODE_REST, t.from, 0, pos);
        else if (n.kind == NODE_ARRAY)
            part.from = cs_node(p, NODE_ELEMENT, t.from, i, pos);
        else if (key & CS_SPREAD)
            part.from = cs_node(p, NODE_INDEX, t.from, key & ~CS_SPREAD, pos);
        else
            part.from = key == K_NONE ? 0 : cs_node(p, NODE_MEMBER, t.from, key, pos);
        take(p, part, deep + 1);
    }
}

/* Methods that leave a list or object as it is. */
static bool harmless(const struct cs_parser *p, uint32_t atom)
{
    static const struct cs_str names[] = {
        CS_LIT("join"), CS_LIT("slice"),   CS_LIT("at"),      CS_LIT("map"),      CS_LIT("filter"),
        CS_LIT("find"), CS_LIT("forEach"), CS_LIT("indexOf"), CS_LIT("includes"), CS_LIT("concat")};
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        if (cs_str_eq(p->names.at[atom].text, names[i]))
            return true;
    }
    return false;
}

/* The variable at the root of members may hold something else in them now. */
static void share(struct cs_parser *p, uint32_t node)
{
    while (p->nodes.at[node].kind == NODE_MEMBER || p->nodes.at[node].kind == NODE_INDEX)
        node = p->nodes.at[node].a;
    const struct cs_node *n = &p->nodes.at[node];
    if (n->kind == NODE_REF && p->refs.at[n->a].decl && !(p->refs.at[n->a].flags & REF_DEAD))
        p->folder->variables[p->refs.at[n->a].decl - 1].shared = true;
}

static void find_shared(struct cs_parser *p)
{
    for (uint32_t i = 1; i < p->nodes.len; i++) {
        const struct cs_node *n = &p->nodes.at[i];
        bool member = n->kind == NODE_MEMBER || n->kind == NODE_INDEX;
        if (n->kind == NODE_REF && !(n->flags & NODE_INNER))
            share(p, i);
        else if (member && (n->flags & NODE_WRITTEN))
            share(p, n->a);
        if (n->kind != NODE_CALL)
            continue;
        const struct cs_node *callee = &p->nodes.at[n->a];
        if (callee->kind == NODE_MEMBER && callee->b == K_push &&
            p->nodes.at[callee->a].kind == NODE_REF)
            continue;
        if (callee->kind == NODE_INDEX || (callee->kind == NODE_MEMBER && !harmless(p, callee->b)))
            share(p, callee->a);
    }
}

void cs_fold_variables(struct cs_parser *p)
{
    struct cs_folder *f = p->folder;
    for (uint32_t i = 0; i < p->refs.len; i++) {
        const struct cs_ref *r = &p->refs.at[i];
        if ((r->flags & REF_WRITE) && r->decl)
            f->variables[r->decl - 1].changes++;
    }
    /* Both in the order of the text. */
    for (uint32_t i = 0, k = 0; i < p->writes.len || k < p->takes.len;) {
        if (i == p->writes.len || (k < p->takes.len && p->takes.at[k].pos < p->writes.at[i].pos))
            take(p, p->takes.at[k++], 0);
        else
            written(p, p->writes.at[i++]);
    }
    for (uint32_t i = p->binds.len; i-- > 0;)
        bind(p, i);
    for (uint32_t i = p->pushes.len; i-- > 0;)
        push(p, i);
    find_shared(p);
}

/*
 * What nodes stand for, once names are resolved: nodes.h.
 *
 * Nodes are looked at in the order they were written down, parts before the whole, so nothing here
 * goes deep; only a name that is used before its value stands in the text leads ahead.
 */
#include <stdio.h>

#include "base/utf8.h"
#include "compile/parser.h"

struct cs_folder {
    struct cs_folded *values;
    uint8_t *state; /* of each node */
    struct variable {
        uint32_t first;   /* its values: index + 1 in binds, then next */
        uint32_t values;  /* how many */
        uint32_t changes; /* besides */
        bool shared;      /* what it holds may be changed by others, or in parts */
    } * variables;        /* of each declaration */
    uint32_t bytes, steps, depth;
    bool cut;
};

enum { UNKNOWN, BUSY, DONE };

static const struct cs_folded nothing;

bool cs_fold_cut(const struct cs_parser *p)
{
    return p->folder->cut;
}

bool cs_fold_steps(struct cs_parser *p, uint32_t n)
{
    if (p->folder->steps < n) {
        p->folder->cut = true;
        return false;
    }
    p->folder->steps -= n;
    return true;
}

char *cs_fold_room(struct cs_parser *p, size_t len)
{
    struct cs_folder *f = p->folder;
    if (len > CS_FOLD_TEXT || len > f->bytes) {
        f->cut = true;
        return NULL;
    }
    f->bytes -= (uint32_t)len;
    return cs_arena_alloc(&p->scratch, len + 1);
}

struct cs_folded cs_fold_text(const char *text, size_t len, enum cs_via via, bool partial)
{
    return (struct cs_folded){.sort = FOLD_TEXT,
                              .via = (uint8_t)via,
                              .partial = partial,
                              .len = (uint32_t)len,
                              .text = text};
}

struct cs_folded cs_fold_root(struct cs_parser *p, enum cs_root root, uint32_t atom)
{
    *CS_PUSH(&p->links) = (struct cs_link){.atom = atom, .root = (uint8_t)root};
    return (struct cs_folded){.sort = FOLD_CHAIN, .link = p->links.len - 1};
}

static bool global_name(const struct cs_parser *p, uint32_t atom)
{
    static const struct cs_str names[] = {CS_LIT("window"), CS_LIT("self"), CS_LIT("global"),
                                          CS_LIT("frames")};
    if (atom == K_globalThis)
        return true;
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        if (cs_str_eq(p->names.at[atom].text, names[i]))
            return true;
    }
    return false;
}

bool cs_chain_global(const struct cs_parser *p, uint32_t link)
{
    const struct cs_link *l = &p->links.at[link];
    return link && l->up == 0 && l->root == ROOT_FREE && l->atom != CS_PART_ANY &&
           global_name(p, l->atom);
}

static struct cs_folded chain_member(struct cs_parser *p, uint32_t link, uint32_t atom)
{
    struct cs_link l = p->links.at[link];
    if (atom != CS_PART_ANY && cs_chain_global(p, link))
        return cs_fold_root(p, ROOT_FREE, atom);
    if (l.parts == CS_CHAIN_PARTS || (l.up == 0 && l.root == ROOT_IMPORT && atom == K_default))
        return (struct cs_folded){.sort = FOLD_CHAIN, .link = link};
    *CS_PUSH(&p->links) =
        (struct cs_link){.up = link, .atom = atom, .root = l.root, .parts = (uint8_t)(l.parts + 1)};
    return (struct cs_folded){.sort = FOLD_CHAIN, .link = p->links.len - 1};
}

/* The last property of that name in an object literal. */
static struct cs_folded property(struct cs_parser *p, uint32_t node, uint32_t atom)
{
    uint32_t list = p->nodes.at[node].b, n = cs_list_len(p, list);
    if (!cs_fold_steps(p, n / 2))
        return nothing;
    for (uint32_t i = n; i >= 2; i -= 2) {
        uint32_t key = cs_list_at(p, list, i - 2);
        if (key == atom)
            return cs_fold_node(p, cs_list_at(p, list, i - 1) & ~CS_SPREAD);
        if (key == K_NONE)
            break;
    }
    return nothing;
}

/* Of what may have been changed, a constant is none; a name is followed nevertheless. */
static struct cs_folded unless_changed(struct cs_folded whole, struct cs_folded part)
{
    if (whole.partial && (part.sort == FOLD_LIST || part.sort == FOLD_OBJECT))
        part.partial = true;
    else if (whole.partial && part.sort != FOLD_CHAIN)
        return nothing;
    return part;
}

struct cs_folded cs_fold_member(struct cs_parser *p, struct cs_folded object, uint32_t atom)
{
    if (object.sort == FOLD_CHAIN)
        return chain_member(p, object.link, atom);
    if (object.sort == FOLD_OBJECT && atom != CS_PART_ANY && atom != K_constructor &&
        atom != K___proto__)
        return unless_changed(object, property(p, object.node, atom));
    if (atom == K_constructor || atom == K___proto__)
        return chain_member(p, cs_fold_root(p, ROOT_ANY, CS_PART_ANY).link, atom);
    return nothing;
}

struct cs_folded cs_fold_element(struct cs_folded object, struct cs_folded key)
{
    double at = key.number;
    if (key.sort != FOLD_NUMBER || at < 0 || at >= object.len || at != (uint32_t)at)
        return nothing;
    if (object.sort == FOLD_LIST)
        return unless_changed(object, object.list[(uint32_t)at]);
    if (object.sort == FOLD_TEXT && !object.partial &&
        (unsigned char)object.text[(uint32_t)at] < 128)
        return cs_fold_text(object.text + (uint32_t)at, 1, VIA_CHARCODE, false);
    return nothing;
}

static struct cs_folded of_index(struct cs_parser *p, const struct cs_node *v)
{
    struct cs_folded object = cs_fold_node(p, v->a), key = cs_fold_node(p, v->b);
    if (key.sort == FOLD_NUMBER && (object.sort == FOLD_LIST || object.sort == FOLD_TEXT))
        return cs_fold_element(object, key);
    if (key.sort == FOLD_TEXT && !key.partial && key.len <= CS_FACT_NAME_BYTES)
        return cs_fold_member(p, object, cs_intern(p, cs_strn(key.text, key.len)));
    /* Some member of a literal that has no strange ones is not worth following. */
    return object.sort == FOLD_CHAIN ? cs_fold_member(p, object, CS_PART_ANY) : nothing;
}

static struct cs_folded of_import(struct cs_parser *p, uint32_t spec)
{
    const struct cs_spec *s = &p->specs.at[spec];
    struct cs_folded v = cs_fold_root(p, ROOT_IMPORT, p->reqs.at[s->req].atom);
    return s->name == K_NONE ? v : cs_fold_member(p, v, s->name);
}

static struct cs_folded of_variable(struct cs_parser *p, uint32_t decl)
{
    const struct variable *var = &p->folder->variables[decl];
    uint32_t looked = 0;
    if (var->first == 0)
        return nothing;
    bool clear = var->values == 1 && var->changes == 0;
    for (uint32_t i = var->first; i && looked < CS_BINDS_FOLLOWED; looked++) {
        struct cs_bound b = p->binds.at[i - 1];
        struct cs_folded v = cs_fold_node(p, b.node);
        /* A variable that changes is no constant, but may be what any of its values is. */
        v.partial |= var->shared && (v.sort == FOLD_LIST || v.sort == FOLD_OBJECT);
        if (clear || v.sort == FOLD_CHAIN)
            return v;
        i = b.next;
    }
    return nothing;
}

static struct cs_folded of_ref(struct cs_parser *p, uint32_t index)
{
    const struct cs_ref *r = &p->refs.at[index];
    if (r->flags & REF_DEAD)
        return nothing;
    if (r->decl == 0) {
        return r->atom == K_undefined || r->atom == K_arguments
                   ? nothing
                   : cs_fold_root(p, ROOT_FREE, r->atom);
    }
    const struct cs_decl *d = &p->decls.at[r->decl - 1];
    if (d->kind == DECL_IMPORT)
        return of_import(p, d->aux);
    if (d->kind == DECL_VALUE || d->kind == DECL_ALIAS)
        return of_variable(p, r->decl - 1);
    return nothing;
}

/* Decimal digits and nothing else, as most numbers are. */
static bool plain_number(const char *s, double *v)
{
    size_t n = 0;
    for (*v = 0; s[n] >= '0' && s[n] <= '9' && n < 15; n++)
        *v = *v * 10 + (s[n] - '0');
    return n < 15 && !strchr("._xXeEbBoO", s[n] ? s[n] : ';');
}

/* 0b101, 0o17 */
static double in_base(const char *s, double base)
{
    double v = 0;
    for (; (*s >= '0' && *s <= '7') || *s == '_'; s++)
        v = *s == '_' ? v : v * base + (*s - '0');
    return v;
}

static struct cs_folded of_number(struct cs_parser *p, uint32_t pos)
{
    const char *s = p->src + pos;
    struct cs_folded v = {.sort = FOLD_NUMBER};
    char digits[64], second = (char)(s[0] == '0' ? s[1] | 0x20 : 0);
    size_t n = 0;
    if (plain_number(s, &v.number))
        return v;
    if (second == 'b' || second == 'o') {
        v.number = in_base(s + 2, second == 'b' ? 2 : 8);
        return v;
    }
    for (; n < sizeof digits - 1; s++) {
        if (*s && strchr("0123456789abcdefABCDEF.xX", *s))
            digits[n++] = *s;
        else if (*s != '_')
            break;
    }
    digits[n] = 0;
    v.number = strtod(digits, NULL);
    return v;
}

static struct cs_folded of_array(struct cs_parser *p, uint32_t list)
{
    uint32_t n = cs_list_len(p, list);
    struct cs_folded v = {.sort = FOLD_LIST, .len = n};
    if (n == 0)
        return v;
    if (!cs_fold_steps(p, n))
        return nothing;
    struct cs_folded *to = cs_arena_alloc(&p->scratch, n * sizeof *to);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = cs_list_at(p, list, i);
        struct cs_folded one = cs_fold_node(p, node & ~CS_SPREAD);
        if (node & CS_SPREAD) {
            /* [...x] is x; anything longer is not followed. */
            if (n > 1)
                return nothing;
            return one.sort == FOLD_LIST ? one : cs_fold_chars(p, one);
        }
        to[i] = one;
    }
    v.list = to;
    return v;
}

/* Parts of a text, one after the other: first how long it gets, then the text. */
struct joiner {
    char *at;
    size_t len;
    enum cs_via via;
    bool partial, any, after_text, joined;
};

static void join(struct joiner *j, struct cs_folded v, bool piece)
{
    char number[32];
    struct cs_str s = CS_STR("${}");
    if (v.sort == FOLD_TEXT) {
        s = cs_strn(v.text, v.len);
        j->any = true;
        j->partial |= v.partial;
        j->via = v.via > j->via ? (enum cs_via)v.via : j->via;
    } else if (v.sort == FOLD_NUMBER && v.number == (int32_t)v.number) {
        snprintf(number, sizeof number, "%d", (int)v.number);
        s = cs_str(number);
    } else {
        j->partial = true;
    }
    bool text = v.sort == FOLD_TEXT && v.len > 0;
    j->joined |= text && j->after_text && !piece;
    j->after_text = text || (j->after_text && v.sort == FOLD_TEXT);
    if (j->at && s.len)
        memcpy(j->at + j->len, s.at, s.len);
    j->len += s.len;
}

/* a + b + c, as a loop over what is left of each. */
static void join_add(struct cs_parser *p, uint32_t node, uint32_t count, struct joiner *j)
{
    uint32_t *parts = cs_arena_alloc(&p->scratch, count * sizeof *parts), at = count;
    for (; p->nodes.at[node].kind == NODE_ADD && at > 1; node = p->nodes.at[node].a)
        parts[--at] = p->nodes.at[node].b;
    parts[--at] = node;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = at; i < count; i++)
            join(j, cs_fold_node(p, parts[i]), false);
        if (pass == 1 || !j->any || !(j->at = cs_fold_room(p, j->len)))
            return;
        *j = (struct joiner){.at = j->at};
    }
}

static struct cs_folded of_add(struct cs_parser *p, uint32_t node)
{
    uint32_t count = 1;
    for (uint32_t i = node; p->nodes.at[i].kind == NODE_ADD; i = p->nodes.at[i].a)
        count++;
    struct joiner j = {0};
    join_add(p, node, count, &j);
    if (!j.at)
        return nothing;
    if (j.joined && j.via < VIA_CONCAT)
        j.via = VIA_CONCAT;
    return cs_fold_text(j.at, j.len, j.via, j.partial);
}

static struct cs_folded of_template(struct cs_parser *p, uint32_t list)
{
    struct joiner j = {0};
    uint32_t n = cs_list_len(p, list);
    for (int pass = 0; pass < 2; pass++) {
        bool folded = false;
        for (uint32_t i = 0; i < n; i++) {
            struct cs_folded v = cs_fold_node(p, cs_list_at(p, list, i));
            folded |= i % 2 == 1 && (v.sort == FOLD_TEXT || v.sort == FOLD_NUMBER);
            join(&j, v, true);
        }
        if (folded && j.via < VIA_TEMPLATE)
            j.via = VIA_TEMPLATE;
        if (pass == 1)
            break;
        j = (struct joiner){.at = cs_fold_room(p, j.len)};
        if (!j.at)
            return nothing;
    }
    return cs_fold_text(j.at, j.len, j.via, j.partial);
}

static struct cs_folded of_either(struct cs_parser *p, const struct cs_node *v)
{
    struct cs_folded a = cs_fold_node(p, v->a), b = cs_fold_node(p, v->b);
    return a.sort == FOLD_CHAIN ? a : b.sort == FOLD_CHAIN ? b : nothing;
}

static struct cs_folded of_this(struct cs_parser *p, bool global)
{
    return global ? cs_fold_root(p, ROOT_FREE, K_globalThis) : nothing;
}

static struct cs_folded of_string(const struct cs_parser *p, const struct cs_node *n)
{
    struct cs_str s = p->names.at[n->a].text;
    return cs_fold_text(s.at, s.len, n->flags & NODE_ESCAPED ? VIA_ESCAPE : VIA_PLAIN, false);
}

static struct cs_folded find(struct cs_parser *p, uint32_t node)
{
    const struct cs_node v = p->nodes.at[node];
    switch (v.kind) {
    case NODE_REF:
        return of_ref(p, v.a);
    case NODE_STR:
        return of_string(p, &v);
    case NODE_NUM:
        return of_number(p, v.pos);
    case NODE_MEMBER:
        return cs_fold_member(p, cs_fold_node(p, v.a), v.b);
    case NODE_INDEX:
        return of_index(p, &v);
    case NODE_CALL:
    case NODE_NEW:
    case NODE_IMPORT:
        return cs_fold_call(p, node);
    case NODE_ADD:
        return of_add(p, node);
    case NODE_TEMPLATE:
        return of_template(p, v.b);
    case NODE_ARRAY:
        return of_array(p, v.b);
    case NODE_OBJECT:
        return (struct cs_folded){.sort = FOLD_OBJECT, .node = node};
    case NODE_EITHER:
        return of_either(p, &v);
    case NODE_META:
        return cs_fold_root(p, ROOT_FREE, cs_intern(p, CS_STR("import.meta")));
    case NODE_THIS:
        return of_this(p, v.a);
    case NODE_FUNC:
        return (struct cs_folded){.sort = FOLD_FUNC, .node = node};
    case NODE_HOLE:
    case NODE_REST:
        return cs_fold_node(p, v.a);
    case NODE_ELEMENT:
        return cs_fold_element(cs_fold_node(p, v.a),
                               (struct cs_folded){.sort = FOLD_NUMBER, .number = v.b});
    default:
        return nothing;
    }
}

struct cs_folded cs_fold_node(struct cs_parser *p, uint32_t node)
{
    struct cs_folder *f = p->folder;
    if (f->state[node] != UNKNOWN)
        return f->values[node];
    if (f->depth > CS_FOLD_DEPTH)
        return nothing;
    f->state[node] = BUSY;
    f->depth++;
    struct cs_folded v = find(p, node);
    f->depth--;
    f->values[node] = v;
    f->state[node] = DONE;
    return v;
}

static void bind(struct cs_parser *p, uint32_t bind)
{
    struct cs_bound *b = &p->binds.at[bind];
    struct variable *var = &p->folder->variables[b->decl];
    const struct cs_node *hole = &p->nodes.at[b->node];
    if (hole->kind == NODE_HOLE) {
        var->changes += (hole->flags & NODE_MAYBE) != 0;
        if (hole->a == 0)
            return;
    }
    b->next = var->first;
    var->first = bind + 1;
    var->values++;
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
        if (callee->kind == NODE_INDEX || (callee->kind == NODE_MEMBER && !harmless(p, callee->b)))
            share(p, callee->a);
    }
}

void cs_fold_all(struct cs_parser *p)
{
    uint32_t n = p->nodes.len;
    struct cs_folder *f = p->folder = cs_arena_alloc(&p->scratch, sizeof *f);
    f->bytes = CS_FOLD_BYTES;
    f->steps = CS_FOLD_STEPS;
    f->values = cs_arena_alloc(&p->scratch, n * sizeof *f->values);
    f->state = cs_arena_alloc(&p->scratch, n);
    f->variables = cs_arena_alloc(&p->scratch, (p->decls.len + 1) * sizeof *f->variables);
    for (uint32_t i = 0; i < p->refs.len; i++) {
        const struct cs_ref *r = &p->refs.at[i];
        if ((r->flags & REF_WRITE) && r->decl)
            f->variables[r->decl - 1].changes++;
    }
    for (uint32_t i = 0; i < p->writes.len; i++) {
        struct cs_write w = p->writes.at[i];
        uint32_t decl = p->refs.at[w.ref].decl;
        if (!decl || (p->refs.at[w.ref].flags & REF_DEAD))
            continue;
        f->variables[decl - 1].changes--;
        *CS_PUSH(&p->binds) = (struct cs_bound){.decl = decl - 1, .node = w.node};
    }
    for (uint32_t i = p->binds.len; i-- > 0;)
        bind(p, i);
    find_shared(p);
    f->state[0] = DONE;
    for (uint32_t i = 1; i < n; i++) {
        const struct cs_node *v = &p->nodes.at[i];
        /* What stands left of a '+' is only asked for by what is right of it. */
        if (v->kind != NODE_ADD || !(v->flags & NODE_INNER))
            cs_fold_node(p, i);
    }
}

const struct cs_link *cs_chain_root(const struct cs_parser *p, uint32_t link)
{
    while (p->links.at[link].up)
        link = p->links.at[link].up;
    return &p->links.at[link];
}

uint32_t cs_chain_atoms(const struct cs_parser *p, uint32_t link, uint32_t *atoms, uint32_t max)
{
    uint32_t n = p->links.at[link].parts + 1u;
    for (uint32_t i = n; i-- > 0; link = p->links.at[link].up) {
        if (i < max)
            atoms[i] = p->links.at[link].atom;
    }
    return n;
}

static struct cs_str part_text(const struct cs_parser *p, uint32_t atom)
{
    return atom == CS_PART_ANY ? CS_STR("*")
                               : cs_utf8_cut(p->names.at[atom].text, CS_FACT_NAME_BYTES);
}

struct cs_str cs_chain_text(struct cs_parser *p, uint32_t link)
{
    uint32_t atoms[CS_CHAIN_PARTS + 1], n = cs_chain_atoms(p, link, atoms, CS_COUNT(atoms));
    size_t len = 0;
    if (n == 1 && atoms[0] != CS_PART_ANY)
        return p->names.at[atoms[0]].text;
    for (uint32_t i = 0; i < n; i++)
        len += 1 + part_text(p, atoms[i]).len;
    char *text = cs_arena_alloc(&p->scratch, len + 1);
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct cs_str s = part_text(p, atoms[i]);
        if (i)
            text[at++] = '.';
        memcpy(text + at, s.at, s.len);
        at += s.len;
    }
    return cs_strn(text, at);
}

bool cs_chain_is(struct cs_parser *p, uint32_t link, const char *text)
{
    return link && cs_str_is(cs_chain_text(p, link), text);
}

uint32_t cs_callee(struct cs_parser *p, uint32_t node)
{
    struct cs_folded v = cs_fold_node(p, p->nodes.at[node].a);
    return v.sort == FOLD_CHAIN ? v.link : 0;
}

/*
 * What nodes stand for, once names are resolved: nodes.h.
 *
 * Nodes are looked at in the order they were written down, parts before the whole, so nothing here
 * goes deep; only a name that is used before its value stands in the text leads ahead.
 */
#include <stdio.h>

#include "compile/fold.h"

static const struct cs_folded nothing;

bool cs_fold_cut(const struct cs_parser *p)
{
    return p->folder->cut;
}

bool cs_fold_steps(struct cs_parser *p, uint32_t n)
{
    if (p->folder->steps < n) {
        p->folder->cut |= !p->folder->applying;
        return false;
    }
    p->folder->steps -= n;
    return true;
}

char *cs_fold_room(struct cs_parser *p, size_t len)
{
    struct cs_folder *f = p->folder;
    if (f->applying && len > CS_GATHER_TEXT)
        return NULL;
    if (len > CS_FOLD_TEXT || len > f->bytes) {
        f->cut |= !f->applying;
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
        if (key & CS_SPREAD) {
            struct cs_folded v = cs_fold_node(p, key & ~CS_SPREAD);
            if (v.sort != FOLD_TEXT || v.partial)
                break;
            key = cs_str_eq(cs_strn(v.text, v.len), p->names.at[atom].text) ? atom : UINT32_MAX;
        }
        if (key == atom)
            return cs_fold_node(p, cs_list_at(p, list, i - 1) & ~CS_SPREAD);
        if (key == K_NONE)
            break;
    }
    return nothing;
}

/* The value of a key in what JSON or a Map holds. */
static struct cs_folded entry(struct cs_parser *p, struct cs_folded dict, uint32_t atom)
{
    struct cs_str name = p->names.at[atom].text;
    if (!cs_fold_steps(p, dict.len))
        return nothing;
    for (uint32_t i = dict.len; i >= 2; i -= 2) {
        struct cs_folded key = dict.list[i - 2];
        if (cs_str_eq(cs_strn(key.text, key.len), name))
            return dict.list[i - 1];
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
    if (object.sort == FOLD_BOX)
        return (struct cs_folded){.sort = FOLD_CHAIN, .link = object.link};
    if (object.sort == FOLD_DICT && atom != CS_PART_ANY) {
        struct cs_folded v = unless_changed(object, entry(p, object, atom));
        if (v.sort != FOLD_NONE)
            return v;
    }
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

/* Of several names the one that leads furthest. */
static struct cs_folded strangest(const struct cs_folded *list, uint32_t n)
{
    static const struct cs_str names[] = {
        CS_LIT("constructor"), CS_LIT("__proto__"), CS_LIT("eval"),    CS_LIT("Function"),
        CS_LIT("prototype"),   CS_LIT("env"),       CS_LIT("require"), CS_LIT("process")};
    for (size_t k = 0; k < CS_COUNT(names); k++) {
        for (uint32_t i = 0; i < n; i++) {
            if (list[i].sort == FOLD_TEXT &&
                cs_str_eq(cs_strn(list[i].text, list[i].len), names[k]))
                return list[i];
        }
    }
    return nothing;
}

struct cs_folded cs_fold_keyed(struct cs_parser *p, struct cs_folded object, struct cs_folded key)
{
    if (key.sort == FOLD_ANY) {
        struct cs_folded one = strangest(key.list, key.len);
        key = one.sort == FOLD_NONE && !key.partial ? key.list[0] : one;
    }
    /* [['x']] is the key 'x'. */
    if (key.sort == FOLD_LIST && key.len == 1 && !key.partial)
        key = key.list[0];
    if (key.sort == FOLD_NUMBER && (object.sort == FOLD_LIST || object.sort == FOLD_TEXT))
        return cs_fold_element(object, key);
    if (key.sort == FOLD_TEXT && !key.partial && key.len <= CS_FACT_NAME_BYTES)
        return cs_fold_member(p, object, cs_intern(p, cs_strn(key.text, key.len)));
    /* Some member of a literal that has no strange ones is not worth following. */
    return object.sort == FOLD_CHAIN ? cs_fold_member(p, object, CS_PART_ANY) : nothing;
}

/* One of these, if there is more than one. */
static struct cs_folded any_of(struct cs_parser *p, const struct cs_folded *list, uint32_t n,
                               bool open)
{
    if (n == 0 || (n == 1 && !open))
        return n ? list[0] : nothing;
    struct cs_folded *to = cs_arena_alloc(&p->scratch, n * sizeof *to);
    memcpy(to, list, n * sizeof *to);
    return (struct cs_folded){.sort = FOLD_ANY, .partial = open, .len = n, .list = to};
}

/* The texts that a value may be, behind the others; true: it may be something else. */
static bool gather_texts(struct cs_folded v, struct cs_folded *texts, uint32_t *n)
{
    const struct cs_folded *from = v.sort == FOLD_ANY ? v.list : &v;
    uint32_t count = v.sort == FOLD_ANY ? v.len : 1;
    bool open = v.sort == FOLD_ANY && v.partial;
    for (uint32_t i = 0; i < count; i++) {
        bool text = from[i].sort == FOLD_TEXT && !from[i].partial && *n < CS_BINDS_FOLLOWED;
        open |= !text;
        if (text)
            texts[(*n)++] = from[i];
    }
    return open;
}

/* Some element of a list, as a loop over it gives them. */
static struct cs_folded some_of(struct cs_parser *p, struct cs_folded list)
{
    struct cs_folded texts[CS_BINDS_FOLLOWED];
    uint32_t n = 0;
    if (list.sort != FOLD_LIST || !cs_fold_steps(p, list.len))
        return list.sort == FOLD_CHAIN ? cs_fold_member(p, list, CS_PART_ANY) : nothing;
    for (uint32_t i = 0; i < list.len; i++) {
        if (list.list[i].sort == FOLD_CHAIN)
            return list.list[i];
        if (list.list[i].sort == FOLD_TEXT && n < CS_COUNT(texts))
            texts[n++] = list.list[i];
    }
    return any_of(p, texts, n, true);
}

static struct cs_folded of_index(struct cs_parser *p, const struct cs_node *v)
{
    struct cs_folded object = cs_fold_node(p, v->a);
    return v->b ? cs_fold_keyed(p, object, cs_fold_node(p, v->b)) : some_of(p, object);
}

static struct cs_folded of_import(struct cs_parser *p, uint32_t spec)
{
    const struct cs_spec *s = &p->specs.at[spec];
    struct cs_folded v = cs_fold_root(p, ROOT_IMPORT, p->reqs.at[s->req].atom);
    return s->name == K_NONE ? v : cs_fold_member(p, v, s->name);
}

/* A parameter that nothing is known of has no value; while it is applied it has one. */
static bool empty(const struct cs_parser *p, uint32_t node)
{
    const struct cs_node *n = &p->nodes.at[node];
    return n->kind == NODE_HOLE && n->a == 0 && p->folder->state[node] != FOLD_FIXED;
}

/*
 * What the variable was set to last, before `pos`; 0: not yet. Uses come in the order of the text,
 * so the search goes on where the last one ended.
 */
static uint32_t last_value(struct cs_parser *p, struct cs_variable *var, uint32_t pos)
{
    uint32_t i = var->cursor && p->binds.at[var->cursor - 1].pos <= pos ? var->cursor : var->first;
    for (; i && p->binds.at[i - 1].pos <= pos && cs_fold_steps(p, 1); i = p->binds.at[i - 1].next)
        var->cursor = i;
    return var->cursor && p->binds.at[var->cursor - 1].pos <= pos
               ? p->binds.at[var->cursor - 1].node
               : 0;
}

/* The value that a use sees, if it is set in one place after the other, and nowhere else. */
static bool value_here(struct cs_parser *p, const struct cs_ref *r, struct cs_folded *v)
{
    const struct cs_decl *d = &p->decls.at[r->decl - 1];
    struct cs_variable *var = &p->folder->variables[r->decl - 1];
    if (var->values < 2 || var->changes || var->scattered ||
        p->scopes.at[r->scope].function != p->scopes.at[d->scope].function)
        return false;
    *v = cs_fold_node(p, last_value(p, var, r->start));
    return v->sort == FOLD_TEXT || v->sort == FOLD_NUMBER || v->sort == FOLD_CHAIN;
}

/* A list with what was put behind its elements before it is used here. */
static struct cs_folded pushed(struct cs_parser *p, struct cs_folded v,
                               const struct cs_variable *var, const struct cs_ref *r)
{
    uint32_t len = v.len;
    for (uint32_t i = var->pushes; i; i = p->pushes.at[i - 1].next)
        len += cs_list_len(p, p->pushes.at[i - 1].list);
    if (!cs_fold_steps(p, len))
        return nothing;
    struct cs_folded *list = cs_arena_alloc(&p->scratch, (len + 1) * sizeof *list);
    if (v.len)
        memcpy(list, v.list, v.len * sizeof *list);
    for (uint32_t i = var->pushes; i && p->pushes.at[i - 1].pos <= r->start;
         i = p->pushes.at[i - 1].next) {
        uint32_t args = p->pushes.at[i - 1].list, n = cs_list_len(p, args);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t node = cs_list_at(p, args, k);
            v.partial |= (node & CS_SPREAD) != 0;
            list[v.len++] = cs_fold_node(p, node & ~CS_SPREAD);
        }
    }
    v.list = list;
    return v;
}

static struct cs_folded of_variable(struct cs_parser *p, const struct cs_ref *r)
{
    uint32_t looked = 0, n = 0;
    const struct cs_variable *var = &p->folder->variables[r->decl - 1];
    struct cs_folded texts[CS_BINDS_FOLLOWED], v;
    bool clear = var->values == 1 && var->changes == 0, open = var->changes > 0;
    if (value_here(p, r, &v))
        return v;
    for (uint32_t i = var->first; i && looked < CS_BINDS_FOLLOWED; i = p->binds.at[i - 1].next) {
        uint32_t node = p->binds.at[i - 1].node;
        if (empty(p, node))
            continue;
        v = cs_fold_node(p, node);
        /* A variable that changes is no constant, but may be what any of its values is. */
        v.partial |= var->shared && (v.sort == FOLD_LIST || v.sort == FOLD_OBJECT);
        if (clear || v.sort == FOLD_CHAIN || p->folder->state[node] == FOLD_FIXED)
            return var->pushes && v.sort == FOLD_LIST ? pushed(p, v, var, r) : v;
        looked++;
        open |= gather_texts(v, texts, &n);
    }
    return any_of(p, texts, n, open || n < var->values);
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
    if (d->kind == DECL_VALUE || d->kind == DECL_ALIAS || d->kind == DECL_FUNC ||
        d->kind == DECL_CLASS)
        return of_variable(p, r);
    return nothing;
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

/* Room for a text that comes together in steps. */
static bool gather(struct cs_parser *p, size_t len)
{
    struct cs_folder *f = p->folder;
    if (len > CS_GATHER_TEXT || len > f->gather_bytes)
        return false;
    f->gather_bytes -= (uint32_t)len;
    return true;
}

/* a + b + c, as a loop over what is left of each. */
static void join_add(struct cs_parser *p, uint32_t node, uint32_t count, struct joiner *j)
{
    bool gathers = (p->nodes.at[node].flags & NODE_GATHER) != 0;
    uint32_t *parts = cs_arena_alloc(&p->scratch, count * sizeof *parts), at = count;
    for (; p->nodes.at[node].kind == NODE_ADD && at > 1; node = p->nodes.at[node].a)
        parts[--at] = p->nodes.at[node].b;
    parts[--at] = node;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = at; i < count; i++)
            join(j, cs_fold_node(p, parts[i]), false);
        if (pass == 1 || !j->any || (gathers && !gather(p, j->len)) ||
            !(j->at = cs_fold_room(p, j->len)))
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
    struct cs_folded a = cs_fold_node(p, v->a), b = cs_fold_node(p, v->b), all[CS_BINDS_FOLLOWED];
    uint32_t n = 0;
    if (a.sort == FOLD_CHAIN || b.sort == FOLD_CHAIN)
        return a.sort == FOLD_CHAIN ? a : b;
    bool open = gather_texts(a, all, &n);
    open |= gather_texts(b, all, &n);
    return any_of(p, all, n, open);
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

/* /x/.source */
static struct cs_folded source_of(struct cs_parser *p, uint32_t node)
{
    struct cs_folded v = nothing;
    bool all = false;
    if (cs_fold_regex(p, node, &v, &all))
        v.via = VIA_ESCAPE;
    return v;
}

static struct cs_folded of_member(struct cs_parser *p, const struct cs_node *v)
{
    if (v->b == K_source && p->nodes.at[v->a].kind == NODE_REGEX)
        return source_of(p, v->a);
    return cs_fold_member(p, cs_fold_node(p, v->a), v->b);
}

/* size: one case for each kind of node */
static struct cs_folded find(struct cs_parser *p, uint32_t node)
{
    const struct cs_node v = p->nodes.at[node];
    switch (v.kind) {
    case NODE_REF:
        return of_ref(p, v.a);
    case NODE_STR:
        return of_string(p, &v);
    case NODE_NUM:
        return cs_fold_number(p, v.pos);
    case NODE_MEMBER:
        return of_member(p, &v);
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
    case NODE_ASSIGN:
        return cs_fold_node(p, v.b);
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
    if (f->state[node] != FOLD_UNKNOWN)
        return f->values[node];
    if (f->depth > CS_FOLD_DEPTH)
        return nothing;
    f->state[node] = FOLD_BUSY;
    f->depth++;
    struct cs_folded v = find(p, node);
    f->depth--;
    f->values[node] = v;
    f->state[node] = FOLD_DONE;
    return v;
}

void cs_fold_all(struct cs_parser *p)
{
    struct cs_folder *f = p->folder = cs_arena_alloc(&p->scratch, sizeof *f);
    f->bytes = CS_FOLD_BYTES;
    f->steps = CS_FOLD_STEPS;
    f->gather_bytes = CS_GATHER_BYTES;
    f->apply_nodes = CS_APPLY_ALL;
    f->variables = cs_arena_alloc(&p->scratch, (p->decls.len + 1) * sizeof *f->variables);
    cs_fold_variables(p);
    uint32_t n = p->nodes.len;
    f->values = cs_arena_alloc(&p->scratch, n * sizeof *f->values);
    f->state = cs_arena_alloc(&p->scratch, n);
    f->state[0] = FOLD_DONE;
    for (uint32_t i = 1; i < n; i++) {
        const struct cs_node *v = &p->nodes.at[i];
        /* What stands left of a '+' is only asked for by what is right of it. */
        if (v->kind != NODE_ADD || !(v->flags & NODE_INNER))
            cs_fold_node(p, i);
    }
}

struct cs_folded cs_fold_apply(struct cs_parser *p, uint32_t func, const struct cs_folded *args,
                               uint32_t count)
{
    struct cs_folder *f = p->folder;
    struct cs_node fn = p->nodes.at[func];
    uint32_t first = fn.at, n = func - first, params = cs_list_len(p, fn.b);
    if (fn.kind != NODE_FUNC || !fn.a)
        return nothing;
    if (params == 0 || count == 0)
        return cs_fold_node(p, fn.a);
    if (n > CS_APPLY_NODES || f->applying == CS_APPLY_DEEP || f->apply_nodes < n + 8)
        return nothing;
    struct cs_folded values[CS_APPLY_NODES];
    uint8_t state[CS_APPLY_NODES];
    f->apply_nodes -= n + 8;
    memcpy(values, f->values + first, n * sizeof *values);
    memcpy(state, f->state + first, n);
    memset(f->state + first, FOLD_UNKNOWN, n);
    for (uint32_t i = 0; i < params && i < count; i++) {
        uint32_t hole = cs_list_at(p, fn.b, i);
        if (hole & CS_SPREAD || args[i].sort == FOLD_NONE)
            continue;
        f->values[hole] = args[i];
        f->state[hole] = FOLD_FIXED;
    }
    f->applying++;
    struct cs_folded v = cs_fold_node(p, fn.a);
    f->applying--;
    memcpy(f->values + first, values, n * sizeof *values);
    memcpy(f->state + first, state, n);
    return v;
}

bool cs_fold_each(struct cs_parser *p, uint32_t node, uint32_t i, struct cs_folded *v)
{
    const struct cs_node *n = &p->nodes.at[node];
    *v = cs_fold_node(p, node);
    if (v->sort == FOLD_ANY) {
        bool there = i < v->len;
        *v = there ? v->list[i] : nothing;
        return there;
    }
    uint32_t decl = n->kind == NODE_REF ? p->refs.at[n->a].decl : 0;
    if (i == 0 || !decl || p->folder->variables[decl - 1].values < 2)
        return i == 0;
    uint32_t at = p->folder->variables[decl - 1].first;
    while (at && --i > 0)
        at = p->binds.at[at - 1].next;
    *v = at ? cs_fold_node(p, p->binds.at[at - 1].node) : nothing;
    return at != 0;
}

bool cs_fold_gathered(const struct cs_parser *p, uint32_t node)
{
    const struct cs_node *n = &p->nodes.at[node];
    uint32_t decl = p->refs.at[n->a].decl;
    return decl && !(n->flags & (NODE_INNER | NODE_WRITTEN)) &&
           p->folder->variables[decl - 1].values > 1;
}

bool cs_fold_open(const struct cs_parser *p, uint32_t decl)
{
    uint32_t i = p->folder->variables[decl].first;
    return i && p->nodes.at[p->binds.at[i - 1].node].flags & NODE_MAYBE;
}

bool cs_fold_counter(struct cs_parser *p, uint32_t decl, double *number)
{
    const struct cs_variable *var = &p->folder->variables[decl];
    uint32_t node = var->first ? p->binds.at[var->first - 1].node : 0;
    struct cs_folded v = cs_fold_node(p, node);
    if (v.sort != FOLD_NUMBER || p->nodes.at[node].flags & NODE_MAYBE)
        return false;
    *number = v.number;
    return true;
}

uint32_t cs_callee(struct cs_parser *p, uint32_t node)
{
    struct cs_folded v = cs_fold_node(p, p->nodes.at[node].a);
    return v.sort == FOLD_CHAIN ? v.link : 0;
}

/*
 * What the program can reach, does and hides, from what was written down while it was read:
 * base/facts.h says what is noted. Here are names: imports, calls, members, and what they mean.
 */
#include "compile/facts.h"

#include <stdio.h>

#include "base/utf8.h"

#define PIECE_OVERLAP 64 /* of a long text that is told in pieces: what a piece repeats */

struct cs_listing {
    struct cs_compiled *out;
    CS_VEC(struct cs_fact) facts;
    uint32_t *table, mask; /* index + 1 by content */
    bool cut;
};

/* ---- the list ---- */

static uint32_t mix(uint32_t h, struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.at[i]) * 16777619u;
    return (h ^ 0xff) * 16777619u;
}

static uint32_t hash_of(const struct cs_fact *f)
{
    return mix(mix(mix(2166136261u + (uint32_t)f->kind, f->name), f->via), f->key);
}

static bool same(const struct cs_fact *a, const struct cs_fact *b)
{
    return a->kind == b->kind && cs_str_eq(a->name, b->name) && cs_str_eq(a->via, b->via) &&
           cs_str_eq(a->key, b->key);
}

static void grow(struct cs_listing *l)
{
    uint32_t size = l->table ? (l->mask + 1) * 2 : 256;
    free(l->table);
    l->table = cs_calloc(size, sizeof *l->table);
    l->mask = size - 1;
    for (uint32_t i = 0; i < l->facts.len; i++) {
        uint32_t at = hash_of(&l->facts.at[i]) & l->mask;
        while (l->table[at])
            at = (at + 1) & l->mask;
        l->table[at] = i + 1;
    }
}

static void add(struct cs_listing *l, struct cs_fact f)
{
    if (l->facts.len * 2 >= (l->table ? l->mask + 1 : 0))
        grow(l);
    uint32_t at = hash_of(&f) & l->mask;
    for (uint32_t i; (i = l->table[at]); at = (at + 1) & l->mask) {
        struct cs_fact *before = &l->facts.at[i - 1];
        if (same(before, &f)) {
            before->line = f.line < before->line ? f.line : before->line;
            return;
        }
    }
    if (l->facts.len == CS_FACTS_MOST) {
        l->cut = true;
        return;
    }
    f.name = cs_arena_dup(&l->out->arena, f.name);
    f.key = cs_arena_dup(&l->out->arena, f.key);
    f.via = cs_arena_dup(&l->out->arena, f.via);
    f.column = l->facts.len;
    *CS_PUSH(&l->facts) = f;
    l->table[at] = l->facts.len;
}

void cs_fact_add(struct cs_parser *p, int kind, struct cs_str name, const char *via,
                 struct cs_str key, uint32_t pos)
{
    char cut[40];
    struct cs_fact f = {.kind = (enum cs_fact_kind)kind, .line = pos};
    if (kind == CS_FACT_CODE)
        cs_reach_code(p, name, via, pos);
    f.key = cs_utf8_cut(key, CS_FACT_NAME_BYTES);
    if (name.len > CS_FACT_NAME_BYTES) {
        snprintf(cut, sizeof cut, "%s+cut", via);
        via = cut;
    }
    f.name = cs_utf8_cut(name, CS_FACT_NAME_BYTES);
    f.via = cs_str(via);
    add(p->listing, f);
}

void cs_text_add(struct cs_parser *p, enum cs_fact_kind kind, struct cs_str text, const char *via,
                 struct cs_str key, uint32_t pos)
{
    while (text.len > CS_FACT_NAME_BYTES && !p->listing->cut) {
        cs_fact_add(p, kind, text, via, key, pos);
        size_t step = CS_FACT_NAME_BYTES - PIECE_OVERLAP;
        while (((unsigned char)text.at[step] & 0xc0) == 0x80)
            step--;
        text = cs_strn(text.at + step, text.len - step);
    }
    cs_fact_add(p, kind, text, via, key, pos);
}

/* ---- texts ---- */

static void string_fact(struct cs_parser *p, uint32_t node)
{
    static const char *const vias[] = {
#define X(id, word) word,
        CS_VIAS(X)
#undef X
    };
    struct cs_folded v = cs_fold_node(p, node);
    const struct cs_node *n = &p->nodes.at[node];
    if (v.sort != FOLD_TEXT || v.len < 3)
        return;
    cs_text_add(p, CS_FACT_STRING, cs_strn(v.text, v.len), vias[v.via], p->names.at[n->key].text,
                n->pos);
}

static void seen_facts(struct cs_parser *p)
{
    for (uint32_t i = 0; i < p->seen.len; i++) {
        const struct cs_seen *s = &p->seen.at[i];
        if (s->atom) {
            cs_fact_add(p, CS_FACT_ESCAPE, p->names.at[s->atom].text, "", CS_STR(""), s->start);
            continue;
        }
        uint32_t start = s->start + 2, end = s->end;
        if (p->src[s->start] == '\'' || p->src[s->start] == '"') {
            cs_text_add(p, CS_FACT_STRING, cs_strn(p->src + start - 1, end - start), "", CS_STR(""),
                        s->start);
            continue;
        }
        if (p->src[s->start + 1] == '*')
            end -= 2;
        while (start < end && (unsigned char)p->src[start] <= ' ')
            start++;
        while (start < end && (unsigned char)p->src[end - 1] <= ' ')
            end--;
        if (start < end)
            cs_text_add(p, CS_FACT_COMMENT, cs_strn(p->src + start, end - start), "", CS_STR(""),
                        s->start);
    }
    static const char *const insides[] = {
        [INSIDE_CODE] = "code", [INSIDE_STRING] = "string", [INSIDE_COMMENT] = "comment"};
    for (uint32_t i = 0; i < p->hidden.len; i++) {
        const struct cs_hidden *h = &p->hidden.at[i];
        char name[16];
        snprintf(name, sizeof name, "U+%04X", (unsigned)h->code);
        cs_fact_add(p, CS_FACT_INVISIBLE, cs_str(name), insides[h->inside], CS_STR(""), h->pos);
    }
}

/* ---- names ---- */

/* process.env and its likes, with the name of the variable. */
static void env_fact(struct cs_parser *p, uint32_t link, uint32_t pos)
{
    uint32_t atoms[4], n = cs_chain_atoms(p, link, atoms, CS_COUNT(atoms));
    if (n < 2 || !cs_part_is(p, atoms[1], "env"))
        return;
    struct cs_str root = p->names.at[atoms[0]].text;
    bool process = cs_str_is(root, "process") || cs_str_is(root, "node:process");
    if (!process && !cs_str_is(root, "Deno") && !cs_str_is(root, "Bun") &&
        !cs_str_is(root, "import.meta"))
        return;
    struct cs_str name = {0};
    if (n > 2)
        name = atoms[2] == CS_PART_ANY ? CS_STR("*") : p->names.at[atoms[2]].text;
    name = cs_utf8_cut(name, 200);
    cs_fact_add(p, CS_FACT_ENV,
                cs_str(cs_textf(p, "%.*s.env%s%.*s", CS_STR_ARG(process ? CS_STR("process") : root),
                                name.len ? "." : "", CS_STR_ARG(name))),
                "", CS_STR(""), pos);
}

/* What a program should not look up by a name that nobody knows. */
static bool delicate(const struct cs_parser *p, uint32_t link)
{
    static const char *const names[] = {"process", "Deno",     "Bun",    "require",
                                        "module",  "Function", "Object", "Reflect"};
    const struct cs_link *l = &p->links.at[link];
    if (l->up || l->root == ROOT_ANY)
        return false;
    if (l->root == ROOT_IMPORT)
        return p->names.at[l->atom].text.len && p->names.at[l->atom].text.at[0] != '.' &&
               p->names.at[l->atom].text.at[0] != '/';
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        if (cs_part_is(p, l->atom, names[i]))
            return true;
    }
    return cs_chain_global(p, link);
}

static void dynamic_fact(struct cs_parser *p, uint32_t link, uint32_t pos)
{
    const struct cs_link *l = &p->links.at[link];
    if (l->atom != CS_PART_ANY || !l->up || !delicate(p, l->up))
        return;
    struct cs_str of = cs_chain_global(p, l->up) ? CS_STR("globalThis") : cs_chain_text(p, l->up);
    cs_fact_add(p, CS_FACT_DYNAMIC, cs_str(cs_textf(p, "%.*s[*]", CS_STR_ARG(of))), "", CS_STR(""),
                pos);
}

/* process and its likes, as a whole. */
static bool holds_env(const struct cs_parser *p, uint32_t link)
{
    static const char *const names[] = {"process", "node:process", "Deno", "Bun"};
    const struct cs_link *l = &p->links.at[link];
    for (size_t i = 0; i < CS_COUNT(names) && !l->up && l->root != ROOT_ANY; i++) {
        if (cs_part_is(p, l->atom, names[i]))
            return true;
    }
    return false;
}

/* A chain that is only read or handed on. */
static void member_fact(struct cs_parser *p, uint32_t node, uint32_t link)
{
    const struct cs_node *n = &p->nodes.at[node];
    const struct cs_link *l = &p->links.at[link];
    if (l->root == ROOT_ANY) {
        /* The maker of functions is given to somebody. */
        bool maker = l->parts == 1 && l->atom == K_constructor && n->kind != NODE_REF &&
                     !(n->flags & (NODE_COMPARED | NODE_BOUND | NODE_WRITTEN));
        if (maker && cs_fold_node(p, n->a).sort == FOLD_FUNC)
            cs_fact_add(p, CS_FACT_CODE, CS_STR("constructor"), "", CS_STR(""), n->pos);
        return;
    }
    if (!(n->flags & (NODE_COMPARED | NODE_BOUND)) && l->up == 0 && l->root == ROOT_FREE) {
        const char *code = cs_code_maker(p, link);
        if (code)
            cs_fact_add(p, CS_FACT_CODE, cs_str(code), "", CS_STR(""), n->pos);
        if (cs_chain_global(p, link))
            cs_fact_add(p, CS_FACT_DYNAMIC, CS_STR("globalThis"), "", CS_STR(""), n->pos);
    }
    /* Whoever gets it has its env as well. */
    if (!(n->flags & (NODE_COMPARED | NODE_BOUND | NODE_WRITTEN)) && holds_env(p, link))
        cs_fact_add(p, CS_FACT_ENV, CS_STR("process.env"), "", CS_STR(""), n->pos);
    cs_fact_add(p, CS_FACT_MEMBER, cs_chain_text(p, link), "", CS_STR(""), n->pos);
    env_fact(p, link, n->pos);
}

static void call_fact(struct cs_parser *p, uint32_t node)
{
    const struct cs_node *n = &p->nodes.at[node];
    uint32_t pos = n->pos, link = cs_callee(p, node);
    if (!link || cs_code_call(p, node, link))
        return;
    cs_prototype_call(p, node, link);
    if (p->links.at[link].root == ROOT_ANY)
        return;
    cs_fact_add(p, CS_FACT_CALL, cs_chain_text(p, link), "", CS_STR(""), pos);
    env_fact(p, link, pos);
    if (cs_requires(p, link))
        cs_import_facts(p, cs_list_at(p, p->nodes.at[node].b, 0) & ~CS_SPREAD, "require", pos);
}

static void import_facts(struct cs_parser *p)
{
    for (uint32_t i = 0; i < p->reqs.len; i++) {
        const struct cs_req *r = &p->reqs.at[i];
        if (r->dynamic || !r->used)
            continue;
        cs_fact_add(p, CS_FACT_IMPORT, cs_specifier(p, p->names.at[r->atom].text), "static",
                    CS_STR(""), r->pos);
    }
}

/* (() => {})[x], [][x]: some member of what has no members of its own. */
static void unknown_of_function(struct cs_parser *p, const struct cs_node *n)
{
    const struct cs_node *of = &p->nodes.at[n->a];
    struct cs_folded key = cs_fold_node(p, n->b);
    bool function = cs_fold_node(p, n->a).sort == FOLD_FUNC;
    bool empty = (of->kind == NODE_ARRAY || of->kind == NODE_OBJECT) && of->b == 0;
    bool known = (key.sort == FOLD_TEXT && !key.partial) || key.sort == FOLD_NUMBER;
    if ((function || empty) && n->b && !known)
        cs_fact_add(p, CS_FACT_DYNAMIC, function ? CS_STR("function[*]") : CS_STR("[][*]"), "",
                    CS_STR(""), n->pos);
}

/* size: one case for each kind of node */
static void node_facts(struct cs_parser *p, uint32_t node)
{
    const struct cs_node n = p->nodes.at[node];
    struct cs_folded v;
    switch (n.kind) {
    case NODE_STR:
    case NODE_ADD:
    case NODE_TEMPLATE:
        if (!(n.flags & (NODE_INNER | NODE_GATHER)))
            string_fact(p, node);
        return;
    case NODE_CALL:
    case NODE_NEW:
        call_fact(p, node);
        string_fact(p, node);
        cs_text_facts(p, node);
        return;
    case NODE_REGEX:
    case NODE_ARRAY:
    case NODE_OBJECT:
        cs_text_facts(p, node);
        return;
    case NODE_IMPORT:
        cs_import_call(p, node);
        return;
    case NODE_FUNC:
        if (!(p->nodes.at[n.a].flags & NODE_FIRST))
            return;
        v = cs_fold_node(p, p->nodes.at[n.a].a);
        if (v.sort == FOLD_FUNC && v.node == node)
            cs_fact_add(p, CS_FACT_LOOP, CS_STR("recursion"), "", CS_STR(""), n.pos);
        return;
    case NODE_EXTENDS:
        v = cs_fold_node(p, n.a);
        if (v.sort == FOLD_CHAIN && cs_code_maker(p, v.link))
            cs_fact_add(p, CS_FACT_CODE, cs_str(cs_code_maker(p, v.link)), "", CS_STR(""), n.pos);
        return;
    case NODE_REF:
    case NODE_MEMBER:
    case NODE_INDEX:
    case NODE_META:
    case NODE_THIS:
        v = cs_fold_node(p, node);
        if (n.kind != NODE_REF)
            cs_prototype_member(p, node);
        else if (v.sort == FOLD_TEXT && (v.via || v.partial) && cs_fold_gathered(p, node))
            string_fact(p, node);
        if (n.kind == NODE_INDEX && v.sort == FOLD_NONE)
            unknown_of_function(p, &n);
        if (v.sort != FOLD_CHAIN)
            return;
        if (n.kind == NODE_INDEX)
            dynamic_fact(p, v.link, n.pos);
        if (!(n.flags & NODE_INNER))
            member_fact(p, node, v.link);
        return;
    default:
        return;
    }
}

static int by_offset(const void *a, const void *b)
{
    const struct cs_fact *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->column < y->column ? -1 : 1;
}

/* Offsets become lines and columns in one walk over the text. */
static void settle(struct cs_parser *p, struct cs_listing *l)
{
    struct cs_place at = {.line = 1, .column = 1};
    struct cs_compiled *out = l->out;
    if (l->facts.len)
        qsort(l->facts.at, l->facts.len, sizeof *l->facts.at, by_offset);
    out->facts = cs_arena_alloc(&out->arena, (l->facts.len + 1) * sizeof *out->facts);
    for (uint32_t i = 0; i < l->facts.len; i++) {
        cs_place_move(&at, p->src, l->facts.at[i].line);
        out->facts[i] = l->facts.at[i];
        out->facts[i].line = at.line;
        out->facts[i].column = at.column;
    }
    out->fact_count = l->facts.len;
    out->facts_cut = l->cut || cs_fold_cut(p);
    free(l->facts.at);
    free(l->table);
}

void cs_facts(struct cs_parser *p, struct cs_compiled *out)
{
    if (p->kind == CS_COMPILE_STRIP)
        return;
    struct cs_listing listing = {.out = out};
    p->listing = &listing;
    cs_fold_all(p);
    import_facts(p);
    uint32_t count = p->nodes.len;
    for (uint32_t i = 1; i < count; i++)
        node_facts(p, i);
    seen_facts(p);
    for (uint32_t i = 0; i < p->decls.len; i++)
        cs_name_fact(p, p->decls.at[i].atom, p->decls.at[i].pos);
    cs_reach(p);
    settle(p, &listing);
    p->listing = NULL;
}

/* What the program can reach, as far as its text shows. */
#include "compile/parser.h"

#define FACTS_MAX 256 /* of each kind; then one says that there are more */

void cs_note(struct cs_parser *p, enum cs_fact_kind kind, const char *name, uint32_t pos,
             uint32_t ref)
{
    *CS_PUSH(&p->notes) = (struct cs_note){.ref = ref, .pos = pos, .kind = kind, .name = name};
}

/* Members of these names are followed; 0 for every other reference. */
uint32_t cs_chain_start(struct cs_parser *p, uint32_t ref)
{
    const struct cs_ref *r = &p->refs.at[ref];
    if (r->atom != K_tools && r->atom != K_globalThis)
        return 0;
    /* (tools as any).x: the same reference again, now with more behind it. */
    if (p->chains.len && p->chains.at[p->chains.len - 1].ref == ref)
        return p->chains.len;
    *CS_PUSH(&p->chains) = (struct cs_chain){.ref = ref, .pos = r->start};
    return p->chains.len;
}

void cs_chain_name(struct cs_parser *p, uint32_t chain, uint32_t atom)
{
    if (!chain)
        return;
    struct cs_chain *c = &p->chains.at[chain - 1];
    if (c->count < CS_COUNT(c->names))
        c->names[c->count++] = atom;
}

/* Names that a program for another runtime uses. */
static bool foreign(uint32_t atom)
{
    switch (atom) {
    case K_process:
    case K_require:
    case K_module:
    case K_exports:
    case K_Deno:
    case K_Bun:
    case K_fetch:
    case K_WebAssembly:
    case K_SharedArrayBuffer:
    case K_XMLHttpRequest:
    case K_Worker:
    case K_ShadowRealm:
    case K_window:
    case K_document:
    case K___dirname:
    case K___filename:
        return true;
    default:
        return false;
    }
}

struct facts {
    struct cs_parser *p;
    struct cs_compiled *out;
    CS_VEC(struct cs_fact) list;
    uint32_t counts[CS_FACT_COUNT];
};

static void add(struct facts *f, enum cs_fact_kind kind, struct cs_str name, uint32_t pos)
{
    uint32_t n = f->counts[kind]++;
    if (n > FACTS_MAX)
        return;
    if (n == FACTS_MAX)
        name = CS_STR("more");
    *CS_PUSH(&f->list) =
        (struct cs_fact){.kind = kind, .name = cs_arena_dup(&f->out->arena, name), .line = pos};
}

static void chain_fact(struct facts *f, const struct cs_chain *c)
{
    const struct cs_ref *r = &f->p->refs.at[c->ref];
    if (r->decl || (r->flags & REF_DEAD))
        return;
    if (r->atom == K_tools)
        return;
    if (c->count == 0) {
        add(f, CS_FACT_MEMBER, CS_STR("globalThis"), c->pos);
    } else if (c->names[0] == K_NONE) {
        add(f, CS_FACT_MEMBER, CS_STR("globalThis[...]"), c->pos);
    } else if (c->names[0] == K_eval || c->names[0] == K_Function) {
        add(f, CS_FACT_CODE, f->p->names.at[c->names[0]].text, c->pos);
    } else if (foreign(c->names[0])) {
        add(f, CS_FACT_MEMBER, f->p->names.at[c->names[0]].text, c->pos);
    }
}

static int by_offset(const void *a, const void *b)
{
    const struct cs_fact *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

void cs_facts(struct cs_parser *p, struct cs_compiled *out)
{
    struct facts f = {.p = p, .out = out};
    cs_reach(p);
    for (uint32_t i = 0; i < p->found.len; i++) {
        const struct cs_found *n = &p->found.at[i];
        add(&f, n->kind, cs_str(n->name), n->pos);
        if (f.list.len)
            f.list.at[f.list.len - 1].via = cs_str(n->via);
    }
    for (uint32_t i = 0; i < p->chains.len; i++)
        chain_fact(&f, &p->chains.at[i]);
    for (uint32_t i = 0; i < p->notes.len; i++) {
        const struct cs_note *n = &p->notes.at[i];
        if (n->ref == 0 || p->refs.at[n->ref - 1].decl == 0)
            add(&f, n->kind, cs_str(n->name), n->pos);
    }
    for (uint32_t i = 0; i < p->refs.len; i++) {
        const struct cs_ref *r = &p->refs.at[i];
        if (r->atom >= K_END || r->decl || (r->flags & (REF_DEAD | REF_EXPORT)))
            continue;
        struct cs_str name = p->names.at[r->atom].text;
        if (r->atom == K_eval)
            add(&f, CS_FACT_CODE, name, r->start);
        else if (foreign(r->atom))
            add(&f, CS_FACT_MEMBER, name, r->start);
    }
    /* Offsets become lines and columns in one walk over the text. */
    struct cs_place at = {.line = 1, .column = 1};
    if (f.list.len)
        qsort(f.list.at, f.list.len, sizeof *f.list.at, by_offset);
    out->facts = cs_arena_alloc(&out->arena, (f.list.len + 1) * sizeof *out->facts);
    for (uint32_t i = 0; i < f.list.len; i++) {
        cs_place_move(&at, p->src, f.list.at[i].line);
        out->facts[i] = f.list.at[i];
        out->facts[i].line = at.line;
        out->facts[i].column = at.column;
    }
    out->fact_count = f.list.len;
    free(f.list.at);
}

/*
 * Names: written down while reading, resolved when everything has been read, so that hoisting and
 * shadowing come out right whatever the order.
 */
#include "compile/parser.h"

uint32_t cs_scope_open(struct cs_parser *p, bool function)
{
    uint32_t index = p->scopes.len;
    *CS_PUSH(&p->scopes) = (struct cs_scope){
        .parent = p->scope,
        .function = function || index == 0 ? index : p->scopes.at[p->scope].function};
    p->scope = index;
    return index;
}

void cs_scope_close(struct cs_parser *p)
{
    p->scope = p->scopes.at[p->scope].parent;
}

static void refuse_reserved(struct cs_parser *p, uint32_t atom, uint32_t pos)
{
    if (atom >= K_$ns && atom <= K_$default && p->kind != CS_COMPILE_STRIP)
        cs_syntax_error(p, pos, "choose another name", "the name '%.*s' is reserved",
                        CS_STR_ARG(p->names.at[atom].text));
}

static void declare_in(struct cs_parser *p, uint32_t scope, uint32_t atom, enum cs_decl_kind kind,
                       uint32_t aux, uint32_t pos)
{
    refuse_reserved(p, atom, pos);
    *CS_PUSH(&p->decls) =
        (struct cs_decl){.atom = atom, .scope = scope, .aux = aux, .pos = pos, .kind = kind};
}

void cs_declare(struct cs_parser *p, uint32_t atom, enum cs_decl_kind kind, uint32_t aux,
                uint32_t pos)
{
    declare_in(p, p->scope, atom, kind, aux, pos);
}

void cs_declare_var(struct cs_parser *p, uint32_t atom, uint32_t pos)
{
    declare_in(p, p->scopes.at[p->scope].function, atom, DECL_VALUE, 0, pos);
}

uint32_t cs_refer(struct cs_parser *p, const struct cs_token *name, uint32_t flags)
{
    refuse_reserved(p, name->atom, name->start);
    *CS_PUSH(&p->refs) = (struct cs_ref){
        .start = name->start,
        .end = name->end,
        .atom = name->atom,
        .scope = p->scope,
        .flags = flags | (name->start == p->asi_pos ? (uint32_t)REF_ASI : 0),
    };
    return p->refs.len - 1;
}

void cs_cands_declare(struct cs_parser *p, uint32_t mark, uint32_t scope)
{
    for (uint32_t i = mark; i < p->cands.len; i++) {
        struct cs_ref *r = &p->refs.at[p->cands.at[i]];
        if (r->flags & REF_DEAD)
            continue;
        r->flags |= REF_DEAD;
        declare_in(p, scope, r->atom, DECL_VALUE, 0, r->start);
        r->decl = p->decls.len;
    }
}

void cs_cands_write(struct cs_parser *p, uint32_t mark)
{
    for (uint32_t i = mark; i < p->cands.len; i++)
        p->refs.at[p->cands.at[i]].flags |= REF_WRITE;
}

/* Declarations of one scope side by side, in order of appearance. */
static void group_by_scope(struct cs_parser *p, struct cs_decl **sorted)
{
    for (uint32_t i = 0; i < p->decls.len; i++)
        p->scopes.at[p->decls.at[i].scope].count++;
    uint32_t first = 0;
    for (uint32_t i = 0; i < p->scopes.len; i++) {
        p->scopes.at[i].first = first;
        first += p->scopes.at[i].count;
        p->scopes.at[i].count = 0;
    }
    for (uint32_t i = 0; i < p->decls.len; i++) {
        struct cs_scope *s = &p->scopes.at[p->decls.at[i].scope];
        sorted[s->first + s->count++] = &p->decls.at[i];
    }
}

struct resolver {
    struct cs_parser *p;
    struct cs_decl **sorted;
    uint32_t *top; /* of each name: declaration index + 1 that holds now */
};

static void enter(struct resolver *r, uint32_t scope)
{
    const struct cs_scope *s = &r->p->scopes.at[scope];
    /* What is inherited comes first, so that what is declared here hides it. */
    for (int own = 0; own < 2; own++) {
        for (uint32_t i = 0; i < s->count; i++) {
            struct cs_decl *d = r->sorted[s->first + i];
            if (d->kind == DECL_TYPE || d->inherited == own)
                continue;
            d->prev = r->top[d->atom];
            r->top[d->atom] = (uint32_t)(d - r->p->decls.at) + 1;
        }
    }
}

static void leave(struct resolver *r, uint32_t scope)
{
    const struct cs_scope *s = &r->p->scopes.at[scope];
    for (int own = 2; own-- > 0;) {
        for (uint32_t i = s->count; i-- > 0;) {
            struct cs_decl *d = r->sorted[s->first + i];
            if (d->kind != DECL_TYPE && d->inherited != own)
                r->top[d->atom] = d->prev;
        }
    }
}

/*
 * References come in the order of the text, and so do the numbers of scopes: going from one
 * reference to the next, every scope is entered and left at most once. So this is linear.
 */
void cs_scope_resolve(struct cs_parser *p)
{
    struct resolver r = {.p = p};
    r.sorted = cs_arena_alloc(&p->scratch, (p->decls.len + 1) * sizeof *r.sorted);
    r.top = cs_arena_alloc(&p->scratch, p->names.len * sizeof *r.top);
    group_by_scope(p, r.sorted);
    uint32_t *path = cs_arena_alloc(&p->scratch, (p->scopes.len + 1) * sizeof *path);
    uint32_t depth = 0, want = 0;
    uint32_t *down = cs_arena_alloc(&p->scratch, (p->scopes.len + 1) * sizeof *down);
    enter(&r, 0);
    path[depth++] = 0;
    for (uint32_t i = 0; i < p->refs.len; i++) {
        struct cs_ref *ref = &p->refs.at[i];
        if (ref->flags & REF_DEAD)
            continue;
        /* Up to the scope that both have in common, then down. Numbers grow downwards. */
        want = 0;
        for (uint32_t s = ref->scope; path[depth - 1] != s;) {
            if (path[depth - 1] > s) {
                leave(&r, path[--depth]);
            } else {
                down[want++] = s;
                s = p->scopes.at[s].parent;
            }
        }
        while (want > 0) {
            path[depth] = down[--want];
            enter(&r, path[depth++]);
        }
        ref->decl = r.top[ref->atom];
        if (ref->decl && !(ref->flags & REF_ALIAS))
            p->decls.at[ref->decl - 1].uses++;
    }
}

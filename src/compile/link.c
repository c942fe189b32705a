/*
 * When everything has been read: which names are imports, which imports are needed, what each
 * reference becomes, and the text around the body.
 */
#include "compile/parser.h"

struct linker {
    struct cs_parser *p;
    struct cs_compiled *out;
    const char **plain, **called; /* for each declaration: what a reference to it becomes */
    bool *is_type;                /* for each name: a type of the top level has it */
    uint32_t *seen;               /* for each name: exported already, by export index + 1 */
    bool returns;                 /* PROGRAM: its last expression is its value */
};

static void put_quoted(struct cs_buf *b, struct cs_str s)
{
    cs_buf_putc(b, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c == '"' || c == '\\')
            cs_buf_printf(b, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            cs_buf_printf(b, "\\x%02x", c);
        else
            cs_buf_putc(b, (char)c);
    }
    cs_buf_putc(b, '"');
}

static bool plain_name(struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i], low = (char)(c | 0x20);
        bool letter = (low >= 'a' && low <= 'z') || c == '_' || c == '$';
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return s.len > 0;
}

/* object.name, or object["name"] where that is not possible. */
static const char *member(struct cs_parser *p, const char *object, uint32_t name)
{
    struct cs_str s = p->names.at[name].text;
    if (plain_name(s))
        return cs_textf(p, "%s.%.*s", object, CS_STR_ARG(s));
    cs_buf_clear(&p->text);
    put_quoted(&p->text, s);
    return cs_textf(p, "%s[%.*s]", object, CS_STR_ARG(cs_buf_str(&p->text)));
}

static const char *import_text(struct cs_parser *p, const struct cs_spec *s)
{
    const char *ns = cs_textf(p, "$ns[%u]", p->reqs.at[s->req].index);
    return s->name == K_NONE ? ns : member(p, ns, s->name);
}

/* What a reference to this declaration becomes; NULL: it stays. */
static const char *text_of(struct linker *l, uint32_t decl, bool call)
{
    struct cs_parser *p = l->p;
    const struct cs_decl *d = &p->decls.at[decl];
    if (!l->plain[decl]) {
        if (d->kind == DECL_IMPORT && p->kind != CS_COMPILE_STRIP)
            l->plain[decl] = import_text(p, &p->specs.at[d->aux]);
        else if (d->kind == DECL_MEMBER || d->kind == DECL_NSVAR)
            l->plain[decl] = member(p, p->homes.at[d->aux].text, d->atom);
        else
            return NULL;
    }
    if (!call || d->kind != DECL_IMPORT || p->specs.at[d->aux].name == K_NONE)
        return l->plain[decl];
    if (!l->called[decl])
        l->called[decl] = cs_textf(p, ";(0,%s)", l->plain[decl]);
    return l->called[decl];
}

static void rewrite_references(struct linker *l)
{
    struct cs_parser *p = l->p;
    for (uint32_t i = 0; i < p->refs.len; i++) {
        const struct cs_ref *r = &p->refs.at[i];
        if (!r->decl || (r->flags & (REF_DEAD | REF_EXPORT)))
            continue;
        bool call = (r->flags & REF_CALL) && !(r->flags & REF_SHORTHAND);
        const char *text = text_of(l, r->decl - 1, call);
        if (!text)
            continue;
        struct cs_str source = cs_strn(p->src + r->start, r->end - r->start);
        if ((r->flags & REF_WRITE) && p->decls.at[r->decl - 1].kind == DECL_IMPORT)
            cs_syntax_error(p, r->start, "copy it to a variable of your own: let mine = ...",
                            "'%.*s' is an import and cannot be assigned to", CS_STR_ARG(source));
        /* The ';' is for a statement that would otherwise continue the one before. */
        if (text[0] == ';' && (!(r->flags & REF_ASI) || (l->returns && r->start == p->value_start)))
            text++;
        if (r->flags & REF_SHORTHAND)
            text = cs_textf(p, "%.*s:%s", CS_STR_ARG(source), text);
        cs_replace(p, r->start, r->end, text);
    }
}

/* Open addressing over (scope or group, name). */
struct blocks {
    struct block {
        uint64_t key;
        uint32_t last; /* the last block of that name: index + 1 in merges */
        bool used;     /* the entry */
        bool declared; /* something of that name declares a variable */
    } * at;
    uint32_t mask;
};

static struct block *block_of(struct blocks *b, uint64_t key)
{
    uint32_t i = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 33) & b->mask;
    while (b->at[i].used && b->at[i].key != key)
        i = (i + 1) & b->mask;
    b->at[i].key = key;
    b->at[i].used = true;
    return &b->at[i];
}

#define INHERITED_MAX (1u << 20)

/* The names that a block sees because an earlier block of its name exports them. */
static void inherit(struct cs_parser *p, uint32_t block, uint32_t earlier, const uint32_t *first,
                    const uint32_t *next)
{
    const struct cs_merge *m = &p->merges.at[block];
    for (; earlier; earlier = p->merges.at[earlier - 1].previous) {
        for (uint32_t d = first[earlier - 1]; d; d = next[d - 1]) {
            struct cs_decl copy = p->decls.at[d - 1];
            copy.kind = copy.kind == DECL_MEMBER ? DECL_MEMBER : DECL_NSVAR;
            copy.scope = m->body;
            copy.aux = m->home;
            copy.inherited = true;
            *CS_PUSH(&p->decls) = copy;
            if (++p->inherited > INHERITED_MAX)
                cs_limit_error(p, copy.pos, "too many merged namespaces and enums");
        }
    }
}

/* For each block, a list of what it exports: first[block], then next[declaration], plus one. */
static void list_exports(struct cs_parser *p, const uint32_t *of_scope, uint32_t *first,
                         uint32_t *next)
{
    for (uint32_t i = 0; i < p->decls.len; i++) {
        const struct cs_decl *d = &p->decls.at[i];
        uint32_t owner = of_scope[d->scope];
        if (owner && (d->kind == DECL_MEMBER || d->kind == DECL_NSVAR || d->exported)) {
            next[i] = first[owner - 1];
            first[owner - 1] = i + 1;
        }
    }
}

/*
 * Which block of each name declares its variable, and what the others inherit. Blocks that merge
 * have one group; what a group exports merges across its blocks, although their scopes differ.
 */
static void merge_blocks(struct cs_parser *p)
{
    if (!p->merges.len)
        return;
    struct blocks b = {.mask = 16};
    while (b.mask < p->decls.len * 4)
        b.mask *= 2;
    b.at = cs_arena_alloc(&p->scratch, b.mask * sizeof *b.at);
    b.mask--;
    uint32_t count = p->decls.len;
    uint32_t *next = cs_arena_alloc(&p->scratch, (count + 1) * sizeof *next);
    uint32_t *first = cs_arena_alloc(&p->scratch, p->merges.len * sizeof *first);
    uint32_t *of_scope = cs_arena_alloc(&p->scratch, p->scopes.len * sizeof *of_scope);
    for (uint32_t i = 0; i < p->merges.len; i++)
        of_scope[p->merges.at[i].body] = i + 1;
    list_exports(p, of_scope, first, next);
    for (uint32_t i = 0; i < count; i++) {
        struct cs_decl d = p->decls.at[i];
        if (d.kind < DECL_FUNC || d.kind > DECL_NS)
            continue;
        struct block *here = block_of(&b, (uint64_t)d.scope << 32 | d.atom);
        bool again = here->declared;
        here->declared = true;
        if (d.kind != DECL_ENUM && d.kind != DECL_NS)
            continue;
        struct cs_merge *m = &p->merges.at[d.aux];
        if (m->edit != UINT32_MAX) {
            struct cs_edit *e = &p->edits.at[m->edit];
            e->text = again ? m->again : m->first;
            e->text_len = (uint32_t)strlen(e->text);
        }
        uint64_t group = d.scope;
        if (d.exported && of_scope[d.scope])
            group = 1u << 31 | p->merges.at[of_scope[d.scope] - 1].group;
        struct block *all = block_of(&b, group << 32 | d.atom);
        m->previous = all->last;
        m->group = all->last ? p->merges.at[all->last - 1].group : d.aux;
        all->last = d.aux + 1;
        inherit(p, d.aux, m->previous, first, next);
    }
}

/* import A = B.C stays only if somebody needs A; later ones may need earlier ones. */
static void settle_aliases(struct cs_parser *p)
{
    for (uint32_t i = p->aliases.len; i-- > 0;) {
        struct cs_alias *a = &p->aliases.at[i];
        struct cs_ref *r = &p->refs.at[a->ref];
        if (a->exported || p->decls.at[a->decl].uses) {
            if (r->decl)
                p->decls.at[r->decl - 1].uses++;
        } else {
            r->flags |= REF_DEAD;
            p->edits.at[a->edit].kind = EDIT_BLANK; /* it replaced the keyword */
            cs_drop(p, a->start, a->end);
        }
    }
}

/* Exports of what is only a type go; exports of nothing are an error. */
static void settle_exports(struct linker *l)
{
    struct cs_parser *p = l->p;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->exports.len; i++) {
        struct cs_export *e = &p->exports.at[i];
        const struct cs_ref *r = e->ref ? &p->refs.at[e->ref - 1] : NULL;
        if (r && !r->decl && l->is_type[r->atom]) {
            if (e->whole_end) {
                p->edits.at[e->edit].text_len = p->edits.at[e->edit + 1].text_len = 0;
                cs_drop(p, e->whole_start, e->whole_end);
            }
            continue;
        }
        if (r && !r->decl && (r->flags & REF_EXPORT))
            cs_syntax_error(p, e->pos, "declare it, or export it from where it is declared",
                            "'%.*s' is exported but not declared",
                            CS_STR_ARG(p->names.at[r->atom].text));
        if (e->kind != EXPORT_STAR) {
            uint32_t before = l->seen[e->name];
            if (before) {
                /* Blocks of one enum or namespace, and overloads. */
                if (e->kind == EXPORT_LOCAL && p->exports.at[before - 1].local == e->local &&
                    !e->ref)
                    continue;
                cs_syntax_error(p, e->pos, "", "'%.*s' is exported twice",
                                CS_STR_ARG(p->names.at[e->name].text));
            }
            l->seen[e->name] = kept + 1;
        }
        p->exports.at[kept++] = *e;
    }
    p->exports.len = kept;
}

static void number_imports(struct linker *l)
{
    struct cs_parser *p = l->p;
    struct cs_compiled *out = l->out;
    for (uint32_t i = 0; i < p->decls.len; i++) {
        const struct cs_decl *d = &p->decls.at[i];
        if (d->kind == DECL_IMPORT && (d->uses || p->kind == CS_COMPILE_STRIP))
            p->reqs.at[p->specs.at[d->aux].req].used = true;
    }
    uint32_t *index = cs_arena_alloc(&p->scratch, p->names.len * sizeof *index);
    out->imports = cs_arena_alloc(&out->arena, (p->reqs.len + 1) * sizeof *out->imports);
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        struct cs_place at = {.line = 1, .column = 1};
        for (uint32_t i = 0; i < p->reqs.len; i++) {
            struct cs_req *r = &p->reqs.at[i];
            r->used |= r->side_effect;
            if (r->dynamic != dynamic || (!dynamic && !r->used))
                continue;
            if (!index[r->atom]) {
                cs_place_move(&at, p->src, r->pos);
                out->imports[out->import_count] = (struct cs_import){
                    .specifier = cs_arena_dup(&out->arena, p->names.at[r->atom].text),
                    .line = at.line,
                    .column = at.column,
                    .dynamic = dynamic,
                };
                index[r->atom] = ++out->import_count;
            }
            r->index = index[r->atom] - 1;
        }
        if (!dynamic)
            out->static_count = out->import_count;
    }
}

/*
 * What the modules behind the imports must export, for the worker to check when it links them.
 * Names that are passed on (`export { T } from`) are not in the list: they may be types, and
 * nothing in this file tells.
 */
static void list_wanted(struct linker *l)
{
    struct cs_parser *p = l->p;
    struct cs_compiled *out = l->out;
    out->wanted = cs_arena_alloc(&out->arena, (p->specs.len + 1) * sizeof *out->wanted);
    struct cs_place at = {.line = 1, .column = 1};
    for (uint32_t i = 0; i < p->decls.len; i++) {
        const struct cs_decl *d = &p->decls.at[i];
        const struct cs_spec *s = d->kind == DECL_IMPORT ? &p->specs.at[d->aux] : NULL;
        if (!s || !d->uses || s->name == K_NONE || out->wanted_count == p->specs.len)
            continue;
        cs_place_move(&at, p->src, d->pos);
        out->wanted[out->wanted_count++] = (struct cs_wanted){
            .import = p->reqs.at[s->req].index,
            .name = cs_arena_dup(&out->arena, p->names.at[s->name].text),
            .line = at.line,
            .column = at.column,
        };
    }
}

/* The expression that reads an export. */
static const char *export_text(struct linker *l, const struct cs_export *e)
{
    struct cs_parser *p = l->p;
    if (e->kind == EXPORT_FROM)
        return import_text(p, &(struct cs_spec){.req = e->req, .name = e->local});
    if (e->kind == EXPORT_NAMESPACE)
        return import_text(p, &(struct cs_spec){.req = e->req, .name = K_NONE});
    if (e->ref && e->local != K_$default) {
        uint32_t decl = p->refs.at[e->ref - 1].decl;
        const char *text = decl ? text_of(l, decl - 1, false) : NULL;
        if (text)
            return text;
    }
    return cs_textf(p, "%.*s", CS_STR_ARG(p->names.at[e->local].text));
}

static void put_exports(struct linker *l, struct cs_buf *b)
{
    struct cs_parser *p = l->p;
    const char *separator = "";
    cs_buf_puts(b, "$export({");
    for (uint32_t i = 0; i < p->exports.len; i++) {
        const struct cs_export *e = &p->exports.at[i];
        if (e->kind == EXPORT_STAR)
            continue;
        const char *text = export_text(l, e);
        struct cs_str name = p->names.at[e->name].text;
        cs_buf_puts(b, separator);
        separator = ",";
        if (e->name == K___proto__) {
            cs_buf_puts(b, "[\"__proto__\"]");
        } else if (plain_name(name)) {
            cs_buf_putstr(b, name);
        } else {
            put_quoted(b, name);
        }
        cs_buf_printf(b, ":()=>%s", text);
    }
    cs_buf_puts(b, "},[");
    separator = "";
    for (uint32_t i = 0; i < p->exports.len; i++) {
        if (p->exports.at[i].kind != EXPORT_STAR)
            continue;
        cs_buf_printf(b, "%s%u", separator, p->reqs.at[p->exports.at[i].req].index);
        separator = ",";
    }
    cs_buf_puts(b, "]);");
}

static void put_prefix(struct linker *l, struct cs_buf *b)
{
    cs_buf_puts(b, "(async($ns,$export,$go,$import,$meta)=>{\"use strict\";");
    if (l->p->exports.len || l->out->static_count || l->p->kind == CS_COMPILE_MODULE) {
        put_exports(l, b);
        if (l->p->default_function)
            cs_buf_puts(b, "Object.defineProperty($default,\"name\","
                           "{value:\"default\",configurable:true});");
        cs_buf_puts(b, "await $go();");
    }
}

/* PROGRAM: how its value leaves the function. */
static const char *program_value(struct linker *l)
{
    struct cs_parser *p = l->p;
    l->out->value = CS_VALUE_RETURNED;
    if (p->kind != CS_COMPILE_PROGRAM)
        return "\n})";
    if (l->seen[K_default]) {
        l->out->value = CS_VALUE_CALLABLE;
        return cs_textf(p, "\nreturn %s})", export_text(l, &p->exports.at[l->seen[K_default] - 1]));
    }
    if (p->lone_function) {
        l->out->value = CS_VALUE_CALLABLE;
        return cs_textf(p, "\nreturn %.*s})", CS_STR_ARG(p->names.at[p->lone_function].text));
    }
    if (l->returns) {
        if (p->value_is_function)
            l->out->value = CS_VALUE_CALLABLE;
        cs_insert_text(p, p->value_start, "return (");
        p->edits.at[p->edits.len - 1].seq = 0;
        cs_insert_text(p, p->value_end, ")");
    }
    return "\n})";
}

void cs_link(struct cs_parser *p, struct cs_compiled *out)
{
    struct linker l = {.p = p, .out = out};
    bool strip = p->kind == CS_COMPILE_STRIP;
    if (!strip || p->needs_names) {
        merge_blocks(p);
        l.plain = cs_arena_alloc(&p->scratch, (p->decls.len + 1) * sizeof *l.plain);
        l.called = cs_arena_alloc(&p->scratch, (p->decls.len + 1) * sizeof *l.called);
        cs_scope_resolve(p);
        settle_aliases(p);
    }
    const char *suffix = "";
    cs_buf_clear(&p->prefix);
    if (!strip) {
        l.is_type = cs_arena_alloc(&p->scratch, p->names.len * sizeof *l.is_type);
        l.seen = cs_arena_alloc(&p->scratch, p->names.len * sizeof *l.seen);
        for (uint32_t i = 0; i < p->decls.len; i++) {
            if (p->decls.at[i].kind == DECL_TYPE && p->decls.at[i].scope == 0)
                l.is_type[p->decls.at[i].atom] = true;
        }
        settle_exports(&l);
        l.returns = p->kind == CS_COMPILE_PROGRAM && p->has_value && !p->lone_function &&
                    !l.seen[K_default];
    }
    number_imports(&l);
    if (!strip)
        list_wanted(&l);
    if (!strip || p->needs_names)
        rewrite_references(&l);
    if (!strip) {
        put_prefix(&l, &p->prefix);
        suffix = program_value(&l);
    }
    cs_edits_apply(p, cs_buf_cstr(&p->prefix), suffix, out);
    cs_facts(p, out);
}

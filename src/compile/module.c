/* import and export. In a program or module they go, and are written down for link.c. */
#include "compile/parser.h"

uint32_t cs_request(struct cs_parser *p, uint32_t atom, uint32_t pos, bool dynamic)
{
    *CS_PUSH(&p->reqs) = (struct cs_req){.atom = atom, .pos = pos, .dynamic = dynamic};
    return p->reqs.len - 1;
}

/* One name in braces: `a`, `a as b`, `type a as b`, "a" as b. */
struct specifier {
    struct cs_token name, local;
    uint32_t imported, as; /* atoms of both */
    bool type;
};

static uint32_t name_atom(struct cs_parser *p, const struct cs_token *t)
{
    if (t->kind == T_STR)
        return cs_lex_value(p, t->start, t->end);
    if (t->kind != T_NAME)
        cs_unexpected(p, "a name");
    return t->atom;
}

static bool at_name(const struct cs_parser *p)
{
    return p->tok.kind == T_NAME || p->tok.kind == T_STR;
}

/*
 * `type` may be the modifier or a name: {type}, {type as x}, {type as as x}. Leaves the current
 * token behind the name that is imported or exported.
 */
static void specifier_name(struct cs_parser *p, struct specifier *s)
{
    s->name = p->tok;
    name_atom(p, &p->tok);
    bool word = cs_is(p, K_type);
    cs_next(p);
    if (!word || !at_name(p))
        return;
    if (!cs_is(p, K_as)) {
        s->type = true;
        s->name = p->tok;
        cs_next(p);
        return;
    }
    struct cs_token as = p->tok, ahead = cs_peek(p);
    if (ahead.kind != T_NAME && ahead.kind != T_STR) {
        /* {type as}: the type called as. */
        s->type = true;
        s->name = as;
        cs_next(p);
    } else if (cs_tok_is(&ahead, K_as)) {
        struct cs_token first = p->tok;
        uint32_t prev = p->prev_end;
        cs_next(p);
        struct cs_token third = cs_peek(p);
        if (third.kind == T_NAME || third.kind == T_STR) {
            /* {type as as x}: the type called as, under another name. */
            s->type = true;
            s->name = first;
        } else {
            p->tok = first;
            p->prev_end = prev;
        }
    }
}

static void specifier(struct cs_parser *p, struct specifier *s)
{
    *s = (struct specifier){0};
    specifier_name(p, s);
    s->local = s->name;
    s->imported = name_atom(p, &s->name);
    if (cs_is(p, K_as)) {
        cs_next(p);
        s->local = p->tok;
        name_atom(p, &p->tok);
        cs_next(p);
    }
    s->as = name_atom(p, &s->local);
}

static void import_name(struct cs_parser *p, uint32_t req, uint32_t name, uint32_t local,
                        uint32_t pos, bool type)
{
    if (type) {
        cs_declare(p, local, DECL_TYPE, 0, pos);
        return;
    }
    *CS_PUSH(&p->specs) = (struct cs_spec){.req = req, .name = name, .pos = pos};
    cs_declare(p, local, DECL_IMPORT, p->specs.len - 1, pos);
}

static void import_braces(struct cs_parser *p, uint32_t req, bool type)
{
    uint32_t opened = p->tok.start;
    cs_next(p);
    while (p->tok.kind != T_RBRACE) {
        uint32_t start = p->tok.start;
        struct specifier s;
        specifier(p, &s);
        if (!cs_tok_ident(&s.local))
            cs_syntax_error(p, s.local.start, "rename it: { name as other }",
                            "this cannot be the name of an import");
        import_name(p, req, s.imported, s.as, s.local.start, type || s.type);
        bool more = cs_eat(p, T_COMMA);
        if (s.type && p->kind == CS_COMPILE_STRIP)
            cs_blank(p, start, p->prev_end);
        if (!more)
            break;
    }
    cs_close(p, T_RBRACE, opened);
}

static uint32_t local_name(struct cs_parser *p)
{
    if (!cs_tok_ident(&p->tok))
        cs_unexpected(p, "a name");
    uint32_t atom = p->tok.atom;
    cs_next(p);
    return atom;
}

/* Default, namespace and named imports, up to `from`. */
static void import_clause(struct cs_parser *p, uint32_t req, bool type)
{
    if (cs_tok_ident(&p->tok)) {
        uint32_t pos = p->tok.start;
        import_name(p, req, K_default, local_name(p), pos, type);
        if (!cs_eat(p, T_COMMA))
            return;
    }
    if (p->tok.kind == T_STAR) {
        cs_next(p);
        if (!cs_is(p, K_as))
            cs_unexpected(p, "'as'");
        cs_next(p);
        uint32_t pos = p->tok.start;
        import_name(p, req, K_NONE, local_name(p), pos, type);
    } else if (p->tok.kind == T_LBRACE) {
        import_braces(p, req, type);
    } else {
        cs_unexpected(p, "'{' or '*'");
    }
}

/* from "x" with {...}; the specifier's atom, and its position in *pos. */
static uint32_t from_clause(struct cs_parser *p, uint32_t *pos)
{
    if (p->tok.kind != T_STR)
        cs_unexpected(p, "the module's name in quotes");
    uint32_t atom = cs_lex_value(p, p->tok.start, p->tok.end);
    *pos = p->tok.start;
    cs_next(p);
    if (cs_is(p, K_with) || (cs_is(p, K_assert) && !p->tok.nl)) {
        cs_next(p);
        if (p->tok.kind != T_LBRACE)
            cs_unexpected(p, "'{'");
        cs_skip_balanced(p);
    }
    cs_semicolon(p);
    return atom;
}

static void expect_from(struct cs_parser *p)
{
    if (!cs_is(p, K_from))
        cs_unexpected(p, "'from'");
    cs_next(p);
}

/* The current token is `type` behind import: is it the modifier? */
static bool import_is_type(struct cs_parser *p)
{
    struct cs_token word = p->tok, ahead = cs_peek(p);
    if (ahead.kind == T_LBRACE || ahead.kind == T_STAR)
        return true;
    if (!cs_tok_ident(&ahead))
        return false;
    if (!cs_tok_is(&ahead, K_from))
        return true;
    p->tok = ahead;
    struct cs_token third = cs_peek(p);
    p->tok = word;
    return third.kind != T_STR;
}

static void refuse_phase(struct cs_parser *p)
{
    struct cs_token ahead = cs_peek(p);
    if ((cs_is(p, K_defer) && ahead.kind == T_STAR) ||
        (cs_is(p, K_source) && ahead.kind == T_NAME && !cs_tok_is(&ahead, K_from)))
        cs_syntax_error(p, p->tok.start, "write a plain import", "import %s is not supported",
                        cs_is(p, K_defer) ? "defer" : "source");
}

void cs_import_alias(struct cs_parser *p, uint32_t start, bool exported)
{
    struct cs_token name = p->tok;
    uint32_t keyword = p->prev_end - 6;
    cs_next(p);
    cs_next(p);
    if (cs_is(p, K_require) && cs_peek(p).kind == T_LPAREN)
        cs_syntax_error(p, start, "write: import name from \"module\"",
                        "import name = require(...) is not supported");
    if (!cs_tok_ident(&p->tok))
        cs_unexpected(p, "a name");
    bool property = exported && p->ns;
    uint32_t target = 0, edit = p->edits.len;
    if (property) {
        cs_drop(p, start, name.start);
        cs_declare(p, name.atom, DECL_NSVAR, p->ns - 1, name.start);
        target = cs_val(p, VAL_REF, cs_refer(p, &name, 0), 0, 0);
    } else {
        cs_replace(p, keyword, keyword + 6, "var   ");
        cs_declare(p, name.atom, DECL_ALIAS, p->aliases.len, name.start);
        if (exported)
            cs_note_export(p, name.atom, name.atom, name.start);
        if (exported && p->kind != CS_COMPILE_STRIP)
            cs_blank(p, start, keyword);
    }
    p->needs_names = true;
    if (!property)
        target = cs_val(p, VAL_DECL, p->decls.len - 1, 0, 0);
    struct cs_alias alias = {
        .start = start, .exported = exported, .decl = p->decls.len - 1, .edit = edit};
    alias.ref = cs_refer(p, &p->tok, property ? 0 : REF_ALIAS);
    uint32_t node = cs_node(p, NODE_REF, alias.ref, 0, p->tok.start);
    uint32_t val = cs_val(p, VAL_REF, alias.ref, 0, 0);
    cs_next(p);
    while (cs_eat(p, T_DOT)) {
        if (p->tok.kind != T_NAME)
            cs_unexpected(p, "a name");
        p->nodes.at[node].flags |= NODE_INNER;
        node = cs_node(p, NODE_MEMBER, node, p->tok.atom, p->nodes.at[node].pos);
        val = cs_val(p, VAL_MEMBER, val, p->tok.atom, 0);
        cs_next(p);
    }
    *CS_PUSH(&p->binds) = (struct cs_bound){.decl = alias.decl, .node = node};
    cs_assigned(p, target, val);
    if (p->tok.kind != T_SEMI)
        cs_insert_text(p, p->prev_end, ";");
    cs_semicolon(p);
    alias.end = p->prev_end;
    if (!property)
        *CS_PUSH(&p->aliases) = alias;
}

enum cs_st cs_import_decl(struct cs_parser *p)
{
    uint32_t start = p->tok.start, decls = p->decls.len, pos;
    if (p->scope != 0 && !(p->ns && p->scope == p->ns_scope))
        cs_syntax_error(p, start, "move it to the top level of the file, or use await import()",
                        "an import declaration cannot stand here");
    cs_next(p);
    bool type = false, bare = p->tok.kind == T_STR;
    if (!bare) {
        refuse_phase(p);
        if (cs_is(p, K_type) && import_is_type(p)) {
            type = true;
            cs_next(p);
        }
        struct cs_token ahead = cs_peek(p);
        if (cs_tok_ident(&p->tok) && ahead.kind == T_ASSIGN) {
            uint32_t edits = p->edits.len, vals = p->vals.len;
            cs_import_alias(p, start, false);
            if (!type)
                return ST_OTHER;
            p->edits.len = edits;
            p->vals.len = vals;
            p->aliases.len--;
            p->refs.len--;
            p->decls.at[p->decls.len - 1].kind = DECL_TYPE;
            cs_drop(p, start, p->prev_end);
            return ST_ERASED;
        }
        if (p->scope != 0)
            cs_syntax_error(p, start, "move it to the top level of the file",
                            "an import declaration cannot stand in a namespace");
        import_clause(p, p->reqs.len, type);
        expect_from(p);
    }
    uint32_t atom = from_clause(p, &pos);
    if (type) {
        cs_drop(p, start, p->prev_end);
        return ST_ERASED;
    }
    uint32_t req = cs_request(p, atom, pos, false);
    p->reqs.at[req].side_effect = bare || p->decls.len == decls;
    if (p->kind != CS_COMPILE_STRIP)
        cs_drop(p, start, p->prev_end);
    return ST_MODULE;
}

static void export_name(struct cs_parser *p, int kind, uint32_t name, uint32_t local, uint32_t req,
                        uint32_t pos)
{
    struct cs_export *e = CS_PUSH(&p->exports);
    *e = (struct cs_export){.name = name, .local = local, .req = req, .pos = pos};
    e->kind = kind;
}

/* export { a as b } [from "x"] */
static void export_braces(struct cs_parser *p, uint32_t start, bool type)
{
    uint32_t opened = p->tok.start, exports = p->exports.len, pos;
    cs_next(p);
    bool empty = p->tok.kind == T_RBRACE;
    while (p->tok.kind != T_RBRACE) {
        uint32_t from = p->tok.start;
        struct specifier s;
        specifier(p, &s);
        if (!type && !s.type) {
            export_name(p, EXPORT_LOCAL, s.as, s.imported, 0, s.name.start);
            p->exports.at[p->exports.len - 1].token = s.name;
        }
        bool more = cs_eat(p, T_COMMA);
        if (s.type && p->kind == CS_COMPILE_STRIP)
            cs_blank(p, from, p->prev_end);
        if (!more)
            break;
    }
    cs_close(p, T_RBRACE, opened);
    if (cs_is(p, K_from)) {
        cs_next(p);
        uint32_t atom = from_clause(p, &pos);
        if (!type) {
            uint32_t req = cs_request(p, atom, pos, false);
            p->reqs.at[req].side_effect = empty || p->exports.len > exports;
            for (uint32_t i = exports; i < p->exports.len; i++) {
                p->exports.at[i].kind = EXPORT_FROM;
                p->exports.at[i].req = req;
            }
        }
    } else {
        cs_semicolon(p);
        for (uint32_t i = exports; i < p->exports.len; i++) {
            struct cs_export *e = &p->exports.at[i];
            if (!cs_tok_ident(&e->token))
                cs_syntax_error(p, e->pos, "", "this is not the name of anything here");
            uint32_t ref = cs_refer(p, &e->token, REF_EXPORT);
            p->exports.at[i].ref = ref + 1;
        }
    }
    if (type || p->kind != CS_COMPILE_STRIP)
        cs_drop(p, start, p->prev_end);
}

/* export * [as n] from "x" */
static void export_star(struct cs_parser *p, uint32_t start, bool type)
{
    uint32_t name = K_NONE, at = p->tok.start, pos;
    cs_next(p);
    if (cs_is(p, K_as)) {
        cs_next(p);
        name = name_atom(p, &p->tok);
        cs_next(p);
    }
    expect_from(p);
    uint32_t atom = from_clause(p, &pos);
    if (!type) {
        uint32_t req = cs_request(p, atom, pos, false);
        p->reqs.at[req].side_effect = true;
        export_name(p, name ? EXPORT_NAMESPACE : EXPORT_STAR, name, K_NONE, req, at);
    }
    if (type || p->kind != CS_COMPILE_STRIP)
        cs_drop(p, start, p->prev_end);
}

static void default_expression(struct cs_parser *p, uint32_t start, uint32_t end)
{
    uint32_t refs = p->refs.len, from = p->tok.start, cands = p->cands.len, ctx = p->ctx;
    if (p->kind != CS_COMPILE_STRIP)
        p->ctx |= CTX_CLOSED;
    enum cs_ex ex = cs_assign(p);
    if (p->val >= VALUE_FIRST)
        cs_val(p, VAL_RETURN, p->val, 0, 0);
    p->ctx = ctx;
    p->cands.len = cands;
    uint32_t last = p->prev_end;
    cs_semicolon(p);
    export_name(p, EXPORT_LOCAL, K_default, K_$default, 0, from);
    if (p->kind == CS_COMPILE_STRIP)
        return;
    struct cs_export *e = &p->exports.at[p->exports.len - 1];
    e->whole_start = start;
    e->whole_end = p->prev_end;
    if (ex == EX_REF && p->refs.len == refs + 1)
        e->ref = refs + 1;
    e->edit = p->edits.len;
    cs_insert_text(p, start, "const $default={default:");
    cs_insert_text(p, last, "}.default;");
    cs_blank(p, start, end);
}

static enum cs_st export_default(struct cs_parser *p, uint32_t start)
{
    uint32_t end = p->tok.end;
    bool strip = p->kind == CS_COMPILE_STRIP;
    cs_next(p);
    struct cs_token ahead = cs_peek(p);
    if (cs_is(p, K_interface) && cs_tok_ident(&ahead) && !ahead.nl) {
        cs_interface(p, start);
        return ST_ERASED;
    }
    if (cs_is(p, K_function) || (cs_is(p, K_async) && cs_tok_is(&ahead, K_function) && !ahead.nl)) {
        bool async = cs_is(p, K_async);
        if (!strip)
            cs_blank(p, start, end);
        if (async)
            cs_next(p);
        enum cs_st st = cs_function_decl(p, start, async, EXPORT_AS_DEFAULT);
        return st == ST_ERASED ? ST_ERASED : ST_MODULE;
    }
    if (cs_is(p, K_abstract) && cs_tok_is(&ahead, K_class)) {
        cs_blank(p, p->tok.start, p->tok.end);
        cs_next(p);
        ahead = cs_peek(p);
    }
    if (cs_is(p, K_class) && ahead.kind == T_NAME && !cs_tok_is(&ahead, K_extends) &&
        !cs_tok_is(&ahead, K_implements)) {
        uint32_t pos = p->tok.start, name = cs_class(p, true, true);
        cs_note_export(p, K_default, name, pos);
        if (!strip)
            cs_blank(p, start, end);
        return ST_MODULE;
    }
    if (cs_is(p, K_class)) {
        uint32_t from = p->tok.start;
        cs_class(p, false, false);
        export_name(p, EXPORT_LOCAL, K_default, K_$default, 0, from);
        if (!strip) {
            cs_insert_text(p, start, "const $default={default:");
            cs_insert_text(p, p->prev_end, "}.default;");
            cs_blank(p, start, end);
        }
        return ST_MODULE;
    }
    default_expression(p, start, end);
    return ST_MODULE;
}

/* export before a declaration. */
static enum cs_st export_declaration(struct cs_parser *p, uint32_t start, uint32_t end)
{
    enum cs_st st;
    struct cs_token ahead = cs_peek(p);
    if (cs_typescript_statement(p, start, true, &st))
        return st;
    if (cs_is(p, K_import)) {
        cs_next(p);
        if (cs_is(p, K_type) && import_is_type(p))
            cs_unexpected(p, "a name");
        cs_import_alias(p, start, true);
        return ST_OTHER;
    }
    bool blank = p->kind != CS_COMPILE_STRIP || p->ns;
    if (cs_is(p, K_const) || cs_is(p, K_let) || cs_is(p, K_var)) {
        if (blank)
            cs_blank(p, start, end);
        cs_var_statement(p, start, true);
        return ST_OTHER;
    }
    if (cs_is(p, K_function) || (cs_is(p, K_async) && cs_tok_is(&ahead, K_function))) {
        if (blank)
            cs_blank(p, start, end);
        bool async = cs_is(p, K_async);
        if (async)
            cs_next(p);
        return cs_function_decl(p, start, async, EXPORT_YES);
    }
    if (cs_is(p, K_abstract) && cs_tok_is(&ahead, K_class)) {
        cs_blank(p, p->tok.start, p->tok.end);
        cs_next(p);
    }
    if (!cs_is(p, K_class))
        cs_unexpected(p, "a declaration");
    uint32_t pos = p->tok.start, decl = p->decls.len, name = cs_class(p, true, true);
    if (blank)
        cs_blank(p, start, end);
    if (p->ns) {
        struct cs_str n = p->names.at[name].text;
        p->decls.at[decl].exported = true;
        cs_insert_text(p, p->prev_end,
                       cs_textf(p, ";%s.%.*s=%.*s;", cs_home_of(p), CS_STR_ARG(n), CS_STR_ARG(n)));
    } else {
        cs_note_export(p, name, name, pos);
    }
    return ST_OTHER;
}

/* export as namespace X, which only declarations have. */
static bool export_as_namespace(struct cs_parser *p, uint32_t start, const struct cs_token *ahead)
{
    if (!cs_is(p, K_as) || !cs_tok_is(ahead, K_namespace))
        return false;
    cs_next(p);
    cs_next(p);
    local_name(p);
    cs_semicolon(p);
    cs_drop(p, start, p->prev_end);
    return true;
}

enum cs_st cs_export_decl(struct cs_parser *p)
{
    uint32_t start = p->tok.start, end = p->tok.end;
    bool in_namespace = p->ns && p->scope == p->ns_scope;
    if (p->scope != 0 && !in_namespace)
        cs_syntax_error(p, start, "move it to the top level of the file",
                        "export is only possible at the top level");
    cs_next(p);
    if (p->tok.kind == T_ASSIGN)
        cs_syntax_error(p, start, "write: export default ...", "export = is not supported");
    if (p->tok.kind == T_AT)
        cs_unexpected(p, "a declaration");
    struct cs_token ahead = cs_peek(p);
    if (export_as_namespace(p, start, &ahead))
        return ST_ERASED;
    bool type = cs_is(p, K_type) && (ahead.kind == T_LBRACE || ahead.kind == T_STAR);
    if (!in_namespace && (type || p->tok.kind == T_LBRACE || p->tok.kind == T_STAR)) {
        if (type)
            cs_next(p);
        if (p->tok.kind == T_LBRACE)
            export_braces(p, start, type);
        else
            export_star(p, start, type);
        return type ? ST_ERASED : ST_MODULE;
    }
    if (cs_is(p, K_default) && !in_namespace)
        return export_default(p, start);
    return export_declaration(p, start, end);
}

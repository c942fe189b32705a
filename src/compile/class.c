/* Classes: members are read one by one, and what only TypeScript knows about them goes. */
#include "compile/parser.h"

struct member {
    uint32_t start;
    struct cs_mark mark;
    uint32_t fn;
    bool is_static, erased, accessor, getter; /* erased: abstract or declare */
    uint32_t gap; /* first byte of something blanked behind the name, or 0 */
};

struct class_body {
    uint32_t opened; /* behind its '{' */
    uint32_t value;  /* in vals: its constructor */
    bool derived;
    bool closed_by_line; /* how the previous member ended */
};

static bool starts_name(const struct cs_token *t)
{
    return t->kind == T_NAME || t->kind == T_STR || t->kind == T_NUM || t->kind == T_LBRACK ||
           t->kind == T_PRIVATE || t->kind == T_STAR;
}

/* One word before the name that only TypeScript knows; false if there is none. */
static bool typescript_modifier(struct cs_parser *p, struct class_body *c, struct member *m)
{
    switch (p->tok.kind == T_NAME && !p->tok.esc ? p->tok.atom : (uint32_t)K_NONE) {
    case K_public:
    case K_private:
    case K_protected:
    case K_readonly:
    case K_override:
    case K_abstract:
    case K_declare:
    case K_accessor:
        break;
    default:
        return false;
    }
    struct cs_token ahead = cs_peek(p);
    if (!starts_name(&ahead) || ahead.nl)
        return false;
    if (cs_is(p, K_accessor))
        cs_syntax_error(p, p->tok.start, "write a getter and a setter",
                        "accessor fields are not supported");
    m->erased |= cs_is(p, K_abstract) || cs_is(p, K_declare);
    cs_blank(p, p->tok.start, p->tok.end);
    /* What follows would otherwise continue the initialiser of the field before. */
    if (p->tok.start == m->start && c->closed_by_line)
        cs_put(p, p->tok.start, ";");
    cs_next(p);
    return true;
}

static void modifiers(struct cs_parser *p, struct class_body *c, struct member *m)
{
    for (;;) {
        if (typescript_modifier(p, c, m))
            continue;
        if (!cs_is(p, K_static) && !cs_is(p, K_async) && !cs_is(p, K_get) && !cs_is(p, K_set))
            break;
        struct cs_token ahead = cs_peek(p);
        bool word = starts_name(&ahead) || (cs_is(p, K_static) && ahead.kind == T_LBRACE);
        if (!word || (cs_is(p, K_async) && ahead.nl))
            break;
        if ((cs_is(p, K_get) || cs_is(p, K_set)) && ahead.kind == T_STAR)
            break;
        if (cs_is(p, K_static))
            m->is_static = true;
        else if (cs_is(p, K_async))
            m->fn |= FN_ASYNC;
        else
            m->accessor = true;
        m->getter |= cs_is(p, K_get);
        cs_next(p);
        if (m->is_static && p->tok.kind == T_LBRACE)
            return;
    }
    if (p->tok.kind == T_STAR) {
        m->fn |= FN_GEN;
        cs_next(p);
    }
}

static void static_block(struct cs_parser *p)
{
    uint32_t ctx = p->ctx, opened = p->tok.start;
    struct cs_fn_state state;
    p->ctx = 0;
    cs_next(p);
    cs_scope_open(p, true);
    cs_fn_begin(p, &state, opened);
    cs_statements(p, T_RBRACE);
    cs_fn_end(p, &state);
    cs_scope_close(p);
    p->ctx = ctx;
    cs_close(p, T_RBRACE, opened);
}

/* [key: string]: T */
static bool index_signature(struct cs_parser *p, const struct member *m)
{
    if (p->tok.kind != T_LBRACK)
        return false;
    struct cs_token open = p->tok, name = cs_peek(p);
    if (name.kind != T_NAME)
        return false;
    p->tok = name;
    struct cs_token colon = cs_peek(p);
    p->tok = open;
    if (colon.kind != T_COLON)
        return false;
    cs_skip_balanced(p);
    if (p->tok.kind == T_COLON) {
        cs_next(p);
        cs_type(p);
    }
    cs_semicolon(p);
    cs_drop(p, m->start, p->prev_end);
    return true;
}

static void drop_member(struct cs_parser *p, const struct member *m)
{
    cs_forget(p, &m->mark);
    cs_drop(p, m->start, p->prev_end);
}

static void field(struct cs_parser *p, struct class_body *c, struct member *m,
                  const struct cs_token *name, uint32_t atom)
{
    uint32_t annotation = p->tok.start;
    bool initialised = false;
    if (cs_type_annotation(p) && !m->gap)
        m->gap = annotation;
    if (cs_eat(p, T_ASSIGN)) {
        uint32_t ctx = p->ctx, cands = p->cands.len;
        p->ctx = 0;
        initialised = true;
        cs_scope_open(p, true);
        cs_assign(p);
        cs_own_member(p, atom, p->val);
        cs_node_key(p, name->kind == T_NAME ? name->atom : (uint32_t)K_NONE);
        if (m->is_static && atom != K_NONE) {
            *CS_PUSH(&p->stack) = atom;
            *CS_PUSH(&p->stack) = p->node;
        }
        cs_scope_close(p);
        p->cands.len = cands;
        p->ctx = ctx;
    }
    c->closed_by_line = cs_semicolon(p);
    if (m->erased) {
        drop_member(p, m);
        c->closed_by_line = false;
        return;
    }
    /* A field with such a name and nothing behind it would modify the next member. */
    if (m->gap && !initialised && c->closed_by_line && name->kind == T_NAME &&
        (name->atom == K_get || name->atom == K_set || name->atom == K_static ||
         name->atom == K_async)) {
        cs_put(p, m->gap, ";");
        c->closed_by_line = false;
    }
}

static void method(struct cs_parser *p, struct class_body *c, struct member *m, bool constructor,
                   uint32_t atom)
{
    uint32_t fn = m->fn | FN_SIGNATURE_OK;
    if (constructor)
        fn |= FN_CTOR | (c->derived ? (uint32_t)FN_DERIVED : 0);
    c->closed_by_line = false;
    if (cs_function_rest(p, fn, c->opened)) {
        if (constructor)
            p->vals.at[c->value].a = p->vals.at[p->val].a;
        if (m->getter)
            p->vals.at[p->val].flags |= VAL_READ;
        cs_own_member(p, atom, p->val);
        return;
    }
    cs_semicolon(p);
    drop_member(p, m);
}

static void member(struct cs_parser *p, struct class_body *c)
{
    struct member m = {.start = p->tok.start};
    cs_mark(p, &m.mark);
    if (p->tok.kind == T_AT)
        cs_unexpected(p, "a member");
    modifiers(p, c, &m);
    if (m.is_static && p->tok.kind == T_LBRACE) {
        static_block(p);
        c->closed_by_line = false;
        return;
    }
    if (index_signature(p, &m)) {
        c->closed_by_line = false;
        return;
    }
    struct cs_token name = p->tok;
    uint32_t atom = cs_property_name(p), key = name.kind == T_PRIVATE ? name.atom : atom;
    if ((p->tok.kind == T_QUESTION || p->tok.kind == T_BANG) && !p->tok.nl) {
        m.gap = p->tok.start;
        cs_blank(p, p->tok.start, p->tok.end);
        cs_next(p);
    }
    if (p->tok.kind == T_LPAREN || p->tok.kind == T_LT)
        method(p, c, &m, atom == K_constructor && !m.is_static && name.kind != T_LBRACK, key);
    else if (m.accessor || m.fn)
        cs_unexpected(p, "'('");
    else
        field(p, c, &m, &name, key);
}

static bool heritage(struct cs_parser *p)
{
    bool derived = false;
    while (cs_is(p, K_extends) || cs_is(p, K_implements)) {
        uint32_t start = p->tok.start;
        bool extends = cs_is(p, K_extends);
        cs_next(p);
        if (extends) {
            uint32_t cands = p->cands.len;
            cs_lhs(p);
            cs_node(p, NODE_EXTENDS, p->node, 0, start);
            p->cands.len = cands;
            derived = true;
        } else {
            cs_type_list(p);
            cs_blank(p, start, p->prev_end);
        }
    }
    return derived;
}

uint32_t cs_class(struct cs_parser *p, bool need_name, bool declare_name)
{
    uint32_t name = K_NONE, pos = p->tok.start, start = pos, decls[2], declared = 0;
    cs_deeper(p);
    uint32_t value = cs_val(p, VAL_FN, 0, 0, pos);
    p->vals.at[value].flags = VAL_CLASS;
    cs_next(p);
    struct cs_token ahead = cs_is(p, K_implements) ? cs_peek(p) : p->tok;
    if (cs_tok_ident(&p->tok) &&
        !(cs_is(p, K_implements) && ahead.kind == T_NAME && !cs_tok_is(&ahead, K_extends))) {
        name = p->tok.atom;
        pos = p->tok.start;
        cs_next(p);
    } else if (need_name) {
        cs_unexpected(p, "the name of the class");
    }
    if (name && declare_name) {
        cs_declare(p, name, DECL_CLASS, 0, pos);
        decls[declared++] = p->decls.len - 1;
        cs_assigned(p, cs_val(p, VAL_DECL, p->decls.len - 1, 0, 0), value);
    }
    cs_scope_open(p, false);
    if (name) {
        cs_declare(p, name, DECL_VALUE, 0, pos);
        decls[declared++] = p->decls.len - 1;
        cs_assigned(p, cs_val(p, VAL_DECL, p->decls.len - 1, 0, 0), value);
    }
    if (p->tok.kind == T_LT)
        cs_blank_type_parameters(p);
    struct class_body body = {.derived = heritage(p), .value = value};
    uint32_t opened = p->tok.start, ctx = p->ctx, mark = p->stack.len;
    body.opened = p->tok.end;
    p->own_this++;
    cs_expect(p, T_LBRACE, "'{'");
    p->ctx &= ~(uint32_t)(CTX_NO_IN | CTX_COLON);
    while (p->tok.kind != T_RBRACE && p->tok.kind != T_EOF) {
        if (cs_eat(p, T_SEMI))
            body.closed_by_line = false;
        else
            member(p, &body);
    }
    p->ctx = ctx;
    cs_close(p, T_RBRACE, opened);
    cs_scope_close(p);
    p->val = value;
    /* Of a class, its static members are what folding knows. */
    uint32_t statics = cs_node_list(p, mark);
    p->node = cs_node(p, statics ? NODE_OBJECT : NODE_FUNC, 0, statics, start);
    while (declared > 0)
        *CS_PUSH(&p->binds) =
            (struct cs_bound){.decl = decls[--declared], .node = p->node, .branch = p->branch};
    p->own_this--;
    p->depth--;
    return name;
}

/* Operands: names, literals, templates, functions, import. */
#include "compile/parser.h"

enum cs_ex cs_template(struct cs_parser *p)
{
    uint32_t start = p->tok.start, from = start, end, ctx = p->ctx, mark = p->stack.len;
    bool plain = true;
    uint32_t val = 0;
    p->ctx &= ~(uint32_t)(CTX_NO_IN | CTX_COLON);
    while (!cs_lex_template(p, p->tok.end, &end)) {
        plain = false;
        *CS_PUSH(&p->stack) = cs_node_piece(p, from, end - 1);
        cs_lex_start(p, end);
        cs_expr(p);
        val = cs_join(p, val, p->val);
        cs_node_inner(p, p->node);
        *CS_PUSH(&p->stack) = p->node;
        if (p->tok.kind != T_RBRACE)
            cs_unclosed(p, "'}'", end - 2);
        from = p->tok.start;
    }
    p->ctx = ctx;
    p->val = val;
    cs_lex_start(p, end);
    if (!plain) {
        *CS_PUSH(&p->stack) = cs_node_piece(p, from, end);
        p->node = cs_node(p, NODE_TEMPLATE, 0, cs_node_list(p, mark), start);
        return EX_OTHER;
    }
    p->last_str = cs_lex_value(p, start, end);
    p->node = cs_node_str(p, p->last_str, start);
    return EX_STRING;
}

uint32_t cs_arguments(struct cs_parser *p)
{
    uint32_t opened = p->tok.start, ctx = p->ctx, mark = p->cands.len, list = p->stack.len;
    struct cs_items args = {0};
    p->ctx &= ~(uint32_t)(CTX_NO_IN | CTX_COLON);
    cs_next(p);
    while (p->tok.kind != T_RPAREN) {
        bool spread = cs_eat(p, T_ELLIPSIS);
        enum cs_ex ex = cs_assign(p);
        cs_item(p, &args, args.count < 2 ? cs_value(p, ex) : p->val, 0, spread ? VAL_SPREAD : 0);
        *CS_PUSH(&p->stack) = p->node | (spread ? CS_SPREAD : 0);
        p->cands.len = mark;
        if (!cs_eat(p, T_COMMA))
            break;
    }
    p->ctx = ctx;
    cs_close(p, T_RPAREN, opened);
    p->list = cs_node_list(p, list);
    return args.first;
}

enum cs_ex cs_array_literal(struct cs_parser *p)
{
    uint32_t opened = p->tok.start, ctx = p->ctx, list = p->stack.len;
    struct cs_items items = {0};
    p->ctx &= ~(uint32_t)(CTX_NO_IN | CTX_COLON);
    cs_next(p);
    while (p->tok.kind != T_RBRACK) {
        if (cs_eat(p, T_COMMA)) {
            items.count++;
            *CS_PUSH(&p->stack) = 0;
            continue;
        }
        bool spread = cs_eat(p, T_ELLIPSIS);
        cs_node_element(p, cs_assign(p));
        cs_item(p, &items, p->val, 0, spread ? VAL_SPREAD : 0);
        *CS_PUSH(&p->stack) = p->node | (spread ? CS_SPREAD : 0);
        if (!cs_eat(p, T_COMMA))
            break;
    }
    p->ctx = ctx;
    cs_close(p, T_RBRACK, opened);
    p->val = cs_val(p, VAL_ARRAY, items.first, 0, 0);
    p->node = cs_node(p, NODE_ARRAY, 0, cs_node_list(p, list), opened);
    return EX_PATTERN;
}

uint32_t cs_property_name(struct cs_parser *p)
{
    uint32_t atom = K_NONE;
    p->node = 0;
    switch (p->tok.kind) {
    case T_NAME:
        atom = p->tok.atom;
        cs_next(p);
        break;
    case T_STR:
        atom = cs_lex_value(p, p->tok.start, p->tok.end);
        p->node = cs_node_str(p, atom, p->tok.start);
        cs_next(p);
        break;
    case T_NUM:
    case T_PRIVATE:
        cs_next(p);
        break;
    case T_LBRACK: {
        uint32_t opened = p->tok.start, ctx = p->ctx, mark = p->cands.len;
        p->ctx &= ~(uint32_t)(CTX_NO_IN | CTX_COLON);
        cs_next(p);
        cs_assign(p);
        p->ctx = ctx;
        p->cands.len = mark;
        cs_close(p, T_RBRACK, opened);
        break;
    }
    default:
        cs_unexpected(p, "a property name");
    }
    return atom;
}

/* get, set, async or '*' before the name of a method. */
static uint32_t method_modifiers(struct cs_parser *p, bool *accessor)
{
    uint32_t fn = 0;
    while (cs_is(p, K_get) || cs_is(p, K_set) || cs_is(p, K_async)) {
        struct cs_token ahead = cs_peek(p);
        if (ahead.kind != T_NAME && ahead.kind != T_STR && ahead.kind != T_NUM &&
            ahead.kind != T_LBRACK && ahead.kind != T_PRIVATE && ahead.kind != T_STAR)
            break;
        if (cs_is(p, K_async))
            fn |= FN_ASYNC;
        else
            *accessor = true;
        cs_next(p);
        if (*accessor)
            break;
    }
    if (p->tok.kind == T_STAR) {
        fn |= FN_GEN;
        cs_next(p);
    }
    return fn;
}

static void property(struct cs_parser *p, struct cs_items *items)
{
    bool accessor = false, get = cs_is(p, K_get);
    uint32_t fn = method_modifiers(p, &accessor), mark = p->cands.len;
    struct cs_token name = p->tok;
    uint32_t atom = cs_property_name(p);
    *CS_PUSH(&p->stack) = atom == K_NONE && p->node ? p->node | CS_SPREAD : atom;
    uint32_t first = p->nodes.len;
    if (p->tok.kind == T_LPAREN || p->tok.kind == T_LT) {
        cs_function_rest(p, fn, 0);
        if (accessor && get && p->val)
            p->vals.at[p->val].flags |= VAL_READ;
        p->cands.len = mark;
        p->node = accessor || fn & FN_GEN ? 0 : cs_node_func(p, first, name.start);
    } else if (fn || accessor) {
        cs_unexpected(p, "'('");
    } else if (cs_eat(p, T_COLON)) {
        enum cs_ex ex = cs_assign(p);
        cs_node_key(p, atom);
        cs_node_element(p, ex);
    } else if (cs_tok_ident(&name)) {
        uint32_t ref = cs_refer(p, &name, REF_SHORTHAND), val = cs_val(p, VAL_REF, ref, 0, 0);
        *CS_PUSH(&p->cands) = ref;
        uint32_t target = p->node = cs_node(p, NODE_REF, ref, 0, name.start);
        p->val = val;
        if (cs_eat(p, T_ASSIGN)) {
            mark = p->cands.len;
            p->refs.at[ref].flags |= REF_WRITE;
            p->nodes.at[target].flags |= NODE_WRITTEN;
            cs_assign(p);
            p->cands.len = mark;
            p->val = cs_val(p, VAL_ASSIGN, val, p->val, 0);
            cs_node_key(p, atom);
            p->node = cs_node(p, NODE_ASSIGN, target, p->node, name.start);
        }
    } else {
        p->tok.kind == T_RBRACE || p->tok.kind == T_COMMA ? cs_unexpected(p, "':'")
                                                          : cs_unexpected(p, "':' or '('");
    }
    cs_item(p, items, p->val, atom, VAL_NAMED);
    *CS_PUSH(&p->stack) = p->node;
}

enum cs_ex cs_object_literal(struct cs_parser *p)
{
    uint32_t opened = p->tok.start, ctx = p->ctx, list = p->stack.len;
    struct cs_items items = {0};
    p->ctx &= ~(uint32_t)(CTX_NO_IN | CTX_COLON);
    cs_next(p);
    while (p->tok.kind != T_RBRACE) {
        if (p->tok.kind == T_AT)
            cs_unexpected(p, "a property");
        if (cs_eat(p, T_ELLIPSIS)) {
            cs_assign(p);
            cs_item(p, &items, p->val, K_NONE, VAL_NAMED | VAL_SPREAD);
            *CS_PUSH(&p->stack) = K_NONE;
            *CS_PUSH(&p->stack) = p->node | CS_SPREAD;
        } else {
            property(p, &items);
        }
        if (!cs_eat(p, T_COMMA))
            break;
    }
    p->ctx = ctx;
    cs_close(p, T_RBRACE, opened);
    p->val = cs_val(p, VAL_OBJECT, items.first, 0, 0);
    p->node = cs_node(p, NODE_OBJECT, 0, cs_node_list(p, list), opened);
    return EX_PATTERN;
}

enum cs_ex cs_function_expr(struct cs_parser *p, bool async)
{
    uint32_t start = p->tok.start, declared = 0;
    cs_next(p);
    uint32_t fn = async ? FN_ASYNC : 0;
    if (cs_eat(p, T_STAR))
        fn |= FN_GEN;
    cs_scope_open(p, false);
    if (cs_tok_ident(&p->tok)) {
        cs_declare(p, p->tok.atom, DECL_VALUE, 0, p->tok.start);
        declared = p->decls.len;
        cs_next(p);
    }
    uint32_t first = p->nodes.len;
    cs_function_rest(p, fn, 0);
    if (declared)
        p->val = cs_assigned(p, cs_val(p, VAL_DECL, declared - 1, 0, 0), p->val);
    cs_scope_close(p);
    p->node = cs_node_func(p, first, start);
    if (declared)
        *CS_PUSH(&p->binds) =
            (struct cs_bound){.decl = declared - 1, .node = p->node, .branch = p->branch};
    return EX_FUNC;
}

static void dynamic_import(struct cs_parser *p, uint32_t start)
{
    struct cs_token first = cs_peek(p);
    bool literal = first.kind == T_STR;
    uint32_t end = first.end, atom = K_NONE;
    if (first.kind == T_TEMPLATE)
        literal = cs_lex_template(p, first.end, &end);
    if (literal) {
        struct cs_token open = p->tok;
        p->tok = (struct cs_token){.kind = T_STR, .start = first.start, .end = end};
        struct cs_token after = cs_peek(p);
        p->tok = open;
        literal = after.kind == T_RPAREN || after.kind == T_COMMA;
    }
    if (literal)
        atom = cs_lex_value(p, first.start, end);
    if (literal)
        cs_request(p, atom, start, true);
    if (p->kind != CS_COMPILE_STRIP)
        cs_insert_text(p, start, "$");
    cs_arguments(p);
    uint32_t from = cs_list_at(p, p->list, 0) & ~CS_SPREAD;
    p->node = cs_node(p, NODE_IMPORT, from, 0, start);
    p->val = cs_val(p, VAL_IMPORT, from, 0, start);
}

static enum cs_ex import_expr(struct cs_parser *p)
{
    uint32_t start = p->tok.start, end = p->tok.end;
    cs_next(p);
    if (p->tok.kind == T_LPAREN) {
        dynamic_import(p, start);
        return EX_OTHER;
    }
    if (p->tok.kind != T_DOT)
        cs_syntax_error(p, start, "import declarations stand at the top level of the file",
                        "an import declaration cannot stand here");
    uint32_t dot = p->tok.start;
    cs_next(p);
    if (!cs_is(p, K_meta))
        cs_unexpected(p, "'meta'");
    if (p->kind != CS_COMPILE_STRIP) {
        cs_replace(p, start, end, "$meta ");
        cs_blank(p, dot, p->tok.end);
    }
    cs_next(p);
    p->val = 0;
    p->node = cs_node(p, NODE_META, 0, 0, start);
    return EX_OTHER;
}

static enum cs_ex async_expr(struct cs_parser *p)
{
    struct cs_token name = p->tok;
    cs_next(p);
    if (!p->tok.nl) {
        if (cs_is(p, K_function))
            return cs_function_expr(p, true);
        if (cs_tok_ident(&p->tok)) {
            struct cs_token param = p->tok, ahead = cs_peek(p);
            if (ahead.kind == T_ARROW && !ahead.nl) {
                cs_next(p);
                return cs_arrow_one(p, &param, true);
            }
        }
    }
    if (p->tok.kind == T_ARROW && !p->tok.nl)
        return cs_arrow_one(p, &name, false);
    p->last_ref = cs_refer(p, &name, 0);
    p->val = cs_val(p, VAL_REF, p->last_ref, 0, 0);
    p->node = 0;
    if (p->tok.nl)
        return EX_REF;
    if (p->tok.kind == T_LPAREN)
        return cs_paren_or_arrow(p, true, 0);
    if (p->tok.kind == T_LT) {
        uint32_t start = p->tok.start;
        if (cs_try_type_arguments(p) || cs_attempt(p, cs_async_parameters, start)) {
            if (p->tok.kind == T_LPAREN)
                return cs_paren_or_arrow(p, true, start + 1);
        }
    }
    return EX_REF;
}

static enum cs_ex name_expr(struct cs_parser *p)
{
    struct cs_token name = p->tok;
    cs_next(p);
    if (p->tok.kind == T_ARROW && !p->tok.nl)
        return cs_arrow_one(p, &name, false);
    p->last_ref = cs_refer(p, &name, 0);
    p->val = cs_val(p, VAL_REF, p->last_ref, 0, 0);
    p->node = cs_node(p, NODE_REF, p->last_ref, 0, name.start);
    return EX_REF;
}

static enum cs_ex keyword_expr(struct cs_parser *p)
{
    p->node = 0;
    switch (p->tok.atom) {
    case K_this:
        p->val = cs_val(p, VAL_THIS, 0, 0, 0);
        p->node = cs_node(p, NODE_THIS, p->own_this == 0, 0, p->tok.start);
        cs_next(p);
        return EX_OTHER;
    case K_null:
    case K_true:
    case K_false:
        p->val = p->tok.atom == K_true ? VALUE_TRUE : VALUE_FALSE;
        cs_next(p);
        return EX_OTHER;
    case K_super:
        p->val = cs_val(p, VAL_THIS, 0, 0, 0);
        cs_next(p);
        if (p->tok.kind != T_LPAREN && p->tok.kind != T_DOT && p->tok.kind != T_LBRACK)
            cs_unexpected(p, "'(' or '.' after super");
        return EX_OTHER;
    case K_function:
        return cs_function_expr(p, false);
    case K_class:
        cs_class(p, false, false);
        return EX_OTHER;
    case K_import:
        return import_expr(p);
    default:
        cs_unexpected(p, "an expression");
    }
}

/* The current number is not zero. */
static bool number_holds(const struct cs_parser *p)
{
    for (uint32_t i = p->tok.start; i < p->tok.end && p->src[i] != 'e' && p->src[i] != 'E'; i++) {
        if (p->src[i] >= '1')
            return p->src[i] <= '9' || p->tok.end - i > 1;
    }
    return false;
}

enum cs_ex cs_primary(struct cs_parser *p)
{
    switch (p->tok.kind) {
    case T_NAME:
        if (p->tok.atom < K_RESERVED_END)
            return keyword_expr(p);
        if (cs_is(p, K_async))
            return async_expr(p);
        if (cs_is(p, K_await))
            cs_syntax_error(p, p->tok.start, "", "await cannot stand here");
        if (cs_is(p, K_yield))
            cs_syntax_error(p, p->tok.start, "write function* to make the function a generator",
                            "yield is only possible in a generator");
        return name_expr(p);
    case T_STR:
        p->last_str = cs_lex_value(p, p->tok.start, p->tok.end);
        p->val = 0;
        p->node = cs_node_str(p, p->last_str, p->tok.start);
        cs_next(p);
        return EX_STRING;
    case T_SLASH:
    case T_SLASHEQ:
        cs_lex_regex(p);
        p->val = 0;
        p->node = cs_node(p, NODE_REGEX, 0, 0, p->tok.start);
        p->nodes.at[p->node].end = p->tok.end;
        cs_next(p);
        return EX_OTHER;
    case T_NUM:
        p->val = number_holds(p) ? VALUE_TRUE : VALUE_FALSE;
        p->node = cs_node(p, NODE_NUM, 0, 0, p->tok.start);
        cs_next(p);
        return EX_OTHER;
    case T_PRIVATE:
        p->val = 0;
        cs_next(p);
        p->node = 0;
        if (!cs_is(p, K_in))
            cs_unexpected(p, "'in' after a private name");
        return EX_OTHER;
    case T_TEMPLATE:
        return cs_template(p);
    case T_LPAREN: {
        uint32_t generic = p->generic;
        p->generic = 0;
        return cs_paren_or_arrow(p, false, generic);
    }
    case T_LBRACK:
        return cs_array_literal(p);
    case T_LBRACE:
        return cs_object_literal(p);
    default:
        cs_unexpected(p, "an expression");
    }
}

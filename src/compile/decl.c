/* Bindings, variables, functions and their parameters. */
#include <stdio.h>

#include "compile/parser.h"

void cs_note_export(struct cs_parser *p, uint32_t name, uint32_t local, uint32_t pos)
{
    *CS_PUSH(&p->exports) =
        (struct cs_export){.kind = EXPORT_LOCAL, .name = name, .local = local, .pos = pos};
}

/* One bound name, in the way that `how` says; it is p->val. */
static void bind(struct cs_parser *p, const struct cs_token *name, uint32_t how, bool shorthand)
{
    if (!cs_tok_ident(name))
        cs_unexpected(p, "a name");
    if ((name->atom == K_await || name->atom == K_yield) && !name->esc &&
        p->kind != CS_COMPILE_STRIP)
        cs_syntax_error(p, name->start, "choose another name", "'%.*s' cannot be a name here",
                        CS_STR_ARG(p->names.at[name->atom].text));
    switch (how & 0xff) {
    case BIND_VAR:
        cs_declare_var(p, name->atom, name->start);
        break;
    case BIND_NSVAR:
        /* The variable is a property of its namespace, here as everywhere. */
        cs_declare(p, name->atom, DECL_NSVAR, p->ns - 1, name->start);
        p->val = cs_val(p, VAL_REF, cs_refer(p, name, shorthand ? REF_SHORTHAND : 0), 0, 0);
        p->needs_names = true;
        return;
    default:
        cs_declare(p, name->atom, DECL_VALUE, 0, name->start);
    }
    p->val = cs_val(p, VAL_DECL, p->decls.len - 1, 0, 0);
    if (p->from)
        *CS_PUSH(&p->binds) =
            (struct cs_bound){.decl = p->decls.len - 1, .node = p->from, .branch = p->branch};
    if (how & BIND_EXPORTED)
        cs_note_export(p, name->atom, name->atom, name->start);
}

/*
 * = x behind a binding of the name `key`, whose node is `hole`. Of p->val, a name or pattern, which
 * afterwards holds both.
 */
static void initialiser(struct cs_parser *p, uint32_t hole, uint32_t key)
{
    if (p->tok.kind != T_ASSIGN)
        return;
    uint32_t mark = p->cands.len, from = p->from, target = p->val;
    cs_next(p);
    p->from = 0;
    enum cs_ex ex = cs_assign(p);
    p->from = from;
    p->val = cs_val(p, VAL_ASSIGN, target, cs_value(p, ex), 0);
    p->cands.len = mark;
    cs_node_key(p, key);
    if (hole) {
        p->nodes.at[hole].a = p->node;
        p->nodes.at[p->node].flags |= NODE_BOUND;
    }
}

static void object_binding(struct cs_parser *p, uint32_t how)
{
    uint32_t opened = p->tok.start, from = p->from;
    struct cs_items items = {0};
    cs_next(p);
    while (p->tok.kind != T_RBRACE) {
        if (cs_eat(p, T_ELLIPSIS)) {
            p->from = from ? cs_node(p, NODE_REST, from, 0, p->tok.start) : 0;
            cs_binding(p, how);
            cs_item(p, &items, p->val, K_NONE, VAL_NAMED | VAL_SPREAD);
        } else {
            struct cs_token name = p->tok;
            p->from = 0;
            uint32_t atom = cs_property_name(p);
            if (from)
                p->from = cs_node_property(p, from, atom, &name);
            if (cs_eat(p, T_COLON))
                cs_binding(p, how);
            else
                bind(p, &name, how, true);
            initialiser(p, 0, atom);
            cs_item(p, &items, p->val, atom, VAL_NAMED);
        }
        if (!cs_eat(p, T_COMMA))
            break;
    }
    p->from = from;
    cs_close(p, T_RBRACE, opened);
    p->val = cs_val(p, VAL_OBJECT, items.first, 0, 0);
}

static void array_binding(struct cs_parser *p, uint32_t how)
{
    uint32_t opened = p->tok.start, from = p->from;
    struct cs_items items = {0};
    cs_next(p);
    while (p->tok.kind != T_RBRACK) {
        if (cs_eat(p, T_COMMA)) {
            items.count++;
            continue;
        }
        bool rest = cs_eat(p, T_ELLIPSIS);
        if (from)
            p->from = rest ? cs_node(p, NODE_REST, from, items.count, p->tok.start)
                           : cs_node(p, NODE_ELEMENT, from, items.count, p->tok.start);
        cs_binding(p, how);
        initialiser(p, 0, K_NONE);
        cs_item(p, &items, p->val, 0, rest ? VAL_SPREAD : 0);
        if (!cs_eat(p, T_COMMA))
            break;
    }
    p->from = from;
    cs_close(p, T_RBRACK, opened);
    p->val = cs_val(p, VAL_ARRAY, items.first, 0, 0);
}

void cs_binding(struct cs_parser *p, uint32_t how)
{
    uint32_t ctx = p->ctx;
    cs_deeper(p);
    p->ctx &= ~(uint32_t)(CTX_NO_IN | CTX_COLON);
    if (p->tok.kind == T_LBRACE) {
        object_binding(p, how);
    } else if (p->tok.kind == T_LBRACK) {
        array_binding(p, how);
    } else {
        struct cs_token name = p->tok;
        if (!cs_tok_ident(&name))
            cs_unexpected(p, "a name");
        cs_next(p);
        bind(p, &name, how, false);
    }
    p->ctx = ctx;
    p->depth--;
}

static bool is_modifier(const struct cs_parser *p)
{
    return cs_is(p, K_public) || cs_is(p, K_private) || cs_is(p, K_protected) ||
           cs_is(p, K_readonly) || cs_is(p, K_override);
}

/* public, private, readonly ... before a parameter: blanked; true if there were any. */
static bool parameter_modifiers(struct cs_parser *p)
{
    bool any = false;
    while (is_modifier(p)) {
        struct cs_token ahead = cs_peek(p);
        if (ahead.kind != T_NAME && ahead.kind != T_LBRACE && ahead.kind != T_LBRACK)
            break;
        cs_blank(p, p->tok.start, p->tok.end);
        cs_next(p);
        any = true;
    }
    return any;
}

static void parameter(struct cs_parser *p, uint32_t fn, struct cs_items *list)
{
    if (p->tok.kind == T_AT)
        cs_unexpected(p, "a parameter");
    bool property = parameter_modifiers(p);
    if (property && !(fn & FN_CTOR))
        cs_syntax_error(p, p->tok.start, "", "only a constructor can have parameter properties");
    if (property && p->tok.kind != T_NAME)
        cs_unexpected(p, "a name");
    if (property)
        *CS_PUSH(&p->props) = p->tok.atom;
    bool rest = cs_eat(p, T_ELLIPSIS);
    uint32_t from = p->from, name = p->tok.kind == T_NAME ? p->tok.atom : (uint32_t)K_NONE;
    uint32_t value = p->from = cs_node_hole(p, NODE_MAYBE);
    *CS_PUSH(&p->stack) = value | (rest ? CS_SPREAD : 0);
    cs_binding(p, BIND_PARAM);
    p->from = from;
    uint32_t bound = p->val;
    if (p->tok.kind == T_QUESTION) {
        cs_blank(p, p->tok.start, p->tok.end);
        cs_next(p);
    }
    cs_type_annotation(p);
    p->val = bound;
    initialiser(p, value, name);
    cs_item(p, list, p->val, 0, rest ? VAL_SPREAD : 0);
    if (property)
        cs_own_member(p, name, cs_val(p, VAL_DECL, p->vals.at[bound].a, 0, 0));
}

/* `this: T` in front of the parameters, with its comma. */
static void this_parameter(struct cs_parser *p)
{
    if (!cs_is(p, K_this))
        return;
    uint32_t start = p->tok.start;
    cs_next(p);
    cs_type_annotation(p);
    cs_eat(p, T_COMMA);
    cs_blank(p, start, p->prev_end);
}

/* The first of them in vals; `holes`: list of their nodes. */
static uint32_t parameters(struct cs_parser *p, uint32_t fn, uint32_t *holes)
{
    uint32_t opened = p->tok.start, mark = p->stack.len;
    struct cs_items list = {0};
    cs_expect(p, T_LPAREN, "'('");
    this_parameter(p);
    while (p->tok.kind != T_RPAREN) {
        parameter(p, fn, &list);
        if (!cs_eat(p, T_COMMA))
            break;
    }
    cs_close(p, T_RPAREN, opened);
    *holes = cs_node_list(p, mark);
    return list.first;
}

void cs_function_body(struct cs_parser *p, uint32_t fn)
{
    uint32_t ctx = p->ctx, opened = p->tok.start, cands = p->cands.len;
    p->ctx = CTX_RETURN | (fn & FN_ASYNC ? (uint32_t)CTX_ASYNC : 0) |
             (fn & FN_GEN ? (uint32_t)CTX_GEN : 0);
    cs_expect(p, T_LBRACE, "'{'");
    cs_scope_open(p, true);
    if (fn & FN_CTOR)
        p->ctor_scope = p->scope;
    cs_statements(p, T_RBRACE);
    cs_scope_close(p);
    p->ctx = ctx;
    p->cands.len = cands;
    cs_close(p, T_RBRACE, opened);
}

/* For each parameter property since `first`: `format` with its name as often as needed. */
static char *property_text(struct cs_parser *p, uint32_t first, const char *before, bool assigns)
{
    size_t size = strlen(before) + 1;
    for (uint32_t i = first; i < p->props.len; i++)
        size += 2 * p->names.at[p->props.at[i]].text.len + sizeof "this.=;";
    char *text = cs_arena_alloc(&p->scratch, size), *at = text;
    at += snprintf(at, size, "%s", before);
    for (uint32_t i = first; i < p->props.len; i++) {
        struct cs_str name = p->names.at[p->props.at[i]].text;
        size_t room = size - (size_t)(at - text);
        at += assigns ? snprintf(at, room, "this.%.*s=%.*s;", CS_STR_ARG(name), CS_STR_ARG(name))
                      : snprintf(at, room, "%.*s;", CS_STR_ARG(name));
    }
    return text;
}

/* A constructor with parameter properties: assignments go behind super(), or first. */
static void place_properties(struct cs_parser *p, uint32_t fn, uint32_t first, uint32_t body,
                             uint32_t class_open)
{
    if (p->props.len == first)
        return;
    bool derived = (fn & FN_DERIVED) != 0;
    if (derived && p->super_end == 0)
        cs_syntax_error(p, body, "call super(...) as a statement of its own in the constructor",
                        "parameter properties need a super(...) statement");
    cs_insert_text(p, derived ? p->super_end : body,
                   property_text(p, first, derived ? ";" : "", true));
    cs_insert_text(p, class_open, property_text(p, first, "", false));
}

bool cs_function_rest(struct cs_parser *p, uint32_t fn, uint32_t class_open)
{
    uint32_t ctx = p->ctx, super_end = p->super_end, ctor_scope = p->ctor_scope,
             cands = p->cands.len;
    uint32_t props = p->props.len;
    struct cs_fn_state state;
    cs_deeper(p);
    p->own_this++;
    p->ctx = fn & FN_ASYNC ? CTX_ASYNC : 0;
    cs_scope_open(p, true);
    if (p->tok.kind == T_LT)
        cs_blank_type_parameters(p);
    uint32_t value = cs_fn_begin(p, &state, p->tok.start), holes;
    uint32_t first = parameters(p, fn, &holes);
    p->vals.at[value].a = first;
    if (p->tok.kind == T_COLON) {
        uint32_t start = p->tok.start;
        cs_next(p);
        cs_type_or_predicate(p);
        cs_blank(p, start, p->prev_end);
    }
    bool has_body = p->tok.kind == T_LBRACE;
    if (!has_body && !(fn & FN_SIGNATURE_OK))
        cs_unexpected(p, "'{'");
    if (has_body) {
        uint32_t body = p->tok.end;
        p->super_end = 0;
        cs_function_body(p, fn);
        place_properties(p, fn, props, body, class_open);
    }
    p->props.len = props;
    cs_fn_end(p, &state);
    p->func_params = holes;
    p->func_body = fn & FN_GEN ? 0 : p->func_body;
    cs_scope_close(p);
    p->ctx = ctx;
    p->super_end = super_end;
    p->ctor_scope = ctor_scope;
    p->cands.len = cands;
    p->own_this--;
    p->depth--;
    return has_body;
}

enum cs_st cs_function_decl(struct cs_parser *p, uint32_t start, bool async, int exported)
{
    struct cs_mark mark;
    cs_mark(p, &mark);
    uint32_t keyword_end = p->tok.end, fn = FN_SIGNATURE_OK | (async ? (uint32_t)FN_ASYNC : 0);
    uint32_t local = K_$default, pos = p->tok.start, declared = p->decls.len, first = p->nodes.len;
    cs_next(p);
    if (cs_eat(p, T_STAR)) {
        fn |= FN_GEN;
        keyword_end = p->prev_end;
    }
    if (cs_tok_ident(&p->tok)) {
        local = p->tok.atom;
        pos = p->tok.start;
        cs_next(p);
        cs_declare(p, local, DECL_FUNC, 0, pos);
    } else if (exported != EXPORT_AS_DEFAULT) {
        cs_unexpected(p, "the name of the function");
    } else if (p->kind != CS_COMPILE_STRIP) {
        cs_insert_text(p, keyword_end, " $default");
    }
    if (!cs_function_rest(p, fn, 0)) {
        /* An overload: only the implementation stays. */
        cs_semicolon(p);
        cs_forget(p, &mark);
        cs_drop(p, start, p->prev_end);
        if (local != K_$default)
            cs_declare(p, local, DECL_TYPE, 0, pos);
        return ST_ERASED;
    }
    if (local != K_$default) {
        cs_assigned(p, cs_val(p, VAL_DECL, declared, 0, 0), p->val);
        *CS_PUSH(&p->binds) = (struct cs_bound){
            .decl = declared, .node = cs_node_func(p, first, pos), .branch = p->branch};
    }
    if (exported == EXPORT_YES && p->ns) {
        struct cs_str name = p->names.at[local].text;
        p->decls.at[declared].exported = true;
        cs_insert_text(
            p, p->prev_end,
            cs_textf(p, ";%s.%.*s=%.*s;", cs_home_of(p), CS_STR_ARG(name), CS_STR_ARG(name)));
    } else if (exported == EXPORT_YES) {
        cs_note_export(p, local, local, pos);
    } else if (exported == EXPORT_AS_DEFAULT) {
        p->default_function |= local == K_$default;
        cs_note_export(p, K_default, local, pos);
    }
    p->last_function = local;
    return ST_FUNCTION;
}

/* One variable of a list, up to its comma. */
static void variable(struct cs_parser *p, uint32_t how)
{
    uint32_t from = p->from, name = p->tok.kind == T_NAME ? p->tok.atom : (uint32_t)K_NONE;
    uint32_t value = p->from = cs_node_hole(p, 0);
    cs_binding(p, how);
    uint32_t bound = p->val;
    p->from = from;
    if (p->tok.kind == T_BANG && !p->tok.nl) {
        cs_blank(p, p->tok.start, p->tok.end);
        cs_next(p);
    }
    cs_type_annotation(p);
    p->val = bound;
    initialiser(p, value, name);
}

void cs_var_list(struct cs_parser *p, uint32_t how)
{
    do
        variable(p, how);
    while (cs_eat(p, T_COMMA));
}

/* export const in a namespace: an assignment to its properties. */
static void namespace_variables(struct cs_parser *p, uint32_t start)
{
    cs_drop(p, start, p->prev_end);
    uint32_t ctx = p->ctx;
    do {
        bool pattern = p->tok.kind == T_LBRACE || p->tok.kind == T_LBRACK;
        if (pattern)
            cs_insert_text(p, p->tok.start, "(");
        p->ctx |= CTX_CLOSED;
        variable(p, BIND_NSVAR);
        p->ctx = ctx;
        if (pattern)
            cs_insert_text(p, p->prev_end, ")");
    } while (cs_eat(p, T_COMMA));
    if (p->tok.kind != T_SEMI)
        cs_insert_text(p, p->prev_end, ";");
}

void cs_var_statement(struct cs_parser *p, uint32_t start, uint32_t exported)
{
    uint32_t how = cs_is(p, K_var) ? BIND_VAR : BIND_LEXICAL;
    cs_next(p);
    if (exported && p->ns && p->scope == p->ns_scope)
        namespace_variables(p, start);
    else
        cs_var_list(p, how | (exported ? BIND_EXPORTED : 0u));
    cs_semicolon(p);
}

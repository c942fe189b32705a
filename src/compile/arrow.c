/*
 * '(' opens an expression in parentheses, the parameters of an arrow function, or the arguments of
 * a function called async. Which one shows only behind ')', so all three are read in one way:
 * names that would be parameters are noted as candidates and become declarations when '=>' comes.
 * Only a return type inside ?: or case needs an attempt.
 */
#include "compile/parser.h"

/* '?' and ': T' behind a parameter, and the initialiser behind them. */
static void parameter_rest(struct cs_parser *p, struct cs_group *g)
{
    uint32_t val = p->val;
    if (p->tok.kind == T_QUESTION) {
        cs_blank(p, p->tok.start, p->tok.end);
        cs_next(p);
        g->arrow_only = true;
    }
    if (p->tok.kind == T_COLON) {
        cs_type_annotation(p);
        g->arrow_only = true;
        if (cs_eat(p, T_ASSIGN)) {
            uint32_t kept = p->cands.len, target = val;
            enum cs_ex ex = cs_assign(p);
            val = cs_assigned(p, target, cs_value(p, ex));
            p->cands.len = kept;
        }
    }
    p->val = val;
}

static void elements(struct cs_parser *p, struct cs_group *g)
{
    uint32_t count = 0, mark = p->stack.len;
    struct cs_items list = {0};
    g->group_only = true;
    while (p->tok.kind != T_RPAREN) {
        if (p->tok.kind == T_AT)
            cs_unexpected(p, "an expression");
        p->node = 0;
        bool rest = cs_eat(p, T_ELLIPSIS);
        if (rest) {
            g->ex = EX_OTHER;
            cs_assign(p);
            g->arrow_only |= !g->async;
        } else {
            g->ex = cs_assign(p);
        }
        uint32_t node = p->node;
        if (g->ex == EX_ASSIGN || g->ex == EX_PATTERN || g->ex == EX_REF) {
            cs_node_element(p, g->ex);
            node = p->node;
        }
        parameter_rest(p, g);
        *CS_PUSH(&p->stack) = node | (rest ? CS_SPREAD : 0);
        cs_item(p, &list, p->val, 0, rest ? VAL_SPREAD : 0);
        count++;
        g->group_only = false;
        if (!cs_eat(p, T_COMMA))
            break;
        g->group_only = true;
    }
    if (count > 1)
        g->ex = EX_OTHER;
    g->items = list.first;
    g->val = p->val;
    /* Most parentheses hold one expression, which needs no list. */
    g->only = count == 1 ? p->stack.at[mark] : 0;
    if (count == 1)
        p->stack.len = mark;
    g->list = cs_node_list(p, mark);
}

/* The parameters are what the arguments are put into. */
static uint32_t holes(struct cs_parser *p, const struct cs_group *g)
{
    uint32_t count = g->only ? 1 : cs_list_len(p, g->list), mark = p->stack.len;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = g->only ? g->only : cs_list_at(p, g->list, i);
        uint32_t hole = cs_node_hole(p, NODE_MAYBE);
        cs_node_take(p, node & ~CS_SPREAD, hole);
        *CS_PUSH(&p->stack) = hole | (node & CS_SPREAD);
    }
    return cs_node_list(p, mark);
}

/*
 * The return type, up to '=>'. If it goes over a line end the arrow would stand alone on its line,
 * so ')' moves to its end.
 */
static void return_type(struct cs_parser *p, const struct cs_group *g)
{
    uint32_t start = p->tok.start;
    cs_next(p);
    cs_type_or_predicate(p);
    cs_blank(p, start, p->prev_end);
    if (cs_has_newline(p, g->closed, p->prev_end)) {
        uint32_t last = p->prev_end - 1;
        while (((unsigned char)p->src[last] & 0xc0) == 0x80)
            last--;
        cs_blank(p, g->closed, g->closed + 1);
        cs_put(p, last, ")");
    }
}

static void arrow_body(struct cs_parser *p, bool async, uint32_t parameters)
{
    uint32_t ctx = p->ctx;
    struct cs_fn_state state;
    uint32_t value = cs_fn_begin(p, &state, p->tok.start);
    p->vals.at[value].a = parameters;
    p->ctx &= ~(uint32_t)(CTX_GEN | CTX_ASYNC);
    if (async)
        p->ctx |= CTX_ASYNC;
    cs_expect(p, T_ARROW, "'=>'");
    if (p->tok.kind == T_LBRACE) {
        cs_function_body(p, async ? FN_ASYNC : 0);
    } else {
        uint32_t mark = p->cands.len, start = p->tok.start;
        cs_assign(p);
        cs_returned(p, p->val);
        if (p->nodes.at[p->node].kind == NODE_CALL && p->nodes.at[p->node].pos == start)
            p->nodes.at[p->node].flags |= NODE_FIRST;
        p->returns = 1;
        p->returned = p->node;
        p->cands.len = mark;
    }
    cs_fn_end(p, &state);
    p->ctx = ctx;
}

static void arrow_rest(struct cs_parser *p, const struct cs_group *g)
{
    if (p->tok.nl)
        cs_syntax_error(p, p->tok.start, "", "'=>' cannot start a line");
    uint32_t params = holes(p, g);
    arrow_body(p, g->async, g->items);
    p->func_params = params;
}

/* In a ? (b) : c => d the colon is that of the conditional, unless one more follows. */
static bool typed_arrow(struct cs_parser *p, uint32_t arg)
{
    const struct cs_group *g = &p->groups.at[arg];
    struct cs_group copy = *g;
    return_type(p, &copy);
    if (p->tok.kind != T_ARROW)
        return false;
    arrow_rest(p, &copy);
    return p->tok.kind == T_COLON;
}

static bool try_typed_arrow(struct cs_parser *p, const struct cs_group *g)
{
    uint32_t index = p->groups.len;
    *CS_PUSH(&p->groups) = *g;
    bool yes = cs_attempt(p, typed_arrow, index);
    p->groups.len = index;
    return yes;
}

static void became_arrow(struct cs_parser *p, const struct cs_group *g)
{
    cs_cands_declare(p, g->cands, g->scope);
    p->cands.len = g->cands;
    if (g->generic && cs_has_newline(p, g->generic - 1, g->opened)) {
        /* Neither async nor return may be parted from the parameters by a line end. */
        p->moved = g->generic;
        cs_put(p, g->generic - 1, "(");
        cs_blank(p, g->opened, g->opened + 1);
    }
    cs_scope_close(p);
}

enum cs_ex cs_paren_or_arrow(struct cs_parser *p, bool async, uint32_t generic)
{
    uint32_t ctx = p->ctx, callee = p->last_ref, callee_val = p->val;
    struct cs_group g = {
        .opened = p->tok.start, .cands = p->cands.len, .async = async, .generic = generic};
    g.scope = cs_scope_open(p, false);
    p->ctx &= ~(uint32_t)(CTX_NO_IN | CTX_COLON);
    uint32_t first = p->nodes.len;
    cs_next(p);
    elements(p, &g);
    p->ctx = ctx;
    g.closed = p->tok.start;
    cs_close(p, T_RPAREN, g.opened);
    bool arrow = p->tok.kind == T_ARROW && !p->tok.nl;
    if (p->tok.kind == T_COLON && !arrow) {
        if (!(ctx & CTX_COLON)) {
            return_type(p, &g);
            if (p->tok.kind != T_ARROW)
                cs_unexpected(p, "'=>'");
            arrow = true;
        } else if (try_typed_arrow(p, &g)) {
            if (async)
                p->refs.at[callee].flags |= REF_DEAD;
            became_arrow(p, &g);
            p->node = cs_node_func(p, first, g.opened);
            return EX_ARROW;
        }
    }
    if (arrow) {
        if (async)
            p->refs.at[callee].flags |= REF_DEAD;
        arrow_rest(p, &g);
        became_arrow(p, &g);
        p->node = cs_node_func(p, first, g.opened);
        return EX_ARROW;
    }
    cs_scope_close(p);
    p->cands.len = g.cands;
    if (g.arrow_only || (g.group_only && !async))
        cs_unexpected(p, "'=>'");
    if (async) {
        p->refs.at[callee].flags |= REF_CALL;
        p->val = cs_val(p, VAL_CALL, callee_val, g.items, g.opened);
        p->node = 0;
        return EX_OTHER;
    }
    p->val = g.val;
    return g.ex == EX_REF || g.ex == EX_STRING || g.ex == EX_FUNC ? g.ex
           : g.ex == EX_ARROW                                     ? EX_FUNC
                                                                  : EX_OTHER;
}

enum cs_ex cs_arrow_one(struct cs_parser *p, const struct cs_token *param, bool async)
{
    cs_scope_open(p, false);
    cs_declare(p, param->atom, DECL_VALUE, 0, param->start);
    struct cs_items list = {0};
    cs_item(p, &list, cs_val(p, VAL_DECL, p->decls.len - 1, 0, 0), 0, 0);
    uint32_t first = p->nodes.len, hole = cs_node_hole(p, NODE_MAYBE), mark = p->stack.len;
    *CS_PUSH(&p->binds) =
        (struct cs_bound){.decl = p->decls.len - 1, .node = hole, .branch = p->branch};
    *CS_PUSH(&p->stack) = hole;
    uint32_t params = cs_node_list(p, mark);
    arrow_body(p, async, list.first);
    cs_scope_close(p);
    p->func_params = params;
    p->node = cs_node_func(p, first, param->start);
    return EX_ARROW;
}

bool cs_async_parameters(struct cs_parser *p, uint32_t start)
{
    cs_type_parameters(p);
    cs_blank(p, start, p->prev_end);
    return p->tok.kind == T_LPAREN;
}

/* Statements, and the program as a list of them. */
#include "compile/parser.h"

void cs_expect(struct cs_parser *p, enum cs_tok kind, const char *what)
{
    if (p->tok.kind != kind)
        cs_unexpected(p, what);
    cs_next(p);
}

void cs_close(struct cs_parser *p, enum cs_tok kind, uint32_t opened)
{
    if (p->tok.kind != kind)
        cs_unclosed(p, kind == T_RPAREN ? "')'" : kind == T_RBRACK ? "']'" : "'}'", opened);
    cs_next(p);
}

bool cs_semicolon(struct cs_parser *p)
{
    if (cs_eat(p, T_SEMI)) {
        p->closed_by_line = false;
        return false;
    }
    if (!p->tok.nl && p->tok.kind != T_RBRACE && p->tok.kind != T_EOF)
        cs_unexpected(p, "';'");
    p->closed_by_line = true;
    return true;
}

void cs_statements(struct cs_parser *p, enum cs_tok until)
{
    bool asi = false;
    while (p->tok.kind != until && p->tok.kind != T_EOF) {
        p->listed = p->tok.start;
        p->asi_pos = asi ? p->tok.start : UINT32_MAX;
        p->closed_by_line = false;
        if (cs_statement(p) != ST_ERASED)
            p->value_seen = true;
        asi = p->closed_by_line;
    }
}

void cs_block(struct cs_parser *p)
{
    uint32_t opened = p->tok.start;
    cs_expect(p, T_LBRACE, "'{'");
    cs_scope_open(p, false);
    cs_statements(p, T_RBRACE);
    cs_scope_close(p);
    cs_close(p, T_RBRACE, opened);
}

/* ( expression ) of if, while, switch and with; its value. */
static uint32_t condition(struct cs_parser *p)
{
    uint32_t opened = p->tok.start;
    cs_expect(p, T_LPAREN, "'('");
    enum cs_ex ex = cs_expr(p);
    cs_close(p, T_RPAREN, opened);
    return cs_value(p, ex);
}

/* A statement that may run or not. */
static void branch(struct cs_parser *p, bool dead)
{
    uint32_t outer = cs_branch(p);
    p->dead += dead;
    cs_statement(p);
    p->dead -= dead;
    p->branch = outer;
}

static void if_statement(struct cs_parser *p)
{
    /* A loop, so that long else-if chains need no depth. */
    for (;;) {
        cs_next(p);
        branch(p, condition(p) == VALUE_FALSE);
        if (!cs_is(p, K_else))
            return;
        cs_next(p);
        if (!cs_is(p, K_if))
            break;
    }
    branch(p, false);
}

/* `let` starts a declaration, not an expression. */
static bool let_declares(struct cs_parser *p)
{
    struct cs_token ahead = cs_peek(p);
    return ahead.kind == T_LBRACK || ahead.kind == T_LBRACE ||
           (cs_tok_ident(&ahead) && !cs_tok_is(&ahead, K_of)) ||
           (cs_tok_is(&ahead, K_of) && !ahead.nl);
}

static void refuse_using(struct cs_parser *p)
{
    struct cs_token ahead = cs_peek(p);
    if (cs_is(p, K_await) && cs_tok_is(&ahead, K_using) && !ahead.nl) {
        struct cs_token word = p->tok;
        p->tok = ahead;
        struct cs_token third = cs_peek(p);
        p->tok = word;
        if (!cs_tok_ident(&third) || third.nl)
            return;
    } else if (!cs_is(p, K_using) || !cs_tok_ident(&ahead) || ahead.nl || cs_tok_is(&ahead, K_of)) {
        return;
    }
    cs_syntax_error(p, p->tok.start, "use const, and try { } finally { } to clean up",
                    "using declarations are not supported");
}

/* What stands first in the head of a for: a declaration, an expression or nothing. */
static void for_first(struct cs_parser *p)
{
    uint32_t ctx = p->ctx, mark = p->cands.len;
    p->ctx |= CTX_NO_IN;
    refuse_using(p);
    if (cs_is(p, K_var) || cs_is(p, K_const) || (cs_is(p, K_let) && let_declares(p))) {
        uint32_t how = cs_is(p, K_var) ? BIND_VAR : BIND_LEXICAL;
        cs_next(p);
        cs_var_list(p, how);
    } else if (p->tok.kind != T_SEMI) {
        cs_expr(p);
        if (cs_is(p, K_of) || cs_is(p, K_in))
            cs_cands_write(p, mark);
    }
    p->cands.len = mark;
    p->ctx = ctx;
}

static void while_statement(struct cs_parser *p)
{
    struct cs_loop loop;
    uint32_t start = p->tok.start;
    cs_loop_begin(p, &loop, LOOP_LOOP, K_NONE);
    cs_next(p);
    struct cs_endless e = {.pos = start, .from = p->tok.start, .name = "while(true)"};
    uint32_t outer = cs_branch(p);
    e.cond = condition(p);
    e.to = p->prev_end;
    cs_statement(p);
    p->branch = outer;
    cs_loop_end(p, &loop);
    cs_loop_seen(p, &loop, e);
}

/* Behind the first ';' of a for, to before its ')'; where its condition ends. */
static uint32_t for_rest(struct cs_parser *p)
{
    uint32_t end = p->tok.start;
    if (p->tok.kind != T_SEMI) {
        cs_expr(p);
        end = p->prev_end;
    }
    cs_expect(p, T_SEMI, "';'");
    if (p->tok.kind != T_RPAREN)
        cs_expr(p);
    return end;
}

/* for (x of y): what x is set to is some element of y. `first`: of the nodes of x. */
static void for_each(struct cs_parser *p, uint32_t first)
{
    uint32_t target = p->node, val = p->val;
    bool of = cs_is(p, K_of), declared = false;
    for (uint32_t i = first; i < p->nodes.len; i++)
        p->nodes.at[i].flags |= p->nodes.at[i].kind == NODE_HOLE ? NODE_MAYBE : 0;
    if (first < p->nodes.len)
        declared = p->nodes.at[first].kind == NODE_HOLE;
    cs_next(p);
    of ? cs_assign(p) : cs_expr(p);
    uint32_t from = of && p->node ? cs_node(p, NODE_INDEX, p->node, 0, p->tok.start) : 0;
    p->nodes.at[from].flags |= NODE_INNER;
    if (declared)
        p->nodes.at[first].a = from;
    else
        cs_node_take(p, target, from);
    if (p->val)
        cs_assigned(p, val, cs_val(p, VAL_MEMBER, p->val, K_NONE, 0));
}

static void for_statement(struct cs_parser *p)
{
    struct cs_loop loop;
    struct cs_endless e = {.pos = p->tok.start, .name = "for(;;)"};
    uint32_t outer = cs_branch(p);
    cs_loop_begin(p, &loop, LOOP_LOOP, K_NONE);
    cs_next(p);
    if (cs_is(p, K_await)) {
        cs_loop_wait(p);
        if (!(p->ctx & CTX_ASYNC))
            cs_syntax_error(p, p->tok.start, "make the enclosing function async",
                            "for await is only possible in an async function");
        cs_next(p);
    }
    uint32_t opened = p->tok.start;
    cs_expect(p, T_LPAREN, "'('");
    cs_scope_open(p, false);
    uint32_t first = p->nodes.len;
    p->node = 0;
    for_first(p);
    bool each = cs_is(p, K_of) || cs_is(p, K_in);
    if (each) {
        for_each(p, first);
    } else {
        cs_expect(p, T_SEMI, "';'");
        e.from = p->tok.start;
        e.to = for_rest(p);
    }
    cs_close(p, T_RPAREN, opened);
    cs_statement(p);
    cs_scope_close(p);
    p->branch = outer;
    cs_loop_end(p, &loop);
    if (!each)
        cs_loop_seen(p, &loop, e);
}

static void do_statement(struct cs_parser *p)
{
    struct cs_loop loop;
    uint32_t start = p->tok.start;
    cs_loop_begin(p, &loop, LOOP_LOOP, K_NONE);
    cs_next(p);
    branch(p, false);
    if (!cs_is(p, K_while))
        cs_unexpected(p, "'while'");
    cs_next(p);
    struct cs_endless e = {.pos = start, .from = p->tok.start, .name = "do-while(true)"};
    e.cond = condition(p);
    e.to = p->prev_end;
    cs_eat(p, T_SEMI);
    cs_loop_end(p, &loop);
    cs_loop_seen(p, &loop, e);
}

static void switch_statement(struct cs_parser *p)
{
    struct cs_loop frame;
    cs_next(p);
    condition(p);
    cs_loop_begin(p, &frame, LOOP_SWITCH, K_NONE);
    uint32_t opened = p->tok.start, outer = cs_branch(p);
    cs_expect(p, T_LBRACE, "'{'");
    cs_scope_open(p, false);
    while (p->tok.kind != T_RBRACE && p->tok.kind != T_EOF) {
        if (cs_is(p, K_case)) {
            uint32_t ctx = p->ctx;
            cs_next(p);
            p->ctx |= CTX_COLON;
            cs_expr(p);
            p->ctx = ctx;
        } else if (cs_is(p, K_default)) {
            cs_next(p);
        } else {
            cs_unexpected(p, "'case' or 'default'");
        }
        cs_expect(p, T_COLON, "':'");
        bool asi = false;
        while (!cs_is(p, K_case) && !cs_is(p, K_default) && p->tok.kind != T_RBRACE &&
               p->tok.kind != T_EOF) {
            p->asi_pos = asi ? p->tok.start : UINT32_MAX;
            p->closed_by_line = false;
            cs_statement(p);
            asi = p->closed_by_line;
        }
    }
    cs_loop_end(p, &frame);
    p->branch = outer;
    cs_scope_close(p);
    cs_close(p, T_RBRACE, opened);
}

/* The block of a try; true if something is thrown in it. */
static bool tried(struct cs_parser *p)
{
    struct cs_loop frame;
    cs_loop_begin(p, &frame, LOOP_TRY, K_NONE);
    cs_block(p);
    cs_loop_end(p, &frame);
    return frame.left;
}

static void try_statement(struct cs_parser *p)
{
    uint32_t start = p->tok.start, outer = cs_branch(p);
    cs_next(p);
    bool throws = tried(p), handled = false;
    if (throws && !cs_is(p, K_catch))
        cs_loop_throw(p);
    if (cs_is(p, K_catch)) {
        handled = true;
        cs_next(p);
        cs_scope_open(p, false);
        uint32_t opened = p->tok.start;
        if (cs_eat(p, T_LPAREN)) {
            p->from = cs_node_hole(p, NODE_MAYBE);
            cs_binding(p, BIND_LEXICAL);
            p->from = 0;
            cs_assigned(p, p->val, cs_val(p, VAL_THROWN, 0, 0, 0));
            cs_type_annotation(p);
            cs_close(p, T_RPAREN, opened);
        }
        cs_block(p);
        cs_scope_close(p);
    }
    if (cs_is(p, K_finally)) {
        handled = true;
        cs_next(p);
        cs_block(p);
    }
    p->branch = outer;
    if (!handled)
        cs_syntax_error(p, start, "add catch (e) { } or finally { }", "try needs catch or finally");
}

/* The statement at pos is the first in its block. */
static bool opens(const struct cs_parser *p, uint32_t pos)
{
    while (pos > 0 && (unsigned char)p->src[pos - 1] <= ' ')
        pos--;
    return pos > 0 && p->src[pos - 1] == '{';
}

static void return_statement(struct cs_parser *p)
{
    if (!(p->ctx & CTX_RETURN))
        cs_syntax_error(p, p->tok.start,
                        p->kind == CS_COMPILE_PROGRAM
                            ? "move it out of the namespace or static block"
                            : "a module has no result: use export",
                        "return is only possible in a function");
    bool first = p->branch == p->fn_branch && p->returns == 0 && opens(p, p->tok.start);
    cs_loop_leave(p);
    cs_next(p);
    if (p->tok.kind != T_SEMI && p->tok.kind != T_RBRACE && p->tok.kind != T_EOF && !p->tok.nl) {
        uint32_t start = p->tok.start;
        cs_restricted(p, cs_expr);
        cs_returned(p, p->val);
        p->returned = p->node;
        if (first && p->nodes.at[p->node].kind == NODE_CALL && p->nodes.at[p->node].pos == start)
            p->nodes.at[p->node].flags |= NODE_FIRST;
    }
    p->returns++;
    cs_semicolon(p);
}

static void throw_statement(struct cs_parser *p)
{
    cs_loop_throw(p);
    cs_next(p);
    if (p->tok.nl)
        cs_syntax_error(p, p->tok.start, "put it on the line of throw",
                        "throw needs its value on the same line");
    cs_restricted(p, cs_expr);
    if (p->val >= VALUE_FIRST) {
        uint32_t value = p->val;
        cs_assigned(p, cs_val(p, VAL_THROWN, 0, 0, 0), value);
    }
    cs_semicolon(p);
}

static void jump_statement(struct cs_parser *p)
{
    bool leaves = cs_is(p, K_break);
    uint32_t label = K_NONE;
    cs_next(p);
    if (cs_tok_ident(&p->tok) && !p->tok.nl) {
        label = p->tok.atom;
        cs_next(p);
    }
    cs_loop_jump(p, leaves, label);
    cs_semicolon(p);
}

static enum cs_st expression_statement(struct cs_parser *p)
{
    uint32_t start = p->tok.start, cands = p->cands.len;
    bool super_call = cs_is(p, K_super) && start == p->listed && p->scope == p->ctor_scope &&
                      p->ctor_scope && p->super_end == 0;
    enum cs_ex ex = cs_expr(p);
    /* The last one may be the value of the program; any of them, of no function. */
    if (p->val >= VALUE_FIRST && p->vals.at[p->val].kind != VAL_CALL &&
        p->vals.at[p->val].kind != VAL_ASSIGN)
        cs_val(p, VAL_RETURN, p->val, 0, 0);
    p->cands.len = cands;
    uint32_t end = p->prev_end;
    if (super_call)
        p->super_end = end;
    cs_semicolon(p);
    p->expr_start = start;
    p->expr_end = end;
    p->expr_kind = ex;
    return ST_EXPR;
}

/* Statements that a reserved word starts; false if it starts an expression. */
/* size: one case for each word */
static bool keyword_statement(struct cs_parser *p, enum cs_st *st)
{
    *st = ST_OTHER;
    uint32_t start = p->tok.start;
    switch (p->tok.atom) {
    case K_var:
    case K_const:
        cs_var_statement(p, start, false);
        return true;
    case K_function:
        *st = cs_function_decl(p, start, false, EXPORT_NO);
        return true;
    case K_class:
        cs_class(p, true, true);
        return true;
    case K_if:
        if_statement(p);
        return true;
    case K_for:
        for_statement(p);
        return true;
    case K_while:
        while_statement(p);
        return true;
    case K_with:
        cs_next(p);
        condition(p);
        cs_statement(p);
        return true;
    case K_do:
        do_statement(p);
        return true;
    case K_switch:
        switch_statement(p);
        return true;
    case K_try:
        try_statement(p);
        return true;
    case K_return:
        return_statement(p);
        return true;
    case K_throw:
        throw_statement(p);
        return true;
    case K_break:
    case K_continue:
        jump_statement(p);
        return true;
    case K_debugger:
        cs_next(p);
        cs_semicolon(p);
        return true;
    case K_export:
        *st = cs_export_decl(p);
        return true;
    case K_import: {
        struct cs_token ahead = cs_peek(p);
        if (ahead.kind == T_LPAREN || ahead.kind == T_DOT)
            return false;
        *st = cs_import_decl(p);
        return true;
    }
    default:
        return false;
    }
}

/* Statements that start with a word which could also be a name. */
static bool word_statement(struct cs_parser *p, enum cs_st *st)
{
    uint32_t start = p->tok.start;
    *st = ST_OTHER;
    struct cs_token ahead = cs_peek(p);
    if (ahead.kind == T_COLON) {
        struct cs_loop frame;
        cs_loop_begin(p, &frame, LOOP_LABEL, p->tok.atom);
        cs_next(p);
        cs_next(p);
        cs_statement(p);
        cs_loop_end(p, &frame);
        return true;
    }
    if (cs_is(p, K_let) && let_declares(p)) {
        cs_var_statement(p, start, false);
        return true;
    }
    if (cs_is(p, K_async) && cs_tok_is(&ahead, K_function) && !ahead.nl) {
        cs_next(p);
        *st = cs_function_decl(p, start, true, EXPORT_NO);
        return true;
    }
    if (cs_is(p, K_abstract) && cs_tok_is(&ahead, K_class) && !ahead.nl) {
        cs_blank(p, start, p->tok.end);
        cs_next(p);
        cs_class(p, true, true);
        return true;
    }
    refuse_using(p);
    return false;
}

enum cs_st cs_statement(struct cs_parser *p)
{
    enum cs_st st = ST_OTHER;
    bool done = true;
    cs_deeper(p);
    switch (p->tok.kind) {
    case T_LBRACE:
        cs_block(p);
        break;
    case T_SEMI:
        cs_next(p);
        st = ST_ERASED;
        break;
    case T_NAME:
        done = cs_typescript_statement(p, p->tok.start, false, &st) ||
               (p->tok.atom < K_RESERVED_END ? keyword_statement(p, &st) : word_statement(p, &st));
        break;
    default:
        done = false;
    }
    if (!done)
        st = expression_statement(p);
    p->depth--;
    return st;
}

/* function (…) {…} without a name, which only a program may consist of. */
static bool nameless_function(struct cs_parser *p)
{
    if (!cs_is(p, K_async) && !cs_is(p, K_function))
        return false;
    struct cs_token first = p->tok, ahead = cs_peek(p);
    if (cs_is(p, K_async) && cs_tok_is(&ahead, K_function) && !ahead.nl) {
        p->tok = ahead;
        ahead = cs_peek(p);
        p->tok = first;
    } else if (!cs_is(p, K_function)) {
        return false;
    }
    return ahead.kind == T_LPAREN;
}

void cs_program(struct cs_parser *p)
{
    uint32_t functions = 0, others = 0;
    bool asi = false;
    while (p->tok.kind != T_EOF) {
        if (p->tok.kind == T_RBRACE || p->tok.kind == T_RPAREN || p->tok.kind == T_RBRACK)
            cs_syntax_error(p, p->tok.start, "remove it, or open the bracket that it should close",
                            "'%c' closes nothing", p->src[p->tok.start]);
        p->listed = p->tok.start;
        p->asi_pos = asi ? p->tok.start : UINT32_MAX;
        p->closed_by_line = false;
        enum cs_st st = p->kind == CS_COMPILE_PROGRAM && nameless_function(p)
                            ? expression_statement(p)
                            : cs_statement(p);
        asi = p->closed_by_line;
        functions += st == ST_FUNCTION;
        others += st == ST_EXPR || st == ST_OTHER;
        if (st == ST_EXPR) {
            p->has_value = true;
            p->value_start = p->expr_start;
            p->value_end = p->expr_end;
            p->value_is_function = p->expr_kind == EX_ARROW || p->expr_kind == EX_FUNC;
        } else if (st == ST_OTHER) {
            p->has_value = false;
        }
    }
    if (functions == 1 && others == 0)
        p->lone_function = p->last_function;
}

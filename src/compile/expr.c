/*
 * Expressions. Nothing here needs precedence: operands alternate with operators, `as` and
 * `satisfies` are blanked on the way, and ?: and assignment sit on top.
 *
 * After cs_assign the candidates since its start are the names it would bind if it turned out to
 * be part of a pattern: one name, those of a literal, or those left of a '='.
 */
#include "compile/parser.h"

enum cs_ex cs_expr(struct cs_parser *p)
{
    enum cs_ex ex = cs_assign(p);
    while (p->tok.kind == T_COMMA) {
        cs_next(p);
        cs_assign(p);
        ex = EX_OTHER;
    }
    return ex;
}

/* `x as T` where a line end closes the statement and the next one would continue without T. */
static void separate(struct cs_parser *p, uint32_t pos)
{
    if (p->tok.nl && !(p->ctx & CTX_CLOSED) &&
        (p->tok.kind == T_LPAREN || p->tok.kind == T_LBRACK || p->tok.kind == T_TEMPLATE))
        cs_put(p, pos, ";");
}

/* "</div>" after an operand. */
static void refuse_closing_element(struct cs_parser *p)
{
    const char *s = p->src + p->tok.end;
    if (s[0] != '/')
        return;
    size_t n = 1 + strspn(s + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.");
    if (s[n] == '>')
        cs_syntax_error(p, p->tok.start, "build strings or plain objects instead",
                        "JSX is not supported");
}

/*
 * What an expression of operators can be. A comparison is none of its operands; && || ?? bind less
 * than it, everything else that keeps values binds more.
 */
struct operands {
    uint32_t kept, last;
    bool compared;
};

static void operator_value(struct cs_parser *p, struct operands *o, const char *op)
{
    if (op[0] == op[1] && (op[0] == '&' || op[0] == '|' || op[0] == '?')) {
        o->kept = cs_join(p, o->kept, o->last);
        o->last = 0;
        o->compared = false;
    } else if (op[0] == '=' || op[0] == '!' || op[0] == '<' || op[0] == '>' || op[0] == 'i') {
        if (op[0] == 'i' && op[2] == 's' && o->last >= VALUE_FIRST) /* the right side may ask */
            cs_val(p, VAL_RETURN, o->last, 0, 0);
        o->last = 0;
        o->compared = true;
    }
}

static enum cs_ex operands_end(struct cs_parser *p, const struct operands *o, enum cs_ex ex)
{
    p->val = o->kept ? cs_join(p, o->kept, o->last) : o->last;
    return ex;
}

/* size: one case for each operator */
static enum cs_ex binary(struct cs_parser *p)
{
    enum cs_ex ex = cs_unary(p);
    struct operands o = {.last = p->val};
    struct cs_run run = {.node = p->node};
    while (ex != EX_ARROW) {
        if (p->tok.kind == T_LT)
            refuse_closing_element(p);
        if (p->tok.kind == T_LT || p->tok.kind == T_GT)
            cs_lex_join(p);
        switch (p->tok.kind) {
        case T_NAME:
            if ((cs_is(p, K_as) || cs_is(p, K_satisfies)) && !p->tok.nl) {
                uint32_t start = p->tok.start;
                cs_next(p);
                cs_type(p);
                cs_blank(p, start, p->prev_end);
                separate(p, start);
                if (ex != EX_REF && ex != EX_STRING)
                    ex = EX_OTHER;
                p->val = o.last;
                continue;
            }
            if (!cs_is(p, K_instanceof) && (!cs_is(p, K_in) || (p->ctx & CTX_NO_IN))) {
                p->node = cs_run_end(p, &run);
                return operands_end(p, &o, ex);
            }
            break;
        case T_BINOP:
        case T_PLUS:
        case T_MINUS:
        case T_STAR:
        case T_SLASH:
        case T_PIPE:
        case T_AMP:
            break;
        default:
            p->node = cs_run_end(p, &run);
            return operands_end(p, &o, ex);
        }
        struct cs_token op = p->tok;
        operator_value(p, &o, p->src + p->tok.start);
        cs_next(p);
        cs_unary(p);
        cs_run_operand(p, &run, &op);
        if (!o.compared)
            o.last = cs_join(p, o.last, p->val);
        ex = EX_OTHER;
    }
    return ex;
}

/* '?' of an optional parameter: only an arrow function can mean that. */
static bool optional_marker(struct cs_parser *p)
{
    struct cs_token ahead = cs_peek(p);
    return ahead.kind == T_COLON || ahead.kind == T_COMMA || ahead.kind == T_RPAREN ||
           ahead.kind == T_ASSIGN;
}

static enum cs_ex yield_expr(struct cs_parser *p);

/* What the current operator does: '=', '+' (+=), '|' (||=), '&', '?', or something else. */
static char assignment(const struct cs_parser *p)
{
    const char *s = p->src + p->tok.start;
    bool bits = (s[0] == '|' || s[0] == '&') && s[1] == '=';
    return bits ? '^' : s[0];
}

/* The false branch of a conditional, which is an assignment expression without its ?: part. */
static enum cs_ex false_branch(struct cs_parser *p)
{
    if (cs_is(p, K_yield) && (p->ctx & CTX_GEN))
        return yield_expr(p);
    uint32_t mark = p->cands.len;
    enum cs_ex ex = binary(p);
    if (ex == EX_ARROW)
        return ex;
    if (p->tok.kind == T_ASSIGN || p->tok.kind == T_OPASSIGN || p->tok.kind == T_SLASHEQ) {
        uint32_t target = p->node, to = p->val;
        if (ex == EX_REF)
            *CS_PUSH(&p->cands) = p->last_ref;
        cs_cands_write(p, mark);
        char op = assignment(p);
        cs_next(p);
        ex = cs_assign(p);
        p->val = cs_assigned(p, to, cs_value(p, ex));
        cs_node_assigned(p, target, op);
    }
    return EX_OTHER;
}

static enum cs_ex conditional(struct cs_parser *p)
{
    enum cs_ex ex = binary(p);
    uint32_t val = 0;
    bool either = false;
    /* a ? b : c ? d : e is a loop, so that long chains need no depth. */
    while (ex != EX_ARROW && p->tok.kind == T_QUESTION && !optional_marker(p)) {
        uint32_t ctx = p->ctx, question = p->tok.start;
        cs_next(p);
        p->ctx = (ctx | CTX_COLON) & ~(uint32_t)CTX_NO_IN;
        cs_assign(p);
        val = cs_join(p, val, p->val);
        uint32_t first = p->node;
        p->ctx = ctx;
        if (p->tok.kind != T_COLON)
            cs_unclosed(p, "':'", question);
        cs_next(p);
        ex = false_branch(p);
        p->node = cs_node_either(p, first, p->node);
        either = true;
    }
    if (either)
        p->val = cs_join(p, val, p->val);
    return ex;
}

/*
 * return, throw and yield end at a line end: a parenthesis keeps a blanked type together, unless
 * it stood before an arrow function whose own parenthesis has moved up.
 */
void cs_restricted(struct cs_parser *p, enum cs_ex (*operand)(struct cs_parser *))
{
    uint32_t start = p->tok.start;
    bool breaks = cs_prefix_breaks(p);
    operand(p);
    if (breaks && p->moved != start + 1) {
        cs_put(p, start, "(");
        cs_insert_text(p, p->prev_end, ")");
    }
}

static enum cs_ex yield_operand(struct cs_parser *p)
{
    cs_next(p);
    cs_loop_leave(p);
    p->val = 0;
    if (p->tok.nl)
        return EX_OTHER;
    switch (p->tok.kind) {
    case T_RPAREN:
    case T_RBRACK:
    case T_RBRACE:
    case T_COMMA:
    case T_SEMI:
    case T_COLON:
    case T_EOF:
        return EX_OTHER;
    case T_STAR:
        cs_next(p);
        cs_assign(p);
        cs_returned(p, p->val);
        return EX_OTHER;
    }
    if (!cs_is(p, K_in)) {
        cs_restricted(p, cs_assign);
        cs_returned(p, p->val);
    }
    return EX_OTHER;
}

static enum cs_ex yield_expr(struct cs_parser *p)
{
    enum cs_ex ex = yield_operand(p);
    p->node = 0;
    return ex;
}

enum cs_ex cs_assign(struct cs_parser *p)
{
    cs_deeper(p);
    uint32_t mark = p->cands.len;
    enum cs_ex ex;
    if (cs_is(p, K_yield) && (p->ctx & CTX_GEN))
        ex = yield_expr(p);
    else
        ex = conditional(p);
    if (ex == EX_REF) {
        p->cands.len = mark;
        *CS_PUSH(&p->cands) = p->last_ref;
    } else if (ex != EX_PATTERN) {
        p->cands.len = mark;
    }
    switch (p->tok.kind) {
    case T_ASSIGN:
    case T_OPASSIGN:
    case T_SLASHEQ: {
        if (ex == EX_ARROW)
            break;
        bool plain = p->tok.kind == T_ASSIGN;
        char op = assignment(p);
        cs_cands_write(p, mark);
        uint32_t kept = plain ? p->cands.len : mark, target = p->node, to = p->val;
        cs_next(p);
        enum cs_ex from = cs_assign(p);
        p->val = cs_assigned(p, to, cs_value(p, from));
        cs_node_assigned(p, target, op);
        p->cands.len = kept;
        ex = plain && ex != EX_OTHER ? EX_ASSIGN : EX_OTHER;
        break;
    }
    }
    p->depth--;
    return ex;
}

/* Behind the '>' of `<T>x` or `<T extends U>(x) => y`. */
static void skip_prefix(struct cs_parser *p)
{
    struct cs_token open = p->tok, first = cs_peek(p);
    p->tok = first;
    struct cs_token second = cs_peek(p);
    p->tok = open;
    if ((cs_tok_is(&first, K_const) && second.kind == T_NAME) ||
        (cs_tok_ident(&first) &&
         (second.kind == T_COMMA || second.kind == T_ASSIGN || cs_tok_is(&second, K_extends)))) {
        cs_type_parameters(p);
        return;
    }
    bool element = first.kind == T_GT || (cs_tok_ident(&first) && first.atom >= K_END &&
                                          (second.kind == T_NAME || second.kind == T_SLASH));
    if (element)
        cs_syntax_error(p, open.start, "build strings or plain objects instead",
                        "JSX is not supported");
    cs_type_arguments(p);
}

bool cs_prefix_breaks(struct cs_parser *p)
{
    if (p->tok.kind != T_LT)
        return false;
    struct cs_token open = p->tok;
    uint32_t prev = p->prev_end;
    skip_prefix(p);
    bool breaks = cs_has_newline(p, open.start, p->prev_end);
    p->tok = open;
    p->prev_end = prev;
    return breaks;
}

/* What stands in the angle brackets goes, whether an assertion or an arrow function follows. */
static void prefix_type(struct cs_parser *p)
{
    uint32_t start = p->tok.start;
    skip_prefix(p);
    cs_blank(p, start, p->prev_end);
    p->generic = p->tok.kind == T_LPAREN ? start + 1 : 0;
}

static void await_operator(struct cs_parser *p)
{
    if (!(p->ctx & CTX_ASYNC))
        cs_syntax_error(p, p->tok.start, "make the enclosing function async",
                        "await is only possible in an async function");
    cs_loop_wait(p);
    cs_next(p);
}

static enum cs_ex postfix(struct cs_parser *p);

/* What so many '!' make of p->val. */
static uint32_t negated_value(struct cs_parser *p, uint32_t negated)
{
    uint32_t val = p->val;
    if (!negated || !val)
        return val;
    if (val < VALUE_FIRST)
        return (val == VALUE_TRUE) == (negated % 2 == 0) ? VALUE_TRUE : VALUE_FALSE;
    val = cs_val(p, VAL_NOT, val, 0, 0);
    return negated % 2 ? val : cs_val(p, VAL_NOT, val, 0, 0);
}

/* ! ~ + - ++ -- typeof void delete */
static bool at_operator(const struct cs_parser *p)
{
    return p->tok.kind == T_BANG || p->tok.kind == T_TILDE || p->tok.kind == T_PLUS ||
           p->tok.kind == T_MINUS || p->tok.kind == T_INCDEC || cs_is(p, K_typeof) ||
           cs_is(p, K_void) || cs_is(p, K_delete);
}

enum cs_ex cs_unary(struct cs_parser *p)
{
    bool operators = false, update = false, lost = false;
    uint32_t negated = 0, flags = 0;
    for (;;) {
        if (p->tok.kind == T_LT) {
            prefix_type(p);
            continue;
        }
        if (cs_is(p, K_await)) {
            await_operator(p);
        } else if (at_operator(p)) {
            update = p->tok.kind == T_INCDEC;
            negated += p->tok.kind == T_BANG;
            lost |= p->tok.kind == T_NAME;
            flags |= cs_node_operator(p);
            cs_next(p);
        } else {
            break;
        }
        operators = true;
    }
    enum cs_ex ex = postfix(p);
    if (update && ex == EX_REF)
        p->refs.at[p->last_ref].flags |= REF_WRITE;
    p->val = lost ? 0 : negated_value(p, negated);
    if (flags) {
        p->nodes.at[p->node].flags |= (uint8_t)flags;
        p->node = 0;
    }
    return operators && ex != EX_ARROW ? EX_OTHER : ex;
}

/* One operand with its members and calls, while it is being read. */
struct operand {
    enum cs_ex ex;
    uint32_t start, node, val;
};

/* One more part, which stands at `at`. */
static void part(struct cs_parser *p, struct operand *o, enum cs_node_kind kind, uint32_t b,
                 uint32_t at)
{
    struct cs_node *n = &p->nodes.at[o->node];
    if (n->kind != NODE_STR && n->kind != NODE_ADD && n->kind != NODE_TEMPLATE)
        n->flags |= NODE_INNER;
    o->node = cs_node(p, kind, o->node, b, o->start);
    p->nodes.at[o->node].at = at;
    o->ex = EX_OTHER;
}

static void named_member(struct cs_parser *p, struct operand *o)
{
    if (p->tok.kind != T_NAME && p->tok.kind != T_PRIVATE)
        cs_unexpected(p, "a property name");
    struct cs_token name = p->tok;
    o->val = cs_val(p, VAL_MEMBER, o->val, name.atom, 0);
    cs_next(p);
    part(p, o, NODE_MEMBER, name.atom, name.start);
    if (name.kind == T_PRIVATE)
        o->node = 0;
}

static void computed_member(struct cs_parser *p, struct operand *o)
{
    uint32_t opened = p->tok.start, ctx = p->ctx, mark = p->cands.len;
    cs_next(p);
    struct cs_token first = p->tok;
    p->ctx &= ~(uint32_t)(CTX_NO_IN | CTX_COLON);
    enum cs_ex ex = cs_expr(p);
    p->ctx = ctx;
    p->cands.len = mark;
    uint32_t name = ex == EX_STRING ? p->last_str : (uint32_t)K_NONE;
    if (first.kind == T_NUM && p->prev_end == first.end)
        name = cs_intern(p, cs_strn(p->src + first.start, first.end - first.start));
    o->val = cs_val(p, VAL_MEMBER, o->val, name, name ? 0 : p->node);
    uint32_t key = name ? 0 : p->val;
    cs_close(p, T_RBRACK, opened);
    if (p->tok.kind == T_ASSIGN || p->tok.kind == T_OPASSIGN)
        cs_key(p, o->val, key);
    part(p, o, NODE_INDEX, p->node, opened);
}

static void call(struct cs_parser *p, struct operand *o)
{
    uint32_t at = p->tok.start;
    if (o->ex == EX_REF)
        p->refs.at[p->last_ref].flags |= REF_CALL;
    uint32_t callee = o->val, args;
    if (p->tok.kind == T_LPAREN) {
        args = cs_arguments(p);
    } else {
        uint32_t mark = p->stack.len;
        struct cs_items list = {0};
        cs_template(p);
        cs_item(p, &list, p->val, 0, VAL_SPREAD);
        args = list.first;
        *CS_PUSH(&p->stack) = p->node;
        p->list = cs_node_list(p, mark);
    }
    uint32_t of = p->nodes.at[o->node].a;
    if (p->nodes.at[o->node].kind == NODE_MEMBER && p->nodes.at[o->node].b == K_push &&
        p->nodes.at[of].kind == NODE_REF)
        *CS_PUSH(&p->pushes) = (struct cs_push){
            .ref = p->nodes.at[of].a, .list = p->list, .pos = p->prev_end, .branch = p->branch};
    part(p, o, NODE_CALL, p->list, at);
    o->val = cs_val(p, VAL_CALL, callee, args, o->start);
}

/* One suffix that `new` also takes; false if there is none. */
static bool member_suffix(struct cs_parser *p, struct operand *o)
{
    switch (p->tok.kind) {
    case T_DOT:
        cs_next(p);
        named_member(p, o);
        return true;
    case T_LBRACK:
        computed_member(p, o);
        return true;
    case T_TEMPLATE:
        call(p, o);
        return true;
    case T_BANG:
        if (p->tok.nl)
            return false;
        cs_blank(p, p->tok.start, p->tok.end);
        cs_next(p);
        return true;
    case T_LT:
        return cs_try_type_arguments(p);
    default:
        return false;
    }
}

static void optional_suffix(struct cs_parser *p, struct operand *o)
{
    cs_next(p);
    if (p->tok.kind == T_LT) {
        cs_blank_type_arguments(p);
        if (p->tok.kind != T_LPAREN)
            cs_unexpected(p, "'('");
    }
    if (p->tok.kind == T_LPAREN || p->tok.kind == T_TEMPLATE)
        call(p, o);
    else if (p->tok.kind == T_LBRACK)
        computed_member(p, o);
    else
        named_member(p, o);
}

static void new_expr(struct cs_parser *p)
{
    cs_deeper(p);
    struct operand o = {.ex = EX_OTHER, .start = p->tok.start};
    cs_next(p);
    if (p->tok.kind == T_DOT) {
        cs_next(p);
        if (!cs_is(p, K_target))
            cs_unexpected(p, "'target'");
        cs_next(p);
        p->val = 0;
        p->node = 0;
        p->depth--;
        return;
    }
    if (cs_is(p, K_new))
        new_expr(p);
    else
        o.ex = cs_primary(p);
    o.node = p->node;
    o.val = p->val;
    while (p->tok.kind != T_TEMPLATE && member_suffix(p, &o))
        ;
    if (p->tok.kind == T_TEMPLATE) {
        /* new tag`x`: the tag is called, its result constructed. */
        call(p, &o);
        while (member_suffix(p, &o))
            ;
    }
    uint32_t at = p->tok.start;
    p->list = 0;
    uint32_t args = p->tok.kind == T_LPAREN ? cs_arguments(p) : 0;
    part(p, &o, NODE_NEW, p->list, at);
    p->node = o.node;
    p->val = cs_val(p, VAL_NEW, o.val, args, o.start);
    p->depth--;
}

static enum cs_ex postfix(struct cs_parser *p)
{
    struct operand o = {.ex = EX_OTHER, .start = p->tok.start};
    if (cs_is(p, K_new)) {
        /* new.target and new X() go on with members like anything else. */
        new_expr(p);
    } else {
        o.ex = cs_primary(p);
        if (o.ex == EX_ARROW)
            return EX_ARROW;
    }
    o.node = p->node;
    o.val = p->val;
    for (;;) {
        if (p->tok.kind == T_LPAREN)
            call(p, &o);
        else if (p->tok.kind == T_QDOT)
            optional_suffix(p, &o);
        else if (!member_suffix(p, &o))
            break;
    }
    p->node = o.node;
    if (p->tok.kind == T_INCDEC && !p->tok.nl) {
        if (o.ex == EX_REF)
            p->refs.at[p->last_ref].flags |= REF_WRITE;
        p->nodes.at[p->node].flags |= NODE_WRITTEN;
        p->node = 0;
        cs_next(p);
        o.ex = EX_OTHER;
    }
    p->val = o.val;
    return o.ex;
}

void cs_lhs(struct cs_parser *p)
{
    struct operand o = {.ex = EX_OTHER, .start = p->tok.start};
    if (cs_is(p, K_new)) {
        new_expr(p);
    } else {
        o.ex = cs_primary(p);
    }
    o.node = p->node;
    o.val = p->val;
    for (;;) {
        if (p->tok.kind == T_LPAREN)
            call(p, &o);
        else if (p->tok.kind == T_QDOT)
            optional_suffix(p, &o);
        else if (p->tok.kind == T_LT)
            cs_blank_type_arguments(p);
        else if (!member_suffix(p, &o))
            break;
    }
    p->node = o.node;
}

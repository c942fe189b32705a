/*
 * Types are read to find where they end, and never edited: whoever asked blanks them.
 *
 * What stands inside (), [] and {} is skipped by matching brackets; only what can end a type
 * needs grammar: unions, conditional types, infer, predicates, function types, arguments.
 */
#include "compile/parser.h"

static void type(struct cs_parser *p, bool no_conditional);

/* The bracket that the current token closes, or 0. */
static char closed_by(const struct cs_parser *p)
{
    switch (p->tok.kind) {
    case T_RBRACE:
        return '{';
    case T_RPAREN:
        return '(';
    case T_RBRACK:
        return '[';
    default:
        return 0;
    }
}

static void wrong_bracket(struct cs_parser *p, char open, uint32_t first)
{
    cs_unclosed(p, open == '(' ? "')'" : open == '[' ? "']'" : "'}'", first);
}

/* The open brackets are on a stack; '$' is the "${" of a template, which goes on behind its '}'. */
void cs_skip_balanced(struct cs_parser *p)
{
    char open[CS_COMPILE_DEPTH_MAX];
    uint32_t depth = 0, first = p->tok.start, end;
    do {
        char closes = closed_by(p), top = depth ? open[depth - 1] : 0;
        if (depth == sizeof open)
            cs_limit_error(p, p->tok.start, "brackets are nested too deeply");
        if (p->tok.kind == T_TEMPLATE || (closes == '{' && top == '$')) {
            depth -= closes != 0;
            if (!cs_lex_template(p, p->tok.end, &end))
                open[depth++] = '$';
            cs_lex_start(p, end);
            continue;
        }
        if (p->tok.kind == T_EOF || (closes && top != closes))
            wrong_bracket(p, top, first);
        if (closes)
            depth--;
        else if (p->tok.kind == T_LBRACE || p->tok.kind == T_LPAREN || p->tok.kind == T_LBRACK)
            open[depth++] = p->src[p->tok.start];
        else if (p->tok.kind == T_STR)
            cs_note_text(p);
        cs_next(p);
    } while (depth > 0);
}

/* The current '(' opens the parameters of a function type, not a type in parentheses. */
static bool function_type_ahead(struct cs_parser *p)
{
    struct cs_token save = p->tok;
    uint32_t prev = p->prev_end;
    bool yes = false;
    cs_next(p);
    if (p->tok.kind == T_RPAREN || p->tok.kind == T_ELLIPSIS) {
        yes = true;
    } else if (p->tok.kind == T_NAME || p->tok.kind == T_LBRACE || p->tok.kind == T_LBRACK) {
        if (p->tok.kind == T_NAME)
            cs_next(p);
        else
            cs_skip_balanced(p);
        if (p->tok.kind == T_RPAREN) {
            cs_next(p);
            yes = p->tok.kind == T_ARROW;
        } else {
            yes = p->tok.kind == T_COLON || p->tok.kind == T_COMMA || p->tok.kind == T_QUESTION ||
                  p->tok.kind == T_ASSIGN;
        }
    }
    p->tok = save;
    p->prev_end = prev;
    return yes;
}

void cs_type_parameters(struct cs_parser *p)
{
    cs_expect(p, T_LT, "'<'");
    while (p->tok.kind != T_GT) {
        while (cs_is(p, K_const) || cs_is(p, K_in) || cs_is(p, K_out)) {
            if (cs_is(p, K_out) && cs_peek(p).kind != T_NAME)
                break;
            cs_next(p);
        }
        if (!cs_tok_ident(&p->tok))
            cs_unexpected(p, "a type parameter");
        cs_next(p);
        if (cs_is(p, K_extends)) {
            cs_next(p);
            cs_type(p);
        }
        if (cs_eat(p, T_ASSIGN))
            cs_type(p);
        if (!cs_eat(p, T_COMMA))
            break;
    }
    cs_expect(p, T_GT, "'>'");
}

void cs_type_list(struct cs_parser *p)
{
    do
        cs_type(p);
    while (cs_eat(p, T_COMMA));
}

void cs_type_arguments(struct cs_parser *p)
{
    cs_expect(p, T_LT, "'<'");
    cs_type_list(p);
    cs_expect(p, T_GT, "'>'");
}

static void entity(struct cs_parser *p)
{
    if (p->tok.kind != T_NAME)
        cs_unexpected(p, "a name");
    cs_next(p);
    while (p->tok.kind == T_DOT) {
        cs_next(p);
        if (p->tok.kind != T_NAME && p->tok.kind != T_PRIVATE)
            cs_unexpected(p, "a name");
        cs_next(p);
    }
    if (p->tok.kind == T_LT && !p->tok.nl)
        cs_type_arguments(p);
}

static bool keyword_type(uint32_t atom)
{
    switch (atom) {
    case K_any:
    case K_unknown:
    case K_never:
    case K_number:
    case K_string:
    case K_boolean:
    case K_bigint:
    case K_symbol:
    case K_object:
    case K_undefined:
    case K_void:
    case K_null:
    case K_true:
    case K_false:
    case K_this:
        return true;
    default:
        return false;
    }
}

static void named_type(struct cs_parser *p)
{
    uint32_t atom = p->tok.esc ? (uint32_t)K_NONE : p->tok.atom;
    if (keyword_type(atom)) {
        cs_next(p);
        /* A namespace may be called `object` or `symbol`: then a dot follows. */
        if (p->tok.kind == T_DOT) {
            cs_next(p);
            entity(p);
        }
        return;
    }
    if (atom == K_typeof) {
        cs_next(p);
        atom = p->tok.kind == T_NAME ? p->tok.atom : (uint32_t)K_NONE;
    }
    if (atom == K_import) {
        cs_next(p);
        if (p->tok.kind != T_LPAREN)
            cs_unexpected(p, "'('");
        cs_skip_balanced(p);
        if (cs_eat(p, T_DOT))
            entity(p);
        else if (p->tok.kind == T_LT && !p->tok.nl)
            cs_type_arguments(p);
        return;
    }
    if (p->tok.atom < K_RESERVED_END && atom != K_const && atom != K_this)
        cs_unexpected(p, "a type");
    entity(p);
}

static void primary(struct cs_parser *p)
{
    switch (p->tok.kind) {
    case T_NAME:
        named_type(p);
        break;
    case T_MINUS:
        cs_next(p);
        cs_expect(p, T_NUM, "a number");
        break;
    case T_STR:
        cs_note_text(p);
        cs_next(p);
        break;
    case T_NUM:
        cs_next(p);
        break;
    case T_TEMPLATE:
    case T_LBRACE:
    case T_LBRACK:
    case T_LPAREN:
        cs_skip_balanced(p);
        break;
    default:
        cs_unexpected(p, "a type");
    }
    while (p->tok.kind == T_LBRACK && !p->tok.nl)
        cs_skip_balanced(p);
}

static bool starts_type(const struct cs_token *t)
{
    switch (t->kind) {
    case T_NAME:
        return !cs_tok_is(t, K_extends) && !cs_tok_is(t, K_is) && !cs_tok_is(t, K_as);
    case T_STR:
    case T_NUM:
    case T_MINUS:
    case T_TEMPLATE:
    case T_LBRACE:
    case T_LBRACK:
    case T_LPAREN:
        return true;
    default:
        return false;
    }
}

static bool infer_constraint(struct cs_parser *p, uint32_t no_conditional)
{
    cs_next(p);
    type(p, true);
    return no_conditional || p->tok.kind != T_QUESTION;
}

static void operand(struct cs_parser *p, bool no_conditional)
{
    while (cs_is(p, K_keyof) || cs_is(p, K_unique) || cs_is(p, K_readonly) || cs_is(p, K_infer)) {
        struct cs_token ahead = cs_peek(p);
        if (!starts_type(&ahead) || ahead.nl)
            break;
        bool infers = cs_is(p, K_infer);
        cs_next(p);
        if (infers) {
            cs_next(p);
            if (cs_is(p, K_extends) && !p->tok.nl)
                cs_attempt(p, infer_constraint, no_conditional);
            return;
        }
    }
    primary(p);
}

/* From '(' or '<' on; the return type may be a predicate. */
static void function_type(struct cs_parser *p)
{
    if (p->tok.kind == T_LT)
        cs_type_parameters(p);
    if (p->tok.kind != T_LPAREN)
        cs_unexpected(p, "'('");
    cs_skip_balanced(p);
    cs_expect(p, T_ARROW, "'=>'");
    cs_type_or_predicate(p);
}

static bool function_type_starts(struct cs_parser *p)
{
    if (p->tok.kind == T_LT)
        return true;
    if (p->tok.kind == T_LPAREN)
        return function_type_ahead(p);
    if (cs_is(p, K_abstract)) {
        struct cs_token ahead = cs_peek(p);
        if (cs_tok_is(&ahead, K_new))
            cs_next(p);
    }
    if (!cs_is(p, K_new))
        return false;
    cs_next(p);
    return true;
}

static void union_type(struct cs_parser *p, bool no_conditional)
{
    if (p->tok.kind == T_PIPE || p->tok.kind == T_AMP)
        cs_next(p);
    for (;;) {
        if (function_type_starts(p))
            function_type(p);
        else
            operand(p, no_conditional);
        if (p->tok.kind != T_PIPE && p->tok.kind != T_AMP)
            return;
        cs_next(p);
    }
}

static void type(struct cs_parser *p, bool no_conditional)
{
    cs_deeper(p);
    for (;;) {
        union_type(p, no_conditional);
        /* A predicate in a place that TypeScript would complain about later. */
        if (no_conditional && cs_is(p, K_is) && !p->tok.nl) {
            cs_next(p);
            continue;
        }
        if (no_conditional || !cs_is(p, K_extends) || p->tok.nl)
            break;
        cs_next(p);
        type(p, true);
        cs_expect(p, T_QUESTION, "'?'");
        type(p, false);
        cs_expect(p, T_COLON, "':'");
    }
    p->depth--;
}

void cs_type(struct cs_parser *p)
{
    type(p, false);
}

void cs_type_or_predicate(struct cs_parser *p)
{
    if (cs_is(p, K_asserts)) {
        struct cs_token ahead = cs_peek(p);
        if (ahead.kind == T_NAME && !ahead.nl && !cs_tok_is(&ahead, K_is)) {
            cs_next(p);
            ahead = cs_peek(p);
            if (!cs_tok_is(&ahead, K_is) || ahead.nl) {
                cs_next(p);
                return;
            }
        }
    }
    if (p->tok.kind == T_NAME) {
        struct cs_token ahead = cs_peek(p);
        if (cs_tok_is(&ahead, K_is) && !ahead.nl) {
            cs_next(p);
            cs_next(p);
        }
    }
    cs_type(p);
}

bool cs_type_annotation(struct cs_parser *p)
{
    if (p->tok.kind != T_COLON)
        return false;
    uint32_t start = p->tok.start;
    cs_next(p);
    cs_type(p);
    cs_blank(p, start, p->prev_end);
    return true;
}

void cs_blank_type_arguments(struct cs_parser *p)
{
    uint32_t start = p->tok.start;
    cs_type_arguments(p);
    cs_blank(p, start, p->prev_end);
}

void cs_blank_type_parameters(struct cs_parser *p)
{
    uint32_t start = p->tok.start;
    cs_type_parameters(p);
    cs_blank(p, start, p->prev_end);
}

/* What may follow type arguments in an expression; otherwise '<' was a comparison. */
static bool may_follow(const struct cs_parser *p)
{
    switch (p->tok.kind) {
    case T_LPAREN:
    case T_TEMPLATE:
        return true;
    case T_LT:
    case T_GT:
    case T_PLUS:
    case T_MINUS:
        return false;
    case T_NAME:
        return p->tok.nl || cs_is(p, K_in) || cs_is(p, K_instanceof) || cs_is(p, K_as) ||
               cs_is(p, K_satisfies);
    case T_NUM:
    case T_STR:
    case T_PRIVATE:
    case T_LBRACE:
    case T_LBRACK:
    case T_BANG:
    case T_TILDE:
    case T_INCDEC:
        return p->tok.nl;
    default:
        return true;
    }
}

static bool expression_arguments(struct cs_parser *p, uint32_t start)
{
    cs_next(p);
    cs_type_list(p);
    if (p->tok.kind != T_GT || p->src[p->tok.end] == '>' || p->src[p->tok.end] == '=')
        return false;
    cs_next(p);
    if (!may_follow(p))
        return false;
    cs_blank(p, start, p->prev_end);
    return true;
}

bool cs_try_type_arguments(struct cs_parser *p)
{
    /* "a < 1" and "a <= b" are by far the most common; a type may start with a digit, though. */
    char after = p->src[p->tok.end];
    if (after == '=' || after == '-')
        return false;
    return cs_attempt(p, expression_arguments, p->tok.start);
}

/*
 * Conditions of loops that always hold, as far as constants and counters show: read once more from
 * the text, with intervals for numbers. Whatever is not known makes the whole unknown.
 */
#include <math.h>

#include "compile/parser.h"

#define COND_BYTES 200 /* of a condition that is looked at */
#define COND_DEEP  24

enum sort { UNKNOWN, NUMBER, TRUTH, TEXT, NULLISH, OBJECT };

/* A number is in [low, high]; a truth is low; a text is not empty if low is 1. */
struct value {
    enum sort sort;
    double low, high;
};

struct cond {
    struct cs_parser *p;
    uint32_t end;
    unsigned depth;
    bool bad; /* something that nobody knows */
    bool variable;
};

/* How a variable changes, after it was declared. */
enum { GROWS = 1, SHRINKS = 2, JUMPS = 4 };

struct cs_counters {
    uint8_t *how; /* of each declaration */
};

static struct value number(double low, double high)
{
    return (struct value){.sort = NUMBER, .low = low, .high = high};
}

static struct value truth(bool v)
{
    return (struct value){.sort = TRUTH, .low = v};
}

static struct value unknown(struct cond *c)
{
    c->bad = true;
    return (struct value){0};
}

/* 1: it holds, 0: it does not, -1: that is not known. */
static int holds(struct value v)
{
    switch (v.sort) {
    case NUMBER:
        return v.low > 0 || v.high < 0 ? 1 : v.low == 0 && v.high == 0 ? 0 : isnan(v.low) ? 0 : -1;
    case TRUTH:
    case TEXT:
        return v.low != 0;
    case NULLISH:
        return 0;
    case OBJECT:
        return 1;
    case UNKNOWN:
    default:
        return -1;
    }
}

/* ++ or -- */
static uint8_t steps(const char *s)
{
    return s[0] != s[1] ? 0 : s[0] == '+' ? GROWS : s[0] == '-' ? SHRINKS : 0;
}

/* i++, --i, i += 2: what stands around the name. */
static uint8_t written_how(const struct cs_parser *p, const struct cs_ref *r)
{
    uint32_t before = r->start, after = r->end;
    while (before > 0 && p->src[before - 1] == ' ')
        before--;
    while (p->src[after] == ' ')
        after++;
    const char *s = p->src + after;
    uint8_t how = before > 1 ? steps(p->src + before - 2) : 0;
    how = how ? how : steps(s);
    if (how || (s[0] != '+' && s[0] != '-') || s[1] != '=')
        return how ? how : JUMPS;
    how = s[0] == '+' ? GROWS : SHRINKS;
    for (s += 2; *s == ' ';)
        s++;
    return *s < '1' || *s > '9' ? JUMPS : how;
}

static void count_writes(struct cs_parser *p)
{
    struct cs_counters *c = p->counters = cs_arena_alloc(&p->scratch, sizeof *c);
    c->how = cs_arena_alloc(&p->scratch, p->decls.len + 1);
    for (uint32_t i = 0; i < p->refs.len; i++) {
        const struct cs_ref *r = &p->refs.at[i];
        if (r->decl && (r->flags & REF_WRITE))
            c->how[r->decl - 1] |= r->flags & REF_DEAD ? JUMPS : written_how(p, r);
    }
    for (uint32_t i = VALUE_FIRST; i < p->vals.len; i++) {
        const struct cs_val *v = &p->vals.at[i], *t = &p->vals.at[v->a];
        if (v->kind == VAL_ASSIGN && t->kind == VAL_DECL)
            p->decls.at[t->a].once = v->b;
    }
}

static struct value of_variable(struct cond *c, const struct cs_ref *r);

/* What a constant that is no number was set to. */
static struct value of_once(struct cond *c, uint32_t val)
{
    const struct cs_parser *p = c->p;
    const struct cs_val *v = &p->vals.at[val];
    if (++c->depth > COND_DEEP)
        return unknown(c);
    switch (v->kind) {
    case VAL_TRUE:
    case VAL_FALSE:
        return truth(v->kind == VAL_TRUE);
    case VAL_ARRAY:
    case VAL_OBJECT:
    case VAL_FN:
        return (struct value){.sort = OBJECT};
    case VAL_STR:
        return (struct value){.sort = TEXT, .low = p->names.at[v->a].text.len > 0};
    case VAL_NOT: {
        int h = holds(of_once(c, v->a));
        return h < 0 ? unknown(c) : truth(!h);
    }
    case VAL_REF:
        return of_variable(c, &p->refs.at[v->a]);
    default:
        return unknown(c);
    }
}

static const struct cs_ref *ref_at(const struct cs_parser *p, uint32_t pos)
{
    uint32_t low = 0, high = p->refs.len;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (p->refs.at[middle].start < pos)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->refs.len && p->refs.at[low].start == pos ? &p->refs.at[low] : NULL;
}

static struct value of_variable(struct cond *c, const struct cs_ref *r)
{
    struct cs_parser *p = c->p;
    if (!r->decl || p->decls.at[r->decl - 1].kind != DECL_VALUE)
        return unknown(c);
    if (!p->counters)
        count_writes(p);
    uint8_t how = p->counters->how[r->decl - 1];
    double start;
    c->variable = true;
    if (how & JUMPS || how == (GROWS | SHRINKS))
        return unknown(c);
    if (cs_fold_counter(p, r->decl - 1, &start))
        return number(how == SHRINKS ? -HUGE_VAL : start, how == GROWS ? HUGE_VAL : start);
    uint32_t once = p->decls.at[r->decl - 1].once;
    return how || !once || cs_fold_open(p, r->decl - 1) ? unknown(c) : of_once(c, once);
}

static struct value of_expression(struct cond *c);

static struct value of_name(struct cond *c)
{
    struct cs_parser *p = c->p;
    struct cs_token name = p->tok;
    cs_next(p);
    switch (name.atom) {
    case K_true:
    case K_false:
        return truth(name.atom == K_true);
    case K_null:
        return (struct value){.sort = NULLISH};
    default:
        break;
    }
    const struct cs_ref *r = name.atom > K_RESERVED_END ? ref_at(p, name.start) : NULL;
    if (!r)
        return unknown(c);
    if (r->decl)
        return of_variable(c, r);
    struct cs_str text = p->names.at[r->atom].text;
    if (cs_str_is(text, "Infinity"))
        return number(HUGE_VAL, HUGE_VAL);
    if (cs_str_is(text, "NaN"))
        return number(NAN, NAN);
    if (r->atom == K_undefined)
        return (struct value){.sort = NULLISH};
    return r->atom == K_globalThis ? (struct value){.sort = OBJECT} : unknown(c);
}

/* [] or {} with nothing in it that needs more than counting brackets. */
static bool skip_literal(struct cond *c)
{
    unsigned depth = 0;
    for (uint32_t i = c->p->tok.start; i < c->end; i++) {
        char ch = c->p->src[i];
        if (strchr("\"'`/\\", ch))
            return false;
        depth += ch == '[' || ch == '{';
        depth -= ch == ']' || ch == '}';
        if (depth == 0) {
            cs_lex_start(c->p, i + 1);
            return true;
        }
    }
    return false;
}

/* Members, calls and whatever else may stand behind an operand; types do not count. */
static bool goes_on(struct cond *c)
{
    struct cs_parser *p = c->p;
    while (p->tok.start < c->end && p->tok.kind == T_BANG)
        cs_next(p);
    while (p->tok.start < c->end && (cs_is(p, K_as) || cs_is(p, K_satisfies))) {
        cs_next(p);
        cs_type(p);
    }
    switch (p->tok.start < c->end ? p->tok.kind : (uint8_t)T_EOF) {
    case T_DOT:
    case T_QDOT:
    case T_LPAREN:
    case T_LBRACK:
    case T_TEMPLATE:
    case T_INCDEC:
    case T_ARROW:
    case T_NAME:
        return true;
    default:
        return false;
    }
}

static struct value of_operand(struct cond *c)
{
    struct cs_parser *p = c->p;
    struct value v = {0};
    switch (p->tok.kind) {
    case T_NUM:
        v.low = v.high = strtod(p->src + p->tok.start, NULL);
        v.sort = NUMBER;
        cs_next(p);
        break;
    case T_STR:
        v = (struct value){.sort = TEXT, .low = p->tok.end - p->tok.start > 2};
        cs_next(p);
        break;
    case T_SLASH:
    case T_SLASHEQ:
        cs_lex_regex(p);
        cs_next(p);
        v.sort = OBJECT;
        break;
    case T_LBRACK:
    case T_LBRACE:
        if (!skip_literal(c))
            return unknown(c);
        v.sort = OBJECT;
        break;
    case T_TEMPLATE: {
        uint32_t start = p->tok.start, end;
        if (!cs_lex_template(p, p->tok.end, &end))
            return unknown(c);
        v = (struct value){.sort = TEXT, .low = end - start > 2};
        cs_lex_start(p, end);
        break;
    }
    case T_LPAREN:
        cs_next(p);
        v = of_expression(c);
        while (p->tok.kind == T_COMMA && !c->bad) {
            cs_next(p);
            v = of_expression(c);
        }
        if (p->tok.kind != T_RPAREN)
            return unknown(c);
        cs_next(p);
        break;
    case T_NAME:
        v = of_name(c);
        break;
    default:
        return unknown(c);
    }
    return goes_on(c) ? unknown(c) : v;
}

static struct value of_unary(struct cond *c)
{
    struct cs_parser *p = c->p;
    if (++c->depth > COND_DEEP)
        return unknown(c);
    struct value v;
    uint8_t kind = p->tok.kind;
    if (kind == T_BANG) {
        cs_next(p);
        int h = holds(of_unary(c));
        v = h < 0 ? unknown(c) : truth(!h);
    } else if (kind == T_MINUS || kind == T_PLUS) {
        cs_next(p);
        v = of_unary(c);
        if (v.sort != NUMBER)
            v = unknown(c);
        else if (kind == T_MINUS)
            v = number(-v.high, -v.low);
    } else if (cs_is(p, K_void)) {
        cs_next(p);
        of_unary(c);
        v = (struct value){.sort = NULLISH};
    } else {
        v = of_operand(c);
    }
    c->depth--;
    return v;
}

/* How tightly the current operator binds; 0: the end, -1: it is none that is known. */
/* size: one case for each operator */
static int binds(struct cond *c)
{
    struct cs_parser *p = c->p;
    if (c->bad || p->tok.start >= c->end)
        return 0;
    if (p->tok.kind == T_LT || p->tok.kind == T_GT)
        cs_lex_join(p);
    const char *s = p->src + p->tok.start;
    uint32_t n = p->tok.end - p->tok.start;
    switch (p->tok.kind) {
    case T_PLUS:
    case T_MINUS:
        return 5;
    case T_STAR:
        return 6;
    case T_BINOP:
        if ((s[0] == '<' || s[0] == '>') && (n == 1 || (n == 2 && s[1] == '=')))
            return 4;
        if ((s[0] == '=' || s[0] == '!') && s[1] == '=')
            return 3;
        if (n == 2 && s[0] == s[1] && s[0] == '&')
            return 2;
        return n == 2 && s[0] == s[1] && (s[0] == '|' || s[0] == '?') ? 1 : -1;
    default:
        return -1;
    }
}

static struct value compared(struct cond *c, const char *op, struct value a, struct value b)
{
    bool swap = op[0] == '>', equal = op[1] == '=';
    if (a.sort != NUMBER || b.sort != NUMBER)
        return unknown(c);
    if (isnan(a.low) || isnan(b.low))
        return truth(false);
    if (swap) {
        struct value t = a;
        a = b;
        b = t;
    }
    /* A counter stays below Infinity. */
    bool counts = a.low != a.high && isinf(a.high) && isinf(b.low) && b.low > 0;
    if (a.high < b.low || (equal && a.high <= b.low) || counts)
        return truth(true);
    if (a.low > b.high || (!equal && a.low >= b.high))
        return truth(false);
    return unknown(c);
}

static struct value equal(struct cond *c, const char *op, struct value a, struct value b)
{
    bool negated = op[0] == '!';
    if (a.sort == NULLISH && b.sort == NULLISH && op[2] != '=')
        return truth(!negated);
    if (a.sort == TRUTH && b.sort == TRUTH)
        return truth((a.low == b.low) != negated);
    if (a.sort != NUMBER || b.sort != NUMBER)
        return unknown(c);
    if (isnan(a.low) || isnan(b.low) || a.high < b.low || b.high < a.low)
        return truth(negated);
    return a.low == a.high && b.low == b.high && a.low == b.low ? truth(!negated) : unknown(c);
}

/* size: one case for each operator */
static struct value apply(struct cond *c, const char *op, struct value a, struct value b)
{
    int h = holds(a);
    switch (op[0]) {
    case '+':
        return a.sort == NUMBER && b.sort == NUMBER ? number(a.low + b.low, a.high + b.high)
                                                    : unknown(c);
    case '-':
        return a.sort == NUMBER && b.sort == NUMBER ? number(a.low - b.high, a.high - b.low)
                                                    : unknown(c);
    case '*':
        return a.sort == NUMBER && b.sort == NUMBER && a.low == a.high && b.low == b.high
                   ? number(a.low * b.low, a.low * b.low)
                   : unknown(c);
    case '&':
        return h < 0 ? unknown(c) : h ? b : a;
    case '|':
        return h < 0 ? unknown(c) : h ? a : b;
    case '?':
        return a.sort == NULLISH ? b : a;
    case '=':
    case '!':
        return equal(c, op, a, b);
    default:
        return compared(c, op, a, b);
    }
}

static struct value of_binary(struct cond *c, int least)
{
    struct value v = of_unary(c);
    for (int tight; (tight = binds(c)) != 0;) {
        if (tight < least && tight > 0)
            return v;
        if (tight < 0) {
            uint8_t kind = c->p->tok.kind;
            bool ends =
                kind == T_RPAREN || kind == T_COLON || kind == T_QUESTION || kind == T_COMMA;
            return ends ? v : unknown(c);
        }
        const char *op = c->p->src + c->p->tok.start;
        cs_next(c->p);
        struct value right = of_binary(c, tight + 1);
        v = c->bad ? v : apply(c, op, v, right);
    }
    return v;
}

static struct value of_expression(struct cond *c)
{
    if (++c->depth > COND_DEEP)
        return unknown(c);
    struct value v = of_binary(c, 1);
    if (!c->bad && c->p->tok.kind == T_QUESTION && c->p->tok.start < c->end) {
        int h = holds(v);
        cs_next(c->p);
        struct value yes = of_expression(c);
        if (c->p->tok.kind != T_COLON || h < 0)
            return unknown(c);
        cs_next(c->p);
        struct value no = of_expression(c);
        v = h ? yes : no;
    }
    c->depth--;
    return v;
}

static bool look(struct cs_parser *p, uint32_t index)
{
    struct cs_endless *e = &p->endless.at[index];
    struct cond c = {.p = p, .end = e->to};
    cs_lex_start(p, e->from);
    struct value v = of_expression(&c);
    e->always = !c.bad && p->tok.start >= e->to && holds(v) == 1;
    e->variable = c.variable;
    return true;
}

void cs_look_at_condition(struct cs_parser *p, uint32_t index)
{
    struct cs_endless *e = &p->endless.at[index];
    e->always = e->from == e->to;
    if (e->cond && p->vals.at[e->cond].kind == VAL_FN)
        e->always = true;
    /* It has been read before, so nothing in it is an error; an attempt all the same. */
    if (!e->always && e->to - e->from <= COND_BYTES)
        cs_attempt(p, look, index);
}

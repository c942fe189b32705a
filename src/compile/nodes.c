/* Nodes of expressions, written down while the text is read: nodes.h. */
#include "compile/parser.h"

void cs_nodes_init(struct cs_parser *p)
{
    *CS_PUSH(&p->nodes) = (struct cs_node){0};
    *CS_PUSH(&p->lists) = 0;
    *CS_PUSH(&p->links) = (struct cs_link){0};
}

uint32_t cs_node(struct cs_parser *p, enum cs_node_kind kind, uint32_t a, uint32_t b, uint32_t pos)
{
    if (p->kind == CS_COMPILE_STRIP)
        return 0;
    *CS_PUSH(&p->nodes) = (struct cs_node){
        .kind = (uint8_t)kind, .a = a, .b = b, .pos = pos, .end = p->prev_end, .at = pos};
    return p->nodes.len - 1;
}

uint32_t cs_node_list(struct cs_parser *p, uint32_t mark)
{
    uint32_t count = p->stack.len - mark, list = p->lists.len;
    if (count == 0 || p->kind == CS_COMPILE_STRIP) {
        p->stack.len = mark;
        return 0;
    }
    *CS_PUSH(&p->lists) = count;
    for (uint32_t i = mark; i < p->stack.len; i++)
        *CS_PUSH(&p->lists) = p->stack.at[i];
    p->stack.len = mark;
    return list;
}

uint32_t cs_list_len(const struct cs_parser *p, uint32_t list)
{
    return p->lists.at[list];
}

uint32_t cs_list_at(const struct cs_parser *p, uint32_t list, uint32_t i)
{
    return i < p->lists.at[list] ? p->lists.at[list + 1 + i] : 0;
}

uint32_t cs_node_str(struct cs_parser *p, uint32_t atom, uint32_t pos)
{
    uint32_t node = cs_node(p, NODE_STR, atom, 0, pos);
    p->nodes.at[node].end = p->tok.end;
    p->nodes.at[node].flags = p->letters_escaped ? NODE_ESCAPED : 0;
    return node;
}

uint32_t cs_node_piece(struct cs_parser *p, uint32_t start, uint32_t end)
{
    if (p->kind == CS_COMPILE_STRIP)
        return 0;
    /* A tagged template may have escapes that mean nothing. */
    p->lenient = true;
    uint32_t atom = cs_lex_value(p, start, end);
    p->lenient = false;
    uint32_t node = cs_node_str(p, atom, start);
    p->nodes.at[node].flags |= NODE_INNER;
    return node;
}

void cs_node_inner(struct cs_parser *p, uint32_t node)
{
    struct cs_node *v = &p->nodes.at[node];
    if (v->kind == NODE_STR || v->kind == NODE_ADD || v->kind == NODE_TEMPLATE)
        v->flags |= NODE_INNER;
}

void cs_node_element(struct cs_parser *p, enum cs_ex ex)
{
    if (ex == EX_ASSIGN)
        p->node = cs_node(p, NODE_ASSIGN, p->assigned, p->node, p->nodes.at[p->assigned].pos);
}

void cs_node_key(struct cs_parser *p, uint32_t key)
{
    struct cs_node *v = &p->nodes.at[p->node];
    if (!v->key)
        v->key = key;
}

uint32_t cs_node_property(struct cs_parser *p, uint32_t from, uint32_t atom,
                          const struct cs_token *name)
{
    p->nodes.at[from].flags |= NODE_INNER;
    if (atom == K_NONE && name->kind == T_LBRACK)
        return cs_node(p, NODE_INDEX, from, p->node, name->start);
    return atom == K_NONE ? 0 : cs_node(p, NODE_MEMBER, from, atom, name->start);
}

uint32_t cs_node_either(struct cs_parser *p, uint32_t a, uint32_t b)
{
    return a && b ? cs_node(p, NODE_EITHER, a, b, p->nodes.at[a].pos) : a + b;
}

uint32_t cs_node_hole(struct cs_parser *p, uint8_t flags)
{
    uint32_t node = cs_node(p, NODE_HOLE, 0, 0, p->tok.start);
    p->nodes.at[node].flags = flags;
    return node;
}

uint32_t cs_node_func(struct cs_parser *p, uint32_t first, uint32_t pos)
{
    uint32_t node = cs_node(p, NODE_FUNC, p->func_body, p->func_params, pos);
    p->nodes.at[node].at = first;
    return node;
}

void cs_node_take(struct cs_parser *p, uint32_t target, uint32_t from)
{
    if (target && p->kind != CS_COMPILE_STRIP)
        *CS_PUSH(&p->takes) = (struct cs_take){
            .target = target, .from = from, .pos = p->prev_end, .branch = p->branch};
}

/* x + y + ..., with the name x. */
static bool adds_to(const struct cs_parser *p, uint32_t node, uint32_t atom)
{
    bool adds = p->nodes.at[node].kind == NODE_ADD;
    while (p->nodes.at[node].kind == NODE_ADD)
        node = p->nodes.at[node].a;
    return adds && p->nodes.at[node].kind == NODE_REF &&
           p->refs.at[p->nodes.at[node].a].atom == atom;
}

void cs_node_assigned(struct cs_parser *p, uint32_t target, char op)
{
    struct cs_node to = p->nodes.at[target];
    p->nodes.at[target].flags |= NODE_WRITTEN;
    p->assigned = target;
    if (to.kind == NODE_MEMBER) {
        cs_node_key(p, to.b);
    } else if (to.kind == NODE_REF) {
        cs_node_key(p, p->refs.at[to.a].atom);
        if (op == '+') {
            uint32_t key = p->nodes.at[p->node].key;
            p->node = cs_node(p, NODE_ADD, target, p->node, to.pos);
            p->nodes.at[p->node].flags = NODE_GATHER;
            p->nodes.at[p->node].key = key;
        }
        if (op == '=' && adds_to(p, p->node, p->refs.at[to.a].atom))
            p->nodes.at[p->node].flags |= NODE_GATHER;
        /* ||= and the like may set it. */
        if (op == '=' || op == '+' || op == '|' || op == '&' || op == '?')
            *CS_PUSH(&p->writes) = (struct cs_write){
                .ref = to.a, .node = p->node, .pos = p->prev_end, .branch = p->branch};
    } else if (op == '=' && (to.kind == NODE_OBJECT || to.kind == NODE_ARRAY)) {
        p->nodes.at[p->node].flags |= NODE_BOUND;
        cs_node_take(p, target, p->node);
    }
    if (op != '=' && !(op == '+' && to.kind == NODE_REF))
        p->node = 0;
}

uint32_t cs_node_operator(const struct cs_parser *p)
{
    if (cs_is(p, K_delete) || p->tok.kind == T_INCDEC)
        return NODE_WRITTEN;
    return NODE_COMPARED;
}

/* How tightly an operator binds, against '+'. */
static int tightness(const struct cs_parser *p, const struct cs_token *op)
{
    const char *s = p->src + op->start;
    if (op->kind == T_PLUS)
        return 0;
    if (op->kind == T_STAR || op->kind == T_SLASH || op->kind == T_MINUS ||
        (op->kind == T_BINOP && (s[0] == '%' || s[0] == '*')))
        return 1;
    return -1;
}

/* ||, && and ?? give one of their operands. */
static bool gives_operand(const struct cs_parser *p, const struct cs_token *op)
{
    const char *s = p->src + op->start;
    return op->kind == T_BINOP && s[0] == s[1] && (s[0] == '|' || s[0] == '&' || s[0] == '?');
}

void cs_run_operand(struct cs_parser *p, struct cs_run *run, const struct cs_token *op)
{
    int tight = tightness(p, op);
    if (tight == 0) {
        cs_node_inner(p, run->node);
        cs_node_inner(p, p->node);
        uint32_t pos = run->node ? p->nodes.at[run->node].pos : op->start;
        run->node = cs_node(p, NODE_ADD, run->node, p->node, pos);
    } else if (tight > 0) {
        /* a + b * c: the last operand belongs to this operator. */
        struct cs_node *v = &p->nodes.at[run->node];
        if (v->kind == NODE_ADD && op->kind != T_MINUS) {
            p->nodes.at[v->b].flags &= (uint8_t)~NODE_INNER;
            v->b = 0;
        } else {
            run->node = 0;
        }
    } else if (gives_operand(p, op)) {
        run->other = cs_node_either(p, run->other, run->node);
        run->node = p->node;
    } else {
        p->nodes.at[run->node].flags |= NODE_COMPARED;
        p->nodes.at[p->node].flags |= NODE_COMPARED;
        run->node = p->node;
        run->mixed = true;
    }
}

uint32_t cs_run_end(struct cs_parser *p, struct cs_run *run)
{
    return run->mixed ? 0 : cs_node_either(p, run->other, run->node);
}

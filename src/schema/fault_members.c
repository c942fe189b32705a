/* Members that are missing or too many: mostly one that was called by a wrong name. */
#include "schema/fault.h"
#include "schema/near.h"

/* More are not looked at, nor told. */
#define LISTED     16
#define CANDIDATES 300
#define SHOWN      12

struct unknown {
    struct cs_str name;
    bool explained;
};

struct members {
    struct unknown unknown[LISTED];
    struct cs_str missing[LISTED];
    uint32_t missing_node[LISTED];
    uint32_t unknown_count, missing_count;
};

/* Is it a member that the schema speaks of? */
static bool is_known(struct run *r, const struct op_members *m, struct cs_str name)
{
    const struct cs_name *known = cs_names_find(&m->names, name);
    if (known && m->members[known->value].node != NO_NODE)
        return true;
    for (uint32_t i = 0; i < m->pattern_count; i++)
        if (cs_matcher_run(&r->matcher, m->patterns[i].pattern, name) != 0)
            return true;
    /* Required without a schema of its own: known, unless nothing further is allowed. */
    return known && m->additional != NODE_FALSE;
}

static void find_unknown(struct run *r, struct cs_json_val v, const struct op_members *m,
                         struct members *found)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(v, &it, &key, &item) && found->unknown_count < LISTED && pay(r, 1)) {
        struct cs_str name = cs_run_text(r, key);
        if (!is_known(r, m, name))
            found->unknown[found->unknown_count++] = (struct unknown){name, false};
    }
}

static bool is_given(struct run *r, struct cs_json_val v, struct cs_str name)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(v, &it, &key, &item))
        if (!pay(r, 1) || cs_str_eq(cs_run_text(r, key), name))
            return true;
    return false;
}

static void find_missing(struct run *r, struct cs_json_val v, const struct op_members *m,
                         struct members *found)
{
    for (uint32_t i = 0; i < m->names.count && found->missing_count < LISTED; i++) {
        const struct member *member = &m->members[m->names.all[i].value];
        if (!member->required || is_given(r, v, m->names.all[i].name))
            continue;
        found->missing[found->missing_count] = m->names.all[i].name;
        found->missing_node[found->missing_count++] = member->node;
    }
}

/* The unknown member that was meant to be `name`; NULL: none is like it. */
static struct unknown *meant_for(struct run *r, struct members *found, struct cs_str name)
{
    struct unknown *best = NULL;
    int distance = NEAR_NOT;
    for (uint32_t i = 0; i < found->unknown_count && pay(r, 60); i++) {
        int d = found->unknown[i].explained ? NEAR_NOT : cs_near(found->unknown[i].name, name);
        if (d < distance) {
            distance = d;
            best = &found->unknown[i];
        }
    }
    return best;
}

static void tell_missing(struct run *r, struct members *found, uint32_t i)
{
    struct where here = {r->where, found->missing[i], 0,
                         (uint16_t)(r->where ? r->where->depth + 1 : 1), false};
    CS_AUTO_BUF struct cs_buf m = {0}, what = {0};
    struct unknown *meant = meant_for(r, found, found->missing[i]);
    cs_buf_puts(&m, "is missing");
    uint32_t node = found->missing_node[i];
    if (node != NO_NODE && cs_fault_describe(r, node, &what))
        cs_buf_printf(&m, "; %s is expected", cs_buf_cstr(&what));
    if (meant) {
        meant->explained = true;
        cs_buf_puts(&m, "; you gave ");
        cs_fault_put_name(meant->name, &m);
        cs_buf_puts(&m, ": rename it to ");
        cs_fault_put_name(found->missing[i], &m);
    }
    r->where = &here;
    cs_fault_add(r, "required", meant ? RANK_RENAME : RANK_MISSING, &m);
    r->where = here.up;
}

static void put_known(const struct op_members *m, struct cs_buf *out)
{
    uint32_t shown = 0, all = 0;
    for (uint32_t i = 0; i < m->names.count; i++) {
        if (m->members[m->names.all[i].value].node == NO_NODE)
            continue;
        all++;
        if (shown == SHOWN)
            continue;
        cs_buf_puts(out, shown++ ? ", " : "; there is ");
        cs_fault_put_name(m->names.all[i].name, out);
    }
    if (all > shown)
        cs_buf_printf(out, " and %u more", all - shown);
}

struct nearest {
    struct cs_str name;
    int distance;
};

/* What is there already was not meant by another name. */
static void find_nearest(struct run *r, const struct op_members *m, struct cs_json_val v,
                         struct cs_str unknown, struct nearest *best)
{
    for (uint32_t i = 0; i < m->names.count && i < CANDIDATES && pay(r, 60); i++) {
        const struct cs_name *n = &m->names.all[i];
        if (m->members[n->value].node == NO_NODE)
            continue;
        int d = cs_near(unknown, n->name);
        if (d < best->distance && !is_given(r, v, n->name))
            *best = (struct nearest){n->name, d};
    }
}

/* The same for a node, and for those that it applies to the same value. */
static void find_nearest_in(struct run *r, uint32_t node, struct cs_json_val v,
                            struct cs_str unknown, int hops, struct nearest *best)
{
    const struct node *n = &r->schema->nodes[node];
    for (uint32_t i = 0; i < n->op_count && hops > 0 && pay(r, 1); i++) {
        const struct op *op = &n->ops[i];
        if (op->kind == OP_MEMBERS)
            find_nearest(r, op->data, v, unknown, best);
        if (op->kind == OP_REF)
            find_nearest_in(r, op->node, v, unknown, hops - 1, best);
        const struct op_list *l = op->data;
        bool list = op->kind == OP_ALL || op->kind == OP_ANY || op->kind == OP_ONE;
        for (uint32_t j = 0; list && j < l->count && j < LISTED; j++)
            find_nearest_in(r, l->nodes[j], v, unknown, hops - 1, best);
    }
}

static void put_no(struct cs_str name, struct cs_str nearest, struct cs_buf *out)
{
    cs_buf_puts(out, "there is no ");
    cs_fault_put_name(name, out);
    if (!nearest.at)
        return;
    cs_buf_puts(out, "; did you mean ");
    cs_fault_put_name(nearest, out);
    cs_buf_putc(out, '?');
}

void cs_fault_unevaluated(struct run *r, const struct frame *f, struct cs_str name)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    struct nearest best = {{0}, NEAR_NOT};
    find_nearest_in(r, (uint32_t)(f->node - r->schema->nodes), f->value, name, 4, &best);
    put_no(name, best.name, &text);
    cs_fault_add(r, "unevaluatedProperties", RANK_UNKNOWN, &text);
}

static void tell_unknown(struct run *r, const struct op_members *m, struct cs_json_val v,
                         const struct unknown *u)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    struct nearest best = {{0}, NEAR_NOT};
    find_nearest(r, m, v, u->name, &best);
    put_no(u->name, best.name, &text);
    if (m->names.count == 0)
        cs_buf_puts(&text, m->pattern_count ? "; its name fits no pattern" : "; none is allowed");
    else if (!best.name.at)
        put_known(m, &text);
    cs_fault_add(r, "additionalProperties", RANK_UNKNOWN, &text);
}

void cs_fault_members(struct run *r, struct cs_json_val v, const struct op_members *m)
{
    struct members *found = cs_arena_alloc(&r->scratch, sizeof *found);
    if (!pay(r, 50))
        return;
    if (m->required_count)
        find_missing(r, v, m, found);
    if (found->missing_count || m->additional == NODE_FALSE)
        find_unknown(r, v, m, found);
    for (uint32_t i = 0; i < found->missing_count; i++)
        tell_missing(r, found, i);
    for (uint32_t i = 0; i < found->unknown_count && m->additional == NODE_FALSE; i++)
        if (!found->unknown[i].explained)
            tell_unknown(r, m, v, &found->unknown[i]);
}

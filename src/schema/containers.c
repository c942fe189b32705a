/* Arrays and objects: the operations that go into a value. */
#include "schema/fault.h"
#include "schema/run.h"

static bool run_element(struct run *r, uint32_t node, struct cs_json_val v, uint32_t index)
{
    struct where here = {r->where, {0}, index, r->where ? r->where->depth + 1 : 1, false};
    r->where = &here;
    bool good = cs_run_node(r, node, v, NULL);
    r->where = here.up;
    return good;
}

static bool run_member(struct run *r, uint32_t node, struct cs_json_val v, struct cs_str key,
                       bool optional)
{
    struct where here = {r->where, key, 0, r->where ? r->where->depth + 1 : 1, optional};
    r->where = &here;
    bool good = cs_run_node(r, node, v, NULL);
    r->where = here.up;
    return good;
}

bool cs_op_items(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_items *items = op->data;
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    bool good = true;
    for (uint32_t i = 0; cs_json_next(f->value, &it, NULL, &item); i++) {
        uint32_t node = i < items->first_count ? items->first[i] : items->rest;
        if (node == NO_NODE)
            break;
        if (!run_element(r, node, item, i)) {
            good = false;
            if (!goes_on(r))
                return false;
        }
        seen_mark(f->seen, i);
    }
    return good;
}

bool cs_op_contains(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_contains *c = op->data;
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    uint64_t hits = 0;
    uint32_t unsure = r->unsure;
    struct faults *faults = r->faults;
    r->faults = NULL;
    for (uint32_t i = 0; cs_json_next(f->value, &it, NULL, &item) && !r->stopped; i++) {
        if (!run_element(r, c->node, item, i))
            continue;
        hits++;
        if (c->marks)
            seen_mark(f->seen, i);
        if (!f->seen && hits >= c->min && c->max == UINT64_MAX)
            break;
    }
    r->faults = faults;
    bool good = hits >= c->min && (hits <= c->max || r->unsure != unsure);
    if (!good && goes_on(r))
        cs_fault_contains(r, c, hits);
    return good;
}

/* The patterns that fit this name; false if a value did not fit one of their schemas. */
static bool run_patterns(struct run *r, const struct op_members *m, struct cs_str name,
                         struct cs_json_val item, bool *evaluated)
{
    bool good = true;
    for (uint32_t i = 0; i < m->pattern_count; i++) {
        if (!pay(r, 4))
            return false;
        int hit = cs_matcher_run(&r->matcher, m->patterns[i].pattern, name);
        if (hit < 0) {
            r->stopped = true;
            return false;
        }
        if (!hit)
            continue;
        *evaluated = true;
        good &= run_member(r, m->patterns[i].node, item, name, true);
        if (!good && !goes_on(r))
            return false;
    }
    return good;
}

static bool run_name(struct run *r, const struct op_members *m, struct cs_json_val key,
                     struct cs_str name)
{
    struct faults *faults = r->faults;
    r->faults = NULL;
    bool good = cs_run_node(r, m->property_names, key, NULL);
    r->faults = faults;
    if (!good && goes_on(r))
        cs_fault_name(r, m->property_names, key, name);
    return good;
}

/* Members mostly come in the order of the schema: the one after the last is tried first. */
static const struct cs_name *find_known(const struct op_members *m, struct cs_str name,
                                        uint32_t *guess)
{
    const struct cs_name *known = *guess < m->names.count ? &m->names.all[*guess] : NULL;
    if (!known || !cs_str_eq(known->name, name))
        known = cs_names_find(&m->names, name);
    if (known)
        *guess = (uint32_t)(known - m->names.all) + 1;
    return known;
}

/* One member. *required counts those that had to be there. */
static bool check_member(struct run *r, const struct op_members *m, struct cs_json_val key,
                         struct cs_json_val item, uint32_t *guess, uint32_t *required,
                         bool *evaluated)
{
    struct cs_str name = cs_run_text(r, key);
    const struct cs_name *known = find_known(m, name, guess);
    bool good = true;
    *evaluated = false;
    if (known) {
        const struct member *member = &m->members[known->value];
        *required += member->required;
        if (member->node != NO_NODE) {
            *evaluated = true;
            good = run_member(r, member->node, item, name, !member->required);
        }
    }
    if ((good || goes_on(r)) && m->pattern_count)
        good &= run_patterns(r, m, name, item, evaluated);
    if (!*evaluated && m->additional != NO_NODE) {
        *evaluated = true;
        /* What is simply not allowed is told by cs_fault_members. */
        if (m->additional == NODE_FALSE)
            good = false;
        else
            good &= run_member(r, m->additional, item, name, true);
    }
    if ((good || goes_on(r)) && m->property_names != NO_NODE)
        good &= run_name(r, m, key, name);
    return good;
}

static bool has_member(struct run *r, struct cs_json_val object, struct cs_str name)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(object, &it, &key, &item))
        if (!pay(r, 1) || cs_str_eq(cs_run_text(r, key), name))
            return !r->stopped;
    return false;
}

bool cs_op_members(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_members *m = op->data;
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    uint32_t required = 0, guess = 0;
    bool good = true, evaluated;
    for (uint32_t i = 0; cs_json_next(f->value, &it, &key, &item); i++) {
        bool fits = pay(r, 1) && check_member(r, m, key, item, &guess, &required, &evaluated);
        if (!fits && !goes_on(r))
            return false;
        good &= fits;
        if (evaluated)
            seen_mark(f->seen, i);
    }
    /* A key that is there twice has been counted twice. */
    if (f->value.doc->duplicates && required) {
        required = 0;
        for (uint32_t i = 0; i < m->names.count; i++)
            if (m->members[m->names.all[i].value].required)
                required += has_member(r, f->value, m->names.all[i].name);
    }
    if (required < m->required_count)
        good = false;
    if (!good && goes_on(r))
        cs_fault_members(r, f->value, m);
    return good;
}

bool cs_op_dependent(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_dependent *d = op->data;
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    bool good = true;
    while (cs_json_next(f->value, &it, &key, &item)) {
        struct cs_str name = cs_run_text(r, key);
        const struct cs_name *known = cs_names_find(&d->names, name);
        if (!pay(r, 1))
            return false;
        if (!known)
            continue;
        const struct dependent *wants = &d->all[known->value];
        if (wants->node != NO_NODE && !cs_run_node(r, wants->node, f->value, f->seen)) {
            good = false;
            if (!goes_on(r))
                return false;
        }
        for (uint32_t i = 0; i < wants->name_count; i++) {
            if (has_member(r, f->value, wants->names[i]))
                continue;
            good = false;
            if (!goes_on(r))
                return false;
            cs_fault_dependent(r, d->keyword, name, wants->names[i]);
        }
    }
    return good;
}

bool cs_op_unevaluated(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_unevaluated *u = op->data;
    bool object = f->type == TYPE_OBJECT, good = true;
    uint32_t node = object ? u->properties : u->items;
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    if (node == NO_NODE)
        return true;
    for (uint32_t i = 0; cs_json_next(f->value, &it, &key, &item); i++) {
        if (!pay(r, 1))
            return false;
        if (seen_has(f->seen, i))
            continue;
        bool fits = false;
        if (object && node == NODE_FALSE && goes_on(r))
            cs_fault_unevaluated(r, f, cs_run_text(r, key));
        else if (object)
            fits = run_member(r, node, item, cs_run_text(r, key), true);
        else
            fits = run_element(r, node, item, i);
        if (!fits && !goes_on(r))
            return false;
        good &= fits;
        seen_mark(f->seen, i);
    }
    return good;
}

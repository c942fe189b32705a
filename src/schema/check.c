#include <stdlib.h>

#include "schema/fault.h"
#include "schema/run.h"

/* Of the second run, which looks for faults, on top of what the first needed to find one. */
#define FAULT_STEPS (CS_SCHEMA_STEPS / 5)
#define REGEX_STEPS 500

uint8_t cs_run_type(struct cs_json_val v)
{
    static const uint8_t types[] = {
        [CS_JSON_NULL] = TYPE_NULL,     [CS_JSON_FALSE] = TYPE_BOOLEAN,
        [CS_JSON_TRUE] = TYPE_BOOLEAN,  [CS_JSON_NUMBER] = TYPE_NUMBER,
        [CS_JSON_STRING] = TYPE_STRING, [CS_JSON_ARRAY] = TYPE_ARRAY,
        [CS_JSON_OBJECT] = TYPE_OBJECT,
    };
    return types[cs_json_type(v)];
}

bool cs_run_is_integer(struct run *r, struct cs_json_val number)
{
    struct cs_str raw = cs_json_raw(number);
    bool plain = true;
    for (size_t i = 0; i < raw.len && plain; i++)
        plain = raw.at[i] == '-' || (unsigned char)(raw.at[i] - '0') < 10;
    if (plain)
        return true;
    pay(r, raw.len / 32);
    struct cs_num n = cs_num_read(raw);
    return cs_num_is_integer(&n);
}

struct cs_str cs_run_text(struct run *r, struct cs_json_val v)
{
    struct cs_str s = cs_json_str(v, &r->scratch), text = v.doc->text;
    /* Not a part of the text: a copy without its escapes. */
    if (s.at < text.at || s.at >= text.at + text.len)
        pay(r, 2 + s.len / 8);
    return s;
}

enum cs_hiding cs_run_hiding(struct run *r, struct cs_json_val string)
{
    if (!r->look)
        return CS_HIDES_NOTHING;
    struct cs_str s = cs_run_text(r, string);
    return pay(r, s.len / 32) ? r->look(s) : CS_HIDES_NOTHING;
}

bool cs_run_unsure(struct run *r)
{
    if (!r->unsure++) {
        CS_AUTO_BUF struct cs_buf path = {0};
        cs_fault_path(r->where, &path);
        r->unsure_at = cs_arena_dup(&r->scratch, cs_buf_str(&path));
    }
    return true;
}

static bool op_enum(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_enum *e = op->data;
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    if (e->is_const) {
        if (cs_run_equal(r, f->value, e->values))
            return true;
    } else if (f->type == TYPE_STRING && !f->hiding) {
        if (cs_names_find(&e->strings, cs_run_text(r, f->value)))
            return true;
    } else if (e->has_others || f->hiding) {
        while (cs_json_next(e->values, &it, NULL, &item) && !r->stopped)
            if (cs_run_equal(r, f->value, item))
                return true;
    }
    if (goes_on(r))
        cs_fault_choice(r, e, f->value);
    return false;
}

static bool op_number(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_number *bound = op->data;
    struct cs_str raw = cs_json_raw(f->value);
    if (!pay(r, raw.len / 16))
        return false;
    struct cs_num n = cs_num_read(raw);
    bool good;
    if (op->kind == OP_MULTIPLE) {
        good = cs_num_is_multiple(&n, &bound->n);
    } else {
        int order = cs_num_compare(&n, &bound->n);
        good = op->kind == OP_MINIMUM   ? order >= 0
               : op->kind == OP_MAXIMUM ? order <= 0
               : op->kind == OP_ABOVE   ? order > 0
                                        : order < 0;
    }
    if (!good && goes_on(r))
        cs_fault_number(r, op, f->value);
    return good;
}

static bool op_length(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_range *range = op->data;
    struct cs_str s = cs_run_text(r, f->value);
    /* A character has one to four bytes: often that is all one needs to know. */
    if (s.len <= range->max && s.len / 4 >= range->min)
        return true;
    if (!pay(r, s.len / 32))
        return false;
    uint64_t count = 0;
    for (size_t i = 0; i < s.len; i++)
        count += ((unsigned char)s.at[i] & 0xC0) != 0x80;
    bool good = count >= range->min && count <= range->max;
    if (!good && goes_on(r))
        cs_fault_length(r, range, f->value, count);
    return good;
}

static bool op_pattern(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_pattern *p = op->data;
    if (!pay(r, 4))
        return false;
    int hit = cs_matcher_run(&r->matcher, p->pattern, cs_run_text(r, f->value));
    if (hit < 0)
        r->stopped = true;
    else if (!hit && goes_on(r))
        cs_fault_pattern(r, p, f->value);
    return hit > 0;
}

static bool op_format(struct run *r, const struct frame *f, const struct op *op)
{
    const struct cs_format *format = op->data;
    struct cs_str s = cs_run_text(r, f->value);
    bool compiles = strcmp(format->name, "regex") == 0;
    if (!pay(r, s.len / 8 + (compiles ? REGEX_STEPS + s.len * 8 : 0)))
        return false;
    bool good = format->fits(s);
    if (!good && goes_on(r))
        cs_fault_format(r, format, f->value);
    return good;
}

static bool op_count(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_range *range = op->data;
    uint32_t count = cs_json_count(f->value);
    bool good = count >= range->min && count <= range->max;
    if (!good && goes_on(r))
        cs_fault_count(r, range, f->value);
    return good;
}

static bool op_unique(struct run *r, const struct frame *f, const struct op *op)
{
    (void)op;
    uint32_t first, second;
    bool twice = cs_run_twice(r, f->value, &first, &second);
    if (twice && goes_on(r))
        cs_fault_twice(r, f->value, first, second);
    return !twice && !r->stopped;
}

static bool op_ref(struct run *r, const struct frame *f, const struct op *op)
{
    return cs_run_node(r, op->node, f->value, f->seen);
}

static uint32_t find_dynamic(const struct cs_schema *s, uint32_t resource, uint32_t name)
{
    uint32_t low = 0, high = s->dynamic_count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        const struct dynamic_anchor *d = &s->dynamic[mid];
        if (d->resource == resource && d->name == name)
            return d->node;
        if (d->resource < resource || (d->resource == resource && d->name < name))
            low = mid + 1;
        else
            high = mid;
    }
    return NO_NODE;
}

/* The outermost resource that we came through and that has the anchor decides. */
static bool op_dynamic_ref(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_dynamic *d = op->data;
    uint32_t node = d->node;
    for (const struct scope *s = r->scope; s; s = s->up) {
        uint32_t found = find_dynamic(r->schema, s->resource, d->name);
        if (!pay(r, 1))
            return false;
        if (found != NO_NODE)
            node = found;
    }
    return cs_run_node(r, node, f->value, f->seen);
}

static bool op_all(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_list *l = op->data;
    bool good = true;
    for (uint32_t i = 0; i < l->count; i++) {
        if (cs_run_node(r, l->nodes[i], f->value, f->seen))
            continue;
        good = false;
        if (!goes_on(r))
            return false;
    }
    return good;
}

/* All branches, each with faults of its own. The number that fit; the first two of them. */
static uint32_t try_branches(struct run *r, const struct frame *f, const struct op_list *l,
                             struct faults *branches, uint32_t fits[2])
{
    struct faults *outer = r->faults;
    uint32_t hits = 0;
    for (uint32_t i = 0; i < l->count && !r->stopped; i++) {
        cs_faults_init(r, &branches[i]);
        r->faults = &branches[i];
        if (!pay(r, 4) || !cs_run_apart(r, l->nodes[i], f->value, f->seen))
            continue;
        if (hits < 2)
            fits[hits] = i;
        hits++;
    }
    r->faults = outer;
    return hits;
}

/* anyOf and oneOf, when it is known that something is wrong. */
static bool explain_branches(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_list *l = op->data;
    bool one = op->kind == OP_ONE;
    uint32_t fits[2];
    struct faults *branches = cs_arena_alloc(&r->scratch, l->count * sizeof *branches);
    uint32_t unsure = r->unsure, hits = try_branches(r, f, l, branches, fits);
    if (r->stopped)
        return false;
    if (hits > 1 && r->unsure != unsure)
        return true;
    if (hits == 0)
        cs_fault_branches(r, one ? "oneOf" : "anyOf", branches, l->count, f->value);
    else if (one && hits > 1)
        cs_fault_several(r, fits[0], fits[1]);
    return one ? hits == 1 : hits > 0;
}

static bool op_any(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_list *l = op->data;
    bool good = false;
    if (r->faults)
        return explain_branches(r, f, op);
    /* Whoever asks what was seen wants to hear all branches. */
    for (uint32_t i = 0; i < l->count && !r->stopped && (!good || f->seen); i++)
        good |= cs_run_apart(r, l->nodes[i], f->value, f->seen);
    return good;
}

static bool op_one(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_list *l = op->data;
    uint32_t hits = 0, unsure = r->unsure;
    if (r->faults)
        return explain_branches(r, f, op);
    for (uint32_t i = 0; i < l->count && !r->stopped && hits < 2; i++)
        hits += cs_run_apart(r, l->nodes[i], f->value, f->seen);
    return hits == 1 || (hits > 1 && r->unsure != unsure);
}

static bool op_not(struct run *r, const struct frame *f, const struct op *op)
{
    struct faults *faults = r->faults;
    uint32_t unsure = r->unsure;
    r->faults = NULL;
    bool good = !cs_run_node(r, op->node, f->value, NULL) || r->unsure != unsure;
    good &= !r->stopped;
    r->faults = faults;
    if (!good && goes_on(r))
        cs_fault_not(r, op->node, f->value);
    return good;
}

static bool op_if(struct run *r, const struct frame *f, const struct op *op)
{
    const struct op_if *i = op->data;
    struct faults *faults = r->faults;
    uint32_t unsure = r->unsure;
    r->faults = NULL;
    bool yes = cs_run_apart(r, i->test, f->value, f->seen);
    bool both = yes && r->unsure != unsure;
    if (both && !r->stopped && cs_run_apart(r, i->otherwise, f->value, f->seen)) {
        r->faults = faults;
        return true;
    }
    r->faults = faults;
    return !r->stopped && cs_run_node(r, yes ? i->then : i->otherwise, f->value, f->seen);
}

static const op_check checks[OP_KINDS] = {
    [OP_ENUM] = op_enum,
    [OP_MINIMUM] = op_number,
    [OP_MAXIMUM] = op_number,
    [OP_ABOVE] = op_number,
    [OP_BELOW] = op_number,
    [OP_MULTIPLE] = op_number,
    [OP_LENGTH] = op_length,
    [OP_PATTERN] = op_pattern,
    [OP_FORMAT] = op_format,
    [OP_COUNT] = op_count,
    [OP_UNIQUE] = op_unique,
    [OP_ITEMS] = cs_op_items,
    [OP_CONTAINS] = cs_op_contains,
    [OP_MEMBERS] = cs_op_members,
    [OP_DEPENDENT] = cs_op_dependent,
    [OP_REF] = op_ref,
    [OP_DYNAMIC_REF] = op_dynamic_ref,
    [OP_ALL] = op_all,
    [OP_ANY] = op_any,
    [OP_ONE] = op_one,
    [OP_NOT] = op_not,
    [OP_IF] = op_if,
    [OP_UNEVALUATED] = cs_op_unevaluated,
};

static bool seen_init(struct run *r, struct seen *s, uint32_t count)
{
    *s = (struct seen){.count = count};
    s->bits = &s->few;
    if (count > 64) {
        if (!pay(r, count / 64))
            return false;
        s->bits = cs_arena_alloc(&r->scratch, (count + 63) / 64 * sizeof *s->bits);
    }
    return true;
}

static void seen_merge(struct seen *into, const struct seen *s)
{
    for (uint32_t i = 0; into && i < (s->count + 63) / 64; i++)
        into->bits[i] |= s->bits[i];
}

__attribute__((noinline)) bool cs_run_apart(struct run *r, uint32_t node, struct cs_json_val v,
                                            struct seen *seen)
{
    struct seen mine;
    if (!seen)
        return cs_run_node(r, node, v, NULL);
    if (!seen_init(r, &mine, seen->count) || !cs_run_node(r, node, v, &mine))
        return false;
    seen_merge(seen, &mine);
    return true;
}

static bool run_ops(struct run *r, const struct frame *f)
{
    bool good = true;
    for (uint32_t i = 0; i < f->node->op_count; i++) {
        const struct op *op = &f->node->ops[i];
        if (f->hiding && op->kind != OP_ENUM && op->kind <= OP_FORMAT) {
            if (f->hiding == CS_HIDES_ALL || op->applies & TYPE_STRING)
                cs_run_unsure(r);
            continue;
        }
        if (!(op->applies & f->type) || checks[op->kind](r, f, op))
            continue;
        good = false;
        if (!goes_on(r))
            return false;
    }
    return good;
}

/* A node that asks what its keywords have seen. */
static __attribute__((noinline)) bool run_gathering(struct run *r, struct frame *f)
{
    struct seen mine, *outer = f->seen;
    if (!seen_init(r, &mine, cs_json_count(f->value)))
        return false;
    f->seen = &mine;
    if (!run_ops(r, f))
        return false;
    seen_merge(outer, &mine);
    return true;
}

static __attribute__((noinline)) bool run_in_scope(struct run *r, struct frame *f)
{
    struct scope here = {r->scope, f->node->resource};
    r->scope = &here;
    bool good = f->node->gathers ? run_gathering(r, f) : run_ops(r, f);
    r->scope = here.up;
    return good;
}

static bool type_fits(struct run *r, const struct frame *f)
{
    const uint8_t scalars = TYPE_STRING | TYPE_NUMBER | TYPE_BOOLEAN;
    if (f->hiding != CS_HIDES_ALL)
        return f->node->types & f->type ||
               (f->type == TYPE_NUMBER && f->node->types & TYPE_INTEGER &&
                cs_run_is_integer(r, f->value));
    if ((f->node->types & scalars) == scalars)
        return true;
    return f->node->types & (scalars | TYPE_INTEGER) && cs_run_unsure(r);
}

bool cs_run_node(struct run *r, uint32_t node, struct cs_json_val v, struct seen *seen)
{
    struct frame f = {&r->schema->nodes[node], v, cs_run_type(v), seen, CS_HIDES_NOTHING};
    if (!pay(r, 1))
        return false;
    if (f.type == TYPE_STRING)
        f.hiding = cs_run_hiding(r, v);
    if (r->depth >= RUN_DEPTH) {
        r->stopped = true;
        return false;
    }
    if (!type_fits(r, &f)) {
        if (goes_on(r)) {
            if (node == NODE_FALSE)
                cs_fault_false(r);
            else
                cs_fault_type(r, &f);
        }
        return false;
    }
    if (f.node->op_count == 0)
        return true;
    r->depth++;
    bool good;
    if (r->schema->dynamic_count && (!r->scope || r->scope->resource != f.node->resource))
        good = run_in_scope(r, &f);
    else if (f.node->gathers)
        good = run_gathering(r, &f);
    else
        good = run_ops(r, &f);
    r->depth--;
    return good;
}

/* Two ways through the schema may lead to the same complaint. */
static bool is_told(const struct cs_schema_fault *faults, int count, const struct fault *f)
{
    for (int i = 0; i < count; i++)
        if (cs_str_eq(faults[i].path, f->path) && cs_str_eq(faults[i].message, f->message))
            return true;
    return false;
}

/* The best `max` of them, in the caller's arena. */
static int hand_over(const struct faults *found, struct cs_arena *arena,
                     struct cs_schema_fault *faults, int max)
{
    const struct fault *all[256];
    size_t n = 0;
    int count = 0;
    for (const struct fault *f = found->first; f && n < CS_COUNT(all); f = f->next)
        all[n++] = f;
    /* Insertion keeps those of one rank in the order in which they were found. */
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && all[j - 1]->rank > all[j]->rank; j--) {
            const struct fault *swap = all[j];
            all[j] = all[j - 1];
            all[j - 1] = swap;
        }
    for (size_t i = 0; i < n && count < max; i++)
        if (!is_told(faults, count, all[i]))
            faults[count++] =
                (struct cs_schema_fault){cs_arena_dup(arena, all[i]->path), cs_str(all[i]->keyword),
                                         cs_arena_dup(arena, all[i]->message)};
    if (count == 0)
        faults[count++] = (struct cs_schema_fault){CS_STR(""), CS_STR("schema"),
                                                   CS_STR("does not fit the schema")};
    return count;
}

static void run_done(struct run *r)
{
    cs_matcher_done(&r->matcher);
    cs_arena_done(&r->scratch);
}

int cs_schema_check(const struct cs_schema *schema, struct cs_json_val value,
                    struct cs_arena *arena, struct cs_schema_fault *faults, int max,
                    struct cs_err *err)
{
    return cs_schema_check_hidden(schema, value, NULL, arena, faults, max, err);
}

int cs_schema_check_hidden(const struct cs_schema *schema, struct cs_json_val value,
                           struct cs_schema_hidden *hidden, struct cs_arena *arena,
                           struct cs_schema_fault *faults, int max, struct cs_err *err)
{
    CS_AUTO(run_done) struct run r = {.schema = schema, .steps = CS_SCHEMA_STEPS};
    r.matcher.steps = &r.steps;
    r.look = hidden ? hidden->look : NULL;
    if (!value.doc)
        return cs_fail(err, CS_INVALID, "there is no value to check");
    bool good = cs_run_node(&r, schema->root, value, NULL);
    if (r.stopped)
        return cs_fail(err, CS_LIMIT,
                       r.steps < 0
                           ? "checking the value against its schema takes too long"
                           : "the value is nested too deeply to check, or the references of its "
                             "schema go round in circles");
    if (hidden) {
        hidden->unsure = r.unsure > 0;
        if (hidden->unsure && arena)
            hidden->where = cs_arena_dup(arena, r.unsure_at);
    }
    if (good || max <= 0)
        return good ? 0 : 1;
    struct faults found;
    cs_faults_init(&r, &found);
    r.faults = &found;
    r.steps = CS_SCHEMA_STEPS - r.steps + FAULT_STEPS;
    cs_run_node(&r, schema->root, value, NULL);
    return hand_over(&found, arena, faults, max);
}

/* "must be ..." needs somebody who must; "there is no 'x'" does not. */
static bool needs_subject(struct cs_str message)
{
    static const char *const verbs[] = {"must ", "is ", "does "};
    for (size_t i = 0; i < CS_COUNT(verbs); i++)
        if (cs_str_starts(message, verbs[i]))
            return true;
    return false;
}

void cs_schema_explain(const struct cs_schema_fault *faults, int count, struct cs_buf *out)
{
    for (int i = 0; i < count; i++) {
        cs_buf_puts(out, i ? "; " : "");
        if (faults[i].path.len) {
            cs_buf_putstr(out, faults[i].path);
            cs_buf_puts(out, ": ");
        } else if (needs_subject(faults[i].message)) {
            cs_buf_puts(out, "the value ");
        }
        cs_buf_putstr(out, faults[i].message);
    }
}

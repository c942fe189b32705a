#include "schema/fault.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "schema/near.h"

#define VALUE_CHARS   60
#define NAME_CHARS    60
#define PATH_BYTES    300
#define LIST_BYTES    400
#define DESCRIBE_HOPS 8

static uint16_t depth_of(const struct run *r)
{
    return r->where ? r->where->depth : 0;
}

void cs_faults_init(const struct run *r, struct faults *f)
{
    *f = (struct faults){.end = &f->first, .depth = depth_of(r)};
}

/* At most n characters, and "..." if there are more. A line break, with the space that indents the
 * next line, becomes one space. */
static void put_cut(struct cs_str s, size_t n, struct cs_buf *out)
{
    size_t at = 0;
    bool broken = false;
    while (at < s.len && n > 0) {
        int len = cs_utf8_len(s.at + at, s.len - at);
        size_t bytes = (size_t)(len < 0 ? -len : len);
        bool space = (unsigned char)s.at[at] < 0x20 || (broken && s.at[at] == ' ');
        if (!space)
            cs_buf_put(out, s.at + at, bytes);
        else if (!broken)
            cs_buf_putc(out, ' ');
        n -= !space || !broken;
        broken = space;
        at += bytes;
    }
    if (at < s.len)
        cs_buf_puts(out, "...");
}

void cs_fault_put_value(struct cs_json_val v, struct cs_buf *out)
{
    put_cut(cs_json_raw(v), VALUE_CHARS, out);
}

void cs_fault_put_name(struct cs_str name, struct cs_buf *out)
{
    cs_buf_putc(out, '\'');
    put_cut(name, NAME_CHARS, out);
    cs_buf_putc(out, '\'');
}

static bool is_plain(struct cs_str key)
{
    for (size_t i = 0; i < key.len; i++) {
        char c = key.at[i];
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (!letter && !(c & 0x80) && c != '_' && c != '$' && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return key.len > 0;
}

/* "filter.labels[2]", "headers[\"content-type\"]". */
void cs_fault_path(const struct where *w, struct cs_buf *out)
{
    const struct where *steps[64];
    uint32_t n = 0;
    for (; w && n < CS_COUNT(steps); w = w->up)
        steps[n++] = w;
    if (w)
        cs_buf_puts(out, "...");
    while (n-- > 0 && out->len < PATH_BYTES) {
        w = steps[n];
        if (!w->key.at) {
            cs_buf_printf(out, "[%u]", w->index);
        } else if (is_plain(w->key)) {
            cs_buf_puts(out, out->len ? "." : "");
            put_cut(w->key, NAME_CHARS, out);
        } else {
            cs_buf_puts(out, "[\"");
            put_cut(w->key, NAME_CHARS, out);
            cs_buf_puts(out, "\"]");
        }
    }
}

/* What is wrong with the value as a whole, or with a member that says what it is, weighs more. */
static int64_t weight(const struct faults *all, enum fault_rank rank, uint16_t depth)
{
    if (rank == RANK_TYPE && depth == all->depth)
        return 1000;
    if (rank == RANK_CHOICE && depth <= all->depth + 1)
        return 200;
    return rank == RANK_UNKNOWN ? 30 : rank == RANK_MISSING ? 25 : 20;
}

struct fault *cs_fault_add(struct run *r, const char *keyword, enum fault_rank rank,
                           struct cs_buf *message)
{
    struct faults *all = r->faults;
    uint16_t depth = depth_of(r);
    all->weight += weight(all, rank, depth);
    if (++all->count > FAULTS_KEPT || !pay(r, 20))
        return NULL;
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_fault_path(r->where, &path);
    struct fault *f = cs_arena_alloc(&r->scratch, sizeof *f);
    *f = (struct fault){.path = cs_arena_dup(&r->scratch, cs_buf_str(&path)),
                        .message = cs_arena_dup(&r->scratch, cs_buf_str(message)),
                        .keyword = keyword,
                        .rank = rank,
                        .depth = depth};
    *all->end = f;
    all->end = &f->next;
    return f;
}

static void given(struct cs_json_val v, struct cs_buf *out)
{
    cs_buf_puts(out, "; given ");
    cs_fault_put_value(v, out);
}

/* "a string, an integer or null". */
static void put_types(uint8_t types, struct cs_buf *out)
{
    static const struct {
        uint8_t bit;
        const char *name;
    } names[] = {
        {TYPE_STRING, "a string"},    {TYPE_NUMBER, "a number"},
        {TYPE_INTEGER, "an integer"}, {TYPE_BOOLEAN, "true or false"},
        {TYPE_OBJECT, "an object"},   {TYPE_ARRAY, "an array"},
        {TYPE_NULL, "null"},
    };
    if (types & TYPE_NUMBER)
        types &= (uint8_t)~TYPE_INTEGER;
    int left = __builtin_popcount(types);
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        if (!(types & names[i].bit))
            continue;
        cs_buf_puts(out, names[i].name);
        left--;
        cs_buf_puts(out, left > 1 ? ", " : left == 1 ? " or " : "");
    }
}

/* Is the text of this string a value of one of these types? */
static uint8_t type_inside(struct run *r, struct cs_json_val v, uint8_t types)
{
    struct cs_str s = cs_run_text(r, v);
    CS_AUTO_JSON struct cs_json inside = {0};
    if (s.len > 100000 || !pay(r, s.len / 8) || cs_json_parse(s, NULL, &inside, NULL) < 0)
        return 0;
    uint8_t type = cs_run_type(cs_json_root(&inside));
    if (type == TYPE_NUMBER && cs_run_is_integer(r, cs_json_root(&inside)))
        type |= TYPE_INTEGER;
    return type & types;
}

/* Would it do as an element of the array that is expected? */
static bool is_element(struct run *r, const struct frame *f)
{
    uint32_t node = NO_NODE;
    for (uint32_t i = 0; i < f->node->op_count; i++)
        if (f->node->ops[i].kind == OP_ITEMS)
            node = ((const struct op_items *)f->node->ops[i].data)->rest;
    if (!(f->node->types & TYPE_ARRAY) || node == NO_NODE)
        return false;
    struct faults *faults = r->faults;
    r->faults = NULL;
    bool fits = cs_run_node(r, node, f->value, NULL);
    r->faults = faults;
    return fits;
}

/* What models do wrong most often: a value wrapped into a string, or not wrapped into an array. */
static void put_type_hint(struct run *r, const struct frame *f, struct cs_buf *out)
{
    uint8_t inside = f->type == TYPE_STRING ? type_inside(r, f->value, f->node->types) : 0;
    if (inside & (TYPE_ARRAY | TYPE_OBJECT))
        cs_buf_puts(out, "; give it as JSON itself, not as text in a string");
    else if (inside)
        cs_buf_puts(out, "; write it without quotes");
    else if (f->type == TYPE_NULL && r->where && r->where->optional)
        cs_buf_puts(out, "; leave it out if there is none");
    else if (is_element(r, f))
        cs_buf_puts(out, "; put it into [ ]");
}

void cs_fault_type(struct run *r, const struct frame *f)
{
    CS_AUTO_BUF struct cs_buf m = {0};
    cs_buf_puts(&m, "must be ");
    put_types(f->node->types, &m);
    given(f->value, &m);
    put_type_hint(r, f, &m);
    struct fault *added = cs_fault_add(r, "type", RANK_TYPE, &m);
    if (added)
        added->types = f->node->types;
}

void cs_fault_false(struct run *r)
{
    CS_AUTO_BUF struct cs_buf m = {0};
    cs_buf_puts(&m, "is not allowed here");
    cs_fault_add(r, "false", RANK_UNKNOWN, &m);
}

struct list {
    struct cs_buf *out;
    uint32_t shown, all;
    struct cs_str given; /* a string that was given, or at = NULL */
    struct cs_json_val nearest;
    int distance;
    size_t start;
};

static void list_value(struct run *r, struct list *l, struct cs_json_val v)
{
    pay(r, 1);
    l->all++;
    if (l->out->len - l->start < LIST_BYTES) {
        cs_buf_puts(l->out, l->shown ? ", " : "");
        cs_fault_put_value(v, l->out);
        l->shown++;
    }
    if (!l->given.at || cs_json_type(v) != CS_JSON_STRING || !pay(r, 60))
        return;
    int distance = cs_near(l->given, cs_run_text(r, v));
    if (distance < l->distance) {
        l->distance = distance;
        l->nearest = v;
    }
}

static void list_choices(struct run *r, struct list *l, const struct op_enum *e)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    if (e->is_const) {
        list_value(r, l, e->values);
        return;
    }
    while (cs_json_next(e->values, &it, NULL, &item) && !r->stopped)
        list_value(r, l, item);
}

static struct list list_start(struct run *r, struct cs_json_val v, struct cs_buf *out)
{
    struct list l = {.out = out, .distance = NEAR_NOT, .start = out->len};
    if (cs_json_type(v) == CS_JSON_STRING)
        l.given = cs_run_text(r, v);
    return l;
}

static void list_end(struct list *l, struct cs_json_val v)
{
    if (l->shown < l->all)
        cs_buf_printf(l->out, " and %u more", l->all - l->shown);
    given(v, l->out);
    if (l->nearest.doc) {
        cs_buf_puts(l->out, "; did you mean ");
        cs_fault_put_value(l->nearest, l->out);
        cs_buf_putc(l->out, '?');
    }
}

void cs_fault_choice(struct run *r, const struct op_enum *choices, struct cs_json_val v)
{
    CS_AUTO_BUF struct cs_buf m = {0};
    bool one = choices->is_const || cs_json_count(choices->values) == 1;
    cs_buf_puts(&m, one ? "must be " : "must be one of ");
    struct list l = list_start(r, v, &m);
    list_choices(r, &l, choices);
    if (one)
        l.nearest = (struct cs_json_val){0};
    list_end(&l, v);
    struct fault *added = cs_fault_add(r, choices->is_const ? "const" : "enum", RANK_CHOICE, &m);
    if (added)
        added->choices = choices;
}

void cs_fault_number(struct run *r, const struct op *op, struct cs_json_val v)
{
    static const struct {
        const char *keyword, *text;
    } words[OP_KINDS] = {
        [OP_MINIMUM] = {"minimum", "must be at least"},
        [OP_MAXIMUM] = {"maximum", "must be at most"},
        [OP_ABOVE] = {"exclusiveMinimum", "must be greater than"},
        [OP_BELOW] = {"exclusiveMaximum", "must be less than"},
        [OP_MULTIPLE] = {"multipleOf", "must be a multiple of"},
    };
    const struct op_number *n = op->data;
    CS_AUTO_BUF struct cs_buf m = {0};
    cs_buf_printf(&m, "%s ", words[op->kind].text);
    put_cut(n->raw, VALUE_CHARS, &m);
    given(v, &m);
    cs_fault_add(r, words[op->kind].keyword, RANK_OTHER, &m);
}

/* "must have at least 1 character", "... at most 3 elements", "... exactly 2 members". */
static void put_range(const struct op_range *range, uint64_t count, const char *what,
                      struct cs_buf *out)
{
    bool low = count < range->min;
    uint64_t bound = low ? range->min : range->max;
    const char *how = range->min == range->max ? "exactly" : low ? "at least" : "at most";
    cs_buf_printf(out, "must have %s %" PRIu64 " %s%s", how, bound, what, bound == 1 ? "" : "s");
}

void cs_fault_length(struct run *r, const struct op_range *range, struct cs_json_val v,
                     uint64_t count)
{
    CS_AUTO_BUF struct cs_buf m = {0};
    put_range(range, count, "character", &m);
    cs_buf_printf(&m, "; given %" PRIu64 ": ", count);
    cs_fault_put_value(v, &m);
    cs_fault_add(r, count < range->min ? range->min_keyword : range->max_keyword, RANK_OTHER, &m);
}

void cs_fault_count(struct run *r, const struct op_range *range, struct cs_json_val v)
{
    CS_AUTO_BUF struct cs_buf m = {0};
    uint64_t count = cs_json_count(v);
    put_range(range, count, cs_json_type(v) == CS_JSON_ARRAY ? "element" : "member", &m);
    cs_buf_printf(&m, "; given %" PRIu64, count);
    cs_fault_add(r, count < range->min ? range->min_keyword : range->max_keyword, RANK_OTHER, &m);
}

void cs_fault_pattern(struct run *r, const struct op_pattern *p, struct cs_json_val v)
{
    CS_AUTO_BUF struct cs_buf m = {0};
    cs_buf_puts(&m, "must match the pattern ");
    put_cut(p->source, 200, &m);
    given(v, &m);
    cs_fault_add(r, "pattern", RANK_OTHER, &m);
}

void cs_fault_format(struct run *r, const struct cs_format *format, struct cs_json_val v)
{
    CS_AUTO_BUF struct cs_buf m = {0};
    cs_buf_printf(&m, "must be %s", format->expected);
    given(v, &m);
    cs_fault_add(r, "format", RANK_OTHER, &m);
}

void cs_fault_twice(struct run *r, struct cs_json_val v, uint32_t first, uint32_t second)
{
    CS_AUTO_BUF struct cs_buf m = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val item = {0};
    for (uint32_t i = 0; i <= first; i++)
        cs_json_next(v, &it, NULL, &item);
    cs_buf_printf(&m, "must not have equal elements; [%u] and [%u] are both ", first, second);
    cs_fault_put_value(item, &m);
    cs_fault_add(r, "uniqueItems", RANK_OTHER, &m);
}

void cs_fault_contains(struct run *r, const struct op_contains *c, uint64_t hits)
{
    CS_AUTO_BUF struct cs_buf m = {0}, what = {0};
    bool few = hits < c->min;
    uint64_t bound = few ? c->min : c->max;
    cs_buf_printf(&m, "must have at %s %" PRIu64 " element%s that %s ", few ? "least" : "most",
                  bound, bound == 1 ? "" : "s", bound == 1 ? "is" : "are");
    cs_buf_puts(&m,
                cs_fault_describe(r, c->node, &what) ? cs_buf_cstr(&what) : "as `contains` asks");
    cs_buf_printf(&m, "; given %" PRIu64, hits);
    const char *keyword = !few ? "maxContains" : c->min == 1 ? "contains" : "minContains";
    cs_fault_add(r, keyword, RANK_OTHER, &m);
}

void cs_fault_name(struct run *r, uint32_t node, struct cs_json_val key, struct cs_str name)
{
    /* What is wrong with the name as a value, said about the object. */
    struct faults *faults = r->faults, inner;
    cs_faults_init(r, &inner);
    r->faults = &inner;
    cs_run_node(r, node, key, NULL);
    r->faults = faults;
    CS_AUTO_BUF struct cs_buf m = {0};
    cs_buf_puts(&m, "the name ");
    cs_fault_put_name(name, &m);
    cs_buf_puts(&m, " is not allowed: it ");
    cs_buf_putstr(&m, inner.first ? inner.first->message : CS_STR("does not fit `propertyNames`"));
    cs_fault_add(r, "propertyNames", RANK_UNKNOWN, &m);
}

void cs_fault_dependent(struct run *r, const char *keyword, struct cs_str present,
                        struct cs_str missing)
{
    struct where here = {r->where, missing, 0, (uint16_t)(depth_of(r) + 1), false};
    CS_AUTO_BUF struct cs_buf m = {0};
    cs_buf_puts(&m, "is missing; it is needed because ");
    cs_fault_put_name(present, &m);
    cs_buf_puts(&m, " is given");
    r->where = &here;
    cs_fault_add(r, keyword, RANK_MISSING, &m);
    r->where = here.up;
}

void cs_fault_not(struct run *r, uint32_t node, struct cs_json_val v)
{
    CS_AUTO_BUF struct cs_buf m = {0}, what = {0};
    if (cs_fault_describe(r, node, &what))
        cs_buf_printf(&m, "must not be %s", cs_buf_cstr(&what));
    else
        cs_buf_puts(&m, "must not fit the schema under `not`");
    given(v, &m);
    cs_fault_add(r, "not", RANK_OTHER, &m);
}

void cs_fault_several(struct run *r, uint32_t first, uint32_t second)
{
    CS_AUTO_BUF struct cs_buf m = {0};
    cs_buf_printf(&m, "must fit exactly one of the alternatives; it fits number %u and number %u",
                  first + 1, second + 1);
    cs_fault_add(r, "oneOf", RANK_OTHER, &m);
}

/* The types that a node takes, as far as a look at it tells. */
static uint8_t types_of(struct run *r, uint32_t node, int hops)
{
    const struct node *n = &r->schema->nodes[node];
    uint8_t types = n->types;
    for (uint32_t i = 0; i < n->op_count && hops > 0 && pay(r, 1); i++) {
        const struct op *op = &n->ops[i];
        if (op->kind == OP_REF)
            types &= types_of(r, op->node, hops - 1);
        if (op->kind != OP_ANY && op->kind != OP_ONE)
            continue;
        const struct op_list *l = op->data;
        uint8_t any = 0;
        for (uint32_t j = 0; j < l->count && j < 20; j++)
            any |= types_of(r, l->nodes[j], hops > 3 ? 2 : hops - 1);
        types &= any;
    }
    return types;
}

bool cs_fault_describe(struct run *r, uint32_t node, struct cs_buf *out)
{
    for (int hops = 0; hops < DESCRIBE_HOPS; hops++) {
        const struct node *n = &r->schema->nodes[node];
        uint32_t next = NO_NODE;
        for (uint32_t i = 0; i < n->op_count; i++) {
            const struct op *op = &n->ops[i];
            if (op->kind == OP_ENUM) {
                const struct op_enum *e = op->data;
                struct list l = {.out = out, .distance = NEAR_NOT, .start = out->len};
                bool one = e->is_const || cs_json_count(e->values) == 1;
                cs_buf_puts(out, one ? "" : "one of ");
                list_choices(r, &l, e);
                if (l.shown < l.all)
                    cs_buf_printf(out, " and %u more", l.all - l.shown);
                return true;
            }
            if (op->kind == OP_REF)
                next = op->node;
        }
        uint8_t types = types_of(r, node, 4);
        if (types && types != TYPE_ANY) {
            put_types(types, out);
            return true;
        }
        if (next == NO_NODE)
            return false;
        node = next;
    }
    return false;
}

static const struct fault *first_choice(const struct faults *f)
{
    const struct fault *found = f->first;
    while (found && !found->choices)
        found = found->next;
    return found;
}

static bool is_wrong_type(const struct faults *f)
{
    return f->first && f->first->types && f->first->depth == f->depth;
}

/* The member or element of `v` that this path leads to. */
static struct cs_json_val part_at(struct run *r, struct cs_json_val v, struct cs_str path)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    CS_AUTO_BUF struct cs_buf text = {0};
    for (uint32_t i = 0; cs_json_next(v, &it, &key, &item) && pay(r, 4); i++) {
        struct where here = {.up = r->where, .index = i};
        if (key.doc)
            here.key = cs_run_text(r, key);
        cs_buf_clear(&text);
        cs_fault_path(&here, &text);
        if (cs_str_eq(cs_buf_str(&text), path))
            return item;
    }
    return v;
}

/* All branches that could be meant want one value to be something else: said once. */
static bool join_choices(struct run *r, const struct faults *branches, uint32_t count,
                         struct cs_json_val v)
{
    const struct fault *first = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (is_wrong_type(&branches[i]))
            continue;
        const struct fault *f = first_choice(&branches[i]);
        if (!f || (first && !cs_str_eq(f->path, first->path)))
            return false;
        first = first ? first : f;
        n++;
    }
    if (n < 2 || first->depth > branches[0].depth + 1)
        return false;
    CS_AUTO_BUF struct cs_buf m = {0};
    cs_buf_puts(&m, "must be one of ");
    if (first->depth > branches[0].depth)
        v = part_at(r, v, first->path);
    struct list l = list_start(r, v, &m);
    for (uint32_t i = 0; i < count; i++) {
        const struct fault *f = first_choice(&branches[i]);
        if (f && !is_wrong_type(&branches[i]))
            list_choices(r, &l, f->choices);
    }
    list_end(&l, v);
    struct fault *added = cs_fault_add(r, "enum", RANK_CHOICE, &m);
    if (added) {
        added->path = first->path;
        added->depth = first->depth;
        added->choices = first->choices;
    }
    return true;
}

/* No branch takes values of this type. */
static bool join_types(struct run *r, const struct faults *branches, uint32_t count,
                       struct cs_json_val v)
{
    struct node all = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (!is_wrong_type(&branches[i]))
            return false;
        all.types |= branches[i].first->types;
    }
    cs_fault_type(r, &(struct frame){&all, v, cs_run_type(v), NULL, CS_HIDES_NOTHING});
    return true;
}

void cs_fault_branches(struct run *r, const char *keyword, const struct faults *branches,
                       uint32_t count, struct cs_json_val v)
{
    CS_AUTO_BUF struct cs_buf m = {0};
    const struct faults *best = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (branches[i].first && (!best || branches[i].weight < best->weight))
            best = &branches[i];
    if (!best) {
        cs_buf_puts(&m, "must fit one of the alternatives");
        given(v, &m);
        cs_fault_add(r, keyword, RANK_OTHER, &m);
        return;
    }
    if (join_types(r, branches, count, v) || join_choices(r, branches, count, v))
        return;
    *r->faults->end = best->first;
    while (*r->faults->end)
        r->faults->end = &(*r->faults->end)->next;
    r->faults->count += best->count;
    r->faults->weight += best->weight;
}

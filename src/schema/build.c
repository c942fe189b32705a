/* The keywords, each made into its operation. */
#include <stdlib.h>

#include "schema/compile.h"
#include "schema/uri.h"

static void *new_op(struct compiler *c, size_t size)
{
    return cs_arena_alloc(&c->schema->arena, size);
}

#define NEW_OP(c, type) ((struct type *)new_op((c), sizeof(struct type)))

static int type_bit(struct compiler *c, struct cs_json_val v)
{
    static const struct {
        const char *name;
        int bits;
    } types[] = {
        {"null", TYPE_NULL},       {"boolean", TYPE_BOOLEAN},
        {"integer", TYPE_INTEGER}, {"number", TYPE_NUMBER | TYPE_INTEGER},
        {"string", TYPE_STRING},   {"array", TYPE_ARRAY},
        {"object", TYPE_OBJECT},
    };
    for (size_t i = 0; i < CS_COUNT(types); i++)
        if (cs_json_is(v, types[i].name))
            return types[i].bits;
    return cs_load_fail(&c->loader, v, CS_INVALID,
                        "type must be null, boolean, integer, number, string, array, object, or an "
                        "array of these");
}

static int build_type(struct compiler *c, struct building *b)
{
    struct cs_json_val v = b->k.all[KW_TYPE], item;
    int bits = 0;
    if (!v.doc)
        return 0;
    if (cs_json_type(v) == CS_JSON_ARRAY && cs_json_count(v) > 0) {
        struct cs_json_iter it = {0};
        while (cs_json_next(v, &it, NULL, &item)) {
            int one = type_bit(c, item);
            if (one < 0)
                return -1;
            bits |= one;
        }
    } else {
        bits = type_bit(c, v);
    }
    if (bits < 0)
        return -1;
    b->types = (uint8_t)bits;
    return 0;
}

static int build_enum(struct compiler *c, struct building *b)
{
    struct cs_json_val v = b->k.all[KW_ENUM], item;
    if (b->k.all[KW_CONST].doc) {
        struct op_enum *op = NEW_OP(c, op_enum);
        *op = (struct op_enum){.values = b->k.all[KW_CONST], .is_const = true, .has_others = true};
        cs_compile_op(b, OP_ENUM, TYPE_ANY, op, 0);
    }
    if (!v.doc)
        return 0;
    if (cs_json_type(v) != CS_JSON_ARRAY)
        return cs_load_fail(&c->loader, v, CS_INVALID, "enum must be an array");
    struct op_enum *op = NEW_OP(c, op_enum);
    *op = (struct op_enum){.values = v, .strings.seed = c->schema->seed};
    struct cs_json_iter it = {0};
    for (uint32_t i = 0; cs_json_next(v, &it, NULL, &item); i++) {
        if (cs_json_type(item) == CS_JSON_STRING)
            cs_names_add(&op->strings, &c->schema->arena, cs_json_str(item, &c->schema->arena), i);
        else
            op->has_others = true;
    }
    cs_compile_op(b, OP_ENUM, TYPE_ANY, op, 0);
    return 0;
}

static int add_number(struct compiler *c, struct building *b, enum keyword keyword,
                      enum op_kind kind)
{
    struct cs_json_val v = b->k.all[keyword];
    if (!v.doc)
        return 0;
    if (cs_json_type(v) != CS_JSON_NUMBER)
        return cs_load_fail(&c->loader, v, CS_INVALID, "%s must be a number",
                            cs_keyword_text(keyword));
    struct op_number *op = NEW_OP(c, op_number);
    op->raw = cs_json_raw(v);
    op->n = cs_num_read(op->raw);
    if (kind == OP_MULTIPLE && (op->n.count == 0 || op->n.negative))
        return cs_load_fail(&c->loader, v, CS_INVALID, "multipleOf must be greater than 0");
    cs_compile_op(b, kind, TYPE_NUMBER | TYPE_INTEGER, op, 0);
    return 0;
}

/* In draft 4, exclusiveMinimum: true turned minimum into what exclusiveMinimum is now. */
static enum op_kind bound(struct building *b, enum keyword exclusive, enum op_kind with,
                          enum op_kind without)
{
    enum cs_json_type type = cs_json_type(b->k.all[exclusive]);
    if (type == CS_JSON_TRUE || type == CS_JSON_FALSE)
        b->k.all[exclusive] = (struct cs_json_val){0};
    return type == CS_JSON_TRUE ? with : without;
}

static int build_numbers(struct compiler *c, struct building *b)
{
    enum op_kind low = bound(b, KW_EXCLUSIVE_MINIMUM, OP_ABOVE, OP_MINIMUM);
    enum op_kind high = bound(b, KW_EXCLUSIVE_MAXIMUM, OP_BELOW, OP_MAXIMUM);
    if (add_number(c, b, KW_MINIMUM, low) < 0 || add_number(c, b, KW_MAXIMUM, high) < 0 ||
        add_number(c, b, KW_EXCLUSIVE_MINIMUM, OP_ABOVE) < 0 ||
        add_number(c, b, KW_EXCLUSIVE_MAXIMUM, OP_BELOW) < 0)
        return -1;
    return add_number(c, b, KW_MULTIPLE_OF, OP_MULTIPLE);
}

/* Leaves *count alone if the keyword is not there. */
static int get_count(struct compiler *c, struct building *b, enum keyword keyword, uint64_t *count)
{
    struct cs_json_val v = b->k.all[keyword];
    if (!v.doc)
        return 0;
    struct cs_num n = {.negative = true};
    if (cs_json_type(v) == CS_JSON_NUMBER)
        n = cs_num_read(cs_json_raw(v));
    if (n.negative || !cs_num_is_integer(&n))
        return cs_load_fail(&c->loader, v, CS_INVALID, "%s must be an integer from 0 on",
                            cs_keyword_text(keyword));
    *count = n.is_small ? (uint64_t)n.small : UINT64_MAX;
    return 0;
}

static int add_range(struct compiler *c, struct building *b, enum keyword min, enum keyword max,
                     enum op_kind kind, uint8_t applies)
{
    if (!b->k.all[min].doc && !b->k.all[max].doc)
        return 0;
    struct op_range *op = NEW_OP(c, op_range);
    *op = (struct op_range){0, UINT64_MAX, cs_keyword_text(min), cs_keyword_text(max)};
    if (get_count(c, b, min, &op->min) < 0 || get_count(c, b, max, &op->max) < 0)
        return -1;
    cs_compile_op(b, kind, applies, op, 0);
    return 0;
}

static int build_ranges(struct compiler *c, struct building *b)
{
    if (add_range(c, b, KW_MIN_LENGTH, KW_MAX_LENGTH, OP_LENGTH, TYPE_STRING) < 0)
        return -1;
    if (add_range(c, b, KW_MIN_ITEMS, KW_MAX_ITEMS, OP_COUNT, TYPE_ARRAY) < 0)
        return -1;
    return add_range(c, b, KW_MIN_PROPERTIES, KW_MAX_PROPERTIES, OP_COUNT, TYPE_OBJECT);
}

static int build_strings(struct compiler *c, struct building *b)
{
    struct cs_json_val v = b->k.all[KW_PATTERN], format = b->k.all[KW_FORMAT];
    if (v.doc) {
        if (cs_json_type(v) != CS_JSON_STRING)
            return cs_load_fail(&c->loader, v, CS_INVALID, "pattern must be a string");
        struct op_pattern *op = NEW_OP(c, op_pattern);
        op->source = cs_json_str(v, &c->schema->arena);
        if (cs_compile_pattern(c, v, op->source, &op->pattern) < 0)
            return -1;
        cs_compile_op(b, OP_PATTERN, TYPE_STRING, op, 0);
    }
    bool asserts = (c->options && c->options->assert_format) ||
                   b->dialect.vocabularies & VOCAB_FORMAT_ASSERTION;
    if (!format.doc || !asserts)
        return 0;
    const struct cs_format *known = cs_format_find(cs_json_str(format, &c->schema->arena));
    if (known)
        cs_compile_op(b, OP_FORMAT, TYPE_STRING, known, 0);
    return 0;
}

static int build_items(struct compiler *c, struct building *b)
{
    struct cs_json_val unique = b->k.all[KW_UNIQUE_ITEMS];
    if (unique.doc) {
        bool yes;
        if (!cs_json_bool(unique, &yes))
            return cs_load_fail(&c->loader, unique, CS_INVALID,
                                "uniqueItems must be true or false");
        if (yes)
            cs_compile_op(b, OP_UNIQUE, TYPE_ARRAY, NULL, 0);
    }
    struct cs_json_val first = b->k.all[KW_PREFIX_ITEMS], rest = b->k.all[KW_ITEMS];
    const char *rest_keyword = "items";
    /* The older form, which many still write: an array of schemas, and additionalItems. */
    if (!first.doc && cs_json_type(rest) == CS_JSON_ARRAY) {
        first = rest;
        rest = b->k.all[KW_ADDITIONAL_ITEMS];
        rest_keyword = "additionalItems";
    }
    if (!first.doc && !rest.doc)
        return 0;
    struct op_items *op = NEW_OP(c, op_items);
    *op = (struct op_items){.rest = NO_NODE, .rest_keyword = rest_keyword};
    if (first.doc) {
        struct op_list list;
        if (cs_compile_list(c, first, "prefixItems", &list) < 0)
            return -1;
        op->first = list.nodes;
        op->first_count = list.count;
    }
    if (rest.doc && cs_compile_child(c, rest, &op->rest) < 0)
        return -1;
    cs_compile_op(b, OP_ITEMS, TYPE_ARRAY, op, 0);
    return 0;
}

static int build_contains(struct compiler *c, struct building *b)
{
    struct cs_json_val v = b->k.all[KW_CONTAINS];
    if (!v.doc)
        return 0;
    struct op_contains *op = NEW_OP(c, op_contains);
    *op = (struct op_contains){0, 1, UINT64_MAX, b->dialect.draft == DRAFT_2020};
    if (cs_compile_child(c, v, &op->node) < 0 || get_count(c, b, KW_MIN_CONTAINS, &op->min) < 0 ||
        get_count(c, b, KW_MAX_CONTAINS, &op->max) < 0)
        return -1;
    cs_compile_op(b, OP_CONTAINS, TYPE_ARRAY, op, 0);
    return 0;
}

static int add_properties(struct compiler *c, struct cs_json_val v, struct op_members *op)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    if (v.doc && cs_json_type(v) != CS_JSON_OBJECT)
        return cs_load_fail(&c->loader, v, CS_INVALID, "properties must be an object of schemas");
    while (cs_json_next(v, &it, &key, &item)) {
        uint32_t at = op->names.count;
        cs_names_add(&op->names, &c->schema->arena, cs_json_str(key, &c->schema->arena), at);
        if (cs_compile_child(c, item, &op->members[at].node) < 0)
            return -1;
    }
    return 0;
}

/* Fails unless `v` is an array of strings. */
static int is_name_list(struct compiler *c, struct cs_json_val v, const char *keyword)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    bool good = cs_json_type(v) == CS_JSON_ARRAY;
    while (good && cs_json_next(v, &it, NULL, &item))
        good = cs_json_type(item) == CS_JSON_STRING;
    if (!good)
        return cs_load_fail(&c->loader, v, CS_INVALID, "%s must be an array of strings", keyword);
    return 0;
}

static int add_required(struct compiler *c, struct cs_json_val v, struct op_members *op)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    if (!v.doc)
        return 0;
    if (is_name_list(c, v, "required") < 0)
        return -1;
    while (cs_json_next(v, &it, NULL, &item)) {
        uint32_t before = op->names.count;
        struct cs_str name = cs_json_str(item, &c->schema->arena);
        uint32_t at = cs_names_add(&op->names, &c->schema->arena, name, before)->value;
        if (at == before)
            op->members[at].node = NO_NODE;
        op->required_count += !op->members[at].required;
        op->members[at].required = true;
    }
    return 0;
}

static int add_patterns(struct compiler *c, struct cs_json_val v, struct op_members *op)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    if (!v.doc)
        return 0;
    if (cs_json_type(v) != CS_JSON_OBJECT)
        return cs_load_fail(&c->loader, v, CS_INVALID,
                            "patternProperties must be an object of schemas");
    op->patterns = new_op(c, cs_json_count(v) * sizeof *op->patterns);
    while (cs_json_next(v, &it, &key, &item)) {
        struct op_pattern *p = &op->patterns[op->pattern_count++];
        p->source = cs_json_str(key, &c->schema->arena);
        if (cs_compile_pattern(c, item, p->source, &p->pattern) < 0 ||
            cs_compile_child(c, item, &p->node) < 0)
            return -1;
    }
    return 0;
}

static int build_members(struct compiler *c, struct building *b)
{
    struct cs_json_val properties = b->k.all[KW_PROPERTIES], required = b->k.all[KW_REQUIRED];
    struct cs_json_val patterns = b->k.all[KW_PATTERN_PROPERTIES];
    struct cs_json_val additional = b->k.all[KW_ADDITIONAL_PROPERTIES];
    struct cs_json_val names = b->k.all[KW_PROPERTY_NAMES];
    if (!properties.doc && !required.doc && !patterns.doc && !additional.doc && !names.doc)
        return 0;
    struct op_members *op = NEW_OP(c, op_members);
    *op = (struct op_members){
        .names.seed = c->schema->seed, .additional = NO_NODE, .property_names = NO_NODE};
    uint32_t most = cs_json_count(properties) + cs_json_count(required);
    op->members = new_op(c, most * sizeof *op->members);
    if (add_properties(c, properties, op) < 0 || add_required(c, required, op) < 0 ||
        add_patterns(c, patterns, op) < 0)
        return -1;
    if (additional.doc && cs_compile_child(c, additional, &op->additional) < 0)
        return -1;
    if (names.doc && cs_compile_child(c, names, &op->property_names) < 0)
        return -1;
    cs_compile_op(b, OP_MEMBERS, TYPE_OBJECT, op, 0);
    return 0;
}

static int add_names(struct compiler *c, struct cs_json_val v, struct dependent *d,
                     const char *keyword)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    if (is_name_list(c, v, keyword) < 0)
        return -1;
    d->names = new_op(c, cs_json_count(v) * sizeof *d->names);
    while (cs_json_next(v, &it, NULL, &item))
        d->names[d->name_count++] = cs_json_str(item, &c->schema->arena);
    return 0;
}

static int add_dependent(struct compiler *c, struct building *b, enum keyword keyword)
{
    struct cs_json_val v = b->k.all[keyword], key, item;
    if (!v.doc)
        return 0;
    const char *text = cs_keyword_text(keyword);
    if (cs_json_type(v) != CS_JSON_OBJECT)
        return cs_load_fail(&c->loader, v, CS_INVALID, "%s must be an object", text);
    struct op_dependent *op = NEW_OP(c, op_dependent);
    *op = (struct op_dependent){.names.seed = c->schema->seed,
                                .all = new_op(c, cs_json_count(v) * sizeof *op->all),
                                .keyword = text};
    struct cs_json_iter it = {0};
    while (cs_json_next(v, &it, &key, &item)) {
        struct dependent *d = &op->all[op->names.count];
        d->node = NO_NODE;
        cs_names_add(&op->names, &c->schema->arena, cs_json_str(key, &c->schema->arena),
                     op->names.count);
        bool names = keyword == KW_DEPENDENT_REQUIRED ||
                     (keyword == KW_DEPENDENCIES && cs_json_type(item) == CS_JSON_ARRAY);
        if (names ? add_names(c, item, d, text) < 0 : cs_compile_child(c, item, &d->node) < 0)
            return -1;
    }
    cs_compile_op(b, OP_DEPENDENT, TYPE_OBJECT, op, 0);
    return 0;
}

static int build_dependent(struct compiler *c, struct building *b)
{
    if (add_dependent(c, b, KW_DEPENDENT_REQUIRED) < 0 ||
        add_dependent(c, b, KW_DEPENDENT_SCHEMAS) < 0)
        return -1;
    return add_dependent(c, b, KW_DEPENDENCIES);
}

/* Does a reference that leads to `place` name its $dynamicAnchor, rather than the way to it? */
static bool names_anchor(struct compiler *c, struct cs_str ref, uint32_t place)
{
    uint32_t dynamic = c->loader.places[place].dynamic;
    if (dynamic == NO_NODE)
        return false;
    CS_AUTO_BUF struct cs_buf name = {0};
    cs_uri_decode(cs_uri_cut_fragment(&ref), &name);
    return cs_str_eq(cs_buf_str(&name), c->loader.dynamic_names.all[dynamic].name);
}

static int build_refs(struct compiler *c, struct building *b)
{
    static const enum keyword kinds[] = {KW_REF, KW_DYNAMIC_REF, KW_RECURSIVE_REF};
    for (size_t i = 0; i < CS_COUNT(kinds); i++) {
        struct cs_json_val v = b->k.all[kinds[i]];
        uint32_t place;
        if (!v.doc)
            continue;
        if (cs_json_type(v) != CS_JSON_STRING)
            return cs_load_fail(&c->loader, v, CS_INVALID, "%s must be a string",
                                cs_keyword_text(kinds[i]));
        struct cs_str ref = cs_json_str(v, &c->loader.arena);
        if (cs_load_ref(&c->loader, b->resource, ref, v, &place) < 0)
            return -1;
        uint32_t node = cs_compile_place(c, place);
        if (kinds[i] == KW_REF || !names_anchor(c, ref, place)) {
            cs_compile_op(b, OP_REF, TYPE_ANY, NULL, node);
            continue;
        }
        struct op_dynamic *op = NEW_OP(c, op_dynamic);
        *op = (struct op_dynamic){c->loader.places[place].dynamic, node};
        c->uses_dynamic = true;
        cs_compile_op(b, OP_DYNAMIC_REF, TYPE_ANY, op, 0);
    }
    return 0;
}

static int build_logic(struct compiler *c, struct building *b)
{
    static const struct {
        enum keyword keyword;
        enum op_kind kind;
    } lists[] = {{KW_ALL_OF, OP_ALL}, {KW_ANY_OF, OP_ANY}, {KW_ONE_OF, OP_ONE}};
    for (size_t i = 0; i < CS_COUNT(lists); i++) {
        struct cs_json_val v = b->k.all[lists[i].keyword];
        if (!v.doc)
            continue;
        struct op_list *op = NEW_OP(c, op_list);
        if (cs_compile_list(c, v, cs_keyword_text(lists[i].keyword), op) < 0)
            return -1;
        cs_compile_op(b, lists[i].kind, TYPE_ANY, op, 0);
    }
    uint32_t node;
    if (b->k.all[KW_NOT].doc) {
        if (cs_compile_child(c, b->k.all[KW_NOT], &node) < 0)
            return -1;
        cs_compile_op(b, OP_NOT, TYPE_ANY, NULL, node);
    }
    if (!b->k.all[KW_IF].doc)
        return 0;
    struct op_if *op = NEW_OP(c, op_if);
    *op = (struct op_if){NO_NODE, NODE_TRUE, NODE_TRUE};
    if (cs_compile_child(c, b->k.all[KW_IF], &op->test) < 0)
        return -1;
    if (b->k.all[KW_THEN].doc && cs_compile_child(c, b->k.all[KW_THEN], &op->then) < 0)
        return -1;
    if (b->k.all[KW_ELSE].doc && cs_compile_child(c, b->k.all[KW_ELSE], &op->otherwise) < 0)
        return -1;
    cs_compile_op(b, OP_IF, TYPE_ANY, op, 0);
    return 0;
}

static int build_unevaluated(struct compiler *c, struct building *b)
{
    struct cs_json_val items = b->k.all[KW_UNEVALUATED_ITEMS];
    struct cs_json_val properties = b->k.all[KW_UNEVALUATED_PROPERTIES];
    if (!items.doc && !properties.doc)
        return 0;
    struct op_unevaluated *op = NEW_OP(c, op_unevaluated);
    *op = (struct op_unevaluated){NO_NODE, NO_NODE};
    if (items.doc && cs_compile_child(c, items, &op->items) < 0)
        return -1;
    if (properties.doc && cs_compile_child(c, properties, &op->properties) < 0)
        return -1;
    uint8_t applies = (uint8_t)((items.doc ? TYPE_ARRAY : 0) | (properties.doc ? TYPE_OBJECT : 0));
    cs_compile_op(b, OP_UNEVALUATED, applies, op, 0);
    return 0;
}

const builder cs_compile_builders[] = {
    build_type,  build_enum,        build_numbers, build_ranges,    build_strings,
    build_items, build_contains,    build_members, build_dependent, build_refs,
    build_logic, build_unevaluated, NULL,
};

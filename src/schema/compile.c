/*
 * From documents to nodes. Only what can be reached from the root is compiled, so a definition that
 * nobody uses may be as broken as it likes.
 */
#include "schema/compile.h"

#include <stdlib.h>

#include "base/mem.h"
#include "schema/uri.h"

/* Compiled patterns of one schema. */
#define PATTERN_BYTES (16u << 20)

uint32_t cs_compile_place(struct compiler *c, uint32_t place)
{
    struct place *p = &c->loader.places[place];
    if (p->node != NO_NODE)
        return p->node;
    struct cs_schema *s = c->schema;
    enum cs_json_type type = cs_json_type(p->value);
    if (type != CS_JSON_OBJECT) {
        p->node = type == CS_JSON_TRUE ? NODE_TRUE : NODE_FALSE;
        return p->node;
    }
    if (s->node_count == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 16;
        s->nodes = cs_realloc(s->nodes, c->cap, sizeof *s->nodes);
        c->place_of = cs_realloc(c->place_of, c->cap, sizeof *c->place_of);
    }
    c->place_of[s->node_count] = place;
    s->nodes[s->node_count] = (struct node){.types = TYPE_ANY, .resource = p->resource};
    p->node = s->node_count++;
    return p->node;
}

int cs_compile_child(struct compiler *c, struct cs_json_val v, uint32_t *node)
{
    uint32_t place = cs_load_place(&c->loader, v);
    if (place == NO_NODE)
        return cs_load_fail(&c->loader, v, CS_INVALID,
                            "a schema is expected here: an object, true or false");
    *node = cs_compile_place(c, place);
    return 0;
}

int cs_compile_list(struct compiler *c, struct cs_json_val v, const char *keyword,
                    struct op_list *list)
{
    if (cs_json_type(v) != CS_JSON_ARRAY)
        return cs_load_fail(&c->loader, v, CS_INVALID, "%s must be an array of schemas", keyword);
    *list = (struct op_list){
        cs_arena_alloc(&c->schema->arena, cs_json_count(v) * sizeof *list->nodes), 0};
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(v, &it, NULL, &item))
        if (cs_compile_child(c, item, &list->nodes[list->count++]) < 0)
            return -1;
    return 0;
}

void cs_compile_op(struct building *b, enum op_kind kind, uint8_t applies, const void *data,
                   uint32_t node)
{
    b->ops[b->count++] = (struct op){(uint8_t)kind, applies, data, node};
}

int cs_compile_pattern(struct compiler *c, struct cs_json_val at, struct cs_str source,
                       struct cs_pattern **pattern)
{
    struct cs_schema *s = c->schema;
    const struct cs_name *known = cs_names_find(&c->patterns, source);
    if (known) {
        *pattern = c->pattern_of[known->value];
        return 0;
    }
    struct schema_pattern *p = cs_arena_alloc(&s->arena, sizeof *p);
    struct cs_err why = {0};
    if (cs_pattern_new(source, false, &p->pattern, &why) < 0)
        return cs_load_fail(&c->loader, at, why.code, "%s", why.msg);
    p->next = s->patterns;
    s->patterns = p;
    c->pattern_bytes += p->pattern.size;
    if (c->pattern_bytes > PATTERN_BYTES)
        return cs_load_fail(&c->loader, at, CS_LIMIT, "its patterns need more than %u MB",
                            PATTERN_BYTES >> 20);
    if (c->patterns.count == c->pattern_cap) {
        c->pattern_cap = c->pattern_cap ? c->pattern_cap * 2 : 8;
        c->pattern_of = cs_realloc(c->pattern_of, c->pattern_cap, sizeof(struct cs_pattern *));
    }
    c->pattern_of[c->patterns.count] = &p->pattern;
    cs_names_add(&c->patterns, &s->arena, source, c->patterns.count);
    *pattern = &p->pattern;
    return 0;
}

static int build_node(struct compiler *c, uint32_t node)
{
    struct place *p = &c->loader.places[c->place_of[node]];
    struct building b = {.types = TYPE_ANY,
                         .resource = p->resource,
                         .dialect = c->loader.resources[p->resource].dialect};
    cs_keywords_read(p->value, b.dialect, &b.k);
    for (int i = 0; cs_compile_builders[i]; i++)
        if (cs_compile_builders[i](c, &b) < 0)
            return -1;
    struct node *n = &c->schema->nodes[node];
    n->types = b.types;
    n->ops = cs_arena_alloc(&c->schema->arena, b.count * sizeof *n->ops);
    for (uint32_t i = 0; i < b.count; i++) {
        /* What looks only at types that are refused anyway is never needed. */
        if (!(b.ops[i].applies & b.types))
            continue;
        n->ops[n->op_count++] = b.ops[i];
        n->gathers |= b.ops[i].kind == OP_UNEVALUATED;
    }
    return 0;
}

static int by_resource(const void *a, const void *b)
{
    const struct dynamic_anchor *x = a, *y = b;
    if (x->resource != y->resource)
        return x->resource < y->resource ? -1 : 1;
    return x->name == y->name ? 0 : x->name < y->name ? -1 : 1;
}

/* Any $dynamicAnchor may be the target once there is a $dynamicRef. */
static void want_dynamic(struct compiler *c)
{
    for (uint32_t i = 0; i < c->loader.place_count; i++)
        if (c->loader.places[i].dynamic != NO_NODE)
            cs_compile_place(c, i);
}

static void list_dynamic(struct compiler *c)
{
    struct cs_schema *s = c->schema;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->loader.place_count; i++)
        count += c->loader.places[i].dynamic != NO_NODE;
    s->dynamic = cs_arena_alloc(&s->arena, count * sizeof *s->dynamic);
    for (uint32_t i = 0; i < c->loader.place_count; i++) {
        const struct place *p = &c->loader.places[i];
        if (p->dynamic != NO_NODE)
            s->dynamic[s->dynamic_count++] =
                (struct dynamic_anchor){p->resource, p->dynamic, p->node};
    }
    qsort(s->dynamic, s->dynamic_count, sizeof *s->dynamic, by_resource);
}

static int compile(struct compiler *c, struct cs_str text)
{
    uint32_t place, next = 0;
    if (cs_load_root(&c->loader, text, &place) < 0)
        return -1;
    c->schema->root = cs_compile_place(c, place);
    for (next = c->first; next < c->schema->node_count; next++) {
        if (build_node(c, next) < 0)
            return -1;
        if (next + 1 == c->schema->node_count && c->uses_dynamic)
            want_dynamic(c);
    }
    if (c->uses_dynamic)
        list_dynamic(c);
    return 0;
}

int cs_schema_new(struct cs_str text, const struct cs_schema_options *options,
                  struct cs_schema **schema, struct cs_err *err)
{
    struct cs_err own = {0};
    struct cs_schema *s = CS_NEW(struct cs_schema);
    s->seed = cs_names_seed();
    struct compiler c = {.schema = s,
                         .options = options,
                         .patterns.seed = s->seed,
                         .cap = 16,
                         .loader = {.schema = s, .options = options, .err = err ? err : &own}};
    s->nodes = cs_calloc(c.cap, sizeof *s->nodes);
    c.place_of = cs_calloc(c.cap, sizeof *c.place_of);
    s->nodes[NODE_TRUE] = (struct node){.types = TYPE_ANY};
    s->nodes[NODE_FALSE] = (struct node){.types = 0};
    s->node_count = c.first = 2;
    int status = compile(&c, text);
    cs_load_done(&c.loader);
    free(c.place_of);
    free(c.pattern_of);
    if (status < 0) {
        cs_schema_free(s);
        return -1;
    }
    if (err)
        *err = (struct cs_err){0};
    *schema = s;
    return 0;
}

void cs_schema_free(struct cs_schema *schema)
{
    if (!schema)
        return;
    for (struct schema_pattern *p = schema->patterns; p; p = p->next)
        cs_pattern_free(&p->pattern);
    for (struct schema_doc *d = schema->docs; d; d = d->next)
        cs_json_done(&d->json);
    free(schema->nodes);
    cs_arena_done(&schema->arena);
    free(schema);
}

/* Offers and catalogues in memory. Looking up a tool is two binary searches, however many there
 * are. */
#include "tools/catalogue.h"

#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "base/mem.h"
#include "tools/declare.h"

/* A tool as this directory sees it; others are given a pointer to the first member. */
struct entry {
    struct cs_tool tool;
    struct cs_schema *input, *output;
    bool input_tried, output_tried;
};

struct cs_offer {
    unsigned refs;
    struct cs_arena arena;
    struct cs_str server, ident, instructions;
    struct cs_seen *seen;
    bool listed;
    char hash[CS_HASH_HEX + 1];
    struct entry *tools; /* sorted by name */
    struct entry **by_ident;
    size_t count;
};

struct cs_catalogue {
    unsigned refs;
    uint64_t serial;
    struct cs_offer **offers; /* sorted by server */
    struct cs_offer **by_ident;
    size_t count, tools;
    struct cs_tree tree;
    struct cs_buf globals;
};

static int compare(struct cs_str a, struct cs_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.at, b.at, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* --- offers --- */

static int by_name(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return compare(x->tool.name, y->tool.name);
}

static int by_ident(const void *a, const void *b)
{
    const struct entry *const *x = a, *const *y = b;
    return compare((*x)->tool.ident, (*y)->tool.ident);
}

static bool listed_in(const char *const *patterns, struct cs_str name)
{
    for (; patterns && *patterns; patterns++)
        if (cs_glob(cs_str(*patterns), name))
            return true;
    return false;
}

static bool wanted(const struct cs_server_config *config, struct cs_str name)
{
    const char *const *allow = config->allow, *const *deny = config->deny;
    return !listed_in(deny, name) && (!allow || !*allow || listed_in(allow, name));
}

static bool hint(struct cs_json_val annotations, const char *name, bool otherwise)
{
    bool value = otherwise;
    cs_json_bool(cs_json_get(annotations, name), &value);
    return value;
}

/* A server that nobody vouched for cannot call itself harmless. */
static enum cs_tool_risk risk_of(const struct cs_tool *t, enum cs_trust trust)
{
    if (t->read_only)
        return trust == CS_TRUST_LOW ? CS_TOOL_MEDIUM : CS_TOOL_LOW;
    if (t->destructive)
        return trust == CS_TRUST_HIGH ? CS_TOOL_MEDIUM : CS_TOOL_HIGH;
    return trust == CS_TRUST_LOW ? CS_TOOL_HIGH : CS_TOOL_MEDIUM;
}

/* The hints of a server that says nothing are the worst, as the protocol has it. */
static void read_hints(struct cs_tool *t, struct cs_json_val item, enum cs_trust trust)
{
    struct cs_json_val a = cs_json_get(item, "annotations");
    t->read_only = hint(a, "readOnlyHint", false);
    t->destructive = !t->read_only && hint(a, "destructiveHint", true);
    t->idempotent = t->read_only || hint(a, "idempotentHint", false);
    t->open_world = hint(a, "openWorldHint", true);
    t->annotated = cs_json_count(a) > 0;
    t->owns_up = t->destructive && hint(a, "destructiveHint", false);
    t->trusted = trust != CS_TRUST_LOW;
    t->repeatable = t->idempotent && trust != CS_TRUST_LOW;
    t->risk = risk_of(t, trust);
}

static bool read_tool(struct cs_offer *o, const struct cs_offer_spec *spec, struct cs_json_val item,
                      struct cs_tool *t, struct cs_buf *warnings)
{
    const struct cs_server_config *config = spec->config;
    t->server = o->server;
    t->server_ident = o->ident;
    t->name = cs_json_str(cs_json_get(item, "name"), &o->arena);
    if (t->name.len == 0 || t->name.len > CS_TOOL_NAME_MAX ||
        memchr(t->name.at, '\0', t->name.len)) {
        cs_buf_printf(warnings, "%s: a tool without a usable name was left out\n", config->name);
        return false;
    }
    if (!wanted(config, t->name))
        return false;
    struct cs_json_val input = cs_json_get(item, "inputSchema");
    if (cs_json_type(input) != CS_JSON_OBJECT) {
        cs_buf_printf(warnings, "%s: %.*s has no inputSchema and was left out\n", config->name,
                      CS_STR_ARG(t->name));
        return false;
    }
    struct cs_json_val output = cs_json_get(item, "outputSchema");
    t->title = cs_json_str(cs_json_get(item, "title"), &o->arena);
    t->description = cs_json_str(cs_json_get(item, "description"), &o->arena);
    t->definition = cs_json_raw(item);
    t->input = cs_json_raw(input);
    if (cs_json_type(output) == CS_JSON_OBJECT)
        t->output = cs_json_raw(output);
    t->server_hash = spec->entry_hash;
    t->seen = o->seen;
    t->timeout_ms = config->timeout_ms;
    t->max_result_bytes = config->max_result_bytes;
    read_hints(t, item, config->trust);
    for (size_t i = 0; i < spec->learned_count && !t->output.len; i++)
        if (cs_str_eq(spec->learned[i].tool, t->name)) {
            t->learned = spec->learned[i].count;
            t->learned_output = cs_arena_dup(&o->arena, spec->learned[i].schema);
        }
    return true;
}

static void drop_duplicates(struct cs_offer *o, struct cs_buf *warnings)
{
    size_t kept = 0;
    for (size_t i = 0; i < o->count; i++) {
        if (kept && cs_str_eq(o->tools[kept - 1].tool.name, o->tools[i].tool.name))
            cs_buf_printf(warnings, "%.*s: %.*s is listed twice; the first counts\n",
                          CS_STR_ARG(o->server), CS_STR_ARG(o->tools[i].tool.name));
        else
            o->tools[kept++] = o->tools[i];
    }
    o->count = kept;
}

static void name_tools(struct cs_offer *o)
{
    struct cs_str *names = cs_arena_alloc(&o->arena, sizeof *names * (o->count + 1));
    char(*idents)[CS_IDENT_MAX + 1] = cs_arena_alloc(&o->arena, sizeof *idents * (o->count + 1));
    for (size_t i = 0; i < o->count; i++)
        names[i] = o->tools[i].tool.name;
    cs_idents(names, o->count, idents);
    o->by_ident = cs_arena_alloc(&o->arena, sizeof *o->by_ident * (o->count + 1));
    for (size_t i = 0; i < o->count; i++) {
        o->tools[i].tool.ident = cs_str(idents[i]);
        o->by_ident[i] = &o->tools[i];
    }
    if (o->count)
        qsort(o->by_ident, o->count, sizeof *o->by_ident, by_ident);
}

/* Everything that the files of this offer are made from. */
static void hash_offer(struct cs_offer *o, const struct cs_offer_spec *spec)
{
    CS_AUTO_BUF struct cs_buf rest = {0};
    cs_buf_printf(&rest, "%s %d %d", CS_VERSION, (int)spec->config->trust, (int)o->listed);
    for (size_t i = 0; i < o->count; i++) {
        const struct cs_tool *t = &o->tools[i].tool;
        cs_buf_printf(&rest, "\n%.*s %llu ", CS_STR_ARG(t->name), (unsigned long long)t->learned);
        cs_buf_putstr(&rest, t->learned_output);
    }
    const struct cs_str parts[] = {o->server, o->ident, o->instructions, spec->tools,
                                   cs_buf_str(&rest)};
    cs_hash_hex(parts, CS_COUNT(parts), o->hash);
}

int cs_offer_new(const struct cs_offer_spec *spec, struct cs_offer **offer, struct cs_buf *warnings,
                 struct cs_err *err)
{
    CS_AUTO(cs_offer_unrefp) struct cs_offer *o = CS_NEW(struct cs_offer);
    o->refs = 1;
    o->server = cs_arena_dup(&o->arena, cs_str(spec->config->name));
    o->ident = cs_arena_dup(&o->arena, spec->ident);
    o->instructions = cs_arena_dup(&o->arena, spec->instructions);
    o->listed = spec->tools.len > 0;
    o->seen = cs_seen_ref(spec->seen);
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_val root = {0};
    if (o->listed) {
        struct cs_json_limits limits = {.allow_duplicate = true};
        struct cs_str text = cs_arena_dup(&o->arena, spec->tools);
        if (cs_json_parse(text, &limits, &doc, err) < 0)
            return cs_wrap(err, "%s: tools/list", spec->config->name);
        root = cs_json_root(&doc);
        if (cs_json_type(root) != CS_JSON_ARRAY)
            return cs_fail(err, CS_UPSTREAM, "%s: tools/list: no list", spec->config->name);
    }
    o->tools = cs_arena_alloc(&o->arena, sizeof *o->tools * (cs_json_count(root) + 1));
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (o->listed && cs_json_next(root, &it, NULL, &item))
        if (read_tool(o, spec, item, &o->tools[o->count].tool, warnings))
            o->count++;
        else
            o->tools[o->count] = (struct entry){0};
    if (o->count)
        qsort(o->tools, o->count, sizeof *o->tools, by_name);
    drop_duplicates(o, warnings);
    name_tools(o);
    hash_offer(o, spec);
    *offer = CS_TAKE(o);
    return 0;
}

struct cs_offer *cs_offer_ref(struct cs_offer *o)
{
    o->refs++;
    return o;
}

void cs_offer_unref(struct cs_offer *o)
{
    if (!o || --o->refs > 0)
        return;
    for (size_t i = 0; i < o->count; i++) {
        cs_schema_free(o->tools[i].input);
        cs_schema_free(o->tools[i].output);
    }
    cs_seen_unref(o->seen);
    cs_arena_done(&o->arena);
    free(o);
}

struct cs_str cs_offer_server(const struct cs_offer *o)
{
    return o->server;
}

struct cs_str cs_offer_ident(const struct cs_offer *o)
{
    return o->ident;
}

struct cs_str cs_offer_instructions(const struct cs_offer *o)
{
    return o->instructions;
}

const char *cs_offer_hash(const struct cs_offer *o)
{
    return o->hash;
}

bool cs_offer_listed(const struct cs_offer *o)
{
    return o->listed;
}

size_t cs_offer_count(const struct cs_offer *o)
{
    return o->count;
}

const struct cs_tool *cs_offer_at(const struct cs_offer *o, size_t i)
{
    return &o->tools[i].tool;
}

static const struct cs_tool *find_tool(const struct cs_offer *o, struct cs_str name)
{
    size_t low = 0, high = o->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare(name, o->tools[middle].tool.name);
        if (order == 0)
            return &o->tools[middle].tool;
        *(order < 0 ? &high : &low) = order < 0 ? middle : middle + 1;
    }
    low = 0;
    high = o->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare(name, o->by_ident[middle]->tool.ident);
        if (order == 0)
            return &o->by_ident[middle]->tool;
        *(order < 0 ? &high : &low) = order < 0 ? middle : middle + 1;
    }
    return NULL;
}

/* --- schemas, when they are first wanted --- */

/* An unusable schema is no schema: what the server means with it is the server's business. */
static const struct cs_schema *compiled(struct cs_str text, struct cs_schema **schema, bool *tried)
{
    if (!*tried && text.len) {
        struct cs_err err = {0};
        *tried = true;
        cs_schema_new(text, NULL, schema, &err);
    }
    return *schema;
}

const struct cs_schema *cs_tool_input(const struct cs_tool *tool)
{
    struct entry *e = (struct entry *)tool;
    return compiled(tool->input, &e->input, &e->input_tried);
}

const struct cs_schema *cs_tool_output(const struct cs_tool *tool)
{
    struct entry *e = (struct entry *)tool;
    return compiled(tool->output.len ? tool->output : tool->learned_output, &e->output,
                    &e->output_tried);
}

/* --- catalogues --- */

static int offers_by_server(const void *a, const void *b)
{
    const struct cs_offer *const *x = a, *const *y = b;
    return compare((*x)->server, (*y)->server);
}

static int offers_by_ident(const void *a, const void *b)
{
    const struct cs_offer *const *x = a, *const *y = b;
    return compare((*x)->ident, (*y)->ident);
}

static void write_globals(struct cs_catalogue *c)
{
    struct cs_json_writer w = CS_JSON_WRITER(&c->globals);
    cs_json_open(&w, '[');
    for (size_t i = 0; i < c->count; i++)
        cs_json_put_str(&w, c->offers[i]->ident);
    cs_json_close(&w, ']');
}

int cs_catalogue_new(const char *data_dir, struct cs_offer *const *offers, size_t count,
                     struct cs_catalogue **catalogue, struct cs_err *err)
{
    struct cs_catalogue *c = CS_NEW(struct cs_catalogue);
    static uint64_t made;
    c->refs = 1;
    c->serial = ++made;
    c->tree.dir = -1;
    c->offers = cs_calloc(count + 1, sizeof(struct cs_offer *));
    c->by_ident = cs_calloc(count + 1, sizeof(struct cs_offer *));
    for (; c->count < count; c->count++) {
        c->offers[c->count] = cs_offer_ref(offers[c->count]);
        c->by_ident[c->count] = offers[c->count];
        c->tools += offers[c->count]->count;
    }
    if (count) {
        qsort(c->offers, count, sizeof *c->offers, offers_by_server);
        qsort(c->by_ident, count, sizeof *c->by_ident, offers_by_ident);
    }
    write_globals(c);
    if (cs_tree_open(data_dir, c->offers, count, &c->tree, err) < 0) {
        cs_catalogue_unref(c);
        return -1;
    }
    *catalogue = c;
    return 0;
}

struct cs_catalogue *cs_catalogue_ref(struct cs_catalogue *c)
{
    c->refs++;
    return c;
}

void cs_catalogue_unref(struct cs_catalogue *c)
{
    if (!c || --c->refs > 0)
        return;
    for (size_t i = 0; i < c->count; i++)
        cs_offer_unref(c->offers[i]);
    free(c->offers);
    free(c->by_ident);
    cs_tree_close(&c->tree);
    cs_buf_done(&c->globals);
    free(c);
}

int cs_catalogue_dir(const struct cs_catalogue *c)
{
    return c->tree.dir;
}

const char *cs_catalogue_path(const struct cs_catalogue *c)
{
    return c->tree.path;
}

uint64_t cs_catalogue_serial(const struct cs_catalogue *c)
{
    return c->serial;
}

size_t cs_catalogue_count(const struct cs_catalogue *c)
{
    return c->tools;
}

const struct cs_tool *cs_catalogue_at(const struct cs_catalogue *c, size_t i)
{
    for (size_t o = 0; o < c->count; o++) {
        if (i < c->offers[o]->count)
            return &c->offers[o]->tools[i].tool;
        i -= c->offers[o]->count;
    }
    return NULL;
}

size_t cs_catalogue_servers(const struct cs_catalogue *c)
{
    return c->count;
}

const struct cs_offer *cs_catalogue_offer(const struct cs_catalogue *c, size_t i)
{
    return c->offers[i];
}

const struct cs_offer *cs_catalogue_find_offer(const struct cs_catalogue *c, struct cs_str server)
{
    struct cs_offer key = {.server = server, .ident = server}, *at = &key;
    struct cs_offer **found = NULL;
    if (c->count)
        found = bsearch(&at, c->offers, c->count, sizeof *c->offers, offers_by_server);
    if (!found && c->count)
        found = bsearch(&at, c->by_ident, c->count, sizeof *c->by_ident, offers_by_ident);
    return found ? *found : NULL;
}

const struct cs_tool *cs_catalogue_find(const struct cs_catalogue *c, struct cs_str server,
                                        struct cs_str tool)
{
    const struct cs_offer *o = cs_catalogue_find_offer(c, server);
    return o ? find_tool(o, tool) : NULL;
}

struct cs_str cs_catalogue_server(const struct cs_catalogue *c, struct cs_str server)
{
    const struct cs_offer *o = cs_catalogue_find_offer(c, server);
    return o ? o->server : (struct cs_str){0};
}

bool cs_catalogue_listed(const struct cs_catalogue *c, struct cs_str server)
{
    const struct cs_offer *o = cs_catalogue_find_offer(c, server);
    return o && o->listed;
}

bool cs_catalogue_complete(const struct cs_catalogue *c)
{
    for (size_t i = 0; i < cs_catalogue_servers(c); i++)
        if (!cs_catalogue_offer(c, i)->listed)
            return false;
    return true;
}

struct cs_str cs_catalogue_globals(const struct cs_catalogue *c)
{
    return cs_buf_str(&c->globals);
}

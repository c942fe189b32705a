/* Calls that folding knows, of functions, JSON, and what objects hold. */
#include "base/json.h"
#include "compile/fold.h"

#define MAP_MOST  512 /* elements that a function is applied to */
#define JSON_MOST (64u << 10)
#define ARGS_MOST 8

static const struct cs_folded nothing;

struct cs_folded cs_fold_own(struct cs_parser *p, uint32_t node, uint32_t func)
{
    struct cs_node n = p->nodes.at[node], fn = p->nodes.at[func];
    struct cs_folded args[ARGS_MOST];
    uint32_t count = cs_list_len(p, n.b);
    bool known = false;
    /* (function () { return this })() */
    if (p->nodes.at[fn.a].kind == NODE_THIS && p->nodes.at[n.a].kind != NODE_MEMBER &&
        p->nodes.at[n.a].kind != NODE_INDEX)
        return cs_fold_root(p, ROOT_FREE, K_globalThis);
    count = count < ARGS_MOST ? count : ARGS_MOST;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t arg = cs_list_at(p, n.b, i);
        args[i] = arg & CS_SPREAD ? nothing : cs_fold_node(p, arg);
        known |= args[i].sort != FOLD_NONE;
        if (args[i].sort == FOLD_TEXT && args[i].len > CS_GATHER_TEXT)
            return nothing;
    }
    return cs_fold_apply(p, func, args, known ? count : 0);
}

/* One element, through a function that the program has or one that everybody has. */
static struct cs_folded through(struct cs_parser *p, struct cs_folded fn, struct cs_folded v)
{
    if (fn.sort == FOLD_FUNC)
        return cs_fold_apply(p, fn.node, &v, 1);
    if (cs_chain_is(p, fn.link, "String"))
        return v;
    bool codes = cs_chain_is(p, fn.link, "String.fromCharCode") ||
                 cs_chain_is(p, fn.link, "String.fromCodePoint");
    return codes ? cs_fold_codes(p, &v, 1) : nothing;
}

struct cs_folded cs_fold_mapped(const struct cs_call *c)
{
    struct cs_folded v = c->object, fn = cs_call_arg(c, 0);
    if (!cs_is_list(v) || v.len > MAP_MOST || (fn.sort != FOLD_FUNC && fn.sort != FOLD_CHAIN) ||
        !cs_fold_steps(c->p, v.len))
        return nothing;
    struct cs_folded *list = cs_arena_alloc(&c->p->scratch, (v.len + 1) * sizeof *list);
    for (uint32_t i = 0; i < v.len; i++) {
        list[i] = through(c->p, fn, v.list[i]);
        if (list[i].sort == FOLD_NONE)
            return nothing;
    }
    v.list = list;
    return v;
}

struct cs_folded cs_fold_reduced(const struct cs_call *c)
{
    struct cs_folded v = c->object, fn = cs_call_arg(c, 0), pair[2];
    bool first = cs_list_len(c->p, c->list) > 1;
    if (!cs_is_list(v) || v.len > MAP_MOST || v.len == 0 || fn.sort != FOLD_FUNC)
        return nothing;
    pair[0] = first ? cs_call_arg(c, 1) : v.list[0];
    for (uint32_t i = first ? 0 : 1; i < v.len && pair[0].sort != FOLD_NONE; i++) {
        pair[1] = v.list[i];
        pair[0] = cs_fold_apply(c->p, fn.node, pair, 2);
    }
    return pair[0];
}

/* [a].concat([b], c) */
struct cs_folded cs_fold_lists(const struct cs_call *c)
{
    struct cs_folded v = c->object;
    uint32_t n = cs_list_len(c->p, c->list), len = v.len;
    for (uint32_t i = 0; i < n; i++) {
        struct cs_folded a = cs_call_arg(c, i);
        if (a.sort == FOLD_LIST && a.partial)
            return nothing;
        len += a.sort == FOLD_LIST ? a.len : 1;
    }
    if (!cs_is_list(v) || !cs_fold_steps(c->p, len))
        return nothing;
    struct cs_folded *list = cs_arena_alloc(&c->p->scratch, (len + 1) * sizeof *list);
    uint32_t at = v.len;
    if (v.len)
        memcpy(list, v.list, v.len * sizeof *list);
    for (uint32_t i = 0; i < n; i++) {
        struct cs_folded a = cs_call_arg(c, i);
        if (a.sort != FOLD_LIST)
            list[at++] = a;
        else if (a.len)
            memcpy(list + at, a.list, a.len * sizeof *list);
        at += a.sort == FOLD_LIST ? a.len : 0;
    }
    v.list = list;
    v.len = at;
    return v;
}

/* ---- what objects hold ---- */

static struct cs_folded of_json(struct cs_parser *p, struct cs_json_val v, unsigned deep)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    struct cs_folded out = {0};
    enum cs_json_type type = cs_json_type(v);
    uint32_t n = cs_json_count(v), i = 0;
    if (type == CS_JSON_STRING) {
        struct cs_str s = cs_json_str(v, &p->scratch);
        bool escaped = memchr(cs_json_raw(v).at, '\\', cs_json_raw(v).len) != NULL;
        return cs_fold_text(s.at, s.len, escaped ? VIA_ESCAPE : VIA_PLAIN, false);
    }
    if (type == CS_JSON_NUMBER) {
        out.sort = cs_json_f64(v, &out.number) ? FOLD_NUMBER : FOLD_NONE;
        return out;
    }
    bool object = type == CS_JSON_OBJECT;
    if ((!object && type != CS_JSON_ARRAY) || deep == 0 || !cs_fold_steps(p, n))
        return out;
    struct cs_folded *list = cs_arena_alloc(&p->scratch, (2 * (size_t)n + 1) * sizeof *list);
    while (cs_json_next(v, &it, &key, &item)) {
        if (object) {
            struct cs_str s = cs_json_str(key, &p->scratch);
            list[i++] = cs_fold_text(s.at, s.len, VIA_PLAIN, false);
        }
        list[i++] = of_json(p, item, deep - 1);
    }
    out.sort = object ? FOLD_DICT : FOLD_LIST;
    out.len = i;
    out.list = list;
    return out;
}

struct cs_folded cs_fold_json(const struct cs_call *c)
{
    struct cs_folded v = cs_call_arg(c, 0);
    static const struct cs_json_limits limits = {.depth = 12, .allow_duplicate = true};
    struct cs_json doc = {0};
    struct cs_err err = {0};
    if (!cs_is_text(v) || v.len > JSON_MOST || cs_list_len(c->p, c->list) != 1 ||
        !cs_fold_steps(c->p, v.len))
        return nothing;
    if (cs_json_parse(cs_strn(v.text, v.len), &limits, &doc, &err) < 0)
        return nothing;
    struct cs_folded out = of_json(c->p, cs_json_root(&doc), 12);
    cs_json_done(&doc);
    return out;
}

/* new Map([['a', x], ...]) */
struct cs_folded cs_fold_map(const struct cs_call *c)
{
    struct cs_folded v = cs_call_arg(c, 0);
    if (!cs_is_list(v) || !cs_fold_steps(c->p, v.len))
        return nothing;
    struct cs_folded *list = cs_arena_alloc(&c->p->scratch, (2 * v.len + 1) * sizeof *list);
    for (uint32_t i = 0; i < v.len; i++) {
        struct cs_folded pair = v.list[i];
        if (!cs_is_list(pair) || pair.len != 2 || !cs_is_text(pair.list[0]))
            return nothing;
        list[2 * i] = pair.list[0];
        list[2 * i + 1] = pair.list[1];
    }
    return (struct cs_folded){.sort = FOLD_DICT, .len = 2 * v.len, .list = list};
}

/* The keys or values of what an object holds. */
static struct cs_folded parts(const struct cs_call *c, bool values)
{
    struct cs_parser *p = c->p;
    struct cs_folded v = cs_call_arg(c, 0);
    uint32_t nodes = v.sort == FOLD_OBJECT ? p->nodes.at[v.node].b : 0;
    uint32_t n = v.sort == FOLD_DICT ? v.len : cs_list_len(p, nodes);
    if ((v.sort != FOLD_DICT && v.sort != FOLD_OBJECT) || v.partial || !cs_fold_steps(p, n))
        return nothing;
    struct cs_folded *list = cs_arena_alloc(&p->scratch, (n / 2 + 1) * sizeof *list);
    for (uint32_t i = 0; i + 1 < n; i += 2) {
        uint32_t key = cs_list_at(p, nodes, i), value = cs_list_at(p, nodes, i + 1);
        if (v.sort == FOLD_DICT) {
            list[i / 2] = v.list[i + values];
            continue;
        }
        if (value & CS_SPREAD || key == K_NONE)
            return nothing;
        struct cs_str name = p->names.at[key & CS_SPREAD ? 0 : key].text;
        list[i / 2] = values            ? cs_fold_node(p, value)
                      : key & CS_SPREAD ? cs_fold_node(p, key & ~CS_SPREAD)
                                        : cs_fold_text(name.at, name.len, VIA_PLAIN, false);
    }
    return (struct cs_folded){.sort = FOLD_LIST, .len = n / 2, .list = list};
}

struct cs_folded cs_fold_keys(const struct cs_call *c)
{
    return parts(c, false);
}

struct cs_folded cs_fold_values(const struct cs_call *c)
{
    return parts(c, true);
}

bool cs_fold_regex(struct cs_parser *p, uint32_t node, struct cs_folded *text, bool *all)
{
    const struct cs_node *n = &p->nodes.at[node];
    if (n->kind != NODE_REGEX)
        return false;
    const char *s = p->src + n->pos + 1, *end = p->src + n->end;
    size_t len = 0;
    char *to = cs_fold_room(p, (size_t)(end - s));
    for (; to && s < end && *s != '/'; s++) {
        bool escaped = *s == '\\';
        s += escaped;
        bool letter = (*s | 0x20) >= 'a' && (*s | 0x20) <= 'z';
        if (escaped ? letter || (*s >= '0' && *s <= '9') : strchr("^$.*+?()[]{}|", *s) != NULL)
            return false;
        to[len++] = *s;
    }
    if (!to || s >= end)
        return false;
    *all |= memchr(s, 'g', (size_t)(end - s)) != NULL;
    *text = cs_fold_text(to, len, VIA_PLAIN, false);
    return true;
}

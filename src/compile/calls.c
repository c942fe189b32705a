/* Calls: of tools, of functions of the program, and of what nobody knows. */
#include "compile/reach.h"

/* A tool is called with these. */
static void sink(struct cs_reach *r, uint64_t tools, uint64_t from, uint32_t pos)
{
    if (!from)
        return;
    for (uint32_t i = 0; i < r->tools.len && tools; i++) {
        struct cs_tool *t = &r->tools.at[i];
        if (!(tools >> cs_tool_bit(i) & 1) || (t->gets | from) == t->gets)
            continue;
        if (!t->gets)
            t->call = pos;
        t->gets |= from;
    }
}

/* A call while it is looked at. */
struct call {
    uint32_t callee, args, pos;
    uint64_t from;     /* in its arguments */
    uint64_t can;      /* tools among them, in any form */
    uint64_t fns_from; /* what functions among them return */
    uint64_t fns_can;
    uint32_t path; /* of what import().then() passes on */
    bool fns;
    struct cs_flow result;
};

static bool spot_fns(struct cs_reach *r, uint32_t place,
                     void (*visit)(struct cs_reach *, uint32_t, struct call *), struct call *c)
{
    bool any = false;
    for (uint32_t i = r->places.at[place].fns; i && cs_reach_step(r); i = r->fns.at[i].next) {
        visit(r, r->fns.at[i].fn, c);
        any = true;
    }
    return any;
}

/* Calls `visit` for each function that the value may be; true if there was one. */
static bool each_fn(struct cs_reach *r, uint32_t node, unsigned deep,
                    void (*visit)(struct cs_reach *, uint32_t, struct call *), struct call *c)
{
    const struct cs_val v = *cs_reach_val(r, node);
    bool any = false;
    if (deep > DEEP_MOST || !cs_reach_step(r))
        return false;
    if (v.kind == VAL_FN) {
        visit(r, node, c);
        return true;
    }
    if (v.kind == VAL_ASSIGN)
        return each_fn(r, v.b, deep + 1, visit, c);
    if (v.kind == VAL_JOIN) {
        any = each_fn(r, v.a, deep + 1, visit, c);
        return each_fn(r, v.b, deep + 1, visit, c) || any;
    }
    uint32_t place = r->at[node].place;
    for (uint32_t steps = 0; place && steps < 16; steps++) {
        any |= spot_fns(r, place & ~REACH_LOOSE, visit, c);
        /* Some member of it: any of them. */
        uint32_t m = place & REACH_LOOSE ? r->places.at[place & ~REACH_LOOSE].member : 0;
        for (; m && cs_reach_step(r); m = r->places.at[m].sibling)
            any |= spot_fns(r, m, visit, c);
        place = r->places.at[place & ~REACH_LOOSE].same;
    }
    return any;
}

/* The arguments as a whole. */
static void gather(struct cs_reach *r, struct call *c, bool keeps)
{
    for (uint32_t i = c->args; i && cs_reach_step(r); i = cs_reach_val(r, i)->c) {
        uint32_t node = cs_reach_val(r, i)->a;
        if (cs_reach_val(r, node)->kind == VAL_FN)
            continue;
        r->marks[node] |= MARK_EATEN;
        c->from |= r->at[node].from;
        c->can |= keeps ? cs_hand_out(r, node) : r->at[node].can;
    }
}

/* A function of the program is called: arguments to parameters, and its value back. */
static void call_local(struct cs_reach *r, uint32_t fn, struct call *c)
{
    const struct cs_val v = *cs_reach_val(r, fn);
    uint32_t arg = c->args;
    bool spread = false;
    struct cs_flow rest = {0};
    for (uint32_t i = v.a; i && cs_reach_step(r);) {
        const struct cs_val param = *cs_reach_val(r, i);
        while (arg && !spread && cs_reach_val(r, arg)->b < param.b) {
            spread = (cs_reach_val(r, arg)->flags & VAL_SPREAD) != 0;
            arg = cs_reach_val(r, arg)->c;
        }
        spread |= arg && (cs_reach_val(r, arg)->flags & VAL_SPREAD) != 0;
        if (spread || (param.flags & VAL_SPREAD)) {
            struct call all = {.args = c->args};
            gather(r, &all, true);
            rest = (struct cs_flow){.from = all.from, .can = all.can};
            cs_reach_bind(r, param.a, 0, rest, 0);
        } else if (arg && cs_reach_val(r, arg)->b == param.b) {
            cs_reach_bind(r, param.a, cs_reach_val(r, arg)->a, r->at[cs_reach_val(r, arg)->a], 0);
        }
        i = param.c;
    }
    if (r->arguments_used) {
        struct call all = {.args = c->args};
        gather(r, &all, true);
        cs_spot_put_some(r, r->args, (struct cs_flow){.from = all.from, .can = all.can});
    }
    if (v.flags & VAL_CLASS)
        c->result = cs_flow_join(r, c->result, cs_spot_read(r, r->self));
    else if (c->result.from || c->result.can || c->result.path)
        c->result = cs_flow_join(r, c->result, cs_fn_returned(r, fn));
    else
        c->result = cs_fn_returned(r, fn);
}

/* Somebody unknown calls it, with whatever he has. */
static void call_back(struct cs_reach *r, uint32_t fn, struct call *c)
{
    struct cs_flow w = {.from = c->from, .can = c->can, .path = c->path};
    c->fns = true;
    c->fns_from |= cs_fn_returned(r, fn).from;
    if (r->returns_hold)
        c->fns_can |= cs_hand_out_spot(r, cs_fn_returns(r, fn));
    for (uint32_t i = cs_reach_val(r, fn)->a; i && cs_reach_step(r); i = cs_reach_val(r, i)->c)
        cs_reach_bind(r, cs_reach_val(r, i)->a, 0, w, 0);
    if (r->arguments_used)
        cs_spot_put_some(r, r->args, w);
}

static bool is_one_of(const struct cs_str *list, size_t count, struct cs_str name)
{
    for (size_t i = 0; i < count; i++) {
        if (cs_str_eq(name, list[i]))
            return true;
    }
    return false;
}

/* Methods that put their arguments into what they belong to. */
static bool changes(struct cs_str name)
{
    static const struct cs_str list[] = {
        {"push", 4}, {"unshift", 7}, {"splice", 6},  {"set", 3},    {"add", 3}, {"append", 6},
        {"fill", 4}, {"write", 5},   {"enqueue", 7}, {"insert", 6}, {"put", 3}};
    return is_one_of(list, CS_COUNT(list), name);
}

/* Methods whose value is made of what they belong to, not of what the function says. */
static bool selects(struct cs_str name)
{
    static const struct cs_str list[] = {{"filter", 6},   {"find", 4},     {"findLast", 8},
                                         {"some", 4},     {"every", 5},    {"sort", 4},
                                         {"toSorted", 8}, {"findIndex", 9}};
    return is_one_of(list, CS_COUNT(list), name);
}

/* Methods that only look at their arguments. All others may keep them. */
static bool reads(struct cs_str name)
{
    static const struct cs_str list[] = {
        {"at", 2},          {"catch", 5},        {"charAt", 6},         {"charCodeAt", 10},
        {"concat", 6},      {"delete", 6},       {"endsWith", 8},       {"entries", 7},
        {"every", 5},       {"exec", 4},         {"filter", 6},         {"finally", 7},
        {"find", 4},        {"findIndex", 9},    {"findLast", 8},       {"flat", 4},
        {"flatMap", 7},     {"forEach", 7},      {"format", 6},         {"get", 3},
        {"has", 3},         {"includes", 8},     {"indexOf", 7},        {"join", 4},
        {"keys", 4},        {"lastIndexOf", 11}, {"localeCompare", 13}, {"map", 3},
        {"match", 5},       {"matchAll", 8},     {"padEnd", 6},         {"padStart", 8},
        {"pop", 3},         {"reduce", 6},       {"reduceRight", 11},   {"repeat", 6},
        {"replace", 7},     {"replaceAll", 10},  {"search", 6},         {"shift", 5},
        {"slice", 5},       {"some", 4},         {"sort", 4},           {"split", 5},
        {"startsWith", 10}, {"substring", 9},    {"test", 4},           {"then", 4},
        {"toFixed", 7},     {"toSorted", 8},     {"toString", 8},       {"trim", 4},
        {"values", 6},
    };
    return is_one_of(list, CS_COUNT(list), name);
}

/* Methods that call a function when another one of the same thing is called. */
static bool listens(struct cs_str name)
{
    static const struct cs_str list[] = {
        {"on", 2}, {"once", 4}, {"addEventListener", 16}, {"addListener", 11}, {"subscribe", 9}};
    return is_one_of(list, CS_COUNT(list), name);
}

/* u.searchParams: what is put there is in u. */
static uint32_t part_of_url(const struct cs_reach *r, uint32_t node)
{
    const struct cs_val *v = cs_reach_val(r, node);
    if (v->kind == VAL_MEMBER && cs_str_is(r->p->names.at[v->b].text, "searchParams"))
        return v->a;
    return node;
}

/* Into a place: what the call has, and functions if they may be called from there. */
static void keep(struct cs_reach *r, const struct call *c, uint32_t place, struct cs_flow into,
                 bool all, bool listen)
{
    if (all)
        into = (struct cs_flow){.from = into.from | c->fns_from, .can = into.can | c->fns_can};
    cs_spot_put_some(r, place, into);
    for (uint32_t i = all || listen ? c->args : 0; i && cs_reach_step(r);
         i = cs_reach_val(r, i)->c) {
        if (cs_reach_val(r, cs_reach_val(r, i)->a)->kind == VAL_FN)
            cs_spot_put_fn(r, place & ~REACH_LOOSE, cs_reach_val(r, i)->a);
    }
}

/* x.push(y), Object.assign(x, y): what is put into what. */
static void call_changes(struct cs_reach *r, const struct call *c, struct cs_str name,
                         struct cs_flow into)
{
    const struct cs_val *callee = cs_reach_val(r, c->callee);
    uint32_t place = 0;
    bool into_it = changes(name), other = false;
    if (into_it)
        place = cs_spot_of(r, part_of_url(r, callee->a), 0);
    else
        other = r->paths.at[r->at[c->callee].path].special == SPECIAL_INTO ||
                cs_str_is(name, "call") || cs_str_is(name, "apply");
    bool listen = c->fns && !into_it && !other && listens(name);
    if (other && c->args)
        place = cs_spot_of(r, cs_reach_val(r, c->args)->a, 0);
    else if (!into_it && !r->at[callee->a].path && (into.from || into.can || listen) &&
             !reads(name))
        place = cs_spot_of(r, callee->a, 0);
    if (place)
        keep(r, c, place, into, into_it || other, listen);
}

/* What comes out of a call of somebody unknown: what went in, as far as its name does not say. */
static struct cs_flow unknown_result(const struct call *c, struct cs_str name, uint64_t self)
{
    struct cs_flow w = {.from = c->fns_from | c->can, .can = c->can};
    if (cs_str_is(name, "forEach"))
        w.from = 0;
    else if (c->fns && selects(name))
        w.from = self;
    else if (!c->fns || (!cs_str_is(name, "map") && !cs_str_is(name, "flatMap")))
        w.from |= c->from;
    return w;
}

static void call_backs(struct cs_reach *r, struct call *c)
{
    for (uint32_t i = c->args; i && cs_reach_step(r); i = cs_reach_val(r, i)->c)
        each_fn(r, cs_reach_val(r, i)->a, 0, call_back, c);
}

/* Functions that wait for calls of other methods. */
static void listeners(struct cs_reach *r, const struct call *c, uint32_t place, struct cs_str name)
{
    struct call heard = {.from = c->from, .can = c->can};
    place = cs_spot_itself(r, place) & ~REACH_LOOSE;
    if (r->places.at[place].fns && !reads(name) && !changes(name))
        spot_fns(r, place, call_back, &heard);
}

static void call_unknown(struct cs_reach *r, struct call *c)
{
    const struct cs_val callee = *cs_reach_val(r, c->callee);
    struct cs_flow self = r->at[c->callee];
    struct cs_str name = {0};
    enum cs_path_special special = r->paths.at[self.path].special;
    bool keeps = special != SPECIAL_KEYS && special != SPECIAL_CONSOLE;
    gather(r, c, keeps);
    struct cs_flow into = {.from = c->from, .can = c->can};
    if (callee.kind == VAL_MEMBER) {
        self = r->at[callee.a];
        if (!self.path)
            self.can |= cs_hand_out(r, callee.a);
        name = r->p->names.at[callee.b].text;
        if (cs_reach_val(r, callee.a)->kind == VAL_IMPORT)
            c->path = self.path;
    }
    c->from |= self.from;
    c->can |= self.can;
    call_backs(r, c);
    if (callee.kind == VAL_MEMBER && !self.path && self.place)
        listeners(r, c, self.place, name);
    if (c->fns && cs_str_starts(name, "reduce")) {
        c->from |= c->fns_from;
        call_backs(r, c);
    }
    c->can |= c->fns_can | r->at[c->callee].can;
    /* Tools that are passed on are called with the rest. */
    if (c->can)
        sink(r, c->can, c->from, c->pos);
    if (special == SPECIAL_FILES) {
        cs_spot_put_some(r, r->files, into);
        c->from |= cs_spot_read(r, r->files).from;
    }
    if (callee.kind == VAL_MEMBER)
        call_changes(r, c, name, into);
    c->result = unknown_result(c, name, self.from);
}

/* f.call(x, ...), f.apply(x, [...]), f.cs_reach_bind(x): what f is. */
static bool call_indirect(struct cs_reach *r, struct call *c)
{
    const struct cs_val callee = *cs_reach_val(r, c->callee);
    if (callee.kind != VAL_MEMBER)
        return false;
    struct cs_str name = r->p->names.at[callee.b].text;
    bool call = cs_str_is(name, "call"), bound = cs_str_is(name, "bind");
    if (!call && !bound && !cs_str_is(name, "apply"))
        return false;
    struct call inner = *c;
    inner.callee = callee.a;
    gather(r, &inner, true);
    inner.args = 0;
    struct cs_flow w = {.from = inner.from, .can = inner.can};
    inner.fns = false;
    if (!each_fn(r, callee.a, 0, call_back, &inner))
        return false;
    c->result = (struct cs_flow){.from = inner.fns_from | w.from, .can = w.can | inner.fns_can};
    return true;
}

/* The constant argument of require(), or 0. */
static uint32_t required(struct cs_reach *r, const struct call *c)
{
    if (!c->args || r->paths.at[r->at[c->callee].path].special != SPECIAL_REQUIRE)
        return 0;
    const struct cs_val *v = cs_reach_val(r, cs_reach_val(r, c->args)->a);
    return v->kind == VAL_STR ? v->a : 0;
}

/* A tool, by its path; `can`: or one of these. */
static struct cs_flow call_tool(struct cs_reach *r, struct call *c, const struct cs_path *to)
{
    uint64_t tool = cs_path_tool(r, r->at[c->callee].path, c->pos, "chain") | r->at[c->callee].can;
    gather(r, c, false);
    sink(r, tool, c->from, c->pos);
    if (to->up && cs_str_is(r->p->names.at[to->atom].text, "bind"))
        return (struct cs_flow){.path = to->up, .can = tool};
    return (struct cs_flow){.from = tool | (to->guess ? c->from : 0)};
}

/* caisson.callTool("server", "tool", x): a name that is not there stands for all. */
static struct cs_flow call_named(struct cs_reach *r, struct call *c, const struct cs_path *to)
{
    uint32_t path = cs_path_free(r, K_tools);
    const struct cs_str callee = r->p->names.at[to->atom].text;
    for (uint32_t i = c->args, n = 0; i && n < 2 && cs_str_is(callee, "callTool"); n++) {
        const struct cs_val *item = cs_reach_val(r, i), *v = cs_reach_val(r, item->a);
        if (item->b != n || (item->flags & VAL_SPREAD) || v->kind != VAL_STR)
            break;
        path = cs_path_member(r, path, v->a);
        i = item->c;
    }
    uint64_t tool = cs_path_tool(r, path, c->pos, "chain");
    gather(r, c, false);
    sink(r, tool, c->from, c->pos);
    if (cs_str_is(callee, "bind"))
        return (struct cs_flow){.path = r->at[c->callee].path, .can = tool};
    return (struct cs_flow){.from = tool};
}

/* x.name(): if classes of ours have methods of that name, x may be of one of them. */
static struct cs_flow call_methods(struct cs_reach *r, struct call c)
{
    const struct cs_val *callee = cs_reach_val(r, c.callee);
    uint32_t method = 0;
    if (callee->kind == VAL_MEMBER && callee->b != K_NONE)
        method = cs_spot_member(r, r->self, callee->b, false);
    if (method)
        spot_fns(r, method, call_local, &c);
    return c.result;
}

/* new f(): what f returns, or its this. */
static struct cs_flow made(struct cs_reach *r, struct cs_flow w)
{
    struct cs_flow self = cs_spot_read(r, r->self);
    return w.from || w.can || w.path ? cs_flow_join(r, w, self) : self;
}

struct cs_flow cs_reach_call(struct cs_reach *r, uint32_t node)
{
    const struct cs_val v = *cs_reach_val(r, node);
    struct call c = {.callee = v.a, .args = v.b, .pos = v.c};
    const struct cs_flow callee = r->at[v.a];
    const struct cs_path to = r->paths.at[callee.path];
    uint32_t module = required(r, &c);
    struct cs_flow also = {0};
    if (module)
        return (struct cs_flow){.path = cs_path_module(r, module)};
    r->paths.at[callee.path].called = true;
    if (to.special == SPECIAL_NAMED)
        return call_named(r, &c, &to);
    if (to.kind == PATH_TOOL) {
        also = call_tool(r, &c, &to);
        if (!to.guess)
            return also;
        c = (struct call){.callee = v.a, .args = v.b, .pos = v.c};
    }
    if (cs_reach_val(r, v.a)->kind == VAL_THIS) { /* super(...) */
        gather(r, &c, true);
        cs_spot_put_some(r, r->self, (struct cs_flow){.from = c.from, .can = c.can});
        return c.result;
    }
    if (each_fn(r, v.a, 0, call_local, &c) || call_indirect(r, &c)) {
        if (callee.can) {
            gather(r, &c, true);
            sink(r, callee.can, c.from, c.pos);
            c.result.from |= callee.can;
        }
        return v.kind == VAL_NEW ? made(r, c.result) : c.result;
    }
    also = cs_flow_join(r, call_methods(r, c), also);
    call_unknown(r, &c);
    return cs_flow_join(r, c.result, also);
}

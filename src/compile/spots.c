/* Places that values are kept in: variables, their members, what functions return. */
#include "compile/reach.h"

#define SAME_MOST   16 /* names of one thing that are followed */
#define MEMBER_MOST 4  /* members of members that are told apart */
#define FNS_MOST    32 /* functions that one name may stand for */

uint32_t cs_spot_new(struct cs_reach *r)
{
    *CS_PUSH(&r->places) = (struct cs_spot){0};
    return r->places.len - 1;
}

void cs_spots_init(struct cs_reach *r)
{
    uint32_t count = r->p->decls.len + 1;
    r->places.cap = count + 64;
    r->places.at = cs_calloc(r->places.cap, sizeof *r->places.at);
    r->places.len = count;
    r->globals = cs_spot_new(r);
    r->self = cs_spot_new(r);
    r->thrown = cs_spot_new(r);
    r->args = cs_spot_new(r);
    r->spaces = cs_spot_new(r);
    r->files = cs_spot_new(r);
    r->member_mask = 63;
    r->member_keys = cs_calloc(r->member_mask + 1, sizeof *r->member_keys);
    r->members = cs_calloc(r->member_mask + 1, sizeof *r->members);
}

static uint32_t member_slot(const struct cs_reach *r, uint64_t key)
{
    uint32_t i = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 33) & r->member_mask;
    while (r->members[i] && r->member_keys[i] != key)
        i = (i + 1) & r->member_mask;
    return i;
}

static void grow_members(struct cs_reach *r)
{
    uint64_t *keys = r->member_keys;
    uint32_t *members = r->members, size = r->member_mask + 1;
    r->member_mask = size * 2 - 1;
    r->member_keys = cs_calloc(size * 2, sizeof *r->member_keys);
    r->members = cs_calloc(size * 2, sizeof *r->members);
    for (uint32_t i = 0; i < size; i++) {
        if (!members[i])
            continue;
        uint32_t to = member_slot(r, keys[i]);
        r->member_keys[to] = keys[i];
        r->members[to] = members[i];
    }
    free(keys);
    free(members);
}

uint32_t cs_spot_member(struct cs_reach *r, uint32_t place, uint32_t atom, bool make)
{
    uint64_t key = (uint64_t)place << 32 | atom;
    if (!make && !r->places.at[place].member)
        return 0;
    uint32_t i = member_slot(r, key), deep = 0;
    if (r->members[i] || !make)
        return r->members[i];
    for (uint32_t up = place; r->places.at[up].up; up = r->places.at[up].up)
        deep++;
    if (deep >= MEMBER_MOST)
        return 0;
    uint32_t made = cs_spot_new(r);
    r->places.at[made].up = place;
    r->places.at[made].sibling = r->places.at[place].member;
    r->places.at[place].member = made;
    r->member_keys[i] = key;
    r->members[i] = made;
    if (++r->member_count > r->member_mask / 2)
        grow_members(r);
    return made;
}

/* Something in `place` is another now: who has read it before must look again. */
static bool was_read(const struct cs_reach *r, uint32_t place)
{
    while (r->places.at[place].up)
        place = r->places.at[place].up;
    return r->places.at[place].read == r->pass;
}

static void touch(struct cs_reach *r, uint32_t place)
{
    r->changed |= was_read(r, place);
}

static void note_read(struct cs_reach *r, uint32_t place)
{
    place &= ~REACH_LOOSE;
    while (r->places.at[place].up)
        place = r->places.at[place].up;
    r->places.at[place].read = (uint8_t)r->pass;
}

/* What has been put into the places around this one, and into those these are names of. */
static void add_around(struct cs_reach *r, uint32_t place, struct cs_flow *w)
{
    for (uint32_t steps = 0; place && steps < SAME_MOST; steps++) {
        while (r->places.at[place].up) {
            place = r->places.at[place].up;
            w->from |= r->places.at[place].own;
            w->can |= r->places.at[place].can;
        }
        uint32_t same = r->places.at[place].same;
        const struct cs_spot *s = &r->places.at[same & ~REACH_LOOSE];
        if (!same)
            return;
        note_read(r, same);
        w->from |= same & REACH_LOOSE ? s->all : s->own;
        w->can |= same & REACH_LOOSE ? s->all_can : s->can;
        place = same & ~REACH_LOOSE;
    }
}

/* All that is in a place and in those it is a name of. */
static void add_all(struct cs_reach *r, uint32_t place, struct cs_flow *w)
{
    for (uint32_t steps = 0; place; steps++) {
        struct cs_spot *s = &r->places.at[place & ~REACH_LOOSE];
        note_read(r, place);
        w->from |= s->all;
        w->can |= s->all_can;
        if (!w->path && !(place & REACH_LOOSE)) {
            w->path = s->path;
            if (s->path && !r->quiet)
                s->used = true;
        }
        if (steps == SAME_MOST) {
            r->lost = true;
            return;
        }
        if (s->up)
            add_around(r, place & ~REACH_LOOSE, w);
        place = s->same;
    }
}

struct cs_flow cs_spot_read(struct cs_reach *r, uint32_t place)
{
    struct cs_flow w = {.place = place};
    add_all(r, place, &w);
    return w;
}

uint32_t cs_fn_returns(struct cs_reach *r, uint32_t fn)
{
    struct cs_val *v = &r->p->vals.at[fn];
    if (!v->b) {
        v->b = cs_spot_new(r);
        r->places.at[v->b].returned = true;
    }
    return v->b;
}

struct cs_flow cs_fn_returned(struct cs_reach *r, uint32_t fn)
{
    return cs_spot_read(r, cs_fn_returns(r, fn));
}

static uint64_t hand_spot(struct cs_reach *r, uint32_t place, unsigned deep)
{
    place &= ~REACH_LOOSE;
    if (!place || r->places.at[place].stamp == r->stamp || !cs_reach_step(r))
        return 0;
    if (deep > HAND_MOST)
        return cs_any_tool(r, r->pos);
    note_read(r, place);
    struct cs_spot *s = &r->places.at[place];
    s->stamp = r->stamp;
    uint64_t can = s->all_can | cs_path_tool(r, s->path, r->pos, "alias");
    for (uint32_t m = s->holds ? s->member : 0; m; m = r->places.at[m].sibling)
        can |= hand_spot(r, m, deep + 1);
    for (uint32_t i = r->returns_hold ? r->places.at[place].fns : 0; i; i = r->fns.at[i].next)
        can |= hand_spot(r, cs_fn_returns(r, r->fns.at[i].fn), deep + 1);
    return can | hand_spot(r, r->places.at[place].same, deep + 1);
}

uint64_t cs_hand_out_spot(struct cs_reach *r, uint32_t place)
{
    r->stamp++;
    return hand_spot(r, place, 0);
}

uint64_t cs_hand_out_inside(struct cs_reach *r, uint32_t place)
{
    uint64_t can = 0;
    if (!r->inside)
        return 0;
    r->stamp++;
    for (uint32_t steps = 0; place && steps < SAME_MOST; steps++) {
        place &= ~REACH_LOOSE;
        can |= r->places.at[place].all_can;
        for (uint32_t m = r->places.at[place].holds ? r->places.at[place].member : 0; m;
             m = r->places.at[m].sibling)
            can |= hand_spot(r, m, 0);
        for (uint32_t i = r->returns_hold ? r->places.at[place].fns : 0; i; i = r->fns.at[i].next)
            can |= hand_spot(r, cs_fn_returns(r, r->fns.at[i].fn), 0);
        note_read(r, place);
        place = r->places.at[place].same;
    }
    return can;
}

static uint64_t hand(struct cs_reach *r, uint32_t node, unsigned deep)
{
    const struct cs_val v = *cs_reach_val(r, node);
    struct cs_flow w = r->at[node];
    uint64_t can = w.can;
    if (w.path) {
        const char *via;
        uint32_t pos = cs_start_of(r, node, &via);
        can |= cs_path_tool(r, w.path, pos, via);
    }
    if (!cs_reach_step(r))
        return can;
    if (deep > HAND_MOST)
        return can | cs_any_tool(r, r->pos);
    if (v.kind == VAL_ARRAY || v.kind == VAL_OBJECT) {
        r->marks[node] |= MARK_EATEN;
        for (uint32_t i = v.a; i; i = cs_reach_val(r, i)->c)
            can |= hand(r, cs_reach_val(r, i)->a, deep + 1);
    } else if (v.kind == VAL_FN) {
        can |= r->returns_hold ? hand_spot(r, cs_fn_returns(r, node), deep + 1) : 0;
    } else if (v.kind == VAL_JOIN) {
        can |= hand(r, v.a, deep + 1) | hand(r, v.b, deep + 1);
    } else if (v.kind == VAL_ASSIGN && v.b >= VALUE_FIRST) {
        can |= hand(r, v.b, deep + 1);
    } else {
        can |= hand_spot(r, w.place, deep + 1);
    }
    return can;
}

uint64_t cs_hand_out(struct cs_reach *r, uint32_t node)
{
    r->stamp++;
    return hand(r, node, 0);
}

uint32_t cs_spot_itself(const struct cs_reach *r, uint32_t place)
{
    for (uint32_t steps = 0; steps < SAME_MOST && !(place & REACH_LOOSE); steps++) {
        uint32_t same = r->places.at[place].same;
        if (!same)
            break;
        place = same;
    }
    return place;
}

struct cs_flow cs_flow_member(struct cs_reach *r, struct cs_flow w, uint32_t atom)
{
    struct cs_flow m = {0};
    if (!w.place || (w.place & REACH_LOOSE) || atom == K_NONE) {
        m.from = w.from;
        m.can = w.can;
        m.place = w.place ? w.place | REACH_LOOSE : 0;
        m.path = cs_path_member(r, w.path, atom);
        if (!r->quiet)
            m.can |= cs_hand_out_inside(r, w.place);
        if (atom == K_NONE && r->paths.at[w.path].kind == PATH_GLOBAL)
            m.can |= cs_any_tool(r, r->pos);
        return m;
    }
    uint32_t place = w.place;
    for (uint32_t steps = 0; place; steps++) {
        const struct cs_spot *s = &r->places.at[place & ~REACH_LOOSE];
        if (place & REACH_LOOSE || steps == SAME_MOST) {
            add_all(r, place, &m);
            m.can |= r->quiet ? 0 : cs_hand_out_inside(r, place);
            r->lost |= steps == SAME_MOST;
            break;
        }
        uint32_t same = s->same, member = cs_spot_member(r, place, atom, false);
        note_read(r, place);
        m.from |= s->own;
        m.can |= s->can;
        if (s->up)
            add_around(r, place, &m);
        if (member) {
            add_all(r, member, &m);
            m.place = member;
        }
        place = same;
    }
    if (!m.path)
        m.path = cs_path_member(r, w.path, atom);
    return m;
}

/* Bits into `own`, and up into `all` of what it is part of. */
static void put_bits(struct cs_reach *r, uint32_t place, uint64_t from, uint64_t can)
{
    struct cs_spot *s = &r->places.at[place];
    if ((s->own | from) == s->own && (s->can | can) == s->can)
        return;
    r->moved |= (s->own | from) != s->own && was_read(r, place);
    if ((s->can | can) != s->can)
        touch(r, place);
    s->own |= from;
    s->can |= can;
    for (;; s = &r->places.at[s->up]) {
        s->all |= from;
        s->all_can |= can;
        if (!s->up)
            break;
    }
}

/* There is a way to a tool in this place, and so in what it is part of. */
static void holds(struct cs_reach *r, uint32_t place)
{
    for (;; place = r->places.at[place].up) {
        struct cs_spot *s = &r->places.at[place];
        s->holds = true;
        r->changed |= !r->inside && (s->up || s->returned);
        r->inside |= s->up || s->returned;
        if (s->up)
            continue;
        r->changed |= s->returned && !r->returns_hold;
        r->returns_hold |= s->returned;
        return;
    }
}

static void put_path(struct cs_reach *r, uint32_t place, uint32_t path)
{
    struct cs_spot *s = &r->places.at[place];
    if (!path || s->path == path)
        return;
    if (!s->path) {
        s->path = path;
        touch(r, place);
        if (cs_path_leads(r, path))
            holds(r, place);
        return;
    }
    /* One of several: it may be any tool that either leads to. */
    put_bits(r, place, 0,
             cs_path_tool(r, s->path, r->pos, "alias") | cs_path_tool(r, path, r->pos, "alias"));
}

void cs_spot_put_fn(struct cs_reach *r, uint32_t place, uint32_t fn)
{
    uint32_t count = 0;
    for (uint32_t i = r->places.at[place].fns; i; i = r->fns.at[i].next) {
        if (r->fns.at[i].fn == fn)
            return;
        if (++count == FNS_MOST) {
            r->lost = true;
            return;
        }
    }
    *CS_PUSH(&r->fns) = (struct cs_fn_link){fn, r->places.at[place].fns};
    r->places.at[place].fns = r->fns.len - 1;
    touch(r, place);
}

/* `place` is another name of `other`, or part of it. */
static bool is_name_of(const struct cs_reach *r, uint32_t place, uint32_t other)
{
    for (uint32_t steps = 0; place; steps++) {
        place &= ~REACH_LOOSE;
        while (r->places.at[place].up)
            place = r->places.at[place].up;
        if (place == other || steps == SAME_MOST)
            return true;
        place = r->places.at[place].same;
    }
    return false;
}

void cs_spot_put(struct cs_reach *r, uint32_t place, struct cs_flow w)
{
    if (place & REACH_LOOSE) {
        cs_spot_put_some(r, place, w);
        return;
    }
    struct cs_spot *s = &r->places.at[place];
    put_path(r, place, w.path);
    if (w.place && (w.place & ~REACH_LOOSE) != place) {
        s = &r->places.at[place];
        if (!s->up && !s->same && !is_name_of(r, w.place, place)) {
            s->same = w.place;
            touch(r, place);
        }
        if (!s->up && s->same == w.place) {
            put_bits(r, place, 0, w.can);
            return;
        }
        for (uint32_t i = r->places.at[w.place & ~REACH_LOOSE].fns; i; i = r->fns.at[i].next)
            cs_spot_put_fn(r, place, r->fns.at[i].fn);
        /* What is in it is not followed: whoever has this place may reach it. */
        w.can |= cs_hand_out_inside(r, w.place);
    }
    put_bits(r, place, w.from, w.can);
}

void cs_spot_put_some(struct cs_reach *r, uint32_t place, struct cs_flow w)
{
    w.can |= cs_path_tool(r, w.path, r->pos, "alias");
    for (uint32_t steps = 0; place && steps < SAME_MOST; steps++) {
        place &= ~REACH_LOOSE;
        put_bits(r, place, w.from, w.can);
        place = r->places.at[place].same;
    }
}

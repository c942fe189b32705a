/*
 * Tools as they were seen before: known, young, or changed since somebody looked.
 *
 * When a server is listed, or its list comes from the data directory, the store is asked how its
 * tools stand. That is one answer for all catalogues that the server is in: an execution that began
 * before a tool was changed hears of it too. Operations of the store are answered in their order,
 * so whoever is put on record after a list was there knows how it stands.
 */
#include "base/canon.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
#include "tools/inside.h"

#define LOOK_MS 2000 /* has somebody looked meanwhile, in another process? */

/* A tool that is not simply known. */
struct odd {
    char *tool;
    bool changed;
    int64_t young_until;
    struct cs_buf before;
};

struct cs_seen {
    unsigned refs;
    bool known; /* the store has answered */
    struct odd *odd;
    size_t count;
};

/* A question to the store. */
struct cs_seeing {
    struct cs_server *server; /* NULL: it is gone */
    struct cs_seen *seen;
    bool part;   /* only those that stand out */
    bool urgent; /* somebody waits for it */
};

static void clear(struct cs_seen *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        free(seen->odd[i].tool);
        cs_buf_done(&seen->odd[i].before);
    }
    free(seen->odd);
    seen->odd = NULL;
    seen->count = 0;
}

struct cs_seen *cs_seen_new(void)
{
    struct cs_seen *seen = CS_NEW(struct cs_seen);
    seen->refs = 1;
    return seen;
}

struct cs_seen *cs_seen_ref(struct cs_seen *seen)
{
    if (seen)
        seen->refs++;
    return seen;
}

void cs_seen_unref(struct cs_seen *seen)
{
    if (!seen || --seen->refs > 0)
        return;
    clear(seen);
    free(seen);
}

/* --- how one stands --- */

static const struct odd *odd_of(const struct cs_seen *seen, struct cs_str tool)
{
    for (size_t i = 0; i < seen->count; i++)
        if (cs_str_is(tool, seen->odd[i].tool))
            return &seen->odd[i];
    return NULL;
}

static bool is_young(const struct odd *odd)
{
    return cs_time_ms() < odd->young_until;
}

enum cs_tool_standing cs_tool_standing(const struct cs_tool *tool)
{
    if (!tool->seen)
        return CS_TOOL_KNOWN;
    if (!tool->seen->known)
        return CS_TOOL_CHANGED;
    const struct odd *odd = odd_of(tool->seen, tool->name);
    if (!odd)
        return CS_TOOL_KNOWN;
    return odd->changed ? CS_TOOL_CHANGED : is_young(odd) ? CS_TOOL_YOUNG : CS_TOOL_KNOWN;
}

const char *cs_tool_standing_name(enum cs_tool_standing standing)
{
    static const char *const names[] = {"known", "young", "changed"};
    return names[standing];
}

struct cs_str cs_tool_before(const struct cs_tool *tool)
{
    const struct odd *odd = tool->seen ? odd_of(tool->seen, tool->name) : NULL;
    return odd && odd->changed ? cs_buf_str(&odd->before) : (struct cs_str){0};
}

void cs_tool_definition_hash(const struct cs_tool *tool, unsigned char hash[32])
{
    cs_canon_hash(tool->definition, hash);
}

/* --- asking the store --- */

static void on_look(uv_timer_t *timer);

/* Nobody has answered yet, or one stands out. */
static bool is_open(const struct cs_server *s)
{
    const struct cs_seen *seen = s->seen;
    if (!seen || !s->offer || !cs_offer_listed(s->offer))
        return false;
    for (size_t i = 0; i < seen->count; i++)
        if (seen->odd[i].changed || is_young(&seen->odd[i]))
            return true;
    return !seen->known;
}

static void watch_odd(struct cs_tools *t)
{
    bool wanted = false;
    for (size_t i = 0; i < t->count; i++)
        wanted |= is_open(t->servers[i]);
    if (wanted && !t->closing)
        uv_timer_start(&t->seen_timer, on_look, LOOK_MS, 0);
}

static void add_odd(struct cs_seen *seen, const struct cs_seen_row *row)
{
    bool changed = cs_seen_changed(row);
    int64_t until = cs_seen_young_until(row);
    if (!changed && until <= cs_time_ms())
        return;
    seen->odd = cs_realloc(seen->odd, seen->count + 1, sizeof *seen->odd);
    struct odd *odd = &seen->odd[seen->count++];
    *odd = (struct odd){.changed = changed, .young_until = until};
    odd->tool = cs_strndup(row->tool.at, row->tool.len);
    cs_buf_putstr(&odd->before, row->before);
}

/* Somebody has looked at those that stand out, or not. */
static void update(struct cs_seen *seen, const struct cs_seen_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < seen->count; k++)
            if (cs_str_is(rows[i].tool, seen->odd[k].tool)) {
                seen->odd[k].changed = cs_seen_changed(&rows[i]);
                seen->odd[k].young_until = cs_seen_young_until(&rows[i]);
            }
}

static void ask(struct cs_server *s, bool part);

/* One that is under way may have been answered before somebody looked: then it is asked after it.
 */
static void ask_now(struct cs_server *s)
{
    s->look_again = s->seeing != NULL;
    if (s->seeing || !is_open(s))
        return;
    ask(s, s->seen->known);
    s->seeing->urgent = true;
}

void cs_tools_look_again(struct cs_tools *t)
{
    for (size_t i = 0; i < t->count; i++)
        ask_now(t->servers[i]);
}

static void on_seen(void *ctx, const struct cs_err *err, const struct cs_seen_row *rows,
                    size_t count)
{
    struct cs_seeing *seeing = ctx;
    struct cs_server *s = seeing->server;
    struct cs_seen *seen = seeing->seen;
    if (!err->code && seeing->part) {
        update(seen, rows, count);
    } else if (!err->code) {
        clear(seen);
        seen->known = true;
        for (size_t i = 0; i < count; i++)
            add_odd(seen, &rows[i]);
    }
    cs_seen_unref(seen);
    free(seeing);
    if (!s)
        return;
    s->seeing = NULL;
    if (s->see_again)
        cs_server_see(s);
    else if (s->look_again)
        ask_now(s);
    watch_odd(s->tools);
    if (!s->retired && !s->tools->closing)
        cs_tools_check_awaits(s->tools);
}

static bool is_wanted(const struct cs_tool *tool, bool part)
{
    const struct odd *odd = part ? odd_of(tool->seen, tool->name) : NULL;
    return !part || (odd && (odd->changed || is_young(odd)));
}

static void ask(struct cs_server *s, bool part)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    size_t most = cs_offer_count(s->offer);
    struct cs_str *tools = cs_arena_alloc(&arena, (most + 1) * sizeof *tools);
    struct cs_str *definitions = cs_arena_alloc(&arena, (most + 1) * sizeof *definitions);
    struct cs_seen_list list = {.server = cs_str(s->name),
                                .entry = s->raw_hash,
                                .tools = tools,
                                .definitions = definitions};
    unsigned char hash[CS_SHA256];
    for (size_t i = 0; i < most; i++) {
        const struct cs_tool *tool = cs_offer_at(s->offer, i);
        if (!is_wanted(tool, part))
            continue;
        tools[list.count] = tool->name;
        definitions[list.count++] = tool->definition;
    }
    if (!part) {
        cs_sha256(cs_buf_str(&s->listed), hash);
        list.list = hash;
    }
    s->seeing = CS_NEW(struct cs_seeing);
    *s->seeing = (struct cs_seeing){s, cs_seen_ref(s->seen), part, false};
    cs_store_tools_seen(s->tools->store, &list, cs_time_ms(), on_seen, s->seeing);
}

void cs_server_see(struct cs_server *s)
{
    s->see_again = s->seeing != NULL;
    s->look_again = false;
    if (s->seen && s->offer && cs_offer_listed(s->offer) && !s->seeing)
        ask(s, false);
}

void cs_server_unsee(struct cs_server *s)
{
    if (s->seeing)
        s->seeing->server = NULL;
    cs_seen_unref(s->seen);
}

bool cs_server_seeing(const struct cs_server *s)
{
    return s->seeing && (!s->seeing->part || s->seeing->urgent || s->see_again || s->look_again);
}

static void on_look(uv_timer_t *timer)
{
    struct cs_tools *t = timer->data;
    for (size_t i = 0; i < t->count; i++)
        if (is_open(t->servers[i]) && !t->servers[i]->seeing)
            ask(t->servers[i], t->servers[i]->seen->known);
    watch_odd(t);
}

/* Conditions of rules, read and checked. */
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "policy/risk.h"
#include "privacy/privacy.h"

#define GLOBS_MOST  200u
#define GLOB_BYTES  300u
#define ALL_MOST    16u
#define NUMBER_MOST 1000000000

static const char *const kind_names[] = {
#define X(id, word) word,
    CS_FACTS(X)
#undef X
};

void cs_risk_place(char where[CS_PLACE_BYTES], const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(where, CS_PLACE_BYTES, fmt, ap);
    va_end(ap);
}

int cs_risk_level(struct cs_json_val from, const char *where, enum cs_risk *level,
                  struct cs_err *err)
{
    for (int i = 0; i < CS_RISK_COUNT; i++) {
        if (!cs_json_is(from, cs_risk_name((enum cs_risk)i)))
            continue;
        *level = (enum cs_risk)i;
        return 0;
    }
    return cs_fail(err, CS_INVALID, "%s: must be LOW, MEDIUM, HIGH or CRITICAL", where);
}

/* One value, or each of a list. */
struct each {
    struct cs_json_val from;
    struct cs_json_iter it;
    bool over;
};

static bool next(struct each *e, struct cs_json_val *item)
{
    if (cs_json_type(e->from) == CS_JSON_ARRAY)
        return cs_json_next(e->from, &e->it, NULL, item);
    *item = e->from;
    bool first = !e->over;
    e->over = true;
    return first;
}

int cs_risk_globs(struct cs_arena *arena, struct cs_json_val from, const char *where,
                  struct cs_patterns *into, struct cs_err *err)
{
    bool list = cs_json_type(from) == CS_JSON_ARRAY;
    size_t most = list ? cs_json_count(from) : 1;
    if (most > GLOBS_MOST)
        return cs_fail(err, CS_LIMIT, "%s: more than %u of them", where, GLOBS_MOST);
    into->count = 0;
    into->at = cs_arena_alloc(arena, (most + 1) * sizeof *into->at);
    struct each e = {.from = from};
    struct cs_json_val item;
    while (next(&e, &item)) {
        struct cs_str text = cs_json_str(item, arena);
        if (cs_json_type(item) != CS_JSON_STRING)
            return cs_fail(err, CS_INVALID, "%s: must be a text, or a list of texts", where);
        if (text.len > GLOB_BYTES)
            return cs_fail(err, CS_LIMIT, "%s: a text is longer than %u bytes", where, GLOB_BYTES);
        into->at[into->count++] = cs_arena_dup(arena, text);
    }
    if (!into->count)
        return cs_fail(err, CS_INVALID, "%s: is empty", where);
    return 0;
}

/* Words of a fixed list become bits. */
static int read_bits(struct cs_json_val from, const char *where, const char *const *names,
                     size_t count, uint32_t *bits, struct cs_err *err)
{
    struct each e = {.from = from};
    struct cs_json_val item;
    while (next(&e, &item)) {
        size_t i = 0;
        while (i < count && !cs_json_is(item, names[i]))
            i++;
        if (i < count) {
            *bits |= 1u << i;
            continue;
        }
        char known[300] = "";
        for (size_t n = 0, at = 0; n < count && at < sizeof known; n++)
            at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", n ? ", " : "", names[n]);
        return cs_fail(err, CS_INVALID, "%s: there is no %.*s; there are: %s", where,
                       CS_STR_ARG(cs_json_raw(item)), known);
    }
    return 0;
}

static int read_labels(struct cs_json_val from, const char *where, unsigned *labels,
                       struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct each e = {.from = from};
    struct cs_json_val item;
    while (next(&e, &item)) {
        unsigned label = cs_label_parse(cs_json_str(item, &arena));
        if (!label)
            return cs_fail(err, CS_INVALID,
                           "%s: there is no label %.*s; there are: private, untrusted, public, "
                           "egress, internal, destructive",
                           where, CS_STR_ARG(cs_json_raw(item)));
        *labels |= label;
    }
    return 0;
}

static int read_secrets(struct cs_risk_reader *r, struct cs_json_val from, const char *where,
                        uint32_t *secrets, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct each e = {.from = from};
    struct cs_json_val item;
    while (next(&e, &item)) {
        enum cs_pii kind;
        if (!cs_pii_parse(cs_json_str(item, &arena), &kind) || kind >= 32)
            return cs_fail(err, CS_INVALID, "%s: there is no kind %.*s; see 'caisson help privacy'",
                           where, CS_STR_ARG(cs_json_raw(item)));
        *secrets |= 1u << kind;
    }
    r->rules->wants_secrets = true;
    return 0;
}

static int read_count(struct cs_json_val from, const char *where, uint64_t *number,
                      struct cs_err *err)
{
    int64_t n;
    if (!cs_json_i64(from, &n) || n < 1 || n > NUMBER_MOST)
        return cs_fail(err, CS_INVALID, "%s: must be a whole number from 1 to %d", where,
                       NUMBER_MOST);
    *number = (uint64_t)n;
    return 0;
}

static int read_count32(struct cs_json_val from, const char *where, uint32_t *number,
                        struct cs_err *err)
{
    uint64_t n = 0;
    if (read_count(from, where, &n, err) < 0)
        return -1;
    *number = (uint32_t)n;
    return 0;
}

static int read_wanted(struct cs_json_val from, const char *where, enum cs_wanted *wanted,
                       struct cs_err *err)
{
    bool yes;
    if (!cs_json_bool(from, &yes))
        return cs_fail(err, CS_INVALID, "%s: must be true or false", where);
    *wanted = yes ? CS_WANTED_YES : CS_WANTED_NO;
    return 0;
}

static int read_like(struct cs_risk_reader *r, struct cs_json_val from, const char *where,
                     struct cs_like **into, struct cs_err *err)
{
    struct cs_arena *arena = &r->policy->arena;
    struct cs_str text = cs_json_str(from, arena);
    if (cs_json_type(from) != CS_JSON_STRING || !text.len)
        return cs_fail(err, CS_INVALID, "%s: must be a regular expression", where);
    struct cs_like *like = cs_arena_alloc(arena, sizeof *like);
    like->text = cs_arena_dup(arena, text);
    if (!r->ours && cs_regex_new(like->text, &like->compiled, err) < 0)
        return cs_wrap(err, "%s", where);
    struct cs_risk_rules *rules = r->rules;
    rules->likes = cs_realloc(rules->likes, rules->like_count + 1, sizeof(struct cs_like *));
    rules->likes[rules->like_count++] = like;
    *into = like;
    return 0;
}

static int read_words(struct cs_risk_reader *r, struct cs_json_val from, const char *where,
                      struct cs_when *when, struct cs_err *err)
{
    struct cs_patterns words;
    if (cs_risk_globs(&r->policy->arena, from, where, &words, err) < 0)
        return -1;
    when->words = cs_arena_alloc(&r->policy->arena, words.count * sizeof *when->words);
    for (size_t i = 0; i < words.count; i++) {
        int index = cs_words_add(&r->rules->words, words.at[i], &r->policy->arena, err);
        if (index < 0)
            return cs_wrap(err, "%s", where);
        when->words[when->word_count++] = (uint32_t)index;
    }
    return 0;
}

#define TOOL_KEYS "standing, grant, labels, read_only, destructive, open_world, trusted, annotated"

static int read_tool(struct cs_json_val from, const char *outer, struct cs_tool_when *t,
                     struct cs_err *err)
{
    static const char *const standings[] = {"known", "young", "changed"};
    static const char *const grants[] = {"allow", "ask", "deny"};
    const struct {
        const char *name;
        enum cs_wanted *to;
    } flags[] = {{"read_only", &t->read_only},
                 {"destructive", &t->destructive},
                 {"open_world", &t->open_world},
                 {"trusted", &t->trusted},
                 {"annotated", &t->annotated}};
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "%s: must be an object with some of " TOOL_KEYS, outer);
    t->is_set = true;
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(from, &it, &key, &item)) {
        char where[CS_PLACE_BYTES];
        CS_AUTO_ARENA struct cs_arena arena = {0};
        cs_risk_place(where, "%s.%.*s", outer, CS_STR_ARG(cs_json_str(key, &arena)));
        size_t i = 0;
        while (i < CS_COUNT(flags) && !cs_json_is(key, flags[i].name))
            i++;
        int status;
        if (i < CS_COUNT(flags))
            status = read_wanted(item, where, flags[i].to, err);
        else if (cs_json_is(key, "standing"))
            status = read_bits(item, where, standings, CS_COUNT(standings), &t->standings, err);
        else if (cs_json_is(key, "grant"))
            status = read_bits(item, where, grants, CS_COUNT(grants), &t->grants, err);
        else if (cs_json_is(key, "labels"))
            status = read_labels(item, where, &t->labels, err);
        else
            status = cs_policy_unknown(key, outer, TOOL_KEYS, err);
        if (status < 0)
            return -1;
    }
    return 0;
}

/* --- one condition --- */

#define KEYS                                                                                   \
    "fact, name, like, as, words, via, key, holds, looks, outside, at_least, tool, from, to, " \
    "besides, environment, language, principal, unless_intent, source_bytes, longest_line, "   \
    "modules, sensitive_inputs, bad_lately, bad_percent, unreadable, all"

/* 1: it was one of these; 0: it is something else. */
static int read_texts(struct cs_risk_reader *r, struct cs_json_val key, struct cs_json_val item,
                      const char *where, struct cs_when *w, struct cs_err *err)
{
    const struct {
        const char *name;
        struct cs_patterns *to;
    } lists[] = {{"name", &w->names},
                 {"via", &w->vias},
                 {"key", &w->keys},
                 {"outside", &w->outside},
                 {"language", &w->languages},
                 {"environment", &w->environments},
                 {"principal", &w->principals}};
    for (size_t i = 0; i < CS_COUNT(lists); i++)
        if (cs_json_is(key, lists[i].name))
            return cs_risk_globs(&r->policy->arena, item, where, lists[i].to, err) < 0 ? -1 : 1;
    if (cs_json_is(key, "like"))
        return read_like(r, item, where, &w->like, err) < 0 ? -1 : 1;
    if (cs_json_is(key, "unless_intent"))
        return read_like(r, item, where, &w->unless_intent, err) < 0 ? -1 : 1;
    if (cs_json_is(key, "words"))
        return read_words(r, item, where, w, err) < 0 ? -1 : 1;
    if (cs_json_is(key, "as")) {
        w->shell = cs_json_is(item, "shell");
        return w->shell ? 1 : cs_fail(err, CS_INVALID, "%s: must be \"shell\"", where);
    }
    return 0;
}

static int read_numbers(struct cs_json_val key, struct cs_json_val item, const char *where,
                        struct cs_when *w, struct cs_err *err)
{
    const struct {
        const char *name;
        uint64_t *to;
    } large[] = {{"source_bytes", &w->source_bytes},
                 {"longest_line", &w->longest_line},
                 {"modules", &w->modules}};
    const struct {
        const char *name;
        uint32_t *to;
    } small[] = {{"at_least", &w->at_least},
                 {"sensitive_inputs", &w->sensitive_inputs},
                 {"bad_lately", &w->bad},
                 {"bad_percent", &w->bad_percent}};
    for (size_t i = 0; i < CS_COUNT(large); i++)
        if (cs_json_is(key, large[i].name))
            return read_count(item, where, large[i].to, err) < 0 ? -1 : 1;
    for (size_t i = 0; i < CS_COUNT(small); i++)
        if (cs_json_is(key, small[i].name))
            return read_count32(item, where, small[i].to, err) < 0 ? -1 : 1;
    return 0;
}

static int read_reach(struct cs_risk_reader *r, struct cs_json_val key, struct cs_json_val item,
                      const char *where, struct cs_when *w, struct cs_err *err)
{
    static const char *const looks[] = {"prose", "mixed", "control", "unseen"};
    if (cs_json_is(key, "fact"))
        return read_bits(item, where, kind_names, CS_COUNT(kind_names), &w->kinds, err) < 0 ? -1
                                                                                            : 1;
    if (cs_json_is(key, "tool"))
        return read_tool(item, where, &w->tool, err) < 0 ? -1 : 1;
    if (cs_json_is(key, "from"))
        return read_labels(item, where, &w->from, err) < 0 ? -1 : 1;
    if (cs_json_is(key, "to"))
        return read_labels(item, where, &w->to, err) < 0 ? -1 : 1;
    if (cs_json_is(key, "besides"))
        return read_labels(item, where, &w->besides, err) < 0 ? -1 : 1;
    if (cs_json_is(key, "unreadable"))
        return read_wanted(item, where, &w->unreadable, err) < 0 ? -1 : 1;
    if (cs_json_is(key, "holds"))
        return read_secrets(r, item, where, &w->secrets, err) < 0 ? -1 : 1;
    if (cs_json_is(key, "looks"))
        return read_bits(item, where, looks, CS_COUNT(looks), &w->looks, err) < 0 ? -1 : 1;
    return 0;
}

static int read_all(struct cs_risk_reader *r, struct cs_json_val from, const char *where,
                    struct cs_when *w, struct cs_err *err)
{
    if (cs_json_type(from) != CS_JSON_ARRAY || !cs_json_count(from) ||
        cs_json_count(from) > ALL_MOST)
        return cs_fail(err, CS_INVALID, "%s: must be a list of 1 to %u conditions", where,
                       ALL_MOST);
    w->all = cs_arena_alloc(&r->policy->arena, cs_json_count(from) * sizeof *w->all);
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(from, &it, NULL, &item)) {
        char inner[CS_PLACE_BYTES];
        cs_risk_place(inner, "%s[%u]", where, w->all_count);
        if (cs_json_type(cs_json_get(item, "all")) != CS_JSON_NONE)
            return cs_fail(err, CS_INVALID, "%s: has an `all` of its own; put them into one list",
                           inner);
        if (cs_when_read(r, item, inner, &w->all[w->all_count++], err) < 0)
            return -1;
    }
    return 0;
}

/* What asks for a fact says which; what asks for a kind's own asks for that kind. */
static int check(const struct cs_when *w, const char *where, struct cs_err *err)
{
    const uint32_t tools = 1u << CS_FACT_TOOL, flows = 1u << CS_FACT_FLOW,
                   imports = 1u << CS_FACT_IMPORT;
    if (!w->kinds && (w->names.count || w->vias.count || w->keys.count || w->like ||
                      w->word_count || w->secrets || w->looks || w->shell || w->at_least))
        return cs_fail(err, CS_INVALID,
                       "%s.fact: is missing; name, via, key, like, as, words, holds, looks and "
                       "at_least speak of facts",
                       where);
    if (w->tool.is_set && w->kinds != tools)
        return cs_fail(err, CS_INVALID, "%s.tool: is for the fact \"tool\" alone", where);
    if ((w->from || w->to || w->besides) && w->kinds != flows)
        return cs_fail(err, CS_INVALID, "%s: from, to and besides are for the fact \"flow\" alone",
                       where);
    if (w->outside.count && w->kinds != imports)
        return cs_fail(err, CS_INVALID, "%s.outside: is for the fact \"import\" alone", where);
    return 0;
}

int cs_when_read(struct cs_risk_reader *r, struct cs_json_val from, const char *outer,
                 struct cs_when *w, struct cs_err *err)
{
    if (cs_json_type(from) != CS_JSON_OBJECT || !cs_json_count(from))
        return cs_fail(err, CS_INVALID, "%s: must be an object with some of " KEYS, outer);
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(from, &it, &key, &item)) {
        char where[CS_PLACE_BYTES];
        CS_AUTO_ARENA struct cs_arena arena = {0};
        cs_risk_place(where, "%s.%.*s", outer, CS_STR_ARG(cs_json_str(key, &arena)));
        int known = read_reach(r, key, item, where, w, err);
        if (!known)
            known = read_texts(r, key, item, where, w, err);
        if (!known)
            known = read_numbers(key, item, where, w, err);
        if (!known && cs_json_is(key, "all"))
            known = read_all(r, item, where, w, err) < 0 ? -1 : 1;
        if (!known)
            return cs_policy_unknown(key, outer, KEYS, err);
        if (known < 0)
            return -1;
    }
    return check(w, outer, err);
}

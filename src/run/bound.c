#include "run/bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/canon.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "run/approvals.h"
#include "run/guard.h"
#include "run/shield.h"

#define BYTES_MOST   (64u << 10) /* of arguments that can be compared */
#define MEMBERS_MOST 64
#define NAME_MOST    200

static const struct {
    enum cs_why why;
    const char *name;
} reasons[] = {
    {CS_WHY_POLICY, "tools.ask"},          {CS_WHY_CHANGED, "tools.changed"},
    {CS_WHY_YOUNG, "tools.young"},         {CS_WHY_FLOW, "flows"},
    {CS_WHY_VALUES, "privacy.detokenize"}, {CS_WHY_COMMAND, "command"},
};

static void put_text(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

static void put_hash(struct cs_json_writer *w, const unsigned char hash[CS_SHA256])
{
    char hex[2 * CS_SHA256 + 1];
    cs_hex(hash, CS_SHA256, hex);
    cs_json_put_z(w, hex);
}

/* The member of that name, which may be any text. */
static struct cs_json_val member(struct cs_json_val object, struct cs_str name,
                                 struct cs_arena *arena)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(object, &it, &key, &item))
        if (cs_str_eq(cs_json_str(key, arena), name))
            return item;
    return (struct cs_json_val){0};
}

/* --- of a question --- */

static void hash_shown(struct cs_json_val value, unsigned char hash[CS_SHA256])
{
    CS_AUTO_BUF struct cs_buf canon = {0};
    cs_json_canon(value, &canon);
    cs_sha256(cs_buf_str(&canon), hash);
}

/* In canonical form, as the tool would get it. False: that is not known. */
static bool put_value(const struct cs_gate_call *c, struct cs_json_val value, struct cs_buf *out)
{
    CS_AUTO(cs_buf_wipe) struct cs_buf values = {0};
    CS_AUTO_BUF struct cs_buf list = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    cs_buf_printf(&list, "[%.*s]", CS_STR_ARG(cs_json_raw(value)));
    int n = cs_shield_value(c, cs_buf_str(&list), &values);
    if (n < 0 || (n > 0 && !c->run->runner->has_vault_key))
        return false;
    if (cs_json_parse(cs_buf_str(n ? &values : &list), NULL, &doc, NULL) < 0)
        return false;
    cs_json_canon(cs_json_root(&doc), out);
    return true;
}

/* The same value of another argument, tool or tenant has another hash. */
static bool hash_value(const struct cs_gate_call *c, struct cs_str name, struct cs_json_val value,
                       unsigned char hash[CS_SHA256])
{
    static const struct cs_vault_key none;
    const struct cs_runner *r = c->run->runner;
    CS_AUTO(cs_buf_wipe) struct cs_buf text = {0};
    const struct cs_str whose[] = {CS_STR("caisson grant 1"), c->run->tenant, c->tool->server,
                                   c->tool->name, name};
    for (size_t i = 0; i < CS_COUNT(whose); i++) {
        cs_buf_putstr(&text, whose[i]);
        cs_buf_putc(&text, '\0');
    }
    return put_value(c, value, &text) &&
           cs_vault_key_mac(r->has_vault_key ? &r->vault_key : &none, cs_buf_str(&text), hash);
}

static bool comparable(struct cs_json_val arguments, struct cs_arena *arena)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    if (cs_json_type(arguments) != CS_JSON_OBJECT || cs_json_count(arguments) > MEMBERS_MOST)
        return false;
    while (cs_json_next(arguments, &it, &key, &item)) {
        struct cs_str name = cs_json_str(key, arena);
        if (name.len > NAME_MOST || memchr(name.at, '\0', name.len) || cs_token_like(name))
            return false;
    }
    return true;
}

static void put_arguments(struct cs_json_writer *w, const struct cs_gate_call *c)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str text = cs_buf_str(&c->arguments);
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    unsigned char hash[CS_SHA256];
    if (text.len > BYTES_MOST || cs_json_parse(text, NULL, &doc, NULL) < 0 ||
        !comparable(cs_json_root(&doc), &arena))
        return;
    cs_json_key(w, "arguments");
    cs_json_open(w, '{');
    while (cs_json_next(cs_json_root(&doc), &it, &key, &item)) {
        struct cs_str name = cs_json_str(key, &arena);
        cs_json_key_str(w, name);
        cs_json_open(w, '[');
        hash_shown(item, hash);
        put_hash(w, hash);
        if (hash_value(c, name, item, hash))
            put_hash(w, hash);
        else
            cs_json_put_z(w, "");
        cs_json_close(w, ']');
    }
    cs_json_close(w, '}');
}

void cs_bound_question(const struct cs_question_want *want, struct cs_buf *out)
{
    struct cs_approval_rules rules = cs_policy_approvals(want->run->policy);
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    put_text(&w, "four_eyes",
             rules.four_eyes_off               ? CS_STR("off")
             : rules.four_eyes == CS_RISK_HIGH ? CS_STR("high")
                                               : CS_STR("critical"));
    if (want->call && want->call->tool) {
        cs_json_key(&w, "reasons");
        cs_json_open(&w, '[');
        for (size_t i = 0; i < CS_COUNT(reasons); i++)
            if (want->reasons & reasons[i].why)
                cs_json_put_z(&w, reasons[i].name);
        if (want->command.len)
            cs_json_put_str(&w, want->command);
        cs_json_close(&w, ']');
        put_arguments(&w, want->call);
    }
    cs_json_close(&w, '}');
}

void cs_bound_four_eyes(struct cs_str bound, struct cs_approval_rules *rules)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_val then = {0};
    if (bound.len && cs_json_parse(bound, NULL, &doc, NULL) == 0)
        then = cs_json_get(cs_json_root(&doc), "four_eyes");
    if (cs_json_is(then, "off"))
        return;
    if (rules->four_eyes_off)
        rules->four_eyes = CS_RISK_CRITICAL;
    rules->four_eyes_off = false;
    if (cs_json_is(then, "high") && rules->four_eyes > CS_RISK_HIGH)
        rules->four_eyes = CS_RISK_HIGH;
}

/* --- of a grant --- */

static int find_argument(struct cs_json_val known, struct cs_str name, struct cs_json_val value,
                         struct cs_arena *arena, struct cs_str *hash, struct cs_err *err)
{
    struct cs_json_val pair = member(known, name, arena), item;
    struct cs_json_iter it = {0};
    struct cs_str parts[2] = {{0}};
    unsigned char shown[CS_SHA256], given[CS_SHA256];
    for (size_t i = 0; i < 2 && cs_json_next(pair, &it, NULL, &item); i++)
        parts[i] = cs_json_str(item, arena);
    struct cs_str few = cs_utf8_cut(name, 80);
    if (!cs_hex_read(parts[0], shown, sizeof shown))
        return cs_fail(err, CS_INVALID, "arguments: the call that was asked about has no '%.*s'",
                       CS_STR_ARG(few));
    hash_shown(value, given);
    if (memcmp(shown, given, sizeof shown) != 0)
        return cs_fail(
            err, CS_INVALID,
            "arguments: '%.*s' is another one in the call that was asked about; write it "
            "as the card shows it",
            CS_STR_ARG(few));
    *hash = parts[1];
    return 0;
}

/* The arguments that must be equal, and their hashes. */
static int take_arguments(struct cs_json_val known, struct cs_json_val wanted, const char *match,
                          struct cs_arena *arena, struct cs_json_writer *w, struct cs_err *err)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    if (cs_json_type(known) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID,
                       "its arguments are too many or too long to be compared; approve it once");
    put_text(w, "match", cs_str(match));
    cs_json_key(w, "arguments");
    cs_json_open(w, '{');
    while (cs_json_next(wanted, &it, &key, &item)) {
        struct cs_str name = cs_json_str(key, arena), hash = {0};
        if (find_argument(known, name, item, arena, &hash, err) < 0)
            return -1;
        cs_json_key_str(w, name);
        cs_json_put_str(w, hash);
    }
    cs_json_close(w, '}');
    return 0;
}

static int read_wanted(struct cs_str wanted, struct cs_json *doc, struct cs_err *err)
{
    if (wanted.len > BYTES_MOST)
        return cs_fail(err, CS_INVALID, "arguments of more than %u bytes cannot be compared",
                       BYTES_MOST);
    if (cs_json_parse(wanted, NULL, doc, err) < 0)
        return cs_wrap(err, "arguments");
    if (cs_json_type(cs_json_root(doc)) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID,
                       "say with which arguments: a JSON object of those that must be equal, or "
                       "\"any\"");
    return 0;
}

static bool says_any(struct cs_str wanted)
{
    return cs_str_is(wanted, "any") || cs_str_is(wanted, "\"any\"");
}

int cs_bound_grant(struct cs_str bound, struct cs_json_val card, struct cs_str wanted,
                   struct cs_arena *arena, struct cs_grant_row *grant, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_JSON struct cs_json asked = {0};
    CS_AUTO_BUF struct cs_buf json = {0};
    CS_AUTO_BUF struct cs_buf canon = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    bool any = says_any(wanted), exact = !wanted.len;
    struct cs_str shown = cs_json_raw(cs_json_get(cs_json_get(card, "call"), "arguments"));
    if (!bound.len || cs_json_parse(bound, NULL, &asked, NULL) < 0)
        return cs_fail(err, CS_INVALID,
                       "it was asked by an earlier version, which did not put down what a grant "
                       "is good for; approve it once");
    struct cs_json_val root = cs_json_root(&asked), known = cs_json_get(root, "arguments");
    if (read_wanted(any ? CS_STR("{}") : exact ? shown : wanted, &doc, err) < 0)
        return -1;
    if (!any && !exact && !cs_json_count(cs_json_root(&doc)))
        return cs_fail(
            err, CS_INVALID,
            "arguments: {} names none. Leave it out for exactly these arguments; \"any\" "
            "is for whatever they are");
    cs_json_open(&w, '{');
    if (any)
        put_text(&w, "match", CS_STR("any"));
    else if (take_arguments(known, cs_json_root(&doc), exact ? "exact" : "these", arena, &w, err) <
             0)
        return -1;
    struct cs_str why = cs_json_raw(cs_json_get(root, "reasons")),
                  flows = cs_json_raw(cs_json_get(card, "flows"));
    cs_json_key(&w, "reasons");
    cs_json_put_raw(&w, why.len ? why : CS_STR("[]"));
    cs_json_key(&w, "flows");
    cs_json_put_raw(&w, flows.len ? flows : CS_STR("[]"));
    cs_json_close(&w, '}');
    cs_json_canon(cs_json_root(&doc), &canon);
    grant->arguments = cs_arena_dup(arena, cs_buf_str(&canon));
    grant->bound = cs_arena_dup(arena, cs_buf_str(&json));
    return 0;
}

/* --- does it fit? --- */

/* Is every text of the first list in the second? */
static bool all_in(struct cs_json_val list, struct cs_json_val in, struct cs_arena *arena)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item, other;
    while (cs_json_next(list, &it, NULL, &item)) {
        struct cs_json_iter at = {0};
        struct cs_str word = cs_json_str(item, arena);
        bool there = false;
        while (!there && cs_json_next(in, &at, NULL, &other))
            there = cs_str_eq(cs_json_str(other, arena), word);
        if (!there)
            return false;
    }
    return true;
}

/* "EMAIL x 3": how many, and what is before that; else it is what it is. */
static unsigned long long count_of(struct cs_str *what, struct cs_arena *arena)
{
    struct cs_str text = cs_arena_dup(arena, *what);
    for (size_t i = text.len; i > 3; i--) {
        if (memcmp(text.at + i - 3, " x ", 3) != 0)
            continue;
        char *end;
        unsigned long long n = strtoull(text.at + i, &end, 10);
        if (*end || end == text.at + i)
            return 0;
        what->len = i - 3;
        return n;
    }
    return 0;
}

/* Not more of any kind. */
static bool no_more_data(struct cs_json_val list, struct cs_json_val in, struct cs_arena *arena)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item, other;
    while (cs_json_next(list, &it, NULL, &item)) {
        struct cs_json_iter at = {0};
        struct cs_str what = cs_json_str(item, arena);
        unsigned long long n = count_of(&what, arena);
        bool there = false;
        while (!there && cs_json_next(in, &at, NULL, &other)) {
            struct cs_str then = cs_json_str(other, arena);
            unsigned long long most = count_of(&then, arena);
            there = cs_str_eq(what, then) && n <= most;
        }
        if (!there)
            return false;
    }
    return true;
}

static bool same_text(struct cs_json_val a, struct cs_json_val b, const char *key,
                      struct cs_arena *arena)
{
    struct cs_str text = cs_json_str(cs_json_get(a, key), arena);
    return text.len && cs_str_eq(text, cs_json_str(cs_json_get(b, key), arena));
}

static bool flow_within(struct cs_json_val flow, struct cs_json_val granted, struct cs_arena *arena)
{
    return same_text(flow, granted, "from", arena) && same_text(flow, granted, "to", arena) &&
           all_in(cs_json_get(flow, "labels"), cs_json_get(granted, "labels"), arena) &&
           all_in(cs_json_get(flow, "labels_to"), cs_json_get(granted, "labels_to"), arena) &&
           no_more_data(cs_json_get(flow, "data"), cs_json_get(granted, "data"), arena);
}

static bool flows_within(struct cs_json_val flows, struct cs_json_val granted,
                         struct cs_arena *arena)
{
    struct cs_json_iter it = {0};
    struct cs_json_val flow, other;
    while (cs_json_next(flows, &it, NULL, &flow)) {
        struct cs_json_iter at = {0};
        bool there = false;
        while (!there && cs_json_next(granted, &at, NULL, &other))
            there = flow_within(flow, other, arena);
        if (!there)
            return false;
    }
    return true;
}

static bool arguments_fit(struct cs_json_val grant, struct cs_json_val asked,
                          struct cs_arena *arena)
{
    struct cs_json_val match = cs_json_get(grant, "match"),
                       wanted = cs_json_get(grant, "arguments"),
                       given = cs_json_get(asked, "arguments"), key, item, shown, value;
    struct cs_json_iter it = {0};
    if (cs_json_is(match, "any"))
        return true;
    if (cs_json_type(wanted) != CS_JSON_OBJECT || cs_json_type(given) != CS_JSON_OBJECT)
        return false;
    if (!cs_json_is(match, "these") && cs_json_count(wanted) != cs_json_count(given))
        return false;
    while (cs_json_next(wanted, &it, &key, &item)) {
        struct cs_json_iter at = {0};
        struct cs_str hash = cs_json_str(item, arena);
        struct cs_json_val pair = member(given, cs_json_str(key, arena), arena);
        if (!hash.len || !cs_json_next(pair, &at, NULL, &shown) ||
            !cs_json_next(pair, &at, NULL, &value) || !cs_str_eq(hash, cs_json_str(value, arena)))
            return false;
    }
    return true;
}

bool cs_bound_fits(const struct cs_grant_row *grant, struct cs_str bound, struct cs_str card)
{
    CS_AUTO_JSON struct cs_json granted = {0};
    CS_AUTO_JSON struct cs_json asked = {0};
    CS_AUTO_JSON struct cs_json shown = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    if (!grant->bound.len || cs_json_parse(grant->bound, NULL, &granted, NULL) < 0 ||
        cs_json_parse(bound, NULL, &asked, NULL) < 0)
        return false;
    struct cs_json_val g = cs_json_root(&granted), q = cs_json_root(&asked);
    if (!all_in(cs_json_get(q, "reasons"), cs_json_get(g, "reasons"), &arena) ||
        !arguments_fit(g, q, &arena))
        return false;
    /* The card is the largest of them: last, when most do not fit already. */
    return cs_json_parse(card, NULL, &shown, NULL) == 0 &&
           flows_within(cs_json_get(cs_json_root(&shown), "flows"), cs_json_get(g, "flows"),
                        &arena);
}

struct cs_str cs_grant_match(const struct cs_grant_row *grant, struct cs_arena *arena)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (!grant->bound.len || cs_json_parse(grant->bound, NULL, &doc, NULL) < 0)
        return (struct cs_str){0};
    return cs_arena_dup(arena, cs_json_str(cs_json_get(cs_json_root(&doc), "match"), arena));
}

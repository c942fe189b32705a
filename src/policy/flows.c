/* The sections `labels` and `flows`: what tools bring in and can do, and what may go where. */
#include "policy/flows.h"

#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "base/mem.h"
#include "base/near.h"
#include "policy/inside.h"

#define RULES_MAX   1000u
#define PATTERN_MAX 300u
#define VALUE_MAX   60u /* bytes of a name of a place that are compared */

struct label_rule {
    struct cs_str tool;
    unsigned labels;
};

struct flow_rule {
    unsigned from, to;
    struct cs_str tool, source, principal; /* patterns; empty: any */
    bool back;
    enum cs_grant then;
    struct cs_str name;
};

struct cs_flow_rules {
    struct label_rule *labels;
    struct flow_rule *flows;
    size_t label_count, flow_count;
    struct cs_label_words *words; /* that labels are guessed by */
};

static const struct flow_rule built_in[] = {
    {.from = CS_LABEL_PRIVATE | CS_LABEL_UNTRUSTED,
     .to = CS_LABEL_EGRESS,
     .then = CS_GRANT_ASK,
     .name = {"built in: private and untrusted data, and a way out", 51}},
};

/* --- words --- */

static const struct {
    const char *word;
    unsigned label;
} words[] = {{"private", CS_LABEL_PRIVATE},   {"untrusted", CS_LABEL_UNTRUSTED},
             {"public", CS_LABEL_PUBLIC},     {"egress", CS_LABEL_EGRESS},
             {"internal", CS_LABEL_INTERNAL}, {"destructive", CS_LABEL_DESTRUCTIVE}};

void cs_labels_text(unsigned labels, struct cs_buf *out)
{
    size_t start = out->len;
    for (size_t i = 0; i < CS_COUNT(words); i++)
        if (labels & words[i].label)
            cs_buf_printf(out, "%s%s", out->len > start ? ", " : "", words[i].word);
}

void cs_labels_json(unsigned labels, struct cs_json_writer *w)
{
    cs_json_open(w, '[');
    for (size_t i = 0; i < CS_COUNT(words); i++)
        if (labels & words[i].label)
            cs_json_put_z(w, words[i].word);
    cs_json_close(w, ']');
}

unsigned cs_label_parse(struct cs_str word)
{
    for (size_t i = 0; i < CS_COUNT(words); i++)
        if (cs_str_is(word, words[i].word))
            return words[i].label;
    return 0;
}

/* --- labels --- */

unsigned cs_policy_labels(const struct cs_policy *policy, const struct cs_tool_view *tool,
                          struct cs_str *why)
{
    for (size_t i = 0; policy && i < policy->flows->label_count; i++) {
        const struct label_rule *r = &policy->flows->labels[i];
        if (!cs_policy_matches(r->tool, &tool->target))
            continue;
        if (why)
            *why = r->tool;
        return r->labels;
    }
    struct cs_label_words *own = policy ? NULL : cs_label_words_new();
    unsigned labels = cs_labels_guess(policy ? policy->flows->words : own, tool, why);
    cs_label_words_free(own);
    return labels;
}

/* --- places --- */

/* Names of arguments, without case, '_' and '-'. */
static const char *const places[] = {
    "owner",     "repo",         "repository",     "reponame",         "project",
    "projectid", "projectkey",   "projectname",    "workspace",        "workspaceid",
    "org",       "organization", "organizationid", "organizationslug", "account",
    "accountid", "site",         "siteid",         "database",         "baseid",
    "bucket",    "bucketname",   "namespace",      "guildid",          "driveid",
    "tenant",    "space",        "spaceid",        "spacekey",         "groupid",
};

static const char *const addresses[] = {
    "to",           "cc",       "bcc",     "recipient",   "recipients",  "email",   "emails",
    "emailaddress", "phone",    "url",     "urls",        "uri",         "webhook", "webhookurl",
    "endpoint",     "host",     "domain",  "phonenumber", "destination", "href",    "remote",
    "attendees",    "invitees", "address", "chatid",      "handle",
};

static const char *known_name(struct cs_json_val key, const char *const *names, size_t count,
                              struct cs_arena *arena)
{
    struct cs_str text = cs_json_str(key, arena);
    char plain[24];
    size_t len = 0;
    for (size_t i = 0; i < text.len && len < sizeof plain - 1; i++) {
        char c = text.at[i];
        if (c != '_' && c != '-')
            plain[len++] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    for (size_t i = 0; i < count; i++)
        if (cs_str_is(cs_strn(plain, len), names[i]))
            return names[i];
    return NULL;
}

static bool empty(struct cs_json_val v)
{
    enum cs_json_type type = cs_json_type(v);
    return type == CS_JSON_NONE || type == CS_JSON_NULL || cs_str_is(cs_json_raw(v), "\"\"") ||
           ((type == CS_JSON_ARRAY || type == CS_JSON_OBJECT) && !cs_json_count(v));
}

static void put_value(struct cs_json_val v, struct cs_arena *arena, struct cs_buf *place)
{
    struct cs_str text = cs_json_type(v) == CS_JSON_STRING ? cs_json_str(v, arena) : cs_json_raw(v);
    if (text.len > VALUE_MAX)
        cs_buf_printf(place, "%zu:", text.len);
    for (size_t i = 0; i < text.len && i < VALUE_MAX; i++) {
        char c = text.at[i];
        cs_buf_putc(place, c == '\n' ? ' ' : c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
    }
}

/* Some servers put all of their arguments into one: {"params": {...}}. */
static void look_for(struct cs_json_val object, unsigned depth, struct cs_arena *arena,
                     bool *addressed, struct cs_buf *place)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(object, &it, &key, &item)) {
        if (empty(item))
            continue;
        if (known_name(key, addresses, CS_COUNT(addresses), arena))
            *addressed = true;
        const char *name = known_name(key, places, CS_COUNT(places), arena);
        enum cs_json_type type = cs_json_type(item);
        if (name && type != CS_JSON_OBJECT && type != CS_JSON_ARRAY &&
            place->len < CS_FLOW_PLACE - 2 * VALUE_MAX) {
            cs_buf_printf(place, "%s=", name);
            put_value(item, arena, place);
            cs_buf_putc(place, '\n');
        } else if (type == CS_JSON_OBJECT && depth > 0) {
            look_for(item, depth - 1, arena, addressed, place);
        }
    }
}

void cs_flow_place(struct cs_json_val arguments, struct cs_buf *place)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf found = {0};
    bool addressed = false;
    if (cs_json_type(arguments) != CS_JSON_OBJECT)
        return;
    look_for(arguments, 1, &arena, &addressed, &found);
    if (addressed)
        cs_buf_puts(place, "@\n");
    cs_buf_putstr(place, cs_buf_str(&found));
}

static struct cs_str next_line(struct cs_str *text)
{
    const char *end = memchr(text->at, '\n', text->len);
    size_t len = end ? (size_t)(end - text->at) : text->len;
    struct cs_str line = cs_strn(text->at, len);
    *text = cs_strn(text->at + len + (end != NULL), text->len - len - (end != NULL));
    return line;
}

/* Does a line of `place` name the same thing otherwise? */
static bool contradicts(struct cs_str place, struct cs_str line)
{
    const char *equals = memchr(line.at, '=', line.len);
    size_t name = equals ? (size_t)(equals - line.at) + 1 : 0;
    while (name && place.len) {
        struct cs_str other = next_line(&place);
        if (other.len >= name && memcmp(other.at, line.at, name) == 0 && !cs_str_eq(other, line))
            return true;
    }
    return false;
}

static bool goes_home(const struct cs_flow_source *came, const struct cs_flow_sink *sink)
{
    struct cs_str rest = sink->place;
    if (!cs_str_eq(came->target.server, sink->target.server) || cs_str_starts(rest, "@"))
        return false;
    while (rest.len)
        if (contradicts(came->place, next_line(&rest)))
            return false;
    return true;
}

/* --- rules --- */

unsigned cs_flow_part(const struct cs_flow_verdict *v, const struct cs_flow_source *came,
                      const struct cs_flow_sink *sink)
{
    unsigned labels = came->labels & v->from;
    if (labels && v->source.len && !cs_policy_matches(v->source, &came->target))
        return 0;
    if (labels & CS_LABEL_PRIVATE && !v->back && goes_home(came, sink))
        labels &= ~(unsigned)CS_LABEL_PRIVATE;
    return labels;
}

static bool fits(const struct flow_rule *r, struct cs_str principal,
                 const struct cs_flow_source *came, size_t count, const struct cs_flow_sink *sink,
                 struct cs_flow_verdict *v)
{
    if ((r->to && !(r->to & sink->labels)) ||
        (r->principal.len && !cs_glob(r->principal, principal)) ||
        (r->tool.len && !cs_policy_matches(r->tool, &sink->target)))
        return false;
    *v = (struct cs_flow_verdict){.then = r->then,
                                  .from = r->from,
                                  .to = r->to ? r->to & sink->labels : sink->labels,
                                  .back = r->back,
                                  .rule = r->name,
                                  .source = r->source};
    unsigned met = 0;
    for (size_t i = 0; i < count && met != r->from; i++)
        met |= cs_flow_part(v, &came[i], sink);
    return met == r->from;
}

struct cs_flow_verdict cs_policy_flow(const struct cs_policy *policy, struct cs_str principal,
                                      const struct cs_flow_source *came, size_t count,
                                      const struct cs_flow_sink *sink)
{
    struct cs_flow_verdict v = {.then = CS_GRANT_ALLOW};
    for (size_t i = 0; policy && i < policy->flows->flow_count; i++)
        if (fits(&policy->flows->flows[i], principal, came, count, sink, &v))
            return v;
    for (size_t i = 0; i < CS_COUNT(built_in); i++)
        if (fits(&built_in[i], principal, came, count, sink, &v))
            return v;
    return (struct cs_flow_verdict){.then = CS_GRANT_ALLOW};
}

void cs_policy_default_flows(struct cs_json_writer *w)
{
    static const char *const grants[] = {"allow", "ask", "deny"};
    cs_json_open(w, '[');
    for (size_t i = 0; i < CS_COUNT(built_in); i++) {
        cs_json_open(w, '{');
        cs_json_key(w, "from");
        cs_labels_json(built_in[i].from, w);
        cs_json_key(w, "to");
        cs_labels_json(built_in[i].to, w);
        cs_json_key(w, "then");
        cs_json_put_z(w, grants[built_in[i].then]);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

/* --- reading --- */

static int wrong_label(struct cs_str word, const char *where, unsigned allowed, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf known = {0};
    const char *names[CS_COUNT(words)];
    size_t count = 0;
    char text[40];
    cs_labels_text(allowed, &known);
    for (size_t i = 0; i < CS_COUNT(words); i++)
        if (words[i].label & allowed)
            names[count++] = words[i].word;
    snprintf(text, sizeof text, "%.*s", CS_STR_ARG(word));
    const char *near = cs_nearest(text, names, count);
    return cs_fail(err, CS_INVALID, "%s: '%s' is no label here%s%s%s; there are: %s", where, text,
                   near ? ", did you mean '" : "", near ? near : "", near ? "'" : "",
                   cs_buf_cstr(&known));
}

/* One label, or a list of them, out of those `allowed`. */
static int read_labels(struct cs_json_val from, const char *where, unsigned allowed, unsigned *into,
                       struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    bool list = cs_json_type(from) == CS_JSON_ARRAY;
    struct cs_json_iter it = {0};
    struct cs_json_val item = from;
    if (!list && cs_json_type(from) != CS_JSON_STRING)
        return cs_fail(err, CS_INVALID, "%s: must be a label or a list of labels", where);
    *into = 0;
    for (bool more = list ? cs_json_next(from, &it, NULL, &item) : true; more;
         more = list && cs_json_next(from, &it, NULL, &item)) {
        struct cs_str word = cs_json_str(item, &arena);
        unsigned label = cs_label_parse(word) & allowed;
        if (!label)
            return wrong_label(word, where, allowed, err);
        *into |= label;
    }
    return 0;
}

static int read_label_rules(struct cs_policy *p, struct cs_json_val from, struct cs_err *err)
{
    struct cs_flow_rules *f = p->flows;
    if (cs_json_type(from) == CS_JSON_NONE)
        return 0;
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID,
                       "labels: must be an object like {\"crm/*\": [\"private\", \"internal\"]}");
    if (cs_json_count(from) > RULES_MAX)
        return cs_fail(err, CS_LIMIT, "labels: more than %u", RULES_MAX);
    f->labels = cs_arena_alloc(&p->arena, sizeof *f->labels * (cs_json_count(from) + 1));
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (cs_json_next(from, &it, &key, &item)) {
        struct label_rule *r = &f->labels[f->label_count++];
        char where[80];
        r->tool = cs_arena_dup(&p->arena, cs_json_str(key, &p->arena));
        snprintf(where, sizeof where, "labels.\"%.60s\"", r->tool.at ? r->tool.at : "");
        if (r->tool.len == 0 || r->tool.len > PATTERN_MAX)
            return cs_fail(err, CS_INVALID, "%s: must be a pattern like \"crm/*\"", where);
        if (read_labels(item, where, ~0u, &r->labels, err) < 0)
            return -1;
    }
    return 0;
}

static int read_pattern(struct cs_policy *p, struct cs_json_val from, const char *where,
                        const char *name, struct cs_str *into, struct cs_err *err)
{
    struct cs_str text = cs_json_str(from, &p->arena);
    if (text.len == 0 || text.len > PATTERN_MAX)
        return cs_fail(err, CS_INVALID, "%s.%s: must be a pattern like \"mail/send*\"", where,
                       name);
    *into = cs_arena_dup(&p->arena, text);
    return 0;
}

int cs_policy_read_grant(struct cs_json_val from, const char *where, enum cs_grant *into,
                         struct cs_err *err)
{
    static const char *const names[] = {"allow", "ask", "deny"};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str word = cs_json_str(from, &arena);
    for (size_t i = 0; i < CS_COUNT(names); i++)
        if (cs_str_is(word, names[i])) {
            *into = (enum cs_grant)i;
            return 0;
        }
    char text[40];
    snprintf(text, sizeof text, "%.*s", CS_STR_ARG(word));
    const char *near = cs_nearest(text, names, CS_COUNT(names));
    return cs_fail(err, CS_INVALID, "%s: must be \"allow\", \"ask\" or \"deny\"%s%s%s", where,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static int read_flow_member(struct cs_policy *p, struct cs_json_val key, struct cs_json_val item,
                            const char *where, struct flow_rule *r, struct cs_err *err)
{
    char place[60];
    if (cs_json_is(key, "from")) {
        snprintf(place, sizeof place, "%s.from", where);
        return read_labels(item, place, CS_LABELS_IN, &r->from, err);
    }
    if (cs_json_is(key, "to")) {
        snprintf(place, sizeof place, "%s.to", where);
        return read_labels(item, place, ~CS_LABELS_IN, &r->to, err);
    }
    if (cs_json_is(key, "then")) {
        snprintf(place, sizeof place, "%s.then", where);
        return cs_policy_read_grant(item, place, &r->then, err);
    }
    if (cs_json_is(key, "tool"))
        return read_pattern(p, item, where, "tool", &r->tool, err);
    if (cs_json_is(key, "source"))
        return read_pattern(p, item, where, "source", &r->source, err);
    if (cs_json_is(key, "principal"))
        return read_pattern(p, item, where, "principal", &r->principal, err);
    if (!cs_json_is(key, "back"))
        return cs_policy_unknown(key, where, "from, to, then, tool, source, principal, back", err);
    if (!cs_json_bool(item, &r->back))
        return cs_fail(err, CS_INVALID, "%s.back: must be true or false", where);
    return 0;
}

static int read_flow(struct cs_policy *p, struct cs_json_val from, size_t number,
                     struct cs_err *err)
{
    char where[40];
    snprintf(where, sizeof where, "flows[%zu]", number);
    struct flow_rule *r = &p->flows->flows[p->flows->flow_count++];
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    if (cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "%s: must be an object", where);
    r->name = cs_arena_dup(&p->arena, cs_str(where));
    while (cs_json_next(from, &it, &key, &item))
        if (read_flow_member(p, key, item, where, r, err) < 0)
            return -1;
    if (!r->from)
        return cs_fail(err, CS_INVALID,
                       "%s: wants `from`, the labels of what has come in: private, untrusted, "
                       "public",
                       where);
    if (!r->to && !r->tool.len)
        return cs_fail(err, CS_INVALID,
                       "%s: wants `to` (egress, internal, destructive) or a `tool`, where it goes",
                       where);
    if (cs_json_type(cs_json_get(from, "then")) == CS_JSON_NONE)
        return cs_fail(err, CS_INVALID, "%s: wants `then`: \"allow\", \"ask\" or \"deny\"", where);
    return 0;
}

int cs_policy_read_flows(struct cs_policy *p, struct cs_json_val labels, struct cs_json_val flows,
                         struct cs_err *err)
{
    struct cs_flow_rules *f = p->flows = CS_NEW(struct cs_flow_rules);
    f->words = cs_label_words_new();
    if (read_label_rules(p, labels, err) < 0)
        return -1;
    if (cs_json_type(flows) == CS_JSON_NONE)
        return 0;
    if (cs_json_type(flows) != CS_JSON_ARRAY)
        return cs_fail(err, CS_INVALID,
                       "flows: must be a list like [{\"from\": \"private\", \"to\": \"egress\", "
                       "\"then\": \"ask\"}]");
    if (cs_json_count(flows) > RULES_MAX)
        return cs_fail(err, CS_LIMIT, "flows: more than %u rules", RULES_MAX);
    f->flows = cs_arena_alloc(&p->arena, sizeof *f->flows * (cs_json_count(flows) + 1));
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    for (size_t i = 0; cs_json_next(flows, &it, NULL, &item); i++)
        if (read_flow(p, item, i, err) < 0)
            return -1;
    return 0;
}

void cs_flow_rules_free(struct cs_flow_rules *rules)
{
    if (rules)
        cs_label_words_free(rules->words);
    free(rules);
}

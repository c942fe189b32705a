/* The section "privacy" of the policy file: what it answers. */
#include "privacy/config.h"

#include <stdio.h>

#include "base/glob.h"
#include "base/hash.h"
#include "base/mem.h"

#define CUSTOMS_BYTES ((size_t)256 << 10) /* of a request */

CS_DEFINE_CLEANUP(struct cs_privacy, cs_privacy_unref)

/* Which options, rules, words and built-in rules: all that decides. */
static void take_hash(struct cs_privacy *p, struct cs_str section)
{
    CS_AUTO_BUF struct cs_buf all = {0};
    cs_buf_printf(&all, "%s\n%d %d %d\n%zu ", cs_detector_version(), p->off, (int)p->level,
                  (int)p->style, section.len);
    cs_buf_putstr(&all, section);
    cs_buf_putstr(&all, cs_buf_str(&p->dictionaries));
    cs_sha256(cs_buf_str(&all), p->hash);
    cs_buf_done(&p->dictionaries);
}

int cs_privacy_new(const struct cs_privacy_options *options, struct cs_privacy **privacy,
                   struct cs_err *err)
{
    CS_AUTO(cs_privacy_unrefp) struct cs_privacy *p = CS_NEW(struct cs_privacy);
    CS_AUTO_JSON struct cs_json doc = {0};
    p->refs = 1;
    p->off = options->off;
    p->level = options->level;
    p->style = options->style;
    if (options->section.len) {
        if (cs_json_parse(options->section, NULL, &doc, err) < 0)
            return cs_wrap(err, "privacy");
        if (cs_privacy_read(p, cs_json_root(&doc), options->dir, err) < 0)
            return -1;
    }
    if (cs_detector_new(p->customs, p->custom_count, &p->detector, err) < 0)
        return cs_wrap(err, "privacy");
    take_hash(p, options->section);
    *privacy = CS_TAKE(p);
    return 0;
}

struct cs_privacy *cs_privacy_ref(struct cs_privacy *privacy)
{
    privacy->refs++;
    return privacy;
}

void cs_privacy_unref(struct cs_privacy *privacy)
{
    if (!privacy || --privacy->refs)
        return;
    cs_detector_unref(privacy->detector);
    cs_buf_done(&privacy->dictionaries);
    cs_arena_done(&privacy->arena);
    free(privacy);
}

bool cs_privacy_off(const struct cs_privacy *privacy)
{
    return privacy->off;
}

struct cs_detector *cs_privacy_detector(const struct cs_privacy *privacy)
{
    return privacy->detector;
}

enum cs_token_style cs_privacy_style(const struct cs_privacy *privacy)
{
    return privacy->style;
}

enum cs_privacy_level cs_privacy_level(const struct cs_privacy *privacy)
{
    return privacy->off ? CS_PRIVACY_OFF : privacy->level;
}

const unsigned char *cs_privacy_hash(const struct cs_privacy *privacy)
{
    return privacy->hash;
}

size_t cs_privacy_examples(const struct cs_privacy *privacy,
                           const struct cs_custom_example **examples)
{
    *examples = privacy->examples;
    return privacy->example_count;
}

/* --- rules --- */

static bool fits(struct cs_str pattern, const struct cs_str names[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cs_glob(pattern, names[i]))
            return true;
    return false;
}

enum cs_privacy_level cs_privacy_level_of(const struct cs_privacy *privacy,
                                          const struct cs_str names[], size_t count,
                                          enum cs_privacy_level asked)
{
    if (privacy->off)
        return CS_PRIVACY_OFF;
    enum cs_privacy_level level = privacy->level;
    for (size_t i = 0; i < privacy->level_count; i++)
        if (fits(privacy->levels[i].tool, names, count)) {
            level = privacy->levels[i].level;
            break;
        }
    return asked > level ? asked : level;
}

static const struct cs_custom *custom_of(const struct cs_privacy *p, struct cs_str name)
{
    for (size_t i = 0; i < p->custom_count; i++)
        if (cs_str_eq(p->customs[i].name, name))
            return &p->customs[i];
    return NULL;
}

static bool speaks_of(const struct cs_may_rule *rule, enum cs_pii kind, struct cs_str custom)
{
    if (rule->all || (rule->kinds >> kind & 1))
        return true;
    for (size_t i = 0; kind == CS_PII_CUSTOM && i < rule->name_count; i++)
        if (cs_str_eq(rule->names[i], custom))
            return true;
    return false;
}

/* Where no rule fits. */
static enum cs_may usual(const struct cs_privacy *p, enum cs_pii kind, struct cs_str custom)
{
    const struct cs_custom *own = kind == CS_PII_CUSTOM ? custom_of(p, custom) : NULL;
    if (cs_pii_secret(kind) || (own && own->secret))
        return CS_MAY_NOT;
    return kind == CS_PII_SSN || kind == CS_PII_CREDIT_CARD ? CS_MAY_ASK : CS_MAY;
}

enum cs_may cs_privacy_may(const struct cs_privacy *privacy, const struct cs_str names[],
                           size_t count, enum cs_pii kind, struct cs_str custom, struct cs_str *why)
{
    if (why)
        *why = CS_STR("usual for what no rule of privacy.detokenize names");
    if (kind == CS_PII_LITERAL) /* never a value of somebody's */
        return CS_MAY;
    for (size_t i = 0; i < privacy->may_count; i++) {
        const struct cs_may_rule *r = &privacy->mays[i];
        if (!speaks_of(r, kind, custom) || !fits(r->tool, names, count))
            continue;
        if (why)
            *why = r->place;
        return r->then;
    }
    return usual(privacy, kind, custom);
}

/* --- of one request --- */

int cs_privacy_wish(const struct cs_privacy *privacy, struct cs_json_val from,
                    struct cs_arena *arena, struct cs_privacy_wish *wish, struct cs_err *err)
{
    CS_AUTO(cs_detector_unrefp) struct cs_detector *tried = NULL;
    struct cs_custom *customs = NULL;
    size_t count = 0;
    bool is_word = cs_json_type(from) == CS_JSON_STRING;
    struct cs_json_val level = is_word ? from : cs_json_get(from, "level");
    *wish = (struct cs_privacy_wish){0};
    if (cs_json_type(from) == CS_JSON_NONE || cs_json_type(from) == CS_JSON_NULL)
        return 0;
    if (!is_word && cs_json_type(from) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID,
                       "privacy: must be low, medium or high, or an object with level, patterns, "
                       "words");
    if (!privacy || privacy->off)
        return cs_fail(err, CS_INVALID,
                       "privacy: protection is switched off here (--no-pii-protection or "
                       "privacy.enabled), so nothing of it can be asked for");
    if (cs_json_type(level) != CS_JSON_NONE &&
        (cs_json_type(level) != CS_JSON_STRING ||
         !cs_privacy_level_parse(cs_json_str(level, arena), &wish->level) ||
         wish->level == CS_PRIVACY_OFF))
        return cs_fail(err, CS_INVALID,
                       "privacy%s: must be low, medium or high; a request can ask for more "
                       "protection than the policy, not for less",
                       is_word ? "" : ".level");
    if (is_word)
        return 0;
    if (cs_json_raw(from).len > CUSTOMS_BYTES)
        return cs_fail(err, CS_LIMIT, "privacy: more than %zu kB", CUSTOMS_BYTES >> 10);
    if (cs_customs_read(arena, from, "privacy", &customs, &count, err) < 0)
        return -1;
    if (!count)
        return 0;
    /* Found wrong now, it is the caller's mistake; later it would be ours. */
    if (cs_detector_with(privacy->detector, customs, count, &tried, err) < 0)
        return cs_wrap(err, "privacy");
    wish->customs = customs;
    wish->custom_count = count;
    return 0;
}

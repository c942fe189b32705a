/* The detector: patterns and words of the user's own, on top of what is built in. */
#include "base/mem.h"
#include "base/regex.h"
#include "privacy/page.h"
#include "privacy/phrases.h"

#define PATTERNS_MAX 100
#define WORDS_MAX    100000
#define CUSTOMS_MAX  1000
#define NAME_MAX_    24

struct custom {
    unsigned refs; /* detectors share it */
    char *name;
    enum cs_privacy_level level;
    bool secret;
    struct cs_regex *pattern; /* or: */
    struct cs_phrases *words;
};

struct cs_detector {
    unsigned refs;
    uint32_t off; /* bits of kinds that are not looked for */
    struct custom **customs;
    size_t count, patterns, words;
    size_t house; /* so many of them are the house's; the others came with a request */
};

static void custom_unref(struct custom *c)
{
    if (!c || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    free(c->name);
    cs_regex_free(c->pattern);
    cs_phrases_free(c->words);
    free(c);
}

struct cs_detector *cs_detector_ref(struct cs_detector *detector)
{
    __atomic_add_fetch(&detector->refs, 1, __ATOMIC_RELAXED);
    return detector;
}

void cs_detector_unref(struct cs_detector *detector)
{
    if (!detector || __atomic_sub_fetch(&detector->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (size_t i = 0; i < detector->count; i++)
        custom_unref(detector->customs[i]);
    free(detector->customs);
    free(detector);
}

static bool is_name(struct cs_str s)
{
    if (s.len == 0 || s.len > NAME_MAX_ || s.at[0] == '_' || s.at[s.len - 1] == '_')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if ((s.at[i] < 'A' || s.at[i] > 'Z') && s.at[i] != '_')
            return false;
    return true;
}

static int check(const struct cs_custom *c, const struct cs_detector *d, struct cs_err *err)
{
    enum cs_pii kind;
    if (!is_name(c->name))
        return cs_fail(err, CS_INVALID,
                       "privacy: '%.*s' is no name for a pattern: capital letters and _ between "
                       "them, at most %d",
                       (int)(c->name.len < 40 ? c->name.len : 40), c->name.at ? c->name.at : "",
                       NAME_MAX_);
    if (cs_pii_parse(c->name, &kind) || cs_str_ends(c->name, "_TOKEN"))
        return cs_fail(err, CS_INVALID,
                       "privacy: '%.*s' is the name of something that is built in; give the "
                       "pattern another one",
                       CS_STR_ARG(c->name));
    if ((c->pattern.len > 0) == (c->word_count > 0))
        return cs_fail(err, CS_INVALID, "privacy: '%.*s' needs a pattern, or words, and not both",
                       CS_STR_ARG(c->name));
    if (d->patterns + (c->pattern.len > 0) > PATTERNS_MAX)
        return cs_fail(err, CS_LIMIT, "privacy: there are more than %d patterns", PATTERNS_MAX);
    if (c->word_count > WORDS_MAX || d->words + c->word_count > WORDS_MAX)
        return cs_fail(err, CS_LIMIT, "privacy: there are more than %d words", WORDS_MAX);
    if (d->count >= CUSTOMS_MAX)
        return cs_fail(err, CS_LIMIT, "privacy: there are more than %d lists", CUSTOMS_MAX);
    return 0;
}

static int add(struct cs_detector *d, const struct cs_custom *from, struct cs_err *err)
{
    if (check(from, d, err) < 0)
        return -1;
    struct cs_regex *pattern = NULL;
    struct cs_phrases *words = NULL;
    if (from->pattern.len ? cs_regex_new(from->pattern, &pattern, err) < 0
                          : cs_phrases_new(from->words, from->word_count, &words, err) < 0)
        return cs_wrap(err, "privacy: '%.*s'", CS_STR_ARG(from->name));
    struct custom *c = CS_NEW(struct custom);
    c->refs = 1;
    c->name = cs_strndup(from->name.at, from->name.len);
    c->level = from->level == CS_PRIVACY_OFF ? CS_PRIVACY_LOW : from->level;
    c->secret = from->secret;
    c->pattern = pattern;
    c->words = words;
    d->customs = cs_realloc(d->customs, d->count + 1, sizeof *d->customs);
    d->customs[d->count++] = c;
    d->patterns += pattern != NULL;
    d->words += from->word_count;
    return 0;
}

int cs_detector_with(const struct cs_detector *base, const struct cs_custom *customs, size_t count,
                     struct cs_detector **detector, struct cs_err *err)
{
    CS_AUTO(cs_detector_unrefp) struct cs_detector *d = CS_NEW(struct cs_detector);
    d->refs = 1;
    if (base)
        d->off = base->off;
    if (base && base->count) {
        d->customs = cs_realloc(NULL, base->count, sizeof *d->customs);
        for (size_t i = 0; i < base->count; i++) {
            d->customs[i] = base->customs[i];
            __atomic_add_fetch(&d->customs[i]->refs, 1, __ATOMIC_RELAXED);
        }
        d->count = base->count;
        d->patterns = base->patterns;
        d->words = base->words;
    }
    for (size_t i = 0; i < count; i++)
        if (add(d, &customs[i], err) < 0)
            return -1;
    d->house = base ? base->count : d->count;
    *detector = CS_TAKE(d);
    return 0;
}

bool cs_detector_asked(const struct cs_detector *detector, enum cs_pii kind, unsigned custom)
{
    return kind == CS_PII_CUSTOM && custom >= detector->house;
}

int cs_detector_new(const struct cs_custom *customs, size_t count, struct cs_detector **detector,
                    struct cs_err *err)
{
    return cs_detector_with(NULL, customs, count, detector, err);
}

struct cs_str cs_detector_name(const struct cs_detector *detector, enum cs_pii kind,
                               unsigned custom)
{
    if (kind == CS_PII_CUSTOM && custom < detector->count)
        return cs_str(detector->customs[custom]->name);
    return cs_str(cs_pii_name(kind));
}

const char *cs_detector_version(void)
{
    return "1";
}

uint32_t cs_detector_off(const struct cs_detector *detector)
{
    return detector->off;
}

void cs_detector_without(struct cs_detector *detector, enum cs_pii kind)
{
    detector->off |= 1u << kind;
}

bool cs_detector_customs(const struct cs_detector *detector, enum cs_privacy_level level,
                         bool asked)
{
    size_t from = asked ? detector->house : 0, to = asked ? detector->count : detector->house;
    for (size_t i = from; i < to; i++)
        if (detector->customs[i]->level <= level)
            return true;
    return false;
}

static void find_pattern(const struct custom *c, struct cs_view *view, unsigned which)
{
    struct cs_page *page = view->page;
    size_t at = 0, end;
    if (!page->matcher)
        page->matcher = cs_matcher_new();
    while (cs_regex_next(c->pattern, page->matcher, cs_strn(view->at, view->len), &at, &end)) {
        cs_hit_custom(view, which, at, end);
        at = end;
    }
}

void cs_find_custom(const struct cs_detector *detector, struct cs_view *view)
{
    for (size_t i = 0; i < detector->count; i++) {
        const struct custom *c = detector->customs[i];
        if (c->level > view->level || (i >= detector->house) != view->page->asked)
            continue;
        if (c->pattern) {
            find_pattern(c, view, (unsigned)i);
            continue;
        }
        size_t at = 0, end;
        while (cs_phrases_next(c->words, cs_strn(view->at, view->len), &at, &end)) {
            cs_hit_custom(view, (unsigned)i, at, end);
            at = end;
        }
    }
}

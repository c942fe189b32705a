/*
 * Values of keys and columns that are names: those of "first_name" are, whatever they look like;
 * those of "name" only if they look like one of a person.
 */
#include <strings.h>

#include "privacy/names.h"

#define WORDS   7
#define LONGEST 80

struct value {
    struct cs_name_word words[WORDS + 1];
    size_t count;
};

/* Any of these instead of a name says that there is none. */
static bool is_nothing(struct cs_str s)
{
    static const char *const nothing[] = {
        "null",   "none",  "nil",       "n/a",       "na",       "unknown", "test",
        "string", "true",  "false",     "yes",       "no",       "text",    "varchar",
        "tbd",    "todo",  "anonymous", "default",   "admin",    "root",    "system",
        "user",   "guest", "name",      "undefined", "redacted", "varying", "self"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (s.len == strlen(nothing[i]) && strncasecmp(s.at, nothing[i], s.len) == 0)
            return true;
    return false;
}

static bool is_title(const struct cs_view *view, size_t start, const struct cs_name_word *w)
{
    static const char *const titles[] = {"mr",     "mrs",  "ms",        "miss", "mx",
                                         "dr",     "prof", "professor", "herr", "frau",
                                         "madame", "mme",  "sir",       "rev"};
    struct cs_str s = cs_strn(view->at + start + w->start, w->end - w->start);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (s.len == strlen(titles[i]) && strncasecmp(s.at, titles[i], s.len) == 0)
            return true;
    return false;
}

/* Nothing but words, and not too many of them. */
static bool read_value(struct cs_str text, struct value *v)
{
    struct cs_name_words words;
    cs_name_words_begin(&words, text, (struct cs_str){0});
    v->count = 0;
    while (v->count <= WORDS && cs_name_words_next(&words, &v->words[v->count])) {
        const struct cs_name_word *w = &v->words[v->count++];
        if (w->shape >= CS_SHAPE_NUMBER)
            return false;
        if (v->count > 1 && w->gap > CS_GAP_COMMA && w->gap != CS_GAP_QUOTE &&
            w->gap != CS_GAP_OPEN && w->gap != CS_GAP_CLOSE)
            return false;
    }
    return v->count > 0 && v->count <= WORDS;
}

/* Does it speak against a name of a person? */
static bool speaks_against(struct cs_name_word *w)
{
    unsigned c = cs_name_word_classes(w);
    bool name = CS_GAZ_FIRST(c) || CS_GAZ_LAST(c);
    if (w->shape == CS_SHAPE_UPPER)
        return !name || (CS_GAZ_STOP(c) && CS_GAZ_FIRST(c) < 2);
    return (w->shape != CS_SHAPE_CAP && w->shape != CS_SHAPE_INNER) ||
           (CS_GAZ_STOP(c) && CS_GAZ_FIRST(c) < 2) ||
           (CS_GAZ_WORD(c) == 3 && CS_GAZ_FIRST(c) < 2 && CS_GAZ_LAST(c) < 2);
}

/* As good as a sure key: a first name that is little else, and nothing that speaks against it. */
static bool looks_like_one(struct value *v, size_t from)
{
    unsigned good = 0, whole = 0;
    for (size_t i = from; i < v->count; i++) {
        struct cs_name_word *w = &v->words[i];
        unsigned c = cs_name_word_classes(w);
        bool particle = w->shape == CS_SHAPE_LOWER && w->letters <= 3;
        if (w->shape == CS_SHAPE_INITIAL || (particle && i > from && i + 1 < v->count))
            continue;
        if (speaks_against(w))
            return false;
        whole++;
        good += (CS_GAZ_FIRST(c) >= 2 || CS_GAZ_LAST(c) >= 3) && CS_GAZ_WORD(c) < 2;
    }
    return whole >= 2 && whole <= 4 && good >= 1 && CS_GAZ_FIRST(v->words[from].classes) >= 1;
}

void cs_keyed_name(struct cs_view *view, struct cs_sense sense, size_t start, size_t end)
{
    struct value v;
    size_t from = 0, last;
    if (view->level < CS_PRIVACY_MEDIUM || end - start > LONGEST || end - start < 2 ||
        is_nothing(cs_strn(view->at + start, end - start)) ||
        !read_value(cs_strn(view->at + start, end - start), &v))
        return;
    while (from + 1 < v.count && is_title(view, start, &v.words[from]))
        from++;
    last = v.count - 1;
    if (sense.weak && !looks_like_one(&v, from))
        return;
    /* In running text a sure key may stand before a sentence. */
    if (!sense.weak && !view->is_value)
        for (size_t i = from; i <= last; i++) {
            unsigned c = cs_name_word_classes(&v.words[i]);
            if (v.words[i].shape == CS_SHAPE_LOWER && CS_GAZ_WORD(c) == 3 && !CS_GAZ_FIRST(c) &&
                v.words[i].letters > 3)
                return;
        }
    cs_name_keep(view, v.words + from, last - from + 1);
    cs_hit(view, CS_PII_PERSON, start + v.words[from].start, start + v.words[last].end);
}

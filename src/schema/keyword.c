#include "schema/keyword.h"

#include "base/embed.h"

CS_EMBED(draft_7, "src/schema/draft_7.json")
CS_EMBED(draft_2020_12, "src/schema/draft_2020_12.json")

static const struct {
    const char *text;
    uint8_t drafts, vocabulary, holds;
} table[] = {
#define X(name, text, drafts, vocabulary, holds) {text, drafts, vocabulary, holds},
    KEYWORDS(X)
#undef X
};

const char *cs_keyword_text(enum keyword k)
{
    return table[k].text;
}

enum holds cs_keyword_holds(enum keyword k)
{
    return (enum holds)table[k].holds;
}

static int find(struct cs_str name)
{
    int low = 0, high = KW_COUNT - 1;
    while (low <= high) {
        int mid = (low + high) / 2;
        size_t len = strlen(table[mid].text);
        int order = memcmp(name.at, table[mid].text, name.len < len ? name.len : len);
        if (order == 0)
            order = name.len == len ? 0 : name.len < len ? -1 : 1;
        if (order == 0)
            return mid;
        if (order < 0)
            high = mid - 1;
        else
            low = mid + 1;
    }
    return -1;
}

void cs_keywords_read(struct cs_json_val object, struct dialect dialect, struct keywords *k)
{
    memset(k, 0, sizeof *k);
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    CS_AUTO_ARENA struct cs_arena arena = {0};
    while (cs_json_next(object, &it, &key, &item)) {
        /* No keyword is longer, even where each of its characters is escaped. */
        if (cs_json_raw(key).len > 150)
            continue;
        int at = find(cs_json_str(key, &arena));
        if (at >= 0 && table[at].drafts & dialect.draft &&
            table[at].vocabulary & (dialect.vocabularies | VOCAB_CORE))
            k->all[at] = item;
    }
    /* Until draft 7, nothing that stands beside a $ref counts. */
    if (dialect.draft == DRAFT_7 && cs_json_type(k->all[KW_REF]) == CS_JSON_STRING)
        for (int i = 0; i < KW_COUNT; i++)
            if (i != KW_REF && i != KW_DEFINITIONS && i != KW_SCHEMA)
                k->all[i] = (struct cs_json_val){0};
}

static struct cs_str without_empty_fragment(struct cs_str uri)
{
    return uri.len && uri.at[uri.len - 1] == '#' ? cs_strn(uri.at, uri.len - 1) : uri;
}

bool cs_dialect_find(struct cs_str uri, struct dialect *dialect)
{
    static const struct {
        const char *path;
        uint8_t draft;
    } known[] = {
        {"json-schema.org/draft/2020-12/schema", DRAFT_2020},
        {"json-schema.org/draft/2019-09/schema", DRAFT_2019},
        {"json-schema.org/draft-07/schema", DRAFT_7},
        {"json-schema.org/draft-06/schema", DRAFT_7},
        {"json-schema.org/draft-04/schema", DRAFT_7},
    };
    uri = without_empty_fragment(uri);
    size_t scheme = cs_str_starts(uri, "https://") ? 8 : cs_str_starts(uri, "http://") ? 7 : 0;
    for (size_t i = 0; i < CS_COUNT(known) && scheme; i++)
        if (cs_str_is(cs_strn(uri.at + scheme, uri.len - scheme), known[i].path)) {
            *dialect = (struct dialect){known[i].draft, VOCAB_ALL};
            return true;
        }
    return false;
}

uint8_t cs_vocabulary_find(struct cs_str uri)
{
    static const struct {
        const char *name;
        uint8_t bit;
    } known[] = {
        {"core", VOCAB_CORE},
        {"applicator", VOCAB_APPLICATOR},
        {"unevaluated", VOCAB_UNEVALUATED},
        {"validation", VOCAB_VALIDATION},
        {"format", VOCAB_FORMAT},
        {"format-annotation", VOCAB_FORMAT},
        {"format-assertion", VOCAB_FORMAT_ASSERTION},
        {"meta-data", VOCAB_OTHER},
        {"content", VOCAB_OTHER},
    };
    static const char *const prefixes[] = {"https://json-schema.org/draft/2020-12/vocab/",
                                           "https://json-schema.org/draft/2019-09/vocab/"};
    for (size_t p = 0; p < CS_COUNT(prefixes); p++) {
        size_t n = strlen(prefixes[p]);
        for (size_t i = 0; i < CS_COUNT(known) && cs_str_starts(uri, prefixes[p]); i++)
            if (cs_str_is(cs_strn(uri.at + n, uri.len - n), known[i].name))
                return known[i].bit;
    }
    return 0;
}

struct cs_str cs_metaschema_find(struct cs_str uri)
{
    uri = without_empty_fragment(uri);
    if (cs_str_is(uri, "http://json-schema.org/draft-07/schema") ||
        cs_str_is(uri, "https://json-schema.org/draft-07/schema"))
        return draft_7();
    if (cs_str_is(uri, "https://json-schema.org/draft/2020-12/schema") ||
        cs_str_starts(uri, "https://json-schema.org/draft/2020-12/meta/"))
        return draft_2020_12();
    return (struct cs_str){0};
}

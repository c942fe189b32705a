/* What a key says about its value, and which words hint at what. */
#include <pthread.h>

#include "privacy/page.h"
#include "privacy/personal.h"
#include "privacy/secret.h"

#define KEY_MAX 64

/* A key in lower case without separators and accents, and where its parts begin. */
struct folded {
    char at[KEY_MAX + 1];
    unsigned char parts[KEY_MAX];
    unsigned len, count;
};

/* Does a part of a camel's key begin at `i`? */
static bool is_hump(struct cs_str key, size_t i)
{
    char before = key.at[i - 1], after = i + 1 < key.len ? key.at[i + 1] : 'A';
    return cs_is_lower(before) || cs_is_digit(before) ||
           (cs_is_lower(after) && cs_is_upper(before));
}

static bool fold(struct cs_str key, struct folded *f)
{
    f->len = f->count = 0;
    bool fresh = true;
    for (size_t i = 0; i < key.len; i++) {
        char c = key.at[i];
        if (!cs_is_alnum(c) && !((unsigned char)c & 0x80)) {
            fresh = c != '\''; /* "patient's" */
            continue;
        }
        bool upper = cs_is_upper(c);
        if (upper && !fresh && i > 0)
            fresh = is_hump(key, i);
        char plain[2] = {upper ? (char)(c | 32) : c};
        size_t n = 1;
        if ((unsigned char)c >= 0xC3 && (unsigned char)c <= 0xC5 && i + 1 < key.len)
            n = cs_cue_fold(key.at + i++, 2, plain, sizeof plain); /* an accent */
        if (f->len + n > KEY_MAX)
            return false;
        if (fresh)
            f->parts[f->count++] = (unsigned char)f->len;
        memcpy(f->at + f->len, plain, n);
        f->len += (unsigned)n;
        fresh = false;
    }
    f->at[f->len] = '\0';
    return f->len > 0;
}

/* Where the rows are, by a hash of their name, written once. */
#define SLOTS 4096

static struct {
    pthread_once_t once;
    uint16_t rows[SLOTS]; /* one more than the index; 0: none */
} index_of = {.once = PTHREAD_ONCE_INIT};

static unsigned slot(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return (h ^ h >> 16) % SLOTS;
}

static void make_index(void)
{
    for (size_t i = 0; i < cs_key_row_count; i++) {
        unsigned at = slot(cs_key_rows[i].name);
        while (index_of.rows[at])
            at = (at + 1) % SLOTS;
        index_of.rows[at] = (uint16_t)(i + 1);
    }
}

static const struct cs_key_row *find(const char *name)
{
    for (unsigned at = slot(name); index_of.rows[at]; at = (at + 1) % SLOTS) {
        const struct cs_key_row *r = &cs_key_rows[index_of.rows[at] - 1];
        if (strcmp(r->name, name) == 0)
            return r;
    }
    return NULL;
}

static const struct cs_key_row *find_end(const struct folded *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        const struct cs_key_row *r = find(f->at + f->parts[i]);
        if (r && (i == 0 || !(r->flags & CS_KEY_ALONE)))
            return r;
    }
    return NULL;
}

struct cs_sense cs_key_sense(struct cs_str key)
{
    struct folded f;
    if (key.len > 2 * KEY_MAX || !fold(key, &f))
        return CS_NO_SENSE;
    pthread_once(&index_of.once, make_index);
    const struct cs_key_row *r = find_end(&f);
    if (!r && cs_is_digit(f.at[f.len - 1])) {
        while (f.len > 0 && cs_is_digit(f.at[f.len - 1]))
            f.len--;
        f.at[f.len] = '\0';
        while (f.count > 0 && f.parts[f.count - 1] >= f.len)
            f.count--;
        r = f.len ? find_end(&f) : NULL;
    }
    if (!r)
        return cs_key_secret(key);
    if (r->kind == CS_PII_COUNT)
        return CS_NO_SENSE;
    return (struct cs_sense){r->kind, (r->flags & CS_KEY_WEAK) != 0};
}

static uint64_t eight(const char *at)
{
    uint64_t n;
    memcpy(&n, at, 8);
    return n;
}

static unsigned hash(struct cs_str key)
{
    uint64_t h = key.len;
    if (key.len >= 8)
        h = (eight(key.at) ^ eight(key.at + key.len - 8) * 31) + key.len;
    else
        for (size_t i = 0; i < key.len; i++)
            h = h << 8 | (unsigned char)key.at[i];
    return (unsigned)((h * 0x9E3779B97F4A7C15u) >> 56) % CS_KEYS_KEPT;
}

/* Without a call, for keys of a few bytes. */
static inline bool is_kept(const struct cs_kept_key *k, struct cs_str key)
{
    if (k->len != key.len)
        return false;
    if (key.len < 8) {
        for (size_t i = 0; i < key.len; i++)
            if (k->at[i] != key.at[i])
                return false;
        return true;
    }
    if (eight(k->at) != eight(key.at) || eight(k->at + key.len - 8) != eight(key.at + key.len - 8))
        return false;
    return key.len <= 16 || memcmp(k->at + 8, key.at + 8, key.len - 16) == 0;
}

static enum cs_key_role role_of(struct cs_str key)
{
    static const struct {
        const char *key;
        enum cs_key_role role;
    } roles[] = {
        {"name", CS_KEY_NAMES},
        {"key", CS_KEY_NAMES},
        {"field", CS_KEY_NAMES},
        {"label", CS_KEY_NAMES},
        {"property", CS_KEY_NAMES},
        {"question", CS_KEY_NAMES},
        {"header", CS_KEY_NAMES},
        {"title", CS_KEY_NAMES},
        {"fieldName", CS_KEY_NAMES},
        {"field_name", CS_KEY_NAMES},
        {"value", CS_KEY_VALUE},
        {"values", CS_KEY_VALUE},
        {"answer", CS_KEY_VALUE},
        {"content", CS_KEY_VALUE},
        {"val", CS_KEY_VALUE},
        {"fieldValue", CS_KEY_VALUE},
        {"$date", CS_KEY_INNER},
        {"date", CS_KEY_INNER},
        {"number", CS_KEY_INNER},
        {"data", CS_KEY_INNER},
        {"text", CS_KEY_INNER},
        {"#text", CS_KEY_INNER},
        {"_text", CS_KEY_INNER},
        {"raw", CS_KEY_INNER},
        {"formatted", CS_KEY_INNER},
        {"e164", CS_KEY_INNER},
        {"national", CS_KEY_INNER},
        {"international", CS_KEY_INNER},
        {"columns", CS_KEY_COLUMNS},
        {"headers", CS_KEY_COLUMNS},
        {"fields", CS_KEY_COLUMNS},
        {"cols", CS_KEY_COLUMNS},
        {"column_names", CS_KEY_COLUMNS},
        {"columnNames", CS_KEY_COLUMNS},
        {"header_row", CS_KEY_COLUMNS},
    };
    for (size_t i = 0; i < CS_COUNT(roles); i++)
        if (strlen(roles[i].key) == key.len && (roles[i].key[0] | 32) == (key.at[0] | 32) &&
            memcmp(roles[i].key + 1, key.at + 1, key.len - 1) == 0)
            return roles[i].role;
    return CS_KEY_PLAIN;
}

static bool is_plain(struct cs_str key)
{
    for (size_t i = 0; i < key.len; i++)
        if (!cs_is_letter(key.at[i]) && key.at[i] != '_' && key.at[i] != '-')
            return false;
    return true;
}

static void learn(struct cs_kept_key *k, struct cs_str key)
{
    k->sense = cs_key_sense(key);
    k->role = (uint8_t)role_of(key);
    k->plain = is_plain(key);
    k->len = (uint8_t)key.len;
    memcpy(k->at, key.at, key.len);
}

const struct cs_kept_key *cs_page_key(struct cs_page *page, struct cs_str key)
{
    if (key.len == 0 || key.len > CS_KEY_KEPT) {
        page->other = (struct cs_kept_key){.sense = key.len ? cs_key_sense(key) : CS_NO_SENSE,
                                           .plain = key.len <= 40 && is_plain(key)};
        return &page->other;
    }
    /* Two places for each. */
    unsigned h = hash(key);
    struct cs_kept_key *k = &page->kept[h], *other = &page->kept[h ^ 1];
    if (is_kept(k, key))
        return k;
    if (is_kept(other, key))
        return other;
    if (k->len && (!other->len || page->turn++ % 2))
        k = other;
    learn(k, key);
    return k;
}

struct cs_sense cs_page_sense(struct cs_page *page, struct cs_str key)
{
    return cs_page_key(page, key)->sense;
}

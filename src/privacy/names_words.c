/*
 * A text as words: names that follow each other, what glues them, and everything else as one word
 * per run that is surely no name (paths, hosts, numbers, identifiers).
 */
#include "privacy/names.h"

/* U+00C0 to U+017F without their marks, in their case; '-': no letter. */
static const char latin[] = "AAAAAAACEEEEIIIIDNOOOOO-OUUUUYTsaaaaaaaceeeeiiiidnooooo-ouuuuyty"
                            "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlL"
                            "lLlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";

#define HASH_SEED 0xCBF29CE484222325u
#define HASH_STEP 0x100000001B3u

static uint64_t mixed(uint64_t h)
{
    h ^= h >> 32;
    h *= 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

/* U+2000 on, U+3000 on and U+F000 on are signs, and so is what has four bytes. */
static bool is_sign(unsigned char a, unsigned char b)
{
    return a < 0xE0 || a >= 0xEF || a == 0xE2 || (a == 0xE3 && b == 0x80);
}

/* The same for what has more than one byte. */
static size_t wide_letter(const unsigned char *at, size_t left, char *folded, bool *upper)
{
    unsigned char a = at[0], b = at[1];
    *upper = false;
    if (a >= 0xC3 && a <= 0xC5) {
        char c = latin[((a & 0x1Fu) << 6 | (b & 0x3Fu)) - 0xC0u];
        *upper = c >= 'A' && c <= 'Z';
        *folded = (char)(c | 0x20);
        return c == '-' ? 0 : 2;
    }
    *folded = a == 0xCC || (a == 0xCD && b < 0xB0);
    if (a >= 0xC6 && a <= 0xDF) {
        *upper = (a == 0xD0 && b >= 0x80 && b < 0xB0) || (a == 0xCE && b < 0xAC);
        return 2;
    }
    if (left < 3 || is_sign(a, b))
        return 0;
    *upper = a == 0xE1 && b >= 0xB8 && b <= 0xBB && !(at[2] & 1);
    return 3;
}

/* A letter: how many bytes it has, 0 for none; `folded` is 0 where its bytes count as they are, and
 * 1 for a mark that does not count. */
static size_t letter(const struct cs_name_words *t, size_t i, char *folded, bool *upper)
{
    unsigned char a = i < t->len ? (unsigned char)t->at[i] : 0;
    if (a < 0x80) {
        *upper = a >= 'A' && a <= 'Z';
        *folded = (char)(a | 0x20);
        return cs_is_letter((char)a);
    }
    return i + 1 < t->len ? wide_letter((const unsigned char *)t->at + i, t->len - i, folded, upper)
                          : 0;
}

static size_t apostrophe(const struct cs_name_words *t, size_t i)
{
    if (i < t->len && t->at[i] == '\'')
        return 1;
    return i + 2 < t->len && memcmp(t->at + i, "\xE2\x80\x99", 3) == 0 ? 3 : 0;
}

/* What a word is made of, while it is read. */
struct spelling {
    uint64_t hash;
    uint32_t ends, begins;
    unsigned letters, uppers, inner; /* inner: capitals after small letters */
    bool first_upper, script, last_lower;
};

static void spell(struct spelling *s, const char *at, size_t n, char folded, bool upper)
{
    if (folded == 1)
        return;
    if (folded) {
        s->hash = (s->hash ^ (unsigned char)folded) * HASH_STEP;
        s->ends = (s->ends << 8 | (unsigned char)folded) & 0xFFFFFF;
    } else {
        for (size_t i = 0; i < n; i++)
            s->hash = (s->hash ^ (unsigned char)at[i]) * HASH_STEP;
        s->ends = (s->ends << 8 | (unsigned char)at[n - 1]) & 0xFFFFFF;
        s->script |= !upper && n == 3 && (unsigned char)at[0] != 0xE1;
    }
    if (s->letters < 3)
        s->begins = s->ends;
    if (s->letters == 0)
        s->first_upper = upper;
    s->uppers += upper;
    s->inner += upper && s->last_lower;
    s->last_lower = !upper;
    s->letters++;
}

/* The plain ones, which are nearly all. */
static size_t spell_ascii(const struct cs_name_words *t, size_t i, struct spelling *spelling)
{
    struct spelling s = *spelling;
    size_t from = i;
    for (; i < t->len && cs_is_letter(t->at[i]); i++) {
        unsigned char c = (unsigned char)t->at[i] | 0x20;
        bool upper = c != (unsigned char)t->at[i];
        s.hash = (s.hash ^ c) * HASH_STEP;
        s.ends = s.ends << 8 | c;
        if (s.letters < 3)
            s.begins = s.ends;
        s.letters++;
        s.uppers += upper;
        s.inner += upper && s.last_lower;
        s.last_lower = !upper;
    }
    if (i > from) {
        s.ends &= 0xFFFFFF;
        s.begins &= 0xFFFFFF;
        if (spelling->letters == 0)
            s.first_upper = t->at[from] < 'a';
        *spelling = s;
    }
    return i;
}

static size_t spell_letters(const struct cs_name_words *t, size_t i, struct spelling *s)
{
    char folded;
    bool upper;
    i = spell_ascii(t, i, s);
    while (i < t->len && (unsigned char)t->at[i] >= 0x80) {
        size_t n = letter(t, i, &folded, &upper);
        if (n == 0)
            break;
        spell(s, t->at + i, n, folded, upper);
        i = spell_ascii(t, i + n, s);
    }
    return i;
}

/* Letters, with apostrophes inside: O'Brien, but not the one of Maria's. */
static size_t spell_word(const struct cs_name_words *t, size_t i, struct spelling *s)
{
    for (;;) {
        struct spelling rest;
        size_t n, end;
        i = spell_letters(t, i, s);
        n = apostrophe(t, i);
        if (n == 0)
            return i;
        rest = *s;
        rest.last_lower = false;
        end = spell_letters(t, i + n, &rest);
        if (end == i + n || (end == i + n + 1 && (t->at[end - 1] | 0x20) == 's'))
            return i;
        *s = rest;
        i = end;
    }
}

static uint8_t shape_of(const struct spelling *s)
{
    if (s->script)
        return CS_SHAPE_SCRIPT;
    if (s->uppers == 0)
        return CS_SHAPE_LOWER;
    if (s->letters == 1)
        return CS_SHAPE_INITIAL;
    if (s->uppers == s->letters)
        return CS_SHAPE_UPPER;
    if (!s->first_upper)
        return CS_SHAPE_MIXED;
    if (s->uppers == 1)
        return CS_SHAPE_CAP;
    if (s->inner == 1 && s->uppers == 2) {
        uint32_t b = s->begins >> 8;
        return b == ('m' << 8 | 'c') || b == ('d' << 8 | 'e') || b == ('l' << 8 | 'e') ||
                       b == ('o' << 8 | 'b') || b == ('d' << 8 | 'u') || s->begins == 0x6D6163 ||
                       b == ('v' << 8 | 'a') || b == ('l' << 8 | 'a')
                   ? CS_SHAPE_INNER
                   : CS_SHAPE_MIXED;
    }
    return s->uppers == 2 && s->letters > 3 && s->inner == 0 ? CS_SHAPE_CAP : CS_SHAPE_MIXED;
}

static bool goes_on(char c, bool url)
{
    return cs_is_alnum(c) || (unsigned char)c >= 0x80 || (c && strchr("_-./\\%~+@$", c)) ||
           (url && c && strchr(":?&=#;,!*()", c));
}

/* From `i` to the end of a run that is no word; its letters are spelled on, for it may be a key. */
static size_t run_on(const struct cs_name_words *t, size_t i, struct spelling *s,
                     struct cs_name_word *w)
{
    size_t from = w->start;
    bool url = false;
    while (i < t->len) {
        if (t->at[i] == ':' && i + 2 < t->len && t->at[i + 1] == '/' && t->at[i + 2] == '/')
            url = true;
        if (!goes_on(t->at[i], url))
            break;
        if (cs_is_letter(t->at[i]) && s->letters < 40)
            spell(s, t->at + i, 1, (char)(t->at[i] | 0x20), false);
        if (t->at[i] == '@' && i > from && i + 1 < t->len && cs_is_alnum(t->at[i + 1]))
            w->shape = CS_SHAPE_MAIL;
        i++;
    }
    if (url)
        w->shape = CS_SHAPE_URL;
    while (i > from + 1 && strchr(".-/:?,;!)", t->at[i - 1]))
        i--;
    return i;
}

static size_t read_number(const struct cs_name_words *t, size_t i, struct cs_name_word *w)
{
    struct spelling s = {.hash = HASH_SEED};
    size_t end = i;
    w->shape = CS_SHAPE_NUMBER;
    while (end < t->len &&
           (cs_is_digit(t->at[end]) ||
            (end + 1 < t->len && strchr(".,:-/", t->at[end]) && cs_is_digit(t->at[end + 1]))))
        end++;
    if (end < t->len && (cs_is_letter(t->at[end]) || t->at[end] == '_' || t->at[end] == '@')) {
        w->shape = CS_SHAPE_CODE;
        end = run_on(t, end, &s, w);
    }
    w->hash = w->shape;
    return end > i ? end : i + 1;
}

static bool is_code(const struct cs_name_words *t, size_t i, const struct spelling *s)
{
    char c = i < t->len ? t->at[i] : '\0', d = i + 1 < t->len ? t->at[i + 1] : '\0';
    if (cs_is_digit(c) || c == '_' || c == '$')
        return true;
    if (c == '@' || c == '\\' || c == '%')
        return cs_is_alnum(d);
    if (c == '.')
        return (cs_is_alnum(d) || d == '_') && !(s->letters == 1 && s->uppers == 1);
    if (c == '/')
        return cs_is_letter(d) && d >= 'a' && !s->first_upper;
    return c == ':' && d == '/' && i + 2 < t->len && t->at[i + 2] == '/';
}

/* Titles, whose dot ends no sentence. */
static bool is_title(const struct spelling *s)
{
    static const char titles[][4] = {"mr",  "ms",  "dr",  "mrs", "st",  "jr", "sr",
                                     "rev", "sen", "gov", "col", "cpt", "sgt"};
    if (s->letters > 3 || !s->first_upper)
        return s->letters == 4 && s->first_upper && s->ends == 0x726F66; /* Prof */
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        uint32_t word = 0;
        for (const char *c = titles[i]; *c; c++)
            word = word << 8 | (unsigned char)*c;
        if (word == s->ends)
            return true;
    }
    return false;
}

static size_t read_word(struct cs_name_words *t, size_t i, struct cs_name_word *w)
{
    struct spelling s = {.hash = HASH_SEED};
    size_t end = spell_word(t, i, &s);
    t->initial = false;
    if (is_code(t, end, &s)) {
        w->shape = CS_SHAPE_CODE;
        end = run_on(t, end, &s, w);
    } else {
        w->shape = shape_of(&s);
        w->title = is_title(&s);
        t->initial = w->shape == CS_SHAPE_INITIAL || w->title;
    }
    w->hash = mixed(s.hash);
    w->ends = s.ends;
    w->begins = s.begins;
    w->letters = s.letters > 15 ? 15 : (uint8_t)s.letters;
    return end;
}

static size_t read_handle(const struct cs_name_words *t, size_t i, struct cs_name_word *w)
{
    size_t end = i + 1;
    while (end < t->len && (cs_is_alnum(t->at[end]) || t->at[end] == '_' || t->at[end] == '-'))
        end++;
    w->shape = CS_SHAPE_HANDLE;
    w->hash = (unsigned char)t->at[i];
    return end;
}

/* <tag ...>: 0 if it is none. */
static size_t markup(const struct cs_name_words *t, size_t i)
{
    size_t end = i + 1, most = i + 120 < t->len ? i + 120 : t->len;
    if (end < most && t->at[end] == '/')
        end++;
    if (end >= most || t->at[end] < 'a' || t->at[end] > 'z')
        return 0;
    while (end < most && t->at[end] != '>' && t->at[end] != '<' && t->at[end] != '@' &&
           t->at[end] != '\n')
        end++;
    return end < most && t->at[end] == '>' ? end + 1 : 0;
}

static size_t entity(const struct cs_name_words *t, size_t i)
{
    size_t end = i + 1;
    while (end < t->len && end < i + 9 && (cs_is_alnum(t->at[end]) || t->at[end] == '#'))
        end++;
    return end > i + 1 && end < t->len && t->at[end] == ';' ? end + 1 : 0;
}

static const uint8_t gaps[128] = {
    [' '] = CS_GAP_SPACE, ['\r'] = CS_GAP_SPACE, ['-'] = CS_GAP_HYPHEN, [','] = CS_GAP_COMMA,
    ['/'] = CS_GAP_SLASH, ['&'] = CS_GAP_AMP,    ['\''] = CS_GAP_QUOTE, ['"'] = CS_GAP_QUOTE,
    ['`'] = CS_GAP_QUOTE, ['('] = CS_GAP_OPEN,   ['['] = CS_GAP_OPEN,   ['{'] = CS_GAP_OPEN,
    [')'] = CS_GAP_CLOSE, [']'] = CS_GAP_CLOSE,  ['}'] = CS_GAP_CLOSE,  ['<'] = CS_GAP_ANGLE,
    ['>'] = CS_GAP_ANGLE, ['*'] = CS_GAP_STAR,   ['_'] = CS_GAP_STAR,   ['|'] = CS_GAP_CELL,
    ['\t'] = CS_GAP_CELL, ['='] = CS_GAP_EQUALS, [':'] = CS_GAP_COLON,  ['.'] = CS_GAP_STOP,
    ['!'] = CS_GAP_STOP,  ['?'] = CS_GAP_STOP,   ['\n'] = CS_GAP_LINE,  [';'] = CS_GAP_SEMICOLON,
};

static uint8_t gap_of(unsigned char c)
{
    return c < 128 && gaps[c] ? gaps[c] : CS_GAP_OTHER;
}

/* The gap before a word, as it is read. */
struct between {
    uint8_t gap;
    bool blank; /* there was a blank in it */
};

uint64_t cs_name_word_hash(struct cs_str word)
{
    struct cs_name_words t = {.at = word.at, .len = word.len};
    struct spelling s = {.hash = HASH_SEED};
    for (size_t i = 0; i < word.len; i++)
        i = spell_letters(&t, i, &s);
    return mixed(s.hash);
}

/* The last part of the key that ends at `end`: userName, user_name and "name" are all name. */
static uint32_t key_before(const char *at, size_t end, uint32_t otherwise)
{
    size_t from, most = end > 4 ? end - 4 : 0;
    while (end > most && (at[end - 1] == '"' || at[end - 1] == '\'' || at[end - 1] == ' '))
        end--;
    from = end;
    most = end > 24 ? end - 24 : 0;
    while (from > most && cs_is_letter(at[from - 1]) &&
           !(from < end && at[from] >= 'A' && at[from] <= 'Z' && at[from - 1] >= 'a'))
        from--;
    return end > from ? (uint32_t)cs_name_word_hash(cs_strn(at + from, end - from)) | 1 : otherwise;
}

/* One sign of more than one byte. */
static size_t wide_sign(const struct cs_name_words *t, size_t i, uint8_t *gap)
{
    size_t end = i + 1;
    while (end < t->len && ((unsigned char)t->at[end] & 0xC0) == 0x80)
        end++;
    if (end == i + 2 && memcmp(t->at + i, "\xC2\xA0", 2) == 0)
        *gap = CS_GAP_SPACE;
    if (end == i + 3 && memcmp(t->at + i, "\xE2\x80", 2) == 0) {
        unsigned char c = (unsigned char)t->at[i + 2];
        *gap = c >= 0x98 ? CS_GAP_QUOTE : c >= 0x90 ? CS_GAP_DASH : CS_GAP_SPACE;
    }
    return end;
}

/* The 's of Maria's. */
static bool possessive(const struct cs_name_words *t, size_t i)
{
    size_t n = apostrophe(t, i);
    return n > 0 && i + n < t->len && (t->at[i + n] | 0x20) == 's' &&
           (i + n + 1 == t->len || !cs_is_alnum(t->at[i + n + 1]));
}

static void join_gap(const struct cs_name_words *t, struct between *b, uint8_t gap)
{
    if (gap == CS_GAP_STOP && t->initial && b->gap == CS_GAP_NONE)
        gap = CS_GAP_INITIAL;
    if (gap == CS_GAP_HYPHEN && b->blank)
        gap = CS_GAP_DASH;
    if (gap == CS_GAP_SPACE) {
        b->blank = true;
        b->gap = b->gap == CS_GAP_HYPHEN ? CS_GAP_DASH : b->gap;
    }
    if (gap > b->gap)
        b->gap = gap;
}

static size_t read_gap(struct cs_name_words *t, size_t i, struct between *b)
{
    char c = t->at[i];
    uint8_t gap = gap_of((unsigned char)c);
    size_t end = i + 1, skip = 0;
    if (b->gap == CS_GAP_NONE && i > 0 && possessive(t, i)) {
        b->gap = CS_GAP_POSSESSIVE;
        return i + apostrophe(t, i) + 1;
    }
    if (c == '<' && (skip = markup(t, i)) > 0)
        gap = CS_GAP_ANGLE;
    else if (c == '&' && (skip = entity(t, i)) > 0)
        gap = CS_GAP_SPACE;
    else if ((unsigned char)c >= 0x80)
        skip = wide_sign(t, i, &gap);
    if (c == ':' || c == '=')
        t->key = key_before(t->at, i, t->key);
    if (c == '\n' || c == ';')
        t->key = t->view_key;
    t->line_start |= c == '\n';
    join_gap(t, b, gap);
    return skip > end ? skip : end;
}

void cs_name_words_begin(struct cs_name_words *t, struct cs_str text, struct cs_str key)
{
    *t = (struct cs_name_words){.at = text.at, .len = text.len, .line_start = true};
    t->view_key = t->key = key_before(key.at, key.len, 0);
}

static bool begins(const struct cs_name_words *t, size_t i)
{
    char c = t->at[i], folded;
    bool upper;
    if (c == ' ')
        return false;
    if (c == '@' || c == '#')
        return i + 1 < t->len && cs_is_letter(t->at[i + 1]);
    return cs_is_alnum(c) || ((unsigned char)c >= 0x80 && letter(t, i, &folded, &upper) > 0);
}

bool cs_name_words_next(struct cs_name_words *t, struct cs_name_word *w)
{
    struct between b = {.gap = t->next == 0 ? CS_GAP_START : CS_GAP_NONE};
    size_t i = t->next;
    while (i < t->len && !begins(t, i)) {
        if (t->at[i] == ' ') {
            join_gap(t, &b, CS_GAP_SPACE);
            i++;
        } else {
            i = read_gap(t, i, &b);
        }
    }
    if (i >= t->len)
        return false;
    if (b.gap == CS_GAP_COMMA && !b.blank)
        b.gap = CS_GAP_COMMA_GLUED;
    *w = (struct cs_name_word){.start = (uint32_t)i, .gap = b.gap, .key = t->key};
    w->line_start = t->line_start;
    if (cs_is_digit(t->at[i]))
        t->next = read_number(t, i, w);
    else if (t->at[i] == '@' || t->at[i] == '#')
        t->next = read_handle(t, i, w);
    else
        t->next = read_word(t, i, w);
    w->end = (uint32_t)t->next;
    if (w->shape != CS_SHAPE_NUMBER)
        t->line_start = false;
    return true;
}

#include "search/text.h"

#include "base/own.h"
#include "search/fold.h"

enum kind { GAP, LOWER, UPPER, DIGIT, ALONE };

static enum kind kind_of(uint32_t c)
{
    if (c < 0x80) {
        if (c >= 'a' && c <= 'z')
            return LOWER;
        if (c >= 'A' && c <= 'Z')
            return UPPER;
        return c >= '0' && c <= '9' ? DIGIT : GAP;
    }
    if (cs_fold_is_space(c) || cs_fold_is_punctuation(c) || cs_fold_is_control(c))
        return GAP;
    /* From Thai on, nearly all scripts write without spaces or are symbols. */
    return c >= 0x0E00 && (c < 0x1E00 || c > 0x1FFF) ? ALONE : LOWER;
}

static enum kind kind_at(struct cs_str s)
{
    return s.len ? kind_of(cs_fold_take(&s)) : GAP;
}

static void append(struct cs_word *word, uint32_t c)
{
    uint32_t folded[CS_FOLD_MAX];
    unsigned n = cs_fold_char(c, folded);
    for (unsigned i = 0; i < n; i++) {
        char bytes[4];
        unsigned len = cs_utf8_put(bytes, folded[i]);
        if (word->len + len > CS_WORD_MAX)
            return;
        memcpy(word->at + word->len, bytes, len);
        word->len = (uint8_t)(word->len + len);
    }
}

/* Whether an upper-case letter begins a new word: `before` is what was taken, `after` what follows
 * the letter. In "PDFs" the "F" does not. */
static bool begins_word(enum kind before, struct cs_str after)
{
    if (before == LOWER || before == DIGIT)
        return true;
    if (before != UPPER || kind_at(after) != LOWER)
        return false;
    bool plural = after.at[0] == 's';
    cs_fold_take(&after);
    enum kind next = kind_at(after);
    return !(plural && next != LOWER && next != DIGIT);
}

static bool join(struct cs_words *w, struct cs_word *word)
{
    const struct cs_word *a = &w->parts[0], *b = &w->parts[1];
    bool letters = a->at[0] > '9' && a->len > 1 && a->len + b->len <= CS_WORD_MAX;
    w->count = 0;
    if (!letters)
        return false;
    *word = *a;
    memcpy(word->at + a->len, b->at, b->len);
    word->len = (uint8_t)(a->len + b->len);
    word->joined = true;
    return true;
}

/* Reads to the end of the word that starts here; the rest is then what follows it. */
static void take_word(struct cs_words *w, struct cs_word *word)
{
    enum kind before = GAP;
    while (w->rest.len > 0) {
        struct cs_str after = w->rest;
        uint32_t c = cs_fold_take(&after);
        enum kind kind = kind_of(c);
        if (kind == GAP || (kind == ALONE && before != GAP))
            break;
        if (kind == UPPER && before != GAP && begins_word(before, after)) {
            w->in_run = true;
            return;
        }
        append(word, c);
        w->rest = after;
        before = kind;
        if (kind == ALONE)
            break;
    }
    w->in_run = false;
}

bool cs_words_next(struct cs_words *w, struct cs_word *word)
{
    for (;;) {
        if (!w->in_run) {
            if (w->count == 2 && join(w, word))
                return true;
            w->count = 0;
            while (w->rest.len > 0 && kind_at(w->rest) == GAP)
                cs_fold_take(&w->rest);
            if (w->rest.len == 0)
                return false;
        }
        *word = (struct cs_word){0};
        take_word(w, word);
        if (w->count < 2)
            w->parts[w->count] = *word;
        w->count++;
        if (word->len > 0)
            return true;
    }
}

bool cs_word_is_stop(const struct cs_word *word)
{
    static const char *const stop[] = {
        "a",    "all",   "an",  "and",    "any",  "are",   "as",   "at",   "be",  "by",
        "can",  "could", "did", "do",     "does", "for",   "from", "had",  "has", "have",
        "how",  "i",     "in",  "into",   "is",   "it",    "its",  "me",   "my",  "of",
        "on",   "or",    "our", "should", "some", "that",  "the",  "this", "to",  "we",
        "what", "which", "who", "will",   "with", "would", "you",  "your",
    };
    size_t low = 0, high = CS_COUNT(stop);
    struct cs_str s = cs_word_str(word);
    while (low < high) {
        size_t half = (low + high) / 2, len = strlen(stop[half]);
        int order = memcmp(s.at, stop[half], s.len < len ? s.len : len);
        if (order == 0 && s.len == len)
            return true;
        if (order < 0 || (order == 0 && s.len < len))
            high = half;
        else
            low = half + 1;
    }
    return false;
}

static bool take_ending(struct cs_word *word)
{
    static const struct {
        const char *from, *to;
    } endings[] = {{"ies", "y"}, {"sses", "ss"}, {"ing", ""}, {"ed", ""}, {"es", ""}, {"s", ""}};
    for (size_t i = 0; i < CS_COUNT(endings); i++) {
        size_t from = strlen(endings[i].from), to = strlen(endings[i].to);
        if (!cs_str_ends(cs_word_str(word), endings[i].from) || word->len - from + to < 3)
            continue;
        if (from == 1 && word->at[word->len - 2] == 's')
            continue;
        memcpy(word->at + word->len - from, endings[i].to, to);
        word->len = (uint8_t)(word->len - from + to);
        return true;
    }
    return false;
}

void cs_word_stem(struct cs_word *word)
{
    if (word->len <= 4)
        return;
    take_ending(word);
    char last = word->at[word->len - 1];
    if (word->len > 3 && last == word->at[word->len - 2] && !strchr("lsz", last))
        word->len--;
    if (word->len > 4 && word->at[word->len - 1] == 'e')
        word->len--;
}

size_t cs_word_grams(const struct cs_word *word, char *bytes, struct cs_str *at)
{
    bytes[0] = '^';
    memcpy(bytes + 1, word->at, word->len);
    bytes[word->len + 1] = '$';
    struct cs_str rest = cs_strn(bytes, word->len + 2u);
    for (size_t count = 0;; count++) {
        struct cs_str end = rest;
        int letters = 0;
        for (; letters < 3 && end.len > 0; letters++)
            cs_fold_take(&end);
        if (letters < 3)
            return count;
        at[count] = cs_strn(rest.at, rest.len - end.len);
        cs_fold_take(&rest);
    }
}

static bool is_letter(char c)
{
    return (unsigned char)c >= 0x80 || kind_of((unsigned char)c) != GAP;
}

struct cs_str cs_text_cut(struct cs_str text, size_t most)
{
    if (text.len <= most)
        return text;
    size_t end = most;
    while (end > 0 && most - end <= CS_WORD_MAX && is_letter(text.at[end]) &&
           is_letter(text.at[end - 1]))
        end--;
    if (end > 0 && most - end <= CS_WORD_MAX)
        return cs_strn(text.at, end);
    while (most > 0 && ((unsigned char)text.at[most] & 0xC0) == 0x80)
        most--;
    return cs_strn(text.at, most);
}

struct cs_str cs_text_sentence(struct cs_str text, size_t most)
{
    while (text.len > 0 && (unsigned char)text.at[0] <= ' ') {
        text.at++;
        text.len--;
    }
    text = cs_text_cut(text, most);
    for (size_t i = 0; i < text.len; i++) {
        bool dot = text.at[i] == '.' && i + 1 < text.len && (unsigned char)text.at[i + 1] <= ' ';
        bool ideographic = text.len - i >= 3 && memcmp(text.at + i, "\xE3\x80\x82", 3) == 0;
        if (dot || ideographic || text.at[i] == '\n')
            return cs_strn(text.at, i);
    }
    return text;
}

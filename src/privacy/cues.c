/* Words that hint at what stands next to them: where they stand. */
#include <string.h>

#include "privacy/personal.h"

#define WORD_LONGEST 24
#define WORDS_BACK   7
#define WORDS_BIRTH  10 /* "born in a village near Leeds on the" */
#define WORDS_AFTER  3
#define PAPER_BACK   40

/* All that the words of a key say: "customerPhone", "ship_to_address". */
static unsigned cues_of_key(struct cs_str key)
{
    unsigned says = cs_cue_of(key.at, key.len);
    for (size_t i = 0, start = 0; i <= key.len && i < 128; i++) {
        bool cut = i == key.len || !(cs_is_letter(key.at[i]) || (unsigned char)key.at[i] >= 0x80);
        bool hump =
            !cut && i > start && cs_is_upper(key.at[i]) && (i == 0 || cs_is_lower(key.at[i - 1]));
        if (!cut && !hump)
            continue;
        if (i > start)
            says |= cs_cue_of(key.at + start, i - start);
        start = hump ? i : i + 1;
    }
    return says & ~(unsigned)CS_CUE_CALL; /* "text", "contact" hold anything */
}

static bool is_word_byte(char c)
{
    return cs_is_alnum(c) || (unsigned char)c >= 0x80;
}

/* A blank, a dash or a quotation mark that is not ASCII: they are no part of a word. */
static bool is_sign(const struct cs_view *view, size_t i)
{
    unsigned char c = (unsigned char)cs_view_at(view, i);
    return c == 0xC2 || (c == 0xE2 && (unsigned char)cs_view_at(view, i + 1) == 0x80);
}

/* "D.O.B.", "D. O. B." before `at`, which stands behind the "b". */
static bool is_dob(const struct cs_view *view, size_t at)
{
    static const char letters[] = "bod";
    size_t i = at;
    for (unsigned k = 0; k < 3; k++) {
        if (i == 0 || (view->at[i - 1] | 0x20) != letters[k])
            return false;
        i--;
        while (k < 2 && i > 0 && (view->at[i - 1] == '.' || view->at[i - 1] == ' '))
            i--;
    }
    return i == 0 || !is_word_byte(view->at[i - 1]);
}

/* French: "né le", "née le". */
static bool is_ne_le(const struct cs_view *view, size_t word, size_t end, size_t next)
{
    char folded[4];
    size_t n = cs_cue_fold(view->at + word, end - word, folded, sizeof folded);
    return ((n == 2 && memcmp(folded, "ne", 2) == 0) ||
            (n == 3 && memcmp(folded, "nee", 3) == 0)) &&
           (cs_view_at(view, next) | 0x20) == 'l' && (cs_view_at(view, next + 1) | 0x20) == 'e';
}

static unsigned word_says(const struct cs_view *view, size_t word, size_t end, size_t next)
{
    if (end - word == 1 && (view->at[word] | 0x20) == 'b' &&
        (is_dob(view, end) || (view->at[word] == 'b' && cs_view_at(view, end) == '.')))
        return CS_CUE_BIRTH;
    if (end - word <= 4 && is_ne_le(view, word, end, next))
        return CS_CUE_BIRTH;
    return cs_cue_of(view->at + word, end - word);
}

/* To the end of the word before `i`. False: a line, or everything, ended first. `ended`: a sentence
 * did. */
static bool word_before(const struct cs_view *view, size_t *i, size_t low, bool first, bool *ended)
{
    while (*i > low && (!is_word_byte(view->at[*i - 1]) || is_sign(view, *i - 1))) {
        char c = view->at[--*i];
        if (c == '\n' && !first)
            return false;
        if (cs_one_of(c, "\n.!?;|\t")) /* "Phone:", and the number on the next line */
            *ended = true;
    }
    return *i > low;
}

/* The word is a part of "[SSN_1]": a value stood there, and it says nothing. */
static bool in_token(const struct cs_view *view, size_t start, size_t end)
{
    while (start > 0 && ((view->at[start - 1] >= 'A' && view->at[start - 1] <= 'Z') ||
                         view->at[start - 1] == '_'))
        start--;
    while (end < view->len && (cs_is_digit(view->at[end]) || view->at[end] == '_' ||
                               (view->at[end] >= 'A' && view->at[end] <= 'Z')))
        end++;
    return start > 0 && view->at[start - 1] == '[' && cs_view_at(view, end) == ']' &&
           cs_is_digit(view->at[end - 1]);
}

unsigned cs_cues_before(const struct cs_view *view, size_t at, size_t back, unsigned want)
{
    size_t low = at > back ? at - back : 0, i = at, next = at;
    unsigned seen = 0;
    bool ended = false; /* the very next word may still say it ("Tel.") */
    unsigned most = want & CS_CUE_BIRTH ? WORDS_BIRTH : WORDS_BACK;
    for (unsigned words = 0; words < most; words++) {
        if (!word_before(view, &i, low, words == 0, &ended)) {
            if (i > low || low > 0 || view->key.len == 0)
                return seen;
            return seen | (cues_of_key(view->key) & (want | CS_CUE_OTHER | CS_CUE_NUMBER));
        }
        size_t end = i;
        /* A word that begins before `low` is read in full. */
        while (i > 0 && is_word_byte(view->at[i - 1]) && end - i < WORD_LONGEST + 8)
            i--;
        if (in_token(view, i, end))
            return seen;
        if (cs_is_digit(view->at[i])) {
            if (end - i > 1)
                return seen;
            continue; /* "Phone 2:" */
        }
        unsigned says = word_says(view, i, end, next);
        seen |= says & CS_CUE_NUMBER;
        if (says & (want | CS_CUE_OTHER))
            return seen | says;
        if (ended && !(says & CS_CUE_NUMBER)) /* "No." ends nothing */
            return seen;
        ended = false;
        next = i;
    }
    return seen;
}

unsigned cs_cues_after(const struct cs_view *view, size_t at, unsigned want)
{
    size_t i = at;
    for (unsigned words = 0; words < WORDS_AFTER; words++) {
        size_t stop = i + 4;
        while (i < view->len && i < stop && cs_one_of(view->at[i], " ,(-[\\"))
            i++;
        size_t word = i;
        while (i < view->len && i - word < WORD_LONGEST && is_word_byte(view->at[i]))
            i++;
        char next = cs_view_at(view, i);
        if (i == word || next == ':' || next == '=') /* a key of what comes */
            return 0;
        unsigned says = cs_cue_of(view->at + word, i - word);
        if (says & want)
            return says;
    }
    return 0;
}

enum cs_pii cs_paper_before(const struct cs_view *view, size_t at)
{
    unsigned says =
        cs_cues_before(view, at, PAPER_BACK, CS_CUE_PASSPORT | CS_CUE_DRIVER | CS_CUE_LICENCE);
    if (says & CS_CUE_PASSPORT)
        return CS_PII_PASSPORT;
    if (says & CS_CUE_LICENCE) /* a program's, unless a driver stands before it */
        says |= cs_cues_before(view, at, PAPER_BACK, CS_CUE_DRIVER);
    return says & CS_CUE_DRIVER ? CS_PII_LICENCE : CS_PII_COUNT;
}

/* Text cut into the words of an address. */
#include "privacy/address.h"
#include "privacy/personal.h"

#define WORD_LONGEST 40
#define FOLD_LONGEST 24
#define SMALL_MOST   8

/* A blank, a dash, a dot in the middle that is not ASCII: how long it is; 0: none. */
static size_t sign_len(const struct cs_view *view, size_t i)
{
    unsigned char c = (unsigned char)cs_view_at(view, i);
    if (c == 0xC2 && (unsigned char)cs_view_at(view, i + 1) != 0xBA) /* "3º" */
        return 2;
    return c == 0xE2 && (unsigned char)cs_view_at(view, i + 1) == 0x80 ? 3 : 0;
}

bool cs_letter_at(const struct cs_view *view, size_t i)
{
    char c = cs_view_at(view, i);
    return cs_is_letter(c) || ((unsigned char)c >= 0x80 && sign_len(view, i) == 0);
}

/* "18-II", "12-B": behind the letters, or `i`. */
static size_t letters_end(const struct cs_view *view, size_t i)
{
    size_t more = i + 1;
    if (cs_view_at(view, i) != '-')
        return i;
    while (more < i + 4 && cs_is_upper(cs_view_at(view, more)))
        more++;
    bool open = cs_letter_at(view, more) || cs_is_digit(cs_view_at(view, more));
    return more > i + 1 && !open ? more : i;
}

static size_t read_number(const struct cs_view *view, size_t i, struct cs_word *w)
{
    size_t start = i;
    while (i < view->len && cs_is_digit(view->at[i]))
        i++;
    w->digits = (unsigned char)(i - start > 20 ? 20 : i - start);
    w->is = CS_WORD_NUMBER;
    if (cs_letter_at(view, i)) {
        size_t letters = i;
        while (i < view->len && cs_is_alnum(view->at[i]))
            i++;
        w->mixed = true;
        w->cap = true;
        if (i - letters > 1)
            w->is = CS_WORD; /* 4th, 2RS */
        return i;
    }
    /* "12-14", "5/3" */
    if ((cs_view_at(view, i) == '-' || cs_view_at(view, i) == '/') &&
        cs_is_digit(cs_view_at(view, i + 1))) {
        size_t more = i + 1;
        while (more < view->len && cs_is_digit(view->at[more]))
            more++;
        w->ranged = true;
        if (more - i - 1 <= 4 && !cs_letter_at(view, more))
            i = more;
        else
            w->digits = 20;
        return i;
    }
    return letters_end(view, i);
}

/* Where the word ends: dots only within "P.O.". */
static size_t word_end(const struct cs_view *view, size_t start, bool *mixed)
{
    size_t i = start;
    for (; i < view->len && i - start < WORD_LONGEST; i++) {
        char c = view->at[i];
        if (cs_is_digit(c))
            *mixed = true;
        else if (c == '-' && i - start <= 3 && cs_is_digit(cs_view_at(view, i + 1)))
            continue; /* "D-10117" */
        else if (c == '.' && (i - start > 2 || !cs_letter_at(view, i + 1)))
            break;
        else if ((c == '-' || c == '\'') && !cs_letter_at(view, i + 1))
            break;
        else if (!cs_letter_at(view, i) && !cs_one_of(c, ".-'"))
            break;
    }
    return i;
}

/* Does it begin with a capital? Letters beyond those of Latin-1 count as such. */
static bool is_capital(const struct cs_view *view, size_t i)
{
    unsigned char c = (unsigned char)view->at[i];
    if (c == 0xC3)
        return ((unsigned char)cs_view_at(view, i + 1) & 0x20) == 0;
    return !cs_is_lower((char)c);
}

static unsigned roles_of(const struct cs_view *view, size_t start, size_t end)
{
    char plain[FOLD_LONGEST], folded[FOLD_LONGEST];
    size_t n = 0;
    if (end - start > FOLD_LONGEST)
        return 0;
    for (size_t i = start; i < end; i++)
        if (view->at[i] != '.')
            plain[n++] = view->at[i];
    n = cs_cue_fold(plain, n, folded, sizeof folded);
    unsigned roles = n > 0 ? cs_role_of(folded, n) : 0;
    bool capitals = cs_is_upper(view->at[start]) && cs_is_upper(view->at[end - 1]);
    if ((roles & CS_ROLE_STATE) && !capitals)
        roles = (roles & ~(unsigned)CS_ROLE_STATE) | CS_ROLE_LOW_STATE;
    return roles;
}

static size_t read_word(const struct cs_view *view, size_t start, struct cs_word *w)
{
    size_t i = word_end(view, start, &w->mixed);
    w->is = CS_WORD;
    w->cap = is_capital(view, start);
    w->roles = CS_ROLE_ASK;
    bool street = i - start > 3 && memcmp(view->at + i - 3, "str", 3) == 0;
    if (cs_view_at(view, i) == '.' && (i - start <= 8 || street))
        i++; /* "St.", "Apt.", "Friedrichstr." */
    if (cs_view_at(view, i) == '/' && i - start == 1 && (view->at[start] | 0x20) == 'c') {
        w->roles = CS_ROLE_PRE; /* "C/ Mayor" */
        i++;
    }
    return i;
}

/* A dot that is the number's, not the sentence's: a unit, a town or a line follows. */
static bool after_number(const struct cs_words *t, size_t i)
{
    char next = cs_view_at(t->view, i + 1);
    if (t->count == 0 || t->word[t->count - 1].is != CS_WORD_NUMBER ||
        t->word[t->count - 1].end != i)
        return false;
    if (next != ' ')
        return next == ',' || next == '\n';
    bool mixed;
    return cs_is_letter(cs_view_at(t->view, i + 2)) &&
           (roles_of(t->view, i + 2, word_end(t->view, i + 2, &mixed)) & CS_ROLE_UNIT);
}

/* What stands at `i`: behind it, or 0 if no address has such a thing in it. */
static size_t read_one(const struct cs_view *view, size_t i, size_t to, struct cs_word *w)
{
    char c = view->at[i];
    *w = (struct cs_word){.start = i};
    if (cs_is_digit(c))
        return read_number(view, i, w);
    if (cs_letter_at(view, i))
        return read_word(view, i, w);
    if (c == '#') {
        w->roles = CS_ROLE_UNIT;
        return i + 1;
    }
    if (c == ',') {
        w->is = CS_WORD_COMMA;
        return i + 1;
    }
    bool dash = c == '-' && cs_view_at(view, i + 1) == ' ' && i > 0 && view->at[i - 1] == ' ';
    if (dash || (unsigned char)c >= 0x80) { /* " - ", or a sign beyond ASCII */
        w->is = CS_WORD_COMMA;
        return i + (dash ? 1 : sign_len(view, i));
    }
    w->is = CS_WORD_BREAK;
    if (c != '\n' && c != '\r')
        return 0;
    while (i < to && cs_one_of(view->at[i], "\n\r "))
        i++;
    return i;
}

void cs_words_read(struct cs_words *t, size_t from, size_t to, size_t at)
{
    const struct cs_view *view = t->view;
    unsigned small = 0; /* words without a capital, one after another: a sentence */
    t->count = t->at = 0;
    for (size_t i = from; i < to && t->count < CS_WORDS && small < SMALL_MOST;) {
        struct cs_word *w = &t->word[t->count];
        if (view->at[i] == ' ' || view->at[i] == '\t') {
            i++;
            continue;
        }
        if (i == at)
            t->at = t->count;
        size_t end = read_one(view, i, to, w);
        if (end > 0) {
            w->end = i = end;
            t->count++;
            small = w->is == CS_WORD && !w->cap && w->start > at ? small + 1 : 0;
            continue;
        }
        bool dot = view->at[i] == '.' && after_number(t, i); /* "Piroska u. 97." */
        if (!dot && i > at)
            return;
        if (!dot) /* before the number: begin anew behind it */
            t->count = 0;
        i++;
    }
}

bool cs_word_has(struct cs_words *t, unsigned i, unsigned roles)
{
    if (i >= t->count || t->word[i].is != CS_WORD)
        return false;
    struct cs_word *w = &t->word[i];
    if (w->roles & CS_ROLE_ASK) {
        size_t end = w->end;
        if (t->view->at[end - 1] == '.')
            end--;
        w->roles = roles_of(t->view, w->start, end);
    }
    return (w->roles & roles) != 0;
}

const struct cs_word *cs_word_at(const struct cs_words *t, unsigned i)
{
    static const struct cs_word none = {.is = CS_WORD_BREAK};
    return i < t->count ? &t->word[i] : &none;
}

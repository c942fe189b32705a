/*
 * Postal addresses, from a number to both sides: the text around it is cut into words, the words
 * get roles, and what they add up to decides.
 *
 *     12 Elm St Apt 4, Springfield, IL 62704     number, name, type, unit, town, state, postcode
 *     Lindenstrasse 12, 10115 Berlin             name, number, postcode, town
 *     12 bis rue de la Paix, 75002 Paris         number, type, name, postcode, town
 *     P.O. Box 12, Unit 5146 Box 1772            boxes
 */
#include <string.h>

#include "privacy/address.h"
#include "privacy/personal.h"

#define BACK_MOST  72
#define AHEAD_MOST 200
#define WORDS      48
#define NAME_MOST  7 /* words of a street's name */
#define CUE_BACK   40

enum what { WORD, NUMBER, COMMA, BREAK };

struct word {
    size_t start, end;
    unsigned roles;
    unsigned char what, digits;
    bool cap;   /* begins with a capital, or is beyond ASCII */
    bool mixed; /* letters and digits: "4B", "M18", "4th" */
};

struct text {
    const struct cs_view *view;
    unsigned count, at; /* at: the number that was asked about */
    struct word words[WORDS];
};

/* What speaks for an address. */
struct proof {
    unsigned start, end; /* words; end: behind the last */
    int points;
    unsigned more; /* words of a town that nothing parts from it */
    bool lower,    /* written without capitals */
        typed;     /* has a word for a street, before or after the name */
};

/* --- words --- */

static bool is_letter_at(const struct cs_view *view, size_t i)
{
    char c = cs_view_at(view, i);
    return cs_is_letter(c) || (unsigned char)c >= 0x80;
}

static size_t read_number(const struct cs_view *view, size_t i, struct word *w)
{
    size_t start = i;
    while (i < view->len && cs_is_digit(view->at[i]))
        i++;
    w->digits = (unsigned char)(i - start > 20 ? 20 : i - start);
    w->what = NUMBER;
    if (is_letter_at(view, i)) {
        size_t letters = i;
        while (i < view->len && cs_is_alnum(view->at[i]))
            i++;
        w->mixed = true;
        w->cap = true;
        if (i - letters > 1)
            w->what = WORD; /* 4th, 2RS */
        return i;
    }
    /* "12-14", "5/3" */
    if ((cs_view_at(view, i) == '-' || cs_view_at(view, i) == '/') &&
        cs_is_digit(cs_view_at(view, i + 1))) {
        size_t more = i + 1;
        while (more < view->len && cs_is_digit(view->at[more]))
            more++;
        if (more - i - 1 <= 4 && !is_letter_at(view, more))
            i = more;
        else
            w->digits = 20;
    }
    return i;
}

static size_t read_word(const struct cs_view *view, size_t i, struct word *w)
{
    char folded[24];
    size_t start = i;
    w->what = WORD;
    w->cap = !cs_is_lower(view->at[i]);
    while (i < view->len && i - start < 40) {
        char c = view->at[i];
        bool inside = (c == '-' || c == '\'') && is_letter_at(view, i + 1);
        if (cs_is_digit(c))
            w->mixed = true;
        else if (!cs_is_letter(c) && (unsigned char)c < 0x80 && !inside && c != '.')
            break;
        if (c == '.' && !(is_letter_at(view, i + 1) && i - start <= 2)) {
            break;
        }
        i++;
    }
    size_t n = 0;
    /* "P.O." without its dots */
    char plain[24];
    size_t m = 0;
    for (size_t k = start; k < i && m < sizeof plain; k++)
        if (view->at[k] != '.')
            plain[m++] = view->at[k];
    n = i - start <= 24 ? cs_cue_fold(plain, m, folded, sizeof folded) : 0;
    if ((unsigned char)view->at[start] >= 0x80 && (unsigned char)view->at[start] <= 0xC3)
        w->cap = (unsigned char)view->at[start] < 0xC3 ||
                 ((unsigned char)cs_view_at(view, start + 1) & 0x20) == 0;
    w->roles = n > 0 ? cs_role_of(folded, n) : 0;
    if ((w->roles & CS_ROLE_STATE) &&
        !(cs_is_upper(view->at[start]) && cs_is_upper(view->at[i - 1])))
        w->roles &= ~(unsigned)CS_ROLE_STATE;
    if (cs_view_at(view, i) == '.' && i - start <= 8)
        i++; /* "St.", "Apt." */
    if (cs_view_at(view, i) == '/' && i - start == 1 && (view->at[start] | 0x20) == 'c') {
        w->roles = CS_ROLE_PRE; /* "C/ Mayor" */
        i++;
    }
    return i;
}

/* A dot that is the number's, not the sentence's: a unit, a town or a line follows. */
static bool after_number(const struct text *t, size_t i)
{
    char next = cs_view_at(t->view, i + 1);
    if (t->count == 0 || t->words[t->count - 1].what != NUMBER || t->words[t->count - 1].end != i)
        return false;
    if (next != ' ')
        return next == ',' || next == '\n';
    struct word unit = {0};
    if (!cs_is_letter(cs_view_at(t->view, i + 2)))
        return false;
    read_word(t->view, i + 2, &unit);
    return (unit.roles & CS_ROLE_UNIT) != 0;
}

/* Words from `from` on, until something stands there that no address has in it. */
static void read_words(struct text *t, size_t from, size_t to, size_t at)
{
    const struct cs_view *view = t->view;
    size_t i = from;
    t->count = t->at = 0;
    while (i < to && t->count < WORDS) {
        struct word *w = &t->words[t->count];
        char c = view->at[i];
        if (c == ' ' || c == '\t') {
            i++;
            continue;
        }
        *w = (struct word){.start = i};
        if (i == at)
            t->at = t->count;
        if (cs_is_digit(c))
            i = read_number(view, i, w);
        else if (is_letter_at(view, i))
            i = read_word(view, i, w);
        else if (c == '#') {
            w->what = WORD;
            w->roles = CS_ROLE_UNIT;
            i++;
        } else if (c == ',') {
            w->what = COMMA;
            i++;
        } else if (c == '\n' || c == '\r') {
            w->what = BREAK;
            while (i < to && (view->at[i] == '\n' || view->at[i] == '\r' || view->at[i] == ' '))
                i++;
        } else if (c == '.' && after_number(t, i)) {
            i++; /* "Piroska u. 97." */
            continue;
        } else if (i < at) { /* before the number: begin anew behind it */
            t->count = 0;
            i++;
            continue;
        } else
            return;
        w->end = i;
        t->count++;
    }
}

static const struct word *word_at(const struct text *t, unsigned i)
{
    static const struct word none = {.what = BREAK};
    return i < t->count ? &t->words[i] : &none;
}

static bool is_what(const struct text *t, unsigned i, enum what what)
{
    return i < t->count && t->words[i].what == what;
}

static bool has_role(const struct text *t, unsigned i, unsigned roles)
{
    return i < t->count && t->words[i].what == WORD && (t->words[i].roles & roles);
}

static bool is_house(const struct text *t, unsigned i)
{
    return is_what(t, i, NUMBER) && t->words[i].digits <= 5;
}

/* --- from the street on --- */

/* "M18 4WX", "SW1A 1AA", "K1A 0B1" */
static bool is_postcode(const struct text *t, unsigned i)
{
    const struct word *a = word_at(t, i), *b = word_at(t, i + 1);
    if (i + 1 >= t->count || a->what != WORD || !a->mixed || !b->mixed || b->end - b->start != 3)
        return false;
    const char *p = t->view->at + a->start, *q = t->view->at + b->start;
    size_t n = a->end - a->start;
    if (n < 2 || n > 4 || !cs_is_letter(p[0]) || !cs_is_digit(q[0]))
        return false;
    bool british = cs_is_letter(q[1]) && cs_is_letter(q[2]) &&
                   (cs_is_digit(p[1]) || cs_is_digit(p[n > 2 ? 2 : 1]));
    bool canadian = n == 3 && cs_is_digit(p[1]) && cs_is_letter(p[2]) && cs_is_letter(q[1]) &&
                    cs_is_digit(q[2]);
    return british || canadian;
}

static bool is_name(const struct text *t, unsigned i, bool lower)
{
    const struct word *w = word_at(t, i);
    return w->what == WORD && i < t->count &&
           (w->cap || lower || (w->roles & (CS_ROLE_PART | CS_ROLE_PRE)));
}

/* "Apt 4", ", Suite 12B", "# 3": behind it, or `i`. */
static unsigned units(const struct text *t, unsigned i, struct proof *p)
{
    for (unsigned n = 0; n < 3; n++) {
        unsigned k = i;
        while (n == 0 && k < i + 3 && is_what(t, k, WORD) && word_at(t, k)->cap &&
               !has_role(t, k, CS_ROLE_UNIT))
            k++; /* "12 Elm Dr Upper Extension, Apt 4" */
        unsigned sign = k;
        while (k < sign + 2 && (is_what(t, k, COMMA) || is_what(t, k, BREAK)))
            k++;
        if (!has_role(t, k, CS_ROLE_UNIT))
            break;
        const struct word *w = word_at(t, k + 1);
        bool is_short = w->what == WORD && w->end - w->start <= 4 && (w->mixed || w->cap);
        if (k + 1 >= t->count || !(w->what == NUMBER || is_short))
            break;
        i = k + 2;
        p->points += 3;
    }
    return i;
}

static bool is_end(const struct text *t, unsigned i)
{
    if (i >= t->count || is_what(t, i, BREAK) || is_what(t, i, COMMA))
        return true;
    return false;
}

/* A postcode, and what must stand around it; behind it, or 0. */
static unsigned postcode(const struct text *t, unsigned i, bool parted, int *points)
{
    if (is_postcode(t, i)) {
        *points = 3;
        return i + 2;
    }
    if (!is_what(t, i, NUMBER) || word_at(t, i)->mixed)
        return 0;
    unsigned digits = word_at(t, i)->digits;
    if (digits < 4 || digits > 6)
        return 0;
    if (has_role(t, i - 1, CS_ROLE_STATE)) {
        *points = 3;
        return i + 1;
    }
    /* "75002 Paris", "1017 AB Amsterdam", "8001 Zuerich" */
    if (parted && is_what(t, i + 1, WORD) && word_at(t, i + 1)->cap) {
        unsigned k = i + 1;
        while (k < i + 5 && is_name(t, k, false) && !has_role(t, k, CS_ROLE_UNIT))
            k++;
        while (k > i + 2 && !word_at(t, k - 1)->cap)
            k--;
        *points = digits == 5 ? 3 : 2;
        return k;
    }
    /* "Springfield 62704" at the end */
    *points = 2;
    return digits >= 4 && !is_what(t, i - 1, NUMBER) ? i + 1 : 0;
}

/* Town, state, postcode, country: behind them, or `i`. */
static unsigned tail(const struct text *t, unsigned i, struct proof *p)
{
    unsigned k = i, words = 0, breaks = 0;
    bool parted = false;
    for (; k < i + 14 && k < t->count; k++) {
        if (is_what(t, k, COMMA) || is_what(t, k, BREAK)) {
            breaks += is_what(t, k, BREAK);
            parted = true;
            if (breaks > 4)
                break;
            continue;
        }
        int points = 0;
        unsigned end = k > i ? postcode(t, k, parted, &points) : 0;
        if (end > 0) {
            p->points += points + (breaks > 1);
            return end;
        }
        if (is_what(t, k, NUMBER) && word_at(t, k)->digits <= 2 && k > i &&
            is_what(t, k - 1, COMMA))
            continue; /* a region by its number */
        if (is_what(t, k, NUMBER) || !is_name(t, k, p->lower || parted) || ++words > 9)
            break;
        parted = false;
    }
    return i;
}

/* ", Town" or ", Town, Country" up to the line's end, without a postcode. */
static unsigned town(const struct text *t, unsigned i, struct proof *p)
{
    unsigned k = i;
    for (unsigned n = 0; n < 2 && is_what(t, k, COMMA); n++) {
        unsigned from = k + 1, end = from;
        while (end < from + 4 && is_name(t, end, p->lower) && !has_role(t, end, CS_ROLE_UNIT))
            end++;
        if (end > from && is_what(t, end, NUMBER) && word_at(t, end)->digits <= 2)
            end++; /* "Praha 3" */
        if (end == from || !is_end(t, end) || !(word_at(t, from)->cap || p->lower))
            break;
        k = end;
    }
    if (k > i)
        p->points++;
    return k;
}

/* All that may follow a street. */
static void behind_street(const struct text *t, unsigned i, struct proof *p)
{
    unsigned street = i;
    i = units(t, i, p);
    while (i > street && has_role(t, i, CS_ROLE_DIR))
        i++;
    unsigned end = tail(t, i, p);
    if (end == i)
        end = town(t, i, p);
    for (unsigned n = 0; end > street && end == i && n < 3; n++)
        if (is_what(t, end + n, WORD) && word_at(t, end + n)->cap && n + 1 < 4)
            p->more = n + 1;
        else
            break;
    end += p->more; /* "Apt 4 Springfield" */
    /* "12 Angry Men Street Cred" */
    if (end == street && p->typed && is_what(t, end, WORD) && word_at(t, end)->cap &&
        word_at(t, end - 1)->end + 1 == word_at(t, end)->start &&
        t->view->at[word_at(t, end - 1)->end - 1] != '.' && !has_role(t, end, CS_ROLE_TYPE))
        p->points -= 2;
    p->end = end;
}

/* --- shapes --- */

/* The name of a street behind its number, from `i` on: behind it, or 0. */
static unsigned name_after(const struct text *t, unsigned i, struct proof *p)
{
    unsigned first = i, end = 0, k;
    bool pre = has_role(t, i, CS_ROLE_PRE);
    for (k = i + 1; pre && has_role(t, i, CS_ROLE_TYPE) && k < i + 4 && is_name(t, k, false); k++)
        pre = !has_role(t, k, CS_ROLE_TYPE); /* "Avenue Road" */
    p->lower = is_what(t, i, WORD) && !word_at(t, i)->cap &&
               !(pre && (word_at(t, i + 1)->cap || has_role(t, i + 1, CS_ROLE_PART)));
    for (k = i; k < first + NAME_MOST && is_name(t, k, p->lower); k++) {
        if (has_role(t, k, CS_ROLE_UNIT) && k > first)
            break;
        if (has_role(t, k, CS_ROLE_MONTH) && k == first)
            return 0;
        if (pre)
            continue;
        if (k > first && has_role(t, k, CS_ROLE_TYPE | CS_ROLE_SOFT | CS_ROLE_TAIL)) {
            p->points = has_role(t, k, CS_ROLE_TYPE | CS_ROLE_TAIL) ? 3 : 2;
            p->typed = !has_role(t, k, CS_ROLE_TAIL | CS_ROLE_PART);
            end = k + 1;
        } else if (has_role(t, k, CS_ROLE_TAIL)) {
            p->points = 3;
            end = k + 1;
        }
    }
    while (k > first + 1 && !word_at(t, k - 1)->cap && !p->lower)
        k--; /* particles at the end belong to the sentence */
    if (k == first)
        return 0;
    if (pre) {
        if (k < first + 2)
            return 0;
        p->points = has_role(t, first, CS_ROLE_WEAK) ? 2 : 3;
        end = k;
    }
    if (end == 0 || (end < k && is_house(t, k)))
        end = k; /* a name alone */
    while (has_role(t, end, CS_ROLE_DIR) && word_at(t, end)->end - word_at(t, end)->start <= 3)
        end++;
    /* "Skogstien 106", "Piroska u. 97." */
    if (is_house(t, end) && word_at(t, end)->digits <= 4 && !p->typed) {
        end++;
        p->points++;
    }
    return end;
}

static bool number_first(const struct text *t, unsigned i, struct proof *p)
{
    *p = (struct proof){.start = i};
    if (i >= 1 && has_role(t, i - 1, CS_ROLE_UNIT) && word_at(t, i - 1)->cap) {
        unsigned next = i + 1 + (unsigned)is_what(t, i + 1, COMMA);
        if (is_house(t, next)) { /* "Flat 3, 12 High Street" */
            p->start = i - 1;
            p->points = 1;
            i = next;
        }
    }
    if (!is_house(t, i) || is_what(t, i + 1, COMMA))
        return false;
    unsigned name = i + 1;
    if (is_house(t, name))
        name++;
    const struct word *w = word_at(t, name);
    if (w->what == WORD && !w->cap && w->end - w->start <= 3 && has_role(t, name, CS_ROLE_PART) &&
        has_role(t, name + 1, CS_ROLE_PRE))
        name++; /* bis, ter */
    int unit = p->points;
    unsigned end = name_after(t, name, p);
    if (end == 0)
        return false;
    p->points += unit;
    behind_street(t, end, p);
    if (p->lower)
        p->points -= 3;
    return true;
}

/* "Lindenstrasse 12", "Calle Mayor 5", "Andrassy ut 60": the name stands before the number. */
static bool name_first(const struct text *t, unsigned i, struct proof *p)
{
    *p = (struct proof){.start = i};
    if (!is_house(t, i) || word_at(t, i)->digits > 4 || i == 0)
        return false;
    unsigned k = i, low = i > NAME_MOST ? i - NAME_MOST : 0;
    if (is_what(t, k - 1, COMMA) && k >= 2) /* "Via Roma, 12" */
        k--;
    unsigned last = k;
    for (; k > low && is_name(t, k - 1, false); k--) {
        if (k < last && has_role(t, k - 1, CS_ROLE_PRE) && word_at(t, k)->end) {
            p->points = has_role(t, k - 1, CS_ROLE_WEAK) ? 2 : 3;
            p->start = k - 1;
            if (word_at(t, k - 1)->cap || !has_role(t, k - 1, CS_ROLE_WEAK))
                break;
            p->points = 0;
        }
    }
    if (p->points == 0 && last > 0 && has_role(t, last - 1, CS_ROLE_TAIL) &&
        word_at(t, last - 1)->cap && last == i) {
        p->points = 3;
        p->start = last - 1;
    }
    if (p->points == 0 && last == i && last >= 2 && has_role(t, last - 1, CS_ROLE_TYPE) &&
        is_name(t, last - 2, false) && word_at(t, last - 2)->cap) {
        p->points = 2;
        p->start = last - 2;
    }
    if (p->points == 0) {
        if (last < i || last < 1 || !is_what(t, last - 1, WORD) || !word_at(t, last - 1)->cap)
            return false;
        p->start = last - 1; /* a name alone: only on a corner */
        p->end = i + 1;
        return true;
    }
    behind_street(t, i + 1, p);
    return true;
}

/* "P.O. Box 12", "Postfach 71", "PSC 5605, Box 8122", "Unit 1009 Box 0219" */
static bool box(const struct text *t, unsigned i, struct proof *p)
{
    *p = (struct proof){.start = i};
    if (i > 0 && has_role(t, i - 1, CS_ROLE_BOX)) {
        unsigned k = i - 1;
        bool alone = word_at(t, k)->end - word_at(t, k)->start > 3;
        while (k > 0 && i - k < 4 && has_role(t, k - 1, CS_ROLE_POST)) {
            k--;
            alone = true;
        }
        if (!alone)
            return false;
        p->start = k;
        p->points = 3;
        p->lower = !word_at(t, k)->cap;
        if (k > 0 && is_house(t, k - 1))
            p->start = k - 1;
        behind_street(t, i + 1, p);
        return true;
    }
    unsigned next = i + 1 + (unsigned)is_what(t, i + 1, COMMA);
    if (i > 0 && is_what(t, i - 1, WORD) && has_role(t, next, CS_ROLE_BOX) &&
        is_house(t, next + 1)) {
        p->start = i - 1;
        p->points = 3;
        behind_street(t, next + 2, p);
        return true;
    }
    return false;
}

/* "FPO AE 13689": the line before it belongs to it. */
static bool military(const struct text *t, unsigned i, struct proof *p)
{
    *p = (struct proof){.start = i, .end = i + 1};
    if (i < 2 || word_at(t, i)->digits != 5 || !has_role(t, i - 2, CS_ROLE_MIL) ||
        word_at(t, i - 1)->end - word_at(t, i - 1)->start != 2)
        return false;
    p->start = i - 2;
    p->points = 3;
    unsigned k = i - 2;
    if (k > 1 && is_what(t, k - 1, BREAK))
        for (k--; k > 0 && i - k < 8 && is_what(t, k - 1, WORD); k--)
            p->start = k - 1;
    return true;
}

/* Most numbers have nothing of an address about them. */
static bool is_dull(const struct cs_view *view, size_t at)
{
    size_t end = at;
    while (end < view->len && end - at < 7 && cs_is_digit(view->at[end]))
        end++;
    if (end - at > 5)
        return true;
    char before = at > 0 ? view->at[at - 1] : '\n', next = cs_view_at(view, end);
    if (!(before == ' ' || before == '\n' || before == '"' || before == '\'' || before == '(' ||
          before == ',' || before == ':' || before == '>' || before == '\t' || before == ';' ||
          before == '|'))
        return true;
    bool name_before =
        before == ' ' && at >= 2 &&
        (is_letter_at(view, at - 2) || view->at[at - 2] == '.' || view->at[at - 2] == ',');
    if (cs_is_letter(next) || next == '-' || next == '/')
        return false;
    if (next == ' ')
        return !name_before && !is_letter_at(view, end + 1) &&
               !cs_is_digit(cs_view_at(view, end + 1));
    return !name_before;
}

static bool spells(const struct text *t, unsigned i, const char *word)
{
    size_t n = strlen(word);
    return is_what(t, i, WORD) && t->words[i].end - t->words[i].start == n &&
           memcmp(t->view->at + t->words[i].start, word, n) == 0;
}

/* "the corner of Auenweg 85 and Main Street" */
static void corner(const struct text *t, struct proof *p)
{
    unsigned first = p->start;
    while (first > 0 && p->start - first < 3 && is_name(t, first - 1, false) &&
           !spells(t, first - 1, "of"))
        first--;
    if (first < 2 || !spells(t, first - 1, "of") || !spells(t, first - 2, "corner"))
        return;
    p->points += 3;
    p->start = first >= 3 && spells(t, first - 3, "the") ? first - 3 : first - 2;
    unsigned k = p->end;
    if (!spells(t, k, "and"))
        return;
    for (k++; k < p->end + 5 && (is_house(t, k) || (is_what(t, k, WORD) && word_at(t, k)->cap));)
        k++;
    p->end = k;
}

static bool is_address(const struct text *t, const struct proof *p)
{
    if (p->points >= 3)
        return true;
    if (p->points < 1)
        return false;
    unsigned says = cs_cues_before(t->view, word_at(t, p->start)->start, CUE_BACK, CS_CUE_PLACE);
    return (says & CS_CUE_PLACE) && p->points + (p->lower ? 1 : 2) >= 3;
}

size_t cs_find_address(struct cs_view *view, size_t at)
{
    static bool (*const shapes[])(const struct text *, unsigned,
                                  struct proof *) = {box, number_first, name_first, military};
    if (view->level < CS_PRIVACY_MEDIUM || is_dull(view, at))
        return at + 1;
    struct text t;
    t.view = view;
    size_t from = at > BACK_MOST ? at - BACK_MOST : 0;
    while (from > 0 && from < at && is_letter_at(view, from) && is_letter_at(view, from - 1))
        from++;
    size_t to = view->len - at > AHEAD_MOST ? at + AHEAD_MOST : view->len;
    read_words(&t, from, to, at);
    if (t.count == 0)
        return at + 1;
    for (size_t i = 0; i < CS_COUNT(shapes); i++) {
        struct proof p;
        if (!shapes[i](&t, t.at, &p) || p.end <= p.start)
            continue;
        corner(&t, &p);
        if (!is_address(&t, &p))
            continue;
        size_t start = word_at(&t, p.start)->start, end = word_at(&t, p.end - 1)->end;
        if (view->at[end - 1] == '.' && word_at(&t, p.end - 1)->what == WORD &&
            !(word_at(&t, p.end - 1)->roles & (CS_ROLE_TYPE | CS_ROLE_TAIL)))
            end--;
        cs_hit(view, CS_PII_ADDRESS, start, end);
        return end > at ? end : at + 1;
    }
    return at + 1;
}

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
#include "privacy/names.h"
#include "privacy/personal.h"

#define BACK_MOST   72
#define AHEAD_MOST  200
#define NAME_MOST   7 /* words of a street's name */
#define CUE_BACK    40
#define LOWER_AHEAD 72

/* What speaks for an address. */
struct proof {
    unsigned start, end; /* words; end: behind the last */
    int points;
    unsigned more; /* words of a town that nothing parts from it */
    bool lower,    /* written without capitals */
        typed;     /* has a word for a street, before or after the name */
};

static bool is_house(struct cs_words *t, unsigned i)
{
    return cs_word_is(t, i, CS_WORD_NUMBER) && t->word[i].digits <= 5;
}

/* --- from the street on --- */

/* "M18 4WX", "SW1A 1AA", "K1A 0B1" */
static bool is_postcode(struct cs_words *t, unsigned i)
{
    const struct cs_word *a = cs_word_at(t, i), *b = cs_word_at(t, i + 1);
    if (i + 1 >= t->count || a->is != CS_WORD || !a->mixed || !b->mixed || b->end - b->start != 3)
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

static bool is_name(struct cs_words *t, unsigned i, bool lower)
{
    const struct cs_word *w = cs_word_at(t, i);
    return w->is == CS_WORD && i < t->count &&
           (w->cap || lower || cs_word_has(t, i, CS_ROLE_PART | CS_ROLE_PRE));
}

/* "Apt 4", "Suite 12B", "# 3"; a '#' that begins a line begins a comment. */
static bool is_unit(struct cs_words *t, unsigned i)
{
    if (!cs_word_has(t, i, CS_ROLE_UNIT) || i + 1 >= t->count)
        return false;
    const struct cs_word *w = cs_word_at(t, i + 1);
    bool hash = t->view->at[cs_word_at(t, i)->start] == '#';
    if (hash && i > 0 && cs_word_is(t, i - 1, CS_WORD_BREAK))
        return false;
    return w->is == CS_WORD_NUMBER ||
           (w->is == CS_WORD && w->end - w->start <= 4 && (w->mixed || (w->cap && !hash)));
}

/* "Apt 4", ", Suite 12B", "# 3": behind it, or `i`. */
static unsigned units(struct cs_words *t, unsigned i, struct proof *p)
{
    for (unsigned n = 0; n < 3; n++) {
        unsigned k = i;
        while (n == 0 && k < i + 3 && cs_word_is(t, k, CS_WORD) && cs_word_at(t, k)->cap &&
               !cs_word_has(t, k, CS_ROLE_UNIT))
            k++; /* "12 Elm Dr Upper Extension, Apt 4" */
        unsigned sign = k;
        while (k < sign + 2 && (cs_word_is(t, k, CS_WORD_COMMA) || cs_word_is(t, k, CS_WORD_BREAK)))
            k++;
        if (!is_unit(t, k))
            break;
        i = k + 2;
        p->points += 3;
    }
    return i;
}

static bool is_end(struct cs_words *t, unsigned i)
{
    return i >= t->count || cs_word_is(t, i, CS_WORD_BREAK) || cs_word_is(t, i, CS_WORD_COMMA);
}

static bool spells(struct cs_words *t, unsigned i, const char *word)
{
    size_t n = strlen(word);
    return cs_word_is(t, i, CS_WORD) && t->word[i].end - t->word[i].start == n &&
           memcmp(t->view->at + t->word[i].start, word, n) == 0;
}

static bool is_word_of_english(struct cs_words *t, unsigned i)
{
    return spells(t, i, "or") || spells(t, i, "me") || spells(t, i, "hi") || spells(t, i, "ok") ||
           spells(t, i, "id") || spells(t, i, "on") || spells(t, i, "as");
}

/* Four digits that are rather a year. */
static bool is_year(struct cs_words *t, unsigned i)
{
    const struct cs_word *w = cs_word_at(t, i);
    if (!cs_word_is(t, i, CS_WORD_NUMBER) || w->digits != 4)
        return false;
    const char *at = t->view->at + w->start;
    return w->ranged || (at[0] == '1' && at[1] == '9') || (at[0] == '2' && at[1] == '0');
}

/* "IL 62704", "il 62704", "NSW 2042" */
static bool behind_state(struct cs_words *t, unsigned i, unsigned digits)
{
    if (digits < 4 || digits > 6)
        return false;
    if (cs_word_has(t, i - 1, CS_ROLE_STATE))
        return true;
    return digits == 5 && cs_word_has(t, i - 1, CS_ROLE_LOW_STATE) &&
           !cs_word_has(t, i - 1, CS_ROLE_PART) && !is_word_of_english(t, i - 1);
}

/* The town behind a postcode, from `i` on; it has at least one word. */
static unsigned town_behind(struct cs_words *t, unsigned i)
{
    unsigned k = i;
    while (k < i + 4 && is_name(t, k, false) && !cs_word_has(t, k, CS_ROLE_UNIT))
        k++;
    while (k > i + 1 && !cs_word_at(t, k - 1)->cap)
        k--;
    return k;
}

static bool is_capital(struct cs_words *t, unsigned i)
{
    return cs_word_is(t, i, CS_WORD) && cs_word_at(t, i)->cap;
}

/* "1012 LM Amsterdam" */
static bool is_dutch(struct cs_words *t, unsigned i)
{
    const struct cs_word *w = cs_word_at(t, i + 1);
    return cs_word_at(t, i)->digits == 4 && w->end - w->start == 2 &&
           cs_is_upper(t->view->at[w->start]) && cs_is_upper(t->view->at[w->end - 1]) &&
           is_capital(t, i + 2);
}

/* "D-10117", "CH-8001" */
static bool is_abroad(struct cs_words *t, unsigned i)
{
    const struct cs_word *w = cs_word_at(t, i);
    if (!cs_word_is(t, i, CS_WORD) || !w->mixed || w->end - w->start > 9)
        return false;
    const char *at = t->view->at + w->start;
    size_t n = w->end - w->start, letters = 0;
    while (letters < n && cs_is_upper(at[letters]))
        letters++;
    return letters > 0 && letters < 4 && n - letters >= 5 && at[letters] == '-';
}

/* Postcodes that a town follows: "75002 Paris", "1017 AB Amsterdam", "111 43 Stockholm", "00-590
 * Warszawa", "D-10117 Berlin". Behind it, where the town begins, or 0. */
static unsigned postcode_before(struct cs_words *t, unsigned i, int *points)
{
    const struct cs_word *w = cs_word_at(t, i);
    *points = 3;
    if (is_abroad(t, i))
        return i + 1;
    if (!cs_word_is(t, i, CS_WORD_NUMBER) || w->mixed)
        return 0;
    if (w->digits == 3 && cs_word_is(t, i + 1, CS_WORD_NUMBER) && cs_word_at(t, i + 1)->digits == 2)
        return i + 2;
    if (w->digits == 2 && w->end - w->start == 6)
        return i + 1;
    *points = w->digits == 5 ? 3 : is_dutch(t, i) ? 4 : 2;
    return w->digits >= 4 && w->digits <= 6 ? i + 1 : 0;
}

/* A postcode, and what must stand around it; behind it, or 0. `bare`: no street is known yet. */
static unsigned postcode(struct cs_words *t, unsigned i, bool parted, bool bare, int *points)
{
    *points = 3;
    if (is_postcode(t, i))
        return i + 2;
    if (is_year(t, i) && (bare || cs_word_is(t, i - 1, CS_WORD_BREAK)))
        return 0;
    unsigned digits = cs_word_at(t, i)->digits;
    bool number = cs_word_is(t, i, CS_WORD_NUMBER) && !cs_word_at(t, i)->mixed;
    if (number && behind_state(t, i, digits))
        return i + 1;
    unsigned end = parted ? postcode_before(t, i, points) : 0;
    if (end > 0 && is_capital(t, end))
        return town_behind(t, end);
    /* "Springfield 62704" at the end */
    *points = 2;
    return number && digits >= 4 && digits <= 6 && !cs_word_is(t, i - 1, CS_WORD_NUMBER) ? i + 1
                                                                                         : 0;
}

/* Town, state, postcode, country: behind them, or `i`. */
static unsigned tail(struct cs_words *t, unsigned i, struct proof *p)
{
    unsigned k = i, words = 0, breaks = 0;
    bool parted = false;
    for (; k < i + 14 && k < t->count; k++) {
        if (cs_word_is(t, k, CS_WORD_COMMA) || cs_word_is(t, k, CS_WORD_BREAK)) {
            breaks += cs_word_is(t, k, CS_WORD_BREAK);
            parted = true;
            if (breaks > 4)
                break;
            continue;
        }
        int points = 0;
        bool near = k == i && cs_word_at(t, k)->digits == 5 && is_capital(t, k + 1);
        unsigned end = k > i || near ? postcode(t, k, parted || near, p->points < 2, &points) : 0;
        if (end > 0) {
            p->points += points + (breaks > 1);
            return end;
        }
        if (cs_word_is(t, k, CS_WORD_NUMBER) && cs_word_at(t, k)->digits <= 2 && k > i &&
            cs_word_is(t, k - 1, CS_WORD_COMMA))
            continue; /* a region by its number */
        if (cs_word_is(t, k, CS_WORD_NUMBER) || !is_name(t, k, p->lower || parted) || ++words > 9)
            break;
        parted = false;
    }
    return i;
}

/* ", Town" or ", Town, Country" up to the line's end, without a postcode. */
static unsigned town(struct cs_words *t, unsigned i, struct proof *p)
{
    unsigned k = i;
    for (unsigned n = 0; n < 2 && cs_word_is(t, k, CS_WORD_COMMA); n++) {
        unsigned from = k + 1, end = from;
        while (end < from + 4 && is_name(t, end, p->lower) && !cs_word_has(t, end, CS_ROLE_UNIT))
            end++;
        if (end > from && cs_word_is(t, end, CS_WORD_NUMBER) && cs_word_at(t, end)->digits <= 2)
            end++; /* "Praha 3" */
        if (end == from || !is_end(t, end) || !(cs_word_at(t, from)->cap || p->lower))
            break;
        k = end;
    }
    if (k > i)
        p->points++;
    return k;
}

/* All that may follow a street. */
static void behind_street(struct cs_words *t, unsigned i, struct proof *p)
{
    unsigned street = i;
    i = units(t, i, p);
    while (i > street && cs_word_has(t, i, CS_ROLE_DIR))
        i++;
    unsigned end = tail(t, i, p);
    if (end == i)
        end = town(t, i, p);
    for (unsigned n = 0; end > street && end == i && n < 3; n++)
        if (cs_word_is(t, end + n, CS_WORD) && cs_word_at(t, end + n)->cap && n + 1 < 4)
            p->more = n + 1;
        else
            break;
    end += p->more; /* "Apt 4 Springfield" */
    /* "12 Angry Men Street Cred" */
    if (end == street && p->typed && cs_word_is(t, end, CS_WORD) && cs_word_at(t, end)->cap &&
        cs_word_at(t, end - 1)->end + 1 == cs_word_at(t, end)->start &&
        t->view->at[cs_word_at(t, end - 1)->end - 1] != '.' && !cs_word_has(t, end, CS_ROLE_TYPE))
        p->points -= 2;
    p->end = end;
}

/* --- shapes --- */

/* Does the street's type stand before its name, at `i`: "rue de la Paix", not "Avenue Road"? */
static bool is_before(struct cs_words *t, unsigned i)
{
    if (!cs_word_has(t, i, CS_ROLE_PRE))
        return false;
    for (unsigned k = i + 1; cs_word_has(t, i, CS_ROLE_TYPE) && k < i + 4 && is_name(t, k, false);
         k++)
        if (cs_word_has(t, k, CS_ROLE_TYPE))
            return false;
    return true;
}

/* What the word for a street is worth. */
static int type_points(struct cs_words *t, unsigned i)
{
    if (cs_word_has(t, i, CS_ROLE_TAIL))
        return cs_word_has(t, i, CS_ROLE_WEAK) ? 2 : 3;
    return cs_word_has(t, i, CS_ROLE_TYPE) ? 3 : 2;
}

/* The words of a name, from `first` on: behind the last. `typed`: behind that which is a street's
 * type, or 0. */
static unsigned name_words(struct cs_words *t, unsigned first, bool before, struct proof *p,
                           unsigned *typed)
{
    unsigned k = first;
    *typed = 0;
    for (; k < first + NAME_MOST && is_name(t, k, p->lower); k++) {
        if (cs_word_has(t, k, CS_ROLE_UNIT) && k > first)
            break;
        if (before)
            continue;
        bool type = k > first && cs_word_has(t, k, CS_ROLE_TYPE | CS_ROLE_SOFT);
        if (!type && !cs_word_has(t, k, CS_ROLE_TAIL))
            continue;
        p->points = type_points(t, k);
        p->typed = type && !cs_word_has(t, k, CS_ROLE_PART);
        *typed = k + 1;
    }
    while (k > first + 1 && !cs_word_at(t, k - 1)->cap && !p->lower)
        k--; /* particles at the end belong to the sentence */
    return k;
}

/* The name of a street behind its number, from `first` on: behind it, or 0. */
static unsigned name_after(struct cs_words *t, unsigned first, struct proof *p)
{
    bool before = is_before(t, first);
    p->lower = cs_word_is(t, first, CS_WORD) && !cs_word_at(t, first)->cap;
    if (before && (cs_word_at(t, first + 1)->cap || cs_word_has(t, first + 1, CS_ROLE_PART)))
        p->lower = false;
    if (cs_word_has(t, first, CS_ROLE_MONTH))
        return 0;
    unsigned end, k = name_words(t, first, before, p, &end);
    if (k < first + 1 + before)
        return 0;
    if (before) {
        p->points = cs_word_has(t, first, CS_ROLE_WEAK) ? 2 : 3;
        end = k;
    }
    if (end == 0 || (end < k && is_house(t, k)))
        end = k; /* a name alone */
    while (cs_word_has(t, end, CS_ROLE_DIR) &&
           cs_word_at(t, end)->end - cs_word_at(t, end)->start <= 3)
        end++;
    /* "Skogstien 106", "Piroska u. 97." */
    if (is_house(t, end) && cs_word_at(t, end)->digits <= 4 && !p->typed) {
        end++;
        p->points++;
    }
    return end;
}

/* Where the street's name begins behind its number at `i`; 0: it is no number of a house. */
static unsigned name_start(struct cs_words *t, unsigned i)
{
    bool comma = cs_word_is(t, i + 1, CS_WORD_COMMA); /* "12, rue de Rivoli" */
    if (!is_house(t, i) || (comma && !cs_word_has(t, i + 2, CS_ROLE_PRE)))
        return 0;
    unsigned name = i + 1 + comma;
    if (is_house(t, name))
        name++;
    const struct cs_word *w = cs_word_at(t, name);
    if (!cs_word_has(t, name, CS_ROLE_PART) || w->cap || w->end - w->start > 3)
        return name;
    unsigned behind = name + 1 + cs_word_is(t, name + 1, CS_WORD_COMMA); /* "12 bis, rue" */
    return cs_word_has(t, behind, CS_ROLE_PRE) ? behind : name;
}

static bool number_first(struct cs_words *t, unsigned i, struct proof *p)
{
    int unit = 0;
    *p = (struct proof){.start = i};
    unsigned next = i + 1 + cs_word_is(t, i + 1, CS_WORD_COMMA);
    if (i > 0 && cs_word_has(t, i - 1, CS_ROLE_UNIT) && is_capital(t, i - 1) && is_house(t, next)) {
        p->start = i - 1; /* "Flat 3, 12 High Street" */
        unit = 1;
        i = next;
    }
    unsigned name = name_start(t, i), end = name > 0 ? name_after(t, name, p) : 0;
    if (end == 0)
        return false;
    if (is_year(t, p->start) && (p->points < 3 || cs_word_at(t, p->start)->ranged))
        return false;
    p->points += unit;
    /* A park or a drive, but it stands alone. */
    if (p->typed && p->points == 2 && is_end(t, end) && (i == 0 || !is_capital(t, i - 1)))
        p->points++;
    behind_street(t, end, p);
    if (p->lower)
        p->points -= 3;
    return true;
}

/* "Calle Mayor" before `end`. */
static bool type_before(struct cs_words *t, unsigned end, struct proof *p)
{
    unsigned low = end > NAME_MOST ? end - NAME_MOST : 0;
    for (unsigned k = end; k > low && is_name(t, k - 1, false); k--) {
        bool weak = cs_word_has(t, k - 1, CS_ROLE_WEAK);
        if (k == end || !cs_word_has(t, k - 1, CS_ROLE_PRE) || (weak && !cs_word_at(t, k - 1)->cap))
            continue;
        p->points = weak ? 2 : 3;
        p->start = k - 1;
        return true;
    }
    return false;
}

/* "Lindenstrasse", "Andrassy ut" before `end`; a name alone counts only on a corner. */
static bool type_behind(struct cs_words *t, unsigned end, struct proof *p)
{
    if (end >= 2 && cs_word_has(t, end - 1, CS_ROLE_TYPE) && is_capital(t, end - 2)) {
        p->points = 2;
        p->start = end - 2;
        return true;
    }
    if (!is_capital(t, end - 1))
        return false;
    bool str = t->view->at[cs_word_at(t, end - 1)->end - 1] == '.';
    p->points = !cs_word_has(t, end - 1, CS_ROLE_TAIL) ? -1 : str ? 3 : type_points(t, end - 1);
    p->start = end - 1;
    return true;
}

/* "Lindenstrasse 12", "Calle Mayor 5", "Andrassy ut 60": the name stands before the number. */
static bool name_first(struct cs_words *t, unsigned i, struct proof *p)
{
    *p = (struct proof){.start = i, .end = i + 1};
    if (!is_house(t, i) || cs_word_at(t, i)->digits > 4 || i == 0)
        return false;
    bool comma = i >= 2 && cs_word_is(t, i - 1, CS_WORD_COMMA); /* "Via Roma, 12" */
    if (!type_before(t, i - comma, p) && (comma || !type_behind(t, i, p)))
        return false;
    unsigned next = i + 1;
    if (is_capital(t, next) && cs_word_at(t, next)->end - cs_word_at(t, next)->start == 1)
        next++; /* "Storgatan 12 B" */
    behind_street(t, next, p);
    return true;
}

/* Is there a town that is known behind the postcode, which ends before word `end`? */
static bool is_town(struct cs_words *t, unsigned from, unsigned end)
{
    for (unsigned i = from; i < end; i++) {
        const struct cs_word *w = cs_word_at(t, i);
        struct cs_str name = cs_strn(t->view->at + w->start, w->end - w->start);
        if (is_capital(t, i) && CS_GAZ_PLACE(cs_gazetteer(cs_name_word_hash(name))))
            return true;
    }
    return false;
}

/* "Unter den Linden 77, 10117 Berlin": nothing but the postcode and the town say it. */
static bool town_says(struct cs_words *t, unsigned i, struct proof *p)
{
    *p = (struct proof){.start = i, .end = i + 1};
    if (!is_house(t, i) || cs_word_at(t, i)->digits > 3 || i == 0 || !is_capital(t, i - 1) ||
        !(cs_word_is(t, i + 1, CS_WORD_COMMA) || cs_word_is(t, i + 1, CS_WORD_BREAK)))
        return false;
    int points;
    unsigned name = postcode_before(t, i + 2, &points);
    if (name == 0 || points < 3 || !is_capital(t, name))
        return false;
    p->end = town_behind(t, name);
    if (!is_town(t, name, p->end))
        return false;
    p->start = i - 1;
    while (p->start > 0 && i - p->start < 4 &&
           (is_capital(t, p->start - 1) || cs_word_has(t, p->start - 1, CS_ROLE_PART)))
        p->start--;
    while (!is_capital(t, p->start))
        p->start++;
    p->points = 3;
    return true;
}

/* "Unit 14, Riverside Business Park, Norwich NR1 1PX": no street, but a unit and a postcode. */
static bool unit_first(struct cs_words *t, unsigned i, struct proof *p)
{
    *p = (struct proof){.start = i};
    if (i == 0 || !is_house(t, i) || !cs_word_has(t, i - 1, CS_ROLE_UNIT) ||
        !is_capital(t, i - 1) || !cs_word_is(t, i + 1, CS_WORD_COMMA))
        return false;
    p->start = i - 1;
    p->end = tail(t, i + 1, p);
    for (unsigned k = i + 1; k < p->end; k++)
        if (cs_word_has(t, k, CS_ROLE_TYPE | CS_ROLE_SOFT)) {
            p->points++;
            break;
        }
    return p->end > i + 1;
}

/* "P.O. Box 12", "Postfach 71", "PSC 5605, Box 8122", "Unit 1009 Box 0219" */
static bool box(struct cs_words *t, unsigned i, struct proof *p)
{
    *p = (struct proof){.start = i};
    if (i > 0 && cs_word_has(t, i - 1, CS_ROLE_BOX)) {
        unsigned k = i - 1;
        bool alone = cs_word_at(t, k)->end - cs_word_at(t, k)->start > 3;
        while (k > 0 && i - k < 4 && cs_word_has(t, k - 1, CS_ROLE_POST)) {
            k--;
            alone = true;
        }
        if (!alone)
            return false;
        p->start = k;
        p->points = 3;
        p->lower = !cs_word_at(t, k)->cap;
        if (k > 0 && is_house(t, k - 1))
            p->start = k - 1;
        while (cs_word_is(t, i + 1, CS_WORD_NUMBER) && cs_word_at(t, i + 1)->digits <= 3)
            i++; /* "Postfach 12 34" */
        behind_street(t, i + 1, p);
        return true;
    }
    unsigned next = i + 1 + (unsigned)cs_word_is(t, i + 1, CS_WORD_COMMA);
    if (i > 0 && cs_word_is(t, i - 1, CS_WORD) && cs_word_has(t, next, CS_ROLE_BOX) &&
        is_house(t, next + 1)) {
        p->start = i - 1;
        p->points = 3;
        behind_street(t, next + 2, p);
        return true;
    }
    return false;
}

/* "FPO AE 13689": the line before it belongs to it. */
static bool military(struct cs_words *t, unsigned i, struct proof *p)
{
    *p = (struct proof){.start = i, .end = i + 1};
    if (i < 2 || cs_word_at(t, i)->digits != 5 || !cs_word_has(t, i - 2, CS_ROLE_MIL) ||
        cs_word_at(t, i - 1)->end - cs_word_at(t, i - 1)->start != 2)
        return false;
    p->start = i - 2;
    p->points = 3;
    unsigned k = i - 2;
    if (k > 1 && cs_word_is(t, k - 1, CS_WORD_BREAK))
        for (k--; k > 0 && i - k < 8 && cs_word_is(t, k - 1, CS_WORD); k--)
            p->start = k - 1;
    return true;
}

/* "Church Lane, Bath BA1 1AA", "Elm Street, Springfield, IL 62704": without a number, from the
 * postcode back. */
static bool postcode_last(struct cs_words *t, unsigned i, struct proof *p)
{
    *p = (struct proof){.start = i, .end = i + 1, .points = 3};
    bool state = cs_word_is(t, i, CS_WORD_NUMBER) && cs_word_at(t, i)->digits == 5 && i > 0 &&
                 cs_word_has(t, i - 1, CS_ROLE_STATE);
    if (i < 3 || (!state && !is_postcode(t, i - 1)))
        return false;
    unsigned street = 0, low = i > 14 ? i - 14 : 0;
    for (unsigned k = i - 1; k > low; k--) {
        if (cs_word_is(t, k - 1, CS_WORD_NUMBER) ||
            (cs_word_is(t, k - 1, CS_WORD) && !is_name(t, k - 1, false)))
            break;
        bool joined = street > 0 && cs_word_is(t, k - 1, CS_WORD);
        if (street > 0 && !joined)
            break;
        if (joined)
            p->start = k - 1;
        else if (cs_word_has(t, k - 1, CS_ROLE_TYPE | CS_ROLE_TAIL) && is_capital(t, k - 1))
            p->start = street = k - 1;
    }
    return street > p->start;
}

/* A digit, so far ahead that a unit or a postcode might be it? Without capitals there must be one.
 */
static bool digit_ahead(const struct cs_view *view, size_t i)
{
    size_t stop = view->len - i > LOWER_AHEAD ? i + LOWER_AHEAD : view->len;
    for (; i < stop; i++)
        if (cs_is_digit(view->at[i]))
            return true;
    return false;
}

/* May a street's name begin behind the number that ends at `i`: "12 Elm", "12, rue de Rivoli"? */
static bool may_lead(const struct cs_view *view, size_t i)
{
    char folded[16], c = cs_view_at(view, i);
    char first = c == ' ' ? cs_view_at(view, i + 1) : '\0';
    if (cs_is_upper(first) || cs_is_digit(first) || (unsigned char)first >= 0x80)
        return true;
    if (c != ',')
        return cs_is_lower(first) && digit_ahead(view, i + 1);
    size_t word = i + 2, end = word;
    if (cs_view_at(view, i + 1) != ' ')
        return false;
    while (end - word < sizeof folded && cs_letter_at(view, end))
        end++;
    size_t n = end - word < sizeof folded
                   ? cs_cue_fold(view->at + word, end - word, folded, end - word)
                   : 0;
    return n > 1 && (cs_role_of(folded, n) & CS_ROLE_PRE);
}

/* May a street's name, or a box, stand before the number at `at`? Without a capital its last word
 * says so: "utca", "u.", "box". */
static bool may_follow(const struct cs_view *view, size_t at)
{
    char folded[16];
    size_t end = at - 1, low = at > 32 ? at - 32 : 0;
    while (end > low && cs_one_of(view->at[end - 1], " .,"))
        end--;
    size_t i = end;
    while (i > low && cs_letter_at(view, i - 1))
        i--;
    if (end == i || !cs_is_lower(view->at[i]))
        return end > i;
    size_t n =
        end - i < sizeof folded ? cs_cue_fold(view->at + i, end - i, folded, sizeof folded) : 0;
    return n > 0 && (cs_role_of(folded, n) & ~(unsigned)(CS_ROLE_DIR | CS_ROLE_MONTH));
}

/* Most numbers have nothing of an address about them. */
static bool is_dull(const struct cs_view *view, size_t at)
{
    size_t end = at;
    while (end < view->len && end - at < 7 && cs_is_digit(view->at[end]))
        end++;
    char before = at > 0 ? view->at[at - 1] : '\n', next = cs_view_at(view, end);
    if (end - at > 5 || !cs_one_of(before, " \n\"'(,:>\t;|"))
        return true;
    if (cs_is_letter(next) || next == '-' || next == '/')
        return false;
    if (may_lead(view, end))
        return false;
    return before != ' ' || at < 3 || !may_follow(view, at);
}

/* "the corner of Auenweg 85 and Main Street" */
static void corner(struct cs_words *t, struct proof *p)
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
    for (k++; k < p->end + 5 &&
              (is_house(t, k) || (cs_word_is(t, k, CS_WORD) && cs_word_at(t, k)->cap));)
        k++;
    p->end = k;
}

static bool is_address(struct cs_words *t, const struct proof *p)
{
    if (p->points >= 3)
        return true;
    if (p->points < 1)
        return false;
    unsigned says = cs_cues_before(t->view, cs_word_at(t, p->start)->start, CUE_BACK, CS_CUE_PLACE);
    return (says & CS_CUE_PLACE) && p->points + (p->lower ? 1 : 2) >= 3;
}

static const struct proof *best_of(struct cs_words *t, struct proof *best)
{
    static bool (*const shapes[])(struct cs_words *, unsigned, struct proof *) = {
        box, number_first, name_first, town_says, military, postcode_last, unit_first};
    *best = (struct proof){.points = -9};
    for (size_t i = 0; i < CS_COUNT(shapes); i++) {
        struct proof p;
        if (!shapes[i](t, t->at, &p) || p.end <= p.start)
            continue;
        corner(t, &p);
        if (p.points > best->points)
            *best = p;
    }
    return best->end > best->start && is_address(t, best) ? best : NULL;
}

size_t cs_find_address(struct cs_view *view, size_t at)
{
    if (view->level < CS_PRIVACY_MEDIUM || is_dull(view, at))
        return at + 1;
    struct cs_words t;
    t.view = view;
    size_t from = at > BACK_MOST ? at - BACK_MOST : 0;
    while (from > 0 && from < at && cs_letter_at(view, from) && cs_letter_at(view, from - 1))
        from++;
    size_t to = view->len - at > AHEAD_MOST ? at + AHEAD_MOST : view->len;
    cs_words_read(&t, from, to, at);
    if (t.at >= t.count || t.word[t.at].start != at)
        return at + 1;
    struct proof proof;
    const struct proof *p = best_of(&t, &proof);
    if (!p)
        return at + 1;
    const struct cs_word *last = cs_word_at(&t, p->end - 1);
    size_t start = cs_word_at(&t, p->start)->start, end = last->end;
    if (view->at[end - 1] == '.' && last->is == CS_WORD && end - last->start > 5)
        end--; /* the sentence's */
    cs_hit(view, CS_PII_ADDRESS, start, end);
    return end > at ? end : at + 1;
}

/* Dates, and whether they are somebody's birth. */
#include <string.h>

#include "privacy/personal.h"

#define CUE_BACK      56 /* how far before a date the word may stand that tells of a birth */
#define MONTH_LONGEST 12

/* Their names, folded, and how they are shortened. */
#define NAMES 14

static const char *const months[12][NAMES] = {
    {"jan", "january", "januar", "januari", "janvier", "janeiro", "ene", "enero", "gen", "gennaio",
     "styczen", "stycznia"},
    {"feb", "february", "februar", "februari", "fev", "fevrier", "fevereiro", "febrero", "febbraio",
     "luty", "lutego"},
    {"mar", "march", "marz", "maerz", "mrz", "mars", "maart", "mrt", "marzo", "marco", "marca"},
    {"apr", "april", "avr", "avril", "abr", "abril", "aprile", "kwietnia"},
    {"may", "mai", "mei", "mayo", "maggio", "mag", "maio", "maj", "maja"},
    {"jun", "june", "juni", "juin", "junio", "giu", "giugno", "junho", "czerwca"},
    {"jul", "july", "juli", "juil", "juillet", "julio", "lug", "luglio", "julho", "lipca"},
    {"aug", "august", "augustus", "aou", "aout", "ago", "agosto", "augusti", "sierpnia"},
    {"sep", "sept", "september", "septembre", "septiembre", "set", "settembre", "setembro",
     "wrzesnia"},
    {"oct", "october", "okt", "oktober", "octobre", "octubre", "ott", "ottobre", "out", "outubro",
     "pazdziernika"},
    {"nov", "november", "novembre", "noviembre", "novembro", "listopada"},
    {"dec", "december", "dez", "dezember", "decembre", "dic", "diciembre", "dicembre", "dezembro",
     "des", "desember", "grudnia"},
};

/* 1 to 12; 0: none. */
static unsigned month_of(const char *word, size_t len)
{
    char folded[MONTH_LONGEST + 1];
    size_t n = len <= MONTH_LONGEST ? cs_cue_fold(word, len, folded, MONTH_LONGEST) : 0;
    folded[n] = '\0';
    for (unsigned m = 0; n >= 3 && m < 12; m++)
        for (unsigned i = 0; i < NAMES && months[m][i]; i++)
            if (months[m][i][0] == folded[0] && strcmp(months[m][i], folded) == 0)
                return m + 1;
    return 0;
}

static bool is_day(unsigned day)
{
    return day >= 1 && day <= 31;
}

/* Four digits, or the last two of them. */
static bool is_year(unsigned year, unsigned digits)
{
    return digits == 2 || (digits == 4 && year >= 1900 && year <= 2099);
}

struct part {
    unsigned value, digits;
    size_t end;
};

static bool read_part(const struct cs_view *view, size_t at, unsigned most, struct part *part)
{
    *part = (struct part){.end = at};
    while (part->digits <= most && cs_is_digit(cs_view_at(view, part->end))) {
        part->value = part->value * 10 + (unsigned)(view->at[part->end] - '0');
        part->end++;
        part->digits++;
    }
    return part->digits > 0 && part->digits <= most;
}

static size_t skip(const struct cs_view *view, size_t i, const char *these, unsigned most)
{
    for (unsigned n = 0; n < most && i < view->len && strchr(these, view->at[i]) && view->at[i];
         n++)
        i++;
    return i;
}

static bool ends_date(const struct cs_view *view, size_t end)
{
    char c = cs_view_at(view, end), next = cs_view_at(view, end + 1);
    if (c == 'T' || c == 't')
        return cs_is_digit(next); /* a time */
    if (c == '-' || c == '/' || c == '.' || c == ':')
        return !cs_is_digit(next);
    return !cs_is_alnum(c) && c != '_';
}

static bool is_month(unsigned month)
{
    return month >= 1 && month <= 12;
}

/* Three numbers in any order that is in use. */
static bool is_date(const struct part *a, const struct part *b, const struct part *c, char sep)
{
    if (a->digits == 4)
        return is_year(a->value, 4) && is_month(b->value) && is_day(c->value);
    if (a->digits > 2 || !is_year(c->value, c->digits))
        return false;
    if (is_day(a->value) && is_month(b->value))
        return true;
    if (is_month(a->value) && is_day(b->value))
        return true;
    return c->digits == 2 && sep != '.' && is_month(b->value) && is_day(c->value); /* 84-02-03 */
}

/* 1984-02-03, 3.2.1984, 02/03/84: three numbers with the same sign between. */
static size_t numeric(const struct cs_view *view, size_t at)
{
    struct part a, b, c;
    if (!read_part(view, at, 4, &a) || a.digits == 3)
        return 0;
    char sep = cs_view_at(view, a.end);
    if (!cs_one_of(sep, "-/. "))
        return 0;
    if (!read_part(view, skip(view, a.end + 1, " ", 1), 2, &b) || cs_view_at(view, b.end) != sep)
        return 0;
    if (!read_part(view, skip(view, b.end + 1, " ", 1), a.digits == 4 ? 2 : 4, &c) || c.digits == 3)
        return 0;
    if (sep == ' ' && a.digits != 4 && c.digits != 4)
        return 0;
    return is_date(&a, &b, &c, sep) && ends_date(view, c.end) ? c.end : 0;
}

/* 19840203; believed only where the text says so. */
static size_t compact(const struct cs_view *view, size_t at)
{
    struct part p;
    if (!read_part(view, at, 8, &p) || p.digits != 8 || !ends_date(view, p.end))
        return 0;
    unsigned year = p.value / 10000, month = p.value / 100 % 100, day = p.value % 100;
    bool iso = is_year(year, 4) && month >= 1 && month <= 12 && is_day(day);
    unsigned tail = p.value % 10000, first = p.value / 1000000, second = p.value / 10000 % 100;
    bool other =
        is_year(tail, 4) && is_day(first) && is_day(second) && (first <= 12 || second <= 12);
    return iso || other ? p.end : 0;
}

static size_t word_end(const struct cs_view *view, size_t at)
{
    size_t i = at;
    while (i < view->len && i - at <= MONTH_LONGEST &&
           (cs_is_letter(view->at[i]) || (unsigned char)view->at[i] >= 0x80))
        i++;
    return i;
}

/* "st", "nd", "th", "er", "." behind a day. */
static size_t skip_ordinal(const struct cs_view *view, size_t i)
{
    static const char *const ordinals[] = {"st", "nd", "rd", "th", "er", "º", "ª", "."};
    for (size_t k = 0; k < CS_COUNT(ordinals); k++) {
        size_t n = strlen(ordinals[k]);
        if (view->len - i >= n && memcmp(view->at + i, ordinals[k], n) == 0 &&
            !cs_is_letter(cs_view_at(view, i + n)))
            return i + n;
    }
    return i;
}

/* "of", "de", "del" between a day, a month and a year. */
static size_t skip_of(const struct cs_view *view, size_t i)
{
    static const char *const ofs[] = {"of ", "de ", "del ", "den ", "do "};
    for (size_t k = 0; k < CS_COUNT(ofs); k++) {
        size_t n = strlen(ofs[k]);
        if (view->len - i >= n && memcmp(view->at + i, ofs[k], n) == 0)
            return i + n;
    }
    return i;
}

static size_t year_at(const struct cs_view *view, size_t i, bool short_too)
{
    if (cs_view_at(view, i) == '\'')
        i++;
    struct part year;
    if (!read_part(view, i, 4, &year) || year.digits == 3 || year.digits == 1 ||
        (year.digits == 2 && !short_too))
        return 0;
    return is_year(year.value, year.digits) && ends_date(view, year.end) ? year.end : 0;
}

/* "3 Feb 1984", "3. Februar 1984", "3rd of February, 1984", "05-Jun-2011", "1er mars 1984" */
static size_t day_first(const struct cs_view *view, size_t at)
{
    struct part day;
    if (!read_part(view, at, 2, &day) || !is_day(day.value))
        return 0;
    size_t i = skip_ordinal(view, day.end);
    i = skip_of(view, skip(view, i, " -/.", 2));
    size_t end = word_end(view, i);
    if (end == i || month_of(view->at + i, end - i) == 0)
        return 0;
    i = skip(view, end, ".", 1);
    i = skip_of(view, skip(view, i, " ,-/", 2));
    return year_at(view, i, i > end);
}

/* "1984 February 3", "1984-Feb-03" */
static size_t year_first(const struct cs_view *view, size_t at)
{
    struct part year, day;
    if (!read_part(view, at, 4, &year) || year.digits != 4 || !is_year(year.value, 4))
        return 0;
    size_t i = skip(view, year.end, " -/,", 2), end = word_end(view, i);
    if (i == year.end || end == i || month_of(view->at + i, end - i) == 0)
        return 0;
    i = skip(view, end, " -/.", 2);
    if (i == end || !read_part(view, i, 2, &day) || !is_day(day.value))
        return 0;
    end = skip_ordinal(view, day.end);
    return ends_date(view, end) ? end : 0;
}

/* "February 3, 1984", "Feb. 3rd 1984", "Feb-03-1984": `at` is the day. */
static size_t month_first(const struct cs_view *view, size_t at, size_t *start)
{
    struct part day;
    if (at < 4 || !read_part(view, at, 2, &day) || !is_day(day.value))
        return 0;
    size_t i = at;
    while (i > 0 && at - i < 3 && cs_one_of(view->at[i - 1], " .-/"))
        i--;
    size_t end = i;
    while (i > 0 && end - i <= MONTH_LONGEST &&
           (cs_is_letter(view->at[i - 1]) || (unsigned char)view->at[i - 1] >= 0x80))
        i--;
    if (end == at || end == i || month_of(view->at + i, end - i) == 0)
        return 0;
    *start = i;
    i = skip_ordinal(view, day.end);
    return year_at(view, skip(view, i, " ,-/", 2), true);
}

size_t cs_date_end(const struct cs_view *view, size_t at, size_t *start)
{
    *start = at;
    size_t end = numeric(view, at);
    if (end == 0)
        end = compact(view, at);
    if (end == 0)
        end = day_first(view, at);
    if (end == 0)
        end = year_first(view, at);
    if (end == 0)
        end = month_first(view, at, start);
    return end;
}

/* "(1984-02-03, birth date)", "1984-02-03 (DOB)": nothing follows that it might be about. */
static bool said_behind(const struct cs_view *view, size_t end)
{
    if (!(cs_cues_after(view, end, CS_CUE_BIRTH) & CS_CUE_BIRTH))
        return false;
    size_t i = end;
    while (i < view->len && i - end < CUE_BACK && !cs_one_of(view->at[i], ")]\n<|.;")) {
        if (cs_is_digit(view->at[i]))
            return false;
        i++;
    }
    return i - end < CUE_BACK;
}

/* "Date of birth?" on the line before, and the answer on this one. */
static bool was_asked(const struct cs_view *view, size_t start)
{
    size_t i = start;
    while (i > 0 && start - i < CUE_BACK && view->at[i - 1] != '\n')
        i--;
    if (i == 0 || view->at[i - 1] != '\n')
        return false;
    while (i > 0 && cs_one_of(view->at[i - 1], "\n\r \"*"))
        i--;
    return i > 0 && view->at[i - 1] == '?' &&
           (cs_cues_before(view, i - 1, CUE_BACK, CS_CUE_BIRTH) & CS_CUE_BIRTH);
}

bool cs_date_is_birth(const struct cs_view *view, size_t start, size_t end)
{
    if (view->sense.kind == CS_PII_DATE_OF_BIRTH && view->is_value)
        return true;
    return (cs_cues_before(view, start, CUE_BACK, CS_CUE_BIRTH) & CS_CUE_BIRTH) ||
           said_behind(view, end) || was_asked(view, start);
}

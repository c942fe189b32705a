/* What begins with digits: the number is cut into its groups once, and each kind looks at them. */
#include <string.h>

#include "privacy/personal.h"

#define AREA_MOST 12 /* bytes of a country's and an area's code */
#define LOOK_MOST 64 /* bytes of one number with all its groups */

/* One byte of ASCII for a blank or a dash of Unicode, and how long that is; 0: none. */
static char sign_at(const struct cs_view *view, size_t i, size_t *len)
{
    unsigned char a = (unsigned char)cs_view_at(view, i),
                  b = (unsigned char)cs_view_at(view, i + 1);
    unsigned char c = (unsigned char)cs_view_at(view, i + 2);
    *len = 1;
    if (a < 0x80)
        return (char)a;
    if (a == 0xC2 && b == 0xA0) {
        *len = 2;
        return ' ';
    }
    *len = 3;
    if (a == 0xE2 && b == 0x80 && (c == 0x89 || c == 0xAF || c == 0x87))
        return ' ';
    if (a == 0xE2 && b == 0x80 && c >= 0x90 && c <= 0x95)
        return '-';
    return '\0';
}

/* Behind the ')' of an area's code. */
static size_t behind_area(const struct cs_view *view, size_t i, char *sep)
{
    size_t len;
    *sep = ')';
    if (cs_one_of(sign_at(view, i, &len), " -./"))
        i += len;
    return cs_is_digit(cs_view_at(view, i)) ? i : 0;
}

/* What stands between two groups, behind that which ends at `i`, of the number from `at` on; where
 * the next one begins, or 0. */
static size_t next_group(const struct cs_view *view, size_t at, size_t i, bool open, char *sep)
{
    size_t len;
    char c = sign_at(view, i, &len);
    if (open)
        return c == ')' ? behind_area(view, i + len, sep) : 0;
    if (c == '(') {
        *sep = '(';
        return cs_is_digit(cs_view_at(view, i + 1)) ? i + 1 : 0;
    }
    if (!cs_one_of(c, " -./"))
        return 0;
    *sep = c;
    i += len;
    /* "555 - 1234"; a slash with blanks only parts the area: else another number follows. */
    char sign = cs_view_at(view, i);
    if (c == ' ' && (sign == '-' || (sign == '/' && i - at < AREA_MOST)) &&
        cs_view_at(view, i + 1) == ' ') {
        *sep = '-';
        i += 2;
    }
    if (cs_view_at(view, i) == '(') {
        *sep = '(';
        i++;
    }
    return cs_is_digit(cs_view_at(view, i)) ? i : 0;
}

bool cs_digits_read(const struct cs_view *view, size_t at, struct cs_digits *d)
{
    size_t i = at;
    char sep = 0;
    d->start = at;
    d->plus = false;
    d->more = false;
    d->count = d->total = 0;
    if (cs_view_at(view, i) == '+') {
        d->plus = true;
        i++;
    }
    if (cs_view_at(view, i) == '(') {
        sep = '(';
        i++;
    }
    if (d->plus && cs_view_at(view, i) == '+') /* "(+49) 30" */
        i++;
    while (i - at < LOOK_MOST) {
        size_t start = i;
        while (i < view->len && cs_is_digit(view->at[i])) {
            if (d->total == CS_DIGITS)
                return false;
            d->digits[d->total++] = view->at[i++];
        }
        if (i == start)
            return false;
        d->group[d->count].at = start;
        d->group[d->count].len = (unsigned)(i - start);
        d->group[d->count].first = d->total - (unsigned)(i - start);
        d->group[d->count].sep = sep;
        d->count++;
        size_t next = next_group(view, at, i, sep == '(', &sep);
        if (next == 0)
            break;
        if (d->count == CS_GROUPS || d->total == CS_DIGITS) {
            d->more = true;
            break;
        }
        i = next;
    }
    return d->count > 0;
}

bool cs_open_before(const struct cs_view *view, size_t at)
{
    if (at == 0)
        return false;
    char c = view->at[at - 1];
    if (cs_is_alnum(c) || c == '_')
        return true;
    if ((unsigned char)c >= 0x80) { /* a letter, unless it is a blank, a dash, a quotation mark */
        if (at >= 2 && (unsigned char)view->at[at - 2] == 0xC2)
            return false;
        return !(at >= 3 && (unsigned char)view->at[at - 3] >= 0xE2);
    }
    return (c == '.' || c == '-' || c == '/') && at >= 2 && cs_is_digit(view->at[at - 2]);
}

bool cs_open_behind(const struct cs_view *view, size_t end)
{
    char c = cs_view_at(view, end), next = cs_view_at(view, end + 1);
    if (cs_is_alnum(c) || c == '_')
        return true;
    if ((unsigned char)c >= 0x80)
        return (unsigned char)c >= 0xC3 && (unsigned char)c < 0xE2;
    return (c == '.' || c == '-' || c == '/') && cs_is_digit(next);
}

/* Passports and licences of digits alone: only after a word that says so. */
static size_t papers(struct cs_view *view, const struct cs_digits *d)
{
    unsigned len = d->group[0].len;
    size_t end = cs_digits_end(d, 0);
    if (d->plus || d->group[0].sep || len < 6 || len > 12 || cs_open_behind(view, end))
        return 0;
    enum cs_pii paper = cs_paper_before(view, d->start);
    if (paper == CS_PII_COUNT || (paper == CS_PII_PASSPORT && (len < 7 || len > 9)))
        return 0;
    cs_hit(view, paper, d->start, end);
    return end;
}

/* The end of what hangs together: a number that is refused is not looked at again in pieces. */
static size_t refused(const struct cs_view *view, const struct cs_digits *d)
{
    unsigned last = 0;
    while (last + 1 < d->count && d->group[last + 1].sep != ' ' && d->group[last + 1].sep != '(' &&
           d->group[last + 1].sep != ')')
        last++;
    size_t end = cs_digits_end(d, last);
    while (end < view->len && cs_is_alnum(view->at[end]))
        end++;
    return end;
}

static size_t word_end(const struct cs_view *view, size_t i)
{
    while (i < view->len && (cs_is_alnum(view->at[i]) || view->at[i] == '_'))
        i++;
    return i;
}

/* Nothing but digits and blanks: a date only where the text says so. */
static bool is_bare(const struct cs_view *view, size_t start, size_t end)
{
    for (size_t i = start; i < end; i++)
        if (!cs_is_digit(view->at[i]) && view->at[i] != ' ')
            return false;
    return true;
}

static size_t birth(struct cs_view *view, size_t at)
{
    size_t start, end = cs_date_end(view, at, &start);
    if (end == 0)
        return 0;
    if (view->level >= CS_PRIVACY_MEDIUM && cs_date_is_birth(view, start, end))
        cs_hit(view, CS_PII_DATE_OF_BIRTH, start, end);
    else if (is_bare(view, start, end))
        return 0;
    return end;
}

/* Before the groups are read: most numbers are none of these. */
static bool is_dull(const struct cs_view *view, size_t at, size_t end)
{
    char next = cs_view_at(view, end);
    if (end - at > 19 || next == '_' || (cs_is_letter(next) && next != 'x' && next != 'e'))
        return true;
    /* A short number that nothing is joined to. */
    return end - at < 6 && next != ' ' && next != '-' && next != '.' && next != '/' &&
           next != ')' && next != '(' && (unsigned char)next < 0x80;
}

/* With its groups: whose is it? */
static size_t grouped(struct cs_view *view, size_t at, size_t end)
{
    struct cs_digits d;
    if (!cs_digits_read(view, at, &d))
        return word_end(view, end);
    size_t found = cs_ssn_end(view, &d);
    if (found > 0) {
        cs_hit(view, CS_PII_SSN, at, found);
        return found;
    }
    found = cs_card_end(view, &d);
    if (found > 0) {
        cs_hit(view, CS_PII_CREDIT_CARD, at, found);
        return found;
    }
    if (view->level < CS_PRIVACY_MEDIUM)
        return refused(view, &d);
    found = papers(view, &d);
    if (found > 0)
        return found;
    found = cs_phone_end(view, &d);
    if (found > 0) {
        cs_hit(view, CS_PII_PHONE, at, found);
        return found;
    }
    return refused(view, &d);
}

/* Four numbers with dots, or a date that is somebody's birth. */
static size_t dotted(struct cs_view *view, size_t at, size_t end)
{
    size_t digits = end - at;
    size_t found = digits <= 4 ? birth(view, at) : 0;
    if (found == 0 && digits <= 3 && cs_view_at(view, end) == '.') {
        found = cs_ip4_end(view, at);
        if (found > 0 && view->level >= CS_PRIVACY_MEDIUM)
            cs_hit(view, CS_PII_IP_ADDRESS, at, found);
    }
    return found == 0 && digits == 8 ? birth(view, at) : found;
}

/* "10.0.0.1-10.0.0.9": the second one. */
static bool is_range(const struct cs_view *view, size_t at)
{
    return at > 1 && view->at[at - 1] == '-' && cs_is_digit(view->at[at - 2]) &&
           cs_hit_at(view, at - 2, at - 1);
}

size_t cs_find_number(struct cs_view *view, size_t at)
{
    if (cs_open_before(view, at) && !is_range(view, at))
        return word_end(view, at + 1);
    size_t end = at;
    bool sign = !cs_is_digit(view->at[at]);
    while (end < view->len && (cs_is_digit(view->at[end]) || (sign && end - at < 2)))
        end++;
    if (view->at[at] == '(' && cs_view_at(view, end) != ')')
        return at + 1; /* around the number, or more than it */
    size_t found = sign ? 0 : dotted(view, at, end);
    if (found > 0)
        return found;
    return is_dull(view, at, end) ? word_end(view, end) : grouped(view, at, end);
}

/* Personal values, by the keys that they stand under. */
#include <string.h>

#include "privacy/address.h"
#include "privacy/personal.h"

/* Without blanks and quotation marks around it. */
static void trim(const struct cs_view *view, size_t *start, size_t *end)
{
    while (*start < *end && (view->at[*start] == ' ' || view->at[*start] == '\t' ||
                             view->at[*start] == '"' || view->at[*start] == '\''))
        ++*start;
    while (*end > *start &&
           (view->at[*end - 1] == ' ' || view->at[*end - 1] == '\t' || view->at[*end - 1] == '"' ||
            view->at[*end - 1] == '\'' || view->at[*end - 1] == ',' || view->at[*end - 1] == ';' ||
            view->at[*end - 1] == '\r' || view->at[*end - 1] == '\n'))
        --*end;
}

/* The first digit, or what opens its number. */
static size_t first_digit(const struct cs_view *view, size_t start, size_t end)
{
    size_t i = start;
    while (i < end && !cs_is_digit(view->at[i]))
        i++;
    if (i < end && i > start && view->at[i - 1] == '(')
        i--;
    if (i < end && i > start && view->at[i - 1] == '+')
        i--;
    return i;
}

/* The plus of a number in a URL: "phone=%2B49..." */
static bool is_plus(const struct cs_view *view, size_t start, size_t i)
{
    return i >= start + 3 && view->at[i - 3] == '%' && view->at[i - 2] == '2' &&
           (view->at[i - 1] | 0x20) == 'b';
}

static void keyed_phone(struct cs_view *view, size_t start, size_t end)
{
    struct cs_view part = *view;
    part.len = end;
    struct cs_digits d;
    unsigned most = 4; /* "030 1234 / 0171 5678" */
    for (size_t i = first_digit(view, start, end); i < end && most > 0; most--) {
        size_t stop = cs_digits_read(&part, i, &d) ? cs_phone_keyed(&part, &d) : 0;
        if (stop > 0 && is_plus(view, start, i))
            cs_hit(view, CS_PII_PHONE, i - 3, stop);
        else if (stop > 0 && (i == start || !cs_is_alnum(view->at[i - 1])))
            cs_hit(view, CS_PII_PHONE, i, stop);
        size_t next = stop > 0 ? stop : i + 1;
        while (next < end && stop == 0 && cs_is_digit(view->at[next]))
            next++;
        i = first_digit(view, next, end);
    }
}

static void keyed_date(struct cs_view *view, size_t start, size_t end)
{
    struct cs_view part = *view;
    part.len = end;
    for (size_t i = start; i < end && i < start + 24; i++) {
        if (!cs_is_digit(view->at[i]) || (i > start && cs_is_digit(view->at[i - 1])))
            continue;
        size_t from, stop = cs_date_end(&part, i, &from);
        if (stop == 0 || from < start)
            continue;
        if (stop < end && (view->at[stop] == 'T' || view->at[stop] == ' ') && end - stop < 20 &&
            cs_is_digit(cs_view_at(&part, stop + 1)))
            stop = end; /* with a time */
        cs_hit(view, CS_PII_DATE_OF_BIRTH, from, stop);
        return;
    }
}

static unsigned count_digits(const struct cs_view *view, size_t start, size_t end, char *to,
                             unsigned room)
{
    unsigned n = 0;
    for (size_t i = start; i < end; i++) {
        char c = view->at[i];
        if (!cs_is_digit(c)) {
            if (c != ' ' && c != '-' && c != '.')
                return 0;
            continue;
        }
        if (n == room)
            return 0;
        to[n++] = c;
    }
    return n;
}

static void keyed_card(struct cs_view *view, size_t start, size_t end)
{
    char digits[19];
    unsigned n = count_digits(view, start, end, digits, sizeof digits);
    if (n < 12)
        return;
    if (cs_luhn(digits, n) || (view->level == CS_PRIVACY_HIGH && n >= 13))
        cs_hit(view, CS_PII_CREDIT_CARD, start, end);
}

static void keyed_ssn(struct cs_view *view, size_t start, size_t end)
{
    char digits[9];
    unsigned n = count_digits(view, start, end, digits, sizeof digits);
    bool issued = n == 9 && memcmp(digits, "000", 3) != 0;
    if (issued && (view->level == CS_PRIVACY_HIGH ||
                   (digits[0] != '9' && memcmp(digits, "666", 3) != 0 &&
                    memcmp(digits + 3, "00", 2) != 0 && memcmp(digits + 5, "0000", 4) != 0)))
        cs_hit(view, CS_PII_SSN, start, end);
}

/* In running text the key may be a word of the sentence: most words begin with a capital? */
static bool is_envelope(const struct cs_view *view, size_t start, size_t end)
{
    unsigned words = 0, capitals = 0;
    for (size_t i = start; i < end; i++) {
        char c = view->at[i];
        if (cs_one_of(c, "(+;"))
            return false; /* a program */
        if (i > start && view->at[i - 1] != ' ' && view->at[i - 1] != '\n')
            continue;
        words++;
        capitals += cs_is_upper(c) || cs_is_digit(c) || (unsigned char)c >= 0xC3;
    }
    return words >= 2 && capitals * 2 >= words &&
           (cs_is_digit(view->at[start]) || cs_is_upper(view->at[start]) ||
            (unsigned char)view->at[start] >= 0xC3);
}

/* A sign of a URL, a program, another kind of address. */
static bool is_no_address(const struct cs_view *view, size_t i, size_t end)
{
    char c = view->at[i];
    return cs_one_of(c, "@<{=_\\[?`*!") || (c == ':' && i + 1 < end && view->at[i + 1] != ' ');
}

/* "Bahnhofstrasse" */
static bool is_street(const struct cs_view *view, size_t start, size_t end)
{
    char folded[40];
    size_t n = end - start < sizeof folded
                   ? cs_cue_fold(view->at + start, end - start, folded, end - start)
                   : 0;
    return n > 0 && (cs_role_of(folded, n) & CS_ROLE_TAIL);
}

/* What an envelope has on it; `letters` is 0 if there is more than that. */
struct signs {
    unsigned digits, letters, blanks;
};

static struct signs count_signs(const struct cs_view *view, size_t start, size_t end)
{
    struct signs n = {0};
    for (size_t i = start; i < end; i++) {
        char c = view->at[i];
        n.digits += cs_is_digit(c);
        n.letters += cs_is_letter(c) || (unsigned char)c >= 0xC3;
        n.blanks += c == ' ' || c == '\n' || (unsigned char)c == 0xC2;
        if (is_no_address(view, i, end))
            return (struct signs){0};
    }
    return n;
}

/* Words and numbers, as on an envelope. */
static void keyed_address(struct cs_view *view, bool weak, size_t start, size_t end)
{
    bool alone = view->is_value && start == 0;
    if (end - start < 4 || end - start > (alone ? 240 : 120) || cs_one_of(view->at[start], "/."))
        return;
    struct signs n = count_signs(view, start, end);
    if (n.letters < 3)
        return;
    if (n.blanks == 0) {
        if (!weak && is_street(view, start, end))
            cs_hit(view, CS_PII_ADDRESS, start, end);
        return;
    }
    /* In running text a name may follow, and the address on the next line. */
    if (n.digits == 0 && (weak || !alone || n.letters < 6))
        return;
    if ((alone && !weak) || is_envelope(view, start, end))
        cs_hit(view, CS_PII_ADDRESS, start, end);
}

static void keyed_papers(struct cs_view *view, enum cs_pii kind, size_t start, size_t end)
{
    unsigned digits = 0;
    for (size_t i = start; i + 1 < end; i++) /* "512345678 issued in ..." */
        if (view->at[i] == ' ' && cs_is_lower(view->at[i + 1]))
            end = i;
    if (end - start < 5 || end - start > 24)
        return;
    for (size_t i = start; i < end; i++) {
        char c = view->at[i];
        digits += cs_is_digit(c);
        if (!cs_is_alnum(c) && c != '-' && c != ' ' && c != '/')
            return;
    }
    if (digits >= 4)
        cs_hit(view, kind, start, end);
}

static void keyed_ip(struct cs_view *view, size_t start, size_t end)
{
    /* "10.0.0.1, 10.0.0.2": a list of them */
    for (size_t i = start; i < end && i < start + 256;) {
        size_t stop = cs_ip_keyed(view, i, end);
        if (stop > 0)
            cs_hit(view, CS_PII_IP_ADDRESS, i, stop);
        i = stop > 0 ? stop : i + 1;
        while (i < end && view->at[i] != ' ' && view->at[i] != ',' && view->at[i] != '[')
            i++;
        while (i < end && (view->at[i] == ' ' || view->at[i] == ',' || view->at[i] == '['))
            i++;
    }
}

void cs_keyed_personal(struct cs_view *view, struct cs_sense sense, size_t start, size_t end)
{
    trim(view, &start, &end);
    if (start >= end)
        return;
    bool low = view->level < CS_PRIVACY_MEDIUM;
    if (sense.kind == CS_PII_CREDIT_CARD)
        keyed_card(view, start, end);
    else if (sense.kind == CS_PII_SSN)
        keyed_ssn(view, start, end);
    else if (sense.kind == CS_PII_IBAN) {
        size_t stop = cs_is_letter(view->at[start]) ? cs_iban_end(view, start) : 0;
        if (stop > 0 && stop <= end)
            cs_hit(view, CS_PII_IBAN, start, stop);
    } else if (low)
        return;
    else if (sense.kind == CS_PII_PHONE)
        keyed_phone(view, start, end);
    else if (sense.kind == CS_PII_DATE_OF_BIRTH)
        keyed_date(view, start, end);
    else if (sense.kind == CS_PII_ADDRESS)
        keyed_address(view, sense.weak, start, end);
    else if (sense.kind == CS_PII_IP_ADDRESS)
        keyed_ip(view, start, end);
    else if (sense.kind == CS_PII_PASSPORT || sense.kind == CS_PII_LICENCE)
        keyed_papers(view, (enum cs_pii)sense.kind, start, end);
    else if (sense.kind == CS_PII_EMAIL) {
        const char *sign = memchr(view->at + start, '@', end - start);
        if (sign)
            cs_find_mail(view, (size_t)(sign - view->at));
    }
}

/* Payment cards and social security numbers: shapes with a proof of their own. */
#include <string.h>

#include "privacy/personal.h"

#define CUE_BACK  32
#define NEAR_BACK 16 /* a word that stands so near says whose number it is */

bool cs_luhn(const char *digits, unsigned count)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned d = (unsigned)(digits[count - 1 - i] - '0');
        if (i % 2 == 1)
            d = d > 4 ? d * 2 - 9 : d * 2;
        sum += d;
    }
    return sum % 10 == 0;
}

/* Ranges of first digits, and how long the numbers in them are. */
static const struct issuer {
    unsigned low, high; /* of the first four digits */
    unsigned char shortest, longest;
    bool cue; /* only where the text speaks of a card: others use these numbers too */
} issuers[] = {
    {4000, 4999, 16, 16, false}, /* Visa */
    {4000, 4999, 13, 13, true},  {4000, 4999, 19, 19, true},
    {5100, 5599, 16, 16, false},                              /* Mastercard */
    {2221, 2720, 16, 16, false}, {3400, 3499, 15, 15, false}, /* American Express */
    {3700, 3799, 15, 15, false}, {6011, 6011, 16, 16, false}, /* Discover */
    {6440, 6599, 16, 16, false}, {6221, 6229, 16, 16, false}, /* UnionPay and Discover */
    {6200, 6299, 16, 19, true},  {8100, 8171, 16, 19, true},
    {3528, 3589, 16, 16, false}, /* JCB */
    {3000, 3059, 14, 14, false}, /* Diners */
    {3095, 3095, 14, 14, false}, {3600, 3699, 14, 14, false},
    {3800, 3999, 14, 14, false}, {3000, 3059, 16, 19, true},
    {3600, 3699, 16, 19, true},  {2200, 2204, 16, 19, true}, /* Mir */
    {6011, 6011, 17, 19, true},  {5018, 5020, 12, 19, true}, /* Maestro */
    {5038, 5038, 12, 19, true},  {5600, 5899, 12, 19, true},
    {6304, 6304, 12, 19, true},  {6759, 6763, 12, 19, true},
    {6000, 6999, 16, 19, true}, /* RuPay and others */
    {9792, 9792, 16, 16, true}, /* Troy */
};

static const struct issuer *issuer_of(const char *digits, unsigned count)
{
    unsigned head = 0;
    for (unsigned i = 0; i < 4; i++)
        head = head * 10 + (unsigned)(digits[i] - '0');
    for (size_t i = 0; i < CS_COUNT(issuers); i++)
        if (head >= issuers[i].low && head <= issuers[i].high && count >= issuers[i].shortest &&
            count <= issuers[i].longest)
            return &issuers[i];
    return NULL;
}

bool cs_card_issuer(const char *digits, unsigned count)
{
    return count >= 12 && issuer_of(digits, count) != NULL;
}

/* How many groups, from the first on, are grouped as on a card? */
static unsigned card_groups(const struct cs_digits *d)
{
    static const unsigned char shapes[][6] = {
        {4, 4, 4, 4, 3}, {4, 4, 4, 4, 2}, {4, 4, 4, 4, 1}, {4, 4, 4, 4}, {4, 6, 5},
        {4, 6, 4},       {4, 4, 4, 3},    {4, 5, 6},       {4, 3, 3, 3}, {6, 13},
        {6, 10},         {4, 4, 4, 1},    {4, 4, 5},       {4, 4, 8},    {8, 8},
    };
    if (d->group[0].len >= 12)
        return 1;
    char sep = d->count > 1 ? d->group[1].sep : 0;
    if (sep != ' ' && sep != '-' && sep != '.')
        return 0;
    for (size_t s = 0; s < CS_COUNT(shapes); s++) {
        unsigned n = 0;
        while (n < d->count && shapes[s][n] != 0 && d->group[n].len == shapes[s][n] &&
               (n == 0 || d->group[n].sep == sep))
            n++;
        if (n >= 2 && shapes[s][n] == 0 && (n == d->count || d->group[n].sep != sep || sep == ' '))
            return n;
    }
    return 0;
}

size_t cs_card_end(const struct cs_view *view, const struct cs_digits *d)
{
    if (d->plus || d->total < 12)
        return 0;
    unsigned groups = card_groups(d);
    if (groups == 0)
        return 0;
    unsigned count = d->group[groups - 1].first + d->group[groups - 1].len;
    size_t end = cs_digits_end(d, groups - 1);
    if (count < 12 || count > 19 || cs_open_behind(view, end))
        return 0;
    const struct issuer *issuer = issuer_of(d->digits, count);
    bool luhn = cs_luhn(d->digits, count);
    bool keyed = view->is_value && view->sense.kind == CS_PII_CREDIT_CARD;
    if (!luhn && (!issuer || view->level < CS_PRIVACY_HIGH))
        return 0;
    unsigned says = keyed ? CS_CUE_CARD : cs_cues_before(view, d->start, CUE_BACK, CS_CUE_CARD);
    /* New ranges, old ones, and (where more is to be found) slips of the pen. */
    if (!issuer || !luhn || issuer->cue)
        return says & CS_CUE_CARD ? end : 0;
    /* One number of ten passes: whose number is it said to be? */
    return groups > 1 || (says & CS_CUE_CARD) || !(says & CS_CUE_OTHER) ? end : 0;
}

/* Area, group and serial as they are issued. */
static bool ssn_issued(const char *digits)
{
    if (memcmp(digits, "000", 3) == 0 || memcmp(digits, "666", 3) == 0)
        return false;
    return memcmp(digits + 3, "00", 2) != 0 && memcmp(digits + 5, "0000", 4) != 0;
}

/* Which group ends the first nine digits, however they are grouped; CS_GROUPS: none. */
static unsigned ssn_last(const struct cs_digits *d, bool *whole)
{
    *whole = d->count >= 3 && d->group[0].len == 3 && d->group[1].len == 2 &&
             d->group[2].len == 4 && d->group[1].sep == d->group[2].sep;
    unsigned last = *whole ? 2 : d->count > 1 && d->group[0].len < 9 ? 1 : 0;
    return d->group[last].first + d->group[last].len == 9 ? last : CS_GROUPS;
}

/* Does the text speak of social security? */
static bool ssn_said(const struct cs_view *view, size_t start, size_t end)
{
    if (view->is_value && view->sense.kind == CS_PII_SSN)
        return true;
    size_t back = view->level == CS_PRIVACY_HIGH ? 2 * CUE_BACK : CUE_BACK;
    return (cs_cues_before(view, start, back, CS_CUE_SSN) & CS_CUE_SSN) ||
           (cs_cues_after(view, end, CS_CUE_SSN) & CS_CUE_SSN);
}

size_t cs_ssn_end(const struct cs_view *view, const struct cs_digits *d)
{
    bool whole;
    if (d->plus || d->total < 9 || d->group[0].sep == '(' || !ssn_issued(d->digits))
        return 0;
    unsigned last = ssn_last(d, &whole);
    size_t end = last < CS_GROUPS ? cs_digits_end(d, last) : 0;
    if (end == 0 || cs_open_behind(view, end))
        return 0;
    char sep = last > 0 ? d->group[1].sep : '-';
    if (!cs_one_of(sep, "- ."))
        return 0;
    if (ssn_said(view, d->start, end))
        return end;
    /* From 900 on they are of others: only where the text says so. */
    if (!whole || sep != '-' || d->digits[0] == '9')
        return 0;
    return cs_cues_before(view, d->start, NEAR_BACK, 0) & CS_CUE_OTHER ? 0 : end;
}

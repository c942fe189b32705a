/* Telephone numbers: with their country's code, in groups as they are written, or after a word. */
#include <string.h>

#include "privacy/personal.h"

#define CUE_BACK  40
#define NEAR_BACK 16
#define EXT_MOST  6
#define NO_PHONE  (CS_CUE_CARD | CS_CUE_SSN | CS_CUE_PASSPORT | CS_CUE_DRIVER | CS_CUE_BIRTH)

/* Codes of countries, and how many digits follow. What is not here is no code. */
static const struct country {
    unsigned short low, high; /* codes */
    unsigned char shortest, longest;
} countries[] = {
    {1, 1, 10, 10},    {7, 7, 10, 10},    {20, 20, 8, 10},   {27, 27, 9, 9},    {30, 30, 10, 10},
    {31, 31, 9, 9},    {32, 32, 8, 9},    {33, 33, 9, 9},    {34, 34, 9, 9},    {36, 36, 8, 9},
    {39, 39, 6, 11},   {40, 40, 9, 9},    {41, 41, 9, 9},    {43, 43, 6, 13},   {44, 44, 9, 10},
    {45, 45, 8, 8},    {46, 46, 7, 10},   {47, 47, 8, 8},    {48, 48, 9, 9},    {49, 49, 6, 12},
    {51, 51, 8, 9},    {52, 52, 10, 11},  {53, 53, 6, 8},    {54, 54, 10, 11},  {55, 55, 10, 11},
    {56, 56, 8, 9},    {57, 57, 8, 10},   {58, 58, 10, 10},  {60, 60, 8, 10},   {61, 61, 9, 9},
    {62, 62, 7, 12},   {63, 63, 8, 10},   {64, 64, 8, 10},   {65, 65, 8, 8},    {66, 66, 8, 9},
    {81, 81, 9, 10},   {82, 82, 8, 10},   {84, 84, 8, 10},   {86, 86, 10, 11},  {90, 90, 10, 10},
    {91, 91, 10, 10},  {92, 92, 9, 10},   {93, 93, 9, 9},    {94, 94, 9, 9},    {95, 95, 7, 10},
    {98, 98, 10, 10},  {211, 213, 8, 9},  {216, 216, 8, 8},  {218, 218, 8, 10}, {220, 229, 6, 10},
    {230, 239, 6, 10}, {240, 249, 6, 10}, {250, 258, 6, 10}, {260, 269, 7, 10}, {290, 291, 4, 7},
    {297, 299, 6, 7},  {350, 350, 8, 8},  {351, 351, 9, 9},  {352, 352, 6, 11}, {353, 353, 7, 9},
    {354, 354, 7, 9},  {355, 359, 6, 11}, {370, 378, 7, 10}, {380, 383, 8, 9},  {385, 387, 8, 9},
    {389, 389, 8, 8},  {420, 421, 9, 9},  {423, 423, 7, 9},  {500, 509, 5, 9},  {590, 599, 6, 9},
    {670, 670, 7, 8},  {672, 683, 5, 8},  {685, 692, 4, 7},  {800, 800, 8, 8},  {850, 850, 8, 10},
    {852, 853, 8, 8},  {855, 856, 8, 10}, {870, 870, 9, 9},  {880, 880, 8, 10}, {886, 886, 8, 9},
    {960, 968, 7, 10}, {970, 977, 7, 10}, {992, 996, 8, 9},  {998, 998, 9, 9},
};

/* How sure a shape is, alone. */
enum sure {
    NO,
    POSSIBLE, /* only with a word beside it */
    LIKELY,   /* unless a word says that it is something else */
    CERTAIN,
};

static unsigned value_of(const char *digits, unsigned count)
{
    unsigned v = 0;
    for (unsigned i = 0; i < count; i++)
        v = v * 10 + (unsigned)(digits[i] - '0');
    return v;
}

static const struct country *country_of(const char *digits, unsigned count, unsigned *code_len)
{
    for (unsigned n = 1; n <= 3 && n < count; n++) {
        unsigned code = value_of(digits, n);
        for (size_t i = 0; digits[0] != '0' && i < CS_COUNT(countries); i++)
            if (code >= countries[i].low && code <= countries[i].high) {
                *code_len = n;
                return &countries[i];
            }
    }
    return NULL;
}

/* Area and exchange of North America: [2-9]xx [2-9]xx. */
static bool is_nanp(const char *digits)
{
    return digits[0] >= '2' && digits[3] >= '2' && !(digits[1] == '1' && digits[2] == '1');
}

/* Groups of 3, 3 and 4, from `from` on. */
static bool groups_nanp(const struct cs_digits *d, unsigned from)
{
    return d->count >= from + 3 && d->group[from].len == 3 && d->group[from + 1].len == 3 &&
           d->group[from + 2].len == 4;
}

/* After a '+', or "00": the last group that still belongs to it. */
static enum sure international(const struct cs_digits *d, unsigned skip, unsigned *last)
{
    unsigned code_len = 0;
    const struct country *c = country_of(d->digits + skip, d->total - skip, &code_len);
    if (!c)
        return NO;
    unsigned low = skip + code_len + c->shortest, high = skip + code_len + c->longest;
    bool found = false;
    for (unsigned i = 0; i < d->count; i++) {
        unsigned digits = d->group[i].first + d->group[i].len;
        /* The "(0)" that is not dialled. */
        for (unsigned k = 1; k <= i; k++)
            if (d->group[k].sep == '(' && d->group[k].len == 1 &&
                d->digits[d->group[k].first] == '0')
                digits--;
        if (digits >= low && digits <= high && i - (found ? *last : i) <= 1) {
            *last = i;
            found = true;
        }
    }
    if (!found)
        return NO;
    if (c->low == 1 && *last == 0)
        return is_nanp(d->digits + skip + 1) ? CERTAIN : NO;
    return CERTAIN;
}

/* "(415) 555-0132", "415-555-0132", "1-415-555-0132", "415.555.0132" */
static enum sure north_american(const struct cs_digits *d, unsigned *last)
{
    unsigned from = d->group[0].len == 1 && d->digits[0] == '1' ? 1 : 0;
    if (!groups_nanp(d, from))
        return NO;
    *last = from + 2;
    char one = d->group[from + 1].sep, two = d->group[from + 2].sep;
    bool valid = is_nanp(d->digits + d->group[from].first);
    if (one == ')')
        return two == '-' || two == ' ' || two == '.' ? CERTAIN : POSSIBLE;
    if (one == '/' && two == '-')
        return valid ? LIKELY : POSSIBLE;
    if (one != two || one == '/')
        return POSSIBLE;
    if (from == 1 && d->group[1].sep != one && d->group[1].sep != ' ')
        return POSSIBLE;
    if (one == '-')
        return valid ? CERTAIN : d->digits[d->group[from].first] >= '2' ? LIKELY : POSSIBLE;
    return valid ? LIKELY : POSSIBLE;
}

/* How many groups from the first on, of two digits and more, make at most twelve; with `sep`
 * between, from the third on (0: with whatever). */
static unsigned groups_of(const struct cs_digits *d, unsigned most, char sep, unsigned *digits)
{
    unsigned i = 0;
    *digits = 0;
    while (i < d->count && i < most && *digits + d->group[i].len <= 12 && d->group[i].len >= 2) {
        if (i > 0 && d->group[i].sep == '(')
            break;
        if (i > 1 && (sep ? d->group[i].sep != sep : d->group[i].sep == '/'))
            break;
        *digits += d->group[i++].len;
    }
    return i;
}

/* "(11) 98427-6314", "(030) 1234567", "(0) 20 ..." */
static enum sure with_area(const struct cs_digits *d, unsigned *last)
{
    if (d->group[0].sep != '(' || d->count < 2 || d->group[1].sep != ')' || d->group[0].len > 6)
        return NO;
    unsigned digits, n = groups_of(d, 5, 0, &digits);
    if (n < 2 || digits < 7)
        return NO;
    *last = n - 1;
    if (digits < 9)
        return POSSIBLE;
    if (d->digits[0] == '0' ||
        (d->group[0].len == 2 && n == 3 && digits >= 10 && d->group[2].len == 4))
        return CERTAIN;
    return d->group[0].len < 5 ? LIKELY : POSSIBLE;
}

/* "07052 662992", "020 7946 0958", "0431 35 06 90", "06-65334860", "030/123456" */
static enum sure with_trunk(const struct cs_digits *d, unsigned *last)
{
    if (d->digits[0] != '0' || d->digits[1] == '0' || d->count < 2)
        return NO;
    if (d->group[0].sep == '(' || d->group[0].len < 2 || d->group[0].len > 5)
        return NO;
    char first = d->group[1].sep, sep = d->count > 2 ? d->group[2].sep : ' ';
    unsigned digits, n = groups_of(d, 6, sep, &digits);
    if (n < 2 || digits < 8)
        return NO;
    *last = n - 1;
    if (digits < 9 || first == ')' || (first == '.' && n < 4))
        return POSSIBLE;
    if (n == 2)
        return d->group[1].len < 5 ? POSSIBLE : LIKELY;
    return first == sep || cs_one_of(first, "/-") ? LIKELY : POSSIBLE;
}

/* "98765 43210", "612 345 678", "11 98427-6314", "0412 345 678": only where it stands alone. */
static enum sure any_groups(const struct cs_digits *d, unsigned *last)
{
    unsigned digits = 0, i = 0;
    while (i < d->count && i < 6 && digits + d->group[i].len <= 13) {
        char sep = d->group[i].sep;
        if (i > 0 && sep == '/' && i > 1)
            break;
        digits += d->group[i++].len;
    }
    if (digits < 6 || (i == 1 && digits < 7))
        return NO;
    *last = i - 1;
    return POSSIBLE;
}

/* Does `word` stand at `i`, in any case? */
static bool stands(const struct cs_view *view, size_t i, const char *word, size_t n)
{
    char folded[16];
    return i < view->len && view->len - i >= n &&
           cs_cue_fold(view->at + i, n, folded, sizeof folded) == n && memcmp(folded, word, n) == 0;
}

/* " x12", ", ext. 345", "#7" behind the number. */
static size_t extension(const struct cs_view *view, size_t end)
{
    static const char *const words[] = {"extension", "extn", "ext.", "ext", "durchwahl",
                                        "poste",     "x.",   "x",    "#"};
    size_t i = end;
    while (i - end < 2 && cs_one_of(cs_view_at(view, i), " ,"))
        i++;
    for (size_t k = 0; k < CS_COUNT(words); k++) {
        size_t n = strlen(words[k]), j = i + n;
        if (!stands(view, i, words[k], n))
            continue;
        while (j - i < n + 2 && cs_one_of(cs_view_at(view, j), " :."))
            j++;
        size_t digits = j;
        while (j - digits <= EXT_MOST && cs_is_digit(cs_view_at(view, j)))
            j++;
        if (j > digits && j - digits <= EXT_MOST && !cs_is_wordy(view, j))
            return j;
    }
    return end;
}

static bool is_year(const struct cs_digits *d, unsigned i)
{
    const char *at = d->digits + d->group[i].first;
    return d->group[i].len == 4 &&
           ((at[0] == '1' && at[1] == '9') || (at[0] == '2' && at[1] == '0'));
}

/* Something else that is written with the same digits: an epoch. */
static bool is_clock(const struct cs_digits *d)
{
    return d->count == 1 && !d->plus && (d->total == 10 || d->total == 13) && d->digits[0] == '1' &&
           d->digits[1] >= '4' && d->digits[1] <= '9';
}

static enum sure shape_of(const struct cs_digits *d, unsigned *last)
{
    enum sure sure = NO;
    if (d->plus)
        return international(d, 0, last);
    if (d->total > 9 && d->digits[0] == '0' && d->digits[1] == '0' && d->digits[2] != '0' &&
        (d->count > 1 || d->total > 11)) {
        sure = international(d, 2, last);
        if (sure != NO)
            return d->count > 1 && d->group[1].sep != '.' ? LIKELY : POSSIBLE;
    }
    /* "8 (916) 555-01-23", "1 (415) 555-0134" */
    if (d->group[0].len == 1 && d->count > 2 && d->group[1].sep == '(' && d->total == 11) {
        *last = d->count - 1;
        return CERTAIN;
    }
    sure = north_american(d, last);
    if (sure == NO)
        sure = with_area(d, last);
    if (sure == NO)
        sure = with_trunk(d, last);
    return sure == NO ? any_groups(d, last) : sure;
}

/* Numbers to both sides: a row of a table. */
static bool in_row(const struct cs_view *view, const struct cs_digits *d, unsigned last)
{
    bool before =
        d->start >= 2 && view->at[d->start - 1] == ' ' && cs_is_digit(view->at[d->start - 2]);
    bool behind = last + 1 < d->count && d->group[last + 1].sep == ' ';
    return before || behind || d->more;
}

/* Without a word beside it, where more is to be found: groups as people write them. */
static bool is_plausible(const struct cs_digits *d, unsigned last, unsigned digits)
{
    return last > 0 && last < 5 && digits >= 9 && digits <= 12 && d->group[0].len >= 2 &&
           d->group[last].len >= 2 && d->group[1].sep != '.' && d->group[1].sep != '/';
}

/* With a word beside it. */
static bool is_said(const struct cs_view *view, const struct cs_digits *d, unsigned last,
                    unsigned says)
{
    unsigned digits = d->group[last].first + d->group[last].len;
    if (says & CS_CUE_PHONE)
        return digits >= 7 || (last > 0 && digits >= 6 && d->group[1].sep == ' ');
    if (digits >= (last > 0 ? 6u : 9u) &&
        (cs_cues_after(view, cs_digits_end(d, last), CS_CUE_LINE) & CS_CUE_LINE))
        return true;
    if (says & CS_CUE_CALL)
        return digits >= (last > 0 ? 7u : 9u) && !is_clock(d) && d->group[0].len < 12;
    if (!(says & CS_CUE_NUMBER) || (says & CS_CUE_OTHER))
        return false;
    if (says & CS_CUE_MINE) /* "my new number is" */
        return digits >= (last > 0 ? 7u : 9u) && digits <= 13 && !is_clock(d);
    return last > 0 && digits >= 8 && d->group[1].sep != '.';
}

/* The number that ends at `end` was found, and is said to be nothing else. */
static bool was_phone(const struct cs_view *view, size_t end)
{
    if (end == 0 || !cs_is_digit(view->at[end - 1]) || !cs_hit_at(view, end - 1, end))
        return false;
    size_t i = end, low = end > 24 ? end - 24 : 0;
    while (i > low && (cs_is_digit(view->at[i - 1]) || cs_one_of(view->at[i - 1], " ()+-./")))
        i--;
    return !(cs_cues_before(view, i, CUE_BACK, NO_PHONE | CS_CUE_PHONE) & NO_PHONE);
}

/* Behind such a number, and "or", "/", ", ": one more of them. */
static bool is_next(const struct cs_view *view, size_t at, bool grouped)
{
    size_t i = at, low = at > 8 ? at - 8 : 0;
    while (i > low && cs_one_of(view->at[i - 1], " ,;/|"))
        i--;
    size_t end = i;
    while (i > low && cs_is_letter(view->at[i - 1]))
        i--;
    bool word = end > i && end - i <= 4, slash = memchr(view->at + end, '/', at - end) != NULL;
    bool blank = end < at && view->at[at - 1] == ' '; /* cells of a table stand without */
    if (!word && !slash && !(blank && grouped && end == i))
        return false;
    while (i > low && cs_one_of(view->at[i - 1], " ,"))
        i--;
    return was_phone(view, i);
}

static bool is_believed(const struct cs_view *view, const struct cs_digits *d, unsigned last,
                        enum sure sure)
{
    if (sure == CERTAIN)
        return d->plus || d->group[0].sep == '(' ||
               !(cs_cues_before(view, d->start, NEAR_BACK, CS_CUE_PHONE | CS_CUE_CALL) &
                 CS_CUE_OTHER);
    unsigned says = cs_cues_before(view, d->start, CUE_BACK,
                                   CS_CUE_PHONE | CS_CUE_CALL | CS_CUE_MINE | NO_PHONE);
    if (says & NO_PHONE)
        return false;
    if (is_said(view, d, last, says))
        return true;
    if (!(says & CS_CUE_OTHER) && d->total >= 7 && is_next(view, d->start, d->count > 1))
        return true;
    if ((says & CS_CUE_OTHER) || in_row(view, d, last))
        return false;
    return sure == LIKELY || (view->level == CS_PRIVACY_HIGH &&
                              is_plausible(d, last, d->group[last].first + d->group[last].len));
}

/* "+4953-09709", "-0343-03830", "CVE-2022-32206": a place on the map, less than nothing, a name. */
static bool is_signed(const struct cs_view *view, const struct cs_digits *d)
{
    if (d->plus && d->count == 2 && d->group[1].sep == '-' && d->digits[d->group[1].first] == '0' &&
        d->group[0].len + 1 == d->group[1].len)
        return true;
    return !d->plus && d->start > 1 && view->at[d->start - 1] == '-' &&
           (cs_one_of(view->at[d->start - 2], " \t\n=,[") || cs_is_letter(view->at[d->start - 2]));
}

size_t cs_phone_end(const struct cs_view *view, const struct cs_digits *d)
{
    if (d->total < 6 || is_signed(view, d))
        return 0;
    unsigned last = 0;
    enum sure sure = shape_of(d, &last);
    if (sure == NO || (d->count > 1 && is_year(d, 0) && is_year(d, 1))) /* "2007-2009" */
        return 0;
    size_t end = cs_digits_end(d, last), whole = extension(view, end);
    if (whole == end && cs_open_behind(view, end))
        return 0;
    if (whole > end && sure == POSSIBLE && d->total >= 7)
        sure = LIKELY;
    return is_believed(view, d, last, sure) ? whole : 0;
}

size_t cs_phone_keyed(const struct cs_view *view, const struct cs_digits *d)
{
    if (d->total < 6 || d->total > 17)
        return 0;
    unsigned last = d->count - 1;
    return extension(view, cs_digits_end(d, last));
}

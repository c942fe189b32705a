/* Words of letters and digits: IBANs, passports, licences. */
#include <string.h>

#include "privacy/personal.h"

#define IBAN_LONGEST 34
#define CODE_LONGEST 20

/* The registry's countries, and the length of their IBANs. In the order of the codes. */
static const struct {
    char code[3];
    unsigned char len;
} ibans[] = {
    {"AD", 24}, {"AE", 23}, {"AL", 28}, {"AO", 25}, {"AT", 20}, {"AZ", 28}, {"BA", 20}, {"BE", 16},
    {"BF", 28}, {"BG", 22}, {"BH", 22}, {"BI", 27}, {"BJ", 28}, {"BR", 29}, {"BY", 28}, {"CF", 27},
    {"CG", 27}, {"CH", 21}, {"CI", 28}, {"CM", 27}, {"CR", 22}, {"CV", 25}, {"CY", 28}, {"CZ", 24},
    {"DE", 22}, {"DJ", 27}, {"DK", 18}, {"DO", 28}, {"DZ", 26}, {"EE", 20}, {"EG", 29}, {"ES", 24},
    {"FI", 18}, {"FK", 18}, {"FO", 18}, {"FR", 27}, {"GA", 27}, {"GB", 22}, {"GE", 22}, {"GI", 23},
    {"GL", 18}, {"GQ", 27}, {"GR", 27}, {"GT", 28}, {"GW", 25}, {"HN", 28}, {"HR", 21}, {"HU", 28},
    {"IE", 22}, {"IL", 23}, {"IQ", 23}, {"IR", 26}, {"IS", 26}, {"IT", 27}, {"JO", 30}, {"KM", 27},
    {"KW", 30}, {"KZ", 20}, {"LB", 28}, {"LC", 32}, {"LI", 21}, {"LT", 20}, {"LU", 20}, {"LV", 21},
    {"LY", 25}, {"MA", 28}, {"MC", 27}, {"MD", 24}, {"ME", 22}, {"MG", 27}, {"MK", 19}, {"ML", 28},
    {"MN", 20}, {"MR", 27}, {"MT", 31}, {"MU", 30}, {"MZ", 25}, {"NE", 28}, {"NI", 28}, {"NL", 18},
    {"NO", 15}, {"OM", 23}, {"PK", 24}, {"PL", 28}, {"PS", 29}, {"PT", 25}, {"QA", 29}, {"RO", 24},
    {"RS", 22}, {"RU", 33}, {"SA", 24}, {"SC", 31}, {"SD", 18}, {"SE", 24}, {"SI", 19}, {"SK", 24},
    {"SM", 27}, {"SN", 28}, {"SO", 23}, {"ST", 25}, {"SV", 28}, {"TD", 27}, {"TG", 28}, {"TL", 23},
    {"TN", 24}, {"TR", 26}, {"UA", 29}, {"VA", 22}, {"VG", 24}, {"XK", 20}, {"YE", 30},
};

static unsigned iban_len(char a, char b)
{
    for (size_t i = 0; i < CS_COUNT(ibans); i++)
        if (ibans[i].code[0] == a && ibans[i].code[1] == b)
            return ibans[i].len;
    return 0;
}

static char upper(char c)
{
    return (char)(cs_is_lower(c) ? c & ~0x20 : c);
}

/* The number that the text is, letters as 10 to 35, modulo 97; the first four come last. */
static bool mod97(const char *text, unsigned len)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < len; i++) {
        char c = text[(i + 4) % len];
        sum =
            cs_is_digit(c) ? sum * 10 + (unsigned)(c - '0') : sum * 100 + (unsigned)(c - 'A' + 10);
        sum %= 97;
    }
    return sum == 1;
}

/* Behind what may stand between two of its characters: a blank (also one that does not break), a
 * dash, a dot. */
static size_t iban_next(const struct cs_view *view, size_t i)
{
    if (cs_one_of(cs_view_at(view, i), " -.") && cs_is_alnum(cs_view_at(view, i + 1)))
        return i + 1;
    bool hard = (unsigned char)cs_view_at(view, i) == 0xC2 &&
                (unsigned char)cs_view_at(view, i + 1) == 0xA0;
    return hard ? i + 2 : i;
}

size_t cs_iban_end(const struct cs_view *view, size_t at)
{
    char text[IBAN_LONGEST];
    if (at + 15 > view->len || !cs_is_letter(view->at[at + 1]) || !cs_is_digit(view->at[at + 2]))
        return 0;
    unsigned want = iban_len(upper(view->at[at]), upper(view->at[at + 1])), n = 0;
    if (want == 0)
        return 0;
    size_t i = at;
    while (n < want && i < view->len) {
        if (n >= 2)
            i = iban_next(view, i);
        char c = cs_view_at(view, i++);
        if (!cs_is_alnum(c))
            return 0;
        text[n++] = upper(c);
    }
    if (n < want || !cs_is_digit(text[3]) || cs_is_alnum(cs_view_at(view, i)))
        return 0;
    return mod97(text, n) ? i : 0;
}

/* "C01X00T47", "X1234567", "AB123456": letters and digits, more of these, in one word. */
static bool is_code(const char *at, size_t len, size_t least)
{
    size_t digits = 0, letters = 0;
    for (size_t i = 0; i < len; i++) {
        if (cs_is_digit(at[i]))
            digits++;
        else if (cs_is_letter(at[i]))
            letters++;
        else if (at[i] != '-' && at[i] != ' ')
            return false;
    }
    return len >= least && len <= CODE_LONGEST && digits >= 4 && letters <= digits + 4;
}

/* Passports and licences: only after a word that says so. */
static size_t papers(struct cs_view *view, size_t at, size_t end)
{
    if (end - at < 6 || end - at > CODE_LONGEST || !is_code(view->at + at, end - at, 6))
        return 0;
    enum cs_pii paper = cs_paper_before(view, at);
    if (paper == CS_PII_COUNT || (paper == CS_PII_PASSPORT && end - at > 10))
        return 0;
    cs_hit(view, paper, at, end);
    return end;
}

size_t cs_find_code(struct cs_view *view, size_t at)
{
    size_t end = at;
    while (end < view->len && cs_is_alnum(view->at[end]))
        end++;
    if (at > 0 && (cs_is_alnum(view->at[at - 1]) || view->at[at - 1] == '_'))
        return end > at ? end : at + 1;
    size_t iban = cs_iban_end(view, at);
    if (iban > 0) {
        cs_hit(view, CS_PII_IBAN, at, iban);
        return iban;
    }
    if (view->level >= CS_PRIVACY_MEDIUM && end - at <= CODE_LONGEST) {
        size_t stop = end;
        /* A licence may go on: "D123-4567-8901", "S530 4604 6033". */
        while (stop < view->len && stop - at < CODE_LONGEST && view->at[stop] == '-' &&
               cs_is_digit(cs_view_at(view, stop + 1)))
            for (stop++; stop < view->len && cs_is_alnum(view->at[stop]);)
                stop++;
        size_t found = papers(view, at, stop);
        if (found > 0)
            return found;
    }
    return end > at ? end : at + 1;
}

#include "schema/format.h"

#include <stdlib.h>

#include "base/own.h"
#include "schema/pattern.h"

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static bool is_hex(char c)
{
    return is_digit(c) || (unsigned char)((c | 0x20) - 'a') < 6;
}

/* Exactly n digits at `at`, or -1. */
static int number(struct cs_str s, size_t at, size_t n)
{
    int v = 0;
    if (s.len < at + n)
        return -1;
    for (size_t i = at; i < at + n; i++) {
        if (!is_digit(s.at[i]))
            return -1;
        v = v * 10 + (s.at[i] - '0');
    }
    return v;
}

static bool fits_date(struct cs_str s)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = number(s, 0, 4), month = number(s, 5, 2), day = number(s, 8, 2);
    if (s.len != 10 || year < 0 || s.at[4] != '-' || s.at[7] != '-')
        return false;
    if (month < 1 || month > 12 || day < 1 || day > days[month - 1])
        return false;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month != 2 || day < 29 || leap;
}

/* Z, or hours and minutes before or after UTC; false if it is neither. */
static bool offset_of(struct cs_str s, int *minutes)
{
    *minutes = 0;
    if (s.len == 1)
        return (s.at[0] | 0x20) == 'z';
    int h = number(s, 1, 2), m = number(s, 4, 2);
    if (s.len != 6 || (s.at[0] != '+' && s.at[0] != '-') || s.at[3] != ':')
        return false;
    *minutes = (h * 60 + m) * (s.at[0] == '+' ? 1 : -1);
    return h >= 0 && h <= 23 && m >= 0 && m <= 59;
}

static bool fits_time(struct cs_str s)
{
    int hour = number(s, 0, 2), minute = number(s, 3, 2), second = number(s, 6, 2), offset;
    if (s.len < 9 || s.at[2] != ':' || s.at[5] != ':')
        return false;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return false;
    size_t at = 8;
    if (s.at[at] == '.') {
        size_t first = ++at;
        while (at < s.len && is_digit(s.at[at]))
            at++;
        if (at == first)
            return false;
    }
    if (!offset_of(cs_strn(s.at + at, s.len - at), &offset))
        return false;
    /* A leap second is the last of a day in UTC. */
    int utc = ((hour * 60 + minute - offset) % 1440 + 1440) % 1440;
    return second < 60 || utc == 1439;
}

static bool fits_date_time(struct cs_str s)
{
    return s.len > 11 && (s.at[10] | 0x20) == 't' && fits_date(cs_strn(s.at, 10)) &&
           fits_time(cs_strn(s.at + 11, s.len - 11));
}

/* Numbers each followed by a unit, in the order of `units` and without a gap; how far it came. */
static size_t quantities(struct cs_str s, size_t at, const char *units, int *count)
{
    const char *next = NULL;
    *count = 0;
    while (at < s.len && is_digit(s.at[at])) {
        size_t p = at;
        while (p < s.len && is_digit(s.at[p]))
            p++;
        const char *unit = p < s.len && s.at[p] ? strchr(next ? next : units, s.at[p]) : NULL;
        if (!unit || (next && unit != next))
            break;
        next = unit + 1;
        at = p + 1;
        ++*count;
    }
    return at;
}

static bool fits_duration(struct cs_str s)
{
    int dates = 0, times = 0;
    if (s.len < 3 || s.at[0] != 'P')
        return false;
    if (quantities(s, 1, "W", &dates) == s.len)
        return dates == 1;
    size_t at = quantities(s, 1, "YMD", &dates);
    if (at < s.len && s.at[at] == 'T') {
        at = quantities(s, at + 1, "HMS", &times);
        if (times == 0)
            return false;
    }
    return at == s.len && dates + times > 0;
}

static bool fits_uuid(struct cs_str s)
{
    if (s.len != 36)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s.at[i] != '-' : !is_hex(s.at[i]))
            return false;
    }
    return true;
}

static bool fits_json_pointer(struct cs_str s)
{
    if (s.len && s.at[0] != '/')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] == '~' && (i + 1 == s.len || (s.at[i + 1] != '0' && s.at[i + 1] != '1')))
            return false;
    return true;
}

static bool fits_relative_pointer(struct cs_str s)
{
    size_t at = 0;
    while (at < s.len && is_digit(s.at[at]))
        at++;
    if (at == 0 || (at > 1 && s.at[0] == '0'))
        return false;
    if (at + 1 == s.len && s.at[at] == '#')
        return true;
    return fits_json_pointer(cs_strn(s.at + at, s.len - at));
}

static bool fits_regex(struct cs_str s)
{
    struct cs_pattern p = {0};
    if (cs_pattern_new(s, true, &p, NULL) < 0)
        return false;
    cs_pattern_free(&p);
    return true;
}

static const struct cs_format formats[] = {
    {"date-time", "a date and time like 2024-01-31T09:30:00Z", fits_date_time},
    {"date", "a date like 2024-01-31", fits_date},
    {"time", "a time with its offset, like 09:30:00Z or 09:30:00+02:00", fits_time},
    {"duration", "a duration like P1DT12H or PT15M", fits_duration},
    {"email", "an e-mail address", cs_format_email},
    {"idn-email", "an e-mail address", cs_format_idn_email},
    {"hostname", "a host name", cs_format_hostname},
    {"ipv4", "an IPv4 address like 192.0.2.1", cs_format_ipv4},
    {"ipv6", "an IPv6 address like 2001:db8::1", cs_format_ipv6},
    {"uri", "a whole URI like https://example.com/path", cs_format_uri},
    {"uri-reference", "a URI or a path", cs_format_uri_reference},
    {"iri", "a whole URI like https://example.com/path", cs_format_iri},
    {"iri-reference", "a URI or a path", cs_format_iri_reference},
    {"uri-template", "a URI template like /users/{id}", cs_format_uri_template},
    {"uuid", "a UUID like 123e4567-e89b-12d3-a456-426614174000", fits_uuid},
    {"json-pointer", "a JSON pointer like /items/0", fits_json_pointer},
    {"relative-json-pointer", "a relative JSON pointer like 1/items", fits_relative_pointer},
    {"regex", "a regular expression", fits_regex},
};

const struct cs_format *cs_format_find(struct cs_str name)
{
    for (size_t i = 0; i < CS_COUNT(formats); i++)
        if (cs_str_is(name, formats[i].name))
            return &formats[i];
    return NULL;
}

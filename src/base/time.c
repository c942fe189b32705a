#include "base/time.h"

#include <stdio.h>
#include <string.h>

/* How long it is; 0: it is empty. */
static size_t put(int64_t ms, char text[CS_TIME_TEXT])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    text[0] = '\0';
    if (ms <= 0 || !gmtime_r(&seconds, &tm))
        return 0;
    return strftime(text, CS_TIME_TEXT - 5, "%Y-%m-%dT%H:%M:%S", &tm);
}

const char *cs_time_text(int64_t ms, char text[CS_TIME_TEXT])
{
    size_t n = put(ms, text);
    if (n)
        snprintf(text + n, CS_TIME_TEXT - n, "Z");
    return text;
}

const char *cs_time_text_ms(int64_t ms, char text[CS_TIME_TEXT])
{
    size_t n = put(ms, text);
    if (n)
        snprintf(text + n, CS_TIME_TEXT - n, ".%03dZ", (int)(ms % 1000));
    return text;
}

#define SECONDS 19 /* "2026-11-15T08:09:10" */

/* The digits after a point, in milliseconds; `rest` is what follows them. */
static int64_t fraction(const char *at, const char **rest)
{
    int64_t ms = 0, weight = 100;
    for (at++; *at >= '0' && *at <= '9'; at++, weight /= 10)
        ms += (*at - '0') * weight;
    *rest = at;
    return ms;
}

/* "Z", "+02:00"; false: it is neither. */
static bool offset(const char *at, int64_t *minutes)
{
    unsigned hours = 0, rest = 0;
    int n = 0;
    *minutes = 0;
    if ((at[0] == 'Z' || at[0] == 'z') && !at[1])
        return true;
    if ((at[0] != '+' && at[0] != '-') || strlen(at) != 6 || strspn(at + 1, "0123456789:") != 5 ||
        sscanf(at + 1, "%2u:%2u%n", &hours, &rest, &n) != 2 || n != 5 || hours > 23 || rest > 59)
        return false;
    *minutes = (at[0] == '-' ? -1 : 1) * (int64_t)(hours * 60 + rest);
    return true;
}

bool cs_time_parse(struct cs_str text, int64_t *ms)
{
    char copy[CS_TIME_TEXT], again[CS_TIME_TEXT];
    struct tm tm = {0};
    int64_t part = 0, minutes = 0;
    if (text.len <= SECONDS || text.len >= sizeof copy || memchr(text.at, 0, text.len))
        return false;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    if (copy[10] == 't')
        copy[10] = 'T';
    const char *rest = strptime(copy, "%Y-%m-%dT%H:%M:%S", &tm);
    /* It takes more than there is: white space, single digits. */
    if (rest != copy + SECONDS || !strftime(again, sizeof again, "%Y-%m-%dT%H:%M:%S", &tm) ||
        memcmp(again, copy, SECONDS) != 0)
        return false;
    if (rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9')
        part = fraction(rest, &rest);
    if (!offset(rest, &minutes))
        return false;
    int64_t seconds = (int64_t)timegm(&tm);
    /* A day that no month has became another one. */
    if (!strftime(again, sizeof again, "%Y-%m-%dT%H:%M:%S", &tm) ||
        memcmp(again, copy, SECONDS) != 0)
        return false;
    *ms = (seconds - minutes * 60) * 1000 + part;
    return true;
}

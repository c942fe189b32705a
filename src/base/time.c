#include "base/time.h"

#include <stdio.h>

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

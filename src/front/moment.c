/* Moments as people write them. */
#include "front/moment.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/own.h"
#include "base/time.h"

bool cs_moment_parse(const char *text, bool ahead, int64_t *ms)
{
    static const struct {
        char unit;
        int64_t ms;
    } units[] = {{'s', 1000}, {'m', 60000}, {'h', 3600000}, {'d', 86400000}, {'w', 604800000}};
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
                                        "%Y-%m-%d %H:%M", "%Y-%m-%d"};
    char *end;
    long long number = strtoll(text, &end, 10);
    for (size_t i = 0; i < CS_COUNT(units); i++)
        if (end > text && end[0] == units[i].unit && !end[1] && number >= 0 && number < 100000) {
            *ms = cs_time_ms() + (ahead ? number : -number) * units[i].ms;
            return true;
        }
    for (size_t i = 0; i < CS_COUNT(forms); i++) {
        struct tm tm = {0};
        const char *rest = strptime(text, forms[i], &tm);
        if (!rest || !(*rest == '\0' || strcmp(rest, "Z") == 0))
            continue;
        *ms = (int64_t)timegm(&tm) * 1000;
        return true;
    }
    return false;
}

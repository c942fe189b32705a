/* What time it is, in milliseconds. Pure; runs in every process (in a worker both are its own
 * clock). */
#ifndef CS_BASE_TIME_H
#define CS_BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/str.h"

static inline int64_t cs_clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Since 1970: for what is kept, or told to people. It may jump. */
static inline int64_t cs_time_ms(void)
{
    return cs_clock_ms(CLOCK_REALTIME);
}

/* Since some moment: for how long something takes. It never jumps. */
static inline int64_t cs_tick_ms(void)
{
    return cs_clock_ms(CLOCK_MONOTONIC);
}

#define CS_TIME_TEXT 40

/* "2026-11-15T08:09:10Z", and "2026-11-15T08:09:10.123Z": UTC, as in RFC 3339. Empty if there is no
 * such time, and for 0, which is never. Both return `text`. */
const char *cs_time_text(int64_t ms, char text[CS_TIME_TEXT]);
const char *cs_time_text_ms(int64_t ms, char text[CS_TIME_TEXT]);
/* Such a text, also with another offset ("+02:00") and any fraction. False: it is none. */
bool cs_time_parse(struct cs_str text, int64_t *ms);

#endif

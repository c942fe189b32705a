/* Inside of front/: moments as people write them. */
#ifndef CS_FRONT_MOMENT_H
#define CS_FRONT_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

/* "2h" is two hours ago, or in two hours if `ahead`; else a date, perhaps with a time, in UTC.
 * False: it is neither. */
bool cs_moment_parse(const char *text, bool ahead, int64_t *ms);

#endif

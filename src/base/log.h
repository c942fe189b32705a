/*
 * What the daemon says about itself, on stderr: one line for one thing, "time level area: text
 * key=value". Only the edges log (front/, run/, process mains); everything below returns its error.
 *
 * Runs in: daemon, any thread. The level is the one global that may change.
 */
#ifndef CS_BASE_LOG_H
#define CS_BASE_LOG_H

#include <stdbool.h>

#include "base/str.h"

enum cs_log_level { CS_LOG_ERROR, CS_LOG_WARN, CS_LOG_INFO, CS_LOG_DEBUG };

void cs_log_set(enum cs_log_level level);
/* "error", "warn", "info" or "debug"; anything else is info. */
enum cs_log_level cs_log_parse(const char *name);
bool cs_log_wants(enum cs_log_level level);

/* Control characters in the text are replaced: nobody outside can forge a line. */
void cs_log_line(enum cs_log_level level, const char *area, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif

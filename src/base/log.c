#include "base/log.h"
#include "base/time.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"

#define LINE_BYTES 2048

static const char *const names[] = {"error", "warn", "info", "debug"};
static _Atomic enum cs_log_level most = CS_LOG_INFO;

void cs_log_set(enum cs_log_level level)
{
    atomic_store(&most, level);
}

enum cs_log_level cs_log_parse(const char *name)
{
    for (size_t i = 0; i < CS_COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return (enum cs_log_level)i;
    return CS_LOG_INFO;
}

bool cs_log_wants(enum cs_log_level level)
{
    return level <= atomic_load(&most);
}

void cs_log_line(enum cs_log_level level, const char *area, const char *fmt, ...)
{
    if (!cs_log_wants(level))
        return;
    char line[LINE_BYTES];
    char when[CS_TIME_TEXT];
    size_t n = (size_t)snprintf(
        line, sizeof line, "%s %s %s: ", cs_time_text_ms(cs_time_ms(), when), names[level], area);
    va_list ap;
    va_start(ap, fmt);
    int text = vsnprintf(line + n, sizeof line - n - 1, fmt, ap);
    va_end(ap);
    size_t end = n + (text < 0 ? 0 : (size_t)text);
    if (end > sizeof line - 2)
        end = sizeof line - 2;
    for (size_t i = n; i < end; i++) {
        unsigned char c = (unsigned char)line[i], before = (unsigned char)line[i - 1];
        /* The second range is U+0080 to U+009F, which drive terminals too. */
        if (c < 0x20 || c == 0x7F || (before == 0xC2 && c >= 0x80 && c < 0xA0))
            line[i] = '?';
    }
    line[end++] = '\n';
    /* One write, so that lines of several threads do not mix; nobody to tell if it fails. */
    if (write(STDERR_FILENO, line, end) < 0)
        return;
}

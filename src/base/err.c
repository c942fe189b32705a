#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int cs_vfail(struct cs_err *err, enum cs_code code, const char *fmt, va_list ap)
{
    if (!err)
        return -1;
    err->code = code;
    err->sys = 0;
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    return -1;
}

int cs_fail(struct cs_err *err, enum cs_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    cs_vfail(err, code, fmt, ap);
    va_end(ap);
    return -1;
}

int cs_fail_errno(struct cs_err *err, const char *fmt, ...)
{
    int sys = errno;
    if (!err)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    cs_vfail(err, CS_SYSTEM, fmt, ap);
    va_end(ap);
    err->sys = sys;
    size_t len = strlen(err->msg);
    snprintf(err->msg + len, sizeof err->msg - len, ": %s", strerror(sys));
    return -1;
}

int cs_wrap(struct cs_err *err, const char *fmt, ...)
{
    if (!err)
        return -1;
    char inner[sizeof err->msg];
    memcpy(inner, err->msg, sizeof inner);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    size_t len = strlen(err->msg);
    snprintf(err->msg + len, sizeof err->msg - len, ": %s", inner);
    return -1;
}

const char *cs_code_name(enum cs_code code)
{
    static const char *const names[] = {
#define X(name, text) #name,
        CS_CODES(X)
#undef X
    };
    return (unsigned)code < sizeof names / sizeof *names ? names[code] : "?";
}

const char *cs_code_text(enum cs_code code)
{
    static const char *const texts[] = {
#define X(name, text) text,
        CS_CODES(X)
#undef X
    };
    return (unsigned)code < sizeof texts / sizeof *texts ? texts[code] : "?";
}

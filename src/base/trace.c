#include "base/trace.h"

#include <stdio.h>

#include "base/hash.h"

#define LENGTH (CS_TRACEPARENT - 1)

static bool is_zero(const unsigned char *bytes, size_t n)
{
    unsigned char all = 0;
    for (size_t i = 0; i < n; i++)
        all |= bytes[i];
    return all == 0;
}

bool cs_trace_is(const struct cs_trace *t)
{
    return !is_zero(t->trace, sizeof t->trace);
}

bool cs_trace_parse(struct cs_str s, struct cs_trace *t)
{
    struct cs_trace read = {0};
    unsigned char version, flags;
    if (s.len < LENGTH || s.at[2] != '-' || s.at[35] != '-' || s.at[52] != '-' ||
        !cs_hex_read(cs_strn(s.at, 2), &version, 1) ||
        !cs_hex_read(cs_strn(s.at + 3, 32), read.trace, sizeof read.trace) ||
        !cs_hex_read(cs_strn(s.at + 36, 16), read.span, sizeof read.span) ||
        !cs_hex_read(cs_strn(s.at + 53, 2), &flags, 1))
        return false;
    if (version == 0xff || (s.len > LENGTH && (version == 0 || s.at[LENGTH] != '-')))
        return false;
    if (is_zero(read.trace, sizeof read.trace) || is_zero(read.span, sizeof read.span))
        return false;
    read.sampled = flags & 1;
    *t = read;
    return true;
}

void cs_trace_put(const struct cs_trace *t, char header[CS_TRACEPARENT])
{
    char trace[33], span[17];
    cs_hex(t->trace, sizeof t->trace, trace);
    cs_hex(t->span, sizeof t->span, span);
    snprintf(header, CS_TRACEPARENT, "00-%s-%s-%s", trace, span, t->sampled ? "01" : "00");
}

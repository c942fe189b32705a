/*
 * W3C trace context: where something belongs in the traces of others, and the header that says so,
 * "00-<32 hex digits>-<16 hex digits>-<2 hex digits>". Pure.
 */
#ifndef CS_BASE_TRACE_H
#define CS_BASE_TRACE_H

#include <stdbool.h>

#include "base/str.h"

#define CS_TRACEPARENT 56 /* with its NUL */

/* All zero: nowhere. */
struct cs_trace {
    unsigned char trace[16], span[8];
    bool sampled;
};

bool cs_trace_is(const struct cs_trace *t);
/* Strict: what is malformed is no trace, and `t` stays as it is. A later version of the header is
 * read as far as this one goes, as the recommendation wants it. */
bool cs_trace_parse(struct cs_str header, struct cs_trace *t);
void cs_trace_put(const struct cs_trace *t, char header[CS_TRACEPARENT]);

#endif

/*
 * Server-sent events, as they come in: bytes in pieces of any size, events out one by one.
 *
 * Runs in: daemon, loop thread. Pure. Zero-initialised but for `max` is ready; cs_sse_done frees.
 * Limits:  the data of one event is at most `max` bytes, an id CS_SSE_ID; time is linear in the
 *          bytes, however they are cut.
 */
#ifndef CS_TOOLS_SSE_H
#define CS_TOOLS_SSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define CS_SSE_ID 1024u

struct cs_sse {
    size_t max;
    struct cs_buf last_id; /* of the last event that was complete, with data or without */
    int64_t retry_ms;      /* valid if has_retry */
    bool has_retry;

    /* Private. */
    struct cs_buf data, id, type;
    struct cs_buf name; /* of the field on this line; then the digits of retry */
    enum { CS_SSE_NAME, CS_SSE_SPACE, CS_SSE_VALUE } where;
    enum { CS_SSE_OTHER, CS_SSE_DATA, CS_SSE_EVENT, CS_SSE_IDENT, CS_SSE_RETRY } field;
    unsigned bom;  /* bytes of a byte order mark seen at the start; 3: past it */
    bool after_cr; /* an LF now belongs to the line end before */
    bool has_data, bad_id, delivered;
};

struct cs_sse_event {
    struct cs_str type; /* empty: "message" */
    struct cs_str data; /* valid until the next call */
};

/*
 * Takes bytes off the front of `input` until an event is complete: 1. 0: all bytes are taken and
 * none is. -1: CS_LIMIT, and the parser is of no more use. An event without a data field is not
 * reported, but its id and retry count. At the end of a stream what is incomplete is dropped.
 */
int cs_sse_next(struct cs_sse *sse, struct cs_str *input, struct cs_sse_event *event,
                struct cs_err *err);
void cs_sse_done(struct cs_sse *sse);

/* For another stream: all but `max`, the last id and retry is forgotten. */
void cs_sse_restart(struct cs_sse *sse);

#endif

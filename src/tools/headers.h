/*
 * The headers of one request to an MCP server, and what a look at a message tells HTTP.
 *
 * Runs in: daemon, loop thread. Pure. A list is zero-initialised, holds its lines itself, and is
 * bounded by what it is given: the entry's headers, and CS_HEADERS_MAX in all.
 */
#ifndef CS_TOOLS_HEADERS_H
#define CS_TOOLS_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "tools/config.h"

#define CS_HEADERS_MAX 128u

struct cs_headers {
    char *line[CS_HEADERS_MAX + 1]; /* NULL at the end */
    size_t count;
};

void cs_headers_done(struct cs_headers *h);

/* One that does not fit, or whose name or value no header may have, is left out. */
void cs_headers_add(struct cs_headers *h, const char *name, struct cs_str value);

/* Printable ASCII as it is, everything else as =?base64?...?= (Mcp-Name and Mcp-Param-*). */
void cs_headers_add_encoded(struct cs_headers *h, const char *name, struct cs_str value);

/* Those of the server's entry, but for those that are ours to say. */
void cs_headers_add_entry(struct cs_headers *h, const struct cs_pair *pairs);

/* Does the entry bring this header itself? */
bool cs_headers_in_entry(const struct cs_pair *pairs, const char *name);

/* CS_INVALID, with its name, if a header of the entry could not be sent. */
int cs_headers_check_entry(const struct cs_pair *pairs, struct cs_err *err);

/* Is this message a response, by its first keys? Not whether it is a valid one. */
bool cs_is_response(struct cs_str json);

/* Is this the body of a JSON-RPC error? */
bool cs_is_rpc_error(struct cs_str json);

/* The message in such a body, or the first printable text of any other, for an error of ours. */
void cs_body_text(struct cs_str body, char *text, size_t size);

#endif

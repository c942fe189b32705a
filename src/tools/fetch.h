/*
 * HTTP exchanges: libcurl's multi handle on the loop. http.c and oauth.c stand on it.
 *
 * Runs in: daemon and command line, loop thread.
 * Order:   start -> data ... -> done, or cancel at any time, from inside of data too. `done` runs
 *          once, never before start has returned, and the exchange is freed after it.
 * Limits:  CS_FETCH_HEAD bytes of headers; a body that is collected has at most max_body bytes.
 *          What streams is handed on at once and never gathers here.
 * Redirects are followed within one origin only, at most CS_FETCH_HOPS times, with the same method
 * and body: so neither a token nor an entry's own headers ever reach another host.
 */
#ifndef CS_TOOLS_FETCH_H
#define CS_TOOLS_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "tools/transport.h"

#define CS_FETCH_HEAD       (64u << 10)
#define CS_FETCH_HOPS       5u
#define CS_FETCH_CONNECT_MS 10000u

struct cs_fetch;

struct cs_fetch_request {
    const char *method; /* GET, POST, DELETE */
    const char *url;
    const char **headers; /* "Name: value", NULL at the end; without CR and LF */
    struct cs_str body;   /* copied; sent if the method is POST */
    uint32_t timeout_ms;  /* of everything; 0: none beyond that of connecting */
    size_t max_body;
    bool no_redirects;
};

struct cs_fetch_events {
    /* The body of an answer 200 of type text/event-stream, as it comes. NULL: it is collected like
     * any other. */
    void (*data)(void *ctx, struct cs_str bytes);
    /* The exchange is over: `err` has code CS_OK if the answer came to its end. Otherwise
     * CS_UPSTREAM (it could not be reached, was too slow, broke off) or CS_LIMIT (too large). */
    void (*done)(void *ctx, const struct cs_err *err);
};

/* Everything is copied but `events`. */
struct cs_fetch *cs_fetch_start(struct cs_fetcher *http, const struct cs_fetch_request *request,
                                const struct cs_fetch_events *events, void *ctx);
/* No event comes after it. NULL is allowed. */
void cs_fetch_cancel(struct cs_fetch *fetch);

/* What is known of the answer, inside of data and done. Borrowed from the exchange. */
int cs_fetch_status(const struct cs_fetch *fetch); /* 0: none came */
struct cs_str cs_fetch_body(const struct cs_fetch *fetch);
/* The value of a header (if it is there more often, all, joined with ", "); empty: none. */
struct cs_str cs_fetch_header(struct cs_fetch *fetch, const char *name);
/* Is the content type this one, whatever its parameters? */
bool cs_fetch_type_is(struct cs_fetch *fetch, const char *type);
const char *cs_fetch_url(const struct cs_fetch *fetch); /* after redirects */

uv_loop_t *cs_fetcher_loop(struct cs_fetcher *http);

#endif

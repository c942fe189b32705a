/*
 * An HTTP/1.1 server on the loop: exchanges come in, answers or streams go out.
 *
 * Runs in: daemon, loop thread.
 * Order:   listen -> for each exchange: head, (body) request, then reply or stream -> close.
 * Owner:   an exchange belongs to the server. Whoever took it may use it until it has replied (or
 *          ended the stream) or `gone` was called, and not after.
 * Limits:  bodies, heads, connections and the time for each of them, as in the options. Whoever is
 *          too slow or sends too much is cut off (408, 413, 431), and nobody else notices.
 *
 * What is hidden here: libmicrohttpd, which is loaded when the first server is made; TLS;
 * compression.
 */
#ifndef CS_HTTP_HTTP_H
#define CS_HTTP_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "base/str.h"

struct cs_http;
struct cs_exchange;

struct cs_http_options {
    const char *host;               /* address or name to bind to; "127.0.0.1", "::1", "0.0.0.0" */
    uint16_t port;                  /* 0: any that is free */
    const char *tls_cert, *tls_key; /* PEM files, or NULL */
    uint32_t max_connections;
    uint32_t head_bytes;     /* request line and headers */
    uint64_t body_bytes;     /* what a handler may lower for its exchange */
    uint64_t held_bytes;     /* of all bodies that are here at once; then 503. 0: no bound */
    uint32_t request_ms;     /* a whole request must have come within this */
    uint32_t idle_ms;        /* a connection without one is closed after this */
    uint64_t unsent_bytes;   /* that may wait in a stream: who writes more then cuts it */
    uint64_t compress_bytes; /* answers above this are sent with gzip to those who accept it */
};

struct cs_http_handler {
    /* The head has come. May reply at once (the body is then not read, and the connection closed if
     * there is one), or call cs_exchange_expect to allow fewer bytes of body. */
    void (*head)(void *ctx, struct cs_exchange *x);
    /* All of it is there. Must lead to cs_exchange_reply or cs_exchange_stream, now or later. */
    void (*request)(void *ctx, struct cs_exchange *x);
    /* The peer hung up after `request` and before the answer was complete. Only if
     * cs_exchange_on_gone was not used. A peer that only says that it sends no more (`nc -N`) is
     * not gone while it waits for an answer: an interim "100 Continue" finds out whether anybody is
     * still there. With TLS, HTTP/1.0, or once a stream has begun it counts as gone. */
    void (*gone)(void *ctx, struct cs_exchange *x);
};

int cs_http_listen(uv_loop_t *loop, const struct cs_http_options *options,
                   const struct cs_http_handler *handler, void *ctx, struct cs_http **http,
                   struct cs_err *err);
uint16_t cs_http_port(const struct cs_http *http);
unsigned cs_http_connections(const struct cs_http *http);
/* No new connections; those that are idle are closed, answers say "Connection: close". */
void cs_http_drain(struct cs_http *http);
/* Everything is cut; `closed` runs when nothing is left. Owners of exchanges hear `gone` first. */
void cs_http_close(struct cs_http *http, void (*closed)(void *ctx), void *ctx);

/* --- what was asked --- */

struct cs_str cs_exchange_method(const struct cs_exchange *x); /* "GET" */
struct cs_str cs_exchange_path(const struct cs_exchange *x); /* decoded once, no query: "/tools" */
/* Of the query, decoded; .at NULL if it is not there. */
struct cs_str cs_exchange_query(const struct cs_exchange *x, const char *name);
/* By name in any case, white space at the ends removed; .at NULL if it is not there. The second
 * counts how often it came. */
struct cs_str cs_exchange_header(const struct cs_exchange *x, const char *name);
unsigned cs_exchange_header_count(const struct cs_exchange *x, const char *name);
struct cs_str cs_exchange_body(const struct cs_exchange *x);
struct cs_str cs_exchange_peer(const struct cs_exchange *x); /* "127.0.0.1" */
bool cs_exchange_is_loopback(const struct cs_exchange *x);   /* the peer's address is */
bool cs_exchange_is_tls(const struct cs_exchange *x);

void cs_exchange_expect(struct cs_exchange *x, uint64_t body_bytes);

/* A place for whoever owns it now, and what to call instead of the handler's `gone`. */
void cs_exchange_on_gone(struct cs_exchange *x, void (*gone)(void *ctx, struct cs_exchange *x),
                         void *ctx);

/* --- what is answered --- */

/* Before the reply or the stream. The second of a name takes the place of the first. Control
 * characters become spaces; what frames the answer (Content-Length, Connection, ...) is ours. */
void cs_exchange_set(struct cs_exchange *x, const char *name, struct cs_str value);
/* `type` NULL: there is no body. Copied. The exchange is over. */
void cs_exchange_reply(struct cs_exchange *x, unsigned status, const char *type,
                       struct cs_str body);

/* A stream: begin, then write as often as wanted, then end: then the exchange is over. False: the
 * peer does not read and the bound is reached; the stream was cut, `gone` follows. A stream keeps
 * its connection open for as long as it wants. */
void cs_exchange_stream(struct cs_exchange *x, unsigned status, const char *type);
bool cs_exchange_write(struct cs_exchange *x, struct cs_str bytes);
void cs_exchange_end(struct cs_exchange *x);

#endif

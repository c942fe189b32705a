/*
 * What the files of http/ share: a server, its connections, the exchange on each of them.
 *
 * Who calls whom: libmicrohttpd runs from one place (run in http.c) and calls back into
 * connection.c and exchange.c. Nothing that owners of exchanges call enters libmicrohttpd in a way
 * that calls back: it sets flags and resumes a connection, which is looked at in the next turn of
 * the loop. So every public function may be called from within every callback.
 *
 * Connections are freed by libmicrohttpd's `closed` alone, exchanges by its `completed` alone.
 */
#ifndef CS_HTTP_INSIDE_H
#define CS_HTTP_INSIDE_H

#include <netinet/in.h>

#include "base/buf.h"
#include "http/http.h"
#include "http/mhd.h"

#define CS_HTTP_ROOM 64 /* connections beyond the most, while others make room */

/* What a connection waits for; each has a list in the order of the deadlines. */
enum cs_wait {
    CS_WAIT_NOTHING, /* its owner takes as long as it wants */
    CS_WAIT_IDLE,    /* the next request */
    CS_WAIT_REQUEST, /* the rest of a request */
    CS_WAIT_TAKE,    /* that the peer takes the answer */
    CS_WAIT_PROBE,   /* the answer, for a peer that may have gone: time to ask again */
    CS_WAIT_LINGER,  /* the peer to see our last words before we hang up */
    CS_WAITS,
};

/* A place in the list of what is waited for. First in what it is a part of. */
struct cs_waiter {
    struct cs_waiter *before, *after;
    uint64_t due; /* ms of the loop */
    enum cs_wait wait;
};

struct cs_waiters {
    struct cs_waiter *first, *last;
    uint32_t ms;
};

struct cs_connection {
    struct cs_waiter waiter;
    struct cs_http *http;
    struct MHD_Connection *mhd; /* NULL: lingering, the socket is ours */
    struct cs_exchange *x;
    struct cs_connection *before, *after; /* all of the server */
    uint64_t since;                       /* idle; ms of the loop */
    uint64_t bytes; /* that had come or were taken when somebody last looked */
    int fd;
    bool hung_up;   /* the peer's FIN has come */
    bool suspended; /* libmicrohttpd leaves it alone until it is resumed */
    bool early;     /* an answer was given before all of the request was read */
    bool shut;      /* by us */
};

enum cs_phase {
    CS_PHASE_HEAD,   /* coming, or with the handler's `head` */
    CS_PHASE_BODY,   /* coming */
    CS_PHASE_OWNED,  /* somebody thinks about the answer */
    CS_PHASE_STREAM, /* somebody writes the answer */
    CS_PHASE_OVER,   /* it is on its way */
};

struct cs_exchange {
    struct cs_http *http;
    struct cs_connection *connection;
    enum cs_phase phase;
    struct cs_str method;
    struct cs_buf raw; /* the target as it came */
    struct cs_buf path, query, body;
    uint64_t body_max;
    char peer[INET6_ADDRSTRLEN];
    bool loopback, has_body, http10;
    bool broken;   /* nobody can say where this request ends */
    bool overflow; /* more than body_max has come */
    bool crowded;  /* or more than may be held of all of them */
    bool streams;  /* the head of the answer may be on its way */
    bool cut;      /* to be ended as soon as libmicrohttpd asks */
    void (*gone)(void *ctx, struct cs_exchange *x);
    void *gone_ctx;
    /* The answer. */
    struct cs_buf set;             /* name NUL value NUL ... */
    struct MHD_Response *response; /* not yet queued */
    unsigned status;
    struct cs_buf out; /* of a stream, from `sent` on */
    size_t sent;
    bool ended;
    struct cs_squeeze *squeeze; /* while it is compressed in the pool */
};

struct cs_http {
    uv_loop_t *loop;
    const struct cs_mhd *mhd;
    struct MHD_Daemon *daemon;
    struct cs_http_options options; /* its texts are not kept */
    struct cs_http_handler handler;
    void *ctx;
    uv_poll_t listener, turn, watch; /* new connections; libmicrohttpd; peers that hang up */
    uv_timer_t timer;                /* the earliest deadline */
    uv_timer_t again;                /* libmicrohttpd has something to do without an event */
    uv_idle_t soon;                  /* ... or one of its connections was resumed */
    unsigned in_vain;                /* how often it was run without an event */
    int fd, watch_fd, spare_fd;
    uint64_t armed; /* when the timer fires; 0: it does not */
    struct cs_waiters waiters[CS_WAITS];
    struct cs_connection *connections;
    uint64_t held; /* bytes of all bodies */
    unsigned count, peak, lingering;
    unsigned handles, squeezing;
    uint16_t port;
    bool tls, listening, draining, closing;
    void (*closed)(void *ctx);
    void *closed_ctx;
};

/* --- http.c --- */

/* libmicrohttpd, in the next turn of the loop. */
void cs_http_run_soon(struct cs_http *http);
/* One that was compressed in the pool is done. */
void cs_http_squeezed(struct cs_http *http);

/* --- listen.c: a socket that listens, and what is needed before --- */

int cs_http_bind(const char *host, uint16_t port, int *fd, uint16_t *bound, struct cs_err *err);
/* A descriptor to give up when there are no others. */
int cs_http_spare(void);
/* As many descriptors as we may have. */
void cs_http_raise_files(void);
/* The content of both files, which belong together. */
int cs_http_read_tls(const char *cert_path, const char *key_path, struct cs_buf *cert,
                     struct cs_buf *key, struct cs_err *err);

/* --- wait.c: deadlines --- */

void cs_http_wait(struct cs_http *http, struct cs_waiter *w, enum cs_wait wait);
void cs_http_on_timer(uv_timer_t *timer);

/* --- connection.c --- */

void cs_http_on_accept(uv_poll_t *poll, int status, int events);
void cs_http_on_watch(uv_poll_t *poll, int status, int events);
/* libmicrohttpd's. */
void cs_http_on_connection(void *ctx, struct MHD_Connection *mhd, void **context,
                           enum MHD_ConnectionNotificationCode code);
void cs_http_on_due(struct cs_connection *c, enum cs_wait wait);
/* Past libmicrohttpd, when it has nothing to send. */
void cs_http_say(struct cs_connection *c, struct cs_str text);
/* Nothing more comes and goes. libmicrohttpd notices by itself, unless it is suspended. */
void cs_http_shut(struct cs_connection *c);
void cs_http_suspend(struct cs_connection *c);
void cs_http_resume(struct cs_connection *c);
void cs_http_idle(struct cs_connection *c);
bool cs_http_has_begun(struct cs_connection *c);
void cs_http_linger_end(struct cs_connection *c);
/* The peer's FIN has come, and the connection is suspended: is anybody still there? */
void cs_http_hung_up(struct cs_connection *c);

/* --- exchange.c --- */

/* libmicrohttpd's. */
void *cs_http_on_target(void *ctx, const char *target, struct MHD_Connection *mhd);
enum MHD_Result cs_http_on_request(void *ctx, struct MHD_Connection *mhd, const char *url,
                                   const char *method, const char *version, const char *data,
                                   size_t *size, void **context);
void cs_http_on_completed(void *ctx, struct MHD_Connection *mhd, void **context,
                          enum MHD_RequestTerminationCode why);
/* Calls whoever has it, if somebody has. */
void cs_exchange_say_gone(struct cs_exchange *x);
/* The peer is gone or must go. `gone` follows if somebody has it. */
void cs_exchange_cut(struct cs_exchange *x);

/* --- answer.c --- */

/* Hands the answer to libmicrohttpd. In its callback for requests only. */
enum MHD_Result cs_exchange_queue(struct cs_exchange *x);
/* A plain answer that was not the handler's idea. */
void cs_exchange_refuse(struct cs_exchange *x, unsigned status, const char *text);
void cs_exchange_free_answer(struct cs_exchange *x);
/* Takes `body`, as it is to be sent. */
void cs_exchange_send(struct cs_exchange *x, struct cs_buf *body);
/* The value that a header of the answer has; .at NULL if it has none. */
struct cs_str cs_exchange_was_set(const struct cs_exchange *x, const char *name);

/* --- squeeze.c: gzip --- */

struct cs_squeeze;
/* Takes `body` and sends it, compressed if the peer wants that; large ones later. */
void cs_squeeze_start(struct cs_exchange *x, struct cs_str type, struct cs_buf *body);
/* The exchange goes away. */
void cs_squeeze_forget(struct cs_squeeze *s);

#endif

/*
 * The inside of a client, shared by the files that make it up. Private to tools/ and its tests.
 *
 *   client.c   life: open, fail, wait, try again, close; the one timer
 *   rpc.c      messages out and in: ids, the table of requests under way, who handles what
 *   era.c      which protocol the server speaks: server/discover or initialize
 *   listing.c  tools/list with its pages, and being told that it changed
 *   calls.c    tools/call: deadlines, progress, cancelling, results
 *   asks.c     what a server asks of us, in either era
 *   mirror.c   x-mcp-header: which parameters HTTP wants to see
 */
#ifndef CS_TOOLS_CLIENT_IN_H
#define CS_TOOLS_CLIENT_IN_H

#include "base/buf.h"
#include "base/link.h"
#include "tools/client.h"

#define CS_MCP_MODERN "2026-07-28"
#define CS_MCP_LEGACY "2025-11-25" /* the newest that begins with `initialize` */

#define CS_CALLS_MAX      1000u      /* under way at once */
#define CS_ASKS_MAX       100u       /* questions of one server that are open at once */
#define CS_ROUNDS_MAX     10u        /* of input_required in one call */
#define CS_GARBAGE_MAX    1000u      /* lines that are no message, before the server is given up */
#define CS_GARBAGE_BYTES  65536u     /* so many of it count as one more */
#define CS_LOGS_MAX       200u       /* in a second; more are dropped */
#define CS_LOG_BYTES      8192u      /* of one of them */
#define CS_MESSAGE_SLACK  (1u << 20) /* what a message may have beside the largest result */
#define CS_BUCKETS        256u
#define CS_NEVER          UINT64_MAX
#define CS_JSON_DEEPEST   1024u
#define CS_RPC_NO_METHOD  (-32601)
#define CS_RPC_PARAMS     (-32602)
#define CS_RPC_HEADERS    (-32020)
#define CS_RPC_VERSION    (-32022)
#define CS_RPC_CAPABILITY (-32021)

/* What tests put in another's place: how a transport is made, and how long things take, in ms. */
struct cs_client_parts {
    int (*open)(void *ctx, uv_loop_t *loop, const struct cs_server_config *server,
                const struct cs_client_options *options, const struct cs_transport_events *events,
                void *events_ctx, struct cs_transport **transport, struct cs_err *err);
    void *ctx;
    uint32_t probe;       /* for an answer to server/discover; over HTTP ten times that */
    uint32_t connect;     /* for an answer to initialize, and for each page of a list */
    uint32_t backoff;     /* the first; doubles ... */
    uint32_t backoff_max; /* ... up to this */
    uint32_t steady;      /* ready for so long: earlier failures are forgotten */
    uint32_t debounce;    /* between "it changed" and asking again */
    uint32_t pace;        /* before a call that got nothing but a state is tried again */
    uint32_t person;      /* for somebody to answer a question */
    uint32_t verdict;     /* how long a server is taken to be legacy without asking again */
};

extern const struct cs_client_parts cs_client_parts_default; /* without `open` */

enum cs_phase_client { /* of the connection */
                       CS_CONN_OFF,
                       CS_CONN_PROBING,
                       CS_CONN_INITIALIZING,
                       CS_CONN_LISTING, /* calls may go out from here on */
                       CS_CONN_READY,
                       CS_CONN_CLOSING, /* the transport is on its way out */
};

enum cs_request_kind {
    CS_REQ_DISCOVER,
    CS_REQ_INITIALIZE,
    CS_REQ_LIST,
    CS_REQ_LISTEN,
    CS_REQ_CALL,
};

enum cs_request_status {
    CS_AT_WAITING, /* for the connection, or (`due`) for its turn to be sent again */
    CS_AT_SENT,
    CS_AT_ASKING, /* for answers to what the server asked */
    CS_AT_DOOMED, /* gets its error at the next tick */
    CS_AT_DONE,
};

/* A request of ours. */
struct cs_client_call {
    struct cs_link link;          /* client->requests */
    struct cs_client_call *chain; /* of the bucket, while it is sent */
    struct cs_client *client;
    enum cs_request_kind kind;
    enum cs_request_status status;
    bool string_id;
    bool version_retried, header_retried, session_retried;
    bool paced; /* waits for `due` to be sent again */
    bool held;  /* somebody up the stack looks at it: freeing waits */
    uint64_t id;
    uint64_t due; /* ms */

    /* Of calls only. */
    uint64_t latest;         /* progress does not extend it beyond this */
    uint64_t asked_at, left; /* legacy: since when it is asked, and what was left of its time */
    uint32_t timeout_ms;
    uint32_t rounds, asks; /* of input_required; questions still open */
    uint64_t max_result;
    char trace[CS_TRACEPARENT];      /* empty: none */
    struct cs_buf arguments, schema; /* kept where it may have to be sent again */
    struct cs_buf inputs;            /* members of inputResponses, gathered */
    struct cs_buf state;             /* requestState as it came, quotes and all */
    struct cs_err *doom;
    void (*progress)(void *ctx, struct cs_str params);
    void (*done)(void *ctx, const struct cs_client_result *result);
    void *ctx;
    size_t tool_len;
    char tool[];
};

/* A question of the server that somebody was asked. */
struct cs_ask {
    struct cs_ask *next;
    uint64_t id;
    bool sampling;
    struct cs_client_call *call; /* modern: whose answer needs it. Legacy: during which it came */
    uint64_t before;             /* NULL: during any of those with an id below this */
    uint64_t due;                /* of a legacy one; modern calls have it themselves */
    struct cs_buf token;         /* legacy: its JSON-RPC id as it came. Modern: the key, quoted */
    bool modern;
};

struct cs_listing {
    bool active, again;
    struct cs_buf tools;
    uint32_t pages, count, dropped;
    struct cs_buf cursors; /* all there were, quoted, one after the other */
};

struct cs_client {
    uv_loop_t *loop;
    const struct cs_server_config *server;
    struct cs_client_options options;
    struct cs_client_events events;
    void *ctx;
    struct cs_client_parts parts;

    struct cs_client_info info;
    struct cs_buf protocol, name, version, instructions, stderr_kept;

    struct cs_transport *transport;
    enum cs_phase_client phase;
    bool modern;
    enum cs_era verdict; /* what the last probe said; AUTO: nothing */
    uint64_t verdict_at;
    bool respawned;        /* it ended on the probe, and was started once more */
    bool was_ready;        /* in this life: a failure is followed by another try */
    bool tools_changing;   /* it says that it tells when its list changes */
    bool tools_undeclared; /* it says that it has none */
    uint32_t failures, garbage, logs;
    uint64_t logs_at;
    uint64_t ready_at, listed_at;

    uv_timer_t timer;
    uint64_t timer_at; /* when it fires; CS_NEVER: not started */
    uint64_t connect_at, relist_at, listen_at;
    uint32_t listen_failures;
    uint64_t listen_since;
    uint64_t random;

    uint64_t parse_max; /* of a message that is looked into */
    uint64_t next_id;
    uint64_t session_from; /* the id of the last initialize */
    struct cs_link requests;
    struct cs_client_call *buckets[CS_BUCKETS];
    uint32_t calls; /* of them */
    uint64_t listen_id;

    struct cs_listing listing;
    struct cs_ask *asks;
    uint32_t ask_count;
    uint64_t next_ask;

    struct cs_buf meta;         /* what every modern request carries */
    struct cs_buf capabilities; /* what we declare */
    struct cs_buf out;          /* the message being made */

    bool closing;
    void (*closed)(void *ctx);
    void *closed_ctx;
};

/* An answer to a request of ours. */
struct cs_answer {
    struct cs_json_val result; /* none: it is an error */
    int code;
    struct cs_json_val message, data;
};

/* --- client.c --- */

struct cs_client *cs_client_new_with(uv_loop_t *loop, const struct cs_server_config *server,
                                     const struct cs_client_options *options,
                                     const struct cs_client_events *events, void *ctx,
                                     const struct cs_client_parts *parts);
uint64_t cs_client_now(void);
void cs_client_wake(struct cs_client *c, uint64_t at); /* tick at that time, or earlier */
void cs_client_set_state(struct cs_client *c, enum cs_client_state state);
void cs_client_changed(struct cs_client *c);
/* The connection is of no use. Fails what is under way, closes, and decides what comes next. */
void cs_client_lost(struct cs_client *c, const struct cs_err *err);
/* Of a client that is connected or on its way: after the handshake, and when the list is there. */
void cs_client_shaken(struct cs_client *c);
void cs_client_ready(struct cs_client *c);
void cs_client_want(struct cs_client *c); /* connect if nothing is on its way */
void cs_client_say(struct cs_client *c, const char *level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
extern const struct cs_transport_events cs_client_transport_events;

/* --- rpc.c --- */

struct cs_client_call *cs_request_new(struct cs_client *c, enum cs_request_kind kind,
                                      struct cs_str tool);
void cs_request_free(struct cs_client_call *r);   /* takes it out of list and table */
void cs_request_unsent(struct cs_client_call *r); /* takes it out of the table */
struct cs_client_call *cs_request_find(struct cs_client *c, uint64_t id);
/* Starts a request in c->out, under a new id: everything up to the first member of params. */
void cs_request_begin(struct cs_client_call *r, const char *method);
/* Ends it (with _meta, if there is any) and sends it. */
void cs_request_send(struct cs_client_call *r, const char *method, struct cs_str name,
                     const struct cs_pair *params);
void cs_client_notify(struct cs_client *c, const char *method, struct cs_str params);
void cs_client_reply(struct cs_client *c, struct cs_str id, struct cs_str result);
void cs_client_refuse(struct cs_client *c, struct cs_str id, int code, const char *message);
void cs_client_message(struct cs_client *c, struct cs_str json, uint64_t request);
void cs_client_trouble(struct cs_client *c, uint64_t id, enum cs_trouble trouble, int http_status,
                       const struct cs_err *err);
/* The message of an error, for people: cut to `size`, without control characters. */
const char *cs_answer_words(const struct cs_answer *a, char *to, size_t size);

/* --- era.c --- */

void cs_era_begin(struct cs_client *c); /* a transport is there: find out */
void cs_era_initialize(struct cs_client *c);
void cs_era_declare(struct cs_client *c); /* fills meta and capabilities */
void cs_era_discovered(struct cs_client *c, struct cs_client_call *r, const struct cs_answer *a);
void cs_era_initialized(struct cs_client *c, const struct cs_answer *a);
bool cs_era_offers_ours(const struct cs_answer *a); /* a -32022 that names the version we speak */

/* --- listing.c --- */

void cs_list_begin(struct cs_client *c);
void cs_list_page(struct cs_client *c, struct cs_client_call *r, const struct cs_answer *a);
void cs_list_failed(struct cs_client *c, const struct cs_err *err);
void cs_list_changed(struct cs_client *c);
void cs_list_stop(struct cs_client *c);
void cs_listen_begin(struct cs_client *c);
void cs_listen_over(struct cs_client *c, bool for_good);

/* --- calls.c --- */

void cs_call_send(struct cs_client_call *r, struct cs_str arguments, struct cs_str schema);
void cs_call_again(struct cs_client_call *r); /* with what was kept */
void cs_call_send_waiting(struct cs_client *c);
void cs_call_answered(struct cs_client *c, struct cs_client_call *r, const struct cs_answer *a);
void cs_call_fail(struct cs_client_call *r, const struct cs_err *err, bool retryable, int rpc_code);
void cs_call_timed_out(struct cs_client_call *r);
void cs_call_progress(struct cs_client *c, struct cs_json_val params);
void cs_call_doom(struct cs_client_call *r, const struct cs_err *err);

/* --- asks.c --- */

void cs_ask_request(struct cs_client *c, struct cs_json_val root, struct cs_json_val id,
                    uint64_t request);
void cs_ask_inputs(struct cs_client *c, struct cs_client_call *r, struct cs_json_val result);
void cs_ask_cancelled(struct cs_client *c, struct cs_str id);
/* Questions of a call that is over; NULL: all, as there is nobody left to answer. */
void cs_ask_forget(struct cs_client *c, struct cs_client_call *r);
/* Those that nobody answered in time. When the next one is due. */
uint64_t cs_ask_expire(struct cs_client *c, uint64_t now);
void cs_ask_roots(struct cs_client *c, struct cs_buf *json);

/* --- mirror.c --- */

/* May a tool with this input schema be used over HTTP? `why` says why not. */
bool cs_mirror_ok(struct cs_json_val schema, struct cs_buf *why);
/* The Mcp-Param-* pairs of a call, ended by a NULL name; NULL if there are none. */
struct cs_pair *cs_mirror_of(struct cs_str schema, struct cs_str arguments, struct cs_arena *arena);

static inline struct cs_client_call *cs_link_request(struct cs_link *l)
{
    return (struct cs_client_call *)((char *)l - offsetof(struct cs_client_call, link));
}

#endif

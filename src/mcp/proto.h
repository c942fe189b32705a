/*
 * The protocol's own side of mcp/: who speaks (peers), what was asked (requests), and where the
 * answers go (lines or streams).
 *
 * A peer is whoever requests have in common: the client at the other end of stdio, a session over
 * HTTP of the older revisions, or everybody who shows the same key and speaks the newest one, which
 * knows no sessions. Requests belong to a peer and end with it, but tasks, and calls that wait for
 * an answer, which belong to the caller.
 */
#ifndef CS_MCP_PROTO_H
#define CS_MCP_PROTO_H

#include "base/link.h"
#include "mcp/inside.h"

#define CS_PEER_REQUESTS   256u         /* under way at once, for each peer */
#define CS_PEER_URIS       1000u        /* subscribed to */
#define CS_PEER_URI_BYTES  4096u        /* of one of them */
#define CS_CALLER_PEERS    1000u        /* sessions of one caller */
#define CS_CALLER_TASKS    1000u        /* tasks of one caller that are remembered */
#define CS_PEERS           10000u       /* sessions in all */
#define CS_SESSION_IDLE    3600000u     /* ms; then it is forgotten */
#define CS_ASK_WAIT        600000u      /* ms; so long an answer is waited for */
#define CS_ID_BYTES        512u         /* of a request's id, a progress token, a key */
#define CS_EVENTS          1024u        /* kept for resumption, for each session ... */
#define CS_EVENT_BYTES     (4u << 20)   /* ... and the last one whatever its size */
#define CS_EVENT_BYTES_ALL (256u << 20) /* of all sessions; then each keeps its last one */
#define CS_HELD_BYTES      (512u << 20) /* parameters of all requests under way */
#define CS_OLD_STREAMS     64u          /* that are over and may be resumed, for each session */
#define CS_TASK_TTL        3600000u     /* ms */
#define CS_TASK_AFTER      2000u        /* ms; then a call that may be one becomes one */
#define CS_KEEP_ALIVE      20000u       /* ms without a word on a stream */
#define CS_HEARTBEAT       10000u       /* ms without progress */
#define CS_PROGRESS_PACE   100u         /* ms from one to the next */
#define CS_LOGS_A_SECOND   200u         /* of one call; others are dropped */
#define CS_QUESTIONS       64u          /* of one call, open at once */
#define CS_DEPTH           128u

enum cs_version { CS_V2024, CS_V2025_03, CS_V2025_06, CS_V2025_11, CS_VMODERN, CS_VNONE };
#define CS_NEWEST_LEGACY CS_V2025_11

/* After the kinds of enum cs_ask_kind. */
#define CS_ASK_ROOTS 3

struct cs_peer;
struct cs_req;
struct cs_stream;
struct cs_task;
struct cs_batch;

struct cs_uri {
    struct cs_uri *next;
    size_t len;
    char text[];
};

/* What must be known for each method of the protocol itself. */
struct cs_proto_method {
    const char *name;
    enum cs_version from, to; /* the revisions that have it */
    void (*call)(struct cs_req *req);
};
extern const struct cs_proto_method cs_proto_methods[];

struct cs_mcp {
    uv_loop_t *loop;
    struct cs_mcp_options options;
    const struct cs_mcp_offer *offer;
    void *own;
    unsigned char key[32]; /* that request states are sealed with */
    uv_timer_t tick, soon, pace;
    unsigned handles;
    bool closing;
    struct cs_link peers, crowds, tasks, asks, reqs, all_streams;
    struct cs_peer *buckets[1024]; /* sessions by their id */
    uint32_t sessions;
    size_t held, event_bytes; /* parameters of requests; events of all sessions */
    uint64_t requests, errors;
    struct cs_json capabilities; /* of the offer */
};

enum cs_peer_kind { CS_PEER_LINES, CS_PEER_SESSION, CS_PEER_CROWD };

struct cs_peer {
    struct cs_link link; /* mcp->peers, or mcp->crowds */
    struct cs_mcp *mcp;
    enum cs_peer_kind kind;
    struct cs_caller caller;
    struct cs_link reqs;
    uint32_t req_count;
    bool closing;

    /* Of the older revisions: what `initialize` agreed on. */
    enum cs_version version; /* CS_VNONE: not yet */
    bool ready;              /* it said so: may be told things */
    unsigned asks;           /* 1u << kind */
    int level;               /* of logs it wants to hear; 8: none */
    struct cs_uri *uris;
    uint32_t uri_count;
    uint64_t next_id; /* of a request of ours */

    /* Lines: one message out. `minor`: may be left out if too much waits. */
    void (*send)(struct cs_peer *peer, struct cs_str json, bool minor);
    void *line;

    /* A session. */
    char id[44];
    struct cs_peer *chain; /* of the bucket */
    uint64_t used;         /* when; ms */
    struct cs_link streams;
    struct cs_stream *own; /* the one that GET opens */
    uint64_t next_stream, next_event;
    struct cs_link events;
    uint32_t event_count, old_streams;
    size_t event_bytes;
};

/* Open questions of a call. */
struct cs_question {
    struct cs_link link; /* mcp->asks */
    struct cs_req *req;
    struct cs_peer *asked; /* old: who got it as request `id`; NULL: nobody yet */
    uint64_t id;
    uint64_t ask;
    unsigned kind;
    bool declined; /* to be told soon */
    bool given;    /* new: the client has seen it */
    uint64_t until;
    struct cs_buf key; /* JSON */
    struct cs_buf params;
    struct cs_buf answer; /* has come, and is handed on in a moment */
};

struct cs_req {
    struct cs_mcp_call call; /* first */
    struct cs_link link;     /* peer->reqs */
    struct cs_link all;      /* mcp->reqs */
    struct cs_peer *peer;
    struct cs_stream *stream;            /* NULL: lines, or nobody waits for it now */
    struct cs_batch *batch;              /* of lines */
    const struct cs_mcp_method *offered; /* or */
    const struct cs_proto_method *own;
    struct cs_buf text; /* of the message */
    struct cs_json doc;
    char id[CS_ID_BYTES + 1];    /* JSON; empty: nobody waits for it now */
    char token[CS_ID_BYTES + 1]; /* JSON; empty: no progress is wanted */
    enum cs_version version;
    unsigned asks; /* 1u << kind: may be asked */
    bool speaks_tasks;
    int level;
    bool ending;  /* cancelled: it is not answered any more */
    bool telling; /* whoever works on it hears of that just now */
    uint64_t began;

    /* progress.c */
    bool said, waits; /* progress: once; the last one has not been sent */
    double progress, total;
    struct cs_buf words;
    uint64_t said_at;
    uint64_t log_second;
    uint32_t log_count;

    /* asks.c */
    bool parked; /* new: answered with input_required */
    unsigned char handle[16];
    uint32_t round;
    uint64_t until;
    uint32_t open; /* questions */
    uint64_t next_key;
    bool over;             /* its outcome waits for the client */
    struct cs_buf outcome; /* the result, or the error object */
    bool failed;

    /* tasks.c */
    char task_id[CS_ID_BYTES + 1]; /* empty: it is no candidate */
    uint64_t task_at;              /* becomes one then */
    int64_t ttl;                   /* old: what params.task wants; -1: no params.task */
    struct cs_task *task;          /* it is one */
    struct cs_task *waits_for;     /* tasks/result */
    struct cs_link waiting;
    enum { CS_RECALL_NO, CS_RECALL_GET, CS_RECALL_RESULT, CS_RECALL_CANCEL } recall;

    struct cs_listen *listen; /* listen.c */
};

uint64_t cs_mcp_now(void); /* ms */

/* --- mcp.c --- */

void cs_mcp_soon(struct cs_mcp *m);  /* cs_ask_soon, at the next turn of the loop */
void cs_mcp_later(struct cs_mcp *m); /* cs_progress_pace, in a moment */

/* --- stdio.c --- */

/* The client at its end is forgotten, without a word to anybody. */
void cs_stdio_close(struct cs_peer *peer);

/* --- peers.c --- */

struct cs_peer *cs_peer_new(struct cs_mcp *m, enum cs_peer_kind kind,
                            const struct cs_caller *caller);
/* Its requests are cancelled, its streams end. */
void cs_peer_close(struct cs_peer *peer);
bool cs_caller_same(const struct cs_caller *a, const struct cs_caller *b);
/* Everybody with this key, of the newest revision. */
struct cs_peer *cs_peer_crowd(struct cs_mcp *m, const struct cs_caller *caller);
/* NULL: too many of them are busy. */
struct cs_peer *cs_session_new(struct cs_mcp *m, const struct cs_caller *caller);
/* NULL: there is none, or it is somebody else's. */
struct cs_peer *cs_session_find(struct cs_mcp *m, const struct cs_caller *caller, struct cs_str id);
void cs_peers_tick(struct cs_mcp *m, uint64_t now);
/* Tells a client of an older revision something that belongs to no request. */
void cs_peer_tell(struct cs_peer *peer, struct cs_str json);

/* --- rpc.c: messages --- */

/* One message in, of lines; `text` is any bytes. */
void cs_rpc_line(struct cs_peer *peer, struct cs_str text);
/* Is it one of the two kinds that are answered? */
bool cs_rpc_id_ok(struct cs_json_val id);
void cs_rpc_put_error(struct cs_buf *out, struct cs_str id, int code, struct cs_str message,
                      struct cs_str data);
void cs_rpc_put_result(struct cs_buf *out, struct cs_str id, struct cs_str result);
/* Opens {"jsonrpc", "method", "params": {; the caller closes both. */
struct cs_json_writer cs_rpc_begin(struct cs_buf *out, const char *method);
void cs_rpc_end(struct cs_json_writer *w);
enum cs_rpc_kind { CS_RPC_REQUEST, CS_RPC_NOTIFICATION, CS_RPC_RESPONSE, CS_RPC_BAD };
enum cs_rpc_kind cs_rpc_kind(struct cs_json_val message);
struct cs_str cs_rpc_id(struct cs_json_val message); /* as it was written; empty: none */
bool cs_rpc_is_modern(struct cs_json_val message);   /* by what it says about itself */
void cs_rpc_unserved(struct cs_buf *data, struct cs_str version); /* data of -32022 */
extern const struct cs_json_limits cs_rpc_limits;
/* A notification or a response, of any transport. */
void cs_rpc_other(struct cs_peer *peer, struct cs_json_val message);

/* Several messages in one line, whose answers are one line too. */
struct cs_batch {
    struct cs_peer *peer; /* NULL: it is gone */
    uint32_t open;
    struct cs_buf answers;
};
void cs_batch_answer(struct cs_batch *batch, struct cs_str json); /* empty: there is none */

/* --- era.c --- */

extern const char *const cs_version_names[];
enum cs_version cs_version_find(struct cs_str name); /* CS_VNONE: not served */
/* What a modern request says about itself; -1: -32602 with *why, or -32022. */
struct cs_envelope_in {
    enum cs_version version;
    struct cs_str name; /* of the version */
    unsigned asks;
    bool tasks;
    int level;
};
int cs_envelope_read(struct cs_json_val params, struct cs_arena *arena, struct cs_envelope_in *e,
                     const char **why);
unsigned cs_caps_asks(struct cs_json_val capabilities);
/* Does the offer declare it? For example "tools", "listChanged"; the second may be NULL. */
bool cs_caps_offered(const struct cs_mcp *m, const char *what, const char *how);
int cs_level_find(struct cs_str name); /* -1: none */
void cs_hello_initialize(struct cs_req *req);
void cs_hello_discover(struct cs_req *req);
void cs_hello_set_level(struct cs_req *req);
void cs_hello_ping(struct cs_req *req);
void cs_put_versions(struct cs_json_writer *w);
void cs_put_server_info(const struct cs_mcp *m, struct cs_json_writer *w);

/* --- request.c --- */

struct cs_wanted {
    struct cs_peer *peer;
    struct cs_stream *stream;
    struct cs_batch *batch;
    enum cs_version version;
    const struct cs_envelope_in *envelope; /* of the newest revision */
};
/* Keeps a copy of `message`, finds its method and calls it. */
void cs_req_start(const struct cs_wanted *wanted, struct cs_json_val message);
/* The method, or false: there is none in this revision. */
bool cs_req_method(const struct cs_mcp *m, enum cs_version version, struct cs_json_val name,
                   const struct cs_mcp_method **offered, const struct cs_proto_method **own);
struct cs_req *cs_req_find(struct cs_peer *peer, struct cs_str id);
/* The client lost interest: whoever works on it is told, and it is gone. */
void cs_req_cancel(struct cs_req *req);
/* Sends the outcome to whoever waits for it now. */
void cs_req_deliver(struct cs_req *req, bool failed, struct cs_str outcome, unsigned status);
/* Nobody waits for it any more, it goes on. */
void cs_req_detach(struct cs_req *req);
/* A notification or a request of ours, on its way. */
void cs_req_say(struct cs_req *req, struct cs_str json, bool minor);
void cs_req_free(struct cs_req *req);
/* Like cs_mcp_error, with an HTTP status for the newest revision. */
void cs_req_refuse(struct cs_req *req, int code, unsigned status, const char *message,
                   struct cs_str data);
/* -32021, with the capability as JSON. */
void cs_req_needs(struct cs_req *req, struct cs_str capability);
/* The result as the revision wants it. */
void cs_req_dress(const struct cs_req *req, struct cs_str result, const char *type,
                  struct cs_buf *out);
/* `result` with more members, and with more in its _meta. */
void cs_rpc_splice(struct cs_str result, struct cs_str members, struct cs_str meta,
                   struct cs_buf *out);
/* Copies JSON into one of the bounded places. False: too long, or none of the two kinds. */
bool cs_token_copy(char to[CS_ID_BYTES + 1], struct cs_json_val v);

/* --- progress.c --- */

void cs_progress_flush(struct cs_req *req);
void cs_progress_tick(struct cs_req *req, uint64_t now);
void cs_progress_pace(struct cs_mcp *m);

/* --- asks.c --- */

void cs_ask_drop_all(struct cs_req *req);
/* The answer to a request of ours. */
void cs_ask_response(struct cs_peer *peer, struct cs_json_val message);
void cs_ask_peer_gone(struct cs_peer *peer);
/* Sends those that nobody got yet, on the stream of `via`. */
void cs_ask_send_old(struct cs_req *req, struct cs_req *via);
/* Members of inputResponses; false: malformed. Questions that they answer are over. */
bool cs_ask_take(struct cs_req *req, struct cs_json_val responses);
/* {"key": {"method", "params"}, ...} of those that are open; they count as given. */
void cs_ask_put(struct cs_req *req, struct cs_json_writer *w);
/* A request with a requestState. True: it was one, and all is done. */
bool cs_ask_retry(struct cs_req *req);
void cs_ask_soon(struct cs_mcp *m);
void cs_ask_tick(struct cs_mcp *m, uint64_t now);

/* --- seal.c --- */

#define CS_SEAL_TEXT 128

struct cs_seal {
    unsigned char handle[16];
    uint32_t round;
    uint64_t until; /* ms, of cs_mcp_now */
};
/* What it is bound to: who asked, and for what. */
void cs_seal_digest(const struct cs_caller *caller, struct cs_str method, struct cs_json_val params,
                    unsigned char digest[32]);
void cs_seal(const unsigned char key[32], const struct cs_seal *seal,
             const unsigned char digest[32], char text[CS_SEAL_TEXT]);
/* False: it is not ours, or for something else. Whether it is too late is not looked at. */
bool cs_unseal(const unsigned char key[32], struct cs_str text, const unsigned char digest[32],
               struct cs_seal *seal);
void cs_random_bytes(void *to, size_t n); /* up to 256 */
/* Unguessable: base64url of 32 random bytes. */
void cs_random_id(char id[44]);
/* A header's value that may be =?base64?..?=; false: it is malformed. Lent or in the arena. */
bool cs_header_decode(struct cs_str value, struct cs_arena *arena, struct cs_str *out);

/* --- tasks.c, tasks_old.c --- */

enum cs_task_status {
    CS_TASK_WORKING,
    CS_TASK_INPUT,
    CS_TASK_DONE,
    CS_TASK_FAILED,
    CS_TASK_CANCELLED
};

struct cs_task {
    struct cs_link link; /* mcp->tasks */
    struct cs_mcp *mcp;
    struct cs_caller caller;
    char id[CS_ID_BYTES + 1];
    enum cs_task_status status;
    bool old;
    int64_t created, updated; /* ms since 1970 */
    uint64_t ttl, until;      /* ms */
    struct cs_req *req;       /* NULL: over */
    struct cs_link waiting;   /* tasks/result */
    struct cs_buf outcome;
    struct cs_buf message;
};
struct cs_task *cs_task_find(struct cs_mcp *m, const struct cs_caller *caller, struct cs_str id);
/* Makes it one, and answers its request with that. */
void cs_task_make(struct cs_req *req);
/* The call of a task is over: keeps the outcome. */
void cs_task_over(struct cs_req *req, bool failed, struct cs_str outcome);
/* Its request was cancelled. */
void cs_task_lost(struct cs_req *req);
void cs_task_asks(struct cs_task *task); /* questions came or went */
void cs_task_cancel(struct cs_task *task);
void cs_task_changed(struct cs_task *task);
void cs_task_put(const struct cs_task *task, struct cs_json_writer *w); /* members, new form */
void cs_task_put_old(const struct cs_task *task, struct cs_json_writer *w);
/* A member of _meta: which task a message is about. */
void cs_task_put_related(const struct cs_task *task, struct cs_buf *meta);
void cs_task_recalled(struct cs_req *req, bool failed, struct cs_str outcome);
void cs_tasks_tick(struct cs_mcp *m, uint64_t now);
void cs_tasks_close(struct cs_mcp *m);
void cs_tasks_get(struct cs_req *req);
void cs_tasks_update(struct cs_req *req);
void cs_tasks_cancel(struct cs_req *req);
void cs_tasks_old_get(struct cs_req *req);
void cs_tasks_old_result(struct cs_req *req);
void cs_tasks_old_list(struct cs_req *req);
void cs_tasks_old_cancel(struct cs_req *req);
/* Answers tasks/result with the outcome. */
void cs_tasks_old_give(struct cs_req *waiting, const struct cs_task *task);
/* Looks for it, or has the offer recall it (then NULL, and the request is taken care of). */
struct cs_task *cs_task_wanted(struct cs_req *req, int how);
#define CS_TASKS_EXTENSION "io.modelcontextprotocol/tasks"
/* Becomes a task at once, if its client speaks tasks. For the fixtures. */
bool cs_mcp_task_now(struct cs_mcp_call *call, struct cs_str id);

/* --- listen.c --- */

void cs_listen_start(struct cs_req *req);
void cs_listen_end(struct cs_req *req); /* with its result */
void cs_listen_free(struct cs_req *req);
void cs_listen_task(struct cs_task *task);
void cs_sub_subscribe(struct cs_req *req);
void cs_sub_unsubscribe(struct cs_req *req);
void cs_sub_free(struct cs_peer *peer);

/* --- streams.c: answers over HTTP --- */

struct cs_stream {
    struct cs_link link; /* peer->streams, of sessions */
    struct cs_link all;  /* mcp->all_streams */
    struct cs_mcp *mcp;
    struct cs_peer *peer;  /* of the session; NULL: the newest revision */
    struct cs_req *req;    /* of the newest: the one that it answers */
    struct cs_exchange *x; /* NULL: the client is not there */
    uint64_t id;
    bool get;     /* opened by GET, belongs to no request */
    bool may_sse; /* the client takes events ... */
    bool no_json; /* ... and nothing else */
    bool sse, array, over, primed;
    uint32_t open; /* answers still to come */
    struct cs_buf answers;
    uint64_t began, said_at;
};
struct cs_stream *cs_stream_new(struct cs_mcp *m, struct cs_peer *peer, struct cs_exchange *x,
                                bool may_sse);
/* False: this client cannot hear it here. */
bool cs_stream_say(struct cs_stream *s, struct cs_str json);
/* One of the answers; empty: it was cancelled. `status` counts if it is the first word. */
void cs_stream_answer(struct cs_stream *s, struct cs_str json, unsigned status);
/* The client may come back for the rest: what is said is kept. */
void cs_stream_hang_up(struct cs_stream *s);
/* Replays what came after that event, and goes on with `x`. False: there is no such stream. */
bool cs_stream_resume(struct cs_peer *peer, struct cs_str event, struct cs_exchange *x);
void cs_stream_open_get(struct cs_peer *peer, struct cs_exchange *x);
void cs_stream_tick(struct cs_stream *s, uint64_t now);
void cs_streams_close(struct cs_peer *peer);
void cs_stream_free(struct cs_stream *s);
void cs_stream_cut(struct cs_stream *s); /* ends the exchange too */

#endif

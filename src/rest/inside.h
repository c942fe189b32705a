/*
 * Inside the REST door: the table of routes, and one visit (a request under way).
 *
 * A visit lives until its handler ends it with one of cs_visit_reply, cs_visit_fail or
 * cs_visit_free. A handler that has to wait for something leaves the visit alone until then. If the
 * peer hangs up or the door is closed meanwhile, `x` is NULL and replies go nowhere, so that the
 * handler can go on as if nothing had happened. What can be given up (a seat at an execution, the
 * wait for a server) is given up, and the visit is over.
 */
#ifndef CS_REST_INSIDE_H
#define CS_REST_INSIDE_H

#include "base/arena.h"
#include "base/near.h"
#include "rest/rest.h"
#include "schema/schema.h"

#define CS_REST_PARTS       2     /* what a path may hold in braces */
#define CS_REST_SMALL_BODY  65536 /* of requests that are neither programs nor files */
#define CS_REST_DEPTH       101   /* of a body: inputs of depth 100 are one deeper there */
#define CS_REST_PAGE        50
#define CS_REST_PAGE_MOST   200
#define CS_REST_WAIT_MOST   60000 /* ms that GET /executions/{id} may be asked to wait */
#define CS_REST_ALIVE_MS    15000 /* a stream in which nothing happens says so this often */
#define CS_REST_LIST_MS     3000  /* lists wait for servers that have not answered yet */
#define CS_REST_SERVER_MS   30000 /* the first start of a server may download it */
#define CS_REST_CONTENT_MAX (64u << 20)

struct cs_visit;

enum cs_rest_need { CS_NEED_NOTHING, CS_NEED_EXECUTE, CS_NEED_APPROVE, CS_NEED_ADMIN };

enum cs_rest_body {
    CS_BODY_NONE,
    CS_BODY_JSON,
    CS_BODY_MAYBE, /* JSON, or nothing at all */
    CS_BODY_FORM,  /* JSON, or what a form of our own page sends */
    CS_BODY_BYTES,
};

/* One row: requests are served by it and it is documented by it. */
struct cs_route {
    const char *method; /* HEAD and OPTIONS come by themselves */
    const char *path;   /* "/tools/{server}/{tool*}": the star takes the rest, slashes and all */
    enum cs_rest_need need;
    enum cs_rest_body body;
    const char *schema;   /* of the body, in components/schemas */
    const char *id, *tag; /* operationId */
    const char *summary;
    const char *query;   /* names in components/parameters, separated by spaces; or "" */
    const char *answers; /* "200:Execution 202:Accepted": statuses and schemas; "bytes", "text",
                          * "events" are bodies that are no JSON; "none": there is no body */
    const char *errors;  /* "404 409": those that are its own */
    void (*handle)(struct cs_visit *v);
};

const struct cs_route *cs_routes(size_t *count);
/* The route, or NULL; `allow` (may be NULL) gets the methods of the path, and is empty if there is
 * no such path. `parts` are slices of `path`. */
const struct cs_route *cs_route_find(struct cs_str method, struct cs_str path,
                                     struct cs_str parts[CS_REST_PARTS], struct cs_buf *allow);

struct cs_rest {
    uv_loop_t *loop;
    struct cs_rest_options o;
    struct cs_visit *visits;
    /* What bodies have to fit. */
    struct cs_schema *execution, *session, *replay, *answer;
    int64_t started; /* ms since 1970 */
};

struct cs_visit {
    struct cs_visit *next, *before;
    struct cs_rest *rest;  /* NULL: the door was closed */
    struct cs_exchange *x; /* NULL: it was answered, or nobody waits for the answer */
    struct cs_caller caller;
    bool is_known; /* the caller has a key, or is the person at this machine */
    const struct cs_route *route;
    struct cs_str parts[CS_REST_PARTS]; /* of the path */
    struct cs_arena arena;
    struct cs_json body;
    /* What is waited for. */
    struct cs_run *run;
    struct cs_run_seat *seat;
    struct cs_await *await;
    void (*then)(struct cs_visit *v);
    void (*fired)(struct cs_visit *v);
    uv_timer_t timer;
    bool has_timer, streams;
    /* Of POST /executions and POST /tools. */
    bool async;
    bool goes_on; /* even if the caller hangs up */
    /* Of a stream, the number of its last line, and how many the peer has seen. */
    uint64_t event, skip;
    /* Of a list, how many may be on the page; of content, which part. */
    size_t limit;
    uint64_t offset, last;
    bool has_range;
    const char *next_query;
    /* Of tools: which. */
    struct cs_str server, query;
    enum cs_detail detail;
    uint64_t timeout_ms;
    struct cs_str text; /* the first part of an answer that is made in two steps */
    bool cut;           /* the peer of a stream did not read; `gone` follows */
    void (*found)(struct cs_visit *v, const struct cs_execution_row *row);
};

/* problem.c: what every problem with this status is about. */
const char *cs_rest_title(unsigned status);
/* As cs_rest_problem, with a title that says more than that of its kind; NULL: that one. */
void cs_rest_problem_titled(struct cs_exchange *x, unsigned status, const char *title,
                            const struct cs_err *err);

/* --- visit.c --- */

void cs_visit_free(struct cs_visit *v);
/* Answers; the visit goes on. `type` NULL: no body. */
void cs_visit_send(struct cs_visit *v, unsigned status, const char *type, struct cs_str body);
/* Answers, and the visit is over. */
void cs_visit_reply(struct cs_visit *v, unsigned status, const char *type, struct cs_str body);
void cs_visit_json(struct cs_visit *v, unsigned status, const struct cs_buf *json);
void cs_visit_fail(struct cs_visit *v, unsigned status, const struct cs_err *err);
/* The same, in one line. */
void cs_visit_failf(struct cs_visit *v, unsigned status, enum cs_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A header of the answer, if anybody still waits for it. */
void cs_visit_set(struct cs_visit *v, const char *name, struct cs_str value);
/* Calls `fired` after `ms`, and again and again if `repeats`. */
void cs_visit_timer(struct cs_visit *v, uint64_t ms, bool repeats,
                    void (*fired)(struct cs_visit *));

/* A number of the query within its bounds, or what it is without one. False: it was answered. */
bool cs_visit_number(struct cs_visit *v, const char *name, uint64_t least, uint64_t most,
                     uint64_t otherwise, uint64_t *value);
/* Of the query, copied; empty if it is not there. */
struct cs_str cs_visit_query(struct cs_visit *v, const char *name);
struct cs_str cs_visit_header(struct cs_visit *v, const char *name);
bool cs_visit_is_form(const struct cs_visit *v); /* by its content type */
bool cs_visit_accepts(struct cs_visit *v, const char *type, const char *rather_than);

struct cs_str cs_visit_tenant(const struct cs_visit *v);

/* --- write.c: members that many answers have --- */

void cs_put_text(struct cs_json_writer *w, const char *key, struct cs_str text); /* empty: none */
void cs_put_number(struct cs_json_writer *w, const char *key, uint64_t value);
/* Milliseconds since 1970 become "2025-01-31T12:00:00.000Z"; 0: none. */
void cs_put_time(struct cs_json_writer *w, const char *key, int64_t ms);
void cs_put_execution(struct cs_json_writer *w, const struct cs_execution_row *row);
/* "logs", so far. */
void cs_put_logs(struct cs_json_writer *w, const struct cs_run *run);
/* For an address or a header: what is not plain becomes %41. */
void cs_put_percent(struct cs_buf *out, struct cs_str text);
/* Sorted keys, no white space: equal for requests that say the same. */
void cs_put_canonical(struct cs_buf *out, struct cs_json_val value);
/* Content-Disposition, and what keeps a browser from running what it gets. */
void cs_visit_attach(struct cs_visit *v, struct cs_str name);

/* --- read.c: bodies become requests --- */

struct cs_rest_read {
    const struct cs_schema *schema;
    uint64_t code_bytes, inputs_bytes;
    uint32_t timeout_ms;
};
/* A program: fills in `request` but for who asks and the key. Texts live in `doc` and `arena`. */
int cs_rest_read_execution(const struct cs_rest_read *how, struct cs_str body, struct cs_json *doc,
                           struct cs_arena *arena, struct cs_request *request, bool *async,
                           struct cs_err *err);
/* Its members `privacy` and `reveal`. CS_DENIED: the caller has no right to values. */
int cs_rest_read_privacy(const struct cs_privacy *privacy, const struct cs_caller *caller,
                         struct cs_json_val root, struct cs_arena *arena,
                         struct cs_request *request, struct cs_err *err);
/* Is the body a JSON object that fits? `schema` may be NULL. */
int cs_rest_read_object(struct cs_str body, const struct cs_schema *schema, struct cs_json *doc,
                        struct cs_arena *arena, struct cs_err *err);
/* Compiled from what /openapi.json says about it. */
int cs_rest_schema(struct cs_str openapi, const char *name, struct cs_schema **schema,
                   struct cs_err *err);
/* Idempotency-Key and fingerprint. False: it was answered. */
bool cs_visit_key(struct cs_visit *v, struct cs_request *request);

/* --- the handlers --- */

void cs_rest_get_root(struct cs_visit *v);
void cs_rest_get_health(struct cs_visit *v);
void cs_rest_get_openapi(struct cs_visit *v);
void cs_rest_get_statistics(struct cs_visit *v);
void cs_rest_delete_cache(struct cs_visit *v);
void cs_rest_get_metrics(struct cs_visit *v);

void cs_rest_post_execution(struct cs_visit *v);
void cs_rest_get_executions(struct cs_visit *v);
void cs_rest_get_execution(struct cs_visit *v);
void cs_rest_get_provenance(struct cs_visit *v);
void cs_rest_get_trace(struct cs_visit *v);
void cs_rest_get_logs(struct cs_visit *v);
void cs_rest_delete_execution(struct cs_visit *v);
void cs_rest_post_replay(struct cs_visit *v);

void cs_rest_get_approvals(struct cs_visit *v);
void cs_rest_get_approval(struct cs_visit *v);
void cs_rest_post_approval(struct cs_visit *v);
void cs_rest_get_grants(struct cs_visit *v);
void cs_rest_delete_grant(struct cs_visit *v);

void cs_rest_get_servers(struct cs_visit *v);
void cs_rest_get_tools(struct cs_visit *v);
void cs_rest_search_tools(struct cs_visit *v);
void cs_rest_get_tool(struct cs_visit *v);
void cs_rest_post_tool(struct cs_visit *v);

void cs_rest_post_session(struct cs_visit *v);
void cs_rest_get_sessions(struct cs_visit *v);
void cs_rest_get_session(struct cs_visit *v);
void cs_rest_delete_session(struct cs_visit *v);
void cs_rest_get_files(struct cs_visit *v);
void cs_rest_get_file(struct cs_visit *v);
void cs_rest_put_file(struct cs_visit *v);
void cs_rest_delete_file(struct cs_visit *v);

void cs_rest_get_artifacts(struct cs_visit *v);
void cs_rest_get_artifact(struct cs_visit *v);
void cs_rest_delete_artifact(struct cs_visit *v);
void cs_rest_get_lineage(struct cs_visit *v);

/* --- approval_page.c --- */

void cs_visit_approval_page(struct cs_visit *v, const struct cs_approval_row *row);
/* What a browser sends as a JSON object of texts; it must have a card_hash. */
int cs_rest_form_json(struct cs_str form, struct cs_buf *json, struct cs_err *err);

/* --- approvals.c, for the others --- */

/* Members of an execution that waits for persons; none if it does not. */
void cs_put_approvals(struct cs_json_writer *w, const struct cs_run *run);
/* One of those it waits for, as an object; how many there are, and can be had. */
size_t cs_put_open_approval(const struct cs_run *run, size_t i, struct cs_buf *out);

/* --- executions.c, for the others --- */

/* Starts it and answers with what became of it. */
void cs_visit_run(struct cs_visit *v, struct cs_request *request);
/* The execution that the path names, if it is under way here. */
struct cs_run *cs_visit_running(struct cs_visit *v);
/* The same from the record; answers by itself if there is none. */
void cs_visit_find(struct cs_visit *v,
                   void (*found)(struct cs_visit *v, const struct cs_execution_row *row));

#endif

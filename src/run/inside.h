/* Inside of run/: one execution, as run.c drives it and settle.c ends it. */
#ifndef CS_RUN_INSIDE_H
#define CS_RUN_INSIDE_H

#include "base/arena.h"
#include "run/run.h"

struct cs_runner {
    uv_loop_t *loop;
    struct cs_sandbox *sandbox;
    struct cs_tools *tools;
    const struct cs_policy *policy;
    struct cs_run_ask *asks; /* open questions of all executions */
};

struct cs_run_ask {
    struct cs_run_ask *next;
    struct cs_run *run;
    uint64_t id;
};

struct cs_run {
    struct cs_runner *runner;
    struct cs_job *job; /* NULL: not started, or over */
    struct cs_run_watch watch;
    void (*done)(void *ctx, const struct cs_result *result);
    void *ctx;
    struct cs_arena arena; /* what the result points at, unless it is one of these: */
    struct cs_log *logs;   /* and the buffers that own their texts */
    struct cs_buf *log_texts;
    size_t log_count, log_cap;
    struct cs_buf out, err;
    uint64_t output; /* bytes of logs and streams kept so far */
    struct cs_str principal;
    struct cs_catalogue *catalogue; /* what the program sees; NULL: no tools */
    struct cs_gate_call *calls;     /* under way or waiting for their turn, oldest first */
    struct cs_call *records;        /* of all calls, those that are over included */
    uint32_t record_cap, calls_running;
    struct cs_await *await; /* waits for servers; then `held` is the request, in the arena */
    struct cs_request held;
    struct cs_job_end early; /* for an end before there was a job */
    struct cs_result result;
};

/* Fills run->result from how the job ended. Everything a worker reported is checked here. */
void cs_settle(struct cs_run *run, const struct cs_job_end *end);

/* call.c: the gate. One way for every call: allowed, valid, small enough, its turn, sent, answered.
 */
void cs_gate_call(struct cs_run *run, uint64_t id, struct cs_str server, struct cs_str tool,
                  struct cs_str arguments);
/* A module below /mcp-servers that is not there: perhaps its server has not been asked yet. */
void cs_gate_module(struct cs_run *run, uint64_t id, struct cs_str path);
/* The program is over: what is still under way is cancelled, downstream too. */
void cs_gate_close(struct cs_run *run);

/* ask.c: questions of servers to the watchers of the executions that they belong to. */
void cs_asks_open(struct cs_runner *runner, unsigned kinds);
void cs_asks_close(struct cs_run *run); /* it is over, and so are its calls */

/* A wish of the program that has not been answered yet. */
struct cs_gate_call {
    struct cs_run *run;
    struct cs_gate_call *next;
    uint64_t id;
    uint64_t start_ns;
    uint32_t record; /* index in run->records; UINT32_MAX: it is no call of a server's tool */
    bool asked;      /* its server was listed anew because of it */
    struct cs_catalogue *catalogue; /* what `tool` belongs to */
    const struct cs_tool *tool;
    struct cs_tool_call *inner; /* NULL: waits for its turn, or for a server */
    struct cs_await *await;
    struct cs_call_limits limits;
    struct cs_buf server, name, arguments; /* as the program gave them */
};

struct cs_refusal {
    enum cs_call_status status;
    enum cs_answer code;
    const char *type; /* of the error; NULL: what the code stands for */
    bool retryable;
};

struct cs_gate_call *cs_gate_call_new(struct cs_run *run, uint64_t id);
void cs_gate_call_free(struct cs_gate_call *call);
/* Both end the call. */
void cs_gate_answer(struct cs_gate_call *call, enum cs_call_status status, enum cs_answer code,
                    struct cs_str payload);
void cs_gate_refuse(struct cs_gate_call *call, struct cs_refusal refusal, struct cs_str message,
                    struct cs_str suggestion);
/* May this run see that tool? `ctx` is the run. */
bool cs_gate_allowed(void *ctx, const struct cs_tool *tool);

/* discover.c: calls of our own, server "caisson": searchTools, readToolDefinition. */
void cs_gate_own(struct cs_gate_call *call);
/* Why a configured server offers nothing; nothing is added if there is no such reason. */
void cs_gate_why(struct cs_run *run, struct cs_str server, struct cs_buf *text);

/* unwrap.c: what a program gets out of an MCP result: structuredContent, else the one text block as
 * JSON, else as text, else the blocks. */
struct cs_unwrapped {
    bool is_error, retryable; /* then `value` is a text for people, not JSON */
    bool is_text;             /* `value` is a text that nobody has looked into; no `root` */
    struct cs_str value;      /* in the result, or in the arena */
    struct cs_json_val root;  /* of the value */
    struct cs_json text;      /* of a text that is JSON */
    struct cs_arena arena;
};
/* `result` must outlive it. A text of more than `parse_max` bytes that may be JSON is left to the
 * worker. CS_UPSTREAM: this is no MCP result. */
int cs_unwrap(struct cs_json_val result, size_t parse_max, struct cs_unwrapped *unwrapped,
              struct cs_err *err);
void cs_unwrapped_done(struct cs_unwrapped *unwrapped);

#endif

/*
 * One execution, from request to result, by the one path: admit, compile, assess, execute, settle.
 *
 * Runs in: daemon, loop thread.
 * Order:   new -> start, as often as wanted, each: `done` once -> close.
 * Owner:   the request is borrowed until cs_run_start returns; the result is lent to `done`.
 * Failure: whatever goes wrong is a result with an error in it. cs_run_start itself cannot fail.
 */
#ifndef CS_RUN_RUN_H
#define CS_RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/trace.h"
#include "policy/keys.h"
#include "policy/policy.h"
#include "privacy/privacy.h"
#include "run/sessions.h"
#include "sandbox/sandbox.h"
#include "store/store.h"
#include "tools/tools.h"

struct cs_runner;
struct cs_run;

enum cs_cache_mode {
    CS_CACHE_USE,     /* an answer that is known is given; else it runs, and its answer is kept */
    CS_CACHE_OFF,     /* neither */
    CS_CACHE_ONLY,    /* it does not run: an answer that is not known is an error */
    CS_CACHE_REFRESH, /* it runs, and its answer is kept */
};

/* What every door makes out of the bytes it got. */
struct cs_request {
    enum cs_language language;
    struct cs_str code;
    struct cs_str inputs;      /* JSON, or empty */
    struct cs_limits limits;   /* wanted; cs_limits_default() if nothing special */
    const char *workspace;     /* directory to copy in and out, or NULL: the session's, if any */
    struct cs_str principal;   /* who asks; empty: "local" */
    struct cs_str tenant;      /* empty: "default" */
    struct cs_str session;     /* handle of the session it runs in, or empty */
    bool session_must_be_free; /* else it waits for the execution that is there, as long as its own
                                * wall clock */
    struct cs_str intent;      /* what for, in words; or empty */
    struct cs_str key;         /* Idempotency-Key, or empty */
    struct cs_str fingerprint; /* of the request as its door saw it; with `key` */
    struct cs_str
        actor_type; /* "key"; without one "agent" (it came over MCP) or "local"; empty: "local" */
    bool durable;   /* if this process dies, the next one goes on with it */
    enum cs_clock clock; /* EVENTS, or LIVE: it cannot be replayed then */
    enum cs_cache_mode cache;
    struct cs_trace trace; /* the caller's */
    /* Protection of personal data. A request can raise the level of the house (CS_PRIVACY_OFF: it
     * asks for nothing), and have patterns and words of its own looked for besides. */
    enum cs_privacy_level privacy;
    const struct cs_custom *customs; /* lent until cs_run_start returns */
    size_t custom_count;
    /* The caller wants values instead of tokens in `value`, logs and streams of the result that its
     * `done` gets, and has the right to them: the door has looked. What is kept, and what other
     * watchers see, has tokens. It is recorded in the ledger. */
    bool reveal;
    /* Without any protection; only the door of the local person says so. */
    bool no_privacy;
    /* Its inputs are the arguments of one call, in the caller's own hand: what they hold in clear
     * is for that tool, whatever kind it is. */
    bool by_hand;
};

enum cs_status {
    CS_STATUS_COMPLETED,
    CS_STATUS_FAILED,
    CS_STATUS_DENIED,
    CS_STATUS_CANCELLED,
    CS_STATUS_AWAITING, /* "awaiting_approval": of one under way, never of one that is over */
    CS_STATUS_COUNT
};

/* type in the envelope, what it is */
#define CS_ERROR_TYPES(X)             \
    X(SYNTAX, "syntax_error")         \
    X(TYPE, "type_error")             \
    X(RUNTIME, "runtime_error")       \
    X(TIMEOUT, "timeout_error")       \
    X(RESOURCE, "resource_error")     \
    X(PERMISSION, "permission_error") \
    X(VALIDATION, "validation_error") \
    X(UPSTREAM, "upstream_error")     \
    X(INTERNAL, "internal_error")

enum cs_error_type {
#define X(id, name) CS_ERROR_##id,
    CS_ERROR_TYPES(X)
#undef X
        CS_ERROR_COUNT
};

struct cs_error {
    enum cs_error_type type;
    struct cs_str message, suggestion, snippet, stack, name; /* empty: not there */
    struct cs_str file;    /* of the position; empty: the program itself */
    uint32_t line, column; /* 0: not there */
    bool has_limit;
    enum cs_limit limit;
    uint64_t limit_value;
};

struct cs_log {
    enum cs_level level;
    struct cs_str text;
};

enum cs_call_status {
    CS_CALL_OK,
    CS_CALL_ERROR,     /* the tool answered with an error, or its server failed */
    CS_CALL_DENIED,    /* no such tool, or policy refused it */
    CS_CALL_INVALID,   /* the arguments do not fit */
    CS_CALL_LIMIT,     /* too large, or too late */
    CS_CALL_CANCELLED, /* the execution ended before its answer came */
};

/* One call of a tool, for the record. No argument and no result is in it. */
struct cs_call {
    struct cs_str server, tool; /* as configured, as the server calls it; or as the program did */
    enum cs_call_status status;
    uint64_t us; /* from the program's wish to the answer; waiting for a turn included */
    uint64_t argument_bytes, result_bytes;
    unsigned char argument_hash[32], result_hash[32]; /* of the canonical form; zero: none */
    uint64_t start_us;                                /* since the execution's start */
    unsigned char span[8];                            /* of its trace */
    bool repeatable;            /* read-only or idempotent, by the tool's word or by policy */
    bool cached;                /* the answer came from the cache */
    bool by_policy;             /* denied, and not because there is no such tool */
    struct cs_str approved_by;  /* who let it through, if somebody had to; else empty */
    struct cs_str error, drift; /* empty: none */
};

/* Something that it left behind, larger than belongs into an answer. */
struct cs_artifact {
    struct cs_str id; /* the handle: "art_" + 32 hex digits */
    struct cs_str name, media_type;
    const char *kind; /* "result", "stdout", "file", "stored" */
    unsigned char hash[32];
    uint64_t size;
};

/* Where a result comes from, for those who want to check it later. Hashes are SHA-256: of the
 * code's bytes; of the inputs' and the result's canonical JSON, or of "type: message" of an error.
 */
struct cs_provenance {
    unsigned char code_hash[32], inputs_hash[32], outputs_hash[32];
    const struct cs_str *tool_ids; /* "server/tool", each once, in the order of their first call */
    uint32_t tool_count;
    struct cs_str actor_id, actor_type, skill_name, skill_version; /* skills: may be empty */
    int64_t timestamp;                                             /* when it was settled */
    char chain_hash[65];                                           /* hex; "": not in a ledger */
};

/*
 * What protection did, in the envelope:
 *
 *     "privacy": {"protected": true, "level": "medium", "found": {"EMAIL": 3}, "tokens": 2,
 *                 "unprotected": ["wiki/search"]}
 *     "privacy": {"protected": false, "why": "switched off (--no-pii-protection, privacy.enabled)"}
 *
 * `found` counts what was masked on every way (inputs, results of tools, outputs), `tokens` how
 * many tokens were new. `unprotected` are tools whose results came as they are, by a rule of the
 * house.
 */
struct cs_protection {
    bool is_known;     /* false: the house knows nothing of protection, and nothing is said */
    bool is_protected; /* false: `why` */
    const char *why;
    enum cs_privacy_level level;
    struct cs_masked inputs, results, outputs; /* what was found, by the way it took */
    const struct cs_str *unprotected;          /* "server/tool", each once */
    uint32_t unprotected_count;
};

struct cs_result {
    enum cs_status status;
    char execution_id[36];
    struct cs_str session_id; /* empty: none */
    /* Why it was not even begun, and therefore is not on record: CS_OK it was; CS_BUSY too many are
     * waiting; CS_CONFLICT the session is busy, or its key was used for another request; CS_MISSING
     * no such session; CS_LIMIT, CS_INVALID too large or malformed; CS_SYSTEM the store failed. */
    enum cs_code refused;
    uint32_t retry_after_s; /* with CS_BUSY */
    bool key_reused;        /* with CS_CONFLICT: its key was used for another request */
    /* Another request with the same key came before: this is its envelope, and all that is known.
     */
    struct cs_str earlier;
    struct cs_str envelope; /* as it was put on record; empty: it was not. See cs_envelope */
    enum cs_language language;
    struct cs_str value; /* JSON; empty: none */
    bool failed;
    struct cs_error error; /* if failed */
    const struct cs_log *logs;
    size_t log_count;
    uint64_t output_cut; /* bytes of logs and streams that were dropped */
    bool is_guest;
    struct cs_str out, err; /* streams of a guest */
    int exit_status;        /* of a guest; -1: it did not end by itself */
    const struct cs_call *calls;
    uint32_t tool_calls;
    const struct cs_artifact *artifacts;
    uint32_t artifact_count;
    uint32_t left_out_count;       /* things that should have become artifacts, and did not; */
    const struct cs_str *left_out; /* why, of the first few: "'big.bin' has more than ..." */
    uint32_t left_out_named;
    struct cs_provenance provenance;
    struct cs_protection protection;
    struct cs_str cached_from;    /* the execution whose answer this is; empty: its own */
    uint64_t cached_age_ms;       /* of that answer */
    struct cs_str not_replayable; /* why it cannot be replayed; empty: it can */
    struct cs_trace trace;        /* of this execution; its parent is the request's */
    unsigned char parent_span[8];
    int64_t started_us;        /* since 1970 */
    uint64_t tokens_saved;     /* estimated: see docs/observability.md */
    uint64_t queued_us;        /* it waited this long for its turn */
    uint64_t waited_us;        /* ... and this long for persons: it is in no other time */
    struct cs_str approved_by; /* who let it run, if somebody had to; else empty */
    uint64_t wall_us, cpu_us, memory_peak;
    struct cs_verdict verdict;
    struct cs_limits limits;
};

/* What may be watched while it runs; each may be NULL. Called on the loop, and none of them after
 * `done`. */
struct cs_run_watch {
    void (*log)(void *ctx, enum cs_level level, struct cs_str text);
    void (*output)(void *ctx, bool is_stderr, struct cs_str bytes);
    void (*progress)(void *ctx, struct cs_str json);
    /* A server asks a person or a model during a call of this execution. True: cs_run_answer
     * follows, unless it is withdrawn before (its call, its server or its time is over). NULL, or
     * false: declined. The execution's own time goes on meanwhile. */
    bool (*ask)(void *ctx, const struct cs_tool_ask *ask);
    void (*withdrawn)(void *ctx, uint64_t ask);
    /* It is on record, and nothing refuses it any more. Of one that waits for an earlier one with
     * the same key: that one is. Not called without a store. */
    void (*begun)(void *ctx);
    /* A person is asked whether it, or one of its calls, may go on; and that is over: decided,
     * expired or withdrawn. It waits meanwhile, and its time stands still. Answers go the way that
     * everybody's go: cs_approval_decide, see run/approvals.h. The row is lent. */
    void (*approval)(void *ctx, const struct cs_approval_row *row);
    void (*approval_over)(void *ctx, const struct cs_approval_row *row);
};

struct cs_runner_options {
    const struct cs_sandbox_options *sandbox;
    struct cs_tools *tools;       /* lent, to be closed after the runner; NULL: no servers */
    struct cs_policy *policy;     /* counted here too; NULL: the defaults */
    unsigned asks;                /* 1u << CS_ASK_FORM | ...: what some watcher can be asked */
    struct cs_store *store;       /* lent, like it; NULL: nothing is kept */
    struct cs_sessions *sessions; /* lent, like it; NULL: there are none */
    uint32_t most_running;        /* executions at once; 0: 64. The others wait ... */
    uint32_t most_waiting;        /* ... up to so many, 0: 1000; then CS_BUSY */
    uint64_t journal_bytes;       /* the largest journal of an execution; 0: 64 MiB */
    uint64_t artifact_quota;      /* of one tenant, all its artifacts together; 0: none */
    uint64_t cache_bytes;         /* answers kept in memory; 0: no cache at all */
    int64_t cache_ms;             /* how long an answer is good; 0: 5 minutes */
    uint64_t artifact_bytes;      /* a result above this is kept as an artifact too; 0: 6,000 */
    struct cs_privacy *privacy;   /* counted here too; NULL: there is no protection */
    /* What vaults are sealed with that outlive this process: of sessions, and of durable executions
     * that are under way. Copied; NULL: they are kept in memory alone, and their tokens are unknown
     * to the next process. */
    const struct cs_vault_key *vault_key;
    const char *data_dir; /* does not show in errors of tools; copied; NULL: none */
};

int cs_runner_new(uv_loop_t *loop, const struct cs_runner_options *options,
                  struct cs_runner **runner, struct cs_err *err);
void cs_runner_close(struct cs_runner *runner, void (*closed)(void *ctx), void *ctx);
unsigned cs_runner_ready(const struct cs_runner *runner);
/* While it runs; as in struct cs_runner_options. */
void cs_runner_set(struct cs_runner *runner, uint64_t artifact_bytes, uint64_t artifact_quota);
/* The same, for executions that begin from now on. */
void cs_runner_set_policy(struct cs_runner *runner, struct cs_policy *policy);
/* What counts now; never NULL. Lent until it is set anew. */
const struct cs_policy *cs_runner_policy(const struct cs_runner *runner);
/* The same; NULL: no protection. */
void cs_runner_set_privacy(struct cs_runner *runner, struct cs_privacy *privacy);
/* What counts now, for doors that read wishes; NULL: no protection. Lent until it is set anew. */
const struct cs_privacy *cs_runner_privacy(const struct cs_runner *runner);
/* A text that leaves for a model outside of any execution (a part of an artifact, say): as
 * cs_mask, at the level of the house, and its tokens belong to nobody. 0: `text` may be shown as it
 * is; -1: it must not be shown. */
int cs_runner_mask(struct cs_runner *runner, struct cs_str text, struct cs_buf *out,
                   struct cs_err *err);
/* The same: as cache_bytes and cache_ms of the options. */
void cs_runner_set_cache(struct cs_runner *runner, uint64_t bytes, int64_t ms);
/* Forgets the answers of a tenant (empty: of all), here and in the store; results of tools too.
 * `done` comes if there is a store. */
void cs_runner_clear_cache(struct cs_runner *runner, struct cs_str tenant, cs_stored *done,
                           void *ctx);

/*
 * `done` runs once, never before this has returned. With a store it runs after the execution is on
 * record. Executions wait for their turn: tenants take turns, and those of one tenant are served in
 * their order.
 */
struct cs_run *cs_run_start(struct cs_runner *runner, const struct cs_request *request,
                            const struct cs_run_watch *watch,
                            void (*done)(void *ctx, const struct cs_result *result), void *ctx);

/*
 * One call without a program of the caller's around it, for `caisson tools call` and the like: the
 * request of an execution that makes this call and returns its value, so that it takes the one
 * path. The texts are put into `inputs`, which must live until the execution was started.
 * `arguments` is JSON.
 */
struct cs_request cs_request_call(struct cs_str server, struct cs_str tool, struct cs_str arguments,
                                  struct cs_buf *inputs);

/* As cs_tools_answer, for a question that this execution's watcher was asked; others are ignored.
 */
void cs_run_answer(struct cs_run *run, uint64_t ask, struct cs_str result);

/* Ends it; `done` still comes, with status cancelled. */
void cs_run_cancel(struct cs_run *run);
/* Before the end of the process. Durable ones that have begun stay under way on record, and `done`
 * refuses with CS_BUSY; so does closing the runner. */
void cs_runner_cancel_all(struct cs_runner *runner);
/* The same with those alone that ask a person: nobody waits for that at the end. */
void cs_runner_leave_asking(struct cs_runner *runner);

/* --- executions that are under way, for whoever else wants to know --- */

const char *cs_run_id(const struct cs_run *run);
/* NULL: none of this tenant's in this process (any more); the store knows the others. */
struct cs_run *cs_run_find(struct cs_runner *runner, struct cs_str tenant, struct cs_str id);
/* "waiting", "running", "awaiting_approval" */
const char *cs_run_phase(const struct cs_run *run);
/* What persons are asked about it now, oldest first; how many there are, of which at most `most`
 * are given. Lent until that changes. */
struct cs_run_approval {
    const char *id;
    struct cs_str kind, risk, why;
    int64_t created, expires;
};
size_t cs_run_approvals(const struct cs_run *run, struct cs_run_approval *open, size_t most);
/* How many calls of tools it has made so far. */
uint32_t cs_run_calls(const struct cs_run *run);
/* What it has logged so far, like `logs` of its result; lent until it says more. */
size_t cs_run_logs(const struct cs_run *run, const struct cs_log **logs);

/* One more watcher, who hears what is said from now on, and `done`. `ask` is not used. What is
 * asked already is known by cs_run_approvals. */
struct cs_run_seat;
struct cs_run_seat *cs_run_join(struct cs_run *run, const struct cs_run_watch *watch,
                                void (*done)(void *ctx, const struct cs_result *result), void *ctx);
void cs_run_leave(struct cs_run_seat *seat); /* before `done`, which then does not come */

/* Hears of every execution that was settled, after it is on record. One per runner. */
struct cs_observer {
    void (*settled)(void *ctx, const struct cs_str *tenant, const struct cs_result *result);
    void *ctx;
    bool traces; /* it wants traces: an execution that comes without one gets one */
};
void cs_runner_observe(struct cs_runner *runner, const struct cs_observer *observer);

/* --- again: from the record, without the world --- */

struct cs_replay_request {
    struct cs_str tenant, principal, execution;
    struct cs_str code; /* another program for the same world; empty: the recorded one */
};

struct cs_replayed {
    struct cs_err err; /* CS_MISSING no such execution, or no journal of it; CS_INVALID it cannot be
                        * replayed, and why; otherwise what follows is valid */
    bool same;         /* result or error, logs, state, calls */
    struct cs_str recorded;                             /* the envelope of then */
    const struct cs_result *result;                     /* now */
    unsigned char recorded_hash[32], replayed_hash[32]; /* of the outputs */
    /* The first call where they part; `call` 0: none. */
    uint32_t call; /* 1, 2, ... in the order in which the program made them */
    struct cs_str server, tool, why;
    struct cs_str report; /* JSON: all of this, and the differences, for REST and -o json */
};

/* In a fresh jail with no tool connected. It is no execution: nothing is kept but an entry in the
 * ledger. `done` runs once, never before this has returned. */
void cs_replay(struct cs_runner *runner, const struct cs_replay_request *request,
               void (*done)(void *ctx, const struct cs_replayed *replayed), void *ctx);

/* --- on: what a process that died left under way --- */

/* Goes on with every durable execution of a process that is gone, now and whenever one goes; those
 * that nobody can go on with are settled as lost. Once, after the servers are configured. */
void cs_runner_resume(struct cs_runner *runner);
/* Who was refused or stopped lately is known from the store. Once, before there are executions. */
void cs_runner_recall(struct cs_runner *runner);

/* --- figures, since the start --- */

#define CS_RUN_BUCKETS 16

struct cs_figures {
    uint64_t by_status[CS_STATUS_COUNT]; /* enum cs_status; those that are on record */
    uint64_t by_error[CS_ERROR_COUNT];
    uint64_t refused;                       /* not even begun */
    uint64_t calls, calls_failed;           /* those of answers from the cache were made before */
    uint64_t cache_hits, cache_misses;      /* of requests that would take a known answer */
    uint64_t cache_bytes, cache_answers;    /* in memory, now; results of tools too */
    uint32_t running, waiting, ready;       /* now; ready: warm workers */
    uint64_t seconds_count[CS_RUN_BUCKETS]; /* executions that took up to cs_run_bucket(i) seconds,
                                             * each counted once; the last: longer */
    double seconds_sum;
};
void cs_runner_figures(const struct cs_runner *runner, struct cs_figures *figures);
/* Those of one tenant (empty: of all) that are under way now. */
void cs_runner_under_way(const struct cs_runner *runner, struct cs_str tenant, uint32_t *running,
                         uint32_t *waiting);
double cs_run_bucket(unsigned i);

const char *cs_call_status_name(enum cs_call_status status);
const char *cs_status_name(enum cs_status status);
const char *cs_error_type_name(enum cs_error_type type);
const char *cs_language_name(enum cs_language language);

/* "use", "off", "only", "refresh"; false: it is none of them. */
bool cs_cache_mode_parse(struct cs_str name, enum cs_cache_mode *mode);

/* CS_INVALID, with the known ones, if there is no such language. "ts", "py", "sh", "js" are
 * accepted. */
int cs_language_parse(struct cs_str name, enum cs_language *language, struct cs_err *err);

/* envelope.c: the one envelope as JSON (one line), the long form of REST and `-o json`. Of an
 * earlier execution with the same key, it is that one's. */
void cs_envelope(const struct cs_result *result, struct cs_buf *out);

/*
 * digest.c: the short form for a model, from the long one (a result's, or one from the store): JSON
 * of at most `tokens` tokens by the estimate below, but 200 are always allowed.
 *
 *     {"status", "execution_id", "session_id", "waits_for", "error": {"type", "message", "line",
 * ...}, "risk": {"level", "approved_by", "reasons"} if it is HIGH or worse, or was denied, "calls",
 * "calls_failed", "failed_calls": ["github/list: why"], "artifacts": [{"id", "name", "size"}],
 * "result", "stderr", "stdout", "logs": ["text"], "log_lines_left_out"}
 *
 * What is not there or empty is left out, and so are calls if none failed. Logs are the last ones,
 * and so are the ends of streams. Instead of a result that is too large there are "result_preview"
 * (valid JSON: texts, arrays and objects are cut and say how much is missing), "result_size_bytes",
 * "artifact" (the handle under which a program opens it, if it is kept), and a "note" that says
 * how.
 */
void cs_digest(struct cs_str envelope, uint64_t tokens, struct cs_buf *out);
/* About how many tokens a text is for a model. */
uint64_t cs_token_estimate(struct cs_str text);

/* lineage_text.c: the graph of an artifact, for people and programs:
 *
 *     {"artifact_id", "complete", "nodes": [{"id", "type": "artifact" | "execution" | "input" |
 *      "call" | "session", ...}], "edges": [{"from", "to", "relation": "read" | "made"}]}
 *
 * or for Graphviz. */
void cs_lineage_json(const struct cs_lineage_found *found, struct cs_buf *out);
void cs_lineage_dot(const struct cs_lineage_found *found, struct cs_buf *out);

#endif

/*
 * A hostile program in a box: ask for one, hear it, answer it, and learn how it ended.
 *
 * Runs in: daemon, loop thread; files are read and written in libuv's thread pool.
 * Order:   new -> start jobs, each: (facts -> verdict) -> calls, logs ... -> ended -> close, free.
 * Owner:   a job belongs to the sandbox; the pointer is valid until its `ended` has returned.
 * Failure: whatever the program does ends in `ended`, exactly once. When `ended` runs, the whole
 * process tree is dead and reaped, and its mounts, control group and scratch files are gone.
 *
 * What is hidden here: zygote, namespaces, filters, control groups, frames.
 */
#ifndef CS_SANDBOX_SANDBOX_H
#define CS_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "base/str.h"
#include "sandbox/harvest.h"
#include "sandbox/limits.h"
#include "sandbox/role.h"
#include "sandbox/walls.h"
#include "sandbox/wire.h"

struct cs_sandbox;
struct cs_job;

enum cs_language { CS_TYPESCRIPT, CS_PYTHON, CS_BASH, CS_NODE };

struct cs_sandbox_options {
    uint32_t pool;           /* workers kept ready. 0: for one execution; everything is made when it
                              * is needed, and for that one alone */
    const char *scratch_dir; /* an existing directory of ours for workspaces; copied.
                              * What dead processes left there is removed. */
    uint32_t allow_weak;     /* walls that may be missing, as from cs_walls_parse */
    bool full_isolation;     /* every worker gets all namespaces of its own */
    bool no_jit;             /* the strict profile */
    bool no_cgroups;         /* bound by polling even where control groups could be used */
    uint32_t recycle_after;  /* executions per zygote; 0: CS_RECYCLE_AFTER */
#ifdef CS_TEST_HOOKS
    bool weak_for_test;
#endif
};

#define CS_RECYCLE_AFTER 2000
#define CS_STATE_DEFAULT (1u << 20)

struct cs_job_spec {
    enum cs_language language;
    struct cs_str source; /* borrowed until cs_job_start returns, like inputs and state */
    struct cs_str inputs; /* JSON or empty */
    struct cs_str state;  /* JSON; empty: there is none, and none is wanted back */
    uint64_t state_bytes; /* the largest that it may become; 0: CS_STATE_DEFAULT */
    uint64_t seed[2];
    struct cs_limits limits;
    const char *workspace; /* directory of the host to copy in and out, or NULL */
    /* Not there yet: made, and /workspace copied to it instead, if the program succeeded and left
     * files that differ from those of `workspace`. NULL: `workspace` itself, whatever happened. */
    const char *workspace_out;
    bool harvest; /* what it leaves in /workspace/out is wanted */
    enum cs_clock clock;
    int64_t start_us;      /* what the program's clock shows first; 0: now */
    int mcp_servers;       /* directory that becomes /mcp-servers, lent until started; -1: none */
    struct cs_str globals; /* JSON array: identifiers of servers, each a global of the program */
};

/* How a job ended. One of these is the reason; what came before (logs, streams) stays valid. */
enum cs_ending {
    CS_ENDED_VALUE,     /* payload: the result as JSON */
    CS_ENDED_ERROR,     /* payload: the worker's error report, JSON, unchecked */
    CS_ENDED_EXIT,      /* a guest ended without a report: exit_status says how */
    CS_ENDED_LIMIT,     /* a limit ended it: `limit` */
    CS_ENDED_SYSCALL,   /* the syscall filter ended it */
    CS_ENDED_SIGNAL,    /* it crashed: `signal` */
    CS_ENDED_PROTOCOL,  /* it broke the rules of the wire: `err` */
    CS_ENDED_CANCELLED, /* cs_job_cancel */
    CS_ENDED_FAILED,    /* we could not run it: `err` */
};

struct cs_job_end {
    enum cs_ending how;
    struct cs_str payload;
    struct cs_str state; /* JSON, unchecked, if it succeeded and changed it; else empty */
    enum cs_limit limit; /* LIMIT; also set with ERROR when the report names memory */
    int signal;
    int exit_status;     /* guests: 0-255, or 128 + signal; -1 if it did not end by itself */
    bool memory_refused; /* the engine was refused memory at least once */
    bool syscall_refused;
    bool scratch_full; /* no byte or no file was left; `limit` says which */
    bool fork_refused; /* a guest: the limit of processes was reached */
    uint64_t wall_us, cpu_us, memory_peak;
    struct cs_harvest *harvest; /* to be freed by whoever wanted it; NULL: there is nothing */
    struct cs_err err;
};

/* Something that the program wants to know. */
enum cs_wish_kind { CS_WISH_CALL, CS_WISH_FILE, CS_WISH_MODULE };

struct cs_wish {
    enum cs_wish_kind kind;
    uint64_t id;
    struct cs_str server, tool, arguments; /* CALL */
    enum cs_file_op op;                    /* FILE */
    uint32_t flags;
    struct cs_str path, data; /* FILE; MODULE: the path as asked for */
};

/*
 * What the program gets to know: an answer to a wish, or (id 0, kind CS_HEARD_START) that it may
 * run. It is all that reaches the program, in this order and at these times, so it is enough to run
 * it again.
 */
enum cs_heard_kind { CS_HEARD_CALL, CS_HEARD_FILE, CS_HEARD_MODULE, CS_HEARD_START };

struct cs_heard {
    enum cs_heard_kind kind;
    uint64_t id;
    int64_t time_us; /* never before that of the one before */
    enum cs_answer answer;
    struct cs_str canonical; /* MODULE: the path it was found under */
    struct cs_str payload;
};

/* Called on the loop. Strings are borrowed for the call. `facts` and `call` want an answer, some
 * time. */
struct cs_job_events {
    void (*facts)(void *ctx, struct cs_str json); /* answer: cs_job_verdict */
    void (*call)(void *ctx, uint64_t id, struct cs_str server, struct cs_str tool,
                 struct cs_str arguments); /* answer: cs_job_result */
    /* There is no such module below /mcp-servers (yet). Answer: cs_job_module. NULL: it is missing.
     */
    void (*module)(void *ctx, uint64_t id, struct cs_str path);
    void (*log)(void *ctx, enum cs_level level, struct cs_str text);
    void (*output)(void *ctx, bool is_stderr, struct cs_str bytes); /* guests */
    void (*progress)(void *ctx, struct cs_str json);
    void (*ended)(void *ctx, const struct cs_job_end *end);
    /*
     * For journals and replays; each may be NULL. Of guests only calls are told.
     * wish: before anything is done about it. True: it is answered with cs_job_hear, some time, and
     *   nothing else happens (a FILE or MODULE is not looked for, `call` is not called).
     * heard: an answer is on its way to the program.
     * idle: the program has done all it could with what it was told, and waits; its next timer is
     *   due at `due_us` (INT64_MAX: it has none). Only with CS_CLOCK_REPLAY, and only between START
     *   and the end; cs_job_wake or cs_job_hear must follow, or it waits forever.
     */
    bool (*wish)(void *ctx, const struct cs_wish *wish);
    void (*heard)(void *ctx, const struct cs_heard *heard);
    void (*idle)(void *ctx, int64_t due_us);
};

/* Starts the zygote and returns at once; jobs may be started before it is ready. */
int cs_sandbox_new(uv_loop_t *loop, const struct cs_sandbox_options *options,
                   struct cs_sandbox **sandbox, struct cs_err *err);

/* Ends everything; `closed` runs when nothing of it is left. Running jobs end as cancelled first.
 */
void cs_sandbox_close(struct cs_sandbox *sandbox, void (*closed)(void *ctx), void *ctx);

/* How many warm workers wait. For benchmarks, and for `ready` in a health answer. */
unsigned cs_sandbox_ready(const struct cs_sandbox *sandbox);

/* `ended` will run once, never before this has returned. `events` and `ctx` must live until then.
 */
int cs_job_start(struct cs_sandbox *sandbox, const struct cs_job_spec *spec,
                 const struct cs_job_events *events, void *ctx, struct cs_job **job,
                 struct cs_err *err);

/* The answer to `facts`. `limits` (may be NULL) can only be tighter than those it started with. */
void cs_job_verdict(struct cs_job *job, bool allowed, const struct cs_limits *limits,
                    struct cs_str message);
/* Of a call: OK with the value as JSON, or (workers only) TEXT; otherwise JSON {message,
 * retryable?, suggestion?}. */
void cs_job_result(struct cs_job *job, uint64_t id, enum cs_answer status, struct cs_str payload);
/* Either a directory (lent) that takes the place of /mcp-servers, where the module is looked for
 * once more; or -1 and a message for people. */
void cs_job_module(struct cs_job *job, uint64_t id, int mcp_servers, struct cs_str message);
/* As it was recorded: an answer to a wish, or the verdict (CS_HEARD_START: call cs_job_verdict
 * first to set the limits; with CS_CLOCK_REPLAY that sends nothing). `time_us` 0: now; with
 * CS_CLOCK_REPLAY, that of the one before. May be called from `wish`. */
void cs_job_hear(struct cs_job *job, const struct cs_heard *heard);
/* For one that goes on after its record. do: a wish that was taken is done the usual way after all.
 * redo: a FILE that is answered from the record and changes something is done as well, in its turn,
 * and nothing is said about it. */
void cs_job_do(struct cs_job *job, const struct cs_wish *wish);
void cs_job_redo(struct cs_job *job, const struct cs_wish *wish);
/* Timers that are due by then fire. */
void cs_job_wake(struct cs_job *job, int64_t time_us);
/* The record is at its end: CS_CLOCK_REPLAY becomes CS_CLOCK_EVENTS. It is now, or when it was when
 * the record ended, if that was later; timers fire by themselves, and `idle` is not called again.
 * Wishes that were taken still want their cs_job_hear (of calls, cs_job_result will do). */
void cs_job_resume(struct cs_job *job);
/*
 * The wall clock stands still, or goes on: somebody is asked, about the program before its verdict,
 * or about one of its calls. Nested: one for each that is asked about. It stands still while the
 * program waits, for that or for other calls: the CPU time that it uses meanwhile counts, and so
 * does the time in which its files are worked on.
 */
void cs_job_pause(struct cs_job *job, bool paused);
void cs_job_cancel(struct cs_job *job);

/* NULL if programs of this language can run here, else a sentence that says what to install. */
const char *cs_language_missing(enum cs_language language);

#endif

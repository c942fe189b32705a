/*
 * The state of one worker process, and what the files of this directory offer each other.
 *
 * Runs in: zygote (until the fork) and worker. There is one struct cs_worker per process, because
 * signal handlers and engine callbacks have no other way to it; nothing else here is global.
 */
#ifndef CS_WORKER_HOST_H
#define CS_WORKER_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "compile/compile.h"
#include "sandbox/wire.h"
#include "worker/digest.h"
#include "worker/jsc.h"

#define CS_PROGRAM_PATH "/workspace/program.ts"
#define CS_PROGRAM_NAME "program.ts"      /* as stacks show it */
#define CS_RUNTIME_NAME "caisson:runtime" /* frames of the prelude; never shown */

/* Functions of the prelude that C calls; prelude/99-main.js hands them over under these names. */
#define CS_ENTRIES(X)                                                            \
    X(seed)        /* (a, b, c, d): four 32-bit numbers for Math.random */       \
    X(begin)       /* (inputs, state, servers, argument bytes, depth) */         \
    X(instantiate) /* (index, name, function, dep indices, callable) */          \
    X(builtin)     /* (index, name): the namespace of a module of the runtime */ \
    X(wrapper)     /* (index, name, server, tool): the file of a tool */         \
    X(link)        /* (indices): exports become properties of the namespaces */  \
    X(go)          /* (index): the module's body may run */                      \
    X(namespaceOf) /* (index) */                                                 \
    X(exportsOf)   /* (index): "a, b, c" for suggestions */                      \
    X(settle)      /* (id, status, payload): answers CALL and FILE */            \
    X(offer)       /* (name): a server becomes a global */                       \
    X(unfinished)  /* (): the program has ended, calls have not: says so */      \
    X(late)        /* (id, status, payload): an answer after the end */          \
    X(fire)        /* (id): a timer */                                           \
    X(describe)    /* (error): a plain description of whatever was thrown */     \
    X(encode)      /* (value, bytes, depth): JSON text, or throws */             \
    X(encodeState) /* (bytes, depth): that of `state` */                         \
    X(rejected)    /* (promise, reason): nobody handled it */                    \
    X(makeError)   /* (type, error, file) or (type, message, suggestion) */      \
    X(warm)        /* (thorough): exercises the engine and the runtime, in the zygote */

enum cs_entry {
#define X(name) CS_ENTRY_##name,
    CS_ENTRIES(X)
#undef X
        CS_ENTRY_COUNT
};

struct cs_timer {
    int64_t due_us, period_us;
    uint64_t order; /* equal times fire in the order they were set */
    uint32_t id;
};

struct cs_module; /* modules.c */

struct cs_worker {
    JSGlobalContextRef ctx;
    JSObjectRef entry[CS_ENTRY_COUNT];
    bool small_pages; /* leave the engine's text where it is: see hugetext.h */

    int sock;
    struct cs_wire_reader reader;
    struct cs_buf out;
    size_t turn_at;            /* where what this turn has to say begins in it */
    struct cs_buf early;       /* read from the socket before its turn: see cs_bridge_send */
    struct cs_arena arena;     /* lives as long as the execution */
    struct cs_program program; /* numbers only: the strings are gone once it has been read */
    struct cs_str state;       /* as it came, if it is wanted back */
    struct cs_random random;
    bool running; /* between VERDICT and the program's end: calls, files, logs may be sent */
    struct cs_buf answer; /* the DONE frame, once the program has settled */
    bool lingers;         /* ... but calls of it are still under way */

    uint32_t waiting; /* CALL and FILE not answered, */
    uint32_t judging; /* of which so many are about modules */
    uint8_t *want;    /* per slot: enum cs_want, plus 1; 0 is free */
    uint32_t want_cap;
    uint32_t *free_slots;
    uint32_t free_len;
    uint32_t calls;     /* CALL frames sent and not answered */
    struct cs_buf held; /* CALL frames beyond calls_at_once, from held_at */
    size_t held_at;

    struct cs_timer *timers; /* a heap by due time */
    uint32_t timer_len, timer_cap, timer_next;
    uint64_t timer_order;
    uint32_t at_once; /* timers that did not wait, since the last answer */

    const struct cs_frame *next; /* came in, and waits until what is due before it has happened */
    uint64_t frames;             /* that came in */
    uint64_t slept_at;           /* how many there were at the last SLEEP, */
    int64_t slept_until;         /* and what it said; -1: the daemon does not know of a timer */

    uint64_t log_bytes;
    uint32_t log_lines;
    bool log_cut;
};

extern struct cs_worker cs_worker;

/* How the payload of a RESULT reaches the program. */
enum cs_want {
    CS_WANT_NOTHING,
    CS_WANT_TEXT,
    CS_WANT_BYTES,
    CS_WANT_JSON,
    CS_WANT_CALL,
    CS_WANT_VERDICT /* of a module, for late.c: the program does not see it */
};

/* host.c */
JSValueRef cs_host_call(enum cs_entry entry, size_t argc, const JSValueRef argv[],
                        JSValueRef *exception);
JSValueRef cs_host_eval(struct cs_str source, const char *name, JSValueRef *exception);
/* Out of text, by eval, Function and the like: not unless the verdict was about that. */
void cs_host_let_make_code(bool may);
JSValueRef cs_host_number(double v);
JSValueRef cs_host_string(struct cs_str s);
/* Deeper than `depth`, or no JSON: NULL, and `err` says which. */
JSValueRef cs_host_json(struct cs_str json, uint32_t depth, struct cs_err *err);

/* natives.c: the callbacks the prelude is built on. */
void cs_natives_install(JSObjectRef host);

/* bridge.c: frames out. */
void cs_bridge_send(struct cs_buf *frame);
void cs_bridge_log(enum cs_level level, struct cs_str text);
double cs_bridge_call(struct cs_str server, struct cs_str tool, struct cs_str json);
double cs_bridge_judge(struct cs_str facts); /* may these modules run? cs_late_answer follows */
double cs_bridge_file(enum cs_file_op op, struct cs_str path, struct cs_str data, uint32_t flags,
                      enum cs_want want);
void cs_bridge_result(const struct cs_frame *frame);
void cs_bridge_late(const struct cs_frame *frame); /* the same, after the program's end */
void cs_bridge_flush(void);                        /* sends what has gathered in `out` */
void cs_bridge_ask(uint64_t id, struct cs_str path);

/* timers.c */
double cs_timer_add(double delay_ms, bool repeat); /* the id, or -1: too many */
void cs_timer_cancel(uint32_t id);
bool cs_timer_next(int64_t *due_us);
/* All that are due by then, in order; after each of them cs_serve_turn. */
void cs_timers_fire(int64_t until_us);

/* modules.c */
void cs_modules_start(struct cs_str source); /* compiles the program, asks for its imports */
void cs_modules_answer(const struct cs_frame *frame);
bool cs_modules_loading(void);
/* After loading: -1 and the error's JSON if something of the static graph is missing or wrong. */
int cs_modules_check(struct cs_buf *error);
/* late.c: FACTS are about everything that is there by now. */
void cs_late_start(void);
void cs_late_answer(double question, bool may, struct cs_str payload);
/* facts.c: of what was judged, and before it of what is asked about now because `imports` is
 * imported (empty: the program is about to begin). True: among what is new is that code is made out
 * of text. */
bool cs_modules_facts(struct cs_str imports, struct cs_buf *json);
void cs_modules_run(void); /* links and starts the program */
/* Starts the bodies whose turn it is. `drained`: no microtask is left, so a body that has not
 * ended by now waits for an event, and others need not wait for it. */
void cs_modules_pump(bool drained);
void cs_modules_settled(uint32_t index, bool ok, JSValueRef value);
void cs_modules_import(uint32_t from, JSStringRef specifier, JSObjectRef resolve,
                       JSObjectRef reject);

struct cs_source {
    struct cs_str name; /* "program.ts" or the module's path */
    struct cs_str text;
    const struct cs_compiled *compiled;
};
/* By the name that stands in stacks; false if it is none of the program's. */
bool cs_modules_source(struct cs_str name, struct cs_source *source);

/* servers.c */
void cs_servers_start(struct cs_str json); /* an array of identifiers */
void cs_servers_offer(struct cs_str text); /* makes globals of those that occur in it */

/* report.c: error JSON. */
void cs_report_exception(JSValueRef exception, struct cs_buf *json);
void cs_report_diag(const char *type, const struct cs_diag *diag, const struct cs_source *source,
                    struct cs_buf *json);
/* The program's own frames of an engine's stack, `at` before each. */
void cs_report_frames(struct cs_str stack, const char *at, struct cs_buf *out);
struct cs_report {
    const char *type;
    struct cs_str name, message, suggestion;
    const char *limit, *limit_unit;
    double limit_value; /* < 0: not known here */
};
void cs_report_plain(const struct cs_report *report, struct cs_buf *json);

/* suggest.c: what to try next, or "". `out` has CS_SUGGEST_MAX bytes. */
#define CS_SUGGEST_MAX 512
void cs_suggest(struct cs_str name, struct cs_str message, struct cs_str line, char *out);
/* The line of `source` where `tool` is called without `await`, as it should be; false: not found.
 */
bool cs_suggest_await(struct cs_str source, struct cs_str tool, struct cs_buf *out);

/* serve.c */
void cs_serve_turn(void); /* an event has happened: what follows from it; it may be the end */
void cs_serve_done(enum cs_outcome outcome, struct cs_str json) __attribute__((noreturn));
void cs_serve_settled(bool ok, JSValueRef value);

#endif

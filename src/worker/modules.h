/*
 * The module graph of one execution: shared by modules.c (loading, linking, running), late.c and
 * facts.c.
 *
 * Runs in: the worker. Owner: the process; nothing is freed before its end.
 */
#ifndef CS_WORKER_MODULES_H
#define CS_WORKER_MODULES_H

#include "base/facts.h"
#include "worker/host.h"
#include "worker/resolve.h"

#define CS_MODULES_MAX      CS_LATE_MOST
#define CS_MODULES_TEXT_MAX (64u * CS_MIB)

/* What an import asked for; equal requests share one. */
struct cs_request {
    enum cs_resolved kind;
    struct cs_str path; /* the path, the builtin's name, or the reason of the refusal */
    int32_t module;     /* -1: not there (yet) */
    bool pending;
    uint8_t status; /* enum cs_answer, if it is not there */
    struct cs_str message;
};

/* wrapper.c: the file of a tool. `tool` is empty if a module is not of that form. */
struct cs_wrapper {
    struct cs_str name, server, tool; /* in the module's text */
};
bool cs_wrapper_read(struct cs_str path, struct cs_str text, struct cs_wrapper *w);

struct cs_module {
    struct cs_str path; /* canonical; for resolving what it imports */
    struct cs_str name; /* as stacks show it */
    struct cs_str text;
    struct cs_compiled compiled;
    struct cs_diag diag; /* line 0: it compiled */
    bool builtin;
    struct cs_wrapper wrapper;
    uint32_t *requests; /* one per import, static ones first */
    enum {
        CS_MODULE_LOADED,
        CS_MODULE_LINKED,
        CS_MODULE_STARTED,
        CS_MODULE_DONE,
        CS_MODULE_FAILED
    } state;
    enum {
        CS_MODULE_UNSEEN,  /* nobody has judged it; what is generated may stay so */
        CS_MODULE_FRESH,   /* it is among what is asked about right now */
        CS_MODULE_ASKED,   /* by `question` */
        CS_MODULE_JUDGED,  /* it may run */
        CS_MODULE_REFUSED, /* because of `why` */
    } seen;
    double question; /* the id of the CALL; */
    bool makes_code; /* what it is about makes code out of text */
    struct cs_str why, advice;
    uint32_t order;   /* its place in the order of evaluation, once linked */
    JSValueRef error; /* FAILED: protected */
};

struct cs_modules {
    struct cs_module *modules;
    uint32_t count;
    struct cs_request *requests;
    uint32_t request_count, request_cap;
    uint32_t outstanding; /* ASK frames not answered */
    uint64_t text_bytes;
    uint32_t order[CS_MODULES_MAX];
    uint32_t order_count, order_done; /* all before order_done have ended */
    struct cs_import_job {
        uint32_t request;
        bool linked;
        JSObjectRef resolve, reject; /* protected */
    } * jobs;
    uint32_t job_count, job_cap;
};

extern struct cs_modules cs_modules;

/* Written by the daemon for a server. */
static inline bool cs_module_is_generated(const struct cs_module *m)
{
    return cs_str_starts(m->path, "/mcp-servers/");
}

/* late.c */
enum cs_late {
    CS_LATE_MAY,     /* everything that it needs was judged */
    CS_LATE_WAITS,   /* for an answer; cs_modules_judged follows */
    CS_LATE_REFUSED, /* something that it needs may not run */
};
struct cs_late_refusal {
    struct cs_str module, why, advice;
};
/* A module that is imported while the program runs; all that it needs is there, and compiled. */
enum cs_late cs_late_import(uint32_t root, struct cs_late_refusal *refusal);
/* modules.c: those that waited for an answer may go on. */
void cs_modules_judged(void);

#endif

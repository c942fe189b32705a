/*
 * The module graph of one execution: shared by modules.c (loading, linking, running) and facts.c.
 *
 * Runs in: the worker. Owner: the process; nothing is freed before its end.
 */
#ifndef CS_WORKER_MODULES_H
#define CS_WORKER_MODULES_H

#include "worker/host.h"
#include "worker/resolve.h"

#define CS_MODULES_MAX      4000
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

#endif

/*
 * From an import's specifier to a module: text only, nothing is opened.
 *
 * Runs in: the worker. Pure. The daemon checks every path it is asked for again; this is for good
 * answers, not for safety.
 */
#ifndef CS_WORKER_RESOLVE_H
#define CS_WORKER_RESOLVE_H

#include "base/str.h"

enum cs_resolved {
    CS_RESOLVED_PATH,    /* a file beneath the roots: `path` */
    CS_RESOLVED_BUILTIN, /* a module of the runtime: `path` is its name, "node:path" */
    CS_RESOLVED_REFUSED, /* `path` holds the reason, one sentence or two, without file content */
};

#define CS_RESOLVE_MAX 1024

/*
 * `from` is the path of the importing module ("/workspace/program.ts" for the program). Byte
 * equality: no URL, no percent decoding, no case folding.
 */
enum cs_resolved cs_module_resolve(struct cs_str from, struct cs_str specifier,
                                   char path[CS_RESOLVE_MAX]);

#endif

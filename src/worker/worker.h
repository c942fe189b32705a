/*
 * Everything inside the jail: the JavaScriptCore context, the runtime, one execution, the end.
 *
 * Runs in: cs_worker_warm in the zygote (one thread, before the jail closes), cs_worker_serve in
 * the worker, which is taken to be hostile from the moment it has read a program. May include:
 * compile, sandbox/wire.h and base only.
 */
#ifndef CS_WORKER_WORKER_H
#define CS_WORKER_WORKER_H

#include <stdbool.h>

#include "base/err.h"

/* Starts the engine and evaluates the prelude. Fails if the engine cannot be made single-threaded.
 */
int cs_worker_warm(bool no_jit, struct cs_err *err);

/*
 * Says READY, rehearses while no program comes (so that its pages are its own by then), serves one
 * execution on `sock`, and ends the process.
 */
void cs_worker_serve(int sock) __attribute__((noreturn));

#endif

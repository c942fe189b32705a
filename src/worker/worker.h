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

/* Once, after warm and before the first fork: makes every worker faster, at the price of a later
 * start. */
int cs_worker_polish(struct cs_err *err);

/* What an execution touches, for the workers to come: a child runs a program and writes a list to
 * `out`; the zygote reads it. Without a list workers are slower, and nothing else. */
void cs_worker_rehearse(int out) __attribute__((noreturn));
void cs_worker_learn(int in);

/* Pre-touches memory, says READY, serves one execution on `sock`, and ends the process. */
void cs_worker_serve(int sock) __attribute__((noreturn));

#endif

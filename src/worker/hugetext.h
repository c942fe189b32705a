/*
 * The engine's code in huge pages, so that a fork copies a dozen entries instead of taking a
 * hundred page faults in every worker.
 *
 * Runs in: the zygote, once, before the jail closes. Costs 5-13 ms and 26 MB per zygote. While it
 * is on, perf and gdb do not name functions in that range. CAISSON_NO_HUGE_TEXT in the environment
 * of whoever calls cs_worker_warm switches it off (a benchmark; a role starts without environment).
 */
#ifndef CS_WORKER_HUGETEXT_H
#define CS_WORKER_HUGETEXT_H

/* Moves the text of the library that contains `symbol`. Does nothing where huge pages are off. */
void cs_hugetext(const void *symbol);

#endif

/*
 * Which pages an execution writes to, learned once, so that each worker has them before its request
 * is there.
 *
 * Runs in: cs_worker_rehearse in a child of the zygote, cs_worker_learn in the zygote (both in
 * worker.h, both before the jail closes), the rest in the worker.
 *
 * A worker shares all memory with its zygote until it writes to it; then the kernel copies, page by
 * page, at two microseconds each. A few hundred of these pages are the same in every execution,
 * since all workers start from the same state. The zygote therefore lets a child run a small
 * program from beginning to end, and keeps the list of pages that this child came to own.
 */
#ifndef CS_WORKER_REHEARSE_H
#define CS_WORKER_REHEARSE_H

/* Makes this process's own copies of the pages that were learned. */
void cs_rehearsal_touch(void);

/* At the end of an execution: in the child that rehearses, reports its pages; else does nothing. */
void cs_rehearsal_report(void);

#endif

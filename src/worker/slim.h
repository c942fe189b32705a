/*
 * Takes out of the zygote what came along with the engine and no program can reach.
 *
 * Runs in: zygote, after the engine has started; never in the daemon.
 *
 * The engine is linked against libraries for its use in a browser: a journal, D-Bus, compression.
 * Fork copies their mappings into every worker, the end of a worker tears them down again, and to
 * an attacker in a worker they are code to build on.
 *
 * From then on nothing may be loaded or searched for by name, since both read the tables of every
 * library: all functions are bound at the start (LD_BIND_NOW, role.c), and what the C library loads
 * on demand has been loaded (the first backtrace).
 */
#ifndef CS_WORKER_SLIM_H
#define CS_WORKER_SLIM_H

void cs_slim(void);

#endif

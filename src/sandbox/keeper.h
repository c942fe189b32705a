/*
 * Ends the process groups of tool servers when the daemon is gone without having done so.
 *
 * Runs in: cs_keep and cs_unkeep in the daemon, any thread; cs_keeper_main in a process of its own.
 * Limits:  CS_KEPT groups; those beyond are not kept.
 * Failure: silent. Without a keeper a server runs all the same.
 *
 * A server dies with the daemon, as the kernel sees to it; what it started in turn does not, such
 * as the real server behind a shell or npx. The keeper knows the groups, and holds one end of a
 * socket: when the other end is closed, by whatever death, it kills what is still on its list.
 */
#ifndef CS_SANDBOX_KEEPER_H
#define CS_SANDBOX_KEEPER_H

#include <sys/types.h>

#define CS_KEPT 4096u

void cs_keep(pid_t group);
/* To be called as soon as the group's leader has been reaped: then its number may be another's. */
void cs_unkeep(pid_t group);

int cs_keeper_main(void);

#endif

/*
 * System call filters: an allow-list per kind of process, as one table in filter.c.
 *
 * Runs in: zygote, worker, guest launcher, pid 1 of a guest, probe.
 * Order:   make (needs memory and files, so before the jail closes) -> install (one system call, so
 * also in a worker that has nothing left) -> done.
 *
 * A filter cannot be taken away again, only narrowed. The worker's is such a narrowing: it is
 * installed on top of the zygote's and takes away what forking needed, so it is small and quick.
 */
#ifndef CS_SANDBOX_FILTER_H
#define CS_SANDBOX_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sock_filter;

enum cs_profile {
    CS_PROFILE_ZYGOTE, /* what a worker may do, and what it takes to fork one */
    CS_PROFILE_WORKER, /* on top of the zygote's: the forking goes away */
    CS_PROFILE_GUEST,  /* python, bash, node and what they start */
    CS_PROFILE_REAPER, /* pid 1 of a guest: wait, report, end */
    CS_PROFILE_SERVER  /* a jailed tool server: as a guest, and a little more */
};

struct cs_filter {
    struct sock_filter *code;
    uint16_t len;
};

struct cs_filter_facts {
    const int *random_fds; /* descriptors that the engine may read from (random devices) */
    size_t random_count;
    bool strict;  /* no JIT: signals between the engine's own threads are not needed */
    bool alone;   /* the process is pid 1 of a namespace of its own */
    bool network; /* a server may use the (empty) network of its namespace */
};

int cs_filter_make(enum cs_profile profile, const struct cs_filter_facts *facts,
                   struct cs_filter *filter, struct cs_err *err);

/* For this thread, which is the only one, and all that come from it. no_new_privs must be set. */
int cs_filter_install(const struct cs_filter *filter, struct cs_err *err);

void cs_filter_done(struct cs_filter *filter);

#endif

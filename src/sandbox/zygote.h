/*
 * The zygote: engine warm, jailed, one thread; it forks workers on demand.
 *
 * Runs in: cs_zygote_main in the zygote process itself, the rest in the daemon (loop thread).
 * Order:   spawn -> read the HELLO reply -> ask / read replies, in any number -> close.
 *
 * The daemon is the real parent of every worker (CLONE_PARENT), so it gets exit status and rusage
 * from waitid on the pidfd that comes with the reply.
 */
#ifndef CS_SANDBOX_ZYGOTE_H
#define CS_SANDBOX_ZYGOTE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sandbox/role.h"

/* How to build the jail. Given to the zygote and the guest launcher as a message, not as arguments.
 */
struct cs_jail_options {
    uint32_t allow_weak; /* walls (1 << enum cs_wall) that may be missing */
    bool full;           /* every worker gets all namespaces of its own */
    bool no_jit;         /* strict: no executable memory but the program's text */
    bool brief;          /* for one execution: start soon rather than serve fast */
    uint32_t host_uid;   /* as root: an id that owns nothing; otherwise ignored */
#ifdef CS_TEST_HOOKS
    bool weak_for_test; /* no walls, only not root: shows that tests/escape can fail */
#endif
};

struct cs_zygote {
    pid_t pid;
    int pidfd;
    int control; /* SOCK_SEQPACKET, non-blocking; readable when a reply is there, or the zygote died
                  */
};

struct cs_zygote_reply {
    enum { CS_ZYGOTE_HELLO, CS_ZYGOTE_FORKED, CS_ZYGOTE_FAILED } kind;
    uint32_t ticket;         /* FORKED and FAILED: of the ask that is answered */
    uint64_t baseline_bytes; /* HELLO: VmSize of the warm zygote, the base of RLIMIT_AS */
    uint64_t baseline_rss;   /* HELLO: resident bytes of an idle worker */
    pid_t pid;               /* FORKED: as the daemon sees it */
    int pidfd;               /* FORKED: the caller owns it */
    /* FAILED; ticket 0: the zygote could not start. A ticket that was FORKED before: the worker
     * could not close its jail, and has ended. */
    struct cs_err err;
};

/* Starts this program again in the role "zygote". Returns at once; HELLO or FAILED comes later. */
int cs_zygote_spawn(const struct cs_jail_options *options, struct cs_zygote *zygote,
                    struct cs_err *err);

/* Asks for a worker that talks on `sock` (which is passed on; the caller still closes its copy). */
int cs_zygote_ask(struct cs_zygote *zygote, uint32_t ticket, int sock, struct cs_err *err);

/* 1: a reply; 0: none there yet; -1: the zygote is gone. */
int cs_zygote_reply(struct cs_zygote *zygote, struct cs_zygote_reply *reply, struct cs_err *err);

/*
 * RLIMIT_AS of a worker becomes `bytes` (baseline_bytes plus what the program may have). A few
 * microseconds. For the loop thread: as root without CAP_SYS_RESOURCE (containers) that thread's
 * real id is the worker's for the moment of the call, which is what prlimit then asks for.
 */
int cs_worker_bound(pid_t pid, uint64_t bytes, uint32_t host_uid, struct cs_err *err);

/* Kills and reaps the zygote. Workers live on. */
void cs_zygote_close(struct cs_zygote *zygote);

/* The role itself: never returns to the caller's main loop. The control socket is fd 3. */
int cs_zygote_main(const struct cs_engine_hooks *hooks);

#endif

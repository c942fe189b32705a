/*
 * A cage: the control group of one jailed process tree, or what stands in for it.
 *
 * Runs in: daemon, loop thread. Each call is a few writes to cgroupfs (3 to 70 us) and does not
 * block. Order:   cs_cages_open once; make -> join -> set (again at will) -> use -> remove, per
 * execution. Cages are made ahead of time for pooled workers; set is what a request costs. Without
 * control groups: `cpu`, `memory`, `pids` of struct cs_cages say CS_BY_POLLING, and cs_cage_tick
 * (every 20 ms while the tree runs) does the work: it kills on memory, and stops and continues the
 * tree for the CPU share.
 */
#ifndef CS_SANDBOX_CAGE_H
#define CS_SANDBOX_CAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sandbox/limits.h"

enum cs_means { CS_BY_CGROUP2, CS_BY_CGROUP1, CS_BY_POLLING };

struct cs_cages;
struct cs_cage;

struct cs_usage {
    uint64_t cpu_us;
    uint64_t memory_peak; /* bytes; 0 if the means cannot tell */
    bool memory_hit;      /* the memory limit killed something */
    bool pids_hit;        /* a fork was refused */
};

/*
 * `polling_only`: act as on a machine without control groups (for tests). Otherwise all who open
 * them in one process share one: version 2 lets only one divide the group that we are in. Each
 * calls cs_cages_free.
 */
int cs_cages_open(bool polling_only, struct cs_cages **cages, struct cs_err *err);
void cs_cages_free(
    struct cs_cages *cages); /* the last removes the parent groups; cages must be gone */
enum cs_means cs_cages_memory(const struct cs_cages *cages);
enum cs_means cs_cages_cpu(const struct cs_cages *cages);
enum cs_means cs_cages_pids(const struct cs_cages *cages);

/* An empty cage with no limits yet. `keeps` the cages pointer. */
int cs_cage_make(struct cs_cages *cages, struct cs_cage **cage, struct cs_err *err);

/* `pidfd` is that of `pid`; the cage keeps a copy. Before the process has children. */
int cs_cage_join(struct cs_cage *cage, pid_t pid, int pidfd, struct cs_err *err);

/*
 * Memory and process limits now; the CPU share is applied by cs_cage_tick once the burst is used
 * up. With limits->processes of at most 1 the tree is taken to be one process that cannot fork (a
 * worker), and the groups that such a process does not need are made only when it comes to that.
 */
int cs_cage_set(struct cs_cage *cage, const struct cs_limits *limits, uint64_t memory_slack,
                struct cs_err *err);

/* To be called every 20-50 ms while the tree runs; fills `usage` with what is known so far. */
void cs_cage_tick(struct cs_cage *cage, struct cs_usage *usage);

/* After the tree is dead: the final figures. The rusage of a worker is more exact about CPU time.
 */
void cs_cage_read(struct cs_cage *cage, struct cs_usage *usage);

/* True once no task is left inside. The caller has killed and reaped pid 1 of the tree before. */
bool cs_cage_empty(struct cs_cage *cage);

/* Removes the group. False (nothing freed) while the kernel still says EBUSY: call again in a
 * moment. */
bool cs_cage_remove(struct cs_cage *cage);

#endif

#include "sandbox/cage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "sandbox/cgroup.h"
#include "sandbox/tree.h"

/* One mounted tree of groups; on version 1 there may be one per controller, on version 2 one. */
struct hierarchy {
    int dir; /* our own group in it */
    int version;
    unsigned controllers; /* that we use here */
    char path[4096];
};

struct cs_cages {
    struct hierarchy all[CS_CONTROLLERS];
    size_t count;
    char name[48];
    uint64_t made; /* for the names of cages */
    unsigned owners;
};

/* What those share who did not ask for polling, while there is one of them. */
static struct cs_cages *shared;

struct cs_cage {
    struct cs_cages *cages;
    int dirs[CS_CONTROLLERS]; /* by hierarchy; -1: not made (yet) */
    char name[24];
    pid_t pid;
    int pidfd;
    struct cs_limits limits;
    uint64_t memory_limit; /* with slack; 0: not set */
    uint64_t baseline;     /* polling: memory at the time of joining */
    bool throttled;        /* cgroups: the quota is set */
    bool stopped;          /* polling: the tree is stopped */
    int64_t burst_end_us;  /* polling: when the burst was used up */
    uint64_t burst_used_us;
    struct cs_usage usage;
};

/* ---- what there is ---- */

static bool read_all(const char *path, struct cs_buf *text)
{
    CS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n;
    while ((n = read(fd, cs_buf_room(text, 4096), 4096)) > 0)
        cs_buf_added(text, (size_t)n);
    return n == 0;
}

/* Controllers that live in one tree share one group there. */
static void gather(struct cs_cages *cages, const struct cs_cgroup_place *place, unsigned bit)
{
    for (size_t i = 0; i < cages->count; i++)
        if (strcmp(cages->all[i].path, place->path) == 0) {
            cages->all[i].controllers |= bit;
            return;
        }
    struct hierarchy *h = &cages->all[cages->count++];
    h->dir = -1;
    h->version = place->version;
    h->controllers = bit;
    memcpy(h->path, place->path, sizeof h->path);
}

static void open_groups(struct cs_cages *cages)
{
    CS_AUTO_BUF struct cs_buf cgroup = {0}, mounts = {0};
    if (!read_all("/proc/self/cgroup", &cgroup) || !read_all("/proc/self/mountinfo", &mounts))
        return;
    for (unsigned c = 0; c < CS_CONTROLLERS; c++) {
        struct cs_cgroup_place place;
        cs_cgroup_find(cs_buf_str(&cgroup), cs_buf_str(&mounts), (enum cs_controller)c, &place);
        if (place.version == 2 && c == CS_CPUACCT)
            continue; /* version 2 always counts */
        if (place.version)
            gather(cages, &place, 1u << c);
    }
    size_t kept = 0;
    for (size_t i = 0; i < cages->count; i++) {
        struct hierarchy *h = &cages->all[i];
        struct cs_cgroup_place place = {.version = h->version};
        memcpy(place.path, h->path, sizeof place.path);
        if (cs_cgroup_own(&place, cages->name, h->controllers, &h->dir, &h->controllers) == 0) {
            if (kept != i)
                cages->all[kept] = *h;
            kept++;
        }
    }
    cages->count = kept;
}

int cs_cages_open(bool polling_only, struct cs_cages **cages, struct cs_err *err)
{
    if (!polling_only && shared) {
        shared->owners++;
        *cages = shared;
        return 0;
    }
    struct cs_cages *c = CS_NEW(struct cs_cages);
    unsigned random;
    c->owners = 1;
    if (getrandom(&random, sizeof random, 0) != sizeof random) {
        free(c);
        return cs_fail_errno(err, "getrandom");
    }
    snprintf(c->name, sizeof c->name, "caisson-%d-%08x", (int)getpid(), random);
    if (!polling_only) {
        open_groups(c);
        shared = c;
    }
    *cages = c;
    return 0;
}

void cs_cages_free(struct cs_cages *cages)
{
    if (!cages || --cages->owners > 0)
        return;
    if (cages == shared)
        shared = NULL;
    for (size_t i = 0; i < cages->count; i++) {
        char path[sizeof cages->all[i].path + sizeof cages->name + 1];
        snprintf(path, sizeof path, "%s/%s", cages->all[i].path, cages->name);
        rmdir(path);
        cs_closep(&cages->all[i].dir);
    }
    free(cages);
}

static int hierarchy_of(const struct cs_cages *cages, enum cs_controller controller)
{
    for (size_t i = 0; i < cages->count; i++)
        if (cages->all[i].controllers & (1u << controller))
            return (int)i;
    return -1;
}

static enum cs_means means(const struct cs_cages *cages, enum cs_controller controller)
{
    int i = hierarchy_of(cages, controller);
    if (i < 0)
        return CS_BY_POLLING;
    return cages->all[i].version == 2 ? CS_BY_CGROUP2 : CS_BY_CGROUP1;
}

enum cs_means cs_cages_memory(const struct cs_cages *cages)
{
    return means(cages, CS_MEMORY);
}

enum cs_means cs_cages_cpu(const struct cs_cages *cages)
{
    return means(cages, CS_CPU);
}

enum cs_means cs_cages_pids(const struct cs_cages *cages)
{
    return means(cages, CS_PIDS);
}

/* ---- one cage ---- */

/* The group of this cage in the hierarchy of `controller`; -1 if there is none (yet). */
static int group(const struct cs_cage *cage, enum cs_controller controller)
{
    int i = hierarchy_of(cage->cages, controller);
    return i < 0 ? -1 : cage->dirs[i];
}

/* Makes the group for `controller`, and moves the process there if there is one already. */
static int need(struct cs_cage *cage, enum cs_controller controller, struct cs_err *err)
{
    int i = hierarchy_of(cage->cages, controller);
    if (i < 0 || cage->dirs[i] >= 0)
        return 0;
    int dir = cs_cgroup_make(cage->cages->all[i].dir, cage->name);
    if (dir < 0)
        return cs_fail_errno(err, "make the control group %s", cage->name);
    cage->dirs[i] = dir;
    if (cage->pid && cs_cgroup_write_u64(dir, "cgroup.procs", (uint64_t)cage->pid) < 0)
        return cs_fail_errno(err, "join the control group %s", cage->name);
    return 0;
}

static void discard(struct cs_cage *cage)
{
    for (size_t i = 0; i < CS_CONTROLLERS; i++)
        cs_closep(&cage->dirs[i]);
    cs_closep(&cage->pidfd);
    free(cage);
}

int cs_cage_make(struct cs_cages *cages, struct cs_cage **cage, struct cs_err *err)
{
    struct cs_cage *c = CS_NEW(struct cs_cage);
    c->cages = cages;
    c->pidfd = -1;
    for (size_t i = 0; i < CS_CONTROLLERS; i++)
        c->dirs[i] = -1;
    snprintf(c->name, sizeof c->name, "%llx", (unsigned long long)++cages->made);
    if (need(c, CS_MEMORY, err) < 0) {
        discard(c);
        return -1;
    }
    *cage = c;
    return 0;
}

int cs_cage_join(struct cs_cage *cage, pid_t pid, int pidfd, struct cs_err *err)
{
    int copy = fcntl(pidfd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0)
        return cs_fail_errno(err, "copy a pidfd");
    cs_closep(&cage->pidfd);
    cage->pidfd = copy;
    cage->pid = pid;
    for (size_t i = 0; i < CS_CONTROLLERS; i++)
        if (cage->dirs[i] >= 0 &&
            cs_cgroup_write_u64(cage->dirs[i], "cgroup.procs", (uint64_t)pid) < 0)
            return cs_fail_errno(err, "join the control group %s", cage->name);
    if (cs_cages_memory(cage->cages) == CS_BY_POLLING) {
        struct cs_tree_use use; /* what a worker shares with its zygote is not its own */
        if (cs_tree_measure(pid, &use))
            cage->baseline = use.memory;
    }
    return 0;
}

/* Swap counts as memory. The two limits can only be moved in the order that keeps them in order. */
static int limit_memory_v1(int dir, uint64_t bytes)
{
    static const char plain[] = "memory.limit_in_bytes", both[] = "memory.memsw.limit_in_bytes";
    if (cs_cgroup_write_u64(dir, plain, bytes) < 0) {
        if (errno != EINVAL || cs_cgroup_write_u64(dir, both, bytes) < 0)
            return -1;
        return cs_cgroup_write_u64(dir, plain, bytes);
    }
    if (cs_cgroup_write_u64(dir, both, bytes) < 0 && errno != ENOENT) /* no swap accounting */
        return -1;
    return 0;
}

static int limit_memory(struct cs_cage *cage, struct cs_err *err)
{
    int dir = group(cage, CS_MEMORY);
    if (dir < 0)
        return 0;
    int r;
    if (cs_cages_memory(cage->cages) == CS_BY_CGROUP1) {
        r = limit_memory_v1(dir, cage->memory_limit);
    } else {
        r = cs_cgroup_write_u64(dir, "memory.max", cage->memory_limit);
        if (r == 0 && cs_cgroup_write(dir, "memory.swap.max", "0") < 0 && errno != ENOENT)
            r = -1;
        if (r ==
            0) /* all of the tree dies together; where this is not known, the host sees to it */
            cs_cgroup_write(dir, "memory.oom.group", "1");
    }
    if (r < 0)
        return cs_fail_errno(err, "set the memory limit");
    return 0;
}

int cs_cage_set(struct cs_cage *cage, const struct cs_limits *limits, uint64_t memory_slack,
                struct cs_err *err)
{
    cage->limits = *limits;
    cage->memory_limit = limits->memory + memory_slack;
    if (limit_memory(cage, err) < 0)
        return -1;
    if (limits->processes <= 1)
        return 0;
    if (need(cage, CS_PIDS, err) < 0 || need(cage, CS_CPU, err) < 0 ||
        need(cage, CS_CPUACCT, err) < 0)
        return -1;
    int dir = group(cage, CS_PIDS);
    /* One more, for our own pid 1. */
    if (dir >= 0 && cs_cgroup_write_u64(dir, "pids.max", (uint64_t)limits->processes + 1) < 0)
        return cs_fail_errno(err, "set the process limit");
    return 0;
}

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* From the group, if it counts; 0 if it does not. */
static bool group_cpu(const struct cs_cage *cage, uint64_t *us)
{
    uint64_t value;
    if (cs_cages_cpu(cage->cages) == CS_BY_CGROUP2)
        return cs_cgroup_read_u64(group(cage, CS_CPU), "cpu.stat", "usage_usec", us);
    int dir = group(cage, CS_CPUACCT);
    if (dir < 0 || !cs_cgroup_read_u64(dir, "cpuacct.usage", NULL, &value))
        return false;
    *us = value / 1000;
    return true;
}

static void note_groups(struct cs_cage *cage)
{
    struct cs_usage *u = &cage->usage;
    uint64_t value;
    int memory = group(cage, CS_MEMORY);
    if (memory >= 0) {
        bool v1 = cs_cages_memory(cage->cages) == CS_BY_CGROUP1;
        if (cs_cgroup_read_u64(memory, v1 ? "memory.oom_control" : "memory.events", "oom_kill",
                               &value) &&
            value > 0)
            u->memory_hit = true;
        if (cs_cgroup_read_u64(memory, v1 ? "memory.max_usage_in_bytes" : "memory.peak", NULL,
                               &value) &&
            value > u->memory_peak)
            u->memory_peak = value;
    }
    int pids = group(cage, CS_PIDS);
    if (pids >= 0 && cs_cgroup_read_u64(pids, "pids.events", "max", &value) && value > 0)
        u->pids_hit = true;
    if (group_cpu(cage, &value) && value > u->cpu_us)
        u->cpu_us = value;
}

/* The quota, from now on. A short period keeps the pauses short; the kernel wants 1 ms at least. */
static void throttle(struct cs_cage *cage)
{
    uint64_t percent = cage->limits.cpu ? cage->limits.cpu : 1;
    uint64_t period = percent >= 5 ? 20000 : 100000, quota = period * percent / 100;
    if (need(cage, CS_CPU, NULL) < 0)
        return; /* tried again at the next tick */
    int dir = group(cage, CS_CPU);
    int r;
    if (cs_cages_cpu(cage->cages) == CS_BY_CGROUP2) {
        char text[48];
        snprintf(text, sizeof text, "%llu %llu", (unsigned long long)quota,
                 (unsigned long long)period);
        r = cs_cgroup_write(dir, "cpu.max", text);
    } else {
        r = cs_cgroup_write_u64(dir, "cpu.cfs_period_us", period);
        if (r == 0)
            r = cs_cgroup_write_u64(dir, "cpu.cfs_quota_us", quota);
    }
    cage->throttled = r == 0;
}

/*
 * Without a quota: the tree runs while it has used less than burst + share * time since, and is
 * stopped while it has used more. What a coarse tick gives too much, the next one takes back.
 */
static void stop_and_go(struct cs_cage *cage)
{
    uint64_t burst = cage->limits.cpu_burst * 1000, used = cage->usage.cpu_us;
    if (used < burst)
        return;
    int64_t now = now_us();
    if (!cage->burst_end_us) {
        cage->burst_end_us = now;
        cage->burst_used_us = used;
    }
    uint64_t since = (uint64_t)(now - cage->burst_end_us);
    uint64_t allowed = cage->burst_used_us + since * cage->limits.cpu / 100;
    if (used > allowed) {
        /* Every time: processes may have come since. */
        cs_tree_signal(cage->pid, SIGSTOP);
        cage->stopped = true;
    } else if (cage->stopped) {
        cs_tree_signal(cage->pid, SIGCONT);
        cage->stopped = false;
    }
}

static void end(struct cs_cage *cage)
{
    cs_tree_signal(cage->pid, SIGKILL); /* pid 1 alone would do, where there is a pid namespace */
    syscall(SYS_pidfd_send_signal, cage->pidfd, SIGKILL, NULL, 0);
}

/* Memory by looking: kills when it is too much. */
static void note_memory(struct cs_cage *cage, uint64_t now)
{
    struct cs_usage *u = &cage->usage;
    now = now > cage->baseline ? now - cage->baseline : 0;
    /* Forked processes share much; look closely before one is wronged. */
    if (now > cage->memory_limit && cage->limits.processes > 1) {
        uint64_t exact = cs_tree_memory(cage->pid);
        if (exact > 0 && exact < now)
            now = exact;
    }
    if (now > u->memory_peak)
        u->memory_peak = now;
    if (now > cage->memory_limit) {
        u->memory_hit = true;
        end(cage);
    }
}

/* What no group watches is looked at in /proc. */
static void note_tree(struct cs_cage *cage)
{
    struct cs_usage *u = &cage->usage;
    uint64_t us = 0;
    bool memory = cs_cages_memory(cage->cages) == CS_BY_POLLING;
    bool pids = cs_cages_pids(cage->cages) == CS_BY_POLLING && cage->limits.processes > 1;
    bool cpu = !group_cpu(cage, &us);
    if (!memory && !pids && cpu && cage->limits.processes <= 1) {
        if (cs_tree_cpu(cage->pid, &us) && us > u->cpu_us)
            u->cpu_us = us;
        return;
    }
    struct cs_tree_use use;
    if ((!memory && !pids && !cpu) || !cs_tree_measure(cage->pid, &use))
        return;
    if (use.cpu_us > u->cpu_us)
        u->cpu_us = use.cpu_us;
    if (pids && use.tasks > cage->limits.processes)
        u->pids_hit = true;
    if (memory)
        note_memory(cage, use.memory);
}

void cs_cage_tick(struct cs_cage *cage, struct cs_usage *usage)
{
    if (cage->pid && cage->memory_limit) { /* joined, and told its limits */
        note_groups(cage);
        note_tree(cage);
        bool quota = cs_cages_cpu(cage->cages) != CS_BY_POLLING;
        if (!quota)
            stop_and_go(cage);
        else if (!cage->throttled && cage->usage.cpu_us >= cage->limits.cpu_burst * 1000)
            throttle(cage);
    }
    *usage = cage->usage;
}

void cs_cage_read(struct cs_cage *cage, struct cs_usage *usage)
{
    note_groups(cage);
    *usage = cage->usage;
}

bool cs_cage_empty(struct cs_cage *cage)
{
    char text[64];
    for (size_t i = 0; i < CS_CONTROLLERS; i++)
        if (cage->dirs[i] >= 0 && cs_cgroup_read(cage->dirs[i], "cgroup.procs", text, sizeof text))
            return text[0] == '\0';
    return cage->pidfd < 0 || syscall(SYS_pidfd_send_signal, cage->pidfd, 0, NULL, 0) < 0;
}

bool cs_cage_remove(struct cs_cage *cage)
{
    for (size_t i = 0; i < CS_CONTROLLERS; i++) {
        if (cage->dirs[i] < 0)
            continue;
        if (unlinkat(cage->cages->all[i].dir, cage->name, AT_REMOVEDIR) < 0 && errno == EBUSY)
            return false;
        cs_closep(&cage->dirs[i]);
    }
    discard(cage);
    return true;
}

#include "sandbox/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"

/* What happens to a call in one profile. The default differs: death for zygote, worker and reaper,
 * whose calls are all ours; EPERM for guests, since programs probe for what there is. */
enum rule {
    NO,      /* the default */
    OK,      /* allowed with any arguments */
    KILL,    /* the process ends */
    ENOENT_, /* refused with this error: libraries look for files and live without */
    ENOSYS_, /* refused so that libc falls back to an older call */
    ENOTTY_,
    ANON,   /* mmap of anonymous memory that is not executable */
    DATA,   /* mmap, mprotect: not executable */
    RANDOM, /* read from the engine's random devices */
    NOADDR, /* sendto without an address: the socket is connected */
    OWN,    /* about the caller only: the first argument is 0 */
    SELF,   /* tgkill to the caller, who is pid 1 */
    JIT,    /* only with JIT */
    FORK,   /* clone without any new namespace */
    PAIR,   /* socketpair of unix sockets */
    TTY,    /* harmless ioctls */
    NAME,   /* harmless prctls */
    INET,   /* socket for TCP or UDP, with a network */
    NET,    /* only with a network */
};

/* Younger than some system headers; the number is the same everywhere. */
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __SNR_fchmodat2
#define __SNR_fchmodat2 __NR_fchmodat2
#endif

/* clang-format off */
#define R(name, zygote, worker, guest, reaper) \
    {#name, SCMP_SYS(name), {zygote, worker, guest, reaper}}
/* clang-format on */

/*
 * The table: one row per call, one column per profile. A call that has no row gets the default
 * everywhere, and so do numbers that a newer kernel may bring. Names that an architecture lacks are
 * skipped there. In the worker's column OK means "as the zygote", NO "taken away".
 */
/* clang-format off */
static const struct row {
    const char *name;
    int nr;
    enum rule of[CS_PROFILE_SERVER]; /* which has a table of its own */
} rows[] = {
    /* call, zygote, worker, guest, reaper */

    /* the conversation with the daemon */
    R(recvfrom, OK, OK, OK, OK),
    R(sendto, NOADDR, OK, OK, OK),
    R(ppoll, OK, OK, OK, OK),
    R(poll, OK, OK, OK, OK),
    R(recvmsg, OK, NO, OK, OK), /* the zygote is handed sockets; a worker must not be */
    R(sendmsg, OK, NO, OK, OK),
    R(close, OK, OK, OK, OK),

    /* the engine's own descriptors */
    R(read, RANDOM, OK, OK, OK),
    R(pread64, OK, OK, OK, NO), /* a copy of statm, in every collection */
    R(write, OK, OK, OK, OK), /* the wake-up event, which is /dev/null */
    R(writev, OK, OK, OK, NO), /* stderr of libraries, which is /dev/null */

    /* memory; nothing new is ever executable */
    R(mmap, ANON, OK, OK, DATA),
    R(mprotect, DATA, OK, OK, DATA),
    R(munmap, OK, OK, OK, OK),
    R(mremap, OK, OK, OK, OK),
    R(madvise, OK, OK, OK, OK),
    R(brk, OK, OK, OK, OK),
    R(membarrier, OK, OK, OK, NO),
    R(mincore, OK, OK, OK, NO),

    /* waiting and time */
    R(futex, OK, OK, OK, OK),
    R(sched_yield, OK, OK, OK, OK),
    R(clock_nanosleep, OK, OK, OK, OK),
    R(nanosleep, OK, OK, OK, OK),
    R(clock_gettime, OK, OK, OK, OK),
    R(clock_getres, OK, OK, OK, NO),
    R(gettimeofday, OK, OK, OK, OK),
    R(time, OK, OK, OK, NO),
    R(restart_syscall, OK, OK, OK, OK),
    R(setitimer, OK, OK, OK, NO), /* the governor and the deadline inside the worker */
    R(getitimer, OK, OK, OK, NO),
    R(getrusage, OK, OK, OK, NO),
    R(getrandom, OK, OK, OK, OK),

    /* signals to oneself */
    R(rt_sigaction, OK, OK, OK, OK),
    R(rt_sigprocmask, OK, OK, OK, OK),
    R(rt_sigreturn, OK, OK, OK, OK),
    R(rt_sigsuspend, JIT, OK, OK, NO),
    R(sigaltstack, OK, OK, OK, OK),
    R(tgkill, SELF, OK, OK, SELF), /* abort() */
    R(gettid, OK, OK, OK, OK),
    R(getpid, OK, OK, OK, OK),
    R(exit, OK, OK, OK, OK),
    R(exit_group, OK, OK, OK, OK),

    /* what the engine asks about its surroundings */
    R(sched_getaffinity, OK, OK, OK, NO),
    R(sysinfo, OK, OK, OK, NO),
    R(ioctl, ENOTTY_, OK, TTY, NO),

    /* files: a worker has none, and is told so */
    R(openat, ENOENT_, OK, OK, NO),
    R(open, ENOENT_, OK, OK, NO),
    R(newfstatat, ENOENT_, OK, OK, NO),
    R(fstat, ENOENT_, OK, OK, NO),
    R(stat, ENOENT_, OK, OK, NO),
    R(lstat, ENOENT_, OK, OK, NO),
    R(statx, ENOENT_, OK, OK, NO),
    R(statfs, ENOENT_, OK, OK, NO),
    R(readlinkat, ENOENT_, OK, OK, NO),
    R(readlink, ENOENT_, OK, OK, NO),
    R(faccessat, ENOENT_, OK, OK, NO),
    R(faccessat2, ENOENT_, OK, OK, NO),
    R(access, ENOENT_, OK, OK, NO),
    R(getcwd, ENOENT_, OK, OK, NO),

    /* forking a worker, and what the worker does to itself before it takes these away */
    R(clone3, OK, NO, ENOSYS_, NO),
    R(dup3, OK, NO, OK, NO),
    R(close_range, OK, NO, OK, NO),
    R(prctl, OK, NO, NAME, NO),
    R(prlimit64, OK, NO, OWN, NO),
    R(capset, OK, NO, NO, NO),
    R(seccomp, OK, NO, NO, NO),

    /* guests: files below their own root */
    R(readv, NO, NO, OK, NO),
    R(preadv, NO, NO, OK, NO),
    R(preadv2, NO, NO, OK, NO),
    R(pwrite64, NO, NO, OK, NO),
    R(pwritev, NO, NO, OK, NO),
    R(pwritev2, NO, NO, OK, NO),
    R(lseek, NO, NO, OK, NO),
    R(getxattr, NO, NO, OK, NO),
    R(lgetxattr, NO, NO, OK, NO),
    R(fgetxattr, NO, NO, OK, NO),
    R(listxattr, NO, NO, OK, NO),
    R(llistxattr, NO, NO, OK, NO),
    R(flistxattr, NO, NO, OK, NO),
    R(fstatfs, NO, NO, OK, NO),
    R(getdents64, NO, NO, OK, NO),
    R(getdents, NO, NO, OK, NO),
    R(ftruncate, NO, NO, OK, NO),
    R(truncate, NO, NO, OK, NO),
    R(fallocate, NO, NO, OK, NO),
    R(fsync, NO, NO, OK, NO),
    R(fdatasync, NO, NO, OK, NO),
    R(fadvise64, NO, NO, OK, NO),
    R(sendfile, NO, NO, OK, NO),
    R(copy_file_range, NO, NO, OK, NO),
    R(splice, NO, NO, OK, NO),
    R(tee, NO, NO, OK, NO),
    R(flock, NO, NO, OK, NO),
    R(mkdirat, NO, NO, OK, NO),
    R(mkdir, NO, NO, OK, NO),
    R(rmdir, NO, NO, OK, NO),
    R(unlinkat, NO, NO, OK, NO),
    R(unlink, NO, NO, OK, NO),
    R(renameat2, NO, NO, OK, NO),
    R(renameat, NO, NO, OK, NO),
    R(rename, NO, NO, OK, NO),
    R(symlinkat, NO, NO, OK, NO),
    R(symlink, NO, NO, OK, NO),
    R(linkat, NO, NO, OK, NO),
    R(link, NO, NO, OK, NO),
    R(creat, NO, NO, OK, NO),
    R(fchmod, NO, NO, OK, NO),
    R(fchmodat, NO, NO, OK, NO),
    R(fchmodat2, NO, NO, ENOSYS_, NO),
    R(chmod, NO, NO, OK, NO),
    R(utimensat, NO, NO, OK, NO),
    R(utimes, NO, NO, OK, NO),
    R(utime, NO, NO, OK, NO),
    R(futimesat, NO, NO, OK, NO),
    R(chdir, NO, NO, OK, NO),
    R(fchdir, NO, NO, OK, NO),
    R(umask, NO, NO, OK, NO),
    R(openat2, NO, NO, ENOSYS_, NO),
    R(memfd_create, NO, NO, NO, NO), /* memory that no file limit counts */

    /* guests: descriptors */
    R(dup, NO, NO, OK, NO),
    R(dup2, NO, NO, OK, NO),
    R(fcntl, NO, NO, OK, NO),
    R(pipe2, NO, NO, OK, NO),
    R(pipe, NO, NO, OK, NO),
    R(socketpair, NO, NO, PAIR, NO),
    R(shutdown, NO, NO, OK, NO),
    R(getsockopt, NO, NO, OK, NO),
    R(getsockname, NO, NO, OK, NO),
    R(getpeername, NO, NO, OK, NO),
    R(eventfd2, NO, NO, OK, NO),
    R(eventfd, NO, NO, OK, NO),
    R(signalfd4, NO, NO, OK, NO),
    R(timerfd_create, NO, NO, OK, NO),
    R(timerfd_settime, NO, NO, OK, NO),
    R(timerfd_gettime, NO, NO, OK, NO),
    R(epoll_create1, NO, NO, OK, NO),
    R(epoll_create, NO, NO, OK, NO),
    R(epoll_ctl, NO, NO, OK, NO),
    R(epoll_pwait, NO, NO, OK, NO),
    R(epoll_pwait2, NO, NO, OK, NO),
    R(epoll_wait, NO, NO, OK, NO),
    R(pselect6, NO, NO, OK, NO),
    R(select, NO, NO, OK, NO),
    R(inotify_init1, NO, NO, ENOSYS_, NO),

    /* guests: processes of their own */
    R(execve, NO, NO, OK, NO),
    R(execveat, NO, NO, OK, NO),
    R(clone, NO, NO, FORK, NO),
    R(fork, NO, NO, OK, NO),
    R(vfork, NO, NO, OK, NO),
    R(wait4, NO, NO, OK, OK),
    R(waitid, NO, NO, OK, OK),
    R(kill, NO, NO, OK, OK),
    R(tkill, NO, NO, OK, NO),
    R(rt_sigpending, NO, NO, OK, NO),
    R(rt_sigtimedwait, NO, NO, OK, NO),
    R(pause, NO, NO, OK, NO),
    R(alarm, NO, NO, OK, NO),
    R(timer_create, NO, NO, OK, NO),
    R(timer_settime, NO, NO, OK, NO),
    R(timer_gettime, NO, NO, OK, NO),
    R(timer_getoverrun, NO, NO, OK, NO),
    R(timer_delete, NO, NO, OK, NO),
    R(setpgid, NO, NO, OK, NO),
    R(getpgid, NO, NO, OK, NO),
    R(getpgrp, NO, NO, OK, NO),
    R(getsid, NO, NO, OK, NO),
    R(setsid, NO, NO, OK, NO),
    R(getppid, NO, NO, OK, NO),
    R(getuid, NO, NO, OK, NO),
    R(geteuid, NO, NO, OK, NO),
    R(getgid, NO, NO, OK, NO),
    R(getegid, NO, NO, OK, NO),
    R(getresuid, NO, NO, OK, NO),
    R(getresgid, NO, NO, OK, NO),
    R(getgroups, NO, NO, OK, NO),
    R(capget, NO, NO, OK, NO),
    R(getrlimit, NO, NO, OK, NO),
    R(setrlimit, NO, NO, OK, NO),
    R(getpriority, NO, NO, OK, NO),
    R(setpriority, NO, NO, OK, NO),
    R(times, NO, NO, OK, NO),
    R(uname, NO, NO, OK, NO),
    R(getcpu, NO, NO, OK, NO),
    R(set_tid_address, NO, NO, OK, NO),
    R(set_robust_list, NO, NO, OK, NO),
    R(get_robust_list, NO, NO, OWN, NO),
    R(rseq, NO, NO, OK, NO),
    R(arch_prctl, NO, NO, OK, NO),
    R(sched_getparam, NO, NO, OK, NO),
    R(sched_getscheduler, NO, NO, OK, NO),
    R(sched_setscheduler, NO, NO, NO, NO),
    R(sched_setaffinity, NO, NO, OWN, NO),
    R(sched_get_priority_max, NO, NO, OK, NO),
    R(sched_get_priority_min, NO, NO, OK, NO),
    R(mlock, NO, NO, OK, NO), /* bounded by RLIMIT_MEMLOCK */
    R(munlock, NO, NO, OK, NO),
    R(msync, NO, NO, OK, NO),
    R(io_uring_setup, NO, NO, ENOSYS_, NO),
    R(io_uring_enter, NO, NO, ENOSYS_, NO),
    R(io_uring_register, NO, NO, ENOSYS_, NO),
};
/* clang-format on */

/*
 * Where a server differs from a guest: it may watch files, and has a network if its entry names
 * hosts. Local sockets stay away: one that lies in a directory it was given leads outside.
 */
/* clang-format off */
#define S(name, rule) {#name, SCMP_SYS(name), rule}
static const struct {
    const char *name;
    int nr;
    enum rule rule;
} server_rows[] = {
    S(inotify_init1, OK),
    S(inotify_add_watch, OK),
    S(inotify_rm_watch, OK),
    S(socket, INET),
    S(connect, NET),
    S(bind, NET),
    S(listen, NET),
    S(accept, NET),
    S(accept4, NET),
    S(setsockopt, NET),
    S(sendmmsg, NET),
    S(recvmmsg, NET),
};
/* clang-format on */

/* What a guest may ask of prctl: to read, to name, and to make things stricter for itself. */
static const int guest_prctl[] = {
    PR_SET_PDEATHSIG,    PR_GET_PDEATHSIG,       PR_GET_DUMPABLE,
    PR_SET_DUMPABLE,     PR_GET_KEEPCAPS,        PR_SET_NAME,
    PR_GET_NAME,         PR_GET_SECCOMP,         PR_CAPBSET_READ,
    PR_GET_SECUREBITS,   PR_SET_TIMERSLACK,      PR_GET_TIMERSLACK,
    PR_SET_VMA,          PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS,
    PR_GET_NO_NEW_PRIVS, PR_SET_THP_DISABLE,
};

/* ioctls that cannot inject input, reach a device or change a mount. */
static const unsigned long guest_ioctl[] = {TCGETS,  TIOCGWINSZ, FIONREAD,
                                            FIONBIO, FIOCLEX,    FIONCLEX};

#define NEW_NAMESPACES                                                                            \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | \
     CLONE_NEWNET | CLONE_PTRACE | CLONE_UNTRACED)

/* Arguments of 32 bits are compared by their lower half: the kernel ignores the upper one, so a
 * comparison of all 64 bits could be passed by. */
#define LOW(arg, value)  SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, 0xffffffffu, (scmp_datum_t)(value))
#define CLEAR(arg, bits) SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, (scmp_datum_t)(bits), 0)

static int allow_each(scmp_filter_ctx ctx, int nr, unsigned arg, const unsigned long *values,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int failure = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 1, LOW(arg, values[i]));
        if (failure)
            return failure;
    }
    return 0;
}

static int allow_random(scmp_filter_ctx ctx, int nr, const struct cs_filter_facts *facts)
{
    for (size_t i = 0; i < facts->random_count; i++) {
        int failure = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 1, LOW(0, facts->random_fds[i]));
        if (failure)
            return failure;
    }
    return 0;
}

static int allow_prctl(scmp_filter_ctx ctx, int nr)
{
    unsigned long values[CS_COUNT(guest_prctl)];
    for (size_t i = 0; i < CS_COUNT(guest_prctl); i++)
        values[i] = (unsigned)guest_prctl[i];
    return allow_each(ctx, nr, 0, values, CS_COUNT(values));
}

static int allow_inet(scmp_filter_ctx ctx, int nr, const struct cs_filter_facts *facts)
{
    static const int families[] = {AF_INET, AF_INET6};
    static const struct {
        int type, protocol;
    } kinds[] = {
        {SOCK_STREAM, 0}, {SOCK_STREAM, IPPROTO_TCP}, {SOCK_DGRAM, 0}, {SOCK_DGRAM, IPPROTO_UDP}};
    for (size_t i = 0; facts->network && i < CS_COUNT(families) * CS_COUNT(kinds); i++) {
        size_t k = i % CS_COUNT(kinds);
        int failure = seccomp_rule_add(
            ctx, SCMP_ACT_ALLOW, nr, 3, LOW(0, families[i / CS_COUNT(kinds)]),
            SCMP_CMP(1, SCMP_CMP_MASKED_EQ, 0xf, kinds[k].type), LOW(2, kinds[k].protocol));
        if (failure)
            return failure;
    }
    return 0;
}

/* size: one case for each kind of rule */
static int add(scmp_filter_ctx ctx, enum rule rule, int nr, const struct cs_filter_facts *facts)
{
    switch (rule) {
    case NO:
        return 0;
    case OK:
        return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 0);
    case KILL:
        return seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, nr, 0);
    case ENOENT_:
        return seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOENT), nr, 0);
    case ENOSYS_:
        return seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), nr, 0);
    case ENOTTY_:
        return seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOTTY), nr, 0);
    case ANON:
        return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 2, CLEAR(2, PROT_EXEC), LOW(4, -1));
    case DATA:
        return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 1, CLEAR(2, PROT_EXEC));
    case RANDOM:
        return allow_random(ctx, nr, facts);
    case NOADDR:
        return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 1, SCMP_A4(SCMP_CMP_EQ, 0));
    case OWN:
        return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 1, LOW(0, 0));
    case SELF:
        return facts->alone ? seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 1, LOW(0, 1))
                            : seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 0);
    case JIT:
        return facts->strict ? 0 : seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 0);
    case FORK:
        return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 1, CLEAR(0, NEW_NAMESPACES));
    case PAIR:
        return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 1, LOW(0, AF_UNIX));
    case TTY:
        return allow_each(ctx, nr, 1, guest_ioctl, CS_COUNT(guest_ioctl));
    case NAME:
        return allow_prctl(ctx, nr);
    case INET:
        return allow_inet(ctx, nr, facts);
    case NET:
        return facts->network ? seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 0) : 0;
    }
    return -EINVAL;
}

static uint32_t otherwise(enum cs_profile profile)
{
    switch (profile) {
    case CS_PROFILE_WORKER: /* on top of the zygote's */
        return SCMP_ACT_ALLOW;
    case CS_PROFILE_GUEST:
    case CS_PROFILE_SERVER:
        return SCMP_ACT_ERRNO(EPERM);
    case CS_PROFILE_ZYGOTE:
    case CS_PROFILE_REAPER:
        break;
    }
    return SCMP_ACT_KILL_PROCESS;
}

/* The rule of one row in one profile, as it goes into the filter. */
static enum rule rule_of(const struct row *row, enum cs_profile profile)
{
    if (profile == CS_PROFILE_SERVER) {
        for (size_t i = 0; i < CS_COUNT(server_rows); i++)
            if (server_rows[i].nr == row->nr)
                return NO; /* comes with its own table */
        return row->of[CS_PROFILE_GUEST];
    }
    if (profile != CS_PROFILE_WORKER)
        return row->of[profile];
    bool taken = row->of[CS_PROFILE_ZYGOTE] != NO && row->of[CS_PROFILE_WORKER] == NO;
    return taken ? KILL : NO;
}

static int fill(scmp_filter_ctx ctx, enum cs_profile profile, const struct cs_filter_facts *facts,
                struct cs_err *err)
{
    /* A call by another architecture's numbers (32-bit, x32) is a break-out attempt. */
    if (seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) ||
        seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0) ||
        seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2)) /* a tree: half the time to install */
        return cs_fail(err, CS_SYSTEM, "libseccomp refuses its own attributes");
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        if (rows[i].nr < 0) /* no such call on this architecture */
            continue;
        int failure = add(ctx, rule_of(&rows[i], profile), rows[i].nr, facts);
        if (failure)
            return cs_fail(err, CS_SYSTEM, "seccomp rule for %s: %s", rows[i].name,
                           strerror(-failure));
    }
    for (size_t i = 0; profile == CS_PROFILE_SERVER && i < CS_COUNT(server_rows); i++) {
        int failure =
            server_rows[i].nr < 0 ? 0 : add(ctx, server_rows[i].rule, server_rows[i].nr, facts);
        if (failure)
            return cs_fail(err, CS_SYSTEM, "seccomp rule for %s: %s", server_rows[i].name,
                           strerror(-failure));
    }
    return 0;
}

/* The program, by way of a memory file: the library writes to descriptors only. */
static int export(scmp_filter_ctx ctx, struct cs_filter *filter, struct cs_err *err)
{
    CS_AUTO_FD int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0)
        return cs_fail_errno(err, "memfd_create");
    int failure = seccomp_export_bpf(ctx, fd);
    if (failure)
        return cs_fail(err, CS_SYSTEM, "seccomp_export_bpf: %s", strerror(-failure));
    off_t size = lseek(fd, 0, SEEK_END);
    if (size <= 0 || (size_t)size % sizeof(struct sock_filter) ||
        (size_t)size / sizeof(struct sock_filter) > BPF_MAXINSNS)
        return cs_fail(err, CS_SYSTEM, "a filter of %lld bytes", (long long)size);
    CS_AUTO_FREE struct sock_filter *code = cs_calloc((size_t)size, 1);
    if (pread(fd, code, (size_t)size, 0) != size)
        return cs_fail_errno(err, "read the filter back");
    filter->len = (uint16_t)((size_t)size / sizeof *code);
    filter->code = CS_TAKE(code);
    return 0;
}

int cs_filter_make(enum cs_profile profile, const struct cs_filter_facts *facts,
                   struct cs_filter *filter, struct cs_err *err)
{
    scmp_filter_ctx ctx = seccomp_init(otherwise(profile));
    if (!ctx)
        return cs_fail(err, CS_SYSTEM, "seccomp_init");
    int r = fill(ctx, profile, facts, err);
    if (r == 0)
        r = export(ctx, filter, err);
    seccomp_release(ctx);
    return r;
}

int cs_filter_install(const struct cs_filter *filter, struct cs_err *err)
{
    struct sock_fprog program = {.len = filter->len, .filter = filter->code};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        return cs_fail_errno(err, "seccomp");
    return 0;
}

void cs_filter_done(struct cs_filter *filter)
{
    free(filter->code);
    *filter = (struct cs_filter){0};
}

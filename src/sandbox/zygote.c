#include "sandbox/zygote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/common_interface_defs.h>
#endif

#include "base/cover.h"
#include "base/own.h"
#include "sandbox/filter.h"
#include "sandbox/jail.h"
#include "sandbox/role.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

/* Descriptors below this one are ours; the engine's begin here, and stay where they are in every
 * worker, so that no number of theirs is ever reused for something else. */
#define OURS 16

/* Where the socket of a worker is. It takes the place of the control socket. */
#define WORKER_SOCK CS_ROLE_CONTROL

struct ask {
    uint32_t ticket;
};

/* As it crosses the control socket. Both ends are the same program, so a struct will do. */
struct answer {
    uint32_t kind;
    uint32_t ticket;
    uint64_t baseline_bytes;
    uint64_t baseline_rss;
    int32_t pid;
    struct cs_err err;
};

struct zygote {
    const struct cs_engine_hooks *hooks;
    struct cs_jail jail;
    struct cs_filter own;    /* for the zygote */
    struct cs_filter worker; /* on top of it, for workers */
    int random[8];           /* the engine's random devices */
    size_t random_count;
    int status; /* /proc/self/status and statm, from before /proc went away */
    int statm;
};

/* ---- the daemon's side ---- */

int cs_zygote_spawn(const struct cs_jail_options *options, struct cs_zygote *zygote,
                    struct cs_err *err)
{
    struct cs_role role;
    if (cs_role_spawn("zygote", &role, err) < 0)
        return -1;
    if (cs_role_send(role.control, options, sizeof *options, NULL, 0, err) < 0) {
        cs_role_end(&role);
        return cs_wrap(err, "the zygote");
    }
    *zygote = (struct cs_zygote){.pid = role.pid, .pidfd = role.pidfd, .control = role.control};
    return 0;
}

int cs_zygote_ask(struct cs_zygote *zygote, uint32_t ticket, int sock, struct cs_err *err)
{
    struct ask ask = {.ticket = ticket};
    return cs_role_send(zygote->control, &ask, sizeof ask, &sock, 1, err);
}

int cs_zygote_reply(struct cs_zygote *zygote, struct cs_zygote_reply *reply, struct cs_err *err)
{
    struct answer a;
    int pidfd = -1;
    size_t count = 1;
    int r = cs_role_recv(zygote->control, &a, sizeof a, &pidfd, &count, err);
    if (r <= 0)
        return r < 0 ? cs_wrap(err, "the zygote") : 0;
    if (count == 0)
        pidfd = -1;
    if (a.kind > CS_ZYGOTE_FAILED || (a.kind == CS_ZYGOTE_FORKED) != (pidfd >= 0)) {
        cs_closep(&pidfd);
        return cs_fail(err, CS_BUG, "the zygote answers with kind %u", a.kind);
    }
    *reply = (struct cs_zygote_reply){.ticket = a.ticket,
                                      .baseline_bytes = a.baseline_bytes,
                                      .baseline_rss = a.baseline_rss,
                                      .pid = a.pid,
                                      .pidfd = pidfd,
                                      .err = a.err};
    reply->kind = a.kind;
    reply->err.msg[sizeof reply->err.msg - 1] = '\0';
    return 1;
}

void cs_zygote_close(struct cs_zygote *zygote)
{
    struct cs_role role = {.pid = zygote->pid, .pidfd = zygote->pidfd, .control = zygote->control};
    cs_role_end(&role);
    *zygote = (struct cs_zygote){.pidfd = -1, .control = -1};
}

int cs_worker_bound(pid_t pid, uint64_t bytes, uint32_t host_uid, struct cs_err *err)
{
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    if (prlimit(pid, RLIMIT_AS, &limit, NULL) == 0)
        return 0;
    if (errno != EPERM || geteuid() != 0)
        return cs_fail_errno(err, "limit the address space of %d", (int)pid);
    /* The raw calls concern this thread only. Its effective ids, which every other check goes by,
     * stay root's throughout, so the way back cannot be refused. */
    int r = -1, sys = EPERM;
    if (syscall(SYS_setresgid, host_uid, -1, -1) == 0 &&
        syscall(SYS_setresuid, host_uid, -1, -1) == 0) {
        r = prlimit(pid, RLIMIT_AS, &limit, NULL);
        sys = errno;
    }
    if (syscall(SYS_setresuid, 0, -1, -1) < 0 || syscall(SYS_setresgid, 0, -1, -1) < 0)
        abort(); /* not who we were: there is nothing sensible left to do */
    if (r < 0) {
        errno = sys;
        return cs_fail_errno(err, "limit the address space of %d", (int)pid);
    }
    return 0;
}

/* ---- the one fork ---- */

pid_t cs_jail_fork(uint64_t flags, int *pidfd)
{
    struct clone_args args = {.flags = flags};
    int fd = -1;
    if (pidfd) {
        args.flags |= CLONE_PIDFD;
        args.pidfd = (uint64_t)(uintptr_t)&fd;
    }
    if (!(flags & CLONE_PARENT)) /* else it is the parent's own exit signal */
        args.exit_signal = SIGCHLD;
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (pid > 0 && pidfd)
        *pidfd = fd;
    return pid;
}

/* ---- the zygote's side ---- */

static void answer(const struct answer *a, int pidfd)
{
    struct cs_err ignored; /* if the daemon is gone, so are we, in a moment */
    cs_role_send(CS_ROLE_CONTROL, a, sizeof *a, &pidfd, pidfd >= 0 ? 1 : 0, &ignored);
}

static void answer_failed(uint32_t ticket, const struct cs_err *err)
{
    struct answer a = {.kind = CS_ZYGOTE_FAILED, .ticket = ticket, .err = *err};
    answer(&a, -1);
}

/* Fills the numbers below OURS, so that what the engine opens comes to lie above them. */
static int reserve(struct cs_err *err)
{
    for (;;) {
        int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (fd < 0)
            return cs_fail_errno(err, "/dev/null");
        if (fd >= OURS) {
            close(fd);
            return 0;
        }
    }
}

static int cover(int fd, int with, struct cs_err *err)
{
    if (dup3(with, fd, O_CLOEXEC) < 0)
        return cs_fail_errno(err, "replace descriptor %d", fd);
    return 0;
}

/* Puts a frozen copy of what can be read from `fd` now in its place. */
static int freeze(int fd, struct cs_err *err)
{
    char text[256];
    ssize_t n = pread(fd, text, sizeof text, 0);
    CS_AUTO_FD int copy = memfd_create("frozen", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (n < 0 || copy < 0 || write(copy, text, (size_t)n) != n ||
        fcntl(copy, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
        return cs_fail_errno(err, "freeze descriptor %d", fd);
    return cover(fd, copy, err);
}

/*
 * Decides about one descriptor that the engine holds. They are inherited by every worker, so none
 * may carry a message from one to another or tell anything about this machine: the wake-up event
 * becomes /dev/null, statm a frozen copy. One that is not understood stops the start.
 */
static int settle(struct zygote *z, int fd, int null, struct cs_err *err)
{
    char link[64], target[128];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, target, sizeof target - 1);
    if (n < 0)
        return cs_fail_errno(err, "%s", link);
    target[n] = '\0';

    struct stat st;
    if (fstat(fd, &st) < 0)
        return cs_fail_errno(err, "%s", target);
    if (S_ISCHR(st.st_mode) && major(st.st_rdev) == 1) { /* the memory devices */
        bool random = minor(st.st_rdev) == 8 || minor(st.st_rdev) == 9;
        if (random && z->random_count < CS_COUNT(z->random)) {
            z->random[z->random_count++] = fd;
            return 0;
        }
        if (minor(st.st_rdev) == 3)
            return 0;
    }
    if (strcmp(target, "anon_inode:[eventfd]") == 0)
        return cover(fd, null, err);
    size_t len = strlen(target);
    if (strncmp(target, "/proc/", 6) == 0 && len > 6 && strcmp(target + len - 6, "/statm") == 0)
        return freeze(fd, err);
    return cs_fail(err, CS_DENIED,
                   "the engine holds %s (descriptor %d), which workers must not get", target, fd);
}

static int settle_descriptors(struct zygote *z, struct cs_err *err)
{
    CS_AUTO_FD int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return cs_fail_errno(err, "/dev/null");
    int fds[64];
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return cs_fail_errno(err, "/proc/self/fd");
    for (struct dirent *e; (e = readdir(dir));) {
        int fd = (int)strtol(e->d_name, NULL, 10);
        if (fd < OURS || fd == dirfd(dir) || fd == null)
            continue;
        if (count == CS_COUNT(fds)) {
            closedir(dir);
            return cs_fail(err, CS_DENIED, "the engine holds too many descriptors");
        }
        fds[count++] = fd;
    }
    closedir(dir);
    for (size_t i = 0; i < count; i++)
        if (settle(z, fds[i], null, err) < 0)
            return -1;
    if (close_range(CS_ROLE_CONTROL + 1, OURS - 1, 0) < 0)
        return cs_fail_errno(err, "close_range");
    return 0;
}

/* A thread that forking does not copy may hold a lock for ever: measured, and then workers spin. */
static int check_threads(int status, struct cs_err *err)
{
    char text[4096];
    ssize_t n = pread(status, text, sizeof text - 1, 0);
    if (n <= 0)
        return cs_fail_errno(err, "/proc/self/status");
    text[n] = '\0';
    const char *at = strstr(text, "\nThreads:");
    long threads = at ? strtol(at + 9, NULL, 10) : 0;
    if (threads != 1)
        return cs_fail(
            err, CS_DENIED,
            "the engine has %ld threads, and only a process with one can be forked safely",
            threads);
    return 0;
}

/* In the strict profile nothing may be writable and executable, not even before the filter. */
static int check_no_jit(struct cs_err *err)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return cs_fail_errno(err, "/proc/self/maps");
    char line[512];
    bool bad = false;
    while (!bad && fgets(line, sizeof line, maps)) {
        const char *rights = strchr(line, ' ');
        bad = rights && rights[2] == 'w' && rights[3] == 'x';
    }
    fclose(maps);
    if (bad)
        return cs_fail(
            err, CS_DENIED,
            "the engine has writable and executable memory, although it was started without JIT");
    return 0;
}

static int measure(int statm, struct answer *hello, struct cs_err *err)
{
    char text[128];
    ssize_t n = pread(statm, text, sizeof text - 1, 0);
    if (n <= 0)
        return cs_fail_errno(err, "/proc/self/statm");
    text[n] = '\0';
    char *at = text;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    hello->baseline_bytes = strtoull(at, &at, 10) * page;
    hello->baseline_rss = strtoull(at, NULL, 10) * page;
    return 0;
}

/* A child of ours runs a program of ours, before there is a jail that could be in its way. */
static int rehearse(struct zygote *z, struct cs_err *err)
{
    int ends[2];
    if (!z->hooks->rehearse || z->jail.options.brief)
        return 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return cs_fail_errno(err, "pipe");
    CS_AUTO_FD int in = ends[0];
    CS_AUTO_FD int out = ends[1];
    pid_t pid = cs_jail_fork(0, NULL);
    if (pid == 0)
        z->hooks->rehearse(out);
    if (pid < 0)
        return cs_fail_errno(err, "fork");
    cs_closep(&out);
    z->hooks->learn(in);
    siginfo_t info;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED) < 0 && errno == EINTR)
        ;
    return 0;
}

/* Everything that needs files, while there still are some: the engine, and what comes of it. */
static int prepare(struct zygote *z, struct cs_err *err)
{
    bool strict = z->jail.options.no_jit;
    if (reserve(err) < 0)
        return -1;
    if (z->hooks->warm(strict, err) < 0)
        return cs_wrap(err, "the engine");
    if (z->hooks->polish && !z->jail.options.brief && z->hooks->polish(err) < 0)
        return cs_wrap(err, "the engine");
    if (settle_descriptors(z, err) < 0)
        return -1;
    if (strict && check_no_jit(err) < 0)
        return -1;
    z->status = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    z->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (z->status < 0 || z->statm < 0)
        return cs_fail_errno(err, "/proc/self");
    struct cs_filter_facts facts = {.random_fds = z->random,
                                    .random_count = z->random_count,
                                    .strict = strict,
                                    .alone = cs_jail_has(&z->jail, CS_WALL_PIDNS)};
    if (cs_filter_make(CS_PROFILE_ZYGOTE, &facts, &z->own, err) < 0)
        return -1;
    if (cs_filter_make(CS_PROFILE_WORKER, &facts, &z->worker, err) < 0)
        return -1;
    return rehearse(z, err);
}

static int install(struct cs_jail *jail, const struct cs_filter *filter, struct cs_err *err)
{
    if (cs_jail_off(jail) || !cs_jail_has(jail, CS_WALL_SECCOMP))
        return 0;
    struct cs_err why = {0};
    if (cs_filter_install(filter, &why) < 0)
        return cs_jail_missing(jail, CS_WALL_SECCOMP, why.sys, "seccomp", err);
    return 0;
}

/* The doors fall shut, one after the other. What is kept is CAP_SYS_ADMIN in our own user
 * namespace, which a pid namespace for the worker needs; the worker drops it. */
static int close_jail(struct zygote *z, struct answer *hello, struct cs_err *err)
{
    struct cs_jail *jail = &z->jail;
    uint64_t keep = 1ull << CAP_SYS_ADMIN;
    if (cs_jail_empty_root(jail, err) < 0 || cs_jail_rename(jail, err) < 0 ||
        cs_jail_rlimits(jail, NULL, err) < 0)
        return -1;
    if (!cs_jail_off(jail) && cs_jail_drop(keep, err) < 0)
        return -1;
    if (cs_jail_seal(jail, err) < 0 || cs_jail_fence(jail, CS_FENCE_NOTHING, NULL, 0, err) < 0)
        return -1;
    if (jail->options.no_jit && !cs_jail_off(jail)) /* older kernels leave this to the filter */
        prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
    if (check_threads(z->status, err) < 0 || measure(z->statm, hello, err) < 0)
        return -1;
    cs_closep(&z->status);
    cs_closep(&z->statm);
    return install(jail, &z->own, err);
}

static int close_worker(struct zygote *z, struct cs_err *err)
{
    struct cs_jail *jail = &z->jail;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) /* dies with the daemon, its real parent */
        return cs_fail_errno(err, "PR_SET_PDEATHSIG");
    prctl(PR_SET_NAME, "caisson:worker");
    if (cs_jail_off(jail))
        return 0;
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_NPROC, &none) < 0)
        return cs_fail_errno(err, "RLIMIT_NPROC");
    /* A user namespace of its own came with all capabilities in it, in all sets. */
    return jail->options.full ? cs_jail_drop(0, err) : cs_jail_uncap(0, err);
}

/* In the new process. Says what went wrong while it still can. */
static void __attribute__((noreturn)) become_worker(struct zygote *z, uint32_t ticket, int sock)
{
    struct cs_err err = {0};
    if (close_worker(z, &err) < 0) {
        answer_failed(ticket, &err);
        _exit(124);
    }
    if (dup3(sock, WORKER_SOCK, O_CLOEXEC) < 0 || close_range(WORKER_SOCK + 1, OURS - 1, 0) < 0 ||
        install(&z->jail, &z->worker, &err) < 0)
        _exit(124);
    z->hooks->serve(WORKER_SOCK);
}

static uint64_t worker_flags(const struct cs_jail *jail)
{
    if (cs_jail_off(jail))
        return CLONE_PARENT;
    uint32_t walls = 1u << CS_WALL_PIDNS;
    if (jail->options.full)
        walls |= CS_JAIL_ENTERED | 1u << CS_WALL_CGROUPNS;
    return CLONE_PARENT | cs_jail_namespaces(walls & ~jail->missing);
}

static void serve_ask(struct zygote *z, uint32_t ticket, int sock)
{
    CS_AUTO_FD int pidfd = -1;
    pid_t pid = cs_jail_fork(worker_flags(&z->jail), &pidfd);
    if (pid == 0)
        become_worker(z, ticket, sock);
    if (pid < 0) {
        struct cs_err err = {0};
        cs_fail_errno(&err, "fork a worker");
        answer_failed(ticket, &err);
        return;
    }
    struct answer a = {.kind = CS_ZYGOTE_FORKED, .ticket = ticket, .pid = pid};
    answer(&a, pidfd);
}

/* A pid namespace is only made with the first worker; whether that works is known before. */
static int try_pid_namespace(struct zygote *z, struct cs_err *err)
{
    if (cs_jail_off(&z->jail))
        return 0;
    int pidfd = -1;
    pid_t pid = cs_jail_fork(CLONE_NEWPID, &pidfd);
    if (pid == 0)
        _exit(0);
    if (pid < 0)
        return cs_jail_missing(&z->jail, CS_WALL_PIDNS, errno, "clone3", err);
    siginfo_t info;
    close(pidfd);
    while (waitid(P_PID, (id_t)pid, &info, WEXITED) < 0 && errno == EINTR)
        ;
    return 0;
}

static int start(struct zygote *z, struct answer *hello, struct cs_err *err)
{
    int r =
        cs_role_recv(CS_ROLE_CONTROL, &z->jail.options, sizeof z->jail.options, NULL, NULL, err);
    if (r < 0)
        return -1;
    if (cs_jail_enter(&z->jail, CS_JAIL_ENTERED | 1u << CS_WALL_CGROUPNS, err) < 0)
        return -1;
    if (try_pid_namespace(z, err) < 0)
        return -1;
    if (prepare(z, err) < 0)
        return -1;
    return close_jail(z, hello, err);
}

int cs_zygote_main(const struct cs_engine_hooks *hooks)
{
    struct zygote z = {.hooks = hooks, .status = -1, .statm = -1};
    struct answer hello = {.kind = CS_ZYGOTE_HELLO};
    struct cs_err err = {0};
    prctl(PR_SET_NAME, "caisson:zygote");
#ifdef __SANITIZE_THREAD__
    __sanitizer_sandbox_on_notify(NULL); /* ends its background thread */
#endif
    if (start(&z, &hello, &err) < 0) {
        answer_failed(0, &err);
        _exit(1);
    }
    answer(&hello, -1);
    for (;;) {
        struct ask ask;
        int sock = -1;
        size_t count = 1;
        if (cs_role_recv(CS_ROLE_CONTROL, &ask, sizeof ask, &sock, &count, &err) <= 0)
            _exit(0); /* the daemon let go */
        if (count == 1)
            serve_ask(&z, ask.ticket, sock);
        if (count == 1)
            close(sock);
        cs_cover_save();
    }
}

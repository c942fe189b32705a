/*
 * The probe: builds each wall for real in a process of its own, and looks whether it keeps out what
 * it is there to keep out. What ends a process (a filter, a fence) is tried in a child.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cover.h"
#include "base/own.h"
#include "sandbox/cage.h"
#include "sandbox/filter.h"
#include "sandbox/jail.h"
#include "sandbox/role.h"

/* Ids that own nothing on most machines; the second for containers that have few. */
static const uint32_t ids[] = {1999999999, 65533};

struct probe {
    const struct cs_engine_hooks *hooks;
    struct cs_jail jail;
    struct cs_wall_state states[CS_WALL_COUNT];
    ino_t before[CS_WALL_COUNT]; /* the namespaces we came from */
};

static void holds(struct probe *p, enum cs_wall wall, const char *how)
{
    p->states[wall].holds = true;
    p->states[wall].remedy[0] = '\0';
    snprintf(p->states[wall].how, sizeof p->states[wall].how, "%s", how);
}

static void fails(struct probe *p, enum cs_wall wall, const char *how, int sys)
{
    p->states[wall].holds = false;
    if (sys)
        snprintf(p->states[wall].how, sizeof p->states[wall].how, "%s: %s", how, strerror(sys));
    else
        snprintf(p->states[wall].how, sizeof p->states[wall].how, "%s", how);
    snprintf(p->states[wall].remedy, sizeof p->states[wall].remedy, "%s",
             cs_wall_remedy(wall, sys));
}

/* Runs `act` in a child; returns what waitid says about it. */
static siginfo_t in_child(struct probe *p, uint64_t flags, int (*act)(struct probe *p))
{
    siginfo_t info = {0};
    int pidfd = -1;
    pid_t pid = cs_jail_fork(flags, &pidfd);
    if (pid == 0)
        _exit(act(p));
    if (pid < 0) {
        info.si_errno = errno;
        return info;
    }
    while (waitid(P_PID, (id_t)pid, &info, WEXITED) < 0 && errno == EINTR)
        ;
    close(pidfd);
    return info;
}

static bool went_well(const siginfo_t *info)
{
    return info->si_code == CLD_EXITED && info->si_status == 0;
}

/* ---- limits: a small tree in a cage, before we give up the rights to make one ---- */

struct trial {
    pid_t pid;
    int pidfd;
    int start; /* a byte here lets it go */
    int report;
};

/* Forks until it is refused, and says how often it was not; then touches memory until it dies. */
static void __attribute__((noreturn)) misbehave(int start, int report)
{
    char byte;
    unsigned char forked = 0;
    if (read(start, &byte, 1) != 1)
        _exit(0);
    for (; forked < 16; forked++) {
        pid_t pid = cs_jail_fork(0, NULL);
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
        if (pid < 0)
            break;
    }
    if (write(report, &forked, 1) != 1)
        _exit(0);
    for (int i = 0; i < 160; i++) {
        char *at = mmap(NULL, 1u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            break;
        memset(at, 1, 1u << 20);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* for who only looks at times */
    }
    _exit(0);
}

static void __attribute__((noreturn)) spin(int start, int report)
{
    char byte;
    (void)report;
    if (read(start, &byte, 1) != 1)
        _exit(0);
    for (volatile int i = 0;; i++)
        ;
}

static bool begin(struct trial *t, void (*act)(int start, int report))
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        return false;
    t->pidfd = -1;
    t->pid = cs_jail_fork(0, &t->pidfd);
    if (t->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(in[1]);
        close(out[0]);
        act(in[0], out[1]);
    }
    close(in[0]);
    close(out[1]);
    t->start = in[1];
    t->report = out[0];
    return t->pid > 0;
}

static void finish(struct trial *t, struct cs_cage *cage)
{
    siginfo_t info;
    kill(t->pid, SIGKILL);
    while (waitid(P_PID, (id_t)t->pid, &info, WEXITED) < 0 && errno == EINTR)
        ;
    close(t->pidfd);
    close(t->start);
    close(t->report);
    for (int i = 0; i < 500 && !cs_cage_remove(cage); i++)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* Lets the trial run in a cage for at most `ms`, or until it is dead. */
static bool run_caged(struct cs_cages *cages, struct trial *t, const struct cs_limits *limits,
                      int ms, struct cs_usage *usage, struct cs_cage **cage)
{
    struct cs_err err;
    if (cs_cage_make(cages, cage, &err) < 0)
        return false;
    if (cs_cage_join(*cage, t->pid, t->pidfd, &err) < 0 ||
        cs_cage_set(*cage, limits, 0, &err) < 0 || write(t->start, "", 1) != 1)
        return true;
    for (int i = 0; i < ms; i += 10) {
        siginfo_t info = {0};
        cs_cage_tick(*cage, usage);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        if (waitid(P_PID, (id_t)t->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid)
            break;
    }
    cs_cage_read(*cage, usage);
    return true;
}

static const char *means_text(enum cs_means means)
{
    return means == CS_BY_CGROUP2   ? "control groups, version 2"
           : means == CS_BY_CGROUP1 ? "control groups, version 1"
                                    : "polling";
}

static void judge(struct probe *p, enum cs_wall wall, bool held, enum cs_means means)
{
    if (!held) {
        fails(p, wall, "the limit was passed", 0);
        return;
    }
    holds(p, wall, means_text(means));
    if (means == CS_BY_POLLING)
        snprintf(p->states[wall].remedy, sizeof p->states[wall].remedy,
                 "it holds, but coarsely; to have the kernel do it: %s", cs_wall_remedy(wall, 0));
}

static void try_limits(struct probe *p)
{
    struct cs_cages *cages = NULL;
    struct cs_err err = {0};
    struct cs_cage *cage = NULL;
    struct trial t;
    struct cs_usage usage = {0};
    struct cs_limits limits = cs_limits_default();
    limits.memory = 64u << 20;
    limits.processes = 6;
    if (cs_cages_open(false, &cages, &err) < 0)
        return;
    if (begin(&t, misbehave) && run_caged(cages, &t, &limits, 2000, &usage, &cage)) {
        unsigned char forked = 16;
        ssize_t n = read(t.report, &forked, 1);
        judge(p, CS_WALL_MEMORY, usage.memory_hit, cs_cages_memory(cages));
        if (cs_cages_pids(cages) == CS_BY_POLLING)
            holds(p, CS_WALL_PIDS, "rlimits"); /* per user namespace; see try_process_limit */
        else
            judge(p, CS_WALL_PIDS, n == 1 && forked < 8, cs_cages_pids(cages));
        finish(&t, cage);
    }
    usage = (struct cs_usage){0};
    limits = cs_limits_default();
    limits.cpu = 20;
    limits.cpu_burst = 20;
    if (begin(&t, spin) && run_caged(cages, &t, &limits, 400, &usage, &cage)) {
        judge(p, CS_WALL_CPU, usage.cpu_us > 0 && usage.cpu_us < 240000, cs_cages_cpu(cages));
        finish(&t, cage);
    }
    cs_cages_free(cages);
}

/* ---- namespaces ---- */

static const struct {
    enum cs_wall wall;
    const char *file;
} kinds[] = {
    {CS_WALL_USERNS, "/proc/self/ns/user"}, {CS_WALL_MOUNTNS, "/proc/self/ns/mnt"},
    {CS_WALL_NETNS, "/proc/self/ns/net"},   {CS_WALL_IPCNS, "/proc/self/ns/ipc"},
    {CS_WALL_UTSNS, "/proc/self/ns/uts"},   {CS_WALL_CGROUPNS, "/proc/self/ns/cgroup"},
};

static ino_t number_of(const char *file)
{
    struct stat st;
    return stat(file, &st) == 0 ? st.st_ino : 0;
}

static int enter(struct probe *p, struct cs_err *err)
{
    uint32_t all = CS_JAIL_ENTERED | 1u << CS_WALL_CGROUPNS;
    for (size_t i = 0; i < CS_COUNT(kinds); i++)
        p->before[kinds[i].wall] = number_of(kinds[i].file);
    p->jail.options.allow_weak = ~0u;
    for (size_t i = 0; i < CS_COUNT(ids); i++) {
        p->jail.options.host_uid = ids[i];
        if (cs_jail_enter(&p->jail, all, err) == 0)
            break;
        if (i + 1 == CS_COUNT(ids) || err->sys != EINVAL)
            return -1;
    }
    for (size_t i = 0; i < CS_COUNT(kinds); i++) {
        enum cs_wall wall = kinds[i].wall;
        ino_t now = number_of(kinds[i].file);
        if (!cs_jail_has(&p->jail, wall))
            fails(p, wall, "the kernel refuses", p->jail.why[wall]);
        else if (now == 0 || now == p->before[wall])
            fails(p, wall, "there is none", 0);
        else
            holds(p, wall, "its own");
    }
    return 0;
}

/* Our own loopback is down, and there is nothing else. */
static void try_network(struct probe *p)
{
    if (!p->states[CS_WALL_NETNS].holds)
        return;
    CS_AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0)
        return; /* not even a socket */
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 || errno != ENETUNREACH)
        fails(p, CS_WALL_NETNS, "loopback can be reached", 0);
}

static int is_first(struct probe *p)
{
    (void)p;
    return getpid() == 1 ? 0 : 1;
}

static void try_pid_namespace(struct probe *p)
{
    siginfo_t info = in_child(p, CLONE_NEWPID, is_first);
    if (went_well(&info))
        holds(p, CS_WALL_PIDNS, "its own");
    else
        fails(p, CS_WALL_PIDNS, "the kernel refuses", info.si_errno);
}

/* ---- what binds a process to itself ---- */

static int deny_all(struct probe *p)
{
    struct cs_err err;
    if (cs_jail_seal(&p->jail, &err) < 0 ||
        cs_jail_fence(&p->jail, CS_FENCE_NOTHING, NULL, 0, &err) < 0)
        return 1;
    return open("/proc/self/status", O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES ? 0 : 2;
}

static void try_landlock(struct probe *p)
{
    char how[48];
    int abi = cs_jail_landlock_abi();
    siginfo_t info = {0};
    if (abi > 0)
        info = in_child(p, 0, deny_all);
    snprintf(how, sizeof how, "Landlock version %d", abi);
    if (abi > 0 && went_well(&info))
        holds(p, CS_WALL_LANDLOCK, how);
    else
        fails(p, CS_WALL_LANDLOCK, abi > 0 ? "it does not refuse" : "the kernel has none", 0);
}

static int break_filter(struct probe *p)
{
    struct cs_filter_facts facts = {0};
    struct cs_filter filter;
    struct cs_err err;
    if (cs_jail_seal(&p->jail, &err) < 0 ||
        cs_filter_make(CS_PROFILE_ZYGOTE, &facts, &filter, &err) < 0 ||
        cs_filter_install(&filter, &err) < 0)
        return 1;
    if (open("/proc/self/status", O_RDONLY | O_CLOEXEC) >= 0)
        return 2;
    socket(AF_INET, SOCK_STREAM, 0); /* the end of this process */
    return 3;
}

static void try_filter(struct probe *p)
{
    siginfo_t info = in_child(p, 0, break_filter);
    bool killed = info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
    if (killed && info.si_status == SIGSYS)
        holds(p, CS_WALL_SECCOMP, "a forbidden call ends the process");
    else
        fails(p, CS_WALL_SECCOMP, "a forbidden call does not end the process", info.si_errno);
}

static int keep_privileges(struct probe *p)
{
    struct cs_err err;
    return cs_jail_seal(&p->jail, &err) == 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 1;
}

static void try_no_new_privileges(struct probe *p)
{
    siginfo_t info = in_child(p, 0, keep_privileges);
    if (went_well(&info))
        holds(p, CS_WALL_NNP, "set, and cannot be unset");
    else
        fails(p, CS_WALL_NNP, "it cannot be set", info.si_errno);
}

/* Only where no control group does it: RLIMIT_NPROC counts per user namespace. */
static int fork_beyond(struct probe *p)
{
    struct rlimit two = {2, 2};
    struct cs_err err;
    if (cs_jail_drop(0, &err) < 0 || setrlimit(RLIMIT_NPROC, &two) < 0)
        return 1;
    for (int i = 0; i < 4; i++) {
        siginfo_t info = in_child(p, 0, is_first);
        if (info.si_errno == EAGAIN)
            return 0;
        pid_t pid = cs_jail_fork(0, NULL);
        if (pid < 0)
            return errno == EAGAIN ? 0 : 2;
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
    }
    return 3;
}

static void try_process_limit(struct probe *p)
{
    if (!p->states[CS_WALL_PIDS].holds || strcmp(p->states[CS_WALL_PIDS].how, "rlimits") != 0)
        return;
    siginfo_t info =
        in_child(p, cs_jail_has(&p->jail, CS_WALL_PIDNS) ? CLONE_NEWPID : 0, fork_beyond);
    if (went_well(&info))
        snprintf(p->states[CS_WALL_PIDS].remedy, sizeof p->states[CS_WALL_PIDS].remedy,
                 "it holds; to have control groups do it as well: %s",
                 cs_wall_remedy(CS_WALL_PIDS, 0));
    else
        fails(p, CS_WALL_PIDS, "more processes than allowed were started", info.si_errno);
}

/* ---- the engine ---- */

static int start_engine(struct probe *p)
{
    struct cs_err err;
    char text[4096];
    if (p->hooks->warm(false, &err) < 0)
        return 1;
    CS_AUTO_FD int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (n <= 0)
        return 2;
    text[n] = '\0';
    const char *at = strstr(text, "\nThreads:");
    return at && strtol(at + 9, NULL, 10) == 1 ? 0 : 3;
}

static void try_engine(struct probe *p)
{
    if (!dlsym(RTLD_DEFAULT, "_ZN3WTF20fastDisableScavengerEv")) {
        fails(p, CS_WALL_ENGINE, "its memory thread cannot be stopped", 0);
        return;
    }
    siginfo_t info = in_child(p, 0, start_engine);
    if (went_well(&info))
        holds(p, CS_WALL_ENGINE, "JavaScriptCore, one thread");
    else
        fails(p, CS_WALL_ENGINE,
              info.si_code == CLD_EXITED && info.si_status == 3 ? "it has more than one thread"
                                                                : "it does not start",
              info.si_errno);
}

/* ---- the empty root, last: there is no way back ---- */

static void try_root(struct probe *p)
{
    struct cs_err err;
    if (!p->states[CS_WALL_MOUNTNS].holds)
        return;
    if (cs_jail_empty_root(&p->jail, &err) < 0 || !cs_jail_has(&p->jail, CS_WALL_MOUNTNS)) {
        fails(p, CS_WALL_MOUNTNS, "an empty root cannot be mounted", p->jail.why[CS_WALL_MOUNTNS]);
        return;
    }
    int entries = 0;
    DIR *dir = opendir("/");
    for (struct dirent *e; dir && (e = readdir(dir));)
        entries += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    bool writable = mkdir("/x", 0700) == 0;
    if (entries > 0 || writable)
        fails(p, CS_WALL_MOUNTNS, "the root is not empty", 0);
    else
        holds(p, CS_WALL_MOUNTNS, "its own, with an empty root");
}

static void try_name(struct probe *p)
{
    char name[64] = "";
    struct cs_err err;
    if (!p->states[CS_WALL_UTSNS].holds)
        return;
    if (cs_jail_rename(&p->jail, &err) < 0 || gethostname(name, sizeof name - 1) < 0 ||
        strcmp(name, "caisson") != 0)
        fails(p, CS_WALL_UTSNS, "the host name stays", p->jail.why[CS_WALL_UTSNS]);
}

int cs_walls_main(const struct cs_engine_hooks *hooks)
{
    struct probe p = {.hooks = hooks};
    struct cs_err err = {0};
    prctl(PR_SET_NAME, "caisson:probe");
    for (unsigned i = 0; i < CS_WALL_COUNT; i++)
        fails(&p, (enum cs_wall)i, "it was not tried", 0);
    try_limits(&p);
    if (enter(&p, &err) < 0)
        fails(&p, CS_WALL_USERNS, err.msg, 0);
    try_network(&p);
    try_pid_namespace(&p);
    try_landlock(&p);
    try_filter(&p);
    try_no_new_privileges(&p);
    try_process_limit(&p);
    try_engine(&p);
    try_name(&p);
    try_root(&p);
    cs_cover_save();
    cs_role_send(CS_ROLE_CONTROL, p.states, sizeof p.states, NULL, 0, &err);
    _exit(0);
}

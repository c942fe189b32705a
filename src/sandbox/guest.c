#include "sandbox/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cover.h"
#include "base/own.h"
#include "sandbox/filter.h"
#include "sandbox/guest_root.h"
#include "sandbox/guest_server.h"
#include "sandbox/jail.h"
#include "sandbox/role.h"
#include "sandbox/wire.h"

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

/* The scripts in guest/ know these by number. */
_Static_assert(CS_MSG_CALL == 7 && CS_MSG_RESULT == 9 && CS_MSG_LOG == 10 &&
                   CS_MSG_PROGRESS == 11 && CS_MSG_DONE == 12 && CS_WIRE_VERSION == 3 &&
                   sizeof(struct cs_frame_head) == 24,
               "guest/caisson.py and guest/driver.js speak another protocol");

/* Inputs up to this size are also in the environment of a shell. */
#define INPUTS_IN_ENVIRONMENT (64u << 10)

/* The largest file that a server may write. */
#define SERVER_FILE_BYTES (16ull << 30)

/* Where the bridge is inside. */
#define BRIDGE 3

/* ---- messages ---- */

enum { WITH_MCP_SERVERS = 1, WITH_SKILLS = 2 };

struct order {
    struct cs_jail_options jail;
    uint32_t language;
    uint32_t directories;
    struct cs_limits limits;
};

/* The descriptors of an order, in this order; then the directories. */
enum { FD_BRIDGE, FD_OUT, FD_ERR, FD_SOURCE, FD_INPUTS, FD_STATE, FD_COUNT };

struct answer {
    uint32_t kind;
    int32_t pid;
    int32_t status;
    struct cs_err err;
};

struct go {
    uint32_t go;
};

/* ---- the daemon's side ---- */

static int memory_file(const char *name, struct cs_str bytes, struct cs_err *err)
{
    CS_AUTO_FD int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return cs_fail_errno(err, "memfd_create");
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.at, bytes.len);
        if (n < 0)
            return cs_fail_errno(err, "copy the %s", name);
        bytes.at += n;
        bytes.len -= (size_t)n;
    }
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
        return cs_fail_errno(err, "seal the %s", name);
    return CS_TAKE_FD(fd);
}

static int unblock(int fd)
{
    return fcntl(fd, F_SETFL, O_NONBLOCK);
}

/* The channels of a guest: `fds` are its ends, those in `guest` ours. */
static int make_channels(bool server, int fds[FD_COUNT], struct cs_guest *guest, struct cs_err *err)
{
    int pair[2];
    if (server ? pipe2(pair, O_CLOEXEC)
               : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return cs_fail_errno(err, "make a channel");
    guest->bridge = pair[server];
    fds[FD_BRIDGE] = pair[!server];
    /* Pipes, never files: a file can be truncated, and shows its path in /proc/self/fd. */
    if (pipe2(pair, O_CLOEXEC) < 0)
        return cs_fail_errno(err, "pipe");
    guest->out = pair[0];
    fds[FD_OUT] = pair[1];
    if (pipe2(pair, O_CLOEXEC) < 0)
        return cs_fail_errno(err, "pipe");
    guest->err = pair[0];
    fds[FD_ERR] = pair[1];
    if (unblock(guest->bridge) < 0 || unblock(guest->out) < 0 || unblock(guest->err) < 0)
        return cs_fail_errno(err, "fcntl");
    return 0;
}

static int send_order(const struct cs_guest_spec *spec, struct cs_guest *guest,
                      int fds[CS_ROLE_FDS], struct cs_err *err)
{
    struct order order = {
        .jail = spec->jail, .language = (uint32_t)spec->language, .limits = spec->limits};
    size_t count = FD_COUNT;
    if (spec->mcp_servers >= 0) {
        order.directories |= WITH_MCP_SERVERS;
        fds[count++] = spec->mcp_servers;
    }
    if (spec->skills >= 0) {
        order.directories |= WITH_SKILLS;
        fds[count++] = spec->skills;
    }
    return cs_role_send(guest->control, &order, sizeof order, fds, count, err);
}

static int spawn(const struct cs_guest_spec *spec, struct cs_guest *guest, int fds[CS_ROLE_FDS],
                 struct cs_err *err)
{
    if (make_channels(spec->language == CS_GUEST_SERVER, fds, guest, err) < 0)
        return -1;
    fds[FD_SOURCE] = memory_file("program", spec->source, err);
    if (fds[FD_SOURCE] < 0)
        return -1;
    struct cs_str inputs = spec->inputs.len ? spec->inputs : CS_STR("{}");
    fds[FD_INPUTS] = memory_file("inputs", inputs, err);
    if (fds[FD_INPUTS] < 0)
        return -1;
    fds[FD_STATE] = memory_file("state", spec->state, err);
    if (fds[FD_STATE] < 0)
        return -1;
    struct cs_role role;
    if (cs_role_spawn("guest", &role, err) < 0)
        return -1;
    guest->launcher = role.pid;
    guest->launcher_pidfd = role.pidfd;
    guest->control = role.control;
    return send_order(spec, guest, fds, err);
}

int cs_guest_spawn(const struct cs_guest_spec *spec, struct cs_guest *guest, struct cs_err *err)
{
    int fds[CS_ROLE_FDS] = {-1, -1, -1, -1, -1, -1, -1, -1};
    *guest =
        (struct cs_guest){.launcher_pidfd = -1, .control = -1, .bridge = -1, .out = -1, .err = -1};
    int r = spawn(spec, guest, fds, err);
    for (size_t i = 0; i < FD_COUNT; i++)
        cs_closep(&fds[i]);
    if (r < 0) {
        cs_guest_close(guest);
        return cs_wrap(err, "the guest");
    }
    return 0;
}

/* A pid 1 that could not finish its jail is the daemon's child all the same. */
static void bury(int *pidfd)
{
    siginfo_t info;
    syscall(SYS_pidfd_send_signal, *pidfd, SIGKILL, NULL, 0);
    while (waitid(P_PIDFD, (id_t)*pidfd, &info, WEXITED) < 0 && errno == EINTR)
        ;
    cs_closep(pidfd);
}

int cs_guest_reply(struct cs_guest *guest, struct cs_guest_reply *reply, struct cs_err *err)
{
    struct answer a;
    int fds[4] = {-1, -1, -1, -1};
    size_t count = CS_COUNT(fds);
    int r = cs_role_recv(guest->control, &a, sizeof a, fds, &count, err);
    if (r <= 0)
        return r < 0 ? cs_wrap(err, "the guest") : 0;
    bool complete = a.kind == CS_GUEST_BUILT    ? count >= 3
                    : a.kind == CS_GUEST_FAILED ? count <= 1
                                                : a.kind < CS_GUEST_FAILED && count == 0;
    if (!complete) {
        for (size_t i = 0; i < count; i++)
            close(fds[i]);
        return cs_fail(err, CS_BUG, "the guest answers with kind %u and %zu descriptors", a.kind,
                       count);
    }
    if (a.kind == CS_GUEST_FAILED && count == 1)
        bury(&fds[0]);
    guest->answered = true;
    *reply = (struct cs_guest_reply){.pid = a.pid,
                                     .pidfd = fds[0],
                                     .workspace = fds[1],
                                     .tmp = fds[2],
                                     .listener = fds[3],
                                     .status = a.status,
                                     .err = a.err};
    reply->kind = a.kind;
    reply->err.msg[sizeof reply->err.msg - 1] = '\0';
    return 1;
}

int cs_guest_go(struct cs_guest *guest, struct cs_err *err)
{
    struct go go = {.go = 1};
    return cs_role_send(guest->control, &go, sizeof go, NULL, 0, err);
}

/* Pid 1 may be on its way already, and nobody else would ever know of it. */
static void await_first_reply(struct cs_guest *guest)
{
    struct pollfd p = {.fd = guest->control, .events = POLLIN};
    struct cs_guest_reply reply;
    if (poll(&p, 1, 5000) != 1 || cs_guest_reply(guest, &reply, NULL) != 1 ||
        reply.kind != CS_GUEST_BUILT)
        return;
    bury(&reply.pidfd);
    cs_closep(&reply.workspace);
    cs_closep(&reply.tmp);
    cs_closep(&reply.listener);
}

void cs_guest_close(struct cs_guest *guest)
{
    if (guest->control >= 0 && !guest->answered)
        await_first_reply(guest);
    struct cs_role role = {
        .pid = guest->launcher, .pidfd = guest->launcher_pidfd, .control = guest->control};
    cs_role_end(&role);
    guest->launcher = 0;
    guest->launcher_pidfd = guest->control = -1;
    cs_closep(&guest->bridge);
    cs_closep(&guest->out);
    cs_closep(&guest->err);
}

void cs_guest_files_as(int dir)
{
    struct stat st = {0};
    if (geteuid() != 0 || (dir >= 0 && fstat(dir, &st) < 0))
        return;
    /* Raw calls: libc's would change all threads. Going back to root first makes the order of calls
     * harmless. */
    syscall(SYS_setfsuid, 0);
    syscall(SYS_setfsgid, st.st_gid);
    syscall(SYS_setfsuid, st.st_uid);
    /* The kernel takes the rights over files away with the id; the source of a copy may need them.
     */
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &head, data) == 0) {
        data[0].effective = data[0].permitted;
        data[1].effective = data[1].permitted;
        syscall(SYS_capset, &head, data);
    }
}

static const struct {
    const char *program;
    const char *missing;
} languages[] = {
    [CS_GUEST_PYTHON] = {"/usr/bin/python3",
                         "python3 is not at /usr/bin/python3; install it (Debian: apt install "
                         "python3-minimal)"},
    [CS_GUEST_BASH] = {"/usr/bin/bash", "bash is not at /usr/bin/bash; install it (Debian: apt "
                                        "install bash)"},
    [CS_GUEST_NODE] = {"/usr/bin/node", "node is not at /usr/bin/node; install it there (Debian: "
                                        "apt install nodejs)"},
};

const char *cs_guest_missing(enum cs_guest_language language)
{
    if ((unsigned)language >= CS_COUNT(languages))
        return "there is no such language";
    return access(languages[language].program, X_OK) == 0 ? NULL : languages[language].missing;
}

/* ---- inside: launcher, pid 1, workload ---- */

struct launch {
    struct cs_jail jail;
    struct cs_guest_parts parts;
    struct cs_guest_root root;
    struct cs_filter reaper;
    struct cs_filter guest;
    struct cs_server server; /* if it is one */
    int listener;
    int fds[CS_ROLE_FDS];
};

static bool is_server(const struct launch *l)
{
    return l->parts.language == CS_GUEST_SERVER;
}

static void answer(const struct answer *a, const int *fds, size_t count)
{
    struct cs_err ignored; /* if the daemon is gone, so are we, in a moment */
    cs_role_send(CS_ROLE_CONTROL, a, sizeof *a, fds, count, &ignored);
}

static void __attribute__((noreturn)) give_up(const struct cs_err *err)
{
    struct answer a = {.kind = CS_GUEST_FAILED, .err = *err};
    answer(&a, NULL, 0);
    _exit(125);
}

static int take_order(struct launch *l, struct cs_err *err)
{
    struct order order;
    size_t count = CS_ROLE_FDS;
    if (cs_role_recv(CS_ROLE_CONTROL, &order, sizeof order, l->fds, &count, err) <= 0)
        return -1;
    l->jail.options = order.jail;
    l->parts = (struct cs_guest_parts){.language = (enum cs_guest_language)order.language,
                                       .limits = order.limits,
                                       .source = l->fds[FD_SOURCE],
                                       .inputs = l->fds[FD_INPUTS],
                                       .state = l->fds[FD_STATE],
                                       .mcp_servers = -1,
                                       .skills = -1};
    size_t next = FD_COUNT;
    if (order.directories & WITH_MCP_SERVERS)
        l->parts.mcp_servers = l->fds[next++];
    if (order.directories & WITH_SKILLS)
        l->parts.skills = l->fds[next++];
    if (next != count || order.language > CS_GUEST_SERVER)
        return cs_fail(err, CS_BUG, "an order with %zu descriptors", count);
    if (!is_server(l))
        return 0;
    l->parts.server = &l->server;
    return cs_server_read(l->fds[FD_SOURCE], &l->server, err);
}

static int enter(struct launch *l, struct cs_err *err)
{
#ifdef CS_TEST_HOOKS
    if (cs_jail_off(&l->jail)) { /* a mount namespace is what it takes to have a /workspace */
        struct cs_jail plain = {.options = {.host_uid = l->jail.options.host_uid}};
        return cs_jail_enter(&plain, 1u << CS_WALL_USERNS | 1u << CS_WALL_MOUNTNS, err);
    }
#endif
    uint32_t id = l->jail.options.host_uid;
    if (is_server(l) && geteuid() == 0 && cs_server_take(&l->server, id, false, err) < 0)
        return -1;
    if (cs_jail_enter(&l->jail, CS_JAIL_ENTERED, err) < 0)
        return -1;
    if (is_server(l) && cs_server_take(&l->server, id, true, err) < 0)
        return -1;
    if (is_server(l) && l->server.network && (l->listener = cs_server_listen(err)) < 0)
        return -1;
    if (!cs_jail_has(&l->jail, CS_WALL_MOUNTNS))
        return cs_fail(err, CS_DENIED,
                       "python, bash and node cannot run without the wall '%s': they would see "
                       "this machine's files",
                       cs_wall_name(CS_WALL_MOUNTNS));
    return 0;
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

/* ---- the workload ---- */

#define ENVIRONMENT 16

struct command {
    const char *argv[8];
    char *env[ENVIRONMENT];
};

static void inherit_environment(struct command *c, size_t used)
{
#ifdef CS_TEST_HOOKS
    /* The weak jail of the tests leaks the daemon's environment, as careless programs do. */
    static char text[65536];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)getppid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    for (char *at = text; at < text + n && used < ENVIRONMENT - 1; at += strlen(at) + 1)
        if (strncmp(at, "CAISSON_CANARY=", 15) == 0)
            c->env[used++] = at;
    if (fd >= 0)
        close(fd);
#else
    (void)c;
    (void)used;
#endif
}

static void fill_command(const struct launch *l, struct command *c)
{
    static const struct command commands[] = {
        [CS_GUEST_PYTHON] = {{"/usr/bin/python3", "-I", "-B", "-u", "-X", "utf8",
                              "/caisson/python/driver.py"},
                             {0}},
        [CS_GUEST_BASH] = {{"/usr/bin/bash", "--norc", "--noprofile", "/caisson/program.sh"}, {0}},
        [CS_GUEST_NODE] = {{"/usr/bin/node", "/caisson/driver.js"}, {0}},
    };
    static char home[] = "HOME=/workspace", path[] = "PATH=/usr/bin:/bin:/caisson/bin",
                lang[] = "LANG=C.UTF-8", tmp[] = "TMPDIR=/tmp", bridge[] = "CAISSON_BRIDGE=3",
                file[] = "CAISSON_INPUTS_FILE=/caisson/inputs.json",
                inputs[sizeof "CAISSON_INPUTS=" + INPUTS_IN_ENVIRONMENT] = "CAISSON_INPUTS=";
    *c = commands[l->parts.language];
    char *const env[] = {home, path, lang, tmp, bridge, file};
    size_t used = 0;
    for (size_t i = 0; i < CS_COUNT(env); i++)
        c->env[used++] = env[i];
    struct stat st;
    size_t prefix = strlen(inputs);
    if (l->parts.language == CS_GUEST_BASH && fstat(l->parts.inputs, &st) == 0 &&
        st.st_size < INPUTS_IN_ENVIRONMENT &&
        pread(l->parts.inputs, inputs + prefix, (size_t)st.st_size, 0) == st.st_size)
        c->env[used++] = inputs;
    if (cs_jail_off(&l->jail))
        inherit_environment(c, used);
}

/* Moves what the workload keeps to its place: the numbers are taken, so first out of the way. */
static int place_descriptors(struct launch *l, int *control, struct cs_err *err)
{
    const int bridge = is_server(l) ? 0 : BRIDGE, last = is_server(l) ? 2 : BRIDGE;
    int high[4], keep[] = {CS_ROLE_CONTROL, l->fds[FD_OUT], l->fds[FD_ERR], l->fds[FD_BRIDGE]};
    for (size_t i = 0; i < CS_COUNT(keep); i++) {
        high[i] = fcntl(keep[i], F_DUPFD_CLOEXEC, 64);
        if (high[i] < 0)
            return cs_fail_errno(err, "move a descriptor");
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(high[1], 1) < 0 || dup2(high[2], 2) < 0 ||
        dup2(high[3], bridge) < 0)
        return cs_fail_errno(err, "place a descriptor");
    /* The control socket stays until exec, for the bad news; it closes by itself. */
    if (dup3(high[0], last + 1, O_CLOEXEC) < 0 || close_range((unsigned)last + 2, ~0U, 0) < 0)
        return cs_fail_errno(err, "close descriptors");
    *control = last + 1;
    return 0;
}

/* The raw call: what libraries hang onto execve would write to the guest's stderr. */
static void execute(const struct command *c, struct cs_err *err)
{
    syscall(SYS_execve, c->argv[0], c->argv, c->env);
    cs_fail_errno(err, "%s", c->argv[0]);
}

static void execute_server(const struct launch *l, struct cs_err *err)
{
    const struct cs_server *s = &l->server;
    syscall(SYS_execve, s->program, s->argv, s->env);
    if (errno == ENOENT)
        syscall(SYS_execve, s->real, s->argv, s->env);
    if (errno == ENOENT)
        cs_fail(err, CS_MISSING,
                "'%.200s' cannot be started in its jail: the program that its first line names, or "
                "its loader, is not visible there; name its directory under \"read\"",
                s->program);
    else
        cs_fail_errno(err, "'%.200s' cannot be started in its jail", s->program);
}

static int enter_directory(const struct launch *l, struct cs_err *err)
{
    const char *cwd = is_server(l) ? l->server.cwd : "/workspace";
    if (chdir(cwd) == 0)
        return 0;
    if (is_server(l))
        return cs_fail(err, CS_MISSING,
                       "the server's directory '%.200s' is not in its jail (%s): name it under "
                       "\"read\" or \"write\"",
                       cwd, strerror(errno));
    return cs_fail_errno(err, "%s", cwd);
}

static void __attribute__((noreturn)) become_workload(struct launch *l)
{
    struct cs_err err = {0};
    struct command c;
    int control = CS_ROLE_CONTROL;
    if (!is_server(l))
        fill_command(l, &c);
    if (place_descriptors(l, &control, &err) == 0) {
        prctl(PR_SET_DUMPABLE, 1); /* /proc/self is to be usable; pid 1 stays out of sight */
        if (is_server(l))
            setsid();
        if (enter_directory(l, &err) == 0 && install(&l->jail, &l->guest, &err) == 0) {
            if (is_server(l))
                execute_server(l, &err);
            else
                execute(&c, &err);
        }
    }
    struct answer a = {.kind = CS_GUEST_FAILED, .err = err};
    send(control, &a, sizeof a, MSG_NOSIGNAL);
    _exit(125);
}

/* ---- pid 1 ---- */

/* The last walls, in the order that each still allows the next. */
static int close_jail(struct launch *l, struct cs_err *err)
{
    const char *writable[3 + CS_SERVER_PATHS] = {is_server(l) ? CS_SERVER_HOME : "/workspace",
                                                 "/tmp", "/dev/null"};
    int count = 3;
    for (size_t i = 0; i < l->server.path_count; i++)
        if (l->server.paths[i].writable)
            writable[count++] = l->server.paths[i].path;
    struct cs_jail *jail = &l->jail;
    if (cs_jail_off(jail))
        return 0;
    /* Now that the cage is joined, it is all that the guest can see of the control groups. */
    if (unshare(CLONE_NEWCGROUP) < 0 &&
        cs_jail_missing(jail, CS_WALL_CGROUPNS, errno, "unshare", err) < 0)
        return -1;
    struct cs_limits limits = l->parts.limits;
    if (is_server(l)) /* it may write to disk, where the size of its scratch space means nothing */
        limits.scratch_bytes = SERVER_FILE_BYTES;
    if (cs_jail_rlimits(jail, &limits, err) < 0)
        return -1;
    /* The second line behind the process limit of the cage, counted per user namespace. It stands a
     * little further out: only the cage tells the daemon that a fork was refused. */
    struct rlimit processes = {.rlim_cur = l->parts.limits.processes + 4,
                               .rlim_max = l->parts.limits.processes + 4};
    if (setrlimit(RLIMIT_NPROC, &processes) < 0)
        return cs_fail_errno(err, "RLIMIT_NPROC");
    if (cs_jail_drop(0, err) < 0 || cs_jail_seal(jail, err) < 0)
        return -1;
    return cs_jail_fence(jail, l->server.network ? CS_FENCE_SERVER : CS_FENCE_GUEST, writable,
                         count, err);
}

/* Reaps until the workload ends, reports, and ends; the kernel then ends everybody else. */
static void __attribute__((noreturn)) reap(const struct launch *l, pid_t workload)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        if (pid < 0 && errno != EINTR)
            _exit(125);
        if (pid != workload)
            continue;
        struct answer a = {.kind = CS_GUEST_ENDED, .status = status};
        cs_cover_save();
        answer(&a, NULL, 0);
        if (!is_server(l))
            _exit(0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
}

static void pass_on(int signal)
{
    kill(-1, signal); /* to all but us */
}

/* The kernel keeps signals from a pid 1 that does not ask for them. */
static void take_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    struct sigaction act = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < CS_COUNT(signals); i++)
        sigaction(signals[i], &act, NULL);
}

/* The part that pid 1 has to do itself, since it is about its own namespaces. */
static int settle_in(struct launch *l, struct cs_err *err)
{
    prctl(PR_SET_NAME, "caisson:guest");
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return cs_fail_errno(err, "PR_SET_PDEATHSIG");
    if (cs_guest_root_enter(&l->jail, &l->root, err) < 0 || cs_jail_rename(&l->jail, err) < 0)
        return -1;
    if (is_server(l)) {
        setsid(); /* so that a signal to our group from outside is for us */
        if (cs_server_check(&l->server, err) < 0)
            return -1;
    }
    cs_closep(&l->root.root);
    cs_closep(&l->root.workspace);
    cs_closep(&l->root.tmp);
    return 0;
}

/* Until it has settled in, the launcher speaks for it: only the launcher has its pidfd. */
static void __attribute__((noreturn)) become_pid_one(struct launch *l, int launcher)
{
    struct cs_err err = {.code = CS_OK};
    struct go go;
    int r = settle_in(l, &err);
    if (write(launcher, &err, sizeof err) != sizeof err || r < 0)
        _exit(125);
    close(launcher);
    if (cs_role_recv(CS_ROLE_CONTROL, &go, sizeof go, NULL, NULL, &err) <= 0)
        _exit(125); /* the daemon let go */
    if (close_jail(l, &err) < 0)
        give_up(&err);
    /* With CLONE_VFORK we go on when it has been executed, or has failed and said so. */
    pid_t workload = cs_jail_fork(is_server(l) ? CLONE_VFORK : 0, NULL);
    if (workload == 0)
        become_workload(l);
    if (workload < 0) {
        cs_fail_errno(&err, "fork");
        give_up(&err);
    }
    /* The bridge is kept open, so that its end means the end of the guest and not only that of the
     * interpreter, of which the daemon is to be told first. The streams of a server are its own. */
    int kept = CS_ROLE_CONTROL + 1;
    if (is_server(l))
        close(kept);
    else if (dup2(l->fds[FD_BRIDGE], kept) < 0)
        _exit(125);
    if (is_server(l))
        take_signals();
    if (close_range((unsigned)kept + 1, ~0U, 0) < 0 || install(&l->jail, &l->reaper, &err) < 0)
        _exit(125);
    if (is_server(l))
        answer(&(struct answer){.kind = CS_GUEST_STARTED}, NULL, 0);
    reap(l, workload);
}

/* ---- the launcher ---- */

static int prepare(struct launch *l, struct cs_err *err)
{
    struct cs_filter_facts facts = {.alone = true};
    if (take_order(l, err) < 0 || enter(l, err) < 0)
        return -1;
    facts.network = l->server.network;
    if (cs_guest_root_build(&l->jail, &l->parts, &l->root, err) < 0)
        return -1;
    if (cs_filter_make(CS_PROFILE_REAPER, &facts, &l->reaper, err) < 0)
        return -1;
    return cs_filter_make(is_server(l) ? CS_PROFILE_SERVER : CS_PROFILE_GUEST, &facts, &l->guest,
                          err);
}

static pid_t start_pid_one(struct launch *l, int *pidfd, int *ready, struct cs_err *err)
{
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) < 0)
        return cs_fail_errno(err, "pipe");
    uint64_t flags = CLONE_PARENT | (cs_jail_off(&l->jail) ? 0 : CLONE_NEWPID);
    pid_t pid = cs_jail_fork(flags, pidfd);
    if (pid == 0) {
        close(pair[0]);
        become_pid_one(l, pair[1]);
    }
    int sys = errno;
    close(pair[1]);
    *ready = pair[0];
    if (pid < 0) {
        l->jail.options.allow_weak = 0; /* not without: background processes would live on */
        cs_jail_missing(&l->jail, CS_WALL_PIDNS, sys, "clone3", err);
        return -1;
    }
    return pid;
}

int cs_guest_main(void)
{
    struct launch l = {.root = {-1, -1, -1}, .listener = -1};
    struct cs_err err = {0};
    int pidfd = -1, ready = -1;
    if (prepare(&l, &err) < 0)
        give_up(&err);
    pid_t pid = start_pid_one(&l, &pidfd, &ready, &err);
    if (pid < 0)
        give_up(&err);
    struct answer a = {.kind = CS_GUEST_BUILT, .pid = pid};
    if (read(ready, &a.err, sizeof a.err) != sizeof a.err)
        cs_fail(&a.err, CS_SYSTEM, "the guest ended while its jail was built");
    if (a.err.code == CS_OK) {
        int fds[] = {pidfd, l.root.workspace, l.root.tmp, l.listener};
        answer(&a, fds, l.listener < 0 ? 3 : 4);
        cs_cover_save();
        _exit(0);
    }
    a.kind = CS_GUEST_FAILED;
    answer(&a, &pidfd, 1);
    _exit(125);
}

#include "sandbox/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/own.h"
#include "sandbox/keeper.h"
#include "sandbox/launch_jail.h"
#include "sandbox/proxy.h"
#include "sandbox/tree.h"

/* Where commands are when the environment says nothing. */
#define USUAL_PATH "/usr/local/bin:/usr/bin:/bin"

/* Of the child that becomes the server; it only makes system calls. */
#define STACK (64u << 10)

/* ---- the child, which shares our memory until it executes ---- */

struct birth {
    const char *const *argv, *const *env;
    const char *cwd;
    const char *candidates; /* paths to try, each ends in NUL; an empty one at the end */
    int fds[3];
    pid_t parent;
    /* what went wrong, told through the shared memory */
    enum { KILLED, AT_FDS, AT_CWD, AT_EXEC } failed;
    bool gave_up;
    int error;
    const char *path; /* AT_EXEC: the candidate that `error` is about */
};

static const char *next_candidate(const char *at)
{
    return at + strlen(at) + 1;
}

/* The first error that says more than "not here" wins, as with a shell. */
static void note_exec(struct birth *b, const char *path, int error)
{
    bool absent = error == ENOENT || error == ENOTDIR;
    if (b->error && absent)
        return;
    if (b->error && b->error != ENOENT && b->error != ENOTDIR)
        return;
    b->error = error;
    b->path = path;
}

/*
 * Other threads of the daemon may hold any lock, and run on meanwhile in the same memory: so raw
 * system calls only, which no library (nor sanitizer) hangs anything onto.
 */
__attribute__((no_sanitize("address", "undefined", "thread"))) static int become(void *arg)
{
    struct birth *b = arg;
    static const uint64_t by_default[8]; /* the kernel's struct sigaction: SIG_DFL and nothing */
    const uint64_t none = 0;
    for (int i = 1; i <= 64; i++)
        syscall(SYS_rt_sigaction, i, by_default, NULL, sizeof none);
    syscall(SYS_setsid);
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (syscall(SYS_getppid) != b->parent)
        syscall(SYS_exit_group, 125); /* it died before it could be asked for */
    b->failed = AT_FDS;
    long high[3];
    for (int i = 0; i < 3; i++) {
        high[i] = syscall(SYS_fcntl, b->fds[i], F_DUPFD_CLOEXEC, 3);
        if (high[i] < 0)
            goto failed;
    }
    for (int i = 0; i < 3; i++)
        if (syscall(SYS_dup3, high[i], i, 0) < 0)
            goto failed;
    if (syscall(SYS_close_range, 3, ~0U, 0) < 0)
        goto failed;
    if (b->cwd && syscall(SYS_chdir, b->cwd) < 0) {
        b->failed = AT_CWD;
        goto failed;
    }
    if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none) < 0)
        goto failed;
    b->failed = AT_EXEC;
    b->error = *b->candidates ? 0 : ENOENT;
    for (const char *path = b->candidates; *path; path = next_candidate(path)) {
        syscall(SYS_execve, path, b->argv, b->env);
        note_exec(b, path, errno);
    }
    b->gave_up = true;
    syscall(SYS_exit_group, 127);
failed:
    b->error = errno;
    b->gave_up = true;
    syscall(SYS_exit_group, 127);
    return 127;
}

/* ---- the daemon's side ---- */

static const char *look_up(const char *const *env, const char *name)
{
    size_t n = strlen(name);
    for (; env && *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return *env + n + 1;
    return NULL;
}

static const char *search_path(const struct cs_launch *l)
{
    const char *path = look_up(l->env, "PATH");
    return path && *path ? path : USUAL_PATH;
}

/* What is not absolute in PATH is left out: it would mean whatever lies in some directory. */
static void find_candidates(const struct cs_launch *l, struct cs_buf *out)
{
    if (strchr(l->argv[0], '/')) {
        cs_buf_puts(out, l->argv[0]);
        cs_buf_putc(out, '\0');
    } else if (l->argv[0][0]) {
        for (const char *at = search_path(l);;) {
            size_t len = strcspn(at, ":");
            if (len > 0 && *at == '/') {
                cs_buf_put(out, at, len);
                cs_buf_printf(out, "/%s", l->argv[0]);
                cs_buf_putc(out, '\0');
            }
            if (!at[len])
                break;
            at += len + 1;
        }
    }
    cs_buf_putc(out, '\0');
}

static int open_as_child(const struct cs_launch *l, const char *path)
{
    CS_AUTO_FD int dir = l->cwd ? open(l->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    return openat(l->cwd ? dir : AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* The program that a script names in its first line; false if it is no script. */
static bool read_interpreter(int fd, char *name, size_t size)
{
    char text[200] = "";
    if (pread(fd, text, sizeof text - 1, 0) < 3 || strncmp(text, "#!", 2) != 0)
        return false;
    const char *at = text + 2 + strspn(text + 2, " \t");
    snprintf(name, size, "%.*s", (int)strcspn(at, " \t\r\n"), at);
    return true;
}

static int explain_absent(const struct cs_launch *l, const char *candidates, struct cs_err *err)
{
    for (const char *path = candidates; *path; path = next_candidate(path)) {
        CS_AUTO_FD int fd = open_as_child(l, path);
        char name[200];
        if (fd >= 0 && read_interpreter(fd, name, sizeof name))
            return cs_fail(err, CS_MISSING,
                           "'%.150s' needs '%s' (its first line says so), which is not there", path,
                           name);
        if (fd >= 0)
            return cs_fail(err, CS_MISSING,
                           "'%.200s' cannot be started: the loader it was built for is not there",
                           path);
    }
    if (strchr(l->argv[0], '/'))
        return cs_fail(err, CS_MISSING, "there is no command '%.300s'", l->argv[0]);
    return cs_fail(err, CS_MISSING, "there is no command '%.80s' (looked in %.300s%s)", l->argv[0],
                   search_path(l), strlen(search_path(l)) > 300 ? "..." : "");
}

static int explain(const struct cs_launch *l, const struct birth *b, struct cs_err *err)
{
    struct stat st;
    errno = b->error;
    switch (b->failed) {
    case KILLED:
        return cs_fail(err, CS_SYSTEM, "'%.200s' was killed before it started", l->argv[0]);
    case AT_FDS:
        return cs_fail_errno(err, "prepare '%.200s'", l->argv[0]);
    case AT_CWD:
        return cs_fail(err, b->error == ENOENT ? CS_MISSING : CS_SYSTEM,
                       "cannot start '%.100s' in the directory '%.200s': %s", l->argv[0], l->cwd,
                       strerror(b->error));
    case AT_EXEC:
        break;
    }
    switch (b->error) {
    case ENOENT:
    case ENOTDIR:
        return explain_absent(l, b->candidates, err);
    case EACCES: {
        CS_AUTO_FD int fd = open_as_child(l, b->path);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
            return cs_fail(err, CS_SYSTEM, "'%.200s' is a directory, not a command", b->path);
        return cs_fail(err, CS_SYSTEM,
                       "'%.200s' may not be executed: look at its permissions (chmod +x), those of "
                       "its directory, and whether its file system is mounted noexec",
                       b->path);
    }
    case ENOEXEC:
        return cs_fail(err, CS_SYSTEM,
                       "'%.200s' is no program of this machine; a script must begin with #! and "
                       "its interpreter",
                       b->path);
    case E2BIG:
        return cs_fail(err, CS_LIMIT, "the arguments and environment of '%.200s' are too large",
                       l->argv[0]);
    default:
        return cs_fail_errno(err, "start '%.200s'", b->path);
    }
}

int cs_launch_find(const struct cs_launch *l, struct cs_buf *program, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf candidates = {0};
    find_candidates(l, &candidates);
    struct birth b = {.failed = AT_EXEC, .error = ENOENT, .candidates = candidates.at};
    CS_AUTO_FD int dir = l->cwd ? open(l->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    for (const char *path = candidates.at; *path; path = next_candidate(path)) {
        struct stat st;
        if (faccessat(l->cwd ? dir : AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ||
            fstatat(l->cwd ? dir : AT_FDCWD, path, &st, 0) < 0) {
            note_exec(&b, path, errno);
            continue;
        }
        if (!S_ISREG(st.st_mode)) {
            note_exec(&b, path, EACCES);
            continue;
        }
        char here[4096] = "";
        if (path[0] != '/' && !l->cwd && !getcwd(here, sizeof here))
            return cs_fail_errno(err, "the current directory");
        if (path[0] != '/')
            cs_buf_printf(program, "%s/", l->cwd ? l->cwd : here);
        cs_buf_puts(program, path);
        return 0;
    }
    return explain(l, &b, err);
}

struct pipes {
    int ours[3], theirs[3];
};

static void close_pipes(struct pipes *p)
{
    for (int i = 0; i < 3; i++) {
        cs_closep(&p->ours[i]);
        cs_closep(&p->theirs[i]);
    }
}

static int make_pipes(struct pipes *p, struct cs_err *err)
{
    *p = (struct pipes){{-1, -1, -1}, {-1, -1, -1}};
    for (int i = 0; i < 3; i++) {
        int pair[2];
        if (pipe2(pair, O_CLOEXEC) < 0)
            return cs_fail_errno(err, "pipe");
        p->ours[i] = pair[i == 0];
        p->theirs[i] = pair[i != 0];
        if (fcntl(p->ours[i], F_SETFL, O_NONBLOCK) < 0)
            return cs_fail_errno(err, "fcntl");
        fcntl(p->ours[i], F_SETPIPE_SZ,
              CS_LAUNCH_PIPE); /* where the user has too many, they are less */
    }
    return 0;
}

/* The same function as clone(), under a name that ThreadSanitizer leaves alone: it takes what
 * follows for a fork and, the memory being shared, goes blind in the thread that called it. */
int __clone(int (*fn)(void *), void *stack, int flags, void *arg, ...);

/* As posix_spawn does it, which cannot ask for a death signal. */
static int give_birth(struct birth *b, pid_t *pid, int *pidfd, struct cs_err *err)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED)
        return cs_fail_errno(err, "mmap");
    /* No handler of ours may run in the child, which is in our memory. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    *pid = __clone(become, stack + STACK, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, b, pidfd);
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, STACK);
    errno = error;
    return *pid < 0 ? cs_fail_errno(err, "clone") : 0;
}

static int start(const struct cs_launch *l, struct pipes *pipes, struct cs_child *child,
                 struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf candidates = {0};
    find_candidates(l, &candidates);
    static const char *const nothing[] = {NULL};
    struct birth b = {.argv = l->argv,
                      .env = l->env ? l->env : nothing,
                      .cwd = l->cwd,
                      .candidates = candidates.at,
                      .parent = getpid()};
    memcpy(b.fds, pipes->theirs, sizeof b.fds);
    pid_t pid = -1;
    int pidfd = -1;
    if (give_birth(&b, &pid, &pidfd, err) < 0)
        return -1;
    /* With CLONE_VFORK we run again once it has executed, or ended. */
    if (b.gave_up || b.failed != AT_EXEC) {
        while (waitid(P_PIDFD, (id_t)pidfd, &(siginfo_t){0}, WEXITED) < 0 && errno == EINTR)
            ;
        close(pidfd);
        return explain(l, &b, err);
    }
    *child = (struct cs_child){.pid = pid,
                               .pidfd = pidfd,
                               .in = CS_TAKE_FD(pipes->ours[0]),
                               .out = CS_TAKE_FD(pipes->ours[1]),
                               .err = CS_TAKE_FD(pipes->ours[2])};
    cs_keep(pid);
    return 0;
}

int cs_launch(uv_loop_t *loop, const struct cs_launch *launch, struct cs_child *child,
              struct cs_err *err)
{
    struct pipes pipes;
    if (!launch->argv || !launch->argv[0])
        return cs_fail(err, CS_INVALID, "there is no command to start");
    if (launch->jail)
        return cs_launch_jailed(loop, launch, child, err);
    int r = make_pipes(&pipes, err);
    if (r == 0)
        r = start(launch, &pipes, child, err);
    close_pipes(&pipes);
    return r;
}

void cs_child_kill(const struct cs_child *child, int signal)
{
    if (child->pid <= 0)
        return;
    /* What has left the group is found as long as its parents live. */
    if (signal == SIGKILL)
        cs_tree_signal(child->pid, signal);
    kill(-child->pid, signal);
}

void cs_child_done(struct cs_child *child)
{
    if (child->pid > 0 && !child->jailed)
        cs_unkeep(child->pid);
    cs_proxy_close(child->proxy);
    child->proxy = NULL;
    cs_jailed_free(child->jailed);
    child->jailed = NULL;
    cs_closep(&child->in);
    cs_closep(&child->out);
    cs_closep(&child->err);
    cs_closep(&child->pidfd);
    child->pid = 0;
}

#include "sandbox/role.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/own.h"
#include "sandbox/guest.h"
#include "sandbox/keeper.h"
#include "sandbox/walls.h"
#include "sandbox/zygote.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

/*
 * What one process must remember between calls. `image` is the sealed copy of this program, made
 * once and kept for life: a copy per spawn would cost milliseconds and megabytes each. -1: not made
 * yet; -2: it cannot be made here. `parent` is who spawned this process, if it is a role.
 */
static struct {
    pthread_mutex_t lock;
    int image;
    pid_t parent;
    bool can_spawn; /* main() has asked cs_role_main */
} self = {PTHREAD_MUTEX_INITIALIZER, -1, 0, false};

static int copy_all(int from, int to)
{
    struct stat st;
    if (fstat(from, &st) < 0)
        return -1;
    for (off_t left = st.st_size; left > 0;) {
        ssize_t n = sendfile(to, from, NULL, (size_t)left);
        if (n < 0)
            return -1;
        if (n == 0) {
            errno = EIO;
            return -1;
        }
        left -= n;
    }
    return 0;
}

static int make_image(void)
{
    CS_AUTO_FD int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    CS_AUTO_FD int fd = memfd_create("caisson", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
    if (fd < 0 && errno == EINVAL) /* before Linux 6.3 every memfd may be executed */
        fd = memfd_create("caisson", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || copy_all(file, fd) < 0)
        return -1;
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
        return -1;
    return fcntl(fd, F_DUPFD_CLOEXEC, 16); /* clear of the numbers that the spawn fills */
}

/* Where the image can be executed from. Where memory files may not be executed
 * (vm.memfd_noexec=2) it is the program file itself, which no jail can see. */
static void image_path(char *path, size_t size)
{
    pthread_mutex_lock(&self.lock);
    if (self.image == -1) {
        int fd = make_image();
        self.image = fd >= 0 ? fd : -2;
    }
    if (self.image >= 0)
        snprintf(path, size, "/proc/self/fd/%d", self.image);
    else
        snprintf(path, size, "/proc/self/exe");
    pthread_mutex_unlock(&self.lock);
}

/* Nothing inherited: fresh session, default signals, nothing blocked, stdio on /dev/null. */
static int spawn(const char *path, char *const argv[], int control, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_adddup2(&files, control, CS_ROLE_CONTROL);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    /* A sanitizer's report goes to stderr, and would be lost; otherwise nothing is kept. */
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
#endif
    /* Nothing is left to be searched for later, when libraries may have been taken out. */
    char *const environment[] = {"LD_BIND_NOW=1", NULL};
    int failure = posix_spawn(pid, path, &files, &attr, argv, environment);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return failure;
}

bool cs_role_can_spawn(void)
{
    return self.can_spawn;
}

int cs_role_spawn(const char *name, struct cs_role *role, struct cs_err *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return cs_fail_errno(err, "socketpair");
    CS_AUTO_FD int ours = pair[0];
    CS_AUTO_FD int theirs = pair[1];
    if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
        return cs_fail_errno(err, "fcntl");

    char path[32], title[32], choice[32], parent[16];
    image_path(path, sizeof path);
    snprintf(title, sizeof title, "caisson: %s", name);
    snprintf(choice, sizeof choice, "--role=%s", name);
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    char *const argv[] = {title, choice, parent, NULL};
    pid_t pid;
    int failure = spawn(path, argv, theirs, &pid);
    if (failure) {
        errno = failure;
        return cs_fail_errno(err, "start the %s", name);
    }
    int pidfd = pidfd_open(pid, 0); /* CLOEXEC by nature; the child is not reaped before us */
    if (pidfd < 0) {
        cs_fail_errno(err, "pidfd_open");
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return -1;
    }
    *role = (struct cs_role){.pid = pid, .pidfd = pidfd, .control = CS_TAKE_FD(ours)};
    return 0;
}

void cs_role_end(struct cs_role *role)
{
    cs_closep(&role->control);
    if (role->pid > 0) {
        kill(role->pid, SIGKILL);
        while (waitpid(role->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    role->pid = 0;
    cs_closep(&role->pidfd);
}

int cs_role_bind(struct cs_err *err)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return cs_fail_errno(err, "PR_SET_PDEATHSIG");
    /* The signal is for deaths that are still to come. */
    if (self.parent && getppid() != self.parent)
        return cs_fail(err, CS_SYSTEM, "the daemon is gone");
    return 0;
}

/* The first act of every role. Descriptors may have come along that others opened without CLOEXEC,
 * at any number; if they cannot be closed, nothing is started. */
static void begin(const char *parent, bool is_bound)
{
    self.parent = (pid_t)strtol(parent, NULL, 10);
    struct cs_err err;
    if (close_range(CS_ROLE_CONTROL + 1, ~0U, 0) < 0 || (is_bound && cs_role_bind(&err) < 0))
        _exit(125);
    umask(077);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int cs_role_main(int argc, char **argv, const struct cs_engine_hooks *hooks)
{
    static const char prefix[] = "--role=";
    if (argc > 0 && strcmp(base_name(argv[0]), "caisson") == 0 && getenv("CAISSON_BRIDGE"))
        return cs_guest_call_main(argc, argv);
    if (argc != 3 || strncmp(argv[1], prefix, sizeof prefix - 1) != 0) {
        self.can_spawn = true;
        return -1;
    }
    const char *name = argv[1] + sizeof prefix - 1;
    bool is_keeper = strcmp(name, "keeper") == 0;
    begin(argv[2], !is_keeper);
    if (is_keeper)
        return cs_keeper_main();
    if (strcmp(name, "zygote") == 0)
        return cs_zygote_main(hooks);
    if (strcmp(name, "guest") == 0)
        return cs_guest_main();
    if (strcmp(name, "probe") == 0)
        return cs_walls_main(hooks);
    return 125;
}

union control_space {
    char bytes[CMSG_SPACE(sizeof(int) * CS_ROLE_FDS)];
    struct cmsghdr align;
};

int cs_role_send(int control, const void *msg, size_t len, const int *fds, size_t count,
                 struct cs_err *err)
{
    union control_space space = {0};
    struct iovec iov = {.iov_base = (void *)(uintptr_t)msg, .iov_len = len};
    struct msghdr head = {.msg_iov = &iov, .msg_iovlen = 1};
    if (count > CS_ROLE_FDS)
        return cs_fail(err, CS_BUG, "%zu descriptors in one message", count);
    if (count > 0) {
        head.msg_control = space.bytes;
        head.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        struct cmsghdr *c = CMSG_FIRSTHDR(&head);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * count);
    }
    ssize_t n;
    do
        n = sendmsg(control, &head, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return cs_fail_errno(err, "control socket");
    return 0;
}

/* Takes the descriptors out of a received message; what does not fit is closed. */
static size_t take_fds(struct msghdr *head, int *fds, size_t room)
{
    size_t taken = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(head); c; c = CMSG_NXTHDR(head, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (taken < room)
                fds[taken++] = fd;
            else
                close(fd);
        }
    }
    return taken;
}

int cs_role_recv(int control, void *msg, size_t len, int *fds, size_t *count, struct cs_err *err)
{
    union control_space space;
    struct iovec iov = {.iov_base = msg, .iov_len = len};
    struct msghdr head = {.msg_iov = &iov,
                          .msg_iovlen = 1,
                          .msg_control = space.bytes,
                          .msg_controllen = sizeof space.bytes};
    ssize_t n;
    do
        n = recvmsg(control, &head, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    size_t room = count ? *count : 0;
    if (count)
        *count = 0;
    if (n < 0)
        return cs_fail_errno(err, "control socket");
    size_t taken = take_fds(&head, fds, room);
    if (n == (ssize_t)len && !(head.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        if (count)
            *count = taken;
        return 1;
    }
    for (size_t i = 0; i < taken; i++)
        close(fds[i]);
    if (n == 0)
        return cs_fail(err, CS_SYSTEM, "the other side has ended");
    return cs_fail(err, CS_BUG, "a control message of %zd bytes where %zu were expected", n, len);
}

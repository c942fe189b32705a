/*
 * A stand-in for the worker: a real engine, warmed as the zygote needs it, and a serve function
 * that does to itself what a test asks for, one byte at a time.
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <JavaScriptCore/JavaScript.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/own.h"
#include "sandbox/jail.h"
#include "sandbox/role.h"
#include "sandbox/zygote.h"

/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum op {
    OP_GETPID,
    OP_OPEN,    /* a file of the host */
    OP_FORK,    /* raw clone */
    OP_SOCKET,  /* forbidden */
    OP_EXECMEM, /* mmap executable memory */
    OP_MPROTECT,
    OP_FDS,   /* which descriptors are open, as a bit mask of the first 64 */
    OP_SPIN,  /* for ever */
    OP_EVAL,  /* a script */
    OP_ALLOC, /* arg MiB, touched */
    OP_RECVMSG,
    OP_PRCTL,
    OP_TGKILL, /* somebody else */
    OP_READ0,
    OP_EXIT,
    OP_PTRACE,
    OP_ABORT,
};

struct request {
    uint32_t op;
    uint32_t arg;
};

struct result {
    int64_t value;
    int32_t error;
};

static JSGlobalContextRef standin_context;

static int standin_warm(bool no_jit, struct cs_err *err)
{
    void (*off)(void) =
        (void (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "_ZN3WTF20fastDisableScavengerEv");
    if (!off)
        return cs_fail(err, CS_DENIED, "the engine cannot be forked safely");
    setenv("JSC_useConcurrentGC", "0", 1);
    setenv("JSC_useConcurrentJIT", "0", 1);
    setenv("JSC_numberOfGCMarkers", "1", 1);
    setenv("JSC_useWasm", "0", 1);
    setenv("JSC_jitMemoryReservationSize", "67108864", 1);
    setenv("GIGACAGE_ENABLED", "0", 1);
    setenv("TZ", "UTC", 1);
    if (no_jit)
        setenv("JSC_useJIT", "0", 1);
    off();
    standin_context = JSGlobalContextCreate(NULL);
    JSStringRef s = JSStringCreateWithUTF8CString(
        "let o={};for(let i=0;i<3000;i++)o['k'+i]=new Date(i).toISOString();"
        "new Intl.NumberFormat('en').format(1234.5);JSON.stringify(o).length");
    JSEvaluateScript(standin_context, s, NULL, NULL, 1, NULL);
    JSStringRelease(s);
    return 0;
}

static int64_t standin_eval(void)
{
    JSStringRef s = JSStringCreateWithUTF8CString(
        "let a=[];for(let i=0;i<200000;i++)a.push({i,s:'x'+i});"
        "let f=n=>n<2?n:f(n-1)+f(n-2);"
        "new Date().toLocaleString('de-DE',{timeZone:'Asia/Tokyo'});"
        "'abc'.localeCompare('abd');/(a|b)*c/.test('ababab');f(20)+a.length");
    JSValueRef v = JSEvaluateScript(standin_context, s, NULL, NULL, 1, NULL);
    return v ? (int64_t)JSValueToNumber(standin_context, v, NULL) : -1;
}

static int64_t standin_fds(void)
{
    int64_t mask = 0;
    for (int i = 0; i < 62; i++) {
        struct pollfd p = {.fd = i};
        if (poll(&p, 1, 0) >= 0 && !(p.revents & POLLNVAL))
            mask |= (int64_t)1 << i;
    }
    return mask;
}

static int64_t standin_alloc(uint32_t mib)
{
    for (uint32_t i = 0; i < mib; i++) {
        char *at = mmap(NULL, 1u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return i;
        memset(at, 1, 1u << 20);
    }
    return mib;
}

/* size: one case per thing to try */
static int64_t standin_do(const struct request *r)
{
    char byte;
    switch ((enum op)r->op) {
    case OP_GETPID:
        return getpid();
    case OP_OPEN:
        return syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
    case OP_FORK:
        return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    case OP_SOCKET:
        return socket(AF_INET, SOCK_STREAM, 0);
    case OP_EXECMEM:
        return (intptr_t)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                              0);
    case OP_MPROTECT: {
        void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return mprotect(at, 4096, PROT_READ | PROT_EXEC);
    }
    case OP_FDS:
        return standin_fds();
    case OP_SPIN:
        for (volatile int i = 0;; i++)
            ;
    case OP_EVAL:
        return standin_eval();
    case OP_ALLOC:
        return standin_alloc(r->arg);
    case OP_RECVMSG: {
        struct msghdr head = {0};
        return recvmsg(3, &head, MSG_DONTWAIT);
    }
    case OP_PRCTL:
        return prctl(PR_SET_PDEATHSIG, 0);
    case OP_TGKILL:
        return syscall(SYS_tgkill, 2, 2, SIGKILL);
    case OP_READ0:
        return read(0, &byte, 1);
    case OP_EXIT:
        _exit((int)r->arg);
    case OP_PTRACE:
        return syscall(SYS_ptrace, 0, 0, 0, 0);
    case OP_ABORT:
        signal(SIGABRT, SIG_DFL);
        abort();
    }
    return -1;
}

static void __attribute__((noreturn)) standin_serve(int sock)
{
    struct request r;
    while (recv(sock, &r, sizeof r, MSG_WAITALL) == sizeof r) {
        errno = 0;
        struct result out = {.value = standin_do(&r)};
        out.error = errno;
        if (send(sock, &out, sizeof out, MSG_NOSIGNAL) != sizeof out)
            break;
    }
    _exit(0);
}

static const struct cs_engine_hooks standin_hooks = {.warm = standin_warm, .serve = standin_serve};

/* An id that owns nothing. */
#define NOBODY_AT_ALL 3735928u

static inline struct cs_jail_options standin_options(void)
{
    return (struct cs_jail_options){.host_uid = NOBODY_AT_ALL};
}

static inline void wait_readable(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, ms), 1);
}

static inline void zygote_reply(struct cs_zygote *z, struct cs_zygote_reply *reply)
{
    struct cs_err err = {0};
    wait_readable(z->control, 60000);
    int r = cs_zygote_reply(z, reply, &err);
    if (r != 1)
        fail_msg("no reply: %s", err.msg);
}

static inline void zygote_start(const struct cs_jail_options *o, struct cs_zygote *z)
{
    struct cs_err err = {0};
    struct cs_zygote_reply reply;
    if (cs_zygote_spawn(o, z, &err) < 0)
        fail_msg("%s", err.msg);
    zygote_reply(z, &reply);
    if (reply.kind != CS_ZYGOTE_HELLO)
        fail_msg("zygote: %s", reply.err.msg);
}

struct worker {
    int sock;
    int pidfd;
    pid_t pid;
};

static inline struct worker worker_start(struct cs_zygote *z)
{
    int pair[2];
    struct cs_err err = {0};
    struct cs_zygote_reply reply;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    if (cs_zygote_ask(z, 7, pair[1], &err) < 0)
        fail_msg("ask: %s", err.msg);
    close(pair[1]);
    zygote_reply(z, &reply);
    if (reply.kind != CS_ZYGOTE_FORKED)
        fail_msg("fork: %s", reply.err.msg);
    assert_int_equal(reply.ticket, 7);
    return (struct worker){.sock = pair[0], .pidfd = reply.pidfd, .pid = reply.pid};
}

/* False if the worker ended instead of answering. */
static inline bool worker_ask(const struct worker *w, enum op op, uint32_t arg, struct result *out)
{
    struct request r = {.op = op, .arg = arg};
    return send(w->sock, &r, sizeof r, MSG_NOSIGNAL) == sizeof r &&
           recv(w->sock, out, sizeof *out, MSG_WAITALL) == sizeof *out;
}

/* Closes everything and returns the status as waitid tells it: code and status. */
static inline siginfo_t worker_end(struct worker *w, bool kill_it)
{
    siginfo_t info = {0};
    if (kill_it)
        syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
    close(w->sock);
    assert_int_equal(waitid(P_PIDFD, (id_t)w->pidfd, &info, WEXITED), 0);
    close(w->pidfd);
    return info;
}

static inline int count_fds(void)
{
    int n = 0;
    for (int i = 0; i < 4096; i++)
        n += fcntl(i, F_GETFD) >= 0;
    return n;
}

/* The line of /proc/PID/status that begins with `key`, behind the colon. */
static inline void status_line(pid_t pid, const char *key, char *value, size_t size)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    value[0] = '\0';
    if (!f)
        return; /* it is gone */
    while (fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':') {
            line[strcspn(line, "\n")] = '\0';
            snprintf(value, size, "%s",
                     line + strlen(key) + 1 + strspn(line + strlen(key) + 1, "\t "));
        }
    fclose(f);
}

#endif

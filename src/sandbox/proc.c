/* A jailed process as the daemon sees it: a socket to talk on, a pidfd to learn of its end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/mem.h"
#include "sandbox/jobs.h"

#define READ_AHEAD 65536

/* A frame beyond this is not copied but taken. */
#define SWAPPED (64u * CS_KIB)

uint64_t cs_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int64_t cs_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

struct cs_proc *cs_proc_new(struct cs_sandbox *s)
{
    struct cs_proc *p = CS_NEW(struct cs_proc);
    p->sandbox = s;
    p->pidfd = p->sock = -1;
    s->proc_count++;
    return p;
}

static void free_proc(struct cs_proc *p)
{
    struct cs_sandbox *s = p->sandbox;
    cs_closep(&p->sock);
    cs_closep(&p->pidfd);
    cs_wire_reader_done(&p->reader);
    cs_buf_done(&p->unsent);
    free(p);
    s->proc_count--;
    cs_sandbox_maybe_closed(s);
}

static void on_handle_closed(uv_handle_t *h)
{
    struct cs_proc *p = h->data;
    if (--p->handles == 0)
        free_proc(p);
}

void cs_proc_close(struct cs_proc *p)
{
    if (p->closing)
        return;
    p->closing = true;
    if (p->handles == 0) {
        free_proc(p);
        return;
    }
    uv_close((uv_handle_t *)&p->sock_poll, on_handle_closed);
    uv_close((uv_handle_t *)&p->pid_poll, on_handle_closed);
}

int cs_proc_bound(struct cs_proc *p, uint64_t memory, struct cs_err *err)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (p->bound == memory)
        return 0;
    if (cs_worker_bound(p->pid, p->baseline_bytes + memory, p->sandbox->uid_base, err) < 0)
        return -1;
    p->bound = memory;
#else
    (void)p; /* the shadow memory of a sanitizer counts as address space */
    (void)memory;
    (void)err;
#endif
    return 0;
}

void cs_proc_kill(struct cs_proc *p)
{
    if (p->pidfd >= 0)
        syscall(SYS_pidfd_send_signal, p->pidfd, SIGKILL, NULL, 0);
}

uint64_t cs_proc_resident(const struct cs_proc *p)
{
    char path[40], text[64] = "";
    snprintf(path, sizeof path, "/proc/%d/statm", (int)p->pid);
    CS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        return 0;
    const char *second = strchr(text, ' ');
    return second ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* One frame of an idle process: only READY makes sense, and only in this version. */
static int idle_frame(struct cs_proc *p, const struct cs_frame *f, struct cs_err *err)
{
    struct cs_str body = f->body;
    uint32_t version;
    if (f->type != CS_MSG_READY || !cs_field_u32(&body, &version) || version != CS_WIRE_VERSION)
        return cs_fail(err, CS_DENIED, "a worker answered with another version");
    cs_sandbox_proc_ready(p);
    return 0;
}

/* Hands out every frame that is complete; false if the process broke the rules. */
static bool frames(struct cs_proc *p)
{
    struct cs_frame f;
    struct cs_err err = {0};
    int got;
    while ((got = cs_wire_next(&p->reader, &f, &err)) > 0) {
        if (p->job)
            cs_job_frame(p->job, &f);
        else if (idle_frame(p, &f, &err) < 0)
            return false;
    }
    cs_alarm_set(p->sandbox);
    if (got < 0 && p->job)
        cs_job_decide_err(p->job, CS_ENDED_PROTOCOL, &err);
    return got == 0;
}

/* Reads until the socket is empty. False when it is at its end, or broken. */
static bool read_socket(struct cs_proc *p)
{
    for (;;) {
        size_t missing = cs_wire_missing(&p->reader);
        size_t room;
        char *to = cs_wire_room(&p->reader, missing > READ_AHEAD ? missing : READ_AHEAD, &room);
        ssize_t n = recv(p->sock, to, room, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n <= 0)
            return false;
        cs_wire_added(&p->reader, (size_t)n);
        if (!frames(p))
            return false;
        if ((size_t)n < room)
            return true;
    }
}

static void poll_socket(struct cs_proc *p);

static void flush(struct cs_proc *p)
{
    while (p->unsent_at < p->unsent.len) {
        ssize_t n = send(p->sock, p->unsent.at + p->unsent_at, p->unsent.len - p->unsent_at,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0)
            break; /* it is dead; its pidfd says so */
        p->unsent_at += (size_t)n;
    }
    p->unsent_at = 0;
    cs_buf_clear(&p->unsent);
}

static void on_socket(uv_poll_t *h, int status, int events)
{
    struct cs_proc *p = h->data;
    if (events & UV_WRITABLE)
        flush(p);
    if (status < 0 || ((events & UV_READABLE) && !read_socket(p))) {
        uv_poll_stop(&p->sock_poll);
        /* A worker is nothing without its socket; a guest may close its end and go on. */
        if (!p->job || !p->job->guest)
            cs_proc_kill(p);
        return;
    }
    if (events & UV_WRITABLE)
        poll_socket(p);
}

static void poll_socket(struct cs_proc *p)
{
    int events = UV_READABLE | (p->unsent.len ? UV_WRITABLE : 0);
    uv_poll_start(&p->sock_poll, events, on_socket);
}

void cs_proc_send(struct cs_proc *p, struct cs_buf *frame)
{
    bool idle = p->unsent.len == 0;
    if (idle && frame->len > SWAPPED) {
        struct cs_buf empty = p->unsent;
        p->unsent = *frame;
        *frame = empty;
    } else {
        cs_buf_put(&p->unsent, frame->at, frame->len);
    }
    if (!idle)
        return;
    flush(p);
    if (p->unsent.len)
        poll_socket(p);
}

/* Pid 1 of the tree has ended, so everything in its pid namespace has: take its status and last
 * words. */
static void on_death(uv_poll_t *h, int status, int events)
{
    (void)status;
    (void)events;
    struct cs_proc *p = h->data;
    siginfo_t info = {0};
    struct rusage usage = {0};
    if (syscall(SYS_waitid, P_PIDFD, p->pidfd, &info, WEXITED | WNOHANG, &usage) < 0 &&
        errno != ECHILD)
        return;
    uv_poll_stop(&p->pid_poll);
    read_socket(p);
    uv_poll_stop(&p->sock_poll);
    struct cs_job *j = p->job;
    if (!j) {
        cs_sandbox_proc_died(p);
        return;
    }
    j->wait_code = info.si_code;
    j->wait_status = info.si_status;
    j->rusage = usage;
    cs_job_reaped(j);
}

int cs_proc_watch(struct cs_proc *p, struct cs_err *err)
{
    uv_loop_t *loop = p->sandbox->loop;
    if (uv_poll_init(loop, &p->sock_poll, p->sock) != 0)
        return cs_fail(err, CS_SYSTEM, "cannot watch the worker's socket");
    p->handles++;
    p->sock_poll.data = p;
    if (uv_poll_init(loop, &p->pid_poll, p->pidfd) != 0) {
        uv_close((uv_handle_t *)&p->sock_poll, on_handle_closed);
        p->closing = true;
        return cs_fail(err, CS_SYSTEM, "cannot watch the worker's pidfd");
    }
    p->handles++;
    p->pid_poll.data = p;
    p->watched = true;
    poll_socket(p);
    uv_poll_start(&p->pid_poll, UV_READABLE, on_death);
    return 0;
}

/*
 * What the tests of cs_launch share: start a real process, read from it, see it end.
 */
#ifndef LAUNCHING_H
#define LAUNCHING_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "sandbox/launch.h"

/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uv_loop_t *loop;
static char dir[64]; /* of this run */

static inline int64_t ms_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static const char *const plain_env[] = {"PATH=/usr/bin:/bin", NULL};

static inline struct cs_child start(const struct cs_launch *l)
{
    struct cs_child child;
    struct cs_err err = {0};
    if (cs_launch(loop, l, &child, &err) < 0)
        fail_msg("%s", err.msg);
    return child;
}

static inline void refuse(const struct cs_launch *l, struct cs_err *err)
{
    struct cs_child child = {0};
    *err = (struct cs_err){0};
    assert_int_equal(cs_launch(loop, l, &child, err), -1);
    assert_int_equal(child.pid, 0);
}

/* Reads until there are `want` bytes, the end of the stream, or too much time has passed. */
static inline void read_some(int fd, size_t want, struct cs_buf *to)
{
    int64_t until = ms_now() + 60000;
    while (to->len < want && ms_now() < until) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, 1, 100);
        ssize_t n = read(fd, cs_buf_room(to, 65536), 65536);
        if (n == 0)
            return;
        if (n > 0)
            cs_buf_added(to, (size_t)n);
    }
}

static inline siginfo_t await_end(struct cs_child *child)
{
    siginfo_t info = {0};
    struct pollfd p = {.fd = child->pidfd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 60000), 1);
    assert_int_equal(waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED), 0);
    cs_child_done(child);
    return info;
}

static inline bool alive(pid_t pid)
{
    return kill(pid, 0) == 0;
}

static inline bool gone_soon(pid_t pid)
{
    for (int i = 0; i < 6000 && alive(pid); i++)
        usleep(10000);
    return !alive(pid);
}

static inline int count_fds(void)
{
    int n = 0;
    for (int i = 0; i < 4096; i++)
        n += fcntl(i, F_GETFD) >= 0;
    return n;
}

#endif

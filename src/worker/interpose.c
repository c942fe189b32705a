/*
 * Functions of the C library that the executable defines again, so that the engine calls these.
 *
 * The engine, ICU and the C++ library find `clock_gettime`, `gettimeofday`, `time` and `mmap` in
 * the executable first. In the daemon and the zygote they only forward. In a worker the real-time
 * clock is the virtual one (design, principle 5), and refused memory is counted, which is how a
 * crash of the engine is told from a reached memory limit.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "worker/clock.h"

static struct {
    int (*clock_gettime)(clockid_t, struct timespec *);
    int (*gettimeofday)(struct timeval *, void *);
    bool on, live;
    int64_t now_us, origin_us;
    int64_t at_us; /* the monotonic clock when now_us was set */
    atomic_uint refused;
} clk;

__attribute__((constructor)) static void find_real_functions(void)
{
    *(void **)&clk.gettimeofday = dlsym(RTLD_NEXT, "gettimeofday");
    *(void **)&clk.clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
}

static int64_t monotonic_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void cs_clock_start(int64_t now_us, bool live)
{
    clk.live = live;
    clk.origin_us = clk.now_us = now_us;
    clk.at_us = monotonic_us();
    clk.on = true;
}

void cs_clock_advance(int64_t to_us)
{
    if (to_us <= clk.now_us)
        return;
    clk.at_us += to_us - clk.now_us;
    clk.now_us = to_us;
}

void cs_clock_follow(int64_t time_us)
{
    if (time_us > clk.now_us)
        clk.now_us = time_us;
    clk.at_us = monotonic_us() + (clk.now_us - time_us);
}

int64_t cs_clock_now(void)
{
    if (clk.live)
        cs_clock_advance(cs_clock_running());
    return clk.now_us;
}

int64_t cs_clock_origin(void)
{
    return clk.origin_us;
}

int64_t cs_clock_running(void)
{
    return clk.now_us + (monotonic_us() - clk.at_us);
}

uint32_t cs_memory_refused(void)
{
    return atomic_load_explicit(&clk.refused, memory_order_relaxed);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    if (clk.on && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        int64_t now_us = cs_clock_now();
        t->tv_sec = now_us / 1000000;
        t->tv_nsec = now_us % 1000000 * 1000;
        return 0;
    }
    if (clk.clock_gettime)
        return clk.clock_gettime(id, t);
    return (int)syscall(SYS_clock_gettime, id, t);
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    if (clk.on) {
        int64_t now_us = cs_clock_now();
        t->tv_sec = now_us / 1000000;
        t->tv_usec = now_us % 1000000;
        return 0;
    }
    if (clk.gettimeofday)
        return clk.gettimeofday(t, zone);
    return (int)syscall(SYS_gettimeofday, t, zone);
}

time_t time(time_t *out)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (out)
        *out = t.tv_sec;
    return t.tv_sec;
}

#ifndef __SANITIZE_THREAD__

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    void *p = (void *)syscall(SYS_mmap, at, len, prot, flags, fd, offset);
    if (p == MAP_FAILED && errno == ENOMEM)
        atomic_fetch_add_explicit(&clk.refused, 1, memory_order_relaxed);
    return p;
}

void *mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    return mmap(at, len, prot, flags, fd, offset);
}

#endif

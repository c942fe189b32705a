/*
 * The worker's clock, and the count of refused memory: what the interposed C library functions
 * (interpose.c) tell the engine and what they learn.
 *
 * Runs in: linked into every role. Only after cs_clock_start, which only a worker calls, does the
 * real-time clock of the process stand still between events (unless it is live); before, all calls
 * pass through.
 */
#ifndef CS_WORKER_CLOCK_H
#define CS_WORKER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* From now on Date and every other user of the real-time clock sees `now_us` since the epoch;
 * `live`: and it goes on from there. */
void cs_clock_start(int64_t now_us, bool live);

/* The daemon says it is `time_us` now. The program's clock moves there, but never backwards. */
void cs_clock_follow(int64_t time_us);

/* A timer that is due at `to_us` fires. */
void cs_clock_advance(int64_t to_us);

int64_t cs_clock_now(void);    /* what the program sees */
int64_t cs_clock_origin(void); /* where cs_clock_start put it */

/*
 * What the program's clock would show by now had it kept running: the last event's time plus the
 * real time since. For timers of a clock that is live; otherwise nothing depends on it.
 */
int64_t cs_clock_running(void);

/* How often the kernel refused memory to this process. */
uint32_t cs_memory_refused(void);

#endif

/*
 * Last words: a worker whose engine crashes still says why.
 *
 * Runs in: install in the zygote (handlers and stack are inherited by fork), the rest in the
 * worker. What the handlers send was built before, so they only call send and _exit.
 */
#ifndef CS_WORKER_CRASH_H
#define CS_WORKER_CRASH_H

#include <stdbool.h>

#include "base/str.h"

/* Once, after the engine has started: its own handlers are replaced. */
void cs_crash_install(void);

/* From now on a crash may answer on `sock`: a program has arrived. */
void cs_crash_arm(int sock);

/* True while a frame is on its way out: a second one would corrupt the stream. */
void cs_crash_sending(bool sending);

/*
 * The program's answer is ready: send `frame` (borrowed to the end) after a short while even if the
 * program keeps the engine busy for ever. An empty one: no more.
 */
void cs_crash_answer(struct cs_str frame);

#endif

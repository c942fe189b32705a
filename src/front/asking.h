/*
 * Inside of front/: a person at the terminal answers what servers and the guard ask, one question
 * after the other: servers line by line, the guard by a key. Prompts go to stderr, lines come from
 * stdin; the terminal edits them.
 *
 * Runs in: daemon, loop thread; waiting for a line does not hold up the loop.
 * Order:   new -> take / withdraw ... -> close, which frees it later on the loop.
 * Failure: what cannot be asked is declined, with a line that says why. So is a model: there is
 *          none at a terminal. The end of the input (Ctrl-D) declines; Ctrl-C is not ours.
 *
 * What is typed for a server goes to the server that asked, and nowhere else. A question of the
 * guard at the end of the input is left: somebody else may answer it.
 */
#ifndef CS_FRONT_ASKING_H
#define CS_FRONT_ASKING_H

#include <stdbool.h>
#include <uv.h>

#include "front/deciding.h"
#include "tools/tools.h"

struct cs_asking;

/* The kinds of questions that can be asked here, as cs_runner_options has them; 0 if nobody is at a
 * terminal. */
unsigned cs_asking_kinds(void);

struct cs_asking *cs_asking_new(uv_loop_t *loop,
                                void (*answer)(void *ctx, uint64_t id, struct cs_str result),
                                void *ctx);
void cs_asking_close(struct cs_asking *asking); /* NULL is fine; `answer` runs no more */

bool cs_asking_take(struct cs_asking *asking, const struct cs_tool_ask *ask);
void cs_asking_withdraw(struct cs_asking *asking, uint64_t id);

/* A question of the guard, with a key to press; `given` as for cs_deciding_new. `decided` (set it
 * first) runs at most once for each, when it is off the terminal. */
void cs_asking_on_decision(struct cs_asking *asking,
                           void (*decided)(void *ctx, struct cs_str id,
                                           const struct cs_choice *choice));
int cs_asking_approval(struct cs_asking *asking, const struct cs_approval_row *row,
                       const struct cs_choice *given, struct cs_err *err);
/* Somebody else was first, or it is over: taken off. False: it was not there. */
bool cs_asking_settled(struct cs_asking *asking, struct cs_str id);

/* Is a question on the terminal? Whoever prints something meanwhile calls the other two around it.
 * NULL is fine for all of them. */
bool cs_asking_busy(const struct cs_asking *asking);
void cs_asking_aside(struct cs_asking *asking);
void cs_asking_back(struct cs_asking *asking);

#endif

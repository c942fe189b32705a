/*
 * Inside of front/: whoever waits for a program at this end hears what persons are asked about it.
 * At a terminal the card and its keys appear in place; otherwise a line on stderr says what it
 * waits for and how to answer. The first answer wins, wherever it is given.
 *
 * Runs in: daemon, loop thread.
 * Order:   new -> asked / over / decide ... -> close, which frees it when the store has answered.
 */
#ifndef CS_FRONT_APPROVING_H
#define CS_FRONT_APPROVING_H

#include "front/asking.h"

struct cs_approving;

/* All is lent. `asking` NULL: nobody is at a terminal. `verb` is for messages. */
struct cs_approving *cs_approving_new(struct cs_store *store, const struct cs_policy *policy,
                                      struct cs_asking *asking, const char *verb);
void cs_approving_close(struct cs_approving *a); /* NULL is fine */

/* As cs_run_watch has them. */
void cs_approving_asked(struct cs_approving *a, const struct cs_approval_row *row);
void cs_approving_over(struct cs_approving *a, const struct cs_approval_row *row);
/* For cs_asking_on_decision. */
void cs_approving_decide(struct cs_approving *a, struct cs_str id, const struct cs_choice *choice);

/* May the one who asked not answer it? `rules` says from which risk on. */
bool cs_approving_four_eyes(const struct cs_approval_rules *rules, struct cs_str risk);

#endif

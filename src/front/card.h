/*
 * Inside of front/: a question of the guard, laid out to be read: who asks and what for, how risky
 * and why, the code with the lines marked, the call, and which data would go where.
 *
 * Everything that is not ours is made visible (base/visible.h) and indented, so that no line of it
 * looks like one of ours. What is left out is said.
 */
#ifndef CS_FRONT_CARD_H
#define CS_FRONT_CARD_H

#include <stdbool.h>
#include <stdio.h>

#include "store/store.h"

#define CS_CARD_LINES 40 /* of a program, or of arguments, without `details` */

/* `details`: all of the code, all findings, all limits. True: all there is was shown. */
bool cs_card_print(FILE *f, bool colour, bool details, const struct cs_approval_row *row);

/* "24 s", "3 h"; what is over is "0 s". */
#define CS_CARD_LEFT 24
const char *cs_card_left(int64_t ms, char text[CS_CARD_LEFT]);

/* The colour of a level, or of a state. */
const char *cs_card_style(struct cs_str level);

/* Is this one of the answers that the card offers? Of a card without a list: those of its kind. */
bool cs_card_offers(const struct cs_approval_row *row, const char *answer);

/* A member of the card that is a text: "why", "intent". Put behind `out`, visible, in one line. */
void cs_card_member(const struct cs_approval_row *row, const char *name, struct cs_buf *out);

#endif

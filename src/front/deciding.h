/*
 * Inside of front/: one person, one question of the guard: the card, a key to press, and what that
 * key still needs (a reason, a date). It prints and is fed; the terminal is asking.c's.
 *
 *     new -> show -> prompt -> key or line (whatever wants_key says) ... -> true: choice -> free
 */
#ifndef CS_FRONT_DECIDING_H
#define CS_FRONT_DECIDING_H

#include "run/approvals.h"

struct cs_choice {
    bool left; /* no answer: somebody else may give it */
    enum cs_approval_answer answer;
    struct cs_str arguments, reason;
    int64_t until;
};

/* What the command line says beforehand; y means this. NULL: once. */
struct cs_deciding *cs_deciding_new(const struct cs_approval_row *row,
                                    const struct cs_choice *given);
void cs_deciding_free(struct cs_deciding *d); /* NULL is fine */

struct cs_str cs_deciding_id(const struct cs_deciding *d);
void cs_deciding_show(struct cs_deciding *d, bool colour);
bool cs_deciding_wants_key(const struct cs_deciding *d);
/* It was no already, and only the reason is missing. */
bool cs_deciding_denied(const struct cs_deciding *d);
void cs_deciding_prompt(const struct cs_deciding *d, struct cs_buf *out);

/* True: it is decided, and `choice` is lent until it is freed. */
bool cs_deciding_key(struct cs_deciding *d, char key, struct cs_choice *choice);
bool cs_deciding_line(struct cs_deciding *d, struct cs_str line, struct cs_choice *choice);

/* "30d" is in thirty days; else a date, perhaps with a time, in UTC. It must be to come. */
int cs_deciding_until(const char *text, int64_t *ms, struct cs_err *err);
/* A JSON object, or any, or empty. */
int cs_deciding_arguments(struct cs_str text, struct cs_err *err);

#endif

/*
 * Inside of run/: an execution that a process began and this one goes on with.
 *
 *     resume.c       taken over, or settled as lost
 *     resume_live.c  from the record into the world: what was not recorded waits until all that was
 *                    has been heard
 */
#ifndef CS_RUN_RESUME_H
#define CS_RUN_RESUME_H

#include "run/journal.h"

/* A wish, kept. */
struct cs_kept_wish {
    struct cs_kept_wish *next;
    struct cs_wish wish; /* its texts are in `text` */
    char *text;
    const struct cs_journal_event
        *sent; /* it was sent before, and nobody knows what became of it */
};

struct cs_resume {
    struct cs_buf journal;
    struct cs_journal_doc doc; /* what it says, and the player plays */
    struct cs_kept_wish *held; /* until the record is over, oldest first */
    bool started;              /* the verdict was heard */
    bool live;                 /* the record is over */
    bool released;             /* its session has what it left: only its end is not on record */
    struct cs_err lost;        /* why it cannot go on */
};

void cs_resume_free(struct cs_resume *resume);

#endif

/*
 * Inside of run/: between a verdict and what it stops. The guard asks, waits, and lets go on.
 *
 *   guard.c      a program before it runs, a call before it is sent: allowed, refused, or asked for
 *   flows.c      labels of what has come in, of one execution and its session
 *   approvals.c  questions of this process: asked, looked for, expired, answered; grants
 *   card.c       what the person sees, and what the answer binds
 */
#ifndef CS_RUN_GUARD_H
#define CS_RUN_GUARD_H

#include "run/approvals.h"
#include "run/inside.h"

/* --- approvals.c --- */

struct cs_question; /* one that is open */

/* What is asked. All of it is lent. */
struct cs_question_want {
    struct cs_run *run;
    const struct cs_gate_call *call; /* NULL: the whole program */
    enum cs_risk risk;
    struct cs_str why, rule;
    struct cs_str card;        /* JSON; made by card.c */
    unsigned char binding[32]; /* of exactly this */
    unsigned char scope[32];   /* of what a grant for a session or program would cover */
};

/* How it went. */
struct cs_question_end {
    bool approved;
    struct cs_str reason; /* of a denial: for the program; "nobody answered within 30 s" ... */
    struct cs_str by;
    bool asked; /* false: a grant or an earlier answer was there */
};
/*
 * Looks for a grant and an unused answer first, then asks on every channel there is. `done` runs
 * once, never before this has returned, and not at all after cs_question_drop. The caller stops the
 * clock. Without a store it is denied: nobody can be asked.
 */
struct cs_question *cs_question_ask(const struct cs_question_want *want,
                                    void (*done)(void *ctx, const struct cs_question_end *end),
                                    void *ctx);
/* Its execution or call is over: withdrawn. Of one that leaves for the next process (`keep`) it
 * stays pending. */
void cs_question_drop(struct cs_question *question, bool keep);
void cs_approvals_open(struct cs_runner *runner);
void cs_approvals_close(struct cs_runner *runner);

/* --- card.c --- */

void cs_card_program(struct cs_run *run, struct cs_question_want *want, struct cs_buf *card);
void cs_card_call(struct cs_gate_call *call, const struct cs_flow_verdict *flow,
                  struct cs_question_want *want, struct cs_buf *card);

/* --- flows.c --- */

/* Something has come in by this call. */
void cs_flows_came(struct cs_gate_call *call);
/* May this call have what has come in? */
struct cs_flow_verdict cs_flows_check(struct cs_gate_call *call);
/* {"from", "call", "labels", "data", "to", "labels_to"} of everything that meets in it. */
void cs_flows_json(struct cs_gate_call *call, const struct cs_flow_verdict *verdict,
                   struct cs_json_writer *w);
void cs_flows_done(struct cs_run *run);

/* --- guard.c --- */

struct cs_tool_view cs_guard_view(const struct cs_tool *tool);
/* The facts are there: judges, and then gives the verdict to the job, now or later. */
void cs_guard_facts(struct cs_run *run, struct cs_str facts);
/* A guest: before its job starts. As a step of the way. */
int cs_step_guard(struct cs_run *run, struct cs_err *err);
/* Everything else about this call is checked: 1 it may go on, 0 it waits for a person or was
 * refused. cs_gate_granted follows, or a refusal. */
int cs_guard_call(struct cs_gate_call *call);
void cs_gate_granted(struct cs_gate_call *call); /* call.c */
void cs_guard_close(struct cs_run *run);         /* the program is over */

#endif

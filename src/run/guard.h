/*
 * Inside of run/: between a verdict and what it stops. The guard asks, waits, and lets go on.
 *
 *   guard.c      a program before it runs, a call before it is sent: allowed, refused, or asked for
 *   guard_late.c the same, of what a program imports while it runs
 *   flows.c      labels of what has come in, of one execution and its session
 *   approvals.c  questions of this process: asked, looked for, expired, answered; grants
 *   card.c       what the person sees, and what the answer binds
 *   bound.c      what a grant is good for
 */
#ifndef CS_RUN_GUARD_H
#define CS_RUN_GUARD_H

#include "run/approvals.h"
#include "run/assess.h"
#include "run/bound.h"
#include "run/inside.h"

/* --- approvals.c --- */

struct cs_question; /* one that is open */

/* What is asked. All of it is lent. */
struct cs_question_want {
    struct cs_run *run;
    const struct cs_gate_call *call; /* NULL: the whole program */
    enum cs_risk risk;
    struct cs_str why, rule;
    bool once;                 /* no grant is good for it, and it is good for none */
    unsigned reasons;          /* enum cs_why, of a call; */
    struct cs_str command;     /* and the rule that its command breaks */
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

/* --- what the guard keeps of one execution --- */

#define CS_INPUTS_SHOWN 2048
#define CS_ASKED_MOST   20 /* questions of one execution; whoever needs more is refused */

/* A call that somebody has refused: one like it is not asked about again. */
struct cs_refused_call {
    struct cs_refused_call *next;
    unsigned char scope[32];
    struct cs_str why; /* as the program was told; in the arena of the run */
};

/* Something that has come in; its texts are its own. */
struct cs_came {
    struct cs_str server, server_ident, tool, ident, place;
    unsigned labels;
    uint32_t call; /* the number of the first such call; 0: of an earlier execution */
    bool unknown;  /* its server had not said what it offers: its labels are the worst until then */
};

/* What has come in, of an execution or a session. Bounded: then the last one stands for the rest,
 * with the labels of all of them. */
#define CS_CAME_MOST 64
struct cs_inflow {
    struct cs_came *at;
    size_t count, cap;
    struct cs_arena arena;
};

struct cs_guarded {
    struct cs_question *question; /* about the whole program; NULL: none, or it is answered */
    unsigned char binding[32];    /* of it */
    bool allowed;                 /* the answer is yes, and it has its turn to wait for */
    bool approved;                /* a person, or a grant, let this program run */
    bool listed;                  /* it has waited for what servers offer */
    bool must_ask;                /* its process ended while somebody was asked about it */
    bool wants_turn; /* it waits for one, which it gave back while somebody was asked */
    unsigned waits;  /* things that are asked about */
    unsigned asked;  /* questions so far */
    uint64_t since_ns, waited_ns; /* how long it waited for persons */
    struct cs_str facts;          /* of a program that is asked about, in the arena */
    struct cs_str by;             /* who let it run */
    struct cs_str denied;         /* why it may not, if that is decided */
    struct cs_refused_call *refused;
    uint32_t imports;            /* that were judged while it ran, */
    struct cs_finding *findings; /* of the verdict, with those of them; NULL: there are none */
    uint32_t findings_room;
    struct cs_inflow came;         /* in this execution, */
    struct cs_reading *reading;    /* what the store has of it; NULL: it is not read now */
    struct cs_session_flows *kept; /* or, if it is in a session, in that; NULL: not yet */
};
/* Made when it is first wanted. */
struct cs_guarded *cs_guarded_of(struct cs_run *run);

/* --- card.c --- */

void cs_card_program(struct cs_run *run, struct cs_question_want *want, struct cs_buf *card);
void cs_card_call(struct cs_gate_call *call, const struct cs_flow_verdict *flow,
                  struct cs_question_want *want, struct cs_buf *card);

/* --- flows.c --- */

int cs_step_flows(struct cs_run *run, struct cs_err *err); /* what has come into its session */
/* Something has come in by this call. */
void cs_flows_came(struct cs_gate_call *call);
/* The same, of a call that is answered from the record. */
void cs_flows_played(struct cs_run *run, struct cs_str server, struct cs_str tool,
                     struct cs_str arguments, uint32_t call);
/* The same, of all calls that an answer from the cache was made by. */
void cs_flows_known(struct cs_run *run);
/* All that has come in until now, for an artifact that is made now; nothing: nothing has. */
void cs_flows_put(struct cs_run *run, struct cs_buf *json);
/* An artifact is read: what had come in when it was made comes in. */
void cs_flows_read(struct cs_run *run, struct cs_str json);
/* May this call have what has come in? */
struct cs_flow_verdict cs_flows_check(struct cs_gate_call *call);
/* {"from", "call", "labels", "data", "to", "labels_to"} of everything that meets in it. */
void cs_flows_json(struct cs_gate_call *call, const struct cs_flow_verdict *verdict,
                   struct cs_json_writer *w);
void cs_flows_done(struct cs_run *run);
/* The session is over, or all are. */
void cs_flows_forget(struct cs_sessions *sessions, struct cs_str tenant, struct cs_str id);
void cs_flows_close(struct cs_sessions *sessions);

/* --- history.c: who asked lately, and how it ended; in memory, bounded --- */

void cs_history_free(struct cs_history *history);
void cs_history_begun(struct cs_run *run, uint32_t *lately, uint32_t *bad);
void cs_history_bad(struct cs_run *run);

/* --- guard.c --- */

/* The facts are there: judges, and then gives the verdict to the job, now or later. */
void cs_guard_facts(struct cs_run *run, struct cs_str facts);
/* What to do about a program that may not run; it goes with the words that say so, now and in a
 * replay. */
struct cs_str cs_guard_advice(struct cs_str why);
/* A guest: before its job starts. As a step of the way. */
int cs_step_guard(struct cs_run *run, struct cs_err *err);
/* What a call is checked against, and what a person sees of its tool, is what the server says now.
 */
void cs_guard_newest(struct cs_gate_call *call);
/* Everything else about this call is checked: 1 it may go on, 0 it waits for a person or was
 * refused. cs_gate_granted follows, or a refusal. */
int cs_guard_call(struct cs_gate_call *call);
void cs_gate_granted(struct cs_gate_call *call); /* call.c */
void cs_gate_check(struct cs_gate_call *call);   /* call.c: all of it once more */
void cs_guard_close(struct cs_run *run);         /* the program is over */
void cs_guard_settled(struct cs_run *run, const struct cs_job_end *end);

/* Somebody is asked, or not any more: its clock stands still meanwhile, it has no turn, and it says
 * so on record. Once for each thing that is asked about. */
void cs_guard_waits(struct cs_run *run);
void cs_guard_goes_on(struct cs_run *run);
/* It has got a turn. True: it wanted one in order to go on after a question. */
bool cs_guard_turn(struct cs_run *run);
/* Is somebody asked about it now? */
bool cs_guard_asks(const struct cs_run *run);

/* For guard_late.c. What else weighs; somebody has said yes, to a call that is `allowed` now; how
 * somebody said no, and what a program should do about it. */
struct cs_circumstances cs_guard_circumstances(struct cs_run *run);
void cs_guard_may_go_on(struct cs_run *run);
struct cs_str cs_guard_why_not(struct cs_run *run, const char *what,
                               const struct cs_question_end *end);
struct cs_str cs_guard_leave_it(struct cs_str why);

/* --- guard_late.c --- */

/* Is it the call by which a worker asks whether something may be imported? */
bool cs_guard_is_late(struct cs_str server, struct cs_str tool);
/* Judges, and answers the call now or later. */
void cs_guard_late(struct cs_gate_call *call);
/* Somebody said yes, and it has its turn. */
void cs_guard_late_granted(struct cs_gate_call *call);
/* The same, of another program than the recorded one: nobody is asked. */
enum cs_answer cs_guard_late_again(struct cs_run *run, const struct cs_wish *wish,
                                   struct cs_buf *payload);

#endif

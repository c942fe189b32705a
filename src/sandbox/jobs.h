/*
 * Inside of sandbox/: what sandbox.c (the pool and its zygote), proc.c (a jailed process), job.c
 * (one execution), frames.c (what it says), answers.c (what it hears) and guest_job.c (the
 * interpreters) share.
 *
 * A process is forked ahead of time, waits in the pool, gets one job, and dies with it:
 *
 *     proc:  asked of the zygote -> ready in the pool -> has a job -> killed -> reaped
 *     job:   waits for a process -> runs -> over: process reaped, cage removed, files tidied ->
 * `ended`
 */
#ifndef CS_SANDBOX_JOBS_H
#define CS_SANDBOX_JOBS_H

#include <sys/resource.h>
#include <uv.h>

#include "base/buf.h"
#include "sandbox/cage.h"
#include "sandbox/guest.h"
#include "sandbox/roots.h"
#include "sandbox/sandbox.h"
#include "sandbox/zygote.h"

/* The interval of cs_cage_tick, and the precision of deadlines. */
#define CS_TICK_MS 20

/* A worker's job that is this old at a tick gets a control group: shorter ones are bounded by
 * rlimits alone. Joining a group waits for the kernel's readers (5 to 10 ms), which is more than
 * most programs run, and no share of the processor is due before the burst is used up. */
#define CS_CAGE_AGE_MS 250

/* How long a job waits for a process before we say that we cannot run it. */
#define CS_WAIT_FOR_PROCESS_MS 60000

struct cs_proc {
    struct cs_sandbox *sandbox;
    struct cs_proc *next; /* in the sandbox's list of asked or ready ones */
    struct cs_job *job;   /* NULL: not yet */
    uint32_t ticket;
    pid_t pid;
    int pidfd, sock;
    uint64_t bound;          /* the memory limit it has, in bytes; 0: none yet */
    uint64_t baseline_bytes; /* address space of the zygote it came from */
    uint64_t baseline_rss;   /* what it occupied when it was ready */
    uv_poll_t sock_poll, pid_poll;
    unsigned handles;
    bool watched, closing;
    struct cs_wire_reader reader;
    struct cs_buf unsent;
    size_t unsent_at;
};

/* A request of the program that needs the file system. They are done in their order. */
struct cs_file_job {
    struct cs_file_job *next;
    bool is_module;
    bool silent; /* for its effect alone: the answer came from a record */
    bool asked;  /* a module that was missing, and that somebody was asked for */
    bool done;
    uint64_t id;
    enum cs_file_op op;
    uint32_t flags;
    struct cs_buf path, data; /* copied from the frame */
    enum cs_answer answer;
    struct cs_buf canonical, payload;
};

/* What a guest has beyond a process. */
struct cs_guest_io {
    struct cs_sandbox *sandbox;
    struct cs_job *job; /* NULL once the job is past needing it */
    struct cs_guest guest;
    uv_poll_t control_poll, out_poll, err_poll;
    unsigned handles;
    bool closing;
    bool ended;
    int status; /* as from waitpid, once ended */
};

struct cs_job {
    struct cs_sandbox *sandbox;
    struct cs_job *next; /* in the sandbox's list of waiting or busy ones */
    struct cs_proc *proc;
    struct cs_guest_io *guest; /* NULL: a worker */
    struct cs_limits limits;
    enum cs_language language;
    char *workspace, *workspace_out;
    uint32_t state_bytes; /* 0: no state is wanted */
    const struct cs_job_events *events;
    void *ctx;

    struct cs_buf program; /* the PROGRAM frame, until it is sent */
    uint64_t asked_ns, started_ns, cpu_at_start_us;
    bool begun;                    /* its time runs */
    unsigned pauses;               /* that have not ended */
    uint64_t paused_ns;            /* time that does not count */
    uint64_t looked_ns, looked_us; /* while it is paused: when it was last looked at what it does,
                                    * and its CPU time by then */

    enum cs_clock clock;
    int64_t base_us; /* what time it was for the program at base_ns of the monotonic clock */
    uint64_t base_ns;
    int64_t last_us;       /* the time of the last frame */
    uint64_t sent;         /* frames */
    uint64_t wake_ns;      /* when its next timer is due; 0: it has none */
    bool asleep;           /* it waits, and nothing is on its way to it, */
    int64_t due_us;        /* and this is when its next timer is due */
    unsigned wished_files; /* that are answered from a record, and are not yet */

    struct cs_cage *cage;
    struct cs_usage usage;
    struct cs_roots roots;
    struct cs_file_job *files, *last_file; /* that wait for their turn */
    unsigned file_count;
    struct cs_file_job *batch; /* those in the thread pool, which alone touches roots then */
    uv_work_t batch_work;
    struct cs_file_job *missing; /* modules that `module` was asked for */
    int next_servers;            /* takes the place of /mcp-servers before the next batch; or -1 */
    unsigned calls, imports;     /* that it has asked for */
    struct cs_open_call {
        uint64_t id;
        size_t bytes;
    } * open; /* calls that are not answered yet */
    unsigned open_count, open_cap;
    size_t open_bytes;

    bool dying;    /* killed: nothing it says is answered any more */
    bool reaped;   /* pid 1 of the tree is gone */
    bool working;  /* copy-in or tidying is in the pool */
    bool tidy;     /* files are copied out and removed */
    bool decided;  /* end.how is final */
    bool reported; /* DONE came, payload holds it */
    bool copied_in;
    bool wants_harvest;
    struct cs_job_end end;
    struct cs_buf payload, state;
    uv_work_t work;
    void (*then)(struct cs_job *j); /* after copying in */
    struct cs_err work_err;
    int wait_code, wait_status; /* CLD_*, and exit code or signal */
    struct rusage rusage;
};

struct cs_sandbox {
    uv_loop_t *loop;
    struct cs_sandbox_options options;
    char *scratch_dir;
    uint32_t uid_base; /* as root: the first id that jailed processes run as */
    struct cs_cages *cages;

    struct cs_zygote zygote;
    bool zygote_alive, zygote_ready;
    uv_poll_t *zygote_poll; /* one per zygote, on the heap: it outlives its zygote by a moment */
    unsigned zygote_failures;
    uint64_t zygote_retry_ns;
    struct cs_err zygote_err;
    uint64_t baseline_bytes;
    uint32_t forks, tickets, numbers;

    struct cs_proc *asked, *ready;
    unsigned asked_count, ready_count, proc_count;
    struct cs_job *waiting, *busy;

    uv_timer_t tick;  /* every CS_TICK_MS while a job is there */
    uv_timer_t sweep; /* every millisecond while a cage could not be removed yet */
    int alarm;        /* a timerfd: when the first timer of a program is due */
    uv_poll_t alarm_poll;
    uint64_t alarm_ns; /* when that is; 0: it is off */
    bool alarm_stale;  /* a program said something new about it */
    bool closing;
    unsigned handles;
    void (*closed)(void *ctx);
    void *closed_ctx;
};

uint64_t cs_now_ns(void); /* monotonic */
int64_t cs_now_us(void);  /* wall clock */

/* sandbox.c */
struct cs_jail_options cs_sandbox_jail(const struct cs_sandbox *s, uint32_t slot);
void cs_sandbox_refill(struct cs_sandbox *s);
void cs_sandbox_proc_ready(struct cs_proc *p);
void cs_sandbox_proc_died(struct cs_proc *p); /* an idle one */
void cs_sandbox_job_over(struct cs_job *j);
void cs_sandbox_sweep(struct cs_sandbox *s); /* a cage could not be removed yet */
void cs_sandbox_maybe_closed(struct cs_sandbox *s);

/* proc.c */
struct cs_proc *cs_proc_new(struct cs_sandbox *s);
int cs_proc_watch(struct cs_proc *p, struct cs_err *err);   /* pid, pidfd and sock are set */
void cs_proc_send(struct cs_proc *p, struct cs_buf *frame); /* may take what is in it */
/* Bounds the address space of a worker from outside, so that code inside has no say in it. */
int cs_proc_bound(struct cs_proc *p, uint64_t memory, struct cs_err *err);
void cs_proc_kill(struct cs_proc *p);
uint64_t cs_proc_resident(const struct cs_proc *p); /* bytes it occupies now; 10 us */
void cs_proc_close(struct cs_proc *p); /* frees it, when the loop has let go of its handles */

/* job.c */
void cs_job_give(struct cs_job *j, struct cs_proc *p); /* this process is yours: run */
void cs_job_begin(struct cs_job *j);                   /* the clock starts */
void cs_job_decide(struct cs_job *j, enum cs_ending how);
void cs_job_decide_limit(struct cs_job *j, enum cs_limit limit);
void cs_job_decide_err(struct cs_job *j, enum cs_ending how, const struct cs_err *err);
void cs_job_reaped(struct cs_job *j);
void cs_job_step(struct cs_job *j); /* towards `ended`, as far as it goes now */
void cs_job_tick(struct cs_job *j, uint64_t now);
int cs_job_cage(struct cs_job *j, struct cs_err *err);
void cs_job_tighten(struct cs_job *j, const struct cs_limits *limits);
void cs_job_copy_in(struct cs_job *j, void (*then)(struct cs_job *j));

/* answers.c */
void cs_job_time_starts(struct cs_job *j, int64_t at_us);
/* Notes a call that wants an answer; false if there are too many, or one of that id. */
bool cs_job_open_call(struct cs_job *j, uint64_t id, size_t bytes);
/* Adds the frame of an answer to `out`, if it may be sent now, and its time to the answer. */
void cs_job_tell(struct cs_job *j, struct cs_heard *heard, struct cs_buf *out);
void cs_job_send(struct cs_job *j, struct cs_buf *frames);
bool cs_job_on_sleep(struct cs_job *j, const struct cs_frame *f);
int cs_alarm_open(struct cs_sandbox *s, struct cs_err *err);
void cs_alarm_set(struct cs_sandbox *s); /* after frames were read */

/* frames.c */
void cs_job_frame(struct cs_job *j, const struct cs_frame *f);
void cs_job_frames_done(struct cs_job *j); /* what is left of them */

/* guest_job.c */
int cs_guest_job_start(struct cs_job *j, const struct cs_job_spec *spec, struct cs_err *err);
void cs_guest_job_drain(struct cs_job *j);
void cs_guest_job_close(struct cs_job *j);

#endif

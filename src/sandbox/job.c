/* One execution: its clock, its cage, its files, and its orderly end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/mem.h"
#include "sandbox/jobs.h"

/* JIT code and object structures live in address space that was reserved before the limit was set
 * (engine facts: up to 130 MB), so the outer fence of a worker stands a little further out. */
#define WORKER_MEMORY_SLACK (128u * CS_MIB)

static uint64_t cpu_us(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static void bound_memory(struct cs_job *j)
{
    struct cs_err err = {0};
    if (!j->guest && cs_proc_bound(j->proc, j->limits.memory, &err) < 0)
        cs_job_decide_err(j, CS_ENDED_FAILED, &err);
}

void cs_job_begin(struct cs_job *j)
{
    j->begun = true;
    j->started_ns = cs_now_ns();
    j->cpu_at_start_us = cpu_us(j->proc->pid);
}

void cs_job_give(struct cs_job *j, struct cs_proc *p)
{
    j->proc = p;
    p->job = j;
    bound_memory(j);
    cs_job_begin(j);
    struct cs_err err = {0};
    if (cs_wire_sent(&p->reader, CS_MSG_PROGRAM, &err) < 0) {
        cs_job_decide_err(j, CS_ENDED_FAILED, &err);
        return;
    }
    j->sent++;
    cs_proc_send(p, &j->program);
    cs_buf_done(&j->program);
}

void cs_job_decide(struct cs_job *j, enum cs_ending how)
{
    if (!j->decided && !j->reported) {
        j->decided = true;
        j->end.how = how;
    }
    j->dying = true;
    if (j->proc)
        cs_proc_kill(j->proc);
}

void cs_job_decide_limit(struct cs_job *j, enum cs_limit limit)
{
    if (!j->decided && !j->reported)
        j->end.limit = limit;
    cs_job_decide(j, CS_ENDED_LIMIT);
}

void cs_job_decide_err(struct cs_job *j, enum cs_ending how, const struct cs_err *err)
{
    if (!j->decided && !j->reported)
        j->end.err = *err;
    cs_job_decide(j, how);
}

int cs_job_cage(struct cs_job *j, struct cs_err *err)
{
    if (cs_cage_make(j->sandbox->cages, &j->cage, err) < 0)
        return -1;
    if (cs_cage_set(j->cage, &j->limits, j->guest ? 0 : WORKER_MEMORY_SLACK, err) < 0)
        return -1;
    return cs_cage_join(j->cage, j->proc->pid, j->proc->pidfd, err);
}

void cs_job_tighten(struct cs_job *j, const struct cs_limits *limits)
{
    for (int i = 0; i < CS_LIMIT_COUNT; i++) {
        uint64_t value = cs_limit_get(limits, (enum cs_limit)i);
        if (value < cs_limit_get(&j->limits, (enum cs_limit)i))
            cs_limit_set(&j->limits, (enum cs_limit)i, value);
    }
    bound_memory(j);
    struct cs_err err = {0};
    if (j->cage && cs_cage_set(j->cage, &j->limits, WORKER_MEMORY_SLACK, &err) < 0)
        cs_job_decide_err(j, CS_ENDED_FAILED, &err);
}

/* Of the whole tree, as far as it is known by now. */
static uint64_t cpu_so_far(const struct cs_job *j)
{
    uint64_t own = j->proc ? cpu_us(j->proc->pid) : 0;
    return j->usage.cpu_us > own ? j->usage.cpu_us : own;
}

/* Somebody is asked. What it did since it was last looked at counts; that it waited, for them or
 * for other calls, does not. */
static void look_while_paused(struct cs_job *j, uint64_t now)
{
    uint64_t from = j->looked_ns > j->started_ns ? j->looked_ns : j->started_ns;
    uint64_t cpu = cpu_so_far(j), past = now > from ? now - from : 0;
    uint64_t used = cpu > j->looked_us ? (cpu - j->looked_us) * 1000u : 0;
    if (j->begun && !j->file_count && !j->batch)
        j->paused_ns += past - (used < past ? used : past);
    j->looked_ns = now;
    j->looked_us = cpu;
}

void cs_job_pause(struct cs_job *j, bool paused)
{
    if (!paused && j->pauses == 0)
        return;
    if (j->pauses) {
        look_while_paused(j, cs_now_ns());
    } else {
        j->looked_ns = cs_now_ns();
        j->looked_us = cpu_so_far(j);
    }
    j->pauses += paused ? 1 : -1;
}

void cs_job_tick(struct cs_job *j, uint64_t now)
{
    if (j->dying || !j->proc)
        return;
    if (j->pauses)
        look_while_paused(j, now);
    if (j->begun && now - j->started_ns >= j->limits.wall_clock * 1000000u + j->paused_ns) {
        cs_job_decide_limit(j, CS_LIMIT_WALL_CLOCK);
        return;
    }
    if (!j->cage && now < j->started_ns + CS_CAGE_AGE_MS * 1000000ull) {
        if (cs_proc_resident(j->proc) >
            j->proc->baseline_rss + j->limits.memory + WORKER_MEMORY_SLACK)
            cs_job_decide_limit(j, CS_LIMIT_MEMORY);
        return;
    }
    struct cs_err err = {0};
    if (!j->cage && cs_job_cage(j, &err) < 0) {
        cs_job_decide_err(j, CS_ENDED_FAILED, &err);
        return;
    }
    cs_cage_tick(j->cage, &j->usage);
    if (j->usage.memory_hit)
        cs_job_decide_limit(j, CS_LIMIT_MEMORY);
}

/* Why it ended, if nothing we did or it said has decided that already. */
static void judge(struct cs_job *j)
{
    j->end.syscall_refused = j->wait_code == CLD_KILLED && j->wait_status == SIGSYS;
    if (j->decided)
        return;
    j->decided = true;
    if (j->reported)
        return;
    if (j->usage.memory_hit) {
        j->end.how = CS_ENDED_LIMIT;
        j->end.limit = CS_LIMIT_MEMORY;
    } else if (j->end.syscall_refused) {
        j->end.how = CS_ENDED_SYSCALL;
    } else if (j->guest && j->guest->ended) {
        j->end.how = CS_ENDED_EXIT;
    } else {
        j->end.how = CS_ENDED_SIGNAL;
        j->end.signal = j->wait_code == CLD_EXITED ? 0 : j->wait_status;
    }
}

static uint64_t timeval_us(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_usec;
}

static void measure(struct cs_job *j)
{
    uint64_t cpu = timeval_us(j->rusage.ru_utime) + timeval_us(j->rusage.ru_stime);
    cpu -= cpu < j->cpu_at_start_us ? cpu : j->cpu_at_start_us;
    uint64_t peak = (uint64_t)j->rusage.ru_maxrss * 1024u;
    uint64_t base = j->guest ? 0 : j->proc->baseline_rss;
    peak -= peak < base ? peak : base;
    if (j->cage)
        cs_cage_read(j->cage, &j->usage);
    j->end.cpu_us = j->usage.cpu_us > cpu ? j->usage.cpu_us : cpu;
    j->end.memory_peak = j->guest && j->usage.memory_peak ? j->usage.memory_peak : peak;
    j->end.fork_refused = j->usage.pids_hit;
    j->end.wall_us = (cs_now_ns() - j->started_ns - j->paused_ns) / 1000u;
}

void cs_job_reaped(struct cs_job *j)
{
    j->reaped = true;
    j->dying = true;
    if (j->guest)
        cs_guest_job_drain(j);
    measure(j);
    judge(j);
    cs_proc_close(CS_TAKE(j->proc));
    if (j->guest)
        cs_guest_job_close(j);
    cs_job_step(j);
}

static void copy_in_work(uv_work_t *w)
{
    struct cs_job *j = w->data;
    if (j->roots.adopted) /* by a guest, whose tmpfs takes files of its own id only */
        cs_guest_files_as(j->roots.dir[CS_ROOT_WORKSPACE]);
    if (cs_roots_copy_in(&j->roots, j->workspace, &j->work_err) == 0)
        j->copied_in = true;
    else if (j->workspace_out) /* a directory of ours: where it is concerns nobody */
        cs_fail(&j->work_err, j->work_err.code, "the files cannot be copied into /workspace");
    cs_guest_files_as(-1);
}

static void copy_in_done(uv_work_t *w, int status)
{
    (void)status;
    struct cs_job *j = w->data;
    j->working = false;
    if (!j->copied_in && j->work_err.code == CS_LIMIT)
        cs_job_decide_limit(j, j->roots.files >= j->roots.files_max ? CS_LIMIT_SCRATCH_FILES
                                                                    : CS_LIMIT_SCRATCH_BYTES);
    else if (!j->copied_in)
        cs_job_decide_err(j, CS_ENDED_FAILED, &j->work_err);
    if (j->dying)
        cs_job_step(j);
    else
        j->then(j);
}

void cs_job_copy_in(struct cs_job *j, void (*then)(struct cs_job *j))
{
    j->then = then;
    j->working = true;
    j->work.data = j;
    uv_queue_work(j->sandbox->loop, &j->work, copy_in_work, copy_in_done);
}

static bool succeeded(const struct cs_job *j)
{
    return j->end.how == CS_ENDED_VALUE || (j->end.how == CS_ENDED_EXIT && j->end.exit_status == 0);
}

static void tidy_work(uv_work_t *w)
{
    struct cs_job *j = w->data;
    cs_roots_trim(&j->roots);
    if (j->copied_in && !j->workspace_out)
        cs_roots_copy_out(&j->roots, j->workspace, &j->work_err);
    else if (j->copied_in && succeeded(j))
        cs_roots_copy_new(&j->roots, j->workspace, j->workspace_out, &j->work_err);
    if (j->wants_harvest)
        j->end.harvest = cs_roots_harvest(&j->roots, j->copied_in ? j->workspace : NULL);
    cs_roots_done(&j->roots);
}

static void tidy_done(uv_work_t *w, int status)
{
    (void)status;
    struct cs_job *j = w->data;
    j->working = false;
    j->tidy = true;
    cs_job_step(j);
}

static void finish(struct cs_job *j)
{
    j->end.payload = cs_buf_str(&j->payload);
    if (succeeded(j))
        j->end.state = cs_buf_str(&j->state);
    if (j->work_err.code && j->end.how != CS_ENDED_FAILED && !j->end.err.code)
        j->end.err = j->work_err;
    j->events->ended(j->ctx, &j->end);
    cs_sandbox_job_over(j);
    cs_buf_done(&j->payload);
    cs_buf_done(&j->state);
    cs_buf_done(&j->program);
    cs_job_frames_done(j);
    free(j->workspace);
    free(j->workspace_out);
    free(j);
}

void cs_job_step(struct cs_job *j)
{
    if (j->proc && !j->reaped)
        return;
    if (j->working || j->batch)
        return;
    if (j->cage) {
        if (!cs_cage_remove(j->cage)) {
            cs_sandbox_sweep(j->sandbox);
            return;
        }
        j->cage = NULL;
    }
    if (!j->tidy && (j->roots.made || j->roots.adopted)) {
        j->working = true;
        j->work.data = j;
        uv_queue_work(j->sandbox->loop, &j->work, tidy_work, tidy_done);
        return;
    }
    if (!j->tidy)
        cs_roots_done(&j->roots);
    finish(j);
}

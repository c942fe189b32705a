/* The pool: a warm zygote, ready workers, and the jobs that want one. */
#include "sandbox/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "sandbox/folder.h"
#include "sandbox/jail.h"
#include "sandbox/jobs.h"

#define ZYGOTE_TRIES 4

static void append_job(struct cs_job **list, struct cs_job *j)
{
    while (*list)
        list = &(*list)->next;
    *list = j;
    j->next = NULL;
}

static void remove_job(struct cs_job **list, struct cs_job *j)
{
    for (; *list; list = &(*list)->next) {
        if (*list == j) {
            *list = j->next;
            return;
        }
    }
}

static bool remove_proc(struct cs_proc **list, struct cs_proc *p)
{
    for (; *list; list = &(*list)->next) {
        if (*list == p) {
            *list = p->next;
            return true;
        }
    }
    return false;
}

struct cs_jail_options cs_sandbox_jail(const struct cs_sandbox *s, uint32_t slot)
{
    return (struct cs_jail_options){
        .allow_weak = s->options.allow_weak,
        .full = s->options.full_isolation,
        .no_jit = s->options.no_jit,
        .brief = s->options.pool == 0,
        .host_uid = s->uid_base + slot,
#ifdef CS_TEST_HOOKS
        .weak_for_test = s->options.weak_for_test,
#endif
    };
}

/* Nothing can be run: everyone who waits is told why. */
static void fail_waiting(struct cs_sandbox *s, const struct cs_err *err)
{
    for (struct cs_job *j = s->waiting; j; j = j->next)
        cs_job_decide_err(j, CS_ENDED_FAILED, err);
}

/* --- the zygote --- */

static void on_zygote(uv_poll_t *h, int status, int events);

static void on_poll_freed(uv_handle_t *h)
{
    struct cs_sandbox *s = h->data;
    free(h);
    s->handles--;
    cs_sandbox_maybe_closed(s);
}

static void drop_zygote(struct cs_sandbox *s)
{
    if (!s->zygote_alive)
        return;
    uv_close((uv_handle_t *)CS_TAKE(s->zygote_poll), on_poll_freed);
    cs_zygote_close(&s->zygote);
    s->zygote_alive = s->zygote_ready = false;
    for (struct cs_proc *p = s->asked, *next; p; p = next) {
        next = p->next;
        if (p->watched)
            cs_proc_kill(p); /* its death closes it */
        else
            cs_proc_close(p);
    }
    s->asked = NULL;
    s->asked_count = 0;
}

static int start_zygote(struct cs_sandbox *s, struct cs_err *err)
{
    struct cs_jail_options jail = cs_sandbox_jail(s, 0);
    if (cs_zygote_spawn(&jail, &s->zygote, err) < 0)
        return -1;
    s->zygote_poll = CS_NEW(uv_poll_t);
    s->zygote_alive = true;
    s->forks = 0;
    if (uv_poll_init(s->loop, s->zygote_poll, s->zygote.control) != 0)
        abort(); /* epoll refuses a fresh socket only when memory is gone */
    s->zygote_poll->data = s;
    s->handles++;
    uv_poll_start(s->zygote_poll, UV_READABLE, on_zygote);
    return 0;
}

/* The zygote is gone or would not start. A missing wall stays missing; anything else is tried
 * again. */
static void zygote_failed(struct cs_sandbox *s, const struct cs_err *err)
{
    drop_zygote(s);
    s->zygote_err = *err;
    s->zygote_failures++;
    if (err->code == CS_DENIED || s->zygote_failures >= ZYGOTE_TRIES)
        fail_waiting(s, err);
    s->zygote_retry_ns = cs_now_ns() + (100ull << s->zygote_failures) * 1000000u;
}

static bool hopeless(const struct cs_sandbox *s)
{
    return !s->zygote_alive &&
           (s->zygote_err.code == CS_DENIED || s->zygote_failures >= ZYGOTE_TRIES);
}

/* Starts it if there is none, unless that is hopeless or failed a moment ago. */
static void need_zygote(struct cs_sandbox *s)
{
    if (s->zygote_alive || s->closing || hopeless(s) || cs_now_ns() < s->zygote_retry_ns)
        return;
    struct cs_err err = {0};
    if (start_zygote(s, &err) < 0)
        zygote_failed(s, &err);
}

static void forked(struct cs_sandbox *s, struct cs_zygote_reply *r)
{
    struct cs_proc *p = s->asked;
    while (p && p->ticket != r->ticket)
        p = p->next;
    if (!p) {
        cs_closep(&r->pidfd);
        return;
    }
    p->pid = r->pid;
    p->pidfd = r->pidfd;
    p->baseline_bytes = s->baseline_bytes;
    cs_wire_reader_init(&p->reader, CS_SIDE_WORKER, CS_PHASE_BOOT);
    struct cs_err err = {0};
    if (cs_proc_watch(p, &err) < 0) {
        remove_proc(&s->asked, p);
        s->asked_count--;
        cs_proc_kill(p);
        cs_proc_close(p);
    }
}

/* False when the zygote was dropped. */
static bool zygote_reply(struct cs_sandbox *s, struct cs_zygote_reply *r)
{
    switch (r->kind) {
    case CS_ZYGOTE_HELLO:
        s->baseline_bytes = r->baseline_bytes;
        s->zygote_ready = true;
        cs_sandbox_refill(s);
        return true;
    case CS_ZYGOTE_FORKED:
        forked(s, r);
        return true;
    case CS_ZYGOTE_FAILED:
        zygote_failed(s, &r->err);
        return false;
    }
    return true;
}

static void on_zygote(uv_poll_t *h, int status, int events)
{
    (void)status;
    (void)events;
    struct cs_sandbox *s = h->data;
    if (h != s->zygote_poll)
        return;
    for (;;) {
        struct cs_zygote_reply r = {.pidfd = -1};
        struct cs_err err = {0};
        int got = cs_zygote_reply(&s->zygote, &r, &err);
        if (got == 0)
            return;
        if (got < 0) {
            zygote_failed(s, &err);
            return;
        }
        if (!zygote_reply(s, &r))
            return;
    }
}

/* --- the pool --- */

static int ask(struct cs_sandbox *s, struct cs_err *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return cs_fail_errno(err, "socketpair");
    CS_AUTO_FD int theirs = pair[1];
    struct cs_proc *p = cs_proc_new(s);
    p->sock = pair[0];
    p->ticket = ++s->tickets;
    if (cs_zygote_ask(&s->zygote, p->ticket, theirs, err) < 0) {
        cs_proc_close(p);
        return -1;
    }
    p->next = s->asked;
    s->asked = p;
    s->asked_count++;
    s->forks++;
    return 0;
}

static void fill(struct cs_sandbox *s)
{
    if (s->closing || !s->zygote_ready)
        return;
    unsigned waiting = 0;
    for (struct cs_job *j = s->waiting; j && waiting <= s->options.pool; j = j->next)
        waiting++;
    while (s->asked_count + s->ready_count < s->options.pool + waiting) {
        struct cs_err err = {0};
        if (ask(s, &err) < 0) {
            zygote_failed(s, &err);
            return;
        }
    }
}

/*
 * Making a worker takes a core for longer than most programs run, so while one runs and the pool is
 * half full, that waits until its answer has left, or until the next tick.
 */
void cs_sandbox_refill(struct cs_sandbox *s)
{
    if (!s->busy || s->waiting || s->ready_count < s->options.pool / 2)
        fill(s);
}

/* All workers of a zygote share one layout of addresses, so it is replaced now and then. */
static void recycle(struct cs_sandbox *s)
{
    uint32_t after = s->options.recycle_after ? s->options.recycle_after : CS_RECYCLE_AFTER;
    if (s->forks < after || s->asked_count > 0 || s->closing)
        return;
    drop_zygote(s);
    struct cs_err err = {0};
    if (start_zygote(s, &err) < 0)
        zygote_failed(s, &err);
}

static struct cs_proc *take_ready(struct cs_sandbox *s)
{
    struct cs_proc *p = s->ready;
    if (p) {
        s->ready = p->next;
        s->ready_count--;
    }
    return p;
}

/* One that was cancelled while it waited is on its way out, and must not hold up those behind it.
 */
static struct cs_job *next_waiting(const struct cs_sandbox *s)
{
    struct cs_job *j = s->waiting;
    while (j && j->dying)
        j = j->next;
    return j;
}

static void match(struct cs_sandbox *s)
{
    struct cs_job *j;
    while (s->ready && (j = next_waiting(s))) {
        remove_job(&s->waiting, j);
        append_job(&s->busy, j);
        cs_job_give(j, take_ready(s));
    }
    recycle(s);
    cs_sandbox_refill(s);
}

void cs_sandbox_proc_ready(struct cs_proc *p)
{
    struct cs_sandbox *s = p->sandbox;
    if (!remove_proc(&s->asked, p))
        return;
    s->asked_count--;
    s->zygote_failures = 0;
    p->baseline_rss = cs_proc_resident(p);
    p->next = s->ready;
    s->ready = p;
    s->ready_count++;
    match(s);
}

void cs_sandbox_proc_died(struct cs_proc *p)
{
    struct cs_sandbox *s = p->sandbox;
    if (remove_proc(&s->ready, p))
        s->ready_count--;
    bool unborn = remove_proc(&s->asked, p);
    cs_proc_close(p);
    if (unborn) {
        s->asked_count--;
        struct cs_err err = {0};
        cs_fail(&err, CS_SYSTEM, "a worker died before it was ready");
        zygote_failed(s, &err);
    }
    cs_sandbox_refill(s);
}

unsigned cs_sandbox_ready(const struct cs_sandbox *s)
{
    return s->ready_count;
}

/* --- jobs --- */

static void on_sweep(uv_timer_t *t)
{
    struct cs_sandbox *s = t->data;
    bool more = false;
    for (struct cs_job *j = s->busy, *next; j; j = next) {
        next = j->next;
        if (j->reaped && j->cage) {
            more = true;
            cs_job_step(j);
        }
    }
    if (!more)
        uv_timer_stop(&s->sweep);
}

static void tick_waiting(struct cs_sandbox *s, uint64_t now)
{
    for (struct cs_job *j = s->waiting, *next; j; j = next) {
        next = j->next;
        if (!j->dying && now > j->asked_ns + CS_WAIT_FOR_PROCESS_MS * 1000000ull) {
            struct cs_err err = {0};
            cs_fail(&err, CS_SYSTEM, "no worker became ready within %d s%s%s",
                    CS_WAIT_FOR_PROCESS_MS / 1000, s->zygote_err.msg[0] ? ": " : "",
                    s->zygote_err.msg);
            cs_job_decide_err(j, CS_ENDED_FAILED, &err);
        }
        if (j->dying)
            cs_job_step(j);
    }
}

static void on_tick(uv_timer_t *t)
{
    struct cs_sandbox *s = t->data;
    uint64_t now = cs_now_ns();
    for (struct cs_job *j = s->busy, *next; j; j = next) {
        next = j->next;
        cs_job_tick(j, now);
        if (j->reaped && j->cage && !uv_is_active((uv_handle_t *)&s->sweep))
            uv_timer_start(&s->sweep, on_sweep, 1, 1);
    }
    tick_waiting(s, now);
    fill(s);
    if (s->options.pool || s->waiting)
        need_zygote(s);
    if (!s->busy && !s->waiting)
        uv_timer_stop(&s->tick);
}

void cs_sandbox_sweep(struct cs_sandbox *s)
{
    uv_timer_start(&s->sweep, on_sweep, 1, 1);
}

static void want_worker(struct cs_job *j)
{
    struct cs_sandbox *s = j->sandbox;
    remove_job(&s->busy, j);
    append_job(&s->waiting, j);
    need_zygote(s);
    if (hopeless(s))
        cs_job_decide_err(j, CS_ENDED_FAILED, &s->zygote_err);
    match(s);
}

static uint32_t at_most(uint64_t value, uint32_t most)
{
    return value < most ? (uint32_t)value : most;
}

static void encode_program(struct cs_job *j, const struct cs_job_spec *spec)
{
    struct cs_program program = {
        .seed = {spec->seed[0], spec->seed[1]},
        .source = spec->source,
        .inputs = spec->inputs,
        .state = spec->state,
        .globals = spec->globals,
        .log_bytes = (uint32_t)spec->limits.output,
        .log_lines = (uint32_t)spec->limits.log_lines,
        .result_bytes = (uint32_t)spec->limits.result,
        .state_bytes = j->state_bytes,
        .json_depth = (uint32_t)spec->limits.json_depth,
        .argument_bytes = at_most(spec->limits.arguments, CS_CALL_MAX - CS_KIB),
        .calls_at_once = at_most(spec->limits.calls_at_once, CS_CALLS_AT_ONCE_MAX),
        .wall_ms = at_most(spec->limits.wall_clock, UINT32_MAX),
        .clock = (uint32_t)spec->clock,
    };
    size_t mark = cs_frame_begin(&j->program, CS_MSG_PROGRAM, 0, j->base_us);
    cs_put_program(&j->program, &program);
    cs_frame_end(&j->program, mark);
}

static int dup_directory(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

int cs_job_start(struct cs_sandbox *s, const struct cs_job_spec *spec,
                 const struct cs_job_events *events, void *ctx, struct cs_job **job,
                 struct cs_err *err)
{
    if (s->closing)
        return cs_fail(err, CS_SYSTEM, "the sandbox is closing");
    size_t bytes = spec->source.len + spec->inputs.len + spec->state.len + spec->globals.len;
    if (bytes > CS_PROGRAM_MAX - CS_KIB)
        return cs_fail(err, CS_LIMIT, "source, inputs and state are %zu bytes, at most %u", bytes,
                       CS_PROGRAM_MAX);
    CS_AUTO_FD int servers = spec->mcp_servers < 0 ? -1 : dup_directory(spec->mcp_servers);
    if (spec->mcp_servers >= 0 && servers < 0)
        return cs_fail_errno(err, "/mcp-servers");
    struct cs_job *j = CS_NEW(struct cs_job);
    j->sandbox = s;
    j->limits = spec->limits;
    j->language = spec->language;
    j->workspace = spec->workspace ? cs_strdup(spec->workspace) : NULL;
    j->workspace_out = spec->workspace_out ? cs_strdup(spec->workspace_out) : NULL;
    j->wants_harvest = spec->harvest;
    if (spec->state.len)
        j->state_bytes =
            at_most(spec->state_bytes ? spec->state_bytes : CS_STATE_DEFAULT, CS_STATE_MAX);
    j->events = events;
    j->ctx = ctx;
    j->asked_ns = j->started_ns = cs_now_ns();
    j->clock = spec->clock;
    cs_job_time_starts(j, spec->start_us ? spec->start_us : cs_now_us());
    j->next_servers = -1;
    char scratch[4096];
    snprintf(scratch, sizeof scratch, "%s/%d-%u", s->scratch_dir, (int)getpid(), ++s->numbers);
    cs_roots_init(&j->roots, scratch, CS_TAKE_FD(servers), -1, &j->limits);
    if (spec->language != CS_TYPESCRIPT && cs_guest_job_start(j, spec, err) < 0) {
        cs_roots_done(&j->roots);
        free(j->workspace);
        free(j->workspace_out);
        free(j);
        return -1;
    }
    append_job(&s->busy, j);
    if (!uv_is_active((uv_handle_t *)&s->tick))
        uv_timer_start(&s->tick, on_tick, CS_TICK_MS, CS_TICK_MS);
    *job = j;
    if (j->guest)
        return 0;
    encode_program(j, spec);
    if (j->workspace)
        cs_job_copy_in(j, want_worker);
    else
        want_worker(j);
    return 0;
}

void cs_job_cancel(struct cs_job *j)
{
    cs_job_decide(j, CS_ENDED_CANCELLED);
}

void cs_sandbox_job_over(struct cs_job *j)
{
    struct cs_sandbox *s = j->sandbox;
    remove_job(&s->busy, j);
    remove_job(&s->waiting, j);
    cs_sandbox_refill(s);
    cs_sandbox_maybe_closed(s);
}

const char *cs_language_missing(enum cs_language language)
{
    switch (language) {
    case CS_TYPESCRIPT:
        return NULL;
    case CS_PYTHON:
        return cs_guest_missing(CS_GUEST_PYTHON);
    case CS_BASH:
        return cs_guest_missing(CS_GUEST_BASH);
    case CS_NODE:
        return cs_guest_missing(CS_GUEST_NODE);
    }
    return "unknown language";
}

/* --- life --- */

/* Scratch directories are called PID-NUMBER; one whose process is gone is nobody's. */
static void remove_leftovers(const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        char *end;
        long pid = strtol(e->d_name, &end, 10);
        if (pid > 0 && *end == '-' && kill((pid_t)pid, 0) < 0 && errno == ESRCH)
            cs_folder_remove(dirfd(d), e->d_name);
    }
    closedir(d);
}

int cs_sandbox_new(uv_loop_t *loop, const struct cs_sandbox_options *options,
                   struct cs_sandbox **sandbox, struct cs_err *err)
{
    struct cs_sandbox *s = CS_NEW(struct cs_sandbox);
    s->loop = loop;
    s->options = *options;
    s->uid_base = cs_jail_uid_base();
    if (cs_cages_open(options->no_cgroups, &s->cages, err) < 0) {
        free(s);
        return -1;
    }
    if (cs_alarm_open(s, err) < 0) {
        cs_cages_free(s->cages);
        free(s);
        return -1;
    }
    s->scratch_dir = cs_strdup(options->scratch_dir);
    remove_leftovers(s->scratch_dir);
    uv_timer_init(loop, &s->tick);
    uv_timer_init(loop, &s->sweep);
    s->tick.data = s->sweep.data = s;
    s->handles = 3;
    if (s->options.pool && start_zygote(s, err) < 0) {
        cs_sandbox_close(s, NULL, NULL);
        return -1;
    }
    *sandbox = s;
    return 0;
}

static void on_timer_closed(uv_handle_t *h)
{
    struct cs_sandbox *s = h->data;
    s->handles--;
    cs_sandbox_maybe_closed(s);
}

void cs_sandbox_maybe_closed(struct cs_sandbox *s)
{
    if (!s->closing || s->busy || s->waiting || s->proc_count)
        return;
    if (!uv_is_closing((uv_handle_t *)&s->tick)) {
        uv_close((uv_handle_t *)&s->tick, on_timer_closed);
        uv_close((uv_handle_t *)&s->sweep, on_timer_closed);
        uv_close((uv_handle_t *)&s->alarm_poll, on_timer_closed);
    }
    if (s->handles)
        return;
    cs_closep(&s->alarm);
    cs_cages_free(s->cages);
    free(s->scratch_dir);
    void (*closed)(void *) = s->closed;
    void *ctx = s->closed_ctx;
    free(s);
    if (closed)
        closed(ctx);
}

void cs_sandbox_close(struct cs_sandbox *s, void (*closed)(void *ctx), void *ctx)
{
    s->closed = closed;
    s->closed_ctx = ctx;
    s->closing = true;
    drop_zygote(s);
    for (struct cs_proc *p = s->ready; p; p = p->next)
        cs_proc_kill(p); /* its death takes it out of the list */
    for (struct cs_job *j = s->busy; j; j = j->next)
        cs_job_cancel(j);
    for (struct cs_job *j = s->waiting; j; j = j->next)
        cs_job_cancel(j);
    cs_sandbox_maybe_closed(s);
}

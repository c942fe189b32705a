/* Python, bash and node: the same job with another kind of process, and two streams. */
#include <errno.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "sandbox/jobs.h"

static void on_io_closed(uv_handle_t *h)
{
    struct cs_guest_io *io = h->data;
    if (--io->handles > 0)
        return;
    cs_guest_close(&io->guest);
    struct cs_sandbox *s = io->sandbox;
    free(io);
    s->proc_count--;
    cs_sandbox_maybe_closed(s);
}

void cs_guest_job_close(struct cs_job *j)
{
    struct cs_guest_io *io = j->guest;
    if (io->closing)
        return;
    io->closing = true;
    io->job = NULL;
    uv_close((uv_handle_t *)&io->control_poll, on_io_closed);
    uv_close((uv_handle_t *)&io->out_poll, on_io_closed);
    uv_close((uv_handle_t *)&io->err_poll, on_io_closed);
}

/* Reads what is there. False at the end of the stream. What is beyond the limit is read and
 * dropped. */
static bool read_stream(struct cs_job *j, int fd, bool is_stderr)
{
    char chunk[65536];
    for (unsigned round = 0; round < 16; round++) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n <= 0)
            return false;
        j->events->output(j->ctx, is_stderr, cs_strn(chunk, (size_t)n));
    }
    return true;
}

static void on_stream(uv_poll_t *h, int status, int events)
{
    (void)events;
    struct cs_guest_io *io = h->data;
    bool is_stderr = h == &io->err_poll;
    if (!io->job || status < 0 ||
        !read_stream(io->job, is_stderr ? io->guest.err : io->guest.out, is_stderr))
        uv_poll_stop(h);
}

static void start(struct cs_job *j)
{
    struct cs_err err = {0};
    if (cs_job_cage(j, &err) < 0 || cs_guest_go(&j->guest->guest, &err) < 0)
        cs_job_decide_err(j, CS_ENDED_FAILED, &err);
    else
        cs_job_begin(j);
}

static void on_built(struct cs_job *j, struct cs_guest_reply *r)
{
    cs_roots_adopt(&j->roots, r->workspace, r->tmp);
    struct cs_proc *p = cs_proc_new(j->sandbox);
    p->pid = r->pid;
    p->pidfd = r->pidfd;
    p->sock = CS_TAKE_FD(j->guest->guest.bridge);
    /* A guest is judged by its language alone, so it starts where a worker is after its verdict. */
    cs_wire_reader_init(&p->reader, CS_SIDE_WORKER, CS_PHASE_EXECUTE);
    p->job = j;
    struct cs_err err = {0};
    if (cs_proc_watch(p, &err) < 0) {
        cs_proc_kill(p);
        cs_proc_close(p);
        cs_job_decide_err(j, CS_ENDED_FAILED, &err);
        cs_guest_job_close(j);
        cs_job_step(j);
        return;
    }
    j->proc = p;
    if (j->dying) /* cancelled meanwhile */
        cs_proc_kill(p);
    else if (j->workspace)
        cs_job_copy_in(j, start);
    else
        start(j);
}

static void on_failed(struct cs_job *j, const struct cs_err *err)
{
    cs_job_decide_err(j, CS_ENDED_FAILED, err);
    if (j->proc)
        return;
    cs_guest_job_close(j);
    cs_job_step(j);
}

/* True while more may come. */
static bool read_reply(struct cs_job *j)
{
    struct cs_guest_reply r = {.pidfd = -1, .workspace = -1, .tmp = -1};
    struct cs_err err = {0};
    int got = cs_guest_reply(&j->guest->guest, &r, &err);
    if (got == 0)
        return true;
    if (got < 0) {
        if (!j->proc)
            on_failed(j, &err);
        return false;
    }
    switch (r.kind) {
    case CS_GUEST_BUILT:
        on_built(j, &r);
        return true;
    case CS_GUEST_ENDED:
        j->guest->ended = true;
        j->guest->status = r.status;
        return true;
    case CS_GUEST_STARTED: /* only servers say so */
        return true;
    case CS_GUEST_FAILED:
        on_failed(j, &r.err);
        return false;
    }
    return false;
}

static void on_control(uv_poll_t *h, int status, int events)
{
    (void)events;
    struct cs_guest_io *io = h->data;
    if (!io->job || status < 0 || !read_reply(io->job))
        uv_poll_stop(h);
}

/* ENOSPC inside a tmpfs is only told to the program; the file system itself still shows it. */
static void find_full_scratch(struct cs_job *j)
{
    struct statfs fs;
    if (j->roots.dir[CS_ROOT_WORKSPACE] < 0 || fstatfs(j->roots.dir[CS_ROOT_WORKSPACE], &fs) < 0)
        return;
    j->end.scratch_full = fs.f_bavail == 0 || fs.f_ffree == 0;
    j->end.limit = fs.f_ffree == 0 ? CS_LIMIT_SCRATCH_FILES : CS_LIMIT_SCRATCH_BYTES;
}

void cs_guest_job_drain(struct cs_job *j)
{
    struct cs_guest_io *io = j->guest;
    while (!io->ended && !io->closing) {
        struct cs_guest_reply r = {.pidfd = -1, .workspace = -1, .tmp = -1};
        if (cs_guest_reply(&io->guest, &r, NULL) <= 0)
            break;
        io->ended = r.kind == CS_GUEST_ENDED;
        io->status = r.status;
    }
    read_stream(j, io->guest.out, false);
    read_stream(j, io->guest.err, true);
    j->end.exit_status = -1;
    if (io->ended && WIFEXITED(io->status))
        j->end.exit_status = WEXITSTATUS(io->status);
    else if (io->ended && WIFSIGNALED(io->status))
        j->end.exit_status = 128 + WTERMSIG(io->status);
    if (!j->decided)
        find_full_scratch(j);
}

static int watch(uv_loop_t *loop, uv_poll_t *h, int fd, struct cs_guest_io *io, uv_poll_cb cb)
{
    if (uv_poll_init(loop, h, fd) != 0)
        return -1;
    h->data = io;
    io->handles++;
    return uv_poll_start(h, UV_READABLE, cb);
}

int cs_guest_job_start(struct cs_job *j, const struct cs_job_spec *spec, struct cs_err *err)
{
    struct cs_sandbox *s = j->sandbox;
    static const enum cs_guest_language languages[] = {
        [CS_PYTHON] = CS_GUEST_PYTHON, [CS_BASH] = CS_GUEST_BASH, [CS_NODE] = CS_GUEST_NODE};
    struct cs_guest_spec guest = {
        .jail = cs_sandbox_jail(s, 1 + s->numbers % 1000),
        .language = languages[spec->language],
        .source = spec->source,
        .inputs = spec->inputs.len ? spec->inputs : CS_STR("{}"),
        .state = spec->state,
        .limits = spec->limits,
        .mcp_servers = spec->mcp_servers,
        .skills = -1,
    };
    struct cs_guest_io *io = CS_NEW(struct cs_guest_io);
    if (cs_guest_spawn(&guest, &io->guest, err) < 0) {
        free(io);
        return -1;
    }
    io->job = j;
    io->sandbox = s;
    s->proc_count++;
    j->guest = io;
    if (watch(s->loop, &io->control_poll, io->guest.control, io, on_control) < 0 ||
        watch(s->loop, &io->out_poll, io->guest.out, io, on_stream) < 0 ||
        watch(s->loop, &io->err_poll, io->guest.err, io, on_stream) < 0)
        abort(); /* epoll refuses a fresh pipe only when memory is gone */
    return 0;
}

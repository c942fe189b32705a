/* What a jailed program says, message by message. The wire has checked order, direction and size.
 */
#include <fcntl.h>
#include <string.h>

#include "base/facts.h"
#include "base/mem.h"
#include "sandbox/jobs.h"

#define FILES_WAITING_MAX 4096

/* What the thread pool does at a turn: importing a server's index asks for all of its tools. */
#define BATCH_FILES 64
#define BATCH_BYTES (4u * CS_MIB)

/* ---- files and modules: done in the thread pool, several at a time ---- */

static void free_file_job(struct cs_file_job *f)
{
    cs_buf_done(&f->path);
    cs_buf_done(&f->data);
    cs_buf_done(&f->canonical);
    cs_buf_done(&f->payload);
    free(f);
}

static void free_file_jobs(struct cs_file_job **list)
{
    while (*list) {
        struct cs_file_job *f = *list;
        *list = f->next;
        free_file_job(f);
    }
}

void cs_job_frames_done(struct cs_job *j)
{
    free_file_jobs(&j->files);
    free_file_jobs(&j->missing);
    cs_closep(&j->next_servers);
    free(j->open);
}

static void batch_work(uv_work_t *w)
{
    struct cs_job *j = w->data;
    size_t bytes = 0;
    for (struct cs_file_job *f = j->batch; f && bytes < BATCH_BYTES; f = f->next) {
        if (f->is_module)
            f->answer =
                cs_roots_module(&j->roots, cs_buf_str(&f->path), &f->canonical, &f->payload);
        else
            f->answer = cs_roots_op(&j->roots, f->op, cs_buf_str(&f->path), cs_buf_str(&f->data),
                                    f->flags, &f->payload);
        f->done = true;
        bytes += f->payload.len;
    }
}

static void tell(struct cs_job *j, const struct cs_file_job *f, struct cs_buf *out)
{
    if (!f->is_module && f->answer == CS_ANSWER_LIMIT) {
        j->end.scratch_full = true;
        j->end.limit =
            j->roots.files < j->roots.files_max ? CS_LIMIT_SCRATCH_BYTES : CS_LIMIT_SCRATCH_FILES;
    }
    if (f->silent) /* it was answered from a record */
        return;
    cs_job_tell(j,
                &(struct cs_heard){.kind = f->is_module ? CS_HEARD_MODULE : CS_HEARD_FILE,
                                   .id = f->id,
                                   .answer = f->answer,
                                   .canonical = cs_buf_str(&f->canonical),
                                   .payload = cs_buf_str(&f->payload)},
                out);
}

/* Is it a module of a server that may only not be known yet? */
static bool may_appear(const struct cs_job *j, const struct cs_file_job *f)
{
    return f->is_module && f->answer == CS_ANSWER_MISSING && !f->asked && j->events->module &&
           cs_str_starts(cs_buf_str(&f->path), "/mcp-servers/");
}

static void next_batch(struct cs_job *j);

/* Those that were not reached go back to the head of the queue. */
static void requeue(struct cs_job *j, struct cs_file_job *rest)
{
    struct cs_file_job *last = rest;
    unsigned n = 1;
    for (; last->next; last = last->next)
        n++;
    last->next = j->files;
    if (!j->files)
        j->last_file = last;
    j->files = rest;
    j->file_count += n;
}

static void batch_done(uv_work_t *w, int status)
{
    (void)status;
    struct cs_job *j = w->data;
    struct cs_file_job *asks = NULL, **end = &asks;
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_file_job *f = CS_TAKE(j->batch);
    while (f && f->done) {
        struct cs_file_job *next = f->next;
        f->next = NULL;
        if (!j->dying && may_appear(j, f)) {
            *end = f;
            end = &f->next;
        } else {
            if (!j->dying)
                tell(j, f, &out);
            free_file_job(f);
        }
        f = next;
    }
    if (f)
        requeue(j, f);
    if (j->dying) {
        free_file_jobs(&j->files);
        free_file_jobs(&asks);
        cs_job_step(j);
        return;
    }
    cs_job_send(j, &out);
    next_batch(j);
    while (asks && !j->dying) {
        f = asks;
        asks = f->next;
        f->next = j->missing;
        j->missing = f;
        j->events->module(j->ctx, f->id, cs_buf_str(&f->path));
    }
    free_file_jobs(&asks);
}

static void next_batch(struct cs_job *j)
{
    if (!j->files || j->batch || j->dying)
        return;
    if (j->next_servers >= 0)
        cs_roots_servers(&j->roots, CS_TAKE_FD(j->next_servers));
    struct cs_file_job *last = j->files;
    unsigned n = 1;
    for (; n < BATCH_FILES && last->next; n++)
        last = last->next;
    j->batch = j->files;
    j->files = last->next;
    j->file_count -= n;
    last->next = NULL;
    j->batch_work.data = j;
    uv_queue_work(j->sandbox->loop, &j->batch_work, batch_work, batch_done);
}

static bool too_many_files(struct cs_job *j, unsigned count)
{
    if (count < FILES_WAITING_MAX)
        return false;
    struct cs_err err = {0};
    cs_fail(&err, CS_DENIED, "more than %d file operations at once", FILES_WAITING_MAX);
    cs_job_decide_err(j, CS_ENDED_PROTOCOL, &err);
    return true;
}

/* True: it is not for us to do. */
static bool wished(struct cs_job *j, const struct cs_wish *wish)
{
    if (!j->events->wish || !j->events->wish(j->ctx, wish))
        return j->dying; /* whoever was told has ended it */
    if (wish->kind != CS_WISH_CALL && !too_many_files(j, j->wished_files))
        j->wished_files++;
    return true;
}

static void queue_file(struct cs_job *j, struct cs_file_job *f)
{
    if (too_many_files(j, j->file_count)) {
        free_file_job(f);
        return;
    }
    f->next = NULL;
    if (j->files)
        j->last_file->next = f;
    else
        j->files = f;
    j->last_file = f;
    j->file_count++;
    next_batch(j);
}

void cs_job_module(struct cs_job *j, uint64_t id, int mcp_servers, struct cs_str message)
{
    struct cs_file_job **at = &j->missing;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    struct cs_file_job *f = *at;
    if (!f || j->dying)
        return;
    *at = f->next;
    int dir = mcp_servers < 0 ? -1 : fcntl(mcp_servers, F_DUPFD_CLOEXEC, 3);
    if (dir >= 0) {
        cs_closep(&j->next_servers);
        j->next_servers = dir;
        f->asked = true;
        f->done = false;
        queue_file(j, f);
        return;
    }
    if (message.len) {
        cs_buf_clear(&f->payload);
        cs_buf_putstr(&f->payload, message);
    }
    CS_AUTO_BUF struct cs_buf frame = {0};
    tell(j, f, &frame);
    cs_job_send(j, &frame);
    free_file_job(f);
}

static void do_module(struct cs_job *j, const struct cs_wish *wish)
{
    struct cs_file_job *file = CS_NEW(struct cs_file_job);
    file->is_module = true;
    file->id = wish->id;
    cs_buf_putstr(&file->path, wish->path);
    queue_file(j, file);
}

static void do_file(struct cs_job *j, const struct cs_wish *wish, bool silent)
{
    struct cs_file_job *file = CS_NEW(struct cs_file_job);
    file->id = wish->id;
    file->silent = silent;
    file->op = wish->op;
    file->flags = wish->flags;
    cs_buf_putstr(&file->path, wish->path);
    cs_buf_putstr(&file->data, wish->data);
    queue_file(j, file);
}

static bool changes_files(enum cs_file_op op)
{
    return op != CS_FILE_READ && op != CS_FILE_STAT && op != CS_FILE_LIST;
}

void cs_job_do(struct cs_job *j, const struct cs_wish *wish)
{
    if (j->dying)
        return;
    if (wish->kind != CS_WISH_CALL && j->wished_files > 0)
        j->wished_files--;
    switch (wish->kind) {
    case CS_WISH_CALL:
        j->events->call(j->ctx, wish->id, wish->server, wish->tool, wish->arguments);
        break;
    case CS_WISH_FILE:
        do_file(j, wish, false);
        break;
    case CS_WISH_MODULE:
        do_module(j, wish);
        break;
    }
}

void cs_job_redo(struct cs_job *j, const struct cs_wish *wish)
{
    if (!j->dying && wish->kind == CS_WISH_FILE && changes_files(wish->op))
        do_file(j, wish, true);
}

static bool on_ask(struct cs_job *j, const struct cs_frame *f)
{
    struct cs_wish wish = {.kind = CS_WISH_MODULE, .id = f->id};
    struct cs_str body = f->body;
    if (!cs_field_str(&body, &wish.path))
        return false;
    if (!wished(j, &wish))
        do_module(j, &wish);
    return true;
}

static bool on_file(struct cs_job *j, const struct cs_frame *f)
{
    struct cs_wish wish = {.kind = CS_WISH_FILE, .id = f->id};
    struct cs_str body = f->body;
    uint8_t op;
    if (!cs_field_u8(&body, &op) || !cs_field_str(&body, &wish.path) ||
        !cs_field_str(&body, &wish.data) || !cs_field_u32(&body, &wish.flags) || op > CS_FILE_COPY)
        return false;
    wish.op = (enum cs_file_op)op;
    if (!wished(j, &wish))
        do_file(j, &wish, false);
    return true;
}

static bool on_facts(struct cs_job *j, const struct cs_frame *f)
{
    struct cs_str body = f->body, json;
    if (!cs_field_str(&body, &json))
        return false;
    j->events->facts(j->ctx, json);
    return true;
}

static bool on_call(struct cs_job *j, const struct cs_frame *f)
{
    struct cs_str body = f->body, server, tool, arguments;
    if (!cs_field_str(&body, &server) || !cs_field_str(&body, &tool) ||
        !cs_field_str(&body, &arguments))
        return false;
    /* What it imports is no call of a tool; how often it may is for whoever answers, up to what a
     * worker that is what it says can ask. */
    bool is_late = cs_str_is(server, "caisson") && cs_str_is(tool, CS_LATE_TOOL);
    if (is_late ? ++j->imports > CS_LATE_MOST : ++j->calls > j->limits.tool_calls) {
        cs_job_decide_limit(j, CS_LIMIT_TOOL_CALLS);
    } else if (!cs_job_open_call(j, f->id, arguments.len)) {
        struct cs_err err = {0};
        cs_fail(&err, CS_DENIED, "more calls at once than are allowed, or two of one number");
        cs_job_decide_err(j, CS_ENDED_PROTOCOL, &err);
    } else if (!wished(j, &(struct cs_wish){.kind = CS_WISH_CALL,
                                            .id = f->id,
                                            .server = server,
                                            .tool = tool,
                                            .arguments = arguments})) {
        j->events->call(j->ctx, f->id, server, tool, arguments);
    }
    return true;
}

static bool on_log(struct cs_job *j, const struct cs_frame *f)
{
    struct cs_str body = f->body, text;
    uint8_t level;
    if (!cs_field_u8(&body, &level) || !cs_field_str(&body, &text) || level > CS_LEVEL_ERROR)
        return false;
    j->events->log(j->ctx, (enum cs_level)level, text);
    return true;
}

static bool on_progress(struct cs_job *j, const struct cs_frame *f)
{
    struct cs_str body = f->body, json;
    if (!cs_field_str(&body, &json))
        return false;
    j->events->progress(j->ctx, json);
    return true;
}

/* False: it is too large, and that is how the job ends. */
static bool take_state(struct cs_job *j, struct cs_str state)
{
    if (!j->state_bytes)
        return true;
    if (state.len <= j->state_bytes) {
        cs_buf_putstr(&j->state, state);
        return true;
    }
    struct cs_err err = {0};
    cs_fail(&err, CS_LIMIT, "`state` is %zu bytes as JSON, at most %u: keep large data in a file",
            state.len, j->state_bytes);
    cs_job_decide_err(j, CS_ENDED_FAILED, &err);
    return false;
}

static bool on_done(struct cs_job *j, const struct cs_frame *f)
{
    struct cs_str body = f->body, payload, state;
    uint8_t outcome;
    uint32_t refused;
    if (!cs_field_u8(&body, &outcome) || !cs_field_str(&body, &payload) ||
        !cs_field_u32(&body, &refused) || !cs_field_str(&body, &state) ||
        outcome > (j->guest ? CS_OUTCOME_PRINTED : CS_OUTCOME_ERROR))
        return false;
    if (!j->decided && !take_state(j, state))
        return true;
    if (outcome == CS_OUTCOME_PRINTED)
        return true;
    if (!j->decided) {
        j->end.how = outcome == CS_OUTCOME_VALUE ? CS_ENDED_VALUE : CS_ENDED_ERROR;
        j->end.memory_refused = refused > 0;
        cs_buf_putstr(&j->payload, payload);
        j->reported = true;
    }
    /* A guest's report is not its end: its exit status is still to come. */
    if (!j->guest)
        cs_job_decide(j, j->end.how);
    return true;
}

void cs_job_frame(struct cs_job *j, const struct cs_frame *f)
{
    static const struct {
        bool (*handle)(struct cs_job *j, const struct cs_frame *f);
        bool also_dying; /* its last words count, its wishes do not */
    } handlers[] = {
        [CS_MSG_ASK] = {on_ask, false},   [CS_MSG_FACTS] = {on_facts, false},
        [CS_MSG_CALL] = {on_call, false}, [CS_MSG_FILE] = {on_file, false},
        [CS_MSG_LOG] = {on_log, true},    [CS_MSG_PROGRESS] = {on_progress, true},
        [CS_MSG_DONE] = {on_done, true},  [CS_MSG_SLEEP] = {cs_job_on_sleep, false},
    };
    if (f->type >= CS_COUNT(handlers) || !handlers[f->type].handle ||
        (j->dying && !handlers[f->type].also_dying))
        return;
    if (handlers[f->type].handle(j, f))
        return;
    struct cs_err err = {0};
    cs_fail(&err, CS_DENIED, "a %s message with broken fields", cs_msg_name(f->type));
    cs_job_decide_err(j, CS_ENDED_PROTOCOL, &err);
}

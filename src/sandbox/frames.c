/* What a jailed program says, message by message. The wire has checked order, direction and size.
 */
#include <string.h>

#include "base/mem.h"
#include "sandbox/jobs.h"

#define FILES_WAITING_MAX 4096

static void send_frame(struct cs_job *j, enum cs_msg type, struct cs_buf *frame)
{
    struct cs_err err = {0};
    if (j->proc && cs_wire_sent(&j->proc->reader, type, &err) == 0)
        cs_proc_send(j->proc, frame);
}

static void answer(struct cs_job *j, enum cs_msg type, uint64_t id, enum cs_answer status,
                   struct cs_str first, const struct cs_str *second)
{
    CS_AUTO_BUF struct cs_buf b = {0};
    size_t mark = cs_frame_begin(&b, type, id, cs_now_us());
    cs_put_u8(&b, (uint8_t)status);
    cs_put_str(&b, first);
    if (second)
        cs_put_str(&b, *second);
    cs_frame_end(&b, mark);
    send_frame(j, type, &b);
}

void cs_job_result(struct cs_job *j, uint64_t id, enum cs_answer status, struct cs_str payload)
{
    if (!j->dying)
        answer(j, CS_MSG_RESULT, id, status, payload, NULL);
}

void cs_job_verdict(struct cs_job *j, bool allowed, const struct cs_limits *limits,
                    struct cs_str message)
{
    if (j->dying)
        return;
    if (limits)
        cs_job_tighten(j, limits);
    CS_AUTO_BUF struct cs_buf b = {0};
    size_t mark = cs_frame_begin(&b, CS_MSG_VERDICT, 0, cs_now_us());
    cs_put_u8(&b, allowed);
    cs_put_str(&b, message);
    cs_frame_end(&b, mark);
    send_frame(j, CS_MSG_VERDICT, &b);
}

static void free_file_job(struct cs_file_job *f)
{
    cs_buf_done(&f->path);
    cs_buf_done(&f->data);
    cs_buf_done(&f->canonical);
    cs_buf_done(&f->payload);
    free(f);
}

static void file_work(uv_work_t *w)
{
    struct cs_file_job *f = w->data;
    struct cs_roots *roots = &f->job->roots;
    if (f->is_module)
        f->answer = cs_roots_module(roots, cs_buf_str(&f->path), &f->canonical, &f->payload);
    else
        f->answer = cs_roots_op(roots, f->op, cs_buf_str(&f->path), cs_buf_str(&f->data), f->flags,
                                &f->payload);
}

static void next_file(struct cs_job *j);

static void file_done(uv_work_t *w, int status)
{
    (void)status;
    struct cs_file_job *f = w->data;
    struct cs_job *j = f->job;
    if (f->answer == CS_ANSWER_LIMIT && !f->is_module) {
        j->end.scratch_full = true;
        j->end.limit =
            j->roots.files < j->roots.files_max ? CS_LIMIT_SCRATCH_BYTES : CS_LIMIT_SCRATCH_FILES;
    }
    if (!j->dying && f->is_module) {
        struct cs_str text = cs_buf_str(&f->payload);
        answer(j, CS_MSG_MODULE, f->id, f->answer, cs_buf_str(&f->canonical), &text);
    } else if (!j->dying) {
        answer(j, CS_MSG_RESULT, f->id, f->answer, cs_buf_str(&f->payload), NULL);
    }
    j->files = f->next;
    free_file_job(f);
    if (!j->dying) {
        next_file(j);
        return;
    }
    /* Nobody starts those that still wait, and the job must not wait for them. */
    while (j->files) {
        struct cs_file_job *waiting = j->files;
        j->files = waiting->next;
        free_file_job(waiting);
    }
    cs_job_step(j);
}

static void next_file(struct cs_job *j)
{
    if (!j->files)
        return;
    j->files->work.data = j->files;
    uv_queue_work(j->sandbox->loop, &j->files->work, file_work, file_done);
}

static void queue_file(struct cs_job *j, struct cs_file_job *f)
{
    f->job = j;
    struct cs_file_job **end = &j->files;
    unsigned waiting = 0;
    for (; *end; end = &(*end)->next)
        waiting++;
    if (waiting >= FILES_WAITING_MAX) {
        free_file_job(f);
        struct cs_err err = {0};
        cs_fail(&err, CS_DENIED, "more than %d file operations at once", FILES_WAITING_MAX);
        cs_job_decide_err(j, CS_ENDED_PROTOCOL, &err);
        return;
    }
    *end = f;
    if (waiting == 0)
        next_file(j);
}

static bool on_ask(struct cs_job *j, const struct cs_frame *f)
{
    struct cs_str body = f->body, path;
    if (!cs_field_str(&body, &path))
        return false;
    struct cs_file_job *file = CS_NEW(struct cs_file_job);
    file->is_module = true;
    file->id = f->id;
    cs_buf_putstr(&file->path, path);
    queue_file(j, file);
    return true;
}

static bool on_file(struct cs_job *j, const struct cs_frame *f)
{
    struct cs_str body = f->body, path, data;
    uint8_t op;
    uint32_t flags;
    if (!cs_field_u8(&body, &op) || !cs_field_str(&body, &path) || !cs_field_str(&body, &data) ||
        !cs_field_u32(&body, &flags) || op > CS_FILE_COPY)
        return false;
    struct cs_file_job *file = CS_NEW(struct cs_file_job);
    file->id = f->id;
    file->op = (enum cs_file_op)op;
    file->flags = flags;
    cs_buf_putstr(&file->path, path);
    cs_buf_putstr(&file->data, data);
    queue_file(j, file);
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
    if (++j->calls > j->limits.tool_calls)
        cs_job_decide_limit(j, CS_LIMIT_TOOL_CALLS);
    else
        j->events->call(j->ctx, f->id, server, tool, arguments);
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

static bool on_done(struct cs_job *j, const struct cs_frame *f)
{
    struct cs_str body = f->body, payload;
    uint8_t outcome;
    uint32_t refused;
    if (!cs_field_u8(&body, &outcome) || !cs_field_str(&body, &payload) ||
        !cs_field_u32(&body, &refused) || outcome > CS_OUTCOME_ERROR)
        return false;
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
        [CS_MSG_DONE] = {on_done, true},
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

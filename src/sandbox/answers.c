/*
 * What a jailed program gets to know, and when: answers, the verdict, that a timer is due.
 *
 * A job has a time of its own. It begins with what the program's clock shows first and runs with
 * the monotonic clock, so it never goes back, whatever happens to the time of day. Every frame to a
 * worker carries it; with CS_CLOCK_REPLAY the owner says what it is.
 *
 * A worker does not look at a clock. It says when its next timer is due (SLEEP), and is told when
 * that time has come (WAKE). There is one alarm for all jobs, with the precision of the kernel's
 * timers; it rings for the earliest, and then those whose time has come are woken.
 */
#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>

#include "base/mem.h"
#include "sandbox/jobs.h"

/* Nobody sleeps longer, so that sums of times stay far from the end of their range. */
#define LONGEST_SLEEP_US (400ll * 86400 * 1000000)

/* A worker does not read what it was sent: it is woken later. */
#define AGAIN_NS 1000000u

/* ---- calls that are not answered yet ---- */

bool cs_job_open_call(struct cs_job *j, uint64_t id, size_t bytes)
{
    for (unsigned i = 0; i < j->open_count; i++)
        if (j->open[i].id == id)
            return false;
    if (j->open_count >= CS_CALLS_AT_ONCE_MAX || bytes > CS_CALLS_BYTES_MAX - j->open_bytes)
        return false;
    if (j->open_count == j->open_cap) {
        j->open_cap = j->open_cap ? j->open_cap * 2 : 8;
        j->open = cs_realloc(j->open, j->open_cap, sizeof *j->open);
    }
    j->open[j->open_count++] = (struct cs_open_call){id, bytes};
    j->open_bytes += bytes;
    return true;
}

static void close_call(struct cs_job *j, uint64_t id)
{
    for (unsigned i = 0; i < j->open_count; i++) {
        if (j->open[i].id != id)
            continue;
        j->open_bytes -= j->open[i].bytes;
        j->open[i] = j->open[--j->open_count];
        return;
    }
}

/* ---- the time of a job ---- */

void cs_job_time_starts(struct cs_job *j, int64_t at_us)
{
    j->base_us = at_us;
    j->base_ns = cs_now_ns();
    j->last_us = at_us;
}

/* The time that the next frame carries: the recorded one or, without, the one it is. */
static int64_t stamp(struct cs_job *j, int64_t recorded_us)
{
    int64_t now = recorded_us;
    if (now == 0 && j->clock != CS_CLOCK_REPLAY)
        now = j->base_us + (int64_t)((cs_now_ns() - j->base_ns) / 1000);
    if (now > j->last_us)
        j->last_us = now;
    return j->last_us;
}

/* ---- answers ---- */

void cs_job_send(struct cs_job *j, struct cs_buf *frames)
{
    if (j->proc && frames->len)
        cs_proc_send(j->proc, frames);
}

/* Begins a frame, if it may be sent now. */
static bool frame_begins(struct cs_job *j, enum cs_msg type, uint64_t id, int64_t *time_us,
                         struct cs_buf *out, size_t *mark)
{
    if (!j->proc || cs_wire_sent(&j->proc->reader, type, NULL) < 0)
        return false;
    *time_us = stamp(j, *time_us);
    *mark = cs_frame_begin(out, type, id, *time_us);
    j->sent++;
    j->asleep = false;
    return true;
}

void cs_job_tell(struct cs_job *j, struct cs_heard *h, struct cs_buf *out)
{
    static const enum cs_msg types[] = {[CS_HEARD_CALL] = CS_MSG_RESULT,
                                        [CS_HEARD_FILE] = CS_MSG_RESULT,
                                        [CS_HEARD_MODULE] = CS_MSG_MODULE,
                                        [CS_HEARD_START] = CS_MSG_VERDICT};
    size_t mark;
    cs_buf_room(out, h->payload.len + h->canonical.len + 64);
    if (!frame_begins(j, types[h->kind], h->id, &h->time_us, out, &mark))
        return;
    if (h->kind == CS_HEARD_START)
        cs_put_u8(out, h->answer == CS_ANSWER_OK);
    else
        cs_put_u8(out, (uint8_t)h->answer);
    if (h->kind == CS_HEARD_MODULE)
        cs_put_str(out, h->canonical);
    cs_put_str(out, h->payload);
    cs_frame_end(out, mark);
    if (j->events->heard)
        j->events->heard(j->ctx, h);
}

static void answer(struct cs_job *j, struct cs_heard *h)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_job_tell(j, h, &out);
    cs_job_send(j, &out);
}

void cs_job_result(struct cs_job *j, uint64_t id, enum cs_answer status, struct cs_str payload)
{
    close_call(j, id);
    if (!j->dying)
        answer(j, &(struct cs_heard){
                      .kind = CS_HEARD_CALL, .id = id, .answer = status, .payload = payload});
}

void cs_job_verdict(struct cs_job *j, bool allowed, const struct cs_limits *limits,
                    struct cs_str message)
{
    if (j->dying)
        return;
    if (limits)
        cs_job_tighten(j, limits);
    if (j->clock != CS_CLOCK_REPLAY && !j->dying)
        answer(j, &(struct cs_heard){.kind = CS_HEARD_START,
                                     .answer = allowed ? CS_ANSWER_OK : CS_ANSWER_DENIED,
                                     .payload = message});
}

void cs_job_hear(struct cs_job *j, const struct cs_heard *heard)
{
    if (heard->kind == CS_HEARD_CALL)
        close_call(j, heard->id);
    else if (heard->kind != CS_HEARD_START && j->wished_files > 0)
        j->wished_files--;
    struct cs_heard h = *heard;
    if (!j->dying)
        answer(j, &h);
}

/* ---- timers ---- */

static void send_wake(struct cs_job *j, int64_t time_us)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    size_t mark;
    if (!frame_begins(j, CS_MSG_WAKE, 0, &time_us, &out, &mark))
        return;
    cs_frame_end(&out, mark);
    cs_job_send(j, &out);
}

void cs_job_wake(struct cs_job *j, int64_t time_us)
{
    if (!j->dying && !j->guest)
        send_wake(j, time_us);
}

void cs_alarm_set(struct cs_sandbox *s)
{
    if (!s->alarm_stale)
        return;
    s->alarm_stale = false;
    uint64_t first = 0;
    for (const struct cs_job *j = s->busy; j; j = j->next)
        if (j->wake_ns && (first == 0 || j->wake_ns < first))
            first = j->wake_ns;
    if (first == s->alarm_ns)
        return;
    s->alarm_ns = first;
    struct itimerspec when = {
        .it_value = {(time_t)(first / 1000000000u), (long)(first % 1000000000u)}};
    timerfd_settime(s->alarm, TFD_TIMER_ABSTIME, &when, NULL);
}

static void on_alarm(uv_poll_t *h, int status, int events)
{
    (void)status;
    (void)events;
    struct cs_sandbox *s = h->data;
    uint64_t rings, now = cs_now_ns();
    while (read(s->alarm, &rings, sizeof rings) < 0 && errno == EINTR)
        ;
    s->alarm_ns = 0;
    s->alarm_stale = true;
    for (struct cs_job *j = s->busy; j; j = j->next) {
        if (!j->wake_ns || j->wake_ns > now)
            continue;
        bool reads = j->proc && j->proc->unsent.len == 0;
        j->wake_ns = reads || j->dying ? 0 : now + AGAIN_NS;
        if (reads && !j->dying)
            send_wake(j, 0);
    }
    cs_alarm_set(s);
}

static void sleeps(struct cs_job *j, int64_t due_us)
{
    int64_t left = due_us > j->base_us ? due_us - j->base_us : 0;
    if (left > LONGEST_SLEEP_US)
        left = LONGEST_SLEEP_US;
    j->wake_ns = due_us == INT64_MAX ? 0 : j->base_ns + (uint64_t)left * 1000;
    j->sandbox->alarm_stale = true;
}

void cs_job_resume(struct cs_job *j)
{
    if (j->clock != CS_CLOCK_REPLAY)
        return;
    j->clock = CS_CLOCK_EVENTS;
    int64_t now = cs_now_us();
    cs_job_time_starts(j, now > j->last_us ? now : j->last_us);
    if (j->asleep)
        sleeps(j, j->due_us);
    cs_alarm_set(j->sandbox);
}

bool cs_job_on_sleep(struct cs_job *j, const struct cs_frame *f)
{
    struct cs_str body = f->body;
    uint64_t due;
    if (!cs_field_u64(&body, &due) || due > INT64_MAX)
        return false;
    if (j->guest || j->clock == CS_CLOCK_LIVE)
        return true;
    /* It had more to hear when it said so: another one follows. */
    if (f->id == j->sent) {
        j->asleep = true;
        j->due_us = (int64_t)due;
    }
    if (j->clock != CS_CLOCK_REPLAY)
        sleeps(j, (int64_t)due);
    else if (j->asleep && j->events->idle)
        j->events->idle(j->ctx, (int64_t)due);
    return true;
}

int cs_alarm_open(struct cs_sandbox *s, struct cs_err *err)
{
    s->alarm = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (s->alarm < 0)
        return cs_fail_errno(err, "timerfd");
    if (uv_poll_init(s->loop, &s->alarm_poll, s->alarm) != 0)
        abort(); /* epoll refuses a fresh descriptor only when memory is gone */
    s->alarm_poll.data = s;
    uv_poll_start(&s->alarm_poll, UV_READABLE, on_alarm);
    /* Who waits is alive by itself; the alarm alone keeps no loop going. */
    uv_unref((uv_handle_t *)&s->alarm_poll);
    return 0;
}

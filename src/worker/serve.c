/*
 * One execution, from READY to the end of the process.
 *
 *     READY, PROGRAM, (ASK, MODULE)*, FACTS, VERDICT,
 *     run: (CALL, FILE, ASK, SLEEP | RESULT, MODULE, WAKE)*, DONE
 *
 * What is imported while it runs is judged by a CALL: see late.c.
 *
 * What a program does is a function of PROGRAM and of the answers (MODULE, VERDICT, RESULT), their
 * order and their times: not of when anything really came, and not of the WAKEs. That is why it can
 * be run again, and it holds because:
 *
 *  1. The program is a state that changes in turns only. A turn is one event, an answer or one
 *     timer; the microtasks run to their end, then cs_serve_turn. Nothing happens between turns.
 *     How many frames came in one read, and whether we had to wait for them, makes no difference.
 *  2. The clock shows the time of the last event: the answer's, or when the timer was due. Timers
 *     are set by that clock, and so is everything else that the program can see of time.
 *  3. Before an answer of time T all timers that are due by T fire, ordered by due time and then by
 *     when they were set. Times of frames never go back.
 *  4. A WAKE of time W fires the timers that are due by W, and is no event by itself: the clock
 *     does not show W. The next answer has T >= W, so by 3 the same timers would have fired in the
 *     same order before it; and none can be set in between, as only events set timers. So leaving
 *     out a WAKE, or adding one, changes nothing but when. The same is true of those that are due
 *     by the program's own clock (setImmediate), which fire without one.
 *  5. The program ends after the turn in which it settled. Its questions leave before that, but
 *     for those of the last turn if that failed. That nothing can wake it (stuck) depends on its
 *     state alone: no timer, no question open.
 *  6. After its end only answers before a fixed time count (linger), by their times.
 *
 * With CS_CLOCK_LIVE none of this holds: timers and Date go by our own clock.
 *
 * What is left are limits (memory, depth of the stack, time) and what the collector does (WeakRef).
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cover.h"
#include "base/mem.h"
#include "worker/clock.h"
#include "worker/crash.h"
#include "worker/host.h"
#include "worker/rehearse.h"
#include "worker/text.h"
#include "worker/worker.h"

#define READ_BYTES (64 * 1024)

/* How long calls that were not awaited may take after the end, and what is left of the time then.
 */
#define LINGER_US       5000000
#define LINGER_SPARE_US 500000

#define EXIT_PEER_GONE  71
#define EXIT_BAD_FRAMES 72

static struct cs_worker *const w = &cs_worker;

/* ---- the end ---- */

static void build_done(struct cs_buf *b, enum cs_outcome outcome, struct cs_str json,
                       struct cs_str state)
{
    size_t mark = cs_frame_begin(b, CS_MSG_DONE, 0, 0);
    cs_put_u8(b, (uint8_t)outcome);
    cs_put_str(b, json);
    cs_put_u32(b, cs_memory_refused());
    cs_put_str(b, state);
    cs_frame_end(b, mark);
}

static void send_and_exit(struct cs_str frame) __attribute__((noreturn));
static void send_and_exit(struct cs_str frame)
{
    cs_crash_sending(true); /* and never false again: nothing may follow */
    cs_cover_save();
    while (frame.len > 0) {
        ssize_t n = send(w->sock, frame.at, frame.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(EXIT_PEER_GONE);
        frame = cs_strn(frame.at + n, frame.len - (size_t)n);
    }
    cs_rehearsal_report();
    _exit(0);
}

void cs_serve_done(enum cs_outcome outcome, struct cs_str json)
{
    cs_buf_clear(&w->out);
    build_done(&w->out, outcome, json, (struct cs_str){0});
    send_and_exit(cs_buf_str(&w->out));
}

static void fail_plain(const char *type, const char *message, const char *suggestion)
    __attribute__((noreturn));
static void fail_plain(const char *type, const char *message, const char *suggestion)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_report r = {.type = type,
                          .name = CS_STR("Error"),
                          .message = cs_str(message),
                          .suggestion = cs_str(suggestion)};
    cs_report_plain(&r, &json);
    cs_serve_done(CS_OUTCOME_ERROR, cs_buf_str(&json));
}

/* What the prelude made into JSON, or the error that kept it from becoming JSON. */
static bool encoded(enum cs_entry entry, size_t argc, const JSValueRef argv[], struct cs_buf *json)
{
    JSValueRef exception = NULL;
    JSValueRef text = cs_host_call(entry, argc, argv, &exception);
    if (!exception && text && cs_text_put_value(w->ctx, json, text))
        return true;
    cs_buf_clear(json);
    cs_report_exception(exception ? exception : JSValueMakeUndefined(w->ctx), json);
    return false;
}

static enum cs_outcome encode_result(JSValueRef value, struct cs_buf *json)
{
    const uint32_t most = CS_DONE_MAX - CS_STATE_MAX - CS_KIB;
    uint32_t max = w->program.result_bytes < most ? w->program.result_bytes : most;
    JSValueRef argv[] = {value, cs_host_number(max), cs_host_number(w->program.json_depth)};
    if (!encoded(CS_ENTRY_encode, CS_COUNT(argv), argv, json))
        return CS_OUTCOME_ERROR;
    if (json->len <= max)
        return CS_OUTCOME_VALUE;
    cs_buf_clear(json);
    struct cs_report r = {.type = "resource_error",
                          .name = CS_STR("RangeError"),
                          .message = CS_STR("the result is too large"),
                          .suggestion = CS_STR("Return less: a summary, or write the data to a "
                                               "file in /workspace."),
                          .limit = "result",
                          .limit_value = max,
                          .limit_unit = "bytes"};
    cs_report_plain(&r, json);
    return CS_OUTCOME_ERROR;
}

/* Empty if it is what it was. A failure takes the place of the result. */
static enum cs_outcome encode_state(struct cs_buf *state, struct cs_buf *json)
{
    uint32_t max = w->program.state_bytes;
    JSValueRef argv[] = {cs_host_number(max), cs_host_number(w->program.json_depth)};
    if (!encoded(CS_ENTRY_encodeState, CS_COUNT(argv), argv, state)) {
        cs_buf_clear(json);
        cs_buf_putstr(json, cs_buf_str(state));
        cs_buf_clear(state);
        return CS_OUTCOME_ERROR;
    }
    if (cs_str_eq(cs_buf_str(state), w->state))
        cs_buf_clear(state);
    if (state->len <= max)
        return CS_OUTCOME_VALUE;
    cs_buf_clear(state);
    cs_buf_clear(json);
    struct cs_report r = {.type = "resource_error",
                          .name = CS_STR("RangeError"),
                          .message = CS_STR("`state` is too large"),
                          .suggestion = CS_STR("Keep less in `state`: large data belongs into a "
                                               "file in /workspace."),
                          .limit = "state",
                          .limit_value = max,
                          .limit_unit = "bytes"};
    cs_report_plain(&r, json);
    return CS_OUTCOME_ERROR;
}

void cs_serve_settled(bool ok, JSValueRef value)
{
    if (w->answer.len)
        return;
    CS_AUTO_BUF struct cs_buf json = {0}, state = {0};
    enum cs_outcome outcome = CS_OUTCOME_ERROR;
    if (ok)
        outcome = encode_result(value, &json);
    else
        cs_report_exception(value, &json);
    if (outcome == CS_OUTCOME_VALUE && w->program.state_bytes)
        outcome = encode_state(&state, &json);
    w->running = false;
    w->lingers = outcome == CS_OUTCOME_VALUE && w->waiting > w->judging;
    if (w->lingers)
        cs_host_call(CS_ENTRY_unfinished, 0, NULL, NULL);
    build_done(&w->answer, outcome, cs_buf_str(&json), cs_buf_str(&state));
    cs_crash_answer(cs_buf_str(&w->answer));
}

/* ---- frames in ---- */

static void receive(void)
{
    size_t want = cs_wire_missing(&w->reader), room;
    if (w->early.len) {
        memcpy(cs_wire_room(&w->reader, w->early.len, &room), w->early.at, w->early.len);
        cs_wire_added(&w->reader, w->early.len);
        cs_buf_clear(&w->early);
        return;
    }
    char *at = cs_wire_room(&w->reader, want > READ_BYTES ? want : READ_BYTES, &room);
    ssize_t n = recv(w->sock, at, room, 0);
    if (n < 0 && errno == EINTR)
        n = 0;
    else if (n <= 0)
        _exit(EXIT_PEER_GONE);
    cs_wire_added(&w->reader, (size_t)n);
}

static bool next_frame(struct cs_frame *frame)
{
    struct cs_err err;
    int got = cs_wire_next(&w->reader, frame, &err);
    if (got < 0)
        _exit(EXIT_BAD_FRAMES);
    if (got == 0)
        return false;
    w->frames++;
    if (frame->type == CS_MSG_WAKE)
        w->slept_until = -1;
    if (frame->type == CS_MSG_CANCEL)
        fail_plain("runtime_error", "the execution was cancelled", "");
    return true;
}

static struct cs_frame wait_frame(void)
{
    struct cs_frame frame;
    while (!next_frame(&frame))
        receive();
    return frame;
}

static void sent(enum cs_msg type)
{
    if (cs_wire_sent(&w->reader, type, NULL) < 0)
        _exit(EXIT_BAD_FRAMES);
}

/* ---- waiting ---- */

/* By our own clock: false when it is `until`, true when there may be input. */
static bool live_input(int64_t until_us)
{
    int64_t us = until_us - cs_clock_running();
    if (w->early.len || us > INT32_MAX * 1000000ll)
        return true;
    if (us < 0)
        us = 0;
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    struct pollfd p = {.fd = w->sock, .events = POLLIN};
    return ppoll(&p, 1, &t, NULL) != 0;
}

/* The daemon is told when the next timer is due, unless it knows. In a replay it wants to hear in
 * any case that everything it said has been dealt with. */
static void say_sleep(int64_t due_us)
{
    bool replay = w->program.clock == CS_CLOCK_REPLAY;
    if (replay ? w->slept_at == w->frames : due_us == INT64_MAX || due_us == w->slept_until)
        return;
    w->slept_at = w->frames;
    w->slept_until = due_us;
    size_t mark = cs_frame_begin(&w->out, CS_MSG_SLEEP, w->frames, 0);
    cs_put_u64(&w->out, (uint64_t)due_us);
    cs_frame_end(&w->out, mark);
}

/* Everything that came has been dealt with: waits for more, or until it is `due_us` (INT64_MAX:
 * nothing is due). False: by a clock that is live, the time has come. */
static bool wait_until(int64_t due_us)
{
    bool live = w->program.clock == CS_CLOCK_LIVE;
    if (!live)
        say_sleep(due_us);
    cs_bridge_flush();
    if (live && !live_input(due_us))
        return false;
    receive();
    return true;
}

/* ---- after the program's end ---- */

/*
 * Calls that the program made and did not wait for are under way, and what they do in the world
 * should not depend on how fast the program was: they may finish. Nothing of the program runs.
 */
static void linger(void)
{
    int64_t start = cs_clock_now();
    int64_t until = cs_clock_origin() + (int64_t)w->program.wall_ms * 1000 - LINGER_SPARE_US;
    if (until > start + LINGER_US)
        until = start + LINGER_US;
    cs_crash_answer((struct cs_str){0});
    while (w->waiting > w->judging) {
        struct cs_frame frame;
        if (w->next) {
            frame = *CS_TAKE(w->next);
        } else if (!next_frame(&frame)) {
            if (!wait_until(until))
                break;
            continue;
        }
        if (frame.time_us >= until)
            break;
        cs_clock_follow(frame.time_us);
        JSLock(w->ctx);
        if (frame.type == CS_MSG_RESULT)
            cs_bridge_late(&frame);
        JSUnlock(w->ctx);
    }
    cs_bridge_flush();
}

static void end_if_settled(void)
{
    if (!w->answer.len)
        return;
    if (w->lingers)
        linger();
    else /* it failed: what it asked for in its last turn does not leave, whatever else may wait */
        w->out.len = w->turn_at;
    cs_bridge_flush();
    send_and_exit(cs_buf_str(&w->answer));
}

/* ---- before the program runs ---- */

static JSValueRef parse_or_end(struct cs_str json, const char *what)
{
    struct cs_err err;
    JSValueRef v = cs_host_json(json.len ? json : CS_STR("{}"), w->program.json_depth, &err);
    if (v)
        return v;
    char message[600];
    snprintf(message, sizeof message, "%s: %s", what, err.msg);
    fail_plain("validation_error", message, "Pass valid JSON, as --input or in `inputs`.");
}

static void seed(const uint64_t s[2])
{
    cs_random_seed(&w->random, s);
    uint32_t words[4];
    cs_random_fill(&w->random, words, sizeof words);
    JSValueRef argv[4];
    for (int i = 0; i < 4; i++)
        argv[i] = cs_host_number(words[i]);
    cs_host_call(CS_ENTRY_seed, CS_COUNT(argv), argv, NULL);
}

static void read_program(const struct cs_frame *frame)
{
    if (!cs_field_program(frame->body, &w->program))
        _exit(EXIT_BAD_FRAMES);
    struct cs_program *p = &w->program;
    cs_clock_start(frame->time_us, p->clock == CS_CLOCK_LIVE);
    cs_crash_arm(w->sock);
    JSLock(w->ctx);
    seed(p->seed);
    if (p->calls_at_once == 0)
        p->calls_at_once = 1;
    JSValueRef argv[] = {parse_or_end(p->inputs, "inputs"), parse_or_end(p->state, "state"),
                         cs_host_string(p->globals), cs_host_number(p->argument_bytes),
                         cs_host_number(p->json_depth)};
    cs_host_call(CS_ENTRY_begin, CS_COUNT(argv), argv, NULL);
    cs_servers_start(p->globals);
    JSUnlock(w->ctx);
    struct cs_str source = cs_arena_dup(&w->arena, p->source);
    if (p->state_bytes)
        w->state = cs_arena_dup(&w->arena, p->state);
    p->source = p->inputs = p->state = p->globals = (struct cs_str){0};
    cs_modules_start(source);
}

static void load_modules(void)
{
    while (cs_modules_loading()) {
        struct cs_frame f = wait_frame();
        cs_clock_follow(f.time_us);
        cs_modules_answer(&f);
    }
    CS_AUTO_BUF struct cs_buf json = {0};
    if (cs_modules_check(&json) < 0)
        cs_serve_done(CS_OUTCOME_ERROR, cs_buf_str(&json));
}

/* True: the daemon has been told that the program makes code out of text. */
static bool send_facts(void)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    cs_late_start();
    bool makes_code = cs_modules_facts((struct cs_str){0}, &json);
    size_t mark = cs_frame_begin(&w->out, CS_MSG_FACTS, 0, 0);
    cs_put_str(&w->out, cs_buf_str(&json));
    cs_frame_end(&w->out, mark);
    cs_bridge_send(&w->out);
    sent(CS_MSG_FACTS);
    return makes_code;
}

static void await_verdict(void)
{
    struct cs_frame f = wait_frame();
    struct cs_str body = f.body, message;
    uint8_t allowed;
    cs_clock_follow(f.time_us);
    if (!cs_field_u8(&body, &allowed) || !cs_field_str(&body, &message))
        _exit(EXIT_BAD_FRAMES);
    if (allowed)
        return;
    struct cs_str text = cs_arena_dup(&w->arena, message);
    fail_plain("permission_error", text.len ? text.at : "the program was refused", "");
}

/* ---- while it runs ---- */

static void stuck(void)
{
    fail_plain("runtime_error",
               "the program waits for nothing: it awaits a promise that no pending call, timer or "
               "import can settle",
               "Check every `new Promise(...)`: each path must call resolve or reject. Check that "
               "a thenable calls back.");
}

void cs_serve_turn(void)
{
    end_if_settled();
    cs_modules_pump(true);
    end_if_settled();
    w->turn_at = w->out.len;
}

static void handle(const struct cs_frame *frame)
{
    /* What is due before this event happens before it; it may be the end. */
    w->next = frame;
    cs_timers_fire(frame->time_us);
    w->next = NULL;
    if (frame->type == CS_MSG_WAKE) /* it is no event: the program's clock does not show it */
        return;
    cs_clock_follow(frame->time_us);
    w->at_once = 0;
    JSLock(w->ctx);
    if (frame->type == CS_MSG_RESULT)
        cs_bridge_result(frame);
    else if (frame->type == CS_MSG_MODULE)
        cs_modules_answer(frame);
    JSUnlock(w->ctx);
    cs_serve_turn();
}

static void run(void)
{
    w->running = true;
    w->slept_until = -1;
    cs_modules_run();
    cs_serve_turn();
    for (;;) {
        cs_timers_fire(cs_clock_now());
        struct cs_frame frame;
        if (next_frame(&frame)) {
            handle(&frame);
            continue;
        }
        int64_t due = INT64_MAX;
        if (!cs_timer_next(&due) && w->waiting == 0 && !cs_modules_loading())
            stuck();
        if (!wait_until(due))
            cs_timers_fire(due);
    }
}

void cs_worker_serve(int sock)
{
    w->sock = sock;
    cs_wire_reader_init(&w->reader, CS_SIDE_DAEMON, CS_PHASE_BOOT);
    cs_rehearsal_touch();
    size_t mark = cs_frame_begin(&w->out, CS_MSG_READY, 0, 0);
    cs_put_u32(&w->out, CS_WIRE_VERSION);
    cs_frame_end(&w->out, mark);
    cs_bridge_send(&w->out);
    sent(CS_MSG_READY);

    struct cs_frame program = wait_frame();
    read_program(&program);
    load_modules();
    bool makes_code = send_facts();
    await_verdict();
    if (makes_code)
        cs_host_let_make_code(true);
    run();
    _exit(0);
}

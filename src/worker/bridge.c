/*
 * Frames out, answers in. To the prelude a call is a number that is settled later.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "worker/crash.h"
#include "worker/host.h"
#include "worker/text.h"

/* More calls and files than this at once are refused: the daemon answers 8 at a time anyway. */
#define WAITING_MAX 20000

/* Frames are gathered up to here. */
#define GATHER_BYTES (32u * CS_KIB)

/* Held frames that have left are forgotten in steps. */
#define HELD_STEP (1u * CS_MIB)

/* Calls that may wait in the daemon, if their arguments are at most so large. */
#define AHEAD_CALLS 128
#define AHEAD_BYTES (16u * CS_KIB)

/* Of one line of the log. */
#define LINE_MAX_BYTES (CS_LOG_MAX - 128)

/* What may come in while a frame goes out. */
#define EARLY_MAX  (64u * CS_MIB)
#define EARLY_STEP (64u * CS_KIB)

/* The daemon is gone, or refuses to read: there is nobody left to tell. */
#define EXIT_PEER_GONE 71

/*
 * Waits until more can be sent, and takes in what has come in the meantime: if the daemon waited
 * for us to read while we wait for it to read, neither would ever go on.
 */
static void wait_for_room(void)
{
    struct cs_buf *early = &cs_worker.early;
    bool read = early->len < EARLY_MAX;
    struct pollfd p = {.fd = cs_worker.sock, .events = (short)(POLLOUT | (read ? POLLIN : 0))};
    if (ppoll(&p, 1, NULL, NULL) <= 0 || !(p.revents & POLLIN))
        return;
    ssize_t n = recv(cs_worker.sock, cs_buf_room(early, EARLY_STEP), EARLY_STEP, MSG_DONTWAIT);
    if (n > 0)
        cs_buf_added(early, (size_t)n);
    else if (n == 0)
        _exit(EXIT_PEER_GONE);
}

void cs_bridge_send(struct cs_buf *frame)
{
    cs_crash_sending(true);
    size_t at = 0;
    while (at < frame->len) {
        ssize_t n =
            send(cs_worker.sock, frame->at + at, frame->len - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            at += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            wait_for_room();
        else if (n == 0 || errno != EINTR)
            _exit(EXIT_PEER_GONE);
    }
    cs_buf_clear(frame);
    cs_worker.turn_at = 0;
    cs_crash_sending(false);
}

void cs_bridge_flush(void)
{
    if (cs_worker.out.len)
        cs_bridge_send(&cs_worker.out);
}

static void send_log(enum cs_level level, struct cs_str text)
{
    struct cs_buf *b = &cs_worker.out;
    size_t mark = cs_frame_begin(b, CS_MSG_LOG, 0, 0);
    cs_put_u8(b, (uint8_t)level);
    cs_put_str(b, text);
    cs_frame_end(b, mark);
    cs_bridge_send(b);
}

void cs_bridge_log(enum cs_level level, struct cs_str text)
{
    struct cs_worker *w = &cs_worker;
    if (w->reader.phase != CS_PHASE_EXECUTE || w->log_cut)
        return;
    uint64_t left = w->program.log_bytes - w->log_bytes;
    w->log_cut = w->log_lines >= w->program.log_lines || text.len > left;
    if (w->log_lines++ < w->program.log_lines) {
        size_t max = left < LINE_MAX_BYTES ? (size_t)left : LINE_MAX_BYTES;
        struct cs_str part = cs_utf8_cut(text, max);
        CS_AUTO_BUF struct cs_buf marked = {0};
        if (part.len < text.len && !w->log_cut) {
            cs_buf_putstr(&marked, part);
            cs_buf_printf(&marked, "… (%zu bytes in all)", text.len);
        }
        send_log(level, marked.len ? cs_buf_str(&marked) : part);
        w->log_bytes += part.len;
    }
    if (w->log_cut)
        send_log(CS_LEVEL_WARN, CS_STR("… log truncated"));
}

/* An id is a slot plus one; a slot is used again only after its answer came. */
static double take_slot(enum cs_want want)
{
    struct cs_worker *w = &cs_worker;
    if (!w->running || w->waiting >= WAITING_MAX)
        return -1;
    if (w->free_len == 0) {
        uint32_t cap = w->want_cap ? w->want_cap * 2 : 32;
        w->want = cs_realloc(w->want, cap, sizeof *w->want);
        w->free_slots = cs_realloc(w->free_slots, cap, sizeof *w->free_slots);
        for (uint32_t i = cap; i > w->want_cap; i--) {
            w->want[i - 1] = 0;
            w->free_slots[w->free_len++] = i - 1;
        }
        w->want_cap = cap;
    }
    uint32_t slot = w->free_slots[--w->free_len];
    w->want[slot] = (uint8_t)(want + 1);
    w->waiting++;
    return slot + 1;
}

/*
 * The daemon has calls_at_once under way and makes the others wait. Small ones wait there, so that
 * the next begins when a server answers and not one turn of ours later: a hundred parallel calls
 * take half the time.
 */
static bool may_leave(size_t bytes)
{
    const struct cs_worker *w = &cs_worker;
    if (w->held_at < w->held.len)
        return false;
    return w->calls < w->program.calls_at_once || (w->calls < AHEAD_CALLS && bytes <= AHEAD_BYTES);
}

static double send_call(struct cs_str server, struct cs_str tool, struct cs_str json,
                        enum cs_want want)
{
    if (server.len + tool.len + json.len + 64 > CS_CALL_MAX)
        return -2;
    double id = take_slot(want);
    if (id < 0)
        return id;
    bool now = may_leave(json.len);
    cs_worker.calls += now;
    struct cs_buf *b = now ? &cs_worker.out : &cs_worker.held;
    size_t mark = cs_frame_begin(b, CS_MSG_CALL, (uint64_t)id, 0);
    cs_put_str(b, server);
    cs_put_str(b, tool);
    cs_put_str(b, json);
    cs_frame_end(b, mark);
    /* Calls that are made together leave together, when the program waits. */
    if (cs_worker.out.len - cs_worker.turn_at > GATHER_BYTES)
        cs_bridge_flush();
    return id;
}

double cs_bridge_call(struct cs_str server, struct cs_str tool, struct cs_str json)
{
    if (cs_str_is(server, "caisson") && cs_str_is(tool, CS_LATE_TOOL))
        tool = CS_STR(""); /* facts are for us to tell; nothing is called like that */
    return send_call(server, tool, json, CS_WANT_CALL);
}

double cs_bridge_judge(struct cs_str facts)
{
    double id = send_call(CS_STR("caisson"), CS_STR(CS_LATE_TOOL), facts, CS_WANT_VERDICT);
    cs_worker.judging += id > 0;
    return id;
}

/* A call was answered: the first of those that are held takes its place. */
static void release_held(void)
{
    struct cs_worker *w = &cs_worker;
    w->calls--;
    if (w->held_at == w->held.len)
        return;
    struct cs_frame_head h;
    memcpy(&h, w->held.at + w->held_at, sizeof h);
    cs_buf_put(&w->out, w->held.at + w->held_at, sizeof h + h.len);
    w->held_at += sizeof h + h.len;
    w->calls++;
    if (w->held_at == w->held.len || w->held_at > HELD_STEP) {
        cs_buf_drop(&w->held, w->held_at);
        w->held_at = 0;
    }
}

double cs_bridge_file(enum cs_file_op op, struct cs_str path, struct cs_str data, uint32_t flags,
                      enum cs_want want)
{
    if (path.len > CS_PATH_MAX || path.len + data.len + 64 > CS_FILE_MAX)
        return -2;
    double id = take_slot(want);
    if (id < 0)
        return id;
    struct cs_buf *b = &cs_worker.out;
    size_t mark = cs_frame_begin(b, CS_MSG_FILE, (uint64_t)id, 0);
    cs_put_u8(b, (uint8_t)op);
    cs_put_str(b, path);
    cs_put_str(b, data);
    cs_put_u32(b, flags);
    cs_frame_end(b, mark);
    cs_bridge_send(b);
    return id;
}

void cs_bridge_ask(uint64_t id, struct cs_str path)
{
    struct cs_buf *b = &cs_worker.out;
    size_t mark = cs_frame_begin(b, CS_MSG_ASK, id, 0);
    cs_put_str(b, path);
    cs_frame_end(b, mark);
}

static void free_bytes(void *bytes, void *context)
{
    (void)context;
    free(bytes);
}

static JSValueRef bytes_value(struct cs_str data)
{
    char *copy = cs_strndup(data.at, data.len);
    return JSObjectMakeTypedArrayWithBytesNoCopy(cs_worker.ctx, kJSTypedArrayTypeUint8Array, copy,
                                                 data.len, free_bytes, NULL, NULL);
}

static JSValueRef payload(enum cs_want want, struct cs_str data, uint8_t *status)
{
    JSContextRef ctx = cs_worker.ctx;
    struct cs_err err = {0};
    JSValueRef v = NULL;
    switch (want) {
    case CS_WANT_NOTHING:
    case CS_WANT_VERDICT:
        return JSValueMakeUndefined(ctx);
    case CS_WANT_TEXT:
        return cs_text_value(ctx, data);
    case CS_WANT_BYTES:
        return bytes_value(data);
    case CS_WANT_JSON:
    case CS_WANT_CALL:
        if (data.len == 0)
            return JSValueMakeUndefined(ctx);
        v = cs_host_json(data, cs_worker.program.json_depth, &err);
        if (!v && *status == CS_ANSWER_TEXT && err.code == CS_INVALID)
            v = cs_text_value(ctx, data);
        *status = v ? CS_ANSWER_OK : CS_ANSWER_FAILED;
        if (v)
            return v;
        return cs_host_string(cs_str(err.msg));
    }
    return JSValueMakeUndefined(ctx);
}

static void settle(const struct cs_frame *frame, enum cs_entry entry)
{
    struct cs_worker *w = &cs_worker;
    struct cs_str body = frame->body, data;
    uint8_t status;
    if (!cs_field_u8(&body, &status) || !cs_field_str(&body, &data))
        return;
    if (frame->id == 0 || frame->id > w->want_cap || !w->want[frame->id - 1])
        return;
    uint32_t slot = (uint32_t)frame->id - 1;
    enum cs_want want = (enum cs_want)(w->want[slot] - 1);
    w->want[slot] = 0;
    w->free_slots[w->free_len++] = slot;
    w->waiting--;
    if (want == CS_WANT_CALL || want == CS_WANT_VERDICT)
        release_held();
    bool ok = status == CS_ANSWER_OK || status == CS_ANSWER_TEXT;
    if (want == CS_WANT_VERDICT) {
        w->judging--;
        if (w->running)
            cs_late_answer((double)frame->id, ok, data);
        return;
    }
    JSValueRef v = ok ? payload(want, data, &status) : cs_host_string(data);
    JSValueRef argv[] = {cs_host_number((double)frame->id), cs_host_number(status), v};
    cs_host_call(entry, CS_COUNT(argv), argv, NULL);
}

void cs_bridge_result(const struct cs_frame *frame)
{
    settle(frame, CS_ENTRY_settle);
}

void cs_bridge_late(const struct cs_frame *frame)
{
    settle(frame, CS_ENTRY_late);
}

/*
 * Frames, bounds, phases. One of the two files that may never be wrong.
 *
 * Invariants:
 *  1. A body is never looked at before its head has been found to be of this version, of a known
 * type, sent by the right side, allowed in this phase, and no longer than that type's limit.
 *  2. Memory for a body is only made after 1, so a lying length costs nothing.
 *  3. After a refusal the reader answers every call with the same refusal: there is no way back
 * into step.
 *  4. The phase only ever moves forward, and only by the table in wire.h.
 *  5. No field is read beyond the body.
 *
 *     BOOT -READY-> IDLE -PROGRAM-> COMPILE -FACTS-> ASSESS -VERDICT-> EXECUTE -DONE-> ENDED
 *
 *     DONE leads from COMPILE and ASSESS to ENDED as well. ASK, MODULE (COMPILE, EXECUTE), CALL,
 *     FILE, RESULT, LOG, PROGRESS, SLEEP, WAKE (EXECUTE) and CANCEL stay where they are. What the
 * table refuses leads to BROKEN, and nothing leads out of there.
 */
#include "sandbox/wire.h"

#include <string.h>

/* Larger than any legal phase bit, so that no message is allowed in it: see invariant 3. */
#define BROKEN ((enum cs_phase)0x4000)

static const struct rule {
    const char *name;
    enum cs_side side;
    unsigned phases;
    enum cs_phase then;
    uint32_t max;
} rules[] = {[CS_MSG_NONE] = {"nothing", CS_SIDE_DAEMON, 0, (enum cs_phase)0, 0},
#define X(name, side, phases, then, max) \
    [CS_MSG_##name] = {#name, CS_SIDE_##side, phases, (enum cs_phase)(then), max},
             CS_MESSAGES(X)
#undef X
};

void cs_wire_reader_init(struct cs_wire_reader *r, enum cs_side from, enum cs_phase phase)
{
    *r = (struct cs_wire_reader){.from = from, .phase = phase};
}

void cs_wire_reader_done(struct cs_wire_reader *r)
{
    cs_buf_done(&r->buf);
}

const char *cs_msg_name(enum cs_msg type)
{
    return (unsigned)type < CS_COUNT(rules) ? rules[type].name : "an unknown message";
}

char *cs_wire_room(struct cs_wire_reader *r, size_t want, size_t *room)
{
    cs_buf_drop(&r->buf, r->used);
    r->used = 0;
    char *at = cs_buf_room(&r->buf, want);
    *room = r->buf.cap - r->buf.len;
    return at;
}

void cs_wire_added(struct cs_wire_reader *r, size_t n)
{
    cs_buf_added(&r->buf, n);
}

static int check(const struct cs_wire_reader *r, const struct cs_frame_head *h, struct cs_err *err)
{
    if (r->phase == BROKEN)
        return cs_fail(err, CS_DENIED, "the conversation was broken before");
    if (h->version != CS_WIRE_VERSION)
        return cs_fail(err, CS_DENIED, "frame of version %u, expected %u", h->version,
                       CS_WIRE_VERSION);
    if (h->type == CS_MSG_NONE || h->type >= CS_COUNT(rules))
        return cs_fail(err, CS_DENIED, "unknown message %u", h->type);
    const struct rule *rule = &rules[h->type];
    if (rule->side != r->from)
        return cs_fail(err, CS_DENIED, "%s from the wrong side", rule->name);
    if (!(rule->phases & (unsigned)r->phase))
        return cs_fail(err, CS_DENIED, "%s is not allowed in phase %u", rule->name,
                       (unsigned)r->phase);
    if (h->len > rule->max)
        return cs_fail(err, CS_DENIED, "%s of %u bytes, at most %u", rule->name, h->len, rule->max);
    return 0;
}

static bool head_at(const struct cs_wire_reader *r, struct cs_frame_head *h)
{
    if (r->buf.len - r->used < sizeof *h)
        return false;
    memcpy(h, r->buf.at + r->used, sizeof *h);
    return true;
}

int cs_wire_next(struct cs_wire_reader *r, struct cs_frame *frame, struct cs_err *err)
{
    struct cs_frame_head h;
    if (!head_at(r, &h))
        return 0;
    if (check(r, &h, err) < 0) {
        r->phase = BROKEN;
        return -1;
    }
    if (r->buf.len - r->used - sizeof h < h.len)
        return 0;
    frame->type = (enum cs_msg)h.type;
    frame->id = h.id;
    frame->time_us = h.time_us;
    frame->body = cs_strn(r->buf.at + r->used + sizeof h, h.len);
    r->used += sizeof h + h.len;
    if (rules[h.type].then)
        r->phase = rules[h.type].then;
    return 1;
}

size_t cs_wire_missing(const struct cs_wire_reader *r)
{
    struct cs_frame_head h;
    if (!head_at(r, &h) || check(r, &h, NULL) < 0)
        return 0;
    size_t have = r->buf.len - r->used - sizeof h;
    return have < h.len ? h.len - have : 0;
}

int cs_wire_sent(struct cs_wire_reader *r, enum cs_msg type, struct cs_err *err)
{
    struct cs_wire_reader other = *r;
    other.from = r->from == CS_SIDE_DAEMON ? CS_SIDE_WORKER : CS_SIDE_DAEMON;
    struct cs_frame_head h = {.type = (uint16_t)type, .version = CS_WIRE_VERSION};
    if (check(&other, &h, err) < 0)
        return -1;
    if (rules[type].then)
        r->phase = rules[type].then;
    return 0;
}

size_t cs_frame_begin(struct cs_buf *b, enum cs_msg type, uint64_t id, int64_t time_us)
{
    struct cs_frame_head h = {
        .type = (uint16_t)type, .version = CS_WIRE_VERSION, .id = id, .time_us = time_us};
    size_t mark = b->len;
    cs_buf_put(b, &h, sizeof h);
    return mark;
}

void cs_frame_end(struct cs_buf *b, size_t mark)
{
    uint32_t len = (uint32_t)(b->len - mark - sizeof(struct cs_frame_head));
    memcpy(b->at + mark + offsetof(struct cs_frame_head, len), &len, sizeof len);
}

void cs_put_u8(struct cs_buf *b, uint8_t v)
{
    cs_buf_put(b, &v, sizeof v);
}

void cs_put_u32(struct cs_buf *b, uint32_t v)
{
    cs_buf_put(b, &v, sizeof v);
}

void cs_put_u64(struct cs_buf *b, uint64_t v)
{
    cs_buf_put(b, &v, sizeof v);
}

void cs_put_str(struct cs_buf *b, struct cs_str s)
{
    cs_put_u32(b, (uint32_t)s.len);
    cs_buf_putstr(b, s);
}

void cs_put_program(struct cs_buf *b, const struct cs_program *p)
{
    cs_put_u64(b, p->seed[0]);
    cs_put_u64(b, p->seed[1]);
    cs_put_u32(b, p->log_bytes);
    cs_put_u32(b, p->log_lines);
    cs_put_u32(b, p->result_bytes);
    cs_put_u32(b, p->state_bytes);
    cs_put_u32(b, p->json_depth);
    cs_put_u32(b, p->argument_bytes);
    cs_put_u32(b, p->calls_at_once);
    cs_put_u32(b, p->wall_ms);
    cs_put_u32(b, p->clock);
    cs_put_str(b, p->source);
    cs_put_str(b, p->inputs);
    cs_put_str(b, p->state);
    cs_put_str(b, p->globals);
}

static bool take(struct cs_str *body, void *to, size_t n)
{
    if (body->len < n) {
        memset(to, 0, n);
        body->len = 0;
        return false;
    }
    memcpy(to, body->at, n);
    body->at += n;
    body->len -= n;
    return true;
}

bool cs_field_u8(struct cs_str *body, uint8_t *v)
{
    return take(body, v, sizeof *v);
}

bool cs_field_u32(struct cs_str *body, uint32_t *v)
{
    return take(body, v, sizeof *v);
}

bool cs_field_u64(struct cs_str *body, uint64_t *v)
{
    return take(body, v, sizeof *v);
}

bool cs_field_str(struct cs_str *body, struct cs_str *s)
{
    uint32_t len;
    *s = (struct cs_str){0};
    if (!cs_field_u32(body, &len))
        return false;
    if (len > body->len) {
        body->len = 0;
        return false;
    }
    *s = cs_strn(body->at, len);
    body->at += len;
    body->len -= len;
    return true;
}

bool cs_field_program(struct cs_str body, struct cs_program *p)
{
    *p = (struct cs_program){0};
    return cs_field_u64(&body, &p->seed[0]) && cs_field_u64(&body, &p->seed[1]) &&
           cs_field_u32(&body, &p->log_bytes) && cs_field_u32(&body, &p->log_lines) &&
           cs_field_u32(&body, &p->result_bytes) && cs_field_u32(&body, &p->state_bytes) &&
           cs_field_u32(&body, &p->json_depth) && cs_field_u32(&body, &p->argument_bytes) &&
           cs_field_u32(&body, &p->calls_at_once) && cs_field_u32(&body, &p->wall_ms) &&
           cs_field_u32(&body, &p->clock) && cs_field_str(&body, &p->source) &&
           cs_field_str(&body, &p->inputs) && cs_field_str(&body, &p->state) &&
           cs_field_str(&body, &p->globals);
}

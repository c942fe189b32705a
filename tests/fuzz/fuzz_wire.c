/*
 * The other end of the wire as an attacker: the first byte chooses side and phase, the second how
 * the rest is cut into pieces. No frame that the table in wire.h forbids comes through, the phase
 * never goes back, a refusal is final, and fields stay inside their body.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Reads fields in an order that the body itself chooses. */
static void read_fields(struct cs_str body)
{
    struct cs_program program;
    if (cs_field_program(body, &program))
        must(program.source.len + program.inputs.len + program.state.len <= body.len);
    const char *end = body.at + body.len;
    while (body.len > 0) {
        uint8_t u8;
        uint32_t u32;
        uint64_t u64;
        struct cs_str s;
        cs_field_u8(&body, &u8);
        bool ok = u8 % 3 == 0   ? cs_field_u32(&body, &u32)
                  : u8 % 3 == 1 ? cs_field_u64(&body, &u64)
                                : cs_field_str(&body, &s);
        if (ok && u8 % 3 == 2)
            for (size_t i = 0; i < s.len; i++)
                must(s.at + i < end);
        must(ok || body.len == 0);
        must(body.at + body.len <= end);
    }
}

static void check_frame(const struct cs_wire_reader *r, const struct cs_frame *frame,
                        enum cs_phase before)
{
    static const struct {
        enum cs_side side;
        unsigned phases, then;
        uint32_t max;
    } rows[] = {{CS_SIDE_DAEMON, 0, 0, 0},
#define X(name, side, phases, then, max) {CS_SIDE_##side, phases, then, max},
                CS_MESSAGES(X)
#undef X
    };
    must(frame->type > CS_MSG_NONE && frame->type < CS_COUNT(rows));
    must(rows[frame->type].side == r->from);
    must(rows[frame->type].phases & (unsigned)before);
    must(frame->body.len <= rows[frame->type].max);
    must((unsigned)r->phase ==
         (rows[frame->type].then ? rows[frame->type].then : (unsigned)before));
    must(r->phase >= before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct cs_wire_reader r;
    cs_wire_reader_init(&r, data[0] & 1 ? CS_SIDE_WORKER : CS_SIDE_DAEMON,
                        (enum cs_phase)(1u << (data[0] >> 1) % 6));
    size_t piece = data[1] + 1u;
    bool refused = false;
    for (size_t at = 2; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece, room;
        memcpy(cs_wire_room(&r, n, &room), data + at, n);
        must(room >= n);
        cs_wire_added(&r, n);
        for (;;) {
            struct cs_frame frame;
            struct cs_err err = {0};
            enum cs_phase before = r.phase;
            int said = cs_wire_next(&r, &frame, &err);
            if (said < 0) {
                must(err.code == CS_DENIED);
                must(cs_wire_missing(&r) == 0);
                refused = true;
            }
            must(!refused || said < 0);
            if (said <= 0)
                break;
            check_frame(&r, &frame, before);
            read_fields(frame.body);
            /* The owner of the reader answers now and then. */
            cs_wire_sent(&r, (enum cs_msg)(frame.id % 20), &err);
            must(r.phase >= before);
        }
        must(cs_wire_missing(&r) <= CS_PROGRAM_MAX);
    }
    cs_wire_reader_done(&r);
    return 0;
}

/*
 * Each test names the invariant of sandbox/wire.c that it holds (i1 to i5); the others are about
 * the parts that the invariants stand on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sandbox/wire.h"

#define CS_AUTO_READER CS_AUTO(cs_wire_reader_done)

/* The table once more, as the tests understand it: name, sender, phases, phase after, limit. */
static const struct row {
    enum cs_msg type;
    enum cs_side side;
    unsigned phases;
    unsigned then;
    uint32_t max;
} table[] = {
#define X(name, side, phases, then, max) {CS_MSG_##name, CS_SIDE_##side, phases, then, max},
    CS_MESSAGES(X)
#undef X
};

static const enum cs_phase phases[] = {CS_PHASE_BOOT,   CS_PHASE_IDLE,    CS_PHASE_COMPILE,
                                       CS_PHASE_ASSESS, CS_PHASE_EXECUTE, CS_PHASE_ENDED};

static void feed(struct cs_wire_reader *r, const void *bytes, size_t n)
{
    size_t room;
    char *to = cs_wire_room(r, n, &room);
    assert_true(room >= n);
    if (n)
        memcpy(to, bytes, n);
    cs_wire_added(r, n);
}

static void feed_head(struct cs_wire_reader *r, struct cs_frame_head h)
{
    feed(r, &h, sizeof h);
}

static struct cs_frame_head head(enum cs_msg type, uint32_t len)
{
    return (struct cs_frame_head){.len = len, .type = (uint16_t)type, .version = CS_WIRE_VERSION};
}

/* What a reader in `phase` says to a lone head. */
static int judge(enum cs_side from, enum cs_phase phase, struct cs_frame_head h, struct cs_err *err)
{
    CS_AUTO_READER struct cs_wire_reader r;
    cs_wire_reader_init(&r, from, phase);
    feed_head(&r, h);
    struct cs_frame frame;
    return cs_wire_next(&r, &frame, err);
}

static void i1_a_head_of_another_version_is_refused(void **state)
{
    (void)state;
    for (unsigned version = 0; version < 70000; version += version < 10 ? 1 : 9973) {
        struct cs_frame_head h = head(CS_MSG_READY, 0);
        h.version = (uint16_t)version;
        struct cs_err err = {0};
        int expected = h.version == CS_WIRE_VERSION ? 1 : -1;
        assert_int_equal(judge(CS_SIDE_WORKER, CS_PHASE_BOOT, h, &err), expected);
        assert_int_equal(err.code, expected < 0 ? CS_DENIED : CS_OK);
    }
}

static void i1_an_unknown_type_is_refused(void **state)
{
    (void)state;
    for (unsigned type = 0; type <= UINT16_MAX; type++) {
        if (type > CS_MSG_NONE && type <= CS_COUNT(table))
            continue;
        for (size_t p = 0; p < CS_COUNT(phases); p++) {
            struct cs_frame_head h = head((enum cs_msg)type, 0);
            assert_int_equal(judge(CS_SIDE_WORKER, phases[p], h, NULL), -1);
            assert_int_equal(judge(CS_SIDE_DAEMON, phases[p], h, NULL), -1);
        }
    }
}

static void i1_a_message_passes_only_from_its_side_in_its_phases(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(table); i++)
        for (size_t p = 0; p < CS_COUNT(phases); p++)
            for (int side = CS_SIDE_DAEMON; side <= CS_SIDE_WORKER; side++) {
                struct cs_err err = {0};
                bool allowed = table[i].side == (enum cs_side)side &&
                               (table[i].phases & (unsigned)phases[p]) != 0;
                int said = judge((enum cs_side)side, phases[p], head(table[i].type, 0), &err);
                assert_int_equal(said, allowed ? 1 : -1);
                if (!allowed) {
                    assert_int_equal(err.code, CS_DENIED);
                    assert_non_null(strstr(err.msg, cs_msg_name(table[i].type)));
                }
            }
}

static void i1_a_length_beyond_the_limit_is_refused_before_any_body(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(table); i++) {
        enum cs_phase phase = CS_PHASE_BOOT;
        while (!(table[i].phases & (unsigned)phase))
            phase = (enum cs_phase)((unsigned)phase << 1);
        struct cs_err err = {0};
        int at_limit = judge(table[i].side, phase, head(table[i].type, table[i].max), &err);
        assert_int_equal(at_limit, table[i].max == 0 ? 1 : 0);
        assert_int_equal(judge(table[i].side, phase, head(table[i].type, table[i].max + 1), &err),
                         -1);
        assert_int_equal(err.code, CS_DENIED);
        assert_int_equal(judge(table[i].side, phase, head(table[i].type, UINT32_MAX), NULL), -1);
    }
}

static void i2_a_lying_length_costs_no_memory(void **state)
{
    (void)state;
    CS_AUTO_READER struct cs_wire_reader r;
    cs_wire_reader_init(&r, CS_SIDE_WORKER, CS_PHASE_EXECUTE);
    feed_head(&r, head(CS_MSG_CALL, UINT32_MAX));
    /* Neither before nor after the refusal does the reader ask for room for the body. */
    assert_int_equal(cs_wire_missing(&r), 0);
    struct cs_frame frame;
    assert_int_equal(cs_wire_next(&r, &frame, NULL), -1);
    assert_int_equal(cs_wire_missing(&r), 0);
    assert_true(r.buf.cap < 4096);
}

static void i2_an_honest_length_is_asked_for_exactly(void **state)
{
    (void)state;
    CS_AUTO_READER struct cs_wire_reader r;
    cs_wire_reader_init(&r, CS_SIDE_WORKER, CS_PHASE_EXECUTE);
    assert_int_equal(cs_wire_missing(&r), 0);
    struct cs_frame_head h = head(CS_MSG_CALL, 100);
    feed(&r, &h, sizeof h - 1);
    assert_int_equal(cs_wire_missing(&r), 0);
    feed(&r, (char *)&h + sizeof h - 1, 1);
    assert_int_equal(cs_wire_missing(&r), 100);
    char body[100] = {0};
    feed(&r, body, 60);
    assert_int_equal(cs_wire_missing(&r), 40);
    struct cs_frame frame;
    assert_int_equal(cs_wire_next(&r, &frame, NULL), 0);
    feed(&r, body, 40);
    assert_int_equal(cs_wire_missing(&r), 0);
    assert_int_equal(cs_wire_next(&r, &frame, NULL), 1);
    assert_int_equal(frame.body.len, 100);
}

static void i3_after_a_refusal_nothing_is_heard_or_said(void **state)
{
    (void)state;
    CS_AUTO_READER struct cs_wire_reader r;
    cs_wire_reader_init(&r, CS_SIDE_WORKER, CS_PHASE_EXECUTE);
    feed_head(&r, head(CS_MSG_READY, 0));
    struct cs_frame frame;
    assert_int_equal(cs_wire_next(&r, &frame, NULL), -1);
    for (int i = 0; i < 3; i++) {
        /* A message that was fine before the refusal. */
        feed_head(&r, head(CS_MSG_LOG, 0));
        struct cs_err err = {0};
        assert_int_equal(cs_wire_next(&r, &frame, &err), -1);
        assert_int_equal(err.code, CS_DENIED);
        assert_int_equal(cs_wire_sent(&r, CS_MSG_RESULT, &err), -1);
        assert_int_equal(cs_wire_sent(&r, CS_MSG_CANCEL, &err), -1);
        assert_int_equal(cs_wire_missing(&r), 0);
    }
}

static unsigned position(enum cs_phase phase)
{
    return (unsigned)__builtin_ctz((unsigned)phase);
}

static void i4_every_row_keeps_the_phase_or_moves_it_forward(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(table); i++)
        for (size_t p = 0; p < CS_COUNT(phases); p++) {
            if (!(table[i].phases & (unsigned)phases[p]))
                continue;
            CS_AUTO_READER struct cs_wire_reader r;
            cs_wire_reader_init(&r, table[i].side, phases[p]);
            feed_head(&r, head(table[i].type, 0));
            struct cs_frame frame;
            assert_int_equal(cs_wire_next(&r, &frame, NULL), 1);
            assert_int_equal(r.phase, table[i].then ? table[i].then : (unsigned)phases[p]);
            assert_true(!table[i].then || position(r.phase) > position(phases[p]));
        }
}

static void i4_an_execution_goes_through_all_phases(void **state)
{
    (void)state;
    /* The daemon's view: it hears the worker and says what it sends itself. */
    CS_AUTO_READER struct cs_wire_reader r;
    cs_wire_reader_init(&r, CS_SIDE_WORKER, CS_PHASE_BOOT);
    static const struct {
        enum cs_msg type;
        bool heard;
        enum cs_phase then;
    } steps[] = {
        {CS_MSG_READY, true, CS_PHASE_IDLE},      {CS_MSG_PROGRAM, false, CS_PHASE_COMPILE},
        {CS_MSG_ASK, true, CS_PHASE_COMPILE},     {CS_MSG_MODULE, false, CS_PHASE_COMPILE},
        {CS_MSG_FACTS, true, CS_PHASE_ASSESS},    {CS_MSG_VERDICT, false, CS_PHASE_EXECUTE},
        {CS_MSG_LOG, true, CS_PHASE_EXECUTE},     {CS_MSG_CALL, true, CS_PHASE_EXECUTE},
        {CS_MSG_RESULT, false, CS_PHASE_EXECUTE}, {CS_MSG_FILE, true, CS_PHASE_EXECUTE},
        {CS_MSG_RESULT, false, CS_PHASE_EXECUTE}, {CS_MSG_PROGRESS, true, CS_PHASE_EXECUTE},
        {CS_MSG_SLEEP, true, CS_PHASE_EXECUTE},   {CS_MSG_WAKE, false, CS_PHASE_EXECUTE},
        {CS_MSG_CANCEL, false, CS_PHASE_EXECUTE}, {CS_MSG_DONE, true, CS_PHASE_ENDED},
    };
    for (size_t i = 0; i < CS_COUNT(steps); i++) {
        struct cs_frame frame;
        struct cs_err err = {0};
        if (steps[i].heard) {
            feed_head(&r, head(steps[i].type, 0));
            assert_int_equal(cs_wire_next(&r, &frame, &err), 1);
            assert_int_equal(frame.type, steps[i].type);
        } else {
            assert_int_equal(cs_wire_sent(&r, steps[i].type, &err), 0);
        }
        assert_int_equal(r.phase, steps[i].then);
    }
    /* Nothing more may come. */
    for (size_t i = 0; i < CS_COUNT(table); i++)
        assert_int_equal(judge(table[i].side, CS_PHASE_ENDED, head(table[i].type, 0), NULL), -1);
}

static void i4_saying_what_may_not_be_said_changes_nothing(void **state)
{
    (void)state;
    struct cs_wire_reader r;
    struct cs_err err = {0};
    cs_wire_reader_init(&r, CS_SIDE_WORKER, CS_PHASE_BOOT);
    assert_int_equal(cs_wire_sent(&r, CS_MSG_PROGRAM, &err), -1);
    assert_int_equal(cs_wire_sent(&r, CS_MSG_READY, &err), -1);
    assert_int_equal(cs_wire_sent(&r, CS_MSG_NONE, &err), -1);
    assert_int_equal(r.phase, CS_PHASE_BOOT);
}

static void i5_fields_end_where_the_body_ends(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_put_u8(&b, 200);
    cs_put_u32(&b, 0xDEADBEEF);
    cs_put_u64(&b, UINT64_MAX - 1);
    cs_put_str(&b, CS_STR("a\0b"));
    cs_put_str(&b, CS_STR(""));
    for (size_t len = 0; len <= b.len; len++) {
        /* A block of exactly that size, so that the sanitizer sees one byte too many. */
        CS_AUTO_FREE char *copy = malloc(len ? len : 1);
        if (len)
            memcpy(copy, b.at, len);
        struct cs_str body = cs_strn(copy, len), s = {0}, t = {0};
        uint8_t u8 = 9;
        uint32_t u32 = 9;
        uint64_t u64 = 9;
        assert_int_equal(cs_field_u8(&body, &u8), len >= 1);
        assert_int_equal(u8, len >= 1 ? 200 : 0);
        assert_int_equal(cs_field_u32(&body, &u32), len >= 5);
        assert_int_equal(u32, len >= 5 ? 0xDEADBEEF : 0);
        assert_int_equal(cs_field_u64(&body, &u64), len >= 13);
        assert_true(u64 == (len >= 13 ? UINT64_MAX - 1 : 0));
        assert_int_equal(cs_field_str(&body, &s), len >= 20);
        assert_int_equal(s.len, len >= 20 ? 3 : 0);
        assert_int_equal(cs_field_str(&body, &t), len >= 24);
        assert_int_equal(t.len, 0);
    }
}

static void i5_a_string_longer_than_the_body_is_none(void **state)
{
    (void)state;
    static const uint32_t lies[] = {4, 5, 0x7FFFFFFF, 0x80000000, UINT32_MAX - 3, UINT32_MAX};
    for (size_t i = 0; i < CS_COUNT(lies); i++) {
        CS_AUTO_BUF struct cs_buf b = {0};
        cs_put_u32(&b, lies[i]);
        cs_buf_puts(&b, "abc");
        struct cs_str body = cs_buf_str(&b), s = CS_STR("untouched");
        assert_false(cs_field_str(&body, &s));
        assert_int_equal(s.len, 0);
        /* And no field after it is read from the rest. */
        uint8_t v = 1;
        assert_false(cs_field_u8(&body, &v));
        assert_int_equal(v, 0);
    }
}

static void i5_a_program_cut_anywhere_is_refused(void **state)
{
    (void)state;
    const struct cs_program program = {
        .seed = {1, 2},
        .source = CS_STR("return 1"),
        .inputs = CS_STR("{\"a\":1}"),
        .state = CS_STR(""),
        .log_bytes = 3,
        .log_lines = 4,
        .result_bytes = 5,
        .json_depth = 6,
        .clock = CS_CLOCK_REPLAY,
    };
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_put_program(&b, &program);
    struct cs_program back;
    assert_true(cs_field_program(cs_buf_str(&b), &back));
    assert_true(back.seed[0] == 1 && back.seed[1] == 2);
    assert_true(cs_str_is(back.source, "return 1") && cs_str_is(back.inputs, "{\"a\":1}"));
    assert_int_equal(back.state.len, 0);
    assert_true(back.log_bytes == 3 && back.log_lines == 4);
    assert_true(back.result_bytes == 5 && back.json_depth == 6);
    assert_int_equal(back.clock, CS_CLOCK_REPLAY);
    for (size_t len = 0; len < b.len; len++) {
        CS_AUTO_FREE char *copy = malloc(len ? len : 1);
        memcpy(copy, b.at, len);
        memset(&back, 0x55, sizeof back);
        assert_false(cs_field_program(cs_strn(copy, len), &back));
        assert_int_equal(back.state.len, 0);
    }
}

static void frames_arrive_however_the_bytes_are_cut(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf b = {0};
    for (uint64_t id = 1; id <= 5; id++) {
        size_t mark = cs_frame_begin(&b, CS_MSG_LOG, id, -(int64_t)id);
        cs_put_u8(&b, CS_LEVEL_WARN);
        cs_put_str(&b, cs_strn("0123456789", id * 2));
        cs_frame_end(&b, mark);
    }
    for (size_t piece = 1; piece <= b.len; piece++) {
        CS_AUTO_READER struct cs_wire_reader r;
        cs_wire_reader_init(&r, CS_SIDE_WORKER, CS_PHASE_EXECUTE);
        uint64_t seen = 0;
        for (size_t at = 0; at < b.len; at += piece) {
            feed(&r, b.at + at, b.len - at < piece ? b.len - at : piece);
            struct cs_frame frame;
            while (cs_wire_next(&r, &frame, NULL) > 0) {
                seen++;
                uint8_t level;
                struct cs_str text;
                assert_true(cs_field_u8(&frame.body, &level));
                assert_true(cs_field_str(&frame.body, &text));
                assert_int_equal(frame.id, seen);
                assert_true(frame.time_us == -(int64_t)seen);
                assert_int_equal(text.len, seen * 2);
                assert_int_equal(frame.body.len, 0);
            }
        }
        assert_int_equal(seen, 5);
    }
}

static void every_message_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(cs_msg_name(CS_MSG_PROGRAM), "PROGRAM");
    assert_string_equal(cs_msg_name(CS_MSG_NONE), "nothing");
    assert_string_equal(cs_msg_name((enum cs_msg)(CS_COUNT(table) + 1)), "an unknown message");
    assert_string_equal(cs_msg_name((enum cs_msg)60000), "an unknown message");
}

static void a_head_is_24_bytes(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct cs_frame_head), 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(i1_a_head_of_another_version_is_refused),
        cmocka_unit_test(i1_an_unknown_type_is_refused),
        cmocka_unit_test(i1_a_message_passes_only_from_its_side_in_its_phases),
        cmocka_unit_test(i1_a_length_beyond_the_limit_is_refused_before_any_body),
        cmocka_unit_test(i2_a_lying_length_costs_no_memory),
        cmocka_unit_test(i2_an_honest_length_is_asked_for_exactly),
        cmocka_unit_test(i3_after_a_refusal_nothing_is_heard_or_said),
        cmocka_unit_test(i4_every_row_keeps_the_phase_or_moves_it_forward),
        cmocka_unit_test(i4_an_execution_goes_through_all_phases),
        cmocka_unit_test(i4_saying_what_may_not_be_said_changes_nothing),
        cmocka_unit_test(i5_fields_end_where_the_body_ends),
        cmocka_unit_test(i5_a_string_longer_than_the_body_is_none),
        cmocka_unit_test(i5_a_program_cut_anywhere_is_refused),
        cmocka_unit_test(frames_arrive_however_the_bytes_are_cut),
        cmocka_unit_test(every_message_has_a_name),
        cmocka_unit_test(a_head_is_24_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

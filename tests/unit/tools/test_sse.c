#include "test.h"

#include "tools/sse.h"

/* Everything that came out of a stream, as one line of text per event: type|data;  */
static void feed(struct cs_sse *s, struct cs_str bytes, struct cs_buf *out)
{
    struct cs_sse_event e;
    struct cs_err err = {0};
    int got;
    while ((got = cs_sse_next(s, &bytes, &e, &err)) == 1) {
        cs_buf_putstr(out, e.type);
        cs_buf_putc(out, '|');
        cs_buf_putstr(out, e.data);
        cs_buf_putc(out, ';');
    }
    assert_int_equal(got, 0);
    assert_int_equal(bytes.len, 0);
}

struct row {
    const char *text, *events, *id;
    int64_t retry; /* -1: none */
};

static const struct row rows[] = {
    {"data: a\n\n", "|a;", "", -1},
    {"data:a\n\ndata:  b\n\n", "|a;| b;", "", -1},
    {"data: a\r\n\r\ndata: b\r\r", "|a;|b;", "", -1},
    {"data: one\ndata: two\ndata\ndata:\n\n", "|one\ntwo\n\n;", "", -1},
    {"event: message\ndata: {}\n\n", "message|{};", "", -1},
    {"event: ping\ndata: x\n\ndata: y\n\n", "ping|x;|y;", "", -1},
    {": keep-alive\n\n:\n\ndata: a\n\n", "|a;", "", -1},
    {"id: 7\nretry: 500\ndata: \n\n", "|;", "7", 500},
    {"id: 7\nretry: 500\n\n", "", "7", 500},
    {"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", "|a;|b;|c;", "", -1},
    {"id: 1\ndata: a\n\nid: 2\ndata: never ends\n", "|a;", "1", -1},
    {"retry: 12x\nretry: \nretry: -5\nretry: 99999999999\n\n", "", "", -1},
    {"retry: 12x\nretry: 30\n\n", "", "", 30},
    {"\xEF\xBB\xBF"
     "data: a\n\n",
     "|a;", "", -1},
    {"\xEF\xBB"
     "data: a\n\ndata: b\n\n",
     "|b;", "", -1},
    {"dat: a\ndatab: b\nDATA: c\ndata d: e\n\n", "", "", -1},
    {"data: \xE2\x82\xAC\xF0\x9F\x98\x80\n\n", "|\xE2\x82\xAC\xF0\x9F\x98\x80;", "", -1},
    {"data: a:b: c\n\n", "|a:b: c;", "", -1},
    {"a-very-long-field-name-that-nobody-knows: x\ndata: a\n\n", "|a;", "", -1},
    {"\n\n\r\r\r\n\r\ndata: a\n\n\n\n", "|a;", "", -1},
    {"", "", "", -1},
};

static void check(const struct row *r, struct cs_sse *s, struct cs_buf *out)
{
    assert_string_equal(cs_buf_cstr(out), r->events);
    assert_string_equal(cs_buf_cstr(&s->last_id), r->id);
    assert_int_equal(s->has_retry, r->retry >= 0);
    if (r->retry >= 0)
        assert_int_equal(s->retry_ms, r->retry);
}

static void events_are_the_same_wherever_the_stream_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        const struct row *r = &rows[i];
        size_t n = strlen(r->text);
        for (size_t a = 0; a <= n; a++)
            for (size_t b = a; b <= n; b++) {
                struct cs_sse s = {.max = 100};
                CS_AUTO_BUF struct cs_buf out = {0};
                feed(&s, cs_strn(r->text, a), &out);
                feed(&s, cs_strn(r->text + a, b - a), &out);
                feed(&s, cs_strn(r->text + b, n - b), &out);
                check(r, &s, &out);
                cs_sse_done(&s);
            }
    }
}

static void events_are_the_same_byte_by_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        struct cs_sse s = {.max = 100};
        CS_AUTO_BUF struct cs_buf out = {0};
        for (size_t k = 0; rows[i].text[k]; k++)
            feed(&s, cs_strn(rows[i].text + k, 1), &out);
        check(&rows[i], &s, &out);
        cs_sse_done(&s);
    }
}

static void an_event_that_is_too_large_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"data: 12345678901\n\n", "data: 123456\ndata: 12345\n\n",
                                        "data\ndata\ndata\ndata\ndata\ndata\ndata\ndata\ndata\n"
                                        "data\ndata\ndata\n\n"};
    for (size_t i = 0; i < CS_COUNT(texts); i++) {
        struct cs_sse s = {.max = 10};
        struct cs_sse_event e;
        struct cs_err err = {0};
        struct cs_str in = cs_str(texts[i]);
        assert_int_equal(cs_sse_next(&s, &in, &e, &err), -1);
        assert_int_equal(err.code, CS_LIMIT);
        cs_sse_done(&s);
    }
    struct cs_sse s = {.max = 10};
    CS_AUTO_BUF struct cs_buf out = {0};
    feed(&s, cs_str("data: 1234567890\n\n"), &out);
    assert_string_equal(cs_buf_cstr(&out), "|1234567890;");
    cs_sse_done(&s);
}

static void lines_without_an_end_take_no_memory(void **state)
{
    (void)state;
    static const char *const starts[] = {"event: ", "id: ", "retry: ", ": ", "name"};
    for (size_t i = 0; i < CS_COUNT(starts); i++) {
        struct cs_sse s = {.max = 1000};
        CS_AUTO_BUF struct cs_buf out = {0};
        feed(&s, cs_str(starts[i]), &out);
        for (unsigned k = 0; k < 100000; k++)
            feed(&s, CS_STR("7"), &out);
        assert_true(s.type.cap + s.id.cap + s.name.cap + s.data.cap < 8192);
        cs_sse_done(&s);
    }
}

static void an_id_that_no_id_can_be_leaves_the_last_one(void **state)
{
    (void)state;
    struct cs_sse s = {.max = 100};
    CS_AUTO_BUF struct cs_buf out = {0};
    feed(&s, CS_STR("id: good\ndata: a\n\nid: b\0d\ndata: b\n\n"), &out);
    assert_string_equal(cs_buf_cstr(&out), "|a;|b;");
    assert_string_equal(cs_buf_cstr(&s.last_id), "good");
    cs_sse_done(&s);
}

static void a_new_stream_keeps_the_last_id_and_retry_alone(void **state)
{
    (void)state;
    struct cs_sse s = {.max = 100};
    CS_AUTO_BUF struct cs_buf out = {0};
    feed(&s, cs_str("id: 4\nretry: 20\ndata: a\n\nid: 5\nevent: x\ndata: half"), &out);
    cs_sse_restart(&s);
    feed(&s,
         cs_str("\xEF\xBB\xBF"
                "data: whole\n\n"),
         &out);
    assert_string_equal(cs_buf_cstr(&out), "|a;|whole;");
    assert_string_equal(cs_buf_cstr(&s.last_id), "4");
    assert_int_equal(s.retry_ms, 20);
    cs_sse_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_the_same_wherever_the_stream_is_cut),
        cmocka_unit_test(events_are_the_same_byte_by_byte),
        cmocka_unit_test(an_event_that_is_too_large_is_refused),
        cmocka_unit_test(lines_without_an_end_take_no_memory),
        cmocka_unit_test(an_id_that_no_id_can_be_leaves_the_last_one),
        cmocka_unit_test(a_new_stream_keeps_the_last_id_and_retry_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
